"""A study in words: what a terminal and a page say of it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..parts.units import spoken
from .axes import RUN
from .meaning import OWN, done, indices, missing, numbers, over, percentiles, ranking, share
from .plan import Plan
from .store import STUDY, counts
from .work import DONE

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

OUTSIDE = 0.05  # of halved values: so many beyond all samples are told
FEW = 12  # runs: so many are told one by one


def metrics_of(study: Dataset) -> list[str]:
    """The metrics of a study, in their order."""
    told = json.loads(str(study.attrs.get(STUDY, "{}")))
    known = [str(n) for n in study.data_vars if n not in OWN and "time" not in study[n].dims]
    return sorted(known, key=list(told.get("names", known)).index) if told.get("names") else known


def is_sampled(study: Dataset) -> bool:
    """Whether a study has samples, and they alone."""
    told = json.loads(str(study.attrs.get(STUDY, "{}")))
    return bool(told.get("samples")) and study["status"].ndim == 1


def unit_of(array: DataArray) -> tuple[float, str]:
    """The unit in which people read these numbers: its size in SI units, and its name."""
    unit = str(array.attrs.get("units", ""))
    unit = "" if unit == "1" else unit
    if not np.issubdtype(array.dtype, np.number):
        return 1.0, unit
    size, name = spoken(unit, float(np.nanmax(np.abs(array.values), initial=0.0)))
    return size, name.replace("*", " ")


def digits_of(values: np.ndarray, least: int = 5) -> int:
    """How many digits tell such numbers apart."""
    most, span = float(np.abs(values).max()), float(np.ptp(values))
    return least if span == 0 else int(min(max(least, np.ceil(np.log10(most / span)) + 3), 12))


def lines(study: Dataset, limits: Mapping[str, float] | None = None) -> list[tuple[str, str]]:
    """Runs, failures, what was varied, and the numbers of every metric: least and greatest, percentiles, shares beyond
    limits."""
    stand = counts(study["status"].values)
    found = [
        ("study", str(study.attrs.get("title", ""))),
        ("runs", told_counts(stand)),
        *each_run(study),
        *varied(study),
    ]
    for text, n in first_failures(study).items():
        found.append(("failed", f"{n} runs: {text}"))
    if text := doubts(study):
        found.append(("doubtful or wrong", text))
    for name in metrics_of(study):
        values, good = numbers(study, name)
        found.append((name, distribution(study, name) if good.any() else "no run has it"))
        if limits and name in limits and (good | over(name, values, limits[name]) & done(study)).any():
            size, unit = unit_of(study[name])
            beyond = share(study, name, limits[name])
            parts = [f"{beyond.part}: {beyond.beyond} of {beyond.runs} runs", beyond.missing]
            found.append((f"{name} > {limits[name] / size:.5g} {unit}".rstrip(), "; ".join(filter(None, parts))))
    return found


def distribution(study: Dataset, metric: str) -> str:
    """The least and the greatest value of a metric, of samples percentiles, and how many runs have none."""
    values, good = numbers(study, metric)
    parts = [course(study[metric], values[good])]
    if is_sampled(study):
        size, _ = unit_of(study[metric])
        parts.append(", ".join(f"P{p:g} {x / size:.5g}" for p, x in percentiles(study, metric).items()))
    if lack := missing(metric, good, done(study)):
        parts.append(f"{lack} and count in none of these")
    return "; ".join(parts)


def course(array: DataArray, values: np.ndarray) -> str:
    """The least and the greatest of some values of a variable."""
    size, unit = unit_of(array)
    digits = digits_of(values)
    return f"{values.min() / size:.{digits}g} to {values.max() / size:.{digits}g} {unit}".rstrip()


def fits_of(study: Dataset) -> dict[str, str]:
    """The fits from which clearances were drawn, by address."""
    told = json.loads(str(study.attrs.get(STUDY, "{}"))).get("samples") or {}
    return dict(told.get("fits", {}))  # older stores do not know them


def varied(study: Dataset) -> list[tuple[str, str]]:
    """What differs from run to run, and how far."""
    found, fits = [], fits_of(study)
    for name, array in study.coords.items():
        if name == RUN or array.ndim != 1 or not array.size:
            continue
        if np.issubdtype(array.dtype, np.number):
            text, word = course(array, array.values), "samples" if array.dims == (RUN,) else "values"
            of = f" of the fit {fits[str(name)]}" if name in fits else ""
            found.append((f"varied: {name}", f"{text}, {array.size} {word}{of}"))
        else:
            found.append((f"varied: {name}", ", ".join(map(str, np.unique(array.values)[:12]))))
    return found


def run_lines(study: Dataset) -> list[tuple[str, ...]]:
    """A row of a table for each run, the head first; nothing where runs are many."""
    if study["status"].size > FEW:
        return []
    places = np.indices(study["status"].shape).reshape(study["status"].ndim, -1)
    dims = [str(d) for d in study["status"].dims]
    columns: list[list[str]] = [["run", *map(str, range(study["status"].size))]]
    for name in [*(n for n, a in study.coords.items() if n != RUN and a.ndim == 1), *metrics_of(study)]:
        array = study[name]
        size, unit = unit_of(array)
        values = array.values[places[dims.index(str(array.dims[0]))]] if name in study.coords else array.values.ravel()
        head = f"{name}/{unit}" if unit else str(name)
        if np.issubdtype(values.dtype, np.number):
            known = values[np.isfinite(values)] / size
            digits = digits_of(known) if len(known) else 5
            columns.append([head, *(f"{x / size:.{digits}g}" if np.isfinite(x) else "none" for x in values)])
        else:
            columns.append([head, *map(str, values)])
    return list(zip(*columns, strict=True))


def each_run(study: Dataset) -> list[tuple[str, str]]:
    """How long a run of a mechanism is, and from when its numbers count."""
    told = json.loads(str(study.attrs.get(STUDY, "{}")))
    if told.get("kind") != "mechanism":
        return []
    asked = told["told"]
    text = f"{asked['until']:g} s" + f", counted from {asked['settled']:g} s on" * bool(asked["settled"])
    stepper = {key: x for key, x in (asked.get("stepper") or {}).items() if x is not None}
    options = ", ".join(f"{key}={x!r}" for key, x in stepper.items() if key != "stepper")
    chosen = f"{stepper['stepper']}({options})" if stepper else "the one that jointplay chooses"
    return [("each run", text), ("stepper", chosen)]


def told_counts(stand: Mapping[str, int]) -> str:
    """How many runs stand how, those words left out that nobody needs."""
    return ", ".join(f"{n} {word}" for word, n in stand.items() if n or word == "done")


def first_failures(study: Dataset, most: int = 3) -> dict[str, int]:
    """What failed runs say, the most frequent first."""
    said = study["outcome"].values.ravel().astype(object).astype(str)
    texts, many = np.unique(said[(said != "") & (study["status"].values.ravel() > DONE)], return_counts=True)
    order = np.argsort(-many, kind="stable")[:most]
    return {str(texts[i]): int(many[i]) for i in order}


def doubts(study: Dataset) -> str:
    """How many runs are done that their audits call doubtful or wrong, and what the first of them says; nothing if all
    are fine."""
    said = study["outcome"].values.ravel().astype(object).astype(str)
    odd = np.flatnonzero((said != "") & (study["status"].values.ravel() == DONE))
    return (
        f"{len(odd)} of {said.size} runs, and they count all the same; run {odd[0]}: {said[odd[0]]}" if len(odd) else ""
    )


def ranking_lines(study: Dataset, metric: str, limit: float | None = None) -> list[tuple[str, ...]]:
    """Which axis to halve first, as rows of a table, the head first."""
    found = ranking(study, metric, limit)
    part = indices(study, metric)
    size, unit = unit_of(study[metric])
    kind = "total" if "total" in part else "first"
    head = ["halve", f"mean falls by/{unit or 1}", f"P95 falls by/{unit or 1}"]
    of = ", of runs that have it" if found.attrs["missing"] else ""
    head += [f"share beyond the limit then{of}"] if limit is not None else []
    text = "it explains alone" if kind == "first" else "it explains alone and with others"
    fits = fits_of(study)
    rows: list[tuple[str, ...]] = [(*head, f"share of the variance that {text}")]
    for i, factor in enumerate(found["factor"].values):
        cells = [f"{factor} ({fits[factor]})" if factor in fits else str(factor)]
        for name in ("gain", "gain_high"):
            gain, error = (float(found[key][i]) / size for key in (name, f"{name}_error"))
            cells.append(f"{gain:.4g} ± {error:.2g}")
        if limit is not None:
            cells.append(f"{100 * float(found['beyond'][i]):.3g} % (now {100 * found.attrs['beyond']:.3g} %)")
        own = part.sel(factor=factor)
        cells.append(f"{float(own[kind]):.3f} ± {float(own[f'{kind}_error']):.3f}")
        rows.append(tuple(cells))
    return rows


def caution(study: Dataset, metric: str, limit: float | None = None) -> str:
    """What the ranking rests on."""
    found = ranking(study, metric, limit)
    said, outside = found.attrs, found["outside"]
    explained, lack = said["explained"], f"; {said['missing']} and are left out" * bool(said["missing"])
    weak = "; that is little: compute the study again with the axis halved before you rely on it"
    text = f"a quadratic surface through the runs explains {100 * explained:.0f} % of the variance"
    beyond = ", ".join(f"{100 * float(x):.0f} % of {x['factor'].item()}" for x in outside if x > OUTSIDE)
    far = f"; {beyond}, halved, lie beyond all samples: compute the study so before you rely on it"
    return text + (weak if explained < 0.8 else "") + (far if beyond else "") + lack


def replay_command(store: Any, run: int | str) -> str:
    """What to type to see one run of a study."""
    return f"jointplay sweep replay {shlex.quote(str(store))} {run}"


def described(plan: Plan) -> str:
    """The axes of a study on one line."""
    return " x ".join(f"{d.name} ({len(d)})" for d in plan.dimensions)
