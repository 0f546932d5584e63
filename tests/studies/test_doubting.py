"""What a study says of a run beside its audit: labels and numbers that are not what they seem to be."""

import math

import pytest

import jointplay as jp
from jointplay.studies import telling

YOKE = """
gravity: [0, 0]
ground: {points: {O: [0, 0]}}
bodies: {crank: {bar: 60 mm, mass: 0.5 kg}, yoke: {mass: 3 kg, inertia: 1e-2, points: {m: [0, 0]}}}
joints:
  J1: {kind: revolute, between: [ground.O, crank.start]}
  S: {kind: slot, between: [yoke.m, crank.end], axis: [0, 1], clearance: 0.3 mm, pin_radius: 8 mm,
      contact: {kind: rigid, restitution: 0}}
  G: {kind: prismatic, between: [ground.O, yoke.m], axis: [1, 0]}
drives: {motor: {kind: angle, of: crank, motion: {kind: constant_speed, speed: 600 rpm}}}
start: {yoke: 0}
"""


def said(table):
    """The outcomes of a table, as texts."""
    return [str(text) for text in table.outcome.values.ravel()]


def test_start_values_that_a_drive_overrules_are_told():
    """All runs begin at 30 deg; a study that says otherwise must not be silent."""
    slider = jp.library.slider_crank(speed=6.0).replace(
        drives={"motor": {"kind": "angle", "of": "crank", "motion": {
            "kind": "constant_speed", "speed": 6.0, "start": "30 deg"}}}
    )  # fmt: skip
    starts = [0.0, math.radians(30), math.radians(31), math.radians(90)]
    table = jp.sweep(slider, {"start.crank": starts}, until=0.1, metrics=["max(x[slider])"])
    assert (table.status == 1).all() and len(set(table["max(x[slider])"].values.tolist())) == 1
    first, right, near, last = said(table)
    assert "start crank = 0 deg is taken as a guess" in first and "put it at 30 deg" in first
    assert (
        "start crank = 31 deg" in near and "start crank = 90 deg" in last and last.endswith("vary motor.start instead.")
    )
    assert not right
    assert "3 of 4 runs" in dict(telling.lines(table))["doubtful or wrong"]
    both = {("start.crank", "motor.start"): [(0.0, 0.0), (1.0, 1.0)]}
    assert said(jp.sweep(slider, both, until=0.1, metrics=["max(x[slider])"])) == ["", ""]


def test_start_values_of_what_is_free_are_taken_unless_out_of_reach():
    """The axis of docs/studies.md; the slider comes to 0.1 + 0.3 m at most, with a shorter rod to 0.35 m."""
    free = jp.library.slider_crank(speed=6.0).replace(drives={}, start={})
    asked = {"until": 0.02, "metrics": ["max(x[slider])"]}
    table = jp.sweep(free, {"start.crank": jp.grid(0, "170 deg", 18)}, **asked)
    assert (table.status == 1).all() and not any(said(table))
    inside, beyond = said(jp.sweep(free, {"start.slider.x": [0.38, 0.42]}, **asked))
    assert not inside and "start slider.x = 0.42 m is taken as a guess" in beyond
    assert beyond.endswith("put it at 0.4 m.")
    given = free.replace(start={"slider.x": 0.38})
    inside, beyond = said(jp.sweep(given, {"rod.length": [0.3, 0.25]}, **asked))
    assert not inside and "start slider.x = 0.38 m is taken as a guess" in beyond


def test_start_values_that_choose_a_branch_are_no_doubt():
    """A rough value of the rod beside a driven crank, which the study does not vary."""
    slider = jp.library.slider_crank(speed=6.0).replace(start={"rod": 0.0})
    assert not any(said(jp.sweep(slider, {"motor.start": [0.2, 1.5]}, until=0.02, metrics=["max(x[slider])"])))


@pytest.mark.parametrize(
    ("metric", "told"),
    [
        ("mean(effort[motor])", True),
        ("rms(torque[motor])", True),
        ("mean(force[S])", True),
        ("rms(acceleration[yoke])", True),
        ("mean(x_rate[yoke])", False),
        ("max(effort[motor])", False),
        ("peak_effort[motor]", False),
    ],
)
def test_means_of_forces_that_leave_impulses_out_are_told(metric, told):
    """Two impacts in each turn, and two turns that count; the ideal yoke has none."""
    table = jp.sweep(jp.loads(YOKE), {"S.clearance": [3e-4, 0]}, until=0.4, settled=0.2, metrics=[metric])
    struck, ideal = said(table)
    assert (f"doubtful in {metric}" in struck and "leave out the impulses of 4 impacts" in struck) == told
    assert not ideal and (told or not struck)


def test_a_mean_torque_of_rigid_impacts_is_not_that_of_its_work():
    """Why it has to be told: R (th - sin th) = 2 c, and each impact loses m dv^2 / 2, which the motor gives."""
    table = jp.sweep(
        jp.loads(YOKE), {"S.clearance": [3e-4]}, until=0.4, settled=0.2, metrics=["mean(effort[motor])", "energy_lost"]
    )
    by_work = float(table["energy_lost"][0]) / (2 * math.tau)
    assert by_work == pytest.approx(0.03924, rel=1e-3)
    assert float(table["mean(effort[motor])"][0]) > 10 * by_work and said(table)[0]


def test_torques_of_actuators_have_no_impulses():
    """A controller's torque goes on through an impact, so that its means are right; the force of a pin does not."""
    loose = jp.library.crank_rocker_2016(clearance2=1e-3).replace(
        control=jp.control.pd("crank", jp.sine(1.0, 2.0), k1=10, k2=1), start={"journals": "centred"}
    )
    asked = {"until": 0.1, "stepper": jp.MoreauJean(1e-4)}
    for metrics, names in (
        (["rms(torque)", "mean(control)"], ""),
        (["rms(torque)", "mean(force[J2])"], "mean(force[J2])"),
    ):
        (text,) = said(jp.sweep(loose, {"J2.clearance": [1e-3]}, metrics=metrics, **asked))
        assert (f"doubtful in {names}: samples of rigid contact" in text) if names else not text


SOFT = YOKE.replace("{kind: rigid, restitution: 0}",
                    "{kind: compliant, normal: {law: hunt_crossley, stiffness: 2e10, restitution: 0.3}}")  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "told"),
    [
        ("mean(effort[motor])", True),
        ("rms(torque[motor])", True),
        ("max(normal_force[S.upper])", True),
        ("peak(acceleration[yoke])", True),
        ("rms(acceleration[crank])", False),  # of constant speed, whatever strikes
        ("mean(moment[J1])", False),  # none
        ("mean(x_rate[yoke])", False),
        ("final(effort[motor])", False),
        ("peak_effort[motor]", False),
    ],
)
def test_samples_that_miss_brief_contacts_are_told(metric, told):
    """Contacts of 0.6 ms, and samples every 0.6 ms; the ideal yoke has none."""
    asked = {"until": 0.6, "settled": 0.2, "metrics": [metric]}
    struck, ideal = said(jp.sweep(jp.loads(SOFT), {"S.clearance": [3e-4, 0]}, **asked))
    assert (f"doubtful in {metric}: samples every 0.0006 s miss loads that last less" in struck) == told
    assert not ideal and (told or not struck)


def test_samples_that_show_brief_contacts_tell_the_mean_torque():
    """The motor gives what contacts lose; with samples every 0.6 ms it seems to brake."""
    asked = {"until": 0.6, "settled": 0.2, "metrics": ["mean(effort[motor])", "energy_lost"]}
    rough, fine = (jp.sweep(jp.loads(SOFT), {"S.clearance": [3e-4]}, every=every, **asked) for every in (None, 1e-5))
    means = [float(table["mean(effort[motor])"][0]) for table in (rough, fine)]
    assert means[1] == pytest.approx(float(fine["energy_lost"][0]) / (4 * math.tau), rel=1e-3) and means[0] < 0
    assert "largest sample of effort[motor] is 314 N m, the peak 343 N m" in said(rough)[0] and not said(fine)[0]


def test_peaks_of_the_start_are_no_doubt_of_what_comes_later():
    """A mass that is let go above a soft stop: it strikes once, before the run counts as settled."""
    drop = jp.loads("""
ground: {points: {O: [0, 0]}}
bodies: {block: {mass: 1 kg, inertia: 1e-3}}
joints:
  G: {kind: slot, between: [ground.O, block.centre], axis: [1, 0], clearance: 2 mm, pin_radius: 5 mm,
      contact: {kind: compliant, normal: {law: hunt_crossley, stiffness: 1e10, restitution: 0.1}}}
start: {journals: centred}
""")
    metrics = ["max(force[G])", "mean(force[G])"]
    for settled, told in ((0.0, True), (0.6, False)):
        (text,) = said(jp.sweep(drop, {"block.mass": [1.0]}, until=1.0, settled=settled, every=0.01, metrics=metrics))
        assert ("miss loads that last less" in text) == told, text
