"""Steps of one length of a driven mechanism: forces and work are those of its inverse dynamics, in every step."""

import numpy as np
import pytest

import jointplay as jp


@pytest.mark.parametrize("order", [4, 5])
@pytest.mark.parametrize("step", [1e-3, 2e-3])
def test_work_and_forces_of_a_driven_crank(step: float, order: int) -> None:
    """Rates that a step moves onto the drive depend on the time; the equations must not differentiate them by it."""
    mechanism = jp.library.slider_crank(speed=10 * np.pi)
    run = jp.simulate(mechanism, until=0.4, stepper=jp.FixedRungeKutta(step, order=order), every=step)
    energy = (run.kinetic + run.potential - run.work).values
    assert np.abs(energy - energy[0]).max() < 1e-5 * np.ptp((run.kinetic + run.potential).values)
    sure = jp.inverse_dynamics(jp.System(mechanism), run.time.values)
    assert run.peak_effort.values == pytest.approx(np.abs(sure.effort.values).max(axis=0), rel=1e-6)
    forces = np.hypot(sure.force_x, sure.force_y).values.max(axis=0)
    assert run.peak_force.values == pytest.approx(forces, rel=1e-6)
