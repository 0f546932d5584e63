"""A force at a point."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..numerics.linalg import Pair
from ..parts.motions import Constant
from .fields import ForceMotion, PointName
from .kinds import ForceHere, Load


class Force(Load):
    """A force (N) with the global components x and y at a point."""

    outside: ClassVar = True

    kind: Literal["force"] = "force"
    at: PointName
    x: ForceMotion = Constant(value=0.0)
    y: ForceMotion = Constant(value=0.0)

    def act(self, here: ForceHere) -> None:
        """It pushes its point."""
        here.push(self.at, Pair(here.motion("x"), here.motion("y")))
