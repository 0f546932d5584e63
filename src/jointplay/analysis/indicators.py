"""The verdict from a series alone: every indicator beside the others, none of them trusted by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InputError
from . import regular
from .evidence import CHAOTIC, INCONCLUSIVE, PERIODIC, QUASI, Evidence, Verdict
from .neighbours import Divergence, Embedding, embedding, looked_at, mean_period, rosenstein
from .series import Series
from .spectra import line, spectrum
from .surrogates import surrogate_test, zero_one

EXPLAINED = 0.14  # residual of two phases, over the size of the signal, up to which they explain it
FOREIGN = 0.15  # residual of both from which on phases do not explain it
GROWN, REACHED = 3.5, 0.15  # distance of neighbours at the end over that at the start, and over that of any two points
CYCLES = 20  # mean periods that a series must hold before it is called chaotic
DRIFT = 0.5  # relative change from quarter to quarter, beyond which a signal has not settled
TOGETHER = 0.24  # mean time between neighbours over the length: below, they are near in time and the motion changes
TREND = 3.0  # a straight line that rises by so many standard deviations of the rest is taken out
K_CHAOS = 0.5


def series_verdict(series: Series, twin: Series | None = None) -> Verdict:
    """What kind of motion a series shows; `chaotic` only if every indicator agrees and surrogates are rejected.

    twin: the same signal of the ideal mechanism, whose numbers stand beside those of the series.
    """
    series, notes = prepared(series)
    details: dict[str, Any] = {"series": series}
    one, two, phases = phase_evidence(series, details)
    settled = stationary(series)
    evidence = [*notes, *phases, settled]
    explained = one is not None or two is not None
    chaos = neighbour_evidence(series, twin, explained, details)
    evidence += [comb_evidence(series, one, details), *chaos]
    kind = INCONCLUSIVE
    if one is not None:
        kind = PERIODIC
    elif two is not None:
        kind = QUASI
    elif settled.votes != INCONCLUSIVE and all(item.votes == CHAOTIC for item in chaos):
        kind = CHAOTIC
    multiple = None
    if one is not None:
        multiple = round(one / series.period) if series.period else 1
    slope = details["divergence"] if kind == CHAOTIC else None
    return Verdict(
        kind,
        one,
        multiple,
        slope and slope.slope,
        slope and slope.error,
        covered(series, one),
        evidence,
        advice(kind, series, evidence, chaos),
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
    folded = regular.Folded(series)
    kept = series.time <= series.time[-1] - lag
    return float(np.median(folded.curve(series.time[kept] + lag) - series.values[kept])) / lag


def phase_evidence(series: Series, details: dict[str, Any]) -> tuple[float | None, Any, list[Evidence]]:
    """What one period and what two explain; the period if one does, the two if they do."""
    found, enough = regular.one_phase(series), regular.tolerance(series)
    late = False
    if found.residual > enough and len(series.values) >= 1200 and regular.LEAST_PERIODS:
        half = series.after(series.time[len(series.time) // 2])  # it may have settled by then
        again = regular.one_phase(half)
        if again.residual <= regular.tolerance(half):
            found, late, enough = again, True, regular.tolerance(half)
    periodic = found.residual <= enough
    period = found.periods[0] if periodic else None
    when = " in the second half" if late else ""
    said = f"repeats after {found.periods[0]:.6g} s{when}" if periodic else "no period explains the signal"
    if not found.periods:
        said = "too short to see a period again"
    listed = [Evidence("change after one period", found.residual, enough, said, PERIODIC if periodic else "")]
    details["period"] = period
    if periodic and found.residual <= regular.FINE:
        return period, None, listed
    two = regular.two_phases(series)
    same = any(abs(found.periods[0] / one - 1) < 1e-3 for one in two.periods) if periodic else False
    if periodic and (same or not two.residual < 0.5 * found.residual):
        return period, None, listed
    both = two if two.residual <= EXPLAINED else None
    if both is not None:
        details["period"] = period = None
        listed[0] = replace(listed[0], votes="")
        said = f"two phases with periods {both.periods[0]:.6g} and {both.periods[1]:.6g} s explain the signal"
    else:
        said = "two phases do not explain the signal" if two.periods else "too short for two phases"
    vote = QUASI if both else CHAOTIC if min(two.residual, found.residual) > FOREIGN else ""
    details["two"] = both
    return None, both, [*listed, Evidence("change at equal phases of two", two.residual, EXPLAINED, said, vote)]


def stationary(series: Series) -> Evidence:
    """Whether the size of the signal is the same in its four quarters."""
    sizes = np.array([part.std() for part in np.array_split(series.values, 4)])
    by = float(np.ptp(sizes) / sizes.mean())
    calm = by <= DRIFT
    said = "its size stays" if calm else "its size changes on the way: the motion may not have settled"
    return Evidence("change from quarter to quarter", by, DRIFT, said, "" if calm else INCONCLUSIVE)


def comb_evidence(series: Series, period: float | None, details: dict[str, Any]) -> Evidence:
    """The share of the power beside the harmonics of the drive, or of the period that was found."""
    known = series.period or period
    try:
        found = details["spectrum"] = spectrum(replace(series, period=known))
    except ValueError:
        found = details["spectrum"] = spectrum(replace(series, period=None))
    off = found.attrs["off_comb"]
    said = "no drive period is known, so there is no comb" if known is None else f"in {found.attrs['periods']} periods"
    return Evidence("power beside the comb", None if known is None else off, None, said)


def neighbour_evidence(series: Series, twin: Series | None, explained: bool, details: dict[str, Any]) -> list[Evidence]:
    """Divergence of neighbours, surrogates and the 0-1 test: what could speak for chaos."""
    near = looked_at(series)
    chosen = embedding(near)
    details["embedding"], details["near"] = chosen, near
    cycles = len(series.values) / mean_period(series.values)
    listed = [] if cycles >= CYCLES or explained else [length_evidence(cycles)]
    try:
        slope = details["divergence"] = rosenstein(near, chosen)
    except ValueError as error:
        return [*listed, Evidence("divergence of neighbours (Rosenstein)", None, None, str(error))]
    listed += divergence_evidence(slope, chosen, explained)
    if slope.spread < TOGETHER and not explained:
        said = "neighbours are near in time too: the motion changes on the way"
        listed.append(Evidence("time between neighbours over the length", slope.spread, TOGETHER, said, INCONCLUSIVE))
    if twin is not None:
        listed.append(twin_evidence(prepared(twin)[0], details))
    listed += surrogate_evidence(near, chosen, explained, details)
    return [*listed, zero_one_evidence(series, explained, details)]


def length_evidence(cycles: float) -> Evidence:
    """A series too short for a word on chaos."""
    return Evidence("mean periods covered", cycles, CYCLES, "too few for a word on chaos", INCONCLUSIVE)


def divergence_evidence(slope: Divergence, chosen: Embedding, explained: bool) -> list[Evidence]:
    """The slope of Rosenstein's curve, and whether neighbours really forget each other."""
    rules = f"delay {chosen.delay}, dimension {chosen.dimension}, Theiler window {chosen.theiler} samples, fit from "
    rules += f"{slope.window[0]:.3g} to {slope.window[1]:.3g} s"
    positive = slope.slope > 0 and slope.slope > slope.error
    if explained:
        said = "says nothing here: the motion is regular, and a positive slope comes from impacts and sampling"
    else:
        said = "positive" if positive else "not positive"
    votes = CHAOTIC if positive else ""
    apart = slope.growth >= GROWN and slope.reach >= REACHED
    far = f"neighbours end {slope.growth:.3g} times as far apart as they began, {slope.reach:.2g} of any two points"
    return [
        Evidence("divergence of neighbours (Rosenstein), 1/s", slope.slope, slope.error, f"{said}; {rules}", votes),
        Evidence("growth of the distance of neighbours", slope.growth, None, far, CHAOTIC if apart else ""),
    ]


def twin_evidence(twin: Series, details: dict[str, Any]) -> Evidence:
    """The same slope for the ideal twin, which cannot be chaotic if it is driven."""
    near = looked_at(twin)
    slope = details["twin"] = rosenstein(near, embedding(near))
    said = "the slope with ideal joints: what the method gives without any play"
    return Evidence("divergence of neighbours with ideal joints, 1/s", slope.slope, slope.error, said, CHAOTIC)


def surrogate_evidence(near: Series, chosen: Embedding, explained: bool, details: dict[str, Any]) -> list[Evidence]:
    """The series beside series with its spectrum and values but no law; the slopes of a few of them."""
    found = surrogate_test(near, chosen, 5 if explained else 39)
    details["surrogates"] = found
    if explained:
        said = "not needed: phases explain the signal"
    else:
        said = "better foretold than all surrogates" if found.rejected else "no better foretold than a surrogate"
    least, own = float(found.others.min()), found.own
    told = f"{said} ({len(found.others)} of IAAFT, the least error of theirs is {least:.3g})"
    listed = [Evidence("error of foretelling", own, None, told, CHAOTIC if found.rejected and not explained else "")]
    known = found.slopes[np.isfinite(found.slopes)]
    name = "divergence of neighbours of surrogates, 1/s"
    if not len(known):
        said = "too few points of the surrogates have a neighbour beyond the Theiler window"
        return [*listed, Evidence(name, None, None, said)]
    said = f"the same method gives {known.min():.3g} to {known.max():.3g} for IAAFT surrogates"
    return [*listed, Evidence(name, float(known.mean()), float(known.std()), said, CHAOTIC)]


def zero_one_evidence(series: Series, explained: bool, details: dict[str, Any]) -> Evidence:
    """The 0-1 test."""
    found = details["zero_one"] = zero_one(series)
    about = f"{found.samples} samples {found.spacing:.3g} s apart"
    if not found.usable:
        return Evidence("0-1 test", None, None, f"too few samples once thinned ({about})")
    said = "near 1" if found.K > K_CHAOS else "near 0"
    said += ", which impact spikes bring about as well" if explained and found.K > K_CHAOS else ""
    return Evidence("0-1 test", found.K, found.spread, f"{said}; {about}", CHAOTIC if found.K > K_CHAOS else PERIODIC)


def advice(kind: str, series: Series, evidence: list[Evidence], chaos: list[Evidence]) -> str:
    """What would settle a case that is not, or confirm one that is."""
    model = "analyse the model: an exponent from two of its trajectories"
    if kind == PERIODIC:
        return "settled within the residual; smaller motion beside the period is not judged from a series"
    if kind == QUASI:
        return f"settled within the residual; a longer series would tell a very long period, and so would {model[12:]}"
    if kind == CHAOTIC:
        return f"every indicator of the series agrees; for a proof, {model}"
    against = [item.indicator for item in chaos if item.votes != CHAOTIC]
    unsettled = any(item.votes == INCONCLUSIVE for item in evidence + chaos)
    longer = f"a longer series of the settled motion (now {series.length:g} s)"
    reason = f"; against chaos: {', '.join(against)}" if against else ""
    period = "" if series.period else ", the period of the drive (--period)"
    return f"{longer}{period}, or {model}{'; it has not settled' if unsettled else ''}{reason}"
