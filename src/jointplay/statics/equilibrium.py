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
from ..system import Evaluation, System, as_system
from .assembly import CLOSED, RANK, Held, assemble, close, rate_rows, sizes
from .curve import BALANCED, Forces
from .cycle import in_seconds
from .degrees import freedom
from .factors import free_ways
from .families import FoundRest
from .guesses import guess
from .winding import walks, within, wound

SAME = 1e-6  # rad, or sizes of the mechanism: equilibria that are nearer are one
NEUTRAL = 1e-7  # eigenvalues below this share of the stiffness count as zero
MANY = 30  # bodies: of more a search begins at fewer places
FALLS = 60  # steps downhill
BEYOND = 1e-9  # m or rad: what a position may lie beyond a stop
LIGHTEST = 1e-10  # of the largest load or stiffness: less of a body counts as this


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
    """All equilibria found from so many deterministic starts (of more than thirty bodies fewer), drives held at time t;
    the valid and stable ones first.  With one degree of freedom the mechanism is followed through all positions that it
    can reach from its start, and from each rest that is found in another assembly, so that none is lost there.  Of a
    continuous family one is given.  Stops are not leant on: a rest against one is not searched, and a position beyond
    it is not valid.  A control loop is off: its actuators do nothing.

    >>> from jointplay.model import library
    >>> [e.text for e in equilibria(System(library.pendulum()), starts=8)]
    ['stable', 'unstable']
    """
    system, t = as_system(mechanism), float(in_seconds("t", t))
    for name, joint in system.mechanism.loose((Rigid, Compliant)).items():
        text = "rests nowhere in particular while its contact is open; make it following, or close it "
        text += f"(--set {name}.{joint.opened_by}=0; statics.twin in Python)"
        raise ModelError(Problem(("joints", name, "contact"), text))
    for name in [name for name, drive in system.mechanism.drives.items() if drive.at_rate and t]:
        text = (
            f"a rate drive rests where it starts, and not where it is at t = {t:g} s; drive the angle, or start there"
        )
        raise ModelError(Problem(("drives", name), text))
    search = RestSearch(system, t)
    found = FoundRest(search)
    for begin in search.starts(starts):
        q, opened = close(system, begin, t, search.held, iterations=30)
        if begin is search.first and not opened:
            found.add_along(q)
        at = None if opened else search.rest(q)
        if at is None and begin is search.first:  # from so far away only downhill
            at = search.fallen(q)
        if at is not None and found.add(at):
            found.add_along(at)
    order = ("stable", "neutral", "unstable")
    return tuple(sorted(found.all, key=lambda e: (not e.valid, order.index(e.stability))))


class RestSearch:
    def __init__(self, system: System, t: float) -> None:
        self.system, self.t, self.scale = system, t, sizes(system)
        mechanism = system.mechanism
        self.tables, loose = mechanism.tables(), mechanism.loose(Following)
        self.loose = {n: j for n, j in loose.items() if f"{n}.{j.pushing}" in system.rows}
        self.first = assemble(system, t=t)
        self.beside = np.random.default_rng(0).normal(size=len(self.first))  # some way in which everything moves
        self.degrees = freedom(system, self.first, t).degrees
        rates = rate_rows(system)
        rows = system.evaluate(self.first, t=t).B[rates]
        self.held = Held(tuple(np.array(system.rows)[rates]), rows, rows @ self.first)
        self.reach = self.scale * np.tile([*2 * [self._reach() / self.scale[0]], 1.0], len(mechanism.bodies))
        self.far = wound(system, self.first, t, self.forces(self.first).loads[2::3])

    def _reach(self) -> float:
        """How far apart rests may lie (m): the size of the mechanism, of its springs, or of what they give way."""
        mechanism, size = self.system.mechanism, float(self.scale[0])
        weight = math.hypot(*mechanism.gravity) * sum(body.whole()[0] for body in mechanism.bodies.values())
        give = max((load.reach(weight) for load in mechanism.forces.values()), default=0.0)
        return max(size, min(give, 1e3 * size))

    def starts(self, count: int) -> Iterator[np.ndarray]:
        """The start, equilibria without play with joints leaning both ways along their forces, then random angles."""
        bodies, random = list(self.system.mechanism.bodies), np.random.default_rng(0)
        slides = self.reach * np.tile([1, 1, 0], len(bodies))  # what does begins elsewhere, too
        yield self.first
        if self.loose:
            tight = System(self.system.mechanism.with_({f"{n}.{j.opened_by}": 0.0 for n, j in self.loose.items()}))
            for e in equilibria(tight, count // 2, self.t):
                rows, B = tight.rows, tight.evaluate(e.q, t=self.t).B
                for ways in itertools.product((-1, 1), repeat=len(self.loose)):
                    lean = np.zeros(len(rows))
                    for (name, joint), way in zip(self.loose.items(), ways, strict=True):
                        both = [i for i, row in enumerate(rows) if self.system.mechanism.owner(row) == name]
                        push = e.multipliers[both]
                        lean[both] = way * joint.looseness * push / (np.linalg.norm(push) or 1.0)
                    yield e.q + np.linalg.lstsq(B * self.scale, lean, rcond=RANK)[0] * self.scale
            count //= 4  # they seldom find more
        if self.degrees > 1:  # one is followed throughout
            yield from walks(self.system, self.first, self.t, self.held, self.forces, self.far)
        for i in range(min(count, max(4, count * MANY // len(bodies))) - 1):
            turned = {b: x + random.uniform(-np.pi, np.pi) for b, x in zip(bodies, self.first[2::3], strict=True)}
            begin = guess(self.system, turned, {name: random.uniform(-np.pi, np.pi) for name in self.loose})
            begin += (i % 2) * slides * random.uniform(-1, 1, len(begin))
            if not self.far or within(self.system, begin, self.first, self.t, self.held):
                yield begin

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

    def loads(self, q: np.ndarray, here: Evaluation, lam: np.ndarray) -> np.ndarray:
        """The size (J) of the single loads and reactions of each body, which may cancel where they act together, at its
        coordinates."""
        mechanism, pose, length = self.system.mechanism, self.pose(q), float(self.scale[0])
        weights = [math.hypot(*mechanism.gravity) * body.whole()[0] * length for body in mechanism.bodies.values()]
        found = dict(zip(mechanism.bodies, weights, strict=True))
        for name, load in mechanism.forces.items():
            size = load.magnitude(Here(pose, name, load), length)
            found |= {body: max(found[body], size) for body in load.bodies() if body != "ground"}
        acting = np.abs([here.F, *(here.B * lam[:, None])]).max(axis=0) * self.scale
        return np.repeat(np.maximum(list(found.values()), self.largest(acting)), 3)

    @staticmethod
    def largest(values: np.ndarray) -> np.ndarray:
        """Of values of the coordinates those of each body: the largest."""
        found: np.ndarray = values.reshape(-1, 3).max(axis=1)
        return found

    def forces(self, q: np.ndarray, unit: np.ndarray | None = None) -> Forces:
        """What acts in a position; unit: of the coordinates, their sizes unless given."""
        here, unit = self.system.evaluate(q, t=self.t), self.scale if unit is None else unit
        known = np.isfinite(here.F).all()
        B, F = here.B * unit, here.F * unit if known else np.zeros(len(q))
        longer = np.linalg.norm(B, axis=1) / np.linalg.norm(here.B * self.scale, axis=1)
        free, lam = free_ways(B / longer[:, None], -F, RANK)
        if unit is not self.scale:  # ways of far and of near go apart
            free = free @ np.linalg.eigh(free.T @ (free * (unit / self.scale)[:, None]))[1]
        lam = lam / longer
        if not known:
            return Forces(unit, free, np.full(free.shape[1], np.inf), lam, np.zeros(len(q)))
        return Forces(unit, free, free.T @ F, lam, self.loads(q, here, lam) * unit / self.scale)

    def evenly(self, q: np.ndarray) -> Forces:
        """The same in units in which the loads and the stiffness of each body are of one size, so that a light body is
        not lost beside a heavy one."""
        plain, h = self.forces(q), 1e-6
        ahead, back = (self.system.evaluate(q + sign * h * self.beside * self.scale, t=self.t).F for sign in (1, -1))
        stiff = self.largest(np.nan_to_num(np.abs(ahead - back), posinf=0.0) / (2 * h) * self.scale)
        size = np.maximum(plain.loads, np.repeat(stiff, 3))
        if not size.any():
            return plain
        return self.forces(q, self.scale / np.sqrt(np.maximum(size / size.max(), LIGHTEST)))

    def stiffness(self, q: np.ndarray, at: Forces) -> tuple[np.ndarray, float]:
        """How the loads along the free motions fall with them (half the sum with its transpose), and its size."""
        weights = np.abs(self.system.evaluate(q, t=self.t).F * at.unit**2 / self.scale)
        columns, size = [], float(weights.max(initial=0.0))
        for way in (at.free * at.unit[:, None]).T:
            h = 1e-6 / np.abs(way / self.scale).max()
            ahead, back = (self.system.evaluate(q + x, t=self.t).F for x in (h * way, -h * way))
            turning = self.system.evaluate(q, way, self.t).Bdot  # no row depends on time but by its speed
            loads, reactions = (ahead - back) / (2 * h) * at.unit, turning.T @ at.lam * at.unit
            columns.append(-at.free.T @ (loads + reactions))
            size = max(size, np.abs(loads).max(), np.abs(reactions).max())
        K = np.array(columns).reshape(len(columns), len(columns))
        return (K + K.T) / 2, size

    def rest(self, q: np.ndarray) -> np.ndarray | None:
        """Newton's method along the free motions, from a closed position; None if it finds no rest."""
        at = self.evenly(q)
        for _ in range(50):
            if at.balanced(1e-15):
                break
            K, _ = self.stiffness(q, at)
            if not (np.isfinite(K).all() and np.isfinite(at.along).all()):  # beside where a spring has no direction
                q, _ = close(self.system, q + 0.01 * self.reach, self.t, self.held, iterations=30)
                at = self.evenly(q)
                continue
            change = at.free @ np.linalg.lstsq(K, at.along, rcond=RANK)[0] * at.unit
            lean = np.abs(self.leans(q + change) - self.leans(q)).max(initial=0.0)
            share = min(1.0, 0.5 / max(np.abs(change / self.reach).max(), lean, 0.5))
            while share > 1e-3:
                there, opened = close(self.system, q + share * change, self.t, self.held, 12, at.unit)
                if not opened and np.linalg.norm(self.forces(there, at.unit).along) < np.linalg.norm(at.along):
                    break
                share /= 2
            else:
                break
            q, at = there, self.evenly(there)
        # close to a change point too many rows seem independent, and nothing free
        return q if at.balanced() and len(at.along) >= self.degrees else None

    def fallen(self, q: np.ndarray) -> np.ndarray | None:
        """Where a mechanism rests that sinks from a closed position: downhill along the free motions, by Newton's
        method with stiffness taken as positive; None if it finds no rest."""
        for _ in range(FALLS):
            at = self.evenly(q)
            K, size = self.stiffness(q, at)
            if not len(K) or not (np.isfinite(K).all() and np.isfinite(at.along).all()):
                return None
            values, ways = np.linalg.eigh(K)
            stiff, along, ways = np.maximum(np.abs(values), NEUTRAL * size), ways.T @ at.along, at.free @ ways
            change, more = ways @ (along / stiff) * at.unit, NEUTRAL * size
            if values[0] > 0 and np.abs(change / self.scale).max() < 0.1:  # in a hollow, near its ground
                return self.rest(q)
            while np.abs(change[2::3]).max(initial=0.0) > 0.5:  # soft ways are held back, the others go all the way
                change, more = ways @ (along / (stiff + more)) * at.unit, 2 * more
            share, height = 1.0, self.system.evaluate(q, t=self.t).potential
            for _ in range(10):
                there, opened = close(self.system, q + share * change, self.t, self.held, 30, at.unit)
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
        closed = np.abs(self.system.evaluate(q, t=self.t).residual).max(initial=0.0) <= 1e3 * CLOSED
        return bool(closed and self.evenly(q).balanced())

    def excess(self, q: np.ndarray) -> float:
        """How far a position lies beyond stops, all together (m or rad)."""
        return float(-np.minimum(self.system.evaluate(q, t=self.t).gaps, 0.0).sum())

    def bent(self, q: np.ndarray) -> tuple[Forces, np.ndarray, np.ndarray, float]:
        """Forces, eigenvalues of the stiffness and their ways, as columns, in even units, and what counts as zero."""
        at = self.evenly(q)
        K, size = self.stiffness(q, at)
        values, ways = np.linalg.eigh(K)
        return at, values, at.free @ ways, NEUTRAL * size

    def describe(self, q: np.ndarray) -> Equilibrium:
        """Stability and contacts of a position of rest."""
        plain, (_, values, _, none) = self.forces(q), self.bent(q)
        eigenvalues = np.linalg.eigvalsh(self.stiffness(q, plain)[0])
        stability: Literal["stable", "unstable", "neutral"] = "stable"
        if (values < -none).any():
            stability = "unstable"
        elif (values <= none).any():
            stability = "neutral"
        pulls = {name: plain.lam[self.system.rows.index(f"{name}.{x.pushing}")] for name, x in self.loose.items()}
        loads = dict(zip(self.system.mechanism.bodies, plain.loads[::3] / self.scale[0], strict=True))
        borne = {name: max(loads.get(body, 0.0) for body in joint.bodies()) for name, joint in self.loose.items()}
        tension = tuple(name for name, x in pulls.items() if x > BALANCED * borne[name])
        text: str = stability if len(values) else "held by drives and joints, nothing is free to move"
        gaps = dict(zip(self.system.contacts, self.system.evaluate(q, t=self.t).gaps.tolist(), strict=True))
        beyond = tuple(label for label, gap in gaps.items() if gap < -BEYOND)
        wrong = [f"joint {name} would pull with {pulls[name]:.3g} N" for name in tension]
        wrong += [self.stopped(label, -gaps[label]) for label in beyond]
        if wrong:
            text = f"rejected: {' and '.join(wrong)}"
        if self.system.mechanism.control is not None:
            text += ", with its control loop off"
        return Equilibrium(q, plain.lam, stability, eigenvalues, tension, not wrong, text, beyond)

    def stopped(self, label: str, excess: float) -> str:
        """What is said of a position beyond a stop."""
        name, rest = self.system.mechanism.split(label)
        side = rest.rpartition(".")[2]
        joint = self.system.mechanism.joints[name]
        unit = "m" if joint.moves == "position" else "rad"
        return f"joint {name} is {excess:.3g} {unit} beyond its {side} stop of {getattr(joint, side):.6g} {unit}"

    def apart(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """The way from the other position to this one, in sizes of the mechanism, angles modulo 2 pi."""
        apart: np.ndarray = (one - other) / self.scale
        apart[2::3] = (apart[2::3] + np.pi) % (2 * np.pi) - np.pi
        return apart

    def same(self, one: np.ndarray, other: np.ndarray, share: float = SAME) -> bool:
        """Whether two positions are one."""
        near = np.abs(self.leans(one) - self.leans(other)).max(initial=0.0) < 1e-3
        return bool(near and np.abs(self.apart(one, other)).max() < share)
