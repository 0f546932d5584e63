"""How far a mechanism can be wound up, where springs or gears count its turns, and the way there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..system import System
from .assembly import Held, close, sizes

MOST_TURNS = 10  # from the start
COUNTS = 1e-9  # of the loads: a change by a whole turn that is none
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
    system: System, first: np.ndarray, t: float, held: Held, free: Callable[[np.ndarray], np.ndarray], far: float
) -> Iterator[np.ndarray]:
    """Positions on the way from a first one, to and fro until something has turned so far (rad): what joints keep from
    turning round is not wound up by them; free: the free motions in a position, as columns, by sizes of coordinates."""
    random, scale = np.random.default_rng(0), sizes(system)
    for _ in range(min(WALKS, free(first).shape[1])):
        begin = random.normal(size=len(first))
        for sign in (1.0, -1.0):
            q, way = first, sign * begin
            for _ in range(int(far / STRIDE)):
                ways = free(q)
                way = ways @ (ways.T @ way)
                if not (turn := np.abs(way[2::3]).max()) > COUNTS * np.abs(way).max():
                    break
                way = way / turn
                q, opened = close(system, q + STRIDE * way * scale, t, held, iterations=30)
                if opened:
                    break
                yield q


def within(system: System, q: np.ndarray, first: np.ndarray, t: float, held: Held) -> bool:
    """Whether a position, once it is closed, has every body within half a turn of a first one: others are wound up in a
    way that no motion leads to."""
    at, _ = close(system, q, t, held, iterations=30)
    return bool(np.abs(at - first)[2::3].max() <= np.pi)
