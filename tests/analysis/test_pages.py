"""Figures and words of the page of a verdict."""

import re

import numpy as np
import pytest

from jointplay.analysis.evidence import Evidence, Verdict
from jointplay.plots import analysis as figures
from jointplay.report import analysis as page


def circle(count: int) -> np.ndarray:
    """A round with so many samples."""
    phase = 2 * np.pi * np.arange(10 * count) / count
    return np.column_stack([np.cos(phase), np.sin(phase)])


@pytest.mark.parametrize(("samples", "line"), [(64, "-"), (5, "None")])
def test_samples_far_apart_are_dots(samples, line):
    """Lines between them were polygons across the figure, and looked chaotic."""
    points = circle(samples)
    drawn = figures.phase_plane(points, ["rod.angle", "rod.angle.rate"]).axes[0].lines[0]
    assert drawn.get_linestyle() == line
    time = np.arange(len(points)) * 0.1
    assert figures.delayed(time, points[:, 0], 1).axes[0].lines[0].get_linestyle() == line


def test_letters_of_figures_have_one_size():
    """A figure of 4.2 inches is shown at 4.2 / 7.2 of the width of one of 7.2 inches."""
    assert page.share(figures.phase_plane(circle(64), ["a", "b"])) == "58%"
    assert page.share(figures.signal(np.arange(9.0), np.arange(9.0))) == "100%"


def test_errors_have_their_sign():
    evidence = [Evidence("section", 0.0, None, "repeats", "periodic", decides=True)]
    found = Verdict("periodic", 2.0, 1, -6.555, 2.0, 10.0, evidence, "settled", "lift", {})
    assert found.headline() == "periodic, 2 s, largest exponent -6.555 ± 2 1/s"
    assert re.search(r'id="verdict" class="card">periodic, 2 s, largest exponent -6.555 ± 2 1/s', page.html(found))
