"""What redundant rows leave open: forces that no body feels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..system import Evaluation, System
from .factors import free_ways

NONE = 1e-6  # of the largest: less of a force is none


def not_unique(system: System, here: Evaluation, smallest: float) -> tuple[str, ...]:
    """Forces and moments of joints and efforts of drives, such as `J2.force`, that multipliers without any effect on a
    body have a part in: equilibrium does not say how large they are."""
    B = here.B * system.sizes
    lengths = np.linalg.norm(B, axis=1)
    lengths[lengths == 0] = 1.0
    ways = free_ways((B / lengths[:, None]).T, np.zeros(len(B)), smallest)[0] / lengths[:, None]
    return tuple(dict.fromkeys(name for way in ways.T for name in _felt(system, here, way)))


def _felt(system: System, here: Evaluation, way: np.ndarray) -> Iterator[str]:
    """The forces that some multipliers make."""
    x, y, moment = (here.reactions @ way).reshape(-1, 3).T
    found = {f"{name}.force": size for name, size in zip(system.mechanism.joints, np.hypot(x, y), strict=True)}
    turning = np.abs(moment) / system.sizes[0]
    found |= {f"{name}.moment": size for name, size in zip(system.mechanism.joints, turning, strict=True)}
    for row, size in zip(system.rows, np.abs(way), strict=True):
        if (owner := system.mechanism.owner(row)) in system.mechanism.drives:
            found[f"{owner}.effort"] = size
    most = max(found.values(), default=0.0)
    yield from (name for name, size in found.items() if size > NONE * most)


def remark(redundant: Sequence[str], shared: Sequence[str], how: str) -> str:
    """What is said of redundant rows; how: what their reactions are."""
    rows = f"{', '.join(redundant)} {'is' if len(redundant) == 1 else 'are'} redundant and {how}"
    if not shared:
        return rows
    elements = ", ".join(dict.fromkeys(name.rpartition(".")[0] for name in shared))
    why = "for play and elasticity decide them; give one of these joints play, or leave a constraint out"
    return f"{rows}: the forces of {elements} are not unique, {why}"
