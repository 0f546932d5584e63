"""The slow half of tests/test_survival.py: signals at random moments, and every alteration of a result."""

import functools
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import jointplay as jp
from jointplay import papers, results
from jointplay.papers.working import recall, rows_of
from tests.alterations import alterations
from tests.browser import runs
from tests.test_altered_results import bouncing, shown
from tests.test_survival import started

SEED = int(os.environ.get("JOINTPLAY_SEED", "20261116"))
MOMENTS = 20
SIMULATES = """
import signal, sys
import jointplay as jp
signal.signal(signal.SIGTERM, signal.SIG_DFL)
run = jp.simulate(jp.library.pendulum(), 0.5, strict=True)
while True:
    jp.results.save(run, "saved.nc")
"""


def whole(directory: Path) -> list[str]:
    """The names of the results in a directory, each of which can be read; temporary files are not among them."""
    names = sorted(p.name for p in directory.iterdir() if not p.name.endswith(".tmp"))
    for name in names:
        if name.endswith(".nc"):
            assert results.load(directory / name).sizes["time"] > 0
        elif name.endswith(".html"):
            assert (directory / name).read_text().rstrip().endswith("</html>")
    return names


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_run_survives_signals_at_random_moments(number, tmp_path):
    """The last result is there whatever happens; SIGTERM and Ctrl-C leave a newer one, and say so in one line."""
    chance = random.Random(SEED + number)
    results.save(jp.simulate(jp.library.pendulum(), 0.1), tmp_path / "run.nc")
    for _ in range(MOMENTS):
        child = started("run", "slider_crank", "--until", "3", "-o", "run.nc", "--quiet", cwd=tmp_path)
        time.sleep(chance.uniform(0.0, 0.8))
        child.send_signal(number)
        _, err = child.communicate(timeout=60)
        assert whole(tmp_path) == ["run.nc"]
        if number == signal.SIGKILL:
            continue
        lines = err.splitlines()
        assert child.returncode in (0, 1) and len(lines) <= 1, err
        if child.returncode == 1:
            assert "what was computed is in run.nc" in err
            assert results.load(tmp_path / "run.nc").outcome == "interrupted"
    subprocess.run([sys.executable, "-m", "jointplay", "run", "pendulum", "-o", "run.nc", "--quiet"], cwd=tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]  # what the killed ones left is gone


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_reports_survive_signals_at_random_moments(number, tmp_path):
    chance = random.Random(SEED + number)
    results.save(jp.simulate(jp.library.slider_crank(), 0.5), tmp_path / "run.nc")
    for _ in range(MOMENTS):
        child = started("report", "run.nc", cwd=tmp_path)
        time.sleep(chance.uniform(0.0, 0.8))
        child.send_signal(number)
        _, err = child.communicate(timeout=60)
        assert set(whole(tmp_path)) <= {"run.nc", "run.html"}
        if number != signal.SIGKILL:
            assert child.returncode == 0 or (child.returncode == 1 and err == "jointplay: interrupted\n"), err


@functools.cache
def undisturbed() -> list[dict[str, Any]]:
    """The records of a study that nobody disturbs."""
    return [record.as_dict() for record in papers.STUDIES["grigore"].records(workers=1)]


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_reproduce_survives_signals_at_random_moments(number, tmp_path, monkeypatch):
    """Rows that are kept stay, whole, and the same command goes on from there to what it gives undisturbed."""
    monkeypatch.setenv("JOINTPLAY_CACHE_DIR", str(tmp_path / "cache"))
    chance, command, kept = random.Random(SEED + number), ("reproduce", "grigore", "--json"), 0
    for _ in range(MOMENTS):
        child = started(*command, cwd=tmp_path)
        time.sleep(chance.uniform(0.0, 1.2))
        child.send_signal(number)
        _, err = child.communicate(timeout=120)
        before, kept = kept, sum(map(bool, map(recall, rows_of("grigore", {}))))
        assert kept >= before
        if number != signal.SIGKILL:
            assert child.returncode in (0, 1) and len(err.splitlines()) <= 1, err
            assert child.returncode == 0 or "interrupted" in err
    done = subprocess.run([sys.executable, "-m", "jointplay", *command], capture_output=True, check=True)
    assert json.loads(done.stdout) == undisturbed()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_simulate_and_save_survive_signals_at_random_moments(number, tmp_path):
    """A script that does nothing but save: whenever it ends, the file is whole; two such write the same file."""
    chance = random.Random(SEED + number)
    for _ in range(MOMENTS // 4):
        children = [
            subprocess.Popen([sys.executable, "-c", SIMULATES], cwd=tmp_path, stderr=subprocess.DEVNULL) for _ in "ab"
        ]
        while not (tmp_path / "saved.nc").exists():
            time.sleep(0.02)
        for child in children:
            for _ in range(2):
                time.sleep(chance.uniform(0.0, 0.1))
                assert whole(tmp_path) == ["saved.nc"]
            child.send_signal(number)
        assert [child.wait(timeout=60) for child in children] != [0, 0]
        assert whole(tmp_path) == ["saved.nc"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_cache_survives_signals_at_random_moments(number, tmp_path, monkeypatch):
    """Machine code of processes that were killed while they compiled and stored is never wrong, and nothing is left."""
    monkeypatch.setenv("JOINTPLAY_CACHE_DIR", str(tmp_path / "cache"))
    chance = random.Random(SEED + number)
    command = [sys.executable, "-m", "jointplay", "run", "slider_crank", "--until", "0.1", "-o", "r.nc", "--quiet"]
    for _ in range(MOMENTS // 2):
        child = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.2, 1.2))
        child.send_signal(number)
        child.wait(timeout=60)
    subprocess.run(command, cwd=tmp_path, check=True)
    found = results.load(tmp_path / "r.nc")
    assert found.drop_attrs().equals(jp.simulate(jp.library.slider_crank(), 0.1).drop_attrs())
    assert {p.suffix for p in (tmp_path / "cache").iterdir()} == {".jpo"}


@pytest.mark.parametrize("make", [bouncing, runs.cart, runs.slider])
def test_no_alteration_at_all_ends_in_a_traceback(make, tmp_path):
    run = make()
    run = run.isel(time=slice(None, None, max(1, run.sizes["time"] // 50)))
    changes = random.Random(SEED).sample(list(alterations(run)), 30)
    shown(run, changes, tmp_path / "run.nc", thorough=True)
