"""A prismatic joint: a block in a guide, or a bore on a bar, ideal or touching with four corners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np
from pydantic import ConfigDict, model_validator

from ..numerics.functions import sincos
from ..numerics.linalg import Pair, Scalar
from ..parts.part import refuse
from .contacts import Rigid, SidedContact
from .drawing import Drawing, Play, Track
from .fields import Angle, Axis, Length, Place, Points, Restitution, Size
from .pose import Here, Spot
from .sized import Guided
from .sizes import FIT, sized_schema


class Prismatic(Guided):
    """The second point stays on the line through the first along `axis` (in the first body's frame), and the second
    body turned by `angle` (rad) against the first; its position is the second point's place along the axis.

    A clearance > 0 (m, half of the play across) opens the joint.  If the first body carries the bearing, a block of
    the second runs in a guide of the first; if the second does, its bore runs on a bar of the first.  Block or bore
    have their middle at the second point and this `length` (m); `radius` (m) is half the thickness of block or bar.
    A `fit` with `at` may stand for clearance and radius.  Stops `lower` and `upper` (m) bound the position.
    """

    model_config = ConfigDict(json_schema_extra=sized_schema(FIT, "radius"))
    also: ClassVar = FIT
    inner: ClassVar = "radius"
    corners: ClassVar = ("front.upper", "front.lower", "rear.upper", "rear.lower")

    kind: Literal["prismatic"] = "prismatic"
    between: Points
    axis: Axis = (1.0, 0.0)
    angle: Angle = 0.0
    clearance: Size = 0.0
    length: Length | None = None
    radius: Size = 0.0
    at: Literal["min", "mean", "max"] = "mean"
    bearing: Literal["first", "second"] = "first"
    contact: SidedContact = Rigid()
    lower: Place | None = None
    upper: Place | None = None
    stop_restitution: Restitution = 0.0

    @model_validator(mode="after")
    def _long(self) -> Prismatic:
        if self.clearance > 0 and self.length is None:
            refuse("is missing; with a clearance, give the length of the bore or block in m", "length")
        return self

    def residual(self, here: Here) -> dict[str, Scalar]:
        """The second point is on the axis and the angle is held, unless there is play."""
        if self.clearance > 0:
            return {}
        return {"across": here.axis.cross(here.apart), "angle": here.turn - here.number("angle")}

    def gaps(self, here: Here) -> Iterator[Spot]:
        """Four corners: of a bore on a bar, or of a block in a guide."""
        pose, (first, second) = here.pose, self.bodies()
        along = here.axis
        across = along.turned()
        s, c = sincos(here.number("angle"))
        own = pose.turns[second] * (pose.turns[first].conjugate() * along) * Pair(c, -s)
        half, radius, clearance = (here.number(part) for part in ("length", "radius", "clearance"))
        apart, width = here.apart, radius + clearance if self.bearing == "second" else radius
        for end, ahead in (("front", 1), ("rear", -1)):
            for side, up in (("upper", 1), ("lower", -1)):
                corner = own * (half * (0.5 * ahead)) + own.turned() * (width * up)  # from the second point
                height = across.dot(apart + corner) * up
                gap, normal = radius + clearance - height, across * -up
                if self.bearing == "second":
                    gap, normal = height - radius, across * up
                arms = pose.arm(self.between[0]) + apart + corner, pose.arm(self.between[1]) + corner
                slip = here.sliding(normal.turned(), *arms)
                yield here.spot(gap, f"{end}.{side}", tangential=slip, direction=normal)

    def doubts(self, name: str) -> Iterator[str]:
        """Also a guide that moves although the ground could be it."""
        first, second = self.bodies()
        if first != "ground" and second == "ground":
            yield (
                f"{name}: the axis turns with its first body {first!r}, though the second is the ground; "
                f"write the ground first if the guide stands still"
            )
        yield from super().doubts(name)

    def sleeve(self) -> float:
        """The length of block or bore (m)."""
        return self.length or 0.0

    def track(self, bar: float | None, start: float) -> tuple[float, float] | None:
        """The positions (m) between which its bore stays on a bar of this length that begins `start` before the first
        point; None if there is no bar to leave."""
        if self.bearing != "second" or bar is None or self.axis[1]:
            return None
        half = 0.5 * (self.length or 0.0)
        return half - start, bar - half - start

    def drawing(self) -> Drawing:
        """A block on a rail."""
        return Drawing(pins=(), guide="rail", block=True, length=self.length or 0.0, angle=self.angle)

    def magnified(self, track: Track, name: str) -> Play:
        """The block in its guide; the bar in its bore, in whose frame it is seen."""
        first, second = self.bodies()
        local = complex(*self.axis) / abs(complex(*self.axis))
        along, own = track.turns[first] * local, track.turns[second] * local * np.exp(-1j * self.angle)
        apart = (track.point(self.between[1]) - track.point(self.between[0])) * np.conj(along)
        tilt, gaps = np.angle(own * np.conj(along)), track.gaps(name)
        sizes, words = (self.clearance, self.radius), "inner part in its guide or bore"
        if self.bearing == "second":
            middle = -1j * apart.imag * np.exp(-1j * tilt)
            made = Play(name, "block", *sizes, second, first, middle, own, -tilt, gaps, words, long_inner=True)
        else:
            made = Play(name, "block", *sizes, first, second, apart, along, tilt, gaps, words)
        made.length = self.length or 0.0
        return made
