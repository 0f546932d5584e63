"""Inside a step: polynomials through the values and rates at its ends."""

from __future__ import annotations

from collections.abc import Sequence

from ..engine.typing import Scalar
from ..engine.values import where
from ..numerics.choice import maximum

ROUND_OFF = 2e-15  # of a value


def dense(u: Scalar, h: Scalar, first: Sequence[Scalar], last: Sequence[Scalar]) -> tuple[Scalar, Scalar]:
    """Value and rate of the quintic through value, rate and acceleration at both ends; u from 0 to 1.

    In a step so short that values differ from what rates say by rounding only, rates alone count: they would be wrong
    by that rounding over the step.
    """
    (x0, v0, a0), (x1, v1, a1) = first, last
    v0, v1, a0, a1 = v0 * h, v1 * h, a0 * h * h, a1 * h * h
    turn, bend = v1 - v0 - a0, a1 - a0
    rise, told = x1 - x0 - v0 - 0.5 * a0, 0.5 * turn - bend / 12
    rise = where(abs(rise - told) > ROUND_OFF * maximum(abs(x0), abs(x1)), rise, told)
    c3, c4, c5 = 10 * rise - 4 * turn + 0.5 * bend, -15 * rise + 7 * turn - bend, 6 * rise - 3 * turn + 0.5 * bend
    value = x0 + u * (v0 + u * (0.5 * a0 + u * (c3 + u * (c4 + u * c5))))
    rate = (v0 + u * (a0 + u * (3 * c3 + u * (4 * c4 + u * 5 * c5)))) / h
    return value, rate


def hermite(u: Scalar, h: Scalar, first: Sequence[Scalar], last: Sequence[Scalar], bend: Scalar = 0.0) -> Scalar:
    """Value of the quartic through value and rate at both ends, u^4 times `bend` in it; u from 0 to 1."""
    (x0, v0), (x1, v1) = first, last
    rise, v0, v1 = x1 - x0, v0 * h, v1 * h
    cubic = x0 + u * (v0 + u * (3 * rise - 2 * v0 - v1 + u * (v0 + v1 - 2 * rise)))
    return cubic + bend * (u * (1 - u)) * (u * (1 - u))
