"""Which reactions balance leaves open: where more joints and closed contacts hold than are needed, rigid bodies do not
say how these share what they bear."""

from __future__ import annotations

import numpy as np

from ..system import System
from .assembly import RANK
from .starting import normals

SHARE = 1e-6  # of an open combination of reactions: what takes less part in it is determined


def open_reactions(system: System, q: np.ndarray, t: float, shut: list[int]) -> list[str]:
    """The joints, drives and contacts whose reactions balance does not determine where contacts (places among
    `System.contacts`) are closed: together with others they can press without effect."""
    here, owner = system.evaluate(q, t=t), system.mechanism.owner
    lines, labels = (
        np.vstack([here.B, normals(system, q, t, shut)]),
        [*system.rows, *(system.contacts[i] for i in shut)],
    )
    weighed = lines / np.sqrt(here.mass)
    sizes = np.linalg.norm(weighed, axis=1, keepdims=True)
    ways, values, _ = np.linalg.svd(weighed / np.where(sizes == 0, 1.0, sizes))
    idle = ways[:, np.count_nonzero(values > RANK) :]
    if not idle.size:
        return []
    found = [label for label, part in zip(labels, idle, strict=True) if np.abs(part).max() > SHARE]
    contacts = [label for label in found if label in system.contacts]
    for name in dict.fromkeys(map(owner, found)):
        own = [i for i, label in enumerate(labels) if owner(label) == name]
        pressing = np.einsum("ij,ik->jk", weighed[own] / np.where(sizes[own] == 0, 1.0, sizes[own]), idle[own])
        if np.abs(pressing).max() > SHARE:  # contacts of one joint may be open where their sum is not
            contacts.append(name)
    return list(dict.fromkeys(contacts))
