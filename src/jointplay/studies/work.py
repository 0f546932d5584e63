"""The runs of a batch: what a worker does, here, in a thread, in another process or on another machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from .lanes import Extent, Interrupted, Task, reduced
from .metrics import Metric, quantity
from .subject import Machine, PlainFunction, Subject

if TYPE_CHECKING:
    from xarray import Dataset

MISSING, DONE, ENDED, RAISED = range(4)
MEANINGS = "missing done ended_early raised"
TWINS = 64  # ideal twins that a worker keeps
BLOCK = 256  # runs whose twins are computed together


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
        rows = Rows.empty(count, self.names, self.kept)
        if isinstance(self.subject, PlainFunction):
            self.call(self.subject, table, rows, stop)
            return rows
        listed = list(enumerate(each_row(table)))
        for begin in range(0, len(listed), BLOCK):
            self.block(self.subject, listed[begin : begin + BLOCK], rows, stop)
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
        return Extent(self.until, self.every, self.reclose)

    def block(
        self, machine: Machine, settings: Sequence[tuple[int, Any]], rows: Rows, stop: Callable[[], bool]
    ) -> None:
        """Some runs of a mechanism, and before them their ideal twins where a metric needs these."""
        tasks: dict[int, Task] = {}
        for i, one in settings:
            try:
                tasks[i] = machine.task(one)
            except Exception as error:  # of a model that cannot be
                rows.put(i, RAISED, math.nan, told(error), {})
        if any(metric.twin for metric in self.metrics):
            twins = {task.twin.key: task.twin for task in tasks.values() if task.twin is not None}
            self.meet([twin for key, twin in twins.items() if key not in self.twins], stop)

        def take(i: int, run: Any) -> None:
            rows.put(i, *self.judged(tasks[i], run))

        self.course.all(tasks.items(), take, stop)

    def meet(self, twins: Sequence[Task], stop: Callable[[], bool]) -> None:
        """Compute ideal twins and keep what is needed of them."""

        def take(i: int, run: Any) -> None:
            self.twins[twins[i].key] = run if isinstance(run, Exception) else reduced(run)

        self.course.all(enumerate(twins), take, stop)
        while len(self.twins) > TWINS + len(twins):
            self.twins.pop(next(iter(self.twins)), None)

    def judged(self, task: Task, run: Any) -> tuple[int, float, str, dict[str, Any]]:
        """How a run ended, the time that it reached, what went wrong, its numbers."""
        try:
            if isinstance(run, Exception):
                raise run
            reached, text = float(run.attrs["outcome_time"]), str(run.attrs["outcome_text"])
            if run.attrs["outcome"] != "done":
                return ENDED, reached, text, {}
            return DONE, reached, "", self.numbers(task, run)
        except Exception as error:  # of a model that cannot be, or of somebody's function
            return RAISED, math.nan, told(error), {}

    def numbers(self, task: Task, run: Dataset) -> dict[str, Any]:
        """The metrics of a run, and the signals that are kept."""
        twin = run if task.twin is None else self.twins.get(task.twin.key)
        if isinstance(twin, Exception):
            raise InputError(f"the mechanism with ideal joints cannot run: {twin}")
        found: dict[str, Any] = {}
        asked = {metric.name for metric in self.metrics if metric.analysis}
        if asked:
            found |= self.analysed(task, asked)
        for metric in self.metrics:
            if not metric.analysis:
                found |= metric.of(run, twin, self.settled)
        for metric in self.keep:
            array = quantity(run, twin, metric.quantity, metric.label, self.settled)
            found[metric.name] = [] if array is None else array.values
        return found

    def analysed(self, task: Task, asked: set[str]) -> dict[str, float]:
        """Verdict and exponent of a task's model, looked at from `settled` to `until` (s), or for longer if that is
        less than six drive periods."""
        from ..analysis.judge import measures

        look = {"until": self.until - self.settled, "settle": self.settled}
        return measures(task.system(self.until), asked, stepper=task.stepper, reclose=self.reclose, **look)


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
