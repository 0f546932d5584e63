"""Contact forces of compliant joints: normal and friction laws at the gaps, and when contacts begin and end.

A contact is closed or open for a whole step.  A step in which an open gap closes, or a closed one opens, is taken
again with the length at which that happens; there the contact changes, with its approach speed kept for the law.
Steps of fixed length cannot: theirs changes at the end of the step, and a gap that closes inside pushes from there.
A contact that is deep at once, at the end of its first step, ends the run: the step was too long for it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..elements.pose import Pose, Spot
from ..engine.text import branch, loop, memory, seldom, shared_max, subroutine, whole
from ..engine.typing import Scalar, Vector
from ..engine.values import where
from ..laws import Law
from ..model.clearances import Compliant
from ..model.mechanism import Mechanism
from ..numerics.choice import maximum, minimum
from ..numerics.linalg import dot
from .contact_solver import either
from .contacts import contacts
from .dynamics import Equations
from .step import Acting, Point, State, Touch

if TYPE_CHECKING:
    from .motion import Bend, Motion

LANDED = 1e-13  # m or rad: a gap this near to 0 is where contact begins or ends,
ROUNDED = 1e-15  # or one that rounding of places and angles does not tell from 0: of their size
SLOWEST = 1e-6  # m/s: the least approach speed that a law is given
DEEPEST = 0.1  # of the clearance: more in the first step of a contact, and the step was too long
TRIES = 8  # of landing on a change of contact
ROUNDS = 40  # of finding it inside a step
LOOKS = 16  # parts of a step in which it is looked for
NOWHERE = 2.0  # in place of a share of a step


@dataclass
class Pressed:
    """One contact at a state, and the rates of its law's own states."""

    contact: Spot
    touch: Touch
    rates: Vector


def laws(mechanism: Mechanism) -> dict[str, dict[str, Law]]:
    """The normal law and, if there is one, the friction law of each compliant joint."""
    found = {}
    for name, joint in mechanism.loose(Compliant).items():
        if isinstance(joint.contact, Compliant):
            found[name] = {part: choice.law for part, choice in joint.contact.laws().items()}
    return found


class Compliance:
    """The compliant contacts of a mechanism as text."""

    def __init__(self, equations: Equations, labels: Sequence[str], fixed: bool) -> None:
        self.equations, self.names, self.labels = equations, equations.coordinates, list(labels)
        self.fixed = fixed
        self.laws = laws(equations.mechanism)
        self.starts: dict[str, float] = {}  # the states of laws, with their start: rates, and memory that stands still
        self.states: list[dict[str, dict[str, str]]] = []  # of each contact and law: the law's words, and their names
        for label in labels:
            own: dict[str, dict[str, str]] = {}
            for part, law in self.laws[equations.mechanism.owner(label)].items():
                place = label if part == "friction" else f"{label}.{part}"
                own[part] = {name: f"{place}.{name}" for name in (*law.rates, *law.memory)}
                self.starts |= {own[part][name]: x for name, x in (law.rates | law.memory).items()}
            self.states.append(own)

    def numbers(self, joint: str, part: str) -> dict[str, Scalar]:
        """The parameters of a joint's normal or friction law; those of geometry come from the joint."""
        law = self.laws[joint][part]
        given = {name: self.equations.numbers(f"{joint}.{part}.{name}") for name in law.own}
        return given | {name: self.equations.numbers(f"{joint}.{name}") for name in law.geometry}

    def pressed(self, pose: Pose, state: State) -> list[Pressed]:
        """Every contact at a state."""
        result = []
        own = dict(zip(self.starts, state.z, strict=False))
        for i, c in enumerate(contacts(pose, Compliant) if self.labels else ()):
            mode, approach = state.modes[i], state.approach[i]
            shut = mode > 0.5
            opening = dot([c.normal.get(name, 0) for name in self.names], state.v)
            if self.fixed:
                inside = ~shut & (c.gap < 0) & (opening < 0)
                approach = where(inside, maximum(-opening, SLOWEST), approach)
                shut = shut | inside
            slip = dot([(c.tangential or {}).get(name, 0) for name in self.names], state.v)

            # a law costs more than a branch, and most contacts are open
            touch = Touch(c.gap, opening, slip, 0.0, 0.0, mode)
            push = functools.partial(self.push, i, touch, approach, own, c.tangential is not None)
            names = [name for part in self.states[i].values() for name in part.values()]
            idle: Callable[[], Any] = functools.partial(tuple, (0.0, 0.0, [0.0] * len(names)))
            normal, tangential, rates = branch(shut, push, idle)
            result.append(Pressed(c, Touch(c.gap, opening, slip, normal, tangential, mode), rates))
        return result

    def push(
        self, i: int, touch: Touch, approach: Scalar, own: Mapping[str, Scalar], rubs: bool
    ) -> tuple[Scalar, Scalar, Vector]:
        """Normal and tangential force of a closed contact, and the rates of its laws' states; own: all states."""
        force, drag, moved, _ = self.said(i, touch, approach, own, rubs)
        return force, drag, [moved.get(name, 0.0) for part in self.states[i].values() for name in part.values()]

    def said(
        self, i: int, touch: Touch, approach: Scalar, own: Mapping[str, Scalar], rubs: bool
    ) -> tuple[Scalar, Scalar, dict[str, Scalar], dict[str, Scalar]]:
        """What the laws of a closed contact say: both forces, the rates of their states, and their next memory."""
        joint, states = self.equations.mechanism.owner(self.labels[i]), self.states[i]
        depth = where(touch.gap < 0, -touch.gap, 0.0)
        inputs: dict[str, Scalar] = {"normal": (depth, -touch.opening, approach)}
        force, drag = 0.0, 0.0
        moved: dict[str, Scalar] = {}
        kept: dict[str, Scalar] = {}
        for part, law in self.laws[joint].items():
            if part == "friction" and not rubs:
                continue
            known = {word: own[name] for word, name in states[part].items()}
            given = inputs["normal"] if part == "normal" else (touch.slip, force)
            result, rates, memory_ = law(*given, **self.numbers(joint, part), **known)
            force, drag = (result, drag) if part == "normal" else (force, result)
            moved |= {states[part][word]: x for word, x in rates.items()}
            kept |= {states[part][word]: x for word, x in memory_.items()}
        return force, drag, moved, kept

    def remembered(self, state: State, touches: Sequence[Touch]) -> dict[str, Scalar]:
        """The memory that laws of closed contacts leave behind at the end of a step."""
        own = dict(zip(self.starts, state.z, strict=False))
        kept: dict[str, Scalar] = {}
        for i, touch in enumerate(touches):
            laws = self.laws[self.equations.mechanism.owner(self.labels[i])]
            names = [self.states[i][part][word] for part, law in laws.items() for word in law.memory]
            if not names:
                continue
            rubs = "friction" in laws and touch.slip is not None

            def told(i: int = i, touch: Touch = touch, names: list[str] = names, rubs: bool = rubs) -> Vector:
                said = self.said(i, touch, state.approach[i], own, rubs)[3]
                return [said.get(name, own[name]) for name in names]

            same: Callable[[], Vector] = functools.partial(list, [own[name] for name in names])
            kept |= dict(zip(names, branch(state.modes[i] > 0.5, told, same), strict=True))
        return kept

    def forces(self, pressed: Sequence[Pressed]) -> Vector:
        """Their generalised forces; both bodies are pushed at one place."""
        total: Vector = [0] * len(self.names)
        for one in pressed:
            rub = one.contact.rubbing or one.contact.tangential or {}
            for j, name in enumerate(self.names):
                push, drag = one.contact.normal.get(name, 0), rub.get(name, 0)
                total[j] = total[j] + push * one.touch.normal + drag * one.touch.tangential
        return total

    def _gaps(self, state: State) -> tuple[Vector, Vector]:
        """Gaps and their rates, with the sign in which gaps are positive while contacts stay as the state says."""
        found = contacts(self.equations.pose(state.q, state.t), Compliant)
        signs = [where(mode > 0.5, -1.0, 1.0) for mode in state.modes]
        gaps = [c.gap * sign for c, sign in zip(found, signs, strict=True)]
        rates = [dot([c.normal.get(name, 0) for name in self.names], state.v) for c in found]
        return gaps, [rate * sign for rate, sign in zip(rates, signs, strict=True)]

    def landed(self, q: Vector) -> Vector:
        """How near to 0 each gap is where its contact begins or ends (m or rad): far from the origin, or after many
        turns, no nearer than rounding lets it come, for a step that would only bring it nearer moves no body."""
        farthest, turned = 0.0, 1.0
        for i, x in enumerate(q):
            farthest = farthest if i % 3 == 2 else maximum(farthest, abs(x))
            turned = maximum(turned, abs(x)) if i % 3 == 2 else turned
        sizes = {"m": farthest * turned, "rad": turned}
        return [maximum(LANDED, ROUNDED * sizes[self.equations.mechanism.gap_unit(label)]) for label in self.labels]

    def fresh(self, now: State) -> Scalar:
        """Whether some contact begins just there."""
        times = [memory(f"{label}.since", 0.0).value for label in self.labels]
        return either([(time == now.t) & (now.t > 0) for time in times])

    def crossing(self, motion: Motion, before: Point, after: Point, h: Scalar, bend: Bend) -> tuple[Scalar, Scalar]:
        """The share of a step of length h at which the first contact begins or ends inside it, and whether one does.

        Looked at are the beginning, the middle and the end; where some gap could be below 0 between them, the parts of
        the step one after the other, each with the least value of gaps that dip in it."""
        tries, look = memory("landing.tries", 0.0), subroutine(self._gaps)
        landed = self.landed(before.state.q)

        def inside(u: Scalar) -> tuple[Vector, Vector]:
            gaps: tuple[Vector, Vector] = look(motion.within(before, after, h, u, before.state.t + u * h, bend))
            return gaps

        def lowest(begin: Scalar, dips: Vector) -> Scalar:
            """The share at which some gap is lowest in the part that begins there, if that is below 0; else NOWHERE."""
            share: Any = NOWHERE
            for i, dip in enumerate(dips):

                def halve(low: Any, high: Any, i: int = i) -> tuple[list[Any], Any]:
                    between = 0.5 * (low + high)
                    falls = inside(between)[1][i] < 0
                    return [where(falls, between, low), where(falls, high, between)], high - low > 1e-9

                [low, _], _ = loop([begin, begin + 1 / LOOKS], halve, ROUNDS)
                below = dip & (inside(low)[0][i] < -landed[i])
                share = where(below, minimum(low, share), share)
            return share

        def part(begin: Scalar, seen: tuple[Vector, Vector], _: Scalar) -> tuple[tuple[Any, ...], Scalar]:
            end = begin + 1 / LOOKS
            there = inside(end)
            dips = [
                (slope < 0) & (rise > 0) & below(h / LOOKS, x, slope, y, rise)
                for x, slope, y, rise in zip(*seen, *there, strict=True)
            ]
            dip = branch(either(dips), lambda: lowest(begin, dips), lambda: NOWHERE)
            found = minimum(dip, where(passed(there[0], landed), end, NOWHERE))
            on = found == NOWHERE
            return (where(on, end, begin), there, found), on

        def search() -> Scalar:
            (begin, _, end), _ = loop((0.0, seen[0], NOWHERE), part, LOOKS)

            def halve(low: Scalar, high: Scalar) -> tuple[Vector, Scalar]:
                between = 0.5 * (low + high)
                beyond = least(inside(between)[0]) < 0
                return [where(beyond, low, between), where(beyond, between, high)], high - low > 1e-14

            def found() -> Scalar:
                [low, high], _ = loop([begin, end], halve, ROUNDS)
                return 0.5 * (low + high)

            return branch(end < NOWHERE, found, lambda: NOWHERE)

        seen = look(before.state), inside(0.5), look(replace(after.state, modes=before.state.modes))
        doubtful = passed(seen[1][0], landed) | passed(seen[2][0], landed) | self.dips(h, *seen)
        share = branch(doubtful & (tries.value < TRIES), seldom(search), lambda: NOWHERE)
        share = -shared_max(-share)  # lanes that share their steps land together
        crossed = share < NOWHERE
        tries.value = where(crossed, tries.value + 1.0, 0.0)
        return minimum(share, 1.0), crossed

    def dips(self, h: Scalar, *seen: tuple[Vector, Vector]) -> Scalar:
        """Whether a gap could be below 0 between beginning, middle and end of a step, by values and rates there: the
        quintic through them is not lower than its Bernstein coefficients."""
        found = []
        for x, slope, y, middle, z, rise in zip(*seen[0], *seen[1], *seen[2], strict=True):
            first, last = x + 0.2 * h * slope, z - 0.2 * h * rise
            both = 3.2 * y - 0.1 * (x + z) - 0.5 * (first + last)
            more = 1.6 * h * middle + 0.5 * (x - z) + 1.5 * (first - last)
            found += [first < 0, last < 0, both < abs(more)]
        return either(found)

    def changed(
        self, motion: Motion, point: Point, acting: Acting, begun: Scalar, following: Scalar
    ) -> tuple[Point, Scalar]:
        """The end of a step that began at a time, with contacts begun or ended there and the slope that then holds;
        and the length of the next step, no longer than a new contact allows."""
        state, deep = point.state, memory("contact.deep", 0)
        flipped: Scalar = False
        modes, approach = [], []
        landed = [0.0] * len(self.labels) if self.fixed else self.landed(state.q)
        for i, (label, touch) in enumerate(zip(self.labels, acting.touches, strict=True)):
            closed = state.modes[i] > 0.5
            near = touch.gap <= landed[i]
            begins = ~closed & near & (touch.opening < 0)
            ends = closed & (touch.gap >= -landed[i]) & (touch.opening > 0)
            most = DEEPEST * self.play(label)
            since = memory(f"{label}.since", 0.0)
            first = begins | ((since.value == begun) & (begun > 0))
            deep.value = where((deep.value < 1) & first & (-touch.gap > most), whole(i + 1), deep.value)
            if not self.fixed:  # the step after a landing is as long as the one before, which saw no contact
                short = 0.5 * most / maximum(-touch.opening, SLOWEST)
                following = where(begins & (short < following), short, following)
            since.value = where(begins, state.t, since.value)
            modes.append(where(begins, 1.0, where(ends, 0.0, state.modes[i])))
            approach.append(where(begins, maximum(-touch.opening, SLOWEST), state.approach[i]))
            flipped = begins | ends | flipped
        z = list(state.z)
        names = list(motion.laws)
        remembered = self.remembered(state, acting.touches)
        for mode, own in zip(modes, self.states, strict=True):  # a new contact starts afresh
            for name in (name for part in own.values() for name in part.values()):
                k = names.index(name)
                z[k] = where(mode > 0.5, remembered.get(name, z[k]), self.starts[name])
            if any(name in remembered for part in own.values() for name in part.values()):
                flipped = (mode > 0.5) | flipped  # forces are those of the new memory
        after = replace(state, z=z, modes=modes, approach=approach)
        kept = Point(after, point.slope)
        following = following if self.fixed else -shared_max(-following)
        return branch(flipped, seldom(lambda: motion.point(after)[0]), lambda: kept), following

    def play(self, label: str) -> Scalar:
        """The length (or angle) beside which a penetration of a contact is small: its joint's play, if it has one."""
        name = self.equations.mechanism.owner(label)
        return self.equations.numbers(f"{name}.{self.equations.mechanism.joints[name].measured_by}")


def least(values: Sequence[Any]) -> Any:
    """The least of several values."""
    result = values[0]
    for x in values[1:]:
        result = where(x < result, x, result)
    return result


def passed(gaps: Vector, landed: Vector) -> Scalar:
    """Whether some gap is below 0 by more than where it counts as 0."""
    return either([gap < -near for gap, near in zip(gaps, landed, strict=True)])


def below(h: Scalar, x: Scalar, slope: Scalar, y: Scalar, rise: Scalar) -> Scalar:
    """Whether a curve that falls at x and rises at y, a time h later, could be below 0 in between: one that is bent
    upwards lies above the tangents at its ends."""
    u = (y - x - h * rise) / where(slope < rise, slope - rise, -1.0)  # s: where the tangents meet
    return x + slope * u < 0
