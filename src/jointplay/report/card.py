"""A result at a glance, for consoles and notebooks: what happened, a small picture, and the judged audit."""

from __future__ import annotations

import html as markup
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import results
from ..plots.contacts import strength
from ..plots.places import Places, readable
from ..plots.style import spoken
from ..series import loop_settled
from . import scene
from .film import ACCENT, CARD, GHOST, INK, SERIES, outlines, tint
from .page import judged

if TYPE_CHECKING:
    import xarray

SIZE = 220  # pixels of the picture
MARKS = {"fine": "#15803d", "doubtful": "#b45309", "wrong": "#b91c1c"}


def told(run: xarray.Dataset) -> list[tuple[str, str]]:
    """What happened, as names and texts."""
    attrs = run.attrs
    lines = [("outcome", str(attrs.get("outcome_text", "")))]
    lines += [("steps", f"{attrs['steps']:,}, {run.sizes['time']:,} samples")] if "steps" in attrs else []
    lines += [("stepper", str(attrs["stepper"]))] if "stepper" in attrs else []
    stated = {entry["name"]: entry for entry in results.errors(run)}
    lines += _contacts(run, stated)
    for variable, dimension, unit in (("peak_force", "joint", "N"), ("peak_moment", "joint", "N m")):
        if variable in run:
            values = zip(run[dimension].values, run[variable].values, strict=True)
            found = [f"{name} {_number(stated, f'{name}.{variable}', x, unit)}" for name, x in values if x > 0]
            lines += [(variable.replace("_", " "), ", ".join(found))] if found else []
    lines += _errors(run)
    unknown = str(attrs.get(results.NOT_DETERMINED, ""))
    lines += [("not determined", unknown)] if unknown else []
    said = results.conclusion(run)
    return [*lines, *([("judgement", said)] if said else [])]


def _number(stated: Mapping[str, Mapping[str, Any]], name: str, value: float, unit: str) -> str:
    """A number as far as it is known."""
    return results.spoken(stated[name]) if name in stated else f"{value:.4g} {unit}"


def _contacts(run: xarray.Dataset, stated: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for name in run.contact.values if "impacts" in run else ():
        one = run.sel(contact=name)
        count = f"{int(one.impacts)} impacts"
        count += "" if stated.get(f"{name}.impacts", {}).get("determined", True) else " (not determined)"
        yield f"contact {name}", f"{count}, free {100 * float(one.share_free):.1f} % of the time"


def _errors(run: xarray.Dataset) -> Iterator[tuple[str, str]]:
    if "error_max" not in run:
        return
    after = f" from {late:g} s on" if (late := loop_settled(run)) else ""
    for name in run.channel.values:
        most, mean = (float(run[key].sel(channel=name)) for key in ("error_max", "error_rms"))
        size, unit = spoken(str(run.channel_unit.sel(channel=name).values), most)
        yield f"tracking error {name}", f"largest {most / size:.4g} {unit}, rms {mean / size:.4g} {unit}{after}"


def text(run: xarray.Dataset) -> str:
    """A result in a few aligned lines."""
    lines = told(run)
    width = max(len(name) for name, _ in lines) + 2
    return "\n".join([f"{run.attrs.get('title', 'result')}", *(f"  {name:<{width}}{said}" for name, said in lines)])


def html(run: xarray.Dataset) -> str:
    """A result for a notebook: picture, summary and audit; what the Dataset holds is folded away."""
    rows = "".join(
        f'<tr><th style="text-align:left;vertical-align:top;white-space:nowrap">{markup.escape(name)}</th>'
        f'<td style="text-align:left">{_marked(name, said, run)}</td></tr>'
        for name, said in told(run)
    )
    audit = "".join(
        f'<tr><td style="text-align:left">{markup.escape(entry["name"])}</td><td style="text-align:left">'
        f"{markup.escape(judged(entry))} {'' if entry['unit'] == '1' else markup.escape(entry['unit'])}</td></tr>"
        for entry in results.audit(run)
    )
    title = markup.escape(str(run.attrs.get("title", "result")))
    return (
        f'<div style="display:flex;flex-wrap:wrap;gap:16px;align-items:flex-start">{picture(run)}'
        f'<div style="flex:1 1 320px"><strong>{title}</strong><table style="margin:4px 0">{rows}</table>'
        f"<details><summary>Audit</summary><table>{audit}</table></details>"
        f"<details><summary>Data</summary>{run._repr_html_()}</details>"
        "<small>run.jp.show(): the page in which it moves; run.jp.report(path): the same as a file</small></div></div>"
    )


def _marked(name: str, said: str, run: xarray.Dataset) -> str:
    if name != "judgement":
        return markup.escape(said)
    return f'<b style="color:{MARKS.get(run.attrs.get("judgement", ""), INK)}">{markup.escape(said)}</b>'


def picture(run: xarray.Dataset) -> str:
    """The mechanism at its hardest impact, else at 40 % of the run, as an SVG of bodies and pins; "" without model."""
    if not readable(run) or not run.sizes.get("time"):
        return ""
    places = Places(run)
    i = int(0.4 * (run.sizes["time"] - 1))
    if "impact_time" in run and run.sizes["impact"]:
        hardest = float(run.impact_time[int(np.argmax(run[strength(run)].values))])
        i = int(np.argmin(np.abs(run.time.values - hardest)))
    left, bottom, right, top = scene.box(places)
    size = max(right - left, top - bottom, 1e-9)
    scale, pad = (SIZE - 40) / size, 20.0

    def at(point: complex) -> str:
        return f"{pad + scale * (point.real - left):.1f},{pad + scale * (top - point.imag):.1f}"

    parts = []
    for k, points in enumerate(outlines(places).values()):
        colour, drawn = SERIES[k % len(SERIES)], " ".join(at(complex(point)) for point in points[:, i])
        if len(points) == 1:  # a block, of which the pin alone is known
            corner = [float(part) - 9 for part in drawn.split(",")]
            place = f'x="{corner[0]:.1f}" y="{corner[1]:.1f}" width="18" height="18" rx="3"'
            parts.append(f'<rect {place} fill="{tint(colour)}" stroke="{colour}" stroke-width="1.5"/>')
            continue
        for stroke, width in ((colour, 9), (tint(colour), 6)):
            parts.append(f'<polyline points="{drawn}" fill="none" stroke="{stroke}" stroke-width="{width}"/>')
    for joint in places.mechanism.joints.values():
        if joint.points and joint.drawing().pins:
            x, y = at(complex(places.point(joint.points[1])[i])).split(",")
            edge = ACCENT if joint.loose else INK
            parts.append(f'<circle cx="{x}" cy="{y}" r="4" fill="{CARD}" stroke="{edge}" stroke-width="2"/>')
    wide, high = (2 * pad + scale * span for span in (right - left, top - bottom))
    return (
        f'<svg width="{wide:.0f}" height="{high:.0f}" viewBox="0 0 {wide:.0f} {high:.0f}" role="img" '
        f'aria-label="the mechanism" stroke-linecap="round" '
        f'stroke-linejoin="round" style="background:{CARD};border:1px solid {GHOST}55;border-radius:8px">'
        f"{''.join(parts)}</svg>"
    )
