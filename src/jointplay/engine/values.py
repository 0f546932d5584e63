"""Scalars that record: arithmetic on a `Value` leaves an operation behind instead of a number.

A value has a kind: "f" (64-bit float), "i" (64-bit integer) or "m" (mask, true or false).  Python numbers
stay Python numbers until they meet a value, so a literal 0 or 1 is structural: it folds away.
"""

from __future__ import annotations

import linecache
import math
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class TraceError(TypeError):
    """The text asks of a recorded value what only a known number can answer."""


class Operation(NamedTuple):
    """One operation: kinds of its arguments and result, how numpy computes it, how LLVM spells it."""

    takes: str
    gives: str
    eager: Callable[..., Any]
    llvm: str


_F1 = "call {F} @llvm.NAME.{s}({F} {0})"
OPERATIONS: dict[str, Operation] = {
    "add": Operation("ff", "f", np.add, "fadd {F} {0}, {1}"),
    "sub": Operation("ff", "f", np.subtract, "fsub {F} {0}, {1}"),
    "mul": Operation("ff", "f", np.multiply, "fmul {F} {0}, {1}"),
    "div": Operation("ff", "f", np.divide, "fdiv {F} {0}, {1}"),
    "neg": Operation("f", "f", np.negative, "fneg {F} {0}"),
    "sqrt": Operation("f", "f", np.sqrt, _F1.replace("NAME", "sqrt")),
    "abs": Operation("f", "f", np.abs, _F1.replace("NAME", "fabs")),
    "floor": Operation("f", "f", np.floor, _F1.replace("NAME", "floor")),
    "round": Operation("f", "f", np.rint, _F1.replace("NAME", "roundeven")),
    "lt": Operation("ff", "m", np.less, "fcmp olt {F} {0}, {1}"),
    "le": Operation("ff", "m", np.less_equal, "fcmp ole {F} {0}, {1}"),
    "eq": Operation("ff", "m", np.equal, "fcmp oeq {F} {0}, {1}"),
    "ne": Operation("ff", "m", np.not_equal, "fcmp une {F} {0}, {1}"),
    "iadd": Operation("ii", "i", np.add, "add {I} {0}, {1}"),
    "isub": Operation("ii", "i", np.subtract, "sub {I} {0}, {1}"),
    "imul": Operation("ii", "i", np.multiply, "mul {I} {0}, {1}"),
    "iand": Operation("ii", "i", np.bitwise_and, "and {I} {0}, {1}"),
    "ior": Operation("ii", "i", np.bitwise_or, "or {I} {0}, {1}"),
    "ixor": Operation("ii", "i", np.bitwise_xor, "xor {I} {0}, {1}"),
    "ishl": Operation("ii", "i", np.left_shift, "shl {I} {0}, {1}"),
    "ishr": Operation("ii", "i", lambda i, n: (i.view("u8") >> n.view("u8")).view("i8"), "lshr {I} {0}, {1}"),
    "ilt": Operation("ii", "m", np.less, "icmp slt {I} {0}, {1}"),
    "ile": Operation("ii", "m", np.less_equal, "icmp sle {I} {0}, {1}"),
    "ieq": Operation("ii", "m", np.equal, "icmp eq {I} {0}, {1}"),
    "ine": Operation("ii", "m", np.not_equal, "icmp ne {I} {0}, {1}"),
    "and": Operation("mm", "m", np.logical_and, "and {M} {0}, {1}"),
    "or": Operation("mm", "m", np.logical_or, "or {M} {0}, {1}"),
    "xor": Operation("mm", "m", np.logical_xor, "xor {M} {0}, {1}"),
    "ifloat": Operation("i", "f", np.float64, "sitofp {I} {0} to {F}"),
    "bits": Operation("f", "i", lambda x: np.float64(x).view(np.int64), "bitcast {F} {0} to {I}"),
    "from_bits": Operation("i", "f", lambda i: np.int64(i).view(np.float64), "bitcast {I} {0} to {F}"),
    "fselect": Operation("mff", "f", np.where, "select {M} {0}, {F} {1}, {F} {2}"),
    "iselect": Operation("mii", "i", np.where, "select {M} {0}, {I} {1}, {I} {2}"),
    "mselect": Operation("mmm", "m", np.where, "select {M} {0}, {M} {1}, {M} {2}"),
}
SYMBOLS, WORDS = "+ - * / < <= == != & | ^ << >>", "add sub mul div lt le eq ne and or xor shl shr"
SPELLING = dict(zip(SYMBOLS.split(), WORDS.split(), strict=True))
FLOATING = ["+", "-", "*", "/", "<", "<=", "==", "!="]
FOLDING = frozenset(["add", "sub", "mul", "div", "neg", "and", "or", "xor", "fselect", "iselect", "mselect"])
UFUNCS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "less": "<", "less_equal": "<="}
UFUNCS |= {"equal": "==", "not_equal": "!="}
DTYPES: dict[str, Any] = {"f": np.float64, "i": np.int64, "m": np.bool_}
LANES = (1, 2, 4, 8)  # how many simulations machine code can run side by side
NUMBERS = (int, float, bool, np.number, np.bool_)
KIND_NAMES = {"f": "a float", "i": "an integer", "m": "a mask"}
active = threading.local()


def recorder() -> Any:
    """The recorder of the trace that runs in this thread."""
    current = getattr(active, "recorder", None)
    if current is None:
        raise TraceError(f"{here()}: engine operations on values need a running trace; call trace(step, ...)")
    return current


def here() -> str:
    """File, line and source of the caller's text outside the engine and the numerics."""
    frame, package = sys._getframe(1), Path(__file__).parent.parent
    ours = str(package / "engine"), str(package / "numerics")
    while frame.f_back is not None and frame.f_code.co_filename.startswith(ours):
        frame = frame.f_back
    name, line = frame.f_code.co_filename, frame.f_lineno
    return f"{name}:{line}: `{linecache.getline(name, line).strip()}`"


def is_value(x: Any) -> bool:
    """True for recorded or eager values, false for plain Python numbers."""
    return isinstance(x, Value)


def kind_of(*xs: Any) -> str:
    """The common kind of several operands: that of the first value, else of the constants."""
    for x in xs:
        if isinstance(x, Value):
            return x.kind
    return "m" if all(isinstance(x, bool | np.bool_) for x in xs) else "f"


def constant(x: Any, kind: str) -> float | int | bool:
    """A Python number of the given kind, or an error that says what does not fit."""
    if kind == "m" and isinstance(x, bool | np.bool_):
        return bool(x)
    if kind == "f" and isinstance(x, int | float | np.integer | np.floating) and not isinstance(x, bool):
        return float(x)
    if kind == "i" and isinstance(x, int | np.integer) and not isinstance(x, bool):
        return (int(x) + 2**63) % 2**64 - 2**63
    raise TraceError(f"{here()}: expected {KIND_NAMES[kind]}, got {x!r}")


def operate(name: str, *args: Any) -> Any:
    """Record (or compute, when eager) one operation after folding constants and structural zeros."""
    op = OPERATIONS[name]
    clean, recorded = [], False
    for x, kind in zip(args, op.takes, strict=True):
        if type(x) is Value:
            if x.kind != kind:
                refuse(args, x.kind, kind)
            recorded = True
        elif type(x) is not float or kind != "f":
            x = constant(x, kind)
        clean.append(x)
    if not recorded:
        with np.errstate(all="ignore"):
            return compute(name, clean).item()
    folded = fold(name, *clean) if name in FOLDING else None
    return recorder().operation(name, clean, op.gives) if folded is None else folded


def refuse(args: Any, kind: str, needed: str) -> None:
    """Say that an operand has the wrong kind."""
    named = next((a.args for a in args if isinstance(a, Value) and a.kind == "i" and a.op == "input"), None)
    remedy = f"declare {named[0]} {named[1]!r} with a point, as 1.0" if named else "write number(i)"
    remedy = remedy if "m" not in (needed, kind) else "write where(mask, 1.0, 0.0), or x > 0 for a condition"
    raise TraceError(f"{here()}: {KIND_NAMES[kind]} where {KIND_NAMES[needed]} is needed; {remedy}")


def compute(name: str, numbers: list[Any]) -> Any:
    """One operation on numbers, with numpy's float64 and 64-bit integers."""
    op = OPERATIONS[name]
    return DTYPES[op.gives](op.eager(*(DTYPES[k](x) for k, x in zip(op.takes, numbers, strict=True))))


def fold(name: str, a: Any, b: Any = None, c: Any = None) -> Any:
    """What an operation with a structural 0, 1 or negation simplifies to, or None."""
    known_a, known_b = type(a) is not Value, type(b) is not Value
    minus_a = None if known_a or a.op != "neg" else a.args[0]
    minus_b = None if known_b or b.op != "neg" else b.args[0]
    if name == "add" and (known_a or known_b) and (a if known_a else b) == 0:
        return b if known_a else a
    if name == "add" and (minus_a is not None or minus_b is not None):
        return operate("sub", b, minus_a) if minus_b is None else operate("sub", a, minus_b)
    if name == "sub":
        if known_b and b == 0:
            return a
        if known_a and a == 0:
            return operate("neg", b)
        return None if minus_b is None else operate("add", a, minus_b)
    if name == "mul":
        for x, y, minus in ((a, b, minus_a), (b, a, minus_b)):
            if type(x) is not Value and x in (0, 1, -1):
                return 0.0 if x == 0 else y if x == 1 else operate("neg", y)
            if minus is not None:
                return operate("neg", operate("mul", minus, y))
    if name == "div":
        if known_a and a == 0:
            return 0.0
        if known_b and math.frexp(b)[0] in (0.5, -0.5) and 1e-300 < abs(b) < 1e300:
            return operate("mul", a, 1 / b)  # exact
        return None if minus_a is None else operate("neg", operate("div", minus_a, b))
    if name == "neg":
        return minus_a
    if name in ("and", "or") and (known_a or known_b):
        x, y = (a, b) if known_a else (b, a)
        return y if x == (name == "and") else x
    if name == "xor" and (known_a or known_b):
        x, y = (a, b) if known_a else (b, a)
        if not x:
            return y
        return y.args[0] if y.op == "xor" and y.args[1] is True else recorder().operation("xor", [y, x], "m")
    if name.endswith("select"):
        return (b if a else c) if known_a else b if b is c or (known_b and repr(b) == repr(c)) else None  # not -0.0
    return None


def _operator(symbol: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    plain = SPELLING[symbol] if symbol in FLOATING else ""  # the way of nearly all operations

    def forward(a: Any, b: Any) -> Any:
        if plain and a.kind == "f" and (type(b) is float or type(b) is int or (type(b) is Value and b.kind == "f")):
            return operate(plain, a, b)
        return apply(symbol, a, b) if isinstance(b, (Value, *NUMBERS)) else NotImplemented

    def backward(a: Any, b: Any) -> Any:
        if plain and a.kind == "f" and (type(b) is float or type(b) is int):
            return operate(plain, b, a)
        return apply(symbol, b, a) if isinstance(b, (Value, *NUMBERS)) else NotImplemented

    return forward, backward


def apply(symbol: str, a: Any, b: Any) -> Any:
    """Record the operator `symbol` in the spelling of its operands' kind."""
    if symbol not in SPELLING:
        from . import modulo, pow

        if symbol == "//":
            raise TraceError(f"{here()}: there is no `//`; write floor(x / y), with x = number(i) for an integer")
        return pow(a, b) if symbol == "**" else modulo(a, b)
    kind = kind_of(a, b)
    if kind == "m" and symbol in ("==", "!="):
        return operate("xor", operate("xor", a, b), symbol == "==")
    if symbol in ("<<", ">>"):
        if not isinstance(b, Value) and not 0 <= b < 64:
            raise TraceError(f"{here()}: a shift takes 0 to 63 places, got {b!r}")
        b = operate("iand", b, 63) if isinstance(b, Value) else b
    name = ("i" if kind == "i" else "") + SPELLING[symbol]
    if name not in OPERATIONS or OPERATIONS[name].takes[0] != kind:
        raise TraceError(f"{here()}: `{symbol}` does not work on {KIND_NAMES[kind]}")
    return operate(name, a, b)


@dataclass(eq=False, slots=True, repr=False)
class Value:
    """A scalar of a trace: made by an operation, usable in the next one."""

    op: str
    args: tuple[Any, ...]
    kind: str
    level: int  # 0 if it depends on parameters only
    block: Any
    serial: int
    number: Any = None  # the value itself when eager
    rule: Any = None  # (name, arguments) when a derivative rule replaces the chain rule

    __hash__ = object.__hash__
    __add__, __radd__ = _operator("+")
    __sub__, __rsub__ = _operator("-")
    __mul__, __rmul__ = _operator("*")
    __truediv__, __rtruediv__ = _operator("/")
    __lt__, __gt__ = _operator("<")
    __le__, __ge__ = _operator("<=")
    __eq__, __ne__ = _operator("==")[0], _operator("!=")[0]
    __and__, __rand__ = _operator("&")
    __or__, __ror__ = _operator("|")
    __xor__, __rxor__ = _operator("^")
    __lshift__, __rlshift__ = _operator("<<")
    __rshift__, __rrshift__ = _operator(">>")
    __pow__, __rpow__ = _operator("**")
    __mod__, __rmod__ = _operator("%")
    __floordiv__, __rfloordiv__ = _operator("//")

    def __neg__(self) -> Any:
        return operate("neg", self) if self.kind == "f" else apply("-", 0, self)

    def __pos__(self) -> Any:
        return self

    def __invert__(self) -> Any:
        return apply("^", self, True if self.kind == "m" else -1)

    def __abs__(self) -> Any:
        return operate("abs", self)

    def __round__(self, digits: Any = None) -> Any:
        if digits is not None:
            raise TraceError(f"{here()}: round() gives whole numbers here; write round(x * 100) / 100")
        return operate("round", self)

    def __format__(self, spec: str) -> str:
        remedy = "print it in an eager run, or emit() it"
        return format(self._known("a format", remedy), spec) if spec else repr(self)

    def __repr__(self) -> str:
        return f"<{self.op} {self.kind}{self.serial}>" if self.number is None else repr(self.number)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        name = ufunc.__name__
        if name.startswith("greater"):
            name, inputs = name.replace("greater", "less"), inputs[::-1]
        plain = [x.item() if isinstance(x, np.ndarray) and x.ndim == 0 else x for x in inputs]
        if name in UFUNCS and all(isinstance(x, (Value, *NUMBERS)) for x in plain):
            return apply(UFUNCS[name], *plain)
        remedy = "write sqrt, sin, where, ... of jointplay.engine, on scalars"
        raise TraceError(f"{here()}: numpy.{ufunc.__name__} cannot take a recorded value; {remedy}")

    def _known(self, what: str, remedy: str) -> Any:
        if self.number is None:
            raise TraceError(f"{here()}: {what} needs a known number, but this value is recorded; {remedy}")
        return self.number

    def __bool__(self) -> bool:
        remedy = "write where(condition, a, b) or branch(condition, then, other); & | ~ for and, or, not; "
        return bool(self._known("a Python `if`, `and`, `or`, `not`, min or max", remedy + "minimum, maximum"))

    def __float__(self) -> float:
        return float(self._known("float() or a math function", "write sin, sqrt, ... of jointplay.engine"))

    def __int__(self) -> int:
        return int(self._known("int()", "write floor(x) or integer(x) of jointplay.engine"))

    def __index__(self) -> int:
        return int(self._known("an index or range()", "write array.load(i), or loop(carry, body, at_most)"))


def sqrt(x: Any) -> Any:
    """Square root, correctly rounded."""
    return operate("sqrt", x)


def floor(x: Any) -> Any:
    """Largest whole number not above x, as a float."""
    return operate("floor", x)


def where(mask: Any, a: Any, b: Any) -> Any:
    """a where the mask holds, else b; both are computed."""
    if isinstance(mask, bool | np.bool_):
        return a if mask else b
    return operate(kind_of(a, b) + "select", mask, a, b)


def bits(x: Any) -> Any:
    """The 64 bits of a float as an integer."""
    return operate("bits", x)


def from_bits(i: Any) -> Any:
    """The float with these 64 bits."""
    return operate("from_bits", i)


MAGIC = 1.5 * 2.0**52


def number(i: Any) -> Any:
    """An integer as a float, exact for |i| < 2**51."""
    return operate("sub", from_bits(operate("iadd", i, bits(MAGIC))), MAGIC)


def as_float(x: Any) -> Any:
    """A value of any kind as a float: integers as they are, masks as 1 and 0."""
    kind = kind_of(x)
    return x if kind == "f" else operate("ifloat", x) if kind == "i" else where(x, 1.0, 0.0)
