"""Signals: largest values and sums over all steps, periodic tests, delays, random numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..engine.text import branch, seldom, subroutine, whole
from ..engine.typing import Scalar
from ..engine.values import bits, floor, from_bits, is_value, number, recorder, sqrt, where
from .choice import maximum, minimum

NEAR = 0.03  # of a value: it may be so much below the largest, and the top of the cubic beside it above
FLAT = 1e-9  # of a value: looks that bend less show nothing but rounding


def peak(name: str, value: Scalar, time: Scalar = None) -> None:
    """Keep the largest value of all committed steps, and the time it was reached in `name.time`."""
    best = recorder().declare(name, -math.inf, checked=False)
    higher = value > best.value
    if time is not None:
        at = recorder().declare(f"{name}.time", 0.0, checked=False)
        at.value = where(higher, time, at.value)
    best.value = where(higher, value, best.value)


def peaks(values: dict[str, Scalar], time: Scalar = None) -> None:
    """Like `peak` for each of several values: what is seldom largest costs no more than being compared."""
    higher: Scalar = False
    for name, value in values.items():
        higher = (value > recorder().declare(name, -math.inf, checked=False).value) | higher

    def keep() -> None:
        for name, value in values.items():
            peak(name, value, time)

    branch(higher, keep, lambda: None)


def crests(
    looks: Mapping[str, Sequence[Scalar]], begin: Scalar, span: Scalar, caps: Mapping[str, Scalar] | None = None
) -> None:
    """Like `peaks`, of what was looked at four times, equally far apart over a span from a time `begin` on: the largest
    or, where they bend down evenly (not at a kink), the top of the cubic through them, at most what `caps` says."""
    most = {name: maximum(maximum(a, b), maximum(c, d)) for name, (a, b, c, d) in looks.items()}
    near: Scalar = False
    for name, x in most.items():
        near = (x + NEAR * abs(x) > recorder().declare(name, -math.inf, checked=False).value) | near

    def look() -> None:
        rises: Scalar = False
        crowned: Scalar = False
        for name, four in looks.items():
            x, best = most[name], recorder().declare(name, -math.inf, checked=False).value
            rises, crowned = (x > best) | rises, subroutine(bends)(*four, x, best) | crowned
        branch(rises, keep, lambda: None)
        branch(crowned, seldom(crown), lambda: None)

    def keep() -> None:
        for name, four in looks.items():
            peak(name, most[name], begin + subroutine(largest)(*four) * span)

    def crown() -> None:
        for name, four in looks.items():
            top, at = subroutine(crest)(*four)
            top = minimum(top, caps[name]) if caps and name in caps else top
            peak(name, top, begin + at * (span / 3))

    branch(near, look, lambda: None)


def bends(a: Scalar, b: Scalar, c: Scalar, d: Scalar, x: Scalar, best: Scalar) -> Scalar:
    """Whether values bend down between the first and the last, near the largest so far; x: the largest of them."""
    inside = (4 * b > 3 * a + c) & (4 * c > 3 * d + b) & (b + c - a - d > FLAT * abs(x))
    return inside & (x + NEAR * abs(x) > best)


def largest(a: Scalar, b: Scalar, c: Scalar, d: Scalar) -> Scalar:
    """Where from 0 to 1 the largest of four values is, equally far apart."""
    return where(maximum(a, b) < maximum(c, d), where(c < d, 1.0, 2 / 3), where(a < b, 1 / 3, 0.0))


def crest(a: Scalar, b: Scalar, c: Scalar, d: Scalar) -> tuple[Scalar, Scalar]:
    """The top between 0 and 3 of the cubic through values at 0, 1, 2, 3, and where it is; -inf where it has none, or
    where they bend so unevenly that it is not to be trusted."""
    first, second = a - 2 * b + c, b - 2 * c + d
    third = second - first
    slope, bend = b - a - first / 2 + third / 3, first - third  # at 0
    root = bend * bend - 2 * third * slope
    good = (first < 0) & (second < 0) & (2 * abs(third) < -maximum(first, second)) & (root > 0)
    at = 2 * slope / where(good, sqrt(where(good, root, 1.0)) - bend, 1.0)
    top = a + at * (b - a + (at - 1) / 2 * (first + (at - 2) / 3 * third))
    return where(good & (at > 0) & (at < 3), top, -math.inf), at


def total(name: str, value: Scalar) -> None:
    """Add to a sum over all committed steps."""
    cell = recorder().declare(name, 0.0, checked=False)
    cell.value = cell.value + value


def due(step: Scalar, interval: Scalar) -> Scalar:
    """True on steps 0, interval, 2 interval, ...: keyed to the absolute step number; never for an interval of 0."""
    if not is_value(interval) and not (isinstance(interval, int) and interval > 0):
        raise ValueError(f"due: the interval must be a whole number of steps >= 1, got {interval!r}")
    n, k = number(interval), number(step)
    return n * floor(k / n) == k  # exact below 2**51


def delay(name: str, value: Scalar, steps: Scalar, step: Scalar, at_most: int, start: float = 0.0) -> Scalar:
    """The value this call was given `steps` steps ago; `start` before that.

    `at_most` is a plain integer; a run-time `steps` beyond it counts as `at_most`, a negative one as 0.
    """
    if not is_value(steps) and not 0 <= steps <= at_most:
        raise ValueError(f"delay {name!r}: {steps!r} steps are not between 0 and at_most = {at_most}")
    size = max(2, 1 << int(at_most).bit_length())
    if is_value(steps):
        steps = where(steps > at_most, at_most, steps)
    ring = recorder().ring(name, size, start)
    past = ring.load((step - steps) & (size - 1))
    recorder().store(ring, step & (size - 1), value)
    if not is_value(steps):
        return past if steps else value
    return where(steps > 0, past, value)


_GOLDEN, _MIX = -7046029254386353131, (-4658895280553007687, -7723592293110705685)


def _mix(i: Scalar) -> Scalar:
    i = (i ^ (i >> 30)) * _MIX[0]
    i = (i ^ (i >> 27)) * _MIX[1]
    return i ^ (i >> 31)


def random(seed: Scalar, run: Scalar, step: Scalar, draw: int = 0) -> Scalar:
    """A uniform number in (0, 1) that depends on nothing but seed, run, step and draw (SplitMix64 hash)."""
    seed, run, step = (x if is_value(x) else whole(x) for x in (seed, run, step))
    key = _mix(_mix(seed * _GOLDEN + draw) + run * _GOLDEN)
    return from_bits((_mix(key + step * _GOLDEN) >> 12) | bits(1.0)) - (1.0 - 2.0**-53)
