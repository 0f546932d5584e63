"""One call of a run's program with a stepper of states: projected, judged, landed on contacts and knots, sampled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..engine.text import SINGULAR_PIVOT, STEP_TOO_SMALL, branch, loop, memory, seldom, shared_max, stop, whole
from ..engine.trees import mapped
from ..engine.typing import Scalar, Vector
from ..engine.values import bits, from_bits, number, where
from ..numerics.choice import maximum, minimum
from ..numerics.functions import pow
from ..numerics.signals import peak, total
from ..parts.time_functions import NEVER
from .failures import RUBBING, UNCLOSED, fail
from .knots import next_knot
from .limits import Limits
from .marches import ABOUT, EDGE, GROWTH, HOPELESS, SAFETY, SHRINKING, March, longest, up_to
from .motion import Bend, Motion
from .permanent import watch
from .step import Acting, Point, Slope, State, Step

SAMPLES = 8  # rows written in one call at most; the step is held until all are out
NOT_YET = -1.0
PARTS = 3  # of an adaptive step: it is looked at where they begin and end
SWEEP = 10.0  # rad, times rtol^(1/5): by more no body turns in a step, 0.25 rad at the default tolerance
FINE = 40.0  # tenths of the friction of a pin, times rtol^(1/5): by more it does not change in a step, 1 by default
OPEN = 1e-8  # of the largest torque: more left open by the friction of pins is no solution
BEGINNING = 12.0  # times the error that a step from the beginning of a contact shows: forces rise with depth^1.5 there
APART, SHORTEST = 1e-5, 1e-12  # m or rad: joints that are open by more, after steps (s) that cannot be shorter


@dataclass
class Kept:
    """What a march of states keeps from call to call: both ends of the last step, its length and the next one's."""

    before: Point
    now: Point
    seen: dict[str, Any]  # parts of the end's state as they were when forces were computed there,
    slope: Slope  # and its slope: that of `now` may have jumped since
    bend: Bend
    pushes: Vector  # of joints in permanent contact
    length: Scalar
    h: Scalar

    def within(self, motion: Motion, u: Scalar, t: Scalar) -> State:
        """The state inside the last step, at the time t, u of it from 0 to 1."""
        end = Point(replace(self.now.state, **self.seen), self.slope)
        return motion.within(self.before, end, self.length, u, t, self.bend)


def parts(state: State) -> dict[str, Any]:
    """What may change at a state after forces were computed there: contacts, their laws, what a controller believes."""
    return {"z": state.z, "modes": state.modes, "approach": state.approach, "known": state.known}


@dataclass
class Attempt:
    """What a call arrives at."""

    kept: Kept
    acting: Acting
    arrived: Scalar  # a step was taken whose end is not recorded yet


class States(March):
    """The march of a stepper of states, with steps of one length or chosen by their error."""

    def text(self) -> None:
        """One attempt of a step, or samples of the last."""
        motion, p = self.motion, self.p
        kept = memory(*self.memory())
        late, open_ = memory("samples.late", False), memory("steps.open", False)
        begun: Kept = kept.value
        if motion.digital:  # a call that only writes samples of the last step keeps what was said for it
            fresh = ~late.value & (self.heard.value < self.ticks.value) if self.clocked else ~late.value
            motion.held = self.held(begun.now.state, fresh)
            if self.clocked:
                self.heard.value = where(fresh, self.ticks.value, self.heard.value)
        begun = replace(begun, now=self.fresh(begun.now))

        def wait() -> Attempt:
            return Attempt(begun, motion.acting(replace(begun.now.state, **begun.seen)), open_.value)

        found: Attempt = branch(late.value, wait, lambda: self.attempt(begun))
        motion.last = None
        now = found.kept.now.state
        # the last step may go beyond the end: its samples count, its end only if the run goes on from there
        ready = found.arrived & ((now.t <= p["stepper.until"]) | memory("steps.cut", False).value)
        branch(ready, lambda: self.keep(found), lambda: None)
        open_.value = found.arrived & ~ready
        kept.value = found.kept
        late.value = self.samples(found.kept)
        ended = (memory("contact.lost", 0).value > 0) | (memory("contact.deep", 0).value > 0)
        self.pause(((self.about(now.t) >= p["stepper.until"]) | ended) & ~late.value)

    def begin(self, start: State, acting: Acting) -> None:
        """Keep what the control loop is like at the start, where no step has ended yet."""
        motion = self.motion
        said = acting.command if motion.digital else motion.acting(start).command
        if motion.loop and said:
            motion.loop.begin(said, start.q, start.t, motion.digital)

    def keep(self, found: Attempt) -> None:
        """Record a step.  Adaptive steps are long: what is largest in them lies between four looks at them, at the last
        one up to the end of the run if a result is read there; means are by Simpson's rule of three eighths."""
        motion, kept = self.motion, found.kept
        now, before, h = kept.now.state, kept.before.state, kept.length
        if motion.fixed:
            if motion.loop:
                branch(before.t == 0.0, seldom(lambda: self.begin(before, found.acting)), lambda: None)
            self.record.step(now, now, found.acting, h)
            self.record.lasting(before, h)
            return
        cut = memory("steps.cut", False).value
        share = where(cut, (self.p["stepper.until"] - before.t) / h, 1.0)
        self.record.lasting(before, share * h)

        def look(index: int) -> dict[str, Scalar]:
            u, last = index * (share / PARTS), index == PARTS
            t = before.t + (
                u * h if index else EDGE * maximum(before.t, 1e-3)
            )  # what jumps at the beginning has jumped
            t = where(cut, t, now.t) if last else t
            state = kept.within(motion, u, t)
            acting = branch(cut, lambda: motion.acting(state), lambda: found.acting) if last else motion.acting(state)
            if index:
                self.record.passes(acting.firm, t)
            return self.record.look(state, acting)

        branch(cut, lambda: None, lambda: self.record.energies(now, None))
        later = [look(index) for index in range(1, PARTS + 1)]
        seen, at = memory({name: f"look.{name}" for name in later[0]}, dict.fromkeys(later[0], 0.0)), self.looked
        first = branch(at.value == before.t, lambda: seen.value, seldom(lambda: look(0)))
        self.record.looks([first, *later], before.t, share * h)
        jumps = memory("steps.landed", False).value | motion.digital
        for was, mode in zip(kept.seen["modes"], now.modes, strict=True):
            jumps = jumps | (was != mode)
        seen.value, at.value = {name: later[-1][name] for name in later[0]}, where(jumps, NOT_YET, now.t)

    @property
    def looked(self) -> Any:
        """The time at which what acts was last looked at, if it goes on from there without a jump."""
        return memory("look.time", NOT_YET)

    def memory(self) -> tuple[Kept, Kept]:
        """Names and starts of what is kept."""
        motion = self.motion
        point = Point(self.names, motion.names_of_slope)
        before = mapped(lambda name: f"before.{name}", point)
        pushes = [f"{joint}.push" for joint in motion.following]
        seen = mapped(lambda name: f"seen.{name}", parts(self.names))
        slope = mapped(lambda name: f"seen.{name}", motion.names_of_slope)
        bend = mapped(lambda name: f"bend.{name}", (self.names.z, self.names.w))
        names = Kept(before, point, seen, slope, bend, pushes, "step.length", "step.next")
        start = Point(self.begun(self.names), mapped(lambda name: 0.0, motion.names_of_slope))
        none = mapped(lambda name: 0.0, bend)
        return names, Kept(start, start, parts(start.state), start.slope, none, [0.0] * len(pushes), 1.0, 0.0)

    def fresh(self, now: Point) -> Point:
        """The state with its slope; computed anew in the first call, and where its torques have just changed."""
        motion, known = self.motion, memory("steps.known", False)

        def compute() -> Point:
            self.looked.value = NOT_YET
            found, _ = motion.point(now.state)
            return Point(now.state, found.slope)

        found = compute() if motion.held else branch(known.value, lambda: now, seldom(compute))
        known.value = known.value | (now.state.t >= 0.0)
        return found

    def attempt(self, begun: Kept) -> Attempt:
        """One step from the state that is kept, taken if its error allows it."""
        motion, p, adaptive = self.motion, self.p, self.stepper.adaptive
        begun, h = self.length(begun) if adaptive else (begun, p["stepper.step"])
        now = begun.now
        after = number(self.taken.value + 1) * h
        if adaptive:
            after = now.state.t + h
            if motion.settled is not NEVER:  # exactly
                after = where(abs(motion.settled - after) <= EDGE * maximum(after, 1e-3), motion.settled, after)
            if self.clocked:
                after = where(abs(self.tick - after) <= EDGE * maximum(after, 1e-3), self.tick, after)
            mark = p["stepper.mark"]
            met = maximum(mark, after) if self.clocked else mark  # a tick that differs from it by rounding is passed
            after = where(abs(mark - after) <= EDGE * maximum(after, 1e-3), met, after)
        motion.after = after
        step: Step = self.stepper.take(motion, now, h)
        self.residuals(step)
        if not adaptive:
            stop(step.weak if step.weak is not None else False, SINGULAR_PIVOT)
            return self.take(begun, step, h, after, h)
        said = shared_max(self.error(now.state, step))
        lost = said != said  # a stiff contact that is met with too long a step: its numbers overflow
        error = where(lost, HOPELESS, said)
        stop(~(h > 0.0), STEP_TOO_SMALL)  # a step of no length would be tried for ever
        factor = minimum(
            maximum(SAFETY * pow(maximum(error, 1e-10), -1.0 / self.stepper.error_order), SHRINKING), GROWTH
        )
        following = minimum(h * factor, p["stepper.max_step"])
        # a step that lands on a contact may be as short, but it is taken
        short = (error > 1.0) & (following < 1e-13 * maximum(abs(now.state.t), 1.0))
        # one that was cut short knows nothing of longer ones
        following = where((h < begun.h) & (error <= 1.0), maximum(following, begun.h), following)
        trial = step.acting or motion.acting(step.end)
        if motion.loop and trial.command:
            motion.loop.guard(trial.command, short)
        stop(short & ~lost, STEP_TOO_SMALL)
        rejected = Attempt(replace(begun, h=where(short, said, following)), trial, False)  # no number in any step
        taken: Attempt = branch(error <= 1.0, lambda: self.take(begun, step, h, after, following), lambda: rejected)
        return taken

    def error(self, now: State, step: Step) -> Scalar:
        """The error of a step relative to the tolerance; so much friction of pins may change in it, too."""
        motion, error = self.motion, step.error
        if motion.labels:
            error = where(motion.compliance.fresh(now), BEGINNING, 1.0) * error
        if motion.loop:  # a state on trial may be one that the controller's model cannot have
            error = where(error == error, error, HOPELESS)
        if motion.pins.rough:
            ratio = motion.pins.changed(now.v, step.end.v) / (FINE * pow(motion.given("rtol"), 0.2))
            error = maximum(error, pow(maximum(ratio, 1e-3), float(self.stepper.error_order)))
        return error

    def length(self, begun: Kept) -> tuple[Kept, Scalar]:
        """The beginning of a step, and its length: what its predecessor's error allows, cut where contacts could be
        passed over, at the next knot of what depends on time, and where somebody will look at the state or change it.

        Forces may jump at a knot: the step that ends there feels what is before it, the next one what is behind it.
        """
        motion, h = self.motion, begun.h
        if motion.labels or motion.following:
            h = minimum(h, longest(begun.now.state.v))
        elif "rtol" in self.stepper.numbers:  # what is driven has no error in any step, but forces are looked at in it
            h = minimum(h, longest(begun.now.state.v, SWEEP * pow(motion.given("rtol"), 0.2)))
        t = begun.now.state.t
        edge = EDGE * maximum(t, 1e-3)
        knot = next_knot(motion.equations.pose(begun.now.state.q, t + 2 * edge))
        if motion.settled is not NEVER:
            knot = minimum(knot, where(motion.settled > t + 2 * edge, motion.settled, NEVER))
        rest = minimum(self.nearest(t, knot), self.p["stepper.mark"]) - t
        h = -shared_max(-up_to(rest, h))
        if knot is NEVER:
            return begun, h
        landed, start = memory("steps.landed", False), begun.now

        def beyond() -> Point:
            state, _ = motion.project(replace(start.state, t=t + edge))
            return Point(replace(state, t=t), motion.point(state)[0].slope)

        begun = replace(begun, now=branch(landed.value, seldom(beyond), lambda: start))
        landed.value = False
        motion.last = where(abs(knot - t - h) <= 3 * edge, knot - edge, NEVER)
        return begun, h

    def take(self, begun: Kept, step: Step, h: Scalar, after: Scalar, following: Scalar) -> Attempt:
        """The end of a step of length h at the time `after`, on the constraints; or a shorter one if a contact begins
        or ends inside it, or an actuator reaches or leaves its limit."""
        motion = self.motion
        bend = step.bend or mapped(lambda _: 0.0, (step.end.z, step.end.w))
        state, drift = motion.project(replace(step.end, t=motion.felt(after)))
        point, acting = motion.point(state, often=True)
        state, point = replace(state, t=after), replace(point, state=replace(point.state, t=after))
        stop(acting.weak, SINGULAR_PIVOT)
        apart = drift > APART
        fail(apart & (motion.fixed | (h < SHORTEST)), UNCLOSED, residual=drift)
        if motion.pins.rough:
            fail(acting.left > OPEN, RUBBING, residual=acting.left)
        if motion.loop and acting.command:
            motion.loop.guard(acting.command)
        asked = acting.command.asked if motion.limited and acting.command else []
        limits = Limits(motion, begun.now, point, h, bend, asked) if asked else None

        def accept() -> Attempt:
            self.taken.value = self.taken.value + 1
            if limits:
                limits.keep()
            peak("drift", drift)
            if step.noise:
                peak("noise", step.noise[0])
                peak("noise.beside", step.noise[1])
                total("steps.stiff", where(step.noise[0] > 0, 1.0, 0.0))
            if motion.pins.rough:
                peak("locks", acting.locks)
            if motion.last is not None:
                memory("steps.landed", False).value = motion.last < after
            return self.accepted(begun, state, point, acting, h, following, bend)

        if motion.fixed:
            return accept()
        share, crossed = self.cut_short(begun.now, point, h, bend, apart, limits)
        again = Attempt(replace(begun, h=share * h), acting, False)
        found: Attempt = branch(crossed, lambda: again, accept)
        return found

    def cut_short(
        self, before: Point, after: Point, h: Scalar, bend: Bend, apart: Scalar, limits: Limits | None
    ) -> tuple[Scalar, Scalar]:
        """The share of a step at which it must end, and whether it must: half of it, if joints are apart at its end."""
        motion, share, crossed = self.motion, 0.5, shared_max(where(apart, 1.0, 0.0)) > 0.5
        if motion.labels:
            share, crossing = motion.compliance.crossing(motion, before, after, h, bend)
            share, crossed = where(crossed, minimum(share, 0.5), share), crossed | crossing
        if limits:
            met, meets = limits.crossing()
            share, crossed = where(crossed, minimum(share, met), met), crossed | meets
        return share, crossed

    def accepted(
        self, begun: Kept, seen: State, point: Point, acting: Acting, h: Scalar, following: Scalar, bend: Bend
    ) -> Attempt:
        """What is kept of a step that is taken: contacts that begin or end there, joints that would pull."""
        motion = self.motion
        if motion.following:
            point, acting, length = watch(motion, begun.pushes, begun.now, point, acting, h, bend)
            share = length / h
            bend, h = mapped(lambda x: x * (share * share) * (share * share), bend), length
            seen = point.state
        pushes, slope = motion.pushes(acting), point.slope
        if motion.labels:
            before = point.state
            point, following = motion.compliance.changed(motion, point, acting, begun.now.state.t, following)
            self.record.compliant(before, point.state, acting.touches)
        if self.clocked:
            self.pass_tick(point.state, self.tick)
        elif motion.loop and motion.fixed:
            state = point.state
            motion.loop.measure(self.taken.value, h, state.t, state.q, state.v, motion.clock)
        return Attempt(Kept(begun.now, point, parts(seen), slope, bend, pushes, h, following), acting, True)

    def samples(self, kept: Kept) -> Scalar:
        """Write the samples inside the last step; gives whether some are left."""
        motion, p, end = self.motion, self.p, self.about(kept.now.state.t)

        def write(time: Scalar) -> None:
            u = (time - kept.before.state.t) / kept.length
            state = kept.within(motion, u, time)
            acting = motion.acting(state)
            self.record.sample(state, acting)
            if motion.loop and acting.command:
                motion.loop.guard(acting.command)

        def sample(index: Scalar) -> tuple[Vector, Scalar]:
            # as a rounded number: a fused product would let the interval into the last bit of a sample
            time = from_bits(bits(number(index) * p["stepper.interval"]))
            # so many intervals may be beyond the end by rounding
            ready = (time <= end * ABOUT) & (time <= p["stepper.until"] * ABOUT)
            branch(ready, seldom(lambda: write(time)), lambda: None)
            return [index + where(ready, whole(1), 0)], ready

        following = memory("samples.following", 0)
        [index], unfinished = loop([following.value], sample, SAMPLES)
        following.value = index
        return unfinished

    def about(self, t: Scalar) -> Scalar:
        """A time as it counts at the end: that of so many steps of one length may be short of it by rounding."""
        return t * ABOUT if self.motion.fixed else t
