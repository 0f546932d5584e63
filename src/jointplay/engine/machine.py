"""A program as LLVM assembly text, scalar or in SIMD lanes.

One function `run(control)` loops over steps.  `control` is an array of 64-bit words: how many steps to
take (on return: how many were taken), then addresses and sizes in the order of `control_words`.  State and
parameters lie as [place][lane], so that one place of all lanes is one vector.  In lanes every block runs
under a mask of the lanes that need it; only rows, ring buffers and results of branches look at it.
"""

from __future__ import annotations

import struct
from typing import Any

from .program import Program
from .recorder import Array, Block, Construct, outer_values
from .values import OPERATIONS, Value

INTRINSICS = ("sqrt", "fabs", "floor", "roundeven")


def control_words(program: Program) -> list[str]:
    """The names of the words that the program reads from its control array."""
    streams = [f"{s}.{part}" for s in program.streams for part in ("rows", "stride", "limit")]
    return ["steps", "stop", "state", "parameters", *program.arrays, *streams]


def layout(program: Program) -> dict[str, int]:
    """Where each place of the state begins."""
    places, at = {}, 0
    for slot in program.slots:
        places[slot.name] = at
        at += slot.size
    return places


def assembly(program: Program, lanes: int = 1, fma: bool = True, share: bool = False) -> str:
    """LLVM assembly of a program for so many lanes."""
    return Assembler(program, lanes, fma, share).module()


class Assembler:
    """Writes the functions of one program."""

    def __init__(self, program: Program, lanes: int, fma: bool, share: bool) -> None:
        self.program, self.lanes, self.fma, self.share = program, lanes, fma, share and lanes > 1
        scalar = {"f": "double", "i": "i64", "m": "i1"}
        self.types = {k: t if lanes == 1 else f"<{lanes} x {t}>" for k, t in scalar.items()}
        self.suffix = "f64" if lanes == 1 else f"v{lanes}f64"
        words = control_words(program)
        self.words = {name: i for i, name in enumerate(words)}
        self.places = layout(program)
        self.functions: list[str] = []
        self.constants: dict[tuple[int, ...], str] = {}
        self.routines: dict[int, str] = {}
        self.captured: dict[int, int] = {}  # values that subroutines use -> their place in %outer
        self.note_captured(program.hoisted)
        self.note_captured(program.body)
        self.fresh = 0
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.bases: dict[str, str] = {}
        self.label = "entry"
        self.active = "true"

    def note_captured(self, block: Block) -> None:
        """Find what subroutines use of the text around them."""
        for item in block.code:
            if isinstance(item, Construct):
                if item.word == "call":
                    for v in outer_values(item.about):
                        self.captured.setdefault(v.serial, len(self.captured))
                for inner in [item.about] if item.word == "call" else item.blocks:
                    self.note_captured(inner)

    # -- small pieces
    def say(self, text: str) -> str:
        """Write an instruction with a result; gives the name of the result."""
        self.fresh += 1
        self.lines.append(f"  %t{self.fresh} = {text}")
        return f"%t{self.fresh}"

    def start(self, label: str) -> None:
        """Begin a basic block."""
        self.lines.append(f"{label}:")
        self.label = label

    def labels(self, *stems: str) -> list[str]:
        """Fresh labels."""
        self.fresh += 1
        return [f"{stem}{self.fresh}" for stem in stems]

    def literal(self, x: Any, kind: str) -> str:
        """A constant, the same in every lane."""
        text = str(int(x)) if kind == "i" else "true" if x else "false"
        if kind == "f":
            text = f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"
        scalar = {"f": "double", "i": "i64", "m": "i1"}[kind]
        return text if self.lanes == 1 else f"splat ({scalar} {text})"

    def ref(self, x: Any, kind: str) -> str:
        """An operand."""
        return self.names[x.serial] if isinstance(x, Value) else self.literal(x, kind)

    def define(self, value: Value, name: str) -> None:
        """Bind a value to a register, and keep it in memory if a subroutine wants it."""
        self.names[value.serial] = name
        if value.serial in self.captured:
            self.lines.append(f"  store {self.types[value.kind]} {name}, ptr {self.outer(value)}")

    def outer(self, value: Value) -> str:
        """The address of a captured value."""
        return self.say(f"getelementptr i64, ptr %outer, i64 {self.captured[value.serial] * self.lanes}")

    def word(self, name: str, kind: str = "ptr") -> str:
        """A word of the control array, read at its first use in the present function."""
        if name not in self.bases:
            at = f"%w{self.words[name]}"
            self.entry += [f"  {at}.at = getelementptr i64, ptr %control, i64 {self.words[name]}",
                           f"  {at} = load {kind}, ptr {at}.at"]
            self.bases[name] = at
        return self.bases[name]

    def any(self, mask: str) -> str:
        """True if the mask holds in some lane."""
        if self.lanes == 1:
            return mask
        whole = self.say(f"bitcast {self.types['m']} {mask} to i{self.lanes}")
        return self.say(f"icmp ne i{self.lanes} {whole}, 0")

    def both(self, a: str, b: str) -> str:
        """Conjunction of two masks."""
        return b if a in ("true", self.literal(True, "m")) else self.say(f"and {self.types['m']} {a}, {b}")

    def per_lane(self) -> range:
        """The lanes, for what only scalars can do."""
        return range(self.lanes)

    def pick(self, x: str, kind: str, lane: int) -> str:
        """One lane of a vector."""
        return x if self.lanes == 1 else self.say(f"extractelement {self.types[kind]} {x}, i32 {lane}")

    # -- instructions
    def write(self, block: Block) -> None:
        """The instructions of a block."""
        for item in block.code:
            if isinstance(item, Value):
                self.define(item, self.operation(item))
            else:
                getattr(self, "write_" + item.word)(item)

    def operation(self, v: Value) -> str:
        """One operation; sums of products become fused."""
        if v.op == "copy":
            return self.ref(v.args[0], v.kind)
        if v.op == "load":
            return self.load(*v.args)
        if v.op == "shared_max":
            return self.shared_max(v)
        if self.fma and v.op in ("add", "sub"):
            for place, x in enumerate(v.args):
                if isinstance(x, Value) and x.op == "mul":
                    return self.fused(v, x, place)
        op = OPERATIONS[v.op]
        args = [self.ref(x, k) for x, k in zip(v.args, op.takes, strict=True)]
        named = {"F": self.types["f"], "I": self.types["i"], "M": self.types["m"], "s": self.suffix}
        return self.say(op.llvm.format(*args, **named))

    def fused(self, v: Value, product: Value, place: int) -> str:
        """Sum or difference with a product in one rounding: decided by the expression alone."""
        a, b = (self.ref(x, "f") for x in product.args)
        c, t = self.ref(v.args[1 - place], "f"), self.types["f"]
        if v.op == "sub":
            if place == 0:
                c = self.say(f"fneg {t} {c}")
            else:
                a = self.say(f"fneg {t} {a}")
        return self.say(f"call {t} @llvm.fma.{self.suffix}({t} {a}, {t} {b}, {t} {c})")

    def shared_max(self, v: Value) -> str:
        """The largest of the running lanes, given to all, if steps are shared."""
        x = self.ref(v.args[0], "f")
        if not self.share:
            return x
        x = self.say(f"select {self.types['m']} {self.active}, {self.types['f']} {x}, {self.types['f']} {self.literal(float('-inf'), 'f')}")
        best = self.pick(x, "f", 0)
        for lane in range(1, self.lanes):
            other = self.pick(x, "f", lane)
            best = self.say(f"select i1 {self.say(f'fcmp ugt double {other}, {best}')}, double {other}, double {best}")
        first = self.say(f"insertelement {self.types['f']} poison, double {best}, i32 0")
        t = self.types["f"]
        return self.say(f"shufflevector {t} {first}, {t} poison, <{self.lanes} x i32> zeroinitializer")

    def element(self, array: Array, index: str, lane: int) -> str:
        """The address of one element of an array in one lane."""
        at = self.pick(index, "i", lane)
        if array.where == "constant":
            name = self.constants.setdefault(array.data, f"@table{len(self.constants)}")
            return self.say(f"getelementptr i64, ptr {name}, i64 {at}")
        if self.lanes > 1:
            at = self.say(f"add i64 {self.say(f'mul i64 {at}, {self.lanes}')}, {lane}")
        base = self.word("state" if array.where == "ring" else array.name)
        if array.where == "ring":
            base = self.say(f"getelementptr i64, ptr {base}, i64 {self.places[array.name] * self.lanes}")
        return self.say(f"getelementptr i64, ptr {base}, i64 {at}")

    def load(self, array: Array, index: Any) -> str:
        """One element, lane by lane."""
        scalar = {"f": "double", "i": "i64"}[array.kind]
        places = [self.element(array, self.ref(index, "i"), lane) for lane in self.per_lane()]
        if self.lanes == 1:
            return self.say(f"load {scalar}, ptr {places[0]}")
        result = "poison"
        for lane, place in enumerate(places):
            result = self.say(f"insertelement {self.types[array.kind]} {result}, {scalar} {self.say(f'load {scalar}, ptr {place}')}, i32 {lane}")
        return result

    def write_store(self, made: Construct) -> None:
        """Write an element of a ring buffer in the lanes that run."""
        index, value = self.ref(made.reads[0], "i"), self.ref(made.reads[1], "f")
        for lane in self.per_lane():
            place = self.element(made.about, index, lane)
            new = self.pick(value, "f", lane)
            if self.lanes > 1:
                old = self.say(f"load double, ptr {place}")
                new = self.say(f"select i1 {self.pick(self.active, 'm', lane)}, double {new}, double {old}")
            self.lines.append(f"  store double {new}, ptr {place}")

    def write_emit(self, made: Construct) -> None:
        """Write a row; lanes that do not run write beyond their last row, where nobody looks."""
        stream, row = made.about, self.ref(made.reads[0], "i")
        base, stride = self.word(f"{stream}.rows"), self.word(f"{stream}.stride", "i64")
        values = made.reads[1:]
        for lane in self.per_lane():
            at = self.say(f"add i64 {self.say(f'mul i64 {stride}, {lane}')}, {self.pick(row, 'i', lane)}")
            at = self.say(f"mul i64 {at}, {len(values)}")
            for column, x in enumerate(values):
                kind = x.kind if isinstance(x, Value) else {float: "f", int: "i", bool: "m"}[type(x)]
                text = self.pick(self.ref(x, kind), kind, lane)
                if kind != "f":
                    text = self.say({"i": "sitofp i64 ", "m": "uitofp i1 "}[kind] + f"{text} to double")
                place = self.say(f"getelementptr double, ptr {base}, i64 {self.say(f'add i64 {at}, {column}')}")
                self.lines.append(f"  store double {text}, ptr {place}")

    def write_branch(self, made: Construct) -> None:
        """Run each side if some lane needs it, then select per lane."""
        mask, outer, found = self.ref(made.reads[0], "m"), self.active, []
        kinds = [v.kind for v in made.outs]
        if self.lanes == 1:
            return self.write_scalar_branch(made, mask)
        for side, block in enumerate(made.blocks):
            taken = mask if side == 0 else self.say(f"xor {self.types['m']} {mask}, {self.literal(True, 'm')}")
            if not block.code:
                found.append([self.ref(x, k) for x, k in zip(block.ends, kinds, strict=True)])
                continue
            run, after = self.labels("side", "after")
            taken = self.active = self.both(outer, taken)
            self.lines.append(f"  br i1 {self.any(taken)}, label %{run}, label %{after}")
            before = self.label
            self.start(run)
            self.write(block)
            ends = [self.ref(x, k) for x, k in zip(block.ends, kinds, strict=True)]
            self.lines.append(f"  br label %{after}")
            leaving = self.label
            self.start(after)
            found.append([
                self.say(f"phi {self.types[k]} [ {x}, %{leaving} ], [ {self.literal(0, k)}, %{before} ]")
                for k, x in zip(kinds, ends, strict=True)
            ])
            self.active = outer
        for v, a, b in zip(made.outs, *found, strict=True):
            t = self.types[v.kind]
            self.define(v, self.say(f"select {self.types['m']} {mask}, {t} {a}, {t} {b}"))

    def write_scalar_branch(self, made: Construct, mask: str) -> None:
        """Run one side."""
        then, other, join = self.labels("then", "other", "join")
        self.lines.append(f"  br i1 {mask}, label %{then}, label %{other}")
        found = []
        for label, block in zip((then, other), made.blocks, strict=True):
            self.start(label)
            self.write(block)
            ends = [self.ref(x, v.kind) for x, v in zip(block.ends, made.outs, strict=True)]
            found.append([f"[ {x}, %{self.label} ]" for x in ends])
            self.lines.append(f"  br label %{join}")
        self.start(join)
        merged = [self.say(f"phi {self.types[v.kind]} {a}, {b}") for v, a, b in zip(made.outs, *found, strict=True)]
        for v, name in zip(made.outs, merged, strict=True):
            self.define(v, name)

    def write_loop(self, made: Construct) -> None:
        """Repeat a block while some lane wants it; a lane that is through keeps its values."""
        [block], outer = made.blocks, self.active
        *ends, again = block.ends
        head, end = self.labels("head", "end")
        kinds, before = [f.kind for f in block.formals], self.label
        masked = isinstance(again, Value)
        starts = [self.ref(x, k) for x, k in zip(made.reads, kinds, strict=True)]
        self.lines.append(f"  br label %{head}")
        self.start(head)
        mark = len(self.lines)
        count, live = f"%{head}.count", f"%{head}.live"
        for i, f in enumerate(block.formals):
            self.names[f.serial] = f"%{head}.{i}"
        if masked and self.lanes > 1:
            self.active = live
        for f in block.formals:
            self.define(f, self.names[f.serial])
        self.write(block)
        new = [self.ref(x, k) for x, k in zip(ends, kinds, strict=True)]
        more = self.ref(again, "m")
        if masked and self.lanes > 1:
            new = [
                self.say(f"select {self.types['m']} {live}, {self.types[k]} {x}, {self.types[k]} {self.names[f.serial]}")
                for k, x, f in zip(kinds, new, block.formals, strict=True)
            ]
            more = self.both(live, more)
        following = self.say(f"add i64 {count}, 1")
        go = self.say(f"icmp slt i64 {following}, {made.about}")
        if masked:
            go = self.say(f"and i1 {go}, {self.any(more)}")
        self.lines.append(f"  br i1 {go}, label %{head}, label %{end}")
        phis = [f"  {count} = phi i64 [ 0, %{before} ], [ {following}, %{self.label} ]"]
        if self.active == live:
            phis.append(f"  {live} = phi {self.types['m']} [ {outer}, %{before} ], [ {more}, %{self.label} ]")
        for i, (k, a, b) in enumerate(zip(kinds, starts, new, strict=True)):
            phis.append(f"  %{head}.{i} = phi {self.types[k]} [ {a}, %{before} ], [ {b}, %{self.label} ]")
        self.lines[mark:mark] = phis
        self.start(end)
        self.active = outer
        for v, name in zip(made.outs, [*new, more], strict=True):
            self.define(v, name)

    def write_call(self, made: Construct) -> None:
        """Call a subroutine."""
        routine: Block = made.about
        name = self.routine(routine)
        kinds = [v.kind for v in routine.formals]
        args = [f"{self.types[k]} {self.ref(x, k)}" for k, x in zip(kinds, made.reads, strict=False)]
        result = "{" + ", ".join(self.types[v.kind] for v in made.outs) + "}"
        passed = ", ".join(["ptr %control", "ptr %outer", f"{self.types['m']} {self.active}", *args])
        got = self.say(f"call fastcc {result} {name}({passed})")
        for i, v in enumerate(made.outs):
            self.define(v, self.say(f"extractvalue {result} {got}, {i}"))

    # -- functions
    def routine(self, block: Block) -> str:
        """The name of a subroutine, written at its first call."""
        if id(block) not in self.routines:
            name = self.routines[id(block)] = f"@routine{len(self.routines)}"
            saved = self.lines, self.names, self.bases, self.label, self.active, getattr(self, "entry", [])
            self.lines, self.names, self.bases, self.label, self.entry = [], {}, {}, "body", []
            self.active = "%active"
            args = []
            for i, f in enumerate(block.formals):
                args.append(f"{self.types[f.kind]} %a{i}")
                self.define(f, f"%a{i}")
            for v in outer_values(block):
                self.names[v.serial] = self.say(f"load {self.types[v.kind]}, ptr {self.outer(v)}")
            self.write(block)
            ends = [(x, x.kind) for x in block.ends if isinstance(x, Value)]
            result, types = "poison", "{" + ", ".join(self.types[k] for _, k in ends) + "}"
            for i, (x, k) in enumerate(ends):
                result = self.say(f"insertvalue {types} {result}, {self.types[k]} {self.ref(x, k)}, {i}")
            head = ", ".join(["ptr %control", "ptr %outer", f"{self.types['m']} %active", *args])
            text = [f"define internal fastcc {types} {name}({head}) noinline nounwind {{", "entry:", *self.entry]
            self.functions.append("\n".join([*text, "  br label %body", "body:", *self.lines, f"  ret {types} {result}", "}"]))
            self.lines, self.names, self.bases, self.label, self.active, self.entry = saved
        return self.routines[id(block)]

    def place(self, base: str, at: int) -> str:
        """The address of one place of the state or the parameters."""
        return self.say(f"getelementptr i64, ptr {base}, i64 {at * self.lanes}")

    def fetch(self, base: str, at: int, kind: str) -> str:
        """The numbers of one place."""
        raw = self.say(f"load {self.types['f' if kind == 'f' else 'i']}, ptr {self.place(base, at)}, align 8")
        return raw if kind != "m" else self.say(f"icmp ne {self.types['i']} {raw}, {self.literal(0, 'i')}")

    def module(self) -> str:
        """All functions of the program."""
        program, self.entry = self.program, []
        inputs = program.inputs
        for i, slot in enumerate(program.parameters):
            if ("parameter", slot.name) in inputs:
                self.define(inputs["parameter", slot.name], self.fetch(self.word("parameters"), i, slot.kind))
        self.write(program.hoisted)
        slots = [s for s in program.slots if s.size == 1 or s.name not in inputs]
        slots = slots[: len(program.body.ends)]
        state = self.word("state")
        starts = [self.fetch(state, self.places[s.name], s.kind) for s in slots]
        stop, steps = self.word("stop"), self.word("steps", "i64")
        rooms = {s: self.word(f"{s}.limit", "i64") for s in program.streams}
        before, prologue, self.lines = self.label, self.lines, []
        at = {s.name: f"%s{i}" for i, s in enumerate(slots)}
        live = self.say(f"icmp eq {self.types['i']} {at['status']}, {self.literal(0, 'i')}")
        go = self.any(live)
        for stream, limit in rooms.items():
            wide = limit if self.lanes == 1 else self.splat(limit)
            full = self.say(f"icmp sgt {self.types['i']} {at[f'{stream}.rows']}, {wide}")
            go = self.say(f"and i1 {go}, {self.say(f'xor i1 {self.any(self.both(live, full))}, true')}")
        asked = self.say(f"load volatile i64, ptr {stop}")
        go = self.say(f"and i1 {go}, {self.say(f'icmp eq i64 {asked}, 0')}")
        go = self.say(f"and i1 {go}, {self.say(f'icmp slt i64 %taken, {steps}')}")
        self.lines.append(f"  br i1 {go}, label %step, label %exit")
        self.start("step")
        self.active = "true" if self.lanes == 1 else live
        for (where, name), v in inputs.items():
            if where == "state":
                self.define(v, at[name])
            elif where == "live":
                self.define(v, self.active)
        self.write(program.body)
        ends = [self.ref(x, s.kind) for x, s in zip(program.body.ends, slots, strict=True)]
        following = self.say("add i64 %taken, 1")
        self.lines.append("  br label %head")
        phis = [f"  %taken = phi i64 [ 0, %{before} ], [ {following}, %{self.label} ]"]
        for s, first, last in zip(slots, starts, ends, strict=True):
            phis.append(f"  {at[s.name]} = phi {self.types[s.kind]} [ {first}, %{before} ], [ {last}, %{self.label} ]")
        self.start("exit")
        for s in slots:
            value, kind = at[s.name], "i" if s.kind == "m" else s.kind
            if s.kind == "m":
                value = self.say(f"zext {self.types['m']} {value} to {self.types['i']}")
            self.lines.append(f"  store {self.types[kind]} {value}, ptr {self.place(state, self.places[s.name])}, align 8")
        body = ["define void @run(ptr %control) nounwind {", "entry:"]
        body.append(f"  %outer = alloca i64, i64 {max(1, len(self.captured)) * self.lanes}, align 64")
        body += [*self.entry, *prologue, "  br label %head", "head:", *phis, *self.lines]
        body += ["  store i64 %taken, ptr %control", "  ret void", "}"]
        return "\n\n".join([*self.globals(), *self.functions, "\n".join(body)])

    def splat(self, x: str) -> str:
        """A scalar integer in every lane."""
        t = self.types["i"]
        first = self.say(f"insertelement {t} poison, i64 {x}, i32 0")
        return self.say(f"shufflevector {t} {first}, {t} poison, <{self.lanes} x i32> zeroinitializer")

    def globals(self) -> list[str]:
        """Declarations and constant tables."""
        t = self.types["f"]
        lines = [f"declare {t} @llvm.{n}.{self.suffix}({t})" for n in INTRINSICS]
        lines.append(f"declare {t} @llvm.fma.{self.suffix}({t}, {t}, {t})")
        for data, name in self.constants.items():
            numbers = ", ".join(f"i64 {n}" for n in data)
            lines.append(f"{name} = private constant [{len(data)} x i64] [{numbers}]")
        return ["\n".join(lines)]
