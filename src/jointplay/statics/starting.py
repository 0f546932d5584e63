"""The state in which a mechanism starts, its loose joints on the wall that carries them or in the middle."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..elements import Joint
from ..errors import ComputationFailed, InputError
from ..model.clearances import Compliant, Following, Rigid
from ..model.mechanism import Mechanism
from ..model.parts import ModelError, Problem
from ..physics.compliance import LANDED, SLOWEST
from ..structure import Memo
from ..system import CONTACT, Evaluation, System
from .assembly import RANK, Held, launch, rate_rows, sizes, starts
from .degrees import Freedom
from .within import MET, SAME, going, rated, rounded, unladen

ROUNDS, ROUND_OFF = 8, 4e-16  # of Newton's method, and the change after which there is none
UNLOADED = 1e-9  # of the largest reaction: a joint that carries less starts in the middle
SHUT = 1e-12  # m or rad: a wall that moves by less stays
REACH = 10.0  # times its play: so far a joint can lean
PRESSED = 1e-14  # of the play: to this a depth is found
LOOKS = 16  # at a law, for the energy that a contact stores
SOFTEST = 6  # power of ten: beyond that many plays no depth is looked for
TINY = 1e-12  # of a slope: a gap that a row does not change
TOLD = 0.02  # rad, or of the size of a coordinate: `check` tells of each start value that is missed by more
FAR = math.radians(5.0)  # so do runs beyond this: less is how people give a rough value


def twin(mechanism: Mechanism) -> Mechanism:
    """The mechanism with its rigid and compliant joints closed: the ideal one beside which play is judged.

    >>> from jointplay.model import library
    >>> twin(library.crank_rocker_2016(clearance2=1e-3)).value("J2.clearance")
    0.0
    """
    return mechanism.closed(Rigid, Compliant)


def leaning(mechanism: Mechanism) -> tuple[type, ...]:
    """The contacts of joints that start from the ideal mechanism's state: where journals start loaded, permanent ones
    too."""
    return (Rigid, Compliant, *((Following,) if mechanism.journals == "loaded" else ()))


TWINS = Memo(64)  # systems of ideal twins: runs of a study differ in their play, and share one


def contents(mechanism: Mechanism) -> tuple[tuple[str, bytes], ...]:
    """The numbers of all tables, by which mechanisms of one structure are told apart: tables have no addresses."""
    return tuple((name, table.data.tobytes()) for name, table in mechanism.tables().items())


def closed(system: System) -> System:
    """The system of the ideal mechanism from whose state joints start (`leaning`), made once for all systems that
    differ in the play and contacts of joints only."""
    if "closed" not in system.kept:
        mechanism = system.mechanism
        kinds = leaning(mechanism)
        loose = mechanism.loose(kinds)
        gone = {f"{name}.{joint.opened_by}" for name, joint in loose.items()}
        gone |= {name + end for name in loose for end in CONTACT}  # no equation knows them where there is no play
        left = tuple((address, x) for address, x in mechanism.addresses().items() if address not in gone)
        key = system.structure, left, contents(mechanism), mechanism.name, mechanism.journals
        system.kept["closed"] = TWINS.get(key, lambda: System(mechanism.closed(*kinds)))
    return system.kept["closed"]


def launched(system: System) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and velocities at time 0 (`launch`) of a system that others share, computed once."""
    if system.launched is None:
        system.launched = launch(system)
    q, v = system.launched
    return q.copy(), v.copy()


def start(system: System, reclose: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and velocities at time 0: start values, start rates and drives exactly, the rest with least kinetic
    energy of the mechanism without play; joints on the wall or in the middle of it, as the mechanism says, unless the
    start values say otherwise.  Journals in permanent contact are on a wall, and where the mechanism says loaded at
    rest there.

    reclose: take only as many start values as the ideal mechanism has degrees of freedom.
    """
    mechanism = system.mechanism
    if not mechanism.loose(leaning(mechanism)):
        return launch(system)
    try:
        q, v = launched(closed(system))
    except (InputError, ComputationFailed):
        if reclose:
            raise
        return upright(system, *exactly(system))
    given = {
        (f"{k}.angle" if k in mechanism.bodies else k): x for k, x in mechanism.start.items() if not k.endswith("rate")
    }
    at = dict(zip(system.coordinates, q, strict=True))
    if not reclose:
        missed = [name for name, x in given.items() if abs(at[name] - x) > SAME]
        if missed and (exact := _held(system, missed, q)) is not None:
            there = dict(zip(system.coordinates, exact[0], strict=True))
            met = [name for name in missed if abs(there[name] - given[name]) <= MET]  # a drive or joint may overrule it
            loaded_there = mechanism.journals == "loaded" and not mechanism.loose(Following)
            middle = [name for name in met if name.endswith(".angle") and rounded(at[name], given[name])]
            if met and not (loaded_there and middle == met):
                system.notes += [note for note in unladen(system, exact[0], met) if note not in system.notes]
                return exact[0], going(system, *exact, v)
    if mechanism.journals != "loaded":
        return q, v
    q, v = loaded(system, q, v)
    if mechanism.loose(Following) and np.abs(system.evaluate(q).residual[~rate_rows(system)]).max() > SAME:
        return exactly(system)  # a journal that carries nothing must touch somewhere all the same
    return q, v


def exactly(system: System, first: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The start with all start values held, journals in permanent contact as calm in their bearings as given rates
    and drives allow; what is not given is sought beside the first coordinates."""
    q, v = launch(system, first)
    names = system.mechanism.loose(Following) if system.mechanism.journals == "loaded" else {}
    if not names:
        return q, v
    ideal, scale = closed(system), sizes(system)
    slip = ideal.evaluate(q).B[[i for i, row in enumerate(ideal.rows) if ideal.mechanism.owner(row) in names]]
    _, values, ways = np.linalg.svd(np.vstack([system.evaluate(q).B, np.eye(len(q))[rated(system)]]) * scale)
    free = (scale * ways[int((values > RANK * values.max(initial=0.0)).sum()) :]).T
    return q, v - free @ np.linalg.lstsq(slip @ free, slip @ v, rcond=RANK)[0]


def _held(system: System, missed: list[str], q: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The start that holds values which the ideal mechanism, at q, misses; None where these only choose its branch:
    angles that would force a joint beyond its play, or with which one in permanent contact does not assemble.  A place
    is meant exactly."""
    angles = all(name.endswith(".angle") for name in missed)
    try:
        exact = exactly(system, q)
    except ComputationFailed:
        if not (angles and system.mechanism.loose(Following)):
            raise
    else:
        if angles and overturned(system, exact[0]):
            return None
        depth, there = (-system.evaluate(at).gaps.min(initial=0.0) for at in (exact[0], q))
        if depth <= SAME or there > SAME or not angles:
            return upright(system, *exact)
    return None


def overturned(system: System, q: np.ndarray) -> str:
    """The first loose guide whose block is turned over in it, by more than a right angle: corners are then beyond the
    walls opposite to their own, which no gap tells; "" if none is."""
    loose = [name for name, joint in system.mechanism.loose((Rigid, Compliant)).items() if hasattr(joint, "angle")]
    if not loose:
        return ""
    ideal = closed(system)
    for row, off in zip(ideal.rows, ideal.evaluate(q).residual, strict=True):
        name = ideal.mechanism.owner(row)
        if row == f"{name}.angle" and name in loose and abs(math.remainder(off, math.tau)) > math.pi / 2:
            return name
    return ""


def upright(system: System, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A start, refused where a block is turned over in its guide."""
    if name := overturned(system, q):
        turn = math.degrees(system.mechanism.joints[name].angle)  # type: ignore[attr-defined]
        text = f"turns the block of {name!r} over in its guide, whose `angle` is {turn:.4g} deg; give it another angle"
        raise ModelError(Problem(("start",), text))
    return q, v


def play_unit(system: System, label: str) -> str:
    """The unit of the gap of a contact."""
    return system.mechanism.gap_unit(label)


def loaded(system: System, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ideal mechanism's state at time 0 moved so that each joint with play rests on the wall to which the ideal
    mechanism's reaction presses it, the second point of each joint as fast as the first.

    A reaction lam on the rows r of an ideal joint pushes the second body along them, so its wall is where lam r is
    least: opposite to the force for a journal, at corners or flanks for guides and gears.
    """
    ideal, scale = closed(system), sizes(system)
    multipliers, held = pressing(ideal, q, v)
    rows = {name: [i for i, row in enumerate(ideal.rows) if ideal.mechanism.owner(row) == name]
            for name in system.mechanism.loose(leaning(system.mechanism))}  # fmt: skip
    least = UNLOADED * np.abs(multipliers).max(initial=0.0)
    pressed = {name: part for name, part in rows.items() if part and np.abs(multipliers[part]).max() > least}
    kept, at, target = ~rate_rows(ideal), q, np.zeros(len(ideal.rows))
    for _ in range(ROUNDS if pressed else 0):
        before = target.copy()
        for name, part in pressed.items():
            target[part] = wall(system, name, part, at, multipliers[part])
        for _ in range(ROUNDS):
            here = ideal.evaluate(at)
            gap = np.concatenate([(here.residual - target)[kept], held.rows @ at - held.values])
            lines = np.vstack([here.B[kept], held.rows]) * scale
            at = at - scale * np.linalg.lstsq(lines, gap, rcond=RANK)[0]
        if np.abs(target - before).max() <= SHUT:
            break
    here = ideal.evaluate(at)
    if not pressed or np.abs((here.residual - target)[kept]).max(initial=0.0) > SAME:
        return q, v
    system.leaning = at
    fixed = rated(system)
    lines = np.vstack([here.B, np.eye(len(q))[fixed]]) * scale
    lacking = np.concatenate([here.speed - here.B @ v, np.zeros(len(fixed))])
    return at, v + scale * np.linalg.lstsq(lines, lacking, rcond=RANK)[0]


def pressing(ideal: System, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, Held]:
    """The multipliers of the ideal mechanism at its start, and the start values that it holds there, computed once."""
    if ideal.pressed is None or not (np.array_equal(ideal.pressed[0], q) and np.array_equal(ideal.pressed[1], v)):
        ideal.pressed = q, v, ideal.evaluate(q, v).accelerations()[1], starts(ideal, q)
    return ideal.pressed[2], ideal.pressed[3]


def wall(system: System, name: str, part: list[int], q: np.ndarray, pushes: np.ndarray) -> np.ndarray:
    """How far a joint's rows are open where its wall gives these pushes, found from the state q."""
    from scipy.optimize import linprog  # type: ignore[import-untyped]

    joint, ideal = system.mechanism.joints[name], closed(system)
    if name in system.journals or isinstance(joint.contact, Following):
        push = float(np.linalg.norm(pushes))
        found: np.ndarray = -(joint.looseness + pressed_in(joint, push)) * pushes / push
        return found
    here, there = system.evaluate(q), ideal.evaluate(q)
    mine = [i for i, label in enumerate(system.contacts) if system.mechanism.owner(label) == name]
    slopes = np.array([system.evaluate(q, rates).openings[mine] for rates in np.eye(len(q))]).T
    body = next(b for b in map(system.mechanism.owner, joint.between[::-1]) if b != "ground")
    columns = [system.coordinates.index(f"{body}.{c}") for c in ("x", "y", "angle")]
    slopes = slopes[:, columns] @ np.linalg.pinv(there.B[np.ix_(part, columns)])  # of the gaps, by the rows
    unit = joint.looseness / np.maximum(np.abs(slopes).max(axis=0), TINY)
    box = -slopes * unit / joint.looseness
    work = pushes * unit  # its tolerances are absolute, so all is by its own size
    most, gaps = float(np.abs(work).max()), here.gaps[mine] / joint.looseness
    answer = linprog(work / most, box, gaps, bounds=(-REACH, REACH))
    if answer.success and isinstance(joint.contact, Compliant):
        # what the least work would change with a gap is the force at that contact
        forces = -most / joint.looseness * answer.ineqlin.marginals
        deep = np.array([pressed_in(joint, float(force)) for force in forces])
        answer = linprog(work / most, box, gaps + deep / joint.looseness, bounds=(-REACH, REACH))
    return there.residual[part] + (answer.x * unit if answer.success else 0.0)


def pressed_in(joint: Joint, push: float) -> float:
    """How deep a compliant contact of a joint is where it bears this force at rest (m, rad in a gear); 0 for others,
    and where no depth up to `SOFTEST` times the play bears it."""
    from scipy.optimize import brentq

    reaches = (joint.looseness * 10.0**power for power in range(SOFTEST + 1))
    deepest = next((depth for depth in reaches if borne(joint, depth) > push), 0.0)
    if push <= 0 or not deepest:
        return 0.0
    return float(brentq(lambda depth: borne(joint, depth) - push, 0.0, deepest, xtol=PRESSED * joint.looseness))


def borne(joint: Joint, depth: float, rate: float = 0.0, approach: float = 1.0) -> float:
    """The force of a compliant contact at a depth that grows at a rate (m/s), begun at an approach speed (m/s; N, or
    N m in a gear); 0 of other contacts, and of a law with states, whose past decides that."""
    if not isinstance(joint.contact, Compliant) or (law := joint.contact.normal.law).rates or law.memory:
        return 0.0
    sizes = {name: float(getattr(joint, name)) for name in law.geometry}
    return float(law(depth, rate, approach, **joint.contact.normal.values, **sizes)[0])


def nearest(
    system: System,
    state: np.ndarray,
    t: float,
    free: Freedom,
    beside: np.ndarray | None = None,
    shut: Sequence[int] = (),
) -> np.ndarray:
    """Coordinates and rates moved onto the constraints by the least change in the mass metric.

    beside: a state whose neighbour it is to be: what the constraints leave open there stays, and so do the gaps, and
    their rates, of the contacts `shut` (places among `System.contacts`).
    """
    kept, shut = [i for i, row in enumerate(system.rows) if row not in free.redundant], list(shut)
    q, v = np.split(np.asarray(state, float), 2)
    slip = left = np.zeros(len(kept) + len(shut))
    if beside is not None:
        at, rates = np.split(beside, 2)
        here = system.evaluate(at, rates, t)
        left = np.append(here.residual[kept], here.gaps[shut])
        slip = np.append(here.B[kept] @ rates - here.speed[kept], here.openings[shut])
    lines = normals(system, q, t, shut)
    for _ in range(ROUNDS):
        here = system.evaluate(q, v, t)
        B = np.vstack([here.B[kept], lines])
        weight = np.linalg.solve(here.M, B.T)
        change = weight @ solved(B @ weight, np.append(here.residual[kept], here.gaps[shut]) - left)
        if np.abs(change).max(initial=0.0) <= ROUND_OFF * max(1.0, float(np.abs(q).max())):
            break
        q = q - change
    if shut:  # gaps open along the normals of where it is now
        B = np.vstack([here.B[kept], normals(system, q, t, shut)])
        weight = np.linalg.solve(here.M, B.T)
    speed = np.append(here.speed[kept], np.zeros(len(shut)))
    return np.concatenate([q, v - weight @ solved(B @ weight, B @ v - speed - slip)])


def normals(system: System, q: np.ndarray, t: float, contacts: Sequence[int]) -> np.ndarray:
    """How fast the gaps of some contacts open with each rate (contacts, coordinates)."""
    if not contacts:
        return np.empty((0, len(q)))
    return np.array([system.evaluate(q, unit, t).openings[list(contacts)] for unit in np.eye(len(q))]).T


def stored(joint: Joint, depth: float) -> float:
    """What a compliant contact gives back if it opens slowly from a depth (J): what it bears at rest, summed."""
    if depth <= 0:
        return 0.0
    from numpy.polynomial.legendre import leggauss

    places, weights = leggauss(LOOKS)
    roots = 0.5 * (1 + places)  # of the depth, along which powers such as 3/2 are smooth
    return float(depth * sum(w * s * borne(joint, depth * s * s) for s, w in zip(roots, weights, strict=True)))


def approaches(system: System, q: np.ndarray, here: Evaluation) -> np.ndarray:
    """The approach speeds (m/s) that laws are given of compliant contacts which are closed at the start: those at
    which they close or, if more, that of an impact that presses them in as far, by the force f at a depth d and the
    mass m of the mechanism there: sqrt(f d/m)."""
    speeds = np.maximum(-here.openings, SLOWEST)
    deep = [i for i, gap in enumerate(here.gaps) if gap < -LANDED]
    for i, softness in zip(deep, yielding(system, q, 0.0, deep) if deep else (), strict=True):
        depth, joint = -float(here.gaps[i]), system.mechanism.joints[system.mechanism.owner(system.contacts[i])]
        speeds[i] = max(speeds[i], math.sqrt(max(borne(joint, depth) * depth * softness, 0.0)))
    return speeds


def yielding(system: System, q: np.ndarray, t: float, contacts: list[int]) -> np.ndarray:
    """How fast each contact opens under a unit impulse of its own (1/kg; per kg m^2 in a gear): one over the mass of
    the mechanism there."""
    lines, here = normals(system, q, t, contacts), system.evaluate(q, t=t)
    weight = np.linalg.solve(here.M, np.vstack([lines, here.B]).T)
    own, held = weight[:, : len(lines)], weight[:, len(lines) :]
    part = np.linalg.lstsq(here.B @ held, here.B @ own, rcond=None)[0]
    found: np.ndarray = np.einsum("ij,ji->i", lines, own - held @ part)
    return found


def solved(matrix: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """The least solution of equations that may depend on each other, as those of many contacts of one body do."""
    try:
        return np.linalg.solve(matrix, rhs)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(matrix, rhs, rcond=1e-12)[0]
