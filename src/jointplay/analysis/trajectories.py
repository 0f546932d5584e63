"""The verdict from trajectories of a model: its exponent over a sweep, and what repeats in its section."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..model.parts import suggestion
from ..series import spelled
from .agreement import FINER, FIRST, Agreement
from .evidence import INCONCLUSIVE, PERIODIC, QUASI, Evidence, Verdict, decided
from .indicators import comb_evidence, neighbour_evidence, prepared
from .lyapunov import Exponent, exponent
from .pace import Pace
from .phases import phase_rows
from .series import LEAST, Series, moves, unit_of
from .strobed import PER_PERIOD, Watched, enough_periods, part_evidence, plane, section_evidence, stays
from .things import Thing, ensure_thing, go

PERIODS = 60  # of the drive that are looked at unless said otherwise
EARLY = 1  # interval(s) in which finer steps tell the error of the integration; later, chaos magnifies it
GENTLE = 1.5  # change of the logarithm of the separation from one renormalisation to the next, about
TRIAL = 24  # intervals in which that is tried out
MERGED = 16.0  # renormalisations in an interval: neighbours that become the same number as often do so whatever it is
SLOWEST, FEWEST = 1 / 16, 400  # renormalisations: in an interval, and in all, at least
SETTLE = 0.25  # of what is looked at, before
FREE = 400.0  # s: looked at where nothing drives
SAMPLES = 4000  # of it
SEPARATIONS = (1e-7, 1e-8, 1e-6)  # the first over all of the time, the others over a part of it
COARSE = (3e-5, 1e-5, 1e-4)  # of rigid contact, whose closed gaps are kept within a tolerance
IN_STEPS = 3.0  # separation of rigid contact over how far a gap closes in a step, at least
OF_PLAY = 1 / 3  # the largest of these separations over the smallest play: a neighbour must find room in it
LOOKS = 64  # at the gaps, to know that
PART = 0.4  # of the time, for the rest of the sweep
PARTS = 100  # of the time to settle, between which a simulation may be stopped
SEEN = 16  # samples from which on it is said that nothing moves
REST = "nothing moves but by errors of the steps; there is no motion to judge: give it a drive, or another start"
LENGTH = "length of the steps, s"


@dataclass(frozen=True)
class Observation:
    """How a model's motion is looked at: the drive period (s), how long (s), after which time (s), which signal."""

    period: float | None
    until: float
    settle: float
    every: float
    signal: str | None
    title: str = ""
    separations: tuple[float, ...] = SEPARATIONS
    notes: tuple[Evidence, ...] = ()
    still: float = 1e-9  # a range of a number beside its size, or 1, that is no motion

    @property
    def end(self) -> float:
        """The latest time that is reached (s)."""
        return self.settle + self.until

    @staticmethod
    def of(
        period: float | None,
        periods: int | None,
        until: float | None,
        settle: float | None,
        signal: str | None,
        title: str = "",
    ) -> Observation:
        """Whole periods if there is a drive."""
        for name, x in (("period", period), ("periods", periods), ("until", until)):
            if x is not None and not x > 0:
                raise InputError(f"{name} must be > 0, got {x!r}")
        if period is None:
            if periods is not None:
                raise InputError("periods: nothing drives this motion periodically; give until, in seconds")
            whole = until or FREE
            return Observation(
                None, whole, SETTLE * whole if settle is None else settle, whole / SAMPLES, signal, title
            )
        count = periods or max(6, round((until or PERIODS * period) / period))
        before = np.ceil(SETTLE * count if settle is None else settle / period)
        return Observation(period, count * period, float(before) * period, period / PER_PERIOD, signal, title)


def thing_verdict(
    make: Callable[[int], Thing | None], plan: Observation, outside: bool = True, pace: Pace | None = None
) -> Verdict:
    """The verdict on a motion by two trajectories: the sign of its exponent, and what repeats.

    outside: whether a signal of it is looked at from outside too, which decides nothing. pace: is told how far it is.
    """
    pace = pace or Pace()
    return judged(watched(make, plan, pace=pace), plan, outside, pace)


def judged(seen: Watched, plan: Observation, outside: bool, pace: Pace) -> Verdict:
    """The verdict on what was seen of a motion; outside, pace: as of `thing_verdict`."""
    if pace.stopped and (FIRST not in seen.exponents or len(seen.states[0]) < LEAST):
        return interrupted(plan, pace, seen)
    series, _ = prepared(chosen_signal(seen, plan))
    together = Agreement(seen.exponents)
    details: dict[str, Any] = {"exponents": seen.exponents, "series": series, "sign": together.sign}
    details |= plane(seen, series.name)
    evidence = together.evidence(plan.period is not None)
    found = None
    if plan.period is not None and (not pace.stopped or enough_periods(seen)):
        found = section_evidence(seen, together.sign, details, together.parting)
        evidence += found.evidence + ([part_evidence(details)] if together.sign > 0 else [])
    rows, period = phase_rows(together, found, series, plan.period, seen)
    evidence += [*rows, error_evidence(seen), *plan.notes, *([pace.evidence()] if pace.stopped else [])]
    kind = decided(evidence)
    period = period if kind == PERIODIC else None
    evidence.append(comb_evidence(series, period, details))
    if outside and not pace.stopped:
        evidence += neighbour_evidence(series, None, kind in (PERIODIC, QUASI), details, decides=False)
    until = len(seen.states[0]) * plan.every if pace.stopped else plan.until
    return Verdict(
        kind,
        period,
        (round(period / plan.period) if plan.period else 1) if period else None,
        together.first.value,
        together.error,
        until / plan.period if plan.period else until / period if period else None,
        evidence,
        settled_by(kind, together, pace, plan),
        plan.title or series.name,
        details,
    )


def interrupted(plan: Observation, pace: Pace, seen: Watched) -> Verdict:
    """The verdict where too little was computed before an interruption for anything but a word on it."""
    rows = [pace.evidence(), *plan.notes]
    rows += Agreement(seen.exponents).evidence(plan.period is not None) if FIRST in seen.exponents else []
    first = seen.exponents.get(FIRST)
    value, error = (first.value, first.error) if first else (None, None)
    return Verdict(INCONCLUSIVE, None, None, value, error, None, rows, pace.settle(), plan.title)


def watched(
    make: Callable[[int], Thing | None], plan: Observation, sweep: bool = True, pace: Pace | None = None
) -> Watched:
    """Exponents as it is and, in a sweep, with other separations and with finer steps, and the states on the way."""
    found: dict[str, Exponent] = {}
    seen, pace = Watched(found, [], [], []), pace or Pace()
    folds, separations = 0.0, tuple[float, ...]()
    part = plan.every * round(max(PART * plan.until, 8 * plan.every) / plan.every)
    pace.expect((plan.settle + plan.until + 2 * part) + 2 * (plan.settle + part) if sweep else plan.settle + plan.until)
    for fineness in (1, 2) if sweep else (1,):
        thing = make(fineness)
        if thing is None:
            continue
        ensure_thing(thing, 2)
        seen.names[:] = thing.names
        seen.early.append(grid(thing, plan.every, EARLY))
        if approach(thing, plan.settle, pace.of("settling", fineness)):
            break
        if fineness == 1 and rests(thing, plan.still):
            raise InputError(REST)
        here = thing.snapshot()
        separations = separations or far_enough(thing, plan)
        folds = folds or gentle(thing, plan, separations[0])
        for i, separation in enumerate(separations[: 3 if fineness == 1 and sweep else 1]):
            name = FINER if fineness > 1 else FIRST if not i else f"separation {separation:.3g}"
            thing.reset(here)
            length, tell = plan.until if not found else part, pace.of(f"exponent, {name}", fineness, plan.settle)
            one = exponent_so_far(thing, length, plan.every / folds, separation, tell, pace)
            if one is not None:
                found[name] = one
                if not i:
                    seen.states.append(on_grid(thing, one, plan, folds))
                    seen.energies.extend(energies(thing, plan))
            if pace.stopped:
                return seen
    return seen


def exponent_so_far(
    thing: Thing, until: float, every: float, separation: float, tell: Callable[[float], bool], pace: Pace
) -> Exponent | None:
    """The exponent, of what there is if it is interrupted; None if that is too little for an error bar."""
    try:
        return exponent(thing, until, every, separation, tell=tell)
    except InputError:
        if pace.stopped:
            return None
        raise


def approach(thing: Any, until: float, tell: Callable[[float], bool]) -> bool:
    """Go on to a time (s), a simulation in parts between which it may be stopped; whether it was."""
    for i in range(1, PARTS) if hasattr(thing, "result") else ():
        go(thing, until * i / PARTS)
        if tell(float(thing.time[0])):
            return True
    go(thing, until)
    return tell(until)


def rests(thing: Thing, still: float) -> bool:
    """Whether nothing has moved in the second half of the time to settle, as far as a simulation kept samples of it."""
    sampled = samples(thing)
    if sampled is None:
        return False
    late = sampled[1][len(sampled[1]) // 2 :]
    return len(late) >= SEEN and not any(moves(column, still) for column in late.T)


def far_enough(thing: Any, plan: Observation) -> tuple[float, ...]:
    """The separations of the sweep, of rigid contact small beside the plays, and not smaller than gaps close in steps.

    Below, both trajectories strike in the same step, and that one strikes earlier than the other, by which impacts
    part neighbouring motions, is lost: the exponent comes out too small.
    """
    if not getattr(getattr(thing, "stepper", None), "impulsive", False):
        return plan.separations
    gaps, here, most = [f"{name}.gap" for name in thing.base.contacts], thing.snapshot(), 0.0
    begin = float(thing.time[0])
    for i in range(LOOKS if gaps else 0):
        go(thing, begin + i * plan.every)
        before = thing.observe(gaps)[0]
        thing.step()
        most = max(most, float(np.abs(thing.observe(gaps)[0] - before).max()))
    thing.reset(here)
    plays = [joint.looseness for joint in thing.base.mechanism.joints.values() if joint.looseness > 0]
    scale = min([1.0, *(OF_PLAY * play / max(plan.separations) for play in plays)])
    scale = max(scale, IN_STEPS * most / plan.separations[0])
    return tuple(scale * one for one in plan.separations)


def gentle(thing: Thing, plan: Observation, separation: float) -> float:
    """How many renormalisations an interval of the plan needs so that separations neither vanish nor grow out of hand.

    Where they change slowly, less than one is enough: each costs as much as many steps. Where contacts make both
    motions the same number at once, no interval is short enough, and the rate would be that of the renormalisations.
    """
    here, folds, before = thing.snapshot(), 1.0, 0
    least = max(SLOWEST, FEWEST * plan.every / plan.until) if hasattr(thing, "result") else 1.0
    while folds < 256:
        tried = exponent(thing, TRIAL * plan.every / min(folds, 1.0), plan.every / folds, separation, settle=0.0)
        thing.reset(here)
        if folds >= MERGED and tried.floored >= before > 0:
            return 1.0
        steep = float(np.abs(tried.growth).mean()) * plan.every / folds
        if not tried.floored and steep < GENTLE:
            slower = 0.5 * folds
            if folds > 1 or slower < least or steep > GENTLE / 3:
                break
            folds = slower
        elif folds < 1:
            return 2 * folds
        else:
            folds, before = 2 * folds, tried.floored
    return folds


def grid(thing: Thing, every: float, count: int) -> np.ndarray:
    """The states of the first lane at the first `count` multiples of a time (s)."""
    found = []
    for i in range(1, count + 1):
        go(thing, i * every)
        found.append(thing.state[0])
    sampled = samples(thing)
    return np.array(found) if sampled is None else sampled[1][1 : count + 1]


def on_grid(thing: Thing, found: Exponent, plan: Observation, folds: float) -> np.ndarray:
    """The states of the first lane at equal intervals after settling."""
    sampled = samples(thing)
    if sampled is None:
        return found.states[int(folds) - 1 :: int(folds)]
    time, states = sampled
    return states[time > plan.settle + 0.5 * plan.every]


def energies(thing: Any, plan: Observation) -> list[np.ndarray]:
    """The kinetic and the total energy (J) of a simulation at the same times, as one array; none of another thing."""
    if not hasattr(thing, "result"):
        return []
    run = thing.result(0)
    late = run["time"].values > plan.settle + 0.5 * plan.every
    kinetic = run["kinetic"].values[late]
    return [np.array([kinetic, kinetic + run["potential"].values[late]])]


def samples(thing: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Times and states of the samples that a Simulation keeps; None of a thing that steps to times as asked.

    Adaptive steps end a little after the time asked for; the samples lie on it.
    """
    if not hasattr(thing, "result"):
        return None
    run = thing.result(0)
    parts = [name.removesuffix(".rate").rpartition(".") for name in thing.names]
    ends = ["_rate" if name.endswith(".rate") else "" for name in thing.names]
    columns = [run[part + end].sel(body=body).values for (body, _, part), end in zip(parts, ends, strict=True)]
    return run["time"].values, np.column_stack(columns)


def chosen_signal(seen: Watched, plan: Observation) -> Series:
    """One number of the state over time: the one asked for, or the last rate of an angle that moves, or the first
    number that stays where it is instead of wandering off, as the angle of a pendulum that turns over does."""
    name, names, states = plan.signal, seen.names, seen.states[0]
    if name is None:
        moving = [n for i, n in enumerate(names) if moves(states[:, i], plan.still)]
        if not moving:
            raise InputError(REST)
        stay = [n for n in moving if stays(states[:, names.index(n)])]
        name = ([n for n in moving if n.endswith(".angle.rate")] or stay[:1] or moving[:1])[-1]
    name, known = spelled(name), [spelled(n) for n in names]
    if name not in known:
        raise InputError(f"no signal {plan.signal!r} in the state{suggestion(name, known)}")
    name = names[known.index(name)]
    values = states[:, names.index(name)]
    time = plan.settle + plan.every * np.arange(1, len(values) + 1)
    return Series(time, values, name, unit_of(name), plan.period, simulated=True)


def error_evidence(seen: Watched) -> Evidence:
    """The error of the integration beside the motion."""
    name = "integration error, over the range of the motion"
    if seen.error is None:
        return Evidence(name, None, None, "unknown: there is one fineness of steps only")
    return Evidence(name, seen.error, None, "what finer steps change in the first interval")


def settled_by(kind: str, together: Agreement, pace: Pace, plan: Observation) -> str:
    """What would settle it."""
    if pace.stopped:
        return pace.settle()
    lengths = [one.value for one in plan.notes if one.indicator == LENGTH and one.value]
    now = f" (--step {1e6 * lengths[0] / 4:.3g}us)" if lengths else ", or a tolerance of a hundredth (--rtol)"
    finer = "shorter steps (--step)" if lengths else "smaller tolerances (--rtol)"
    longer = f"a longer look (--until {2 * plan.until:.4g}s, now {plan.until:.4g} s), a longer time to settle "
    longer += f"(--settle) or {finer}"
    if kind == INCONCLUSIVE and together.made:
        return f"the exponent depends on the steps ({together.says()}): steps of a quarter of their length{now}"
    if kind == INCONCLUSIVE and together.sign > 0:
        return f"the exponent is positive, but other evidence is not that of chaos: {longer}"
    if kind == INCONCLUSIVE and together.sign < 0:
        return f"neighbouring motions meet, but nothing repeats yet: the motion has not settled, or it rests; {longer}"
    if kind == INCONCLUSIVE:
        return f"the sign of the exponent is open, and nothing else decides: {longer}"
    if kind == PERIODIC and together.sign == 0:
        return "settled: the motion repeats, and neighbouring motions neither meet nor part beyond doubt"
    if kind == QUASI:
        return "settled within the residual of two phases; a longer run would tell a very long period"
    return f"settled: the exponent is {together.says()}"
