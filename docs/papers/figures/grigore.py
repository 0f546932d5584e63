"""Figures of docs/papers/grigore.md."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from shared import BLUE, GREEN, GREY, PURPLE, RED, panels

from jointplay.papers import STUDIES
from jointplay.papers.grigore_motion import push, rest, turning
from jointplay.simulation import RungeKutta, simulate


def rows() -> plt.Figure:
    """The matrix of constraints of Figure 6 as printed, and ours, block by block."""
    found = [one for one in STUDIES["grigore"].records(figure=6) if one.quantity == "rows of the joint"]
    figure, (axes,) = plt.subplots(1, 1, figsize=(8.6, 2.9), squeeze=False)[0], plt.gcf().axes
    axes.set_axis_off()
    for line, one in enumerate(found):
        axes.text(-0.4, -line, one.case["joint"], ha="right", va="center", weight="bold")
        good = one.verdict == "reproduces"
        ours, printed = str(one.computed).strip("[]").split(), str(one.paper)
        cells = printed.strip("[]").split() if printed.startswith("[") and "/" not in printed else []
        if not cells:
            axes.text(2, -line, printed, ha="center", va="center", color=RED)
        for k, cell in enumerate(cells):
            axes.text(k, -line, cell, ha="center", va="center", color=GREY if good or cell == ours[k] else RED)
        for k, cell in enumerate(ours):
            same = good or (cells and cell == cells[k])
            axes.text(6 + k, -line, cell, ha="center", va="center", color=GREY if same else BLUE)
    for x, title in ((2, "as printed"), (8, "ours")):
        axes.text(x, 1, title, ha="center", va="center", weight="bold")
    axes.set(xlim=(-1, 10.6), ylim=(-len(found) + 0.4, 1.5))
    return figure


def equilibria() -> plt.Figure:
    """The four equilibria of Figure 5 with the crank at 60 degrees."""
    system, found = rest("rocker on O4")
    figure, axes = plt.subplots(1, 4, figsize=(8.6, 2.5), sharey=True)
    for one, e in zip(axes, sorted(found, key=lambda e: (e.q[1] < 0, -push(system, e))), strict=True):
        colour = BLUE if e.valid else RED
        places = dict(zip(system.mechanism.bodies, np.reshape(e.q, (-1, 3)), strict=True))
        for name, (x, y, angle) in places.items():
            ends = []
            for port in ("start", "end"):
                a, b = system.mechanism.bodies[name].arm(port)
                ends.append((x + a * np.cos(angle) - b * np.sin(angle), y + a * np.sin(angle) + b * np.cos(angle)))
            one.plot(*zip(*ends, strict=True), "o-", color=colour, ms=3, lw=2)
        crank = 0.1 * np.array([np.cos(np.pi / 3), np.sin(np.pi / 3)])
        one.plot([0, crank[0]], [0, crank[1]], "o-", color=GREY, ms=3, lw=2)
        one.set(
            title=f"{'pushes' if e.valid else 'would pull'}: {push(system, e):.2f} N", aspect="equal", xlabel="x (m)"
        )
        one.title.set_color(colour)
    axes[0].set_ylabel("y (m)")
    return figure


def contact() -> plt.Figure:
    """The least normal force at O3 in every fiftieth of a turn, over two turns of the crank."""
    figure, (axes,) = panels()
    for w, colour in ((1.0, BLUE), (2.0, GREEN), (2.2, RED), (3.0, PURPLE)):
        run = _run(w)
        force, turns = _normal(run), w * run["time"].values / (2 * np.pi)
        part = (50 * turns).astype(int)
        least = [force[part == k].min() for k in range(part.max())]
        axes.plot((np.arange(len(least)) + 0.5) / 50, least, color=colour, lw=1.2, label=f"{w:g} rad/s")
        if run.attrs["outcome"] == "contact lost":
            axes.plot(turns[-1], 0, "v", color=colour)
    axes.axhline(0, color=GREY, lw=0.8)
    axes.set(xlabel="turns of the crank", ylabel="least force at O3 (N)", title="lost above 2 rad/s (triangles)")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def swing() -> plt.Figure:
    """The normal force before the contact is lost."""
    figure, (axes,) = panels()
    run = _run(2.2)
    time = run["time"].values
    late = time > time[-1] - 0.5
    force = _normal(run)
    axes.plot(time[late], force[late], color=RED, lw=1)
    axes.axhline(0, color=GREY, lw=0.8)
    axes.axhline(force[late].mean(), color=GREY, ls=":", label="mean")
    axes.set(xlabel="time (s)", ylabel="normal force at O3 (N)", title="2.2 rad/s: the pin swings until it leaves")
    axes.legend()
    return figure


def _run(w):
    return simulate(turning(w), 4 * np.pi / w, RungeKutta(1e-10, 1e-12), every=2e-4, strict=False, error=False)


def _normal(run):
    return -run["multiplier"].values[:, [str(x) for x in run["row"].values].index("O3.distance")]
