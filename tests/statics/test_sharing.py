"""Reactions that balance leaves open."""

import json

import numpy as np
import pytest

import jointplay as jp
from jointplay import results, statics
from jointplay.system import System

BEAM = """
ground: {{points: {{O: [0, 0]}}}}
bodies: {{b: {{mass: 10, inertia: 1, points: {{a: [-0.5, 0], b: [0.1, 0], c: [0.5, 0]}}}}}}
joints: {{{joints}}}
start: {{b.x: 0, b: 0}}
"""
RIGID = ", clearance: 1 mm, contact: {kind: rigid}"
SOFT = ", clearance: 1 mm, contact: {kind: compliant, normal: {law: kelvin_voigt, stiffness: 1e8, damping: 1e5}}"


def beam(order, contact=""):
    return jp.loads(
        BEAM.format(
            joints=", ".join(f"{k}: {{kind: slot, between: [ground.O, b.{k.lower()}]{contact}}}" for k in order)
        )
    )


def test_three_supports_of_a_beam_share_its_weight_as_they_like():
    """Two of them do not; nor does a fourth joint that bears something else."""
    assert statics.open_reactions(System(beam("ABC")), np.zeros(3), 0.0, []) == ["A", "B", "C"]
    assert statics.open_reactions(System(beam("AC")), np.zeros(3), 0.0, []) == []
    more = beam("ABC").replace(drives={"along": {"kind": "x", "of": "b", "motion": 0.0}})
    assert statics.open_reactions(System(more), np.zeros(3), 0.0, []) == ["A", "B", "C"]
    loose = System(beam("ABC", RIGID))
    below = [i for i, label in enumerate(loose.contacts) if label.endswith("lower")]
    assert len(below) == 3
    assert statics.open_reactions(loose, np.zeros(3), 0.0, below) == ["A.lower", "B.lower", "C.lower", "A", "B", "C"]
    assert statics.open_reactions(loose, np.zeros(3), 0.0, below[:2]) == []


def test_contacts_of_one_joint_may_be_open_where_their_sum_is_not():
    """A block between both walls of its guide, touched at all four corners: the squeeze is open, the sum is not."""
    block = jp.loads("""
ground: {points: {O: [0, 0]}}
bodies: {b: {mass: 2 kg, inertia: 0.01}}
joints: {G: {kind: prismatic, between: [ground.O, b.centre], clearance: 0.1 mm, length: 0.1, contact: {kind: rigid}}}
""")
    system = System(block)
    found = statics.open_reactions(system, np.zeros(3), 0.0, list(range(len(system.contacts))))
    assert sorted(found) == sorted(system.contacts)


@pytest.mark.parametrize("contact", ["", RIGID, SOFT], ids=["ideal", "rigid", "compliant"])
def test_runs_do_not_state_errors_of_reactions_that_are_open(contact):
    """Ideal: 16.35, 81.75, 0 N or 0, 122.6, 24.5 N by the order of the joints, each to 1e-10.  Walls that give way
    share the weight by their stiffness, whatever the order."""
    forces, decided = [], contact == SOFT
    for order in ("ABC", "CBA"):
        run = jp.simulate(beam(order, contact), until=0.1)
        found = {one["name"]: one for one in results.errors(run)}
        assert [found[f"{k}.peak_force"]["determined"] for k in "ABC"] == [decided] * 3
        assert ("balance does not determine" in run.notes) is not decided
        assert (json.loads(run.attrs["open_reactions"]) == []) is decided
        forces.append([float(run.peak_force.sel(joint=k)) for k in "ABC"])
    assert np.allclose(*forces, rtol=1e-6) is decided


RUB = "pin_friction: {law: ambrosio, friction: 0.4, v0: 0, v1: 0.002}"


@pytest.mark.parametrize("driven", [True, False])
def test_friction_of_pins_that_share_a_load_leaves_the_motion_open(driven):
    """A shaft in two bearings of 50 and 1 mm: it swings to -0.86 or -0.10 rad by the order of the two in the file."""
    found = []
    for order in ("AB", "BA"):
        pins = {"A": "50 mm", "B": "1 mm"}
        joints = ", ".join(
            f"{k}: {{kind: revolute, between: [ground.O, s.start], journal_radius: {pins[k]}, {RUB}}}" for k in order
        )
        shaft = jp.loads(f"""
ground: {{points: {{O: [0, 0]}}}}
bodies: {{s: {{bar: 0.3, mass: 2}}}}
joints: {{{joints}}}
drives: {{{"d: {kind: angle, of: s, motion: {kind: constant_speed, speed: 10}}" if driven else ""}}}
""")
        run = jp.simulate(shaft, 0.4)
        entries = {entry["name"]: entry for entry in results.errors(run)}
        found.append(entries["d.peak_effort" if driven else "s.angle"])
        assert any("friction goes by them" in note for note in results.notes(run))
        assert entries["s.angle"]["determined"] == driven
    assert abs(found[0]["value"] - found[1]["value"]) > 0.1 * abs(found[0]["value"])
    assert not any(entry["determined"] for entry in found)


@pytest.mark.parametrize("friction, told", [((0.2, 0.2, 0.2), False), ((0.1, 0.2, 0.3), True), ((0, 0, 0), False)])
def test_equal_friction_of_three_supports_does_not_depend_on_the_share(friction, told):
    """A beam that slides over three supports is braked by mu g, if mu is the same at all of them."""
    joints = ", ".join(
        f"{k}: {{kind: slot, between: [ground.O, b.{k.lower()}]{RIGID.replace('}', f', friction: {mu}}}')}}}"
        for k, mu in zip("ABC", friction, strict=True)
    )
    run = jp.simulate(jp.loads(BEAM.format(joints=joints).replace("b: 0}", "b: 0, b.x.rate: 1}")), 0.2)
    assert json.loads(run.attrs["open_reactions"])
    assert any("friction goes by them" in note for note in results.notes(run)) == told
    x = next(entry for entry in results.errors(run) if entry["name"] == "b.x")
    assert x["determined"] != told
    if not told:
        assert x["value"] == pytest.approx(0.2 - 0.5 * friction[0] * 9.81 * 0.04, rel=1e-6)


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("friction, told", [(0.29, False), (0.30, True)])
def test_an_arm_that_jams_as_it_is_pushed_over_a_rough_line_is_told(friction, told, side):
    """It jams beyond mu = (J/(m a^2) + cos^2)/(sin cos) of its slope, 0.297; its mirror image does, too."""
    slope = np.radians(104)
    arm = jp.loads(f"""
ground: {{points: {{O: [0, 0]}}}}
bodies: {{arm: {{mass: 1, inertia: 1e-3, points: {{tip: [-0.3, 0]}}}}}}
joints: {{S: {{kind: slot, between: [ground.O, arm.tip], clearance: 1 mm,
  contact: {{kind: rigid, friction: {friction}}}}}}}
start: {{arm: {slope if side > 0 else np.pi - slope}, arm.x: 0, arm.y: {0.3 * np.sin(slope) - 1e-3},
  arm.x.rate: {3 * side}, arm.rate: 0, arm.y.rate: 0}}
""")
    run = jp.simulate(arm, 0.002)
    assert any("S.lower slides at the start" in note and "jams" in note for note in results.notes(run)) == told
