"""Motions on which a verdict once was wrong and sure: it must be open, or refused, with what would settle it."""

import math

import numpy as np
import pytest

import jointplay as jp
from jointplay.analysis import Scheme, Series, embedding, rosenstein, textbook
from jointplay.analysis.evidence import CHAOTIC, INCONCLUSIVE, QUASI
from jointplay.analysis.indicators import (
    better_evidence,
    divergence_evidence,
    stationary,
    two_phase_evidence,
    zero_one_evidence,
)
from jointplay.analysis.judge import whole
from jointplay.analysis.regular import beats, repetition, second_phase
from jointplay.analysis.trajectories import Observation, gentle, watched
from jointplay.engine.values import where
from jointplay.numerics.functions import cos, sin
from tests.analysis.signals import sampled

TIME = 0.011 * np.arange(2000)


def wave(time, period=0.5):
    """A periodic signal of a few harmonics."""
    angle = 2 * np.pi * time / period
    return np.sin(angle) + 0.4 * np.sin(2 * angle + 1) + 0.2 * np.cos(5 * angle)


def logistic(r, count):
    """Values of the logistic map."""
    x, found = 0.3, []
    for _ in range(count + 200):
        x = r * x * (1 - x)
        found.append(x)
    return np.array(found[200:])


def test_no_indicator_takes_noise_on_a_periodic_signal_for_chaos():
    noise = np.random.default_rng(1).normal(size=len(TIME))
    series = Series(TIME, wave(TIME) + 0.3 * noise)
    chosen = embedding(series)
    slope = rosenstein(series, chosen)
    assert np.isnan(slope.error)  # its fit window holds four samples
    row, _ = divergence_evidence(slope, chosen, explained=False, decides=True)
    assert row.votes == INCONCLUSIVE and "too few samples" in row.says and row.as_dict()["error"] is None
    assert better_evidence(series, chosen, repetition(series).residual).votes == INCONCLUSIVE


def test_the_zero_one_test_speaks_beyond_its_error_only():
    noise = np.random.default_rng(1).normal(size=len(TIME))
    said = [zero_one_evidence(Series(TIME, wave(TIME) + a * noise), False, {}, True) for a in (0.1, 0.3, 1.0)]
    assert [one.votes for one in said] == [INCONCLUSIVE, INCONCLUSIVE, CHAOTIC]
    assert abs(said[1].value - 0.5) < said[1].error and "open" in said[1].says and "near 0" in said[0].says


def test_neighbours_foretell_chaos_better_than_phases():
    series = sampled(textbook.lorenz(step=0.01), 0.05, 50, 0, "Lorenz", 2000)
    row = better_evidence(series, embedding(series), repetition(series).residual)
    assert row.votes == CHAOTIC and row.value < 0.3


def test_a_slow_decay_is_neither_settled_nor_two_phases():
    series = Series(TIME, np.exp(-TIME / 70) * wave(TIME))
    two, explained = second_phase(series, repetition(series))
    assert two.residual < 0.02 and beats(two.periods, series.length) < 1 and not explained
    assert stationary(series, True).votes == INCONCLUSIVE  # though it falls by a third only
    assert stationary(Series(TIME, wave(TIME)), True).votes == ""


@pytest.mark.parametrize(("size", "rate", "turns"), [(0.3, 0.01, 1.77), (0.3, 0.05, 0.37), (0.3, 0.005, 1.1183)])
def test_what_rings_out_beside_a_forced_motion_is_no_second_phase(size, rate, turns):
    time = 0.02 * np.arange(3000)
    found = []
    for decay in (rate, 0.0):
        ringing = size * np.exp(-decay * time) * np.sin(2 * np.pi * turns * time)
        series = Series(time, wave(time, 1.0) + ringing, period=1.0)
        two, explained = second_phase(series, repetition(series))
        found.append(two_phase_evidence(two, explained, foreign=False))
    assert [one.votes for one in found] == [INCONCLUSIVE, QUASI]
    assert "still settling" in found[0].says


def test_a_model_that_rings_out_has_not_settled():
    """An oscillator with a damping ratio of 0.001, which loses 0.4 of its own motion in what is looked at."""
    ringing = jp.loads("""
gravity: [0, 0]
ground: {points: {O: [0, 0], W: [-1, 0]}}
bodies: {b: {mass: 1, inertia: 1e-3}}
joints: {G: {kind: prismatic, between: [ground.O, b.centre], axis: [1, 0]}}
forces:
  s: {kind: spring, between: [ground.W, b.centre], stiffness: 100, damping: 0.02, free_length: 1}
  f: {kind: force, at: b.centre, x: {kind: sine, amplitude: 5, frequency: 7}}
start: {b.x: 0.01}
""")
    found = jp.verdict(ringing)
    assert found.verdict == INCONCLUSIVE and any("still settling" in row.says for row in found.evidence)


def test_chaotic_heights_of_impacts_are_no_second_phase():
    heights = 1 + 0.5 * logistic(3.9, 100)
    turn, since = np.floor(TIME / 0.5 + 0.8).astype(int), np.mod(TIME - 0.1, 0.5)
    blows = heights[turn] * np.exp(-since / 0.03) * np.sin(80 * since)
    series = Series(TIME, wave(TIME) + blows)
    assert not second_phase(series, repetition(series))[1]


def test_bursts_between_laminar_parts_are_no_second_phase():
    series = Series(np.arange(2500.0), logistic(3.8284, 2500))
    assert not second_phase(series, repetition(series))[1]


@pytest.mark.parametrize("per_period", [28.5714, 25.0])
def test_a_simulation_has_no_noise_where_samples_do_not_meet(per_period):
    phase = np.arange(2000) / per_period
    rattle = 0.02 * np.random.default_rng(2).normal(size=len(phase))
    found = [repetition(Series(phase, wave(phase, 1.0) + rattle, period=1.0, simulated=s)) for s in (False, True)]
    assert [one.holds for one in found] == [True, False] and "a simulation has no noise" in found[1].says()
    clean = repetition(Series(phase, wave(phase, 1.0), period=1.0, simulated=True))
    assert clean.holds and clean.period == 1.0


def test_a_period_that_is_none_of_the_drives():
    crank, own = jp.library.slider_crank(speed=10.0), 0.2 * math.pi
    with pytest.raises(ValueError, match=r"drives repeat after 0.628.* leave --period out"):
        jp.verdict(crank, period=0.13)
    assert jp.verdict(crank, period=2 * own).period == pytest.approx(own)
    assert whole(0.2, 0.6) == 0.6 and whole(None, 0.6) == 0.6
    turned = {"kind": "angle", "of": "crank", "motion": jp.cycloidal(0.0, 1.0, 1.0)}
    with pytest.raises(ValueError, match=r"does not repeat.*the drives alone determine the motion"):
        jp.verdict(crank.replace(drives={"motor": turned}), period=1.0)
    with pytest.raises(ValueError, match="no signal 'slider_z'"):
        jp.verdict(crank, signal="slider_z")


def test_what_hangs_at_rest_is_no_motion():
    with pytest.raises(ValueError, match=r"nothing moves.*no motion to judge"):
        jp.verdict(jp.library.pendulum(), until=100.0)


def test_neighbours_that_become_the_same_number_at_once():
    """As contacts do that leave no freedom: the rate is a bound, not that of the renormalisations."""
    thing = Scheme(lambda t, h, s, p: {"x": t * (2.0 - t), "y": 1.0 - t}, {"x": 0.0, "y": 1.0}, step=1e-3, lanes=2)
    plan = Observation(None, 4.0, 0.0, 0.1, None)
    assert gentle(thing, plan, 1e-7) == 1.0
    found = watched(lambda fine: thing if fine == 1 else None, plan, sweep=False).exponents["as it is"]
    assert found.floored and found.value > -400.0
    now_and_then = Scheme(  # as a ball does that comes to rest on its table in each period
        lambda t, h, s, p: {"x": where(sin(3 * t) > 0.98, sin(t), s.x + h * cos(t))}, {"x": 0.0}, step=1e-4, lanes=2
    )
    assert gentle(now_and_then, Observation(None, 8.0, 0.0, 0.1, None), 1e-7) == 1.0


def test_a_period_that_finer_steps_do_not_have_is_open():
    """A ball on a shaken table that locks to it now and then: 13 drive periods with steps of 10 us, and 20 by a
    calculation from impact to impact in 40 digits; whether neighbouring motions meet is open, too."""
    w = 2 * math.pi * 10
    ball = jp.loads(f"""
ground: {{points: {{O: [0, 0]}}}}
bodies: {{table: {{mass: 1, inertia: 1}}, ball: {{mass: 0.1, inertia: 1e-3}}}}
joints:
  T: {{kind: prismatic, between: [ground.O, table.centre], axis: [0, 1]}}
  B: {{kind: prismatic, between: [table.centre, ball.centre], axis: [0, 1], lower: 0, stop_restitution: 0.5}}
drives: {{D: {{kind: position, of: T, motion: {{kind: sine, amplitude: {4.5 * 9.81 / w**2}, frequency: {w}}}}}}}
start: {{ball.y: 0.001}}
""")
    found = jp.verdict(ball, until=10.0)
    assert found.verdict == INCONCLUSIVE and found.multiple is None
    assert any("finer steps lead to another motion" in row.says for row in found.evidence)


@pytest.mark.parametrize("interval", [0.01, 0.010037])
@pytest.mark.parametrize("heights, period", [("one", 1.0), ("two", 2.0), ("chaotic", None)])
def test_heights_of_brief_impacts_must_repeat(heights, period, interval):
    """They take a twentieth of each period, less than the worst samples that do not count: heights from 11 to 28 N that
    never repeat were "periodic, 1 s" with a change of 1e-14."""
    time = interval * np.arange(int(60 / interval))
    turn = np.floor(time + 1e-9).astype(int)
    rows = {"one": np.full(61, 0.9), "two": 0.8 + 0.5 * (np.arange(61) % 2), "chaotic": 0.5 + logistic(3.9, 61)}
    pulse = np.where(time - turn < 0.05, np.sin(np.pi * (time - turn) / 0.05), 0.0)
    found = repetition(Series(time, np.sin(2 * np.pi * time) + 20 * rows[heights][turn] * pulse))
    if period is None or (heights == "two" and interval != 0.01):  # no whole number of samples in a period: open
        assert not found.holds and found.heights > 0.1 and "nearly the same after" in found.says()
    else:
        assert found.holds and found.period == pytest.approx(period, rel=1e-4)
