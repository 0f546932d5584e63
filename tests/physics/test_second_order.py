"""Rigid steps of second order: smooth motion, lasting contact, impacts, control, dampers; what steps keep."""

import math

import numpy as np
import pytest

from jointplay.errors import InputError
from jointplay.model import Rigid, control, library, loads, sine
from jointplay.results import audited
from jointplay.simulation import MoreauJean, RungeKutta, Simulation, simulate

FREE = {"crank.rate": 10.0}
WANTED = sine(0.5, 3.0, offset=1.0)
PUSHED = {"motor": {"kind": "torque", "on": "crank", "torque": 6.0}}


def energy(run):
    return (run["kinetic"] + run["potential"]).values


def loose(c=3e-3, friction=0.1, restitution=0.0, **more):
    return library.crank_rocker_2016(clearance2=c, friction=friction, restitution=restitution, **more)


# -- order
def test_ideal_joints_agree_with_runge_kutta_to_second_order():
    right = simulate(library.crank_rocker_2016(), 1.0, start=FREE)["angle"].values[-1]
    runs = [simulate(library.crank_rocker_2016(), 1.0, MoreauJean(h), start=FREE) for h in (2e-4, 1e-4)]
    errors = [np.abs(run["angle"].values[-1] - right).max() for run in runs]
    losses = [np.abs(energy(run) - energy(run)[0]).max() for run in runs]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1) and losses[0] / losses[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] < 1e-4


@pytest.mark.parametrize(
    ("c", "friction", "right", "most"),
    [(1e-3, 0.0, 21.33120032, 7e-5), (5e-3, 0.0, 21.26844265, 6e-4), (5e-3, 0.1, 20.36529686, 4e-4)],
)
def test_lasting_contact_converges_to_the_event_driven_reference(c, friction, right, most):
    """6 N m for 3 s; a step of first order is off by 0.1 rad here (references: validation/event_driven.py)."""
    mechanism, found = loose(c, friction).replace(forces=PUSHED), []
    for h in (1e-4, 2.5e-5):
        run = simulate(mechanism, 3.0, MoreauJean(h))
        found.append(abs(float(run["angle"].sel(body="crank")[-1]) - right))
    assert found[0] < most and found[1] < found[0] / 4**2 * 1.6 and run["impacts"].values.tolist() == [1]


def test_bodies_in_space_keep_their_momenta():
    text = """
gravity: [0, 0]
bodies: {a: {mass: 1, inertia: 0.1, points: {e: [0.5, 0]}}, b: {mass: 2, inertia: 0.3, points: {e: [-0.7, 0]}}}
joints: {J: {kind: revolute, between: [a.e, b.e]}}
start: {a: 0, b: 1, a.rate: 5, b.rate: -3, a.x: 0, a.y: 0, a.x.rate: 1}
"""
    found = [simulate(loads(text), 1.0, MoreauJean(h)) for h in (4e-4, 2e-4)]
    assert audited(found[1], "momentum drift") < 1e-11  # round-off of 5000 steps
    spin = [audited(run, "angular momentum drift") for run in found]
    assert spin[0] / spin[1] == pytest.approx(4.0, rel=0.1) and spin[1] < 1e-5


# -- impacts
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_without_friction_impacts_alone_take_energy(restitution):
    """By events: 0.105 J for e = 0, 0.07725 % of 132.5 J for e = 0.5; what was booked before was 0.538 J."""
    run = simulate(loose(friction=0.0, restitution=restitution), 0.5, MoreauJean(5e-5),
                   start={"crank": 1.571, **FREE}, reclose=True)  # fmt: skip
    lost, total = audited(run, "energy lost in impacts"), energy(run)
    assert total[0] - total[-1] == pytest.approx(lost, abs=2e-5 * total[0])
    if restitution == 1.0:
        assert abs(total[-1] / total[0] - 1) < 3e-8 and abs(lost) < 1e-9
    elif restitution == 0.5:
        assert lost == pytest.approx(0.07725e-2 * total[0], rel=5e-3)
        assert float(run["angle"][-1, 0]) == pytest.approx(7.678649526, abs=1e-5)
    else:
        assert lost == pytest.approx(0.105, abs=1e-3)


def test_a_rebound_lies_where_it_happens_not_at_the_end_of_a_step():
    """A ball dropped from 1 m: with steps of a hundredth of the flight, times, heights and energy are exact."""
    text = """
ground: {points: {O: [0, 0]}}
bodies: {ball: {mass: 1, inertia: 0.1, points: {c: [0, 0]}}}
joints: {G: {kind: slot, between: [ground.O, ball.c], clearance: 1.0, contact: {kind: rigid, restitution: 0.7}}}
start: {ball.x: 0, ball.y: 0, ball: 0, ball.rate: 0, ball.x.rate: 0, ball.y.rate: 0}
"""
    run = simulate(loads(text), 2.0, MoreauJean(5e-3))
    first = math.sqrt(2 / 9.81)
    times = [first + 2 * first * sum(0.7**i for i in range(1, n + 1)) for n in range(len(run["impact_time"]))]
    assert len(times) >= 3 and run["impact_time"].values == pytest.approx(times, abs=1e-11)
    assert run["impact_lost"].values == pytest.approx(
        [9.81 * 0.49**n * (1 - 0.49) for n in range(len(times))], rel=1e-9
    )


def test_play_that_is_crossed_within_a_step_is_several_impacts():
    text = """
gravity: [0, 0]
ground: {points: {O: [0, 0]}}
bodies: {ball: {mass: 1, inertia: 0.1, points: {c: [0, 0]}}}
joints: {G: {kind: slot, between: [ground.O, ball.c], clearance: 1 mm, contact: {kind: rigid, restitution: 1}}}
start: {ball.x: 0, ball.y: 0, ball: 0, ball.rate: 0, ball.x.rate: 0, ball.y.rate: 1}
"""
    run = simulate(loads(text), 0.1, MoreauJean(5e-3))  # 2 mm at 1 m/s: two and a half crossings in a step
    assert int(run["impacts"].sum()) == 50 and float(run["kinetic"][-1]) == pytest.approx(0.5, rel=1e-9)


CHATTER = """
ground: {points: {O: [0, 0], P: [0, 0]}}
bodies:
  crank: {mass: 0.038, inertia: 7.4e-5, points: {start: [-0.0765, 0], end: [0.0765, 0]}}
  rod: {mass: 0.038, inertia: 5.9e-4, points: {start: [-0.153, 0], end: [0.153, 0]}}
  block: {mass: 0.076, inertia: 2.7e-6}
joints:
  A: {kind: revolute, between: [ground.O, crank.start]}
  B: {kind: revolute, between: [crank.end, rod.start]}
  C: {kind: revolute, between: [rod.end, block.centre]}
  D: {kind: prismatic, between: [ground.P, block.centre], axis: [1, 0], clearance: 1 mm, length: 0.1, radius: 0.025,
      bearing: first, contact: {kind: rigid, friction: 0.01, restitution: 0.4}}
start: {crank: 0, rod: 0, block: 0, crank.rate: 150, rod.rate: -75, block.rate: 0}
"""


def test_chatter_on_flat_walls_ends():
    run = simulate(loads(CHATTER), 0.04, MoreauJean(5e-6))
    assert int(run["impacts"].sum()) < 90 and audited(run, "energy imbalance") < 1e-4


def test_two_loose_joints_strike_as_by_events():
    """By events: 5.463575 rad and -0.14493 %; a step that leaves impacts at its end has thousands of them."""
    run = simulate(loose(clearance3=3e-3, friction=0.0, restitution=0.5), 0.3, MoreauJean(1e-4),
                   start={"crank": 1.571, **FREE}, reclose=True)  # fmt: skip
    assert float(run["angle"][-1, 0]) == pytest.approx(5.463575, abs=2e-6) and int(run["impacts"].sum()) < 50
    assert energy(run)[-1] / energy(run)[0] - 1 == pytest.approx(-0.14493e-2, abs=1e-5)


# -- control and dampers
def test_a_continuous_law_with_an_integral_agrees_with_runge_kutta():
    loop = control.pid("crank", WANTED, k1=20, k2=1, k3=30)
    slider, at = library.slider_crank(angle=0.5), {"crank": 1.2, "crank.rate": 1.0}
    right = simulate(slider, 0.5, RungeKutta(1e-10, 1e-12), start=at, control=loop)
    errors = []
    for h in (4e-4, 2e-4):
        run = simulate(slider, 0.5, MoreauJean(h), start=at, control=loop)
        errors.append(abs(float(run["angle"][-1, 0] - right["angle"][-1, 0])))
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.2) and errors[1] < 1e-6
    for run_, tolerance in ((run, 1e-4), (right, 1e-9)):  # the torque of a sample belongs to its time
        assert run_["control"].values[0] == pytest.approx(right["control"].values[0], rel=1e-12)
        assert float(run_["control"][-1, 0]) == pytest.approx(float(right["control"][-1, 0]), rel=tolerance)


def test_a_sampled_law_is_held_from_sample_to_sample():
    loop = control.pd_tracking("bar1", sine(0.4, 3.0), k1=30.0, k2=2.0, period=4e-3)
    arm = library.pendulum(length=0.5, angles=[0.3])
    errors, right = [], simulate(arm, 0.4, MoreauJean(2.5e-5), control=loop)
    for h in (1e-3, 5e-4):
        run = simulate(arm, 0.4, MoreauJean(h), every=1e-3, control=loop)
        errors.append(abs(float(run["angle"][-1, 0] - right["angle"][-1, 0])))
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.2)
    held = run["control"].values[1:, 0]
    assert (held[3:40:4] == held[2:40:4][: len(held[3:40:4])]).all()


def test_long_steps_with_a_stiff_loop_are_stable():
    """Near its dead centres the crank-crank asks for torques that move the crank alone while the contact is open."""
    loop = control.use("feedback_linearisation", "crank", sine(6.0, 0.75 * math.pi), settled=1.0, k1=2000.0, k2=200.0)
    run = simulate(library.crank_crank_2016(3e-3, friction=0.1), 3.0, MoreauJean(1e-4), control=loop)
    assert math.degrees(float(run.error_max[0])) < 0.25


def test_dampers_between_moving_bodies_are_implicit():
    """A torsion damper from crank to coupler: second order; 1e5 N m s makes explicit steps of any length useless, and
    here holds the mechanism as a weld would."""
    damper = {"damper": {"kind": "torsion", "between": ("crank", "coupler"), "damping": 1.0}}
    soft = library.crank_rocker_2016().replace(forces=damper)
    right = simulate(soft, 0.2, RungeKutta(1e-9, 1e-11), start=FREE)
    runs = [simulate(soft, 0.2, MoreauJean(h), start=FREE) for h in (4e-4, 2e-4)]
    errors = [np.abs(run["angle"].values[-1] - right["angle"].values[-1]).max() for run in runs]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1) and errors[1] < 1e-5
    stiff = soft.with_({"damper.damping": 1e5})
    for h in (4e-4, 1e-4):
        run = simulate(stiff, 0.2, MoreauJean(h), start=FREE)
        assert np.ptp(run["angle"].values[:, 0]) < 1e-3
        assert audited(run, "energy imbalance") < 1e-3 * energy(run)[0]


def test_drives_work_and_the_balance_closes():
    mechanism = library.slider_crank(speed=30.0).loosen("J3", 5e-4, contact=Rigid(friction=0.1, restitution=0.3))
    found = [audited(simulate(mechanism, 0.1, MoreauJean(h)), "energy imbalance") for h in (4e-5, 2e-5)]
    assert found[1] < 0.5 * found[0]


# -- what is kept between steps
def test_forces_of_samples_belong_to_their_time():
    """The largest difference from a run with a tenth of the step falls with the square of the step."""
    mechanism, found = loose(1e-3).replace(forces=PUSHED), []
    fine = simulate(mechanism, 0.8, MoreauJean(1e-5), every=0.02)
    for h in (2e-4, 1e-4):
        run = simulate(mechanism, 0.8, MoreauJean(h), every=0.02)
        force = [x[["force_x", "force_y"]].sel(joint="J1").isel(time=slice(25, None)).to_array() for x in (run, fine)]
        found.append(float(np.abs(force[0] - force[1]).median()))
    assert found[0] / found[1] > 3


def test_lanes_snapshots_and_perturbations():
    mechanism, h = loose(restitution=0.4).replace(forces=PUSHED), 1e-4
    alone = Simulation(mechanism, MoreauJean(h), lanes=1)
    pair = Simulation(mechanism, MoreauJean(h), lanes=[{"J2.restitution": 0.9}, {}, {"crank.mass": 1.1}])
    for simulation in (alone, pair):
        simulation.advance(0.15)
    assert (alone.state[0] == pair.state[1]).all()
    kept = alone.snapshot()
    alone.advance(0.2)
    there = alone.state.copy()
    alone.reset(kept)
    alone.advance(0.2)
    assert (alone.state == there).all()
    alone.reset(kept)
    alone.perturb({"crank.angle": 1e-9}, 0)  # accelerations and forces are learnt anew: no kick
    alone.advance(0.2)
    assert 0 < np.abs(alone.state - there).max() < 1e-5


@pytest.mark.parametrize(
    ("wrong", "text"),
    [({"order": 3}, "order must be 1 or 2"), ({"theta": 0.7}, "theta=0.5 only.*order=1"),
     ({"forces": "midpoint"}, "forces='explicit' only.*order=1")],
)  # fmt: skip
def test_what_belongs_to_first_order_is_refused(wrong, text):
    with pytest.raises(InputError, match=text):
        MoreauJean(1e-4, **wrong)
    assert MoreauJean(1e-4, order=1, theta=0.7, forces="midpoint").order == 1
