"""Two rates beside each other: whether they have a common period, and by how much they slip."""

from __future__ import annotations

import numpy as np

from .series import Series

LEAST_PERIODS = 2.2  # of a known drive in a series, to see one of them again
BEATS = 1.0  # turns by which one of the two rates slips beside a multiple of the other, at least
FEW = 6  # turns of a common period


def common(series: Series, periods: tuple[float, ...]) -> list[float]:
    """Times (s), of which a series holds two, in which both phases make whole turns; the drive's stays the first."""
    turns = np.arange(1, int(series.length / LEAST_PERIODS / periods[0]) + 1)
    other = turns * periods[0] / periods[1]
    slip = np.abs(other - np.round(other)) * series.length / (turns * periods[0])
    return [float(n * periods[0]) for n in turns[slip < BEATS]]


def beats(periods: tuple[float, ...], length: float) -> float:
    """By how many turns the faster of two phases slips, in a length (s), beside the nearest multiple of the slower one;
    none where there are not two. With less than one, two rates draw a slow change of one motion and not a torus."""
    if len(periods) < 2:
        return 0.0
    low, high = sorted(1.0 / one for one in periods)
    return abs(high - round(high / low) * low) * length


def commensurate(f: float, g: float, length: float) -> bool:
    """Whether two frequencies (Hz) have a common period of a few turns, or one is any multiple of the other, as far as
    a length (s) can tell."""
    whole = range(1, FEW + 1)
    low, high = sorted((f, g))
    return abs(high - round(high / low) * low) * length < 0.5 or any(
        abs(q * f - p * g) * length < 0.5 for p in whole for q in whole
    )
