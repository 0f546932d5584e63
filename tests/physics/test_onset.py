"""Contacts inside long steps: flights through the play against closed forms, in steps that a tolerance chooses."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import jointplay as jp

GRAVITY = 9.81


def below_a_stop(over):
    """A ball thrown at a stop 1 m above it, beyond which it would fly by `over`."""
    return jp.loads(f"""
        name: ball below a stop
        ground: {{points: {{O: [0, 0]}}}}
        bodies: {{ball: {{mass: 3 kg, inertia: 0.1 kg*m^2}}}}
        joints:
          J: {{kind: prismatic, between: [ground.O, ball.centre], axis: [0, 1], upper: 1, stop_restitution: 0.7}}
        start: {{ball.y: 0, ball.y.rate: {math.sqrt(2 * GRAVITY * (1 + over)):.17g}}}
        """)


def disc(*, clearance, restitution, start, gravity=-GRAVITY, offset=0.0):
    """A disc whose pin, beside its centre, moves freely in a bearing."""
    return jp.loads(f"""
        name: disc in a bearing
        gravity: [0, {gravity}]
        ground: {{points: {{O: [0, 0]}}}}
        bodies: {{d: {{mass: 2 kg, inertia: 0.01 kg*m^2, points: {{P: [{offset}, 0]}}}}}}
        joints:
          J:
            {{kind: revolute, between: [ground.O, d.P], clearance: {clearance}, journal_radius: 0.05,
              contact: {{kind: rigid, restitution: {restitution}, friction: 0}}}}
        start:
          {{d: {start[2]}, d.rate: {start[5]}, d.x: {start[0]}, d.y: {start[1]},
            d.x.rate: {start[3]}, d.y.rate: {start[4]}}}
        """)


def flights(*, clearance, restitution, start, until, gravity=-GRAVITY, offset=0.0, mass=2.0, inertia=0.01):
    """Times of impact and the state at the end, from flight to flight in closed form."""
    pull, state, now, times = np.array([0, gravity, 0.0]), np.array(start, float), 0.0, []

    def after(t):
        return np.concatenate([state[:3] + state[3:] * t + pull * t * t / 2, state[3:] + pull * t])

    def pin(x):
        return x[:2] + offset * np.array([math.cos(x[2]), math.sin(x[2])])

    def gap(t):
        return clearance - np.hypot(*pin(after(t)))

    while True:
        grid = np.linspace(0, until - now, 20001)[1:]
        below = np.nonzero([gap(t) < 0 for t in grid])[0]
        if not len(below):
            return times, after(until - now)
        t = brentq(gap, max(grid[below[0]] - (grid[1] - grid[0]), 1e-9), grid[below[0]], xtol=1e-15)
        state, now = after(t), now + t
        normal, arm = -pin(state) / np.hypot(*pin(state)), pin(state) - state[:2]
        line = np.array([*normal, arm[0] * normal[1] - arm[1] * normal[0]])
        response = line / [mass, mass, inertia]
        state[3:] -= (1 + restitution) * (line @ state[3:]) / (line @ response) * response
        times.append(now)


@pytest.mark.parametrize("over", [1e-6, 1e-4, 1e-2])
@pytest.mark.parametrize("rtol", [1e-4, 5e-7, 1e-10])
def test_a_stop_that_is_met_and_left_in_one_step_is_not_passed(over, rtol):
    speed = math.sqrt(2 * GRAVITY * (1 + over))
    met = (speed - math.sqrt(speed * speed - 2 * GRAVITY)) / GRAVITY
    end = 1 - 0.7 * (speed - GRAVITY * met) * (1 - met) - GRAVITY / 2 * (1 - met) ** 2
    run = jp.simulate(below_a_stop(over), 1.0, stepper=jp.MoreauJean(rtol=rtol))
    assert run.impact_time.values == pytest.approx([met], abs=1e-8)
    assert float(run.y.sel(body="ball")[-1]) == pytest.approx(end, abs=1e-8)


def test_a_stop_that_is_nearly_met_is_left_alone():
    run = jp.simulate(below_a_stop(-1e-9), 1.0)
    assert run.sizes["impact"] == 0
    assert run.attrs["steps"] < 200


THROWN = {"clearance": 1e-3, "restitution": 0.5, "start": (-5e-4, 5e-4, 0.3, 0.1, 0.0, 3.0)}
WIDE = {"clearance": 0.1, "restitution": 1.0, "start": (0.02, 0.01, 0.0, 0.5, 0.7, 0.0)}
UP = {"clearance": 1e-3, "restitution": 0.6, "start": (0.0, -9e-4, 0.0, 0.0, math.sqrt(2 * GRAVITY * 1.91e-3), 0.0)}
SPINNING = {
    "clearance": 5.1e-3,
    "restitution": 1.0,
    "start": (0.0, -1e-2, math.pi / 2, 0.01, 0.0, 100.0),
    "gravity": 0.0,
    "offset": 1e-2,
}


@pytest.mark.parametrize("case, until", [(THROWN, 0.03), (WIDE, 0.4), (UP, 0.02), (SPINNING, 0.1)])
@pytest.mark.parametrize("rtol", [5e-7, 1e-9])
def test_flights_through_the_play(case, until, rtol):
    times, end = flights(**case, until=until)
    run = jp.simulate(disc(**case), until, stepper=jp.MoreauJean(rtol=rtol))
    assert run.sizes["impact"] == len(times)
    near = 1e-5 if rtol > 1e-8 else 1e-7
    assert run.impact_time.values == pytest.approx(times, rel=near)
    found = [float(run[x].sel(body="d")[-1]) for x in ("x", "y")]
    assert found == pytest.approx(list(end[:2]), abs=10 * near * case["clearance"])


def in_a_guide(restitution):
    """A block of 2 kg that falls flat onto both corners of a guide with 5 mm of play."""
    return jp.loads(f"""
        name: block in a loose guide
        ground: {{points: {{O: [0, 0]}}}}
        bodies: {{block: {{mass: 2 kg, inertia: 0.01 kg*m^2, centre: [0.02, 0], points: {{P: [0, 0]}}}}}}
        joints:
          G:
            {{kind: prismatic, between: [ground.O, block.P], axis: [1, 0], clearance: 5 mm, length: 0.1, radius: 0.01,
              contact: {{kind: rigid, restitution: {restitution}, friction: 0}}}}
        start: {{block: 0, journals: centred}}
        """)


@pytest.mark.parametrize("restitution", [0.5, 0.9])
def test_a_row_of_bounces_ends_when_its_sum_does(restitution):
    fall = math.sqrt(2 * 5e-3 / GRAVITY)
    rests = fall * (1 + restitution) / (1 - restitution)  # the sum of all flights
    run = jp.simulate(in_a_guide(restitution), 1.0)
    assert float(run.share_free.sel(contact="G.front.lower")) == pytest.approx(rests, rel=3e-4)
    assert float(run.peak_force.sel(joint="G")) == pytest.approx(2 * GRAVITY, rel=1e-6)


# Two corners of a guide strike in turn until both rest.
RATTLING = """
name: guide between bodies that gears and rods hold
gravity: [8.1, -9.9]
bodies:
  b0: {mass: 2.74, inertia: 0.0645, points: {p2: [0.183, 0.004], p3: [0.0113, -0.103]}, centre: [-0.171, 0.175]}
  b1: {mass: 1.25, inertia: 0.195, points: {p1: [0.421, 0.551], p5: [0.571, 0.810]}, centre: [0.117, -0.0235]}
  b3: {mass: 1.41, inertia: 0.147, points: {p4: [0.705, 0.689]}, centre: [-0.124, -0.068]}
joints:
  J0: {kind: gear, between: [b0, ground], ratio: 0.7, offset: 1.336, carrier: b3}
  J1: {kind: prismatic, between: [b1.p1, b0.p2], axis: [-0.109, 0.603], angle: 1.65, clearance: 5 mm, length: 0.1,
       radius: 0.01, bearing: first, contact: {kind: rigid, restitution: 0.9, friction: 0}}
  J2: {kind: rod, between: [b0.p3, b3.p4], length: 0.505}
forces: {F1: {kind: force, at: b1.p5, x: -9.3 N, y: 3.6 N}}
start:
  {b0: -0.7257, b0.x: -0.1014, b0.y: 0.0517, b1: -2.3757, b1.x: -0.1493, b1.y: 0.3276, b3: -2.7603, b3.x: -0.0722,
   b3.y: 0.4399, journals: centred}
"""


def test_the_end_of_a_row_of_bounces_is_no_force():
    loose, fine = (jp.simulate(jp.loads(RATTLING), 0.3, stepper=jp.MoreauJean(rtol=x)) for x in (5e-6, 5e-7))
    assert fine.sizes["impact"] > 20
    assert fine.peak_force.values == pytest.approx(loose.peak_force.values, rel=0.05)
    assert float(fine.peak_force.max()) < 100


@pytest.mark.parametrize("speed", [1e3, 1e6])
def test_the_first_step_is_short_beside_fast_motion(speed):
    """A mass on a spring, far from a stop: x = x0 cos(w t)."""
    mechanism = jp.loads(f"""
        name: mass on a spring
        gravity: [0, 0]
        ground: {{points: {{O: [0, 0]}}}}
        bodies: {{a: {{mass: 1e-9 kg, inertia: 1e-15 kg*m^2}}}}
        joints: {{J: {{kind: prismatic, between: [ground.O, a.centre], axis: [1, 0], lower: -50 um}}}}
        forces: {{k: {{kind: spring, between: [ground.O, a.centre], stiffness: {1e-9 * speed * speed}}}}}
        start: {{a.x: 10 um}}
        """)
    run = jp.simulate(mechanism, 12 / speed)
    wanted = 1e-5 * np.cos(speed * run.time.values)
    assert run.x.sel(body="a").values == pytest.approx(wanted, abs=1e-9)


def test_samples_just_behind_a_step_hold_no_spikes_of_force():
    """A driven pendulum far from its stop: sampled forces against those of another scheme."""
    model = """
        name: driven pendulum
        ground: {points: {O: [0, 0]}}
        bodies: {arm: {bar: 1 m, mass: 2 kg}}
        joints: {J: {kind: revolute, between: [ground.O, arm.start] STOP}}
        forces: {t: {kind: torque, on: arm, torque: {kind: sine, amplitude: 3, frequency: 7}}}
        start: {arm: 80 deg, arm.rate: 1}
        """
    smooth = jp.RungeKutta(1e-11, 1e-12)
    exact = jp.simulate(jp.loads(model.replace("STOP", "")), 3.0, every=1e-4, stepper=smooth, error=False)
    run = jp.simulate(jp.loads(model.replace("STOP", ", lower: -1000 deg")), 3.0, every=1e-4, error=False)
    off = np.hypot(run.force_x - exact.force_x, run.force_y - exact.force_y)
    assert float(off.max()) < 0.1


@pytest.mark.parametrize("friction, sled", [(0.05, False), (0.3, False), (0.3, True)])
def test_an_impact_is_met_where_friction_lets_it_be(friction, sled):
    """A block slides down an incline to a stop: the time of the impact was sought without the friction of the guide,
    so that the block was put 13 cm ahead onto its stop; a sled with more energy hid that from the audit."""
    model = jp.loads(f"""
        name: block on an incline
        ground: {{points: {{O: [0, 0], P: [0, 1]}}}}
        bodies:
          block: {{mass: 2 kg, inertia: 0.01 kg*m^2}}
          {"sled: {mass: 100 kg, inertia: 1 kg*m^2}" if sled else ""}
        joints:
          guide: {{kind: prismatic, between: [ground.O, block.centre], axis: [{math.sqrt(0.75)}, -0.5], angle: -30 deg,
                   clearance: 0.1 mm, length: 100 mm, upper: 1 m, contact: {{kind: rigid, friction: {friction}}}}}
          {"way: {kind: prismatic, between: [ground.P, sled.centre]}" if sled else ""}
        start: {{block: -30 deg, block.x: 0, block.y: 0{", sled.x.rate: 3" if sled else ""}}}
        """)
    run = jp.simulate(model, until=3.0)
    way = 1 - (float(run.x[0, 0]) * math.sqrt(0.75) - float(run.y[0, 0]) * 0.5)
    acceleration = GRAVITY * (0.5 - friction * math.sqrt(0.75))
    time = math.sqrt(2 * way / acceleration)
    assert run.judgement == "fine" and float(run.impact_time[0]) == pytest.approx(time, rel=1e-9)
    assert float(run.joint_impulse.sel(joint="guide")) == pytest.approx(2 * acceleration * time, rel=1e-9)
    assert float(run.friction_loss[-1]) == pytest.approx(2 * GRAVITY * friction * math.sqrt(0.75) * way, rel=1e-9)
