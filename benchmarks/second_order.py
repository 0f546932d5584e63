"""What a rigid step of second order costs beside one of first order: `python benchmarks/run.py --only second_order`.

The cases are those of rigid_contact, and the crank-rocker with ideal joints; both orders run by turns, 1e5 steps of
1e-5 s with peaks, impacts and audit, and of each the least CPU time counts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

from jointplay.model import control, library, sine
from jointplay.simulation import MoreauJean, Simulation

Results = dict[str, float | None]
STEP, STEPS, ROUNDS = 1e-5, 100_000, 5
BARS: list[tuple[str, Callable[[Any], float], float]] = [
    ("second order / first order, worst", lambda r: r["second_order_ratio"], 1.45),
]


def second_order() -> Results:
    """The worst ratio of the cost of a step, and each of them."""
    found: Results = {}
    for name, options in cases().items():
        both = {order: Simulation(stepper=MoreauJean(STEP, order=order), **options) for order in (1, 2)}  # type: ignore[arg-type]
        least = dict.fromkeys(both, math.inf)
        for _ in range(ROUNDS):
            for order, simulation in both.items():
                simulation.reset()
                simulation.advance(1e-3)
                begin = time.thread_time()
                simulation.advance(STEP * STEPS)
                least[order] = min(least[order], time.thread_time() - begin)
        found[f"second_order_{name}_ratio"] = least[2] / least[1]
        found[f"second_order_{name}_us"] = least[2] * 1e6 / STEPS
    ratios = [x for key, x in found.items() if key.endswith("ratio") and x is not None]
    return {"second_order_ratio": max(ratios), **found}


def cases() -> dict[str, Mapping[str, Any]]:
    """What is simulated."""
    torque = {"motor": {"kind": "torque", "on": "crank", "torque": 6.0}}
    made = {n: library.crank_rocker_2016(*[3e-3] * n).replace(forces=torque) for n in (0, 1, 2)}
    law = control.feedback_linearisation("crank", sine(6.0, 0.75 * math.pi), k1=2000, k2=200, settled=1.0)
    lanes = [{"J2.clearance": c} for c in (3e-3, 3.5e-3, 4e-3, 4.5e-3)]
    return {
        "ideal": {"mechanism": made[0]},
        "one_clearance": {"mechanism": made[1]},
        "two_clearances": {"mechanism": made[2]},
        "four_lanes": {"mechanism": made[1], "lanes": lanes},
        "feedback": {"mechanism": library.crank_rocker_2016(3e-3, 3e-3), "control": law},
    }
