"""Runs by Runge-Kutta: ideal joints, permanent contact."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import statics
from ..engine.program import trace
from ..model.clearances import Following, Rigid
from ..model.parts import ModelError, Problem
from ..physics import permanent, runge_kutta
from ..physics.compliance import LANDED, SLOWEST, Compliance, law_states
from ..physics.motion import initial
from ..run import Run
from ..system import System
from .outcome import Journey, Outcome
from .steppers import FixedRungeKutta, RungeKutta


class SmoothJourney(Journey):
    """One run of the Runge-Kutta text."""

    def __init__(self, system: System, stepper: RungeKutta | FixedRungeKutta, until: float, every: float) -> None:
        super().__init__(system, stepper, until, every)
        mechanism, name = system.mechanism, type(stepper).__name__
        for joint in mechanism.loose(Rigid):
            text = f"{name} computes following and compliant contact, got a rigid one; use MoreauJean"
            raise ModelError(Problem(("joints", joint, "contact"), text))
        for joint in mechanism.stopped():
            raise ModelError(Problem(("joints", joint), f"{name} knows no stops; use MoreauJean"))
        self.following = mechanism.loose(Following)
        q, v = statics.start(system)
        self.freedom = statics.freedom(system, q)
        self.notes += statics.doubts(system, q, v)
        here = system.evaluate(q, v)
        a, multipliers = here.accelerations()
        if not np.isfinite(a).all():
            text = "the forces are not finite; a spring with a free length has no direction where its ends meet"
            raise ModelError(Problem(("start",), text))
        power = float(here.power + multipliers @ here.speed)
        self.pushes = {joint: -float(multipliers[system.rows.index(f"{joint}.distance")]) for joint in self.following}
        # a compliant contact that is closed at the start is taken as just begun
        began = [(1.0, max(-rate, SLOWEST)) if gap <= LANDED else (0.0, 1.0)
                 for gap, rate in zip(here.gaps, here.openings, strict=True)]  # fmt: skip
        self.labels = system.contacts
        laws = law_states(mechanism, self.labels)
        fixed = isinstance(stepper, FixedRungeKutta)
        strides, model = {}, []
        if self.pilot:
            strides = self.pilot.strides(stepper.step if isinstance(stepper, FixedRungeKutta) else None)
            laws |= self.pilot.continuous()
            model = [] if self.pilot.loop.digital else self.pilot.loop.guesses
            self.notes += self.pilot.notes(self.freedom.degrees, q, v)
        numbers: dict[str, Any] = {"until": until, "interval": every, "energy": here.kinetic + here.potential}
        if isinstance(stepper, FixedRungeKutta):
            numbers["step"] = h = stepper.step
        else:
            numbers["max_step"] = until / 100 if stepper.max_step is None else stepper.max_step
            numbers |= {"rtol": stepper.rtol, "atol": stepper.atol}
            h = min(1e-3, numbers["max_step"])
        begin = dict(zip(self.labels, began, strict=True))
        state = initial(system.coordinates, (q, v, a), h, power, self.pushes, begin, laws, model)
        labels = self.labels
        program = runge_kutta.stepper(
            system.equations(self.freedom.redundant), list(state), lambda text: Compliance(text, labels), fixed, strides
        )
        given = system.parameters | {f"stepper.{name}": float(x) for name, x in numbers.items()}
        self.run = Run(trace(program, dict.fromkeys(state, 0.0), given), given, state)
        if self.pilot:
            self.pilot.begin(self.run, q, v, h)
        self.begin(here.reactions @ multipliers, multipliers, here.kinetic)

    def begin(self, reactions: np.ndarray, multipliers: np.ndarray, kinetic: float) -> None:
        """Let the peaks start from what acts at time 0."""
        self.run["kinetic"], self.run["imbalance"], self.run["drift"] = kinetic, 0.0, 0.0
        for joint, (x, y, moment) in zip(self.system.mechanism.joints, reactions.reshape(-1, 3), strict=True):
            self.run[f"{joint}.force"] = math.hypot(x, y)
            if f"{joint}.moment" in self.run.places:
                self.run[f"{joint}.moment"] = abs(moment)
        for row, x in zip(self.system.rows, multipliers, strict=True):
            drive = row.partition(".")[0]
            if drive in self.system.mechanism.drives and f"{drive}.effort" in self.run.places:
                self.run[f"{drive}.effort"] = abs(x)
        for joint, push in self.pushes.items():
            self.run[f"{joint}.normal.most"], self.run[f"{joint}.normal.least"] = push, -push

    def time(self) -> float:
        return float(self.run["t"][0])

    def expected(self) -> int:
        return round(self.until / float(self.run["h"][0]))

    def steps(self) -> int:
        return int(self.run["steps.taken"][0])

    def refused(self) -> Outcome | None:
        pulling = [j for j, push in self.pushes.items() if push < 0 and permanent.stops(self.following[j])]
        if not pulling:
            return None
        text = (
            f"joint {pulling[0]!r} would pull with {-self.pushes[pulling[0]]:.4g} N already at the start; "
            "start with the journal on the loaded side, or set contact: {kind: following, on_loss: continue}"
        )
        return Outcome("contact lost", text, 0.0)

    def ended(self) -> Outcome | None:
        if not self.following or not self.run["contact.lost"][0]:
            return None
        row = {name: float(x[-1]) for name, x in self.run.rows("losses").items()}
        joint = list(self.following)[int(self.run["contact.lost"][0]) - 1]
        place, own = (math.degrees(math.remainder(row[a], math.tau)) for a in ("angle", "in_bearing"))
        text = (
            f"joint {joint!r} loses contact at t = {row['time']:.6f} s, "
            f"at {place:.2f} deg ({own:.2f} deg in its bearing)"
        )
        return Outcome("contact lost", text, row["time"])

    def audit(self) -> dict[str, float]:
        return {
            "position drift (m or rad)": float(self.run["drift"][0]),
            "energy imbalance (J)": float(self.run["imbalance"][0]),
            "peak kinetic energy (J)": float(self.run["kinetic"][0]),
            "conditioning at the start": self.freedom.conditioning,
        }

    def extras(self) -> dict[str, Any]:
        run, columns = self.run, self.columns()
        time = columns["time"]
        most: dict[str, tuple[list[float], list[float]]] = {"force": ([], []), "moment": ([], [])}
        for joint in self.system.mechanism.joints:
            force = np.hypot(columns[f"{joint}.force.x"], columns[f"{joint}.force.y"])
            for what, values in (("force", force), ("moment", np.abs(columns[f"{joint}.moment"]))):
                at = int(np.argmax(values))
                most[what][0].append(float(values[at]))
                most[what][1].append(float(time[at]))
        found = self.peak_forces(sampled=most)
        if self.following:
            names = list(self.following)
            least = [-float(run[f"{j}.normal.least"][0]) for j in names]
            strongest = [float(run[f"{j}.normal.most"][0]) for j in names]
            found["least_normal"] = ("loose_joint", least, {"units": "N", "long_name": "least push"})
            found["peak_normal"] = (
                "loose_joint",
                strongest,
                {"units": "N", "long_name": "largest push"},
            )
            found["loose_joint"] = ("loose_joint", names)
            losses = run.rows("losses")
            found["loss_time"] = ("loss", losses["time"], {"units": "s", "long_name": "where a contact begins to pull"})
            found["loss_joint"] = ("loss", [names[int(i) - 1] for i in losses["joint"]])
            text = {"units": "rad", "long_name": "direction from the bearing's centre to the journal's"}
            found["loss_angle"] = ("loss", losses["angle"], text)
            found["loss_angle_in_bearing"] = ("loss", losses["in_bearing"], {"units": "rad"})
        return found | (self.contacts() if self.labels else {})

    def contacts(self) -> dict[str, Any]:
        """Signals of compliant contacts, the list of those that ended, and the largest of their forces and depths."""
        columns, labels = self.columns(), self.labels
        closed = np.column_stack([columns[f"{label}.closed"] for label in labels]) > 0.5
        found = self.contact_signals(columns, np.where(closed, 2, 0).astype(np.int8))
        for name, text in (("normal", "normal forces"), ("friction", "friction")):
            said = {"units": "J", "long_name": f"work of the contacts' {text} on the bodies"}
            found[f"contact_{name}_work"] = ("time", columns[f"contact.{name}.work"], said)
        for what, unit, text in (("normal", "N", "normal force"), ("depth", "m or rad", "depth")):
            greatest = [max(0.0, self.number(f"{label}.{what}")) for label in labels]
            found[f"peak_{what}"] = (
                "contact",
                greatest,
                {"units": unit, "long_name": f"largest {text}"},
            )
        rows = self.run.rows("contacts")
        units = {"time": "s", "duration": "s", "approach": "m/s", "rebound": "m/s", "force": "N", "depth": "m or rad"}
        for name, unit in units.items():
            found[f"impact_{name}"] = ("impact", rows[name], {"units": unit})
        found["impact_contact"] = ("impact", np.array(labels)[rows["contact"].astype(int)])
        count = [int((rows["contact"] == i).sum()) for i in range(len(labels))]
        found["impacts"] = ("contact", count, {"long_name": "contacts that began and ended"})
        found["share_free"] = ("contact", 1 - closed.mean(axis=0), {"units": "1", "long_name": "share of samples free"})
        return found
