"""Positions of a mechanism followed along its free motions, and where one with a single degree of freedom may rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..system import System
from .assembly import Held, close, sizes

if TYPE_CHECKING:
    from .equilibrium import RestSearch

BALANCED = 1e-9  # share of the loads of a body that may stay without a reaction
STRIDE = 0.1  # rad, of a size of the mechanism, and of a clearance around its journal
SHORTEST = 1e-4  # of a stride: where that is too long, joints do not let it go on
ASTRAY = 0.5  # of a step: what closing may change of it
BENT = 0.5  # cosine between the ways at both ends of a step
MOST_TURNS = 10  # from the start
MOST = 2000  # strides each way
FAR = 2.0  # times what rests may lie apart: farther away there are none
COUNTS = 1e-9  # of the largest: forces that turns do not change, and a way that is none
HALVINGS = 12


class Forces(NamedTuple):
    """What acts in a position, in units of the coordinates."""

    unit: np.ndarray  # of the coordinates (m, rad)
    free: np.ndarray  # free motions, as columns
    along: np.ndarray  # the loads along them; none finite where a spring has no length, and so no direction
    lam: np.ndarray  # multipliers of the rows
    loads: np.ndarray  # their size at each coordinate (J), that of its body

    def balanced(self, share: float = BALANCED) -> bool:
        """Whether no more than this share of each body's loads is left along the free motions."""
        known = np.isfinite(self.along).all()
        return bool(known and (np.abs(self.free @ self.along) <= share * self.loads).all())

    def on(self, way: np.ndarray) -> float:
        """The load along a way (J): 0 if it is balanced, not a number where it is not known."""
        known = np.isfinite(self.along).all()
        return 0.0 if self.balanced() else float(self.free @ self.along @ way) if known else np.nan


class Waypoint(NamedTuple):
    """A place on a way."""

    q: np.ndarray
    way: np.ndarray  # of length 1, in sizes of the coordinates
    at: Forces


def steps(
    system: System, q: np.ndarray, way: np.ndarray, t: float, held: Held, at: Callable[[np.ndarray], Forces],
    stride: Callable[[np.ndarray, np.ndarray], float],
) -> Iterator[Waypoint]:  # fmt: skip
    """Positions from q on along a way that stays within the free motions, q among them, until joints end it; `stride`
    says how far to go along it, less where it bends."""
    scale, share, here = sizes(system), 1.0, _turned(q, way, at(q))
    while here is not None:
        yield here
        before, here = here, None
        while here is None and share > SHORTEST:
            step = share * stride(before.q, before.way) * before.way * scale
            if not step.any():
                return
            there, opened = close(system, before.q + step, t, held, iterations=30)
            off = np.abs((there - before.q - step) / scale).max()
            if not opened and off <= ASTRAY * np.abs(step / scale).max():
                here = _turned(there, before.way, at(there))
            share = min(1.0, 2 * share) if here else share / 2


def _turned(q: np.ndarray, way: np.ndarray, at: Forces) -> Waypoint | None:
    """A place with the way turned into the free motions there; None if that goes elsewhere."""
    on = at.free @ (at.free.T @ way)
    length = float(np.linalg.norm(on))
    return Waypoint(q, on / length, at) if length > BENT * np.linalg.norm(way) else None


def candidates(search: RestSearch, first: np.ndarray) -> Iterator[np.ndarray]:
    """Closed positions right beside the rests on the curve of positions through one, of a mechanism with one degree of
    freedom: where the load along it changes sign, is least, or vanishes."""
    if search.forces(first).balanced():
        yield first
    points = curve(search, first)
    loads = [point.at.on(point.way) for point in points]
    for (here, there), (a, b) in zip(pairwise(points), pairwise(loads), strict=True):
        if a * b < 0:
            yield _between(search, here.q, there.q, a)
        elif (a == 0) != (b == 0):
            yield (here if a == 0 else there).q
    for i in range(1, len(points) - 1):
        a, least, b = loads[i - 1 : i + 2]
        if least and min(a / least, b / least) > 1:  # two may lie close together
            yield points[i].q


def curve(search: RestSearch, first: np.ndarray) -> list[Waypoint]:
    """Places on the curve through a position, in order: all if it is closed, else until it ends or is too far away."""
    ways = search.forces(first).free
    if ways.shape[1] != 1:
        return []
    there, closed = _follow(search, first, ways[:, 0])
    if closed:
        return there
    back, _ = _follow(search, first, -ways[:, 0])
    return [p._replace(way=-p.way) for p in reversed(back[1:])] + there


def _follow(search: RestSearch, first: np.ndarray, way: np.ndarray) -> tuple[list[Waypoint], bool]:
    """The places one way, and whether the last is beyond the first again."""
    along = np.tile([True, True, False], len(first) // 3)
    found: list[Waypoint] = []

    def stride(q: np.ndarray, way: np.ndarray) -> float:
        h, unit = 1e-6, np.where(along, search.scale + np.abs(q - first), search.scale)
        lean = np.abs(search.leans(q + h * way * search.scale) - search.leans(q)).max(initial=0.0) / h
        return STRIDE / float(max(np.abs(way * search.scale / unit).max(), lean))

    for point in steps(search.system, first, way, search.t, search.held, search.forces, stride):
        found.append(point)
        if len(found) > 3 and _back(search, found[0], point, stride(first, found[0].way)):
            return found, True
        off = np.abs(point.q - search.first)
        if search.far and off[2::3].max() > min(search.far + 2 * np.pi, 2 * np.pi * MOST_TURNS):
            break  # a turn more, in which what nothing counts comes back
        if (off > FAR * search.reach)[along].any() or len(found) > MOST:
            break
    return found, False


def _back(search: RestSearch, first: Waypoint, now: Waypoint, stride: float) -> bool:
    """Whether a curve has just passed its beginning, whole turns aside that nothing counts."""
    off = search.apart(now.q, first.q)
    passed = float(off @ now.way)
    beside = np.abs(off - passed * now.way).max()  # as far as it bends
    if not (now.way @ first.way > BENT and 0 <= passed <= 2 * stride and beside <= passed**2 / stride + COUNTS):
        return False
    begun, turned = (search.system.evaluate(q, t=search.t) for q in (first.q, now.q - off * search.scale))
    forces = np.abs(begun.F - turned.F).max() <= COUNTS * np.abs(begun.F).max()
    return bool(forces and np.abs(begun.residual - turned.residual).max(initial=0.0) <= STRIDE)


def _between(search: RestSearch, low: np.ndarray, high: np.ndarray, load: float) -> np.ndarray:
    """Where the load along a short piece of the curve changes its sign, by halving."""
    way = (high - low) / search.scale
    for _ in range(HALVINGS):
        middle, _ = close(search.system, (low + high) / 2, search.t, search.held, iterations=30)
        low, high = (middle, high) if search.forces(middle).on(way) * load > 0 else (low, middle)
    return middle
