"""Friction in ideal revolute joints: a torque that depends on the reaction, which depends on the torque.

A journal of radius R pressed into its bearing by the reaction |lam| rubs with the torque R |lam| m/sqrt(1 + m^2), m
being the coefficient at the sliding speed R w (the contact shifts until pressure and friction add up to the reaction).
The reactions are linear in the torques, so all torques are found together by Newton's method in every evaluation.

A torque x of one pin obeys x = g |l + c x|, c being what a unit torque adds to its reaction l.  Where g |c| > 1, in a
geometry that may lock itself, there are two solutions or none (Painleve's paradox): the smaller one, which goes on from
that of little friction, is where Newton's method begins.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..elements import Joint
from ..engine.typing import Scalar, Vector
from ..engine.values import sqrt, where
from ..numerics.choice import maximum
from ..numerics.linalg import dot
from ..numerics.newton import solve
from .dynamics import ConstraintRows, Equations
from .spread import Spread

ITERATIONS = 6
TINY = 1e-30  # N^2: keeps the root of an unloaded pin differentiable


class Pins:
    """The rough pins of a mechanism."""

    def __init__(self, equations: Equations) -> None:
        self.equations = equations
        joints = equations.mechanism.joints.items()
        self.rough = {name: joint for name, joint in joints if joint.pin_law()}

    def turning(self, joint: Joint, v: Vector) -> Scalar:
        """The angular rate of the second body seen from the first."""
        rates = dict(zip(self.equations.coordinates, v, strict=True))
        bodies = (self.equations.mechanism.owner(end) for end in joint.between)
        first, second = (rates.get(f"{body}.angle", 0) for body in bodies)
        return second - first

    def added(
        self, rows: ConstraintRows, spread: Spread, v: Vector, a: Vector, multipliers: Vector
    ) -> tuple[Vector, Vector, dict[str, Scalar], Scalar, Scalar]:
        """Accelerations and multipliers with friction, the torque on the second body of each rough pin (N m), what
        Newton's method leaves open, and how near the pins are to locking: beyond 1 there are two solutions."""
        if not self.rough:
            return a, multipliers, {}, 0.0, 0.0
        names, numbers = self.equations.coordinates, self.equations.numbers
        changes, called, grips, places = [], [], [], []
        for name, joint in self.rough.items():
            first, second = (f"{self.equations.mechanism.owner(end)}.angle" for end in joint.between)
            unit = [1 if n == second else -1 if n == first else 0 for n in names]
            change, impulses = spread.response(unit)
            changes.append(change)
            called.append(impulses)
            chosen, radius = joint.pin_law(), numbers(f"{name}.journal_radius")
            given = {key: numbers(f"{name}.pin_friction.{key}") for key in chosen.law.own} if chosen else {}
            m, _, _ = chosen.law(radius * self.turning(joint, v), 1.0, **given) if chosen else (0, 0, 0)
            grips.append(radius * m / sqrt(1 + m * m))
            places.append([k for k, label in enumerate(rows.labels) if self.equations.mechanism.owner(label) == name])

        def pressed(i: int, torques: Sequence[Scalar]) -> Scalar:
            parts = [multipliers[k] + sum((t * c[k] for t, c in zip(torques, called, strict=True)), start=0)
                     for k in places[i]]  # fmt: skip
            return sqrt(dot(parts, parts) + TINY)

        every, locks = range(len(grips)), 0.0
        guess: Vector = []
        for i, grip in enumerate(grips):
            alone, own = ([x[k] for k in places[i]] for x in (multipliers, called[i]))
            gain, lever, load = (grip * grip * x for x in (dot(own, own), dot(alone, own), dot(alone, alone) + TINY))
            tilt = where(grip < 0, -lever, lever)
            root = sqrt(maximum(tilt * tilt + (1 - gain) * load, 0.0))
            size = load / maximum(root - tilt, TINY)
            guess.append(where(grip < 0, -size, size))
            locks = maximum(locks, gain)
        torques, left = solve(lambda *x: [x[i] - grips[i] * pressed(i, x) for i in every], guess, ITERATIONS)
        for torque, change, impulses in zip(torques, changes, called, strict=True):
            a = [x + torque * d for x, d in zip(a, change, strict=True)]
            multipliers = [x + torque * d for x, d in zip(multipliers, impulses, strict=True)]
        return a, multipliers, dict(zip(self.rough, torques, strict=True)), left, locks
