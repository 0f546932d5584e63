"""The verdict from trajectories of a model: its exponent over a sweep, and what repeats in its section."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from .evidence import CHAOTIC, INCONCLUSIVE, PERIODIC, QUASI, Evidence, Verdict
from .indicators import EXPLAINED, comb_evidence, neighbour_evidence, prepared
from .lyapunov import LINEAR, Exponent, exponent
from .regular import one_phase, tolerance, two_phases
from .series import Series, moves
from .strobed import CLEAR, PER_PERIOD, VAGUE, Watched, part_evidence, section_evidence
from .things import Thing, ensure_thing, go

PERIODS = 60  # of the drive that are looked at unless said otherwise
EARLY = 1  # interval(s) in which finer steps tell the error of the integration; later, chaos magnifies it
GENTLE = 1.5  # change of the logarithm of the separation from one renormalisation to the next, about
TRIAL = 24  # intervals in which that is tried out
SLOWEST, FEWEST = 1 / 16, 400  # renormalisations: in an interval, and in all, at least
SETTLE = 0.25  # of what is looked at, before
FREE = 400.0  # s: looked at where nothing drives
SAMPLES = 4000  # of it
SEPARATIONS = (1e-7, 1e-8, 1e-6)  # the first over all of the time, the others over a part of it
COARSE = (3e-5, 1e-5, 1e-4)  # of rigid contact, whose closed gaps are kept within a tolerance
IN_STEPS = 3.0  # separation of rigid contact over how far a gap closes in a step, at least
LOOKS = 64  # at the gaps, to know that
PART = 0.4  # of the time, for the rest of the sweep
AGREE = 4.0  # common errors by which two exponents of the sweep may differ
WANDERS = 0.5  # of the standard deviation: a mean that moves by more wanders off


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


def thing_verdict(make: Callable[[int], Thing | None], plan: Observation, outside: bool = True) -> Verdict:
    """The verdict on a motion by two trajectories: the sign of its exponent, and what repeats.

    outside: whether a signal of it is looked at from outside too, which decides nothing.
    """
    seen = watched(make, plan)
    best = seen.exponents["as it is"]
    series, _ = prepared(chosen_signal(seen, plan))
    details: dict[str, Any] = {"exponents": seen.exponents, "series": series}
    evidence, sign, error = exponent_evidence(seen.exponents, best)
    details["sign"] = sign
    evidence.append(error_evidence(seen))
    multiple, spread = None, np.inf
    if plan.period is not None:
        found = section_evidence(seen, sign, details)
        evidence += found.evidence + ([part_evidence(details)] if sign > 0 else [])
        multiple, spread = found.multiple, found.spread
    parting = any(one.sign > 0 for one in seen.exponents.values())
    kind, period, more = judged(sign, parting, multiple, spread, seen.error or 0.0, series, plan)
    evidence += [*more, comb_evidence(series, period, details)]
    if outside:
        evidence += neighbour_evidence(series, None, kind in (PERIODIC, QUASI), details)
    return Verdict(
        kind,
        period,
        (round(period / plan.period) if plan.period else 1) if period else None,
        best.value,
        error,
        plan.until / plan.period if plan.period else plan.until / period if period else None,
        evidence,
        settled_by(kind, sign),
        plan.title or series.name,
        details,
    )


def watched(make: Callable[[int], Thing | None], plan: Observation, sweep: bool = True) -> Watched:
    """Exponents as it is and, in a sweep, with other separations and with finer steps, and the states on the way."""
    found: dict[str, Exponent] = {}
    seen = Watched(found, [], [], [])
    folds, separations = 0.0, tuple[float, ...]()
    part = plan.every * round(max(PART * plan.until, 8 * plan.every) / plan.every)
    for fineness in (1, 2) if sweep else (1,):
        thing = make(fineness)
        if thing is None:
            continue
        ensure_thing(thing, 2)
        seen.names[:] = thing.names
        seen.early.append(grid(thing, plan.every, EARLY))
        go(thing, plan.settle)
        here = thing.snapshot()
        separations = separations or far_enough(thing, plan)
        folds = folds or gentle(thing, plan, separations[0])
        for i, separation in enumerate(separations[: 3 if fineness == 1 and sweep else 1]):
            name = "finer steps" if fineness > 1 else "as it is" if not i else f"separation {separation:g}"
            thing.reset(here)
            found[name] = exponent(thing, plan.until if not found else part, plan.every / folds, separation)
            if not i:
                seen.states.append(on_grid(thing, found[name], plan, folds))
    return seen


def far_enough(thing: Any, plan: Observation) -> tuple[float, ...]:
    """The separations of the sweep, of rigid contact not smaller than gaps close in a step or two.

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
    scale = max(1.0, IN_STEPS * most / plan.separations[0])
    return tuple(scale * one for one in plan.separations)


def gentle(thing: Thing, plan: Observation, separation: float) -> float:
    """How many renormalisations an interval of the plan needs so that separations neither vanish nor grow out of hand.

    Where they change slowly, less than one is enough: each costs as much as many steps.
    """
    here, folds = thing.snapshot(), 1.0
    least = max(SLOWEST, FEWEST * plan.every / plan.until) if hasattr(thing, "result") else 1.0
    while folds < 256:
        tried = exponent(thing, TRIAL * plan.every / min(folds, 1.0), plan.every / folds, separation, settle=0.0)
        thing.reset(here)
        steep = float(np.abs(tried.growth).mean()) * plan.every / folds
        if not tried.floored and steep < GENTLE:
            slower = 0.5 * folds
            if folds > 1 or slower < least or steep > GENTLE / 3:
                break
            folds = slower
        elif folds < 1:
            return 2 * folds
        else:
            folds *= 2
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
        moving = [n for i, n in enumerate(names) if moves(states[:, i])]
        if not moving:
            raise InputError("nothing moves; there is no motion to judge")
        stay = [n for n in moving if stays(states[:, names.index(n)])]
        name = ([n for n in moving if n.endswith(".angle.rate")] or stay[:1] or moving[:1])[-1]
    name = name.replace("_rate", ".rate")
    if name not in names:
        raise InputError(f"no signal {plan.signal!r} in the state; there are {', '.join(names)}")
    values = states[:, names.index(name)]
    return Series(plan.settle + plan.every * np.arange(1, len(values) + 1), values, name, period=plan.period)


def stays(values: np.ndarray) -> bool:
    """Whether the mean of a number is the same in both halves, beside how far it strays within one."""
    one, two = np.array_split(values, 2)
    return bool(abs(two.mean() - one.mean()) < WANDERS * min(one.std(), two.std()))


def exponent_evidence(found: dict[str, Exponent], best: Exponent) -> tuple[list[Evidence], int, float]:
    """The exponents of the sweep, the sign on which all agree (0 if they do not), and the error bar."""
    values = np.array([one.value for one in found.values()])
    error = max(best.error, float(np.abs(values - best.value).max()) / 2)
    agreed = all(
        one.value * best.value > 0 and abs(one.value - best.value) <= AGREE * np.hypot(one.error, best.error)
        for one in found.values()
    )
    same = all(one.sign == best.sign for one in found.values())
    sign = best.sign if agreed or (same and (best.sign < 0 or best.value > 3 * error)) else 0
    half = len(best.growth) // 2
    early, late = float(best.growth[:half].mean()), float(best.growth[half:].mean())
    fading = sign > 0 and late < 0.5 * early  # a separation that grows like time, as without damping, is no chaos
    sign = 0 if fading else sign
    listed = []
    for name, one in found.items():
        said = {
            1: "grows: neighbouring motions part",
            -1: "shrinks: neighbouring motions meet",
            0: "zero within 3 errors",
        }
        text = f"{said[one.sign]}; separation {one.separation:g}"
        if one.floored:
            text += f"; in {one.floored} intervals both became the same number, so the value is an upper bound"
        if one.largest > LINEAR:
            text += f"; the separation reached {one.largest:.2g} of the motion and was not small any more"
        listed.append(
            Evidence(f"largest exponent, {name}, 1/s", one.value, one.error, text, CHAOTIC if one.sign > 0 else "")
        )
    if fading:
        text = "the rate of growth falls with time: neighbouring motions drift apart like time, not exponentially"
        listed.append(Evidence("exponent of the second half over that of the first", late / early, None, text))
    spread = float(np.ptp(values))
    agree = "the sweep agrees within its errors" if agreed else "the sweep does not agree: the value depends on it"
    agree += ", its sign does not" if sign and not agreed else ""
    agree += "" if best.sign else ", but zero is not excluded"
    listed.append(Evidence("spread of the exponent over the sweep, 1/s", spread, None, agree))
    return listed, sign, error


def error_evidence(seen: Watched) -> Evidence:
    """The error of the integration beside the motion."""
    if seen.error is None:
        return Evidence("integration error over the motion", None, None, "unknown: there is one fineness of steps only")
    said = "what finer steps change in the first interval, over the range of the motion"
    return Evidence("integration error over the motion", seen.error, None, said)


def judged(
    sign: int, parting: bool, multiple: int | None, spread: float, error: float, series: Series, plan: Observation
) -> tuple[str, float | None, list[Evidence]]:
    """The verdict, the period, and what else was looked at: from the sign of the exponent and what repeats.

    parting: whether any exponent of the sweep is positive. One signal may repeat where the whole state does not, so it
    decides nothing then, and no period where there is a drive.
    """
    if sign > 0 and (plan.period is not None or two_phases(series).residual > EXPLAINED < one_phase(series).residual):
        return (CHAOTIC if spread > CLEAR * error and multiple is None else INCONCLUSIVE), None, []
    if plan.period is not None and multiple is not None:
        return PERIODIC, multiple * plan.period, []
    if sign < 0 or parting:
        return INCONCLUSIVE, None, []
    one, enough = one_phase(series), tolerance(series)
    if one.residual <= enough and plan.period is None:
        said = f"repeats after {one.periods[0]:.6g} s"
        found = Evidence("change of the signal after a period", one.residual, enough, said, PERIODIC)
        return PERIODIC, one.periods[0], [found]
    two = two_phases(series)
    narrow = plan.period is not None and spread <= VAGUE
    explained = two.residual <= EXPLAINED and not narrow
    said = "two phases do not explain it"
    if narrow:  # two phases explain what one does, too
        said = f"the section is spread over {spread:.1g} of the motion only, as by a transient that still fades"
    elif explained:
        said = f"two phases with periods {two.periods[0]:.6g} and {two.periods[1]:.6g} s explain it"
    name = "change of the signal at equal phases of two"
    found = Evidence(name, two.residual, EXPLAINED, said, QUASI if explained else "")
    return (QUASI if explained else INCONCLUSIVE), None, [found]


def settled_by(kind: str, sign: int) -> str:
    """What would settle it."""
    longer = "more periods (--until), a longer time to settle, smaller tolerances (--rtol) or a shorter step"
    if kind == INCONCLUSIVE and sign > 0:
        return f"the exponent is positive but the section is not spread beyond the error of the integration: {longer}"
    if kind == INCONCLUSIVE and sign < 0:
        return f"neighbouring motions meet, but nothing repeats yet: the motion has not settled, or it rests; {longer}"
    if kind == INCONCLUSIVE:
        return f"the exponent is zero within its error, or the sweep does not agree: {longer}"
    if kind == PERIODIC and sign == 0:
        return "settled: the motion repeats, and neighbouring motions neither meet nor part exponentially"
    if kind == QUASI:
        return "settled within the residual of two phases; a longer run would tell a very long period"
    return "settled: the sign of the exponent is the same over the sweep, by three error bars and more"
