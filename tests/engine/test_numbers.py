"""What single operations compute: NaN and signed zeros, integers, exactness at the limits, powers."""

import math

import numpy as np
import pytest

from jointplay.engine import (
    Pair,
    asin,
    bits,
    derivative,
    emit,
    exp,
    floor,
    from_bits,
    integer,
    log,
    maximum,
    minimum,
    modulo,
    number,
    pow,
    sign,
    sin,
    sqrt,
    stop,
    trace,
    where,
    whole,
)
from jointplay.run import Run
from tests.helpers import EVERY_MODE, MODES, evaluate, recorded, run_to_end, same_bits

SPECIAL = np.array([np.nan, -np.inf, -1.5, -0.0, 0.0, 5e-324, 0.5, 1.0, 2.5, 1e308, np.inf])
A, B = (x.ravel() for x in np.meshgrid(SPECIAL, SPECIAL))
BOTH = pytest.mark.parametrize("eager", [False, True])
BIG = 2**51 - 1


@BOTH
def test_arithmetic_is_that_of_the_hardware(eager):
    def texts(x, y):
        return [x + y, x - y, x * y, x / y, -x, abs(x), sqrt(x), floor(x), round(x), x * 0.3, 1 / y, 3.5 - x]

    with np.errstate(all="ignore"):
        wanted = [A + B, A - B, A * B, A / B, -A, abs(A), np.sqrt(A), np.floor(A), np.rint(A), A * 0.3]
        wanted += [1 / B, 3.5 - A]
    for found, right in zip(evaluate(texts, A, B, eager=eager), wanted, strict=True):
        assert same_bits(found, right)


@BOTH
def test_sums_of_products_are_rounded_once_only_if_fused(eager):
    x, y = np.array([1 + 2.0**-30, 1 / 3, 1e-200]), np.array([1 - 2.0**-30, 3.0, 1e-200])
    texts = [lambda x, y: x * y - 1.0, lambda x, y: 1.0 - x * y, lambda x, y: 1.0 + x * y, lambda x, y: x * y + x * y]
    for text in texts:
        with np.errstate(all="ignore"):
            assert same_bits(evaluate(text, x, y, fma=False, eager=eager), text(x, y))
    if not eager:
        assert evaluate(texts[0], x, y)[0] == -(2.0**-60)
        assert evaluate(texts[1], x, y)[0] == 2.0**-60


@BOTH
def test_nan_goes_through_minimum_and_maximum(eager):
    def texts(x, y):
        return [minimum(x, y), maximum(x, y), minimum(x, 0.5), maximum(0.5, x), minimum(x, float("nan"))]

    found = evaluate(texts, A, B, eager=eager)
    wanted = [np.minimum(A, B), np.maximum(A, B), np.minimum(A, 0.5), np.maximum(A, 0.5), A * np.nan]
    for x, right in zip(found, wanted, strict=True):
        assert np.array_equal(x, right, equal_nan=True)


@BOTH
def test_sign_and_comparisons(eager):
    def texts(x, y):
        masks = [x < y, x <= y, x > y, x >= y, x == y, x != y, ~(x < y), (x < y) ^ (x == x)]
        masks += [x < 0.5, x <= 0.5, np.float64(0.5) < x, np.float64(0.5) == x, x != np.float64(0.5)]
        return [sign(x), *(where(m, 1.0, 0.0) for m in masks)]

    signs, *found = evaluate(texts, A, B, eager=eager)
    assert np.array_equal(signs, np.sign(A), equal_nan=True)
    wanted = [A < B, A <= B, A > B, A >= B, A == B, A != B, ~(A < B), (A < B) ^ (A == A)]
    wanted += [A < 0.5, A <= 0.5, A > 0.5, A == 0.5, A != 0.5]
    for x, right in zip(found, wanted, strict=True):
        assert np.array_equal(x, right)


@BOTH
def test_where_computes_both_and_keeps_bits(eager):
    assert same_bits(evaluate(lambda x, y: where(x < 1.0, x, y), A, B, eager=eager), np.where(A < 1.0, A, B))
    assert same_bits(evaluate(lambda x: from_bits(bits(x)), SPECIAL, eager=eager), SPECIAL)
    flipped = evaluate(lambda x: from_bits(bits(x) ^ (-(2**63))), SPECIAL, eager=eager)
    assert same_bits(flipped, -SPECIAL)


def integers(text, values, eager):
    """text(i) for integers, one step each, as integers."""

    def step(s, p):
        result = text(p.i.load(s.step))
        emit("out", high=result >> 32, low=result & (2**32 - 1))
        stop(s.step >= len(values) - 1)

    rows = run_to_end(trace(step, {}, {"i": np.array(values, np.int64)}), eager=eager).rows("out")
    words = rows["high"].astype(np.uint64) << np.uint64(32) | rows["low"].astype(np.uint64)
    return words.view(np.int64).tolist()


@BOTH
def test_integers_wrap_and_shift_like_words(eager):
    i = np.array([0, 1, -1, 5, -(2**63), 2**63 - 1, 123456789123456789], np.int64)
    u = i.view(np.uint64)
    with np.errstate(all="ignore"):
        cases = [
            (lambda i: i + (2**63 - 1), i + np.int64(2**63 - 1)),
            (lambda i: 3 - i * i, 3 - i * i),
            (lambda i: -i, -i),
            (lambda i: ~i & 255 | i ^ 12, ~i & 255 | i ^ 12),
            (lambda i: i << 7, i << 7),
            (lambda i: i >> 7, (u >> np.uint64(7)).view(np.int64)),
            (lambda i: where(i < -1, i, 2) + where(i >= 5, 1, i), np.where(i < -1, i, 2) + np.where(i >= 5, 1, i)),
            (lambda i: minimum(i, 3) + maximum(7, i), np.minimum(i, 3) + np.maximum(7, i)),
            (lambda i: where((i == 5) | (i != i), i, 0), np.where(i == 5, i, 0)),
        ]
    for text, right in cases:
        assert integers(text, i, eager) == right.tolist()


@BOTH
def test_number_and_integer_are_exact_to_51_bits(eager):
    whole = [0, 1, -1, 12345, BIG, -BIG, BIG - 1, 1 - BIG, 2**50 + 1, -(2**50) - 1]
    assert evaluate(lambda x: number(integer(x)), np.array(whole, float), eager=eager).tolist() == whole
    assert integers(lambda i: integer(number(i)), whole, eager) == whole
    halves = np.array([0.5, 1.5, 2.5, -0.5, -1.5])
    assert evaluate(lambda x: number(integer(x)), halves, eager=eager).tolist() == np.rint(halves).tolist()


@BOTH
def test_rows_hold_integers_of_any_size(eager):
    sizes = [0, -1, 2**51, -(2**51), 2**53, 2**62, -(2**63)]

    def step(s, p):
        emit("out", n=p.n.load(s.step), some=p.n.load(s.step) != 0)
        stop(s.step >= len(sizes) - 1)

    rows = run_to_end(trace(step, {}, {"n": np.array(sizes)}), eager=eager).rows("out")
    assert rows["n"].tolist() == [float(n) for n in sizes]
    assert rows["some"].tolist() == [0, 1, 1, 1, 1, 1, 1]


POWERS = {0.5: (1, 0, 0), 1.5: (1, 1, 0), 2: (0, 1, 0), 3: (0, 2, 0), 4: (0, 2, 0), -1: (0, 0, 1), 1: (0, 0, 0)}


@pytest.mark.parametrize(("exponent", "roots", "products", "quotients"), [(e, *n) for e, n in POWERS.items()])
def test_common_powers_are_short(exponent, roots, products, quotients):
    made = trace(lambda s, p: {"y": s.x**exponent}, {"x": 2.0, "y": 0.0})
    assert [recorded(made, op) for op in ("sqrt", "mul", "div")] == [roots, products, quotients]
    x = np.array([0.25, 1.0, 2.0, 3.7, 1e10])
    np.testing.assert_allclose(evaluate(lambda x: x**exponent, x), x**exponent, rtol=1e-15)


def test_powers_of_any_kind():
    x, y = np.array([0.3, 2.0, 7.5]), np.array([2.2, -1.3, 0.4])
    np.testing.assert_allclose(evaluate(lambda x, y: x**y, x, y), x**y, rtol=1e-15)
    np.testing.assert_allclose(evaluate(lambda x: 2.0**x, x), 2.0**x, rtol=1e-15)
    np.testing.assert_allclose(evaluate(lambda x: x**2.2, x), x**2.2, rtol=1e-15)
    assert (
        trace(lambda s, p: {"x": s.x**0}, {"x": 2.0}).operations
        == trace(lambda s, p: {"x": 1.0}, {"x": 2.0}).operations
    )


def test_parameter_arrays_are_read_by_index_and_clamped():
    def step(s, p):
        emit("out", x=p.x.load(s.step - 2), n=p.n.load(s.step - 2), third=p.x.load(2))
        stop(s.step >= 7)

    made = trace(step, {}, {"x": np.array([1.5, 2.5, 3.5]), "n": np.array([7, 8, 9])})
    for eager in (False, True):
        rows = run_to_end(made, eager=eager).rows("out")
        assert rows["x"].tolist() == [1.5, 1.5, 1.5, 2.5, 3.5, 3.5, 3.5, 3.5]
        assert rows["n"].tolist() == [7, 7, 7, 8, 9, 9, 9, 9]
        assert rows["third"].tolist() == [3.5] * 8
    lanes = run_to_end(made, {"x": [np.arange(3.0), np.arange(3.0) * 10]}, lanes=2)
    assert lanes.rows("out", 0)["x"].tolist() == [0, 0, 0, 1, 2, 2, 2, 2]
    assert lanes.rows("out", 1)["x"].tolist() == [0, 0, 0, 10, 20, 20, 20, 20]


@EVERY_MODE
def test_modulo_never_has_the_wrong_sign(mode):
    rng = np.random.default_rng(0)
    y = rng.choice([0.1, 0.3, 2 * math.pi, 1 / 3, 7.0, 0.7, -0.3, -math.pi], 4000)
    x = rng.integers(-1000, 1000, 4000) * y
    x[::2] = np.nextafter(x[::2], rng.choice([-np.inf, np.inf], 2000))
    x, y = (x[:300], y[:300]) if mode["eager"] else (x, y)
    rest, slope = evaluate(lambda x, y: [modulo(x, y), derivative([x % y], [x])[0][0]], x, y, **mode)
    assert ((rest == 0) | ((rest < 0) == (y < 0))).all() and (abs(rest) <= abs(y) * (1 + 1e-12)).all()
    assert (slope == 1).all()
    if not mode["eager"] and mode.get("fma", True):
        assert rest.tolist() == np.mod(x, y).tolist()


def test_modulo_of_integers_is_exact_to_51_bits():
    made = trace(lambda s, p: {"k": s.k % p.n, "j": p.n % s.j}, {"k": 0, "j": 5}, {"n": 7})
    run = Run(made, eager=False)
    for k in (-1, -7, 13, 2**51 - 1, -(2**51) + 1):
        run.start(0, {"n": 9}, {"k": k})
        run.advance(1)
        assert (run["k"], run["j"]) == (k % 9, 4)
    assert "2**51" in modulo.__doc__
    assert evaluate(lambda x: 7.5 % x, [2.0, -2.0]).tolist() == [1.5, -0.5]


@pytest.mark.parametrize("lanes", [1, 4])
def test_a_product_less_itself_is_nothing(lanes):
    def step(s, p):
        v = Pair(s.x, s.y)
        return {"a": s.x * s.y - s.y * s.x, "b": v.cross(v), "c": p.q * s.x + -(p.q * s.x)}

    made = trace(step, {"x": 0.1, "y": 0.7, "a": 1.0, "b": 1.0, "c": 1.0}, {"q": 0.3})
    run = run_to_end(made, steps=1, lanes=lanes, eager=False)
    assert [run[n].tolist() for n in "abc"] == [[0.0] * lanes] * 3 and recorded(made, "mul") == 2


def test_functions_of_plain_numbers_give_what_a_run_gives():
    words = [lambda: log(0.0), lambda: log(-1.0), lambda: exp(1e4), lambda: asin(2.0), lambda: sin(math.inf)]
    words += [lambda: pow(0.0, -1.0), lambda: pow(-2.0, 0.5), lambda: pow(-10.0, 401.0)]
    found = [word() for word in words]
    nan = math.nan
    np.testing.assert_array_equal(found, [-math.inf, nan, math.inf, nan, nan, math.inf, nan, -math.inf])
    made = trace(lambda s, p: {"x": where(s.x > log(0.0), 1.0, 2.0)}, {"x": 0.0})
    assert run_to_end(made, steps=1, eager=False)["x"] == 1


def test_shifts_to_the_right_bring_in_zeros():
    made = trace(lambda s, p: {"k": whole(-8) >> 1, "j": floor(s.x)}, {"k": 0, "j": 0.0, "x": 1.5})
    assert [int(run_to_end(made, steps=1, **mode)["k"][0]) for mode in MODES] == [2**63 - 4] * 3
