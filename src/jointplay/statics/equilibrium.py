"""Static equilibria of a mechanism, with their stability and the contacts that would have to pull."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..elements import Following
from ..elements.pose import Here, Pose
from ..model.clearances import Compliant, Rigid
from ..model.mechanism import Mechanism
from ..model.parts import ModelError, Problem
from ..system import System, as_system
from .assembly import CLOSED, RANK, Held, assemble, close, freedom, rate_rows, sizes
from .factors import free_ways
from .guesses import guess

BALANCED = 1e-9  # share of the loads that may stay without a reaction
SAME = 1e-6  # rad, or sizes of the mechanism: equilibria that are nearer are one
NEUTRAL = 1e-7  # eigenvalues below this share of the stiffness count as zero
MANY = 30  # bodies: of more a search begins at fewer places
FALLS = 60  # steps downhill
BEYOND = 1e-9  # m or rad: what a position may lie beyond a stop


@dataclass(frozen=True)
class Equilibrium:
    """A position in which a mechanism can rest."""

    q: np.ndarray
    multipliers: np.ndarray  # of the rows: F + B^T lam = 0
    stability: Literal["stable", "unstable", "neutral"]
    eigenvalues: np.ndarray  # of the stiffness along the free motions, in ascending order
    tension: tuple[str, ...]  # loose joints whose contact would have to pull
    valid: bool
    text: str
    beyond: tuple[str, ...] = ()  # stops that it lies beyond, such as "J1.stop.upper"


def equilibria(mechanism: Mechanism | System, starts: int = 64, t: float = 0.0) -> tuple[Equilibrium, ...]:
    """All equilibria found from so many deterministic starts, drives held at time t; the valid and stable ones first.
    Of more than thirty bodies the starts are fewer in proportion.

    Of a continuous family of equilibria one is given.  Stops are not leant on: a rest against a stop is not searched,
    and a position beyond one is given, but is not valid.

    >>> from jointplay.model import library
    >>> [e.text for e in equilibria(System(library.pendulum()), starts=8)]
    ['stable', 'unstable']
    """
    system = as_system(mechanism)
    for joint in (*system.mechanism.loose(Rigid), *system.mechanism.loose(Compliant)):
        text = "rests nowhere in particular while its contact is open; make it following, or close it (statics.twin)"
        raise ModelError(Problem(("joints", joint, "contact"), text))
    search = _Search(system, t)
    found: list[Equilibrium] = []
    families: set[tuple[int, int, tuple[str, ...], tuple[str, ...]]] = set()
    for begin in search.starts(starts):
        q, opened = close(system, begin, t, search.held, iterations=30)
        at = None if opened else search.rest(q)
        if at is None and begin is search.first:  # from so far away only downhill
            at = search.fallen(q)
        if at is None or any(search.same(at, e.q) for e in found):
            continue
        new = search.describe(search.unwound(at))
        family = search.family(new)
        if family not in families:
            found.append(new)
        families |= {family} if family else set()
    order = ("stable", "neutral", "unstable")
    return tuple(sorted(found, key=lambda e: (not e.valid, order.index(e.stability))))


class _Search:
    def __init__(self, system: System, t: float) -> None:
        self.system, self.t, self.scale = system, t, sizes(system)
        mechanism = system.mechanism
        self.tables, loose = mechanism.tables(), mechanism.loose(Following)
        self.loose = {n: j for n, j in loose.items() if f"{n}.{j.pushing}" in system.rows}
        self.first = assemble(system, t=t)
        self.degrees = freedom(system, self.first, t).degrees
        rates = rate_rows(system)
        rows = system.evaluate(self.first, t=t).B[rates]
        self.held = Held(tuple(np.array(system.rows)[rates]), rows, rows @ self.first)
        self.reach = self.scale * np.tile([*2 * [self._reach() / self.scale[0]], 1.0], len(mechanism.bodies))

    def _reach(self) -> float:
        """How far apart rests may lie (m): the size of the mechanism, of its springs, or of what they give way."""
        mechanism, size = self.system.mechanism, float(self.scale[0])
        weight = math.hypot(*mechanism.gravity) * sum(body.whole()[0] for body in mechanism.bodies.values())
        give = max((load.reach(weight) for load in mechanism.forces.values()), default=0.0)
        return max(size, min(give, 1e3 * size))

    def starts(self, count: int) -> Iterator[np.ndarray]:
        """The assembled start, the equilibria of the mechanism without play with its joints leaning both ways along
        their forces, then random angles."""
        bodies, random = list(self.system.mechanism.bodies), np.random.default_rng(0)
        yield self.first
        if self.loose:
            tight = System(self.system.mechanism.with_({f"{n}.{j.opened_by}": 0.0 for n, j in self.loose.items()}))
            for e in equilibria(tight, count // 2, self.t):
                rows, B = tight.rows, tight.evaluate(e.q, t=self.t).B
                for ways in itertools.product((-1, 1), repeat=len(self.loose)):
                    lean = np.zeros(len(rows))
                    for (name, joint), way in zip(self.loose.items(), ways, strict=True):
                        both = [i for i, row in enumerate(rows) if self.system.mechanism.owner(row) == name]
                        lean[both] = way * joint.looseness * e.multipliers[both]
                        lean[both] /= np.linalg.norm(e.multipliers[both]) or 1.0
                    yield e.q + np.linalg.lstsq(B * self.scale, lean, rcond=RANK)[0] * self.scale
            count //= 4  # they seldom find more
        angles = dict(zip(bodies, self.first[2::3], strict=True))
        for i in range(min(count, max(4, count * MANY // len(bodies))) - 1):
            turned = {body: x + random.uniform(-np.pi, np.pi) for body, x in angles.items()}
            begin = guess(self.system, turned, {name: random.uniform(-np.pi, np.pi) for name in self.loose})
            moved = random.uniform(-1, 1, len(begin)) * self.reach
            yield begin + (i % 2) * moved * np.tile([1, 1, 0], len(bodies))  # what slides begins elsewhere, too

    def leans(self, q: np.ndarray) -> np.ndarray:
        """Where the loose joints lean: the way from first to second point over the clearance."""
        pose = self.pose(q)
        ways = [(pose.between(joint.between), joint.looseness) for joint in self.loose.values()]
        return np.array([x / c for d, c in ways for x in (d.x, d.y)])

    def pose(self, q: np.ndarray) -> Pose:
        """The mechanism's points in a position."""
        at = dict(zip(self.system.coordinates, q, strict=True))
        return Pose(self.system.mechanism, self.number, at, self.t)

    def number(self, address: str) -> Any:
        """A number of the mechanism, or a table."""
        return self.tables[address] if address in self.tables else self.system.mechanism.value(address)

    def loads(self, q: np.ndarray) -> float:
        """The size of the single loads, which may cancel where they act together (their work along coordinates)."""
        mechanism, pose, length = self.system.mechanism, self.pose(q), float(self.scale[0])
        found = [math.hypot(*mechanism.gravity) * body.whole()[0] * length for body in mechanism.bodies.values()]
        found += [load.magnitude(Here(pose, name, load), length) for name, load in mechanism.forces.items()]
        return max(found, default=0.0)

    def forces(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Free motions, the loads along them, multipliers of the rows, and the size of the loads; no finite ones where
        a spring has no length, and so no direction."""
        here = self.system.evaluate(q, t=self.t)
        B, F = here.B * self.scale, here.F * self.scale
        known = np.isfinite(F).all()
        free, lam = free_ways(B, -F if known else np.zeros(len(q)), RANK)
        if not known:
            return free, np.full(free.shape[1], np.inf), lam, 0.0
        return free, free.T @ F, lam, max(self.loads(q), float(np.abs(F).max(initial=0.0)))

    def stiffness(self, q: np.ndarray, free: np.ndarray, lam: np.ndarray) -> tuple[np.ndarray, float]:
        """How the loads along the free motions fall with them (half the sum with its transpose), and its size."""
        columns, size, h = [], float(np.abs(self.system.evaluate(q, t=self.t).F * self.scale).max(initial=0.0)), 1e-6
        for way in free.T:
            step = h * way * self.scale
            ahead, back = (self.system.evaluate(q + x, t=self.t).F for x in (step, -step))
            turning = self.system.evaluate(q, way * self.scale, self.t).Bdot  # no row depends on time but by its speed
            loads, reactions = (ahead - back) / (2 * h) * self.scale, turning.T @ lam * self.scale
            columns.append(-free.T @ (loads + reactions))
            size = max(size, np.abs(loads).max(), np.abs(reactions).max())
        K = np.array(columns).reshape(free.shape[1], free.shape[1])
        return (K + K.T) / 2, size

    def rest(self, q: np.ndarray) -> np.ndarray | None:
        """Newton's method along the free motions, from a closed position; None if it finds no rest."""
        free, f, lam, size = self.forces(q)
        for _ in range(50):
            if np.abs(f).max(initial=0.0) <= 1e-15 * size:
                break
            K, _ = self.stiffness(q, free, lam)
            if not (np.isfinite(K).all() and np.isfinite(f).all()):  # beside a place where a spring has no direction
                q, _ = close(self.system, q + 0.01 * self.reach, self.t, self.held, iterations=30)
                free, f, lam, size = self.forces(q)
                continue
            change = free @ np.linalg.lstsq(K, f, rcond=RANK)[0] * self.scale
            lean = np.abs(self.leans(q + change) - self.leans(q)).max(initial=0.0)
            share = min(1.0, 0.5 / max(np.abs(change / self.reach).max(), lean, 0.5))
            while share > 1e-3:
                there, opened = close(self.system, q + share * change, self.t, self.held, iterations=12)
                if not opened:
                    new = self.forces(there)
                    if np.linalg.norm(new[1]) < np.linalg.norm(f):
                        break
                share /= 2
            else:
                break
            q, (free, f, lam, size) = there, new
        # close to a change point too many rows seem independent, and nothing free
        return q if np.abs(f).max(initial=0.0) <= BALANCED * size and len(f) >= self.degrees else None

    def fallen(self, q: np.ndarray) -> np.ndarray | None:
        """Where a mechanism rests that sinks from a closed position: downhill along the free motions, by Newton's
        method with stiffness taken as positive; None if it finds no rest."""
        for _ in range(FALLS):
            free, f, lam, _ = self.forces(q)
            K, size = self.stiffness(q, free, lam)
            if not len(f) or not (np.isfinite(K).all() and np.isfinite(f).all()):
                return None
            values, ways = np.linalg.eigh(K)
            stiff, along = np.maximum(np.abs(values), NEUTRAL * size), ways.T @ f
            if values[0] > 0 and np.abs(ways @ (along / stiff)).max() < 0.1:  # in a hollow, near its ground
                return self.rest(q)
            change, more = free @ (ways @ (along / stiff)) * self.scale, NEUTRAL * size
            while np.abs(change[2::3]).max(initial=0.0) > 0.5:  # soft ways are held back, the others go all the way
                change, more = free @ (ways @ (along / (stiff + more))) * self.scale, 2 * more
            share, height = 1.0, self.system.evaluate(q, t=self.t).potential
            for _ in range(10):
                there, opened = close(self.system, q + share * change, self.t, self.held, iterations=30)
                if not opened and self.system.evaluate(there, t=self.t).potential < height:
                    break
                share /= 2
            else:
                return None
            q = there
        return None

    def unwound(self, q: np.ndarray) -> np.ndarray:
        """The same position with every angle within half a turn of the start, or in the turn that the stops allow,
        where nothing counts the turns."""
        turns = np.zeros(len(q))
        turns[2::3] = np.round((q[2::3] - self.first[2::3]) / (2 * np.pi)) * 2 * np.pi
        at = q - turns if self.rests(q - turns) else q
        for _ in range(2 * len(q)):  # a turn of one body after the other, while it helps
            excess = self.excess(at)
            if excess <= BEYOND:
                break
            units = np.eye(len(q))[2::3] * 2 * np.pi
            turned = [at + sign * unit for unit in units for sign in (1, -1)]
            better = [x for x in turned if self.excess(x) < excess - BEYOND and self.rests(x)]
            if not better:
                break
            at = min(better, key=self.excess)
        return at

    def rests(self, q: np.ndarray) -> bool:
        """Whether a position is closed and balanced."""
        here = self.system.evaluate(q, t=self.t)
        _, f, _, size = self.forces(q)
        closed = np.abs(here.residual).max(initial=0.0) <= 1e3 * CLOSED
        return bool(closed and np.abs(f).max(initial=0.0) <= BALANCED * size)

    def excess(self, q: np.ndarray) -> float:
        """How far a position lies beyond stops, all together (m or rad)."""
        return float(-np.minimum(self.system.evaluate(q, t=self.t).gaps, 0.0).sum())

    def describe(self, q: np.ndarray) -> Equilibrium:
        """Stability and contacts of a position of rest."""
        free, _, lam, loads = self.forces(q)
        K, size = self.stiffness(q, free, lam)
        eigenvalues = np.linalg.eigvalsh(K) if len(K) else np.zeros(0)
        stability: Literal["stable", "unstable", "neutral"] = "stable"
        if (eigenvalues < -NEUTRAL * size).any():
            stability = "unstable"
        elif (eigenvalues <= NEUTRAL * size).any():
            stability = "neutral"
        pulls = {name: lam[self.system.rows.index(f"{name}.{joint.pushing}")] for name, joint in self.loose.items()}
        tension = tuple(name for name, x in pulls.items() if x > BALANCED * loads)
        text: str = stability if len(K) else "held by drives and joints, nothing is free to move"
        gaps = dict(zip(self.system.contacts, self.system.evaluate(q, t=self.t).gaps.tolist(), strict=True))
        beyond = tuple(label for label, gap in gaps.items() if gap < -BEYOND)
        wrong = [f"joint {name} would pull with {pulls[name]:.3g} N" for name in tension]
        wrong += [self.stopped(label, -gaps[label]) for label in beyond]
        if wrong:
            text = f"rejected: {' and '.join(wrong)}"
        return Equilibrium(q, lam, stability, eigenvalues, tension, not wrong, text, beyond)

    def stopped(self, label: str, excess: float) -> str:
        """What is said of a position beyond a stop."""
        name, rest = self.system.mechanism.split(label)
        side = rest.rpartition(".")[2]
        joint = self.system.mechanism.joints[name]
        unit = "m" if joint.moves == "position" else "rad"
        return f"joint {name} is {excess:.3g} {unit} beyond its {side} stop of {getattr(joint, side):.6g} {unit}"

    def same(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether two positions are one, angles modulo 2 pi."""
        apart = (one - other) / self.scale
        apart[2::3] = (apart[2::3] + np.pi) % (2 * np.pi) - np.pi
        near = np.abs(self.leans(one) - self.leans(other)).max(initial=0.0) < 1e-3
        return bool(near and np.abs(apart).max() < SAME)

    def family(self, e: Equilibrium) -> tuple[int, int, tuple[str, ...], tuple[str, ...]] | None:
        """What a continuous family of equilibria has in common: how many eigenvalues are negative and zero, the
        contacts that pull and the stops it lies beyond; None for an equilibrium that stands alone."""
        free, _, lam, _ = self.forces(e.q)
        K, size = self.stiffness(e.q, free, lam)
        values, ways = np.linalg.eigh(K) if len(K) else (np.zeros(0), K)
        flat = np.abs(values) <= NEUTRAL * size
        for way in ways.T[flat]:
            beside, opened = close(self.system, e.q + 0.01 * (free @ way) * self.scale, self.t, self.held)
            _, f, _, loads = self.forces(beside)
            if opened or np.abs(f).max(initial=0.0) > 1e-7 * loads:
                return None  # flat, but alone
        if not flat.any():
            return None
        return int((values < -NEUTRAL * size).sum()), int(flat.sum()), e.tension, e.beyond
