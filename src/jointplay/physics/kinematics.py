"""Where the bodies are: points, axes and angles of a mechanism from its coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..model.mechanism import Mechanism
from ..numerics.functions import sincos
from ..numerics.linalg import Pair

Numbers = Callable[[str], Any]  # address -> engine value, or a structural 0


def weighted(mechanism: Mechanism, body: str) -> bool:
    """Whether a body has a counterweight with a mass."""
    added = mechanism.bodies[body].counterweight
    return added is not None and added.mass > 0


class Pose:
    """The configuration of a mechanism at one time, in the coordinates x, y (mass centre) and angle of each body.

    turns: cosine and sine of the angles where they are known; derivatives do not see through them.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        numbers: Numbers,
        q: Mapping[str, Any],
        t: Any,
        turns: Mapping[str, Pair] | None = None,
    ) -> None:
        self.mechanism, self.numbers, self.t = mechanism, numbers, t
        self.places = {body: Pair(q[f"{body}.x"], q[f"{body}.y"]) for body in mechanism.bodies} | {"ground": Pair(0, 0)}
        self.angles = {body: q[f"{body}.angle"] for body in mechanism.bodies} | {"ground": 0}
        if turns is None:
            found = {body: sincos(q[f"{body}.angle"]) for body in mechanism.bodies}
            turns = {body: Pair(c, s) for body, (s, c) in found.items()}
        self.turns = {**turns, "ground": Pair(1, 0)}

    def in_frame(self, body: str, point: str) -> Pair:
        """A named point in the frame of its body."""
        if body != "ground" and point == "centre":
            return Pair(self.numbers(f"{body}.centre.x"), self.numbers(f"{body}.centre.y"))
        if body != "ground" and self.mechanism.bodies[body].bar is not None and point in ("start", "end"):
            return Pair(self.numbers(f"{body}.length") if point == "end" else 0, 0)
        return Pair(self.numbers(f"{body}.{point}.x"), self.numbers(f"{body}.{point}.y"))

    def mass_centre(self, body: str) -> Pair:
        """The mass centre in the frame of its body, the counterweight included."""
        own = self.in_frame(body, "centre")
        if not weighted(self.mechanism, body):
            return own
        at = Pair(self.numbers(f"{body}.counterweight.x"), self.numbers(f"{body}.counterweight.y"))
        added = self.numbers(f"{body}.counterweight.mass")
        return own + (at - own) * (added / (self.numbers(f"{body}.mass") + added))

    def point(self, reference: str) -> Pair:
        """The place of `crank.end`, `ground.O`, or of a body's mass centre (`crank`)."""
        body, name = self.mechanism.split(reference)
        if body == "ground":
            return self.in_frame(body, name)
        return self.places[body] if self._central(body, name) else self.places[body] + self.arm(reference)

    def _central(self, body: str, point: str) -> bool:
        return point == "" or (point == "centre" and not weighted(self.mechanism, body))

    def arm(self, reference: str) -> Pair:
        """From the mass centre of its body (or the origin of the ground) to a point."""
        body, name = self.mechanism.split(reference)
        if body == "ground":
            return self.in_frame(body, name)
        if self._central(body, name):
            return Pair(0, 0)
        return self.turns[body] * (self.in_frame(body, name) - self.mass_centre(body))

    def lever(self, joint: str) -> tuple[str, int, Pair]:
        """A moving body of a joint, the sign that makes what acts on it act on the second body, and the way from its
        mass centre to the joint's second point."""
        element = self.mechanism.joints[joint]
        first, second = (self.mechanism.owner(reference) for reference in element.between)
        if element.kind == "gear":  # bodies, not points
            return (second, 1, Pair(0, 0)) if second != "ground" else (first, -1, Pair(0, 0))
        if second != "ground":
            return second, 1, self.arm(element.between[1])
        return first, -1, self.arm(element.between[0]) + self.between(element.between)

    def between(self, pair: tuple[str, str]) -> Pair:
        """From the first point to the second."""
        return self.point(pair[1]) - self.point(pair[0])

    def turn_between(self, pair: tuple[str, str]) -> Any:
        """The angle of the second body seen from the first."""
        first, second = (self.angles[self.mechanism.owner(reference)] for reference in pair)
        return second - first

    def axis(self, joint: str) -> Pair:
        """The unit vector of a joint's axis, fixed to its first body."""
        given = Pair(self.numbers(f"{joint}.axis.x"), self.numbers(f"{joint}.axis.y"))
        unit = given * (1 / abs(given))
        return self.turns[self.mechanism.owner(self.mechanism.joints[joint].between[0])] * unit
