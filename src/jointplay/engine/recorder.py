"""The recorder: takes down a running trace as blocks of instructions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .blocks import Array, Block, Cell, Construct, code_of, key_of, outer_values
from .trees import alike, arguments, build, flatten, paths
from .values import TraceError, Value, as_float, constant, here, kind_of

TOGETHER = 100  # columns of a row that are written by one instruction


class Recorder:
    """Takes down operations as they happen."""

    def __init__(self, record: dict[str, tuple[str, ...]] | None = None) -> None:
        self.record = record or {}
        self.hoisted, self.step = Block(self, "hoisted"), Block(self, "step")
        self.block = self.step
        self.count = 0
        self.inputs: dict[tuple[str, str], Value] = {}
        self.cells: dict[str, Cell] = {}
        self.reserved: set[str] = set()  # names that no cell may have
        self.streams: dict[str, tuple[tuple[str, ...], int]] = {}  # name -> columns, rows per step
        self.rings: dict[str, Cell] = {}
        self.routines: dict[Any, tuple[Block, Any]] = {}
        self.emitted: dict[str, tuple[str, ...]] = {}  # all columns of all streams, recorded or not
        self.both: set[Any] = set()  # branches, by their source, of which eager runs must know both sides

    def new(self, op: str, args: Any, kind: str, level: int = 1, block: Block | None = None) -> Value:
        """A fresh value."""
        self.count += 1
        return Value(op, tuple(args), kind, level, block or self.block, self.count)

    def input(self, where: str, name: str, kind: str) -> Value:
        """A named number from outside: of the parameters or of the state."""
        if (where, name) not in self.inputs:
            level, block = (0, self.hoisted) if where == "parameter" else (1, self.step)
            self.inputs[where, name] = self.new("input", (where, name), kind, level, block)
        return self.inputs[where, name]

    def reachable(self) -> Iterator[Block]:
        """The blocks whose values and memos the present block shares, innermost first."""
        block: Block | None = self.block
        while block is not None:
            yield block
            block = None if block.kind == "subroutine" else block.parent
        yield self.hoisted

    def visible(self, values: Any) -> list[Any]:
        """The same values, or an error if one has left the block that made it."""
        if any(isinstance(v, Value) and not (v.block.open and v.block.owner is self) for v in values):
            made = "the branch, loop, subroutine or trace that made it"
            raise TraceError(f"{here()}: a value is used outside {made}; return it from there")
        return list(values)

    def operation(self, op: str, args: Any, kind: str, rule: Any = None) -> Value:
        """The value of an operation, shared with an identical one in reach."""
        if op == "mul" and type(args[0]) is type(args[1]) is Value and args[0].serial > args[1].serial:
            args = args[::-1]
        level, parts = 0, [op, kind, rule and (rule[0], *map(key_of, rule[1]))]
        for a in args:
            if type(a) is Value:
                if not a.block.open or a.block.owner is not self:
                    self.visible(args)
                if a.level > level:
                    level = a.level
                parts.append(a.serial)
            else:
                parts.append(key_of(a))
        key = tuple(parts)
        here_only = op == "shared_max" or (op == "load" and args[0].where == "ring")  # it depends on mask or moment
        level = 1 if here_only else level
        block: Block | None = self.block
        while block is not None:
            if key in block.memo:
                return block.memo[key]
            block = None if here_only or block.kind == "subroutine" else block.parent
        if not here_only and key in self.hoisted.memo:
            return self.hoisted.memo[key]
        home = self.block if level else self.hoisted
        value = home.memo[key] = self.new(op, args, kind, level, home)
        value.rule = rule
        home.code.append(value)
        return value

    def opaque(self, x: Any, kind: str, rule: Any = None) -> Value:
        """A value equal to x that no folding looks into."""
        return self.operation("copy", [x if isinstance(x, Value) else constant(x, kind)], kind, rule)

    def replay(self, block: Block, formals: list[Any]) -> list[Any]:
        """The ends of a closed block, its operations recorded once more here for other formals."""
        new: dict[int, Any] = dict(zip((f.serial for f in block.formals), formals, strict=True))
        ruled: list[Value] = []

        def moved(xs: Any) -> list[Any]:
            return [new.get(x.serial, x) if isinstance(x, Value) else x for x in xs]

        def play(b: Block) -> Any:
            for item in b.code:
                if isinstance(item, Value):
                    rule = item.rule and (item.rule[0], tuple(moved(item.rule[1])), *item.rule[2:])
                    new[item.serial] = self.operation(item.op, moved(item.args), item.kind, rule)
                    if rule:
                        ruled.append(item)
                elif item.outs:
                    new.update(zip((v.serial for v in item.outs), again(item), strict=True))
            return moved(b.ends)

        def again(item: Construct) -> list[Any]:
            if item.word == "branch":
                then, other = (lambda b=b: play(b) for b in item.blocks)
                return self.branch(moved(item.reads)[0], then, other, item.blocks[0].source)
            if item.word == "call":
                n, reads = len(item.about.formals), moved(item.reads)
                if all(a is b for a, b in zip(reads[n:], item.reads[n:], strict=True)):
                    return self.call_again(item.about, reads[:n])
                new.update(zip((f.serial for f in item.about.formals), reads[:n], strict=True))
                ends = zip(play(item.about), item.about.ends, strict=True)  # it uses values of this block: inline
                return [end for end, old in ends if isinstance(old, Value)]

            def body(*inside: Any) -> tuple[list[Any], Any]:
                new.update(zip((f.serial for f in item.blocks[0].formals), inside, strict=True))
                *ends, more = play(item.blocks[0])
                return ends, more

            starts = zip(moved(item.reads), item.blocks[0].formals, strict=True)
            outs, unfinished = self.loop([self.opaque(x, f.kind) for x, f in starts], body, item.about)
            return [*outs, unfinished]

        ends = play(block)
        for item in ruled:  # a rule may name values made after its own
            new[item.serial].rule = (item.rule[0], tuple(moved(item.rule[1])), *item.rule[2:])
        return ends

    @contextmanager
    def enter(self, kind: str, repeats: int = 1) -> Iterator[Block]:
        """Record into a new block."""
        outer = self.block
        self.block = block = Block(self, kind, outer, outer.repeats * repeats)
        try:
            yield block
        finally:
            block.open, self.block = False, outer

    def settle(self, values: Any, kinds: Any, complaint: str, strict: bool = False, like: Any = (None, None)) -> Any:
        """Values and constants of the expected kinds and forms, or an error; if strict, a plain 2 is no integer."""
        pairs = list(zip(values, kinds, strict=False))
        same = len(values) == len(kinds) and (like[0] is None or alike(*like))
        if not same or any(kind_of(v) != k for v, k in pairs if strict or isinstance(v, Value)):
            raise TraceError(f"{here()}: {complaint}; write whole(2) for an integer 2, number(i) for a float")
        self.visible(values)
        return [v if isinstance(v, Value) else constant(v, k) for v, k in pairs]

    def branch(self, mask: Any, then: Callable[[], Any], other: Callable[[], Any], source: Any = None) -> Any:
        """Record both sides; give the results that each lane needs."""
        sides: list[Block] = []
        forms, kinds, source = list[Any](), list[str](), source or code_of(then)
        self.visible([mask])
        for text in (then, other):
            with self.enter("side") as block:
                block.seldom = getattr(text, "seldom", False)
                block.source, (block.ends, form) = source, flatten(text())
                kinds = kinds if forms else [kind_of(x) for x in block.ends]
                forms.append(form)
                complaint = "the sides of a branch return different numbers, kinds or forms of values"
                block.ends = self.settle(block.ends, kinds, complaint, strict=True, like=(forms[0], form))
            sides.append(block)
        changed = [self.cells[n] for n in {**sides[0].cells, **sides[1].cells}]
        for block in sides:
            block.ends += [block.cells[c.name] if c.name in block.cells else self.read(c) for c in changed]
        kinds = kinds + [c.kind for c in changed]
        if sides[0].code or sides[1].code:
            made = Construct("branch", [mask], sides)
            outs = made.outs = [self.new("out", (made, i), k) for i, k in enumerate(kinds)]
            self.block.code.append(made)
        else:
            self.both.add(source)
            rows = zip(kinds, sides[0].ends, sides[1].ends, strict=True)
            outs = [self.choice(k, mask, a, b) for k, a, b in rows]
        wanted = len(outs) - len(changed)
        for cell, value in zip(changed, outs[wanted:], strict=True):
            self.write(cell, value)
        return build(forms[0], outs[:wanted])

    def choice(self, kind: str, mask: Any, a: Any, b: Any) -> Value:
        """What a branch gives when neither side has code: as opaque as if it had, also to derivatives."""
        return self.operation(kind + "select", [mask, a, b], kind, ("choice", ()) if kind == "f" else None)

    def loop(self, carry: Any, body: Callable[..., Any], at_most: int) -> tuple[Any, Any]:
        """Record the body once; give the carry after the last round and whether it wanted more."""
        starts, form = flatten(carry)
        kinds = [kind_of(x) for x in starts]
        starts = self.settle(starts, kinds, "")
        with self.enter("loop", at_most) as block:
            inside = [self.new("formal", (), k) for k in kinds]
            results, again = body(*arguments(build(form, inside)))
            complaint = "the body of a loop must return what it carries, and a mask"
            leaves, like = flatten(results)
            *ends, again = self.settle([*leaves, again], [*kinds, "m"], complaint, like=(form, like))
        cells = [self.cells[n] for n in block.carried]
        block.formals = inside + [block.carried[c.name][1] for c in cells]
        block.ends = [*ends, *(block.cells[c.name] for c in cells), again]
        made = Construct("loop", starts + [block.carried[c.name][0] for c in cells], [block], at_most)
        made.outs = [self.new("out", (made, i), v.kind) for i, v in enumerate(block.formals)]
        made.outs.append(self.new("out", (made, len(block.formals)), "m"))
        self.block.code.append(made)
        for cell, value in zip(cells, made.outs[len(kinds) : -1], strict=True):
            self.write(cell, value)
        return build(form, made.outs[: len(kinds)]), made.outs[-1]

    def call(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Call a subroutine, tracing it on its first use with such arguments."""
        leaves, form = flatten(args)
        if any(type(a).__hash__ is None for a in leaves):
            raise TraceError(f"{here()}: a subroutine takes numbers, and trees of them")
        key = (function, form, *(a.kind if isinstance(a, Value) else key_of(a) for a in leaves))
        if key not in self.routines:
            with self.enter("subroutine") as block:
                given = [self.new("formal", (), a.kind) if isinstance(a, Value) else a for a in leaves]
                block.ends, form = flatten(function(*build(form, given)))
            block.formals = [f for f in given if isinstance(f, Value)]
            self.routines[key] = block, form
        block, form = self.routines[key]
        results = iter(self.call_again(block, [a for a in leaves if isinstance(a, Value)]))
        return build(form, [next(results) if isinstance(end, Value) else end for end in block.ends])

    def call_again(self, routine: Block, args: list[Any]) -> list[Value]:
        """Record one call of a traced subroutine; gives the ends that are values."""
        if routine.outer is None:
            routine.outer = outer_values(routine)
        reads = args + routine.outer
        self.visible(reads)
        level = max((v.level for v in reads), default=0)
        home = self.block if level else self.hoisted
        made = Construct("call", reads, [], routine)
        ends = [(i, end) for i, end in enumerate(routine.ends) if isinstance(end, Value)]
        made.outs = [self.new("out", (made, i), end.kind, level, home) for i, end in ends]
        home.code.append(made)
        return made.outs

    def read(self, cell: Cell, block: Block | None = None) -> Any:
        """The present value of a cell; loops carry what they touch."""
        block = block or self.block
        if cell.name in block.cells:
            return block.cells[cell.name]
        if block.kind == "subroutine":
            raise TraceError(f"{here()}: a subroutine is pure; keep {cell.name!r} outside and pass its value")
        if block.parent is None:
            block.cells[cell.name] = self.input("state", cell.name, cell.kind)
        elif block.kind == "loop":
            formal = self.new("formal", (), cell.kind, 1, block)
            block.carried[cell.name] = self.read(cell, block.parent), formal
            block.cells[cell.name] = formal
        else:
            return self.read(cell, block.parent)
        return block.cells[cell.name]

    def write(self, cell: Cell, new: Any) -> None:
        """Set a cell in the present block."""
        self.read(cell)
        [new] = self.settle([new], [cell.kind], f"{cell.name!r} holds another kind of value")
        self.block.cells[cell.name] = new if isinstance(new, Value) else self.opaque(new, cell.kind)

    def emit(self, stream: str, columns: dict[str, Any]) -> None:
        """Append a row to a stream, keeping the columns that are to be recorded."""
        leaves, form = flatten(columns)
        columns = dict(zip(paths(form), leaves, strict=True))
        wanted = tuple(self.record.get(stream, columns))
        known, rows = self.streams.get(stream, (wanted, 0))
        before = self.emitted.setdefault(stream, tuple(columns))
        if not columns or set(before) != set(columns) or not set(wanted) <= set(columns):
            first, now, kept = (", ".join(names) or "none" for names in (before, columns, wanted))
            remedy = "every row needs these columns, and at least one"
            raise ValueError(f"{here()}: stream {stream!r} has columns {first}; {remedy}; got {now}, to record {kept}")
        if wanted:
            self.streams[stream] = (known, rows + self.block.repeats)
            self.append(stream, [columns[c] for c in known])

    def append(self, stream: str, values: list[Any]) -> None:
        """Write the row and count it."""
        count = self.declare(f"{stream}.rows", 0, "i", checked=False)
        array, size = Array("stream", stream, "f", 0), len(values)
        for first in range(0, size, TOGETHER):
            self.store(array, count.value * size + first, *map(as_float, values[first : first + TOGETHER]))
        count.value = count.value + 1

    def declare(self, name: str, start: Any, kind: str = "f", checked: bool = True) -> Cell:
        """The cell of this name, made on its first use."""
        cell = self.cells.setdefault(name, Cell(name, kind, constant(start, kind), checked))
        wanted = (kind, constant(start, kind), checked)
        if name in {*self.reserved, *self.rings} or (cell.kind, cell.start, cell.checked) != wanted:
            other = "declared twice with other starts, or has the name of a state or delay"
            raise ValueError(f"{here()}: memory {name!r} is {other}")
        return cell

    def ring(self, name: str, size: int, start: float) -> Array:
        """A ring buffer of the state."""
        if name in self.rings or name in self.cells or name in self.reserved:
            raise ValueError(f"{here()}: delay {name!r}: another delay, memory or state has this name")
        self.rings[name] = Cell(name, "f", float(start), size=size)
        return Array("ring", name, "f", size)

    def store(self, array: Array, index: Any, *values: Any) -> None:
        """Write one element of a ring buffer, or some of a stream from an index on."""
        if any(block.kind == "subroutine" for block in self.reachable()):
            raise TraceError(f"{here()}: a subroutine is pure; emit or delay outside it")
        floats = self.settle(values, "f" * len(values), "a delay keeps floats")
        self.block.code.append(Construct("store", [index, *floats], [], array))
