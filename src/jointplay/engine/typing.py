"""Names for annotations: what a text computes with."""

from __future__ import annotations

from typing import Any

Scalar = Any  # an engine value or a plain number; a mask too, and in `root` and `Pair` an array of numbers
Vector = list[Scalar]
Matrix = list[Vector]
