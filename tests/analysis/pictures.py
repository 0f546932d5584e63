"""Draws the pictures of docs/analysis.md: python -m tests.analysis.pictures"""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from jointplay import plots
from jointplay.analysis import Strobe, bifurcation, embedding, exponent, exponents, iaaft, rosenstein, textbook
from tests.analysis.signals import sampled

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"


def divergence():
    """Rosenstein's curves of a periodic motion with impacts, of a surrogate of it, and of a chaotic motion."""
    curves = {}
    for frequency, name in ((2.6, "periodic"), (2.8, "chaotic")):
        period = 2 * math.pi / frequency
        thing = textbook.impact_oscillator(frequency)
        series = sampled(thing, period / 50, 600 * period, 1, name, 3000)
        noise = 1e-6 * series.values.std() * np.random.default_rng(0).normal(size=3000)
        series = replace(series, values=series.values + noise)
        half = 0.0, 0.5 * period
        chosen = embedding(series)
        curves[f"{name}, with impacts"] = rosenstein(series, chosen, 12.0, half if name == "periodic" else None)
        if name == "periodic":
            surrogate = replace(series, values=iaaft(series.values, np.random.default_rng(2)))
            curves["surrogate of the periodic one"] = rosenstein(surrogate, chosen, 12.0, half)
    plots.save(plots.analysis.divergence(curves), IMAGES / "fig_divergence.png")
    for name, one in curves.items():
        print(f"{name}: slope {one.slope:.3g} 1/s, plateau at {one.reach:.2g} of the distance of any two points")


def convergence():
    """The exponents of Lorenz by two trajectories and by tangent vectors."""
    pair, alone = textbook.lorenz(lanes=2), textbook.lorenz()
    pair.advance(20.0)
    alone.advance(20.0)
    found = {"two trajectories": exponent(pair, 600.0, 0.5), "tangent vectors": exponents(alone, 600.0, 1)[0]}
    plots.save(plots.analysis.convergence(found), IMAGES / "fig_exponent.png")


def diagram():
    """The impact oscillator over the frequency of its force."""

    def make(lanes):
        [number] = lanes
        return Strobe(textbook.impact_oscillator(**number), 2 * math.pi / number["frequency"])

    found = bifurcation(make, "frequency", np.linspace(2.5, 2.85, 141), "v", keep=80, skip=250, lanes=1)
    plots.save(plots.analysis.bifurcation(found), IMAGES / "fig_bifurcation.png")


if __name__ == "__main__":
    divergence()
    convergence()
    diagram()
