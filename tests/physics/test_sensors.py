"""Sensors and sampled control: sides of a joint with play, samples, delay, counts, noise, and what is seen first."""

import math

import numpy as np
import pytest

from jointplay.laws import law
from jointplay.model import ModelError, control, library, loads, motions, sine
from jointplay.simulation import FixedRungeKutta, MoreauJean, RungeKutta, simulate

H = 1e-3
ARM = library.pendulum(length=0.5, angles=[0.3])


@law(watch=["seen", "rate"])
def spy(loop):
    """Does nothing but look."""
    loop.watch("seen", loop.values[0])
    loop.watch("rate", loop.rates[0])
    return [0.0]


def looked(order=2, **sensor):
    """What an encoder of a swinging arm sees in each step, and the arm at their beginnings; signals are those of the
    step that ends in a sample."""
    loop = control.use(spy, "bar1", sensors={"encoder": {"of": "bar1", **sensor}})
    run = simulate(ARM, 0.5, MoreauJean(H, order=order), every=H, control=loop)
    return run.seen.values[1:], run.rate.values[1:], run.angle.values[:-1, 0], run.angle_rate.values[:-1, 0]


def test_an_ideal_sensor_sees_the_beginning_of_the_step():
    """Of first order, where laws are computed at the beginning of a step."""
    seen, rate, angle, speed = looked(order=1)
    assert seen == pytest.approx(angle, abs=1e-14) and rate == pytest.approx(speed, abs=1e-14)


def test_samples_are_held():
    seen, rate, angle, speed = looked(period=7 * H)
    last = np.arange(len(seen)) // 7 * 7
    assert seen == pytest.approx(angle[last], abs=1e-14) and rate == pytest.approx(speed[last], abs=1e-14)


def test_a_delay_shows_the_start_until_it_is_over():
    seen, rate, angle, speed = looked(delay=5 * H)
    late = np.maximum(np.arange(len(seen)) - 5, 0)
    assert seen == pytest.approx(angle[late], abs=1e-14) and rate[5:] == pytest.approx(speed[late][5:], abs=1e-14)
    assert np.abs(rate[:5]).max() < 1e-9  # at rest


def test_samples_are_held_and_then_delayed():
    seen, _, angle, _ = looked(period=7 * H, delay=3 * H)
    late = np.maximum(np.arange(len(seen)) - 3, 0) // 7 * 7
    assert seen == pytest.approx(angle[late], abs=1e-14)


def test_counts():
    seen, rate, angle, speed = looked(resolution=0.01)
    assert seen == pytest.approx(0.01 * np.round(angle / 0.01), abs=1e-12) and np.abs(seen - angle).max() > 0.004
    assert rate == pytest.approx(speed, abs=1e-14)


def test_rates_from_differences_of_counts():
    seen, rate, _, speed = looked(resolution=0.01, period=10 * H, rate="difference")
    at = np.arange(0, len(seen), 10)
    assert rate[at[1:]] == pytest.approx(np.diff(seen[at]) / (10 * H), abs=1e-9) and rate[0] == 0
    assert (rate[at[1:]] == rate[at[1:] + 9]).all()
    assert np.abs(rate[at[2:]] - speed[at[2:] - 5]).max() < 1.01 * 0.01 / (10 * H)  # one count in a period


def test_noise_has_its_deviation_and_its_seed():
    (one, _, angle, _), (two, *_), (other, *_) = (looked(noise=0.02, seed=seed) for seed in (3, 3, 4))
    assert (one == two).all() and not np.isclose(one, other).any()
    for seen in (one, other):
        noise = seen - angle
        assert abs(noise.mean()) < 4 * 0.02 / math.sqrt(500) and 0.9 < noise.std() / 0.02 < 1.1
        assert abs(np.corrcoef(noise[1:], noise[:-1])[0, 1]) < 0.2


def test_samples_of_noise_are_drawn_anew_and_held():
    seen, _, angle, _ = looked(noise=0.02, period=10 * H)
    at = np.arange(0, len(seen), 10)
    assert (seen[at] == seen[at + 9]).all() and 0.01 < (seen[at] - angle[at]).std() < 0.03


def test_fixed_runge_kutta_steps_have_the_same_electronics():
    loop = control.use(spy, "bar1", sensors={"encoder": {"of": "bar1", "period": 7 * H, "delay": 3 * H}})
    run = simulate(ARM, 0.2, FixedRungeKutta(H), every=H, control=loop)
    late = np.maximum(np.arange(200) - 3, 0) // 7 * 7
    assert run.seen.values[1:] == pytest.approx(run.angle.values[late, 0], abs=1e-9)


# -- sides
GEARS = """
gravity: [0, 0]
ground: {points: {A: [0, 0], B: [90 mm, 0]}}
bodies: {pinion: {mass: 1 kg, inertia: 1e-3 kg*m^2}, wheel: {mass: 2 kg, inertia: 4e-3 kg*m^2}}
joints:
  A: {kind: revolute, between: [ground.A, pinion.centre]}
  B: {kind: revolute, between: [ground.B, wheel.centre]}
  G: {kind: gear, between: [pinion, wheel], ratio: -0.5, play: 1 deg, contact: {kind: rigid, restitution: 0.3}}
"""


@pytest.mark.parametrize("side", ["first", "second"])
def test_motor_and_load_encoders_of_a_gear_with_backlash_differ(side):
    """What the controller takes for the pinion's angle is the pinion's, or the wheel's through the ideal gear."""
    loop = control.pd("pinion", sine(0.3, 20.0), k1=2, k2=0.02, sensors={"encoder": {"of": "G", "side": side}})
    run = simulate(loads(GEARS), 0.3, MoreauJean(1e-4, order=1), every=1e-4, control=loop)
    angle, rate = (
        run[what].sel(body="pinion" if side == "first" else "wheel").values for what in ("angle", "angle_rate")
    )
    scale = 1.0 if side == "first" else -2.0
    wanted = -2 * (scale * angle - run.reference.values[:, 0]) - 0.02 * scale * rate
    assert run.control.values[1:, 0] == pytest.approx(wanted[:-1], abs=1e-9)
    apart = run.angle.sel(body="pinion").values + 2 * run.angle.sel(body="wheel").values
    assert 0.03 < np.abs(apart).max() < 1.01 * 2 * math.radians(1)  # the play, as an angle of the pinion
    assert run.tracking_error.values[:, 0] == pytest.approx(
        run.angle.sel(body="pinion").values - run.reference.values[:, 0], abs=1e-12
    )


# -- sampled control
def spring(time, values, rates, references, reference_rates):
    return [-30 * (x - r) - 2 * (v - w) for x, r, v, w in zip(values, references, rates, reference_rates, strict=True)]


WANTED = sine(0.4, 3.0)


def test_sampled_control_tends_to_the_continuous_one_at_first_order():
    continuous = simulate(ARM, 0.5, RungeKutta(1e-10, 1e-12), every=0.05,
                          control=control.pd_tracking("bar1", WANTED, k1=30, k2=2))  # fmt: skip
    apart = {"traced": [], "python": []}
    for period in (8e-3, 4e-3, 2e-3):
        loops = {
            "traced": control.pd_tracking("bar1", WANTED, k1=30, k2=2, period=period),
            "python": control.sampled(spring, "bar1", WANTED, period=period),
        }
        for name, loop in loops.items():
            run = simulate(ARM, 0.5, FixedRungeKutta(1e-3), every=0.05, control=loop)
            apart[name].append(np.abs(run.angle.values - continuous.angle.values).max())
    assert apart["traced"] == pytest.approx(apart["python"], rel=1e-6)
    assert apart["traced"][2] < 4e-3
    assert [a / b for a, b in zip(apart["traced"], apart["traced"][1:], strict=False)] == pytest.approx(
        [2, 2], abs=0.15
    )


@pytest.mark.parametrize("stepper", [MoreauJean(H), FixedRungeKutta(H)], ids=["rigid", "smooth"])
def test_a_python_function_sees_what_a_traced_law_sees(stepper):
    """Samples, delay and counts from the first call on, with a limit, a feedforward and gravity beside it."""
    sensors = {"encoder": {"of": "bar1", "period": 3 * H, "delay": 2 * H, "resolution": 1e-3}}
    fields = dict(sensors=sensors, period=2 * H, limit=6.0, feedforward=sine(0.5, 9.0))
    one = simulate(ARM, 0.2, stepper, every=H, control=control.pd_tracking("bar1", WANTED, k1=30, k2=2, **fields))
    other = simulate(ARM, 0.2, stepper, every=H, control=control.sampled(spring, "bar1", WANTED, **fields))
    assert other.angle.values == pytest.approx(one.angle.values, abs=1e-7)
    assert float(np.abs(one.control).max()) == 6.0


def test_what_a_python_function_is_told_first():
    calls = []

    def listen(time, *told):
        calls.append((time, *(x[0] for x in told)))
        return 0.0

    sensors = {"encoder": {"of": "bar1", "period": 4 * H, "delay": 3 * H}}
    start = {"bar1": 0.3, "bar1.rate": 2.0}
    table = {"kind": "table", "times": [0, 1, 2], "values": [0, 1, 2], "ends": "held"}
    simulate(
        ARM,
        0.02,
        MoreauJean(H),
        start=start,
        control=control.sampled(listen, "bar1", table, period=5 * H, sensors=sensors),
    )
    assert [c[0] for c in calls] == pytest.approx([0, 5e-3, 10e-3, 15e-3])
    assert calls[0] == pytest.approx((0.0, 0.3, 2.0, 0.0, 1.0), abs=1e-6)
    assert calls[1] == pytest.approx((5e-3, 0.3, 2.0, 5e-3, 1.0), abs=1e-6)  # the sample of 4 ms is on its way
    assert calls[2][1] != calls[1][1]


def test_same_seed_same_run():
    def loop(seed):
        return control.pd("bar1", WANTED, k1=30, k2=2, sensors={"e": {"of": "bar1", "noise": 1e-3, "seed": seed}})

    one, two, other = (simulate(ARM, 0.1, MoreauJean(H), control=loop(seed)).angle.values for seed in (1, 1, 2))
    assert (one == two).all() and (one != other).any()


@pytest.mark.parametrize("order", [4, 5])
def test_a_torque_that_is_held_acts_from_its_first_stage_on(order):
    # Rate feedback sampled at every step, no gravity: each step multiplies the rate by 1 - k2 h / I.
    bar, h, inertia = library.pendulum(angles=[0.05]).replace(gravity=(0.0, 0.0)), 0.01, 1 / 3
    law = control.pd("bar1", 0.0, k1=0.0, k2=1.95 * inertia / h, period=h)
    start = {"bar1": 0.05, "bar1.rate": 1.0}
    run = simulate(bar, 0.3, FixedRungeKutta(h, order=order), every=h, start=start, control=law)
    assert run.angle_rate.values[:, 0] == pytest.approx((-0.95) ** np.arange(31), abs=1e-4)


def test_late_sensors_do_not_count_as_jumps():
    law = control.feedback_linearisation(
        "crank", motions.constant_speed(60.0, np.pi / 2), k1=400, k2=40, sensors={"s": {"of": "crank", "period": 0.01}}
    )
    run = simulate(library.four_bar(), 0.05, FixedRungeKutta(1e-3), control=law, start={"crank.rate": 60.0})
    assert run.attrs["outcome"] == "done"


def test_long_steps_count_with_both_their_ends():
    law = control.pd_tracking("bar1", motions.sine(1.0, 3.0), k1=30, k2=3)
    long, short = (
        simulate(library.pendulum(angles=[-1.0]), 5.0, stepper, control=law)
        for stepper in (RungeKutta(1e-5, 1e-7, max_step=0.2), FixedRungeKutta(1e-3))
    )
    for name in ("error_rms", "control_rms"):
        assert float(long[name][0]) == pytest.approx(float(short[name][0]), rel=7e-3)


@pytest.mark.parametrize("stepper", [RungeKutta(), MoreauJean(1e-4)], ids=["smooth", "rigid"])
def test_a_dead_centre_of_the_actuator_ends_the_run(stepper):
    law = control.feedback_linearisation("crank", motions.cycloidal(-0.5, 1.0, start=0.5), k1=500, k2=40,
                                         actuators="slider.x")  # fmt: skip
    run = simulate(library.slider_crank(angle=0.5), 2.0, stepper, control=law, strict=False)
    assert run.attrs["outcome"] == "controller failed" and "near a singular position" in run.outcome_text
    assert float(run.outcome_time) == pytest.approx(0.5, abs=5e-3)


def test_what_belongs_to_the_ground_is_no_sensor():
    law = control.feedback_linearisation("crank", 0.5, k1=1, k2=1, sensors=[{"of": "J1", "side": "first"}])
    with pytest.raises(ModelError, match=r"control.sensors.sensor1: moves with nothing"):
        simulate(library.slider_crank(), 0.1, control=law)
