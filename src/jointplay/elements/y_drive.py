"""A drive that prescribes the y of a point."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..numerics.linalg import Scalar
from .fields import Moving, PlaceMotion
from .kinds import AtRate, Drive
from .pose import Here


class YDrive(Drive):
    """Prescribes the global y (m) of a point, or of a body's mass centre."""

    prescribes: ClassVar = "y"

    kind: Literal["y"] = "y"
    of: Moving
    motion: PlaceMotion

    def residual(self, here: Here) -> dict[str, Scalar | AtRate]:
        """The point follows the motion."""
        return {"y": here.point(self.of).y - here.motion()}
