"""Whole numbers; the smaller, the larger, the sign: choices that pass NaN on."""

from __future__ import annotations

from ..engine.typing import Scalar
from ..engine.values import MAGIC, bits, floor, is_value, kind_of, number, operate, recorder, where


def is_known(x: Scalar) -> bool:
    """True for a plain number that is not NaN."""
    return not is_value(x) and x == x


def integer(x: Scalar) -> Scalar:
    """A float that holds a whole number as an integer, exact for |x| < 2**51."""
    return operate("isub", bits(operate("add", x, MAGIC)), bits(MAGIC))


def minimum(a: Scalar, b: Scalar) -> Scalar:
    """The smaller of two; NaN if either is NaN."""
    return where(b < a, b, a) if is_known(b) else where((a < b) | (a != a), a, b)


def maximum(a: Scalar, b: Scalar) -> Scalar:
    """The larger of two; NaN if either is NaN."""
    return where(b > a, b, a) if is_known(b) else where((a > b) | (a != a), a, b)


def sign(x: Scalar) -> Scalar:
    """-1, 0 or 1 with the sign of x; NaN stays NaN."""
    return where(x > 0, 1.0, where(x < 0, -1.0, where(x == 0, 0.0, x)))


def modulo(x: Scalar, y: Scalar) -> Scalar:
    """The rest of x after division by y, zero or with the sign of y: wraps an angle, counts a step in its cycle.

    Like Python's it may round to y itself.  Integers must lie below 2**51.
    """
    if kind_of(x, y) == "i":
        return x - integer(floor(number(x) / number(y))) * y
    x = recorder().opaque(x, "f") if is_value(x) else x  # a product must be rounded before it is divided
    rest = x - floor(x / y) * y  # the quotient may have been rounded up to a whole number
    return rest + where((rest != 0) & ((rest < 0) != (y < 0)), y, 0.0)
