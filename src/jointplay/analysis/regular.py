"""Whether phases that turn at constant rates explain a signal: one phase (periodic), or two (quasi-periodic).

A regular motion is a function of such phases, so a sample is foretold by samples of other times with nearly the same
phases. Nothing is fitted but the rates, and impact spikes do no harm: the worst tenth of the samples is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .series import Series
from .spectra import line

TRIMMED = 0.1  # share of the samples, those with the largest errors, that does not count: spikes between two samples
MEETS = 0.05  # of the time between two samples: what they may be apart and still meet
SMOOTH = 0.3  # correlation from sample to sample: five standard errors of that of noise in the shortest series
EXPLAINED, HALF = 0.14, 0.5  # what two phases may leave: of the size of the signal, and of what one leaves
LIMIT = f"they may leave {EXPLAINED:g}, and half of what one leaves"
FINE, CLOSE = 0.002, 0.03  # of the size of the signal: what may be left where a period explains it
SIMILAR = 0.15  # a residual above is no explanation, neither by one phase nor by two
LEAST_PERIODS = 2.2  # of a known drive in a series, to see one of them again
FREE_PERIODS = 4.2  # of a period that has to be found
NEIGHBOURS = 8  # on the torus of two phases
FEW = 6  # turns of a common period
LINES = 5  # of which two are taken for the phases
MOST = 3_000  # samples that are looked up


@dataclass(frozen=True)
class Phases:
    """What one or two phases explain: their periods (s), and the residual over the standard deviation."""

    periods: tuple[float, ...]
    residual: float


def size(errors: np.ndarray, values: np.ndarray) -> float:
    """The root mean square without the worst tenth, over the standard deviation of the signal likewise."""
    kept = np.sort(np.abs(errors))[: max(1, int((1 - TRIMMED) * len(errors)))]
    spread = np.sort(np.abs(values - np.median(values)))[: max(1, int((1 - TRIMMED) * len(values)))]
    scale = max(float(np.sqrt(np.mean(spread**2))), 1e-3 * float(values.std()))
    return float(np.sqrt(np.mean(kept**2))) / scale


@dataclass(frozen=True)
class Repetition:
    """How nearly a signal repeats after the period (s) that comes closest, None if it is too short to see one.

    residual: over the size of the signal; enough: up to which it counts as the same; smooth: correlation of what is
    left from sample to sample, 0 of noise, near 1 of a motion, at most 0 of an error of interpolation; clean: whether
    neither noise nor interpolation can explain what is left.
    """

    period: float | None
    residual: float
    enough: float
    smooth: float
    clean: bool = False

    @property
    def holds(self) -> bool:
        """Whether the signal repeats: what is left is next to nothing, or small and noise."""
        small = self.period is not None and self.residual <= self.enough
        return small and (self.residual <= FINE or (self.smooth <= SMOOTH and not self.clean))

    def says(self, when: str = "") -> str:
        """That in words."""
        if self.period is None:
            return "too short to see a period again"
        if self.holds:
            return f"repeats after {self.period:.6g} s{when}; up to {self.enough:.2g} counts as the same"
        if self.residual <= self.enough and self.clean:
            left = f"{self.residual:.2g} is left where samples of both meet, and a simulation has no noise"
            return f"nearly the same after {self.period:.6g} s{when}, but {left}"
        if self.residual <= self.enough:
            left = f"what is left is smooth from sample to sample (correlation {self.smooth:.2f}), not noise"
            return f"nearly the same after {self.period:.6g} s{when}, but {left}"
        return f"no period explains the signal (up to {self.enough:.2g} would count as the same)"


class Folded:
    """A signal laid over itself some time later."""

    def __init__(self, series: Series) -> None:
        from scipy.interpolate import CubicSpline  # type: ignore[import-untyped]

        self.series, self.curve = series, CubicSpline(series.time, series.values)

    def change(self, lag: float) -> float:
        """How much the signal changes in a time (s), over its size."""
        series = self.series
        kept = np.flatnonzero(series.time <= series.time[-1] - lag)
        kept = kept[:: max(1, len(kept) // MOST)]
        if len(kept) < 50:
            return np.inf
        later = self.curve(series.time[kept] + lag)
        return size(later - series.values[kept], series.values) / np.sqrt(2)

    def smooth(self, lag: float) -> float:
        """The correlation from sample to sample of what changes in a time (s), without its largest tenth."""
        kept = self.series.time <= self.series.time[-1] - lag
        left = self.curve(self.series.time[kept] + lag) - self.series.values[kept]
        most = np.percentile(np.abs(left), 100 * (1 - TRIMMED))
        left = np.clip(left, -most, most)
        left -= left.mean()
        power = float(np.mean(left * left))
        return float(np.mean(left[1:] * left[:-1])) / power if power else 0.0

    def residual(self, period: float) -> float:
        """The change after one period, or after as many as half the series holds if that is more: what drifts slowly
        is not periodic."""
        many = max(1, int(0.5 * self.series.length / period))
        return max(self.change(period), self.change(many * period))

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
        room = step / max(1, int(0.5 * self.series.length / best))
        found = minimize_scalar(
            self.residual, bounds=(best - room, best + room), method="bounded", options={"maxiter": 15}
        )
        return float(found.x) if found.fun < self.residual(best) else best


def grain(series: Series) -> float:
    """What the samples themselves leave open, over the size of the signal: noise, and curves between two of them.

    Every second sample is foretold by the others; a residual below this says nothing.
    """
    from scipy.interpolate import CubicSpline

    curve = CubicSpline(series.time[::2], series.values[::2])
    inside = slice(1, len(series.values) - 2, 2)
    return size(curve(series.time[inside]) - series.values[inside], series.values)


def differences(values: np.ndarray) -> np.ndarray:
    """The mean squared difference of a signal and itself some samples later, over twice its variance, up to a half."""
    n = len(values)
    x = values - values.mean()
    many = 1 << int(np.ceil(np.log2(2 * n)))
    product = np.fft.irfft(np.abs(np.fft.rfft(x, many)) ** 2)[: n // 2 + 1]
    squares = np.concatenate([[0.0], np.cumsum(x * x)])
    lags = np.arange(n // 2 + 1)
    total = squares[n - lags] + squares[n] - squares[lags]
    return (total - 2 * product) / np.maximum(total, np.finfo(float).tiny)


def candidates(series: Series) -> list[float]:
    """Times (s) after which a signal may repeat, the shortest first: minima of its difference to itself later."""
    d = differences(np.clip(series.values, *np.percentile(series.values, [2.5, 97.5])))  # spikes may miss a sample
    longest = int(len(series.values) / FREE_PERIODS)
    rising = int(np.argmax(d > 0.5 * d[: longest + 1].max()))
    at = np.flatnonzero((d[1:-1] <= d[:-2]) & (d[1:-1] < d[2:])) + 1
    at = at[(at > max(1, rising)) & (at <= longest)]
    if not len(at):
        return []
    deep = at[d[at] < max(0.25, 2.5 * float(d[at].min()))]
    best = {*deep[:8], *sorted(deep, key=lambda lag: d[lag])[:8]}
    return [float(lag) * series.interval for lag in sorted(best)]


def one_phase(series: Series, most: int = 16) -> Phases:
    """The shortest period that explains a signal, or the one that comes closest.

    With a drive period only its multiples are tried, up to `most` and as long as the series holds two of them.
    """
    folded = Folded(series)
    if series.period is not None:
        longest = series.length / LEAST_PERIODS
        tries = [k * series.period for k in range(1, most + 1) if k == 1 or k * series.period <= longest]
        if series.length < 1.2 * series.period:
            return Phases((series.period,), np.inf)
    else:
        frequency, _ = line(series.time, series.values)
        tries = [folded.sharpened(one, frequency) for one in candidates(series)]
    if not tries:
        return Phases((), np.inf)
    found = [folded.residual(one) for one in tries]
    enough = max(1.5 * min(found), tolerance(series))
    first = next(i for i, one in enumerate(found) if one <= enough)
    return Phases((tries[first],), found[first])


def repetition(series: Series) -> Repetition:
    """How nearly a signal repeats."""
    found, enough = one_phase(series), tolerance(series)
    if not found.periods or not np.isfinite(found.residual):
        return Repetition(None, np.inf, enough, 0.0)
    [period] = found.periods
    many = max(1, int(0.5 * series.length / period))
    folded = Folded(series)
    smooth = max(folded.smooth(period), folded.smooth(many * period))
    meets = meeting(series, period) if series.period is not None and found.residual > FINE else None
    if meets is None:
        return Repetition(period, found.residual, enough, smooth)
    left = max(folded.change(meets), min(found.residual, FINE))
    return Repetition(period, left, enough, folded.smooth(meets), series.simulated)


def meeting(series: Series, period: float) -> float | None:
    """The multiple (s) of a period, within half the series, after which samples fall on samples, so that nothing is
    interpolated; None if there is none."""
    lags = period * np.arange(1, int(0.5 * series.length / period) + 1)
    off = np.abs(lags / series.interval - np.round(lags / series.interval))
    return float(lags[np.argmin(off)]) if len(lags) and off.min() <= MEETS else None


def second_phase(series: Series, one: Repetition) -> tuple[Phases, bool]:
    """Two phases that explain a signal best, and whether they do: they leave little, and less than half of what one
    leaves, the drive's if it is known (some multiple of it always comes close)."""
    two = two_phases(series)
    left = one.residual if series.period is None else Folded(series).residual(series.period)
    return two, two.residual <= min(EXPLAINED, HALF * left)


def tolerance(series: Series) -> float:
    """The residual up to which a signal is called periodic: thrice its grain, from 0.2 to 3 % of its size."""
    return float(np.clip(3 * grain(series), FINE, CLOSE))


def lines(series: Series, count: int) -> list[float]:
    """The frequencies (Hz) of the strongest lines, each found in what the others leave."""
    rest, found = series.values - series.values.mean(), []
    if series.period is not None:
        found.append(1.0 / series.period)
        rest = without(series, [k / series.period for k in range(1, 21)], rest)
    while len(found) < count:
        frequency, amplitude = line(series.time, rest)
        if amplitude < 1e-3 * series.values.std():
            break
        found.append(frequency)
        rest = without(series, [frequency], rest)
    return found


def without(series: Series, frequencies: list[float], values: np.ndarray) -> np.ndarray:
    """A signal less the lines at some frequencies (Hz), as far as its samples show them."""
    shown = [f for f in frequencies if f < 0.45 / series.interval]
    angles = 2 * np.pi * np.outer(series.time - series.time[0], shown)
    basis = np.column_stack([np.ones(len(values)), np.cos(angles), np.sin(angles)])
    return values - basis @ np.linalg.lstsq(basis, values, rcond=None)[0]


def two_phases(series: Series) -> Phases:
    """The two periods that explain a signal best: of every two of its strongest lines, the drive's being the first.

    The double of each is tried too, since a line may be a harmonic; lines of one period are no pair. The best pair is
    sharpened by what it leaves open.
    """
    found = Phases((), np.inf)
    frequencies = lines(series, LINES)
    pairs = [(f, g) for i, f in enumerate(frequencies) for g in frequencies[i + 1 :]]
    if series.period is not None:
        pairs = pairs[: LINES - 1]
    for f, g in pairs:
        if found.residual < 0.02:
            break
        for p, q in ((1, 1), (1, 2), (2, 1)):
            periods = p / f, q / g
            driven = p > 1 and series.period is not None
            if driven or max(periods) * 3 > series.length or commensurate(f, g, series.length):
                continue
            left = torus_residual(series, periods)
            if left < 0.8 * found.residual:  # another pair must be worth it
                found = Phases(periods, left)
    return closer(series, found) if 0.02 < found.residual < 0.6 else found


def commensurate(f: float, g: float, length: float) -> bool:
    """Whether two frequencies (Hz) have a common period of a few turns, or one is any multiple of the other, as far as
    a length (s) can tell."""
    whole = range(1, FEW + 1)
    low, high = sorted((f, g))
    return abs(high - round(high / low) * low) * length < 0.5 or any(
        abs(q * f - p * g) * length < 0.5 for p in whole for q in whole
    )


def closer(series: Series, found: Phases) -> Phases:
    """Two periods near the given ones that leave less open; the drive's stays."""
    from scipy.optimize import minimize

    base = np.array(found.periods)
    room = 0.2 * base**2 / series.length  # a slip of a fifth of a turn over the series
    free = [1] if series.period is not None else [0, 1]

    def periods(move: np.ndarray) -> tuple[float, float]:
        moved = base.copy()
        moved[free] += room[free] * move
        return float(moved[0]), float(moved[1])

    start = np.vstack([np.zeros(len(free)), np.eye(len(free))])
    best = minimize(
        lambda move: torus_residual(series, periods(move)),
        np.zeros(len(free)),
        method="Nelder-Mead",
        options={"maxfev": 40, "initial_simplex": start},
    )
    return Phases(periods(best.x), float(best.fun)) if best.fun < found.residual else found


def torus_residual(series: Series, periods: tuple[float, float]) -> float:
    """How far samples are from what their neighbours on the torus of two phases foretell, over the signal's size.

    Neighbours within two periods in time do not count: they are alike whatever the motion is.
    """
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]

    some = np.arange(0, len(series.values), max(1, len(series.values) // MOST))
    time, values = series.time - series.time[0], series.values
    phases = np.mod(time[:, None] / np.array(periods), 1.0)
    _, near = cKDTree(phases, boxsize=1.0).query(phases[some], k=min(4 * NEIGHBOURS, len(values)))
    apart = np.abs(time[near] - time[some, None]) > 2 * min(periods)
    order = np.argsort(~apart, axis=1, kind="stable")[:, :NEIGHBOURS]
    near = np.take_along_axis(near, order, axis=1)
    good = np.take_along_axis(apart, order, axis=1).all(axis=1)
    if good.mean() < 0.5:
        return np.inf
    off = phases[near] - phases[some, None, :]
    off -= np.round(off)
    foretold = local_plane(off[good], values[near[good]])
    return size(foretold - values[some][good], values)


def local_plane(off: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The value at the origin of the planes through values at places around it (points, neighbours, 2)."""
    reach = np.linalg.norm(off, axis=2, keepdims=True).max(axis=1, keepdims=True) + 1e-12
    basis = np.concatenate([np.ones((*off.shape[:2], 1)), off / reach], axis=2)
    weights = np.exp(-2 * (off / reach) ** 2).prod(axis=2)[..., None]
    normal = np.einsum("pki,pkj->pij", basis * weights, basis) + 1e-6 * np.eye(3)
    right = np.einsum("pki,pk->pi", basis * weights, values)
    return np.linalg.solve(normal, right[..., None])[:, 0, 0]
