"""Aligned text: the tables that the commands print."""

from __future__ import annotations

from collections.abc import Sequence


def columns(rows: Sequence[Sequence[str]], gap: str = "  ") -> str:
    """Rows of texts with every column but the last as wide as its longest entry.

    >>> print(columns([("mass", "1 kg"), ("length", "30 cm")]))
    mass    1 kg
    length  30 cm
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append(gap.join([*cells, row[-1]]).rstrip())
    return "\n".join(lines)
