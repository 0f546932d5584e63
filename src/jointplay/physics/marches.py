"""One call of a run's program with a stepper of impulses, and what all marches have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..engine.program import Names
from ..engine.text import DONE, STEP_TOO_SMALL, branch, memory, seldom, stop, whole
from ..engine.trees import mapped
from ..engine.typing import Scalar, Vector
from ..engine.values import bits, from_bits, number, sqrt, where
from ..numerics.choice import maximum, minimum
from ..numerics.functions import pow
from ..numerics.signals import due, peak, total
from ..parts.time_functions import NEVER
from .contact_solver import either
from .knots import next_knot
from .loop import Command
from .motion import Motion
from .record import Bookkeeping
from .step import JUMPED, Point, Slope, State, Step, Stepper

ABOUT = 1 + 1e-12  # what is nearer to a time has reached it, in steps of one length
HOPELESS = 1e6  # the error of a step that is no number
GROWTH, SHRINKING, SAFETY = 5.0, 0.2, 0.9  # of the next step, by the error of this one
DOUBLE = 2.0  # what steps of impulses grow at most
STRUCK, RESTART = 0.2, 3.0  # after an impact: the share of the step that is left at most, and of the root of rtol
FIRST, LAST = 1.0, 2.0  # what a sample waits for
TURN = 0.5  # rad: by more no body turns in a step in which contacts are looked for
BEHIND = 0.05  # of a step: samples so near behind it are taken with those inside it
LEAST = 1e-2  # of a step: a shorter one, tried for a sample, would tell what rounding of places closes as forces
EDGE = 2e-14  # of the time: so far before and behind a knot it is not felt


class March:
    """What both kinds of march have in common."""

    def __init__(self, motion: Motion, stepper: Stepper, p: Names) -> None:
        self.motion, self.stepper, self.p = motion, stepper, p
        self.record = motion.record = Bookkeeping(motion, p, stepper.impulsive)
        self.taken = memory("steps.taken", 0)
        motion.taken = self.taken.value
        self.names = motion.names_of_state
        # of chosen steps: how many ticks of a control loop's clock have passed, and at which the law was last computed
        self.clocked = motion.digital and not motion.fixed
        self.ticks: Any = memory("clock.ticks", 0) if self.clocked else None
        self.heard: Any = memory("clock.heard", -1) if self.clocked else None

    # -- a control loop that is computed at times of its own
    def held(self, now: State, fresh: Scalar) -> Command:
        """The command of a loop that is computed once a step, at its beginning, or at the ticks of its clock; it is
        computed anew where it is to be fresh."""
        motion, control, p = self.motion, self.motion.loop, self.p
        assert control is not None
        acting = {name: f"control.{name}.acting" for name in control.control.actuators}
        shown = {name: f"control.shown.{name}" for name in control.watched}
        cells = memory((acting, shown), mapped(lambda _: 0.0, (acting, shown)))
        count, span = (self.ticks, p["stepper.tick"]) if self.clocked else (self.taken, p["stepper.step"])

        def compute() -> None:
            said = control.held(count.value, span, now.t, now.q, now.v, motion.clock)
            control.guard(said)
            cells.value = dict(zip(acting, said.torques, strict=True)), said.watched

        branch(fresh, compute, lambda: None)
        torques, watched = cells.value
        place = [memory(name, 0.0).value for name in control.guesses]
        return Command(list(torques.values()), [], [], watched, place, place, 0.0, 0.0, False)

    @property
    def tick(self) -> Scalar:
        """The time of the next tick (s): a multiple of their distance as a rounded number, not a sum."""
        return from_bits(bits(number(self.ticks.value + 1) * self.p["stepper.tick"]))

    def nearest(self, t: Scalar, knot: Scalar) -> Scalar:
        """What comes first after a time: a knot or a tick of the clock; the tick, if they differ by rounding alone."""
        if not self.clocked:
            return knot
        tick = self.tick
        if knot is NEVER:
            return tick
        return where(abs(knot - tick) <= 2 * EDGE * maximum(t, 1e-3), tick, minimum(knot, tick))

    def pass_tick(self, end: State, tick: Scalar) -> None:
        """Count a tick where a step ends at it, and leave there what sensors see for a sampled function."""
        motion, loop = self.motion, self.motion.loop
        assert loop is not None

        def arrive() -> None:
            self.ticks.value = self.ticks.value + 1
            loop.measure(self.ticks.value, self.p["stepper.tick"], end.t, end.q, end.v, motion.clock)

        branch(end.t >= tick, arrive, lambda: None)

    def begun(self, names: State) -> State:
        """A state's starts, 0 unless laws say otherwise; the run gives the rest."""
        starts = mapped(lambda name: float(self.motion.laws.get(name, 0.0)), names)
        return replace(starts, approach=[1.0] * len(names.approach))

    def residuals(self, step: Step) -> None:
        """Keep the largest of what a step leaves open, and count what happened in it."""
        for name, x in step.residuals.items():
            peak(name, x)
        for name, x in step.counts.items():
            total(name, x)

    def pause(self, done: Scalar) -> None:
        """End where the run is done, or has taken the steps that were asked for."""
        done = done | (self.taken.value >= self.p["stepper.goal"])
        if self.clocked:
            done = done | (self.ticks.value >= self.p["stepper.ticks"])
        stop(done, DONE)


class Impulses(March):
    """The march of a stepper of impulses: steps of one length, sampled at their ends."""

    def text(self) -> None:
        """One step."""
        motion, record, p = self.motion, self.record, self.p
        h = p["stepper.step"]
        starts = self.begun(self.names)
        kept = memory(replace(self.names, recent=None), replace(starts, recent=None))
        recent = memory(self.names.recent, starts.recent, checked=False) if starts.recent else None  # rates tell enough
        now = replace(kept.value, t=h * number(self.taken.value), recent=recent.value if recent else None)
        after = motion.after = h * number(self.taken.value + 1)
        step: Step = self.stepper.take(motion, Point(now, Slope([], [], [], [])), h)
        end = replace(step.end, t=after)
        assert step.acting is not None
        acting = replace(step.acting, accelerations=[(b - a) * (1 / h) for a, b in zip(now.v, end.v, strict=True)])
        self.residuals(step)
        record.step(now, end, acting, h, step.pose)
        if acting.touches:
            touched = either([touch.mode > 0 for touch in acting.touches])
            branch(touched, lambda: record.rigid(acting, step.contacts, after), lambda: None)
        if motion.digital or (acting.touches and not motion.loop):
            branch(self.taken.value == 0, seldom(lambda: record.begun(now, acting, step.steered)), lambda: None)
        if motion.loop:
            motion.loop.measure(self.taken.value + 1, h, after, end.q, end.v, motion.clock)

        def sample() -> None:
            record.sample(end, step.shown() if step.shown else acting, step.pose)

        done = after >= p["stepper.until"]
        sampled = due(self.taken.value + 1, p["stepper.stride"]) | done
        branch(sampled, seldom(sample), lambda: None)
        self.taken.value = self.taken.value + 1
        kept.value = replace(end, recent=None)
        if recent:
            recent.value = end.recent
        self.pause(done)


class ChosenMarch(March):
    """The march of a stepper of impulses that chooses its steps.

    Samples lie inside steps: each is the end of a shorter step that is tried for it alone and not taken, so that what
    is sampled does not change the motion.  The last step is as short as it takes to end in time.
    """

    def text(self) -> None:
        """One step, tried; or a sample."""
        motion, p = self.motion, self.p
        kept = memory(self.names, self.begun(self.names))
        chosen, following = memory("step.next", 0.0), memory("samples.following", 1)
        now, until = kept.value, p["stepper.until"]
        self.listen(now)
        h, ahead, marked, edge = self.length(now, chosen.value)
        stop(~(h > 0.0), STEP_TOO_SMALL)
        # as a rounded number: a fused product would let the interval into the last bit of a sample
        time = from_bits(bits(number(following.value) * p["stepper.interval"]))
        waits = memory("samples.waiting", 0.0)  # FIRST: the step before the sample; LAST: the sample, whatever it is
        goal = where(ahead > until + edge, until, ahead)
        meets = abs(time - goal) <= edge  # what differs by rounding alone is one time, and no step lies between
        # just behind the step a sample is still tried from here: what a very short step closes would count as force
        sampled_up_to = ahead + where(marked, 0.0, BEHIND * h)
        sampling = (time <= sampled_up_to) & ~meets & (time < until - edge) & (waits.value != FIRST)
        after = motion.after = where(sampling, maximum(time, now.t + LEAST * h), goal)
        motion.counts = ~sampling
        begun, struck = (
            memory("impacts.begun", -1),
            memory("impacts.struck", -1),
        )  # steps whose impacts are written down
        motion.begins = ~sampling & (begun.value != self.taken.value)
        motion.strikes = ~sampling & (struck.value != self.taken.value)
        length = after - now.t
        step: Step = self.stepper.take(motion, Point(now, Slope([], [], [], [])), length)
        error, end = where(step.error == step.error, step.error, HOPELESS), step.end
        early = ~(end.t >= after)  # something struck
        sampled = sampling & (((error <= 1.0) & ~early) | (waits.value == LAST))
        beyond = ~sampling & (error <= 1.0) & (waits.value == FIRST) & (end.t > time)
        taken = ~sampling & (error <= 1.0) & ~beyond
        begun.value = where(sampling, begun.value, self.taken.value)
        struck.value = where(beyond, self.taken.value, struck.value)  # it will be tried again
        waits.value = where(sampling & ~sampled, FIRST, where(beyond, LAST, where(sampled | taken, 0.0, waits.value)))
        uncut = (after == ahead) & (h >= chosen.value)  # one that was cut short knows nothing of longer ones
        best = self.following(length, error)
        best = where(error <= 1.0, where(early, self.restart(h), where(uncut, best, chosen.value)), best)
        chosen.value = where(sampling | beyond, chosen.value, best)
        stop(~sampling & ~(error <= 1.0) & (chosen.value < 1e-13 * maximum(now.t, 1e-3)), STEP_TOO_SMALL)
        meets, done = meets & taken & ~early, taken & (end.t >= until - edge)
        branch(taken, lambda: self.take(kept, now, step, early, marked & ~early & (after == ahead)), lambda: None)
        at = where(sampled | meets, time, end.t)
        branch(sampled | meets | done, lambda: self.sample(now, step, at), lambda: None)
        following.value = following.value + where(sampled | meets | (done & (time <= until)), whole(1), 0)
        self.pause(done)

    def following(self, length: Scalar, error: Scalar) -> Scalar:
        """The length that a step should have, by the error of one of this length."""
        factor = SAFETY * pow(maximum(error, 1e-10), -1.0 / self.stepper.error_order)
        return length * minimum(maximum(factor, SHRINKING), DOUBLE)

    def restart(self, h: Scalar) -> Scalar:
        """The length of the step after an impact, in one that should have had the length h."""
        return minimum(STRUCK, RESTART * sqrt(self.motion.given("rtol"))) * h

    def listen(self, now: State) -> None:
        """Let a loop with a clock of its own speak where it has ticked."""
        if self.clocked:
            self.motion.held = self.held(now, self.heard.value < self.ticks.value)
            self.heard.value = self.ticks.value

    def length(self, now: State, h: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
        """The length of a step, which must not pass the next knot of what depends on time nor the next tick of a
        clock; when it ends, whether that is there, and the time that is rounding alone (s)."""
        edge = EDGE * maximum(now.t, 1e-3)
        if self.motion.labels:
            h = minimum(h, longest(now.v))
        mark = self.nearest(now.t, next_knot(self.motion.equations.pose(now.q, now.t + 2 * edge)))
        if mark is NEVER:
            return h, now.t + h, False, edge
        rest = mark - now.t
        h = up_to(rest, h)
        return h, where(h == rest, mark, now.t + h), h == rest, edge

    def take(self, kept: Any, now: State, step: Step, early: Scalar, jumps: Scalar) -> None:
        """A step is taken; early: it ends where something strikes; jumps: what acts may jump where it ends."""
        motion, record, end, acting = self.motion, self.record, step.end, step.acting
        assert acting is not None and end.recent is not None
        self.residuals(step)
        record.step(now, end, acting, acting.over, step.pose)
        if acting.touches:
            # up to an impact that ends a step contacts were as before it, whatever they are after
            modes = [where(early, was, touch.mode) for was, touch in zip(now.modes, acting.touches, strict=True)]
            touches = [replace(touch, mode=mode) for touch, mode in zip(acting.touches, modes, strict=True)]
            during = replace(acting, touches=touches)
            touched = either([mode > 0 for mode in modes])
            branch(touched, lambda: record.rigid(during, step.contacts, end.t), lambda: None)
            record.leaving(now, end, touches)
        if motion.digital or (acting.touches and not motion.loop):
            branch(self.taken.value == 0, seldom(lambda: record.begun(now, acting, step.steered)), lambda: None)
        if self.clocked:
            self.pass_tick(end, self.tick)
        known = end.recent.length
        length = where(jumps & (known > 0.0), JUMPED, known) if jumps is not False else known
        kept.value = replace(end, recent=replace(end.recent, length=length))
        self.taken.value = self.taken.value + 1

    def sample(self, now: State, step: Step, time: Scalar) -> None:
        """Write down the end of a step, which is at this time but for rounding; or what is before the end of a very
        short one."""
        assert step.shown is not None
        end = step.end
        share = (time - now.t) / maximum(end.t - now.t, EDGE * EDGE)

        def before_it(x: Scalar, y: Scalar) -> Scalar:
            return where(share < 1.0, x + share * (y - x), y)

        q, v, z, w = mapped(before_it, (now.q, now.v, now.z, now.w), (end.q, end.v, end.z, end.w))
        self.record.sample(replace(end, t=time, q=q, v=v, z=z, w=w), step.shown())


def longest(rates: Vector, turn: Scalar = TURN) -> Scalar:
    """The longest step (s) in which no body turns by more than an angle (rad)."""
    fastest: Scalar = 1e-300
    for rate in rates[2::3]:
        fastest = maximum(fastest, abs(rate))
    return turn / fastest


def up_to(rest: Scalar, h: Scalar) -> Scalar:
    """The length of a step that must not pass what is so far away (s): up to it, or half of the way."""
    return where(rest <= h, rest, where(rest < 2 * h, 0.5 * rest, h))
