"""The page: what it shows as JSON and numbers, put into its frame together with its style and script."""

from __future__ import annotations

import html as markup
import json
import math
import os
import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import results, writing
from .._version import __version__
from ..errors import InputError
from ..model.mechanism import Mechanism
from ..plots.contacts import angular, segments
from ..plots.places import Places, model_of, readable
from ..plots.style import needs
from ..plots.twins import without_loose_joints
from ..plots.work import drive_unit
from ..series import same_bodies
from ..simulation.judgement import RULES
from . import charts, scene
from .blob import Blob, frames

if TYPE_CHECKING:
    import xarray

ROOM = 150_000  # numbers for the frames, and as many for the curves: about 1.6 MB of page at most
MOST = 3000  # frames, and points of a curve
LEAST = 300
SCRIPTS = ("data.js", "view.js", "mechanism.js", "joints.js", "charts.js", "controls.js")
SEGMENTS = 3000  # of a contact's timeline
PARTS = re.compile(r"\.peak_(force_[xy]|.*_acceleration)(_settled)?$")
UNSTATED = ("peak_force", "peak_moment", "peak_effort", "peak_normal", "peak_impulse", "impacts", "share_free",
            "error_max", "error_rms", "control_max", "control_rms")  # fmt: skip


def html(
    run: xarray.Dataset | str | os.PathLike[str],
    twin: xarray.Dataset | str | os.PathLike[str] | None = None,
    command: str = "",
    mechanism: Mechanism | None = None,
) -> str:
    """The page of a result as text: one file, which asks nothing of the network.

    run: a result or the .nc file of one; twin: the same mechanism with ideal joints, drawn faintly; command: what
    was typed to get here, shown at the end; mechanism: only for a result whose model holds Python functions.
    """
    found = run if not isinstance(run, str | os.PathLike) else results.load(run)
    ideal = twin if twin is None or not isinstance(twin, str | os.PathLike) else results.load(twin)
    if not found.sizes.get("time"):
        raise InputError("this result holds no samples, so there is nothing to show")
    needs(found, "x", "it does not say where bodies are, and a page shows how they move")
    if found["x"].dims != ("time", "body"):
        raise InputError("this is a part of a result; the page needs the whole of it, as simulate gave it")
    content, numbers = payload(found, ideal, command, mechanism)
    return assemble(found.attrs.get("title", "mechanism"), content, numbers)


def write(
    run: xarray.Dataset | str | os.PathLike[str],
    target: str | os.PathLike[str],
    twin: xarray.Dataset | str | os.PathLike[str] | None = None,
    command: str = "",
    mechanism: Mechanism | None = None,
) -> Path:
    """Write the page of a result, whole or not at all; see `html`."""
    return kept(html(run, twin, command, mechanism), Path(target))


def kept(text: str, path: Path) -> Path:
    """Write a page, whole or not at all."""
    writing.write(path, text.encode())
    return path


def _audit(run: xarray.Dataset) -> list[list[str]]:
    named = ((f"{e['name']} ({e['unit']})" if e["unit"] != "1" else e["name"], e) for e in results.audit(run))
    return [[name, judged(entry)] for name, entry in named]


def payload(
    run: xarray.Dataset, twin: xarray.Dataset | None, command: str, mechanism: Mechanism | None
) -> tuple[dict[str, Any], str]:
    """What the page knows: a JSON object, and its arrays as base64."""
    blob, names = Blob(), [str(name) for name in run.body.values]
    loose = list(places.loose().values()) if (places := _places(run, mechanism)) else []
    shared = twin is not None and bool(twin.sizes.get("time"))
    if twin is not None:
        same_bodies({"the run with ideal joints": twin, "this result": run})
        without_loose_joints(run, twin)
    per_frame = 1 + 3 * len(names) * (2 if shared else 1) + sum(6 + 3 * len(item.gaps) for item in loose)
    at = frames(run.sizes["time"], max(LEAST, min(MOST, ROOM // per_frame)))
    panels = charts.charts(run, twin)
    points = max(LEAST, min(MOST, ROOM // (2 * max(1, sum(len(panel["curves"]) for panel in panels)))))
    content: dict[str, Any] = {
        "title": run.attrs.get("title", "mechanism"),
        "time": blob.add(run.time.values[at]),
        "samples": run.sizes["time"],
        "bodies": scene.bodies(places.mechanism if places else None, names),
        "poses": scene.poses(run, blob, at),
        "ground": {k: list(v) for k, v in places.mechanism.ground.all_points().items()} if places else {},
        "joints": scene.joints(places, names) if places else [],
        "springs": scene.springs(places, names) if places else [],
        "box": scene.box(places) if places else _box(run),
        "plays": [scene.play(run, item, blob, at, names) for item in loose],
        "modes": scene.MODES,
        "timeline": _timeline(run, loose),
        "impacts": charts.impacts(run, blob),
        "charts": [charts.pack(panel, blob, points) for panel in panels],
        "twin": None,
        "outcome": [run.attrs.get("outcome", ""), run.attrs.get("outcome_text", "")],
        "facts": _facts(run, places),
        "audit": _audit(run),
        "numbers": [[entry["name"], results.spoken(entry)] for entry in told(run)],
        "between": results.without_impacts(run),
        "judgement": [run.attrs.get("judgement", ""), run.attrs.get("judgement_text", "")],
        "model": run.attrs.get("model", ""),
        "command": command,
    }
    if twin is not None and shared:
        index = frames(twin.sizes["time"], len(at))
        content["twin"] = {"time": blob.add(twin.time.values[index]), "poses": scene.poses(twin, blob, index)}
    return content, blob.text()


def assemble(
    title: str, content: dict[str, Any], numbers: str, frame: str = "page.html", scripts: tuple[str, ...] = SCRIPTS
) -> str:
    """The frame of the page with title, style, content, numbers and script in their places."""
    here = files(__package__)

    def text(name: str) -> str:
        return (here / name).read_text(encoding="utf-8")

    try:
        data = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        raise InputError("this result holds peaks or shares that are not finite, and may have been altered") from None
    parts = {
        "title": markup.escape(title),
        "style": text("page.css"),
        "data": data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"),
        "numbers": numbers,
        "script": "\n".join(text(name) for name in scripts),
    }
    page = text(frame)
    pieces = page.split("%%")  # text, name, text, name, ..., text: what is put in is never searched again
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def told(run: xarray.Dataset) -> list[dict[str, Any]]:
    """The headline numbers that the page shows: not those of parts of a force, nor accelerations."""
    return [entry for entry in results.errors(run) if not PARTS.search(entry["name"])] or unstated(run)


def unstated(run: xarray.Dataset) -> list[dict[str, Any]]:
    """Headline numbers of a run that states no errors, as of a sampled Python controller."""
    found, turns = [], angular(run)
    for name in (name for name in UNSTATED if name in run and run[name].ndim == 1):
        [dimension] = map(str, run[name].dims)
        for label, value in zip(map(str, run[dimension].values), map(float, run[name].values), strict=True):
            unit = str(run[name].attrs.get("units", "1"))
            if dimension == "contact":
                unit = unit.split(" or ")[-1 if label in turns else 0]
            if f"{dimension}_unit" in run:
                unit = str(run[f"{dimension}_unit"].sel({dimension: label}).values)
            unit = drive_unit(run, label) if dimension == "drive" else unit
            if value and math.isfinite(value):
                found.append(
                    {"name": f"{label}.{name}", "value": value, "unit": unit, "error": 0.0, "determined": True}
                )
    return found


def _places(run: xarray.Dataset, mechanism: Mechanism | None) -> Places | None:
    if mechanism is None and not readable(run):
        return None  # the model holds Python functions: mass centres can still be shown
    return Places(run, mechanism or model_of(run))


def _box(run: xarray.Dataset) -> list[float]:
    return [float(f(run[axis])) for f in (np.nanmin, np.nanmax) for axis in "xy"]


def _timeline(run: xarray.Dataset, loose: list[Any]) -> list[dict[str, Any]]:
    """Of each contact the stretches of equal mode: code, start and length of each."""
    time = run.time.values
    modes: dict[str, np.ndarray] = {}
    for item in loose:
        modes |= scene.codes(run, item)
    if "mode" in run:
        modes |= {str(name): scene.mode(run, name) for name in run.contact.values}
    made = []
    for name, codes in modes.items():
        if np.count_nonzero(np.diff(codes)) > SEGMENTS:
            index = frames(len(codes), SEGMENTS)
            found = segments(time[index], codes[index])
        else:
            found = segments(time, codes)
        bars = sorted((float(s), code, float(n)) for code, a, b in found for s, n in zip(a, b, strict=True))
        shown = [[code, round(start, 7), round(length, 7)] for start, code, length in bars]
        touching = float(np.mean(codes > 0))
        if "share_free" in run and name in run.contact.values:
            touching = 1 - float(run.share_free.sel(contact=name))
        made.append({"name": name, "bars": shown, "touching": touching})
    return made


def _facts(run: xarray.Dataset, places: Places | None) -> list[list[str]]:
    attrs = run.attrs
    facts = [["mechanism", attrs.get("title", "")]]
    facts += [["source", places.mechanism.source]] if places and places.mechanism.source else []
    facts += [["outcome", attrs["outcome_text"]]] if "outcome_text" in attrs else []
    facts += [["stepper", attrs["stepper"]]] if "stepper" in attrs else []
    count = f"{run.sizes['time']} samples"
    facts += [["steps", f"{attrs['steps']}, of which {count} are kept"]] if "steps" in attrs else [["kept", count]]
    facts += [["degrees of freedom", str(attrs["degrees_of_freedom"])]] if "degrees_of_freedom" in attrs else []
    redundant = json.loads(attrs.get("redundant", "[]"))
    facts += [["redundant constraints", ", ".join(redundant)]] if redundant else []
    facts += [["note", note] for note in json.loads(attrs.get("notes", "[]"))]
    facts += [["computed with", f"jointplay {attrs.get('version', 'of an unknown version')}"]]
    return [*facts, ["page by", f"jointplay {__version__}"]]


def judged(entry: dict[str, Any]) -> str:
    """The value of an entry of the audit, and its limit where it is judged."""
    judgement, limit = entry.get("judgement"), entry.get("limit")
    if judgement is None or limit is None:
        return _number(entry["value"])
    rule = RULES.get(entry["name"])
    text = f"{_number(entry['value'])} ({'at least' if rule and rule.below else 'at most'} {_number(limit)})"
    return text if judgement == "fine" else f"{text}: {judgement}"


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}"
