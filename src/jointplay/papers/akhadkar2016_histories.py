"""Histories and journal loci of Akhadkar, Acary, Brogliato 2016: Figures 6, 7, 11, 12, 14, 16 and 19 to 22.

The figures give no numbers, so what is judged is what the text says of each, from single runs.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..studies import grid
from . import Record
from .akhadkar2016 import ONE, SETTLED, SOFTNESS, STEP, TWO, Case, motion

record = functools.partial(Record, "akhadkar2016")
FIVE = (5.0, 0.0)  # mm: play of J2, J3


@dataclass(frozen=True)
class Way:
    """How much is computed: grids of the paper or coarse ones, and its step (s)."""

    full: bool = False
    step: float = STEP

    def plays(self) -> Any:
        return grid(0.0, 5e-3, 11) if self.full else [1e-3, 3e-3, 5e-3]

    def restitutions(self) -> Any:
        return grid(0.0, 0.9, 10) if self.full else [0.0, 0.9]


def told(
    item: str, case: Mapping[str, Any], quantity: str, unit: str, claim: str, computed: Any, holds: bool, why: str = ""
) -> Record:
    """A record of a claim: true of what we compute, or not."""
    said = ("reproduces: true of ours" if holds else "differs: not true of ours") + (f" ({why})" if why else "")
    return record(item, case, quantity, unit, claim, None, computed, said)


def rounded(values: Any) -> list[float]:
    """Numbers with four digits."""
    listed = values.ravel() if isinstance(values, np.ndarray) else list(values)
    return [float(f"{float(x):.4g}") for x in listed]


def locus(item: str, case: Case) -> Iterator[Record]:
    """How a journal moves in its bearing: how much of the time on the wall, and how one-sided."""
    run = motion(case)
    late = run.isel(time=run["time"].values >= SETTLED)
    place = late["place_x"].isel(journal=0).values + 1j * late["place_y"].isel(journal=0).values
    free = float(run["share_free"][0])
    side = float(abs(np.mean(place / np.maximum(np.abs(place), 1e-300))))
    at = {"law": case.law, "c2, c3/mm": list(case.plays), "e_r": case.restitution, "mu": case.friction}
    yield told(item, at, "share of time off the wall", "", "the journal moves on the wall", free, free < 0.1)
    yield record(
        item,
        at,
        "one-sidedness of the journal's place (0 all around, 1 one place)",
        "",
        None,
        None,
        side,
        "no value to compare with",
    )


def history(item: str, case: Case, bound: float, claim: str) -> Iterator[Record]:
    """The largest tracking error of a run beside what the text says."""
    run = motion(case, 1e-2)
    at = {"law": case.law, "mechanism": case.mechanism, "c2, c3/mm": list(case.plays), "mu": case.friction}
    at |= {"regularisation": case.softness} if case.softness else {}
    quantity, end = "largest tracking error from 1 s on", str(run.attrs["outcome_text"])
    if not end.startswith("reached"):
        yield told(item, at, quantity, "deg", claim, None, False, end)
        return
    error = math.degrees(float(run["error_max"].max()))
    holds = abs(error - bound) < 0.1 * bound
    why = "" if holds else f"the paper's {bound:g} degrees do not come out, see Table 6"
    yield told(item, at, quantity, "deg", claim, error, holds, why)


def figure_6(way: Way) -> Iterator[Record]:
    """Histories under tau1 and tau2, one joint open."""
    runs = {law: motion(Case(law, FIVE, 0.0, step=way.step)) for law in ("tau1", "tau2")}
    counts = [float(run["impacts"].sum()) for run in runs.values()]
    case = {"c2/mm": 5.0, "mu": 0.0, "until/s": 10.0}
    claim = "fewer impacts with tau2 than with tau1"
    yield told("Figure 6", case, "impacts with tau1 and tau2", "", claim, counts, counts[1] < counts[0])
    after = float(runs["tau1"]["gap"].isel(contact=0).where(runs["tau1"].time > SETTLED).quantile(0.95)) / 5e-3
    claim = "gaps are most of the time much smaller than the clearance"
    yield told("Figure 6", case, "95th percentile of the gap by the clearance, tau1", "", claim, after, after < 0.5)


def figure_7(way: Way) -> Iterator[Record]:
    """Journal loci under tau1 for two restitutions."""
    for er in (0.0, 0.9):
        yield from locus("Figure 7", Case("tau1", FIVE, 0.0, restitution=er, step=way.step))


def figure_11(way: Way) -> Iterator[Record]:
    """Tracking errors of PD control."""
    yield from history("Figure 11", Case("tau4", TWO, step=way.step), 4.0, "within +-4 degrees")


def figure_12(way: Way) -> Iterator[Record]:
    """Journal loci of PD control."""
    yield from locus("Figure 12", Case("tau4", TWO, step=way.step))


def figure_14(way: Way) -> Iterator[Record]:
    """Tracking of the crank-crank: where precision is lost."""
    run = motion(Case("tau4", TWO, mechanism="crank_crank_2016", step=way.step))
    late = run.isel(time=run["time"].values >= SETTLED)
    speed = np.abs(np.cos(0.75 * math.pi * late["time"].values))  # of the reference 6 sin(0.75 pi t)
    error = np.abs(late["tracking_error"].isel(channel=0).values)
    at = float(speed[np.argmax(error)])
    case = {"law": "tau4", "mechanism": "crank_crank_2016", "c2, c3/mm": list(TWO)}
    claim = "precision is lost where the desired motion turns back"
    yield told(
        "Figure 14", case, "speed of the reference at the largest error, by its greatest", "", claim, at, at < 0.3
    )


def figure_16(way: Way) -> Iterator[Record]:
    """Tracking errors and Lyapunov function of feedback linearisation."""
    yield from history("Figure 16", Case("tau5", TWO, step=way.step), 1.3, "within +-1.3 degrees")
    errors = [float(motion(Case("tau5", plays, step=way.step), 1e-2)["error_max"].max()) for plays in (ONE, TWO)]
    degrees = rounded(np.degrees(errors))
    claim = "smaller with one clearance than with two"
    yield told(
        "Figure 16",
        {"law": "tau5", "mu": 0.1},
        "largest tracking error",
        "deg",
        claim,
        degrees,
        degrees[0] < degrees[1],
    )


def figure_19(way: Way) -> Iterator[Record]:
    """Impacts of passivity-based control with one and with two clearances."""
    counts = [float(motion(Case("tau6", plays, step=way.step), 1e-2)["impacts"].sum()) for plays in (ONE, TWO)]
    claim = "fewer impacts with one clearance"
    yield told("Figure 19", {"law": "tau6", "mu": 0.1}, "impacts", "", claim, counts, counts[0] < counts[1])


def figure_20(way: Way) -> Iterator[Record]:
    """Torques of tau5 and tau6."""
    peaks = [float(motion(Case(law, TWO, step=way.step), 1e-2)["control_max"].max()) for law in ("tau5", "tau6")]
    claim = "tau6 has smaller peaks"
    yield told(
        "Figure 20",
        {"c2, c3/mm": list(TWO)},
        "largest torques from 1 s on",
        "N m",
        claim,
        rounded(peaks),
        peaks[1] < peaks[0],
    )


def figure_21(way: Way) -> Iterator[Record]:
    """Journal locus of passivity-based control."""
    yield from locus("Figure 21", Case("tau6", TWO, step=way.step))


def figure_22(way: Way) -> Iterator[Record]:
    """Tracking error of the controller that sees the rocker only."""
    for softness in SOFTNESS:  # of its model where the rocker does not tell the crank, which the paper does not give
        case = Case("tau7", TWO, softness=softness, step=way.step)
        yield from history("Figure 22", case, 12.0, "within +-12 degrees")
