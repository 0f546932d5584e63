"""Moreau-Jean time stepping: impacts and friction at velocity level, positions by the theta rule and a projection.

One step of length h (Akhadkar, Acary and Brogliato 2016, combined projection): forces act explicitly on the rates;
joints and contacts are taken at the place that this motion reaches; their impulses together give the new rates; the
coordinates follow the mean of old and new rates, and are moved back onto the joints and closed contacts by the least
change in the mass metric.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...elements.pose import Pose, Spot
from ...engine.text import branch, loop, seldom, subroutine
from ...engine.typing import Matrix, Scalar, Vector
from ...engine.values import sqrt, where
from ...model.clearances import Rigid
from ...numerics.choice import maximum
from ...numerics.linalg import Factor, Pair, dot, is_zero
from ..contact_solver import FINE, OPEN, SOFT, STICKING, Answer, ContactProblem, either, solve_contacts
from ..contacts import contacts, reaction
from ..dynamics import Equations
from ..failures import BLOCKED, UNCLOSED, UNSOLVED, fail
from ..motion import PIVOT, Motion
from ..spread import Spread, mixed
from ..step import Acting, Reaction, State, Step, Touch

if TYPE_CHECKING:
    from .moreau_jean import MoreauJean

SHUT = 5e-12  # m or rad: what a step may leave open before its positions are closed once more
VIOLATED = 1e-6  # of the largest impulse: more is no solution
OPENED = 1e-7  # m or rad: more cannot be closed
ROUNDS = 8  # of closing positions
NEAR = 1e-3  # of pivots: positions in which rows depend on each other are looked for below
ACROSS = 0.1  # of the play: what moves by more in one step may come from the other side


class ContactRows:
    """All contacts at one position, with rows as lists over the coordinates."""

    def __init__(self, equations: Equations, q: Vector, t: Scalar) -> None:
        self.contacts = contacts(equations.pose(q, t))
        self.gaps = [c.gap for c in self.contacts]
        self.normals = [[c.normal.get(name, 0) for name in equations.coordinates] for c in self.contacts]
        self.tangents = [[(c.tangential or {}).get(name, 0) for name in equations.coordinates] for c in self.contacts]

    @property
    def lines(self) -> Matrix:
        """Normal and tangential rows in turn."""
        return [line for pair in zip(self.normals, self.tangents, strict=True) for line in pair]


@dataclass
class Ends:
    """What impulses make of a step: rates, change of place from where the free motion led, impulses of rows."""

    rates: Vector
    change: Vector
    rows: Vector
    touches: list[Touch]
    violation: Scalar


@dataclass
class Found:
    """Impulses of contacts, the change of place that they make with the closing of positions, in the free coordinates,
    and the gaps left."""

    answer: Answer
    change: Vector
    left: Vector


@dataclass
class Landing:
    """A place with what joints and contacts leave open there; chosen: 1 for contacts that are to be closed."""

    q: Vector
    chosen: Vector
    drift: Scalar
    depth: Scalar


class RigidStep:
    """One step of the scheme as text."""

    def __init__(self, stepper: MoreauJean, motion: Motion, now: State, h: Scalar) -> None:
        self.motion, self.equations, self.now, self.h, self.t = motion, motion.equations, now, h, motion.after
        self.theta, self.project = stepper.theta, stepper.projection == "combined"
        self.rounds = 3 if stepper.forces == "midpoint" else 1  # of forces at the middle of the step
        self.names, self.q, self.v = motion.names, now.q, now.v
        self.refine = subroutine(self._refine)

    def step(self) -> Step:
        """The step: free motion, joints, contacts, positions."""
        self.go_freely()
        self.join()
        self.near = ContactRows(self.equations, self.ahead, self.t)
        idle = [Touch(0.0, 0.0, 0.0, 0.0, 0.0, OPEN) for _ in self.near.contacts]
        ends = Ends(self.smooth, self.shift, self.called, idle, 0.0)
        if idle:
            gaps = [gap + dot(n, self.shift) for gap, n in zip(self.near.gaps, self.near.normals, strict=True)]
            free = ends
            ends = branch(either([gap <= 0 for gap in gaps]), lambda: self.collide(gaps), lambda: free)
        place = [x + d for x, d in zip(self.ahead, ends.change, strict=True)]
        found, pose, refined = self.close(place, ends.change, [touch.mode > OPEN for touch in ends.touches])
        end = replace(self.now, q=found.q, v=ends.rates, w=self.energies(ends), modes=[t.mode for t in ends.touches])
        residuals = {"drift": found.drift, "penetration": found.depth}
        counts = {"steps.refined": refined} if self.project else {}
        if idle:
            residuals["violation"] = ends.violation
            counts["steps.unconverged"] = where(ends.violation > FINE, 1.0, 0.0)
        return Step(end, None, self.acting(ends), residuals, counts, pose, self.near.contacts, self.steered)

    # -- the motion without contacts
    def go_freely(self) -> None:
        """The motion by forces alone."""
        equations, h, q, v = self.equations, self.h, self.q, self.v
        self.steered, self.command = [0] * len(self.names), None
        if self.motion.loop:
            control, step = self.motion.loop, self.motion.taken
            self.command = control.held(step, h, self.now.t, q, v, self.motion.clock)
            control.guard(self.command)
            self.steered = control.forces(q, self.now.t, self.command.torques)
        at, rates, now = q, v, self.now.t
        for _ in range(self.rounds):
            forces, self.pushed = equations.forces(at, rates, now), (at, rates, now)
            forces = [f + u for f, u in zip(forces, self.steered, strict=True)]
            free = [x + h * (f / m) for x, f, m in zip(v, forces, equations.masses(), strict=True)]
            rates = [0.5 * (a + b) for a, b in zip(v, free, strict=True)]
            at, now = [x + (0.5 * h) * r for x, r in zip(q, rates, strict=True)], self.now.t + 0.5 * h
        self.free = free
        self.ahead = [x + h * ((1 - self.theta) * a + self.theta * b) for x, a, b in zip(q, v, free, strict=True)]

    def join(self) -> None:
        """The impulses of joints and drives, and the change of place that closes them."""
        h, free = self.h, self.free
        self.rows = self.equations.rows(self.ahead, free, self.t)
        self.motion.rows = self.rows.labels
        self.spread = self.equations.spread(self.rows)
        self.smooth, self.called = self.spread.nearest(free, self.rows.speed)
        if self.project:
            # a row on rates has no residual: its positions follow its rates
            lacking = [w - dot(row, free) for w, row in zip(self.rows.speed, self.rows.B, strict=True)]
            both = zip(self.rows.residual, self.rows.at_rate, lacking, strict=True)
            self.shift, _ = self.spread([(h * self.theta) * w if rate else -x for x, rate, w in both])
        else:
            self.shift = [(h * self.theta) * (b - a) for a, b in zip(free, self.smooth, strict=True)]

    # -- contacts
    def collide(self, gaps: Vector) -> Ends:
        """Impulses of closed contacts; the gaps are those that the motion without contact would reach."""
        near, every = self.near, range(len(gaps))
        lines = near.lines
        responses = [self.spread.impulse(line) for line in lines]
        W: Matrix = [[0] * len(lines) for _ in lines]
        for i, one in enumerate(responses):
            for j in range(i + 1):
                W[i][j] = W[j][i] = dot(one.line, responses[j].change)
        b = [dot(line, self.smooth) for line in lines]
        free_rates = list(b)
        friction, static, bounce = self.coefficients(near)
        before, old = self.now.modes, [dot(line, self.v) for line in lines]
        striking = [
            self.strikes(c, before[i], bounce[i], old[2 * i], old[2 * i + 1]) for i, c in enumerate(near.contacts)
        ]
        impact = either([strikes & (gap <= 0) for strikes, gap in zip(striking, gaps, strict=True)])  # not one far away
        held, blocked = list(before), []  # blocked: joints and drives leave the contact no way
        for i in every:
            if near.contacts[i].tangential is None:  # frictionless: a tangential row that does nothing
                W[2 * i + 1][2 * i + 1], b[2 * i + 1] = 1.0, 0.0
            elif static[i] is not friction[i]:  # what does not slide yet is held by static friction
                slow = abs(old[2 * i + 1]) <= abs(b[2 * i + 1] - old[2 * i + 1])
                held[i] = where((before[i] == OPEN) & slow, STICKING, before[i])
            b[2 * i] = b[2 * i] + where(impact, bounce[i] * old[2 * i], 0.0)  # Newton's rule, for all that are closed
            free = dot([x * x for x in lines[2 * i]], self.spread.inverse)
            for k in (2 * i, 2 * i + 1):
                W[k][k] = maximum(W[k][k], 1e-3 * PIVOT * free)  # drives may leave it no way at all, or rounding
            blocked.append((gaps[i] <= 0) & (b[2 * i] < 0) & (W[2 * i][2 * i] <= PIVOT * free))
        smooth = [c.tangential is None for c in near.contacts]
        problem = ContactProblem(W, b, friction, static, [gap <= 0 for gap in gaps], held, smooth, old[1::2])
        changes = [one.change for one in responses]
        found = self.activated(problem, gaps, changes) if len(gaps) > 1 else self.impulses(problem, gaps, changes)
        p, violation = found.answer.impulses, found.answer.violation
        for i in every:
            fail(blocked[i], BLOCKED, i, -gaps[i])
        fail(violation > VIOLATED, UNSOLVED, residual=violation)
        touches = []
        for i in every:
            (n, t), (un, ut) = p[2 * i : 2 * i + 2], old[2 * i : 2 * i + 2]
            new = (free_rates[2 * i] + dot(W[2 * i], p), free_rates[2 * i + 1] + dot(W[2 * i + 1], p))
            lost = n * (-0.5 * (un + new[0])), t * (-0.5 * (ut + new[1]))
            hits = striking[i] & (n > 0), (before[i] == OPEN) & (n > 0)
            touches.append(Touch(0.0, new[0], new[1], n, t, found.answer.modes[i], *hits, un, *lost))
        kick, called = self.spread.after(p, lines, responses)
        change = self.spread.placed(found.change)
        rates, place, rows = (
            [a + b for a, b in zip(free, added, strict=True)]
            for free, added in ((self.smooth, kick), (self.shift, change), (self.called, called))
        )
        return Ends(rates, place, rows, touches, violation)

    def impulses(self, problem: ContactProblem, gaps: Sequence[Scalar], changes: Sequence[Sequence[Scalar]]) -> Found:
        """The impulses of active contacts, and the positions that they lead to, closed where they push."""
        every, W = range(problem.count), problem.W
        reach = self.h * self.theta
        answer = solve_contacts(problem)
        change = mixed([reach * x for x in answer.impulses], changes)
        left = [gaps[i] + reach * dot(W[2 * i], answer.impulses) for i in every]
        if not self.project:
            return Found(answer, change, left)
        normal = [[W[2 * i][2 * j] for j in every] for i in every]
        chosen = [problem.active[i] & ((answer.impulses[2 * i] > 0) | (left[i] < 0)) for i in every]
        push = closing(normal, [-gap for gap in left], chosen)
        change = combined(change, push, changes[::2])
        left = [x + dot(row, push) for x, row in zip(left, normal, strict=True)]
        return Found(answer, change, left)

    def activated(self, problem: ContactProblem, gaps: Sequence[Scalar], changes: Sequence[Sequence[Scalar]]) -> Found:
        """Repeat with the contacts that others push shut, until none is left out."""

        def once(active: Vector, _: Found) -> tuple[tuple[Vector, Found], Scalar]:
            found = self.impulses(replace(problem, active=active), gaps, changes)
            shut = [~a & (left < 0) for a, left in zip(active, found.left, strict=True)]
            return ([a | b for a, b in zip(active, shut, strict=True)], found), either(shut)

        count = problem.count
        nothing = Found(Answer([0.0] * (2 * count), [0.0] * count, 0.0), [0.0] * len(changes[0]), [0.0] * count)
        (_, found), _ = loop((problem.active, nothing), once, count)
        return found

    def strikes(self, c: Spot, before: Scalar, bounce: Scalar, approach: Scalar, slip: Scalar) -> Scalar:
        """Where a contact is struck: it was open and approaches, or it comes from the other side of its play, so fast
        that it crosses a good part of it in this step.

        A journal that slides along its bearing approaches it in every step by the curve it runs through; what rebounds
        no faster than that would keep up does not count.  This limit vanishes with the step.
        """
        if c.tangential is None or c.play is None:
            return (approach < 0) & (before == OPEN)
        bent = self.h / c.play
        struck = (approach < 0) & ((before == OPEN) | (-approach * bent > ACROSS))
        if c.place is None:
            return struck
        least = where(bounce < 0.8, (1 + bounce) / (1 - bounce), 10.0) * bent
        return struck & (-approach > least * (slip * slip))

    def coefficients(self, near: ContactRows) -> tuple[Vector, Vector, Vector]:
        """Friction, static friction and restitution of each contact."""
        numbers, joints = self.equations.numbers, self.equations.mechanism.loose(Rigid)
        friction, static, bounce = [], [], []
        for c in near.contacts:
            rough = c.tangential is not None
            friction.append(numbers(f"{c.joint}.friction") if rough else 0.0)
            own = joints[c.joint].contact if rough else None
            given = isinstance(own, Rigid) and own.static_friction is not None
            static.append(numbers(f"{c.joint}.static_friction") if given else friction[-1])
            bounce.append(numbers(c.restitution))
        return friction, static, bounce

    # -- positions
    def close(self, q: Vector, change: Vector, closed: Vector) -> tuple[Landing, Pose, Scalar]:
        """The place after a look at what joints and contacts leave open there; closed once more where it matters, and
        whether it was."""
        ahead, turns = self.equations.pose(self.ahead, self.t), {}
        for body in self.equations.mechanism.bodies:
            angle = change[self.names.index(f"{body}.angle")]
            turns[body] = ahead.turns[body] * Pair(1 - 0.5 * angle * angle, angle)  # a small turn, to third order
        pose = self.equations.pose(q, self.t, turns)
        gaps = [c.gap for c in contacts(pose)]
        drift, depth = most([abs(x) for x in self.equations.residuals(pose)]), most([-gap for gap in gaps])
        chosen = [where(mask | (gap < 0), 1.0, 0.0) for mask, gap in zip(closed, gaps, strict=True)]
        first = Landing(q, chosen, drift, depth)
        if not self.project:
            return first, pose, 0.0

        bad = maximum(drift, depth) > SHUT
        place, turns = branch(bad, seldom(lambda: self.again(self.t, first)), lambda: (first, turns))
        return place, self.equations.pose(place.q, self.t, turns), where(bad, 1.0, 0.0)

    def again(self, t: Scalar, first: Landing) -> tuple[Landing, dict[str, Pair]]:
        """The place moved onto joints and chosen contacts until they are shut, and how its bodies are turned."""

        def once(place: Landing) -> tuple[Landing, Scalar]:
            found = self.refine(t, place.q, place.chosen)
            return found, maximum(found.drift, found.depth) > SHUT

        found, _ = loop(first, once, ROUNDS)
        worst = maximum(found.drift, found.depth)
        fail(worst > OPENED, UNCLOSED, residual=worst)
        turned = self.equations.pose(found.q, t).turns
        return found, {body: turned[body] for body in self.equations.mechanism.bodies}

    def _refine(self, t: Scalar, q: Vector, chosen: Vector) -> Landing:
        """One Newton step of the positions onto joints and chosen contacts; contacts that it shuts are chosen next."""
        rows, near = self.equations.rows(q, [0] * len(q), t), ContactRows(self.equations, q, t)
        spread = self.equations.spread(rows)
        change, _ = spread([-x for x in rows.residual])
        if near.gaps:
            changes, _ = zip(*map(spread.response, near.normals), strict=True)
            W = [[dot(line, other) for other in changes] for line in near.normals]
            wanted = [-(gap + dot(line, change)) for gap, line in zip(near.gaps, near.normals, strict=True)]
            change = combined(change, closing(W, wanted, [x > 0.5 for x in chosen]), changes)
        place = [x + d for x, d in zip(q, change, strict=True)]
        pose = self.equations.pose(place, t)
        gaps = [c.gap for c in contacts(pose)]
        chosen = [where((x > 0.5) | (gap < 0), 1.0, 0.0) for x, gap in zip(chosen, gaps, strict=True)]
        drift = most([abs(x) for x in self.equations.residuals(pose)])
        return Landing(place, chosen, drift, most([-gap for gap in gaps]))

    # -- what acted
    def energies(self, ends: Ends) -> Vector:
        """Work of applied forces, actuators and drives so far, and what impacts and friction took."""
        equations, (work, bumped, rubbed) = self.equations, self.now.w
        mean = [0.5 * (a + b) for a, b in zip(self.v, ends.rates, strict=True)]
        spent = self.h * (dot(equations.applied(*self.pushed), mean) + dot(self.steered, mean))
        for label, row, impulse in zip(self.rows.labels, self.rows.B, ends.rows, strict=True):
            if equations.mechanism.owner(label) in equations.mechanism.drives:
                spent = spent + impulse * dot(row, mean)
        for touch in ends.touches:
            bumped, rubbed = bumped + touch.bumped, rubbed + touch.rubbed
        return [work + spent, bumped, rubbed]

    def acting(self, ends: Ends) -> Acting:
        """The impulses of the step."""
        reactions = self.motion.reactions(self.rows, self.ahead, self.t, ends.rows)
        ahead = self.equations.pose(self.ahead, self.t)
        for touch, c in zip(ends.touches, self.near.contacts, strict=True):
            i = self.motion.joints.index(c.joint)
            added = reaction(ahead, c, touch.normal, touch.tangential)
            reactions[i] = Reaction(*(x + d for x, d in zip(reactions[i], added, strict=True)))
        firm = firmness(self.spread) if self.rows.B else 1.0
        return Acting([], ends.rows, reactions, ends.touches, command=self.command, over=self.h, firm=firm)


def firmness(spread: Spread) -> Scalar:
    """How far rows are from depending on each other, from 1 down to 0; 1 where they are far from it."""
    found: Scalar = branch(spread.weak(NEAR), seldom(lambda: sqrt(spread.least())), lambda: 1.0)
    return found


def combined(base: Sequence[Scalar], weights: Sequence[Scalar], changes: Sequence[Sequence[Scalar]]) -> Vector:
    """base + sum of weight times change."""
    result = list(base)
    for weight, change in zip(weights, changes, strict=True):
        result = [x + weight * d for x, d in zip(result, change, strict=True)]
    return result


def closing(W: Matrix, wanted: Vector, chosen: Vector) -> Vector:
    """Multipliers that open the chosen gaps by what is wanted, for the responses W of the gaps."""
    chosen = [False if is_zero(W[i][i]) else one for i, one in enumerate(chosen)]  # what cannot move cannot be opened
    if len(wanted) == 1:
        return [0.0 if is_zero(W[0][0]) else where(chosen[0], wanted[0] * (1 / W[0][0]), 0.0)]
    matrix = [[where(chosen[i] & chosen[j], w, 0.0) for j, w in enumerate(row)] for i, row in enumerate(W)]
    for i, row in enumerate(W):
        matrix[i][i] = where(chosen[i], row[i] * (1 + SOFT), 1.0)
    return Factor(matrix).solve([where(mask, x, 0.0) for mask, x in zip(chosen, wanted, strict=True)])


def most(values: Sequence[Scalar]) -> Scalar:
    """The largest of several values, at least 0."""
    result: Scalar = 0.0
    for x in values:
        result = where(x > result, x, result)
    return result
