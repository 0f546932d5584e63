"""The equations of motion as text: constraint rows with their rates, and accelerations by the Schur complement."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..elements.pose import Lookup, Pose
from ..engine.derivatives import derivative, derivatives
from ..engine.typing import Matrix, Scalar, Vector
from ..model.mechanism import Mechanism
from ..numerics.functions import sincos
from ..numerics.linalg import Pair
from .constraints import AtRate, constraints
from .forces import applied, masses, potential
from .spread import FLOOR, Spread, along, entries, spread


@dataclass
class ConstraintRows:
    """The constraints at one state: residual = 0, B v = speed, B a = rhs."""

    labels: list[str]
    residual: Vector
    B: Matrix
    speed: Vector
    rhs: Vector
    at_rate: list[bool]  # rows that prescribe a rate only
    inputs: Vector  # coordinates and time
    speeds: Vector  # their rates

    @cached_property
    def Bdot(self) -> Matrix:
        """The time derivative of B, for those who ask."""
        found = []
        for row in map(entries, self.B):
            rates = dict(zip(row, along(derivatives(list(row.values()), self.inputs), self.speeds), strict=True))
            found.append([rates.get(j, 0) for j in range(len(self.inputs) - 1)])
        return found


class Equations:
    """The text of a mechanism's equations; `dropped` rows (redundant ones) are left out, and all rows of a dropped
    joint."""

    def __init__(self, mechanism: Mechanism, numbers: Lookup, dropped: Collection[str] = ()) -> None:
        self.mechanism, self.numbers, self.dropped = mechanism, numbers, dropped
        self.coordinates = [f"{body}.{c}" for body in mechanism.bodies for c in ("x", "y", "angle")]
        self.turned: dict[int, tuple[Scalar, Pair]] = {}  # of angles that were seen before, to spare the tracer work

    def pose(self, q: Vector, t: Scalar, turns: Mapping[str, Pair] | None = None) -> Pose:
        """The configuration at coordinates q; cosine and sine of the angles may be known."""
        if turns is None:
            turns = {body: self.turn(angle) for body, angle in zip(self.mechanism.bodies, q[2::3], strict=True)}
        return Pose(self.mechanism, self.numbers, dict(zip(self.coordinates, q, strict=True)), t, turns)

    def turn(self, angle: Scalar) -> Pair:
        """Cosine and sine of an angle; what is recorded already and still open is taken again."""
        known = self.turned.get(id(angle))
        if known is not None and known[0] is angle and getattr(getattr(known[1].x, "block", None), "open", False):
            return known[1]
        s, c = sincos(angle)
        self.turned[id(angle)] = angle, Pair(c, s)
        return self.turned[id(angle)][1]

    def residuals(self, pose: Pose) -> Vector:
        """What the constraints on positions leave open."""
        return [x for _, x in self.constraints(pose) if not isinstance(x, AtRate)]

    def constraints(self, pose: Pose) -> list[tuple[str, Scalar]]:
        """The constraints that are not dropped, with their labels."""
        own, found = self.mechanism.owner, constraints(pose)
        return [(row, x) for row, x in found if row not in self.dropped and own(row) not in self.dropped]

    def rows(self, q: Vector, v: Vector, t: Scalar) -> ConstraintRows:
        """The constraints by differentiation of their functions."""
        labelled = self.constraints(self.pose(q, t))
        inputs, speeds, last = [*q, t], [*v, 1], len(q)
        slopes = derivatives([x.coordinate if isinstance(x, AtRate) else x for _, x in labelled], inputs)
        for row, (_, x) in zip(slopes, labelled, strict=True):
            if isinstance(x, AtRate):
                row[last] = -x.rate
        return ConstraintRows(
            labels=[label for label, _ in labelled],
            residual=[0 if isinstance(x, AtRate) else x for _, x in labelled],
            B=[[row.get(j, 0.0) for j in range(last)] for row in slopes],
            speed=[-row.get(last, 0.0) for row in slopes],
            # rates that were just moved onto the drives depend on the time by their values, not as an argument
            rhs=[-x for x in along(derivatives(along(slopes, speeds), inputs, held=v), speeds)],
            at_rate=[isinstance(x, AtRate) for _, x in labelled],
            inputs=inputs,
            speeds=speeds,
        )

    def reactions(self, rows: ConstraintRows, q: Vector, t: Scalar) -> Matrix:
        """What a unit multiplier of each row does at each joint: force (x, y) on its second body, and the moment
        about its second point; three lines for a joint."""
        pose, lines, owned = self.pose(q, t), list[Vector](), dict[str, list[int]]()
        for k, label in enumerate(rows.labels):
            owned.setdefault(self.mechanism.owner(label), []).append(k)
        place = {name: i for i, name in enumerate(self.coordinates)}
        for name, joint in self.mechanism.joints.items():
            on, sign, arm = pose.lever(name)
            at = [place[f"{on}.{c}"] for c in ("x", "y", "angle")]
            # what else it acts on takes its share, if the second body is the ground
            rest = [i for i in (joint.bodies() if sign < 0 else ()) if i not in (on, "ground")]
            both: Matrix = [[0] * len(rows.labels) for _ in at]
            for k in owned.get(name, ()):
                x, y, turn = (rows.B[k][i] for i in at)
                moment = turn - arm.cross(Pair(x, y)) if joint.moment else 0
                for body in rest:
                    moment = moment + rows.B[k][place[f"{body}.angle"]]
                for line, part in zip(both, (x, y, moment), strict=True):
                    line[k] = sign * part
            lines += both
        return lines

    def applied(self, q: Vector, v: Vector, t: Scalar) -> Vector:
        """Generalised forces without a potential."""
        at, rates = (dict(zip(self.coordinates, x, strict=True)) for x in (q, v))
        return applied(self.pose(q, t), at, rates)

    def slopes(self, q: Vector, t: Scalar) -> Vector:
        """Of the potential energy: with the other sign, the generalised forces of weight and springs."""
        [slopes] = derivative([potential(self.pose(q, t))], q)
        return slopes

    def forces(self, q: Vector, v: Vector, t: Scalar) -> Vector:
        """All generalised forces except those of the constraints."""
        return [f - slope for f, slope in zip(self.applied(q, v, t), self.slopes(q, t), strict=True)]

    def energies(self, q: Vector, v: Vector, t: Scalar, pose: Pose | None = None) -> tuple[Scalar, Scalar]:
        """Kinetic and potential energy (J)."""
        masses, squares, twice = self.masses(), [x * x for x in v], 0
        for i in range(0, len(v), 3):
            twice = twice + (masses[i] * (squares[i] + squares[i + 1]) + masses[i + 2] * squares[i + 2])
        return 0.5 * twice, potential(pose or self.pose(q, t))

    def momenta(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> Vector:
        """Linear momentum, x and y (kg m/s), and angular momentum about the origin (N m s)."""
        masses, total = self.masses(), [0, 0, 0]
        for i in range(0, len(v), 3):
            x, y = masses[i] * v[i], masses[i] * v[i + 1]
            spin = masses[i + 2] * v[i + 2] + (q[i] * y - q[i + 1] * x)
            total = [a + b for a, b in zip(total, (x, y, spin), strict=True)]
        return total

    def masses(self) -> Vector:
        """The diagonal of the mass matrix."""
        return masses(self.numbers, self.mechanism)

    def spread(self, rows: ConstraintRows, floor: float = FLOOR) -> Spread:
        """What carries demands on the rows over to the coordinates."""
        return spread(rows.B, self.masses(), floor=floor)

    def accelerations(
        self, q: Vector, v: Vector, t: Scalar, more: Vector, floor: float = FLOOR
    ) -> tuple[ConstraintRows, Spread, Vector, Vector]:
        """The rows and their spread, accelerations and multipliers of the rows; `more` are generalised forces beside
        those of the mechanism."""
        rows = self.rows(q, v, t)
        carrying = self.spread(rows, floor)
        pushed = [f + x for f, x in zip(self.forces(q, v, t), more, strict=True)]
        return rows, carrying, *carrying.accelerations(pushed, rows.rhs)
