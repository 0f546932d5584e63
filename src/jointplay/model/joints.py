"""Ideal joints between two bodies.  Points are written `crank.end` or `ground.O`, bodies `crank` or `ground`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, WithJsonSchema

from .clearances import Contact, Following
from .parts import OneOf, Part, Quantity, Several, refuse
from .units import ANGLE, LENGTH, NUMBER, shorten


def _pair(raw: Any) -> Any:
    if not isinstance(raw, list | tuple) or len(raw) != 2 or not all(isinstance(x, str) for x in raw):
        refuse(f"must be two names such as [ground.O, crank.start], got {shorten(raw)}")
    return tuple(raw)


def _direction(raw: Any) -> Any:
    if raw == (0.0, 0.0):
        refuse("must have a direction, got [0, 0]; for example [1, 0]")
    return raw


_TWO = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
Pair = Annotated[tuple[str, str], BeforeValidator(_pair), WithJsonSchema(_TWO)]
_Angle = Annotated[float, Quantity(ANGLE)]


class _Axis(Several):
    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        inner = super().__get_pydantic_core_schema__(source, handler)
        return core_schema.no_info_after_validator_function(_direction, inner)


Axis = Annotated[tuple[float, float], _Axis(Quantity(NUMBER), "xy")]


class Revolute(Part):
    """The two points coincide.  Its angle is that of the second body seen from the first.

    A clearance > 0 (m, radial) opens the joint; the bearing is then on the first or the second body, and `contact`
    says how the journal behaves in it.
    """

    kind: Literal["revolute"] = "revolute"
    between: Pair
    clearance: Annotated[float, Quantity(LENGTH, at_least=0)] = 0.0
    bearing: Literal["first", "second"] = "first"
    contact: Contact = Following()


class Prismatic(Part):
    """The second point stays on the line through the first along `axis` (in the first body's frame), and the second
    body turned by `angle` (rad) against the first.  Its position is the second point's place along the axis."""

    kind: Literal["prismatic"] = "prismatic"
    between: Pair
    axis: Axis = (1.0, 0.0)
    angle: _Angle = 0.0


class Weld(Part):
    """The two points coincide, and the second body stays turned by `angle` (rad) against the first."""

    kind: Literal["weld"] = "weld"
    between: Pair
    angle: _Angle = 0.0


class Slot(Part):
    """The second point (a pin) stays on the line through the first along `axis` (in the first body's frame)."""

    kind: Literal["slot"] = "slot"
    between: Pair
    axis: Axis = (1.0, 0.0)


class Rod(Part):
    """The two points stay `length` (m) apart: a massless rod."""

    kind: Literal["rod"] = "rod"
    between: Pair
    length: Annotated[float, Quantity(LENGTH, above=0)]


class Gear(Part):
    """angle of the second body = ratio * angle of the first + offset (rad).

    Two wheels outside each other have a ratio < 0.
    """

    kind: Literal["gear"] = "gear"
    between: Pair
    ratio: Annotated[float, Quantity(NUMBER, zero=False)]
    offset: _Angle = 0.0


Joint = Annotated[Revolute | Prismatic | Weld | Slot | Rod | Gear, OneOf("joint")]
