"""Before and after balancing, and what less of one thing costs in another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import balancing
from ..balancing.demands import parameters
from ..balancing.quantities import QUANTITIES, UNITS
from ..errors import InputError
from .motion import IMPULSE, stems
from .style import COLOURS, HEIGHT, IDEAL, behind, in_view, largest, legend, lines, look, note, over_time, sheet
from .twins import of_one

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from ..balancing import Balance

_IMPULSES = {"force": "impulse", "moment": "impulse_moment"}
_NAMES = {"force": "shaking force", "moment": "shaking moment", "torque": "drive torque", "bearing": "bearing load"}


def balance(found: Balance) -> Figure:
    """Shaking force, shaking moment, drive torque and the largest bearing load over the motion, before (grey) and after
    balancing."""
    if found.moved is None:
        raise InputError("there is no motion to draw; balance with one, as in motion_of='crank=60 rpm'")
    moved = found.moved
    ready = moved.mechanism
    thetas = parameters(ready), parameters(found.mechanism)
    shown = [q for q in QUANTITIES if q != "torque" or moved.drives]
    with sheet(None, HEIGHT * len(shown) * 0.8 + 0.6) as figure:
        figure.suptitle(f"{found.given.name}: {found.objective}", x=0.01, ha="left", fontsize=10, fontweight="bold")
        axes = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
        for ax, quantity in zip(axes, shown, strict=True):
            signed = quantity in ("moment", "torque")
            pair = [_line(found, quantity, theta, signed) for theta in thetas]
            ax.plot(moved.times, pair[0], color=IDEAL, label="before")
            ax.plot(moved.times, pair[1], color=COLOURS[0], label="after")
            in_view(ax, [*(np.ravel(line) for line in pair), np.zeros(1)])
            ax.set_ylabel(f"{_NAMES[quantity]}\n({moved.unit(quantity)})")
        legend(axes[0])
        axes[0].margins(x=0)
        axes[-1].set_xlabel("time (s)")
    return figure


def _line(found: Balance, quantity: str, theta: np.ndarray, signed: bool) -> np.ndarray:
    assert found.moved is not None
    if signed and found.moved.rows[quantity].shape[1] == 1:
        return found.moved.signal(quantity, theta)[:, 0]
    return found.moved.sizes(quantity, theta)


def shaking(run: xarray.Dataset, twin: xarray.Dataset | None = None, pole: tuple[float, float] = (0.0, 0.0)) -> Figure:
    """Shaking force and moment about a pole (m) over a run, with the impulses of rigid impacts as stems; behind, those
    with ideal joints."""
    of_one(run, twin)
    found = balancing.shaking(run, pole=pole)
    ideal = None if twin is None else balancing.shaking(twin, pole=pole)
    with sheet(run, 2 * HEIGHT, caption="force and moment that shake the frame, over time.") as figure:
        axes = figure.subplots(2, 1, sharex=True)
        for i, (ax, name) in enumerate(zip(axes, ("force", "moment"), strict=True)):
            shown = [found[name].values, np.zeros(1)]
            if ideal is not None:
                behind(ax, ideal.time.values, ideal[name].values, "" if i else "ideal joints")
                shown.append(ideal[name].values)
            label = "_run" if i or ideal is None else "with play"
            lines(ax, found.time.values, {label: (found[name].values, look(0))})
            if in_view(ax, shown):
                note(ax, f"peaks reach {float(f'{largest(found[name].values):.3g}'):g} {UNITS[name]}")
            ax.set_ylabel(f"{_NAMES[name]}\n({UNITS[name]})")
            if "impulse" in found:
                sizes = np.abs(found[_IMPULSES[name]].values)
                stems(ax, [(found.time.values[sizes > 0], sizes[sizes > 0], IMPULSE)], f"{UNITS[name]} s")
        legend(axes[0])
        axes[0].margins(x=0)
        over_time(axes[-1:])
    return figure


def trade_off(found: xarray.Dataset) -> Figure:
    """A trade-off: rms of one quantity against that of another, the unbalanced mechanism as a cross, and what the other
    two quantities are along the front."""
    of, against = found.attrs["of"], found.attrs["against"]
    others = [q for q in QUANTITIES if q not in (of, against)]
    with sheet(None, 2.9) as figure:
        figure.suptitle(found.attrs.get("title", ""), x=0.01, ha="left", fontsize=10, fontweight="bold")
        left, right = figure.subplots(1, 2)
        x = found[f"{of}_rms"]
        y = found[f"{against}_rms"]
        left.plot(x.values, y.values, "o-", color=COLOURS[0], markersize=3.5, label="best designs")
        left.plot([x.attrs["unbalanced"]], [y.attrs["unbalanced"]], "x", color=COLOURS[1], label="unbalanced")
        left.set_xlabel(f"{_NAMES[of]}, rms ({x.units})")
        left.set_ylabel(f"{_NAMES[against]}, rms ({y.units})")
        left.set_ylim(bottom=0)
        left.set_xlim(left=min(0.0, -0.02 * float(x.max())))
        legend(left)
        for i, other in enumerate(others):
            values = found[f"{other}_rms"]
            was = values.attrs["unbalanced"] or 1.0
            right.plot(x.values, values.values / was, "o-", color=COLOURS[2 + i], markersize=3.5, label=_NAMES[other])
        right.axhline(1.0, color=IDEAL, linewidth=0.8)
        right.set_xlabel(f"{_NAMES[of]}, rms ({x.units})")
        right.set_ylabel("rms over that of the unbalanced")
        legend(right)
    return figure
