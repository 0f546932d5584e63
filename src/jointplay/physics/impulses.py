"""What the Moreau-Jean step computes with: contacts as rows, sums of impulses, positions closed, the ends of a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..engine.values import where
from ..numerics.linalg import linear_solve
from .contact_solver import SOFT
from .contacts import contacts
from .dynamics import Equations

PER_CONTACT = ("normal", "tangential", "mode", "impact loss", "friction loss", "slip")


class Touch:
    """All contacts at one position, with rows as lists over the coordinates."""

    def __init__(self, text: Equations, q: list[Any], t: Any) -> None:
        self.contacts = contacts(text.pose(q, t))
        self.gaps = [c.gap for c in self.contacts]
        self.normals = [[c.normal.get(name, 0) for name in text.coordinates] for c in self.contacts]
        self.tangents = [[(c.tangential or {}).get(name, 0) for name in text.coordinates] for c in self.contacts]


def combined(base: Sequence[Any], weights: Sequence[Any], changes: Sequence[Sequence[Any]]) -> list[Any]:
    """base + sum of weight times change."""
    result = list(base)
    for weight, change in zip(weights, changes, strict=True):
        result = [x + weight * d for x, d in zip(result, change, strict=True)]
    return result


def closing(W: list[list[Any]], wanted: list[Any], chosen: list[Any]) -> list[Any]:
    """Multipliers that open the chosen gaps by what is wanted, for the responses W of the gaps."""
    if len(wanted) == 1:
        return [where(chosen[0], wanted[0] * (1 / W[0][0]), 0.0)]
    matrix, right = [], []
    for i, row in enumerate(W):
        soft = [w * (1 + SOFT) if i == j else w for j, w in enumerate(row)]
        matrix.append([where(chosen[i], w, 1.0 if i == j else 0.0) for j, w in enumerate(soft)])
        right.append(where(chosen[i], wanted[i], 0.0))
    return linear_solve(matrix, right)


@dataclass
class Ends:
    """What a step arrives at: rates, change of place from where the free motion led, impulses of rows and contacts."""

    rates: list[Any]
    change: list[Any]
    rows: list[Any]
    struck: Any  # 1 in a step in which a contact is struck or closes, else 0: its impulses are no forces
    contacts: list[list[Any]]  # PER_CONTACT of each

    def flat(self) -> list[Any]:
        """All numbers in one list."""
        return [*self.rates, *self.change, *self.rows, self.struck, *(x for each in self.contacts for x in each)]

    def like(self, numbers: Sequence[Any]) -> Ends:
        """The same kind of ends from a flat list."""
        n, m, k = len(self.rates), len(self.rows), len(PER_CONTACT)
        rates, change, rows, [struck, *rest] = (
            list(numbers[i:j]) for i, j in ((0, n), (n, 2 * n), (2 * n, 2 * n + m), (2 * n + m, None))
        )
        return Ends(rates, change, rows, struck, [rest[i : i + k] for i in range(0, len(rest), k)])


def largest(values: Sequence[Any]) -> Any:
    """The largest of several values, at least 0."""
    result: Any = 0.0
    for x in values:
        result = where(x > result, x, result)
    return result
