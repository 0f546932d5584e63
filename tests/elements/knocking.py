"""A force of one's own that knocks once, and says when."""

from typing import Annotated, ClassVar, Literal

from jointplay.elements import ForceHere, Here, Load
from jointplay.elements.fields import PointName
from jointplay.engine import where
from jointplay.model import Body, Mechanism, Prismatic
from jointplay.numerics.linalg import Pair
from jointplay.parts.motions import following
from jointplay.parts.part import Quantity
from jointplay.parts.units import FORCE, TIME


class Knock(Load):
    """A force (N) along x from the time `begin` on, for `duration` (s)."""

    outside: ClassVar = True

    kind: Literal["knock"] = "knock"
    at: PointName
    force: Annotated[float, Quantity(FORCE)]
    begin: Annotated[float, Quantity(TIME)]
    duration: Annotated[float, Quantity(TIME)]

    def act(self, here: ForceHere) -> None:
        """It pushes its point."""
        since = here.pose.t - here.number("begin")
        on = (since > 0.0) & (since < here.number("duration"))
        here.push(self.at, Pair(where(on, here.number("force"), 0.0), 0))

    def knot(self, here: Here):
        """Begin and end."""
        begin = here.number("begin")
        return following(here.pose.t, [begin, begin + here.number("duration")])


def struck() -> Mechanism:
    """1 kg on a rail, which is knocked for 10 ms."""
    return Mechanism(
        name="struck",
        gravity=(0, 0),
        ground={"points": {"O": (0, 0)}},
        bodies={"cart": Body(mass=1.0, inertia=1.0, points={"pin": (0, 0)})},
        joints={"rail": Prismatic(between=("ground.O", "cart.pin"), axis=(1, 0))},
        forces={"knock": Knock(at="cart.pin", force=500.0, begin=20.0, duration=0.01)},
    )
