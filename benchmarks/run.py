"""Measures the engine and what stands on it, and prints a table: `python benchmarks/run.py [--only NAME ...]`.

What is compared runs by turns, and of each the least CPU time counts: on a shared machine ratios mean
something, single times do not.  A benchmark is a function that returns {key: number}; the numbers of a run go
to benchmarks/latest.json.  A bar is a ratio or a time to stay below.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import compliant
import contour
import growth
import literature
import motion
import numpy as np
import repeated
import rigid
import second_order as orders
import studies
import work_precision
from compliant import compliant_contact, two_driving_links
from contour import contour_of_clearances
from crank_rocker import crank_rocker
from growth import chains, four_bars, links
from hand_written import HERE, check, compiled, hand_written_ns
from literature import table_of_controllers
from motion import exponents_of_motions
from repeated import python_loop, repeated_runs
from rigid import rigid_contact
from second_order import second_order
from startup import CACHED, COLD, DEMO, demo_start_up, empty_cache, library_start_up, start_up
from studies import tiny_runs
from work_precision import cost_of_precision

from jointplay.engine import Native
from jointplay.run import Run

STEPS = 1_000_000  # of 1e-5 s: the ten seconds over which the tracking error is known
ROUNDS = 9

Results = dict[str, float | None]


def crank_rocker_speed() -> Results:
    """Nanoseconds per step and simulation, beside a step written by hand."""
    program, hand = crank_rocker(), compiled("crank_rocker.cpp")
    runs = {
        "engine_ns": Run(program, eager=False),
        "engine_lane_ns": Run(program, eager=False, lanes=4),
        "engine_eight_lane_ns": Run(program, eager=False, lanes=8),
        "engine_nofma_ns": Run(program, eager=False, fma=False),
    }
    seen: dict[str, list[float]] = {"engine_hand_ns": [], **{key: [] for key in runs}}
    for _ in range(ROUNDS):
        if hand is not None:
            seen["engine_hand_ns"].append(hand_written_ns(hand, "pd"))
        for key, run in runs.items():
            for lane in range(run.lanes):
                run.start(lane, {"J2.clearance": 3e-3 + 5e-4 * lane})
            begin = time.thread_time()
            run.advance(STEPS)
            seen[key].append((time.thread_time() - begin) * 1e9 / STEPS / run.lanes)
            check(key, float(np.degrees(run["tracking_error"][0])))
    return {key: min(times, default=None) for key, times in seen.items()}


def compile_time() -> Results:
    """Milliseconds from the text to machine code ready to run: new, and from the cache."""

    def build() -> float:
        begin = time.perf_counter()
        Native(crank_rocker())
        return (time.perf_counter() - begin) * 1e3

    new, cached = [], []
    for _ in range(5):
        with empty_cache():
            new.append(build())
            cached.append(build())
    return {"engine_compile_ms": min(new), "engine_cached_ms": min(cached)}


BENCHMARKS: list[Callable[[], Results]] = [crank_rocker_speed, compile_time, rigid_contact, compliant_contact]
BENCHMARKS += [two_driving_links, table_of_controllers, contour_of_clearances, start_up, library_start_up]
BENCHMARKS += [demo_start_up, chains, links, four_bars, repeated_runs, python_loop, second_order, exponents_of_motions]
BENCHMARKS += [cost_of_precision, tiny_runs]
BARS: list[tuple[str, Callable[[Any], float], float]] = [
    ("scalar step / hand-written step", lambda r: r["engine_ns"] / r["engine_hand_ns"], 1.4),
    ("step of four lanes / hand-written step", lambda r: 4 * r["engine_lane_ns"] / r["engine_hand_ns"], 1.8),
    ("compile, ms", lambda r: r["engine_compile_ms"], 150.0),
    ("from the cache, ms", lambda r: r["engine_cached_ms"], 40.0),
    *rigid.BARS,
    *orders.BARS,
    *work_precision.BARS,
    *compliant.BARS,
    *literature.BARS,
    *repeated.BARS,
    *contour.BARS,
    *studies.BARS,
    *motion.BARS,
    ("slowest mechanism to first step, cold, s", lambda r: r["startup_cold_s"], COLD),
    ("slowest mechanism to first step, cached, s", lambda r: r["startup_cached_s"], CACHED),
    ("demo to first step, cached, s", lambda r: r["demo_first_step_s"], DEMO),
    *growth.BARS,
]


def main() -> None:
    """Run the chosen benchmarks, print and write what they found."""
    names = [benchmark.__name__ for benchmark in BENCHMARKS]
    parser = argparse.ArgumentParser(description="Measure jointplay.")
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME", help=str(names))
    chosen = parser.parse_args().only
    results: Results = {}
    for benchmark in BENCHMARKS:
        if benchmark.__name__ in chosen:
            results |= benchmark()
    results |= contour.beside(results)
    for key, value in results.items():
        print(f"{key:<32}{'-' if value is None else f'{value:.4g}':>10}")
    print()
    for name, measure, bar in BARS:
        try:
            ratio = measure(results)
        except (KeyError, TypeError):  # not chosen, or a peer is missing
            continue
        print(f"{name:<44}{ratio:8.3g}   bar {bar:<8.3g}{'reached' if ratio <= bar else 'not reached'}")
    (HERE / "latest.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
