"""Kinds of joint, drive and force: classes that say everything of them.  To define one makes it known, in files too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from pydantic import model_validator

from ..numerics.linalg import Pair, Scalar
from ..parts.choices import LawChoice
from ..parts.part import KeyPath, Part, Quantity, refuse
from ..parts.time_functions import NEVER
from .contacts import Compliant, Following, Rigid
from .drawing import Drawing, Play, Track
from .fields import Refers
from .pose import Here, Spot

ROUND = 1e-5  # of a length, or rad: so much a relaxed spring still counts, as its last digits may be wrong


class AtRate(NamedTuple):
    """A constraint on velocities only: the coordinate changes at the rate, wherever it starts."""

    coordinate: Scalar
    rate: Scalar


class Element(Part):
    """A joint, drive or force."""

    known: ClassVar[dict[str, type[Element]]]  # kinds by name; one such dictionary for joints, drives and forces each
    what: ClassVar[str]

    @classmethod
    def kinds(cls) -> Mapping[str, type[Element]]:
        """All kinds of joint (or drive, or force) there are at this time, by name."""
        return cls.known

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        super().__pydantic_init_subclass__(**options)
        kind = cls.model_fields.get("kind")
        if kind is None or not isinstance(kind.default, str):
            return  # shared by several kinds, and none itself
        cls.complete()
        other = cls.known.get(kind.default)
        if other and (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise TypeError(
                f"{cls.what} {cls.__qualname__}: the kind {kind.default!r} is already that of {other.__module__}."
                f"{other.__qualname__}; choose another name"
            )
        cls.known[kind.default] = cls

    @classmethod
    def complete(cls) -> None:
        """Refuse a class that lacks something."""

    @classmethod
    def refers(cls, field: str) -> bool:
        """Whether it has this field, and the field says what of a mechanism its names must be."""
        return bool(cls.refers_to(field))

    @classmethod
    def refers_to(cls, field: str) -> str:
        """What of a mechanism the names in this field must be; empty if it holds none."""
        known = cls.model_fields.get(field)
        return next((mark.to for mark in known.metadata if isinstance(mark, Refers)), "") if known else ""

    @classmethod
    def does(cls, *names: str) -> bool:
        """Whether a kind has a method of its own among these."""
        bases = (Element, Joint, Drive, Load)
        return any(name in vars(c) for c in cls.__mro__ if c not in bases and issubclass(c, Element) for name in names)

    def knot(self, here: Here) -> Scalar:
        """The first time after `here.pose.t` (s) that an adaptive step must not pass; its motions know theirs."""
        return NEVER

    def references(self) -> Iterator[tuple[KeyPath, str, str]]:
        """Every name of something of the mechanism: where it stands, what it must be, and the name."""
        for name in type(self).model_fields:
            to, given = self.refers_to(name), getattr(self, name)
            if not to or given is None:
                continue
            if isinstance(given, tuple):
                yield from (((name, i), to, one) for i, one in enumerate(given))
            else:
                yield (name,), to, given

    def bodies(self) -> list[str]:
        """The bodies that its points belong to and those that it names itself, the ground among them."""
        named = ((to, reference) for _, to, reference in self.references())
        return list(dict.fromkeys(name.rpartition(".")[0] if to == "point" else name for to, name in named))


class Joint(Element):
    """A joint between two bodies, with a contact or without.

    `residual` is 0 where the joint holds; `gaps` are those of its contact, which closes it where it is loose.
    """

    known: ClassVar[dict[str, type[Joint]]] = {}  # type: ignore[assignment]
    what: ClassVar[str] = "joint"
    opened_by: ClassVar[str] = ""  # the field of its play; a contact without one is always there
    inner: ClassVar[str] = ""  # the field of the radius that lies inside the clearance
    moves: ClassVar[str] = ""  # what its coordinate is: angle or position
    driven: ClassVar[bool] = True  # drives may prescribe its coordinate
    moment: ClassVar[bool] = True  # it may transmit a moment about its second point
    pinned: ClassVar[bool] = False  # its bodies turn about its points: what moment it has is friction
    measure: ClassVar[str] = ""  # the field of the length beside which a penetration is small; its play unless said
    corners: ClassVar[tuple[str, ...]] = ()  # contacts that are the front upper and lower, rear upper and lower
    spaced_by: ClassVar[str] = ""  # the field of the distance at which it keeps its points
    pushing: ClassVar[str] = ""  # the row that can only push in permanent contact; without one there is none

    if TYPE_CHECKING:  # fields of every kind, or of most, each in its own place

        @property
        def between(self) -> tuple[str, str]: ...

        @property
        def contact(self) -> Any: ...

    def residual(self, here: Here) -> dict[str, Scalar]:
        """What is 0 where the joint holds, by the names of the rows (m or rad)."""
        return {}

    def gaps(self, here: Here) -> Iterator[Spot]:
        """The places where its bodies may touch, `here.spot(gap, ...)` each."""
        return iter(())

    def coordinate(self, here: Here) -> Scalar:
        """Its own coordinate: an angle (rad) or a position (m)."""
        raise NotImplementedError

    def side(self, here: Here, which: str) -> Scalar:
        """What a sensor on one side alone (first or second) sees of its coordinate: the angle of that body, or where
        that point is along the axis."""
        reference = self.between[0 if which == "first" else 1]
        return here.angle(reference) if self.moves != "position" else here.axis.dot(here.point(reference))

    def stops(self, here: Here) -> Iterator[Spot]:
        """The ends of its range, `lower` and `upper`, without friction."""
        for side, up in (("upper", -1), ("lower", 1)):
            if getattr(self, side, None) is not None:
                gap = (self.coordinate(here) - here.number(side)) * up
                yield here.spot(gap, f"stop.{side}", restitution="stop_restitution", play=None)

    def ends(self) -> tuple[str, str]:
        """What carries the outer part of its play, and what the inner one."""
        first, second = self.between
        return (second, first) if getattr(self, "bearing", "first") == "second" else (first, second)

    def pin_law(self) -> LawChoice | None:
        """The friction law of the joint while it is ideal, if it has one."""
        return None

    def doubts(self, name: str) -> Iterator[str]:
        """What it says but hardly means, a line each."""
        return iter(())

    def sleeve(self) -> float:
        """The length (m) of what its second body is as a bore or block; 0 if it is none."""
        return 0.0

    def track(self, bar: float | None, start: float) -> tuple[float, float] | None:
        """The positions (m) between which it stays on a bar of the first body, of this length, that begins `start`
        before the first point; None if there is none to leave."""
        return None

    def drawing(self) -> Drawing:
        """What the page draws of it."""
        return Drawing()

    def magnified(self, track: Track, name: str) -> Play:
        """What is seen of its contact, magnified."""
        return track.magnified(name)

    @classmethod
    def driven_along(cls, moves: str) -> bool:
        """Whether drives may prescribe its coordinate, and it is of this kind."""
        return cls.driven and cls.moves == moves

    @property
    def points(self) -> tuple[str, ...]:
        """The two points that it joins; none if it joins bodies without points."""
        return self.between if self.refers_to("between") == "point" else ()

    @property
    def looseness(self) -> float:
        """Its play (m or rad), 0 if it has none."""
        return float(getattr(self, self.opened_by)) if self.opened_by else 0.0

    @property
    def measured_by(self) -> str:
        """The field of the length, or angle, beside which a penetration is small."""
        return self.measure or self.opened_by

    @property
    def play_unit(self) -> str:
        """The unit of its play: m or rad."""
        return dimension(type(self), self.opened_by) if self.opened_by else "m"

    @property
    def loose(self) -> bool:
        """Whether its contact acts: it has one, and the play for it if it needs that."""
        return "contact" in type(self).model_fields and (not self.opened_by or self.looseness > 0)

    @property
    def stopped(self) -> bool:
        """Whether it has a stop."""
        return any(getattr(self, side, None) is not None for side in ("lower", "upper"))

    @property
    def roughness(self) -> str:
        """The friction of its contact in a word, empty if there is none."""
        contact = getattr(self, "contact", None)
        if isinstance(contact, Rigid) and (contact.friction or contact.static_friction):
            return f"{contact.friction:g}"
        return contact.friction.law.name if isinstance(contact, Compliant) and contact.friction is not None else ""

    @classmethod
    def complete(cls) -> None:
        """Refuse a contact without gaps, play without a contact, stops without a coordinate."""
        fields = cls.model_fields
        if not cls.refers("between"):
            raise TypeError(f"joint {cls.__qualname__}: what does it join? give it `between: Points` (or Bodies)")
        has = "contact" in fields
        if has and not cls.does("gaps"):
            raise TypeError(f"joint {cls.__qualname__} has a contact and no gap: define gaps(self, here)")
        if cls.does("gaps") and not has:
            raise TypeError(f"joint {cls.__qualname__} has gaps and no contact: give it a field `contact`")
        if not cls.does("gaps", "residual"):
            raise TypeError(f"joint {cls.__qualname__} does nothing: define residual(self, here), or gaps")
        if cls.opened_by and (cls.opened_by not in fields or not has):
            raise TypeError(f"joint {cls.__qualname__} is opened by {cls.opened_by!r}: that field or its contact lacks")
        if has and (cls.measure or cls.opened_by) not in fields:
            text = "say with measure = 'radius', or another field, beside which length a penetration is small"
            raise TypeError(f"joint {cls.__qualname__} has a contact and no play: {text}")
        stops = {"lower", "upper"} & fields.keys()
        if (cls.moves or stops) and not cls.does("coordinate"):
            raise TypeError(f"joint {cls.__qualname__} moves or has stops: define coordinate(self, here)")
        if stops and "stop_restitution" not in fields:
            raise TypeError(f"joint {cls.__qualname__} has stops: give it a field `stop_restitution`")

    @model_validator(mode="after")
    def _stops_apart(self) -> Joint:
        lower, upper = getattr(self, "lower", None), getattr(self, "upper", None)
        if lower is not None and upper is not None and not lower < upper:
            refuse(f"must be < upper, which is {upper!r}, got {lower!r}", "lower")
        return self

    @model_validator(mode="after")
    def _contact_fits(self) -> Joint:
        """Refuse a contact that the joint cannot have, and a law that needs a size which it has not."""
        contact = getattr(self, "contact", None)
        if isinstance(contact, Following) and not self.pushing:
            able = [kind for kind, c in Joint.known.items() if getattr(c, "pushing", "")]
            text = f"only a {' or '.join(able)} joint can have permanent contact (following)"
            refuse(f"{text}; use a rigid one, such as {{kind: rigid}}", "contact")
        if not isinstance(contact, Compliant):
            return self
        for role, chosen in contact.laws().items():
            for size in chosen.law.geometry:
                if size not in type(self).model_fields:
                    kind = type(self).model_fields["kind"].default
                    text = f"law {chosen.law.name!r} needs a {size}, which a {kind} joint has not; choose another law"
                    refuse(text, "contact", role, "law")
                if self.loose and not getattr(self, size):
                    refuse(f"is missing; law {chosen.law.name!r} needs one > 0", size)
        return self


class Drive(Element):
    """Prescribes a coordinate `of` a body, point or joint as a `motion`; `residual` is 0 where it is followed."""

    known: ClassVar[dict[str, type[Element]]] = {}
    what: ClassVar[str] = "drive"
    prescribes: ClassVar[str] = ""  # which coordinate: angle, position, x or y; no two drives may prescribe the same
    at_rate: ClassVar[bool] = False  # only its rate

    if TYPE_CHECKING:

        @property
        def of(self) -> str: ...

        @property
        def motion(self) -> Any: ...

    def residual(self, here: Here) -> dict[str, Scalar | AtRate]:
        """What is 0 where the drive is followed, by the names of the rows."""
        return {}

    @property
    def turns(self) -> bool:
        """Whether it prescribes an angle; its effort is then a torque."""
        return self.prescribes == "angle"

    @property
    def effort_unit(self) -> str:
        """The unit of its effort."""
        return "N m" if self.turns else "N"

    @classmethod
    def complete(cls) -> None:
        """Refuse a drive that says nothing."""
        if not cls.refers("of"):
            raise TypeError(f"drive {cls.__qualname__}: what does it drive? give it `of: Turning` (or Sliding, Moving)")
        if not cls.does("residual"):
            raise TypeError(f"drive {cls.__qualname__} prescribes nothing: define residual(self, here)")
        if not cls.prescribes:
            raise TypeError(f"drive {cls.__qualname__}: say what it prescribes, such as prescribes = 'angle'")


class Load(Element):
    """A force: it has a `potential`, or it acts on points and bodies, or both."""

    known: ClassVar[dict[str, type[Element]]] = {}
    what: ClassVar[str] = "force"
    outside: ClassVar[bool] = False  # it comes from outside the mechanism: nothing takes its opposite

    def potential(self, here: Here) -> Scalar:
        """Its potential energy (J); its slope is its force."""
        return 0

    def act(self, here: ForceHere) -> None:
        """What has no potential: `here.push(point, force)` and `here.twist(body, torque)`."""

    def elastic(self, here: ForceHere) -> None:
        """Of what has a `stiffness`: what it does for a stiffness of 1."""

    def magnitude(self, here: Here, length: float) -> float:
        """How much it does (J) along a way of this length (m) or a turn of 1 rad, however others may cancel it."""
        noted = Noting(here)
        self.act(noted)
        return max(abs(float(self.potential(here))), noted.most(length))

    def reach(self, weight: float) -> float:
        """How far (m) it lets a mechanism of this weight (N) go; 0 if it holds nothing."""
        return 0.0

    def coil(self) -> tuple[str, str] | None:
        """The points between which the page draws a spring, if it is one."""
        return None

    @classmethod
    def complete(cls) -> None:
        """Refuse a force that does nothing."""
        if not cls.does("potential", "act"):
            raise TypeError(f"force {cls.__qualname__} does nothing: define act(self, here), or potential")


class ForceHere(Here):
    """What a force sees, and where it says what it does."""

    def rate(self, value: Scalar) -> Scalar:
        """The rate at which a value of the pose changes."""
        raise NotImplementedError

    def spin(self, body: str) -> Scalar:
        """The angular rate of a body (rad/s)."""
        raise NotImplementedError

    def push(self, point: str, force: Pair) -> None:
        """A force (N) at a point."""
        raise NotImplementedError

    def twist(self, body: str, torque: Scalar) -> None:
        """A torque (N m) on a body."""
        raise NotImplementedError


class Noting(ForceHere):
    """Notes how large forces and torques are, at rest."""

    def __init__(self, here: Here) -> None:
        super().__init__(here.pose, here.name, here.element)
        self.forces, self.torques = [0.0], [0.0]

    def rate(self, value: Scalar) -> Scalar:
        return 0.0

    def spin(self, body: str) -> Scalar:
        return 0.0

    def push(self, point: str, force: Pair) -> None:
        self.forces.append(float(abs(force)))

    def twist(self, body: str, torque: Scalar) -> None:
        self.torques.append(abs(float(torque)))

    def most(self, length: float) -> float:
        """The greatest, forces along a way of this length (m)."""
        return max(length * max(self.forces), max(self.torques))


def dimension(kind: type[Part], field: str) -> str:
    """The SI unit of a field."""
    marks = (mark for mark in kind.model_fields[field].metadata if isinstance(mark, Quantity))
    return next((mark.dimension.unit for mark in marks), "")
