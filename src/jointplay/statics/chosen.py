"""Where a mechanism begins if its joints, drives and start values do not say it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..elements import Following
from ..errors import ComputationFailed, InputError
from ..model.starts import start_text
from ..system import System
from .assembly import independent, rate_rows, sizes, starts
from .guesses import guess
from .starting import closed, launched, leaning

MOVED = 1e-6  # rad, or of the size of a coordinate: by more a guess was moved to close the loops
SHARE = 1e-6  # of a motion that is left free: coordinates that take less part in it are known
NAMED = 3  # of the coordinates that were chosen


def chosen(system: System, q: np.ndarray) -> Iterator[str]:
    """A note on coordinates that nothing determines and that closing the loops moved: they begin anywhere."""
    mechanism = system.mechanism
    if mechanism.loose(Following):
        return  # its journals begin on their walls
    ideal = system
    if mechanism.loose(leaning(mechanism)):
        ideal = closed(system)
        try:
            q, _ = launched(ideal)
        except (ComputationFailed, InputError):
            return  # it begins within its plays only, as the start values say
    moved = np.abs(q - guess(ideal)) > MOVED * sizes(ideal)
    free = np.flatnonzero(moved & undetermined(ideal, q)) if moved.any() else ()
    angles = [i for i in free if ideal.coordinates[i].endswith(".angle")]
    keys = {ideal.coordinates[i].removesuffix(".angle"): float(q[i]) for i in angles or free}
    if keys:
        places = ", ".join(f"{key} = {start_text(key, x)}" for key, x in [*keys.items()][:NAMED])
        more = f" and {len(keys) - NAMED} more" if len(keys) > NAMED else ""
        one = "it" if len(keys) == 1 else "one of them"
        yield f"start: nothing says where it begins; its parts happened to meet at {places}{more}: give {one}"


def undetermined(system: System, q: np.ndarray) -> np.ndarray:
    """Which coordinates can still move beside the constraints and the start values that are held."""
    known = np.vstack([system.constraints(q, 0.0)[1][~rate_rows(system)], starts(system, q).rows]) * sizes(system)
    known = known[independent(known)]
    ways = np.linalg.svd(known)[2][len(known) :] if len(known) else np.eye(len(q))
    return np.abs(ways).max(axis=0, initial=0.0) > SHARE
