"""Adaptive Runge-Kutta 5(4) (Dormand and Prince 1980), projected on the constraints of position and velocity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..engine.text import (
    DONE,
    SINGULAR_PIVOT,
    STEP_TOO_SMALL,
    branch,
    emit,
    loop,
    memory,
    shared_max,
    stop,
    subroutine,
    whole,
)
from ..engine.values import number, where
from ..numerics.choice import maximum, minimum
from ..numerics.functions import pow
from ..numerics.linalg import dot
from ..numerics.signals import peak, total
from .dynamics import Equations

NODES = (0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1)
STAGES: tuple[tuple[float, ...], ...] = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
ERROR = (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
SAMPLES = 8  # rows written in one step at most; the segment is held until all are out
PIVOT = 1e-10


def dense(u: Any, h: Any, first: Sequence[Any], last: Sequence[Any]) -> tuple[Any, Any]:
    """Value and rate of the quintic through value, rate and acceleration at both ends; u from 0 to 1."""
    (x0, v0, a0), (x1, v1, a1) = first, last
    v0, v1, a0, a1 = v0 * h, v1 * h, a0 * h * h, a1 * h * h
    rise = x1 - x0 - v0 - 0.5 * a0
    turn, bend = v1 - v0 - a0, a1 - a0
    c3, c4, c5 = 10 * rise - 4 * turn + 0.5 * bend, -15 * rise + 7 * turn - bend, 6 * rise - 3 * turn + 0.5 * bend
    value = x0 + u * (v0 + u * (0.5 * a0 + u * (c3 + u * (c4 + u * c5))))
    rate = (v0 + u * (a0 + u * (3 * c3 + u * (4 * c4 + u * 5 * c5)))) / h
    return value, rate


def stepper(make: Callable[[Any], Equations]) -> Callable[..., dict[str, Any]]:
    """The text of one attempted step, for the equations that `make` builds from the parameters."""

    def step(s: Any, p: Any) -> dict[str, Any]:
        equations = make(p)
        names, n = equations.coordinates, len(equations.coordinates)
        q, v, a = ([s[name + end] for name in names] for end in ("", ".rate", ".acceleration"))

        @subroutine
        def accelerate(t: Any, *y: Any) -> list[Any]:
            found, _, pivot = equations.accelerations(list(y[:n]), list(y[n:]), t)
            return [*found, pivot]

        @subroutine
        def project(t: Any, *y: Any) -> list[Any]:
            q, v = list(y[:n]), list(y[n:])
            for _ in range(2):
                rows = equations.rows(q, v, t)
                change, _, _ = equations.spread(rows, [-x for x in rows.residual])
                q = [x + d for x, d in zip(q, change, strict=True)]
            rows = equations.rows(q, v, t)
            change, _, _ = equations.spread(rows, [w - dot(row, v) for w, row in zip(rows.speed, rows.B, strict=True)])
            v = [x + d for x, d in zip(v, change, strict=True)]
            drift: Any = 0.0
            for x in equations.rows(q, v, t).residual:
                drift = maximum(drift, abs(x))
            return [*q, *v, drift]

        held = [s.t0, s.h0, *(s[f"{name}.{part}"] for name in names for part in ("x0", "v0", "a0"))]

        def attempt() -> list[Any]:
            y, slopes = [*q, *v], [[*v, *a]]
            pivot: Any = 1.0
            for node, weights in zip(NODES[1:], STAGES[1:], strict=True):
                at = [x + s.h * dot(weights, [k[i] for k in slopes]) for i, x in enumerate(y)]
                *more, small = accelerate(s.t + node * s.h, *at)
                slopes.append([*at[n:], *more])
                pivot = minimum(pivot, small)
            error: Any = 0.0
            for i, x in enumerate(y):
                scale = p["stepper.atol"] + p["stepper.rtol"] * maximum(abs(x), abs(at[i]))
                error = maximum(error, abs(s.h * dot(ERROR, [k[i] for k in slopes])) / scale)
            error = shared_max(error)
            good = error <= 1.0
            factor = minimum(maximum(0.9 * pow(maximum(error, 1e-10), -0.2), 0.2), 5.0)
            h = minimum(s.h * factor, p["stepper.max_step"])
            stop(pivot < PIVOT, SINGULAR_PIVOT)
            stop(h < 1e-13 * maximum(abs(s.t), 1.0), STEP_TOO_SMALL)

            def take() -> list[Any]:
                *moved, drift = project(s.t + s.h, *at)
                *end, _ = accelerate(s.t + s.h, *moved)
                total("steps.accepted", 1.0)
                peak("drift", drift, s.t + s.h)
                begin = [x for i in range(n) for x in (q[i], v[i], a[i])]
                return [s.t + s.h, *moved, *end, s.t, s.h, *begin]

            return [h, *branch(good, take, lambda: [s.t, *q, *v, *a, *held])]

        late = memory("samples.late", False)
        keep = [s.h, s.t, *q, *v, *a, *held]
        h, t, *rest = branch(late.value, lambda: keep, attempt)
        q1, v1, a1 = rest[:n], rest[n : 2 * n], rest[2 * n : 3 * n]
        t0, h0, *first = rest[3 * n :]

        def sample(index: Any) -> tuple[list[Any], Any]:
            time = number(index) * p["stepper.interval"]
            ready = (time <= t) & (time <= p["stepper.until"])

            def write() -> None:
                row, u = {"time": time}, (time - t0) / h0
                for i, name in enumerate(names):
                    row[name], row[f"{name}.rate"] = dense(u, h0, first[3 * i : 3 * i + 3], (q1[i], v1[i], a1[i]))
                emit("samples", **row)

            branch(ready, write, lambda: None)
            return [index + where(ready, whole(1), 0)], ready

        following = memory("samples.following", 0)
        [index], unfinished = loop([following.value], sample, SAMPLES)
        following.value, late.value = index, unfinished
        stop((t >= p["stepper.until"]) & ~unfinished, DONE)
        new = {"t": t, "h": h, "t0": t0, "h0": h0}
        for i, name in enumerate(names):
            new |= {name: q1[i], f"{name}.rate": v1[i], f"{name}.acceleration": a1[i]}
            new |= {f"{name}.{part}": x for part, x in zip(("x0", "v0", "a0"), first[3 * i :], strict=False)}
        return new

    return step
