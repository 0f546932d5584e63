"""What a run itself knows of the errors of its numbers, beside its companions: they take much the same steps as the
run, and may miss the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.checks import sizes
from ..model.mechanism import Mechanism
from ..parts.motions import Sum
from ..parts.tables import Table
from ..physics.knots import motions

if TYPE_CHECKING:
    from xarray import Dataset

FEW = 100  # samples that tell a mean
BRIEF = 3  # knots of a motion between the samples on both sides: they do not show what happens there
AGREED = 0.1  # of what a run differs from them: companions that agree so well do not approach it, nor it them,
SPIKE = 0.01  # of a number: if it is larger than theirs by more
FEEBLE = 1e-2  # of the largest impulse of a contact: whether so weak an impact is counted depends on the tolerance
# signals of what has a peak
SEEN = {"force": ("force_x", "force_y"), "moment": ("moment",), "effort": ("effort",), "normal": ("normal_force",)}
SEEN |= {name: (name,) for name in ("force_x", "force_y", "x_acceleration", "y_acceleration", "angle_acceleration")}


def unmatched(value: float, others: Sequence[float]) -> bool:
    """Whether a largest value is a spike that the others lack, who agree on a lower one: they do not converge then, and
    all of the difference is its error."""
    above = value - max(others)
    return len(others) > 1 and above > SPIKE * value and max(others) - min(others) < AGREED * above


def unlike(run: Dataset, channel: int, value: float) -> float:
    """How far the root mean square of a tracking error is from that of its samples: it is summed over a few looks at
    each step, and companions may take the same steps."""
    from scipy.integrate import simpson  # type: ignore[import-untyped]

    late = run.time.values >= run.attrs["control_settled"]
    time, off = run.time.values[late], run.variables["tracking_error"].values[late, channel]
    if len(time) < FEW or not time[-1] > time[0]:
        return 0.0
    return abs(value - math.sqrt(max(simpson(off * off, x=time), 0.0) / (time[-1] - time[0])))


def unbalanced(run: Dataset, mechanism: Mechanism) -> dict[str, float]:
    """What accelerations would be if the largest force of a body's joints were not balanced (m/s^2, rad/s^2), by the
    name of their peak: beside these accelerations of what rests are rounding."""
    found: dict[str, float] = {}
    forces = run.variables["peak_force"].values.tolist() if mechanism.joints else []
    peaks = dict(zip(mechanism.joints, forces, strict=True))
    far = sizes(mechanism)
    for name, body in mechanism.bodies.items():
        most = max((peaks[one] for one, joint in mechanism.joints.items() if name in joint.bodies()), default=0.0)
        linear = most / body.mass if body.mass else 0.0
        found |= {f"{name}.peak_{axis}_acceleration": linear for axis in "xy"}
        found[f"{name}.peak_angle_acceleration"] = most * far.get(name, 0.0) / body.inertia if body.inertia else 0.0
    return found


def sampled(run: Dataset, variable: str, i: int) -> np.ndarray:
    """The sizes of what has a peak at the samples; none if it has no samples."""
    what = variable.removesuffix("_settled").removeprefix("peak_")
    parts = [run.variables[name].values[:, i] for name in SEEN.get(what, ()) if name in run.variables]
    found: np.ndarray = np.sqrt(sum((part * part for part in parts), start=np.zeros(len(run.time) if parts else 0)))
    return found


def first_of_all(run: Dataset, variable: str, i: int, value: float) -> bool:
    """Whether a peak is that of the start, which no step has made."""
    size = np.abs(run.variables["control"].values[:, i]) if variable == "control_max" else sampled(run, variable, i)
    return bool(len(size) and size[0] == value)


def by_samples(run: Dataset, variable: str, i: int, value: float, mechanism: Mechanism, alike: bool) -> float:
    """How far a number is off, as its samples show it; alike: whether companions take the steps of the run."""
    found = unlike(run, i, value) if variable == "error_rms" else 0.0
    found = max(found, surpassed(run, variable, i, value)) if variable.startswith("peak") else found
    return max(found, beside_samples(run, variable, i, value, mechanism)) if alike else found


def surpassed(run: Dataset, variable: str, i: int, value: float) -> float:
    """By how much samples surpass a peak: a step that ends in an impact is not looked at for it, nor is all that is
    between looks, and companions may miss the same."""
    size = sampled(run, variable, i)
    late = run.time.values[: len(size)] >= (run.attrs["settled"] if variable.endswith("_settled") else 0.0)
    return max(0.0, float(size[late].max(initial=0.0)) - value)


def beside_samples(run: Dataset, variable: str, i: int, value: float, mechanism: Mechanism) -> float:
    """How far a peak is from the top of the parabola through the samples about it: what is driven moves without error,
    companions take the same steps, and their difference says nothing of what lies between the looks at these.  Of a
    pulse that is briefer than samples are apart they know less than the steps, which end at its knots."""
    size = sampled(run, variable, i)
    rattles = "impact_normal" in run.variables  # and has peaks between samples that companions share
    if not len(size) or rattles or f"{variable}_time" not in run.variables or len(run.time) < FEW:
        return 0.0
    when = float(run.variables[f"{variable}_time"].values[i])
    near = int(np.abs(run.time.values - when).argmin())
    apart = float(np.diff(run.time.values).max())
    if any(brief(motion, when, apart) for _, motion in motions(mechanism)):
        return 0.0
    around = slice(max(near - 2, 0), near + 3)
    top = around.start + int(size[around].argmax())
    if 0 < top < len(size) - 1 and (bend := size[top - 1] - 2 * size[top] + size[top + 1]) < 0:
        return abs(value - float(size[top] - (size[top + 1] - size[top - 1]) ** 2 / (8 * bend)))
    return abs(value - float(size[top]))


def brief(motion: Any, when: float, apart: float) -> bool:
    """Whether a motion, or a term of it, has several knots within so much time (s) before and behind a time."""
    if isinstance(motion, Sum):
        return any(brief(term, when, apart) for term in motion.terms)
    if not isinstance(motion, Table):
        return bool(motion.shortest() * (BRIEF - 1) <= 2 * apart)
    away, cycle = np.abs(np.array(motion.times) - when), motion.cycle()
    away = np.abs(away - cycle * np.round(away / cycle)) if math.isfinite(cycle) else away
    return int((away <= apart).sum()) >= BRIEF


def feeble(run: Dataset, name: str) -> int:
    """How many impacts of a contact are so weak beside its strongest that a tolerance decides whether they count: those
    that a journal coming to rest makes have no end."""
    label, _, kind = name.rpartition(".")
    if "impact_normal" not in run.variables:
        return 0
    mine = run.variables["impact_contact"].values == label
    if kind.endswith("_settled"):
        mine = mine & (run.variables["impact_time"].values >= run.attrs["settled"])
    strengths = np.abs(run.variables["impact_normal"].values[mine])
    return int((strengths < FEEBLE * strengths.max(initial=0.0)).sum())
