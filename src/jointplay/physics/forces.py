"""Mass, potential energy and applied forces of a mechanism, on the coordinates x, y and angle of each body."""

from __future__ import annotations

from typing import Any

from ..engine.derivatives import derivative
from ..model.forces import Force, Motor, Spring, Torque, Torsion
from ..model.mechanism import Mechanism
from ..numerics.linalg import Pair, dot, is_zero
from .constraints import moved
from .kinematics import Numbers, Pose, weighted


def masses(numbers: Numbers, mechanism: Mechanism) -> list[Any]:
    """The diagonal of the mass matrix: mass, mass, inertia of each body, its counterweight included."""
    found = []
    for body in mechanism.bodies:
        mass = total = numbers(f"{body}.mass")
        inertia = numbers(f"{body}.inertia")
        if mechanism.bodies[body].counterweight is not None:
            inertia = inertia + numbers(f"{body}.counterweight.inertia")
        if weighted(mechanism, body):
            added = numbers(f"{body}.counterweight.mass")
            apart = [numbers(f"{body}.counterweight.{c}") - numbers(f"{body}.centre.{c}") for c in "xy"]
            total = mass + added
            inertia = inertia + mass * added / total * dot(apart, apart)
        found += [total, total, inertia]
    return found


def potential(pose: Pose) -> Any:
    """Potential energy (J) of gravity and of all springs; its slope is their generalised force."""
    energy: Any = 0
    weight = Pair(pose.numbers("gravity.x"), pose.numbers("gravity.y"))
    heavy = masses(pose.numbers, pose.mechanism)[::3]
    for body, mass in zip(pose.mechanism.bodies, heavy, strict=True):
        energy = energy - mass * weight.dot(pose.places[body])
    for name, load in pose.mechanism.forces.items():
        if isinstance(load, Spring):
            d, free = pose.between(load.between), pose.numbers(f"{name}.free_length")
            # without a free length the root is not needed, and the ends may meet
            square = d.dot(d) if is_zero(free) else (abs(d) - free) * (abs(d) - free)
            energy = energy + 0.5 * pose.numbers(f"{name}.stiffness") * square
        elif isinstance(load, Torsion):
            turned = pose.turn_between(load.between) - pose.numbers(f"{name}.free_angle")
            energy = energy + 0.5 * pose.numbers(f"{name}.stiffness") * turned * turned
    return energy


def applied(pose: Pose, q: dict[str, Any], v: dict[str, Any]) -> list[Any]:
    """Generalised forces that have no potential: forces, torques, motors and dampers."""
    total: dict[str, Any] = dict.fromkeys(q, 0)

    def push(point: str, force: Pair) -> None:
        body = pose.mechanism.owner(point)
        if body != "ground":
            place = pose.point(point)
            names = [f"{body}.{c}" for c in ("x", "y", "angle")]
            along = derivative([place.x, place.y], [q[n] for n in names])
            for name, dx, dy in zip(names, *along, strict=True):
                total[name] = total[name] + dx * force.x + dy * force.y

    def twist(body: str, torque: Any) -> None:
        if body != "ground":
            total[f"{body}.angle"] = total[f"{body}.angle"] + torque

    for name, load in pose.mechanism.forces.items():
        if isinstance(load, Force):
            push(load.at, Pair(*(moved(pose, f"{name}.{axis}", getattr(load, axis)) for axis in "xy")))
        elif isinstance(load, Torque):
            twist(load.on, moved(pose, f"{name}.torque", load.torque))
        elif isinstance(load, Motor):
            torque = moved(pose, f"{name}.torque", load.torque)
            twist(load.between[1], torque)
            twist(load.between[0], -torque)
        elif isinstance(load, Spring) and not is_zero(damping := pose.numbers(f"{name}.damping")):
            d = pose.between(load.between)
            length = abs(d)
            rate = dot(derivative([length], list(q.values()))[0], list(v.values()))
            pull = d * (damping * rate / length)
            push(load.between[0], pull)
            push(load.between[1], -pull)
        elif isinstance(load, Torsion):
            first, second = (v.get(f"{body}.angle", 0) for body in load.between)
            back = pose.numbers(f"{name}.damping") * (second - first)
            twist(load.between[1], -back)
            twist(load.between[0], back)
    return list(total.values())
