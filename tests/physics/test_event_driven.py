"""The event-driven reference of validation/: its geometry beside the package's, and motions with closed forms."""

import math

import numpy as np
import pytest

import jointplay as jp
from jointplay.model import Rigid, library, loads
from validation.event_contacts import contacts
from validation.event_driven import integrate

KINDS = """
ground: {{points: {{O: [0.1, 0.2], P: [1, 0]}}}}
bodies:
  a: {{mass: 1, inertia: 0.1, centre: [0.1, -0.2], points: {{p: [0.3, 0.1], q: [-0.2, 0.4]}}}}
  b: {{mass: 2, inertia: 0.3, points: {{p: [-0.7, 0.2]}}}}
joints: {{J: {{{}}}}}
"""
PLAY = [
    "kind: revolute, between: [a.p, b.p], clearance: 0.2, journal_radius: 0.05, bearing: first",
    "kind: revolute, between: [a.p, b.p], clearance: 0.2, journal_radius: 0.05, bearing: second",
    "kind: revolute, between: [ground.O, b.p], lower: -0.4, upper: 0.3",
    "kind: slot, between: [a.q, b.p], axis: [1, 2], clearance: 0.1, pin_radius: 0.3, lower: -1, upper: 2",
    "kind: prismatic, between: [a.q, b.p], axis: [2, 1], angle: 0.3, clearance: 0.1, length: 0.5, radius: 0.2",
    "kind: prismatic, between: [ground.P, b.p], clearance: 0.1, length: 0.5, radius: 0.2, bearing: second",
    "kind: gear, between: [a, b], ratio: -2, offset: 0.1, play: 0.05",
]


@pytest.mark.parametrize("joint", PLAY)
def test_gaps_and_their_rates_are_those_of_the_package_and_the_second_derivatives_those_of_differences(joint):
    mechanism = loads(KINDS.format(joint))
    system, rng = jp.System(mechanism), np.random.default_rng(1)
    q, v, h = rng.normal(size=6), rng.normal(size=6), 1e-5
    here, touches = system.evaluate(q, v), [c.at(q, v) for c in contacts(mechanism)]
    assert [c.label for c in contacts(mechanism)] == system.contacts
    assert [touch.gap for touch in touches] == pytest.approx(here.gaps, abs=1e-12)
    assert [touch.normal @ v for touch in touches] == pytest.approx(here.openings, abs=1e-12)
    ahead, behind = ([c.at(q + x * v, v) for c in contacts(mechanism)] for x in (h, -h))
    for touch, a, b in zip(touches, ahead, behind, strict=True):
        assert touch.normal_bias == pytest.approx((a.normal - b.normal) @ v / (2 * h), abs=1e-7)
        assert touch.tangential_bias == pytest.approx((a.tangential - b.tangential) @ v / (2 * h), abs=1e-7)


BALL = """
ground: {{points: {{O: [0, 0]}}}}
bodies: {{ball: {{mass: 2, inertia: 0.004}}}}
joints:
  floor: {{kind: slot, between: [ground.O, ball.centre], axis: [{c!r}, {s!r}], clearance: 10, pin_radius: 0.05,
          contact: {{kind: rigid, friction: {friction}, restitution: {bounce}}}}}
start: {{ball: 0, ball.x: {x!r}, ball.y: {y!r}, ball.x.rate: {speed}, ball.y.rate: {fall}, ball.rate: 0}}
"""
ROUND = 2 * 0.05**2 / 0.004  # m r^2/I


def ball(slope=0.0, friction=0.0, bounce=0.0, height=0.0, speed=0.0, fall=0.0):
    """A disc above the lower wall of a wide slot with this slope (rad)."""
    c, s = math.cos(slope), math.sin(slope)
    at = {"x": (10 - height) * s, "y": -(10 - height) * c, "speed": speed, "fall": fall}
    return loads(BALL.format(c=c, s=s, friction=friction, bounce=bounce, **at))


def test_a_ball_bounces_until_it_rests():
    e, first = 0.5, math.sqrt(2 * 0.3 / 9.81)
    run = integrate(ball(bounce=e, height=0.3), 1.2, times=[0.0, 1.2])
    hits = run.times("impact")
    gaps = 2 * first * e ** np.arange(1, len(hits))
    expected = first + np.concatenate([[0], np.cumsum(gaps)])
    assert hits[:8] == pytest.approx(expected[:8], abs=1e-12) and hits == pytest.approx(list(expected), abs=2e-8)
    assert hits[-1] == pytest.approx(first * (1 + e) / (1 - e), abs=2e-7)
    assert run.of("ball.y") == pytest.approx([-9.7, -10.0], abs=1e-12) and run.of("ball.y.rate")[-1] == 0
    assert run.impact_loss == pytest.approx(2 * 9.81 * 0.3, abs=1e-9) and abs(run.imbalance) < 1e-9


@pytest.mark.parametrize("friction", [0.05, 0.5])
def test_a_ball_on_an_incline_slides_or_rolls(friction):
    slope, until = 0.4, 0.7
    run = integrate(ball(slope, friction), until)
    rolls = math.tan(slope) <= friction * (1 + ROUND)
    pull = 9.81 * (math.sin(slope) - friction * math.cos(slope))
    a = 9.81 * math.sin(slope) / (1 + 1 / ROUND) if rolls else pull
    along = run.of("ball.x") * math.cos(slope) + run.of("ball.y") * math.sin(slope)
    assert -along == pytest.approx(0.5 * a * until**2, abs=1e-10) and rolls is (friction == 0.5)
    assert run.shares["floor.lower"] == pytest.approx([0, 0, 1] if rolls else [0, 1, 0])
    assert abs(run.imbalance) < 1e-9 and bool(run.friction_loss < 1e-9) is rolls


def test_a_ball_that_slides_begins_to_roll():
    friction, speed = 0.2, 3.0
    run = integrate(ball(friction=friction, speed=speed), 1.0)
    assert run.times("stick") == pytest.approx([speed / (friction * 9.81 * (1 + ROUND))], abs=1e-11)
    assert run.of("ball.x.rate") == pytest.approx(speed * ROUND / (1 + ROUND), abs=1e-10)
    assert run.friction_loss == pytest.approx(speed**2 / (1 + ROUND), abs=1e-9)


@pytest.mark.parametrize(("friction", "speed"), [(0.1, 3.0), (0.5, 0.2), (0.3, 0.0)])
def test_an_oblique_impact_slides_through_or_grips(friction, speed):
    """Impulses of Newton and Coulomb: n = m (1 + e) u, and friction mu n, or as much as ends the slip."""
    fall, e = 2.0, 0.4
    run = integrate(ball(friction=friction, bounce=e, height=1e-9, speed=speed, fall=-fall), 1e-3)
    n, grip = 2 * (1 + e) * fall, 2 * speed / (1 + ROUND)
    [event] = [event for event in run.events if event.kind == "impact"]
    assert event.normal == pytest.approx(n, rel=1e-8)
    assert abs(event.tangential) == pytest.approx(min(friction * n, grip), rel=1e-8, abs=1e-12)
    assert run.of("ball.x.rate") == pytest.approx(speed - min(friction * n, grip) / 2, abs=1e-8)


def test_a_journal_leaves_its_wall_where_the_loop_is_too_slow():
    """A mass that runs up inside a circle of radius c from below leaves where sin(height angle) = (w^2/(g c) - 2)/3."""
    c, speed = 0.5, 4.0
    text = """
ground: {points: {O: [0, 0]}}
bodies: {mass: {mass: 1, inertia: 0.1}}
joints: {J: {kind: revolute, between: [ground.O, mass.centre], clearance: 0.5}}
start: {mass: 0, mass.x: 0, mass.y: -0.5, mass.x.rate: 4}
"""
    run = integrate(loads(text), 0.5, times=np.linspace(0, 0.5, 501))
    [left] = run.times("separation")
    k = int(np.searchsorted(run.time, left))
    assert np.hypot(run.of("mass.x"), run.of("mass.y"))[:k] == pytest.approx(np.full(k, c), abs=1e-9)
    t, (x, y), (u, w) = left - run.time[k], (run.of("mass.x")[k], run.of("mass.y")[k]), run.v[k, :2]
    height = (y + w * t - 0.5 * 9.81 * t * t) / c  # back along the parabola
    assert height == pytest.approx((speed**2 / (9.81 * c) - 2) / 3, abs=1e-9)
    assert abs(run.imbalance) < 1e-10 and x != 0 and u != 0


def test_what_static_friction_holds_slides_off_at_its_limit():
    """A block under a force that grows slides when it exceeds static friction, then against the smaller one."""
    text = """
ground: {points: {O: [0, 0]}}
bodies: {block: {mass: 3, inertia: 0.02}}
joints:
  guide: {kind: prismatic, between: [ground.O, block.centre], clearance: 1 mm, length: 0.3, radius: 0,
          contact: {kind: rigid, friction: 0.2, static_friction: 0.6}}
forces: {pull: {kind: force, at: block.centre, x: {kind: polynomial, coefficients: [0, 60]}}}
start: {block: 0, block.x: 0, block.y: -0.001}
"""
    run = integrate(loads(text), 0.5)
    begins = 0.6 * 3 * 9.81 / 60
    assert run.times("slip") == pytest.approx([begins] * len(run.times("slip")), abs=1e-10)
    t = 0.5 - begins
    expected = (60 * begins / 3 - 0.2 * 9.81) * t**2 / 2 + 60 / 3 * t**3 / 6
    assert run.of("block.x") == pytest.approx(expected, abs=1e-10) and abs(run.imbalance) < 1e-9


def test_a_bar_that_falls_flat_rebounds_flat():
    """Two contacts at once without friction: Newton's rule for both gives no spin; with unequal ones it does."""
    text = """
ground: {points: {O: [0, 0]}}
bodies: {bar: {mass: 1, inertia: 0.02, points: {l: [-0.5, 0], r: [0.5, 0]}}}
joints:
  L: {kind: slot, between: [ground.O, bar.l], clearance: 1, contact: {kind: rigid, restitution: 0.6}}
  R: {kind: slot, between: [ground.O, bar.r], clearance: 1, contact: {kind: rigid, restitution: %s}}
start: {bar: 0, bar.x: 0, bar.y: -0.8}
"""
    speed = math.sqrt(2 * 9.81 * 0.2)
    run = integrate(loads(text % 0.6), 0.25)
    [[a, b]] = [[event.time for event in run.events if event.kind == "impact"]]
    assert a == b and run.of("bar.angle.rate") == pytest.approx(0, abs=1e-12)
    assert run.of("bar.y.rate") == pytest.approx(0.6 * speed - 9.81 * (0.25 - a), abs=1e-10)
    spun = integrate(loads(text % 0.2), 0.21)
    assert spun.of("bar.angle.rate") == pytest.approx((0.2 - 0.6) * speed, abs=1e-10)


@pytest.mark.parametrize("joints", [["J2"], ["J2", "J3"]])
def test_loose_joints_that_lose_nothing_keep_their_energy(joints):
    mechanism = library.crank_rocker_2016().replace(start={"crank": 1.571, "crank.rate": 10.0})
    for joint in joints:
        mechanism = mechanism.loosen(joint, 3e-3, contact=Rigid(restitution=1.0))
    run = integrate(mechanism, 0.05, rtol=1e-10, atol=1e-12, reclose=True)
    assert len(run.times("impact")) > 2
    assert run.energy[1] == pytest.approx(run.energy[0], abs=1e-8) and abs(run.impact_loss) < 1e-9


def test_a_feedback_torque_damps_a_pendulum_as_its_equation_says():
    from scipy.integrate import solve_ivp

    run = integrate(library.pendulum(1), 1.0, push=lambda t, q, v: np.array([0, 0, -2.0 * v[2]]))
    bar = library.pendulum(1).bodies["bar1"]
    inertia = bar.inertia + bar.mass * (bar.length / 2) ** 2

    def slopes(t, y):
        return [y[1], (-2.0 * y[1] - bar.mass * 9.81 * bar.length / 2 * math.cos(y[0])) / inertia]

    begin = jp.simulate(library.pendulum(1), until=0.01).angle.values[0, 0]
    expected = solve_ivp(slopes, (0, 1), [begin, 0], rtol=1e-12, atol=1e-12).y[0, -1]
    assert run.of("bar1.angle") == pytest.approx(expected, abs=1e-9) and abs(run.imbalance) < 1e-9
