"""Permanent contact: the clearance as a massless link that can only push, and where it would begin to pull."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from ..elements import Joint
from ..engine.text import branch, emit, loop, memory, whole
from ..engine.typing import Scalar, Vector
from ..engine.values import number, where
from ..model.clearances import Following
from ..numerics.functions import atan2
from .motion import Motion
from .step import Acting, Point


def stops(joint: Joint) -> bool:
    """Whether a run ends where this joint in permanent contact begins to pull."""
    return isinstance(joint.contact, Following) and joint.contact.on_loss == "stop"


def watch(
    motion: Motion, begun: Sequence[Scalar], before: Point, after: Point, acting: Acting, h: Scalar
) -> tuple[Point, Acting, Scalar]:
    """The end of a step of length h, or the moment inside it where a joint in permanent contact begins to pull; begun:
    what each of them pushed at the beginning."""
    lost = memory("contact.lost", 0)

    def locate(place: int, joint: Joint, push: Callable[[Scalar], Scalar], middle: Scalar) -> tuple[Point, Scalar]:
        def halve(low: Scalar, high: Scalar) -> tuple[Vector, Scalar]:
            between = 0.5 * (low + high)
            pulls = push(between) < 0.0
            return [where(pulls, low, between), where(pulls, between, high)], high - low > 1e-13

        early = middle < 0.0
        [_, u], _ = loop([where(early, 0.0, 0.5), where(early, 0.5, 1.0)], halve, 60)
        t = before.state.t + u * h
        state = motion.within(before, after, h, u, t)
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

    for i, joint in enumerate(motion.following.values()):

        def push(u: Scalar, i: int = i, after: Point = after, h: Scalar = h) -> Scalar:
            state = motion.within(before, after, h, u, before.state.t + u * h)
            return motion.pushes(motion.acting(state))[i]

        middle, end = push(0.5), motion.pushes(acting)[i]
        pulls = (begun[i] >= 0.0) & ((middle < 0.0) | (end < 0.0))
        here = functools.partial(locate, i + 1, joint, push, middle)
        after, h = branch(pulls, here, functools.partial(tuple, (after, h)))
        acting = motion.acting(after.state)
    return after, acting, h
