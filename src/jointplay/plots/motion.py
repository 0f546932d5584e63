"""How bodies move: angles, places, rates, accelerations, and one against the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .style import (
    COLOURS,
    HEIGHT,
    SPIKE,
    STYLES,
    Look,
    Looks,
    behind,
    chosen,
    foremost,
    in_view,
    largest,
    legend,
    lines,
    look,
    needs,
    no_round_off,
    note,
    over_time,
    sheet,
    span,
    spoken,
    turns_axis,
    wrapped,
)
from .twins import of_one

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

IMPULSE = "#555555"
ALIKE = 2  # curves of forces in one panel; more cover each other
STILL = 1e-6  # rad: a body that turns less than this while it moves is sliding


def motion(run: xarray.Dataset, bodies: Sequence[str] | None = None, twin: xarray.Dataset | None = None) -> Figure:
    """Angles and angular rates of the bodies (of sliding ones position and speed), below the joint forces and torques.

    bodies: names of those to show, by default all, of many the fastest.  Angles that pass a whole turn are drawn
    between -180 and 180 degrees.  Dots mark the largest force of each joint over all internal steps, which samples may
    miss; a triangle at the top stands for one far beyond the samples.  Forces are those between impacts; stems are the
    impulses of impacts.  More than two joints have a panel each, on one scale, of many the most loaded.  Joints without
    a force (gears) have a panel of their torques.
    """
    of_one(run, twin)
    names, left_out = _shown(run, bodies, "rate")
    looks = {name: look(i) for i, name in enumerate(names)}
    turning, sliding = kinds(run, names)
    joints, lighter = loaded(run, "the figure joint_force draws others") if "force_x" in run else ([], "")
    left_out = "\n".join(filter(None, (left_out, lighter)))
    rows = [(names, draw) for names, draw in ((turning, _turns), (sliding, _slides_along)) if names]
    loads = [joints] if 0 < len(joints) <= ALIKE else [joints[i : i + 2] for i in range(0, len(joints), 2)]
    turned = torques(run)
    text, high = "motion of the bodies and loads of the joints over time.", len(rows) + len(loads) + bool(turned)
    with sheet(run, HEIGHT * high + 0.45, caption=text, left_out=left_out) as figure:
        grid = figure.add_gridspec(high, 2)
        for i, (shown, draw) in enumerate(rows):
            axes = [figure.add_subplot(grid[i, 0]), figure.add_subplot(grid[i, 1])]
            draw(axes, run, shown, looks, twin)
            legend(axes[0])
            over_time(axes)
        for i, some in enumerate(loads, len(rows)):
            apart = len(joints) > ALIKE
            places = [(grid[i, k], [name]) for k, name in enumerate(some)] if apart else [(grid[i, :], some)]
            for place, names in places:
                ax = figure.add_subplot(place)
                _forces(ax, run, names, joints, twin)
                legend(ax)
                over_time([ax])
        if turned:
            _torques(figure.add_subplot(grid[-1, :]), run, turned, twin)
    return figure


def velocity(run: xarray.Dataset, bodies: Sequence[str] | None = None, twin: xarray.Dataset | None = None) -> Figure:
    """Angular rates of the bodies and speeds of the sliding ones, one panel each; behind, those with ideal joints."""
    of_one(run, twin)
    return _rates(run, bodies, twin, "rate", ("angular rate (rad/s)", "speed (m/s)"))


def acceleration(
    run: xarray.Dataset, bodies: Sequence[str] | None = None, twin: xarray.Dataset | None = None
) -> Figure:
    """Accelerations of the bodies, of sliding ones linear, one panel each; behind, those with ideal joints.

    Spikes of impacts may lie beyond the panel, which then says how far they reach.
    """
    of_one(run, twin)
    needs(run, "angle_acceleration", "record accelerations, or show velocity")
    return _rates(run, bodies, twin, "acceleration", ("acceleration (rad/s²)", "acceleration (m/s²)"))


def phase_plane(run: xarray.Dataset, bodies: Sequence[str] | None = None, twin: xarray.Dataset | None = None) -> Figure:
    """Rate over angle of the bodies (of sliding ones speed over position), one panel each; a dot marks the start."""
    of_one(run, twin)
    names, left_out = _shown(run, bodies, "rate")
    signals = [signal for name in names for signal in _signals(run, name)]
    columns = min(3, len(signals))
    rows = -(-len(signals) // columns)
    text = "rate over angle, of sliding bodies speed over position; a dot marks the start."
    with sheet(run, 2.35 * rows + 0.35, width=0.4 + 2.35 * columns, caption=text, left_out=left_out) as figure:
        figure.get_layout_engine().set(wspace=0.06)  # type: ignore[union-attr, call-arg]
        grid = figure.add_gridspec(rows, columns)
        for i, (name, part) in enumerate(signals):
            ax = figure.add_subplot(grid[i // columns, i % columns])
            pairs = [(run, {**look(0), "linewidth": 0.9})]
            size, unit = spoken("rad" if part == "angle" else "m", largest(run[part].sel(body=name)))
            if twin is not None and name in twin.body:
                pairs.insert(0, (twin, {"color": "#8A8A8A", "linewidth": 0.9}))
            for data, style in pairs:
                at = data[part].sel(body=name).values
                turned = False
                if part == "angle":
                    made, turned = wrapped({name: at})
                    at = made[name]
                at = at / size
                rate = data[f"{part}_rate"].sel(body=name).values
                ax.plot(at, rate, **style)
                if data is run:
                    ax.plot(at[:1], rate[:1], "o", color=COLOURS[1], markersize=3.5)
                    turns_axis(ax, "x") if turned else None
                    no_round_off(ax, [rate]) or in_view(ax, [rate])
            ax.set_xlabel(f"{part} ({unit})")
            ax.set_ylabel("angular rate (rad/s)" if part == "angle" else "speed (m/s)")
            ax.set_title(name, loc="left")
            if i == 0 and len(pairs) > 1:
                note(ax, "grey: ideal joints")
    return figure


def kinds(run: xarray.Dataset, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The bodies that turn, and those that slide."""
    sliding = [name for name in names if _slides(run, name)]
    return [name for name in names if name not in sliding], sliding


def force(run: xarray.Dataset, joint: str) -> np.ndarray:
    """The magnitude of a joint's force (N) over time."""
    along, across = (run[name].sel(joint=joint).values for name in ("force_x", "force_y"))
    return np.hypot(along, across)


def load(run: xarray.Dataset, joint: str, what: str = "force") -> np.ndarray:
    """What a joint carries over time: the magnitude of its force (N), or its moment (N m)."""
    values: np.ndarray = force(run, joint) if what == "force" else run.moment.sel(joint=joint).values
    return values


def loaded(run: xarray.Dataset, others: str = "") -> tuple[list[str], str]:
    """The joints with a force, of many the most loaded, and the line that says so."""
    most = {str(joint): largest(force(run, str(joint))) for joint in run.joint.values}
    names = [joint for joint, size in most.items() if size > 0]
    if "peak_force" in run:
        most = {name: largest(run.peak_force.sel(joint=name)) for name in names}
    return foremost(names, [most], "that carry the largest forces", "joints", others)


def torques(run: xarray.Dataset) -> list[str]:
    """The joints that have a torque and no force, as gears."""
    if "moment" not in run or "force_x" not in run:
        return []
    names = [str(joint) for joint in run.joint.values]
    return [name for name in names if largest(force(run, name)) == 0 and largest(run.moment.sel(joint=name)) > 0]


def moving(run: xarray.Dataset, body: str) -> list[str]:
    """The axes along which a sliding body moves."""
    spans = {axis: span(run[axis].sel(body=body)) for axis in "xy"}
    return [axis for axis in "xy" if spans[axis] > 1e-6 * max(spans.values())]


def _shown(run: xarray.Dataset, bodies: Sequence[str] | None, what: str) -> tuple[list[str], str]:
    """The bodies asked for, or of many the foremost by their rates or accelerations, and the line that says so."""
    names = chosen(run, "body", bodies)
    if bodies is not None:
        return names, ""
    groups = [
        {name: max(largest(run[f"{part}_{what}"].sel(body=name)) for part in parts) for name in some}
        for some, parts in zip(kinds(run, names), (("angle",), ("x", "y")), strict=True)
    ]
    which = "with the largest accelerations" if what == "acceleration" else "that move fastest"
    return foremost(names, groups, which, "bodies")


def _signals(run: xarray.Dataset, name: str) -> list[tuple[str, str]]:
    """What of a body is worth drawing: its angle, or of a sliding one x or y."""
    return [(name, axis) for axis in moving(run, name)] if _slides(run, name) else [(name, "angle")]


def _slides(run: xarray.Dataset, body: str) -> bool:
    angle, x, y = (span(run[part].sel(body=body)) for part in ("angle", "x", "y"))
    return angle < STILL < 1e3 * max(x, y)


def _rates(
    run: xarray.Dataset,
    bodies: Sequence[str] | None,
    twin: xarray.Dataset | None,
    what: str,
    units: tuple[str, str],
) -> Figure:
    names, left_out = _shown(run, bodies, what)
    signals = [signal for name in names for signal in _signals(run, name)]
    loudest = max(largest(run[f"{part}_{what}"].sel(body=name)) for name, part in signals)
    text = f"{'accelerations' if what == 'acceleration' else 'velocities'} of the bodies over time."
    with sheet(run, 1.45 * len(signals) + 0.5, caption=text, left_out=left_out) as figure:
        axes = figure.subplots(len(signals), 1, sharex=True, squeeze=False)[:, 0]
        for i, (ax, (name, part)) in enumerate(zip(axes, signals, strict=True)):
            values = run[f"{part}_{what}"].sel(body=name).values
            ideal = None
            if twin is not None and name in twin.body and f"{part}_{what}" in twin:
                ideal = twin[f"{part}_{what}"].sel(body=name).values
                behind(ax, twin.time.values, ideal, "" if i else "ideal joints")
            lines(ax, run.time.values, {name if part == "angle" else f"{name}, {part}": (values, look(i))})
            ax.set_ylabel(units[part != "angle"].replace(" (", "\n("))
            if no_round_off(ax, [values], loudest):
                pass  # the tolerance of the steps, beside what the other bodies do
            elif in_view(ax, [values] if ideal is None else [values, ideal]):
                note(ax, f"peaks reach {np.nanmax(np.abs(values)):.3g}")
            legend(ax)
        over_time(axes[-1:])
        axes[0].margins(x=0)
    return figure


def _turns(
    axes: Sequence[Axes], run: xarray.Dataset, names: Sequence[str], looks: Looks, twin: xarray.Dataset | None
) -> None:
    left, right = axes
    angles, turned = wrapped({name: run.angle.sel(body=name).values for name in names})
    if twin is not None:
        shared = [name for name in names if name in twin.body]
        ideal, over = wrapped({name: twin.angle.sel(body=name).values for name in shared})
        for i, name in enumerate(shared):
            if over == turned:
                behind(left, twin.time.values, np.degrees(ideal[name]), "" if i else "ideal joints")
            behind(right, twin.time.values, twin.angle_rate.sel(body=name).values)
    lines(left, run.time.values, {name: (np.degrees(angles[name]), looks[name]) for name in names})
    lines(right, run.time.values, {name: (run.angle_rate.sel(body=name).values, looks[name]) for name in names})
    left.set_ylabel("angle (deg)")
    right.set_ylabel("angular rate (rad/s)")
    if turned:
        turns_axis(left)


def _slides_along(
    axes: Sequence[Axes], run: xarray.Dataset, names: Sequence[str], looks: Looks, twin: xarray.Dataset | None
) -> None:
    left, right = axes
    places, speeds = {}, {}
    most = max(largest(run[axis].sel(body=name)) for name in names for axis in moving(run, name))
    size, unit = spoken("m", most)
    for name in names:
        body = run.sel(body=name)
        along = moving(run, name)
        for axis in along:
            style: Look = looks[name] | ({"linestyle": STYLES[1]} if axis == "y" and len(along) == 2 else {})
            places[f"{name}, {axis}"] = body[axis].values / size, style
            speeds[f"{name}, {axis}"] = body[f"{axis}_rate"].values, style
            if twin is not None and name in twin.body:
                behind(left, twin.time.values, twin[axis].sel(body=name).values / size)
                behind(right, twin.time.values, twin[f"{axis}_rate"].sel(body=name).values)
    lines(left, run.time.values, places)
    lines(right, run.time.values, speeds)
    left.set_ylabel(f"position ({unit})")
    right.set_ylabel("speed (m/s)")


def impulses(ax: Axes, run: xarray.Dataset, joints: Sequence[str], unit: str = "N s") -> None:
    """Stems of the impulses of impacts in these joints, on a scale of their own to the right: a force is what acts
    between impacts."""
    if "impact_normal" not in run or not run.sizes["impact"]:
        return
    labels = run.impact_contact.values.astype(str)
    owners = np.array([label if label in joints else label.rpartition(".")[0] for label in labels])
    if not np.isin(owners, list(joints)).any():
        return
    sizes = np.hypot(run.impact_normal.values, run.impact_tangential.values)
    shown = []
    for joint in joints:
        here = owners == joint
        colour = IMPULSE if len(joints) == 1 else COLOURS[list(joints).index(joint) % len(COLOURS)]
        shown.append((run.impact_time.values[here], sizes[here], colour))
    stems(ax, shown, unit)


def stems(ax: Axes, shown: Iterable[tuple[np.ndarray, np.ndarray, str]], unit: str) -> None:
    """Times, sizes and colour of impulses as stems behind the lines, on a scale of their own to the right."""
    right = ax.twinx()
    for times, sizes, colour in shown:
        right.vlines(times, 0, sizes, color=colour, linewidth=0.8, alpha=0.45)
    right.set_ylim(bottom=0)
    right.set_ylabel(f"impulses ({unit})")
    right.grid(visible=False)
    ax.set_zorder(right.get_zorder() + 1)
    ax.patch.set_visible(False)


def _forces(
    ax: Axes, run: xarray.Dataset, shown: Sequence[str], joints: Sequence[str], twin: xarray.Dataset | None
) -> None:
    """The forces of some joints, on the scale of all `joints`."""
    if twin is not None and "force_x" in twin:
        for joint in (joint for joint in shown if joint in twin.joint):
            behind(ax, twin.time.values, force(twin, joint))
    lines(ax, run.time.values, {joint: (force(run, joint), look(joints.index(joint))) for joint in shown})
    peaks = run[["peak_force", "peak_force_time"]].sel(joint=list(joints))
    sampled = max(largest(force(run, joint)) for joint in joints)
    highest = max(float(peaks.peak_force.max()), sampled)
    top = 1.08 * (highest if highest < SPIKE * sampled else sampled)  # a spike must not flatten all the rest
    top = top if top > 0 else 1.0  # no force in any sample
    ax.set_ylim(0, top)
    for joint in shown:
        at, peak = (float(peaks[name].sel(joint=joint)) for name in ("peak_force_time", "peak_force"))
        marker = "o" if peak < top else "^"
        colour = look(joints.index(joint))["color"]
        ax.plot(at, min(peak, top), marker, markersize=3.5, color=colour, clip_on=False)
    ax.set_ylabel("joint force (N)")
    impulses(ax, run, shown)


def _torques(ax: Axes, run: xarray.Dataset, joints: Sequence[str], twin: xarray.Dataset | None) -> None:
    """The torques of joints that have no force."""
    drawn = {joint: run.moment.sel(joint=joint).values for joint in joints}
    for joint in (joint for joint in joints if twin is not None and "moment" in twin and joint in twin.joint):
        behind(ax, twin.time.values, twin.moment.sel(joint=joint).values)  # type: ignore[union-attr]
    lines(ax, run.time.values, {joint: (x, look(i)) for i, (joint, x) in enumerate(drawn.items())})
    if in_view(ax, drawn.values()):
        note(ax, f"peaks reach {max(map(largest, drawn.values())):.3g} N m")
    ax.set_ylabel("joint torque (N m)")
    impulses(ax, run, joints, "N m s")
    legend(ax)
    over_time([ax])
