"""Periodic orbits of a strobed motion by Newton's method (shooting), with their Floquet multipliers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .things import Thing, beside, difference, ensure_thing

SMALL = 1e-6  # of the size of a state: the push by which derivatives are taken
RANK = 1e-6  # of the largest push that the joints leave: smaller ones are none


@dataclass(frozen=True)
class Orbit:
    """A state that comes back after `multiple` steps of a section, and its Floquet multipliers.

    residual: what is missing to it, over the size of the state; converged: whether Newton's method found it so.
    """

    state: np.ndarray
    multiple: int
    multipliers: np.ndarray
    residual: float
    iterations: int
    converged: bool

    @property
    def stable(self) -> bool:
        """Whether every multiplier is inside the unit circle."""
        return bool(np.abs(self.multipliers).max(initial=0.0) < 1)


def directions(thing: Thing, snapshot: object) -> np.ndarray:
    """Independent small changes of the state that the joints and closed contacts allow, as columns of unit length.

    They are half the difference of a push and its opposite, so that a joint's bend makes no direction.
    """
    names = list(thing.names)
    size = SMALL * max(1.0, float(np.abs(thing.state[0]).max()))
    found = []
    for push in size * np.eye(len(names)):
        ends = []
        for sign in (1.0, -1.0):
            thing.reset(snapshot)
            beside(thing, sign * push, lane=0)
            ends.append(thing.state[0])
        found.append(difference(names, *ends) / (2 * size))
    thing.reset(snapshot)
    left, values, _ = np.linalg.svd(np.array(found).T)
    return left[:, : int((values > RANK * values[0]).sum())]


def monodromy(thing: Thing, snapshot: object, free: np.ndarray, multiple: int, push: float) -> np.ndarray:
    """How small changes along the free directions look `multiple` steps later: central differences, lane by lane."""
    names, lanes = list(thing.names), len(thing.state)
    jobs = [(j, sign) for j in range(free.shape[1]) for sign in (1.0, -1.0)]
    ends: dict[tuple[int, float], np.ndarray] = {}
    begins: dict[tuple[int, float], np.ndarray] = {}
    for first in range(0, len(jobs), lanes):
        thing.reset(snapshot)
        for lane, (j, sign) in enumerate(jobs[first : first + lanes]):
            beside(thing, sign * push * free[:, j], lane=lane, other=lane)
            begins[j, sign] = thing.state[lane]
        thing.step(multiple)
        for lane, job in enumerate(jobs[first : first + lanes]):
            ends[job] = thing.state[lane]
    after = [difference(names, ends[j, 1.0], ends[j, -1.0]) for j in range(free.shape[1])]
    before = [difference(names, begins[j, 1.0], begins[j, -1.0]) for j in range(free.shape[1])]
    return free.T @ np.array(after).T @ np.linalg.inv(free.T @ np.array(before).T)


def periodic_orbit(
    section: Thing, multiple: int = 1, iterations: int = 12, tolerance: float = 1e-10, push: float | None = None
) -> Orbit:
    """The periodic orbit near the present state of a section (`Strobe`), which comes back after `multiple` steps.

    Unstable orbits are found as well as stable ones. tolerance: residual over the size of the state at which it is
    found; push: by which derivatives are taken, large beside the integration error. Starts where the section stands
    (all lanes alike) and leaves it there.
    """
    ensure_thing(section)
    start, names = section.snapshot(), list(section.names)
    size = max(1.0, float(np.abs(section.state[0]).max()))
    push = SMALL * size if push is None else push
    free = directions(section, start)
    here, residual, moved = section.snapshot(), np.inf, np.eye(free.shape[1])
    for count in range(1, iterations + 1):
        begin = section.state[0]
        section.step(multiple)
        missing = free.T @ difference(names, section.state[0], begin)
        residual = float(np.linalg.norm(missing)) / size
        moved = monodromy(section, here, free, multiple, push)
        section.reset(here)
        if residual < tolerance or count == iterations or not np.isfinite(missing).all():
            break
        change = free @ np.linalg.solve(np.eye(len(moved)) - moved, missing)
        for lane in range(len(section.state)):
            beside(section, change, lane=lane, other=lane)
        here = section.snapshot()
    found = section.state[0]
    section.reset(start)
    multipliers = np.linalg.eigvals(moved)
    order = np.argsort(-np.abs(multipliers))
    return Orbit(found, multiple, multipliers[order], residual, count, residual < tolerance)
