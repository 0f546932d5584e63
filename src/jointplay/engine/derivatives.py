"""Forward differentiation of recorded values, giving more recorded values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .blocks import Block, Construct, outer_values
from .values import TraceError, Value, here, recorder, where

Tangent = dict[int, Any]  # direction -> derivative; missing means zero
PARTIALS: dict[str, Callable[..., Any]] = {}  # rules of functions: name -> partial derivatives of its arguments
RULES: dict[str, Callable[..., Tangent]] = {}  # rules that need more than partial derivatives
NO_LOOP = "a loop cannot be differentiated; write solve(residual, guess) or unroll it"
FLAT = frozenset(["floor", "round", "lt", "le", "eq", "ne", "and", "or", "xor", "load", "formal", "input"])


def derivative(outputs: Sequence[Any], inputs: Sequence[Any]) -> list[list[Any]]:
    """The matrix of derivatives of the outputs (rows) with respect to the inputs, taken as independent.

    An input given twice has two equal columns; -y as an input stands for y, with the sign changed.
    """
    return [[row.get(j, 0.0) for j in range(len(inputs))] for row in derivatives(outputs, inputs)]


def derivatives(outputs: Sequence[Any], inputs: Sequence[Any], held: Sequence[Any] = ()) -> list[Tangent]:
    """The same matrix without its zeros: column -> entry of each row, in order; what is held counts as independent."""
    known: dict[int, Tangent] = {}
    for j, x in enumerate(inputs):
        if isinstance(x, Value):  # folding looks through negations, so what uses -y may show y only
            base, sign = (x.args[0], -1.0) if x.op == "neg" else (x, 1.0)
            known.setdefault(base.serial, {})[j] = sign
    for x in (x for x in held if isinstance(x, Value)):
        known.setdefault(x.args[0].serial if x.op == "neg" else x.serial, {})
    return [dict(sorted(row.items())) for row in tangents(outputs, known, len(inputs))]


def tangents(outputs: Sequence[Any], known: dict[int, Tangent], width: int) -> list[Tangent]:
    """The tangents of some values; what is found on the way is added to `known`."""
    reach: dict[int, Value] = {}
    stack = list(outputs)
    first = min((n for n, t in known.items() if t), default=0)  # what was made before depends on nothing known
    while stack:
        v = stack.pop()
        if isinstance(v, Value) and v.kind == "f" and v.serial > first and not (v.serial in known or v.serial in reach):
            reach[v.serial] = v
            stack += sources(v)
    for serial in sorted(reach):
        v = reach[serial]
        if v.block.open and serial not in known:
            if v.op == "out":
                through_construct(v.args[0], reach, known, width)
            else:
                known[serial] = tangent(v, known, width)
    return [known[v.serial] if isinstance(v, Value) and v.serial in known else {} for v in outputs]


def sources(v: Value) -> list[Any]:
    """What a value's derivative may depend on."""
    if v.rule is not None and v.op != "fselect":
        return [] if v.rule[0] in RULES else list(v.rule[1])
    if v.op != "out":
        return [] if v.op in FLAT else list(v.args)
    made = v.args[0]
    if made.word == "branch":
        return [*made.blocks[0].ends, *made.blocks[1].ends]
    return [*made.reads, *(outer_values(made.blocks[0]) if made.blocks else [])]


def combine(*parts: tuple[Any, Tangent]) -> Tangent:
    """Sum of factor times tangent."""
    total: Tangent = {}
    for factor, t in parts:
        for j, d in t.items():
            term = factor * d
            total[j] = total[j] + term if j in total else term
    return {j: d for j, d in total.items() if isinstance(d, Value) or d != 0}


def tangent(v: Value, known: dict[int, Tangent], width: int) -> Tangent:
    """The chain rule for one operation."""

    def of(x: Any) -> Tangent:
        return known.get(x.serial, {}) if isinstance(x, Value) else {}

    if v.rule is not None and v.op != "fselect":
        if v.rule[0] in RULES:
            return RULES[v.rule[0]](v, known, width)
        if not any(of(a) for a in v.rule[1]):
            return {}
        return combine(*zip(PARTIALS[v.rule[0]](*v.rule[1]), map(of, v.rule[1]), strict=True))
    if v.op in FLAT or not any(of(a) for a in v.args):
        return {}
    a, b = v.args[0], v.args[1] if len(v.args) > 1 else None
    if v.op in ("add", "sub"):
        return combine((1.0, of(a)), (1.0 if v.op == "add" else -1.0, of(b)))
    if v.op == "mul":
        return combine((b, of(a)), (a, of(b)))
    if v.op == "div":
        return {j: d / b for j, d in combine((1.0, of(a)), (-v, of(b))).items()}
    if v.op in ("neg", "copy"):
        return combine((-1.0 if v.op == "neg" else 1.0, of(a)))
    if v.op == "sqrt":
        return combine((0.5 / v, of(a)))
    if v.op == "abs":
        return combine((where(a < 0, -1.0, 1.0), of(a)))
    if v.op == "fselect":
        first, second = of(b), of(v.args[2])
        pick = where if v.rule is None else partial(recorder().choice, "f")  # a branch does not fold equal tangents
        return {j: pick(a, first.get(j, 0.0), second.get(j, 0.0)) for j in sorted({*first, *second})}
    raise TraceError(f"{here()}: {NO_LOOP if v.op == 'loop' else v.op + ' has no derivative'}")


def through_construct(made: Construct, reach: dict[int, Value], known: dict[int, Tangent], width: int) -> None:
    """Tangents of what a branch or a call gives."""
    rec = recorder()
    if made.word == "loop":
        if any(known.get(x.serial) for x in sources(made.outs[0]) if isinstance(x, Value)):
            raise TraceError(f"{here()}: {NO_LOOP}")
        return
    if made.word == "call":
        ends = rec.replay(made.about, made.reads[: len(made.about.formals)])
        values = [end for end, old in zip(ends, made.about.ends, strict=True) if isinstance(old, Value)]
        known.update(zip((v.serial for v in made.outs), tangents(values, known, width), strict=True))
        return
    wanted = [v for v in made.outs if v.serial in reach]

    def side(block: Block) -> list[Any]:
        ends = rec.replay(block, [])
        found = tangents([ends[v.args[1]] for v in wanted], dict(known), width)
        return [t.get(j, 0.0) for t in found for j in range(width)]

    rec.both.add(made.blocks[0].source)
    flat = rec.branch(made.reads[0], *(lambda b=b: side(b) for b in made.blocks), made.blocks[0].source)
    for place, v in enumerate(wanted):
        row = enumerate(flat[place * width : (place + 1) * width])
        known[v.serial] = {j: d for j, d in row if not nothing(d)}


def nothing(d: Value) -> bool:
    """True for a branch result that is zero on both sides."""
    ends = d.args[1:] if d.op == "fselect" else [b.ends[d.args[1]] for b in d.args[0].blocks]
    return all(not isinstance(e, Value) and e == 0 for e in ends)
