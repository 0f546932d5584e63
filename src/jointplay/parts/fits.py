"""ISO 286 clearance fits such as `20 H7/g6`: the rounded table of the standard for 1 to 120 mm."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from ..errors import InputError
from .units import shorten

# Up to this diameter (mm, above the row before); IT5 to IT11; -es of d, e, f, g, h; micrometres on the diameter.
TABLE: tuple[tuple[int, tuple[int, ...], tuple[int, ...]], ...] = (
    (3, (4, 6, 10, 14, 25, 40, 60), (20, 14, 6, 2, 0)),
    (6, (5, 8, 12, 18, 30, 48, 75), (30, 20, 10, 4, 0)),
    (10, (6, 9, 15, 22, 36, 58, 90), (40, 25, 13, 5, 0)),
    (18, (8, 11, 18, 27, 43, 70, 110), (50, 32, 16, 6, 0)),
    (30, (9, 13, 21, 33, 52, 84, 130), (65, 40, 20, 7, 0)),
    (50, (11, 16, 25, 39, 62, 100, 160), (80, 50, 25, 9, 0)),
    (80, (13, 19, 30, 46, 74, 120, 190), (100, 60, 30, 10, 0)),
    (120, (15, 22, 35, 54, 87, 140, 220), (120, 72, 36, 12, 0)),
)
GRADES = tuple(range(5, 12))
SHAFTS = "defgh"
UNSURE = ("js", "j", "k", "m", "n")  # transition fits with an H hole
PRESSED = ("p", "r", "s", "t", "u", "v", "x", "y", "z", "za", "zb", "zc")  # interference fits with an H hole
SMALLEST, LARGEST = 1, TABLE[-1][0]  # mm
PLACES = ("min", "mean", "max")
PATTERN = r"^\s*(\d+(?:\.\d+)?)\s*(?:mm\s*)?([A-Za-z]+)(\d+)\s*/\s*([A-Za-z]+)(\d+)\s*$"
_FIT = re.compile(PATTERN, re.ASCII)
_KNOWN = "known are 1 to 120 mm, holes H6 to H11, shafts d, e, f, g, h with grades 5 to 11, such as '20 H7/g6'"


class FitError(InputError):
    """A fit that the table does not hold; the message says what it holds."""


class Fit(NamedTuple):
    """A fit: its nominal diameter (mm), the least and the greatest play and the tolerance of the hole (micrometres),
    all on the diameter."""

    diameter: Fraction
    least: int
    most: int
    width: int

    @property
    def hole(self) -> tuple[int, int]:
        """The lower and the upper deviation of the hole (micrometres)."""
        return 0, self.width

    @property
    def shaft(self) -> tuple[int, int]:
        """The lower and the upper deviation of the shaft (micrometres)."""
        return self.width - self.most, -self.least

    @property
    def radius(self) -> float:
        """Half of the nominal diameter (m)."""
        return float(self.diameter / 2000)

    def clearance(self, at: str = "mean") -> float:
        """The radial clearance (m) at the `min`, `mean` or `max` of the tolerances."""
        if at not in PLACES:
            raise FitError(f"must be min, mean or max, got {shorten(at)}")
        fourths = {"min": 2 * self.least, "mean": self.least + self.most, "max": 2 * self.most}[at]
        return float(Fraction(fourths, 4_000_000))


def parse_fit(text: str) -> Fit:
    """The fit that a text names; the diameter is in mm.

    >>> parse_fit("20 H7/g6")
    Fit(diameter=Fraction(20, 1), least=7, most=41, width=21)
    """
    match = _FIT.fullmatch(text) if isinstance(text, str) and len(text) <= 80 else None
    if match is None:
        raise FitError(f"must be a diameter in mm, a hole and a shaft, got {shorten(text)}; {_KNOWN}")
    size, hole, hole_grade, shaft, shaft_grade = match.groups()
    diameter = Fraction(size)
    if not SMALLEST <= diameter <= LARGEST:
        raise FitError(f"no diameter {size} mm in the table; {_KNOWN}")
    if hole != "H" or not _graded(hole_grade, 6):
        raise FitError(f"no hole {shorten(hole + hole_grade)} in the table; {_KNOWN}")
    if shaft in PRESSED or shaft in UNSURE:
        kind, size = ("an interference", "is") if shaft in PRESSED else ("a transition", "may be")
        raise FitError(
            f"{shorten(text.strip())} is {kind} fit: the shaft {shaft}{shaft_grade} {size} larger than the hole, so "
            f"that there is no play to count on; leave the joint ideal or choose a clearance fit; {_KNOWN}"
        )
    if len(shaft) != 1 or shaft not in SHAFTS or not _graded(shaft_grade, 5):
        raise FitError(f"no shaft {shorten(shaft + shaft_grade)} in the table; {_KNOWN}")
    grades, deviations = _row(diameter)
    least = deviations[SHAFTS.index(shaft)]
    bore, pin = (grades[GRADES.index(int(g))] for g in (hole_grade, shaft_grade))
    return Fit(diameter, least, least + bore + pin, bore)


def clearance(fit: str, at: str = "mean") -> float:
    """The radial clearance (m) of a fit at the `min`, `mean` or `max` of its tolerances.

    >>> clearance("20 H7/g6", "max")
    2.05e-05
    """
    return parse_fit(fit).clearance(at)


def loosest(radius: float) -> tuple[float, int]:
    """The greatest radial clearance (m) of H11/d11 at a radius (m), and the end (mm) of the step it is read from."""
    step = next((row for row in TABLE if 2e3 * radius <= row[0] * (1 + 1e-12)), TABLE[-1])
    return (step[2][0] + 2 * step[1][-1]) * 0.5e-6, step[0]


def _graded(digits: str, first: int) -> bool:
    return digits in [str(grade) for grade in GRADES if grade >= first]


def _row(diameter: Fraction) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return next(row[1:] for row in TABLE if diameter <= row[0])
