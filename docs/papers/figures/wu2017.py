"""Figures of docs/papers/wu2017.md."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from shared import BLUE, GREEN, GREY, RED, bars, panels

from jointplay.analysis import Series, rosenstein
from jointplay.model import library
from jointplay.papers.wu2017 import PERIOD, span
from jointplay.papers.wu2017_play import CLEARANCES, EVERY, WHOLE, centroid, exponent, loosened, played

CLEARANCE = "clearance (mm)"


def deviation() -> plt.Figure:
    """The largest deviation over the clearance beside that of a bar that leans, and the velocity's fluctuation."""
    figure, (left, right) = panels(2)
    least = 1e3 * span(library.wu_2017(), PERIOD).least
    runs = [played(c) for c in CLEARANCES]
    left.plot(CLEARANCES, [x.largest(WHOLE) for x in runs], "o", color=BLUE, label="ours")
    left.plot([0, 0.75], [0, 450 * 0.75 / least], color=GREY, lw=1, label=f"450 mm c/BD, BD = {least:.0f} mm")
    left.set(xlabel=CLEARANCE, ylabel="largest deviation of G (mm)", title="position: a leaning bar")
    left.legend()
    right.plot(CLEARANCES, [x.fastest() for x in runs], "o-", color=BLUE)
    right.set(xlabel=CLEARANCE, ylabel="velocity off (mm/s)", title="amplitude of the fluctuation",
              ylim=(0, None))  # fmt: skip
    return figure


def repeats() -> plt.Figure:
    """Two periods of the deviation on top of each other, and the power on and off the comb of the drives."""
    figure, (left, right) = panels(2, (1.3, 1))
    n = round(PERIOD / EVERY)
    for c, colour in ((0.75, RED), (0.5, BLUE), (0.1, GREEN)):
        d = played(c).deviation
        time = np.arange(0, n, 20) * EVERY
        left.plot(time, d[n : 2 * n : 20], color=colour, lw=1, label=f"{c:g} mm")
        left.plot(time, d[2 * n : 3 * n : 20], color="black", lw=0.6, ls=(0, (2, 6)))
    left.plot([], [], color="black", lw=0.6, ls=(0, (2, 6)), label="one period later")
    left.set(xlabel="time in the period of 36 s (s)", ylabel="deviation of G (mm)", title="the motion repeats")
    left.legend(ncols=2, loc="lower right", fontsize=7)
    found = played(0.1)
    power = np.abs(np.fft.rfft(found.within(found.deviation, [PERIOD, 3 * PERIOD]))) ** 2
    power /= power.sum()
    frequency = np.arange(len(power)) / (2 * PERIOD)
    shown = frequency < 5
    for part, colour, name in ((slice(0, None, 2), BLUE, "multiples of 1/36 Hz"), (slice(1, None, 2), RED, "between")):
        right.semilogy(frequency[shown][part], power[shown][part], ".", ms=2, color=colour, label=name)
    right.set(xlabel="frequency (Hz)", ylabel="share of the power", title="0.1 mm: lines, no band", ylim=(1e-20, 1e3))
    right.legend(loc="upper right", ncols=2, fontsize=7)
    return figure


def exponents() -> plt.Figure:
    """The largest exponents over clearances and speeds."""
    figure, (left, right) = panels(2)
    speeds = [float(np.degrees(w)) for w, _ in library.WU_2017_SPEEDS]
    for axes, at, keys, label in (
        (left, CLEARANCES, [(c, 0) for c in CLEARANCES], CLEARANCE),
        (right, speeds, [(0.5, k) for k in range(len(speeds))], "speed of link 1 (deg/s), 0.5 mm"),
    ):
        found = [exponent(*key) for key in keys]
        axes.errorbar(at, [x for x, _ in found], [e for _, e in found], fmt="o", color=BLUE, capsize=3)
        axes.axhline(0, color=GREY)
        axes.set(xlabel=label, ylim=(-20, 5))
        axes.annotate("the paper: all above 0", (np.mean(at), 1), color=GREY, ha="center")
    left.set_ylabel("largest exponent (1/s)")
    return figure


def frequency() -> plt.Figure:
    """The mean frequency of the fluctuation of the velocity over the clearance."""
    figure, (axes,) = panels()
    axes.plot(CLEARANCES, [centroid(c) for c in CLEARANCES], "o-", color=BLUE)
    axes.set(xlabel=CLEARANCE, ylabel="mean frequency (Hz)", title="fluctuation of the velocity of G", ylim=(0, 60))
    return figure


def speed() -> plt.Figure:
    """The largest deviation over the speed, and how near the slider comes to B."""
    figure, (left, right) = panels(2)
    speeds = library.WU_2017_SPEEDS
    deviations = [played(0.5, k).largest(WHOLE) for k in range(len(speeds))]
    least = [1e3 * span(loosened(0.5, k), PERIOD).least for k in range(len(speeds))]
    degrees = [float(np.degrees(w)) for w, _ in speeds]
    left.plot(degrees, deviations, "o-", color=BLUE)
    left.set(xlabel="speed of link 1 (deg/s)", ylabel="largest deviation of G (mm)", title="not by the speed ...",
             ylim=(0, 8))  # fmt: skip
    right.plot(1 / np.array(least), deviations, "o", color=BLUE)
    right.plot([0, max(1 / x for x in least)], [0, 225 * max(1 / x for x in least)], color=GREY, lw=1,
               label="450 mm c/BD")  # fmt: skip
    for w, x, y in zip(degrees, least, deviations, strict=True):
        right.annotate(f"{w:.0f}", (1 / x, y), xytext=(4, -8), textcoords="offset points", fontsize=8)
    right.set(xlabel="1/(least distance BD) (1/mm)", title="... but by the least distance", ylim=(0, 8))
    right.legend()
    return figure


def states() -> plt.Figure:
    """Shares of time of the four states of contact."""
    figure, (axes,) = panels()
    names = ["none", "one corner", "two opposite", "two on one side"]
    shares = {f"{c:g} mm": [100 * x for x in played(c).states] for c in (0.1, 0.5, 0.75)}
    bars(axes, names, shares, (GREEN, BLUE, RED))
    axes.set(ylabel="share of the time (%)", title="corners in contact", yscale="symlog", ylim=(0, 200))
    axes.set_yticks((0, 1, 10, 100), ("0", "1", "10", "100"))
    axes.tick_params(axis="x", labelsize=8)
    axes.legend()
    return figure


def rosensteins() -> plt.Figure:
    """Rosenstein's slope of the deviation, which repeats to nine digits."""
    figure, (axes,) = panels()
    for c, colour in ((0.75, RED), (0.5, BLUE), (0.1, GREEN)):
        run = played(c)
        found = rosenstein(Series(run.time[::40], run.deviation[::40]))
        axes.plot(found.time, found.curve, color=colour, lw=1, label=f"{c:g} mm: {found.slope:+.2f} 1/s")
    axes.set(xlabel="time (s)", ylabel="mean log of the distance", title="neighbours in 120 s of periodic data")
    axes.legend(title="slope", loc="upper left", bbox_to_anchor=(1, 1))
    return figure
