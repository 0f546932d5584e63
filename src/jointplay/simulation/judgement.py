"""Whether a run can be trusted: each entry of its audit beside a limit taken from the run's own scale, and one sentence
with the remedy where something is doubtful or wrong."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..physics.step import Stepper
from .outcome import Ending, Finding, Outcome

FINE, DOUBTFUL, WRONG = "fine", "doubtful", "wrong"
SHORTER = "a shorter step"  # a remedy that is told with a number
UNBOUNDED = "towards which forces and accelerations grow without bound, so that its peaks mean nothing"
FAILED = (Ending.NON_FINITE, Ending.SOLVER_FAILED, Ending.STEP_TOO_SMALL, Ending.STEP_TOO_LONG)


class Rule(NamedTuple):
    """The limit of an entry, `share` of the scale `of` the run; beyond `wrong` times the limit it is wrong.

    A negative share, and that of the conditioning, are limits from below.
    """

    of: str
    share: float
    wrong: float
    remedy: str

    @property
    def below(self) -> bool:
        """Whether the entry must not fall below its limit."""
        return self.share < 0 or self.of == "conditioning"


# Why these shares: docs/trust.md.
RULES = {
    "position drift": Rule("gap", 1e-2, 100, SHORTER),
    "energy imbalance": Rule("balance", 1.0, 10, SHORTER),
    "peak kinetic energy": Rule("available", 1.0, 1.1, SHORTER),
    "velocity drift at the end": Rule("rate", 1e-3, 100, SHORTER),
    "penetration": Rule("gap", 1e-2, 100, SHORTER),
    "play crossed in one step": Rule("one", 0.2, 5, SHORTER),
    "delay of impacts": Rule("one", 0.05, math.inf, SHORTER),
    "step beside the shortest change of a motion": Rule("one", 1.0, math.inf, SHORTER),
    "turn of a journal in one step": Rule("one", 0.25, math.inf, SHORTER),
    "swing of a journal in one step": Rule("one", 0.2, math.inf, SHORTER),
    "contact violation": Rule("one", 1e-8, 100, SHORTER),
    "unconverged steps": Rule("steps", 1e-3, 100, SHORTER),
    "steps closed again": Rule("steps", 1.0, math.inf, SHORTER),
    "energy lost in impacts": Rule("balance", -0.1, 100, "lower the restitution or the friction"),
    "energy lost by friction": Rule("balance", -0.1, 100, SHORTER),
    "energy created in impacts": Rule("energy", 1e-5, 1e3, "lower the restitution or the friction"),
    "energy created in contacts": Rule("energy", 1e-5, 1e4, SHORTER),
    "work of the sharpest contact force over its play": Rule(
        "kinetic", 1.0, math.inf, "its peak forces mean nothing: give light bodies their mass, or use compliant contact"
    ),
    "momentum drift": Rule("momentum", 1e-6, 1e4, SHORTER),
    "angular momentum drift": Rule("spin", 1e-6, 1e4, SHORTER),
    "conditioning at the start": Rule("conditioning", 1e-6, math.inf, "start elsewhere, or look at the lengths"),
    "contact force at the start": Rule("load", 10.0, math.inf, "give other or fewer start values, or --reclose"),
    "tracking error at the end": Rule(
        "one", 2.0, math.inf, "its loop does not follow: look at the signs of its gains, their sizes and the limits"
    ),
    "error of angles by a finer run": Rule("angles", 1e-2, math.inf, SHORTER),
    "error of places by a finer run": Rule("places", 1e-2, math.inf, SHORTER),
}


def judged(entries: Iterable[Finding], scales: Mapping[str, float]) -> list[Finding]:
    """The entries with their limits and judgements; one that is no number is wrong.

    >>> judged([Finding("energy imbalance", 3380.0, "J")], {"balance": 38.7})[0].judgement
    'wrong'
    """
    found = []
    for entry in entries:
        rule = RULES[entry.name]
        limit = rule.share * scales.get(rule.of, 1.0)
        if entry.value is None or not math.isfinite(entry.value):
            found.append(entry._replace(value=None, limit=limit, judgement=WRONG))
            continue
        over = limit - entry.value if rule.below else entry.value - limit
        worst = (rule.wrong - 1) * abs(limit)
        judgement = FINE if over <= 0 else DOUBTFUL if over <= worst else WRONG
        found.append(entry._replace(limit=limit, judgement=judgement))
    return found


def worst(entries: Sequence[Finding]) -> str:
    """The worst of some judgements."""
    said = {entry.judgement for entry in entries}
    return WRONG if WRONG in said else DOUBTFUL if DOUBTFUL in said else FINE


def verdict(entries: Sequence[Finding], outcome: Outcome, stepper: Stepper) -> tuple[str, str]:
    """The judgement of a run, and a sentence that says what is doubtful or wrong and what to do; no sentence where all
    is fine."""
    found = worst(entries)
    if outcome.kind is Ending.NEAR_SINGULAR:  # whatever the step
        found = DOUBTFUL if found == FINE else found
        return found, f"This run is {found}: it ended at a singular position, {UNBOUNDED}; {outcome.remedy}."
    if found == FINE and outcome.kind is Ending.NON_FINITE:  # its own scales have grown with it
        helps = "use smaller tolerances" if stepper.adaptive else "use a shorter step"
        return WRONG, f"This run is wrong: its numbers are no longer finite at t = {outcome.time:.6g} s; {helps}."
    if found == FINE and outcome.kind in FAILED:
        return DOUBTFUL, f"This run is doubtful: it ended early as {outcome.text}."
    if found == FINE:
        return FINE, ""
    bad = sorted((entry for entry in entries if entry.judgement != FINE), key=excess, reverse=True)
    first = next(entry for entry in bad if entry.judgement == found)
    text = f"This run is {found}: {told(first)}"
    others = [entry.name for entry in bad if entry is not first]
    text += f" (so {'are' if len(others) > 1 else 'is'} {', '.join(others)})" if others else ""
    return found, f"{text}; {remedy(first, stepper)}."


def excess(entry: Finding) -> float:
    """How far an entry is beyond its limit, over the limit."""
    if entry.value is None or not entry.limit:
        return math.inf
    if RULES[entry.name].below and entry.limit > 0:
        return entry.limit / max(entry.value, 1e-300)
    return entry.value / entry.limit


def told(entry: Finding) -> str:
    """An entry that is beyond its limit, in words."""
    unit = "" if entry.unit == "1" else f" {entry.unit.replace('*', ' ')}"
    value = "no number" if entry.value is None else f"{entry.value:.3g}{unit}"
    side = "below" if RULES[entry.name].below else "above"
    return f"its {entry.name} of {value} is {side} the limit of {entry.limit:.2g}{unit}"


def remedy(entry: Finding, stepper: Stepper) -> str:
    """What to do about an entry that is beyond its limit."""
    said = RULES[entry.name].remedy
    if said != SHORTER:
        return said
    if stepper.adaptive:
        return "use a smaller rtol" if stepper.impulsive else "use smaller rtol and atol, or a max_step"
    step = stepper.step * min(0.5, max(0.5 / excess(entry), 1e-3))  # type: ignore[attr-defined]
    return f"use a step of {step:.1g} s or less"
