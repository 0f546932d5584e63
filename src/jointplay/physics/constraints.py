"""The constraint function of every joint and drive; rows, rates and reactions follow by differentiation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..model.clearances import Following
from ..model.forces import AngleDrive, PositionDrive, RateDrive, XDrive, YDrive
from ..model.joints import Gear, Prismatic, Revolute, Rod, Slot, Weld
from .kinematics import Pose

Residual = Callable[[Pose, str, Any], dict[str, Any]]
RESIDUALS: dict[type, Residual] = {}


class AtRate(NamedTuple):
    """A constraint on velocities only: the coordinate changes at the rate, wherever it starts."""

    coordinate: Any
    rate: Any


def residual(*kinds: type) -> Callable[[Residual], Residual]:
    """Decorator: the constraint function of these kinds of joint or drive, zero where the constraint holds."""

    def register(function: Residual) -> Residual:
        RESIDUALS.update(dict.fromkeys(kinds, function))
        return function

    return register


@residual(Revolute)
def revolute(pose: Pose, name: str, joint: Revolute) -> dict[str, Any]:
    """The points coincide; in permanent contact with a clearance c they stay c apart (a massless link)."""
    if joint.clearance > 0 and not isinstance(joint.contact, Following):
        return {}
    d = pose.between(joint.between)
    if joint.clearance == 0:
        return {"x": d.x, "y": d.y}
    c = pose.numbers(f"{name}.clearance")
    return {"distance": (d.dot(d) - c * c) / (2 * c)}


@residual(Weld)
def weld(pose: Pose, name: str, joint: Weld) -> dict[str, Any]:
    """The points coincide and the angle is held."""
    d = pose.between(joint.between)
    return {"x": d.x, "y": d.y, "angle": pose.turn_between(joint.between) - pose.numbers(f"{name}.angle")}


@residual(Slot)
def slot(pose: Pose, name: str, joint: Slot) -> dict[str, Any]:
    """The second point is on the axis, unless it has play."""
    if joint.clearance > 0:
        return {}
    return {"across": pose.axis(name).cross(pose.between(joint.between))}


@residual(Prismatic)
def prismatic(pose: Pose, name: str, joint: Prismatic) -> dict[str, Any]:
    """The second point is on the axis and the angle is held, unless there is play."""
    if joint.clearance > 0:
        return {}
    held = pose.turn_between(joint.between) - pose.numbers(f"{name}.angle")
    return {"across": pose.axis(name).cross(pose.between(joint.between)), "angle": held}


@residual(Rod)
def rod(pose: Pose, name: str, joint: Rod) -> dict[str, Any]:
    """The points stay the length apart."""
    d, length = pose.between(joint.between), pose.numbers(f"{name}.length")
    return {"distance": (d.dot(d) - length * length) / (2 * length)}


@residual(Gear)
def gear(pose: Pose, name: str, joint: Gear) -> dict[str, Any]:
    """The angles keep their ratio, unless they have play."""
    if joint.play > 0:
        return {}
    first, second = (pose.angles[body] for body in joint.between)
    return {"angle": second - pose.numbers(f"{name}.ratio") * first - pose.numbers(f"{name}.offset")}


@residual(AngleDrive)
def angle(pose: Pose, name: str, drive: AngleDrive) -> dict[str, Any]:
    """The angle of a body or revolute joint follows the motion."""
    return {"angle": turned(pose, drive.of) - moved(pose, name, drive.motion)}


@residual(RateDrive)
def rate(pose: Pose, name: str, drive: RateDrive) -> dict[str, Any]:
    """The angle of a body or revolute joint changes at the given rate."""
    return {"rate": AtRate(turned(pose, drive.of), moved(pose, name, drive.motion))}


@residual(PositionDrive)
def position(pose: Pose, name: str, drive: PositionDrive) -> dict[str, Any]:
    """The position of a prismatic or slot joint follows the motion."""
    joint = pose.mechanism.joints[drive.of]
    return {"position": pose.axis(drive.of).dot(pose.between(joint.between)) - moved(pose, name, drive.motion)}


@residual(XDrive, YDrive)
def coordinate(pose: Pose, name: str, drive: XDrive | YDrive) -> dict[str, Any]:
    """A coordinate of a point follows the motion."""
    place = pose.point(drive.of)
    return {drive.kind: (place.x if drive.kind == "x" else place.y) - moved(pose, name, drive.motion)}


def turned(pose: Pose, of: str) -> Any:
    """The angle of a body, or of a revolute joint."""
    joints = pose.mechanism.joints
    return pose.turn_between(joints[of].between) if of in joints else pose.angles[of]


def moved(pose: Pose, address: str, motion: Any) -> Any:
    """A motion at the pose's time, its parameters taken from their addresses."""
    constant = address if address in pose.mechanism.addresses() else f"{address}.value"
    keys = [key for key, _, _ in motion.numbers()] + list(motion.tables())
    return motion.evaluate(pose.t, {key: pose.numbers(f"{address}.{key}" if key else constant) for key in keys})


def constraints(pose: Pose) -> Iterator[tuple[str, Any]]:
    """Every constraint of the mechanism with its label, joints first."""
    for section in (pose.mechanism.joints, pose.mechanism.drives):
        for name, element in section.items():
            for part, value in RESIDUALS[type(element)](pose, name, element).items():
                yield f"{name}.{part}", value
