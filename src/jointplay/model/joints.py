"""Joints between two bodies, ideal or with play.

Points are written `crank.end` or `ground.O`, bodies `crank` or `ground`.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, ConfigDict, WithJsonSchema, model_validator

from .choices import Chosen, LawChoice
from .clearances import (
    FIT,
    SIZES,
    AngularContact,
    Compliant,
    Contact,
    Rigid,
    SidedContact,
    sized,
    sized_schema,
)
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
_Size = Annotated[float, Quantity(LENGTH, at_least=0)]
_Place = Annotated[float, Quantity(LENGTH)]
_Share = Annotated[float, Quantity(NUMBER, at_least=0, at_most=1)]


class _Axis(Several):
    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        inner = super().__get_pydantic_core_schema__(source, handler)
        return core_schema.no_info_after_validator_function(_direction, inner)


Axis = Annotated[tuple[float, float], _Axis(Quantity(NUMBER), "xy")]


class _Sized(Part):
    inner: ClassVar[str]  # the field of the radius that lies inside the clearance

    @model_validator(mode="before")
    @classmethod
    def _sizes(cls, raw: Any) -> Any:
        return sized(raw, cls.inner, cls.also)


def _apart(joint: Any) -> Any:
    if joint.lower is not None and joint.upper is not None and not joint.lower < joint.upper:
        refuse(f"must be < upper, which is {joint.upper!r}, got {joint.lower!r}", "lower")
    return joint


def _suited(joint: Any) -> Any:
    """Refuse a law that needs a size which the joint has not."""
    if not isinstance(joint.contact, Compliant):
        return joint
    for role, chosen in joint.contact.laws().items():
        for size in chosen.law.geometry:
            if not hasattr(joint, size):
                text = f"law {chosen.law.name!r} needs a {size}, which a {joint.kind} joint has not; choose another law"
                refuse(text, "contact", role, "law")
            if play(joint) > 0 and not getattr(joint, size):
                refuse(f"is missing; law {chosen.law.name!r} needs one > 0", size)
    return joint


class Revolute(_Sized):
    """The two points coincide; its angle is that of the second body seen from the first.

    A clearance > 0 (m, radial) opens the joint: `bearing` says which body carries the bearing, `contact` how the
    journal behaves in it, and friction acts at `journal_radius` (m).  Instead of the clearance there may be
    journal_radius and bearing_radius, journal_diameter and bearing_diameter, or a `fit` with `at`: min, mean or max.
    Stops `lower` and `upper` (rad) bound the angle.  `pin_friction` is a friction law of the ideal joint, acting at the
    journal_radius under the joint's reaction.  `length` (m) is that of the bearing along its axis, where a
    compliant contact needs it.
    """

    model_config = ConfigDict(json_schema_extra=sized_schema(SIZES))
    also: ClassVar = SIZES
    inner: ClassVar = "journal_radius"
    kind: Literal["revolute"] = "revolute"
    between: Pair
    clearance: _Size = 0.0
    journal_radius: _Size = 0.0
    bearing: Literal["first", "second"] = "first"
    length: Annotated[float, Quantity(LENGTH, above=0)] | None = None
    contact: Contact = Rigid()
    pin_friction: Annotated[LawChoice, Chosen("friction")] | None = None
    lower: _Angle | None = None
    upper: _Angle | None = None
    stop_restitution: _Share = 0.0

    _stops = model_validator(mode="after")(_apart)
    _laws = model_validator(mode="after")(_suited)

    @model_validator(mode="after")
    def _rough_pin(self) -> Revolute:
        if self.pin_friction is not None:
            if self.pin_friction.law.rates or self.pin_friction.law.memory:
                refuse(f"law {self.pin_friction.law.name!r} has states of its own; choose one without", "pin_friction")
            if self.journal_radius == 0:
                refuse("is missing; friction in the pin needs one > 0", "journal_radius")
        return self


class Prismatic(_Sized):
    """The second point stays on the line through the first along `axis` (in the first body's frame), and the second
    body turned by `angle` (rad) against the first; its position is the second point's place along the axis.

    A clearance > 0 (m, half of the play across) opens the joint.  If the first body carries the bearing, a block of
    the second runs in a guide of the first; if the second does, its bore runs on a bar of the first.  Block or bore
    have their middle at the second point and this `length` (m); `radius` (m) is half the thickness of block or bar.
    A `fit` with `at` may stand for clearance and radius.  Stops `lower` and `upper` (m) bound the position.
    """

    model_config = ConfigDict(json_schema_extra=sized_schema(FIT))
    also: ClassVar = FIT
    inner: ClassVar = "radius"
    kind: Literal["prismatic"] = "prismatic"
    between: Pair
    axis: Axis = (1.0, 0.0)
    angle: _Angle = 0.0
    clearance: _Size = 0.0
    length: Annotated[float, Quantity(LENGTH, above=0)] | None = None
    radius: _Size = 0.0
    bearing: Literal["first", "second"] = "first"
    contact: SidedContact = Rigid()
    lower: _Place | None = None
    upper: _Place | None = None
    stop_restitution: _Share = 0.0

    @model_validator(mode="after")
    def _long(self) -> Prismatic:
        if self.clearance > 0 and self.length is None:
            refuse("is missing; with a clearance, give the length of the bore or block in m", "length")
        return self

    _stops = model_validator(mode="after")(_apart)
    _laws = model_validator(mode="after")(_suited)


class Weld(Part):
    """The two points coincide, and the second body stays turned by `angle` (rad) against the first."""

    kind: Literal["weld"] = "weld"
    between: Pair
    angle: _Angle = 0.0


class Slot(_Sized):
    """The second point (a pin) stays on the line through the first along `axis` (in the first body's frame).

    A clearance > 0 (m, half of the play across) opens the joint, with friction at `pin_radius` (m); a `fit` with
    `at` may stand for both.  Stops `lower` and `upper` (m) bound the pin's place along the axis.
    """

    model_config = ConfigDict(json_schema_extra=sized_schema(FIT))
    also: ClassVar = FIT
    inner: ClassVar = "pin_radius"
    kind: Literal["slot"] = "slot"
    between: Pair
    axis: Axis = (1.0, 0.0)
    clearance: _Size = 0.0
    pin_radius: _Size = 0.0
    contact: SidedContact = Rigid()
    lower: _Place | None = None
    upper: _Place | None = None
    stop_restitution: _Share = 0.0

    _stops = model_validator(mode="after")(_apart)
    _laws = model_validator(mode="after")(_suited)


class Rod(Part):
    """The two points stay `length` (m) apart: a massless rod."""

    kind: Literal["rod"] = "rod"
    between: Pair
    length: Annotated[float, Quantity(LENGTH, above=0)]


class Gear(Part):
    """angle of the second body = ratio * angle of the first + offset (rad).

    Two wheels outside each other have a ratio < 0.  A `play` > 0 (rad, half of the backlash, measured on the second
    body) opens the joint: the second body is then free to turn by so much either way.
    """

    kind: Literal["gear"] = "gear"
    between: Pair
    ratio: Annotated[float, Quantity(NUMBER, zero=False)]
    offset: _Angle = 0.0
    play: Annotated[float, Quantity(ANGLE, at_least=0)] = 0.0
    contact: AngularContact = Rigid()

    _laws = model_validator(mode="after")(_suited)


Joint = Annotated[Revolute | Prismatic | Weld | Slot | Rod | Gear, OneOf("joint")]
Openable = Revolute | Prismatic | Slot | Gear
Stoppable = Revolute | Prismatic | Slot


def play(joint: Openable) -> float:
    """The clearance (m) of a joint, of a gear its play (rad)."""
    return joint.play if isinstance(joint, Gear) else joint.clearance
