"""The words a step's text is written in, besides arithmetic: control, memory, rows, ends."""

from __future__ import annotations

import dis
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .recorder import Array, Cell
from .values import TraceError, here, is_value, recorder, where

RUNNING, DONE, STOPPED, NON_FINITE, SINGULAR_PIVOT, SOLVER_FAILED, STEP_TOO_SMALL = range(7)
STATUS_NAMES = ["running", "done", "stopped", "non-finite", "singular pivot", "solver failed", "step too small"]


def branch(mask: Any, then: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """The results of then() where the mask holds, else of other(); only what some lane needs is run."""
    for text in (then, other):
        pure(text)
    if isinstance(mask, bool | np.bool_):
        return then() if mask else other()
    if not is_value(mask) or mask.kind != "m":
        raise TraceError(f"{here()}: branch needs a condition such as x > 0, got {mask!r}")
    return recorder().branch(mask, then, other)


def pure(text: Any) -> None:
    """Refuse a side or body that is not a function, or that hands values out by assigning to outer names."""
    if not callable(text):
        raise TraceError(f"{here()}: expected a function without arguments, got {text!r}; write lambda: ...")
    code: Any = getattr(text, "__code__", None)
    for i in dis.get_instructions(code) if code is not None and code.co_freevars else ():
        if i.opname == "STORE_DEREF" and i.argval in code.co_freevars:
            raise TraceError(
                f"{here()}: a side or body assigns to {i.argval!r} outside of it; return the value instead"
            )


def loop(carry: Any, body: Callable[..., Any], at_most: int) -> tuple[Any, Any]:
    """Repeat `carry, again = body(*carry)` while `again` holds, at most so often; gives carry, unfinished."""
    if not isinstance(at_most, int) or at_most < 1:
        raise TraceError(f"{here()}: a loop needs a whole number of rounds at_most >= 1, got {at_most!r}")
    pure(body)
    return recorder().loop(carry, body, at_most)


def subroutine(function: Callable[..., Any]) -> Callable[..., Any]:
    """A pure text that is traced once, emitted once and called many times."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        return recorder().call(function, args)

    return call


def shared(name: str, x: Any, compute: Callable[[], Any]) -> Any:
    """compute(), or what it gave before for the same x in reach of this block."""
    return recorder().shared((name, x.serial), x.level, compute)


def rule(result: Any, name: str, *args: Any) -> Any:
    """The result, differentiated by the named rule in its arguments instead of by the chain rule."""
    return recorder().opaque(result, "f", (name, args)) if is_value(result) else result


def whole(n: int) -> Any:
    """An integer as a value, to start a counter in a loop or branch."""
    return recorder().opaque(n, "i")


def constant_table(data: tuple[int, ...]) -> Array:
    """A table of integers that is part of the program, read by load(index)."""
    return Array("constant", "", "i", len(data), tuple(data))


def memory(name: str, start: float | int | bool = 0.0) -> Cell:
    """A named number kept from step to step; set its .value anywhere, committed with the step."""
    kind = "m" if isinstance(start, bool) else "i" if isinstance(start, int) else "f"
    return recorder().declare(name, start, kind)


def emit(stream: str, **columns: Any) -> None:
    """Append a row to a stream: a sample, an impact, any event."""
    recorder().emit(stream, columns)


def stop(when: Any, status: int = DONE, detail: Any = 0) -> None:
    """End this run where the mask holds: DONE keeps the present step, every other status the state before it."""
    if not is_value(status) and status not in range(1, len(STATUS_NAMES)):
        raise ValueError(f"stop: status must be one of DONE ... STEP_TOO_SMALL (1 to 6), got {status!r}")
    code, info = (recorder().cells[n] for n in ("status", "detail"))
    first = when & (code.value == RUNNING)
    info.value = where(first, detail, info.value)
    code.value = where(first, status, code.value)


def shared_max(x: Any) -> Any:
    """The largest x of all running lanes if the run shares its steps, else x itself."""
    return recorder().operation("shared_max", [x], "f") if is_value(x) else x
