"""Aligned text: the tables that the commands print, and numbers in the units that people read."""

from __future__ import annotations

from collections.abc import Sequence

from jointplay.parts.units import everyday


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


def quantity(value: float, unit: str, digits: int = 5) -> str:
    """A number in SI units as people read it.

    >>> quantity(0.0175, "rad"), quantity(0.012, "m"), quantity(3.0, "N")
    ('1.0027 deg', '12 mm', '3 N')
    """
    size, shown = everyday(value, unit)
    return f"{value * size:.{digits}g} {shown}".rstrip()
