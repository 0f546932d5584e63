"""Some of the runs of tests/adversarial.py; validation/test_adversarial.py takes all."""

import pytest

from tests.adversarial import ADVERSARIAL, HEALTHY, healthy, verdict

QUICK = (
    "driven slider-crank, step 1 ms",
    "stiff spring, classical steps",
    "stiff spring, loose tolerance",
    "ball, one step a bounce",
    "pulse of 1 ms in 10 s",
    "pulse of 10 ms, long rigid steps",
    "ball that touches the ceiling, long run",
    "rod of 1e-12 kg",
    "guide, friction 2",
    "two coefficients that create energy",
    "spline that swings beyond its points",
)


@pytest.mark.parametrize("name", QUICK)
def test_nothing_is_silently_wrong(name):
    found = verdict(ADVERSARIAL[name])
    assert not found.startswith("silently wrong"), found


@pytest.mark.parametrize("name", ["slider-crank, play, e = 0.9", "guide, friction", "ball that comes to rest"])
def test_healthy_runs_are_fine(name):
    healthy(HEALTHY[name]())
