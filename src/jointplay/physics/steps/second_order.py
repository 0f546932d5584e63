"""Rigid contact of second order: a step is a pass, and is split where something strikes.

A pass (passes.py) of the whole step is tried.  If an open contact would end in penetration, a pass leads to the
earliest impact; the impact itself is a pass of no length; one pass more, whose end is thrown away, learns what acts
after the jump; and the rest of the step is tried.  A run begins with an impact, if
only of what touches already, and a pass that learns.  All passes are one text: its machine code is there once, and a
step without impact goes through it once.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ...engine.text import branch, loop, seldom, subroutine
from ...engine.trees import mapped
from ...engine.typing import Matrix, Scalar, Vector
from ...engine.values import sqrt, where
from ...numerics.choice import maximum, minimum
from ...numerics.linalg import Pair
from ..contact_solver import FINE, OPEN, either
from ..contacts import contacts, reaction
from ..dynamics import ConstraintRows
from ..loop import Command
from ..step import Acting, Reaction, State, Step, Touch
from .first_order import ContactRows, Ends, closing
from .passes import CLOSED, NOTHING, STILL, Pass

IMPACT, LEARN, TRY, GO = 0.0, 1.0, 2.0, 3.0  # what a pass is for
BOUNCES = 6  # impacts in a step; what strikes after them rests
IMPACTS = 12  # in a step at most; what is open still is moved out of penetration, and strikes in the next step
KNOCKS = 40  # more impacts at the instants of those, by which contacts that are shut throw bodies at each other
PASSES = 3 + 4 * IMPACTS + KNOCKS
DEEP = 1e-12  # m or rad: an open contact that ends deeper has been struck
HOPS = 4.0  # times the approach that is seen at once as penetration: what is slower does not rebound
TOGETHER = 1e-3  # of the step: impacts that lie so near strike at once
SHORTEST = 1e-9  # of the step
BRIEF = 0.05  # of the step: what acts is learnt over so much of it where it has jumped, so that it tells the beginning

Pick = TypeVar("Pick")


@dataclass
class Going:
    """Where a step stands between two passes."""

    state: State
    turns: dict[str, Pair]  # cosine and sine of the bodies' angles there
    aim: Scalar  # what the next pass is for
    k: Scalar  # its length (s)
    rest: Scalar  # what is left of the step (s)
    strikes: Scalar  # how many times something struck in it
    knocks: Scalar  # how many more impacts these made at the same instants
    hit: Vector  # 1 for contacts that strike next
    struck: Vector  # 1 for contacts that were struck in this step
    slips: Vector  # of the contacts (m/s)
    impulses: Vector  # normal and tangential, of the contacts in turn: of the impacts if there were some (N s)
    reactions: list[Reaction]  # the impulses of the joints that go with them
    watched: dict[str, Scalar]  # signals of a continuous law
    residuals: dict[str, Scalar]
    refined: Scalar  # 1 where positions were closed once more
    error: Scalar = 0.0  # of chosen steps, relative to the tolerance
    firm: Scalar = 1.0  # how far rows are from depending on each other
    falls: Vector = field(default_factory=list)  # of chosen steps: how fast contacts were drawn shut (m/s^2)
    sought: Vector = field(default_factory=list)  # of chosen steps: between what an impact lies (s), tries to meet it


@dataclass
class Passed:
    """What a pass arrives at."""

    ahead: Going  # where the step then stands
    ends: Ends
    deep: Vector  # open contacts that end in penetration
    gaps: Vector
    accepted: Scalar  # its end counts
    impulses: Vector  # of contacts, normal and tangential in turn (N s)
    reactions: list[Reaction]


class SecondOrder(Pass):
    """One step of second order as text."""

    def step(self) -> Step:
        """The step: passes until nothing is left of it."""
        motion, control, now = self.motion, self.motion.loop, self.now
        steered: Vector = []
        if control and motion.digital:
            self.command = motion.held
            if self.command is None:
                self.command = control.held(motion.taken, self.h, now.t, now.q, now.v, motion.clock)
                control.guard(self.command)
            steered = control.forces(now.q, now.t, self.command.torques)
        assert now.recent is not None
        going = self.passes(now.recent.length)
        pose = self.equations.pose(going.state.q, going.state.t, going.turns)
        counts = {"steps.refined": going.refined} if self.project else {}
        if motion.labels:
            counts["steps.unconverged"] = where(going.residuals["violation"] > FINE, 1.0, 0.0)
        did, found = self.acted(going), contacts(pose)
        shown = functools.partial(self.shown, going.state, did)
        error = None if motion.fixed else going.error
        return Step(going.state, error, did, going.residuals, counts, pose, found, steered, shown=shown)

    def beginning(self, last: Scalar) -> Going:
        """Before the first pass: the whole step is tried; or what acts is learnt first, where the length of the last
        pass says that it has jumped, or that an impact has left nothing to go by."""
        motion, none = self.motion, [0.0] * len(self.motion.labels)
        reactions = [Reaction(0.0, 0.0, 0.0) for _ in motion.joints]
        sizes = {"drift": 0.0, "penetration": 0.0} | ({"violation": 0.0} if none else {})
        watched = dict.fromkeys(motion.loop.watched if motion.loop and not motion.digital else (), 0.0)
        turns = {body: Pair(1.0, 0.0) for body in self.equations.mechanism.bodies}
        aim, k = where(last > 0, TRY, IMPACT), where(last > 0, self.h, 0.0)
        if not motion.fixed:
            aim, k = where(last < 0, LEARN, aim), where(last < 0, BRIEF * self.h, k)
        seen = none, none, none, [*none, *none], reactions
        return Going(self.now, turns, aim, k, self.h, 0.0, 0.0, *seen, watched, sizes, 0.0, 0.0, 1.0)

    # -- what the step leaves for the record
    def acted(self, going: Going) -> Acting:
        """The impulses of the step; of a step with impacts those of its impacts."""
        recent, touches = going.state.recent, []
        h = self.h if self.motion.fixed else going.state.t - self.now.t  # a chosen step ends where something strikes
        assert recent is not None
        each = zip(going.state.modes, going.slips, going.struck, strict=True)
        for i, (mode, slip, struck) in enumerate(each):
            n, t = going.impulses[2 * i : 2 * i + 2]
            touches.append(Touch(0.0, 0.0, slip, n, t, mode, False, struck > 0.5))
        command = self.command
        if self.motion.loop and command is None:
            place = going.state.known
            command = Command(recent.torques, [], [], going.watched, place, place, 0.0, 0.0, False)
        rows = [x * h for x in recent.multipliers]
        return Acting(recent.a, rows, going.reactions, touches, command=command, over=h, firm=going.firm)

    def shown(self, end: State, did: Acting) -> Acting:
        """The forces where the step ends: sizes by those of the middles of this step and of the last, if nothing
        changed between them, and directions as they are there."""
        old, new = self.now.recent, end.recent
        assert old is not None and new is not None
        share = where((old.length > 0) & (new.length > 0), new.length / (new.length + old.length), 0.0)
        for before, touch in zip(self.now.modes, did.touches, strict=True):
            share = where((before == touch.mode) & ~touch.closes, share, 0.0)
        now = mapped(lambda x, y: x + share * (x - y), new, old)
        normal = [maximum(x, 0.0) for x in now.normal]
        there = subroutine(self.reactions_at)  # which sees places and rates as numbers
        reactions = there(end.q, end.v, end.t, now.multipliers, normal, now.tangential)
        both = zip(did.touches, normal, now.tangential, strict=True)
        touches = [replace(touch, normal=n, tangential=t) for touch, n, t in both]
        command = self.command or (did.command and replace(did.command, torques=now.torques))
        return Acting(now.a, now.multipliers, reactions, touches, command=command)

    def reactions_at(
        self, q: Vector, v: Vector, t: Scalar, multipliers: Vector, normal: Vector, tangential: Vector
    ) -> list[Reaction]:
        """What rows and contacts do at the joints, in any state."""
        rows, near = self.equations.rows(q, v, t), ContactRows(self.equations, q, t)
        return self.reactions_of(rows, near, multipliers, normal, tangential)

    def reactions_of(
        self, rows: ConstraintRows, near: ContactRows, multipliers: Vector, normal: Vector, tangential: Vector
    ) -> list[Reaction]:
        """What rows and contacts do at the joints."""
        *q, t = rows.inputs
        reactions = self.motion.reactions(rows, q, t, multipliers[: len(rows.B)])
        pose = self.equations.pose(q, t)
        for c, n, f in zip(near.contacts, normal, tangential, strict=True):
            i = self.motion.joints.index(c.joint)
            added = reaction(pose, c, n, f)
            reactions[i] = Reaction(*(x + d for x, d in zip(reactions[i], added, strict=True)))
        return reactions

    # -- passes
    def passes(self, last: Scalar) -> Going:
        """The passes of the step.  Nearly always it is one of the whole step, which steps of one length try first by a
        text of its own: what a pass may be for, and its length, are known in it."""

        def one_by_one() -> Going:
            going, _ = loop(self.beginning(last), self.once, PASSES)
            return going

        if not self.motion.fixed:
            return one_by_one()
        self.going, self.tries = self.beginning(1.0), True  # as after any pass
        self.begin(self.now, self.motion.after, self.h, self.going.hit, False, False, False, counts=last > 0)
        whole = self.passed()
        going: Going = branch(whole.accepted, lambda: self.finished(whole), seldom(one_by_one))
        return going

    def once(self, going: Going) -> tuple[Going, Scalar]:
        """One pass, and whether another is needed."""
        aim = going.aim
        self.going, self.tries = going, aim == TRY
        impact, learning = aim == IMPACT, aim == LEARN
        rebounds = (going.strikes <= BOUNCES) & (going.knocks < KNOCKS - 2)
        end = self.motion.after - (going.rest - going.k)
        self.begin(going.state, end, going.k, going.hit, impact, learning, impact & rebounds, counts=~learning)
        this = self.passed()
        done = this.accepted & self.tries
        after: tuple[Going, Scalar] = branch(done, lambda: (self.finished(this), False), lambda: self.onward(this))
        return after

    def passed(self) -> Passed:
        """What a pass that is begun arrives at."""
        going, ends = self.going, self.go()
        gaps, gone = self.closed(ends)
        deep = [self.sinks(i, gap) for i, gap in enumerate(gaps)]
        split = (self.tries & either(deep) & (going.strikes < IMPACTS)) if deep else False
        accepted = self.counts & ~split if deep else self.counts
        self.refuse(ends, accepted)
        gone, turns, gaps, refined = self.refined(gone, gaps, accepted)
        residuals = {"drift": gone.drift, "penetration": gone.depth} | ({"violation": ends.violation} if deep else {})
        ahead = replace(
            going,
            state=self.moved(ends, gone, gaps),
            turns=turns,
            slips=[touch.slip for touch in ends.touches],
            watched=self.said.watched if self.motion.loop and self.command is None else {},
            residuals=mapped(maximum, going.residuals, residuals),
            refined=maximum(going.refined, refined),
        )
        ahead = self.judged(replace(ahead, firm=self.firm), split)
        n, t = ([getattr(touch, x) for touch in ends.touches] for x in ("normal", "tangential"))
        reactions = self.reactions_of(self.rows, self.near, ends.rows, n, t)
        impulses = [x for touch in ends.touches for x in (touch.normal, touch.tangential)]
        return Passed(ahead, ends, deep, gaps, accepted, impulses, reactions)

    def finished(self, this: Passed) -> Going:
        """The step after its last pass."""
        going = self.going
        if not this.deep:
            return replace(this.ahead, reactions=this.reactions)
        calm = either([x > 0.5 for x in going.struck])
        before, now = (going.impulses, going.reactions), (this.impulses, this.reactions)
        impulses, joints = choose(calm, before, now)
        return replace(this.ahead, impulses=impulses, reactions=joints)

    def judged(self, ahead: Going, split: Scalar) -> Going:
        """The pass with its error, where steps are chosen."""
        return ahead

    def over(self, ahead: Going, rest: Scalar) -> Scalar:
        """Where a pass that is not the last in itself ends the step."""
        return self.impact & (rest <= SHORTEST * self.h)

    def slowest(self) -> Scalar:
        """Steps so short that a contact is not seen to sink in one of them would let it hop for ever by what it has
        gained when it is seen."""
        return HOPS * DEEP / self.h if self.motion.fixed else 0.0

    def hold(self, responses: Matrix, opening: Vector, active: Vector) -> Vector:
        """What strikes after many impacts in a step stays shut with all that struck in it: contacts may knock each
        other open over and over, and would never rest."""
        if not self.motion.fixed or self.impact is False:
            return []
        late, seen = self.impact & (self.going.strikes > BOUNCES), zip(self.hit, self.going.struck, strict=True)
        slow = [late & shut & ((hit > 0.5) | (struck > 0.5)) for shut, (hit, struck) in zip(active, seen, strict=True)]
        opens = either([one & (rate > 0.0) for one, rate in zip(slow, opening, strict=True)])
        rest = [-rate for rate in opening]
        none = [0.0 for _ in opening]
        pull: Vector = branch(opens, seldom(lambda: closing(responses, rest, slow)), lambda: [x + 0.0 for x in none])
        return pull

    def sinks(self, i: int, gap: Scalar) -> Scalar:
        """Where an open contact ends in penetration."""
        return (self.state.modes[i] == OPEN) & (gap < minimum(self.recent.gap[i], 0.0) - DEEP)

    def meeting(self, i: int, gap: Scalar) -> Scalar:
        """When a contact that ends with this gap met."""
        return self.root(i, gap, self.k)

    def root(self, i: int, gap: Scalar, k: Scalar) -> Scalar:
        """When a contact met that has this gap after the time k: the root of the parabola through its gap and rate at
        the beginning."""
        begin, rate = maximum(self.recent.gap[i], 0.0), self.recent.opening[i]
        bend = (gap - begin - rate * k) / (k * k)
        width = sqrt(maximum(rate * rate - 4 * bend * begin, 0.0))
        falling = 2 * begin / maximum(width - rate, NOTHING)
        rising = (rate + width) / maximum(-2 * bend, NOTHING)
        return minimum(maximum(where(rate > 0, rising, falling), SHORTEST * self.h), k)

    def onward(self, this: Passed) -> tuple[Going, Scalar]:
        """What follows a pass that does not end the step."""
        going, h = self.going, self.h
        ahead, ends, deep, gaps = this.ahead, this.ends, this.deep, this.gaps
        impact, goes, learns = self.impact, going.aim == GO, self.learning
        old, new = going.state, ahead.state
        assert old.recent is not None and new.recent is not None
        length = old.recent.length if self.motion.fixed else where(old.recent.length < 0, self.k, old.recent.length)
        recent = replace(new.recent, gap=old.recent.gap, opening=old.recent.opening, length=length)
        learnt = replace(old, modes=new.modes, recent=recent)
        rest = where(goes, going.rest - going.k, going.rest)
        knocked = self.knocked(this) if deep else impact & False
        over = where(knocked, False, self.over(ahead, rest))
        k, hit, struck = where(learns, rest, maximum(rest, TOGETHER * h)), going.hit, going.struck
        impulses, reactions = going.impulses, going.reactions
        if deep:
            met = [where(sunk, self.meeting(i, gaps[i]), going.k) for i, sunk in enumerate(deep)]
            first = met[0]
            for x in met[1:]:
                first = minimum(first, x)
            hits = [where(sunk & (x <= first + TOGETHER * h), 1.0, 0.0) for sunk, x in zip(deep, met, strict=True)]
            hit = [where(self.tries, x, where(goes, y, 0.0)) for x, y in zip(hits, hit, strict=True)]
            k = where(self.tries, first, where(goes, 0.0, k))
            struck = [where(touch.struck, 1.0, x) for touch, x in zip(ends.touches, struck, strict=True)]
            some = either([touch.struck for touch in ends.touches])
            record, near, t = self.motion.record, self.near.contacts, self.t
            later = going.strikes > 0.0
            unwritten = (later & self.motion.strikes) | (~later & self.motion.begins)
            branch(some & unwritten, lambda: record.impacts(ends.touches, near, t), lambda: None)
            largest = larger(this.impulses, impulses), strongest(this.reactions, reactions)
            impulses, reactions = choose(some, largest, (impulses, reactions))
            k = where(knocked, 0.0, k)
        self.begun()
        aim = where(impact, where(over | knocked, IMPACT, LEARN), where(learns, TRY, where(goes, IMPACT, GO)))
        after = choose(impact | goes, ahead, replace(going, watched=ahead.watched))
        return replace(
            after,
            state=choose(impact | goes, new, choose(learns, learnt, old)),
            aim=aim,
            k=k,
            rest=rest,
            strikes=going.strikes + where(goes, 1.0, 0.0),
            knocks=going.knocks + where(knocked, 1.0, 0.0),
            hit=hit,
            struck=struck,
            impulses=impulses,
            reactions=reactions,
            error=ahead.error,
        ), ~over

    def knocked(self, this: Passed) -> Scalar:
        """Whether an impact has thrown bodies against contacts that are shut: they are struck at the same instant, one
        impact after the other, for Newton's rule tells what becomes of an approach."""
        new = this.ahead.state
        assert new.recent is not None
        each = zip(new.modes, this.gaps, new.recent.opening, strict=True)
        thrown = [(mode == OPEN) & (gap <= CLOSED) & (rate < -STILL) for mode, gap, rate in each]
        return self.impact & either(thrown) & (self.going.knocks < KNOCKS)

    def begun(self) -> None:
        """Write down what a continuous law says first: the first pass has no length."""
        if self.motion.loop is None or self.command is not None:
            return
        said, first = self.said, self.impact & (self.motion.taken == 0) & (self.going.strikes == 0.0)
        acting = Acting([], [], [], [], command=said)
        steered = self.steered_by(self.torques)
        first = first & self.motion.begins
        branch(first, lambda: self.motion.record.begun(self.state, acting, steered), lambda: None)


def larger(new: Vector, old: Vector) -> Vector:
    """Of impulses of contacts, normal and tangential in turn, those of the stronger of two impacts."""
    stronger = [new[i] > old[i] for i in range(0, len(new), 2)]
    return [where(stronger[j // 2], a, b) for j, (a, b) in enumerate(zip(new, old, strict=True))]


def strongest(new: list[Reaction], old: list[Reaction]) -> list[Reaction]:
    """Of impulses of joints those of the stronger of two impacts."""
    return [choose(a.x * a.x + a.y * a.y > b.x * b.x + b.y * b.y, a, b) for a, b in zip(new, old, strict=True)]


def choose(mask: Scalar, a: Pick, b: Pick) -> Pick:
    """One of two trees of the same form."""
    chosen: Pick = mapped(lambda x, y: where(mask, x, y), a, b)
    return chosen
