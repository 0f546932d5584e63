"""The time at which a coordinate passes a mark, and its stated error, against closed forms."""

import functools
import itertools
import math

import numpy as np
import pytest
from scipy.special import ellipk, ellipkinc

import jointplay as jp
from jointplay.errors import InputError

PENDULUM = jp.loads("""
ground: {points: {O: [0, 0]}}
bodies: {a: {bar: 1 m, mass: 1 kg}}
joints: {J: {kind: revolute, between: [ground.O, a.start]}}
start: {a: 0}
""")
PIN = jp.loads("""
ground: {points: {O: [0, 0]}}
bodies: {pin: {mass: 1 kg, inertia: 1 kg*m^2}}
joints:
  J: {kind: revolute, between: [ground.O, pin.centre], clearance: 20 mm, contact: {kind: rigid, restitution: 0.5}}
journals: centred
""")


@pytest.mark.parametrize(("rtol", "every"), [(1e-5, None), (1e-8, None), (1e-8, 0.05), (1e-8, 0.0025)])
def test_the_stated_error_of_a_time_covers_the_true_one(rtol, every):
    """A pendulum let go level passes 0.3 rad from its lowest place, after 0, 1 and 2 periods."""
    run = jp.simulate(PENDULUM, until=5.0, stepper=jp.RungeKutta(rtol=rtol), every=every)
    pace, k = math.sqrt(1.5 * 9.81), math.sin(math.pi / 4)
    quarter = ellipk(k * k)
    first = quarter - ellipkinc(math.asin(math.sin(0.15) / k), k * k)
    for turns in range(3):
        asked = {"below": 0.3 - math.pi / 2, "begin": 4 * turns * quarter / pace}
        time, error = jp.results.when_with_error(run, "angle", "a", **asked)
        off = abs(time - (first + 4 * turns * quarter) / pace)
        assert off < 3 * error < 120 * off and time == jp.results.when(run, "angle", "a", **asked)


def test_an_impact_between_two_samples_is_in_the_error():
    """A pin falls through its play and bounces at 63.9 ms; samples 10 ms apart do not see the moment."""
    for every, most in ((0.01, 5e-3), (None, 1e-6)):
        run = jp.simulate(PIN, until=0.15, every=every)
        time, error = jp.results.when_with_error(run, "y", "pin", below="-17.8 mm")
        assert abs(time - math.sqrt(2 * 0.0178 / 9.81)) < error < most


def test_a_mark_that_may_never_be_reached_and_signals_without_errors():
    run = jp.simulate(PENDULUM, until=1.0, stepper=jp.RungeKutta(rtol=1e-3))
    lowest = float(run.y.sel(body="a").min())
    assert jp.results.when_with_error(run, "y", "a", below=lowest + 1e-9)[1] == math.inf
    assert math.isnan(jp.results.when_with_error(run, "angle_rate", "a", below=-1.0)[1])
    assert all(math.isnan(x) for x in jp.results.when_with_error(run, "y", "a", above=9.0))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda run: jp.results.when(run, "a.angle", below=math.nan), "the mark must be a number such as 1.5"),
        (lambda run: jp.results.when(run, "a.angle", below=[1]), "the mark must be a number such as 1.5"),
        (lambda run: jp.results.when(run, "a.angle", below=0.0, begin="5 mm"), "begin must be .* got '5 mm'"),
        (lambda run: jp.results.apart(run, run, "foo"), "angle, x or y, got 'foo'"),
        (lambda run: jp.results.save(run, 5), "5: the suffix must be one of"),
    ],
)
def test_what_cannot_be_asked_of_a_result_says_why(asked, said):
    with pytest.raises(InputError, match=said):
        asked(jp.simulate(PENDULUM, 0.1, error=False))


def test_the_time_from_which_on_a_passage_counts_may_have_a_unit():
    run = jp.simulate(PENDULUM, 2.0)
    for ask in (jp.results.when, jp.results.when_with_error):
        assert ask(run, "a.angle", below=-1.5, begin="500 ms") == ask(run, "a.angle", below=-1.5, begin=0.5)


@pytest.mark.parametrize("speed", [0.56, 1.6, 3.0])
def test_a_mark_behind_a_rigid_stop_is_never_passed(speed):
    """A ram that strikes its stop between two samples and hardly comes back: the cubic by its rates swung 0.1 mm beyond
    the stop, in 8 of 40 runs; in front of the stop a mark is passed at mark / speed."""
    ram = jp.loads(f"""
gravity: [0, 0]
ground: {{points: {{O: [0, 0]}}}}
bodies: {{ram: {{mass: 1, inertia: 1e-3}}}}
joints: {{g: {{kind: prismatic, between: [ground.O, ram.centre], axis: [1, 0], upper: 0.1, stop_restitution: 0.05}}}}
start: {{ram.x: 0, ram.x.rate: {speed}}}
""")
    for part in range(20):  # of an interval at which it strikes
        every = 0.1 / speed / (20 + part / 20)
        run = jp.simulate(ram, 30 * every, every=every, error=False)
        assert math.isnan(jp.results.when(run, "ram.x", above=0.1 + 1e-6))
        assert jp.results.when(run, "ram.x", above=0.09) == pytest.approx(0.09 / speed, rel=1e-3)


def test_a_rate_is_above_a_mark_just_before_or_after_an_impact_too():
    """A ball dropped by 1 m strikes with 4.429 m/s and leaves with 3.544; samples know less, and it was "never"."""
    ball = jp.loads("""
ground: {points: {O: [0, 0]}}
bodies: {ball: {mass: 1, inertia: 1}}
joints: {J: {kind: prismatic, between: [ground.O, ball.centre], axis: [0, 1], lower: 0.0, stop_restitution: 0.8}}
start: {ball.y: 1.0}
""")
    run, strikes = jp.simulate(ball, 1.0, every=0.01, error=False), math.sqrt(2 / 9.81)
    assert jp.results.when(run, "ball.y_rate", below=-4.425) == pytest.approx(4.425 / 9.81, abs=1e-9)
    assert jp.results.when(run, "ball.y_rate", above=3.54) == pytest.approx(strikes, abs=1e-9)
    for mark, side in ((-4.43, "below"), (3.545, "above")):
        assert math.isnan(jp.results.when(run, "ball.y_rate", **{side: mark}))
    smooth = jp.simulate(jp.library.slider_crank(speed=30.0), 0.5, every=0.01, error=False)
    assert jp.results.when(smooth, "slider.x_rate", above=2.85) == pytest.approx(0.13553, abs=2e-4)


def test_a_signal_that_leaves_a_mark_is_back_a_turn_later():
    """Where rounding left it on its side of the mark, the time of its leaving was taken for that of its return: 21 of
    165 here, and 0.24 to 0.42 s were their errors."""
    run = jp.simulate(jp.library.slider_crank(speed=math.tau), until=4.0)
    place = functools.partial(np.interp, xp=run.time.values, fp=run.x.sel(body="slider").values)
    for mark, turn in itertools.product(np.linspace(0.22, 0.38, 33), (0.2, 1.2, 2.2)):
        back = jp.results.when(run, "slider.x", below=mark, begin=turn)
        time, error = jp.results.when_with_error(run, "slider.x", above=mark, begin=back)
        assert time > back + 0.1 and error < 1e-5
        assert place(time - 0.01) < mark < place(time + 0.01)
        assert jp.results.when(run, "slider.x", above=mark, begin=back) == time
