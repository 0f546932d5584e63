"""The model that a controller knows: the ideal mechanism, moved by what is measured.

Its joints and the measured coordinates together determine all bodies (Newton's method from where the last step left
them), and the constraint rows of both give rates and, as multipliers, the torques of inverse dynamics.  That is the
reduction by the orthogonal complement of the joints' rows, with the measured rates as the independent ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..elements.pose import Here, Pose, in_text
from ..engine.derivatives import derivative
from ..engine.typing import Matrix, Scalar, Vector
from ..model.control import Along, Control
from ..model.mechanism import Mechanism
from ..numerics.choice import maximum
from ..numerics.linalg import dot
from ..numerics.newton import hold, solve
from .dynamics import ConstraintRows, Equations
from .spread import Spread, spread

NEAR = 1e-7  # m or rad: after so small a step of Newton's method the joints are closed to round-off
WEAKEST = 1e-9  # relative pivot below which coordinates do not determine the model
BLIND = 1e-6  # the same for actuators elsewhere: there torques grow beyond bounds, and steps pass over the place
ROUNDS = 12  # of Newton's method at most


def ideal(mechanism: Mechanism) -> Mechanism:
    """The mechanism without play and without control: what a controller takes it for."""
    return mechanism.uncontrolled


def coordinate_value(pose: Pose, axis: Along) -> Scalar:
    """The value of a coordinate."""
    joint, side = pose.mechanism.joints.get(axis.of), getattr(axis, "side", None)
    if axis.globally:  # x or y, of one side of a joint too
        reference = axis.of if joint is None else joint.between[0 if side == "first" else 1]
        return getattr(pose.point(reference), axis.kind)
    if joint is None:
        return pose.angles[axis.of]
    here, joint = Here(pose, axis.of, joint), in_text(joint)
    return joint.coordinate(here) if side is None else joint.side(here, side)


def same_axes(a: Sequence[Along], b: Sequence[Along]) -> bool:
    """Whether two lists are of the same coordinates."""
    plain = [[(x.kind, x.of, getattr(x, "side", None)) for x in axes] for axes in (a, b)]
    return plain[0] == plain[1]


def known(mechanism: Mechanism) -> dict[str, float]:
    """The numbers that the controller's model has otherwise than the mechanism, and what follows from them, such as
    the inertia of a uniform bar from its mass."""
    if mechanism.control is None or not mechanism.control.model:
        return {}
    base = ideal(mechanism)
    given, own = base.with_(mechanism.control.model).addresses(), base.addresses()
    return {a: x for a, x in given.items() if a in mechanism.control.model or x != own.get(a)}


class Model:
    """The ideal mechanism that a controller knows, as equations with rows for what moves it."""

    def __init__(self, plant: Equations, control: Control) -> None:
        changed = known(plant.mechanism)

        def numbers(address: str) -> Scalar:
            return plant.numbers(f"control.model.{address}" if address in changed else address)

        mechanism = ideal(plant.mechanism)
        self.closed = Equations(mechanism, numbers, plant.dropped)
        self.open = Equations(mechanism, numbers, {*plant.dropped, *control.cut}) if control.cut else self.closed
        self.control, self.coordinates = control, self.closed.coordinates
        self.axes, self.acting = list(control.coordinates.values()), list(control.actuators.values())
        self.sensors = list(control.sensors.values()) or self.axes
        self.direct = same_axes(self.axes, self.acting)  # torques act along the coordinates
        self.soft = control.regularisation if not same_axes(self.sensors, self.axes) else 0.0
        self.softness = plant.numbers("control.regularisation") if self.soft else 0

    def rows(self, equations: Equations, axes: Sequence[Along], q: Vector, t: Scalar) -> tuple[ConstraintRows, Matrix]:
        """Constraint rows and the rows of coordinates."""
        rows = equations.rows(q, [0] * len(q), t)
        pose = equations.pose(q, t)
        return rows, derivative([coordinate_value(pose, axis) for axis in axes], q)

    def close(self, guess: Vector, seen: Sequence[Scalar], t: Scalar) -> tuple[Vector, Scalar, Scalar]:
        """The place of all bodies where the joints hold and the sensors see what they see; what the joints leave open;
        and how far it is from the guess."""
        equations, axes = self.open, self.sensors
        if self.soft:
            axes, seen = self.axes, self.guided(guess, seen, t)

        def residual(*q: Scalar) -> Vector:
            pose = equations.pose(list(q), t)
            return [
                *equations.residuals(pose),
                *(coordinate_value(pose, a) - y for a, y in zip(axes, seen, strict=True)),
            ]

        found, left = solve(residual, guess, ROUNDS, lambda matrix, values: self.spread(matrix)(values)[0], NEAR)
        jump: Scalar = 0.0
        for name, x, begun in zip(self.coordinates, found, guess, strict=True):
            if name.endswith(".angle"):
                jump = maximum(jump, abs(x - begun))
        return list(found), left, jump

    def guided(self, guess: Vector, seen: Sequence[Scalar], t: Scalar) -> Vector:
        """The controlled coordinates by sensors that do not always determine them: one step of Newton's method from
        the guess, in which the sensors give way."""
        pose = self.open.pose(guess, t)
        rows, more = self.rows(self.open, self.sensors, guess, t)
        off = [
            *self.open.residuals(pose),
            *(coordinate_value(pose, a) - y for a, y in zip(self.sensors, seen, strict=True)),
        ]
        step = self.spread([*rows.B, *more], len(more))(off)[0]
        values = [coordinate_value(pose, axis) for axis in self.axes]
        return [x - dot(row, step) for x, row in zip(values, derivative(values, guess), strict=True)]

    def spread(self, matrix: Matrix, soft: int = 0) -> Spread:
        """What carries demands on the rows over to the coordinates; the last `soft` rows give way a little."""
        return spread(matrix, self.open.masses(), [0.0] * (len(matrix) - soft) + [self.softness] * soft)

    def rates(self, q: Vector, seen: Sequence[Scalar], t: Scalar, before: Sequence[Scalar] = ()) -> Vector:
        """The rates of all bodies when the sensors see these rates; where they do not tell, those of before go on."""
        rows, more = self.rows(self.open, self.sensors, q, t)
        matrix, wanted = [*rows.B, *more], [*rows.speed, *seen]
        if not before:
            return self.spread(matrix, len(more) if self.soft else 0)(wanted)[0]
        lacking = [x - dot(row, before) for x, row in zip(wanted, matrix, strict=True)]
        return [a + b for a, b in zip(before, self.spread(matrix, len(more))(lacking)[0], strict=True)]


class Reduced:
    """The model at a state, in the controlled coordinates."""

    def __init__(self, model: Model, q: Vector, v: Vector, t: Scalar) -> None:
        v = [hold(x) for x in v]  # as in the equations of motion, rates do not depend on places
        self.model, self.q, self.v, self.t = model, q, v, t
        self.equations = model.open
        rows = self.equations.rows(q, v, t)
        pose = self.equations.pose(q, t)
        self.values = [coordinate_value(pose, axis) for axis in model.axes]
        self.along = derivative(self.values, q)
        turning = [[dot(slope, v) for slope in derivative(row, q)] for row in self.along]
        self.spread = model.spread([*rows.B, *self.along])
        self.weak = self.spread.weak(WEAKEST)  # where something has no unique answer
        self.rates = [dot(row, v) for row in self.along]
        self.speed, self.n = rows.speed, len(model.axes)
        self.turning = [*rows.Bdot, *turning]
        # what time adds to the acceleration of driven rows, beside what the rates of the bodies do
        self.driven = [r + dot(bent, v) for r, bent in zip(rows.rhs, rows.Bdot, strict=True)] + [0] * self.n

    def moved(self, rates: Sequence[Scalar], speed: Sequence[Scalar] | None = None) -> Vector:
        """The rates of all bodies for rates of the controlled coordinates."""
        return self.spread([*(self.speed if speed is None else speed), *rates])[0]

    def torques(self, accelerations: Sequence[Scalar], rates: Sequence[Scalar] | None = None) -> Vector:
        """What the actuators must do for these accelerations; with other rates in place of the measured ones the terms
        of velocity are C(q, q') rates, C such that M' - 2 C is skew."""
        v = self.v if rates is None else self.moved(rates)
        wanted = [*[0] * len(self.speed), *accelerations]
        need = [d + w - dot(bent, v) for d, w, bent in zip(self.driven, wanted, self.turning, strict=True)]
        return self.carried(self.pulled(self.equations.forces(self.q, self.v, self.t), need))

    def gravity(self) -> Vector:
        """What the actuators must do to hold the weight and the springs."""
        held = [-slope for slope in self.equations.slopes(self.q, self.t)]
        return self.carried(self.pulled(held, [0] * len(self.driven)))

    def pulled(self, forces: Vector, need: Vector) -> Vector:
        """The multipliers of the coordinates' rows for accelerations of all rows."""
        free = [f / m for f, m in zip(forces, self.equations.masses(), strict=True)]
        _, multipliers = self.spread([r - dot(row, free) for r, row in zip(need, self.spread.B, strict=True)])
        return multipliers[-self.n :]

    def energy(self, rates: Sequence[Scalar]) -> Scalar:
        """The kinetic energy that the model would have with these rates of the controlled coordinates."""
        whole = self.moved(rates, [0] * len(self.speed))
        return 0.5 * dot([x * x for x in whole], self.equations.masses())

    def carried(self, torques: Vector) -> Vector:
        """Torques along the controlled coordinates as torques of the actuators of equal power."""
        model = self.model
        if model.direct:
            return torques
        rows, acting = model.rows(model.closed, model.acting, self.q, self.t)
        carrying = spread([*rows.B, *acting], model.closed.masses())
        self.weak = carrying.weak(BLIND) | self.weak
        result = []
        for i in range(len(acting)):
            unit = [0] * (len(rows.B) + i) + [1.0] + [0] * (len(acting) - i - 1)
            column, _ = carrying(unit)
            result.append(dot([dot(row, column) for row in self.along], torques))
        return result
