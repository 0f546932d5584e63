"""A ball that a growing force drives against a stop, against its solution from impact to impact."""

import numpy as np
import pytest

import jointplay as jp

BALL = """
gravity: [0, 0]
ground: {points: {O: [0, 0]}}
bodies: {ball: {mass: 1, inertia: 0.1, points: {c: [0, 0]}}}
joints: {J: {kind: prismatic, between: [ground.O, ball.c], axis: [1, 0], upper: 1 mm, lower: -1 mm,
             stop_restitution: %g}}
"""


def driven(e):
    """The ball under 1e9 t^2 N."""
    return jp.loads(BALL % e).replace(forces={"push": {"kind": "force", "at": "ball.c", "x": lambda t: 1e9 * t * t}})


def by_events(rate, play, e, least=0.0, until=1.0):
    """Times of impact, speeds before them and the energy lost (J): between impacts x'' = rate t^2, so that the gap is a
    polynomial; until the speed after an impact is below the least (m/s), or a time (s)."""
    t, speed, lost, times, speeds = (12 * play / rate) ** 0.25, 0.0, 0.0, [], []
    before, v = 0.0, 0.0
    while True:
        v = v + rate * (t**3 - before**3) / 3
        if t > until:
            return np.array(times), np.array(speeds), lost
        lost += 0.5 * v * v * (1 - e * e)
        times.append(t)
        speeds.append(v)
        speed = e * v
        if speed < least:
            return np.array(times), np.array(speeds), lost + 0.5 * speed * speed
        roots = np.roots([rate / 12, rate * t / 3, rate * t * t / 2, -speed])
        before, v = t, -speed
        t = t + min(x.real for x in roots if abs(x.imag) < 1e-9 * abs(x) and x.real > 0)


def test_a_ball_driven_ever_harder():
    """1e9 t^2 N on 1 kg in 1 mm of play: with e = 0.9 impacts come ever faster until they end, after 5.49 J."""
    times, _, lost = by_events(1e9, 1e-3, 0.9, least=1e-9)
    run = jp.simulate(driven(0.9), 0.01)
    assert run.attrs["outcome"] == "done"
    assert float(run.impact_loss[-1]) == pytest.approx(lost, rel=1e-3)
    assert run.impact_time.values[:20] == pytest.approx(times[:20], rel=1e-4)


def test_a_ball_driven_ever_harder_that_loses_nothing():
    """With e = 1 the ball strikes 165 times in 20 ms, at last with 54.0 J; steps of 1e-5 s of first order see 28
    impacts and 5.48 J at most."""
    times, speeds, _ = by_events(1e9, 1e-3, 1.0, until=0.02)
    assert len(times) == 165 and 0.5 * speeds[-1] ** 2 == pytest.approx(54.0, abs=0.05)
    run = jp.simulate(driven(1.0), 0.02, error=False)
    assert run.impacts.values.tolist() == [165, 0]
    assert run.impact_time.values == pytest.approx(times, rel=1e-4)
    assert run.impact_approach.values == pytest.approx(speeds, rel=1e-3)
