"""Places, angles and plays in the words and units that people read."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from ..model.mechanism import Mechanism
from ..parts.units import spoken
from .assembly import CLOSED


def plays(mechanism: Mechanism) -> Iterator[tuple[str, str]]:
    """How loose each joint is, whichever way the model says so: a clearance, two sizes or a fit."""
    for name, joint in mechanism.joints.items():
        if joint.looseness > 0 and joint.opened_by == "clearance":
            size = float(getattr(joint, joint.inner)) if joint.inner else 0.0
            around = f" around a radius of {1e3 * size:.6g} mm" if size else ""
            yield f"clearance {name}", f"{1e3 * joint.looseness:.6g} mm{around}"
        elif joint.looseness > 0:
            yield f"{joint.opened_by} {name}", f"{math.degrees(joint.looseness):.6g} deg"


def shown(x: float) -> str:
    """Six significant digits; rounding errors as 0."""
    return "0" if abs(x) < 1e-12 else f"{x:.6g}"


def readable(q: ArrayLike, rounding: float = CLOSED) -> tuple[np.ndarray, str]:
    """Places and angles of bodies as people read them, in degrees and one unit of length; and that unit.

    rounding: what is smaller (m or rad) is 0.
    """
    found = np.asarray(q, dtype=float)
    places = np.where(np.abs(found) < rounding, 0.0, found).reshape(-1, 3)
    size, unit = spoken("m", float(np.abs(places[:, :2]).max()))
    return (places / (size, size, math.radians(1.0))).reshape(found.shape), unit
