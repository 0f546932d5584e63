"""Aligned text: the tables that the commands print, and numbers in the units that people read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jointplay.parts.units import everyday

ROUND_OFF = 1e-15  # of SI units: no number of a mechanism is so small
SHARE = 1e-12  # of the largest of its kind: a number below is rounding
START = 1e-6  # of a run: its first steps, which are very short


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


def tidy(value: float, beside: float = 0.0, least: float = ROUND_OFF) -> float:
    """A number, or 0 if it is rounding: nothing in itself (`least`), or beside the largest of its kind.

    >>> tidy(3e-18), tidy(1e-13, beside=800.0), tidy(2e-6), tidy(1e-16, beside=6e-13, least=0.0)
    (0.0, 0.0, 2e-06, 1e-16)
    """
    return 0.0 if abs(value) < max(least, SHARE * abs(beside)) else value


def energies(run: Any) -> float:
    """The largest energy of a run (J), beside which others may be rounding: those of tiny mechanisms are very small."""
    known = [run[name] for name in run.data_vars if run[name].attrs.get("units") == "J" and run[name].size]
    return max((float(abs(one).max()) for one in known), default=0.0)


def moment(seconds: float, until: float) -> str:
    """When something was, in a run that ends at `until` (s): the first moments of it are the start.

    >>> moment(3e-9, 2.0), moment(0.25, 2.0)
    ('at the start', 'at 0.25 s')
    """
    return "at the start" if seconds <= START * until else f"at {seconds:.5g} s"


def quantity(value: float, unit: str, digits: int = 5) -> str:
    """A number in SI units as people read it.

    >>> quantity(0.0175, "rad"), quantity(0.012, "m"), quantity(3.0, "N")
    ('1.0027 deg', '12 mm', '3 N')
    """
    size, shown = everyday(value, unit)
    return f"{value * size:.{digits}g} {shown}".rstrip()
