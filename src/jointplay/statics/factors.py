"""Factors of long matrices of rows, whose entries are few: those of neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

LONG = 60  # rows: from so many on rows are factored by their entries, which are few
SPARSE = 150  # rows: of fewer to load scipy takes longer than it saves
FIRM = 1e-6  # pivots above this share of the largest are clearly no zeros
SURE = 2e-5  # conditioning that is clearly no singular position, beside what `cycle` still calls one
ROUNDS = 12  # of the iteration for the smallest singular value: it is known to some percent


@dataclass(frozen=True)
class Determined:
    """As many independent rows as coordinates."""

    solve: Callable[..., np.ndarray]  # of a right-hand side; with "T" of the transposed
    side: float  # the sign of the determinant
    conditioning: float  # smallest singular value over the largest, about


def square(matrix: np.ndarray) -> Determined | None:
    """Factors of a long square matrix; None of others, and where it may be singular."""
    if len(matrix) < LONG or len(matrix) != matrix.shape[1] or not np.isfinite(matrix).all():
        return None
    from scipy.sparse import csc_matrix  # type: ignore[import-untyped]
    from scipy.sparse.linalg import splu  # type: ignore[import-untyped]

    entries = csc_matrix(matrix)
    try:
        factors = splu(entries)
    except RuntimeError:  # exactly singular
        return None

    def largest(turn: Callable[[np.ndarray], np.ndarray]) -> float:
        x, size = np.random.default_rng(0).normal(size=len(matrix)), 0.0
        for _ in range(ROUNDS):
            x = turn(x / np.linalg.norm(x))
            size = float(np.linalg.norm(x))
        return float(np.sqrt(size))

    across = entries.T
    conditioning = (
        1 / largest(lambda x: across @ (entries @ x)) / largest(lambda x: factors.solve(factors.solve(x, "T")))
    )
    if not conditioning > SURE:
        return None
    odd = sum(len(matrix) - cycles(order) for order in (factors.perm_r, factors.perm_c)) % 2
    signs = np.sign(factors.U.diagonal()).prod()
    return Determined(factors.solve, float(-signs if odd else signs), conditioning)


def cycles(order: np.ndarray) -> int:
    """Of how many cycles a permutation is made."""
    seen, found = np.zeros(len(order), bool), 0
    for begin in range(len(order)):
        found += not seen[begin]
        while not seen[begin]:
            seen[begin], begin = True, order[begin]
    return found


def least(matrix: np.ndarray, wanted: np.ndarray, smallest: float) -> np.ndarray:
    """The smallest x with matrix x = wanted, or as near as can be; singular values below `smallest` of the largest
    count as none.

    Of a long matrix by factors of its rows' products if rows are clearly independent: this is one step of an
    iteration, which mends what squaring the condition costs in digits.
    """
    if len(matrix) >= LONG and np.isfinite(matrix).all():
        found = (by_entries if len(matrix) >= SPARSE else by_products)(matrix, wanted)
        if found is not None:
            return found
    return np.asarray(np.linalg.lstsq(matrix, wanted, rcond=smallest)[0])


def by_products(matrix: np.ndarray, wanted: np.ndarray) -> np.ndarray | None:
    """The same by Cholesky's factors; None where rows may depend on each other."""
    products = matrix @ matrix.T
    try:
        pivots = np.linalg.cholesky(products).diagonal()
    except np.linalg.LinAlgError:
        return None
    return matrix.T @ np.linalg.solve(products, wanted) if pivots.min() > FIRM * pivots.max() else None


def by_entries(matrix: np.ndarray, wanted: np.ndarray) -> np.ndarray | None:
    """The same by sparse factors; None where rows may depend on each other."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.linalg import splu

    rows = csr_matrix(matrix)
    across = rows.T
    try:  # the products are symmetric and have no negative pivots: the diagonal is kept
        how = dict(permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        factors = splu((rows @ across).T, **how)
    except RuntimeError:  # exactly singular
        return None
    pivots = factors.U.diagonal()
    firm = pivots.min() > FIRM**2 * pivots.max() and (factors.perm_r == factors.perm_c).all()
    return np.asarray(across @ factors.solve(wanted)) if firm else None


def free_ways(matrix: np.ndarray, load: np.ndarray, smallest: float) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal ways along which no row changes, as columns, and the multipliers whose rows come nearest to a load,
    the least ones; singular values below `smallest` of the largest count as none."""
    m, n = matrix.shape
    if LONG <= m <= n and np.isfinite(matrix).all():
        from scipy.linalg import solve_triangular  # type: ignore[import-untyped]
        from scipy.linalg.lapack import dtrcon  # type: ignore[import-untyped]

        across, upper = np.linalg.qr(matrix.T, mode="complete")
        if dtrcon(upper[:m])[0] > FIRM:  # clearly independent
            return across[:, m:], solve_triangular(upper[:m], across[:, :m].T @ load)
    _, values, across = np.linalg.svd(matrix) if m else (None, np.zeros(0), np.eye(n))
    free = across[int((values > smallest * values.max(initial=0.0)).sum()) :].T
    return free, np.asarray(np.linalg.lstsq(matrix.T, load, rcond=smallest)[0])
