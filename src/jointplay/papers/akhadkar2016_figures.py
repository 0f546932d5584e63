"""Figures 4 to 23 of Akhadkar, Acary, Brogliato 2016: contours as studies, histories and journal loci from single runs.

The figures themselves give no numbers, so what is judged is what the text says of each.  Grids are coarse unless
`full` asks for the paper's: clearances 0.5 mm apart, restitutions 0.1 apart.  e is that of equation 16 over 1 s to the
end, against the ideal twin with the same step and scheme; the start is closed anew from the crank's angle.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model import library
from ..model.motions import sine
from ..simulation import MoreauJean, RungeKutta, simulate
from ..studies import grid, sweep
from . import Record
from .akhadkar2016 import SETTLED, STEP, TWO, Case, motion

if TYPE_CHECKING:
    from xarray import Dataset

record = functools.partial(Record, "akhadkar2016")
FIVE = (5.0, 0.0)  # mm: play of J2, J3
E = ("deviation[crank]", "deviation[rocker]")
SMALL = 0.05  # a share that is called negligible


@dataclass(frozen=True)
class Way:
    """How much is computed: grids of the paper or coarse ones, and its step (s)."""

    full: bool = False
    step: float = STEP

    def plays(self) -> Any:
        return grid(0.0, 5e-3, 11) if self.full else [1e-3, 3e-3, 5e-3]

    def restitutions(self) -> Any:
        return grid(0.0, 0.9, 10) if self.full else [0.0, 0.9]


def table(way: Way, case: Case, over: Mapping[Any, Any], *metrics: str) -> Dataset:
    """A study of the crank-rocker or crank-crank with the control of a case."""
    made = getattr(library, case.mechanism)(1e-3 * case.plays[0], 1e-3 * case.plays[1])
    numbers = {
        f"{j}.{key}": x
        for j in ("J2", "J3")
        for key, x in (("friction", case.friction), ("restitution", case.restitution))
    }
    return sweep(
        made.with_(numbers),
        over,
        until=case.until,
        stepper=MoreauJean(way.step),
        control=case.control(),
        metrics=[*E, *metrics],
        settled=SETTLED,
        reclose=True,
    )


def e_of(found: Dataset) -> Any:
    """e of equation 16 (%): the larger of the crank's and the rocker's deviation."""
    return np.fmax(found[E[0]], found[E[1]])


def bouncing(way: Way, case: Case) -> dict[float, Any]:
    """e over the play of J2 and the restitution, without friction and with 0.1."""
    over = {"J2.clearance": way.plays(), "J2.restitution": way.restitutions()}
    return {mu: e_of(table(way, replace(case, friction=mu), over)) for mu in (0.0, 0.1)}


def both(way: Way, case: Case) -> Any:
    """e over the plays of J2 and J3."""
    return e_of(table(way, case, {"J2.clearance": way.plays(), "J3.clearance": way.plays()}))


def along(found: Any, axis: str) -> float:
    """The largest change of e along an axis, as a share of the greatest e on its line."""
    spread = found.max(axis) - found.min(axis)
    most = found.max(axis)
    return float((spread / most.where(most > 0)).max())


def told(
    item: str, case: Mapping[str, Any], quantity: str, unit: str, claim: str, computed: Any, holds: bool, why: str = ""
) -> Record:
    """A record of a claim: true of what we compute, or not."""
    said = ("reproduces: true of ours" if holds else "differs: not true of ours") + (f" ({why})" if why else "")
    return record(item, case, quantity, unit, claim, None, computed, said)


def rounded(values: Any) -> list[float]:
    return [float(f"{float(x):.4g}") for x in np.asarray(values).ravel()]


# -- open loop
class FromReference:
    """e0 of equation 15: how far the crank is from that of the reference start at most, in percent."""

    __name__ = "e0"

    def __init__(self, run: Dataset) -> None:
        self.angle = run["angle"].sel(body="crank").values
        self.late = run["time"].values >= SETTLED

    def __call__(self, run: Dataset) -> float:
        off = np.abs(run["angle"].sel(body="crank").values - self.angle)[self.late]
        return float(100 * off.max() / np.abs(self.angle[self.late]).max())


def figure_4(way: Way) -> Iterator[Record]:
    """e0 over the start of the crank, ideal joints, tau1 and tau2."""
    count = 9 if way.full else 5
    jumps = {}
    for law in ("tau1", "tau2"):
        ideal = library.crank_rocker_2016().replace(control=Case(law).control())
        stepper = RungeKutta(1e-9, 1e-11)
        reference = FromReference(simulate(ideal, 10.0, stepper, reclose=True))
        over = {"start.crank": grid(1.471, 1.671, count), "start.crank.rate": grid(-0.2, 0.2, count)}
        found = sweep(ideal, over, until=10.0, stepper=stepper, metrics=[reference], reclose=True)["e0"]
        steps = [abs(found.diff(axis)) for axis in over]
        jumps[law] = float(max(step.max() for step in steps) / found.max())
        case = {"law": law, "theta1(0)/rad": [1.471, 1.671], "its rate": [-0.2, 0.2], "grid": count}
        quantity = "largest change of e0 from one start to the next, by the greatest e0"
        claim = "ordered, small gradients" if law == "tau1" else "disordered, high gradients"
        holds = jumps[law] < 0.5 if law == "tau1" else jumps[law] > jumps["tau1"]
        why = f"e0 up to {float(found.max()):.4g} %; the paper does not print its ranges, these are ours"
        yield told("Figure 4", case, quantity, "", claim, jumps[law], holds, why)


def figure_5(way: Way) -> Iterator[Record]:
    """e over the play of J2 and the restitution under a constant torque."""
    found = bouncing(way, Case("tau1", FIVE))
    for mu, e in found.items():
        share = along(e, "J2.restitution")
        case = {"law": "tau1", "mu": mu}
        yield told("Figure 5", case, "change of e with restitution, as a share", "", "negligible", share, share < 0.2)
    ratio = float((found[0.1] / found[0.0]).max())
    why = "friction brakes a mechanism that nothing else brakes"
    claim = "friction does not modify much"
    yield told("Figure 5", {"law": "tau1"}, "e with friction 0.1 by e without", "", claim, ratio, ratio < 2, why)


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


def figure_7(way: Way) -> Iterator[Record]:
    """Journal loci under tau1 for two restitutions."""
    for er in (0.0, 0.9):
        yield from locus("Figure 7", Case("tau1", FIVE, 0.0, restitution=er, step=way.step))


def figure_8(way: Way) -> Iterator[Record]:
    """e over the plays of both joints, tau1 and tau2."""
    found = both(way, Case("tau1", TWO))
    ends = [float(found.isel({"J2.clearance": a, "J3.clearance": b})) for a, b in ((-1, 0), (0, -1))]
    case = {"law": "tau1", "c2, c3/mm": [[5.0, 1.0], [1.0, 5.0]], "mu": 0.1}
    yield told("Figure 8a", case, "e", "%", "c3 has more influence than c2", ends, ends[1] > ends[0])
    until = 100.0 if way.full else 30.0
    wild = both(replace(way, full=False), Case("tau2", TWO, until=until))
    jump = float(max(abs(wild.diff(axis)).max() for axis in wild.dims) / wild.max())
    case = {"law": "tau2", "mu": 0.1, "until/s": until}
    quantity = "largest change of e from one clearance to the next, by the greatest e"
    yield told(
        "Figure 8b", case, quantity, "", "high sensitivity", jump, jump > 0.2, "only that it is sensitive reproduces"
    )


# -- PD
def gains(
    law: str, keys: tuple[str, str], item: str, plays: tuple[float, float], mechanism: str, way: Way
) -> Iterator[Record]:
    """Largest tracking error over the gains."""
    over = {f"control.{keys[0]}": [500.0, 1000.0, 2000.0, 4000.0], f"control.{keys[1]}": [100.0, 200.0, 400.0]}
    found = table(way, Case(law, plays, mechanism=mechanism), over, "error_max[crank]")["error_max[crank]"]
    degrees = np.degrees(found.isel({f"control.{keys[1]}": 1}).values)
    case = {
        "law": law,
        "mechanism": mechanism,
        keys[0]: [500, 1000, 2000, 4000],
        keys[1]: 200,
        "c2, c3/mm": list(plays),
    }
    falls = bool((np.diff(degrees) < 0).all())
    yield told(item, case, "largest tracking error", "deg", "falls with the gain", rounded(degrees), falls)


def figure_9(way: Way) -> Iterator[Record]:
    """Tracking errors of PD control over its gains."""
    for law in ("tau3", "tau4"):
        yield from gains(law, ("k1", "k2"), "Figure 9", TWO, "crank_rocker_2016", way)


def contours(item: str, laws: tuple[str, ...], mechanism: str, way: Way) -> Iterator[Record]:
    """e over play and restitution, and over both plays, of some controllers."""
    for law in laws:
        bounce = bouncing(way, Case(law, FIVE, mechanism=mechanism))
        for mu, e in bounce.items():
            share = along(e, "J2.restitution")
            case = {"law": law, "mechanism": mechanism, "mu": mu}
            claim = "restitution has negligible influence"
            yield told(f"{item}a", case, "change of e with restitution, as a share", "", claim, share, share < SMALL)
        pair = both(way, Case(law, TWO, mechanism=mechanism))
        turned = pair.transpose("J3.clearance", "J2.clearance").values
        off = float(np.abs(pair.values - turned).max() / pair.max())
        case = {"law": law, "mechanism": mechanism, "mu": 0.1}
        yield told(
            f"{item}b", case, "asymmetry of e in c2 and c3, as a share", "", "symmetric influence", off, off < 0.2
        )
        corner = float(pair.isel({"J2.clearance": -1, "J3.clearance": -1}))
        grows = bool((np.diff(pair.values, axis=0) > 0).all() and (np.diff(pair.values, axis=1) > 0).all())
        yield told(f"{item}b", case, "e at 5 mm in both, more with more play", "%", "e grows with both", corner, grows)


def figure_10(way: Way) -> Iterator[Record]:
    """e of PD control, crank-rocker."""
    yield from contours("Figure 10", ("tau3", "tau4"), "crank_rocker_2016", way)
    ends = [float(both(replace(way, full=False), Case(law, TWO))[-1, -1]) for law in ("tau3", "tau4")]
    off = abs(ends[0] - ends[1]) / max(ends)
    yield told(
        "Figure 10b",
        {"c2, c3/mm": [5.0, 5.0], "mu": 0.1},
        "e of tau3 and tau4",
        "%",
        "the same",
        rounded(ends),
        off < 0.1,
    )


def history(item: str, case: Case, bound: float | None, claim: str) -> Iterator[Record]:
    """The largest tracking error of a run beside what the text says."""
    run = motion(case, 1e-2)
    error = math.degrees(float(run["error_max"].max()))
    at = {"law": case.law, "mechanism": case.mechanism, "c2, c3/mm": list(case.plays), "mu": case.friction}
    holds = bound is None or abs(error - bound) < 0.1 * bound
    why = "" if holds else f"the paper's {bound:g} degrees do not come out with any friction, see Table 6"
    yield told(item, at, "largest tracking error from 1 s on", "deg", claim, error, holds, why)


def figure_11(way: Way) -> Iterator[Record]:
    """Tracking errors of PD control."""
    yield from history("Figure 11", Case("tau4", TWO, step=way.step), 4.0, "within +-4 degrees")


def figure_12(way: Way) -> Iterator[Record]:
    """Journal loci of PD control."""
    yield from locus("Figure 12", Case("tau4", TWO, step=way.step))


def figure_13(way: Way) -> Iterator[Record]:
    """e of PD control, crank-crank."""
    yield from contours("Figure 13", ("tau4",), "crank_crank_2016", way)


def figure_14(way: Way) -> Iterator[Record]:
    """Tracking of the crank-crank: where precision is lost."""
    run = motion(Case("tau4", TWO, mechanism="crank_crank_2016", step=way.step))
    late = run.isel(time=run["time"].values >= SETTLED)
    speed = (
        np.abs(sine(6.0, 0.75 * math.pi)(late["time"].values + 1e-6) - sine(6.0, 0.75 * math.pi)(late["time"].values))
        / 1e-6
    )
    error = np.abs(late["tracking_error"].isel(channel=0).values)
    at = float(speed[np.argmax(error)] / speed.max())
    case = {"law": "tau4", "mechanism": "crank_crank_2016", "c2, c3/mm": list(TWO)}
    claim = "precision is lost where the desired motion turns back"
    yield told(
        "Figure 14", case, "speed of the reference at the largest error, by its greatest", "", claim, at, at < 0.3
    )


# -- feedback linearisation and passivity
def figure_15(way: Way) -> Iterator[Record]:
    """e of feedback linearisation, and beside that of PD control."""
    yield from contours("Figure 15", ("tau5",), "crank_rocker_2016", way)
    pd, linear = (both(replace(way, full=False), Case(law, TWO)) for law in ("tau4", "tau5"))
    ratio = [float((pd / linear)[k, k]) for k in (0, -1)]
    holds = ratio[0] > 3 and ratio[1] > 1.5
    why = "e is a kinematic offset of the rocker, the same for every controller that holds the crank"
    claim = "5 for small, 2 for large clearances"
    case = {"c2, c3/mm": [[1.0, 1.0], [5.0, 5.0]], "mu": 0.1}
    yield told("Figure 15", case, "e of tau4 by e of tau5", "", claim, rounded(ratio), holds, why)


def figure_16(way: Way) -> Iterator[Record]:
    """Tracking errors and Lyapunov function of feedback linearisation."""
    yield from history("Figure 16", Case("tau5", TWO, step=way.step), 1.3, "within +-1.3 degrees")
    errors = [float(motion(Case("tau5", plays, step=way.step), 1e-2)["error_max"].max()) for plays in ((3.0, 0.0), TWO)]
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


def figure_17(way: Way) -> Iterator[Record]:
    """e over gains, and the torques of three controllers."""
    over = {
        "control.k1": [500.0, 2000.0, 8000.0],
        ("J2.clearance", "J3.clearance"): [(c, c) for c in (1e-3, 3e-3, 5e-3)],
    }
    e = e_of(table(way, Case("tau5", TWO), over)).values
    claim = "greater gains, smaller e for the same play"
    case = {"law": "tau5", "K1": [500, 2000, 8000], "c2, c3/mm": [5.0, 5.0], "mu": 0.1}
    yield told("Figure 17a", case, "e", "%", claim, rounded(e[:, -1]), bool((np.diff(e[:, -1]) < 0).all()))
    runs = {law: motion(Case(law, TWO, step=way.step)) for law in ("tau3", "tau4", "tau5")}
    peaks = [float(np.abs(run["control"].where(run.time < SETTLED)).max()) for run in runs.values()]
    claim = "tau3 and tau4 are larger than tau5 in the transient"
    holds = min(peaks[:2]) > peaks[2]
    yield told(
        "Figure 17b", {"c2, c3/mm": list(TWO)}, "largest torques before 1 s", "N m", claim, rounded(peaks), holds
    )


def figure_18(way: Way) -> Iterator[Record]:
    """e of passivity-based control, beside feedback linearisation."""
    yield from contours("Figure 18", ("tau6",), "crank_rocker_2016", way)
    found = [float(both(replace(way, full=False), Case(law, TWO))[-1, -1]) for law in ("tau5", "tau6")]
    case = {"c2, c3/mm": [5.0, 5.0], "mu": 0.1}
    yield told(
        "Figure 18b",
        case,
        "e of tau5 and tau6",
        "%",
        "tau6 is slightly less sensitive",
        rounded(found),
        found[1] < found[0],
    )


def figure_19(way: Way) -> Iterator[Record]:
    """Impacts of passivity-based control with one and with two clearances."""
    counts = [float(motion(Case("tau6", plays, step=way.step), 1e-2)["impacts"].sum()) for plays in ((3.0, 0.0), TWO)]
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
    yield from history("Figure 22", Case("tau7", TWO, softness=1e-2, step=way.step), 12.0, "within +-12 degrees")


def figure_23(way: Way) -> Iterator[Record]:
    """e of the controller that sees the rocker only."""
    over = {"J2.clearance": way.plays(), "J2.restitution": way.restitutions()}
    found = [e_of(table(way, Case(law, FIVE, softness=soft), over)) for law, soft in (("tau6", 0.0), ("tau7", 1e-2))]
    ratio = float((found[1] / found[0]).max()) if np.isfinite(found[1]).any() else math.nan
    holds = not ratio < 3
    why = "the result depends on a regularisation that the paper does not give" + (
        "; some runs fail" if math.isnan(ratio) else ""
    )
    yield told(
        "Figure 23a",
        {"law": "tau7", "mu": 0.1},
        "e of tau7 by e of tau6",
        "",
        "much worse",
        ratio if ratio == ratio else None,
        holds,
        why,
    )


FIGURES: dict[int, Callable[[Way], Iterator[Record]]] = {
    int(name.removeprefix("figure_")): made for name, made in list(globals().items()) if name.startswith("figure_")
}


def records(figure: int, full: bool = False) -> Iterator[Record]:
    """What the text says of a figure beside what we compute; full: the paper's grid."""
    if figure not in FIGURES:
        raise ValueError(f"no figure {figure} of akhadkar2016; there are {min(FIGURES)} to {max(FIGURES)}")
    yield from FIGURES[figure](Way(full))
