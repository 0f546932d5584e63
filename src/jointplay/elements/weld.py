"""A weld: two bodies that do not move against each other."""

from __future__ import annotations

from typing import Literal

from ..numerics.linalg import Scalar
from .drawing import Drawing
from .fields import Angle, Points
from .kinds import Joint
from .pose import Here


class Weld(Joint):
    """The two points coincide, and the second body stays turned by `angle` (rad) against the first."""

    kind: Literal["weld"] = "weld"
    between: Points
    angle: Angle = 0.0

    def residual(self, here: Here) -> dict[str, Scalar]:
        """The points coincide and the angle is held."""
        d = here.apart
        return {"x": d.x, "y": d.y, "angle": here.turn - here.number("angle")}

    def drawing(self) -> Drawing:
        """Nothing."""
        return Drawing(pins=(), path=False)
