"""From what a run has kept to a result: samples, peaks, contacts, control, audit, outcome."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import results, statics
from ..model.clearances import Rigid
from ..physics import record
from ..physics.record import Signal
from ..physics.step import Stepper
from .judgement import judged, verdict
from .outcome import Entry, Outcome

if TYPE_CHECKING:
    from xarray import Dataset

    from .simulation import Simulation

Variables = dict[str, Any]
SMOOTH, IMPULSIVE = 1e-3, 1e-2  # of the energy turned over: what may be left over, by forces and by impulses over steps
ROUNDING = 1e-12  # of an energy, in a step
NOTHING = 1e-9  # of the size of a mechanism: what moves by less rests
GAP = 1e-4  # of the size of a mechanism: what counts as a gap where there is no play to compare with
# largest values over all steps: where they are kept, whose they are and their unit
PEAKS = {
    "force": (".force", "joint", "N"),
    "moment": (".moment", "joint", "N*m"),
    "effort": (".effort", "drive", "N or N*m"),
}
SMOOTH_PEAKS = {
    **PEAKS,
    "force_x": (".force.x", "joint", "N"),
    "force_y": (".force.y", "joint", "N"),
    **{name: (f".{name[: -len('_acceleration')]}.largest", "body", s.unit) for name, s in record.BODIES.items()
       if name.endswith("_acceleration")},
}  # fmt: skip


class Reading:
    """What one lane of a simulation has kept."""

    def __init__(self, simulation: Simulation, lane: int) -> None:
        self.simulation, self.lane, self.one = simulation, lane, simulation.each[lane]
        self.system, self.run, self.stepper = simulation.system(lane), simulation.run, simulation.stepper
        self.mechanism, self.labels = self.system.mechanism, self.system.contacts
        self.columns = self.samples()
        self.time = self.columns["time"]

    def number(self, name: str) -> float:
        """A number that the run keeps."""
        return float(self.run[name][self.lane])

    def largest(self, name: str, least: float = 0.0) -> float:
        """A largest value of all steps; `least` where a run has none, as of the moment of a revolute joint."""
        return max(least, self.number(name)) if name in self.run.places else least

    def samples(self) -> Mapping[str, np.ndarray]:
        """The samples; those of impulses begin after the first step, and the start comes before them."""
        rows = self.run.rows("samples", self.lane)
        if not self.stepper.impulsive:
            return rows
        one, begun = self.one, self.run.rows("begun", self.lane) if self.one.pilot else {}
        known = {name: float(values[0]) for name, values in begun.items() if len(values)}
        steered = np.array([known.pop(f"{name}.steered", 0.0) for name in one.system.coordinates])
        a, multipliers = replace(one.here, F=one.here.F + steered).accelerations()
        first: dict[str, float] = {"kinetic": one.here.kinetic, "potential": one.here.potential, **known}
        for end, values in (("", one.q), (".rate", one.v), (".acceleration", a)):
            first |= {name + end: x for name, x in zip(one.system.coordinates, values, strict=True)}
        reactions = (one.here.reactions @ multipliers).reshape(-1, 3)
        for joint, parts in zip(one.system.mechanism.joints, reactions, strict=True):
            first |= {joint + signal.end: x for signal, x in zip(record.JOINTS.values(), parts, strict=True)}
        first |= {row + record.MULTIPLIER.end: x for row, x in zip(one.system.rows, multipliers, strict=True)}
        gaps = zip(one.system.contacts, one.here.gaps, strict=True)
        first |= {label + record.CONTACTS["gap"].end: x for label, x in gaps}
        for joint, place in zip(one.system.journals, one.here.places, strict=True):
            first |= {joint + signal.end: x for signal, x in zip(record.JOURNALS.values(), place, strict=True)}
        return {name: np.append(first.get(name, 0.0), values) for name, values in rows.items()}

    def table(self, labels: Sequence[str], signal: Signal, dimension: str) -> Any:
        """A variable over time and labels."""
        values = np.column_stack([self.columns[label + signal.end] for label in labels])
        return ("time", dimension), values, {"units": signal.unit, "long_name": signal.text}

    # -- peaks
    def peaks(self) -> Variables:
        """The largest joint forces, efforts and accelerations over all steps, and over the samples between them where
        forces have values at every time."""
        found: Variables = {}
        labels: dict[str, Any] = {
            "body": self.mechanism.bodies,
            "joint": self.mechanism.joints,
            "drive": self.mechanism.drives,
        }
        for what, (end, dimension, unit) in (PEAKS if self.stepper.impulsive else SMOOTH_PEAKS).items():
            names = list(labels[dimension])
            if not names:
                continue
            values = [self.largest(n + end) for n in names]
            values = [math.sqrt(x) for x in values] if what == "force" else values
            times = [self.number(f"{n}{end}.time") if n + end in self.run.places else 0.0 for n in names]
            for i, name in enumerate(names if not self.stepper.impulsive else ()):
                sampled = self.sampled(what, name)
                at = int(np.argmax(sampled))
                if sampled[at] > values[i] or sampled[0] == values[i]:
                    values[i], times[i] = float(sampled[at]), float(self.time[at])
            text = {"units": unit, "long_name": f"largest {what.replace('_', ' ')} over all steps"}
            found[f"peak_{what}"] = (dimension, values, text)
            found[f"peak_{what}_time"] = (dimension, times, {"units": "s"})
        return found

    def sampled(self, what: str, name: str) -> np.ndarray:
        """Sizes of what has a peak, at the samples."""
        if what == "effort":
            rows = [row for row in self.system.rows if self.system.mechanism.owner(row) == name]
            kept = [self.columns[row + record.EFFORT.end] for row in rows if row + record.EFFORT.end in self.columns]
            return np.abs(kept[0][:1]) if kept else np.zeros(1)
        if what == "force":
            ends = [record.JOINTS[part].end for part in ("force_x", "force_y")]
        else:
            ends = [(record.JOINTS | record.BODIES)[what].end]
        values: np.ndarray = np.hypot.reduce([self.columns[name + end] for end in ends])
        return np.abs(values)

    def pushes(self) -> Variables:
        """Joints in permanent contact: the least and largest push, and where they begin to pull."""
        names = list(self.one.pushes)
        if not names:
            return {}
        start = self.one.pushes
        least = [-max(-start[j], self.largest(f"{j}.push.least", -math.inf)) for j in names]
        most = [max(start[j], self.largest(f"{j}.push.most", -math.inf)) for j in names]
        losses = self.run.rows("losses", self.lane)
        said = {"units": "rad", "long_name": "direction from the bearing's centre to the journal's"}
        return {
            "least_normal": ("loose_joint", least, {"units": "N", "long_name": "least push"}),
            "peak_normal": ("loose_joint", most, {"units": "N", "long_name": "largest push"}),
            "loose_joint": ("loose_joint", names),
            "loss_time": ("loss", losses["time"], {"units": "s", "long_name": "where a contact begins to pull"}),
            "loss_joint": ("loss", [names[int(i) - 1] for i in losses["joint"]]),
            "loss_angle": ("loss", losses["angle"], said),
            "loss_angle_in_bearing": ("loss", losses["in_bearing"], {"units": "rad"}),
        }

    # -- contacts
    def contact_signals(self) -> Variables:
        """Gap, slip, forces and mode of every contact, and the journal centres, over time."""
        found: Variables = {"contact": ("contact", self.labels)}
        for name, signal in record.CONTACTS.items():
            found[name] = self.table(self.labels, signal, "contact")
        modes = np.column_stack([self.columns[label + record.MODE.end] for label in self.labels]).astype(np.int8)
        flags = {
            "flag_values": np.arange(len(record.MEANINGS), dtype=np.int8),
            "flag_meanings": " ".join(record.MEANINGS),
        }
        found["mode"] = (("time", "contact"), modes, {"long_name": record.MODE.text, **flags})
        if self.system.journals:
            found["journal"] = ("journal", self.system.journals)
            for name, signal in record.JOURNALS.items():
                found[name] = self.table(self.system.journals, signal, "journal")
        return found

    def rigid(self) -> Variables:
        """Shares of time, largest forces and impulses of rigid contacts over all steps, and the list of impacts."""
        steps = max(1, int(self.simulation.steps[self.lane]))
        found: Variables = {}
        if self.mechanism.joints:
            impulses = [math.sqrt(self.largest(f"{j}.force.impulse")) for j in self.mechanism.joints]
            said = {"units": "N*s", "long_name": "largest impulse of a joint in a step with an impact"}
            found["joint_impulse"] = ("joint", impulses, said)
        shares = {what: np.array([self.number(f"{n}.{what}") / steps for n in self.labels])
                  for what in ("sliding", "sticking")}  # fmt: skip
        shares["free"] = 1 - shares["sliding"] - shares["sticking"]
        for what, share in shares.items():
            found[f"share_{what}"] = ("contact", share, {"units": "1", "long_name": f"share of time {what}"})
        counts = [int(self.number(f"{n}.impacts")) for n in self.labels]
        found["impacts"] = ("contact", counts, {"long_name": "impacts"})
        for what, end, unit, text in (
            ("normal", ".normal", "N", "largest normal force between impacts"),
            ("impulse", ".normal.impulse", "N*s", "largest normal impulse of an impact"),
        ):
            most = np.array([self.largest(n + end) for n in self.labels])
            found[f"peak_{what}"] = ("contact", most, {"units": unit, "long_name": text})
        return found | self.bores(steps) | self.listed("impacts", record.IMPACTS)

    def bores(self, steps: int) -> Variables:
        """How the corners of prismatic joints touch."""
        bores = [j for j in self.mechanism.loose(Rigid) if f"{j}.side" in self.run.places]
        if not bores:
            return {}
        table = np.array([[self.number(f"{j}.{what}") / steps for what in record.CORNERS] for j in bores])
        table = np.column_stack([1 - table.sum(axis=1), table])
        switches = [int(self.number(f"{j}.side switches")) for j in bores]
        return {
            "bore": ("bore", bores),
            "corners": ("corners", ["no contact", *record.CORNERS]),
            "share_corners": (("bore", "corners"), table, {"units": "1", "long_name": "share of time"}),
            "side_switches": ("bore", switches, {"long_name": "changes of the loaded side"}),
        }

    def listed(self, stream: str, units: Mapping[str, str]) -> Variables:
        """A list of impacts or of contacts that ended."""
        rows = self.run.rows(stream, self.lane)
        found: Variables = {f"impact_{name}": ("impact", rows[name], {"units": unit}) for name, unit in units.items()}
        found["impact_contact"] = ("impact", np.array(self.labels)[rows["contact"].astype(int)])
        return found

    def compliant(self) -> Variables:
        """The list of compliant contacts that ended, and the largest of their forces and depths."""
        found: Variables = {}
        for what, unit, text in (("normal", "N", "normal force"), ("depth", "m or rad", "depth")):
            greatest = [self.largest(f"{label}.{what}") for label in self.labels]
            found[f"peak_{what}"] = ("contact", greatest, {"units": unit, "long_name": f"largest {text}"})
        pressed = [self.largest(f"{joint}.pressed") for joint in self.mechanism.joints]
        said = {"units": "N", "long_name": "largest sum of the normal forces of a joint's contacts"}
        found["peak_normal_sum"] = ("joint", pressed, said)
        found |= self.listed("contacts", record.TOUCHES)
        ended = self.run.rows("contacts", self.lane)["contact"]
        count = [int((ended == i).sum()) for i in range(len(self.labels))]
        found["impacts"] = ("contact", count, {"long_name": "contacts that began and ended"})
        closed = np.column_stack([self.columns[label + record.MODE.end] for label in self.labels]) > 0.5
        found["share_free"] = ("contact", 1 - closed.mean(axis=0), {"units": "1", "long_name": "share of samples free"})
        return found

    # -- trust
    def audit(self) -> list[Entry]:
        """What makes the run trustworthy, judged by the run's own scales."""
        found = [
            Entry("position drift", max(self.largest("drift"), self.drift()), "m or rad"),
            Entry("energy imbalance", self.largest("imbalance"), "J"),
            Entry("peak kinetic energy", self.largest("kinetic", float(self.one.here.kinetic)), "J"),
        ]
        if self.stepper.impulsive:
            q, v = np.split(self.simulation.state[self.lane], 2)
            here = self.system.evaluate(q, v, float(self.simulation.time[self.lane]))
            off = float(np.abs(here.B @ v - here.speed).max(initial=0.0))
            found += [
                Entry("velocity drift at the end", off, "m/s or rad/s"),
                Entry("penetration", self.largest("penetration"), "m or rad"),
                Entry("play crossed in one step", self.largest("crossing"), "1"),
                Entry("contact violation", self.largest("violation"), "1"),
                Entry("unconverged steps", self.largest("steps.unconverged"), "1"),
                Entry("steps closed again", self.largest("steps.refined"), "1"),
                Entry("energy lost in impacts", self.number("impact.loss"), "J"),
                Entry("energy lost by friction", self.number("friction.loss"), "J"),
                Entry("energy created in impacts", self.largest("created"), "J"),
            ]
        if self.mechanism.isolated():
            found.append(Entry("momentum drift", self.largest("momentum"), "kg*m/s"))
            found.append(Entry("angular momentum drift", self.largest("momentum.angle"), "N*m*s"))
        found.append(Entry("conditioning at the start", self.one.freedom.conditioning, "1"))
        return judged(found, self.scales())

    def scales(self) -> dict[str, float]:
        """What the run's errors are measured by: energies, lengths, speeds, momenta, the smallest play."""
        here = self.one.here
        potential = float(here.potential)
        kinetic = self.largest("kinetic", float(here.kinetic))
        fallen = potential + self.largest("potential.fallen", -potential)
        pushed = self.columns.get("contact.normal.work", np.zeros(1)).max(initial=0.0)  # by what was pressed at first
        available = float(here.kinetic) + fallen + self.largest("work.turned") + float(pushed)
        energy = max(available, kinetic)
        length, steps = float(statics.sizes(self.system)[0]), float(self.simulation.steps[self.lane])
        rounding = ROUNDING * (abs(potential) + energy) * math.sqrt(1.0 + steps)
        rounding += NOTHING * length * float(np.abs(here.F).max(initial=0.0))
        balance = (IMPULSIVE if self.stepper.impulsive else SMOOTH) * energy + rounding
        plays = [joint.looseness for joint in self.mechanism.joints.values() if joint.loose and joint.looseness > 0]
        masses = np.diag(here.M)[::3]
        momentum = math.sqrt(2 * float(masses.sum()) * energy)
        rates = [np.abs(self.columns[f"{name}.rate"]).max(initial=0.0) for name in self.system.coordinates]
        return {
            "energy": energy + rounding,
            "balance": balance,
            "available": available + balance,
            "gap": min([GAP * length, *plays]),
            "rate": max(*rates, GAP),
            "momentum": momentum + GAP,
            "spin": momentum * length + GAP,
            "steps": steps + 1.0,
        }

    def drift(self) -> float:
        """What redundant rows leave open at some of the samples."""
        redundant, worst = self.one.freedom.redundant, 0.0
        if not redundant or not len(self.time):
            return 0.0
        kept = [i for i, row in enumerate(self.system.rows) if row in redundant]
        for i in np.unique(np.linspace(0, len(self.time) - 1, 20).astype(int)):
            q = [self.columns[name][i] for name in self.system.coordinates]
            residual = self.system.evaluate(q, t=self.time[i]).residual
            worst = max(worst, float(np.abs(residual[kept]).max(initial=0.0)))
        return worst

    # -- all of it
    def variables(self) -> Variables:
        """Variables beside the samples of bodies and joints."""
        found = self.peaks()
        found |= self.pushes()
        if self.labels:
            found |= self.contact_signals() | (self.rigid() if self.stepper.impulsive else self.compliant())
        if self.one.pilot:
            found |= self.one.pilot.signals(self.lasting, self.columns)
        return found

    def lasting(self, name: str) -> float:
        """A number that the control loop keeps, 0 before it does."""
        return self.number(name) if name in self.run.places else 0.0


def trust(entries: Sequence[Entry], outcome: Outcome, stepper: Stepper) -> dict[str, str]:
    """The audit and the judgement of a run as attributes of its result."""
    found, text = verdict(entries, outcome, stepper)
    written = json.dumps([entry._asdict() for entry in entries])
    return {"audit": written, "judgement": found, "judgement_text": text}


def dataset(simulation: Simulation, lane: int) -> Dataset:
    """The samples of a lane with peaks, outcome and audit."""
    reading = Reading(simulation, lane)
    one, outcome = simulation.each[lane], simulation.status[lane]
    remarks = one.pilot.remarks(reading.lasting) if one.pilot else []
    until = simulation.until if simulation.until is not None else float(simulation.time[lane])
    attrs = {
        "outcome": str(outcome.kind),
        "outcome_text": outcome.text,
        "outcome_time": outcome.time,
        "stepper": repr(simulation.stepper),
        "until": until,
        "every": simulation.every or until,
        "steps": int(simulation.steps[lane]),
        "attempts": int(simulation.run.steps_taken),
        "degrees_of_freedom": one.freedom.degrees,
        "redundant": json.dumps(list(one.freedom.redundant)),
        "notes": json.dumps([*reading.system.notes, *one.notes, *remarks]),
    }
    if one.pilot:
        attrs["settled"] = one.pilot.control.settled
    attrs |= trust(reading.audit(), outcome, simulation.stepper)
    result = results.from_columns(reading.system, reading.columns, attrs)
    return result.assign(reading.variables()) if len(reading.time) else result
