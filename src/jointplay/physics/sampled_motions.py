"""Motions given as Python functions: traced where possible, otherwise sampled to a spline with a stated error."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.program import trace
from ..engine.typing import Scalar
from ..model.mechanism import Mechanism
from ..model.motions import Function, Sum
from ..model.parts import Frozen, ModelError, Part, Problem
from ..parts.tables import Table

MOST = 200_000  # intervals of a sampled function to begin with at most
WIDEST = 1024  # of these intervals are one if it is smooth there
HALVINGS = 8  # of an interval in which it is not smooth enough
CLOSE = 1e-9  # error aimed at, of how far the function has moved until then
TOLD = 1e-7  # of its largest value: an error beyond that is told to be in no stated error
UNSTATED = "no stated error has that in it; with the engine's `where` in place of `if` it can be traced, and has none"


def sampled(mechanism: Mechanism, until: float) -> tuple[Mechanism, list[str]]:
    """The mechanism with every function that cannot be traced replaced by a spline over 0 to `until` (s), and a
    note on each with its error."""
    notes: list[str] = []

    def prepared(motion: Any, name: str) -> Any:
        if isinstance(motion, Sum):
            return motion.model_copy(update={"terms": tuple(prepared(term, name) for term in motion.terms)})
        if not isinstance(motion, Function) or traceable(motion.function):
            return motion
        table, error, pitch = as_table(motion, until, name)
        notes.append(
            f"{name}: its Python function cannot be traced; sampled at {len(table.times)} times from 0 to {until:g} s, "
            f"error {error:.2g} in value; what lasts less than {pitch:g} s may be missed"
            + (f"; {UNSTATED}" if error > TOLD * max(map(abs, table.values)) else "")
        )
        return table

    sections: dict[str, Any] = {}
    for section in ("drives", "forces"):
        elements = {}
        for name, element in getattr(mechanism, section).items():
            changed = {k: prepared(x, name) for k, x in element.given() if isinstance(x, Part)}
            same = all(changed[k] is getattr(element, k) for k in changed)
            elements[name] = element if same else element.model_copy(update=changed)
        sections[section] = elements
    if mechanism.control is not None:
        parts_of: dict[str, Any] = {}
        for section, key in (("coordinates", "reference"), ("actuators", "feedforward")):
            parts = getattr(mechanism.control, section)
            new = {n: p.model_copy(update={key: prepared(getattr(p, key), n)}) for n, p in parts.items()}
            parts_of[section] = Frozen(new)
        sections["control"] = mechanism.control.model_copy(update=parts_of)
    return (mechanism.replace(**sections) if notes else mechanism), notes


@functools.lru_cache(maxsize=1024)
def traceable(function: Callable[[Scalar], Scalar]) -> bool:
    """Whether a function of time runs on a recording value."""
    try:
        trace(lambda s, p: {"x": function(p.t)}, {"x": 0.0}, {"t": 0.5})
    except Exception:  # whatever the function does with a value that is not a number
        return False
    return True


def as_table(motion: Function, until: float, name: str) -> tuple[Table, float, float]:
    """A table through the function, as fine as it needs, with the error between its knots and the time (s) between the
    places at which it was looked at.

    Where these lie does not depend on how far it reaches: multiples of its span, halved where it bends too much.
    """

    def values(times: np.ndarray) -> np.ndarray:
        try:
            found = np.array([float(motion.function(float(t))) for t in times])
        except Exception as error:
            text = f"its Python function fails between 0 and {until:g} s: {type(error).__name__}: {error}"
            raise ModelError(Problem((name,), text)) from None
        if not np.isfinite(found).all():
            t = float(times[~np.isfinite(found)][0])
            raise ModelError(Problem((name,), f"its Python function gives {motion.function(t)!r} at t = {t:g} s"))
        return found

    pitch = motion.span
    while until / pitch > MOST:
        pitch *= 2
    times = np.arange(max(4, math.ceil(until / pitch * (1 - 1e-9))) + 1) * pitch
    given = [t for t in motion.knots if 0 < t < times[-1]]
    times = np.union1d(times, given)
    seen = values(times)
    allowed = CLOSE * np.maximum.accumulate(np.abs(seen - seen[0])) + math.ulp(1.0) * np.abs(seen)
    kept = few(times, seen, allowed, np.searchsorted(times, given))
    knots, known, error = halved(values, times[kept], seen[kept], allowed[kept], np.diff(kept) == 1)
    error = max(error, float(np.abs(spline(knots, known, times) - seen).max()))
    # checked already, and too many to be read number by number
    found = Table.model_construct(times=tuple(knots.tolist()), values=tuple(known.tolist()), ends="held")
    return found, error, pitch


def spline(knots: np.ndarray, known: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The values of a cubic spline."""
    from scipy.interpolate import CubicSpline  # type: ignore[import-untyped]

    found: np.ndarray = CubicSpline(knots, known)(at)
    return found


def few(times: np.ndarray, seen: np.ndarray, allowed: np.ndarray, needed: np.ndarray) -> np.ndarray:
    """Which of some values, those needed among them, give a spline that keeps all of them within what is allowed."""
    last = len(times) - 1
    widest = max(1, min(WIDEST, 1 << int(math.log2(last / 4))))
    kept = np.union1d(np.arange(0, last, widest), [last, *needed]).astype(int)
    while True:
        bad = np.flatnonzero(np.abs(spline(times[kept], seen[kept], times) - seen) > allowed)
        cells = np.unique(np.searchsorted(kept, bad))
        middles = (kept[cells - 1] + kept[cells]) // 2
        if np.isin(middles, kept).all():
            return kept
        kept = np.union1d(kept, middles)


def halved(
    values: Callable[[np.ndarray], np.ndarray],
    knots: np.ndarray,
    known: np.ndarray,
    allowed: np.ndarray,
    narrow: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Knots with those intervals halved in whose middle a spline is off by more than is allowed, and what is left; to
    begin with those that are narrow are looked at."""
    for _ in range(HALVINGS + 1):
        middles = ((knots[:-1] + knots[1:]) / 2)[narrow]
        there = values(middles)
        off = np.zeros(len(narrow))
        off[narrow] = np.abs(spline(knots, known, middles) - there)
        bent = off > allowed[1:]
        if not bent.any():
            break
        places, chosen = np.flatnonzero(bent) + 1, bent[narrow]
        knots, known = np.insert(knots, places, middles[chosen]), np.insert(known, places, there[chosen])
        allowed = np.insert(allowed, places, allowed[places])
        narrow = np.zeros(len(knots) - 1, bool)  # the halves, and their neighbours, which the spline bends as well
        for shift in (-2, -1, 0, 1):
            narrow[np.clip(places + np.arange(len(places)) + shift, 0, len(narrow) - 1)] = True
    return knots, known, float(off.max())
