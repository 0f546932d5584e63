"""Histories and journal loci of Akhadkar, Acary, Brogliato 2016: Figures 6, 7, 11, 12, 14, 16 and 19 to 22.

The figures give no numbers, so what is judged is what the text says of each, from single runs.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..studies import grid
from .akhadkar2016 import ERROR, ONE, SETTLED, SOFTNESS, STEP, TWO, Case, motion, row
from .rows import Found, Row
from .verdicts import printed_to

if TYPE_CHECKING:
    from xarray import Dataset

FIVE = (5.0, 0.0)  # mm: play of J2, J3
BRANCH = "what tells the crank's branch where the rocker does not: a regularisation is assumed"


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
    item: str, case: dict[str, Any], quantity: str, unit: str, claim: str, compute: Any, note: str = "",
    missing: str = "",
) -> Row:  # fmt: skip
    """A statement about a figure; such rows take long, and those of a figure share runs."""
    number = "".join(x for x in item.partition(" ")[2] if x.isdigit())
    return row(item, case, quantity, unit, compute, claim, note=note, missing=missing, group=f"figure {number}",
               long=True)  # fmt: skip


def rounded(values: Any) -> list[float]:
    """Numbers with four digits."""
    listed = values.ravel() if isinstance(values, np.ndarray) else list(values)
    return [float(f"{float(x):.4g}") for x in listed]


@functools.lru_cache(8)
def run_of(case: Case, every: float = 1e-3) -> Dataset:
    """The run of a case, kept for the rows of a figure."""
    return motion(case, every)


def locus(item: str, case: Case) -> Iterator[Row]:
    """How a journal moves in its bearing: how much of the time on the wall, and how one-sided."""

    def off_wall() -> Found:
        free = float(run_of(case)["share_free"][0])
        return Found(free, holds=free < 0.1)

    def one_sided() -> Found:
        run = run_of(case)
        late = run.isel(time=run["time"].values >= SETTLED)
        place = late["place_x"].isel(journal=0).values + 1j * late["place_y"].isel(journal=0).values
        side = float(abs(np.mean(place / np.maximum(np.abs(place), 1e-300))))
        return Found(side, "0: all around, 1: one place", holds=side > 0.5)

    at = case.case(restitution=case.restitution)
    yield told(item, at, "share of time off the wall", "", "the journal moves on the wall", off_wall)
    if case.law == "tau1":
        yield told(item, at, "one-sidedness of the journal's place", "", "mainly on one side of the bearing", one_sided)


def history(item: str, case: Case, bound: float, missing: str = "") -> Row:
    """The largest tracking error of a run beside the range that the text says it is in (deg)."""

    def compute() -> Found:
        run = run_of(case, 1e-2)
        if run.attrs["outcome"] != "done":
            return Found(None, str(run.attrs["outcome_text"]), ended=False)
        error = math.degrees(float(run["error_max"].max()))
        note = "the range is far from being reached; tables 4 and 6 judge the numbers" if error < 0.7 * bound else ""
        return Found(error, note, holds=error < bound + printed_to(f"{bound:g}"))

    more = {"regularisation": case.softness} if case.softness else {}
    claim = f"is within +-{bound:g} degrees" if bound < 12 else "is within -12 and 6 degrees"
    return told(item, case.case(**more), ERROR, "deg", claim, compute, missing=missing)


def figure_6(way: Way) -> Iterator[Row]:
    """Histories under tau1 and tau2, one joint open."""
    one, two = (Case(law, FIVE, 0.0, step=way.step) for law in ("tau1", "tau2"))

    def impacts() -> Found:
        counts = [float(run_of(case)["impacts"].sum()) for case in (one, two)]
        return Found(counts, holds=counts[1] < counts[0])

    def gaps() -> Found:
        run = run_of(one)
        after = float(run["gap"].isel(contact=0).where(run.time > SETTLED).quantile(0.95)) / 5e-3
        return Found(after, holds=after < 0.5)

    both = one.case(controller=["tau1", "tau2"], until=10.0)
    claim = "fewer impacts with tau2 than with tau1"
    yield told("figure 6", both, "impacts with tau1 and tau2", "", claim, impacts)
    claim, quantity = (
        "gaps are most of the time much smaller than the clearance",
        "95th percentile of the gap by the play",
    )
    yield told("figure 6", one.case(until=10.0), quantity, "", claim, gaps)


def figure_7(way: Way) -> Iterator[Row]:
    """Journal loci under tau1 for two restitutions."""
    for er in (0.0, 0.9):
        yield from locus("figure 7", Case("tau1", FIVE, 0.0, restitution=er, step=way.step))


def figure_11(way: Way) -> Iterator[Row]:
    """Tracking errors of PD control."""
    yield history("figure 11", Case("tau4", TWO, step=way.step), 4.0)


def figure_12(way: Way) -> Iterator[Row]:
    """Journal loci of PD control."""
    yield from locus("figure 12", Case("tau4", TWO, step=way.step))


def figure_14(way: Way) -> Iterator[Row]:
    """Tracking of the crank-crank: where precision is lost."""
    case = Case("tau4", TWO, mechanism="crank_crank_2016", step=way.step)

    def turning() -> Found:
        run = run_of(case)
        late = run.isel(time=run["time"].values >= SETTLED)
        speed = np.abs(np.cos(0.75 * math.pi * late["time"].values))  # of the reference 6 sin(0.75 pi t)
        error = np.abs(late["tracking_error"].isel(channel=0).values)
        at = float(speed[np.argmax(error)])
        return Found(at, holds=at < 0.3)

    claim = "precision is lost where the desired motion turns back"
    yield told("figure 14", case.case(), "speed of the reference at the largest error, as a share", "", claim, turning)


def figure_16(way: Way) -> Iterator[Row]:
    """Tracking errors and Lyapunov function of feedback linearisation."""
    two = Case("tau5", TWO, step=way.step)
    yield history("figure 16", two, 1.3)

    def errors() -> Found:
        cases = (Case("tau5", ONE, step=way.step), two)
        found = [math.degrees(float(run_of(case, 1e-2)["error_max"].max())) for case in cases]
        return Found(rounded(found), holds=found[0] < found[1])

    def jumps() -> Found:
        run = run_of(two, 1e-2)
        late = run["lyapunov"].isel(time=run["time"].values >= SETTLED).values
        rises = int((np.diff(late.ravel()) > 0).sum())
        return Found(rises / max(1, late.size), "share of samples at which V rises after 1 s", holds=rises > 10)

    both = two.case(clearances=[[0.003, 0.0], [0.003, 0.003]])
    yield told("figure 16", both, f"{ERROR}s", "deg", "smaller with one clearance than with two", errors)
    yield told("figure 16", two.case(), "rises of V", "", "V varies persistently after its first decrease", jumps)


def figure_19(way: Way) -> Iterator[Row]:
    """Impacts of passivity-based control with one and with two clearances."""
    one, two = (Case("tau6", plays, step=way.step) for plays in (ONE, TWO))

    def impacts() -> Found:
        counts = [float(run_of(case, 1e-2)["impacts"].sum()) for case in (one, two)]
        return Found(counts, holds=counts[0] < counts[1])

    both = two.case(clearances=[[0.003, 0.0], [0.003, 0.003]])
    yield told("figure 19", both, "impacts", "", "fewer impacts with one clearance", impacts)
    yield history("figure 19", two, 1.0)


def figure_20(way: Way) -> Iterator[Row]:
    """Torques of tau5 and tau6."""
    five, six = (Case(law, TWO, step=way.step) for law in ("tau5", "tau6"))

    def peaks() -> Found:
        found = [float(run_of(case, 1e-2)["control_max"].max()) for case in (five, six)]
        return Found(rounded(found), "over all steps from 1 s on", holds=found[1] < found[0])

    both = five.case(controller=["tau5", "tau6"])
    yield told("figure 20", both, "max torques", "N m", "tau6 has smaller peaks", peaks)


def figure_21(way: Way) -> Iterator[Row]:
    """Journal locus of passivity-based control."""
    yield from locus("figure 21", Case("tau6", TWO, step=way.step))


def figure_22(way: Way) -> Iterator[Row]:
    """Tracking error of the controller that sees the rocker only."""
    for softness in SOFTNESS:
        case = Case("tau7", TWO, softness=softness, step=way.step)
        yield history("figure 22", case, 12.0, missing=BRANCH)
