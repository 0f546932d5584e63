"""What makes a run trustworthy: residuals, energies and momenta, beside what the run itself is measured by."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import statics
from ..model.clearances import Compliant, Following
from ..physics.knots import motions
from ..physics.motion import LOSSES
from ..physics.record import CONTACTS, MODE
from ..physics.step import Stepper
from .judgement import judged, verdict
from .outcome import Finding, Outcome

if TYPE_CHECKING:
    from .reading import Reading

SMOOTH, IMPULSIVE = 1e-3, 1e-2  # of the energy turned over: what may be left over, by forces and by impulses over steps
ROUNDING = 1e-12  # of an energy, in a step
NOTHING = 1e-9  # of the size of a mechanism: what moves by less rests
SHARP = 100.0  # times its mean: a contact force that is a spike
RANK = 1e-9  # of the largest singular value: rows that depend on others
LAST = 0.1  # of a run: its end
LEAST = 0.1  # rad, or of the size of a mechanism: what any loop may be off
RESTS = 1e-9  # m/s: what goes no faster rests, and its energies are rounding
GAP = 1e-4  # of the size of a mechanism: what counts as a gap where there is no play to compare with


def audit(reading: Reading) -> list[Finding]:
    """What makes the run trustworthy, judged by the run's own scales."""
    found = [
        Finding("position drift", max(reading.largest("drift"), drift(reading)), "m or rad"),
        Finding("energy imbalance", max(reading.largest("imbalance"), imbalance(reading)), "J"),
        Finding("peak kinetic energy", reading.largest("kinetic", float(reading.one.here.kinetic)), "J"),
    ]
    found += of_impulses(reading) if reading.stepper.impulsive else []
    if reading.labels or reading.stepper.impulsive:
        found.append(Finding("penetration", max(reading.largest("penetration"), sunk(reading)), "m or rad"))
    spans = [motion.shortest() for _, motion in motions(reading.mechanism)]
    if not reading.stepper.adaptive and min(spans, default=math.inf) < math.inf:
        ratio = reading.stepper.step / min(spans)  # type: ignore[attr-defined]
        found.append(Finding("step beside the shortest change of a motion", ratio, "1"))
    if reading.mechanism.loose(Following) and not reading.stepper.adaptive and len(reading.time):
        found.append(Finding("turn of a journal in one step", whirl(reading), "rad"))
    if reading.stepper.impulsive and not reading.stepper.adaptive and reading.system.journals and len(reading.time):
        found.append(Finding("swing of a journal in one step", swing(reading), "rad"))
    if reading.mechanism.isolated():
        found.append(Finding("momentum drift", reading.largest("momentum"), "kg*m/s"))
        found.append(Finding("angular momentum drift", reading.largest("momentum.angle"), "N*m*s"))
    if reading.one.pilot and len(reading.time):
        found.append(Finding("tracking error at the end", astray(reading), "1"))
    found.append(Finding("conditioning at the start", reading.one.freedom.conditioning, "1"))
    if reading.mechanism.loose(Compliant) and len(reading.time):
        pressed = [reading.columns[f"{label}.normal"][0] for label in reading.system.contacts]
        found.append(Finding("contact force at the start", float(np.max(pressed, initial=0.0)), "N or N*m"))
        found.append(Finding("energy created in contacts", gained(reading), "J"))
    return judged(found, scales(reading))


def of_impulses(reading: Reading) -> list[Finding]:
    """What only steps of impulses leave to be judged."""
    q, v = np.split(reading.simulation.state[reading.lane], 2)
    here = reading.system.evaluate(q, v, float(reading.simulation.time[reading.lane]))
    off = float(np.abs(here.B @ v - here.speed).max(initial=0.0))
    return [
        Finding("velocity drift at the end", off, "m/s or rad/s"),
        Finding("play crossed in one step", reading.largest("crossing"), "1"),
        Finding("delay of impacts", reading.largest("late"), "1"),
        Finding("contact violation", reading.largest("violation"), "1"),
        Finding("unconverged steps", reading.largest("steps.unconverged"), "1"),
        Finding("steps closed again", reading.largest("steps.refined"), "1"),
        Finding("energy lost in impacts", reading.number("impact.loss"), "J"),
        Finding("energy lost by friction", reading.number("friction.loss"), "J"),
        Finding("energy created in impacts", reading.largest("created"), "J"),
        Finding("work of the sharpest contact force over its play", squeeze(reading), "J"),
    ]


def scales(reading: Reading) -> dict[str, float]:
    """What the run's errors are measured by: energies, lengths, speeds, momenta, the smallest play."""
    here = reading.one.here
    potential = float(here.potential)
    kinetic = reading.largest("kinetic", float(here.kinetic))
    fallen = potential + reading.largest("potential.fallen", -potential)
    pushed = reading.columns.get("contact.normal.work", np.zeros(1)).max(initial=0.0)  # by what was pressed at first
    available = float(here.kinetic) + fallen + reading.largest("work.turned") + float(pushed)
    available += sum(max(energy, 0.0) for _, energy in reading.one.given)  # by numbers that were set on the way
    energy = max(available, kinetic)
    length, steps = float(statics.sizes(reading.system)[0]), float(reading.simulation.steps[reading.lane])
    rounding = ROUNDING * (abs(potential) + energy) * math.sqrt(1.0 + steps)
    rounding += NOTHING * length * float(np.abs(here.F).max(initial=0.0))
    masses = np.diag(here.M)[::3]
    rounding += float(masses.sum()) * RESTS * RESTS
    balance = (IMPULSIVE if reading.stepper.impulsive else SMOOTH) * energy + rounding
    plays = [joint.looseness for joint in reading.mechanism.joints.values() if joint.loose and joint.looseness > 0]
    momentum = math.sqrt(2 * float(masses.sum()) * energy)
    rates = [np.abs(reading.columns[f"{name}.rate"]).max(initial=0.0) for name in reading.system.coordinates]
    return {
        "energy": energy + rounding,
        "kinetic": kinetic + rounding,
        "balance": balance,
        "available": available + balance,
        "gap": min([GAP * length, *plays]),
        "rate": max(*rates, GAP),
        "momentum": momentum + GAP,
        "spin": momentum * length + GAP,
        "steps": steps + 1.0,
        "load": load(reading) if reading.mechanism.loose(Compliant) else 1.0,
    }


def load(reading: Reading) -> float:
    """What acts in the ideal mechanism where it starts: the largest force, reactions included (N or N m)."""
    system, one = statics.closed(reading.system), reading.one
    here = system.evaluate(one.q, one.v)
    forces = np.abs(np.concatenate([here.F, here.M @ here.accelerations()[0], here.accelerations()[1]]))
    return float(forces.max(initial=0.0)) + NOTHING


def gained(reading: Reading) -> float:
    """The most that compliant contacts had done in all by a sample, beyond what they can have stored at the start (J):
    no wall gives more, but forces that swing from step to step do."""
    columns = reading.columns
    stored = sum(abs(columns[f"{x}.normal"][0] * min(columns[f"{x}.gap"][0], 0.0)) for x in reading.system.contacts)
    return max(float(columns["contact.normal.work"].max(initial=0.0) - stored), 0.0)


def squeeze(reading: Reading) -> float:
    """The most that a lasting contact force would do over its play, of forces far above their mean (J): a light body
    squeezed round its bearing throws heavy ones about by forces that go with 1 / its mass, which nothing elastic bears.
    """
    most = 0.0
    for label in reading.labels:
        joint = reading.mechanism.joints[reading.mechanism.owner(label)]
        force, mean = reading.largest(f"{label}.normal"), float(reading.columns[f"{label}.normal"].mean())
        if joint.loose and joint.play_unit == "m" and force > SHARP * mean:
            most = max(most, force * joint.looseness)
    return most


def astray(reading: Reading) -> float:
    """The largest tracking error of the last tenth of a run, beside what its loop was asked to bridge: the range of the
    reference, the error and the rate with which it began, at least a tenth of a radian or of the mechanism's size."""
    worst, late = 0.0, reading.time >= reading.time[-1] - LAST * (reading.time[-1] - reading.time[0])
    for name, axis in reading.one.pilot.control.coordinates.items() if reading.one.pilot else ():
        wanted, value = (reading.columns[f"control.{name}.{end}"] for end in ("reference", "value"))
        errors = np.abs(value - wanted)
        begun = abs(float(statics.measured(reading.system, reading.one.q, reading.one.v, [axis])[1][0]))
        size = 1.0 if axis.turns else float(statics.sizes(reading.system)[0])
        scale = max(LEAST * size, np.ptp(wanted), errors[0], begun * reading.time[-1])
        worst = max(worst, float(errors[late].max()) / scale)
    return worst


def some(reading: Reading, most: int = 20) -> np.ndarray:
    """Some of the samples, by their numbers."""
    found: np.ndarray = np.unique(np.linspace(0, len(reading.time) - 1, most if len(reading.time) else 0).astype(int))
    return found


def whirl(reading: Reading) -> float:
    """The most that a journal in permanent contact goes round its bearing in a step, at some of the samples (rad)."""
    names, worst, step = reading.system.coordinates, 0.0, reading.stepper.step  # type: ignore[attr-defined]
    for i in some(reading):
        q, v = (np.array([reading.columns[name + end][i] for name in names]) for end in ("", ".rate"))
        for name, speed in statics.whirls(reading.system, q, v, float(reading.time[i])).items():
            worst = max(worst, speed * step / reading.mechanism.joints[name].looseness)
    return worst


def swing(reading: Reading) -> float:
    """How far (rad) the fastest journal swings about the wall that carries it in a step: pressed with a force F into a
    bearing of clearance c it does so at sqrt(F w / c), w (1/kg) being how readily its bodies give way; several swing
    together."""
    system, ideal, fastest = reading.system, statics.closed(reading.system), 0.0
    owners = {i: ideal.mechanism.owner(row) for i, row in enumerate(ideal.rows)}
    rows = [i for i, name in owners.items() if name in system.journals]
    stiff = [reading.largest(f"{owners[i]}.normal") / reading.mechanism.joints[owners[i]].looseness for i in rows]
    for i in some(reading) if rows else ():
        q, t = [reading.columns[name][i] for name in system.coordinates], reading.time[i]
        here, across = system.evaluate(q, t=t), ideal.evaluate(q, t=t).B
        lines = np.vstack([here.B, across[rows] * np.sqrt(stiff)[:, None]])
        ready = lines @ np.linalg.solve(here.M, lines.T)
        n = len(here.B)
        ready = ready[n:, n:] - ready[n:, :n] @ np.linalg.pinv(ready[:n, :n], RANK) @ ready[:n, n:]
        fastest = max(fastest, float(np.linalg.eigvalsh(ready)[-1]))
    return reading.stepper.step * math.sqrt(fastest)  # type: ignore[attr-defined]


def imbalance(reading: Reading) -> float:
    """What samples, which may lie inside steps, leave of the balance of energies (J); what numbers that were set on the
    way gave is known."""
    columns, here, names = reading.columns, reading.one.here, reading.simulation.text.state
    assert names is not None
    done = (-columns[name] if name in LOSSES else columns[name] for name in names.w)
    left = columns["kinetic"] + columns["potential"] - float(here.kinetic + here.potential) - sum(done)
    for time, energy in reading.one.given:
        left = left - np.where(columns["time"] > time, energy, 0.0)
    return float(np.abs(left).max(initial=0.0))


def sunk(reading: Reading) -> float:
    """How deep (m or rad) contacts are in their walls at samples at which they count as free."""
    both = (
        (reading.columns[label + CONTACTS["gap"].end], reading.columns[label + MODE.end]) for label in reading.labels
    )
    return max((float(-gap[mode == 0].min(initial=0.0)) for gap, mode in both), default=0.0)


def drift(reading: Reading) -> float:
    """What redundant rows leave open at some of the samples."""
    redundant, worst = reading.one.freedom.redundant, 0.0
    if not redundant or not len(reading.time):
        return 0.0
    kept = [i for i, row in enumerate(reading.system.rows) if row in redundant]
    for i in some(reading):
        q = [reading.columns[name][i] for name in reading.system.coordinates]
        residual = reading.system.evaluate(q, t=reading.time[i]).residual
        worst = max(worst, float(np.abs(residual[kept]).max(initial=0.0)))
    return worst


def doubt(reading: Reading, outcome: Outcome) -> str:
    """The sentence of a run that is doubtful or wrong; nothing if it is fine."""
    return verdict(audit(reading), outcome, reading.stepper)[1]


def trust(entries: Sequence[Finding], outcome: Outcome, stepper: Stepper) -> dict[str, str]:
    """The audit and the judgement of a run as attributes of its result."""
    found, text = verdict(entries, outcome, stepper)
    written = json.dumps([entry._asdict() for entry in entries])
    return {"audit": written, "judgement": found, "judgement_text": text}
