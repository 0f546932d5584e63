"""A drive that prescribes an angular rate."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..numerics.linalg import Scalar
from .fields import RateMotion, Turning
from .kinds import AtRate, Drive
from .pose import Here


class RateDrive(Drive):
    """Prescribes the angular rate (rad/s) of a body or revolute joint; the angle starts where the start says."""

    prescribes: ClassVar = "angle"
    at_rate: ClassVar = True

    kind: Literal["rate"] = "rate"
    of: Turning
    motion: RateMotion

    def residual(self, here: Here) -> dict[str, Scalar | AtRate]:
        """The angle changes at the given rate."""
        return {"rate": AtRate(here.coordinate(self.of), here.motion())}
