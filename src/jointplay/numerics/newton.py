"""Newton's method inside a step, differentiable by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..engine.derivatives import RULES, Tangent, derivative, tangents
from ..engine.text import loop
from ..engine.trees import build, flatten
from ..engine.typing import Matrix, Scalar, Vector
from ..engine.values import TraceError, Value, here, recorder
from .choice import maximum
from .linalg import linear_solve


def solve(
    residual: Callable[..., Any],
    guess: Any,
    iterations: int = 3,
    linear: Callable[[Matrix, Vector], Vector] = linear_solve,
    near: float | None = None,
) -> tuple[Any, Scalar]:
    """Root of residual(*x) by a fixed number of Newton steps from a guess; gives x and the largest |residual|.

    linear(jacobian, residuals): solves for a step; near: a step no larger than this is the last.
    Its derivative follows from the implicit function theorem, not from the iteration.
    """
    rec = recorder()
    start, form = flatten(guess)

    def residuals(x: Sequence[Scalar]) -> Vector:
        values = [r if isinstance(r, Value) else rec.opaque(r, "f") for r in flatten(residual(*x))[0]]
        if len(values) != len(start):
            raise TraceError(f"{here()}: solve has {len(start)} unknowns and {len(values)} residuals")
        return values

    def newton(*x: Scalar) -> tuple[Vector, bool]:
        values = residuals(x)
        step = linear(derivative(values, x), values)
        more: Scalar = True
        if near is not None:
            more = largest_size(step) > near
        return [a - b for a, b in zip(x, step, strict=True)], more

    found, _ = loop(start, newton, iterations)
    roots = [rec.opaque(x, "f", ("held", ())) for x in found]
    left = residuals(roots)
    for x in roots:
        x.rule = ("solve", (*roots, *left))
    return build(form, roots), largest_size(left)


def largest_size(values: Vector) -> Scalar:
    """The largest size of some numbers."""
    worst = abs(values[0])
    for x in values[1:]:
        worst = maximum(worst, abs(x))
    return worst


def through_solve(v: Value, known: dict[int, Tangent], width: int) -> Tangent:
    """The implicit function theorem: J dx = -dr with the unknowns held."""
    roots, left = v.rule[1][: len(v.rule[1]) // 2], v.rule[1][len(v.rule[1]) // 2 :]
    held = tangents(left, {**known, **{x.serial: {} for x in roots}}, width)
    jacobian = derivative(left, roots)
    for x in roots:
        known[x.serial] = {}
    for j in sorted({j for t in held for j in t}):
        for x, d in zip(roots, linear_solve(jacobian, [-t.get(j, 0.0) for t in held]), strict=True):
            known[x.serial][j] = d
    return known[v.serial]


def hold(x: Scalar) -> Scalar:
    """A value taken as independent of everything: derivatives stop at it."""
    return recorder().opaque(x, "f", ("held", ())) if isinstance(x, Value) else x


RULES["solve"] = through_solve
RULES["held"] = lambda v, known, width: {}  # while the residual is recorded
