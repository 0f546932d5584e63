"""The engine: text over scalars, traced, differentiated and turned into machine code.  It knows no mechanics.

This front door resolves the words of a text by name, also those of `jointplay.numerics`, written in them.
"""

from __future__ import annotations

import importlib
from typing import Any

_ROOMS = {
    ".values": "TraceError Value sqrt floor where bits from_bits number",
    ".text": "branch seldom loop subroutine memory emit stop whole shared_max "
    "RUNNING DONE STOPPED NON_FINITE SINGULAR_PIVOT SOLVER_FAILED STEP_TOO_SMALL STATUS_NAMES",
    ".derivatives": "derivative",
    ".program": "Program trace",
    ".pieces": "assembly",
    ".native": "Native",
    "..numerics.choice": "integer minimum maximum sign modulo",
    "..numerics.functions": "sin cos sincos tan asin acos atan atan2 hypot exp log tanh pow power",
    "..numerics.linalg": "Factor Pair dot linear_solve",
    "..numerics.newton": "solve",
    "..numerics.signals": "peak total due delay random",
    "..numerics.splines": "Spline spline",
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names.split()}
__all__ = sorted(_HOME)
__dir__ = __all__.copy


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name], __name__), name)
