"""Where bodies of a mechanism may touch, in numpy: gaps, rates and what their second derivatives owe to the rates.

Written from the geometry alone, apart from the package's own text of contacts, so that each checks the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from jointplay.model import Mechanism
from jointplay.model.clearances import Rigid
from jointplay.model.joints import Gear, Prismatic, Revolute, Slot

LEAST = 1e-300  # m: keeps the direction of a concentric journal finite; its contact is open


def turned(x: np.ndarray) -> np.ndarray:
    """The vector turned by 90 degrees, counter-clockwise."""
    return np.array([-x[1], x[0]])


@dataclass
class Touch:
    """One contact at a state: gap'' = normal a + normal_bias, slip' = tangential a + tangential_bias."""

    gap: float
    normal: np.ndarray
    normal_bias: float
    tangential: np.ndarray
    tangential_bias: float


@dataclass(frozen=True)
class Point:
    """A point of a body: where the body's coordinates begin (-1 for the ground), and its arm from the mass centre."""

    slot: int
    arm: tuple[float, float]

    def at(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Arm, place, velocity, and acceleration while the coordinates' own accelerations are 0."""
        if self.slot < 0:
            return np.zeros(2), np.array(self.arm), np.zeros(2), np.zeros(2)
        x, y, angle = q[self.slot : self.slot + 3]
        c, s = math.cos(angle), math.sin(angle)
        arm = np.array([c * self.arm[0] - s * self.arm[1], s * self.arm[0] + c * self.arm[1]])
        rate = v[self.slot + 2]
        return arm, arm + (x, y), v[self.slot : self.slot + 2] + rate * turned(arm), -rate * rate * arm

    def push(self, row: np.ndarray, along: np.ndarray, arm: np.ndarray, sign: float) -> None:
        """Add the component of this point's velocity along a direction to a row."""
        if self.slot >= 0:
            row[self.slot : self.slot + 2] += sign * along
            row[self.slot + 2] += sign * (arm[0] * along[1] - arm[1] * along[0])

    def turn(self, row: np.ndarray, lever: float) -> None:
        """Add so many times this body's angular rate to a row."""
        if self.slot >= 0:
            row[self.slot + 2] += lever

    def angle(self, x: np.ndarray) -> float:
        """This body's angle (or angular rate) among the coordinates (or rates)."""
        return float(x[self.slot + 2]) if self.slot >= 0 else 0.0


@dataclass(frozen=True)
class Law:
    """Names and numbers of a contact; without friction nothing acts along it."""

    label: str
    restitution: float
    friction: float = 0.0
    static: float = 0.0

    @property
    def rough(self) -> bool:
        """Whether there is friction."""
        return self.static > 0


@dataclass(frozen=True)
class Journal(Law):
    """A journal in its bearing: the gap is the clearance less the distance of the centres."""

    bearing: Point = Point(-1, (0.0, 0.0))
    pin: Point = Point(-1, (0.0, 0.0))
    clearance: float = 0.0
    radius: float = 0.0

    def at(self, q: np.ndarray, v: np.ndarray) -> Touch:
        arm_b, b, vb, bias_b = self.bearing.at(q, v)
        arm_p, p, vp, bias_p = self.pin.at(q, v)
        d, w, bias = p - b, vp - vb, bias_p - bias_b
        distance = math.hypot(*d) + LEAST
        away = d / distance
        around = turned(away)
        sweep = around @ w / distance  # rad/s: of the line of centres
        normal, tangential = np.zeros(len(q)), np.zeros(len(q))
        for point, arm, sign in ((self.pin, arm_p, 1.0), (self.bearing, arm_b, -1.0)):
            point.push(normal, -away, arm, sign)
            point.push(tangential, -around, arm, sign)
        self.pin.turn(tangential, -self.radius)
        self.bearing.turn(tangential, self.radius + self.clearance)
        normal_bias = -(away @ bias) - sweep * (around @ w)
        return Touch(self.clearance - distance, normal, normal_bias, tangential, sweep * (away @ w) - around @ bias)


@dataclass(frozen=True)
class Wall(Law):
    """A point of the second body, or a circle about it, before a straight wall of the first.

    normal: from the wall to the point, in the first body's axes; apart: what is added to the point's distance from
    `base` along the normal to give the gap; radius: of the circle.
    """

    base: Point = Point(-1, (0.0, 0.0))
    point: Point = Point(-1, (0.0, 0.0))
    direction: tuple[float, float] = (0.0, 1.0)
    apart: float = 0.0
    radius: float = 0.0

    def at(self, q: np.ndarray, v: np.ndarray) -> Touch:
        arm_b, b, vb, bias_b = self.base.at(q, v)
        arm_p, p, vp, bias_p = self.point.at(q, v)
        r, w, bias, rate = p - b, vp - vb, bias_p - bias_b, self.base.angle(v)
        angle = self.base.angle(q)
        c, s = math.cos(angle), math.sin(angle)
        n = np.array([c * self.direction[0] - s * self.direction[1], s * self.direction[0] + c * self.direction[1]])
        t = turned(n)
        normal, tangential = np.zeros(len(q)), np.zeros(len(q))
        for end, arm, sign in ((self.point, arm_p, 1.0), (self.base, arm_b, -1.0)):
            end.push(normal, n, arm, sign)
            end.push(tangential, t, arm, sign)
        self.base.turn(normal, t @ r)
        self.base.turn(tangential, self.radius - n @ r)
        self.point.turn(tangential, -self.radius)
        normal_bias = n @ bias + 2 * rate * (t @ w) - rate * rate * (n @ r)
        tangential_bias = t @ bias - 2 * rate * (n @ w) - rate * rate * (t @ r)
        return Touch(self.apart + n @ r, normal, normal_bias, tangential, tangential_bias)


@dataclass(frozen=True)
class Turn(Law):
    """Two bodies whose angles bound each other: gap = apart + sign (second - ratio first)."""

    first: Point = Point(-1, (0.0, 0.0))
    second: Point = Point(-1, (0.0, 0.0))
    ratio: float = 1.0
    sign: float = 1.0
    apart: float = 0.0

    def at(self, q: np.ndarray, v: np.ndarray) -> Touch:
        normal = np.zeros(len(q))
        self.second.turn(normal, self.sign)
        self.first.turn(normal, -self.sign * self.ratio)
        gap = self.apart + self.sign * (self.second.angle(q) - self.ratio * self.first.angle(q))
        return Touch(gap, normal, 0.0, np.zeros(len(q)), 0.0)


Contact = Journal | Wall | Turn


def contacts(mechanism: Mechanism) -> list[Contact]:
    """Every rigid contact of a mechanism, joints with play first, then stops."""
    found: list[Contact] = []
    for name, joint in mechanism.loose(Rigid).items():
        contact: Any = joint.contact
        static = contact.friction if contact.static_friction is None else contact.static_friction
        numbers = (contact.restitution, contact.friction, static)
        if isinstance(joint, Revolute):
            first, second = (point(mechanism, x) for x in joint.between)
            ends = (first, second) if joint.bearing == "first" else (second, first)
            found.append(Journal(name, *numbers, *ends, joint.clearance, joint.journal_radius))
        elif isinstance(joint, Gear):
            bodies = [point(mechanism, body) for body in joint.between]
            for side, up in (("upper", -1.0), ("lower", 1.0)):
                apart = joint.play - up * joint.offset
                found.append(Turn(f"{name}.{side}", numbers[0], 0.0, 0.0, *bodies, joint.ratio, up, apart))
        else:
            found += walls(mechanism, name, joint, numbers)
    for name, stopped in mechanism.stopped().items():
        found += stops(mechanism, name, stopped)
    return found


def point(mechanism: Mechanism, reference: str) -> Point:
    """The point `crank.end`, `ground.O`, or the mass centre of a body."""
    body, _, name = reference.partition(".")
    if body == "ground":
        return Point(-1, mechanism.ground.points[name] if name else (0.0, 0.0))
    slot = 3 * list(mechanism.bodies).index(body)
    return Point(slot, mechanism.bodies[body].arm(name) if name else (0.0, 0.0))


def walls(mechanism: Mechanism, name: str, joint: Any, numbers: tuple[float, float, float]) -> Iterator[Wall]:
    """The walls of a slot about its pin, or of a guide or bar about the corners of a block or bore."""
    base, pin = (point(mechanism, x) for x in joint.between)
    along = np.array(joint.axis) / math.hypot(*joint.axis)
    for side, up in (("upper", 1.0), ("lower", -1.0)):
        inward = -up * turned(along)
        if isinstance(joint, Slot):
            place = (base, pin, tuple(inward), joint.clearance, joint.pin_radius)
            yield Wall(f"{name}.{side}", *numbers, *place)
    if isinstance(joint, Prismatic):
        c, s = math.cos(-joint.angle), math.sin(-joint.angle)
        own = np.array([c * along[0] - s * along[1], s * along[0] + c * along[1]])  # the axis in the second body
        outer = joint.bearing == "second"
        width = joint.radius + joint.clearance if outer else joint.radius
        for end, ahead in (("front", 0.5), ("rear", -0.5)):
            for side, up in (("upper", 1.0), ("lower", -1.0)):
                corner = np.array(pin.arm) + ahead * joint.length * own + up * width * turned(own)
                normal, apart = (up, -joint.radius) if outer else (-up, joint.radius + joint.clearance)
                ends = (base, Point(pin.slot, tuple(corner)))
                yield Wall(f"{name}.{end}.{side}", *numbers, *ends, tuple(normal * turned(along)), apart)


def stops(mechanism: Mechanism, name: str, joint: Any) -> Iterator[Contact]:
    """The ends of a joint's range, without friction."""
    base, pin = (point(mechanism, x) for x in joint.between)
    for side, up in (("upper", -1.0), ("lower", 1.0)):
        bound, numbers = getattr(joint, side), (f"{name}.stop.{side}", joint.stop_restitution, 0.0, 0.0)
        if bound is None:
            continue
        if isinstance(joint, Revolute):
            yield Turn(*numbers, base, pin, 1.0, up, -up * bound)
        else:
            along = up * np.array(joint.axis) / math.hypot(*joint.axis)
            yield Wall(*numbers, base, pin, tuple(along), -up * bound)
