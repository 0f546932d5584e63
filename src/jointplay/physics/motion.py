"""The equations of motion at a state, for every stepper: what acts there, slopes, projection, states inside a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..engine.text import branch, subroutine
from ..engine.typing import Scalar, Vector
from ..engine.values import sqrt
from ..errors import InputError
from ..model.clearances import Following
from ..numerics.choice import maximum, minimum
from ..numerics.linalg import dot, is_zero
from ..parts.time_functions import NEVER
from .compliance import Compliance
from .contacts import reaction
from .dense import dense, hermite
from .dynamics import ConstraintRows, Equations
from .loop import Command, Loop
from .pins import Pins
from .spread import FLOOR
from .step import Acting, Point, Reaction, Recent, Slope, State, Stepper

if TYPE_CHECKING:
    from .record import Bookkeeping

Bend = tuple[Vector, Vector]  # the fourth-degree part of `z` and `w` inside a step
WORK = "work"
LOSSES = ("impact.loss", "friction.loss")  # energies that are taken, not given
CONTACT_WORK = ("contact.normal.work", "contact.friction.work")
PIVOT = 1e-10  # relative pivots below this: rows depend on each other
WATCHED = ("step.calm", "step.before", "step.neglected")  # of chosen steps, after the scales of bodies
OF_CONTACTS = ("normal", "tangential", "gap", "opening")
SMALL = 9  # coordinates; larger texts would not stay in the processor's cache
LOOSE = 1e-8  # of pivots: next to a position in which rows depend on each other, closing them would only add rounding
RUSH = 1e3  # times the speed of the drives: so fast is what they drive beyond its reach
ROUND_OFF, STILL = 1e-15, 1e-12  # m or rad, and per s: what is open by less counts as closed in fixed steps


class Motion:
    """A mechanism's equations of motion as text: traced once, called often.

    labels: the contacts; clock: the steps between samples of the control loop's parts, by name; given: the run-time
    numbers of the stepper, by name.
    """

    record: Bookkeeping  # of the march, for steps that write down their impacts themselves

    def __init__(
        self,
        equations: Equations,
        labels: Sequence[str],
        stepper: Stepper,
        clock: Mapping[str, Scalar],
        given: Callable[[str], Scalar],
    ) -> None:
        self.given = given
        self.equations, self.names, self.n = equations, equations.coordinates, len(equations.coordinates)
        mechanism, impulsive = equations.mechanism, stepper.impulsive
        self.joints, self.clock, self.labels = list(mechanism.joints), clock, list(labels)
        self.fixed = not stepper.adaptive  # steps are of one length, so that contacts change at their ends
        self.loop = Loop(equations) if mechanism.control else None
        self.remembers = stepper.remembers
        self.digital = self.loop is not None and (self.loop.digital or (impulsive and not self.remembers))
        self.held: Command | None = None  # of a loop that is computed once a step
        self.compliance, self.pins = Compliance(equations, [] if impulsive else labels, self.fixed), Pins(equations)
        self.following = mechanism.loose(Following)
        analog = self.loop if self.loop and not self.digital else None
        self.laws = self.compliance.starts | (analog.starts if analog else {})
        self.guesses = analog.guesses if analog else []
        self.limited = analog.limits if analog and not self.fixed and not impulsive else []
        self.works = [WORK, *(LOSSES if impulsive else CONTACT_WORK if labels else ())]
        self.rows: list[str] = []
        self.taken: Scalar = 0  # how many steps were taken before this one
        self.after: Scalar = 0.0  # the time at which it ends
        self.counts: Scalar = True  # whether it is taken if it is good, not only tried for a sample
        self.begins: Scalar = True  # whether impacts at its very beginning are written down,
        self.strikes: Scalar = True  # and those that follow: not twice, where it is tried twice
        self.settled: Scalar = NEVER  # the time at which a step must end, since results count anew from there (s)
        self.last: Scalar = None  # the last time that it feels, if it ends where something jumps
        # short steps of one length are many, so that a small mechanism's equations stand in every stage of them
        self.inline = self.fixed and analog is None and self.n <= SMALL
        self.at, self.closing = subroutine(self._at), subroutine(self._closing)
        self.interpolate = subroutine(self._interpolate)

    @property
    def row_labels(self) -> list[str]:
        """The names of the constraint rows."""
        return [row for row, _ in self.equations.constraints(self.equations.pose([0] * self.n, 0.0))]

    @property
    def names_of_state(self) -> State:
        """The names of a state's numbers."""
        return State(
            t="time",
            q=self.names,
            v=[f"{name}.rate" for name in self.names],
            z=list(self.laws),
            w=self.works,
            modes=[f"{label}.mode" for label in self.labels],
            approach=[f"{label}.approach" for label in self.compliance.labels],
            known=self.guesses,
            recent=self.names_of_recent() if self.remembers else None,
        )

    def names_of_recent(self) -> Recent:
        """The names of what acted in the last step."""
        actuators = self.loop.control.actuators if self.loop else ()
        parts = (self.names, self.row_labels, *([f"{x}.{end}" for x in self.labels] for end in OF_CONTACTS))
        torques = [f"control.{name}" for name in actuators]
        each = ([f"{name}.recent" for name in part] for part in (*parts, self.laws, torques))
        a, lam, normal, tangential, gap, opening, slopes, acting = each
        watched = [] if self.fixed else [*(f"{body}.scale" for body in self.equations.mechanism.bodies), *WATCHED]
        return Recent(a, lam, normal, tangential, gap, opening, slopes, acting, "step.recent", watched)

    @property
    def names_of_slope(self) -> Slope:
        """The names of a slope's numbers."""
        z, w, known = ([f"{name}.rate" for name in part] for part in (self.laws, self.works, self.guesses))
        looked = [] if self.fixed else [*self.row_labels, *(self.loop.axes if self.loop else ())]
        a = [f"{name}.acceleration" for name in self.names]
        return Slope(a, z, w, known, [f"{name}.looked" for name in looked])

    # -- what acts
    def _at(self, state: State, held: Sequence[Scalar]) -> Acting:
        q, v, t = state.q, state.v, state.t
        own = len(self.compliance.starts)
        command, steered = None, [0] * self.n
        if self.loop and self.held is None:
            command = self.loop.command(t, *self.loop.seen(q, v, t), state.z[own:], [], state.known)
        if self.loop:
            steered = self.loop.forces(q, t, command.torques if command else held)
        pose = self.equations.pose(q, t)
        pressed = self.compliance.pressed(pose, state)
        pushed = self.compliance.forces(pressed)
        added = [f + u for f, u in zip(pushed, steered, strict=True)]
        rows, spread, a, multipliers = self.equations.accelerations(q, v, t, added, LOOSE if self.fixed else FLOOR)
        self.rows = rows.labels
        a, multipliers, torques, left, locks = self.pins.added(rows, spread, v, a, multipliers)
        powers = [dot(self.equations.applied(q, v, t), v) + dot(steered, v) + dot(multipliers, rows.speed)]
        for name, torque in torques.items():
            powers[0] = powers[0] + torque * self.pins.turning(self.pins.rough[name], v)
        if pressed:
            bumping = sum((one.touch.normal * one.touch.opening for one in pressed), start=0)
            powers += [bumping, dot(pushed, v) - bumping]
        reactions = self.reactions(rows, q, t, multipliers)
        for name, torque in torques.items():
            i = self.joints.index(name)
            reactions[i] = reactions[i]._replace(moment=torque)
        for one in pressed:
            i = self.joints.index(one.contact.joint)
            added_ = reaction(pose, one.contact, one.touch.normal, one.touch.tangential)
            reactions[i] = Reaction(*(x + d for x, d in zip(reactions[i], added_, strict=True)))
        slopes = [rate for one in pressed for rate in one.rates] + (command.slopes if command else [])
        touches = [one.touch for one in pressed]
        weak = spread.weak(PIVOT) & self.rushes(rows, v)
        firm, wanted = sqrt(spread.least()), self.loop.wanted(t)[0] if self.loop else []
        return Acting(a, multipliers, reactions, touches, slopes, powers, command, wanted, weak, firm, left, locks)

    def rushes(self, rows: ConstraintRows, v: Sequence[Scalar]) -> Scalar:
        """Where bodies move much faster than the drives tell them to: near the end of what a drive can reach."""
        asked: Scalar = 0
        for x in rows.speed:
            asked = asked if is_zero(x) else maximum(asked, abs(x))
        if is_zero(asked):
            return False
        fastest: Scalar = 0.0
        for x in v:
            fastest = maximum(fastest, abs(x))
        return (asked > 0.0) & (fastest > RUSH * asked)

    def reactions(self, rows: ConstraintRows, q: Vector, t: Scalar, multipliers: Sequence[Scalar]) -> list[Reaction]:
        """What the joints do by their rows."""
        lines = self.equations.reactions(rows, q, t)
        return [
            Reaction(*(dot(line, multipliers) for line in lines[3 * i : 3 * i + 3])) for i in range(len(lines) // 3)
        ]

    def acting(self, state: State, often: bool = False) -> Acting:
        """What acts at a state, with contacts open and closed as it says; often: it is asked in every step."""
        state = replace(state, t=self.felt(state.t))
        at = self._at if often and self.inline else self.at
        found: Acting = at(state, self.held.torques if self.held else [])
        return found if self.held is None else replace(found, command=self.held)

    def felt(self, t: Scalar) -> Scalar:
        """The time at which things are felt that may jump at the end of this step."""
        return t if self.last is None else minimum(t, self.last)

    def slope(self, acting: Acting) -> Slope:
        """The slope that goes with what acts."""
        speed = acting.command.speed if acting.command and self.guesses else []
        looked = [] if self.fixed else [*acting.multipliers, *acting.wanted]
        return Slope(acting.accelerations, acting.rates, acting.powers, speed, looked)

    def point(self, state: State, often: bool = False) -> tuple[Point, Acting]:
        """A state with its slope, and what acts there; a controller's model has moved to where it should be."""
        acting = self.acting(state, often)
        known = acting.command.place if acting.command and self.guesses else state.known
        return Point(replace(state, known=known), self.slope(acting)), acting

    # -- onto the constraints
    def _closing(self, t: Scalar, q: Vector, v: Vector) -> tuple[Vector, Vector, Scalar]:
        rows = self.equations.rows(q, v, t)
        lacking = [w - dot(row, v) for w, row in zip(rows.speed, rows.B, strict=True)]
        gap: Scalar = 0.0
        lag: Scalar = 0.0
        for x, w in zip(rows.residual, lacking, strict=True):
            gap, lag = maximum(gap, abs(x)), maximum(lag, abs(w))

        def least() -> tuple[Vector, Vector]:
            spread = self.equations.spread(rows, LOOSE)
            return spread([-x for x in rows.residual])[0], spread(lacking)[0]

        if not self.fixed:
            return *least(), gap
        still = [0.0] * self.n
        return *branch((gap > self.rounded(q)) | (lag > STILL), least, lambda: (still, still)), gap

    def rounded(self, q: Vector) -> Scalar:
        """What rounding leaves open of joints at these places (m or rad)."""
        farthest: Scalar = 1.0
        for i, x in enumerate(q):
            farthest = farthest if i % 3 == 2 else maximum(farthest, abs(x))
        return ROUND_OFF * farthest

    def project(self, state: State) -> tuple[State, Scalar]:
        """The state moved onto the constraints by least change in the mass metric, and what is left open."""
        t, q, v = state.t, state.q, state.v
        shift, kick, gap = self.closing(t, q, v)

        def added(base: Vector, change: Vector) -> Vector:
            return [x + d for x, d in zip(base, change, strict=True)]

        def again() -> tuple[Vector, Vector, Scalar]:
            second, _, _ = self.closing(t, added(q, shift), v)
            there = added(added(q, shift), second)
            _, push, left = self.closing(t, there, v)
            return there, added(v, push), left

        q, v, drift = branch(gap > self.rounded(q), again, lambda: (added(q, shift), added(v, kick), gap))
        return replace(state, q=q, v=v), drift

    # -- inside a step
    def within(self, before: Point, after: Point, h: Scalar, u: Scalar, t: Scalar, bend: Bend) -> State:
        """The state inside a step of length h, at the time t, u of it from 0 to 1; contacts are as at its beginning."""
        a, b = before.state, after.state
        q, v = self.interpolate(u, h, *((one.state.q, one.state.v, one.slope.v) for one in (before, after)))

        def between(part: str, bend: Vector) -> Vector:
            ends = zip(*(getattr(x, part) for x in (a, before.slope, b, after.slope)), bend, strict=True)
            return [hermite(u, h, each[:2], each[2:4], each[4]) for each in ends]

        known = [x + (t - a.t) * rate for x, rate in zip(a.known, before.slope.known, strict=True)]
        return State(t, q, v, between("z", bend[0]), between("w", bend[1]), a.modes, a.approach, known)

    def _interpolate(
        self, u: Scalar, h: Scalar, before: Sequence[Vector], after: Sequence[Vector]
    ) -> tuple[Vector, Vector]:
        first, last = zip(*before, strict=True), zip(*after, strict=True)
        both = [dense(u, h, one, other) for one, other in zip(first, last, strict=True)]
        return [x for x, _ in both], [rate for _, rate in both]

    def pushes(self, acting: Acting) -> Vector:
        """The normal force of each joint in permanent contact; below 0 it would have to pull."""
        found = []
        for name, row in ((name, f"{name}.{joint.pushing}") for name, joint in self.following.items()):
            if row not in self.rows:
                why = "other joints hold it already, so that its contact force is not determined"
                raise InputError(f"joints.{name}: {why}; make one of them loose or another kind of contact")
            found.append(-acting.multipliers[self.rows.index(row)])
        return found
