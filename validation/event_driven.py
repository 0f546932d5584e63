"""Rigid contact by events: a reference for time stepping that shares none of its text.

Between events a closed contact is a constraint that slides or sticks, and the motion is integrated by an explicit
Runge-Kutta method of order 8 (scipy's DOP853), projected on all constraints after every step.  Impacts, the ends of
sliding and of sticking, and separations are roots on its dense output.  Impacts follow Newton's rule with Coulomb's
friction between the impulses, for all closed contacts together; a contact whose rebounds would end within `CAPTURE`
is closed at once.  The modes of several contacts are found by trying all combinations.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jointplay as jp
import numpy as np
from jointplay import statics
from scipy.integrate import DOP853
from scipy.optimize import brentq

from validation.event_contacts import Contact, Touch, contacts

OPEN, FORWARD, BACKWARD, STICKING = 0, 1, -1, 2
APART = 1e-13  # m or rad: a gap below minus this has closed
CREEP = 1e-12  # m/s: slip against its direction by more than this has ended
STILL = 1e-9  # m/s: less is no slip where an event decides between sliding and sticking
FAINT = 1e-10  # of the largest force: what a force may fail its inequality by before an event
CAPTURE = 1e-7  # s: rebounds that end sooner are left out; they change momentum by the square of this
SAMPLES = np.linspace(0.0, 1.0, 6)[1:]  # of a step, where signs are looked at
MOST = 200  # events at one time (within CAPTURE) before the run is given up

Push = Callable[[float, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Event:
    """What happened to a contact; of an impact its approach speed (m/s), impulses (N s) and the energy lost in all (J)."""

    time: float
    contact: str
    kind: str
    approach: float = 0.0
    normal: float = 0.0
    tangential: float = 0.0
    lost: float = 0.0


@dataclass
class Motion:
    """Coordinates and rates at the times asked for; events; energy (J) at the ends and where it went."""

    coordinates: list[str]
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    events: list[Event]
    energy: tuple[float, float]
    work: float
    friction_loss: float
    impact_loss: float
    shares: dict[str, float] = field(default_factory=dict)  # of time: free, sliding, sticking, by contact

    def of(self, name: str) -> np.ndarray:
        """A coordinate such as `crank.angle`, or its rate (`crank.angle.rate`), over time."""
        if name.endswith(".rate"):
            return self.v[:, self.coordinates.index(name.removesuffix(".rate"))]
        return self.q[:, self.coordinates.index(name)]

    @property
    def imbalance(self) -> float:
        """Energy at the end less what the start, the work and the losses make of it (J)."""
        return self.energy[1] - self.energy[0] - self.work + self.friction_loss + self.impact_loss


@dataclass
class Forces:
    """Accelerations, and of each contact: forces, gap'' and slip', gap' and slip."""

    a: np.ndarray
    rows: np.ndarray
    pushes: np.ndarray  # normal, tangential
    second: np.ndarray
    first: np.ndarray
    largest: float


def integrate(
    mechanism: jp.Mechanism,
    until: float,
    times: Sequence[float] = (),
    push: Push | None = None,
    rtol: float = 1e-11,
    atol: float = 1e-13,
    reclose: bool = False,
    start: tuple[np.ndarray, np.ndarray] | None = None,
) -> Motion:
    """The motion of a mechanism with rigid contacts until a time (s).

    times: when coordinates are wanted (at the end, unless given); push: generalised forces beside the mechanism's own,
    of time, coordinates and rates; reclose: as of `simulate`; start: coordinates and rates instead of the mechanism's.
    """
    return Journey(mechanism, push, rtol, atol, reclose, start).go(until, list(times) or [until])


class Journey:
    """One run; `modes` says of each contact whether it is open, slides (and which way) or sticks."""

    def __init__(
        self,
        mechanism: jp.Mechanism,
        push: Push | None,
        rtol: float,
        atol: float,
        reclose: bool,
        start: tuple[np.ndarray, np.ndarray] | None,
    ) -> None:
        self.system, self.push, self.rtol, self.atol = jp.System(mechanism), push, rtol, atol
        self.contacts: list[Contact] = contacts(mechanism)
        self.q, self.v = start or statics.start(self.system, reclose)
        dropped = statics.freedom(self.system, self.q).redundant
        self.kept = [i for i, row in enumerate(self.system.rows) if row not in dropped]
        self.n, self.t = len(self.q), 0.0
        self.inverse = 1 / np.diag(self.system.evaluate(self.q).M)
        self.modes = [OPEN] * len(self.contacts)
        self.work = self.rubbed = self.bumped = 0.0
        self.events: list[Event] = []
        self.spent = {c.label: np.zeros(3) for c in self.contacts}

    # -- the equations in given modes
    def touches(self, q: np.ndarray, v: np.ndarray) -> list[Touch]:
        return [c.at(q, v) for c in self.contacts]

    def lines(self, touches: list[Touch], modes: Sequence[int]) -> tuple[list[np.ndarray], list[np.ndarray], list[int]]:
        """Of closed contacts: the rows that are held, the directions of their forces, and their contacts."""
        held, acting, owners = [], [], []
        for i, (touch, mode, c) in enumerate(zip(touches, modes, self.contacts, strict=True)):
            if mode == OPEN:
                continue
            grip = -mode * c.friction if c.rough and mode != STICKING else 0.0
            held.append(touch.normal)
            acting.append(touch.normal + grip * touch.tangential)
            owners.append(i)
            if mode == STICKING:
                held.append(touch.tangential)
                acting.append(touch.tangential)
                owners.append(i)
        return held, acting, owners

    def solve(self, held: np.ndarray, acting: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Multipliers x with held M^-1 acting^T x = wanted; the least where contacts share them in many ways."""
        if not len(wanted):
            return wanted
        W = (held * self.inverse) @ acting.T
        if len(wanted) - len(self.kept) > 2:
            return np.linalg.lstsq(W, wanted, rcond=1e-11)[0]
        return np.linalg.solve(W, wanted)

    def forces(self, t: float, q: np.ndarray, v: np.ndarray, modes: Sequence[int]) -> tuple[Forces, Any]:
        """Accelerations and contact forces in given modes, and the mechanism's equations there."""
        here, touches = self.system.evaluate(q, v, t), self.touches(q, v)
        F = here.F if self.push is None else here.F + self.push(t, q, v)
        held, acting, owners = self.lines(touches, modes)
        B, free = here.B[self.kept], self.inverse * F
        wanted = list(here.rhs[self.kept])
        for k, i in enumerate(owners):
            second = k > 0 and owners[k - 1] == i
            wanted.append(-(touches[i].tangential_bias if second else touches[i].normal_bias))
        G, H = np.array([*B, *held]).reshape(-1, self.n), np.array([*B, *acting]).reshape(-1, self.n)
        x = self.solve(G, H, np.array(wanted) - G @ free)
        a = free + self.inverse * (H.T @ x)
        pushes = np.zeros((len(touches), 2))
        for k, i in enumerate(owners):
            second = k > 0 and owners[k - 1] == i
            pushes[i, 1 if second else 0] = x[len(B) + k]
        for i, (mode, c) in enumerate(zip(modes, self.contacts, strict=True)):
            if mode in (FORWARD, BACKWARD) and c.rough:
                pushes[i, 1] = -mode * c.friction * pushes[i, 0]
        both = [(c.normal @ a + c.normal_bias, c.tangential @ a + c.tangential_bias) for c in touches]
        rates = [(c.normal @ v, c.tangential @ v) for c in touches]
        largest = max(1.0, float(np.abs(F).max()), float(np.abs(x).max(initial=0.0)))
        ends = (np.array(both).reshape(-1, 2), np.array(rates).reshape(-1, 2))
        return Forces(a, x[: len(B)], pushes, *ends, largest), here

    def slopes(self, t: float, y: np.ndarray) -> np.ndarray:
        """The time derivative of coordinates, rates, work and friction loss."""
        q, v = y[: self.n], y[self.n : 2 * self.n]
        found, here = self.forces(t, q, v, self.modes)
        power = here.power + found.rows @ here.speed[self.kept]
        if self.push is not None:
            power += self.push(t, q, v) @ v
        rubbing = -sum(p * u for (_, p), (_, u) in zip(found.pushes, found.first, strict=True))
        return np.concatenate([v, found.a, [power, rubbing]])

    # -- constraints
    def closed(self, t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and rates moved onto joints, closed and sticking contacts by least change in the mass metric."""
        for _ in range(2):
            here, touches = self.system.evaluate(q, v, t), self.touches(q, v)
            on = [touch for touch, mode in zip(touches, self.modes, strict=True) if mode != OPEN]
            G = np.array([*here.B[self.kept], *(touch.normal for touch in on)]).reshape(-1, self.n)
            open_ = np.array([*here.residual[self.kept], *(touch.gap for touch in on)])
            q = q - self.inverse * (G.T @ self.solve(G, G, open_)) if len(open_) else q
        here, (held, _, _) = self.system.evaluate(q, v, t), self.lines(self.touches(q, v), self.modes)
        G = np.array([*here.B[self.kept], *held]).reshape(-1, self.n)
        lacking = G @ v - np.array([*here.speed[self.kept], *[0.0] * len(held)])
        return q, v - self.inverse * (G.T @ self.solve(G, G, lacking)) if len(lacking) else v

    # -- events
    def signs(self, t: float, y: np.ndarray) -> np.ndarray:
        """Three numbers for each contact that stay positive while its mode lasts: gap or pressure, slip, grip."""
        q, v = y[: self.n], y[self.n : 2 * self.n]
        found = np.ones((len(self.contacts), 3))
        if any(self.modes):
            forces, _ = self.forces(t, q, v, self.modes)
        for i, (c, mode) in enumerate(zip(self.contacts, self.modes, strict=True)):
            if mode == OPEN:
                found[i, 0] = c.at(q, v).gap + APART
                continue
            normal, tangential = forces.pushes[i]
            found[i, 0] = normal + FAINT * forces.largest
            if mode == STICKING:
                found[i, 2] = c.static * normal - abs(tangential) + FAINT * forces.largest
            elif c.rough:
                found[i, 1] = mode * forces.first[i, 1] + CREEP
        return found.ravel()

    def first_event(self, dense: Any, t0: float, t1: float) -> tuple[float, list[int]] | None:
        """The first time in a step at which a sign fails, and which fail there."""
        last = t0
        for u in SAMPLES:
            now = t0 + u * (t1 - t0)
            signs = self.signs(now, dense(now))
            found = [self.root(dense, last, now, k) for k in np.flatnonzero(signs <= 0)]
            found += self.touched(dense, last, now)
            if found:
                at = min(time for time, _ in found)
                return at, [k for time, k in found if time - at <= 1e-13 * max(1.0, at)]
            last = now
        return None

    def root(self, dense: Any, a: float, b: float, k: int) -> tuple[float, int]:
        """The time between a and b at which sign k fails."""

        def sign(t: float) -> float:
            return float(self.signs(t, dense(t))[k])

        return (a if sign(a) <= 0 else float(brentq(sign, a, b, xtol=1e-15, rtol=1e-15))), int(k)

    def touched(self, dense: Any, a: float, b: float) -> list[tuple[float, int]]:
        """Gaps that close and open again between two times."""
        found = []

        def rate(t: float, c: Contact) -> float:
            y = dense(t)
            return float(c.at(y[: self.n], y[self.n : 2 * self.n]).normal @ y[self.n : 2 * self.n])

        for i, c in enumerate(self.contacts):
            if self.modes[i] == OPEN and rate(a, c) < 0 < rate(b, c):
                least = float(brentq(rate, a, b, args=(c,)))
                y = dense(least)
                if c.at(y[: self.n], y[self.n : 2 * self.n]).gap < -APART:
                    found.append(self.root(dense, a, least, 3 * i))
        return found

    # -- what happens at an event
    def happen(self, which: Iterable[int]) -> None:
        """Impacts, then the modes of all that is closed."""
        barred, struck = set(), []
        for k in which:
            i, part = divmod(k, 3)
            if self.modes[i] == OPEN:
                struck.append(i)
            elif part == 0:
                barred |= {(i, mode) for mode in (FORWARD, BACKWARD, STICKING)}
            else:
                barred.add((i, self.modes[i]))
        before = list(self.modes)
        for i in struck:
            self.modes[i] = FORWARD if not self.contacts[i].rough else STICKING
        shut = [i for i, mode in enumerate(self.modes) if mode != OPEN]
        if struck:
            held = list(self.modes)
            self.modes = [mode if i in shut and i not in struck else OPEN for i, mode in enumerate(before)]
            self.q, self.v = self.closed(self.t, self.q, self.v)
            self.modes = held
            shut = self.strike(struck, shut)
        self.modes = self.choose(shut, barred)
        self.q, self.v = self.closed(self.t, self.q, self.v)
        self.note(before, struck)

    def note(self, before: list[int], struck: list[int]) -> None:
        """Write down changes of modes."""
        kinds = {OPEN: "separation", FORWARD: "slip", BACKWARD: "slip", STICKING: "stick"}
        for c, was, now in zip(self.contacts, before, self.modes, strict=True):
            if was != now:
                self.events.append(Event(self.t, c.label, kinds[now]))

    def strike(self, struck: list[int], shut: list[int]) -> list[int]:
        """Rates after an impact; the closed contacts that do not leave."""
        bounce = [c.restitution for c in self.contacts]
        v = self.v
        touches = self.touches(self.q, v)
        approach = [float(touch.normal @ v) for touch in touches]
        after, impulses = self.impact(touches, shut, bounce)
        for i in struck:
            leaving = float(touches[i].normal @ after)
            if leaving <= STILL or bounce[i] >= 1:
                continue
            modes = self.choose([j for j in shut if j != i and abs(touches[j].normal @ after) <= STILL], set(), after)
            forces, _ = self.forces(self.t, self.q, after, modes)
            pressed = -forces.second[i, 0]
            if pressed > 0 and 2 * leaving < CAPTURE * pressed * (1 - bounce[i]):
                bounce[i] = 0.0
        if bounce != [c.restitution for c in self.contacts]:
            after, impulses = self.impact(touches, shut, bounce)
        lost = 0.5 * float((v * v - after * after) @ (1 / self.inverse))
        here = self.system.evaluate(self.q, v, self.t)
        if here.speed.any():  # drives work in impacts
            called = (after - v) / self.inverse - sum(
                (p * touch.normal + s * touch.tangential for (p, s), touch in zip(impulses, touches, strict=True)),
                start=np.zeros(self.n),
            )
            done = float(called @ (v + after)) / 2
            self.work, lost = self.work + done, lost + done
        self.bumped += lost
        for i in struck:
            self.events.append(Event(self.t, self.contacts[i].label, "impact", -approach[i], *impulses[i], lost))
        self.v = after
        return [i for i in shut if touches[i].normal @ after <= STILL]

    def impact(self, touches: list[Touch], shut: list[int], bounce: list[float]) -> tuple[np.ndarray, np.ndarray]:
        """Rates after an impact and impulses: Newton's rule for every closed contact, friction in its cone."""
        here, v = self.system.evaluate(self.q, self.v, self.t), self.v
        B = here.B[self.kept]
        options = [(STICKING, FORWARD, BACKWARD, OPEN) if self.contacts[i].rough else (FORWARD, OPEN) for i in shut]
        best: tuple[float, np.ndarray, np.ndarray] = (np.inf, v, np.zeros((len(touches), 2)))
        for chosen in itertools.product(*options):
            modes = [OPEN] * len(touches)
            for i, mode in zip(shut, chosen, strict=True):
                modes[i] = mode
            held, acting, owners = self.lines(touches, modes)
            wanted = list(here.speed[self.kept] - B @ v)
            for k, i in enumerate(owners):
                second = k > 0 and owners[k - 1] == i
                row = touches[i].tangential if second else touches[i].normal
                wanted.append(-(row @ v) * (1.0 if second else 1.0 + bounce[i]))
            G, H = np.array([*B, *held]).reshape(-1, self.n), np.array([*B, *acting]).reshape(-1, self.n)
            x = self.solve(G, H, np.array(wanted))
            after, p = v + self.inverse * (H.T @ x), np.zeros((len(touches), 2))
            for k, i in enumerate(owners):
                p[i, 1 if k > 0 and owners[k - 1] == i else 0] = x[len(B) + k]
            wrong = [self.misfit(i, modes[i], touches[i], after, p, bounce[i]) for i in shut]
            if max(wrong, default=0.0) < best[0]:
                best = max(wrong, default=0.0), after, p
        if best[0] > 1e-9:
            raise ArithmeticError(f"impact at {self.t!r} s has no solution; the best fails by {best[0]:.2g} N s")
        return best[1], best[2]

    def misfit(self, i: int, mode: int, touch: Touch, after: np.ndarray, p: np.ndarray, bounce: float) -> float:
        """By how much an impact in a mode violates its inequalities (N s); fills in the friction of what slides."""
        c = self.contacts[i]
        gone, slip = float(touch.normal @ after + bounce * (touch.normal @ self.v)), float(touch.tangential @ after)
        size = (touch.normal * self.inverse) @ touch.normal
        if mode == OPEN:
            return max(0.0, -gone / size)
        if mode == STICKING:
            return max(-p[i, 0], abs(p[i, 1]) - c.static * p[i, 0], 0.0)
        if not c.rough:
            return max(-p[i, 0], 0.0)
        p[i, 1] = -mode * c.friction * p[i, 0]
        return max(-p[i, 0], -mode * slip / ((touch.tangential * self.inverse) @ touch.tangential), 0.0)

    def choose(self, shut: list[int], barred: set[tuple[int, int]], rates: np.ndarray | None = None) -> list[int]:
        """Modes in which the closed contacts can go on; the first of all combinations that fits, or the nearest."""
        v = self.v if rates is None else rates
        touches = self.touches(self.q, v)
        options = []
        for i in shut:
            slip = float(touches[i].tangential @ v)
            if not self.contacts[i].rough:
                ways = [FORWARD, OPEN]
            elif abs(slip) > STILL:
                ways = [FORWARD if slip > 0 else BACKWARD, OPEN]
            else:
                ways = [STICKING, FORWARD, BACKWARD, OPEN]
            options.append([way for way in ways if (i, way) not in barred])
        best: tuple[float, list[int]] = (np.inf, [])
        for chosen in itertools.product(*options):
            modes = [OPEN] * len(self.contacts)
            for i, mode in zip(shut, chosen, strict=True):
                modes[i] = mode
            wrong = self.unfit(modes, shut, touches, v)
            if wrong < best[0]:
                best = wrong, modes
            if wrong <= 0:
                break
        if best[0] > 1e-6:
            raise ArithmeticError(f"no modes of {[self.contacts[i].label for i in shut]} fit at {self.t!r} s")
        return best[1]

    def unfit(self, modes: list[int], shut: list[int], touches: list[Touch], v: np.ndarray) -> float:
        """By how much forces and accelerations in these modes violate their inequalities, beyond round-off."""
        forces, _ = self.forces(self.t, self.q, v, modes)
        wrong = 0.0
        for i in shut:
            c, (normal, tangential) = self.contacts[i], forces.pushes[i]
            away, sliding = forces.second[i]
            mass = 1 / ((touches[i].normal * self.inverse) @ touches[i].normal)
            if modes[i] == OPEN:
                mine = -away * mass
            elif modes[i] == STICKING:
                mine = max(-normal, abs(tangential) - c.static * normal)
            elif c.rough and abs(forces.first[i, 1]) <= STILL:
                mine = max(-normal, -modes[i] * sliding * mass)
            else:
                mine = -normal
            wrong = max(wrong, mine / forces.largest - 0.5 * FAINT)
        return wrong

    # -- the run
    def go(self, until: float, times: list[float]) -> Motion:
        """From 0 to a time, with coordinates at the times."""
        here = self.system.evaluate(self.q, self.v, self.t)
        begun, q, v, crowd = here.kinetic + here.potential, [], [], [0.0, 0]
        touches = self.touches(self.q, self.v)
        on = [i for i, touch in enumerate(touches) if touch.gap <= 1e-12 and touch.normal @ self.v <= STILL]
        self.modes = self.choose(on, set())
        while self.t < until:
            y = np.concatenate([self.q, self.v, [self.work, self.rubbed]])
            solver = DOP853(self.slopes, self.t, y, until, rtol=self.rtol, atol=self.atol, max_step=until / 20)
            which: list[int] = []
            while solver.status == "running" and not which:
                solver.step()
                if solver.status == "failed":
                    raise ArithmeticError(f"the integration fails at {self.t!r} s")
                dense = solver.dense_output()
                found = self.first_event(dense, self.t, solver.t) if self.contacts else None
                end, which = found if found else (solver.t, [])
                inside = [x for x in times if self.t < x <= end] + ([0.0] if self.t == 0 and 0.0 in times else [])
                for state in (dense(x) for x in sorted(inside)):
                    q.append(state[: self.n])
                    v.append(state[self.n : 2 * self.n])
                self.count(end - self.t)
                self.accept(end, dense(end) if found else solver.y)
                if not which:
                    solver.y[: 2 * self.n] = np.concatenate([self.q, self.v])
                    solver.f = self.slopes(solver.t, solver.y)
            crowd = [self.t, 0] if self.t > crowd[0] + CAPTURE else [crowd[0], crowd[1] + 1]
            if crowd[1] > MOST:
                raise ArithmeticError(f"events accumulate at {self.t!r} s")
            if which:
                self.happen(which)
        here = self.system.evaluate(self.q, self.v, self.t)
        energy = (begun, here.kinetic + here.potential)
        ends = (energy, self.work, self.rubbed, self.bumped, {k: x / until for k, x in self.spent.items()})
        return Motion(self.system.coordinates, np.array(times), np.array(q), np.array(v), self.events, *ends)

    def count(self, length: float) -> None:
        """Add a time to what the contacts did in it."""
        for c, mode in zip(self.contacts, self.modes, strict=True):
            self.spent[c.label][{OPEN: 0, STICKING: 2}.get(mode, 1)] += length

    def accept(self, t: float, y: np.ndarray) -> None:
        """Go on from a state, moved onto the constraints."""
        self.t, self.work, self.rubbed = t, y[-2], y[-1]
        self.q, self.v = self.closed(t, y[: self.n], y[self.n : 2 * self.n])
