"""Motion over time: simulate() runs a mechanism with a stepper and gives a Dataset with an outcome and an audit."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..errors import InputError
from ..model.control import Control
from ..model.mechanism import Mechanism
from ..model.units import TIME, UnitError, parse_quantity
from ..physics.step import Step, Stepper, is_number
from ..physics.steps import FixedRungeKutta, MoreauJean, RungeKutta
from ..system import System
from .auditing import trust
from .course import MOST_STEPS
from .judgement import judged
from .lanes import default_stepper
from .outcome import Ending, Finding, Outcome, SimulationFailed
from .settling import settled_time
from .simulation import Simulation

if TYPE_CHECKING:
    from xarray import Dataset

__all__ = [
    "Ending", "Finding", "FixedRungeKutta", "MoreauJean", "Outcome", "RungeKutta", "Simulation", "SimulationFailed",
    "Step", "Stepper", "default_stepper", "settled_time", "simulate",
]  # fmt: skip
HEADLINES = ["angle", "x", "y", "peak_force", "peak_effort", "peak_normal", "peak_impulse", "impacts"]
HEADLINES += ["joint_impulse", "impact_loss", "friction_loss", "error_max", "error_rms", "control_max", "control_rms"]
SAME = 1e-9  # m or rad: a motion of less is none
SAMPLES = 1000  # output intervals unless `every` says otherwise


def simulate(
    mechanism: Mechanism | System,
    until: float | str,
    stepper: Stepper | None = None,
    every: float | str | None = None,
    start: Mapping[str, float | str] | None = None,
    strict: bool = True,
    progress: Callable[[float], None] | None = None,
    reclose: bool = False,
    audit: Literal["run", "convergence"] = "run",
    control: Control | None = None,
    settled: float | str = 0.0,
    most_steps: int = MOST_STEPS,
) -> Dataset:
    """The motion of a mechanism from time 0 to `until` (s, or a text such as "500 ms"), sampled every `every` seconds.

    stepper: MoreauJean() if there are rigid contacts, else RungeKutta(). start: start values in place of the
    mechanism's ("crank", "crank.rate"; the first are held, see `statics.assemble`). strict: a run that ends early
    raises SimulationFailed with its partial result, otherwise the partial result is returned; its attributes
    `outcome` and `outcome_text` say what happened. progress: is told the time reached, about twenty times a second.
    reclose: start rigid joints with play in the middle, from the first start values alone. audit: "convergence" runs
    once more with half the step (adaptive: a 32nd of the tolerances, half of max_step) and says in the attribute
    `convergence` how much each headline number moves; the audit then has the largest differences of angles and places.
    control: a control loop in place of the mechanism's (`jointplay.control`). settled: a time (s), or a text such as
    "200 ms" or "2 turns of motor", from which on peaks, shares, impacts and losses are told once more, in variables
    with `_settled` in their names; that of the control loop unless given. most_steps: of steps that a tolerance
    chooses; a run that needs more ends there (outcome "too many steps") with what it has computed.
    """
    if audit not in ("run", "convergence"):
        raise InputError(f"audit must be 'run' or 'convergence', got {audit!r}")
    until, every = seconds("until", until), None if every is None else seconds("every", every)
    options: dict[str, Any] = {"reclose": reclose, "most_steps": most_steps}
    simulation = planned(mechanism, until, stepper, every, start=start, control=control, **options)
    late = settled_time(simulation.base.mechanism, settled, until)
    if late and simulation.base.mechanism.control is not None and not simulation.base.mechanism.control.settled:
        simulation = planned(simulation.base.with_({"control.settled": late}), until, stepper, every, **options)
    result = run(simulation, progress, strict, late)
    if audit == "convergence" and simulation.status[0].complete:
        finer = simulation.stepper.finer()
        again = Simulation(simulation.base, finer, every=simulation.every, until=simulation.until, **options)
        finer_run = run(again, progress, strict, late)
        result.attrs["convergence"] = json.dumps(compared(result, finer_run))
        entries = [Finding(**entry) for entry in json.loads(result.attrs["audit"])] + step_errors(result, finer_run)
        result.attrs |= trust(entries, simulation.status[0], simulation.stepper)
    return result


def seconds(name: str, given: float | str) -> float:
    """A time (s), which may be a text with a unit."""
    if not isinstance(given, str):
        return given
    try:
        return parse_quantity(given, TIME)
    except UnitError as error:
        raise InputError(f"{name}: {error}") from None


def planned(
    mechanism: Mechanism | System,
    until: float,
    stepper: Stepper | None = None,
    every: float | None = None,
    **options: Any,
) -> Simulation:
    """The simulation that `simulate` and `compare` run, its times checked."""
    for name, x in (("until", until), ("every", every)):
        if x is not None and not (is_number(x) and x > 0):
            raise InputError(f"{name} must be a number of seconds > 0, got {x!r}")
    every = until / SAMPLES if every is None else every
    if every > until:
        raise InputError(f"every = {every:g} s is longer than the run of {until:g} s; choose every <= until")
    return Simulation(mechanism, stepper, every=float(every), until=float(until), **options)


def run(
    simulation: Simulation,
    progress: Callable[[float], None] | None = None,
    strict: bool = False,
    settled: float = 0.0,
) -> Dataset:
    """Run one lane to its end; Ctrl-C ends a run that is not strict where it stands.  settled: see `simulate`."""
    until, pilot = simulation.until, simulation.each[0].pilot
    assert until is not None
    settled = settled or (pilot.control.settled if pilot else 0.0)
    told = progress and (lambda t: progress(min(t, until)))
    if told:
        told(0.0)  # all is prepared; what follows is computing
    try:
        if 0 < settled < until:
            simulation.advance(settled, told)
            if simulation.outcomes[0] is None:
                simulation.count_anew()
        if simulation.outcomes[0] is None:
            simulation.advance(until, told)
    except KeyboardInterrupt:
        if strict:
            raise
        time = float(simulation.time[0])
        text = f"interrupted at t = {time:.6g} s of {until:g} s"
        simulation.ended(0, Outcome(Ending.INTERRUPTED, text, time))
    outcome, result = simulation.status[0], simulation.result()
    if strict and not outcome.complete:
        raise SimulationFailed(outcome, result) from (pilot.error if pilot else None)
    return result


def compared(result: Dataset, finer: Dataset) -> dict[str, dict[str, float]]:
    """Headline numbers of a run and of a finer one: last angles, largest forces and impulses, energy lost, impacts."""
    found: dict[str, dict[str, float]] = {}
    for name in HEADLINES:
        if name not in result or name not in finer:
            continue
        pair = [run[name].isel(time=-1) if "time" in run[name].dims else run[name] for run in (result, finer)]
        values = [np.atleast_1d(one.values).astype(float) for one in pair]
        labels = pair[0][pair[0].dims[0]].values if pair[0].dims else [""]
        for label, here, there in zip(labels, *values, strict=True):
            key = f"{label}.{name}" if label else name
            found[key] = {"value": float(here), "finer": float(there), "moved": float(there - here)}
    return found


def step_errors(result: Dataset, finer: Dataset) -> list[Finding]:
    """The largest differences of angles and places of two runs with the same samples: the error of the coarser."""
    both = min(result.sizes["time"], finer.sizes["time"])
    pairs = {name: (result[name].values[:both], finer[name].values[:both]) for name in ("angle", "x", "y")}
    off = {name: float(np.abs(one - other).max()) for name, (one, other) in pairs.items()}
    span = {name: float(np.ptp(one, axis=0).max()) for name, (one, _) in pairs.items()}
    found = [
        Finding("error of angles by a finer run", off["angle"], "rad"),
        Finding("error of places by a finer run", max(off["x"], off["y"]), "m"),
    ]
    return judged(found, {"angles": span["angle"] + SAME, "places": max(span["x"], span["y"]) + SAME})
