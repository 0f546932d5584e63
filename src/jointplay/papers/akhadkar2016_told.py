"""tau7 of Akhadkar et al. 2016 with what the paper does not tell it: which of the two crank angles a rocker's angle
belongs to is told by the crank itself, and if asked for its rate too.

The law and the four-bar are written here in closed form, as the paper would (its corrected equations 25 to 37), and
called as a digital controller: another code than that of tau6, which it is if it may see the crank.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence

from ..model import library
from ..model.control import Control, Sampled, use
from ..model.motions import sine
from ..simulation import simulate
from .akhadkar2016 import ERROR, SETTLED, TWO, Case, row, scheme, tracking
from .rows import Found, Row

LENGTHS, INERTIAS, MASS, GRAVITY = (1.0, 4.0, 2.5, 3.0), (0.0833, 1.33, 0.521), 1.0, 9.81  # Table 1
SPEED = 0.75 * math.pi  # rad/s, of the reference of 6 rad
GAIN, SLOPE = 200.0, 10.0  # K and Lambda
PERIOD = 1e-4  # s, between calls
SMALL = 0.1  # where the rocker's rate is a smaller share of the crank's, it does not tell it: the crank itself does
APART = 1e-5  # rad, of the slope of the inertia
MISSING = "what tells tau7 the crank's branch: here the crank does, every 0.1 ms"


def closed(crank: float) -> tuple[float, float]:
    """The angles of coupler and rocker for one of the crank."""
    first, second, third, base = LENGTHS
    x, y = first * math.cos(crank), first * math.sin(crank)
    far = math.hypot(base - x, y)
    coupler = math.atan2(-y, base - x) + math.acos((second**2 + far**2 - third**2) / (2 * second * far))
    return coupler, math.atan2(y + second * math.sin(coupler), x + second * math.cos(coupler) - base)


def reduced(crank: float) -> tuple[float, float, float]:
    """Inertia and weight as seen from the crank, and the rate of the rocker by that of the crank."""
    first, second, third, _ = LENGTHS
    coupler, rocker = closed(crank)
    a = -first * math.sin(crank - rocker) / (second * math.sin(coupler - rocker))
    b = first * math.sin(crank - coupler) / (third * math.sin(rocker - coupler))
    ja, jb, jc = (
        inertia + MASS * part
        for inertia, part in zip(INERTIAS, (1.25 * first**2, second**2 / 4, third**2 / 4), strict=True)
    )
    inertia = ja + jb * a**2 + jc * b**2 + MASS * first * second * math.cos(crank - coupler) * a
    lever = 1.5 * first * math.cos(crank) + 0.5 * (second * math.cos(coupler) * a + third * math.cos(rocker) * b)
    return inertia, MASS * GRAVITY * lever, b


def inferred(rocker: float, crank: float) -> float:
    """The crank's angle by that of the rocker: of the two that close the loop the one near a crank's angle."""
    first, second, third, base = LENGTHS
    x, y = base + third * math.cos(rocker), third * math.sin(rocker)
    far = math.hypot(x, y)
    half = math.acos(max(-1.0, min(1.0, (first**2 + far**2 - second**2) / (2 * first * far))))
    both = (crank + math.remainder(math.atan2(y, x) + side * half - crank, math.tau) for side in (1, -1))
    return min(both, key=lambda angle: abs(angle - crank))


def command(t: float, angle: float, rate: float) -> float:
    """tau6 (equation 22) for an angle and a rate of the crank."""
    wanted, speed = 6 * math.sin(SPEED * t), 6 * SPEED * math.cos(SPEED * t)
    inertia, weight, _ = reduced(angle)
    slope = (reduced(angle + APART)[0] - reduced(angle - APART)[0]) / (2 * APART)
    off, late = angle - wanted, rate - speed
    push = inertia * (-(SPEED**2) * wanted - SLOPE * late) + 0.5 * slope * rate * (speed - SLOPE * off)
    return push + weight - GAIN * (late + SLOPE * off)


class Told:
    """tau7: calls of `command` with the crank's angle by the rocker's; rate: of the crank, or by the rocker's too."""

    def __init__(self, rate: str) -> None:
        self.rate = rate

    def __call__(self, t: float, angles: Sequence[float], rates: Sequence[float], *_: object) -> list[float]:
        angle, rate = inferred(angles[1], angles[0]), rates[0]
        if self.rate == "rocker":
            ratio = reduced(angle)[2]
            rate += (rates[1] - ratio * rate) * ratio / (ratio**2 + SMALL**2)
        return [command(t, angle, rate)]


def control(law: Told) -> Control:
    """The loop of a law that sees crank and rocker."""
    return use(Sampled(law), "crank", sine(6.0, SPEED), settled=SETTLED, sensors=["crank", "rocker"], period=PERIOD)


@functools.lru_cache(4)
def error(rate: str, plays: tuple[float, float], until: float = 10.0) -> tuple[float, str, bool]:
    """The largest tracking error (deg) from 1 s on, how the run ended, and whether well."""
    mechanism = library.crank_rocker_2016(*(1e-3 * x for x in plays))
    run = simulate(mechanism, until, scheme(1e-5), every=1e-2, strict=False, control=control(Told(rate)), error=False)
    return math.degrees(float(run["error_max"].max())), str(run.outcome_text), run.outcome == "done"


def rows() -> Iterator[Row]:
    """The printed range of Figure 22 beside tau7 that is told the branch, its rate by the rocker or of the crank."""
    for rate in ("rocker", "crank"):

        def compute(rate: str = rate) -> Found:
            found, end, ended = error(rate, TWO)
            note = f"tau6: {tracking(Case('tau6', TWO)).error:.3g}; the crank tells the branch, the {rate} the rate"
            return Found(found, note) if ended else Found(None, end, ended=False)

        case = Case("tau7", TWO).case(branch="told", rate=rate)
        yield row("figure 22", case, ERROR, "deg", compute, 12.0, missing=MISSING, group="told")
