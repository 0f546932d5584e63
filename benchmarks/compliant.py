"""Compliant contact beside Exudyn, and Wu et al. 2017 (`--only compliant_contact two_driving_links` of run.py).

The mechanism is a slider-crank that turns freely from 5000 rpm, loose where the rod meets the slider (slider_crank.py):
Hunt and Crossley's law with Hertz's exponent and friction that grows in proportion to the slip.  jointplay takes
the classical steps of order 4 that `simulate` takes, with samples, peaks, list of contacts and audit.  What is compared
runs by turns, and of each the least CPU time counts.

All three must give the same motion: each is held to an adaptive run with tight tolerances over four contacts,
1.6 ms; later the least difference grows from contact to contact, in every code.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from hand_written import HERE
from rigid import states
from slider_crank import BEARING, CRANK, GRAVITY, JOURNAL, LAW, ROD, ROUGH, SHIFT, SLIDER, SPEED
from startup import output

import jointplay as jp
from jointplay.model import library
from jointplay.papers.wu2017 import WINDOW
from jointplay.papers.wu2017_play import STEPPER
from jointplay.run import Run
from jointplay.simulation import FixedRungeKutta, RungeKutta, planned, simulate

Results = dict[str, float | None]
STEP, STEPS = 1e-6, 6000  # s: half a turn of the crank, for all
SAME, NEAR = 1.6e-3, 4e-6  # s and m: how long and how near the motions must be the same
EVERY = 2e-4  # s: between samples, as the peer takes them
ROUNDS, REPEATS = 7, 3  # of each, all of the same steps
BARS: list[tuple[str, Callable[[Any], float], float]] = [
    ("compliant, RK4 / Exudyn explicit", lambda r: r["compliant_rk4_us"] / r["exudyn_explicit_us"], 1 / 28),
    ("compliant, RK4 / Exudyn generalized-alpha", lambda r: r["compliant_rk4_us"] / r["exudyn_alpha_us"], 1 / 43),
    ("120 s of Wu et al. 2017, s", lambda r: r["wu2017_120s_s"], 4.0),
]


def mechanism() -> jp.Mechanism:
    """The slider-crank, loose at J3."""
    contact = jp.Compliant(normal={"law": "hunt_crossley", **LAW}, friction={"law": "ambrosio", **ROUGH})
    return jp.Mechanism(
        name="slider-crank with one loose joint",
        gravity=(0.0, GRAVITY),
        ground={"points": {"O": (0, 0)}},
        bodies={
            "crank": jp.bar(*CRANK),
            "rod": jp.bar(*ROD),
            "slider": jp.Body(mass=SLIDER.mass, inertia=SLIDER.inertia, points={"pin": (0, 0)}),
        },
        joints={
            "J1": {"kind": "revolute", "between": ["ground.O", "crank.start"]},
            "J2": {"kind": "revolute", "between": ["crank.end", "rod.start"]},
            "J3": {
                **{"kind": "revolute", "between": ["rod.end", "slider.pin"], "bearing": "second", "contact": contact},
                **{"journal_radius": JOURNAL, "bearing_radius": BEARING},
            },
            "J4": {"kind": "prismatic", "between": ["ground.O", "slider.pin"]},
        },
        start={
            **{"crank": 0.0, "rod": 0.0, "slider.x": CRANK.length + ROD.length + SHIFT},
            **{"crank.rate": SPEED, "rod.rate": -SPEED * CRANK.length / ROD.length, "slider.x.rate": 0.0},
        },
    )


def timed(run: Run) -> float:
    """CPU seconds of a run from its start; it must reach its end."""
    before = time.thread_time()
    run.advance()
    spent = time.thread_time() - before
    if run.status != ["done"]:
        raise SystemExit(f"compliant contact: {run.explain()}")
    return spent


def compliant_contact() -> Results:
    """Microseconds per step of the slider-crank."""
    system = jp.System(mechanism())
    truth = simulate(system, SAME, RungeKutta(1e-11, 1e-13, max_step=STEP), every=EVERY)
    seen: dict[str, list[float]] = {"exudyn_explicit_us": [], "exudyn_alpha_us": [], "compliant_rk4_us": []}
    peer = importlib.util.find_spec("exudyn") is not None
    if not peer:
        print("Exudyn is skipped: it is not installed here (pip install exudyn)")
    own = planned(system, STEPS * STEP, FixedRungeKutta(STEP, order=4), EVERY).run
    begin = states(own)
    for _ in range(ROUNDS):
        for _ in range(REPEATS):
            own.start(0)
            for name, x in begin.items():
                own[name] = x
            seen["compliant_rk4_us"].append(timed(own) / int(own["steps.taken"][0]) * 1e6)
        columns = own.rows("samples")
        same("jointplay", truth, columns["time"], columns["slider.x"])
        if peer:
            found = json.loads(output([sys.executable, str(HERE / "exudyn_slider_crank.py"), str(STEPS), str(REPEATS)]))
            for way, one in found.items():
                seen[f"exudyn_{way}_us"].append(one["us"])
                same(f"Exudyn ({way})", truth, one["time"], one["place"])
    return {key: min(times, default=None) for key, times in seen.items()}


def same(who: str, truth: Any, times: Any, places: Any) -> None:
    """Stop if a slider is elsewhere."""
    at = truth["time"].values
    off = np.abs(np.interp(at, times, places) - truth["x"].sel(body="slider").values).max()
    if not off < NEAR:
        raise SystemExit(f"{who}: the slider is {off:.2g} m from where it should be")


def two_driving_links() -> Results:
    """CPU seconds of 120 s of Wu et al. 2017 at 0.5 mm, with the tolerances of its study."""
    loose = library.wu_2017(clearance=5e-4, contact=library.wu_2017_contact())
    system = jp.System(loose)
    ways = [planned(system, WINDOW, STEPPER, WINDOW / 1000) for _ in range(3)]
    return {"wu2017_120s_s": min(timed(way.run) for way in ways)}
