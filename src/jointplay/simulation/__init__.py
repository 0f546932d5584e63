"""Motion over time: simulate() runs a mechanism with a stepper and gives a Dataset with an outcome and an audit."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from ..errors import InputError
from ..model.clearances import Compliant, Following, Rigid
from ..model.control import Control
from ..model.mechanism import Mechanism
from ..model.units import TIME, UnitError, parse_quantity
from ..physics.step import UNREFINED, Step, Stepper, is_number
from ..physics.steps import FixedRungeKutta, MoreauJean, RungeKutta
from ..system import System
from .auditing import trust
from .companions import (
    HALVED,
    Company,
    Other,
    beyond,
    companions,
    finer_steppers,
    least,
    noted,
    other,
    other_of,
    stated,
    step_errors,
    with_slips,
)
from .course import MOST_STEPS, PATIENCE
from .lanes import default_stepper
from .outcome import Ending, Finding, Outcome, SimulationFailed, cut_short
from .settling import settled_time
from .simulation import Simulation

if TYPE_CHECKING:
    from xarray import Dataset

__all__ = [
    "Ending", "Finding", "FixedRungeKutta", "MoreauJean", "Outcome", "RungeKutta", "Simulation", "SimulationFailed",
    "Step", "Stepper", "default_stepper", "dividing", "refuse_samples", "settled_time", "simulate",
]  # fmt: skip
MOST_BYTES = 2e9  # for the samples
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
    error: bool | None = None,
) -> Dataset:
    """The motion of a mechanism from time 0 to `until` (s, or a text such as "500 ms"), sampled every `every` seconds.

    stepper: MoreauJean() if there are rigid contacts, else RungeKutta(). start: start values in place of the
    mechanism's ("crank", "crank.rate"; the first are held, see `statics.assemble`). strict: a run that ends early
    raises SimulationFailed with its partial result, otherwise the partial result is returned; its attributes
    `outcome` and `outcome_text` say what happened. progress: is told the time reached, about twenty times a second.
    reclose: close the mechanism anew from its first start values alone, as many as it needs. control: a control loop in
    place of the mechanism's (`jointplay.control`). settled: a time (s), or a text such as "200 ms" or "2 turns of
    motor", from which on peaks, shares, impacts and losses are told once more, in variables with `_settled` in their
    names; that of the control loop unless given. error: whether the errors of the headline numbers are estimated
    (`results.errors`), where a tolerance chooses the steps by companions at looser ones, else by a run with
    half the step; unless given, only the former. audit: "convergence" has them by a finer run in any case (half the
    step, a 4th or a 32nd of the tolerances), and the audit then has the largest differences of angles and places.
    most_steps: of those that a tolerance chooses; a run that needs more ends there ("too many steps") with what it has.
    """
    if audit not in ("run", "convergence"):
        raise InputError(f"audit must be 'run' or 'convergence', got {audit!r}")
    until, every = seconds("until", until), None if every is None else seconds("every", every)
    own = mechanism.mechanism if isinstance(mechanism, System) else mechanism
    refuse_samples(own, until, every)
    loop = control or (own.control if isinstance(own, Mechanism) else None)
    company = companions(error if audit == "run" else False, own if stepper is None else stepper, loop)
    options: dict[str, Any] = {"reclose": reclose, "most_steps": most_steps}
    options["companions"] = company.steppers if company.beside else ()
    asked = settled != 0 and isinstance(own, Mechanism) and is_number(until)
    late = settled_time(own, settled, until) if asked else 0.0
    options["settles"] = late or (loop.settled if loop else 0.0)
    simulation = planned(mechanism, until, stepper, every, start=start, control=control, **options)
    if late and loop is not None and not loop.settled:
        simulation = planned(simulation.base.with_({"control.settled": late}), until, stepper, every, **options)
    if error or audit == "convergence":
        simulation.stepper.finer()  # is refused here, and not after the run, where there is none
    result = run(simulation, progress, strict, late)
    if error is None and not simulation.stepper.refinable:
        noted(result, f"no errors are stated: {type(simulation.stepper).__name__} {UNREFINED}")
    if not simulation.status[0].complete:
        return result
    if company.steppers:
        return with_companions(simulation, company, result, progress, late)
    return beside_finer(simulation, result, progress, late) if error or audit == "convergence" else result


def beside_finer(
    simulation: Simulation, result: Dataset, progress: Callable[[float], None] | None, settled: float
) -> Dataset:
    """A result with its errors by finer runs; its audit has the largest differences to the first, of half the step."""
    base, own = simulation.base, simulation.stepper
    options: dict[str, Any] = {"reclose": simulation.reclose, "most_steps": simulation.most_steps}
    options["settles"] = simulation.settles
    # the same times as those of the run, which are whole numbers of its steps
    options |= {name: own.whole(getattr(simulation, name)) for name in ("every", "until")}
    there: dict[str, Other | str] = {}
    entries = [Finding(**entry) for entry in json.loads(result.attrs["audit"])]
    for finer in finer_steppers(own):
        again = Simulation(base, finer, **options)
        found = run(again, progress, strict=False, settled=settled and own.whole(settled))
        end = again.status[0]
        if end.complete and not there:
            result.attrs |= trust(entries + step_errors(result, found), simulation.status[0], own)
        there[repr(finer)] = other(found) if end.complete else end.text
        if end.kind is Ending.INTERRUPTED:
            break
    result = stated(result, there, base.mechanism, HALVED, beyond(result, simulation), least(result, simulation))
    return with_slips(result) if own.impulsive and not own.adaptive else result


def with_companions(
    simulation: Simulation,
    company: Company,
    result: Dataset,
    progress: Callable[[float], None] | None,
    settled: float,
) -> Dataset:
    """A result with its errors by its companions: beside it, or after it in its place."""
    found: dict[str, Other | str] = {}
    known = beyond(result, simulation), least(result, simulation)
    patience = PATIENCE * int(simulation.steps[0]) + 1
    for lane, stepper in enumerate(company.steppers, 1):
        if not company.beside:
            lane = 0
            simulation.follow(stepper, patience)
            march(simulation, progress and (lambda t: progress(simulation.asked)), False, settled)
        end = simulation.status[lane]
        found[repr(stepper)] = other_of(simulation, lane) if end.complete else end.text
        if end.kind is Ending.INTERRUPTED:
            break
    return stated(result, found, simulation.base.mechanism, company.share, *known)


def seconds(name: str, given: float | str) -> float:
    """A time (s), which may be a text with a unit."""
    if not isinstance(given, str):
        return given
    try:
        return parse_quantity(given, TIME)
    except UnitError as error:
        raise InputError(f"{name}: {error}") from None


def refuse_samples(mechanism: Any, until: Any, every: Any, name: str = "every") -> None:
    """Raises where there is no room for the samples: each holds some numbers for every body, joint and contact, and is
    in memory three times while a result is made and written."""
    if not (isinstance(mechanism, Mechanism) and is_number(until) and is_number(every) and every > 0):
        return  # what is wrong with these is told elsewhere
    loose = mechanism.loose((Following, Rigid, Compliant))
    parts = 10 * len(mechanism.bodies) + 8 * len(mechanism.joints) + 20 * len(loose) + 20
    most = MOST_BYTES / (3 * 8 * parts)
    if until / every > most:
        raise InputError(f"{name}: {until / every:.3g} samples are too many; choose at least {until / most:.3g} s")


def planned(
    mechanism: Mechanism | System,
    until: float,
    stepper: Stepper | None = None,
    every: float | None = None,
    meets: bool = False,
    **options: Any,
) -> Simulation:
    """The simulation that `simulate` and `compare` run, its times checked; meets: the last sample is at the end."""
    for name, x in (("until", until), ("every", until if every is None else every)):
        if not (is_number(x) and x > 0):
            raise InputError(f"{name} must be a number of seconds > 0, got {x!r}")
    every = until / SAMPLES if every is None else every
    if every > until:
        raise InputError(f"every = {every:g} s is longer than the run of {until:g} s; choose every <= until")
    every = dividing(every, until) if meets else every
    return Simulation(mechanism, stepper, every=float(every), until=float(until), quick=None, **options)


def dividing(every: float, until: float) -> float:
    """A time between samples (s), at most as long as this one, of which so many make up a run: the last is at its end.

    >>> dividing(0.1, 0.3), dividing(0.15, 0.2)
    (0.1, 0.1)
    """
    count = math.ceil(until / every * (1 - 1e-9))
    return every if math.isclose(count * every, until, rel_tol=1e-9) else until / count


def run(
    simulation: Simulation,
    progress: Callable[[float], None] | None = None,
    strict: bool = False,
    settled: float = 0.0,
) -> Dataset:
    """Run one lane to its end; Ctrl-C ends a run that is not strict where it stands.  settled: see `simulate`."""
    march(simulation, progress, strict, settled)
    outcome, result, pilot = simulation.status[0], simulation.result(), simulation.each[0].pilot
    if strict and not outcome.complete:
        raise SimulationFailed(outcome, result) from (pilot.error if pilot else None)
    return result


def march(simulation: Simulation, progress: Callable[[float], None] | None, strict: bool, settled: float) -> None:
    """Take the first lane to its end, by way of the time from which on it counts as settled."""
    until, pilot = simulation.until, simulation.each[0].pilot
    assert until is not None
    settled = settled or (pilot.control.settled if pilot else 0.0)
    told = progress and (lambda t: progress(min(t, until)))
    if told:
        told(0.0)  # all is prepared; what follows is computing
    try:
        if 0 < settled < until:
            simulation.advance(settled, told, beyond=True)
            if simulation.outcomes[0] is None:
                simulation.count_anew()
        if simulation.outcomes[0] is None:
            simulation.advance(until, told, beyond=True)
    except KeyboardInterrupt:
        if simulation.asked == until and simulation.status[0].complete:  # only its companions were still on their way
            return
        if strict:
            raise
        time = float(simulation.time[0])
        text = f"interrupted at t = {time:.6g} s of {until:g} s"
        cut_short.append(text)
        simulation.ended(0, Outcome(Ending.INTERRUPTED, text, time))
