"""The audit judges: limits by the run's own scale, a judgement, one sentence with the remedy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jointplay as jp
from jointplay.cli import main
from jointplay.report.page import payload
from jointplay.simulation.judgement import RULES, judged, verdict
from jointplay.simulation.outcome import Ending, Finding, Outcome

SLIDER = jp.library.slider_crank(speed=30.0).loosen("J3", 5e-4, contact=jp.Rigid(restitution=0.5))
DONE = Outcome(Ending.DONE, "reached 1 s", 1.0)


def entries(run):
    return {entry["name"]: entry for entry in jp.results.audit(run)}


@pytest.fixture(scope="module")
def coarse():
    return jp.simulate(SLIDER, 0.2, jp.MoreauJean(4e-3, order=1), every=4e-3)


def test_every_entry_of_a_healthy_run_has_a_limit_and_is_fine():
    for stepper, loose in ((jp.MoreauJean(2e-5), SLIDER), (jp.RungeKutta(), jp.library.four_bar())):
        run = jp.simulate(loose, 0.2, stepper)
        found = jp.results.audit(run)
        assert {tuple(entry) for entry in found} == {("name", "value", "unit", "limit", "judgement")}
        assert all(isinstance(entry["limit"], float) and entry["judgement"] == "fine" for entry in found), found
        assert run.attrs["judgement"] == "fine" and run.attrs["judgement_text"] == ""


def test_a_wrong_run_says_so_last_in_one_sentence_with_the_remedy(coarse):
    assert coarse.attrs["judgement"] == "wrong" and entries(coarse)["energy imbalance"]["judgement"] != "fine"
    assert [*coarse.attrs][-1] == "judgement_text" and "judgement_text" in str(coarse)[-400:]
    said = coarse.attrs["judgement_text"]
    assert "wrong: its play crossed in one step of" in said and "use a step of" in said and said.count(". ") == 0


def test_the_step_of_the_remedy_is_short_enough(coarse):
    step = float(coarse.attrs["judgement_text"].partition("use a step of ")[2].split()[0])
    assert jp.simulate(SLIDER, 0.2, jp.MoreauJean(step, order=1)).attrs["judgement"] == "fine"


def test_a_step_that_becomes_too_long_for_the_play_is_seen_on_the_way():
    """A crank that is pushed from rest: nothing moves at the start, but the rod's pin flies faster and faster."""
    pushed = jp.library.slider_crank().loosen("J3", 1e-4, contact=jp.Rigid(restitution=0.9))
    motor = {"kind": "torque", "on": "crank", "torque": jp.polynomial(0.0, 300.0)}
    pushed = pushed.replace(gravity=(0.0, 0.0), forces={"motor": motor})
    run = jp.simulate(pushed, 0.3, jp.MoreauJean(1e-4, order=1))
    early = jp.simulate(pushed, 0.01, jp.MoreauJean(1e-4, order=1))
    crossed, before = (entries(one)["play crossed in one step"] for one in (run, early))
    assert before["judgement"] == "fine" and "is long beside" not in run.attrs["notes"]
    assert crossed["judgement"] != "fine" and run.attrs["judgement"] != "fine"


def test_an_imbalance_as_large_as_the_energy_is_wrong():
    swing = jp.library.pendulum(angles=[0.4])
    sprung = swing.replace(forces={"spring": {"kind": "torsion", "between": ("ground", "bar1"), "stiffness": 1e4}})
    run = jp.simulate(sprung, 1.0, jp.FixedRungeKutta(0.012, order=4), strict=False)
    imbalance = entries(run)["energy imbalance"]
    assert imbalance["value"] > 0.8 * jp.results.audited(run, "peak kinetic energy")
    assert imbalance["judgement"] == "wrong" == run.attrs["judgement"]
    assert "its energy imbalance of" in run.attrs["judgement_text"]
    assert jp.simulate(sprung, 1.0).attrs["judgement"] == "fine"


def test_a_finer_run_that_differs_makes_the_run_doubtful():
    wild = jp.library.pendulum(3, 0.4, angles=[2.5, 2.8, 3.0])
    run = jp.simulate(wild, 12.0, jp.FixedRungeKutta(2e-3, order=4), audit="convergence")
    found = entries(run)
    assert found["error of angles by a finer run"]["judgement"] == "doubtful"
    assert run.attrs["judgement"] == "doubtful" and "finer run" in run.attrs["judgement_text"]


def test_what_is_at_rest_is_fine():
    hanging = jp.library.pendulum()
    assert jp.simulate(hanging, 1.0).attrs["judgement"] == "fine"
    lying = jp.loads("""
ground: {points: {O: [0, 0]}}
bodies: {block: {mass: 1, inertia: 0.01}}
joints: {G: {kind: slot, between: [ground.O, block.centre], axis: [1, 0], clearance: 1 mm}}
start: {block.y: -1 mm}
""")
    assert jp.simulate(lying, 0.1, jp.MoreauJean(1e-4)).attrs["judgement"] == "fine"


@given(st.sampled_from(sorted(RULES)), st.floats(1e-9, 1e9), st.floats(-1e12, 1e12), st.floats(-1e12, 1e12))
def test_a_worse_value_is_never_judged_better(name, scale, one, other):
    rule = RULES[name]
    low, high = sorted((one, other), reverse=rule.below)
    scales = {rule.of: scale}
    better, worse = (judged([Finding(name, x, "1")], scales)[0] for x in (low, high))
    order = ["fine", "doubtful", "wrong"]
    assert order.index(better.judgement) <= order.index(worse.judgement)
    found, text = verdict([worse], DONE, jp.MoreauJean(1e-4))
    assert found == worse.judgement and bool(text) is (found != "fine")
    assert judged([Finding(name, float("nan"), "1")], scales)[0].judgement == "wrong"


def test_the_page_has_limits_and_the_sentence(coarse):
    content, _ = payload(coarse, None, "", None)
    assert content["judgement"] == ["wrong", coarse.attrs["judgement_text"]]
    shown = dict(content["audit"])
    assert shown["energy imbalance (J)"].endswith(": wrong") and "(at most " in shown["penetration (m or rad)"]


def test_the_command_line_says_it_last_and_exits_with_1_if_strict(tmp_path, capsys):
    model = tmp_path / "slider.yaml"
    model.write_text(jp.dumps(SLIDER))
    coarse = ["run", str(model), "--until", "0.1", "--step", "4e-3", "--order", "1", "-o", str(tmp_path / "out.nc")]
    assert main(coarse) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("judgement") and "This run is wrong" in last and "use a step of" in last
    assert main([*coarse, "--strict"]) == 1
    capsys.readouterr()
    assert main([*coarse, "--strict", "--quiet"]) == 1
    assert "This run is wrong" in capsys.readouterr().err
    fine = ["run", str(model), "--until", "0.02", "--step", "2e-5", "-o", str(tmp_path / "out.nc"), "--strict"]
    assert main(fine) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["judgement", "fine"]


BALL = """
gravity: [0, 0]
ground: {points: {O: [0, 0]}}
bodies: {a: {mass: 1, inertia: 0.01}, b: {mass: 3, inertia: 0.01}}
joints:
  G: {kind: prismatic, between: [ground.O, a.centre], axis: [1, 0]}
  J: {kind: prismatic, between: [a.centre, b.centre], axis: [1, 0], lower: -0.1, upper: 0.2, stop_restitution: E}
start: {a.x: 0, b.x: 0, a.x.rate: 1, b.x.rate: -0.5}
"""


@pytest.mark.parametrize(
    ("e", "step", "judgement"), [(1.0, 1e-3, "doubtful"), (1.0, 5e-5, "fine"), (0.5, 1e-3, "fine")]
)
def test_elastic_impacts_that_each_come_up_to_a_step_late_add_up(e, step, judgement):
    """Two masses fly to and fro in their play; the delay is what the triangle wave of their distance is off by."""
    run = jp.simulate(jp.loads(BALL.replace("E", str(e))), 10.0, jp.MoreauJean(step, order=1), every=0.05)
    assert run.attrs["judgement"] == judgement
    if e == 1.0:
        way = (0.1 - 1.5 * run.time.values) % 0.6
        wave = np.where(way < 0.3, way, 0.6 - way) - 0.1
        off = np.abs(run.x.values[:, 1] - run.x.values[:, 0] - wave).max() / 0.3
        assert entries(run)["delay of impacts"]["value"] == pytest.approx(off, rel=0.02)


@pytest.mark.parametrize(("rtol", "until"), [(1e-2, 10.0), (5e-7, 50.0)])
def test_chosen_steps_count_every_elastic_impact(rtol, until):
    """One every 0.2 s; rows of impacts were neglected more and more, and at last not counted."""
    run = jp.simulate(jp.loads(BALL.replace("E", "1")), until, jp.MoreauJean(rtol=rtol), every=1.0, error=False)
    assert int(run.impacts.sum()) == len(run.impact_time) == round(until / 0.2)


def test_a_run_that_overflows_is_wrong_though_its_energies_grew_with_it():
    """A damper that steps of first order, which feel it as it was, make ever faster."""
    block = jp.loads("""
gravity: [0, 0]
ground: {points: {O: [0, 0], W: [-1, 0]}}
bodies: {b: {mass: 1, inertia: 0.01}}
joints: {J: {kind: prismatic, between: [ground.O, b.centre], axis: [1, 0]}}
forces: {s: {kind: spring, between: [ground.W, b.centre], stiffness: 1e3, damping: 1e4, free_length: 1}}
start: {b.x: 0.1}
""")
    run = jp.simulate(block, 0.5, jp.MoreauJean(1e-3, order=1), strict=False, every=0.01)
    assert run.attrs["outcome"] == "non-finite" and run.attrs["judgement"] == "wrong"
    assert run.attrs["judgement_text"].endswith("; use a shorter step.")


@pytest.mark.parametrize("stepper", [jp.RungeKutta(1e-3, 1e-5), jp.RungeKutta(1e-4, 1e-6), jp.MoreauJean(rtol=1e-4)])
def test_samples_inside_steps_count_in_the_balance_of_energies(stepper):
    """The work at samples was off by 0.2 J of 13 J where the ends of steps leave 0.003 J."""
    run = jp.simulate(jp.library.slider_crank(speed=30.0), 0.5, stepper, error=False)
    stored = run.kinetic + run.potential
    left = stored - stored[0] - run.work + sum(run[name] for name in ("impact_loss", "friction_loss") if name in run)
    value = entries(run)["energy imbalance"]["value"]
    assert value >= float(np.abs(left).max()) * (1 - 1e-9) > 1e-12
