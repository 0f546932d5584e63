"""Figures of nonlinear analysis: spectra, sections, divergence, exponents, diagrams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..physics.record import BODIES
from ..series import spelled
from .style import COLOURS, IDEAL, NOTHING, WIDTH, legend, look, note, sheet, span

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

DOTS: dict[str, Any] = {"linestyle": "none", "marker": "o", "markeredgewidth": 0}
FAR = 0.1  # of the range: no line joins samples that are usually farther apart
DECADES = 10  # below the largest that a spectrum shows: less is tolerance and rounding


def with_unit(name: str) -> str:
    """A signal as an axis names it: `rod.angle_rate (rad/s)`; what is of no body as it is."""
    owner, _, part = spelled(name).rpartition(".")
    return f"{owner}.{part} ({BODIES[part].unit})" if owner and part in BODIES else name


def power_spectrum(found: xarray.Dataset) -> Figure:
    """Power spectral density over frequency; the comb of the drive's harmonics marked (`analysis.spectrum`)."""
    with sheet(None, 2.6) as figure:
        ax = figure.add_subplot()
        frequency, density = found.frequency.values[1:], found.density.values[1:]
        ax.semilogy(frequency, density, color=COLOURS[0], linewidth=0.7, label="all")
        comb = found.comb.values[1:]
        if comb.any():
            ax.semilogy(
                frequency[comb], density[comb], color=COLOURS[1], markersize=2.5, label="comb of the drive", **DOTS
            )
            legend(ax)
            note(ax, f"{100 * found.attrs['off_comb']:.3g} % of the power beside the comb")
        ax.set_ylim(bottom=max(float(density.max()) * 10.0**-DECADES, 1e-300))
        ax.set_xlabel("frequency (Hz)")
        ax.set_ylabel(_with_unit("power spectral density", found.density))
    return figure


def _with_unit(name: str, array: xarray.DataArray) -> str:
    unit = str(array.attrs.get("units", "")).replace("^2", "²")
    return f"{name} ({unit})" if unit else name


def divergence(curves: Mapping[str, Any]) -> Figure:
    """Mean logarithmic distance of neighbours over time, the fit windows thick (`analysis.rosenstein`), by name."""
    with sheet(None, 2.6) as figure:
        ax = figure.add_subplot()
        for i, (name, one) in enumerate(curves.items()):
            style = look(i) if name != "ideal joints" else {"color": IDEAL}
            ax.plot(one.time, one.curve, linewidth=0.9, label=f"{name}: {one.slope:.3g} 1/s", **style)
            inside = (one.time >= one.window[0]) & (one.time <= one.window[1])
            ax.plot(one.time[inside], one.curve[inside], linewidth=2.6, color=style["color"])
        legend(ax)
        ax.set_xlabel("time (s)")
        ax.set_ylabel("mean ln(distance)")
    return figure


def convergence(exponents: Mapping[str, Any]) -> Figure:
    """Exponents as they converge, by name (`analysis.exponent`); bars are one standard error."""
    with sheet(None, 2.6) as figure:
        ax = figure.add_subplot()
        for i, (name, one) in enumerate(exponents.items()):
            ax.plot(one.time, one.curve, label=f"{name}: {one.value:.4g} ± {one.error:.2g}", **look(i))
            ax.errorbar(one.time[-1:], [one.value], [one.error], color=look(i)["color"], capsize=3)
        values = np.concatenate([one.curve[len(one.curve) // 20 :] for one in exponents.values()])
        low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
        ax.set_ylim(low - 0.1 * (high - low), high + 0.1 * (high - low))
        ax.axhline(0, color="#444444", linewidth=0.8)
        legend(ax)
        ax.set_xlabel("time (s)")
        ax.set_ylabel("mean rate of growth (1/s)")
    return figure


def section(points: np.ndarray, names: Sequence[str], title: str = "") -> Figure:
    """Points (count, 2) of a Poincaré section, the later the darker."""
    with sheet(None, 3.2, width=4.2) as figure:
        ax = figure.add_subplot()
        ax.scatter(points[:, 0], points[:, 1], c=np.arange(len(points)), cmap="viridis_r", s=5, linewidths=0)
        _honest(ax, points[:, 0], points[:, 1])
        ax.set_xlabel(with_unit(names[0]))
        ax.set_ylabel(with_unit(names[1]))
        note(ax, title or f"{len(points)} points")
    return figure


def return_map(values: np.ndarray, name: str, k: int = 1) -> Figure:
    """Each value of a section over the one before it."""
    with sheet(None, 3.2, width=4.2) as figure:
        ax = figure.add_subplot()
        ax.plot(values[:-k], values[k:], color=COLOURS[0], markersize=2.5, **DOTS)
        _honest(ax, values, values)
        low, high = ax.get_xlim()
        ax.plot([low, high], [low, high], color=IDEAL, linewidth=0.8, zorder=1)
        ax.set_xlabel(f"{with_unit(name)}, now")
        ax.set_ylabel(f"{with_unit(name)}, {'a period' if k == 1 else f'{k} periods'} later")
    return figure


def _honest(ax: Any, x: np.ndarray, y: np.ndarray) -> None:
    """Limits that do not blow round-off up to the size of the figure."""
    for values, limits in ((x, ax.set_xlim), (y, ax.set_ylim)):
        middle, half = float(np.median(values)), 0.55 * float(np.ptp(values))
        half = max(half, 1e-6 * max(1.0, float(np.abs(values).max())))
        limits(middle - half if half < 1e-5 else float(values.min()) - 0.1 * half, None)
        limits(None, middle + half if half < 1e-5 else float(values.max()) + 0.1 * half)


def folded(time: np.ndarray, values: np.ndarray, period: float, name: str = "signal") -> Figure:
    """A signal over its phase, all periods upon each other, the later the darker."""
    with sheet(None, 2.6) as figure:
        ax = figure.add_subplot()
        phase = np.mod(time - time[0], period)
        shade = ax.scatter(phase, values, c=time, cmap="viridis_r", s=2.5, linewidths=0)
        figure.colorbar(shade, ax=ax, label="time (s)", pad=0.02)
        ax.margins(x=0)
        ax.set_xlabel(f"time since the start of a period of {period:.6g} s (s)")
        ax.set_ylabel(with_unit(name))
    return figure


def phase_plane(points: np.ndarray, names: Sequence[str]) -> Figure:
    """A number of the state (samples, 2) and its rate."""
    with sheet(None, 3.2, width=4.2) as figure:
        ax = figure.add_subplot()
        _course(ax, points[:, 0], points[:, 1])
        ax.set_xlabel(with_unit(names[0]))
        ax.set_ylabel(with_unit(names[1]))
    return figure


def _course(ax: Any, x: np.ndarray, y: np.ndarray) -> None:
    """A line through samples, or dots where neighbours are so far apart that a line would show what was not there."""
    steps = np.hypot(*(np.diff(values) / max(span(values), 1e-300) for values in (x, y)))
    dotted = len(steps) > 0 and float(np.nanpercentile(steps, 90)) > FAR
    ax.plot(x, y, color=COLOURS[0], **(DOTS | {"markersize": 2.5} if dotted else {"linewidth": 0.5}))
    if dotted:
        note(ax, "samples, too far apart for a line")


def delayed(time: np.ndarray, values: np.ndarray, lag: int, name: str = "signal") -> Figure:
    """A signal over itself some samples before: its phase plane, if only one signal is known."""
    with sheet(None, 3.2, width=4.2) as figure:
        ax = figure.add_subplot()
        _course(ax, values[:-lag], values[lag:])
        ax.set_xlabel(with_unit(name))
        ax.set_ylabel(f"{with_unit(name)}, {lag * float(time[1] - time[0]):.3g} s later")
    return figure


def signal(time: np.ndarray, values: np.ndarray, name: str = "signal", period: float | None = None) -> Figure:
    """A signal over time; lines mark the periods of the drive."""
    with sheet(None, 2.0) as figure:
        ax = figure.add_subplot()
        ax.plot(time, values, color=COLOURS[0], linewidth=0.7)
        if period is not None and (time[-1] - time[0]) / period < 60:
            for at in np.arange(np.ceil(time[0] / period) * period, time[-1], period):
                ax.axvline(at, color=IDEAL, linewidth=0.6, zorder=1)
        ax.margins(x=0)
        ax.set_xlabel("time (s)")
        ax.set_ylabel(with_unit(name))
    return figure


def spreads(found: Mapping[str, float], most: int = 12) -> Figure:
    """How widely the section of each number of a state is spread, over the range of the number; the widest ones."""
    shown = sorted(((x, name) for name, x in found.items() if x > NOTHING), reverse=True)[:most][::-1]
    with sheet(None, 1.0 + 0.22 * len(shown)) as figure:
        ax = figure.add_subplot()
        ax.barh([name for _, name in shown], [x for x, _ in shown], color=COLOURS[0], height=0.6)
        ax.set_xscale("log")
        ax.set_xlabel("spread of the section over the range of the motion")
    return figure


def bifurcation(diagram: xarray.Dataset) -> Figure:
    """The points of a section over a number (`analysis.bifurcation`); forward and backward side by side."""
    address, name = diagram.attrs["address"], diagram.attrs["signal"]
    with sheet(None, 3.6) as figure:
        ax = figure.add_subplot()
        across = np.broadcast_to(diagram[address].values[:, None], diagram[name].shape[1:])
        size = float(np.clip(150 / len(across), 1.0, 3.0))  # few values, large points
        aside = 0.12 * float(np.ptp(across)) / max(1, len(across) - 1) if diagram.sizes["direction"] > 1 else 0.0
        for i, direction in enumerate(diagram.direction.values):
            ax.plot(
                across.ravel() + (2 * i - 1) * aside,
                diagram[name].values[i].ravel(),
                color=COLOURS[i],
                markersize=size,
                label=direction,
                **DOTS,
            )
        if diagram.sizes["direction"] > 1:
            legend(ax)
        ax.margins(x=0.01)
        ax.set_xlabel(_with_unit(address, diagram[address]))
        ax.set_ylabel(f"{with_unit(name)} once a period")
    return figure


def basins(diagram: xarray.Dataset) -> Figure:
    """Which attractor two start values lead to (`analysis.basins`)."""
    from matplotlib.colors import ListedColormap

    one, two = (str(name) for name in diagram.attractor.dims)
    with sheet(None, 3.6, width=0.65 * WIDTH) as figure:
        ax = figure.add_subplot()
        count = int(diagram.attractor.max()) + 1
        shades = ListedColormap([COLOURS[i % len(COLOURS)] for i in range(count)])
        x, y = diagram[one].values, diagram[two].values
        ax.pcolormesh(x, y, diagram.attractor.values.T, cmap=shades, vmin=-0.5, vmax=count - 0.5, shading="nearest")
        ax.grid(False)
        ax.set_xlabel(one)
        ax.set_ylabel(two)
        note(ax, f"{count} attractors")
    return figure
