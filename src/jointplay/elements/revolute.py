"""A revolute joint: a pin in a hole, ideal or as a journal with play in its bearing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import ConfigDict, model_validator

from ..numerics.linalg import Scalar, root
from ..parts.choices import Chosen, LawChoice
from ..parts.part import refuse
from .contacts import Contact, Following, Rigid
from .drawing import Drawing, Play, Track
from .fields import Angle, Length, Points, Restitution, Size
from .pose import Here, Spot
from .sized import Sized
from .sizes import SIZES, sized_schema

TINY = 1e-300  # keeps the direction of a concentric journal finite; its contact is open anyway


class Revolute(Sized):
    """The two points coincide; its angle is that of the second body seen from the first.

    A clearance > 0 (m, radial) opens the joint: `bearing` says which body carries the bearing, `contact` how the
    journal behaves in it, and friction acts at `journal_radius` (m).  Instead of the clearance there may be
    journal_radius and bearing_radius, journal_diameter and bearing_diameter, or a `fit` with `at`: min, mean or max.
    Stops `lower` and `upper` (rad) bound the angle.  `pin_friction` is a friction law of the ideal joint, acting at the
    journal_radius under the joint's reaction.  `length` (m) is that of the bearing along its axis, where a
    compliant contact needs it.
    """

    model_config = ConfigDict(json_schema_extra=sized_schema(SIZES, "journal_radius"))
    also: ClassVar = SIZES
    inner: ClassVar = "journal_radius"
    moves: ClassVar = "angle"
    moment: ClassVar = False
    pinned: ClassVar = True
    pushing: ClassVar = "distance"

    kind: Literal["revolute"] = "revolute"
    between: Points
    clearance: Size = 0.0
    journal_radius: Size = 0.0
    at: Literal["min", "mean", "max"] = "mean"
    bearing: Literal["first", "second"] = "first"
    length: Length | None = None
    contact: Contact = Rigid()
    pin_friction: Annotated[LawChoice, Chosen("friction")] | None = None
    lower: Angle | None = None
    upper: Angle | None = None
    stop_restitution: Restitution = 0.0

    @model_validator(mode="after")
    def _rough_pin(self) -> Revolute:
        if self.pin_friction is not None:
            if self.pin_friction.law.rates or self.pin_friction.law.memory:
                refuse(f"law {self.pin_friction.law.name!r} has states of its own; choose one without", "pin_friction")
            if self.journal_radius == 0:
                refuse("is missing; friction in the pin needs one > 0", "journal_radius")
        return self

    def residual(self, here: Here) -> dict[str, Scalar]:
        """The points coincide; in permanent contact with a clearance c they stay c apart (a massless link)."""
        if self.clearance > 0 and not isinstance(self.contact, Following):
            return {}
        d = here.apart
        if self.clearance == 0:
            return {"x": d.x, "y": d.y}
        c = here.number("clearance")
        return {"distance": (d.dot(d) - c * c) / (2 * c)}

    def gaps(self, here: Here) -> Iterator[Spot]:
        """A journal in its bearing: the gap is the clearance less the distance of the centres."""
        pose, (bearing, pin) = here.pose, self.ends()
        clearance, radius = here.number("clearance"), here.number("journal_radius")
        outer, inner = pose.owner(bearing), pose.owner(pin)
        d = pose.between((bearing, pin))
        distance = root(d.dot(d) + TINY)
        away = d * (1 / distance)
        along = (-away).turned()
        rim, surface = pose.arm(bearing) + away * (radius + clearance), pose.arm(pin) + away * radius
        common = pose.arm(pin) + away * (radius + clearance - distance)  # the bearing's surface, from the pin's body
        yield here.spot(
            clearance - distance,
            tangential=pose.rate_row(along, (inner, surface, 1), (outer, rim, -1)),
            rubbing=pose.rate_row(along, (inner, common, 1), (outer, rim, -1)),
            direction=-away if self.bearing == "first" else away,
            place=d * pose.turns[outer].conjugate(),
        )

    def coordinate(self, here: Here) -> Scalar:
        """The angle of the second body seen from the first (rad)."""
        return here.turn

    def pin_law(self) -> LawChoice | None:
        """The friction law of the pin, while it has no play."""
        return self.pin_friction if self.clearance == 0 else None

    def doubts(self, name: str) -> Iterator[str]:
        """Also friction that has no lever."""
        yield from super().doubts(name)
        yield from self.leverless(name)

    def leverless(self, name: str) -> Iterator[str]:
        """Friction that has no lever, or that of a pin that has play; runs note it too."""
        if self.clearance > 0 and self.pin_friction is not None:
            text = "its pin_friction acts only without play, and it has play; give its contact a friction"
            yield f"joint {name!r}: {text}"
        if self.clearance > 0 and self.journal_radius == 0 and self.roughness:
            text = f"friction {self.roughness} has no lever, as journal_radius is 0; give the journal's radius"
            yield f"joint {name!r}: {text}"

    def drawing(self) -> Drawing:
        """A pin, on a support where it stands on the ground."""
        return Drawing(support=True)

    def magnified(self, track: Track, name: str) -> Play:
        """The journal in its bearing."""
        bearing, pin = self.ends()
        outer, inner = track.pose.owner(bearing), track.pose.owner(pin)
        turn, tilt = track.turns[outer], track.angles[inner] - track.angles[outer]
        offset = (track.point(pin) - track.point(bearing)) * np.conj(turn)
        sizes = self.clearance, self.journal_radius
        words = "journal in its bearing"
        return Play(name, "round", *sizes, outer, inner, offset, turn, tilt, track.gaps(name), words)
