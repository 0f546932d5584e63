"""What the strobed motion of a model repeats: period k at every phase of the drive, beside the integration error there.

Integration errors are not alike over a period: where a loose joint changes sides they grow a thousandfold, and die away
in the contact that follows. A motion is determined by its state, so one that meets itself at most phases is
periodic where neighbouring motions meet; at the others it may differ by as much as finer steps change it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError
from .evidence import CHAOTIC, INCONCLUSIVE, PERIODIC, Evidence
from .lyapunov import Exponent
from .sections import MOST_REPEATS, STAYS, fades, parts
from .series import unit_of
from .things import difference, is_angle

PER_PERIOD = 64  # samples, and renormalisations, in a drive period
STILL = 1e-6  # of the size of a number: a smaller range is no motion
REPEATS = 1e-5  # of the range of the motion: a section that changes less repeats
CLEAR = 10.0  # times the integration error: what is larger is motion
LEAST = 3  # periods in the half that counts
PART = 0.05  # of the range of a number: a section spread over more is a good part of it
VAGUE = 0.01  # of the range of the motion: a larger change by finer steps is no small error
FEW = 0.5  # share of the phases at which integration errors may show
WANDERS = 0.5  # of the standard deviation: a mean that moves by more wanders off


@dataclass(frozen=True)
class Watched:
    """What was seen of a motion: exponents by name, states at equal intervals after settling, and early ones, both with
    the steps as they are and with finer ones (if there are), and kinetic and total energies (J) beside the states."""

    exponents: dict[str, Exponent]
    names: list[str]
    states: list[np.ndarray]
    early: list[np.ndarray]
    energies: list[np.ndarray] = field(default_factory=list)

    @cached_property
    def span(self) -> np.ndarray:
        """The range of every number of the state, of an angle a turn at most; 0 where it does not move but by round-off
        and projections."""
        span, size = np.ptp(self.states[0], axis=0), np.abs(self.states[0]).max(axis=0)
        span = np.where([is_angle(name) for name in self.names], np.minimum(span, 2 * np.pi), span)
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


@dataclass(frozen=True)
class Strobed:
    """What was found of the section: period k or None, its largest spread over the motion, the evidence, and why the
    spread is no motion of its own, if it is none."""

    multiple: int | None
    spread: float
    evidence: list[Evidence]
    narrow: str = ""


def phases(seen: Watched, states: np.ndarray) -> np.ndarray:
    """The states (periods, phases, names) of the whole periods among states at equal intervals."""
    count = len(states) // PER_PERIOD
    return states[: count * PER_PERIOD].reshape(count, PER_PERIOD, len(seen.names))


def changes(seen: Watched, late: np.ndarray, most: int = MOST_REPEATS) -> np.ndarray:
    """The largest change over the motion after k = 1, 2, ... periods, at each phase (k, phases)."""
    found = []
    for k in range(1, min(most, len(late) // LEAST) + 1):
        off = np.abs(difference(seen.names, late[k:], late[:-k])).max(axis=0)
        found.append(np.array([seen.shares(one).max() for one in off]))
    return np.array(found)


def by_finer_steps(seen: Watched) -> np.ndarray | None:
    """What finer steps change (phases, names); None if there are none."""
    if len(seen.states) < 2:
        return None
    one, two = (phases(seen, states) for states in seen.states[:2])
    count = min(len(one), len(two))
    if not count:
        return None
    return np.asarray(np.abs(difference(seen.names, one[:count], two[:count])).max(axis=0))


def meets(seen: Watched, late: np.ndarray, multiple: int) -> bool:
    """Whether finer steps lead to the motion that repeats after so many drive periods, which they may reach some of
    these earlier or later."""
    finer = phases(seen, seen.states[1])
    finer, orbit = finer[len(finer) // 2 :], late[-multiple:]
    turns = (np.arange(len(finer)) + shift for shift in range(multiple))
    off = (np.abs(difference(seen.names, finer, orbit[turn % multiple])).max(axis=0) for turn in turns)
    return any(np.median([seen.shares(one).max() for one in part]) <= VAGUE for part in off)


def not_so(seen: Watched, late: np.ndarray, multiple: int | None, enough: float, finer: np.ndarray | None) -> str:
    """Why a motion that repeats after so many drive periods may not, if it may not; finer: what finer steps change, if
    that tells."""
    if not multiple:
        return ""
    if finer is not None and np.median(finer) > VAGUE and not meets(seen, late, multiple):
        return "but finer steps lead to another motion, and whether neighbouring ones meet is open"
    sooner = settles_to(seen, late, multiple, enough)
    if not sooner:
        return ""
    return f"but its change after {sooner} falls: it is still settling, and may come to repeat after {sooner}"


def settles_to(seen: Watched, late: np.ndarray, multiple: int, enough: float) -> int:
    """A part of so many drive periods after which the motion changes less and less, so that it may come to repeat after
    these; 0 if there is none. What a settled motion changes after a part of its period stays."""
    for part in parts(multiple):
        off = np.array_split(np.abs(difference(seen.names, late[part:], late[:-part])), 2)
        first, second = (np.median([seen.shares(one).max() for one in half.max(axis=0)]) for half in off)
        if fades(float(first), float(second), enough):
            return part
    return 0


def enough_periods(seen: Watched) -> bool:
    """Whether there are so many drive periods that one can be seen again."""
    return len(seen.states[0]) // PER_PERIOD >= 2 * LEAST


def section_evidence(seen: Watched, sign: int, details: dict[str, Any], parting: bool = False) -> Strobed:
    """What the section repeats after k drive periods, and how widely it is spread at the phase where it is widest.

    sign: of the exponent; parting: whether neighbouring motions part in any run of its sweep. Where they do not, what
    finer steps change is the error of the integration; where they do, it is the motion itself, and only the error at
    the start is known.
    """
    whole = phases(seen, seen.states[0])
    if not enough_periods(seen):
        raise InputError(f"{len(whole)} drive periods are too few to see one again; look at {2 * LEAST} at least")
    late = whole[len(whole) // 2 :]  # what is left of the transient does not count
    changed = by_finer_steps(seen)
    finer = None if changed is None else np.array([seen.shares(part).max() for part in changed])
    rule = Sameness.of(seen, sign, finer)
    residuals = changes(seen, late)
    multiple = rule.repeats(residuals)
    shown = residuals[multiple - 1] if multiple else residuals[np.argmin(residuals.max(axis=1))]
    off = spread_of(seen, late)
    spreads = np.array([seen.shares(part) for part in off])
    widest, spread = int(np.argmax(spreads.max(axis=1))), float(spreads.max())
    details["spreads"] = dict(zip(seen.names, spreads.max(axis=0).tolist(), strict=True))
    details["strobed"] = dict(zip(seen.names, off.T, strict=True))  # at each phase, in the units of the number
    clear = spread > CLEAR * (seen.error or 0.0)
    listed = [repeat_evidence(multiple, shown, rule, len(late), sign, parting, clear)]
    doubt = not_so(seen, late, multiple, rule.enough, None if sign < 0 else finer)
    if doubt:
        listed[0], multiple = replace(listed[0], says=f"{listed[0].says}; {doubt}", votes=INCONCLUSIVE), None
    listed.append(spread_evidence(seen, off[widest], spreads[widest], widest, late[:, widest], details))
    if changed is not None and finer is not None:
        details["finer"] = dict(zip(seen.names, changed.T, strict=True))  # likewise
        told = f"at the phase where it is most, {np.median(finer):.2g} at the middle one"
        told += "; of a chaotic motion it is as large as the spread" if sign > 0 else ""
        name = "Poincaré section: change by finer steps, over the range of the motion"
        listed.append(Evidence(name, float(finer.max()), None, told))
    unclear = max(rule.enough, 0.0 if finer is None or sign > 0 else CLEAR * float(finer.max()))
    why = no_motion_of_its_own(seen, late, spread, unclear)
    if why and not multiple and sign <= 0:
        listed[1] = replace(listed[1], says=f"{listed[1].says}; {why}")
    return Strobed(multiple, spread, listed, why)


@dataclass(frozen=True)
class Sameness:
    """Up to which change over the motion a section counts as the same: at most phases, and at the few where errors of
    the integration show before they die away."""

    enough: float
    most: float

    @staticmethod
    def of(seen: Watched, sign: int, finer: np.ndarray | None) -> Sameness:
        """From the error of the integration at the start, and from what finer steps change at each phase."""
        enough = max(REPEATS, CLEAR * (seen.error or 0.0))
        if sign <= 0 and finer is not None and np.median(finer) <= VAGUE:
            enough = max(enough, CLEAR * float(np.median(finer)))
        return Sameness(enough, max(enough, CLEAR * float(finer.max())) if sign < 0 and finer is not None else enough)

    def repeats(self, residuals: np.ndarray) -> int | None:
        """The smallest k whose changes (k, phases) are small enough."""
        good = (np.mean(residuals > self.enough, axis=1) <= FEW) & (residuals.max(axis=1) <= self.most)
        return int(np.argmax(good)) + 1 if good.any() else None


def spread_of(seen: Watched, states: np.ndarray) -> np.ndarray:
    """How widely the section is spread at every phase (phases, names)."""
    return np.asarray(np.ptp(difference(seen.names, states, states[0]), axis=0))


def no_motion_of_its_own(seen: Watched, late: np.ndarray, spread: float, unclear: float) -> str:
    """Why a section is spread though no second rate turns: the error of the integration, or a transient that fades.

    unclear: what may be an error. A quasi-periodic motion fills its curve again and again, so that the spread stays; a
    transient loses it. Both are the largest over all phases and numbers, which see the curve from many sides.
    """
    if spread <= unclear:
        return (
            f"the section is spread over {spread:.2g} of the motion, and up to {unclear:.2g} may be errors of the steps"
        )
    early, last = (spread_of(seen, part) for part in np.array_split(late, 2))
    first, second = (float(np.max([seen.shares(one) for one in part])) for part in (early, last))
    if second < STAYS * first:
        return f"the section is spread over {second:.2g} of the motion and was over {first:.2g}, as by a transient"
    return ""


def repeat_evidence(
    multiple: int | None, change: np.ndarray, rule: Sameness, points: int, sign: int, parting: bool, clear: bool
) -> Evidence:
    """Whether the section repeats: its change in the middle of the phases, and where it is most; clear: whether its
    spread is far beyond the error of the integration."""
    worst, over = int(np.argmax(change)), int((change > rule.enough).sum())
    limit = f"up to {rule.enough:.2g} counts as the same"
    most = f"most {change[worst]:.2g} at phase {worst + 1} of {PER_PERIOD}, {points} periods"
    if multiple:
        said, vote = f"repeats after {multiple} drive period{'s' * (multiple > 1)} ({limit}; {most})", PERIODIC
        if over:
            said += f"; at {over} phases an error of the integration shows and dies away, up to {rule.most:.2g}"
    elif sign > 0:
        vote = CHAOTIC if clear else INCONCLUSIVE
        said = f"does not repeat ({limit}; {most})"
        said += "" if clear else "; but it is not spread beyond ten times the error of the integration"
    else:
        vote = INCONCLUSIVE if sign < 0 or parting else ""
        said = f"does not repeat ({limit}; {most})"
    name = "Poincaré section: change after the period, over the range of the motion"
    return Evidence(name, float(np.median(change)), None, said, vote, decides=True)


def part_evidence(details: dict[str, Any]) -> Evidence:
    """What of a motion is chaotic: the numbers whose section is spread over a good part of their range."""
    spreads, shown = details["spreads"], details["series"].name
    wide = sorted((name for name in spreads if spreads[name] > PART), key=lambda name: -spreads[name])
    calm = len(spreads) - len(wide)
    said = f"{', '.join(wide) or 'none'} in the section over more than {PART:g} of their range, the other {calm} by "
    most = f"{details['strobed'][shown].max():.3g} {unit_of(shown)}".rstrip()
    said += f"less; {shown} over {spreads[shown]:.2g} of it, {most}"
    return Evidence("what is chaotic: how many numbers of the state are spread", float(len(wide)), None, said)


def spread_evidence(
    seen: Watched, off: np.ndarray, shares: np.ndarray, phase: int, points: np.ndarray, details: dict[str, Any]
) -> Evidence:
    """How widely the section is spread at one phase, in which number most, and in the one that is shown."""
    names, widest = seen.names, int(np.argmax(shares))
    shown = names.index(details["series"].name)
    other = next((i for i in np.argsort(-shares) if i != shown), shown)
    turned = points[0] + difference(names, points, points[0])  # angles without whole turns
    details["section"] = turned[:, [shown, other]], [names[shown], names[other]]
    wide = f"widest in {names[widest]}, by {off[widest]:.3g} {unit_of(names[widest])}".rstrip()
    wide += f", at phase {phase + 1} of {PER_PERIOD}"
    wide += "" if shown == widest else f"; {names[shown]} by {off[shown]:.3g} {unit_of(names[shown])}".rstrip()
    return Evidence("Poincaré section: spread, over the range of the motion", float(shares.max()), None, wide)


def plane(seen: Watched, name: str) -> dict[str, Any]:
    """The number that is shown and its rate, for the phase plane, if the state has both; angles within a turn."""
    base = name.removesuffix(".rate")
    pair = [base, f"{base}.rate"]
    if not set(pair) <= set(seen.names):
        return {}
    states = seen.states[0][:, [seen.names.index(one) for one in pair]]
    turning = is_angle(base) and np.ptp(states[:, 0]) > 2 * np.pi
    if turning:
        states = np.column_stack([np.mod(states[:, 0], 2 * np.pi), states[:, 1]])
        states[1:][np.abs(np.diff(states[:, 0])) > np.pi] = np.nan  # no line across the figure
    return {"plane": (states, pair)}


def stays(values: np.ndarray) -> bool:
    """Whether the mean of a number is the same in both halves, beside how far it strays within one."""
    one, two = np.array_split(values, 2)
    return bool(abs(two.mean() - one.mean()) < WANDERS * min(one.std(), two.std()))
