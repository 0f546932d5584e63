"""Controllers: each one function of what it sees of the loop, with named gains.

A controller takes `loop` and gives one torque or force for each actuator:

* `values`, `rates`: the controlled coordinates as measured; `references`, `reference_rates`,
  `reference_accelerations`: what they should be; `errors`, `error_rates`: value minus reference; `time` (s);
* `model`: the ideal mechanism that the controller knows, at what it measures: `torques(accelerations, rates)`
  (inverse dynamics), `gravity()` (what holds weight and springs), `energy(rates)`;
* `watch(name, number)`: a signal to be recorded.

`rates` that a controller declares are kept for each controlled coordinate, as lists.
"""

from __future__ import annotations

import math
from typing import Any

from ..engine.typing import Scalar, Vector
from ..numerics.functions import atan
from .roles import LAWS, controller

CONTROL = LAWS["control"]

Vectors = dict[str, Vector]


def _squares(a: Vector, b: Vector) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), start=0)


@controller()
def open_loop(loop: Any) -> Vector:
    """Nothing is fed back: the actuators do what their `feedforward` says."""
    return [0.0 for _ in loop.actuators]


@controller()
def pd(loop: Any, *, k1: Scalar, k2: Scalar) -> Vector:
    """-k1 error - k2 rate: a spring to the reference and a damper to rest (Akhadkar et al. 2016, tau3).

    k1 (N m/rad or N/m), k2 (N m s/rad or N s/m).
    """
    return [-(k2 * v + k1 * e) for e, v in zip(loop.errors, loop.rates, strict=True)]


@controller()
def pd_tracking(loop: Any, *, k1: Scalar, k2: Scalar) -> Vector:
    """-k1 error - k2 error rate: a spring and a damper to the moving reference (Akhadkar et al. 2016, tau4).

    k1 (N m/rad or N/m), k2 (N m s/rad or N s/m).
    """
    return [-(k2 * v + k1 * e) for e, v in zip(loop.errors, loop.error_rates, strict=True)]


@controller(rates={"integral": 0.0})
def pid(loop: Any, *, k1: Scalar, k2: Scalar, k3: Scalar, integral: Vector) -> tuple[Vector, Vectors, Vectors]:
    """-k1 error - k2 error rate - k3 integral of the error (Minorsky 1922).

    k1 (N m/rad or N/m), k2 (N m s/rad or N s/m), k3 (N m/(rad s) or N/(m s)); integral: of each error since the start.
    """
    both = zip(loop.errors, loop.error_rates, integral, strict=True)
    return [-(k1 * e + k2 * v + k3 * i) for e, v, i in both], {"integral": loop.errors}, {}


@controller(
    conditions={
        "0 < c < k1 k2 / (k1 + k2^2 / 4)": lambda k1, k2, c: 0 < c < k1 * k2 / (k1 + 0.25 * k2 * k2),
        "c < k2": lambda k1, k2, c: c < k2,
        "c^2 < k1": lambda k1, k2, c: c * c < k1,
    },
    watch=["lyapunov"],
)
def feedback_linearisation(loop: Any, *, k1: Scalar, k2: Scalar, c: Scalar = 10.0) -> Vector:
    """Inverse dynamics of the model with the acceleration wanted: reference'' - k2 error' - k1 error, so that ideal
    joints leave error'' + k2 error' + k1 error = 0 (Akhadkar et al. 2016, tau5).

    k1 (1/s^2), k2 (1/s); c (1/s): of the Lyapunov function V = (error'^2 + k1 error^2 + 2 c error error') / 2, which is
    watched as `lyapunov`.
    """
    e, v = loop.errors, loop.error_rates
    loop.watch("lyapunov", 0.5 * (_squares(v, v) + k1 * _squares(e, e)) + c * _squares(e, v))
    wanted = zip(loop.reference_accelerations, e, v, strict=True)
    return list(loop.model.torques([a - k2 * y - k1 * x for a, x, y in wanted]))


@controller(conditions={"k > 0": lambda k, slope: k > 0, "slope > 0": lambda k, slope: slope > 0}, watch=["lyapunov"])
def passivity_based(loop: Any, *, k: Scalar, slope: Scalar) -> Vector:
    """M r' + C r + what else acts, for the rate r = reference' - slope error, less k times the deviation
    s = error' + slope error from it (Slotine and Li 1987; Akhadkar et al. 2016, tau6; with a sensor elsewhere tau7).

    Dampers of the model are taken at the measured rate, so that M s' + C s + k s = 0 with them too.
    k (N m s/rad or N s/m), slope (1/s).  The Lyapunov function s M s / 2 is watched as `lyapunov`.
    """
    e, v = loop.errors, loop.error_rates
    s = [y + slope * x for x, y in zip(e, v, strict=True)]
    rates = [w - slope * x for w, x in zip(loop.reference_rates, e, strict=True)]
    accelerations = [a - slope * y for a, y in zip(loop.reference_accelerations, v, strict=True)]
    loop.watch("lyapunov", loop.model.energy(s))
    braked = loop.model.carried([k * x for x in s])
    return [u - b for u, b in zip(loop.model.torques(accelerations, rates), braked, strict=True)]


@controller(above={"steepness": 0.0})
def sliding_mode(loop: Any, *, slope: Scalar, k: Scalar, steepness: Scalar) -> Vector:
    """Inverse dynamics for the acceleration reference'' - slope error' - k sat(error' + slope error), with
    sat(x) = 2/pi atan(steepness x), in coordinates that may be more than the mechanism can move in: the model is then
    opened at the joints to be cut (Hess Coelho, Orsino and Coutinho 2015).

    slope (1/s), k (rad/s^2 or m/s^2), steepness (s/rad or s/m).
    """
    wanted = []
    for a, e, v in zip(loop.reference_accelerations, loop.errors, loop.error_rates, strict=True):
        wanted.append(a - slope * v - k * (2 / math.pi) * atan(steepness * (v + slope * e)))
    return list(loop.model.torques(wanted))
