"""One call of a run's program with a stepper of impulses, and what all marches have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..engine.program import Names
from ..engine.text import DONE, STEP_TOO_SMALL, branch, memory, shared_max, stop, whole
from ..engine.trees import mapped
from ..engine.typing import Scalar
from ..engine.values import bits, from_bits, number, sqrt, where
from ..numerics.choice import maximum, minimum
from ..numerics.functions import pow
from ..numerics.signals import due, peak, total
from ..parts.time_functions import NEVER
from .contact_solver import either
from .knots import next_knot
from .motion import Motion
from .record import Bookkeeping
from .step import Point, Slope, State, Step, Stepper

ABOUT = 1 + 1e-12  # what is nearer to a time has reached it, in steps of one length
HOPELESS = 1e6  # the error of a step that is no number
GROWTH, SHRINKING, SAFETY = 5.0, 0.2, 0.9  # of the next step, by the error of this one
DOUBLE = 2.0  # what steps of impulses grow at most
STRUCK, RESTART = 0.2, 3.0  # after an impact: the share of the step that is left at most, and of the root of rtol
EDGE = 2e-14  # of the time: so far before and behind a knot it is not felt


class March:
    """What both kinds of march have in common."""

    def __init__(self, motion: Motion, stepper: Stepper, p: Names) -> None:
        self.motion, self.stepper, self.p = motion, stepper, p
        self.record = motion.record = Bookkeeping(motion, p, stepper.impulsive)
        self.taken = memory("steps.taken", 0)
        motion.taken = self.taken.value
        self.names = motion.names_of_state

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
        stop(done | (self.taken.value >= self.p["stepper.goal"]), DONE)


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
            branch(self.taken.value == 0, lambda: record.begun(now, acting, step.steered), lambda: None)
        if motion.loop:
            motion.loop.measure(self.taken.value + 1, h, after, end.q, end.v, motion.clock)

        def sample() -> None:
            record.sample(end, step.shown() if step.shown else acting, step.pose)

        done = after >= p["stepper.until"]
        sampled = due(self.taken.value + 1, p["stepper.stride"]) | done
        branch(sampled, sample, lambda: None)
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
        missed = memory("samples.missed", False)  # something struck before the next sample
        now, h, until = kept.value, self.length(kept.value, chosen.value), p["stepper.until"]
        stop(~(h > 0.0), STEP_TOO_SMALL)
        # as a rounded number: a fused product would let the interval into the last bit of a sample
        time = from_bits(bits(number(following.value) * p["stepper.interval"]))
        sampling = (time <= now.t + h) & (time < until) & ~missed.value
        lands = ~sampling & (now.t + h >= until)
        after = motion.after = where(sampling, time, where(lands, until, now.t + h))
        motion.counts = ~sampling
        length = after - now.t
        step: Step = self.stepper.take(motion, Point(now, Slope([], [], [], [])), length)
        error, end = shared_max(where(step.error == step.error, step.error, HOPELESS)), step.end
        beyond = missed.value & (end.t > time)  # nothing strikes in a longer step: then take the shorter one
        good = (error <= 1.0) & ~beyond
        factor = SAFETY * pow(maximum(error, 1e-10), -1.0 / self.stepper.error_order)
        longer = where(beyond, time - now.t, length * minimum(maximum(factor, SHRINKING), DOUBLE))
        early = ~(end.t >= after)  # something struck
        restart = minimum(STRUCK, RESTART * sqrt(motion.given("rtol"))) * h
        cut = sampling | lands | (h < chosen.value)
        chosen.value = where(good, where(early & ~sampling, restart, where(cut, chosen.value, longer)), longer)
        stop(~good & (longer < 1e-13 * maximum(now.t, 1e-3)), STEP_TOO_SMALL)
        taken, sampled = good & ~sampling, good & sampling & ~early
        missed.value = (missed.value & ~taken) | (good & sampling & early)
        done = taken & (end.t >= until)
        branch(taken, lambda: self.take(kept, now, step), lambda: None)
        branch(sampled | done, lambda: self.sample(step), lambda: None)
        following.value = following.value + where(sampled | (done & (time <= until)), whole(1), 0)
        self.pause(done)

    def length(self, now: State, h: Scalar) -> Scalar:
        """The length of a step, which must not pass the next knot of what depends on time."""
        edge = EDGE * maximum(now.t, 1e-3)
        knot = next_knot(self.motion.equations.pose(now.q, now.t + 2 * edge))
        if knot is NEVER:
            return h
        rest = knot - now.t
        return where(rest <= h, rest, where(rest < 2 * h, 0.5 * rest, h))

    def take(self, kept: Any, now: State, step: Step) -> None:
        """A step is taken."""
        record, end, acting = self.record, step.end, step.acting
        assert acting is not None
        self.residuals(step)
        record.step(now, end, acting, acting.over, step.pose)
        if acting.touches:
            touched = either([touch.mode > 0 for touch in acting.touches])
            branch(touched, lambda: record.rigid(acting, step.contacts, end.t), lambda: None)
        kept.value = end
        self.taken.value = self.taken.value + 1

    def sample(self, step: Step) -> None:
        """Write down the end of a step."""
        assert step.shown is not None
        self.record.sample(step.end, step.shown(), step.pose)
