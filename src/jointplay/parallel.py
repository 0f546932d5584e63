"""Many computations at once, in processes of their own."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context, parent_process
from typing import TypeVar

from . import own
from .host import cores

Item = TypeVar("Item")
Result = TypeVar("Result")
OnProgress = Callable[[int, int], None]


def each(
    function: Callable[[Item], Result],
    cases: Iterable[Item],
    progress: OnProgress | None = None,
    workers: int | None = None,
) -> list[Result]:
    """The function's result for every case, in their order: what a plain loop gives, computed on all cores.

    progress: is told how many are done, and of how many; function and workers as of `stream`.
    """
    listed = list(cases)
    tell = progress or (lambda done, all_: None)
    found: dict[int, Result] = {}
    tell(0, len(listed))
    for i, result in stream(function, listed, workers):
        found[i] = result
        tell(len(found), len(listed))
    return [found[i] for i in range(len(listed))]


def stream(
    function: Callable[[Item], Result], cases: Iterable[Item], workers: int | None = None
) -> Iterator[tuple[int, Result]]:
    """Number and result of every case as they come, computed on all cores.

    function: must stand at the top of a module, its cases and results travel between processes. workers: processes at
    most; 1 computes in this one, in order. The first failure ends all.
    """
    listed = list(cases)
    many = min(len(listed), workers or cores())
    if many <= 1:
        yield from ((i, function(case)) for i, case in enumerate(listed))
        return
    pool = ProcessPoolExecutor(many, get_context("spawn"), _begin, (own.files(),))
    try:
        futures = {pool.submit(function, case): i for i, case in enumerate(listed)}
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BaseException:  # who stops waiting, by a signal to this process alone too, waits for nothing half computed
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(files: list[str]) -> None:
    """Ctrl-C ends a worker without a word, as the process that started it tells; the user's own files are known."""
    threading.Thread(target=_follow, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for file in files:
        own.load(file)


def _follow() -> None:
    """A worker ends with the process that started it, also if that was killed and could not tell."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
