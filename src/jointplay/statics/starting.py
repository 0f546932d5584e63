"""The state in which a mechanism starts, with its rigid joints in the middle of their play."""

from __future__ import annotations

import numpy as np

from ..errors import ComputationFailed, InputError
from ..model.clearances import Compliant, Rigid
from ..model.mechanism import Mechanism
from ..system import System
from .assembly import Freedom, launch

ROUNDS, ROUND_OFF = 8, 4e-16  # of Newton's method, and the change after which there is none
SAME = 1e-9  # m or rad: start values that agree with the closed mechanism to this mean just that


def twin(mechanism: Mechanism) -> Mechanism:
    """The mechanism with its rigid and compliant joints closed: the ideal one beside which play is judged.

    >>> from jointplay.model import library
    >>> twin(library.crank_rocker_2016(clearance2=1e-3)).value("J2.clearance")
    0.0
    """
    return mechanism.closed(Rigid, Compliant)


def closed(system: System) -> System:
    """The system of the ideal twin, made once."""
    if "closed" not in system.kept:
        system.kept["closed"] = System(twin(system.mechanism))
    return system.kept["closed"]


def start(system: System, reclose: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and velocities at time 0: start values, start rates and drives exactly, the rest with least kinetic
    energy; joints with rigid or compliant play in the middle of it, unless the start values say otherwise.

    reclose: take only as many start values as the ideal mechanism has degrees of freedom.
    """
    mechanism = system.mechanism
    if not (mechanism.loose(Rigid) or mechanism.loose(Compliant)):
        return launch(system)
    try:
        q, v = launch(closed(system))
    except (InputError, ComputationFailed):
        if reclose:
            raise
        return launch(system)
    given = {
        (f"{k}.angle" if k in mechanism.bodies else k): x for k, x in mechanism.start.items() if not k.endswith("rate")
    }
    at = dict(zip(system.coordinates, q, strict=True))
    same = all(abs(at[name] - x) <= SAME for name, x in given.items())
    return (q, v) if reclose or same else launch(system)


def nearest(system: System, state: np.ndarray, t: float, free: Freedom) -> np.ndarray:
    """Coordinates and rates moved onto the constraints by the least change in the mass metric."""
    q, v = np.split(np.asarray(state, float), 2)
    kept = [i for i, row in enumerate(system.rows) if row not in free.redundant]
    for _ in range(ROUNDS):
        here = system.evaluate(q, v, t)
        B = here.B[kept]
        weight = np.linalg.solve(here.M, B.T)
        matrix = B @ weight
        change = weight @ np.linalg.solve(matrix, here.residual[kept]) if kept else 0.0
        if np.abs(change).max(initial=0.0) <= ROUND_OFF * max(1.0, float(np.abs(q).max())):
            break
        q = q - change
    if kept:
        v = v - weight @ np.linalg.solve(matrix, B @ v - here.speed[kept])
    return np.concatenate([q, v])
