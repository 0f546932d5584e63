"""A lane beside another: the motion of a neighbour, as exponents and multipliers need it.

A neighbour differs by a little in everything that a lane remembers: coordinates and rates, states of laws and commands
that are held, and what acted in the last step. Four things are taken from the lane beside it, since they are no small
differences: which contacts touch; that rigid contacts which are closed stay closed (what is moved off a contact by d
falls back with a speed that goes with the square root of d, and strikes); what its joints leave open, within the
tolerance of the steps; and how many steps were taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import statics

if TYPE_CHECKING:
    from .simulation import Simulation

WHOLE = (".mode", "step.recent", "step.length", "step.next")  # ends of names of numbers that do not change by a little

LOST = 1e-3  # of a change: what is left of one that closed contacts do not allow


def place(simulation: Simulation, lane: int, other: int, change: np.ndarray, share: float) -> None:
    """Make a lane a neighbour of another one; change: of its state; share: what stays of all else that differs."""
    run, here, time = simulation.run, simulation.state[other], float(simulation.time[other])
    remembered(simulation, lane, other, share)
    names, system = simulation.text.state, simulation.system(lane)
    modes = names.modes if names is not None and simulation.stepper.impulsive else []
    shut = [i for i, mode in enumerate(modes) if run[mode][lane]]
    free = simulation.each[lane].freedom
    state = statics.nearest(system, here + change, time, free, here, shut)
    lost = np.abs(state - here).max() < LOST * np.abs(change).max()
    if shut and lost and lane != other:  # closed contacts leave no neighbour beside the other lane
        simulation.put(lane, statics.nearest(system, here + change, time, free))
        return
    recent = names.recent if names is not None else None
    length = float(run["step.recent"][lane]) if recent else 0.0
    simulation.put(lane, state)
    if recent is None:
        return
    run.put("step.recent", lane, length)  # what acted is known as well as that of the other
    if len(shut) == len(recent.gap):
        return
    n = len(state) // 2
    at = system.evaluate(state[:n], state[n:], time)
    for i, (gap, opening) in enumerate(zip(recent.gap, recent.opening, strict=True)):
        if i not in shut:
            run.put(gap, lane, float(at.gaps[i]))
            run.put(opening, lane, float(at.openings[i]))


def remembered(simulation: Simulation, lane: int, other: int, share: float) -> None:
    """Let a lane remember what another one does, but for a share of that by which its numbers differ from it."""
    words, kept = simulation.run.state_words, small(simulation)
    one, two = words[kept, other].view(float), words[kept, lane].view(float)
    with np.errstate(over="ignore", invalid="ignore"):  # some numbers stand for never
        mean = one + share * (two - one)
    good = np.isfinite(mean)
    words[:, lane] = words[:, other]
    words[kept[good], lane] = mean[good].view(np.int64)


def small(simulation: Simulation) -> np.ndarray:
    """The places of the numbers of a lane that change by a little from neighbour to neighbour."""
    run = simulation.run
    found = [
        run.places[slot.name] + i
        for slot in run.program.slots
        if slot.kind == "f" and not slot.name.endswith(WHOLE)
        for i in range(slot.size)
    ]
    return np.array(found)
