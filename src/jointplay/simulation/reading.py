"""From what a run has kept to a result: samples, peaks, contacts, control, audit, outcome."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import results, statics
from ..model.clearances import Rigid
from ..physics import record
from ..physics.record import Signal
from .auditing import NOTHING, audit, trust
from .course import FAR
from .remarks import remarks, shared

if TYPE_CHECKING:
    from xarray import Dataset

    from .simulation import Simulation

SLIDING = float(record.MEANINGS.index("sliding"))
TOUCHING = 1e-9  # m or rad: a contact that is closed at the start
Variables = dict[str, Any]
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
    """What one lane of a simulation has kept; late: since it counts as settled."""

    def __init__(self, simulation: Simulation, lane: int, late: bool = False) -> None:
        self.late = late  # only of what came after the run counted as settled
        self.before = simulation.earlier.get(lane)  # its words at that time
        self.simulation, self.lane, self.one = simulation, lane, simulation.each[lane]
        self.system, self.run, self.stepper = simulation.system(lane), simulation.run, simulation.stepper
        self.mechanism, self.labels = self.system.mechanism, self.system.contacts

    def number(self, name: str) -> float:
        """A sum over all steps."""
        now = float(self.run[name][self.lane])
        return now - self.earlier(name) if self.late else now

    def largest(self, name: str, least: float = 0.0) -> float:
        """A largest value of all steps; `least` where a run has none, as of the moment of a revolute joint."""
        return max(least, self.peak(name)[0]) if name in self.run.places else least

    def peak(self, name: str) -> tuple[float, float]:
        """A largest value of all steps, and when it was (s), 0 if that is not kept."""
        places = [self.run.places[n] for n in (name, f"{name}.time") if n in self.run.places]
        best = self.run.state_words[places, self.lane].view(np.float64).tolist()
        if self.before is not None and not self.late:
            best = max(self.before[places].view(np.float64).tolist(), best, key=lambda pair: pair[0])
        return best[0], best[1] if len(best) > 1 else 0.0

    def earlier(self, name: str) -> float:
        """A sum over all steps before the run counted as settled."""
        if self.before is None:
            return 0.0
        return float(self.before[self.run.places[name], None].view(np.float64)[0])

    @property
    def steps(self) -> int:
        """How many steps were taken."""
        taken = int(self.simulation.steps[self.lane])
        if self.late and self.before is not None:
            taken -= int(self.before[self.run.places["steps.taken"]])
        return taken

    @property
    def span(self) -> float:
        """The time that counts (s)."""
        time = float(self.simulation.time[self.lane])
        if self.late:
            time -= self.earlier("time")
        return max(time, 1e-300)

    def rows(self, stream: str) -> dict[str, np.ndarray]:
        """The rows of a stream."""
        found = self.run.rows(stream, self.lane)
        kept = found["time"] >= (self.simulation.settled[self.lane] if self.late else -math.inf)
        if "duration" in found:  # the last step may go beyond the end, and a contact end there
            kept &= found["time"] + found["duration"] <= self.simulation.ends[self.lane]
        if kept.all():
            return found
        return {name: values[kept] for name, values in found.items()}

    @property
    def time(self) -> np.ndarray:
        """The times of the samples (s)."""
        return self.columns["time"]

    @cached_property
    def columns(self) -> Mapping[str, np.ndarray]:
        """The samples; those of impulses begin after the first step, and the start comes before them."""
        rows = self.rows("samples")
        if not self.stepper.impulsive or self.late:
            return rows
        one, begun = self.one, self.run.rows("begun", self.lane) if "begun" in self.run.program.streams else {}
        known = {name: float(values[0]) for name, values in begun.items() if len(values)}
        early = {name.removeprefix("first."): known.pop(name) for name in [*known] if name.startswith("first.")}
        steered = np.array([known.pop(f"{name}.steered", 0.0) for name in one.system.coordinates])
        a, multipliers = one.here.accelerations(steered)
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
        if one.here.gaps.min(initial=math.inf) <= TOUCHING:  # what presses is known from the first step
            first |= early | self.touching(rows)
        table = np.vstack([[first.get(name, 0.0) for name in rows], np.transpose([*rows.values()])])
        return dict(zip(rows, table.T, strict=True))

    def touching(self, rows: Mapping[str, np.ndarray]) -> dict[str, float]:
        """Slip and mode of what touches at the start, before the first of the other samples."""
        one, found = self.one, dict[str, float]()
        resting = np.flatnonzero(one.here.gaps <= TOUCHING).tolist()
        slips = {i: float(row @ one.v) for i, (row, _) in statics.tangents(one.system, one.q, 0.0, resting).items()}
        for i in resting:
            slip, mode = (one.system.contacts[i] + signal.end for signal in (record.CONTACTS["slip"], record.MODE))
            slides = abs(slips.get(i, 0.0)) > record.STILL or not len(rows[mode])
            found |= {slip: slips.get(i, 0.0), mode: SLIDING if slides else max(SLIDING, float(rows[mode][0]))}
        return found

    def table(self, labels: Sequence[str], signal: Signal, dimension: str) -> Any:
        """A variable over time and labels."""
        values = np.column_stack([self.columns[label + signal.end] for label in labels])
        unit = self.unit(signal.unit) if dimension == "contact" else signal.unit
        return ("time", dimension), values, {"units": unit, "long_name": signal.text}

    def unit(self, unit: str) -> str:
        """A unit of these contacts."""
        return record.unit_in(unit, {self.mechanism.gap_unit(label) for label in self.labels})

    # -- peaks
    def peaks(self) -> Variables:
        """The largest joint forces, efforts and accelerations over all steps, and over the samples between them where
        forces have values at every time."""
        found: Variables = {}
        labels: dict[str, Any] = {
            "body": self.mechanism.bodies,
            "joint": self.mechanism.joints,
            "drive": [name for name in self.mechanism.drives if f"{name}.effort" in self.run.places],
        }
        for what, (end, dimension, unit) in (PEAKS if self.stepper.impulsive else SMOOTH_PEAKS).items():
            names = list(labels[dimension])
            if not names:
                continue
            values = [self.largest(n + end) for n in names]
            values = [math.sqrt(x) for x in values] if what == "force" else values
            times = [self.peak(n + end)[1] if n + end in self.run.places else 0.0 for n in names]
            for i, name in enumerate(names if not self.stepper.impulsive and len(self.time) else ()):
                sampled = self.sampled(what, name)
                at = int(np.argmax(sampled))
                if sampled[at] > values[i] or sampled[0] == values[i]:
                    values[i], times[i] = float(sampled[at]), float(self.time[at])
            if what == "moment" and any(values):  # no more than rounding beside the force
                least = NOTHING * float(statics.sizes(self.system)[0])
                values = [
                    x if x > least * self.largest(n + ".force") ** 0.5 else 0.0
                    for n, x in zip(names, values, strict=True)
                ]
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
        start = {
            joint: (push, -push) if not self.late else (-math.inf, -math.inf) for joint, push in self.one.pushes.items()
        }
        least = [-self.largest(f"{j}.push.least", start[j][1]) for j in names]
        most = [self.largest(f"{j}.push.most", start[j][0]) for j in names]
        losses = self.rows("losses")
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
        steps, found = self.span if self.stepper.adaptive else max(1, self.steps), Variables()  # shares in s, or steps
        if self.mechanism.joints:
            impulses = [math.sqrt(self.largest(f"{j}.force.impulse")) for j in self.mechanism.joints]
            said = {"units": "N*s", "long_name": "largest impulse of a joint in a step with an impact"}
            found["joint_impulse"] = ("joint", impulses, said)
        kinds = ("sliding", "sticking")
        shares = {what: np.array([self.number(f"{n}.{what}") / steps for n in self.labels]) for what in kinds}
        shares["free"] = rest(shares["sliding"] + shares["sticking"])
        for what, share in shares.items():
            found[f"share_{what}"] = ("contact", share, {"units": "1", "long_name": f"share of time {what}"})
        counts = [int(self.number(f"{n}.impacts")) for n in self.labels]
        found["impacts"] = ("contact", counts, {"long_name": "impacts"})
        for what, end, unit, text in (
            ("normal", ".normal", "N", "largest normal force between impacts"),
            ("impulse", ".normal.impulse", "N*s", "largest normal impulse of an impact"),
        ):
            most = np.array([self.largest(n + end) for n in self.labels])
            found[f"peak_{what}"] = ("contact", most, {"units": self.unit(unit), "long_name": text})
        return found | self.bores(steps) | self.listed("impacts", record.IMPACTS)

    def bores(self, steps: float) -> Variables:
        """How the corners of prismatic joints touch."""
        bores = [j for j in self.mechanism.loose(Rigid) if f"{j}.side" in self.run.places]
        if not bores:
            return {}
        corners = np.array([[self.number(f"{j}.{what}") / steps for what in record.CORNERS] for j in bores])
        table, said = np.c_[rest(corners.sum(axis=1)), corners], {"units": "1", "long_name": "share of time"}
        switches = [int(self.number(f"{j}.side switches")) for j in bores]
        return {
            "bore": ("bore", bores),
            "corners": ("corners", ["no contact", *record.CORNERS]),
            "share_corners": (("bore", "corners"), table, said),
            "side_switches": ("bore", switches, {"long_name": "changes of the loaded side"}),
        }

    def listed(self, stream: str, units: Mapping[str, str]) -> Variables:
        """A list of impacts or of contacts that ended."""
        rows, said = self.rows(stream), {name: {"units": self.unit(unit)} for name, unit in units.items()}
        found: Variables = {f"impact_{name}": ("impact", rows[name], said[name]) for name in units}
        found["impact_contact"] = ("impact", np.array(self.labels)[rows["contact"].astype(int)])
        return found

    def compliant(self) -> Variables:
        """The list of compliant contacts that ended, and the largest of their forces and depths."""
        found: Variables = {}
        for what, unit, text in (("normal", "N", "normal force"), ("depth", "m", "depth")):
            greatest = [self.largest(f"{label}.{what}") for label in self.labels]
            found[f"peak_{what}"] = ("contact", greatest, {"units": self.unit(unit), "long_name": f"largest {text}"})
        pressed = [self.largest(f"{joint}.pressed") for joint in self.mechanism.joints]
        said = {"units": "N", "long_name": "largest sum of the normal forces of a joint's contacts"}
        found["peak_normal_sum"] = ("joint", pressed, said)
        found |= self.listed("contacts", record.TOUCHES)
        ended = self.rows("contacts")["contact"]
        more = {} if self.late else self.run.beyond["contacts"][self.lane]  # which are not listed
        count = [int((ended == i).sum()) + more.get(float(i), 0) for i in range(len(self.labels))]
        found["impacts"] = ("contact", count, {"long_name": "contacts that began and ended"})
        closed, time = [self.number(f"{label}.closed") for label in self.labels], self.number("contacts.time")
        free = rest(np.array(closed) / max(time, 1e-300))
        found["share_free"] = ("contact", free, {"units": "1", "long_name": "share of time free"})
        return found

    def stored(self) -> Variables:
        """What compliant contacts hold at the end and did not at the start, or where the run counted as settled (J)."""
        rows = self.run.rows("samples", self.lane)
        if not self.labels or self.stepper.impulsive or not len(rows["time"]):
            return {}
        gaps = np.array([rows[label + record.CONTACTS["gap"].end] for label in self.labels])
        first, last = gaps[:, 0], gaps[:, -1]
        if self.late:
            first = self.system.evaluate([*map(self.earlier, self.system.coordinates)], t=self.earlier("time")).gaps
        joints = [self.system.mechanism.joints[self.system.mechanism.owner(label)] for label in self.labels]
        held = [sum(map(statics.stored, joints, -depths)) for depths in (first, last)]
        return {"contact_stored": ((), held[1] - held[0], {"units": "J", "long_name": "energy stored in contacts"})}

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

    def settled(self) -> Variables:
        """Peaks, shares, impacts and losses since the run counts as settled, by their names with `_settled`."""
        found = self.peaks() | self.pushes() | self.stored()
        if self.labels:
            found |= self.rigid() if self.stepper.impulsive else self.compliant()
        rows = self.run.rows("samples", self.lane)  # the last step may go beyond the end, the last sample does not
        for name, signal in record.ENERGIES.items():
            if signal.end in self.run.places and signal.end not in ("kinetic", "potential"):
                value = rows[signal.end][-1] - self.earlier(signal.end) if len(rows["time"]) else 0.0
                found[name] = ((), float(value), {"units": signal.unit, "long_name": signal.text})
        kept: Variables = {}
        since = self.simulation.settled[self.lane]
        for name, (dims, values, *said) in found.items():
            if dims not in ("impact", "loss") and name != dims and np.issubdtype(np.asarray(values).dtype, np.number):
                text = f"{said[0].get('long_name', name) if said else name}, from {since:g} s on"
                place = f"{name.removesuffix('_time')}_settled{'_time' if name.endswith('_time') else ''}"
                kept[place] = (dims, values, {**(said[0] if said else {}), "long_name": text})
        return kept

    def lasting(self, name: str) -> float:
        """A number that the control loop keeps, 0 before it does."""
        return float(self.run[name][self.lane]) if name in self.run.places else 0.0


def rest(shares: np.ndarray) -> np.ndarray:
    """What is left of a whole; 0 where it is less than sums are rounded."""
    return np.where(np.abs(left := 1 - shares) < 1e-12, 0.0, left)


def dataset(simulation: Simulation, lane: int) -> Dataset:
    """The samples of a lane with peaks, outcome and audit."""
    reading = Reading(simulation, lane)
    one, outcome = simulation.each[lane], simulation.status[lane]
    among = shared(reading)
    until = simulation.until if simulation.until is not None else float(simulation.time[lane])
    until = max(until, simulation.asked) if simulation.asked < FAR else until
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
        "open_reactions": json.dumps(among),
        "notes": json.dumps([*reading.system.notes, *one.notes, *remarks(reading, outcome, among)]),
    }
    if reading.before is not None:
        attrs["settled"] = simulation.settled[lane]
    elif one.pilot:
        attrs["settled"] = one.pilot.control.settled
    if one.pilot:
        attrs["control_settled"] = one.pilot.control.settled  # its own, if it has one
    attrs |= trust(audit(reading), outcome, simulation.stepper)
    others: Variables = {}
    if len(reading.time):
        late = Reading(simulation, lane, late=True).settled() if reading.before is not None else {}
        others = reading.variables() | reading.stored() | late
    return results.from_columns(reading.system, reading.columns, attrs, others)
