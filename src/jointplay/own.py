"""Python files of the user's own: kinds of joint, drive and force, and laws, that a process must know before it reads
models which use them.  They are loaded because somebody says so, never because a model asks for them."""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType

from .errors import InputError

LOADED: dict[str, ModuleType] = {}  # by the real path of the file


def load(file: str | os.PathLike[str]) -> ModuleType:
    """Run a Python file once in this process, so that what it defines is known; a ValueError says what is wrong."""
    path, given = Path(os.path.realpath(file)), f"--with {os.fspath(file)}"
    if str(path) in LOADED:
        return LOADED[str(path)]
    if not path.is_file():
        raise InputError(f"{given}: no such file; give a Python file that defines kinds or laws")
    name = path.stem
    if not name.isidentifier() or name in sys.modules or importlib.util.find_spec(name) is not None:
        name = f"own_{''.join(c if c.isalnum() else '_' for c in path.stem)}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{given}: is not a Python file; its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # classes and functions are found by their module when they travel between processes
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        line = error.lineno if isinstance(error, SyntaxError) else line_in(error, str(path))
        place = f"{given}:{line}" if line else given
        raise InputError(f"{place}: {type(error).__name__}: {error}") from error
    LOADED[str(path)] = module
    return module


def line_in(error: BaseException, file: str) -> int | None:
    """The line of a file in which an error arose, the innermost one; None if it did not come through the file."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == file), None)


def told(error: BaseException) -> str | None:
    """An error that arose in a text of a loaded file, with its place; None if it is not the file's."""
    places = ((file, line_in(error, file)) for file in LOADED)
    found = next(((file, line) for file, line in places if line), None)
    return f"{found[0]}:{found[1]}: {type(error).__name__}: {error}" if found else None


def files() -> list[str]:
    """The files that are loaded, for other processes to load too."""
    return list(LOADED)
