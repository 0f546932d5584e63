"""Traces kept between processes, by all that they depend on: structure, stepper, and the source of this package.

Machine code that is there already needs no trace, only its outline: plain data, in the folder of machine code and
under its rules.  What comes from outside the package (a law, a motion, a stepper of one's own) may change without a
sign that could be seen here, so programs with it are traced in every process.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from . import cache
from ._version import __version__
from .engine.blocks import Cell
from .engine.outline import Outline, outline
from .engine.program import Program, declare, trace
from .structure import Same

HERE = Path(__file__).parent
ROOMS = ("engine", "numerics", "laws", "parts", "elements", "model", "physics")
PLAIN = (str, int, float, bool, bytes, type(None))


class Foreign(Exception):
    """Something from outside the package."""


@runtime_checkable
class Findings(Protocol):
    """A text that finds something out when it is traced, besides its program."""

    def found(self) -> dict[str, Any]:
        """What it has found, as plain data."""

    def take(self, found: Mapping[str, Any]) -> None:
        """Know again what was found."""


def recalled(
    text: Callable[..., Any], state: Mapping[str, Any], parameters: Mapping[str, Any], key: Hashable
) -> Program:
    """The program of a text, traced now or before; key: all that the text depends on besides its numbers."""
    try:
        name = entry(key, state, parameters)
    except Foreign:
        return trace(text, state, parameters)
    data = cache.read(name)
    if data is not None:
        try:
            known = json.loads(data)
            program: Program = Outline(text, state, parameters, known["program"])
            if isinstance(text, Findings):
                text.take(known["found"])
            return program
        except (ValueError, KeyError, TypeError):
            pass  # no outline: written anew below
    program = trace(text, state, parameters)
    found = text.found() if isinstance(text, Findings) else None
    cache.write(name, json.dumps({"program": outline(program), "found": found}).encode())
    return program


def entry(key: Hashable, state: Mapping[str, Any], parameters: Mapping[str, Any]) -> str:
    """The name under which a program is kept."""
    given = [(name, signature(x)) for name, x in (*state.items(), *parameters.items())]
    return hashlib.sha256(f"outline {source()} {written(key)} {len(state)} {given}".encode()).hexdigest()


def signature(x: Any) -> str:
    """What a trace sees of a number or table that it is given."""
    found = declare("", x)
    return found.kind if isinstance(found, Cell) else repr(found)


def written(x: Any) -> str:
    """A key as a text that is the same in every process and different for different keys."""
    if type(x) in PLAIN:
        return repr(x)
    if isinstance(x, tuple):
        return f"({','.join(map(written, x))})"
    if isinstance(x, frozenset):
        return f"{{{','.join(sorted(map(written, x)))}}}"
    return own(x.thing if isinstance(x, Same) else x)


def own(thing: Any) -> str:
    """The name of something that this package defines."""
    place, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", "")
    module = sys.modules.get(str(place))
    file = getattr(module, "__file__", None)
    if file is None or not file.startswith(f"{HERE}{os.sep}"):
        raise Foreign
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not thing:  # made in a function, or another of the same name
        raise Foreign
    return f"<{place} {name}>"


def files() -> list[Path]:
    """The source of all that turns mechanisms into programs."""
    rooms = [sorted((HERE / room).rglob("*.py")) for room in ROOMS]
    return [HERE / "structure.py", HERE / "system.py", HERE / "traces.py", *(path for room in rooms for path in room)]


@functools.cache
def source() -> str:
    """What programs depend on besides their texts and keys, as a digest."""
    found = hashlib.sha256(f"{__version__} {np.__version__} {sys.version_info[:2]}".encode())
    for path in files():
        found.update(f"{path.relative_to(HERE)}\n".encode())
        found.update(path.read_bytes())
    return found.hexdigest()
