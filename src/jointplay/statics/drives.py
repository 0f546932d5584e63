"""Whether the drives of a mechanism can be followed over their whole period, before anything is integrated."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..model.joints import Prismatic
from ..model.mechanism import Mechanism
from ..model.motions import Constant, ConstantSpeed, Sine
from ..model.parts import ModelError, Problem
from ..system import System, as_system
from .assembly import assemble, freedom
from .cycle import Path, State, Unassembled
from .starting import closed

LONGEST = 10.0  # s: followed if the drives do not repeat, or not that anybody knows
FARTHEST = 200.0  # rad or sizes of the mechanism per follow: half a second of computing
POINTS = 90  # times at which the way is looked at
DENOMINATOR = 1000  # of the ratio of two speeds, beyond which they do not repeat together


def period(mechanism: Mechanism) -> float | None:
    """The time (s) after which all drives repeat; None if they never do, or are neither constant speeds nor sines.

    >>> from jointplay.model import library
    >>> round(period(library.wu_2017()), 9)  # 30 and 50 deg/s
    36.0
    """
    rates = []
    for drive in mechanism.drives.values():
        motion = drive.motion
        if isinstance(motion, Constant):
            rates.append(motion.value if drive.kind == "rate" else 0.0)
        elif isinstance(motion, ConstantSpeed) and drive.kind == "angle":
            rates.append(motion.speed)
        elif isinstance(motion, Sine) and (drive.kind != "rate" or not motion.offset):
            rates.append(motion.frequency)
        else:
            return None
    rates = [abs(rate) for rate in rates if rate]
    if not rates:
        return None
    shares = [Fraction(rate / rates[0]).limit_denominator(DENOMINATOR) for rate in rates]
    if not all(math.isclose(share, rate / rates[0], rel_tol=1e-9) for share, rate in zip(shares, rates, strict=True)):
        return None
    whole = Fraction(math.lcm(*(s.denominator for s in shares)), math.gcd(*(s.numerator for s in shares)))
    return math.tau / rates[0] * float(whole)


@dataclass(frozen=True)
class Followed:
    """How far (s) the drives of the ideal mechanism were followed, their period, and what stopped them."""

    until: float
    period: float | None
    states: list[State]
    problem: ValueError | None

    def text(self) -> str:
        """One line for people."""
        known = "do not repeat" if self.period is None else f"repeat after {self.period:.6g} s"
        if self.problem is not None:
            return f"{known}; they cannot be followed"
        whole = self.period is not None and math.isclose(self.until, self.period)
        return f"{known}; it assembles throughout{'' if whole else f' the first {self.until:.6g} s'}"


def followed(model: Mechanism | System, until: float | None = None) -> Followed | None:
    """Follows the drives with all joints closed, over their period or until a time (s) before; None if they leave a
    degree of freedom, or nothing moves."""
    given = as_system(model)
    mechanism = given.mechanism
    if all(drive.kind != "rate" and isinstance(drive.motion, Constant) for drive in mechanism.drives.values()):
        return None
    again = period(mechanism)
    reach = min(again or LONGEST, until or math.inf)
    system = closed(given).until(reach)
    try:
        if freedom(system, assemble(system)).degrees:
            return None
        path = Path(system)
        fastest = float(np.abs(path.state.v / path.scale).max())
        reach = min(reach, FARTHEST / fastest) if fastest else reach
        states = []
        for t in np.linspace(0.0, reach, POINTS + 1):
            states.append(path.go(float(t)))
    except ValueError as error:
        return Followed(reach, again, [], error)
    return Followed(reach, again, states, None)


def refuse_drives(system: System, until: float) -> None:
    """Raises where drives would open joints that must stay closed, within a period or until a time (s)."""
    found = followed(system, until)
    if found is not None and isinstance(found.problem, Unassembled):
        raise ModelError(Problem(("drives",), f"{found.problem}. Nothing was integrated"))


def off_the_bar(mechanism: Mechanism, found: Followed) -> Iterator[str]:
    """Bores that do not stay on their bars, one line for each."""
    bodies = list(mechanism.bodies)
    for name, joint in mechanism.joints.items():
        ends = [mechanism.split(end) for end in joint.between]
        if not isinstance(joint, Prismatic) or joint.bearing != "second" or ends[0][0] not in bodies:
            continue
        bar = mechanism.bodies[ends[0][0]]
        if bar.length is None or joint.axis[1] or not found.states:
            continue
        places = []
        for state in found.states:
            at = []
            for body, point in ends:
                if body == "ground":
                    at.append(complex(*mechanism.ground.all_points()[point]))
                    continue
                x, y, angle = state.q[3 * bodies.index(body) : 3 * bodies.index(body) + 3]
                at.append(complex(x, y) + complex(*mechanism.bodies[body].arm(point)) * np.exp(1j * angle))
            turn = np.exp(-1j * state.q[3 * bodies.index(ends[0][0]) + 2])
            places.append(((at[1] - at[0]) * turn).real + bar.all_points()[ends[0][1]][0])
        half, low, high = 0.5 * (joint.length or 0.0), min(places), max(places)
        if low < half or high > bar.length - half:
            yield (
                f"joint {name!r}: the drives move the middle of the bore along {ends[0][0]!r} from {low:.4g} to "
                f"{high:.4g} m; with a length of {2 * half:g} m it leaves the bar of {bar.length:g} m"
            )
