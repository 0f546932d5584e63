"""Runge-Kutta 5(4) (Dormand and Prince 1980), adaptive or of fixed step, and the classical formula of order 4,
projected on position and velocity."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..engine.text import (
    DONE,
    SINGULAR_PIVOT,
    SOLVER_FAILED,
    STEP_TOO_SMALL,
    branch,
    loop,
    memory,
    shared_max,
    stop,
    whole,
)
from ..engine.values import bits, from_bits, number, where
from ..numerics.choice import maximum, minimum
from ..numerics.functions import pow
from ..numerics.linalg import dot
from ..numerics.signals import peak
from .compliance import Compliance
from .control import Command
from .dynamics import Equations
from .motion import MOMENTA, Parts
from .permanent import watch

# times and weights of the stages by order; the last line makes the step
NODES: dict[int, tuple[float, ...]] = {4: (0, 1 / 2, 1 / 2, 1, 1), 5: (0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1)}
CLASSICAL: tuple[tuple[float, ...], ...] = ((), (1 / 2,), (0, 1 / 2), (0, 0, 1), (1 / 6, 1 / 3, 1 / 3, 1 / 6))
PAIR: tuple[tuple[float, ...], ...] = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
STAGES = {4: CLASSICAL, 5: PAIR}
ERROR = (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
SAMPLES = 8  # rows written in one step at most; the segment is held until all are out
HOPELESS = 1e6  # the error of a step that is no number
OPEN = 1e-9  # N m: more left open by the friction of pins is no solution


def stepper(
    make: Callable[[Any], Equations],
    keys: Sequence[str],
    compliance: Callable[[Equations], Compliance],
    fixed: int = 0,
    strides: Mapping[str, int] | None = None,
) -> Callable[..., dict[str, Any]]:
    """The text of one attempted step, for the equations that `make` builds from the parameters.

    keys: the names of the state (`motion.initial`); fixed: if not 0, every step has the length `stepper.step`, is of
    this order and is taken, else the error estimate of the pair decides; strides: steps between samples of the control
    loop, by name, of which there are none in adaptive steps.
    """
    nodes, stages = NODES[fixed or 5], STAGES[fixed or 5]

    def step(s: Any, p: Any) -> dict[str, Any]:
        equations = make(p)
        parts = Parts(equations, compliance(equations))
        now = {key: s[key] for key in keys}
        taken, late = memory("steps.taken", 0), memory("samples.late", False)
        momenta = [p[f"stepper.momentum.{part}"] for part in MOMENTA] if parts.isolated else []

        if parts.loop and parts.loop.digital:
            parts.held = held(parts, now, taken.value, p["stepper.step"], late.value, strides or {})
        if parts.pins.rough or parts.compliance.labels or parts.loop:
            now |= first_forces(parts, now)  # the accelerations given at time 0 know nothing of these

        def attempt() -> list[Any]:
            y, flags = parts.vector(now), parts.flags(now)
            slopes = [[now[f"{name}{end}"] for end in (".rate", ".acceleration") for name in parts.names]]
            slopes[0] += parts.laws(now, ".rate")
            powers = [[now[f"{name}.rate"] for name in parts.integrals]]
            h = p["stepper.step"] if fixed else s.h
            after = number(taken.value + 1) * h if fixed else s.t + h
            weak: Any = 0.0
            for node, weights in zip(nodes[1:], stages[1:], strict=True):
                at = [x + h * dot(weights, [k[i] for k in slopes]) for i, x in enumerate(y)]
                flags = parts.flags(now, ahead=node * h)
                if fixed and weights is stages[-1]:  # only the error estimate needs the forces at the end
                    break
                found = parts.at(s.t + node * h, at, flags)
                slopes.append(parts.slopes(at, found))
                powers.append(found.powers)
                weak = weak + found.weak
            stop(weak > 0.5, SINGULAR_PIVOT)
            if parts.pins.rough:
                stop(found.left > OPEN, SOLVER_FAILED)
            last = found.said

            def take(following: Any) -> list[Any]:
                ends, drift = parts.project(after, at)
                found = parts.at(after, ends, flags)
                if parts.loop and found.said:
                    parts.loop.guard(found.said)
                new = now | {"t": after, "t0": s.t, "h0": h, "h": following} | parts.segment(now)
                new |= parts.state(ends, found) | parts.pushes(found)
                for i, name in enumerate(parts.integrals):
                    new[name] = now[name] + h * dot(stages[-1], [k[i] for k in powers[: len(stages[-1])]])

                def accept() -> list[Any]:
                    taken.value = taken.value + 1
                    peak("drift", drift, after)
                    reached, at_end, there = new, ends, found
                    if parts.following:
                        reached = watch(parts, now, new)
                        at_end = parts.vector(reached)
                        there = parts.at(reached["t"], at_end, flags)
                    energy = p["stepper.energy"] + sum((reached[name] for name in parts.integrals), start=0)
                    end = (
                        reached["t"] <= p["stepper.until"]
                    )  # the last step may go beyond: its samples count, not its end
                    branch(end, lambda: parts.record(there, at_end, reached["t"], h, energy, momenta), lambda: None)
                    if parts.compliance.labels:
                        reached = parts.compliance.changed(parts, reached, there)
                    if parts.loop and fixed:
                        y, n = parts.vector(reached), parts.n
                        parts.loop.measure(taken.value, h, reached["t"], y[:n], y[n : 2 * n], strides or {})
                    return [reached[key] for key in keys]

                if fixed or not parts.compliance.labels:
                    return accept()
                share, crossed = parts.compliance.crossing(parts, new)
                return branch(crossed, lambda: list((now | {"h": share * h}).values()), accept)

            if fixed:
                return take(h)
            error: Any = 0.0
            for i, x in enumerate(y):
                scale = p["stepper.atol"] + p["stepper.rtol"] * maximum(abs(x), abs(at[i]))
                error = maximum(error, abs(h * dot(ERROR, [k[i] for k in slopes])) / scale)
            if parts.loop:  # a state on trial may be one that the controller's model cannot have
                error = where(error == error, error, HOPELESS)
            error = shared_max(error)
            factor = minimum(maximum(0.9 * pow(maximum(error, 1e-10), -0.2), 0.2), 5.0)
            following = minimum(h * factor, p["stepper.max_step"])
            # a step that lands on a contact may be as short, but it is taken
            short = (error > 1.0) & (following < 1e-13 * maximum(abs(s.t), 1.0))
            if parts.loop and last:
                parts.loop.guard(last, short)
            stop(short, STEP_TOO_SMALL)
            shorter = now | {"h": following}
            return list(branch(error <= 1.0, lambda: take(following), lambda: list(shorter.values())))

        new = dict(zip(keys, branch(late.value, lambda: list(now.values()), attempt), strict=True))

        def sample(index: Any) -> tuple[list[Any], Any]:
            # as a rounded number: a fused product would let the interval into the last bit of a sample
            time = from_bits(bits(number(index) * p["stepper.interval"]))
            ready = (time <= new["t"]) & (time <= p["stepper.until"])
            branch(ready, lambda: parts.write(new, time), lambda: None)
            return [index + where(ready, whole(1), 0)], ready

        following = memory("samples.following", 0)
        [index], unfinished = loop([following.value], sample, SAMPLES)
        following.value, late.value = index, unfinished
        lost, deep = memory("contact.lost", 0), memory("contact.deep", 0)
        stop(((new["t"] >= p["stepper.until"]) | (lost.value > 0) | (deep.value > 0)) & ~unfinished, DONE)
        return new

    return step


def first_forces(parts: Parts, now: dict[str, Any]) -> dict[str, Any]:
    """The accelerations, rates of laws and powers of the state; computed anew in the first step, and in every one whose
    torques have just changed."""
    begun = memory("steps.begun", False)
    ends = [f"{name}.acceleration" for name in parts.names]
    ends += [f"{name}.rate" for name in (*parts.states, *parts.integrals)]

    def compute() -> list[Any]:
        y = parts.vector(now)
        named = parts.state(y, parts.at(now["t"], y, parts.flags(now)))
        return [named[key] for key in ends]

    values = compute() if parts.held else branch(begun.value, lambda: [now[key] for key in ends], compute)
    begun.value = begun.value | (now["t"] >= 0.0)
    return dict(zip(ends, values, strict=True))


def held(parts: Parts, now: dict[str, Any], step: Any, h: Any, late: Any, strides: Mapping[str, int]) -> Command:
    """The command of a loop that is computed once a step, at its beginning; an attempt that only writes samples of the
    last step keeps it."""
    loop = parts.loop
    assert loop is not None
    y = parts.vector(now)
    names = [
        *(f"control.{name}.acting" for name in loop.control.actuators),
        *(f"control.shown.{n}" for n in loop.watched),
    ]
    cells = [memory(name, 0.0) for name in names]

    def compute() -> None:
        said = loop.held(step, h, now["t"], y[: parts.n], y[parts.n : 2 * parts.n], strides)
        loop.guard(said)
        for cell, x in zip(cells, [*said.torques, *said.watched.values()], strict=True):
            cell.value = x

    branch(late, lambda: None, compute)
    values = [cell.value for cell in cells]
    count = len(loop.control.actuators)
    watched = dict(zip(loop.watched, values[count:], strict=True))
    return Command(values[:count], [], [], watched, [], [], 0.0, 0.0, False)
