"""The model that a controller knows: its joints close in steps of any length, and its references are followed first."""

import math

import pytest

import jointplay as jp
from jointplay.model import control, library, sine
from jointplay.simulation import MoreauJean, RungeKutta, simulate


def linearised(frequency):
    return control.feedback_linearisation("crank", sine(6.0, frequency * math.pi), k1=2000, k2=200, settled=1.0)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-8])
def test_the_model_closes_in_long_steps(tolerance):
    """It was left open where a residual of a micrometre was taken for near although the step was not small."""
    stepper = RungeKutta(tolerance, 1e-2 * tolerance)
    run = simulate(library.crank_crank_2016(), 2.0, stepper, control=linearised(0.75))
    assert run.attrs["outcome"] == "done"
    assert math.degrees(float(run["error_max"][0])) == pytest.approx(0.0025, rel=0.05)


def test_a_fast_reference_that_can_be_followed_is_not_refused():
    """Where the reference turns back its rate is 0, and the next look at it was periods later."""
    run = simulate(library.crank_rocker_2016(), 10.0, MoreauJean(2e-5), control=linearised(50.0))
    assert run.attrs["outcome"] == "done"


def test_a_sensor_elsewhere_tells_as_much_while_joints_are_ideal():
    """The rocker does not tell the crank where it turns back; the model of the crank goes on through these places."""
    runs = []
    for where in ({}, {"sensors": ["rocker"], "regularisation": 1e-4}):
        loop = control.passivity_based("crank", sine(6.0, 0.75 * math.pi), k=200, slope=10, settled=1.0, **where)
        runs.append(simulate(library.crank_rocker_2016(), 3.0, MoreauJean(1e-5), control=loop))
    here, there = (float(run["error_max"][0]) for run in runs)
    assert there == pytest.approx(here, rel=0.02)


def test_what_holds_weight_and_springs_does_not_hold_loads():
    """An arm with a spring and a load of 2 N m: with weight and spring held, k1 e = 2 N m; the load was held too."""
    arm = jp.loads("""
ground: {points: {O: [0, 0]}}
bodies: {arm: {bar: 0.5 m, mass: 2 kg}}
joints: {J: {kind: revolute, between: [ground.O, arm.start]}}
start: {arm: 0}
forces:
  coil: {kind: torsion, between: [ground, arm], stiffness: 30 N*m/rad, damping: 1 N*m*s/rad, free_angle: 20 deg}
  load: {kind: torque, on: arm, torque: 2 N*m}
""")
    run = simulate(arm, 5.0, control=control.pd("arm", 0.0, k1=60, k2=6, gravity=True))
    assert float(run.tracking_error[-1, 0]) == pytest.approx(2 / 60, rel=1e-6)
