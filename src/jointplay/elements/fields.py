"""The fields that elements are described by: references to bodies and points, axes, sizes, motions."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from ..parts.motions import Kinds as Motions
from ..parts.part import OneOf, Quantity, Several, refuse
from ..parts.units import ANGLE, FORCE, LENGTH, NUMBER, RATE, TORQUE, shorten


class Refers:
    """Annotation of a name, or of a pair of names: what of a mechanism it must be.

    point: of a body or the ground; body: also the ground; moving body; moving: a moving point or body; angle, position:
    what has such a coordinate, a body or a joint.
    """

    def __init__(self, to: str) -> None:
        self.to = to


def _pair(raw: Any) -> Any:
    if not isinstance(raw, list | tuple) or len(raw) != 2 or not all(isinstance(x, str) for x in raw):
        refuse(f"must be two names such as [ground.O, crank.start], got {shorten(raw)}")
    return tuple(raw)


def _direction(raw: Any) -> Any:
    if raw == (0.0, 0.0):
        refuse("must have a direction, got [0, 0]; for example [1, 0]")
    return raw


class _Axis(Several):
    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        inner = super().__get_pydantic_core_schema__(source, handler)
        return core_schema.no_info_after_validator_function(_direction, inner)


_TWO = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
TwoNames = Annotated[tuple[str, str], BeforeValidator(_pair), WithJsonSchema(_TWO)]
Points = Annotated[TwoNames, Refers("point")]
Bodies = Annotated[TwoNames, Refers("body")]
PointName = Annotated[str, Refers("point")]
BodyName = Annotated[str, Refers("body")]
MovingBody = Annotated[str, Refers("moving body")]
Turning = Annotated[str, Refers("angle")]
Sliding = Annotated[str, Refers("position")]
Moving = Annotated[str, Refers("moving")]

Axis = Annotated[tuple[float, float], _Axis(Quantity(NUMBER), "xy")]
Angle = Annotated[float, Quantity(ANGLE)]
Place = Annotated[float, Quantity(LENGTH)]
Size = Annotated[float, Quantity(LENGTH, at_least=0)]
Length = Annotated[float, Quantity(LENGTH, above=0)]
Restitution = Annotated[float, Quantity(NUMBER, at_least=0, at_most=1)]

AngleMotion = Annotated[Motions, OneOf("motion", ANGLE)]
RateMotion = Annotated[Motions, OneOf("motion", RATE)]
PlaceMotion = Annotated[Motions, OneOf("motion", LENGTH)]
ForceMotion = Annotated[Motions, OneOf("motion", FORCE)]
TorqueMotion = Annotated[Motions, OneOf("motion", TORQUE)]
