"""`jointplay sweep` and `jointplay report` of a study: what they print, write and refuse."""

import json
import re

import numpy as np
import pytest

import jointplay as jp
from jointplay import report, studies
from jointplay.cli import inputs, main
from jointplay.cli.sweep import judged
from jointplay.model.files import dumps
from jointplay.studies import telling

BRIEF = ["--until", "10 ms", "--step", "0.2 ms"]
GRID = ["sweep", "crank_rocker_2016", "--over", "J2.clearance=0:2 mm:2", "--over", "J2.friction=0,0.1", *BRIEF]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_study_its_status_a_run_of_it_and_its_page(here, capsys):
    assert main([*GRID, "--metric", "peak_force", "--metric", "final(angle[rocker])", "-o", "grid.zarr"]) == 0
    said = capsys.readouterr().out
    assert "4 done" in said and "peak_force[J3]" in said and "jointplay report grid.zarr" in said
    assert main(["sweep", "status", "grid.zarr"]) == 0
    assert "J2.clearance (2) x J2.friction (2)" in capsys.readouterr().out
    assert main(["sweep", "replay", "grid.zarr", "3"]) == 0
    run, table = jp.results.load("grid-run3.nc"), studies.open_study("grid.zarr")
    assert float(run.angle[-1, 2]) == table["final(angle[rocker])"].values[1, 1]
    assert (here / "grid-run3.html").stat().st_size > 10_000
    for text, clearance in (("0", 0.0), ("1.9 mm", 0.002)):
        assert main(["sweep", "replay", "grid.zarr", f"J2.clearance={text},J2.friction=0.1", "-o", "near.nc"]) == 0
        settings = json.loads(jp.results.load("near.nc").attrs["settings"])
        assert settings == {"J2.clearance": clearance, "J2.friction": 0.1}
    assert main(["sweep", "replay", "grid.zarr", "J2.clearance=much"]) == 2
    assert "a number such as" in capsys.readouterr().err
    assert main(["report", "grid.zarr"]) == 0
    page = (here / "grid_study.html").read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    assert data["axes"][0]["values"] == [0, 2] and data["replay"] == "jointplay sweep replay grid.zarr RUN"
    assert data["metrics"]["final(angle[rocker])"]["values"][3] == pytest.approx(np.degrees(float(run.angle[-1, 2])))
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")


def test_few_runs_are_told_one_by_one_in_readable_units_and_a_grid_has_no_confidence(here, capsys):
    """The delay of 10 um in 2 mm must be seen: digits that tell runs apart."""
    asked = ["sweep", "crank_rocker_2016", "--over", "J2.clearance=2000,2010 um", *BRIEF]
    limit = ["--limit", "shift[rocker]=1 um"]
    assert main([*asked, "--metric", "shift[rocker]", *limit, "-o", "few.zarr"]) == 0
    said = capsys.readouterr().out
    assert "confidence" not in said and " of 2 runs" in said and "shift[rocker] > 1 µm" in said
    assert "varied: J2.clearance" in said and "2 to 2.01 mm, 2 values" in said
    assert re.search(r"^1 +2\.01 +\d", said, re.MULTILINE)
    table = studies.open_study("few.zarr")
    assert np.isnan(studies.share(table, "shift[rocker]", 1e-6).low)
    assert main(["report", "few.zarr"]) == 0
    data = json.loads(re.search(r'id="data">(.*?)</script>', (here / "few_study.html").read_text(), re.DOTALL)[1])
    assert len(data["runs"]) == 3 and "crank" in data["model"] and data["metrics"]["shift[rocker]"]["unit"] in said


def test_samples_shards_and_what_they_mean(here, capsys):
    over = ["--over", "J2.fit=20 H7/g6", "--over", "J3.clearance=uniform(10, 20 um)", "--samples", "8", "--seed", "3"]
    asked = ["sweep", "crank_rocker_2016", *over, *BRIEF, "--metric", "peak_force[J2]", "-o", "mc.zarr"]
    for i in (1, 2):
        assert main([*asked, "--shard", f"{i}/2"]) == 0
    capsys.readouterr()
    assert main(["sweep", "collect", "mc.zarr", "--limit", "peak_force[J2]=4"]) == 0
    said = capsys.readouterr().out
    assert "8 done" in said and "P95" in said and "with 95 % confidence" in said
    assert main(["sweep", "collect", "mc.zarr", "--limit", "peak_force[J2]=0.004 kN"]) == 0
    assert capsys.readouterr().out == said
    assert main(["report", "mc.zarr", "--limit", "peak_force[J2]=4 mm"]) == 2
    assert "must be a force in N, got '4 mm' (a length, wrong dimension)" in capsys.readouterr().err
    assert main([*asked, "--limit", "peak_force[J2]=4", "--quiet"]) == 0  # all is there
    assert capsys.readouterr().out == ""
    assert main(["report", "mc.zarr", "--limit", "peak_force[J2]=4", "-o", "mc.html"]) == 0
    data = json.loads(re.search(r'id="data">(.*?)</script>', (here / "mc.html").read_text(), re.DOTALL)[1])
    assert data["sampled"] and data["metrics"]["peak_force[J2]"]["percentiles"].keys() == {"5", "50", "95"}


@pytest.mark.parametrize("limit", ["0.1", "1e-1", "0.01", "1", "0.21", "11", "0.1 1"])
def test_a_limit_of_a_metric_without_unit_keeps_its_digits(limit):
    """A trailing 1 is no unit: 0.1 was read as 0."""
    table = jp.sweep(lambda x: x, {"x": [0.05, 0.3]})
    for units in ({}, {"units": "1"}):
        told = table.assign(value=table["value"].assign_attrs(units))
        assert inputs.limits_of(told, inputs.limits([f"value={limit}"])) == {"value": float(limit.split()[0])}
    share = telling.lines(table.assign(value=table["value"].assign_attrs(units="1")), {"value": 0.1})[-1]
    assert share == ("value > 0.1", "50 %: 1 of 2 runs")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--over: say what to vary"),
        (["--over", "J2.clearence=1 mm"], "did you mean 'J2.clearance'"),
        (["--over", "J2.clearance=-1:2 mm:3"], "must be >= 0"),
        (["--over", "J2.clearance=0:2 mm"], "a grid is LOW:HIGH:COUNT"),
        (["--over", "J2.clearance=0.1 mm:2:3"], "2 has no unit, but others have; give the last number its unit"),
        (["--over", "J2.clearance=0,0.1 mm,2"], "2 has no unit, but others have"),
        (["--over", "J2.clearance=normal(1 mm, 0.1)", "--samples", "4"], "0.1 has no unit, but others have"),
        (["--over", "J2.clearance=0:2 mm:0"], "whole number of values"),
        (["--over", "J2.clearance=1 kg"], "must be a length"),
        (["--over", "J2.clearance"], "must be ADDRESS=VALUES"),
        (["--over", "J2.fit=20 H7/g6"], "needs samples"),
        (["--over", "J2.fit=20 H7/q6", "--samples", "4"], "no shaft"),
        (["--over", "J2.clearance=uniform(1 mm)", "--samples", "4"], "uniform takes other values"),
        (["--over", "J2.friction=0", "--over", "J2.friction=1"], "given twice"),
        (["--over", "J2.friction=0", "--shard", "3"], "PART/PARTS"),
        (["--over", "J2.friction=0", "--shard", "3/2"], "from 1 to 2"),
        (["--over", "J2.friction=0", "--limit", "impacts"], "METRIC=NUMBER"),
        (["--over", "J2.friction=0", "--limit", "peak_force[J2]=4 NN"], "unknown unit 'NN'"),
    ],
)
def test_bad_input_is_told_and_nothing_is_written(here, capsys, arguments, said):
    code = main(["sweep", "crank_rocker_2016", "--metric", "peak_force", *BRIEF, *arguments])
    assert code == 2 and said in capsys.readouterr().err
    assert not list(here.glob("*.zarr"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sweep", "status"], "write jointplay sweep status"),
        (["sweep", "status", "none.zarr"], "no such study"),
        (["sweep", "collect", "none.zarr"], "no shards such as"),
        (["sweep", "replay", "none.zarr", "1"], "no such study"),
        (["sweep", "replay", "none.zarr", "x"], "must be the number of a run"),
    ],
)
def test_studies_that_are_not_there(capsys, arguments, said):
    assert main(arguments) == 2 and said in capsys.readouterr().err


def test_a_metric_is_needed(capsys):
    assert main(["sweep", "crank_rocker_2016", "--over", "J2.friction=0"]) == 2
    assert "--metric" in capsys.readouterr().err


def test_failed_runs_are_told_and_fail_a_command_only_if_none_is_done(capsys):
    def root(x):
        if x < 0:
            raise ValueError("no root")
        return x

    assert judged(jp.sweep(root, {"x": [1, 2]}), "s.zarr") == 0 and not capsys.readouterr().err
    assert judged(jp.sweep(root, {"x": [1, -2, -3]}), "s.zarr") == 0
    said = capsys.readouterr().err
    assert "2 of 3 runs failed, they count in no number above; run 1: ValueError: no root" in said and "s.zarr" in said
    assert judged(jp.sweep(root, {"x": [-1, -2]}, metrics="value"), "s.zarr") == 1
    assert "none is done" in capsys.readouterr().err


def test_times_may_have_units_and_be_turns_of_a_drive(here, capsys):
    mechanism = jp.library.slider_crank(speed=10.0)
    (here / "slider_crank.yaml").write_text(dumps(mechanism))
    asked = ["sweep", "slider_crank.yaml", "--over", "J2.clearance=0,10 um", "--metric", "peak_force[J2]", *BRIEF]
    assert main([*asked, "--settled", "0.002 turns"]) == 0
    told = re.search(r"each run +0.01 s, counted from (\S+) s on", capsys.readouterr().out)
    table = studies.open_study("slider_crank.zarr")
    assert table["peak_force[J2]"].attrs["long_name"].endswith(f"from {told[1]} s on")
    assert main([*asked, "--settled", "2 moons", "-o", "other.zarr"]) == 2
    same = {"metrics": "peak_force[J2]", "stepper": jp.MoreauJean(2e-4)}
    found = jp.sweep(mechanism, {"J2.clearance": ["10 um"]}, until="10 ms", settled="0.002 turns", **same)
    assert float(found["peak_force[J2]"][0]) == float(table["peak_force[J2]"][1])


def test_a_fit_is_told_as_the_drawing_has_it(tmp_path):
    over = {"J2.clearance": jp.fit("20 H7/g6"), "J3.clearance": jp.uniform(0, 1e-5)}
    drawn = jp.sweep(lambda **x: {"e": sum(x.values())}, over, samples=64, store=tmp_path / "drawn.zarr")
    told = dict(telling.varied(drawn))
    assert told["varied: J2.clearance"].endswith("64 samples of the fit 20 H7/g6")
    assert told["varied: J3.clearance"].endswith("64 samples")
    assert {row[0] for row in telling.ranking_lines(drawn, "e")[1:]} == {"J2.clearance (20 H7/g6)", "J3.clearance"}
    facts = dict(report.study.payload(studies.open_study(tmp_path / "drawn.zarr"), "", {})["facts"])
    assert facts["varied: J2.clearance"] == told["varied: J2.clearance"]
