"""Runge-Kutta 5(4) (Dormand and Prince 1980), adaptive or of fixed step, and the classical formula of order 4."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from ...engine.typing import Scalar, Vector
from ...engine.values import where
from ...errors import InputError
from ...numerics.choice import maximum
from ...numerics.linalg import dot
from ..motion import Motion
from ..step import Point, State, Step, Stepper, positive

Tableau = tuple[tuple[float, ...], ...]
# weights of the stages before each stage; the last line makes the step
CLASSICAL: Tableau = ((), (1 / 2,), (0, 1 / 2), (0, 0, 1), (1 / 6, 1 / 3, 1 / 3, 1 / 6))
PAIR: Tableau = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
# of the fourth-degree part of its dense output (Shampine 1986)
DENSE = (
    -12715105075 / 11282082432,
    0,
    87487479700 / 32700410799,
    -10690763975 / 1880347072,
    701980252875 / 199316789632,
    -1453857185 / 822651844,
    69997945 / 29380423,
)
ERROR = (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)

LOOKS = 50.0  # times rtol: what forces and references may be off the polynomials that stand for them
STABLE = 3.25  # times 1 / h: steps are stable up to this rate of decay
INSTANT = 1e-10, 1e-11  # s, and of the time: far above the shortest step


def stages(motion: Motion, now: Point, h: Scalar, tableau: Tableau, last: bool) -> tuple[list[Point], Step]:
    """The points of all stages, with that of the last line only if asked for, and the step that they make."""
    points, weak, acting = [now], False, None
    for weights in tableau[1:]:
        state = now.state.moved(h, weights, points)
        if weights is tableau[-1] and not last:
            break
        acting = motion.acting(state, often=True)
        points.append(Point(state, motion.slope(acting)))
        weak = acting.weak | weak
    return points, Step(state, acting=acting, weak=weak)


@dataclass(frozen=True)
class RungeKutta(Stepper):
    """Dormand and Prince's 5(4) pair with adaptive steps, projected on the constraints.

    rtol, atol: tolerated error of a step in every coordinate and rate, relative and absolute (SI), and of energies and
    time integrals of forces beside what these make of them; max_step (s): the longest step.
    Steps also end where motions have their knots.
    """

    rtol: float = 1e-8
    atol: float = 1e-10
    max_step: float = 1.0

    adaptive: ClassVar[bool] = True
    error_order: ClassVar[int] = 5
    numbers: ClassVar[tuple[str, ...]] = ("rtol", "atol", "max_step")

    def __post_init__(self) -> None:
        positive("RungeKutta", rtol=self.rtol, atol=self.atol, max_step=self.max_step)
        if self.rtol < 1e-14:
            raise InputError(f"RungeKutta: rtol {self.rtol!r} is below what double precision can hold; use >= 1e-14")

    def finer(self) -> RungeKutta:
        """The same with tolerances that halve its steps."""
        return replace(self, rtol=max(self.rtol / 32, 1e-14), atol=self.atol / 32, max_step=self.max_step / 2)

    def take(self, motion: Motion, now: Point, h: Scalar) -> Step:
        """One step of length h, with the error that the embedded formula of order 4 shows."""
        points, step = stages(motion, now, h, PAIR, last=True)
        error: Scalar = 0.0
        for slope, scale in judged(motion, points, now.state, step.end, h):
            error = maximum(error, abs(h * dot(ERROR, slope)) / scale)
        z, w = ([p.slope.z for p in points], [p.slope.w for p in points])
        bend = [[h * dot(DENSE, slope) for slope in zip(*part, strict=True)] for part in (z, w)]
        heard = noise(points[-2:], h) if motion.loop else None  # the answer of contacts to their depth is none
        return replace(step, error=error, bend=(bend[0], bend[1]), noise=heard)


def noise(points: Sequence[Point], h: Scalar) -> tuple[Scalar, Scalar]:
    """Of a step that stability bounds, and not its error: how far accelerations in two states at its end are apart
    (Hairer, Norsett and Wanner, IV.2), else 0; and how large they are.  Only rates are asked: what damps them steeply
    is what a step cannot follow, and answers to the errors of rates with forces that are noise."""
    one, other = points
    answer, apart, size = 0.0, 0.0, 0.0
    for x, y, a, b in zip(one.state.v, other.state.v, one.slope.v, other.slope.v, strict=True):
        answer, apart, size = answer + (a - b) * (a - b), apart + (x - y) * (x - y), size + b * b
    return where(h * h * answer > STABLE * STABLE * apart, answer, 0.0), size


def judged(
    motion: Motion, points: Sequence[Point], now: State, end: State, h: Scalar
) -> Iterator[tuple[Vector, Scalar]]:
    """Slopes of what is judged, in all stages, with what its error may be.

    Coordinates, rates and states of laws: the tolerances.  Energies: what those of rates make of the kinetic energy.
    Forces and references have no error of their own, but polynomials stand for them between the looks at a step: that
    of their time integral, beside the largest or the momentum.  In an instant what jumps may jump.
    """
    rtol, atol = motion.given("rtol"), motion.given("atol")
    slopes = [p.slope for p in points]
    for part, begin, after in (
        ([p.state.v for p in points], now.q, end.q),
        ([k.v for k in slopes], now.v, end.v),
        ([k.z for k in slopes], now.z, end.z),
    ):
        for slope, x, y in zip(zip(*part, strict=True), begin, after, strict=True):
            yield list(slope), atol + rtol * maximum(abs(x), abs(y))
    momentum, energy = 0.0, 0.0
    for mass, x, y in zip(motion.equations.masses(), now.v, end.v, strict=True):
        fastest = maximum(abs(x), abs(y))
        momentum = momentum + mass * (atol + rtol * fastest)
        energy = energy + mass * (atol + rtol * fastest * fastest)
    instant = maximum(INSTANT[0], INSTANT[1] * now.t)
    for slope, x, y in zip(zip(*(k.w for k in slopes), strict=True), now.w, end.w, strict=True):
        power = functools.reduce(maximum, map(abs, slope), 0.0)
        yield list(slope), energy + rtol * maximum(abs(x), abs(y)) + instant * power
    looked, short = list(zip(*(k.looked for k in slopes), strict=True)), LOOKS * rtol * h + instant
    forces, references = looked[: len(motion.rows)], looked[len(motion.rows) :]
    largest: Scalar = 0.0
    for force in forces:
        largest = functools.reduce(maximum, map(abs, force), largest)
    for force in forces:
        yield list(force), momentum + short * largest
    for reference in references:
        yield list(reference), short * functools.reduce(maximum, map(abs, reference), atol)


@dataclass(frozen=True)
class FixedRungeKutta(Stepper):
    """Steps of one length (s), projected on the constraints: by the fifth-order formula of the same pair, or by the
    classical one of order 4, which costs two thirds of it."""

    step: float
    order: Literal[4, 5] = 5

    def __post_init__(self) -> None:
        positive("FixedRungeKutta", step=self.step)
        if self.order not in (4, 5):
            raise InputError(f"FixedRungeKutta: order must be 4 or 5, got {self.order!r}")

    def take(self, motion: Motion, now: Point, h: Scalar) -> Step:
        """One step of length h; only the error estimate would need the forces at its end."""
        return stages(motion, now, h, CLASSICAL if self.order == 4 else PAIR, last=False)[1]
