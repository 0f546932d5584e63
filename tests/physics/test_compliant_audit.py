"""What a run with compliant contact says of itself: steps that are too long, its error, peaks, momentum."""

import math

import numpy as np
import pytest

from jointplay.model import Compliant, Rigid, library, loads
from jointplay.results import audited, errors
from jointplay.simulation import FixedRungeKutta, MoreauJean, RungeKutta, SimulationFailed, simulate

BALL = """
name: ball in a slot
gravity: [0, %s]
ground: {points: {O: [0, 0]}}
bodies: {ball: {mass: 1, inertia: 0.1}}
joints:
  wall: {kind: slot, between: [ground.O, ball.centre], axis: [1, 0], clearance: 1 mm,
         contact: {kind: compliant, normal: {law: kelvin_voigt, stiffness: %s, damping: 0}}}
start: {ball.x: 0, ball.y: %s, ball: 0, ball.y.rate: %s}
"""


def ball(stiffness, gravity=0.0, y=0.0, rate=0.1):
    return loads(BALL % (gravity, stiffness, y, rate))


# -- steps that are too long
def test_a_step_that_begins_a_contact_too_deep_stops_with_advice():
    """The wall is reached after 10 ms; steps of 2.3 ms see it after 11.5 ms, 0.15 mm inside."""
    with pytest.raises(SimulationFailed) as caught:
        simulate(ball(1e5), 0.02, FixedRungeKutta(2.3e-3))
    outcome = caught.value.outcome
    assert outcome.kind == "step too long" and outcome.time == pytest.approx(11.5e-3)
    for part in (
        "contact 'wall.upper' is",
        "10 % of the clearance of 0.001",
        "step of 0.0023 s is too long; use a step",
    ):
        assert part in outcome.text
    assert float(outcome.text.split(" is ")[1].split()[0]) == pytest.approx(1.5e-4, rel=0.05)
    advised = float(outcome.text.partition("use a step of ")[2].split()[0])
    assert advised == pytest.approx(math.pi / math.sqrt(1e5) / 50, rel=0.1)  # half a period of the mass on the wall
    run = simulate(ball(1e5), 0.03, FixedRungeKutta(advised))
    assert float(run["y_rate"][-1, 0]) == pytest.approx(-0.1, rel=1e-2)


def test_the_step_after_the_onset_counts_too():
    """Seen 0.05 mm inside, which is little, and 0.26 mm after the next step: soft, but not resolved."""
    run = simulate(ball(10.0), 0.02, FixedRungeKutta(2.1e-3), strict=False)
    assert run.attrs["outcome"] == "step too long" and run.attrs["outcome_time"] == pytest.approx(12.6e-3)
    assert simulate(ball(10.0), 0.02, FixedRungeKutta(2e-4)).attrs["outcome"] == "done"


def test_a_deep_start_is_not_the_fault_of_the_step():
    """A ball that rests 0.2 mm deep, under its weight."""
    run = simulate(ball(9.81 / 2e-4, -9.81, -1.2e-3, 0.0), 0.1, FixedRungeKutta(1e-3))
    assert np.abs(run["y"].values + 1.2e-3).max() < 1e-12
    assert float(run["peak_y_acceleration"][0]) < 1e-9  # it rests: the peaks know of the contact from the start


def test_adaptive_steps_land_and_begin_shallow():
    """Two hundred clearances deep in the end: the contact is soft, and every one of its steps is right."""
    run = simulate(ball(0.25), 10.0, RungeKutta(1e-6, 1e-9, max_step=1.0))
    assert float(run["impact_duration"][0]) == pytest.approx(2 * math.pi, rel=1e-5)
    assert float(run["peak_depth"].max()) == pytest.approx(0.2, rel=1e-2)


def test_numbers_that_overflow_in_a_contact_name_it_and_a_step():
    stiff = Compliant(normal={"law": "hertz", "stiffness": 1e30, "exponent": 5})
    pin = {"kind": "revolute", "between": ["ground.O", "ball.centre"], "clearance": 1e-3, "contact": stiff}
    run = simulate(ball(1.0).replace(joints={"wall": pin}), 0.02, FixedRungeKutta(3e-4), strict=False)
    assert run.attrs["outcome"] == "non-finite"
    assert "the step of 0.0003 s may be too long for contact 'wall': use a step of" in run.attrs["outcome_text"]


# -- the error of a run
@pytest.fixture(scope="module")
def loose():
    return library.spacecraft_2026().loosen("J2", 5e-4, contact=Compliant(normal={"law": "hertz", "stiffness": 1e8}))


@pytest.fixture(scope="module")
def coarse(loose):
    return simulate(loose, 1.0, RungeKutta(1e-5, 1e-7), every=0.05, audit="convergence")


def test_the_error_at_a_tolerance_is_measured(loose, coarse):
    true = simulate(loose, 1.0, RungeKutta(1e-11, 1e-13), every=0.05)
    off = {name: np.abs(coarse[name] - true[name]).values.max() for name in ("angle", "x", "y")}
    assert audited(coarse, "error of angles by a finer run") == pytest.approx(off["angle"], rel=0.2)
    assert audited(coarse, "error of places by a finer run") == pytest.approx(max(off["x"], off["y"]), rel=0.2)
    assert off["angle"] > 1e-9
    stated = {entry["name"]: entry["error"] for entry in errors(coarse)}
    last = float(true["angle"].sel(body="arm2")[-1] - coarse["angle"].sel(body="arm2")[-1])
    assert stated["arm2.angle"] == pytest.approx(2 * abs(last), rel=0.3)
    assert {"J2.peak_force", "J2.peak_normal", "J2.impacts"} <= stated.keys()


# -- peaks over all steps
def test_peaks_are_those_of_all_steps(loose):
    """Two samples know as much of the peaks as ten thousand."""
    few, many = (simulate(loose, 1.0, RungeKutta(1e-9, 1e-11), every=every) for every in (0.5, 1e-4))
    for name, peak in (
        ("force_x", "peak_force_x"),
        ("force_y", "peak_force_y"),
        ("x_acceleration", "peak_x_acceleration"),
        ("y_acceleration", "peak_y_acceleration"),
        ("angle_acceleration", "peak_angle_acceleration"),
    ):
        sampled = np.abs(many[name]).max("time")
        assert (many[peak] >= sampled).all()
        assert few[peak].values == pytest.approx(sampled.values, rel=4e-3, abs=1e-6)
        assert (np.abs(few[name]).max("time") < few[peak]).any()
    at = float(many["peak_angle_acceleration_time"].sel(body="arm2"))
    hits = many["impact_time"].values, (many["impact_time"] + many["impact_duration"]).values
    assert ((hits[0] <= at) & (at <= hits[1])).any()
    parts = np.hypot(many["peak_force_x"], many["peak_force_y"])  # each the top of a cubic of its own
    assert (many["peak_force"] <= parts * (1 + 1e-6)).all()


def test_the_largest_sum_of_the_normals_of_a_joint():
    mechanism = library.wu_2017(clearance=5e-4, contact=library.wu_2017_contact())
    run = simulate(mechanism, 0.3, RungeKutta(1e-7, 1e-9, max_step=1e-3), every=2e-6)
    whole = float(run["peak_normal_sum"].sel(joint="P"))
    assert whole == pytest.approx(float(run["normal_force"].sum("contact").max()), rel=1e-3)
    assert float(run["peak_normal"].max()) < whole <= float(run["peak_normal"].sum())
    assert (run["peak_normal_sum"].drop_sel(joint="P") == 0).all()


# -- momentum
@pytest.mark.parametrize(
    "contact", [Compliant(normal="hunt_crossley", friction="modified_coulomb"), Rigid(friction=0.1)]
)
def test_momentum_of_what_floats_is_audited(contact):
    loose = library.spacecraft_2026().loosen("J2", 5e-4, journal_radius=0.01, contact=contact)
    stepper = MoreauJean(1e-5) if isinstance(contact, Rigid) else RungeKutta(1e-8, 1e-10)
    run = simulate(loose, 0.4, stepper, start={"arm1.rate": 0.5})
    assert audited(run, "momentum drift") < 1e-12
    # rigid contact moves bodies back onto each other, which is of first order in the step
    assert audited(run, "angular momentum drift") < (2e-7 if isinstance(contact, Rigid) else 1e-12)
    assert audited(run, "energy imbalance") < (1e-3 if isinstance(contact, Rigid) else 1e-7)


def test_what_is_held_or_pushed_from_outside_has_no_such_audit():
    floating = library.spacecraft_2026()
    assert floating.isolated()
    force = {"kind": "force", "at": "base.centre", "x": 1.0}
    for held in (
        library.four_bar(),
        floating.with_({"gravity.y": -1.0}),
        floating.replace(forces={"push": force}),
        floating.replace(forces={"twist": {"kind": "torque", "on": "base", "torque": 1.0}}),
        floating.replace(forces={"hinge": {"kind": "motor", "between": ["ground", "base"], "torque": 1.0}}),
        floating.replace(drives={"spin": {"kind": "rate", "of": "base", "motion": 0.1}}),
    ):
        assert not held.isolated()
    turned = floating.replace(drives={"spin": {"kind": "rate", "of": "J2", "motion": 0.1}})
    assert audited(simulate(turned, 0.1), "angular momentum drift") < 1e-13
    with pytest.raises(KeyError, match="the audit has no 'momentum drift'"):
        audited(simulate(floating.with_({"gravity.y": -1.0}), 0.1), "momentum drift")
