"""Every friction law against its contract and its formula, in every mode."""

import inspect
import math
import re

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from jointplay.engine import derivative, emit, stop, trace
from jointplay.laws.friction import FRICTION
from tests.helpers import differences, evaluate, lane_run, outcome, same_bits, scalar_outcomes

MEMORYLESS = [name for name, law in FRICTION.items() if not law.rates]
BRISTLES = [name for name, law in FRICTION.items() if law.rates]
EVERY = pytest.mark.parametrize("law", FRICTION.values(), ids=FRICTION)
few = settings(max_examples=60, phases=[Phase.generate], deadline=None)
SLIPS, LOADS = st.floats(-2, 2) | st.floats(-3e-3, 3e-3), st.floats(0, 1e5)


def force(name, slip, normal=10.0, **p):
    return FRICTION[name](slip, normal, **FRICTION[name].parameters | p)[0]


def highest(law):
    """The largest coefficient of friction."""
    return law.parameters.get("static_friction", law.parameters["friction"])


def test_all_laws_are_known():
    assert MEMORYLESS == ["modified_coulomb", "threlfall", "ambrosio", "bengisu_akay"]
    assert BRISTLES == ["dahl", "lugre"]
    assert all(name == law.name and not law.memory and not law.geometry for name, law in FRICTION.items())


@EVERY
def test_parameters_are_documented_with_a_source(law):
    text = inspect.getdoc(law)
    assert law.inputs == ["slip", "normal"]
    assert [n for n in (*law.parameters, *law.rates) if not re.search(rf"\b{n}\b", text)] == []
    assert re.search(r"\b(19|20)\d\d\b", text)
    assert set(law.parameters) - set(law.units) <= {"friction", "static_friction"}
    for small, large in (*law.less.items(), *law.at_most.items()):
        assert law.parameters[small] < law.parameters[large]


# -- without memory
@pytest.mark.parametrize("name", MEMORYLESS)
@given(slip=SLIPS, normal=LOADS)
@few
def test_opposes_slip_within_the_cone(name, slip, normal):
    F = force(name, slip, normal)
    assert F * slip <= 0
    assert abs(F) <= highest(FRICTION[name]) * normal * (1 + 1e-12)
    assert force(name, -slip, normal) == pytest.approx(-F, rel=1e-12, abs=1e-12 * normal)
    assert force(name, slip, 2 * normal) == pytest.approx(2 * F, rel=1e-12)
    assert force(name, 0.0, normal) == 0.0 == force(name, slip, 0.0)


@pytest.mark.parametrize(("name", "jumps"), [(n, {"threlfall": [1e-3]}.get(n, [])) for n in MEMORYLESS])
def test_continuous_but_for_the_step_of_threlfall(name, jumps):
    v = np.linspace(-0.02, 0.02, 40001)
    F = np.array([force(name, x) for x in v])
    big = np.abs(np.diff(F)) > 0.01
    assert sorted({round(abs(x), 5) for x in v[1:][big]}) == pytest.approx(jumps, abs=2e-6)
    if jumps:
        assert np.abs(np.diff(F)).max() == pytest.approx(math.exp(-3), rel=0.01)  # 5 % of friction * normal


def test_values_of_the_reference_page():
    assert force("modified_coulomb", 5e-4) == pytest.approx(-1.031250, abs=5e-7)
    assert force("modified_coulomb", 5e-3) == pytest.approx(-1.291495, abs=5e-7)
    assert force("modified_coulomb", 1e-3) == pytest.approx(-1.5) and force("modified_coulomb", 0.5) == -1.0
    assert force("threlfall", 5e-4) == pytest.approx(-0.776870, abs=5e-7)
    assert force("ambrosio", 5e-4) == pytest.approx(-0.444444, abs=5e-7)
    assert force("ambrosio", 5e-5) == 0 and force("ambrosio", 1.0) == -1.0
    assert force("bengisu_akay", 5e-4) == pytest.approx(-1.125, rel=1e-14)
    assert force("bengisu_akay", 3e-3) == pytest.approx(-(1 + 0.5 * math.exp(-500 * 2e-3)), rel=1e-14)


def test_modified_coulomb_has_no_kinks():
    v = np.array([-1e-3, 1e-3, 1e-2])
    slopes = [(force("modified_coulomb", x + s) - force("modified_coulomb", x)) / s for x in v for s in (1e-9, -1e-9)]
    assert np.abs(slopes).max() < 1e-2  # against 1500 N s/m between them


# -- with bristles
def pulled(name, speed, until, normal=10.0, **p):
    """Time, bristle and force of a slider pulled at speed(t)."""
    law, given = FRICTION[name], FRICTION[name].parameters | p

    def rate(t, z):
        return [law(speed(t), normal, **given, bristle=z[0])[1]["bristle"]]

    run = solve_ivp(rate, (0, until), [0.0], "LSODA", rtol=1e-10, atol=1e-16, max_step=until / 200)
    F = [law(speed(t), normal, **given, bristle=z)[0] for t, z in zip(run.t, run.y[0], strict=True)]
    return run.t, run.y[0], np.array(F)


def test_lugre_at_steady_slip():
    """s0 = 1e5 N/m, s1 = 316.227766, s2 = 0.4 N s/m, Fc = 1, Fs = 1.5 N at 10 N: the page's set."""
    p = {"stiffness": 1e4, "damping": 31.6227766, "viscous": 0.04}
    _, _, F = pulled("lugre", lambda t: 1e-3, 0.5, **p)
    assert F[-1] == pytest.approx(-1.184340, abs=5e-7)


@pytest.mark.parametrize("name", BRISTLES)
@pytest.mark.parametrize("speed", [lambda t: 2e-3 * math.sin(30 * t), lambda t: 1e-5, lambda t: -0.02 * t])
def test_bristles_stay_short_and_take_power(name, speed):
    law = FRICTION[name]
    t, z, F = pulled(name, speed, 0.5)
    assert np.abs(z).max() <= highest(law) / law.parameters["stiffness"] * (1 + 1e-6)
    if name == "dahl":  # nothing but the bristle: within the cone
        assert np.abs(F).max() <= highest(law) * 10 * (1 + 1e-6)
    v = np.array([speed(x) for x in t])
    spring = 0.5 * 10.0 * law.parameters["stiffness"] * z**2
    work = np.concatenate([[0], np.cumsum(0.5 * (F[1:] * v[1:] + F[:-1] * v[:-1]) * np.diff(t))])
    assert (spring + work <= 1e-7).all()  # no more comes back than is stored


def test_dahl_is_dahl():
    """F' = sigma v (1 - F/Fc) at steady slip has the closed form Fc (1 - exp(-sigma x/Fc))."""
    t, _, F = pulled("dahl", lambda t: 1e-4, 0.5)
    np.testing.assert_allclose(F, -1.0 * (1 - np.exp(-1e5 * 1e-4 * t)), rtol=1e-7, atol=1e-10)


def test_bristles_hold_where_the_others_creep():
    law = FRICTION["lugre"]
    held = 0.5 / (10 * law.parameters["stiffness"])  # half of the friction that slides
    F, rates, kept = law(0.0, 10.0, **law.parameters, bristle=held)
    assert pytest.approx(-0.5) == F and rates == {"bristle": 0.0} and kept == {}
    assert law(0.5, 0.0, **law.parameters, bristle=held)[0] == 0.0  # an open contact


# -- the same in every mode
def text_of(law):
    def text(slip, normal, bristle, **p):
        states = {"bristle": bristle} if law.rates else {}
        result, rates, _ = law(slip, normal, **p, **states)
        return [result, rates.get("bristle", 0.0 * slip), *derivative([result], [slip, normal])[0]]

    return text


@EVERY
def test_the_same_numbers_in_every_mode(law):
    rng = np.random.default_rng(3)
    slips = np.concatenate([[0.0, 1e-3, -1e-3, 1e-2], rng.uniform(-3e-3, 3e-3, 12), rng.uniform(-1, 1, 8)])
    x = slips, rng.uniform(0, 100, 24), rng.uniform(-1e-5, 1e-5, 24)
    p, text = law.parameters, text_of(law)
    eager = evaluate(text, *x, eager=True, **p)
    assert same_bits(eager, evaluate(text, *x, fma=False, **p))
    np.testing.assert_allclose(evaluate(text, *x, **p), eager, rtol=1e-9, atol=1e-9)
    plain = [law(*map(float, row[:2]), **p, **{n: float(row[2]) for n in law.rates}) for row in zip(*x, strict=True)]
    np.testing.assert_allclose(eager[0], [row[0] for row in plain], rtol=1e-12, atol=1e-12)
    assert np.isfinite(eager).all()
    assert (eager[3] * eager[0] >= 0).all()  # more load, more friction


@EVERY
def test_lanes_equal_single_runs(law):
    state = {"slip": 1e-3, "normal": 1.0} | dict.fromkeys(law.rates, 1e-6)

    def step(s, p):
        given = {n: p[n] for n in (*law.parameters, *law.rates)}
        result, rates, _ = law(p.slip, p.normal, **given)
        emit("out", force=result, **rates)
        stop(s.step >= 0)

    program = trace(step, {}, state | law.parameters)
    sets = [{"slip": v, "normal": n} for v, n in ((0.0, 1.0), (1e-4, 5.0), (-2e-3, 9.0), (0.3, 0.0))]
    together, alone = lane_run(program, sets, eager=False), scalar_outcomes(program, sets, eager=False)
    assert [differences(outcome(together, i), alone[i]) for i in range(4)] == [[]] * 4
