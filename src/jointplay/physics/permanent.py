"""Permanent contact: the clearance as a massless link that can only push, and where it would begin to pull."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from ..elements import Joint
from ..engine.text import branch, emit, loop, memory, whole
from ..engine.typing import Scalar, Vector
from ..engine.values import number, where
from ..model.clearances import Following
from ..numerics.choice import maximum
from ..numerics.functions import atan2
from .contact_solver import either
from .motion import Bend, Motion
from .step import Acting, Point

NEAR = 0.1  # of the pushes at the ends of a step: where a parabola dips below, it is looked at


def stops(joint: Joint) -> bool:
    """Whether a run ends where this joint in permanent contact begins to pull."""
    return isinstance(joint.contact, Following) and joint.contact.on_loss == "stop"


def vertex(begin: Scalar, middle: Scalar, end: Scalar) -> tuple[Scalar, Scalar]:
    """Where between 0 and 1 the parabola through three values at 0, 1/2 and 1 is lowest, and how low; 1 where it is
    lowest at an end."""
    bend, slope = 2.0 * (begin - 2.0 * middle + end), 4.0 * middle - 3.0 * begin - end
    inside = (bend > 0.0) & (slope < 0.0) & (slope + 2.0 * bend > 0.0)
    u = -0.5 * slope / where(inside, bend, 1.0)
    return where(inside, u, 1.0), where(inside, begin + 0.5 * slope * u, end)


def watch(
    motion: Motion, begun: Sequence[Scalar], before: Point, after: Point, acting: Acting, h: Scalar, bend: Bend
) -> tuple[Point, Acting, Scalar]:
    """The end of a step of length h, or the moment inside it where a joint in permanent contact begins to pull; begun:
    what each of them pushed at the beginning."""
    lost = memory("contact.lost", 0)
    half = 0.5 * number(whole(1))  # as a value: the text of `within` is the same for all of them

    def locate(place: int, joint: Joint, push: Callable[[Scalar], Scalar], pulls_at: Scalar) -> tuple[Point, Scalar]:
        def halve(low: Scalar, high: Scalar) -> tuple[Vector, Scalar]:
            between = 0.5 * (low + high)
            pulls = push(between) < 0.0
            return [where(pulls, low, between), where(pulls, between, high)], high - low > 1e-13

        [_, u], _ = loop([where(pulls_at > 0.5, 0.5, 0.0), pulls_at], halve, 60)
        t = before.state.t + u * h
        state = motion.within(before, after, h, u, t, bend)
        pose = motion.equations.pose(state.q, t)
        bearing, journal = joint.ends()
        d = pose.between((bearing, journal))
        angle = atan2(d.y, d.x)
        in_bearing = angle - pose.angles[pose.owner(bearing)]
        emit("losses", joint=number(whole(place)), time=t, angle=angle, in_bearing=in_bearing)
        if not stops(joint):
            return after, h
        lost.value = whole(place)
        return motion.point(state)[0], u * h

    def one_by_one() -> tuple[Point, Scalar]:
        end, length, at_end = after, h, acting
        for i, joint in enumerate(motion.following.values()):

            def push(u: Scalar, i: int = i, end: Point = end, length: Scalar = length) -> Scalar:
                state = motion.within(before, end, length, u, before.state.t + u * length, bend)
                return motion.pushes(motion.acting(state))[i]

            middle, last = push(half), motion.pushes(at_end)[i]
            dip, lowest = vertex(begun[i], middle, last)
            low = branch(lowest < NEAR * maximum(begun[i], last), functools.partial(push, dip), lambda: 1.0)
            pulls = (begun[i] >= 0.0) & ((middle < 0.0) | (last < 0.0) | (low < 0.0))
            pulls_at = where(middle < 0.0, where((low < 0.0) & (dip < 0.5), dip, 0.5), where(low < 0.0, dip, 1.0))
            here = functools.partial(locate, i + 1, joint, push, pulls_at)
            end, length = branch(pulls, here, functools.partial(tuple, (end, length)))
            at_end = motion.acting(end.state)
        return end, length

    middles = motion.pushes(motion.acting(motion.within(before, after, h, half, before.state.t + half * h, bend)))
    three = list(zip(begun, middles, motion.pushes(acting), strict=True))
    dips = [(vertex(*pushes)[1] < NEAR * maximum(pushes[0], pushes[2])) for pushes in three]
    doubtful = [(a >= 0.0) & ((b < 0.0) | (c < 0.0) | dip) for (a, b, c), dip in zip(three, dips, strict=True)]
    after, h = branch(either(doubtful), one_by_one, lambda: (after, h))
    return after, motion.acting(after.state), h
