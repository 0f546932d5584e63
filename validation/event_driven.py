"""Rigid contact by events: a reference for time stepping that shares none of its text.

Between events a closed contact is a constraint that slides or sticks, and the motion is integrated by an explicit
Runge-Kutta method of order 8 (scipy's DOP853), projected on all constraints after every step.  Impacts, the ends of
sliding and of sticking, and separations are roots on its dense output.  Impacts follow Newton's rule with Coulomb's
friction between the impulses, for all closed contacts together; a contact whose rebounds would end within `CAPTURE`
is closed at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import DOP853
from scipy.optimize import brentq

import jointplay as jp
from jointplay import statics
from validation.event_modes import BACKWARD, FAINT, FORWARD, OPEN, STICKING, STILL, Modal, Push

APART = 1e-13  # m or rad: a gap below minus this has closed
CREEP = 1e-12  # m/s: slip against its direction by more than this has ended
CAPTURE = 1e-7  # s: rebounds that end sooner are left out, which changes rates by no more than its square
LEAST = 0.1  # of CAPTURE: a single flight that is shorter is left out even where nothing is lost (e = 1)
SAMPLES = np.linspace(0.0, 1.0, 6)[1:]  # of a step, where signs are looked at
MOST = 200  # events within CAPTURE of each other before the run is given up


@dataclass(frozen=True)
class Event:
    """What happened to a contact: impact, slip, stick or separation.

    Of an impact: approach speed (m/s or rad/s), impulses (N s) and the energy that all contacts lost in it (J).
    """

    time: float
    contact: str
    kind: str
    approach: float = 0.0
    normal: float = 0.0
    tangential: float = 0.0
    lost: float = 0.0


@dataclass
class Motion:
    """Coordinates and rates at the times asked for; events; energy (J) at the ends and where it went; shares of time in
    which each contact is free, slides and sticks."""

    coordinates: list[str]
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    events: list[Event]
    energy: tuple[float, float]
    work: float
    friction_loss: float
    impact_loss: float
    shares: dict[str, np.ndarray]

    def of(self, name: str) -> np.ndarray:
        """A coordinate such as `crank.angle`, or its rate (`crank.angle.rate`), over time."""
        values = self.v if name.endswith(".rate") else self.q
        return values[:, self.coordinates.index(name.removesuffix(".rate"))]

    def times(self, kind: str) -> list[float]:
        """When events of a kind happened (s)."""
        return [event.time for event in self.events if event.kind == kind]

    @property
    def imbalance(self) -> float:
        """Energy at the end less what the start, the work and the losses make of it (J)."""
        return self.energy[1] - self.energy[0] - self.work + self.friction_loss + self.impact_loss


def integrate(
    mechanism: jp.Mechanism,
    until: float,
    times: Sequence[float] = (),
    push: Push | None = None,
    rtol: float = 1e-11,
    atol: float = 1e-13,
    reclose: bool = False,
) -> Motion:
    """The motion of a mechanism with rigid contacts until a time (s).

    times: when coordinates are wanted, in order (at the end, unless given); push: generalised forces beside the
    mechanism's own, of time, coordinates and rates; rtol, atol: of DOP853; reclose: as of `simulate`.
    """
    journey = Journey(mechanism, push, reclose)
    journey.go(until, list(times) or [until], rtol, atol)
    return journey.found(until, list(times) or [until])


class Journey:
    """One run; `modes` says of each contact whether it is open, slides (and which way) or sticks."""

    def __init__(self, mechanism: jp.Mechanism, push: Push | None, reclose: bool) -> None:
        self.modal = Modal(mechanism, push)
        self.contacts, self.n, self.t = self.modal.contacts, self.modal.n, 0.0
        self.q, self.v = statics.start(self.modal.system, reclose)
        self.modal.drop(self.q)
        touches = self.modal.touches(self.q, self.v)
        on = [i for i, touch in enumerate(touches) if touch.gap <= 1e-12 and touch.normal @ self.v <= STILL]
        self.modes = self.modal.choose(0.0, self.q, self.v, on, set())
        self.work = self.rubbed = self.bumped = 0.0
        self.begun = self.energy()
        self.events: list[Event] = []
        self.spent = {c.label: np.zeros(3) for c in self.contacts}
        self.samples: list[np.ndarray] = []

    def energy(self) -> float:
        """Kinetic and potential (J)."""
        here = self.modal.system.evaluate(self.q, self.v, self.t)
        return here.kinetic + here.potential

    def found(self, until: float, times: list[float]) -> Motion:
        """The run as a value."""
        samples = np.array(self.samples)
        ends = ((self.begun, self.energy()), self.work, self.rubbed, self.bumped)
        shares = {label: spent / until for label, spent in self.spent.items()}
        q, v = samples[:, : self.n], samples[:, self.n : 2 * self.n]
        return Motion(self.modal.system.coordinates, np.array(times), q, v, self.events, *ends, shares)

    def go(self, until: float, times: list[float], rtol: float, atol: float) -> None:
        """On to a time, keeping the states at some times."""
        self.samples += [np.concatenate([self.q, self.v])] * times.count(0.0)
        crowd = (0.0, 0)
        while self.t < until:
            y = np.concatenate([self.q, self.v, [self.work, self.rubbed]])
            solver = DOP853(self.slopes, self.t, y, until, rtol=rtol, atol=atol, max_step=until / 20)
            which: list[int] = []
            while solver.status == "running" and not which:
                which = self.step(solver, times)
            if which:
                self.happen(which)
                crowd = (self.t, 0) if self.t > crowd[0] + CAPTURE else (crowd[0], crowd[1] + 1)
                if crowd[1] > MOST:
                    raise ArithmeticError(f"events accumulate at {self.t!r} s")

    def step(self, solver: DOP853, times: list[float]) -> list[int]:
        """One step of the integration, or the part of it before an event; the signs that fail at its end."""
        solver.step()
        if solver.status == "failed":
            raise ArithmeticError(f"the integration fails at {self.t!r} s")
        dense = solver.dense_output()
        found = self.first_event(dense, self.t, solver.t)
        end, which = found or (solver.t, [])
        self.samples += [dense(x)[: 2 * self.n] for x in times if self.t < x <= end]
        for c, mode in zip(self.contacts, self.modes, strict=True):
            self.spent[c.label][{OPEN: 0, STICKING: 2}.get(mode, 1)] += end - self.t
        y = dense(end) if found else solver.y
        self.t, self.work, self.rubbed = end, y[-2], y[-1]
        self.q, self.v = self.modal.closed(end, *self.split(y), self.modes)
        if not which:  # a method of one step may go on from the projected state
            solver.y[: 2 * self.n] = np.concatenate([self.q, self.v])
            solver.f = self.slopes(solver.t, solver.y)
        return which

    def split(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and rates."""
        return y[: self.n], y[self.n : 2 * self.n]

    def slopes(self, t: float, y: np.ndarray) -> np.ndarray:
        """The time derivative of coordinates, rates, work and friction loss."""
        q, v = self.split(y)
        found, here = self.modal.forces(t, q, v, self.modes)
        power = here.power + found.rows @ here.speed[self.modal.kept]
        if self.modal.push is not None:
            power += self.modal.push(t, q, v) @ v
        return np.concatenate([v, found.a, [power, -(found.pushes[:, 1] @ found.first[:, 1])]])

    # -- when something happens
    def signs(self, t: float, y: np.ndarray) -> np.ndarray:
        """Three numbers for each contact that stay positive while its mode lasts: gap or pressure, slip, grip."""
        q, v = self.split(y)
        found = np.ones((len(self.contacts), 3))
        forces = self.modal.forces(t, q, v, self.modes)[0] if any(self.modes) else None
        for i, (c, mode) in enumerate(zip(self.contacts, self.modes, strict=True)):
            if mode == OPEN or forces is None:
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
        for now in t0 + SAMPLES * (t1 - t0):
            signs = self.signs(now, dense(now))
            found = [self.root(dense, last, now, k) for k in np.flatnonzero(signs <= 0)]
            found += self.touched(dense, last, now)
            if found:
                at = min(time for time, _ in found)
                return at, [k for time, k in found if time - at <= 1e-13 * max(1.0, at)]
            last = now
        return None

    def root(self, dense: Any, a: float, b: float, k: int) -> tuple[float, int]:
        """The time between a and b at which sign k fails, and k."""

        def sign(t: float) -> float:
            return float(self.signs(t, dense(t))[k])

        def gap(t: float) -> float:
            return self.contacts[k // 3].at(*self.split(dense(t))).gap

        if self.modes[k // 3] == OPEN:  # where the gap is 0, not where it has failed; it may begin with a leap from 0
            if self.rate(a, dense, k // 3) > 0 > self.rate(b, dense, k // 3):
                a = float(brentq(self.rate, a, b, args=(dense, k // 3), xtol=1e-15, rtol=1e-15))
            sign = gap if gap(a) > 0 else sign
        return (a if sign(a) <= 0 else float(brentq(sign, a, b, xtol=1e-15, rtol=1e-15))), int(k)

    def rate(self, t: float, dense: Any, i: int) -> float:
        """The rate of the gap of contact i at a time inside a step."""
        q, v = self.split(dense(t))
        return float(self.contacts[i].at(q, v).normal @ v)

    def touched(self, dense: Any, a: float, b: float) -> list[tuple[float, int]]:
        """Gaps that close and open again between two times."""
        found = []
        for i, c in enumerate(self.contacts):
            if self.modes[i] == OPEN and self.rate(a, dense, i) < 0 < self.rate(b, dense, i):
                least = float(brentq(self.rate, a, b, args=(dense, i)))
                if c.at(*self.split(dense(least))).gap < -APART:
                    found.append(self.root(dense, a, least, 3 * i))
        return found

    # -- what happens
    def happen(self, which: Iterable[int]) -> None:
        """Impacts, then the modes of all that is closed."""
        before, barred, struck = list(self.modes), set(), []
        for i, part in (divmod(k, 3) for k in which):
            if before[i] == OPEN:
                struck.append(i)
            elif part == 0:
                barred |= {(i, mode) for mode in (FORWARD, BACKWARD, STICKING)}
            else:
                barred.add((i, before[i]))
                self.modes[i] = STICKING
        # what strikes has no gap, what ceases to slide or is about to has no slip; round-off must not decide
        touching = [FORWARD if i in struck else mode for i, mode in enumerate(self.modes)]
        self.q, _ = self.modal.closed(self.t, self.q, self.v, touching)
        _, self.v = self.modal.closed(self.t, self.q, self.v, self.modes)
        shut = [i for i, mode in enumerate(before) if mode != OPEN or i in struck]
        if struck:
            shut = self.strike(struck, shut)
        self.modes = self.modal.choose(self.t, self.q, self.v, shut, barred)
        self.q, self.v = self.modal.closed(self.t, self.q, self.v, self.modes)
        kinds = {OPEN: "separation", FORWARD: "slip", BACKWARD: "slip", STICKING: "stick"}
        for c, was, now in zip(self.contacts, before, self.modes, strict=True):
            if was != now:
                self.events.append(Event(self.t, c.label, kinds[now]))

    def strike(self, struck: list[int], shut: list[int]) -> list[int]:
        """Let contacts strike; the closed ones that do not leave."""
        v, touches = self.v, self.modal.touches(self.q, self.v)
        bounce = [c.restitution for c in self.contacts]
        after, impulses = self.modal.impact(self.t, self.q, v, shut, bounce)
        last = [i for i in struck if self.ends_here(i, after, shut, touches[i].normal)]
        if last:
            bounce = [0.0 if i in last else e for i, e in enumerate(bounce)]
            after, impulses = self.modal.impact(self.t, self.q, v, shut, bounce)
        mass, mean = 1 / self.modal.inverse, 0.5 * (v + after)
        pushed = sum((n * c.normal + s * c.tangential for (n, s), c in zip(impulses, touches, strict=True)), 0 * v)
        lost = -float(pushed @ mean)
        self.work += float((mass * (after - v) - pushed) @ mean)  # of drives, whose rows alone can work
        self.bumped += lost
        for i in struck:
            event = Event(self.t, self.contacts[i].label, "impact", -float(touches[i].normal @ v), *impulses[i], lost)
            self.events.append(event)
        self.v = after
        return [i for i in shut if touches[i].normal @ after <= STILL]

    def ends_here(self, i: int, after: np.ndarray, shut: list[int], normal: np.ndarray) -> bool:
        """Whether all rebounds of a contact that leaves would be over within `CAPTURE`: each is shorter by e."""
        leaving, e = float(normal @ after), self.contacts[i].restitution
        if leaving <= STILL:
            return False
        touches = self.modal.touches(self.q, after)
        others = [j for j in shut if j != i and touches[j].normal @ after <= STILL]
        modes = self.modal.choose(self.t, self.q, after, others, set())
        pressed = -self.modal.forces(self.t, self.q, after, modes)[0].second[i, 0]
        return bool(pressed > 0 and 2 * leaving < CAPTURE * pressed * max(1 - e, LEAST))
