"""Designs leave the motion as it is, and are the same wherever a mechanism stands."""

import cmath
import json
import math

import numpy as np
import pytest

import jointplay as jp
from jointplay import balancing
from jointplay.errors import InputError


def disc_crank(at="centre", drive="kind: angle, of: crank, motion: {kind: constant_speed, speed: 60 rad/s}"):
    return jp.loads(f"""
name: disc crank
gravity: [0, 0]
ground: {{points: {{O: [0, 0]}}}}
bodies:
  crank: {{mass: 5 kg, inertia: 0.05, points: {{pin: [100 mm, 0], axis: [0, 0]}}}}
  rod: {{bar: 300 mm, mass: 0.8 kg, points: {{middle: [150 mm, 0]}}}}
  ram: {{mass: 2 kg, inertia: 1e-2}}
joints:
  J1: {{kind: revolute, between: [ground.O, crank.{at}]}}
  J2: {{kind: revolute, between: [crank.pin, rod.start]}}
  J3: {{kind: revolute, between: [rod.end, ram.centre]}}
  J4: {{kind: prismatic, between: [ground.O, ram.centre], axis: [1, 0]}}
drives: {{motor: {{{drive}}}}}
start: {{crank: 60 deg}}
""")


def test_a_centre_that_something_is_at_is_not_adjusted():
    """The joint moved with it: 720 N were told, and the mechanism that came back had 1832 N and a longer stroke."""
    asked, times = "crank.centre.x,crank.centre.y", np.linspace(0, math.tau / 60, 91)[:-1]
    with pytest.raises(InputError, match=r"'J1' is at the point crank\.centre.*a point of its own at \[0, 0\]"):
        balancing.balance(disc_crank(), "force-rms", asked)
    with pytest.raises(InputError, match="'J1' is at the point"):
        balancing.trade_off(disc_crank(), asked)
    with pytest.raises(InputError, match="'J1' is at the point"):
        balancing.adaptive(disc_crank(), "ram.mass", [1, 2], asked, "force")
    found = balancing.balance(disc_crank("axis"), "force-rms", asked, times=times)
    again = balancing.shaking(found.mechanism, times).force.max()
    assert found.after["shaking_force_peak"] == pytest.approx(float(again), rel=1e-3)
    assert balancing.balance(disc_crank(), "force", "crank").rank  # a counterweight leaves the point where it is


def test_a_mass_centre_that_a_drive_prescribes_is_not_moved():
    """A counterweight moved it, so that the drive prescribed another stroke."""
    motion = "motion: {kind: sine, amplitude: 30 mm, frequency: 10 Hz, offset: 170 mm}"
    times = np.linspace(0, 0.1, 60)
    with pytest.raises(InputError, match=r"'motor' prescribes the mass centre of rod.*\[0\.15, 0\].*rod\.POINT"):
        balancing.balance(disc_crank(drive=f"kind: x, of: rod, {motion}"), "force", "crank,rod")
    found = balancing.balance(disc_crank(drive=f"kind: x, of: rod.middle, {motion}"), "force", "crank,rod", times=times)
    again = np.abs(balancing.shaking(found.mechanism, times).moment).max()
    assert found.after["shaking_moment_peak"] == pytest.approx(float(again), rel=1e-3)


def four_bar(turn=0.0, at=0j):
    """A four-bar that is turned (rad) about its crank's pivot, which stands at a place."""
    bar = jp.library.four_bar(
        (0.1, 0.35, 0.25, 0.4),
        (0.3, 0.8, 0.5),
        (1e-3, 1e-2, 2e-3),
        0.0,
        centres=((0.05, 0), (0.12, 0.05), (0.12, 0.01)),
    )
    points = {name: at + complex(*p) * cmath.exp(1j * turn) for name, p in bar.ground.points.items()}
    drive = {"kind": "angle", "of": "crank", "motion": {"kind": "constant_speed", "speed": 6.0, "start": turn}}
    return bar.replace(
        ground={"points": {name: (p.real, p.imag) for name, p in points.items()}},
        start={body: turn + math.radians(angle) for body, angle in (("crank", 0), ("coupler", 45), ("rocker", 110))},
        drives={"motor": drive},
        gravity=(0, 0),
    )


def test_the_nearest_design_is_that_about_the_pole_however_the_mechanism_stands():
    """The pole was left out, and the residual was another one for a mechanism that is turned."""
    one = balancing.balance(four_bar(), "force+moment", "crank,rocker")
    assert not one.feasible
    other = balancing.balance(four_bar(0.7, 3 - 2j), "force+moment", "crank,rocker", pole=(3, -2))
    assert other.residual == pytest.approx(one.residual, rel=1e-6)
    assert other.after == pytest.approx(one.after, rel=1e-4)


def test_loads_that_change_are_told_where_the_one_of_the_start_counts():
    arm = jp.library.pendulum(length=0.5, mass=2.0, angles=[0.3])
    wave = {"kind": "sine", "amplitude": 5.0, "frequency": 3.0, "phase": 1.0}
    for y, told in ((wave, ["what changes with time counts as it is at t = 0: wind"]), (-5.0, [])):
        given = arm.replace(forces={"wind": {"kind": "force", "at": "bar1.end", "y": y}})
        assert balancing.balance(given, "static", "bar1:radius=0.5m", times=[0.0, 0.1]).notes == told
        assert list(balancing.judge(given).notes) == told
        found = balancing.adaptive(given, "bar1.mass", [1.0, 2.0], "bar1:radius=0.5m")
        assert json.loads(found.attrs["notes"]) == told


@pytest.mark.parametrize(
    ("payload", "values", "slope"), [("bar1.mass", [1, 3], 9.81 / 0.8), ("ground.H.y", [0.2, 0.8], np.nan)]
)
def test_two_payloads_make_a_straight_line_only_where_there_is_one(payload, values, slope):
    """A spring holds an arm with stiffness mass g / (2 height)."""
    arm = jp.library.pendulum(mass=2.0, angles=[0.3])
    lift = {"kind": "spring", "between": ("ground.H", "bar1.end"), "stiffness": 1.0}
    arm = arm.replace(ground={"points": {**arm.ground.points, "H": (0.0, 0.4)}}, forces={"lift": lift})
    found = balancing.adaptive(arm, payload, values, "lift")
    assert found.feasible.all() and found.sizes["payload"] == 2
    assert found.slope.item() == pytest.approx(slope, nan_ok=True)
