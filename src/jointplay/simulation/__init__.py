"""Motion over time: simulate() runs a mechanism with a stepper and gives a Dataset with an outcome and an audit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..model.clearances import Rigid
from ..model.mechanism import Mechanism
from ..system import System
from .outcome import Journey, Outcome, SimulationFailed
from .steppers import FixedRungeKutta, MoreauJean, RungeKutta, Stepper, is_number

if TYPE_CHECKING:
    from xarray import Dataset

__all__ = ["FixedRungeKutta", "MoreauJean", "Outcome", "RungeKutta", "SimulationFailed", "Stepper", "simulate"]
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
) -> Dataset:
    """The motion of a mechanism from time 0 to `until` (s), sampled every `every` seconds.

    stepper: MoreauJean() if there are rigid contacts, else RungeKutta(). start: start values in place of the
    mechanism's ("crank", "crank.rate"; the first are held, see `statics.assemble`). strict: a run that ends early
    raises SimulationFailed with its partial result, otherwise the partial result is returned; its attributes
    `outcome` and `outcome_text` say what happened. progress: is told the time reached, about twenty times a second.
    reclose: start rigid joints with play in the middle, from the first start values alone.
    """
    for name, x in (("until", until), ("every", every)):
        if x is not None and not (is_number(x) and x > 0):
            raise ValueError(f"{name} must be a number of seconds > 0, got {x!r}")
    every = until / SAMPLES if every is None else every
    if every > until:
        raise ValueError(f"every = {every:g} s is longer than the run of {until:g} s; choose every <= until")
    if start:
        base = mechanism.mechanism if isinstance(mechanism, System) else mechanism
        mechanism = base.with_({f"start.{key}": x for key, x in start.items()})
    system = mechanism if isinstance(mechanism, System) else System(mechanism, 1.02 * until)
    journey = plan(system, stepper, until, every, reclose)
    outcome = journey.go(progress, strict)
    result = journey.dataset(outcome)
    if strict and not outcome.complete:
        raise SimulationFailed(outcome, result)
    return result


def plan(system: System, stepper: Stepper | None, until: float, every: float, reclose: bool = False) -> Journey:
    """The run of a system with a stepper, or with the one that its contacts need."""
    rigid = bool(system.mechanism.loose(Rigid) or system.mechanism.stopped())
    chosen = stepper or (MoreauJean() if rigid else RungeKutta())
    if isinstance(chosen, MoreauJean):
        from .rigid import RigidJourney

        return RigidJourney(system, chosen, until, every, reclose)
    from .smooth import SmoothJourney

    return SmoothJourney(system, chosen, until, every)
