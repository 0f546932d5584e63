"""Ideal mechanisms in motion: energy, momentum, textbook integrations, published positions, every stepper."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from jointplay.engine.values import where
from jointplay.model import library, loads
from jointplay.physics.dense import dense, hermite
from jointplay.results import audited
from jointplay.simulation import FixedRungeKutta, RungeKutta, simulate
from jointplay.statics import equilibria
from jointplay.system import System

TIGHT = RungeKutta(rtol=1e-11, atol=1e-12)


def test_crank_rocker_keeps_its_energy():
    run = simulate(library.crank_rocker_2016(), 10.0, TIGHT, every=0.05, start={"crank.rate": 10.0})
    energy = run["kinetic"] + run["potential"]
    assert len(energy) == 201 and energy[0] == pytest.approx(132.354, abs=5e-4)
    assert np.abs(energy / energy[0] - 1).max() < 1e-9
    assert audited(run, "position drift") < 1e-13
    assert audited(run, "energy imbalance") < 1e-9 * 132.354
    assert run.attrs["degrees_of_freedom"] == 1


def double_pendulum_angles(times):
    """Equal unit bars released at rest from 30 and 0 degrees, by the usual two-angle equations."""

    def textbook(t, y):
        a, b, va, vb = y
        c, s = math.cos(a - b), math.sin(a - b)
        matrix = [[4 / 3, c / 2], [c / 2, 1 / 3]]
        rhs = [-0.5 * vb**2 * s - 1.5 * 9.81 * math.cos(a), 0.5 * va**2 * s - 0.5 * 9.81 * math.cos(b)]
        return [va, vb, *np.linalg.solve(matrix, rhs)]

    start = [math.radians(30), 0.0, 0.0, 0.0]
    return solve_ivp(textbook, (0, times[-1]), start, "DOP853", rtol=1e-13, atol=1e-13, t_eval=times).y[:2].T


def test_double_pendulum_follows_the_textbook():
    mechanism = library.pendulum(2)
    assert all(b.mass == 1 and b.length == 1 for b in mechanism.bodies.values())
    run = simulate(mechanism, 3.0, TIGHT, start={"bar1": "30 deg", "bar2": 0.0})
    assert run["angle"].values == pytest.approx(double_pendulum_angles(run["time"].values), abs=1e-8)


def test_fixed_steps_converge_at_fifth_order():
    mechanism = library.pendulum(2)
    errors = []
    for step in (0.02, 0.01, 0.005):
        run = simulate(mechanism, 1.0, FixedRungeKutta(step), every=0.5, start={"bar1": "30 deg", "bar2": 0.0})
        assert run.attrs["steps"] == round(1 / step)
        errors.append(np.abs(run["angle"].values - double_pendulum_angles(run["time"].values)).max())
    orders = np.log2(errors[0] / errors[1]), np.log2(errors[1] / errors[2])
    assert errors[-1] < 1e-8 and min(orders) > 4.5


FLOATING = """
name: floating pair
gravity: [0, 0]
ground: {points: {O: [0, 0]}}
bodies:
  a: {bar: 1.0, mass: 2}
  b: {bar: 0.7, mass: 1}
joints:
  J: {kind: revolute, between: [a.end, b.start]}
forces:
  spring: {kind: torsion, between: [a, b], stiffness: 4.0, free_angle: 1.0}
start: {a: 0.3, b: 1.9, a.x: 0, a.y: 0, a.rate: 2}
"""


def test_a_floating_pair_keeps_its_momentum():
    mechanism = loads(FLOATING)
    run = simulate(mechanism, 5.0, RungeKutta(rtol=1e-12, atol=1e-14))
    masses = np.array([body.mass for body in mechanism.bodies.values()])
    inertias = np.array([body.inertia for body in mechanism.bodies.values()])
    for rate in (run["x_rate"], run["y_rate"]):
        assert np.ptp(rate.values @ masses) < 1e-11  # places are rounded to 2e-15 m in steps of a millisecond
    spin = (run["x"] * run["y_rate"] - run["y"] * run["x_rate"]).values @ masses + run["angle_rate"].values @ inertias
    assert np.ptp(spin) < 1e-11
    energy = (run["kinetic"] + run["potential"]).values
    assert np.ptp(energy) < 1e-9 and np.ptp(run["kinetic"].values) > 0.1


def test_driven_grigore_figure_5_reaches_its_published_position():
    """s1: driven at 5 rad/s from the equilibrium with least kinetic energy, q at 1 s (bilateral model)."""
    mechanism = library.grigore_figure_5()
    [rest] = [e for e in equilibria(System(mechanism.with_(dict.fromkeys(["O2x.frequency", "O2y.frequency"], 1e-9))))
              if e.valid and e.q[2] > 0 and e.q[4] > 0]  # fmt: skip
    names = System(mechanism).coordinates
    start = {name.removesuffix(".angle"): x for name, x in zip(names, rest.q, strict=True)}
    driven = mechanism.with_({"O2x.frequency": 5.0, "O2y.frequency": 5.0})
    contact = {**driven.joints["O3"].plain(), "contact": {"kind": "following", "on_loss": "continue"}}
    run = simulate(driven.replace(joints={**driven.joints, "O3": contact}), 1.0, TIGHT, every=1.0, start=start)
    speeds = 5 * np.array([-0.081102, 0.038771, -0.071450, -0.013848, 0.003711, 0.114695])  # given for 1 rad/s
    rates = [float(run[f"{c}_rate"].sel(body=b)[0]) for b, c in (name.split(".") for name in names)]
    assert rates == pytest.approx(speeds, abs=1e-5)
    published = [0.20679836, 0.11307265, 0.89423672, 0.30867999, 0.12469827, -1.64029214]
    reached = [float(run[c].sel(body=b)[-1]) for b, c in (name.split(".") for name in names)]
    assert float(run["time"][-1]) == 1.0
    assert reached == pytest.approx(published, abs=6e-9)


DRIVEN = """
name: driven arm
ground: {points: {O: [0, 0]}}
bodies: {arm: {bar: 1.0, mass: 3}}
joints: {J: {kind: revolute, between: [ground.O, arm.start]}}
drives: {d: %s}
start: {arm: 30 deg}
"""


@pytest.mark.parametrize("drive", ["{kind: rate, of: arm, motion: {kind: sine, amplitude: 2, frequency: 3}}",
                                   "{kind: rate, of: J, motion: {kind: sine, amplitude: 2, frequency: 3}}",
                                   "{kind: angle, of: arm, motion: {kind: sine, amplitude: -0.6666666666666666, "
                                   "frequency: 3, phase: 90 deg, offset: 1.1902654422664323}}"])  # fmt: skip
def test_a_rate_or_an_angle_may_be_driven(drive):
    """angle' = 2 sin 3t from 30 degrees, and the torque J angle'' + m g l/2 cos angle that it needs."""
    run = simulate(loads(DRIVEN % drive), 3.0, TIGHT)
    t = run["time"].values
    angle = math.radians(30) + 2 / 3 * (1 - np.cos(3 * t))
    assert run["angle"].sel(body="arm").values == pytest.approx(angle, abs=1e-9)
    torque = 3 / 3 * 6 * np.cos(3 * t) + 3 * 9.81 * 0.5 * np.cos(angle)
    assert run["effort"].sel(drive="d").values == pytest.approx(torque, abs=1e-7)
    assert float(run["peak_effort"][0]) >= np.abs(torque).max() - 1e-4
    change = run["kinetic"] + run["potential"] - run["work"]
    assert np.ptp(change.values) < 1e-6 and np.ptp(run["work"].values) > 1


def test_a_function_that_cannot_be_traced_is_sampled_and_said(tmp_path):
    def reference(t):
        return 0.5 * math.sin(2.0 * float(t))  # float() of a recording value is refused

    mechanism = loads(DRIVEN % "{kind: angle, of: arm, motion: 0}")
    driven = mechanism.replace(drives={"d": {"kind": "angle", "of": "arm", "motion": reference}}, start={"arm": 0.0})
    run = simulate(driven, 2.0, TIGHT)
    t = run["time"].values
    assert run["angle"].values[:, 0] == pytest.approx(0.5 * np.sin(2 * t), abs=1e-8)
    assert run["angle_rate"].values[:, 0] == pytest.approx(np.cos(2 * t), abs=1e-5)
    assert "d: its Python function cannot be traced; sampled at" in run.attrs["notes"]
    assert "no stated error" not in run.attrs["notes"]


def test_a_sampled_function_that_jumps_says_that_stated_errors_do_not_know_it():
    """A torque that ends at 0.3 s: 1.1099967 +- 1e-12 rad for 1.11; written so that it can be traced it is right."""
    text = """
gravity: [0, 0]
ground: {points: {O: [0, 0]}}
bodies: {disc: {mass: 1, inertia: 0.5}}
joints: {J: {kind: revolute, between: [ground.O, disc.centre]}}
"""

    def end(torque):
        run = simulate(loads(text).replace(forces={"t": {"kind": "torque", "on": "disc", "torque": torque}}), 2.0)
        return float(run["angle"][-1, 0]), run.attrs["notes"]

    angle, notes = end(lambda t: 1.0 if float(t) < 0.3 else 0.0)
    assert 1e-7 < abs(angle - 1.11) < 1e-5
    assert "no stated error has that in it; with the engine's `where` in place of `if`" in notes
    angle, notes = end(lambda t: where(t < 0.3, 1.0, 0.0))
    assert angle == pytest.approx(1.11, abs=1e-11) and "stated error" not in notes


def test_dissipated_energy_is_work_of_the_damper():
    text = FLOATING.replace("stiffness: 4.0", "stiffness: 4.0, damping: 0.3")
    run = simulate(loads(text), 5.0, TIGHT)
    energy = (run["kinetic"] + run["potential"]).values
    assert energy[-1] < energy[0] - 0.1 and (np.diff(run["work"].values) <= 1e-12).all()
    assert energy - energy[0] == pytest.approx(run["work"].values, abs=1e-8)


def test_a_spring_of_no_free_length_may_close():
    """A mass on a zero-length spring passes through its anchor: x = cos(w t)."""
    text = """
gravity: [0, 0]
ground: {points: {O: [0, 0]}}
bodies: {ball: {mass: 2, inertia: 1}}
forces: {s: {kind: spring, between: [ground.O, ball.centre], stiffness: 8}}
start: {ball.x: 1, ball.y: 0}
"""
    run = simulate(loads(text), 3.0, TIGHT)
    assert run["x"].values[:, 0] == pytest.approx(np.cos(2 * run["time"].values), abs=1e-9)


def test_dense_output_is_exact_for_quintics_and_cubics():
    poly = np.polynomial.Polynomial([1.0, -2.0, 0.5, 3.0, -1.0, 0.25])
    ends = [[poly(t), poly.deriv()(t), poly.deriv(2)(t)] for t in (0.5, 1.7)]
    cubic = np.polynomial.Polynomial([1.0, -2.0, 0.5, 3.0])
    sides = [[cubic(t), cubic.deriv()(t)] for t in (0.5, 1.7)]
    for u in (0.0, 0.3, 1.0):
        value, rate = dense(u, 1.2, *ends)
        assert (value, rate) == pytest.approx((poly(0.5 + 1.2 * u), poly.deriv()(0.5 + 1.2 * u)), rel=1e-12)
        assert hermite(u, 1.2, *sides) == pytest.approx(cubic(0.5 + 1.2 * u), rel=1e-12)
