"""All the ways in which a mechanism can be assembled with its start values."""

from __future__ import annotations

import math
from itertools import chain

import numpy as np

from ..system import System
from .assembly import FIRM, Assembly, Held, assembled, close, independent, missed, rate_rows, sizes, starts
from .guesses import elsewhere, guesses

SAME = 1e-6  # of the size of coordinates, or rad: assemblies that differ by less are one
TURNED = (0.9, -1.7, 2.6)  # rad, and sizes of the mechanism: moves by which rows are tried for being straight
STRAIGHT = 1e-9  # of the longest row: what a straight row may change
WIDE = 3.0  # rad, and sizes of the mechanism: so far from the first assembly others are looked for
MORE = 0.2  # assemblies that may be expected beyond those found
TRIES, ROUNDS = 48, 30  # at most, and of Newton's method in each: what closes mostly does so in ten
MANY = 30  # bodies: of more a search has fewer tries in proportion


def assemblies(system: System, t: float = 0.0) -> list[np.ndarray]:
    """All the ways in which a mechanism can be assembled that a search finds, the nearest to the start values first;
    empty where it may move freely.

    Searched is only what linear rows leave open, from places drawn there, until hardly another assembly is expected:
    where n tries that close find w assemblies, w (n - 1) / (n - w - 2) are likely (Boender and Rinnooy Kan 1987).
    Of more than thirty bodies the tries are fewer in proportion.
    """
    tried = (assembled(system, begin, t, False) for begin in chain(guesses(system, t), elsewhere(system)))
    first = next((one.q for one in tried if isinstance(one, Assembly)), None)
    if first is None:
        return []
    held, scale = starts(system, first, t), sizes(system)
    rows = np.vstack([system.evaluate(first, t=t).B, held.rows]) * scale
    if len(independent(rows, FIRM)) < len(first):
        return []
    found, closed, random, ways = [first], 1, np.random.default_rng(1), bent(system, first, held, t)
    for _ in range(min(TRIES, TRIES * MANY // len(system.mechanism.bodies)) if ways.size else 0):
        if len(found) * (closed - 1) <= (len(found) + MORE) * (closed - len(found) - 2):
            break
        begin = first + scale * (ways @ random.uniform(-WIDE, WIDE, ways.shape[1]))
        q, opened = close(system, begin, t, held, ROUNDS)
        closed += not opened
        if not opened and not any(alike(system, q, other) for other in found):
            found.append(q)
    return sorted(found, key=lambda q: missed(system, q))


def bent(system: System, q: np.ndarray, held: Held, t: float) -> np.ndarray:
    """The directions in which there may be other assemblies than q, as columns: what is left when rows that are linear
    take theirs away, then those that are linear in the rest, as the rows of most joints are once angles are known."""
    scale, kept = sizes(system), ~rate_rows(system)

    def lines(at: np.ndarray) -> np.ndarray:
        found: np.ndarray = np.vstack([system.evaluate(at, t=t).B[kept], held.rows]) * scale
        return found

    free, random, rank = np.eye(len(q)), np.random.default_rng(2), 1
    while free.shape[1] and rank:
        moves = [turn * free @ random.uniform(0.5, 1.0, free.shape[1]) for turn in TURNED]
        here = lines(q) @ free
        off = np.abs([lines(q + scale * move) @ free - here for move in moves]).max(axis=(0, 2), initial=0.0)
        straight = here[off <= STRAIGHT * max(1.0, float(np.abs(here).max(initial=0.0)))]
        _, values, ways = np.linalg.svd(straight)
        rank = int((values > FIRM * max(1.0, *values)).sum()) if values.size else 0
        free = free @ ways[rank:].T
    return free


def alike(system: System, one: np.ndarray, other: np.ndarray) -> bool:
    """Whether coordinates are the same but for whole turns."""
    off = (one - other) / sizes(system)
    off[2::3] = np.remainder(off[2::3] + np.pi, math.tau) - np.pi
    return bool(np.abs(off).max() < SAME)
