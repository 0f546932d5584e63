"""Runs that differ in numbers only, side by side in the lanes of one compiled program; a lane that has ended takes the
next run at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.text import RUNNING
from ..errors import InputError
from ..model.mechanism import Mechanism
from ..simulation import Simulation, Stepper
from ..system import System, structural

if TYPE_CHECKING:
    from xarray import Dataset

LANES = 4
Reader = Callable[[Any, Simulation, int], Any]  # what is made of a lane that has ended, given what names its run
SAMPLES = 1000  # output intervals of a run unless `every` says otherwise


class Interrupted(Exception):
    """A batch that was asked to stop."""


@dataclass(frozen=True)
class Task:
    """One run: a mechanism, its stepper, and numbers in place of the mechanism's.

    free: addresses that the study varies, run-time numbers in all its runs also where they are 0.
    """

    mechanism: Mechanism
    stepper: Stepper
    numbers: Mapping[str, float]
    free: frozenset[str]
    variant: str = ""  # tells mechanisms of one study apart
    loose: bool = True  # whether it has play
    twin: Task | None = field(default=None, compare=False)

    @property
    def structure(self) -> tuple[Any, ...]:
        """What all runs of one compiled program have in common."""
        closed = tuple(a for a, x in self.numbers.items() if structural(self.mechanism, a) and x == 0)
        return self.variant, self.stepper, closed

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from other runs of the same study."""
        return self.variant, self.stepper, tuple(self.numbers.items())

    def system(self, until: float) -> System:
        """Its mechanism with its numbers, compiled."""
        mechanism = self.mechanism.with_(self.numbers) if self.numbers else self.mechanism
        return System(mechanism, 1.02 * until, self.free)

    def split(self) -> tuple[dict[str, float], dict[str, float]]:
        """Its numbers, and among them its start values."""
        start = {a.removeprefix("start."): x for a, x in self.numbers.items() if a.startswith("start.")}
        return {a: x for a, x in self.numbers.items() if not a.startswith("start.")}, start


@dataclass(frozen=True)
class Extent:
    """How far runs go (s), how often they are sampled (s), whether their joints are closed anew at the start, and from
    when they count as settled (s)."""

    until: float
    every: float | None = None
    reclose: bool = False
    settled: float = 0.0

    @property
    def between(self) -> float:
        """The time between samples (s)."""
        return self.until / SAMPLES if self.every is None else self.every

    def simulation(self, task: Task, lanes: int = 1) -> Simulation:
        """A thing that steps, all its lanes at the start of a task."""
        every = self.between
        if every > self.until:
            raise InputError(f"every = {every:g} s is longer than the run of {self.until:g} s; choose every <= until")
        system = task.system(self.until)
        return Simulation(
            system, task.stepper, lanes, every=every, until=self.until, reclose=self.reclose, settles=self.settled
        )

    def alone(self, task: Task, stop: Callable[[], bool] = lambda: False) -> Dataset:
        """The result of one run."""
        found: list[Any] = []
        self.march(deque([(0, task)]), lambda i, run: found.append(run), stop)
        if isinstance(found[0], Exception):
            raise found[0]
        result: Dataset = found[0]
        return result

    def march(
        self, queue: deque[tuple[Any, Task]], take: Callable[[Any, Any], None], stop: Callable[[], bool],
        feed: Callable[[], None] = lambda: None, read: Reader | None = None,
    ) -> None:  # fmt: skip
        """Run tasks of one structure in lanes until their queue, which other threads may share, is empty.

        take: is given each result, or the error in its place, as it comes; feed: may put more into the queue; read:
        what a result is, in place of the Dataset.
        """
        while (one := taken(queue, feed)) is not None:
            first, task = one
            if stop():
                raise Interrupted
            try:
                simulation = self.simulation(task, min(LANES, len(queue) + 1))
            except Exception as error:  # of a model that cannot be
                take(first, error)
                continue
            Crew(self, simulation, first, queue, take, stop, feed, read).go()


def taken(queue: deque[tuple[Any, Task]], feed: Callable[[], None]) -> tuple[Any, Task] | None:
    """The next of a queue that other threads may share."""
    if not queue:
        feed()
    try:
        return queue.popleft()
    except IndexError:
        return None


class Crew:
    """The lanes of a simulation, each with the run that it has taken from the queue."""

    def __init__(
        self, course: Extent, simulation: Simulation, first: Any, queue: deque[tuple[Any, Task]],
        take: Callable[[Any, Any], None], stop: Callable[[], bool], feed: Callable[[], None],
        read: Reader | None,
    ) -> None:  # fmt: skip
        self.simulation, self.queue, self.take, self.stop, self.feed = simulation, queue, take, stop, feed
        self.course, self.read = course, read or (lambda run, simulation, lane: simulation.result(lane))
        self.settling = [course.settled > 0] * simulation.lanes  # lanes on their way to where they count as settled
        self.others: list[tuple[Any, Task]] = []
        self.runs: list[Any] = [first, *[None] * (simulation.lanes - 1)]
        for lane in range(1, simulation.lanes):
            self.refill(lane)

    def go(self) -> None:
        """March until the queue is empty and all lanes have ended."""
        simulation = self.simulation
        while any(run is not None for run in self.runs):
            with simulation.lock:
                simulation.allow(range(simulation.lanes))
                self.aim()
                simulation.go(self.watch)
            self.watch()
        self.queue.extend(self.others)  # of another structure after all, each for itself

    def aim(self) -> None:
        """Send each lane to its end, by way of where it counts as settled."""
        whole, ends = self.simulation.stepper.whole, np.full(len(self.simulation.ends), self.course.until)
        ends[[k for k, early in enumerate(self.settling) if early]] = self.course.settled
        self.simulation.aim(np.array([whole(end) for end in ends]), self.simulation.bounds)

    def watch(self, time: float = 0.0) -> None:
        """Take the results of lanes that have ended, and give these lanes the next runs."""
        if self.stop():
            raise Interrupted
        simulation = self.simulation
        status = simulation.run.state_words[simulation.run.places["status"]]
        ended = [k for k, run in enumerate(self.runs) if run is not None and status[k] != RUNNING]
        if not ended:
            return
        simulation.settle()
        on_way = [k for k in ended if self.settling[k] and simulation.outcomes[k] is None]
        for lane in on_way:
            simulation.count_anew(lane, self.course.settled)
            self.settling[lane] = False
        arrived = [k for k in ended if k not in on_way]
        for lane in arrived:
            try:
                result: Any = self.read(self.runs[lane], simulation, lane)
            except Exception as error:
                result = error
            self.take(self.runs[lane], result)
        for lane in arrived:  # only now: a lane at its start has no end in sight, which results would tell
            self.refill(lane)
        simulation.allow(ended)
        self.aim()

    def refill(self, lane: int) -> None:
        """Give a lane the next run that can begin."""
        while (one := taken(self.queue, self.feed)) is not None:
            run, task = one
            numbers, start = task.split()
            try:
                self.simulation.reset(lane=lane, numbers=numbers, start=start)
            except Exception as error:
                if "another structure" in str(error):
                    self.others.append((run, task))
                else:
                    self.take(run, error)
                continue
            self.runs[lane], self.settling[lane] = run, self.course.settled > 0
            return
        self.runs[lane] = None
        self.simulation.run.abandon(lane)
