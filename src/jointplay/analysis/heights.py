"""Heights of brief impacts from period to period: they are among the worst samples of a signal, which do not count
where it is laid over itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

PRIMES = (2, 3, 5, 7, 11, 13)  # a period of so many, or of a multiple of them, would show
MOST_PARTS, LEAST_SAMPLES = 64, 6  # of a period, in which the largest values are compared, and samples in each
UNSURE, STEEP = 0.05, 4.0  # of the time between samples, where they lie; times what is seen of them, slopes of a spike
ASIDE = 0.2718  # of the time between samples: so that no sample lies just where a part begins, and rounding decides
SELDOM = 0.04  # share of the periods that does not count


def uneven(since: np.ndarray, values: np.ndarray, period: float, strict: bool) -> float:
    """How far apart the largest values in the same part of two periods are, in most periods; 0 if there are
    too few samples or periods.

    A spike between samples hides part of its height: two periods are compared whose samples lie alike, less what the
    slopes beside the largest value explain, unless it is strict."""
    interval = since[-1] / (len(since) - 1)
    parts = int(min(MOST_PARTS, period / (LEAST_SAMPLES * interval)))
    count = int((since[-1] + 0.5 * interval) / period)
    if parts < 1 or count < 2:
        return 0.0
    part = np.floor((since + ASIDE * interval) * (parts / period)).astype(int)
    part = part[part < parts * count]
    first = np.flatnonzero(np.diff(part, prepend=-1))
    lies = np.round((since[first] - part[first] * (period / parts)) / interval, 3).reshape(count, parts)
    order = np.argsort(lies[:, 0], kind="stable")
    lies = lies[order]
    tops, beside, rise = (x.reshape(count, parts)[order] for x in crests(values[: len(part)], first))
    most = 0.0
    for sides in neighbours(order):
        off = np.full(tops.shape, np.inf)
        for other in sides:  # a jump at the end of a part changes its largest value on one side
            apart = (0.0 if strict else STEEP) * np.abs(lies[other] - lies) + UNSURE
            missed = np.minimum(tops, tops[other]) - np.where(tops > tops[other], beside, beside[other])
            this = np.minimum(np.abs(tops[other] - tops), np.abs(missed)) - apart * np.maximum(rise, rise[other])
            off = np.minimum(off, this)
        most = max(most, float(np.quantile(off, 1 - SELDOM, axis=0).max()))
    return most


def crests(values: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The largest value of each part of a signal, by the first samples of these; the larger one beside it, which is
    the largest where rounding puts a jump behind that sample; and its rise from the smaller one."""
    tops = np.maximum.reduceat(values, first)
    there = values == np.repeat(tops, np.diff(first, append=len(values)))
    before, after = np.append(values[0], values[:-1]), np.append(values[1:], values[-1])
    rise = np.where(there, values - np.minimum(before, after), 0.0)
    beside = np.where(there, np.maximum(before, after), -np.inf)
    return tops, np.maximum.reduceat(beside, first), np.maximum.reduceat(rise, first)


def neighbours(order: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The places in the order of periods of the next and the last one that is no multiple of 2, 3, 5 ... periods away,
    or is in another third of the record; where there is but one of them, that one twice."""
    count = len(order)
    for groups in [*(order % prime for prime in PRIMES if 2 * prime <= count), 3 * order // count]:
        ends = np.flatnonzero(np.diff(groups))
        run = np.searchsorted(ends, np.arange(count))
        after = np.append(ends + 1, ends[-1])[run]
        before = np.where(run > 0, ends[run - 1], after)
        yield after, before
