"""Why a lane of a simulation ended, in words with what helps."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .. import statics
from ..elements.pose import Here
from ..laws.materials import STEPS, impact
from ..model.clearances import Compliant, Following, Rigid
from ..model.mechanism import Mechanism
from ..physics.compliance import DEEPEST, SLOWEST
from ..physics.dynamics import Equations
from ..physics.failures import BLOCKED, RUBBING, UNCLOSED, UNSOLVED, failure
from ..physics.permanent import stops
from ..physics.step import Stepper
from ..system import System
from .outcome import Ending, Outcome

if TYPE_CHECKING:
    from .simulation import Simulation

SINGULAR = 0.05  # of the largest singular value: a step that fails this near to dependent rows fails for them
BRIEF, LEAP = 1e-9, 1e-3  # of a second, or of the time: about an instant; of a speed: what it changes there if it jumps
DEAD = 1e-4  # the same of numbers that overflow: rates grow with 1 / that
OWN = str(Path(__file__).parents[1])  # files whose lines tell a user nothing
SHUT = 1e-6  # m or rad: a stop that is no further open
FREED = 2.0  # times further from dependent: what rows are without the drive that made them so
KINDS = {
    "stopped": Ending.STOPPED,
    "non-finite": Ending.NON_FINITE,
    "singular pivot": Ending.NEAR_SINGULAR,
    "solver failed": Ending.SOLVER_FAILED,
    "step too small": Ending.STEP_TOO_SMALL,
}


def early(system: System, freedom: statics.Freedom, pushes: dict[str, float]) -> Outcome | None:
    """An end before the first step."""
    if freedom.passing:
        rows = ", ".join(freedom.passing)
        text = f"the start is a singular position: {rows} depend on other rows there, but not beside it; move it"
        return Outcome(Ending.NEAR_SINGULAR, text, 0.0, system.mechanism.owner(freedom.passing[0]), "move the start")
    following = system.mechanism.loose(Following)
    pulling = [joint for joint, push in pushes.items() if push < 0 and stops(following[joint])]
    if not pulling:
        return None
    remedy = "start with the journal on the loaded side, or set contact: {kind: following, on_loss: continue}"
    text = f"joint {pulling[0]!r} would pull with {-pushes[pulling[0]]:.4g} N already at the start; {remedy}"
    return Outcome(Ending.CONTACT_LOST, text, 0.0, pulling[0], remedy)


def ending(simulation: Simulation, lane: int) -> Outcome:
    """The end of a lane that cannot go on."""
    run, time = simulation.run, float(simulation.time[lane])
    status = run.status[lane]
    if status == "done":
        return arrived(simulation, lane, time)
    kind, found = KINDS[status], failure(int(run["detail"][lane]))
    pilot = simulation.each[lane].pilot
    said = pilot.ended(found, time) if pilot and kind is not Ending.NON_FINITE else None
    if said:
        return Outcome(Ending.CONTROLLER_FAILED, said, time, "control")
    if kind in (Ending.NEAR_SINGULAR, Ending.STEP_TOO_SMALL, Ending.NON_FINITE) or found.reason == UNCLOSED:
        rows, firm = dependent(simulation, lane)
        if kind is Ending.NEAR_SINGULAR or firm < (DEAD if kind is Ending.NON_FINITE else SINGULAR):
            return beyond(simulation, lane, rows)
    if kind is Ending.STEP_TOO_SMALL:
        if stop := pressed(simulation, lane):
            return blocked(simulation.system(lane).mechanism, stop, time)
        if drive := leaps(simulation, lane, time):
            remedy = "give it a motion whose speed does not (a table: interpolation: pchip), or use steps of one length"
            text = f"the speed of drive {drive!r} jumps at t = {time:.6g} s, which chosen steps cannot follow; {remedy}"
            return Outcome(kind, text, time, drive, remedy)
        remedy = "loosen rtol and atol, or look for a singularity"
        return Outcome(kind, f"the step fell below round-off at t = {time:.6g} s; {remedy}", time, "", remedy)
    if kind is Ending.SOLVER_FAILED and found.reason:
        return unsolved(simulation, lane, time)
    said, _, where = run.explain(lane).partition("; first ")
    text = f"{said}{f'; first {where}' if where and OWN not in where else ''} at t = {time:.6g} s"
    contacts = simulation.text.labels and not simulation.stepper.impulsive and not simulation.stepper.adaptive
    if kind is not Ending.NON_FINITE or not contacts:
        return Outcome(kind, text, time)
    q, _ = before(simulation, lane)
    label, remedy = shorter(simulation, lane, int(np.argmin(simulation.system(lane).evaluate(q).gaps)))
    h = simulation.stepper.step  # type: ignore[attr-defined]
    text = f"{text}; the step of {h:g} s may be too long for contact {label!r}: {remedy}"
    return Outcome(kind, text, time, label, remedy)


def tired(simulation: Simulation, lane: int) -> Outcome:
    """The end of a lane that has taken as many chosen steps as it may."""
    time, most = float(simulation.time[lane]), simulation.most_steps
    last = float(simulation.run["step.next"][lane])
    remedy = "loosen rtol, or allow more with most_steps"
    text = (
        f"{most} steps led to t = {time:.6g} s of {simulation.asked:g} s, the next would be {last:.2g} s long; {remedy}"
    )
    return Outcome(Ending.TOO_MANY_STEPS, text, time, "", remedy)


def leaps(simulation: Simulation, lane: int, time: float) -> str:
    """The drive whose speed jumps at a time; "" if there is none."""
    system, aside = simulation.system(lane), BRIEF * max(time, 1.0)
    before, after = (system.evaluate(simulation.each[lane].q, t=t).speed for t in (time - aside, time + aside))
    jump = np.abs(after - before) > LEAP * np.maximum(np.abs(before), np.abs(after))
    names = map(system.mechanism.owner, np.array(system.rows, dtype=object)[jump])
    return next((name for name in names if name in system.mechanism.drives), "")


def unsolved(simulation: Simulation, lane: int, time: float) -> Outcome:
    """A step that a solver could not make, with what it left open."""
    found = failure(int(simulation.run["detail"][lane]))
    system, remedy = simulation.system(lane), "use a shorter step"
    label = system.contacts[found.element] if found.element < len(system.contacts) else ""
    if found.reason == BLOCKED:
        return blocked(system.mechanism, label, time)
    step = f"solver failed at step {int(simulation.steps[lane]) + 1}, t = {time:.6g} s"
    texts = {
        UNSOLVED: f"the impulses of the contacts violate their conditions by {found.residual:.2g} of the largest",
        UNCLOSED: f"joints and contacts stay open by {found.residual:.2g} m or rad; they may exclude each other",
        RUBBING: f"the friction of pins leaves {found.residual:.2g} of its torque open",
    }
    return Outcome(Ending.SOLVER_FAILED, f"{step}: {texts[found.reason]}; {remedy}", time, "", remedy)


def pressed(simulation: Simulation, lane: int) -> str:
    """The stop that is shut where rigid steps get no further while drives go on; nothing if there is none."""
    system, n = simulation.system(lane), len(simulation.names) // 2
    if not (simulation.stepper.impulsive and system.mechanism.drives and system.contacts):
        return ""
    gaps = system.evaluate(simulation.state[lane, :n], t=float(simulation.time[lane])).gaps
    shut = [label for label, gap in zip(system.contacts, gaps, strict=True) if ".stop." in label and gap < SHUT]
    return shut[0] if shut else ""


def blocked(mechanism: Mechanism, label: str, time: float) -> Outcome:
    """A contact that joints and drives push shut without a way out."""
    joint, end = mechanism.owner(label), label.rpartition(".stop.")[2] if ".stop." in label else ""
    drives = ", ".join(map(repr, mechanism.drives))
    where = f"joint {joint!r} is at its {end} stop" if end else f"contact {label!r} is closed"
    what = f"drive {drives} goes" if len(mechanism.drives) == 1 else f"drives {drives} go" if drives else "joints go"
    text = f"{where} at t = {time:.6g} s and {what} on; nothing can give way"
    remedy = f"let the motion of {drives} end before it" if drives else "leave the mechanism a freedom"
    remedy += f", or move {joint}.{end}" if end else ", or leave the joint a freedom"
    return Outcome(Ending.SOLVER_FAILED, f"{text}; {remedy}", time, label, remedy)


def beyond(simulation: Simulation, lane: int, rows: list[str]) -> Outcome:
    """A drive that asks for what a mechanism cannot do, or a position that it cannot pass."""
    mechanism, time = simulation.system(lane).mechanism, float(simulation.time[lane])
    owners = list(dict.fromkeys(map(mechanism.owner, rows)))
    drives = [name for name in owners if name in mechanism.drives]
    joints = ", ".join(name for name in owners if name not in mechanism.drives)
    here = f"near a singular position at t = {time:.6g} s"
    if not drives:
        remedy = passing(simulation.stepper, mechanism)
        text = f"the mechanism is {here}: rows {', '.join(rows)} depend on each other; {remedy}"
        return Outcome(Ending.NEAR_SINGULAR, text, time, owners[0] if owners else "", remedy)
    names, places = ", ".join(map(repr, drives)), ", ".join(place(simulation, lane, name) for name in drives)
    text = f"{here}: {names} cannot be followed further than {places}, as {joints} are at the end of what they allow: "
    remedy = f"let the motion of {names} end or turn before, or change lengths"
    text += f"the mechanism cannot be assembled beyond it; {remedy}"
    return Outcome(Ending.NEAR_SINGULAR, text, time, drives[0], remedy)


def passing(stepper: Stepper, mechanism: Mechanism) -> str:
    """What may pass a singular position: other steps, and another stepper where the contacts allow it."""
    smooth = stepper.adaptive and not stepper.impulsive
    barred = mechanism.loose(Compliant) if smooth else mechanism.loose(Rigid) or mechanism.stopped(Rigid)
    other = "" if barred else f", {'MoreauJean()' if smooth else 'RungeKutta()'} in Python"
    return f"use another step or tolerance (--step, --rtol){other}, or change a length by a little"


def place(simulation: Simulation, lane: int, name: str) -> str:
    """Where a drive has got to, in words."""
    system = simulation.system(lane)
    drive, numbers, n = system.mechanism.drives[name], system.parameters, len(system.coordinates)
    equations = Equations(system.mechanism, lambda address: numbers.get(address, 0))
    here = Here(equations.pose(simulation.state[lane, :n].tolist(), float(simulation.time[lane])), name, drive)
    if drive.prescribes in ("x", "y"):
        return f"{drive.of}.{drive.prescribes} = {float(getattr(here.point(drive.of), drive.prescribes)):.6g} m"
    found = float(here.coordinate(drive.of))
    return f"{drive.of} = {math.degrees(found):.6g} deg" if drive.turns else f"{drive.of} = {found:.6g} m"


def arrived(simulation: Simulation, lane: int, time: float) -> Outcome:
    """A contact that was lost, or too deep at once."""
    run = simulation.run
    if "contact.deep" in run.places and run["contact.deep"][lane]:
        return too_long(simulation, lane, int(run["contact.deep"][lane]) - 1)
    following = list(simulation.each[lane].pushes)
    joint = following[int(run["contact.lost"][lane]) - 1]
    row = {name: float(x[-1]) for name, x in run.rows("losses", lane).items()}
    place, own = (math.degrees(math.remainder(row[a], math.tau)) for a in ("angle", "in_bearing"))
    text = (
        f"joint {joint!r} loses contact at t = {row['time']:.6f} s, at {place:.2f} deg ({own:.2f} deg in its bearing)"
    )
    remedy = "set contact: {kind: following, on_loss: continue}, or compute the impacts with another contact"
    return Outcome(Ending.CONTACT_LOST, text, row["time"], joint, remedy)


def dependent(simulation: Simulation, lane: int) -> tuple[list[str], float]:
    """The rows that come nearest to depending on each other at the last good state, and how near: 0 if they do."""
    system, n = simulation.system(lane), len(simulation.names) // 2
    here = system.evaluate(simulation.state[lane, :n], t=float(simulation.time[lane]))
    kept = [i for i, row in enumerate(system.rows) if row not in simulation.each[lane].freedom.redundant]
    if not kept:
        return [], 1.0
    lines = here.B[kept] / np.sqrt(np.diag(here.M))
    lines = lines / np.maximum(np.linalg.norm(lines, axis=1, keepdims=True), 1e-300)  # metres beside radians
    left, values, _ = np.linalg.svd(lines, full_matrices=False)
    shares, rows = np.abs(left[:, -1]), [system.rows[i] for i in kept]
    for i, row in enumerate(rows):  # a drive without which all is well is the cause, however small its share
        if system.mechanism.owner(row) in system.mechanism.drives and len(rows) > 1:
            without = np.linalg.svd(np.delete(lines, i, axis=0), compute_uv=False)
            shares[i] = 1.0 if without[-1] > FREED * values[-1] else shares[i]
    most = sorted(np.flatnonzero(shares > 0.1), key=lambda i: -shares[i])[:6]
    return [rows[i] for i in sorted(most)], float(values[-1] / values[0])


def before(simulation: Simulation, lane: int) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and rates where the last step of a march of states began."""
    names = simulation.text.state
    assert names is not None
    q, v = (np.array([simulation.run[f"before.{name}"][lane] for name in part]) for part in (names.q, names.v))
    return q, v


def too_long(simulation: Simulation, lane: int, contact: int) -> Outcome:
    """The end of a run in which a contact was too deep at the end of its first step."""
    time, n = float(simulation.time[lane]), len(simulation.names) // 2
    system, h = simulation.system(lane), float(simulation.run["step.length"][lane])
    depth = -float(system.evaluate(simulation.state[lane, :n], t=time).gaps[contact])
    label, remedy = shorter(simulation, lane, contact)
    joint = system.mechanism.loose(Compliant)[system.mechanism.owner(label)]
    text = (
        f"contact {label!r} is {depth:.4g} deep (m; rad in a gear) at the end of its first step, t = {time:.6g} s: "
        f"more than {100 * DEEPEST:g} % of the {'clearance' if joint.opened_by else joint.measured_by} of "
        f"{getattr(joint, joint.measured_by):g}. "
        f"The step of {h:.3g} s is too long; {remedy}"
    )
    return Outcome(Ending.STEP_TOO_LONG, text, time, label, remedy)


def shorter(simulation: Simulation, lane: int, contact: int) -> tuple[str, str]:
    """A contact, and the step that resolves it: of its depth and, by an impact of one mass, of its duration."""
    run, system = simulation.run, simulation.system(lane)
    label = system.contacts[contact]
    joint = system.mechanism.loose(Compliant)[system.mechanism.owner(label)]
    q, v = before(simulation, lane)
    t = float(run["before.time"][lane])
    here = system.evaluate(q, v, t)
    closed = run[f"{label}.mode"][lane] > 0.5
    approach = float(run[f"{label}.approach"][lane]) if closed else max(-float(here.openings[contact]), SLOWEST)
    steps = [0.5 * DEEPEST * getattr(joint, joint.measured_by) / approach]
    softness = float(statics.yielding(system, q, t, [contact])[0])
    chosen = joint.contact.normal
    sizes = {name: float(getattr(joint, name)) for name in chosen.law.geometry}
    if softness > 0:
        with contextlib.suppress(ValueError):  # overdamped: no such impact ends
            steps.append(impact(chosen.law, 1 / softness, approach, **chosen.values, **sizes).duration / STEPS)
    step = float(f"{min(steps):.1g}")
    if simulation.stepper.adaptive:
        return label, f"use smaller rtol and atol, or a max_step of {step:g} s or less"
    return label, f"use a step of {step:g} s or less, or RungeKutta(), which chooses its own"
