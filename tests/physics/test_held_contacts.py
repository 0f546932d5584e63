"""Chosen steps see when a contact that holds a body at rest must let it go: closed forms of slipping and lifting."""

import math

import pytest

import jointplay as jp

PULLED = """
ground: {{points: {{O: [0, 0]}}}}
bodies: {{b: {{mass: 2, inertia: 0.01}}}}
joints:
  J: {{kind: prismatic, between: [ground.O, b.centre], axis: [1, 0], clearance: 0.1 mm, length: 100 mm,
      contact: {{kind: rigid, friction: 0.3, static_friction: {static}}}}}
forces: {{F: {{kind: force, at: b.centre, x: {{kind: polynomial, coefficients: [0, 4]}}}}}}
start: {{b.x: 0, b.x.rate: 2}}
"""
LIFTED = """
ground: {points: {O: [0, 0]}}
bodies: {b: {mass: 1, inertia: 0.01}}
joints: {J: {kind: prismatic, between: [ground.O, b.centre], axis: [0, 1], lower: 0}}
forces: {F: {kind: force, at: b.centre, y: {kind: polynomial, coefficients: [0, 4]}}}
start: {b.y: 0}
"""
RTOL = 1e-5


@pytest.mark.parametrize("static", [0.3, 0.5])
def test_a_block_slips_when_the_pull_exceeds_what_sticking_holds(static: float) -> None:
    """It comes to rest, sticks, and slips again when 4 N/s t is more than static m g."""
    end, rub = 4.0, 0.3 * 9.81
    stops = (rub - math.sqrt(rub**2 - 8)) / 2
    slips = static * 9.81 / 2
    x = 2 * stops + stops**3 / 3 - rub * stops**2 / 2
    x += (end**3 - slips**3) / 3 - slips**2 * (end - slips) - rub * (end - slips) ** 2 / 2
    run = jp.simulate(jp.loads(PULLED.format(static=static)), until=end, stepper=jp.MoreauJean(rtol=RTOL))
    assert run.x.values[-1, 0] == pytest.approx(x, rel=10 * RTOL)
    assert (abs(run.friction_force).sum("contact") <= static * 2 * 9.81 * (1 + 1e-3)).all()


def test_a_weight_lifts_when_the_pull_exceeds_it() -> None:
    """It has never moved until then, so that there is no speed to compare with."""
    end, lifts = 4.0, 9.81 / 4
    y = 4 * (end**3 - lifts**3) / 6 - 2 * lifts**2 * (end - lifts) - 9.81 * (end - lifts) ** 2 / 2
    run = jp.simulate(jp.loads(LIFTED), until=end, stepper=jp.MoreauJean(rtol=RTOL))
    assert run.y.values[-1, 0] == pytest.approx(y, rel=10 * RTOL)
