"""Samples that are too far apart to show a motion are told."""

import math

import pytest

import jointplay as jp


@pytest.mark.parametrize(("every", "told"), [(2 * math.pi / 30, "360 deg"), (0.06, "103.1 deg"), (0.02, "")])
def test_samples_too_far_apart_for_a_motion_are_told(every, told):
    """A crank at 30 rad/s: once in each turn its place is always the same."""
    run = jp.simulate(jp.library.slider_crank(speed=30.0), 2 * math.pi / 3, every=every)
    assert (f"turns by up to {told} from sample to sample" in run.attrs["notes"]) == bool(told)
    assert ("from sample to sample" in run.attrs["notes"]) == bool(told)
