"""Periods that were too long, motions of which one signal showed a part, and pairs of rates that are one."""

import math

import numpy as np
import pytest

import jointplay as jp
from jointplay.analysis import Series, repeat
from jointplay.analysis.evidence import INCONCLUSIVE, QUASI
from jointplay.analysis.indicators import phase_evidence
from jointplay.analysis.judge import planned
from jointplay.analysis.rates import common
from jointplay.analysis.regular import Phases, less_than_common, repetition, second_phase
from jointplay.analysis.strobed import PER_PERIOD, Watched, section_evidence
from jointplay.analysis.trajectories import thing_verdict
from tests.analysis.blind import second

TIME = 0.0213 * np.arange(2000)


def wave(time):
    angle = 2 * np.pi * time
    return np.sin(angle) + 0.4 * np.sin(2 * angle + 1) + 0.2 * np.cos(5 * angle)


# -- periods that are multiples of the true one
def test_a_drift_makes_no_multiple_of_a_period():
    """One percent of a straight line: the change after 4 s, seen over fewer turns, was just below the limit."""
    found, _, rows, _ = phase_evidence(Series(TIME, wave(TIME) + 0.01 * TIME / TIME[-1]))
    assert found is None and "nearly the same after 0.99999" in rows[0].says


def test_a_few_samples_in_a_period():
    """Three of them, whose second harmonic is beyond half the rate of the samples: 7 s was found first."""
    time = 0.3217 * np.arange(2000)
    found = repetition(Series(time, np.sin(2 * np.pi * time) + 0.3 * np.sin(4 * np.pi * time + 1)))
    assert found.holds and found.period == pytest.approx(1.0, rel=1e-6)


def test_a_long_period_is_measured_like_a_short_one():
    """A pendulum that a constant torque turns, as it settles: 15 turns left less, since spikes did not count there."""
    time = 0.025 * np.arange(4000)
    angle = 2 * np.pi * time / 1.573864
    values = 4.0 + 0.3 * np.sin(angle) + 0.03 * np.sin(2 * angle) + 0.005 * np.exp(-0.3 * time)
    found = repetition(Series(time, values, simulated=True))
    assert found.holds and found.period == pytest.approx(1.573864, rel=1e-5)


@pytest.mark.parametrize(("rate", "k"), [(-0.8, None), (-0.985, None), (0.5, 1), (0.0, 2)])
def test_what_swings_to_and_fro_as_it_settles_has_not_twice_its_period(rate, k):
    """x -> rate x changes by (1 - rate^2) after two points, by (1 - rate) after one; 0: points of period two."""
    count = np.arange(40)
    points = 0.2 * (-1.0) ** count if rate == 0 else 2.5e-4 * rate**count if rate < -0.9 else 7e-6 * rate**count
    assert repeat(1.0 + points[:, None], ["x"], 1e-5).multiple == k


def test_a_section_that_still_settles_to_a_shorter_period():
    steps = np.arange(24 * PER_PERIOD)
    angle, turn = 2 * np.pi * steps / PER_PERIOD, steps // PER_PERIOD
    found = []
    for swing in (2e-5 * (-0.7) ** (turn - 12.0), 2e-5 * (-1.0) ** turn):
        states = np.column_stack([np.sin(angle) + swing, np.cos(angle) + swing])
        details = {"series": Series(0.1 * steps, states[:, 0], "x")}
        early = [states[:1], states[:1] + 1e-10]
        found.append(section_evidence(Watched({}, ["x", "v"], [states, states], early), -1, details))
    assert [one.multiple for one in found] == [None, 2]
    assert found[0].evidence[0].votes == INCONCLUSIVE
    assert "may come to repeat after 1" in found[0].evidence[0].says


def test_small_bounces_of_every_fourth_period_are_no_noise():
    """Of a blind trial: after two of these only spikes change, by twice of what noise leaves."""
    series = next(one for i, (_, one) in enumerate(second()) if i == 30)
    assert "k 4" in series.name and repetition(series).period == pytest.approx(33.78188, rel=1e-5)


# -- two rates with a common period
def test_two_rates_with_a_common_period_are_one_phase():
    """Of 17 and 12 turns in 12 s the series holds three and a half: it repeats, though it is too short to say so."""
    found = []
    for ratio in (17 / 12, math.sqrt(2)):
        series = Series(TIME, np.sin(2 * np.pi * TIME) + 0.5 * np.sin(2 * np.pi * ratio * TIME))
        two, explained = second_phase(series, repetition(series))
        assert two.residual < 0.01 and any(abs(one - 12.0) < 0.01 for one in common(series, two.periods))
        found.append(explained)
        assert less_than_common(series, two) is explained
    assert found == [False, True]


def test_rates_that_slip_beside_a_common_period_are_two():
    """Of a blind trial: 8 and 3 turns of 59 s, of which the second rate slips by a fiftieth of a turn each time."""
    series = next(one for i, (_, one) in enumerate(second()) if i == 15)
    assert less_than_common(series, Phases((7.417399, 19.667977), 0.0186, 0.31, 0.0514))


def test_chaos_in_narrow_bands_is_no_second_phase():
    """A driven pendulum just beyond its cascade: period four of the drive but for 3 %, which rates of 7 and 4 explained
    as well; a calculation with tangent vectors has 0.0146 +- 0.001 1/s."""
    rate, turns, sub = 2 / 3, 75, 4
    step = 2 * np.pi / rate / PER_PERIOD / sub
    x, v, t, found = 0.2, 0.0, 0.0, []

    def pull(t, x, v):
        return -0.5 * v - math.sin(x) + 1.4795 * math.cos(rate * t)

    for i in range(turns * PER_PERIOD * sub):
        h, a = step, pull(t, x, v)
        b = pull(t + h / 2, x + h / 2 * v, v + h / 2 * a)
        c = pull(t + h / 2, x + h / 2 * (v + h / 2 * a), v + h / 2 * b)
        d = pull(t + h, x + h * (v + h / 2 * b), v + h * c)
        x, v, t = x + h * (v + h / 6 * (a + b + c)), v + h / 6 * (a + 2 * b + 2 * c + d), step * (i + 1)
        if i % sub == sub - 1:
            found.append(v)
    values = np.array(found[15 * PER_PERIOD :])
    series = Series(sub * step * np.arange(len(values)), values, period=2 * np.pi / rate, simulated=True)
    assert not second_phase(series, repetition(series))[1]


# -- a motion without a drive
def plane_body(along, across, damping=0.0):
    """A body on two slides at right angles, each with a spring (N/m): what its place draws depends on both."""
    return jp.loads(f"""
gravity: [0, 0]
ground: {{points: {{O: [0, 0], W: [-100, 0]}}}}
bodies: {{c: {{mass: 1, inertia: 1e-3}}, b: {{mass: 1, inertia: 1e-3}}}}
joints:
  G: {{kind: prismatic, between: [ground.O, c.centre], axis: [1, 0]}}
  H: {{kind: prismatic, between: [c.centre, b.centre], axis: [0, 1]}}
forces:
  s1: {{kind: spring, between: [ground.W, c.centre], stiffness: {2 * along}, damping: {damping}, free_length: 100}}
  s2: {{kind: spring, between: [c.centre, b.centre], stiffness: {across}}}
start: {{c.x: 0.1, b.y: 0.05}}
""")


def judged(body, until):
    return thing_verdict(*planned(body, until=until), outside=False)


def test_a_motion_repeats_when_all_of_its_state_does():
    found = judged(plane_body(400.0, 100.0), 8.0)  # 0.1 pi and 0.2 pi s
    assert found.verdict == "periodic" and found.period == pytest.approx(0.2 * np.pi, rel=1e-5)
    assert any("the whole state after 2 of these" in row.says for row in found.evidence)
    found = judged(plane_body(400.0, 170.0), 12.0)  # it was called periodic, 0.314 s
    assert found.verdict == QUASI and found.period is None
    assert any("but b.y does not" in row.says for row in found.evidence)


def test_what_loses_energy_all_the_time_has_not_settled():
    """The amplitude of one of its motions falls by 1 %, which two phases explain."""
    found = judged(plane_body(400.0, 170.0, damping=3.5e-3), 12.0)
    assert found.verdict == INCONCLUSIVE
    assert any("its energy falls all the time" in row.says for row in found.evidence)
