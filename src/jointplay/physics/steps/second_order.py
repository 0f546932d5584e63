"""Rigid contact of second order: a step that uses what acted in the one before, and is split where something strikes.

A pass of length k goes from (t, q, v) to (t + k, q1, v1).  Kept from the last pass without an impact are the
accelerations a, the forces lam of joints and drives and f of contacts.  Forces and continuous laws act at the middle,
q + k/2 v and v + k/2 a; joints and contacts are taken at the predicted end q + k v + k^2/2 a; there their impulses act
along rows that differ from those of the middle by half a turn of the pass, which the forces kept make good.  What
resists rates (dampers, laws) acts as an implicit mean of both ends.  Without rows this is the leapfrog.

A step is a pass, unless an open contact would end in penetration.  Then a pass leads to the earliest impact; the impact
itself is a pass of no length, with Newton's rule; one pass more, whose end is thrown away, learns what acts after the
jump; and the rest of the step is tried again.  A run begins with the last three of these.  See docs/second_order.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...engine.derivatives import derivative, tangents
from ...engine.text import SINGULAR_PIVOT, branch, loop, memory, stop
from ...engine.trees import mapped
from ...engine.values import TraceError, Value, sqrt, where
from ...numerics.choice import maximum, minimum
from ...numerics.linalg import Pair, dot, is_zero
from ..contact_solver import FINE, OPEN, STICKING, Answer, Problem, either, solve
from ..contacts import contacts, reaction
from ..control import Command
from ..dynamics import Spread
from ..failures import BLOCKED, UNCLOSED, UNSOLVED, fail
from ..forces import resistances
from ..motion import PIVOT
from ..step import Acting, Reaction, Recent, State, Step, Touch
from .moreau_jean import OPENED, ROUNDS, SHUT, VIOLATED, Place, Rows, Scheme, closing, combined, most

IMPACT, LEARN, TRY, GO = 0.0, 1.0, 2.0, 3.0  # what a pass is for
BOUNCES = 6  # impacts in a step; what strikes after them rests
IMPACTS = 12  # in a step at most; what is open still is moved out of penetration, and strikes in the next step
PASSES = 3 + 4 * IMPACTS
DEEP = 1e-12  # m or rad: an open contact that ends deeper has been struck
CLOSED = 1e-11  # m or rad: a gap that counts as shut where something strikes
STILL = 1e-9  # m/s or rad/s: what leaves a shut contact more slowly stays; what approaches more slowly is no impact
TOGETHER = 1e-3  # of the step: impacts that lie so near strike at once
SHORTEST = 1e-9  # of the step
STIFFEST = 1e-8  # share by which the row of a resistance gives way at least, so that it never is a joint
NOTHING = 1e-30


@dataclass
class Ends:
    """What impulses make of a pass: rates, change of place from the predicted end, impulses of rows, contacts."""

    rates: list[Any]
    change: list[Any]
    rows: list[Any]
    touches: list[Touch]
    violation: Any


@dataclass
class Deeds:
    """What a step did, or what acts where it ends: accelerations, rows, joints, contacts, actuators."""

    accelerations: list[Any]
    multipliers: list[Any]
    reactions: list[Reaction]
    touches: list[Touch]
    torques: list[Any]


@dataclass
class Going:
    """Where a step stands between two passes."""

    state: State
    turns: dict[str, Pair]  # cosine and sine of the bodies' angles there
    aim: Any  # what the next pass is for
    k: Any  # its length (s)
    rest: Any  # what is left of the step (s)
    strikes: Any  # how many impacts it had
    hit: list[Any]  # 1 for contacts that strike next
    did: Deeds  # impulses of the step, of its impacts if it had some
    shown: Deeds  # forces where it ends
    watched: dict[str, Any]
    residuals: dict[str, Any]
    refined: Any


class SecondOrder(Scheme):
    """One step of second order as text."""

    def step(self) -> Step:
        """The step: passes until nothing is left of it."""
        motion, control = self.motion, self.motion.loop
        self.whole, self.end, self.command = self.h, motion.after, None
        if control and motion.digital:
            self.command = control.held(motion.taken, self.h, self.now.t, self.q, self.v, motion.clock)
            control.guard(self.command)
        known = memory("steps.known", False)
        going, _ = loop(self.beginning(known.value), self.once, PASSES)
        known.value = going.aim == TRY  # a step that ends in an impact leaves nothing to go by
        pose = self.equations.pose(going.state.q, self.end, going.turns)
        did, shown = (self.acting(deeds, going) for deeds in (going.did, going.shown))
        counts = {"steps.refined": going.refined} if self.project else {}
        if motion.labels:
            counts["steps.unconverged"] = where(going.residuals["violation"] > FINE, 1.0, 0.0)
        steered = control.forces(self.q, self.now.t, did.command.torques) if control and did.command else []
        return Step(
            going.state,
            None,
            replace(did, over=self.h),
            going.residuals,
            counts,
            pose,
            contacts(pose),
            steered,
            shown=shown,
        )

    def beginning(self, known: Any) -> Going:
        """Before the first pass: the whole step is tried, or what acts is learnt first."""
        motion, none = self.motion, [0.0] * len(self.motion.labels)
        touches = [Touch(0.0, 0.0, 0.0, 0.0, 0.0, OPEN, False, False, 0.0, 0.0, 0.0) for _ in none]
        reactions = [Reaction(0.0, 0.0, 0.0) for _ in motion.joints]
        torques = [0.0] * len(motion.loop.control.actuators) if motion.loop else []
        idle = Deeds([0.0] * motion.n, [0.0] * len(motion.row_labels), reactions, touches, torques)
        sizes = {"drift": 0.0, "penetration": 0.0} | ({"violation": 0.0} if none else {})
        watched = dict.fromkeys(motion.loop.watched if motion.loop and not motion.digital else (), 0.0)
        turns = {body: Pair(1.0, 0.0) for body in self.equations.mechanism.bodies}
        aim, k = where(known, TRY, IMPACT), where(known, self.h, 0.0)
        return Going(self.now, turns, aim, k, self.h, 0.0, none, idle, idle, watched, sizes, 0.0)

    def acting(self, deeds: Deeds, going: Going) -> Acting:
        """What a step did or shows, for the record."""
        command = self.command
        if self.motion.loop and command is None:
            place = going.state.known
            command = Command(deeds.torques, [], [], going.watched, place, place, 0.0, 0.0, False)
        return Acting(deeds.accelerations, deeds.multipliers, deeds.reactions, deeds.touches, command=command)

    # -- one pass
    def once(self, going: Going) -> tuple[Going, Any]:
        """One pass, and whether another is needed."""
        self.going, self.state, self.k, aim = going, going.state, going.k, going.aim
        self.q, self.v, self.half = self.state.q, self.state.v, 0.5 * going.k
        self.recent = self.state.recent
        self.impact, self.tries = aim == IMPACT, aim == TRY
        self.t = self.end - (going.rest - self.k)
        self.act()
        self.predict()
        self.turn()
        self.join()
        ends = self.touch()
        self.place, gaps, gone = self.closed(ends)
        deep = [self.sinks(i, gap) for i, gap in enumerate(gaps)]
        split = (self.tries & either(deep) & (going.strikes < IMPACTS)) if deep else False
        accepted = (aim != LEARN) & ~split if deep else aim != LEARN
        self.refuse(ends, accepted)
        gone, turns, gaps, refined = self.refined(gone, gaps, accepted)
        residuals = {"drift": gone.drift, "penetration": gone.depth}
        if deep:
            residuals["violation"] = ends.violation
        ahead = replace(
            going,
            state=self.moved(ends, gone, gaps),
            turns=turns,
            residuals=mapped(maximum, going.residuals, residuals),
            refined=maximum(going.refined, refined),
        )
        if self.motion.loop and not self.motion.digital:
            ahead = replace(ahead, watched=self.said.watched)
        done = accepted & self.tries
        return branch(done, lambda: (self.finished(ahead, ends), False), lambda: self.onward(ahead, ends, deep, gaps))

    def act(self) -> None:
        """Forces, laws and what resists rates, at the middle of the pass."""
        equations, motion, state, half = self.equations, self.motion, self.state, self.half
        at = [x + half * w for x, w in zip(self.q, self.v, strict=True)]
        rates = [w + half * a for w, a in zip(self.v, self.recent.a, strict=True)]
        now = 0.5 * (state.t + self.t)
        self.pushes, self.applied = equations.forces(at, rates, now), equations.applied(at, rates, now)
        both = (dict(zip(self.names, x, strict=True)) for x in (at, rates))
        resisting = [(row, slopes, -1) for row, slopes in resistances(equations.pose(at, now), *both)]
        self.levers: list[list[Any]] = []
        self.torques: list[Any] = []
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

    def resist(self, resisting: Sequence[tuple[list[Any], list[Any], int]]) -> None:
        """What resists rates J v by a force of the slope D = |slopes| / |J| in the metric of M^-1 acts on the mean of
        both ends: on one coordinate as more mass, k/2 D J^2; else as a row that gives way, by 2 / (k D).

        Any D >= 0 leaves the step of second order, and half the true slope is enough for it to be stable.
        """
        masses = self.equations.masses()
        self.masses, self.own, self.soft = list(masses), [], []  # type: ignore[var-annotated]
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
        self.near = Rows(self.equations, self.ahead, self.t)

    def turn(self) -> None:
        """What makes impulses act along the rows of the middle: half a turn of the rows, with the forces kept."""
        share, recent, near = -self.half * self.k, self.recent, self.near
        turned: list[Any] = [0] * len(self.q)
        for bent, force in zip(self.rows.Bdot, recent.multipliers, strict=True):
            turned = [x + b * (share * force) for x, b in zip(turned, bent, strict=True)]
        self.turned, self.rubbing = turned, [0.0] * len(near.gaps)
        if not near.gaps:
            return

        def bend() -> tuple[list[Any], list[Any]]:
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
        both = zip(v, pull, self.turned, self.masses, strict=True)
        free = [w + (k * f + x) / m for w, f, x, m in both]
        lines = [line for line, _, _ in self.soft]
        self.spread = Spread([*rows.B, *lines], self.masses, [*[0] * len(rows.B), *(share for _, share, _ in self.soft)])
        wanted = [w - dot(row, free) for w, row in zip(rows.speed, rows.B, strict=True)]
        gained = [k * b - (f - w) for b, f, w in zip(a, free, v, strict=True)]
        giving = [dot(line, gained) for line in lines]
        kick, self.called = self.spread([*wanted, *giving])
        if rows.B:
            stop(self.spread.weak(PIVOT), SINGULAR_PIVOT)
        self.smooth = [x + d for x, d in zip(free, kick, strict=True)]
        begun = [x + self.half * (w + f) - y for x, w, f, y in zip(self.q, v, free, self.ahead, strict=True)]
        if self.project:  # a row on rates has no residual: its positions follow its rates
            each = zip(rows.residual, rows.at_rate, wanted, rows.B, strict=True)
            off = [self.half * w if rate else -(x + dot(row, begun)) for x, rate, w, row in each]
            change, _ = self.spread([*off, *(self.half * x for x in giving)])
        else:
            change = [self.half * x for x in kick]
        self.shift = [x + d for x, d in zip(begun, change, strict=True)]

    def steered_by(self, torques: Sequence[Any]) -> list[Any]:
        """The generalised forces of the actuators, along their directions at the middle."""
        return [dot([row[j] for row in self.levers], torques) for j in range(len(self.q))]

    # -- contacts
    def touch(self) -> Ends:
        """The impulses of closed contacts."""
        near = self.near
        idle = [Touch(0.0, 0.0, 0.0, 0.0, 0.0, OPEN, False, False, 0.0, 0.0, 0.0) for _ in near.gaps]
        free = Ends(self.smooth, self.shift, self.called, idle, 0.0)
        if not idle:
            return free
        hit = [x > 0.5 for x in self.going.hit]
        gaps = [gap + dot(n, self.shift) for gap, n in zip(near.gaps, near.normals, strict=True)]
        active = [
            (mode > OPEN) | (self.impact & (mask | (gap <= CLOSED)))
            for mode, mask, gap in zip(self.state.modes, hit, gaps, strict=True)
        ]
        some = either([a | b for a, b in zip(active, hit, strict=True)])
        found: Ends = branch(some, lambda: self.collide(gaps, active, hit), lambda: free)
        return found

    def collide(self, gaps: list[Any], active: list[Any], hit: list[Any]) -> Ends:
        """Impulses of active contacts, which stay shut or, in an impact, rebound; those that are hit next are closed."""
        near, every, lines, accepted = self.near, range(len(gaps)), self.near.lines, self.going.aim != LEARN
        changes, called = zip(*map(self.spread.response, lines), strict=True)
        W: list[list[Any]] = [[0] * len(lines) for _ in lines]
        for i, line in enumerate(lines):
            for j in range(i + 1):
                W[i][j] = W[j][i] = dot(line, changes[j])
        b, old = ([dot(line, rates) for line in lines] for rates in (self.smooth, self.v))
        free_rates = list(b)
        friction, static, bounce = self.coefficients()
        rebounds = self.impact & (self.going.strikes <= BOUNCES)
        for i in every:
            if near.contacts[i].tangential is None:  # frictionless: a tangential row that does nothing
                W[2 * i + 1][2 * i + 1], b[2 * i + 1] = 1.0, 0.0
            b[2 * i] = b[2 * i] + where(rebounds, bounce[i] * b[2 * i], 0.0)  # Newton's rule, for all that are closed
            free = dot([x * x for x in lines[2 * i]], self.spread.inverse)
            blocked = active[i] & (b[2 * i] < 0) & (W[2 * i][2 * i] <= PIVOT * free)
            fail(blocked & accepted, BLOCKED, i, -gaps[i])
        smooth = [c.tangential is None for c in near.contacts]
        answer: Answer = solve(Problem(W, b, friction, static, active, self.state.modes, smooth))
        p = answer.impulses
        change = combined(self.shift, [self.half * x for x in p], changes)
        if self.project:
            normal = [[W[2 * i][2 * j] for j in every] for i in every]
            left = [gaps[i] + self.half * dot(W[2 * i], p) for i in every]
            chosen = [hit[i] | (active[i] & ((p[2 * i] > 0) | (left[i] < 0))) for i in every]
            push = closing(normal, [-gap for gap in left], chosen)
            change = combined(change, push, [changes[2 * i] for i in every])
        touches = []
        for i in every:
            (n, t), (un, ut) = p[2 * i : 2 * i + 2], old[2 * i : 2 * i + 2]
            opening, slip = (free_rates[j] + dot(W[j], p) for j in (2 * i, 2 * i + 1))
            slip = slip if near.contacts[i].tangential is not None else 0.0
            un, ut = (where(self.impact, x, y) for x, y in zip(free_rates[2 * i : 2 * i + 2], (un, ut), strict=True))
            struck = self.impact & (n > 0) & (un < -STILL)
            # a lasting contact does no work along its normal, and friction works along the tangent of the middle
            lost = where(self.impact, -0.5 * n * (un + opening), 0.0), t * (self.rubbing[i] - 0.5 * (ut + slip))
            mode = self.mode(i, active[i], answer.modes[i], n, opening, slip)
            touches.append(Touch(0.0, opening, slip, n, t, mode, struck, struck, un, *lost))
        rates, rows = combined(self.smooth, p, changes), combined(self.called, p, called)
        return Ends(rates, change, rows, touches, answer.violation)

    def mode(self, i: int, active: Any, found: Any, normal: Any, opening: Any, slip: Any) -> Any:
        """How a contact goes on: what pushes stays; after an impact also what does not leave."""
        before = self.state.modes[i]
        slides = where(slip > 0, 1.0, 2.0)
        resting = where(abs(slip) <= STILL, STICKING, slides)
        pushing = where(normal > 0, found, where(self.going.aim == LEARN, before, OPEN))
        after = where(active & (opening <= STILL), where(normal > 0, found, resting), OPEN)
        return where(self.impact, after, where(active, pushing, OPEN))

    def sinks(self, i: int, gap: Any) -> Any:
        """Where an open contact ends in penetration."""
        return (self.state.modes[i] == OPEN) & (gap < minimum(self.recent.gap[i], 0.0) - DEEP)

    def meeting(self, i: int, gap: Any) -> Any:
        """When a contact that ends with this gap met: the root of the parabola through its gap and rate at the
        beginning."""
        begin, rate, k = maximum(self.recent.gap[i], 0.0), self.recent.opening[i], self.k
        bend = (gap - begin - rate * k) / (k * k)
        width = sqrt(maximum(rate * rate - 4 * bend * begin, 0.0))
        falling = 2 * begin / maximum(width - rate, NOTHING)
        rising = (rate + width) / maximum(-2 * bend, NOTHING)
        return minimum(maximum(where(rate > 0, rising, falling), SHORTEST * self.whole), k)

    # -- positions
    def closed(self, ends: Ends) -> tuple[list[Any], list[Any], Place]:
        """The place that a pass reaches, the gaps there, and what joints and contacts leave open."""
        q = [x + d for x, d in zip(self.ahead, ends.change, strict=True)]
        ahead, self.turning = self.equations.pose(self.ahead, self.t), {}
        for body in self.equations.mechanism.bodies:
            angle = ends.change[self.names.index(f"{body}.angle")]
            self.turning[body] = ahead.turns[body] * Pair(1 - 0.5 * angle * angle, angle)  # a small turn
        pose = self.equations.pose(q, self.t, self.turning)
        gaps = [c.gap for c in contacts(pose)]
        drift, depth = most([abs(x) for x in self.equations.residuals(pose)]), most([-gap for gap in gaps])
        shut = zip(ends.touches, self.going.hit, gaps, strict=True)
        chosen = [where((touch.mode > OPEN) | (x > 0.5) | (gap < 0), 1.0, 0.0) for touch, x, gap in shut]
        return q, gaps, Place(q, chosen, drift, depth)

    def refined(self, first: Place, gaps: list[Any], accepted: Any) -> tuple[Place, dict[str, Pair], list[Any], Any]:
        """The place closed once more where it matters."""
        turns = self.turning
        if not self.project:
            return first, turns, gaps, 0.0

        def again() -> tuple[Place, dict[str, Pair], list[Any]]:
            def once(place: Place) -> tuple[Place, Any]:
                found = self.refine(self.t, place.q, place.chosen)
                return found, maximum(found.drift, found.depth) > SHUT

            found, _ = loop(first, once, ROUNDS)
            worst = maximum(found.drift, found.depth)
            fail(worst > OPENED, UNCLOSED, residual=worst)
            turned = self.equations.pose(found.q, self.t).turns
            return found, {body: turned[body] for body in turns}, [maximum(gap, 0.0) for gap in gaps]

        bad = accepted & (maximum(first.drift, first.depth) > SHUT)
        place, turns, gaps = branch(bad, again, lambda: (first, turns, [x + 0.0 for x in gaps]))
        return place, turns, gaps, where(bad, 1.0, 0.0)

    # -- what a pass leaves
    def refuse(self, ends: Ends, accepted: Any) -> None:
        """End the run where a pass that counts has no solution."""
        if self.near.gaps:
            fail(accepted & (ends.violation > VIOLATED), UNSOLVED, residual=ends.violation)
        if self.motion.loop and self.command is None:
            self.motion.loop.guard(self.said, accepted)

    def moved(self, ends: Ends, place: Place, gaps: list[Any]) -> State:
        """The state after the pass, with what acted in it."""
        state, k, control = self.state, self.k, self.motion.loop
        per = where(self.impact, 0.0, 1 / where(self.impact, 1.0, k))
        grown = [w - x for w, x in zip(ends.rates, self.v, strict=True)]
        slopes, z, known = [], state.z, state.known
        if control and self.command is None:
            slopes, reach = self.said.slopes, 0.5 * (k + self.whole)
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
        return replace(
            state, t=self.t, q=place.q, v=ends.rates, z=z, w=works, modes=modes, known=known, recent=recent
        )

    def energies_of(self, ends: Ends, grown: list[Any], per: Any) -> tuple[list[Any], list[Any]]:
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

    def deeds(self, acted: Recent, touches: list[Touch]) -> Deeds:
        """What accelerations, multipliers, contact forces and torques do at the joints, at the end of the pass."""
        reactions = self.motion.reactions(self.rows, self.ahead, self.t, acted.multipliers)
        ahead = self.equations.pose(self.ahead, self.t)
        shown = []
        for touch, c, n, t in zip(touches, self.near.contacts, acted.normal, acted.tangential, strict=True):
            i = self.motion.joints.index(c.joint)
            added = reaction(ahead, c, n, t)
            reactions[i] = Reaction(*(x + d for x, d in zip(reactions[i], added, strict=True)))
            shown.append(replace(touch, normal=n, tangential=t))
        return Deeds(acted.a, acted.multipliers, reactions, shown, acted.torques)

    def finished(self, ahead: Going, ends: Ends) -> Going:
        """The step is done: its impulses, and forces at its end from this pass and the last."""
        old, new, did = self.recent, ahead.state.recent, self.going.did
        assert old is not None and new is not None
        share = where(old.length > 0, self.k / (self.k + old.length), 0.0)
        struck: Any = False
        for i, touch in enumerate(ends.touches):
            share = where(self.state.modes[i] == touch.mode, share, 0.0)
            struck = struck | did.touches[i].closes
        now = mapped(lambda x, y: x + share * (x - y), new, old)
        now = replace(now, normal=[maximum(x, 0.0) for x in now.normal])
        touches = [replace(a, struck=False, closes=b.closes) for a, b in zip(ends.touches, did.touches, strict=True)]
        shown = self.deeds(now, touches)
        lasting = self.deeds(mapped(lambda x: x * self.k, new), touches)
        lasting = replace(lasting, torques=new.torques)
        if ends.touches:
            kept = [replace(a, normal=b.normal, tangential=b.tangential) for a, b in zip(touches, did.touches, strict=True)]
            kept_did = replace(did, touches=kept, torques=new.torques)
            lasting = mapped(lambda x, y: where(struck, x, y), kept_did, lasting)
        return replace(ahead, did=lasting, shown=shown)

    def onward(self, ahead: Going, ends: Ends, deep: list[Any], gaps: list[Any]) -> tuple[Going, Any]:
        """What follows a pass that does not end the step."""
        going, h = self.going, self.whole
        impact, goes, learns = self.impact, going.aim == GO, going.aim == LEARN
        moves = impact | goes
        old, new = going.state, ahead.state
        assert old.recent is not None and new.recent is not None
        learnt = replace(old, modes=new.modes, recent=replace(new.recent, gap=old.recent.gap, opening=old.recent.opening))
        learnt = replace(learnt, recent=replace(learnt.recent, length=0.0 * going.k))
        kept = choose(moves, new, choose(learns, learnt, old))
        rest = where(goes, going.rest - going.k, going.rest)
        over = impact & (rest <= SHORTEST * h)
        k, hit = where(learns, rest, maximum(rest, TOGETHER * h)), going.hit
        did, shown = going.did, going.shown
        if deep:
            met = [where(sunk, self.meeting(i, gaps[i]), going.k) for i, sunk in enumerate(deep)]
            first = met[0]
            for x in met[1:]:
                first = minimum(first, x)
            struck = [where(sunk & (x <= first + TOGETHER * h), 1.0, 0.0) for sunk, x in zip(deep, met, strict=True)]
            hit = [where(self.tries, x, where(goes, y, 0.0)) for x, y in zip(struck, hit, strict=True)]
            k = where(self.tries, first, where(goes, 0.0, k))
            did = self.noted(ends)
            shown = choose(goes, self.deeds(new.recent, ends.touches), shown)
        aim = where(impact, LEARN, where(learns, TRY, where(goes, IMPACT, GO)))
        aim = where(over, IMPACT, aim)
        self.begun()
        base = choose(moves, replace(ahead, did=did, shown=shown), replace(going, did=did, shown=shown))
        strikes = going.strikes + where(goes, 1.0, 0.0)
        after = replace(base, state=kept, aim=aim, k=k, rest=rest, strikes=strikes, hit=hit)
        return after, ~over

    def noted(self, ends: Ends) -> Deeds:
        """The impulses of the step's impacts so far; this one is written down."""
        did, struck = self.going.did, either([touch.struck for touch in ends.touches])
        record = self.motion.record
        branch(struck, lambda: record.impacts(ends.touches, self.near.contacts, self.t), lambda: None)
        state = self.recent
        assert state is not None
        jump = replace(
            state,
            multipliers=ends.rows[: len(self.rows.B)],
            normal=[touch.normal for touch in ends.touches],
            tangential=[touch.tangential for touch in ends.touches],
        )
        new = self.deeds(jump, ends.touches)
        added = mapped(lambda x, y: x + y, replace(new, touches=[]), replace(did, touches=[]))
        touches = [
            replace(a, normal=a.normal + b.normal, tangential=a.tangential + b.tangential, closes=a.closes | b.closes)
            for a, b in zip(ends.touches, did.touches, strict=True)
        ]
        return choose(struck, replace(added, touches=touches), did)

    def begun(self) -> None:
        """Write down what a continuous law says first: the first pass has no length."""
        if self.motion.loop is None or self.command is not None:
            return
        said, first = self.said, self.impact & (self.motion.taken == 0) & (self.going.strikes == 0.0)
        acting = Acting([], [], [], [], command=said)
        steered = self.steered_by(self.torques)
        branch(first, lambda: self.motion.record.begun(self.state, acting, steered), lambda: None)


def choose(mask: Any, a: Any, b: Any) -> Any:
    """One of two trees of the same form."""
    return mapped(lambda x, y: where(mask, x, y), a, b)


def along(outputs: Sequence[Any], inputs: Sequence[Any], rates: Sequence[Any]) -> list[Any]:
    """The derivatives of the outputs as the inputs, taken as independent, change at these rates."""
    known: dict[int, dict[int, Any]] = {}
    for x, rate in zip(inputs, rates, strict=True):
        if isinstance(x, Value):
            base, sign = (x.args[0], -1.0) if x.op == "neg" else (x, 1.0)
            known[base.serial] = {0: sign * rate}
    return [row.get(0, 0.0) for row in tangents(outputs, known, 1)]


def slopes_of(torques: Sequence[Any], rates: Sequence[Any]) -> list[list[Any]]:
    """How a law answers to rates; a law that cannot be differentiated is taken as one that does not."""
    try:
        return derivative(torques, rates)
    except TraceError:
        return [[0] * len(rates) for _ in torques]
