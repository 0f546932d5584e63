"""A study in words: what a terminal and a page say of it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .meaning import OWN, indices, numbers, percentiles, ranking, share
from .plan import Plan
from .store import STUDY, counts
from .work import DONE

if TYPE_CHECKING:
    from xarray import Dataset


def metrics_of(study: Dataset) -> list[str]:
    """The metrics of a study, in their order."""
    told = json.loads(str(study.attrs.get(STUDY, "{}")))
    known = [str(n) for n in study.data_vars if n not in OWN and "time" not in study[n].dims]
    return sorted(known, key=list(told.get("names", known)).index) if told.get("names") else known


def is_sampled(study: Dataset) -> bool:
    """Whether a study has samples, and they alone."""
    told = json.loads(str(study.attrs.get(STUDY, "{}")))
    return bool(told.get("samples")) and study["status"].ndim == 1


def lines(study: Dataset, limits: Mapping[str, float] | None = None) -> list[tuple[str, str]]:
    """Runs, failures and the numbers of every metric: least and greatest, percentiles, shares beyond limits."""
    stand = counts(study["status"].values)
    found = [("study", str(study.attrs.get("title", ""))), ("runs", told_counts(stand)), *each_run(study)]
    for text, n in first_failures(study).items():
        found.append(("failed", f"{n} runs: {text}"))
    if text := doubts(study):
        found.append(("doubtful or wrong", text))
    for name in metrics_of(study):
        values, good = numbers(study, name)
        unit = str(study[name].attrs.get("units", "")).replace("*", " ")
        if not good.any():
            found.append((name, "no run has it"))
            continue
        text = f"{values[good].min():.5g} to {values[good].max():.5g} {unit}".rstrip()
        if is_sampled(study):
            p = percentiles(study, name)
            text += f"; P5 {p[5]:.5g}, P50 {p[50]:.5g}, P95 {p[95]:.5g}"
        found.append((name, text))
        if limits and name in limits:
            found.append((f"{name} > {limits[name]:g}", str(share(study, name, limits[name])).partition(": ")[2]))
    return found


def each_run(study: Dataset) -> list[tuple[str, str]]:
    """How long a run of a mechanism is, and from when its numbers count."""
    told = json.loads(str(study.attrs.get(STUDY, "{}")))
    if told.get("kind") != "mechanism":
        return []
    asked = told["told"]
    return [
        ("each run", f"{asked['until']:g} s" + f", counted from {asked['settled']:g} s on" * bool(asked["settled"]))
    ]


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


def ranking_lines(
    study: Dataset, metric: str, limit: float | None = None, size: float = 1.0, unit: str = ""
) -> list[tuple[str, ...]]:
    """Which axis to halve first, as rows of a table, the head first; in a unit of that size, else in SI units."""
    found = ranking(study, metric, limit)
    part = indices(study, metric)
    unit = (unit or str(study[metric].attrs.get("units", ""))).replace("*", " ")
    head = ["halve", f"mean falls by/{unit or 1}", f"P95 falls by/{unit or 1}"]
    head += ["share beyond the limit then"] if limit is not None else []
    rows: list[tuple[str, ...]] = [(*head, "share of the variance")]
    for i, factor in enumerate(found["factor"].values):
        cells = [str(factor)]
        for name in ("gain", "gain_high"):
            gain, error = (float(found[key][i]) / size for key in (name, f"{name}_error"))
            cells.append(f"{gain:.4g} +- {error:.2g}")
        if limit is not None:
            cells.append(f"{100 * float(found['beyond'][i]):.3g} % (now {100 * found.attrs['beyond']:.3g} %)")
        own = part.sel(factor=factor)
        kind = "total" if "total" in part else "first"
        cells.append(f"{float(own[kind]):.3f} +- {float(own[f'{kind}_error']):.3f} ({kind})")
        rows.append(tuple(cells))
    return rows


def caution(study: Dataset, metric: str, limit: float | None = None) -> str:
    """What the ranking rests on."""
    explained = ranking(study, metric, limit).attrs["explained"]
    weak = "; that is little: compute the study again with the axis halved before you rely on it"
    return f"a quadratic surface through the runs explains {100 * explained:.0f} % of the variance" + (
        weak if explained < 0.8 else ""
    )


def replay_command(store: Any, run: int | str) -> str:
    """What to type to see one run of a study."""
    return f"jointplay sweep replay {shlex.quote(str(store))} {run}"


def described(plan: Plan) -> str:
    """The axes of a study on one line."""
    return " x ".join(f"{d.name} ({len(d)})" for d in plan.dimensions)
