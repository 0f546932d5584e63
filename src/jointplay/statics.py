"""Assembly and degrees of freedom: what can be said of a mechanism before it moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .system import System

CLOSED = 1e-12  # m or rad: what a closed constraint may leave
RANK = 1e-9  # singular values below this share of the largest count as zero


@dataclass(frozen=True)
class Freedom:
    """Degrees of freedom of an assembled mechanism, counted and by the rank of its constraints."""

    coordinates: int
    rows: int
    rank: int
    redundant: tuple[str, ...]  # rows that follow from the others; their reactions are not unique
    conditioning: float  # smallest used singular value over the largest: near 0 is a singular position

    @property
    def counted(self) -> int:
        """Coordinates less rows."""
        return self.coordinates - self.rows

    @property
    def degrees(self) -> int:
        """Coordinates less independent rows."""
        return self.coordinates - self.rank


def guess(system: System) -> np.ndarray:
    """Coordinates from the start values; places that are not given follow the joints from body to body."""
    mechanism, start = system.mechanism, system.mechanism.start
    angles = {body: start.get(body, 0.0) for body in mechanism.bodies}
    places: dict[str, np.ndarray] = {}
    for body in mechanism.bodies:
        if f"{body}.x" in start and f"{body}.y" in start:
            places[body] = np.array([start[f"{body}.x"], start[f"{body}.y"]])

    def offset(body: str, point: str) -> np.ndarray:
        x, y = mechanism.bodies[body].arm(point or "centre")
        c, s = np.cos(angles[body]), np.sin(angles[body])
        return np.array([c * x - s * y, s * x + c * y])

    def place(reference: str) -> np.ndarray | None:
        body, _, point = reference.partition(".")
        if body == "ground":
            return np.array(mechanism.ground.points[point])
        return places[body] + offset(body, point) if body in places else None

    weight = np.array(mechanism.gravity)
    down = weight / np.linalg.norm(weight) if weight.any() else np.array([0.0, -1.0])
    found = True
    while found:
        found = False
        for joint in mechanism.joints.values():
            play = down * getattr(joint, "clearance", 0.0)  # a loose journal starts at the bottom of its bearing
            for known, other in (joint.between, joint.between[::-1]) if joint.kind != "gear" else ():
                body, _, point = other.partition(".")
                at = place(known)
                if at is not None and body != "ground" and body not in places:
                    places[body] = at + play - offset(body, point)
                    found = True
    at_origin = np.zeros(2)
    return np.concatenate([[*places.get(body, at_origin), angles[body]] for body in mechanism.bodies])


def assemble(system: System, q: Any = None, t: float = 0.0, iterations: int = 60) -> np.ndarray:
    """Coordinates that close every loop at time t, on the branch nearest to the start values.

    Gauss-Newton with the least change of the coordinates in every step, halved while the gaps do not shrink.
    """
    at = guess(system) if q is None else np.array(q, float)
    here = system.evaluate(at, t=t)
    for _ in range(iterations):
        gap = np.abs(here.residual).max(initial=0.0)
        if gap <= CLOSED:
            return at
        change, share = np.linalg.lstsq(here.B, -here.residual, rcond=RANK)[0], 1.0
        change *= min(1.0, 0.5 / np.abs(change).max(initial=1e-300))
        while share > 1e-4:
            there = system.evaluate(at + share * change, t=t)
            if np.linalg.norm(there.residual) < np.linalg.norm(here.residual):
                break
            share /= 2
        if share <= 1e-4 or (np.abs(there.residual).max() >= gap and gap < 1e-9):
            break
        at, here = at + share * change, there
    if np.abs(here.residual).max() <= 1e3 * CLOSED:
        return at
    worst = sorted(zip(np.abs(here.residual), system.rows, strict=True), reverse=True)[:3]
    text = ", ".join(f"{row} by {gap:.3g}" for gap, row in worst if gap > CLOSED)
    name = system.mechanism.name
    raise ValueError(
        f"mechanism {name!r} does not assemble: {text} stay open (m or rad); check lengths and start values"
    )


def freedom(system: System, q: Any, t: float = 0.0) -> Freedom:
    """Degrees of freedom at an assembled configuration, with the rows that are redundant there."""
    B = system.evaluate(q, t=t).B
    sizes = np.linalg.svd(B, compute_uv=False) if len(B) else np.zeros(0)
    used = sizes[sizes > RANK * sizes.max(initial=0.0)]
    kept: list[int] = []
    redundant = []
    for i, row in enumerate(system.rows):
        if np.linalg.matrix_rank(B[[*kept, i]], tol=RANK * sizes.max(initial=0.0)) > len(kept):
            kept.append(i)
        else:
            redundant.append(row)
    conditioning = float(used.min() / used.max()) if len(used) else 1.0
    return Freedom(len(system.coordinates), len(system.rows), len(kept), tuple(redundant), conditioning)
