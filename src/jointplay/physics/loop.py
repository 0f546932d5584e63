"""A control loop as text: what sensors see, what the law says to it, and what actuators do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..engine.derivatives import derivative
from ..engine.program import Names
from ..engine.text import DONE, SINGULAR_PIVOT, SOLVER_FAILED, branch, memory, stop
from ..engine.typing import Matrix, Scalar, Vector
from ..engine.values import floor, is_value, number, sqrt, where
from ..model.control import Along
from ..model.parts import Frozen, ModelError, Problem
from ..numerics.choice import maximum, minimum
from ..numerics.functions import cos, log
from ..numerics.linalg import dot
from ..numerics.signals import delay, due, random, total
from .constraints import motion_at
from .dynamics import Equations
from .failures import MODEL_JUMPED, MODEL_OPEN, MODEL_WEAK, NOT_FINITE, fail
from .reduced import WEAKEST, Model, Reduced, coordinate_value, same_axes
from .rehearsal import View, uses_model

MODEL_CLOSED = 1e-12  # m or rad: more left open by the controller's model is no solution
ROUNDED = 1e-12  # of a time: what is nearer has reached it
ASTRAY = 0.5  # rad: a mechanism that is farther from its controller's model has another configuration
APPROACH = 64.0  # steps of a tour from the start to the references
LONGEST = 100_000  # steps of a tour


@dataclass
class Command:
    """What the law says at a time: torques and forces of actuators, slopes of its states, memory, and the model; and
    what actuators with limits are asked for, as shares of these."""

    torques: Vector
    slopes: Vector
    kept: Vector
    watched: dict[str, Scalar]
    place: Vector
    speed: Vector
    left: Scalar
    jump: Scalar
    weak: Scalar
    asked: Vector = field(default_factory=list)


class Loop:
    """The control loop of a mechanism as text."""

    def __init__(self, plant: Equations) -> None:
        given = plant.mechanism.control
        assert given is not None
        self.plant, self.control = plant, given
        self.axes, self.sensors = given.coordinates, given.sensors or given.coordinates
        self.limits = [name for name, actuator in given.actuators.items() if actuator.limit is not None]
        self.law = given.law.law if given.computed else None
        self.rates = [f"control.{axis}.{name}" for name in (self.law.rates if self.law else ()) for axis in self.axes]
        kept = self.law.memory if self.law else {}
        self.memory = {f"control.{axis}.{name}": x for name, x in kept.items() for axis in self.axes}
        self.watched = self.law.watch if self.law else ()
        self.model = Model(plant, given) if uses_model(given) else None
        # what sensors show late or seldom may jump, and is apart from what it shows
        self.late = any(sensor.delay or sensor.period for sensor in given.sensors.values())
        self.watches_model = self.model is not None and not self.late and not given.period
        self.guesses = [f"control.model.{name}" for name in plant.coordinates] if self.model else []
        soft = bool(self.model and self.model.soft)  # the model goes on as before where sensors do not tell
        self.before = [f"{name}.before" for name in self.guesses] if soft else []
        self.digital = bool(given.period or self.memory or soft or any(s.digital for s in given.sensors.values()))

    @property
    def name(self) -> str:
        """The name of the law."""
        return str(self.control.law.law.name if self.control.computed else self.control.law.name)

    @property
    def starts(self) -> dict[str, float]:
        """The states of the law and their start."""
        kinds = self.law.rates if self.law else {}
        return {f"control.{axis}.{name}": x for name, x in kinds.items() for axis in self.axes}

    def seen(self, q: Vector, v: Vector, t: Scalar) -> tuple[Vector, Vector]:
        """What ideal sensors see: values and rates."""
        values, rows = self.lines(list(self.sensors.values()), q, t)
        return values, [dot(row, v) for row in rows]

    def lines(self, axes: Sequence[Along], q: Vector, t: Scalar) -> tuple[Vector, Matrix]:
        """Coordinates of the mechanism, and their slopes."""
        pose = self.plant.pose(q, t)
        values = [coordinate_value(pose, axis) for axis in axes]
        return values, derivative(values, q)

    def forces(self, q: Vector, t: Scalar, torques: Sequence[Scalar]) -> Vector:
        """The generalised forces of the actuators."""
        _, rows = self.lines(list(self.control.actuators.values()), q, t)
        return [dot([row[j] for row in rows], torques) for j in range(len(q))]

    def wanted(self, t: Scalar) -> tuple[Vector, Vector, Vector]:
        """References, their rates and accelerations."""
        pose = self.plant.pose([0] * len(self.plant.coordinates), t)
        r = [motion_at(pose, f"control.{n}.reference", c.reference) for n, c in self.axes.items()]
        dr = [slope(x, t) for x in r]
        return r, dr, [slope(x, t) for x in dr]

    def command(
        self,
        t: Scalar,
        seen: Vector,
        seen_rates: Vector,
        states: Sequence[Scalar],
        kept: Sequence[Scalar],
        guess: Vector,
        before: Sequence[Scalar] = (),
    ) -> Command:
        """What the law says to what is measured, its states and memory; the model starts from the guess, and from its
        rates before if its sensors do not always tell them."""
        reduced, place, speed, left, jump = None, guess, guess, 0.0, 0.0
        values, rates = seen, seen_rates
        if self.model is not None:
            place, left, jump = self.model.close(guess, seen, t)
            speed = self.model.rates(place, seen_rates, t, before)
            reduced = Reduced(self.model, place, speed, t)
            if not same_axes(list(self.sensors.values()), list(self.axes.values())):
                values, rates = reduced.values, reduced.rates
        view = View(t, values, rates, *self.wanted(t), list(self.control.actuators), reduced)
        torques, slopes, remembered = self.told(view, states, kept)
        if self.control.gravity and reduced is not None:
            torques = [u + g for u, g in zip(torques, reduced.gravity(), strict=True)]
        missing = sorted(set(self.watched) ^ set(view.watched))
        if missing:
            text = f"controller {self.name!r}: {missing[0]!r} must be both declared (@controller(watch=[...]))"
            raise ModelError(Problem(("control", "law"), f"{text} and watched (loop.watch)"))
        weak = reduced.weak if reduced is not None else False
        given, asked = self.limited(torques, t)
        return Command(given, slopes, remembered, view.watched, place, speed, left, jump, weak, asked)

    def told(self, view: View, states: Sequence[Scalar], kept: Sequence[Scalar]) -> tuple[Vector, Vector, Vector]:
        """What the law says: a number for each actuator, the slopes of its states, and its new memory."""
        slopes: Vector = []
        remembered: Vector = []
        if self.law is None:
            torques = list(kept)
        else:
            gains = {name: self.plant.numbers(f"control.law.{name}") for name in self.law.own}
            k = len(self.axes)
            own = {name: list(states[i * k : i * k + k]) for i, name in enumerate(self.law.rates)}
            own |= {name: list(kept[i * k : i * k + k]) for i, name in enumerate(self.law.memory)}
            torques, moving, keeping = self.law(view, **gains, **own)
            if torques is None:
                text = f"controller {self.name!r} returns None; it must return a number for each actuator"
                raise ModelError(Problem(("control", "law"), text))
            torques = list(torques) if isinstance(torques, list | tuple) else [torques]
            slopes = [x for name in self.law.rates for x in moving[name]]
            remembered = [x for name in self.law.memory for x in keeping[name]]
        if len(torques) != len(self.control.actuators):
            text = f"controller {self.name!r} gives {len(torques)} numbers for {len(self.control.actuators)} actuators"
            raise ModelError(Problem(("control", "law"), text))
        return torques, slopes, remembered

    def limited(self, torques: Vector, t: Scalar) -> tuple[Vector, Vector]:
        """Torques with their feedforward, within the limits of the actuators; and without, as shares of the limits."""
        pose = self.plant.pose([0] * len(self.plant.coordinates), t)
        found, asked = [], []
        for u, (name, actuator) in zip(torques, self.control.actuators.items(), strict=True):
            u = u + motion_at(pose, f"control.{name}.feedforward", actuator.feedforward)
            if actuator.limit is not None:
                most = self.plant.numbers(f"control.{name}.limit")
                asked.append(u / most)
                u = minimum(maximum(u, -most), most)
            found.append(u)
        return found, asked

    def caps(self) -> dict[str, Scalar]:
        """What no torque of an actuator with a limit exceeds, by the name of its peak."""
        return {f"control.{name}.torque.most": self.plant.numbers(f"control.{name}.limit") for name in self.limits}

    # -- a loop that is computed once a step, or less often
    def held(self, step: Scalar, h: Scalar, t: Scalar, q: Vector, v: Vector, strides: Mapping[str, Scalar]) -> Command:
        """The command of a step that begins at q, v: sampled and held as the sensors and the law say, with their
        memory.  strides: how many steps lie between the samples of a sensor or of the law, by name, as run-time
        numbers."""
        acting = [memory(f"control.{name}.torque", 0.0) for name in self.control.actuators]
        guesses, before = ([memory(name, 0.0) for name in names] for names in (self.guesses, self.before))
        states = [memory(name, x) for name, x in self.starts.items()]
        kept = [memory(name, x) for name, x in self.memory.items()]
        watched = {name: memory(f"control.watched.{name}", 0.0) for name in self.watched}
        ends = [memory(f"control.model.{name}", 0.0) for name in ("left", "jump", "weak")]
        told: Vector = []
        if self.law is None:  # the driver of a sampled function says the torques to what was measured for it
            told = [memory(f"control.{name}.told", 0.0).value for name in self.control.actuators]
            values, rates = ([memory(f"control.{n}.measured{end}", 0.0).value for n in self.sensors]
                             for end in ("", ".rate"))  # fmt: skip
        else:
            values, rates = self.electronics(step, h, *self.seen(q, v, t), strides)
        period = number(strides["law"]) if "law" in strides else 1.0

        def compute() -> None:
            own, known, guess, moving = ([c.value for c in cells] for cells in (states, kept, guesses, before))
            said = self.command(t, values, rates, own, told or known, guess, moving)
            length = h * period
            fresh = [cell.value + length * slope for cell, slope in zip(states, said.slopes, strict=True)]
            place = [x + length * w for x, w in zip(said.place, said.speed, strict=True)]
            result = [*said.torques, *fresh, *said.kept, *place, said.left, said.jump, flag(said.weak)]
            for cell, x in zip([*acting, *states, *kept, *guesses, *ends], result, strict=True):
                cell.value = x
            for name, cell in watched.items():
                cell.value = said.watched[name]
            for cell, x in zip(before, said.speed, strict=False):
                cell.value = x

        branch(due(step, strides["law"]), compute, lambda: None) if "law" in strides else compute()
        signals = {name: cell.value for name, cell in watched.items()}
        left, jump, weak = (cell.value for cell in ends)
        place = [cell.value for cell in guesses]
        return Command([cell.value for cell in acting], [], [], signals, place, place, left, jump, weak > 0.5)

    def measure(self, step: Scalar, h: Scalar, t: Scalar, q: Vector, v: Vector, strides: Mapping[str, Scalar]) -> None:
        """Leave what the sensors see, and the references at its next call, for a sampled function."""
        if self.law is not None:
            return
        for end, seen in zip(("", ".rate"), self.electronics(step, h, *self.seen(q, v, t), strides), strict=True):
            for name, x in zip(self.sensors, seen, strict=True):
                memory(f"control.{name}.measured{end}", 0.0).value = x
        cells = [[memory(f"control.{name}.wanted{end}", 0.0) for name in self.axes] for end in ("", ".rate")]

        def refer() -> None:
            for row, values in zip(cells, self.wanted(t), strict=False):
                for cell, x in zip(row, values, strict=True):
                    cell.value = x

        branch(due(step, strides["law"]), refer, lambda: None)

    def electronics(
        self, step: Scalar, h: Scalar, values: Vector, rates: Vector, strides: Mapping[str, Scalar]
    ) -> tuple[Vector, Vector]:
        """What comes out of the sensors: noise, counts, samples, delay."""
        numbers = self.plant.numbers
        out: tuple[Vector, Vector] = ([], [])
        for k, (name, sensor) in enumerate(self.control.sensors.items()):
            x, rate, stride = values[k], rates[k], strides.get(name)
            if sensor.noise:
                u = [random(sensor.seed, 0, step, 2 * k + i) for i in (0, 1)]
                spread = sqrt(-2.0 * log(u[0])) * cos(6.283185307179586 * u[1])
                x = x + numbers(f"control.{name}.noise") * spread
            if sensor.resolution:
                size = numbers(f"control.{name}.resolution")
                x = size * floor(x / size + 0.5)
            if stride is not None:
                at, speed = memory(f"control.{name}.sample", 0.0), memory(f"control.{name}.sample.rate", 0.0)
                ready = due(step, stride)
                if sensor.rate == "difference":
                    begun = memory(f"control.{name}.begun", False)
                    rate = where(begun.value, (x - at.value) / (h * number(stride)), 0.0)
                    begun.value = begun.value | ready
                at.value = x = where(ready, x, at.value)
                speed.value = rate = where(ready, rate, speed.value)
            if sensor.delay:
                steps, most = strides[f"{name}.delay"], strides[f"{name}.delay.most"]
                x, rate = (
                    delay(f"control.{name}.{what}", s, steps, step, at_most=most, start=0.0)
                    for what, s in (("late", x), ("late.rate", rate))
                )
            out[0].append(x)
            out[1].append(rate)
        return out if self.control.sensors else (values, rates)

    # -- what is kept of a run
    def signals(self, said: Command, q: Vector, t: Scalar) -> dict[str, Scalar]:
        """Errors and torques."""
        values, references = self.lines(list(self.axes.values()), q, t)[0], self.wanted(t)[0]
        found = {f"control.{n}.error": x - r for n, x, r in zip(self.axes, values, references, strict=True)}
        return found | {f"control.{n}.torque": u for n, u in zip(self.control.actuators, said.torques, strict=True)}

    def late_enough(self, t: Scalar) -> Scalar:
        """Whether the loop counts as settled."""
        return t >= self.plant.numbers("control.settled") * (1 - ROUNDED)

    def sizes(self, said: Command, q: Vector, t: Scalar) -> dict[str, Scalar]:
        """What has a peak: errors and torques since the loop counts as settled."""
        late = self.late_enough(t)
        return {f"{name}.most": where(late, abs(x), 0.0) for name, x in self.signals(said, q, t).items()}

    def begin(self, said: Command, q: Vector, t: Scalar, held: bool) -> None:
        """Errors and torques where a step begins, in place of those that are known from the end of the last one."""
        for name, x in self.signals(said, q, t).items():
            if not (held and name.endswith(".torque")):
                memory(f"{name}.last", 0.0).value = x * x
        memory("control.statistics", False).value = True

    def statistics(self, said: Command, q: Vector, t: Scalar, h: Scalar, mean: bool = False, held: bool = True) -> None:
        """The mean errors and torques of all steps since the loop counts as settled.  mean: a step of length h counts
        with the mean of its two ends (long steps), else with this one; held: torques are those of the whole step."""
        late, counts = self.late_enough(t), t - 0.5 * h > self.plant.numbers("control.settled") if mean else True
        squares = {name: x * x for name, x in self.signals(said, q, t).items()}
        if mean:
            begun = memory("control.statistics", False)
            for name, now in squares.items():
                if held and name.endswith(".torque"):
                    continue
                last = memory(f"{name}.last", 0.0)
                squares[name] = 0.5 * (now + where(begun.value, last.value, now))
                last.value = now
            begun.value = begun.value | (t >= 0.0)

        def gather() -> None:
            total("control.time", where(counts, h, 0.0))
            for name, x in squares.items():
                total(f"{name}.square", where(counts, h * x, 0.0))

        branch(late, gather, lambda: None)

    def means(self, sizes: Mapping[str, Sequence[Scalar]], begin: Scalar, span: Scalar) -> None:
        """The same of long steps, of what was looked at four times: by Simpson's rule of three eighths."""
        counts = self.late_enough(begin)  # steps end where the loop counts as settled
        weights = [where(counts, w * span, 0.0) for w in (1 / 8, 3 / 8, 3 / 8, 1 / 8)]
        total("control.time", sum(weights, start=0.0))
        for name, four in sizes.items():
            if name.endswith(".most"):
                total(f"{name.removesuffix('most')}square", dot(weights, [x * x for x in four]))

    def guard(self, said: Command, when: Scalar = True) -> None:
        """End where the model does not close, has no unique rates, or jumps, and where a torque is no number."""
        if self.model is not None:
            fail(when & (said.left > MODEL_CLOSED), MODEL_OPEN, residual=said.left)
            if not self.late:
                fail(when & (said.jump > ASTRAY), MODEL_JUMPED, residual=said.jump)
            fail(when & said.weak, MODEL_WEAK, status=SINGULAR_PIVOT)
        for i, u in enumerate(said.torques):
            if is_value(u):
                fail(when & ~(u - u == 0.0), NOT_FINITE, i)

    def stray(self, q: Vector, said: Command, t: Scalar) -> None:
        """Note when the mechanism first has another configuration than the model."""
        if not self.watches_model or not said.place:
            return
        apart: Scalar = 0.0
        for name, x, here in zip(self.plant.coordinates, said.place, q, strict=True):
            if name.endswith(".angle"):
                apart = maximum(apart, abs(x - here))
        first = memory("control.astray", -1.0)
        first.value = where((apart > ASTRAY) & (first.value < 0.0), t, first.value)

    def columns(self, said: Command, q: Vector, t: Scalar) -> dict[str, Scalar]:
        """The signals of a sample."""
        values, r = self.lines(list(self.axes.values()), q, t)[0], self.wanted(t)[0]
        found = {f"control.{name}.torque": u for name, u in zip(self.control.actuators, said.torques, strict=True)}
        for name, x, wanted in zip(self.axes, values, r, strict=True):
            found |= {f"control.{name}.value": x, f"control.{name}.reference": wanted}
        return found | {f"control.watched.{name}": x for name, x in said.watched.items()}


def slope(x: Scalar, t: Scalar) -> Scalar:
    """The derivative by time; 0 of what does not depend on it."""
    return derivative([x], [t])[0][0] if is_value(x) else 0.0


def flag(mask: Scalar) -> Scalar:
    """A mask as a number."""
    return where(mask, 1.0, 0.0) if is_value(mask) else float(mask)


def tour(make: Callable[[Names], Equations]) -> Callable[..., dict[str, Scalar]]:
    """The text of a journey of the ideal mechanism along the references to the time `tour.until`: from the coordinates
    `tour.0`, ... at the start to the references at time 0, then along them; it ends where it cannot follow."""

    def step(s: Names, p: Names) -> dict[str, Scalar]:
        loop = Loop(make(p))
        control = loop.control.model_copy(update={"sensors": Frozen(), "cut": (), "model": Frozen()})
        model = Model(loop.plant, control)
        r, dr, ddr = loop.wanted(s.t)
        share = minimum(number(s.step) / APPROACH, 1.0)
        until, start = p["tour.until"], [p[f"tour.{i}"] for i in range(len(r))]
        aim = [a + share * (x - a) for a, x in zip(start, r, strict=True)]
        place, left, _ = model.close([s[name] for name in model.coordinates], aim, s.t)
        rows, more = model.rows(model.closed, model.axes, place, s.t)
        stop(left > 1e-9, SOLVER_FAILED)
        stop(model.spread([*rows.B, *more]).weak(WEAKEST), SINGULAR_PIVOT)
        fastest: Scalar = 1e-9
        hardest: Scalar = 1e-9
        for axis, x, a in zip(model.axes, dr, ddr, strict=True):
            turn = 1.0 if axis.turns else 10.0
            fastest, hardest = maximum(fastest, abs(x) * turn), maximum(hardest, abs(a) * turn)
        ahead = s.t + minimum(minimum(0.03 / fastest, sqrt(0.06 / hardest)), until / 200)
        stop((s.t >= until) | (s.step > LONGEST), DONE)
        return dict(zip(model.coordinates, place, strict=True)) | {"t": where(share < 1.0, s.t, ahead)}

    return step
