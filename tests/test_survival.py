"""What happens to files, signals, disks and caches in a hard world; the slow half is validation/test_survival.py."""

import contextlib
import itertools
import os
import pickle
import resource
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import jointplay as jp
from jointplay import cache, results, statics, writing
from jointplay.cli import BUG, main
from jointplay.errors import ComputationFailed, InputError
from jointplay.model import Revolute, bar, motions
from jointplay.model.forces import RateDrive

NOBODY = 65534
AS_ROOT = os.geteuid() == 0


@pytest.fixture(scope="module")
def run():
    """A short run of a pendulum."""
    return jp.simulate(jp.library.pendulum(), 0.2)


def started(*arguments: str, cwd: Path, **options) -> subprocess.Popen:
    """The command, as a process of its own, after it has begun to listen to signals."""
    command = [sys.executable, "-m", "jointplay", *arguments]
    child = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    listens = 1 << (signal.SIGTERM - 1)
    while child.poll() is None:
        status = Path(f"/proc/{child.pid}/status").read_text()
        caught = next((line for line in status.splitlines() if line.startswith("SigCgt")), "SigCgt 0")
        if int(caught.split()[1], 16) & listens:
            break
        time.sleep(0.005)
    return child


# -- signals
STOPS = """
import sys
from jointplay import cli
from jointplay.cli import commands

def stop(arguments):
    exec("raise KeyboardInterrupt")  # as dataclasses do while a module is imported

commands.library = stop
sys.exit(cli.main(["library"]))
"""


def test_an_interrupt_while_modules_are_imported_ends_with_the_exit_code_of_the_command(tmp_path):
    (tmp_path / "stops.py").write_text(STOPS)
    done = subprocess.run([sys.executable, "-m", "stops"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (1, "jointplay: interrupted\n")


# -- files
def small_disk() -> None:
    """No file of this process may grow beyond 20 kB, as on a disk that is full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


@pytest.mark.parametrize("suffix", [".nc", ".csv", ".parquet"])
def test_a_full_disk_is_told_in_one_line_and_spares_the_old_file(tmp_path, suffix):
    target = tmp_path / f"out{suffix}"
    target.write_text("as it was")
    child = started("run", "pendulum", "--until", "1", "-o", str(target), cwd=tmp_path, preexec_fn=small_disk)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 1, err
    assert err.startswith("jointplay: ") and err.count("\n") == 1 and "large" in err and target.name in err
    assert [p.name for p in tmp_path.iterdir()] == [target.name] and target.read_text() == "as it was"


@pytest.mark.parametrize("suffix", [".nc", ".csv", ".html", ".png", ".yaml"])
def test_a_link_is_followed(tmp_path, run, suffix):
    elsewhere = tmp_path / "disk"
    elsewhere.mkdir()
    link = tmp_path / f"out{suffix}"
    link.symlink_to(elsewhere / f"real{suffix}")
    if suffix in results.SUFFIXES:
        results.save(run, link)
    elif suffix == ".html":
        run.jp.report(link)
    elif suffix == ".png":
        jp.plots.save(jp.plots.motion(run), link)
    else:
        jp.save(jp.library.pendulum(), link)
    assert link.is_symlink() and (elsewhere / f"real{suffix}").stat().st_size > 100
    assert len(list(elsewhere.iterdir())) == 1


def test_what_killed_processes_left_is_removed_and_what_others_write_is_not(tmp_path, run):
    (tmp_path / ".run.nc.4711.tmp").write_text("left by somebody who was killed")
    (tmp_path / ".other.nc.4711.tmp").write_text("of another file")
    with writing._temporary(tmp_path / "run.nc") as (busy, _):
        results.save(run, tmp_path / "run.nc")
        assert busy.exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == [".other.nc.4711.tmp", "run.nc"]


def test_a_result_can_be_read_from_the_moment_it_has_its_name(tmp_path, run, monkeypatch):
    read = []
    monkeypatch.setattr("jointplay.host.settle", lambda directory: read.append(results.load(directory / "run.nc")))
    results.save(run, tmp_path / "run.nc")
    assert len(read) == 1 and read[0].sizes == run.sizes


def test_ctrl_c_while_a_result_is_written_waits_for_it_and_is_not_lost(tmp_path, run, monkeypatch):
    """h5py lets go of its objects in callbacks, in which Python drops an interrupt: it must not come there."""
    dump = type(run).dump_to_store

    def interrupted(*args, **options):
        signal.raise_signal(signal.SIGINT)
        return dump(*args, **options)

    monkeypatch.setattr(type(run), "dump_to_store", interrupted)
    with pytest.raises(KeyboardInterrupt):
        results.save(run, tmp_path / "run.nc")
    assert results.load(tmp_path / "run.nc").sizes == run.sizes


def test_a_file_keeps_its_permissions_and_a_new_one_gets_the_usual_ones(tmp_path):
    writing.write(tmp_path / "new", b"1")
    (tmp_path / "usual").write_bytes(b"1")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode
    (tmp_path / "new").chmod(0o640)
    writing.write(tmp_path / "new", [b"2", b"3"])
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640 and (tmp_path / "new").read_bytes() == b"23"


def test_two_writers_leave_one_whole_file(tmp_path):
    def write(letter: bytes) -> None:
        for _ in range(30):
            writing.write(tmp_path / "both", [letter * 1000] * 100)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in (b"a", b"b")]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        with contextlib.suppress(FileNotFoundError):
            assert (tmp_path / "both").read_bytes() in (b"a" * 100_000, b"b" * 100_000)
    assert [p.name for p in tmp_path.iterdir()] == ["both"]


@pytest.mark.skipif(not AS_ROOT, reason="only root can be somebody else")
def test_a_directory_that_cannot_be_written_to_is_refused_before_computing(tmp_path):
    tmp_path.chmod(0o755)
    code = f"""
import os, sys
os.setgid({NOBODY}); os.setuid({NOBODY})
from jointplay.cli import main
sys.exit(main(["run", "pendulum", "-o", {str(tmp_path / "x.nc")!r}]))
"""
    environment = {**os.environ, "JOINTPLAY_CACHE_DIR": "/nowhere/at/all", "PYTHONDONTWRITEBYTECODE": "1"}
    child = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    if "ModuleNotFoundError" in child.stderr:
        pytest.skip("the package lies where only root can read it")
    assert (child.returncode, child.stderr.count("\n")) == (2, 1), child.stderr
    assert "cannot write to the directory" in child.stderr and not list(tmp_path.iterdir())


# -- signals
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("wait", [0.0, 1.0])
def test_a_signal_keeps_what_was_computed_also_in_the_first_second(tmp_path, number, wait):
    child = started("run", "pendulum", "--until", "1e6", "--step", "1 ms", "-o", "kept.nc", cwd=tmp_path)
    time.sleep(wait)
    child.send_signal(number)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 1 and err.count("\n") == 1, err
    assert "interrupted at t = " in err and "what was computed is in kept.nc" in err
    kept = results.load(tmp_path / "kept.nc")
    assert kept.outcome == "interrupted" and kept.sizes["time"] >= 1
    assert [p.name for p in tmp_path.iterdir()] == ["kept.nc"]


def test_a_background_job_of_a_shell_hears_sigterm_though_not_ctrl_c(tmp_path):
    """Shells start background jobs with SIGINT ignored."""
    ignored = lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)  # noqa: E731
    child = started(
        "run", "pendulum", "--until", "1e6", "--step", "1 ms", "-o", "x.nc", cwd=tmp_path, preexec_fn=ignored
    )
    child.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert child.poll() is None
    child.send_signal(signal.SIGTERM)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 1 and "what was computed is in x.nc" in err


@pytest.mark.parametrize("until", ["1e30", "2e9"])
def test_times_beyond_all_bounds_are_refused(until, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "pendulum", "--until", until]) == 2
    assert "--until" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["crank_rocker_2016", "--set", "J2.clearance=1 mm", "--until", "1e6", "--order", "1"], "--until"),
        (["pendulum", "--every", "1e-6"], "--every"),  # 1e7 samples
    ],
)
def test_more_than_there_is_room_for_is_refused(arguments, named, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["run", *arguments]) == 2
    assert f"{named}: " in capsys.readouterr().err and not list(tmp_path.iterdir())


# -- the cache
@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("JOINTPLAY_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_cache_is_for_this_user_alone(own_cache):
    cache.write("key", b"code")
    assert stat.S_IMODE(own_cache.stat().st_mode) == 0o700
    assert stat.S_IMODE(cache.entries()[0].stat().st_mode) == 0o600
    assert cache.read("key") == b"code" and cache.refused() == ""


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_cache_that_others_can_write_to_is_not_used(own_cache, mode, capsys):
    cache.write("key", b"code")
    own_cache.chmod(mode)
    assert cache.read("key") is None and "chmod go-w" in cache.refused()
    cache.write("other", b"code")
    assert [p.stem for p in cache.entries()] == ["key"]
    assert main(["cache"]) == 0 and "others can write to it" in capsys.readouterr().out


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_to_is_not_loaded(own_cache, mode):
    cache.write("key", b"code")
    cache.entries()[0].chmod(mode)
    assert cache.read("key") is None
    cache.write("key", b"code")
    assert cache.read("key") == b"code"


def test_a_link_in_the_cache_is_not_followed(own_cache, tmp_path):
    cache.write("key", b"code")
    [entry] = cache.entries()
    entry.rename(tmp_path / "elsewhere")
    entry.symlink_to(tmp_path / "elsewhere")
    assert cache.read("key") is None
    cache.write("key", b"code")
    assert not entry.is_symlink() and cache.read("key") == b"code"


@pytest.mark.skipif(not AS_ROOT, reason="only root can give files away")
def test_what_another_user_put_there_is_not_loaded(own_cache):
    cache.write("key", b"code")
    os.chown(cache.entries()[0], NOBODY, NOBODY)
    assert cache.read("key") is None
    cache.write("key", b"code")
    assert cache.read("key") == b"code"
    os.chown(own_cache, NOBODY, NOBODY)
    assert cache.read("key") is None and "another user" in cache.refused()


def test_without_a_home_there_is_no_cache_but_machine_code(tmp_path):
    code = """
import pathlib
def homeless(): raise RuntimeError("Could not determine home directory.")
pathlib.Path.home = homeless
import jointplay as jp, jointplay.cache as cache
from jointplay.run import wants_eager
run = jp.simulate(jp.library.pendulum(), 0.01)
print(cache.directory(), wants_eager(), cache.entries(), cache.clear(), run.outcome)
"""
    lean = {k: v for k, v in os.environ.items() if k not in ("JOINTPLAY_CACHE_DIR", "XDG_CACHE_HOME", "HOME")}
    child = subprocess.run([sys.executable, "-c", code], env=lean, capture_output=True, text=True, timeout=60)
    assert child.stdout == "None False [] (0, 0) done\n" and child.stderr == "", child.stderr


def test_leftovers_in_the_cache_are_removed(own_cache):
    cache.write("key", b"code")
    for name in ("tmpabc.tmp", ".key.jpo.123.tmp"):
        (own_cache / name).write_bytes(b"left by somebody who was killed")
    cache._room.clear()  # as in another process
    cache.write("other", b"code")
    assert sorted(p.suffix for p in own_cache.iterdir()) == [".jpo", ".jpo"]
    (own_cache / "tmpabc.tmp").write_bytes(b"left")
    assert cache.clear()[0] == 2 and list(own_cache.iterdir()) == []


# -- errors
@pytest.mark.parametrize("debug", [False, True])
def test_a_bug_is_told_as_one_and_kept_in_a_file(monkeypatch, capsys, tmp_path, debug):
    def broken():
        return {}["nothing"]

    monkeypatch.setattr(cache, "clear", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["cache", "--clear", *(["--debug"] if debug else [])]) == BUG
    err = capsys.readouterr().err
    assert "a bug in jointplay, not in your input (KeyError: 'nothing')" in err
    assert ("Traceback" in err) is debug
    [kept] = tmp_path.glob("jointplay-bug-*.txt")
    assert str(kept) in err and "in broken" in kept.read_text() and "numpy" in kept.read_text()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("x"), 2),
        (ComputationFailed("start: said so, but it is not the text that decides"), 1),
        (ValueError("shapes (3,) and (4,) not aligned"), 3),
        (OSError(28, "No space left on device"), 1),
        (MemoryError(), 1),
        (RuntimeError("x"), 3),
    ],
)
def test_the_type_of_an_error_decides_the_exit_code(error, code, monkeypatch, capsys, tmp_path):
    def fail():
        raise error

    monkeypatch.setattr(cache, "clear", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["--debug", "cache", "--clear"]) == code
    assert "Traceback" in capsys.readouterr().err


# -- what travels between processes
def test_results_and_errors_can_be_pickled(run):
    assert pickle.loads(pickle.dumps(run)).identical(run)
    for error in (InputError("a"), ComputationFailed("b"), jp.model.ModelError("c")):
        assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_failed_run_can_be_pickled():
    """In a process of its own: some libraries, once imported, teach pickle about errors of all kinds."""
    code = """
import pickle
from jointplay.simulation.outcome import Outcome, SimulationFailed
failed = SimulationFailed(Outcome("near singular", "near singular at t = 1 s", 1.0), None)
again = pickle.loads(pickle.dumps(failed))
assert again.outcome == failed.outcome and again.result is None and str(again) == str(failed)
"""
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert child.returncode == 0, child.stderr


# -- check is quick
def turning(motion) -> jp.Mechanism:
    return jp.Mechanism(
        name="bar",
        ground={"points": {"O": (0, 0)}},
        bodies={"crank": bar(0.1, mass=0.5)},
        joints={"J1": Revolute(between=("ground.O", "crank.start"))},
        drives={"motor": RateDrive(of="crank", motion=motion)},
    )


MOTIONS = {
    "constant": motions.Constant(value=2.0),
    "speeding up": jp.constant_speed(3.0, 1.0),
    "sine": jp.sine(2.0, 5.0, 0.3, 0.7),
    "slow sine": jp.sine(2.0, 1e-9, 0.5),
    "polynomial": jp.polynomial(1.0, 2.0, 3.0),
    "cycloidal": jp.cycloidal(4.0, 1.0, start=1.0, begin=0.5),
    "periodic": jp.table([0, 0.1, 0.2, 0.3], [1, 5, 2, 1], "periodic"),
    "held": jp.table([0, 0.5, 1.5], [1, 5, 2], "held"),
    "clamped": jp.table([0, 0.5, 1.5], [1, 5, 2]),
    "sum": jp.total(jp.sine(2.0, 5.0), jp.table([0, 0.1, 0.2, 0.3], [1, 5, 2, 1], "periodic"), 1.0),
}


@pytest.mark.parametrize("kind", MOTIONS)
@pytest.mark.parametrize(("a", "b"), [(-0.7, 2.3), (0.0, 0.05), (1.2, 0.3)])
def test_integrals_of_motions_are_those_of_quadrature(kind, a, b):
    motion = MOTIONS[kind]
    knots = np.clip(np.linspace(-1.0, 3.0, 41), min(a, b), max(a, b))  # where pieces meet
    nodes, weights = np.polynomial.legendre.leggauss(12)
    pieces = []
    for low, high in itertools.pairwise(knots):
        places = (low + high + nodes * (high - low)) / 2
        pieces.append((high - low) / 2 * float(weights @ [motion(t) for t in places]))
    assert motion.integral(a, b) == pytest.approx(sum(pieces) * (1 if b > a else -1), rel=1e-11, abs=1e-12)


@pytest.mark.parametrize(
    "motion",
    [
        MOTIONS["periodic"],
        jp.table([0, 0.1, 0.2, 0.3], [1, 5000, 2, 1], "periodic"),
        jp.polynomial(0.0, 0.0, 0.0, 1e5),
        jp.sine(300.0, 1250.0),
    ],
)
def test_check_of_a_rate_drive_is_bounded(motion):
    calls, found = called(lambda: jp.check(turning(motion)))
    assert calls < 400_000  # of Python's functions, in half a second; it was a hundred times as many
    assert "assembles throughout" in found.drives
    assert not [text for text in found.warnings if "cubic spline" not in text]


def test_check_of_many_free_bodies_is_quick_and_says_what_it_said(monkeypatch):
    start = {"b0": 0.1, "b1.x": 2.0, "b1.rate": 3.0, "b2.y.rate": 4.0}
    ground = {"points": {"O": (0, 0)}}
    few = jp.Mechanism(name="few", ground=ground, bodies={f"b{i}": bar(0.1, mass=1.0) for i in range(3)}, start=start)
    found, whole = jp.check(few), jp.check(jp.System(few))
    assert found.text() == whole.text()
    tied = few.replace(joints={"J": Revolute(between=("ground.O", "b1.start"))}, start={"b2": 0.3, "b0.x": 1.0})
    assert jp.check(tied).text() == jp.check(jp.System(tied)).text()
    many = few.replace(bodies={f"b{i}": bar(0.1, mass=1.0) for i in range(300)})
    ends = ("", ".x", ".y", ".rate", ".x.rate", ".y.rate")
    placed = many.replace(start={f"b{i}{end}": float(i) for i in range(300) for end in ends})
    asked = [0]  # rows of the matrices that were factored
    for name in ("lstsq", "svd", "qr", "solve"):
        real = getattr(np.linalg, name)
        monkeypatch.setattr(np.linalg, name, lambda a, *b, real=real, **c: (asked.append(len(a)), real(a, *b, **c))[1])
    for mechanism in (many, placed):
        calls, found = called(lambda mechanism=mechanism: jp.check(mechanism))
        assert found.degrees == 900 and calls < 300_000
    q, v = statics.start(jp.System(placed))  # which the command asks for too
    assert q[::3].tolist() == v[::3].tolist() == v[2::3].tolist() == list(range(300))
    assert max(asked) < 10  # they do not know of each other; 900 took three seconds


def called(work):
    """How many of Python's functions are called, which says how long something takes whatever the machine does."""
    counts = {"call": 0}
    sys.setprofile(lambda frame, event, more: counts.update({event: counts.get(event, 0) + 1}))
    try:
        found = work()
    finally:
        sys.setprofile(None)
    return counts["call"], found
