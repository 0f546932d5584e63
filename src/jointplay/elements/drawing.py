"""What is drawn of a joint: on the page to scale, and magnified where it has play.  Points of the plane are complex."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..numerics.linalg import Pair
from .pose import Here, Pose

if TYPE_CHECKING:
    from .kinds import Joint


@dataclass(frozen=True)
class Drawing:
    """The parts of a joint's picture.

    pins: its ends that are drawn as pins, 0 the first point and 1 the second; support: it stands on one where the
    ground carries it; link: a line from point to point; guide: what runs along its `axis` on the first body, a rail
    beside it, a groove or a plain line; block: of this length (m) at the second point, turned by `angle` (rad) against
    the axis; wheel: a circle of this radius (m) about the second point, on the second body; path: that of its moving
    point.
    """

    pins: tuple[int, ...] = (1,)
    support: bool = False
    link: bool = False
    guide: Literal["", "rail", "groove", "line"] = ""
    block: bool = False
    length: float = 0.0
    angle: float = 0.0
    wheel: float = 0.0
    path: bool = True


@dataclass
class Play:
    """What happens in one joint with play, over time: the inner part (journal, bar, block, pin, tooth) in the outer.

    shape: how it is drawn, a round inner part in a round outer one, a block or a pin or a tooth in a channel, or
    something over a floor.  clearance: how far it can go, in m or rad (`unit`).  offset: of the inner part's middle
    from the outer's, in the outer's frame, whose direction in the plane is `turn`; except in a round one the frame's
    real axis is the joint's.  tilt (rad): of the inner part against the outer.  gaps: by the name of the contact.
    radius: of the inner part, 0 if not given.  words: what is seen.
    """

    name: str
    shape: Literal["round", "block", "pin", "tooth", "floor"]
    clearance: float
    radius: float
    outer: str
    inner: str
    offset: np.ndarray
    turn: np.ndarray
    tilt: np.ndarray
    gaps: dict[str, np.ndarray]
    words: str = ""
    unit: str = "m"
    permanent: bool = False
    long_inner: bool = False
    length: float = 0.0
    load: np.ndarray = field(default_factory=lambda: np.zeros(0, complex))  # on the inner part (N), in the plane


class Track:
    """The places of a mechanism over many times, as arrays: what an element's picture is made from."""

    def __init__(self, mechanism: Any, places: dict[str, np.ndarray], angles: dict[str, np.ndarray], t: Any) -> None:
        """places (complex, m) and angles (rad) of the moving bodies."""
        self.mechanism, self.count = mechanism, len(t)
        self.angles = angles | {"ground": np.zeros(self.count)}
        self.turns = {body: np.exp(1j * angle) for body, angle in self.angles.items()}
        self.centres = places | {"ground": np.zeros(self.count, complex)}
        q: dict[str, np.ndarray] = {}
        for body in mechanism.bodies:
            q |= {f"{body}.x": places[body].real, f"{body}.y": places[body].imag, f"{body}.angle": angles[body]}
        turns = {body: Pair(self.turns[body].real, self.turns[body].imag) for body in mechanism.bodies}
        known = mechanism.addresses()
        self.numbers = lambda address: known.get(address, 0.0)
        self.pose = Pose(mechanism, self.numbers, q, t, turns)

    def point(self, reference: str) -> np.ndarray:
        """The place of a point such as `crank.end` over time (m)."""
        return self.complex(self.pose.point(reference))

    def complex(self, pair: Pair) -> np.ndarray:
        """A pair of numbers or arrays as an array of complex numbers."""
        return np.asarray(pair.x + 1j * pair.y * np.ones(self.count))

    def gaps(self, name: str) -> dict[str, np.ndarray]:
        """The gaps of a joint's contacts over time, by their labels."""
        joint: Joint = self.mechanism.joints[name]
        try:
            found = [(spot.label, spot.gap) for spot in joint.gaps(Here(self.pose, name, joint))]
        except TypeError:  # a text in words that know no arrays: one time after the other
            return self._gaps_one_by_one(name)
        return {label: np.asarray(gap * np.ones(self.count)) for label, gap in found}

    def _gaps_one_by_one(self, name: str) -> dict[str, np.ndarray]:
        joint: Joint = self.mechanism.joints[name]
        rows: list[dict[str, float]] = []
        for k in range(self.count):
            q = {key: float(x[k]) for key, x in self.pose.q.items()}
            pose = Pose(self.mechanism, self.numbers, q, float(self.pose.t[k]))
            rows.append({spot.label: spot.gap for spot in joint.gaps(Here(pose, name, joint))})
        return {label: np.array([row[label] for row in rows]) for label in (rows[0] if rows else {})}

    def magnified(self, name: str) -> Play:
        """What is seen of a joint whose kind says nothing else: its nearest gap over a floor."""
        joint: Joint = self.mechanism.joints[name]
        first, second = map(self.pose.owner, joint.between)
        gaps = self.gaps(name)
        least = np.min(list(gaps.values()), axis=0) if gaps else np.zeros(self.count)
        still = np.ones(self.count, complex)
        most = joint.looseness if joint.opened_by else float(np.nanmax(np.abs(least), initial=1e-9))
        tilt = self.angles[second] - self.angles[first]
        return Play(name, "floor", most, 0.0, first, second, 1j * least, still, tilt, gaps, "the nearest gap")
