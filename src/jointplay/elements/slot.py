"""A slot: a pin led along a line, ideal or with play between two walls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np
from pydantic import ConfigDict

from ..numerics.linalg import Scalar
from .contacts import Rigid, SidedContact
from .drawing import Drawing, Play, Track
from .fields import Axis, Place, Points, Restitution, Size
from .pose import Here, Spot
from .sized import Guided
from .sizes import FIT, sized_schema


class Slot(Guided):
    """The second point (a pin) stays on the line through the first along `axis` (in the first body's frame).

    A clearance > 0 (m, half of the play across) opens the joint, with friction at `pin_radius` (m); a `fit` with
    `at` may stand for both.  Stops `lower` and `upper` (m) bound the pin's place along the axis.
    """

    model_config = ConfigDict(json_schema_extra=sized_schema(FIT, "pin_radius"))
    also: ClassVar = FIT
    inner: ClassVar = "pin_radius"
    moment: ClassVar = False

    kind: Literal["slot"] = "slot"
    between: Points
    axis: Axis = (1.0, 0.0)
    clearance: Size = 0.0
    pin_radius: Size = 0.0
    at: Literal["min", "mean", "max"] = "mean"
    contact: SidedContact = Rigid()
    lower: Place | None = None
    upper: Place | None = None
    stop_restitution: Restitution = 0.0

    def residual(self, here: Here) -> dict[str, Scalar]:
        """The second point is on the axis, unless it has play."""
        return {} if self.clearance > 0 else {"across": here.axis.cross(here.apart)}

    def gaps(self, here: Here) -> Iterator[Spot]:
        """A pin between the two walls of a slot."""
        pose, across, apart = here.pose, here.axis.turned(), here.apart
        clearance, radius = here.number("clearance"), here.number("pin_radius")
        for side, up in (("upper", 1), ("lower", -1)):
            wall, normal = across * (radius * up), across * -up  # the wall from the pin's centre
            arms = pose.arm(self.between[0]) + apart + wall, pose.arm(self.between[1]) + wall
            slip = here.sliding(normal.turned(), *arms)
            yield here.spot(clearance - across.dot(apart) * up, side, tangential=slip, direction=normal)

    def drawing(self) -> Drawing:
        """A pin in a groove."""
        return Drawing(guide="groove")

    def magnified(self, track: Track, name: str) -> Play:
        """The pin between its walls."""
        first, second = self.bodies()
        along = track.turns[first] * (complex(*self.axis) / abs(complex(*self.axis)))
        offset = (track.point(self.between[1]) - track.point(self.between[0])) * np.conj(along)
        tilt, sizes = track.angles[second] - track.angles[first], (self.clearance, self.pin_radius)
        words = "pin between its walls"
        return Play(name, "pin", *sizes, first, second, offset, along, tilt, track.gaps(name), words)
