"""The lines of LLVM assembly that one function is written in, scalar or in lanes."""

from __future__ import annotations

import struct
from typing import Any

from .program import Program
from .values import Value

SCALARS = {"f": "double", "i": "i64", "m": "i1"}


def control_words(program: Program) -> list[str]:
    """The names of the words that the program reads from its control array."""
    streams = [f"{s}.{part}" for s in program.streams for part in ("rows", "limit")]
    return ["steps", "stop", "state", "parameters", "frame", *(f"array {a}" for a in program.arrays), *streams]


class Lines:
    """Instructions, constants and masks of the function that is written now."""

    def __init__(self, program: Program, lanes: int) -> None:
        self.lanes, self.fresh = lanes, 0
        self.types = {k: t if lanes == 1 else f"<{lanes} x {t}>" for k, t in SCALARS.items()}
        self.F, self.I, self.M = self.types.values()
        self.suffix = "f64" if lanes == 1 else f"v{lanes}f64"
        self.words = {name: i for i, name in enumerate(control_words(program))}
        self.begin("entry", {}, self.literal(True, "m"))

    def begin(self, label: str, names: dict[int, str], active: str) -> None:
        """Start writing a function."""
        self.label, self.names, self.active = label, names, active
        self.lines: list[str] = []
        self.entry: list[str] = []
        self.bases: dict[str, str] = {}

    def say(self, text: str) -> str:
        """Write an instruction; gives the name of its result."""
        self.fresh += 1
        self.lines.append(f"  %t{self.fresh} = {text}")
        return f"%t{self.fresh}"

    def start(self, label: str) -> None:
        """Begin a basic block."""
        self.lines.append(f"{label}:")
        self.label = label

    def literal(self, x: Any, kind: str) -> str:
        """A constant, the same in every lane."""
        text = str(int(x)) if kind == "i" else "true" if x else "false"
        if kind == "f":
            text = f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"
        return text if self.lanes == 1 else f"splat ({SCALARS[kind]} {text})"

    def refs(self, xs: Any, kinds: Any) -> list[str]:
        """Operands: registers or constants."""
        pairs = zip(xs, kinds, strict=True)
        return [self.names[x.serial] if isinstance(x, Value) else self.literal(x, k) for x, k in pairs]

    def bind(self, values: list[Value], names: Any) -> None:
        """Say which registers hold some values."""
        self.names.update(zip((v.serial for v in values), names, strict=True))

    def word(self, name: str, kind: str = "ptr") -> str:
        """A word of the control array, read at its first use in the present function."""
        if name not in self.bases:
            at = self.bases[name] = f"%w{self.words[name]}"
            self.entry.append(f"  {at}.at = getelementptr i64, ptr %control, i64 {self.words[name]}")
            self.entry.append(f"  {at} = load {kind}, ptr {at}.at")
        return self.bases[name]

    def any(self, mask: str) -> str:
        """True if the mask holds in some lane."""
        if self.lanes == 1:
            return mask
        return self.say(f"icmp ne i{self.lanes} {self.say(f'bitcast {self.M} {mask} to i{self.lanes}')}, 0")

    def both(self, a: str, b: str) -> str:
        """Conjunction of two masks."""
        return b if a == self.literal(True, "m") else self.say(f"and {self.M} {a}, {b}")

    def pick(self, x: str, kind: str, lane: int) -> str:
        """One lane of a vector."""
        return x if self.lanes == 1 else self.say(f"extractelement {self.types[kind]} {x}, i32 {lane}")

    def splat(self, kind: str, x: str) -> str:
        """A scalar in every lane."""
        if self.lanes == 1:
            return x
        t = self.types[kind]
        first = self.say(f"insertelement {t} poison, {SCALARS[kind]} {x}, i32 0")
        return self.say(f"shufflevector {t} {first}, {t} poison, <{self.lanes} x i32> zeroinitializer")
