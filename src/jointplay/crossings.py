"""When a sampled signal passes a mark, between samples, too."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np


def passing(
    time: np.ndarray, values: np.ndarray, mark: float, sense: int,
    slopes: np.ndarray | None = None, path: np.ndarray | None = None, *, begin: float = -math.inf,
    leaves: bool | None = None,
) -> float:  # fmt: skip
    """The first time (s), from `begin` on, at which a sampled signal is above a mark (sense 1) or below it (-1), NaN if
    it never is.  leaves: whether it passes the mark the other way at `begin`; then it counts when it comes back.

    Between samples it is a straight line; a cubic by its slopes if they are given, which may pass the mark and come
    back; and if its integral, the path, is given too, what has jumped jumps at the one time that leads to the next
    place.
    """
    over, slopes = sense * (values - mark), None if slopes is None else sense * slopes
    gone = None if path is None else sense * np.diff(path - mark * time)
    known = since(begin, SignalLessMark(time, over, slopes, _jumped(time, over, slopes, gone)))
    time, over, slopes, gone = known
    if leaves_mark(known) if leaves is None else leaves:
        over = np.where(np.logical_and.accumulate(over > 0), 0.0, over)
    up = np.flatnonzero(over > 0)
    last = int(up[0]) if len(up) else len(time)
    if not len(time) or last == 0:
        return float(time[0]) if len(time) else math.nan
    if slopes is not None and path is not None:
        pairs = ((slice(i, i + 2), float(gone[i])) for i in range(last - 1))
        struck = (_struck(time[pair], over[pair], slopes[pair], left) for pair, left in pairs)
        if (first := next((t for t in struck if not math.isnan(t)), None)) is not None:
            return first
    if slopes is not None and path is None:
        turns = (slopes[: last - 1] > 0) & (slopes[1:last] < 0)
        for i in np.flatnonzero(turns).tolist():
            if _tops(time[i : i + 2], over[i : i + 2], slopes[i : i + 2]) <= 0:
                continue  # a cubic would swing beyond a stop
            found = _rises(time[i : i + 2], over[i : i + 2], slopes[i : i + 2])
            if not math.isnan(found):
                return found
    if last == len(time):
        return math.nan
    pair = slice(last - 1, last + 1)
    return _between(time[pair], over[pair], None if slopes is None else slopes[pair], float(gone[last - 1]))


class SignalLessMark(NamedTuple):
    """A signal less its mark, its slopes, and of each interval in which it jumps its integral, NaN of others."""

    time: np.ndarray
    over: np.ndarray
    slopes: np.ndarray | None
    gone: np.ndarray


def _jumped(time: np.ndarray, over: np.ndarray, slopes: np.ndarray | None, gone: np.ndarray | None) -> np.ndarray:
    """The integrals over the intervals in which a signal jumps, for its slopes do not lead to its next value."""
    rise = np.diff(over)
    if slopes is None or gone is None:
        return np.full(len(rise), math.nan)
    by_slopes = np.diff(time) * (slopes[1:] + slopes[:-1]) / 2
    return np.where(np.abs(rise - by_slopes) > np.abs(rise) / 2, gone, math.nan)


def since(begin: float, known: SignalLessMark) -> SignalLessMark:
    """The samples from a time on; the interval in which it is is cut there."""
    time, over, slopes, gone = known
    first = int(np.searchsorted(time, begin - 1e-9))
    rest = SignalLessMark(time[first:], over[first:], None if slopes is None else slopes[first:], gone[first:])
    if not 0 < first < len(time) or time[first] <= begin + 1e-9:
        return rest
    pair = slice(first - 1, first + 1)
    at = _inside(time[pair], over[pair], None if slopes is None else slopes[pair], float(gone[first - 1]), begin)
    return SignalLessMark(*(x if x is None else np.append(y, x) for y, x in zip((begin, *at), rest, strict=True)))  # type: ignore[arg-type]


def leaves_mark(known: SignalLessMark) -> bool:
    """Whether a signal falls below 0 at the first of its samples, as well as that time is known: 1e-9 s."""
    time, over, slopes, _ = known
    if len(time) < 2:
        return False
    slope = float(np.diff(over[:2] / (time[1] - time[0]))[0] if slopes is None else slopes[0])
    return slope < 0 and abs(over[0]) <= 1e-9 * float(np.abs(over).max()) + 2e-9 * abs(slope)


def _inside(
    time: np.ndarray, over: np.ndarray, slopes: np.ndarray | None, gone: float, at: float
) -> tuple[float, float, float]:
    """A signal at a time between two samples: its value, its slope, and its integral to the second if it jumps yet."""
    (t, u), (a, b) = time.tolist(), over.tolist()
    if slopes is None:
        return a + (b - a) * (at - t) / (u - t), math.nan, math.nan
    if not math.isnan(gone):
        before, after = slopes.tolist()
        s = at - t
        if s < _jump(u - t, a, b, before, after, gone):
            return a + before * s, before, gone - (a + before * s / 2) * s
        return b - after * (u - at), after, math.nan
    curve = cubic_through(time, over, slopes)
    return float(curve(at)), float(curve(at, 1)), math.nan


def _between(time: np.ndarray, over: np.ndarray, slopes: np.ndarray | None, gone: float) -> float:
    """Where a signal rises above 0 between two samples, of which the second is above; gone: its integral if it jumps,
    else NaN."""
    (t, u), (a, b) = time.tolist(), over.tolist()
    if slopes is None:
        return float(t + (u - t) * (a / (a - b)))
    if math.isnan(gone):
        return _rises(time, over, slopes)
    before, after = slopes.tolist()
    jump = _jump(u - t, a, b, before, after, gone)
    if before > 0 and a + before * jump > 0:
        return float(t - a / before)
    return float(t + jump if b - after * (u - t - jump) > 0 else u - b / after)


def _struck(time: np.ndarray, over: np.ndarray, slopes: np.ndarray, gone: float) -> float:
    """Where a signal that jumps between two samples, both not above 0, is above it just before or after the jump; NaN
    if it is not, or if what it does by its slopes is as large as the jump: a top, which is no jump."""
    (t, u), (a, b), (before, after) = time.tolist(), over.tolist(), slopes.tolist()
    if math.isnan(gone):
        return math.nan
    jump = _jump(u - t, a, b, before, after, gone)
    ends = a + before * jump, b - after * (u - t - jump)
    jumps = 0 <= jump <= u - t and abs(ends[1] - ends[0]) > (abs(before) + abs(after)) * (u - t)
    if not jumps or max(ends) <= 0:
        return math.nan
    return float(t - a / before if ends[0] > 0 else t + jump)


def _tops(time: np.ndarray, over: np.ndarray, slopes: np.ndarray) -> float:
    """Where tangents at two samples meet that rise and fall: what is bent evenly stays below, and what strikes and
    comes back has been there."""
    (a, b), (rise, fall) = over.tolist(), slopes.tolist()
    return float(a + rise * (b - a - fall * (time[1] - time[0])) / (rise - fall))


def _rises(time: np.ndarray, over: np.ndarray, slopes: np.ndarray) -> float:
    """Where the cubic between two samples rises above 0 first, NaN if it does not."""
    from scipy.optimize import brentq  # type: ignore[import-untyped]

    curve = cubic_through(time, over, slopes)
    tops = [x for x in curve.derivative().roots(extrapolate=False) if curve(x) > 0]
    end = min([*tops, *(time[1:] if over[1] > 0 else ())], default=None)
    if end is None or curve(end) <= 0:  # above by less than rounding
        return math.nan if end is None else float(end)
    return float(brentq(curve, time[0], end, xtol=1e-15))


def cubic_through(time: np.ndarray, values: np.ndarray, slopes: np.ndarray) -> Any:
    from scipy.interpolate import CubicHermiteSpline  # type: ignore[import-untyped]

    return CubicHermiteSpline(time, values, slopes)


def _jump(span: float, a: float, b: float, before: float, after: float, gone: float) -> float:
    """When a signal that goes from a to b in a span with one jump, and has these slopes before and after it, jumps;
    gone: its integral over the span."""
    # a s + before s^2/2 + b (span - s) - after (span - s)^2/2 = gone
    roots = np.roots([(before - after) / 2, a - b + after * span, b * span - after * span**2 / 2 - gone])
    real = roots[np.abs(roots.imag) < 1e-9 * span].real
    return float(np.clip(real[np.argmin(np.abs(real - span / 2))], 0.0, span)) if len(real) else span * a / (a - b)
