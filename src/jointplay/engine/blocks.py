"""What a trace is recorded in: blocks of instructions, arrays in memory and named cells."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .values import Value, constant, operate, recorder

if TYPE_CHECKING:
    from .recorder import Recorder


@dataclass(eq=False)
class Block:
    """Recorded instructions: values and constructs, with what goes in and what comes out."""

    owner: Recorder
    kind: str  # "hoisted", "step", "side", "loop" or "subroutine"
    parent: Block | None = None
    repeats: int = 1  # how often it can run in one step
    open: bool = True  # its values can be used by what is recorded now
    code: list[Any] = field(default_factory=list)
    formals: list[Value] = field(default_factory=list)
    ends: list[Any] = field(default_factory=list)
    memo: dict[Any, Any] = field(default_factory=dict)
    cells: dict[str, Any] = field(default_factory=dict)
    carried: dict[str, Any] = field(default_factory=dict)  # loops: cells they touch, as they were before
    source: Any = None  # sides: the code of the first side's text
    seldom: bool = False  # sides: most steps do without it
    outer: list[Value] | None = None  # subroutines: what they use of the blocks around, once asked for


@dataclass(eq=False)
class Construct:
    """An instruction that is more than an operation: branch, loop, call or store."""

    word: str
    reads: list[Any]
    blocks: list[Block] = field(default_factory=list)
    about: Any = None  # loop: most rounds; call: the routine; store: the array
    outs: list[Value] = field(default_factory=list)


@dataclass(frozen=True)
class Array:
    """Numbers in memory, read or written by index."""

    where: str  # "parameter", "ring" (of the state), "constant" or "stream" (rows going out)
    name: str
    kind: str
    size: int
    data: tuple[int, ...] = ()

    def load(self, index: Any) -> Any:
        """The element at an integer index, clamped to the array."""
        top = self.size - 1
        if isinstance(index, Value):
            index = operate("iselect", index < 0, 0, operate("iselect", index > top, top, index))
        else:
            index = min(max(constant(index, "i"), 0), top)
        return recorder().operation("load", (self, index), self.kind)

    __getitem__ = load


@dataclass(eq=False)
class Cell:
    """A named number of the program that the text can read and set anywhere in a step."""

    name: str
    kind: str
    start: float | int | bool
    checked: bool = True  # must stay finite
    size: int = 1  # a ring buffer has more places than one

    @property
    def value(self) -> Any:
        """Its present value; a new one takes effect when the step is committed."""
        return recorder().read(self)

    @value.setter
    def value(self, new: Any) -> None:
        recorder().write(self, new)


def key_of(x: Any) -> Any:
    """What identifies an operand in a memo."""
    if isinstance(x, Value):
        return x.serial
    return (type(x), x, math.copysign(1, x)) if isinstance(x, float) else (type(x), x)


def code_of(text: Any) -> Any:
    """What identifies the text of a side, whenever it is run."""
    return getattr(getattr(text, "func", text), "__code__", text)


def outer_values(block: Block) -> list[Value]:
    """The values of surrounding blocks that a block uses, in the order of their making."""
    inside: set[int] = set()
    used: dict[int, Value] = {}

    def walk(b: Block) -> None:
        inside.update(v.serial for v in b.formals)
        for item in b.code:
            reads, made = (item.args, [item]) if isinstance(item, Value) else (item.reads, item.outs)
            for x in reads:
                for v in [x, *x.args] if isinstance(x, Value) and x.op == "mul" else [x]:  # fma needs factors
                    if isinstance(v, Value):
                        used[v.serial] = v
            inside.update(v.serial for v in made)
            for inner in [] if isinstance(item, Value) else item.blocks:
                walk(inner)
        used.update((x.serial, x) for x in b.ends if isinstance(x, Value))

    walk(block)
    return [used[s] for s in sorted(used) if s not in inside]
