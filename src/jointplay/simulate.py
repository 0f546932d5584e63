"""Motion over time: simulate() runs a mechanism with a stepper and gives a Dataset with an outcome and an audit."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import results, statics
from .engine.program import trace
from .model.clearances import Following, Rigid
from .model.mechanism import Mechanism
from .physics import runge_kutta
from .run import Run
from .system import System

if TYPE_CHECKING:
    from xarray import Dataset

SAMPLES = 1000  # output intervals unless `every` says otherwise


@dataclass(frozen=True)
class RungeKutta:
    """Dormand and Prince's 5(4) pair with adaptive steps, projected on the constraints.

    rtol, atol: tolerated error of a step in every coordinate and rate, relative and absolute (SI); max_step (s):
    a hundredth of the run unless given.
    """

    rtol: float = 1e-8
    atol: float = 1e-10
    max_step: float | None = None

    def __post_init__(self) -> None:
        for name in ("rtol", "atol", "max_step"):
            x = getattr(self, name)
            if x is not None and not (_is_number(x) and x > 0):
                raise ValueError(f"RungeKutta: {name} must be a number > 0, got {x!r}")
        if self.rtol < 1e-14:
            raise ValueError(f"RungeKutta: rtol {self.rtol!r} is below what double precision can hold; use >= 1e-14")


@dataclass(frozen=True)
class FixedRungeKutta:
    """The fifth-order formula of the same pair with steps of one length (s), projected on the constraints."""

    step: float

    def __post_init__(self) -> None:
        if not (_is_number(self.step) and self.step > 0):
            raise ValueError(f"FixedRungeKutta: step must be a number of seconds > 0, got {self.step!r}")


Stepper = RungeKutta | FixedRungeKutta


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


class SimulationFailed(RuntimeError):
    """A run that ended early; `outcome` says how, `result` holds what was computed."""

    def __init__(self, outcome: Outcome, result: Dataset) -> None:
        super().__init__(outcome.text)
        self.outcome, self.result = outcome, result


def simulate(
    mechanism: Mechanism | System,
    until: float,
    stepper: Stepper | None = None,
    every: float | None = None,
    start: Mapping[str, float | str] | None = None,
    strict: bool = True,
    progress: Callable[[float], None] | None = None,
) -> Dataset:
    """The motion of a mechanism from time 0 to `until` (s), sampled every `every` seconds.

    start: start values in place of the mechanism's ("crank", "crank.rate"; the first are held, see
    `statics.assemble`). strict: a run that ends early raises SimulationFailed with its partial result, otherwise the
    partial result is returned; its attributes `outcome` and `outcome_text` say what happened. progress: is told the
    time reached, about twenty times a second.
    """
    stepper = stepper or RungeKutta()
    for name, x in (("until", until), ("every", every)):
        if x is not None and not (_is_number(x) and x > 0):
            raise ValueError(f"{name} must be a number of seconds > 0, got {x!r}")
    every = until / SAMPLES if every is None else every
    if every > until:
        raise ValueError(f"every = {every:g} s is longer than the run of {until:g} s; choose every <= until")
    if start:
        base = mechanism.mechanism if isinstance(mechanism, System) else mechanism
        mechanism = base.with_({f"start.{key}": x for key, x in start.items()})
    system = mechanism if isinstance(mechanism, System) else System(mechanism, 1.02 * until)
    journey = _Journey(system, stepper, until, every)
    outcome = journey.go(progress, strict)
    result = journey.dataset(outcome)
    if strict and not outcome.complete:
        raise SimulationFailed(outcome, result)
    return result


class _Journey:
    """One run of the Runge-Kutta text: its start, its program, its end."""

    def __init__(self, system: System, stepper: Stepper, until: float, every: float) -> None:
        self.system, self.stepper, self.until, self.every = system, stepper, until, every
        self.following = system.mechanism.loose(Following)
        for name in system.mechanism.loose(Rigid):
            raise ValueError(
                f"joint {name!r}: {type(stepper).__name__} computes permanent contact only, got a rigid contact; "
                "use contact: {kind: following}"
            )
        q, v = statics.start(system)
        self.freedom = statics.freedom(system, q)
        here = system.evaluate(q, v)
        a, multipliers = here.accelerations()
        power = here.power + multipliers @ here.speed
        rows = system.rows
        self.pushes = {joint: -float(multipliers[rows.index(f"{joint}.distance")]) for joint in self.following}
        fixed = isinstance(stepper, FixedRungeKutta)
        numbers: dict[str, Any] = {"until": until, "interval": every, "energy": here.kinetic + here.potential}
        if isinstance(stepper, FixedRungeKutta):
            numbers["step"] = h = stepper.step
        else:
            numbers["max_step"] = until / 100 if stepper.max_step is None else stepper.max_step
            numbers |= {"rtol": stepper.rtol, "atol": stepper.atol}
            h = min(1e-3, numbers["max_step"])
        state = runge_kutta.initial(system.coordinates, q, v, a, h, power, self.pushes)
        text = runge_kutta.stepper(system.equations(self.freedom.redundant), fixed)
        given = system.parameters | {f"stepper.{name}": float(x) for name, x in numbers.items()}
        blank = dict.fromkeys(state, 0.0)
        self.run = Run(trace(text, blank, given), given, state)
        self.begin(here.reactions @ multipliers, multipliers, here.kinetic)

    def begin(self, reactions: np.ndarray, multipliers: np.ndarray, kinetic: float) -> None:
        """Let the peaks start from what acts at time 0."""
        self.run["kinetic"], self.run["imbalance"], self.run["drift"] = kinetic, 0.0, 0.0
        for joint, (x, y, moment) in zip(self.system.mechanism.joints, reactions.reshape(-1, 3), strict=True):
            self.run[f"{joint}.force"], self.run[f"{joint}.moment"] = math.hypot(x, y), abs(moment)
        for row, x in zip(self.system.rows, multipliers, strict=True):
            if (drive := row.partition(".")[0]) in self.system.mechanism.drives:
                self.run[f"{drive}.effort"] = abs(x)
        for joint, push in self.pushes.items():
            self.run[f"{joint}.normal.most"], self.run[f"{joint}.normal.least"] = push, -push

    def go(self, progress: Callable[[float], None] | None, strict: bool) -> Outcome:
        """Run to the end; Ctrl-C ends a run that is not strict where it stands."""
        pulling = [j for j, push in self.pushes.items() if push < 0 and runge_kutta.stops(self.following[j])]
        if pulling:
            return Outcome(
                "contact lost",
                f"joint {pulling[0]!r} would pull with {-self.pushes[pulling[0]]:.4g} N already at the start; "
                "start with the journal on the loaded side, or set contact: {kind: following, on_loss: continue}",
                0.0,
            )

        def told() -> bool:
            if progress is not None:
                progress(float(min(self.run["t"][0], self.until)))
            return False

        try:
            self.run.advance(until=told, expect=round(self.until / float(self.run["h"][0])))
        except KeyboardInterrupt:
            if strict:
                raise
            time = float(self.run["t"][0])
            return Outcome("interrupted", f"interrupted at t = {time:.6g} s of {self.until:g} s", time)
        return self.outcome()

    def outcome(self) -> Outcome:
        """How the run ended, from its status."""
        run, time = self.run, float(self.run["t"][0])
        status = run.status[0]
        if status == "done" and self.following and run["contact.lost"][0]:
            row = {name: float(x[-1]) for name, x in run.rows("losses").items()}
            joint = list(self.following)[int(run["contact.lost"][0]) - 1]
            place, own = (math.degrees(math.remainder(row[a], math.tau)) for a in ("angle", "in_bearing"))
            text = (
                f"joint {joint!r} loses contact at t = {row['time']:.6f} s, "
                f"at {place:.2f} deg ({own:.2f} deg in its bearing)"
            )
            return Outcome("contact lost", text, row["time"])
        if status == "done":
            return Outcome("done", f"reached {self.until:g} s", self.until)
        if status == "singular pivot":
            text = f"the mechanism is near a singular position at t = {time:.6g} s: {self.singular()}"
            return Outcome("near singular", text, time)
        if status == "step too small":
            text = f"the step fell below round-off at t = {time:.6g} s; loosen rtol and atol, or look for a singularity"
            return Outcome("step too small", text, time)
        return Outcome(status, f"{run.explain()} at t = {time:.6g} s", time)

    def singular(self) -> str:
        """The joints whose rows depend on each other at the last good state."""
        coordinates = self.system.coordinates
        q = [float(self.run[name][0]) for name in coordinates]
        here = self.system.evaluate(q, t=float(self.run["t"][0]))
        kept = [i for i, row in enumerate(self.system.rows) if row not in self.freedom.redundant]
        left, *_ = np.linalg.svd(here.B[kept] / np.sqrt(np.diag(here.M)))
        shares = zip(np.abs(left[:, -1]), (self.system.rows[i] for i in kept), strict=True)
        worst = [row for share, row in sorted(shares, reverse=True) if share > 0.1]
        return "rows " + ", ".join(worst[:6]) + " depend on each other"

    def dataset(self, outcome: Outcome) -> Dataset:
        """The samples with peaks, outcome and audit."""
        run, system = self.run, self.system
        scale = max(float(run["kinetic"][0]), 0.0)
        audit = {
            "position drift (m or rad)": float(run["drift"][0]),
            "energy imbalance (J)": float(run["imbalance"][0]),
            "peak kinetic energy (J)": scale,
            "smallest conditioning at start": self.freedom.conditioning,
        }
        attrs = {
            "outcome": outcome.kind,
            "outcome_text": outcome.text,
            "outcome_time": outcome.time,
            "audit": json.dumps({k: (x if math.isfinite(x) else None) for k, x in audit.items()}),
            "stepper": repr(self.stepper),
            "until": self.until,
            "every": self.every,
            "steps": int(run["steps.taken"][0]),
            "attempts": int(run.steps_taken),
            "degrees_of_freedom": self.freedom.degrees,
            "redundant": json.dumps(list(self.freedom.redundant)),
        }
        columns = run.rows("samples")
        result = results.from_columns(system, columns, attrs)
        return result.assign(self.peaks()) if len(columns["time"]) else result

    def peaks(self) -> dict[str, Any]:
        """The largest forces over all steps, and contact losses."""
        run = self.run
        found: dict[str, Any] = {}
        joints, drives = list(self.system.mechanism.joints), list(self.system.mechanism.drives)
        kinds = [
            ("force", "joint", joints, "N"),
            ("moment", "joint", joints, "N*m"),
            ("effort", "drive", drives, "N or N*m"),
        ]
        for what, dimension, names, unit in kinds:
            if names:
                text = {"units": unit, "long_name": f"largest {what} over all steps"}
                found[f"peak_{what}"] = (dimension, [float(run[f"{n}.{what}"][0]) for n in names], text)
                times = [float(run[f"{n}.{what}.time"][0]) for n in names]
                found[f"peak_{what}_time"] = (dimension, times, {"units": "s"})
        if self.following:
            names = list(self.following)
            least = [-float(run[f"{j}.normal.least"][0]) for j in names]
            most = [float(run[f"{j}.normal.most"][0]) for j in names]
            found["least_normal"] = ("loose_joint", least, {"units": "N", "long_name": "least push over all steps"})
            found["peak_normal"] = ("loose_joint", most, {"units": "N", "long_name": "largest push over all steps"})
            found["loose_joint"] = ("loose_joint", names)
            losses = run.rows("losses")
            found["loss_time"] = ("loss", losses["time"], {"units": "s", "long_name": "where a contact begins to pull"})
            found["loss_joint"] = ("loss", [names[int(i) - 1] for i in losses["joint"]])
            text = {"units": "rad", "long_name": "direction from the bearing's centre to the journal's"}
            found["loss_angle"] = ("loss", losses["angle"], text)
            found["loss_angle_in_bearing"] = ("loss", losses["in_bearing"], {"units": "rad"})
        return found


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float | np.number) and not isinstance(x, bool) and math.isfinite(x)
