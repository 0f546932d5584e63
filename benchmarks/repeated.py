"""What a run costs that is not the first of its kind: `python benchmarks/run.py --only repeated_runs python_loop`.

A run with other numbers, another start, another end and half the step is neither traced nor compiled again; its time is
that of the start, of 200 steps and of the Dataset.  Following the drives before contact is integrated is told apart.
All times are CPU times, the least of several.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rigid import loose

from jointplay import statics
from jointplay.model import library
from jointplay.simulation import Simulation, default_stepper, simulate
from jointplay.system import PROGRAMS, System

Results = dict[str, float | None]
ROUNDS = 7
BARS: list[tuple[str, Callable[[Any], float], float]] = [
    ("reset to first step, ms", lambda r: r["reset_ms"], 10.0),
    ("simulate again, ms", lambda r: r["again_ms"], 25.0),
    ("1,000 calls of step(100) / one call", lambda r: r["python_loop_ratio"], 2.0),
]


def least(action: Callable[[], Any], before: Callable[[], Any] = lambda: None) -> float:
    """The least CPU time of an action (s)."""
    times = []
    for _ in range(ROUNDS):
        before()
        begin = time.thread_time()
        action()
        times.append(time.thread_time() - begin)
    return min(times)


def repeated_runs() -> Results:
    """Milliseconds of a reset and of a repeated run, the slowest mechanism of the library counts."""
    again, reset, follow = {}, {}, {}
    print(f"{'a run that is not the first, ms':<34}{'again':>8}{'reset':>8}{'drives':>8}")
    for name in library.MECHANISMS:
        mechanism = getattr(library, name)()
        body = next(iter(mechanism.bodies))
        other = mechanism.with_({f"{body}.mass": 1.01 * mechanism.value(f"{body}.mass")})
        finer = default_stepper(mechanism).finer(0.02)
        simulate(mechanism, 0.01, strict=False)
        made = PROGRAMS.made
        system = System(other)
        follow[name] = 1e3 * least(lambda system=system: statics.followed(system, 0.02)) if mechanism.drives else 0.0
        spent = 1e3 * least(lambda m=other, h=finer: simulate(m, 0.02, h, every=0.02, strict=False))
        again[name] = spent
        simulation = Simulation(mechanism, until=0.02)
        reset[name] = 1e3 * least(lambda s=simulation: (s.reset(), s.step(1)))
        if PROGRAMS.made != made:
            raise SystemExit(f"repeated_runs: {name} was traced again")
        print(f"{name:<34}{again[name]:8.2f}{reset[name]:8.3f}{follow[name]:8.2f}")
    print()
    keys = {"again_ms": again, "reset_ms": reset, "follow_drives_ms": follow}
    return {key: max(times.values()) for key, times in keys.items()}


def python_loop() -> Results:
    """1,000 calls of step(100) with a torque chosen in Python, beside one call of 100,000 steps."""
    simulation = loose("J2")

    def steps() -> None:
        for k in range(1000):
            simulation.set({"motor.torque": 6.0 + 1e-3 * (k % 2)})
            simulation.step(100)

    whole = least(lambda: simulation.step(100_000), simulation.reset)
    return {"python_loop_ratio": least(steps, simulation.reset) / whole}
