"""The verdict from a series alone: every indicator beside the others, none of them trusted by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InputError
from . import regular
from .evidence import CHAOTIC, INCONCLUSIVE, PERIODIC, QUASI, Evidence, Verdict, decided, number
from .folding import Folded, size
from .neighbours import Divergence, Embedding, embedding, foretold, looked_at, mean_period, rosenstein
from .series import Series
from .spectra import line, spectrum
from .surrogates import surrogate_test, zero_one

FOREIGN = 0.15  # residual of both from which on phases do not explain it
GROWN, REACHED = 3.5, 0.15  # distance of neighbours at the end over that at the start, and over that of any two points
CYCLES = 20  # mean periods that a series must hold before it is called chaotic
DRIFT = 0.5  # relative change from quarter to quarter, beyond which a signal has not settled
SLOW = 0.01  # likewise, where it falls or rises from each eighth to the next
TOGETHER = 0.24  # mean time between neighbours over the length: below, they are near in time and the motion changes
TREND = 3.0  # a straight line that rises by so many standard deviations of the rest is taken out
K_CHAOS = 0.5
BETTER = 0.8  # of what phases leave: what neighbours may leave of chaos


def series_verdict(series: Series, twin: Series | None = None) -> Verdict:
    """What kind of motion a series shows; `chaotic` only if every indicator agrees and surrogates are rejected.

    twin: the same signal of the ideal mechanism, whose numbers stand beside those of the series.
    """
    series, notes = prepared(series)
    details: dict[str, Any] = {"series": series}
    one, two, phases, left = phase_evidence(series)
    explained = one is not None or two is not None
    chaos = neighbour_evidence(series, twin, explained, details, decides=not explained)
    if not explained:
        chaos.append(better_evidence(details["near"], details["embedding"], left))
    evidence = [*phases, stationary(series, one is None), *chaos, comb_evidence(series, one, details), *notes]
    kind = decided(evidence)
    slope = details["divergence"] if kind == CHAOTIC else None
    return Verdict(
        kind,
        one,
        None if one is None else round(one / series.period) if series.period else 1,
        slope and slope.slope,
        slope and slope.error,
        covered(series, one),
        evidence,
        ("still settling: " if two is not None and two.fades else "") + advice(kind, series, evidence),
        series.name,
        details,
    )


def covered(series: Series, period: float | None) -> float | None:
    """How many periods of the drive, or of the motion, the series holds."""
    known = series.period or period
    return None if known is None else (series.length + series.interval) / known


def prepared(series: Series) -> tuple[Series, list[Evidence]]:
    """The series without a straight line that carries it away, as the angle of a crank that turns; and a word on it."""
    since = series.time - series.time[0]
    slope, offset = np.polyfit(since, series.values, 1)
    rest = series.values - slope * since - offset
    if abs(slope) * series.length < TREND * max(rest.std(), 1e-12 * abs(offset)):
        return series, []
    if np.ptp(rest) < 1e-9 * max(1.0, float(np.abs(series.values).max())):
        raise InputError(f"{series.name}: a straight line and nothing else; choose another signal, such as its rate")
    slope += left_over(replace(series, values=rest))
    rest = series.values - slope * since
    said = f"a straight line of {slope:.4g} per second was taken out, as of an angle that turns on and on"
    return replace(series, values=rest - rest.mean()), [Evidence("trend", float(slope), None, said)]


def left_over(series: Series) -> float:
    """The slope that is left where a line was fitted to other than whole periods, from values whole periods apart."""
    period = series.period or 1.0 / line(series.time, series.values)[0]
    lag = 2 * int(0.3 * series.length / period) * period
    if not lag:
        return 0.0
    folded = Folded(series)
    kept = series.time <= series.time[-1] - lag
    return float(np.median(folded.curve(series.time[kept] + lag) - series.values[kept])) / lag


def phase_evidence(series: Series) -> tuple[float | None, Any, list[Evidence], float]:
    """What one period and what two explain: the period if one does, the two if they do, the rows, and what the better
    of them leaves over the size of the signal."""
    found, when = regular.repetition(series), ""
    if not found.holds and len(series.values) >= 1200:
        again = regular.repetition(series.after(series.time[len(series.time) // 2]))  # it may have settled by then
        found, when = (again, " in the second half") if again.holds else (found, when)
    said, vote = found.says(when), PERIODIC if found.holds else ""
    name = "change after one period, over the size of the signal"
    row = Evidence(name, number(found.residual), None, said, vote, decides=True)
    if found.holds and found.residual <= regular.FINE:
        return found.period, None, [row], found.residual
    free = regular.repetition(replace(series, period=None)) if series.period and not found.holds else found
    if free.holds and not found.holds:
        said = (
            f"repeats after {free.period:.6g} s, which is no multiple of the drive's {series.period:.6g} s: check that"
        )
        return None, None, [Evidence(name, free.residual, None, said, INCONCLUSIVE, decides=True)], free.residual
    two, explained = regular.second_phase(series, found)
    left = min(found.residual, two.whole)
    if found.holds and found.period is not None:
        if not explained or regular.in_step(series, found.period, two.periods):
            return found.period, None, [row], left
        said = f"nearly the same after {found.period:.6g} s, but two phases explain it better"
        row = replace(row, says=said, votes="")
    foreign = min(two.residual, found.residual) > FOREIGN
    return None, two if explained else None, [row, two_phase_evidence(two, explained, foreign)], left


def better_evidence(near: Series, chosen: Embedding, left: float) -> Evidence:
    """Whether neighbours foretell a signal better than phases do: a periodic motion under noise is foretold best by its
    phase. left: what phases leave, over the size of the signal, measured alike."""
    own = size(foretold(near.values, chosen), near.values)
    better = own < BETTER * left
    said = (
        f"neighbours leave {own:.2g}, one phase or two {left:.2g}; chaos: at most {BETTER:g} of it, since noise on a "
    )
    said += "periodic motion leaves more"
    share = own / left if left else np.inf
    return Evidence("prediction error, over what phases leave", share, None, said, chaos(better), decides=True)


def two_phase_evidence(two: regular.Phases, explained: bool, foreign: bool) -> Evidence:
    """What two phases explain; foreign: whether phases leave so much that it is no regular motion."""
    said, vote = (
        f"two phases do not explain the signal ({regular.LIMIT})" if two.periods else "too short for two phases",
        "",
    )
    if explained:
        said = f"two phases with periods {two.periods[0]:.6g} and {two.periods[1]:.6g} s explain the signal"
        vote = QUASI
        if two.fades:
            said, vote = f"{said}, but {regular.settling(two)}", INCONCLUSIVE
    elif foreign:
        vote = CHAOTIC
    name = "change at equal phases of two, over the size of the signal"
    return Evidence(name, number(two.residual), None, said, vote, decides=True)


def stationary(series: Series, decides: bool) -> Evidence:
    """Whether the size of the signal is the same in its four quarters, and does not fall or rise throughout."""
    quarters, eighths = (np.array([part.std() for part in np.array_split(series.values, n)]) for n in (4, 8))
    by, steps = float(np.ptp(quarters) / quarters.mean()), np.diff(eighths)
    calm = by <= DRIFT and not (abs(np.sign(steps).sum()) == len(steps) and by > SLOW)
    said = f"its size stays (up to {DRIFT:g}, and not in one direction throughout)"
    said = said if calm else "its size changes on the way: it may not have settled"
    return Evidence("change of size from quarter to quarter", by, None, said, "" if calm else INCONCLUSIVE, decides)


def comb_evidence(series: Series, period: float | None, details: dict[str, Any]) -> Evidence:
    """The share of the power beside the harmonics of the drive, or of the period that was found."""
    known = series.period or period
    try:
        found = details["spectrum"] = spectrum(replace(series, period=known))
    except ValueError:
        found = details["spectrum"] = spectrum(replace(series, period=None))
    off = found.attrs["off_comb"]
    said = "no drive period is known, so there is no comb" if known is None else f"in {found.attrs['periods']} periods"
    return Evidence("off-comb power: share beside the drive's harmonics", None if known is None else off, None, said)


def neighbour_evidence(
    series: Series, twin: Series | None, explained: bool, details: dict[str, Any], decides: bool
) -> list[Evidence]:
    """Divergence of neighbours, surrogates and the 0-1 test: what could speak for chaos.

    explained: whether phases explain the motion; decides: whether these rows count for the verdict.
    """
    near = looked_at(series)
    chosen = embedding(near)
    details["embedding"], details["near"] = chosen, near
    cycles = len(series.values) / mean_period(series.values)
    listed = [] if cycles >= CYCLES or explained else [length_evidence(cycles, decides)]
    try:
        slope = details["divergence"] = rosenstein(near, chosen)
    except ValueError as error:
        name = "divergence of neighbours (Rosenstein), 1/s"
        return [*listed, Evidence(name, None, None, str(error), INCONCLUSIVE, decides)]
    listed += divergence_evidence(slope, chosen, explained, decides)
    if slope.spread < TOGETHER and not explained:
        said = f"neighbours are near in time too (below {TOGETHER:g}): the motion changes on the way"
        name = "time between neighbours, over the length of the series"
        listed.append(Evidence(name, slope.spread, None, said, INCONCLUSIVE, decides))
    if twin is not None:
        listed.append(twin_evidence(prepared(twin)[0], details))
    listed += surrogate_evidence(near, chosen, explained, details, decides)
    return [*listed, zero_one_evidence(series, explained, details, decides)]


def length_evidence(cycles: float, decides: bool) -> Evidence:
    """A series too short for a word on chaos."""
    said = f"fewer than {CYCLES}: too few for a word on chaos from the signal alone"
    return Evidence("mean periods covered", cycles, None, said, INCONCLUSIVE, decides)


def chaos(speaks: bool) -> str:
    """The vote of an indicator that speaks for chaos or leaves it open."""
    return CHAOTIC if speaks else INCONCLUSIVE


def divergence_evidence(slope: Divergence, chosen: Embedding, explained: bool, decides: bool) -> list[Evidence]:
    """The slope of Rosenstein's curve, and whether neighbours really forget each other."""
    rules = f"delay {chosen.delay}, dimension {chosen.dimension}, Theiler window {chosen.theiler} samples, fit from "
    rules += f"{slope.window[0]:.3g} to {slope.window[1]:.3g} s"
    positive = slope.slope > slope.error  # which is nan where there is none
    said = "positive" if positive else "not positive beyond its error"
    if np.isnan(slope.error):
        said = "fitted over too few samples for an error, so it says nothing; sample closer"
    if explained:
        said = "says nothing of a regular motion: impacts and sampling make it positive"
    apart = slope.growth >= GROWN and slope.reach >= REACHED
    far = (
        f"neighbours end {slope.growth:.3g} times as far apart as they began, at {slope.reach:.2g} of the distance of "
    )
    far += f"any two points; chaos: at least {GROWN:g} times and {REACHED:g}"
    name = "divergence of neighbours (Rosenstein), 1/s"
    return [
        Evidence(name, slope.slope, slope.error, f"{said}; {rules}", chaos(positive), decides),
        Evidence("growth of the distance of neighbours", slope.growth, None, far, chaos(apart), decides),
    ]


def twin_evidence(twin: Series, details: dict[str, Any]) -> Evidence:
    """The same slope for the ideal twin, which cannot be chaotic if it is driven."""
    near = looked_at(twin)
    slope = details["twin"] = rosenstein(near, embedding(near))
    said = "what the method gives without any play"
    return Evidence("divergence of neighbours with ideal joints, 1/s", slope.slope, slope.error, said)


def surrogate_evidence(
    near: Series, chosen: Embedding, explained: bool, details: dict[str, Any], decides: bool
) -> list[Evidence]:
    """The series beside series with its spectrum and values but no law; the slopes of a few of them."""
    found = surrogate_test(near, chosen, 5 if explained else 39)
    details["surrogates"] = found
    many, least = len(found.others), float(found.others.min())
    said = f"smaller than that of all {many} IAAFT surrogates" if found.rejected else "no smaller than of a surrogate"
    told = f"{said}, of which the smallest is {least:.3g}"
    told += "; so it is for regular motions too" if explained and found.rejected else ""
    name = "prediction error, over the size of the signal"
    listed = [Evidence(name, found.own, None, told, chaos(found.rejected), decides)]
    known = found.slopes[np.isfinite(found.slopes)]
    name = "divergence of neighbours of surrogates, 1/s"
    if not len(known):
        said = "too few points of the surrogates have a neighbour beyond the Theiler window"
        return [*listed, Evidence(name, None, None, said, INCONCLUSIVE, decides)]
    said = f"what the method gives for noise of the same spectrum: {known.min():.3g} to {known.max():.3g}"
    return [*listed, Evidence(name, float(known.mean()), float(known.std()), said)]


def zero_one_evidence(series: Series, explained: bool, details: dict[str, Any], decides: bool) -> Evidence:
    """The 0-1 test."""
    found = details["zero_one"] = zero_one(series)
    about = f"{found.samples} samples {found.spacing:.3g} s apart"
    if not found.usable:
        said = f"too few samples once thinned against oversampling ({about})"
        return Evidence("0-1 test", None, None, said, INCONCLUSIVE, decides)
    clear = found.K - found.error > K_CHAOS
    said = (
        "near 1" if clear else "near 0" if found.K + found.error < K_CHAOS else f"open: {K_CHAOS:g} is within its error"
    )
    said += ", which impact spikes bring about as well" if explained and clear else ""
    return Evidence("0-1 test", found.K, found.error, f"{said}; {about}", chaos(clear), decides)


def advice(kind: str, series: Series, evidence: list[Evidence]) -> str:
    """What would settle a case that is not, or confirm one that is."""
    model = "analyse the model (jointplay analyse MODEL): an exponent from two of its trajectories"
    if kind == PERIODIC:
        return f"settled within the residual, as far as a series tells; for smaller motion beside the period, {model}"
    if kind == QUASI:
        return f"settled within the residual; for a very long period a longer series, or {model}"
    if kind == CHAOTIC:
        return f"every indicator of the series agrees; for a proof, {model}"
    against = [one.indicator.partition(",")[0] for one in evidence if one.decides and one.votes == INCONCLUSIVE]
    longer = f"a longer series of the settled motion (now {series.length:g} s)"
    period = "" if series.period else ", the period of the drive (--period)"
    if series.simulated and series.period:
        period = f", with a whole number of samples in a period (jointplay run --every {series.period / 64:.6g}s)"
    return f"{longer}{period}, or {model}; it is left open by: {', '.join(against) or 'no indicator speaks'}"
