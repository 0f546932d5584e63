"""Friction in ideal revolute joints: a torque that depends on the reaction, which depends on the torque.

A journal of radius R pressed into its bearing by the reaction |lam| rubs with the torque R |lam| m/sqrt(1 + m^2), m
being the coefficient at the sliding speed R w (the contact shifts until pressure and friction add up to the reaction).
The reactions are linear in the torques, so all torques are found together by Newton's method in every evaluation.

A torque x of one pin obeys x = g |l + c x|, c being what a unit torque adds to its reaction l.  Where g |c| > 1, in a
geometry that may lock itself, there are two solutions or none (Painleve's paradox): the smaller one, which goes on from
that of little friction, is where Newton's method begins.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from ..elements import Joint
from ..engine.typing import Scalar, Vector
from ..engine.values import sqrt, where
from ..numerics.choice import maximum
from ..numerics.linalg import dot
from ..numerics.newton import largest_size, solve
from .dynamics import ConstraintRows, Equations
from .spread import Spread

ITERATIONS = 6
STEEP, LEAST = 0.1, 0.01  # of a coefficient of friction, and so much in itself: a change that counts as 1
SLOWEST = 1e-7  # m/s: a change of the sliding speed that is not looked into
TINY = 1e-60  # N^2: keeps the root of an unloaded pin differentiable


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

    def coefficient(self, name: str, v: Vector) -> Scalar:
        """The coefficient of friction of a pin at its sliding speed, with its sign."""
        joint, numbers = self.rough[name], self.equations.numbers
        law = joint.pin_law()
        assert law is not None
        given = {key: numbers(f"{name}.pin_friction.{key}") for key in law.law.own}
        m, _, _ = law.law(numbers(f"{name}.journal_radius") * self.turning(joint, v), 1.0, **given)
        return m

    def changed(self, before: Vector, after: Vector) -> Scalar:
        """The largest change of a coefficient of friction from rates to others, a tenth of a coefficient as 1: where a
        pin turns back it runs through all of its law in a moment, which no error of a driven motion tells.  A law that
        jumps is not looked at more closely than rates are known."""
        found: Scalar = 0.0
        for name, joint in self.rough.items():
            m, n = (self.coefficient(name, v) for v in (before, after))
            slip = self.equations.numbers(f"{name}.journal_radius") * (
                self.turning(joint, after) - self.turning(joint, before)
            )
            share = abs(n - m) / maximum(STEEP * maximum(abs(m), abs(n)), LEAST)
            found = maximum(found, where(abs(slip) > SLOWEST, share, 0.0))
        return found

    def added(
        self, rows: ConstraintRows, spread: Spread, v: Vector, a: Vector, multipliers: Vector
    ) -> tuple[Vector, Vector, dict[str, Scalar], Scalar, Scalar]:
        """Accelerations and multipliers with friction, the torque on the second body of each rough pin (N m), what
        Newton's method leaves open, of the largest of these torques, and how near the pins are to locking: beyond 1
        there are two solutions."""
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
            m = self.coefficient(name, v)
            grips.append(numbers(f"{name}.journal_radius") * m / sqrt(1 + m * m))
            places.append([k for k, label in enumerate(rows.labels) if self.equations.mechanism.owner(label) == name])

        def pressed(i: int, torques: Sequence[Scalar]) -> Scalar:
            parts = [multipliers[k] + sum((t * c[k] for t, c in zip(torques, called, strict=True)), start=0)
                     for k in places[i]]  # fmt: skip
            return sqrt(dot(parts, parts) + TINY)

        every = range(len(grips))
        own = [[[x[k] for k in places[i]] for x in (multipliers, called[i])] for i in every]
        guess, locks = zip(*(alone(grip, *pair) for grip, pair in zip(grips, own, strict=True)), strict=True)
        torques, left = solve(lambda *x: [x[i] - grips[i] * pressed(i, x) for i in every], list(guess), ITERATIONS)
        left = left / maximum(largest_size(torques), TINY)
        for torque, change, impulses in zip(torques, changes, called, strict=True):
            a = [x + torque * d for x, d in zip(a, change, strict=True)]
            multipliers = [x + torque * d for x, d in zip(multipliers, impulses, strict=True)]
        return a, multipliers, dict(zip(self.rough, torques, strict=True)), left, functools.reduce(maximum, locks)


def alone(grip: Scalar, load: Vector, lever: Vector) -> tuple[Scalar, Scalar]:
    """The smaller solution x of x = grip |load + lever x|, and (grip |lever|)^2, beyond 1 of which there is another."""
    gain, tilt, least = (grip * grip * x for x in (dot(lever, lever), dot(load, lever), dot(load, load) + TINY))
    tilt = where(grip < 0, -tilt, tilt)
    size = least / maximum(sqrt(maximum(tilt * tilt + (1 - gain) * least, 0.0)) - tilt, TINY)
    return where(grip < 0, -size, size), gain
