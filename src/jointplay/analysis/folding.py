"""A signal laid over itself a period later: what is left of it, beside samples of other periods at the same phase.

Two ways to look: a curve through the samples, read a time later, and the samples of all other periods, each at its own
phase. The curve needs few periods, but cannot follow a jump; many periods show a jump as sharply as they lie closely.
Either is an upper bound of what the motion itself leaves, so that the smaller one counts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .heights import PRIMES, uneven
from .series import Series

TRIMMED = 0.1  # share of the samples, those with the largest errors, that does not count: spikes between two samples
FEW, JUMPS = 0.02, 5  # the share at least, and the jumps in a period, beside which samples are foretold wrongly
JUMP, MOSTLY = 0.25, 0.25  # of the range, from one sample to the next; of all samples: where more jump, none does
MOST = 3_000  # samples that are looked up
NEIGHBOURS = 8  # samples of other periods, or on the torus of two phases
PERIODS = 5  # that a series must hold before its samples are laid over each other
NOISE = 4.0  # times what is left anyway: what heights may differ by for that
BLOCKS, FAR = 8, (0.23, 0.38)  # of the length: what drifts slowly shows between samples so far apart


def size(errors: np.ndarray, values: np.ndarray, trimmed: float = TRIMMED) -> float:
    """The root mean square without a share of the worst, over the standard deviation of the signal without a tenth."""
    kept = smallest(np.abs(errors), trimmed)
    return float(np.sqrt(np.mean(kept**2))) / spread(values)


def spread(values: np.ndarray) -> float:
    """The standard deviation of a signal without the worst tenth; 1e-3 of the whole one at least."""
    kept = smallest(np.abs(values - np.median(values)), TRIMMED)
    return max(float(np.sqrt(np.mean(kept**2))), 1e-3 * float(values.std()))


def smallest(sizes: np.ndarray, trimmed: float) -> np.ndarray:
    """All but a share of the largest, in any order."""
    count = max(1, int((1 - trimmed) * len(sizes)))
    return sizes if count == len(sizes) else np.partition(sizes, count)[:count]


def local_plane(off: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The value at the origin of the planes through values at places around it (points, neighbours, 2); where these
    leave their slopes open, those are small."""
    a, b = np.moveaxis(off, 2, 0).transpose(0, 2, 1).copy()  # neighbours first: sums over them are quick
    reach = np.hypot(a, b).max(axis=0) + 1e-12
    a, b = a / reach, b / reach
    weights = np.exp(-2 * (a * a + b * b))
    basis = np.stack([np.ones_like(a), a, b, values.T])
    normal = np.array([[(weights * x * y).sum(axis=0) for y in basis] for x in basis[:3]]).transpose(2, 0, 1)
    return np.linalg.solve(normal[:, :, :3] + np.diag([1e-12, 1e-6, 1e-3]), normal[:, :, 3:])[:, 0, 0]


def correlation(left: np.ndarray, trimmed: float = TRIMMED) -> float:
    """From sample to sample, of what is left without a share of the largest."""
    most = np.percentile(np.abs(left), 100 * (1 - trimmed))
    left = np.clip(left, -most, most)
    left = left - left.mean()
    power = float(np.mean(left * left))
    return float(np.mean(left[1:] * left[:-1])) / power if power else 0.0


def beside_jumps(values: np.ndarray) -> np.ndarray:
    """Which samples are beside a jump, if few are: when it was between them they do not tell, and periods of a whole
    number of samples would seem to explain the signal best."""
    high = np.abs(np.diff(values)) > JUMP * np.ptp(values)
    found = np.append(high, False) | np.append(False, high)
    return found if found.mean() < MOSTLY else np.zeros(len(values), bool)


class Folded:
    """A signal laid over itself some time later."""

    def __init__(self, series: Series) -> None:
        from scipy.interpolate import CubicSpline  # type: ignore[import-untyped]

        self.series, self.curve = series, CubicSpline(series.time, series.values)
        self.since, self.values = series.time - series.time[0], series.values - series.values.mean()
        self.beside = beside_jumps(self.values)

    # -- by a curve through the samples
    def change(self, lag: float, trimmed: float = TRIMMED) -> float:
        """How much the signal changes in a time (s), over its size, without a share of the samples."""
        series = self.series
        kept = np.flatnonzero(series.time <= series.time[-1] - lag)
        kept = kept[:: max(1, len(kept) // MOST)]
        if len(kept) < 50:
            return np.inf
        later = self.curve(series.time[kept] + lag)
        return size(later - series.values[kept], series.values, trimmed) / np.sqrt(2)

    def smooth(self, lag: float) -> float:
        """The correlation from sample to sample of what changes in a time (s)."""
        kept = self.series.time <= self.series.time[-1] - lag
        return correlation(self.curve(self.series.time[kept] + lag) - self.series.values[kept])

    def residual(self, period: float) -> float:
        """The change after one period, or after as many as half the series holds if that is more: what drifts slowly
        is not periodic."""
        many = max(1, int(0.5 * self.series.length / period))
        return max(self.change(period), self.change(many * period))

    # -- by samples of other periods at the same phase
    def left(self, period: float) -> tuple[float, float, float]:
        """What samples of other periods leave open, over the size of the signal, for the choice of other periods
        (`choices`) that leaves most, its correlation from sample to sample, and what the middle choice leaves once all
        samples count but the few beside jumps."""
        found = [np.where(self.beside, 0.0, self.foretold(period, groups)) for groups in self.choices(period)]
        sizes = np.array([size(one, self.values) for one in found]) / np.sqrt(1 + 1 / NEIGHBOURS)
        widest = int(np.argmax(sizes))
        few = min(TRIMMED, max(FEW, JUMPS * NEIGHBOURS / len(self.values)))
        return (
            float(sizes[widest]),
            correlation(found[widest]),
            float(np.median([size(e, self.values, few) for e in found])),
        )

    def apart(self, period: float) -> float:
        """The same by samples that are far apart in time: it tells best how long the period is, of a signal that jumps
        by the samples beside its jumps."""
        return size(self.foretold(period, self.far_apart(FAR[0])), self.values, 0.0 if self.beside.any() else TRIMMED)

    def choices(self, period: float) -> Iterator[list[tuple[np.ndarray, np.ndarray]]]:
        """Groups of samples and of those by which they are foretold: such that are no multiple of 2, 3, 5 ... periods
        apart, else samples that fall on each other would hide a period of so many; and such that are far apart."""
        turn = np.floor(self.since / period).astype(int)
        most = int(self.since[-1] / period)
        for prime in PRIMES:
            if 2 * prime <= most:
                yield [(np.flatnonzero(turn % prime == r), np.flatnonzero(turn % prime != r)) for r in range(prime)]
        yield from map(self.far_apart, FAR)

    def far_apart(self, far: float) -> list[tuple[np.ndarray, np.ndarray]]:
        """Groups of neighbouring samples and those that are farther from them than a share of the length."""
        parts = np.array_split(np.arange(len(self.since)), BLOCKS)
        away = [np.abs(self.since - self.since[one].mean()) > far * self.since[-1] for one in parts]
        return [(one, np.flatnonzero(other)) for one, other in zip(parts, away, strict=True)]

    def foretold(self, period: float, groups: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """What is left of every sample once those at nearly its phase foretold it."""
        phase, left = np.mod(self.since / period, 1.0), np.empty(len(self.values))
        half = NEIGHBOURS // 2
        for asked, others in groups:
            order = others[np.argsort(phase[others], kind="stable")]
            at = np.searchsorted(phase[order], phase[asked])
            near = order[np.mod(at[:, None] + np.arange(-half, half), len(order))]
            off = phase[near] - phase[asked, None]
            off -= np.round(off)
            reach = np.abs(off).max(axis=1, keepdims=True) + 1e-12
            bent = np.stack([off, off * off / reach], axis=2)
            left[asked] = self.values[asked] - local_plane(bent, self.values[near])
        return left

    def heights(self, period: float, noise: float, strict: bool = False) -> float:
        """How far apart the largest values of two periods are in the same part of them, or the smallest, over the range
        of the signal; noise: what is left anyway, over its size; strict: also where samples lie in another way."""
        found = max(uneven(self.since, one, period, strict) for one in (self.values, -self.values))
        return max(0.0, found - NOISE * noise * spread(self.values)) / (float(np.ptp(self.values)) or 1.0)

    # -- the period itself
    def sharpened(self, period: float, frequency: float) -> float:
        """A period near the given one that explains the signal best; frequency (Hz): of its strongest line."""
        from scipy.optimize import minimize_scalar  # type: ignore[import-untyped]

        turns, step = round(period * frequency), self.series.interval
        tries = [period]
        if turns and abs(turns / frequency - period) < 1.5 * step:
            tries.append(turns / frequency)
        best = min(tries, key=self.residual)
        if self.residual(best) > 0.5:
            return best
        ways = [self.residual, self.apart] if self.series.length >= PERIODS * best else [self.residual]
        if self.beside.any() and len(ways) > 1:
            ways, best = [self.apart], min(tries, key=self.apart)
        for way in ways:
            room = step / max(1, int(0.5 * self.series.length / best))
            found = minimize_scalar(way, bounds=(best - room, best + room), method="bounded", options={"maxiter": 15})
            best = float(found.x) if found.fun < way(best) else best
        return best
