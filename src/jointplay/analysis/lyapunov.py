"""Lyapunov exponents from the model: two trajectories with renormalisation, and tangent vectors with QR."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..engine import branch, derivative, due, emit, log, memory, sqrt, trace
from ..errors import InputError
from ..run import Run
from .things import Map, Scheme, Thing, beside, difference, ensure_thing, go

BATCHES = 20  # of which the error bar is the scatter
SETTLE = 0.1  # share of the run in which the separation turns into the direction that grows most
LOST = 1e-4  # of the separation asked for: what is left of one that the joints do not allow
JUMP, PATIENCE = 20.0, 4  # in rigid contact a separation that jumped is set back only if it stays so for some intervals
BARS = 3.0  # errors by which a value must differ from zero, for its sign to count
LINEAR = 1e-2  # of the size of the motion: a separation beyond is not small


@dataclass(frozen=True)
class Exponent:
    """A Lyapunov exponent (1/s, or per step of a map): its value, the standard error of it, and how it converged.

    growth: mean rate in each interval; time: their ends; curve: mean rate up to there. largest: the largest
    separation over the size of the motion; floored: intervals in which both trajectories became the same number.
    states: where the first trajectory stood at the end of every interval, the uncounted ones too.
    """

    value: float
    error: float
    time: np.ndarray
    growth: np.ndarray
    method: str
    separation: float = 0.0
    largest: float = 0.0
    floored: int = 0
    states: np.ndarray = field(default_factory=lambda: np.empty((0, 0)), repr=False)

    @property
    def curve(self) -> np.ndarray:
        """The mean rate up to each time."""
        return np.cumsum(self.growth) / np.arange(1, len(self.growth) + 1)

    @property
    def length(self) -> float:
        """How long it was looked at (s, or steps of a map), the time that is not counted left out."""
        return float(self.time[-1] - self.time[0]) * len(self.time) / max(1, len(self.time) - 1)

    @property
    def sign(self) -> int:
        """1 or -1 if the value is more than three error bars away from zero, else 0."""
        return 0 if not abs(self.value) > BARS * self.error else int(np.sign(self.value))

    def text(self) -> str:
        """The number with its error."""
        return f"{self.value:.4g} ± {self.error:.2g} ({self.method})"


def made(time: Any, growth: Any, method: str, lengths: Any = None, **about: Any) -> Exponent:
    """An exponent from the mean rates of intervals, with the scatter of their batches; lengths: if they differ."""
    time, growth = np.asarray(time, float), np.asarray(growth, float)
    weights = np.ones_like(growth) if lengths is None else np.asarray(lengths, float)
    batches = min(BATCHES, len(growth) // 2)
    if batches < 2:
        raise InputError(f"{len(growth)} intervals are too few for an error bar; run longer, at least 4 intervals")
    parts = zip(np.array_split(growth, batches), np.array_split(weights, batches), strict=True)
    means = np.array([np.average(part, weights=of) for part, of in parts])
    error = float(means.std(ddof=1) / np.sqrt(batches))
    return Exponent(float(np.average(growth, weights=weights)), error, time, growth, method, **about)


def exponent(
    thing: Thing,
    until: float,
    every: float | None = None,
    separation: float = 1e-8,
    settle: float = SETTLE,
    tell: Callable[[float], bool] | None = None,
) -> Exponent:
    """The largest exponent by two trajectories, the second set back to a small separation again and again.

    thing: anything that steps in two lanes, which share one sequence of steps (Benettin et al. 1980). until: how far
    to go on from here (s, or steps of a map); every: time between two renormalisations (a thousandth of it);
    separation: their distance, in the units of the state; settle: share of the time that is not counted. tell: is told
    the time after every interval; if it answers true, the exponent is that of the intervals so far.
    """
    ensure_shared(thing)
    if not (separation > 0 and until > 0 and 0 <= settle < 1):
        raise InputError(f"until and separation must be > 0, settle in [0, 1): {until!r}, {separation!r}, {settle!r}")
    every = until / 1000 if every is None else every
    is_map = isinstance(thing, Map) and not isinstance(thing, Scheme)
    every = max(1.0, round(every)) if is_map else every
    names, begin, count = thing.names, float(thing.time[0]), int(np.floor(until / every + 1e-9))
    impulsive = getattr(getattr(thing, "stepper", None), "impulsive", False)
    push = np.random.default_rng(1).normal(size=len(names))
    size = place(thing, separation, push)
    growth, distances, states, times, floored, before, waited = [], [], [], [], 0, begin, 0
    for i in range(1, count + 1):
        go(thing, begin + i * every)
        now = float(thing.time[0])  # a thing of one's own may end a little later
        if now <= before:  # and its last step beyond this interval
            continue
        times.append(now)
        one, reached = thing.state[0], distance(thing)
        least = float(np.spacing(np.abs(one).max()))
        floored += reached < least
        growth.append(np.log(max(reached, least) / size) / (now - before))
        before = now
        states.append(one)
        waited = waited + 1 if impulsive and reached > JUMP * separation else 0
        if 0 < waited < PATIENCE:  # one may have struck and the other not yet: set back, they would never meet again
            size = reached
            continue
        distances.append(reached)
        size, waited = place(thing, separation, None if reached >= least else push), 0
        if tell is not None and tell(now):
            break
    kept = np.array(states)
    extent = float(np.linalg.norm(np.ptp(kept, axis=0))) or 1.0
    first = int(settle * len(growth))
    about: dict[str, Any] = {
        "lengths": np.diff(times, prepend=begin)[first:],
        "separation": separation,
        "largest": max(distances, default=np.inf) / extent,
        "floored": int(floored),
        "states": kept,
    }
    return made(times[first:], growth[first:], "two trajectories", **about)


def place(thing: Thing, separation: float, direction: np.ndarray | None = None) -> float:
    """Put the second lane beside the first one, in a direction or in the one in which it is; the distance that is there
    once it fits the joints."""
    one, two = thing.state[:2]
    apart = difference(thing.names, two, one) if direction is None else direction
    share = separation / float(np.linalg.norm(apart))
    beside(thing, share * apart, share if direction is None else 0.0)
    found = distance(thing)
    if found < LOST * separation:
        raise InputError(
            f"a separation of {separation:g} vanishes in the round-off of the state, or the joints leave no freedom "
            "for it; give a larger one, or a mechanism that can move otherwise than its drives say"
        )
    return found


def distance(thing: Thing) -> float:
    """How far the second lane is from the first one."""
    one, two = thing.state[:2]
    return float(np.linalg.norm(difference(thing.names, two, one)))


def ensure_shared(thing: Thing) -> None:
    """Refuse a system whose two lanes would not take the same steps."""
    ensure_thing(thing, lanes=2)
    stepper = getattr(thing, "stepper", None)
    if not getattr(thing, "share", False) and getattr(stepper, "adaptive", True):
        raise InputError(
            "two trajectories need one sequence of steps, or the difference of the steps is taken for the motion's; "
            "make the simulation with lanes=2, share=True, or use a stepper with steps of one length"
        )


@dataclass(frozen=True)
class Sweep:
    """One exponent for each tolerance (rows) and separation (columns), and whether they agree."""

    tolerances: list[float]
    separations: list[float]
    found: list[list[Exponent]]

    @property
    def values(self) -> np.ndarray:
        """The exponents (tolerances, separations)."""
        return np.array([[one.value for one in row] for row in self.found])

    @property
    def errors(self) -> np.ndarray:
        """Their standard errors."""
        return np.array([[one.error for one in row] for row in self.found])

    @property
    def best(self) -> Exponent:
        """The one with the tightest tolerance and the middle separation."""
        return self.found[int(np.argmin(self.tolerances))][len(self.separations) // 2]

    @property
    def error(self) -> float:
        """The error bar of the best: its own, or half the spread over the sweep if that is more."""
        return max(self.best.error, float(np.ptp(self.values)) / 2)

    @property
    def sign(self) -> int:
        """The sign on which the whole sweep agrees by three error bars, else 0."""
        signs = {one.sign for row in self.found for one in row}
        return signs.pop() if len(signs) == 1 else 0


def sweep(
    make: Callable[[float], Thing],
    tolerances: Iterable[float],
    separations: Iterable[float],
    until: float,
    every: float | None = None,
) -> Sweep:
    """Exponents over tolerance and separation; `make(tolerance)` gives the thing, settled, in two lanes.

    An exponent that depends on either is an artefact: of the integrator if the separation is below its error, of the
    nonlinearity if it is not small beside the motion.
    """
    tolerances, separations = list(tolerances), list(separations)
    found = []
    for tolerance in tolerances:
        thing, row = make(tolerance), []
        here = thing.snapshot()
        for separation in separations:
            thing.reset(here)
            row.append(exponent(thing, until, every, separation))
        found.append(row)
    return Sweep(tolerances, separations, found)


# -- tangent vectors
class Tangents:
    """A Map or Flow with tangent vectors: the derivative of its step, by the engine, is applied to each of them."""

    def __init__(self, thing: Map, count: int | None = None, every: int = 0) -> None:
        if not isinstance(thing, Map):
            raise InputError(
                f"tangent vectors need the text of a step, which a {type(thing).__name__} does not show; "
                "take the exponent by two trajectories"
            )
        self.thing, self.every = thing, every
        self.count = len(thing.names) if count is None else count
        starts = {self.name(i, j): float(i == j) for i in range(len(thing.names)) for j in range(self.count)}
        parameters = thing.parameters | thing.clock()
        self.program = trace(self.text, thing.starts | starts, parameters)
        now = {name: thing.run[name][0] for name in thing.names}
        given = {name: thing.run[name][0] for name in parameters}
        given |= {"clock.first": given["clock.first"] - thing.run["step"][0]} if "clock.first" in given else {}
        self.run = Run(self.program, given, now)

    @staticmethod
    def name(i: int, j: int) -> str:
        """Component i of vector j."""
        return f"tangent.{i}.{j}"

    def text(self, s: Any, p: Any) -> dict[str, Any]:
        """One step of the state and its vectors; with `every` they are made orthonormal and their growth kept."""
        names, many = self.thing.names, range(self.count)
        new = self.thing.text(s, p)
        slopes = derivative([new[name] for name in names], [s[name] for name in names])
        vectors = [
            [sum(slopes[i][k] * s[self.name(k, j)] for k in range(len(names))) for i in range(len(names))] for j in many
        ]
        if self.every:
            sizes = orthonormalise(vectors)
            grown = []
            for j in many:
                kept = memory(f"grown.{j}")
                kept.value = kept.value + log(sizes[j])
                grown.append(kept.value)
            branch(due(s.step + 1, self.every), lambda: self.tell(grown), lambda: [])
        return new | {self.name(i, j): vectors[j][i] for i in range(len(names)) for j in many}

    def tell(self, grown: list[Any]) -> list[Any]:
        """A row of what has grown so far."""
        emit("growth", **{str(j): x for j, x in enumerate(grown)})
        return []

    @property
    def matrix(self) -> np.ndarray:
        """The vectors as columns."""
        rows = range(len(self.thing.names))
        return np.array([[self.run[self.name(i, j)][0] for j in range(self.count)] for i in rows])


def orthonormalise(vectors: list[list[Any]]) -> list[Any]:
    """Gram and Schmidt on recorded values, in place; the lengths that were left of each vector."""
    sizes = []
    for j, vector in enumerate(vectors):
        for other in vectors[:j]:
            along = sum(a * b for a, b in zip(vector, other, strict=True))
            vector[:] = [a - along * b for a, b in zip(vector, other, strict=True)]
        size = sqrt(sum(a * a for a in vector))
        vector[:] = [a / size for a in vector]
        sizes.append(size)
    return sizes


def exponents(thing: Map, until: float, count: int | None = None, settle: float = SETTLE) -> list[Exponent]:
    """The largest `count` exponents of a Map or Flow, all by default, by tangent vectors and QR in every step.

    until: how far to go on from here (s, or steps). The sum over all is the mean divergence. (Benettin et al. 1980;
    the derivatives are the engine's, also through branches and located impacts.)
    """
    length = thing.length if isinstance(thing, Scheme) else 1.0
    steps = int(np.floor(until / length + 1e-9))
    every = max(1, steps // 1000)
    tangents = Tangents(thing, count, every)
    tangents.run.advance(steps)
    if tangents.run.status[0] != "running":
        raise InputError(f"the motion could not be followed: {tangents.run.explain()}")
    rows = tangents.run.rows("growth")
    total = np.array([rows[str(j)] for j in range(tangents.count)])
    interval = every * length
    times = float(thing.time[0]) + interval * np.arange(1, total.shape[1] + 1)
    rates = np.diff(total, axis=1, prepend=0.0) / interval
    first = int(settle * rates.shape[1])
    return [made(times[first:], one[first:], "tangent vectors") for one in rates]
