"""The page of a study: a contour or a line with a cursor, or a histogram with its ranking; each run can be replayed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ..errors import InputError
from ..studies import telling
from ..studies.axes import RUN
from ..studies.meaning import independent, lacking, over, percentiles
from ..studies.store import STUDY, counts, open_study
from .page import assemble, kept

if TYPE_CHECKING:
    import xarray

MOST = 30_000  # runs that a page holds; beyond, use the store itself


def write_study(
    study: xarray.Dataset | str | os.PathLike[str],
    target: str | os.PathLike[str],
    limits: Mapping[str, float] | None = None,
) -> Path:
    """Write a study as one HTML file: a table of `sweep`, or the store of one; limits: of metrics, in SI units."""
    where = study if isinstance(study, str | os.PathLike) else ""
    found = study if not isinstance(study, str | os.PathLike) else open_study(study)
    if found["status"].size > MOST:
        raise InputError(
            f"a page holds {MOST} runs at most, this study has {found['status'].size}; choose some with isel"
        )
    content = payload(found, str(where), dict(limits or {}))
    return kept(assemble(content["title"], content, "", "study.html", ("study.js",)), Path(target))


def payload(study: xarray.Dataset, store: str, limits: dict[str, float]) -> dict[str, Any]:
    """What the page knows."""
    told = json.loads(str(study.attrs.get(STUDY, "{}")))
    sampled = telling.is_sampled(study)
    status = study["status"].values.ravel()
    said = study["outcome"].values.ravel().astype(object)
    names = telling.metrics_of(study)
    for name in limits:
        if name not in names:
            raise InputError(f"limit of {name!r}: the study has the metrics {', '.join(names)}")
    how = told.get("samples") or {}
    facts = telling.lines(study, limits)
    facts += [("samples", f"{how['method']}, seed {how['seed']}")] if how else []
    facts += [
        ("computed with", f"jointplay {study.attrs.get('version', '?')}"),
        ("page by", f"jointplay {__version__}"),
    ]
    sizes = " × ".join(f"{d} ({n})" for d, n in study["status"].sizes.items())
    return {
        "title": str(study.attrs.get("title", "study")),
        "summary": f"{telling.told_counts(counts(status))}; {sizes}",
        "sampled": sampled,
        "independent": np.flatnonzero(independent(study, study["status"])).tolist(),
        "axes": [axis(study, str(d)) for d in study["status"].dims],
        "metrics": {name: metric(study, name, limits.get(name), sampled) for name in names},
        "status": status.tolist(),
        "outcomes": {int(i): str(said[i]) for i in np.flatnonzero(said != "")},
        "replay": telling.replay_command(store, "RUN") if store and told.get("kind") == "mechanism" else "",
        "facts": facts,
        "runs": telling.run_lines(study),
        "model": str(told.get("told", {}).get("model", "")),
    }  # fmt: skip


def axis(study: xarray.Dataset, dimension: str) -> dict[str, Any]:
    """One dimension: its values, and those at every address along it."""
    columns: dict[str, Any] = {}
    for name, array in study.coords.items():
        if array.dims == (dimension,) and name != RUN:
            columns[str(name)] = [*readable(array)]
    count = study.sizes[dimension]
    values, unit = columns.get(dimension, [list(range(count)), ""])
    return {"name": dimension, "count": count, "values": values, "unit": unit, "columns": columns}


def metric(study: xarray.Dataset, name: str, limit: float | None, sampled: bool) -> dict[str, Any]:
    """One metric: its values, what runs without one do, which of them are beyond every limit; of samples percentiles
    and ranking."""
    size, _ = telling.unit_of(study[name])
    values, unit = readable(study[name])
    found: dict[str, Any] = {
        "values": values,
        "unit": unit,
        "lacking": lacking(name),
        "always": np.flatnonzero(over(name, study[name].values.ravel(), np.finfo(float).max)).tolist(),
        "limit": None if limit is None else float(f"{limit / size:.12g}"),
        "percentiles": {},
        "ranking": None,
    }
    if sampled and np.isfinite(study[name].values).any():
        found["percentiles"] = {f"{p:g}": x / size for p, x in percentiles(study, name).items()}
        try:
            rows = telling.ranking_lines(study, name, limit)
            found["ranking"] = {"rows": rows, "note": telling.caution(study, name, limit)}
        except ValueError:
            found["ranking"] = None  # too few runs, or all the same
    return found


def readable(array: xarray.DataArray) -> tuple[list[Any], str]:
    """The values in that unit, and its name."""
    size, unit = telling.unit_of(array)
    values = array.values.ravel()
    return plain(values / size if size != 1.0 else values), unit


def plain(values: np.ndarray) -> list[Any]:
    """Numbers for JSON with twelve digits, what is none as null."""
    if values.dtype.kind not in "fiu":
        return [str(x) for x in values]
    return [float(f"{x:.12g}") if np.isfinite(x) else None for x in values.tolist()]
