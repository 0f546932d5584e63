"""A drive that prescribes the position of a joint."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..numerics.linalg import Scalar
from .fields import PlaceMotion, Sliding
from .kinds import AtRate, Drive
from .pose import Here


class PositionDrive(Drive):
    """Prescribes the position (m) of a prismatic or slot joint along its axis."""

    prescribes: ClassVar = "position"

    kind: Literal["position"] = "position"
    of: Sliding
    motion: PlaceMotion

    def residual(self, here: Here) -> dict[str, Scalar | AtRate]:
        """The position follows the motion."""
        return {"position": here.coordinate(self.of) - here.motion()}
