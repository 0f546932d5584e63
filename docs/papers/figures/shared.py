"""Colours, and what several figures draw alike."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np

BLUE, RED, GREY, GREEN, PURPLE = "#1f5fa8", "#c0392b", "#8a8a8a", "#2e8b57", "#7d3c98"
COLOURS = (BLUE, RED, GREEN, PURPLE)


def panels(count: int = 1, widths: Sequence[float] | None = None) -> tuple[plt.Figure, list[plt.Axes]]:
    """A figure of one row."""
    figure, axes = plt.subplots(1, count, figsize=(5.2 if count == 1 else 8.6, 2.7), squeeze=False, width_ratios=widths)
    return figure, list(axes[0])


def bars(axes: plt.Axes, names: Sequence[str], sets: dict[str, Sequence[float]], colours: Sequence[str]) -> None:
    """Bars side by side, one colour for each set."""
    at, width = np.arange(len(names)), 0.8 / len(sets)
    for i, ((label, values), colour) in enumerate(zip(sets.items(), colours, strict=False)):
        axes.bar(at + (i - (len(sets) - 1) / 2) * width, values, 0.92 * width, color=colour, label=label)
    axes.set_xticks(at, names)
