"""A second set of runs that are wrong unless noticed, by closed forms and by pairs that must agree; healthy ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jointplay as jp
from tests.adversarial import Found, healthy, simulated, told

G = 9.81
CHOSEN, ROUGH = jp.MoreauJean(), jp.MoreauJean(rtol=1e-3)


def block(*, friction: float, static: float, pull: str, start: str = "b.x: 0", mass: float = 2.0) -> Any:
    """A block in a horizontal guide with friction, pulled along it."""
    return jp.loads(f"""
ground: {{points: {{O: [0, 0]}}}}
bodies: {{b: {{mass: {mass}, inertia: 0.01}}}}
joints:
  J: {{kind: prismatic, between: [ground.O, b.centre], axis: [1, 0], clearance: 0.1 mm, length: 100 mm,
      contact: {{kind: rigid, friction: {friction}, static_friction: {static}}}}}
forces: {{F: {{kind: force, at: b.centre, x: {pull}}}}}
start: {{{start}}}
""")


def weight(lower: str = "lower: 0", force: str = "0", start: str = "b.y: 0", gravity: float = G) -> Any:
    """A weight of 1 kg in a vertical guide with ends."""
    return jp.loads(f"""
gravity: [0, {-gravity}]
ground: {{points: {{O: [0, 0]}}}}
bodies: {{b: {{mass: 1, inertia: 0.01}}}}
joints: {{J: {{kind: prismatic, between: [ground.O, b.centre], axis: [0, 1], {lower}}}}}
forces: {{F: {{kind: force, at: b.centre, y: {force}}}}}
start: {{{start}}}
""")


def off(run: Any, name: str, value: float) -> Found:
    """The error of the last sample of a coordinate of the first body."""
    return Found(run, abs(float(run[name].values[-1, 0]) / value - 1))


def slipping(stepper: Any) -> Found:
    """A pull of 4 N/s on 2 kg at rest: it slips at static m g and then feels friction m g only."""
    end, slips, rub = 4.0, 0.5 * G / 2, 0.3 * G
    x = (end**3 - slips**3) / 3 - slips**2 * (end - slips) - rub * (end - slips) ** 2 / 2
    run = simulated(block(friction=0.3, static=0.5, pull="{kind: polynomial, coefficients: [0, 4]}"), end, stepper)
    return off(run, "x", x)


def lifting(stepper: Any, end: float) -> Found:
    """A pull of 4 N/s on 1 kg that lies on a stop."""
    lifts = G / 4
    y = 4 * (end**3 - lifts**3) / 6 - 2 * lifts**2 * (end - lifts) - G * (end - lifts) ** 2 / 2
    return off(simulated(weight(force="{kind: polynomial, coefficients: [0, 4]}"), end, stepper), "y", y)


def decaying() -> Found:
    """A weight held by a force that fades as t^4: convex, so that it must not be carried on straight."""
    run = simulated(weight(force="{kind: polynomial, coefficients: [0, 0, 0, 0, 1]}"), 3.0, ROUGH)
    lifts = G**0.25
    y = (3**6 - lifts**6) / 30 - lifts**5 / 5 * (3 - lifts) - G * (3 - lifts) ** 2 / 2
    return off(run, "y", y)


def held_by_sine() -> Found:
    """A sine that never overcomes friction: the block must not creep."""
    pull = "{kind: sine, amplitude: 5.8, frequency: 2 Hz}"
    run = simulated(block(friction=0.3, static=0.3, pull=pull), 10.0, CHOSEN)
    return Found(run, float(np.abs(run.x.values - run.x.values[0]).max() / 1e-3))


def driven(step: float) -> Found:
    """Largest torque and energy balance of a driven crank in steps of one length."""
    mechanism = jp.library.slider_crank(speed=10 * math.pi)
    run = simulated(mechanism, 0.4, jp.FixedRungeKutta(step), samples=round(0.4 / step))
    sure = np.abs(jp.inverse_dynamics(jp.System(mechanism), run.time.values).effort.values).max()
    energy = (run.kinetic + run.potential - run.work).values
    return Found(run, max(abs(float(run.peak_effort[0]) / sure - 1), np.ptp(energy) / np.ptp(run.kinetic.values)))


def pulses(until: float) -> Found:
    """A triangle of 2 ms and 1000 N once a second, as a periodic table: 1 N s each, on 1 kg."""
    points = "times: [0, 0.5, 0.501, 0.502, 1], values: [0, 0, 1000, 0, 0]"
    table = f"{{kind: table, {points}, ends: periodic, interpolation: linear}}"
    run = simulated(weight(lower="angle: 0", force=table, gravity=0.0), until)
    return off(run, "y_rate", math.floor(until))


def struck_at_once() -> Found:
    """A weight that flies into the stop from the first moment on."""
    run = simulated(weight("lower: 0, stop_restitution: 0.5", start="b.y: 0, b.y.rate: -2"), 0.1, CHOSEN)
    return off(run, "y", 1.0 * 0.1 - G / 2 * 0.01)


def elastic(stepper: Any) -> Found:
    """Two masses that fly to and fro in their play without loss: the relative place is a triangle wave."""
    run = simulated(jp.loads("""
gravity: [0, 0]
ground: {points: {O: [0, 0]}}
bodies: {a: {mass: 1, inertia: 0.01}, b: {mass: 3, inertia: 0.01}}
joints:
  G: {kind: prismatic, between: [ground.O, a.centre], axis: [1, 0]}
  J: {kind: prismatic, between: [a.centre, b.centre], axis: [1, 0], lower: -0.1, upper: 0.2, stop_restitution: 1}
start: {a.x: 0, b.x: 0, a.x.rate: 1, b.x.rate: -0.5}
"""), 10.0, stepper)  # fmt: skip
    way = (0.1 - 1.5 * run.time.values) % 0.6
    wave = np.where(way < 0.3, way, 0.6 - way) - 0.1
    return Found(run, float(np.abs(run.x.values[:, 1] - run.x.values[:, 0] - wave).max() / 0.3))


def turned(angle: float) -> Found:
    """A loose slider-crank beside the same turned by an angle with its gravity, over 0.2 s."""
    c, s = math.cos(angle), math.sin(angle)

    def made(c: float, s: float, turn: float) -> Any:
        return simulated(jp.loads(f"""
gravity: [{9.81 * s}, {-9.81 * c}]
ground: {{points: {{O: [0, 0]}}}}
bodies:
  crank: {{bar: 0.1, mass: 0.5}}
  rod: {{bar: 0.3, mass: 0.8}}
  slider: {{mass: 1, inertia: 1e-3}}
joints:
  J1: {{kind: revolute, between: [ground.O, crank.start]}}
  J2: {{kind: revolute, between: [crank.end, rod.start], clearance: 0.5 mm, journal_radius: 10 mm,
       contact: {{kind: rigid, restitution: 0.5, friction: 0.1}}}}
  J3: {{kind: revolute, between: [rod.end, slider.centre]}}
  J4: {{kind: prismatic, between: [ground.O, slider.centre], axis: [{c}, {s}], angle: {turn}}}
start: {{crank: {0.5 + turn}, rod: {turn - math.asin(0.1 * math.sin(0.5) / 0.3)}, slider: {turn}}}
"""), 0.2)  # fmt: skip

    run, other = made(c, s, angle), made(1.0, 0.0, 0.0)
    return Found(run, float(np.abs(run.angle.values - angle - other.angle.values).max()))


ADVERSARIAL: dict[str, Callable[[], Found]] = {
    "slips from rest, chosen steps": lambda: slipping(CHOSEN),
    "slips from rest, rough tolerance": lambda: slipping(ROUGH),
    "slips from rest, long steps": lambda: slipping(jp.MoreauJean(step=1e-2)),
    "lifts from a stop, rough tolerance": lambda: lifting(ROUGH, 3.0),
    "lifts from a stop, long run": lambda: lifting(ROUGH, 30.0),
    "lifts under a force like t^4": decaying,
    "held by friction under a sine": held_by_sine,
    "driven crank, steps of 1 ms": lambda: driven(1e-3),
    "driven crank, steps of 2 ms": lambda: driven(2e-3),
    "pulses of a periodic table, 3 s": lambda: pulses(3.0),
    "pulses of a periodic table, 60 s": lambda: pulses(60.0),
    "impact in the first moment": struck_at_once,
    "fifty elastic impacts, chosen steps": lambda: elastic(CHOSEN),
    "fifty elastic impacts, first order": lambda: elastic(jp.MoreauJean(step=1e-3, order=1)),
    "fifty elastic impacts, second order": lambda: elastic(jp.MoreauJean(step=1e-3)),
    "turned by 90 degrees": lambda: turned(math.pi / 2),
    "turned by 2.5 rad": lambda: turned(2.5),
}
HEALTHY: dict[str, Callable[[], Any]] = {
    "slip after sticking": lambda: slipping(CHOSEN).run,
    "stick for ever": lambda: simulated(block(friction=0.5, static=0.5, pull="3"), 5.0),
    "slide to rest": lambda: simulated(block(friction=0.2, static=0.2, pull="0", start="b.x: 0, b.x.rate: 1"), 2.0),
    "rest on a stop": lambda: simulated(weight(), 5.0),
    "lift from a stop": lambda: lifting(CHOSEN, 4.0).run,
    "bounce to rest": lambda: simulated(weight("lower: 0, stop_restitution: 0.7", start="b.y: 1"), 4.0),
    "elastic bounces": lambda: elastic(CHOSEN).run,
    "driven crank, fixed steps": lambda: driven(1e-3).run,
    "driven crank, chosen steps": lambda: simulated(jp.library.slider_crank(speed=30.0), 1.0),
    "pulses": lambda: pulses(3.0).run,
    "pendulum, long": lambda: simulated(jp.library.pendulum(angles=[0.5]), 60.0),
    "loose slider-crank, turned": lambda: turned(1.0).run,
}


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_nothing_hunted_is_silently_wrong(name: str, record: Any) -> None:
    told("hunted runs", name, ADVERSARIAL[name], record)


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_runs_beside_them_are_fine(name: str) -> None:
    healthy(HEALTHY[name]())
