"""Runs by Moreau-Jean time stepping: rigid contact with impacts and friction."""

from __future__ import annotations

import math
from typing import Any

from .. import statics
from ..engine.program import trace
from ..model.clearances import Following
from ..physics import moreau
from ..run import Run
from ..system import System
from .outcome import Journey
from .steppers import MoreauJean

MODES = ("free", "sliding", "sticking")


class RigidJourney(Journey):
    """One run of the Moreau-Jean text."""

    def __init__(self, system: System, stepper: MoreauJean, until: float, every: float) -> None:
        super().__init__(system, stepper, until, every)
        mechanism = system.mechanism
        for joint in mechanism.loose(Following):
            raise ValueError(
                f"joint {joint!r}: MoreauJean computes rigid contact, got permanent contact (following); "
                "use RungeKutta, or contact: {kind: rigid}"
            )
        self.h = stepper.step
        self.count, self.stride = max(1, round(until / self.h)), max(1, round(every / self.h))
        q, v = statics.start(system)
        self.freedom = statics.freedom(system, q)
        here = system.evaluate(q, v)
        self.first = {"q": q, "v": v, "here": here}
        text = moreau.stepper(
            system.equations(self.freedom.redundant),
            stepper.theta,
            stepper.projection == "combined",
            stepper.forces == "midpoint",
        )
        state = dict(zip(system.coordinates, q.tolist(), strict=True))
        state |= {f"{name}.rate": x for name, x in zip(system.coordinates, v.tolist(), strict=True)}
        given = system.parameters | {"stepper.step": self.h, "stepper.energy": here.kinetic + here.potential}
        given |= {"stepper.steps": self.count, "stepper.every": self.stride}
        self.run = Run(trace(text, dict.fromkeys(state, 0.0), given), given, state)
        self.labels = [name.removesuffix(".mode") for name in self.run.places if name.endswith(".mode")]

    def time(self) -> float:
        return self.h * self.steps()

    def expected(self) -> int:
        return self.count

    def steps(self) -> int:
        return int(self.run["step"][0])

    def audit(self) -> dict[str, float]:
        run = self.run
        return {
            "position drift (m or rad)": float(run["drift"][0]),
            "penetration (m or rad)": float(run["penetration"][0]),
            "energy imbalance (J)": float(run["imbalance"][0]),
            "peak kinetic energy (J)": float(run["kinetic"][0]),
            "conditioning at the start": self.freedom.conditioning,
        }

    def extras(self) -> dict[str, Any]:
        def scale(what: str, x: float) -> float:
            return (math.sqrt(max(x, 0.0)) if what == "force" else max(x, 0.0)) / self.h

        return self.peak_forces(scale)
