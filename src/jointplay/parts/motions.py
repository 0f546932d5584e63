"""Functions of time: what drives prescribe and forces apply.  Written once, for plain numbers and engine values.

A motion has no unit of its own; it takes that of what it moves.  `numbers()` lists its parameters; `evaluate`
computes it from parameters that may be run-time values, so that derivatives come from the engine.  `knot` says when it
next ceases to be smooth or is at its most: adaptive steps end there, so that none passes over a pulse.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from ..engine.typing import Scalar
from .part import InUse, KeyPath, ModelError, OneOf, Problem, Quantity, Several, refuse
from .tables import Table
from .time_functions import NEVER, FunctionOfTime
from .units import ANGLE, RATE, TIME, shorten

if TYPE_CHECKING:
    from ..numerics.splines import Spline

MotionNumber = Annotated[float, InUse()]
Time = Annotated[float, Quantity(TIME)]
SPAN = 1e-3  # s: a function of which nothing is known may change as fast as this


class Constant(FunctionOfTime):
    """Always the same value; in files a plain number will do."""

    levels: ClassVar = ("value",)

    kind: Literal["constant"] = "constant"
    value: MotionNumber

    def numbers(self) -> Iterator[tuple[str, KeyPath, float]]:
        """One number, addressed as the field that holds the motion (`motor.torque`)."""
        yield "", ("value",), self.value

    def plain(self, brief: bool = False) -> Any:
        """The number itself if brief."""
        return self.value if brief else super().plain()

    def evaluate(self, t: Scalar, p: Mapping[str, Scalar]) -> Scalar:
        return p[""]

    def integral(self, a: float, b: float) -> float:
        return self.value * (b - a)


class ConstantSpeed(FunctionOfTime):
    """start + speed t."""

    levels: ClassVar = ("start",)

    kind: Literal["constant_speed"] = "constant_speed"
    start: MotionNumber = 0.0
    speed: Annotated[float, InUse(1)]

    def evaluate(self, t: Scalar, p: Mapping[str, Scalar]) -> Scalar:
        return p["start"] + p["speed"] * t

    def integral(self, a: float, b: float) -> float:
        return (self.start + self.speed * (a + b) / 2) * (b - a)


class Sine(FunctionOfTime):
    """offset + amplitude sin(frequency t + phase), the frequency in rad/s (a unit string may say Hz)."""

    levels: ClassVar = ("offset",)

    kind: Literal["sine"] = "sine"
    amplitude: MotionNumber
    frequency: Annotated[float, Quantity(RATE)]
    phase: Annotated[float, Quantity(ANGLE)] = 0.0
    offset: MotionNumber = 0.0

    def evaluate(self, t: Scalar, p: Mapping[str, Scalar]) -> Scalar:
        from ..numerics.functions import sin

        return p["offset"] + p["amplitude"] * sin(p["frequency"] * t + p["phase"])

    def knot(self, t: Any, p: Mapping[str, Any]) -> Any:
        """Where it or its rate is largest: four times a period."""
        from ..engine.values import floor, where

        ahead = p["frequency"] > 0.0
        phase = where(ahead, 1.0, -1.0) * (p["frequency"] * t + p["phase"])
        rest = math.pi / 2 * (floor(phase / (math.pi / 2)) + 1.0) - phase
        rate = where(ahead, p["frequency"], -p["frequency"])
        return where(rate > 0.0, t + rest / where(rate > 0.0, rate, 1.0), NEVER)

    def shortest(self) -> float:
        return math.pi / 2 / abs(self.frequency) if self.frequency else NEVER

    def cycle(self) -> float:
        return math.tau / abs(self.frequency) if self.frequency else NEVER

    def integral(self, a: float, b: float) -> float:
        half = self.frequency * (b - a) / 2
        share = math.sin(half) / half if half else 1.0  # of the value in the middle; loses no digits at low frequencies
        middle = math.sin(self.frequency * (a + b) / 2 + self.phase)
        return (self.offset + self.amplitude * share * middle) * (b - a)


class Polynomial(FunctionOfTime):
    """c0 + c1 t + c2 t^2 + ... with the coefficients in this order."""

    kind: Literal["polynomial"] = "polynomial"
    coefficients: Annotated[tuple[float, ...], Several(InUse)]

    def numbers(self) -> Iterator[tuple[str, KeyPath, float]]:
        """The coefficients, `coefficients.0` first."""
        for i, c in enumerate(self.coefficients):
            yield f"coefficients.{i}", ("coefficients", i), c

    def evaluate(self, t: Scalar, p: Mapping[str, Scalar]) -> Scalar:
        result: Scalar = 0.0
        for i in reversed(range(len(self.coefficients))):
            result = result * t + p[f"coefficients.{i}"]
        return result

    def integral(self, a: float, b: float) -> float:
        return sum(c * (b ** (i + 1) - a ** (i + 1)) / (i + 1) for i, c in enumerate(self.coefficients))

    def raised(self, by: float) -> Polynomial:
        return Polynomial(coefficients=(self.coefficients[0] + by, *self.coefficients[1:]))


class Cycloidal(FunctionOfTime):
    """From start to end with speed and acceleration 0 at both, held before and after."""

    levels: ClassVar = ("start", "end")

    kind: Literal["cycloidal"] = "cycloidal"
    start: MotionNumber = 0.0
    end: MotionNumber
    begin: Time = 0.0
    duration: Annotated[float, Quantity(TIME, above=0)]

    def evaluate(self, t: Scalar, p: Mapping[str, Scalar]) -> Scalar:
        from ..engine.values import where
        from ..numerics.functions import sin

        s = (t - p["begin"]) / p["duration"]
        s = where(s < 0.0, 0.0, where(s > 1.0, 1.0, s))
        return p["start"] + (p["end"] - p["start"]) * (s - sin(2 * math.pi * s) * (0.5 / math.pi))

    def knot(self, t: Any, p: Mapping[str, Any]) -> Any:
        """Begin and end, and between them where its rates are largest."""
        return following(t, [p["begin"] + share / 4 * p["duration"] for share in range(5)])

    def shortest(self) -> float:
        return self.duration / 4

    def integral(self, a: float, b: float) -> float:
        def risen(t: float) -> float:  # the integral of the rise from 0 to 1, over its duration
            s = (t - self.begin) / self.duration
            inside = min(max(s, 0.0), 1.0)
            return inside**2 / 2 - (math.sin(math.pi * inside) / math.pi) ** 2 / 2 + max(s - 1.0, 0.0)

        return self.start * (b - a) + (self.end - self.start) * self.duration * (risen(b) - risen(a))


def _callable(raw: Any) -> Any:
    if not callable(raw):
        refuse(f"must be a Python function of t, so a file cannot hold one: use a table; got {shorten(raw)}")
    return raw


class Function(FunctionOfTime):
    """A Python function of t, written with the engine's words (sin, where, ...); it cannot go into a file.

    knots: times (s) at which it is not smooth; those where a comparison of t changes are known without.  span (s): the
    shortest time in which it changes; adaptive steps are not longer.
    """

    kind: Literal["function"] = "function"
    function: Annotated[Callable[[Any], Any], BeforeValidator(_callable), WithJsonSchema({"not": {}})]
    knots: Annotated[tuple[float, ...], Several(Quantity(TIME), least=0)] = ()
    span: Annotated[float, Quantity(TIME, above=0)] = SPAN

    def numbers(self) -> Iterator[tuple[str, KeyPath, float]]:
        """None: what is said of a function belongs to it."""
        return iter(())

    def knot(self, t: Any, p: Mapping[str, Any]) -> Any:
        """The knots that are given, where its comparisons change, and no later than its span."""
        from ..numerics.switches import switches

        return following(t, [*self.knots, *switches(self.function(t), t), t + self.span])

    def shortest(self) -> float:
        spans = [b - a for a, b in itertools.pairwise(sorted(self.knots))]
        return min([*spans, self.span if self.span != SPAN else NEVER])

    def evaluate(self, t: Scalar, p: Mapping[str, Scalar]) -> Scalar:
        return self.function(t)


class Sum(FunctionOfTime):
    """The sum of several motions."""

    kind: Literal["sum"] = "sum"
    terms: Annotated[tuple[AnyMotion, ...], Field(min_length=1)]

    def numbers(self) -> Iterator[tuple[str, KeyPath, float]]:
        """Those of the terms, `terms.0.amplitude` for example."""
        for i, term in enumerate(self.terms):
            for tail, path, x in term.numbers():
                yield f"terms.{i}.{tail}".removesuffix("."), ("terms", i, *path), x

    def tables(self) -> dict[str, Spline]:
        return {f"terms.{i}.{tail}": x for i, term in enumerate(self.terms) for tail, x in term.tables().items()}

    def parameters(self) -> dict[str, Any]:
        return {
            f"terms.{i}.{tail}".removesuffix("."): x
            for i, term in enumerate(self.terms)
            for tail, x in term.parameters().items()
        }

    def _own(self, p: Mapping[str, Scalar]) -> Iterator[tuple[Any, dict[str, Scalar]]]:
        """The terms, each with its own parameters."""
        for i, term in enumerate(self.terms):
            head = f"terms.{i}"
            yield term, {k[len(head) :].removeprefix("."): x for k, x in p.items() if f"{k}.".startswith(f"{head}.")}

    def evaluate(self, t: Any, p: Mapping[str, Any]) -> Any:
        result: Any = 0.0
        for term, own in self._own(p):
            result = result + term.evaluate(t, own)
        return result

    def knot(self, t: Any, p: Mapping[str, Any]) -> Any:
        """The next of all terms."""
        return following(t, [term.knot(t, own) for term, own in self._own(p)])

    def shortest(self) -> float:
        return min(term.shortest() for term in self.terms)

    def cycle(self) -> float:
        return min(term.cycle() for term in self.terms)

    def integral(self, a: float, b: float) -> float:
        return sum(term.integral(a, b) for term in self.terms)

    def raised(self, by: float) -> Sum:
        return Sum(terms=(self.terms[0].raised(by), *self.terms[1:]))


def following(t: Any, times: Sequence[Any]) -> Any:
    """The first of some times after t."""
    from ..engine.values import where

    found: Any = NEVER
    for time in times:
        if time is not NEVER:
            found = where((time > t) & (time < found), time, found)
    return found


Kinds = Constant | ConstantSpeed | Sine | Polynomial | Cycloidal | Table | Sum | Function
AnyMotion = Annotated[Kinds, OneOf("motion")]
Sum.model_rebuild()


class UnreadMotion(dict[str, Any]):
    """A motion as a mapping, some of whose numbers are unit strings; the drive or force that takes it reads them."""

    def __call__(self, t: Scalar) -> Scalar:
        """Refused: its numbers are not known yet."""
        text = "has unit strings, which are read by the drive or force that takes it; give plain numbers in SI units"
        raise ModelError(Problem((self["kind"],), text))


def _made(kind: Any, *unknown: Any, **fields: Any) -> Any:
    """A motion of this kind, or an Unread one if there are unit strings (or unread terms) among these numbers."""
    if any(isinstance(x, str | UnreadMotion) for x in unknown):
        return UnreadMotion(kind=kind.model_fields["kind"].default, **fields)
    return kind(**fields)


def total(*terms: Kinds | float | str) -> Sum:
    """The sum of motions and constants.

    >>> total(polynomial(0.0, 1.0), 2.0)(3.0)
    5.0
    """
    return _made(Sum, *terms, terms=terms)


def constant(value: float | str) -> Constant:
    """A motion that always has this value."""
    return _made(Constant, value, value=value)


def constant_speed(speed: float | str, start: float | str = 0.0) -> ConstantSpeed:
    """start + speed t.  Like all motions it takes unit strings inside a drive or force, which know the dimension.

    >>> constant_speed(2.0, start=1.0)(3.0)
    7.0
    """
    return _made(ConstantSpeed, speed, start, start=start, speed=speed)


def sine(amplitude: float | str, frequency: float | str, phase: float | str = 0.0, offset: float | str = 0.0) -> Sine:
    """offset + amplitude sin(frequency t + phase), the frequency in rad/s (or a text such as "2 Hz")."""
    fields: dict[str, Any] = dict(amplitude=amplitude, frequency=frequency, phase=phase, offset=offset)
    return _made(Sine, amplitude, offset, **fields)


def polynomial(*coefficients: float | str) -> Polynomial:
    """c0 + c1 t + c2 t^2 + ...

    >>> polynomial(1.0, 0.0, 2.0)(3.0)
    19.0
    """
    return _made(Polynomial, *coefficients, coefficients=coefficients)


def cycloidal(end: float | str, duration: float | str, start: float | str = 0.0, begin: float | str = 0.0) -> Cycloidal:
    """From start to end within the duration (s), smooth to the second derivative."""
    return _made(Cycloidal, start, end, start=start, end=end, begin=begin, duration=duration)


def table(
    times: Any,
    values: Any,
    ends: Literal["clamped", "held", "periodic"] = "clamped",
    interpolation: Literal["cubic", "pchip", "linear"] = "cubic",
) -> Table:
    """A curve through (times, values): a cubic spline, `pchip` (never beyond two neighbours) or `linear`."""
    listed = values if isinstance(values, list | tuple) else ()
    return _made(Table, *listed, times=times, values=values, ends=ends, interpolation=interpolation)
