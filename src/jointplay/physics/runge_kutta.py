"""Runge-Kutta 5(4) (Dormand and Prince 1980), adaptive or of fixed step, projected on position and velocity."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

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
from ..engine.values import bits, from_bits, number, sqrt, where
from ..model.clearances import Following
from ..model.joints import Revolute
from ..model.mechanism import owner
from ..numerics.choice import maximum, minimum
from ..numerics.functions import atan2, pow
from ..numerics.linalg import dot, is_zero
from ..numerics.signals import peak
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


def hermite(u: Any, h: Any, first: Sequence[Any], last: Sequence[Any]) -> Any:
    """Value of the cubic through value and rate at both ends; u from 0 to 1."""
    (x0, v0), (x1, v1) = first, last
    rise, v0, v1 = x1 - x0, v0 * h, v1 * h
    return x0 + u * (v0 + u * (3 * rise - 2 * v0 - v1 + u * (v0 + v1 - 2 * rise)))


class Found(NamedTuple):
    """What the equations of motion give at a state."""

    accelerations: list[Any]
    pivot: Any
    power: Any  # of applied forces and drives (W)
    multipliers: list[Any]
    reactions: list[Any]  # force x, force y, moment of each joint


class Parts:
    """The parts of a step that are needed many times: traced once, called often."""

    def __init__(self, equations: Equations) -> None:
        self.equations, self.names, self.n = equations, equations.coordinates, len(equations.coordinates)
        self.joints, self.drives = list(equations.mechanism.joints), equations.mechanism.drives
        self.rows: list[str] = []
        self.following = equations.mechanism.loose(Following)
        self.accelerate, self.closing = subroutine(self._accelerate), subroutine(self._closing)

    def _accelerate(self, t: Any, *y: Any) -> list[Any]:
        q, v = list(y[: self.n]), list(y[self.n :])
        rows, a, multipliers, pivot = self.equations.accelerations(q, v, t)
        self.rows = rows.labels
        power = dot(self.equations.applied(q, v, t), v) + dot(multipliers, rows.speed)
        reactions = [dot(line, multipliers) for line in self.equations.reactions(rows, q, t)]
        return [*a, pivot, power, *multipliers, *reactions]

    def at(self, t: Any, y: Sequence[Any]) -> Found:
        """The equations of motion at time t, coordinates and rates y."""
        found, n = self.accelerate(t, *y), self.n
        last = len(found) - 3 * len(self.joints)
        return Found(found[:n], found[n], found[n + 1], found[n + 2 : last], found[last:])

    def _closing(self, t: Any, *y: Any) -> list[Any]:
        q, v = list(y[: self.n]), list(y[self.n :])
        rows = self.equations.rows(q, v, t)
        lacking = [w - dot(row, v) for w, row in zip(rows.speed, rows.B, strict=True)]
        spread = self.equations.spread(rows)
        (shift, _), (kick, _) = spread([-x for x in rows.residual]), spread(lacking)
        gap: Any = 0.0
        for x in rows.residual:
            gap = maximum(gap, abs(x))
        return [*shift, *kick, gap]

    def project(self, t: Any, y: list[Any]) -> tuple[list[Any], Any]:
        """The state y moved onto the constraints by least change in the mass metric, and what is left open."""
        n = self.n
        for _ in range(2):
            change = self.closing(t, *y)
            y = [*(x + d for x, d in zip(y[:n], change[:n], strict=True)), *y[n:]]
        change = self.closing(t, *y)
        return [*y[:n], *(x + d for x, d in zip(y[n:], change[n : 2 * n], strict=True))], change[-1]

    def pushes(self, found: Found) -> dict[str, Any]:
        """The normal force of each joint in permanent contact; below 0 it would have to pull."""
        return {f"{j}.normal": -found.multipliers[self.rows.index(f"{j}.distance")] for j in self.following}

    def state(self, y: Sequence[Any], found: Found) -> dict[str, Any]:
        """Coordinates, rates and accelerations by name."""
        n = self.n
        parts = (("", y[:n]), (".rate", y[n:]), (".acceleration", found.accelerations))
        return {name + end: x for end, values in parts for name, x in zip(self.names, values, strict=True)}

    def within(self, new: dict[str, Any], u: Any) -> list[Any]:
        """Coordinates and rates inside the last step, u from 0 to 1."""
        both = []
        for name in self.names:
            first = [new[f"{name}.{part}"] for part in ("x0", "v0", "a0")]
            both.append(dense(u, new["h0"], first, [new[name + end] for end in ("", ".rate", ".acceleration")]))
        return [x for x, _ in both] + [rate for _, rate in both]

    def record(self, found: Found, y: list[Any], t: Any, energy: Any) -> None:
        """Keep the largest forces and errors of all steps; `energy` is what kinetic and potential should sum to."""
        kinetic, potential = self.equations.energies(y[: self.n], y[self.n :], t)
        peak("kinetic", kinetic, t)
        peak("imbalance", abs(kinetic + potential - energy), t)
        for i, joint in enumerate(self.joints):
            x, y_, moment = found.reactions[3 * i : 3 * i + 3]
            peak(f"{joint}.force", sqrt(x * x + y_ * y_), t)
            if not is_zero(moment):
                peak(f"{joint}.moment", abs(moment), t)
        for row, x in zip(self.rows, found.multipliers, strict=True):
            if owner(row) in self.drives:
                peak(f"{owner(row)}.effort", abs(x), t)
        for name, push in self.pushes(found).items():
            peak(f"{name}.most", push, t)
            peak(f"{name}.least", -push, t)

    def write(self, new: dict[str, Any], time: Any) -> None:
        """Write the sample at a time inside the last step."""
        u = (time - new["t0"]) / new["h0"]
        y = self.within(new, u)
        found = self.at(time, y)
        kinetic, potential = self.equations.energies(y[: self.n], y[self.n :], time)
        work = hermite(u, new["h0"], (new["work.x0"], new["work.v0"]), (new["work"], new["work.rate"]))
        ends = [f"{joint}.{part}" for joint in self.joints for part in ("force.x", "force.y", "moment")]
        columns = self.state(y, found) | dict(zip(ends, found.reactions, strict=True))
        columns |= {f"{row}.multiplier": x for row, x in zip(self.rows, found.multipliers, strict=True)}
        emit("samples", time=time, **columns, kinetic=kinetic, potential=potential, work=work)


def initial(
    names: Sequence[str], q: Any, v: Any, a: Any, h: float, power: float, pushes: Mapping[str, float]
) -> dict[str, float]:
    """The state of the text at time 0; `pushes` are the normal forces of joints in permanent contact."""
    state = {"t": 0.0, "h": h, "t0": 0.0, "h0": 1.0}
    state |= {"work": 0.0, "work.rate": power, "work.x0": 0.0, "work.v0": power}
    for name, *values in zip(names, q, v, a, strict=True):
        for end, x in zip(("", ".rate", ".acceleration", ".x0", ".v0", ".a0"), values * 2, strict=True):
            state[name + end] = float(x)
    return state | {f"{joint}.normal": push for joint, push in pushes.items()}


def stepper(make: Callable[[Any], Equations], fixed: bool = False) -> Callable[..., dict[str, Any]]:
    """The text of one attempted step, for the equations that `make` builds from the parameters.

    fixed: every step has the length `stepper.step` and is taken; else the error estimate decides.
    """

    def step(s: Any, p: Any) -> dict[str, Any]:
        parts = Parts(make(p))
        zeros = [0.0] * parts.n
        keys = list(initial(parts.names, zeros, zeros, zeros, 0.0, 0.0, dict.fromkeys(parts.following, 0.0)))
        now = {key: s[key] for key in keys}
        taken, late = memory("steps.taken", 0), memory("samples.late", False)

        def attempt() -> list[Any]:
            y = [now[name + end] for end in ("", ".rate") for name in parts.names]
            slopes = [[now[name + end] for end in (".rate", ".acceleration") for name in parts.names]]
            h, powers = p["stepper.step"] if fixed else s.h, [s["work.rate"]]
            after = number(taken.value + 1) * h if fixed else s.t + h
            pivot: Any = 1.0
            for node, weights in zip(NODES[1:], STAGES[1:], strict=True):
                at = [x + h * dot(weights, [k[i] for k in slopes]) for i, x in enumerate(y)]
                found = parts.at(s.t + node * h, at)
                slopes.append([*at[parts.n :], *found.accelerations])
                powers.append(found.power)
                pivot = where(found.pivot < pivot, found.pivot, pivot)
            stop(pivot < PIVOT, SINGULAR_PIVOT)

            def take() -> list[Any]:
                ends, drift = parts.project(after, at)
                found = parts.at(after, ends)
                work = s.work + h * dot(STAGES[-1], powers[: len(STAGES[-1])])
                taken.value = taken.value + 1
                peak("drift", drift, after)
                new = now | {"t": after, "t0": s.t, "h0": h, "work": work, "work.rate": found.power}
                new |= {"work.x0": s.work, "work.v0": s["work.rate"]} | parts.state(ends, found)
                for name in parts.names:
                    for part, end in (("x0", ""), ("v0", ".rate"), ("a0", ".acceleration")):
                        new[f"{name}.{part}"] = now[name + end]
                new |= parts.pushes(found)
                if parts.following:
                    new = watch(parts, now, new)
                    ends = [new[name + end] for end in ("", ".rate") for name in parts.names]
                    found = parts.at(new["t"], ends)
                parts.record(found, ends, new["t"], p["stepper.energy"] + new["work"])
                return [new[key] for key in keys]

            if fixed:
                return take()
            error: Any = 0.0
            for i, x in enumerate(y):
                scale = p["stepper.atol"] + p["stepper.rtol"] * maximum(abs(x), abs(at[i]))
                error = maximum(error, abs(h * dot(ERROR, [k[i] for k in slopes])) / scale)
            error = shared_max(error)
            factor = minimum(maximum(0.9 * pow(maximum(error, 1e-10), -0.2), 0.2), 5.0)
            following = minimum(h * factor, p["stepper.max_step"])
            stop(following < 1e-13 * maximum(abs(s.t), 1.0), STEP_TOO_SMALL)
            reached = dict(zip(keys, branch(error <= 1.0, take, lambda: list(now.values())), strict=True))
            return list((reached | {"h": following}).values())

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
        lost = memory("contact.lost", 0)
        stop(((new["t"] >= p["stepper.until"]) | (lost.value > 0)) & ~unfinished, DONE)
        return new

    return step


def stops(joint: Revolute) -> bool:
    """Whether a run ends where this joint in permanent contact begins to pull."""
    return isinstance(joint.contact, Following) and joint.contact.on_loss == "stop"


def watch(parts: Parts, now: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The end of a step, or the moment inside it where a joint in permanent contact begins to pull."""
    keys, lost = list(new), memory("contact.lost", 0)
    for place, (name, joint) in enumerate(parts.following.items(), 1):

        def locate(new: dict[str, Any], push: Any, middle: Any, joint: Revolute, place: int) -> list[Any]:
            def halve(low: Any, high: Any) -> tuple[list[Any], Any]:
                between = 0.5 * (low + high)
                pulls = push(between) < 0.0
                return [where(pulls, low, between), where(pulls, between, high)], high - low > 1e-13

            early = middle < 0.0
            [_, u], _ = loop([where(early, 0.0, 0.5), where(early, 0.5, 1.0)], halve, 60)
            t, y = new["t0"] + u * new["h0"], parts.within(new, u)
            found = parts.at(t, y)
            pose = parts.equations.pose(y[: parts.n], t)
            bearing, journal = joint.between if joint.bearing == "first" else joint.between[::-1]
            d = pose.between((bearing, journal))
            angle = atan2(d.y, d.x)
            emit(
                "losses",
                joint=number(whole(place)),
                time=t,
                angle=angle,
                in_bearing=angle - pose.angles[owner(bearing)],
            )
            if stops(joint):
                lost.value = whole(place)
                work = hermite(u, new["h0"], (new["work.x0"], new["work.v0"]), (new["work"], new["work.rate"]))
                new = new | {"t": t, "h0": u * new["h0"], "work": work, "work.rate": found.power}
                new = new | parts.state(y, found) | parts.pushes(found)
            return [new[key] for key in keys]

        def push(u: Any, new: dict[str, Any] = new, key: str = f"{name}.normal") -> Any:
            return parts.pushes(parts.at(new["t0"] + u * new["h0"], parts.within(new, u)))[key]

        middle = push(0.5)
        pulls = (now[f"{name}.normal"] >= 0.0) & ((middle < 0.0) | (new[f"{name}.normal"] < 0.0))
        side = functools.partial(locate, new, push, middle, joint, place)
        new = dict(zip(keys, branch(pulls, side, functools.partial(list, new.values())), strict=True))
    return new
