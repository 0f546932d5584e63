"""The headline numbers of a run: what they are called, what they are measured by, and what is small beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..model.mechanism import Mechanism

if TYPE_CHECKING:
    from xarray import Dataset

# headline numbers, and the families in which one is small beside another
HEADLINES = {
    "angle": "angles", "x": "places", "y": "places",
    "peak_force": "forces", "peak_force_x": "forces", "peak_force_y": "forces",
    "peak_moment": "forces", "peak_effort": "forces", "peak_normal": "forces", "least_normal": "forces",
    "peak_normal_sum": "forces", "peak_impulse": "impulses", "joint_impulse": "impulses",
    "peak_depth": "depths", "impacts": "counts",
    "peak_x_acceleration": "accelerations", "peak_y_acceleration": "accelerations",
    "peak_angle_acceleration": "angular accelerations",
    "share_free": "shares", "share_sliding": "shares", "share_sticking": "shares",
    "work": "energies", "impact_loss": "energies", "friction_loss": "energies",
    "contact_normal_work": "energies", "contact_friction_work": "energies", "contact_stored": "energies",
    "error_max": "errors", "error_rms": "errors", "control_max": "controls", "control_rms": "controls",
}  # fmt: skip
MOST = ("peak", "joint_impulse", "error_max", "control_max")  # the largest of a motion, often one that three runs share
ABSENT = ("peak_moment", "peak_normal_sum", "peak_force_", "peak_x_", "peak_y_", "peak_angle_")  # not told where 0
REACTIONS = [name for name, family in HEADLINES.items() if family in ("forces", "impulses")]
NAMES = (*HEADLINES, *(f"{name}_settled" for name in HEADLINES))
Headlines = dict[str, np.ndarray]


class Headline(NamedTuple):
    """A headline number: its name, value and unit, what it is measured by, and its family."""

    name: str
    value: float
    unit: str
    scale: float
    family: str


def last(run: Dataset) -> Headlines:
    """The headline numbers of a result, by variable; of what depends on time the last."""
    found = {name: run.variables[name] for name in NAMES if name in run.variables}
    return {name: np.atleast_1d(one.values[-1] if "time" in one.dims else one.values) for name, one in found.items()}


def headlines(run: Dataset, mechanism: Mechanism) -> dict[str, list[Headline]]:
    """The headline numbers of a run by variable, such as `crank.angle`, `J2.peak_force` and `impact_loss`, measured by
    themselves or, of a coordinate or an energy, by its range."""
    found: dict[str, list[Headline]] = {}
    for name, values in last(run).items():
        family, variable = HEADLINES[name.removesuffix("_settled")], run.variables[name]
        dimension = variable.dims[-1] if variable.dims and variable.dims[-1] != "time" else ""
        labels = [str(label) for label in run.variables[dimension].values] if dimension else [""]
        units = units_of(run, mechanism, name, str(dimension), labels)
        scales = scales_of(run, name, values)
        names = [f"{label}.{name}" if label else name for label in labels]
        found[name] = [
            Headline(key, float(x), unit, float(scale), family)
            for key, x, unit, scale in zip(names, values, units, scales, strict=True)
        ]
    return found


def scales_of(run: Dataset, name: str, values: np.ndarray) -> np.ndarray:
    """What some numbers are measured by.  Work that bodies give and get back comes to nothing in the end, and what
    contacts store is part of what their normal forces did: both by the range of the work, which samples may miss; that
    of drives and motors also by the kinetic energy."""
    first, family = name.removesuffix("_settled"), HEADLINES[name.removesuffix("_settled")]
    if family in ("angles", "places"):
        return np.asarray(np.ptp(run.variables[name].values, axis=0))
    if family == "energies":
        over = run.variables["contact_normal_work" if first == "contact_stored" else first].values
        late = run.time.values >= (run.attrs["settled"] if name != first else 0.0)
        least = run.variables["kinetic"].values.max(initial=0.0) if first == "work" else 0.0
        return np.maximum(np.abs(values), max(least, np.ptp(over[late]) if late.any() else 0.0))
    return np.ones_like(values) if family == "shares" else np.abs(values)


def units_of(run: Dataset, mechanism: Mechanism, name: str, dimension: str, labels: Sequence[str]) -> list[str]:
    """The units of some numbers: drives, channels and actuators have their own, and contacts those of their gaps."""
    if dimension == "drive":
        return [mechanism.drives[label].effort_unit.replace(" ", "*") for label in labels]
    if f"{dimension}_unit" in run.variables:
        return [str(unit) for unit in run.variables[f"{dimension}_unit"].values]
    unit = str(run.variables[name].attrs.get("units", "1"))
    if dimension == "contact":
        return [unit.split(" or ")[-1 if mechanism.gap_unit(label) == "rad" else 0] for label in labels]
    return [unit] * len(labels)


def largest(found: Mapping[str, list[Headline]], run: Dataset) -> dict[str, float]:
    """The largest of each family of numbers, beside which rounding is small."""
    beside = {"energies": "kinetic", "errors": "reference"}
    most = {family: float(np.ptp(run.variables[name].values, axis=0).max(initial=0.0))
            for family, name in beside.items() if name in run.variables}  # fmt: skip
    for one in (one for some in found.values() for one in some):
        size = max(one.scale, abs(one.value))  # what rests has no range
        if math.isfinite(size):
            most[one.family] = max(most.get(one.family, 0.0), size)
    return most
