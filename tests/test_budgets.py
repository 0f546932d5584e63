"""Limits on size, on the cost of importing, and on what the documents may say."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "jointplay"
ENGINE = sorted((ROOT / "src" / "jointplay" / "engine").rglob("*.py"))
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]

# Files that are longer than 400 lines, and how many functions are longer than 40: both shall shrink, none may grow.
LONG_FILES: dict[str, int] = {}
LONG_FUNCTIONS, LONGEST_FUNCTION = 35, 79

HEAVY = {"numpy", "pydantic", "llvmlite", "scipy", "xarray", "matplotlib"}
MACHINE_PATH = re.compile(r"(?<![\w.])(/(home|root|work|tmp|opt|usr|var|mnt|Users)/|[A-Z]:\\)")


def lines(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())


def test_engine_is_small():
    assert ENGINE
    assert sum(lines(file) for file in ENGINE) <= 2560
    assert {file.name: lines(file) for file in ENGINE if lines(file) > 400} == {}


def test_files_are_short():
    """At most 400 lines; what is listed above may only shrink, and leaves the list when it is short enough."""
    long = {f.relative_to(SOURCE).as_posix(): lines(f) for f in SOURCE.rglob("*.py") if lines(f) > 400}
    assert {name: n for name, n in long.items() if n > LONG_FILES.get(name, 400)} == {}
    assert {name for name in LONG_FILES if name not in long} == set(), "shorter now: take it off the list"


def test_functions_fit_on_a_screen():
    """So many functions of more than 40 lines, docstring included, and no more; split one before adding one."""
    long = []
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= 40:
                long.append((node.end_lineno - node.lineno + 1, file.relative_to(SOURCE).as_posix(), node.name))
    long.sort(reverse=True)
    assert long[0][0] <= LONGEST_FUNCTION and len(long) <= LONG_FUNCTIONS, long


def test_engine_is_documented():
    missing = [
        f"{file.name}: {node.name}"
        for file in ENGINE
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert missing == []


def fresh_import(module: str) -> tuple[float, set[str]]:
    """Import the module in a new interpreter: CPU seconds of that whole process, and what it loaded."""
    code = f"import {module}, json, sys, time; print(json.dumps([time.process_time(), list(sys.modules)]))"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    child = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    seconds, loaded = json.loads(child.stdout)
    return seconds, {name.partition(".")[0] for name in loaded}


@pytest.mark.parametrize("module", ["jointplay", "jointplay.cli", "jointplay.cache"])
def test_import_loads_nothing_heavy(module: str):
    assert fresh_import(module)[1] & HEAVY == set()


def test_import_is_quick():
    fresh_import("jointplay")  # writes the bytecode
    assert min(fresh_import("jointplay")[0] for _ in range(5)) < 0.1


def test_readme_names_the_two_commands():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme
    assert "make test" in readme


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_documents_name_no_machine_path(file: Path):
    assert MACHINE_PATH.findall(file.read_text(encoding="utf-8")) == []
