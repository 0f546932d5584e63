"""The equations of motion as text: constraint rows with their rates, and accelerations by the Schur complement."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from ..engine.derivatives import derivative
from ..model.mechanism import Mechanism
from ..numerics.linalg import Factor, dot
from .constraints import constraints
from .forces import forces, masses
from .kinematics import Numbers, Pose


@dataclass
class Rows:
    """The constraints at one state: residual = 0, B v = speed, B a = rhs."""

    labels: list[str]
    residual: list[Any]
    B: list[list[Any]]
    Bdot: list[list[Any]]
    speed: list[Any]
    rhs: list[Any]


class Equations:
    """The text of a mechanism's equations; `dropped` rows (redundant ones) are left out."""

    def __init__(self, mechanism: Mechanism, numbers: Numbers, dropped: Collection[str] = ()) -> None:
        self.mechanism, self.numbers, self.dropped = mechanism, numbers, dropped
        self.coordinates = [f"{body}.{c}" for body in mechanism.bodies for c in ("x", "y", "angle")]

    def pose(self, q: list[Any], t: Any) -> Pose:
        """The configuration at coordinates q."""
        return Pose(self.mechanism, self.numbers, dict(zip(self.coordinates, q, strict=True)), t)

    def rows(self, q: list[Any], v: list[Any], t: Any) -> Rows:
        """The constraints by differentiation of their functions."""
        labelled = [(label, x) for label, x in constraints(self.pose(q, t)) if label not in self.dropped]
        inputs, speeds = [*q, t], [*v, 1]

        def along(rows: list[list[Any]]) -> list[Any]:  # total time derivative, given partial ones
            return [dot(row, speeds) for row in rows]

        slopes = derivative([x for _, x in labelled], inputs)
        B = [row[:-1] for row in slopes]
        return Rows(
            labels=[label for label, _ in labelled],
            residual=[x for _, x in labelled],
            B=B,
            Bdot=[along(derivative(row, inputs)) for row in B],
            speed=[-row[-1] for row in slopes],
            rhs=[-x for x in along(derivative(along(slopes), inputs))],
        )

    def forces(self, q: list[Any], v: list[Any], t: Any) -> list[Any]:
        """Applied generalised forces."""
        at, rates = (dict(zip(self.coordinates, x, strict=True)) for x in (q, v))
        return forces(self.pose(q, t), at, rates)

    def masses(self) -> list[Any]:
        """The diagonal of the mass matrix."""
        return masses(self.numbers, self.mechanism)

    def spread(self, rows: Rows, rhs: list[Any]) -> tuple[list[Any], list[Any], Any]:
        """The least change x (in the mass metric) with B x = rhs, its multipliers and the smallest relative pivot."""
        inverse = [1 / m for m in self.masses()]
        scaled = [[b * w for b, w in zip(row, inverse, strict=True)] for row in rows.B]
        if not rows.B:
            return [0] * len(inverse), [], 1.0
        factor = Factor([[dot(a, b) for b in scaled] for a in rows.B])
        multipliers = factor.solve(rhs)
        change = [dot([row[j] for row in scaled], multipliers) for j in range(len(inverse))]
        return change, multipliers, factor.pivot

    def accelerations(self, q: list[Any], v: list[Any], t: Any) -> tuple[list[Any], list[Any], Any]:
        """Accelerations, multipliers of the rows, and the smallest relative pivot."""
        rows = self.rows(q, v, t)
        free = [f / m for f, m in zip(self.forces(q, v, t), self.masses(), strict=True)]
        lacking = [r - dot(row, free) for r, row in zip(rows.rhs, rows.B, strict=True)]
        change, multipliers, pivot = self.spread(rows, lacking)
        return [a + b for a, b in zip(free, change, strict=True)], multipliers, pivot
