"""Unit strings: values correctly rounded, dimensions checked, hostile texts refused quickly."""

import contextlib
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointplay.model.units import (
    ANGLE,
    FORCE,
    INERTIA,
    LENGTH,
    MASS,
    NUMBER,
    RATE,
    SPEED,
    TORQUE,
    TORSIONAL_STIFFNESS,
    UNITS,
    UnitError,
    parse_quantity,
    parse_unit,
)


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("3 mm", LENGTH, 0.003),
        ("9mm", LENGTH, 0.009),
        ("12 um", LENGTH, 12e-6),
        ("12 µm", LENGTH, 12e-6),
        ("1e-5", LENGTH, 1e-5),
        ("1E3", LENGTH, 1000.0),
        (".5", LENGTH, 0.5),
        ("+2. m", LENGTH, 2.0),
        ("500 g", MASS, 0.5),
        ("2 t", MASS, 2000.0),
        ("30 deg", ANGLE, math.pi / 6),
        ("180 deg", ANGLE, math.pi),
        ("180°", ANGLE, math.pi),
        ("1 rev", ANGLE, 2 * math.pi),
        ("30 deg/s", RATE, math.pi / 6),
        ("60 rpm", RATE, 2 * math.pi),
        ("5000 rpm", RATE, 5000 * math.pi / 30),
        ("1 Hz", RATE, 2 * math.pi),
        ("5/s", RATE, 5.0),
        ("5 1/s", RATE, 5.0),
        ("5 1/s^2", RATE.per_time(1), 5.0),
        ("3600 rev/min^2", ANGLE.per_time(2), 2 * math.pi),
        ("36 km/h", SPEED, 10.0),
        ("1.5 kg*m^2", INERTIA, 1.5),
        ("1.5 kg m²", INERTIA, 1.5),
        ("1 g*cm^2", INERTIA, 1e-7),
        ("200 N*m", TORQUE, 200.0),
        ("2 kN*mm", TORQUE, 2.0),
        ("1 kg*m/s^2", FORCE, 1.0),
        ("10 N*m/rad", TORSIONAL_STIFFNESS, 10.0),
        ("10 N*m", TORSIONAL_STIFFNESS, 10.0),
        ("3 N/s^12", FORCE.per_time(12), 3.0),
        ("1e-999999999 kg", MASS, 0.0),
    ],
)
def test_quantities(text, dimension, value):
    assert parse_quantity(text, dimension) == value


KNOWN = "known are mm, um, cm, m, kg, g, s, ms, rad, deg, rpm, rev, Hz, N, kN, mN, J, W, Pa, min, h and their products"


@pytest.mark.parametrize(
    ("text", "dimension", "message"),
    [
        ("300 1/min", RATE, "'300 1/min' does not say turns or radians; write rpm, or rev or rad in place of the 1"),
        ("1 1/h^2", RATE.per_time(1), "'1 1/h^2' does not say turns or radians; write rev or rad in place of the 1"),
        ("300/min", RATE, "'300/min' does not say turns or radians; write rpm, or rev or rad in place of the 1"),
        ("3 mm", MASS, "must be a mass in kg, got '3 mm' (a length, wrong dimension)"),
        ("3 rad", NUMBER, "must be a plain number, got '3 rad' (an angle, wrong dimension)"),
        ("3 N*m/rad", TORQUE, "must be a torque in N*m, got '3 N*m/rad' (wrong dimension)"),
        ("3 mmm", LENGTH, "unknown unit 'mmm'; did you mean 'mm'?"),
        ("3 m^0", LENGTH, f"unknown unit 'm^0'; {KNOWN}"),
        ("3 parsec", LENGTH, f"unknown unit 'parsec'; {KNOWN}"),
        ("0,5", LENGTH, "must have a decimal point, got '0,5'; write '0.5'"),
        ("nan", LENGTH, "must be finite, got nan"),
        ("-.inf", LENGTH, "must be finite, got -.inf"),
        ("1e999", LENGTH, "must be finite, got 1e999"),
        ("1e308 km", LENGTH, "must be finite, got 1e308 km"),
        ("1e999999999 km", LENGTH, "must be finite, got 1e999999999 km"),
        ("three", LENGTH, "must be a number such as 1.5 or '1.5 m', got 'three'"),
        ("", NUMBER, "must be a number such as 1.5, got ''"),
        ("1" * 100, MASS, "must be a number such as 1.5 or '1.5 kg', got '" + 56 * "1" + "..."),
    ],
)
def test_refusals(text, dimension, message):
    with pytest.raises(UnitError) as caught:
        parse_quantity(text, dimension)
    assert str(caught.value) == message


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_plain_number_is_exact(x):
    assert parse_quantity(repr(x), NUMBER) == x


@given(st.decimals(-1000, 1000, places=4), st.sampled_from(["mm", "um", "km", "cm"]))
def test_prefixes_are_correctly_rounded(x, unit):
    assert parse_quantity(f"{x} {unit}", LENGTH) == float(Fraction(x) * UNITS[unit].factor)


@given(st.text(max_size=90))
def test_any_text_is_a_number_or_an_error(text):
    with contextlib.suppress(UnitError):
        assert math.isfinite(parse_quantity(text, LENGTH))


@given(st.text("kgmsN/*^-123 °²", max_size=30))
def test_any_unit_is_a_unit_or_an_error(text):
    with contextlib.suppress(UnitError):
        parse_unit(text)
