"""A motion is looked at as often as what is fastest in it asks for."""

import math

import numpy as np
import pytest

import jointplay as jp
from jointplay import balancing
from jointplay.balancing import motion
from jointplay.balancing.demands import demands
from jointplay.errors import ComputationFailed, InputError

GROUND = {"points": {"O": (0.0, 0.0)}}


def beside_a_table(speed):
    """A slider-crank at 144 rad/s, and a table that is balanced in itself and turns at another speed."""
    base = jp.library.slider_crank(crank=0.1, rod=0.3, masses=(0.5, 0.8, 1.0), speed=144.0)
    turn = {"kind": "angle", "of": "table", "motion": {"kind": "constant_speed", "speed": speed}}
    return base.replace(
        gravity=(0, 0),
        bodies={**base.bodies, "table": jp.Body(mass=1.0, inertia=0.01)},
        joints={**base.joints, "JT": {"kind": "revolute", "between": ["ground.O", "table.centre"]}},
        drives={**base.drives, "feed": turn},
    )


def test_a_slow_drive_that_does_not_shake_changes_nothing():
    """The turns of the fast one are many then, and were seen in five positions each."""
    slow, alone = (
        balancing.balance(beside_a_table(speed), "force-peak", "crank:radius=80mm,mass<=2kg") for speed in (1.0, 144.0)
    )
    assert slow.before == pytest.approx(alone.before, rel=1e-4)
    assert slow.after == pytest.approx(alone.after, rel=1e-2)
    assert slow.design == pytest.approx(alone.design, rel=1e-2, abs=1e-6)


def arm(times, values):
    table = {"kind": "table", "times": times, "values": values, "ends": "periodic", "interpolation": "cubic"}
    return jp.Mechanism(
        ground=GROUND,
        bodies={"arm": {"bar": 0.4, "mass": 2.0}},
        joints={"J": {"kind": "revolute", "between": ["ground.O", "arm.start"]}},
        drives={"d": {"kind": "angle", "of": "arm", "motion": table}},
        gravity=(0, 0),
    )


@pytest.mark.parametrize("period", [5.0, 60.0])
def test_quick_strokes_in_a_long_period_are_seen(period):
    """Two strokes of 0.05 s, then rest: the peak is that of a run, however long the rest is."""
    stroke = [0.0, 0.0125, 0.025, 0.0375, 0.05, 0.0625, 0.075, 0.0875, 0.1]
    values = [0.0, 0.3, 0.8, 1.3, 1.57, 1.3, 0.8, 0.3, 0.0]
    made = arm([*stroke, 0.11, 0.12, period - 0.02, period - 0.01, period], [*values, 0, 0, 0, 0, 0])
    run = jp.simulate(made, until=0.12, every=5e-5)
    peak = float(balancing.shaking(run).force.max())
    assert motion(made).of(made)["shaking_force_peak"] == pytest.approx(peak, rel=5e-3)


def test_a_body_that_gears_turn_quickly_is_seen():
    """An eccentric that a gear of 1:180 turns, 45 deg at the start: its moment is m g e at most, by closed form."""
    turning = {"kind": "constant_speed", "speed": 1.0, "start": math.pi / 4 / 180}
    made = jp.Mechanism(
        ground=GROUND,
        bodies={
            "crank": {"mass": 1.0, "inertia": 0.01},
            "wheel": {"mass": 2.0, "inertia": 0.01, "centre": (0.03, 0.0), "points": {"pivot": (0.0, 0.0)}},
        },
        joints={
            "J1": {"kind": "revolute", "between": ["ground.O", "crank.centre"]},
            "J2": {"kind": "revolute", "between": ["ground.O", "wheel.pivot"]},
            "teeth": {"kind": "gear", "between": ["crank", "wheel"], "ratio": -180.0},
        },
        drives={"d": {"kind": "angle", "of": "crank", "motion": turning}},
        gravity=(0, -9.81),
    )
    found = motion(made)
    torque = found.sizes("torque", balancing.demands.parameters(made))
    assert torque.max() == pytest.approx(180 * 2 * 9.81 * 0.03, rel=1e-2)


def test_more_than_can_be_looked_at_is_refused_with_what_to_do():
    made = beside_a_table(1.0).with_({"motor.speed": 3000.0})
    with pytest.raises(InputError, match=r"72000 positions, 20000 at most; look at less of it \(times, --until\)"):
        motion(made)
    assert len(motion(made, 0.01).times) == 721
    with pytest.raises(InputError, match="above 0 s"):
        motion(made, 0.0)


def engine(pressed):
    """A slider-crank at 300 rpm with a force on its slider."""
    gas = {"gas": {"kind": "force", "at": "slider.centre", "x": pressed}}
    return jp.library.slider_crank(crank=0.1, rod=0.3, masses=(0.5, 0.8, 1.0), speed=10 * math.pi).replace(forces=gas)


def test_forces_repeat_too():
    """Those of a four-stroke engine after two turns: the torque is that of inverse dynamics over both."""
    times, values = [0.0, 0.05, 0.1, 0.2, 0.3, 0.4], [-1000.0, -400.0, 0.0, 0.0, 0.0, -1000.0]
    made = engine({"kind": "table", "times": times, "values": values, "ends": "periodic", "interpolation": "linear"})
    found = balancing.balance(made, "force-rms", "crank:radius=80mm")
    effort = jp.inverse_dynamics(made, np.linspace(0, 0.4, 4000, endpoint=False)).effort.values
    assert found.before["torque_rms"] == pytest.approx(math.sqrt((effort**2).mean()), rel=1e-3)
    assert found.notes == []


def test_a_force_that_does_not_repeat_is_told():
    made = engine({"kind": "polynomial", "coefficients": [0.0, 1.0]})
    [note] = balancing.balance(made, "force-rms", "crank:radius=80mm").notes
    assert note.startswith("over 0.2 s, the period of the drives, for force 'gas' is of kind 'polynomial' and does not")


def geared(rod="300 mm"):
    return jp.loads(f"""
name: geared slider-crank
gravity: [0, 0]
ground: {{points: {{O: [0, 0], M: [1, 0]}}}}
bodies:
  rotor: {{mass: 1, inertia: 1e-4}}
  crank: {{bar: 100 mm, mass: 0.5 kg}}
  rod: {{bar: {rod}, mass: 0.8 kg}}
  slider: {{mass: 1 kg, inertia: 1e-3 kg*m^2}}
joints:
  R: {{kind: revolute, between: [ground.M, rotor.centre]}}
  G: {{kind: gear, between: [rotor, crank], ratio: -0.1}}
  J1: {{kind: revolute, between: [ground.O, crank.start]}}
  J2: {{kind: revolute, between: [crank.end, rod.start]}}
  J3: {{kind: revolute, between: [rod.end, slider.centre]}}
  J4: {{kind: prismatic, between: [ground.O, slider.centre], axis: [1, 0]}}
drives: {{motor: {{kind: angle, of: rotor, motion: {{kind: constant_speed, speed: 3000 rpm}}}}}}
""")


def test_behind_a_gear_a_motion_repeats_later_than_its_drive():
    """A tenth of a turn of the crank was looked at, balanced, and called the period; and it "assembles throughout"."""
    slow = geared()
    found = balancing.balance(slow, "force-rms", "crank:radius=60mm")
    run = jp.simulate(found.mechanism, 0.2, every=0.2 / 720)
    force = balancing.shaking(run).force.values[:-1]
    assert found.after["shaking_force_rms"] == pytest.approx(float(np.sqrt((force**2).mean())), rel=1e-3)
    assert found.design["crank.counterweight.mass"] == pytest.approx(2.25, rel=1e-3)
    said = jp.verdict(slow)
    assert said.verdict == "periodic" and said.period == pytest.approx(0.2) and said.multiple == 10
    assert any("cannot be assembled" in text for text in jp.check(geared("95 mm")).warnings)
    assert not jp.check(slow).warnings
    far = slow.with_({"G.ratio": -1 / 120})  # in 700 steps its crank gets round by a few turns of the rotor
    assert "throughout the first" in jp.check(far).text()
    with pytest.raises(ComputationFailed, match="cannot be assembled beyond"):
        jp.verdict(geared("95 mm"))


def test_a_linkage_that_comes_round_in_two_turns_of_its_crank():
    """Galloway's: a kite whose follower turns once in two turns of the crank, through its change points."""
    kite = jp.loads("""
gravity: [0, 0]
ground: {points: {O: [0, 0], C: [0.1, 0]}}
bodies: {crank: {bar: 0.1, mass: 1}, coupler: {bar: 0.25, mass: 1}, follower: {bar: 0.25, mass: 1}}
joints:
  A: {kind: revolute, between: [ground.O, crank.start]}
  B: {kind: revolute, between: [crank.end, coupler.start]}
  D: {kind: revolute, between: [coupler.end, follower.end]}
  E: {kind: revolute, between: [ground.C, follower.start]}
drives: {m: {kind: angle, of: crank, motion: {kind: constant_speed, start: 1, speed: 60 rpm}}}
start: {follower: 0.7}
""")
    said = jp.verdict(kite)
    assert said.period == pytest.approx(2.0) and said.multiple == 2


def test_what_must_vanish_over_a_motion_does_not_depend_on_the_order_of_bodies():
    """A rocker that stands still is no singular position: its dead centres were left out where it came
    first, and designs differed by 0.4 %."""
    bar = jp.library.four_bar((0.1, 0.35, 0.25, 0.4)).with_({"start.crank": 0.0})
    drive = {"kind": "angle", "of": "crank", "motion": {"kind": "constant_speed", "speed": 1.0}}
    dead = math.acos((0.4**2 + 0.45**2 - 0.25**2) / (2 * 0.4 * 0.45))  # crank and coupler in one line
    sizes = []
    for first in ("crank", "coupler", "rocker"):
        bodies = {first: bar.bodies[first], **bar.bodies}
        given = bar.replace(bodies=bodies)
        path = balancing.motion(given.replace(drives={"motor": drive}), [0.1, dead, 1.5]).path
        found = demands(given, "force+moment", path=path)
        sizes.append((len(found.rows), found.singular, float(np.linalg.norm(found.rows))))
    assert sizes[0] == pytest.approx(sizes[1]) and sizes[0] == pytest.approx(sizes[2])
