"""The commands as a user types them: what they print, write and refuse."""

import json
import math
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import xarray

from jointplay import results, statics
from jointplay.cli import inputs, main
from jointplay.cli import run as command
from jointplay.model import library, load
from jointplay.simulation import RungeKutta, simulate

MODEL = """\
name: swing
ground: {points: {O: [0, 0]}}
bodies: {arm: {bar: 1 m, mass: 2 kg}}
joints: {J1: {kind: revolute, between: [ground.O, arm.start]}}
start: {arm: 0 deg}
"""
SHORT = ("--until", "500 ms", "--every", "10 ms")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs in a directory of its own that holds one model file."""
    (tmp_path / "swing.yaml").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(directory: Path) -> list[str]:
    return sorted(p.name for p in directory.iterdir())


def table(text: str) -> dict[str, str]:
    """A printed summary as names and values."""
    return dict(re.split(r"  +", line, maxsplit=1) for line in text.splitlines())


# -- run


def test_run_writes_a_result_and_says_how_it_went(here: Path, capsys):
    assert main(["run", "swing.yaml", *SHORT]) == 0
    told = capsys.readouterr()
    shown = table(told.out)
    assert told.err == ""
    assert shown["mechanism"] == "swing" and shown["degrees of freedom"] == "1" and shown["outcome"] == "done"
    assert shown["simulated"].startswith("0.5 s in ") and shown["stepper"].startswith("RungeKutta(")
    assert any(name.startswith("audit: energy") for name in shown) and "N at" in shown["peak force J1"]
    assert "rigid contact" not in shown
    assert shown["written"].startswith("swing.nc (")
    assert names(here) == ["swing.nc", "swing.yaml"]
    run = results.load("swing.nc")
    assert run.attrs["outcome"] == "done" and run.sizes["time"] == 51 and float(run.time[-1]) == 0.5


def test_run_takes_library_names_changes_and_tolerances(here: Path, capsys):
    changes = ("--set", "crank.mass=500 g", "--set", "start.crank.rate = 60 rpm", "--set", "crank.mass=250 g")
    options = ("--rtol", "1e-6", "--atol", "1e-7", "-o", "out.nc", "--quiet")
    assert main(["run", "crank_rocker_2016", *SHORT, *changes, *options]) == 0
    assert capsys.readouterr() == ("", "")
    run = results.load("out.nc")
    model = library.crank_rocker_2016().with_({"crank.mass": 0.25, "start.crank.rate": 2 * math.pi})
    expected = simulate(model, 0.5, RungeKutta(1e-6, 1e-7), every=0.01)
    assert (run.angle.values == expected.angle.values).all()
    assert float(run.angle_rate.sel(body="crank")[0]) == pytest.approx(2 * math.pi)
    assert names(here) == ["out.nc", "swing.yaml"]


RATTLING = """
name: rattling
ground: {points: {O: [0, 0]}}
bodies: {arm: {bar: 1, mass: 2}}
joints: {J1: {kind: revolute, between: [ground.O, arm.start], clearance: 1 mm, contact: {kind: rigid, friction: 0.1}}}
start: {arm: 0, arm.x: %s, arm.y: 0}
"""


def test_rigid_contact_runs_with_its_own_stepper(here: Path, capsys):
    Path("rattling.yaml").write_text(RATTLING % 0.5 + "journals: centred\n")
    assert main(["run", "rattling.yaml", "--until", "0.1", "--step", "0.1 ms", "--convergence"]) == 0
    shown = table(capsys.readouterr().out)
    assert shown["stepper"].startswith("MoreauJean(step=0.0001") and "impacts, free" in shown["contact J1"]
    assert " deg, " in shown["at the end arm"] and float(shown["audit: penetration"].split()[0]) < 1e-11
    assert shown["rigid contact"] == results.without_impacts(results.load("rattling.nc"))
    assert shown["rigid contact"].startswith("Peak forces are those between impacts")


def test_the_order_of_rigid_steps_can_be_chosen(here: Path, capsys):
    Path("rattling.yaml").write_text(RATTLING % 0.5)
    assert main(["run", "rattling.yaml", "--until", "0.01", "--step", "0.1 ms", "--order", "1"]) == 0
    assert "order=1" in table(capsys.readouterr().out)["stepper"]
    assert main(["run", "swing.yaml", *SHORT, "--order", "1"]) == 2
    assert "--order: belongs to steps of rigid contact" in capsys.readouterr().err


def test_a_start_in_penetration_is_bad_input_and_can_be_closed(here: Path, capsys):
    Path("rattling.yaml").write_text(RATTLING % 0.6)
    assert main(["run", "rattling.yaml", "--until", "0.1"]) == 2
    assert "penetrates 'J1' by 0.099 m" in capsys.readouterr().err and not Path("rattling.nc").exists()
    assert main(["run", "rattling.yaml", "--until", "0.01", "--reclose"]) == 0
    assert main(["run", "rattling.yaml", "--until", "0.1", "--atol", "1e-6"]) == 2
    assert "--atol: rigid contact knows a relative tolerance only" in capsys.readouterr().err


def test_a_file_goes_before_the_library(here: Path):
    (here / "pendulum").write_text(MODEL)
    assert main(["run", "pendulum", *SHORT, "--quiet"]) == 0
    assert results.load("pendulum.nc").attrs["title"] == "swing"


def test_run_with_fixed_steps(capsys):
    assert main(["run", "swing.yaml", *SHORT, "--step", "1 ms"]) == 0
    shown = table(capsys.readouterr().out)
    assert shown["stepper"] == "FixedRungeKutta(step=0.001, order=5)" and shown["simulated"] == "0.5 s in 500 steps"


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_run_exports_by_suffix(suffix: str, here: Path, capsys):
    assert main(["run", "swing.yaml", *SHORT, "-o", f"out.{suffix}"]) == 0
    assert names(here) == [f"out.{suffix}", "swing.yaml"]
    if suffix == "csv":
        lines = Path("out.csv").read_text().splitlines()
        assert len(lines) == 52 and "arm.angle" in lines[0].split(",") and lines[0].startswith("time,")
    else:
        assert Path("out.parquet").read_bytes().startswith(b"PAR1")


def test_run_draws(here: Path, capsys):
    (here / "pictures").mkdir()
    assert main(["run", "swing.yaml", *SHORT, "--plot", "pictures/swing.png"]) == 0
    assert "pictures/swing.png (" in capsys.readouterr().out
    assert (here / "pictures" / "swing.png").read_bytes().startswith(b"\x89PNG")


STUCK = """\
name: stuck
ground: {points: {O: [0, 0], A: [4 m, 0]}}
bodies: {arm: {bar: 1 m, mass: 2 kg}, other: {bar: 1 m, mass: 2 kg}}
joints:
  J1: {kind: revolute, between: [ground.O, arm.start]}
  J2: {kind: revolute, between: [arm.end, other.start]}
  J3: {kind: revolute, between: [other.end, ground.A]}
"""


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_mechanism_that_does_not_assemble_is_a_failed_computation(command: str, here: Path, capsys):
    Path("stuck.yaml").write_text(STUCK)
    assert main([command, "stuck.yaml"]) == 1
    told = capsys.readouterr()
    assert "assemble" in told.err and "J" in told.err and "Traceback" not in told.err
    assert "stuck.nc" not in names(here)


def test_a_run_that_ends_early_is_kept_and_explained(here: Path, capsys):
    # Driven at 2.2 rad/s, the journal at O3 lifts off its bearing after some 2 s.
    assert (
        main(["run", "grigore_figure_5", "--until", "6", "--set", "O2x.frequency=2.2", "--set", "O2y.frequency=2.2"])
        == 1
    )
    told = capsys.readouterr()
    assert table(told.out)["outcome"] == "contact lost"
    line = "jointplay: joint 'O3' loses contact at t = [0-9.]+ s.*; what was computed is in grigore_figure_5.nc\n"
    assert re.fullmatch(line, told.err)
    run = results.load("grigore_figure_5.nc")
    assert run.attrs["outcome"] == "contact lost" and 0 < float(run.time[-1]) <= run.attrs["outcome_time"] < 6


@pytest.mark.parametrize("suffix", ["nc", "csv", "parquet"])
def test_a_run_that_ends_at_once_writes_what_there_is(suffix: str, here: Path, capsys):
    swing = Path("swing.yaml").read_text().replace("arm.start]}", "arm.start], contact: {kind: following}}")
    Path("swing.yaml").write_text(swing)
    above = ("--set", "J1.clearance=1 mm", "--set", "start.arm.x=0.5", "--set", "start.arm.y=1 mm")
    assert main(["run", "swing.yaml", *SHORT, *above, "-o", f"out.{suffix}", "--plot", "out.png"]) == 1
    told = capsys.readouterr()
    assert table(told.out)["outcome"] == "contact lost" and table(told.out)["simulated"] == "0 s in 0 steps"
    first, second = told.err.splitlines()
    assert first == "jointplay: out.png: not drawn, for there is nothing to show"
    assert "'J1' would pull" in second and second.endswith(f"what was computed is in out.{suffix}")
    assert names(here) == [f"out.{suffix}", "swing.yaml"]


def test_a_result_that_cannot_be_written_is_a_failure(here: Path, capsys, monkeypatch):
    def full(run, path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(results, "save", full)
    assert main(["run", "swing.yaml", *SHORT]) == 1
    assert capsys.readouterr() == ("", "jointplay: [Errno 28] No space left on device\n")


def test_the_summary_tells_efforts_and_moments(capsys):
    assert main(["run", "wu_2017", "--until", "0.2", "--quiet"]) == 0
    run = results.load("wu_2017.nc")
    shown = table(command.summary(library.wu_2017(), run, (0.0, 0.0), []))
    for i, drive in enumerate(run.drive.values):
        assert shown[f"peak effort {drive}"].startswith(f"{float(run.peak_effort[i]):.6g} ± ")
        assert " N m at " in shown[f"peak effort {drive}"]
    told = {name.removeprefix("peak moment ") for name in shown if name.startswith("peak moment ")}
    assert told == {str(j) for j, m in zip(run.joint.values, run.peak_moment.values, strict=True) if m > 0} != set()


def test_suffixes_may_be_written_large(here: Path, capsys):
    assert main(["run", "swing.yaml", *SHORT, "-o", "OUT.NC", "--plot", "OUT.PNG"]) == 0
    assert results.load("OUT.NC").attrs["title"] == "swing"
    assert Path("OUT.PNG").read_bytes().startswith(b"\x89PNG")


def test_numbers_that_overflow_are_a_failed_computation(capsys, monkeypatch):
    def overflow(*_):
        raise OverflowError("(34, 'Numerical result out of range')")

    monkeypatch.setattr(statics, "check", overflow)
    assert main(["check", "swing.yaml"]) == 1
    assert "numbers became too large or too small" in capsys.readouterr().err


# -- files of results


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.nc", None, "none.nc: no such file"),
        (".", None, ".: is a directory; give the name of a result file"),
        ("a.yaml", b"name: a", "a.yaml: is a model file, not a result; jointplay run a.yaml makes one"),
        ("empty.nc", b"", "empty.nc: cannot be read as a NetCDF result: it is empty; only results saved as .nc can"),
        ("a.csv", b"time,x\n", "a.csv: cannot be read as a NetCDF result: it is another kind of file; only results"),
        (
            "cut.nc",
            b"\x89HDF\r\n\x1a\n" + bytes(50),
            "cut.nc: cannot be read as a NetCDF result, which may be damaged: ",
        ),
    ],
)
def test_odd_files_are_not_results(name, content, message):
    if content is not None:
        Path(name).write_bytes(content)
    with pytest.raises(ValueError) as caught:
        results.load(name)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({}, "it has no format_version"),
        ({"format_version": 1}, "it has no model"),
        ({"format_version": 1, "model": ""}, "it has no time"),
    ],
)
def test_files_of_others_are_not_results(attributes, message):
    xarray.Dataset({"a": ("x", [1, 2])}, attrs=attributes).to_netcdf("alien.nc", engine="h5netcdf")
    with pytest.raises(ValueError, match=message):
        results.load("alien.nc")


@pytest.mark.parametrize("version", ["1", "one", [1, 2], 0])
def test_odd_versions_of_results_are_refused(version):
    data = xarray.Dataset({"time": ("time", [0.0])}, attrs={"format_version": version, "model": ""})
    data.to_netcdf("odd.nc", engine="h5netcdf")
    with pytest.raises(ValueError, match=r"result format .* is not known .*: compute it again"):
        results.load("odd.nc")


@pytest.mark.parametrize("suffix", results.SUFFIXES)
def test_results_go_only_into_directories_that_are_there(suffix):
    data = xarray.Dataset({"time": ("time", [0.0])})
    with pytest.raises(ValueError, match=rf"zz/o{suffix}: no such directory 'zz'; create it first"):
        results.save(data, f"zz/o{suffix}")
    Path(f"here{suffix}").mkdir()
    with pytest.raises(ValueError, match=rf"here{suffix}: is a directory"):
        results.save(data, f"here{suffix}")


# -- equilibria and the library


def test_equilibria_are_listed(capsys):
    assert main(["equilibria", "swing.yaml", "--starts", "8", "--set", "J1.lower=1"]) == 2  # there is no stop to set
    Path("stop.yaml").write_text(MODEL.replace("arm.start]", "arm.start], lower: -2, upper: 1"))
    capsys.readouterr()
    assert main(["equilibria", "stop.yaml", "--starts", "8"]) == 0
    head, down, up = capsys.readouterr().out.splitlines()
    assert head.split() == ["arm.x/mm", "arm.y/mm", "arm.angle/deg"]
    assert down.split() == ["1", "0", "-500", "-90", "stable"]
    assert up.split(maxsplit=4)[:4] == ["2", "0", "500", "90"]
    assert up.endswith("rejected: joint J1 is 0.571 rad beyond its upper stop of 1 rad")


def test_no_equilibrium_is_said(capsys):
    Path("stone.yaml").write_text("bodies: {stone: {mass: 1, inertia: 1}}")
    assert main(["equilibria", "stone.yaml", "--starts", "4"]) == 0
    assert capsys.readouterr().out == "no equilibrium found from 4 starts; more may find one: --starts 40\n"


def test_the_library_is_listed(capsys):
    assert main(["library"]) == 0
    shown = table(capsys.readouterr().out)
    assert list(shown) == list(library.MECHANISMS) and all(len(text) > 20 for text in shown.values())


# -- Ctrl-C


def child(*arguments: str, **streams) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "jointplay", *arguments],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # ignored in a background job
        **streams,
    )


def read_until(terminal: int, wanted: bytes, seconds: float) -> bytes:
    """What a terminal shows, until it shows what is wanted or is closed."""
    shown, end = b"", time.monotonic() + seconds
    while wanted not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                more = os.read(terminal, 65536)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            shown += more
    return shown


def test_ctrl_c_keeps_what_was_computed(here: Path):
    ours, theirs = pty.openpty()  # with a terminal, a long run shows its progress
    process = child("run", "crank_rocker_2016", "--until", "1e6", "--every", "1", stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    try:
        assert b"left" in read_until(ours, b"left", 30)
        process.send_signal(signal.SIGINT)
        out = process.communicate(timeout=30)[0].decode()
        shown = read_until(ours, b"computed is in", 5).decode()
    finally:
        process.kill()
        os.close(ours)
    assert process.returncode == 1
    assert "interrupted at t = " in shown and "what was computed is in crank_rocker_2016.nc" in shown
    assert "Traceback" not in shown and table(out)["outcome"] == "interrupted"
    run = results.load("crank_rocker_2016.nc")
    assert run.attrs["outcome"] == "interrupted" and 1 < run.sizes["time"] < 1e6
    assert names(here) == ["crank_rocker_2016.nc", "swing.yaml"]


@pytest.mark.parametrize("where", [(results, "save"), (inputs, "mechanism")], ids=["while writing", "while reading"])
def test_ctrl_c_elsewhere_ends_at_once(where, here: Path, capsys, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(*where, interrupt)
    assert main(["run", "swing.yaml", *SHORT]) == 1
    assert capsys.readouterr() == ("", "jointplay: interrupted\n")
    assert names(here) == ["swing.yaml"]


def test_no_progress_without_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(command, "PATIENCE", 0.0)
    assert main(["run", "swing.yaml", *SHORT]) == 0
    assert capsys.readouterr().err == ""


def test_a_short_run_shows_no_bar():
    with command.ProgressBar(1.0, shown=True) as progress:
        progress(0.5)
        assert progress.bar is None


# -- bad input: one line, exit code 2, nothing written

BAD = {
    "no such file": (["run", "crank.yaml"], "no such file 'crank.yaml'; `jointplay new NAME` writes one to start from"),
    "no such path": (["check", "models/crank"], "no such file 'models/crank'; .*"),
    "no such mechanism": (
        ["run", "crank_rocker"],
        "no file and no library mechanism 'crank_rocker'; did you mean 'crank_rocker_2016'.*",
    ),
    "nothing like it": (["check", "zzz"], "no file and no library mechanism 'zzz'; known: four_bar, slider_crank, .*"),
    "empty model": (["run", ""], "no file and no library mechanism ''; known: .*"),
    "a directory": (["run", "."], ".: cannot be read: Is a directory"),
    "not YAML": (["run", "text.yaml", "bodies: {arm"], "text.yaml:2: is not valid YAML: .*"),
    "not a mapping": (["run", "text.yaml", "hello"], "text.yaml:1: must be a mapping with bodies, .*, got 'hello'"),
    "empty file": (["check", "text.yaml", ""], "text.yaml.*: .*"),
    "unknown key": (
        ["check", "text.yaml", MODEL + "body: {}"],
        "text.yaml:6: body: unknown key; did you mean 'bodies'.*",
    ),
    "negative mass": (
        ["run", "text.yaml", MODEL.replace("2 kg", "-2 kg")],
        "text.yaml:3: bodies.arm.mass: must be > 0, got -2 kg",
    ),
    "dangling reference": (
        ["check", "text.yaml", MODEL.replace("arm.start", "arm.begin")],
        "text.yaml:4: joints.J1.between.1: no point 'arm.begin'.*",
    ),
    "code in a file": (["run", "text.yaml", "name: !!python/name:os.system x"], "text.yaml:1: .* is not allowed: .*"),
    "binary file": (["run", "text.yaml", "\udcff\udcfe"], "text.yaml:1: is not UTF-8 text"),
    "newer format": (
        ["run", "text.yaml", "format_version: 9\n" + MODEL],
        "text.yaml:1: format_version: .* update jointplay.*",
    ),
    "set without value": (["run", "swing.yaml", "--set", "arm.mass"], "--set arm.mass: must be ADDRESS=VALUE, .*"),
    "set to nothing": (["run", "swing.yaml", "--set", "arm.mass="], "--set arm.mass=: must be ADDRESS=VALUE, .*"),
    "set nothing": (["run", "swing.yaml", "--set", "=1"], "--set =1: must be ADDRESS=VALUE, .*"),
    "set an unknown address": (
        ["run", "swing.yaml", "--set", "arm.mas=1"],
        "--set arm.mas: no such address; did you mean 'arm.mass'.*",
    ),
    "check an unknown address": (["check", "swing.yaml", "--set", "leg.mass=1"], "--set leg.mass: no such address; .*"),
    "set an unknown start": (
        ["run", "swing.yaml", "--set", "start.arm.speed=1"],
        "--set start.arm.speed: unknown start value; .*",
    ),
    "set the wrong dimension": (
        ["run", "swing.yaml", "--set", "arm.mass=3 mm"],
        "--set bodies.arm.mass: must be a mass in kg, got '3 mm' .*",
    ),
    "set an unknown unit": (
        ["run", "swing.yaml", "--set", "arm.mass=3 kilo"],
        "--set bodies.arm.mass: unknown unit 'kilo'.*",
    ),
    "set a negative mass": (["run", "swing.yaml", "--set", "arm.mass=-1"], "--set bodies.arm.mass: must be > 0, .*"),
    "set a negative clearance": (
        ["run", "swing.yaml", "--set", "J1.clearance=-1 mm"],
        "--set joints.J1.clearance: must be >= 0, got -1 mm",
    ),
    "set NaN": (["run", "swing.yaml", "--set", "arm.mass=nan"], "--set bodies.arm.mass: must be finite, got nan"),
    "until zero": (["run", "swing.yaml", "--until", "0"], "--until: must be > 0, got 0"),
    "until negative": (["run", "swing.yaml", "--until", "-1"], "--until: must be > 0, got -1"),
    "until NaN": (["run", "swing.yaml", "--until", "nan"], "--until: must be finite, got nan"),
    "until infinite": (["run", "swing.yaml", "--until", "inf"], "--until: must be finite, got inf"),
    "until overflows": (["run", "swing.yaml", "--until", "1e999"], "--until: must be finite, got 1e999"),
    "until a length": (["run", "swing.yaml", "--until", "5 m"], "--until: must be a time in s, got '5 m' .*"),
    "until a word": (["run", "swing.yaml", "--until", "soon"], "--until: must be a number such as .*, got 'soon'"),
    "every beyond until": (
        ["run", "swing.yaml", "--until", "500 ms", "--every", "1"],
        "--every: must be at most --until = 0.5 s, got 1 s",
    ),
    "every zero": (["run", "swing.yaml", "--every", "0 ms"], "--every: must be > 0, got 0 ms"),
    "every too often": (["run", "swing.yaml", "--every", "1 ns"], "--every: 1e[+]10 samples are too many; .*"),
    "step beyond until": (["run", "swing.yaml", "--step", "11"], "--step: must be at most --until = 10 s, got 11 s"),
    "step negative": (["run", "swing.yaml", "--step=-1 ms"], "--step: must be > 0, got -1 ms"),
    "step and rtol": (
        ["run", "swing.yaml", "--step", "1 ms", "--rtol", "1e-6"],
        "--rtol: belongs to adaptive steps .*",
    ),
    "rtol zero": (["run", "swing.yaml", "--rtol", "0"], "--rtol: must be > 0 and < 1, got 0"),
    "rtol too small": (["run", "swing.yaml", "--rtol", "1e-17"], "RungeKutta: rtol 1e-17 is below .*"),
    "rtol with a unit": (["run", "swing.yaml", "--rtol", "1 mm"], "--rtol: must be a plain number, .*"),
    "atol NaN": (["run", "swing.yaml", "--atol", "nan"], "--atol: must be finite, got nan"),
    "unknown suffix": (
        ["run", "swing.yaml", "-o", "out.xls"],
        "-o out.xls: the suffix must be .nc, .csv or .parquet, got '.xls'",
    ),
    "no suffix": (["run", "swing.yaml", "-o", "out"], "-o out: the suffix must be .nc, .csv or .parquet, got none"),
    "no directory": (
        ["run", "swing.yaml", "-o", "made/up/out.nc"],
        "-o made/up/out.nc: the directory 'made/up' does not exist; create it first",
    ),
    "file as directory": (
        ["run", "swing.yaml", "-o", "swing.yaml/out.nc"],
        "-o swing.yaml/out.nc: the directory 'swing.yaml' is not a directory",
    ),
    "read-only directory": (
        ["run", "swing.yaml", "-o", "/proc/out.nc"],
        "-o /proc/out.nc: cannot write to the directory '/proc': .*",
    ),
    "name too long": (["run", "swing.yaml", "-o", "n" * 250 + ".nc"], "-o nnnnn.*: the name is too long"),
    "plot suffix": (
        ["run", "swing.yaml", "--plot", "out.gif"],
        "--plot out.gif: the suffix must be .png, .pdf or .svg, got '.gif'",
    ),
    "plot directory": (
        ["run", "swing.yaml", "--plot", "made/up.png"],
        "--plot made/up.png: the directory 'made' does .*",
    ),
    "no name for the result": (["run", "swing.yaml", "-o", ""], "-o: the name of the file is empty"),
    "no name for the plot": (["run", "swing.yaml", "--plot", " "], "--plot: the name of the file is empty"),
    "too many steps": (
        ["run", "swing.yaml", "--step", "1e-12"],
        "--step: 1e[+]13 steps to --until = 10 s are too many; choose at least 1e-09 s",
    ),
    "set by the key": (
        ["check", "swing.yaml", "--set", "arm.bar=0.5"],
        "--set arm.bar: no such address; its address is 'arm.length'",
    ),
    "an absurd length": (
        ["check", "swing.yaml", "--set", "arm.length=1e300"],
        "--set bodies.arm.bar: must be at most 1e[+]30, got 1e300 m; is its unit right[?]",
    ),
    "a start rate that contradicts": (
        ["run", "swing.yaml", "--set", "start.arm.rate=1", "--set", "start.arm.x.rate=5"],
        "start: arm.x.rate = 5 m/s contradicts arm.rate, the constraints, .*",
    ),
    "a start of many turns": (
        ["check", "swing.yaml", "--set", "start.arm=1e9"],
        "--set start.arm: must be within 1e[+]06 rad, got 1e[+]09: take off whole turns",
    ),
    "no starts": (["equilibria", "swing.yaml", "--starts", "0"], "--starts: must be a whole number from 1 .*, got 0"),
    "half starts": (["equilibria", "swing.yaml", "--starts", "1.5"], "--starts: must be a whole .*, got 1.5"),
    "rests before the start": (["equilibria", "swing.yaml", "--at", "-1"], "--at: must be >= 0, got -1"),
    "rests of what rattles": (
        ["equilibria", "swing.yaml", "--set", "J1.clearance=1 mm"],
        "joints.J1.contact: rests nowhere in particular .* close it [(]--set J1.clearance=0; .*",
    ),
    "unknown study": (["reproduce", "grigori"], "no study 'grigori'; did you mean 'grigore'[?]"),
    "unknown table": (
        ["reproduce", "akhadkar2016", "--table", "7"],
        "--table 7: akhadkar2016 has no such table; choose 1, 3, 4, 5, 6",
    ),
    "no tables": (
        ["reproduce", "grigore", "--table", "1"],
        "--table 1: grigore has no .*; leave --table out",
    ),
    "no such study": (["reproduce", "newton", "--json"], "no study 'newton'; known: akhadkar2016, grigore.*"),
    "new over a file": (["new", "swing"], "new swing: swing.yaml is already there; choose another name, or --force .*"),
    "new in no directory": (["new", "made/press"], "new made/press.yaml: the directory 'made' does not exist; .*"),
    "new without a name": (["new", ""], "new '': must be a name such as press, for the file press.yaml"),
    "new with a slash": (["new", "made/"], "new 'made/': must be a name such as press, .*"),
    "new hidden": (["new", "..yaml"], "new '..yaml': must be a name such as press, .*"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input(kind: str, here: Path, capsys):
    arguments, message = BAD[kind]
    if "text.yaml" in arguments:
        *arguments, text = arguments
        Path("text.yaml").write_bytes(text.encode("utf-8", "surrogateescape"))
    before = names(here)
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert told.out == "" and re.fullmatch(f"jointplay: {message}\n", told.err), told.err
    assert names(here) == before


@pytest.mark.parametrize(
    ("module", "options", "message"),
    [
        (
            "matplotlib",
            ["--plot", "a.png"],
            '--plot a.png: .png files need matplotlib, .*: pip install "jointplay[plot]"',
        ),
        ("pyarrow", ["-o", "a.parquet"], '-o a.parquet: .* need pyarrow, .*: pip install "jointplay[parquet]"'),
    ],
)
def test_what_is_not_installed_is_said_before_computing(module, options, message, here: Path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    assert main(["run", "swing.yaml", *options]) == 2
    assert re.fullmatch(f"jointplay: {message}\n".replace("[", r"\["), capsys.readouterr().err)
    assert names(here) == ["swing.yaml"]


def test_every_problem_of_a_file_has_its_line(capsys):
    Path("text.yaml").write_text(MODEL.replace("2 kg", "-2 kg").replace("0 deg", "soon"))
    assert main(["check", "text.yaml"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [re.match(r"jointplay: text.yaml:(\d):", line)[1] for line in lines] == ["3", "5"]


@pytest.mark.parametrize(
    "arguments",
    [["run"], ["run", "swing.yaml", "--until"], ["run", "swing.yaml", "--unti", "1"], ["check"], ["reproduce"], ["new"]]
    + [["schema", "extra"], ["run", "a.yaml", "b.yaml"], ["check", "swing.yaml", "--until", "1"]],
)
def test_bad_options(arguments: list[str], here: Path, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert "usage: jointplay" in capsys.readouterr().err and names(here) == ["swing.yaml"]


# -- the other commands


def test_check_says_what_it_found(capsys):
    assert main(["check", "swing.yaml"]) == 0
    told = capsys.readouterr()
    assert "1" in told.out and "freedom" in told.out and told.err == ""
    head, arm = told.out.splitlines()[-4:-2]
    assert head.split()[1:4] == ["x/mm", "y/mm", "angle/deg"] and arm.split()[1:4] == ["500", "0", "0"]
    assert main(["check", "swing.yaml", "--set", "arm.length=3"]) == 0  # beyond a metre in m
    head, arm = capsys.readouterr().out.splitlines()[-4:-2]
    assert head.split()[1:3] == ["x/m", "y/m"] and arm.split()[1] == "1.5"


def test_check_prints_the_matrix(capsys):
    assert main(["check", "swing.yaml", "--matrix", "--set", "start.arm=90 deg"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["J1.x", "1", ".", "0.5"] in lines and ["J1.y", ".", "1", "0"] in lines


def test_schema_is_json(capsys):
    assert main(["schema"]) == 0
    assert "bodies" in json.loads(capsys.readouterr().out)["properties"]


def test_a_reader_that_has_enough_is_no_error():
    done = subprocess.run(
        f"{sys.executable} -m jointplay schema | head -c 1", shell=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "{" and done.stderr == ""


@pytest.mark.parametrize("given", ["press", "press.yaml", "my press 2", "no", "12", "prüfung's: #1"])
def test_new_writes_a_file_that_loads(given: str, here: Path, capsys):
    assert main(["new", given]) == 0
    path = Path(given if given.endswith(".yaml") else f"{given}.yaml")
    assert load(path).name == path.stem
    told = capsys.readouterr().out
    assert f"wrote {path}; next: " in told
    following = shlex.split(told.partition("next: ")[2])
    assert following == ["jointplay", "run", str(path), "--plot", str(path.with_suffix(".png"))]


def test_the_file_of_new_teaches_checks_and_runs(here: Path, capsys):
    assert main(["new", "press"]) == 0
    text = Path("press.yaml").read_text()
    for word in ("Units", "clearance", "drives", "forces", "start", "revolute", "--set", "jointplay run press.yaml"):
        assert word in text
    assert main(["check", "press.yaml"]) == 0
    assert "no warnings" in capsys.readouterr().out
    assert main(["run", "press.yaml", "--until", "2 s"]) == 0
    shown = table(capsys.readouterr().out)
    assert shown["outcome"] == "done" and shown["degrees of freedom"] == "0"
    assert main(["run", "press.yaml", "--until", "1", "--set", "motor.speed=90 rpm", "--set", "rod.mass=200 g"]) == 0


def test_what_the_file_of_new_only_mentions_works_too(here: Path, capsys):
    assert main(["new", "press"]) == 0
    text = Path("press.yaml").read_text()
    asides = re.findall(r"^  # ((\w+): \{.*\})$", text, re.MULTILINE)
    assert [name for _, name in asides] == ["J2", "wave"]
    for line, name in asides:
        text = re.sub(rf"^  {name}: .*\n", "", text, flags=re.MULTILINE).replace(f"  # {line}", f"  {line}")
    Path("press.yaml").write_text(text)
    assert main(["run", "press.yaml", "--until", "1", "--quiet"]) == 0, capsys.readouterr().err
    run = results.load("press.nc")
    assert run.attrs["degrees_of_freedom"] == 2 and "wave" in run.attrs["model"]


def test_the_loop_that_the_file_of_new_mentions_works_too(here: Path, capsys):
    assert main(["new", "press"]) == 0
    text = re.sub(r"^drives:\n.*\n", "", Path("press.yaml").read_text(), flags=re.MULTILINE)
    text = re.sub(r"^# (control:|  (?:law|coordinates|actuators): .*)$", r"\1", text, flags=re.MULTILINE)
    Path("press.yaml").write_text(text)
    assert main(["run", "press.yaml", "--until", "1", "--quiet"]) == 0, capsys.readouterr().err
    run = results.load("press.nc")
    assert 0 < float(run.error_max[0]) < 0.5 and float(run.control_max[0]) <= 20


def test_new_overwrites_only_when_forced(capsys):
    Path("press.yaml").write_text("mine")
    assert main(["new", "press"]) == 2 and Path("press.yaml").read_text() == "mine"
    assert main(["new", "press", "--force"]) == 0 and load("press.yaml").name == "press"


# -- starting


def cpu(*arguments: str) -> float:
    """CPU seconds, user and system, of one command with warm bytecode."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen([sys.executable, "-m", "jointplay", *arguments], env=environment, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["--version"]])
def test_help_is_quick(arguments: list[str]):
    cpu(*arguments)  # writes the bytecode
    assert min(cpu(*arguments) for _ in range(3)) < 0.5


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["cache"]])
def test_help_imports_nothing_heavy(arguments: list[str]):
    code = f"""
import sys
from jointplay.cli import main
try:
    main({arguments!r})
except SystemExit:
    pass
print("loaded", *sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = {name.partition(".")[0] for name in done.stdout.partition("loaded ")[2].split()}
    assert "argparse" in loaded
    assert loaded.isdisjoint(
        {"numpy", "pydantic", "yaml", "llvmlite", "scipy", "xarray", "pandas", "matplotlib", "rich"}
    )


def test_names_that_the_terminal_cannot_show(here: Path):
    Path("swing.yaml").write_text(MODEL.replace("name: swing", "name: schwingtür"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "jointplay", "run", "swing.yaml", *SHORT],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0 and "schwingt\\xfcr" in done.stdout and done.stderr == ""


def test_report_writes_a_page(here: Path, capsys):
    assert main(["run", "swing.yaml", *SHORT, "--quiet"]) == 0
    assert main(["report", "swing.nc", "-o", "page.html"]) == 0
    text = Path("page.html").read_text()
    assert capsys.readouterr().out == f"wrote page.html ({len(text.encode()) / 1000:.0f} kB); open it in a browser\n"
    assert text.startswith("<!") and "swing" in text and len(text) < 2e6
    for arguments in (
        ["none.nc"],
        ["swing.nc", "-o", "page.txt"],
        ["swing.yaml"],
        ["swing.nc", "--twin", "none.nc"],
        ["swing.nc", "--film", "swing.avi"],
    ):
        assert main(["report", *arguments]) == 2
        assert capsys.readouterr().err.startswith("jointplay: ")


def test_report_makes_a_film_or_says_why_not(here: Path, capsys, monkeypatch: pytest.MonkeyPatch):
    asked = []
    monkeypatch.setattr(
        "jointplay.report.movie", lambda run, path, twin, progress: asked.append((run.title, twin)) or path
    )
    assert main(["run", "swing.yaml", *SHORT, "--quiet"]) == 0
    assert main(["report", "swing.nc", "--film", "swing.gif"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "wrote swing.gif (0 kB)" and asked == [("swing", None)]

    def missing(*_, **__):
        raise RuntimeError("swing.mp4: .mp4 films need ffmpeg, which is not installed; install it")

    monkeypatch.setattr("jointplay.report.movie", missing)
    assert main(["report", "swing.nc", "--film", "swing.mp4"]) == 1
    assert (
        capsys.readouterr().err == "jointplay: swing.mp4: .mp4 films need ffmpeg, which is not installed; install it\n"
    )
