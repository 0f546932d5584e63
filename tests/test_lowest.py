"""Every dependency says from which version on it is known to work, and tests/lowest.txt pins just those versions."""

import re
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent


def bounds() -> dict[str, str]:
    """The lower bound of each dependency, of the core and of the extras that tests need."""
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    listed = [
        *project["dependencies"],
        *(text for name in ("plot", "parquet", "sweep", "dask", "browser", "test") for text in extras[name]),
    ]
    found = {}
    for text in listed:
        if not text.startswith("jointplay["):
            matched = re.match(r"([A-Za-z0-9-]+)(?:\[\w+\])?>=([0-9.]+)", text)
            assert matched, f"{text}: has no lower bound"
            found[matched[1].lower()] = matched[2]
    return found


def test_lower_bounds_are_declared_and_pinned():
    lines = (HERE / "lowest.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    assert pinned.keys() == bounds().keys()
    for name, least in bounds().items():
        assert f"{pinned[name]}.0.0".startswith(f"{least}."), (name, least, pinned[name])
