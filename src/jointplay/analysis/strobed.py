"""What the strobed motion of a model repeats: period k at every phase of the drive, beside the integration error there.

Integration errors are not alike over a period: where a loose joint changes sides they grow a thousandfold, and die away
in the contact that follows. A motion is determined by its state, so one that meets itself at most phases is
periodic where neighbouring motions meet; at the others it may differ by as much as finer steps change it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from .evidence import PERIODIC, Evidence
from .lyapunov import Exponent
from .sections import MOST_REPEATS
from .things import difference, is_angle

PER_PERIOD = 64  # samples, and renormalisations, in a drive period
STILL = 1e-6  # of the size of a number: a smaller range is no motion
REPEATS = 1e-5  # of the range of the motion: a section that changes less repeats
CLEAR = 10.0  # times the integration error: what is larger is motion
LEAST = 3  # periods in the half that counts
PART = 0.05  # of the range of a number: a section spread over more is a good part of it
VAGUE = 0.01  # of the range of the motion: a larger change by finer steps is no small error
FEW = 0.5  # share of the phases at which integration errors may show


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
    """What was found of the section: period k or None, its largest spread over the motion, and the evidence."""

    multiple: int | None
    spread: float
    evidence: list[Evidence]


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


def section_evidence(seen: Watched, sign: int, details: dict[str, Any]) -> Strobed:
    """What the section repeats after k drive periods, and how widely it is spread at the phase where it is widest.

    sign: of the exponent. Where neighbouring motions do not part, what finer steps change is the error of the
    integration; where they do, it is the motion itself, and only the error at the start is known.
    """
    whole = phases(seen, seen.states[0])
    late = whole[len(whole) // 2 :]  # what is left of the transient does not count
    if len(late) < LEAST:
        raise InputError(f"{len(whole)} drive periods are too few to see one again; look at {2 * LEAST} at least")
    changed = by_finer_steps(seen)
    finer = None if changed is None else np.array([seen.shares(part).max() for part in changed])
    enough = max(REPEATS, CLEAR * (seen.error or 0.0))
    residuals = changes(seen, late)
    if sign <= 0 and finer is not None and np.median(finer) <= VAGUE:
        enough = max(enough, CLEAR * float(np.median(finer)))
    most = max(enough, CLEAR * float(finer.max())) if sign < 0 and finer is not None else enough
    good = (np.mean(residuals > enough, axis=1) <= FEW) & (residuals.max(axis=1) <= most)
    multiple = int(np.argmax(good)) + 1 if good.any() else None
    shown = residuals[multiple - 1] if multiple else residuals[np.argmin(residuals.max(axis=1))]
    off = np.ptp(difference(seen.names, late, late[0]), axis=0)
    spreads = np.array([seen.shares(part) for part in off])
    widest, spread = int(np.argmax(spreads.max(axis=1))), float(spreads.max())
    details["spreads"] = dict(zip(seen.names, spreads.max(axis=0).tolist(), strict=True))
    details["strobed"] = dict(zip(seen.names, off.max(axis=0).tolist(), strict=True))
    listed = [repeat_evidence(multiple, shown, enough, most, len(late))]
    listed.append(spread_evidence(seen, off[widest], spreads[widest], widest, late[:, widest], details))
    if changed is not None and finer is not None:
        details["finer"] = dict(zip(seen.names, changed.max(axis=0).tolist(), strict=True))
        told = "at the phase where it is most; of a chaotic motion it is as large as the spread"
        listed.append(Evidence("change of the section by finer steps", float(finer.max()), None, told))
    return Strobed(multiple, spread, listed)


def repeat_evidence(multiple: int | None, change: np.ndarray, enough: float, most: float, points: int) -> Evidence:
    """Whether the section repeats: its change in the middle of the phases, and where it is most."""
    worst, over = int(np.argmax(change)), int((change > enough).sum())
    said = "does not repeat" if multiple is None else f"repeats after {multiple} drive period(s)"
    said += f" ({points} points at {PER_PERIOD} phases); most {change[worst]:.2g} at {worst + 1}/{PER_PERIOD}"
    if over and multiple:
        said += f", at {over} phases by an error of the integration that dies away (up to {most:.2g} is allowed there)"
    vote = PERIODIC if multiple else ""
    return Evidence("change of the section over the motion", float(np.median(change)), enough, said, vote)


def part_evidence(details: dict[str, Any]) -> Evidence:
    """What of a motion is chaotic: the numbers whose section is spread over a good part of their range."""
    spreads, shown = details["spreads"], details["series"].name
    wide = sorted((name for name in spreads if spreads[name] > PART), key=lambda name: -spreads[name])
    calm = len(spreads) - len(wide)
    said = f"spread over more than {PART:g} of their range: {', '.join(wide) or 'none'}; the other {calm} by less, "
    said += f"{shown} by {spreads[shown]:.2g} of it ({details['strobed'][shown]:.3g})"
    return Evidence("what is chaotic: numbers of the state", float(len(wide)), None, said)


def spread_evidence(
    seen: Watched, off: np.ndarray, shares: np.ndarray, phase: int, points: np.ndarray, details: dict[str, Any]
) -> Evidence:
    """How widely the section is spread at one phase, in which number most, and in the one that is shown."""
    names, widest = seen.names, int(np.argmax(shares))
    shown = names.index(details["series"].name)
    other = next((i for i in np.argsort(-shares) if i != shown), shown)
    turned = points[0] + difference(names, points, points[0])  # angles without whole turns
    details["section"] = turned[:, [shown, other]], [names[shown], names[other]]
    wide = f"widest in {names[widest]}, {off[widest]:.3g}, at {phase + 1}/{PER_PERIOD} of a period; "
    wide += f"in {names[shown]} {off[shown]:.3g}"
    return Evidence("spread of the section over the motion", float(shares.max()), None, wide)
