"""Positions that a mechanism can reach, away from singular ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..statics.assembly import assemble, close
from ..statics.complement import Coordinates, Singular

STEP = 0.9  # rad or sizes of the mechanism: the longest step of the walk
CLEAR = 1e-3  # least rate of the coordinates relative to the fastest body: nearer to a singular position is left out
TRIES = 20  # per position that is wanted


@dataclass(frozen=True)
class Position:
    """Coordinates and the complement there."""

    q: np.ndarray
    C: np.ndarray


def positions(chosen: Coordinates, count: int = 40, seed: int = 0) -> tuple[list[Position], int]:
    """Positions on a random walk from the start along what the joints leave free, and how many singular ones were left
    out on the way."""
    random, scale = np.random.default_rng(seed), chosen.scale
    begin = np.asarray(assemble(chosen.free), float)
    found: list[Position] = []
    singular, told = 0, ""
    q = begin
    basis = _free(chosen, q)
    for _ in range(TRIES * count):
        if len(found) == count:
            break
        way = basis @ random.normal(size=basis.shape[1]) if basis.size else np.zeros(len(q))
        size = np.abs(way).max(initial=0.0)
        step = random.uniform(0.2, 1.0) * STEP * way / size if size else way
        near, opened = close(chosen.free, q + step * scale, 0.0, iterations=30)
        if opened:
            continue
        try:
            C = chosen.complement(chosen.evaluate(near))
        except Singular as error:
            singular, told = singular + 1, str(error)
            if singular == TRIES and not found:
                break
            continue
        if 1 / np.abs(C / scale[:, None]).max(initial=1.0) < CLEAR:
            singular += 1
            continue
        q, basis = near, _free(chosen, near)
        found.append(Position(q, C))
    if not found:
        text = f"{chosen.system.mechanism.name!r}: no position away from singular ones was found from its start"
        raise InputError(told or f"mechanism {text}; choose other coordinates or another start")
    return found, singular


def along(chosen: Coordinates, path: np.ndarray, any_rates: bool = False) -> tuple[list[Position], int]:
    """The positions of a motion (times, coordinates), and how many singular ones were left out.  any_rates: which
    coordinates have unit rates does not matter; where those chosen stand still (a rocker in its dead centre) the one
    way that joints leave free takes their place."""
    found: list[Position] = []
    for q in path:
        try:
            C = chosen.complement(chosen.evaluate(q))
            weak = 1 / np.abs(C / chosen.scale[:, None]).max(initial=1.0) < CLEAR
        except Singular:
            weak = True
        if weak and any_rates and (ways := _free(chosen, q)).shape[1] == 1:
            C, weak = ways * chosen.scale[:, None], False
        if not weak:
            found.append(Position(q, C))
    return (found, len(path) - len(found)) if found else positions(chosen)


def _free(chosen: Coordinates, q: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what all joints leave free, in scaled coordinates."""
    B = chosen.free.evaluate(q).B * chosen.scale
    if not len(B):
        return np.eye(len(q))
    values, ways = np.linalg.svd(B)[1:]
    return np.asarray(ways[int((values > 1e-9 * values[0]).sum()) :].T)
