"""Marks of largest efforts that lie between samples."""

import numpy as np
import pytest

import jointplay as jp
from jointplay import plots

HELD = """
gravity: [0, 0]
bodies: {arm: {bar: 0.5, mass: 2}}
ground: {points: {O: [0, 0]}}
joints: {J: {kind: revolute, between: [ground.O, arm.start]}}
drives: {hold: {kind: angle, of: arm, motion: 0}}
forces:
  load:
    kind: torque
    on: arm
    torque: {kind: table, times: [0, 0.301, 0.302, 0.303, 1], values: [5, 5, PULSE, 5, 5], interpolation: linear}
"""


@pytest.mark.parametrize(("pulse", "side"), [(-20.0, 0), (20.0, 0), (8.0, -1)])
def test_a_pulse_between_samples_is_not_marked_on_the_wrong_side(pulse, side):
    """The drive holds -5 N m, and +20 N m for 2 ms that no sample sees: it was marked below."""
    run = jp.simulate(jp.loads(HELD.replace("PULSE", str(pulse))), until=1.0, every=0.1)
    assert float(run.peak_effort[0]) == pytest.approx(abs(pulse), rel=1e-3)
    [axes] = plots.effort(run).axes
    marks = [line for line in axes.lines if line.get_marker() in ("o", "^", "v")]
    dotted = [line for line in axes.lines if line.get_linestyle() == ":"]
    assert (len(marks), len(dotted)) == ((0, 1) if side == 0 else (1, 0))
    for mark in marks:
        assert np.sign(mark.get_ydata()[0]) == side
