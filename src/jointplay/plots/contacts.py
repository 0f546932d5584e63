"""What happens in joints with play: the journal's path, gaps, slip, modes of contact and impacts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..model.mechanism import Mechanism
from .places import Places, Play, model_of, readable
from .style import (
    COLOURS,
    HEIGHT,
    TURN,
    Looks,
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
TOUCHING, TOUCH = 6, "#56B4E9"  # code and colour of a contact that neither slides nor sticks
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
    with sheet(run, 3.9, width=4.1, caption=text, left_out=_leaps(run, plays[0])) as figure:
        ax = figure.add_subplot()
        (_circle if plays[0].shape == "round" else _diamond)(ax, run, plays[0])
    return figure


def gap_and_slip(run: xarray.Dataset, contacts: Sequence[str] | None = None) -> Figure:
    """The gaps of the contacts and, where they touch, how fast the surfaces slide."""
    needs(run, "gap", _RIGID)
    names, left_out = _shown(run, contacts)
    turning = [name for name in names if name in angular(run)]
    others = [name for name in names if name not in turning]
    gaps = [(some, si) for some, si in ((others, "m"), (turning, "rad")) if some]
    text = "gaps of the contacts, and how fast they slide where they touch, over time."
    sliding = bool(others) and "slip" in run and "mode" in run
    with sheet(run, HEIGHT * (len(gaps) + sliding) + 0.6, caption=text, left_out=left_out) as figure:
        axes = figure.subplots(len(gaps) + sliding, 1, sharex=True, squeeze=False)[:, 0]
        looks = {name: look(i) for i, name in enumerate(names)}
        for ax, (some, si) in zip(axes, gaps, strict=False):
            found = {name: run.gap.sel(contact=name).values for name in some}
            size, unit = spoken(si, max(map(largest, found.values())))
            lines(ax, run.time.values, {name: (gap / size, looks[name]) for name, gap in found.items()})
            ax.axhline(0, color="#444444", linewidth=0.6)
            ax.set_ylabel(f"gap ({unit})")
            legend(ax)
        if sliding:
            _slips(axes[-1], run, {name: looks[name] for name in others})
        axes[0].margins(x=0)
        over_time(axes[-1:])
    return figure


def _slips(ax: Axes, run: xarray.Dataset, looks: Looks) -> None:
    """How fast surfaces slide where they touch."""
    slips = {name: run.slip.sel(contact=name).values.copy() for name in looks}
    for name, slip in slips.items():
        slip[run["mode"].sel(contact=name).values == 0] = np.nan
    lines(ax, run.time.values, {name: (slip, looks[name]) for name, slip in slips.items()})
    if in_view(ax, list(slips.values())):
        note(ax, f"reaches {max(map(largest, slips.values())):.3g} m/s")
    ax.set_ylabel("slip in contact (m/s)")


def contact_modes(run: xarray.Dataset, contacts: Sequence[str] | None = None) -> Figure:
    """When each contact is free, sliding or sticking, and to the right its share of time in contact.

    Red lines mark impacts; the many faint ones of a contact that rattles to rest are left out.
    """
    from matplotlib.patches import Patch

    needs(run, "mode", _RIGID)
    (names, left_out), time = _shown(run, contacts), run.time.values
    turns = [name for name in names if name in angular(run)] if "share_sticking" in run else names
    shown = {code: MODES[code] for code in ((0, 1, 2, 3) if len(turns) < len(names) else (0, 1))}
    shown |= {TOUCHING: ("in contact", TOUCH)} if turns else {}
    with sheet(run, 0.3 * len(names) + 1.15, left_out=left_out) as figure:
        ax = figure.add_subplot()
        for i, name in enumerate(names):
            codes = run["mode"].sel(contact=name).values
            codes = np.where(codes > 1, TOUCHING, codes) if name in turns else codes
            for code, starts, lengths in segments(time, codes):
                ax.broken_barh(list(zip(starts, lengths, strict=True)), (i - 0.36, 0.72), color=shown[code][1], lw=0)
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
    turns = [name in angular(run) for name in names]
    kinds = [hardness(run, turned) for turned in dict.fromkeys(turns)]  # one, or both where gears are among others
    hard = tuple(" or ".join(dict.fromkeys(words)) for words in zip(*kinds, strict=True))
    unit = "rad" if all(turns) else "m or rad" if any(turns) else "m"
    speed = " or ".join(f"{length}/s" for length in unit.split(" or "))
    words = {"normal": hard, "force": hard, "approach": ("approach speed", speed)}
    words |= {"lost": ("energy lost", "J"), "depth": ("depth", unit)}
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
    """The contacts whose gaps are angles (backlash of gears, stops of angles), and whose normal forces are torques."""
    if "contact" not in run.coords or not readable(run):
        return []
    model = model_of(run)
    return [str(name) for name in run.contact.values if model.gap_unit(str(name)) == "rad"]


def hardness(run: xarray.Dataset, turning: bool) -> tuple[str, str]:
    """What the strength of impacts is, and its unit; turning: of contacts whose gaps are angles."""
    if "impact_normal" in run:
        return ("angular impulse", "N m s") if turning else ("normal impulse", "N s")
    return ("largest torque", "N m") if turning else ("largest force", "N")


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


def _far(path: np.ndarray, clearance: float) -> np.ndarray:
    """Between which neighbouring samples a straight line leaves the rim: those on it are more than 16 degrees apart."""
    far: np.ndarray = np.abs(path[1:] + path[:-1]) / 2 < 0.99 * clearance
    return far


def _leaps(run: xarray.Dataset, play: Play) -> str:
    """What to do where most samples in contact are too far apart for a line."""
    closed = np.asarray(touching(run, play).any(axis=1))
    both = closed[1:] & closed[:-1]
    if play.shape != "round" or not both.any() or np.mean(_far(play.offset, play.clearance)[both]) < 0.5:
        return ""
    between = float(np.median(np.diff(run.time.values)))
    return f"Samples {between:.3g} s apart are too few for lines:\nsample closer (every=, --every)."


def _circle(ax: Axes, run: xarray.Dataset, play: Play) -> None:
    size, unit = scale(play.clearance)
    c, path = play.clearance / size, play.offset / size
    around = np.exp(1j * np.linspace(0, TURN, 361))
    ax.fill(1.12 * c * around.real, 1.12 * c * around.imag, color="#EFEFEF", lw=0)
    ax.fill(c * around.real, c * around.imag, color="white", lw=0)
    ax.plot(c * around.real, c * around.imag, color="#444444", linewidth=1.0)
    closed = np.asarray(touching(run, play).any(axis=1))
    apart, gone = _far(path, c), np.nan + 1j * np.nan
    flown = np.insert(path, np.flatnonzero(apart & closed[1:] & closed[:-1]) + 1, gone)  # how it went is not known
    ax.plot(flown.real, flown.imag, color="#9A9A9A", linewidth=0.6, label="free")
    held = np.insert(np.where(closed, path, gone), np.flatnonzero(apart) + 1, gone)
    ax.plot(held.real, held.imag, color=COLOURS[0], linewidth=1.8, solid_capstyle="round", label="in contact")
    ax.plot(held.real, held.imag, ".", color=COLOURS[0], markersize=2.5)
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
