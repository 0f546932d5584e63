"""Carries demands on constraint rows over to the coordinates: the least change in the mass metric.

`Spread` factors B M^-1 B^T, row by row.  `Tree` is for mechanisms with few free coordinates: many rows have an entry of
1 or -1 (the place of a body at a joint, a driven angle), so they give one coordinate in terms of others without a
division.  These rows span a tree of joints; what remains is a small system in the free coordinates, with one row for
each that closes a loop.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..engine.text import branch, seldom
from ..engine.typing import Matrix, Scalar, Vector
from ..engine.values import is_value
from ..numerics.linalg import Factor, dot, inverse, is_zero

FLOOR = 1e-10  # of pivots: in a position in which rows depend on each other, what they say together is left out
FREE = 8  # free coordinates up to which a tree pays: their mass matrix is full


@dataclass
class Response:
    """What a unit impulse along a line does: the line and the change of the rates, both along the free coordinates,
    and the impulses that it calls in the rows that a `Spread` does not find from the change."""

    line: Vector
    change: Vector
    called: Vector


def spread(B: Matrix, masses: Vector, soft: Sequence[Scalar] = (), floor: float = FLOOR) -> Spread:
    """The spread of rows that suits them; floor: that of relative pivots."""
    chosen = tree(B) if len(masses) - len(B) <= FREE else []
    if chosen and len(masses) - len(chosen) <= FREE and all(is_zero(x) for x in soft):
        found = Tree(B, masses, chosen, floor)
        if all(any(not is_zero(x) for x in row) for row in found.C):  # no loop is closed by the tree alone
            return found.factored()
    return Spread(B, masses, soft, floor)


class Spread:
    """By B M^-1 B^T = L D L^T.  Its free coordinates are all coordinates.

    soft: by which share of its own size the diagonal of each row grows, so that rows may give way.
    """

    def __init__(self, B: Matrix, masses: Vector, soft: Sequence[Scalar] = (), floor: float = FLOOR) -> None:
        self.B, self.inverse = B, [1 / m for m in masses]
        self.size, self.lines = len(masses), [entries(row) for row in B]
        scaled = [{j: b * self.inverse[j] for j, b in row.items()} for row in self.lines]
        self.columns: list[dict[int, Scalar]] = [{} for _ in masses]
        for i, row in enumerate(scaled):
            for j, b in row.items():
                self.columns[j][i] = b
        matrix: Matrix = [[0] * len(B) for _ in B]
        for i, row in enumerate(self.lines):
            for k in sorted({k for j in row for k in self.columns[j]}):
                shared = [j for j in row if j in scaled[k]]
                matrix[i][k] = dot([row[j] for j in shared], [scaled[k][j] for j in shared])
        for i, share in enumerate(soft):
            matrix[i][i] = matrix[i][i] + share * matrix[i][i] if not is_zero(share) else matrix[i][i]
        self.factor = Factor(matrix, floor=floor) if B else None

    def weak(self, limit: float) -> Scalar:
        """Where some relative pivot is below the limit: the rows depend on each other."""
        return self.factor.weak(limit) if self.factor else False

    def least(self) -> Scalar:
        """The smallest relative pivot: 0 where rows depend on each other."""
        return self.factor.least() if self.factor else 1.0

    def __call__(self, rhs: Vector) -> tuple[Vector, Vector]:
        """The least change x with B x = rhs, and its multipliers."""
        if self.factor is None:
            return [0] * self.size, []
        multipliers = self.factor.solve(rhs)
        return [dot(list(c.values()), [multipliers[i] for i in c]) for c in self.columns], multipliers

    def nearest(self, free: Sequence[Scalar], rhs: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """x with B x = rhs that is nearest to free, and its multipliers: M x = M free + B^T multipliers."""
        change, multipliers = self([r - x for r, x in zip(rhs, along(self.lines, free), strict=True)])
        return [a + b for a, b in zip(free, change, strict=True)], multipliers

    def accelerations(self, forces: Sequence[Scalar], rhs: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """x and multipliers of M x = forces + B^T multipliers, B x = rhs."""
        return self.nearest([f * w for f, w in zip(forces, self.inverse, strict=True)], rhs)

    def response(self, line: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """The change of the rates by a unit impulse along a line, and the impulses that it calls in the rows."""
        found = self.impulse(line)
        return found.change, found.called

    def impulse(self, line: Sequence[Scalar]) -> Response:
        """What a unit impulse along a line does, in the free coordinates."""
        free = [x * w for x, w in zip(line, self.inverse, strict=True)]
        back, called = self([-x for x in along(self.lines, free)])
        return Response(list(line), [a + b for a, b in zip(free, back, strict=True)], called)

    def placed(self, change: Sequence[Scalar]) -> Vector:
        """All coordinates that go with free ones, as the rows have it."""
        return list(change)

    def after(
        self, weights: Sequence[Scalar], lines: Sequence[Sequence[Scalar]], responses: Sequence[Response]
    ) -> tuple[Vector, Vector]:
        """The change of all rates by impulses along lines, and the impulses that they call in the rows."""
        return mixed(weights, [r.change for r in responses]), mixed(weights, [r.called for r in responses])


class Tree(Spread):
    """By the free coordinates y: x = R y + what the tree demands; C y is left to the rows that close loops.

    chosen: rows and the coordinates that they give, as found by `tree`.
    """

    def __init__(self, B: Matrix, masses: Vector, chosen: list[tuple[int, int]], floor: float = FLOOR) -> None:
        self.floor = floor
        self.B, self.masses, self.inverse, self.size = B, masses, [1 / m for m in masses], len(masses)
        self.chosen, rows, given = chosen, {i for i, _ in chosen}, {j for _, j in chosen}
        self.free = [j for j in range(self.size) if j not in given]
        self.loops = [i for i in range(len(B)) if i not in rows]
        self.lines = [entries(row) for row in B]
        n = len(self.free)
        self.R = [self.placed([1.0 if k == column else 0.0 for k in range(n)]) for column in range(n)]  # by columns
        self.closing = [self.lines[i] for i in self.loops]
        columns = [along(self.closing, column) for column in self.R]
        self.C = [[column[k] for column in columns] for k in range(len(self.loops))]

    def factored(self) -> Tree:
        """The same, ready for use."""
        n = len(self.free)
        mass: Matrix = [[0] * n for _ in self.R]
        for k in range(n):
            heavy = [m * r for m, r in zip(self.masses, self.R[k], strict=True)]
            for i in range(k + 1):
                mass[k][i] = mass[i][k] = dot(heavy, self.R[i])
        self.core = Factor(mass)
        self.carried = [self.core.solve(row) for row in self.C]
        alone = [sum((x * x * self.inverse[j] for j, x in self.lines[i].items()), start=0) for i in self.loops]
        self.schur = Factor([[dot(row, change) for change in self.carried] for row in self.C], (), self.floor, alone)
        # as many loops as free coordinates: they alone say all
        self.determined = inverse(self.C) if len(self.C) == n and n in (1, 2) else None
        return self

    def weak(self, limit: float) -> Scalar:
        """Where some relative pivot of the rows that close loops is below the limit: the rows depend on each other.
        Those of the tree cannot."""
        return self.schur.weak(limit)

    def least(self) -> Scalar:
        """The smallest relative pivot of the rows that close loops."""
        return self.schur.least()

    def __call__(self, rhs: Vector) -> tuple[Vector, Vector]:
        """The least change x with B x = rhs, and its multipliers."""
        return self.accelerations([0] * self.size, rhs)

    def nearest(self, free: Sequence[Scalar], rhs: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """x with B x = rhs that is nearest to free, and its multipliers: M x = M free + B^T multipliers."""
        return self.accelerations([m * x for m, x in zip(self.masses, free, strict=True)], rhs)

    def accelerations(self, forces: Sequence[Scalar], rhs: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """x and multipliers of M x = forces + B^T multipliers, B x = rhs."""
        begin = self.placed([0] * len(self.free), rhs)
        lacking = [rhs[i] - x for i, x in zip(self.loops, along(self.closing, begin), strict=True)]

        def by_mass() -> tuple[Vector, Vector]:
            push, _ = self.pulled([f - m * a for f, m, a in zip(forces, self.masses, begin, strict=True)])
            y, called = self.moved(push, lacking)
            return self.placed(y, rhs), called

        def by_loops(given: Matrix) -> tuple[Vector, Vector]:
            x = self.placed([dot(row, lacking) for row in given], rhs)
            left, _ = self.pulled([m * a - f for m, a, f in zip(self.masses, x, forces, strict=True)])
            return x, [dot(column, left) for column in zip(*given, strict=True)]

        if self.determined is None:
            x, called = by_mass()
        else:  # loops say nothing where they depend on each other
            given = self.determined
            x, called = branch(self.schur.weak(10 * self.floor), seldom(by_mass), lambda: by_loops(given))
        return x, self.called(forces, x, called)

    def moved(self, push: Sequence[Scalar], lacking: Sequence[Scalar] = ()) -> tuple[Vector, Vector]:
        """The free coordinates that give the loops what is lacking under a push along them, and the loops'
        multipliers."""
        y = self.core.solve(push)
        if not self.loops:
            return y, []
        lacking = lacking or [0] * len(self.loops)
        called = self.schur.solve([r - dot(row, y) for r, row in zip(lacking, self.C, strict=True)])
        for weight, change in zip(called, self.carried, strict=True):
            y = [a + weight * b for a, b in zip(y, change, strict=True)]
        return y, called

    def pulled(self, forces: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """What forces do along the free coordinates, and the multipliers of the tree that carry the rest."""
        left, multipliers = list(forces), [0] * len(self.B)
        for i, j in reversed(self.chosen):
            multipliers[i] = left[j] * self.B[i][j]
            for other, x in self.lines[i].items():
                if other != j:
                    left[other] = left[other] - x * multipliers[i]
        return [left[j] for j in self.free], multipliers

    def placed(self, change: Sequence[Scalar], rhs: Sequence[Scalar] | None = None) -> Vector:
        """All coordinates that go with free ones, the rows of the tree giving what is demanded, or nothing."""
        x: Vector = [0] * self.size
        for j, value in zip(self.free, change, strict=True):
            x[j] = value
        for i, j in self.chosen:
            rest = 0 if rhs is None else rhs[i]
            for other, entry in self.lines[i].items():
                if other != j:
                    rest = rest - entry * x[other]
            x[j] = rest * self.B[i][j]
        return x

    def called(self, forces: Sequence[Scalar], x: Sequence[Scalar], loops: Sequence[Scalar]) -> Vector:
        """The multipliers of all rows: M x = forces + B^T multipliers, those of the loops being known."""
        rest = [m * a - f for m, a, f in zip(self.masses, x, forces, strict=True)]
        for multiplier, i in zip(loops, self.loops, strict=True):
            for j, entry in self.lines[i].items():
                rest[j] = rest[j] - entry * multiplier
        _, multipliers = self.pulled(rest)
        for multiplier, i in zip(loops, self.loops, strict=True):
            multipliers[i] = multiplier
        return multipliers

    def response(self, line: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """The change of the rates by a unit impulse along a line, and the impulses that it calls in the rows."""
        return self.after([1], [line], [self.impulse(line)])

    def impulse(self, line: Sequence[Scalar]) -> Response:
        """What a unit impulse along a line does, in the free coordinates."""
        own, _ = self.pulled(line)
        return Response(own, *self.moved(own))

    def after(
        self, weights: Sequence[Scalar], lines: Sequence[Sequence[Scalar]], responses: Sequence[Response]
    ) -> tuple[Vector, Vector]:
        """The change of all rates by impulses along lines, and the impulses that they call in the rows."""
        change = self.placed(mixed(weights, [r.change for r in responses]))
        return change, self.called(mixed(weights, lines), change, mixed(weights, [r.called for r in responses]))


def entries(row: Sequence[Scalar]) -> dict[int, Scalar]:
    """What a row holds besides structural zeros, by column."""
    return {j: x for j, x in enumerate(row) if not is_zero(x)}


def along(rows: Sequence[dict[int, Scalar]], x: Sequence[Scalar]) -> Vector:
    """The products of rows with a vector."""
    return [dot(list(row.values()), [x[j] for j in row]) for row in rows]


def tree(B: Matrix) -> list[tuple[int, int]]:
    """Rows, and the coordinates that they give in terms of others by an entry of 1 or -1; no row contains a coordinate
    that a later one gives."""
    columns = [list(entries(row)) for row in B]
    holding: dict[int, list[int]] = {}  # which rows a coordinate stands in
    for i, row in enumerate(columns):
        for j in row:
            holding.setdefault(j, []).append(i)
    chosen: list[tuple[int, int]] = []
    given: set[int] = set()
    seen: set[int] = set()  # in rows chosen before
    found: dict[int, tuple[int, int, int, int]] = {}  # rows that may be chosen: the least comes next
    changed: Collection[int] = range(len(B))
    left = {*changed}
    while True:
        for i in left.intersection(changed):
            found.pop(i, None)
            rest = [j for j in columns[i] if j not in given]
            able = [j for j in rest if j not in seen and not is_value(B[i][j]) and abs(B[i][j]) == 1]
            if able:
                found[i] = sum(not is_value(B[i][j]) for j in rest), len(rest), i, able[-1]
        if not found:
            return chosen
        *_, i, j = min(found.values())
        del found[i]
        left.remove(i)
        chosen.append((i, j))
        given.add(j)
        seen.update(columns[i])
        changed = {k for column in columns[i] for k in holding[column]}


def mixed(weights: Sequence[Scalar], rows: Sequence[Sequence[Scalar]]) -> Vector:
    """The sum of rows times their weights."""
    return [dot(weights, column) for column in zip(*rows, strict=True)]
