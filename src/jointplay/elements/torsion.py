"""A torsional spring and damper between two bodies."""

from __future__ import annotations

from typing import Annotated, Literal

from ..numerics.linalg import Scalar
from ..parts.part import Quantity
from ..parts.units import TORSIONAL_DAMPING, TORSIONAL_STIFFNESS
from .fields import Angle, Bodies
from .kinds import ROUND, ForceHere, Load
from .pose import Here


class Torsion(Load):
    """A torsional spring and damper between two bodies: the torque on the second is
    -stiffness (angle - free_angle) - damping angle', the angle being the second body's seen from the first."""

    kind: Literal["torsion"] = "torsion"
    between: Bodies
    stiffness: Annotated[float, Quantity(TORSIONAL_STIFFNESS, at_least=0)] = 0.0
    damping: Annotated[float, Quantity(TORSIONAL_DAMPING, at_least=0)] = 0.0
    free_angle: Angle = 0.0

    def potential(self, here: Here) -> Scalar:
        """stiffness (angle - free_angle)^2 / 2."""
        turned = here.turn - here.number("free_angle")
        return 0.5 * here.number("stiffness") * turned * turned

    def elastic(self, here: ForceHere) -> None:
        """It turns its bodies back by angle - free_angle."""
        turned = here.turn - here.number("free_angle")
        here.twist(self.between[0], turned)
        here.twist(self.between[1], -turned)

    def act(self, here: ForceHere) -> None:
        """The damper brakes both bodies."""
        first, second = self.between
        back = here.number("damping") * here.rate(here.turn)
        here.twist(second, -back)
        here.twist(first, back)

    def magnitude(self, here: Here, length: float) -> float:
        """Its torque, at least what the last digits of an angle make."""
        return self.stiffness * (abs(float(here.turn) - self.free_angle) + ROUND)
