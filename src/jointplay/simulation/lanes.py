"""The lanes of a simulation before they move: their systems, numbers, starts, and what should be known of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from .. import statics
from ..errors import InputError
from ..model.clearances import Compliant, Following, Rigid
from ..model.control import Control
from ..model.mechanism import Mechanism
from ..model.parts import ModelError, Problem
from ..physics.knots import motions
from ..physics.step import Stepper
from ..physics.steps import MoreauJean, RungeKutta
from ..system import Evaluation, System
from .endings import early
from .outcome import Outcome
from .steering import Pilot

TOUCHING = 1e-9  # m or rad: a start that penetrates less is taken as it is
JAMMED = (
    "{0} slides at the start with so much friction that it jams (Painleve's paradox): it stops with an impulse though "
    "nothing strikes, and whether that is told as a force, an impulse or not at all is a matter of rounding"
)


def default_stepper(mechanism: Mechanism) -> Stepper:
    """The stepper that a mechanism's contacts need: MoreauJean() if some are rigid, else RungeKutta()."""
    return MoreauJean() if mechanism.loose(Rigid) or mechanism.stopped(Rigid) else RungeKutta()


@dataclass
class Lane:
    """One simulation: its numbers, its start and what is known of both."""

    system: System
    q: np.ndarray
    v: np.ndarray
    here: Evaluation
    freedom: statics.Freedom
    pilot: Pilot | None
    noted: Callable[[], list[str]]  # what should be known of it, if asked for
    pushes: dict[str, float]  # of joints in permanent contact, at the start (N)
    present: System | None = None  # with the numbers set on the way
    changes: dict[str, float] = field(default_factory=dict)  # of these, what is not in it yet
    given: list[tuple[float, float]] = field(
        default_factory=list
    )  # when (s), and the stored energy that came with it (J)
    refused: Outcome | None = None  # an end before the first step
    stepper: Stepper | None = None  # of a companion: with other numbers than the simulation's
    undecided: bool = False  # its motion depends on reactions that balance leaves open
    leeways: dict[str, dict[float, statics.Leeway]] = field(default_factory=dict)  # of these, by the times of samples

    def copy(self) -> Lane:
        """The lane as it is now, whatever is set later."""
        return replace(self, changes=dict(self.changes), given=list(self.given))

    @cached_property
    def notes(self) -> list[str]:
        """What should be known of it; a study does not ask."""
        return self.noted()


def prepared(
    stepper: Stepper,
    base: System,
    numbers: Mapping[str, Any],
    start: Mapping[str, Any],
    until: float | None,
    reclose: bool,
) -> Lane:
    """A lane with its start; until (s): how far it is to go; reclose: see `simulate`."""
    changes = {**numbers, **{f"start.{key}": x for key, x in start.items()}}
    system = base.with_(changes) if changes else base
    end = until or 10.0
    mechanism = system.mechanism
    statics.refuse_massless(system)
    if mechanism.drives and mechanism.loose((Rigid, Compliant)):
        statics.refuse_drives(system, end)
    q, v = statics.start(system, reclose)
    freedom = statics.freedom(system, q)
    here = system.evaluate(q, v)
    statics.refuse_unequal(system, here, freedom)
    pilot = Pilot(system) if mechanism.control else None
    if stepper.impulsive:
        refuse_penetration(system, here)
    looped = statics.loop_doubts(system, q, freedom.degrees, end) if pilot else []
    pushes: dict[str, float] = {}
    if not stepper.impulsive:
        a, multipliers = here.accelerations()
        if not np.isfinite(a).all():
            text = "the forces are not finite; a spring with a free length has no direction where its ends meet"
            raise ModelError(Problem(("start",), text))
        following = mechanism.loose(Following)
        rows = {name: system.rows.index(f"{name}.{joint.pushing}") for name, joint in following.items()}
        pushes = {name: -float(multipliers[row]) for name, row in rows.items()}
    lane = Lane(system, q, v, here, freedom, pilot, partial(noted, stepper, system, q, v, here, looped), pushes)
    lane.refused = early(lane.system, lane.freedom, lane.pushes)
    return lane


def noted(
    stepper: Stepper, system: System, q: np.ndarray, v: np.ndarray, here: Evaluation, looped: list[str]
) -> list[str]:
    """What should be known of a lane that starts so; looped: what is of its control loop."""
    step: float = 0.0 if stepper.adaptive else stepper.step  # type: ignore[attr-defined]
    found = list(statics.doubts(system, q, v))
    rough = {name: joint for name, joint in system.mechanism.joints.items() if joint.does("leverless")}
    found += [text for name, joint in rough.items() for text in joint.leverless(name)]  # type: ignore[attr-defined]
    if stepper.impulsive:
        found += too_long(system, q, v, here, step)
        shut = [i for i, gap in enumerate(here.gaps) if gap <= TOUCHING]
        found += [JAMMED.format(label) for label in (statics.jams(system, q, v, shut) if shut else ())]
    return [*found, *unseen(system.mechanism, step), *looped]


def system_of(
    mechanism: Mechanism | System,
    start: Mapping[str, float | str] | None,
    control: Control | None,
    until: float | None,
) -> System:
    """The system of a mechanism with another start and control, whose sampled motions reach beyond a time (s)."""
    reach = 1.02 * (until or 10.0)
    if not start and control is None and isinstance(mechanism, System):
        return mechanism.until(reach)
    base = mechanism.given if isinstance(mechanism, System) else mechanism
    free = mechanism.free if isinstance(mechanism, System) else frozenset()
    if start:
        base = base.with_({f"start.{key}": x for key, x in start.items()})
    if control is not None:
        base = base.replace(control=control)
    return System(base, reach, free)


def split(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Numbers and start values of a lane."""
    if not isinstance(given, Mapping):
        raise InputError(f"a lane is a mapping of addresses to numbers, got {given!r}")
    start = {key.removeprefix("start."): x for key, x in given.items() if key.startswith("start.")}
    return {key: x for key, x in given.items() if not key.startswith("start.")}, start


def unseen(mechanism: Mechanism, h: float) -> list[str]:
    """A note on each motion that changes faster than steps of one length see."""
    return [
        f"{address} changes within {motion.shortest():g} s, in which a step of {h:g} s sees little of it; "
        f"use a step of {0.1 * motion.shortest():.1g} s or less"
        for address, motion in motions(mechanism)
        if motion.shortest() < h
    ]


def refuse_penetration(system: System, here: Evaluation) -> None:
    """Refuse a start in which a joint is beyond its play."""
    depths = dict(zip(system.contacts, -here.gaps, strict=True))
    worst = max(depths, key=lambda label: depths[label], default=None)
    if worst is not None and depths[worst] > TOUCHING:
        start = ", ".join(key for key in system.mechanism.start if not key.endswith("rate"))
        unit = statics.play_unit(system, worst)
        text = (
            f"penetrates {worst!r} by {depths[worst]:.4g} {unit}, with {start}; give other or fewer values, "
            "or re-close it from the first of them with reclose=True (command line: --reclose)"
        )
        raise ModelError(Problem(("start",), text))


def too_long(system: System, q: np.ndarray, v: np.ndarray, here: Evaluation, h: float) -> list[str]:
    """A note on a step (s) that is too long for the play."""
    plays = [joint.looseness for joint in system.mechanism.joints.values() if joint.looseness > 0]
    pull = np.abs(np.linalg.solve(here.M, here.F)).reshape(-1, 3)[:, :2].max(initial=0.0)  # of mass centres (m/s^2)
    moved = system.evaluate(q + 1e-7 * v).places - here.places  # a journal in the middle has no gap rate
    speed = max(np.abs(here.openings).max(initial=0.0), 1e7 * np.hypot(*moved.reshape(-1, 2).T).max(initial=0.0))
    if plays and (pull > 0 or speed > 0):
        flights = [math.sqrt(2 * min(plays) / pull)] if pull > 0 else []
        flight = min([*flights, *([2 * min(plays) / speed] if speed > 0 else [])])
        if h > 0.1 * flight:
            return [
                f"the step of {h:g} s is long beside the {flight:.2g} s in which the play of {min(plays):g} "
                f"is crossed; use {0.01 * flight:.1g} s or less"
            ]
    return []
