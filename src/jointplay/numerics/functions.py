"""Elementary functions in the engine's own operations: one text for the eager and the compiled runs.

Eager runs round every product while compiled ones fuse products into sums, so each step that needs an exact
product multiplies factors short enough for it to be exact.  The stated errors are the largest measured in
either run, in units of the last place (ulp).  Plain numbers are folded with `math`.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.blocks import Array
from ..engine.derivatives import PARTIALS
from ..engine.text import branch, subroutine
from ..engine.typing import Scalar
from ..engine.values import bits, floor, from_bits, is_value, recorder, sqrt, where


def _integers(data: Any) -> Array:
    """A table of integers that is part of the program, read by load(index)."""
    return Array("constant", "", "i", len(data), tuple(data))


# fmt: off
INF, NAN = math.inf, math.nan
ROUND = 1.5 * 2.0**52  # x + ROUND holds the integer nearest to x in its low bits
LOW_30, LOW_52, LOW_62 = (1 << 30) - 1, (1 << 52) - 1, (1 << 62) - 1

# sin y = y - y**3 * SIN(y**2) and cos y = 1 - y**2 / 2 + y**4 * COS(y**2) for |y| <= pi/4.
SIN = (0.16666666666666632, -0.008333333333322448, 0.00019841269829829654, -2.7557313698202624e-06,
       2.5050758962449368e-08, -1.5896839037169075e-10)
COS = (0.0416666666666666, -0.0013888888888874125, 2.4801587289482035e-05, -2.7557314352277083e-07,
       2.0875723264407054e-09, -1.1359647299908761e-11)
# atan t = t - t**3 * ATAN(t**2) for |t| <= 3/8.
ATAN = (0.3333333333333316, -0.19999999999896934, 0.1428571427048264, -0.11111110092324954,
        0.09090871367724394, -0.07691458126390424, 0.0665449931148696, -0.057701511316754224,
        0.04608013186776378, -0.024650588839023917)
# exp r = 1 + r + r**2 * EXP(r) for |r| <= ln(2)/2; log(1 + r) = r - r**2/2 + r**3 * LOG(r) for |r| < 0.01.
EXP = (0.5, 0.16666666666666688, 0.041666666666602646, 0.008333333333313793, 0.0013888888927334414,
       0.00019841269905189718, 2.4801508001892924e-05, 2.7557225839999893e-06, 2.7625458231610004e-07,
       2.5115167939476483e-08)
LOG = (0.3333333333333333, -0.2500000000000172, 0.1999999999995408, -0.1666666656496842, 0.1428571538901972,
       -0.1250180842646487, 0.11104192367017057)

# pi/2 in three pieces; the first two have exact products with counts below 2**15.
PI_2 = (1.5707963267923333, 2.5633441515839558e-12, 1.0562999066987428e-23)
PI_2_HIGH, PI_2_LOW = 1.570796325802803, 9.920935796805404e-10  # the high part has 26 bits
HALF_HIGH, HALF_LOW = 0.4636476090008159, -9.802774990479674e-15  # atan(1/2); the high parts add up exactly
LN2_HIGH, LN2_LOW = 0.6931471805598903, 5.497923018708371e-14  # exact products with 11-bit exponents

# 1 / (2*pi) * 2**1160, and from it the 64 bits after the point of 2**(4*i - 1075) / (2*pi) for i from 256.
TURN = int("28be60db9391054a7f09d5f47d4d377036d8a5664f10e4107f9458eaf7aef1586dc91b8e909374b801924bba827464873"
           "f877ac72c4a69cfba208d7d4baed1213a671c09ad17df904e64758e60d4ce7d272117e2ef7e4a0ec7fe25fff7816603fbcbc4"
           "62d6829b47db4d9fb3c9f2c26dd3d18fd9a797fa8b5d49eeb1faf97c5ecf41ce7de294a4ba9afed7ec47e3574215", 16)
TURNS = _integers([((TURN >> 2171 - 4 * i) + 2**63) % 2**64 - 2**63 for i in range(256, 543)])

# For the logarithm in 64 intervals from 0.754 to 1.508: n / 256 is the reciprocal of about the middle, of 1
# itself in the interval around it; ln(256 / n) is first a multiple of 2**-120, then a high and a low float.
LOG_FIRST = bits(1.0) - 63 * 2**45
LOG_N = [round(256 / from_bits(LOG_FIRST + (2 * j + 1 << 45))) for j in range(64)]
LOG_LN = [sum(((256 - n)**i << 121) // (i * (256 + n)**i) for i in range(1, 60, 2)) for n in LOG_N]
LOG_ROWS = [(n / 256, (x + 2**77 >> 78) / 2.0**42, ((x + 2**77) % 2**78 - 2**77) / 2.0**120)
            for n, x in zip(LOG_N, LOG_LN, strict=True)]
LOG_TABLES = [_integers([*map(bits, column)]) for column in zip(*LOG_ROWS, strict=True)]

# Constant exponents whose powers stay within 2 ulp without a logarithm; -0 and -inf go by sqrt.
PRODUCTS: dict[float, Callable[[Scalar], Scalar]] = {
    -2: lambda x: 1.0 / x / x, -1.5: lambda x: sqrt(1.0 / x) / x, -1: lambda x: 1.0 / x,
    -0.5: lambda x: 1.0 / sqrt(x), 0: lambda x: 1.0, 0.5: sqrt, 1: lambda x: x,
    1.5: lambda x: x * sqrt(x), 2: lambda x: x * x, 2.5: lambda x: x * x * sqrt(x),
    3: lambda x: x * x * x, 4: lambda x: (x * x) * (x * x)}
# fmt: on


def _elementary(reference: Callable[..., float], partials: Callable[..., Any]) -> Any:
    """Give a function its partial derivatives, and let `reference` take it of plain numbers."""

    def decorate(compute: Callable[..., Any]) -> Callable[..., Any]:
        def function(*args: Scalar) -> Scalar:
            rec, name = recorder() if any(map(is_value, args)) else None, compute.__name__
            if rec is not None:
                result = compute(*(rec.opaque(a, "f") if is_value(a) else a for a in args))  # no fma reaches into them
                return rec.opaque(result, "f", (name, args)) if is_value(result) else result
            try:
                return float(reference(*args))
            except (ValueError, OverflowError):  # numpy gives infinity or NaN where Python's functions raise
                with np.errstate(all="ignore"):
                    return float(getattr(np, name)(*map(float, args)))

        PARTIALS[compute.__name__] = partials
        return functools.update_wrapper(function, compute)

    return decorate


def _shared(name: str, x: Scalar, compute: Callable[[], Any]) -> Any:
    """compute(), or what it gave before for the same x in reach of the present block."""
    rec, key = recorder(), (name, x.serial)
    for block in rec.reachable():
        if key in block.memo:
            return block.memo[key]
    result = (rec.block if x.level else rec.hoisted).memo[key] = compute()
    return result


def _polynomial(x: Scalar, coefficients: tuple[float, ...]) -> Scalar:
    return functools.reduce(lambda total, c: total * x + c, reversed(coefficients))


def _head(x: Scalar) -> Scalar:
    return from_bits(bits(x) & -(1 << 27))  # the leading 26 bits of the significand


def _sign(x: Scalar) -> Scalar:
    return where(bits(x) < 0, -1.0, 1.0)  # zeros have signs too


@subroutine
def _reduce_huge(x: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """y, low, t: x is y - low and as many quarter turns as the low bits of t count, for any |x| >= 2**15."""
    b = bits(x)
    mantissa, index = ((b & LOW_52) | 1 << 52) << ((b >> 52) & 3), (b >> 54) & 255
    w0, w1, w3 = (TURNS.load(index + n) for n in (0, 16, 31))
    w1, w2, w3, w4 = w1 >> 34, (w1 >> 4) & LOW_30, w3 >> 34, (w3 >> 4) & LOW_30
    # x / (2*pi) modulo 1 in 64 + 30 + 30 bits: turn, and the low bits of c1 and c2.
    m1, m0 = mantissa >> 30, mantissa & LOW_30
    c2 = m0 * w2 + m1 * w3 + ((m0 * w3 + m1 * w4) >> 30)
    c1 = m0 * w1 + m1 * w2 + (c2 >> 30)
    turn = mantissa * w0 + m1 * w1 + (c1 >> 30)
    flip = 0 - (b >> 63)  # all ones for negative x: the complement negates all but the last bit
    turn, c1, c2 = (turn ^ flip) + (1 << 61), (c1 ^ flip) & LOW_30, (c2 ^ flip) & LOW_30
    # Its top two bits now count quarter turns, and the others hold 1/2 more than what is left of one.
    part = turn & LOW_62
    f0 = from_bits((part >> 10) | bits(1.0)) - 1.5
    f1 = from_bits(((part & 1023) << 30) | c1 | bits(2.0**-40)) - 2.0**-40
    f2 = from_bits(c2 | bits(2.0**-70)) - 2.0**-70
    high = f0 + f1
    head, low = _head(high), ((f0 - high) + f1) + f2
    product, rest = head * PI_2_HIGH, head * PI_2_LOW + ((high - head) + low) * (math.pi / 2)
    y = product + rest
    return y, where(abs(x) < INF, (y - product) - rest, NAN), from_bits((turn >> 62) | bits(ROUND))


def _circular(x: Scalar) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...], Scalar]:
    """Sine and cosine of x less whole quarter turns, each as two terms and their sum; the count of those."""
    t = x * (2.0 / math.pi) + ROUND
    k = t - ROUND
    r, w = x - k * PI_2[0], k * PI_2[1]
    near = r - w, k * PI_2[2] + (w - (r - (r - w))), t
    y, low, t = branch(abs(x) > 5e4, lambda: _reduce_huge(x), lambda: near)  # the reduced angle is y - low
    z = y * y
    half = 0.5 * z
    w = 1.0 - half
    a = (z * y) * _polynomial(z, SIN) + low * w
    c = ((1.0 - w) - half) + ((z * z) * _polynomial(z, COS) + y * low)
    return (y, a, y - a), (w, c, w + c), bits(t)


def _turned(x: Scalar, ahead: bool) -> Scalar:
    """Sine of x, or of x and a quarter turn more."""
    (*_, s), (*_, c), count = _shared("circular", x, lambda: _circular(x))
    even = (count & 1) == 0
    value, half_turns = (where(even, c, s), count + 1) if ahead else (where(even, s, c), count)
    return where((half_turns & 2) == 0, value, -value)


@_elementary(math.sin, lambda x: (cos(x),))
def sin(x: Scalar) -> Scalar:
    """Sine of any finite angle in radians; at most 0.8 ulp."""
    return _turned(x, False)


@_elementary(math.cos, lambda x: (-sin(x),))
def cos(x: Scalar) -> Scalar:
    """Cosine of any finite angle in radians; at most 0.8 ulp."""
    return _turned(x, True)


def sincos(x: Scalar) -> tuple[Scalar, Scalar]:
    """Sine and cosine of an angle, each as good as sin and cos give it."""
    return sin(x), cos(x)


@_elementary(math.tan, lambda x: (1.0 + tan(x) * tan(x),))
def tan(x: Scalar) -> Scalar:
    """Tangent of any finite angle in radians; at most 1.4 ulp."""
    (y, a, s), (w, b, c), count = _shared("circular", x, lambda: _circular(x))
    even = (count & 1) == 0
    s_low, c_low = a - (y - s), (c - w) - b  # what s and c have too much
    d = where(even, c, s)
    q = where(even, s, c) / d
    q = q - (where(even, s_low, c_low) - q * where(even, c_low, s_low)) / d
    return where(even, q, -q)


def _angle(small: Scalar, large: Scalar, swapped: Scalar, side: Scalar) -> Scalar:
    """The angle, 0 to pi, of a point by its |x| and |y|, swapped if y is the large one, and the sign of x."""
    direct = small * 8.0 <= large * 3.0  # otherwise turn the point back by atan(1/2)
    t = where(direct, small, 2.0 * small - large) / where(direct, large, 2.0 * large + small)
    quarters, way = where(swapped, 1.0, 1.0 - side), where(swapped, -side, side)
    high = quarters * PI_2_HIGH + way * where(direct, 0.0, HALF_HIGH)
    low = quarters * PI_2_LOW + way * where(direct, 0.0, HALF_LOW)
    t, z = way * t, t * t
    return high + (t + (low - t * (z * _polynomial(z, ATAN))))


@_elementary(math.atan2, lambda y, x: (x / (x * x + y * y), -y / (x * x + y * y)))
def atan2(y: Scalar, x: Scalar) -> Scalar:
    """Angle of the point (x, y) for any floats, signed zeros and infinities as in C; at most 1.5 ulp."""
    a, b = abs(y), abs(x)
    swapped = a > b
    small, large = where(swapped, b, a), where(swapped, a, b)
    scale, equal = where(large > 2.0**1000, 2.0**-60, 1.0), small == large  # perhaps 0 or infinite
    small = where(equal, where(large == 0.0, 0.0, 1.0), small * scale)
    return _sign(y) * _angle(small, where(equal, 1.0, large * scale), swapped, _sign(x))


@_elementary(math.atan, lambda x: (1.0 / (1.0 + x * x),))
def atan(x: Scalar) -> Scalar:
    """Arc tangent of any float; at most 1.2 ulp."""
    steep = abs(x) > 1.0
    return _sign(x) * _angle(where(steep, 1.0, abs(x)), where(steep, abs(x), 1.0), steep, 1.0)


# asin s = s + s**3 * ASIN(s**2) for |s| <= 1/2.
ASIN = (0.16666666666666105, 0.07500000000218274, 0.04464285690528973, 0.030381956516014455, 0.022371811683450527,
        0.01735899839124052, 0.013891434373844694, 0.012132567750527496, 0.006672179026177781, 0.0191660648098617,
        -0.01569883928542403, 0.03157732026500355)  # fmt: skip


def _arc(x: Scalar) -> tuple[Scalar, ...]:
    """Whether |x| > 1/2, and s, rest: the arc sine of |x|, or else half the arc cosine of |x|, is s + rest."""
    steep = abs(x) > 0.5
    z = where(steep, 0.5 - 0.5 * abs(x), x * x)
    s = where(steep, sqrt(z), abs(x))
    return steep, s, s * (z * _polynomial(z, ASIN))


@_elementary(math.asin, lambda x: (1.0 / sqrt((1.0 - x) * (1.0 + x)),))
def asin(x: Scalar) -> Scalar:
    """Arc sine on [-1, 1], NaN elsewhere; at most 1.8 ulp."""
    steep, s, rest = _arc(x)
    return _sign(x) * where(steep, PI_2_HIGH - (2.0 * s + (2.0 * rest - PI_2_LOW)), s + rest)


@_elementary(math.acos, lambda x: (-1.0 / sqrt((1.0 - x) * (1.0 + x)),))
def acos(x: Scalar) -> Scalar:
    """Arc cosine on [-1, 1], NaN elsewhere; at most 1.2 ulp."""
    steep, s, rest = _arc(x)
    near = PI_2_HIGH - (x + (_sign(x) * rest - PI_2_LOW))
    return where(steep, 2.0 * where(x < 0.0, PI_2_HIGH - (s + (rest - PI_2_LOW)), s + rest), near)


@_elementary(math.hypot, lambda x, y: (x / hypot(x, y), y / hypot(x, y)))
def hypot(x: Scalar, y: Scalar) -> Scalar:
    """Length of (x, y) for any floats, scaled so that no square leaves the range; at most 1.2 ulp."""
    a, b = abs(x), abs(y)
    large = where(a > b, a, b)
    scale = where(large > 2.0**500, 2.0**-600, where(large < 2.0**-450, 2.0**600, 1.0))
    a, b = a * scale, b * scale
    return sqrt(a * a + b * b) / scale


def _exp(x: Scalar, low: Scalar, about: Scalar) -> Scalar:
    """exp(x + low) = (1 + u) * 2**k: u in two parts, bits ending in k + 2046, the result; `about` is ~ x."""
    t = x * math.log2(math.e) + (ROUND + 2046.0)
    k = t - (ROUND + 2046.0)
    high, low = x - k * LN2_HIGH, k * LN2_LOW - low
    r = high - low
    tail = low - (r * r) * _polynomial(r, EXP)
    u, n = high - tail, bits(t)
    half = n >> 1  # two factors that are normal numbers even where the result is not
    y = (1.0 + u) * from_bits(half << 52) * from_bits((n - half) << 52)
    return (u, (high - u) - tail), n, where(about > 710.0, INF, where(about < -746.0, 0.0, y))


@_elementary(math.exp, lambda x: (exp(x),))
def exp(x: Scalar) -> Scalar:
    """Exponential of any float, with gradual underflow; at most 0.9 ulp."""
    return _exp(x, 0.0, x)[2]


@_elementary(math.tanh, lambda x: (1.0 - tanh(x) * tanh(x),))
def tanh(x: Scalar) -> Scalar:
    """Hyperbolic tangent of any float; at most 1.5 ulp."""
    a = abs(x)
    small = a < 0.55
    (u, u_low), n, _ = _exp(where(a > 22.0, -44.0, -2.0 * a), 0.0, a)
    scale = from_bits((n - 1023) << 52)
    e, less = scale + scale * u, (scale - 1.0) + scale * u
    rest = (((scale - 1.0) - less) + scale * u) + scale * u_low
    d = 2.0 + less  # tanh a = -less / d = 1 - 2 * e / d with e = exp(-2 * a) = 1 + less
    q = where(small, less, e + e) / d
    q = q + (where(small, rest, 0.0) - q * (((2.0 - d) + less) + rest)) / d
    return _sign(x) * where(small, abs(q), 1.0 - q)


def _log_parts(x: Scalar) -> tuple[Scalar, ...]:
    """The logarithm of x >= 0 as two floats, 68 bits together, and as one, right for 0, inf and NaN too."""
    tiny = x < 2.0**-1022
    i = bits(where(tiny, x * 2.0**54, x)) + (bits(1.0) - LOG_FIRST)
    k = from_bits((i >> 52) | bits(2.0**52)) - where(tiny, 2.0**52 + 1077.0, 2.0**52 + 1023.0)
    fraction = (i & LOW_52) + LOG_FIRST
    m, head = from_bits(fraction), from_bits((fraction + (1 << 27)) & -(1 << 28))
    inverse, log_high, log_low = (from_bits(table.load((i >> 46) & 63)) for table in LOG_TABLES)
    r_head, r_tail = head * inverse - 1.0, (m - head) * inverse  # both exact
    r = r_head + r_tail
    base, square = k * LN2_HIGH + log_high, (-0.5 * r_head) * r_head
    first = base + r
    high = first + square
    errors = ((r_head - r) + r_tail) + ((base - first) + r) + ((first - high) + square)
    tail = (-0.5 * r_tail) * (r + r_head) + (r * r * r) * _polynomial(r, LOG)
    low = (k * LN2_LOW + log_low) + errors + tail
    return high, low, where(x == 0.0, -INF, where(x < INF, high + low, x))


@_elementary(math.log, lambda x: (1.0 / x,))
def log(x: Scalar) -> Scalar:
    """Natural logarithm of any positive float, -inf for 0, NaN below; at most 0.51 ulp."""
    return where(x < 0.0, NAN, _log_parts(x)[2])


@_elementary(math.pow, lambda x, y: (y * pow(x, y - 1.0), power(x, y) * log(where(x > 5e-324, x, 5e-324))))
@subroutine
def power(x: Scalar, y: Scalar) -> Scalar:
    """x to the run-time power y for any floats, special cases as in C; at most 0.9 ulp."""
    size = abs(x)
    high, low, log_size = _log_parts(size)
    head, y_head = _head(log_size), _head(y)
    product, rest = y_head * head, (y - y_head) * head + y * ((high - head) + low)
    z = product + rest
    result = _exp(z, (product - z) + rest, y * log_size)[2]
    result = where((y == 0.0) | (size == 1.0), 1.0, result)
    result = where((bits(x) < 0) & (floor(y) == y) & (floor(0.5 * y) != 0.5 * y), -result, result)
    return where((x < 0.0) & (size < INF) & (floor(y) != y), NAN, result)


def pow(x: Scalar, y: Scalar) -> Scalar:
    """x to the power y, with roots and products for common constant exponents; at most 1.95 ulp."""
    return PRODUCTS[y](x) if is_value(x) and not is_value(y) and y in PRODUCTS else power(x, y)
