"""The library: published numbers, closed loops, sources."""

import cmath
import math

import pytest

from jointplay.errors import InputError
from jointplay.model import Mechanism, Revolute, library


def place(m: Mechanism, reference: str, known: dict[str, complex]) -> complex | None:
    body, _, point = reference.partition(".")
    if body == "ground":
        return complex(*m.ground.points[point])
    if body not in known:
        return None
    return known[body] + complex(*m.bodies[body].arm(point)) * cmath.exp(1j * m.start[body])


def gaps(m: Mechanism) -> dict[str, float]:
    """How far apart the points of each revolute joint are at the start, placing bodies joint by joint."""
    known = {n: complex(m.start[f"{n}.x"], m.start[f"{n}.y"]) for n in m.bodies if f"{n}.x" in m.start}
    pins = {name: joint for name, joint in m.joints.items() if isinstance(joint, Revolute)}
    for _ in m.bodies:
        for joint in pins.values():
            for here, there in (joint.between, joint.between[::-1]):
                body, _, point = there.partition(".")
                at = place(m, here, known)
                if at is not None and body != "ground" and body not in known:
                    known[body] = at - complex(*m.bodies[body].arm(point)) * cmath.exp(1j * m.start[body])
    assert set(known) == set(m.bodies)
    return {n: abs(place(m, j.between[0], known) - place(m, j.between[1], known)) for n, j in pins.items()}


@pytest.mark.parametrize("name", [name for name in library.MECHANISMS if name != "point_mass"])  # it has no joint
def test_starts_are_closed(name):
    m = library.MECHANISMS[name]()
    if name == "grigore_figure_5":  # its equilibrium, printed to 8 digits, lies on the clearance circle
        assert gaps(m) == pytest.approx({"O3": 1e-3, "O4": 0.0}, abs=2e-8)
    else:
        assert max(gaps(m).values()) < 1e-14


@pytest.mark.parametrize(
    "name", [n for n in library.MECHANISMS if any(c.isdigit() for c in n) or "coelho" in n or "grigore" in n]
)
def test_papers_have_a_source(name):
    assert library.MECHANISMS[name]().source


def test_published_starts():
    crank_rocker = library.crank_rocker_2016()
    assert crank_rocker.start == pytest.approx({"crank": 1.571, "coupler": 0.3533, "rocker": 1.2649}, abs=1e-4)
    assert crank_rocker.value("coupler.inertia") == 1.33
    assert library.wu_2017().start["link3"] == pytest.approx(0.106309288, abs=1e-9)
    five = library.coelho_five_bar()
    degrees = [math.degrees(five.start[n]) for n in ("left_inner", "left_outer", "right_inner", "right_outer")]
    assert degrees == pytest.approx([175.24922, 175.24922 + 188.10961 - 360, 4.75078, 4.75078 + 171.89039], abs=1e-5)


def test_five_bar_parameters_of_equation_82():
    for balanced, i1, i2, i3 in ((True, 0.18094, 0.12017, 0.0), (False, 0.06534, 0.02017, 0.034)):
        m = library.coelho_five_bar(balanced)
        inner, outer = m.bodies["left_inner"], m.bodies["left_outer"]
        assert outer.inertia + outer.mass * outer.centre[0] ** 2 == pytest.approx(i1, abs=1e-12)
        assert inner.inertia + inner.mass * inner.centre[0] ** 2 + outer.mass * 0.01 == pytest.approx(i2, abs=1e-12)
        assert 0.1 * outer.mass * outer.centre[0] == pytest.approx(i3, abs=1e-12)


def test_generators_refuse_what_does_not_close():
    with pytest.raises(ValueError, match="does not close"):
        library.four_bar((1, 1, 1, 9))
    with pytest.raises(ValueError, match="does not close"):
        library.slider_crank(crank=1.0, rod=0.1, angle=1.5)
    with pytest.raises(ValueError, match="at least one bar"):
        library.pendulum(0)


def test_generators():
    assert list(library.pendulum(3).joints) == ["J1", "J2", "J3"]
    assert library.slider_crank(speed=10.0).value("motor.speed") == 10.0
    assert library.scotch_yoke(speed=2.0).drives["motor"].motion(1.0) == 2.0
    measured = library.four_bar(inertias=(0.001, 0.01, 0.002), centres=((0.05, 0), (0.12, 0.05), (0.12, 0.01)))
    assert measured.value("coupler.centre.y") == 0.05


def test_a_spacecraft_with_ideal_joints_has_no_place_for_a_clearance():
    with pytest.raises(InputError, match=r"case 0 has no loose joint for a clearance of 0\.001; choose 1 to 5"):
        library.spacecraft_2026(clearance=1e-3)
