"""Which reactions balance leaves open: where more joints, closed contacts and friction that sticks hold than are
needed, rigid bodies do not say how these share what they bear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..model.clearances import Rigid
from ..physics.compliance import SLOWEST
from ..physics.contacts import contacts
from ..system import System
from .assembly import RANK
from .starting import normals

SHARE = 1e-6  # of an open combination of reactions: what takes less part in it is determined


@dataclass(frozen=True)
class Sharing:
    """Rows of joints, of closed contacts and of friction that sticks at a place, all of one size in the mass metric;
    the sizes that they had; and the combinations of their reactions that have no effect together (labels,
    combinations)."""

    labels: list[str]
    rows: np.ndarray
    sizes: np.ndarray
    idle: np.ndarray


def sharing(system: System, q: np.ndarray, t: float, shut: Sequence[int], stuck: Sequence[int] = ()) -> Sharing:
    """What joints, drives and contacts that are closed, some of which stick (places among `System.contacts`), share."""
    here, along = system.evaluate(q, t=t), [line for line, _ in tangents(system, q, t, stuck).values()]
    weighed = np.vstack([here.B, normals(system, q, t, shut), *along]) / np.sqrt(here.mass)
    sizes = np.linalg.norm(weighed, axis=1)
    sizes[sizes == 0] = 1.0
    ways, values, _ = np.linalg.svd(rows := weighed / sizes[:, None])
    labels = [*system.rows, *(system.contacts[i] for i in (*shut, *stuck))]
    return Sharing(labels, rows, sizes, ways[:, np.count_nonzero(values > RANK) :])


def open_reactions(system: System, q: np.ndarray, t: float, shut: list[int]) -> list[str]:
    """The joints, drives and contacts whose reactions balance does not determine where contacts (places among
    `System.contacts`) are closed: together with others they can press without effect."""
    owner, found = system.mechanism.owner, sharing(system, q, t, shut)
    if not found.idle.size:
        return []
    parts = zip(found.labels, found.idle, strict=True)
    labels = [label for label, part in parts if np.abs(part).max() > SHARE]
    names = [label for label in labels if label in system.contacts]
    for name in dict.fromkeys(map(owner, labels)):
        own = [i for i, label in enumerate(found.labels) if owner(label) == name]
        pressing = np.einsum("ij,ik->jk", found.rows[own], found.idle[own])
        if np.abs(pressing).max() > SHARE:  # contacts of one joint may be open where their sum is not
            names.append(name)
    return list(dict.fromkeys(names))


def moves_by_share(
    system: System, q: np.ndarray, t: float, shut: list[int], slips: Mapping[int, float], stuck: Sequence[int] = ()
) -> bool:
    """Whether the motion depends on how open reactions are shared, by friction: that of a pin goes by its reaction, and
    that of contacts which slide (their slip, by places among `System.contacts`) by their normal force; others stick."""
    mechanism, found = system.mechanism, sharing(system, q, t, shut, stuck)
    names = open_reactions(system, q, t, shut)
    if any(name in mechanism.joints and mechanism.joints[name].pin_law() for name in names):
        return True
    rubbing = np.zeros((len(found.labels), len(q)))
    root = np.sqrt(system.evaluate(q, t=t).mass)
    for i, (line, law) in tangents(system, q, t, list(slips)).items():
        row = len(system.rows) + shut.index(i)
        rubbing[row] = -np.sign(slips[i]) * law.friction * line / root / found.sizes[row]
    forces = found.idle.T @ rubbing
    beside = forces - forces @ np.linalg.pinv(found.rows, RANK) @ found.rows  # what joints and contacts do not hold
    return bool(np.abs(beside).max(initial=0.0) > SHARE)


def tangents(system: System, q: np.ndarray, t: float, shut: Sequence[int]) -> dict[int, tuple[np.ndarray, Rigid]]:
    """By the places of rough contacts among `System.contacts`: the rows of their slips, and their laws."""
    spots = contacts(system.equations()(system.parameters).pose(q.tolist(), t))
    found = {}
    for i in shut:
        law = system.mechanism.joints[system.mechanism.owner(system.contacts[i])].contact
        if isinstance(law, Rigid) and (along := spots[i].tangential):
            found[i] = np.array([float(along.get(name, 0)) for name in system.coordinates]), law
    return found


def jams(system: System, q: np.ndarray, v: np.ndarray, shut: list[int]) -> list[str]:
    """The contacts that slide at time 0 with so much friction that a push along their normal draws them shut: no force
    keeps them from it, and they stop sliding by an impulse though nothing strikes (Painleve's paradox)."""
    here, found = system.evaluate(q), []
    for i, (row, law) in tangents(system, q, 0.0, shut).items():
        line = law.friction * row
        if abs(line @ v) <= SLOWEST:  # it sticks
            continue
        normal = normals(system, q, 0.0, [i])[0]
        push = (normal - np.sign(line @ v) * line) / here.mass
        held = np.linalg.lstsq((here.B / here.mass) @ here.B.T, here.B @ push, rcond=RANK)[0]
        if normal @ (push - (here.B / here.mass).T @ held) < 0:
            found.append(system.contacts[i])
    return found
