"""Several runs at once: a quantity over two parameters, and contacts side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..results import flat
from .motion import force
from .style import IDEAL, STYLES, in_view, largest, legend, look, note, over_time, sheet

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure


def contour(table: xarray.DataArray, levels: int = 8, logarithmic: bool = False) -> Figure:
    """A quantity over two parameters, as filled contours; dots mark what was computed.

    table: a DataArray with two dimensions, the first up, the second along; its name, `long_name` and `units` and
    those of its coordinates are the labels.  logarithmic: levels by factors, for what is > 0.
    """
    from matplotlib.colors import LogNorm
    from matplotlib.patheffects import withStroke
    from matplotlib.ticker import LogLocator, MaxNLocator

    if table.ndim != 2 or min(table.shape) < 2:
        raise InputError(f"a contour needs a table of at least 2 x 2 values, got the shape {tuple(table.shape)}")
    up, along = (str(name) for name in table.dims)
    values = np.ma.masked_invalid(table.values.astype(float))
    if logarithmic:
        values = np.ma.masked_less_equal(values, 0)
    if not values.count():
        raise InputError("the table holds no number to draw")
    with sheet(None, 3.4, width=4.8) as figure:
        ax = figure.add_subplot()
        chosen: dict[str, Any] = {"locator": LogLocator(subs=(1, 2, 5)), "norm": LogNorm()} if logarithmic else {}
        if not logarithmic:
            chosen = {"levels": MaxNLocator(levels).tick_values(float(values.min()), float(values.max()))}
        x, y = table[along].values, table[up].values
        filled = ax.contourf(x, y, values, cmap="cividis", **chosen)
        inner = list(filled.levels)[1:-1]
        if inner:
            lined = ax.contour(x, y, values, levels=inner, colors="white", linewidths=0.4)
            for text in ax.clabel(lined, fontsize=7, fmt="%.4g", colors="white"):
                text.set_path_effects([withStroke(linewidth=1.2, foreground="#333333")])
        across, upward = (places.ravel() for places in np.meshgrid(x, y))
        dots: dict[str, Any] = {"markersize": 3, "markeredgecolor": "#333333", "markeredgewidth": 0.6, "clip_on": False}
        ax.plot(across, upward, "o", color="white", **dots)
        figure.colorbar(filled, ax=ax, label=_label(table, str(table.name or "value")), pad=0.02)
        ax.set_xlabel(_label(table[along], along))
        ax.set_ylabel(_label(table[up], up))
        ax.grid(False)
        figure.suptitle(table.attrs.get("title", ""), x=0.01, ha="left", fontsize=10, fontweight="bold")
    return figure


def comparison(runs: Mapping[str, xarray.Dataset], signals: Sequence[str]) -> Figure:
    """The same signals of several runs, by name: rigid, compliant and permanent contact beside the ideal joint.

    signals: names such as `rocker.angle_acceleration` or `slider.x_rate`; `J2.force` is the magnitude of a joint's
    force.  A run named ideal is drawn grey and behind the others.
    """
    if not runs or not signals:
        raise InputError("comparison needs at least one run and one signal, such as 'J2.force'")
    with sheet(None, 1.7 * len(signals) + 0.5) as figure:
        axes = figure.subplots(len(signals), 1, sharex=True, squeeze=False)[:, 0]
        order = sorted(runs, key=lambda name: name != "ideal")
        for ax, signal in zip(axes, signals, strict=True):
            drawn, unit = [], ""
            for name in order:
                values, unit = _signal(runs[name], signal, name)
                i = [other for other in runs if other != "ideal"].index(name) if name != "ideal" else 0
                style = look(i) | {"linewidth": 1.1, "linestyle": STYLES[i % 4]}
                if name == "ideal":
                    style = {"color": IDEAL, "linewidth": 2.2}
                ax.plot(runs[name].time.values, values, label=name, **style)
                drawn.append(values)
            if in_view(ax, drawn):
                note(ax, f"peaks reach {max(map(largest, drawn)):.3g} {unit}")
            ax.set_ylabel("\n".join((*signal.replace("_", " ").rsplit(".", 1), f"({unit})")))
        legend(axes[0])
        first = next(iter(runs.values()))
        figure.suptitle(first.attrs.get("title", ""), x=0.01, ha="left", fontsize=10, fontweight="bold")
        axes[0].margins(x=0)
        over_time(axes[-1:])
    return figure


def _signal(run: xarray.Dataset, signal: str, name: str) -> tuple[np.ndarray, str]:
    owner, _, part = signal.rpartition(".")
    if part == "force" and "joint" in run.coords and owner in run.joint:
        return force(run, owner), "N"
    columns = flat(run)
    if signal not in columns:
        raise InputError(f"run {name!r} has no signal {signal!r}; there are {', '.join(list(columns)[1:13])}, ...")
    return columns[signal], str(run[part].attrs.get("units", "")).replace("^2", "²") if part in run else ""


def _label(array: xarray.DataArray, name: str) -> str:
    text, unit = str(array.attrs.get("long_name", name)), str(array.attrs.get("units", ""))
    return f"{text} ({unit})" if unit else text
