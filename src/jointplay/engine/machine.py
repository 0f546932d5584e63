"""A program as LLVM assembly text, scalar or in SIMD lanes.

One function `run(control)` loops over steps.  `control` is an array of 64-bit words: how many steps to
take (on return: how many were tried), then addresses and sizes in the order of `control_words`.  State and
parameters lie as [place][lane], so that one place of all lanes is one vector.  In lanes every block runs
under a mask of the lanes that need it; only stores and the results of branches and loops look at it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .blocks import Array, Block, Construct, outer_values
from .lines import SCALARS, Lines
from .program import Program
from .values import OPERATIONS, Value

ALIGNED = '"stackrealign"'  # vectors on the stack do not straddle cache lines


class Assembler(Lines):
    """Writes the functions of one program."""

    outlines = True  # sides that seldom run are functions of their own

    def __init__(self, program: Program, lanes: int, fma: bool, share: bool) -> None:
        super().__init__(program, lanes)
        self.program, self.fma, self.share = program, fma, share and lanes > 1
        self.functions: list[str] = []
        self.constants: dict[tuple[int, ...], str] = {}
        self.routines: dict[int, str] = {}
        self.undone = list[str]()  # where a bad step goes back, with status, detail and the state
        self.commit: Construct | None = None  # the branch that ends a step

    # -- instructions
    def write(self, block: Block) -> None:
        """The instructions of a block."""
        for item in block.code:
            if isinstance(item, Value):
                self.names[item.serial] = self.operation(item)
            else:
                getattr(self, f"write_{'commit' if item is self.commit else item.word}")(item)

    def operation(self, v: Value) -> str:
        """One operation; sums of products become fused."""
        if v.op == "copy":
            return self.refs(v.args, v.kind)[0]
        if v.op == "load":
            return self.load(*v.args)
        if v.op == "shared_max":
            return self.shared_max(self.names[v.args[0].serial])
        if self.fma and v.op in ("add", "sub") and not (v.op == "sub" and v.args[0] is v.args[1]):  # x - x is 0
            for place, x in enumerate(v.args):
                if isinstance(x, Value) and x.op == "mul":
                    return self.fused(v, x, place)
        op = OPERATIONS[v.op]
        named = {"F": self.F, "I": self.I, "M": self.M, "s": self.suffix}
        return self.say(op.llvm.format(*self.refs(v.args, op.takes), **named))

    def fused(self, v: Value, product: Value, place: int) -> str:
        """Sum or difference with a product in one rounding: decided by the expression alone."""
        a, b, c = self.refs([*product.args, v.args[1 - place]], "fff")
        if v.op == "sub" and place == 0:
            c = self.say(f"fneg {self.F} {c}")
        elif v.op == "sub":
            a = self.say(f"fneg {self.F} {a}")
        return self.say(f"call {self.F} @llvm.fma.{self.suffix}({self.F} {a}, {self.F} {b}, {self.F} {c})")

    def shared_max(self, x: str) -> str:
        """The largest of the running lanes, given to all but those with NaN, if steps are shared."""
        if not self.share:
            return x
        least = self.literal(-math.inf, "f")
        known = self.say(f"fcmp ord {self.F} {x}, {x}")
        counts = self.say(f"select {self.M} {self.both(self.active, known)}, {self.F} {x}, {self.F} {least}")
        largest = self.say(f"call double @llvm.vector.reduce.fmaximum.{self.suffix}({self.F} {counts})")
        return self.say(f"select {self.M} {known}, {self.F} {self.splat('f', largest)}, {self.F} {x}")

    def element(self, array: Array, index: str, lane: int) -> str:
        """The address of one element of an array in one lane."""
        at = self.pick(index, "i", lane)
        if array.where == "constant":
            base = self.constants.setdefault(array.data, f"@table{len(self.constants)}")
        else:
            if self.lanes > 1:
                at = self.say(f"add i64 {self.say(f'mul i64 {at}, {self.lanes}')}, {lane}")
            base = self.word({"ring": "state", "stream": f"{array.name}.rows"}.get(array.where, f"array {array.name}"))
            if array.where == "ring":
                base = self.place(base, self.program.places[array.name])
        return self.say(f"getelementptr i64, ptr {base}, i64 {at}")

    def load(self, array: Array, index: Any) -> str:
        """One element, lane by lane."""
        scalar, [at], result = SCALARS[array.kind], self.refs([index], "i"), "poison"
        for lane in range(self.lanes):
            got = self.say(f"load {scalar}, ptr {self.element(array, at, lane)}")
            if self.lanes == 1:
                return got
            result = self.say(f"insertelement {self.types[array.kind]} {result}, {scalar} {got}, i32 {lane}")
        return result

    def write_store(self, made: Construct) -> None:
        """Write elements of a ring buffer or of a row in the lanes that run."""
        index, *values = self.refs(made.reads, "i" + "f" * (len(made.reads) - 1))
        for lane in range(self.lanes):
            first, runs = self.element(made.about, index, lane), self.pick(self.active, "m", lane)
            for i, value in enumerate(values):
                place, new = self.place(first, i) if i else first, self.pick(value, "f", lane)
                if self.lanes > 1:
                    new = self.say(f"select i1 {runs}, double {new}, double {self.say(f'load double, ptr {place}')}")
                self.lines.append(f"  store double {new}, ptr {place}")

    def write_branch(self, made: Construct) -> None:
        """Run the side that is needed; in lanes each side that some lane needs."""
        [mask], kinds, found = self.refs(made.reads, "m"), [v.kind for v in made.outs], []
        if self.lanes > 1:
            return self.bind(made.outs, self.lane_branch(made.blocks, mask, kinds))
        self.fresh += 1
        then, other, join = f"then{self.fresh}", f"other{self.fresh}", f"join{self.fresh}"
        self.lines.append(f"  br i1 {mask}, label %{then}, label %{other}")
        for label, block in zip((then, other), made.blocks, strict=True):
            self.start(label)
            found.append([f"[ {x}, %{self.label} ]" for x in self.side(block, kinds)])
            self.lines.append(f"  br label %{join}")
        self.start(join)
        rows = zip((self.types[k] for k in kinds), *found, strict=True)
        self.bind(made.outs, [self.say(f"phi {t} {a}, {b}") for t, a, b in rows])

    def side(self, block: Block, kinds: list[str]) -> list[str]:
        """The ends of a side; one that seldom runs is a function of its own, out of the way of what runs."""
        if not (block.seldom and self.outlines):
            self.write(block)
            return self.refs(block.ends, kinds)
        ends, outer = block.ends, outer_values(block)
        known = {x.serial for x in outer}
        made = {x.serial: x for x in ends if isinstance(x, Value) and x.serial not in known}
        block.ends = list(made.values())
        self.write_call(Construct("call", outer, [], block, block.ends))
        block.ends = ends
        return self.refs(ends, kinds)

    def write_commit(self, made: Construct) -> None:
        """Go on; after a bad step go back to the call's start, to repeat the good ones: none keeps the state before."""
        [good], kinds, program = self.refs(made.reads, "m"), [v.kind for v in made.outs], self.program
        bad = self.both(self.active, self.say(f"xor {self.M} {good}, {self.literal(True, 'm')}"))
        self.lines.append(f"  br i1 {self.any(bad)}, label %undo, label %good")
        self.start("undo")
        self.write(made.blocks[1])
        why = self.refs(made.blocks[1].ends, kinds)[-2:]  # status and detail
        kept = [self.say(f"select {self.M} {bad}, {self.I} {x}, {self.I} {self.literal(0, 'i')}") for x in why]
        kept += [self.fetch(self.word("state"), program.places[s.name], s.kind) for s in program.slots]
        self.lines.append("  br label %head")
        self.undone = [self.label, *kept]
        self.start("good")
        self.bind(made.outs, self.refs(made.blocks[0].ends, kinds))

    def lane_branch(self, sides: list[Block], mask: str, kinds: list[str]) -> list[str]:
        """Run each side that some lane needs; select per lane only where the second one runs."""
        outer, opposite = self.active, self.say(f"xor {self.M} {mask}, {self.literal(True, 'm')}")
        order = sorted(zip(sides, (mask, opposite), strict=True), key=lambda side: bool(side[0].code))
        values = [self.literal(0, k) for k in kinds]
        for place, (block, taken) in enumerate(order):
            self.active = self.both(outer, taken)
            values = self.mixed(self.active, block, kinds, values, taken if place else self.literal(True, "m"))
        self.active = outer
        return values

    def mixed(self, needed: str, new: Any, kinds: list[str], old: list[str], mask: str) -> list[str]:
        """If some lane needs it, new values where the mask holds (a list, what gives it, or the ends of a block); else
        the old ones."""
        if isinstance(new, Block) and not new.code and mask == self.literal(True, "m"):
            return self.refs(new.ends, kinds)
        self.fresh += 1
        before, some, after = self.label, f"some{self.fresh}", f"after{self.fresh}"
        self.lines.append(f"  br i1 {self.any(needed)}, label %{some}, label %{after}")
        self.start(some)
        new = self.side(new, kinds) if isinstance(new, Block) else new() if callable(new) else new
        rows = list(zip((self.types[k] for k in kinds), new, old, strict=True))
        if mask != self.literal(True, "m"):
            rows = [(t, self.say(f"select {self.M} {mask}, {t} {x}, {t} {y}"), y) for t, x, y in rows]
        self.lines.append(f"  br label %{after}")
        leaving = self.label
        self.start(after)
        return [self.say(f"phi {t} [ {x}, %{leaving} ], [ {y}, %{before} ]") for t, x, y in rows]

    def write_loop(self, made: Construct) -> None:
        """Repeat a block while some lane wants it; a lane that is through keeps its values."""
        [block], outer, before = made.blocks, self.active, self.label
        *ends, again = block.ends
        kinds, masked = [f.kind for f in block.formals], isinstance(again, Value) and self.lanes > 1
        starts = self.refs(made.reads, kinds)
        self.fresh += 1
        head = f"head{self.fresh}"
        inside = [f"%{head}.{i}" for i in range(len(kinds))]
        self.bind(block.formals, inside)
        self.lines.append(f"  br label %{head}")
        self.start(head)
        mark, live = len(self.lines), f"%{head}.live"
        self.active = live if masked else outer
        self.write(block)
        *new, more = self.refs([*ends, again], [*kinds, "m"])
        if masked:
            ended = self.say(f"xor {self.M} {live}, {self.literal(True, 'm')}")
            more = self.both(live, more)
            new = self.mixed(self.both(outer, ended), inside, kinds, new, ended)  # selects cost, and are seldom needed
        following = self.say(f"add i64 %{head}.count, 1")
        go = self.say(f"icmp slt i64 {following}, {1 if again is False else made.about}")
        if isinstance(again, Value):
            go = self.say(f"and i1 {go}, {self.any(more)}")
        self.lines.append(f"  br i1 {go}, label %{head}, label %{head}.end")
        rows = [(f"%{head}.count", "i64", "0", following), *([(live, self.M, outer, more)] if masked else [])]
        rows += zip(inside, (self.types[k] for k in kinds), starts, new, strict=True)
        phis = [f"  {x} = phi {t} [ {a}, %{before} ], [ {b}, %{self.label} ]" for x, t, a, b in rows]
        self.lines[mark:mark] = phis
        self.start(f"{head}.end")
        self.active = outer
        self.bind(made.outs, [*new, more])

    def write_call(self, made: Construct) -> None:
        """Call a subroutine; what it uses of the text around it goes along as arguments."""
        if id(made.about) not in self.routines:
            self.routines[id(made.about)] = f"@routine{len(self.routines)}"
            self.write_routine(made.about, made.reads[len(made.about.formals) :])
        result = "{" + ", ".join(self.types[v.kind] for v in made.outs) + "}"
        args = ["ptr %control", f"{self.M} {self.active}"]
        args += [f"{self.types[x.kind]} {self.names[x.serial]}" for x in made.reads]
        got = self.say(f"call fastcc {result} {self.routines[id(made.about)]}({', '.join(args)})")
        self.bind(made.outs, [self.say(f"extractvalue {result} {got}, {i}") for i in range(len(made.outs))])

    def write_routine(self, block: Block, outer: list[Value]) -> None:
        """The function of a subroutine."""
        saved = self.label, self.names, self.active, self.lines, self.entry, self.bases
        inside = [*block.formals, *outer]
        self.begin("body", {v.serial: f"%a{i}" for i, v in enumerate(inside)}, "%active")
        args = ["ptr %control", f"{self.M} %active"]
        args += [f"{self.types[v.kind]} %a{i}" for i, v in enumerate(inside)]
        self.write(block)
        ends = [x for x in block.ends if isinstance(x, Value)]
        result, types = "poison", [self.types[x.kind] for x in ends]
        whole = "{" + ", ".join(types) + "}"
        for i, (t, x) in enumerate(zip(types, ends, strict=True)):
            result = self.say(f"insertvalue {whole} {result}, {t} {self.names[x.serial]}, {i}")
        head = f"define internal fastcc {whole} {self.routines[id(block)]}({', '.join(args)})"
        text = [f"{head} {'cold ' if block.seldom else ''}noinline nounwind {ALIGNED} {{", "entry:"]
        text += [*self.entry, "  br label %body", "body:", *self.lines, f"  ret {whole} {result}", "}"]
        self.functions.append("\n".join(text))
        self.label, self.names, self.active, self.lines, self.entry, self.bases = saved

    # -- the function `run`
    def place(self, base: str, at: int) -> str:
        """The address of one place of the state or the parameters."""
        return self.say(f"getelementptr i64, ptr {base}, i64 {at * self.lanes}")

    def fetch(self, base: str, at: int, kind: str, about: str = "") -> str:
        """The numbers of one place; about: what LLVM may know of them."""
        raw = self.say(f"load {self.types['f' if kind == 'f' else 'i']}, ptr {self.place(base, at)}, align 8{about}")
        return raw if kind != "m" else self.say(f"icmp ne {self.I} {raw}, {self.literal(0, 'i')}")

    def module(self) -> str:
        """All functions of the program."""
        program, inputs = self.program, self.program.inputs
        for i, slot in enumerate(program.parameters):
            if ("parameter", slot.name) in inputs:
                self.bind([inputs["parameter", slot.name]], [self.fetch(self.word("parameters"), i, slot.kind)])
        self.write(program.hoisted)
        slots = program.slots[: len(program.body.ends)]  # ring buffers stay in memory
        kinds, state = [s.kind for s in slots], self.word("state")

        def kept() -> list[str]:
            return [self.fetch(state, program.places[s.name], s.kind) for s in slots]

        starts, rooms, steps = kept(), self.rooms(), self.word("steps", "i64")
        begun = self.say(f"icmp eq {self.I} {starts[list(program.places).index('status')]}, {self.literal(0, 'i')}")
        prologue, self.lines = self.lines, []
        at = {s.name: f"%s{i}" for i, s in enumerate(slots)}
        last = program.body.ends[0]  # all come from one branch; what is written to ring buffers could not be undone
        if isinstance(last, Value) and last.op == "out" and len(slots) == len(program.slots):
            self.commit = last.args[0]
        live = self.going(at.__getitem__, rooms, "%limit", begun)
        for (where, name), v in inputs.items():
            if where == "state":
                self.names[v.serial] = at[name]
        self.write(program.body)
        ends = self.refs(program.body.ends, kinds)
        if self.lanes > 1:  # a lane that has ended keeps its state, which lies where the call began
            ended = self.say(f"xor {self.M} {live}, {self.literal(True, 'm')}")
            ends = self.mixed(ended, kept, kinds, ends, ended)
        following = self.say("add i64 %taken, 1")
        self.lines.append("  br label %head")
        none = self.literal(0, "i")
        undone, code, about, *again = self.undone or ("", none, none, *starts)
        rows = [("%taken", "i64", "0", following, "0"), ("%limit", "i64", steps, "%limit", "%taken")]
        rows += [("%code", self.I, none, "%code", code), ("%about", self.I, none, "%about", about)]
        rows += zip(at.values(), (self.types[k] for k in kinds), starts, ends, again, strict=True)
        phis = [f"  {x} = phi {t} [ {a}, %entry ], [ {b}, %{self.label} ]" for x, t, a, b, _ in rows]
        phis = [f"{phi}, [ {row[4]}, %{undone} ]" for phi, row in zip(phis, rows, strict=True)] if undone else phis
        self.start("exit")
        reached = self.splat("m", self.say("icmp eq i64 %taken, %limit"))  # else it was stopped on the way
        failed = self.both(reached, self.say(f"icmp ne {self.I} %code, {none}"))
        for name, new in (("status", "%code"), ("detail", "%about")):
            at[name] = self.say(f"select {self.M} {failed}, {self.I} {new}, {self.I} {at[name]}")
        goes_on = self.any(self.say(f"icmp eq {self.I} {at['status']}, {none}"))
        last_one = self.say(f"select i1 {goes_on}, i1 false, i1 {self.any(failed)}")  # lanes that go on take it again
        count = self.say(f"add i64 %taken, {self.say(f'zext i1 {last_one} to i64')}")
        for s in slots:
            t = self.F if s.kind == "f" else self.I
            value = at[s.name] if s.kind != "m" else self.say(f"zext {self.M} {at[s.name]} to {t}")
            self.lines.append(f"  store {t} {value}, ptr {self.place(state, program.places[s.name])}, align 8")
        body = [f"define void @run(ptr %control) nounwind {ALIGNED} {{", "entry:", *self.entry, *prologue]
        body += ["  br label %head", "head:", *phis, *self.lines]
        body += [f"  store i64 {count}, ptr %control", "  ret void", "}"]
        return "\n\n".join(["\n".join(self.globals()), *self.functions, "\n".join(body)])

    def rooms(self) -> dict[str, str]:
        """How many rows of each stream leave room for a step's."""
        return {s: self.splat("i", self.word(f"{s}.limit", "i64")) for s in self.program.streams}

    def going(self, at: Callable[[str], str], rooms: dict[str, str], most: str, begun: str = "") -> str:
        """Begin a step, or leave; at: the register of an integer of the state; begun: leave if other lanes run than
        these.  Gives the lanes that run."""
        live = self.say(f"icmp eq {self.I} {at('status')}, {self.literal(0, 'i')}")
        go = self.any(live)
        if self.lanes > 1 and begun:
            other = self.any(self.say(f"xor {self.M} {live}, {begun}"))
            go = self.say(f"and i1 {go}, {self.say(f'xor i1 {other}, true')}")
        for stream, limit in rooms.items():
            full = self.say(f"icmp sgt {self.I} {at(f'{stream}.rows')}, {limit}")
            go = self.say(f"and i1 {go}, {self.say(f'xor i1 {self.any(self.both(live, full))}, true')}")
        asked = self.say(f"load volatile i64, ptr {self.word('stop')}")
        for test in (f"icmp eq i64 {asked}, 0", f"icmp slt i64 %taken, {most}"):
            go = self.say(f"and i1 {go}, {self.say(test)}")
        self.lines.append(f"  br i1 {go}, label %step, label %exit")
        self.start("step")
        self.active = self.literal(True, "m") if self.lanes == 1 else live
        return live

    def globals(self) -> list[str]:
        """Declarations and constant tables."""
        t = self.F
        lines = [f"declare {t} @llvm.{n}.{self.suffix}({t})" for n in ("sqrt", "fabs", "floor", "roundeven")]
        lines.append(f"declare {t} @llvm.fma.{self.suffix}({t}, {t}, {t})")
        lines += [f"declare double @llvm.vector.reduce.fmaximum.{self.suffix}({t})"] if self.share else []
        tables = [(name, len(data), ", ".join(f"i64 {n}" for n in data)) for data, name in self.constants.items()]
        return lines + [f"{name} = private constant [{size} x i64] [{numbers}]" for name, size, numbers in tables]
