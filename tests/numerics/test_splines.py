"""Splines against scipy's splines."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from jointplay.engine import Spline, derivative, sin, spline, trace
from jointplay.run import Run
from tests.helpers import evaluate, same_bits

UNIFORM = np.linspace(-1.0, 2.0, 8)
UNEVEN = np.array([-1.0, -0.9, -0.3, 0.1, 0.11, 1.0, 1.7, 2.0])
KNOTS = pytest.mark.parametrize(
    "knots", [UNIFORM, UNEVEN, UNEVEN[:3], UNIFORM[[0, 7]]], ids=["even", "uneven", "3", "2"]
)
INSIDE = np.linspace(-1.0, 2.0, 61)


def heights(knots):
    return np.sin(2 * knots) + knots**2


def curve_of(knots, ends):
    if ends == "clamped":
        return CubicSpline(knots, heights(knots), bc_type="clamped")
    if ends == "periodic":
        span = np.ptp(knots)
        return CubicSpline(knots, np.sin(2 * np.pi * (knots - knots[0]) / span).round(12), bc_type="periodic")
    return (
        CubicSpline(knots, heights(knots)) if len(knots) > 2 else CubicSpline(knots, heights(knots), bc_type="natural")
    )


def looked_up(curve, ends, x, orders=0, **options):
    """Value and derivatives of a spline at x."""

    def text(x, t):
        found = [t(x)]
        for _ in range(orders):
            found.append(derivative([found[-1]], [x])[0][0])
        return found

    return evaluate(text, x, t=Spline(curve.x, curve.c, ends), **options)


@KNOTS
@pytest.mark.parametrize("ends", ["held", "clamped", "periodic"])
def test_a_table_is_the_spline_inside(knots, ends):
    curve = curve_of(knots, ends)
    x = np.sort(np.concatenate([INSIDE[(knots[0] <= INSIDE) & (knots[-1] >= INSIDE)], knots]))
    found = looked_up(curve, ends, x, 2)
    np.testing.assert_allclose(found[0], curve(x), rtol=1e-13, atol=1e-13)
    inner = x[(x > knots[0]) & (x < knots[-1])]
    slopes, bends = looked_up(curve, ends, inner, 2)[1:]
    np.testing.assert_allclose(slopes, curve(inner, 1), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(bends, curve(inner, 2), rtol=1e-11, atol=1e-11)


@KNOTS
@pytest.mark.parametrize("ends", ["held", "clamped"])
def test_beyond_its_ends_a_table_keeps_its_value(knots, ends):
    curve = curve_of(knots, ends)
    x = np.array([knots[0] - 1e-9, -5.0, -np.inf, knots[-1] + 1e-9, 7.0, np.inf])
    value, slope, bend = looked_up(curve, ends, x, 2)
    np.testing.assert_allclose(value[:3], curve(knots[0]), rtol=1e-14)
    np.testing.assert_allclose(value[3:], curve(knots[-1]), rtol=1e-14)
    assert not slope.any() and not bend.any()


@KNOTS
def test_a_periodic_table_repeats(knots):
    curve, span = curve_of(knots, "periodic"), np.ptp(knots)
    base = knots[0] + span * np.array([0.0, 0.013, 0.31, 0.5, 0.77, 0.999])
    for turns in (-3, 1, 1000):
        value, slope = looked_up(curve, "periodic", base + turns * span, 1)
        np.testing.assert_allclose(value, curve(base), atol=1e-11)
        np.testing.assert_allclose(slope, curve(base, 1), atol=1e-10)


@KNOTS
@pytest.mark.parametrize("ends", ["held", "clamped", "periodic"])
def test_nan_gives_nan(knots, ends):
    assert np.isnan(looked_up(curve_of(knots, ends), ends, np.array([np.nan])))[0]


@KNOTS
def test_a_table_is_the_same_in_all_modes(knots):
    curve, x = curve_of(knots, "held"), np.array([-2.0, -0.95, 0.105, 1.3, np.nan, 9.0])
    eager = looked_up(curve, "held", x, 1, eager=True)
    assert same_bits(eager, looked_up(curve, "held", x, 1, fma=False))
    np.testing.assert_allclose(eager, looked_up(curve, "held", x, 1), rtol=1e-12)


def test_other_numbers_need_no_other_program():
    low, high = (Spline(UNIFORM, CubicSpline(UNIFORM, k * UNIFORM).c) for k in (1.0, 10.0))
    made = trace(lambda s, p: {"x": spline(s.x + 0.1, p.t)}, {"x": 0.5}, {"t": low})
    run = Run(made, {"t": [low, high]}, lanes=2)
    run.advance(1)
    np.testing.assert_allclose(run["x"], [0.6, 6.0], rtol=1e-13)
    shorter = Spline(UNIFORM[:5], CubicSpline(UNIFORM[:5], UNIFORM[:5]).c)
    clamped = Spline(UNIFORM, curve_of(UNIFORM, "clamped").c, "clamped")
    for other in (shorter, clamped, 3.0):
        with pytest.raises(ValueError, match=r"'t'.*trace again"):
            Run(made, {"t": other})


def test_derivatives_pass_through_a_table():
    curve = curve_of(UNEVEN, "held")
    t = Spline(curve.x, curve.c)
    x = np.array([-0.5, 0.2, 0.9])
    found = evaluate(lambda x, t: derivative([t(sin(x)) * x], [x])[0][0], x, t=t)
    np.testing.assert_allclose(found, curve(np.sin(x)) + x * np.cos(x) * curve(np.sin(x), 1), rtol=1e-12)


@pytest.mark.parametrize(
    ("knots", "coefficients", "ends", "words"),
    [
        ([0.0, 1.0], np.zeros((4, 2)), "held", "shape"),
        ([0.0], np.zeros((4, 0)), "held", "shape"),
        ([0.0, 1.0, 1.0], np.zeros((4, 2)), "held", "increase"),
        ([0.0, 2.0, 1.0], np.zeros((4, 2)), "held", "increase"),
        ([0.0, np.inf], np.zeros((4, 1)), "held", "finite"),
        ([0.0, 1.0], np.full((4, 1), np.nan), "held", "finite"),
        ([0.0, 1.0], np.zeros((4, 1)), "open", "held"),
        ([0.0, 1.0], [[0.0], [0.0], [1.0], [0.0]], "clamped", "slope"),
        ([0.0, 1.0], [[0.0], [0.0], [1.0], [0.0]], "periodic", "equal"),
    ],
)
def test_bad_tables_are_refused(knots, coefficients, ends, words):
    with pytest.raises(ValueError, match=words):
        Spline(knots, coefficients, ends)


def test_a_table_must_be_a_parameter():
    with pytest.raises(ValueError, match="parameter"):
        trace(lambda s, p: {"x": Spline([0.0, 1.0], np.zeros((4, 1)))(s.x)}, {"x": 0.5})
