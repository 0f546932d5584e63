"""Newton's method inside a step, differentiable by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.derivatives import RULES, Tangent, derivative, tangents
from ..engine.recorder import sequence
from ..engine.text import loop
from ..engine.values import TraceError, Value, here, maximum, recorder
from .linalg import linear_solve


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


RULES["solve"] = through_solve
