"""What moves a mechanism: drives that prescribe a motion, and forces that act."""

from __future__ import annotations

from typing import Annotated, Literal

from .joints import Pair
from .motions import Constant, Kinds
from .parts import OneOf, Part, Quantity
from .units import ANGLE, DAMPING, FORCE, LENGTH, RATE, STIFFNESS, TORQUE, TORSIONAL_DAMPING, TORSIONAL_STIFFNESS

Damping = Annotated[float, Quantity(DAMPING, at_least=0)]


class AngleDrive(Part):
    """Prescribes the angle (rad) of a body, or of a revolute joint (the second body seen from the first)."""

    kind: Literal["angle"] = "angle"
    of: str
    motion: Annotated[Kinds, OneOf("motion", ANGLE)]


class RateDrive(Part):
    """Prescribes the angular rate (rad/s) of a body or revolute joint; the angle starts where the start says."""

    kind: Literal["rate"] = "rate"
    of: str
    motion: Annotated[Kinds, OneOf("motion", RATE)]


class PositionDrive(Part):
    """Prescribes the position (m) of a prismatic or slot joint along its axis."""

    kind: Literal["position"] = "position"
    of: str
    motion: Annotated[Kinds, OneOf("motion", LENGTH)]


class XDrive(Part):
    """Prescribes the global x (m) of a point, or of a body's mass centre."""

    kind: Literal["x"] = "x"
    of: str
    motion: Annotated[Kinds, OneOf("motion", LENGTH)]


class YDrive(Part):
    """Prescribes the global y (m) of a point, or of a body's mass centre."""

    kind: Literal["y"] = "y"
    of: str
    motion: Annotated[Kinds, OneOf("motion", LENGTH)]


class Force(Part):
    """A force (N) with the global components x and y at a point."""

    kind: Literal["force"] = "force"
    at: str
    x: Annotated[Kinds, OneOf("motion", FORCE)] = Constant(value=0.0)
    y: Annotated[Kinds, OneOf("motion", FORCE)] = Constant(value=0.0)


class Torque(Part):
    """A torque (N m) from outside on a body."""

    kind: Literal["torque"] = "torque"
    on: str
    torque: Annotated[Kinds, OneOf("motion", TORQUE)]


class Motor(Part):
    """A torque (N m) on the second body, and its opposite on the first."""

    kind: Literal["motor"] = "motor"
    between: Pair
    torque: Annotated[Kinds, OneOf("motion", TORQUE)]


class Spring(Part):
    """A spring and damper between two points: it pulls with stiffness (L - free_length) + damping L'."""

    kind: Literal["spring"] = "spring"
    between: Pair
    stiffness: Annotated[float, Quantity(STIFFNESS, at_least=0)] = 0.0
    damping: Damping = 0.0
    free_length: Annotated[float, Quantity(LENGTH, at_least=0)] = 0.0


class Torsion(Part):
    """A torsional spring and damper between two bodies: the torque on the second is
    -stiffness (angle - free_angle) - damping angle', the angle being the second body's seen from the first."""

    kind: Literal["torsion"] = "torsion"
    between: Pair
    stiffness: Annotated[float, Quantity(TORSIONAL_STIFFNESS, at_least=0)] = 0.0
    damping: Annotated[float, Quantity(TORSIONAL_DAMPING, at_least=0)] = 0.0
    free_angle: Annotated[float, Quantity(ANGLE)] = 0.0


Drive = Annotated[AngleDrive | RateDrive | PositionDrive | XDrive | YDrive, OneOf("drive")]
Load = Annotated[Force | Torque | Motor | Spring | Torsion, OneOf("force")]
