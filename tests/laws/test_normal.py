"""Every normal law against its contract and its formula, in every mode; the exemptions name their law."""

import inspect
import math
import re

import mpmath
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from jointplay.engine import derivative, emit, stop, trace
from jointplay.laws import GEOMETRY
from jointplay.laws.materials import effective_restitution, impact
from jointplay.laws.normal import NORMAL, exact_factor, smooth_step
from tests.helpers import differences, evaluate, lane_run, outcome, same_bits, scalar_outcomes

SIZES = {"journal_radius": 0.01, "clearance": 5e-4, "length": 0.02}
FACTORS = {
    "hertz": lambda e: 0.0,
    "hunt_crossley": lambda e: 3 * (1 - e) / 2,
    "herbert_mcwhannell": lambda e: 6 * (1 - e) / ((2 * e - 1) ** 2 + 3),
    "lee_wang": lambda e: 3 * (1 - e) / 4,
    "lankarani_nikravesh": lambda e: 3 * (1 - e**2) / 4,
    "zhiying_qishao": lambda e: 3 * (1 - e**2) * math.exp(2 * (1 - e)) / 4,
    "gonthier": lambda e: (1 - e**2) / e,
    "flores": lambda e: 8 * (1 - e) / (5 * e),
    "gharib_hurmuzlu": lambda e: 1 / e,
    "hu_guo": lambda e: 3 * (1 - e) / (2 * e),
    "safaeifar_farshidianfar": lambda e: 5 * (1 - e) / (4 * e),
}
CYLINDRICAL = ["johnson", "esdu_78035", "radzimovsky", "goldsmith", "dubowsky_freudenstein", "liu"]
EXACT = ["exact_restitution", *CYLINDRICAL]
JUMPS = {"kelvin_voigt": "its damper acts as soon as the bodies touch"}
EVERY = pytest.mark.parametrize("law", NORMAL.values(), ids=NORMAL)
few = settings(max_examples=40, phases=[Phase.generate], deadline=None)
DEPTHS, RATES, SPEEDS = st.floats(0, 2e-3), st.floats(-10, 10), st.floats(1e-6, 10)
RESTITUTIONS = st.floats(0.01, 1)


def numbers(law, **changed):
    """The parameters of a law: defaults, the sizes of a bearing, what is changed."""
    held = {n: d for n, d in law.parameters.items() if d is not inspect.Parameter.empty}
    return held | {n: SIZES[n] for n in law.geometry} | {n: x for n, x in changed.items() if n in law.parameters}


def force(law, depth, rate=0.0, approach=1.0, **changed):
    result, rates, kept = law(depth, rate, approach, **numbers(law, **changed))
    assert rates == {} and kept == {}
    return result


def test_all_laws_are_known():
    assert set(NORMAL) == {*FACTORS, *EXACT, "kelvin_voigt", "adams_impact"}
    assert all(name == law.name for name, law in NORMAL.items())
    assert [name for name, law in NORMAL.items() if law.geometry] == CYLINDRICAL


# -- the contract
@EVERY
def test_parameters_are_documented_with_a_source(law):
    text = inspect.getdoc(law)
    assert law.inputs == ["depth", "rate", "approach"]
    assert [n for n in law.parameters if not re.search(rf"\b{n}\b", text)] == []
    assert re.search(r"\b(18|19|20)\d\d\b|our own|manual", text)
    assert set(law.parameters) - set(law.units) <= {"exponent", "restitution"}
    assert all(0 < law.parameters[n] < math.inf for n in law.own if n != "damping")


@EVERY
@given(rate=RATES, approach=SPEEDS, depth=st.floats(-1, 0))
@few
def test_no_force_without_depth(law, rate, approach, depth):
    assert force(law, 0.0, rate, approach) == 0.0 == force(law, depth, rate, approach)


@EVERY
@given(depth=DEPTHS, rate=RATES, approach=SPEEDS, e=RESTITUTIONS)
@few
def test_never_pulls_and_never_creates_energy(law, depth, rate, approach, e):
    """Beside the force at rest, which has a potential, the law only ever takes power."""
    moving = force(law, depth, rate, approach, restitution=e)
    resting = force(law, depth, 0.0, approach, restitution=e)
    assert 0 <= moving < math.inf
    assert (moving - resting) * rate >= 0
    assert resting == pytest.approx(
        force(law, depth, 0.0, 3.0, restitution=1.0), rel=1e-12
    )  # a function of depth alone


@EVERY
@given(pair=st.tuples(st.floats(1e-12, 2e-3), st.floats(1.001, 10)))
@few
def test_grows_with_depth(law, pair):
    assert force(law, pair[0] * pair[1]) > force(law, pair[0]) > 0


@EVERY
def test_starts_from_nothing(law):
    """The force grows continuously from the onset; where it does not, the law is exempt by name."""
    at_onset = [force(law, d, 0.5, 0.5, damping=1e3) for d in (1e-11, 1e-13, 1e-15)]
    if law.name in JUMPS:
        assert at_onset[-1] == pytest.approx(500)
    else:
        assert max(at_onset) < 1 and at_onset[2] < 2e-2 * at_onset[0]


@pytest.mark.parametrize("e", [0.1, 0.3, 0.5, 0.7, 0.95])
@pytest.mark.parametrize("name", [*FACTORS, *EXACT])
def test_an_impact_rebounds_as_the_formula_says(name, e):
    """To 6 digits, whatever mass, speed, stiffness and exponent are."""
    law = NORMAL[name]
    wanted = e if name in EXACT else effective_restitution(FACTORS[name](e))
    for mass, speed, stiffness, exponent in ((1.0, 0.1, 1e10, 1.5), (20.0, 2.0, 1e8, 2.2)):
        p = numbers(law, restitution=e, stiffness=stiffness, exponent=exponent)
        got = impact(law, mass, speed, **p).restitution
        assert got == pytest.approx(wanted, abs=5e-7)
        assert 0 < got <= 1 + 1e-9


def test_effective_restitution_solves_its_equation():
    for factor in (1e-3, 0.1, 0.75, 3.0, 8.0):
        x = effective_restitution(factor)
        assert factor * (1 + x) == pytest.approx(math.log((1 + factor) / (1 - factor * x)), rel=1e-9)
    assert effective_restitution(0.0) == 1.0
    with pytest.raises(ValueError, match=r"must be >= 0, got -0\.1"):
        effective_restitution(-0.1)


@pytest.mark.parametrize(
    ("name", "slope"),
    [("hunt_crossley", 1), ("herbert_mcwhannell", 1), ("lankarani_nikravesh", 1), ("zhiying_qishao", 1), ("hu_guo", 1)]
    + [("lee_wang", 1 / 2), ("gonthier", 4 / 3), ("flores", 16 / 15), ("safaeifar_farshidianfar", 5 / 6)],
)
def test_first_order_near_1(name, slope):
    """Five of the approximations are right to first order in 1 - e; the others lose more or less than they say."""
    losses = [(1 - effective_restitution(FACTORS[name](1 - d))) / d for d in (1e-2, 1e-3, 1e-4)]
    assert losses[2] == pytest.approx(slope, rel=1e-3)
    errors = [abs(x - slope) for x in losses]
    assert errors[2] < 0.2 * errors[1] < 0.04 * errors[0] + 1e-12
    assert 1 - effective_restitution(FACTORS["gharib_hurmuzlu"](1.0)) > 0.4  # loses energy even at 1


def test_the_exact_factor():
    for e in (1e-4, 0.01, 0.05, 0.2, 0.5, 0.8, 0.8999, 0.9, 0.9001, 0.95):
        x = exact_factor(e)
        with mpmath.workdps(60):
            root = mpmath.mpf(x)
            if e > 0.1:
                root = mpmath.findroot(lambda f, e=e: f * (1 + e) - mpmath.log((1 + f) / (1 - f * e)), root)
            for _ in range(30 if e <= 0.1 else 0):  # solved for the e in 1 - f e, which is nearly 0
                root = (1 - (1 + root) * mpmath.exp(-root * (1 + mpmath.mpf(e)))) / mpmath.mpf(e)
            assert abs(x / root - 1) < 1e-13
    assert exact_factor(1.0) == 0.0
    for d in (1e-3, 1e-6, 1e-9):
        assert exact_factor(1 - d) == pytest.approx(1.5 * d, rel=2 * d + 1e-7)
    below, above = exact_factor(0.9), exact_factor(0.9 + 1e-14)  # where the series takes over
    assert below == pytest.approx(above, rel=1e-12)


# -- the values of the reference page
def test_values_of_the_hysteretic_laws():
    for name, wanted in (("hunt_crossley", 0.662962), ("lankarani_nikravesh", 0.725241), ("flores", 0.470445)):
        assert effective_restitution(FACTORS[name](0.5)) == pytest.approx(wanted, abs=5e-7)
        assert impact(NORMAL[name], 1.0, 0.1, restitution=0.5).restitution == pytest.approx(wanted, abs=6e-7)
    hit = impact(NORMAL["lankarani_nikravesh"], 1.0, 0.1, restitution=0.9, stiffness=1e10)
    assert hit.depth == pytest.approx(1.671725e-5, rel=5e-7)
    assert hit.duration == pytest.approx(5.150718e-4, rel=5e-7)


def test_the_largest_force_of_an_impact():
    """By the closed form of depth over rate; the page's 688.0369 N is the largest of some integrator's own steps."""
    f, K, m, v = 0.75 * (1 - 0.9**2), 1e10, 1.0, 0.1
    u = np.linspace(0, 1, 1_000_001)
    work = ((1 - u) / f - np.log((1 + f) / (1 + f * u)) / f**2) * m * v**2
    closed = (K * (2.5 * work / K) ** 0.6 * (1 + f * u)).max()
    assert closed == pytest.approx(688.7607, rel=1e-7)
    assert impact(NORMAL["lankarani_nikravesh"], m, v, restitution=0.9, stiffness=K).force == pytest.approx(closed)
    assert 688.0369 < closed < 688.0369 * 1.0011


def test_values_of_kelvin_voigt_and_impact():
    assert smooth_step(0.3, 0, 1, 1, 2) == pytest.approx(1.216, rel=1e-15)
    assert smooth_step(-1.0, 0, 1, 1, 2) == 1 and smooth_step(7.0, 0, 1, 1, 2) == 2
    law = NORMAL["adams_impact"]
    p = {"stiffness": 3.162278e9, "damping": 58e3, "ramp": 1e-4}
    for depth, rate in ((2e-5, 0.1), (2e-5, -0.05), (3e-4, 0.2)):
        s = min(depth / 1e-4, 1)
        by_hand = 3.162278e9 * depth**1.5 + 58e3 * s * s * (3 - 2 * s) * rate
        assert force(law, depth, rate, **p) == pytest.approx(max(by_hand, 0), rel=1e-14)
    assert force(law, 2e-5, -10.0, **p) == 0
    assert force(NORMAL["kelvin_voigt"], 1e-5, 0.1, damping=1e3) == pytest.approx(200)
    assert force(NORMAL["kelvin_voigt"], 1e-5, -0.2, damping=1e3) == 0


@pytest.mark.parametrize(
    ("name", "depth"), [("johnson", 1.521086e-7), ("esdu_78035", 1.800953e-7), ("liu", 9.223610e-7)]
)
def test_values_of_the_cylindrical_laws(name, depth):
    p = {"modulus": 207e9 / (2 * (1 - 0.3**2))}
    assert force(NORMAL[name], depth, **p) == pytest.approx(100, rel=1e-6)


def by_depth(name, F, E=1.137e11, R=0.01, c=5e-4, L=0.02):
    """The depth of a force, as the page writes it."""
    S, A = 1 / (math.pi * E), F / (L * math.pi * E)
    if name == "johnson":
        return A * (math.log(4 * math.pi * E * L * c / F) - 1)
    if name == "esdu_78035":
        return F * S / L * (math.log(4 * L * c / (F * S)) + 1)
    if name == "radzimovsky":
        b = math.sqrt(4 * F * (R * (R + c) / c) / (math.pi * E * L))
        return A * (2 / 3 + math.log(4 * R * (R + c) / b**2))
    m = 1 if name == "goldsmith" else 3
    return F * S / L * (math.log(L**m * c / (F * R * (R + c) * S)) + 1)


@pytest.mark.parametrize("name", [n for n in CYLINDRICAL if n != "liu"])
def test_cylindrical_laws_are_inverted(name):
    for F in (1e-9, 1e-3, 1.0, 100.0, 1e4, 1e5):
        assert force(NORMAL[name], by_depth(name, F)) == pytest.approx(F, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "reach"),
    [("johnson", 4 / math.e), ("esdu_78035", 4 * math.e), ("radzimovsky", math.exp(2 / 3))]
    + [("dubowsky_freudenstein", math.e * 0.02**2 / (0.01 * 0.0105))],
)
def test_cylindrical_laws_go_on_along_their_tangent(name, reach):
    """Before the formulas turn back: force and slope are continuous, and the force goes on growing."""
    law, bend = NORMAL[name], 2 * math.exp(-2) * reach * SIZES["clearance"]
    low, at, high, far = (force(law, bend * x) for x in (1 - 1e-5, 1.0, 1 + 1e-5, 3.0))
    slope = math.pi * 1.137e11 * 0.02
    assert (at - low) / (bend * 1e-5) == pytest.approx(slope, rel=1e-4)
    assert (high - at) / (bend * 1e-5) == pytest.approx(slope, rel=1e-9)
    assert far == pytest.approx(at + 2 * bend * slope, rel=1e-12)


# -- the same in every mode
def samples(law):
    """Depths, rates and approach speeds over the whole range, at rest and at no depth too."""
    rng = np.random.default_rng(5)
    depths = np.concatenate([[0.0, -1e-6, 1e-9, 1e-5], 10 ** rng.uniform(-9, -3, 20)])
    rates = np.concatenate([[1.0, 1.0, 0.0, -1.0], rng.uniform(-1, 1, 20)])
    return depths, rates, rng.uniform(0.1, 1, 24)


@pytest.mark.parametrize(
    ("name", "exponent"), [(n, x) for n in NORMAL for x in (1.5, 2.2) if x == 1.5 or "exponent" in NORMAL[n].own]
)
def test_the_same_numbers_in_every_mode(name, exponent):
    law = NORMAL[name]
    p, x = numbers(law, exponent=exponent, restitution=0.7, damping=1e3), samples(law)

    def text(depth, rate, approach, **p):
        result = law(depth, rate, approach, **p)[0]
        return [result, *derivative([result], [depth, rate])[0]]

    eager = evaluate(text, *x, eager=True, **p)
    assert same_bits(eager, evaluate(text, *x, fma=False, **p))
    fused = evaluate(text, *x, **p)
    np.testing.assert_allclose(fused, eager, rtol=1e-9, atol=1e-9)
    plain = [law(*map(float, row), **p)[0] for row in zip(*x, strict=True)]
    np.testing.assert_allclose(eager[0], plain, rtol=1e-11, atol=1e-12)
    assert np.isfinite(eager).all()


@EVERY
def test_lanes_equal_single_runs(law):
    p, x = numbers(law, restitution=0.7), samples(law)
    state = dict(zip(("depth", "rate", "approach"), (1e-5, 0.1, 1.0), strict=True))

    def step(s, q):
        emit("out", force=law(q.depth, q.rate, q.approach, **{n: q[n] for n in p})[0])
        stop(s.step >= 0)

    program = trace(step, {}, {**state, **p})
    sets = [dict(zip(state, map(float, row), strict=True)) for row in zip(*x, strict=True)][2:10]
    together, alone = lane_run(program, sets, eager=False), scalar_outcomes(program, sets, eager=False)
    assert [differences(outcome(together, i), alone[i]) for i in range(8)] == [[]] * 8


@EVERY
def test_derivatives_are_those_of_the_force(law):
    p = numbers(law, restitution=0.7)
    depths, rates, approach = np.geomspace(1e-8, 4e-4, 9), np.linspace(-0.3, 0.5, 9), np.full(9, 1.0)
    keep = np.abs(depths - 1e-4) > 1e-6  # where the ramp of IMPACT ends

    def text(depth, rate, approach, **p):
        return derivative([law(depth, rate, approach, **p)[0]], [depth, rate])[0]

    slopes = evaluate(text, depths, rates, approach, **p)
    for i, (d, v) in enumerate(zip(depths, rates, strict=True)):
        by_depth = (force(law, d * (1 + 1e-6), v, restitution=0.7) - force(law, d * (1 - 1e-6), v, restitution=0.7)) / (
            2e-6 * d
        )
        by_rate = (force(law, d, v + 1e-6, restitution=0.7) - force(law, d, v - 1e-6, restitution=0.7)) / 2e-6
        if keep[i]:
            np.testing.assert_allclose(slopes[:, i], [by_depth, by_rate], rtol=1e-5, atol=1e-4)


def test_geometry_comes_from_the_joint():
    assert NORMAL["johnson"].geometry == list(GEOMETRY)
    assert list(NORMAL["johnson"].own) == ["modulus", "restitution"]
    assert NORMAL["flores"].bounds("restitution") == {"above": 0.0, "at_most": 1.0}
    assert NORMAL["hunt_crossley"].bounds("restitution") == {"at_least": 0.0, "at_most": 1.0}
    assert NORMAL["hertz"].bounds("stiffness") == {"above": 0.0}
    assert NORMAL["hertz"].bounds("exponent") == {"at_least": 1.0}
    assert NORMAL["adams_impact"].bounds("damping") == {"at_least": 0.0}
