"""A long program as many short LLVM functions, so that code generation takes time in proportion to its length.

Instructions are cut in their order into pieces of at most `LONGEST` operations.  What one piece makes and another needs
has a home in memory, a place of one frame that the run provides; state and parameters are read where they lie.
Branches, loops and subroutines longer than a piece are driven from outside.  The operations and their operands stay the
same, and so do all bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import inf
from typing import Any

from ..collector import paused
from .blocks import Block, Construct
from .machine import ALIGNED, Assembler
from .program import Program
from .values import Value

LONG = 8000  # operations: a longer program is cut; rigid steps with two loose joints would be slower in pieces
LONGEST = 600  # operations and reads of a piece
FEW = 40  # arguments and results of a subroutine that stay in registers
MOVES = 100  # of one function
STILL = ", !invariant.load !0"  # a piece of operations writes nothing that it reads: loads need not wait for stores
Home = tuple[str, int]  # base and place of a value in memory
BLEND = """define internal fastcc void @blend(ptr %to, ptr %from, i64 %n, {M} %active) noinline nounwind {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %head ]
  %a = getelementptr {I}, ptr %from, i64 %i
  %b = getelementptr {I}, ptr %to, i64 %i
  %new = load {I}, ptr %a, align 8
  %old = load {I}, ptr %b, align 8
  %kept = select {M} %active, {I} %new, {I} %old
  store {I} %kept, ptr %b, align 8
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %head, label %end
end:
  ret void
}}"""  # copies places side by side in the lanes that run


@paused()
def assembly(program: Program, lanes: int = 1, fma: bool = True, share: bool = False) -> str:
    """LLVM assembly of a program for so many lanes."""
    return (Pieces if is_long(program) else Assembler)(program, lanes, fma, share).module()


def is_long(program: Program) -> bool:
    """Whether a program is cut: for what runs in every step, or for all of it."""
    return program.usual > LONG or program.operations > 2 * LONG


def follows(home: Home | None, last: Home | None) -> bool:
    """Whether a home lies behind another."""
    return last is not None and home == (last[0], last[1] + 1)


class Registers(dict[int, str]):
    """Registers of a piece; what it lacks is read from its home at its first use."""

    def __init__(self, found: Callable[[int], str]) -> None:
        self.found = found

    def __missing__(self, serial: int) -> str:
        name = self[serial] = self.found(serial)
        return name


class Pieces(Assembler):
    """Writes the functions of one long program."""

    outlines = False

    def __init__(self, program: Program, lanes: int, fma: bool, share: bool) -> None:
        super().__init__(program, lanes, fma, share)
        self.homes: dict[int, Home] = {}  # of values that are needed outside their piece
        self.used = 0  # places of the frame
        self.gap: list[str] | None = None  # before the branch or loop of a piece that is written now
        self.texts: list[tuple[str, list[str], list[Any]]] = []  # functions: head, beginning, lines
        self.lengths: dict[int, float] = {}
        self.outer: set[int] = set()  # what subroutines use of the blocks around
        self.known: dict[int, Value] = {v.serial: v for v in program.inputs.values()}
        self.index = {p.name: i for i, p in enumerate(program.parameters)}
        for block in (program.hoisted, program.body):
            self.survey(block)

    # -- what there is
    def survey(self, block: Block) -> float:
        """Note every value of a block; gives how many operations it has, infinitely many if it must be driven."""
        if id(block) not in self.lengths:
            self.known.update((v.serial, v) for v in block.formals)
            total = float(len(block.ends))
            for item in block.code:
                self.known.update((v.serial, v) for v in ([item] if isinstance(item, Value) else item.outs))
                total += self.length(item)
            self.lengths[id(block)] = total
        return self.lengths[id(block)]

    def length(self, item: Any) -> float:
        """How many operations an instruction is; one that calls a long subroutine is endless."""
        if isinstance(item, Value):
            return 1
        traffic = len(item.reads) + len(item.outs)
        if item.word != "call":
            return sum(map(self.survey, item.blocks), start=traffic)
        self.outer.update(v.serial for v in item.reads[len(item.about.formals) :])
        return traffic if self.survey(item.about) <= LONGEST and traffic <= FEW else inf

    # -- memory
    def home(self, v: Value) -> Home:
        """Where a value lies in memory."""
        if v.op == "input":
            where, name = v.args
            if where == "parameter":
                return "parameters", self.index[name]
            return "state", self.program.places[name]
        if v.serial not in self.homes:
            self.homes[v.serial] = "%frame", self.used
            self.used += 1
        return self.homes[v.serial]

    def at(self, home: Home) -> Home:
        """The same in the words of the function that is written now."""
        base, place = home
        return (base if base.startswith("%") else self.word(base)), place

    def imported(self, serial: int) -> str:
        """A value made elsewhere, read where all that follows in this piece can use it."""
        lines, v = self.lines, self.known[serial]
        if self.gap is not None:
            self.lines = self.gap
        found = self.fetch(*self.at(self.home(v)), v.kind, STILL)
        self.lines = lines
        return found

    def peek(self, x: Any, kind: str) -> str:
        """A value as it lies in memory now, or a constant."""
        return self.fetch(*self.at(self.home(x)), x.kind) if isinstance(x, Value) else self.literal(x, kind)

    def lies(self, x: Any) -> Home | None:
        """The home of a value, none of a constant."""
        return self.home(x) if isinstance(x, Value) else None

    def put(self, name: str, kind: str, home: Home) -> None:
        """Write a register to memory."""
        if kind == "m":
            name = self.say(f"zext {self.M} {name} to {self.I}")
        place = self.place(*self.at(home))
        self.lines.append(f"  store {self.F if kind == 'f' else self.I} {name}, ptr {place}, align 8")

    # -- functions
    def function(self, name: str, fill: Callable[[], None]) -> str:
        """Write a function of the frame; gives its name."""
        saved = self.label, self.names, self.active, self.lines, self.entry, self.bases, self.gap
        self.begin("body", Registers(self.imported), "%active")
        self.gap = None
        fill()
        head = f"define internal fastcc void {name}(ptr %control, ptr %frame, ptr %outs, {self.M} %active)"
        self.texts.append((f"{head} noinline nounwind {ALIGNED}", self.entry, self.lines))
        self.label, self.names, self.active, self.lines, self.entry, self.bases, self.gap = saved
        return name

    def call(self, name: str, outs: str = "%outs") -> None:
        """Call a function of the frame; outs: where the present subroutine leaves its results."""
        self.lines.append(f"  call fastcc void {name}(ptr %control, ptr %frame, ptr {outs}, {self.M} {self.active})")

    def finished(self, head: str, entry: list[str], lines: list[Any]) -> str:
        """The text of a function, with stores of those values that are needed elsewhere."""
        self.lines = []
        for line in lines:
            if isinstance(line, str):
                self.lines.append(line)
            elif isinstance(line, list):
                self.lines += line
            elif line[0].serial in self.homes:
                v, name = line
                self.put(name, v.kind, self.homes[v.serial])
        return "\n".join([f"{head} {{", "entry:", *entry, "  br label %body", "body:", *self.lines, "  ret void", "}"])

    def piece(self, items: list[Any]) -> None:
        """A function of some instructions, and its call."""

        def fill() -> None:
            lines: list[Any] = self.lines
            for item in items:
                if isinstance(item, Value):
                    self.names[item.serial] = self.operation(item)
                    lines.append((item, self.names[item.serial]))
                    continue
                self.gap = []
                lines.append(self.gap)
                getattr(self, "write_" + item.word)(item)
                self.gap = None
                lines += [(v, self.names[v.serial]) for v in item.outs]

        self.call(self.function(f"@piece{len(self.texts)}", fill))

    def move(self, rows: Sequence[tuple[Any, str, Home]], masked: bool = False) -> None:
        """Copy values or constants of a kind to homes; if masked, in the lanes that run."""
        masked = masked and self.lanes > 1
        runs: list[list[Any]] = []  # places side by side go together
        for row in rows:
            last = runs[-1][-1] if runs else None
            if last and follows(self.lies(row[0]), self.lies(last[0])) and follows(row[2], last[2]):
                runs[-1].append(row)
            else:
                runs.append([row])
        for first in range(0, len(runs), MOVES):
            fill = partial(self.moves, runs[first : first + MOVES], masked)
            self.call(self.function(f"@move{len(self.texts)}", fill))

    def moves(self, runs: list[list[Any]], masked: bool) -> None:
        """The lines of some moves."""
        for run in runs:
            x, kind, to = run[0]
            if len(run) > 1:
                ends = [f"ptr align 8 {self.place(*self.at(home))}" for home in (to, self.home(x))]
                called = "fastcc void @blend" if masked else "void @llvm.memmove.p0.p0.i64"
                size, last = (len(run), f"{self.M} %active") if masked else (8 * self.lanes * len(run), "i1 false")
                self.lines.append(f"  call {called}({', '.join([*ends, f'i64 {size}', last])})")
                continue
            name, t = self.peek(x, kind), self.types[kind]
            if masked:
                name = self.say(f"select {self.M} %active, {t} {name}, {t} {self.fetch(*self.at(to), kind)}")
            self.put(name, kind, to)

    def give(self, values: Sequence[Value], ends: Sequence[Any], masked: bool = False) -> None:
        """Copy the ends of a block to what they become."""
        rows = [(x, v.kind, self.home(v)) for v, x in zip(values, ends, strict=True)]
        self.move([row for row in rows if self.lies(row[0]) != row[2]], masked)

    # -- driving
    def drive(self, code: list[Any]) -> None:
        """Call the pieces of some instructions one after the other."""
        group: list[Any] = []
        total, seen = 0.0, set[int]()  # of the piece: its operations and reads, and what it has
        for item in code:
            size = self.length(item)
            reads, made = (item.args, [item]) if isinstance(item, Value) else (item.reads, item.outs)
            new = {x.serial for x in reads if isinstance(x, Value)} - seen
            if group and total + size + len(new) > LONGEST:
                self.piece(group)
                group, total, seen = [], 0.0, set()
            if size > LONGEST and (size == inf or getattr(item, "blocks", None)):
                getattr(self, "drive_" + item.word)(item)
                continue
            group.append(item)
            total += size + len(new)
            seen |= new
            seen.update(v.serial for v in made)
        if group:
            self.piece(group)

    def drive_branch(self, made: Construct) -> None:
        """Run each side that some lane needs, the second one for its own lanes only."""
        order = sorted(made.blocks, key=lambda block: -sum(self.free(end, block) for end in block.ends))
        for late, block in enumerate(self.sides(made, order)):
            masked = late > 0 and self.lanes > 1
            for v, end in zip(made.outs, block.ends, strict=True):
                if not masked and self.free(end, block):
                    self.homes[end.serial] = self.home(v)  # made in place
            self.drive(block.code)
            self.give(made.outs, block.ends, masked)

    def sides(self, made: Construct, order: Sequence[Block]) -> Iterator[Block]:
        """The sides of a branch in some order, each to be written where it runs."""
        mask, outer = self.peek(made.reads[0], "m"), self.active
        for block in order:
            taken = mask if block is made.blocks[0] else self.say(f"xor {self.M} {mask}, {self.literal(True, 'm')}")
            self.fresh += 1
            side = f"side{self.fresh}"
            self.active = outer if self.lanes == 1 else self.both(outer, taken)
            needed = taken if self.lanes == 1 else self.any(self.active)
            self.lines.append(f"  br i1 {needed}, label %{side}, label %{side}.end")
            self.start(side)
            yield block
            self.lines.append(f"  br label %{side}.end")
            self.start(f"{side}.end")
        self.active = outer

    def free(self, end: Any, block: Block) -> bool:
        """True if an end of a block is made there and can have any home."""
        if not isinstance(end, Value) or end.block is not block or end.serial in self.homes or end.serial in self.outer:
            return False
        return end.op not in ("input", "formal") and not (end.op == "out" and end.args[0].word == "call")

    def drive_loop(self, made: Construct) -> None:
        """Repeat a block while some lane wants it; a lane that is through keeps its values."""
        [block], outer = made.blocks, self.active
        *_, again = block.ends
        masked = isinstance(again, Value) and self.lanes > 1
        self.give(block.formals, made.reads)
        self.fresh += 1
        before, head = self.label, f"head{self.fresh}"
        self.lines.append(f"  br label %{head}")
        self.start(head)
        mark, live = len(self.lines), f"%{head}.live"
        self.active = live if masked else outer
        self.drive(block.code)
        self.give(made.outs, block.ends, masked=True)  # an end may be what another formal was
        self.give(block.formals, made.outs[:-1])
        following = self.say(f"add i64 %{head}.count, 1")
        go = self.say(f"icmp slt i64 {following}, {1 if again is False else made.about}")
        rows = [(f"%{head}.count", "i64", "0", following)]
        if isinstance(again, Value):
            more = self.peek(made.outs[-1], "m")
            more = self.both(live, more) if masked else more
            go = self.say(f"and i1 {go}, {self.any(more)}")
            rows += [(live, self.M, outer, more)] if masked else []
        self.lines.append(f"  br i1 {go}, label %{head}, label %{head}.end")
        self.lines[mark:mark] = [f"  {x} = phi {t} [ {a}, %{before} ], [ {b}, %{self.label} ]" for x, t, a, b in rows]
        self.start(f"{head}.end")
        self.active = outer

    def drive_call(self, made: Construct) -> None:
        """Call a long subroutine: its arguments have homes of their own, its results those of this call."""
        routine = made.about
        if id(routine) not in self.routines:
            self.routines[id(routine)] = f"@routine{len(self.routines)}"
            for v in routine.formals:
                self.home(v)  # side by side
            self.function(self.routines[id(routine)], lambda: self.drive_routine(routine))
        self.give(routine.formals, made.reads[: len(routine.formals)])  # what follows is used where it lies
        first = self.used
        self.used += len(made.outs)
        for i, v in enumerate(made.outs):
            self.homes[v.serial] = "%frame", first + i
        self.call(self.routines[id(routine)], self.place("%frame", first))

    def drive_routine(self, routine: Block) -> None:
        """The pieces of a subroutine; what it makes for its caller is made in place, if it can."""
        ends = [end for end in routine.ends if isinstance(end, Value)]
        for i, end in enumerate(ends):
            if self.free(end, routine):
                self.homes[end.serial] = "%outs", i
        self.drive(routine.code)
        rows = [(end, end.kind, ("%outs", i)) for i, end in enumerate(ends)]
        self.move([row for row in rows if self.homes.get(row[0].serial) != row[2]])

    # -- the function `run`
    def keep(self, ends: Sequence[Any]) -> None:
        """Make values the state, in the lanes that run."""
        early, late, places = list[Any](), list[Any](), self.program.places
        for s, end in zip(self.program.slots, ends, strict=False):  # ring buffers stay in memory
            if isinstance(end, Value) and end.op == "input" and end.args[0] == "state":
                if end.args[1] == s.name:
                    continue  # it stays, and others are read before they are written
                early.append((end, s.kind, ("%frame", self.used)))
                end = Value("copy", (), s.kind, 1, None, -self.used)
                self.homes[end.serial], self.used = ("%frame", self.used), self.used + 1
            late.append((end, s.kind, ("state", places[s.name])))
        self.move(early)
        self.move(late, masked=True)

    def module(self) -> str:
        """All functions of the program."""
        program, places = self.program, self.program.places
        self.drive(program.hoisted.code)
        state, rooms = self.word("state"), self.rooms()
        prologue, self.lines, before = self.lines, [], self.label
        self.going(lambda name: self.fetch(state, places[name], "i"), rooms, self.word("steps", "i64"))
        last = program.body.code[-1] if program.body.code else None
        if isinstance(last, Construct) and last.word == "branch" and last.outs == program.body.ends:
            self.drive(program.body.code[:-1])
            for block in self.sides(last, last.blocks):  # a step is taken or not: no need to hand on what is kept
                self.drive(block.code)
                self.keep(block.ends)
        else:
            self.drive(program.body.code)
            self.keep(program.body.ends)
        following = self.say("add i64 %taken, 1")
        self.lines.append("  br label %head")
        phi = f"  %taken = phi i64 [ 0, %{before} ], [ {following}, %{self.label} ]"
        bases = [f"  {base} = getelementptr i64, ptr {self.word('frame')}, i64 0" for base in ("%frame", "%outs")]
        body = [f"define void @run(ptr %control) nounwind {ALIGNED} {{", "entry:", *self.entry, *bases, *prologue]
        body += ["  br label %head", "head:", phi, *self.lines]
        body += ["exit:", "  store i64 %taken, ptr %control", "  ret void", "}"]
        texts = [self.finished(*text) for text in self.texts]
        size = f"@frame_words = constant i64 {self.used}"
        copying = "declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)"
        head = "\n".join([size, copying, *self.globals(), "!0 = !{}"])
        return "\n\n".join([head, BLEND.format(M=self.M, I=self.I), *self.functions, *texts, "\n".join(body)])
