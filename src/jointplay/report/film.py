"""The frames of a film: the mechanism and its loose joints, drawn as the page draws them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.mechanism import Mechanism
from ..plots.places import Places, Play
from ..plots.style import spoken
from . import scene

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# the page's light colours (page.css)
SERIES = ("#0072b2", "#d55e00", "#009e73", "#b0508c", "#a87400", "#3d9bd9", "#4a4a4a")
CARD, INK, SOFT, LINE, FAINT, ACCENT, GHOST, METAL = (
    "#ffffff", "#1c2430", "#5b6674", "#d9dee5", "#eceff3", "#c2410c", "#8a94a1", "#b9c1cb",
)  # fmt: skip
PLAY = 0.42  # of the bearing's radius: how far the play is drawn, as on the page
TRAIL = 120  # samples that a journal's path shows
LINK = 9.0  # points: how thick a bar is

Move = Callable[[int], None]


def tint(colour: str, share: float = 0.3) -> str:
    """A colour thinned with that of the card."""
    parts = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(share * part + (1 - share) * 255):02x}" for part in parts)


def frames_of(
    run: xarray.Dataset, twin: xarray.Dataset | None, mechanism: Mechanism | None
) -> tuple[Figure, Callable[[int], list[Any]]]:
    """The figure of a film, and the function that moves it to a sample."""
    from matplotlib.figure import Figure

    places = Places(run, mechanism)
    loose = [play for play in places.loose().values() if play.shape == "round"][:2]
    figure = Figure(figsize=(8.0 if loose else 6.0, 4.5), facecolor=CARD)
    wide = 0.72 if loose else 0.98
    stage = figure.add_axes((0.01, 0.1, wide, 0.79))
    moves = draw_mechanism(stage, places, None if twin is None else twin.interp(time=run.time), mechanism)
    for i, play in enumerate(loose):
        high = 0.79 / len(loose)
        moves.append(draw_joint(figure.add_axes((0.745, 0.1 + 0.79 - high * (i + 1), 0.245, high)), run, places, play))
    figure.text(0.015, 0.955, run.attrs.get("title", ""), fontsize=12, fontweight="bold", color=INK, va="center")
    moves.append(draw_time(figure, run))

    def frame(i: int) -> list[Any]:
        for move in moves:
            move(i)
        return []

    return figure, frame


def draw_time(figure: Figure, run: xarray.Dataset) -> Move:
    """A bar that grows with time, and the clock."""
    time = run.time.values
    ax = figure.add_axes((0.02, 0.035, 0.78, 0.02), xlim=(time[0], max(time[-1], time[0] + 1e-12)), ylim=(0, 1))
    ax.set_axis_off()
    ax.axhline(0.5, color=LINE, linewidth=4, solid_capstyle="round")
    [line] = ax.plot([], [], color="#0b63ce", linewidth=4, solid_capstyle="round")
    clock = figure.text(0.985, 0.045, "", ha="right", va="center", fontsize=10, color=INK)

    def move(i: int) -> None:
        line.set_data([time[0], time[i]], [0.5, 0.5])
        clock.set_text(f"{time[i]:.3f} / {time[-1]:.3f} s")

    return move


def draw_mechanism(ax: Axes, places: Places, twin: xarray.Dataset | None, mechanism: Mechanism | None) -> list[Move]:
    """Ground, bodies and joints to scale; the ideal mechanism dashed behind."""
    left, bottom, right, top = scene.box(places)
    pad = 0.12 * max(right - left, top - bottom, 1e-9)
    ax.set(xlim=(left - pad, right + pad), ylim=(bottom - pad, top + pad), aspect="equal")
    ax.set_axis_off()
    _grid(ax, max(right - left, top - bottom))
    names = list(places.mechanism.bodies)
    moves = []
    for name, joint in places.mechanism.joints.items():
        if joint.points and joint.drawing().path:
            path = places.point(joint.points[1])
            ax.plot(path.real, path.imag, color=LINE, linewidth=0.9, zorder=1.5)
        if joint.points and (joint.drawing().guide or joint.drawing().block):
            moves.append(_guide(ax, places, name, names))
    if twin is not None:
        for points in outlines(Places(twin, mechanism)).values():
            moves.append(_follow(ax, points, {"color": GHOST, "linewidth": 1.1, "linestyle": (0, (5, 4)), "zorder": 2}))
    for i, (name, points) in enumerate(outlines(places).items()):
        colour = SERIES[i % len(SERIES)]
        ends: dict[str, Any] = {"solid_capstyle": "round", "solid_joinstyle": "round", "marker": ""}
        if len(points) > 1:
            moves.append(_follow(ax, points, ends | {"color": colour, "linewidth": LINK, "zorder": 3 + 0.1 * i}))
            inner = {"color": tint(colour), "linewidth": LINK - 2.6, "zorder": 3.05 + 0.1 * i}
            moves.append(_follow(ax, points, ends | inner))
        moves.append(_label(ax, points.mean(axis=0), name, colour))
    for name, joint in places.mechanism.joints.items():
        if joint.points:
            moves.append(_pin(ax, places, name))
    return moves


def outlines(places: Places) -> dict[str, np.ndarray]:
    """Of each body its points over time, round about where there are more than two: (point, time)."""
    found = {}
    for name, body in places.mechanism.bodies.items():
        chosen = [point for point in body.all_points() if point != "centre"] or ["centre"]
        arms = np.array([complex(*body.arm(point)) for point in chosen])
        order = np.argsort(np.angle(arms - arms.mean())) if len(arms) > 2 else np.arange(len(arms))
        points = np.array([places.point(f"{name}.{chosen[k]}") for k in order])
        found[name] = np.concatenate([points, points[:1]]) if len(points) > 2 else points
    return found


def _grid(ax: Axes, extent: float) -> None:
    """Faint squares, and how large one is."""
    raw = extent / 6
    power = 10 ** np.floor(np.log10(raw))
    step = next(k * power for k in (1, 2, 5, 10) if k * power >= 0.999 * raw)
    for line, (low, high) in ((ax.axvline, ax.get_xlim()), (ax.axhline, ax.get_ylim())):
        for x in np.arange(np.ceil((low - extent) / step), np.floor((high + extent) / step) + 1) * step:
            line(x, color=FAINT, linewidth=0.8, zorder=0)
    size, unit = spoken("m", step)
    text = f"One square is {step / size:g} {unit}"
    ax.text(0.01, 0.005, text, transform=ax.transAxes, fontsize=8, color=SOFT, va="bottom", zorder=6)


def _follow(ax: Axes, points: np.ndarray, style: dict[str, Any]) -> Move:
    [line] = ax.plot([], [], **style)

    def move(i: int) -> None:
        line.set_data(points[:, i].real, points[:, i].imag)

    return move


def _label(ax: Axes, at: np.ndarray, name: str, colour: str, off: tuple[float, float] = (11, 8)) -> Move:
    text = ax.annotate(name, (0, 0), xytext=off, textcoords="offset points", fontsize=8, color=colour, zorder=7)

    def move(i: int) -> None:
        text.xy = (at[i].real, at[i].imag)

    return move


def _guide(ax: Axes, places: Places, name: str, names: list[str]) -> Move:
    """The line along which a body slides, and the block upon it."""
    joint = places.mechanism.joints[name]
    first, second = joint.points
    owner, body = places.mechanism.owner(first), places.mechanism.owner(second)
    along = complex(*joint.axis)  # type: ignore[attr-defined]
    way = places.turns[owner] * along / abs(along)
    base, at = places.point(first), places.point(second)
    gone = ((at - base) * way.conj()).real
    low, high = float(gone.min()), float(gone.max())
    more = 0.08 * max(np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim()))
    rail = np.array([base + (low - more) * way, base + (high + more) * way])
    block, within = (np.array([at - share * more * way, at + share * more * way]) for share in (0.3, 0.26))
    colour = SERIES[names.index(body) % len(SERIES)] if body in names else SOFT
    thick = {"linewidth": 2.2 * LINK, "solid_capstyle": "butt", "zorder": 2.6}
    moves = [_follow(ax, rail, {"color": SOFT, "linewidth": 1.2, "zorder": 2.5})]
    if joint.drawing().block:
        moves.append(_follow(ax, block, thick | {"color": colour}))
        moves.append(_follow(ax, within, thick | {"color": tint(colour), "linewidth": 2.2 * LINK - 3}))

    def move(i: int) -> None:
        for one in moves:
            one(i)

    return move


def _pin(ax: Axes, places: Places, name: str) -> Move:
    """The pin of a joint; where the ground carries it, on a support; with play in the colour of loose joints."""
    joint = places.mechanism.joints[name]
    drawing = joint.drawing()
    at = places.point(joint.points[1])
    grounded = [point for point in joint.points if places.mechanism.owner(point) == "ground"]
    if grounded and drawing.support:
        x, y = places.point(grounded[0])[0].real, places.point(grounded[0])[0].imag
        ax.plot([x], [y], marker=(3, 0, 0), markersize=17, color=CARD, markeredgecolor=INK, zorder=2.8)
        hatch: dict[str, Any] = {"ha": "center", "va": "top", "fontsize": 6, "color": SOFT}
        ax.annotate("╱╱╱╱", (x, y), xytext=(0, -4.5), textcoords="offset points", **hatch)
    if not drawing.pins:
        return lambda i: None
    edge, wide = (ACCENT, 2.2) if joint.loose else (INK, 1.2)
    style = {"marker": "o", "markersize": 7.5, "color": CARD, "markeredgecolor": edge, "markeredgewidth": wide}
    points = np.array([places.point(joint.points[pin]) for pin in drawing.pins])
    pin = _follow(ax, points, style | {"linestyle": "none", "zorder": 5})
    label = _label(ax, at, name, edge, (-18, 13)) if joint.loose else None

    def move(i: int) -> None:
        pin(i)
        if label is not None:
            label(i)

    return move


def draw_joint(ax: Axes, run: xarray.Dataset, places: Places, play: Play) -> Move:
    """A journal in its bearing, the play enlarged; its trail, its contact and the force on it."""
    names = list(places.mechanism.bodies)
    outer, inner = (
        SERIES[names.index(body) % len(SERIES)] if body in names else METAL for body in (play.outer, play.inner)
    )
    disc = _bearing(ax, outer, inner)
    [trail] = ax.plot([], [], color=ACCENT, linewidth=1.1, zorder=4)
    [dot] = ax.plot([], [], "o", color=INK, markersize=3.5, zorder=5)
    [touch] = ax.plot([], [], "o", color=ACCENT, markersize=6, markeredgecolor=CARD, zorder=6)
    arrow = _arrow(ax)
    ax.text(-1.3, 1.3, play.name, fontsize=9.5, fontweight="bold", color=INK, va="bottom")
    mode = ax.text(1.3, 1.3, "", fontsize=8, color=SOFT, va="bottom", ha="right")
    below = ax.text(0, -1.3, "", fontsize=7.5, color=INK, va="top", ha="center")
    size, unit = spoken("m", play.clearance)
    codes = next(iter(scene.codes(run, play).values()))
    force = np.abs(play.load) if len(play.load) else np.zeros(len(codes))
    most = float(np.nanpercentile(force, 97)) or 1.0
    path = PLAY * play.offset * play.turn / play.clearance

    def move(i: int) -> None:
        at, recent = path[i], path[max(0, i - TRAIL) : i + 1]
        disc.center = at.real, at.imag
        trail.set_data(recent.real, recent.imag)
        dot.set_data([at.real], [at.imag])
        closed, rim = codes[i] > 0, at / max(abs(at), 1e-12)
        touch.set_data([rim.real] if closed else [], [rim.imag] if closed else [])
        way = play.load[i] / force[i] * np.sqrt(min(1.0, force[i] / most)) if closed and force[i] > 0 else 0
        arrow.set_visible(abs(way) > 0.05)
        arrow.set_positions((rim.real, rim.imag), ((rim + 0.85 * way).real, (rim + 0.85 * way).imag))
        mode.set_text(scene.MODES[int(codes[i])])
        below.set_text(f"{play.clearance / size:.3g} {unit} play, enlarged; {force[i]:.4g} N")

    return move


def _bearing(ax: Axes, outer: str, inner: str) -> Any:
    """The ring, the circle of the play, and the journal, which is given back."""
    from matplotlib.patches import Circle

    ax.set(xlim=(-1.4, 1.4), ylim=(-1.75, 1.7), aspect="equal")
    ax.set_axis_off()
    disc = Circle((0, 0), 1 - PLAY, facecolor=tint(inner, 0.34), edgecolor=inner, linewidth=1.4, zorder=3)
    for patch in (
        Circle((0, 0), 1.22, facecolor=tint(outer), edgecolor=outer, linewidth=1.2),
        Circle((0, 0), 1, facecolor=CARD, edgecolor=outer, linewidth=1.4),
        Circle((0, 0), PLAY, fill=False, edgecolor=SOFT, linewidth=0.8, linestyle=(0, (3, 3)), zorder=3.5),
        disc,
    ):
        ax.add_patch(patch)
    return disc


def _arrow(ax: Axes) -> Any:
    from matplotlib.patches import FancyArrowPatch

    style: dict[str, Any] = {"color": ACCENT, "linewidth": 1.8, "mutation_scale": 9, "shrinkA": 0, "shrinkB": 0}
    return ax.add_patch(FancyArrowPatch((0, 0), (0, 0), zorder=6, **style))
