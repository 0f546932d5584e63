"""A thing that steps: one to eight simulations of a mechanism side by side, each with its own numbers and start."""

from __future__ import annotations

import math
import threading
import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import statics
from ..engine.program import Program, trace
from ..engine.text import DONE, RUNNING
from ..engine.values import LANES
from ..model.clearances import Compliant, Following, Rigid
from ..model.control import Control
from ..model.mechanism import Mechanism
from ..model.parts import ModelError, Problem, suggestion
from ..physics.compliance import LANDED, SLOWEST
from ..physics.march import Text
from ..physics.record import MOMENTA
from ..physics.step import Stepper
from ..physics.steps import MoreauJean, RungeKutta
from ..run import CHUNK_SECONDS, Run, undisturbed
from ..system import STRUCTURAL, Equations, System
from .endings import early, ending
from .outcome import Ending, Outcome
from .steering import Pilot

if TYPE_CHECKING:
    from xarray import Dataset

FAR = 1e300  # s: no end
NEVER = 2**62  # steps
FIRST = 1e-3  # s: the first step that is tried
TOUCHING = 1e-9  # m or rad: a start that penetrates less is taken as it is
BURST = 4096  # steps that take so little time that Ctrl-C can wait


def default_stepper(mechanism: Mechanism) -> Stepper:
    """The stepper that a mechanism's contacts need: MoreauJean() if some are rigid, else RungeKutta()."""
    return MoreauJean() if mechanism.loose(Rigid) or mechanism.stopped() else RungeKutta()


@dataclass
class Lane:
    """One simulation: its numbers, its start and what is known of both."""

    system: System
    q: np.ndarray
    v: np.ndarray
    here: Equations
    freedom: statics.Freedom
    pilot: Pilot | None
    notes: list[str]
    pushes: dict[str, float]  # of joints in permanent contact, at the start (N)
    changes: dict[str, float] = field(default_factory=dict)  # numbers set on the way
    refused: Outcome | None = None  # an end before the first step


class Simulation:
    """One to eight simulations of a mechanism side by side, stepped by one compiled program.

    stepper: MoreauJean() if there are rigid contacts, else RungeKutta(). lanes: how many, or for each a mapping of
    addresses to numbers ("J2.clearance", "start.crank") in place of the mechanism's. share: all lanes take the same
    steps, so that what differs between them is not their steps. every (s): time between samples; only the start and
    the end unless given. start, control: in place of the mechanism's. until (s): how far it is to go, of which adaptive
    steps are a hundredth at most. reclose: see `simulate`.

    A lane's numbers are those that it would have alone, bit for bit, unless steps are shared.

    >>> from jointplay.model import library
    >>> pair = Simulation(library.pendulum(), lanes=[{}, {"bar1.mass": 2.0}])
    >>> pair.advance(1.0)
    >>> [str(one.kind) for one in pair.status]
    ['done', 'done']
    """

    def __init__(
        self,
        mechanism: Mechanism | System,
        stepper: Stepper | None = None,
        lanes: int | Sequence[Mapping[str, float | str]] = 1,
        share: bool = False,
        every: float | None = None,
        start: Mapping[str, float | str] | None = None,
        control: Control | None = None,
        *,
        until: float | None = None,
        reclose: bool = False,
        eager: bool | None = None,
        fma: bool = True,
    ) -> None:
        if stepper is not None and not isinstance(stepper, Stepper):
            raise ValueError(
                f"stepper must be RungeKutta(), FixedRungeKutta(step) or MoreauJean(step), got {stepper!r}"
            )
        given = [{}] * lanes if isinstance(lanes, int) and not isinstance(lanes, bool) else lanes
        if not isinstance(given, Sequence) or not 1 <= len(given) <= LANES[-1]:
            raise ValueError(
                f"lanes must be a number from 1 to {LANES[-1]} or a list of so many mappings, got {lanes!r}"
            )
        self.lock = threading.RLock()
        self._stored: dict[str, bool] = {}  # whether stored energy depends on a number, by its address
        self.until, self.every, self.reclose, self.share = until, every, reclose, share
        self.asked = FAR if until is None else until  # s: where it was last asked to go
        self.options = {"eager": eager, "fma": fma}
        base = system_of(mechanism, start, control, until)
        numbers = [split(each) for each in given]
        free = base.free | {a for each, _ in numbers for a in each if not a.endswith(STRUCTURAL)}
        if not free <= base.parameters.keys():
            base = System(base.given, base.reach, free)
        self.base = base
        self.stepper = stepper or default_stepper(base.mechanism)
        self.stepper.refuse(base.mechanism)
        self.lanes = len(given)
        self.each = [self.prepared(base, *one) for one in numbers]
        self.build()

    # -- before
    def prepared(self, base: System, numbers: Mapping[str, Any], start: Mapping[str, Any]) -> Lane:
        """A lane with its start."""
        changes = {**numbers, **{f"start.{key}": x for key, x in start.items()}}
        system = base.with_(changes) if changes else base
        until = self.until or 10.0
        mechanism = system.mechanism
        if mechanism.drives and mechanism.loose((Rigid, Compliant)):
            statics.refuse_drives(system, until)
        q, v = statics.start(system, self.reclose) if self.stepper.impulsive else statics.start(system)
        freedom = statics.freedom(system, q)
        notes = list(statics.doubts(system, q, v))
        here = system.evaluate(q, v)
        pilot = Pilot(system) if mechanism.control else None
        if self.stepper.impulsive:
            notes += opened(system, q, v, here, self.stepper.step)  # type: ignore[attr-defined]
        if pilot:
            notes += statics.loop_doubts(system, q, freedom.degrees, until)
        pushes: dict[str, float] = {}
        if not self.stepper.impulsive:
            a, multipliers = here.accelerations()
            if not np.isfinite(a).all():
                text = "the forces are not finite; a spring with a free length has no direction where its ends meet"
                raise ModelError(Problem(("start",), text))
            following = mechanism.loose(Following)
            pushes = {joint: -float(multipliers[system.rows.index(f"{joint}.distance")]) for joint in following}
        lane = Lane(system, q, v, here, freedom, pilot, notes, pushes)
        lane.refused = early(lane.system, lane.freedom, lane.pushes)
        return lane

    def build(self) -> None:
        """The program and its run, every lane at its start."""
        first = self.each[0]
        h = None if self.stepper.adaptive else self.stepper.step  # type: ignore[attr-defined]
        self.strides = first.pilot.strides(h) if first.pilot else {}
        for lane in self.each[1:]:
            if lane.system.structure != first.system.structure or lane.freedom.redundant != first.freedom.redundant:
                text = "lanes need one structure: a clearance, length or other number that is 0 in one must be 0 in all"
                raise ValueError(f"Simulation: {text}")
            if lane.pilot:
                lane.pilot.strides(h)
        timing = Pilot.clock(self.strides)
        dropped, labels = first.freedom.redundant, first.system.contacts
        kind = "march", self.stepper.structure, dropped, tuple(timing.items())

        def make() -> tuple[Program, Text]:
            text = Text(first.system.equations(dropped), labels, self.stepper, timing)
            return trace(text, {}, self.numbers(first)), text

        self.program, self.text = first.system.program(kind, make)
        width = next(n for n in LANES if n >= self.lanes)
        self.run = Run(self.program, lanes=width, share=self.share, **self.options)  # type: ignore[arg-type]
        self.look()
        self.outcomes: list[Outcome | None] = [None] * self.lanes
        self.alive = np.arange(width) < self.lanes
        for k in range(width):
            self.begin(k)
            if k >= self.lanes:
                self.run.abandon(k)
        self.began = self.run.state_words.copy(), self.run.parameter_words.copy()

    def look(self) -> None:
        """Views into the words of the run, for what is asked in every call."""
        words, places = self.run.state_words, self.run.places
        self.index = {slot.name: i for i, slot in enumerate(self.program.parameters)}
        self.places = [places[name] for name in self.names]
        self.standing, self.taken = words[places["status"]], words[places["steps.taken"]]
        self.times = words[places["time"]].view(np.float64)
        self.ends = self.run.parameter_words[self.index["stepper.until"]].view(np.float64)
        self.goals = self.run.parameter_words[self.index["stepper.goal"]]
        self.late = words[places["samples.late"]] if "samples.late" in places else None
        self.losing = [places[name] for name in ("contact.lost", "contact.deep") if name in places]
        self.called = any(lane.pilot and lane.pilot.sampled for lane in self.each)

    def numbers(self, lane: Lane) -> dict[str, Any]:
        """The run-time numbers of a lane."""
        every = self.stepper.whole(self.every) if self.every else None
        found: dict[str, Any] = dict(lane.system.parameters)
        for name, x in self.stepper.given(self.until or 10.0).items():
            found[f"stepper.{name}"] = float(x)
        end = FAR if self.until is None else self.stepper.whole(self.until)
        found |= {"stepper.until": float(end), "stepper.goal": NEVER, "stepper.interval": float(every or FAR)}
        found["stepper.stride"] = round(every / self.stepper.step) if every and self.stepper.impulsive else NEVER  # type: ignore[attr-defined]
        found["stepper.energy"] = float(lane.here.kinetic + lane.here.potential)
        if lane.system.mechanism.isolated():
            text = lane.system.equations()(lane.system.parameters)
            for part, x in zip(MOMENTA, text.momenta(lane.q.tolist(), lane.v.tolist()), strict=True):
                found[f"stepper.momentum.{part}"] = float(x)
        return found | {f"clock.{name}": n for name, n in self.strides.items()}

    def begin(self, lane: int) -> None:
        """Put a lane at its start."""
        one, names = self.each[min(lane, self.lanes - 1)], self.text.state
        assert names is not None
        state: dict[str, Any] = dict(zip(names.q, one.q.tolist(), strict=True))
        state |= zip(names.v, one.v.tolist(), strict=True)
        if not self.stepper.impulsive:
            # a compliant contact that is closed at the start is taken as just begun
            for gap, rate, mode, approach in zip(
                one.here.gaps, one.here.openings, names.modes, names.approach, strict=True
            ):
                shut = gap <= LANDED
                state |= {mode: float(shut), approach: max(-float(rate), SLOWEST) if shut else 1.0}
            state |= {
                f"before.{name}": x for name, x in state.items()
            }  # the first sample may come before the first step
            state |= {f"{joint}.push": push for joint, push in one.pushes.items()}
            state["step.next"] = min(FIRST, self.stepper.given(self.until or 10.0).get("max_step", FIRST))
        self.run.start(lane, self.numbers(one), state)
        if one.pilot:
            one.pilot.begin(self.run, lane, one.q, one.v)
        if lane < self.lanes:
            self.ended(lane, one.refused)
            if one.refused:
                self.run.abandon(lane)

    # -- going on
    def step(self, n: int = 1) -> None:
        """Take n steps in every lane."""
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
            raise ValueError(f"step takes a whole number of steps, got {n!r}")
        with self.lock:
            if n > BURST or self.run.eager or self.called:
                self.aim(FAR, self.taken + n)
                self.go(None)
                return
            if n == 0:
                return
            if self.ends[0] != FAR:
                self.leave()
            self.ends[:], self.goals[:] = FAR, self.taken + n
            self.standing[self.alive & (self.standing == DONE)] = RUNNING
            self.run.few_steps(n)
            while self.late is not None and RUNNING in self.standing.tolist():  # not every call is a step
                self.run.few_steps(n)
            self.settle()

    def advance(self, until: float, progress: Callable[[float], None] | None = None) -> None:
        """Go on to a time (s) in every lane."""
        if not (isinstance(until, int | float | np.number) and math.isfinite(until)):
            raise ValueError(f"until must be a number of seconds, got {until!r}")
        with self.lock:
            if self.until is None:
                self.until = float(until)
                for name, x in self.stepper.given(self.until).items():
                    self.run[f"stepper.{name}"] = float(x)
            self.asked = float(until)
            self.aim(self.stepper.whole(self.asked), NEVER)
            self.go(progress)

    def aim(self, until: float, goal: Any) -> None:
        """Set where to go, and let lanes that got where they should go on from there."""
        self.leave()
        self.ends[:], self.goals[:] = until, goal
        reached = (self.times >= until) | (self.taken >= goal)
        self.standing[(self.standing == DONE) & self.alive & ~reached] = RUNNING
        self.standing[(self.standing == RUNNING) & reached] = DONE

    def leave(self) -> None:
        """Go on from an end that is none any more: what is left of its step is recorded before the next one, and
        samples of impulses that are not due by themselves are left out."""
        if self.late is not None:
            self.late |= self.taken > 0
        if not self.stepper.impulsive or not self.every:
            return
        strides = self.run.parameter_words[self.index["stepper.stride"]]
        for lane in range(self.lanes):
            parts = self.run.collected["samples"][lane]
            arrived = self.times[lane] >= self.ends[lane] and self.alive[lane]
            if arrived and parts and self.taken[lane] % strides[lane] and parts[-1][-1, 0] == self.times[lane]:
                parts[-1] = parts[-1][:-1]

    def go(self, progress: Callable[[float], None] | None) -> None:
        """Run until every lane has arrived or ended; sampled functions are called on the way."""

        def told() -> bool:
            if progress is not None:
                progress(float(self.time.min()))
            return False

        if self.called:
            self.drive(told)
        else:
            self.run.advance(until=told if progress else None, expect=None)
        self.settle()

    def drive(self, told: Callable[[], bool]) -> None:
        """Go from sample to sample of Python functions."""
        run, pilots = self.run, [lane.pilot for lane in self.each if lane.pilot]
        calls, stride = [pilot.calls(run) for pilot in pilots], pilots[0].stride
        quick = not run.eager and stride <= BURST
        while (self.standing == RUNNING).any():
            begin = clock.perf_counter()
            with undisturbed():
                while (self.standing == RUNNING).any() and clock.perf_counter() - begin < CHUNK_SECONDS:
                    for lane in np.flatnonzero(self.standing == RUNNING).tolist():
                        wrong = calls[lane](lane) if self.taken[lane] % stride == 0 else None
                        if wrong:
                            time = float(self.times[lane])
                            self.ended(lane, Outcome(Ending.CONTROLLER_FAILED, wrong, time, "control"))
                            run.abandon(lane)
                    running = self.standing == RUNNING
                    if running.any():
                        self.reach(int((self.taken[running] // stride + 1).min()) * stride, quick)
            told()

    def reach(self, goal: int, quick: bool) -> None:
        """Take steps until the running lanes have taken so many; calls that only write samples are no steps."""
        while True:
            left = goal - int(self.taken[self.standing == RUNNING].min(initial=goal))
            if left <= 0:
                return
            (self.run.few_steps if quick else self.run.advance)(left)

    def settle(self) -> None:
        """Note the ends of lanes that cannot go on."""
        if max(self.standing.tolist()) <= DONE and not (self.losing and self.run.state_words[self.losing].any()):
            return
        for lane in range(self.lanes):
            lost = any(self.run.state_words[at, lane] for at in self.losing)
            if self.outcomes[lane] is None and (self.standing[lane] > DONE or lost):
                self.ended(lane, ending(self, lane))

    def ended(self, lane: int, outcome: Outcome | None) -> None:
        """Note how a lane ended."""
        self.outcomes[lane] = outcome
        self.alive[lane] = outcome is None

    # -- what is known
    @property
    def names(self) -> list[str]:
        """The coordinates, then their rates."""
        assert self.text.state is not None
        return [*self.text.state.q, *self.text.state.v]

    @property
    def time(self) -> np.ndarray:
        """The time that each lane has reached (s)."""
        return self.times[: self.lanes].copy()

    @property
    def steps(self) -> np.ndarray:
        """How many steps each lane has taken."""
        return self.taken[: self.lanes].copy()

    @property
    def state(self) -> np.ndarray:
        """Coordinates and rates of every lane: [lane, name]."""
        return self.run.state_words[self.places, : self.lanes].view(np.float64).T.copy()

    @property
    def status(self) -> list[Outcome]:
        """How each lane stands."""
        running = [Outcome(Ending.RUNNING, f"at {t:.6g} s", float(t)) for t in self.time]
        for lane, t in enumerate(self.time):
            if t >= self.ends[lane]:
                running[lane] = Outcome(Ending.DONE, self.reached(float(self.ends[lane])), float(self.ends[lane]))
        return [outcome or now for outcome, now in zip(self.outcomes, running, strict=True)]

    def reached(self, time: float) -> str:
        """Where a run has got to, in words: steps of one length may not meet the time that was asked for."""
        if math.isclose(time, self.asked, rel_tol=1e-9):
            return f"reached {time:g} s"
        return f"reached {time:.9g} s, the whole number of steps that is nearest to {self.asked:g} s"

    def system(self, lane: int = 0) -> System:
        """The system of a lane, with the numbers that were set on the way."""
        one = self.each[lane]
        return one.system.with_(one.changes) if one.changes else one.system

    def observe(self, names: Sequence[str]) -> np.ndarray:
        """Present values by name, [lane, name]: coordinates, rates, time, energies, gaps ("J2.gap"), places of journals
        ("J2.place.x"), whatever the program keeps, and its numbers."""
        found = np.empty((self.lanes, len(names)))
        here: dict[int, dict[str, float]] = {}
        for j, name in enumerate(names):
            if name in self.run.slots and self.run.slots[name].size == 1:
                words, slot = self.run.words(name)
                found[:, j] = (words.view(np.float64) if slot.kind == "f" else words)[0, : self.lanes]
                continue
            for lane in range(self.lanes):
                known = here.setdefault(lane, {}) or here[lane] or self.evaluated(lane)
                here[lane] = known
                if name not in known:
                    raise KeyError(f"nothing is called {name!r}{suggestion(name, [*known, *self.run.slots])}")
                found[lane, j] = known[name]
        return found

    def evaluated(self, lane: int) -> dict[str, float]:
        """What follows from the state of a lane."""
        system, state = self.system(lane), self.state[lane]
        n = len(system.coordinates)
        at = system.evaluate(state[:n], state[n:], float(self.time[lane]))
        found = {"kinetic": float(at.kinetic), "potential": float(at.potential)}
        found |= {f"{label}.gap": float(gap) for label, gap in zip(system.contacts, at.gaps, strict=True)}
        for joint, (x, y) in zip(system.journals, at.places, strict=True):
            found |= {f"{joint}.place.x": float(x), f"{joint}.place.y": float(y)}
        return found

    # -- changes between steps
    def set(self, numbers: Mapping[str, float], lane: int | None = None) -> None:
        """Give numbers of the mechanism (a motor's torque, a gain, a mass) other values from now on, in one lane or in
        all.  Its energy account takes what that changes in stored energy as given from outside."""
        with self.lock:
            missing = [a for a in numbers if a not in self.index]
            if missing:
                self.free(missing)
            chosen = range(self.lanes) if lane is None else [self.checked(lane)]
            for address, x in numbers.items():
                value = float(x)
                if not math.isfinite(value):
                    raise ValueError(f"{address!r} must be a finite number, got {x!r}")
                stored = self.stores(address)
                for k in chosen:
                    before = self.energy(k) if stored else 0.0
                    self.run.parameter_words[self.index[address], k : k + 1].view(np.float64)[0] = value
                    self.each[k].changes[address] = value
                    if stored:
                        energy = self.run.parameter_words[self.index["stepper.energy"], k : k + 1].view(np.float64)
                        energy += self.energy(k) - before
            if "steps.known" in self.run.places:  # what acts at the state has changed
                self.run.state_words[self.run.places["steps.known"], list(chosen)] = 0

    def stores(self, address: str) -> bool:
        """Whether stored energy depends on a number: asked at a place and with rates that are nothing special."""
        if address not in self._stored:
            system, rng = self.each[0].system, np.random.default_rng(1)
            q, v = self.each[0].q + rng.normal(size=len(self.each[0].q)), rng.normal(size=len(self.each[0].q))
            value = system.mechanism.value(address) if address in system.mechanism.addresses() else 1.0
            try:
                other = system.with_({address: 1.1 * value + 0.01})
            except ModelError:
                other = system.with_({address: 0.9 * value})
            here, there = (one.evaluate(q, v) for one in (system, other))
            self._stored[address] = (here.kinetic, here.potential) != (there.kinetic, there.potential)
        return self._stored[address]

    def energy(self, lane: int) -> float:
        """The stored energy of a lane (J)."""
        found = self.evaluated(lane)
        return found["kinetic"] + found["potential"]

    def free(self, addresses: Sequence[str]) -> None:
        """Make numbers that are 0, and so part of the structure, changeable: another program goes on from here."""
        known = self.base.given.addresses()
        for address in addresses:
            if address not in known:
                raise KeyError(f"no such address {address!r}{suggestion(address, known)}")
            if address.endswith(STRUCTURAL) or address.startswith("start."):
                text = "is part of the structure or of the start; make another Simulation"
                raise ValueError(f"{address!r} {text}")
        self.base = System(self.base.given, self.base.reach, self.base.free | set(addresses))
        before, words, outcomes = self.run, {}, list(self.outcomes)
        for name, slot in before.program.places.items():
            words[name] = before.state_words[slot : slot + before.slots[name].size].copy()
        for lane in self.each:
            lane.system = System(lane.system.given, lane.system.reach, self.base.free)
        self.build()
        for name, old in words.items():
            if name in self.run.places:
                at = self.run.places[name]
                self.run.state_words[at : at + len(old)] = old
        for slot_name in (slot.name for slot in before.program.parameters):
            self.run[slot_name] = before[slot_name]
        self.run.collected = before.collected
        for k, outcome in enumerate(outcomes):
            self.ended(k, outcome)

    def perturb(self, change: Mapping[str, float] | Sequence[float] | np.ndarray, lane: int) -> None:
        """Move the state of a lane by a little, then onto its joints and drives by the least change."""
        with self.lock:
            self.checked(lane)
            names, state = self.names, self.state[lane]
            if isinstance(change, Mapping):
                unknown = [name for name in change if name not in names]
                if unknown:
                    raise KeyError(f"no coordinate or rate {unknown[0]!r}{suggestion(unknown[0], names)}")
                change = [float(change.get(name, 0.0)) for name in names]
            moved = state + np.asarray(change, float)
            if moved.shape != state.shape or not np.isfinite(moved).all():
                raise ValueError(f"expected {len(names)} finite numbers for {', '.join(names)}")
            self.put(lane, statics.nearest(self.system(lane), moved, float(self.time[lane]), self.each[lane].freedom))

    def put(self, lane: int, state: np.ndarray) -> None:
        """Give a lane other coordinates and rates, as they are."""
        self.run.state_words[self.places, lane] = np.ascontiguousarray(state, float).view(np.int64)
        if "steps.known" in self.run.places:
            self.run.state_words[self.run.places["steps.known"], lane] = 0

    def checked(self, lane: int) -> int:
        """The number of a lane, or an error."""
        if isinstance(lane, bool) or not isinstance(lane, int | np.integer) or not 0 <= lane < self.lanes:
            raise ValueError(f"there are lanes 0 to {self.lanes - 1}, got {lane!r}")
        return int(lane)

    def snapshot(self) -> Any:
        """All that is needed to go on from here."""
        run = self.run
        rows = {name: [list(parts) for parts in lanes] for name, lanes in run.collected.items()}
        arrays = run.state_words.copy(), run.parameter_words.copy()
        changes = [dict(lane.changes) for lane in self.each]
        return (*arrays, rows, list(self.outcomes), changes, self.program)

    def reset(
        self,
        state: Any = None,
        lane: int | None = None,
        numbers: Mapping[str, float | str] | None = None,
        start: Mapping[str, float | str] | None = None,
    ) -> None:
        """Back to the start, or to a snapshot; one lane or all, with other numbers and start values if given."""
        with self.lock:
            chosen = list(range(self.lanes)) if lane is None else [self.checked(lane)]
            if state is not None:
                words, parameters, rows, outcomes, changes, program = state
                if program is not self.program:
                    raise ValueError("the snapshot belongs to another program: a number has become changeable since")
                for k in chosen:
                    self.run.state_words[:, k], self.run.parameter_words[:, k] = words[:, k], parameters[:, k]
                    self.each[k].changes = dict(changes[k])
                    self.ended(k, outcomes[k])
                    for name, lanes in rows.items():
                        self.run.collected[name][k] = list(lanes[k])
                return
            for k in chosen:
                if numbers or start or self.each[k].changes:
                    self.each[k] = self.prepared(self.each[k].system, dict(numbers or {}), dict(start or {}))
                    if self.each[k].system.structure != self.each[0].system.structure:
                        raise ValueError("reset: these numbers make another structure; make another Simulation")
                    self.begin(k)
                    self.began[0][:, k] = self.run.state_words[:, k]
                    self.began[1][:, k] = self.run.parameter_words[:, k]
                else:
                    self.run.state_words[:, k], self.run.parameter_words[:, k] = (words[:, k] for words in self.began)
                    self.ended(k, self.each[k].refused)
                    for parts in self.run.collected.values():
                        parts[k] = []

    def result(self, lane: int = 0) -> Dataset:
        """What a lane has computed so far, as `simulate` gives it."""
        from .reading import dataset

        return dataset(self, self.checked(lane))


def system_of(
    mechanism: Mechanism | System,
    start: Mapping[str, float | str] | None,
    control: Control | None,
    until: float | None,
) -> System:
    """The system of a mechanism with another start and control, whose sampled motions reach beyond a time (s)."""
    reach = 1.02 * (until or 10.0)
    if not start and control is None and isinstance(mechanism, System):
        return mechanism.until(reach)
    base = mechanism.given if isinstance(mechanism, System) else mechanism
    free = mechanism.free if isinstance(mechanism, System) else frozenset()
    if start:
        base = base.with_({f"start.{key}": x for key, x in start.items()})
    if control is not None:
        base = base.replace(control=control)
    return System(base, reach, free)


def split(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Numbers and start values of a lane."""
    if not isinstance(given, Mapping):
        raise ValueError(f"a lane is a mapping of addresses to numbers, got {given!r}")
    start = {key.removeprefix("start."): x for key, x in given.items() if key.startswith("start.")}
    return {key: x for key, x in given.items() if not key.startswith("start.")}, start


def opened(system: System, q: np.ndarray, v: np.ndarray, here: Equations, h: float) -> list[str]:
    """Refuse a start in penetration; note a step too long for the play."""
    depths = dict(zip(system.contacts, -here.gaps, strict=True))
    worst = max(depths, key=lambda label: depths[label], default=None)
    if worst is not None and depths[worst] > TOUCHING:
        start = ", ".join(key for key in system.mechanism.start if not key.endswith("rate"))
        text = (
            f"penetrates {worst!r} by {depths[worst]:.4g} m or rad, with {start}; give other or fewer values, "
            "or re-close it from the first of them with reclose=True (command line: --reclose)"
        )
        raise ModelError(Problem(("start",), text))
    plays = [x for a, x in system.mechanism.addresses().items() if a.endswith((".clearance", ".play")) and x > 0]
    pull = np.abs(np.linalg.solve(here.M, here.F)).reshape(-1, 3)[:, :2].max(initial=0.0)  # of mass centres (m/s^2)
    moved = system.evaluate(q + 1e-7 * v).places - here.places  # a journal in the middle has no gap rate
    speed = max(np.abs(here.openings).max(initial=0.0), 1e7 * np.hypot(*moved.reshape(-1, 2).T).max(initial=0.0))
    if plays and (pull > 0 or speed > 0):
        flights = [math.sqrt(2 * min(plays) / pull)] if pull > 0 else []
        flight = min([*flights, *([2 * min(plays) / speed] if speed > 0 else [])])
        if h > 0.1 * flight:
            return [
                f"the step of {h:g} s is long beside the {flight:.2g} s in which the play of {min(plays):g} "
                f"is crossed; use {0.01 * flight:.1g} s or less"
            ]
    return []
