"""Designs that balance a mechanism: bounded least squares for the exact objectives, bounded descent for the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import InputError
from ..model.mechanism import Mechanism
from ..model.motions import Constant
from ..model.parts import suggestion
from ..model.repeats import terms
from ..system import System
from .adjust import Adjustable, Space, adjustables, prepared
from .conditions import Condition, conditions
from .demands import COUNT, MOMENTA, OBJECTIVES, Demands, demands
from .frames import shifted
from .places import keep_places
from .quantities import QUANTITIES, MotionSignals, motion, moving

EXACT = 1e-9  # residual below which a design balances exactly
STARTS = 12  # random ones, beside that of the linear problem
CLEARLY, SAME = 1e-3, 1e-9  # of a residual: less is a gain for which others are tried; less is none
NEAR = 1e-6  # of the size of a variable: so near to a bound it is tried there
PATIENCE = 4  # starts without a gain after which no others are tried
PLACES = (".direction", ".radius", ".x", ".y")  # of counterweights
LEAST = tuple(f"{quantity}-{how}" for quantity in QUANTITIES for how in ("rms", "peak"))
NONE: dict[str, float | None] = dict.fromkeys(
    ("shaking_force_peak", "shaking_force_rms", "shaking_moment_peak", "torque_rms")
)


@dataclass(frozen=True)
class Balance:
    """What came of balancing: conditions of the objective (rank of them independent), a design as addresses with
    numbers, the mechanism with it, its residual, whether the objective is met by what can be built, and why not.

    before, after: peak and rms of the shaking force (N), peak of the shaking moment (N m) and rms of the torques over
    the motion; None if there is no motion.  Of an objective such as force-rms the residual is after over before.
    """

    objective: str
    rank: int
    conditions: list[Condition]
    feasible: bool
    reason: str
    residual: float
    design: dict[str, float]
    mechanism: Mechanism
    before: dict[str, float | None]
    after: dict[str, float | None]
    given: Mechanism
    moved: MotionSignals | None = None
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """The result as plain data, for JSON."""
        return {
            "objective": self.objective,
            "rank": self.rank,
            "conditions": [one.text for one in self.conditions],
            "feasible": self.feasible,
            "residual": self.residual,
            "design": self.design,
            "before": self.before,
            "after": self.after,
        }


def objective_of(text: str) -> str:
    """The name of an objective from what somebody may write for it, such as "force and moment"."""
    known = [*OBJECTIVES, *LEAST]
    short = re.sub(r"\s*(\+|&|\band\b|,)\s*", "+", text.strip().lower()).replace("_", "-").removeprefix("shaking-")
    short = short.replace("force-and-moment", "force+moment").replace("force-moment", "force+moment")
    if short not in known:
        raise InputError(f"objective {text!r}: no such objective{suggestion(short, known)}")
    return short


def balance(
    mechanism: Mechanism | System,
    objective: str = "force",
    adjust: str | Iterable[str | Adjustable] = (),
    *,
    motion_of: str | None = None,
    times: Any = None,
    independent: Sequence[Any] | None = None,
    redundant: Sequence[Any] | None = None,
    cut: Sequence[str] = (),
    pole: tuple[float, float] = (0.0, 0.0),
) -> Balance:
    """A design of the adjustable elements that balances a mechanism: static, force, force+moment, gyroscopic or
    decoupling for every motion, or the least rms or peak of force, moment, torque or bearing load over one (force-rms).

    adjust: bodies (their counterweights), springs, addresses and bodies with `.geared`, with bounds: see `adjustables`.
    motion_of: such as "crank=60 rpm", in place of the drives; times (s): that are looked at, or until which (a number).

    >>> from jointplay.model import library
    >>> found = balance(library.slider_crank(crank=0.05, rod=0.2, masses=(1, 1, 1)), "force", "crank,rod")
    >>> found.rank, found.feasible
    (4, True)
    >>> found.conditions[0].text.split(" + ")[-1]
    'slider.mass * crank.length = 0'
    """
    goal = objective_of(objective)
    base = mechanism.given if isinstance(mechanism, System) else mechanism
    if base.control is not None:
        base = base.replace(control=None)
    ready = prepared(base, asked := adjustables(base, adjust))
    driven = moving(ready, motion_of)
    keep_places(driven or ready.replace(drives={}), asked)
    moved = _motion(driven, times, complex(*pole), required=goal in LEAST or motion_of is not None or times is not None)
    if goal in LEAST:
        return _least(base, ready, goal, asked, moved)

    def find(changed: System, path: np.ndarray | None = None) -> Demands:
        return demands(changed, goal, independent, redundant, cut, path=path, pole=complex(*pole))

    return _exact(base, ready, goal, asked, moved, find, period=times is None)


def _motion(driven: Mechanism | None, times: Any, pole: complex, required: bool) -> MotionSignals | None:
    if driven is None:
        if required:
            raise InputError("the mechanism is not driven and has several degrees of freedom; give a motion")
        return None
    try:
        return motion(driven, times, pole)
    except ValueError:
        if required or times is not None or "turning" not in driven.drives:
            raise
        return None


def _exact(
    base: Mechanism,
    ready: Mechanism,
    goal: str,
    asked: list[Adjustable],
    moved: MotionSignals | None,
    find: Any,
    period: bool,
) -> Balance:
    space = Space(ready, asked)
    weighted = [one.element for one in asked if one.kind == "counterweight"]
    rank, made, found = conditions(ready.replace(drives={}), find, space.moved(), weighted)
    _influence(space, found, goal, rank)
    s = best_design(space, found)
    residual = found.residual(space.parameters(s))
    if residual > EXACT and space.radius:
        wide = Space(ready, asked, roomy=True)
        if wide.radius.keys() != space.radius.keys():
            other = best_design(wide, found)
            if found.residual(wide.parameters(other)) < min(EXACT, residual):
                space, s, residual = wide, other, found.residual(wide.parameters(other))
    feasible = residual <= EXACT
    reason = "" if feasible else obstacle(ready, asked, found, rank)
    notes = [f"{found.singular} singular positions were left out"] if found.singular else []
    notes += changing(base) if goal not in MOMENTA else []
    if not feasible and moved is not None and period:  # the nearest design depends on where it is looked at
        found = find(System(ready.replace(drives={})), moved.path)
        space = Space(ready, asked)
        s = best_design(space, found)
        residual = found.residual(space.parameters(s))
    elif not feasible:
        notes.append(f"the nearest of {COUNT} random positions, as no period of a motion is known")
    return _found(base, ready, goal, rank, made, feasible, reason, residual, space, s, moved, notes)


def changing(mechanism: Mechanism) -> list[str]:
    """A note on the forces and torques that change with time, if there are any."""
    given = ((n, getattr(load, part, None)) for n, load in mechanism.forces.items() for part in ("x", "y", "torque"))
    parts = ((name, part) for name, motion in given if motion is not None for _, part in terms(name, motion))
    names = ", ".join(dict.fromkeys(name for name, part in parts if not isinstance(part, Constant)))
    return [f"what changes with time counts as it is at t = 0: {names}"] if names else []


def _influence(space: Space, found: Demands, goal: str, rank: int) -> None:
    columns = [space.index[label] for label in space.moved()]
    whole = np.abs(found.rows * found.sizes)
    if rank == 0:
        raise InputError(f"objective {goal}: there is nothing to balance in {space.mechanism.name!r}: it is always so")
    if not columns or whole[:, columns].max() < 1e-9 * whole.max():
        names = ", ".join(one.element for one in space.adjusted)
        raise InputError(
            f"objective {goal}: nothing that may be adjusted ({names}) has an influence on it; adjust others"
        )


def _found(
    base: Mechanism,
    ready: Mechanism,
    goal: str,
    rank: int,
    made: list[Condition],
    feasible: bool,
    reason: str,
    residual: float,
    space: Space,
    s: np.ndarray,
    moved: MotionSignals | None,
    notes: list[str],
) -> Balance:
    design = space.design(s)
    before, after = NONE, NONE
    if moved is not None:
        before, after = (dict[str, float | None](moved.measures(x)) for x in (space.without(base), space.parameters(s)))
        notes = [*notes, moved.note] if moved.note else notes
        rough = [name for name, joint in base.joints.items() if joint.pin_law()]
        notes = [*notes, f"torques are without the friction of the pins {', '.join(rough)}"] if rough else notes
    return Balance(
        goal, rank, made, feasible, reason, residual, design, shifted(ready, design), dict(before), dict(after), base,
        moved, notes,
    )  # fmt: skip


def best_design(space: Space, found: Demands, seed: int = 0) -> np.ndarray:
    """The point of the space with the least residual."""
    whole = np.column_stack([found.rows * found.sizes, found.constant])
    _, values, ways = np.linalg.svd(whole, full_matrices=False)
    keep = values > 1e-13 * values[0]
    K = (values[keep, None] / values[0]) * ways[keep]

    def left(s: np.ndarray) -> np.ndarray:
        return np.asarray(K @ np.append(space.parameters(s) / found.sizes, 1.0))

    def slope(s: np.ndarray) -> np.ndarray:
        return np.asarray((K[:, :-1] / found.sizes) @ space.jacobian(s))

    best, least, idle = space.first, np.inf, 0
    for begin in starts(space, K, found, seed):
        s = _descended(space, left, slope, begin)
        size = float(np.linalg.norm(left(s)))
        idle = 0 if size < (1 - CLEARLY) * least else idle + 1
        best, least = (s, size) if size < (1 - SAME) * least else (best, least)
        if idle == PATIENCE or found.residual(space.parameters(best)) < 1e-2 * EXACT:
            break
    return lightened(space, lambda s: float(np.linalg.norm(left(s))), best)


def _descended(
    space: Space, left: Callable[[np.ndarray], np.ndarray], slope: Callable[[np.ndarray], np.ndarray], begin: np.ndarray
) -> np.ndarray:
    """The least of what is left from one start; what comes near a bound, which inner steps never reach, ends there."""
    from scipy.optimize import least_squares  # type: ignore[import-untyped]

    def go(s: np.ndarray, free: np.ndarray) -> np.ndarray:
        if not free.any():
            return s
        run = least_squares(
            lambda x: left(_put(s, free, x)), np.clip(s[free], space.low[free], space.high[free]),
            lambda x: slope(_put(s, free, x))[:, free], (space.low[free], space.high[free]), x_scale=space.size[free],
            ftol=1e-15, xtol=1e-15, gtol=1e-15, max_nfev=200,
        )  # fmt: skip
        return _put(s, free, run.x)

    free = space.high > space.low
    s = go(go(begin, free), free)  # again from where it ended: the second time for the last digits
    near = NEAR * space.size
    low, high = s - space.low < near, space.high - s < near
    put = np.where(low, space.low, np.where(high, space.high, s))
    if (free & (low | high)).any():
        put = go(put, free & ~(low | high))
        return put if np.linalg.norm(left(put)) < np.linalg.norm(left(s)) else s
    return s


def lightened(space: Space, f: Callable[[np.ndarray], float], s: np.ndarray) -> np.ndarray:
    """The point without the counterweights that do not matter: all of them, or one after the other."""
    masses = [i for i, v in enumerate(space.variables) if v.address.endswith(".counterweight.mass")]
    for those in (masses, *([i] for i in masses)):
        lighter = s.copy()
        lighter[those] = space.low[those]
        if f(lighter) <= f(s) + 1e-14:
            s = lighter
    return s


def _put(s: np.ndarray, free: np.ndarray, x: np.ndarray) -> np.ndarray:
    whole = s.copy()
    whole[free] = x
    return whole


def starts(space: Space, K: np.ndarray | None, found: Demands | None, seed: int) -> Iterable[np.ndarray]:
    """Where to begin: with the counterweights of the linear problem (or none), as the mechanism is, then anywhere."""
    if K is not None and found is not None:
        columns = sorted(space.index[label] for label in space.moved())
        rest = np.append(space.base / found.sizes, 1.0)
        change = np.linalg.lstsq(K[:, columns], -K @ rest, rcond=1e-10)[0]
        theta = space.base.copy()
        theta[columns] += change * found.sizes[columns]
        yield _near(space, theta)
    else:  # as light as can be: what has no influence is left away
        light = np.array([v.address.endswith(".counterweight.mass") for v in space.variables])
        yield np.where(light, space.low, space.first)
    yield space.first
    random = np.random.default_rng(seed)
    for _ in range(STARTS):
        share = random.uniform(0.02, 0.98, len(space.low))
        wide = space.low + share * (space.high - space.low)
        near = space.first + random.normal(size=len(share)) * space.size
        heavy = np.array([v.address.endswith(PLACES) for v in space.variables])
        yield np.clip(np.where(heavy, wide, np.abs(near)), space.low, space.high)


def _near(space: Space, theta: np.ndarray) -> np.ndarray:
    """The point whose counterweights have the moments of these parameters; other numbers as they are."""
    given = dict(zip((v.address for v in space.variables), space.first, strict=True))
    for one in space.adjusted:
        if one.kind != "counterweight":
            continue
        m, cx, cy = space.held[one.element][:3]
        i = space.index[one.element, "m"]
        wanted = complex(theta[i + 1] - m * cx, theta[i + 2] - m * cy)
        at = f"{one.element}.counterweight"
        if one.element in space.radius:
            given[f"{at}.direction"] = float(np.angle(wanted))
            if f"{at}.radius" in given and given[f"{at}.mass"] > 0:
                given[f"{at}.radius"] = abs(wanted) / given[f"{at}.mass"]
            else:
                given[f"{at}.mass"] = abs(wanted) / (space.radius[one.element] or 1.0)
        elif f"{at}.x" in given and given[f"{at}.mass"] > 0:
            given[f"{at}.x"], given[f"{at}.y"] = (float(c) / given[f"{at}.mass"] for c in (wanted.real, wanted.imag))
    return np.clip([given[v.address] for v in space.variables], space.low, space.high)


def obstacle(ready: Mechanism, asked: list[Adjustable], found: Demands, rank: int) -> str:
    """Why there is no exact design: bounds, something that cannot be, or the conditions themselves."""
    space = Space(ready, asked, roomy=True)
    signed = np.array([not v.address.endswith(PLACES) for v in space.variables])
    space.low = np.where(signed, -np.maximum(space.high, 1e3 * space.size), space.low - 1e2 * space.size)
    space.high = np.where(signed, np.maximum(space.high, 1e3 * space.size), space.high + 1e2 * space.size)
    s = best_design(space, found)
    if found.residual(space.parameters(s)) > EXACT:
        return f"no numbers of what may be adjusted meet all {rank} conditions; adjust more elements"
    wrong = space.admissible(space.design(s))
    limited = Space(ready, asked)
    if wrong:
        return "the exact solution cannot be built: " + "; ".join(wrong)
    return "the exact solution is beyond the bounds" + (" or radii" if limited.radius else "") + "; widen them"


def _least(
    base: Mechanism, ready: Mechanism, goal: str, asked: list[Adjustable], moved: MotionSignals | None
) -> Balance:
    from .descent import descend

    assert moved is not None
    quantity, _, how = goal.partition("-")
    space = Space(ready, asked)
    if quantity == "torque" and not moved.drives:
        raise InputError(f"objective {goal}: the mechanism has no drive")
    rows = moved.rows[quantity].reshape(-1, len(space.base) + 1) * np.append(space.sizes, 1.0)
    columns = [space.index[label] for label in space.moved()]
    if not columns or np.abs(rows[:, columns]).max() < 1e-12 * max(np.abs(rows).max(), 1e-300):
        names = ", ".join(one.element for one in asked)
        raise InputError(
            f"objective {goal}: nothing that may be adjusted ({names}) has an influence on it; adjust others"
        )
    values = np.linalg.svd(rows, compute_uv=False)
    s = descend(space, moved, quantity, how)
    worth = moved.rms if how == "rms" else moved.peak
    was, now = worth(quantity, space.without(base)), worth(quantity, space.parameters(s))
    rank = int((values > 1e-9 * values[0]).sum())
    residual = now / was if was else 0.0
    return _found(base, ready, goal, rank, [], True, "", residual, space, s, moved, [])
