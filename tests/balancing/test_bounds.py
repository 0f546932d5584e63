"""Designs stay within the bounds that are given for them."""

import math

import numpy as np
import pytest

import jointplay as jp
from jointplay import balancing
from jointplay.cli.balance import summary

ROTOR = jp.loads("""
gravity: [0, 0]
ground: {points: {O: [0, 0]}}
bodies: {r: {mass: 2 kg, inertia: 0.01, centre: [30 mm, 30 mm], points: {o: [0, 0], e: [0.2, 0]}}}
joints: {J: {kind: revolute, between: [ground.O, r.o]}}
drives: {d: {kind: angle, of: r, motion: {kind: constant_speed, speed: 10}}}
""")
OUT = 2 * math.hypot(0.03, 0.03)  # kg m


@pytest.mark.parametrize("objective", ["force", "force-rms", "force-peak"])
@pytest.mark.parametrize(
    ("bounds", "low", "high", "left"),
    [
        ("radius<=50mm,mass<=1kg", 0.0, 0.05, OUT - 0.05),
        ("radius<=50mm,mass=1kg", 0.0, 0.05, OUT - 0.05),
        ("radius<=50mm", 0.0, 0.05, 0.0),
        ("radius>=100mm", 0.1, 2.0, 0.0),
        ("radius>=100mm,radius<=120mm,mass>=1kg", 0.1, 0.12, 0.1 - OUT),
        ("radius>=3m,mass<=1kg", 3.0, 3.0, 0.0),
    ],
)
def test_a_bounded_radius_is_a_circle(objective, bounds, low, high, left):
    """It was a square, whose corners are 41 % farther out; a lower bound was none."""
    found = balancing.balance(ROTOR, objective, f"r:{bounds}", times=np.linspace(0, 0.2 * math.pi, 50))
    x, y = (found.design[f"r.counterweight.{c}"] for c in "xy")
    assert low - 1e-9 <= math.hypot(x, y) <= high + 1e-9
    assert found.after["shaking_force_peak"] == pytest.approx(100 * abs(left), rel=1e-6, abs=1e-6)
    assert found.feasible or left


def test_the_effort_of_a_drive_along_a_line_is_a_force():
    """It was told in N m."""
    slide = jp.loads("""
ground: {points: {O: [0, 0], A: [0, 0]}}
bodies: {arm: {bar: 0.5, mass: 2}, block: {mass: 1, inertia: 1}}
joints:
  G: {kind: prismatic, between: [ground.A, block.centre], axis: [1, 0]}
  S: {kind: slot, between: [block.centre, arm.end], axis: [0, 1]}
  J: {kind: revolute, between: [ground.O, arm.start]}
drives: {screw: {kind: position, of: G, motion: {kind: sine, amplitude: 0.1, frequency: 3, offset: 0.3}}}
start: {arm: 50 deg}
""")
    found = balancing.balance(slide, "torque-rms", "arm", times=np.linspace(0, 1, 40))
    assert found.moved.unit("torque") == "N" and found.moved.unit("moment") == "N m"
    [line] = [line for line in summary(found, None, []).splitlines() if line.startswith("torque rms")]
    assert line.endswith(" N")
