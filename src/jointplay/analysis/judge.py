"""The verdict on a motion: from a model, a thing that steps, a result or a series."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..model.mechanism import Mechanism
from ..model.parts import suggestion
from ..model.repeats import drive_period
from ..physics.steps.moreau_jean import STEP
from ..series import spelled
from ..simulation import Simulation, default_stepper
from ..statics import assemble, freedom
from ..statics.cycle import ROUNDS, rounds
from ..system import System
from .contact_numbers import contact_evidence, variants
from .evidence import PERIODIC, VERDICTS, Evidence, Verdict, decided
from .indicators import series_verdict
from .pace import Pace, Stage
from .series import Series, from_run
from .strobed import Watched
from .things import Thing
from .trajectories import COARSE, LENGTH, PERIODS, Observation, approach, interrupted, thing_verdict, watched

if TYPE_CHECKING:
    from xarray import Dataset

WHOLE = 1e-6  # of a period: a drive may be given with so many digits
CLEAR = 10.0  # times the tolerance of the steps: a smaller motion is an error
STEPS = 5_000_000  # that a model's motion may take unless it is said how much of it is looked at
FEWEST = 8  # drive periods of it


def verdict(
    what: Any,
    *,
    period: float | None = None,
    signal: str | None = None,
    twin: Dataset | Series | None = None,
    periods: int | None = None,
    until: float | None = None,
    settle: float | None = None,
    contacts: bool = False,
    progress: Callable[[Stage], None] | None = None,
    **options: Any,
) -> Verdict:
    """What kind of motion it is: periodic, quasi-periodic, chaotic or inconclusive, with the evidence for it.

    what: a Mechanism or System (then `options` are those of a Simulation: stepper, start, control), a function that
    gives a thing that steps in two lanes for 1 (as it is) and for 2 (with finer steps), a result of `simulate`, or a
    Series. period (s): of the drive, if it is not to be found from the mechanism; signal: the one that is shown and
    looked at from outside; twin: the same of the ideal mechanism. periods, until (s): how much of a model's motion is
    looked at, `settle` (s) after its start. contacts: whether the exponent of a model is also computed with other
    stiffness and damping of its contacts, on which a verdict may depend more than on anything else. progress: is called
    with a Stage (share, doing) while a model is computed; if it raises KeyboardInterrupt, the verdict is inconclusive
    and tells what was found until then.

    >>> import numpy as np
    >>> time = np.linspace(0, 40, 2000)
    >>> print(verdict(Series(time, np.sin(time) + 0.3 * np.cos(3 * time))).verdict)
    periodic
    """
    if contacts and not isinstance(what, Mechanism | System):
        raise InputError("contacts: only a mechanism has contacts that can be changed; leave it out")
    if isinstance(what, Series):
        other = twin if isinstance(twin, Series) or twin is None else from_run(twin, signal, what.period)
        return series_verdict(what, other)
    if isinstance(what, Mechanism | System):
        asked: dict[str, Any] = {
            "period": period,
            "signal": signal,
            "periods": periods,
            "until": until,
            "settle": settle,
        }
        return model_verdict(what, Pace(progress), contacts, **asked, **options)
    if callable(what):
        return thing_verdict(what, Observation.of(period, periods, until, settle, signal), pace=Pace(progress))
    if isinstance(what, Thing):
        plan = Observation.of(period, periods, until, settle, signal)
        return thing_verdict(lambda fineness: what if fineness == 1 else None, plan, pace=Pace(progress))
    if hasattr(what, "data_vars"):
        known = whole(run_period(what), period)
        one = from_run(what, signal, known)
        other = None if twin is None else twin if isinstance(twin, Series) else from_run(twin, one.name, known)
        return series_verdict(one, other)
    raise InputError(
        f"a verdict needs a Mechanism, a thing that steps, a result of simulate or a Series, got {type(what).__name__}"
    )


def run_period(run: Dataset) -> float | None:
    """The drive period (s) of a result, from the model that it holds; None if it cannot be known."""
    from ..model.files import loads

    try:
        return drive_period(loads(run.attrs["model"]))
    except (KeyError, ValueError):
        return None


def whole(own: float | None, given: float | None) -> float | None:
    """The drive period (s) that counts: a mechanism's own, or one that is given and a whole number of these."""
    if own is None or given is None:
        return own if given is None else given
    times = given / own
    if round(times) < 1 or abs(times - round(times)) > WHOLE * times:
        raise InputError(
            f"period: the drives repeat after {own:.9g} s, and {given:g} s is no whole number of that; leave --period "
            "out, or give a multiple"
        )
    return given


def known_period(mechanism: Mechanism, given: float | None, fixed: bool = False) -> float | None:
    """The drive period (s) of a mechanism, or the one that is given where nobody can know its own.

    fixed: whether the drives alone determine the motion, which then repeats if they do and never else.
    """
    try:
        own = drive_period(mechanism)
    except InputError as error:
        if given is not None and fixed:
            why = str(error).partition(";")[0]
            said = (
                "the drives alone determine the motion, so a period (--period) changes nothing; give drives that repeat"
            )
            raise InputError(f"{why}; {said}") from None
        if given is None:
            raise
        return given
    counted = whole(own, given)
    return own if fixed else counted


def model_verdict(mechanism: Mechanism | System, pace: Pace, contacts: bool = False, **asked: Any) -> Verdict:
    """The verdict on a mechanism, by a Simulation in two lanes that share their steps; asked: as of `verdict`."""
    pace.parts = 1 + len(variants(mechanism)) if contacts else 1
    found = planned(mechanism, pace=pace, **asked)
    if isinstance(found, Verdict):
        return found
    judged = thing_verdict(*found, pace=pace)
    if not contacts or pace.stopped:
        return judged
    more = contact_evidence(mechanism, asked, judged.details["sign"], pace)
    rows = [*judged.evidence, *more]
    if pace.stopped:
        rows.append(pace.evidence())
        return replace(judged, verdict=decided(rows), period=None, multiple=None, evidence=rows, settle=pace.settle())
    return replace(judged, evidence=rows, settle=f"{judged.settle}; contacts: {more[-1].says}")


def measures(mechanism: Mechanism | System, names: Collection[str], **asked: Any) -> dict[str, float]:
    """`verdict` (its number among VERDICTS) and `exponent` (1/s) of a mechanism, for tables; asked: as of `verdict`.

    The exponent alone takes two trajectories, the verdict a sweep over separations and finer steps.
    """
    found = planned(mechanism, **asked)
    if isinstance(found, Verdict):
        return {"verdict": float(VERDICTS.index(found.verdict)), "exponent": math.nan}
    if "verdict" not in names:
        return {"exponent": watched(*found, sweep=False).exponents["as it is"].value}
    judged = thing_verdict(*found, outside=False)
    value = math.nan if judged.exponent is None else judged.exponent
    return {"verdict": float(VERDICTS.index(judged.verdict)), "exponent": value}


def planned(
    mechanism: Mechanism | System,
    period: float | None = None,
    signal: str | None = None,
    periods: int | None = None,
    until: float | None = None,
    settle: float | None = None,
    stepper: Any = None,
    pace: Pace | None = None,
    **options: Any,
) -> tuple[Callable[[int], Thing], Observation] | Verdict:
    """How a mechanism is looked at: what makes its simulations, and for how long; the verdict where none is needed."""
    base = mechanism.given if isinstance(mechanism, System) else mechanism
    if options.get("control") is not None:
        base = base.replace(control=options["control"])
    fixed = not freedom(System(base), assemble(System(base))).degrees
    known = known_period(base, period, fixed)
    if known is not None and fixed:
        ensure_signal(base, signal)
        return determined(base, known)
    if known is not None and periods is None and until is None:
        trial = Simulation(mechanism, fitting(base, stepper, known, 1, known), until=known, **options)
        pace = pace or Pace()
        if approach(trial, known, pace.of("a first drive period, to know what it costs", 0.0)):
            return interrupted(Observation.of(known, None, None, None, None, base.name), pace, Watched({}, [], [], []))
        steps = STEPS * (6 if trial.stepper.impulsive else 1)  # which are so much cheaper
        periods = int(np.clip(steps // max(1, int(trial.steps[0])), FEWEST, PERIODS))
    plan = Observation.of(known, periods, until, settle, signal, title=base.name)
    plan = by_steps(plan, stepper or default_stepper(base), fitting(base, stepper, plan.every, 1, plan.until))

    def make(fineness: int) -> Thing:
        chosen = fitting(base, stepper, plan.every, fineness, plan.until)
        thing: Thing = Simulation(mechanism, chosen, lanes=2, share=True, every=plan.every, until=plan.end, **options)
        return thing

    return make, plan


def by_steps(plan: Observation, given: Any, taken: Any) -> Observation:
    """What depends on the steps: a word on them, what is no motion beside their tolerance, separations."""
    still = max(plan.still, CLEAR * taken.rtol) if taken.adaptive else plan.still
    separations = COARSE if given.impulsive else plan.separations
    return replace(plan, notes=(steps_evidence(given, taken),), still=still, separations=separations)


def steps_evidence(given: Any, taken: Any) -> Evidence:
    """With which steps the motion was computed, and why they are others than a simulation takes by itself."""
    if taken.adaptive:
        return Evidence("relative tolerance of the steps", taken.rtol, None, "steps are chosen by tolerance")
    said = "steps of one length"
    if given.adaptive:
        said += " in place of steps chosen by tolerance: a section needs states at its own times, where those of rigid "
        said += "contact do not end; --step gives another length"
    return Evidence(LENGTH, taken.step, None, said)


def ensure_signal(mechanism: Mechanism, signal: str | None) -> None:
    """Refuse a signal that a mechanism does not have, where none is looked at."""
    names = [
        f"{body}.{part}{end}" for body in mechanism.bodies for part in ("x", "y", "angle") for end in ("", "_rate")
    ]
    if signal is not None and spelled(signal) not in names:
        raise InputError(f"no signal {signal!r} in the state{suggestion(signal, names)}")


def determined(mechanism: Mechanism, period: float) -> Verdict:
    """The verdict on a mechanism that its drives move without leaving it any freedom."""
    count = rounds(System(mechanism, max(ROUNDS * period, 10.0)), period)
    said = "the drives leave no degree of freedom, so the motion repeats with them; there are no neighbouring motions"
    if count is None:
        said += f"; but bodies are not back in {ROUNDS} of their periods, as behind gears of odd ratios: this is theirs"
    found = [Evidence("degrees of freedom", 0.0, None, said, PERIODIC, decides=True)]
    settle, count = "settled: it follows from the drives", count or 1
    return Verdict(PERIODIC, count * period, count, None, None, None, found, settle, mechanism.name)


def fitting(mechanism: Mechanism, stepper: Any, interval: float, fineness: int, until: float) -> Any:
    """A stepper for the analysis: finer by a factor, and with whole numbers of steps in an interval (s).

    A section needs states at its own times. Steps of rigid contact that a tolerance chooses end elsewhere, so that the
    analysis takes steps of one length in their place, as short as those of order 1 are unless one is given.
    """
    chosen: Any = stepper or default_stepper(mechanism)
    if chosen.impulsive and chosen.adaptive:
        chosen = replace(chosen, step=STEP, rtol=None)
    chosen = chosen.finer() if fineness > 1 else chosen
    return chosen if chosen.adaptive else replace(chosen, step=interval / math.ceil(interval / chosen.step - 1e-9))
