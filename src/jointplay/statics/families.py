"""Equilibria that were found, of each continuous family one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .assembly import close
from .curve import candidates

if TYPE_CHECKING:
    from .equilibrium import Equilibrium, RestSearch

NEAREST, WALK, STRIDE = 2, 30, 0.5  # members of a family that are tried, steps to them, and their size (rad)
ROUGHLY = 1e-4  # rad, or sizes of the mechanism: as near to a member a walk has arrived
STRAIGHT = 0.3  # of what is left to go: less of it along flat ways leads elsewhere

Kind = tuple[int, int, tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class _Family:
    """A continuous family of equilibria: the one that is given, what all have in common, positions that were found."""

    first: Equilibrium
    kind: Kind
    members: list[np.ndarray]


class FoundRest:
    """The equilibria of a search."""

    def __init__(self, search: RestSearch) -> None:
        self.search = search
        self.all: list[Equilibrium] = []
        self.families: list[_Family] = []

    def add_along(self, q: np.ndarray) -> None:
        """Add those on the curve of positions through one, if the mechanism has one degree of freedom."""
        for beside in candidates(self.search, q) if self.search.degrees == 1 else ():
            at = self.search.rest(beside)
            if at is not None:
                self.add(at)

    def add(self, at: np.ndarray) -> bool:
        """Add a position of rest, and tell whether it is new, and of no family that is known."""
        search = self.search
        if any(search.same(at, e.q) for e in self.all):
            return False
        new = search.describe(search.unwound(at))
        kind = self.kind(new)
        kin = [one for one in self.families if one.kind == kind and self.joined(new.q, one.members)]
        if kin:  # families that it joins are one
            kin[0].members.extend([new.q, *(q for one in kin[1:] for q in one.members)])
            self.families = [one for one in self.families if one not in kin[1:]]
            self.all = [e for e in self.all if all(e is not one.first for one in kin[1:])]
            return False
        self.all.append(new)
        if kind is not None:
            self.families.append(_Family(new, kind, [new.q]))
        return True

    def joined(self, q: np.ndarray, members: list[np.ndarray]) -> bool:
        """Whether a position is of the family of others: whether flat ways lead from it to one of the nearest."""
        nearest = sorted(members, key=lambda other: float(np.abs(self.search.apart(other, q)).max()))[:NEAREST]
        return any(self.leads(q, other) for other in nearest)

    def leads(self, q: np.ndarray, end: np.ndarray) -> bool:
        """Whether one comes from a position of rest to another by flat ways, always towards it."""
        search = self.search
        for _ in range(WALK):
            if search.same(q, end, ROUGHLY):
                return True
            at, values, ways, none = search.bent(q)
            flat = ways[:, np.abs(values) <= none] * (at.unit / search.scale)[:, None]
            off = search.apart(end, q)
            step = flat @ np.linalg.lstsq(flat, off, rcond=None)[0]
            far = np.abs(step * search.scale / search.reach).max()
            if np.linalg.norm(step) < STRAIGHT * np.linalg.norm(off):
                return False
            on = q + step * min(1.0, STRIDE / far) * search.scale
            beside, opened = close(search.system, on, search.t, search.held)
            there = None if opened else beside if search.evenly(beside).balanced() else search.rest(beside)
            if there is None:
                return False
            q = there
        return False

    def kind(self, e: Equilibrium) -> Kind | None:
        """What a continuous family of equilibria has in common: how many eigenvalues are negative and zero, the
        contacts that pull and the stops it lies beyond; None for an equilibrium that stands alone."""
        search = self.search
        at, values, ways, none = search.bent(e.q)
        flat = np.abs(values) <= none
        for way in (ways[:, flat] * at.unit[:, None]).T:
            far = 0.01 * way / np.abs(way / search.scale).max()
            beside, opened = close(search.system, e.q + far, search.t, search.held)
            if opened or not search.evenly(beside).balanced(1e-7):
                return None  # flat, but alone
        if not flat.any():
            return None
        return int((values < -none).sum()), int(flat.sum()), e.tension, e.beyond
