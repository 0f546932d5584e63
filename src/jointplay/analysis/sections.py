"""Sections of a motion: strobed with the drive, or where something crosses a level; what repeats in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from .things import Thing, difference, ensure_thing, go

MOST_REPEATS = 16  # period k is looked for up to here
STAYS, SLOWLY = (
    0.8,
    0.99,
)  # of the earlier change: what keeps less of it fades, and slowly if it can be told from errors
LOCATED = 1e-12  # of the time between two steps: as close as a crossing is located


class Strobe:
    """A thing seen once a period (s): its step is a period, so a periodic motion is a fixed point of it."""

    def __init__(self, thing: Thing, period: float) -> None:
        ensure_thing(thing)
        if not (np.isfinite(period) and period > 0):
            raise InputError(f"period must be a number of seconds > 0, got {period!r}")
        if getattr(getattr(thing, "stepper", None), "adaptive", False):
            raise InputError(
                "from section to section chosen steps are others, so that states differ by their tolerance; "
                "give the Simulation steps of one length, "
                "FixedRungeKutta(period / n) or MoreauJean(period / n), or ask for a verdict, which takes samples"
            )
        self.thing, self.period = thing, float(period)
        self.share = getattr(thing, "share", False)
        self.begin, self.count = float(thing.time[0]), 0

    @property
    def names(self) -> list[str]:
        """The names of the numbers in a state."""
        return list(self.thing.names)

    @property
    def time(self) -> np.ndarray:
        """The time of every lane (s)."""
        return self.thing.time

    @property
    def state(self) -> np.ndarray:
        """A copy of the states (lanes, names)."""
        return self.thing.state

    def step(self, n: int = 1) -> None:
        """Go on by n periods."""
        for _ in range(n):
            self.count += 1
            go(self.thing, self.begin + self.count * self.period)

    def advance(self, until: float) -> None:
        """Go on by whole periods, to the last one that ends by a time (s)."""
        self.step(max(0, int(np.floor((until - self.begin) / self.period + 1e-9)) - self.count))

    def snapshot(self) -> tuple[Any, int, float]:
        """Everything that is needed to go on from here."""
        return self.thing.snapshot(), self.count, self.begin

    def reset(self, state: Any = None, lane: int | None = None, numbers: Any = None, start: Any = None) -> None:
        """Back to the start, or to a snapshot."""
        if state is not None:
            inner, self.count, self.begin = state
            self.thing.reset(inner, lane)
            return
        self.thing.reset(None, lane, numbers, start)
        self.begin, self.count = float(self.thing.time[0]), 0

    def perturb(self, change: Mapping[str, float] | np.ndarray, lane: int = 0) -> None:
        """Add to the state of one lane."""
        self.thing.perturb(change, lane)


class Section(Strobe):
    """A thing (of one lane) seen whenever `event(time, state)` crosses zero upwards; its step is from one to the next.

    every: time (s) between two looks, shorter than the time between two crossings; longest: a crossing that does not
    come within this time is an error.
    """

    def __init__(
        self, thing: Thing, event: Callable[[float, np.ndarray], float], every: float, longest: float | None = None
    ) -> None:
        super().__init__(thing, every)
        if len(thing.state) != 1:
            raise InputError(f"lanes cross a section at different times; use one lane, not {len(thing.state)}")
        self.event, self.longest = event, 1e5 * every if longest is None else longest
        self.last = -np.inf  # time of the crossing where it stands, if it does

    def value(self) -> float:
        """The event function here."""
        return float(self.event(float(self.thing.time[0]), self.thing.state[0]))

    def step(self, n: int = 1) -> None:
        """Go on to the n-th crossing from here."""
        for _ in range(n):
            self.crossing()
            self.count, self.last = self.count + 1, float(self.thing.time[0])

    def crossing(self) -> None:
        """Go on to the next crossing, located by the Illinois variant of false position on the motion itself."""
        from_time = float(self.thing.time[0])
        t, here = from_time, self.thing.snapshot()
        value = 0.0 if from_time == self.last else self.value()  # that of a crossing is round-off
        while True:
            go(self.thing, t + self.period)
            after = self.value()
            if value < 0 <= after:
                break
            t, here, value = float(self.thing.time[0]), self.thing.snapshot(), after
            if t - from_time > self.longest:
                raise InputError(f"no crossing of the section within {self.longest:g} s from t = {from_time:g} s on")
        low, high, f, g = 0.0, float(self.thing.time[0]) - t, value, after
        width = high
        for _ in range(60):
            middle = high - g * (high - low) / (g - f)
            self.thing.reset(here)
            go(self.thing, t + middle)
            found = self.value()
            if found == 0 or high - low < LOCATED * width or min(middle - low, high - middle) < LOCATED * width:
                return
            if found > 0:
                high, g, f = middle, found, 0.5 * f
            else:
                low, f, g = middle, found, 0.5 * g

    def advance(self, until: float) -> None:
        """Go on from crossing to crossing, to the first at or after a time (s)."""
        while float(self.thing.time[0]) < until:
            self.step()


def points(thing: Thing, count: int, skip: int = 0) -> np.ndarray:
    """The states (count, lanes, names) of a section, after `skip` of them."""
    ensure_thing(thing)
    thing.step(skip) if skip else None
    found = []
    for _ in range(count):
        thing.step()
        found.append(thing.state)
    return np.array(found)


@dataclass(frozen=True)
class Repeat:
    """After how many points a section repeats: the smallest k whose residual is below the tolerance, or None; also
    where it changes less and less after a part of them, and may come to repeat after these.

    residuals: for k = 1, 2, ... the largest distance of points k apart, over the size of the section's set, or in
    its units if `scale` was given.
    """

    multiple: int | None
    residual: float
    residuals: np.ndarray


def repeat(
    section: np.ndarray, names: list[str], tolerance: float, scale: np.ndarray | float = 1.0, most: int = MOST_REPEATS
) -> Repeat:
    """The smallest k after which the points (count, names) of a section repeat within a tolerance.

    scale: what the numbers are measured by, such as the span of the motion. Two thirds of the points are compared.
    """
    residuals, changes = [], []
    for k in range(1, min(most, len(section) // 3) + 1):
        changes.append(np.abs(difference(names, section[k:], section[:-k]) / scale).max(axis=1))
        residuals.append(float(changes[-1].max()))
    if not residuals:
        raise InputError(f"{len(section)} points of a section are too few to see a period; at least 3 are needed")
    good = np.flatnonzero(np.array(residuals) <= tolerance)
    found = int(good[0]) + 1 if len(good) else None
    if found and any(fades(*halves(changes[part - 1]), tolerance) for part in parts(found)):
        found = None
    return Repeat(found, residuals[found - 1] if found else min(residuals), np.array(residuals))


def parts(count: int) -> list[int]:
    """The smaller numbers that divide a number."""
    return [n for n in range(1, count // 2 + 1) if count % n == 0]


def halves(changes: np.ndarray) -> tuple[float, float]:
    """The largest of changes (one after the other) in their first half and in their second."""
    one, two = np.array_split(changes, 2)
    return float(one.max()), float(two.max())


def fades(first: float, second: float, tolerance: float) -> bool:
    """Whether a change is less later on. That of a motion that repeats after a multiple stays; a motion that swings to
    and fro as it settles changes less after two turns than after one, and would seem to have twice its period."""
    return second < STAYS * first or (second < SLOWLY * first and first - second > tolerance)


def return_map(values: np.ndarray, k: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Each value of a section, and the one k later."""
    return values[:-k], values[k:]


def crossings(time: np.ndarray, values: np.ndarray, level: float = 0.0) -> np.ndarray:
    """The times at which samples cross a level upwards, by a line between two of them."""
    below = values < level
    at = np.flatnonzero(below[:-1] & ~below[1:])
    share = (level - values[at]) / (values[at + 1] - values[at])
    return time[at] + share * (time[at + 1] - time[at])
