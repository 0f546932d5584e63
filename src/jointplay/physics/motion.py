"""The parts of a Runge-Kutta step that are needed many times: equations of motion, projection, records, samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..engine.text import branch, emit, subroutine
from ..engine.values import sqrt, where
from ..model.clearances import Following
from ..model.mechanism import owner
from ..numerics.choice import maximum
from ..numerics.linalg import dot, is_zero
from ..numerics.signals import peak, peaks
from .compliance import Compliance
from .contacts import reaction
from .control import Command, Loop, flag
from .dense import dense, hermite
from .dynamics import Equations
from .pins import Pins

WORK = "work"
CONTACT_WORK = ("contact.normal.work", "contact.friction.work")
PER_CONTACT = ("normal", "tangential", "gap", "opening", "slip")
PIVOT = 1e-10  # relative pivots below this: rows depend on each other
CLOSED, STILL = 1e-15, 1e-12  # m or rad, and per s: what is open by less counts as closed in fixed steps
MOMENTA = ("x", "y", "angle")  # linear, and angular about the origin


class Found(NamedTuple):
    """What the equations of motion give at a state."""

    accelerations: list[Any]
    rates: list[Any]  # of the states of laws
    weak: Any  # 1 where rows depend on each other, else 0
    left: Any  # what the friction of pins leaves open (N m)
    powers: list[Any]  # of applied forces and drives (W), then of normal and friction forces of contacts
    multipliers: list[Any]
    reactions: list[Any]  # force x, force y, moment of each joint
    touches: list[list[Any]]  # PER_CONTACT of each contact
    said: Command | None  # of the control loop


class Parts:
    """The parts of a step: traced once, called often."""

    def __init__(self, equations: Equations, compliance: Compliance) -> None:
        self.loop = Loop(equations) if equations.mechanism.control else None
        self.held: Command | None = None  # of a loop that is computed once a step
        self.states = [*compliance.rates, *(self.loop.rates if self.loop and not self.loop.digital else ())]
        self.equations, self.names, self.n = equations, equations.coordinates, len(equations.coordinates)
        self.joints, self.drives = list(equations.mechanism.joints), equations.mechanism.drives
        self.compliance, self.pins = compliance, Pins(equations)
        self.rows: list[str] = []
        self.following = equations.mechanism.loose(Following)
        self.isolated = equations.mechanism.isolated()
        self.integrals = [WORK, *(CONTACT_WORK if compliance.labels else ())]
        self.accelerate, self.closing = subroutine(self._accelerate), subroutine(self._closing)
        self.interpolate = subroutine(self._interpolate)

    def vector(self, state: Mapping[str, Any]) -> list[Any]:
        """Coordinates, rates and states of laws as the vector that is integrated."""
        return [*(state[name + end] for end in ("", ".rate") for name in self.names), *self.laws(state)]

    def laws(self, state: Mapping[str, Any], end: str = "") -> list[Any]:
        """The states of laws."""
        return [state[name + end] for name in self.states]

    def flags(self, state: Mapping[str, Any], end: str = "", ahead: Any = 0.0) -> list[Any]:
        """Whether each contact is closed (1 or 0), and its approach speed; and where the controller's model is about to
        be, so much time ahead (s) of the state, or the torques that are held."""
        parts = (f"closed{end}", f"approach{end}")
        found = [state[f"{label}.{part}"] for label in self.compliance.labels for part in parts]
        if self.held is not None:
            return [*found, *self.held.torques]
        return [*found, *(state[n] + ahead * state[f"{n}.rate"] for n in (self.loop.guesses if self.loop else ()))]

    def _accelerate(self, t: Any, *numbers: Any) -> list[Any]:
        n, k = self.n, len(self.states)
        q, v, z = list(numbers[:n]), list(numbers[n : 2 * n]), list(numbers[2 * n : 2 * n + k])
        more = list(numbers[2 * n + k + 2 * len(self.compliance.labels) :])
        said, steered = None, [0] * n
        if self.loop and self.held is None:
            said = self.loop.command(t, *self.loop.seen(q, v, t), z[len(self.compliance.rates) :], [], more)
        if self.loop:
            steered = self.loop.forces(q, t, said.torques if said else more)
        pose = self.equations.pose(q, t)
        touches = self.compliance.touches(pose, v, numbers[2 * n + k :], z)
        pushed = self.compliance.forces(touches)
        added = [f + u for f, u in zip(pushed, steered, strict=True)]
        rows, spread, a, multipliers = self.equations.accelerations(q, v, t, added)
        a, multipliers, torques, left = self.pins.added(rows, spread, v, a, multipliers)
        self.rows = rows.labels
        powers = [dot(self.equations.applied(q, v, t), v) + dot(steered, v) + dot(multipliers, rows.speed)]
        for name, torque in torques.items():
            powers[0] = powers[0] + torque * self.pins.turning(self.pins.rough[name], v)
        if touches:
            bumping = sum((touch.normal * touch.opening for touch in touches), start=0)
            powers += [bumping, dot(pushed, v) - bumping]
        reactions = [dot(line, multipliers) for line in self.equations.reactions(rows, q, t)]
        for name, torque in torques.items():
            reactions[3 * self.joints.index(name) + 2] = torque
        for touch in touches:
            at = 3 * self.joints.index(touch.contact.joint)
            for k, part in enumerate(reaction(pose, touch.contact, touch.normal, touch.tangential)):
                reactions[at + k] = reactions[at + k] + part
        slopes = [rate for touch in touches for rate in touch.rates]
        each = [x for touch in touches for x in (getattr(touch, part) for part in PER_CONTACT)]
        ends: list[Any] = []
        if self.loop and said:
            slopes += said.slopes
            ends = [*said.torques, *(said.watched[n] for n in self.loop.watched), *said.place, *said.speed]
            ends += [said.left, said.jump, flag(said.weak)]
        weak = where(spread.weak(PIVOT), 1.0, 0.0)
        return [*a, *slopes, weak, left, *powers, *multipliers, *reactions, *each, *ends]

    def at(self, t: Any, y: Sequence[Any], flags: Sequence[Any]) -> Found:
        """The equations of motion at time t and a vector of the state, with contacts closed as flagged."""
        numbers = iter(self.accelerate(t, *y, *flags))

        def take(count: int) -> list[Any]:
            return [next(numbers) for _ in range(count)]

        a, z, [weak, left], powers = take(self.n), take(len(self.states)), take(2), take(len(self.integrals))
        multipliers, reactions = take(len(self.rows)), take(3 * len(self.joints))
        touches = [take(len(PER_CONTACT)) for _ in self.compliance.labels]
        said = self.held
        if self.loop and said is None:
            torques, watched = take(len(self.loop.control.actuators)), take(len(self.loop.watched))
            place, speed, [open_, jump, lost] = take(len(self.loop.guesses)), take(len(self.loop.guesses)), take(3)
            named = dict(zip(self.loop.watched, watched, strict=True))
            said = Command(torques, [], [], named, place, speed, open_, jump, lost > 0.5)
        return Found(a, z, weak, left, powers, multipliers, reactions, touches, said)

    def slopes(self, y: Sequence[Any], found: Found) -> list[Any]:
        """The time derivative of the vector."""
        return [*y[self.n : 2 * self.n], *found.accelerations, *found.rates]

    def _closing(self, t: Any, *y: Any) -> list[Any]:
        q, v = list(y[: self.n]), list(y[self.n :])
        rows = self.equations.rows(q, v, t)
        lacking = [w - dot(row, v) for w, row in zip(rows.speed, rows.B, strict=True)]
        gap: Any = 0.0
        lag: Any = 0.0
        for x, w in zip(rows.residual, lacking, strict=True):
            gap, lag = maximum(gap, abs(x)), maximum(lag, abs(w))

        def least() -> list[Any]:
            spread = self.equations.spread(rows)
            (shift, _), (kick, _) = spread([-x for x in rows.residual]), spread(lacking)
            return [*shift, *kick]

        if not self.compliance.fixed:
            return [*least(), gap]
        return [*branch((gap > CLOSED) | (lag > STILL), least, lambda: [0.0] * (2 * self.n)), gap]

    def project(self, t: Any, y: list[Any]) -> tuple[list[Any], Any]:
        """The vector y moved onto the constraints by least change in the mass metric, and what is left open."""
        n, both, rest = self.n, y[: 2 * self.n], y[2 * self.n :]
        first = self.closing(t, *both)

        def moved(change: Sequence[Any]) -> list[Any]:
            return [x + d for x, d in zip(both[:n], change[:n], strict=True)]

        def again() -> list[Any]:
            second = self.closing(t, *moved(first), *both[n:])
            ahead = [x + d for x, d in zip(moved(first), second[:n], strict=True)]
            third = self.closing(t, *ahead, *both[n:])
            return [*ahead, *(x + d for x, d in zip(both[n:], third[n : 2 * n], strict=True)), third[-1]]

        def enough() -> list[Any]:
            return [*(x + d for x, d in zip(both, first[: 2 * n], strict=True)), first[-1]]

        ends = branch(first[-1] > CLOSED, again, enough)
        return [*ends[: 2 * n], *rest], ends[-1]

    def pushes(self, found: Found) -> dict[str, Any]:
        """The normal force of each joint in permanent contact; below 0 it would have to pull."""
        return {f"{j}.normal": -found.multipliers[self.rows.index(f"{j}.distance")] for j in self.following}

    def state(self, y: Sequence[Any], found: Found) -> dict[str, Any]:
        """Coordinates, rates, accelerations and states of laws by name."""
        n = self.n
        parts = (("", y[:n]), (".rate", y[n : 2 * n]), (".acceleration", found.accelerations))
        named = {name + end: x for end, values in parts for name, x in zip(self.names, values, strict=True)}
        for name, x, rate in zip(self.states, y[2 * n :], found.rates, strict=True):
            named |= {name: x, f"{name}.rate": rate}
        if self.loop and found.said and self.held is None:
            for name, x, rate in zip(self.loop.guesses, found.said.place, found.said.speed, strict=True):
                named |= {name: x, f"{name}.rate": rate}
        return named | {f"{name}.rate": x for name, x in zip(self.integrals, found.powers, strict=True)}

    def segment(self, now: Mapping[str, Any]) -> dict[str, Any]:
        """The beginning of a step, kept until its samples are written."""
        kept = {}
        for name in self.names:
            for part, end in (("x0", ""), ("v0", ".rate"), ("a0", ".acceleration")):
                kept[f"{name}.{part}"] = now[name + end]
        for name in (*self.states, *self.integrals):
            kept |= {f"{name}.x0": now[name], f"{name}.v0": now[f"{name}.rate"]}
        for label in self.compliance.labels:
            kept |= {f"{label}.closed0": now[f"{label}.closed"], f"{label}.approach0": now[f"{label}.approach"]}
        return kept

    def within(self, new: Mapping[str, Any], u: Any) -> list[Any]:
        """The vector inside the last step, u from 0 to 1."""
        ends = (".x0", ".v0", ".a0", "", ".rate", ".acceleration")
        inside = self.interpolate(u, new["h0"], *(new[name + end] for name in self.names for end in ends))
        return [*inside, *(self.between(new, u, name) for name in self.states)]

    def _interpolate(self, u: Any, h: Any, *numbers: Any) -> list[Any]:
        each = [numbers[i : i + 6] for i in range(0, len(numbers), 6)]
        both = [dense(u, h, numbers[:3], numbers[3:]) for numbers in each]
        return [*(x for x, _ in both), *(rate for _, rate in both)]

    def between(self, new: Mapping[str, Any], u: Any, name: str) -> Any:
        """An integral or a law's state inside the last step."""
        return hermite(u, new["h0"], (new[f"{name}.x0"], new[f"{name}.v0"]), (new[name], new[f"{name}.rate"]))

    def record(self, found: Found, y: list[Any], t: Any, h: Any, energy: Any, momenta: Sequence[Any]) -> None:
        """Keep the largest forces, accelerations and errors of all steps, the last h long; `energy` is what kinetic and
        potential should sum to, `momenta` those of the start if nothing outside acts."""
        q, v = y[: self.n], y[self.n : 2 * self.n]
        if self.loop and found.said:
            self.loop.statistics(found.said, q, t, h, mean=True)
            self.loop.stray(q, found.said, t)
        kinetic, potential = self.equations.energies(q, v, t)
        peak("kinetic", kinetic, t)
        peak("imbalance", abs(kinetic + potential - energy), t)
        if momenta:
            off = [x - first for x, first in zip(self.equations.momenta(q, v), momenta, strict=True)]
            peak("momentum", maximum(abs(off[0]), abs(off[1])), t)
            peak("momentum.angle", abs(off[2]), t)
        largest = {f"{name}.largest": abs(a) for name, a in zip(self.names, found.accelerations, strict=True)}
        for i, joint in enumerate(self.joints):
            x, y_, moment = found.reactions[3 * i : 3 * i + 3]
            largest |= {f"{joint}.force.x": abs(x), f"{joint}.force.y": abs(y_)}
            largest[f"{joint}.force"] = sqrt(x * x + y_ * y_)
            if not is_zero(moment):
                largest[f"{joint}.moment"] = abs(moment)
        for row, x in zip(self.rows, found.multipliers, strict=True):
            if owner(row) in self.drives:
                largest[f"{owner(row)}.effort"] = abs(x)
        for name, push in self.pushes(found).items():
            largest |= {f"{name}.most": push, f"{name}.least": -push}
        for label, (normal, _, gap, _, _) in zip(self.compliance.labels, found.touches, strict=True):
            largest |= {f"{label}.normal": normal, f"{label}.depth": -gap}
            pressed = f"{owner(label)}.pressed"
            largest[pressed] = largest.get(pressed, 0.0) + normal
        peaks(largest, t)

    def write(self, new: Mapping[str, Any], time: Any) -> None:
        """Write the sample at a time inside the last step."""
        u = (time - new["t0"]) / new["h0"]
        y = self.within(new, u)
        found = self.at(time, y, self.flags(new, "0", time - new["t"]))
        kinetic, potential = self.equations.energies(y[: self.n], y[self.n : 2 * self.n], time)
        ends = [f"{joint}.{part}" for joint in self.joints for part in ("force.x", "force.y", "moment")]
        columns = {k: x for k, x in self.state(y, found).items() if k.removesuffix(".rate") not in self.integrals}
        columns |= dict(zip(ends, found.reactions, strict=True))
        columns |= {f"{row}.multiplier": x for row, x in zip(self.rows, found.multipliers, strict=True)}
        columns |= {name: self.between(new, u, name) for name in self.integrals}
        for label, touch in zip(self.compliance.labels, found.touches, strict=True):
            columns |= {f"{label}.{part}": x for part, x in zip(PER_CONTACT, touch, strict=True)}
            columns[f"{label}.closed"] = new[f"{label}.closed0"]
        columns |= self.compliance.places(self.equations.pose(y[: self.n], time))
        if self.loop and found.said:
            columns = {k: x for k, x in columns.items() if not k.startswith("control.")}
            columns |= self.loop.columns(found.said, y[: self.n], time)
            self.loop.guard(found.said)
        emit("samples", time=time, **columns, kinetic=kinetic, potential=potential)


def initial(
    names: Sequence[str],
    start: Sequence[Any],
    h: float,
    power: float,
    pushes: Mapping[str, float],
    contacts: Mapping[str, tuple[float, float]],
    laws: Mapping[str, float],
    model: Sequence[str] = (),
) -> dict[str, float]:
    """The state of the text at time 0: coordinates, rates and accelerations of `start`; normal forces of joints in
    permanent contact; closed (1 or 0) and approach speed of compliant contacts; states of laws; coordinates of the
    model that a controller knows."""
    state = {"t": 0.0, "h": h, "t0": 0.0, "h0": 1.0}
    for name, rate in {WORK: power, **(dict.fromkeys(CONTACT_WORK, 0.0) if contacts else {})}.items():
        state |= {name: 0.0, f"{name}.rate": rate, f"{name}.x0": 0.0, f"{name}.v0": rate}
    for name, *values in zip(names, *start, strict=True):
        for end, x in zip(("", ".rate", ".acceleration", ".x0", ".v0", ".a0"), values * 2, strict=True):
            state[name + end] = float(x)
    for name, x in laws.items():
        state |= {name: x, f"{name}.rate": 0.0, f"{name}.x0": x, f"{name}.v0": 0.0}
    for key, x, rate in zip(model, *start[:2], strict=True) if model else ():
        state |= {key: float(x), f"{key}.rate": float(rate)}
    for label, (closed, approach) in contacts.items():
        state |= {f"{label}.closed": closed, f"{label}.approach": approach}
        state |= {f"{label}.closed0": closed, f"{label}.approach0": approach}
    return state | {f"{joint}.normal": push for joint, push in pushes.items()}
