"""Peaks are those of the motion, not of the times at which it is looked at."""

import math

import numpy as np
import pytest

import jointplay as jp
from jointplay import balancing
from jointplay.balancing.quantities import motion, top


@pytest.mark.parametrize("offset", [0.1, 0.25, 0.5])
def test_a_peak_between_the_times(offset):
    """Of 24 times a turn the largest is up to 0.9 % less than the peak, which was told."""
    yoke = jp.library.scotch_yoke(crank=0.1, masses=(1.0, 3.0), speed=2.0)
    times = (np.arange(24) + offset) * math.tau / 2.0 / 24
    moved = motion(yoke, times)
    fine = balancing.shaking(yoke, np.linspace(0, math.tau / 2, 2001)).force.max()
    peak = moved.measures(balancing.demands.parameters(moved.mechanism))["shaking_force_peak"]
    assert peak == pytest.approx(float(fine), rel=2e-4)


def test_jumps_and_kinks_have_no_parabola():
    times = np.linspace(0, 1, 41)
    for curve in (np.where(times < 0.5, 0.0, 1.0), 1 - np.abs(times - 0.49), np.where(times < 0.5, times, 0.0)):
        assert top(times, curve[:, None]) == curve.max()
    uneven = np.sort(np.append(times, [0.51, 0.512]))
    assert top(uneven, np.sin(7 * uneven)[:, None]) <= 1 + 1e-4
