"""How bodies move in terms of their frames, and what is linear in their masses.

A body's inertia is four numbers about the origin of its frame: mass m, moments m x and m y of its mass centre, and
the moment of inertia J there.  Momenta, shaking forces and reactions are linear in them, whatever the motion.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ..model.bodies import Body
from ..model.mechanism import Mechanism

PARTS = ("m", "mx", "my", "J")


def inertias(mechanism: Mechanism) -> np.ndarray:
    """m, m x, m y (kg, kg m) and J (kg m^2) of every body about its frame's origin, counterweights included."""
    return np.concatenate([np.asarray(four(body)) for body in mechanism.bodies.values()])


def four(body: Body) -> tuple[float, float, float, float]:
    """The four numbers of one body."""
    mass, (x, y), inertia = body.whole()
    return mass, mass * x, mass * y, inertia + mass * (x * x + y * y)


def apart(points: Iterable[tuple[float, float]]) -> float:
    """The greatest distance (m) of two of these points."""
    known = list(points)
    return max((math.dist(a, b) for a in known for b in known), default=0.0)


def length(mechanism: Mechanism) -> float:
    """The size of a mechanism (m): the greatest distance of two points of a body, or of the ground; 1 without any."""
    clouds = [mechanism.ground.all_points(), *(body.all_points() for body in mechanism.bodies.values())]
    return max(apart(cloud.values()) for cloud in clouds) or 1.0


@dataclass(frozen=True)
class Frames:
    """Origins of the bodies' frames and their turns, with rates and accelerations: arrays (..., bodies).

    Places, velocities and accelerations are complex, x + iy.
    """

    place: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    turn: np.ndarray  # exp(i angle)
    rate: np.ndarray
    rate2: np.ndarray

    @classmethod
    def of(cls, mechanism: Mechanism, q: np.ndarray, v: np.ndarray, a: np.ndarray | None = None) -> Frames:
        """From coordinates (..., 3 bodies) of the mass centres."""
        q, v = np.asarray(q, float), np.asarray(v, float)
        a = np.zeros_like(v) if a is None else np.asarray(a, float)
        centre = np.array([complex(*body.whole()[1]) for body in mechanism.bodies.values()])
        turn, rate, rate2 = np.exp(1j * q[..., 2::3]), v[..., 2::3], a[..., 2::3]
        arm = turn * centre
        place, velocity, acceleration = (x[..., 0::3] + 1j * x[..., 1::3] for x in (q, v, a))
        return cls(
            place - arm,
            velocity - 1j * rate * arm,
            acceleration - (1j * rate2 - rate**2) * arm,
            turn,
            rate,
            rate2,
        )

    def linear_momentum(self) -> np.ndarray:
        """Per unit of the four numbers of each body: complex (..., 4 bodies)."""
        spin = 1j * self.rate * self.turn
        return self._four(self.velocity, spin, 1j * spin, np.zeros_like(self.rate))

    def angular_momentum(self, pole: complex = 0.0) -> np.ndarray:
        """About a pole, per unit of the four numbers: (..., 4 bodies)."""
        return self._moment(self.velocity, 1j * self.rate * self.turn, self.rate, pole)

    def force(self) -> np.ndarray:
        """Mass times acceleration, per unit of the four numbers: complex (..., 4 bodies)."""
        bent = (1j * self.rate2 - self.rate**2) * self.turn
        return self._four(self.acceleration, bent, 1j * bent, np.zeros_like(self.rate))

    def moment(self, pole: complex = 0.0) -> np.ndarray:
        """The rate of the angular momentum about a fixed pole, per unit of the four numbers: (..., 4 bodies)."""
        return self._moment(self.acceleration, (1j * self.rate2 - self.rate**2) * self.turn, self.rate2, pole)

    def own(self, gravity: complex = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """What each body alone needs, per unit of its own four numbers: force (..., bodies, 4) and moment about its
        frame's origin, both less its weight."""
        bent = (1j * self.rate2 - self.rate**2) * self.turn
        push = self.acceleration - gravity
        force = np.stack([push, bent, 1j * bent, np.zeros_like(push)], axis=-1)
        cross = [np.zeros_like(self.rate), _cross(self.turn, push), _cross(1j * self.turn, push), self.rate2]
        return force, np.stack(cross, axis=-1)

    def _moment(self, change: np.ndarray, bent: np.ndarray, spun: np.ndarray, pole: complex) -> np.ndarray:
        at = self.place - pole
        first = _cross(at, change)
        along = _cross(at, bent) + _cross(self.turn, change)
        across = _cross(at, 1j * bent) + _cross(1j * self.turn, change)
        return self._four(first, along, across, spun)

    @staticmethod
    def _four(*parts: np.ndarray) -> np.ndarray:
        made = np.stack(parts, axis=-1)
        return np.asarray(made.reshape(*made.shape[:-2], -1))


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray((np.conj(a) * b).imag)


def shifted(mechanism: Mechanism, changes: Mapping[str, float]) -> Mechanism:
    """The mechanism with other numbers; start values of mass centres move with them, so that bodies stay in place."""
    changed = mechanism.with_(changes)
    moved = {}
    for name, body in mechanism.bodies.items():
        way = complex(*changed.bodies[name].whole()[1]) - complex(*body.whole()[1])
        if way and f"{name}.x" in mechanism.start | {f"{name}.y": 0.0} and name in mechanism.start:
            way *= np.exp(1j * mechanism.start[name])
            for axis, by in ((".x", way.real), (".y", way.imag)):
                if name + axis in mechanism.start:
                    moved[f"start.{name}{axis}"] = mechanism.start[name + axis] + by
        elif way:  # without its angle nobody knows where to: the joints do
            for axis in (".x", ".y"):
                if name + axis in mechanism.start:
                    changed = changed.replace(start={k: x for k, x in changed.start.items() if k != name + axis})
    return changed.with_(moved) if moved else changed
