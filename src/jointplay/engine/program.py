"""A traced program: the text of one step run on recording values, checked, trimmed and named by a digest."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .recorder import Array, Block, Recorder
from .tables import Table
from .text import DONE, NON_FINITE, branch
from .values import Value, active, constant, where

BUILT_IN = ("step", "status", "detail")


class Names:
    """Read-only view of named values: names.mass or names["crank.mass"]."""

    def __init__(self, what: str, values: Mapping[str, Any]) -> None:
        self.__dict__.update(_what=what, _values=values)

    def __getitem__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise KeyError(f"no {self._what} {name!r}; there are {', '.join(self._values)}") from None

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None


@dataclass(frozen=True)
class Slot:
    """A place of the state or of the parameters."""

    name: str
    kind: str
    start: float | int | bool
    size: int = 1  # ring buffers have more than one


@dataclass(eq=False)
class Program:
    """One step of a simulation, ready to be compiled or run eagerly."""

    text: Callable[..., Any]
    declared: tuple[dict[str, Slot], dict[str, Any]]  # state and parameters as given
    slots: list[Slot]
    parameters: list[Slot]
    arrays: dict[str, Any]  # parameter arrays and tables: Array or Table
    streams: dict[str, tuple[tuple[str, ...], int]]  # name -> columns, most rows in one step
    record: dict[str, tuple[str, ...]]
    defaults: dict[str, Any]  # arrays and tables as given
    hoisted: Block
    body: Block  # its ends are the next values of the slots, in order, ring buffers left out
    inputs: dict[tuple[str, str], Value] = field(default_factory=dict)  # what is read

    @functools.cached_property
    def listing(self) -> str:
        """The program as text, the same in every process."""
        return listing(self)

    @property
    def digest(self) -> str:
        """SHA-256 of the listing: equal programs share machine code."""
        return hashlib.sha256(self.listing.encode()).hexdigest()

    @property
    def operations(self) -> int:
        """How many instructions are recorded."""
        return self.listing.count(" = ")


def kind_of_start(name: str, x: Any) -> str:
    """The kind of a state or parameter by its starting value."""
    if isinstance(x, bool | np.bool_):
        raise ValueError(f"{name!r}: a state or parameter is a float or an integer, got {x!r}")
    if isinstance(x, int | np.integer):
        return "i"
    if isinstance(x, float | np.floating):
        return "f"
    raise ValueError(f"{name!r}: expected a float, an integer, an array or a Table, got {type(x).__name__}")


def trace(
    step: Callable[..., Any],
    state: Mapping[str, Any],
    parameters: Mapping[str, Any] | None = None,
    record: Mapping[str, tuple[str, ...]] | None = None,
) -> Program:
    """Record step(state, parameters) -> {name: next value} as a program.

    A float or integer says the kind and the default of a state or parameter; an array or a Table is a
    parameter read by index.  `record` chooses the columns of streams; those left out cost nothing.
    """
    wrong = [n for n in state if n in BUILT_IN]
    if wrong:
        raise ValueError(f"state {wrong[0]!r} is kept by the engine; choose another name")
    slots = {n: Slot(n, kind_of_start(n, x), x) for n, x in state.items()}
    given: dict[str, Any] = {}
    for name, x in (parameters or {}).items():
        if isinstance(x, Table):
            given[name] = x
        elif isinstance(x, np.ndarray):
            kind = "i" if np.issubdtype(x.dtype, np.integer) else "f"
            given[name] = Array("parameter", name, kind, x.size)
        else:
            given[name] = Slot(name, kind_of_start(name, x), x)
    chosen = dict(record or {})
    rec = Recorder(chosen)
    ends = run_text(rec, step, slots, given)
    rec.step.ends = list(ends.values())
    known = {**slots, **{c.name: Slot(c.name, c.kind, c.start) for c in rec.cells.values()}}
    kept = [known[n] for n in ends] + [Slot(n, "f", x, array.size) for n, (array, x) in rec.rings.items()]
    program = Program(
        text=step,
        declared=(slots, given),
        slots=kept,
        parameters=[p for p in given.values() if isinstance(p, Slot)],
        arrays={n: p for n, p in given.items() if not isinstance(p, Slot)},
        streams=rec.streams,
        record=chosen,
        defaults={n: (parameters or {})[n] for n, p in given.items() if not isinstance(p, Slot)},
        hoisted=rec.hoisted,
        body=rec.step,
    )
    trim(program)
    return program


def run_text(rec: Recorder, text: Callable[..., Any], slots: dict[str, Slot], given: dict[str, Any]) -> dict[str, Any]:
    """Run the text of a step on a recorder; give what every place of the state becomes."""
    before = getattr(active, "recorder", None)
    active.recorder = rec
    try:
        counter, status, detail = (rec.declare(n, 0, "i") for n in BUILT_IN)
        old = {n: rec.input("state", n, s.kind) for n, s in slots.items()}
        known = {n: rec.input("parameter", n, p.kind) if isinstance(p, Slot) else p for n, p in given.items()}
        for name, p in known.items():
            if isinstance(p, Table):
                known[name] = p.bound(name)
        new = text(Names("state", {**old, "step": counter.value}), Names("parameter", known)) or {}
        unknown = [n for n in new if n not in slots]
        if unknown:
            raise ValueError(f"the step returns state {unknown[0]!r}, which is not declared: {', '.join(slots)}")
        new = {n: new[n] if n in new else old[n] for n in slots}
        new = {n: x if isinstance(x, Value) else constant(x, slots[n].kind) for n, x in new.items()}
        return commit(rec, old, new)
    finally:
        active.recorder = before


def commit(rec: Recorder, old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Take the new state if the step is good; else keep the old one and say why."""
    counter, status, detail = (rec.cells[n] for n in BUILT_IN)
    cells = {n: c for n, c in rec.cells.items() if n not in BUILT_IN}
    start = {n: rec.input("state", n, c.kind) for n, c in rec.cells.items()}
    before = {**old, **{n: start[n] for n in cells}}
    after = {**new, **{n: c.value for n, c in cells.items()}}
    checked = [n in new or cells[n].checked for n in after]
    floats = [(i, x) for i, x in enumerate(after.values()) if checked[i] and isinstance(x, Value) and x.kind == "f"]
    terms = [x for _, x in floats]
    while len(terms) > 1:  # the sum is finite if and only if (bar overflow) every term is
        terms = [a + b for a, b in zip(terms[::2], terms[1::2], strict=False)] + terms[len(terms) & ~1 :]
    finite = abs(terms[0]) < np.inf if terms else True
    code = where(finite, status.value, where(status.value <= DONE, NON_FINITE, status.value))
    live = rec.input("live", "", "m")
    good = live & (code <= DONE)

    def bad() -> list[Any]:
        first = detail.value
        for i, x in reversed(floats):
            first = where((abs(x) < np.inf) | (code != NON_FINITE), first, i)
        return [*before.values(), start["step"], where(live, code, start["status"]), where(live, first, start["detail"])]

    taken = branch(good, lambda: [*after.values(), counter.value + 1, code, detail.value], bad)
    return dict(zip([*before, *BUILT_IN], taken, strict=True))


def trim(program: Program) -> None:
    """Remove what nothing needs, and note the inputs that are read."""
    needed: set[int] = set()
    trimmed: set[int] = set()

    def need(xs: Any) -> None:
        for x in xs:
            if isinstance(x, Value):
                needed.add(x.serial)
                if x.op == "input":
                    program.inputs[x.args] = x

    def sweep(block: Block) -> None:
        kept = []
        need(block.ends)
        for item in reversed(block.code):
            if isinstance(item, Value):
                if item.serial in needed:
                    need(item.args)
                    kept.append(item)
            elif effects(item) or any(v.serial in needed for v in item.outs):
                if item.word == "branch":
                    live = [i for i, v in enumerate(item.outs) if v.serial in needed]
                    for part in (item.outs, item.blocks[0].ends, item.blocks[1].ends):
                        part[:] = [part[i] for i in live]
                for inner in [item.about] if item.word == "call" else item.blocks:
                    if id(inner) not in trimmed:
                        trimmed.add(id(inner))
                        sweep(inner)
                need(item.reads)
                kept.append(item)
        block.code = kept[::-1]

    sweep(program.body)
    sweep(program.hoisted)


def effects(item: Any) -> bool:
    """True if an instruction writes rows or ring buffers."""
    if isinstance(item, Value):
        return False
    return item.word in ("emit", "store") or any(effects(i) for block in item.blocks for i in block.code)


def listing(program: Program) -> str:
    """The program as text, one instruction a line, the same in every process."""
    lines: list[str] = []
    routines: dict[int, str] = {}

    def show(xs: Any) -> str:
        return " ".join(f"{x.kind}{x.serial}" if isinstance(x, Value) else repr(x) for x in xs)

    def write(block: Block, indent: str) -> None:
        for item in block.code:
            if isinstance(item, Value):
                lines.append(f"{indent}{show([item])} = {item.op} {show(item.args)}")
                continue
            about = item.about
            if item.word == "call":
                if id(about) not in routines:
                    routines[id(about)] = f"routine{len(routines)}"
                    lines.append(f"{indent}{routines[id(about)]}: {show(about.formals)}")
                    write(about, indent + "    ")
                about = routines[id(about)]
            lines.append(f"{indent}{show(item.outs)} = {item.word} {about} {show(item.reads)}")
            for inner in item.blocks:
                lines.append(f"{indent}  {show(inner.formals)}:")
                write(inner, indent + "    ")
        lines.append(f"{indent}end {show(block.ends)}")

    lines.append(" ".join(f"{show([v])}={'.'.join(k)}" for k, v in sorted(program.inputs.items())))
    write(program.hoisted, "")
    write(program.body, "  ")
    lines += [f"{s.name} {s.kind} {s.size}" for s in [*program.slots, *program.parameters]]
    lines.append(f"{program.arrays} {program.streams}")
    return "\n".join(lines)
