"""Why a step fails: a reason, the number of the element that it is about, and what is left open."""

from __future__ import annotations

import struct
from typing import NamedTuple

from ..engine.text import SOLVER_FAILED, stop
from ..engine.typing import Scalar
from ..engine.values import bits

UNSOLVED, BLOCKED, UNCLOSED, RUBBING, MODEL_OPEN, MODEL_WEAK, MODEL_JUMPED, NOT_FINITE = range(1, 9)


class Failure(NamedTuple):
    """What a run keeps of a failed step."""

    reason: int
    element: int
    residual: float


def fail(when: Scalar, reason: int, index: int = 0, residual: Scalar = 0.0, status: int = SOLVER_FAILED) -> None:
    """End the run where the mask holds; the residual is kept to about ten digits, with what it is about in its last
    bits."""
    stop(when, status, (bits(residual) & ~0xFFFF) | (reason << 8 | index))


def failure(detail: int) -> Failure:
    """What `fail` has put into the detail of a run's end."""
    (residual,) = struct.unpack("<d", struct.pack("<q", detail & ~0xFFFF))
    return Failure(detail >> 8 & 0xFF, detail & 0xFF, residual)
