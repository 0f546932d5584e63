"""What a run itself knows of the errors of its numbers, beside its companions: they take much the same steps as the
run, and may miss the same."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from xarray import Dataset

FEW = 100  # samples that tell a mean
FEEBLE = 1e-2  # of the largest impulse of a contact: whether so weak an impact is counted depends on the tolerance
# signals of what has a peak
SEEN = {"force": ("force_x", "force_y"), "moment": ("moment",), "effort": ("effort",), "normal": ("normal_force",)}


def unlike(run: Dataset, channel: int, value: float) -> float:
    """How far the root mean square of a tracking error is from that of its samples: it is summed over a few looks at
    each step, and companions may take the same steps."""
    from scipy.integrate import simpson  # type: ignore[import-untyped]

    late = run.time.values >= run.attrs["control_settled"]
    time, off = run.time.values[late], run.variables["tracking_error"].values[late, channel]
    if len(time) < FEW or not time[-1] > time[0]:
        return 0.0
    return abs(value - math.sqrt(max(simpson(off * off, x=time), 0.0) / (time[-1] - time[0])))


def sampled(run: Dataset, variable: str, i: int) -> np.ndarray:
    """The sizes of what has a peak at the samples; none if it has no samples."""
    what = variable.removesuffix("_settled").removeprefix("peak_")
    parts = [run.variables[name].values[:, i] for name in SEEN.get(what, ()) if name in run.variables]
    found: np.ndarray = np.sqrt(sum((part * part for part in parts), start=np.zeros(len(run.time) if parts else 0)))
    return found


def surpassed(run: Dataset, variable: str, i: int, value: float) -> float:
    """By how much samples surpass a peak: a step that ends in an impact is not looked at for it, nor is all that is
    between looks, and companions may miss the same."""
    size = sampled(run, variable, i)
    late = run.time.values[: len(size)] >= (run.attrs["settled"] if variable.endswith("_settled") else 0.0)
    return max(0.0, float(size[late].max(initial=0.0)) - value)


def beside_samples(run: Dataset, variable: str, i: int, value: float) -> float:
    """How far a peak is from the top of the parabola through the samples about it: what is driven moves without error,
    companions take the same steps, and their difference says nothing of what lies between the looks at these."""
    size = sampled(run, variable, i)
    rattles = "impact_normal" in run.variables  # and has peaks between samples that companions share
    if not len(size) or rattles or f"{variable}_time" not in run.variables or len(run.time) < FEW:
        return 0.0
    near = int(np.abs(run.time.values - float(run.variables[f"{variable}_time"].values[i])).argmin())
    around = slice(max(near - 2, 0), near + 3)
    top = around.start + int(size[around].argmax())
    if 0 < top < len(size) - 1 and (bend := size[top - 1] - 2 * size[top] + size[top + 1]) < 0:
        return abs(value - float(size[top] - (size[top + 1] - size[top - 1]) ** 2 / (8 * bend)))
    return abs(value - float(size[top]))


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
