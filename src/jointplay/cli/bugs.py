"""What is said of an error that the package did not mean to raise: that it is a bug, and where its story is."""

from __future__ import annotations

import platform
import sys
import tempfile
import traceback
from importlib import metadata

from jointplay._version import __version__

LIBRARIES = ("numpy", "scipy", "xarray", "h5netcdf", "h5py", "pydantic", "pyyaml", "llvmlite", "rich", "matplotlib")


def story(error: BaseException) -> str:
    """All that is needed to find a bug: versions, what was typed, and the traceback."""
    lines = [f"jointplay {__version__}, Python {platform.python_version()}, {platform.platform()}"]
    for name in LIBRARIES:
        try:
            lines.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            lines.append(f"{name} is not installed")
    lines += [f"arguments: {sys.argv[1:]!r}", "", *traceback.format_exception(error)]
    return "\n".join(lines)


def report(error: BaseException) -> str:
    """Keep the story of a bug in a file; gives what to tell the user."""
    reason = (str(error).splitlines() or [""])[0]
    what = f"{type(error).__name__}: {reason}" if reason else type(error).__name__
    said = f"this is a bug in jointplay, not in your input ({what})"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="jointplay-bug-", suffix=".txt", encoding="utf-8", errors="backslashreplace", delete=False
        ) as file:
            file.write(story(error))
    except OSError:
        return f"{said}\nplease report it with what --debug shows and the files that you gave"
    return f"{said}\nplease report it with {file.name} and the files that you gave; --debug shows the traceback here"
