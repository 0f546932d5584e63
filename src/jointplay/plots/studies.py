"""What a study means: distributions, series over an axis, shares of the variance, which clearance to halve first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..studies.axes import RUN
from ..studies.meaning import done, indices, lacking, numbers, percentiles, share
from ..studies.meaning import ranking as ranked
from ..studies.telling import OUTSIDE
from .runs import in_unit, in_words, ordered
from .style import COLOURS, IDEAL, legend, look, sheet

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

EDGE = "#333333"


def histogram(study: xarray.Dataset, metric: str, limit: float | None = None, bins: int | None = None) -> Figure:
    """The distribution of a metric over the runs of a study, with P5, P50 and P95 and the share beyond a limit.

    bins: by default as many as the root of the number of runs, 5 to 40.
    """
    values, good = numbers(study, metric)
    bins = bins or min(40, max(5, math.ceil(math.sqrt(good.sum()))))
    size, unit = in_unit(study[metric])
    values = values / size
    marks = {p: x / size for p, x in percentiles(study, metric).items()}
    found = None if limit is None else share(study, metric, limit)
    limit = None if limit is None else limit / size
    with sheet(None, 2.9, width=5.6) as figure:
        ax = figure.add_subplot()
        edges = _edges(values[good], bins, limit)
        for k, (chosen, colour) in enumerate(
            ((values[good], COLOURS[0]), (values[good & (values > limit)] if limit is not None else [], COLOURS[1]))
        ):
            if len(chosen):
                ax.hist(chosen, edges, color=colour, edgecolor="white", linewidth=0.4, zorder=2 + k)
        top = ax.get_ylim()[1]
        ax.set_ylim(0, 1.22 * top)
        for p, x in marks.items():
            ax.axvline(x, ymax=0.86, color=EDGE, linewidth=0.9, linestyle="--", zorder=4)
            ax.annotate(f"P{p:g}\n{x:.3g}", (x, 1.06 * top), ha="center", va="bottom", fontsize=7.5, color=EDGE)
        if limit is not None and found is not None:
            ax.axvline(limit, color=COLOURS[1], linewidth=1.4, zorder=5)
            text = f"{100 * found.share:.3g} % beyond {limit:g} {unit}"
            if found.low == found.low:
                text += f" ({100 * found.low:.3g} to {100 * found.high:.3g} %)"
            ax.set_title(text, loc="right", fontsize=8.5, color=COLOURS[1])
        ax.set_xlabel(f"{study[metric].attrs.get('long_name', metric)}" + (f" ({unit})" if unit else ""))
        ax.set_ylabel("runs")
        ax.grid(axis="x", visible=False)
        ax.set_title(_counted(study, metric, good), loc="left", fontsize=8.5, color="#555555")
        figure.suptitle(study.attrs.get("title", ""), x=0.01, ha="left", fontsize=10, fontweight="bold")
    return figure


def _counted(study: xarray.Dataset, metric: str, good: np.ndarray) -> str:
    """How many runs have a number, failed, or have none for another reason."""
    ran = done(study)
    failed, lost = int((~ran).sum()), int((ran & ~good).sum())
    said = f"{int(good.sum())} runs" + (f", {failed} failed" if failed else "")
    return said + (f", {lost} {lacking(metric)}" if lost else "")


def _edges(values: np.ndarray, bins: int, limit: float | None) -> list[float]:
    """Edges of equal bins, one of them at the limit where that lies among the values."""
    edges: np.ndarray = np.histogram_bin_edges(values, bins)
    if limit is None or not edges[0] < limit < edges[-1]:
        return [float(x) for x in edges]
    width = edges[1] - edges[0]
    first, last = math.floor((edges[0] - limit) / width), math.ceil((edges[-1] - limit) / width)
    return [float(limit + k * width) for k in range(first, last + 1)]


def series(study: xarray.Dataset, metric: str, along: str | None = None) -> Figure:
    """A metric over one axis of a study, a line for each value of another."""
    table = ordered(study[metric])
    axes = [str(d) for d in table.dims]
    along = along or axes[0]
    if along not in axes or len(axes) > 2 or along == RUN:
        raise InputError(f"series needs a study over one or two axes, along one of {', '.join(axes)}; choose with sel")
    others = [d for d in axes if d != along]
    with sheet(None, 3.0, width=5.2) as figure:
        ax = figure.add_subplot()
        (x, right), (y, upward) = in_words(table[along], along), in_words(table.transpose(along, ...), metric)
        for i, (name, line) in enumerate(zip(_named(table, others), y.reshape(len(x), -1).T, strict=True)):
            ax.plot(x, line, marker="o", markersize=3, label=name, **look(i))
        if others:
            ax.legend(loc="best")
        ax.set_xlabel(right)
        ax.set_ylabel(upward)
        figure.suptitle(study.attrs.get("title", ""), x=0.01, ha="left", fontsize=10, fontweight="bold")
    return figure


def _named(table: xarray.DataArray, axes: list[str]) -> list[str]:
    """The names of the lines of a series: by the values of another axis, if there is one."""
    if not axes:
        return ["_"]
    size, unit = in_unit(table[axes[0]])
    values = table[axes[0]].values
    shown = [f"{value / size:.4g}" if isinstance(value, float) else str(value) for value in values]
    return [f"{axes[0]} = {text} {unit}".rstrip() for text in shown]


def sensitivity(study: xarray.Dataset, metric: str) -> Figure:
    """Sobol indices of a metric with their standard errors: the share of its variance that each axis explains."""
    found = indices(study, metric)
    names = [str(name) for name in found["factor"].values]
    kinds = [kind for kind in ("first", "total") if kind in found]
    with sheet(None, 1.0 + 0.45 * len(names), width=5.2) as figure:
        ax = figure.add_subplot()
        for k, kind in enumerate(kinds):
            places = np.arange(len(names)) + 0.38 * (k - 0.5 * (len(kinds) - 1))
            text = "alone (first order)" if kind == "first" else "alone and with others (total)"
            bars(ax, places, found[kind].values, found[f"{kind}_error"].values, COLOURS[k], text, 0.36)
        ax.set_yticks(np.arange(len(names)), names)
        ax.invert_yaxis()
        ax.set_xlabel(f"share of the variance of {metric}")
        ax.axvline(0, color=EDGE, linewidth=0.6)
        legend(ax)
        figure.suptitle(study.attrs.get("title", ""), x=0.01, ha="left", fontsize=10, fontweight="bold")
    return figure


def ranking(study: xarray.Dataset, metric: str, limit: float | None = None) -> Figure:
    """Which clearance to halve first: what that gains of the mean and of the 95th percentile of a metric."""
    found = ranked(study, metric, limit)
    names = [str(name) for name in found["factor"].values]
    size, unit = in_unit(study[metric])
    with sheet(None, 1.1 + 0.5 * len(names), width=5.6) as figure:
        ax = figure.add_subplot()
        for k, (name, text) in enumerate((("gain", "of the mean"), ("gain_high", "of the 95th percentile"))):
            places = np.arange(len(names)) + 0.38 * (k - 0.5)
            bars(
                ax, places, found[name].values / size, found[f"{name}_error"].values / size, COLOURS[2 + k], text, 0.36
            )
        shown = names
        if limit is not None:
            now = 100 * found.attrs["beyond"]
            then = [100 * float(x) for x in found["beyond"].values]
            shown = [f"{name}\n{now:.3g} % → {x:.3g} % beyond" for name, x in zip(names, then, strict=True)]
        ax.set_yticks(np.arange(len(names)), [f"halve {name}" for name in shown])
        ax.invert_yaxis()
        ax.axvline(0, color=EDGE, linewidth=0.6)
        ax.set_xlabel(f"fall of {metric}" + (f" ({unit})" if unit else ""))
        legend(ax)
        said = f"surface through the runs explains {100 * found.attrs['explained']:.0f} %"
        said += ", and goes on beyond them" if (found["outside"] > OUTSIDE).any() else ""
        figure.text(0.99, 0.985, said, ha="right", va="top", fontsize=7.5, color=IDEAL)
        figure.suptitle(study.attrs.get("title", ""), x=0.01, ha="left", fontsize=10, fontweight="bold")
    return figure


def bars(
    ax: Any, places: np.ndarray, values: np.ndarray, errors: np.ndarray, colour: str, text: str, size: float
) -> None:
    """Horizontal bars with 95 % error bars."""
    ax.barh(places, values, size, color=colour, label=text, zorder=2)
    ax.errorbar(values, places, xerr=1.96 * errors, fmt="none", ecolor=EDGE, elinewidth=0.9, capsize=2.5, zorder=3)
