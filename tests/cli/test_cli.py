"""The command ``jointplay``, run as a user runs it."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import jointplay
from jointplay import cache
from jointplay.cli import main
from jointplay.errors import ComputationFailed, InputError


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "jointplay", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_version():
    result = run("--version")
    assert result.returncode == 0
    assert result.stdout == f"jointplay {jointplay.__version__}\n"
    assert version("jointplay") == jointplay.__version__


def test_public_names_are_listed_and_unknown_ones_refused():
    assert {"engine", "__version__"} <= set(dir(jointplay))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        jointplay.nonsense  # noqa: B018


def test_the_bare_command_prints_help():
    result = run()
    assert result.returncode == 0 and result.stderr == ""
    assert result.stdout.startswith("usage: jointplay") and "examples:" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rnu"], "unknown command 'rnu'; did you mean 'run'? (known: run, "),
        (["run", "swing", "--untill", "2"], "unknown option '--untill'; did you mean '--until'? (see jointplay run"),
        (["sweep", "swing", "--method", "sobl"], "unknown choice 'sobl'; did you mean 'sobol'?"),
    ],
)  # fmt: skip
def test_what_was_meant_is_said(arguments: list[str], said: str, capsys):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2 and said in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["nonsense"], ["cache", "--nonsense"], ["cache", "--cl"]])
def test_bad_arguments(arguments: list[str]):
    result = run(*arguments)
    assert result.returncode == 2
    assert "usage: jointplay" in result.stderr
    assert "Traceback" not in result.stderr


def listing(directory: Path) -> dict[str, str]:
    result = run("cache", JOINTPLAY_CACHE_DIR=str(directory))
    assert result.returncode == 0, result.stderr
    return dict(line.split(maxsplit=1) for line in result.stdout.splitlines())


def test_cache_of_a_new_directory(tmp_path: Path):
    shown = listing(tmp_path / "cache")
    assert shown["directory"] == str(tmp_path / "cache")
    assert shown["files"] == shown["bytes"] == "0"
    assert int(shown["limit"]) > 0

    result = run("cache", "--clear", JOINTPLAY_CACHE_DIR=str(tmp_path / "cache"))
    assert result.returncode == 0
    assert result.stdout == "deleted 0 files, 0 bytes\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [(InputError("not a size"), 2), (OSError("disk is full"), 1), (ComputationFailed("does not assemble"), 1)],
)
def test_errors_become_exit_codes(error: Exception, code: int, monkeypatch, capsys):
    def fail():
        raise error

    monkeypatch.setattr(cache, "clear", fail)
    assert main(["cache", "--clear"]) == code
    assert capsys.readouterr().err == f"jointplay: {error}\n"


def test_cache_with_real_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("JOINTPLAY_CACHE_DIR", str(tmp_path))
    for key in ("a" * 64, "b" * 64):
        cache.write(key, b"12345")
    size = sum(p.stat().st_size for p in tmp_path.iterdir())
    assert listing(tmp_path) | {"limit": ""} == {
        "directory": str(tmp_path),
        "files": "2",
        "bytes": str(size),
        "limit": "",
    }
    result = run("cache", "--clear", JOINTPLAY_CACHE_DIR=str(tmp_path))
    assert result.stdout == f"deleted 2 files, {size} bytes\n" and list(tmp_path.iterdir()) == []


def test_the_first_example_runs_from_any_directory(tmp_path: Path):
    example = Path(__file__).resolve().parents[2] / "examples" / "01_bouncing_journal.py"
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, example], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "build" / "bouncing_journal.png").exists()
