"""Sampled signals of results: how far two runs are apart, when a signal passes a mark, what is between samples."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .errors import InputError

if TYPE_CHECKING:
    from xarray import DataArray, Dataset


def apart(run: Dataset, twin: Dataset, name: str = "angle", begin: float = 0.0) -> DataArray:
    """A coordinate of the bodies of a run (`angle`, `x`, `y`) less that of a twin, from `begin` (s) on, while both ran.

    The two may have samples at different times: between its own, the twin's are interpolated by their rates.
    """
    late = together(run["time"].values, twin["time"].values, begin)
    one = run[name].isel(time=late)
    return one - along(twin["time"].values, twin[name].values, twin[f"{name}_rate"].values, one["time"].values)


def together(time: np.ndarray, theirs: np.ndarray, begin: float) -> np.ndarray:
    """Which samples of a run are from a time (s) on and not beyond those of its twin."""
    late: np.ndarray = (time >= begin - 1e-9) & (time <= theirs.max(initial=-1.0))
    return late


def along(time: np.ndarray, values: np.ndarray, rates: np.ndarray, at: np.ndarray) -> np.ndarray:
    """A sampled coordinate at other times, between its samples by its rates."""
    if np.isin(at, time).all():
        found: np.ndarray = values[np.searchsorted(time, at)]
        return found
    from scipy.interpolate import CubicHermiteSpline  # type: ignore[import-untyped]

    found = CubicHermiteSpline(time, values, rates)(at)
    return found


def when(
    run: Dataset, name: str, label: str | None = None, *, above: float | None = None, below: float | None = None,
    begin: float = 0.0,
) -> float:  # fmt: skip
    """The first time (s), from `begin` (s) on, at which a signal of a result is above or below a mark; NaN if never.

    name, label: such as "x", "ram".  Between samples a coordinate follows its rates, another signal a straight line.

    >>> import jointplay as jp
    >>> fall = jp.simulate(jp.Mechanism(bodies={"ball": {"mass": 1, "inertia": 1}}, gravity=(0, -9.81)), until=1.0)
    >>> round(when(fall, "y", "ball", below=-9.81 / 8), 9)
    0.5
    """
    if (above is None) == (below is None):
        raise InputError("when: give the mark, above= or below=, and one of them")
    if name not in run or "time" not in run[name].dims:
        raise InputError(f"when: the run has no signal {name!r} over time")
    signals = [run[n] for n in (name, f"{name}_rate") if n in run]
    for dimension in run[name].dims[1:]:
        known = [str(x) for x in run[dimension].values]
        if label not in known:
            raise InputError(f"when: {name} has {dimension}s {', '.join(known)}, got {label!r}")
        signals = [signal.isel({dimension: known.index(label)}) for signal in signals]
    late = run["time"].values >= begin - 1e-9
    values = [signal.values[late] for signal in signals]
    sign, mark = (1.0, above) if above is not None else (-1.0, below)
    return passing(run["time"].values[late], sign * (values[0] - mark), sign * values[1] if len(values) > 1 else None)


def passing(time: np.ndarray, values: np.ndarray, rates: np.ndarray | None = None) -> float:
    """The first time (s) at which a sampled signal is above 0; between samples by its rates if they are given."""
    up = np.flatnonzero(values > 0)
    if not len(up):
        return math.nan
    i = int(up[0])
    if i == 0:
        return float(time[0])
    (t, u), (a, b) = time[i - 1 : i + 1].tolist(), values[i - 1 : i + 1].tolist()
    if rates is None:
        return float(t + (u - t) * (a / (a - b)))
    from scipy.interpolate import CubicHermiteSpline
    from scipy.optimize import brentq  # type: ignore[import-untyped]

    return float(brentq(CubicHermiteSpline((t, u), (a, b), rates[i - 1 : i + 1]), t, u, xtol=1e-15))


def deviation(run: Dataset, twin: Dataset, begin: float = 0.0) -> DataArray:
    """How far each body's angle is from that of the ideal twin at most, from `begin` (s) on, in percent of the twin's
    largest angle: e_p of Akhadkar et al. 2016, equation 16, whose e is the largest for crank and rocker.

    Both runs should have the same controller, step and scheme, so that only the play is told.
    """
    off = abs(apart(run, twin, begin=begin))
    if not off.sizes["time"]:
        raise InputError(f"the runs have no samples in common from t = {begin:g} s on; let both run longer")
    largest = abs(twin["angle"].sel(time=off["time"], method="nearest")).max("time")
    found = 100 * off.max("time") / largest
    return found.assign_attrs(units="%", long_name=f"largest deviation from the twin, from {begin:g} s on")
