"""What one Lyapunov exponent costs beside the plain run over the same time: Wu et al. 2017 (compliant contact, adaptive
steps) and the crank-rocker of Akhadkar et al. 2016 (rigid contact, fixed steps)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jointplay as jp
from jointplay.analysis import exponent
from jointplay.analysis.trajectories import COARSE, SEPARATIONS, Observation, gentle
from jointplay.model import library
from jointplay.papers.akhadkar2016 import Case

Results = dict[str, float | None]
ROUNDS = 3
BARS: list[tuple[str, Callable[[Any], float], float]] = [
    ("one exponent / the plain run", lambda r: r["exponent_ratio"], 2.5),
]


def spent(action: Callable[[], Any]) -> float:
    """CPU time of an action (s)."""
    begin = time.thread_time()
    action()
    return time.thread_time() - begin


def ratio(mechanism: jp.Mechanism, stepper: Any, plan: Observation, **options: Any) -> float:
    """CPU time of an exponent over that of one lane over the same time, both after settling, by turns."""
    far = {"until": plan.end, "every": plan.every, **options}
    alone = jp.Simulation(mechanism, stepper, **far)
    pair = jp.Simulation(mechanism, stepper, lanes=2, share=True, **far)
    for thing in (alone, pair):
        thing.advance(plan.settle)
    starts = alone.snapshot(), pair.snapshot()
    interval = plan.every / gentle(pair, plan, plan.separations[0])
    plain, both = [], []
    for _ in range(ROUNDS):
        alone.reset(starts[0])
        plain.append(spent(lambda: alone.advance(plan.end)))
        pair.reset(starts[1])
        both.append(spent(lambda: exponent(pair, plan.until, interval, plan.separations[0])))
    return min(both) / min(plain)


def exponents_of_motions() -> Results:
    """`exponent_ratio`, the larger of both."""
    wu = library.wu_2017(clearance=5e-4, contact=library.wu_2017_contact())
    drawn = Observation(36.0, 36.0, 4.5, 36.0 / 64, None, separations=SEPARATIONS)
    soft = ratio(wu, jp.RungeKutta(rtol=1e-7, max_step=1e-3), drawn)
    period = 8 / 3
    drawn = Observation(period, 6 * period, period, period / 64, None, separations=COARSE)
    rocker, step = library.crank_rocker_2016(3e-3, 3e-3, friction=0.1), jp.MoreauJean(period / 64 / 2084)
    rigid = ratio(rocker, step, drawn, control=Case("tau5").control(), start={"crank": 1.571}, reclose=True)
    return {"exponent_soft_ratio": soft, "exponent_rigid_ratio": rigid, "exponent_ratio": max(soft, rigid)}
