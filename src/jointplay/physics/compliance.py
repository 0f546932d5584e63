"""Contact forces of compliant joints: normal and friction laws at the gaps, and when contacts begin and end.

A contact is closed or open for a whole step.  A step in which an open gap closes, or a closed one opens, is taken
again with the length at which that happens; there the contact changes, with its approach speed kept for the law.
Steps of fixed length cannot: theirs changes at the end of the step, and a gap that closes inside pushes from there.
A contact that is deep at once, at the end of its first step, ends the run: the step was too long for it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..engine.text import branch, emit, loop, memory, whole
from ..engine.values import sqrt, where
from ..laws import Law
from ..model.clearances import Compliant
from ..model.joints import Gear
from ..model.mechanism import Mechanism
from ..numerics.choice import maximum
from ..numerics.linalg import dot
from .contacts import Contact, contacts
from .dynamics import Equations
from .kinematics import Pose

LANDED = 1e-13  # m or rad: a gap this near to 0 is where contact begins or ends
SLOWEST = 1e-6  # m/s: the least approach speed that a law is given
DEEPEST = 0.1  # of the clearance: more in the first step of a contact, and the step was too long
TRIES = 8  # of landing on a change of contact
ROUNDS = 40  # of finding it inside a step


@dataclass
class Touch:
    """One contact at a state: gap, rates, forces, and the rates of its law's own states."""

    contact: Contact
    gap: Any
    opening: Any  # rate of the gap
    slip: Any
    normal: Any
    tangential: Any
    rates: list[Any]


def laws(mechanism: Mechanism) -> dict[str, dict[str, Law]]:
    """The normal law and, if there is one, the friction law of each compliant joint."""
    found = {}
    for name, joint in mechanism.loose(Compliant).items():
        if isinstance(joint.contact, Compliant):
            found[name] = {part: choice.law for part, choice in joint.contact.laws().items()}
    return found


def law_states(mechanism: Mechanism, labels: Sequence[str]) -> dict[str, float]:
    """The continuous states of the friction laws of all contacts, with their start."""
    found: dict[str, float] = {}
    chosen = laws(mechanism)
    for label in labels:
        friction = chosen[label.partition(".")[0]].get("friction")
        rates = {} if friction is None else friction.rates
        found |= {f"{label}.{name}": x for name, x in rates.items()}
    return found


class Compliance:
    """The compliant contacts of a mechanism as text."""

    def __init__(self, equations: Equations, labels: Sequence[str], fixed: bool = False) -> None:
        self.equations, self.names, self.labels = equations, equations.coordinates, list(labels)
        self.fixed = fixed
        self.laws = laws(equations.mechanism)
        self.rates = list(law_states(equations.mechanism, labels))

    def numbers(self, joint: str, part: str) -> dict[str, Any]:
        """The parameters of a joint's normal or friction law; those of geometry come from the joint."""
        law = self.laws[joint][part]
        given = {name: self.equations.numbers(f"{joint}.{part}.{name}") for name in law.own}
        return given | {name: self.equations.numbers(f"{joint}.{name}") for name in law.geometry}

    def touches(self, pose: Pose, v: Sequence[Any], closed: Sequence[Any], states: Sequence[Any]) -> list[Touch]:
        """Every contact at a state; `closed` holds 1 or 0 and the approach speed of each, `states` those of laws."""
        result, states = [], list(states)
        for i, c in enumerate(contacts(pose, Compliant)):
            shut, approach = closed[2 * i] > 0.5, closed[2 * i + 1]
            opening = dot([c.normal.get(name, 0) for name in self.names], v)
            if self.fixed:
                inside = ~shut & (c.gap < 0) & (opening < 0)
                approach = where(inside, maximum(-opening, SLOWEST), approach)
                shut = shut | inside
            slip = dot([(c.tangential or {}).get(name, 0) for name in self.names], v)
            rough = self.laws[c.joint].get("friction") if c.tangential is not None else None
            own = {name: states.pop(0) for name in rough.rates} if rough else {}

            # a law costs more than a branch, and most contacts are open
            pressed = functools.partial(self.pressed, c, opening, slip, approach, rough, own)
            idle: Callable[[], list[Any]] = functools.partial(list, [0.0] * (2 + len(own)))
            normal, tangential, *rates = branch(shut, pressed, idle)
            result.append(Touch(c, c.gap, opening, slip, normal, tangential, rates))
        return result

    def pressed(
        self, c: Contact, opening: Any, slip: Any, approach: Any, rough: Law | None, own: dict[str, Any]
    ) -> list[Any]:
        """Normal and tangential force of a closed contact, and the rates of its friction law's own states."""
        depth = where(c.gap < 0, -c.gap, 0.0)
        given = self.numbers(c.joint, "normal")
        force, _, _ = self.laws[c.joint]["normal"](depth, -opening, approach, **given)
        if rough is None:
            return [force, 0.0]
        drag, moved, _ = rough(slip, force, **self.numbers(c.joint, "friction"), **own)
        return [force, drag, *(moved[name] for name in own)]

    def forces(self, touches: Sequence[Touch]) -> list[Any]:
        """Their generalised forces; both bodies are pushed at one place."""
        total: list[Any] = [0] * len(self.names)
        for touch in touches:
            rub = touch.contact.rubbing or touch.contact.tangential or {}
            for j, name in enumerate(self.names):
                push, drag = touch.contact.normal.get(name, 0), rub.get(name, 0)
                total[j] = total[j] + push * touch.normal + drag * touch.tangential
        return total

    def gaps(self, q: list[Any], t: Any) -> list[Any]:
        """The gaps alone."""
        return [c.gap for c in contacts(self.equations.pose(q, t), Compliant)]

    def places(self, pose: Pose) -> dict[str, Any]:
        """The journal centres in their bearings, as columns of a sample."""
        columns: dict[str, Any] = {}
        for c in contacts(pose, Compliant):
            if c.place is not None:
                columns |= {f"{c.joint}.place.x": c.place.x, f"{c.joint}.place.y": c.place.y}
        return columns

    def crossing(self, parts: Any, new: dict[str, Any]) -> tuple[Any, Any]:
        """The share of a step at which the first contact begins or ends inside it, and whether one does."""
        tries = memory("landing.tries", 0.0)
        n = len(self.names)

        def gaps(u: Any) -> list[Any]:
            return self.gaps(parts.within(new, u)[:n], new["t0"] + u * new["h0"])

        signs = [where(new[f"{label}.closed0"] > 0.5, -1.0, 1.0) for label in self.labels]
        ends = [g * s for g, s in zip(self.gaps([new[name] for name in self.names], new["t"]), signs, strict=True)]
        middles = [g * s for g, s in zip(gaps(0.5), signs, strict=True)]

        def least(values: Sequence[Any]) -> Any:
            result = values[0]
            for x in values[1:]:
                result = where(x < result, x, result)
            return result

        early, late = least(middles), least(ends)
        crossed = ((early < -LANDED) | (late < -LANDED)) & (tries.value < TRIES)

        def search() -> Any:
            first = early < -LANDED

            def halve(low: Any, high: Any) -> tuple[list[Any], Any]:
                between = 0.5 * (low + high)
                beyond = least([g * s for g, s in zip(gaps(between), signs, strict=True)]) < 0
                return [where(beyond, low, between), where(beyond, between, high)], high - low > 1e-14

            [low, high], _ = loop([where(first, 0.0, 0.5), where(first, 0.5, 1.0)], halve, ROUNDS)
            return 0.5 * (low + high)

        share = branch(crossed, search, lambda: 1.0)
        tries.value = where(crossed, tries.value + 1.0, 0.0)
        return share, crossed

    def changed(self, parts: Any, new: dict[str, Any], found: Any) -> dict[str, Any]:
        """The state at the end of a step with contacts begun or ended there, and the forces that then act."""
        fixed = self.fixed
        flipped: Any = False
        after = dict(new)
        deep = memory("contact.deep", 0)
        for i, label in enumerate(self.labels):
            normal, tangential, gap, opening, _ = found.touches[i]
            closed = new[f"{label}.closed"] > 0.5
            near = gap <= (0.0 if fixed else LANDED)
            begins = ~closed & near & (opening < 0)
            ends = closed & (gap >= (0.0 if fixed else -LANDED)) & (opening > 0)
            most = DEEPEST * self.play(i)
            first = begins | ((memory(f"{label}.since", 0.0).value == new["t0"]) & (new["t0"] > 0))
            deep.value = where((deep.value < 1) & first & (-gap > most), whole(i + 1), deep.value)
            if not fixed:  # the step after a landing is as long as the one before, which saw no contact
                short = 0.5 * most / maximum(-opening, SLOWEST)
                after["h"] = where(begins & (short < after["h"]), short, after["h"])
            self.follow(i, begins, ends, new["t"], normal, tangential, gap, opening)
            after[f"{label}.closed"] = where(begins, 1.0, where(ends, 0.0, new[f"{label}.closed"]))
            after[f"{label}.approach"] = where(begins, maximum(-opening, SLOWEST), new[f"{label}.approach"])
            flipped = begins | ends | flipped
        for name, x in law_states(self.equations.mechanism, self.labels).items():  # a new contact starts afresh
            after[name] = where(after[f"{name.rpartition('.')[0]}.closed"] > 0.5, new[name], x)

        def again() -> list[Any]:
            fresh = parts.at(new["t"], parts.vector(after), parts.flags(after))
            state = after | parts.state(parts.vector(after), fresh)
            return [state[key] for key in new]

        return dict(zip(new, branch(flipped, again, lambda: [after[key] for key in new]), strict=True))

    def play(self, i: int) -> Any:
        """The clearance of the joint of a contact (m); of a gear its play (rad)."""
        name = self.labels[i].partition(".")[0]
        kind = "play" if isinstance(self.equations.mechanism.joints[name], Gear) else "clearance"
        return self.equations.numbers(f"{name}.{kind}")

    def follow(
        self, i: int, begins: Any, ends: Any, t: Any, normal: Any, tangential: Any, gap: Any, opening: Any
    ) -> None:
        """Keep what happens from the beginning of a contact to its end, and write it down there."""
        label = self.labels[i]
        since, speed = memory(f"{label}.since", 0.0), memory(f"{label}.speed", 0.0)
        force, depth = memory(f"{label}.greatest", 0.0), memory(f"{label}.deepest", 0.0)
        size = sqrt(normal * normal + tangential * tangential)
        since.value = where(begins, t, since.value)
        speed.value = where(begins, -opening, speed.value)
        force.value = where(begins, 0.0, maximum(force.value, size))
        depth.value = where(begins, 0.0, maximum(depth.value, -gap))

        def write() -> None:
            emit(
                "contacts",
                contact=float(i),
                time=since.value,
                duration=t - since.value,
                approach=speed.value,
                rebound=opening,
                force=force.value,
                depth=depth.value,
            )

        branch(ends, write, lambda: None)
