"""How runs end, and what every run has in common."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .. import results, statics
from ..run import Run
from ..system import System
from .steering import Pilot
from .steppers import Stepper

if TYPE_CHECKING:
    from xarray import Dataset


@dataclass(frozen=True)
class Outcome:
    """How a run ended: its kind, a sentence, and the time (s) that it reached."""

    kind: str
    text: str
    time: float

    @property
    def complete(self) -> bool:
        """Whether the run went where it was asked to go."""
        return self.kind == "done"


MEANINGS = "free impact sliding sticking"
# largest values of all steps: where they are kept, their dimension and unit
PEAKS = {
    "force": (".force", "joint", "N"),
    "moment": (".moment", "joint", "N*m"),
    "effort": (".effort", "drive", "N or N*m"),
}


class SimulationFailed(RuntimeError):
    """A run that ended early; `outcome` says how, `result` holds what was computed."""

    def __init__(self, outcome: Outcome, result: Dataset) -> None:
        super().__init__(outcome.text)
        self.outcome, self.result = outcome, result


class Journey(ABC):
    """One run of a stepper's text: its start, its program, its end.  Steppers differ in what they add."""

    run: Run
    freedom: statics.Freedom
    notes: list[str]
    peaks: ClassVar[Mapping[str, tuple[str, str, str]]] = PEAKS

    def __init__(self, system: System, stepper: Stepper, until: float, every: float) -> None:
        self.system, self.stepper, self.until, self.every = system, stepper, until, every
        self.notes = []
        self.pilot = Pilot(system, until) if system.mechanism.control else None

    # -- what steppers say for themselves
    @abstractmethod
    def time(self) -> float:
        """The time reached (s)."""

    @abstractmethod
    def expected(self) -> int:
        """About how many steps the run takes, for the time an eager run announces."""

    @abstractmethod
    def steps(self) -> int:
        """How many steps were taken."""

    def times(self) -> tuple[float, float]:
        """The end and the interval of samples (s) as whole steps make them."""
        return self.until, self.every

    def refused(self) -> Outcome | None:
        """An end before the first step."""
        return None

    def ended(self) -> Outcome | None:
        """An end that only this stepper knows, of a run that is done."""
        return None

    @abstractmethod
    def audit(self) -> dict[str, float]:
        """What makes the run trustworthy."""

    def columns(self) -> Mapping[str, np.ndarray]:
        """The samples."""
        return self.run.rows("samples")

    def extras(self) -> dict[str, Any]:
        """Variables beside the samples: peaks, events."""
        return {}

    # -- the same for all
    def go(self, progress: Callable[[float], None] | None, strict: bool) -> Outcome:
        """Run to the end; Ctrl-C ends a run that is not strict where it stands."""
        if self.freedom.passing:
            rows = ", ".join(self.freedom.passing)
            text = f"the start is a singular position: {rows} depend on other rows there, but not beside it; move it"
            return Outcome("near singular", text, 0.0)
        refused = self.refused()
        if refused is not None:
            return refused

        def told() -> bool:
            if progress is not None:
                progress(min(self.time(), self.until))
            return False

        try:
            if self.pilot and self.pilot.sampled:
                wrong = self.pilot.drive(self.run, self.time, told)
                if wrong:
                    return Outcome("controller failed", wrong, self.time())
            self.run.advance(until=told, expect=self.expected())
        except KeyboardInterrupt:
            if strict:
                raise
            time = self.time()
            return Outcome("interrupted", f"interrupted at t = {time:.6g} s of {self.until:g} s", time)
        return self.outcome()

    def outcome(self) -> Outcome:
        """How the run ended, from its status."""
        status, time = self.run.status[0], self.time()
        if status == "done":
            return self.ended() or Outcome("done", f"reached {self.until:g} s", self.until)
        said = self.pilot.ended(self.run, time) if self.pilot else None
        if said:
            return Outcome(said[0], said[1], time)
        if status == "singular pivot":
            text = f"the mechanism is near a singular position at t = {time:.6g} s: {self.singular()}"
            return Outcome("near singular", text, time)
        if status == "step too small":
            text = f"the step fell below round-off at t = {time:.6g} s; loosen rtol and atol, or look for a singularity"
            return Outcome("step too small", text, time)
        return Outcome(status, f"{self.run.explain()} at t = {time:.6g} s", time)

    def number(self, name: str) -> float:
        """The present value of a state, memory or accumulator; 0 if there is none (a revolute joint has no moment)."""
        return float(self.run[name][0]) if name in self.run.places else 0.0

    def singular(self) -> str:
        """The joints whose rows depend on each other at the last good state."""
        q = [float(self.run[name][0]) for name in self.system.coordinates]
        here = self.system.evaluate(q, t=self.time())
        kept = [i for i, row in enumerate(self.system.rows) if row not in self.freedom.redundant]
        left, *_ = np.linalg.svd(here.B[kept] / np.sqrt(np.diag(here.M)))
        shares = zip(np.abs(left[:, -1]), (self.system.rows[i] for i in kept), strict=True)
        worst = [row for share, row in sorted(shares, reverse=True) if share > 0.1]
        return "rows " + ", ".join(worst[:6]) + " depend on each other"

    def peak_forces(
        self,
        scale: Callable[[str, float], float] = lambda what, x: x,
        sampled: Mapping[str, tuple[list[float], list[float]]] | None = None,
    ) -> dict[str, Any]:
        """The largest joint forces and drive efforts over all steps, and over samples where those are given."""
        found: dict[str, Any] = {}
        mechanism = self.system.mechanism
        labels: dict[str, Any] = {"body": mechanism.bodies, "joint": mechanism.joints, "drive": mechanism.drives}
        for what, (end, dimension, unit) in self.peaks.items():
            names = list(labels[dimension])
            if names:
                text = {"units": unit, "long_name": f"largest {what.replace('_', ' ')} over all steps"}
                values = [scale(what, self.number(n + end)) for n in names]
                times = [self.number(f"{n}{end}.time") for n in names]
                if sampled and what in sampled:
                    for i, (most, at) in enumerate(zip(*sampled[what], strict=True)):
                        values[i], times[i] = (most, at) if most > values[i] else (values[i], times[i])
                found[f"peak_{what}"] = (dimension, values, text)
                found[f"peak_{what}_time"] = (dimension, times, {"units": "s"})
        return found

    def drift(self, columns: Mapping[str, np.ndarray]) -> float:
        """What all rows leave open at some of the samples, the redundant ones among them."""
        names, worst = self.system.coordinates, 0.0
        for i in np.unique(np.linspace(0, len(columns["time"]) - 1, 20).astype(int)) if len(columns["time"]) else ():
            q = [columns[name][i] for name in names]
            residual = self.system.evaluate(q, t=columns["time"][i]).residual
            kept = [x for x, row in zip(residual, self.system.rows, strict=True) if row in self.freedom.redundant]
            worst = max(worst, float(np.abs(kept).max(initial=0.0)))
        return worst

    def contact_signals(self, columns: Mapping[str, np.ndarray], modes: np.ndarray) -> dict[str, Any]:
        """Gap, slip, forces and mode of every contact, and the journal centres, over time."""
        labels, journals = self.system.contacts, self.system.journals
        found: dict[str, Any] = {"contact": ("contact", labels)}
        for name, end, unit, text in (
            ("gap", "gap", "m or rad", "gap of the contact"),
            ("slip", "slip", "m/s", "sliding velocity of the contact"),
            ("normal_force", "normal", "N", "normal force of the contact"),
            ("friction_force", "tangential", "N", "tangential force of the contact"),
        ):
            table = np.column_stack([columns[f"{label}.{end}"] for label in labels])
            found[name] = (("time", "contact"), table, {"units": unit, "long_name": text})
        flags = {"flag_values": np.arange(4, dtype=np.int8), "flag_meanings": MEANINGS}
        found["mode"] = (("time", "contact"), modes, {"long_name": "mode of the contact", **flags})
        if journals:
            found["journal"] = ("journal", journals)
            for axis in "xy":
                table = np.column_stack([columns[f"{joint}.place.{axis}"] for joint in journals])
                said = {"units": "m", "long_name": f"journal centre in its bearing, {axis} of the bearing's body"}
                found[f"place_{axis}"] = (("time", "journal"), table, said)
        return found

    def dataset(self, outcome: Outcome) -> Dataset:
        """The samples with peaks, outcome and audit."""
        columns = self.columns()
        found = self.audit()
        found["position drift (m or rad)"] = max(found["position drift (m or rad)"], self.drift(columns))
        audit = {k: (x if math.isfinite(x) else None) for k, x in found.items()}
        remarks = self.pilot.remarks(self.run) if self.pilot else []
        attrs = {
            "outcome": outcome.kind,
            "outcome_text": outcome.text,
            "outcome_time": outcome.time,
            "audit": json.dumps(audit),
            "stepper": repr(self.stepper),
            "until": self.until,
            "every": self.every,
            "steps": self.steps(),
            "attempts": int(self.run.steps_taken),
            "degrees_of_freedom": self.freedom.degrees,
            "redundant": json.dumps(list(self.freedom.redundant)),
            "notes": json.dumps([*self.system.notes, *self.notes, *remarks]),
        }
        if self.pilot:
            attrs["settled"] = self.pilot.control.settled
        result = results.from_columns(self.system, columns, attrs)
        more = self.pilot.signals(self.run, columns) if self.pilot and len(columns["time"]) else {}
        return result.assign(self.extras() | more) if len(columns["time"]) else result
