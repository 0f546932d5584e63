"""What a study costs beside its runs: `python benchmarks/run.py --only tiny_runs`.

Calls of a function that does next to nothing, a thousand to a hundred thousand of them, with the store on disk; and
runs of a mechanism of ten steps, whose time is that of its numbers, its start and its result.  CPU times.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jointplay as jp

Results = dict[str, float | None]
COUNTS = (1_000, 10_000, 100_000)
MACHINES = 400
BARS: list[tuple[str, Callable[[Any], float], float]] = [
    ("overhead of a run in a study, ms", lambda r: r["study_overhead_ms"], 0.2),
    ("the same, 100,000 runs / 10,000", lambda r: r["study_growth"], 1.2),
    ("memory of 100,000 runs beside 10,000, MB", lambda r: r["study_memory_mb"], 100.0),
]


def tiny(a: float, b: float) -> float:
    """Next to nothing."""
    return a * b


def most_memory() -> float:
    """The most that this process has held so far (MB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def tiny_runs() -> Results:
    """Milliseconds per run by their number, growth of it and of memory, and the same for runs of a mechanism."""
    spent, held = {}, {}
    over = {name: jp.uniform(0.0, 1.0) for name in "ab"}
    with tempfile.TemporaryDirectory() as folder:
        jp.sweep(tiny, over, samples=10, store=Path(folder) / "first.zarr")  # imports
        for count in COUNTS:
            begin = time.process_time()
            jp.sweep(tiny, over, samples=count, store=Path(folder) / f"{count}.zarr")
            spent[count], held[count] = 1e3 * (time.process_time() - begin) / count, most_memory()
    arm = jp.library.pendulum()
    some = {"bar1.mass": jp.uniform(1.0, 2.0)}
    steps: dict[str, Any] = {"until": 1e-3, "stepper": jp.FixedRungeKutta(1e-4), "metrics": ["final(angle[bar1])"]}
    jp.sweep(arm, some, samples=20, **steps)  # compiles
    begin = time.process_time()
    jp.sweep(arm, some, samples=MACHINES, **steps)
    return {
        **{f"study_{count}_ms": ms for count, ms in spent.items()},
        "study_overhead_ms": spent[COUNTS[-1]],
        "study_growth": spent[COUNTS[-1]] / spent[COUNTS[-2]],
        "study_memory_mb": held[COUNTS[-1]] - held[COUNTS[-2]],
        "study_machine_ms": 1e3 * (time.process_time() - begin) / MACHINES,
    }
