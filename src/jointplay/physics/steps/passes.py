"""One pass of a rigid step of second order, of any length k, as text that reads like its derivation.

It goes from (t, q, v) to (t + k, q1, v1), with the accelerations a, the forces lam of joints and drives and f of
contacts that the last pass left.

1. Forces and continuous laws act at the middle, q + k/2 v and v + k/2 a.  Without rows the pass is then the leapfrog.
2. What resists rates (dampers, laws) acts on the mean of both ends: M^ = M + k/2 sum of D J^T J.
3. Joints and contacts are taken at the predicted end, q + k v + k^2/2 a.
4. Their impulses shall act along the rows of the middle; from those of the end they differ by half a turn of the rows,
   for which the forces kept stand: -k/2 (B'^T k lam + N'^T k fn + T'^T k ft).
5. Impulses of joints give B v1 = speed; places follow the mean of both rates, moved onto the joints.
6. Closed contacts stay shut, N v1 = 0, with friction in its cone.

A pass of no length is an impact: forces have no time, masses are M, and Newton's rule N v1 = -e N v takes the place of
N v1 = 0.  Why this is of second order is in docs/second_order.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...engine.text import branch, seldom
from ...engine.typing import Matrix, Scalar, Vector
from ...engine.values import sqrt, where
from ...numerics.choice import maximum
from ...numerics.linalg import Pair, dot, is_zero
from ..contact_solver import BACKWARD, FORWARD, OPEN, STICKING, Answer, ContactProblem, either, solve_contacts
from ..contacts import contacts
from ..failures import BLOCKED, UNSOLVED, fail
from ..forces import resistances
from ..loop import Command
from ..motion import PIVOT, Motion
from ..slopes import along, slopes_of
from ..spread import mixed, spread
from ..step import Recent, State, Touch
from .first_order import (
    SHUT,
    VIOLATED,
    ContactRows,
    Ends,
    Landing,
    RigidStep,
    closing,
    combined,
    firmness,
    most,
)

if TYPE_CHECKING:
    from .moreau_jean import MoreauJean
CLOSED = 1e-11  # m or rad: a gap that counts as shut where something strikes
NEAR = 1e-9  # m or rad: a gap that may still be that of a contact which hardly opens
STILL = 1e-9  # m/s or rad/s: what leaves a shut contact more slowly stays; what approaches more slowly is no impact
STIFFEST = 1e-8  # share by which the row of a resistance gives way at least, so that it never is a joint
NOTHING = 1e-30


class Pass:
    """The text of a pass of a step of length h."""

    def __init__(self, stepper: MoreauJean, motion: Motion, now: State, h: Scalar) -> None:
        self.motion, self.equations, self.names, self.now, self.h = motion, motion.equations, motion.names, now, h
        self.project = stepper.projection == "combined"
        self.command: Command | None = None  # what a sampled law says, through the whole step
        self.published = RigidStep(stepper, motion, now, h)  # what both orders have in common is there

    def begin(
        self,
        state: State,
        t: Scalar,
        k: Scalar,
        hit: Vector,
        impact: Scalar,
        learning: Scalar,
        rebounds: Scalar,
        counts: Scalar,
    ) -> None:
        """A pass of length k to the time t.  hit: 1 for contacts that strike at its end, or in it if it is an
        impact; learning: its end is thrown away; rebounds: impacts are not plastic; counts: it may end the run."""
        assert state.recent is not None
        self.state, self.q, self.v, self.recent = state, state.q, state.v, state.recent
        self.t, self.k, self.half, self.hit = t, k, 0.5 * k, hit
        self.impact, self.learning, self.rebounds, self.counts = impact, learning, rebounds, counts

    def go(self) -> Ends:
        """The impulses of the pass, and what they make of it."""
        self.act()
        self.predict()
        self.turn()
        self.join()
        return self.touch()

    def act(self) -> None:
        """Forces, laws and what resists rates, at the middle of the pass."""
        equations, motion, state, half = self.equations, self.motion, self.state, self.half
        at = [x + half * w for x, w in zip(self.q, self.v, strict=True)]
        rates = [w + half * a for w, a in zip(self.v, self.recent.a, strict=True)]
        now = 0.5 * (state.t + self.t)
        self.pushes, self.applied = equations.forces(at, rates, now), equations.applied(at, rates, now)
        both = (dict(zip(self.names, x, strict=True)) for x in (at, rates))
        resisting = [(row, slopes, -1) for row, slopes in resistances(equations.pose(at, now), *both)]
        self.levers: Matrix = []
        self.torques: Vector = []
        if control := motion.loop:
            _, self.levers = control.lines(list(control.control.actuators.values()), at, now)
            if self.command is not None:
                self.torques = self.command.torques
            else:
                own = [x + half * rate for x, rate in zip(state.z, self.recent.slopes, strict=True)]
                self.said = control.command(now, *control.seen(at, rates, now), own, [], state.known)
                self.torques = self.said.torques
                resisting += [
                    (row, slopes, i)
                    for i, (row, slopes) in enumerate(zip(self.levers, slopes_of(self.torques, rates), strict=True))
                ]
        self.resist(resisting)

    def resist(self, resisting: Sequence[tuple[Vector, Vector, int]]) -> None:
        """What resists rates J v by a force of the slope D = |slopes| / |J| in the metric of M^-1 acts on the mean of
        both ends: on one coordinate as more mass, k/2 D J^2; else as a row that gives way, by 2 / (k D).

        Any D >= 0 leaves the step of second order, and half the true slope is enough for it to be stable.
        """
        masses = self.equations.masses()
        self.masses, self.own, self.soft = list(masses), [], []
        for row, slopes, actuator in resisting:
            on = [j for j, x in enumerate(row) if not is_zero(x)]
            if not on or all(map(is_zero, slopes)):
                continue
            size = dot([s * s for s in slopes], [1 / m for m in masses])
            if len(on) == 1:
                mass = self.half * (sqrt(size * masses[on[0]]) * abs(row[on[0]]))
                self.own.append((on[0], mass, row[on[0]], actuator))
                self.masses[on[0]] = self.masses[on[0]] + mass
            else:
                stiff = self.k * sqrt(size * dot([x * x for x in row], [1 / m for m in masses]))
                self.soft.append((row, maximum(2 / maximum(stiff, NOTHING), STIFFEST), actuator))

    def predict(self) -> None:
        """Joints and contacts at the predicted end."""
        k, a = self.k, self.recent.a
        self.ahead = [x + k * (w + self.half * b) for x, w, b in zip(self.q, self.v, a, strict=True)]
        self.onwards = [w + k * b for w, b in zip(self.v, a, strict=True)]
        self.rows = self.equations.rows(self.ahead, self.onwards, self.t)
        self.motion.rows = self.rows.labels
        self.near = ContactRows(self.equations, self.ahead, self.t)

    def turn(self) -> None:
        """What makes impulses act along the rows of the middle: half a turn of the rows, with the forces kept."""
        share, recent, near = -self.half * self.k, self.recent, self.near
        turned: Vector = [0] * len(self.q)
        for bent, force in zip(self.rows.Bdot, recent.multipliers, strict=True):
            turned = [x + b * (share * force) for x, b in zip(turned, bent, strict=True)]
        self.turned, self.rubbing = turned, [0.0] * len(near.gaps)
        if not near.gaps:
            return

        def bend() -> tuple[Vector, Vector]:
            total, rubbing, n = [x + 0.0 for x in turned], [], len(self.q)
            lines = near.lines
            flat = along([x for line in lines for x in line], self.ahead, self.onwards)
            bent = [flat[i : i + n] for i in range(0, len(flat), n)]
            for i, (normal, tangential) in enumerate(zip(recent.normal, recent.tangential, strict=True)):
                for line, force in zip(bent[2 * i : 2 * i + 2], (normal, tangential), strict=True):
                    total = [x + b * (share * force) for x, b in zip(total, line, strict=True)]
                rubbing.append(self.half * dot(bent[2 * i + 1], self.v))
            return total, rubbing

        pressed = either([force > 0 for force in recent.normal])
        self.turned, self.rubbing = branch(pressed, bend, lambda: ([x + 0.0 for x in turned], self.rubbing))

    def join(self) -> None:
        """The rates and the change of place by forces, joints, drives and resistances."""
        k, v, a, rows = self.k, self.v, self.recent.a, self.rows
        pull = [f + x for f, x in zip(self.pushes, self.steered_by(self.torques), strict=True)]
        for j, mass, _, _ in self.own:
            pull[j] = pull[j] + mass * a[j]
        lines = [line for line, _, _ in self.soft]
        shares = [*[0] * len(rows.B), *(share for _, share, _ in self.soft)]
        self.spread = spread([*rows.B, *lines], self.masses, shares)
        both = zip(v, pull, self.turned, self.spread.inverse, strict=True)
        free = [w + (k * f + x) * share for w, f, x, share in both]
        wanted = [w - dot(row, free) for w, row in zip(rows.speed, rows.B, strict=True)]
        gained = [k * b - (f - w) for b, f, w in zip(a, free, v, strict=True)]
        giving = [dot(line, gained) for line in lines]
        given = [x + dot(line, free) for x, line in zip(giving, lines, strict=True)]
        self.smooth, self.called = self.spread.nearest(free, [*rows.speed, *given])
        self.firm = firmness(self.spread) if rows.B else 1.0
        begun = [-(self.half * x) for x in gained]  # q + k/2 (v + free), seen from the predicted end
        if self.project:  # a row on rates has no residual: its positions follow its rates
            each = zip(rows.residual, rows.at_rate, wanted, rows.B, strict=True)
            off = [self.half * w if rate else -(x + dot(row, begun)) for x, rate, w, row in each]
            change, _ = self.spread([*off, *(self.half * x for x in giving)])
        else:
            change = [self.half * (x - w) for x, w in zip(self.smooth, free, strict=True)]
        self.shift = [x + d for x, d in zip(begun, change, strict=True)]

    def steered_by(self, torques: Sequence[Scalar]) -> Vector:
        """The generalised forces of the actuators, along their directions at the middle."""
        return [dot([row[j] for row in self.levers], torques) for j in range(len(self.q))]

    def touch(self) -> Ends:
        """The impulses of closed contacts."""
        near = self.near
        gaps = [gap + dot(n, self.shift) for gap, n in zip(near.gaps, near.normals, strict=True)]
        idle = [Touch(gap, 0.0, 0.0, 0.0, 0.0, OPEN, False, False, 0.0, 0.0, 0.0) for gap in gaps]
        free = Ends(self.smooth, self.shift, self.called, idle, 0.0)
        if not idle:
            return free
        hit = [x > 0.5 for x in self.hit]
        stays = [where(self.rebounds, self.stays(i, dot(n, self.v)), True) for i, n in enumerate(near.normals)]
        active = [
            (mode > OPEN) | (self.impact & (mask | ((gap <= CLOSED) & there)))
            for mode, mask, gap, there in zip(self.state.modes, hit, gaps, stays, strict=True)
        ]
        some = either([a | b for a, b in zip(active, hit, strict=True)])
        found: Ends = branch(some, lambda: self.collide(gaps, active, hit), lambda: free)
        self.apart = [touch.gap for touch in found.touches]
        return found

    def stays(self, i: int, opening: Scalar) -> Scalar:
        """Whether a contact that is shut where something strikes is struck, too: what leaves is not, nor what pushed in
        the last pass and has let go at its end, unless an impact has thrown it back."""
        released = (self.state.modes[i] == OPEN) & (self.recent.normal[i] > 0)
        return where(released, opening < -STILL, opening <= STILL)

    def collide(self, gaps: Vector, active: Vector, hit: Vector) -> Ends:
        """Impulses of active contacts, which stay shut or, in an impact, rebound; what is hit next is closed."""
        near, every, lines, counts = self.near, range(len(gaps)), self.near.lines, self.counts
        responses = [self.spread.impulse(line) for line in lines]
        W: Matrix = [[0] * len(lines) for _ in lines]
        for i, one in enumerate(responses):
            for j in range(i + 1):
                W[i][j] = W[j][i] = dot(one.line, responses[j].change)
        b, old = ([dot(line, rates) for line in lines] for rates in (self.smooth, self.v))
        free_rates = list(b)
        friction, static, bounce = self.published.coefficients(near)
        for i in every:
            if near.contacts[i].tangential is None:  # frictionless: a tangential row that does nothing
                W[2 * i + 1][2 * i + 1], b[2 * i + 1] = 1.0, 0.0
            # Newton's rule, for all that are closed
            b[2 * i] = b[2 * i] + where(self.rebounds & (abs(b[2 * i]) > self.slowest()), bounce[i] * b[2 * i], 0.0)
            free = dot([x * x for x in lines[2 * i]], self.spread.inverse)
            for k in (2 * i, 2 * i + 1):
                W[k][k] = maximum(W[k][k], 1e-3 * PIVOT * free)  # drives may leave it no way at all, or rounding
            blocked = active[i] & (b[2 * i] < 0) & (W[2 * i][2 * i] <= PIVOT * free)
            fail(blocked & counts, BLOCKED, i, -gaps[i])
        smooth = [c.tangential is None for c in near.contacts]
        slips = [where(self.impact, 0.0, x) for x in old[1::2]]
        held = list(self.state.modes)
        for i in (i for i in every if static[i] is not friction[i]):  # what strikes without slip is held by that
            held[i] = where(self.impact & (held[i] == OPEN) & (abs(b[2 * i + 1]) <= STILL), STICKING, held[i])
        problem = ContactProblem(W, b, friction, static, active, held, smooth, slips)
        answer: Answer = solve_contacts(problem)
        p = answer.impulses
        normal = [[W[2 * i][2 * j] for j in every] for i in every]
        opened = [free_rates[2 * i] + dot(W[2 * i], p) for i in every]
        pull = self.hold(normal, opened, active)
        given = [x + pull[j // 2] if j % 2 == 0 and pull else x for j, x in enumerate(p)]
        change = mixed([self.half * x for x in p], [one.change for one in responses])
        left = [gaps[i] + self.half * dot(W[2 * i], p) for i in every]  # before what is hit is closed
        if self.project:
            chosen = [hit[i] | (active[i] & ((p[2 * i] > 0) | (left[i] < 0))) for i in every]
            push = closing(normal, [-gap for gap in left], chosen)
            change = combined(change, push, [one.change for one in responses[::2]])
        touches = []
        for i in every:
            (n, t), (un, ut) = p[2 * i : 2 * i + 2], old[2 * i : 2 * i + 2]
            opening, slip = (free_rates[j] + dot(W[j], given) for j in (2 * i, 2 * i + 1))
            slip = slip if near.contacts[i].tangential is not None else 0.0
            un, ut = (where(self.impact, x, y) for x, y in zip(free_rates[2 * i : 2 * i + 2], (un, ut), strict=True))
            still, shut = self.still(i, W[2 * i][2 * i]), left[i] <= NEAR
            struck = self.impact & (n > 0) & (un < -still)
            # a lasting contact does no work along its normal, and friction works along the tangent of the middle
            lost = where(self.impact, -0.5 * n * (un + opened[i]), 0.0), t * (self.rubbing[i] - 0.5 * (ut + slip))
            if pull:
                lost = lost[0] - 0.5 * pull[i] * (opened[i] + opening), lost[1]
            leaves = where(shut, opening > still, True)
            mode = self.mode(i, active[i], answer.modes[i], n, opening > still, leaves, slip)
            touches.append(Touch(left[i], opening, slip, n, t, mode, struck, struck, un, *lost))
        kick, called = self.spread.after(given, lines, responses)
        rates, place, rows = (
            [x + d for x, d in zip(free, added, strict=True)]
            for free, added in ((self.smooth, kick), (self.shift, self.spread.placed(change)), (self.called, called))
        )
        return Ends(rates, place, rows, touches, answer.violation)

    def slowest(self) -> Scalar:
        """The approach (m/s or rad/s) that has no rebound."""
        return 0.0

    def still(self, i: int, response: Scalar) -> Scalar:
        """The rate of a gap (m/s or rad/s) that counts as none, for its rate by a unit impulse."""
        return STILL

    def hold(self, responses: Matrix, opening: Vector, active: Vector) -> Vector:
        """Impulses that take from contacts what is left of their rates and neglected; none if nothing is."""
        return []

    def mode(
        self, i: int, active: Scalar, found: Scalar, normal: Scalar, opens: Scalar, leaves: Scalar, slip: Scalar
    ) -> Scalar:
        """How a contact goes on: what pushes stays; after an impact also what does not open."""
        before = self.state.modes[i]
        slides = where(slip > 0, FORWARD, BACKWARD)
        resting = where(abs(slip) <= STILL, STICKING, slides)
        pushing = where(normal > 0, found, where(self.waiting(leaves), before, OPEN))
        after = where(opens, OPEN, where(active, where(normal > 0, found, resting), OPEN))
        return where(self.impact, after, where(active, pushing, OPEN))

    def waiting(self, leaves: Scalar) -> Scalar:
        """Whether a contact that does not push is kept, to be seen again in the next pass."""
        return self.learning

    def closed(self, ends: Ends) -> tuple[Vector, Landing]:
        """The gaps where a pass ends, and the place with what joints and contacts leave open there."""
        q = [x + d for x, d in zip(self.ahead, ends.change, strict=True)]
        ahead, self.turning = self.equations.pose(self.ahead, self.t), {}
        for body in self.equations.mechanism.bodies:
            angle = ends.change[self.names.index(f"{body}.angle")]
            self.turning[body] = ahead.turns[body] * Pair(1 - 0.5 * angle * angle, angle)  # a small turn
        pose = self.equations.pose(q, self.t, self.turning)
        gaps = [c.gap for c in contacts(pose)]
        drift, depth = most([abs(x) for x in self.equations.residuals(pose)]), most([-gap for gap in gaps])
        shut = zip(ends.touches, self.hit, gaps, strict=True)
        chosen = [where((touch.mode > OPEN) | (x > 0.5) | (gap < 0), 1.0, 0.0) for touch, x, gap in shut]
        return gaps, Landing(q, chosen, drift, depth)

    def refined(
        self, first: Landing, gaps: Vector, accepted: Scalar
    ) -> tuple[Landing, dict[str, Pair], Vector, Scalar]:
        """The place closed once more where it matters."""
        turns = self.turning
        if not self.project:
            return first, turns, gaps, 0.0

        def again() -> tuple[Landing, dict[str, Pair], Vector]:
            return *self.published.again(self.t, first), [maximum(gap, 0.0) for gap in gaps]

        bad = accepted & (maximum(first.drift, first.depth) > SHUT)
        place, turns, gaps = branch(bad, seldom(again), lambda: (first, turns, [x + 0.0 for x in gaps]))
        return place, turns, gaps, where(bad, 1.0, 0.0)

    def refuse(self, ends: Ends, accepted: Scalar) -> None:
        """End the run where a pass that counts has no solution."""
        if self.near.gaps:
            fail(accepted & (ends.violation > VIOLATED), UNSOLVED, residual=ends.violation)
        if self.motion.loop and self.command is None:
            self.motion.loop.guard(self.said, accepted)

    def moved(self, ends: Ends, place: Landing, gaps: Vector) -> State:
        """The state after the pass, with what acted in it."""
        state, k, control = self.state, self.k, self.motion.loop
        per = where(self.impact, 0.0, 1 / where(self.impact, 1.0, k))
        grown = [w - x for w, x in zip(ends.rates, self.v, strict=True)]
        slopes, z, known = [], state.z, state.known
        if control and self.command is None:
            slopes, reach = self.said.slopes, 0.5 * (k + self.h)
            z = [x + k * rate for x, rate in zip(z, slopes, strict=True)]
            if self.motion.guesses:
                known = [x + reach * w for x, w in zip(self.said.place, self.said.speed, strict=True)]
        works, torques = self.energies_of(ends, grown, per)
        recent = Recent(
            a=[x * per for x in grown],
            multipliers=[x * per for x in ends.rows[: len(self.rows.B)]],
            normal=[touch.normal * per for touch in ends.touches],
            tangential=[touch.tangential * per for touch in ends.touches],
            gap=gaps,
            opening=[dot(n, ends.rates) for n in self.near.normals],
            slopes=slopes,
            torques=torques,
            length=where(self.impact, 0.0, k),
        )
        modes = [touch.mode for touch in ends.touches]
        return replace(state, t=self.t, q=place.q, v=ends.rates, z=z, w=works, modes=modes, known=known, recent=recent)

    def energies_of(self, ends: Ends, grown: Vector, per: Scalar) -> tuple[Vector, Vector]:
        """Work of applied forces, dampers, actuators and drives, what impacts and friction took, and the torques that
        acted: what the law said and what it answered to the change of rates."""
        k, (work, bumped, rubbed) = self.k, self.state.w
        mean = [0.5 * (a + b) for a, b in zip(self.v, ends.rates, strict=True)]
        lag = [x - k * a for x, a in zip(grown, self.recent.a, strict=True)]
        spent, torques = k * dot(self.applied, mean), list(self.torques)
        answers = [(-(mass * lag[j]), mean[j], unit, i) for j, mass, unit, i in self.own]
        soft = zip(self.soft, ends.rows[len(self.rows.B) :], strict=True)
        answers += [(y, dot(row, mean), 1.0, i) for (row, _, i), y in soft]
        for impulse, rate, unit, i in answers:
            spent = spent + impulse * rate
            if i >= 0:
                torques[i] = torques[i] + impulse * per / unit
        spent = spent + k * dot(self.steered_by(self.torques), mean)
        drives = self.equations.mechanism.drives
        for label, row, bent, impulse in zip(self.rows.labels, self.rows.B, self.rows.Bdot, ends.rows, strict=False):
            if self.equations.mechanism.owner(label) in drives:
                spent = spent + impulse * (dot(row, mean) - self.half * dot(bent, self.v))
        for touch in ends.touches:
            bumped, rubbed = bumped + touch.bumped, rubbed + touch.rubbed
        return [work + spent, bumped, rubbed], torques
