"""Where the bodies are, and what one element sees of that: points, axes and angles from coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ..engine.derivatives import derivative
from ..numerics.functions import sincos
from ..numerics.linalg import Pair, Scalar, is_zero

if TYPE_CHECKING:
    from .kinds import Element, Joint

Made = TypeVar("Made", bound="Element")
Lookup = Callable[[str], Scalar]  # address -> engine value, or a structural 0
Row = dict[str, Scalar]  # coordinate -> coefficient; what is missing is 0


class Described(Protocol):
    """What a pose asks of a mechanism."""

    @property
    def bodies(self) -> Mapping[str, Any]: ...

    @property
    def joints(self) -> Mapping[str, Joint]: ...

    def addresses(self) -> Mapping[str, float]: ...

    def split(self, reference: str) -> tuple[str, str]: ...


def weighted(numbers: Lookup, mechanism: Described, body: str) -> bool:
    """Whether a body has a counterweight with a mass."""
    given = mechanism.bodies[body].counterweight is not None
    return given and not is_zero(numbers(f"{body}.counterweight.mass"))


class Pose:
    """The configuration of a mechanism at one time, in the coordinates x, y (mass centre) and angle of each body.

    turns: cosine and sine of the angles where they are known; derivatives do not see through them.
    """

    def __init__(
        self,
        mechanism: Described,
        numbers: Lookup,
        q: Mapping[str, Scalar],
        t: Scalar,
        turns: Mapping[str, Pair] | None = None,
    ) -> None:
        self.mechanism, self.numbers, self.q, self.t = mechanism, numbers, q, t
        self.places = {body: Pair(q[f"{body}.x"], q[f"{body}.y"]) for body in mechanism.bodies} | {"ground": Pair(0, 0)}
        self.angles = {body: q[f"{body}.angle"] for body in mechanism.bodies} | {"ground": 0}
        if turns is None:
            found = {body: sincos(q[f"{body}.angle"]) for body in mechanism.bodies}
            turns = {body: Pair(c, s) for body, (s, c) in found.items()}
        self.turns = {**turns, "ground": Pair(1, 0)}

    def owner(self, reference: str) -> str:
        """The body that a reference such as "crank.end" or "crank" belongs to; in a module its name has dots."""
        return self.mechanism.split(reference)[0]

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
        if not weighted(self.numbers, self.mechanism, body):
            return own
        at = Pair(self.numbers(f"{body}.counterweight.x"), self.numbers(f"{body}.counterweight.y"))
        added = self.numbers(f"{body}.counterweight.mass")
        return own + (at - own) * (added / (self.numbers(f"{body}.mass") + added))

    def _central(self, body: str, point: str) -> bool:
        return point == "" or (point == "centre" and not weighted(self.numbers, self.mechanism, body))

    def point(self, reference: str) -> Pair:
        """The place of `crank.end`, `ground.O`, or of a body's mass centre (`crank`)."""
        body, name = self.mechanism.split(reference)
        if body == "ground":
            return self.in_frame(body, name)
        return self.places[body] if self._central(body, name) else self.places[body] + self.arm(reference)

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
        first, second = map(self.owner, element.between)
        if not element.points:  # of bodies that are joined without points nothing but a moment is asked
            return (second, 1, Pair(0, 0)) if second != "ground" else (first, -1, Pair(0, 0))
        if second != "ground":
            return second, 1, self.arm(element.between[1])
        return first, -1, self.arm(element.between[0]) + self.between(element.between)

    def between(self, pair: tuple[str, str]) -> Pair:
        """From the first point to the second."""
        return self.point(pair[1]) - self.point(pair[0])

    def turn_between(self, pair: tuple[str, str]) -> Scalar:
        """The angle of the second body seen from the first."""
        return self.angles[self.owner(pair[1])] - self.angles[self.owner(pair[0])]

    def axis(self, joint: str) -> Pair:
        """The unit vector of a joint's axis, fixed to its first body."""
        given = Pair(self.numbers(f"{joint}.axis.x"), self.numbers(f"{joint}.axis.y"))
        unit = given * (1 / abs(given))
        return self.turns[self.owner(self.mechanism.joints[joint].between[0])] * unit

    def slopes(self, value: Scalar) -> Row:
        """How a value changes with each coordinate."""
        [row] = derivative([value], list(self.q.values()))
        return {name: slope for name, slope in zip(self.q, row, strict=True) if not is_zero(slope)}

    def rate_row(self, along: Pair, *ends: tuple[str, Pair, int]) -> Row:
        """The row of a velocity component: of each body's material point on an arm from its mass centre, with its
        sign."""
        row: Row = {}
        for body, arm, sign in ends:
            if body != "ground":
                for part, x in (("x", along.x), ("y", along.y), ("angle", arm.cross(along))):
                    row[f"{body}.{part}"] = x * sign
        return row


@dataclass
class Spot:
    """One place where two bodies may touch: gap >= 0.

    Its normal row is the rate at which the gap opens, found by differentiating it.  tangential: the row of the speed at
    which the second body's surface slides over the first's; None without friction.  play: how far it is from here to
    the contact on the other side, None if there is none.
    """

    joint: str
    label: str
    gap: Scalar
    pose: Pose
    restitution: str  # address of its number
    tangential: Row | None = None
    rubbing: Row | None = None  # of the friction force, where it differs: both bodies are rubbed at one place
    play: Scalar | None = None
    direction: Pair | None = None  # of a unit normal force on the joint's second body, where it is known already
    place: Pair | None = None  # journal centre seen from the bearing's centre, in the bearing's frame
    _normal: Row | None = None

    @property
    def normal(self) -> Row:
        """The rate at which the gap opens, as a row."""
        if self._normal is None:
            self._normal = self.pose.slopes(self.gap)
        return self._normal


class Unread:
    """A number of the model inside a text: whether it is 0 may be asked, for that changes what there is to compute.

    Anything else would fix the number in the program, which a run with another number then shares.
    """

    def __init__(self, value: float, name: str) -> None:
        self.value, self.name = value, name

    def __bool__(self) -> bool:
        return self.value != 0

    def __eq__(self, other: object) -> bool:
        return self.value == self._nothing(other)

    def __gt__(self, other: object) -> bool:
        return self.value > self._nothing(other)

    def __lt__(self, other: object) -> bool:
        return self.value < self._nothing(other)

    __hash__ = None  # type: ignore[assignment]

    def _nothing(self, other: object) -> float:
        return 0.0 if other == 0 else self._refuse()

    def _refuse(self, *_: object) -> Any:
        key = self.name.replace("[0]", ".x").replace("[1]", ".y")
        raise TypeError(
            f"a text must not read self.{self.name}, which would fix the number: write here.number({key!r})"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __pow__ = __rpow__ = __neg__ = __abs__ = __float__ = __int__ = __ge__ = __le__ = _refuse

    def __repr__(self) -> str:
        return f"self.{self.name}, which a text must not read; write here.number({self.name!r})"


def in_text(element: Made) -> Made:
    """The element as its own texts see it: numbers only as far as whether they are 0."""
    changes: dict[str, Any] = {}
    for name in type(element).model_fields:
        given = getattr(element, name)
        if isinstance(given, float):
            changes[name] = Unread(given, name)
        elif isinstance(given, tuple) and given and isinstance(given[0], float):
            changes[name] = tuple(Unread(x, f"{name}[{i}]") for i, x in enumerate(given))
    return element.model_copy(update=changes) if changes else element


class Here:
    """What one element sees at a pose: its own numbers and motions, and the places that it refers to."""

    def __init__(self, pose: Pose, name: str, element: Element) -> None:
        self.pose, self.name, self.element = pose, name, element

    def number(self, key: str) -> Scalar:
        """One of its own numbers by its key ("radius", "axis.x"): at run time, so that it can change without a new
        trace; a 0 that was written as such is structural."""
        return self.pose.numbers(f"{self.name}.{key}")

    def motion(self, field: str = "motion") -> Scalar:
        """The value of one of its motions at this time."""
        address = self.name if field == "motion" else f"{self.name}.{field}"
        return motion_at(self.pose, address, getattr(self.element, field))

    @property
    def between(self) -> tuple[str, str]:
        """The names of what it stands between."""
        pair: tuple[str, str] = self.element.between  # type: ignore[attr-defined]
        return pair

    @property
    def apart(self) -> Pair:
        """The way from its first point to its second (m)."""
        return self.pose.between(self.between)

    @property
    def turn(self) -> Scalar:
        """The angle of its second body seen from the first (rad)."""
        return self.pose.turn_between(self.between)

    @property
    def axis(self) -> Pair:
        """The unit vector of its axis, fixed to its first body."""
        return self.pose.axis(self.name)

    def point(self, reference: str) -> Pair:
        """The place of a point, or of a body's mass centre (m)."""
        return self.pose.point(reference)

    def angle(self, body: str) -> Scalar:
        """The angle of a body (rad); 0 of the ground."""
        return self.pose.angles[self.pose.owner(body)]

    def coordinate(self, of: str) -> Scalar:
        """The angle of a body, or the coordinate of a joint."""
        joint = self.pose.mechanism.joints.get(of)
        return self.pose.angles[of] if joint is None else in_text(joint).coordinate(Here(self.pose, of, joint))

    def sliding(self, along: Pair, first: Pair, second: Pair | None = None) -> Row:
        """The row of the speed at which the second body's surface slides over the first's along a unit vector.

        Either one place in the plane where they touch, or the arms from the mass centres to both surfaces.
        """
        one, two = map(self.pose.owner, self.between)
        if second is None:
            first, second = first - self.pose.places[one], first - self.pose.places[two]
        return self.pose.rate_row(along, (two, second, 1), (one, first, -1))

    def spot(self, gap: Scalar, label: str = "", **more: Any) -> Spot:
        """A place where its two bodies may touch; label: its name within the joint.  More are fields of `Spot`."""
        size: Any = getattr(self.element, "opened_by", "")
        play = self.number(size) if size else None
        given: dict[str, Any] = {"restitution": "restitution", "play": play} | more
        given["restitution"] = f"{self.name}.{given['restitution']}"
        return Spot(self.name, f"{self.name}.{label}" if label else self.name, gap, self.pose, **given)


def motion_at(pose: Pose, address: str, motion: Any) -> Scalar:
    """A motion at the pose's time, its parameters taken from their addresses."""
    return motion.evaluate(pose.t, parameters(pose, address, motion))


def parameters(pose: Pose, address: str, motion: Any) -> dict[str, Scalar]:
    """The parameters of a motion, taken from their addresses."""
    constant = address if address in pose.mechanism.addresses() else f"{address}.value"
    keys = [key for key, _, _ in motion.numbers()] + list(motion.tables())
    return {key: pose.numbers(f"{address}.{key}" if key else constant) for key in keys}
