"""Rigid contact with steps that a tolerance chooses."""

import math

import numpy as np
import pytest

import jointplay as jp
from jointplay.model import library, loads
from jointplay.simulation import MoreauJean, Simulation, simulate

BALL = """
ground: {points: {floor: [0, 0]}}
bodies: {ball: {mass: 1, inertia: 0.1, points: {low: [0, 0]}}}
joints:
  J: {kind: prismatic, between: [ground.floor, ball.low], axis: [0, 1], lower: 0, stop_restitution: %g}
start: {ball.y: 1}
"""


def loose(**numbers):
    made = library.crank_rocker_2016(clearance2=3e-3, restitution=0.5, **numbers)
    return made.replace(start={"crank": 1.571, "crank.rate": 10.0})


def test_a_bouncing_ball_flies_as_it_should():
    run = simulate(loads(BALL % 0.5), 1.0, MoreauJean(rtol=1e-6))
    fall = math.sqrt(2 / 9.81)
    speed = 0.5 * 9.81 * fall
    rest = 1.0 - fall  # one bounce takes 2 speed / g
    second = rest - 2 * speed / 9.81
    assert run.impacts.values.tolist() == [2]
    assert run.impact_time.values == pytest.approx([fall, fall + 2 * speed / 9.81], abs=1e-12)
    height = 0.5 * speed * second - 0.5 * 9.81 * second**2
    assert float(run.y.sel(body="ball")[-1]) == pytest.approx(height, abs=1e-12)
    assert run.steps < 100


def test_a_ball_that_bounces_ever_lower_comes_to_rest():
    run = simulate(loads(BALL % 0.5), 3.0, MoreauJean(rtol=1e-6))
    assert float(run.y.sel(body="ball")[-1]) == pytest.approx(0, abs=1e-12)
    assert run.impacts.values[0] < 60 and run.steps < 3000
    assert float(run.impact_loss[-1]) == pytest.approx(9.81, rel=1e-9)


@pytest.mark.parametrize("rtol, limit", [(1e-5, 4e-3), (1e-6, 3e-4)])
def test_elastic_play_keeps_its_energy(rtol, limit):
    made = library.crank_rocker_2016(clearance2=3e-3, friction=0.0, restitution=1.0)
    run = simulate(made, 0.5, MoreauJean(rtol=rtol), start={"crank": 1.571, "crank.rate": 10.0}, reclose=True)
    energy = (run.kinetic + run.potential).values
    assert run.impacts.values[0] > 20
    assert abs(energy / energy[0] - 1).max() < limit / 100


def test_the_error_follows_the_tolerance():
    """Against the integration from event to event: theta1(0.5 s) = 7.678649526 with e = 0.5."""
    made = library.crank_rocker_2016(clearance2=3e-3, friction=0.0, restitution=0.5)
    begin = {"crank": 1.571, "crank.rate": 10.0}
    found = [simulate(made, 0.5, MoreauJean(rtol=x), start=begin, reclose=True) for x in (1e-5, 1e-6, 1e-7)]
    errors = [abs(float(run.angle.sel(body="crank")[-1]) - 7.678649526) for run in found]
    assert errors[0] < 1e-4 and errors[1] < 1e-5 and errors[2] < 1e-6
    assert found[0].steps < found[1].steps < found[2].steps < 50_000


def test_samples_and_the_end_leave_the_motion_as_it_is():
    few, many = (simulate(loose(friction=0.1), 0.2, MoreauJean(rtol=1e-5), every=x) for x in (0.02, 1e-3))
    longer = simulate(loose(friction=0.1), 0.3, MoreauJean(rtol=1e-5), every=0.02)
    for name in ("angle", "angle_rate", "x", "force_x"):
        assert np.array_equal(few[name].values, many[name].values[::20])
        assert np.array_equal(few[name].values[:-1], longer[name].values[: len(few.time) - 1])
    assert np.array_equal(few.impact_time, many.impact_time)
    assert few.time.values == pytest.approx(np.arange(11) * 0.02)


def test_lanes_are_the_runs_they_would_be_alone():
    base = loose(friction=0.1)
    lanes = [{"J2.clearance": c} for c in (1e-3, 2e-3, 3e-3)]
    together = Simulation(base, MoreauJean(rtol=1e-5), lanes=lanes, every=0.01)
    together.advance(0.1)
    for k, numbers in enumerate(lanes):
        alone = simulate(base.with_(numbers), 0.1, MoreauJean(rtol=1e-5), every=0.01)
        assert np.array_equal(together.result(k).angle, alone.angle)
        assert together.result(k).steps == alone.steps


def test_contacts_that_knock_each_other_open_come_to_rest():
    """Two joints with play under a controller knock each other open at the start, over and over."""
    control = jp.control.feedback_linearisation("crank", jp.sine(6.0, frequency=0.75 * math.pi), k1=2000, k2=200)
    made = library.crank_rocker_2016(clearance2=3e-3, clearance3=3e-3, friction=0.1).replace(control=control)
    run = simulate(made, 1.0, MoreauJean(rtol=1e-6))
    assert run.impacts.values.sum() < 40
    assert run.steps < 20_000
    assert float(run.share_free.min()) >= 0 and float(run.share_free.max()) < 0.2


def test_a_pulse_is_not_stepped_over():
    text = """
gravity: [0, 0]
bodies: {b: {mass: 1, inertia: 1, points: {c: [0, 0]}}}
joints: {J: {kind: prismatic, between: [ground.O, b.c], axis: [1, 0], upper: 1000 m}}
ground: {points: {O: [0, 0]}}
forces: {push: {kind: force, at: b.c, x: {kind: table, times: [0, 9, 9.001, 9.009, 9.01, 20],
         values: [0, 0, 500, 500, 0, 0], interpolation: linear}}}
"""
    run = simulate(loads(text), 10.0, MoreauJean(rtol=1e-4))
    assert float(run.x_rate[-1, 0]) == pytest.approx(4.5, rel=1e-3)


def test_what_it_cannot_do_is_refused():
    for wrong, word in (
        ({"step": 1e-4, "rtol": 1e-6}, "not both"),
        ({"rtol": 1.0}, "between"),
        ({"rtol": 0}, "rtol"),
        ({"rtol": 1e-6, "order": 1}, "order 1"),
    ):
        with pytest.raises(ValueError, match=word):
            MoreauJean(**wrong)


@pytest.mark.parametrize("stepper", [MoreauJean(rtol=1e-6), jp.RungeKutta()], ids=["impulses", "states"])
def test_work_is_bounded(stepper):
    """A run that needs more steps than it may take ends there and keeps what it has."""
    made = loads(BALL % 0.5) if stepper.impulsive else library.crank_rocker_2016()
    whole = simulate(made, 3.0, stepper, every=0.01)
    most = int(whole.steps) // 2
    with pytest.raises(jp.SimulationFailed, match=rf"{most} steps led to t = .* s of 3 s.*most_steps") as caught:
        simulate(made, 3.0, stepper, every=0.01, most_steps=most)
    outcome, part = caught.value.outcome, caught.value.result
    assert outcome.kind == "too many steps" and "rtol" in outcome.remedy
    assert 0.1 < outcome.time < 3.0 and part.steps == most
    assert outcome.time - 0.011 < float(part.time[-1]) <= outcome.time
    assert np.array_equal(part.y, whole.y[: len(part.time)])
    enough = simulate(made, 3.0, stepper, every=0.01, most_steps=int(whole.steps))
    assert enough.attrs["outcome"] == "done" and np.array_equal(enough.y, whole.y)
    with pytest.raises(ValueError, match="most_steps must be a whole number of steps >= 1, got 0"):
        simulate(made, 3.0, stepper, most_steps=0)


HELD = """
ground: {points: {A: [0, 0], B: [0, 1], C: [0.7, 1.3]}}
bodies: {block: {mass: 4, inertia: 0.01, points: {a: [0, 0], b: [0, 1], c: [0.3, -0.4]}}}
joints:
  J1: {kind: prismatic, between: [ground.A, block.a], axis: [1, 0], lower: -1 m, upper: 1 m}
  J2: {kind: prismatic, between: [ground.B, block.b], axis: [0.6, 0.8]}
forces: {pull: {kind: spring, between: [ground.C, block.c], stiffness: 900, damping: 1, free_length: 0.1}}
"""


def test_what_joints_hold_at_rest_is_not_judged_by_rounding():
    """Rates of a block that cannot move are rounding alone: 11,216 steps of a second were judged by them."""
    run = simulate(loads(HELD), 1.0, MoreauJean(rtol=5e-7))
    assert run.steps < 200
    assert abs(run.x.values).max() < 1e-12


def tracking(law):
    return getattr(jp.control, law)("crank", jp.sine(6.0, frequency=0.75 * math.pi), k1=2000, k2=200)


def test_bounces_under_load_come_to_rest_at_a_tight_tolerance():
    """What falls within the rounding of a gap must not gain what the last rebound lost: 20,000 impacts in 2 ms."""
    made = library.crank_crank_2016(2e-3, 2e-3, friction=0.1, restitution=0.5)
    run = simulate(made.replace(control=tracking("feedback_linearisation")), 0.03, MoreauJean(rtol=1.2e-7), error=False)
    assert run.impacts.values.sum() < 100 and run.steps < 10_000
    assert (run.impact_approach > 0).all()


def test_energy_of_bounces_under_load_is_that_of_the_fall():
    """A ball pressed down with 1e5 N, e = 0.5: speeds of impacts halve, and all energy is lost in them."""
    made = loads(BALL % 0.5).replace(forces={"press": {"kind": "force", "at": "ball.low", "y": -1e5}})
    run = simulate(made, 0.05, MoreauJean(rtol=1e-12), error=False)
    speeds = run.impact_approach.values
    assert speeds[0] == pytest.approx(math.sqrt(2 * 100009.81), rel=1e-12)
    assert speeds[1:15] == pytest.approx(speeds[0] * 0.5 ** np.arange(1, 15), rel=1e-5)
    assert float(run.impact_loss[-1]) == pytest.approx(100009.81, rel=1e-12)
    assert run.impacts.values[0] < 30


@pytest.mark.parametrize(
    "made, law",
    [
        (library.crank_crank_2016(2e-3), "pd_tracking"),
        (library.crank_rocker_2016(3e-3, 3e-3, friction=0.0), "feedback_linearisation"),
    ],
    ids=["crank-crank", "crank-rocker"],
)
def test_peaks_are_forces_at_every_tolerance(made, law):
    """An impulse over a step that an impact has cut short is no force: peaks converge."""
    steppers = [MoreauJean(rtol=rtol) for rtol in (4e-5, 4e-6, 4e-7)]
    peaks = [simulate(made.replace(control=tracking(law)), 2.0, x, error=False).peak_force.values for x in steppers]
    assert peaks[0] == pytest.approx(peaks[2], rel=0.03)
    assert peaks[1] == pytest.approx(peaks[2], rel=3e-3)


def test_an_impact_is_written_down_once_however_often_its_step_is_tried():
    """A step that leads past a sample into an impact is tried again after the sample."""
    made = library.crank_rocker_2016(clearance2=1e-5, friction=0.0, restitution=0.5)
    made = made.replace(start={"crank": 1.571, "crank.rate": 60.0, "journals": "centred"})
    few, many = (simulate(made, 1e-3, every=x, error=False) for x in (1e-3, 1e-6))
    assert len(set(few.impact_time.values)) == len(few.impact_time) == few.impacts.values[0]
    assert np.array_equal(few.impact_time, many.impact_time) and np.array_equal(few.impacts, many.impacts)
