"""Unit strings at the edge: `3 mm`, `30 deg/s`, `5000 rpm`, `1.5 kg*m^2` become SI numbers of a stated dimension."""

from __future__ import annotations

import difflib
import functools
import math
import re
from fractions import Fraction
from typing import NamedTuple

from ..errors import InputError

Exponents = tuple[int, int, int, int]  # of m, kg, s, rad


class Unit(NamedTuple):
    """A unit as an exact multiple of SI units: factor * pi^pi, and the exponents of m, kg, s and rad."""

    factor: Fraction
    pi: int
    exponents: Exponents

    def times(self, other: Unit, power: int = 1) -> Unit:
        """The product with a power of another unit."""
        a, b, c, d = (x + power * y for x, y in zip(self.exponents, other.exponents, strict=True))
        return Unit(self.factor * other.factor**power, self.pi + power * other.pi, (a, b, c, d))


NOTHING = 1e-9  # m or rad: what never goes beyond is rounding
ENERGIES = ((1e-3, "mJ"), (1e-6, "µJ"), (1e-9, "nJ"))
SCALES = ((1.0, "m"), (1e-3, "mm"), (1e-6, "µm"), (1e-9, "nm"))


def _unit(factor: str, exponents: Exponents, pi: int = 0) -> Unit:
    return Unit(Fraction(factor), pi, exponents)


_ONE = _unit("1", (0, 0, 0, 0))
_PREFIXES = {"n": "1e-9", "u": "1e-6", "µ": "1e-6", "μ": "1e-6", "m": "1e-3", "c": "1e-2", "k": "1e3", "M": "1e6"}
_PREFIXES["G"] = "1e9"
_PREFIXED = {
    "m": _unit("1", (1, 0, 0, 0)),
    "g": _unit("1e-3", (0, 1, 0, 0)),
    "s": _unit("1", (0, 0, 1, 0)),
    "rad": _unit("1", (0, 0, 0, 1)),
    "N": _unit("1", (1, 1, -2, 0)),
    "J": _unit("1", (2, 1, -2, 0)),
    "W": _unit("1", (2, 1, -3, 0)),
    "Pa": _unit("1", (-1, 1, -2, 0)),
    "Hz": _unit("2", (0, 0, -1, 1), pi=1),  # a frequency here is an angular rate: one turn per second
}
UNITS = {
    **{prefix + name: unit._replace(factor=unit.factor * Fraction(size))
       for name, unit in _PREFIXED.items() for prefix, size in _PREFIXES.items()},
    **_PREFIXED,
    "t": _unit("1000", (0, 1, 0, 0)),
    "min": _unit("60", (0, 0, 1, 0)),
    "h": _unit("3600", (0, 0, 1, 0)),
    "deg": _unit("1/180", (0, 0, 0, 1), pi=1),
    "°": _unit("1/180", (0, 0, 0, 1), pi=1),
    "rev": _unit("2", (0, 0, 0, 1), pi=1),
    "rpm": _unit("1/30", (0, 0, -1, 1), pi=1),
}  # fmt: skip

_NUMBER = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?)\s*(.*)", re.DOTALL)
_FACTOR = re.compile(r"(1|[^\W\d_]+|°)(?:\^(-?[1-9][0-9]?))?")
_COMMON = (
    "mm",
    "um",
    "cm",
    "m",
    "kg",
    "g",
    "s",
    "ms",
    "rad",
    "deg",
    "rpm",
    "rev",
    "Hz",
    "N",
    "kN",
    "mN",
    "J",
    "W",
    "Pa",
    "min",
    "h",
)
_ALIASES = {"r": "rev", "U": "rev", "tr": "rev", "turn": "rev", "turns": "rev", "sec": "s", "Nm": "N*m"}
_LONGEST = 80  # characters of a quantity; more is refused before any arithmetic


class UnitError(InputError):
    """A text that is not a number of the wanted dimension; the message says what is and what was wanted."""


class Dimension(NamedTuple):
    """What a number means: a name for messages and its SI unit; plain numbers are in this unit."""

    name: str
    unit: str

    @property
    def exponents(self) -> Exponents:
        """The powers of m, kg, s and rad in it."""
        return parse_unit(self.unit).exponents

    def per_time(self, power: int) -> Dimension:
        """The dimension of the derivative of this order in time."""
        if power == 0:
            return self
        order = f"^{power}" if power > 1 else ""
        return Dimension(f"{self.name} per time{order}", f"{self.unit or 1}/s{order}")

    def accepts(self, unit: Unit) -> bool:
        """Whether a number in the unit has this dimension; rad may be left out, but not put in."""
        return unit.exponents[:3] == self.exponents[:3] and unit.exponents[3] in (0, self.exponents[3])


NUMBER = Dimension("a plain number", "")
LENGTH = Dimension("a length", "m")
MASS = Dimension("a mass", "kg")
TIME = Dimension("a time", "s")
ANGLE = Dimension("an angle", "rad")
RATE = Dimension("an angular rate", "rad/s")
SPEED = Dimension("a speed", "m/s")
ACCELERATION = Dimension("an acceleration", "m/s^2")
INERTIA = Dimension("a moment of inertia", "kg*m^2")
FORCE = Dimension("a force", "N")
TORQUE = Dimension("a torque", "N*m")
STIFFNESS = Dimension("a stiffness", "N/m")
DAMPING = Dimension("a damping", "N*s/m")
TORSIONAL_STIFFNESS = Dimension("a torsional stiffness", "N*m/rad")
TORSIONAL_DAMPING = Dimension("a torsional damping", "N*m*s/rad")
_KNOWN = (LENGTH, MASS, TIME, ANGLE, RATE, SPEED, ACCELERATION, INERTIA, FORCE, TORQUE, STIFFNESS, DAMPING)


def measured_in(unit: str) -> Dimension:
    """What a number in this SI unit is.

    >>> measured_in("rad").name, measured_in("m^2").name
    ('an angle', 'a number')
    """
    return next((d for d in (NUMBER, *_KNOWN) if d.unit == unit), Dimension("a number", unit))


@functools.lru_cache(maxsize=1024)
def parse_unit(text: str) -> Unit:
    """The unit that a text such as `kg*m^2`, `N*s/m` or `1/s` names.

    >>> parse_unit("kg*m^2").exponents
    (2, 1, 0, 0)
    """
    result, power = _ONE, 1
    if not text.strip():
        return result
    spelled = text.strip().replace("²", "^2").replace("³", "^3").replace("·", "*").replace("**", "^")
    for piece in re.split(r"\s*([*/])\s*|\s+", spelled):
        if piece in ("*", "/", None):
            power = -1 if piece == "/" else 1
            continue
        factor = _FACTOR.fullmatch(piece)
        name = factor[1] if factor else piece
        if factor is None or (name != "1" and name not in UNITS):
            close = [*difflib.get_close_matches(name, _COMMON, 1), *difflib.get_close_matches(name.lower(), _COMMON, 1)]
            close = [_ALIASES[name]] if name in _ALIASES else close
            known = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(_COMMON)} and their products"
            raise UnitError(f"unknown unit {text.strip()!r}; {known}")
        result = result.times(_ONE if name == "1" else UNITS[name], power * int(factor[2] or 1))
    return result


def parse_quantity(text: str, dimension: Dimension) -> float:
    """The SI number that a text gives, correctly rounded: `9 mm` is 0.009 and `180 deg` is pi.

    >>> parse_quantity("9 mm", LENGTH), parse_quantity("180 deg", ANGLE), parse_quantity("1e-5", MASS)
    (0.009, 3.141592653589793, 1e-05)
    """
    match = _NUMBER.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if match is None:
        if text.strip().lower().lstrip("+-.") in ("nan", "inf", "infinity"):
            raise UnitError(f"must be finite, got {text.strip()}")
        raise UnitError(f"must be {number_form(dimension.unit)}, got {shorten(text)}")
    digits, exponent, suffix = match.groups()
    if re.match(r",[0-9]", suffix):
        raise UnitError(f"must have a decimal point, got {text.strip()!r}; write {text.strip().replace(',', '.', 1)!r}")
    unit = parse_unit("1" + suffix if suffix.startswith("/") else suffix)
    if suffix and not dimension.accepts(unit):
        alike = next((f"{d.name}, " for d in _KNOWN if d.exponents == unit.exponents), "")
        wanted = f"{dimension.name} in {dimension.unit}" if dimension.unit else dimension.name
        raise UnitError(f"must be {wanted}, got {text.strip()!r} ({alike}wrong dimension)")
    m, kg, s, rad = unit.exponents
    if suffix and dimension.exponents[3] == 1 and m == kg == rad == 0 > s and unit.factor != 1:  # 1/s is rad/s
        rpm = "rpm, or " if s == -1 else ""
        raise UnitError(f"{text.strip()!r} does not say turns or radians; write {rpm}rev or rad in place of the 1")
    if not suffix or abs(int(exponent or 0)) > 400:  # beyond that, exact fractions would be huge
        number = float(digits) * (float(unit.factor) * math.pi**unit.pi)
    else:
        try:
            number = float(Fraction(digits) * unit.factor * Fraction(math.pi) ** unit.pi)
        except OverflowError:
            number = math.inf
    if not math.isfinite(number):
        raise UnitError(f"must be finite, got {text.strip()}")
    return number


def number_form(unit: str) -> str:
    """How a number in this unit is written, for messages."""
    return f"a number such as 1.5 or '1.5 {unit}'" if unit else "a number such as 1.5"


def shorten(value: object) -> str:
    """A value as it is shown in a message: its repr, cut to a line."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def scale(length: float) -> tuple[float, str]:
    """The unit in which a length (m) reads well: its size in m, and its name.

    >>> scale(3e-3)
    (0.001, 'mm')
    """
    return next(((size, unit) for size, unit in SCALES if length >= 0.99 * size), SCALES[-1])


def spoken(unit: str, most: float) -> tuple[float, str]:
    """The unit in which people read a quantity whose largest value is `most` (SI): its size in SI units, its name.

    >>> spoken("m", 0.25), spoken("N", 3.0)
    ((0.001, 'mm'), (1.0, 'N'))
    """
    if unit == "rad":
        return math.radians(1.0), "deg"
    if unit == "m":
        return scale(most) if most > NOTHING else (1e-3, "mm")
    if unit == "J" and 0 < most < 0.99:
        return next(((size, name) for size, name in ENERGIES if most >= 0.99 * size), ENERGIES[-1])
    return 1.0, unit


def everyday(value: float, unit: str) -> tuple[float, str]:
    """The unit in which people read one number (SI), and what to multiply it with: degrees, and mm below a metre.

    >>> everyday(0.003, "m")
    (1000.0, 'mm')
    """
    if unit == "rad":
        return 180 / math.pi, "deg"
    if unit == "m" and abs(value) < 1:
        return (1e3, "mm") if abs(value) >= 1e-4 or value == 0 else (1e6, "µm")
    return 1.0, unit
