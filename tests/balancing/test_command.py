"""`jointplay balance` as a user types it."""

import json

import pytest

import jointplay as jp
from jointplay.cli import main

MODEL = """\
name: four-bar
gravity: [0, 0]
ground: {points: {O: [0, 0], C: [0.4, 0]}}
bodies:
  crank: {bar: 100 mm, mass: 300 g, inertia: 0.001, centre: [50 mm, 0]}
  coupler: {bar: 350 mm, mass: 0.8, inertia: 0.01, centre: [0.12, 0.05]}
  rocker: {bar: 250 mm, mass: 0.5, inertia: 0.002, centre: [0.12, 0.01]}
joints:
  O: {kind: revolute, between: [ground.O, crank.start]}
  A: {kind: revolute, between: [crank.end, coupler.start]}
  B: {kind: revolute, between: [coupler.end, rocker.end]}
  C: {kind: revolute, between: [ground.C, rocker.start]}
start: {crank: 0, coupler: 45 deg, rocker: 110 deg}
"""
KEYS = ["objective", "rank", "conditions", "feasible", "residual", "design", "before", "after"]
MEASURES = ["shaking_force_peak", "shaking_force_rms", "shaking_moment_peak", "torque_rms"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    (tmp_path / "four.yaml").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_json_is_one_object_and_the_balanced_model_is_written(here, capsys):
    asked = ["--objective", "force", "--adjust", "crank:radius=80mm", "--adjust", "rocker:radius=80mm"]
    assert main(["balance", "four.yaml", *asked, "--motion", "crank=10 rad/s", "--json", "-o", "even.yaml"]) == 0
    told = capsys.readouterr()
    found = json.loads(told.out)
    assert list(found) == KEYS and list(found["before"]) == list(found["after"]) == MEASURES and told.err == ""
    assert found["rank"] == len(found["conditions"]) == 4 and found["feasible"] is True and found["residual"] < 1e-12
    assert found["before"]["shaking_force_peak"] == pytest.approx(14.888837, abs=5.1e-7)
    assert found["after"]["shaking_moment_peak"] == pytest.approx(3.127275, abs=1e-6)
    even = jp.load(here / "even.yaml")
    assert all(even.value(a) == x for a, x in found["design"].items())
    assert (here / "even.png").stat().st_size > 10_000


def test_what_it_prints(here, capsys):
    assert main(["balance", "four.yaml", "--objective", "force", "--adjust", "crank", "--until", "0.1 s"]) == 0
    out = capsys.readouterr().out
    assert (
        "4 independent conditions:" in out and "infeasible: no numbers" in out and "written four-balanced.yaml" in out
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--objective", "forse", "--adjust", "crank"], "did you mean 'force'"),
        (["--objective", "force", "--adjust", "crnk"], "did you mean 'crank'"),
        (["--objective", "force", "--adjust", "crank:mass<=1kg,mass>=2kg"], "contradict each other"),
        (["--objective", "force", "--adjust", "crank", "--motion", "crank"], "must be BODY=SPEED"),
        (["--objective", "force", "--adjust", "crank", "--motion", "rocker=1 rad/s"], "cannot be assembled beyond"),
        (["--objective", "static", "--adjust", "crank"], "nothing to balance"),
        (["--objective", "force", "--adjust", "crank", "-o", "x.txt"], "the suffix must be .yaml or .yml"),
        (["--objective", "force", "--adjust", "crank", "--front", "noise"], "must be moment, torque or bearing"),
        (["--objective", "force", "--adjust", "crank", "--coordinates", "crank,rocker"], "leave out 1"),
        (["--objective", "force", "--adjust", "crank", "--until", "soon"], "--until"),
    ],
)
def test_bad_input(arguments, told, capsys, here):
    failed = 1 if "assembled" in told else 2  # the input could be read, but leads nowhere
    assert main(["balance", "four.yaml", *arguments]) == failed
    said = capsys.readouterr()
    assert told in said.err and said.out == "" and "Traceback" not in said.err
    assert sorted(p.name for p in here.iterdir()) == ["four.yaml"]
