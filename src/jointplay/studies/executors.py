"""Where batches are computed: in this thread, in threads or processes, in somebody's executor, by Dask."""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
import pickle
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, FIRST_EXCEPTION, Executor, Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from typing import Any

import numpy as np

from ..errors import InputError
from ..host import cores
from .lanes import Interrupted
from .subject import Machine, PlainFunction
from .work import Job, Pool, Rows

Batch = tuple[Any, Mapping[str, np.ndarray]]  # whatever names it, and its settings
Submit = Callable[[Mapping[str, np.ndarray]], "Future[Rows]"]
LOST = 5  # times in a row that workers may die without one batch done
AHEAD = 2  # batches that wait for each worker
OPEN = 8  # batches under way for each thread: among so many there are runs enough of one structure to fill its lanes


class WorkersLost(RuntimeError):
    """Workers that died again and again over the same batches."""


def done(job: Job, batches: Iterable[Batch], executor: Any = None) -> Generator[tuple[Any, Rows], None, None]:
    """The batches as they are done, whatever computes them; closing the iterator stops what is under way."""
    if executor is None:
        executor = cores() if isinstance(job.subject, Machine) and not python_inside(job) else 1
    if isinstance(executor, bool) or not isinstance(executor, int | np.integer):
        return _elsewhere(job, batches, executor)
    if executor < 1:
        raise InputError(f"executor: must be at least 1, got {executor}")
    if executor == 1:
        return _here(job, batches)
    return _processes(job, batches, int(executor)) if python_inside(job) else _threads(job, batches, int(executor))


def python_inside(job: Job) -> bool:
    """Whether Python code is called while a run goes on, so that threads would wait for each other."""
    if isinstance(job.subject, PlainFunction):
        return True
    held = [job.subject.mechanism.control, *job.subject.named.get("control", {}).values()]
    return any(control is not None and not getattr(control, "computed", True) for control in held)


def _here(job: Job, batches: Iterable[Batch]) -> Generator[tuple[Any, Rows], None, None]:
    if isinstance(job.subject, PlainFunction):
        for key, table in batches:
            yield key, job.compute(table)
        return
    yield from _threads(job, batches, 1)  # what is done is given while the rest goes on


def _threads(job: Job, batches: Iterable[Batch], count: int) -> Generator[tuple[Any, Rows], None, None]:
    stop = threading.Event()
    pool = Pool(job, batches, stop.is_set, OPEN * count)
    with ThreadPoolExecutor(count, "jointplay") as threads:
        try:
            working = [threads.submit(pool.work) for _ in range(count)]
            while not all(one.done() for one in working):
                wait(working, timeout=0.05, return_when=FIRST_EXCEPTION)
                yield from pool.finished()
                for one in working:
                    if one.done():
                        one.result()  # raises what a thread could not go on from
            yield from pool.finished()
        finally:
            stop.set()


def _processes(job: Job, batches: Iterable[Batch], count: int) -> Generator[tuple[Any, Rows], None, None]:
    """A pool of our own; where a worker dies, a new pool computes what was under way again."""
    payload = packed(job)
    listed: dict[int, Batch] = {}  # under way, by their numbers

    def fresh() -> Iterator[tuple[int, Mapping[str, np.ndarray]]]:
        for number, batch in enumerate(batches):
            listed[number] = batch
            yield number, batch[1]

    waiting, losses = fresh(), 0
    while True:
        again = [(number, table) for number, (_, table) in listed.items()]
        with pool_of(count) as pool:
            submit: Submit = functools.partial(pool.submit, compute, payload)  # type: ignore[call-arg]
            try:
                for number, rows in _through(submit, itertools.chain(again, waiting), AHEAD * count):
                    losses = 0
                    yield listed.pop(number)[0], rows
                return
            except BrokenProcessPool:
                losses += 1
                if losses > LOST:
                    text = (
                        "workers die over the same batches again and again; is there memory enough? give fewer of them"
                    )
                    raise WorkersLost(text) from None


@contextmanager
def pool_of(count: int) -> Iterator[ProcessPoolExecutor]:
    """Worker processes that end with this one, and stop early when they are told."""
    context = get_context("spawn")
    stop = context.Event()
    pool = ProcessPoolExecutor(count, context, _begin, (stop,))
    try:
        yield pool
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


def _elsewhere(job: Job, batches: Iterable[Batch], executor: Any) -> Generator[tuple[Any, Rows], None, None]:
    client = None
    if isinstance(executor, str):
        try:
            from distributed import Client
        except ImportError:
            raise InputError(f'executor {executor!r}: needs Dask: pip install "jointplay[dask]"') from None
        try:
            executor = client = Client(executor, timeout=10)
        except (OSError, ValueError) as error:
            raise InputError(f"executor {executor!r}: no Dask scheduler answers there ({error})") from None
    try:
        if hasattr(executor, "get_executor"):  # a Dask client
            count = max(1, sum(executor.nthreads().values()))
            executor = executor.get_executor(pure=False)
        else:
            count = getattr(executor, "_max_workers", None) or cores()
        if not isinstance(executor, Executor) and not hasattr(executor, "submit"):
            text = "must be None, a number, a concurrent.futures executor, a Dask client or its address"
            raise InputError(f"executor: {text}, got {executor!r}")
        if isinstance(executor, ThreadPoolExecutor):
            submit: Submit = functools.partial(executor.submit, job.compute)  # type: ignore[call-arg]
        else:
            submit = functools.partial(executor.submit, compute, packed(job))
        try:
            yield from _through(submit, batches, AHEAD * count)
        except BrokenProcessPool as error:
            raise WorkersLost("a worker of the given executor died, and with it the executor") from error
    finally:
        if client is not None:
            client.close()


def _through(submit: Submit, batches: Iterable[Batch], window: int) -> Generator[tuple[Any, Rows], None, None]:
    """Batches through a pool, so many at a time; those that are done first come first."""
    pending: dict[Future[Rows], Any] = {}
    source = iter(batches)
    try:
        while True:
            while len(pending) < window and (batch := next(source, None)) is not None:
                pending[submit(batch[1])] = batch[0]
            if not pending:
                return
            for future in wait(pending, timeout=0.2, return_when=FIRST_COMPLETED).done:
                key = pending[future]
                rows = future.result()
                del pending[future]
                yield key, rows
    finally:
        for future in pending:
            future.cancel()


def packed(job: Job) -> tuple[str, bytes]:
    """A job as bytes, with their digest; what plain pickling cannot take goes by cloudpickle where that is."""
    try:
        import cloudpickle  # type: ignore[import-untyped]

        data: bytes = cloudpickle.dumps(job)
    except ImportError:
        try:
            data = pickle.dumps(job)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            text = "define functions at the top of a module, install cloudpickle, or compute here with executor=1"
            raise InputError(f"executor: the study cannot travel to other processes ({error}); {text}") from None
    return hashlib.sha256(data).hexdigest(), data


_jobs: dict[str, Job] = {}
_stop: list[Any] = []


def compute(payload: tuple[str, bytes], table: Mapping[str, np.ndarray]) -> Rows:
    """A batch in another process."""
    digest, data = payload
    if digest not in _jobs:
        _jobs.clear()
        _jobs[digest] = pickle.loads(data)
    return _jobs[digest].compute(table, _stop[0].is_set if _stop else lambda: False)


def _begin(stop: Any) -> None:
    """Ctrl-C is for the process that started this one, and this one ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _stop[:] = [stop]
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


__all__ = ["Interrupted", "WorkersLost", "done"]
