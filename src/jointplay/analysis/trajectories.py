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
from .sections import repeat
from .series import Series, moves
from .things import Thing, difference, ensure_thing, go

PERIODS = 60  # of the drive that are looked at unless said otherwise
PER_PERIOD = 64  # samples, and renormalisations, in each
EARLY = 1  # interval(s) in which finer steps tell the error of the integration; later, chaos magnifies it
STILL = 1e-6  # of the size of a number: a smaller range is no motion
GENTLE = 1.5  # change of the logarithm of the separation from one renormalisation to the next, about
TRIAL = 24  # intervals in which that is tried out
SETTLE = 0.25  # of what is looked at, before
FREE = 400.0  # s: looked at where nothing drives
SAMPLES = 4000  # of it
SEPARATIONS = (1e-7, 1e-8, 1e-6)  # the first over all of the time, the others over a part of it
COARSE = (3e-5, 1e-5, 1e-4)  # of rigid contact, whose closed gaps are kept within a tolerance
PART = 0.4  # of the time, for the rest of the sweep
REPEATS = 1e-5  # of the span of the motion: a section that changes less repeats
AGREE = 4.0  # common errors by which two exponents of the sweep may differ
CLEAR = 10.0  # times the integration error: what is larger is motion


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


@dataclass(frozen=True)
class Watched:
    """What was seen of a motion: exponents by name, states at equal intervals after settling, and early ones, both with
    the steps as they are and with finer ones (if there are)."""

    exponents: dict[str, Exponent]
    names: list[str]
    states: list[np.ndarray]
    early: list[np.ndarray]

    @property
    def span(self) -> np.ndarray:
        """The range of every number of the state; 0 where it does not move but by round-off and projections."""
        span, size = np.ptp(self.states[0], axis=0), np.abs(self.states[0]).max(axis=0)
        return np.where(span > STILL * np.maximum(size, 1e-3 * span.max()), span, 0.0)

    def shares(self, off: np.ndarray) -> np.ndarray:
        """Numbers like those of a state, over the range of each; 0 where nothing moves."""
        return np.divide(np.abs(off), self.span, out=np.zeros_like(off), where=self.span > 0)

    @property
    def error(self) -> float | None:
        """The error of the integration over the motion: what finer steps change in the first intervals."""
        if len(self.early) < 2:
            return None
        count = min(map(len, self.early))  # a last sample may come with the next step
        return float(self.shares(difference(self.names, self.early[0][:count], self.early[1][:count])).max())


def thing_verdict(make: Callable[[int], Thing | None], plan: Observation) -> Verdict:
    """The verdict on a motion by two trajectories: the sign of its exponent, and what repeats."""
    seen = watched(make, plan)
    best = seen.exponents["as it is"]
    series, _ = prepared(chosen_signal(seen, plan))
    details: dict[str, Any] = {"exponents": seen.exponents, "series": series}
    evidence, sign, error = exponent_evidence(seen.exponents, best)
    evidence.append(error_evidence(seen))
    multiple, spread = None, np.inf
    if plan.period is not None:
        sections, multiple, spread = section_evidence(seen, plan, details)
        evidence += sections
    kind, period, more = judged(sign, multiple, spread, seen.error or 0.0, series, plan)
    evidence += [*more, comb_evidence(series, period, details)]
    outside = neighbour_evidence(series, None, kind in (PERIODIC, QUASI), details)
    return Verdict(
        kind,
        period,
        (round(period / plan.period) if plan.period else 1) if period else None,
        best.value,
        error,
        plan.until / plan.period if plan.period else plan.until / period if period else None,
        evidence + outside,
        settled_by(kind, sign),
        plan.title or series.name,
        details,
    )


def watched(make: Callable[[int], Thing | None], plan: Observation) -> Watched:
    """Exponents as it is, with other separations and with finer steps, and the states on the way."""
    found: dict[str, Exponent] = {}
    seen = Watched(found, [], [], [])
    folds = 0
    part = plan.every * round(max(PART * plan.until, 8 * plan.every) / plan.every)
    for fineness in (1, 2):
        thing = make(fineness)
        if thing is None:
            continue
        ensure_thing(thing, 2)
        seen.names[:] = thing.names
        seen.early.append(grid(thing, plan.every, EARLY))
        go(thing, plan.settle)
        here = thing.snapshot()
        folds = folds or gentle(thing, plan.every, plan.separations[0])
        for i, separation in enumerate(plan.separations[: 3 if fineness == 1 else 1]):
            name = "finer steps" if fineness > 1 else "as it is" if not i else f"separation {separation:g}"
            thing.reset(here)
            found[name] = exponent(thing, plan.until if not found else part, plan.every / folds, separation)
            if not i:
                seen.states.append(on_grid(thing, found[name], plan, folds))
    return seen


def gentle(thing: Thing, every: float, separation: float) -> int:
    """How many renormalisations an interval (s) needs so that separations neither vanish nor grow out of hand."""
    here, folds = thing.snapshot(), 1
    while folds < 256:
        tried = exponent(thing, TRIAL * every, every / folds, separation, settle=0.0)
        thing.reset(here)
        steep = float(np.abs(tried.growth).mean()) * every / folds
        if not tried.floored and steep < GENTLE:
            break
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


def on_grid(thing: Thing, found: Exponent, plan: Observation, folds: int) -> np.ndarray:
    """The states of the first lane at equal intervals after settling."""
    sampled = samples(thing)
    if sampled is None:
        return found.states[folds - 1 :: folds]
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
    """One number of the state over time: the one asked for, or the last rate of an angle that moves."""
    name, names, states = plan.signal, seen.names, seen.states[0]
    if name is None:
        moving = [n for i, n in enumerate(names) if moves(states[:, i])]
        if not moving:
            raise InputError("nothing moves; there is no motion to judge")
        name = ([n for n in moving if n.endswith(".angle.rate")] or moving[:1])[-1]
    name = name.replace("_rate", ".rate")
    if name not in names:
        raise InputError(f"no signal {plan.signal!r} in the state; there are {', '.join(names)}")
    values = states[:, names.index(name)]
    return Series(plan.settle + plan.every * np.arange(1, len(values) + 1), values, name, period=plan.period)


def exponent_evidence(found: dict[str, Exponent], best: Exponent) -> tuple[list[Evidence], int, float]:
    """The exponents of the sweep, the sign on which all agree (0 if they do not), and the error bar."""
    values = np.array([one.value for one in found.values()])
    error = max(best.error, float(np.abs(values - best.value).max()) / 2)
    agreed = all(
        one.value * best.value > 0 and abs(one.value - best.value) <= AGREE * np.hypot(one.error, best.error)
        for one in found.values()
    )
    sign = best.sign if agreed or all(one.sign < 0 for one in found.values()) else 0
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
    agree = "the sweep agrees within its errors" if agreed else "the sweep does not agree: the value is an artefact"
    agree += ", its sign is not" if sign and not agreed else ""
    agree += "" if best.sign else ", but zero is not excluded"
    listed.append(Evidence("spread of the exponent over the sweep, 1/s", spread, None, agree))
    return listed, sign, error


def error_evidence(seen: Watched) -> Evidence:
    """The error of the integration beside the motion."""
    if seen.error is None:
        return Evidence("integration error over the motion", None, None, "unknown: there is one fineness of steps only")
    said = "what finer steps change in the first interval, over the range of the motion"
    return Evidence("integration error over the motion", seen.error, None, said)


def widest_phase(seen: Watched) -> int:
    """The phase of the drive, in samples, at which the section is spread most."""
    spreads = []
    for phase in range(PER_PERIOD):
        points = seen.states[0][phase::PER_PERIOD]
        late = points[len(points) // 2 :]
        spreads.append(float(seen.shares(np.ptp(difference(seen.names, late, late[0]), axis=0)).max()))
    return int(np.argmax(spreads))


def section_evidence(
    seen: Watched, plan: Observation, details: dict[str, Any]
) -> tuple[list[Evidence], int | None, float]:
    """What the section, once a drive period, repeats: period k with its residual, and how widely it is spread."""
    names = seen.names
    phase = widest_phase(seen)
    both = [states[phase::PER_PERIOD] for states in seen.states]
    late = both[0][len(both[0]) // 2 :]  # what is left of the transient does not count
    scale = np.where(seen.span > 0, seen.span, np.inf)
    enough = max(REPEATS, CLEAR * (seen.error or 0.0))
    found = repeat(late, names, enough, scale)
    off = np.ptp(difference(names, late, late[0]), axis=0)
    spread, widest = float(seen.shares(off).max()), int(np.argmax(seen.shares(off)))
    shown = names.index(details["series"].name)
    other = next((i for i in np.argsort(-seen.shares(off)) if i != shown), shown)
    details["section"] = late[:, [shown, other]], [names[shown], names[other]]
    said = "does not repeat" if found.multiple is None else f"repeats after {found.multiple} drive period(s)"
    vote = PERIODIC if found.multiple else ""
    wide = f"widest in {names[widest]}, {off[widest]:.3g}, at {phase + 1}/{PER_PERIOD} of a period; "
    wide += f"in {names[shown]} {off[shown]:.3g}"
    listed = [
        Evidence("change of the section over the motion", found.residual, enough, f"{said} ({len(late)} points)", vote),
        Evidence("spread of the section over the motion", spread, None, wide),
    ]
    if len(both) > 1:
        count = min(map(len, both))
        apart = seen.shares(np.abs(difference(names, both[0][:count], both[1][:count])).max(axis=0))
        told = f"over {count} periods; of a chaotic motion it is as large as the spread"
        listed.append(Evidence("change of the section by finer steps", float(apart.max()), None, told))
    return listed, found.multiple, spread


def judged(
    sign: int, multiple: int | None, spread: float, error: float, series: Series, plan: Observation
) -> tuple[str, float | None, list[Evidence]]:
    """The verdict, the period, and what else was looked at: from the sign of the exponent and what repeats."""
    if sign > 0 and (plan.period is not None or two_phases(series).residual > EXPLAINED < one_phase(series).residual):
        return (CHAOTIC if spread > CLEAR * error and multiple is None else INCONCLUSIVE), None, []
    if sign < 0:
        known = plan.period is not None and multiple is not None
        return (PERIODIC, multiple * plan.period, []) if known else (INCONCLUSIVE, None, [])  # type: ignore[operator]
    one, enough = one_phase(series), tolerance(series)
    if one.residual <= enough:
        said = f"repeats after {one.periods[0]:.6g} s"
        found = Evidence("change of the signal after a period", one.residual, enough, said, PERIODIC)
        return PERIODIC, one.periods[0], [found]
    two = two_phases(series)
    explained = two.residual <= EXPLAINED
    said = "two phases do not explain it"
    if explained:
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
