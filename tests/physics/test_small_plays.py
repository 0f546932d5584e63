"""Small plays at the default tolerance: journals that cross them within 1e-4 s."""

import pytest

from jointplay.model import library
from jointplay.simulation import MoreauJean, simulate
from validation.event_driven import integrate

CASES = pytest.mark.parametrize("play, rate", [(5e-5, 120.0), (1e-5, 60.0)], ids=["0.05 mm", "0.01 mm"])


def spinning(play, rate):
    """The crank-rocker with play, its journal centred, turning at this rate (rad/s)."""
    made = library.crank_rocker_2016(clearance2=play, friction=0.0, restitution=0.5)
    return made.replace(start={"crank": 1.571, "crank.rate": rate, "journals": "centred"})


@CASES
def test_small_plays_are_crossed_as_by_events(play, rate):
    made, until = spinning(play, rate), 1e-3
    run, events = simulate(made, until, error=False), integrate(made, until)
    times = events.times("impact")
    assert len(times) >= 4
    assert float(run.impact_approach.max()) * 1e-4 > 2 * play  # the whole play within 1e-4 s
    assert run.impact_time.values[:4] == pytest.approx(times[:4], rel=3e-3)
    assert float(run.angle.sel(body="crank")[-1]) == pytest.approx(events.of("crank.angle")[-1], abs=1e-7)
    assert float(run.angle_rate.sel(body="rocker")[-1]) == pytest.approx(events.of("rocker.angle.rate")[-1], rel=2e-5)
    assert float(run.impact_loss[-1]) == pytest.approx(events.impact_loss, rel=3e-3)


@CASES
def test_small_plays_at_the_default_tolerance_are_those_of_a_fiftieth(play, rate):
    run, fine = (
        simulate(spinning(play, rate), 0.01, stepper, error=False) for stepper in (None, MoreauJean(rtol=1e-8))
    )
    assert float(run.angle.sel(body="crank")[-1]) == pytest.approx(float(fine.angle.sel(body="crank")[-1]), abs=1e-6)
    assert float(run.impact_loss[-1]) == pytest.approx(float(fine.impact_loss[-1]), rel=3e-3)
    assert float(run.peak_impulse.max()) == pytest.approx(float(fine.peak_impulse.max()), rel=1e-4)
    assert float(run.share_free[0]) == pytest.approx(float(fine.share_free[0]), abs=1e-3)
