"""Runs by Runge-Kutta: ideal joints, permanent and compliant contact."""

from __future__ import annotations

import contextlib
import math
from typing import Any, ClassVar

import numpy as np

from .. import statics
from ..engine.program import trace
from ..laws.materials import STEPS, impact
from ..model.clearances import Compliant, Following, Rigid
from ..model.joints import play
from ..model.parts import ModelError, Problem
from ..physics import permanent, runge_kutta
from ..physics.compliance import DEEPEST, LANDED, SLOWEST, Compliance, law_states
from ..physics.motion import MOMENTA, initial
from ..run import Run
from ..system import System
from .outcome import PEAKS, Journey, Outcome
from .steppers import FixedRungeKutta, RungeKutta

ACCELERATIONS = {"x": "m/s^2", "y": "m/s^2", "angle": "rad/s^2"}
# variables whose samples may exceed what the ends of steps have seen
SAMPLED = {"force_x": ".force.x", "force_y": ".force.y", "moment": ".moment"}
SAMPLED |= {f"{part}_acceleration": f".{part}.acceleration" for part in ACCELERATIONS}


class SmoothJourney(Journey):
    """One run of the Runge-Kutta text."""

    peaks: ClassVar = {
        **PEAKS,
        "force_x": (".force.x", "joint", "N"),
        "force_y": (".force.y", "joint", "N"),
        **{f"{part}_acceleration": (f".{part}.largest", "body", unit) for part, unit in ACCELERATIONS.items()},
    }

    def __init__(self, system: System, stepper: RungeKutta | FixedRungeKutta, until: float, every: float) -> None:
        super().__init__(system, stepper, until, every)
        mechanism, name = system.mechanism, type(stepper).__name__
        for joint in mechanism.loose(Rigid):
            text = f"{name} computes following and compliant contact, got a rigid one; use MoreauJean"
            raise ModelError(Problem(("joints", joint, "contact"), text))
        for joint in mechanism.stopped():
            raise ModelError(Problem(("joints", joint), f"{name} knows no stops; use MoreauJean"))
        self.following, self.loose = mechanism.loose(Following), mechanism.loose(Compliant)
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
        fixed = stepper.order if isinstance(stepper, FixedRungeKutta) else 0
        strides, model = {}, []
        if self.pilot:
            strides = self.pilot.strides(stepper.step if isinstance(stepper, FixedRungeKutta) else None)
            laws |= self.pilot.continuous()
            model = [] if self.pilot.loop.digital else self.pilot.loop.guesses
            self.notes += statics.loop_doubts(system, q, self.freedom.degrees, until)
        numbers: dict[str, Any] = {"until": until, "interval": every, "energy": here.kinetic + here.potential}
        if isinstance(stepper, FixedRungeKutta):
            numbers["step"] = h = stepper.step
        else:
            numbers["max_step"] = until / 100 if stepper.max_step is None else stepper.max_step
            numbers |= {"rtol": stepper.rtol, "atol": stepper.atol}
            h = min(1e-3, numbers["max_step"])
        self.isolated = mechanism.isolated()
        if self.isolated:
            first = system.equations()(system.parameters).momenta(q.tolist(), v.tolist())
            numbers |= {f"momentum.{part}": x for part, x in zip(MOMENTA, first, strict=True)}
        begin = dict(zip(self.labels, began, strict=True))
        state = initial(system.coordinates, (q, v, a), h, power, self.pushes, begin, laws, model)
        labels = self.labels
        program = runge_kutta.stepper(
            system.equations(self.freedom.redundant),
            list(state),
            lambda text: Compliance(text, labels, bool(fixed)),
            fixed,
            strides,
        )
        given = system.parameters | {f"stepper.{name}": float(x) for name, x in numbers.items()}
        self.run = Run(trace(program, dict.fromkeys(state, 0.0), given), given, state)
        if self.pilot:
            self.pilot.begin(self.run, q, v, h)
        self.run["kinetic"], self.run["imbalance"], self.run["drift"] = here.kinetic, 0.0, 0.0
        if not any(closed for closed, _ in began):  # these know nothing of contacts
            self.begin(a, here.reactions @ multipliers, multipliers)

    def begin(self, accelerations: np.ndarray, reactions: np.ndarray, multipliers: np.ndarray) -> None:
        """Let the peaks start from what acts at time 0."""
        for name, x in zip(self.system.coordinates, accelerations, strict=True):
            self.run[f"{name}.largest"] = abs(x)
        for joint, (x, y, moment) in zip(self.system.mechanism.joints, reactions.reshape(-1, 3), strict=True):
            self.run[f"{joint}.force"] = math.hypot(x, y)
            self.run[f"{joint}.force.x"], self.run[f"{joint}.force.y"] = abs(x), abs(y)
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
        if self.number("contact.deep"):
            return self.too_long(int(self.number("contact.deep")) - 1)
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

    def outcome(self) -> Outcome:
        """How the run ended; where numbers overflow in a contact, which step would be short enough."""
        found = super().outcome()
        if found.kind != "non-finite" or not self.labels or isinstance(self.stepper, RungeKutta):
            return found
        gaps = self.system.evaluate([self.number(f"{name}.x0") for name in self.system.coordinates]).gaps
        label, remedy = self.shorter(int(np.argmin(gaps)))
        text = f"{found.text}; the step of {self.stepper.step:g} s may be too long for contact {label!r}: {remedy}"
        return Outcome(found.kind, text, found.time)

    def too_long(self, contact: int) -> Outcome:
        """The end of a run in which a contact was too deep at the end of its first step."""
        time, h = self.time(), self.number("h0")
        q = [self.number(name) for name in self.system.coordinates]
        depth = -float(self.system.evaluate(q, t=time).gaps[contact])
        label, remedy = self.shorter(contact)
        joint = self.loose[label.partition(".")[0]]
        text = (
            f"contact {label!r} is {depth:.4g} deep (m; rad in a gear) at the end of its first step, t = {time:.6g} s: "
            f"more than {100 * DEEPEST:g} % of the clearance of {play(joint):g}. "
            f"The step of {h:.3g} s is too long; {remedy}"
        )
        return Outcome("step too long", text, time)

    def shorter(self, contact: int) -> tuple[str, str]:
        """A contact, and the step that resolves it: of its depth and, by an impact of one mass, of its duration."""
        label = self.labels[contact]
        joint = self.loose[label.partition(".")[0]]
        q, v = ([self.number(f"{name}.{part}") for name in self.system.coordinates] for part in ("x0", "v0"))
        t = self.number("t0")  # where the last step began
        here = self.system.evaluate(q, v, t)
        closed = self.number(f"{label}.closed") > 0.5
        approach = self.number(f"{label}.approach") if closed else max(-float(here.openings[contact]), SLOWEST)
        steps = [0.5 * DEEPEST * play(joint) / approach]
        normal = np.array([self.system.evaluate(q, rates, t).openings[contact] for rates in np.eye(len(q))])
        weight = np.linalg.solve(here.M, np.column_stack([normal, here.B.T]))
        part = np.linalg.lstsq(here.B @ weight[:, 1:], here.B @ weight[:, 0], rcond=None)[0]
        softness = float(normal @ (weight[:, 0] - weight[:, 1:] @ part))  # 1/kg: of the mechanism at the contact
        chosen = joint.contact.normal  # type: ignore[union-attr]
        sizes = {name: float(getattr(joint, name)) for name in chosen.law.geometry}
        if softness > 0:
            with contextlib.suppress(ValueError):  # overdamped: no such impact ends
                steps.append(impact(chosen.law, 1 / softness, approach, **chosen.values, **sizes).duration / STEPS)
        step = float(f"{min(steps):.1g}")
        if isinstance(self.stepper, RungeKutta):
            return label, f"use smaller rtol and atol, or a max_step of {step:g} s or less"
        return label, f"use a step of {step:g} s or less, or RungeKutta(), which chooses its own"

    def audit(self) -> dict[str, float]:
        found = {
            "position drift (m or rad)": self.number("drift"),
            "energy imbalance (J)": self.number("imbalance"),
            "peak kinetic energy (J)": self.number("kinetic"),
        }
        if self.isolated:
            found["momentum drift (kg*m/s)"] = max(0.0, self.number("momentum"))
            found["angular momentum drift (N*m*s)"] = max(0.0, self.number("momentum.angle"))
        return found | {"conditioning at the start": self.freedom.conditioning}

    def extras(self) -> dict[str, Any]:
        run, columns = self.run, self.columns()
        time = columns["time"]
        most: dict[str, tuple[list[float], list[float]]] = {}
        mechanism = self.system.mechanism
        for what in ("force", *SAMPLED):
            for name in mechanism.bodies if what.endswith("acceleration") else mechanism.joints:
                parts = (".force.x", ".force.y") if what == "force" else (SAMPLED[what],)
                values = np.hypot.reduce([columns[name + part] for part in parts])
                at = int(np.argmax(values))
                kept = most.setdefault(what, ([], []))
                kept[0].append(float(values[at]))
                kept[1].append(float(time[at]))
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
        joints = list(self.system.mechanism.joints)
        pressed = [max(0.0, self.number(f"{joint}.pressed")) for joint in joints]
        said = {"units": "N", "long_name": "largest sum of the normal forces of a joint's contacts"}
        found["peak_normal_sum"] = ("joint", pressed, said)
        rows = self.run.rows("contacts")
        units = {"time": "s", "duration": "s", "approach": "m/s", "rebound": "m/s", "force": "N", "depth": "m or rad"}
        for name, unit in units.items():
            found[f"impact_{name}"] = ("impact", rows[name], {"units": unit})
        found["impact_contact"] = ("impact", np.array(labels)[rows["contact"].astype(int)])
        count = [int((rows["contact"] == i).sum()) for i in range(len(labels))]
        found["impacts"] = ("contact", count, {"long_name": "contacts that began and ended"})
        found["share_free"] = ("contact", 1 - closed.mean(axis=0), {"units": "1", "long_name": "share of samples free"})
        return found
