"""Units of what balancing tells."""

import numpy as np

import jointplay as jp
from jointplay import balancing
from jointplay.cli.balance import summary


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
