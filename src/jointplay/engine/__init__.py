"""The engine: text over scalars, traced, differentiated and turned into machine code.  It knows no mechanics."""

from __future__ import annotations

import importlib
from typing import Any

_ROOMS = {
    "values": "TraceError Value sqrt floor where minimum maximum sign bits from_bits number integer",
    "functions": "sin cos sincos tan atan2 atan exp log pow",
    "text": "branch loop subroutine memory peak total emit due stop delay whole random shared_max "
    "RUNNING DONE STOPPED NON_FINITE SINGULAR_PIVOT SOLVER_FAILED STEP_TOO_SMALL STATUS_NAMES",
    "derivative": "derivative solve",
    "linalg": "Factor Pair dot linear_solve",
    "tables": "Table table",
    "program": "Program trace",
    "machine": "assembly",
    "native": "Native",
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names.split()}
__all__ = sorted(_HOME)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
