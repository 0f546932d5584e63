"""The control loop of a run: its clock, the driver of sampled functions, its signals after."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from time import perf_counter
from typing import Any

import numpy as np

from .. import statics
from ..model.control import Sampled
from ..model.parts import ModelError, Path, Problem
from ..physics.control import MODEL_JUMPED, MODEL_OPEN, MODEL_WEAK, NOT_FINITE, Loop
from ..physics.dynamics import Equations
from ..run import CHUNK_SECONDS, Run, undisturbed
from ..system import System

UNITS = {"angle": ("rad", "N*m")}  # of coordinates and of what acts along them; all others are m and N
SHORT = 4096  # steps that take so little time that Ctrl-C can wait
WHOLE = 1e-6  # of a step: how well a period must fit to steps


class Pilot:
    """The control loop of a run."""

    def __init__(self, system: System, until: float) -> None:
        control = system.mechanism.control
        assert control is not None
        self.system, self.control, self.until = system, control, until
        self.loop = Loop(Equations(system.mechanism, lambda address: 0))
        self.sampled = control.law if isinstance(control.law, Sampled) else None
        self.stride = 1
        self.error: Exception | None = None  # of a sampled function

    # -- before
    def strides(self, h: float | None) -> dict[str, int]:
        """How many steps of length h lie between the samples of the law and of each sensor, and in their delays."""
        spans: dict[str, tuple[Path, float | None]] = {"law": (("period",), self.control.period)}
        for name, sensor in self.control.sensors.items():
            spans[name] = ("sensors", name, "period"), sensor.period
            spans[f"{name}.delay"] = ("sensors", name, "delay"), sensor.delay
        found = {}
        for name, (path, span) in spans.items():
            if span and h is not None:
                found[name] = round(span / h)
                if found[name] < 1 or abs(span / h - found[name]) > WHOLE * found[name]:
                    text = f"{span:g} s is no whole number of steps of {h:g} s; change the step or the time"
                    raise ModelError(Problem(("control", *path), text))
        if h is None and self.loop.digital:
            text = (
                "samples, delays, noise, memory and regularisation need steps of one length; use FixedRungeKutta(step) "
                "or MoreauJean (command line: --step)"
            )
            raise ModelError(Problem(("control",), text))
        self.stride = found.get("law", 1)
        return found

    def continuous(self) -> dict[str, float]:
        """States of the law that a Runge-Kutta step integrates."""
        return {} if self.loop.digital else self.loop.starts

    def begin(self, run: Run, q: np.ndarray, v: np.ndarray, h: float) -> None:
        """Let the model and the sensors start where the mechanism does."""
        for name, x in zip(self.loop.guesses, q, strict=True) if self.loop.model else ():
            if self.loop.digital or f"{name}.rate" not in run.places:
                run[name] = float(x)
        axes = list(self.loop.sensors.values())
        for name, c in self.control.coordinates.items() if self.sampled else ():
            first, second, third = (float(c.reference(i * 1e-5)) for i in range(3))
            run[f"control.{name}.wanted"] = first
            run[f"control.{name}.wanted.rate"] = (4 * second - 3 * first - third) / 2e-5
        for name, x, rate in zip(self.loop.sensors, *statics.measured(self.system, q, v, axes), strict=True):
            count = getattr(self.loop.sensors[name], "resolution", 0.0)
            x = count * math.floor(x / count + 0.5) if count else x
            if getattr(self.loop.sensors[name], "rate", "exact") == "difference":
                rate = 0.0  # of one sample alone there is no difference
                if self.sampled:  # the function's first sample is this one
                    run[f"control.{name}.begun"] = True
            for end, value in (("", x), (".rate", rate)):
                for cell in (f"control.{name}.{what}{end}" for what in ("measured", "sample", "late")):
                    if cell in run.places:
                        slot = run.slots[cell]
                        run[cell] = value if slot.size == 1 else np.full((slot.size, run.lanes), value)

    # -- during
    def drive(self, run: Run, time: Callable[[], float], told: Callable[[], bool]) -> str | None:
        """Run from sample to sample of a Python function; gives what went wrong with it."""
        assert self.sampled is not None
        function, name, control = self.sampled.function, self.sampled.name, self.control
        shown = [(control.sensors or control.coordinates, "measured"), (control.coordinates, "wanted")]
        cells = [[f"control.{key}.{what}{end}" for key in names] for names, what in shown for end in ("", ".rate")]
        seen = [[run.places[cell] for cell in row] for row in cells]
        acting = [run.places[f"control.{key}.told"] for key in control.actuators]
        words = run.state_words[:, 0]
        numbers, status = words.view(np.float64), run.places["status"]
        counter = run.places["steps.taken"] if "steps.taken" in run.places else run.places["step"]
        quick = not run.eager and self.stride <= SHORT

        def sample() -> str | None:
            t = time()
            try:
                given = function(t, *(numbers[places].tolist() for places in seen))
                if given is None:
                    return f"controller {name!r} gives None at t = {t:.6g} s; it must return a number for each actuator"
                listed = given.ravel() if isinstance(given, np.ndarray) else given
                torques = [float(u) for u in (listed if isinstance(listed, list | tuple | np.ndarray) else [listed])]
            except Exception as error:
                self.error = error
                return f"controller {name!r} raises {type(error).__name__} at t = {t:.6g} s: {error}"
            if len(torques) != len(acting):
                return f"controller {name!r} gives {len(torques)} numbers for {len(acting)} actuators"
            if not all(map(math.isfinite, torques)):
                return f"controller {name!r} gives {torques} at t = {t:.6g} s"
            numbers[acting] = torques
            goal = (words[counter] // self.stride + 1) * self.stride
            while words[counter] < goal and words[status] == 0:
                (run.few_steps if quick else run.advance)(int(goal - words[counter]))
            return None

        while words[status] == 0:
            begin = perf_counter()
            with undisturbed() if quick else nullcontext():
                while words[status] == 0 and perf_counter() - begin < CHUNK_SECONDS:
                    wrong = sample()
                    if wrong:
                        return wrong
            told()
        return None

    # -- after
    def ended(self, run: Run, time: float) -> tuple[str, str] | None:
        """An end that the controller brought about."""
        detail = int(run["detail"][0])
        texts = {
            MODEL_OPEN: "does not close",
            MODEL_JUMPED: "jumps to another configuration",
            MODEL_WEAK: "is near a singular position",
        }
        name = self.loop.name
        number = detail - NOT_FINITE
        if run.status[0] == "solver failed" and 0 <= number < len(self.control.actuators):
            at = list(self.control.actuators)[number]
            text = f"controller {name!r} gives actuator {at!r} something that is no number at t = {time:.6g} s"
            return "controller failed", text
        if run.status[0] in ("solver failed", "singular pivot") and detail in texts:
            text = f"controller {name!r}: its model {texts[detail]} at t = {time:.6g} s, for what the sensors see"
            return "controller failed", text
        return None

    def remarks(self, run: Run) -> list[str]:
        """What should be known after the run."""
        found = []
        if self.control.settled and not self.number(run, "control.time"):
            found.append(f"control: the run ended before {self.control.settled:g} s, when its statistics were to begin")
        if "control.astray" not in run.places or run["control.astray"][0] < 0:
            return found
        time = float(run["control.astray"][0])
        return [
            *found,
            f"control: from t = {time:.6g} s the mechanism has another configuration than its controller's model",
        ]

    def signals(self, run: Run, columns: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """Torques, references, tracking errors and watched signals over time, and their statistics over all steps."""
        axes, acts = self.control.coordinates, self.control.actuators

        def units(parts: Mapping[str, Any], which: int) -> str:
            return " or ".join(dict.fromkeys(UNITS.get(p.kind, ("m", "N"))[which] for p in parts.values()))

        def over_time(names: list[str], end: str) -> np.ndarray:
            return np.column_stack([columns[f"control.{name}.{end}"] for name in names])

        found: dict[str, Any] = {"actuator": ("actuator", list(acts))}
        for dimension, parts, which in (("actuator", acts, 1), ("channel", axes, 0)):
            if parts:
                each = [UNITS.get(part.kind, ("m", "N"))[which] for part in parts.values()]
                found[f"{dimension}_unit"] = (dimension, each)
        said = {"units": units(acts, 1), "long_name": "torque or force of the actuator"}
        found["control"] = (("time", "actuator"), over_time(list(acts), "torque"), said)
        spent = self.number(run, "control.time") or math.nan  # a run that never settled has no statistics
        late = columns["time"] >= self.control.settled
        most = [max(0.0, self.number(run, f"control.{n}.torque.most")) for n in acts]
        most = np.maximum(most, np.abs(found["control"][1])[late].max(axis=0, initial=0.0)) * (spent / spent)
        rms = [math.sqrt(self.number(run, f"control.{n}.torque.square") / spent) for n in acts]
        from_ = f"from {self.control.settled:g} s on, over all steps"
        found["control_max"] = ("actuator", most, said | {"long_name": f"largest torque or force {from_}"})
        found["control_rms"] = ("actuator", rms, said | {"long_name": f"rms torque or force {from_}"})
        if axes:
            unit = {"units": units(axes, 0)}
            found["channel"] = ("channel", list(axes))
            r, x = over_time(list(axes), "reference"), over_time(list(axes), "value")
            found["reference"] = (("time", "channel"), r, unit | {"long_name": "reference"})
            found["tracking_error"] = (("time", "channel"), x - r, unit | {"long_name": "tracking error"})
            worst = [max(0.0, self.number(run, f"control.{n}.error.most")) for n in axes]
            sampled = np.abs(x - r)[late].max(axis=0, initial=0.0)
            mean = [math.sqrt(self.number(run, f"control.{n}.error.square") / spent) for n in axes]
            found["error_max"] = ("channel", np.maximum(worst, sampled) * (spent / spent),
                                  unit | {"long_name": f"largest tracking error {from_}"})  # fmt: skip
            found["error_rms"] = ("channel", mean, unit | {"long_name": f"rms tracking error {from_}"})
        for name in self.loop.watched:
            found[name] = (
                "time",
                columns[f"control.watched.{name}"],
                {"long_name": f"{name}, watched by the controller"},
            )
        return found

    @staticmethod
    def number(run: Run, name: str) -> float:
        """An accumulator of the run, 0 if there is none."""
        return float(run[name][0]) if name in run.places else 0.0
