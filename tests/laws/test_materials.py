"""Numbers of laws: from material and geometry, from impacts, from and to ADAMS; laws of one's own."""

import math
import pickle

import pytest

from jointplay.engine import emit, stop, trace
from jointplay.laws import law
from jointplay.laws.materials import (
    contact_modulus,
    damping_ratio,
    from_adams,
    from_material,
    hertz_stiffness,
    impact,
    kelvin_voigt_damping,
    to_adams,
)
from jointplay.laws.normal import NORMAL
from tests.helpers import recorded, run_to_end

STEEL = {"young": 207e9, "poisson": 0.3}
PIN = {"journal_radius": 0.01, "clearance": 5e-4, "length": 0.02, "mass": 1.0, "speed": 0.1}


@pytest.mark.parametrize(("clearance", "K"), [(0.25e-3, 9.710232e10), (0.5e-3, 6.949401e10), (1e-3, 5.029607e10)])
def test_stiffness_of_paper_004(clearance, K):
    assert hertz_stiffness(contact_modulus(**STEEL), 0.01, clearance) == pytest.approx(K, rel=1e-7)


def test_two_materials():
    E = contact_modulus(207e9, 0.3, 70e9, 0.33)
    assert pytest.approx((1 - 0.3**2) / 207e9 + (1 - 0.33**2) / 70e9, rel=1e-14) == 1 / E
    assert contact_modulus(**STEEL) == contact_modulus(**STEEL, other_young=207e9, other_poisson=0.3)


def test_kelvin_voigt_by_restitution():
    """Cut off where it would pull, it rebounds with 0.550283 instead of the 0.5 that it was made for."""
    assert damping_ratio(0.5) == pytest.approx(0.215453762, abs=5e-10)
    K, m = 1e7, 2.0
    D = kelvin_voigt_damping(K, m, 0.5)
    assert impact(NORMAL["kelvin_voigt"], m, 0.3, stiffness=K, damping=D).restitution == pytest.approx(
        0.550283, abs=5e-7
    )

    @law()
    def pulling(depth, rate, approach, *, stiffness=K, damping=D):
        return stiffness * depth + damping * rate

    free = impact(pulling, m, 0.3)
    assert free.restitution == pytest.approx(0.5, abs=1e-8)
    assert free.duration == pytest.approx(math.pi / math.sqrt(K / m * (1 - damping_ratio(0.5) ** 2)), rel=1e-9)


def test_an_elastic_impact_in_closed_form():
    hit = impact(NORMAL["hertz"], 2.0, 0.5, stiffness=1e9)
    deepest = (1.25 * 2.0 * 0.5**2 / 1e9) ** 0.4
    assert hit.depth == pytest.approx(deepest, rel=1e-9)
    assert hit.force == pytest.approx(1e9 * deepest**1.5, rel=1e-9)
    assert hit.duration == pytest.approx(2 * deepest / 0.5 * math.sqrt(math.pi) * math.gamma(1.4) / math.gamma(0.9))
    assert hit.restitution == pytest.approx(1, abs=1e-9)


def test_an_impact_that_cannot_be():
    @law()
    def weak(depth, rate, approach, *, stiffness=1e-30):
        return stiffness * depth

    with pytest.raises(ValueError, match=r"law 'weak' does not stop 1 kg at 1 m/s; is it stiff enough\?"):
        impact(weak, 1.0, 1.0)

    @law()
    def sticky(depth, rate, approach, *, stiffness=1.0):
        return stiffness * depth + 1e3 * rate

    with pytest.raises(ValueError, match="does not end; is it overdamped"):
        impact(sticky, 1.0, 1.0)


@pytest.mark.parametrize("name", NORMAL)
def test_every_law_from_material(name):
    values, numbers = from_material(NORMAL[name], **STEEL, **PIN)
    assert set(values) == set(NORMAL[name].own)
    wanted = {"modulus", "effective restitution", "largest depth", "largest force", "contact duration"}
    assert wanted | {"natural period", "recommended step"} <= set(numbers)
    assert all(x > 0 for n, x in numbers.items() if n != "damping factor")
    assert all(entry.source for entry in numbers.entries)
    assert numbers["recommended step"] == pytest.approx(
        min(numbers["contact duration"], numbers["natural period"]) / 50
    )
    lines = str(numbers).splitlines()
    assert len(lines) == len(numbers) and all(line.startswith(n) for line, n in zip(lines, numbers, strict=True))
    if name in ("exact_restitution", "adams_impact", "johnson", "liu"):
        assert numbers["effective restitution"] == pytest.approx(0.9, abs=1e-6)
    if "stiffness" in values and name != "kelvin_voigt":
        assert values["stiffness"] == pytest.approx(6.949401e10, rel=1e-7)


def test_times_of_a_contact():
    """Hertz: contact lasts 2.94 depth/speed; the period belongs to the slope of the force at that depth."""
    _, numbers = from_material(NORMAL["hertz"], **STEEL, **PIN)
    assert numbers["contact duration"] == pytest.approx(2.9432752 * numbers["largest depth"] / 0.1, rel=1e-6)
    slope = 1.5 * numbers["stiffness"] * math.sqrt(numbers["largest depth"])
    assert numbers["natural period"] == pytest.approx(2 * math.pi / math.sqrt(slope), rel=1e-5)


def test_what_cannot_be_derived():
    with pytest.raises(ValueError, match="law 'johnson' needs the length of the bearing in m"):
        from_material(NORMAL["johnson"], **STEEL, **PIN | {"length": None})

    @law()
    def own(depth, rate, approach, *, secret):
        return secret * depth

    with pytest.raises(ValueError, match=r"law 'own': nothing is known to derive 'secret' from"):
        from_material(own, **STEEL, **PIN)


def test_adams_there_and_back():
    """Paper 002: K = 1e5 N/mm^1.5, Cmax = 58 N s/mm, dmax = 0.1 mm."""
    si = from_adams(1e5, 1.5, 58.0, 0.1)
    assert si["stiffness"] == pytest.approx(3.162278e9, rel=1e-6)
    assert (si["damping"], si["ramp"], si["exponent"]) == (58e3, pytest.approx(1e-4), 1.5)
    assert to_adams(si) == pytest.approx({"stiffness": 1e5, "exponent": 1.5, "damping": 58.0, "dmax": 0.1}, rel=1e-14)
    in_mm = 1e5 * 0.02**1.5 + 58.0 * (0.2**2 * (3 - 0.4)) * 100.0  # N from mm and mm/s
    assert NORMAL["adams_impact"](2e-5, 0.1, 1.0, **si)[0] == pytest.approx(in_mm, rel=1e-14)


# -- a law of one's own: six lines, and nothing of the package is touched
@law(units={"stiffness": "N/m", "loss": "s/m"})
def stiffening(depth, rate, approach, *, stiffness=1e7, loss=0.1, length):
    """A spring that grows harder over its length (m): stiffness (N/m), loss (s/m)."""
    from jointplay.engine import maximum

    return maximum(stiffness * depth * (1 + depth / length) * (1 + loss * rate), 0.0)


def test_a_law_of_ones_own_is_traced_and_inlined():
    assert stiffening.own == {"stiffness": 1e7, "loss": 0.1} and stiffening.geometry == ["length"]
    by_hand = 1e7 * 1e-4 * (1 + 1e-4 / 0.02) * (1 + 0.1 * 0.5)
    assert stiffening(1e-4, 0.5, 1.0, **stiffening.own, length=0.02)[0] == pytest.approx(by_hand, rel=1e-14)
    assert 0.5 < impact(stiffening, 1.0, 1.0, length=0.02).restitution < 1

    def step(s, p):
        emit("out", force=stiffening(s.depth, 0.5, 1.0, **{n: p[n] for n in stiffening.parameters})[0])
        stop(s.step >= 0)
        return {}

    program = trace(step, {"depth": 1e-4}, stiffening.own | {"length": 0.02})
    assert recorded(program, "call") == 0 and recorded(program, "mul") >= 3
    for options in ({"eager": True}, {"eager": False}):
        assert run_to_end(program, **options).rows("out")["force"][0] == pytest.approx(by_hand, rel=1e-14)


def test_laws_say_what_they_are():
    assert repr(NORMAL["hertz"]) == "<law hertz>"
    assert pickle.loads(pickle.dumps(NORMAL["hertz"])) is NORMAL["hertz"]
    assert NORMAL["hertz"].__doc__.startswith("stiffness * depth^exponent")
    with pytest.raises(ValueError, match="law 'odd' says something about 'y', which is not one of its parameters"):

        @law(units={"y": "m"})
        def odd(x):
            return x


def test_own_bounds():
    @law(above={"offset": -math.inf, "gain": 2.0}, less={"offset": "gain"})
    def bounded(x, *, offset=-1.0, gain=3.0, other=0.0):
        return offset + gain * x + other

    assert bounded.bounds("offset") == {"above": -math.inf} and bounded.bounds("gain") == {"above": 2.0}
    assert bounded.bounds("other") == {"at_least": 0.0} and bounded.less == {"offset": "gain"}
