"""The verdict from trajectories of a model: its exponent over a sweep, and what repeats in its section."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .evidence import CHAOTIC, INCONCLUSIVE, PERIODIC, QUASI, Evidence, Verdict
from .exponents import LINEAR, Exponent, exponent
from .indicators import EXPLAINED, comb_evidence, neighbour_evidence, prepared
from .regular import one_phase, tolerance, two_phases
from .sections import repeat
from .series import Series, moves
from .things import Thing, difference, ensure_thing, go

PERIODS = 60  # of the drive that are looked at unless said otherwise
PER_PERIOD = 64  # samples, and renormalisations, in each
SETTLE = 0.25  # of what is looked at, before
FREE = 400.0  # s: looked at where nothing drives
SAMPLES = 4000  # of it
SEPARATIONS = (1e-7, 1e-8, 1e-6)  # the first over all of the time, the others over a part of it
PART = 0.4  # of the time, for the rest of the sweep
REPEATS = 1e-6  # of the span of the motion: a section that changes less repeats
AGREE = 4.0  # common errors by which two exponents of the sweep may differ
CLEAR = 10.0  # times the integration error: what is larger is motion


@dataclass(frozen=True)
class Plan:
    """How a model's motion is looked at: the drive period (s), how long (s), after which time (s), which signal."""

    period: float | None
    until: float
    settle: float
    every: float
    signal: str | None
    title: str = ""

    @property
    def end(self) -> float:
        """The latest time that is reached (s)."""
        return self.settle + self.until

    @staticmethod
    def of(
        period: float | None, periods: int | None, until: float | None, settle: float | None, signal: str | None, title: str = ""
    ) -> Plan:
        """Whole periods if there is a drive."""
        for name, x in (("period", period), ("periods", periods), ("until", until)):
            if x is not None and not x > 0:
                raise ValueError(f"{name} must be > 0, got {x!r}")
        if period is None:
            if periods is not None:
                raise ValueError("periods: nothing drives this motion periodically; give until, in seconds")
            whole = until or FREE
            return Plan(None, whole, SETTLE * whole if settle is None else settle, whole / SAMPLES, signal, title)
        count = periods or max(6, round((until or PERIODS * period) / period))
        before = np.ceil(SETTLE * count if settle is None else settle / period)
        return Plan(period, count * period, float(before) * period, period / PER_PERIOD, signal, title)


def thing_verdict(make: Callable[[int], Thing | None], plan: Plan) -> Verdict:
    """The verdict on a motion by two trajectories: the sign of its exponent, and what repeats."""
    found, gate, names = swept(make, plan)
    best = found["as it is"]
    span = np.ptp(best.states, axis=0)
    series = chosen_signal(best, names, plan)
    details: dict[str, Any] = {"exponents": found, "series": series}
    evidence, sign, error = exponent_evidence(found, best)
    evidence.append(gate_evidence(gate, span, names))
    multiple = None
    if plan.period is not None:
        sections, multiple, spread = section_evidence(best, names, span, gate, plan, details)
        evidence += sections
    else:
        spread = np.inf
    kind, period = judged(sign, multiple, spread, gate, span, series, plan, evidence)
    evidence.append(comb_evidence(series, period, details))
    outside = neighbour_evidence(series, None, kind in (PERIODIC, QUASI), details) if len(series.values) >= 300 else []
    return Verdict(
        kind,
        period,
        (round(period / plan.period) if plan.period else 1) if period else None,
        best.value,
        error,
        plan.until / plan.period if plan.period else plan.until / period if period else None,
        evidence + outside,
        settled_by(kind, sign, plan),
        plan.title or series.name,
        details,
    )


def swept(make: Callable[[int], Thing | None], plan: Plan) -> tuple[dict[str, Exponent], np.ndarray, list[str]]:
    """Exponents as it is, with other separations and with finer steps; and the error of the integration."""
    found: dict[str, Exponent] = {}
    gate, names = np.array([]), []
    part = plan.every * round(max(PART * plan.until, 8 * plan.every) / plan.every)
    for fineness in (1, 2):
        thing = make(fineness)
        if thing is None:
            continue
        ensure_thing(thing, 2)
        names = list(thing.names)
        go(thing, float(thing.time[0]) + plan.settle)
        here = thing.snapshot()
        if fineness == 1:
            for separation in SEPARATIONS:
                thing.reset(here)
                name = "as it is" if not found else f"separation {separation:g}"
                found[name] = exponent(thing, part if found else plan.until, plan.every, separation)
            thing.reset(here)
            state, coarse = thing.state[0], follow(thing, plan.every)
        else:
            thing.perturb(difference(thing.names, state, thing.state[0]), lane=0)
            gate = np.abs(difference(thing.names, follow(thing, plan.every), coarse))
            thing.reset(here)
            found["finer steps"] = exponent(thing, part, plan.every, SEPARATIONS[0])
    return found, gate, names


def follow(thing: Thing, time: float) -> np.ndarray:
    """The state of the first lane some time (s) later."""
    go(thing, float(thing.time[0]) + time)
    return thing.state[0]


def chosen_signal(best: Exponent, names: list[str], plan: Plan) -> Series:
    """One number of the state over time: the one asked for, or the last rate of an angle that moves."""
    name = plan.signal.replace("_rate", ".rate") if plan.signal else None
    if name is None:
        moving = [n for i, n in enumerate(names) if moves(best.states[:, i])]
        if not moving:
            raise ValueError("nothing moves; there is no motion to judge")
        liked = [n for n in moving if n.endswith(".angle.rate")] or moving
        name = liked[-1] if liked is not moving else moving[0]
    if name not in names:
        raise ValueError(f"no signal {plan.signal!r} in the state; there are {', '.join(names)}")
    values = best.states[:, names.index(name)]
    return Series(plan.settle + plan.every * np.arange(1, len(values) + 1), values, name, period=plan.period)


def exponent_evidence(found: dict[str, Exponent], best: Exponent) -> tuple[list[Evidence], int, float]:
    """The exponents of the sweep, the sign on which all agree (0 if they do not), and the error bar."""
    values = np.array([one.value for one in found.values()])
    error = max(best.error, float(np.abs(values - best.value).max()) / 2)
    agreed = all(
        one.value * best.value > 0 and abs(one.value - best.value) <= AGREE * np.hypot(one.error, best.error)
        for one in found.values()
    )
    sign = best.sign if agreed else 0
    listed = []
    for name, one in found.items():
        said = {1: "grows: neighbouring motions part", -1: "shrinks: neighbouring motions meet", 0: "zero within 3 errors"}
        text = f"{said[one.sign]}; separation {one.separation:g}"
        if one.floored:
            text += f"; in {one.floored} intervals both became the same number, so the value is an upper bound"
        if one.largest > LINEAR:
            text += f"; the separation reached {one.largest:.2g} of the motion and was not small any more"
        listed.append(Evidence(f"largest exponent, {name}, 1/s", one.value, one.error, text, CHAOTIC if one.sign > 0 else ""))
    spread = float(np.ptp(values))
    agree = "the sweep agrees within its errors" if agreed else "the sweep does not agree: the exponent is an artefact"
    agree += "" if best.sign else ", but zero is not excluded"
    listed.append(Evidence("spread of the exponent over the sweep, 1/s", spread, None, agree))
    return listed, sign, error


def gate_evidence(gate: np.ndarray, span: np.ndarray, names: list[str]) -> Evidence:
    """The error of the integration over one interval, beside the motion."""
    if not len(gate):
        return Evidence("integration error over the motion", None, None, "unknown: only one fineness of steps is there")
    share = np.divide(gate, span, out=np.zeros_like(gate), where=span > 0)
    worst = int(np.argmax(share))
    said = f"over one interval of the renormalisation, worst in {names[worst]}"
    return Evidence("integration error over the motion", float(share[worst]), None, said)


def section_evidence(
    best: Exponent, names: list[str], span: np.ndarray, gate: np.ndarray, plan: Plan, details: dict[str, Any]
) -> tuple[list[Evidence], int | None, float]:
    """What the section, once a drive period, repeats: period k with its residual, and how widely it is spread."""
    points = best.states[PER_PERIOD - 1 :: PER_PERIOD]
    late = points[len(points) // 3 :]  # what is left of the transient does not count
    moving = span > 1e-12 * max(1.0, float(np.abs(best.states).max()))
    scale = np.where(moving, span, 1.0)
    enough = max(REPEATS, CLEAR * float((gate / scale).max()) if len(gate) else 0.0)
    found = repeat(late, names, enough, scale)
    spread = float((np.ptp(difference(names, late, late[0]), axis=0) / scale).max())
    two = [i for i in range(len(names)) if moving[i]]
    name = details["series"].name
    pair = [names.index(name), next((i for i in two[::-1] if i != names.index(name)), two[-1])]
    details["section"] = late[:, pair], [names[i] for i in pair]
    said = "does not repeat" if found.multiple is None else f"repeats after {found.multiple} drive periods"
    listed = [
        Evidence(
            "change of the section over the motion", found.residual, enough, f"{said} ({len(late)} points)",
            PERIODIC if found.multiple else "",
        ),
        Evidence("spread of the section over the motion", spread, None, "largest in any number of the state"),
    ]
    return listed, found.multiple, spread


def judged(
    sign: int,
    multiple: int | None,
    spread: float,
    gate: np.ndarray,
    span: np.ndarray,
    series: Series,
    plan: Plan,
    evidence: list[Evidence],
) -> tuple[str, float | None]:
    """The verdict and the period, from the sign of the exponent and what repeats."""
    noise = float(np.divide(gate, span, out=np.zeros_like(gate), where=span > 0).max()) if len(gate) else 0.0
    if sign > 0:
        clear = spread > CLEAR * noise and multiple is None
        return (CHAOTIC if clear else INCONCLUSIVE), None
    if plan.period is not None and multiple is not None and sign < 0:
        return PERIODIC, multiple * plan.period
    if sign < 0:
        return INCONCLUSIVE, None
    shown = prepared(series)[0]
    one = one_phase(shown)
    if one.residual <= tolerance(shown):
        said = f"repeats after {one.periods[0]:.6g} s"
        evidence.append(Evidence("change of the signal after a period", one.residual, tolerance(shown), said, PERIODIC))
        return PERIODIC, one.periods[0]
    two = two_phases(shown)
    explained = two.residual <= EXPLAINED
    said = f"two phases, {two.periods[0]:.6g} and {two.periods[1]:.6g} s" if explained else "two phases do not explain it"
    evidence.append(Evidence("change of the signal at equal phases of two", two.residual, EXPLAINED, said, QUASI if explained else ""))
    return (QUASI if explained else INCONCLUSIVE), None


def settled_by(kind: str, sign: int, plan: Plan) -> str:
    """What would settle it."""
    longer = "more periods (--until), a longer time to settle, smaller tolerances (--rtol) or a shorter step"
    if kind == INCONCLUSIVE and sign > 0:
        return f"the exponent is positive but the section is not spread beyond the error of the integration: {longer}"
    if kind == INCONCLUSIVE and sign < 0:
        return f"neighbouring motions meet, but nothing repeats yet: the motion has not settled, or it rests; {longer}"
    if kind == INCONCLUSIVE:
        return f"the exponent is zero within its error, or the sweep does not agree: {longer}"
    if kind == PERIODIC and sign == 0:
        return "settled: the motion repeats, and its exponent is zero along the motion itself"
    return "settled: the sign of the exponent is the same over the sweep, by three error bars and more"
