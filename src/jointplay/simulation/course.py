"""Lanes of one program on their way: built, started, stepped from end to end, with Python controllers called."""

from __future__ import annotations

import math
import threading
import time as clock
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from .. import statics
from ..engine.program import Program
from ..engine.text import DONE, RUNNING
from ..engine.values import LANES
from ..errors import InputError
from ..host import undisturbed
from ..physics.compliance import LANDED, SLOWEST
from ..physics.contact_solver import FORWARD
from ..physics.march import Text
from ..physics.marches import ABOUT
from ..physics.record import MOMENTA
from ..physics.step import Stepper
from ..run import CHUNK_SECONDS, Run
from ..traces import recalled
from .endings import ending, tired
from .lanes import Lane
from .outcome import Ending, Outcome
from .steering import Pilot

FAR = 1e300  # s: no end
NEVER = 2**62  # steps
FIRST, SHORT = 1e-3, 1e-9  # s: the first step that is tried; of impulses, where it is not judged yet
COMPANY = 1000  # samples of a companion at least, if the run has more
PATIENCE = 2  # times the steps of the run: a companion that takes more is given up
MOST_STEPS = 50_000_000  # that a tolerance may choose: minutes of work
FEW = 64  # attempts between two looks at the ticks of clocks
LISTED = 1_000_000  # impacts of a run at most; later ones are only counted
BURST = 4096  # steps that take so little time that Ctrl-C can wait


class Course:
    """Lanes and the run that moves them."""

    stepper: Stepper
    each: list[Lane]
    lanes: int
    share: bool
    every: float | None  # s: between samples
    until: float | None  # s: how far they are to go
    asked: float  # s: where they were last asked to go
    most_steps: int  # that a tolerance may choose on the way there
    options: dict[str, Any]  # of the run
    lock: threading.RLock
    settles: float  # s: where a step is to end, since it will be; 0 if nowhere
    settled: dict[int, float]  # s, by lane: when `count_anew` was called
    earlier: dict[int, np.ndarray]  # by lane: its words at that time

    def build(self) -> None:
        """The program and its run, every lane at its start."""
        first = self.each[0]
        for lane in self.each[1:]:
            if lane.system.structure != first.system.structure or lane.freedom.redundant != first.freedom.redundant:
                text = "lanes need one structure: a clearance, length or other number that is 0 in one must be 0 in all"
                raise InputError(f"Simulation: {text}")
        strides = [self.clock(lane)[1] for lane in self.each]
        timing = Pilot.clock({name: max(each[name] for each in strides) for name in strides[0]})
        dropped, labels = first.freedom.redundant, first.system.contacts
        kind = "march", self.stepper.structure, dropped, tuple(timing.items()), self.parted

        def make() -> tuple[Program, Text]:
            text = Text(first.system.equations(dropped), labels, self.stepper, timing, self.parted)
            return recalled(text, {}, self.numbers(first), (first.system.structure, kind)), text

        self.program, self.text = first.system.program(kind, make)
        width = next(n for n in LANES if n >= self.lanes)
        self.run = Run(self.program, lanes=width, share=self.share, **self.options)
        self.run.most = dict.fromkeys({"impacts", "contacts"} & self.program.streams.keys(), LISTED)
        self.look()
        self.outcomes: list[Outcome | None] = [None] * self.lanes
        self.alive = np.arange(width) < self.lanes
        self.bounds = np.full(width, NEVER)
        for k in range(width):
            self.begin(k)
            if k >= self.lanes:
                self.run.abandon(k)
        self.began = self.run.state_words.copy(), self.run.parameter_words.copy()

    @property
    def parted(self) -> bool:
        """Whether a step ends where the run will count as settled: long ones that would go beyond it do."""
        return self.settles > 0 and self.stepper.adaptive and not self.stepper.impulsive

    def clock(self, lane: Lane) -> tuple[float | None, dict[str, int]]:
        """The time between two ticks of the clock of a lane's control loop, if it has one (s), and how many of them lie
        between samples and in delays; steps of one length are ticks."""
        if lane.pilot is None:
            return None, {}
        companion = lane.stepper is not None
        tick = lane.pilot.tick(companion) if self.stepper.adaptive else self.stepper.step  # type: ignore[attr-defined]
        return tick, lane.pilot.strides(tick)

    def look(self) -> None:
        """Views into the words of the run, for what is asked in every call."""
        words, places = self.run.state_words, self.run.places
        self.index = {slot.name: i for i, slot in enumerate(self.program.parameters)}
        self.places = [places[name] for name in self.names]
        self.standing, self.taken = words[places["status"]], words[places["steps.taken"]]
        self.times = words[places["time"]].view(np.float64)
        self.ends = self.run.parameter_words[self.index["stepper.until"]].view(np.float64)
        self.goals = self.run.parameter_words[self.index["stepper.goal"]]
        marked = self.index.get("stepper.mark")
        self.marks = self.ends.copy() if marked is None else self.run.parameter_words[marked].view(np.float64)
        self.late = words[places["samples.late"]] if "samples.late" in places else None
        self.losing = [places[name] for name in ("contact.lost", "contact.deep") if name in places]
        self.ticks: Any = words[places["clock.ticks"]] if "clock.ticks" in places else None
        self.heard: Any = words[places["clock.heard"]] if "clock.heard" in places else None
        self.called = any(lane.pilot and lane.pilot.sampled for lane in self.each)

    def numbers(self, lane: Lane) -> dict[str, Any]:
        """The run-time numbers of a lane."""
        every = self.stepper.whole(self.every) if self.every else None
        if every and lane.stepper and self.until is not None:
            last = int(self.until / every * ABOUT)  # which a companion has too
            every *= next(n for n in range(max(last // COMPANY, 1), 0, -1) if last % n == 0)
        found: dict[str, Any] = dict(lane.system.parameters)
        for name, x in (lane.stepper or self.stepper).given().items():
            found[f"stepper.{name}"] = float(x)
        end = FAR if self.until is None else self.stepper.whole(self.until)
        found |= {"stepper.until": float(end), "stepper.goal": NEVER, "stepper.interval": float(every or FAR)}
        if self.stepper.adaptive and not self.stepper.impulsive:
            found["stepper.mark"] = FAR
        if self.parted:
            found["stepper.settled"] = float(self.settles)
        strides = every and self.stepper.impulsive and not self.stepper.adaptive
        found["stepper.stride"] = round(every / self.stepper.step) if strides else NEVER  # type: ignore[attr-defined]
        found["stepper.energy"] = float(lane.here.kinetic + lane.here.potential)
        if lane.system.mechanism.isolated():
            text = lane.system.equations()(lane.system.parameters)
            for part, x in zip(MOMENTA, text.momenta(lane.q.tolist(), lane.v.tolist()), strict=True):
                found[f"stepper.momentum.{part}"] = float(x)
        tick, spans = self.clock(lane)
        if self.stepper.adaptive:
            found |= {"stepper.tick": tick or FAR, "stepper.ticks": NEVER}
        return found | {f"clock.{name}": n for name, n in spans.items()}

    def begin(self, lane: int) -> None:
        """Put a lane at its start."""
        one, names = self.each[min(lane, self.lanes - 1)], self.text.state
        assert names is not None
        state: dict[str, Any] = dict(zip(names.q, one.q.tolist(), strict=True))
        state |= zip(names.v, one.v.tolist(), strict=True)
        if self.stepper.impulsive and one.system.mechanism.journals == "loaded":
            # what rests on its wall is not struck in the first step
            resting = (one.here.gaps <= LANDED) & (np.abs(one.here.openings) <= SLOWEST)
            state |= {mode: FORWARD for mode, rests in zip(names.modes, resting, strict=True) if rests}
        if not self.stepper.impulsive:
            # a compliant contact that is closed at the start is taken as just begun
            speeds = statics.approaches(one.system, one.q, one.here)
            for gap, speed, mode, approach in zip(one.here.gaps, speeds, names.modes, names.approach, strict=True):
                shut = gap <= LANDED
                state |= {mode: float(shut), approach: float(speed) if shut else 1.0}
            state |= {
                f"before.{name}": x for name, x in state.items()
            }  # the first sample may come before the first step
            state |= {f"{joint}.push": push for joint, push in one.pushes.items()}
            state["step.next"] = min(FIRST, (one.stepper or self.stepper).given().get("max_step", FIRST))
        elif self.stepper.adaptive:
            state["step.next"] = SHORT
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
            raise InputError(f"step takes a whole number of steps, got {n!r}")
        with self.lock:
            self.bounds[:] = NEVER  # it is known how many there are
            if n > BURST or self.run.eager or self.called:
                self.aim(FAR, self.taken + n)
                self.go(None)
                return
            if n == 0:
                return
            if self.ends[0] != FAR:
                self.leave(self.alive)
            self.ends[:], self.marks[:], self.goals[:] = FAR, FAR, self.taken + n
            self.standing[self.alive & (self.standing == DONE)] = RUNNING
            self.run.few_steps(n)
            unsure = self.late is not None or self.stepper.adaptive  # not every call is a step
            while unsure and RUNNING in self.standing.tolist():
                self.run.few_steps(n)
            self.settle()

    def advance(self, until: float, progress: Callable[[float], None] | None = None, *, beyond: bool = False) -> None:
        """Go on to a time (s) in every lane.  Chosen steps end there, and state, time and what is set belong to it;
        steps of one length end at a whole number of them.  beyond: the last chosen step may go beyond it, as in
        `simulate`, so that the pause leaves no trace in what follows."""
        if not (isinstance(until, int | float | np.number) and math.isfinite(until)):
            raise InputError(f"until must be a number of seconds, got {until!r}")
        with self.lock:
            if self.until is None:
                self.until = float(until)
            self.asked = float(until)
            self.allow(range(self.lanes))
            end = self.stepper.whole(self.asked)
            self.aim(end, self.bounds, FAR if beyond else end)
            self.go(progress)

    def allow(self, lanes: Iterable[int]) -> None:
        """Let lanes take as many chosen steps from here as they may."""
        chosen = list(lanes)
        self.bounds[chosen] = self.taken[chosen] + self.most_steps if self.stepper.adaptive else NEVER

    def aim(self, until: Any, goal: Any, mark: float = FAR) -> None:
        """Set where to go (s), for all lanes or for each, and let lanes that got where they should go on from there;
        mark: where a chosen step ends (s)."""
        reached = self.reaches(until) | (self.taken >= goal)
        self.leave(self.alive & ~reached)
        self.ends[:], self.goals[:], self.marks[:] = until, goal, mark
        self.standing[(self.standing == DONE) & self.alive & ~reached] = RUNNING
        self.standing[(self.standing == RUNNING) & reached] = DONE

    def reaches(self, until: Any) -> np.ndarray:
        """Which lanes have reached a time (s)."""
        return self.times * (1.0 if self.stepper.adaptive and not self.stepper.impulsive else ABOUT) >= until

    def leave(self, lanes: np.ndarray) -> None:
        """Go on from ends that are none any more: what is left of their steps is recorded before the next ones, and
        samples of impulses that are not due by themselves, or written already, are left out."""
        if self.late is not None:
            self.late |= self.taken > 0
        if not self.stepper.impulsive:
            return
        for lane in np.flatnonzero(lanes & (self.times >= self.ends * (1 - 1e-9))).tolist():
            parts = self.run.collected["samples"][lane]
            *earlier, last = [math.nan, *(x for part in parts[-2:] for x in part[-2:, 0].tolist())]
            twice = bool(earlier) and math.isclose(earlier[-1], last, rel_tol=1e-12)
            if twice or (last == self.times[lane] and not self.due(lane)):
                parts[-1] = parts[-1][:-1]
                if not len(parts[-1]):
                    parts.pop()

    def due(self, lane: int) -> bool:
        """Whether a sample of impulses where a lane is would be written if the run did not end there."""
        if not self.stepper.adaptive:
            return not self.taken[lane] % self.run.parameter_words[self.index["stepper.stride"], lane]
        written = int(self.run["samples.following"][lane]) - 1
        return math.isclose(self.times[lane], written * float(self.run["stepper.interval"][lane]), rel_tol=1e-9)

    def go(self, progress: Callable[[float], None] | None) -> None:
        """Run until every lane has arrived or ended; sampled functions are called on the way."""

        def told() -> bool:
            if progress is not None:
                progress(float(self.times[self.alive].min(initial=self.times[0])))
            self.part()
            return False

        if self.called:
            self.drive(told)
        else:
            self.run.advance(until=told if progress or self.each[-1].stepper else None, expect=None)
        self.settle()

    def part(self) -> None:
        """Give up companions for which a run would wait too long."""
        for lane, one in enumerate(self.each):
            if one.stepper and self.standing[0] != RUNNING and self.taken[lane] > PATIENCE * self.taken[0]:
                self.run.abandon(lane)

    def follow(self, stepper: Stepper, most_steps: int) -> None:
        """Put the first lane back to its start, as a companion that may take so many steps."""
        self.each[0] = replace(self.each[0], stepper=stepper)
        self.earlier, self.most_steps = {}, most_steps
        self.begin(0)

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
                        wrong = calls[lane](lane) if self.calls_now(lane, stride) else None
                        if wrong:
                            time = float(self.times[lane])
                            self.ended(lane, Outcome(Ending.CONTROLLER_FAILED, wrong, time, "control"))
                            run.abandon(lane)
                    running = self.standing == RUNNING
                    if running.any() and self.ticks is not None:
                        self.tick(stride)
                    elif running.any():
                        self.reach(int((self.taken[running] // stride + 1).min()) * stride, quick)
            run.improve(clock.perf_counter() - begin)
            told()

    def calls_now(self, lane: int, stride: int) -> bool:
        """Whether a Python function is to be called where a lane is; of chosen steps many may begin after one tick."""
        if self.ticks is None:
            return bool(self.taken[lane] % stride == 0)
        return bool(self.ticks[lane] % stride == 0 and self.heard[lane] < self.ticks[lane])

    def tick(self, stride: int) -> None:
        """Go on towards the next calls of Python functions, each lane to its own; those that are there go on next."""
        self.run.parameter_words[self.index["stepper.ticks"]] = (self.ticks // stride + 1) * stride
        (self.run.advance if self.run.eager else self.run.few_steps)(FEW)
        waiting = self.alive & (self.standing == DONE) & ~self.reaches(self.ends) & (self.taken < self.goals)
        if self.losing:
            waiting &= ~self.run.state_words[self.losing].any(axis=0)
        self.standing[waiting] = RUNNING

    def reach(self, goal: int, quick: bool) -> None:
        """Take steps until the running lanes have taken so many; calls that only write samples are no steps."""
        while True:
            left = goal - int(self.taken[self.standing == RUNNING].min(initial=goal))
            if left <= 0:
                return
            (self.run.few_steps if quick else self.run.advance)(left)

    @contextmanager
    def cut(self, lane: int) -> Iterator[None]:
        """What a lane has recorded as if its last step, which may go beyond the end, ended there, with a sample of the
        end if there are none on the way; it goes on from what there was before."""
        run, places = self.run, self.run.places
        cut = "steps.cut" in places and bool(run["steps.open"][lane]) and self.outcomes[lane] is None
        single = not self.every and not self.stepper.impulsive and self.taken[lane] > 0
        if not cut and not single:
            yield
            return
        before, parts = (run.state_words.copy(), run.parameter_words.copy()), run.collected["samples"][lane].copy()
        taken = run.steps_taken
        self.standing[:] = DONE
        self.standing[lane] = RUNNING
        run.put("samples.late", lane, True)
        if cut:
            run.put("steps.cut", lane, True)
        if single:
            run.put("samples.following", lane, 1)
            end = min(self.times[lane], self.ends[lane])
            run.parameter_words[self.index["stepper.interval"], lane : lane + 1].view(np.float64)[0] = end
        try:
            run.advance(1)
            yield
        finally:
            run.state_words[:], run.parameter_words[:] = before
            run.collected["samples"][lane], run.steps_taken = parts, taken

    def settle(self) -> None:
        """Note the ends of lanes that cannot go on."""
        for lane in np.flatnonzero(self.alive & (self.taken >= self.bounds) & ~self.reaches(self.ends)).tolist():
            self.ended(lane, tired(self, lane))  # type: ignore[arg-type]
        if max(self.standing.tolist()) <= DONE and not (self.losing and self.run.state_words[self.losing].any()):
            return
        for lane in range(self.lanes):
            lost = any(self.run.state_words[at, lane] for at in self.losing)
            if self.outcomes[lane] is None and (self.standing[lane] > DONE or lost):
                self.ended(lane, ending(self, lane))  # type: ignore[arg-type]

    def ended(self, lane: int, outcome: Outcome | None) -> None:
        """Note how a lane ended."""
        self.outcomes[lane] = outcome
        self.alive[lane] = outcome is None

    @property
    def names(self) -> list[str]:
        """The coordinates, then their rates."""
        assert self.text.state is not None
        return [*self.text.state.q, *self.text.state.v]

    @property
    def time(self) -> np.ndarray:
        """The time that each lane has reached (s)."""
        return self.times[: self.lanes].copy()
