"""The built package, in clean environments outside the checkout: newest, lowest and no optional dependencies.

Three minutes of CPU where packages can be had, else skipped. JOINTPLAY_PYTHONS names more interpreters, separated by
colons; each must bring venv.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = "plot,parquet,sweep,dask"
PYTHONS = [sys.executable, *filter(None, os.environ.get("JOINTPLAY_PYTHONS", "").split(os.pathsep))]


def run(*command: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: x for name, x in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    return subprocess.run([*map(str, command)], capture_output=True, text=True, cwd=cwd, env=environment, timeout=900)


pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Directory with the wheel and the sdist; the wheel is built from the sdist, as packagers do."""
    place = tmp_path_factory.mktemp("built")
    made = run(sys.executable, "-m", "venv", place / "builder")
    got = run(place / "builder/bin/python", "-m", "pip", "install", "--quiet", "--no-compile", "build")
    if made.returncode or got.returncode:
        pytest.skip(f"packages cannot be had here: {(made.stderr + got.stderr).strip()[-200:]}")
    done = run(place / "builder/bin/python", "-m", "build", "--outdir", place / "dist", ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return place / "dist"


def installed(place: Path, python: str, *what: str | Path) -> Path:
    """The interpreter of a new environment with these packages."""
    made = run(python, "-m", "venv", place / "environment")
    assert made.returncode == 0, made.stderr
    inside = place / "environment/bin/python"
    got = run(inside, "-m", "pip", "install", "--quiet", "--no-compile", *what)  # what is imported is compiled then
    assert got.returncode == 0, got.stderr
    return inside


def smoked(place: Path, python: Path, *options: str) -> None:
    empty = place / "elsewhere"
    empty.mkdir()
    done = run(python, "-I", ROOT / "validation/smoke.py", *options, cwd=empty)
    assert done.returncode == 0, done.stdout + done.stderr


def test_sdist_and_wheel_hold_what_they_should(built):
    import tarfile
    import zipfile

    [wheel], [source] = built.glob("*.whl"), built.glob("*.tar.gz")
    names = set(zipfile.ZipFile(wheel).namelist())
    files = [path for path in (ROOT / "src/jointplay").rglob("*") if path.is_file()]
    wanted = {path.relative_to(ROOT / "src").as_posix() for path in files if "__pycache__" not in path.parts}
    assert wanted <= names and not {name for name in names if name.startswith(("tests", "docs", "validation"))}
    with tarfile.open(source) as archive:
        assert any(name.endswith("/pyproject.toml") for name in archive.getnames())


@pytest.mark.parametrize("python", PYTHONS)
def test_newest_dependencies(built, tmp_path, python):
    [wheel] = built.glob("*.whl")
    smoked(tmp_path, installed(tmp_path, python, f"{wheel}[{EXTRAS}]"))


def test_lowest_declared_dependencies(built, tmp_path):
    if sys.version_info >= (3, 13):
        pytest.skip("the lowest versions have no wheels for this Python")
    [wheel] = built.glob("*.whl")
    pinned = [line for line in (ROOT / "tests/lowest.txt").read_text().splitlines() if "==" in line]
    needed = [line for line in pinned if not line.startswith(("pytest", "hypothesis", "mpmath", "playwright"))]
    smoked(tmp_path, installed(tmp_path, sys.executable, *needed, f"{wheel}[{EXTRAS}]"))


def test_without_extras_it_says_what_is_missing(built, tmp_path):
    [source] = built.glob("*.tar.gz")
    smoked(tmp_path, installed(tmp_path, sys.executable, source), "--bare")
