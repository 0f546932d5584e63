"""Whether a Dataset is a result as this package writes it: files are altered, cut and mixed up elsewhere."""

from __future__ import annotations

import json
import math
import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from xarray import Dataset

TEXTS = ("title", "model", "version", "outcome", "outcome_text", "stepper", "judgement", "judgement_text",
         "not_determined")  # fmt: skip
NUMBERS = ("outcome_time", "until", "every", "steps", "attempts", "degrees_of_freedom", "settled", "control_settled")
LISTS = ("notes", "redundant", "open_reactions")  # of texts, as JSON
WORDS = ("actuator_unit", "channel_unit", "impact_contact")  # variables that hold texts
# The dimensions of what figures and pages read; other variables may be anything.
ALONG = {
    ("time", "body"): "x y angle x_rate y_rate angle_rate x_acceleration y_acceleration angle_acceleration "
    "x_error y_error angle_error",
    ("time", "joint"): "force_x force_y moment",
    ("time", "row"): "multiplier",
    ("time", "drive"): "effort",
    ("time", "contact"): "gap slip normal_force friction_force mode",
    ("time", "journal"): "place_x place_y",
    ("time", "actuator"): "control",
    ("time", "channel"): "reference tracking_error",
    ("time",): "kinetic potential work impact_loss friction_loss contact_normal_work contact_friction_work",
    ("joint",): "peak_force peak_force_time peak_moment peak_moment_time",
    ("drive",): "peak_effort peak_effort_time",
    ("contact",): "share_free share_sliding share_sticking impacts",
    ("impact",): "impact_time impact_contact impact_normal impact_force impact_approach impact_lost",
    ("actuator",): "actuator_unit control_max control_rms",
    ("channel",): "channel_unit error_max error_rms",
}
DIMENSIONS = {name: dims for dims, names in ALONG.items() for name in names.split()}
# What comes together: a figure that finds the first of a line reads the others too.
TOGETHER = (
    "x y angle",
    "force_x force_y",
    "peak_force peak_force_time",
    "peak_moment peak_moment_time",
    "peak_effort peak_effort_time",
    "gap mode",
    "impact_time impact_contact impact_approach",
    "control actuator_unit control_max",
    "reference tracking_error channel_unit error_max error_rms",
    "kinetic potential",
)
NOTHING, KNOWN = 1e-9, 1e-3  # SI units, and of itself: a smaller number is rounding if its error is not smaller
LEAST, UNSURE = 1e-15, 0.1  # the same of forces, energies and the like: those of tiny mechanisms are as small


def mistaken(path: Path) -> str:
    """What a path is that is taken for a result, and what to do with it; empty if it may be one."""
    if os.path.exists(path / "zarr.json"):
        return "study; jointplay report makes its page, jointplay sweep replay a result of one of its runs"
    if os.path.isdir(path):
        return "directory; give the name of a result file"
    if path.suffix.lower() in (".yaml", ".yml") and os.path.exists(path):
        return f"model file, not a result; jointplay run {shlex.quote(str(path))} makes one"
    return ""


def flaw(run: Dataset) -> str:
    """What is first found wrong with a result, in a few words; empty if it looks right."""
    return next(flaws(run), "")


def flaws(run: Dataset) -> Iterator[str]:
    """Everything that is wrong with a result."""
    yield from _attributes(run.attrs)
    yield from _labels(run)
    yield from _variables(run)


def _attributes(attrs: dict[str, Any]) -> Iterator[str]:
    for name in TEXTS:
        if not isinstance(attrs.get(name, ""), str):
            yield f"the attribute {name} is not a text"
    for name in NUMBERS:
        value = attrs.get(name, 0)
        if not isinstance(value, int | float | np.number) or not math.isfinite(value):
            yield f"the attribute {name} is not a number"
    for name in LISTS:
        found = _json(attrs.get(name, "[]"))
        if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
            yield f"the attribute {name} is not a JSON list of texts"
    if not _estimated(_json(attrs.get("errors", "[]"))):
        yield "the attribute errors is not what a run writes"
    if not _audited(_json(attrs.get("audit", "{}"))):
        yield "the attribute audit is not what a run writes"


def _estimated(found: Any) -> bool:
    """Whether errors are a list of numbers, each with name, value, unit, error and whether it is determined."""
    kinds = {"name": str, "value": int | float, "unit": str, "error": int | float | None, "determined": bool}
    kinds["scale"] = int | float
    return isinstance(found, list) and all(
        isinstance(one, dict) and all(key in one and isinstance(one[key], kind) for key, kind in kinds.items())
        for one in found
    )


def _audited(found: Any) -> bool:
    """Whether an audit is numbers by their names, or a list of such findings, each with its name and value."""
    values: list[Any] = list(found.values()) if isinstance(found, dict) else []
    if isinstance(found, list) and all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in found):
        values = [one.get(key) for one in found for key in ("value", "limit")]
        if not all(isinstance(one.get(key) or "", str) for one in found for key in ("unit", "judgement")):
            return False
    elif not isinstance(found, dict):
        return False
    return all(value is None or isinstance(value, int | float) for value in values)


def _json(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return None


def _labels(run: Dataset) -> Iterator[str]:
    time = run["time"] if "time" in run.coords else None
    if time is None or time.dims != ("time",) or time.dtype.kind not in "fiu":
        yield "time is not a coordinate of numbers"
    elif not np.isfinite(time.values).all() or (np.diff(time.values) <= 0).any():
        yield "time does not increase"
    known = {dim for dims in DIMENSIONS.values() for dim in dims} - {"time", "impact"}
    for name in sorted(known & {str(dim) for dim in run.dims}):
        if name not in run.coords or run[name].dims != (name,):
            yield f"{name} has no labels"
            continue
        labels = run[name].values.tolist()
        if not all(isinstance(label, str) for label in labels):
            yield f"the labels of {name} are not texts"
        elif len(set(labels)) < len(labels):
            yield f"the labels of {name} are not all different"


def _variables(run: Dataset) -> Iterator[str]:
    for name, variable in run.data_vars.items():
        if str(name) not in DIMENSIONS:
            continue
        dims = DIMENSIONS[str(name)]
        if variable.dims != dims:
            yield f"{name} is given along {', '.join(map(str, variable.dims)) or 'nothing'}, not {', '.join(dims)}"
        elif name in WORDS:
            if not all(isinstance(text, str) for text in variable.values.tolist()):
                yield f"{name} does not hold texts"
        elif variable.dtype.kind not in "fiub":
            yield f"{name} does not hold numbers"
        elif name in ("x", "y", "angle") and not np.isfinite(variable.values).all():
            yield f"{name} holds numbers that are not finite"
    for names in TOGETHER:
        first, *others = names.split()
        lacking = [other for other in others if first in run and other not in run]
        if lacking:
            yield f"it has {first}, but no {lacking[0]}"


def rounding(entry: Mapping[str, Any]) -> bool:
    """Whether a headline number is nothing but rounding, beside its error and, where it is no length and no angle, by
    being called determined all the same, which it is beside the largest of its kind.

    >>> known = {"unit": "J", "determined": True}
    >>> rounding(known | {"value": 2e-11, "error": 1e-13}), rounding(known | {"value": 2e-17, "error": 1e-17})
    (False, True)
    """
    value, error = abs(entry["value"]), entry["error"]
    if error is None:
        return False
    if entry["unit"] in ("m", "rad"):
        return bool(KNOWN * value <= error < NOTHING - value)
    return bool(UNSURE * value <= error < (NOTHING if entry["determined"] else LEAST) - value)
