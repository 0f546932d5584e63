"""Kinematics and inverse dynamics of a fully driven mechanism: no integration, only assembly from time to time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ComputationFailed, InputError
from ..model.mechanism import Mechanism
from ..model.parts import ModelError, Problem
from ..model.units import shorten
from ..system import Evaluation, System
from .assembly import CLOSED, RANK, Held, agree, assemble, close, independent, rate_rows, sizes, weakest
from .degrees import freedom
from .factors import square

if TYPE_CHECKING:
    import xarray

LARGEST = 0.5  # greatest predicted change in one step, in radians or sizes of the mechanism
CROSSING = 1e-3  # the same of a step that passes a singular position
SMOOTH = 0.1  # of the change in a step: by so much it may miss the mean of the velocities at both ends
CLEAR = 1e-3  # conditioning below which accelerations and efforts have lost half of their digits
AROUND = 0.1  # rad, or sizes of the mechanism: as far away are states that have them all
PLACES = np.array([0.3, 0.5, 0.75, 1.0])  # where such states are taken, before and after, as shares of that
ALIKE = 1e-8  # of the largest: by how much it may matter to leave the farthest of them out
NEARER = 0.1  # of the best conditioning: what is above is no singular position, but a gear, or a small body
PRECISE = 1e-4  # a state that does not follow from those around it has too few digits from here on
HARDLY = 1e-5  # as any state has
DETERMINED = 1e-6  # reactions and efforts have, however well the state is known
BLURRED = 1e-8  # nearer to one they do not even tell branches apart
BACK = 1e-6  # rad, or sizes of the mechanism: as far from where it was a body is back
SLACK = 1e-3  # corrections of a prediction below this are never suspect
ROUNDS = 100  # periods of drives after which a mechanism should be back where it began
MOST = 50_000  # steps between two times: minutes


class Far(ComputationFailed):
    """Times that are more steps away than may be taken."""


class Unassembled(ComputationFailed):
    """Drives that open a joint which must stay closed."""


@dataclass(frozen=True)
class DrivenState:
    """Coordinates, velocities and accelerations at one time, and on which side of a singular position they are."""

    t: float
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    equations: Evaluation
    side: float
    conditioning: float


class DrivenPath:
    """The motion that the drives prescribe, followed continuously from the start at time 0; at most so many steps are
    tried from one time to the next."""

    def __init__(self, system: System, most: int = MOST) -> None:
        self.system, self.scale, self.most, self.tried = system, sizes(system), most, 0
        q = assemble(system)
        free = freedom(system, q)
        if free.degrees:
            raise ComputationFailed(drives_wanted(system, q, free.degrees))
        self.kept = [i for i, row in enumerate(system.rows) if row not in free.redundant]
        self.redundant = free.redundant
        self.passages: list[float] = []
        self.firmest = 0.0  # the best conditioning on the way
        rates = rate_rows(system)
        drives, own = system.mechanism.drives, system.mechanism.owner
        self.rates = [drives[own(row)] for row, rate in zip(system.rows, rates, strict=True) if rate]
        rows = system.evaluate(q).B[rates]
        self.turned = Held(tuple(np.array(system.rows)[rates]), rows, rows @ q)
        first = self.at(0.0, q)
        if first is None:
            raise ComputationFailed(singular(self.system, 0.0, q))
        self.state = self.first = first

    def back(self) -> bool:
        """Whether all bodies are where they were at time 0, whole turns aside."""
        off = (self.state.q - self.first.q) / self.scale
        off[2::3] = np.remainder(off[2::3] + np.pi, 2 * np.pi) - np.pi
        return bool(np.abs(off).max(initial=0.0) <= BACK)

    def at(self, t: float, q: np.ndarray) -> DrivenState | None:
        """Velocities and accelerations at a closed position; None if it is singular."""
        here = self.system.evaluate(q, t=t)
        B = here.B * self.scale
        if (firm := square(B)) is not None:
            v = firm.solve(here.speed)
            here = self.system.evaluate(q, v * self.scale, t)
            a = firm.solve(here.rhs)
            return DrivenState(t, q, v * self.scale, a * self.scale, here, firm.side, firm.conditioning)
        v = np.linalg.lstsq(B, here.speed, rcond=RANK)[0]
        here = self.system.evaluate(q, v * self.scale, t)
        a, _, rank, values = np.linalg.lstsq(B, here.rhs, rcond=RANK)
        if rank < len(q):
            return None
        agree(self.system, B, v, here.speed, t)
        side = float(np.linalg.slogdet(B[self.kept])[0])
        return DrivenState(t, q, v * self.scale, a * self.scale, here, side, float(values[-1] / values[0]))

    def held(self, t: float) -> Held:
        """Angles whose rate is prescribed, integrated from the present time."""
        if not self.rates:
            return self.turned
        turns = [drive.motion.integral(self.state.t, t) for drive in self.rates]
        return Held(self.turned.labels, self.turned.rows, self.turned.values + turns)

    def go(self, until: float) -> DrivenState:
        """The state at a later (or, before the first, earlier) time."""
        here, smooth = self.walk(until), None
        near = not self.firmest or here.conditioning < NEARER * self.firmest
        if near and here.conditioning < CLEAR:
            smooth = self.from_around(here)
            near = here.conditioning < NEARER * self.firmest
        if smooth is None and here.conditioning < (PRECISE if near else HARDLY):
            raise ComputationFailed(singular(self.system, until, here.q))
        self.state = smooth or here
        return self.state

    def from_around(self, here: DrivenState) -> DrivenState | None:
        """A state beside a singular position by those around it, where the motion goes smoothly through: to solve for
        it costs the more digits the nearer it is, and of efforts by the fourth power."""
        fastest, turned, passages = float(np.abs(here.v / self.scale).max()), self.turned, [*self.passages]
        found: list[DrivenState] = []
        try:
            for side in (-1.0, 1.0) if fastest else ():
                self.state, self.turned = here, turned
                found += [self.walk(here.t + float(side * AROUND / fastest * place)) for place in PLACES]
        except ComputationFailed:
            found = []
        self.state, self.turned, self.passages = here, turned, passages
        if not found or min(state.conditioning for state in found) < CLEAR:
            return None
        parts = []
        for part, size in (("q", self.scale), ("v", self.scale * fastest), ("a", self.scale * fastest**2)):
            values = np.array([getattr(state, part) for state in found])
            near = [i for i in range(len(found)) if (i + 1) % len(PLACES)]
            best, fewer = (between(here.t, [found[i].t for i in use], values[use]) for use in (range(len(found)), near))
            if (np.abs(best - fewer) > ALIKE * np.maximum(np.abs(values).max(axis=0), size)).any():
                return None
            parts.append(best)
        q, v, a = parts
        if (np.abs(q - here.q) > ALIKE * self.scale).any():
            return None
        return replace(here, q=q, v=v, a=a, equations=self.system.evaluate(q, v, here.t))

    def walk(self, until: float) -> DrivenState:
        """The state at another time as it is solved for; steps are halved where the branch is in doubt."""
        step, halvings, begin, self.tried = until - self.state.t, 0, self.state.t, 0
        if np.abs(self.state.v * step / self.scale).max() > 10 * self.most * LARGEST:
            raise Far(self.far(begin, until))
        while self.state.t != until:
            now = self.state
            self.tried += 1
            if self.tried > self.most:
                raise Far(self.far(begin, until))
            t = now.t + step if abs(step) < abs(until - now.t) else until
            dt = t - now.t
            predicted = now.q + now.v * dt + 0.5 * now.a * dt * dt
            move = np.abs((predicted - now.q) / self.scale).max()
            turned, new = self.turned, None
            if move <= LARGEST:
                turned = self.held(t)
                q, opened = close(self.system, predicted, t, turned, iterations=12)
                if not opened and np.abs((q - predicted) / self.scale).max() <= SLACK + 0.1 * move:
                    new = self.at(t, q)
            if new is not None and self.goes_on(now, new, move, t == until):
                if new.side != now.side:  # conditioning falls and rises in line there
                    share = now.conditioning / (now.conditioning + new.conditioning)
                    self.passages.append(now.t + share * dt)
                self.state, self.turned, step, halvings = new, turned, 2 * dt, 0
                self.firmest = max(self.firmest, new.conditioning)
                continue
            step, halvings = dt / 2, halvings + 1
            if abs(step) <= 1e-13 * (abs(until) + abs(now.t)) or halvings > 200:
                raise self.stuck(until)
        return self.state

    def goes_on(self, now: DrivenState, new: DrivenState, move: float, last: bool) -> bool:
        """Whether a state is the next on the branch of one before: where branches cross they have the same place, and
        velocities tell them apart.  A singular position is passed at one go, from where these have digits enough."""
        if new.conditioning < BLURRED:
            return last  # where it cannot be told
        if new.side != now.side and move > CROSSING:
            return False
        off = new.q - now.q - 0.5 * (new.t - now.t) * (now.v + new.v)
        speeds = np.abs([now.equations.speed, new.equations.speed, new.equations.speed - now.equations.speed])
        jumps = speeds[2].max(initial=0.0) > SMOOTH * speeds.max(initial=0.0)  # those of drives, as where tables end
        return bool(np.abs(off / self.scale).max() <= SMOOTH * move + (BLURRED if jumps else CLOSED))

    def far(self, begin: float, until: float) -> str:
        """The sentence for a time that is too many steps away."""
        return (
            f"mechanism {self.system.mechanism.name!r} cannot be followed from {begin:.6g} s to {until:.6g} s: at most "
            f"{self.most} steps of {LARGEST} rad or of its size reach {self.state.t:.6g} s; choose nearer times"
        )

    def stuck(self, until: float) -> ComputationFailed:
        """What to raise for a motion that cannot go on."""
        now = self.state
        for ahead in (now.t + 1e-3 * (until - now.t), until):
            q, opened = close(self.system, now.q, ahead, self.held(ahead), iterations=12)
            if opened:
                text = ", ".join(f"{row} by {gap:.3g}" for row, gap in [*opened.items()][:3])
                return Unassembled(
                    f"mechanism {self.system.mechanism.name!r} cannot be assembled beyond t = {now.t:.6g} s: at "
                    f"{ahead:.6g} s {text} stay open (m or rad); check lengths and the motion of the drives"
                )
        return ComputationFailed(singular(self.system, *((until, q) if self.at(until, q) is None else (now.t, now.q))))


def singular(system: System, t: float, q: np.ndarray, what: str = "velocities") -> str:
    """The sentence for a position in which the drives do not determine the motion, or what it needs."""
    joints = weakest(system, system.evaluate(q, t=t).B, len(q) - 1)
    return (
        f"mechanism {system.mechanism.name!r} is in a singular position at t = {t:.6g} s (joints {joints}): "
        f"its {what} are not determined there; choose other times or drives"
    )


def between(t: float, times: Sequence[float], values: np.ndarray) -> np.ndarray:
    """What the polynomial through values at some times is at another."""
    from scipy.interpolate import BarycentricInterpolator  # type: ignore[import-untyped]

    return np.asarray(BarycentricInterpolator(times, values)(t))


def rounds(system: System, period: float) -> int | None:
    """After how many periods (s) of its drives a wholly driven mechanism is back where it began: behind gears, and in
    some linkages, more than one; None if it is not for long."""
    path = DrivenPath(system)
    for count in range(1, ROUNDS + 1):
        try:
            path.go(count * period)
        except Far:
            return None
        if path.back():
            return count
    return None


def undriven(system: System, q: np.ndarray) -> list[str]:
    """Coordinates that together determine what the rows leave open; angles first: they are what is mostly driven."""
    B = system.evaluate(q).B
    order = sorted(range(len(q)), key=lambda i: (not system.coordinates[i].endswith("angle"), i))
    lines = np.vstack([B, np.eye(len(q))[order]]) * sizes(system)
    chosen = [system.coordinates[order[i - len(B)]] for i in independent(lines) if i >= len(B)]
    return [c.removesuffix(".angle") for c in chosen]


def drives_wanted(system: System, q: np.ndarray, degrees: int) -> str:
    """The sentence for degrees of freedom without a drive, with drives that would do."""
    parts = [system.mechanism.split(c) for c in undriven(system, q)]
    named = ", ".join(f"the {part or 'angle'} of {body}" for body, part in parts)
    many = "degrees of freedom are" if degrees > 1 else "degree of freedom is"
    return f"mechanism {system.mechanism.name!r}: {degrees} {many} not driven; add drives, e.g. of {named}"


def follow(system: System, times: ArrayLike) -> tuple[DrivenPath, list[DrivenState]]:
    """The states of a fully driven mechanism at increasing times."""
    at = np.atleast_1d(in_seconds("times", times))
    if at.ndim != 1 or not len(at) or not np.isfinite(at).all() or (np.diff(at) <= 0).any():
        raise InputError(f"times must be finite and increase, got {times!r}")
    path = DrivenPath(system)
    return path, [path.go(float(t)) for t in at]


def multipliers(system: System, states: list[DrivenState]) -> np.ndarray:
    """What the constraints must apply for the motion, M a = F + B^T lam; the least ones if rows are redundant."""
    found = []
    for state in states:
        if state.conditioning < DETERMINED:
            raise ComputationFailed(singular(system, state.t, state.q, "reactions and efforts"))
        e = state.equations
        need, firm = e.mass * state.a - e.F, square(e.B)
        found.append(firm.solve(need, "T") if firm else np.linalg.lstsq(e.B.T, need, rcond=RANK)[0])
    return np.array(found)


def in_seconds(name: str, given: ArrayLike) -> np.ndarray:
    """Times as numbers (s)."""
    try:
        return np.asarray(given, float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers of seconds, such as 0.1, got {shorten(given)}") from None


def driven(mechanism: Mechanism | System, times: ArrayLike) -> System:
    """The system of a mechanism whose motions reach the last of the times (s)."""
    last = float(np.max(in_seconds("times", times), initial=0.0))
    return mechanism.until(last) if isinstance(mechanism, System) else System(mechanism, max(last, 10.0))


def kinematics(mechanism: Mechanism | System, times: ArrayLike) -> xarray.Dataset:
    """Positions, velocities and accelerations of a fully driven mechanism at increasing times (s).

    The attribute `change_points` holds the times at which it went straight through a singular position.

    >>> from jointplay.model import library
    >>> found = kinematics(System(library.scotch_yoke(crank=0.1, speed=2.0)), [0.0, 0.5])
    >>> found["x_rate"].sel(body="yoke").values.round(6)  # -0.2 sin(2 t)
    array([ 0.      , -0.168294])
    """
    path, states = follow(driven(mechanism, times), times)
    return _dataset(path, states, None)


def inverse_dynamics(mechanism: Mechanism | System, times: ArrayLike) -> xarray.Dataset:
    """The motion of a fully driven mechanism at increasing times (s) with the drive forces and reactions it needs.

    Rows that are redundant (attribute `redundant`) leave the reactions open: they are those of least multipliers.
    Friction of pins, which depends on the reactions, is refused.

    >>> from jointplay.model import library
    >>> found = inverse_dynamics(System(library.scotch_yoke(crank=0.1, masses=(1.0, 3.0), speed=2.0)), [0.0])
    >>> found["force_x"].sel(joint="J2").values.round(6)  # on the pin: it pulls the yoke back with m r w^2
    array([1.2])
    """
    system = driven(mechanism, times)
    for name, joint in system.mechanism.joints.items():
        if joint.pin_law():
            text = "inverse dynamics knows no friction of pins; leave it out, or simulate the driven mechanism"
            raise ModelError(Problem(("joints", name, "pin_friction"), text))
    path, states = follow(system, times)
    return _dataset(path, states, multipliers(system, states))


def _dataset(path: DrivenPath, states: list[DrivenState], forces: np.ndarray | None) -> xarray.Dataset:
    from .. import results

    q, v, a = (np.array([getattr(state, part) for state in states]) for part in "qva")
    attrs = {"change_points": json.dumps(path.passages), "redundant": json.dumps(path.redundant)}
    return results.dataset(path.system, np.array([s.t for s in states]), q, v, a, forces, attrs)
