"""How values change along a motion, and what a law answers to rates, by the engine's derivatives."""

from __future__ import annotations

from collections.abc import Sequence

from ..engine.derivatives import derivative, tangents
from ..engine.typing import Matrix, Scalar, Vector
from ..engine.values import TraceError, Value


def along(outputs: Sequence[Scalar], inputs: Sequence[Scalar], rates: Sequence[Scalar]) -> Vector:
    """The derivatives of the outputs as the inputs, taken as independent, change at these rates."""
    known: dict[int, dict[int, Scalar]] = {}
    for x, rate in zip(inputs, rates, strict=True):
        if isinstance(x, Value):
            base, sign = (x.args[0], -1.0) if x.op == "neg" else (x, 1.0)
            known[base.serial] = {0: sign * rate}
    return [row.get(0, 0.0) for row in tangents(outputs, known, 1)]


def slopes_of(torques: Sequence[Scalar], rates: Sequence[Scalar]) -> Matrix:
    """How a law answers to rates; a law that cannot be differentiated is taken as one that does not."""
    try:
        return derivative(torques, rates)
    except TraceError:
        return [[0] * len(rates) for _ in torques]
