"""Surrogates of a series with its spectrum and its values but no law (IAAFT), and the 0-1 test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from .neighbours import Embedding, first_minimum, foretelling_error, mean_period, rosenstein
from .series import Series

ROUNDS = 40
SURROGATES = 39  # one-sided test at 2.5 %
MOST = 4000  # samples of a surrogate test
LEAST = 100  # samples of the 0-1 test after thinning


def iaaft(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A series with the values and nearly the spectrum of another, else random (Schreiber and Schmitz 1996)."""
    ordered, size = np.sort(values), np.abs(np.fft.rfft(values))
    made, before = rng.permutation(values), None
    for _ in range(ROUNDS):
        parts = np.fft.rfft(made)
        made = np.fft.irfft(size * np.exp(1j * np.angle(parts)), len(values))
        order = np.argsort(made, kind="stable")
        made[order] = ordered
        if before is not None and np.array_equal(order, before):
            break
        before = order
    return made


def stretch(values: np.ndarray) -> np.ndarray:
    """The longest part of a series whose ends fit each other, so that its spectrum has no false slope."""
    n = len(values)
    scale, spread = values.std(), np.diff(values).std()
    best, kept = np.inf, (0, n)
    for first in range(0, n // 10, max(1, n // 1000)):
        ends = np.arange(n - n // 10, n - 1)
        jump = np.abs(values[ends] - values[first]) / scale
        slope = np.abs((values[ends + 1] - values[ends]) - (values[first + 1] - values[first])) / max(spread, 1e-300)
        worst = jump + slope
        k = int(np.argmin(worst))
        if worst[k] < best:
            best, kept = float(worst[k]), (first, int(ends[k]))
    return values[kept[0] : kept[1]]


@dataclass(frozen=True)
class Surrogates:
    """A series beside its surrogates: errors of foretelling and slopes of divergence; rejected: it beats them all."""

    own: float
    others: np.ndarray
    slope: float
    slopes: np.ndarray

    @property
    def rejected(self) -> bool:
        """Whether the series is better foretold than every surrogate."""
        return bool(self.own < self.others.min())


def surrogate_test(series: Series, chosen: Embedding, count: int = SURROGATES, slopes: int = 3) -> Surrogates:
    """Whether a series is better foretold from its past than `count` surrogates; divergence slopes of some of them."""
    values = stretch(series.values[-MOST:])
    rng = np.random.default_rng(3)
    own = foretelling_error(values, chosen)
    others, found = [], []
    part = Series(series.time[: len(values)], values, series.name)
    for i in range(count):
        made = iaaft(values, rng)
        others.append(foretelling_error(made, chosen))
        if i < slopes:
            found.append(slope_of(Series(part.time, made, series.name), chosen))
    return Surrogates(own, np.array(others), slope_of(part, chosen), np.array(found))


def slope_of(series: Series, chosen: Embedding) -> float:
    """The slope of divergence of a series (1/s); not a number where too few of its points have a neighbour."""
    try:
        return rosenstein(series, chosen).slope
    except InputError:
        return np.nan


@dataclass(frozen=True)
class ZeroOne:
    """The 0-1 test: K near 0 for regular motion, near 1 for chaos; samples and their spacing (s) after thinning.

    K is the median over random turns, error that of it (19 times in 20, by its ranks): turns that resonate have none.
    """

    K: float
    error: float
    samples: int
    spacing: float
    usable: bool


def zero_one(series: Series, spacing: float | None = None, count: int = 100) -> ZeroOne:
    """The 0-1 test for chaos by correlation (Gottwald and Melbourne 2009), its guard against oversampling included.

    Samples are taken `spacing` (s) apart: the drive period if there is one and enough of them, else the larger of the
    first minimum of the mutual information and a fifth of the mean period. Closer samples of any smooth motion look
    regular, or, with noise, random.
    """
    if spacing is None:
        apart = max(first_minimum(series.values), int(mean_period(series.values) / 5))
    else:
        apart = max(1, round(spacing / series.interval))
    x = series.values[::apart]
    usable = len(x) >= LEAST
    if len(x) < 40:
        return ZeroOne(np.nan, np.nan, len(x), apart * series.interval, False)
    x = x[-4000:]
    rng = np.random.default_rng(4)
    found = np.array([correlation(x, c) for c in rng.uniform(np.pi / 5, 4 * np.pi / 5, count)])
    low, middle, high = np.quantile(found, 0.5 + 0.98 / np.sqrt(count) * np.array([-1, 0, 1]))
    return ZeroOne(float(middle), float(max(middle - low, high - middle)), len(x), apart * series.interval, usable)


def correlation(x: np.ndarray, c: float) -> float:
    """How nearly the mean square displacement of the walk with turn c grows with time."""
    n = len(x)
    phase = c * np.arange(1, n + 1)
    p, q = np.cumsum(x * np.cos(phase)), np.cumsum(x * np.sin(phase))
    lags = np.arange(1, n // 10 + 1)
    base = n - n // 10
    moved = np.array([np.mean((p[k : k + base] - p[:base]) ** 2 + (q[k : k + base] - q[:base]) ** 2) for k in lags])
    moved -= x.mean() ** 2 * (1 - np.cos(lags * c)) / (1 - np.cos(c))
    if moved.std() == 0:
        return 0.0
    return float(np.corrcoef(lags, moved)[0, 1])
