"""Systems whose exponents are known: by them the analyses are tested, and can be tried out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import tau

from ..engine import SOLVER_FAILED, branch, cos, exp, minimum, sin, solve, sqrt, stop, where
from ..engine.program import Names
from ..engine.typing import Scalar, Vector
from .things import Flow, Map, Scheme

Lanes = int | Sequence[Mapping[str, float]]


def logistic(r: float = 4.0, x: float = 0.3, lanes: Lanes = 1) -> Map:
    """The logistic map x -> r x (1 - x); at r = 4 its exponent is ln 2."""
    return Map(lambda s, p: {"x": p.r * s.x * (1.0 - s.x)}, {"x": x}, {"r": r}, lanes)


def henon(a: float = 1.4, b: float = 0.3, lanes: Lanes = 1) -> Map:
    """The map of Henon; its exponent is 0.419, the sum of both ln b."""
    starts, numbers = {"x": 0.1, "y": 0.1}, {"a": a, "b": b}
    return Map(lambda s, p: {"x": 1.0 - p.a * s.x * s.x + s.y, "y": p.b * s.x}, starts, numbers, lanes)


def lorenz(sigma: float = 10.0, rho: float = 28.0, beta: float = 8 / 3, step: float = 2e-3, lanes: Lanes = 1) -> Flow:
    """The equations of Lorenz; exponents 0.9056, 0, -14.572, their sum -(sigma + 1 + beta)."""

    def rates(t: Scalar, s: Names, p: Names) -> dict[str, Scalar]:
        return {"x": p.sigma * (s.y - s.x), "y": s.x * (p.rho - s.z) - s.y, "z": s.x * s.y - p.beta * s.z}

    return Flow(rates, {"x": 1.0, "y": 1.0, "z": 20.0}, {"sigma": sigma, "rho": rho, "beta": beta}, step, lanes)


def roessler(a: float = 0.2, b: float = 0.2, c: float = 5.7, step: float = 1e-2, lanes: Lanes = 1) -> Flow:
    """The equations of Roessler; largest exponent 0.0714."""

    def rates(t: Scalar, s: Names, p: Names) -> dict[str, Scalar]:
        return {"x": -s.y - s.z, "y": s.x + p.a * s.y, "z": p.b + s.z * (s.x - p.c)}

    return Flow(rates, {"x": 1.0, "y": 1.0, "z": 0.0}, {"a": a, "b": b, "c": c}, step, lanes)


def duffing(
    damping: float = 0.3, force: float = 0.5, frequency: float = 1.2, steps: int = 500, lanes: Lanes = 1
) -> Flow:
    """x'' + damping x' - x + x^3 = force cos(frequency t), with `steps` steps in a period of the force."""

    def rates(t: Scalar, s: Names, p: Names) -> dict[str, Scalar]:
        return {"x": s.v, "v": p.force * cos(p.frequency * t) - p.damping * s.v + s.x - s.x * s.x * s.x}

    numbers = {"damping": damping, "force": force, "frequency": frequency}
    return Flow(rates, {"x": 1.0, "v": 0.0}, numbers, tau / frequency / steps, lanes)


def double_pendulum(angle: float = 2.0, step: float = 2e-3, lanes: Lanes = 1) -> Flow:
    """Two equal masses on massless rods of 1 m, let go with both rods at an angle (rad) to the plumb."""

    def rates(t: Scalar, s: Names, p: Names) -> dict[str, Scalar]:
        c, n = cos(s.a - s.b), sin(s.a - s.b)
        f = -2.0 * p.g * sin(s.a) - n * s.w * s.w
        g = -p.g * sin(s.b) + n * s.v * s.v
        # 2 a'' + c b'' = f, c a'' + b'' = g
        d = 2.0 - c * c
        return {"a": s.v, "b": s.w, "v": (f - c * g) / d, "w": (2.0 * g - c * f) / d}

    return Flow(rates, {"a": angle, "b": angle, "v": 0.0, "w": 0.0}, {"g": 9.81}, step, lanes)


def impact_oscillator(
    frequency: float = 2.8,
    restitution: float = 0.8,
    gap: float = 0.0,
    damping: float = 0.0,
    steps: int = 64,
    lanes: Lanes = 1,
) -> Scheme:
    """A mass on a spring, x'' + 2 damping x' + x = cos(frequency t), that strikes a wall at x = gap from below.

    A step, of which there are `steps` in a period of the force, is the closed solution, with impacts (at most three)
    located by Newton's method: it has no error but round-off. (Shaw and Holmes 1983.)
    """
    numbers = {"frequency": frequency, "restitution": restitution, "gap": gap, "damping": damping}
    return Scheme(_strike, {"x": gap - 0.5, "v": 0.0}, numbers, tau / frequency / steps, lanes)


def _strike(t: Scalar, h: Scalar, s: Names, p: Names) -> dict[str, Scalar]:
    """A step of the impact oscillator: flight, and impacts on the way."""

    def impact(t: Scalar, x: Scalar, v: Scalar, h: Scalar, end: Scalar) -> Vector:
        at, _ = solve(lambda u: _fly(t, x, v, u, p)[0] - p.gap, end, iterations=60, near=1e-14)
        speed = -p.restitution * _fly(t, x, v, at, p)[1]
        return [t + at, p.gap + 0.0 * at, speed, h - at]

    x, v, left = s.x, s.v, h
    for _ in range(3):
        _, fast = _fly(t, x, v, left, p)
        over = (v > 0.0) & (fast < 0.0)  # it turns back on the way, maybe beyond the wall
        top = branch(over, lambda t=t, x=x, v=v, h=left: _turn(t, x, v, h, p), lambda h=left: h)
        beyond = (_fly(t, x, v, top, p)[0] > p.gap) & (x <= p.gap + 1e-12)
        first = where(v > 0.0, minimum((p.gap - x) / where(v > 0.0, v, 1.0), top), top)
        t, x, v, left = branch(
            beyond,
            lambda t=t, x=x, v=v, h=left, first=first: impact(t, x, v, h, first),
            lambda t=t, x=x, v=v, h=left: [t, x, v, h],
        )
    x, v = _fly(t, x, v, left, p)
    stop(x > p.gap + 1e-9, SOLVER_FAILED)
    return {"x": x, "v": v}


def _turn(t: Scalar, x: Scalar, v: Scalar, h: Scalar, p: Names) -> Scalar:
    """When the mass turns back."""
    at, _ = solve(lambda u: _fly(t, x, v, u, p)[1], 0.5 * h, iterations=60, near=1e-14)
    return at


def _fly(t: Scalar, x: Scalar, v: Scalar, h: Scalar, p: Names) -> tuple[Scalar, Scalar]:
    """Place and speed after a time h without the wall."""
    w, z = p.frequency, p.damping
    size = (1.0 - w * w) * (1.0 - w * w) + 4.0 * z * z * w * w
    a, b = (1.0 - w * w) / size, 2.0 * z * w / size
    now, then = w * t, w * (t + h)
    y, u = x - a * cos(now) - b * sin(now), v + w * (a * sin(now) - b * cos(now))
    turn = sqrt(1.0 - z * z)
    c, n, fade = cos(turn * h), sin(turn * h), exp(-z * h)
    place = fade * (y * c + (u + z * y) / turn * n)
    speed = fade * (u * c - (z * u + y) / turn * n)
    return place + a * cos(then) + b * sin(then), speed - w * (a * sin(then) - b * cos(then))
