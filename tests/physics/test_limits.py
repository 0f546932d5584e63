"""Actuators at their limits: steps that a tolerance chooses end where these are reached and left."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from jointplay import Body, Mechanism, RungeKutta, control, results, simulate, sine

LENGTH, MASS, G = 0.6, 1.5, 9.81
K1, K2, AMPLITUDE, RATE, MEAN, LIMIT = 771.3, 12.34, 0.319, 7.34, 0.943, 24.99
ARM = Mechanism(
    name="arm",
    ground={"points": {"O": (0, 0)}},
    bodies={"arm": Body(bar=LENGTH, mass=MASS)},
    joints={"J1": {"kind": "revolute", "between": ("ground.O", "arm.start")}},
    start={"arm": 0.3, "arm.rate": 0.2},
)
LOOP = {"reference": sine(AMPLITUDE, RATE, offset=MEAN), "k1": K1, "k2": K2, "limit": LIMIT}


def torque(t, x):
    """What the law asks for."""
    error = x[0] - MEAN - AMPLITUDE * np.sin(RATE * t)
    return -K1 * error - K2 * (x[1] - AMPLITUDE * RATE * np.cos(RATE * t))


def turning(t, x, u):
    return (u - MASS * G * LENGTH / 2 * np.cos(x[0])) / (MASS * LENGTH**2 / 3)


def leaving(side, outward):
    """The event at which the law asks for the limit on a side, and goes beyond it or comes back."""

    def event(t, x):
        return torque(t, x) - side * LIMIT

    event.terminal, event.direction = True, side * outward
    return event


def piece(t, x, side, until):
    """The motion up to the next kink; side: of the limit at which the actuator is, 0 if at none."""

    def given(t, x):
        return side * LIMIT + 0 * t if side else torque(t, x)

    def slope(t, x):
        return [x[1], turning(t, x, given(t, x))]

    events = [leaving(side, -1)] if side else [leaving(1, 1), leaving(-1, 1)]
    found = solve_ivp(slope, (t, until), x, "DOP853", events=events, dense_output=True, rtol=1e-10, atol=1e-11)
    times = np.linspace(t, found.t[-1], 2001)
    state = found.sol(times)
    u = given(times, state)
    along, across = -LENGTH / 2 * state[1] ** 2, LENGTH / 2 * turning(times, state, u)
    forces = MASS * np.hypot(along + G * np.sin(state[0]), across + G * np.cos(state[0]))
    reached = [k for k, at in enumerate(found.t_events) if at.size]
    following = 0 if side else [1, -1][reached[0]] if reached else 0
    return found.t[-1], found.y[:, -1], following, forces.max(), np.trapezoid(u * u, times)


def by_scipy(until):
    """The largest pivot force and the mean torque, of smooth pieces between the kinks."""
    t, x, most, square = 0.0, [0.3, 0.2], 0.0, 0.0
    side = np.sign(torque(t, x)) * (abs(torque(t, x)) > LIMIT)
    while t < until:
        t, x, side, force, more = piece(t, x, side, until)
        most, square = max(most, force), square + more
    return most, math.sqrt(square / until)


@pytest.mark.parametrize("rtol", [1e-4, 1e-5, 1e-6])
def test_peaks_where_an_actuator_leaves_its_limit(rtol):
    """Steps across the kink missed it by 0.6 % at 1e-4, and by 0.1 % at 1e-6."""
    run = simulate(ARM, 1.0, RungeKutta(rtol=rtol), control=control.pd_tracking("J1", **LOOP))
    force, mean = by_scipy(1.0)
    found = {entry["name"]: entry for entry in results.errors(run)}
    for name, true in (("J1.peak_force", force), ("J1.control_rms", mean), ("J1.control_max", LIMIT)):
        assert abs(found[name]["value"] - true) <= 3 * found[name]["error"] + 1e-5 * true, name
    assert float(run.peak_force[0]) == pytest.approx(force, rel=1e-4)


def test_no_actuator_gives_more_than_its_limit():
    for k1, k2, limit in ((653.75, 16.351, 15.3065), (683.17, 8.4557, 14.8605), (530.7, 3.0347, 18.8444)):
        loop = control.pd_tracking("J1", sine(0.5, 6.0, offset=0.1), k1=k1, k2=k2, limit=limit)
        run = simulate(ARM, 1.0, RungeKutta(rtol=1e-4), control=loop, settled=0.05, error=False)
        assert float(run.control_max[0]) <= limit
