"""Figures of forces, efforts and errors: their numbers."""

import numpy as np

import jointplay as jp
from jointplay import plots


def test_errors_against_a_run_with_other_samples_are_not_those_of_straight_lines():
    """The same motion, sampled ten times as seldom and for half as long: chords were 1.6 mm off, and what came after
    its end was compared with where it ended; between its samples it is not known (50 µm off by cubics)."""
    crank = jp.library.slider_crank(speed=30.0)
    fine, coarse = jp.simulate(crank, until=0.2, every=1e-3), jp.simulate(crank, until=0.1, every=1e-2)
    figure = plots.tracking_error(fine, coarse, ["slider.x", "rod.angle"])
    units = {"µm": 1e-6, "mm": 1e-3, "m": 1.0, "deg": np.pi / 180}
    for ax, most in zip(figure.axes[1::2], (1e-8, 1e-7), strict=True):  # m, rad
        error = ax.lines[0].get_ydata() * units[ax.get_ylabel().removeprefix("error (").removesuffix(")")]
        assert np.isfinite(error).sum() == 11 and np.nanmax(np.abs(error)) < most
