"""Derivatives against differences in forty digits, through every operation and construct."""

import math

import mpmath
import numpy as np
import pytest
from mpmath import mp

from jointplay import engine
from jointplay.engine import (
    TraceError,
    Value,
    branch,
    derivative,
    emit,
    loop,
    memory,
    sin,
    solve,
    sqrt,
    subroutine,
    trace,
    whole,
)
from jointplay.engine.derivatives import derivatives
from tests.helpers import EVERY_MODE, evaluate, run_to_end, same_bits

POINTS = np.array([[0.7, 1.3], [-0.4, 0.6], [2.1, -0.8], [-1.7, -2.3], [0.05, 3.0]])
TRIG = [lambda m, x, y: m.sin(x * y), lambda m, x, y: m.cos(x - y), lambda m, x, y: m.tan(0.3 * x + y * y / 9)]


class Exact:
    """The functions of the engine on numbers with many digits."""

    sin, cos, tan, exp, log, sqrt, atan, atan2 = mp.sin, mp.cos, mp.tan, mp.exp, mp.log, mp.sqrt, mp.atan, mp.atan2
    floor, sign, minimum, maximum, pow = mp.floor, mp.sign, min, max, mp.power
    sincos = staticmethod(lambda x: (mp.sin(x), mp.cos(x)))
    where = staticmethod(lambda mask, a, b: a if mask else b)
    branch = staticmethod(lambda mask, a, b: a() if mask else b())
    subroutine = staticmethod(lambda f: f)

    @staticmethod
    def solve(residual, guess):
        if len(guess) == 1:
            return [mp.findroot(lambda x: residual(x)[0], guess[0])], 0
        return list(mp.findroot(residual, guess)), 0


class Engine:
    """The functions of the engine, with enough steps of Newton's method."""

    def __getattr__(self, name):
        return getattr(engine, name)

    @staticmethod
    def solve(residual, guess):
        return solve(residual, guess, 8)


def check(text, points=POINTS, tolerance=2e-13):
    """First and second derivatives of text(m, x, y) by x and y, compiled and eager."""

    def texts(x, y):
        value = text(Engine(), x, y)
        slopes = derivative([value], [x, y])[0]
        return [value, *slopes, *(d for row in derivative(slopes, [x, y]) for d in row)]

    found = evaluate(texts, *points.T)
    assert same_bits(evaluate(texts, *points.T, fma=False), evaluate(texts, *points.T, eager=True))
    orders = [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (1, 1), (0, 2)]
    with mp.workdps(40):
        for column, (x, y) in enumerate(points):
            at = mpmath.mpf(x), mpmath.mpf(y)
            right = [mp.diff(lambda a, b: text(Exact, a, b), at, n, h=mpmath.mpf(10) ** -12) for n in orders[1:]]
            right = [text(Exact, *at), *right]
            np.testing.assert_allclose(found[:, column], np.array(right, float), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "text",
    [
        lambda m, x, y: x * x * y + 3 * x - y / 4,
        lambda m, x, y: x / (1 + y * y) - 1 / (x + 5),
        lambda m, x, y: -(x - y) * (y - 2.0) * abs(x),
        lambda m, x, y: m.sqrt(x * x + y * y + 0.1),
        *TRIG,
        lambda m, x, y: m.sincos(x)[0] * m.sincos(y)[1],
        lambda m, x, y: m.exp(0.3 * x * y) * m.log(x * x + y * y),
        lambda m, x, y: m.atan(x * y) + m.atan2(y, x),
        lambda m, x, y: (x * x + 0.5) ** 1.5 + (y * y) ** 2 + 1 / (x * x + 1) ** 3,
        lambda m, x, y: m.pow(x * x + 0.3, 0.4 * y) + 2.0 ** (x - y),
        lambda m, x, y: (x * x + 0.5) ** 0.37 * y**3,
    ],
)
def test_functions(text):
    check(text)


def routine(m, x, y):
    f = m.subroutine(lambda a, b: (a * m.sin(b), a + b * b))
    (p, q), (r, s) = f(x, y), f(y * y, x)
    return f(p, r)[0] * q + s


def nested_routines(m, x, y):
    inner = m.subroutine(lambda a: m.branch(a > 0, lambda: a * a * y, lambda: m.exp(a)))
    outer = m.subroutine(lambda a, b: inner(a * b) - inner(-a) * x)
    return outer(x, y) + outer(y, 0.5)


def nested_branches(m, x, y):
    def deep():
        z = x * y
        return m.branch(y > 1, lambda: [m.sin(z), z], lambda: [z * z, 1.0])

    a, b = m.branch(x > 0, deep, lambda: [x - y * y * x, x])
    return a * b + m.branch(y < 0, lambda: m.branch(x > -1, lambda: a * x, lambda: b), lambda: y * b)


def one_root(m, x, y):
    [z], _ = m.solve(lambda z: [z * z * z + z - x * y], [0.2])
    return z * m.sin(z) + x


def two_roots(m, x, y):
    z, w = m.solve(lambda z, w: [z + 0.3 * m.sin(w) - x, 0.2 * z * z * y + w - y], [x, y])[0]
    return z * w - y


def roots_everywhere(m, x, y):
    def root(a, b):
        return m.solve(lambda z: [z + 0.25 * m.sin(z * a) - b], [b])[0][0]

    inside = m.branch(x > 0, lambda: root(y, x) * y, lambda: x * x)
    return m.subroutine(lambda a, b: root(a, b) + a)(inside, y) * root(0.5, inside)


@pytest.mark.parametrize(
    "text",
    [
        lambda m, x, y: m.where(x > y, x * x * y, m.sin(y)),
        lambda m, x, y: m.minimum(x * x, y) * m.maximum(x, y * y * x) + m.maximum(y, 0.5),
        lambda m, x, y: (m.floor(4 * x) + m.sign(y)) * x * y,
        lambda m, x, y: m.branch(x > 0, lambda: x * x * y, lambda: m.sin(y) * x),
        nested_branches,
        routine,
        nested_routines,
        one_root,
        two_roots,
        roots_everywhere,
    ],
)
def test_constructs(text):
    check(text, tolerance=1e-12)


def test_inputs_are_independent_wherever_they_come_from():
    def text(x, y):
        u, v = x * y, engine.sin(x)
        outputs = [u * v, engine.exp(x * y) + x, v, 3.0]
        return [d for row in derivative(outputs, [u, v, x]) for d in row]

    x, y = np.array([0.4, 2.0]), np.array([-0.7, 0.3])
    zero, one = 0 * x, 0 * x + 1
    wanted = [np.sin(x), x * y, zero, np.exp(x * y), zero, one, zero, one, zero, zero, zero, zero]
    for eager in (False, True):
        np.testing.assert_allclose(evaluate(text, x, y, eager=eager), wanted, rtol=1e-14, atol=1e-300)


@pytest.mark.parametrize("eager", [False, True])
def test_what_is_held_is_independent_of_the_inputs(eager):
    def text(x, y):
        u = branch(y > 0, lambda: x * x, lambda: engine.sin(x))
        return [row.get(0, 0.0) for held in ((), (u,), (-u,)) for row in derivatives([x * u], [x], held)]

    x, y = np.array([0.4, 2.0]), np.array([-0.7, 0.3])
    u, slope = np.where(y > 0, x * x, np.sin(x)), np.where(y > 0, 2 * x, np.cos(x))
    np.testing.assert_allclose(evaluate(text, x, y, eager=eager), [u + x * slope, u, u], rtol=1e-14)


@pytest.mark.parametrize("eager", [False, True])
def test_one_number_given_twice_is_two_inputs(eager):
    def slope(a, b):
        return derivative([a * a * b], [a])[0][0]

    def text(x):
        looped = loop([x, x], lambda a, b: ([slope(a, b), b], False), 3)[0][0]
        a, b = branch(x > 0, lambda: [x, x], lambda: [x, 1.0])
        [u, v], _ = solve(lambda u, v: [u + 2 * v - 4 * x, u - v - x], [1.0, 1.0])
        return [subroutine(slope)(x, x), looped, slope(a, b), u, v]

    found = evaluate(text, [3.0, 0.5], eager=eager)
    np.testing.assert_allclose(found, [[18.0, 0.5]] * 3 + [[6.0, 1.0], [3.0, 0.5]])


def test_what_does_not_depend_is_a_structural_zero():
    def step(s, p):
        rows = derivative([s.x * s.x, 2.0, engine.where(s.y > 0, s.x, 1.0)], [s.y, p.a])
        assert [d for row in rows for d in row] == [0.0] * 6
        assert not any(isinstance(d, Value) for row in rows for d in row)
        [[one]] = derivative([s.x], [s.x])
        assert one == 1.0
        side = branch(s.x > 0, lambda: s.x * 2, lambda: s.x * 3)
        assert derivative([side], [s.y]) == [[0.0]]
        return {}

    trace(step, {"x": 1.0, "y": 2.0}, {"a": 3.0})


def test_kinks_have_the_derivative_of_a_side():
    def text(x):
        kinks = [abs(x), engine.sign(x), engine.floor(x), round(x), engine.maximum(x, 0.0)]
        return [derivative([k], [x])[0][0] for k in kinks]

    assert evaluate(text, np.array([-2.0, 0.0, 3.0])).T.tolist() == [[-1, 0, 0, 0, 0], [1, 0, 0, 0, 1], [1, 0, 0, 0, 1]]


# -- loops
def halved(x, k):
    return loop([x, whole(0)], lambda v, n: ([v * k, n + 1], n < 3), 9)[0][0]


def test_a_loop_has_no_derivative_and_says_what_to_do():
    for text in (
        lambda x: derivative([halved(x, 0.5) * 2], [x])[0][0],
        lambda x: derivative([halved(1.0, x)], [x])[0][0],
        lambda x: derivative([branch(x > 0, lambda: halved(x, 0.5) * 2, lambda: x)], [x])[0][0],
        lambda x: derivative([subroutine(lambda a: halved(a, 0.5) * 2)(x)], [x])[0][0],
    ):
        with pytest.raises(TraceError, match=r"test_derivative.py:.*loop.*solve"):
            evaluate(text, np.array([1.0]))


def test_a_loop_that_does_not_depend_on_the_inputs_is_a_constant():
    def text(x, y):
        return derivative([halved(y, 0.5) * x, branch(x > 0, lambda: halved(y, y) * x, lambda: x)], [x])

    for eager in (False, True):
        found = evaluate(lambda x, y: [row[0] for row in text(x, y)], [2.0, -1.0], [3.0, 0.5], eager=eager)
        np.testing.assert_allclose(found, [[3.0 / 16, 0.5 / 16], [3.0**5, 1.0]])


# -- solve
def test_solve_finds_roots_and_tells_what_is_left():
    def text(a):
        one, left = solve(lambda x: [x * x - a], [a], 7)
        single, rough = solve(lambda x: x * x - a, a, 1)
        return one[0], left, single, rough

    a = np.array([0.5, 2.0, 9.0])
    root, left, single, rough = evaluate(text, a)
    np.testing.assert_allclose(root, np.sqrt(a), rtol=1e-15)
    assert (left < 1e-15 * a + 2e-15).all()
    np.testing.assert_allclose(single, (a + 1) / 2, rtol=1e-15)
    np.testing.assert_allclose(rough, abs(single**2 - a), rtol=1e-13)
    for order in (1, -1):  # the largest of several
        text = lambda a, n=order: solve(lambda x, y: [x * x - a, y * y - 100 * a][::n], [a, a], 1)[1]  # noqa: E731
        np.testing.assert_allclose(evaluate(text, a), ((100 + a) / 2) ** 2 - 100 * a, rtol=1e-13)


def test_solve_exchanges_rows():
    def cyclic(a, b):  # the diagonal of the Jacobian is a structural zero
        return solve(lambda x, y, z: [y + 0.1 * z * z - a, z - b, x * x - y - 1.0], [1.0, 1.0, 1.0], 12)

    def vanishing(a, b):  # the first pivot is zero at the guess, and only there
        return solve(lambda x, y: [(x - 1) * (x - 1) + y - a, x + y * b - 2], [1.0, 0.3], 12)

    a, b = np.array([0.3, 1.0]), np.array([0.5, -0.4])
    x, y, z, left = evaluate(lambda a, b: [*cyclic(a, b)[0], cyclic(a, b)[1]], a, b)
    assert left.max() < 1e-14
    np.testing.assert_allclose([z, y, x * x], [b, a - 0.1 * b * b, a - 0.1 * b * b + 1], rtol=1e-14)
    a = np.array([2.5, 3.0])
    x, y, left = evaluate(lambda a, b: [*vanishing(a, b)[0], vanishing(a, b)[1]], a, b)
    assert left.max() < 1e-13
    np.testing.assert_allclose([(x - 1) ** 2 + y, x + y * b], [a, [2, 2]], rtol=1e-13)


def test_solve_in_lanes_is_the_scalar_one():
    def step(s, p):
        [x, _], left = solve(lambda x, y: [x + engine.sin(y) - p.a, y * y + x - 1 - s.x], [s.x, 1.0])
        return {"x": 0.5 * x, "left": left}

    made = trace(step, {"x": 0.5, "left": 0.0}, {"a": 1.0})
    lanes = run_to_end(made, {"a": [0.5, 1.0, 1.5, 0.7]}, steps=20, lanes=4, eager=False)
    for lane, a in enumerate([0.5, 1.0, 1.5, 0.7]):
        assert same_bits(run_to_end(made, {"a": a}, steps=20, eager=False)["x"], lanes["x"][lane : lane + 1])


def test_solve_needs_as_many_residuals_as_unknowns():
    for residual in (lambda x, y: [x + y], lambda x, y: [x, y, x + y]):
        with pytest.raises(TraceError, match=r"test_derivative.py:.*unknowns"):
            evaluate(lambda a, r=residual: solve(r, [a, a])[0][0], [1.0])


@EVERY_MODE
def test_inputs_may_be_negations_and_may_come_twice(mode):
    def text(x, y):
        u = -y
        v = x * -y  # recorded as -(x * y)
        f, g = u * u + 3 * u, sin(v) - 2 * v
        [[a]], [[b]] = derivative([f], [u]), derivative([g], [v])
        [[c, d]] = derivative([x * x * y], [x, x])
        [[first, second]] = derivative([u * u], [y, u])
        return [a, b, c, d, first, second, *derivative([u, y], [u])[0]]

    x, y = np.array([0.4, 2.0]), np.array([-0.7, 0.3])
    wanted = [3 - 2 * y, np.cos(x * y) - 2, 2 * x * y, 2 * x * y, 2 * y, -2 * y, 1 + 0 * x]
    found = evaluate(text, x, y, **mode)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


def sided(s, p):
    """Derivatives through branches with a constant side, plain, in code, nested, in memory and twice."""

    def write(cell, x):
        cell.value = x

    cell = memory("cell", 0.0)
    branch(s.x > p.c, lambda: write(cell, s.x * s.x), lambda: write(cell, 0.0))
    plain = branch(s.x > p.c, lambda: s.x, lambda: 0.0)
    code = branch(s.x > p.c, lambda: s.x * s.y, lambda: 0.0)
    nested = branch(s.y > 0, lambda: branch(s.x > p.c, lambda: sin(s.x), lambda: 0.0) * s.y, lambda: s.y)
    apart = subroutine(lambda a: branch(a > p.c, lambda: a * a, lambda: 0.0))(s.x)
    flat = branch(s.x > p.c, lambda: 1.0, lambda: 0.0)
    found = {}
    for name, z in {"plain": plain, "code": code, "nested": nested, "apart": apart, "cell": cell.value}.items():
        found[name], found[name + "_y"] = derivative([sqrt(z)], [s.x, s.y])[0]
        found[name + "_negative"] = derivative([-z * s.y], [s.x])[0][0]
    found["flat"] = derivative([sqrt(flat) * s.x], [s.x])[0][0]
    [[once]] = derivative([code * s.x], [s.x])
    found["twice"] = derivative([sqrt(once)], [s.x])[0][0]
    emit("rows", **found)
    return {}


@pytest.mark.parametrize("c", [-10.0, 10.0])
@pytest.mark.parametrize("y", [0.5, -0.5])
def test_eager_derivatives_know_both_sides_of_a_branch(c, y):
    made = trace(sided, {"x": 0.25, "y": 0.5}, {"c": 0.0})
    one, two = (run_to_end(made, {"c": c}, {"y": y}, 1, eager=eager, fma=False).rows("rows") for eager in (True, False))
    assert [n for n in one if not same_bits(one[n], two[n])] == []
    assert math.isnan(one["plain"][0]) == (c > 0)


@EVERY_MODE
def test_solve_may_stand_in_a_residual(mode):
    def text(x, y):
        def outer(z):
            (w,), _ = solve(lambda w: [w + 0.3 * sin(w) * z - x], [x], 8)
            return [z + 0.2 * w * w - y]

        (z,), left = solve(outer, [y], 8)
        return [z, derivative([z], [x])[0][0], left]

    x, y, h = 0.7, 0.4, 1e-6
    z, slope, left = evaluate(text, [x - h, x, x + h], [y] * 3, **mode)
    assert (left < 1e-14).all() and slope[1] == pytest.approx((z[2] - z[0]) / (2 * h), rel=1e-8)


@EVERY_MODE
def test_a_subroutine_made_in_a_side_has_derivatives(mode):
    def text(x, y):
        def side():
            c = x * y
            inner = subroutine(lambda z: z * c + z * z)
            return inner(x) + inner(y)

        return derivative([branch(x > 0, side, lambda: 0.0)], [x])[0][0]

    x, y = np.array([2.0, 0.5]), np.array([3.0, -1.0])
    np.testing.assert_allclose(evaluate(text, x, y, **mode), 2 * x * y + y * y + 2 * x, rtol=1e-14)
