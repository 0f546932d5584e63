"""ISO 286: the table against the formulas behind it, worked examples, and what the table does not hold."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointplay.model import FitError, parse_fit
from jointplay.model.fits import GRADES, SHAFTS, TABLE, clearance, loosest

EDGES = [0, *(row[0] for row in TABLE)]


@pytest.mark.parametrize(("low", "high"), list(itertools.pairwise(EDGES[2:-1])))
def test_table_against_its_formulas(low, high):
    """From 6 to 80 mm, with the geometric mean of each step, within the rounding of 1 micrometre."""
    mean = math.sqrt(low * high)
    unit = 0.45 * mean ** (1 / 3) + 0.001 * mean
    _, grades, deviations = TABLE[EDGES.index(high) - 1]
    expected = {6: 10 * unit, 7: 16 * unit, 8: 25 * unit}
    assert {g: grades[GRADES.index(g)] for g in expected} == pytest.approx(expected, abs=1)
    expected = {"e": 11 * mean**0.41, "f": 5.5 * mean**0.41, "g": 2.5 * mean**0.34, "h": 0}
    assert {s: deviations[SHAFTS.index(s)] for s in expected} == pytest.approx(expected, abs=1)


def test_table_has_its_form():
    assert EDGES == [0, 3, 6, 10, 18, 30, 50, 80, 120]
    for _, grades, deviations in TABLE:
        assert len(grades) == len(GRADES) and list(grades) == sorted(grades)
        assert len(deviations) == len(SHAFTS) and list(deviations) == sorted(deviations, reverse=True)
    for column in (1, 2):
        for values in zip(*(row[column] for row in TABLE), strict=True):
            assert list(values) == sorted(values)
    _, *middle, _ = TABLE
    for high, grades, deviations in middle:  # the columns that the page checks by no rounding rule: within 10 %
        low = EDGES[EDGES.index(high) - 1]
        mean = math.sqrt(low * high)
        unit = 0.45 * mean ** (1 / 3) + 0.001 * mean
        assert grades[4:] == pytest.approx([40 * unit, 64 * unit, 100 * unit], rel=0.1)
        assert deviations[0] == pytest.approx(16 * mean**0.44, rel=0.1)


@pytest.mark.parametrize(
    ("fit", "least", "most"),
    [("20 H7/g6", 7, 41), ("40 H8/e8", 50, 128), ("10 H7/f7", 13, 43), ("120 H11/d11", 120, 560)],
)
def test_examples(fit, least, most):
    assert clearance(fit, "min") == pytest.approx(least * 0.5e-6, rel=1e-15)
    assert clearance(fit, "max") == pytest.approx(most * 0.5e-6, rel=1e-15)
    assert clearance(fit) == clearance(fit, "mean") == pytest.approx((least + most) * 0.25e-6, rel=1e-15)


def test_spellings_and_steps():
    assert parse_fit("20H7/g6") == parse_fit(" 20 mm H7 / g6 ") == parse_fit("20.0 H7/g6")
    assert parse_fit("12.5 H6/h5").radius == 0.00625 and clearance("12.5 H6/h5", "min") == 0.0
    assert parse_fit("3 H7/g6")[1:3] == (2, 18) and parse_fit("3.001 H7/g6")[1:3] == (4, 24)
    assert parse_fit("1 H6/h5")[1:3] == (0, 10)


KNOWN = "known are 1 to 120 mm, holes H6 to H11, shafts d, e, f, g, h with grades 5 to 11, such as '20 H7/g6'"


TIGHT = "so that there is no play to count on; leave the joint ideal or choose a clearance fit"


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        ("0.9 H7/g6", "no diameter 0.9 mm in the table"),
        ("120.1 H7/g6", "no diameter 120.1 mm in the table"),
        ("20 h7/g6", "no hole 'h7' in the table"),
        ("20 JS7/g6", "no hole 'JS7' in the table"),
        ("20 H5/g6", "no hole 'H5' in the table"),
        ("20 H12/g6", "no hole 'H12' in the table"),
        ("20 H07/g6", "no hole 'H07' in the table"),
        ("20 H7/G6", "no shaft 'G6' in the table"),
        ("20 H7/k6", f"'20 H7/k6' is a transition fit: the shaft k6 may be larger than the hole, {TIGHT}"),
        ("20 H7/p6", f"'20 H7/p6' is an interference fit: the shaft p6 is larger than the hole, {TIGHT}"),
        ("20 H7/ef6", "no shaft 'ef6' in the table"),
        ("20 H7/g4", "no shaft 'g4' in the table"),
        ("20 H7", "must be a diameter in mm, a hole and a shaft, got '20 H7'"),
        ("20 cm H7/g6", "must be a diameter in mm, a hole and a shaft, got '20 cm H7/g6'"),
        (20, "must be a diameter in mm, a hole and a shaft, got 20"),
        (None, "must be a diameter in mm, a hole and a shaft, got None"),
    ],
)
def test_what_the_table_does_not_hold(fit, message):
    with pytest.raises(FitError) as caught:
        parse_fit(fit)
    assert str(caught.value) == f"{message}; {KNOWN}"


def test_unknown_place():
    for at in ("middle", None, ["min"]):
        with pytest.raises(FitError, match=r"^must be min, mean or max, got "):
            clearance("20 H7/g6", at)


@given(st.text(max_size=20) | st.text("0123456789. HKdeg/m", max_size=14))
def test_any_text_is_a_fit_or_a_fit_error(text):
    try:
        assert 0 <= clearance(text, "min") <= clearance(text) <= clearance(text, "max") <= 280e-6
    except FitError as error:
        assert KNOWN in str(error)


def test_loosest():
    assert loosest(0.010) == (pytest.approx(162.5e-6), 30)
    assert loosest(0.060) == loosest(1.0) == (pytest.approx(280e-6), 120)
    assert loosest(0.0) == (pytest.approx(70e-6), 3)
