"""Figures 4 to 23 of Akhadkar, Acary, Brogliato 2016: contours as studies, histories and journal loci from single runs.

The figures themselves give no numbers, so what is judged is what the text says of each.  Grids are coarse unless
`full` asks for the paper's: clearances 0.5 mm apart, restitutions 0.1 apart.  e is that of equation 16 over 1 s to the
end, against the ideal twin with the same step and scheme; the start is closed anew from the crank's angle.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model import library
from ..simulation import MoreauJean, RungeKutta, simulate
from ..studies import grid, sweep
from . import Record, verdict
from . import akhadkar2016_histories as histories
from .akhadkar2016 import SETTLED, SOFTNESS, TWO, Case, motion
from .akhadkar2016_histories import FIVE, Way, record, rounded, told

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
        stepper=MoreauJean(way.step, order=1),  # the paper's scheme
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
    most = {}
    over = {"start.crank": grid(1.471, 1.671, count), "start.crank.rate": grid(-0.2, 0.2, count)}
    for law in ("tau1", "tau2"):
        ideal = library.crank_rocker_2016().replace(control=Case(law).control())
        stepper = RungeKutta(1e-9, 1e-11)
        reference = FromReference(simulate(ideal, 10.0, stepper, reclose=True))
        most[law] = float(
            sweep(ideal, over, until=10.0, stepper=stepper, metrics=[reference], reclose=True)["e0"].max()
        )
    case = {"theta1(0)/rad": [1.471, 1.671], "its rate": [-0.2, 0.2], "grid": count}
    claim = "sensitivity to the start changes drastically from tau1 to tau2"
    why = "the paper does not print its ranges, these are ours"
    ratio = most["tau2"] / most["tau1"]
    yield told("Figure 4", case, "greatest e0 with tau1 and tau2", "%", claim, rounded(most.values()), ratio > 3, why)


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


def figure_13(way: Way) -> Iterator[Record]:
    """e of PD control, crank-crank."""
    yield from contours("Figure 13", ("tau4",), "crank_crank_2016", way)


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


def figure_23(way: Way) -> Iterator[Record]:
    """e of the controller that sees the rocker only, beside that of tau6."""
    over = {"J2.clearance": way.plays(), "J2.restitution": way.restitutions()}
    near = e_of(table(way, Case("tau6", FIVE), over))
    for softness in SOFTNESS:
        run = table(way, Case("tau7", FIVE, softness=softness), over)
        case = {"law": "tau7", "mu": 0.1, "regularisation": softness, "failed runs": int((run.status > 1).sum())}
        ratio = float((e_of(run) / near).max())
        if math.isnan(ratio):
            said = verdict(None, missing="the regularisation of tau7; with this one all runs end early")
            yield record("Figure 23", case, "e of tau7 by e of tau6, greatest", "", "much worse", None, None, said)
        else:
            yield told("Figure 23", case, "e of tau7 by e of tau6, greatest", "", "much worse", ratio, ratio > 3)


FIGURES: dict[int, Callable[[Way], Iterator[Record]]] = {
    int(name.removeprefix("figure_")): made
    for name, made in sorted({**vars(histories), **globals()}.items())
    if name.startswith("figure_")
}


def records(figure: int, full: bool = False) -> Iterator[Record]:
    """What the text says of a figure beside what we compute; full: the paper's grid."""
    if figure not in FIGURES:
        raise ValueError(f"no figure {figure} of akhadkar2016; there are {min(FIGURES)} to {max(FIGURES)}")
    yield from FIGURES[figure](Way(full))
