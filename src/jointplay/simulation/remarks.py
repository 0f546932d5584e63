"""What a run has to say beside its numbers: notes of what is odd, open or only just so."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import statics
from ..elements import Joint
from ..model.clearances import Compliant, Rigid
from ..physics.knots import motions
from ..physics.record import CONTACTS, JOURNALS, MEANINGS, MODE, MULTIPLIER
from .auditing import some
from .outcome import Outcome

if TYPE_CHECKING:
    from .reading import Reading

SPIKE = 10.0  # times its mean: a force worth a note,
SOFT = 1e7  # N/m over its play: if nothing softer bears it; short steel pins have some 1e8 N/m
FIRST, MORE = 0.05, 1.05  # of a run: its start; times what follows: a force that is not met again
NEAR, SWINGS, RAISED = 0.02, 0.05, 1.1  # of a run, about a peak; rad; times the usual force there: a pin that swings
SLIDING, OPEN = MEANINGS.index("sliding"), 0.1  # from which mode on a contact lasts; of the samples: for a while
SLIP = CONTACTS["slip"].end
BETWEEN = 1.0  # rad, between two samples: of what goes farther they show little
DWARFED, STILL = 1e-6, 1e-24  # of the kinetic energy: a body with less; one that has its rounding alone, and rests
LOCKING = (
    "friction of a pin was so large beside its levers that it may lock: rigid bodies then have two solutions, and the "
    "one that goes on from little friction was taken (Painleve's paradox); play with compliant contact tells more"
)
UNSHARED = (
    "{0}: balance does not determine these reactions, for more joints, closed contacts or friction at rest hold than "
    "are needed; those told are one way to share the load, and {1}. What bears how much is up to stiffness: leave out "
    "what is not needed, or use compliant contact"
)
STIFF, NOISE = 0.01, 0.1  # of the steps: as long as stability allows; of the largest acceleration: more is heard
STEEP = (
    "the control law answers steeply to rates: steps are as long as stability allows, and accelerations swing by "
    "{0:.0f} % of the largest with the errors of rates; largest forces and torques may be such noise, which companions "
    "share: a smaller rtol tells them"
)
RUBBING = "friction goes by them, so that motion and losses are those of one way, too"


def remarks(reading: Reading, outcome: Outcome, among: Sequence[str]) -> Iterator[str]:
    """The notes of a run; among: the reactions that balance leaves open (`shared`)."""
    one, simulation = reading.one, reading.simulation
    if one.pilot:
        yield from one.pilot.remarks(reading.lasting, reading.columns)
    if passes := int(reading.lasting("singular.passes")):
        where = f"the last at t = {reading.lasting('singular.time'):.6g} s"
        which = "a singular position" if passes == 1 else f"{passes} singular positions"
        yield (
            f"passed {which}, {where}: rows depend on each other there, and the branch was kept by its rates; "
            "forces may grow without bound there, and then peaks tell only how near a step came; a sample just there "
            "has accelerations and forces of no meaning"
        )
    for joint, push in one.pushes.items():
        if push < 0:  # where that ends a run, its outcome says so
            yield f"joint {joint!r}: the wall pulls with {-push:.4g} N from the start on, which no wall can"
    if outcome.complete:
        yield from pulled(reading)
    for stream, most in simulation.run.most.items():
        if more := simulation.run.beyond[stream][reading.lane].total():
            later = f"{more:,} later ones are in counts, peaks and losses alone"
            yield f"only the first {most:,} impacts are listed; {later}"
    if reading.largest("locks") > 1:
        yield LOCKING
    if (share := noise(reading)) > 0:
        yield STEEP.format(100 * share)
    yield from strained(reading)
    yield from begun(reading)
    if among:
        names = ", ".join(dict.fromkeys(map(reading.mechanism.owner, among)))
        yield UNSHARED.format(names, RUBBING if one.undecided else "the motion is right")
    yield from dwarfed(reading)
    yield from unmet(reading, outcome)
    if text := coarse(reading):
        yield f"{text}; choose a shorter time between samples. Peaks are taken over all steps"


def pulled(reading: Reading) -> Iterator[str]:
    """Where a permanent contact would have to pull on the way, in a run that goes on all the same."""
    names = list(reading.one.pushes)
    if not names or not len((losses := reading.rows("losses"))["time"]):
        return
    joint, count = names[int(losses["joint"][0]) - 1], len(losses["time"])
    first = f"{losses['time'][0]:.6g} s" + ("" if count == 1 else f" ({count} times in all)")
    yield (
        f"joint {joint!r}: the wall would have to pull, first at t = {first}; numbers and peaks after that are of a "
        "motion that cannot be (rigid or compliant contact lets go there)"
    )


def noise(reading: Reading) -> float:
    """How far accelerations are noise where steps are as long as stability allows, beside the largest; 0 if little."""
    if reading.lasting("steps.stiff") <= STIFF * reading.steps:
        return 0.0
    share = math.sqrt(reading.largest("noise") / max(reading.largest("noise.beside"), 1e-300))
    return share if share > NOISE else 0.0


def dwarfed(reading: Reading) -> Iterator[str]:
    """Notes of bodies in rigid joints with play that have so little of the kinetic energy that chosen steps, which are
    judged by that of all bodies too, know their motion less well."""
    rigid, names = reading.mechanism.loose(Rigid), list(reading.mechanism.bodies)
    if not (rigid and reading.stepper.impulsive and reading.stepper.adaptive and len(reading.time)):
        return
    rates = [reading.columns[f"{name}.rate"] for name in reading.system.coordinates]
    energy = (reading.one.here.mass[:, None] * np.square(rates)).reshape(len(names), 3, -1).sum(axis=1).max(axis=1)
    for name, share in zip(names, energy / max(energy.sum(), 1e-300), strict=True):
        if STILL < share < DWARFED and any(
            name in map(reading.mechanism.owner, joint.between) for joint in rigid.values()
        ):
            yield (
                f"{name} has at most {share:.0e} of the kinetic energy, and chosen rigid steps go by all of it: "
                "numbers of its joints may be off by some percent; compute it by itself, or with steps of one length"
            )


def unmet(reading: Reading, outcome: Outcome) -> Iterator[str]:
    """Notes of samples that are not where they were asked for."""
    simulation, time = reading.simulation, reading.time
    if simulation.every and not math.isclose(apart := simulation.stepper.whole(simulation.every), simulation.every):
        yield f"samples are {apart:.9g} s apart, a whole number of steps, instead of {simulation.every:g} s"
    if outcome.complete and simulation.every and len(time) and time[-1] < outcome.time * (1 - 1e-9):
        yield (
            f"the last sample is at {time[-1]:.6g} s, and so is what is told of the end at {outcome.time:g} s; "
            "choose a time between samples that divides it"
        )


def coarse(reading: Reading) -> str:
    """What goes too far between two samples for these to show it, in words: a body that turns, a motion that repeats;
    nothing if samples are near enough."""
    apart = float(np.diff(reading.time).max(initial=0.0))
    turns = {f"{name} turns": f"{name}.angle" for name in reading.mechanism.bodies}
    far = {what: float(np.abs(np.diff(reading.columns[name])).max(initial=0.0)) for what, name in turns.items()}
    for address, motion in motions(reading.mechanism):
        far[f"{address} goes on in its cycle"] = math.tau * apart / motion.cycle()
    what = max(far, key=lambda name: far[name])
    if far[what] <= BETWEEN:
        return ""
    return f"samples are {apart:.4g} s apart, in which {what} by {far[what]:.3g} rad: too far to show the motion"


def strained(reading: Reading) -> list[str]:
    """Notes of contacts that are hardly those of a machine: of rigid ones spikes of a force that only hard walls bear,
    of compliant ones what `soft` tells.

    A journal whose load changes sides is thrown round its bearing, and held by forces that grow as the play shrinks.
    """
    notes: list[str] = []
    for label in reading.labels if len(reading.time) else ():
        joint = reading.mechanism.joints[reading.mechanism.owner(label)]
        if not joint.loose or joint.play_unit != "m":
            continue
        force, mean = reading.largest(f"{label}.normal"), float(reading.columns[f"{label}.normal"].mean())
        if not reading.stepper.impulsive:
            notes += soft(reading, label, joint, force)
        elif force > SPIKE * mean and force > SOFT * joint.looseness:
            far = f"{force / mean:.0f} times the mean" if mean else "seen in no sample"
            notes.append(
                f"{label}: its largest contact force between impacts, {force:.6g} N, is {far}, as "
                "where a load that changes throws a pin round its bearing. Rigid bodies have it, real ones if "
                f"the contact is much stiffer than force over clearance, {force / joint.looseness:.1g} N/m; "
                "compliant contact tells"
            )
        elif label in reading.system.journals and (usual := swinging(reading, label)) < force / RAISED:
            notes.append(
                f"{label}: where its contact force is largest, {force:.6g} N, its pin swings to and fro on its wall, "
                f"which it presses with {usual:.3g} N in between. Nothing damps that where walls are rigid; real ones "
                "mostly do: compliant contact tells what is left"
            )
    return notes


def soft(reading: Reading, label: str, joint: Joint, force: float) -> Iterator[str]:
    """Notes of a compliant contact with a largest force (N): walls that give way by more than the play, and a law that
    damps more than an impact would."""
    depth = reading.largest(f"{label}.depth")
    if depth > joint.looseness:
        yield (
            f"{label}: its wall gives way by {1e3 * depth:.3g} mm, more than its clearance of "
            f"{1e3 * joint.looseness:.3g} mm: the law is soft for this load (Compliant.from_material)"
        )
    begun, faster = (statics.borne(joint, depth, 1.0, approach) for approach in (1.0, 2.0))
    if force > MORE * begun > 0 and begun != faster:  # more than at the speed at which it began, which counts
        yield (
            f"{label}: its largest contact force, {force:.6g} N, is damping: where it was deepest it bears "
            f"{statics.borne(joint, depth):.3g} N at rest. Its law measures rates by the speed at which the "
            "contact began, and later it was pressed in faster; hertz or kelvin_voigt tell what is left"
        )


def swinging(reading: Reading, label: str) -> float:
    """The usual force (N) about the largest one of a contact whose pin swings there on its wall; infinite if it does
    not: seen from samples on both sides, near or far, its place on the wall is not in between."""
    x, y = (reading.columns[label + end] for end in (signal.end for signal in JOURNALS.values()))
    around = np.abs(reading.time - reading.peak(f"{label}.normal")[1]) <= NEAR * reading.time[-1]
    angle, force = np.arctan2(y, x)[around], reading.columns[f"{label}.normal"][around]
    shut, apart = force > 0, 1
    while 2 * apart < len(angle) / 2:
        ends, lasts = slice(2 * apart, None), shut[2 * apart :] & shut[apart:-apart] & shut[: -2 * apart]
        bent = np.abs(np.angle(np.exp(1j * (angle[: -2 * apart] + angle[ends] - 2 * angle[apart:-apart])))) / 2
        if lasts.any() and np.median(bent[lasts]) > SWINGS:
            return float(np.median(force[shut]))
        apart *= 2
    return math.inf


def shared(reading: Reading) -> list[str]:
    """The joints, drives and contacts whose reactions balance leaves open for a while; the lane then knows how large
    they were and may be there, and whether its motion is open, too, by friction."""
    one, looks = reading.one, some(reading, max(3, min(20, 600 // len(reading.system.coordinates))))
    for i in looks:
        opened(reading, i)
    names = [name for name, times in one.leeways.items() if len(times) > OPEN * len(looks)]
    for name in names:  # where it was largest, too
        rows = [row + MULTIPLIER.end for row in reading.system.rows if reading.mechanism.owner(row) == name]
        rows = [name + CONTACTS["normal_force"].end] if name in reading.labels else rows
        sizes = [np.abs(reading.columns[row]) for row in rows if row in reading.columns]  # redundant ones are left out
        for size in [reading.sampled("force", name)] if name in reading.mechanism.joints else sizes:
            opened(reading, int(size.argmax()))
    return names


def opened(reading: Reading, i: int) -> None:
    """Let the lane know what is open at a sample."""
    system, one, columns = reading.system, reading.one, reading.columns
    labels = [label for label in reading.labels if reading.stepper.impulsive]
    modes = {system.contacts.index(label): columns[label + MODE.end][i] for label in labels}
    shut, rest = ([k for k, mode in modes.items() if mode >= least] for least in (SLIDING, SLIDING + 1))
    q, t = np.array([columns[name][i] for name in system.coordinates]), float(reading.time[i])
    stuck = [*statics.tangents(system, q, t, rest)] if rest else []
    if not one.freedom.redundant and len(shut) + len(stuck) < 2:
        return
    rows = [row + MULTIPLIER.end for row in system.rows]
    rows += [system.contacts[k] + CONTACTS["normal_force"].end for k in shut]
    rows += [system.contacts[k] + CONTACTS["friction_force"].end for k in stuck]
    acting = np.array([columns[row][i] if row in columns else 0.0 for row in rows])  # what is redundant is left out
    held = statics.leeways(system, q, t, shut, stuck, acting) if stuck else {}
    held |= dict.fromkeys(statics.open_reactions(system, q, t, shut), statics.Leeway(math.inf, math.inf))
    for name, leeway in held.items():
        one.leeways.setdefault(name, {})[t] = leeway
    if held and not one.undecided:
        slips = {k: float(columns[system.contacts[k] + SLIP][i]) for k in shut if k not in rest}
        one.undecided = statics.moves_by_share(system, q, t, shut, slips, stuck)


def begun(reading: Reading) -> list[str]:
    """Notes of compliant joints whose largest force is that of their start: a journal in the middle of its play, or on
    a wall that is not pressed in yet, swings about the depth that bears the load."""
    notes = []
    later = reading.time > FIRST * reading.time[-1] if len(reading.time) else np.zeros(0, bool)
    for name in reading.mechanism.loose(Compliant) if later.any() and reading.before is None else ():
        most, when = reading.peak(f"{name}.force")
        if (
            0 < when <= FIRST * reading.time[-1]
            and math.sqrt(most) > MORE * reading.sampled("force", name)[later].max()
        ):
            notes.append(
                f"{name}: its largest force, {math.sqrt(most):.6g} N, is that of the start, at {when:.3g} s; "
                f"settled tells that of what follows"
            )
    return notes
