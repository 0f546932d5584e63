"""Small linear algebra, unrolled: structural zeros cost nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..engine.typing import Matrix as Matrix
from ..engine.typing import Scalar as Scalar
from ..engine.typing import Vector as Vector
from ..engine.values import here, is_value, sqrt, where


def root(x: Scalar) -> Scalar:
    """The square root of an engine value or a number, and of every number of an array."""
    return np.sqrt(x) if isinstance(x, np.ndarray) else sqrt(x)


def is_zero(x: Scalar) -> bool:
    """True for a structural zero."""
    return not is_value(x) and x == 0


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """Sum of products, left to right."""
    total: Scalar = 0
    for x, y in zip(a, b, strict=True):
        if not (isinstance(x, int | float) and x == 0) and not (isinstance(y, int | float) and y == 0):
            total = total + x * y
    return total


def minimum_degree(matrix: Matrix, last: Sequence[int] = ()) -> list[int]:
    """The order in which to eliminate a symmetric matrix with little fill, leaving `last` for the end."""
    size = len(matrix)
    near = {i: {j for j in range(size) if j != i and not is_zero(matrix[i][j])} for i in range(size)}
    order: list[int] = []
    while len(order) < size - len(last):
        i = min((k for k in near if k not in last), key=lambda k: (len(near[k]), k))
        around = near.pop(i)
        order.append(i)
        for j in around:
            near[j] = (near[j] | around) - {i, j}
    return [*order, *last]


class Factor:
    """LDL^T of a symmetric matrix; with `keep`, elimination stops at the Schur complement on those rows.

    `pivot` is the smallest relative pivot |d| / (|a| + what elimination took from it): 1 is perfect,
    values near round-off mean a singular matrix.  floor: of a matrix that has no negative pivots, relative pivots below
    this are raised to it, so that rows which depend on others ask for little instead of for anything.  alone: more that
    each pivot counts as small beside.
    """

    def __init__(
        self, matrix: Matrix, keep: Sequence[int] = (), floor: float = 0.0, alone: Sequence[Scalar] = ()
    ) -> None:
        self.order = minimum_degree(matrix, keep)
        self.size, self.done = len(matrix), len(matrix) - len(keep)
        work = [[matrix[i][j] for j in self.order] for i in self.order]
        grown = [abs(work[i][i]) for i in range(self.size)]
        for place, i in enumerate(self.order if alone else ()):
            grown[place] = grown[place] + alone[i]
        self.lower: Matrix = [[0] * self.size for _ in work]
        self.inverse: Vector = [0] * self.size
        self.pivot: Scalar = 1.0
        self.pairs: list[tuple[Scalar, Scalar]] = []  # pivots, and what they are small beside
        for k in range(self.done):
            if is_zero(work[k][k]):
                raise ValueError(
                    f"{here()}: row {self.order[k]} has a structural zero pivot; keep it or reorder the system"
                )
            ratio = abs(work[k][k]) / grown[k]
            self.pivot = where(ratio < self.pivot, ratio, self.pivot)  # after a pivot of 0 comes NaN: keep the 0
            self.pairs.append((abs(work[k][k]), grown[k]))
            least = floor * grown[k]
            self.inverse[k] = 1 / (where(work[k][k] < least, least, work[k][k]) if floor else work[k][k])
            below = [i for i in range(k + 1, self.size) if not is_zero(work[i][k])]
            for i in below:
                self.lower[i][k] = work[i][k] * self.inverse[k]
            for i in below:
                for j in below:
                    if j > i:
                        break
                    taken = self.lower[i][k] * work[j][k]
                    work[i][j] = work[j][i] = work[i][j] - taken
                    if i == j:
                        grown[i] = grown[i] + abs(taken)
        self.schur: Matrix = [row[self.done :] for row in work[self.done :]]

    def weak(self, limit: float) -> Scalar:
        """Where some relative pivot is below the limit; cheaper than asking for `pivot`."""
        mask: Scalar = False
        for size, beside in self.pairs:
            mask = (size < limit * beside) | mask
        return mask

    def least(self) -> Scalar:
        """The smallest relative pivot, computed where it is asked for."""
        found: Scalar = 1.0
        for size, beside in self.pairs:
            found = where(size < found * beside, size / beside, found)
        return found

    def reduce(self, b: Sequence[Scalar]) -> Vector:
        """Forward elimination of a right-hand side, in elimination order."""
        y = [b[i] for i in self.order]
        for k in range(self.done):
            for i in range(k + 1, self.size):
                if not is_zero(self.lower[i][k]):
                    y[i] = y[i] - self.lower[i][k] * y[k]
        return y

    def kept(self, b: Sequence[Scalar]) -> Vector:
        """The right-hand side of the Schur complement."""
        return self.reduce(b)[self.done :]

    def solve(self, b: Sequence[Scalar], kept: Sequence[Scalar] = ()) -> Vector:
        """The solution for a right-hand side, given the unknowns of the kept rows."""
        if len(kept) != self.size - self.done:
            raise ValueError(f"{here()}: solve needs the {self.size - self.done} kept unknowns, got {len(kept)}")
        y = self.reduce(b)
        y[self.done :] = kept
        for i in reversed(range(self.done)):
            y[i] = y[i] * self.inverse[i]
            for k in range(i + 1, self.size):
                if not is_zero(self.lower[k][i]):
                    y[i] = y[i] - self.lower[k][i] * y[k]
        x: Vector = [0] * self.size
        for place, i in enumerate(self.order):
            x[i] = y[place]
        return x


def linear_solve(matrix: Matrix, rhs: Sequence[Scalar]) -> Vector:
    """Solution of a small dense system by elimination with row pivoting."""
    n = len(rhs)
    if [len(row) for row in matrix] != [n] * n:
        raise ValueError(f"{here()}: linear_solve needs as many rows and columns as right-hand sides, here {n}")
    rows = [[*row, b] for row, b in zip(matrix, rhs, strict=True)]
    for k in range(n):
        for i in range(k + 1, n):
            if is_zero(rows[i][k]):
                continue
            swap = abs(rows[i][k]) > abs(rows[k][k])
            pairs = list(zip(rows[k], rows[i], strict=True))
            rows[k] = [where(swap, b, a) for a, b in pairs]
            rows[i] = [where(swap, a, b) for a, b in pairs]
        if is_zero(rows[k][k]):
            raise ValueError(f"{here()}: column {k} of the linear system is zero: it has no unique solution")
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    x: Vector = [0] * n
    for i in reversed(range(n)):
        x[i] = (rows[i][n] - dot(rows[i][i + 1 : n], x[i + 1 :])) / rows[i][i]
    return x


def inverse(matrix: Matrix) -> Matrix:
    """The inverse of a matrix of one or two rows, by its determinant."""
    if len(matrix) == 1:
        return [[1 / matrix[0][0]]]
    (a, b), (c, d) = matrix
    over = 1 / (a * d - b * c)
    return [[d * over, -b * over], [-c * over, a * over]]


@dataclass(slots=True, eq=False)
class Pair:
    """A point or vector of the plane as a complex number."""

    x: Scalar
    y: Scalar = 0

    @property
    def parts(self) -> tuple[Scalar, Scalar]:
        """Both components."""
        return self.x, self.y

    def __add__(self, other: Pair) -> Pair:
        return Pair(self.x + other.x, self.y + other.y)

    def __sub__(self, other: Pair) -> Pair:
        return Pair(self.x - other.x, self.y - other.y)

    def __neg__(self) -> Pair:
        return Pair(-self.x, -self.y)

    def __mul__(self, other: Scalar | Pair) -> Pair:
        """Complex product with a pair, or scaling by a scalar."""
        if isinstance(other, Pair):
            return Pair(self.x * other.x - self.y * other.y, self.x * other.y + self.y * other.x)
        return Pair(self.x * other, self.y * other)

    __rmul__ = __mul__

    def __abs__(self) -> Scalar:
        return root(self.dot(self))

    def conjugate(self) -> Pair:
        """The mirror image (x, -y)."""
        return Pair(self.x, -self.y)

    def turned(self) -> Pair:
        """The vector turned by a right angle, counter-clockwise."""
        return Pair(-self.y, self.x)

    def dot(self, other: Pair) -> Scalar:
        """Scalar product."""
        return self.x * other.x + self.y * other.y

    def cross(self, other: Pair) -> Scalar:
        """The component of the vector product out of the plane."""
        return self.x * other.y - self.y * other.x
