"""Starts within the play: where start values put a body between the walls, and how fast it goes there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ..model.clearances import Compliant, Following, Rigid
from ..system import System
from .assembly import RANK, sizes

MET = 1e-7  # m or rad: so near to a start value that it is held
DIGITS, ALIKE = 10, 1e-13  # that a rounded angle has at most; of itself: rounding of units
SAME = 1e-9  # m or rad: start values that agree with the closed mechanism to this mean just that


def rounded(ideal: float, given: float) -> bool:
    """Whether an angle (rad) is one of the mechanism without play, rounded to some digits in rad or in deg: it says
    nothing of where a journal leans.

    >>> rounded(math.radians(-9.5940683), math.radians(-9.594)), rounded(math.radians(-9.5940683), math.radians(-9.5))
    (True, False)
    """
    near = ideal + math.tau * round((given - ideal) / math.tau)
    both = (near, given), (math.degrees(near), math.degrees(given))
    return any(abs(float(f"{x:.{n}g}") - y) <= ALIKE * abs(y) for x, y in both for n in range(1, DIGITS + 1))


def going(system: System, q: np.ndarray, v: np.ndarray, ideal: np.ndarray) -> np.ndarray:
    """Rates at a start within the play: what neither joints, drives nor start rates say goes on as without play."""
    if system.mechanism.loose(Following):
        return v
    scale = sizes(system)
    rows = np.vstack([system.evaluate(q).B, np.eye(len(q))[rated(system)]]) * scale
    _, values, ways = np.linalg.svd(rows)
    free = ways[int((values > RANK * values.max(initial=0.0)).sum()) :]
    return v + scale * (free.T @ (free @ ((ideal - v) / scale)))


def unladen(system: System, q: np.ndarray, held: Sequence[str]) -> Iterator[str]:
    """A note on journals that begin off their walls because places of other bodies are held within their play."""
    mechanism, given = system.mechanism, {system.mechanism.owner(name) for name in held}
    nearest: dict[str, float] = {}
    for label, gap in zip(system.contacts, system.evaluate(q).gaps.tolist(), strict=True):
        nearest[mechanism.owner(label)] = min(gap, nearest.get(mechanism.owner(label), math.inf))
    loose = mechanism.loose((Rigid, Compliant))
    off = [
        name
        for name, gap in nearest.items()
        if name in loose and gap > SAME and not given & set(map(mechanism.owner, loose[name].between))
    ]
    if off and mechanism.journals == "loaded":
        begin = "begins off the wall that carries it" if len(off) == 1 else "begin off the walls that carry them"
        yield (
            f"start: {', '.join(held)} is held within the play, and {', '.join(off)} {begin}: leave it out for a "
            "loaded start, or give places of all bodies with play"
        )


def leant(system: System, q: np.ndarray) -> Iterator[str]:
    """Places at the start that are those without play, and so missed by the play."""
    at = dict(zip(system.coordinates, q, strict=True))
    given = {name: x for name, x in system.mechanism.start.items() if name[-2:] in (".x", ".y")}
    moved = [name for name, x in given.items() if abs(at[name] - x) > SAME]
    if moved and system.leaning is not None and np.array_equal(q, system.leaning):
        text = "as without play, so journals begin on the walls that carry them, beside it"
        yield f"start: {', '.join(moved)} {text}; `journals: centred` keeps them in the middle"


def rated(system: System) -> list[int]:
    """The coordinates whose rates are given, by their numbers."""
    begun = [name.removesuffix(".rate") for name in system.mechanism.start if name.endswith("rate")]
    return [system.coordinates.index(f"{name}.angle" if name in system.mechanism.bodies else name) for name in begun]
