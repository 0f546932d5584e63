"""Bifurcation diagrams of mechanisms: as studies, over what changes the period too, forward and backward, resumed."""

import json
import math

import numpy as np
import pytest
import zarr

import jointplay as jp
from jointplay.analysis import Map, bifurcation, diagram
from tests.analysis.test_orbits import textbook_logistic
from tests.analysis.test_verdict import command, oscillator

STEPS = jp.MoreauJean(2 * math.pi / 2.6 / 1000)
BRIEF = {"keep": 6, "skip": 30, "stepper": STEPS, "tolerance": 0.03}
VALUES = [0.4, 0.5]


@pytest.fixture(scope="module")
def apart():
    return diagram(oscillator(2.6), "slide.stop_restitution", VALUES, "mass.x_rate", executor=1, **BRIEF)


def test_values_side_by_side(apart):
    assert apart["mass.x_rate"].shape == (1, 2, 6) and (apart.period == 1).all() and (apart.outcome == "done").all()
    alone = jp.simulate(oscillator(2.6, 0.5), until=36 * 2 * math.pi / 2.6, stepper=STEPS, every=2 * math.pi / 2.6)
    rates = alone.x_rate.sel(body="mass").values[-6:]
    assert apart["mass.x_rate"].values[0, 1] == pytest.approx(rates, rel=1e-12)


def test_a_number_that_changes_the_period(tmp_path):
    found = diagram(
        oscillator(), "shaker.x.frequency", [2.5, 2.6], "mass.x_rate", executor=1, store=tmp_path / "d.zarr", **BRIEF
    )
    one = diagram(oscillator(2.6), "slide.stop_restitution", [0.8], "mass.x_rate", executor=1, **BRIEF)
    assert found["mass.x_rate"].values[0, 1] == pytest.approx(one["mass.x_rate"].values[0, 0], rel=1e-9)
    assert (found.outcome == "done").all()
    assert found.drive_period.values == pytest.approx([2 * math.pi / 2.5, 2 * math.pi / 2.6])
    assert [found[name].attrs["units"] for name in ("shaker.x.frequency", "mass.x_rate")] == ["rad/s", "m/s"]


def test_the_period_of_a_value_is_its_own():
    """A pendulum that turns over winds up its angle, and must not hide that another one's repeats after two periods."""
    arm = jp.loads("""
gravity: [0, -0.6666666666666666]
ground: {points: {O: [0, 0]}}
bodies: {arm: {bar: 1, mass: 3}}
joints: {J: {kind: revolute, between: [ground.O, arm.start]}}
forces:
  d: {kind: torsion, between: [ground, arm], damping: 0.5}
  t: {kind: torque, on: arm, torque: {kind: sine, amplitude: 1.07, frequency: 0.6666666666666666, phase: 1.5707963}}
start: {arm: -1.37}
""")
    found = diagram(arm, "t.torque.amplitude", [1.07, 1.45], "arm.angle", keep=24, skip=200, executor=1, tolerance=5e-3)
    angles = found["arm.angle"].values[0]
    apart = np.abs(angles[0, 1:] - angles[0, :-1])
    assert np.ptp(angles[1]) > 100 and 5e-3 * np.ptp(angles[1]) > apart.max() > 0.1  # which the span of both would hide
    assert found.period.values.tolist() == [[2, 2]]


def test_the_period_of_a_value_of_a_map_is_its_own():
    def make(rows):
        return Map(lambda s, p: {"x": 3.2 * s.x * (1 - s.x / p.size)}, {"x": 0.3}, {"size": 1.0}, lanes=rows)

    found = bifurcation(make, "size", [1.0, 1e9], "x", keep=24, skip=500)
    assert found.period.values.tolist() == [[2, 2]]
    assert bifurcation(textbook_logistic, "r", [0.5], "x", keep=24, skip=40).period.values == 1  # it dies away to 0


def test_forward_and_backward_resumed(tmp_path):
    asked = {"follow": True, **BRIEF}
    store = tmp_path / "walk.zarr"
    values = [0.4, 0.45, 0.5]
    whole = diagram(oscillator(2.6), "slide.stop_restitution", values, "mass.x_rate", **asked)
    assert list(whole.direction.values) == ["forward", "backward"] and (whole.outcome == "done").all()
    first, last = whole["mass.x_rate"].values[:, 1, 0], whole["mass.x_rate"].values[:, 1, -1]
    assert np.ptp(first) < 0.05 and np.ptp(last) < 0.05  # one motion, whichever way it is come upon
    diagram(oscillator(2.6), "slide.stop_restitution", values, "mass.x_rate", store=store, **asked)
    group = zarr.open_group(str(store), mode="r+", use_consolidated=False)  # as if it had been stopped half-way
    for name, empty in (("status", 0), ("point 3", np.nan), ("end mass.x", np.nan)):
        group[name][1, 1:] = empty
    again = diagram(oscillator(2.6), "slide.stop_restitution", values, "mass.x_rate", store=store, **asked)
    assert np.array_equal(again["mass.x_rate"], whole["mass.x_rate"])
    with pytest.raises(ValueError, match="another study"):
        diagram(oscillator(2.7), "slide.stop_restitution", values, "mass.x_rate", store=store, **asked)


def test_what_cannot_be():
    with pytest.raises(ValueError, match="nothing drives"):
        diagram(jp.library.pendulum(), "bar1.mass", [1.0], "bar1.angle")
    with pytest.raises(ValueError, match="no whole number of that"):
        diagram(oscillator(), "slide.stop_restitution", [0.8], "mass.x_rate", period=1.0)
    with pytest.raises(ValueError, match="needs values"):
        diagram(oscillator(), "slide.stop_restitution", [], "mass.x_rate")


def test_the_command_goes_on_with_its_store(tmp_path):
    (tmp_path / "oscillator.yaml").write_text(jp.dumps(oscillator(2.6)), encoding="utf-8")
    call = [
        "oscillator.yaml",
        "--over",
        "slide.stop_restitution=0.7:0.8:2",
        "--signal",
        "mass.x_rate",
        "--step",
        "3 ms",
    ]
    code, out, err = command(*call, cwd=tmp_path)
    assert code == 0, err
    assert (tmp_path / "oscillator_slide.stop_restitution.zarr").is_dir()
    assert (tmp_path / "oscillator_slide.stop_restitution.png").stat().st_size > 10_000
    code, out, err = command(*call, "--json", "-o", "oscillator_slide.stop_restitution.zarr", cwd=tmp_path)
    found = json.loads(out)
    assert code == 0 and found["values"] == [0.7, 0.8] and np.shape(found["points"]) == (1, 2, 40)
    code, _, err = command("oscillator.yaml", "--follow", cwd=tmp_path)
    assert code == 2 and "--follow" in err
