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
from ..model.motions import Function, Sum, Table
from ..model.parts import Frozen, ModelError, Part, Problem

FINEST = 1 << 14  # intervals of a sampled function at most
CLOSE = 1e-9  # error aimed at, of the function's range


def sampled(mechanism: Mechanism, until: float) -> tuple[Mechanism, list[str]]:
    """The mechanism with every function that cannot be traced replaced by a spline over 0 to `until` (s), and a
    note on each with its error."""
    notes: list[str] = []

    def prepared(motion: Any, name: str) -> Any:
        if isinstance(motion, Sum):
            return motion.model_copy(update={"terms": tuple(prepared(term, name) for term in motion.terms)})
        if not isinstance(motion, Function) or traceable(motion.function):
            return motion
        table, error, count = spline(motion.function, until, name)
        notes.append(
            f"{name}: its Python function cannot be traced; sampled at {count} times from 0 to {until:g} s, "
            f"error {error:.2g} in value"
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


def spline(function: Callable[[float], float], until: float, name: str) -> tuple[Table, float, int]:
    """A table through the function, as fine as its range needs, with the error between its knots and their number."""
    from scipy.interpolate import CubicSpline  # type: ignore[import-untyped]

    def values(times: np.ndarray) -> np.ndarray:
        try:
            found = np.array([float(function(float(t))) for t in times])
        except Exception as error:
            text = f"its Python function fails between 0 and {until:g} s: {type(error).__name__}: {error}"
            raise ModelError(Problem((name,), text)) from None
        if not np.isfinite(found).all():
            t = times[~np.isfinite(found)][0]
            raise ModelError(Problem((name,), f"its Python function gives {function(float(t))!r} at t = {t:g} s"))
        return found

    count = 32
    knots = np.linspace(0.0, until, count + 1)
    known = values(knots)
    while True:
        middles = values((knots[:-1] + knots[1:]) / 2)
        error = float(np.abs(CubicSpline(knots, known)((knots[:-1] + knots[1:]) / 2) - middles).max())
        if error <= CLOSE * max(np.ptp(known), math.ulp(1.0)) or 2 * count > FINEST:
            return Table(times=tuple(knots), values=tuple(known), ends="held"), error, len(knots)
        finer = np.empty(2 * count + 1)
        finer[::2], finer[1::2] = known, middles
        count, known, knots = 2 * count, finer, np.linspace(0.0, until, 2 * count + 1)
