"""The elementary functions against mpmath: error in units of the last place, special values, derivatives."""

import itertools
import math

import mpmath
import numpy as np
import pytest

from jointplay.engine import derivative
from jointplay.numerics import functions as f
from tests.helpers import evaluate, same_bits

mpf = mpmath.mpf
MODES = [pytest.param(True, id="fused"), pytest.param(False, id="unfused")]
INF, NAN, LARGEST, LEAST = math.inf, math.nan, 1.7976931348623157e308, 5e-324
N = 2500  # random arguments of each sort
rng = np.random.default_rng(20)


def signed(x) -> np.ndarray:
    return x * rng.choice([-1.0, 1.0], len(x))


def spread(low: float, high: float, count: int = N) -> np.ndarray:
    """Both signs, magnitudes between two powers of two, every exponent as likely."""
    return signed(np.exp2(rng.uniform(low, high, count)))


def around(*centres: float) -> np.ndarray:
    """Some floats and their nearest neighbours on both sides."""
    x = np.array(centres)
    return np.concatenate([x, np.nextafter(x, INF), np.nextafter(x, -INF)])


def close_to_quarter_turns() -> np.ndarray:
    """Floats of all sizes with the least distance from multiples of pi/2, by continued fractions."""
    found = [6381956970095103 * 2.0**797]
    with mpmath.workprec(2400):
        quarter = int(mpmath.ldexp(2 / mpmath.pi, 2300))
    for exponent in range(-40, 970, 6):
        a, b, q0, q1 = quarter << (exponent + 40), 1 << 2340, 0, 1
        while b and q1 < 2**53:
            a, b, (q0, q1), last = b, a % b, (q1, q0 + (a // b) * q1), q1
        found.append(math.ldexp(last, exponent))
    return np.array(found)


def angles() -> np.ndarray:
    multiples = [float(k * mpmath.pi / 2) for k in [*range(1, 60), *range(61, 33000, 211)]]
    sizes = [rng.uniform(-4, 4, N), rng.uniform(-6e4, 6e4, N), spread(-1074, 1024, N)]
    return np.concatenate([*sizes, around(*multiples, 5e4), signed(close_to_quarter_turns())])


def powers() -> tuple[np.ndarray, np.ndarray]:
    """Bases of all sizes and next to 1, exponents such that the results fill the range and its ends."""
    x = np.concatenate([abs(spread(-1074, 1024)), 1 + spread(-52, -1), np.abs(rng.uniform(0.5, 2, N))])
    binary = np.concatenate([rng.uniform(-1074, 1023.9, N), rng.uniform(-1074, -1010, N), rng.uniform(-3, 3, N)])
    y = rng.permutation(binary) / np.array([float(mpmath.log(v, 2)) for v in x])
    whole = np.round(rng.uniform(-60, 60, N))
    return np.append(x, rng.uniform(-20, 20, N)), np.append(y, whole)


def pairs() -> tuple[np.ndarray, np.ndarray]:
    """Points in all directions, of all sizes, and with subnormal or nearly overflowing coordinates."""
    ratio, size = rng.uniform(0, 1.1, N), spread(-20, 20)
    y = np.concatenate([spread(-1074, 1023), ratio * size, spread(-1074, -1066, 300), spread(1020, 1023, 300)])
    x = np.concatenate([spread(-1074, 1023), signed(size), spread(-1074, -1066, 300), spread(1020, 1023, 300)])
    swap = rng.random(len(x)) < 0.5
    return np.where(swap, x, y), np.where(swap, y, x)


def exact(function):
    """The function for angles of any size."""

    def far(x):
        with mpmath.workprec(1300 if abs(x) > 1e10 else 160):
            return function(x)

    return far


NEAR_1 = np.concatenate([1 + spread(-52, -1), rng.uniform(0.5, 2, N), around(1.0, 0.75390625, 1.5078125)])
POSITIVE = np.concatenate([NEAR_1, abs(spread(-1074, 1024)), around(2.0**-1022)])
ANGLES = angles()
SMALL_AND_LARGE = np.concatenate([rng.uniform(-3, 3, N), spread(-1074, 1023.9)])
EXPONENTS = np.concatenate([rng.uniform(-1, 1, N), rng.uniform(-745, 709.7, N), rng.uniform(-745, -707, N)])
CASES = {
    "sin": (f.sin, exact(mpmath.sin), (ANGLES,)),
    "cos": (f.cos, exact(mpmath.cos), (ANGLES,)),
    "tan": (f.tan, exact(mpmath.tan), (ANGLES,)),
    "atan": (f.atan, mpmath.atan, (np.append(SMALL_AND_LARGE, around(0.375, 1.0, 8 / 3)),)),
    "atan2": (f.atan2, mpmath.atan2, pairs()),
    "hypot": (f.hypot, mpmath.hypot, pairs()),
    "exp": (f.exp, mpmath.exp, (np.append(EXPONENTS, around(709.7827128933, -708.3964185, -745.1332)),)),
    "log": (f.log, mpmath.log, (POSITIVE,)),
    "tanh": (f.tanh, mpmath.tanh, (np.append(SMALL_AND_LARGE, around(0.55, 22.0, 0.17328679513998632)),)),
    "power": (f.power, mpmath.power, powers()),
}
CONSTANT_EXPONENTS = (-3, -2, -1.5, -1, -0.5, 0.5, 1.5, 2, 2.5, 3, 4, 5, 0.7)
for exponent in CONSTANT_EXPONENTS:
    CASES[f"x**{exponent}"] = (
        lambda x, n=exponent: f.pow(x, n),
        lambda x, n=exponent: x ** mpf(n),
        (POSITIVE[::5],),
    )

references: dict[str, tuple[np.ndarray, np.ndarray]] = {}


def reference(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The right results as the sum of two floats."""
    if name not in references:
        _, function, arguments = CASES[name]
        with mpmath.workprec(200):
            right = [function(*map(mpf, numbers)) for numbers in zip(*map(np.ndarray.tolist, arguments), strict=True)]
            high = [float(y) if abs(y) < 2**1024 else math.copysign(INF, y) for y in right]
            low = [float(y - h) if math.isfinite(h) else 0.0 for y, h in zip(right, high, strict=True)]
        references[name] = np.array(high), np.array(low)
    return references[name]


@pytest.mark.parametrize("fma", MODES)
@pytest.mark.parametrize("name", CASES)
def test_error_is_at_most_two_units_of_the_last_place(name: str, fma: bool):
    function, _, arguments = CASES[name]
    got = evaluate(function, *arguments, fma=fma)
    high, low = reference(name)
    with np.errstate(all="ignore"):
        error = np.where(got == high, abs(low), abs((got - high) - low)) / np.spacing(np.minimum(abs(high), 1.7e308))
    worst = int(np.argmax(np.where(np.isnan(error), INF, error)))
    assert error[worst] <= 2, [float(x[worst]) for x in arguments]


@pytest.mark.parametrize("name", CASES)
def test_eager_gives_the_bits_of_unfused_code(name: str):
    function, _, arguments = CASES[name]
    some = [x[:: len(x) // 25] for x in arguments]
    assert same_bits(evaluate(function, *some, eager=True), evaluate(function, *some, fma=False))


# Arguments and results; sin, tan, atan and tanh are odd, so their results at the opposite arguments follow.
SPECIAL = {
    "sin": [(0.0, 0.0), (LEAST, LEAST), (INF, NAN), (NAN, NAN)],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (LEAST, 1.0), (INF, NAN), (-INF, NAN), (NAN, NAN)],
    "tan": [(0.0, 0.0), (LEAST, LEAST), (INF, NAN), (NAN, NAN)],
    "atan": [(0.0, 0.0), (LEAST, LEAST), (INF, math.pi / 2), (NAN, NAN)],
    "exp": [
        (0.0, 1.0),
        (-0.0, 1.0),
        (710.0, INF),
        (LARGEST, INF),
        (INF, INF),
        (-746.0, 0.0),
        (-INF, 0.0),
        (NAN, NAN),
    ],
    "log": [
        (0.0, -INF),
        (-0.0, -INF),
        (1.0, 0.0),
        (-LEAST, NAN),
        (-1.0, NAN),
        (INF, INF),
        (-INF, NAN),
        (NAN, NAN),
    ],
    "tanh": [(0.0, 0.0), (LEAST, LEAST), (LARGEST, 1.0), (INF, 1.0), (NAN, NAN)],
}
ODD = ("sin", "tan", "atan", "tanh")


@pytest.mark.parametrize("mode", [{"eager": True}, {"fma": False}, {"fma": True}], ids=str)
@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(name: str, mode: dict):
    x, y = np.array(SPECIAL[name]).T
    assert same_bits(evaluate(getattr(f, name), x, **mode), y)
    if name in ODD:
        assert same_bits(evaluate(getattr(f, name), -x, **mode), -y)


NUMBERS = [0.0, 1.0, INF, LEAST, LARGEST, 0.5, 2.0, 3.0, 2.5, 1e300, 1 + 2.0**-52, 2.0**53 + 2, NAN]
GRID = [np.array(x) for x in zip(*itertools.product([s * x for x in NUMBERS for s in (1, -1)], repeat=2), strict=True)]


@pytest.mark.parametrize("fma", MODES)
@pytest.mark.parametrize(("function", "known"), [(f.atan2, np.arctan2), (f.power, np.power)], ids=["atan2", "power"])
def test_pairs_of_special_values_follow_c(function, known, fma: bool):
    got = evaluate(function, *GRID, fma=fma)
    with np.errstate(all="ignore"):
        right = known(*GRID)
        same = (got == right) | (abs(got - right) <= 2 * np.spacing(abs(right))) | np.isnan(got) & np.isnan(right)
    same &= (np.signbit(got) == np.signbit(right)) | np.isnan(right)
    assert [(float(x), float(y)) for x, y in zip(*(g[~same] for g in GRID), strict=True)] == []


def test_hypot_is_nan_for_nan_and_otherwise_infinite_for_infinity():
    x, y = np.array([(INF, 1.0), (-2.0, -INF), (INF, -INF), (0.0, -0.0), (NAN, INF), (NAN, 1.0)]).T
    assert same_bits(evaluate(f.hypot, x, y), np.array([INF, INF, INF, 0.0, NAN, NAN]))


def test_plain_numbers_give_plain_numbers():
    for name in ("sin", "cos", "tan", "atan", "exp", "log", "tanh"):
        assert getattr(f, name)(0.7) == getattr(math, name)(0.7)
    assert (f.atan2(1, -2), f.hypot(3, 4), f.pow(2, 10), f.pow(2.0, 0.5)) == (
        math.atan2(1, -2),
        5,
        1024,
        2**0.5,
    )
    assert f.sincos(0) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("function", "known"),
    [
        (lambda x: f.atan2(x, -2.5), lambda x: mpmath.atan2(x, -2.5)),
        (lambda x: f.atan2(-0.0, x), lambda x: mpf(0)),
        (lambda x: f.hypot(3.0, x), lambda x: mpmath.hypot(3, x)),
        (lambda x: f.pow(2.5, x), lambda x: mpmath.power(2.5, x)),
        (lambda x: f.pow(x, -7), lambda x: x**-7),
    ],
    ids=["atan2(x,-2.5)", "atan2(-0,x)", "hypot(3,x)", "2.5**x", "x**-7"],
)
def test_one_plain_argument(function, known):
    x = np.linspace(0.3, 9.7, 25)
    right = np.array([float(known(mpf(v))) for v in x.tolist()])
    assert (abs(evaluate(function, x) - right) <= 2 * np.spacing(abs(right))).all()


@pytest.mark.parametrize("name", [name for name in CASES if len(CASES[name][2]) == 1])
def test_derivative(name: str):
    function, known, _ = CASES[name]
    x = np.linspace(0.15, 2.9, 12)
    right = np.array([float(mpmath.diff(known, mpf(v))) for v in x.tolist()])
    got = evaluate(lambda v: derivative([function(v)], [v])[0][0], x)
    assert np.allclose(got, right, rtol=1e-13, atol=0)


@pytest.mark.parametrize("name", ["atan2", "hypot", "power"])
def test_derivatives_by_two_arguments(name: str):
    function, known, _ = CASES[name]
    x, y = np.linspace(0.15, 2.9, 12), np.linspace(2.2, -1.7, 12)
    steps = ((1, 0), (0, 1))
    right = [
        [float(mpmath.diff(known, (mpf(a), mpf(b)), n)) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        for n in steps
    ]
    got = evaluate(lambda a, b: derivative([function(a, b)], [a, b])[0], x, y)
    assert np.allclose(got, right, rtol=1e-13, atol=1e-15)


def test_derivative_of_a_power_of_zero_by_its_exponent_is_zero():
    got = evaluate(lambda x, y: derivative([f.pow(x, y)], [y])[0][0], [0.0, 0.0], [1.5, 2.0])
    assert same_bits(abs(got), np.zeros(2))


def test_the_digits_of_a_turn():
    with mpmath.workprec(1300):
        assert int(mpmath.ldexp(1 / (2 * mpmath.pi), 1160)) == f.TURN
