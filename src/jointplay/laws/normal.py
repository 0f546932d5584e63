"""Normal contact forces: f(depth, rate, approach, *, parameters) in N.

depth: how far the bodies overlap (m, >= 0); rate: how fast that grows (m/s, > 0 while they press in); approach: the
rate at the onset of this contact (m/s, > 0), kept by the stepper.  No law pulls: what would is cut off at 0.

Most laws are an elastic force times 1 + factor * rate/approach.  Whatever the elastic force, mass and speed, a free
impact then rebounds with the ratio x that solves factor (1 + x) = ln((1 + factor)/(1 - factor x)).  The laws of the
literature approximate the factor that makes x the wanted restitution; `exact_restitution` uses the root itself.
"""

from __future__ import annotations

import math

from ..engine.text import branch
from ..engine.typing import Scalar
from ..engine.values import is_value, sqrt, where
from ..numerics.choice import maximum
from ..numerics.functions import exp, log, power
from ..numerics.newton import solve
from .roles import LAWS, normal

NORMAL = LAWS["normal"]
TINY = 1e-300  # stands for depths <= 0, so that roots and logarithms stay finite there; their force is 0 anyway

_POWER = {"stiffness": "N/m^exponent"}
_PRESSED = {"modulus": "Pa", "journal_radius": "m", "clearance": "m", "length": "m"}
_SIZES = {"journal_radius": 0.0, "clearance": 0.0, "length": 0.0}
_DIVIDES = {"restitution": 0.0}  # laws that divide by the restitution need one > 0


def smooth_step(x: Scalar, x0: Scalar, h0: Scalar, x1: Scalar, h1: Scalar) -> Scalar:
    """From h0 at x0 to h1 at x1 by a cubic with level ends, held beyond them: the STEP of ADAMS.

    >>> smooth_step(0.3, 0, 1, 1, 2)
    1.216
    """
    s = (x - x0) / (x1 - x0)
    s = where(s < 0, 0.0, where(s > 1, 1.0, s))
    return h0 + (h1 - h0) * (s * s * (3 - 2 * s))


def exact_factor(restitution: Scalar) -> Scalar:
    """The damping factor whose impact rebounds with exactly this restitution, in (0, 1].

    With y = factor (1 + e)/2 the condition on the factor becomes coth y - 1/y = (1 - e)/(1 + e), so y is the inverse
    Langevin function of the right-hand side d: a series for small d, else Newton from a rational guess.

    >>> round(exact_factor(0.5), 6), exact_factor(1.0)
    (1.432751, 0.0)
    """
    e = where(restitution > 0.9, 0.9, restitution)
    d = (1 - e) / (1 + e)
    z = d * d
    y = d * (3 - z * (6 + z * (1 - 2 * z)) / 5) / (1 - z)
    for _ in range(3):
        E = exp(-2 * y)
        y = y - (2 * e / (1 + e) - 1 / y + 2 * E / (1 - E)) / (1 / (y * y) - 4 * E / ((1 - E) * (1 - E)))
    d = (1 - restitution) / (1 + restitution)
    near, z = 43733439 / 21896875, d * d
    for c in (126117 / 67375, 1539 / 875, 297 / 175, 9 / 5, 3.0):
        near = near * z + c
    return 2 * where(restitution > 0.9, d * near, y) / (1 + restitution)


def raised(depth: Scalar, exponent: Scalar) -> Scalar:
    """depth to the exponent; the common 3/2 by a square root, which is many times faster."""
    return branch(exponent == 1.5, lambda: depth * sqrt(depth), lambda: power(depth, exponent))


def pressed(depth: Scalar, force: Scalar) -> Scalar:
    """The force where the bodies overlap and push, else 0."""
    return where(depth > 0, maximum(force, 0.0), 0.0)


def hysteretic(
    depth: Scalar, rate: Scalar, approach: Scalar, stiffness: Scalar, exponent: Scalar, factor: Scalar
) -> Scalar:
    """stiffness * depth^exponent (1 + factor * rate/approach), where it pushes."""
    elastic = stiffness * raised(where(depth > 0, depth, TINY), exponent)
    return pressed(depth, elastic * (1 + factor * (rate / approach)))


# -- the hysteretic family
@normal(units=_POWER)
def hertz(depth, rate, approach, *, stiffness=1e9, exponent=1.5):
    """stiffness * depth^exponent, without loss.

    stiffness (N/m^exponent); exponent (3/2 for surfaces that touch in a point).
    H. Hertz, J. reine angew. Math. 92 (1882) 156-171.
    """
    return hysteretic(depth, rate, approach, stiffness, exponent, 0.0)


@normal(units=_POWER, above=_DIVIDES)
def exact_restitution(depth, rate, approach, *, stiffness=1e9, exponent=1.5, restitution=0.9):
    """The default: the factor for which a free impact has this restitution exactly (`exact_factor`).

    stiffness (N/m^exponent); exponent; restitution > 0.
    The condition on the factor is that of the whole family; solving it exactly, by the inverse
    Langevin function, is our own.
    """
    return hysteretic(depth, rate, approach, stiffness, exponent, exact_factor(restitution))


@normal(units=_POWER)
def hunt_crossley(depth, rate, approach, *, stiffness=1e9, exponent=1.5, restitution=0.9):
    """Factor 3 (1 - e)/2: right to first order for a restitution near 1; below it the rebound is too fast.

    stiffness (N/m^exponent); exponent; restitution.
    K. H. Hunt, F. R. E. Crossley, J. Appl. Mech. 42 (1975) 440-445.
    """
    return hysteretic(depth, rate, approach, stiffness, exponent, 1.5 * (1 - restitution))


@normal(units=_POWER)
def herbert_mcwhannell(depth, rate, approach, *, stiffness=1e9, exponent=1.5, restitution=0.9):
    """Factor 6 (1 - e)/((2 e - 1)^2 + 3).

    stiffness (N/m^exponent); exponent; restitution.
    R. G. Herbert, D. C. McWhannell, J. Eng. Ind. 99 (1977) 513-518.
    """
    e = restitution
    factor = 6 * (1 - e) / ((2 * e - 1) * (2 * e - 1) + 3)
    return hysteretic(depth, rate, approach, stiffness, exponent, factor)


@normal(units=_POWER)
def lee_wang(depth, rate, approach, *, stiffness=1e9, exponent=1.5, restitution=0.9):
    """Factor 3 (1 - e)/4: half the loss of Hunt and Crossley, also near a restitution of 1.

    stiffness (N/m^exponent); exponent; restitution.
    T. W. Lee, A. C. Wang, J. Mech. Transm. Autom. Des. 105 (1983) 534-540.
    """
    return hysteretic(depth, rate, approach, stiffness, exponent, 0.75 * (1 - restitution))


@normal(units=_POWER)
def lankarani_nikravesh(depth, rate, approach, *, stiffness=1e9, exponent=1.5, restitution=0.9):
    """Factor 3 (1 - e^2)/4, from the energy lost in an impact; right to first order for a restitution near 1.

    stiffness (N/m^exponent); exponent; restitution.
    H. M. Lankarani, P. E. Nikravesh, J. Mech. Des. 112 (1990) 369-376.
    """
    return hysteretic(depth, rate, approach, stiffness, exponent, 0.75 * (1 - restitution * restitution))


@normal(units=_POWER)
def zhiying_qishao(depth, rate, approach, *, stiffness=1e9, exponent=1.5, restitution=0.9):
    """Factor 3 (1 - e^2) exp(2 (1 - e))/4; also that of Bai and Zhao (2013).

    stiffness (N/m^exponent); exponent; restitution.
    Q. Zhiying, L. Qishao, J. Dyn. Control 4 (2006) 294-298; Z. F. Bai, Y. Zhao, Int. J. Non-Linear Mech. 48 (2013)
    15-36.
    """
    e = restitution
    return hysteretic(depth, rate, approach, stiffness, exponent, 0.75 * (1 - e * e) * exp(2 * (1 - e)))


@normal(units=_POWER, above=_DIVIDES)
def gonthier(depth, rate, approach, *, stiffness=1e9, exponent=1.5, restitution=0.9):
    """Factor (1 - e^2)/e, the authors' approximation for a small restitution.

    stiffness (N/m^exponent); exponent; restitution > 0.
    Y. Gonthier, J. McPhee, C. Lange, J.-C. Piedboeuf, Multibody Syst. Dyn. 11 (2004) 209-233.
    """
    e = restitution
    return hysteretic(depth, rate, approach, stiffness, exponent, (1 - e * e) / e)


@normal(units=_POWER, above=_DIVIDES)
def flores(depth, rate, approach, *, stiffness=1e9, exponent=1.5, restitution=0.9):
    """Factor 8 (1 - e)/(5 e), made for soft materials.

    stiffness (N/m^exponent); exponent; restitution > 0.
    P. Flores, M. Machado, M. T. Silva, J. M. Martins, Multibody Syst. Dyn. 25 (2011) 357-375.
    """
    return hysteretic(depth, rate, approach, stiffness, exponent, 1.6 * (1 - restitution) / restitution)


@normal(units=_POWER, above=_DIVIDES)
def gharib_hurmuzlu(depth, rate, approach, *, stiffness=1e9, exponent=1.5, restitution=0.9):
    """Factor 1/e, made for a small restitution; it loses energy even at a restitution of 1.

    stiffness (N/m^exponent); exponent; restitution > 0.
    M. Gharib, Y. Hurmuzlu, J. Appl. Mech. 79 (2012) 064506.
    """
    return hysteretic(depth, rate, approach, stiffness, exponent, 1 / restitution)


@normal(units=_POWER, above=_DIVIDES)
def hu_guo(depth, rate, approach, *, stiffness=1e9, exponent=1.5, restitution=0.9):
    """Factor 3 (1 - e)/(2 e).

    stiffness (N/m^exponent); exponent; restitution > 0.
    S. Hu, X. Guo, Multibody Syst. Dyn. 35 (2015) 131-151.
    """
    return hysteretic(depth, rate, approach, stiffness, exponent, 1.5 * (1 - restitution) / restitution)


@normal(units=_POWER, above=_DIVIDES)
def safaeifar_farshidianfar(depth, rate, approach, *, stiffness=1e9, exponent=1.5, restitution=0.9):
    """Factor 5 (1 - e)/(4 e).

    stiffness (N/m^exponent); exponent; restitution > 0.
    H. Safaeifar, A. Farshidianfar, Multibody Syst. Dyn. 50 (2020) 233-257.
    """
    return hysteretic(depth, rate, approach, stiffness, exponent, 1.25 * (1 - restitution) / restitution)


# -- dampers beside the spring
@normal(units={"stiffness": "N/m", "damping": "N*s/m"})
def kelvin_voigt(depth, rate, approach, *, stiffness=1e7, damping=0.0):
    """stiffness * depth + damping * rate: a spring and a damper side by side.

    stiffness (N/m); damping (N s/m), from a restitution and a mass by `materials.kelvin_voigt_damping`.
    The damper makes the force jump at the onset, and would make it pull before the bodies part; cut off at 0 an
    impact rebounds faster than that restitution says.  W. Goldsmith, Impact, Arnold, London, 1960.
    """
    return pressed(depth, stiffness * depth + damping * rate)


@normal(units={**_POWER, "damping": "N*s/m", "ramp": "m"}, above={"ramp": 0.0})
def adams_impact(depth, rate, approach, *, stiffness=1e9, exponent=1.5, damping=1e4, ramp=1e-4):
    """stiffness * depth^exponent + STEP(depth, 0, 0, ramp, damping) * rate: the function IMPACT of ADAMS.

    stiffness (N/m^exponent); exponent; damping (N s/m), reached by a cubic step at the depth `ramp` (m) > 0.
    MSC Software, Adams/Solver manual, function IMPACT; `materials` converts from and to its mm and N.
    """
    elastic = stiffness * raised(where(depth > 0, depth, TINY), exponent)
    return pressed(depth, elastic + smooth_step(depth, 0.0, 0.0, ramp, damping) * rate)


# -- a journal in a bearing, in line contact
# All logarithmic laws are depth = reach * g ln(1/g) with g = force/strength, for g < e^-1.  They cannot be followed to
# g = e^-1, where the force would grow without bound over the depth; from g = e^-2 on we follow their tangent.
_BEND, _AT_BEND = 2 * math.exp(-2), math.exp(-2)


def logarithmic(depth: Scalar, reach: Scalar, strength: Scalar) -> Scalar:
    """The force (N) of a depth (m) by depth = reach * g ln(1/g), force = strength * g; tangent beyond g = e^-2.

    The unknown is q = ln(1/g), with q - ln q = ln(reach/depth).
    """
    w = depth / reach
    inside = where(w < _BEND, where(w > TINY, w, TINY), _BEND)
    level = -log(inside)
    guess = 1 + sqrt(2 * (level - 1)) + 0.8 * (level - 1)
    if is_value(guess):
        q = solve(lambda q: q - log(q) - level, guess)[0]
    else:
        q = guess
        for _ in range(3):
            q = q - (q - log(q) - level) / (1 - 1 / q)
    return strength * (exp(-q) + where(w > _BEND, w - _BEND, 0.0))


def _line(
    depth: Scalar, rate: Scalar, approach: Scalar, reach: Scalar, strength: Scalar, restitution: Scalar
) -> Scalar:
    elastic = logarithmic(depth, reach, strength)
    return pressed(depth, elastic * (1 + exact_factor(restitution) * (rate / approach)))


@normal(units=_PRESSED, above=_DIVIDES | _SIZES)
def johnson(depth, rate, approach, *, modulus=1.137e11, restitution=0.9, journal_radius, clearance, length):
    """depth = F/(pi E* length) [ln(4 pi E* length clearance/F) - 1], with the exact factor for the restitution.

    modulus: contact modulus E* (Pa), 1/E* = sum of (1 - nu^2)/E; restitution > 0; from the joint: journal_radius,
    clearance, length (m).  Beyond a depth of 0.4 clearances the force follows its tangent.
    K. L. Johnson, Contact Mechanics, Cambridge, 1985.
    """
    strength = 4 / math.e * math.pi * modulus * length * clearance
    return _line(depth, rate, approach, 4 / math.e * clearance, strength, restitution)


@normal(units=_PRESSED, above=_DIVIDES | _SIZES)
def esdu_78035(depth, rate, approach, *, modulus=1.137e11, restitution=0.9, journal_radius, clearance, length):
    """depth = (F S/length) [ln(4 length clearance/(F S)) + 1], S = 1/(pi E*), with the exact factor.

    modulus: contact modulus E* (Pa); restitution > 0; from the joint: journal_radius, clearance, length (m).
    ESDU 78035, Contact phenomena I, Engineering Sciences Data Unit, London, 1978.
    """
    strength = 4 * math.e * math.pi * modulus * length * clearance
    return _line(depth, rate, approach, 4 * math.e * clearance, strength, restitution)


@normal(units=_PRESSED, above=_DIVIDES | _SIZES)
def radzimovsky(depth, rate, approach, *, modulus=1.137e11, restitution=0.9, journal_radius, clearance, length):
    """depth = F/(pi E* length) [2/3 + ln(4 R_B R_J/b^2)], b^2 = 4 F R_B R_J/(pi E* length clearance), exact factor.

    modulus: contact modulus E* (Pa); restitution > 0; from the joint: journal_radius (which cancels), clearance,
    length (m).  E. I. Radzimovsky, Univ. Illinois Eng. Exp. Station Bull. 408 (1953).
    """
    strength = math.exp(2 / 3) * math.pi * modulus * length * clearance
    return _line(depth, rate, approach, math.exp(2 / 3) * clearance, strength, restitution)


@normal(units=_PRESSED, above=_DIVIDES | _SIZES)
def goldsmith(depth, rate, approach, *, modulus=1.137e11, restitution=0.9, journal_radius, clearance, length):
    """depth = (F S/length) [ln(length clearance/(F R_B R_J S)) + 1] with all in SI, S = 1/(pi E*), exact factor.

    modulus: contact modulus E* (Pa); restitution > 0; from the joint: journal_radius, clearance, length (m).
    The argument of the logarithm has a dimension, so the law holds in SI only.  W. Goldsmith, Impact, 1960.
    """
    radii = journal_radius * (journal_radius + clearance)
    reach = math.e * clearance / radii
    return _line(depth, rate, approach, reach, math.pi * modulus * length * reach, restitution)


@normal(units=_PRESSED, above=_DIVIDES | _SIZES)
def dubowsky_freudenstein(
    depth, rate, approach, *, modulus=1.137e11, restitution=0.9, journal_radius, clearance, length
):
    """depth = (F S/length) [ln(length^3 clearance/(F R_B R_J S)) + 1], S = 1/(pi E*), with the exact factor.

    modulus: contact modulus E* (Pa); restitution > 0; from the joint: journal_radius, clearance, length (m).
    S. Dubowsky, F. Freudenstein, J. Eng. Ind. 93 (1971) 305-309.
    """
    radii = journal_radius * (journal_radius + clearance)
    reach = math.e * clearance * (length * length) / radii
    return _line(depth, rate, approach, reach, math.pi * modulus * length * reach, restitution)


@normal(units=_PRESSED, above=_DIVIDES | _SIZES)
def liu(depth, rate, approach, *, modulus=1.137e11, restitution=0.9, journal_radius, clearance, length):
    """(pi/2) length E* depth sqrt(depth/(2 (clearance + depth))), fitted to finite elements, with the exact factor.

    modulus: contact modulus E* (Pa); restitution > 0; from the joint: journal_radius (unused), clearance, length (m).
    C. S. Liu, K. Zhang, R. Yang, Mech. Mach. Theory 42 (2007) 183-197.
    """
    d = where(depth > 0, depth, TINY)
    elastic = 0.5 * math.pi * length * modulus * d * sqrt(d / (2 * (clearance + d)))
    return pressed(depth, elastic * (1 + exact_factor(restitution) * (rate / approach)))
