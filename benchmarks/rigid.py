"""Rigid contact beside SICONOS and a step written by hand: `python benchmarks/run.py --only rigid_contact`.

The mechanism is the crank-rocker with 3 mm of play at J2, or at J2 and J3, friction 0.1, and 6 N m on the crank; the
program is that of jointplay.simulate with MoreauJean(1e-5, order=1), which is the scheme of SICONOS, with its samples,
peaks, impacts and audit.  The last
one has feedback linearisation in place of the constant torque, for 1,000,000 steps.  What is compared runs by turns,
and of each the least CPU time counts.

The limit is crank_rocker.cpp with feedback linearisation: three angles, one contact, nothing recorded.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from hand_written import HERE, compiled, hand_written_ns
from startup import output

from jointplay.model import Rigid, control, library, sine
from jointplay.run import Run
from jointplay.simulation import MoreauJean, Simulation, planned

Results = dict[str, float | None]
STEP, UNTIL = 1e-5, 2.0  # s
ROUNDS, PEER_STEPS = 7, 100_000
CLEARANCES = [3e-3, 3.5e-3, 4e-3, 4.5e-3]  # m, of simulations side by side
BARS: list[tuple[str, Callable[[Any], float], float]] = [
    ("rigid, one clearance / limit", lambda r: r["rigid_one_clearance_us"] / r["limit_us"], 1.6),
    ("rigid, two clearances / limit", lambda r: r["rigid_two_clearances_us"] / r["limit_us"], 2.7),
    ("rigid, one of four lanes / limit", lambda r: r["rigid_one_clearance_lanes_us"] / r["limit_us"], 0.55),
    ("feedback, two clearances / limit", lambda r: r["feedback_two_clearances_us"] / r["limit_us"], 5.3),
    ("rigid, one clearance / SICONOS", lambda r: r["rigid_one_clearance_us"] / r["siconos_us"], 0.01),
]


def rigid_contact() -> Results:
    """Microseconds per step and simulation."""
    one, two = loose("J2"), loose("J2", "J3")
    wanted = sine(6.0, 0.75 * math.pi)
    law = control.feedback_linearisation("crank", wanted, k1=2000, k2=200, settled=1.0)
    steered = planned(library.crank_rocker_2016(3e-3, 3e-3), 10.0, MoreauJean(STEP, order=1), 0.01, control=law)
    lanes = Run(one.run.program, lanes=len(CLEARANCES))
    hand, peer = compiled("crank_rocker.cpp"), siconos()
    angles = [str(float(one.run[f"{body}.angle"][0])) for body in ("crank", "coupler", "rocker")]
    begin = {run: states(run) for run in (one.run, two.run, steered.run)} | {lanes: states(one.run)}
    seen: dict[str, list[float]] = {key: [] for key in ("siconos_us", "limit_us")}

    def timed(key: str, run: Run, go: Callable[[], Any]) -> None:
        for lane in range(run.lanes):
            run.start(lane)
        for name, x in begin[run].items():
            run[name] = x
        if run is lanes:
            run["J2.clearance"] = CLEARANCES
        before = time.thread_time()
        go()
        spent, steps = time.thread_time() - before, run["steps.taken"]
        if set(run.status) != {"done"}:
            raise SystemExit(f"{key}: {run.explain()}")
        seen.setdefault(key, []).append(spent * 1e6 / int(steps.sum()))

    for _ in range(ROUNDS):
        if hand is not None:
            seen["limit_us"].append(hand_written_ns(hand, "feedback") / 1e3)
        timed("rigid_one_clearance_us", one.run, one.run.advance)
        timed("rigid_two_clearances_us", two.run, two.run.advance)
        timed("rigid_one_clearance_lanes_us", lanes, lanes.advance)
        timed("feedback_two_clearances_us", steered.run, steered.run.advance)
        if peer is not None:
            report = json.loads(output([*peer, str(PEER_STEPS), *angles]))
            seen["siconos_us"].append(report["us"])
            check(one, report["crank"])
    if lanes["crank.angle"][0] != one.run["crank.angle"][0]:
        raise SystemExit("rigid_contact: the first of four lanes differs from the simulation that runs alone")
    found = {key: min(times, default=None) for key, times in seen.items()}
    show(found)
    return found


def loose(*joints: str) -> Simulation:
    """A run of the crank-rocker with play in these joints."""
    crank = 1.570823772407980
    mechanism = library.four_bar((1.0, 4.0, 2.5, 3.0), (1, 1, 1), (0.0833, 1.33, 0.521), crank)
    mechanism = mechanism.replace(forces={"motor": {"kind": "torque", "on": "crank", "torque": 6.0}})
    for joint in joints:
        mechanism = mechanism.loosen(joint, 3e-3, journal_radius=0.06, contact=Rigid(friction=0.1))
    return planned(mechanism, UNTIL, MoreauJean(STEP, order=1), UNTIL / 1000)


def states(run: Run) -> dict[str, float]:
    """All numbers of a run that has not begun."""
    return {slot.name: run[slot.name][0] for slot in (*run.program.parameters, *run.program.slots)}


def siconos() -> list[str] | None:
    """The command of the peer with its compiled callbacks; None, with a message, where it cannot run."""
    pythons = dict.fromkeys(filter(None, ["/usr/bin/python3", shutil.which("python3")]))  # Debian's before any other
    for python in filter(lambda p: Path(p).exists(), pythons):
        asked = [python, "-c", "import siconos.kernel"]
        if subprocess.run(asked, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            break
    else:
        print("SICONOS is skipped: no python3 has it (Debian: apt install python3-siconos)")
        return None
    name = "siconos_four_bar"
    plugin = compiled(f"{name}.c", "-shared", "-fPIC", f"-Wl,-soname,{name}.so", suffix=".so")
    if plugin is None:
        print("SICONOS is skipped: there is no gcc for its callbacks")
        return None
    return [python, str(HERE / f"{name}.py"), str(plugin)]


def check(simulation: Simulation, crank: float) -> None:
    """Stop if the peer's crank is elsewhere; the schemes agree to first order in the step."""
    columns = simulation.run.rows("samples")
    own = float(np.interp(PEER_STEPS * STEP, columns["time"], columns["crank.angle"]))
    if abs(own - crank) > 1e-4:
        raise SystemExit(f"SICONOS: the crank is at {crank:.7f} rad, in jointplay at {own:.7f} rad")


def show(found: Results) -> None:
    """The table of this benchmark."""
    limit, peer = found["limit_us"], found["siconos_us"]
    print(f"{'rigid contact, us per step':<34}{'us':>8}{'/ limit':>10}{'SICONOS /':>12}")
    for key, us in found.items():
        beside = f"{us / limit:.2f}" if us and limit else "-"
        faster = f"{peer / us:.0f}" if us and peer else "-"
        name = key.removesuffix("_us").replace("_", " ")
        print(f"{name:<34}{'-' if us is None else f'{us:.4f}':>8}{beside:>10}{faster:>12}")
    print()
