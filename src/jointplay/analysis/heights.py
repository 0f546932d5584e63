"""Heights of brief impacts from period to period: they are among the worst samples of a signal, which do not count
where it is laid over itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

PRIMES = (2, 3, 5, 7, 11, 13)  # a period of so many, or of a multiple of them, would show
MOST_PARTS, LEAST_SAMPLES = 64, 6  # of a period, in which the largest values are compared, and samples in each
UNSURE, STEEP = 0.05, 4.0  # of the time between samples, where they lie; times what is seen of them, slopes of a spike
SELDOM = 0.1  # share of the pairs of periods that does not count


def uneven(since: np.ndarray, values: np.ndarray, period: float) -> float:
    """How far apart the largest values in the same part of two periods are, in most pairs of periods; 0 if there are
    too few samples or periods.

    A spike between samples hides part of its height: two periods are compared whose samples lie alike, less what the
    slopes beside the largest value explain."""
    interval = since[-1] / (len(since) - 1)
    parts = int(min(MOST_PARTS, period / (LEAST_SAMPLES * interval)))
    count = int((since[-1] + 0.5 * interval) / period)
    if parts < 1 or count < 2:
        return 0.0
    part = np.floor(since * (parts / period) + 1e-9).astype(int)
    part = part[part < parts * count]
    first = np.flatnonzero(np.diff(part, prepend=-1))
    lies = np.round((since[first] - part[first] * (period / parts)) / interval, 3)[::parts]
    order = np.argsort(lies, kind="stable")
    tops, rise = (x.reshape(count, parts)[order] for x in crests(values[: len(part)], first))
    most = 0.0
    for each, other in pairs(order):
        apart = STEEP * (lies[order[other]] - lies[order[each]]) + UNSURE
        off = np.abs(tops[other] - tops[each]) - apart[:, None] * np.maximum(rise[each], rise[other])
        most = max(most, float(np.quantile(off, 1 - SELDOM, axis=0).max()))
    return most


def crests(values: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The largest value of each part of a signal, by the first samples of these, and its rise beside it."""
    tops, steps = np.maximum.reduceat(values, first), np.abs(np.diff(values))
    beside = np.maximum(np.append(steps, 0.0), np.append(0.0, steps))
    there = values == np.repeat(tops, np.diff(first, append=len(values)))
    return tops, np.maximum.reduceat(np.where(there, beside, 0.0), first)


def pairs(order: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Places in the order of periods of one and the next that is no multiple of 2, 3, 5 ... periods away, or is in
    another third of the record."""
    count = len(order)
    for groups in [*(order % prime for prime in PRIMES if 2 * prime <= count), 3 * order // count]:
        ends = np.flatnonzero(np.diff(groups))
        each = np.arange(ends[-1] + 1)
        yield each, ends[np.searchsorted(ends, each)] + 1
