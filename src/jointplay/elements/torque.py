"""A torque from outside."""

from __future__ import annotations

from typing import ClassVar, Literal

from .fields import MovingBody, TorqueMotion
from .kinds import ForceHere, Load


class Torque(Load):
    """A torque (N m) from outside on a body."""

    outside: ClassVar = True

    kind: Literal["torque"] = "torque"
    on: MovingBody
    torque: TorqueMotion

    def act(self, here: ForceHere) -> None:
        """It turns its body."""
        here.twist(self.on, here.motion("torque"))
