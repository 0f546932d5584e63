"""sweep(): a study from its axes to its table."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..errors import InputError
from ..model.control import Control
from ..model.mechanism import Mechanism
from ..simulation import Stepper
from ..system import System
from . import store as stores
from .asking import attributes, job_of, kept_alike, plan_of, refuse_whole, settle_alike, subject_of, times_of
from .beginning import begin, taken_up
from .executors import WorkersLost, done
from .plan import Plan, Rectangle, rectangles
from .sampling import Samples
from .work import DONE, MISSING, Job, Rows

if TYPE_CHECKING:
    from xarray import Dataset


class StudyFailed(RuntimeError):
    """A study that asked to stop at the first run that fails."""


@dataclass(frozen=True)
class Progress:
    """How far a study is: runs that are known, of how many, how many of them failed, runs per second, seconds left."""

    done: int
    total: int
    failed: int
    rate: float
    left: float

    def __str__(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        left = f", {spell(self.left)} left" if math.isfinite(self.left) and self.done < self.total else ""
        return f"{self.done} of {self.total} runs{failed}, {self.rate:.3g} runs/s{left}"


def spell(seconds: float) -> str:
    """A span of time as one reads it.

    >>> spell(75), spell(4000)
    ('1 min 15 s', '1 h 6 min')
    """
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def sweep(
    subject: Mechanism | System | Callable[..., Any],
    over: Mapping[Any, Any],
    until: float | str | None = None,
    stepper: Stepper | None = None,
    control: Control | None = None,
    metrics: Any = None,
    keep: Sequence[str] | None = None,
    store: str | os.PathLike[str] | None = None,
    executor: Any = None,
    resume: bool = True,
    on_error: Literal["record", "raise"] = "record",
    seed: int = 0,
    samples: Samples | int | None = None,
    every: float | str | None = None,
    settled: float | str = 0.0,
    start: Mapping[str, float | str] | None = None,
    reclose: bool = False,
    shard: tuple[int, int] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Dataset:
    """A table of numbers of many runs of a mechanism, or of many calls of a function of numbers.

    over: axes by their addresses ("J2.clearance", "start.crank", "stepper.step"): lists, `grid`, named values
    ({"soft": Compliant(...)} at "J2.contact", "control", "stepper"), tuples of addresses for values that belong
    together, and distributions (`uniform`, `normal`, a fit such as "20 H7/g6" at "J2.fit"), which `samples` draws with
    `seed`.  until, stepper, control, every, start, reclose: as in `simulate`.  metrics: names such as
    "peak_force[J2]" or "rms(torque[motor])", and functions of a result; they count from `settled` (s) on, and
    "whole(peak_force[J2])" from the start.  keep: signals to be kept over time.  store: a directory, written as
    zarr batch by batch; a study that is there goes on where it stopped, and grows where `over` holds more.
    executor: None (this machine), how many workers, a concurrent.futures executor, a Dask client or its address.
    resume: False refuses a store that is there.  on_error: "raise" stops at the first run that fails.  shard: (i,
    n) computes the i-th of n parts into a store of its own, for `collect`.  progress: is told after each batch.

    The dimensions of the table are the axes, and `run` for samples; `status` says how each run ended (1 is done),
    `outcome` why where it failed.  The numbers do not depend on executor, batches, order or interruptions.
    """
    turns = settled
    if isinstance(subject, Mechanism | System):
        until, every, settled = times_of(subject, until, every, settled)
    machine = subject_of(subject, over, stepper, control, start, settled)
    plan = plan_of(machine, over, samples, seed)
    job = kept_alike(job_of(machine, until, every, settled, reclose, metrics, keep), plan)
    refuse_whole(job, plan)
    settle_alike(machine, plan, turns, job.until)
    if on_error not in ("record", "raise"):
        raise InputError(f"on_error must be 'record' or 'raise', got {on_error!r}")
    attrs = attributes(job, plan, metrics, keep)
    path = None if store is None else shard_path(Path(store), shard)
    if path is None:
        job, table, known = begin(job, plan, attrs, executor, None)
        return go(job, plan, table, known, executor, on_error, shard, progress, None)
    needs_zarr(path)
    stores.recover(path)
    if path.exists():
        if not resume:
            raise InputError(f"{path}: is already there; resume=True goes on with it, or choose another name")
        stores.read(path)  # refuses what is not ours before anything is written into it
        with stores.writer(path):
            job, table = taken_up(job, plan, attrs, path)
            return go(job, plan, table, {}, executor, on_error, shard, progress, path)
    if not path.parent.is_dir():
        raise InputError(f"{path}: no such directory {str(path.parent)!r}; create it first")
    job, table, known = begin(job, plan, attrs, executor, path)
    with stores.writer(path):
        return go(job, plan, table, known, executor, on_error, shard, progress, path)


# -- going on
def go(
    job: Job, plan: Plan, table: Any, known: Mapping[int, Rows], executor: Any, on_error: str,
    shard: tuple[int, int] | None, progress: Callable[[Progress], None] | None, path: Path | None,
) -> Dataset:  # fmt: skip
    """Compute what is missing, batch by batch, and write each down."""
    chunk = table.chunk if path is not None else table.attrs["chunk"]
    status = np.array(table.status())
    mine = np.ones(len(plan), bool) if shard is None else np.arange(len(plan)) % shard[1] == shard[0] - 1
    mine = mine.reshape(plan.shape)
    total, computed, began = int(mine.sum()), 0, time.monotonic()
    with explained(status, mine, path):
        keep(table, plan, chunk, known, mine, status)
        if progress is not None:
            progress(report(status, mine, total, 0, began))
        with contextlib.closing(done(job, missing(plan, chunk, status, mine), executor)) as loop:
            for (rectangle, chosen), rows in loop:
                table.put(rectangle, chosen, rows)
                status[rectangle][chosen] = rows.status
                computed += len(rows.status)
                if progress is not None:
                    progress(report(status, mine, total, computed, began))
                if on_error == "raise" and (rows.status != DONE).any():
                    i = int(np.argmax(rows.status != DONE))
                    number = plan.numbers(rectangle)[chosen][i]
                    raise StudyFailed(f"run {number} ({shown(plan.settings(number))}): {rows.outcome[i]}")
    return table.dataset()


@contextlib.contextmanager
def explained(status: np.ndarray, mine: np.ndarray, path: Path | None) -> Iterator[None]:
    """What ends a study says how far it is, and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(advice("interrupted", status, mine, path)) from None
    except OSError as error:
        what = "the disk is full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else f"cannot be written ({error})"
        raise OSError(error.errno, advice(f"{path}: {what}", status, mine, path)) from error
    except WorkersLost as error:
        raise WorkersLost(advice(str(error), status, mine, path)) from error.__cause__


def keep(
    table: Any, plan: Plan, chunk: Sequence[int], known: Mapping[int, Rows], mine: np.ndarray, status: np.ndarray
) -> None:
    """Write down runs that are known already, batch by batch."""
    batches: dict[tuple[int, ...], list[int]] = {}
    for run in known:
        place = np.unravel_index(run, plan.shape)
        if mine[place]:
            batches.setdefault(tuple(int(i) // c for i, c in zip(place, chunk, strict=True)), []).append(run)
    for at, runs in batches.items():
        rectangle = tuple(slice(i * c, min((i + 1) * c, n)) for i, c, n in zip(at, chunk, plan.shape, strict=True))
        numbers = plan.numbers(rectangle)
        chosen = np.isin(numbers, runs)
        rows = Rows.joined([known[int(run)] for run in numbers[chosen]])
        table.put(rectangle, chosen, rows)
        status[rectangle][chosen] = rows.status


def missing(
    plan: Plan, chunk: Sequence[int], status: np.ndarray, mine: np.ndarray
) -> Iterator[tuple[tuple[Rectangle, np.ndarray], dict[str, np.ndarray]]]:
    """The batches that hold runs which are not known, with the settings of these."""
    for rectangle in rectangles(plan.shape, chunk):
        chosen = (status[rectangle] == MISSING) & mine[rectangle]
        if chosen.any():
            yield (rectangle, chosen), plan.table(plan.numbers(rectangle)[chosen])


def report(status: np.ndarray, mine: np.ndarray, total: int, computed: int, began: float) -> Progress:
    """How far a study is."""
    known = int(((status != MISSING) & mine).sum())
    rate = computed / max(time.monotonic() - began, 1e-9)
    left = (total - known) / rate if rate > 0 else math.inf
    return Progress(known, total, int(((status > DONE) & mine).sum()), rate, left)


def advice(what: str, status: np.ndarray, mine: np.ndarray, path: Path | None) -> str:
    """What happened to a study that did not end, and how to go on."""
    known, total = int(((status != MISSING) & mine).sum()), int(mine.sum())
    if path is None:
        return f"{what} after {known} of {total} runs, which are lost; give a store to keep them"
    return f"{what}; {known} of {total} runs are in {path}, and the same call goes on from there"


def shown(settings: Mapping[str, Any]) -> str:
    """Settings on one line."""
    return ", ".join(f"{a} = {x:.6g}" if isinstance(x, float) else f"{a} = {x}" for a, x in settings.items())


def shard_path(path: Path, shard: tuple[int, int] | None) -> Path:
    """The store of a shard: study.zarr becomes study-2of4.zarr."""
    if shard is None:
        return path
    try:
        i, n = (int(x) for x in shard)
    except (TypeError, ValueError):
        raise InputError(f"shard: must be a pair (i, n), got {shard!r}") from None
    if not 1 <= i <= n:
        raise InputError(f"shard: must be from 1 to {n}, got {i}")
    return path.with_name(f"{path.stem}-{i}of{n}{path.suffix}")


def needs_zarr(path: Path) -> None:
    """Refuse early where zarr is not installed."""
    import importlib.util

    if importlib.util.find_spec("zarr") is None:
        raise InputError(f'{path}: stores need zarr, which is not installed: pip install "jointplay[sweep]"')
