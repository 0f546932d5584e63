"""Where actuators reach and leave their limits inside a step.

What an actuator gives has a kink there.  No polynomial follows it, so that a step which passes one knows neither its
own error nor the largest of what acts in it.  Such a step is taken again with the length at which the limit is met.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..engine.text import branch, loop, memory, seldom, shared_max
from ..engine.typing import Scalar, Vector
from ..engine.values import where
from ..numerics.choice import maximum, minimum
from .contact_solver import either
from .step import Point

if TYPE_CHECKING:
    from .motion import Bend, Motion

TRIES = 4.0  # of ending a step where a limit is met
ROUNDS = 30  # of finding it
SLIVER = 1e-5  # of a step: a kink so near to one of its ends is none
NOWHERE = 2.0  # in place of a share of a step
UNKNOWN = 0.0  # of its limit: what an actuator was asked for before the first step


class Limits:
    """The limits of a loop whose law is computed at every state, in a step of length h; asked: what actuators are asked
    for at its end, as shares of their limits."""

    def __init__(
        self, motion: Motion, before: Point, after: Point, h: Scalar, bend: Bend, asked: Sequence[Scalar]
    ) -> None:
        self.motion, self.before, self.after, self.h, self.bend, self.asked = motion, before, after, h, bend, asked
        names = [f"control.{name}.asked" for name in motion.limited]
        self.last, self.tries = [memory(name, UNKNOWN) for name in names], memory("limits.tries", 0.0)

    def inside(self, u: Scalar) -> Vector:
        """What actuators are asked for at a share of the step."""
        t = self.before.state.t + u * self.h
        command = self.motion.acting(self.motion.within(self.before, self.after, self.h, u, t, self.bend)).command
        assert command is not None
        return list(command.asked)

    def crossing(self) -> tuple[Scalar, Scalar]:
        """The share of the step at which the first limit is met inside it, and whether one is."""
        passes = other_side([cell.value for cell in self.last], self.asked)
        share = branch(passes & (self.tries.value < TRIES), seldom(lambda: self.search()), lambda: NOWHERE)
        share = -shared_max(-share)  # lanes that share their steps land together
        crossed = share < NOWHERE
        self.tries.value = where(crossed, self.tries.value + 1.0, 0.0)
        return minimum(share, 1.0), crossed

    def search(self) -> Scalar:
        """The share at which the first limit is met, NOWHERE if that is at an end of the step."""
        begin = self.inside(SLIVER)

        def halve(low: Scalar, high: Scalar) -> tuple[Vector, Scalar]:
            between = 0.5 * (low + high)
            beyond = other_side(begin, self.inside(between))
            return [where(beyond, low, between), where(beyond, between, high)], high - low > 1e-9

        def found() -> Scalar:
            [_, high], _ = loop([SLIVER, 1.0], halve, ROUNDS)
            return where(high < 1.0 - SLIVER, high, NOWHERE)

        return branch(other_side(begin, self.inside(1.0)), found, lambda: NOWHERE)

    def keep(self) -> None:
        """Remember what actuators are asked for at the end of the step, which is taken."""
        for cell, x in zip(self.last, self.asked, strict=True):
            cell.value = x


def other_side(some: Sequence[Scalar], others: Sequence[Scalar]) -> Scalar:
    """Whether a limit lies between what actuators are asked for at two times, as shares of their limits."""
    both = zip(some, others, strict=True)
    return either([(clipped(x) != clipped(y)) & (maximum(abs(x), abs(y)) > 1.0) for x, y in both])


def clipped(x: Scalar) -> Scalar:
    """On which side of its limits an actuator is: -1, 0 or 1."""
    return where(x > 1.0, 1.0, where(x < -1.0, -1.0, 0.0))
