"""Sampled loops, delays and noise with steps that a tolerance chooses: a step ends at each tick of their clock."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import jointplay as jp
from jointplay.model import ModelError, library, loads
from jointplay.simulation import FixedRungeKutta, MoreauJean, RungeKutta, Simulation, simulate

CHOSEN = [MoreauJean(rtol=1e-7), RungeKutta()]
CART = """
gravity: [0, 0]
ground: {points: {O: [0, 0]}}
bodies: {cart: {mass: 2, inertia: 1, points: {c: [0, 0]}}}
joints: {J: {kind: prismatic, between: [ground.O, cart.c], axis: [1, 0]}}
start: {cart.x: 0.3}
"""
ALONG = {"of": "cart.c", "kind": "x"}


def pd(**fields):
    return jp.control.pd(ALONG, k1=800.0, k2=30.0, **fields)


def rocker(**fields):
    fields = {"period": 1e-3} | fields
    loop = jp.control.pd("crank", jp.sine(1.0, frequency=2.0), k1=60.0, k2=6.0, **fields)
    made = library.crank_rocker_2016(clearance2=1e-3, friction=0.1)
    return made.replace(start={"crank": 1.571}, control=loop)


@pytest.mark.parametrize("stepper", CHOSEN, ids=["impulses", "states"])
def test_a_sampled_loop_is_what_its_matrices_say(stepper):
    """Between samples the force is held: x+ = A x + B u by the matrix exponential."""
    period, mass = 7e-3, 2.0
    every = expm(np.array([[0, 1, 0], [0, 0, 1 / mass], [0, 0, 0]]) * period)
    state = np.array([0.3, 0.0])
    for _ in range(30):
        u = -800.0 * state[0] - 30.0 * state[1]
        state = every[:2, :2] @ state + every[:2, 2] * u
    run = simulate(loads(CART), 30 * period, stepper, control=pd(period=period), every=period)
    assert float(run.x[-1, 0]) == pytest.approx(state[0], rel=1e-9)
    assert float(run.x_rate[-1, 0]) == pytest.approx(state[1], rel=1e-9)
    assert len(run.time) == 31
    assert run.time.values == pytest.approx(np.arange(31) * period, rel=1e-14)


@pytest.mark.parametrize("stepper", CHOSEN, ids=["impulses", "states"])
def test_a_delay_is_as_long_as_it_says(stepper):
    """With a delay of 3 ms and samples of 2 ms the clock ticks every millisecond."""
    sensors = {"late": {**ALONG, "delay": 3e-3}}
    made = loads(CART)
    run = simulate(made, 0.1, stepper, control=pd(period=2e-3, sensors=sensors), every=2e-3)
    fixed = simulate(made, 0.1, FixedRungeKutta(1e-3), control=pd(period=2e-3, sensors=sensors), every=2e-3)
    assert run.control.values == pytest.approx(fixed.control.values, rel=1e-9, abs=1e-9)
    assert run.x.values == pytest.approx(fixed.x.values, rel=1e-9)


@pytest.mark.parametrize("stepper", CHOSEN, ids=["impulses", "states"])
def test_what_holding_a_law_without_a_period_does_is_part_of_the_stated_error(stepper):
    """Such a law is held for 0.01 ms, an error of first order that no tolerance of steps sees."""
    loop, made = pd(sensors={"late": {**ALONG, "delay": 5e-3}}), loads(CART)
    run = simulate(made, 0.1, stepper, control=loop)
    coarse, fine = (float(simulate(made, 0.1, FixedRungeKutta(h), control=loop).x[-1, 0]) for h in (1e-5, 5e-6))
    error = abs(float(run.x[-1, 0]) - (2 * fine - coarse))
    (stated,) = [entry["error"] for entry in jp.results.errors(run) if entry["name"] == "cart.x"]
    assert 1e-7 < error < stated < 10 * error


def test_noise_that_only_the_clock_draws_is_told():
    made = loads(CART)
    for period, told in ((None, True), (1e-3, False)):
        run = simulate(made, 0.01, control=pd(sensors={"seen": {**ALONG, "noise": 1e-4, "period": period}}))
        assert ("its noise is drawn whenever" in run.attrs["notes"]) == told


@pytest.mark.parametrize("stepper", CHOSEN, ids=["impulses", "states"])
def test_noise_and_counts_are_those_of_the_clock(stepper):
    sensors = {"seen": {**ALONG, "period": 1e-3, "noise": 1e-3, "resolution": 1e-4, "rate": "difference"}}
    made = loads(CART)
    run = simulate(made, 0.05, stepper, control=pd(period=1e-3, sensors=sensors), every=1e-3)
    fixed = simulate(made, 0.05, FixedRungeKutta(1e-3), control=pd(period=1e-3, sensors=sensors), every=1e-3)
    assert run.x.values == pytest.approx(fixed.x.values, rel=1e-7)
    assert len(np.unique(run.control.values)) > 40


@pytest.mark.parametrize("stepper", CHOSEN, ids=["impulses", "states"])
def test_a_python_function_is_called_once_a_tick(stepper):
    times = []

    def law(time, values, rates, references, reference_rates):
        times.append(time)
        return -800.0 * values[0] - 30.0 * rates[0]

    loop = jp.control.sampled(law, ALONG, period=3e-3)
    run = simulate(loads(CART), 0.1, stepper, control=loop)
    assert times[:33] == [i * 3e-3 for i in range(33)]  # exact multiples, none skipped, none twice
    traced = simulate(loads(CART), 0.1, stepper, control=pd(period=3e-3))
    assert run.x.values == pytest.approx(traced.x.values, rel=1e-11, abs=1e-12)  # but for fused products
    stepped = Simulation(loads(CART), stepper, control=loop)
    before = len(times)
    while stepped.time[0] < 8e-3:
        stepped.step(1)
    assert len(times) - before == 3


@pytest.mark.parametrize("stepper", [RungeKutta(), FixedRungeKutta(step=1e-3)], ids=["chosen", "fixed"])
def test_the_mean_of_a_held_force_is_that_of_its_periods(stepper):
    """In fixed steps it was averaged with the step before, although it jumps between them."""
    x, v, squares, period = 0.3, 0.0, 0.0, 5e-3
    for _ in range(40):
        u = -800.0 * x - 30.0 * v
        x, v, squares = x + v * period + u * period**2 / 4, v + u * period / 2, squares + u * u
    run = simulate(loads(CART), 40 * period, stepper, control=pd(period=period), error=False)
    assert float(run.control_rms[0]) == pytest.approx(math.sqrt(squares / 40), rel=1e-10)


def test_a_sampled_loop_with_play_converges_to_that_of_steps_of_one_length():
    fixed = simulate(rocker(), 0.2, MoreauJean(step=2e-6))
    errors = []
    for rtol in (1e-5, 1e-7):
        run = simulate(rocker(), 0.2, MoreauJean(rtol=rtol))
        errors.append(abs(float(run.angle.sel(body="crank")[-1] - fixed.angle.sel(body="crank")[-1])))
        assert float(run.error_rms[0]) == pytest.approx(float(fixed.error_rms[0]), rel=2e-5)
        assert float(run.control_rms[0]) == pytest.approx(float(fixed.control_rms[0]), rel=2e-5)
    assert errors[0] < 2e-4 and errors[1] < 1e-5


@pytest.mark.parametrize("stepper", CHOSEN, ids=["impulses", "states"])
def test_bits_depend_on_neither_lanes_nor_samples_nor_the_end(stepper):
    loose = rocker()
    made = loose if stepper.impulsive else library.crank_rocker_2016().replace(control=loose.control)
    few, many = (simulate(made, 0.06, stepper, every=x) for x in (0.01, 0.3e-3))
    longer = simulate(made, 0.09, stepper, every=0.01)
    assert np.array_equal(few.angle.values[:-1], longer.angle.values[: len(few.time) - 1])
    assert np.array_equal(few.control.values[:-1], longer.control.values[: len(few.time) - 1])
    assert many.time.values[100] == pytest.approx(few.time.values[3], rel=1e-14)
    assert np.array_equal(many.angle.values[100], few.angle.values[3])
    lanes = [{"coupler.mass": x} for x in (1.0, 1.5)]
    both = Simulation(made, stepper, lanes=lanes, every=0.01)
    both.advance(0.06)
    for lane, numbers in enumerate(lanes):
        assert np.array_equal(both.result(lane).angle, simulate(made.with_(numbers), 0.06, stepper, every=0.01).angle)


def test_lanes_have_delays_of_their_own():
    made = loads(CART).replace(control=pd(period=1e-3, sensors={"late": {**ALONG, "delay": 1e-3}}))
    for stepper in (RungeKutta(), FixedRungeKutta(1e-3)):
        both = Simulation(made, stepper, lanes=[{"control.late.delay": x} for x in (1e-3, 4e-3)], every=0.01)
        both.advance(0.05)
        for lane, delay in enumerate((1e-3, 4e-3)):
            alone = simulate(made.with_({"control.late.delay": delay}), 0.05, stepper, every=0.01)
            assert np.array_equal(both.result(lane).x, alone.x)


def test_a_law_without_a_period_sees_counts_often():
    """The force of a spring by a sensor that counts: nearly that of the spring itself."""
    loop = jp.control.pd(ALONG, k1=800.0, k2=0.0, sensors={"seen": {**ALONG, "resolution": 1e-6}})
    run = simulate(loads(CART), 0.2, RungeKutta(), control=loop)
    free = solve_ivp(lambda t, y: [y[1], -400.0 * y[0]], (0, 0.2), [0.3, 0], rtol=1e-10, atol=1e-12)
    assert float(run.x[-1, 0]) == pytest.approx(free.y[0, -1], abs=1e-4)


def test_times_without_a_common_clock_are_refused():
    loop = pd(period=1e-3, sensors={"late": {**ALONG, "delay": math.pi * 1e-3}})
    with pytest.raises(ModelError, match=r"control\.sensors\.late\.delay: 0\.00314159 s and 0\.001 s have no clock"):
        simulate(loads(CART), 0.1, RungeKutta(), control=loop)
