"""sweep(): a study from its axes to its table."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._version import __version__
from ..model.control import Control
from ..model.mechanism import Mechanism
from ..model.units import shorten
from ..parallel import cores
from ..simulation.steppers import Stepper, is_number
from ..system import System
from . import metrics as meters
from . import store as stores
from .axes import Fitted, address_of, read_axes
from .executors import WorkersLost, done
from .plan import Plan, Rectangle, chunk_shape, contained, differences, rectangles
from .sampling import Samples, draw
from .subject import Function, Machine, Subject, described
from .work import DONE, MISSING, Job, Rows, called, each_row, told

if TYPE_CHECKING:
    from xarray import Dataset

BATCH = 5.0  # s of work in a batch
MOST = 1 << 16  # runs in a batch
TRIAL = 0.02  # of a run, to see which quantities it has


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
    ('1 min 15 s', '1 h 7 min')
    """
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def sweep(
    subject: Mechanism | System | Callable[..., Any],
    over: Mapping[Any, Any],
    until: float | None = None,
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
    every: float | None = None,
    settled: float = 0.0,
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
    "peak_force[J2]" or "rms(torque[motor])", and functions of a result; statistics of signals count from `settled` (s)
    on.  keep: signals to be kept over time.  store: a directory, written as zarr batch by batch; a study that is there
    goes on where it stopped, and grows where `over` holds more.  executor: None (this machine), how many workers, a
    concurrent.futures executor, a Dask client or its address.  resume: False refuses a store that is there.  on_error:
    "raise" stops at the first run that fails.  shard: (i, n) computes the i-th of n parts into a store of its own, for
    `collect`.  progress: is told after each batch.

    The dimensions of the table are the axes, and `run` for samples; `status` says how each run ended (1 is done),
    `outcome` why where it failed.  The numbers do not depend on executor, batches, order or interruptions.
    """
    machine = subject_of(subject, over, stepper, control, start, settled)
    plan = plan_of(machine, over, samples, seed)
    job = job_of(machine, until, every, settled, reclose, metrics, keep)
    if on_error not in ("record", "raise"):
        raise ValueError(f"on_error must be 'record' or 'raise', got {on_error!r}")
    attrs = attributes(job, plan, metrics, keep)
    path = None if store is None else shard_path(Path(store), shard)
    if path is None:
        job, table, known = begin(job, plan, attrs, executor, None)
        return go(job, plan, table, known, executor, on_error, shard, progress, None)
    needs_zarr(path)
    stores.recover(path)
    if path.exists():
        if not resume:
            raise ValueError(f"{path}: is already there; resume=True goes on with it, or choose another name")
        stores.read(path)  # refuses what is not ours before anything is written into it
        with stores.writer(path):
            job, table = taken_up(job, plan, attrs, path)
            return go(job, plan, table, {}, executor, on_error, shard, progress, path)
    if not path.parent.is_dir():
        raise ValueError(f"{path}: no such directory {str(path.parent)!r}; create it first")
    job, table, known = begin(job, plan, attrs, executor, path)
    with stores.writer(path):
        return go(job, plan, table, known, executor, on_error, shard, progress, path)


# -- what is asked for
def subject_of(
    given: Any, over: Mapping[Any, Any], stepper: Stepper | None, control: Control | None, start: Any, settled: float
) -> Subject:
    """What is run, with its named values."""
    named = {key: dict(x) for key, x in over.items() if isinstance(x, Mapping)} if isinstance(over, Mapping) else {}
    if isinstance(given, System):
        given = given.given
    if not isinstance(given, Mechanism):
        if not callable(given):
            raise ValueError(f"sweep: expected a mechanism or a function of numbers, got {shorten(given)}")
        return Function(given, named)
    if stepper is not None and not isinstance(stepper, Stepper):
        raise ValueError(f"stepper must be RungeKutta(), FixedRungeKutta(step) or MoreauJean(step), got {stepper!r}")
    mechanism = given if control is None else given.replace(control=control)
    mechanism = mechanism.with_({f"start.{key}": x for key, x in start.items()}) if start else mechanism
    if settled and mechanism.control is not None and not mechanism.control.settled:
        mechanism = mechanism.with_({"control.settled": settled})
    for key, x in over.items() if isinstance(over, Mapping) else ():
        if isinstance(x, str | Fitted) and isinstance(key, str) and address_of(key).endswith(".clearance"):
            fit = x.fit if isinstance(x, Fitted) else x
            mechanism = mechanism.loosen(address_of(key).removesuffix(".clearance"), fit=fit)  # its radius
    return Machine(mechanism, stepper, named)


def plan_of(subject: Subject, over: Mapping[Any, Any], samples: Samples | int | None, seed: int) -> Plan:
    """The runs that are asked for."""
    axes = read_axes(over, subject.read, subject.check)
    chosen = Samples(int(samples)) if isinstance(samples, int | np.integer) else samples
    if axes.drawn and chosen is None:
        names = ", ".join(",".join(a) for a in axes.drawn)
        raise ValueError(f"{names}: a distribution needs samples; say how many, such as samples=jp.samples(1000)")
    if chosen is None:
        return Plan(axes.dimensions)
    if not isinstance(chosen, Samples) or chosen.count < 1:
        raise ValueError(f"samples: must be jp.samples(n, method=...) or a number >= 1, got {samples!r}")
    if not axes.drawn:
        text = "there is nothing to draw; give an axis a distribution, such as jp.uniform(0, 1e-3) or a fit"
        raise ValueError(f"samples: {text}")
    told_how = {"method": chosen.method, "factors": [list(a) for a in axes.drawn], "seed": seed}
    told_how["correlated"] = chosen.correlation is not None
    return Plan((*axes.dimensions, draw(axes.drawn, chosen, seed)), told_how)


def job_of(subject: Subject, until: Any, every: Any, settled: Any, reclose: bool, metrics: Any, keep: Any) -> Job:
    """What every run does."""
    if isinstance(subject, Function):
        names = tuple([metrics] if isinstance(metrics, str) else metrics or ())
        if not all(isinstance(name, str) for name in names):
            raise ValueError("metrics: of a function they are the names of the numbers it gives")
        return Job(subject, names=names)
    for name, x, least in (("until", until, 0), ("every", every, 0), ("settled", settled, None)):
        wanted = "> 0" if least == 0 else ">= 0"
        if not (x is None and name == "every") and not (is_number(x) and (x > 0 or (least is None and x == 0))):
            raise ValueError(f"{name} must be a number of seconds {wanted}, got {x!r}")
    if settled >= until:
        raise ValueError(f"settled = {settled:g} s leaves nothing of the run of {until:g} s")
    asked = meters.read_metrics(metrics)
    if not asked and not keep:
        raise ValueError("metrics: say which numbers of a run to keep, such as metrics=['peak_force[J2]']")
    kept = meters.read_metrics(keep)
    for one in kept:
        if one.statistic or one.function:
            raise ValueError(f"keep: must be names of signals such as 'angle[rocker]', got {one.name!r}")
    return Job(subject, asked, kept, float(until), every, float(settled), bool(reclose))


def attributes(job: Job, plan: Plan, metrics: Any, keep: Any) -> dict[str, Any]:
    """What a store says of its study, and what tells it from another (`told`)."""
    listed = [metrics] if isinstance(metrics, str) or callable(metrics) else list(metrics or ())
    what = {"version": __version__, **job.subject.told(), "until": job.until, "every": job.every}
    what |= {"settled": job.settled, "reclose": job.reclose}
    what |= {"metrics": [described(x) for x in listed], "keep": [str(x) for x in keep or ()]}
    what["axes"] = plan.digests()
    return {
        "format": stores.FORMAT,
        "kind": job.subject.kind,
        "title": job.subject.title,
        "told": what,
        "dimensions": {d.name: [list(d.columns), list(d.extras)] for d in plan.dimensions},
        "units": {a: job.subject.unit(a) for d in plan.dimensions for a in d.columns},
        "samples": dict(plan.attrs),
    }


# -- beginning and taking up
def begin(
    job: Job, plan: Plan, attrs: Mapping[str, Any], executor: Any, path: Path | None
) -> tuple[Job, Any, dict[int, Rows]]:
    """A new table, in memory or on disk, with the runs that had to be tried for it."""
    job, names, sample_times = tried(job, plan)
    known: dict[int, Rows] = {}
    spent = math.inf
    for run in range(min(len(plan), 3)):  # the first may compile
        began = time.perf_counter()
        known[run] = job.compute(plan.table(np.array([run])))
        spent = min(spent, time.perf_counter() - began)
        if spent > BATCH:
            break
    chunk = chunk_shape(plan.shape, batch_size(spent, len(plan), executor))
    if path is None:
        return job, stores.Memory(plan, names, job.kept, sample_times, {**attrs, "chunk": chunk}), known
    return job, stores.create(path, plan, chunk, names, job.kept, sample_times, attrs), known


def batch_size(spent: float, total: int, executor: Any) -> int:
    """How many runs make a batch, if one takes so many seconds."""
    size = min(MOST, max(1, round(BATCH / max(spent, 1e-7))))
    workers = executor if isinstance(executor, int) else cores()
    if spent * total > 2 * BATCH:  # so that all workers have something to do until the end
        size = min(size, max(1, math.ceil(total / (4 * workers))))
    return size


def tried(job: Job, plan: Plan) -> tuple[Job, dict[str, dict[str, str]], Any]:
    """The job with the names of its numbers, their attributes, and the times of kept samples; found by trial."""
    if isinstance(job.subject, Function):
        return tried_function(job, plan)
    runs, first_error = [], None
    whole = job.until if job.keep else None
    for run in dict.fromkeys((0, len(plan) - 1)):
        try:
            case = job.subject.case(plan.settings(run))
            result = job.run(case, lambda: False, whole or TRIAL * job.until)
            twin = case.twin() if any(m.twin for m in job.metrics) else None
            beside = job.run(twin, lambda: False, whole or TRIAL * job.until) if twin else None
            if result.sizes.get("time"):
                runs.append((result, beside))
        except ValueError as error:
            first_error = first_error or error
    if not runs:
        raise first_error or ValueError("neither the first nor the last run of the study gives a result")
    found = meters.expanded(job.metrics, runs, 0.0)
    kept = meters.expanded([replace(m, statistic="final") for m in job.keep], runs, 0.0)
    kept = [replace(m, statistic="") for m in kept]
    names: dict[str, dict[str, str]] = {}
    for metric in found:
        if metric.function is not None:
            names |= {
                name: meters.described(metric, runs[0][0], None, 0.0) for name in metric.of(runs[0][0], None, 0.0)
            }
            continue
        told_of = [meters.described(metric, run, twin, job.settled) for run, twin in runs]
        names[metric.name] = next((x for x in told_of if x), {})
    times = max((run["time"].values for run, _ in runs), key=len) if kept else None
    sizes = {metric.name: len(times) for metric in kept}  # type: ignore[arg-type]
    named = replace(job, metrics=tuple(found), keep=tuple(kept), names=tuple(names), kept=sizes)
    return named, names, times


def tried_function(job: Job, plan: Plan) -> tuple[Job, dict[str, dict[str, str]], None]:
    """The same for a function, called until it gives something."""
    assert isinstance(job.subject, Function)
    names, wrong = job.names, ""
    for settings in each_row(plan.table(np.arange(min(len(plan), 100)))):
        if names:
            break
        try:
            names = tuple(called(job.subject, settings))
        except Exception as error:
            wrong = wrong or told(error)
    if not names:
        raise ValueError(f"{job.subject.title}: none of the first calls gives a number ({wrong}); give metrics=[names]")
    return replace(job, names=names), {name: {} for name in names}, None


def taken_up(job: Job, plan: Plan, attrs: Mapping[str, Any], path: Path) -> tuple[Job, Any]:
    """A store that is there, if it is of this study; extended if the plan holds more."""
    there = stores.existing(path)
    before, now = dict(there.attrs["told"]), dict(attrs["told"])
    axes = before.pop("axes"), now.pop("axes")
    apart = differences(before, now)
    if apart:
        remedy = "compute it into another store, or repeat what was asked then"
        raise ValueError(f"{path}: holds another study, which differs in {'; '.join(apart)}; {remedy}")
    if axes[0] != axes[1]:
        places = contained(there.plan, plan)
        if places is None:
            names = ", ".join(differences({"axes": axes[0]}, {"axes": axes[1]}))
            text = "its axes are not a part of these, so it cannot be extended"
            if (plan.attrs or {}).get("method") == "latin":
                text += "; latin samples are all new when there are more of them: use sobol, random or saltelli"
            raise ValueError(f"{path}: holds another study, which differs in {names}; {text}")
        there = stores.extended(there, plan, places, there.chunk, {**attrs, "names": there.names, "kept": there.kept})
    metrics = meters.read_metrics(None)
    if isinstance(job.subject, Machine):
        metrics = resolved(job, list(there.names))
    keep = meters.read_metrics(list(there.kept))
    return replace(job, metrics=metrics, keep=keep, names=tuple(there.names), kept=there.kept), there


def resolved(job: Job, names: Sequence[str]) -> tuple[meters.Metric, ...]:
    """The metrics of a store by the names in it, and the functions that were given again."""
    functions = tuple(m for m in job.metrics if m.function is not None)
    texts = [name for name in names if any(m.function is None and covers(m, name) for m in job.metrics)]
    return meters.read_metrics(texts) + functions


def covers(metric: meters.Metric, name: str) -> bool:
    """Whether a metric of the table comes from one that was asked for."""
    try:
        [one] = meters.read_metrics([name])
    except ValueError:
        return False
    same = (one.quantity, one.statistic) == (metric.quantity, metric.statistic)
    return same and metric.label in ("", one.label)


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
    for run, rows in known.items():
        if mine[np.unravel_index(run, plan.shape)]:
            keep_run(table, plan, chunk, run, rows, status)
    todo = int((mine & (status == MISSING)).sum())
    already, began = int(mine.sum()) - todo, time.monotonic()
    total = already + todo
    if progress is not None:
        progress(report(status, mine, total, 0, began))
    loop = done(job, missing(plan, chunk, status, mine), executor)
    computed = 0
    try:
        with contextlib.closing(loop):
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
    except KeyboardInterrupt:
        raise KeyboardInterrupt(advice("interrupted", status, mine, path)) from None
    except OSError as error:
        what = "the disk is full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else f"cannot be written ({error})"
        raise OSError(error.errno, advice(f"{path}: {what}", status, mine, path)) from error
    except WorkersLost as error:
        raise WorkersLost(advice(str(error), status, mine, path)) from error.__cause__
    return table.dataset()


def keep_run(table: Any, plan: Plan, chunk: Sequence[int], run: int, rows: Rows, status: np.ndarray) -> None:
    """Write down a run that is known already."""
    place = np.unravel_index(run, plan.shape)
    rectangle = tuple(
        slice(i // c * c, min((i // c + 1) * c, n)) for i, c, n in zip(place, chunk, plan.shape, strict=True)
    )
    chosen = plan.numbers(rectangle) == run
    table.put(rectangle, chosen, rows)
    status[place] = rows.status[0]


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
        raise ValueError(f"shard: must be a pair (i, n), got {shard!r}") from None
    if not 1 <= i <= n:
        raise ValueError(f"shard: must be from 1 to {n}, got {i}")
    return path.with_name(f"{path.stem}-{i}of{n}{path.suffix}")


def needs_zarr(path: Path) -> None:
    """Refuse early where zarr is not installed."""
    import importlib.util

    if importlib.util.find_spec("zarr") is None:
        raise ValueError(f'{path}: stores need zarr, which is not installed: pip install "jointplay[sweep]"')
