"""The public names: what ``import jointplay as jp`` offers, and what it does not load."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import jointplay

NAMES = [name for name in jointplay.__all__ if name != "__version__"]
MODULES = {"analysis", "balancing", "control", "engine", "library", "model", "plots", "report", "results", "studies"}
HEAVY = ["numpy", "pydantic", "llvmlite", "scipy", "xarray", "pandas", "matplotlib", "yaml", "rich", "zarr", "dask"]


def fresh(code: str) -> object:
    """What a new interpreter prints as JSON."""
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return json.loads(child.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_resolves_and_says_what_it_is(name):
    value = getattr(jointplay, name)
    assert getattr(jointplay, name) is value
    assert inspect.ismodule(value) is (name in MODULES)
    sentence = inspect.cleandoc(value.__doc__ or "").partition("\n\n")[0]
    assert re.search(r"[.)]$", sentence) and len(sentence) > 10, sentence


def test_names_are_listed_and_told():
    assert set(NAMES) <= set(dir(jointplay))
    told = set(re.findall(r"\w+", jointplay.__doc__))
    assert [name for name in NAMES if name not in told] == []
    assert len(NAMES) < 60


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        jointplay.simulat  # noqa: B018
    with pytest.raises(ImportError):
        from jointplay import nothing  # noqa: F401


def test_importing_loads_nothing_heavy():
    code = f"import jointplay, json, sys; dir(jointplay); print(json.dumps([x for x in {HEAVY} if x in sys.modules]))"
    assert fresh(code) == []


def test_describing_loads_no_library_of_results():
    code = "import jointplay as jp, json, sys; jp.library.four_bar(); jp.System; jp.simulate;"
    late = ["scipy", "xarray", "pandas", "matplotlib", "llvmlite", "rich"]
    loaded = fresh(f"{code} print(json.dumps([x for x in {late} if x in sys.modules]))")
    assert set(loaded) <= {"llvmlite"}


def test_names_do_not_depend_on_what_was_imported_before():
    code = """
import jointplay.simulation, jointplay.statics, jointplay.papers.grigore, jointplay.model.library, jointplay.results
import json, jointplay as jp
print(json.dumps([type(jp.simulate).__name__, type(jp.check).__name__, jp.library.__name__, jp.results.__name__]))
"""
    assert fresh(code) == ["function", "function", "jointplay.model.library", "jointplay.results"]


def test_every_example_uses_public_names_only():
    examples = Path(__file__).resolve().parent.parent / "examples"
    for example in sorted(examples.glob("0[2-9]*.py")):
        imported = re.findall(r"^(?:from|import) (jointplay[\w.]*)", example.read_text(encoding="utf-8"), re.MULTILINE)
        assert imported == ["jointplay"], example.name
