"""Drives followed over their period before anything is integrated, and what `check` says of published data."""

import doctest
import math

import numpy as np
import pytest

from jointplay.model import Compliant, ModelError, Rigid, library, loads, table
from jointplay.simulation import FixedRungeKutta, MoreauJean, simulate
from jointplay.statics import check, drives, equilibria, followed, period


def driven(*motions, kind="angle"):
    """As many free bars on pivots as there are motions."""
    bars = {f"bar{i}": {"bar": 1.0, "mass": 1.0} for i in range(len(motions))}
    pins = {f"J{i}": {"kind": "revolute", "between": ["ground.O", f"bar{i}.start"]} for i in range(len(motions))}
    moved = {f"D{i}": {"kind": kind, "of": f"bar{i}", "motion": motion} for i, motion in enumerate(motions)}
    ground = {"points": {"O": (0, 0)}}
    return library.Mechanism(ground=ground, bodies=bars, joints=pins, drives=moved)


def turning(speed):
    return {"kind": "constant_speed", "speed": speed}


def swinging(frequency, offset=0.0):
    return {"kind": "sine", "amplitude": 0.1, "frequency": frequency, "offset": offset}


@pytest.mark.parametrize(
    ("mechanism", "seconds"),
    [
        (library.wu_2017(), 36.0),
        (driven(turning(2.0)), math.pi),
        (driven(turning(-6.0), swinging(4.0)), math.pi),
        (driven(turning(2.0), 0.3), math.pi),
        (driven(2.0, kind="rate"), math.pi),
        (driven(swinging(3.0), kind="rate"), math.tau / 3),
        (driven(swinging(3.0, 1.0), kind="rate"), math.tau),  # one turn, three swings
        (driven({"kind": "table", "times": [0, 0.5, 2], "values": [0, 1, 0], "ends": "periodic"}), 2.0),
        (driven({"kind": "table", "times": [0, 0.5, 2], "values": [0, 1, 0]}), None),
        (driven(turning(1.0), turning(math.sqrt(2))), None),
        (driven({"kind": "polynomial", "coefficients": [0, 1]}), None),
        (driven(0.3), None),
        (library.pendulum(), None),
    ],
)
def test_when_drives_repeat(mechanism, seconds):
    assert period(mechanism) == (None if seconds is None else pytest.approx(seconds, rel=1e-12))


def test_the_example_in_the_text_is_true():
    assert doctest.testmod(drives).failed == 0


def test_drives_are_followed_over_their_period():
    assert check(library.wu_2017()).drives == "repeat after 36 s; it assembles throughout"
    assert followed(library.wu_2017(), 5.0).text() == "repeat after 36 s; it assembles throughout the first 5 s"
    assert followed(library.slider_crank()) is None and check(library.slider_crank()).drives == ""
    assert "drives              repeat after 36 s" in check(library.wu_2017()).text()


STUCK = """
ground: {points: {O: [0, 0], C: [0.4, 0]}}
bodies: {crank: {bar: 300 mm, mass: 1}, rod: {bar: 200 mm, mass: 1}, rocker: {bar: 250 mm, mass: 1}}
joints:
  J1: {kind: revolute, between: [ground.O, crank.start]}
  J2: {kind: revolute, between: [crank.end, rod.start]}
  J3: {kind: revolute, between: [rod.end, rocker.end]}
  J4: {kind: revolute, between: [ground.C, rocker.start]}
drives: {motor: {kind: angle, of: crank, motion: {kind: constant_speed, speed: 1, start: 0.5}}}
start: {rod: 0.3, rocker: 1.5}
"""


@pytest.mark.parametrize("contact", [Rigid(), Compliant()])
def test_what_cannot_be_assembled_is_not_integrated(contact):
    """The crank cannot go round; where the rod and the rocker are stretched, by the law of cosines, it must stop."""
    last = math.acos((0.3**2 + 0.4**2 - 0.45**2) / (2 * 0.3 * 0.4)) - 0.5
    mechanism = loads(STUCK).loosen("J2", 1e-4, contact=contact)
    with pytest.raises(
        ModelError, match=r"^drives: .* cannot be assembled beyond t = .* Nothing was integrated"
    ) as caught:
        simulate(mechanism, 10.0)
    assert float(str(caught.value).partition("t = ")[2].split()[0]) == pytest.approx(last, abs=1e-3)
    found = check(mechanism)
    assert found.drives == "repeat after 6.28319 s; they cannot be followed"
    assert any("cannot be assembled beyond" in warning for warning in found.warnings)
    if isinstance(contact, Compliant):  # what it can do before is computed
        assert simulate(mechanism, 0.01, FixedRungeKutta(1e-5)).attrs["outcome"] == "done"


@pytest.mark.parametrize("until", [2.0, 1.9])
def test_what_follows_a_limit_is_seen_though_a_look_falls_right_on_it(until):
    """Crank and rod are stretched at 0.4 m, after 0.2 s: a whole number of looks, or not."""
    motion = {"kind": "constant_speed", "start": 0.3, "speed": 0.5}
    slider = library.slider_crank().replace(
        drives={"push": {"kind": "x", "of": "slider.pin", "motion": motion}}, start={}
    )
    with pytest.raises(ModelError, match=r"cannot be assembled beyond t = 0\.2 s"):
        simulate(slider.loosen("J3", 1e-4, contact=Rigid()), until)


def test_a_bore_that_leaves_its_bar_is_named():
    text = "joint 'P': the drives move the middle of the bore along 'link3' from"
    for base, leaves in ((0.15, False), (0.4, True), (0.07, True)):
        warned = [w for w in check(library.wu_2017(base=base)).warnings if w.startswith(text)]
        assert bool(warned) is leaves
    assert "with a length of 0.06 m it leaves the bar of 0.9 m" in warned[0]


def test_published_contradictions_are_reported():
    mechanism = library.wu_2017(clearance=5e-4, contact=library.wu_2017_contact())
    said = "\n".join(check(mechanism).warnings)
    for part in (
        "link1.inertia = 0.00817 kg m^2 is 4 times that of a uniform bar about its centre",
        "link2.inertia = 0.01713 kg m^2 is 4 times that of a uniform bar about its centre",
        "slider.inertia = 3e-05 kg m^2 is 0.474 times that of a thin tube as long as its bore",
        "I3 is neither m L^2/12 nor m L^2/3",
        "can only be N/mm^1.5",
        "1 % of K (1000 N s/mm) and printed as 58 N s/mm",
        "a difference of diameters and used as one of radii",
        "equation 2 takes 2 (r + c)",
        "jumps from -mu_s to mu_s at rest",
        "0.1 s can only be that of the output",
        "repeat after 36 s, so the 120 s of the paper are 3.33 periods",
    ):
        assert part in said


def test_friction_of_a_compliant_contact_needs_a_lever():
    arm = library.pendulum()
    rough = Compliant(friction="threlfall")
    [warning] = check(arm.loosen("J1", 1e-3, contact=rough)).warnings
    assert warning == "joint 'J1': friction threlfall has no lever, as journal_radius is 0; give the journal's radius"
    assert check(arm.loosen("J1", 1e-5, journal_radius=0.01, contact=rough)).warnings == ()


@pytest.mark.parametrize("step", [1e-3, 5e-4, 2.5e-4])
def test_a_periodic_table_keeps_its_rate_where_a_step_meets_its_period(step):
    """Rounding may put such a time just outside of the table; a clamp there took the drive's rate away for a step."""
    times = np.linspace(0.0, 0.4, 9)
    values = 1.0 + 0.1 * np.sin(2 * np.pi * times / 0.4)
    motion = table(times.tolist(), [*values[:-1].tolist(), float(values[0])], ends="periodic")
    drive = {"kind": "angle", "of": "crank", "motion": motion}
    crank = library.slider_crank(angle=1.0).replace(drives={"motor": drive}, start={})
    run = simulate(crank, 0.5, MoreauJean(step))
    smooth = simulate(crank, 0.5, FixedRungeKutta(5e-4))
    assert float(run["peak_force"].max()) == pytest.approx(float(smooth["peak_force"].max()), rel=0.02)


def test_a_rate_drive_rests_where_it_starts_only():
    """It was held at its start angle, whatever the time that was asked for."""
    spun = library.pendulum(2).replace(drives={"spin": {"kind": "rate", "of": "bar1", "motion": 2.0}})
    assert [e.stability for e in equilibria(spun, 8)] == ["stable", "unstable"]
    with pytest.raises(ModelError, match="rests where it starts, and not where it is at t = 1 s"):
        equilibria(spun, 8, t=1.0)
