"""Points at which distributions are drawn: Sobol and Latin hypercube, random, and those of Sobol indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from ..errors import InputError
from .axes import RUN, Distribution, Fitted, StudyDimension

Method = Literal["sobol", "latin", "random", "saltelli"]
METHODS: tuple[str, ...] = get_args(Method)


@dataclass(frozen=True)
class Samples:
    """How many samples, how they are spread, and which of them belong together."""

    count: int
    method: Method = "sobol"
    correlation: Any = None


def samples(count: int, method: Method = "sobol", correlation: Any = None) -> Samples:
    """Samples of the distributions among the axes of a study, along its dimension `run`.

    method: "sobol" (low discrepancy, scrambled), "latin" (hypercube), "random", or "saltelli", which gives total Sobol
    indices too and takes count * (2 + number of distributions) runs.  Sobol, random and saltelli samples go on where
    they ended when a study is extended; latin ones do not.  correlation: of normal scores, a symmetric matrix in the
    order of the inputs (a fit is two: `J2.hole`, `J2.shaft`), or a mapping such as {("J2.hole", "J3.hole"): 0.8}.
    """
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise InputError(f"samples: must be a whole number >= 1, got {count!r}")
    if method not in METHODS:
        raise InputError(f"samples: method must be one of {', '.join(METHODS)}, got {method!r}")
    if correlation is not None and method == "saltelli":
        raise InputError("samples: saltelli samples need independent inputs; leave the correlation out, or use sobol")
    return Samples(int(count), method, correlation)


def inputs_of(drawn: Mapping[tuple[str, ...], Distribution]) -> list[str]:
    """The names of what is drawn: an address, or hole and shaft of a fit.

    >>> inputs_of({("J2.clearance",): Fitted("20 H7/g6")})
    ['J2.hole', 'J2.shaft']
    """
    found = []
    for addresses, law in drawn.items():
        name = ",".join(addresses)
        found += [name.removesuffix(".clearance") + part if part else name for part in law.inputs]
    return found


def draw(drawn: Mapping[tuple[str, ...], Distribution], chosen: Samples, seed: int) -> StudyDimension:
    """The dimension of samples: a value at each address for each run."""
    widths = [len(law.inputs) for law in drawn.values()]
    total = sum(widths)
    if chosen.method == "saltelli":
        u = saltelli(spread("sobol", chosen.count, 2 * total, seed), widths)
    else:
        u = spread(chosen.method, chosen.count, total, seed)
    if chosen.correlation is not None:
        u = correlated(u, matrix(chosen.correlation, inputs_of(drawn)))
    columns: dict[str, np.ndarray] = {}
    extras: dict[str, np.ndarray] = {}
    begin = 0
    for (addresses, law), width in zip(drawn.items(), widths, strict=True):
        here = u[:, begin : begin + width]
        values = law.draw(here)
        columns |= dict.fromkeys(addresses, values)
        if isinstance(law, Fitted):
            names = [",".join(addresses).removesuffix(".clearance") + part for part in law.inputs]
            extras |= dict(zip(names, law.parts(here), strict=True))
        begin += width
    return StudyDimension(RUN, columns, extras)


def spread(method: str, count: int, dimensions: int, seed: int) -> np.ndarray:
    """Points of the unit cube, none of them at its ends: (count, dimensions)."""
    from scipy.stats import qmc  # type: ignore[import-untyped]

    if method == "random":
        u = np.random.default_rng(seed).random((count, dimensions))
    elif method == "latin":
        u = qmc.LatinHypercube(dimensions, seed=seed).random(count)
    else:  # a power of two is what Sobol' points balance at; a part of them is cut off
        u = qmc.Sobol(dimensions, scramble=True, seed=seed).random_base2(max(0, (count - 1).bit_length()))[:count]
    return np.clip(u, 2.0**-53, 1 - 2.0**-53)


def saltelli(u: np.ndarray, widths: Sequence[int]) -> np.ndarray:
    """Rows A, A with each input (or group of them) from B, and B, for each base point after the other."""
    total = sum(widths)
    a, b = u[:, :total], u[:, total:]
    blocks, begin = [a], 0
    for width in widths:
        mixed = a.copy()
        mixed[:, begin : begin + width] = b[:, begin : begin + width]
        blocks.append(mixed)
        begin += width
    return np.stack([*blocks, b], axis=1).reshape(-1, total)


def matrix(given: Any, names: Sequence[str]) -> np.ndarray:
    """The matrix of correlations of the inputs, checked."""
    if isinstance(given, Mapping):
        found = np.eye(len(names))
        for pair, rho in given.items():
            for name in pair:
                if name not in names:
                    raise InputError(f"correlation: no input {name!r}; there are {', '.join(names)}")
            i, j = (names.index(name) for name in pair)
            found[i, j] = found[j, i] = rho
    else:
        found = np.asarray(given, float)
    size = (len(names), len(names))
    if found.shape != size:
        raise InputError(f"correlation: must be a matrix {size} over {', '.join(names)}, got {found.shape}")
    if not (np.allclose(found, found.T) and np.allclose(np.diag(found), 1)):
        raise InputError("correlation: must be symmetric with 1 along its diagonal")
    if np.linalg.eigvalsh(found)[0] < -1e-12:
        raise InputError("correlation: is not positive semidefinite, so no quantities have it; lessen some of it")
    return found


def correlated(u: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """Points whose normal scores have this correlation (a Gaussian copula)."""
    from scipy.special import ndtr, ndtri  # type: ignore[import-untyped]

    values, vectors = np.linalg.eigh(rho)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    # by columns, one row's sum never depends on how many rows there are
    scores = ndtri(u)
    mixed = sum(scores[:, [k]] * (root @ vectors.T)[k] for k in range(len(rho)))
    return np.clip(ndtr(mixed), 2.0**-53, 1 - 2.0**-53)
