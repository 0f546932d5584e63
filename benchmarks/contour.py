"""Figure 15b of Akhadkar et al. 2016: 11 x 11 clearances from 0 to 5 mm, feedback linearisation, ten seconds each."""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import jointplay as jp

Results = dict[str, float | None]
RUNS, STEPS = 121, 1_000_000
SETTLED = 1.0  # s
TOLERANCE, SHARE = 1e-5, 3e-3  # of chosen steps, and the error of e that it may leave
BARS: list[tuple[str, Callable[[Any], float], float]] = [
    ("contour of 121 runs of a million steps, s", lambda r: r["contour_121_s"], 25.0),
    ("contour of 121 runs to 0.3 %, s", lambda r: r["contour_121_default_s"], 6.0),
    ("one thread / two threads, at least 1.8: inverse", lambda r: 1 / r["contour_speedup_2"], 1 / 1.8),
]


def contour(stepper: jp.MoreauJean, threads: int, count: int = 11) -> tuple[float, Any]:
    """Seconds that the grid takes, and e of equation 16 (%), which the figure shows."""
    control = jp.control.feedback_linearisation("crank", jp.sine(6.0, 0.75 * math.pi), k1=2000, k2=200, settled=SETTLED)
    mechanism = jp.library.crank_rocker_2016().with_({"J2.friction": 0.1, "J3.friction": 0.1})
    plays = jp.grid(0, 5e-3, count)
    begin = time.perf_counter()
    found = jp.sweep(
        mechanism,
        {"J2.clearance": plays, "J3.clearance": plays},
        until=10.0,
        stepper=stepper,
        control=control,
        metrics=["error_max[crank]", "deviation[crank]", "deviation[rocker]"],
        settled=SETTLED,
        reclose=True,
        executor=threads,
    )
    if (found.status != 1).any():
        raise SystemExit(f"contour: {sorted(set(found.outcome.values.ravel()))}")
    return time.perf_counter() - begin, np.fmax(found["deviation[crank]"], found["deviation[rocker]"])


def contour_of_clearances() -> Results:
    """Wall time (s) of the grid on two threads, with the paper's steps and with chosen ones, the gain over one thread,
    and how memory grows (MB)."""
    published, chosen = jp.MoreauJean(1e-5, order=1), jp.MoreauJean(rtol=TOLERANCE)
    for stepper in (jp.MoreauJean(1e-4, order=1), chosen):
        contour(stepper, 2, 3)  # compiles
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    both, _ = contour(published, 2)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    quick, e = min((contour(chosen, 2) for _ in range(2)), key=lambda one: one[0])
    exact = contour(jp.MoreauJean(rtol=TOLERANCE / 100), 2, 3)[1]
    near = e.sel(exact.coords, method="nearest", tolerance=1e-9)
    off = float(np.nanmax(abs(near.values / exact.where(exact > 0).values - 1)))  # without play e is nothing
    if off > SHARE:
        raise SystemExit(f"contour_of_clearances: chosen steps are off by {off:.2%}")
    alone, _ = contour(published, 1)
    return {
        "contour_121_s": both,
        "contour_121_default_s": quick,
        "contour_default_error": off,
        "contour_speedup_2": alone / both,
        "contour_memory_mb": after - before,
    }


def beside(results: Results) -> Results:
    """Hours that SICONOS would need for the grid, by its time per step in the same run."""
    step = results.get("siconos_us")
    return (
        {} if not step or "contour_121_s" not in results else {"contour_siconos_h": step * 1e-6 * STEPS * RUNS / 3600}
    )
