"""Whether phases that turn at constant rates explain a signal: one phase (periodic), or two (quasi-periodic).

A regular motion is a function of such phases, so a sample is foretold by samples of other times with nearly the same
phases. Nothing is fitted but the rates, and impact spikes do no harm: the worst tenth of the samples is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .folding import MOST, NEIGHBOURS, PERIODS, Folded, correlation, local_plane, size
from .rates import BEATS, LEAST_PERIODS, beats, commensurate, common
from .series import Series
from .spectra import line

MEETS = 0.05  # of the time between two samples: what they may be apart and still meet
BETWEEN = 0.25  # of the grain: what a curve through all samples leaves at a kink; smooth curves leave a sixteenth
AS_WELL = 3.0  # times what the best period leaves: noise and interpolation leave about the same
SPIKES = 1.5  # times what may be left without them: more is no noise
UNEVEN = 0.08  # of the range: heights of two periods that are farther apart are not the same
SHOWN = 6  # periods that show whether heights repeat wherever their samples lie
SMOOTH = 0.3  # correlation from sample to sample: five standard errors of that of noise in the shortest series
EXPLAINED, HALF = 0.1, 0.5  # what two phases may leave: of the size of the signal, and of what one leaves
SMALL, MOTION = 0.03, 0.8  # of which a larger part may not be a motion of its own, smooth from sample to sample
LIMIT = (
    f"they may leave {EXPLAINED:g}, half of what one leaves, no motion of its own, and "
    "must slip by a turn; spikes beside one phase are not explained by two"
)
JUMPS = 0.3  # share of the samples that does not count there: a jump is a line across the torus, with many beside it
FINE, CLOSE = 0.002, 0.03  # of the size of the signal: what may be left where a period explains it
SIMILAR = 0.15  # a residual above is no explanation, neither by one phase nor by two
FREE_PERIODS = 4.2  # of a period that has to be found
FAR_OFF = 10.0  # times what two phases leave: one phase that leaves more is not looked at closely
MOST_PARTS, DENSE = 16, 8  # of a period, that may be one by themselves; samples in one, between which a curve is good
TURNS, SHARE = 5, 0.75  # of a common period that are looked at, at most, and share of the record that they may take
LINEAR, LEAST_GROWTH = 0.5, 1.5  # of a change in proportion to them, and times the first: what slips changes so much
MIDDLE = 0.5  # share of the samples, those that change most, that does not count there
AWAY = 0.1  # of the record: neighbours on the torus are farther apart in time
LINES = 5  # of which two are taken for the phases
QUARTERS, FADES = 4, 0.04  # parts of a record, and the share of itself that a line may lose where it falls with each
GONE = 0.1  # share of itself below which it is not asked whether it falls on
UNLIKE = 1.0  # residual of a curve laid over itself, beyond which its samples are not looked at


@dataclass(frozen=True)
class Phases:
    """What two phases explain: their periods (s), what they leave over the size of the signal, and the correlation of
    that from sample to sample; whole: what they leave without the worst tenth only, as one phase is judged; fades: by
    which share of itself what one of them adds dies away, 0 where it stays."""

    periods: tuple[float, ...]
    residual: float
    smooth: float = 0.0
    whole: float = np.inf
    fades: float = 0.0


@dataclass(frozen=True)
class Repetition:
    """How nearly a signal repeats after the period (s) that comes closest, None if it is too short to see one.

    residual: over the size of the signal; enough: up to which it counts as the same; smooth: correlation of what is
    left from sample to sample, 0 of noise, near 1 of a motion, at most 0 of an error of interpolation; clean: whether
    neither noise nor interpolation can explain what is left; typical: what most choices of
    other periods leave, the spikes included; heights: how far those of two periods are apart, over the range.
    """

    period: float | None
    residual: float
    enough: float
    smooth: float
    clean: bool = False
    typical: float = 0.0
    heights: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether the signal repeats: what is left is next to nothing, or small and noise."""
        small = self.period is not None and self.residual <= self.enough and not self.spiky
        return small and (self.residual <= FINE or (self.smooth <= SMOOTH and not self.clean))

    @property
    def spiky(self) -> bool:
        """Whether the signal repeats but for its spikes."""
        return self.residual <= self.enough and (self.typical > SPIKES * self.enough or self.heights > UNEVEN)

    def says(self, when: str = "") -> str:
        """That in words."""
        if self.period is None:
            return "too short to see a period again"
        if self.holds:
            return f"repeats after {self.period:.6g} s{when}; up to {self.enough:.2g} counts as the same"
        if self.residual <= self.enough and self.typical > SPIKES * self.enough:
            return f"nearly the same after {self.period:.6g} s{when}, but its spikes change by {self.typical:.2g}"
        if self.residual <= self.enough and self.clean:
            left = f"{self.residual:.2g} is left, more than a curve between samples explains: a simulation has no noise"
            return f"nearly the same after {self.period:.6g} s{when}, but {left}"
        if FINE < self.residual <= self.enough and self.smooth > SMOOTH:
            left = f"what is left is smooth from sample to sample (correlation {self.smooth:.2f}), not noise"
            return f"nearly the same after {self.period:.6g} s{when}, but {left}"
        if self.spiky:
            left = f"its largest values change by {self.heights:.2g} of the range"
            return f"nearly the same after {self.period:.6g} s{when}, but {left}"
        return f"no period explains the signal (up to {self.enough:.2g} would count as the same)"


def grain(series: Series) -> float:
    """What the samples themselves leave open, over the size of the signal: noise, and curves between two of them.

    Every second sample is foretold by the others; a residual below this says nothing.
    """
    from scipy.interpolate import CubicSpline  # type: ignore[import-untyped]

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


def periods_tried(series: Series, folded: Folded, most: int = 16) -> list[float]:
    """Periods (s) that may explain a signal, the shortest first: multiples of the drive's, up to `most` and as long as
    the series holds two of them, or what the signal itself suggests."""
    if series.period is None:
        frequency, _ = line(series.time, series.values)
        return [folded.sharpened(one, frequency) for one in candidates(series)]
    longest = series.length / LEAST_PERIODS
    if series.length < 1.2 * series.period:
        return []
    return [k * series.period for k in range(1, most + 1) if k == 1 or k * series.period <= longest]


def after(folded: Folded, period: float, rough: float, strict: bool = False) -> Repetition:
    """How nearly a signal repeats after a period (s): by the curve through the samples or by those of other periods,
    whichever leaves less; rough: the grain of the samples.

    Where there are periods enough to see that it is noise, more than next to nothing counts as the same; of a
    simulation what interpolation leaves, where samples of both do not meet.  strict: heights that lie between samples
    are not excused.
    """
    enough = tolerance(rough)
    series, many = folded.series, max(1, int(0.5 * folded.series.length / period))
    left, smooth = folded.residual(period), max(folded.smooth(period), folded.smooth(many * period))
    seen, typical = series.length >= PERIODS * period, left
    if seen and (left < UNLIKE or folded.beside.any()):  # no curve follows a jump
        by_samples, its_smooth, typical = folded.left(period)
        smooth = its_smooth if by_samples < left else max(smooth, its_smooth)
        left = min(left, by_samples)
    turn = period / series.interval
    clean = series.simulated and (abs(turn - round(turn)) <= MEETS or left > BETWEEN * rough)
    return Repetition(
        period, left, enough if seen else FINE, smooth, clean, typical, folded.heights(period, left, strict)
    )


def repetition(series: Series) -> Repetition:
    """How nearly a signal repeats: after the shortest period that explains it as well as any, or after the one that
    comes closest."""
    folded, rough, found = Folded(series), grain(series), list[Repetition]()
    for period in periods_tried(series, folded):
        few = series.length < SHOWN * period  # what explains spikes that a shorter period does not must show it
        strict = few and any(one.spiky for one in found)
        found.append(after(folded, period, rough, strict))
        if found[-1].holds and max(found[-1].residual, found[-1].typical) <= FINE:
            break
    often = [one for one in found if one.period and series.length >= PERIODS * one.period]
    good = [one for one in found if one.holds] or often or found
    alike = [one for one in good if one in often] or good  # what a few periods leave is measured without spikes
    closest = min((one.typical for one in alike), default=np.inf)
    if not np.isfinite(closest):
        return Repetition(None, np.inf, tolerance(rough), 0.0)
    best = next(one for one in good if one.typical <= max(AS_WELL * closest, FINE))
    return undivided(folded, best, rough) if best.holds else best


def undivided(folded: Folded, one: Repetition, rough: float) -> Repetition:
    """The same after a part of its period, if the signal repeats after that as well; or if it nearly does, and what the
    period leaves is no noise but a drift or a decay, which makes any multiple of a period seem to leave less."""
    series, period = folded.series, one.period or 0.0
    times = round(period / series.period) if series.period else 0  # none: any part of a period may be one
    for n in range(MOST_PARTS, 1, -1):
        close = period >= DENSE * n * series.interval and not folded.beside.any()  # a curve shows what changes
        if times % n or period < 2 * n * series.interval or (close and folded.change(period / n) > SIMILAR):
            continue
        part = after(folded, period / n, rough)
        as_well = part.holds and part.typical <= max(SPIKES * one.typical, FINE)  # more is what changes with the turns
        nearly = part.residual <= AS_WELL * one.residual and part.typical <= AS_WELL * one.typical
        if as_well or (nearly and one.smooth > SMOOTH):
            return part
    return one


def second_phase(series: Series, one: Repetition) -> tuple[Phases, bool]:
    """Two phases that explain a signal best, and whether they do: they leave little, less than half of what one leaves
    (in either measure, and also after a period that is common to both), no motion of its own, and slip by a whole turn
    on the way."""
    two = two_phases(series)
    alone = two.residual > SMALL and two.smooth > MOTION
    less = two.whole <= HALF * one.residual and two.residual <= HALF * left_by_one(series, one)
    nearly = two.residual <= EXPLAINED and less and not alone and beats(two.periods, series.length) >= BEATS
    nearly = nearly and less_than_common(series, two)
    return replace(two, fades=fading(series, two.periods)) if nearly else two, nearly and not one.spiky


def fading(series: Series, periods: tuple[float, ...]) -> float:
    """By which share of itself what one of two phases adds to the other dies away; 0 where it stays.

    A motion that rings out beside a steady one is explained by two phases, and hardly changes the size of the signal.
    The strongest line of what either phase leaves tells: that of a torus stays, or beats, but falls no more from each
    quarter to the next than by chance.
    """
    found = []
    for period in periods:
        rest = without(series, [k / period for k in range(1, 21)], series.values)
        turning = rest * np.exp(-2j * np.pi * line(series.time, rest)[0] * series.time)
        parts = np.array_split(turning, QUARTERS)
        sizes = np.array([abs(np.average(part, weights=np.hanning(len(part)))) for part in parts])
        sizes = np.maximum(sizes, GONE * sizes.max())
        lost = float(1.0 - sizes[-1] / sizes[0])
        found.append(lost if (np.diff(sizes) <= 0).all() and lost > FADES else 0.0)
    return max(found)


def settling(two: Phases) -> str:
    """That one of two phases dies away, in words."""
    return f"what one of them adds dies away, by {two.fades:.2g} of it from first to last quarter: it is still settling"


def left_by_one(series: Series, one: Repetition) -> float:
    """What one phase leaves where the jumps do not count, as two are judged: heights that change at random take a part
    of each period, and two multiples of its rate would explain the rest as well as one phase does."""
    if one.period is None or series.length < PERIODS * one.period:
        return np.inf
    folded = Folded(series)
    return size(folded.foretold(one.period, folded.far_apart(AWAY)), series.values, JUMPS)


def less_than_common(series: Series, two: Phases) -> bool:
    """Whether two phases leave less than half of what one leaves with a period of which theirs are parts, as far as the
    series can tell: the rates of 17 and 12 turns explain what repeats after both, and those of 7 and 4 chaos in narrow
    bands. A period of which the series holds a few only counts where the signal repeats after it, and one beside which
    the rates slip not at all."""
    folded, rough = Folded(series), grain(series)
    for period in common(series, two.periods) if len(two.periods) > 1 else ():
        if folded.residual(period) > FAR_OFF * two.whole and not folded.beside.any():
            continue  # sharpening would not help
        if series.period is None:
            period = folded.sharpened(period, 1.0 / two.periods[0])
        found = after(folded, period, rough)
        counts = found.holds or (two.residual > HALF * left_by_one(series, found) and not slips(folded, period))
        if counts and two.whole > HALF * found.residual:
            return False
    return True


def tolerance(rough: float) -> float:
    """The residual up to which a signal is called periodic: thrice its grain, from 0.2 to 3 % of its size."""
    return float(np.clip(3 * rough, FINE, CLOSE))


def slips(folded: Folded, period: float) -> bool:
    """Whether what changes after a period (s) adds up with each further one, as where two rates nearly have it in
    common. What chaos changes in narrow bands does not add up; most of the samples tell, for jumps do so anyway."""
    most = min(TURNS, int(SHARE * folded.series.length / period))
    sizes = np.array([folded.change(n * period, MIDDLE) for n in range(1, most + 1)])
    grown = max(LINEAR * most, LEAST_GROWTH) * sizes[:1]
    return most > 1 and bool((np.diff(sizes) > 0).all() and (sizes[-1:] > grown).all())


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
            new = on_torus(series, periods)
            if new.residual < 0.8 * found.residual:  # another pair must be worth it
                found = new
    return closer(series, found) if 0.02 < found.residual < 0.6 else found


def in_step(series: Series, period: float, others: tuple[float, ...]) -> bool:
    """Whether other periods (s) divide a period, as far as the samples can tell: a harmonic beyond half the sampling
    rate shows as another frequency."""
    rate = 1.0 / series.interval
    turns = [[period * (1 / one + n * rate) for n in (-1, 0, 1)] for one in others]
    slip = 0.5 * period / series.length
    return all(any(abs(x - round(x)) < slip for x in one) for one in turns)


def closer(series: Series, found: Phases) -> Phases:
    """Two periods near the given ones that leave less open; the drive's stays."""
    from scipy.optimize import minimize  # type: ignore[import-untyped]

    base = np.array(found.periods)
    room = 0.2 * base**2 / series.length  # a slip of a fifth of a turn over the series
    free = [1] if series.period is not None else [0, 1]

    def periods(move: np.ndarray) -> tuple[float, float]:
        moved = base.copy()
        moved[free] += room[free] * move
        return float(moved[0]), float(moved[1])

    start = np.vstack([np.zeros(len(free)), np.eye(len(free))])
    best = minimize(
        lambda move: on_torus(series, periods(move)).residual,
        np.zeros(len(free)),
        method="Nelder-Mead",
        options={"maxfev": 40, "initial_simplex": start},
    )
    return on_torus(series, periods(best.x)) if best.fun < found.residual else found


def on_torus(series: Series, periods: tuple[float, float]) -> Phases:
    """How far samples are from what their neighbours on the torus of two phases foretell.

    Neighbours near in time do not count (two periods, or a share of the record): they are alike whatever the motion is,
    and a slow decay would be explained by two rates that slip by less than a turn.
    """
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]

    some = np.arange(0, len(series.values), max(1, len(series.values) // MOST))
    time, values = series.time - series.time[0], series.values
    phases = np.mod(time[:, None] / np.array(periods), 1.0)
    _, near = cKDTree(phases, boxsize=1.0).query(phases[some], k=min(8 * NEIGHBOURS, len(values)))
    apart = np.abs(time[near] - time[some, None]) > max(2 * min(periods), AWAY * time[-1])
    order = np.argsort(~apart, axis=1, kind="stable")[:, :NEIGHBOURS]
    near = np.take_along_axis(near, order, axis=1)
    good = np.take_along_axis(apart, order, axis=1).all(axis=1)
    if good.mean() < 0.5:
        return Phases(periods, np.inf)
    off = phases[near] - phases[some, None, :]
    off -= np.round(off)
    left = values[some][good] - local_plane(off[good], values[near[good]])
    return Phases(periods, size(left, values, JUMPS), correlation(left, JUMPS), size(left, values))
