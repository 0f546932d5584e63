"""Numbers of a run by names: `error_max[crank]`, `peak_force[J2]`, `rms(torque[motor])`, `deviation[rocker]`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.evidence import VERDICTS
from ..comparison import LOSSES
from ..errors import InputError
from ..model.parts import suggestion
from ..results import apart, deviation

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

STATISTICS: dict[str, Callable[[np.ndarray], float]] = {
    "max": np.max,
    "min": np.min,
    "mean": np.mean,
    "rms": lambda x: math.sqrt(float(np.mean(np.square(x)))),
    "peak": lambda x: float(np.max(np.abs(x))),
    "final": lambda x: x[-1],
}
TEXTS = {"max": "largest", "min": "smallest", "mean": "mean of", "rms": "rms of", "peak": "largest magnitude of"}
_METRIC = re.compile(r"\s*(?:(\w+)\s*\(\s*)?(\w+)(?:\s*\[\s*([^\[\]]+?)\s*\])?\s*(\))?\s*")
SIZES = {"force": ("force_x", "force_y", "joint"), "acceleration": ("x_acceleration", "y_acceleration", "body")}
TORQUES = {"control": "actuator", "effort": "drive"}
DEVIATION, SHIFT, LOST = "deviation", "shift", "energy_lost"
ANALYSES: dict[str, dict[str, str]] = {  # of the model, not of the run: two trajectories of it
    "verdict": {
        "long_name": "kind of motion",
        "flag_meanings": " ".join(VERDICTS),
        "flag_values": " ".join(str(i) for i in range(len(VERDICTS))),
    },
    "exponent": {"units": "1/s", "long_name": "largest Lyapunov exponent"},
}


@dataclass(frozen=True)
class Metric:
    """What is computed of a run: a statistic of a signal, a quantity of the result, or a function of it."""

    quantity: str
    label: str = ""
    statistic: str = ""
    function: Callable[[Any], Any] | None = None

    @property
    def name(self) -> str:
        """Its name in the table."""
        what = f"{self.quantity}[{self.label}]" if self.label else self.quantity
        return f"{self.statistic}({what})" if self.statistic else what

    @property
    def twin(self) -> bool:
        """Whether it needs a run of the ideal twin."""
        return self.quantity in (DEVIATION, SHIFT) and self.function is None

    @property
    def analysis(self) -> bool:
        """Whether it needs two trajectories of the model in place of a run."""
        return self.function is None and self.name in ANALYSES

    def of(self, run: Dataset, twin: Dataset | None, settled: float) -> dict[str, float]:
        """Its number by its name; NaN where the run has no such quantity."""
        if self.function is not None:
            given = self.function(run)
            named = given if isinstance(given, Mapping) else {self.name: given}
            return {str(key): float(x) for key, x in named.items()}
        array = quantity(run, twin, self.quantity, self.label, settled)
        if array is None:
            return {self.name: math.nan}
        if not self.statistic:
            return {self.name: float(array)}
        values = array.values[array["time"].values >= settled - 1e-9]
        return {self.name: float(STATISTICS[self.statistic](values)) if len(values) else math.nan}


def read_metrics(given: Any) -> tuple[Metric, ...]:
    """The metrics that somebody asks for: texts and functions."""
    listed = [given] if isinstance(given, str) or callable(given) else list(given or ())
    found = []
    for one in listed:
        if callable(one):
            found.append(Metric(str(getattr(one, "__name__", "metric")), function=one))
            continue
        match = _METRIC.fullmatch(one) if isinstance(one, str) else None
        if match is None or bool(match[1]) != bool(match[4]):
            text = "must be a name such as 'peak_force[J2]' or 'rms(torque[motor])', or a function of the result"
            raise InputError(f"metric {one!r}: {text}")
        statistic, name, label, _ = match.groups()
        if statistic and statistic not in STATISTICS:
            raise InputError(f"metric {one!r}: no statistic {statistic!r}{suggestion(statistic, STATISTICS)}")
        found.append(Metric(name, label or "", statistic or ""))
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"metric {name!r} is asked for twice; keep one")
    return tuple(found)


def quantity(run: Dataset, twin: Dataset | None, name: str, label: str, settled: float) -> DataArray | None:
    """A quantity of a result: over time, or one number; None where this run has none."""
    array = whole(run, twin, name, label, settled)
    if array is None:
        return None
    for dimension in array.dims:
        if dimension != "time":
            known = [str(x) for x in run[dimension].values]
            if label not in known:
                return None
            array = array.isel({dimension: known.index(label)})
    return array


def whole(run: Dataset, twin: Dataset | None, name: str, label: str, settled: float) -> DataArray | None:
    """A quantity of a result with its labels."""
    import xarray

    if name == DEVIATION:
        return None if twin is None else deviation(run, twin, settled)
    if name == SHIFT:
        return None if twin is None else shift(run, twin, settled)
    if name == LOST:
        ends = [LOSSES[part] * float(run[part][-1]) for part in LOSSES if part in run and run.sizes["time"]]
        return xarray.DataArray(float(sum(ends)), attrs={"units": "J", "long_name": "energy lost in contacts"})
    if name in SIZES:
        x, y, _ = SIZES[name]
        if x not in run:
            return None
        size = np.hypot(run[x].values, run[y].values)
        return run[x].copy(data=size).assign_attrs(long_name=name)
    if name == "torque":
        held = [part for part, dimension in TORQUES.items() if part in run and label in run[dimension].values]
        name = held[0] if held else next((part for part in TORQUES if part in run), name)
    return run.get(name)


def shift(run: Dataset, twin: Dataset, begin: float = 0.0) -> DataArray:
    """How far each body's mass centre is from that of the ideal twin at most, from `begin` (s) on (m)."""
    off = [apart(run, twin, name, begin) for name in "xy"]
    far = np.hypot(off[0].values, off[1].values)
    if not len(far):
        raise InputError(f"the runs have no samples in common from t = {begin:g} s on; let both run longer")
    said = {"units": "m", "long_name": "largest distance from the mechanism with ideal joints"}
    return off[0].isel(time=0, drop=True).copy(data=far.max(axis=0)).assign_attrs(said)


def known_names(runs: Iterable[Dataset]) -> list[str]:
    """The quantities that some results have."""
    found = [DEVIATION, SHIFT, LOST, *SIZES, "torque", *ANALYSES]
    for run in runs:
        found += [
            str(name)
            for name, array in run.data_vars.items()
            if np.issubdtype(array.dtype, np.number) or array.dtype == bool
        ]
    return list(dict.fromkeys(found))


def expanded(metrics: Sequence[Metric], runs: Sequence[tuple[Dataset, Dataset | None]], settled: float) -> list[Metric]:
    """Metrics of one number each, by trial runs: `peak_force` is that of every joint; what no run has is refused."""
    found: list[Metric] = []
    for metric in metrics:
        if metric.function is not None or metric.analysis:
            found.append(metric)
            continue
        tried = [(whole(run, twin, metric.quantity, metric.label, settled), run) for run, twin in runs]
        have = [(array, run) for array, run in tried if array is not None]
        if not have:
            known = known_names(run for run, _ in runs)
            raise InputError(
                f"metric {metric.name!r}: no run has {metric.quantity!r}{suggestion(metric.quantity, known)}"
            )
        found += _labelled(metric, have)
    return found


def _labelled(metric: Metric, have: Sequence[tuple[DataArray, Dataset]]) -> list[Metric]:
    labels = list(
        dict.fromkeys(str(x) for array, run in have for d in array.dims if d != "time" for x in run[d].values)
    )
    array = have[0][0]
    others = [d for d in array.dims if d != "time"]
    if len(others) > 1:
        raise InputError(f"metric {metric.name!r}: {metric.quantity} is a table over {', '.join(map(str, others))}; "
                         "give a function of the result")  # fmt: skip
    if "time" in array.dims and not metric.statistic:
        some = f"max({metric.name})"
        raise InputError(f"metric {metric.name!r} is a signal over time; say which number of it, such as {some!r}")
    if "time" not in array.dims and metric.statistic:
        raise InputError(
            f"metric {metric.name!r}: {metric.quantity} is no signal over time; leave {metric.statistic} out"
        )
    if metric.label and metric.label not in labels:
        where = f"{others[0]}s" if others else "no labels"
        raise InputError(f"metric {metric.name!r}: {metric.quantity} has {where}{suggestion(metric.label, labels)}")
    if metric.label or not others:
        return [metric]
    return [Metric(metric.quantity, label, metric.statistic) for label in labels]


def described(metric: Metric, run: Dataset, twin: Dataset | None, settled: float) -> dict[str, str]:
    """Unit and long name of a metric, from a result that has it."""
    if metric.function is not None:
        return {"long_name": (metric.function.__doc__ or metric.name).strip().splitlines()[0]}
    if metric.analysis:
        return dict(ANALYSES[metric.name])
    array = quantity(run, twin, metric.quantity, metric.label, 0.0)  # a trial run may be shorter
    if array is None:
        return {}
    unit = str(array.attrs.get("units", ""))
    for dimension in ("channel", "actuator"):
        if f"{dimension}_unit" in run and metric.label in run[dimension].values:
            told = run[f"{dimension}_unit"].values[list(run[dimension].values).index(metric.label)]
            unit = str(told) if " or " in unit else unit
    text = (
        "largest deviation from the mechanism with ideal joints"
        if metric.quantity == DEVIATION
        else str(array.attrs.get("long_name", metric.quantity))
    )
    what = f"{text}, {metric.label}" if metric.label else text
    counts = metric.twin or (metric.statistic and metric.statistic != "final")
    late = f", from {settled:g} s on" if counts and settled else ""
    if metric.statistic:
        what = f"{what} at the end" if metric.statistic == "final" else f"{TEXTS[metric.statistic]} {what}"
    return ({"units": unit} if unit else {}) | {"long_name": what + late}
