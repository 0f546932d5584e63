"""What every function of time can do: its value, its knots, its integral, its numbers and tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ..engine.typing import Scalar
from .part import Part

if TYPE_CHECKING:
    from ..numerics.splines import Spline

NEVER = math.inf  # s


class FunctionOfTime(Part):
    """A function of time."""

    levels: ClassVar[tuple[str, ...]] = ()  # its numbers that are values: all of them rise with it

    def evaluate(self, t: Scalar, p: Mapping[str, Scalar]) -> Scalar:
        """Its value at time t (s) with the parameters p, named as in `numbers()` and `tables()`."""
        raise NotImplementedError

    def knot(self, t: Scalar, p: Mapping[str, Scalar]) -> Scalar:
        """The first time after t (s) that a step must not pass: there it is not smooth, or its rates are largest."""
        return NEVER

    def shortest(self) -> float:
        """The shortest time (s) between two of its knots: longer steps of one length do not see all of it."""
        return NEVER

    def cycle(self) -> float:
        """The shortest time (s) after which it, or a term of it, repeats."""
        return NEVER

    def tables(self) -> dict[str, Spline]:
        """The tables that a trace must bind, by their address within the motion."""
        return {}

    def parameters(self) -> dict[str, Any]:
        """What `evaluate` needs, as plain numbers and functions of plain numbers."""
        return {address: value for address, _, value in self.numbers()}

    def __call__(self, t: Scalar) -> Scalar:
        """Its value at time t (s), a number or an engine value."""
        return self.evaluate(t, self.parameters())

    def raised(self, by: float) -> FunctionOfTime:
        """The same function, higher by a number."""
        from .motions import total

        if not self.levels:
            return total(self, by)  # type: ignore[arg-type]
        given = {name: getattr(self, name) for name in self.levels}
        up = {name: tuple(y + by for y in x) if isinstance(x, tuple) else x + by for name, x in given.items()}
        return type(self)(**{**dict(self), **up})

    def integral(self, a: float, b: float) -> float:
        """Its integral from time a to time b (s): how far a rate turns."""
        from scipy.integrate import quad  # type: ignore[import-untyped]

        return float(quad(self, a, b, epsabs=1e-13, epsrel=1e-12)[0])
