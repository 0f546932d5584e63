"""The grid of Figure 15b of paper 000: 11 x 11 clearances from 0 to 5 mm, feedback linearisation, ten seconds each."""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Callable
from typing import Any

import jointplay as jp

Results = dict[str, float | None]
RUNS, STEPS = 121, 1_000_000
SETTLED = 1.0  # s
BARS: list[tuple[str, Callable[[Any], float], float]] = [
    ("contour of 121 runs of a million steps, s", lambda r: r["contour_121_s"], 25.0),
    ("one thread / two threads, at least 1.8: inverse", lambda r: 1 / r["contour_speedup_2"], 1 / 1.8),
]


def contour(step: float, threads: int, count: int = 11) -> float:
    """Seconds that the grid takes."""
    control = jp.control.feedback_linearisation("crank", jp.sine(6.0, 0.75 * math.pi), k1=2000, k2=200, settled=SETTLED)
    mechanism = jp.library.crank_rocker_2016().with_({"J2.friction": 0.1, "J3.friction": 0.1})
    plays = jp.grid(0, 5e-3, count)
    begin = time.perf_counter()
    found = jp.sweep(
        mechanism,
        {"J2.clearance": plays, "J3.clearance": plays},
        until=10.0,
        stepper=jp.MoreauJean(step, order=1),  # as in the paper
        control=control,
        metrics=["error_max[crank]", "deviation[crank]", "deviation[rocker]"],
        settled=SETTLED,
        reclose=True,
        executor=threads,
    )
    assert (found.status == 1).all()
    return time.perf_counter() - begin


def contour_of_clearances() -> Results:
    """Wall time (s) of the grid with the paper's step on two threads, the gain over one, and how memory grows (MB)."""
    contour(1e-4, 2, 3)  # compiles
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    both = contour(1e-5, 2)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    some = {n: min(contour(1e-5, n, 5) for _ in range(2)) for n in (1, 2)}
    return {"contour_121_s": both, "contour_speedup_2": some[1] / some[2], "contour_memory_mb": after - before}


def beside(results: Results) -> Results:
    """Hours that SICONOS would need for the grid, by its time per step in the same run."""
    step = results.get("siconos_us")
    return (
        {} if not step or "contour_121_s" not in results else {"contour_siconos_h": step * 1e-6 * STEPS * RUNS / 3600}
    )
