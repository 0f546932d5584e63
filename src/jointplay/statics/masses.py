"""Masses that the equations of motion cannot do with: none at all, or too little beside the others."""

from __future__ import annotations

import numpy as np

from ..model.parts import ModelError, Problem
from ..physics.motion import PIVOT
from ..system import Evaluation, System
from .degrees import Freedom

GEOMETRY = 1e-3  # conditioning of the rows alone: above this it is not the position that makes them depend
LIGHTEST = 1e-9  # of the heaviest mass: what a mass between others should be at least


def refuse_massless(system: System) -> None:
    """Name a body whose angle has no inertia: its equation of motion would divide by 0."""
    if system.massive:
        return
    inertias = np.diag(system.evaluate(np.zeros(len(system.coordinates))).M)[2::3]
    for name, inertia in zip(system.mechanism.bodies, inertias, strict=True):
        if inertia == 0:
            body = system.mechanism.bodies[name]
            size = max((abs(complex(*point)) for point in body.all_points().values()), default=0.0)
            given = f"{body.mass * size**2 / 12:.1g}" if size else "1e-6"
            text = f"is 0, so nothing says how the body turns; give kg*m^2 about its mass centre, such as {given}"
            raise ModelError(Problem(("bodies", name, "inertia"), text + " (a point mass takes any small number)"))
    system.massive = True


def refuse_unequal(system: System, here: Evaluation, free: Freedom) -> None:
    """Name a body so light beside the others that the rows of its joints would be lost in rounding."""
    kept = [i for i, row in enumerate(system.rows) if row not in free.redundant]
    if not kept or free.conditioning < GEOMETRY:
        return
    weighted = here.B[kept] / np.sqrt(np.diag(here.M))
    lengths = np.linalg.norm(weighted, axis=1, keepdims=True)
    least = np.linalg.svd(weighted / lengths, compute_uv=False)[-1] ** 2
    if least >= PIVOT:
        return
    masses = dict(zip(system.mechanism.bodies, np.diag(here.M)[::3], strict=True))
    light, heavy = min(masses, key=masses.__getitem__), max(masses, key=masses.__getitem__)
    text = (
        f"{masses[light]:g} kg is too little beside the {masses[heavy]:g} kg of {heavy!r}: double precision cannot "
        f"hold the rows of its joints together; give at least {LIGHTEST * masses[heavy]:.1g} kg, which hardly changes "
        "the motion, or a joint of kind rod in its place"
    )
    raise ModelError(Problem(("bodies", light, "mass"), text))
