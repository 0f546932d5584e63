"""At which times a motion is looked at: often enough for its fastest drive, body and table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import InputError
from ..model.mechanism import Mechanism
from ..model.motions import Sum
from ..model.repeats import driven
from ..parts.tables import Table
from ..physics.knots import motions
from ..statics.cycle import DrivenPath, DrivenState, follow
from ..system import System

SAMPLES = 720
TURN = 24  # times at least in a turn of what turns fastest, or in a period of a sine
BETWEEN = 8  # times at least from one point of a table to the next
MOST = 20_000  # times: half a minute of computing
SAME = 1e-9  # of a motion: times that are one


def seen(system: System, until: float, whole: bool, samples: int = SAMPLES) -> tuple[DrivenPath, list[DrivenState]]:
    """The states of a fully driven mechanism over a motion of so many seconds, at equal times, or at more of them where
    a drive, a body or a table is faster; whole: it begins again then."""
    if until <= 0:
        raise InputError(f"times: the end of a motion must be above 0 s, got {until:g} s")
    step = min([until / samples, *quickest(system.mechanism)])
    while True:
        path, states = follow(system, instants(system.mechanism, until, step, whole))
        turned = np.abs(np.diff([state.q[2::3] for state in states], axis=0)).max(initial=0.0) * TURN / math.tau
        if turned <= 1 + SAME:
            return path, states
        step /= 1.01 * turned  # of a gear, say


def quickest(mechanism: Mechanism) -> Iterator[float]:
    """The steps (s) that each part of the motion asks for, tables aside."""
    for _, motion in motions(mechanism):
        yield from (4 * part.shortest() / TURN for part in _parts(motion) if not isinstance(part, Table))
    try:
        yield from (math.tau / rate / TURN for _, rate in driven(mechanism))
    except InputError:  # a drive that does not repeat: the bodies tell how fast it is
        return


def instants(mechanism: Mechanism, until: float, step: float, whole: bool) -> np.ndarray:
    """Times from 0 on, no farther apart than a step (s): equal ones, and where there are tables those of their points
    with equal ones between."""
    marks = [0.0]
    for mark in sorted({x for _, motion in motions(mechanism) for part in _parts(motion) for x in _knots(part, until)}):
        if SAME * until < mark - marks[-1] and mark < until * (1 - SAME):
            marks.append(mark)
    spans = np.diff([*marks, until])
    counts = np.maximum(np.ceil(spans / step * (1 - SAME)), BETWEEN if len(marks) > 1 else 1).astype(int)
    if counts.sum() > MOST:
        raise InputError(
            f"mechanism {mechanism.name!r}: a motion of {until:g} s with changes so fast asks for {counts.sum()} "
            f"positions, {MOST} at most; look at less of it (times, --until), or let its slow drives rest (speed 0)"
        )
    if len(marks) == 1:
        return np.linspace(0.0, until, _odd(int(counts[0])) + (not whole), endpoint=not whole)
    inside = [a + b * np.arange(n) / n for a, b, n in zip(marks, spans, counts, strict=True)]
    return np.append(np.concatenate(inside), until)


def _odd(count: int) -> int:
    """A number of times, a prime one beyond the usual: none that meets a fast drive at the same few angles."""
    while count > SAMPLES and not all(count % k for k in range(2, math.isqrt(count) + 1)):
        count += 1
    return count


def _parts(motion: Any) -> Iterator[Any]:
    """A motion, or those that it is the sum of."""
    for part in motion.terms if isinstance(motion, Sum) else ():
        yield from _parts(part)
    if not isinstance(motion, Sum):
        yield motion


def _knots(motion: Any, until: float) -> Iterator[float]:
    """The times of a table's points up to a time (s), in each of its rounds."""
    if isinstance(motion, Table):
        first, last = motion.times[0], motion.times[-1]
        again = range(math.floor(-last / (last - first)), math.ceil((until - first) / (last - first)))
        for round_ in again if motion.ends == "periodic" else range(1):
            yield from (x + round_ * (last - first) for x in motion.times)
