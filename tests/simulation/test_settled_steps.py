"""The last sample, and where results count anew, inside the long steps of Runge-Kutta: each run was judged fine."""

import math

import numpy as np
import pytest

import jointplay as jp
from jointplay.model import control, sine

PENDULUM = jp.library.pendulum().with_({"start.bar1": 1.0})
SLOT = """
name: bouncing
ground: {points: {O: [0, 0]}}
bodies: {ball: {mass: 1 kg, inertia: 1}}
joints:
  S: {kind: slot, between: [ground.O, ball.centre], axis: [1, 0], clearance: 50 mm,
      contact: {kind: compliant, normal: {law: hunt_crossley, stiffness: 1e6, restitution: 0.7}}}
start: {journals: centred, ball: 0, ball.x: 0, ball.y: 0}
"""


@pytest.mark.parametrize("stepper", [None, jp.FixedRungeKutta(1e-3)])
@pytest.mark.parametrize("until, every", [(0.6, 0.1), (0.3, 0.1), (1.2, 0.4), (3.97, None)])
def test_the_last_sample_is_at_the_end(until, every, stepper):
    """So many intervals are beyond the end by rounding; it was left out, and the end was that of the sample before."""
    run = jp.simulate(PENDULUM, until, stepper, every)
    assert float(run.time[-1]) == pytest.approx(until, rel=1e-12)
    near = jp.simulate(PENDULUM, until, stepper, until / 2)
    assert float(run.angle[-1, 0]) == pytest.approx(float(near.angle[-1, 0]), abs=1e-9)


def test_samples_that_do_not_meet_the_end_are_told():
    run = jp.simulate(PENDULUM, 0.6, every=0.25)
    assert "the last sample is at 0.5 s" in run.attrs["notes"]
    assert "the last sample" not in jp.simulate(PENDULUM, 0.6, every=0.2).attrs["notes"]


def test_shares_count_from_the_very_time_on():
    """What is free up to the end is what is free up to the time and from it on."""
    ball, settled, until = jp.loads(SLOT), 0.1, 0.5
    run, whole, first = jp.simulate(ball, until, settled=settled), jp.simulate(ball, until), jp.simulate(ball, settled)
    rest = (float(whole.share_free[1]) * until - float(first.share_free[1]) * settled) / (until - settled)
    assert float(run.share_free_settled[1]) == pytest.approx(rest, abs=1e-5)


@pytest.mark.parametrize("settled", [0.25, 0.37])
def test_peaks_count_from_the_very_time_on(settled):
    run = jp.simulate(PENDULUM, 1.0, every=1e-4, settled=settled)
    force = np.hypot(run.force_x, run.force_y).sel(joint="J1").values[run.time.values >= settled - 1e-9]
    found = jp.simulate(PENDULUM, 1.0, settled=settled)
    assert float(found.peak_force_settled[0]) == pytest.approx(force.max(), rel=1e-6)
    table = jp.sweep(PENDULUM, {"bar1.mass": [1.0, 2.0]}, 1.0, settled=settled, metrics=["peak_force[J1]"])
    found = jp.simulate(PENDULUM.with_({"bar1.mass": 2.0}), 1.0, settled=settled)
    assert float(table["peak_force[J1]"][1]) == float(found.peak_force_settled[0])


def test_means_of_a_loop_count_from_the_very_time_on():
    """The mean square up to the end is that up to the time and from it on."""

    def mean(until, settled, name):
        loop = control.use("pd_tracking", "bar1", sine(0.5, 5.0), k1=60.0, k2=6.0, settled=settled)
        return float(jp.simulate(PENDULUM, until, control=loop)[name][0]) ** 2 * (until - settled)

    for name in ("error_rms", "control_rms"):
        assert mean(2.0, 0.4, name) == pytest.approx(mean(2.0, 0.0, name) - mean(0.4, 0.0, name), rel=1e-6)


@pytest.mark.parametrize(
    "until, settled, every",
    [(1.0, 0.7, 1e-3), (0.4, 0.35, 4e-4), (0.1, 0.009, 1e-3), (0.3, 0.2094395, math.tau / 3000)],
)
def test_a_sample_just_behind_settled_has_forces_as_without_it(until, settled, every):
    """0.7 s is 1e-16 s before the sample 700 ms: a step of that length told what places are rounded by as forces, of
    10^5 to 10^8 N; one of 1e-8 s some percent."""
    slider = jp.library.slider_crank(speed=30.0).loosen("J3", 5e-4, contact=jp.Rigid(restitution=0.5))
    plain, parted = (jp.simulate(slider, until, every=every, settled=x, error=False) for x in (0.0, settled))
    assert np.array_equal(plain.time, parted.time)
    beside = np.abs(plain.time.values - settled) < 1.5 * every
    for name in ("force_x", "force_y", "effort", "x_acceleration"):
        a, b = (run[name].values[beside] for run in (plain, parted))
        assert b == pytest.approx(a, rel=2e-3, abs=2e-3 * np.abs(plain[name].values).max())


@pytest.mark.parametrize("until, count", [(0.026, 47), (0.0064, 43), (0.042345, 41), (0.01462, 52)])
def test_the_end_of_a_run_is_sampled_once(until, count):
    """47 times 0.026/47 is 3e-18 before 0.026, and both were written."""
    slider = jp.library.slider_crank(speed=30.0).loosen("J3", 5e-4, contact=jp.Rigid(restitution=0.5))
    time = jp.simulate(slider, until, every=until / count, error=False).time.values
    assert len(time) == count + 1 and time[-1] == pytest.approx(until, rel=1e-12)
