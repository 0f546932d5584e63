"""A step as a value: from where a mechanism is to where it arrives, and what acts on the way.

A stepper is a frozen dataclass with a method `take`, in a file of its own (`steps/`, or the user's).  It only steps:
samples, peaks, energies, contacts that open and close and the control loop belong to `march` and `record`, for all.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ..elements.pose import Pose, Spot
from ..engine.typing import Scalar, Vector
from ..errors import InputError
from ..model.clearances import Compliant, Following, Rigid
from ..model.mechanism import Mechanism
from ..model.parts import ModelError, Problem
from ..numerics.linalg import dot
from .loop import Command

if TYPE_CHECKING:
    from .motion import Motion

KINDS: dict[type, str] = {Rigid: "rigid", Compliant: "compliant", Following: "permanent"}


JUMPED = -1.0  # in place of the length of the last pass: what acts has jumped since


@dataclass
class Recent:
    """What acted in the last pass of a rigid step without an impact, and how its contacts stood at its end."""

    a: Vector  # accelerations
    multipliers: Vector  # forces of joints and drives
    normal: Vector  # force of each contact (N)
    tangential: Vector
    gap: Vector  # of each contact (m or rad)
    opening: Vector  # its rate
    slopes: Vector  # of the states of a continuous law
    torques: Vector  # of its actuators
    length: Scalar  # of the pass (s); 0 where it was none of the motion, or JUMPED
    watched: Vector = field(default_factory=list)  # what chosen steps go by (steps/chosen.py)


@dataclass
class State:
    """Where a mechanism is: time, coordinates, their rates, and what its contacts and laws remember."""

    t: Scalar
    q: Vector
    v: Vector
    z: Vector  # states of laws that steps integrate
    w: Vector  # energies since the start: of the kinds that `Motion.works` names (J)
    modes: Vector  # of each contact: 0 open; rigid: 1, 2 sliding, 3 sticking; compliant: 1 closed
    approach: Vector  # of each compliant contact: its approach speed when it began (m/s)
    known: Vector  # where a controller believes the bodies to be
    recent: Recent | None = None  # of steppers that remember what acted in the last step

    def moved(self, h: Scalar, weights: Sequence[float], points: Sequence[Point]) -> State:
        """The state after a step of length h by the weighted mean of slopes; their weights add up to the share of the
        step that time goes on, and contacts stay as they are."""

        def mean(slopes: Sequence[Sequence[Scalar]], begin: Sequence[Scalar]) -> Vector:
            return [x + h * dot(weights, [k[i] for k in slopes]) for i, x in enumerate(begin)]

        ahead = math.fsum(weights) * h
        return State(
            t=self.t + ahead,
            q=mean([p.state.v for p in points], self.q),
            v=mean([p.slope.v for p in points], self.v),
            z=mean([p.slope.z for p in points], self.z),
            w=mean([p.slope.w for p in points], self.w),
            modes=self.modes,
            approach=self.approach,
            known=[x + ahead * rate for x, rate in zip(self.known, points[0].slope.known, strict=True)],
        )


@dataclass
class Slope:
    """The time derivatives at a state; that of the coordinates are its rates."""

    v: Vector
    z: Vector
    w: Vector
    known: Vector
    looked: Vector = field(default_factory=list)  # what is looked at in a long step: forces of rows, references


@dataclass
class Point:
    """A state with its slope."""

    state: State
    slope: Slope


class Reaction(NamedTuple):
    """What a joint does to its second body: a force, and a moment about its second point."""

    x: Scalar
    y: Scalar
    moment: Scalar


@dataclass
class Touch:
    """One contact: its gap and rates, and the forces at a state or impulses over a step."""

    gap: Scalar
    opening: Scalar  # rate of the gap
    slip: Scalar
    normal: Scalar
    tangential: Scalar
    mode: Scalar
    struck: Scalar = False  # an impact in this step
    closes: Scalar = False  # it was open before this step, and pushes
    approach: Scalar = 0.0  # rate of the gap before the step
    bumped: Scalar = 0.0  # energy lost along the normal (J)
    rubbed: Scalar = 0.0  # energy lost by friction (J)


@dataclass
class Acting:
    """What acts: forces at a state or, where `over` is the length of a step, impulses over it."""

    accelerations: Vector
    multipliers: Vector
    reactions: list[Reaction]
    touches: list[Touch]
    rates: Vector = field(default_factory=list)  # of the states of laws
    powers: Vector = field(default_factory=list)  # of the energies `w` of the state (W)
    command: Command | None = None
    wanted: Vector = field(default_factory=list)  # the references of the control loop
    weak: Scalar = False  # where drives ask for what the mechanism cannot do: rows depend on each other
    firm: Scalar = 1.0  # how far rows are from depending on each other, from 1 down to 0
    left: Scalar = 0.0  # what the friction of pins leaves open, of its torque
    locks: Scalar = 0.0  # how near the pins are to locking, where friction has two solutions: beyond 1
    over: Scalar = None


@dataclass
class Step:
    """What a stepper gives: where it arrives, and what it knows of the way.

    error: relative to its tolerances, if it knows it; acting: the impulses of the step or, of a stepper of states, what
    acts in its last stage; weak: where a drive could not be followed in some stage; residuals: sizes whose largest is
    kept, by name; counts: what is counted; pose, contacts, steered: of a stepper of impulses, the end's pose, its
    contacts, and the generalised forces of actuators; shown: what gives the forces at its end, if it knows them; bend:
    the fourth-degree part of `z` and `w` inside it, u^2 (1 - u)^2 times this, if it knows it; noise: squares of how
    far accelerations at its end are noise, and of how large they are, if it knows that.
    """

    end: State
    error: Scalar = None
    acting: Acting | None = None
    residuals: dict[str, Scalar] = field(default_factory=dict)
    counts: dict[str, Scalar] = field(default_factory=dict)
    pose: Pose | None = None
    contacts: Sequence[Spot] = ()
    steered: Sequence[Scalar] = ()
    weak: Scalar = None
    shown: Callable[[], Acting] | None = None
    bend: tuple[Vector, Vector] | None = None
    noise: tuple[Scalar, Scalar] | None = None


UNREFINED = (
    "does not say what is finer, by which errors are estimated: define finer(self), which gives the same stepper with "
    "tolerances that halve its steps"
)


@dataclass(frozen=True)
class Stepper:
    """How time goes on: a value whose numbers may change from run to run.

    A kind of stepper has a method `take(motion, now, h) -> Step`, and says by its class:
    computes: the kinds of contact that it can compute; adaptive: whether it chooses its steps by the error that it
    gives; impulsive: whether it computes impulses over steps instead of forces at states.
    """

    computes: ClassVar[tuple[type, ...]] = (Compliant, Following)
    adaptive: ClassVar[bool] = False
    error_order: ClassVar[int] = 1  # of the error, which tells an adaptive stepper its next step
    impulsive: ClassVar[bool] = False
    numbers: ClassVar[tuple[str, ...]] = ("step",)  # fields that are run-time numbers; all else is structure

    def take(self, motion: Motion, now: Point, h: Scalar) -> Step:
        """One step of length h."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it takes a step: define take")

    @property
    def refinable(self) -> bool:
        """Whether it says what is finer."""
        return not self.adaptive or type(self).finer is not Stepper.finer

    @property
    def remembers(self) -> bool:
        """Whether steps of impulses use what acted in the last one; continuous laws are then computed inside them."""
        return False

    @property
    def structure(self) -> tuple[Any, ...]:
        """All of it that its compiled program depends on."""
        kept = ((f.name, getattr(self, f.name)) for f in dataclasses.fields(self) if f.name not in self.numbers)
        return type(self), *kept

    def given(self) -> dict[str, float]:
        """Its run-time numbers; how long a run lasts is none of its business."""
        return {name: float(getattr(self, name)) for name in self.numbers}

    def finer(self) -> Stepper:
        """The same with half its step; an adaptive stepper must say what that is."""
        if self.adaptive:
            raise InputError(f"{type(self).__name__} {UNREFINED}")
        return dataclasses.replace(self, step=self.step / 2)  # type: ignore[attr-defined, call-arg]

    def whole(self, time: float) -> float:
        """A time as this stepper reaches it (s): impulses are known at the ends of whole steps only."""
        if not self.impulsive or self.adaptive:
            return time
        return max(1, round(time / self.step)) * self.step  # type: ignore[attr-defined]

    def refuse(self, mechanism: Mechanism) -> None:
        """Raise where a mechanism has what this stepper does not compute."""
        name = type(self).__name__
        rigid, soft = (next(iter(mechanism.loose(kind)), "") for kind in (Rigid, Compliant))
        if rigid and soft:
            text = f"compliant contact here and rigid contact in {rigid!r} cannot be mixed in one run; choose one kind"
            raise ModelError(Problem(("joints", soft, "contact"), text))
        able = " and ".join(KINDS[kind] for kind in reversed(self.computes)) or "no"
        for kind, word in KINDS.items():
            for joint in mechanism.loose(kind) if kind not in self.computes else ():
                remedy = "use MoreauJean" if kind is Rigid else "use RungeKutta, or make all contacts rigid"
                text = f"{name} computes {able} contact, got a {word} one; {remedy}"
                raise ModelError(Problem(("joints", joint, "contact"), text))
        for joint in mechanism.stopped(Rigid) if Rigid not in self.computes else ():
            raise ModelError(Problem(("joints", joint), f"{name} knows no stops; use MoreauJean"))
        for joint, rough in mechanism.joints.items() if self.impulsive else ():
            if rough.pin_law():
                text = f"{name} knows no friction in ideal joints; use RungeKutta, or leave it out"
                raise ModelError(Problem(("joints", joint, "pin_friction"), text))


def is_number(x: object) -> bool:
    """Whether x is a finite number."""
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)


def positive(owner: str, **numbers: Any) -> None:
    """Refuse numbers that are not above 0."""
    for name, x in numbers.items():
        if not (is_number(x) and x > 0):
            raise InputError(f"{owner}: {name} must be a number > 0, got {x!r}")
