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
ENGINE = sorted((ROOT / "src" / "jointplay" / "engine").rglob("*.py"))
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]

HEAVY = {"numpy", "pydantic", "llvmlite", "scipy", "xarray", "matplotlib"}
MACHINE_PATH = re.compile(r"(?<![\w.])(/(home|root|work|tmp|opt|usr|var|mnt|Users)/|[A-Z]:\\)")


def lines(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())


def test_engine_is_small():
    assert ENGINE
    assert sum(lines(file) for file in ENGINE) < 2450
    assert {file.name: lines(file) for file in ENGINE if lines(file) > 400} == {}


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
