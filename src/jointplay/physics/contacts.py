"""Where bodies may touch: gaps of joints with play and of stops, with normal and tangential rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..engine.values import sqrt
from ..model.clearances import Rigid
from ..model.joints import Gear, Prismatic, Revolute, Slot
from ..numerics.functions import sincos
from ..numerics.linalg import Pair
from .kinematics import Pose

TINY = 1e-300  # keeps the direction of a concentric journal finite; its contact is open anyway
Row = dict[str, Any]  # coordinate -> coefficient; what is missing is 0


@dataclass
class Contact:
    """One place where two bodies may touch: gap >= 0, and the rows of its relative velocity.

    normal: the rate at which the gap opens; tangential: the rate at which the surfaces slide (None without friction).
    """

    joint: str
    label: str
    gap: Any
    normal: Row
    tangential: Row | None
    restitution: str  # address of its number
    rubbing: Row | None = None  # of the friction force, where it differs: both bodies are rubbed at one place
    direction: Pair | None = None  # of a unit normal force on the joint's second body
    place: Pair | None = None  # journal centre seen from the bearing's centre, in the bearing's frame


Gaps = Callable[[Pose, str, Any], Iterator[Contact]]
GAPS: dict[type, Gaps] = {}


def gaps(kind: type) -> Callable[[Gaps], Gaps]:
    """Decorator: the contacts of a kind of joint with play."""

    def register(function: Gaps) -> Gaps:
        GAPS[kind] = function
        return function

    return register


def velocity(along: Pair, *ends: tuple[str, Pair, int]) -> Row:
    """The row of a velocity component: of each body's material point on an arm from its mass centre, with its sign."""
    row: Row = {}
    for body, arm, sign in ends:
        if body != "ground":
            for part, x in (("x", along.x), ("y", along.y), ("angle", arm.cross(along))):
                row[f"{body}.{part}"] = x * sign
    return row


def touching(
    name: str, label: str, gap: Any, normal: Pair, first: tuple[str, Pair], second: tuple[str, Pair]
) -> Contact:
    """A contact of surfaces, at arms of both bodies: the normal points from the first body into the second."""
    ends = ((*second, 1), (*first, -1))
    rows = velocity(normal, *ends), velocity(normal.turned(), *ends)
    return Contact(name, label, gap, *rows, restitution=f"{name}.restitution", direction=normal)


@gaps(Revolute)
def journal(pose: Pose, name: str, joint: Revolute) -> Iterator[Contact]:
    """A journal in its bearing: the gap is the clearance less the distance of the centres."""
    bearing, pin = joint.between if joint.bearing == "first" else joint.between[::-1]
    clearance, radius = pose.numbers(f"{name}.clearance"), pose.numbers(f"{name}.journal_radius")
    outer, inner = pose.mechanism.owner(bearing), pose.mechanism.owner(pin)
    d = pose.between((bearing, pin))
    distance = sqrt(d.dot(d) + TINY)
    away = d * (1 / distance)
    rim = pose.arm(bearing) + away * (radius + clearance)
    surface = pose.arm(pin) + away * radius
    made = touching(name, name, clearance - distance, -away, (outer, rim), (inner, surface))
    made.direction = -away if joint.bearing == "first" else away
    common = pose.arm(pin) + away * (radius + clearance - distance)  # the bearing's surface, seen from the pin's body
    made.rubbing = velocity((-away).turned(), (inner, common, 1), (outer, rim, -1))
    made.place = d * pose.turns[outer].conjugate()
    yield made


@gaps(Prismatic)
def corners(pose: Pose, name: str, joint: Prismatic) -> Iterator[Contact]:
    """Four corners: of a bore on a bar, or of a block in a guide."""
    first, second = (pose.mechanism.owner(reference) for reference in joint.between)
    along = pose.axis(name)
    across = along.turned()
    s, c = sincos(pose.numbers(f"{name}.angle"))
    own = pose.turns[second] * (pose.turns[first].conjugate() * along) * Pair(c, -s)
    half, radius, clearance = (pose.numbers(f"{name}.{part}") for part in ("length", "radius", "clearance"))
    apart = pose.between(joint.between)
    for end, ahead in (("front", 1), ("rear", -1)):
        for side, up in (("upper", 1), ("lower", -1)):
            width = radius + clearance if joint.bearing == "second" else radius
            corner = own * (half * (0.5 * ahead)) + own.turned() * (width * up)  # from the second point
            height = across.dot(apart + corner) * up
            if joint.bearing == "second":
                gap, normal = height - radius, across * up
            else:
                gap, normal = radius + clearance - height, across * -up
            arms = pose.arm(joint.between[0]) + apart + corner, pose.arm(joint.between[1]) + corner
            yield touching(name, f"{name}.{end}.{side}", gap, normal, (first, arms[0]), (second, arms[1]))


@gaps(Slot)
def walls(pose: Pose, name: str, joint: Slot) -> Iterator[Contact]:
    """A pin between the two walls of a slot."""
    first, second = (pose.mechanism.owner(reference) for reference in joint.between)
    across = pose.axis(name).turned()
    clearance, radius = pose.numbers(f"{name}.clearance"), pose.numbers(f"{name}.pin_radius")
    apart = pose.between(joint.between)
    for side, up in (("upper", 1), ("lower", -1)):
        wall = across * (radius * up)  # from the pin's centre
        arms = pose.arm(joint.between[0]) + apart + wall, pose.arm(joint.between[1]) + wall
        gap = clearance - across.dot(apart) * up
        yield touching(name, f"{name}.{side}", gap, across * -up, (first, arms[0]), (second, arms[1]))


@gaps(Gear)
def teeth(pose: Pose, name: str, joint: Gear) -> Iterator[Contact]:
    """Angular play between two bodies, on both sides; without friction."""
    first, second = joint.between
    ratio, play = pose.numbers(f"{name}.ratio"), pose.numbers(f"{name}.play")
    turned = pose.angles[second] - ratio * pose.angles[first] - pose.numbers(f"{name}.offset")
    for side, up in (("upper", 1), ("lower", -1)):
        row = {f"{second}.angle": -up, f"{first}.angle": ratio * up}
        row.pop("ground.angle", None)
        yield Contact(name, f"{name}.{side}", play - turned * up, row, None, f"{name}.restitution")


def reaction(pose: Pose, contact: Contact, normal: Any, tangential: Any) -> tuple[Any, Any, Any]:
    """What a contact does to its joint's second body: force (x, y), and moment about the joint's second point."""
    on, sign, arm = pose.lever(contact.joint)
    rub = contact.rubbing or contact.tangential or {}
    x, y, turn = (
        sign * (contact.normal.get(f"{on}.{c}", 0) * normal + rub.get(f"{on}.{c}", 0) * tangential)
        for c in ("x", "y", "angle")
    )
    return x, y, turn - arm.cross(Pair(x, y))


def stops(pose: Pose, name: str, joint: Any) -> Iterator[Contact]:
    """The ends of a joint's range, without friction."""
    first, second = (pose.mechanism.owner(reference) for reference in joint.between)
    for side, up in (("upper", -1), ("lower", 1)):
        if getattr(joint, side) is None:
            continue
        bound, label = pose.numbers(f"{name}.{side}"), f"{name}.stop.{side}"
        if isinstance(joint, Revolute):
            gap = (pose.turn_between(joint.between) - bound) * up
            row = {f"{second}.angle": up, f"{first}.angle": -up}
            row.pop("ground.angle", None)
            yield Contact(name, label, gap, row, None, f"{name}.stop_restitution")
        else:
            along, apart = pose.axis(name), pose.between(joint.between)
            arms = pose.arm(joint.between[0]) + apart, pose.arm(joint.between[1])
            gap = (along.dot(apart) - bound) * up
            made = touching(name, label, gap, along * up, (first, arms[0]), (second, arms[1]))
            made.tangential, made.restitution = None, f"{name}.stop_restitution"
            yield made


def contacts(pose: Pose, kind: type = Rigid) -> list[Contact]:
    """Every contact of the mechanism's joints with play of this kind, and among rigid ones those of stops."""
    mechanism = pose.mechanism
    found: list[Contact] = []
    for name, joint in mechanism.loose(kind).items():
        found += GAPS[type(joint)](pose, name, joint)
    for name, stopped in mechanism.stopped().items() if kind is Rigid else ():
        found += stops(pose, name, stopped)
    return found
