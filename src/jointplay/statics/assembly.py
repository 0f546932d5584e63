"""Assembly, and the state in which a mechanism starts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ComputationFailed, InputError
from ..model.checks import LONGEST, UNIT
from ..model.starts import TAILS, start_text, started
from ..system import System
from .factors import least
from .guesses import elsewhere, guess, guesses, placed_alike

CLOSED = 1e-12  # m or rad: what a closed constraint may leave
STATIONARY = 1e-3  # of the gaps: what no change of the coordinates makes smaller by more is not closed from there
REACH = 0.5  # of the size of coordinates, and rad: how far a step goes, at first and where gaps do not shrink evenly
EVENLY = 1e-3  # of the gaps: a step that leaves no other ones than it should may be followed by one of twice its length
RANK = 1e-9  # singular values below this share of the largest count as zero
FEW = 60  # rows among which it is quicker to take all
FIRM = 1e-6  # a start value is held only if at least this share of its row is new
ROUGHLY = 1e-3  # of the size of coordinates, or rad: a start value that is missed by more may mean another branch
MISSED = 1e-9  # the same, where nothing but a bad first guess keeps a start value from being held


@dataclass(frozen=True)
class Held:
    """Linear conditions beside the constraints: the rows times the coordinates have these values."""

    labels: tuple[str, ...]
    rows: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, system: System, conditions: Sequence[tuple[str, np.ndarray, float]] = ()) -> Held:
        """From label, row and value of each."""
        rows = np.array([row for _, row, _ in conditions]).reshape(len(conditions), len(system.coordinates))
        return cls(tuple(label for label, _, _ in conditions), rows, np.array([x for *_, x in conditions]))


def sizes(system: System) -> np.ndarray:
    """The size of each coordinate: the longest distance between points of a body or of the ground, and 1 rad."""
    return system.sizes


def independent(rows: np.ndarray, tolerance: float = RANK) -> list[int]:
    """The rows that do not follow from those before them."""
    kept: list[int] = []
    basis = np.zeros((min(rows.shape), rows.shape[1]))
    for i, row in enumerate(rows):
        rest, known = row, basis[: len(kept)]
        for _ in range(2):  # once is not orthogonal enough
            if len(kept) > FEW:  # only rows that share a coordinate can be oblique to it
                known = basis[: len(kept)][(basis[: len(kept), np.flatnonzero(rest)] != 0).any(axis=1)]
            rest = rest - known.T @ (known @ rest)
        if len(kept) < len(basis) and np.linalg.norm(rest) > tolerance * np.linalg.norm(row):
            basis[len(kept)] = rest / np.linalg.norm(rest)
            kept.append(i)
    return kept


def rate_rows(system: System) -> np.ndarray:
    """Which rows prescribe a rate only, and leave the position to the start."""
    return system.at_rate


def close(
    system: System, q: ArrayLike, t: float, held: Held | None = None, iterations: int = 60,
    unit: np.ndarray | None = None,
) -> tuple[np.ndarray, dict[str, float]]:  # fmt: skip
    """Coordinates near q that satisfy the constraints and what is held, and the rows that stay open, by how much.

    Gauss-Newton with the least change of the coordinates in every step, halved while the gaps do not shrink, and
    longer than `REACH` where they shrink evenly: places far away are no branch.  unit: in which changes of the
    coordinates are compared, their sizes unless given.
    """
    scale, kept, held = sizes(system), ~rate_rows(system), held or Held.of(system)
    unit = scale if unit is None else unit

    def lines(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        residual, B = system.constraints(at, t)
        gaps = np.concatenate([residual[kept], held.rows @ at - held.values])
        return gaps, np.concatenate([B[kept], held.rows]) * unit

    at = np.array(q, float)
    gap, matrix = lines(at)
    lengths = np.linalg.norm(matrix, axis=1)
    weights = 1 / np.maximum(lengths, 1e-3 * lengths.max(initial=1.0))  # metres and radians count alike
    reach = REACH
    for _ in range(iterations):
        if (before := np.abs(gap).max(initial=0.0)) == 0:
            break
        open_by = size(weights * gap)
        matrix = weights[:, None] * matrix
        change = least(matrix, -weights * gap, RANK)
        if before > CLOSED and size(matrix @ change) < STATIONARY * open_by:  # no change closes it from here
            break
        change = change * unit
        part, share = min(1.0, reach / np.abs(change / scale).max(initial=1e-300)), 1.0
        change = part * change
        while share > 1e-4:
            rest, there = lines(at + share * change)
            if size(weights * rest) < open_by or before <= CLOSED:
                break
            share /= 2
        if size(weights * rest) >= open_by:
            break
        reach = 2 * reach if size(weights * (rest - (1 - part) * gap)) < EVENLY * open_by else REACH
        at, gap, matrix = at + share * change, rest, there
        if before <= CLOSED:  # it took one more step, for the last digits
            break
    return at, opened([*np.array(system.rows)[kept].tolist(), *held.labels], gap)


def opened(labels: Sequence[str], gaps: np.ndarray) -> dict[str, float]:
    """The rows that are open, by how much, the widest first."""
    worst = sorted(zip(np.abs(gaps).tolist(), labels, strict=True), reverse=True)
    return {label: by for by, label in worst if by > 1e3 * CLOSED}


def size(gaps: np.ndarray) -> float:
    """The root of the sum of squares."""
    return math.sqrt(gaps @ gaps)


@dataclass(frozen=True)
class Assembly:
    """Coordinates that close every loop, how far they are from the start values, and what could not be held of them."""

    q: np.ndarray
    off: float  # of the size of coordinates, and rad
    note: str = ""


def assemble(system: System, q: ArrayLike | None = None, t: float = 0.0, first: np.ndarray | None = None) -> np.ndarray:
    """Coordinates that close every loop at time t (s).

    Near q if it is given.  Else from the start values: in the order in which they are written they are held exactly
    while they are independent of the constraints and of those before; the others choose the branch, the nearest one.
    first: where to look first for what they leave open.

    >>> from jointplay.model import library
    >>> system = System(library.slider_crank().replace(start={"slider.x": 0.35, "crank": 1.0}))
    >>> float(assemble(system)[system.coordinates.index("slider.x")])
    0.35
    """
    if q is not None:
        at, opened = close(system, q, t)
        if opened:
            raise ComputationFailed(unassembled(system, opened))
        return at
    if t == 0 and (alike := placed_alike(system)) is not None:
        return alike.copy()
    refused, near = "", []
    if first is not None:
        near, given = [first.copy()], started_at(system)
        near[0][list(given)] = list(given.values())
    for begin in chain(near, guesses(system, t)):
        found = assembled(system, begin, t)
        if isinstance(found, Assembly):
            break
        refused = refused or found
    else:
        raise ComputationFailed(refused)
    better = ROUGHLY if found.off > ROUGHLY else found.off / 2
    for begin in elsewhere(system) if found.off > ROUGHLY or adrift(system, found.q, t) else ():
        other = assembled(system, begin, t, bool(found.note))
        if isinstance(other, Assembly) and (bool(other.note), other.off) < (bool(found.note), found.off - better):
            found = other
    if found.note:
        system.notes.append(found.note)
    elif t == 0:
        system.place = found.q.copy()
    return found.q


def assembled(system: System, begin: np.ndarray, t: float, roughly: bool = True) -> Assembly | str:
    """The assembly that is found from a first guess, or why there is none; roughly: where start values cannot all be
    held, without the last ones."""
    free, opened = close(system, begin, t)
    if opened:
        return unassembled(system, opened)
    held = starts(system, free, t)
    for place in (begin, free):
        at, opened = close(system, place, t, held)
        if not opened:
            return Assembly(at, missed(system, at))
    for count in range(len(held.labels) - 1 if roughly else 0, 0, -1):  # the last ones may only have been meant roughly
        some = Held(held.labels[:count], held.rows[:count], held.values[:count])
        at, left = close(system, free, t, some)
        if not left:
            rest, kept = ", ".join(held.labels[count:]), ", ".join(some.labels)
            return Assembly(
                at, missed(system, at), f"start {rest} is taken as a guess: it cannot be held beside {kept}"
            )
    given = ", ".join(f"{key} = {start_text(key, x)}" for key, x in zip(held.labels, held.values, strict=True))
    return unassembled(system, opened, f" with start values {given}")


def missed(system: System, q: np.ndarray) -> float:
    """How far coordinates are from the start values: a root of squares, angles less whole turns, lengths by their
    size."""
    wanted, scale = started_at(system), sizes(system)
    off = [(q[i] - x) / scale[i] for i, x in wanted.items()]
    turned = [system.coordinates[i].endswith(".angle") for i in wanted]
    return math.hypot(*(math.remainder(x, math.tau) if turn else x for x, turn in zip(off, turned, strict=True)))


def adrift(system: System, q: np.ndarray, t: float = 0.0, by: float = MISSED) -> bool:
    """Whether start values are missed by more than rounding although those that are held leave the mechanism free: it
    stands in a dead centre of theirs, from which they cannot be reached, or they are out of reach."""
    if missed(system, q) <= by:
        return False
    rows = system.constraints(q, t)[1][~rate_rows(system)] * sizes(system)
    return len(independent(rows)) + len(starts(system, q, t).labels) < len(q)


def started_at(system: System) -> dict[int, float]:
    """The start values of coordinates, by the number of the coordinate."""
    mechanism = system.mechanism
    given = ((key, x) for key, x in mechanism.start.items() if isinstance(x, float) and not key.endswith("rate"))
    named = ((f"{key}.angle" if key in mechanism.bodies else key, x) for key, x in given)
    return {system.coordinates.index(name): x for name, x in named if name in system.coordinates}


def unassembled(system: System, opened: Mapping[str, float], how: str = "") -> str:
    """The sentence for rows that stay open."""
    text = ", ".join(f"{row} by {gap:.3g}" for row, gap in [*opened.items()][:3])
    name, far = system.mechanism.name, max(opened.values(), default=0.0) > LONGEST
    text = f"mechanism {name!r} does not assemble{how}: {text} stay open (m or rad); check lengths and start values"
    return f"{text} ({UNIT})" if far else text


def starts(system: System, q: np.ndarray, t: float = 0.0) -> Held:
    """The start values that assembly holds, given a closed position q."""
    mechanism, here, rates = system.mechanism, system.evaluate(q, t=t), rate_rows(system)
    at, units = guess(system), np.eye(len(system.coordinates))
    wanted = []
    for i in np.flatnonzero(rates):
        if {
            mechanism.owner(c) for c, x in zip(system.coordinates, here.B[i], strict=True) if x
        } <= mechanism.start.keys():
            wanted.append((system.rows[i], here.B[i], float(here.B[i] @ at)))
    for key, x in mechanism.start.items():
        if not key.endswith("rate"):
            name = f"{key}.angle" if key in mechanism.bodies else key
            wanted.append((key, units[system.coordinates.index(name)], x))
    lines = np.vstack([here.B[~rates], *(line for _, line, _ in wanted)]) * sizes(system)
    count = int((~rates).sum())
    return Held.of(system, [wanted[i - count] for i in independent(lines, FIRM) if i >= count])


def follow(system: System, rates: Mapping[str, float], found: np.ndarray, new: Sequence[int]) -> None:
    """An error that names the first start rate that follows from what stands before it and contradicts it."""
    names = list(rates)
    for i, (key, rate) in enumerate(rates.items()):
        if i not in new and abs(found[i] - rate) > RANK * (1 + abs(rate)):
            others = ", ".join([*(names[k] for k in new if k < i), *system.mechanism.drives, "the constraints"])
            unit = TAILS[started(key)[1]].unit
            raise InputError(
                f"start: {key} = {rate:g} {unit} contradicts {others}, which give {found[i]:.9g} {unit}; "
                f"it is off by {abs(found[i] - rate):.3g} {unit}: leave it out or correct it"
            )


def agree(system: System, B: np.ndarray, v: np.ndarray, speeds: np.ndarray, t: float) -> None:
    """An error that names the drives if their speeds cannot all be had: v is the best there is."""
    off = np.abs(B @ v - speeds)
    worst = off.max(initial=0.0)
    if worst > RANK * max(1.0, np.abs(speeds).max(initial=0.0), np.abs(B * v).max(initial=0.0)):
        # what lacks lies in the combinations of rows that cancel: it shows which rows those are
        rows = np.array(system.rows)[off > 1e-6 * worst]
        owners = dict.fromkeys(map(system.mechanism.owner, rows))
        names = [name for name in owners if name in system.mechanism.drives]
        if len(names) < 2:
            what = f"drive {names[0]!r} asks for a speed that joints" if names else "joints ask for speeds that they"
            others = ", ".join(name for name in owners if name not in names)
            where = f"do not allow at t = {t:.6g} s: {others or 'they'} are in a dead centre there"
            raise ComputationFailed(f"{what} {where}; start elsewhere, or change lengths")
        raise ComputationFailed(
            f"drives {', '.join(names)} contradict each other at t = {t:.6g} s; drop one or change its motion"
        )


def weakest(system: System, B: np.ndarray, which: int = -1) -> str:
    """The joints and drives whose rows are nearest to a combination that cancels, by a singular value's number."""
    weights = np.abs(np.linalg.svd(B * sizes(system), full_matrices=False)[0][:, which])
    weak = [row for row, x in zip(system.rows, weights, strict=True) if x > 0.1]
    return ", ".join(dict.fromkeys(map(system.mechanism.owner, weak)))


def launch(system: System, first: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and velocities at time 0: start rates and drives exactly, the rest with least kinetic energy; first:
    see `assemble`.

    >>> from jointplay.model import library
    >>> q, v = launch(System(library.pendulum().with_({"start.bar1.rate": 2.0})))
    >>> round(float(v[0]), 12)  # the bar hangs, its centre 0.5 m below the pivot
    1.0
    """
    q = assemble(system, first=first)
    here, places = system.evaluate(q), {name: i for i, name in enumerate(system.coordinates)}
    rates = {key: x for key, x in system.mechanism.start.items() if key.endswith("rate")}
    begun = {key: places[name if (name := key.removesuffix(".rate")) in places else f"{name}.angle"] for key in rates}
    v = np.zeros(len(q))
    v[list(begun.values())] = list(rates.values())  # which stays so where no constraint holds the coordinate
    tied = (here.B != 0).any(axis=0)
    scale, place = sizes(system)[tied], np.cumsum(tied) - 1
    rates = {key: x for key, x in rates.items() if tied[begun[key]]}
    rows, speeds = here.B[:, tied] * scale, here.speed
    found = np.linalg.lstsq(rows, speeds, rcond=RANK)[0]
    agree(system, rows, found, speeds, 0.0)
    if rates:
        lines = np.vstack([rows, np.eye(len(scale))[[place[begun[key]] for key in rates]] * scale])
        new = [i for i in independent(lines) if i >= len(rows)]
        told = np.append(speeds, list(rates.values()))
        used = [*range(len(rows)), *new]
        found = np.linalg.lstsq(lines[used], told[used], rcond=RANK)[0]
        follow(system, rates, lines[len(rows) :] @ found, [i - len(rows) for i in new])
        rows = lines[used]
    if found.any():
        free = np.linalg.svd(rows)[2][len(independent(rows)) :].T
        root = np.diag(np.sqrt(here.mass[tied])) * scale
        found = found - free @ np.linalg.lstsq(root @ free, root @ found, rcond=None)[0]
    v[tied] = found * scale
    return q, v
