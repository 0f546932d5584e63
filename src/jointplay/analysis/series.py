"""One signal over time, checked: from a Dataset, a CSV file or arrays."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..model.parts import suggestion
from ..physics import record
from ..results import flat
from ..series import spelled

if TYPE_CHECKING:
    from xarray import Dataset

LEAST = 300  # samples: below, no indicator is worth its name
UNEVEN = 0.01  # of the interval: files round their times
SAME = 1e-12  # of the largest value: a smaller spread is round-off


@dataclass(frozen=True)
class Series:
    """Samples of one signal at equal intervals; `period` (s) of what drives it, if that is known.

    simulated: whether it comes from a simulation, so that it holds no noise.
    """

    time: np.ndarray
    values: np.ndarray
    name: str = "signal"
    unit: str = ""
    period: float | None = None
    simulated: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "time", np.asarray(self.time, float))
        object.__setattr__(self, "values", np.asarray(self.values, float))
        refuse(self)

    @property
    def interval(self) -> float:
        """Time between two samples (s)."""
        return float(self.time[-1] - self.time[0]) / (len(self.time) - 1)

    @property
    def length(self) -> float:
        """Time from the first sample to the last (s)."""
        return float(self.time[-1] - self.time[0])

    @property
    def periods(self) -> float | None:
        """How many drive periods the samples cover."""
        return None if self.period is None else self.length / self.period

    def after(self, time: float) -> Series:
        """The samples from a time (s) on."""
        late = self.time >= time - 1e-9 * self.interval
        return replace(self, time=self.time[late], values=self.values[late])

    def thinned(self, factor: int) -> Series:
        """Every `factor`-th sample."""
        return replace(self, time=self.time[::factor], values=self.values[::factor])


def refuse(series: Series) -> None:
    """Refuse what cannot be analysed, with the reason and the remedy."""
    time, values, name = series.time, series.values, series.name
    if time.ndim != 1 or time.shape != values.shape:
        raise InputError(f"{name}: time and values must be two lists of one length, got {time.shape}, {values.shape}")
    for what, numbers in (("time", time), (name, values)):
        bad = np.flatnonzero(~np.isfinite(numbers))
        if len(bad):
            raise InputError(
                f"{what}: sample {bad[0] + 1} is not a number ({len(bad)} of {len(numbers)} are not); cut the series "
                "before it, or fill the gap and say so"
            )
    if len(time) < LEAST:
        raise InputError(
            f"{name}: {len(time)} samples are too few, at least {LEAST} are needed; record longer, or sample closer"
        )
    steps = np.diff(time)
    mean = float(steps.mean())
    if not mean > 0 or steps.min() <= 0:
        raise InputError(f"{name}: time must grow from sample to sample; sort the samples, drop repeated ones")
    worst = int(np.argmax(np.abs(steps - mean)))
    if abs(steps[worst] - mean) > UNEVEN * mean:
        raise InputError(
            f"{name}: unevenly sampled: {steps[worst]:g} s after t = {time[worst]:g} s, {mean:g} s in the mean; "
            "resample at equal intervals, e.g. numpy.interp(even, time, values)"
        )
    spread = float(np.ptp(values))
    if spread <= SAME * max(float(np.abs(values).max()), np.finfo(float).tiny):
        raise InputError(f"{name}: constant ({values[0]:g} throughout), nothing moves; choose another signal")
    if series.period is not None and not (np.isfinite(series.period) and series.period > 2 * mean):
        raise InputError(
            f"{name}: a drive period of {series.period:g} s needs more than two samples in it, they are {mean:g} s "
            "apart; sample closer, or leave the period out where there is one sample a period, as of a map"
        )


def from_run(run: Dataset, name: str | None = None, period: float | None = None) -> Series:
    """A signal of a result by its column, such as `crank.angle_rate`; the first acceleration or rate by default."""
    columns = flat(run)
    time = columns.pop("time")
    if name is None:
        liked = [c for end in (".angle_rate", ".x_rate") for c in columns if c.endswith(end) and moves(columns[c])]
        if not liked:
            raise InputError("no body of this result moves; choose a signal with --signal")
        name = liked[-1]
    name = name if name in columns else spelled(name)
    if name not in columns:
        raise InputError(f"no signal {name!r} in this result{suggestion(name, columns)}")
    return Series(time, columns[name], name, unit_of(name), period, simulated=True)


def unit_of(signal: str) -> str:
    """The SI unit of a signal of a result or of a number of a state: of its last word, `angle_rate` or `angle.rate`."""
    owner, _, word = spelled(signal).rpartition(".")
    known = record.JOINTS | record.BODIES if owner else record.ENERGIES
    return known[word].unit if word in known else ""


def moves(values: np.ndarray, still: float = 1e-9) -> bool:
    """Whether a signal is more than a constant and its round-off, or a share of its size (or 1) that is none."""
    return bool(np.isfinite(values).all() and np.ptp(values) > still * max(1.0, float(np.abs(values).max())))


def read(path: str | os.PathLike[str], column: str | None = None, period: float | None = None) -> Series:
    """A column of a CSV file: a header line, a column `time` (s) and others; the first other one by default."""
    file = Path(path)
    try:
        with file.open(newline="", encoding="utf-8-sig") as stream:
            rows = [row for row in csv.reader(stream) if row and any(cell.strip() for cell in row)]
    except FileNotFoundError:
        raise InputError(f"{file}: no such file") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{file}: cannot be read as a CSV file: {error}") from None
    if not rows:
        raise InputError(f"{file}: is empty; a header line with `time` and another column is needed")
    header = [cell.strip() for cell in rows[0]]
    if "time" not in header:
        raise InputError(f"{file}: {no_time(header)}")
    others = [name for name in header if name != "time"]
    column = column if column is not None else others[0] if others else "nothing"
    if column not in others:
        raise InputError(f"{file}: no column {column!r}; there are {', '.join(others) or 'none beside time'}")
    places = header.index("time"), header.index(column)
    numbers = np.empty((len(rows) - 1, 2))
    for i, row in enumerate(rows[1:]):
        for j, place in enumerate(places):
            try:
                numbers[i, j] = float(row[place])
            except (ValueError, IndexError):
                shown = repr(row[place]) if place < len(row) else "nothing"
                raise InputError(
                    f"{file}: row {i + 2}, column {header[place]!r}: expected a number, got {shown}"
                ) from None
    return Series(numbers[:, 0], numbers[:, 1], column, period=period)


def no_time(header: list[str]) -> str:
    """What is wrong with a header line without `time`, and what to do."""
    shown = ", ".join(header)[:80]
    if len(header) == 1 and any(mark in shown for mark in ";\t"):
        return f"its columns must be separated by commas, and one of them be called 'time'; the first line is {shown!r}"
    try:
        [float(cell) for cell in header]
    except ValueError:
        return f"the header line must name a column 'time' (s), got {shown}; rename the column of the times"
    return f"the first line must name the columns, one of them 'time' (s); it holds numbers: {shown}"
