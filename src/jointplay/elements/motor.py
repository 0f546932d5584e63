"""A motor: a torque between two bodies."""

from __future__ import annotations

from typing import Literal

from .fields import Bodies, TorqueMotion
from .kinds import ForceHere, Load


class Motor(Load):
    """A torque (N m) on the second body, and its opposite on the first."""

    kind: Literal["motor"] = "motor"
    between: Bodies
    torque: TorqueMotion

    def act(self, here: ForceHere) -> None:
        """It turns both bodies, in opposite directions."""
        torque = here.motion("torque")
        here.twist(self.between[1], torque)
        here.twist(self.between[0], -torque)
