"""How far friction that sticks leaves reactions open: it holds anything within its cone, and what is pressed against a
stop or held by a drive besides may bear as much less or more."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..model.clearances import Rigid
from ..system import System
from .sharing import SHARE, Sharing, sharing

ENDLESS = 1e3  # times the largest reaction: what may grow so far has no limit
MOST = 20_000  # corners of what is allowed; of more combinations all count as allowed
INSIDE = 1e-9  # of the largest reaction: by so much a corner may be beyond a limit


class Leeway(NamedTuple):
    """How large a reaction is, and how large it may be."""

    now: float
    most: float


def leeways(
    system: System, q: np.ndarray, t: float, shut: Sequence[int], stuck: Sequence[int], acting: np.ndarray
) -> dict[str, Leeway]:
    """The joints, drives and contacts whose reactions are open where contacts (places among `System.contacts`) are
    closed, of which some stick.  acting: multipliers of rows, normal forces of contacts, and friction where it sticks.
    Contacts count by their normal forces, joints by what all of them do together."""
    mechanism, found = system.mechanism, sharing(system, q, t, shut, stuck)
    now, root = acting * found.sizes, np.sqrt(system.evaluate(q, t=t).mass)
    scale = float(np.abs(now).max(initial=0.0))
    if not (found.idle.size and scale):
        return {}
    ways = now[:, None] + found.idle @ corners(system, found, shut, stuck, acting, scale)
    among, owners = dict[str, Leeway](), [mechanism.owner(label) for label in found.labels]
    normal = range(len(system.rows), len(system.rows) + len(shut))
    rows = {found.labels[i]: i for i in normal} | {name: i for i, name in enumerate(owners) if name in mechanism.drives}
    for name, i in rows.items():
        if np.abs(ways[i] - now[i]).max() > SHARE * scale:
            among[name] = Leeway(abs(acting[i]), float(np.abs(ways[i]).max() / found.sizes[i]))
    for name, joint in mechanism.joints.items():
        own = [i for i, owner in enumerate(owners) if owner == name]
        press, may = (root[:, None] * (found.rows[own].T @ x[own]) for x in (now[:, None], ways))
        if np.abs((may - press) / root[:, None]).max() > SHARE * scale:
            body = next(one for one in map(mechanism.owner, reversed(joint.between)) if one in mechanism.bodies)
            at = [system.coordinates.index(f"{body}.{axis}") for axis in "xy"]
            among[name] = Leeway(*(float(np.linalg.norm(x[at], axis=0).max()) for x in (press, may)))
    return among


def corners(
    system: System, found: Sharing, shut: Sequence[int], stuck: Sequence[int], acting: np.ndarray, scale: float
) -> np.ndarray:
    """The corners of what open combinations of reactions may add (combinations, corners): contacts push, and friction
    that sticks stays in its cone."""
    parts, many, first = found.idle / found.sizes[:, None], found.idle.shape[1], len(system.rows)
    pushes = {i: first + k for k, i in enumerate(shut)}
    lines, most = [-parts[k] for k in pushes.values()], [float(acting[k]) for k in pushes.values()]
    for k, i in enumerate(stuck, first + len(shut)):
        law, n = system.mechanism.joints[system.mechanism.owner(system.contacts[i])].contact, pushes[i]
        assert isinstance(law, Rigid)
        mu = law.friction if law.static_friction is None else law.static_friction
        lines += [sign * parts[k] - mu * parts[n] for sign in (1, -1)]
        most += [mu * acting[n] - sign * acting[k] for sign in (1, -1)]
    G = np.vstack([*lines, np.eye(many), -np.eye(many)])
    h = np.maximum(most + 2 * many * [ENDLESS * scale], 0.0)  # what acts is allowed, up to rounding
    if math.comb(len(G), many) > MOST:
        return ENDLESS * scale * np.eye(many)
    choices = np.array(list(itertools.combinations(range(len(G)), many)))
    choices = choices[np.linalg.cond(G[choices]) < 1 / INSIDE]
    places: np.ndarray = np.linalg.solve(G[choices], h[choices][..., None])[..., 0]
    return places[(places @ G.T <= h + INSIDE * scale).all(axis=1)].T
