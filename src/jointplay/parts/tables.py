"""Functions of time through points."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, model_validator

from ..engine.typing import Scalar
from . import csv_points
from .curves import piecewise, reach
from .part import InUse, KeyPath, ModelError, Quantity, Several, refuse
from .time_functions import NEVER, FunctionOfTime
from .units import TIME

LEVEL = 1e-9  # of the steepest rise between points: a slope that is none

if TYPE_CHECKING:
    from ..numerics.splines import Spline


class Table(FunctionOfTime):
    """A curve through (times, values): a cubic spline, which may swing beyond them; `pchip`, smooth but between its
    neighbours everywhere; or `linear`.

    Beyond the ends it is `clamped` (constant, with slope 0 at the ends), `held` (constant) or `periodic`.
    The entries are data, not parameters: they have no addresses.  `file` reads both from a CSV file and keeps them.
    """

    model_config = ConfigDict(json_schema_extra=csv_points.schema)
    also = ("file",)
    levels: ClassVar = ("values",)

    kind: Literal["table"] = "table"
    times: Annotated[tuple[float, ...], Several(Quantity(TIME), least=2)]
    values: Annotated[tuple[float, ...], Several(InUse(), least=2)]
    ends: Literal["clamped", "held", "periodic"] = "clamped"
    interpolation: Literal["cubic", "pchip", "linear"] = "cubic"

    @model_validator(mode="before")
    @classmethod
    def _from_file(cls, raw: Any) -> Any:
        return csv_points.with_points(raw)

    @model_validator(mode="after")
    def _fits(self) -> Table:
        x, y = self.times, self.values
        if len(x) != len(y):
            refuse(f"needs one value for each time, got {len(x)} times and {len(y)} values", "values")
        for i in range(1, len(x)):
            if not x[i] > x[i - 1]:
                refuse(f"must increase, got {x[i]!r} after {x[i - 1]!r}", "times", i)
        if self.ends == "periodic" and y[0] != y[-1]:
            refuse(f"periodic ends need equal first and last values, got {y[0]!r} and {y[-1]!r}", "values")
        return self

    @functools.cached_property
    def _spline(self) -> Any:
        return piecewise(self.times, self.values, self.ends, self.interpolation)

    def beyond(self) -> float:
        """How far the curve goes beyond its values between them, as a share of their range."""
        low, high = reach(self._spline)
        least, most = min(self.values), max(self.values)
        return max(least - low, high - most) / ((most - least) or 1.0)

    def stops(self) -> list[float]:
        """The times (s) of its ends, after the start, at which a smooth curve has a speed that it has not beyond."""
        slopes = zip((self.times[0], self.times[-1]), self._spline([self.times[0], self.times[-1]], 1), strict=True)
        steepest = max(abs(b - a) for a, b in itertools.pairwise(self.values)) / self.shortest()
        smooth = self.ends == "held" and self.interpolation != "linear"
        return [t for t, slope in slopes if smooth and t > 0 and abs(slope) > LEVEL * steepest]

    def numbers(self) -> Iterator[tuple[str, KeyPath, float]]:
        """None: a table is data."""
        return iter(())

    def tables(self) -> dict[str, Spline]:
        from ..numerics.splines import Spline

        ends = "held" if self.interpolation == "linear" and self.ends == "clamped" else self.ends
        return {"table": Spline(self._spline.x, self._spline.c, ends)}

    def knot(self, t: Scalar, p: Mapping[str, Scalar]) -> Scalar:
        """Its times, at which the rates of rates are largest."""
        return p["table"].after(t)

    def shortest(self) -> float:
        return min(b - a for a, b in itertools.pairwise(self.times))

    def cycle(self) -> float:
        return self.times[-1] - self.times[0] if self.ends == "periodic" else NEVER

    def _at(self, t: Scalar) -> Scalar:
        from ..engine.values import is_value

        if is_value(t):
            raise ModelError("a table in a trace must be bound: give tables() to trace and its table to evaluate")
        first, last = self.times[0], self.times[-1]
        if self.ends == "periodic":
            t = first + (t - first) % (last - first)
        return float(self._spline(min(max(t, first), last)))

    def integral(self, a: float, b: float) -> float:
        spline, first, last = self._antiderivative, self.times[0], self.times[-1]

        def total(t: float) -> float:  # from the first time on
            if self.ends == "periodic":
                turns, rest = divmod(t - first, last - first)
                return float(turns * spline(last) + spline(first + rest))
            beyond = self.values[0] * min(t - first, 0.0) + self.values[-1] * max(t - last, 0.0)
            return float(spline(min(max(t, first), last)) + beyond)

        return total(b) - total(a)

    @functools.cached_property
    def _antiderivative(self) -> Any:
        return self._spline.antiderivative()

    def parameters(self) -> dict[str, Any]:
        return {"table": self._at}

    def evaluate(self, t: Scalar, p: Mapping[str, Scalar]) -> Scalar:
        return p["table"](t)
