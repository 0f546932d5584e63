"""What a run has kept, by name, each group of it read only when it is asked for: a study needs little of every run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..physics import record
from ..results import sampled
from ..simulation import Simulation
from ..simulation.reading import Reading

if TYPE_CHECKING:
    from xarray import Dataset

SETTLED = "_settled"  # in the names of what came after the run counted as settled


class RecordedArray(NamedTuple):
    """A quantity of a result: its dimensions, its numbers, and its unit and name."""

    dims: tuple[str, ...]
    values: np.ndarray
    attrs: Mapping[str, Any]

    def at(self, dimension: str, place: int) -> RecordedArray:
        """The part at one place of a dimension."""
        axis = self.dims.index(dimension)
        return RecordedArray(self.dims[:axis] + self.dims[axis + 1 :], self.values.take(place, axis), self.attrs)


@dataclass
class Recorded:
    """The quantities of a run as a Dataset would hold them, without the cost of making one."""

    variables: dict[str, RecordedArray] = field(default_factory=dict)
    later: list[Callable[[], Mapping[str, Any]]] = field(default_factory=list)  # groups that were not asked for yet
    marked: dict[str, Callable[[], Mapping[str, Any]]] = field(default_factory=dict)  # and those by marks in names
    single: Callable[[str], Any] = lambda name: None  # what can be read alone
    reading: Reading | None = None  # of a lane

    @classmethod
    def of_result(cls, run: Dataset) -> Recorded:
        """All of a result."""
        return cls(
            {str(n): RecordedArray(tuple(map(str, x.dims)), x.values, x.attrs) for n, x in run.variables.items()}
        )

    @classmethod
    def of_lane(cls, simulation: Simulation, lane: int) -> Recorded:
        """What a lane has kept; it has to be read before the lane goes on."""
        reading = Reading(simulation, lane)
        groups: list[Callable[[], Mapping[str, Any]]] = [
            lambda: {k: x for part in sampled(reading.system, reading.columns) for k, x in part.items()},
            reading.variables,
        ]
        marked: dict[str, Callable[[], Mapping[str, Any]]] = {"peak_": reading.peaks, "contact_stored": reading.stored}
        if reading.before is not None:
            marked = {SETTLED: Reading(simulation, lane, late=True).settled, **marked}
        names = {"body": [*reading.mechanism.bodies], "joint": [*reading.mechanism.joints]}
        labels = {key: as_variable(key, x) for key, x in names.items() if x}
        return cls(labels, groups, marked, lambda name: single(reading, name), reading)

    def get(self, name: str) -> RecordedArray | None:
        """A quantity, None if the run has none of that name."""
        while name not in self.variables:
            if (alone := self.single(name)) is not None:
                self.variables[name] = as_variable(name, alone)
                break
            mark = next((mark for mark in self.marked if mark in name), None)
            group = self.marked.pop(mark) if mark else self.later.pop(0) if self.later else None
            if group is None:
                return None
            self.variables |= {key: as_variable(key, given) for key, given in group().items()}
        return self.variables[name]

    def __getitem__(self, name: str) -> np.ndarray:
        """The numbers of a quantity that every run has, such as `time`."""
        found = self.get(name)
        if found is None:
            raise KeyError(name)
        return found.values

    def labels(self, dimension: str) -> list[str]:
        """The labels along a dimension."""
        found = self.get(dimension)
        return [] if found is None else [str(x) for x in found.values]

    def names(self) -> list[str]:
        """The quantities that are numbers."""
        self.get("")
        numbers = (bool, np.number)
        return [
            n
            for n, x in self.variables.items()
            if any(np.issubdtype(x.values.dtype, kind) for kind in numbers) and x.dims != (n,)
        ]

    def only(self, names: Sequence[str]) -> Recorded:
        """Some of the quantities, those that are there, with their times and labels."""
        held = {name: x for name in ("time", *names) if (x := self.get(name)) is not None}
        for dimension in {d for x in held.values() for d in x.dims}:
            if (labels := self.get(dimension)) is not None:
                held[dimension] = labels
        return Recorded(held)


def single(reading: Reading, name: str) -> Any:
    """The times of samples, or a signal of bodies or joints, as xarray takes them; None of anything else."""
    if name == "time":
        return "time", reading.time, {"units": "s"}
    for signals, dimension in ((record.BODIES, "body"), (record.JOINTS, "joint")):
        labels = [*(reading.mechanism.bodies if dimension == "body" else reading.mechanism.joints)]
        if name in signals and labels and labels[0] + signals[name].end in reading.columns:
            return reading.table(labels, signals[name], dimension)
    return None


def as_variable(name: str, given: Any) -> RecordedArray:
    """A quantity as xarray takes it: dimensions, numbers and attributes, or the labels of a dimension."""
    if not isinstance(given, tuple):
        return RecordedArray((name,), np.asarray(given), {})
    dims, values, *attrs = given
    return RecordedArray(
        (dims,) if isinstance(dims, str) else tuple(dims), np.asarray(values), attrs[0] if attrs else {}
    )
