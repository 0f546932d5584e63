"""Mechanisms of common shapes, closed from their dimensions."""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence

from ..elements import AngleDrive, Prismatic, Revolute, Slot
from ..errors import InputError
from ..parts.motions import constant_speed
from .bodies import Body, Ground, bar
from .mechanism import Mechanism


def meet(a: complex, reach_a: float, b: complex, reach_b: float, side: int) -> complex:
    """The point at given distances (m) from two points; side = 1 lies to the left of the way from a to b, -1 right."""
    way = b - a
    along = 0.5 * (1 + (reach_a**2 - reach_b**2) / abs(way) ** 2) if way else math.inf
    square = reach_a**2 / abs(way) ** 2 - along**2 if way else -1.0
    if square < 0:
        raise InputError(f"does not close: two bars of {reach_a:g} m and {reach_b:g} m over {abs(way):g} m")
    return a + way * complex(along, side * math.sqrt(square))


def angle_between(start: complex, end: complex) -> float:
    """The angle (rad) of the way from one point to another."""
    return cmath.phase(end - start)


def four_bar(
    lengths: Sequence[float] = (0.1, 0.35, 0.25, 0.3),
    masses: Sequence[float] = (1.0, 1.0, 1.0),
    inertias: Sequence[float] | None = None,
    crank: float = math.pi / 2,
    side: int = 1,
    centres: Sequence[tuple[float, float]] | None = None,
    name: str = "four-bar",
    source: str = "",
) -> Mechanism:
    """Crank, coupler and rocker on the ground: J1 at (0, 0), J4 at (l4, 0).

    lengths (m) of crank, coupler, rocker and ground; masses (kg) and inertias (kg m^2) of the first three, uniform
    bars by default; crank: its starting angle (rad); side: 1 if the pin J3 lies to the left of the way from J2 to J4;
    centres (m): the mass centres in the bars' frames (x along the bar from its start; the rocker starts at J4).
    """
    l1, l2, l3, l4 = lengths
    given, at = inertias or (None, None, None), centres or (None, None, None)
    pin = l1 * cmath.exp(1j * crank)
    tip = meet(pin, l2, complex(l4), l3, side)
    return Mechanism(
        name=name,
        source=source,
        ground=Ground(points={"J1": (0.0, 0.0), "J4": (l4, 0.0)}),
        bodies={
            "crank": bar(l1, masses[0], given[0], at[0]),
            "coupler": bar(l2, masses[1], given[1], at[1]),
            "rocker": bar(l3, masses[2], given[2], at[2]),
        },
        joints={
            "J1": Revolute(between=("ground.J1", "crank.start")),
            "J2": Revolute(between=("crank.end", "coupler.start")),
            "J3": Revolute(between=("coupler.end", "rocker.end")),
            "J4": Revolute(between=("ground.J4", "rocker.start")),
        },
        start={"crank": crank, "coupler": angle_between(pin, tip), "rocker": angle_between(complex(l4), tip)},
    )


def slider_crank(
    crank: float = 0.1,
    rod: float = 0.3,
    masses: Sequence[float] = (1.0, 2.0, 1.0),
    offset: float = 0.0,
    speed: float | None = None,
    angle: float = math.pi / 6,
) -> Mechanism:
    """Crank and rod (lengths in m) and a slider along x at height offset (m); speed (rad/s) drives the crank."""
    pin = crank * cmath.exp(1j * angle)
    lift = (offset - pin.imag) / rod
    if abs(lift) > 1:
        raise InputError(f"does not close: the rod of {rod:g} m does not reach the slide")
    turn = math.asin(lift)
    motion = {} if speed is None else {"motor": AngleDrive(of="crank", motion=constant_speed(speed, angle))}
    return Mechanism(
        name="slider-crank",
        ground=Ground(points={"O": (0.0, 0.0), "slide": (0.0, offset)}),
        bodies={
            "crank": bar(crank, masses[0]),
            "rod": bar(rod, masses[1]),
            "slider": Body(mass=masses[2], inertia=1e-3 * masses[2], points={"pin": (0.0, 0.0)}),
        },
        joints={
            "J1": Revolute(between=("ground.O", "crank.start")),
            "J2": Revolute(between=("crank.end", "rod.start")),
            "J3": Revolute(between=("rod.end", "slider.pin")),
            "J4": Prismatic(between=("ground.slide", "slider.pin"), axis=(1.0, 0.0)),
        },
        drives=motion,
        start={
            "crank": angle,
            "rod": turn,
            "slider.x": pin.real + rod * math.cos(turn),
            "slider.y": offset,
            "slider": 0.0,
        },
    )


def five_bar(
    base: float = 0.2,
    lengths: Sequence[float] = (0.1, 0.2, 0.2, 0.1),
    masses: Sequence[float] = (0.2, 0.4, 0.4, 0.2),
    tip: tuple[float, float] = (0.0, 0.15),
    elbows: tuple[int, int] = (1, -1),
) -> Mechanism:
    """Two arms of two uniform bars each, pinned together at `tip`; the pivots are `base` (m) apart around the origin.

    lengths and masses: left inner, left outer, right outer, right inner; elbows: the side (1 left, -1 right of the
    way from the pivot to the tip) of the left and the right elbow.
    """
    l1, l2, l3, l4 = lengths
    m1, m2, m3, m4 = masses
    arms = (bar(l1, m1), bar(l2, m2), bar(l3, m3), bar(l4, m4))
    return two_arms(arms, base, tip, elbows, "five-bar", "")


def two_arms(
    arms: Sequence[Body], base: float, tip: tuple[float, float], elbows: tuple[int, int], name: str, source: str
) -> Mechanism:
    """Two arms of two bars each, pinned together at `tip`."""
    left, right, end = complex(-base / 2), complex(base / 2), complex(*tip)
    names = ("left_inner", "left_outer", "right_outer", "right_inner")
    l1, l2, l3, l4 = (arm.length or 0.0 for arm in arms)
    elbow, other = meet(left, l1, end, l2, elbows[0]), meet(right, l4, end, l3, elbows[1])
    angles = (
        angle_between(left, elbow),
        angle_between(elbow, end),
        angle_between(other, end),
        angle_between(right, other),
    )
    return Mechanism(
        name=name,
        source=source,
        ground=Ground(points={"left": (left.real, 0.0), "right": (right.real, 0.0)}),
        bodies=dict(zip(names, arms, strict=True)),
        joints={
            "J1": Revolute(between=("ground.left", "left_inner.start")),
            "J2": Revolute(between=("left_inner.end", "left_outer.start")),
            "J3": Revolute(between=("left_outer.end", "right_outer.end")),
            "J4": Revolute(between=("right_inner.end", "right_outer.start")),
            "J5": Revolute(between=("ground.right", "right_inner.start")),
        },
        start=dict(zip(names, angles, strict=True)),
    )


def rr_arm(
    lengths: Sequence[float] = (0.1, 0.2),
    masses: Sequence[float] = (0.2, 0.4),
    inertias: Sequence[float] | None = None,
    angles: Sequence[float] = (0.5, 1.0),
) -> Mechanism:
    """Two bars in a row, `arm1` on the ground at O and `arm2` at its end: an arm of which others are made.

    lengths (m), masses (kg) and inertias (kg m^2), uniform bars by default; angles (rad): the bars' own at the start.
    """
    given = inertias or (None, None)
    return Mechanism(
        name="rr-arm",
        ground=Ground(points={"O": (0.0, 0.0)}),
        bodies={f"arm{i + 1}": bar(lengths[i], masses[i], given[i]) for i in range(2)},
        joints={
            "J1": Revolute(between=("ground.O", "arm1.start")),
            "J2": Revolute(between=("arm1.end", "arm2.start")),
        },
        start={"arm1": angles[0], "arm2": angles[1]},
    )


def point_mass(mass: float = 1.0, inertia: float = 1e-6) -> Mechanism:
    """One body, `weight` (kg, kg m^2), to be welded to another: a payload or a balancing mass.

    Its inertia is small but not 0, so that its angle has an equation of motion.
    """
    return Mechanism(name="point mass", bodies={"weight": Body(mass=mass, inertia=inertia)})


def scotch_yoke(
    crank: float = 0.1, masses: Sequence[float] = (1.0, 1.0), speed: float | None = None, angle: float = 0.0
) -> Mechanism:
    """A crank (length in m) whose pin runs in the vertical slot of a yoke that slides along x."""
    motion = {} if speed is None else {"motor": AngleDrive(of="crank", motion=constant_speed(speed, angle))}
    return Mechanism(
        name="scotch-yoke",
        ground=Ground(points={"O": (0.0, 0.0)}),
        bodies={"crank": bar(crank, masses[0]), "yoke": Body(mass=masses[1], inertia=1e-3 * masses[1])},
        joints={
            "J1": Revolute(between=("ground.O", "crank.start")),
            "J2": Slot(between=("yoke.centre", "crank.end"), axis=(0.0, 1.0)),
            "J3": Prismatic(between=("ground.O", "yoke.centre"), axis=(1.0, 0.0)),
        },
        drives=motion,
        start={"crank": angle, "yoke.x": crank * math.cos(angle), "yoke.y": 0.0, "yoke": 0.0},
    )


def pendulum(n: int = 1, length: float = 1.0, mass: float = 1.0, angles: Sequence[float] | None = None) -> Mechanism:
    """A chain of n equal uniform bars hanging from O; angles (rad) are the bars' own, hanging down by default."""
    if n < 1:
        raise InputError(f"a pendulum needs at least one bar, got n = {n}")
    if angles is not None and len(angles) != n:
        raise InputError(f"a pendulum of n = {n} bars needs as many angles, got {len(angles)}")
    names = [f"bar{i + 1}" for i in range(n)]
    joints = {"J1": Revolute(between=("ground.O", "bar1.start"))}
    for i in range(1, n):
        joints[f"J{i + 1}"] = Revolute(between=(f"{names[i - 1]}.end", f"{names[i]}.start"))
    return Mechanism(
        name="pendulum" if n == 1 else f"pendulum of {n} bars",
        ground=Ground(points={"O": (0.0, 0.0)}),
        bodies={name: bar(length, mass) for name in names},
        joints=joints,
        start=dict(zip(names, angles or [-math.pi / 2] * n, strict=True)),
    )
