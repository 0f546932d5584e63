"""tau6 of Akhadkar et al. 2016 as the program has it that their group publishes with SICONOS (its example
FourBarClearance): two things in the centripetal term differ from equation 22.

The rocker's inertia there is that about its mass centre (m l3^2 / 6, twice m l3^2 / 12), not about its pivot
(m l3^2 / 3), and the rate is the crank's own less slope times the error, not the reference's.
"""

from __future__ import annotations

import functools
import math
from typing import Any

from ..engine.typing import Scalar, Vector
from ..model import library
from ..model.control import use
from ..model.motions import sine
from ..numerics.functions import acos, atan2, cos, hypot, sin
from ..simulation import simulate
from .akhadkar2016_told import INERTIAS, LENGTHS, MASS

SAMPLED = 5e-3  # s: the program writes every 500th of its steps


def follower(crank: Scalar) -> tuple[Scalar, Scalar]:
    """The rocker's rate by that of the crank, and its slope by the crank's angle."""
    first, second, third, base = LENGTHS
    x, y = first * cos(crank), first * sin(crank)
    far = hypot(base - x, y)
    coupler = atan2(-y, base - x) + acos((second**2 + far * far - third**2) / (2 * second * far))
    rocker = atan2(y + second * sin(coupler), x + second * cos(coupler) - base)
    across, along = first / third * sin(crank - coupler), first / third * cos(crank - coupler)
    s, c = sin(rocker - coupler), cos(rocker - coupler)
    rate, turning = across / s, first * sin(crank - rocker) / (second * s)
    return rate, along / s + (across * c - along * s) * turning / (s * s) - across * c * rate / (s * s)


def published(loop: Any, *, k: Scalar, slope: Scalar) -> Vector:
    """tau6 with both."""
    [e], [v], [angle], [rate] = loop.errors, loop.error_rates, loop.values, loop.rates
    ratio, change = follower(angle)
    wanted = rate - slope * e
    [torque] = loop.model.torques([loop.reference_accelerations[0] - slope * v], [wanted])
    lacking = 0.5 * (INERTIAS[2] + MASS * LENGTHS[2] ** 2 / 4) * ratio * change * rate * wanted
    return [torque - lacking - k * (v + slope * e)]


@functools.lru_cache(16)
def tracked(
    plays: tuple[float, float],
    gains: tuple[float, float] = (200.0, 10.0),
    frequency: float = 0.75,
    until: float = 10.0,
) -> tuple[float, float]:
    """The largest tracking error (deg) of all steps from 1 s on, and the largest torque (N m) of samples 5 ms apart;
    plays in mm, frequency in pi rad/s, friction 0.1."""
    from .akhadkar2016 import SETTLED, STEP, scheme

    law = use(published, "crank", sine(6.0, frequency * math.pi), settled=SETTLED, k=gains[0], slope=gains[1])
    mechanism = library.crank_rocker_2016(*(1e-3 * x for x in plays))
    run = simulate(mechanism, until, scheme(STEP), every=SAMPLED, strict=False, control=law, error=False)
    late = abs(run["control"].values[run["time"].values >= SETTLED])
    return math.degrees(float(run["error_max"].max())), float(late.max())
