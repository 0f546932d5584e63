"""A traced program: the text of one step run on recording values, checked, trimmed and named by a digest."""

from __future__ import annotations

import functools
import hashlib
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..collector import paused
from .blocks import Array, Block, Cell
from .recorder import Recorder
from .text import DONE, NON_FINITE, branch
from .values import Value, active, bits, where

BUILT_IN = ("step", "status", "detail")


class Names:
    """Named values: names.mass or names["crank.mass"]."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__["_values"] = values

    def __getattr__(self, name: str) -> Any:
        if name not in self._values:
            raise AttributeError(f"no {name!r} here; there are {', '.join(self._values)}")
        return self._values[name]

    __getitem__ = __getattr__

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name!r} cannot be set here: return {{{name!r}: next value}} from the step")


def declare(name: str, x: Any) -> Any:
    """How a trace takes a state or parameter: the kind of a number, the size of an array."""
    if isinstance(x, np.ndarray) and x.ndim == 1 and x.size and x.dtype.kind in "fi":
        return Array("parameter", name, x.dtype.kind, x.size)
    if hasattr(x, "bound"):  # a table knows how to be read from the parameters
        return x.bound(name)
    if isinstance(x, int | float | np.integer | np.floating) and not isinstance(x, bool):
        return Cell(name, "i" if isinstance(x, int | np.integer) else "f", x.item() if isinstance(x, np.generic) else x)
    raise ValueError(f"{name!r}: expected a float, an integer, a 1-d array or a Table, got {x!r}")


class Program:
    """One step of a simulation, ready to be compiled or run eagerly; made by trace()."""

    def __init__(self, text: Callable[..., Any], state: Any, parameters: Any, record: Any) -> None:
        self.declared(text, state, parameters, record)
        self.recorded()

    def declared(self, text: Callable[..., Any], state: Any, parameters: Any, record: Any) -> None:
        """What is known before the trace."""
        wrong = [n for n, x in state.items() if n in BUILT_IN or not isinstance(declare(n, x), Cell)]
        if wrong:
            raise ValueError(f"state {wrong[0]!r} must be a number, and not named {', '.join(BUILT_IN)}")
        self.text, self.record, self.starts = text, dict(record), dict(state)
        self.defaults = {n: x.copy() if isinstance(x, np.ndarray) else x for n, x in parameters.items()}
        self.state: dict[str, Cell] = {n: declare(n, x) for n, x in state.items()}
        self.given = {n: declare(n, x) for n, x in parameters.items()}
        self.parameters = [p for p in self.given.values() if isinstance(p, Cell)]
        self.arrays = {n: p for n, p in self.given.items() if not isinstance(p, Cell)}
        self.natives: dict[Any, Any] = {}  # its machine code, by lanes and rules

    def arranged(self, slots: list[Cell]) -> None:
        """Say what the program keeps from step to step, and where each begins."""
        self.slots, self.places, at = slots, dict[str, int](), 0
        for slot in slots:
            self.places[slot.name] = at
            at += slot.size

    @paused()
    def recorded(self) -> None:
        """Trace the text."""
        rec = Recorder(self.record)
        ends = run_text(rec, self)
        for stream in self.record:
            if stream not in rec.emitted:
                raise ValueError(f"record: no stream {stream!r}; the step emits {', '.join(rec.emitted) or 'none'}")
        self.hoisted, self.body, self.streams, self.both = rec.hoisted, rec.step, rec.streams, rec.both
        self.body.ends = list(ends.values())  # the next values of the slots, ring buffers left out
        known = self.state | rec.cells
        self.arranged([known[n] for n in ends] + list(rec.rings.values()))
        self.inputs: dict[Any, Value] = {}  # what is read of state and parameters
        trim(self)
        self.listing = listing(self)
        self.digest = hashlib.sha256(self.listing.encode()).hexdigest()  # equal programs share machine code
        self.operations = self.listing.count(" = ")
        self.usual = usual(self.hoisted, set()) + usual(self.body, set())


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
    return Program(step, state, parameters or {}, record or {})


def run_text(rec: Recorder, program: Program) -> dict[str, Any]:
    """Run the text of a step on a recorder; give what every place of the state becomes."""
    before, active.recorder = getattr(active, "recorder", None), rec
    try:
        slots, given = program.state, program.given
        step, *_ = (rec.declare(n, 0, "i").value for n in BUILT_IN)
        rec.reserved = {*slots, *BUILT_IN}
        old = {n: rec.input("state", n, s.kind) for n, s in slots.items()}
        known = {n: rec.input("parameter", n, p.kind) if isinstance(p, Cell) else p for n, p in given.items()}
        new = program.text(Names({**old, "step": step}), Names(known))
        if not isinstance(new, dict) and (slots or new is not None):
            raise ValueError(f"the step must return a dict of next states (of {', '.join(slots)}), got {new!r}")
        new = new or {}
        unknown = [n for n in new if n not in slots]
        if unknown:
            raise ValueError(f"the step returns state {unknown[0]!r}, which is not declared: {', '.join(slots)}")
        kinds = [s.kind for s in slots.values()]
        values = rec.settle([new.get(n, old[n]) for n in slots], kinds, "the step returns a state of another kind")
        values = [v if isinstance(v, Value) else rec.opaque(v, k) for v, k in zip(values, kinds, strict=True)]
        return commit(rec, old, dict(zip(slots, values, strict=True)))
    finally:
        active.recorder = before


def commit(rec: Recorder, old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Take the new state if the step is good; else keep the old one and say why."""
    counter, status, detail = (rec.cells[n] for n in BUILT_IN)
    cells = {n: c for n, c in rec.cells.items() if n not in BUILT_IN}
    before = {**old, **{n: rec.input("state", n, c.kind) for n, c in cells.items()}}
    after = {**new, **{n: c.value for n, c in cells.items()}}
    checked = [n in new or cells[n].checked for n in after]
    floats = [(i, x) for i, x in enumerate(after.values()) if checked[i] and x.kind == "f"]
    terms = [rec.opaque(x, "f") for _, x in floats]  # a finite sum has finite terms
    while len(terms) > 1:
        terms = [a + b for a, b in zip(terms[::2], terms[1::2], strict=False)] + terms[len(terms) & ~1 :]

    def each() -> Any:  # of large numbers the sum alone may overflow
        return functools.reduce(operator.add, [x - x for _, x in floats]) == 0.0

    finite = branch(abs(terms[0]) < np.inf, lambda: True, each) if terms else True
    code = where(finite, status.value, where(status.value <= DONE, NON_FINITE, status.value))

    def bad() -> list[Any]:
        first = detail.value
        for i, x in reversed(floats):
            first = where(abs(x) < np.inf, first, i)
        first = where(code == NON_FINITE, first, detail.value)
        return [*before.values(), rec.input("state", "step", "i"), code, first]

    good = [*after.values(), counter.value + 1, code, detail.value]  # made out here: a good step runs no side
    taken = branch(code <= DONE, lambda: good, bad)
    return dict(zip([*before, *BUILT_IN], taken, strict=True))


def trim(program: Program) -> None:
    """Remove what nothing needs, and note the inputs that are read."""
    needed: set[int] = set()
    trimmed: set[int] = set()

    def need(xs: Any) -> None:
        for x in xs:
            if type(x) is Value:
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


def usual(block: Block, known: set[int], apart: bool = False) -> int:
    """The operations of a block without those of sides that seldom run (apart); what they call counts."""
    count, apart = 0 if apart or block.seldom else len(block.code), apart or block.seldom
    for item in block.code:
        if not isinstance(item, Value) and item.word != "call":
            count += sum(usual(inner, known, apart) for inner in item.blocks)
        elif not isinstance(item, Value) and id(item.about) not in known:
            known.add(id(item.about))
            count += usual(item.about, known)
    return count


def effects(item: Any) -> bool:
    """True if an instruction writes rows or ring buffers."""
    if isinstance(item, Value):
        return False
    return item.word == "store" or any(effects(i) for block in item.blocks for i in block.code)


def listing(program: Program) -> str:
    """The program as text, one instruction a line, the same in every process."""
    lines: list[str] = []
    routines: dict[int, str] = {}

    def plain(x: Any) -> str:
        return f"nan{bits(x):x}" if isinstance(x, float) and x != x else repr(x)  # NaNs differ in bits

    def show(xs: Any) -> str:
        return " ".join([f"{x.kind}{x.serial}" if type(x) is Value else plain(x) for x in xs])

    def write(block: Block, indent: str) -> None:
        for item in block.code:
            if isinstance(item, Value):
                lines.append(f"{indent}{item.kind}{item.serial} = {item.op} {show(item.args)}")
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
                lines.append(f"{indent}  {show(inner.formals)}{' seldom' if inner.seldom else ''}:")
                write(inner, indent + "    ")
        lines.append(f"{indent}end {show(block.ends)}")

    lines.append(" ".join(f"{show([v])}={k!r}" for k, v in sorted(program.inputs.items())))
    write(program.hoisted, "")
    write(program.body, "  ")
    lines += [f"{s.name!r} {s.kind} {s.size}" for s in [*program.slots, *program.parameters]]
    lines.append(f"{program.arrays} {program.streams}")
    return "\n".join(lines)
