"""What a user would write in a file of their own: a joint, a drive, a force and laws, each by itself."""

from typing import Annotated, ClassVar, Literal

from jointplay.elements import Contact, Drawing, Drive, ForceHere, Here, Joint, Load, Rigid
from jointplay.elements.fields import Axis, Length, MovingBody, PointName, Points, RateMotion, Turning
from jointplay.engine import where
from jointplay.laws.roles import controller, friction, normal
from jointplay.numerics.linalg import Pair
from jointplay.parts.part import Quantity
from jointplay.parts.units import NUMBER


class Disc(Joint):
    """A disc of `radius` (m) about the second point on the left of a line through the first point along `axis`, in the
    first body's frame: it may roll, slide and lift."""

    kind: Literal["disc"] = "disc"
    between: Points
    axis: Axis = (1.0, 0.0)
    radius: Length
    contact: Contact = Rigid()
    measure: ClassVar = "radius"
    moves: ClassVar = "position"

    def gaps(self, here: Here):
        """The lowest point of the disc over the line."""
        up, radius = here.axis.turned(), here.number("radius")
        touching = here.point(self.between[1]) - up * radius
        slip = here.sliding(up.turned(), touching)
        yield here.spot(up.dot(here.apart) - radius, tangential=slip)

    def coordinate(self, here: Here):
        """Where its centre is along the line."""
        return here.axis.dot(here.apart)

    def drawing(self) -> Drawing:
        """A wheel on a line."""
        return Drawing(guide="line", wheel=self.radius)


class Ramp(Drive):
    """Prescribes the angle of a body or revolute joint as `share` times a motion's rate in time."""

    prescribes: ClassVar = "angle"

    kind: Literal["ramp"] = "ramp"
    of: Turning
    share: Annotated[float, Quantity(NUMBER)] = 1.0
    motion: RateMotion

    def residual(self, here: Here):
        """The angle grows with time."""
        return {"ramp": here.coordinate(self.of) - here.number("share") * here.motion() * here.pose.t}


class Drag(Load):
    """A force against the velocity of a point, `friction` times its size squared (N s^2/m^2), and a torque against the
    turning of a body."""

    outside: ClassVar = True

    kind: Literal["drag"] = "drag"
    at: PointName
    on: MovingBody
    coefficient: Annotated[float, Quantity(NUMBER, at_least=0)] = 0.1
    brake: Annotated[float, Quantity(NUMBER, at_least=0)] = 0.0

    def act(self, here: ForceHere) -> None:
        """It pushes its point back, and brakes its body."""
        place = here.point(self.at)
        v = Pair(here.rate(place.x), here.rate(place.y))
        here.push(self.at, v * (-here.number("coefficient") * abs(v)))
        here.twist(self.on, -here.number("brake") * here.spin(self.on))


@normal(units={"stiffness": "N/m"}, rates={"creep": 0.0})
def two_springs(depth, rate, approach, *, stiffness=1e6, relaxation=50.0, creep):
    """A spring beside one that creeps: loading is stiffer than unloading.  State: creep (m)."""
    force = stiffness * (2 * depth - creep)
    return where(force > 0, force, 0.0), {"creep": relaxation * (depth - creep)}, {}


@friction(memory={"fastest": 0.0}, units={"v0": "m/s"}, above={"v0": 0.0})
def polished(slip, normal, *, friction=0.2, v0=1e-3, fastest):
    """Friction that falls with the fastest slip there has been.  Memory: fastest (m/s)."""
    speed = abs(slip)
    most = where(speed > fastest, speed, fastest)
    return -normal * friction / (1 + most) * where(speed < v0, slip / v0, slip / speed), {}, {"fastest": most}


def _mixed(loop, settled, length):
    gravity = loop.model.gravity()
    return [g + settled * e + length * v for g, e, v in zip(gravity, loop.errors, loop.error_rates, strict=True)]


@controller()
def holding(loop, *, settled=-40.0, length=-8.0):
    """Holds the weight, and pulls back with negative gains that are called like something else."""
    return _mixed(loop, settled, length)
