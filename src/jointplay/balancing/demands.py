"""What must vanish for a mechanism to be balanced: rows that are linear in its inertias and stiffnesses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..elements.kinds import ForceHere, Load, dimension
from ..elements.pose import Here, Pose
from ..errors import InputError
from ..model.mechanism import Mechanism
from ..numerics.linalg import Pair
from ..parts.units import STIFFNESS, TORSIONAL_STIFFNESS, Dimension
from ..statics.complement import Coordinates, second_degree
from ..system import System, as_system
from .frames import PARTS, Frames, inertias, length
from .samples import Position, along, positions

COUNT = 24  # positions: enough for the conditions
MOMENTA = ("force", "force+moment")
OBJECTIVES = ("static", "force", "force+moment", "gyroscopic", "decoupling")


@dataclass(frozen=True)
class Demands:
    """rows @ parameters + constant = 0, from sampled positions; the parameters are those of `labels`.

    A label is a body with one of m, mx, my, J, or a spring with k.  `sizes` are those of the parameters by which
    rows are judged; `singular` counts the singular positions that were left out.
    """

    objective: str
    labels: list[tuple[str, str]]
    rows: np.ndarray
    constant: np.ndarray
    sizes: np.ndarray
    singular: int

    def residual(self, parameters: np.ndarray) -> float:
        """The root mean square of the rows, relative to what rows have for parameters of the size of the mechanism."""
        size = float(np.linalg.norm(np.column_stack([self.rows * self.sizes, self.constant])))
        return float(np.linalg.norm(self.rows @ parameters + self.constant)) / max(size, 1e-300)


def springs(mechanism: Mechanism) -> list[str]:
    """The springs, whose stiffness is a parameter."""
    return [name for name, load in mechanism.forces.items() if load.does("elastic")]


def stiffness_unit(load: Load) -> Dimension:
    """What a spring's stiffness is: force per length, or torque per angle."""
    unit = dimension(type(load), "stiffness")
    return TORSIONAL_STIFFNESS if unit == TORSIONAL_STIFFNESS.unit else STIFFNESS


def parameters(mechanism: Mechanism) -> np.ndarray:
    """The four numbers of every body and the stiffness of every spring."""
    return np.concatenate([inertias(mechanism), [mechanism.value(f"{name}.stiffness") for name in springs(mechanism)]])


def labels(mechanism: Mechanism) -> list[tuple[str, str]]:
    """What the parameters belong to."""
    return [(b, part) for b in mechanism.bodies for part in PARTS] + [(s, "k") for s in springs(mechanism)]


def sizes(mechanism: Mechanism) -> np.ndarray:
    """How large each parameter is by the sizes of the mechanism: its mass, its length and its weight."""
    size, g = length(mechanism), abs(complex(*mechanism.gravity)) or 1.0
    heavy = max(sum(body.whole()[0] for body in mechanism.bodies.values()), 1e-300)
    turning = [stiffness_unit(mechanism.forces[s]) == TORSIONAL_STIFFNESS for s in springs(mechanism)]
    stiff = np.where(turning, size, 1 / size) * heavy * g
    return np.concatenate([np.tile([1.0, size, size, size**2], len(mechanism.bodies)) * heavy, stiff])


def pulls(mechanism: Mechanism, coordinates: Sequence[str], q: np.ndarray) -> np.ndarray:
    """Generalised forces of each spring per unit of stiffness, on force and moment about the frames' origins:
    (3 bodies, springs)."""
    bodies, named = list(mechanism.bodies), springs(mechanism)
    found = np.zeros((3 * len(bodies), len(named)))
    if not named:
        return found
    pose = Pose(mechanism, mechanism.value, dict(zip(coordinates, q.tolist(), strict=True)), 0.0)
    origins = Frames.of(mechanism, q, np.zeros_like(q)).place
    for column, name in enumerate(named):
        load = mechanism.forces[name]
        noted = Pulling(Here(pose, name, load))
        load.elastic(noted)
        for body, at, push, torque in noted.found:
            if body != "ground":
                i = bodies.index(body)
                lever = 0j if at is None else at - origins[i]
                found[3 * i : 3 * i + 3, column] += push.real, push.imag, torque + (np.conj(lever) * push).imag
    return found


class Pulling(ForceHere):
    """Notes what a spring does: body, place, force and torque."""

    def __init__(self, here: Here) -> None:
        super().__init__(here.pose, here.name, here.element)
        self.found: list[tuple[str, complex | None, complex, float]] = []

    def push(self, point: str, force: Pair) -> None:
        at = self.pose.point(point)
        place, pull = (complex(float(p.x), float(p.y)) for p in (at, force))
        self.found.append((self.pose.owner(point), place, pull, 0.0))

    def twist(self, body: str, torque: Any) -> None:
        self.found.append((body, None, 0j, float(torque)))


class Dynamics:
    """Inputs along coordinates as rows in the parameters, at positions of a mechanism."""

    def __init__(self, wide: Coordinates, least: Coordinates) -> None:
        self.wide, self.least, self.mechanism = wide, least, wide.system.mechanism
        self.parameters = parameters(self.mechanism)

    def origin(self, C: np.ndarray, q: np.ndarray) -> np.ndarray:
        """The complement in rates of the frames' origins."""
        frames = Frames.of(self.mechanism, np.broadcast_to(q, C.T.shape), C.T)
        made = np.empty_like(C)
        made[0::3], made[1::3], made[2::3] = frames.velocity.real.T, frames.velocity.imag.T, frames.rate.T
        return made

    def inputs(self, at: Position, C1: np.ndarray, across: np.ndarray, p: np.ndarray, dp: np.ndarray) -> np.ndarray:
        """The rows of all inputs for rates p and accelerations dp; the last column is what does not depend on the
        parameters."""
        v = C1 @ p
        here = self.wide.evaluate(at.q, v)
        a = self.wide.accelerations(here, v, dp)
        frames = Frames.of(self.mechanism, at.q, v, a)
        force, moment = frames.own(complex(*self.mechanism.gravity))
        n = len(self.mechanism.bodies)
        Y = np.zeros((3 * n, len(self.parameters) + 1))
        for i in range(n):
            Y[3 * i, 4 * i : 4 * i + 4] = force[i].real
            Y[3 * i + 1, 4 * i : 4 * i + 4] = force[i].imag
            Y[3 * i + 2, 4 * i : 4 * i + 4] = moment[i]
        Y[:, 4 * n : -1] = -pulls(self.mechanism, self.wide.system.coordinates, at.q)
        rows = (self.origin(C1, at.q) @ across).T @ Y
        whole = across.T @ (C1.T @ (np.diag(here.M) * a - here.F))
        rows[:, -1] = whole - rows[:, :-1] @ self.parameters  # loads and dampers
        return rows

    def terms(self, at: Position) -> dict[str, np.ndarray]:
        """z (inputs, columns), M (inputs, rates, columns) and D (inputs, rates, rates, columns) at a position."""
        here = self.wide.evaluate(at.q)
        C1 = self.wide.complement(here)
        across = np.eye(C1.shape[1]) if self.wide is self.least else here.B[self.wide.asked] @ at.C

        def u(p: np.ndarray, dp: np.ndarray) -> np.ndarray:
            return self.inputs(at, C1, across, p, dp)

        return dict(zip(("z", "M", "D", "B"), second_degree(u, C1.shape[1]), strict=True))


def demands(
    mechanism: Mechanism | System,
    objective: str,
    independent: Sequence[Any] | None = None,
    redundant: Sequence[Any] | None = None,
    cut: Sequence[str] = (),
    count: int = COUNT,
    seed: int = 0,
    path: np.ndarray | None = None,
    pole: complex = 0j,
) -> Demands:
    """The rows of an objective at sampled positions, or along a path (times, coordinates); angular momentum about a
    pole (m).

    static: no input holds the mechanism anywhere; force: its mass centre rests; force+moment: nor does its angular
    momentum change; gyroscopic: inputs are proportional to accelerations; decoupling: each to its own.
    """
    if objective not in OBJECTIVES:
        raise InputError(f"objective must be one of {', '.join(OBJECTIVES)}, got {objective!r}")
    system = as_system(mechanism)
    least = Coordinates(system, independent)
    wide = least if redundant is None else Coordinates(system, redundant, cut)
    momentum = objective in MOMENTA
    places, singular = positions(least, count, seed) if path is None else along(least, path, momentum)
    model = Dynamics(wide, least)
    blocks: list[np.ndarray] = []
    size = length(model.mechanism)
    for at in places:  # near a singular position rates are large, and would outweigh all others
        speeds = np.hypot(at.C[0::3], at.C[1::3]) / size
        fastest = max(0.0 if momentum else 1.0, float(speeds.max()), float(np.abs(at.C[2::3]).max()))
        blocks += [block / fastest for block in _rows(model, at, objective, pole)]
    rows = np.vstack([block.reshape(-1, block.shape[-1]) for block in blocks])
    return Demands(objective, labels(model.mechanism), rows[:, :-1], rows[:, -1], sizes(model.mechanism), singular)


def _rows(model: Dynamics, at: Position, objective: str, pole: complex) -> list[np.ndarray]:
    """Rows at one position, with a last column for what is constant."""
    if objective in MOMENTA:
        frames = Frames.of(model.mechanism, np.broadcast_to(at.q, at.C.T.shape), at.C.T)
        momentum = frames.linear_momentum()
        found = [momentum.real, momentum.imag] + ([frames.angular_momentum(pole)] if objective != "force" else [])
        more = len(model.parameters) + 1 - momentum.shape[1]  # springs and loads are no inertia
        return [np.hstack([block, np.zeros((len(block), more))]) for block in found]
    terms = model.terms(at)
    if objective == "static":
        return [terms["z"]]
    found = [terms["z"], terms["D"], terms["B"]]
    if objective == "decoupling":
        inputs, rates = terms["M"].shape[:2]
        other = [terms["M"][k, r] for k in range(inputs) for r in range(rates) if _apart(model, k, r)]
        found += [np.array(other)] if other else []
    return found


def _apart(model: Dynamics, k: int, r: int) -> bool:
    return model.least.labels[k] != model.wide.labels[r]
