"""Moreau-Jean time stepping: impacts and friction at velocity level, positions by the theta rule and a projection.

One step of length h (Akhadkar, Acary and Brogliato 2016, combined projection): forces act explicitly on the rates;
joints and contacts are taken at the place that this motion reaches; their impulses together give the new rates; the
coordinates follow the mean of old and new rates, and are moved back onto the joints and closed contacts by the least
change in the mass metric.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..engine.text import DONE, SINGULAR_PIVOT, SOLVER_FAILED, branch, emit, loop, memory, stop, subroutine
from ..engine.values import number, where
from ..model.clearances import Rigid
from ..model.mechanism import owner
from ..numerics.choice import maximum
from ..numerics.functions import atan2
from ..numerics.linalg import Pair, dot, is_zero
from ..numerics.signals import due, peak, peaks, total
from .contact_solver import FINE, OPEN, STICKING, Problem, either, solve
from .contacts import contacts, reaction
from .control import Loop
from .dynamics import Equations
from .impulses import PER_CONTACT, Ends, Touch, closing, combined, largest
from .kinematics import Pose

CLOSED = 5e-12  # m or rad: what a step may leave open before its positions are closed once more
VIOLATED = 1e-6  # of the largest impulse: more is no solution
PIVOT = 1e-10
UNCLOSED = 1e-7  # m or rad: more cannot be closed
ROUNDS = 8  # of closing positions
ACROSS = 0.1  # of the play: what moves by more in one step may come from the other side
IMPACT = 4.0  # mode of a sample whose step closed the contact


def stepper(
    make: Callable[[Any], Equations],
    theta: float = 0.5,
    projection: bool = True,
    midpoint: bool = False,
    strides: Mapping[str, int] | None = None,
) -> Callable[..., dict[str, Any]]:
    """The text of one step, for the equations that `make` builds from the parameters.

    theta: weight of the new rates in the positions; projection: move them back onto joints and closed contacts;
    midpoint: forces at the middle of the step (by three rounds) instead of at its beginning; strides: steps between
    samples of the control loop, by name.
    """
    return lambda s, p: Step(make(p), s, p, theta, projection, midpoint, strides or {}).text()


class Step:
    """One step of the scheme as text."""

    def __init__(
        self,
        equations: Equations,
        s: Any,
        p: Any,
        theta: float,
        projection: bool,
        midpoint: bool,
        strides: Mapping[str, int],
    ) -> None:
        self.loop = Loop(equations) if equations.mechanism.control else None
        self.strides, self.steered = strides, [0] * len(equations.coordinates)
        self.equations, self.s, self.p = equations, s, p
        self.theta, self.projection, self.midpoint = theta, projection, midpoint
        self.names, self.h = equations.coordinates, p["stepper.step"]
        self.t, self.after = self.h * number(s.step), self.h * number(s.step + 1)
        self.q, self.v = [s[name] for name in self.names], [s[f"{name}.rate"] for name in self.names]
        self.refine = subroutine(self._refine)

    def text(self) -> dict[str, Any]:
        """The next coordinates and rates."""
        self.go_freely()
        self.touch = Touch(self.equations, self.ahead, self.after)
        self.modes = [memory(f"{c.label}.mode", OPEN) for c in self.touch.contacts]
        ends = Ends(self.smooth, self.shift, self.called, 0.0, [[0.0] * len(PER_CONTACT) for _ in self.modes])
        if self.modes:
            gaps = [gap + dot(n, self.shift) for gap, n in zip(self.touch.gaps, self.touch.normals, strict=True)]
            ends = ends.like(branch(either([gap <= 0 for gap in gaps]), lambda: self.collide(gaps).flat(), ends.flat))
        place = [x + d for x, d in zip(self.ahead, ends.change, strict=True)]
        closed = [contact[2] > OPEN for contact in ends.contacts]
        place, pose = self.checked(place, ends.change, closed)
        self.record(place, pose, ends)
        for mode, contact in zip(self.modes, ends.contacts, strict=True):
            mode.value = contact[2]
        if self.loop:
            self.loop.measure(self.s.step + 1, self.h, self.after, place, ends.rates, self.strides)
        stop(self.s.step + 1 >= self.p["stepper.steps"], DONE)
        new = dict(zip(self.names, place, strict=True))
        return new | {f"{name}.rate": x for name, x in zip(self.names, ends.rates, strict=True)}

    def go_freely(self) -> None:
        """The motion by forces alone, and the impulses and changes that joints and drives add to it."""
        equations, h, q, v = self.equations, self.h, self.q, self.v
        at, rates, now = q, v, self.t
        if self.loop:
            self.said = self.loop.held(self.s.step, h, self.t, q, v, self.strides)
            self.loop.guard(self.said)
            self.steered = self.loop.forces(q, self.t, self.said.torques)
        for _ in range(3 if self.midpoint else 1):
            forces, self.pushed = equations.forces(at, rates, now), (at, rates, now)
            forces = [f + u for f, u in zip(forces, self.steered, strict=True)]
            free = [x + h * (f / m) for x, f, m in zip(v, forces, equations.masses(), strict=True)]
            rates = [0.5 * (a + b) for a, b in zip(v, free, strict=True)]
            at, now = [x + (0.5 * h) * r for x, r in zip(q, rates, strict=True)], self.t + 0.5 * h
        self.ahead = [x + h * ((1 - self.theta) * a + self.theta * b) for x, a, b in zip(q, v, free, strict=True)]
        self.rows = equations.rows(self.ahead, free, self.after)
        self.spread = equations.spread(self.rows)
        wanted = [w - dot(row, free) for w, row in zip(self.rows.speed, self.rows.B, strict=True)]
        kick, self.called = self.spread(wanted)
        if self.rows.B:
            stop(self.spread.weak(PIVOT), SINGULAR_PIVOT)
        self.smooth = [a + b for a, b in zip(free, kick, strict=True)]
        if self.projection:
            # a row on rates has no residual: its positions follow its rates
            both = zip(self.rows.residual, self.rows.at_rate, wanted, strict=True)
            self.shift, _ = self.spread([(h * self.theta) * w if rate else -x for x, rate, w in both])
        else:
            self.shift = [(h * self.theta) * x for x in kick]

    def collide(self, gaps: list[Any]) -> Ends:
        """Impulses of closed contacts; the gaps are those that the motion without contact would reach."""
        touch, every, h = self.touch, range(len(self.modes)), self.h
        lines = [line for pair in zip(touch.normals, touch.tangents, strict=True) for line in pair]
        changes, called = zip(*map(self.spread.response, lines), strict=True)
        W: list[list[Any]] = [[0] * len(lines) for _ in lines]
        for i, line in enumerate(lines):
            for j in range(i + 1):
                W[i][j] = W[j][i] = dot(line, changes[j])
        b = [dot(line, self.smooth) for line in lines]
        free_rates = list(b)
        friction, static, bounce = self.coefficients()
        before, old = [mode.value for mode in self.modes], [dot(line, self.v) for line in lines]
        striking = [self.strikes(i, before[i], bounce[i], *old[2 * i : 2 * i + 2]) for i in every]
        impact = either(striking)
        held, blocked = list(before), []  # blocked: joints and drives leave the contact no way
        for i in every:
            if touch.contacts[i].tangential is None:  # frictionless: a tangential row that does nothing
                W[2 * i + 1][2 * i + 1], b[2 * i + 1] = 1.0, 0.0
            elif static[i] is not friction[i]:  # what does not slide yet is held by static friction
                slow = abs(old[2 * i + 1]) <= abs(b[2 * i + 1] - old[2 * i + 1])
                held[i] = where((before[i] == OPEN) & slow, STICKING, before[i])
            b[2 * i] = b[2 * i] + where(impact, bounce[i] * old[2 * i], 0.0)  # Newton's rule, for all that are closed
            free = dot([x * x for x in lines[2 * i]], self.spread.inverse)
            blocked.append((gaps[i] <= 0) & (b[2 * i] < 0) & (W[2 * i][2 * i] <= PIVOT * free))
        normal = [[W[2 * i][2 * j] for j in every] for i in every]

        smooth = [c.tangential is None for c in touch.contacts]

        def impulses(active: list[Any]) -> list[Any]:
            answer = solve(Problem(W, b, friction, static, active, held, smooth))
            change = combined(self.shift, [h * self.theta * x for x in answer.impulses], changes)
            left = [gaps[i] + (h * self.theta) * dot(W[2 * i], answer.impulses) for i in every]
            if not self.projection:
                return [*answer.impulses, *answer.modes, answer.violation, *change, *left]
            chosen = [active[i] & ((answer.impulses[2 * i] > 0) | (left[i] < 0)) for i in every]
            push = closing(normal, [-gap for gap in left], chosen)
            change = combined(change, push, [changes[2 * i] for i in every])
            left = [x + dot(row, push) for x, row in zip(left, normal, strict=True)]
            return [*answer.impulses, *answer.modes, answer.violation, *change, *left]

        count = len(every)
        found = self.activated(impulses, gaps) if count > 1 else impulses([gap <= 0 for gap in gaps])
        p, modes, violation = found[: 2 * count], found[2 * count : 3 * count], found[3 * count]
        change = found[3 * count + 1 : 3 * count + 1 + len(self.names)]
        stop((violation > VIOLATED) | either(blocked), SOLVER_FAILED)
        peak("violation", violation)
        branch(violation > FINE, lambda: total("steps.unconverged", 1.0), lambda: None)
        rates = combined(self.smooth, p, changes)
        hits = [struck & (p[2 * i] > 0) for i, struck in enumerate(striking)]
        struck = either([hit | ((before[i] == OPEN) & (p[2 * i] > 0)) for i, hit in enumerate(hits)])
        each = []
        gained: Any = 0.0
        for i in every:
            (n, t), (un, ut) = p[2 * i : 2 * i + 2], old[2 * i : 2 * i + 2]
            new = (free_rates[2 * i] + dot(W[2 * i], p), free_rates[2 * i + 1] + dot(W[2 * i + 1], p))
            lost = n * (-0.5 * (un + new[0])), t * (-0.5 * (ut + new[1]))
            each.append([n, t, modes[i], *lost, new[1]])
            gained = gained - lost[0] - lost[1]
            self.count_modes(i, hits[i], each[-1], un, lost[0] + lost[1])
        branch(either(hits), lambda: total("created", maximum(gained, 0.0)), lambda: None)
        self.count_corners(modes)
        return Ends(rates, change, combined(self.called, p, called), where(struck, 1.0, 0.0), each)

    def strikes(self, i: int, before: Any, bounce: Any, approach: Any, slip: Any) -> Any:
        """Where a contact is struck: it was open and approaches, or it comes from the other side of its play, so fast
        that it crosses a good part of it in this step.

        A journal that slides along its bearing approaches it in every step by the curve it runs through; what rebounds
        no faster than that would keep up does not count.  This limit vanishes with the step.
        """
        c = self.touch.contacts[i]
        if c.tangential is None:
            return (approach < 0) & (before == OPEN)
        bent = self.h / self.equations.numbers(f"{c.joint}.clearance")
        struck = (approach < 0) & ((before == OPEN) | (-approach * bent > ACROSS))
        if c.place is None:
            return struck
        least = where(bounce < 0.8, (1 + bounce) / (1 - bounce), 10.0) * bent
        return struck & (-approach > least * (slip * slip))

    def activated(self, impulses: Callable[[list[Any]], list[Any]], gaps: list[Any]) -> list[Any]:
        """Repeat with the contacts that others push shut, until none is left out."""
        begin = [where(gap <= 0, 1.0, 0.0) for gap in gaps]
        size = 4 * len(gaps) + 1 + len(self.names)

        def once(*state: Any) -> tuple[list[Any], Any]:
            active = [x > 0.5 for x in state[: len(gaps)]]
            found = impulses(active)
            shut = [~a & (left < 0) for a, left in zip(active, found[-len(gaps) :], strict=True)]
            following = [where(a | b, 1.0, 0.0) for a, b in zip(active, shut, strict=True)]
            return [*following, *found], either(shut)

        ends, _ = loop([*begin, *[0.0] * size], once, len(gaps))
        return list(ends[len(gaps) :])

    def coefficients(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Friction, static friction and restitution of each contact."""
        numbers, joints = self.equations.numbers, self.equations.mechanism.loose(Rigid)
        friction, static, bounce = [], [], []
        for c in self.touch.contacts:
            rough = c.tangential is not None
            friction.append(numbers(f"{c.joint}.friction") if rough else 0.0)
            own = joints[c.joint].contact if rough else None
            given = isinstance(own, Rigid) and own.static_friction is not None
            static.append(numbers(f"{c.joint}.static_friction") if given else friction[-1])
            bounce.append(numbers(c.restitution))
        return friction, static, bounce

    def count_modes(self, i: int, hit: Any, contact: list[Any], approach: Any, lost: Any) -> None:
        """Count what a contact does, and write down an impact."""
        c, (n, t, mode, *_) = self.touch.contacts[i], contact
        total(f"{c.label}.sticking", where(mode == STICKING, 1.0, 0.0))
        total(f"{c.label}.sliding", where((mode > OPEN) & (mode < STICKING), 1.0, 0.0))

        def write() -> None:
            total(f"{c.label}.impacts", 1.0)
            angle = atan2(c.place.y, c.place.x) if c.place else 0.0
            emit(
                "impacts",
                time=self.after,
                contact=float(i),
                angle=angle,
                approach=-approach,
                normal=n,
                tangential=t,
                lost=lost,
            )

        branch(hit, write, lambda: None)

    def count_corners(self, modes: list[Any]) -> None:
        """Count how the four corners of each prismatic joint touch, and how often its load changes sides."""
        on = {c.label: where(m > OPEN, 1.0, 0.0) for c, m in zip(self.touch.contacts, modes, strict=True)}
        for joint in self.equations.mechanism.loose(Rigid):
            ends = [f"{joint}.{end}.{side}" for end in ("front", "rear") for side in ("upper", "lower")]
            if ends[0] not in on:
                continue
            front_up, front_low, rear_up, rear_low = (on[end] for end in ends)
            up, low = front_up + rear_up, front_low + rear_low
            flush = (up == 2.0) | (low == 2.0)
            total(f"{joint}.one corner", where(up + low == 1.0, 1.0, 0.0))
            total(f"{joint}.two opposite corners", where((up + low > 1.0) & ~flush, 1.0, 0.0))
            total(f"{joint}.two corners on one side", where(flush, 1.0, 0.0))
            side = memory(f"{joint}.side", 0.0)
            now = where(up > low, 1.0, where(low > up, -1.0, side.value))
            total(f"{joint}.side switches", where(now * side.value < 0, 1.0, 0.0))
            side.value = now

    def checked(self, place: list[Any], change: list[Any], closed: list[Any]) -> tuple[list[Any], Pose]:
        """The place after a look at what joints and contacts leave open there; closed once more where it matters."""
        ahead, turns = self.equations.pose(self.ahead, self.after), {}
        for body in self.equations.mechanism.bodies:
            angle = change[self.names.index(f"{body}.angle")]
            turns[body] = ahead.turns[body] * Pair(1 - 0.5 * angle * angle, angle)  # a small turn, to third order
        pose = self.equations.pose(place, self.after, turns)
        open_rows = [abs(x) for x in self.equations.residuals(pose)]
        gaps = [c.gap for c in contacts(pose)]
        drift, depth = largest(open_rows), largest([-gap for gap in gaps])
        if not self.projection:
            peak("drift", drift)
            peak("penetration", depth)
            return place, pose
        flags = [where(mask | (gap < 0), 1.0, 0.0) for mask, gap in zip(closed, gaps, strict=True)]
        n, bodies = len(place), list(turns)

        def again() -> list[Any]:
            def once(*state: Any) -> tuple[list[Any], Any]:
                *following, drift, depth = self.refine(self.after, *state[:-2])
                return [*following, drift, depth], maximum(drift, depth) > CLOSED

            total("steps.refined", 1.0)
            found, _ = loop([*place, *flags, drift, depth], once, ROUNDS)
            stop(maximum(*found[-2:]) > UNCLOSED, SOLVER_FAILED)
            turned = self.equations.pose(list(found[:n]), self.after).turns
            return [*found[:n], *(x for body in bodies for x in turned[body].parts), *found[-2:]]

        def done() -> list[Any]:
            return [*place, *(x for body in bodies for x in turns[body].parts), drift, depth]

        ends = branch(maximum(drift, depth) > CLOSED, again, done)
        place, left = ends[:n], ends[-2:]
        turns = {body: Pair(*ends[n + 2 * i : n + 2 * i + 2]) for i, body in enumerate(bodies)}
        peak("drift", left[0])
        peak("penetration", left[1])
        return place, self.equations.pose(place, self.after, turns)

    def _refine(self, t: Any, *numbers: Any) -> list[Any]:
        """One Newton step of the positions onto joints and chosen contacts; contacts that it shuts are chosen next."""
        n = len(self.names)
        q, flags = list(numbers[:n]), list(numbers[n:])
        rows, touch = self.equations.rows(q, [0] * len(q), t), Touch(self.equations, q, t)
        spread = self.equations.spread(rows)
        change, _ = spread([-x for x in rows.residual])
        if touch.gaps:
            changes, _ = zip(*map(spread.response, touch.normals), strict=True)
            W = [[dot(line, other) for other in changes] for line in touch.normals]
            wanted = [-(gap + dot(line, change)) for gap, line in zip(touch.gaps, touch.normals, strict=True)]
            change = combined(change, closing(W, wanted, [x > 0.5 for x in flags]), changes)
        place = [x + d for x, d in zip(q, change, strict=True)]
        pose = self.equations.pose(place, t)
        gaps = [c.gap for c in contacts(pose)]
        flags = [where((x > 0.5) | (gap < 0), 1.0, 0.0) for x, gap in zip(flags, gaps, strict=True)]
        drift = largest([abs(x) for x in self.equations.residuals(pose)])
        return [*place, *flags, drift, largest([-gap for gap in gaps])]

    def keep_largest(self, forces: list[Any], ends: Ends) -> None:
        """The largest impulses of joints and drives (squared) and of contacts; without an impact they are forces."""
        sizes: dict[str, Any] = {}
        for i, joint in enumerate(self.equations.mechanism.joints):
            x, y, moment = forces[3 * i : 3 * i + 3]
            sizes[f"{joint}.force"] = x * x + y * y
            if not is_zero(moment) and self.equations.mechanism.joints[joint].kind != "revolute":
                sizes[f"{joint}.moment"] = moment * moment
        for label, impulse in zip(self.rows.labels, ends.rows, strict=True):
            if owner(label) in self.equations.mechanism.drives:
                sizes[f"{owner(label)}.effort"] = impulse * impulse
        normals = {c.label: contact[0] for c, contact in zip(self.touch.contacts, ends.contacts, strict=True)}

        def lasting() -> None:
            peaks(sizes | {f"{label}.normal": n for label, n in normals.items()}, self.after)

        def impact() -> None:
            peaks({f"{name}.impulse": x for name, x in (sizes | normals).items()}, self.after)

        branch(ends.struck > 0.5, impact, lasting) if self.modes else lasting()

    def record(self, place: list[Any], pose: Pose, ends: Ends) -> None:
        """Energy, its parts and its balance, the largest joint forces, and samples."""
        equations, h = self.equations, self.h
        mean = [0.5 * (a + b) for a, b in zip(self.v, ends.rates, strict=True)]
        work = memory("work", 0.0)
        spent = h * (dot(equations.applied(*self.pushed), mean) + dot(self.steered, mean))
        if self.loop:
            self.loop.statistics(self.said, self.q, self.t, h)
            self.loop.stray(self.q, self.said, self.t)
            begun = self.loop.columns(self.said, self.q, self.t)
            begun |= {f"{name}.steered": f for name, f in zip(self.names, self.steered, strict=True)}
            branch(self.s.step == 0, lambda: emit("begun", **begun), lambda: None)
        for label, row, impulse in zip(self.rows.labels, self.rows.B, ends.rows, strict=True):
            if owner(label) in equations.mechanism.drives:
                spent = spent + impulse * dot(row, mean)
        work.value = work.value + spent
        losses = {"impact": memory("loss.impact", 0.0), "friction": memory("loss.friction", 0.0)}
        for contact in ends.contacts:
            losses["impact"].value = losses["impact"].value + contact[3]
            losses["friction"].value = losses["friction"].value + contact[4]
        kinetic, potential = equations.energies(place, ends.rates, self.after, pose)
        balance = kinetic + potential - self.p["stepper.energy"] - work.value
        for loss in losses.values():
            balance = balance + loss.value
        peak("kinetic", kinetic)
        peak("imbalance", abs(balance))
        lines = equations.reactions(self.rows, self.ahead, self.after)
        forces = [dot(line, ends.rows) for line in lines]
        ahead, joints, moments = equations.pose(self.ahead, self.after), list(equations.mechanism.joints), {}
        for contact, c in zip(ends.contacts, self.touch.contacts, strict=True):
            at = 3 * joints.index(c.joint)
            if c.place is None:
                parts = reaction(ahead, c, contact[0], contact[1])
            else:  # the moment of a journal is needed in samples only
                along = c.direction or Pair(0, 0)
                force = along * contact[0] + along.turned() * contact[1]
                parts, moments[at + 2] = (force.x, force.y, 0), (c, contact)
            for k, part in enumerate(parts):
                forces[at + k] = forces[at + k] + part
        self.keep_largest(forces, ends)

        def sample() -> None:
            columns: dict[str, Any] = {"time": self.after, "work": work.value}
            for i, name in enumerate(self.names):
                columns |= {name: place[i], f"{name}.rate": ends.rates[i]}
                columns[f"{name}.acceleration"] = (ends.rates[i] - self.v[i]) / h
            for i, joint in enumerate(equations.mechanism.joints):
                parts = ("force.x", "force.y", "moment")
                columns |= {f"{joint}.{part}": forces[3 * i + k] / h for k, part in enumerate(parts)}
                if 3 * i + 2 in moments:
                    c, contact = moments[3 * i + 2]
                    columns[f"{joint}.moment"] = reaction(ahead, c, contact[0], contact[1])[2] / h
            columns |= {f"{row}.multiplier": x / h for row, x in zip(self.rows.labels, ends.rows, strict=True)}
            for c, contact, mode in zip(contacts(pose), ends.contacts, self.modes, strict=True):
                hit = (mode.value == OPEN) & (contact[0] > 0) & (ends.struck > 0.5)
                columns |= {f"{c.label}.gap": c.gap, f"{c.label}.slip": contact[5]}
                columns[f"{c.label}.mode"] = where(hit, IMPACT, contact[2])
                columns |= {f"{c.label}.normal": contact[0] / h, f"{c.label}.tangential": contact[1] / h}
                if c.place is not None:
                    columns |= {f"{c.joint}.place.x": c.place.x, f"{c.joint}.place.y": c.place.y}
            columns |= {"kinetic": kinetic, "potential": potential}
            columns |= {f"{name}.loss": loss.value for name, loss in losses.items()}
            columns |= self.loop.columns(self.said, place, self.after) if self.loop else {}
            emit("samples", **columns)

        following = self.s.step + 1
        branch(due(following, self.p["stepper.every"]) | (following >= self.p["stepper.steps"]), sample, lambda: None)
