"""Mechanics written directly on the engine, against closed forms and an independent integrator."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from jointplay.engine import (
    Factor,
    Pair,
    assembly,
    branch,
    cos,
    derivative,
    dot,
    due,
    emit,
    loop,
    number,
    peak,
    sin,
    sqrt,
    stop,
    subroutine,
    total,
    trace,
)
from jointplay.run import Run
from tests.helpers import differences, outcome, run_to_end

GRAVITY = 9.81


# -- impacts, located exactly inside a step
def drop(s, p):
    """A ball on the ground: flies on a parabola and keeps the part e of its speed at each impact."""

    def flight(y, v, left):
        fall = (v + sqrt(v * v + 2 * p.g * y)) / p.g

        def impact():
            after = p.e * (p.g * fall - v)
            emit(
                "impacts",
                t=p.h * number(s.step + 1) - (left - fall),
                speed=p.g * fall - v,
                rise=after * after / (2 * p.g),
            )
            total("lost", 0.5 * (p.g * fall - v) * (p.g * fall - v) - 0.5 * after * after)
            peak("fastest", p.g * fall - v, p.h * number(s.step))
            return [0.0, after, left - fall]

        hit = fall < left
        y, v, left = branch(hit, impact, lambda: [y + left * (v - 0.5 * p.g * left), v - p.g * left, 0.0])
        return [y, v, left], hit

    [y, v, _], unfinished = loop([s.y, s.v, p.h], flight, 60)
    stop(unfinished | (p.h * number(s.step + 1) >= p.until))
    return {"y": y, "v": v}


@pytest.mark.parametrize("e", [1.0, 0.9, 0.5])
@pytest.mark.parametrize("h", [0.3, 0.01])
def test_a_dropped_ball(e, h):
    start, fall = 2.0, np.sqrt(4.0 / GRAVITY)
    rest = fall * (1 + 2 * sum(e**k for k in range(1, 12)))  # the twelfth impact
    parameters = {"g": GRAVITY, "e": e, "h": h, "until": rest - 1e-3}
    run = run_to_end(trace(drop, {"y": start, "v": 0.0}, parameters))
    hits = {n: x[:11] for n, x in run.rows("impacts").items()}
    k = np.arange(11)
    times = fall * (1 + 2 * np.array([sum(e**j for j in range(1, n + 1)) for n in k]))
    np.testing.assert_allclose(hits["t"], times, rtol=1e-12)
    np.testing.assert_allclose(hits["speed"], GRAVITY * fall * e**k, rtol=1e-11)
    np.testing.assert_allclose(hits["rise"], start * e ** (2 * k + 2), rtol=1e-11)
    energy = GRAVITY * run["y"][0] + 0.5 * run["v"][0] ** 2
    np.testing.assert_allclose(energy + run["lost"][0], GRAVITY * start, rtol=1e-12)
    np.testing.assert_allclose(run["fastest"][0], GRAVITY * fall, rtol=1e-11)
    assert run.status == ["done"]


def circle(s, p):
    """A journal in its bearing without gravity: straight lines between smooth impacts on a unit circle."""
    r, v = Pair(s.x, s.y), Pair(s.vx, s.vy)

    def flight(x, y, vx, vy, left):
        r, v = Pair(x, y), Pair(vx, vy)
        speed, along = v.dot(v), r.dot(v)
        fly = (sqrt(along * along + speed * (1 - r.dot(r))) - along) / speed

        def impact():
            n = r + v * fly
            n = n * (1 / abs(n))
            after = v - n * ((1 + p.e) * v.dot(n))
            emit("impacts", t=p.h * number(s.step + 1) - (left - fly), x=n.x, y=n.y, energy=0.5 * after.dot(after))
            return [n.x * p.inside, n.y * p.inside, after.x, after.y, left - fly]

        hit = fly < left
        end = r + v * left
        return branch(hit, impact, lambda: [end.x, end.y, v.x, v.y, 0.0]), hit

    state, _ = loop([r.x, r.y, v.x, v.y, p.h], flight, 20)
    return dict(zip(("x", "y", "vx", "vy"), state[:4], strict=True))


@pytest.mark.parametrize("e", [1.0, 0.8])
def test_a_journal_in_its_bearing(e):
    angle = 0.7  # of the first path to the normal at its start
    start = {"x": -1.0 + 1e-15, "y": 0.0, "vx": np.cos(angle), "vy": np.sin(angle)}
    made = trace(circle, start, {"h": 0.05, "e": e, "inside": 1 - 1e-15})
    hits = run_to_end(made, steps=250).rows("impacts")
    normal, along = np.cos(angle) * e ** np.arange(9), np.sin(angle)
    chord = 2 * normal / np.hypot(normal, along)
    times = np.cumsum(chord / np.hypot(normal, along))
    turns = np.pi + np.cumsum(np.pi - 2 * np.arctan2(along, normal)) * -1
    assert len(hits["t"]) >= 5
    count = min(len(hits["t"]), 9)
    np.testing.assert_allclose(hits["t"][:count], times[:count], rtol=1e-12)
    np.testing.assert_allclose(hits["x"][:count], np.cos(turns)[:count], atol=1e-12)
    np.testing.assert_allclose(hits["y"][:count], np.sin(turns)[:count], atol=1e-12)
    energies = 0.5 * (along**2 + (e * normal) ** 2)
    np.testing.assert_allclose(hits["energy"][:count], energies[:count], rtol=1e-12)


# -- a double pendulum of two uniform bars, angles from the horizontal
def centres(a, b):
    elbow = Pair(cos(a), sin(a))
    return [*(elbow * 0.5).parts, *(elbow + Pair(cos(b), sin(b)) * 0.5).parts]


def bars(a, b, u, w):
    """Accelerations of both angles: every term follows from the centres of mass by differentiation."""
    q, rate, points = [a, b], [u, w], centres(a, b)
    rows = derivative(points, q)
    speeds = [dot(row, rate) for row in rows]
    turning = [dot(row, rate) for row in derivative(speeds, q)]  # what is left of the acceleration without that of q
    columns = list(zip(*rows, strict=True))
    mass = [[dot(c, d) + (1 / 12 if c is d else 0) for d in columns] for c in columns]
    force = [-dot(c, [turning[0], turning[1] + GRAVITY, turning[2], turning[3] + GRAVITY]) for c in columns]
    return Factor(mass).solve(force)


def pendulum(s, p):
    @subroutine
    def rates(a, b, u, w):
        return [u, w, *bars(a, b, u, w)]

    names, h = ["a", "b", "u", "w"], p.h
    y = [s[n] for n in names]
    k1 = rates(*y)
    k2 = rates(*(x + 0.5 * h * k for x, k in zip(y, k1, strict=True)))
    k3 = rates(*(x + 0.5 * h * k for x, k in zip(y, k2, strict=True)))
    k4 = rates(*(x + h * k for x, k in zip(y, k3, strict=True)))
    new = [x + h / 6 * (a + 2 * (b + c) + d) for x, a, b, c, d in zip(y, k1, k2, k3, k4, strict=True)]
    points = centres(s.a, s.b)
    speeds = [dot(row, [s.u, s.w]) for row in derivative(points, [s.a, s.b])]
    energy = 0.5 * dot(speeds, speeds) + (s.u * s.u + s.w * s.w) / 24 + GRAVITY * (points[1] + points[3])
    branch(
        due(s.step, p.every),
        lambda: emit("samples", energy=energy, **dict(zip(names, y, strict=True))),
        lambda: None,
    )
    stop(s.step >= p.last)
    return dict(zip(names, new, strict=True))


START = {"a": np.radians(30.0), "b": 0.0, "u": 0.0, "w": 0.0}
PENDULUM = trace(pendulum, START, {"h": 1e-3, "every": 100, "last": 3000})


def textbook(t, y):
    """The equations of motion in angles from the vertical, as books print them."""
    a, b, u, w = y[0] + np.pi / 2, y[1] + np.pi / 2, y[2], y[3]
    c, s = np.cos(a - b), np.sin(a - b)
    mass = np.array([[4 / 3, c / 2], [c / 2, 1 / 3]])
    force = [-s / 2 * w**2 - 1.5 * GRAVITY * np.sin(a), s / 2 * u**2 - 0.5 * GRAVITY * np.sin(b)]
    return [u, w, *np.linalg.solve(mass, force)]


@pytest.fixture(scope="module")
def reference():
    times = np.linspace(0, 3, 31)
    return solve_ivp(textbook, (0, 3), list(START.values()), "DOP853", times, rtol=1e-12, atol=1e-12).y


def test_a_double_pendulum_agrees_with_another_integrator(reference):
    run = Run(PENDULUM, {"h": 2.5e-4, "every": 400, "last": 12000})
    run.advance()
    rows = run.rows("samples")
    found = np.array([rows[n] for n in "abuw"])
    assert found.shape == (4, 31)
    np.testing.assert_allclose(found, reference, rtol=0, atol=1e-8)
    np.testing.assert_allclose(rows["energy"], rows["energy"][0], rtol=1e-10)


def test_the_method_has_order_four(reference):
    errors = []
    for steps in (50, 100, 200, 400):  # of half a second
        run = run_to_end(PENDULUM, {"h": 0.5 / steps, "every": steps, "last": steps})
        end = [run.rows("samples")[n][-1] for n in "abuw"]
        errors.append(np.linalg.norm(end - reference[:, 5]))
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert (abs(orders - 4) < 0.12).all(), orders


def test_the_right_hand_side_is_one_subroutine_and_all_modes_agree():
    names = [line for line in assembly(PENDULUM).splitlines() if line.startswith("define internal")]
    assert len(names) == 2  # the right-hand side, and the reduction of large angles
    runs = [run_to_end(PENDULUM, steps=3, eager=eager, fma=False) for eager in (True, False)]
    assert differences(outcome(runs[0]), outcome(runs[1])) == []
    lanes = run_to_end(PENDULUM, {"h": [1e-3, 2e-3]}, steps=50, lanes=2)
    for lane, h in enumerate([1e-3, 2e-3]):
        assert differences(outcome(lanes, lane), outcome(run_to_end(PENDULUM, {"h": h}, steps=50))) == []
