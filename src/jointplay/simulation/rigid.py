"""Runs by Moreau-Jean time stepping: rigid contact with impacts and friction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .. import statics
from ..engine.program import trace
from ..model.clearances import Compliant, Following, Rigid
from ..model.joints import Revolute
from ..model.parts import ModelError, Problem
from ..physics import moreau
from ..run import Run
from ..system import Equations, System
from .outcome import Journey
from .steppers import MoreauJean

MODES = np.array([0, 2, 2, 3, 1], np.int8)  # by the mode in the text
CORNERS = ("one corner", "two opposite corners", "two corners on one side")
TOUCHING = 1e-9  # m or rad: a start that penetrates less is taken as it is


class RigidJourney(Journey):
    """One run of the Moreau-Jean text."""

    def __init__(self, system: System, stepper: MoreauJean, until: float, every: float, reclose: bool = False) -> None:
        super().__init__(system, stepper, until, every)
        for kind in (Following, Compliant):
            for joint in system.mechanism.loose(kind):
                got = f"got a {kind.__name__.lower()} one"
                text = f"MoreauJean computes rigid contact, {got}; use RungeKutta, or make all contacts rigid"
                raise ModelError(Problem(("joints", joint, "contact"), text))
        for name, revolute in system.mechanism.joints.items():
            if isinstance(revolute, Revolute) and revolute.pin_friction and not revolute.clearance:
                text = "MoreauJean knows no friction in ideal joints; use RungeKutta, or leave it out"
                raise ModelError(Problem(("joints", name, "pin_friction"), text))
        self.h = stepper.step
        self.count, self.stride = max(1, round(until / self.h)), max(1, round(every / self.h))
        self.q, self.v = statics.start(system, reclose)
        self.freedom = statics.freedom(system, self.q)
        self.notes += statics.doubts(system, self.q, self.v)
        self.here = system.evaluate(self.q, self.v)
        self.open(self.here)
        if self.pilot:
            self.notes += statics.loop_doubts(system, self.q, self.freedom.degrees, until)
        program = moreau.stepper(
            system.equations(self.freedom.redundant),
            stepper.theta,
            stepper.projection == "combined",
            stepper.forces == "midpoint",
            self.pilot.strides(self.h) if self.pilot else {},
        )
        state = dict(zip(system.coordinates, self.q.tolist(), strict=True))
        state |= {f"{name}.rate": x for name, x in zip(system.coordinates, self.v.tolist(), strict=True)}
        energy = self.here.kinetic + self.here.potential
        given = system.parameters | {"stepper.step": float(self.h), "stepper.energy": float(energy)}
        given |= {"stepper.steps": self.count, "stepper.every": self.stride}
        self.run = Run(trace(program, dict.fromkeys(state, 0.0), given), given, state)
        if self.pilot:
            self.pilot.begin(self.run, self.q, self.v, self.h)

    def open(self, here: Equations) -> None:
        """Refuse a start in penetration; note a step too long for the play."""
        depths = dict(zip(self.system.contacts, -here.gaps, strict=True))
        worst = max(depths, key=lambda label: depths[label], default=None)
        if worst is not None and depths[worst] > TOUCHING:
            start = ", ".join(key for key in self.system.mechanism.start if not key.endswith("rate"))
            text = (
                f"penetrates {worst!r} by {depths[worst]:.4g} m or rad, with {start}; give other or fewer values, "
                "or re-close it from the first of them with reclose=True (command line: --reclose)"
            )
            raise ModelError(Problem(("start",), text))
        plays = [
            x for a, x in self.system.mechanism.addresses().items() if a.endswith((".clearance", ".play")) and x > 0
        ]
        pulls = np.abs(np.linalg.solve(here.M, here.F)).reshape(-1, 3)[:, :2]  # of mass centres (m/s^2)
        moved = (
            self.system.evaluate(self.q + 1e-7 * self.v).places - here.places
        )  # a journal in the middle has no gap rate
        speed = max(np.abs(here.openings).max(initial=0.0), 1e7 * np.hypot(*moved.reshape(-1, 2).T).max(initial=0.0))
        pull = pulls.max(initial=0.0)
        if plays and (pull > 0 or speed > 0):
            flights = [math.sqrt(2 * min(plays) / pull)] if pull > 0 else []
            flight = min([*flights, *([2 * min(plays) / speed] if speed > 0 else [])])
            if self.h > 0.1 * flight:
                self.notes.append(
                    f"the step of {self.h:g} s is long beside the {flight:.2g} s in which the play of {min(plays):g} "
                    f"is crossed; use {0.01 * flight:.1g} s or less"
                )

    def time(self) -> float:
        return self.h * self.steps()

    def times(self) -> tuple[float, float]:
        return self.count * self.h, self.stride * self.h

    def expected(self) -> int:
        return self.count

    def steps(self) -> int:
        return int(self.run["step"][0])

    def audit(self) -> dict[str, float]:
        q, v = ([self.number(c + end) for c in self.system.coordinates] for end in ("", ".rate"))
        here = self.system.evaluate(q, v, self.time())
        found = {
            "position drift (m or rad)": self.number("drift"),
            "velocity drift at the end (m/s or rad/s)": float(np.abs(here.B @ v - here.speed).max(initial=0.0)),
            "penetration (m or rad)": self.number("penetration"),
            "contact violation (relative)": max(0.0, self.number("violation")),
            "unconverged steps": self.number("steps.unconverged"),
            "steps closed again": self.number("steps.refined"),
            "energy imbalance (J)": self.number("imbalance"),
            "peak kinetic energy (J)": self.number("kinetic"),
            "energy lost in impacts (J)": self.number("loss.impact"),
            "energy lost by friction (J)": self.number("loss.friction"),
            "conditioning at the start": self.freedom.conditioning,
        }
        if self.system.mechanism.isolated():
            columns, text = self.columns(), self.system.equations()(self.system.parameters)
            at, rates = ([columns[c + end] for c in self.system.coordinates] for end in ("", ".rate"))
            off = [float(np.abs(x - x[0]).max()) for x in text.momenta(at, rates)]
            found["momentum drift (kg*m/s)"], found["angular momentum drift (N*m*s)"] = max(off[:2]), off[2]
        created = self.number("created")
        if created > 1e-12 * max(found["peak kinetic energy (J)"], 1e-300):
            found["impact created energy (J)"] = created
        return found

    def columns(self) -> Mapping[str, np.ndarray]:
        """The samples, with the start as the first."""
        begun = self.run.rows("begun") if self.pilot else {}
        known = {name: float(values[0]) for name, values in begun.items() if len(values)}
        steered = np.array([known.pop(f"{name}.steered", 0.0) for name in self.system.coordinates])
        a, multipliers = replace(self.here, F=self.here.F + steered).accelerations()
        first: dict[str, float] = {"kinetic": self.here.kinetic, "potential": self.here.potential, **known}
        for end, values in (("", self.q), (".rate", self.v), (".acceleration", a)):
            first |= {name + end: x for name, x in zip(self.system.coordinates, values, strict=True)}
        reactions = (self.here.reactions @ multipliers).reshape(-1, 3)
        for joint, parts in zip(self.system.mechanism.joints, reactions, strict=True):
            first |= {f"{joint}.{part}": x for part, x in zip(("force.x", "force.y", "moment"), parts, strict=True)}
        first |= {f"{row}.multiplier": x for row, x in zip(self.system.rows, multipliers, strict=True)}
        first |= {f"{label}.gap": x for label, x in zip(self.system.contacts, self.here.gaps, strict=True)}
        for joint, (x, y) in zip(self.system.journals, self.here.places, strict=True):
            first |= {f"{joint}.place.x": x, f"{joint}.place.y": y}
        return {name: np.append(first.get(name, 0.0), values) for name, values in self.run.rows("samples").items()}

    def extras(self) -> dict[str, Any]:
        found, labels = self.peak_forces(lambda what, x: math.sqrt(max(x, 0.0)) / self.h), self.system.contacts
        if self.system.contacts and self.system.mechanism.joints:
            impulses = [math.sqrt(max(self.number(f"{j}.force.impulse"), 0.0)) for j in self.system.mechanism.joints]
            said = {"units": "N*s", "long_name": "largest impulse of a joint in a step with an impact"}
            found["joint_impulse"] = ("joint", impulses, said)
        columns = self.columns()
        for name, text in (("impact", "energy lost in impacts"), ("friction", "energy lost by friction")):
            found[f"{name}_loss"] = ("time", columns[f"{name}.loss"], {"units": "J", "long_name": text})
        if not labels:
            return found
        modes = MODES[np.column_stack([columns[f"{label}.mode"] for label in labels]).astype(int)]
        found |= self.contact_signals(columns, modes)
        return found | self.statistics() | self.impacts()

    def statistics(self) -> dict[str, Any]:
        """Shares of time, largest forces and impulses of the contacts over all steps."""
        labels, steps = self.system.contacts, max(1, self.steps())
        found: dict[str, Any] = {}
        shares = {
            what: np.array([self.number(f"{n}.{what}") / steps for n in labels]) for what in ("sliding", "sticking")
        }
        shares["free"] = 1 - shares["sliding"] - shares["sticking"]
        for what, share in shares.items():
            found[f"share_{what}"] = ("contact", share, {"units": "1", "long_name": f"share of time {what}"})
        found["impacts"] = ("contact", [int(self.number(f"{n}.impacts")) for n in labels], {"long_name": "impacts"})
        for what, unit, text in (
            ("normal", "N", "largest normal force between impacts"),
            ("impulse", "N*s", "largest normal impulse of an impact"),
        ):
            most = np.array([max(0.0, self.number(f"{n}.{what}")) for n in labels])
            found[f"peak_{what}"] = (
                "contact",
                most / (self.h if unit == "N" else 1),
                {"units": unit, "long_name": text},
            )
        bores = [j for j in self.system.mechanism.loose(Rigid) if f"{j}.side" in self.run.places]
        if bores:
            found["bore"] = ("bore", bores)
            table = np.array([[self.number(f"{j}.{what}") / steps for what in CORNERS] for j in bores])
            table = np.column_stack([1 - table.sum(axis=1), table])
            found["corners"] = ("corners", ["no contact", *CORNERS])
            found["share_corners"] = (("bore", "corners"), table, {"units": "1", "long_name": "share of time"})
            switches = [int(self.number(f"{j}.side switches")) for j in bores]
            found["side_switches"] = ("bore", switches, {"long_name": "changes of the loaded side"})
        return found

    def impacts(self) -> dict[str, Any]:
        """The list of impacts."""
        rows = self.run.rows("impacts")
        labels = np.array(self.system.contacts)
        units = {"time": "s", "angle": "rad", "approach": "m/s", "normal": "N*s", "tangential": "N*s", "lost": "J"}
        found: dict[str, Any] = {f"impact_{name}": ("impact", rows[name], {"units": u}) for name, u in units.items()}
        found["impact_contact"] = ("impact", labels[rows["contact"].astype(int)])
        return found
