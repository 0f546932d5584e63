"""The runs of a batch: what a worker does, here, in a thread, in another process or on another machine."""

from __future__ import annotations

import math
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import InputError
from ..simulation import Simulation
from ..simulation.auditing import doubt
from .doubting import doubts
from .lanes import Extent, Interrupted, Task
from .metrics import Metric, quantity
from .recorded import Recorded
from .subject import Machine, PlainFunction, Subject

MISSING, DONE, ENDED, RAISED = range(4)
MEANINGS = "missing done ended_early raised"
TWINS = 64  # ideal twins that a worker keeps
AHEAD = 256  # runs that wait for a lane


@dataclass
class Rows:
    """What came of some runs, in their order: how each ended, and its numbers."""

    status: np.ndarray
    reached: np.ndarray  # s
    outcome: list[str]
    values: dict[str, np.ndarray]  # metrics (run), and signals that are kept (run, time)

    @classmethod
    def empty(cls, count: int, names: Sequence[str], kept: Mapping[str, int]) -> Rows:
        """Rows in which nothing is known."""
        values = {name: np.full(count, np.nan) for name in names}
        values |= {name: np.full((count, size), np.nan) for name, size in kept.items()}
        return cls(np.zeros(count, np.int8), np.full(count, np.nan), [""] * count, values)

    def put(self, i: int, status: int, reached: float, outcome: str, numbers: Mapping[str, Any]) -> None:
        """Write down one run."""
        self.status[i], self.reached[i], self.outcome[i] = status, reached, outcome
        for name, x in numbers.items():
            if name in self.values:
                if np.ndim(x):
                    self.values[name][i, : len(x)] = x
                else:
                    self.values[name][i] = x

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """The runs of several, one after the other."""
        values = {name: np.concatenate([part.values[name] for part in parts]) for name in parts[0].values}
        status, reached = (np.concatenate([getattr(part, name) for part in parts]) for name in ("status", "reached"))
        return cls(status, reached, [text for part in parts for text in part.outcome], values)

    def one(self, i: int) -> Rows:
        """One of the runs."""
        values = {name: x[i : i + 1] for name, x in self.values.items()}
        return Rows(self.status[i : i + 1], self.reached[i : i + 1], self.outcome[i : i + 1], values)


@dataclass(frozen=True)
class Job:
    """Everything that is the same for all runs of a study; it travels to the workers."""

    subject: Subject
    metrics: tuple[Metric, ...] = ()
    keep: tuple[Metric, ...] = ()
    until: float = 0.0
    every: float | None = None
    settled: float = 0.0
    reclose: bool = False
    names: tuple[str, ...] = ()  # of the numbers in the table
    kept: Mapping[str, int] = field(default_factory=dict)  # signals and how many samples they have
    twins: dict[Any, Any] = field(
        default_factory=dict, compare=False, repr=False
    )  # results of ideal twins, by their text

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"twins": {}}

    def compute(self, table: Mapping[str, np.ndarray], stop: Callable[[], bool] = lambda: False) -> Rows:
        """The runs of a table of settings, one row each; stop: whether to give up, asked now and then."""
        count = len(next(iter(table.values())))
        if isinstance(self.subject, PlainFunction):
            rows = Rows.empty(count, self.names, self.kept)
            self.call(self.subject, table, rows, stop)
            return rows
        pool = Pool(self, [(None, table)], stop)
        pool.work()
        [(_, rows)] = pool.finished()
        return rows

    # -- functions of numbers
    def call(
        self, subject: PlainFunction, table: Mapping[str, np.ndarray], rows: Rows, stop: Callable[[], bool]
    ) -> None:
        """Call a function once for each row."""
        for i, settings in enumerate(each_row(table)):
            if i % 64 == 0 and stop():
                raise Interrupted
            try:
                numbers = called(subject, settings)
            except Exception as error:
                rows.put(i, RAISED, math.nan, told(error), {})
                continue
            rows.put(i, DONE, math.nan, "", numbers)

    # -- mechanisms
    @property
    def course(self) -> Extent:
        """How far runs go."""
        return Extent(self.until, self.every, self.reclose, self.settled)

    def read(self, place: Any, simulation: Simulation, lane: int) -> Ended:
        """What is needed of a run that has ended, read before its lane goes on: its own numbers, and its motion where
        that is compared with a twin's; of a twin the signals for that only."""
        outcome = simulation.status[lane]
        found = Ended(str(outcome.kind), outcome.text, outcome.time)
        own = not isinstance(place, Task) and found.kind == "done"
        whole = simulation.result(lane) if own and any(metric.function for metric in self.metrics) else None
        with simulation.lock, simulation.cut(lane):
            kept = Recorded.of_lane(simulation, lane)
            found.motion = kept.only(self.compared) if self.compared and (own or isinstance(place, Task)) else None
            for metric in self.metrics if own else ():
                if metric.function is not None:
                    found.numbers |= metric.called(whole)
                elif not metric.analysis and not metric.twin:
                    found.numbers[metric.name] = metric.of(kept, None, self.settled)
            if own and kept.reading is not None:
                said = doubt(kept.reading, outcome), doubts(kept, self.metrics, self.keep, place[2].split()[1])
                found.doubt = " ".join(filter(None, said))
            for metric in self.keep if own else ():
                signal = quantity(kept, None, metric.quantity, metric.label, self.settled)
                found.numbers[metric.name] = [] if signal is None else signal.values
        return found

    def judged(self, task: Task, run: Ended | Exception, twin: Any) -> tuple[int, float, str, dict[str, Any]]:
        """How a run ended, the time that it reached, what went wrong, its numbers; twin: the ideal twin's run."""
        try:
            if isinstance(run, Exception):
                raise run
            if run.kind != "done":
                return ENDED, run.time, run.text, {}
            return DONE, run.time, run.doubt, self.numbers(task, run, twin)
        except Exception as error:  # of a model that cannot be, or of somebody's function
            return RAISED, math.nan, told(error), {}

    def numbers(self, task: Task, run: Ended, twin: Any) -> dict[str, Any]:
        """The metrics of a run, those too that need its twin or another look at its model."""
        if isinstance(twin, Exception):
            raise InputError(f"the mechanism with ideal joints cannot run: {twin}")
        found = dict(run.numbers)
        asked = {metric.name for metric in self.metrics if metric.analysis}
        if asked:
            found |= self.analysed(task, asked)
        for metric in self.metrics:
            if metric.twin:
                assert run.motion is not None
                found[metric.name] = metric.of(run.motion, twin.motion, self.settled)
        return found

    @property
    def compared(self) -> tuple[str, ...]:
        """The signals by which runs are compared with their ideal twins, none if they are not."""
        return tuple(dict.fromkeys(name for metric in self.metrics for name in metric.signals))

    def analysed(self, task: Task, asked: set[str]) -> dict[str, float]:
        """Verdict and exponent of a task's model, looked at from `settled` to `until` (s), or for longer if that is
        less than six drive periods."""
        from ..analysis.judge import measures

        look = {"until": self.until - self.settled, "settle": self.settled}
        return measures(task.system(self.until), asked, stepper=task.stepper, reclose=self.reclose, **look)


@dataclass
class Ended:
    """A run that has ended: how, what there is to say of that, when (s), its numbers, its motion if needed, and what
    its audit says if that is not fine."""

    kind: str
    text: str
    time: float
    numbers: dict[str, Any] = field(default_factory=dict)
    motion: Recorded | None = None
    doubt: str = ""


class OpenBatch:
    """A batch under way: what names it, its rows, and how many of them are not known yet."""

    def __init__(self, key: Any, rows: Rows) -> None:
        self.key, self.rows, self.left = key, rows, len(rows.status)


RowPlace = tuple[OpenBatch, int, Task]  # of a run: its batch, its row there, what it is


class Pool:
    """Runs of a mechanism, out of several batches at a time and sorted by their structures, for any number of threads.

    A thread takes runs of one structure, so that its lanes are full whatever the batches are; ideal twins go first, and
    runs that have to be compared with one wait for it.  most: batches that may be under way at a time.
    """

    def __init__(self, job: Job, batches: Iterable[tuple[Any, Any]], stop: Callable[[], bool], most: int = 1) -> None:
        self.job, self.stop, self.most = job, stop, most
        self.source, self.settings = iter(batches), iter(())  # type: Iterator[Any], Iterator[Any]
        self.batch: OpenBatch | None = None  # the one whose runs are being handed out
        self.changed = threading.Condition()
        self.under_way, self.ended = 0, False
        self.done: deque[OpenBatch] = deque()
        self.queues: dict[Any, deque[tuple[Any, Task]]] = {}
        self.compared = job.compared
        self.twins: dict[Any, Any] = {}  # those that are known
        self.users: Counter[Any] = Counter()  # runs that are not judged yet, by their twins
        self.waiting: dict[Any, list[tuple[RowPlace, Any]]] = {}  # runs that have ended before their twins

    def work(self) -> None:
        """March until nothing is left to be taken."""
        while (queue := self.chosen()) is not None:
            self.job.course.march(queue, self.take, self.stop, self.feed, self.job.read)

    def finished(self) -> Iterator[tuple[Any, Rows]]:
        """The batches that are done since this was asked last."""
        while self.done:
            batch = self.done.popleft()
            yield batch.key, batch.rows

    # -- what is to be done
    def chosen(self) -> deque[tuple[Any, Task]] | None:
        """Runs of one structure: twins before others, then those of which there are most."""
        with self.changed:
            while not self.stop():
                self.feed()
                for wanted in (True, False):
                    some = [q for (twin, _), q in self.queues.items() if q and twin is wanted]
                    if some:
                        return max(some, key=len)
                if self.ended:
                    return None
                self.changed.wait(0.2)  # for a batch to be done, so that another may begin
            raise Interrupted

    def feed(self) -> None:
        """Sort more runs into the queues, as long as few are waiting."""
        with self.changed:
            waiting = sum(map(len, self.queues.values()))
            while waiting < AHEAD and not self.ended:
                one = next(self.settings, None)
                if one is None and not self.open_next():
                    return
                if one is not None:
                    waiting += self.add(*one)

    def open_next(self) -> bool:
        """Begin with the next batch, if there is one and few are under way."""
        if self.under_way >= self.most:
            return False
        key, table = next(self.source, (None, None))
        self.ended = table is None
        if table is not None:
            count = len(next(iter(table.values())))
            self.batch = OpenBatch(key, Rows.empty(count, self.job.names, self.job.kept))
            self.settings, self.under_way = enumerate(each_row(table)), self.under_way + 1
        return not self.ended

    def add(self, i: int, settings: Mapping[str, float | str]) -> int:
        """Sort a run in, and its twin if that is not known; how many there are to march."""
        batch, machine = self.batch, self.job.subject
        assert batch is not None and isinstance(machine, Machine)
        try:
            task = machine.task(settings)
        except Exception as error:  # of a model that cannot be
            self.put(batch, i, (RAISED, math.nan, told(error), {}))
            return 0
        added = 1
        twin = task.twin if self.compared else None
        if twin is not None:
            self.users[twin.key] += 1
            if twin.key in self.job.twins:
                self.twins[twin.key] = self.job.twins[twin.key]
            elif twin.key not in self.twins and self.users[twin.key] == 1:
                self.queues.setdefault((True, twin.structure), deque()).append((twin, twin))
                added += 1
        self.queues.setdefault((False, task.structure), deque()).append(((batch, i, task), task))
        return added

    # -- what came of it
    def take(self, place: Any, run: Any) -> None:
        """Judge a run that has ended, and with a twin all that waited for it."""
        if isinstance(place, Task):
            with self.changed:
                self.twins[place.key] = run
                remember(self.job.twins, place.key, run)
                ready = self.waiting.pop(place.key, [])
            for earlier, ended in ready:
                self.judge(earlier, ended, run)
            return
        twin = place[2].twin if self.compared else None
        if twin is not None:
            with self.changed:
                if twin.key not in self.twins:
                    self.waiting.setdefault(twin.key, []).append((place, run))
                    return
        self.judge(place, run, run if twin is None else self.twins[twin.key])

    def judge(self, place: RowPlace, run: Any, twin: Any) -> None:
        """Write down the numbers of a run, and forget its twin if no other run needs it."""
        batch, i, task = place
        row = self.job.judged(task, run, twin)
        with self.changed:
            self.put(batch, i, row)
            if self.compared and task.twin is not None:
                self.users[task.twin.key] -= 1
                if not self.users[task.twin.key]:
                    del self.users[task.twin.key], self.twins[task.twin.key]

    def put(self, batch: OpenBatch, i: int, row: tuple[int, float, str, Mapping[str, Any]]) -> None:
        """Write down one row; a batch that is complete makes place for another."""
        batch.rows.put(i, *row)
        batch.left -= 1
        if not batch.left:
            self.done.append(batch)
            self.under_way -= 1
            self.changed.notify_all()


def remember(twins: dict[Any, Any], key: Any, run: Any) -> None:
    """Keep a twin for later batches, and the last ones only."""
    twins[key] = run
    while len(twins) > TWINS:
        twins.pop(next(iter(twins)), None)


def each_row(table: Mapping[str, np.ndarray]) -> Iterator[dict[str, float | str]]:
    """The rows of a table of settings."""
    names = list(table)
    for row in zip(*(column.tolist() for column in table.values()), strict=True):
        yield dict(zip(names, row, strict=True))


def called(subject: PlainFunction, settings: Mapping[str, Any]) -> dict[str, float]:
    """The numbers that a function gives, by name."""
    given = subject.function(**{a: subject.named[a][x] if a in subject.named else x for a, x in settings.items()})
    if isinstance(given, Mapping):
        return {str(key): float(x) for key, x in given.items()}
    return {"value": float(given)}


def told(error: BaseException) -> str:
    """An error on one line."""
    text = " ".join(str(error).split())
    kind = type(error).__name__
    return text if kind == "ModelError" and text else f"{kind}: {text}" if text else kind
