"""Mass, potential energy and applied forces of a mechanism, on the coordinates x, y and angle of each body."""

from __future__ import annotations

from collections.abc import Mapping

from ..elements.kinds import Acting
from ..elements.pose import Here, Numbers, Pose, in_text, owner
from ..engine.derivatives import derivative
from ..model.mechanism import Mechanism
from ..numerics.linalg import Pair, Scalar, Vector, dot, is_zero


def masses(numbers: Numbers, mechanism: Mechanism) -> Vector:
    """The diagonal of the mass matrix: mass, mass, inertia of each body."""
    return [numbers(f"{body}.{part}") for body in mechanism.bodies for part in ("mass", "mass", "inertia")]


def potential(pose: Pose) -> Scalar:
    """Potential energy (J) of gravity and of all forces that have one; its slope is their generalised force."""
    mechanism = pose.mechanism
    assert isinstance(mechanism, Mechanism)
    energy: Scalar = 0
    weight = Pair(pose.numbers("gravity.x"), pose.numbers("gravity.y"))
    for body in mechanism.bodies:
        energy = energy - pose.numbers(f"{body}.mass") * weight.dot(pose.places[body])
    for name, load in mechanism.forces.items():
        own = in_text(load).potential(Here(pose, name, load))
        energy = energy if is_zero(own) else energy + own
    return energy


class Applied(Acting):
    """Adds what forces do to the generalised forces `total`."""

    def __init__(self, pose: Pose, rates: Mapping[str, Scalar], total: dict[str, Scalar], here: Here) -> None:
        super().__init__(pose, here.name, here.element)
        self.rates, self.total = rates, total

    def rate(self, value: Scalar) -> Scalar:
        """The rate at which a value of the pose changes."""
        return dot(derivative([value], list(self.pose.q.values()))[0], list(self.rates.values()))

    def spin(self, body: str) -> Scalar:
        """The angular rate of a body."""
        return self.rates.get(f"{body}.angle", 0)

    def push(self, point: str, force: Pair) -> None:
        """A force at a point."""
        if owner(point) != "ground":
            place = self.pose.point(point)
            names = [f"{owner(point)}.{c}" for c in ("x", "y", "angle")]
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
