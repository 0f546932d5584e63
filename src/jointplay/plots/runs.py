"""Several runs at once: a quantity over two parameters, and contacts side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..results import flat
from ..series import spelled
from .motion import ALIKE, force
from .style import IDEAL, STYLES, in_view, largest, legend, look, over_time, sheet, spoken

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE = 38  # characters along a side of a small figure
FINE = 8  # cells along each axis: fewer have no contour lines, which would say more than was computed


def contour(table: xarray.DataArray, levels: int = 8, logarithmic: bool = False) -> Figure:
    """A quantity over two parameters: a cell of one colour for each that was computed, and nothing in between; from
    8 x 8 cells on with contour lines.  Cells without a number are hatched.

    table: a DataArray with two dimensions, the first up, the second along; its name, `long_name` and `units` and
    those of its coordinates are the labels; angles and lengths are drawn in degrees, mm or µm.  levels: about how many
    colours; logarithmic: by factors, for what is > 0.
    """
    if table.ndim != 2 or min(table.shape) < 2:
        raise InputError(f"a contour needs a table of at least 2 x 2 values, got the shape {tuple(table.shape)}")
    table = ordered(table)
    up, along = (str(name) for name in table.dims)
    shown, what = in_words(table, str(table.name or "value"))
    (x, right), (y, upward) = (in_words(table[name], name) for name in (along, up))
    values = np.ma.masked_invalid(shown.astype(float))
    if logarithmic:
        values = np.ma.masked_less_equal(values, 0)
    if not values.count():
        raise InputError("the table holds no number to draw")
    with sheet(None, 3.4, width=4.8, caption="Each cell is one computation.") as figure:
        ax = figure.add_subplot()
        cells = _cells(ax, x, y, values, levels, logarithmic)
        figure.colorbar(cells, ax=ax, label=what, pad=0.02)
        ax.set_xlabel(right)
        ax.set_ylabel(upward)
        ax.grid(False)
        figure.suptitle(table.attrs.get("title", ""), x=0.01, ha="left", fontsize=10, fontweight="bold")
    return figure


def _cells(ax: Axes, x: np.ndarray, y: np.ndarray, values: Any, levels: int, logarithmic: bool) -> Any:
    """A cell for each value, and lines of equal value where there are enough of them."""
    from matplotlib.colors import BoundaryNorm
    from matplotlib.patheffects import withStroke
    from matplotlib.ticker import LogLocator, MaxNLocator

    low, high = float(values.min()), float(values.max())
    steps = LogLocator(subs=(1, 2, 5)) if logarithmic else MaxNLocator(levels)
    edges = np.unique(steps.tick_values(low, high if high > low else low + (abs(low) or 1.0)))
    ax.patch.set(hatch="////", edgecolor="#B0B0B0", facecolor="white")
    cells = ax.pcolormesh(x, y, values, cmap="cividis", norm=BoundaryNorm(edges, 256), shading="nearest")
    if min(values.shape) >= FINE:
        lined = ax.contour(x, y, values, levels=edges, colors="white", linewidths=0.5)
        for text in ax.clabel(lined, fontsize=7, fmt="%.4g", colors="white"):
            text.set_path_effects([withStroke(linewidth=1.2, foreground="#333333")])
        return cells
    cells.set(edgecolor="white", linewidth=0.6)
    for places, marked in ((x, ax.set_xticks), (y, ax.set_yticks)):
        if len(places) <= FINE:
            marked(places)
    return cells


def comparison(runs: Mapping[str, xarray.Dataset], signals: Sequence[str]) -> Figure:
    """The same signals of several runs, by name: rigid, compliant and permanent contact beside the ideal joint.

    signals: names such as `rocker.angle_acceleration` or `slider.x_rate`; `J2.force` is the magnitude of a joint's
    force.  A run named ideal is drawn grey and behind the others.  Three and more others have a column of panels each,
    on one scale.
    """
    if not runs or not signals:
        raise InputError("comparison needs at least one run and one signal, such as 'J2.force'")
    others = [name for name in runs if name != "ideal"]
    columns = [[name] for name in others] if len(others) > ALIKE else [others]
    if "ideal" in runs:
        columns = [["ideal", *some] for some in columns]
    text = "The same signals of several runs" + (", grey: ideal joints." if "ideal" in runs else ".")
    with sheet(None, 1.7 * len(signals) + 0.5, caption=text) as figure:
        axes = figure.subplots(len(signals), len(columns), sharex=True, sharey="row", squeeze=False)
        for row, signal in zip(axes, signals, strict=True):
            values = {name: _signal(run, signal, name) for name, run in runs.items()}
            unit = next(iter(values.values()))[1]
            drawn = {name: found for name, (found, _) in values.items()}
            for ax, names in zip(row, columns, strict=True):
                _compared(ax, runs, drawn, names, others)
            if in_view(row[0], list(drawn.values())):
                high = max(drawn, key=lambda name: largest(drawn[name]))
                ax = row[next(i for i, names in enumerate(columns) if high in names)]
                inside: dict[str, Any] = {"ha": "right", "va": "top", "fontsize": 7.5, "color": "#555555"}
                ax.text(0.99, 0.97, f"peaks reach {largest(drawn[high]):.3g} {unit}", transform=ax.transAxes, **inside)
            row[0].set_ylabel("\n".join((*signal.replace("_", " ").rsplit(".", 1), f"({unit})")))
        for ax in axes[0]:
            legend(ax)
        first = next(iter(runs.values()))
        figure.suptitle(first.attrs.get("title", ""), x=0.01, ha="left", fontsize=10, fontweight="bold")
        axes[0, 0].margins(x=0)
        over_time(axes[-1])
    return figure


def _compared(
    ax: Axes,
    runs: Mapping[str, xarray.Dataset],
    drawn: Mapping[str, np.ndarray],
    names: Sequence[str],
    others: Sequence[str],
) -> None:
    """One signal of some runs in one panel."""
    for name in names:
        style: dict[str, Any] = {"color": IDEAL, "linewidth": 2.2}
        if name != "ideal":
            i = others.index(name)
            style = look(i) | {"linewidth": 1.1, "linestyle": STYLES[0] if len(names) <= ALIKE else STYLES[i % 4]}
        ax.plot(runs[name].time.values, drawn[name], label=name, **style)


def _signal(run: xarray.Dataset, signal: str, name: str) -> tuple[np.ndarray, str]:
    signal = spelled(signal)
    owner, _, part = signal.rpartition(".")
    if part == "force" and "joint" in run.coords and owner in run.joint:
        return force(run, owner), "N"
    columns = flat(run)
    if signal not in columns:
        raise InputError(f"run {name!r} has no signal {signal!r}; there are {', '.join(list(columns)[1:13])}, ...")
    return columns[signal], str(run[part].attrs.get("units", "")).replace("^2", "²") if part in run else ""


def ordered(table: xarray.DataArray) -> xarray.DataArray:
    """A table with the numbers along its axes in order, as figures draw them: more of them may have come later."""
    return table.sortby([name for name in table.dims if np.issubdtype(table[name].dtype, np.number)])


def in_words(array: xarray.DataArray, name: str) -> tuple[np.ndarray, str]:
    """Values in the unit that people read, and the label of their axis, in lines that a small panel holds."""
    size, unit = in_unit(array)
    text = str(array.attrs.get("long_name", name)) + (f" ({unit})" if unit else "")
    return array.values if size == 1 else array.values / size, textwrap.fill(text, LINE)


def in_unit(array: xarray.DataArray) -> tuple[float, str]:
    """The unit in which values read well, as its size in SI units and its name: degrees, mm or µm."""
    size, unit = spoken(
        str(array.attrs.get("units", "")), largest(array) if np.issubdtype(array.dtype, np.number) else 0.0
    )
    return size, unit.replace("*", " ")
