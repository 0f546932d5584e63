"""The control loop of a run: its clock, the driver of sampled functions, its signals after."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from .. import statics
from ..model.control import Sampled
from ..model.parts import KeyPath, ModelError, Problem
from ..physics.dynamics import Equations
from ..physics.failures import MODEL_JUMPED, MODEL_OPEN, MODEL_WEAK, NOT_FINITE, Failure
from ..physics.loop import Loop
from ..run import Run
from ..system import System

UNITS = {True: ("rad", "N*m"), False: ("m", "N")}  # of coordinates that turn or go, and of what acts along them
UNCLOCKED = 1e-5  # s: a law without a period, of sensors that count, delay or sample, is computed so often at least
FINEST, ALIKE = 1000, 1e-9  # of the parts of the shortest span in a clock, and how well all must fit to it
HELD = 8  # times as long a companion holds such a law, so that its difference tells what that does; in a delay as often
ENDLESS = "sensor {0}: its noise is drawn whenever the law is computed, and does less the more often; give a period"
ROOM = 1023  # steps of a delay that every program has room for
OFTEN = 0.1  # of the samples: an actuator that is at its limit in so many is told of
WHOLE = 1e-6  # of a step: how well a period must fit to steps


class Pilot:
    """The control loop of a run: its clock before, the calls of a sampled function during, its signals after."""

    def __init__(self, system: System) -> None:
        control = system.mechanism.control
        assert control is not None
        self.system, self.control = system, control
        self.loop = Loop(Equations(system.mechanism, lambda address: 0))
        self.sampled = control.law if isinstance(control.law, Sampled) else None
        self.stride = 1
        self.error: Exception | None = None  # of a sampled function

    # -- before
    @property
    def spans(self) -> dict[str, tuple[KeyPath, float]]:
        """The times between samples of the law and of each sensor, and their delays (s), with where they are given."""
        spans: dict[str, tuple[KeyPath, float | None]] = {"law": (("period",), self.control.period)}
        for name, sensor in self.control.sensors.items():
            spans[name] = ("sensors", name, "period"), sensor.period
            spans[f"{name}.delay"] = ("sensors", name, "delay"), sensor.delay
        return {name: (path, span) for name, (path, span) in spans.items() if span}

    @property
    def noisy(self) -> dict[str, Any]:
        """The sensors whose noise is drawn at ticks: another clock would draw another one."""
        return {name: sensor for name, sensor in self.control.sensors.items() if sensor.noise}

    def tick(self, companion: bool = False) -> float | None:
        """The longest time of which all periods and delays are multiples (s), at which chosen steps end; a law without
        a period is computed more often, beside a run less so.  None for a loop without a clock."""
        if not self.loop.digital:
            return None
        spans, held = self.spans, UNCLOCKED * (HELD if companion and not self.noisy else 1)
        shortest = min((span for _, span in spans.values()), default=held)
        parts = 1
        for path, span in spans.values():
            ratio = Fraction(span / shortest).limit_denominator(FINEST)
            parts = math.lcm(parts, ratio.denominator)
            if abs(span / shortest - ratio) > ALIKE * ratio or parts > FINEST:
                text = f"{span:g} s and {shortest:g} s have no clock in common; change one, or give a step"
                raise ModelError(Problem(("control", *path), text))
        tick = shortest / parts
        if self.control.period:
            return tick
        return tick / max(math.ceil(tick / held * (1 - WHOLE)), 1 if companion or not spans else HELD)

    def strides(self, h: float | None) -> dict[str, int]:
        """How many steps or ticks of length h lie between the samples of the law and of each sensor, and in their
        delays."""
        found = {}
        for name, (path, span) in self.spans.items():
            if h is not None:
                found[name] = round(span / h)
                if found[name] < 1 or abs(span / h - found[name]) > WHOLE * found[name]:
                    text = f"{span:g} s is no whole number of steps of {h:g} s; change the step or the time"
                    raise ModelError(Problem(("control", *path), text))
        self.stride = found.get("law", 1)
        return found

    @staticmethod
    def clock(strides: Mapping[str, int]) -> dict[str, int]:
        """What a program must know of the strides: the room for delays, so that shorter steps find theirs too."""
        return {name: max(ROOM, (1 << n.bit_length()) - 1) if ".delay" in name else 0 for name, n in strides.items()}

    def begin(self, run: Run, lane: int, q: np.ndarray, v: np.ndarray) -> None:
        """Let the model and the sensors of a lane start where the mechanism does."""

        def set_(cell: str, value: Any) -> None:
            if cell in run.places:
                run.put(cell, lane, value)

        for name, x in zip(self.loop.guesses, q, strict=True) if self.loop.model else ():
            set_(name, float(x))
            set_(f"before.{name}", float(x))
        axes = list(self.loop.sensors.values())
        for name, c in self.control.coordinates.items() if self.sampled else ():
            first, second, third = (float(c.reference(i * 1e-5)) for i in range(3))
            set_(f"control.{name}.wanted", first)
            set_(f"control.{name}.wanted.rate", (4 * second - 3 * first - third) / 2e-5)
        for name, x, rate in zip(self.loop.sensors, *statics.measured(self.system, q, v, axes), strict=True):
            count = getattr(self.loop.sensors[name], "resolution", 0.0)
            x = count * math.floor(x / count + 0.5) if count else x
            if getattr(self.loop.sensors[name], "rate", "exact") == "difference":
                rate = 0.0  # of one sample alone there is no difference
                if self.sampled:  # the function's first sample is this one
                    set_(f"control.{name}.begun", True)
            for end, value in (("", x), (".rate", rate)):
                for what in ("measured", "sample", "late"):
                    set_(f"control.{name}.{what}{end}", value)

    # -- during
    def calls(self, run: Run) -> Callable[[int], str | None]:
        """A function that asks the sampled function for a lane's torques, to be held until its next sample; it gives
        what went wrong."""
        assert self.sampled is not None
        function, name, control = self.sampled.function, self.sampled.name, self.control
        shown = [(control.sensors or control.coordinates, "measured"), (control.coordinates, "wanted")]
        cells = [[f"control.{key}.{what}{end}" for key in names] for names, what in shown for end in ("", ".rate")]
        seen = [[run.places[cell] for cell in row] for row in cells]
        acting = [run.places[f"control.{key}.told"] for key in control.actuators]
        clock, numbers = run.places["time"], run.state_words.view(np.float64)

        def call(lane: int) -> str | None:
            t = float(numbers[clock, lane])
            try:
                given = function(t, *(numbers[places, lane].tolist() for places in seen))
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
            numbers[acting, lane] = torques
            return None

        return call

    # -- after
    def ended(self, found: Failure, time: float) -> str | None:
        """An end that the controller brought about."""
        texts = {
            MODEL_OPEN: f"does not close, by {found.residual:.3g} m or rad,",
            MODEL_JUMPED: f"jumps to another configuration, by {found.residual:.3g} rad,",
            MODEL_WEAK: "is near a singular position",
        }
        if found.reason == NOT_FINITE:
            at = list(self.control.actuators)[found.element]
            return (
                f"controller {self.loop.name!r} gives actuator {at!r} something that is no number at t = {time:.6g} s"
            )
        if found.reason in texts:
            what = texts[found.reason]
            return f"controller {self.loop.name!r}: its model {what} at t = {time:.6g} s, for what the sensors see"
        return None

    def limited(self, columns: Mapping[str, np.ndarray]) -> list[str]:
        """A note on each actuator that is at its limit in many of the samples."""
        late, found = columns["time"] >= self.control.settled, []
        for name, part in self.control.actuators.items():
            if part.limit and late.any():
                share = float((np.abs(columns[f"control.{name}.torque"][late]) >= part.limit * (1 - WHOLE)).mean())
                text = f"actuator {name}: at its limit of {part.limit:g} {UNITS[part.turns][1].replace('*', ' ')}"
                found += [f"{text} for {share:.0%} of the time"] if share >= OFTEN else []
        return found

    def remarks(self, number: Callable[[str], float], columns: Mapping[str, np.ndarray]) -> list[str]:
        """What should be known after the run."""
        found = (
            [] if self.control.period else [ENDLESS.format(name) for name, one in self.noisy.items() if not one.period]
        )
        found += self.limited(columns)
        if self.control.settled and not number("control.time"):
            found.append(f"control: the run ended before {self.control.settled:g} s, when its statistics were to begin")
        time = number("control.astray") if self.loop.watches_model else -1.0
        if time < 0:
            return found
        return [
            *found,
            f"control: from t = {time:.6g} s the mechanism has another configuration than its controller's model",
        ]

    def signals(self, number: Callable[[str], float], columns: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """Torques, references, tracking errors and watched signals over time, and their statistics over all steps."""
        axes, acts = self.control.coordinates, self.control.actuators

        def units(parts: Mapping[str, Any], which: int) -> str:
            return " or ".join(dict.fromkeys(UNITS[p.turns][which] for p in parts.values()))

        def over_time(names: list[str], end: str) -> np.ndarray:
            return np.column_stack([columns[f"control.{name}.{end}"] for name in names])

        found: dict[str, Any] = {"actuator": ("actuator", list(acts))}
        found["actuator_unit"] = ("actuator", [UNITS[part.turns][1] for part in acts.values()])
        said = {"units": units(acts, 1), "long_name": "torque or force of the actuator"}
        found["control"] = (("time", "actuator"), over_time(list(acts), "torque"), said)
        spent = number("control.time") or math.nan  # a run that never settled has no statistics
        late = columns["time"] >= self.control.settled

        def statistics(names: Iterable[str], what: str, samples: np.ndarray) -> tuple[np.ndarray, list[float]]:
            most = [max(0.0, number(f"control.{n}.{what}.most")) for n in names]
            most = np.maximum(most, np.abs(samples)[late].max(axis=0, initial=0.0)) * (spent / spent)
            return most, [math.sqrt(number(f"control.{n}.{what}.square") / spent) for n in names]

        most, rms = statistics(acts, "torque", found["control"][1])
        from_ = f"from {self.control.settled:g} s on, over all steps"
        found["control_max"] = ("actuator", most, said | {"long_name": f"largest torque or force {from_}"})
        found["control_rms"] = ("actuator", rms, said | {"long_name": f"rms torque or force {from_}"})
        if axes:
            unit = {"units": units(axes, 0)}
            found["channel"] = ("channel", list(axes))
            found["channel_unit"] = ("channel", [UNITS[part.turns][0] for part in axes.values()])
            r, x = over_time(list(axes), "reference"), over_time(list(axes), "value")
            found["reference"] = (("time", "channel"), r, unit | {"long_name": "reference"})
            found["tracking_error"] = (("time", "channel"), x - r, unit | {"long_name": "tracking error"})
            most, rms = statistics(axes, "error", x - r)
            found["error_max"] = ("channel", most, unit | {"long_name": f"largest tracking error {from_}"})
            found["error_rms"] = ("channel", rms, unit | {"long_name": f"rms tracking error {from_}"})
        for name in self.loop.watched:
            watched = {"long_name": f"{name}, watched by the controller"}
            found[name] = ("time", columns[f"control.watched.{name}"], watched)
        return found
