"""The state in which a mechanism starts, with its rigid joints in the middle of their play."""

from __future__ import annotations

import numpy as np

from ..model.clearances import Compliant, Rigid
from ..model.mechanism import Mechanism
from ..system import System
from .assembly import launch

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
    except ValueError:
        if reclose:
            raise
        return launch(system)
    given = {
        (f"{k}.angle" if k in mechanism.bodies else k): x for k, x in mechanism.start.items() if not k.endswith("rate")
    }
    at = dict(zip(system.coordinates, q, strict=True))
    same = all(abs(at[name] - x) <= SAME for name, x in given.items())
    return (q, v) if reclose or same else launch(system)
