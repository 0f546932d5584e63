"""Forces, efforts, energy, and how well a motion follows what it should."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import results
from ..errors import InputError
from ..results import flat
from ..series import along, beside, effort_unit, loop_settled, mean
from .motion import impulses, load, loaded, torques
from .places import model_of, readable
from .style import (
    COLOURS,
    ENERGY,
    HEIGHT,
    SPIKE,
    behind,
    chosen,
    foremost,
    in_view,
    largest,
    legend,
    lines,
    look,
    needs,
    no_round_off,
    note,
    over_time,
    sheet,
    spoken,
)
from .twins import of_one

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Reference = Callable[[np.ndarray], Any] | Sequence[float] | np.ndarray | float


def joint_force(run: xarray.Dataset, joints: Sequence[str] | None = None, twin: xarray.Dataset | None = None) -> Figure:
    """The magnitude of the joint forces (N), a panel each, of many joints the most loaded; of joints without a force
    (gears) the torque (N m); behind, those with ideal joints.

    A dot marks the largest over all internal steps, a triangle at the top one beyond the panel.  Forces are those
    between impacts; grey stems are the impulses of impacts, to the right.
    """
    of_one(run, twin)
    needs(run, "force_x", "a result with joint forces is needed")
    asked = chosen(run, "joint", joints)
    names, left_out, turned = *(loaded(run) if joints is None else (asked, "")), torques(run)
    names = [*names, *turned] if joints is None else names
    names = names or asked
    text = "magnitude of the joint forces between impacts over time; stems: impulses of impacts."
    with sheet(run, 1.35 * len(names) + 0.6, caption=text, left_out=left_out) as figure:
        axes = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
        for i, (ax, name) in enumerate(zip(axes, names, strict=True)):
            what, unit = ("moment", "N m") if name in turned else ("force", "N")
            values = load(run, name, what)
            shown = [values, np.zeros(1)]
            if twin is not None and name in twin.joint and "force_x" in twin:
                behind(ax, twin.time.values, load(twin, name, what), "" if i else "ideal joints")
                shown.append(load(twin, name, what))
            lines(ax, run.time.values, {name: (values, look(i))})
            in_view(ax, shown)
            _peak(ax, run, what, {"joint": name}, COLOURS[i % len(COLOURS)], unit)
            ax.set_ylabel(f"{'torque' if name in turned else 'force'} ({unit})")
            legend(ax)
            impulses(ax, run, [name], f"{unit} s")
        axes[0].margins(x=0)
        over_time(axes[-1:])
    return figure


def effort(run: xarray.Dataset, drives: Sequence[str] | None = None, twin: xarray.Dataset | None = None) -> Figure:
    """The force (N) or torque (N m) of each drive along its motion and of each controlled actuator, a panel each.

    drives: names of drives and actuators, by default all, of many the strongest.  The ideal twin is drawn behind.
    """
    of_one(run, twin)
    given = efforts(run)
    if not given:
        raise InputError("this result has no effort: the mechanism has no drives, and nothing controls it")
    names, left_out = [drives] if isinstance(drives, str) else list(drives or ()), ""
    if drives is None:
        names, left_out = foremost(list(given), _by_unit(given), "with the largest efforts", "drives")
    unknown = next((name for name in names if name not in given), None)
    if unknown is not None:
        raise InputError(f"no drive {unknown!r} in this result; there are {', '.join(given)}")
    ideal = efforts(twin) if twin is not None else {}
    text = "efforts of the drives and actuators over time."
    with sheet(run, 1.5 * len(names) + 0.6, caption=text, left_out=left_out) as figure:
        axes = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
        for i, (ax, name) in enumerate(zip(axes, names, strict=True)):
            values, unit = given[name]
            shown = [values]
            if twin is not None and name in ideal:
                shown.append(ideal[name][0])
                behind(ax, twin.time.values, shown[1], "" if i else "ideal joints")
            lines(ax, run.time.values, {name: (values, look(i))})
            in_view(ax, shown)
            if "effort" in run and name in run.drive:
                _peak(ax, run, "effort", {"drive": name}, COLOURS[i % len(COLOURS)], unit)
            else:
                note(ax, f"largest {largest(values):.4g} {unit}")
            ax.set_ylabel(f"{'torque' if unit == 'N m' else 'force' if unit == 'N' else 'effort'} ({unit})")
            legend(ax)
        axes[0].margins(x=0)
        over_time(axes[-1:])
    return figure


def _by_unit(signals: Mapping[str, tuple[np.ndarray, str]]) -> list[dict[str, float]]:
    """The largest values of signals, those of a unit together."""
    units = {unit for _, unit in signals.values()}
    return [{name: largest(x) for name, (x, of) in signals.items() if of == unit} for unit in units]


def efforts(run: xarray.Dataset) -> dict[str, tuple[np.ndarray, str]]:
    """Of each drive (`effort`) and each controlled actuator (`control`) its values over time and their unit."""
    found: dict[str, tuple[np.ndarray, str]] = {}
    for name in run.drive.values if "effort" in run else ():
        found[str(name)] = run.effort.sel(drive=name).values, drive_unit(run, str(name))
    return found | dict(by_label(run, "control"))


def by_label(run: xarray.Dataset, variable: str) -> dict[str, tuple[np.ndarray, str]]:
    """Of each label of what a controller records (`tracking_error`, `reference`, `control`) its values over time and
    their unit; none if nothing was recorded.
    """
    if variable not in run:
        return {}
    signal = run[variable]
    [dimension] = [str(name) for name in signal.dims if name != "time"]
    every, found = str(signal.attrs.get("units", "")), {}
    for name in map(str, run[dimension].values):
        unit = _along(run, dimension, name) if " or " in every else every
        found[name] = signal.sel({dimension: name}).values, _spoken(unit or every)
    return found


def _along(run: xarray.Dataset, dimension: str, name: str) -> str:
    """The unit of one channel or actuator where others have another one, by its kind in the model; "" if unknown."""
    try:
        control = model_of(run).control
    except ValueError:  # the model holds Python functions
        return ""
    if control is None:
        return ""
    part: Any = (control.coordinates if dimension == "channel" else control.actuators).get(name)
    units = {"channel": ("rad", "m"), "actuator": ("N*m", "N")}
    return "" if part is None else units[dimension][not part.turns]


def energy(run: xarray.Dataset, twin: xarray.Dataset | None = None) -> Figure:
    """Kinetic and potential energy, work done from outside and losses (J), and below what the balance leaves over."""
    of_one(run, twin)
    needs(run, "kinetic", "a result with energies is needed")
    parts = {"kinetic": run.kinetic.values, "potential": run.potential.values}
    parts["total"] = parts["kinetic"] + parts["potential"]
    words = {"work": "work done", "impact_loss": "lost in impacts", "friction_loss": "lost by friction"}
    found = {text: run[name].values for name, text in words.items() if name in run}
    taken = {"contact_normal_work": "taken by contacts", "contact_friction_work": "lost by friction"}
    found |= {text: -run[name].values for name, text in taken.items() if name in run}
    balance = parts["total"] - found.get("work done", 0.0) + sum(x for text, x in found.items() if text != "work done")
    parts |= {text: x for text, x in found.items() if largest(x) > 1e-9 * largest(parts["kinetic"])}
    text = "energies, work and losses over time, and below what their balance leaves over."
    with sheet(run, 2 * HEIGHT + 0.3, caption=text) as figure:
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2.6, 1))
        if twin is not None and "kinetic" in twin:
            behind(above, twin.time.values, twin.kinetic.values, "kinetic, ideal joints")
        curves = {text: (x, look(i)) for i, (text, x) in enumerate(parts.items())}
        lines(above, run.time.values, curves, ENERGY)
        above.set_ylabel("energy (J)")
        legend(above)
        with np.errstate(invalid="ignore"):  # of a file that holds what is not finite
            left = balance - balance[0]
        size, unit = spoken("J", largest(left))
        below.plot(run.time.values, left / size, color=COLOURS[6], linewidth=0.9)
        below.set_ylabel(f"imbalance ({unit})")
        share = largest(left) / max(largest(parts["kinetic"]), 1e-300)
        note(below, f"at most {largest(left) / size:.2g} {unit}, {share:.1g} of the peak kinetic energy")
        above.margins(x=0)
        over_time([below])
    return figure


def tracking_error(
    run: xarray.Dataset,
    reference: Mapping[str, Reference] | xarray.Dataset | None = None,
    signals: Sequence[str] | None = None,
    twin: xarray.Dataset | None = None,
) -> Figure:
    """Signals beside what they should be, and the error with its largest and root mean square values.

    reference: by the signal's name (`crank.angle`, `slider.x`): a function of time (s), values at the samples, or a
    number; or another result, such as the ideal twin, whose `signals` are taken at the times of this one.  Without
    one, the channels of the run's controllers (`signals` of them) beside their own references; the error is then scaled
    to what remains once the loop counts as settled, and the twin's error is drawn behind.
    """
    of_one(run, twin)
    settled = loop_settled(run) if reference is None else 0.0
    ideal = by_label(twin, "tracking_error") if twin is not None and reference is None else {}
    time = run.time.values if reference is None else _compared_at(run, reference)
    rows = _controlled(run, signals) if reference is None else _against(run, reference, signals, time)
    text, left_out = "signals, their references and their errors.", ""
    if signals is None and not isinstance(reference, dict):
        errors = {name: (error, unit) for name, (_, _, error, unit) in rows.items()}
        shown, left_out = foremost(list(rows), _by_unit(errors), "with the largest errors", "signals")
        rows = {name: rows[name] for name in shown}
    with sheet(run, 1.15 * HEIGHT * len(rows) + 0.5, caption=text, left_out=left_out) as figure:
        axes = figure.subplots(len(rows), 2, sharex=True, squeeze=False)
        for i, ((left, right), (name, (value, aim, error, si))) in enumerate(zip(axes, rows.items(), strict=True)):
            size, unit = spoken(si, max(largest(value), largest(aim)))
            behind(left, time, aim / size, "reference")
            lines(left, time, {name: (value / size, look(i) | {"linestyle": (0, (4, 2))})})
            left.set_ylabel(f"{name.rpartition('.')[2].replace('_', ' ')} ({unit})")
            legend(left)
            size, unit = spoken(si, largest(error[time >= settled]) if settled < time[-1] else largest(error))
            if twin is not None and name in ideal:
                behind(right, twin.time.values, ideal[name][0] / size, "ideal")
            right.plot(time, error / size, **look(i))
            legend(right)
            _off(right, time, error / size, settled, largest(aim) / size, unit)
        over_time(axes[-1])
        axes[0, 0].margins(x=0)
    return figure


def _off(ax: Axes, time: np.ndarray, error: np.ndarray, settled: float, beside: float, unit: str) -> None:
    """Scale and words of a panel with an error: what remains once the loop counts as settled."""
    known = np.isfinite(error)  # of altered files
    rms = math.sqrt(mean(time[known], error[known] ** 2, settled)) if known.any() else math.nan
    if 0 < settled < time[-1]:
        error = error[time >= settled]
        ax.set_ylim(*(1.15 * max(largest(error), 1e-300) * np.array([-1, 1])))
    no_round_off(ax, [error], beside)
    ax.set_ylabel(f"error ({unit})")
    ax.axhline(0, color="#444444", linewidth=0.6, zorder=1.2)
    note(ax, f"largest |error| {largest(error):.3g}, rms {rms:.3g} {unit}")


# of a signal its values, what they should be, the error, and the unit
Drawn = dict[str, tuple[np.ndarray, np.ndarray, np.ndarray, str]]


def _controlled(run: xarray.Dataset, signals: Sequence[str] | None) -> Drawn:
    """The channels of the controllers, as the run recorded them."""
    needs(run, "tracking_error", "only controlled runs record one; give a reference, as in {'crank.angle': 0.5}")
    errors, aims = by_label(run, "tracking_error"), by_label(run, "reference")
    names = list(errors) if signals is None else [signals] if isinstance(signals, str) else list(signals)
    unknown = next((name for name in names if name not in errors), None)
    if unknown is not None:
        raise InputError(f"no channel {unknown!r} in this result; there are {', '.join(errors)}")
    return {n: (aims[n][0] + errors[n][0], aims[n][0], *errors[n]) for n in names}


def _compared_at(run: xarray.Dataset, reference: Mapping[str, Reference] | xarray.Dataset) -> np.ndarray:
    """The samples of a run, or those of another result that has fewer: between these it is not known."""
    own = run.time.values
    if not hasattr(reference, "data_vars"):
        return own
    other = reference["time"].values  # type: ignore[union-attr]
    within = other[(other >= own[0] - 1e-9) & (other <= own[-1] + 1e-9)]
    return within if 1 < len(within) < np.count_nonzero((own >= other[0] - 1e-9) & (own <= other[-1] + 1e-9)) else own


def _against(
    run: xarray.Dataset,
    reference: Mapping[str, Reference] | xarray.Dataset,
    signals: Sequence[str] | None,
    time: np.ndarray,
) -> Drawn:
    """Signals at some times against what the caller gives."""
    columns = flat(run)
    if isinstance(reference, Mapping) and not hasattr(reference, "data_vars"):
        wanted: dict[str, Any] = dict(reference)
    else:
        other: dict[str, np.ndarray] = flat(reference)  # type: ignore[arg-type]
        names = signals or [f"{name}.angle" for name in chosen(run, "body", None)]
        missing = next((name for name in names if name not in other), None)
        if missing is not None:
            raise InputError(f"no signal {missing!r} in the reference; there are {', '.join(list(other)[1:13])}, ...")
        wanted = {name: _at(time, other, name) for name in names}
    rows: Drawn = {}
    for name, given in wanted.items():
        if name not in columns:
            raise InputError(f"no signal {name!r} in this result; there are {', '.join(list(columns)[1:13])}, ...")
        aim = np.broadcast_to(np.asarray(given(time) if callable(given) else given, float), time.shape)
        value = columns[name] if len(time) == len(columns["time"]) else _at(time, columns, name)
        rows[name] = value, aim, value - aim, _units(run, name)
    return rows


def _at(time: np.ndarray, other: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """A signal of another result at these times, between its samples by its rates if it has them; NaN where the other
    did not run."""
    owner, _, what = name.rpartition(".")
    there, slopes = other["time"], other.get(f"{owner}.{beside(what)[0]}")
    inside = np.clip(time, there[0], there[-1])
    found = np.interp(inside, there, other[name]) if slopes is None else along(there, other[name], slopes, inside)
    return np.where(np.abs(time - inside) <= 1e-9, found, np.nan)


def _spoken(unit: str) -> str:
    return unit.replace("^2", "²").replace("*", " ")


def _units(run: xarray.Dataset, signal: str) -> str:
    name = signal.rpartition(".")[2]
    return _spoken(str(run[name].attrs.get("units", ""))) if name in run else ""


def drive_unit(run: xarray.Dataset, drive: str) -> str:
    """Of a drive's effort: what its kind says; where no model can be read by its row, of an angle N m, else N."""
    with contextlib.suppress(InputError):
        if readable(run) and drive in (known := model_of(run).drives):
            return str(known[drive].effort_unit)
    return _spoken(effort_unit(drive, map(str, run.row.values) if "row" in run.coords else ()))


def side_of(times: np.ndarray, samples: np.ndarray, peak: float, time: float) -> float:
    """The sign of the largest magnitude: that of the sample beside it that has at least half of it; 0 if none has."""
    after = int(np.searchsorted(times, time))
    beside = samples[max(after - 1, 0) : after + 2]
    near = beside[np.abs(beside) >= 0.5 * peak]
    return float(np.sign(near[np.argmax(np.abs(near))])) if len(near) else 0.0


def _peak(ax: Axes, run: xarray.Dataset, what: str, at: dict[str, str], colour: str, unit: str) -> None:
    if f"peak_{what}" not in run:
        return
    peak, time = (float(run[name].sel(at)) for name in (f"peak_{what}", f"peak_{what}_time"))
    samples = run[what].sel(at).values if what == "effort" else load(run, at["joint"], what)
    sign = 1.0 if what == "force" else side_of(run.time.values, samples, peak, time)
    low, high = ax.get_ylim()
    if what == "force":
        low = 0.0
    if peak > high >= peak / SPIKE and sign > 0:
        high = 1.08 * peak
    ax.set_ylim(low, high)
    if sign == 0:
        ax.axvline(time, color=colour, linewidth=0.8, linestyle=":")
    elif low <= sign * peak <= high:
        ax.plot(time, sign * peak, "o", markersize=3.5, color=colour, clip_on=False)
    else:
        ax.plot(time, high if sign > 0 else low, "^" if sign > 0 else "v", markersize=3.5, color=colour, clip_on=False)
    beyond = largest(samples) > 1.001 * peak  # a sample in an impact, whose force is its impulse over a step
    name = f"{next(iter(at.values()))}.peak_{what}"
    said = next((results.spoken(one) for one in results.errors(run) if one["name"] == name), f"{peak:.4g} {unit}")
    note(ax, f"largest {'between impacts ' if beyond else ''}{said} at {time:.4g} s")
