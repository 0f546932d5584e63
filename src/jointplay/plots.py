"""Figures of results: one function for each, from a Dataset to a matplotlib Figure; they never touch pyplot."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, told apart by the colour-blind; yellow is left out, too pale for a line on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
OVER = (0, (4, 4))  # a line upon another: half of each is seen
STYLES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)))
TURN = 2 * math.pi
STILL = 1e-6  # rad: a body that turns less than this while it moves is sliding
SPIKE = 3  # times the largest sample: a peak beyond is not drawn to scale
LINE = 90  # characters that a line of a legend may hold
WIDTH, HEIGHT = 7.2, 1.9  # inches, of the figure and of one row of panels

Look = dict[str, Any]
Looks = Mapping[str, Look]
_LOOK: dict[Any, Any] = {
    "font.size": 8.5,
    "axes.labelsize": 8.5,
    "axes.titlesize": 9,
    "axes.linewidth": 0.6,
    "axes.edgecolor": "#444444",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "xtick.direction": "out",
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}


def motion(run: xarray.Dataset, bodies: Sequence[str] | None = None) -> Figure:
    """Angles and angular rates of the bodies (of sliding ones position and speed), and below the joint forces.

    bodies: names of those to show, all by default.  Angles that pass a whole turn are drawn between -pi and pi.
    Dots mark the largest force of each joint over all internal steps, which samples may miss; a triangle at the top
    stands for one far beyond the samples.
    """
    import matplotlib
    from matplotlib.figure import Figure

    chosen = _chosen(run, bodies)
    look = {name: _look(i) for i, name in enumerate(chosen)}
    sliding = [name for name in chosen if _slides(run.sel(body=name))]
    turning = [name for name in chosen if name not in sliding]
    joints = [str(j) for j in run.joint.values if np.nansum(_force(run, j)) > 0] if "force_x" in run else []
    rows = [(names, draw) for names, draw in ((turning, _turns), (sliding, _slides_along), (joints, _forces)) if names]
    with matplotlib.rc_context(_LOOK):
        figure = Figure(figsize=(WIDTH, HEIGHT * len(rows) + 0.45), layout="constrained")
        grid = figure.add_gridspec(len(rows), 2)
        for i, (names, draw) in enumerate(rows):
            places = [grid[i, :]] if names is joints else [grid[i, 0], grid[i, 1]]
            axes = [figure.add_subplot(place) for place in places]
            draw(axes, run, names, look)
            _legend(axes[0])
            for ax in axes:
                ax.margins(x=0)
                ax.set_xlabel("time (s)")
        _heading(figure, run)
    return figure


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure, whole or not at all; the suffix (.png, .pdf, .svg) says how."""
    target = Path(path)
    temporary = target.with_name(f".{target.stem}.{os.getpid()}.tmp{target.suffix}")
    try:
        figure.savefig(temporary, dpi=200)
        os.replace(temporary, target)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _chosen(run: xarray.Dataset, bodies: Iterable[str] | None) -> list[str]:
    known = [str(name) for name in run.body.values]
    chosen = known if bodies is None else [bodies] if isinstance(bodies, str) else list(bodies)
    for name in chosen:
        if name not in known:
            raise ValueError(f"no body {name!r} in this result; there are {', '.join(known)}")
    return chosen


def _look(i: int) -> Look:
    return {"color": COLOURS[i % len(COLOURS)], "linestyle": STYLES[i // len(COLOURS) % len(STYLES)]}


def _span(values: Any) -> float:
    array = np.asarray(values)
    return float(np.nanmax(array) - np.nanmin(array)) if np.isfinite(array).any() else 0.0


def _slides(body: xarray.Dataset) -> bool:
    return _span(body.angle) < STILL < 1e3 * max(_span(body.x), _span(body.y))


def _turns(axes: Sequence[Axes], run: xarray.Dataset, names: Sequence[str], look: Looks) -> None:
    left, right = axes
    angles = {name: np.array(run.angle.sel(body=name)) for name in names}
    turned = any(_span(angle) > TURN for angle in angles.values())
    for angle in angles.values():
        angle -= TURN * np.round(np.nanmean(angle) / TURN)
        if turned and np.nanmax(np.abs(angle)) > math.pi:
            angle -= TURN * np.round(angle / TURN)
            angle[1:][np.abs(np.diff(angle)) > math.pi] = np.nan  # no line from pi down to -pi
    _lines(left, run, {name: (angles[name], look[name]) for name in names})
    _lines(right, run, {name: (run.angle_rate.sel(body=name).values, look[name]) for name in names})
    left.set_ylabel("angle (rad)")
    right.set_ylabel("angular rate (rad/s)")
    if turned:
        marks = {-2: r"$-\pi$", -1: r"$-\pi/2$", 0: "0", 1: r"$\pi/2$", 2: r"$\pi$"}
        left.set_yticks([k * math.pi / 2 for k in marks], list(marks.values()))
        left.set_ylim(-1.05 * math.pi, 1.05 * math.pi)


def _slides_along(axes: Sequence[Axes], run: xarray.Dataset, names: Sequence[str], look: Looks) -> None:
    left, right = axes
    places, speeds = {}, {}
    for name in names:
        body = run.sel(body=name)
        spans = {axis: _span(body[axis]) for axis in "xy"}
        moving = [axis for axis in "xy" if spans[axis] > 1e-6 * max(spans.values())]
        for axis in moving:
            style = look[name] | ({"linestyle": STYLES[1]} if axis == "y" and len(moving) == 2 else {})
            places[f"{name}, {axis}"] = body[axis].values, style
            speeds[f"{name}, {axis}"] = body[f"{axis}_rate"].values, style
    _lines(left, run, places)
    _lines(right, run, speeds)
    left.set_ylabel("position (m)")
    right.set_ylabel("speed (m/s)")


def _force(run: xarray.Dataset, joint: Any) -> np.ndarray:
    here = run.sel(joint=joint)
    return np.hypot(here.force_x.values, here.force_y.values)


def _forces(axes: Sequence[Axes], run: xarray.Dataset, joints: Sequence[str], _: Looks) -> None:
    (ax,) = axes
    _lines(ax, run, {joint: (_force(run, joint), _look(i)) for i, joint in enumerate(joints)})
    peaks = run.sel(joint=list(joints))
    sampled = max(float(np.nanmax(_force(run, joint))) for joint in joints)
    highest = float(peaks.peak_force.max())
    top = 1.08 * (highest if highest < SPIKE * sampled else sampled)  # a spike must not flatten all the rest
    ax.set_ylim(0, top)
    for i, (at, peak) in enumerate(zip(peaks.peak_force_time.values, peaks.peak_force.values, strict=True)):
        marker = "o" if peak < top else "^"
        ax.plot(at, min(peak, top), marker, markersize=3.5, color=COLOURS[i % len(COLOURS)], clip_on=False)
    ax.set_ylabel("joint force (N)")


def _lines(ax: Axes, run: xarray.Dataset, series: Mapping[str, tuple[np.ndarray, Look]]) -> None:
    """Draw each series; one that lies upon an earlier one is dashed, so that both are seen."""
    size = max((_span(values) for values, _ in series.values()), default=0.0)
    drawn: list[np.ndarray] = []
    for label, (values, style) in series.items():
        hidden = any(np.nanmax(np.abs(values - other), initial=0.0) <= 0.005 * size for other in drawn)
        ax.plot(run.time.values, values, label=label, **(style | ({"linestyle": OVER} if hidden else {})))
        drawn.append(values)
    largest = max((float(np.nanmax(np.abs(values), initial=0.0)) for values in drawn), default=0.0)
    if size < 1e-9 * max(1.0, largest):  # round-off is not worth a scale of its own
        middle = float(np.nanmean(drawn[0])) if drawn and np.isfinite(drawn[0]).any() else 0.0
        ax.set_ylim(middle - 0.1 * max(1.0, largest), middle + 0.1 * max(1.0, largest))


def _legend(ax: Axes) -> None:
    """Names above the panel, in lines that may run on over the next panel: its layout does not know of them."""
    handles, labels = ax.get_legend_handles_labels()
    columns = min(len(labels), max(1, LINE // (max(map(len, labels)) + 5)))
    lines = math.ceil(len(labels) / columns)
    order = [i for column in range(columns) for i in range(column, len(labels), columns)]  # it fills columns, not rows
    legend = ax.legend(
        [handles[i] for i in order],
        [labels[i] for i in order],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=columns,
        handlelength=2,
        columnspacing=1.2,
        borderaxespad=0.2,
    )
    legend.set_in_layout(False)
    ax.set_title("\n" * (lines - 1) + " ", loc="left", linespacing=1.3)  # holds the place


def _heading(figure: Figure, run: xarray.Dataset) -> None:
    figure.suptitle(run.attrs.get("title", ""), x=0.01, ha="left", fontsize=10, fontweight="bold")
    if run.attrs.get("outcome", "done") != "done":
        figure.text(0.99, 0.995, f"ended early: {run.attrs['outcome']}", ha="right", va="top", color=COLOURS[1])
