"""Joints with a clearance around a radius, and joints along an axis: what several kinds share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pydantic import model_validator

from ..numerics.linalg import Scalar
from ..parts.fits import LARGEST, loosest
from .kinds import Joint
from .pose import Here
from .sizes import sized

FAR = 2.0  # times the loosest fit


class Sized(Joint):
    """A joint whose clearance lies around a radius, its field `inner`; a fit may say both."""

    opened_by = "clearance"

    if TYPE_CHECKING:

        @property
        def clearance(self) -> float: ...

    @model_validator(mode="before")
    @classmethod
    def _sizes(cls, raw: Any) -> Any:
        return sized(raw, cls.inner, cls.also)

    def doubts(self, name: str) -> Iterator[str]:
        """A clearance far beyond any fit."""
        c, radius = self.clearance, float(getattr(self, self.inner))
        most, size = loosest(radius)
        if radius > 0 and c > FAR * most:
            end = ", where the table ends," if 2e3 * radius > LARGEST * (1 + 1e-12) else ""
            yield (
                f"joint {name!r}: clearance/{self.inner} = {mm(c)}/{mm(radius)} = {c / radius:.2g} is far outside the "
                f"usual fits; H11/d11 of ISO 286 (up to {size} mm{end}) leaves at most {mm(most)}"
            )


class Guided(Sized):
    """A joint whose second point is led along an axis of the first body."""

    moves = "position"

    if TYPE_CHECKING:

        @property
        def axis(self) -> tuple[float, float]: ...

    def coordinate(self, here: Here) -> Scalar:
        """The second point's place along the axis (m)."""
        return here.axis.dot(here.apart)

    def doubts(self, name: str) -> Iterator[str]:
        """An axis slightly off the coordinate axes."""
        x, y = self.axis
        tilt = math.degrees(min(abs(math.atan2(a, b)) for a, b in ((x, abs(y)), (y, abs(x)))))
        if 0 < tilt < 1:
            yield f"{name}.axis = [{x:g}, {y:g}] is {tilt:.2g} degrees off a coordinate axis: meant so?"
        yield from super().doubts(name)


def mm(length: float) -> str:
    """A length (m) in mm."""
    return f"{1e3 * length:.4g} mm"
