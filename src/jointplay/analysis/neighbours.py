"""Neighbours in the space of delayed samples: embedding, divergence (Rosenstein), foretelling.

Rules: the delay is the first minimum of the mutual information of a sample and a later one (or where the
autocorrelation has fallen to 1/e, if that is sooner); the dimension is the first with less than 2 % false neighbours,
at most 8; the Theiler window is the mean period, that of the centre of the power spectrum; of each point the nearest
neighbours on up to four other passages (one for every twenty that there are) are followed for ten mean periods; the
fit window is that part of the curve of their mean logarithmic distance which lies between 0.3 and 0.75 of its rise to
the plateau, its last quarter. The error is half the range of the slopes as both ends of the window move by 0.1; a
window of fewer than five samples has none, and its slope says nothing. A signal with more than 100 samples in its mean
period is thinned, of a longer one the last 10,000 samples count.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..errors import InputError
from .series import Series

FALSE = 0.02  # share of false neighbours that ends the search for the dimension
STRETCH, LONELY = 15.0, 2.0  # Kennel, Brown and Abarbanel 1992: the two criteria of a false neighbour
DIMENSIONS = 8
LOW, HIGH, SHIFT = 0.3, 0.75, 0.1  # of the rise of the divergence curve: the fit window, and how far its ends move
PIECE = 0.3  # of the rise: slopes of such pieces of the curve, which bends as neighbours get apart, are its error too
FIT = 5  # samples in the fit window: below, the slope has no error
HORIZON = 10.0  # mean periods that the divergence is followed
PASSAGES = 4  # of which each point has a neighbour
DENSE = 100  # samples in a mean period, beyond which a signal is thinned
MOST = 10_000  # samples that are looked at
PAIRS = 4_000  # that are followed
TOGETHER = 100  # pairs whose distances are held at a time
CANDIDATES = 64  # near points among which neighbours are chosen


@dataclass(frozen=True)
class Embedding:
    """Delay and Theiler window (samples), dimension, and the share of false neighbours that is left."""

    delay: int
    dimension: int
    theiler: int
    false: float

    def points(self, values: np.ndarray) -> np.ndarray:
        """The points (samples, dimension)."""
        count = len(values) - (self.dimension - 1) * self.delay
        return np.column_stack([values[i * self.delay : i * self.delay + count] for i in range(self.dimension)])


@dataclass(frozen=True)
class Divergence:
    """Mean logarithm of the distance of neighbours over time (s), its slope (1/s) in the fit window, how far it rises.

    reach: distance on the plateau over the mean distance of any two points: 1 if neighbours forget each other, small
    if they stay together, as in every regular motion. growth: distance on the plateau over that at the start.
    spread: mean time between neighbours over the length of the series; a third if the motion is the same throughout.
    error: of the slope, nan where the fit window holds too few samples for one.
    """

    time: np.ndarray
    curve: np.ndarray
    slope: float
    error: float
    window: tuple[float, float]
    reach: float
    growth: float
    spread: float = 1 / 3


def mean_period(values: np.ndarray) -> float:
    """One over the mean frequency of the power spectrum, in samples."""
    power = np.abs(np.fft.rfft((values - values.mean()) * np.hanning(len(values)))) ** 2
    frequency = np.fft.rfftfreq(len(values))
    return float(power[1:].sum() / (power[1:] * frequency[1:]).sum())


def autocorrelation(values: np.ndarray) -> np.ndarray:
    """The autocorrelation over lags up to half the samples."""
    x = values - values.mean()
    many = 1 << int(np.ceil(np.log2(2 * len(x))))
    product = np.fft.irfft(np.abs(np.fft.rfft(x, many)) ** 2)[: len(x) // 2]
    return product / product[0]


def mutual_information(values: np.ndarray, most: int) -> np.ndarray:
    """The mutual information (nats) of a sample and one `lag` later, lag = 0 ... most, by equally filled bins."""
    bins = int(np.clip(np.sqrt(len(values) / 20), 8, 32))
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable") * bins // len(values)
    found = []
    for lag in range(most + 1):
        joint = np.bincount(ranks[: len(ranks) - lag] * bins + ranks[lag:], minlength=bins * bins).astype(float)
        joint = joint.reshape(bins, bins) / joint.sum()
        alone = joint.sum(axis=1)[:, None] * joint.sum(axis=0)[None, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            found.append(float(np.nansum(joint * np.log(joint / alone))))
    return np.array(found)


def first_minimum(values: np.ndarray) -> int:
    """The delay (samples) by the rules above."""
    period = mean_period(values)
    most = int(np.clip(period, 4, len(values) // 20))
    information = mutual_information(values, most)
    falls = np.flatnonzero((information[1:-1] < information[:-2]) & (information[1:-1] <= information[2:]))
    lag = int(falls[0]) + 1 if len(falls) else most
    fallen = np.flatnonzero(autocorrelation(values) < np.exp(-1.0))
    return max(1, min(lag, int(fallen[0]) if len(fallen) else lag))


def nearest(points: np.ndarray, theiler: int, passages: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of near points and their distances: of every point the nearest of each of so many passages.

    A neighbour is more than the Theiler window away in time, and more than half of it from those chosen before.
    """
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]

    far, near = cKDTree(points).query(points, k=min(len(points), CANDIDATES))
    open_ = (np.abs(near - np.arange(len(points))[:, None]) > theiler) & (far > 0)
    rows, own, others, distances = np.arange(len(points)), [], [], []
    for _ in range(passages):
        first = np.argmax(open_, axis=1)
        hit = open_[rows, first]
        own.append(rows[hit])
        others.append(near[rows, first][hit])
        distances.append(far[rows, first][hit])
        open_ &= np.abs(near - near[rows, first][:, None]) > theiler // 2
    return np.concatenate(own), np.concatenate(others), np.concatenate(distances)


def looked_at(series: Series) -> Series:
    """The samples that neighbours are searched in: not too dense, not too many."""
    factor = int(mean_period(series.values) // (DENSE / 2)) if mean_period(series.values) > DENSE else 1
    factor = max(1, min(factor, len(series.values) // 2000))
    thin = series.thinned(factor)
    return replace(thin, time=thin.time[-MOST:], values=thin.values[-MOST:])


def embedding(series: Series) -> Embedding:
    """Delay, dimension and Theiler window of a signal by the rules above."""
    values = series.values
    delay, theiler = first_minimum(values), int(np.ceil(mean_period(values)))
    spread, false, chosen = values.std(), 1.0, 2
    for dimension in range(1, DIMENSIONS + 1):
        ahead = dimension * delay
        if len(values) - ahead < 100:
            break
        chosen = max(2, dimension)
        points = Embedding(delay, dimension, theiler, false).points(values)[: len(values) - ahead]
        own, other, distance = nearest(points, theiler)
        next_ = np.abs(values[own + ahead] - values[other + ahead])
        stretched = next_ > STRETCH * np.maximum(distance, 1e-3 * spread)
        lonely = np.hypot(next_, distance) > LONELY * spread
        false = float(np.mean(stretched | lonely)) if len(own) else 1.0
        if false < FALSE:
            break
    return Embedding(delay, chosen, theiler, false)


def rosenstein(
    series: Series,
    chosen: Embedding | None = None,
    horizon: float | None = None,
    window: tuple[float, float] | None = None,
) -> Divergence:
    """The divergence of near neighbours of a series and its slope (after Rosenstein, Collins and De Luca 1993).

    Its slope is positive for periodic motion with impacts too (docs/analysis.md): it is an indicator beside others,
    never a proof of chaos. horizon: time (s) that neighbours are followed; ten mean periods. window: from and to which
    time (s) the slope is fitted, in place of the rule.
    """
    here = chosen or embedding(series)
    points = here.points(series.values)
    ahead = HORIZON * here.theiler if horizon is None else horizon / series.interval
    steps = int(np.clip(ahead, 10, len(points) // 4))
    usable = len(points) - steps
    passages = int(np.clip(np.ceil(usable / here.theiler / 20), 1, PASSAGES))
    own, other, _ = nearest(points[:usable], here.theiler, passages)
    if len(own) < 50:
        raise InputError(
            f"{series.name}: only {len(own)} points have a neighbour beyond the Theiler window; record longer"
        )
    some = slice(None, None, max(1, len(own) // PAIRS))
    own, other = own[some], other[some]
    curve = diverging(series.values, here, own, other, steps)
    pairs = np.random.default_rng(2).integers(len(points), size=(4000, 2))
    any_two = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    spread = float(np.abs(own - other).mean()) / usable
    found = fitted(series, curve, float(np.log(any_two[any_two > 0]).mean()))
    if window is not None:
        inside = (found.time >= window[0]) & (found.time <= window[1])
        slope = float(np.polyfit(found.time[inside], curve[inside], 1)[0])
        found = replace(found, slope=slope, window=window)
    return replace(found, spread=spread)


def diverging(values: np.ndarray, here: Embedding, own: np.ndarray, other: np.ndarray, steps: int) -> np.ndarray:
    """The mean logarithm of the distance of pairs of points, 0 to so many samples later; without those that are 0."""
    later = np.lib.stride_tricks.sliding_window_view(values, steps + 1 + (here.dimension - 1) * here.delay)
    total, count = np.zeros(steps + 1), np.zeros(steps + 1)
    for some in np.array_split(np.arange(len(own)), max(1, len(own) // TOGETHER)):
        squares = (later[own[some]] - later[other[some]]) ** 2
        apart = sum(squares[:, k * here.delay :][:, : steps + 1] for k in range(here.dimension))
        count += (apart > 0).sum(axis=0)
        total += np.log(np.where(apart > 0, apart, 1.0)).sum(axis=0) / 2
    return np.divide(total, count, out=np.full(steps + 1, np.nan), where=count > 0)


def fitted(series: Series, curve: np.ndarray, typical: float) -> Divergence:
    """Slope of a divergence curve by the rule of the fit window, its error, and how high the curve comes."""
    time = series.interval * np.arange(len(curve))
    late = curve[-max(3, len(curve) // 4) :]
    plateau, start = float(np.nanmean(late)) if np.isfinite(late).any() else np.nan, float(curve[0])
    rise, reach = plateau - start, float(np.exp(plateau - typical))
    if not rise > 0:
        return Divergence(time, curve, 0.0, 0.0, (0.0, float(time[-1])), reach, 1.0)

    def part(low: float, high: float) -> slice:
        first = int(np.argmax(curve >= start + low * rise))
        return slice(first, max(first + 4, int(np.argmax(curve >= start + high * rise)) + 1))

    windows = [part(LOW + a, HIGH + b) for a in (0, -SHIFT, SHIFT) for b in (0, -SHIFT, SHIFT)]
    windows += [part(low, low + PIECE) for low in np.arange(SHIFT, 1 - PIECE, SHIFT)]  # a curve that bends tells less
    slopes = [np.polyfit(time[one], curve[one], 1)[0] for one in windows]
    t = time[windows[0]]
    return Divergence(
        time,
        curve,
        float(slopes[0]),
        float(np.ptp(slopes)) / 2 if len(t) >= FIT else np.nan,
        (float(t[0]), float(t[-1])),
        reach,
        float(np.exp(rise)),
    )


def foretelling_error(values: np.ndarray, chosen: Embedding) -> float:
    """How far samples are from what neighbours foretell, root mean square over the spread."""
    left = foretold(values, chosen)
    return float(np.sqrt(np.mean(left**2)) / values.std()) if len(left) else np.inf


def foretold(values: np.ndarray, chosen: Embedding) -> np.ndarray:
    """What is left of samples once the four nearest neighbours of the points a delay before foretold them."""
    from scipy.spatial import cKDTree

    ahead = max(1, chosen.delay)
    points = chosen.points(values)
    usable = points[: len(points) - ahead]
    targets = values[(chosen.dimension - 1) * chosen.delay + ahead :][: len(usable)]
    some = np.arange(0, len(usable), max(1, len(usable) // 1000))
    many = min(len(usable), 2 * chosen.theiler + 8)
    _, near = cKDTree(usable).query(usable[some], k=min(many, CANDIDATES))
    apart = np.abs(near - some[:, None]) > chosen.theiler
    order = np.argsort(~apart, axis=1, kind="stable")[:, :4]
    good = np.take_along_axis(apart, order, axis=1)
    weight = good / np.maximum(good.sum(axis=1, keepdims=True), 1)
    told = (targets[np.take_along_axis(near, order, axis=1)] * weight).sum(axis=1)
    has = good.any(axis=1)
    return np.asarray(told[has] - targets[some][has])
