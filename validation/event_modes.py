"""A mechanism whose rigid contacts are open, slide or stick: accelerations, impacts, and the modes that can be.

M a = F + B^T lam + sum of N^T n + T^T s over closed contacts; where a contact slides, s = -mu n times its direction;
where it sticks, T a is held as well.  Impacts are the same equations between rates and impulses.  The modes of several
contacts are found by trying all combinations.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import jointplay as jp
from jointplay import statics
from jointplay.system import Evaluation
from validation.event_contacts import Contact, Touch, contacts

OPEN, FORWARD, BACKWARD, STICKING = 0, 1, -1, 2
STILL = 1e-9  # m/s: less is no slip, and no rebound, where an event decides what follows
FAINT = 1e-10  # of the largest force: what a force may fail its inequality by before an event
CLOSED = 1e-14  # m or rad: what joints and contacts may leave open
WRONG = 1e-6  # of the largest force, or N s: modes that fail by more are none

Push = Callable[[float, np.ndarray, np.ndarray], np.ndarray]
Modes = Sequence[int]


@dataclass
class Forces:
    """Accelerations; multipliers of rows; of contacts forces (normal, tangential), gap' and slip, gap'' and slip'."""

    a: np.ndarray
    rows: np.ndarray
    pushes: np.ndarray
    first: np.ndarray
    second: np.ndarray
    largest: float  # of all forces, at least 1 N


@dataclass
class Lines:
    """Rows that are held and directions of forces: of joints, then of closed contacts, with (contact, part) of each;
    part 0 is the normal one, part 1 the tangential one of what sticks."""

    held: np.ndarray
    acting: np.ndarray
    parts: list[tuple[int, int]]


class Modal:
    """The equations of a mechanism in given modes of its contacts."""

    def __init__(self, mechanism: jp.Mechanism, push: Push | None) -> None:
        self.system, self.push = jp.System(mechanism), push
        self.contacts: list[Contact] = contacts(mechanism)
        self.n = len(self.system.coordinates)
        self.inverse = 1 / np.diag(self.system.evaluate(np.zeros(self.n)).M)
        self.kept = list(range(len(self.system.rows)))

    def drop(self, q: np.ndarray) -> None:
        """Leave out the rows that are redundant at these coordinates."""
        dropped = statics.freedom(self.system, q).redundant
        self.kept = [i for i, row in enumerate(self.system.rows) if row not in dropped]

    def touches(self, q: np.ndarray, v: np.ndarray) -> list[Touch]:
        """All contacts at a state."""
        return [c.at(q, v) for c in self.contacts]

    def lines(self, B: np.ndarray, touches: list[Touch], modes: Modes) -> Lines:
        """The rows of joints, and after them those of closed contacts."""
        held, acting, parts = list(B[self.kept]), list(B[self.kept]), []
        for i, (touch, mode, c) in enumerate(zip(touches, modes, self.contacts, strict=True)):
            if mode == OPEN:
                continue
            grip = -mode * c.friction if c.rough and mode != STICKING else 0.0
            held.append(touch.normal)
            acting.append(touch.normal + grip * touch.tangential)
            parts.append((i, 0))
            if mode == STICKING:
                held.append(touch.tangential)
                acting.append(touch.tangential)
                parts.append((i, 1))
        return Lines(np.array(held).reshape(-1, self.n), np.array(acting).reshape(-1, self.n), parts)

    def solve(self, lines: Lines, wanted: np.ndarray) -> np.ndarray:
        """Multipliers x with held M^-1 acting^T x = wanted; the least ones where contacts may share them."""
        W = (lines.held * self.inverse) @ lines.acting.T
        if len(lines.parts) > 2:
            return np.linalg.lstsq(W, wanted, rcond=1e-11)[0]
        return np.linalg.solve(W, wanted)

    def pushes(self, lines: Lines, modes: Modes, x: np.ndarray) -> np.ndarray:
        """Normal and tangential force or impulse of each contact from the multipliers."""
        found = np.zeros((len(self.contacts), 2))
        for (i, part), value in zip(lines.parts, x[len(self.kept) :], strict=True):
            found[i, part] = value
        for i, (mode, c) in enumerate(zip(modes, self.contacts, strict=True)):
            if mode in (FORWARD, BACKWARD) and c.rough:
                found[i, 1] = -mode * c.friction * found[i, 0]
        return found

    def forces(self, t: float, q: np.ndarray, v: np.ndarray, modes: Modes) -> tuple[Forces, Evaluation]:
        """Accelerations and contact forces in given modes, and the mechanism's equations there."""
        here, touches = self.system.evaluate(q, v, t), self.touches(q, v)
        F = here.F if self.push is None else here.F + self.push(t, q, v)
        lines, free = self.lines(here.B, touches, modes), self.inverse * F
        biases = [-(touches[i].tangential_bias if part else touches[i].normal_bias) for i, part in lines.parts]
        x = self.solve(lines, np.array([*here.rhs[self.kept], *biases]) - lines.held @ free)
        a = free + self.inverse * (lines.acting.T @ x)
        second = [(c.normal @ a + c.normal_bias, c.tangential @ a + c.tangential_bias) for c in touches]
        first = [(c.normal @ v, c.tangential @ v) for c in touches]
        largest = max(1.0, float(np.abs(F).max()), float(np.abs(x).max(initial=0.0)))
        both = (np.array(first).reshape(-1, 2), np.array(second).reshape(-1, 2))
        return Forces(a, x[: len(self.kept)], self.pushes(lines, modes, x), *both, largest), here

    def closed(self, t: float, q: np.ndarray, v: np.ndarray, modes: Modes) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and rates moved onto joints, closed and sticking contacts by least change in the mass metric."""
        for _ in range(4):
            here, touches = self.system.evaluate(q, v, t), self.touches(q, v)
            lines = self.lines(here.B, touches, [FORWARD if mode else OPEN for mode in modes])
            lines.acting = lines.held
            left = np.array([*here.residual[self.kept], *(touches[i].gap for i, _ in lines.parts)])
            if np.abs(left).max(initial=0.0) <= CLOSED:
                break
            q = q - self.inverse * (lines.held.T @ self.solve(lines, left))
        lines = self.lines(here.B, touches, modes)
        lines.acting = lines.held
        lacking = lines.held @ v - np.array([*here.speed[self.kept], *[0.0] * len(lines.parts)])
        return q, v - self.inverse * (lines.held.T @ self.solve(lines, lacking))

    # -- impacts
    def impact(
        self, t: float, q: np.ndarray, v: np.ndarray, shut: list[int], bounce: list[float]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rates after an impact and impulses: Newton's rule for every closed contact, friction in its cone."""
        here, touches = self.system.evaluate(q, v, t), self.touches(q, v)
        options = [(STICKING, FORWARD, BACKWARD, OPEN) if self.contacts[i].rough else (FORWARD, OPEN) for i in shut]
        best: tuple[float, np.ndarray, np.ndarray] = (np.inf, v, v)
        for chosen in itertools.product(*options):
            modes = self.spread(shut, chosen)
            lines = self.lines(here.B, touches, modes)
            wanted = list(here.speed[self.kept] - here.B[self.kept] @ v)
            wanted += [-(touches[i].tangential @ v) if part else -(1 + bounce[i]) * (touches[i].normal @ v)
                       for i, part in lines.parts]  # fmt: skip
            x = self.solve(lines, np.array(wanted))
            after, p = v + self.inverse * (lines.acting.T @ x), self.pushes(lines, modes, x)
            left = np.abs(lines.held @ (after - v) - wanted).max(initial=0.0)  # of contacts that cannot all be met
            wrong = max([left, *(self.misfit(i, modes[i], touches[i], v, after, p, bounce[i]) for i in shut)])
            if wrong < best[0] - 1e-14:
                best = wrong, after, p
        if best[0] > WRONG:
            raise ArithmeticError(f"the impact at {t!r} s has no solution; the best one fails by {best[0]:.2g} N s")
        return best[1], best[2]

    def spread(self, shut: list[int], chosen: Modes) -> list[int]:
        """Modes of all contacts, the closed ones as chosen."""
        modes = [OPEN] * len(self.contacts)
        for i, mode in zip(shut, chosen, strict=True):
            modes[i] = mode
        return modes

    def misfit(
        self, i: int, mode: int, touch: Touch, v: np.ndarray, after: np.ndarray, p: np.ndarray, bounce: float
    ) -> float:
        """By how much (N s) an impact in a mode violates its inequalities."""
        c, (normal, tangential) = self.contacts[i], p[i]
        if mode == OPEN:
            gone = float(touch.normal @ after + bounce * (touch.normal @ v))
            return max(0.0, -gone / ((touch.normal * self.inverse) @ touch.normal))
        if mode == STICKING:
            return max(-normal, abs(tangential) - c.static * normal, 0.0)
        if not c.rough:
            return max(-normal, 0.0)
        back = -mode * float(touch.tangential @ after) / ((touch.tangential * self.inverse) @ touch.tangential)
        return max(-normal, back, 0.0)

    # -- what follows
    def choose(
        self, t: float, q: np.ndarray, v: np.ndarray, shut: list[int], barred: set[tuple[int, int]]
    ) -> list[int]:
        """Modes in which contacts that are closed and do not leave can go on; not those barred as (contact, mode)."""
        touches, options = self.touches(q, v), []
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
            modes = self.spread(shut, chosen)
            wrong = self.unfit(self.forces(t, q, v, modes)[0], modes, shut, touches)
            if wrong < best[0]:
                best = wrong, modes
            if wrong <= 0:
                break
        if best[0] > WRONG:
            raise ArithmeticError(f"no modes of {[self.contacts[i].label for i in shut]} fit at {t!r} s")
        return best[1]

    def unfit(self, forces: Forces, modes: Modes, shut: list[int], touches: list[Touch]) -> float:
        """By how much forces and accelerations in these modes violate their inequalities, beyond round-off."""
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
