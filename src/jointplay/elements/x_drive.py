"""A drive that prescribes the x of a point."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..numerics.linalg import Scalar
from .fields import Moving, PlaceMotion
from .kinds import AtRate, Drive
from .pose import Here


class XDrive(Drive):
    """Prescribes the global x (m) of a point, or of a body's mass centre."""

    prescribes: ClassVar = "x"

    kind: Literal["x"] = "x"
    of: Moving
    motion: PlaceMotion

    def residual(self, here: Here) -> dict[str, Scalar | AtRate]:
        """The point follows the motion."""
        return {"x": here.point(self.of).x - here.motion()}
