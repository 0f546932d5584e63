"""What runs tell where companions leave them: journals that never lift, errors that pass 0, touches at rest."""

import numpy as np
import pytest

import jointplay as jp
from jointplay import results
from jointplay.simulation import likeness


def test_permanent_contact_tells_that_a_motion_is_sensitive():
    """Two journals that never lift: the largest force at J4 was 428.8 +- 4.8 N, and is 494 to 676 N at tolerances of a
    tenth to a ten-thousandth.  Where bodies are does not tell; where journals are does."""
    loose = jp.library.slider_crank(speed=20.0)
    for joint in ("J2", "J3"):
        loose = loose.loosen(joint, 5e-4, contact=jp.Following(on_loss="continue"))
    run = jp.simulate(loose, 0.942)
    assert "J2 moves in another way at another tolerance" in run.notes
    assert next(one["error"] for one in results.errors(run) if one["name"] == "J4.peak_force") > 40
    assert "another tolerance" not in jp.simulate(jp.library.grigore_figure_5(), 1.0).notes


def test_where_runs_cross_each_other_the_error_is_that_of_a_while():
    """Where the differences to companions pass 0 the error at that sample would be nothing."""
    time = np.linspace(0, 1, 1001)
    off = np.abs(np.sin(40 * np.pi * time))[:, None]
    assert off[-1] < 1e-12 and likeness.lately(off)[-1] > 0.9
    late = likeness.lately(np.exp(-time)[:, None])[:, 0]
    assert late == pytest.approx(np.exp(-np.maximum(time - 0.019, 0)))  # of the past, not of what comes


PLASTIC = """
ground: {points: {O: [0, 0]}}
bodies: {arm: {bar: 1 m, mass: 1 kg}}
joints: {J: {kind: revolute, between: [ground.O, arm.start], lower: -150 deg, stop_restitution: %s}}
start: {arm: 0 deg, arm.rate: -3}
"""


def test_a_stop_that_is_touched_again_at_no_speed_is_told():
    """Its rebound is none, so that the arm swings back to where it was let go, at rest; a rebound of one half is not
    followed by such touches, however weak its bounces become."""
    assert "J.stop.lower: comes back from afar" in jp.simulate(jp.loads(PLASTIC % 0), 5.0).notes
    assert "comes back" not in jp.simulate(jp.loads(PLASTIC % 0.5), 5.0).notes
