"""After which time everything that acts on a mechanism repeats: drives, forces, references, samples of controllers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from ..errors import InputError
from ..parts.tables import Table
from .mechanism import Mechanism
from .motions import Constant, ConstantSpeed, Sine, Sum

DENOMINATOR = 1000  # of the ratio of two rates, beyond which they do not repeat together
EQUAL = 1e-9


def drive_period(mechanism: Mechanism) -> float | None:
    """The time (s) after which everything that acts on a mechanism repeats; None if nothing depends on time.

    What never repeats is refused: a reference that ends, speeds without a common period.

    >>> from jointplay.model import library
    >>> round(drive_period(library.wu_2017()), 9)  # 30 and 50 deg/s
    36.0
    """
    return common_period(list(turning(mechanism)))


def common_period(found: list[tuple[str, float]]) -> float | None:
    """The time (s) after which named rates (rad/s) repeat together; None of none."""
    if not found:
        return None
    first, slowest = min(found, key=lambda one: one[1])
    shares = []
    for name, rate in found:
        share = Fraction(rate / slowest).limit_denominator(DENOMINATOR)
        if not math.isclose(share, rate / slowest, rel_tol=EQUAL):
            raise InputError(
                f"{first} ({slowest:g} rad/s) and {name} ({rate:g} rad/s) have no common period, so the motion cannot "
                "be periodic; give rates whose ratio is one of whole numbers, or the time that counts with --period"
            )
        shares.append(share)
    turns = Fraction(math.lcm(*(s.denominator for s in shares)), math.gcd(*(s.numerator for s in shares)))
    return math.tau / slowest * float(turns)


def turning(mechanism: Mechanism) -> Iterator[tuple[str, float]]:
    """The rates (rad/s) of all that depends on time, by name."""
    yield from driven(mechanism)
    for name, force in mechanism.forces.items():
        for part in ("x", "y", "torque"):
            if hasattr(force, part):
                yield from rates(f"force {name!r}", getattr(force, part))
    control = mechanism.control
    if control is None:
        return
    for name, coordinate in control.coordinates.items():
        yield from rates(f"reference of {name!r}", coordinate.reference, turns=coordinate.turns)
    for name, actuator in control.actuators.items():
        yield from rates(f"feedforward of {name!r}", actuator.feedforward)
    samples = {"controller": control.period} | {name: sensor.period for name, sensor in control.sensors.items()}
    for name, time in samples.items():
        if time:
            yield f"samples of {name!r}", math.tau / time


def driven(mechanism: Mechanism) -> Iterator[tuple[str, float]]:
    """The rates (rad/s) of the drives, by name."""
    for name, drive in mechanism.drives.items():
        yield from rates(
            f"drive {name!r}", drive.motion, rate_drive=drive.at_rate, turns=drive.turns and not drive.at_rate
        )


def rates(name: str, motion: object, rate_drive: bool = False, turns: bool = False) -> Iterator[tuple[str, float]]:
    """The rates of a motion: of its sines and periodic tables, and of an angle that turns at constant speed, which is
    the sum of those of its terms."""
    speeds = [0.0]
    for label, part in terms(name, motion):
        if isinstance(part, Constant):
            speeds.append(part.value if rate_drive else 0.0)
        elif isinstance(part, Sine):
            if part.frequency:
                yield label, abs(part.frequency)
            still = 0.0 if part.frequency else part.amplitude * math.sin(part.phase)
            speeds.append(part.offset + still if rate_drive else 0.0)
        elif isinstance(part, Table) and part.ends == "periodic" and not rate_drive:
            yield label, math.tau / (part.times[-1] - part.times[0])
        elif isinstance(part, ConstantSpeed) and not rate_drive:
            speeds.append(part.speed)
        else:
            raise endless(label, part)
    speed = math.fsum(speeds)
    if abs(speed) <= EQUAL * max(map(abs, speeds)):
        return
    if not (turns or rate_drive):
        raise endless(name, motion)
    yield name, abs(speed)


def terms(name: str, motion: object) -> Iterator[tuple[str, object]]:
    """A motion, or the terms of a sum, by name."""
    if not isinstance(motion, Sum):
        yield name, motion
        return
    for i, part in enumerate(motion.terms, 1):
        yield from terms(f"{name}, term {i}", part)


def endless(name: str, motion: object) -> InputError:
    """What is said of a motion that does not repeat."""
    kind = getattr(motion, "kind", type(motion).__name__)
    return InputError(
        f"{name} is of kind {kind!r} and does not repeat, or nobody knows when; give the period with --period, "
        "or another motion"
    )
