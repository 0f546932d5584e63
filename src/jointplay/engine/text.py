"""The words a step's text is written in, besides arithmetic: control, memory, rows, ends."""

from __future__ import annotations

import dis
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .blocks import Cell
from .trees import LEAF, alike, build, flatten, paths
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


def seldom(text: Any) -> Any:
    """The same side of a branch, marked as one that most steps do without: its code is kept out of their way."""
    text.seldom = True
    return text


def pure(text: Any) -> None:
    """Refuse a side or body that is not a function, or that hands values out by assigning to outer names."""
    if not callable(text):
        raise TraceError(f"{here()}: expected a function without arguments, got {text!r}; write lambda: ...")
    code: Any = getattr(text, "__code__", None)
    for i in dis.get_instructions(code) if code is not None and code.co_freevars else ():
        if i.opname == "STORE_DEREF" and i.argval in code.co_freevars:
            raise TraceError(f"{here()}: a side or body assigns to {i.argval!r} outside of it; return the value")


def loop(carry: Any, body: Callable[..., Any], at_most: int) -> tuple[Any, Any]:
    """Repeat `carry, again = body(*carry)` while `again` holds, at most so often; gives carry, unfinished.

    What is carried may be any tree of values; a list or tuple is given to the body in its parts, all else as one.
    """
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


def whole(n: int) -> Any:
    """An integer as a value, to start a counter in a loop or branch."""
    return recorder().opaque(n, "i")


class Cells:
    """Named numbers in the form of a tree, read and set together."""

    def __init__(self, cells: list[Cell], form: Any) -> None:
        self.cells, self.form = cells, form

    @property
    def value(self) -> Any:
        """Their present values as a tree; a new one takes effect when the step is committed."""
        return build(self.form, [cell.value for cell in self.cells])

    @value.setter
    def value(self, new: Any) -> None:
        leaves, form = flatten(new)
        if not alike(form, self.form):
            raise TraceError(f"{here()}: {self.cells[0].name!r} and its like hold another form of values")
        for cell, x in zip(self.cells, leaves, strict=True):
            cell.value = x


def memory(name: Any, start: Any = 0.0, checked: bool = True) -> Any:
    """A named number kept from step to step; set its .value anywhere, committed with the step.

    A tree of starts makes a tree of them: its ends are named by their keys after `name`, or by a tree of names.
    checked: a step in which it is no finite number ends the run.
    """
    starts, form = flatten(start)
    names = paths(form, name) if isinstance(name, str) else flatten(name)[0]
    if len(names) != len(starts):
        raise ValueError(f"{here()}: memory: {len(names)} names for {len(starts)} numbers")
    cells = [recorder().declare(n, x, _kind(x), checked) for n, x in zip(names, starts, strict=True)]
    return cells[0] if form is LEAF else Cells(cells, form)


def _kind(start: Any) -> str:
    return "m" if isinstance(start, bool | np.bool_) else "i" if isinstance(start, int | np.integer) else "f"


def emit(stream: str, **columns: Any) -> None:
    """Append a row to a stream: a sample, an impact, any event; trees become columns named by their keys."""
    recorder().emit(stream, columns)


def stop(when: Any, status: int = DONE, detail: Any = 0) -> None:
    """End this run where the mask holds: DONE keeps the present step, every other status the state before it."""
    if not is_value(status) and (status == NON_FINITE or status not in range(1, len(STATUS_NAMES))):
        known = "DONE, STOPPED, SINGULAR_PIVOT, SOLVER_FAILED or STEP_TOO_SMALL; the engine itself finds NON_FINITE"
        raise ValueError(f"{here()}: stop: status must be {known}; got {status!r}")
    code, info = (recorder().cells[n] for n in ("status", "detail"))
    first = when & (code.value == RUNNING)
    info.value = where(first, detail, info.value)
    code.value = where(first, status, code.value)


def shared_max(x: Any) -> Any:
    """The largest x of all lanes that run here if the run shares its steps, else x itself; NaN stays with its lane."""
    rec = recorder()  # lanes end from step to step: what depends on the step counter is never hoisted
    return rec.operation("shared_max", [x, rec.input("state", "step", "i")], "f") if is_value(x) else x
