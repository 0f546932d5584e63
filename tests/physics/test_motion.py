"""Ideal mechanisms in motion by the adaptive Runge-Kutta text: energy, momentum, textbook integrations."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from jointplay.engine import trace
from jointplay.model import library, loads
from jointplay.physics.dynamics import Equations
from jointplay.physics.runge_kutta import dense, stepper
from jointplay.run import Run
from jointplay.statics import assemble
from jointplay.system import System

END = {"x0": "", "v0": ".rate", "a0": ".acceleration"}


def moved(mechanism, until, rate=None, rtol=1e-10, interval=0.05, lanes=1, **numbers):
    """A run to the end from the assembled start; `rate` is (coordinate, value), else with least kinetic energy."""
    system = System(mechanism)
    q = assemble(system)
    here = system.evaluate(q)
    weight = np.linalg.inv(here.M) @ here.B.T
    v = weight @ np.linalg.lstsq(here.B @ weight, here.speed, rcond=None)[0]
    if rate is not None:
        row = [c == rate[0] for c in system.coordinates]
        v = np.linalg.lstsq(np.vstack([here.B, row]), np.append(here.speed, rate[1]), rcond=None)[0]
    a, _ = system.evaluate(q, v).accelerations()
    names = system.coordinates
    state = {"t": 0.0, "h": 1e-4, "t0": 0.0, "h0": 1.0}
    for name, *values in zip(names, q, v, a, strict=True):
        for (part, end), x in zip(END.items(), values, strict=True):
            state |= {name + end: float(x), f"{name}.{part}": float(x)}
    given = {address: x for address, x in mechanism.addresses().items() if x != 0 and not address.startswith("start.")}
    given |= {"stepper.rtol": rtol, "stepper.atol": 1e-12, "stepper.max_step": 0.1, "stepper.interval": interval}
    tables = mechanism.tables()

    def make(p):
        return Equations(mechanism, lambda n: p[n] if n in tables or mechanism.value(n) != 0 else 0)

    run = Run(trace(stepper(make), state, given | {"stepper.until": until}), numbers, lanes=lanes)
    run.advance()
    return run


def energies(mechanism, rows):
    total = 0.0
    for name, body in mechanism.bodies.items():
        speed2 = rows[f"{name}.x.rate"] ** 2 + rows[f"{name}.y.rate"] ** 2
        total = total + 0.5 * body.mass * speed2 + 0.5 * body.inertia * rows[f"{name}.angle.rate"] ** 2
        total = total - body.mass * (
            mechanism.gravity[0] * rows[f"{name}.x"] + mechanism.gravity[1] * rows[f"{name}.y"]
        )
    return total


def test_crank_rocker_keeps_its_energy():
    mechanism = library.crank_rocker_2016()
    run = moved(mechanism, 10.0, rate=("crank.angle", 10.0), rtol=1e-11)
    energy = energies(mechanism, run.rows("samples"))
    assert run.status == ["done"] and len(energy) == 201
    assert energy[0] == pytest.approx(132.354, abs=5e-4)
    assert np.abs(energy / energy[0] - 1).max() < 1e-9
    assert run["drift"] < 1e-13


def test_double_pendulum_follows_the_textbook():
    """Equal unit bars released at rest from 30 and 0 degrees, against the usual two-angle equations."""
    mechanism = library.pendulum(2)
    first, second = mechanism.bodies
    mechanism = mechanism.with_({f"start.{first}": math.radians(30), f"start.{second}": 0.0})
    assert all(b.mass == 1 and b.length == 1 for b in mechanism.bodies.values())
    rows = moved(mechanism, 3.0, rtol=1e-11).rows("samples")

    def textbook(t, y):
        a, b, va, vb = y
        c, s = math.cos(a - b), math.sin(a - b)
        matrix = [[4 / 3, c / 2], [c / 2, 1 / 3]]
        rhs = [-0.5 * vb**2 * s - 1.5 * 9.81 * math.cos(a), 0.5 * va**2 * s - 0.5 * 9.81 * math.cos(b)]
        return [va, vb, *np.linalg.solve(matrix, rhs)]

    start = [math.radians(30), 0.0, 0.0, 0.0]
    right = solve_ivp(textbook, (0, 3), start, "DOP853", rtol=1e-13, atol=1e-13, t_eval=rows["time"])
    assert rows[f"{first}.angle"] == pytest.approx(right.y[0], abs=1e-8)
    assert rows[f"{second}.angle"] == pytest.approx(right.y[1], abs=1e-8)


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
start: {a: 0.3, b: 1.9, a.x: 0, a.y: 0}
"""


def test_a_floating_pair_keeps_its_momentum():
    mechanism = loads(FLOATING)
    run = moved(mechanism, 5.0, rate=("a.angle", 2.0))
    rows = run.rows("samples")
    for axis in "xy":
        momentum = sum(body.mass * rows[f"{name}.{axis}.rate"] for name, body in mechanism.bodies.items())
        assert np.ptp(momentum) < 1e-11
    turning = sum(
        body.mass * (rows[f"{n}.x"] * rows[f"{n}.y.rate"] - rows[f"{n}.y"] * rows[f"{n}.x.rate"])
        + body.inertia * rows[f"{n}.angle.rate"]
        for n, body in mechanism.bodies.items()
    )
    assert np.ptp(turning) < 1e-9


def test_driven_grigore_figure_5_reaches_its_published_position():
    """s1: driven at 5 rad/s from the equilibrium, least kinetic energy at the start, q at 1 s (bilateral model)."""
    mechanism = library.grigore_figure_5().with_({"O2x.frequency": 5.0, "O2y.frequency": 5.0})
    run = moved(mechanism, 1.0, interval=1.0)
    rows, names = run.rows("samples"), System(mechanism).coordinates
    speeds = 5 * np.array([-0.081102, 0.038771, -0.071450, -0.013848, 0.003711, 0.114695])  # given for 1 rad/s
    assert [rows[f"{n}.rate"][0] for n in names] == pytest.approx(speeds, abs=1e-5)
    published = [0.20679836, 0.11307265, 0.89423672, 0.30867999, 0.12469827, -1.64029214]
    assert rows["time"][-1] == 1.0
    # the start is the equilibrium as printed, to eight digits; the loose joint then swings about the true one
    assert [rows[n][-1] for n in names] == pytest.approx(published, abs=2e-6)


def test_lanes_give_the_same_bits_as_single_runs():
    mechanism = library.pendulum(2)
    body = next(iter(mechanism.bodies))
    masses = [1.0, 1.5, 2.0, 0.5]
    together = moved(mechanism, 1.0, lanes=4, **{f"{body}.mass": masses})
    for lane, mass in enumerate(masses):
        alone = moved(mechanism, 1.0, **{f"{body}.mass": mass})
        assert together[f"{body}.angle"][lane] == alone[f"{body}.angle"][0]


def test_dense_output_is_exact_for_quintics():
    poly = np.polynomial.Polynomial([1.0, -2.0, 0.5, 3.0, -1.0, 0.25])
    ends = [[poly(t), poly.deriv()(t), poly.deriv(2)(t)] for t in (0.5, 1.7)]
    for u in (0.0, 0.3, 1.0):
        value, rate = dense(u, 1.2, *ends)
        assert (value, rate) == pytest.approx((poly(0.5 + 1.2 * u), poly.deriv()(0.5 + 1.2 * u)), rel=1e-12)
