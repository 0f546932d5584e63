"""How far a mechanism can be wound up, where springs or gears count its turns, and the way there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..system import System
from .assembly import Held, close
from .curve import COUNTS, MOST_TURNS, Forces, steps

STRIDE = 0.5  # rad, of what turns fastest
WALKS = 6  # at most


def wound(system: System, q: np.ndarray, t: float, moments: np.ndarray) -> float:
    """How far (rad) from q rests may be turned, of what turns fastest: 0 unless a whole turn changes forces, as those
    of torsion springs under the moments of the bodies (N m), or constraints, as behind gears."""
    angles, most = np.arange(2, len(q), 3), float(moments.sum())
    forces, rows = system.evaluate(q, t=t).F, system.constraints(q, t)[0]
    turned = [q + 2 * np.pi * np.eye(len(q))[i] for i in angles]
    change = np.array([abs(system.evaluate(at, t=t).F - forces)[i] for at, i in zip(turned, angles, strict=True)])
    moved = np.array([np.abs(system.constraints(at, t)[0] - rows) for at in turned])
    gears, springs = moved.T[moved.max(axis=0, initial=0.0) > 1.0], change > COUNTS * most  # rad
    if not (len(gears) or springs.any()):
        return 0.0
    far = np.pi + np.where(springs, 2 * np.pi * most / np.where(springs, change, 1.0), 0.0)
    for row in [row for _ in gears for row in gears]:  # from one to the next
        on = row > 1.0
        far[on] = np.maximum(far[on], (far[on] * row[on]).max() / row[on])
    return float(min(far.max(), 2 * np.pi * MOST_TURNS))


def walks(
    system: System, first: np.ndarray, t: float, held: Held, forces: Callable[[np.ndarray], Forces], far: float
) -> Iterator[np.ndarray]:
    """Positions on the way from a first one, to and fro until something has turned so far (rad): what joints keep from
    turning round is not wound up by them."""

    def stride(q: np.ndarray, way: np.ndarray) -> float:
        turn = float(np.abs(way[2::3]).max())
        return STRIDE / turn if turn > COUNTS * np.abs(way).max() else 0.0

    random, ways = np.random.default_rng(0), forces(first).free
    for _ in range(min(WALKS, ways.shape[1])):
        begin = ways @ (ways.T @ random.normal(size=len(first)))
        for sign in (1.0, -1.0):
            for point in steps(system, first, sign * begin, t, held, forces, stride):
                if np.abs(point.q - first)[2::3].max() > far:
                    break
                yield point.q


def within(system: System, q: np.ndarray, first: np.ndarray, t: float, held: Held) -> bool:
    """Whether a position, once it is closed, has every body within half a turn of a first one: others are wound up in a
    way that no motion leads to."""
    at, _ = close(system, q, t, held, iterations=30)
    return bool(np.abs(at - first)[2::3].max() <= np.pi)
