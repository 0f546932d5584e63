"""What all figures share: colours, lines, legends, headings and files."""

from __future__ import annotations

import base64
import contextlib
import functools
import html
import io
import math
import os
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import writing
from ..errors import InputError
from ..parts.units import NOTHING as NOTHING
from ..parts.units import scale as scale
from ..parts.units import spoken as spoken

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, told apart by the colour-blind; yellow is left out, too pale for a line on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
IDEAL = "#8A8A8A"
OVER = (0, (4, 4))  # a line upon another: half of each is seen
STYLES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)))
TURN = 2 * math.pi
SPIKE = 3  # times the largest sample: a peak beyond is not drawn to scale
LINE = 90  # characters that a line of a legend may hold
WIDTH, HEIGHT = 7.2, 1.9  # inches, of the figure and of one row of panels
NOTEBOOK = 150  # dots per inch in a notebook
LOAD, ENERGY = 1e-6, 1e-9  # N or N m, J: sizes beside which loads and energies of tiny mechanisms are no rounding
MANY = 12  # bodies, joints or contacts that a figure shows unless it is asked for more by name

Look = dict[str, Any]
Looks = Mapping[str, Look]
Curves = Mapping[str, tuple[np.ndarray, Look]]
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


@functools.cache
def captioned() -> type[Figure]:
    """The class of our figures: they have a caption, and notebooks show them without further ado."""
    from matplotlib.figure import Figure

    class Captioned(Figure):
        caption = ""

        def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
            stream = io.BytesIO()
            self.savefig(stream, format="png", dpi=NOTEBOOK)
            data = base64.b64encode(stream.getvalue()).decode("ascii")
            width = round(96 * self.get_figwidth())
            image = f'<img width="{width}" alt="{html.escape(self.caption)}" src="data:image/png;base64,{data}">'
            caption = f"<figcaption>{html.escape(self.caption)}</figcaption>" if self.caption else ""
            return {"image/png": data, "text/html": f"<figure>{image}{caption}</figure>"}

    return Captioned


@contextlib.contextmanager
def sheet(
    run: xarray.Dataset | None, height: float, width: float = WIDTH, caption: str = "", left_out: str = ""
) -> Iterator[Figure]:
    """An empty figure in our look (inches), with the heading of a run and letters of panels once it is drawn.

    left_out: what is not shown, and how to ask for it; at the bottom.
    """
    import matplotlib

    with matplotlib.rc_context(_LOOK):
        figure = captioned()(figsize=(width, height), layout="constrained")
        yield figure
        if run is not None:
            heading(figure, run)
        letters(figure)
        if left_out:
            figure.supxlabel(left_out, x=0.01, ha="left", fontsize=7.5, color="#555555")
            caption = f"{caption} {left_out}".strip()
        enough_ticks(figure)
        figure.caption = _caption(run, caption)  # type: ignore[attr-defined]


def _caption(run: xarray.Dataset | None, text: str) -> str:
    if not text or run is None:
        return text
    title, stepper = run.attrs.get("title", ""), run.attrs.get("stepper", "")
    return f"{title}: {text}" + (f" Computed with {stepper}." if stepper else "")


def enough_ticks(figure: Figure) -> None:
    """Three numbers along each axis at least: one alone does not tell its scale."""
    from matplotlib.ticker import AutoLocator

    for axis in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
        locator = axis.get_major_locator()
        if isinstance(locator, AutoLocator):
            locator.set_params(min_n_ticks=3)


def letters(figure: Figure) -> None:
    """Letters (a), (b), ... beside the panels, where there are several; axes upon others and colour bars have none."""
    taken: list[tuple[float, ...]] = []
    panels = []
    for ax in figure.axes:
        spec = ax.get_subplotspec()
        place = () if spec is None else (id(spec.get_gridspec()), spec.num1, spec.num2)
        if place and place not in taken:
            taken.append(place)
            panels.append(ax)
    if len(panels) < 2:
        return
    for ax, letter in zip(panels, string.ascii_lowercase, strict=False):
        text = ax.annotate(
            f"({letter})", (0, 1), xycoords="axes fraction", xytext=(-6, 5), textcoords="offset points",
            ha="right", va="bottom", fontsize=8.5, fontweight="bold", annotation_clip=False,
        )  # fmt: skip
        text.set_in_layout(False)
        if not ax.get_title("left"):
            ax.set_title(" ", loc="left")  # holds the place


def heading(figure: Figure, run: xarray.Dataset) -> None:
    """The name of the mechanism, and in red that a run ended early."""
    figure.suptitle(run.attrs.get("title", ""), x=0.01, ha="left", fontsize=10, fontweight="bold")
    if run.attrs.get("outcome", "done") != "done":
        figure.text(0.99, 0.995, f"ended early: {run.attrs['outcome']}", ha="right", va="top", color=COLOURS[1])


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure, whole or not at all; the suffix (.png, .pdf, .svg) says how.  Its caption goes into the file."""
    image, kind = io.BytesIO(), Path(path).suffix.lower().removeprefix(".") or None
    if kind not in (None, *figure.canvas.get_supported_filetypes()):
        raise InputError(f"{path}: no figure can be written as .{kind}; use .png, .pdf or .svg")
    if not Path(path).parent.is_dir():
        raise InputError(f"{path}: no such directory {str(Path(path).parent)!r}; create it first")
    key, caption = {"pdf": "Subject"}.get(str(kind), "Description"), getattr(figure, "caption", "")
    known: dict[str, Any] = {"metadata": {key: caption}} if caption and kind in ("png", "pdf", "svg") else {}
    figure.savefig(image, dpi=200, format=kind, **known)
    writing.write(path, image.getvalue())


def chosen(run: xarray.Dataset, dimension: str, names: Iterable[str] | str | None) -> list[str]:
    """The names asked for along a dimension, all by default; an unknown one is refused."""
    known = [str(name) for name in run[dimension].values] if dimension in run.coords else []
    asked = known if names is None else [names] if isinstance(names, str) else list(names)
    for name in asked:
        if name not in known:
            raise InputError(f"no {dimension} {name!r} in this result; there are {', '.join(known) or 'none'}")
    return asked


def foremost(
    names: Sequence[str], groups: Iterable[Mapping[str, float]], which: str, what: str, others: str = ""
) -> tuple[list[str], str]:
    """Of more than MANY names the foremost, in their order, and the line that says so; else all.

    groups: sizes by name; those of different groups, as radians and metres, are not compared but taken in turn.
    what: the figure's parameter that takes names; others: how to see the others where it has none.
    """
    if len(names) <= MANY:
        return list(names), ""
    ranks = {name: i for sizes in groups for i, name in enumerate(sorted(sizes, key=sizes.__getitem__, reverse=True))}
    kept = set(sorted(names, key=ranks.__getitem__)[:MANY])
    others = others or f"name others with {what}=[...] or --of"
    return [name for name in names if name in kept], f"Shown are the {MANY} of {len(names)} {what} {which}; {others}."


def needs(run: xarray.Dataset, variable: str, remedy: str) -> None:
    """Refuse a result without a variable, and one without samples."""
    if not run.sizes.get("time", 1):
        raise InputError(
            "this result holds no samples, so there is nothing to show; take a part that has some, or see outcome_text"
        )
    if variable not in run:
        raise InputError(f"this result has no {variable}: {remedy}")


def look(i: int) -> Look:
    """Colour and line of the i-th series; 28 are told apart."""
    return {"color": COLOURS[i % len(COLOURS)], "linestyle": STYLES[i // len(COLOURS) % len(STYLES)]}


def span(values: Any) -> float:
    """Largest less smallest; 0 where there is no number."""
    array = np.asarray(values, float)
    return float(np.ptp(array[np.isfinite(array)])) if np.isfinite(array).any() else 0.0


def largest(values: Any) -> float:
    """The largest magnitude that is finite; 0 where there is none."""
    sizes = np.abs(np.asarray(values, float))
    return float(sizes[np.isfinite(sizes)].max(initial=0.0))


def wrapped(angles: Mapping[str, np.ndarray]) -> tuple[dict[str, np.ndarray], bool]:
    """Angles (rad) near zero by whole turns; if one turns over, between -pi and pi with gaps, and True."""
    made = {name: np.array(angle, float) for name, angle in angles.items()}
    turned = any(span(angle) > TURN for angle in made.values())
    for angle in made.values():
        if not np.isfinite(angle).any():
            continue
        angle -= TURN * np.round(np.nanmean(angle) / TURN)
        if turned and largest(angle) > math.pi:
            angle -= TURN * np.round(angle / TURN)
            angle[1:][np.abs(np.diff(angle)) > math.pi] = np.nan  # no line from pi down to -pi
    return made, turned


def turns_axis(ax: Axes, which: str = "y") -> None:
    """An axis of angles from -180 to 180 degrees."""
    (ax.set_yticks if which == "y" else ax.set_xticks)([-180, -90, 0, 90, 180])
    (ax.set_ylim if which == "y" else ax.set_xlim)(-189, 189)


def lines(ax: Axes, time: np.ndarray, series: Curves, unit: float = 1.0) -> None:
    """Draw each series; one that lies upon an earlier one is dashed, so that both are seen.

    unit: see `no_round_off`."""
    size = max((span(values) for values, _ in series.values()), default=0.0)
    drawn: list[np.ndarray] = []
    for label, (values, style) in series.items():
        hidden = any(largest(values - other) <= 0.005 * size for other in drawn)
        ax.plot(time, values, label=label, **(style | ({"linestyle": OVER} if hidden else {})))
        drawn.append(values)
    no_round_off(ax, drawn, unit)


def no_round_off(ax: Axes, drawn: Sequence[np.ndarray], unit: float = 1.0) -> bool:
    """Wide limits where values differ by round-off only, which is not worth a scale of its own; True if so.

    unit: a size that counts beside the values themselves.
    """
    size, most = max(map(span, drawn), default=0.0), max([unit, *map(largest, drawn)])
    if size >= 1e-9 * most:
        return False
    middle = float(np.nanmean(drawn[0])) if drawn and np.isfinite(drawn[0]).any() else 0.0
    ax.set_ylim(middle - 0.1 * most, middle + 0.1 * most)
    return True


def behind(ax: Axes, time: np.ndarray, values: Any, label: str = "") -> None:
    """The ideal twin: thin and grey, behind the rest."""
    ax.plot(time, values, color=IDEAL, linewidth=0.9, zorder=1.5, label=label or "_ideal")


def in_view(ax: Axes, series: Iterable[np.ndarray]) -> bool:
    """Choose limits that spikes do not flatten: what 99 % of the samples need; True if something lies beyond."""
    found = [values[np.isfinite(values)] for values in map(np.asarray, series)]
    samples = np.concatenate(found) if found else np.zeros(0)
    if not samples.size:
        return False
    low, high = (float(x) for x in np.percentile(samples, [0.5, 99.5]))
    least, most = float(samples.min()), float(samples.max())
    room = 0.5 * max(high - low, 1e-12 * max(1.0, abs(most)))
    cut = most - high > SPIKE * 2 * room or low - least > SPIKE * 2 * room
    bottom, top = (max(least, low - room), min(most, high + room)) if cut else (least, most)
    if top > bottom:
        ax.set_ylim(bottom - 0.05 * (top - bottom), top + 0.05 * (top - bottom))
    return cut


def note(ax: Axes, text: str) -> None:
    """A small remark in the upper right corner of a panel."""
    ax.set_title(text, loc="right", fontsize=7.5, color="#555555", pad=3)


def legend(ax: Axes) -> None:
    """Names above the panel, in as many lines as they need: its layout does not know of them."""
    handles, labels = ax.get_legend_handles_labels()
    if not labels:
        return
    spec = ax.get_subplotspec()
    share = 1.0 if spec is None else len(spec.colspan) / spec.get_gridspec().ncols
    columns = min(len(labels), max(1, int(share * LINE) // (max(map(len, labels)) + 5)))
    rows = math.ceil(len(labels) / columns)
    order = [i for column in range(columns) for i in range(column, len(labels), columns)]  # it fills columns, not rows
    made = ax.legend(
        [handles[i] for i in order],
        [labels[i] for i in order],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=columns,
        handlelength=2,
        columnspacing=1.2,
        borderaxespad=0.2,
    )
    made.set_in_layout(False)
    ax.set_title("\n" * (rows - 1) + " ", loc="left", linespacing=1.3)  # holds the place


def over_time(axes: Iterable[Axes]) -> None:
    """Time along the bottom, without margins."""
    for ax in axes:
        ax.margins(x=0)
        ax.set_xlabel("time (s)")
