"""Motion over time: simulate() runs a mechanism with a stepper and gives a Dataset with an outcome and an audit."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from .. import statics
from ..model.clearances import Compliant, Rigid
from ..model.control import Control
from ..model.mechanism import Mechanism
from ..system import System
from .outcome import Journey, Outcome, SimulationFailed
from .steppers import FixedRungeKutta, MoreauJean, RungeKutta, Stepper, is_number

if TYPE_CHECKING:
    from xarray import Dataset

__all__ = ["FixedRungeKutta", "MoreauJean", "Outcome", "RungeKutta", "SimulationFailed", "Stepper", "simulate"]
HEADLINES = ["angle", "x", "y", "peak_force", "peak_effort", "peak_normal", "peak_impulse", "impacts"]
HEADLINES += ["joint_impulse", "impact_loss", "friction_loss", "error_max", "error_rms", "control_max", "control_rms"]
SAMPLES = 1000  # output intervals unless `every` says otherwise


def simulate(
    mechanism: Mechanism | System,
    until: float,
    stepper: Stepper | None = None,
    every: float | None = None,
    start: Mapping[str, float | str] | None = None,
    strict: bool = True,
    progress: Callable[[float], None] | None = None,
    reclose: bool = False,
    audit: Literal["run", "convergence"] = "run",
    control: Control | None = None,
) -> Dataset:
    """The motion of a mechanism from time 0 to `until` (s), sampled every `every` seconds.

    stepper: MoreauJean() if there are rigid contacts, else RungeKutta(). start: start values in place of the
    mechanism's ("crank", "crank.rate"; the first are held, see `statics.assemble`). strict: a run that ends early
    raises SimulationFailed with its partial result, otherwise the partial result is returned; its attributes
    `outcome` and `outcome_text` say what happened. progress: is told the time reached, about twenty times a second.
    reclose: start rigid joints with play in the middle, from the first start values alone. audit: "convergence" runs
    once more with half the step (adaptive: a 32nd of the tolerances, half of max_step) and says in the attribute
    `convergence` how much each headline number moves; the audit then has the largest differences of angles and places.
    control: a control loop in place of the mechanism's (`jointplay.control`).
    """
    for name, x in (("until", until), ("every", every)):
        if x is not None and not (is_number(x) and x > 0):
            raise ValueError(f"{name} must be a number of seconds > 0, got {x!r}")
    every = until / SAMPLES if every is None else every
    if every > until:
        raise ValueError(f"every = {every:g} s is longer than the run of {until:g} s; choose every <= until")
    if start:
        base = mechanism.given if isinstance(mechanism, System) else mechanism
        mechanism = base.with_({f"start.{key}": x for key, x in start.items()})
    if control is not None:
        base = mechanism.given if isinstance(mechanism, System) else mechanism
        mechanism = base.replace(control=control)
    if audit not in ("run", "convergence"):
        raise ValueError(f"audit must be 'run' or 'convergence', got {audit!r}")
    system = mechanism.until(1.02 * until) if isinstance(mechanism, System) else System(mechanism, 1.02 * until)
    journey = plan(system, stepper, until, every, reclose)
    outcome = journey.go(progress, strict)
    result = journey.dataset(outcome)
    if audit == "convergence" and outcome.complete:
        finer = plan(system, refined(journey.stepper, until), *journey.times(), reclose)
        again = finer.dataset(finer.go(progress, strict))
        result.attrs["convergence"] = json.dumps(compared(result, again))
        result.attrs["audit"] = json.dumps(json.loads(result.attrs["audit"]) | moved(result, again))
    if strict and not outcome.complete:
        raise SimulationFailed(outcome, result) from (journey.pilot.error if journey.pilot else None)
    return result


def refined(stepper: Stepper, until: float) -> Stepper:
    """The stepper with half its step, or tolerances that halve its steps."""
    if isinstance(stepper, RungeKutta):
        longest = (stepper.max_step or until / 100) / 2
        return replace(stepper, rtol=max(stepper.rtol / 32, 1e-14), atol=stepper.atol / 32, max_step=longest)
    return replace(stepper, step=stepper.step / 2)


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


def moved(result: Dataset, finer: Dataset) -> dict[str, float]:
    """The largest differences of angles and places of two runs with the same samples: the error of the coarser."""
    both = min(result.sizes["time"], finer.sizes["time"])
    off = {name: np.abs(result[name].values[:both] - finer[name].values[:both]).max() for name in ("angle", "x", "y")}
    places = max(off["x"], off["y"])
    return {
        "error of angles by a finer run (rad)": float(off["angle"]),
        "error of places by a finer run (m)": float(places),
    }


def plan(system: System, stepper: Stepper | None, until: float, every: float, reclose: bool = False) -> Journey:
    """The run of a system with a stepper, or with the one that its contacts need."""
    if stepper is not None and not isinstance(stepper, Stepper):
        raise ValueError(f"stepper must be RungeKutta(), FixedRungeKutta(step) or MoreauJean(step), got {stepper!r}")
    mechanism = system.mechanism
    if mechanism.drives and (mechanism.loose(Rigid) or mechanism.loose(Compliant)):
        statics.refuse_drives(system, until)
    rigid = bool(mechanism.loose(Rigid) or mechanism.stopped())
    chosen = stepper or (MoreauJean() if rigid else RungeKutta())
    if isinstance(chosen, MoreauJean):
        from .rigid import RigidJourney

        return RigidJourney(system, chosen, until, every, reclose)
    from .smooth import SmoothJourney

    return SmoothJourney(system, chosen, until, every)
