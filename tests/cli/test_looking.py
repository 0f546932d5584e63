"""Looking at results from the command line: signals, plot, compare; what check and run say to people."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

from jointplay import plots, report, results
from jointplay.cli import main
from jointplay.errors import InputError
from jointplay.model import library
from jointplay.model.files import loads
from jointplay.report import charts
from jointplay.simulation import MoreauJean, simulate

FITTED = """\
name: fitted
ground: {points: {O: [0, 0]}}
bodies: {crank: {bar: 100 mm, mass: 0.5 kg}, rod: {bar: 300 mm, mass: 0.8 kg}}
joints:
  J1: {kind: revolute, between: [ground.O, crank.start]}
  J2: {kind: revolute, between: [crank.end, rod.start], fit: FIT}
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """Two results of one mechanism, with play and without."""
    directory = tmp_path_factory.mktemp("looking")
    for name, clearance in (("loose", 1e-3), ("ideal", 0.0)):
        made = library.crank_rocker_2016(clearance)
        results.save(simulate(made, 0.05, MoreauJean(1e-4), start={"crank.rate": 5.0}), directory / f"{name}.nc")
    return directory


def test_signals_are_listed_with_units_and_ranges(files: Path, capsys):
    assert main(["signals", str(files / "loose.nc"), "crank.angle"]) == 0
    head, first, *_ = capsys.readouterr().out.splitlines()
    assert head.split() == ["signal", "unit", "smallest", "largest", "last"]
    run = results.load(files / "loose.nc").angle.sel(body="crank")
    name, unit, low, high, last = first.split()[:5]
    assert (name, unit) == ("crank.angle", "deg")
    assert [float(low), float(high), float(last)] == pytest.approx(
        [math.degrees(x) for x in map(float, (run.min(), run.max(), run[-1]))], rel=1e-5
    )
    assert main(["signals", str(files / "loose.nc"), "J2."]) == 0
    told = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert told["J2.place_x"].split()[1] == "mm"
    assert told["J2.mode"].endswith("0 free, 1 impact, 2 sliding, 3 sticking")
    assert main(["signals", str(files / "loose.nc"), "crnk.angle"]) == 2
    assert "did you mean 'crank.angle'" in capsys.readouterr().err


def test_a_study_is_not_drawn_as_a_result(tmp_path: Path, capsys):
    """Neither the figures of results nor those of studies."""
    (tmp_path / "zarr.json").touch()
    for figure in ("motion", "contour"):
        assert main(["plot", str(tmp_path), "--figure", figure]) == 2
        assert "is a study; jointplay report makes its page" in capsys.readouterr().err


def test_a_figure_of_a_result_is_drawn(files: Path, capsys):
    assert main(["plot", str(files / "loose.nc"), "--figure", "journal", "--of", "J2"]) == 0
    assert capsys.readouterr().out == f"wrote {files / 'loose_journal.png'}\n"
    assert (files / "loose_journal.png").stat().st_size > 10_000
    target = str(files / "force.svg")
    assert main(["plot", str(files / "loose.nc"), "--figure", "joint_force", "--ideal", str(files / "ideal.nc"),
                 "-o", target]) == 0  # fmt: skip
    assert "ideal joints" in Path(target).read_text()
    capsys.readouterr()
    assert main(["plot", "-", "--figure", "list"]) == 0 and "contact_modes" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--figure", "jurnal"], "no figure 'jurnal'; did you mean 'journal'?"),
        (["--figure", "energy", "--of", "J2"], "--of: the figure energy shows the whole mechanism"),
        (["--figure", "journal", "--of", "J2", "--of", "J3"], "shows one joint, got J2, J3"),
        (["--figure", "journal", "--ideal", "ideal.nc"], "--ideal: the figure journal shows one run only"),
        (["--figure", "motion", "--of", "crnk"], "no body 'crnk' in this result; there are crank, coupler, rocker"),
    ],
)
def test_a_figure_that_cannot_be_drawn_says_why(files: Path, options: list[str], said: str, capsys):
    assert main(["plot", str(files / "loose.nc"), *options]) == 2
    assert said in capsys.readouterr().err


SLIDER = """
ground: {points: {O: [0, 0], slide: [0, 0]}}
bodies: {crank: {bar: 100 mm, mass: 1 kg}, rod: {bar: 300 mm, mass: 2 kg}, ram: {mass: 1 kg, inertia: 1e-3}}
joints:
  J1: {kind: revolute, between: [ground.O, crank.start]}
  J2: {kind: revolute, between: [crank.end, rod.start]}
  J3: {kind: revolute, between: [rod.end, ram.centre], PLAY}
  J4: {kind: prismatic, between: [ground.slide, ram.centre], axis: [1, 0]}
drives: {motor: {kind: angle, of: crank, motion: {kind: constant_speed, speed: SPEED}}}
"""
LOOSE = "clearance: 0.3 mm, journal_radius: 10 mm, contact: {kind: rigid, restitution: 0.4}"


@pytest.mark.parametrize(
    "command", [["plot", "--figure", "shaking"], ["plot", "--figure", "joint_force"], ["report"], ["analyse"]]
)
def test_only_a_run_with_ideal_joints_is_drawn_as_one(files: Path, command, capsys):
    """Any run was: of another mechanism, with play, or at half the speed."""
    made = {"play": (LOOSE, "300 rpm"), "tight": ("clearance: 0", "300 rpm"), "slow": ("clearance: 0", "150 rpm")}
    for name, (play, speed) in made.items():
        if not (files / f"{name}.nc").exists():
            run = simulate(loads(SLIDER.replace("PLAY", play).replace("SPEED", speed)), 0.02)
            results.save(run, files / f"{name}.nc")
    name, *options = command
    output = ["-o", str(files / ("twins.png" if name == "plot" else "twins.html"))]

    def said(run: str, twin: str) -> tuple[int, str]:
        given = [name, str(files / f"{run}.nc"), *options, "--ideal", str(files / f"{twin}.nc"), *output]
        return main(given), capsys.readouterr().err

    assert said("play", "tight") == (0, "")
    code, text = said("play", "ideal")
    assert code == 2 and "this result has crank, rod, ram; give results of one mechanism" in text
    code, text = said("tight", "play")
    assert code == 2 and "has play in J3; this result has none: swap the two" in text
    code, text = said("play", "play")
    assert code == 2 and "has play in J3; give one without, or compare the two" in text
    code, text = said("play", "slow")
    assert code == 0 and "motor.speed is 15.708 rad/s in the run with ideal joints, 31.4159 rad/s in this" in text


def test_a_run_with_play_is_no_twin_in_python_either():
    loose, ideal = (
        simulate(loads(SLIDER.replace("PLAY", play).replace("SPEED", "300 rpm")), 0.02)
        for play in (LOOSE, "clearance: 0")
    )
    for draw in (plots.joint_force, report.html):
        draw(loose, twin=ideal)
        with pytest.raises(InputError, match="has play in J3; this result has none: swap the two"):
            draw(ideal, twin=loose)


def test_results_are_compared(files: Path, capsys):
    picture = files / "both.png"
    given = [str(files / "loose.nc"), str(files / "ideal.nc")]
    assert main(["compare", *given, "--signal", "crank.angle", "--plot", str(picture)]) == 0
    out = capsys.readouterr().out
    rows = {line.split("  ")[0]: line for line in out.splitlines()}
    loose, ideal = (results.load(file) for file in given)
    forces = [float(run.peak_force.sel(joint="J2")) for run in (loose, ideal)]
    assert f"{forces[0]:.5g}" in rows["peak force J2"] and f"{forces[1]:.5g}" in rows["peak force J2"]
    assert f"{100 * (forces[1] / forces[0] - 1):+.3g} %" in rows["peak force J2"] and " deg at " in rows["rocker.angle"]
    assert picture.stat().st_size > 5000
    assert main(["compare", given[0], given[0]]) == 0
    assert "together" in capsys.readouterr().out
    assert main(["compare", given[0]]) == 2 and "at least two results" in capsys.readouterr().err


def test_rounding_is_told_as_0_and_the_first_moments_as_the_start(files: Path, tmp_path: Path, monkeypatch, capsys):
    noisy = results.load(files / "ideal.nc")
    noisy.peak_force[3] = 3e-18
    results.save(noisy, files / "noisy.nc")
    assert main(["compare", str(files / "ideal.nc"), str(files / "noisy.nc")]) == 0
    rows = {line.split("  ")[0]: line.split() for line in capsys.readouterr().out.splitlines()}
    assert rows["peak force J4"][4] == "0"
    monkeypatch.chdir(tmp_path)
    Path("still.yaml").write_text(FITTED.replace("FIT", "20 H7/g6") + "start: {crank: -90 deg, rod: -90 deg}\n")
    assert main(["run", "still.yaml", "--until", "10 ms", "--set", "J2.clearance=0"]) == 0
    out = capsys.readouterr().out
    assert "N at the start" in out and "e-09 s" not in out


def test_results_of_different_lengths_are_told(files: Path, capsys):
    assert main(["compare", str(files / "loose.nc"), str(files / "ideal.nc")]) == 0
    assert "different lengths" not in capsys.readouterr().out
    short = results.load(files / "ideal.nc")
    short.attrs["outcome_time"] = 0.01
    results.save(short, files / "short.nc")
    assert main(["compare", str(files / "loose.nc"), str(files / "short.nc")]) == 0
    assert re.search(r"of different lengths \(loose [\d.]+ s, short 0.01 s\)", capsys.readouterr().out)
    results.save(results.load(files / "ideal.nc").sel(time=slice(0.02, None)), files / "late.nc")
    assert main(["compare", str(files / "ideal.nc"), str(files / "late.nc")]) == 0
    said = capsys.readouterr().out
    assert "(ideal 0.05 s, late 0.02 to 0.05 s)" in said and said.count(" together") == 9, said


def test_of_different_samples_it_is_told_at_how_many_times_they_are_compared(files: Path, tmp_path: Path, capsys):
    made = library.crank_rocker_2016(0.0)
    run = simulate(made, 0.05, MoreauJean(1e-4), start={"crank.rate": 5.0}, every=0.01)
    results.save(run, tmp_path / "few.nc")
    for pair in ((files / "ideal.nc", tmp_path / "few.nc"), (tmp_path / "few.nc", files / "ideal.nc")):
        assert main(["compare", *map(str, pair)]) == 0
        assert ", at 6 times" in capsys.readouterr().out
    assert main(["compare", str(files / "ideal.nc"), str(files / "loose.nc")]) == 0
    assert " times" not in capsys.readouterr().out


def test_numbers_that_are_not_determined_are_marked(files: Path, capsys):
    loose = results.load(files / "loose.nc")
    told = {"value": 1.0, "unit": "N", "error": None, "determined": False, "scale": 1.0}
    sure = {**told, "name": "J1.peak_force", "error": 1e-9, "determined": True}
    force = float(loose.peak_force[2])
    rough = {**sure, "name": "J3.peak_force", "value": force, "error": 0.03 * force}
    loose.attrs["errors"] = json.dumps([sure, {**told, "name": "J2.peak_force"}, rough])
    results.save(loose, files / "sensitive.nc")
    assert main(["compare", str(files / "ideal.nc"), str(files / "sensitive.nc")]) == 0
    out = capsys.readouterr().out
    rows = {line.split("  ")[0]: line.split() for line in out.splitlines()}
    marked = rows["peak force J2"][4]
    assert marked.endswith("?") and float(marked[:-1]) == pytest.approx(float(loose.peak_force[1]), rel=0.06)
    assert "?" not in "".join(rows["peak force J1"]) and "? not determined" in out
    assert float(rows["peak force J3"][4]) in (float(f"{force:.2g}"), float(f"{force:.3g}"))  # 3 % leave no more digits
    assert main(["compare", str(files / "ideal.nc"), str(files / "ideal.nc")]) == 0
    assert "?" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "loose.nc"], "loose.nc is a result, no model; jointplay report, plot"),
        (["report", "loose.nc", "--limit", "x=1"], "--limit: belongs to the page of a study"),
        (["check", "tab.yaml"], "tab.yaml:3: is not valid YAML: there is a tab; indent with spaces"),
        (["sweep", "four_bar", "--over", "J2.clearance=0", "--metric", "peak_force", "--limit", "shift[crank]=1"],
         "'shift[crank]' is not among the metrics"),
    ],
)  # fmt: skip
def test_what_is_given_to_the_wrong_command_is_told(files: Path, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(files)
    Path("tab.yaml").write_text("name: a\nbodies:\n\tarm: {bar: 1, mass: 1}\n")
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_results_of_other_mechanisms_are_not_compared(files: Path, capsys):
    results.save(simulate(library.pendulum(), 0.01), files / "other.nc")
    assert main(["compare", str(files / "loose.nc"), str(files / "other.nc")]) == 2
    assert "other has bar1; give results of one mechanism" in capsys.readouterr().err


def test_the_clearance_that_a_fit_gave_is_told(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("fitted.yaml").write_text(FITTED.replace("FIT", "20 H7/g6"))
    for command in (["check", "fitted.yaml"], ["run", "fitted.yaml", "--until", "1 ms", "--every", "1 ms"]):
        assert main(command) == 0
        assert "0.012 mm around a radius of 10 mm" in capsys.readouterr().out
    for fit, said in (
        ("20 H7/p6", "'20 H7/p6' is an interference fit"),
        ("20 H7/k6", "'20 H7/k6' is a transition fit"),
    ):
        Path("fitted.yaml").write_text(FITTED.replace("FIT", fit))
        assert main(["check", "fitted.yaml"]) == 2
        assert said in capsys.readouterr().err


def test_check_warns_where_run_refuses(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mixed = FITTED.replace("fit: FIT", "clearance: 1 mm, contact: {kind: compliant}")
    Path("mixed.yaml").write_text(mixed.replace("crank.start]", "crank.start], clearance: 1 mm"))
    assert main(["run", "mixed.yaml"]) == 2
    refused = capsys.readouterr().err.removeprefix("jointplay: ").strip()
    assert main(["check", "mixed.yaml"]) == 0
    assert f"warning: run will refuse this: {refused}" in capsys.readouterr().out


def test_check_says_once_that_a_drive_goes_out_of_reach(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    drives = """\
drives:
  d: {kind: x, of: rod.end, motion: {kind: cycloidal, start: 300 mm, end: 500 mm, duration: 1 s}}
  e: {kind: y, of: rod.end, motion: {kind: constant, value: 0}}
"""
    Path("far.yaml").write_text(FITTED.replace("FIT", "20 H7/g6") + drives)
    assert main(["check", "far.yaml"]) == 0
    assert capsys.readouterr().out.count("cannot be assembled beyond") == 1


def test_check_of_what_does_not_assemble_exits_with_1(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    far = FITTED.replace(", fit: FIT", "").replace("[0, 0]", "[0, 0], C: [5, 0]")
    Path("far.yaml").write_text(far + "  J3: {kind: revolute, between: [rod.end, ground.C]}\n")
    assert main(["check", "far.yaml"]) == 1
    assert "does not assemble" in capsys.readouterr().err


def test_run_writes_and_opens_its_page(tmp_path: Path, monkeypatch, capsys):
    opened: list[str] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    assert main(["run", "pendulum", "--until", "10 ms", "--report", "--open"]) == 0
    assert opened == [(tmp_path / "pendulum.html").as_uri()] and "</html>" in Path("pendulum.html").read_text()
    out = capsys.readouterr().out
    assert "to prepare (equations, machine code)" in out and "to compute" in out
    assert main(["run", "pendulum", "--open"]) == 2 and "give that too" in capsys.readouterr().err


def test_convergence_has_units_and_a_verdict(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "pendulum", "--until", "1 s", "--convergence"]) == 0
    told = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines())
    assert " deg, " in told["at the end bar1"] and "% of " in told["largest error"]
    coarse = ["run", "pendulum", "--set", "start.bar1=60 deg", "--until", "20 s", "--step", "0.2 s", "--convergence"]
    assert main(coarse) == 0
    out = capsys.readouterr().out
    assert "(not determined)" in out or "use a smaller --rtol or --step" in out


def test_the_film_counts_its_frames(files: Path):
    told: list[tuple[int, int]] = []
    run = results.load(files / "loose.nc")
    report.movie(run, files / "film.gif", seconds=0.4, rate=10, progress=lambda *at: told.append(at))
    assert told == [(i, 4) for i in range(1, 5)]


def test_a_page_without_a_browser_is_done(files: Path, monkeypatch, capsys):
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    assert main(["report", str(files / "ideal.nc"), "--open"]) == 0
    assert "note: --open: no browser was found" in capsys.readouterr().err and (files / "ideal.html").exists()


def test_whoever_reads_may_have_enough():
    """As in `jointplay schema | head`."""
    with subprocess.Popen([sys.executable, "-m", "jointplay", "schema"], stdout=subprocess.PIPE) as command:
        command.stdout.close()
        assert command.wait() == 0


def test_numbers_of_a_tiny_mechanism_are_told_as_those_of_a_large_one(tmp_path: Path, monkeypatch, capsys):
    """Of millimetres and 1e-7 kg: a motor of 1e-10 N m was printed as 0, and what is 0.5 nm apart together."""
    monkeypatch.chdir(tmp_path)
    shape = """
gravity: [0, 0]
ground: {{points: {{O: [0, 0]}}}}
bodies:
  crank: {{bar: {0}, mass: {1}}}
  rod: {{bar: {2}, mass: {1}}}
  slider: {{mass: {1}, inertia: {3}, points: {{pin: [0, 0]}}}}
joints:
  J1: {{kind: revolute, between: [ground.O, crank.start]}}
  J2: {{kind: revolute, between: [crank.end, rod.start]}}
  J3: {{kind: revolute, between: [rod.end, slider.pin]}}
  J4: {{kind: prismatic, between: [ground.O, slider.pin], axis: [1, 0]}}
drives: {{motor: {{kind: angle, of: crank, motion: {{kind: constant_speed, speed: 300 rpm, start: 30 deg}}}}}}
"""
    peaks = []
    for length, mass in ((0.1, 1.0), (1e-3, 1e-7)):
        Path("one.yaml").write_text(shape.format(length, mass, 3 * length, 1e-3 * mass * length**2))
        assert main(["run", "one.yaml", "--until", "0.2 s", "-o", "one.nc"]) == 0
        rows = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines() if "  " in line)
        peaks.append([float(rows[name].split()[0]) for name in ("peak force J2", "peak effort motor")])
    assert peaks[1] == pytest.approx([peaks[0][0] * 1e-9, peaks[0][1] * 1e-11], rel=1e-4, abs=0)
    assert main(["run", "one.yaml", "--until", "0.2 s", "--set", f"rod.length={3e-3 + 5e-10}", "-o", "two.nc"]) == 0
    assert main(["compare", "one.nc", "two.nc"]) == 0
    rows = {line.split("  ")[0]: line for line in capsys.readouterr().out.splitlines()}
    assert " µm at " in rows["slider.x"] and "together" in rows["crank.x"]


def test_energies_of_a_tiny_mechanism_are_no_rounding(tmp_path: Path, capsys):
    """A slider-crank of 0.1 mm and 1e-9 kg has 1e-16 J; it was listed, drawn and told with 0."""
    tiny = library.slider_crank(1e-4, 3e-4, (5e-10, 8e-10, 1e-9), speed=3.0)
    run = simulate(tiny.with_({"slider.inertia": 1e-17}), 0.5, every=0.01)
    results.save(run, tmp_path / "tiny.nc")
    assert main(["signals", str(tmp_path / "tiny.nc"), "kinetic"]) == 0
    last = float(capsys.readouterr().out.splitlines()[1].split()[4])
    assert last == pytest.approx(float(run.kinetic[-1]), rel=1e-5) and 0 < last < 1e-15
    low, high = plots.energy(run).axes[0].get_ylim()
    assert high - low < 1e-11
    [chart] = [chart for chart in charts.charts(run, None) if chart["title"] == "Energy"]
    assert [curve["name"] for curve in chart["curves"]] == ["kinetic", "potential", "work done"]
    entry = {"value": 5e-11, "unit": "J", "error": 1e-12, "determined": True}
    assert results.spoken(entry) == "5.0e-11 ± 1e-12 J"
