"""Which room of the package may import which: each itself and those below, never those above."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "jointplay"

# From the bottom up. The names in one row are one room, and may import each other.
ROOMS: list[set[str]] = [
    {"collector", "errors", "host", "writing"},
    {"cache", "parallel", "own"},
    {"engine"},
    {"numerics"},
    {"run", "words"},
    {"laws"},
    {"parts"},
    {"elements"},
    {"model"},
    {"physics"},
    {"system", "structure", "traces"},
    {"simulation", "statics", "results", "series", "crossings", "recognition", "audit"},
    {"comparison", "analysis", "studies", "balancing"},
    {"papers"},
    {"cli", "studio", "report", "plots"},
]
LEVEL = {name: level for level, names in enumerate(ROOMS) for name in names}

# Modules outside the rooms. They stand above all of them; __init__ may name only _version.
ROOT_MODULES = {"__init__", "__main__", "_version"}

# What a room may import from outside the package, beyond the standard library. Not listed: anything.
THIRD_PARTY: dict[str, set[str]] = {
    "errors": set(),
    "host": set(),
    "collector": set(),
    "writing": set(),
    "cache": set(),
    "parallel": set(),
    "own": set(),
    "engine": {"numpy", "llvmlite"},
    "numerics": {"numpy"},
    "run": {"numpy"},
    "words": {"numpy"},
    "cli": {"rich"},
    "__init__": set(),
    "__main__": set(),
    "_version": set(),
}


def imported(source: str, package: str) -> Iterator[str]:
    """The dotted names that a module of the given package imports, wherever in its text."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            if module == "jointplay":  # from jointplay import engine
                yield from (f"jointplay.{alias.name}" for alias in node.names)
            else:
                yield module


def allowed(room: str, name: str) -> bool:
    """Whether a module in the room may import the dotted name."""
    top, _, rest = name.partition(".")
    if top != "jointplay":
        return top in sys.stdlib_module_names or room not in THIRD_PARTY or top in THIRD_PARTY[room]
    target = rest.partition(".")[0]
    if target in ("_version", "__version__"):
        return room != "engine"
    if room == "__main__":
        return target == "cli"
    # Inside the package, names come from their rooms and not from the lazy list of jointplay itself.
    return room in LEVEL and target in LEVEL and LEVEL[target] <= LEVEL[room]


def modules() -> list[tuple[str, Path]]:
    """Every source file with the name of its room."""
    files = sorted(SOURCE.rglob("*.py"))
    return [(file.relative_to(SOURCE).parts[0].removesuffix(".py"), file) for file in files]


def test_every_module_is_in_a_room():
    assert {room for room, _ in modules()} <= LEVEL.keys() | ROOT_MODULES
    assert "engine" in {room for room, _ in modules()}


@pytest.mark.parametrize(
    ("room", "file"), [pytest.param(r, f, id=f.relative_to(SOURCE).as_posix()) for r, f in modules()]
)
def test_imports_go_down(room: str, file: Path):
    package = ".".join(("jointplay", *file.relative_to(SOURCE).parent.parts))
    bad = [name for name in imported(file.read_text(encoding="utf-8"), package) if not allowed(room, name)]
    assert not bad, f"{room} may not import {', '.join(bad)}"


@pytest.mark.parametrize(
    ("room", "package", "line", "fine"),
    [
        ("engine", "jointplay.engine", "import numpy as np, ctypes", True),
        ("engine", "jointplay.engine", "from . import cache", True),
        ("engine", "jointplay.engine", "from .cache import clear", True),
        ("engine", "jointplay.engine", "from llvmlite import binding", True),
        ("engine", "jointplay.engine", "import scipy.linalg", False),
        ("engine", "jointplay.engine", "from .. import laws", False),
        ("engine", "jointplay.engine", "from ..laws import friction", False),
        ("engine", "jointplay.engine", "from jointplay import laws", False),
        ("engine", "jointplay.engine", "import jointplay", False),
        ("engine", "jointplay.engine", "def f():\n    import jointplay.model", False),
        ("system", "jointplay", "from jointplay.laws import friction", True),
        ("system", "jointplay", "from jointplay.simulation import run", False),
        ("statics", "jointplay", "from jointplay import results", True),
        ("cli", "jointplay", "from jointplay import __version__", True),
        ("cli", "jointplay", "import numpy", False),
        ("__init__", "jointplay", "from jointplay import engine", False),
    ],
)
def test_the_check_itself(room: str, package: str, line: str, fine: bool):
    assert all(allowed(room, name) for name in imported(line, package)) is fine
