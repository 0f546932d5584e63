"""Piecewise cubic tables over run-time arrays: drives, references, measured curves."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ..engine.blocks import Array
from ..engine.text import whole
from ..engine.typing import Scalar
from ..engine.values import floor, is_value, where
from .choice import integer

ENDS = ("clamped", "held", "periodic")
_ROW = 5  # knot, then the coefficients of 1, d, d^2, d^3 with d = x - knot


class Spline:
    """A piecewise cubic of one variable, from knots and coefficients such as those of scipy's CubicSpline.

    Beyond its ends it is "held" (constant), "clamped" (constant, and its end slopes must be zero so that
    the first derivative is continuous) or "periodic" (it repeats).
    """

    def __init__(self, knots: ArrayLike, coefficients: ArrayLike, ends: str = "held") -> None:
        x, c = np.array(knots, float), np.array(coefficients, float)
        if ends not in ENDS:
            raise ValueError(f"table: ends must be one of {', '.join(ENDS)}, got {ends!r}")
        if x.ndim != 1 or len(x) < 2 or c.shape != (4, len(x) - 1):
            raise ValueError(f"table: {len(x)} knots need coefficients of shape (4, {len(x) - 1}), got {c.shape}")
        if not (np.isfinite(x).all() and np.isfinite(c).all() and (np.diff(x) > 0).all()):
            raise ValueError("table: knots must increase, and knots and coefficients must be finite")
        width = np.diff(x)
        last = np.polyval(c[:, -1], width[-1])
        slopes = abs(c[2, 0]), abs(np.polyval(np.polyder(c[:, -1]), width[-1]))
        scale = np.ptp(c[3]) / np.ptp(x) if len(x) > 2 else abs(last - c[3, 0]) / width[0]
        rounding = 1e-12 * max(1.0, np.abs(c[3]).max() / np.ptp(x))  # of points that are all alike
        if ends == "clamped" and max(slopes) > 1e-9 * scale + rounding:
            raise ValueError(
                f"table: clamped ends need slope 0, got {max(slopes):g}; use ends='held' or clamp the spline"
            )
        if ends == "periodic" and abs(last - c[3, 0]) > 1e-9 * max(np.ptp(c[3]), abs(last)):
            raise ValueError(f"table: periodic ends need equal end values, got {c[3, 0]:g} and {last:g}")
        self.ends, self.size = ends, len(x) - 1
        self.uniform = bool(np.ptp(width) <= 1e-12 * width.max())
        closing = [x[-1], last, 0.0, 0.0, 0.0]
        self.data = np.append(np.column_stack([x[:-1], *c[::-1]]), closing)
        self.array: Array | None = None

    def bound(self, name: str) -> Spline:
        """The same table as the parameter of this name in a trace."""
        copy = object.__new__(Spline)
        copy.__dict__.update(self.__dict__, array=Array("parameter", name, "f", self.data.size))
        return copy

    def __repr__(self) -> str:
        return f"Spline({self.size}, {self.ends!r}, {self.uniform})"

    def __call__(self, x: Scalar) -> Scalar:
        """Its value at x; NaN gives NaN; differentiable to the third order."""
        if self.array is None and not is_value(x):
            return self._at(x)
        if self.array is None:
            raise ValueError("table: give it to trace() as a parameter and call the one the step receives")
        load, n = self.array.load, self.size
        first, last = load(0), load(n * _ROW)
        if self.ends == "periodic":
            # not clamped: rounding may leave x just outside, where a clamp would take its slope away
            x = x - (last - first) * floor((x - first) / (last - first))
        else:
            x = where(x < first, first, where(x > last, last, x))
        if self.uniform:
            place = floor((x - first) * (n / (last - first)))
            row = integer(where(place < n, where(place > 0, place, 0.0), float(n - 1)))
        else:
            row = self._search(x)
        at = row * _ROW
        d = x - load(at)
        return load(at + 1) + d * (load(at + 2) + d * (load(at + 3) + d * load(at + 4)))

    def _at(self, x: float) -> float:
        """Its value outside a trace."""
        rows = self.data.reshape(-1, _ROW)
        first, last = rows[0, 0], rows[-1, 0]
        x = first + (x - first) % (last - first) if self.ends == "periodic" else min(max(x, first), last)
        knot, *powers = rows[np.searchsorted(rows[1:-1, 0], x, side="right")]
        return float(np.polyval(powers[::-1], x - knot))

    def after(self, x: Scalar) -> Scalar:
        """The first knot beyond x; infinite if there is none."""
        if self.array is None:
            raise ValueError("table: give it to trace() as a parameter and call the one the step receives")
        load, n = self.array.load, self.size
        first, last = load(0), load(n * _ROW)
        turns = (last - first) * floor((x - first) / (last - first)) if self.ends == "periodic" else 0
        inside = x - turns
        knot = load((self._search(inside) + 1) * _ROW)
        if self.ends != "periodic":
            return where(inside < first, first, where(inside < last, knot, math.inf))
        # rounding may leave x at the end of its period
        return turns + where(inside < first, first, where(inside < last, knot, last + (load(_ROW) - first)))

    def _search(self, x: Scalar) -> Scalar:
        assert self.array is not None
        row = whole(0)
        stride = 1 << (self.size - 1).bit_length()
        while stride > 1:  # binary search without branches: row is the last knot not above x
            stride >>= 1
            beyond = row + stride
            inside = (beyond < self.size) & (self.array.load(beyond * _ROW) <= x)
            row = where(inside, beyond, row)
        return row


def spline(x: Scalar, values: Spline) -> Scalar:
    """The value of a table at x."""
    return values(x)
