"""Mass, potential energy and applied forces of a mechanism, on the coordinates x, y and angle of each body."""

from __future__ import annotations

from collections.abc import Mapping

from ..elements.kinds import ForceHere
from ..elements.pose import Here, Lookup, Pose, in_text, weighted
from ..engine.derivatives import derivative
from ..model.mechanism import Mechanism
from ..numerics.linalg import Pair, Scalar, Vector, dot, is_zero


def masses(numbers: Lookup, mechanism: Mechanism) -> Vector:
    """The diagonal of the mass matrix: mass, mass, inertia of each body, its counterweight included."""
    found: Vector = []
    for body in mechanism.bodies:
        mass = total = numbers(f"{body}.mass")
        inertia = numbers(f"{body}.inertia")
        if mechanism.bodies[body].counterweight is not None:
            inertia = inertia + numbers(f"{body}.counterweight.inertia")
        if weighted(numbers, mechanism, body):
            added = numbers(f"{body}.counterweight.mass")
            apart = [numbers(f"{body}.counterweight.{c}") - numbers(f"{body}.centre.{c}") for c in "xy"]
            total = mass + added
            inertia = inertia + mass * added / total * dot(apart, apart)
        found += [total, total, inertia]
    return found


def potential(pose: Pose) -> Scalar:
    """Potential energy (J) of gravity and of all forces that have one; its slope is their generalised force."""
    mechanism = pose.mechanism
    assert isinstance(mechanism, Mechanism)
    energy: Scalar = 0
    weight = Pair(pose.numbers("gravity.x"), pose.numbers("gravity.y"))
    for body, mass in zip(mechanism.bodies, masses(pose.numbers, mechanism)[::3], strict=True):
        energy = energy - mass * weight.dot(pose.places[body])
    for name, load in mechanism.forces.items():
        own = in_text(load).potential(Here(pose, name, load))
        energy = energy if is_zero(own) else energy + own
    return energy


class Applied(ForceHere):
    """Adds what forces do to the generalised forces `total`."""

    def __init__(self, pose: Pose, rates: Mapping[str, Scalar], total: dict[str, Scalar], here: Here) -> None:
        super().__init__(pose, here.name, here.element)
        self.rates, self.total = rates, total
        self.seen: list[tuple[Vector, Scalar]] = []  # rows of the rates that it was asked for, and these

    def rate(self, value: Scalar) -> Scalar:
        """The rate at which a value of the pose changes."""
        [row] = derivative([value], list(self.pose.q.values()))
        self.seen.append((row, dot(row, list(self.rates.values()))))
        return self.seen[-1][1]

    def spin(self, body: str) -> Scalar:
        """The angular rate of a body."""
        self.seen.append(
            ([1 if name == f"{body}.angle" else 0 for name in self.rates], self.rates.get(f"{body}.angle", 0))
        )
        return self.seen[-1][1]

    def push(self, point: str, force: Pair) -> None:
        """A force at a point."""
        body = self.pose.owner(point)
        if body != "ground":
            place = self.pose.point(point)
            names = [f"{body}.{c}" for c in ("x", "y", "angle")]
            along = derivative([place.x, place.y], [self.pose.q[n] for n in names])
            for name, dx, dy in zip(names, *along, strict=True):
                self.total[name] = self.total[name] + dx * force.x + dy * force.y

    def twist(self, body: str, torque: Scalar) -> None:
        """A torque on a body."""
        if body != "ground":
            self.total[f"{body}.angle"] = self.total[f"{body}.angle"] + torque


def applied(pose: Pose, q: dict[str, Scalar], v: dict[str, Scalar]) -> Vector:
    """Generalised forces that have no potential: forces, torques, motors and dampers."""
    mechanism = pose.mechanism
    assert isinstance(mechanism, Mechanism)
    total: dict[str, Scalar] = dict.fromkeys(q, 0)
    for name, load in mechanism.forces.items():
        in_text(load).act(Applied(pose, v, total, Here(pose, name, load)))
    return list(total.values())


def resistances(pose: Pose, q: dict[str, Scalar], v: dict[str, Scalar]) -> list[tuple[Vector, Vector]]:
    """For every rate that a force answers to: its row J, so that the rate is J v, and the slopes of all generalised
    forces by it."""
    mechanism, found = pose.mechanism, list[tuple[Vector, Vector]]()
    assert isinstance(mechanism, Mechanism)
    for name, load in mechanism.forces.items():
        total: dict[str, Scalar] = dict.fromkeys(q, 0)
        acting = Applied(pose, v, total, Here(pose, name, load))
        in_text(load).act(acting)
        slopes = derivative(list(total.values()), [rate for _, rate in acting.seen])
        found += [(row, [line[i] for line in slopes]) for i, (row, _) in enumerate(acting.seen)]
    return found
