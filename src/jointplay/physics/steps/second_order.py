"""Rigid contact of second order: a step is a pass, and is split where something strikes.

A pass (passes.py) of the whole step is tried.  If an open contact would end in penetration, a pass leads to the
earliest impact; the impact itself is a pass of no length; one pass more, whose end is thrown away, learns what acts
after the jump; and the rest of the step is tried.  A run begins with an impact, if
only of what touches already, and a pass that learns.  All passes are one text: its machine code is there once, and a
step without impact goes through it once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from ...engine.text import branch, loop
from ...engine.trees import mapped
from ...engine.typing import Scalar, Vector
from ...engine.values import sqrt, where
from ...numerics.choice import maximum, minimum
from ...numerics.linalg import Pair
from ..contact_solver import FINE, OPEN, either
from ..contacts import contacts
from ..loop import Command
from ..step import Acting, Reaction, State, Step, Touch
from .moreau_jean import Ends
from .passes import NOTHING, Deeds, Pass

IMPACT, LEARN, TRY, GO = 0.0, 1.0, 2.0, 3.0  # what a pass is for
BOUNCES = 6  # impacts in a step; what strikes after them rests
IMPACTS = 12  # in a step at most; what is open still is moved out of penetration, and strikes in the next step
PASSES = 3 + 4 * IMPACTS
DEEP = 1e-12  # m or rad: an open contact that ends deeper has been struck
TOGETHER = 1e-3  # of the step: impacts that lie so near strike at once
SHORTEST = 1e-9  # of the step

Tree = TypeVar("Tree")


@dataclass
class Going:
    """Where a step stands between two passes."""

    state: State
    turns: dict[str, Pair]  # cosine and sine of the bodies' angles there
    aim: Scalar  # what the next pass is for
    k: Scalar  # its length (s)
    rest: Scalar  # what is left of the step (s)
    strikes: Scalar  # how many impacts it had
    hit: Vector  # 1 for contacts that strike next
    did: Deeds  # impulses of the step, of its impacts if it had some
    shown: Deeds  # forces where it ends
    watched: dict[str, Scalar]  # signals of a continuous law
    residuals: dict[str, Scalar]
    refined: Scalar  # 1 where positions were closed once more
    error: Scalar = 0.0  # of chosen steps, relative to the tolerance


class SecondOrder(Pass):
    """One step of second order as text."""

    def step(self) -> Step:
        """The step: passes until nothing is left of it."""
        motion, control, now = self.motion, self.motion.loop, self.now
        if control and motion.digital:
            self.command = control.held(motion.taken, self.h, now.t, now.q, now.v, motion.clock)
            control.guard(self.command)
        assert now.recent is not None
        known = now.recent.length > 0  # a step that ends in an impact leaves nothing to go by
        going, _ = loop(self.beginning(known), self.once, PASSES)
        pose = self.equations.pose(going.state.q, going.state.t, going.turns)
        did, shown = (self.acted(deeds, going) for deeds in (going.did, going.shown))
        counts = {"steps.refined": going.refined} if self.project else {}
        if motion.labels:
            counts["steps.unconverged"] = where(going.residuals["violation"] > FINE, 1.0, 0.0)
        steered = control.forces(now.q, now.t, self.command.torques) if control and self.command else []
        return Step(
            going.state,
            None if motion.fixed else going.error,
            replace(did, over=self.h if motion.fixed else going.state.t - now.t),
            going.residuals,
            counts,
            pose,
            contacts(pose),
            steered,
            shown=shown,
        )

    def beginning(self, known: Scalar) -> Going:
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
        return Going(self.now, turns, aim, k, self.h, 0.0, none, idle, idle, watched, sizes, 0.0, 0.0)

    def acted(self, deeds: Deeds, going: Going) -> Acting:
        """What a step did or shows, for the record."""
        command = self.command
        if self.motion.loop and command is None:
            place = going.state.known
            command = Command(deeds.torques, [], [], going.watched, place, place, 0.0, 0.0, False)
        return Acting(deeds.accelerations, deeds.multipliers, deeds.reactions, deeds.touches, command=command)

    def once(self, going: Going) -> tuple[Going, Scalar]:
        """One pass, and whether another is needed."""
        aim = going.aim
        self.going, self.tries = going, aim == TRY
        impact, rebounds = aim == IMPACT, going.strikes <= BOUNCES
        end = self.motion.after - (going.rest - going.k)
        self.begin(going.state, end, going.k, going.hit, impact, aim == LEARN, impact & rebounds)
        ends = self.go()
        gaps, gone = self.closed(ends)
        deep = [self.sinks(i, gap) for i, gap in enumerate(gaps)]
        split = (self.tries & either(deep) & (going.strikes < IMPACTS)) if deep else False
        accepted = ~self.learning & ~split if deep else ~self.learning
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
        ahead = self.judged(ahead, split)
        done = accepted & self.tries
        return branch(done, lambda: (self.finished(ahead, ends), False), lambda: self.onward(ahead, ends, deep, gaps))

    def judged(self, ahead: Going, split: Scalar) -> Going:
        """The pass with its error, where steps are chosen."""
        return ahead

    def over(self, ahead: Going, rest: Scalar) -> Scalar:
        """Where a pass that is not the last in itself ends the step."""
        return self.impact & (rest <= SHORTEST * self.h)

    def sinks(self, i: int, gap: Scalar) -> Scalar:
        """Where an open contact ends in penetration."""
        return (self.state.modes[i] == OPEN) & (gap < minimum(self.recent.gap[i], 0.0) - DEEP)

    def meeting(self, i: int, gap: Scalar) -> Scalar:
        """When a contact that ends with this gap met: the root of the parabola through its gap and rate at the
        beginning."""
        begin, rate, k = maximum(self.recent.gap[i], 0.0), self.recent.opening[i], self.k
        bend = (gap - begin - rate * k) / (k * k)
        width = sqrt(maximum(rate * rate - 4 * bend * begin, 0.0))
        falling = 2 * begin / maximum(width - rate, NOTHING)
        rising = (rate + width) / maximum(-2 * bend, NOTHING)
        return minimum(maximum(where(rate > 0, rising, falling), SHORTEST * self.h), k)

    def finished(self, ahead: Going, ends: Ends) -> Going:
        """The step is done: its impulses, and forces at its end from this pass and the last."""
        old, new, did = self.recent, ahead.state.recent, self.going.did
        assert old is not None and new is not None
        share = where(old.length > 0, self.k / (self.k + old.length), 0.0)
        struck: Scalar = False
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
            kept = [
                replace(a, normal=b.normal, tangential=b.tangential) for a, b in zip(touches, did.touches, strict=True)
            ]
            kept_did = replace(did, touches=kept, torques=new.torques)
            lasting = mapped(lambda x, y: where(struck, x, y), kept_did, lasting)
        return replace(ahead, did=lasting, shown=shown)

    def onward(self, ahead: Going, ends: Ends, deep: Vector, gaps: Vector) -> tuple[Going, Scalar]:
        """What follows a pass that does not end the step."""
        going, h = self.going, self.h
        impact, goes, learns = self.impact, going.aim == GO, self.learning
        moves = impact | goes
        old, new = going.state, ahead.state
        assert old.recent is not None and new.recent is not None
        recent = replace(new.recent, gap=old.recent.gap, opening=old.recent.opening, length=old.recent.length)
        learnt = replace(old, modes=new.modes, recent=recent)
        kept = choose(moves, new, choose(learns, learnt, old))
        rest = where(goes, going.rest - going.k, going.rest)
        over = self.over(ahead, rest)
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
            did = replace(did, torques=choose(goes, new.recent.torques, did.torques))
            shown = choose(goes, self.deeds(new.recent, ends.touches), shown)
        aim = where(impact, LEARN, where(learns, TRY, where(goes, IMPACT, GO)))
        aim = where(over, IMPACT, aim)
        self.begun()
        base = choose(moves, replace(ahead, did=did, shown=shown), replace(going, did=did, shown=shown))
        strikes = going.strikes + where(goes, 1.0, 0.0)
        after = replace(base, state=kept, aim=aim, k=k, rest=rest, strikes=strikes, hit=hit, error=ahead.error)
        return after, ~over

    def noted(self, ends: Ends) -> Deeds:
        """The impulses of the step's impacts so far; this one is written down."""
        did, struck = self.going.did, either([touch.struck for touch in ends.touches])
        record = self.motion.record
        counts = struck & self.motion.counts
        branch(counts, lambda: record.impacts(ends.touches, self.near.contacts, self.t), lambda: None)
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
        return choose(struck, replace(added, touches=touches, torques=did.torques), did)

    def begun(self) -> None:
        """Write down what a continuous law says first: the first pass has no length."""
        if self.motion.loop is None or self.command is not None:
            return
        said, first = self.said, self.impact & (self.motion.taken == 0) & (self.going.strikes == 0.0)
        acting = Acting([], [], [], [], command=said)
        steered = self.steered_by(self.torques)
        first = first & self.motion.counts
        branch(first, lambda: self.motion.record.begun(self.state, acting, steered), lambda: None)


def choose(mask: Scalar, a: Tree, b: Tree) -> Tree:
    """One of two trees of the same form."""
    chosen: Tree = mapped(lambda x, y: where(mask, x, y), a, b)
    return chosen
