"""A drive that prescribes an angle."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..numerics.linalg import Scalar
from .fields import AngleMotion, Turning
from .kinds import AtRate, Drive
from .pose import Here


class AngleDrive(Drive):
    """Prescribes the angle (rad) of a body, or of a revolute joint (the second body seen from the first)."""

    prescribes: ClassVar = "angle"

    kind: Literal["angle"] = "angle"
    of: Turning
    motion: AngleMotion

    def residual(self, here: Here) -> dict[str, Scalar | AtRate]:
        """The angle follows the motion."""
        return {"angle": here.coordinate(self.of) - here.motion()}
