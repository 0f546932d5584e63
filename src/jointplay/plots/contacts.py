"""What happens in joints with play: the journal's path, gaps, slip, modes of contact and impacts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..model.mechanism import Mechanism
from ..statics import play_unit
from .places import Places, Play, model_of, readable
from .style import (
    COLOURS,
    HEIGHT,
    TURN,
    chosen,
    foremost,
    in_view,
    largest,
    legend,
    lines,
    look,
    needs,
    note,
    over_time,
    scale,
    sheet,
    spoken,
)

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# by code: name and colour, from pale (nothing touches) to dark (nothing moves)
MODES = {0: ("free", "#E4E4E4"), 1: ("impact", "#B2182B"), 2: ("sliding", "#56B4E9"), 3: ("sticking", "#004B76")}
PERMANENT = {4: ("permanent contact", "#009E73"), 5: ("would pull", "#D55E00")}
FAINT = 0.02  # of the largest impulse
_RIGID = "only joints with play and rigid or compliant contact have one"


def journal(run: xarray.Dataset, joint: str | None = None, mechanism: Mechanism | None = None) -> Figure:
    """The path of the journal's centre in its bearing, inside the circle of the clearance; free flight is grey.

    Of a prismatic joint, the middle of the inner part across and its tilt, inside the diamond where all four
    corners are free.  joint: the first one with play unless named; mechanism: only for a result whose model holds
    Python functions.
    """
    places = Places(run, mechanism)
    plays = [places.play(joint)] if joint else list(places.loose().values())
    if not plays:
        raise InputError(
            "no joint of this result has play; loosen one: mechanism.loosen('J2', '1 mm') or --set 'J2.clearance=1 mm'"
        )
    what = "path of the journal" if plays[0].shape == "round" else "offset and tilt"
    text = f"{what} of {plays[0].name} in its bearing; grey: free flight."
    with sheet(run, 3.9, width=4.1, caption=text) as figure:
        ax = figure.add_subplot()
        (_circle if plays[0].shape == "round" else _diamond)(ax, run, plays[0])
    return figure


def gap_and_slip(run: xarray.Dataset, contacts: Sequence[str] | None = None) -> Figure:
    """The gaps of the contacts and, where they touch, how fast the surfaces slide."""
    needs(run, "gap", _RIGID)
    names, left_out = _shown(run, contacts)
    text = "gaps of the contacts, and how fast they slide where they touch, over time."
    with sheet(run, 2 * HEIGHT + 0.6, caption=text, left_out=left_out) as figure:
        above, below = figure.subplots(2, 1, sharex=True)
        gaps = {name: run.gap.sel(contact=name).values for name in names}
        turning = set(names) <= set(angular(run))
        size, unit = spoken("rad" if turning else "m", max(map(largest, gaps.values())))
        lines(above, run.time.values, {name: (gap / size, look(i)) for i, (name, gap) in enumerate(gaps.items())})
        above.axhline(0, color="#444444", linewidth=0.6)
        above.set_ylabel(f"gap ({unit})")
        legend(above)
        if "slip" in run:
            slips = {name: run.slip.sel(contact=name).values.copy() for name in names}
            for name, slip in slips.items():
                slip[run["mode"].sel(contact=name).values == 0] = np.nan
            lines(below, run.time.values, {name: (slip, look(i)) for i, (name, slip) in enumerate(slips.items())})
            if in_view(below, list(slips.values())):
                note(below, f"reaches {max(map(largest, slips.values())):.3g} m/s")
        below.set_ylabel("slip in contact (m/s)")
        above.margins(x=0)
        over_time([below])
    return figure


def contact_modes(run: xarray.Dataset, contacts: Sequence[str] | None = None) -> Figure:
    """When each contact is free, sliding or sticking, and to the right its share of time in contact.

    Red lines mark impacts; the many faint ones of a contact that rattles to rest are left out.
    """
    from matplotlib.patches import Patch

    needs(run, "mode", _RIGID)
    (names, left_out), time = _shown(run, contacts), run.time.values
    shown = MODES if "share_sticking" in run else {0: MODES[0], 1: MODES[1], 2: ("in contact", MODES[2][1])}
    with sheet(run, 0.3 * len(names) + 1.15, left_out=left_out) as figure:
        ax = figure.add_subplot()
        for i, name in enumerate(names):
            for code, starts, lengths in segments(time, run["mode"].sel(contact=name).values):
                ax.broken_barh(list(zip(starts, lengths, strict=True)), (i - 0.36, 0.72), color=MODES[code][1], lw=0)
            struck = _strong(run, name)
            if struck.any():
                ax.vlines(run.impact_time.values[struck], i - 0.48, i + 0.48, color=MODES[1][1], linewidth=0.8)
            if "share_free" in run:
                share = f"in contact {100 - 100 * float(run.share_free.sel(contact=name)):.1f} %"
                ax.annotate(
                    share, (1.01, i), xycoords=("axes fraction", "data"), va="center", fontsize=7.5, color="#444444"
                )
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(len(names) - 0.45, -0.55)
        ax.set_xlim(time[0], max(time[-1], time[0] + 1e-12))
        ax.grid(False)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.set_xlabel("time (s)")
        ax.legend(
            handles=[Patch(color=colour, label=name) for name, colour in shown.values()],
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=4,
            handlelength=1.2,
            borderaxespad=0.2,
        )
    return figure


def impacts(run: xarray.Dataset, contacts: Sequence[str] | None = None) -> Figure:
    """The list of impacts as stems over time: normal impulse, approach speed and energy lost.

    Of compliant contacts: the largest force, the approach speed and the depth.
    """
    needs(run, "impact_time", _RIGID)
    (names, left_out), whose = _shown(run, contacts), run.impact_contact.values
    words = {
        "normal": ("normal impulse", "N s"),
        "force": ("largest force", "N"),
        "approach": ("approach speed", "m/s"),
    }
    words |= {"lost": ("energy lost", "J"), "depth": ("depth", "m or rad" if angular(run) else "m")}
    rows = {f"impact_{name}": said for name, said in words.items() if f"impact_{name}" in run}
    struck = [name for name in names if (whose == name).any()]
    with sheet(run, 1.25 * len(rows) + 0.6, caption="every impact over time.", left_out=left_out) as figure:
        axes = figure.subplots(len(rows), 1, sharex=True, squeeze=False)[:, 0]
        for ax, (variable, (text, si)) in zip(axes, rows.items(), strict=True):
            size, unit = spoken(si, largest(run[variable].values[np.isin(whose, names)]))
            for name in struck:
                style, here = look(names.index(name)), whose == name
                time, values = run.impact_time.values[here], run[variable].values[here] / size
                many = len(time) > 100
                ax.vlines(time, 0, values, color=style["color"], linewidth=0.5 if many else 1.0)
                ax.plot(time, values, "o", markersize=1.8 if many else 3.2, color=style["color"], label=name)
            ax.set_ylabel(f"{text}\n({unit})")
            ax.set_ylim(bottom=0)
            if not struck:
                ax.set_yticks([])
        if struck:
            legend(axes[0])
        count = int(np.isin(whose, names).sum())
        note(axes[0], "1 impact" if count == 1 else f"{count or 'no'} impacts")
        axes[0].set_xlim(float(run.time[0]), max(float(run.time[-1]), float(run.time[0]) + 1e-12))
        axes[-1].set_xlabel("time (s)")
    return figure


def _shown(run: xarray.Dataset, contacts: Sequence[str] | None) -> tuple[list[str], str]:
    """The contacts asked for, or of many those that strike hardest, or press where none strikes, and the line that says
    so."""
    names = chosen(run, "contact", contacts)
    if contacts is not None or "impact_time" not in run:
        return names, ""
    hard, whose = run[strength(run)].values, run.impact_contact.values
    sizes = {name: float(np.max(hard[whose == name], initial=0.0)) for name in names}
    if not any(sizes.values()) and "normal_force" in run:
        sizes = {name: largest(run.normal_force.sel(contact=name)) for name in names}
        return foremost(names, [sizes], "that press hardest", "contacts")
    return foremost(names, [sizes], "that strike hardest", "contacts")


def angular(run: xarray.Dataset) -> list[str]:
    """The contacts whose gaps are angles (backlash of gears, stops of pins), and whose normal forces are torques."""
    if "contact" not in run.coords or not readable(run):
        return []
    model = model_of(run)
    return [str(name) for name in run.contact.values if play_unit(model, str(name)) == "rad"]


def strength(run: xarray.Dataset) -> str:
    """The variable that says how hard impacts are: their impulse, or of compliant contacts their largest force."""
    return "impact_normal" if "impact_normal" in run else "impact_force"


def segments(time: np.ndarray, codes: np.ndarray) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Runs of equal codes: for each code the starts and lengths of its runs; a run lasts until the next begins."""
    if not len(codes):
        return []
    change = np.flatnonzero(np.diff(codes)) + 1
    begin = np.concatenate([[0], change])
    ends = np.append(time[change], time[-1])
    found = []
    for code in np.unique(codes):
        here = codes[begin] == code
        found.append((int(code), time[begin[here]], (ends - time[begin])[here]))
    return found


def touching(run: xarray.Dataset, play: Play) -> np.ndarray:
    """Which contacts of a joint are closed at each sample, by their mode or else by their gap: (time, contact)."""
    labels = list(play.gaps)
    if "mode" in run and set(labels) <= set(run.contact.values.tolist()):
        closed: np.ndarray = run["mode"].sel(contact=labels).values > 0
        return closed
    return np.column_stack([play.gaps[label] <= 1e-3 * play.clearance for label in labels])


def _strong(run: xarray.Dataset, contact: str) -> np.ndarray:
    """Which impacts are of this contact, and not faint beside its hardest."""
    if "impact_time" not in run or not run.sizes["impact"]:
        return np.zeros(0, bool)
    here, hard = run.impact_contact.values == contact, run[strength(run)].values
    return here & (hard >= FAINT * np.max(hard[here], initial=0.0))


def _circle(ax: Axes, run: xarray.Dataset, play: Play) -> None:
    size, unit = scale(play.clearance)
    c, path = play.clearance / size, play.offset / size
    around = np.exp(1j * np.linspace(0, TURN, 361))
    ax.fill(1.12 * c * around.real, 1.12 * c * around.imag, color="#EFEFEF", lw=0)
    ax.fill(c * around.real, c * around.imag, color="white", lw=0)
    ax.plot(c * around.real, c * around.imag, color="#444444", linewidth=1.0)
    closed = touching(run, play).any(axis=1)
    ax.plot(path.real, path.imag, color="#9A9A9A", linewidth=0.6, label="free")
    held = np.where(closed, path, np.nan + 1j * np.nan)
    chord = np.abs(path[1:] + path[:-1]) / 2 < 0.95 * c  # it was away from the rim between two samples
    held = np.insert(held, np.flatnonzero(chord) + 1, np.nan + 1j * np.nan)
    ax.plot(held.real, held.imag, color=COLOURS[0], linewidth=1.8, solid_capstyle="round", label="in contact")
    ax.plot(path[:1].real, path[:1].imag, "o", color=COLOURS[2], markersize=4.5, label="start", zorder=4)
    here = _strong(run, play.name)
    if here.any():
        times = run.impact_time.values[here]
        at = np.interp(times, run.time.values, path.real) + 1j * np.interp(times, run.time.values, path.imag)
        at = at / np.maximum(np.abs(at), 1e-12) * c
        hard = run[strength(run)].values[here]
        sizes = 4 + 60 * hard / max(hard.max(), 1e-300)
        ax.scatter(at.real, at.imag, sizes, facecolors="none", edgecolors=COLOURS[1], linewidths=0.8, zorder=3)
        ax.plot([], [], "o", color=COLOURS[1], fillstyle="none", markersize=4.5, label="impact, by strength")
    ax.set_aspect("equal")
    ax.set_xlim(-1.18 * c, 1.18 * c)
    ax.set_ylim(-1.18 * c, 1.18 * c)
    ax.set_xlabel(f"x in the bearing of {play.name}, on {play.outer} ({unit})")
    ax.set_ylabel(f"y ({unit})")
    _beneath(ax)


def _diamond(ax: Axes, run: xarray.Dataset, play: Play) -> None:
    size, unit = spoken(play.unit, play.clearance)
    c, across = play.clearance / size, play.offset.imag / size
    closed = touching(run, play).any(axis=1)
    if play.length:
        most, named = math.degrees(2 * play.clearance / play.length), "tilt (deg)"
        tilt = np.degrees(play.tilt)
        corners = np.array([[c, 0], [0, most], [-c, 0], [0, -most], [c, 0]])
        ax.fill(*corners.T, color="white", lw=0)
        ax.plot(*corners.T, color="#444444", linewidth=1.0)
        ax.set_ylim(-1.12 * most, 1.12 * most)
        ax.set_facecolor("#EFEFEF")
        ax.grid(False)
    else:
        tilt, named = run.time.values, "time (s)"
        for side in (-c, c) if play.shape != "floor" else (0.0,):
            ax.axvline(side, color="#444444", linewidth=1.0)
    ax.plot(across, tilt, color="#9A9A9A", linewidth=0.6, label="free")
    held = np.where(closed, across, np.nan)
    ax.plot(held, tilt, color=COLOURS[0], linewidth=1.8, solid_capstyle="round", label="in contact")
    ax.plot(across[:1], tilt[:1], "o", color=COLOURS[2], markersize=4.5, label="start", zorder=4)
    ax.set_xlim((-0.12 if play.shape == "floor" else -1.12) * c, 1.12 * c)
    what = "gap of" if play.shape == "floor" else "turn across" if play.unit == "rad" else "offset across"
    ax.set_xlabel(f"{what} {play.name} ({unit})")
    ax.set_ylabel(named)
    _beneath(ax)


def _beneath(ax: Axes) -> None:
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, handlelength=1.2, columnspacing=1.0, borderaxespad=0.2)
