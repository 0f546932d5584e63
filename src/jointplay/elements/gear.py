"""A gear: the angles of two bodies keep a ratio, exactly or with backlash."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, model_validator

from ..numerics.linalg import Scalar
from ..parts.part import Quantity, refuse
from ..parts.units import ANGLE, NUMBER
from .contacts import Compliant, Rigid, SidedContact
from .drawing import Play, Track
from .fields import Angle, Bodies, BodyName
from .kinds import Joint
from .pose import Here, Spot


def _angular(raw: Any) -> Any:
    if isinstance(raw, Mapping) and raw.get("kind") == "compliant":
        if raw.get("friction") is not None:
            refuse("a gear's play has no friction; leave it out", "friction")
        normal = raw.get("normal")
        for key, given in normal.items() if isinstance(normal, Mapping) else ():
            if key != "law" and isinstance(given, str) and _united(given):
                refuse(f"the depth is an angle in a gear: must be a plain number in N m and rad, got {given!r}",
                       "normal", key)  # fmt: skip
    elif isinstance(raw, Compliant) and raw.friction is not None:
        refuse("a gear's play has no friction; leave it out", "friction")
    return raw


def _united(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return True
    return False


class Gear(Joint):
    """angle of the second body = ratio * angle of the first + offset (rad), both seen from the carrier.

    Two wheels outside each other have a ratio < 0.  The `carrier` holds the axes of both wheels and takes the
    difference of their torques: the ground, or the arm of an epicyclic gear.  A gear transmits torques; forces between
    its teeth, which would load the bearings, are not modelled.  A `play` > 0 (rad, half of the backlash, measured on
    the second body) opens the joint: the second body is then free to turn by so much either way.
    """

    opened_by: ClassVar = "play"
    moves: ClassVar = "angle"
    driven: ClassVar = False

    kind: Literal["gear"] = "gear"
    between: Bodies
    ratio: Annotated[float, Quantity(NUMBER, zero=False)]
    offset: Angle = 0.0
    play: Annotated[float, Quantity(ANGLE, at_least=0)] = 0.0
    contact: Annotated[SidedContact, BeforeValidator(_angular)] = Rigid()
    carrier: BodyName = "ground"

    @model_validator(mode="after")
    def _three(self) -> Gear:
        if self.carrier in self.between and self.carrier != "ground":
            refuse(f"must be a third body or the ground, got the wheel {self.carrier!r}", "carrier")
        return self

    def ahead(self, here: Here) -> Scalar:
        """How far the second wheel is ahead of where the first one wants it (rad)."""
        first, second = (here.angle(body) - here.angle(self.carrier) for body in self.between)
        return second - here.number("ratio") * first - here.number("offset")

    def residual(self, here: Here) -> dict[str, Scalar]:
        """The angles keep their ratio, unless they have play."""
        return {} if self.play > 0 else {"angle": self.ahead(here)}

    def gaps(self, here: Here) -> Iterator[Spot]:
        """Angular play between two bodies, on both sides; without friction."""
        play, ahead = here.number("play"), self.ahead(here)
        for side, up in (("upper", 1), ("lower", -1)):
            yield here.spot(play - ahead * up, side)

    def coordinate(self, here: Here) -> Scalar:
        """The angle of the second body seen from the first (rad)."""
        return here.turn

    def magnified(self, track: Track, name: str) -> Play:
        """A tooth between its flanks."""
        first, second = self.between
        gaps, still = track.gaps(name), np.ones(track.count, complex)
        upper, lower = gaps.values()
        turned, words = 0.5 * (lower - upper), "tooth between its flanks"
        none = 0 * turned
        return Play(name, "tooth", self.play, 0.0, first, second, 1j * turned, still, none, gaps, words, "rad")
