"""Sampled signals of results: how far two runs are apart, when a signal passes a mark, what is between samples."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .crossings import SignalLessMark, cubic_through, leaves_mark, passing, since
from .errors import InputError
from .parts.part import suggestion

if TYPE_CHECKING:
    from xarray import DataArray, Dataset


def apart(run: Dataset, twin: Dataset, name: str = "angle", begin: float = 0.0) -> DataArray:
    """A coordinate of the bodies of a run (`angle`, `x`, `y`) less that of the bodies of these names of a twin, from
    `begin` (s) on, where both have samples.

    The two may have samples at different times: it is at those of the run that has fewer, between its own the other is
    interpolated by its rates.
    """
    if not all(name in one and f"{name}_rate" in one for one in (run, twin)):
        raise InputError(f"apart: must be a coordinate that both runs have with its rates: angle, x or y, got {name!r}")
    twin = by_name(run, twin)
    mine, theirs = run["time"].values, twin["time"].values
    late = together(mine, theirs, begin)
    if together(theirs, mine, begin).sum() < late.sum() and not np.isin(mine[late], theirs).all():
        return -apart(twin, run, name, begin)
    one = run[name].isel(time=late)
    return one - along(theirs, twin[name].values, twin[f"{name}_rate"].values, one["time"].values)


def by_name(run: Dataset, twin: Dataset) -> Dataset:
    """A twin with the bodies of a run, in their order; refused where it lacks one."""
    mine, theirs = ({str(name) for name in np.atleast_1d(one["body"].values)} for one in (run, twin))
    if not mine <= theirs:
        same_bodies({"the run": run, "its twin": twin})
    found = twin if twin["body"].ndim else twin.expand_dims("body")
    return found.sel(body=run["body"].values).transpose("time", ...)


def same_bodies(runs: Mapping[str, Dataset]) -> None:
    """Refuse runs of different mechanisms, which have other bodies, by the names that they go by."""
    first, *others = {name: [str(x) for x in np.atleast_1d(run["body"].values)] for name, run in runs.items()}.items()
    for name, bodies in others:
        if bodies != first[1]:
            text = f"{first[0]} has the bodies {', '.join(first[1])}, {name} has {', '.join(bodies)}"
            raise InputError(f"{text}; give results of one mechanism")


def together(time: np.ndarray, theirs: np.ndarray, begin: float) -> np.ndarray:
    """Which samples of a run are from a time (s) on and not before or beyond those of its twin."""
    begin = max(begin - 1e-9, theirs.min(initial=math.inf))
    late: np.ndarray = (time >= begin) & (time <= theirs.max(initial=-math.inf))
    return late


def along(time: np.ndarray, values: np.ndarray, rates: np.ndarray, at: np.ndarray) -> np.ndarray:
    """A sampled coordinate at other times, between its samples by its rates."""
    if np.isin(at, time).all():
        found: np.ndarray = values[np.searchsorted(time, at)]
        return found
    found = cubic_through(time, values, rates)(at)
    return found


def mean(time: np.ndarray, values: np.ndarray, begin: float = 0.0) -> float:
    """The mean over time of a sampled signal from `begin` (s) on, straight lines between its samples: the two ends of
    whole turns are one place, and count half each.

    >>> turn = np.linspace(0, 2 * np.pi, 9)
    >>> abs(mean(turn, np.cos(turn))) < 1e-15
    True
    """
    begin = max(begin, float(time[0]))
    at = np.append(begin, time[time > begin])
    found = np.interp(at, time, values)
    return float(np.trapezoid(found, at) / (at[-1] - at[0])) if len(at) > 1 else float(found[0])


def when(
    run: Dataset, name: str, label: str | None = None, *, above: float | str | None = None,
    below: float | str | None = None,
    begin: float | str = 0.0,
) -> float:  # fmt: skip
    """The first time (s), from `begin` (s) on, at which a signal of a result is above or below a mark; NaN if never,
    `begin` if it is so already.  At the time at which it leaves that side of the mark, as another `when` gives it, it
    is not any more: the next time is that of its return.  A mark is in SI units, or a text such as "200 mm"; so is
    `begin`.

    name, label: such as "x", "ram", or in one "ram.x".  Between samples a coordinate follows its rates, a rate its
    accelerations and jumps where an impact must have been, and another signal a straight line: its time is good to a
    part of `every`.

    >>> import jointplay as jp
    >>> fall = jp.simulate(jp.Mechanism(bodies={"ball": {"mass": 1, "inertia": 1}}, gravity=(0, -9.81)), until=1.0)
    >>> round(when(fall, "y", "ball", below=-9.81 / 8), 9)
    0.5
    """
    return _asked(run, name, label, above, below, begin).time


def when_with_error(
    run: Dataset, name: str, label: str | None = None, *, above: float | str | None = None,
    below: float | str | None = None,
    begin: float | str = 0.0,
) -> tuple[float, float]:  # fmt: skip
    """What `when` gives, and its estimated error (s): how much earlier or later a coordinate passes the mark if it is
    off by its estimated error (`x_error`, `y_error`, `angle_error` of the run) and by what cubics between samples miss.

    The error is infinite where the signal may as well not reach the mark, and NaN where nothing is known of it: of
    signals that are no coordinates, and of runs that state no errors (docs/trust.md).

    >>> import jointplay as jp
    >>> fall = jp.simulate(jp.Mechanism(bodies={"ball": {"mass": 1, "inertia": 1}}, gravity=(0, -9.81)), until=1.0)
    >>> time, error = when_with_error(fall, "y", "ball", below=-9.81 / 8)
    >>> abs(time - 0.5) <= error < 1e-6
    True
    """
    found = _asked(run, name, label, above, below, begin)
    name, label = found.name, found.label
    doubt, speeds, pulls = (_picked(run, f"{name}_{of}", label) for of in ("error", "rate", "acceleration"))
    if doubt is None or speeds is None or math.isnan(found.time):
        return found.time, math.nan
    span = np.diff(found.times)
    if pulls is not None and len(span):
        # a velocity that bends or jumps by so much more than accelerations say puts the middle off the cubic
        kinks = np.abs(np.diff(speeds) - span * (pulls[1:] + pulls[:-1]) / 2) * span / 8
        doubt = doubt + np.maximum(np.append(kinks, 0.0), np.append(0.0, kinks))
    over, smooth = found.sense * (found.values - found.mark), np.full(len(span), math.nan)
    leaves = leaves_mark(since(found.begin, SignalLessMark(found.times, over, found.sense * speeds, smooth)))
    sooner, later = (
        passing(
            found.times, found.values + sign * found.sense * doubt, found.mark, found.sense, speeds,
            begin=found.begin, leaves=leaves,
        )
        for sign in (1, -1)
    )  # fmt: skip
    rounding = 4 * float(np.spacing(found.time))
    return found.time, math.inf if math.isnan(later) else max(found.time - sooner, later - found.time) + rounding


class _Asked(NamedTuple):
    """What is asked of a signal: its samples, the mark, on which side of it, and the answer."""

    name: str
    label: str | None
    times: np.ndarray
    values: np.ndarray
    mark: float
    sense: int
    begin: float
    time: float


def _asked(
    run: Dataset, name: str, label: str | None, above: float | str | None, below: float | str | None, begin: float | str
) -> _Asked:
    if (above is None) == (below is None):
        raise InputError("when: give the mark, above= or below=, and one of them")
    if label is None and name not in run:
        owner, _, name = spelled(name).rpartition(".")
        label = owner or None
    if name not in run or "time" not in run[name].dims:
        known = [str(n) for n in run.data_vars if "time" in run[n].dims]
        raise InputError(f"when: the run has no signal {name!r} over time{suggestion(name, known)}")
    sense, given = (1, above) if above is not None else (-1, below)
    mark = _number("the mark", given, str(run[name].attrs.get("units", "")))
    begin = _number("begin", begin, "s")
    times, values = run["time"].values, _picked(run, name, label)
    assert values is not None
    found = passing(times, values, mark, sense, *(_picked(run, n, label) for n in beside(name)), begin=begin)
    return _Asked(name, label, times, values, mark, sense, begin, found)


def _picked(run: Dataset, name: str, label: str | None) -> np.ndarray | None:
    """The samples of a signal of a result; None where it has no such signal."""
    if name not in run:
        return None
    signal = run[name]
    for dimension in signal.dims[1:]:
        known = [str(x) for x in run[dimension].values]
        if label not in known:
            raise InputError(f"when: no {dimension} {label!r} has {name}{suggestion(str(label), known)}")
        signal = signal.isel({dimension: known.index(label)})
    found: np.ndarray = signal.values
    return found


def spelled(signal: str) -> str:
    """A signal as results call it, however it is spelled: `ram.x_rate`; also `ram.x.rate`, as start values have it, and
    `x_rate[ram]`, as studies do.

    >>> spelled("ram.x.rate"), spelled("x_rate[ram]"), spelled("J2.force.x")
    ('ram.x_rate', 'ram.x_rate', 'J2.force_x')
    """
    found = re.fullmatch(r"\s*(\w+)\s*\[\s*([^\[\]]+?)\s*\]\s*", signal)
    text = f"{found[2]}.{found[1]}" if found else signal.strip()
    return re.sub(r"\.(rate|acceleration)$|(?<=force)\.([xy])$", lambda end: f"_{end[1] or end[2]}", text)


def _number(what: str, given: Any, unit: str) -> float:
    """A finite number in SI units, which may be a text with a unit."""
    from .parts.units import UnitError, measured_in, number_form, parse_quantity

    if " or " in unit and isinstance(given, str):
        raise InputError(f"when: {what} is of a signal in {unit}; give a number, in SI units, got {given!r}")
    try:
        number = parse_quantity(given, measured_in(unit)) if isinstance(given, str) else float(given)
    except UnitError as error:
        raise InputError(f"when: {what} {error}") from None
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"when: {what} must be {number_form(unit)}, got {given!r}")
    return number


def beside(name: str) -> tuple[str, ...]:
    """Signals that tell what another one does between samples, if they are there: its slope, then what it is the rate
    of."""
    of = name.removesuffix("_rate")
    return (f"{name}_rate",) if of == name else (f"{of}_acceleration", of)


def deviation(run: Dataset, twin: Dataset, begin: float = 0.0) -> DataArray:
    """How far each body's angle is from that of the ideal twin at most, from `begin` (s) on, in percent of the twin's
    largest angle: e_p of Akhadkar et al. 2016, equation 16, whose e is the largest for crank and rocker.

    Both runs should have the same controller, step and scheme, so that only the play is told.
    """
    twin = by_name(run, twin)
    off = abs(apart(run, twin, begin=begin))
    if not off.sizes["time"]:
        raise InputError(f"the runs have no samples in common from t = {begin:g} s on; let both run longer")
    largest = abs(twin["angle"].sel(time=off["time"], method="nearest")).max("time")
    found = 100 * off.max("time") / largest
    return found.assign_attrs(units="%", long_name=f"largest deviation from the twin, from {begin:g} s on")


def loop_settled(run: Dataset) -> float:
    """From when on (s) the statistics of a control loop count: its own `settled`, else that of the run."""
    return float(run.attrs.get("control_settled", run.attrs.get("settled", 0.0)))  # older files have one for both


def effort_unit(drive: str, rows: Iterable[str]) -> str:
    """Of a drive's effort, by the name of its row: of an angle N*m, else N; both where no row is its own."""
    own = [row for row in rows if row.rpartition(".")[0] == drive]
    return "N or N*m" if not own else "N*m" if own[0].endswith((".angle", ".rate")) else "N"
