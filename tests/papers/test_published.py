"""tau6 as the published program has it: where it differs from equation 22, and what that does."""

import pytest

from jointplay.papers import akhadkar2016_published as published
from jointplay.papers.akhadkar2016_told import reduced


@pytest.mark.parametrize("crank", [0.3, 1.571, 2.9, 4.4, 6.0])
def test_how_fast_the_rocker_follows_and_how_that_changes(crank):
    rate, change = published.follower(crank)
    beside = [reduced(crank + off)[2] for off in (1e-5, -1e-5)]
    assert rate == pytest.approx(reduced(crank)[2], abs=1e-12)
    assert change == pytest.approx((beside[0] - beside[1]) / 2e-5, abs=1e-8)


def test_the_slip_alone_errs(monkeypatch):
    """With ideal joints, where the right law leaves nothing; and without the slip the law is the right one."""
    assert published.tracked((0.0, 0.0), until=1.2)[0] > 0.2
    monkeypatch.setattr(published, "INERTIAS", (0, 0, -published.MASS * published.LENGTHS[2] ** 2 / 4))
    assert published.tracked.__wrapped__((0.0, 0.0), until=1.2)[0] < 0.02  # what is left of the start
