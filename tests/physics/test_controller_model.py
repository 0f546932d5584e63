"""The model that a controller knows: its joints close in steps of any length, and its references are followed first."""

import math

import pytest

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
