"""Where points and journals are, from a result and the model that it carries.  Points of the plane are complex."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..model.clearances import Following
from ..model.files import loads
from ..model.joints import Gear, Openable, Prismatic, Revolute, Slot, play
from ..model.mechanism import Mechanism
from ..model.parts import ModelError

if TYPE_CHECKING:
    import xarray

CORNERS = (("front.upper", 1, 1), ("front.lower", 1, -1), ("rear.upper", -1, 1), ("rear.lower", -1, -1))


@dataclass
class Play:
    """What happens in one joint with play, over time: the inner part (journal, bar, block, pin, tooth) in the outer.

    offset: of the inner part's middle from the outer's (m; of a gear rad), in the outer's frame, whose direction in
    the plane is `turn`; of bars, blocks and pins the frame's real axis is the joint's.  tilt (rad): of the inner part
    against the outer.  gaps: by the name of the contact.  radius: of the inner part, 0 if not given.
    """

    name: str
    kind: str
    clearance: float
    radius: float
    outer: str
    inner: str
    offset: np.ndarray
    turn: np.ndarray
    tilt: np.ndarray
    gaps: dict[str, np.ndarray]
    permanent: bool = False
    long_inner: bool = False
    length: float = 0.0
    load: np.ndarray = field(default_factory=lambda: np.zeros(0, complex))  # on the inner part (N), in the plane


class Places:
    """The places of a mechanism's points over the samples of a result."""

    def __init__(self, run: xarray.Dataset, mechanism: Mechanism | None = None) -> None:
        self.run, self.mechanism = run, mechanism or model_of(run)
        names = [str(name) for name in run.body.values]
        self.angles = {name: run.angle.sel(body=name).values for name in names} | {
            "ground": np.zeros(run.sizes["time"])
        }
        self.turns = {name: np.exp(1j * angle) for name, angle in self.angles.items()}
        self.centres = {name: run.x.sel(body=name).values + 1j * run.y.sel(body=name).values for name in names}
        self.centres["ground"] = np.zeros(run.sizes["time"], complex)

    def arm(self, reference: str) -> complex:
        """A named point in its body's axes, from the mass centre (m); of the ground from the origin."""
        body, point = self.mechanism.split(reference)
        if body == "ground":
            return complex(*self.mechanism.ground.all_points()[point])
        return complex(*self.mechanism.bodies[body].arm(point or "centre"))

    def point(self, reference: str) -> np.ndarray:
        """The place of a point such as `crank.end` over time (m)."""
        body = self.mechanism.owner(reference)
        return self.centres[body] + self.turns[body] * self.arm(reference)

    def loose(self) -> dict[str, Play]:
        """Every joint with play."""
        opened = {n: j for n, j in self.mechanism.joints.items() if isinstance(j, Openable) and play(j) > 0}
        return {name: self.play(name) for name in opened}

    def play(self, name: str) -> Play:
        """What happens in one joint with play."""
        if name not in self.mechanism.joints:
            raise ValueError(f"no joint {name!r} in this result; there are {', '.join(self.mechanism.joints)}")
        joint = self.mechanism.joints[name]
        if not isinstance(joint, Openable) or not play(joint) > 0:
            raise ValueError(f"joint {name!r} has no play; loosen it, as in mechanism.loosen({name!r}, '1 mm')")
        makers = {Revolute: self._revolute, Prismatic: self._prismatic, Slot: self._slot, Gear: self._gear}
        made: Play = makers[type(joint)](name, joint)  # type: ignore[operator]
        made.permanent = isinstance(joint.contact, Following)
        if "force_x" in self.run:
            here = self.run.sel(joint=name)
            sign = 1 if made.inner == self.mechanism.owner(joint.between[1]) else -1
            made.load = sign * (here.force_x.values + 1j * here.force_y.values)
        return made

    def _revolute(self, name: str, joint: Revolute) -> Play:
        bearing, pin = joint.between if joint.bearing == "first" else joint.between[::-1]
        outer, inner = self.mechanism.owner(bearing), self.mechanism.owner(pin)
        turn = self.turns[outer]
        offset = (self.point(pin) - self.point(bearing)) * turn.conj()
        gaps = {name: joint.clearance - np.abs(offset)}
        tilt = self.angles[inner] - self.angles[outer]
        return Play(name, "revolute", joint.clearance, joint.journal_radius, outer, inner, offset, turn, tilt, gaps)

    def _prismatic(self, name: str, joint: Prismatic) -> Play:
        first, second = (self.mechanism.owner(reference) for reference in joint.between)
        local = complex(*joint.axis) / abs(complex(*joint.axis))
        along, own = self.turns[first] * local, self.turns[second] * local * np.exp(-1j * joint.angle)
        apart = (self.point(joint.between[1]) - self.point(joint.between[0])) * along.conj()
        tilt, on_bar, length = np.angle(own * along.conj()), joint.bearing == "second", joint.length or 0.0
        width = joint.radius + joint.clearance if on_bar else joint.radius
        gaps = {}
        for label, ahead, up in CORNERS:
            height = (apart + np.exp(1j * tilt) * complex(0.5 * length * ahead, width * up)).imag * up
            gaps[f"{name}.{label}"] = height - joint.radius if on_bar else joint.radius + joint.clearance - height
        sizes = joint.clearance, joint.radius
        if on_bar:  # the bar runs through the bore, in whose frame it is seen
            middle = -1j * apart.imag * np.exp(-1j * tilt)
            made = Play(name, "prismatic", *sizes, second, first, middle, own, -tilt, gaps, long_inner=True)
        else:
            made = Play(name, "prismatic", *sizes, first, second, apart, along, tilt, gaps)
        made.length = length
        return made

    def _slot(self, name: str, joint: Slot) -> Play:
        first, second = (self.mechanism.owner(reference) for reference in joint.between)
        along = self.turns[first] * (complex(*joint.axis) / abs(complex(*joint.axis)))
        offset = (self.point(joint.between[1]) - self.point(joint.between[0])) * along.conj()
        gaps = {f"{name}.{side}": joint.clearance - offset.imag * up for side, up in (("upper", 1), ("lower", -1))}
        tilt = self.angles[second] - self.angles[first]
        return Play(name, "slot", joint.clearance, joint.pin_radius, first, second, offset, along, tilt, gaps)

    def _gear(self, name: str, joint: Gear) -> Play:
        first, second = joint.between
        turned = self.angles[second] - joint.ratio * self.angles[first] - joint.offset
        gaps = {f"{name}.{side}": joint.play - turned * up for side, up in (("upper", 1), ("lower", -1))}
        still, none = np.ones(len(turned), complex), 0 * turned
        return Play(name, "gear", joint.play, 0.0, first, second, 1j * turned, still, none, gaps)


def model_of(run: xarray.Dataset) -> Mechanism:
    """The mechanism that a result was computed from."""
    text = run.attrs.get("model", "")
    try:
        return loads(text)
    except ModelError as error:
        raise ValueError(f"the model of this result cannot be read, give the mechanism itself: {error}") from None
