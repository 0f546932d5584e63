"""A rod: two points at a distance."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..numerics.linalg import Scalar
from .drawing import Drawing
from .fields import Length, Points
from .kinds import Joint
from .pose import Here


class Rod(Joint):
    """The two points stay `length` (m) apart: a massless rod."""

    moment: ClassVar = False
    spaced_by: ClassVar = "length"

    kind: Literal["rod"] = "rod"
    between: Points
    length: Length

    def residual(self, here: Here) -> dict[str, Scalar]:
        """The points stay the length apart."""
        d, length = here.apart, here.number("length")
        return {"distance": (d.dot(d) - length * length) / (2 * length)}

    def drawing(self) -> Drawing:
        """A line between two pins."""
        return Drawing(pins=(1, 0), link=True)
