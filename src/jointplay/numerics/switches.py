"""When the comparisons in a recorded value change: the times at which a function of time is not smooth."""

from __future__ import annotations

import math
from typing import Any

from ..engine.blocks import Construct
from ..engine.derivatives import derivative, sources
from ..engine.values import Value, is_value, where
from .linalg import is_zero

COMPARISONS = ("lt", "le", "eq", "ne")
LOGIC = ("and", "or", "xor")


def switches(value: Any, t: Any) -> list[Any]:
    """For each comparison and rounding that a recorded value depends on: when it next changes, by its value and slope
    at the time t; infinite where it moves away.  Exact where it is linear in t."""
    found: list[Any] = []
    seen: set[int] = set()
    stack = [value]
    while stack:
        v = stack.pop()
        if not isinstance(v, Value) or v.serial in seen or not is_value(t) or v is t:
            continue
        seen.add(v.serial)
        if v.op in COMPARISONS:
            found += roots(v.args[0] - v.args[1], t)
            stack += v.args
        elif v.op == "floor":
            below, above = v.args[0] - v, v.args[0] - (v + 1.0)
            found += [*roots(above, t), *roots(below, t)]
            stack += v.args
        elif v.op in LOGIC or v.op.endswith("select"):
            stack += v.args
        elif v.op == "out":
            made: Construct = v.args[0]
            stack += made.reads
        else:
            stack += sources(v)
    return found


def roots(x: Any, t: Any) -> list[Any]:
    """When x reaches 0 if it goes on as it does at t; nothing if it does not depend on t."""
    [[slope]] = derivative([x], [t])
    if is_zero(slope):
        return []
    moving = slope != 0.0
    ahead = t - x / (where(moving, slope, 1.0) if is_value(slope) else slope)
    return [where(moving & (ahead > t), ahead, math.inf)]
