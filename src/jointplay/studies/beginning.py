"""How a study begins: its numbers found by trial, its batches sized, its table made or taken up again."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..host import cores
from . import metrics as meters
from . import store as stores
from .lanes import LANES, Extent, Task
from .plan import Plan, chunk_shape, contained, differences
from .recorded import Recorded
from .subject import Machine, PlainFunction
from .work import Job, Rows, called, each_row, told

BATCH = 5.0  # s of work in a batch
SHORT = 1.0  # s of work that is not worth being divided
MOST = 1 << 16  # runs in a batch
TRIAL = 0.02  # of a run, to see which quantities it has
TRIALS = 9  # runs that are tried at most


def begin(
    job: Job, plan: Plan, attrs: Mapping[str, Any], executor: Any, path: Path | None
) -> tuple[Job, Any, dict[int, Rows]]:
    """A new table, in memory or on disk, with the runs that had to be tried for it."""
    known: dict[int, Rows] = {}
    if isinstance(job.subject, PlainFunction):
        job, names = tried_function(job, plan)
        sample_times, spent = None, called_for(job, plan, known)
    else:
        job, names, sample_times, task = tried(job, plan)
        spent = pace(job.course, task, min(LANES, len(plan)))
    chunk = chunk_shape(plan.shape, batch_size(spent, len(plan), executor))
    if path is None:
        return job, stores.Memory(plan, names, job.kept, sample_times, {**attrs, "chunk": chunk}), known
    return job, stores.create(path, plan, chunk, names, job.kept, sample_times, attrs), known


def called_for(job: Job, plan: Plan, known: dict[int, Rows]) -> float:
    """Seconds that a call of a function takes, by the first ones, which are known then."""
    spent = math.inf
    for run in range(min(len(plan), TRIALS)):
        began = time.perf_counter()
        known[run] = job.compute(plan.table(np.array([run])))
        spent = min(spent, time.perf_counter() - began)
        if spent > BATCH:
            break
    return spent


def pace(course: Extent, task: Task, lanes: int) -> float:
    """Seconds that a run takes where all lanes are full, by the beginning of one and by what is done before and after
    it."""
    try:
        simulation = course.simulation(task, lanes)
        began = time.perf_counter()
        simulation.advance(TRIAL * course.until)
        marched = time.perf_counter()
        simulation.result(0)
        numbers, start = task.split()
        simulation.reset(lane=0, numbers=numbers, start=start)
    except Exception:  # which its run will tell
        return BATCH
    return (marched - began) / TRIAL / lanes + time.perf_counter() - marched


def batch_size(spent: float, total: int, executor: Any) -> int:
    """How many runs make a batch, if one takes so many seconds."""
    size = min(MOST, max(1, round(BATCH / max(spent, 1e-7))))
    workers = executor if isinstance(executor, int) else cores()
    if spent * total > SHORT:  # so that all workers have something to do until the end
        size = min(size, max(1, math.ceil(total / (4 * workers))))
    return size


def tried(job: Job, plan: Plan) -> tuple[Job, dict[str, dict[str, str]], Any, Task]:
    """The job with the names of its numbers, their attributes, the times of kept samples, and a run that can be; found
    by trial."""
    assert isinstance(job.subject, Machine)
    runs: list[tuple[Recorded, Recorded]] = []
    whole: Any = None  # the first result, for functions
    first_error: Exception | None = None
    course = job.course if job.keep else Extent(TRIAL * job.until, None, job.reclose, TRIAL * job.settled)
    few = np.linspace(0, len(plan) - 1, TRIALS).astype(int).tolist()
    for run in dict.fromkeys((0, len(plan) - 1, *few)):
        if runs and run in few[1:-1]:
            break  # one of the ends can run, which is enough
        try:
            task = job.subject.task(plan.settings(run))
            result = course.alone(task)
            needed = task.twin is not None and any(m.twin for m in job.metrics)
            if result.sizes.get("time"):
                whole, own = result if whole is None else whole, Recorded.of_result(result)
                runs.append((own, Recorded.of_result(course.alone(task.twin)) if needed and task.twin else own))
                able = task
        except Exception as error:
            first_error = first_error or error
    if not runs:
        what = f"none of {len(set(few))} runs that were tried gives a result"
        raise InputError(f"{what}: {told(first_error)}" if first_error else what) from first_error
    found = meters.expanded(job.metrics, runs, 0.0)
    kept = meters.expanded([replace(m, statistic="final") for m in job.keep], runs, 0.0)
    kept = [replace(m, statistic="") for m in kept]
    names: dict[str, dict[str, str]] = {}
    for metric in found:
        if metric.function is not None:
            names |= {name: meters.described(metric, runs[0][0], None, 0.0, 0.0) for name in metric.called(whole)}
            continue
        told_of = [meters.described(metric, run, twin, job.settled, job.course.between) for run, twin in runs]
        names[metric.name] = next((x for x in told_of if x), {})
    times = max((run["time"] for run, _ in runs), key=len) if kept else None
    sizes = {metric.name: len(times) for metric in kept}  # type: ignore[arg-type]
    named = replace(job, metrics=tuple(found), keep=tuple(kept), names=tuple(names), kept=sizes)
    return named, names, times, able


def tried_function(job: Job, plan: Plan) -> tuple[Job, dict[str, dict[str, str]]]:
    """The same for a function, called until it gives something."""
    assert isinstance(job.subject, PlainFunction)
    names, wrong = job.names, ""
    for settings in each_row(plan.table(np.arange(min(len(plan), 100)))):
        if names:
            break
        try:
            names = tuple(called(job.subject, settings))
        except Exception as error:
            wrong = wrong or told(error)
    if not names:
        raise InputError(f"{job.subject.title}: none of the first calls gives a number ({wrong}); give metrics=[names]")
    return replace(job, names=names), {name: {} for name in names}


def taken_up(job: Job, plan: Plan, attrs: Mapping[str, Any], path: Path) -> tuple[Job, Any]:
    """A store that is there, if it is of this study; extended if the plan holds more."""
    there = stores.existing(path)
    before, now = dict(there.attrs["told"]), dict(attrs["told"])
    axes = before.pop("axes"), now.pop("axes")
    apart = differences(before, now)
    if apart:
        remedy = "compute it into another store, or repeat what was asked then"
        raise InputError(f"{path}: holds another study, which differs in {'; '.join(apart)}; {remedy}")
    if axes[0] != axes[1]:
        places = contained(there.plan, plan)
        if places is None:
            names = ", ".join(differences({"axes": axes[0]}, {"axes": axes[1]}))
            text = "its axes are not a part of these, so it cannot be extended"
            if (plan.attrs or {}).get("method") == "latin":
                text += "; latin samples are all new when there are more of them: use sobol, random or saltelli"
            raise InputError(f"{path}: holds another study, which differs in {names}; {text}")
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
    same = one == replace(metric, label=one.label)
    return same and metric.label in ("", one.label)
