"""Forward differentiation of recorded values, giving more recorded values; and Newton's method on top of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .functions import PARTIALS
from .linalg import Matrix, linear_solve
from .recorder import Block, Construct, outer_values, sequence
from .text import loop
from .values import TraceError, Value, here, maximum, recorder, where

Tangent = dict[int, Any]  # direction -> derivative; missing means zero
FLAT = frozenset("floor round lt le eq ne and or xor load formal input".split())


def derivative(outputs: Sequence[Any], inputs: Sequence[Any]) -> Matrix:
    """The matrix of derivatives of the outputs (rows) with respect to the inputs, taken as independent."""
    known: dict[int, Tangent] = {x.serial: {j: 1.0} for j, x in enumerate(inputs) if isinstance(x, Value)}
    rows = tangents(outputs, known, len(inputs))
    return [[row.get(j, 0.0) for j in range(len(inputs))] for row in rows]


def tangents(outputs: Sequence[Any], known: dict[int, Tangent], width: int) -> list[Tangent]:
    """The tangents of some values; what is found on the way is added to `known`."""
    reach: dict[int, Value] = {}
    stack = list(outputs)
    while stack:
        v = stack.pop()
        if isinstance(v, Value) and v.kind == "f" and v.serial not in known and v.serial not in reach:
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
    if v.rule is not None:
        return [] if v.rule[0] == "solve" else list(v.rule[1])
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

    if v.rule is not None:
        if v.rule[0] == "solve":
            return through_solve(v, known, width)
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
    if v.op == "neg":
        return combine((-1.0, of(a)))
    if v.op == "copy":
        return of(a)
    if v.op == "sqrt":
        return combine((0.5 / v, of(a)))
    if v.op == "abs":
        return combine((where(a < 0, -1.0, 1.0), of(a)))
    if v.op == "fselect":
        first, second = of(b), of(v.args[2])
        both = sorted({*first, *second})
        return {j: where(a, first.get(j, 0.0), second.get(j, 0.0)) for j in both}
    if v.op == "loop":
        raise refusal()
    raise TraceError(f"{here()}: {v.op} has no derivative")


def refusal() -> TraceError:
    """The error for a loop on the way of a derivative."""
    return TraceError(f"{here()}: a loop cannot be differentiated; write solve(residual, guess) or unroll it")


def through_construct(made: Construct, reach: dict[int, Value], known: dict[int, Tangent], width: int) -> None:
    """Tangents of what a branch or a call gives."""
    rec = recorder()
    if made.word == "loop":
        if any(known.get(x.serial) for x in sources(made.outs[0]) if isinstance(x, Value)):
            raise refusal()
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

    flat = rec.branch(made.reads[0], *(lambda b=b: side(b) for b in made.blocks))
    for place, v in enumerate(wanted):
        row = enumerate(flat[place * width : (place + 1) * width])
        known[v.serial] = {j: d for j, d in row if not nothing(d)}


def nothing(d: Value) -> bool:
    """True for a branch result that is zero on both sides."""
    ends = d.args[1:] if d.op == "fselect" else [b.ends[d.args[1]] for b in d.args[0].blocks]
    return all(not isinstance(e, Value) and e == 0 for e in ends)


def solve(residual: Callable[..., Any], guess: Any, iterations: int = 3) -> tuple[Any, Any]:
    """Root of residual(*x) by a fixed number of Newton steps from a guess; gives x and the largest |residual|.

    Its derivative follows from the implicit function theorem, not from the iteration.
    """
    rec = recorder()
    start, shape = sequence(guess)

    def newton(*x: Any) -> tuple[list[Any], bool]:
        values, _ = sequence(residual(*x))
        step = linear_solve(derivative(values, x), values)
        return [a - b for a, b in zip(x, step, strict=True)], True

    roots, _ = loop(start, newton, iterations)
    left = [r if isinstance(r, Value) else rec.opaque(r, "f") for r in sequence(residual(*roots))[0]]
    if len(left) != len(roots):
        raise TraceError(f"{here()}: solve has {len(roots)} unknowns and {len(left)} residuals")
    worst = abs(left[0])
    for r in left[1:]:
        worst = maximum(worst, abs(r))
    return shape([rec.opaque(x, "f", ("solve", (*roots, *left), i)) for i, x in enumerate(roots)]), worst


def through_solve(v: Value, known: dict[int, Tangent], width: int) -> Tangent:
    """The implicit function theorem: J dx = -dr with the unknowns held."""
    _, args, place = v.rule
    roots, left = args[: len(args) // 2], args[len(args) // 2 :]
    held = tangents(left, {**known, **{x.serial: {} for x in roots}}, width)
    jacobian = derivative(left, roots)
    result: Tangent = {}
    for j in sorted({j for t in held for j in t}):
        result[j] = linear_solve(jacobian, [-t.get(j, 0.0) for t in held])[place]
    return result
