"""Numbers of a run by names: `error_max[crank]`, `peak_force[J2]`, `rms(torque[motor])`, `deviation[rocker]`,
`when(x[ram] above 100 mm)`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..analysis.evidence import VERDICTS
from ..comparison import LOSSES
from ..crossings import passing
from ..errors import InputError
from ..model.parts import suggestion
from ..parts.units import Dimension, UnitError, measured_in, number_form, parse_quantity
from ..series import along, beside, effort_unit, mean, spelled, together
from .recorded import Recorded, RecordedArray

STATISTICS: dict[str, Callable[[np.ndarray], float]] = {  # of the samples that count
    "max": np.max,
    "min": np.min,
    "peak": lambda x: float(np.max(np.abs(x))),
    "final": lambda x: x[-1],
}
MEANS: dict[str, Callable[[np.ndarray, np.ndarray, float], float]] = {  # over the time that counts
    "mean": mean,
    "rms": lambda time, x, begin: math.sqrt(mean(time, np.square(x), begin)),
}
LOOP = ("error_max", "error_rms", "control_max", "control_rms")  # that a control loop counts by itself
WHOLE = "whole"  # of a number without time: over the whole run, not from `settled` on
TEXTS = {"max": "largest", "min": "smallest", "mean": "mean of", "rms": "rms of", "peak": "largest magnitude of"}
_NAME = r"(\w+)(?:\s*\[\s*([^\[\]]+?)\s*\])?\s*"
_METRIC = re.compile(rf"\s*(?:(\w+)\s*\(\s*)?{_NAME}(\))?\s*")
_WHEN = re.compile(rf"\s*(when|later)\s*\(\s*{_NAME}(>|<|\babove\b|\bbelow\b)\s*([^()]+?)\s*\)\s*")
_MARK = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*)")
_PER = re.compile(r"\s*/\s*(\w+)(?:\^(\d+))?")
WHEN, LATER, ABOVE, BELOW = "when", "later", "above", "below"
MOTION = ("angle", "angle_rate", "x", "x_rate", "y", "y_rate")  # by which a run is compared with its ideal twin
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
    sense: str = ""  # above or below: of the time at which a signal passes a mark
    mark: float = 0.0  # in SI units
    written: str = ""  # the mark as it is written, with its unit

    @property
    def name(self) -> str:
        """Its name in the table."""
        what = f"{self.quantity}[{self.label}]" if self.label else self.quantity
        passed = f" {self.sense} {self.written}" if self.sense else ""
        return f"{self.statistic}({what}{passed})" if self.statistic else what

    @property
    def twin(self) -> bool:
        """Whether it needs a run of the ideal twin."""
        return bool(self.signals)

    @property
    def signals(self) -> tuple[str, ...]:
        """The signals by which a run is compared with its ideal twin, if it is."""
        if self.statistic == LATER:
            parts = TORQUES if self.quantity == "torque" else SIZES.get(self.quantity, ())[:2]
            return self.quantity, *beside(self.quantity), *parts
        return MOTION if self.quantity in (DEVIATION, SHIFT) and self.function is None else ()

    @property
    def sampled(self) -> bool:
        """Whether it is taken over samples, so that it knows nothing of what is between them."""
        return self.twin or self.statistic not in ("", WHOLE, "final")

    @property
    def analysis(self) -> bool:
        """Whether it needs two trajectories of the model in place of a run."""
        return self.function is None and self.name in ANALYSES

    def of(self, run: Recorded, twin: Recorded | None, settled: float) -> float:
        """Its number; NaN where the run has no such quantity."""
        found = quantity(run, twin, self.quantity, self.label, 0.0 if self.statistic == WHOLE else settled)
        if found is None:
            return math.nan
        if self.statistic in ("", WHOLE):
            return float(found.values)
        if self.statistic == LATER:
            own, ideal = (math.nan if x is None else self.passed(x, settled) for x in (run, twin))
            return own - ideal if min(own, ideal) > settled else math.nan  # nothing is told if it was there already
        if self.sense:
            return self.passed(run, settled)
        time = run["time"]
        values = found.values[time >= settled - 1e-9]
        if not len(values):
            return math.nan
        if self.statistic in MEANS:
            return MEANS[self.statistic](time, found.values, settled)
        return float(STATISTICS[self.statistic](values))

    def passed(self, run: Recorded, settled: float) -> float:
        """The first time from `settled` on (s) at which the signal of a run is beyond the mark, NaN if it never is."""
        signals = (quantity(run, None, name, self.label, settled) for name in (self.quantity, *beside(self.quantity)))
        values, *known = (None if x is None else x.values for x in signals)
        if values is None:
            return math.nan
        return passing(run["time"], values, self.mark, 1 if self.sense == ABOVE else -1, *known, begin=settled)

    def called(self, run: Any) -> dict[str, float]:
        """What its function makes of a result, by name."""
        assert self.function is not None
        given = self.function(run)
        named = given if isinstance(given, Mapping) else {self.name: given}
        return {str(key): float(x) for key, x in named.items()}


def read_metrics(given: Any) -> tuple[Metric, ...]:
    """The metrics that somebody asks for: texts and functions."""
    listed = [given] if isinstance(given, str) or callable(given) else list(given or ())
    found = []
    for one in listed:
        if callable(one):
            found.append(Metric(str(getattr(one, "__name__", "metric")), function=one))
            continue
        one = _bracketed(one) if isinstance(one, str) else one
        if isinstance(one, str) and (passes := _WHEN.fullmatch(one)):
            found.append(passage(one, *passes.groups()))
            continue
        match = _METRIC.fullmatch(one) if isinstance(one, str) else None
        if match is None or bool(match[1]) != bool(match[4]):
            text = "must be a name such as 'peak_force[J2]', 'rms(torque[motor])' or 'when(x[ram] below 200 mm)',"
            text += " or a function of the result"
            raise InputError(f"metric {one!r}: {text}")
        statistic, name, label, _ = match.groups()
        if statistic in (WHEN, LATER):
            raise InputError(f"metric {one!r}: above or below which mark? such as '{statistic}(x[ram] above 100 mm)'")
        if statistic and statistic not in (*STATISTICS, *MEANS, WHOLE):
            known = [*STATISTICS, *MEANS, WHEN, LATER, WHOLE]
            raise InputError(f"metric {one!r}: no statistic {statistic!r}{suggestion(statistic, known)}")
        found.append(Metric(name, label or "", statistic or ""))
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"metric {name!r} is asked for twice; keep one")
    return tuple(found)


def _bracketed(text: str) -> str:
    """A metric with its signal as studies name it: `when(ram.x above 0.1)` is `when(x[ram] above 0.1)`."""
    found = None if "[" in text else re.search(r"\b[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", text)
    if found is None:
        return text
    label, _, name = spelled(found[0]).rpartition(".")
    return text.replace(found[0], f"{name}[{label}]", 1)


def passage(text: str, statistic: str, name: str, label: str | None, sense: str, mark: str) -> Metric:
    """The time at which a signal passes a mark, or how much later that is than with ideal joints."""
    found = _MARK.fullmatch(mark)
    digits, unit = found.groups() if found else (mark, "")
    try:
        number = parse_quantity(mark, Dimension("a number", unit))  # whether its signal has such a unit, a run tells
    except UnitError as error:
        raise InputError(f"metric {text!r}: the mark {error}") from None
    unit = _PER.sub(lambda per: f" {per[1]}^-{per[2] or 1}", unit)  # names in files have no strokes
    written = f"{repr(float(digits)).removesuffix('.0')} {unit}".rstrip()
    sense = {">": ABOVE, "<": BELOW}.get(sense, sense)
    return Metric(name, label or "", statistic, sense=sense, mark=number, written=written)


def quantity(run: Recorded, twin: Recorded | None, name: str, label: str, settled: float) -> RecordedArray | None:
    """A quantity of a run: over time, or one number; None where this run has none."""
    found = whole(run, twin, name, label, settled)
    for dimension in found.dims if found is not None else ():
        if dimension != "time":
            known = run.labels(dimension)
            if label not in known:
                return None
            found = found.at(dimension, known.index(label))  # type: ignore[union-attr]
    return found


def whole(run: Recorded, twin: Recorded | None, name: str, label: str, settled: float) -> RecordedArray | None:
    """A quantity of a run with its labels, counted from `settled` (s) on."""
    if name == DEVIATION:
        return None if twin is None else deviation(run, twin, settled)
    if name == SHIFT:
        return None if twin is None else shift(run, twin, settled)
    if name == LOST:
        end = "_settled" if settled else ""
        kept = {part: np.atleast_1d(x.values) for part in LOSSES if (x := run.get(part + end))}
        ends = [LOSSES[part] * float(x[-1]) for part, x in kept.items() if len(x)]
        return RecordedArray((), np.array(float(sum(ends))), {"units": "J", "long_name": "energy lost in contacts"})
    if name in SIZES:
        x, y = (run.get(part) for part in SIZES[name][:2])
        if x is None or y is None:
            return None
        return RecordedArray(x.dims, np.hypot(x.values, y.values), {**x.attrs, "long_name": name})
    if name == "torque":
        there = [part for part in TORQUES if run.get(part) is not None]
        name = next((part for part in there if label in run.labels(TORQUES[part])), there[0] if there else name)
    found = run.get(name)
    late = run.get(since(name)) if settled and found is not None and "time" not in found.dims else None
    return found if late is None else late


def since(name: str) -> str:
    """What results call a quantity that is counted from `settled` on."""
    return f"{name.removesuffix('_time')}_settled{'_time' if name.endswith('_time') else ''}"


def apart(run: Recorded, twin: Recorded, name: str, begin: float) -> np.ndarray:
    """A coordinate of all bodies less that of the twin, from `begin` (s) on, while both ran: [time, body]."""
    late = together(run["time"], twin["time"], begin)
    if not late.any():
        raise InputError(f"the runs have no samples in common from t = {begin:g} s on; let both run longer")
    off: np.ndarray = run[name][late] - along(twin["time"], twin[name], twin[f"{name}_rate"], run["time"][late])
    return off


def shift(run: Recorded, twin: Recorded, begin: float = 0.0) -> RecordedArray:
    """How far each body's mass centre is from that of the ideal twin at most, from `begin` (s) on (m)."""
    far = np.hypot(*(apart(run, twin, name, begin) for name in "xy"))
    said = {"units": "m", "long_name": "largest distance from the mechanism with ideal joints"}
    return RecordedArray(("body",), far.max(axis=0), said)


def deviation(run: Recorded, twin: Recorded, begin: float = 0.0) -> RecordedArray:
    """How far each body's angle is from that of the ideal twin at most, as `results.deviation` of two results."""
    off = np.abs(apart(run, twin, "angle", begin))
    time, theirs = run["time"][together(run["time"], twin["time"], begin)], twin["time"]
    after = np.searchsorted(theirs, time).clip(0, len(theirs) - 1)
    before = (after - 1).clip(0)
    nearest = np.where(time - theirs[before] < theirs[after] - time, before, after)
    with np.errstate(all="ignore"):
        found = 100 * np.fmax.reduce(off) / np.fmax.reduce(np.abs(twin["angle"][nearest]))
    said = {"units": "%", "long_name": f"largest deviation from the twin, from {begin:g} s on"}
    return RecordedArray(("body",), found, said)


def known_names(runs: Iterable[Recorded]) -> list[str]:
    """The quantities that some runs have."""
    found = [DEVIATION, SHIFT, LOST, *SIZES, "torque", *ANALYSES]
    for run in runs:
        found += run.names()
    return list(dict.fromkeys(found))


def expanded(
    metrics: Sequence[Metric], runs: Sequence[tuple[Recorded, Recorded | None]], settled: float
) -> list[Metric]:
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
        each = _labelled(metric, have)
        for one in each if metric.sense else ():
            _of_its_kind(one, *have[0])
        found += each
    return found


def _of_its_kind(metric: Metric, array: RecordedArray, run: Recorded) -> None:
    """Refuse a mark in a unit that its signal does not have."""
    unit = unit_of(array, run, metric.label)
    if " or " in unit:
        if " " in metric.written:
            raise InputError(
                f"metric {metric.name!r}: {metric.quantity} is in {unit}; give the mark without a unit, in SI"
            )
        return
    try:
        parse_quantity(metric.written, measured_in(unit))
    except UnitError as error:
        raise InputError(f"metric {metric.name!r}: the mark {error}; give {number_form(unit)}") from None


def _labelled(metric: Metric, have: Sequence[tuple[RecordedArray, Recorded]]) -> list[Metric]:
    labels = list(dict.fromkeys(x for array, run in have for d in array.dims if d != "time" for x in run.labels(d)))
    array = have[0][0]
    others = [d for d in array.dims if d != "time"]
    if len(others) > 1:
        raise InputError(f"metric {metric.name!r}: {metric.quantity} is a table over {', '.join(map(str, others))}; "
                         "give a function of the result")  # fmt: skip
    if "time" in array.dims and not metric.statistic:
        some = f"max({metric.name})"
        raise InputError(f"metric {metric.name!r} is a signal over time; say which number of it, such as {some!r}")
    if "time" in array.dims and metric.statistic == WHOLE:
        raise InputError(f"metric {metric.name!r}: whole takes a number of the run; give settled=0 for all of a signal")
    if "time" not in array.dims and metric.statistic and metric.statistic != WHOLE:
        raise InputError(
            f"metric {metric.name!r}: {metric.quantity} is no signal over time; leave {metric.statistic} out"
        )
    if metric.label and metric.label not in labels:
        where = f"{others[0]}s" if others else "no labels"
        raise InputError(f"metric {metric.name!r}: {metric.quantity} has {where}{suggestion(metric.label, labels)}")
    if metric.label or not others:
        return [metric]
    if not labels:
        raise InputError(f"metric {metric.name!r}: {metric.quantity} is a list; give a function of the result")
    return [replace(metric, label=label) for label in labels]


def unit_of(array: RecordedArray, run: Recorded, label: str) -> str:
    """The unit of a quantity of a run; where labels have different ones, that of this label."""
    unit = str(array.attrs.get("units", ""))
    for dimension in ("channel", "actuator"):
        if label in (labels := run.labels(dimension)) and " or " in unit:
            unit = str(run[f"{dimension}_unit"][labels.index(label)])
    if " or " in unit and label in run.labels("drive"):
        unit = effort_unit(label, run.labels("row"))
    return unit


def described(metric: Metric, run: Recorded, twin: Recorded | None, settled: float, every: float) -> dict[str, str]:
    """Unit and long name of a metric, from a result that has it; every (s): between samples."""
    if metric.function is not None:
        return {"long_name": (metric.function.__doc__ or metric.name).strip().splitlines()[0]}
    if metric.analysis:
        return dict(ANALYSES[metric.name])
    array = quantity(run, twin, metric.quantity, metric.label, 0.0)  # a trial run may be shorter
    if array is None:
        return {}
    unit = unit_of(array, run, metric.label)
    text = (
        "largest deviation from the mechanism with ideal joints"
        if metric.quantity == DEVIATION
        else str(array.attrs.get("long_name", metric.quantity))
    )
    what = f"{text}, {metric.label}" if metric.label else text
    if metric.sense:
        first = "first time" if metric.statistic == WHEN else "how much later than with ideal joints is the first time"
        when = f"{first} of {what} {metric.sense} {metric.written}"
        when += f" {unit}".rstrip() if " " not in metric.written else ""
        seen = f", seen in samples {every:g} s apart"
        return {"units": "s", "long_name": when + (f", from {settled:g} s on" if settled else "") + seen}
    counts = metric.statistic not in ("", "final") or metric.twin or metric.quantity == LOST
    counts = metric.statistic != WHOLE and (counts or run.get(since(metric.quantity)) is not None)
    late = f", from {settled:g} s on" if counts and settled else ""
    if metric.statistic == WHOLE:
        what = f"{what}, of the whole run"
    elif metric.statistic:
        what = f"{what} at the end" if metric.statistic == "final" else f"{TEXTS[metric.statistic]} {what}"
    return ({"units": unit} if unit else {}) | {"long_name": what + late}
