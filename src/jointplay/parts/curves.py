"""Curves through points: cubic splines, and those that never leave the range of their points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

ENDS = {"clamped": "clamped", "held": "not-a-knot", "periodic": "periodic"}  # of a cubic spline, in scipy's words


def piecewise(times: Sequence[float], values: Sequence[float], ends: str, interpolation: str) -> Any:
    """The piecewise polynomial (scipy's PPoly, of order 3) through (times, values): cubic, pchip or linear.

    ends: clamped (slope 0 at the ends, unless it is linear), held or periodic.
    """
    from scipy.interpolate import CubicHermiteSpline, CubicSpline, PPoly  # type: ignore[import-untyped]

    x, y = np.array(times, float), np.array(values, float)
    if interpolation == "cubic":
        return CubicSpline(x, y, bc_type=ENDS[ends])
    if interpolation == "linear":
        rise = np.diff(y) / np.diff(x)
        return PPoly(np.array([0 * rise, 0 * rise, rise, y[:-1]]), x)
    return CubicHermiteSpline(x, y, monotone_slopes(x, y, ends))


def monotone_slopes(x: np.ndarray, y: np.ndarray, ends: str) -> np.ndarray:
    """The slopes of Fritsch and Carlson at the points, with which a cubic between two points stays between them."""
    from scipy.interpolate import PchipInterpolator

    if ends == "periodic":  # as in the middle of three periods
        span = x[-1] - x[0]
        times, values = np.concatenate([x[:-1] - span, x, x[1:] + span]), np.concatenate([y[:-1], y, y[1:]])
        found: np.ndarray = PchipInterpolator(times, values).derivative()(x)
        found[-1] = found[0]
        return found
    if len(x) == 2:
        return np.zeros(2) if ends == "clamped" else np.full(2, (y[1] - y[0]) / (x[1] - x[0]))
    found = PchipInterpolator(x, y).derivative()(x)
    if ends == "clamped":
        found[[0, -1]] = 0.0
    return found


def reach(curve: Any) -> tuple[float, float]:
    """The least and the largest value of a piecewise polynomial between its ends."""
    turning = curve.derivative().roots(extrapolate=False)
    at = np.concatenate([curve.x, turning[np.isfinite(turning)]])
    found = curve(at)
    return float(found.min()), float(found.max())
