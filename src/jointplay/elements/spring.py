"""A spring and damper between two points."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from ..numerics.linalg import Scalar, is_zero
from ..parts.part import Quantity
from ..parts.units import DAMPING, STIFFNESS
from .fields import Points, Size
from .kinds import ROUND, ForceHere, Load
from .pose import Here


class Spring(Load):
    """A spring and damper between two points: it pulls with stiffness (L - free_length) + damping L'."""

    kind: Literal["spring"] = "spring"
    between: Points
    stiffness: Annotated[float, Quantity(STIFFNESS, at_least=0)] = 0.0
    damping: Annotated[float, Quantity(DAMPING, at_least=0)] = 0.0
    free_length: Size = 0.0

    def potential(self, here: Here) -> Scalar:
        """stiffness (L - free_length)^2 / 2."""
        d, free = here.apart, here.number("free_length")
        # without a free length the root is not needed, and the ends may meet
        square = d.dot(d) if is_zero(free) else (abs(d) - free) * (abs(d) - free)
        return 0.5 * here.number("stiffness") * square

    def elastic(self, here: ForceHere) -> None:
        """It pulls its points together with L - free_length."""
        d, free = here.apart, here.number("free_length")
        pull = d if is_zero(free) else d * (1 - free / abs(d))
        here.push(self.between[0], pull)
        here.push(self.between[1], -pull)

    def act(self, here: ForceHere) -> None:
        """The damper pulls its points together while they part."""
        damping = here.number("damping")
        if is_zero(damping):
            return
        d = here.apart
        length = abs(d)
        pull = d * (damping * here.rate(length) / length)
        here.push(self.between[0], pull)
        here.push(self.between[1], -pull)

    def magnitude(self, here: Here, length: float) -> float:
        """Its pull, at least what the last digits of a length make."""
        d = here.apart
        return self.stiffness * (abs(math.hypot(d.x, d.y) - self.free_length) + ROUND * length) * length

    def reach(self, weight: float) -> float:
        """Its free length, or what it gives way under the weight."""
        return max(self.free_length, weight / self.stiffness) if self.stiffness > 0 else 0.0

    def coil(self) -> tuple[str, str]:
        """From point to point."""
        return self.between
