"""The curves of the page: which signals, in which panels, with limits that spikes do not flatten."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..balancing.shaking import shaking
from ..plots.contacts import angular, hardness, strength
from ..plots.motion import force, kinds, moving, torques
from ..plots.places import model_of, readable
from ..plots.style import LOAD, SPIKE, largest, span, spoken, wrapped
from ..plots.work import by_label, efforts
from ..series import loop_settled
from .blob import Blob, Json, thin

if TYPE_CHECKING:
    import xarray

STEMS = 1500  # impacts shown at most, the hardest
_TURNING = (("angle_rate", "Angular rate", "rad/s"), ("angle_acceleration", "Angular acceleration", "rad/s²"))
_SLIDING = (("", "Position", "m"), ("_rate", "Speed", "m/s"), ("_acceleration", "Acceleration", "m/s²"))


def charts(run: xarray.Dataset, twin: xarray.Dataset | None) -> list[Json]:
    """Every panel: title, unit, and curves as arrays over the samples; the twin's have its own times."""
    found = [chart for chart in _panels(run) if chart["curves"]]
    for chart in found:
        for curve in chart["curves"]:
            curve["twin"] = False
            curve.setdefault("time", run.time.values)
    if twin is not None:
        ideal = {(chart["title"], chart["unit"]): chart["curves"] for chart in _panels(twin)}
        for chart in found:
            names = [curve["name"] for curve in chart["curves"]]
            for curve in ideal.get((chart["title"], chart["unit"]), []):
                if curve["name"] in names and not curve.get("only"):
                    chart["curves"].append({"time": twin.time.values} | curve | {"twin": True})
    return [_spoken(chart) for chart in found]


def _spoken(chart: Json) -> Json:
    """A panel in the unit that people read: degrees, mm."""
    most = max(largest(curve["values"]) for curve in chart["curves"] if not curve["twin"])
    size, unit = spoken(chart["unit"], most)
    chart = chart | {"unit": unit, "curves": [curve | {"values": curve["values"] / size} for curve in chart["curves"]]}
    marks = [mark | {"v": mark["v"] / size} for mark in chart.get("marks", ())]
    return chart | {"marks": marks, "reaches": chart.get("reaches", 0.0) / size}


def pack(chart: Json, blob: Blob, most: int) -> Json:
    """A panel for the page: curves thinned to so many points, and limits."""
    begin = chart.get("settled", -np.inf)  # what is before may lie beyond the panel
    seen = [curve["values"][curve["time"] >= begin] for curve in chart["curves"]]
    low, high, cut = limits(seen, chart.get("zero", False), LOAD if chart["unit"] in ("N", "N m", "N s") else 1.0)
    before = max(largest(curve["values"]) for curve in chart["curves"])
    cut = before if "settled" in chart and before > 2 * max(abs(low), abs(high)) else cut
    between = max([mark["v"] for mark in chart.get("marks", ())] + [chart.get("reaches", 0.0)])  # of samples, too
    cut = max(cut, between) if between > max(abs(low), abs(high)) else cut
    curves = []
    for curve in chart["curves"]:
        time, values = thin(curve["time"], curve["values"], most)
        item = {"name": curve["name"], "twin": curve["twin"], "t": blob.add(time), "v": blob.add(values)}
        if len(time) < len(curve["time"]):  # how far a value between the points that are left may be off
            item["off"] = largest(np.interp(curve["time"], time, values) - curve["values"])
        curves.append(item)
    made = {"title": chart["title"], "unit": chart["unit"], "curves": curves, "low": low, "high": high}
    made["note"] = f"peaks reach {cut:.3g} {chart['unit']}" if cut else ""
    made["marks"] = [mark for mark in chart.get("marks", []) if np.isfinite(mark["v"])]
    return made | ({"turns": True} if chart.get("turns") else {})


def limits(series: list[np.ndarray], zero: bool, unit: float = 1.0) -> tuple[float, float, float]:
    """Bottom and top of a panel, and the largest magnitude if it lies beyond them (else 0); unit: a size beside which
    what differs by round-off is told."""
    found = np.concatenate([values[np.isfinite(values)] for values in series] or [np.zeros(0)])
    if not len(found):
        return -1.0, 1.0, 0.0
    least, most = float(found.min()), float(found.max())
    low, high = (float(x) for x in np.percentile(found, [0.5, 99.5]))
    room, cut = 0.5 * (high - low), 0.0
    if room > 0 and (most - high > 2 * SPIKE * room or low - least > 2 * SPIKE * room):
        cut = largest(found)
        least, most = max(least, low - room), min(most, high + room)
    if zero:
        least, most = min(least, 0.0), max(most, 0.0)
    if most - least < 1e-9 * max(unit, abs(most)):  # round-off is not worth a scale of its own
        return least - 0.1 * max(1.0, abs(most)), most + 0.1 * max(1.0, abs(most)), 0.0
    margin = 0.05 * (most - least)
    return least - (0.0 if zero and least == 0 else margin), most + margin, cut


def impacts(run: xarray.Dataset, blob: Blob) -> list[Json]:
    """Of each contact its impacts: time, impulse (or largest force), approach; the hardest where there are many."""
    if "impact_time" not in run or not run.sizes["impact"]:
        return []
    hard, turns = strength(run), angular(run)
    kept = np.sort(np.argsort(run[hard].values)[-STEMS:])
    whose = run.impact_contact.values
    made = []
    for name in run.contact.values:
        here = kept[whose[kept] == name]
        if len(here):
            text, unit = hardness(run, name in turns)
            item: Json = {"name": str(name), "count": int((whose == name).sum()), "shown": len(here)}
            item["strength"] = f"{text} ({unit})"
            for key, variable in (("t", "impact_time"), ("v", hard), ("approach", "impact_approach")):
                item[key] = blob.add(run[variable].values[here])
            made.append(item)
    return made


def _panels(run: xarray.Dataset) -> Iterator[Json]:
    names = [str(name) for name in run.body.values]
    turning, sliding = kinds(run, names)
    if turning:
        angles, turned = wrapped({name: run.angle.sel(body=name).values for name in turning})
        curves = [{"name": name, "values": angles[name]} for name in turning]
        yield {"title": "Angle", "unit": "rad", "curves": curves, "turns": turned}
        for variable, title, unit in _TURNING:
            if variable in run:
                rates = [{"name": name, "values": run[variable].sel(body=name).values} for name in turning]
                yield {"title": title, "unit": unit, "curves": rates}
    for end, title, unit in _SLIDING:
        ways = [(name, axis) for name in sliding for axis in moving(run, name)]
        if ways and f"x{end}" in run:
            places = [
                {"name": f"{name}, {axis}", "values": run[f"{axis}{end}"].sel(body=name).values} for name, axis in ways
            ]
            yield {"title": title, "unit": unit, "curves": places}
    if "force_x" in run:
        yield from _forces(run)
    for chart in _by_unit("Tracking error", by_label(run, "tracking_error")):
        settled = loop_settled(run)
        yield chart | {"zero": True} | ({"settled": settled} if 0 < settled < float(run.time[-1]) else {})
    who = " and ".join(text for text, name in (("drives", "effort"), ("actuators", "control")) if name in run)
    for title, unit in (("Torque", "N m"), ("Force", "N")):
        given = [{"name": name, "values": x} for name, (x, of) in efforts(run).items() if of == unit]
        driven = [curve["name"] for curve in given if "peak_effort" in run and curve["name"] in run.drive.values]
        most = max((float(run.peak_effort.sel(drive=name)) for name in driven), default=0.0)
        yield {"title": f"{title} of the {who}", "unit": unit, "curves": given, "reaches": most}
    other = {name: pair for name, pair in efforts(run).items() if pair[1] not in ("N m", "N")}
    yield from _by_unit(f"Effort of the {who}", other)
    yield from _contacts(run)
    yield from _shaking(run)
    if "kinetic" in run:
        words = {"kinetic": "kinetic", "potential": "potential", "work": "work done"}
        words |= {"impact_loss": "lost in impacts", "friction_loss": "lost by friction"}
        parts = [{"name": text, "values": run[name].values} for name, text in words.items() if name in run]
        taken = {"contact_normal_work": "taken by contacts", "contact_friction_work": "lost by friction"}
        parts += [{"name": text, "values": -run[name].values} for name, text in taken.items() if name in run]
        yield {"title": "Energy", "unit": "J", "curves": _varied(parts)}


def _varied(parts: list[Json]) -> list[Json]:
    """Curves that differ from a constant by more than rounding beside the others."""
    spans = [span(part["values"]) for part in parts]
    return [part for part, wide in zip(parts, spans, strict=True) if wide > 1e-12 * max(spans)]


def _by_unit(title: str, signals: dict[str, tuple[np.ndarray, str]]) -> Iterator[Json]:
    for unit in dict.fromkeys(unit for _, unit in signals.values()):
        curves = [{"name": name, "values": values} for name, (values, of) in signals.items() if of == unit]
        yield {"title": title, "unit": unit, "curves": curves}


def _forces(run: xarray.Dataset) -> Iterator[Json]:
    """The forces of the joints; of those without one (gears) their torques."""
    loaded = [str(joint) for joint in run.joint.values if np.nansum(force(run, str(joint))) > 0]
    curves = [{"name": joint, "values": force(run, joint)} for joint in loaded]
    marks = []
    if "peak_force" in run:
        for joint in loaded:
            at, most = (float(run[name].sel(joint=joint)) for name in ("peak_force_time", "peak_force"))
            marks.append({"curve": joint, "t": at, "v": most})
    yield {"title": "Joint force", "unit": "N", "curves": curves, "zero": True, "marks": marks}
    curves = [{"name": joint, "values": run.moment.sel(joint=joint).values} for joint in torques(run)]
    yield {"title": "Joint torque", "unit": "N m", "curves": curves}


def _shaking(run: xarray.Dataset) -> Iterator[Json]:
    """What the frame feels of a mechanism with counterweights: of an ideal one that is balanced, nothing."""
    if run.sizes["time"] < 2 or not readable(run):
        return
    weights = [body.counterweight for body in model_of(run).bodies.values()]
    if not any(weight is not None and weight.mass for weight in weights):
        return
    found = shaking(run)
    panels = [("Shaking force", "N", ("force_x", "force_y")), ("Shaking moment", "N m", ("moment",))]
    if "impulse" in found:
        panels.append(("Shaking impulse of impacts", "N s", ("impulse_x", "impulse_y")))
    for title, unit, names in panels:
        shown = {name: name.rpartition("_")[2] for name in names}
        curves = [{"name": shown[name], "values": found[name].values, "time": found.time.values} for name in names]
        yield {"title": title, "unit": unit, "curves": curves}


def _contacts(run: xarray.Dataset) -> Iterator[Json]:
    if "gap" not in run:
        return
    names = [str(name) for name in run.contact.values]
    gaps = {name: run.gap.sel(contact=name).values for name in names}
    turns = angular(run)
    for title, unit, chosen in (("Gap", "m", [n for n in names if n not in turns]), ("Angular gap", "rad", turns)):
        if chosen:
            curves = [{"name": name, "values": gaps[name]} for name in chosen]
            yield {"title": title, "unit": unit, "curves": curves, "zero": True}
    if "slip" in run and "mode" in run:
        slips = [np.where(run["mode"].sel(contact=n).values > 0, run.slip.sel(contact=n).values, np.nan) for n in names]
        curves = [{"name": name, "values": slip} for name, slip in zip(names, slips, strict=True) if largest(slip) > 0]
        yield {"title": "Slip in contact", "unit": "m/s", "curves": curves}
    if "normal_force" in run:
        for title, unit, chosen in (
            ("Normal force", "N", [n for n in names if n not in turns]),
            ("Contact torque", "N m", turns),
        ):
            curves = [{"name": name, "values": run.normal_force.sel(contact=name).values} for name in chosen]
            curves = [curve for curve in curves if largest(curve["values"]) > 0]
            yield {"title": title, "unit": unit, "curves": curves, "zero": True}
