"""Adaptive balancing: where counterweights must stand for each payload."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..model.mechanism import Mechanism
from .adjust import Adjustable, Space, adjustables, prepared
from .demands import MOMENTA, OBJECTIVES, demands
from .places import keep_places
from .solver import EXACT, best_design, changing, objective_of

if TYPE_CHECKING:
    import xarray

LINEAR = 1e-7  # relative: places that follow a straight line to this are said to be linear


def adaptive(
    mechanism: Mechanism,
    payload: str,
    values: Iterable[float],
    adjust: str | Iterable[str | Adjustable],
    objective: str = "static",
    *,
    independent: Sequence[Any] | None = None,
) -> xarray.Dataset:
    """The design that balances a mechanism for each value (SI) of a payload, an address such as "payload.weight.mass":
    `design` (payload, address), `residual`, `feasible`, and where the numbers are linear in
    the payload, `offset` and `slope` of each: number = offset + slope * payload.

    >>> from jointplay.model import couple, library
    >>> parts = {"arm": library.rr_arm(), "load": library.point_mass(1.5)}
    >>> weld = {"kind": "weld", "between": ["arm.arm2.end", "load.weight.centre"]}
    >>> whole = couple(parts, joints={"grip": weld}, start={"arm.arm1": 0.5, "arm.arm2": 1.0})
    >>> places = adaptive(whole, "load.weight.mass", [1, 1.5, 2], "arm.arm1:mass=1kg,arm.arm2:mass=1kg")
    >>> places.slope.sel(address="arm.arm2.counterweight.x").item()  # one arm's length per kg
    -0.2
    """
    from xarray import Dataset

    goal = objective_of(objective)
    if goal not in OBJECTIVES:
        raise InputError(f"objective {objective!r}: adaptive balancing needs one of {', '.join(OBJECTIVES)}")
    given = [float(x) for x in values]
    if len(given) < 2:
        raise InputError(f"values of {payload}: give at least two, got {len(given)}")
    asked = adjustables(mechanism, adjust)
    keep_places(mechanism.replace(drives={}), asked)
    designs, residuals = [], []
    between = [(given[0] + given[1]) / 2] if len(given) == 2 else []  # any two numbers are on a straight line
    for x in (*given, *between):
        ready = prepared(mechanism.with_({payload: x}), asked)
        found = demands(ready.replace(drives={}), goal, independent)
        space = Space(ready, asked)
        s = best_design(space, found)
        designs.append(space.design(s))
        residuals.append(found.residual(space.parameters(s)))
    addresses, notes = list(designs[0]), changing(mechanism) if goal not in MOMENTA else []
    table = np.array([[design[a] for a in addresses] for design in designs])
    offset, slope = _lines(np.array([*given, *between]), table)
    table, residuals = table[: len(given)], residuals[: len(given)]
    return Dataset(
        {
            "design": (("payload", "address"), table),
            "residual": (("payload",), np.array(residuals)),
            "feasible": (("payload",), np.array(residuals) <= EXACT),
            "offset": (("address",), offset),
            "slope": (("address",), slope),
        },
        {"payload": given, "address": addresses},
        {"title": mechanism.name, "payload": payload, "objective": goal, "notes": json.dumps(notes)},
    )


def _lines(payload: np.ndarray, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Offset and slope of each column over the payload; nan where it is no straight line."""
    slope, offset = np.polyfit(payload, table, 1)
    off = np.abs(table - np.outer(payload, slope) - offset).max(axis=0)
    straight = off <= LINEAR * np.maximum(np.abs(table).max(axis=0), 1e-3)
    clean = [np.where(np.abs(x) < 1e-12, 0.0, x.round(12)) for x in (offset, slope)]
    return np.where(straight, clean[0], np.nan), np.where(straight, clean[1], np.nan)
