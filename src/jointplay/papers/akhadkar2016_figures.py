"""Figures 4 to 23 of Akhadkar, Acary, Brogliato 2016: contours as studies, histories and journal loci from single runs.

The figures themselves give no numbers, so what is judged is what the text says of each.  Grids are coarse unless
`full` asks for the paper's: clearances 0.5 mm apart, restitutions 0.1 apart.  e is that of equation 16 over 1 s to the
end, against the ideal twin with the same step and scheme; the start is closed anew from the crank's angle.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model import library
from ..simulation import RungeKutta, simulate
from ..studies import grid, sweep
from . import akhadkar2016_histories as histories
from .akhadkar2016 import ERROR, SETTLED, SOFTNESS, TWO, Case, motion, scheme
from .akhadkar2016_histories import BRANCH, FIVE, Way, rounded, told
from .rows import Found, Row

if TYPE_CHECKING:
    from xarray import Dataset

E = ("deviation[crank]", "deviation[rocker]")
SMALL = 0.05  # a share that is called negligible


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
        stepper=scheme(way.step),
        control=case.control(),
        metrics=[*E, *metrics],
        settled=SETTLED,
        reclose=True,
    )


def e_of(found: Dataset) -> Any:
    """e of equation 16 (%): the larger of the crank's and the rocker's deviation."""
    return np.fmax(found[E[0]], found[E[1]])


@functools.lru_cache(16)
def bouncing(way: Way, case: Case) -> Any:
    """e over the play of J2 and the restitution."""
    return e_of(table(way, case, {"J2.clearance": way.plays(), "J2.restitution": way.restitutions()}))


@functools.lru_cache(16)
def both(way: Way, case: Case) -> Any:
    """e over the plays of J2 and J3."""
    return e_of(table(way, case, {"J2.clearance": way.plays(), "J3.clearance": way.plays()}))


def corner(way: Way, law: str) -> float:
    """e (%) of a controller with 5 mm in both joints."""
    return float(both(replace(way, full=False), Case(law, TWO))[-1, -1])


def along(found: Any, axis: str) -> float:
    """The largest change of e along an axis, as a share of the greatest e on its line."""
    spread = found.max(axis) - found.min(axis)
    most = found.max(axis)
    return float((spread / most.where(most > 0)).max())


def ranged(way: Way, case: Case, **more: Any) -> dict[str, Any]:
    """The case of a contour: its clearances go from, to."""
    plays = [0.0 if way.full else 1e-3, 5e-3]
    return case.case(clearances=[plays, plays if case.plays[1] else 0.0], **more)


# -- open loop
class FromReference:
    """e0 of equation 15: how far the crank is from that of the reference start at most, in percent of its largest
    angle there; and the same in rad."""

    __name__ = "e0"

    def __init__(self, run: Dataset) -> None:
        self.angle = run["angle"].sel(body="crank").values
        self.late = run["time"].values >= SETTLED

    def __call__(self, run: Dataset) -> dict[str, float]:
        off = float(np.abs(run["angle"].sel(body="crank").values - self.angle)[self.late].max())
        return {"e0": 100 * off / float(np.abs(self.angle[self.late]).max()), "off": off}


def figure_4(way: Way) -> Iterator[Row]:
    """e0 over the start of the crank, ideal joints, tau1 and tau2."""
    count = 9 if way.full else 5
    over = {"start.crank": grid(1.471, 1.671, count), "start.crank.rate": grid(-0.2, 0.2, count)}

    def most(law: str) -> list[float]:
        ideal = library.crank_rocker_2016().replace(control=Case(law).control())
        stepper = RungeKutta(1e-9, 1e-11)
        reference = FromReference(simulate(ideal, 10.0, stepper, reclose=True, error=False))
        table = sweep(ideal, over, until=10.0, stepper=stepper, metrics=[reference], reclose=True)
        return [float(table[name].max()) for name in ("e0", "off")]

    def compute() -> Found:
        found, radians = zip(*(most(law) for law in ("tau1", "tau2")), strict=True)
        note = "the paper does not print its ranges, these are ours; e0 is measured by the largest angle, and a crank "
        note += f"that turns has large ones: in rad the greatest differences are {radians[0]:.3g} and {radians[1]:.3g}"
        return Found(rounded(found), note, holds=found[1] > 3 * found[0])

    case = Case("tau1").case(controller=["tau1", "tau2"], start=[1.471, 1.671], rate=[-0.2, 0.2], grid=count)
    claim = "sensitivity to the start changes drastically from tau1 to tau2"
    yield told("figure 4", case, "greatest e0 with tau1 and tau2", "%", claim, compute)


def figure_5(way: Way) -> Iterator[Row]:
    """e over the play of J2 and the restitution under a constant torque."""
    for mu in (0.0, 0.1):
        one = Case("tau1", FIVE, mu)

        def share(one: Case = one) -> Found:
            found = along(bouncing(way, one), "J2.restitution")
            return Found(found, holds=found < 0.2)

        yield told("figure 5", ranged(way, one), "change of e with restitution, as a share", "", "negligible", share)

    def rougher() -> Found:
        ratio = float((bouncing(way, Case("tau1", FIVE, 0.1)) / bouncing(way, Case("tau1", FIVE, 0.0))).max())
        return Found(ratio, "friction brakes a mechanism that nothing else brakes", holds=ratio < 2)

    case = ranged(way, Case("tau1", FIVE), friction=[0.0, 0.1])
    yield told("figure 5", case, "e with friction 0.1 by e without", "", "friction does not modify much", rougher)


def figure_8(way: Way) -> Iterator[Row]:
    """e over the plays of both joints, tau1 and tau2."""

    def ends() -> Found:
        found = both(way, Case("tau1", TWO))
        pair = [float(found.isel({"J2.clearance": a, "J3.clearance": b})) for a, b in ((-1, 0), (0, -1))]
        return Found(rounded(pair), holds=pair[1] > pair[0])

    case = Case("tau1", TWO).case(clearances=[[0.005, 0.001], [0.001, 0.005]])
    yield told("figure 8a", case, "e", "%", "c3 has more influence than c2", ends)
    until = 100.0 if way.full else 30.0

    def wild() -> Found:
        found = both(replace(way, full=False), Case("tau2", TWO, until=until))
        jump = float(max(abs(found.diff(axis)).max() for axis in found.dims) / found.max())
        return Found(jump, "only that it is sensitive reproduces", holds=jump > 0.2)

    quantity = "largest change of e from one clearance to the next, by the greatest e"
    yield told("figure 8b", ranged(way, Case("tau2", TWO), until=until), quantity, "", "high sensitivity", wild)


# -- PD
def figure_9(way: Way) -> Iterator[Row]:
    """Tracking errors of PD control over its gains."""
    k1s = [500.0, 1000.0, 2000.0, 4000.0]
    for law in ("tau3", "tau4"):

        def falls(law: str = law) -> Found:
            over = {"control.law.k1": k1s, "control.law.k2": [100.0, 200.0, 400.0]}
            found = table(way, Case(law, TWO), over, "error_max[crank]")["error_max[crank]"]
            degrees = np.degrees(found.isel({"control.law.k2": 1}).values)
            return Found(rounded(degrees), holds=bool((np.diff(degrees) < 0).all()))

        yield told(
            "figure 9", Case(law, TWO).case(gains=[k1s, 200.0]), f"{ERROR}s", "deg", "falls with the gain", falls
        )


def contours(item: str, laws: tuple[str, ...], mechanism: str, way: Way) -> Iterator[Row]:
    """e over play and restitution, and over both plays, of some controllers."""
    for law in laws:
        for mu in (0.0, 0.1):
            one = Case(law, FIVE, mu, mechanism)

            def negligible(one: Case = one) -> Found:
                share = along(bouncing(way, one), "J2.restitution")
                return Found(share, holds=share < SMALL)

            claim, quantity = "restitution has negligible influence", "change of e with restitution, as a share"
            yield told(f"{item}a", ranged(way, one), quantity, "", claim, negligible)
        pair = Case(law, TWO, mechanism=mechanism)

        def symmetric(pair: Case = pair) -> Found:
            found = both(way, pair)
            turned = found.transpose("J3.clearance", "J2.clearance").values
            off = float(np.abs(found.values - turned).max() / found.max())
            return Found(off, holds=off < 0.2)

        def growing(pair: Case = pair) -> Found:
            found = both(way, pair)
            grows = all(bool((np.diff(found.values, axis=axis) > 0).all()) for axis in (0, 1))
            return Found(float(found[-1, -1]), holds=grows)

        at = ranged(way, pair)
        yield told(f"{item}b", at, "asymmetry of e in c2 and c3, as a share", "", "symmetric influence", symmetric)
        yield told(f"{item}b", at, "e at 5 mm in both", "%", "e grows with both", growing)


def figure_10(way: Way) -> Iterator[Row]:
    """e of PD control, crank-rocker."""
    yield from contours("figure 10", ("tau3", "tau4"), "crank_rocker_2016", way)

    def same() -> Found:
        ends = [corner(way, law) for law in ("tau3", "tau4")]
        return Found(rounded(ends), holds=abs(ends[0] - ends[1]) < 0.1 * max(ends))

    case = Case("tau3", (5.0, 5.0)).case(controller=["tau3", "tau4"])
    yield told("figure 10b", case, "e of tau3 and tau4", "%", "the same", same)


def figure_13(way: Way) -> Iterator[Row]:
    """e of PD control, crank-crank."""
    yield from contours("figure 13", ("tau4",), "crank_crank_2016", way)


# -- feedback linearisation and passivity
def figure_15(way: Way) -> Iterator[Row]:
    """e of feedback linearisation, and beside that of PD control."""
    yield from contours("figure 15", ("tau5",), "crank_rocker_2016", way)

    def ratios() -> Found:
        pd, linear = (both(replace(way, full=False), Case(law, TWO)) for law in ("tau4", "tau5"))
        found = [float((pd / linear)[k, k]) for k in (0, -1)]
        why = "e is a kinematic offset of the rocker, the same for every controller that holds the crank"
        return Found(rounded(found), why, holds=found[0] > 3 and found[1] > 1.5)

    case = Case("tau4", TWO).case(controller=["tau4", "tau5"], clearances=[[0.001, 0.001], [0.005, 0.005]])
    claim = "5 for small, 2 for large clearances"
    yield told("figure 15", case, "e of tau4 by e of tau5", "", claim, ratios)


def figure_17(way: Way) -> Iterator[Row]:
    """e over gains, and the torques of three controllers."""
    k1s = [500.0, 2000.0, 8000.0]

    def smaller() -> Found:
        pairs = [(c, c) for c in (1e-3, 3e-3, 5e-3)]
        e = e_of(table(way, Case("tau5", TWO), {"control.law.k1": k1s, ("J2.clearance", "J3.clearance"): pairs})).values
        return Found(rounded(e[:, -1]), holds=bool((np.diff(e[:, -1]) < 0).all()))

    claim = "greater gains, smaller e for the same play"
    yield told("figure 17a", Case("tau5", (5.0, 5.0)).case(gains=[k1s, 200.0]), "e", "%", claim, smaller)
    laws = ["tau3", "tau4", "tau5"]

    def transient() -> Found:
        runs = [motion(Case(law, TWO, step=way.step)) for law in laws]
        peaks = [float(np.abs(run["control"].where(run.time < SETTLED)).max()) for run in runs]
        return Found(rounded(peaks), holds=min(peaks[:2]) > peaks[2])

    claim = "tau3 and tau4 are larger than tau5 in the transient"
    yield told("figure 17b", Case("tau3", TWO).case(controller=laws), "max torques before 1 s", "N m", claim, transient)


def figure_18(way: Way) -> Iterator[Row]:
    """e of passivity-based control, beside feedback linearisation."""
    yield from contours("figure 18", ("tau6",), "crank_rocker_2016", way)

    def less() -> Found:
        found = [corner(way, law) for law in ("tau5", "tau6")]
        return Found(rounded(found), holds=found[1] < found[0])

    case = Case("tau5", (5.0, 5.0)).case(controller=["tau5", "tau6"])
    yield told("figure 18b", case, "e of tau5 and tau6", "%", "tau6 is slightly less sensitive", less)


def figure_23(way: Way) -> Iterator[Row]:
    """e of the controller that sees the rocker only, beside that of tau6."""
    for softness in SOFTNESS:

        def worse(softness: float = softness) -> Found:
            over = {"J2.clearance": way.plays(), "J2.restitution": way.restitutions()}
            run = table(way, Case("tau7", FIVE, softness=softness), over)
            ratio, failed = float((e_of(run) / bouncing(way, Case("tau6", FIVE))).max()), int((run.status > 1).sum())
            note = f"{failed} of {run.status.size} runs end early"
            return Found(None if math.isnan(ratio) else ratio, note)

        case = ranged(way, Case("tau7", FIVE), regularisation=softness)
        yield told("figure 23", case, "e of tau7 by e of tau6, greatest", "", "much worse", worse, missing=BRANCH)


FIGURES: dict[int, Callable[[Way], Iterator[Row]]] = {
    int(name.removeprefix("figure_")): made
    for name, made in sorted({**vars(histories), **globals()}.items())
    if name.startswith("figure_")
}


def rows(full: bool = False) -> Iterator[Row]:
    """What the text says of the figures beside what we compute; full: the paper's grid."""
    for _, made in sorted(FIGURES.items()):
        yield from made(Way(full))
