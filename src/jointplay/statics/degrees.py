"""Degrees of freedom of an assembled mechanism, and the constraints that are redundant or singular."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..system import System
from .assembly import RANK, close, independent, sizes

BENT = 1e-6  # of what rates ask of a row: more is no rounding


@dataclass(frozen=True)
class Freedom:
    """Degrees of freedom of an assembled mechanism, counted and by the rank of its constraints."""

    coordinates: int
    rows: int
    rank: int
    redundant: tuple[str, ...]  # rows that follow from the others; their reactions are not unique
    singular_values: tuple[float, ...]  # of the matrix of constraints, its rows of length 1
    passing: tuple[str, ...] = ()  # rows that follow from the others here, but not beside here: a singular position

    @property
    def counted(self) -> int:
        """Coordinates less rows."""
        return self.coordinates - self.rows

    @property
    def degrees(self) -> int:
        """Coordinates less independent rows."""
        return self.coordinates - self.rank

    @property
    def conditioning(self) -> float:
        """Smallest used singular value over the largest: near 0 is a singular position."""
        if self.passing:
            return 0.0
        return self.singular_values[self.rank - 1] / self.singular_values[0] if self.rank else 1.0


def freedom(system: System, q: ArrayLike, t: float = 0.0) -> Freedom:
    """Degrees of freedom at an assembled configuration, with the rows that are redundant there and beside it."""
    B = system.evaluate(q, t=t).B * sizes(system)
    lengths = np.linalg.norm(B, axis=1, keepdims=True)
    values = np.linalg.svd(B / np.where(lengths == 0, 1.0, lengths), compute_uv=False) if len(B) else np.zeros(0)
    clear = len(values) == len(B) and values.min(initial=1.0) > 10 * RANK  # no row is nearer to the others than that
    kept = list(range(len(B))) if clear else independent(B)
    dependent = [row for i, row in enumerate(system.rows) if i not in kept]
    at = np.asarray(q, float)
    true = beside(system, at, t) - bent(system, at, t, kept) if dependent else set()
    lasting = [row for row in dependent if row in true]
    passing = tuple(row for row in dependent if row not in lasting)
    return Freedom(
        len(system.coordinates), len(system.rows), len(kept), tuple(lasting), tuple(values.tolist()), passing
    )


def beside(system: System, q: np.ndarray, t: float) -> set[str]:
    """The rows that are redundant in every position near q that the mechanism can reach: those of a true redundancy."""
    scale, random = sizes(system), np.random.default_rng(0)
    B = system.evaluate(q, t=t).B * scale
    free = np.linalg.svd(B)[2][np.linalg.matrix_rank(B, RANK * float(np.linalg.norm(B, 2))) :]
    found: set[str] | None = None
    ways = [random.normal(size=len(free)) @ free for _ in range(3)] if len(free) else []
    tries = [(q + sign * size * way * scale, t) for way in ways for size in (1e-3, 1e-2) for sign in (1, -1)]
    for near, time in [*tries, (q, t + 1e-3), (q, t + 1e-2)]:
        at, opened = close(system, near, time)
        if opened or np.abs((at - q) / scale).max() < 1e-6:
            continue
        rows = system.evaluate(at, t=time).B * scale
        kept = independent(rows)
        here = {row for i, row in enumerate(system.rows) if i not in kept}
        found = here if found is None else found & here
    return set(system.rows) if found is None else found


def bent(system: System, q: np.ndarray, t: float, kept: Sequence[int]) -> set[str]:
    """The rows that follow from the kept ones here, but ask for other accelerations where all rows allow a rate: it
    leads nowhere (two bars that are stretched between their pivots), and the position is singular."""
    scale, random = sizes(system), np.random.default_rng(1)
    B = system.evaluate(q, t=t).B * scale
    free = np.linalg.svd(B)[2][len(kept) :]
    share = np.linalg.lstsq(B[kept].T, B.T, rcond=RANK)[0]  # of each kept row in each row
    found: set[str] = set()
    for way in random.normal(size=(3, len(free))) @ free:
        ahead, back, still = (system.evaluate(q, sign * way * scale, t).rhs for sign in (1, -1, 0))
        asked = (ahead + back) / 2 - still  # what is of second degree in the rates
        off, terms = np.abs(asked - asked[kept] @ share), np.abs(asked) + np.abs(asked[kept]) @ np.abs(share)
        size = np.maximum(terms, np.linalg.norm(B, axis=1) * (way @ way))
        found |= {row for row, x, most in zip(system.rows, off, size, strict=True) if x > BENT * most}
    return found
