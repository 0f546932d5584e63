"""The least rms or peak of a quantity over a motion, and the trade-off between two of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..errors import InputError
from ..model.mechanism import Mechanism
from ..system import System
from .adjust import Adjustable, Space, adjustables, prepared
from .places import keep_places
from .quantities import QUANTITIES, MotionSignals, motion, moving
from .solver import STARTS, lightened, starts

if TYPE_CHECKING:
    import xarray

POWERS = (8, 32, 128, 512)  # of the norms by which a peak is approached
AGAIN = 6  # descents at most from one start, each from where the last one ended
GAIN = 1e-9  # of the value: less is none
NOTHING = 1e-12  # of the mechanism's mass: a counterweight that is left away


class Descending(Protocol):
    """What is made small over a space, relative to what it is without the design."""

    space: Space

    def __call__(self, s: np.ndarray) -> float: ...

    def steep(self, s: np.ndarray) -> np.ndarray:
        """The slope by the parameters."""


def slope(f: Descending, s: np.ndarray) -> np.ndarray:
    """By the variables."""
    return np.asarray(f.steep(s) @ f.space.jacobian(s))


@dataclass
class Square:
    """The mean square of a quantity and its slope over a space, as one quadratic form."""

    space: Space
    form: np.ndarray
    size: float

    @classmethod
    def of(cls, space: Space, moved: MotionSignals, quantity: str) -> Square:
        """Over a motion, relative to what it is without the design."""
        rows = moved.rows[quantity] * np.sqrt(moved.weights)[:, None, None]
        rows = rows.reshape(-1, rows.shape[-1])
        form = rows.T @ rows
        now = np.append(space.base, 1.0)
        return cls(space, form, max(float(now @ form @ now), 1e-300))

    def __call__(self, s: np.ndarray) -> float:
        theta = np.append(self.space.parameters(s), 1.0)
        return float(theta @ self.form @ theta) / self.size

    def steep(self, s: np.ndarray) -> np.ndarray:
        """The slope by the parameters."""
        theta = np.append(self.space.parameters(s), 1.0)
        return np.asarray(2 * (self.form @ theta)[:-1] / self.size)


def descend(space: Space, moved: MotionSignals, quantity: str, how: str, seed: int = 0) -> np.ndarray:
    """The point of the space where the rms or the peak of a quantity is least."""
    square = Square.of(space, moved, quantity)
    best = _minimise(square, starts(space, None, None, seed))
    if how == "rms":
        return lightened(space, square, best)
    rows = moved.rows[quantity]
    width = 2 if quantity in ("force", "bearing") else rows.shape[1]
    groups = rows.reshape(len(rows), -1, width, rows.shape[-1]).reshape(-1, width, rows.shape[-1])
    size = max(_Norm(space, groups, POWERS[-1]).of(space.base)[0], 1e-300)
    for power in POWERS:
        norm = _Norm(space, groups, power, size)
        best = _minimise(norm, [best])
    return lightened(space, norm, best)


@dataclass
class _Norm:
    """The norm of a signal over a motion by a power of its sizes; a high one is near to the peak."""

    space: Space
    groups: np.ndarray  # (samples, components of one vector, parameters + 1)
    power: int
    size: float = 1.0

    def __call__(self, s: np.ndarray) -> float:
        return self.of(self.space.parameters(s))[0]

    def steep(self, s: np.ndarray) -> np.ndarray:
        """The slope by the parameters."""
        return self.of(self.space.parameters(s))[1]

    def of(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The norm and its slope for parameters."""
        signal = self.groups @ np.append(theta, 1.0)
        size = np.sqrt((signal**2).sum(axis=1)) + 1e-300
        most = size.max()
        mean = ((size / most) ** self.power).mean()
        weight = (size / most) ** (self.power - 1) / (len(size) * mean)
        value = float(most * mean ** (1 / self.power)) / self.size
        rows = ((weight / size)[:, None] * signal).reshape(-1) @ self.groups.reshape(-1, self.groups.shape[-1])
        return value, value / most * rows[:-1]


def _minimise(f: Descending, begins: Iterable[np.ndarray]) -> np.ndarray:
    from scipy.optimize import minimize  # type: ignore[import-untyped]

    space, scale = f.space, f.space.size
    found: list[tuple[float, np.ndarray]] = []
    for begin in begins:
        least, s = np.inf, begin
        for _ in range(AGAIN):
            run = minimize(
                lambda x: f(x * scale), placed(space, f.steep(s), s) / scale, jac=lambda x: slope(f, x * scale) * scale,
                method="L-BFGS-B", bounds=list(zip(space.low / scale, space.high / scale, strict=True)),
                options={"maxiter": 2000, "maxfun": 5000, "ftol": 1e-15, "gtol": 1e-11},
            )  # fmt: skip
            gained = least - float(run.fun)
            if gained > 0:
                least, s = float(run.fun), np.clip(run.x * scale, space.low, space.high)
            if gained <= GAIN * (abs(least) + GAIN):
                break
        found.append((least, s))
    least = min(value for value, _ in found)
    return next(s for value, s in found if value <= least + GAIN * (abs(least) + GAIN))  # the first of equals


def placed(space: Space, steep: np.ndarray, s: np.ndarray) -> np.ndarray:
    """The same point with each counterweight of mass 0 where its first gram helps most, by the slope by the parameters:
    its place is free, and has no slope by which a descent could leave.  Directions are within half a turn, so that none
    is at a bound."""
    made = s.copy()
    index = {v.address: i for i, v in enumerate(space.variables)}
    for one in space.adjusted:
        at, first = f"{one.element}.counterweight", space.index.get((one.element, "m"))
        turn = index.get(f"{at}.direction")
        if turn is not None:
            made[turn] = math.remainder(made[turn], math.tau)
        if one.kind != "counterweight" or first is None or s[index[f"{at}.mass"]] > NOTHING * space.total:
            continue
        along, across, spin = steep[first + 1 : first + 4]  # of a gram at x, y: along x + across y + spin (x^2 + y^2)
        places = {"x": along, "y": across}
        if turn is not None:
            made[turn] = math.atan2(-across, -along)
            places = {"radius": -math.hypot(along, across)}
        for key, pull in places.items():
            if (i := index.get(f"{at}.{key}")) is not None:
                ends = np.array([space.low[i], space.high[i]])
                best = ends[np.argmin(pull * ends + spin * ends**2)]
                made[i] = np.clip(-pull / (2 * spin), *ends) if spin > 0 else best
    return made


def trade_off(
    mechanism: Mechanism | System,
    adjust: str | Iterable[str | Adjustable],
    against: str = "moment",
    *,
    of: str = "force",
    motion_of: str | None = None,
    times: Any = None,
    points: int = 12,
    pole: tuple[float, float] = (0.0, 0.0),
) -> xarray.Dataset:
    """The Pareto front between the rms of two quantities over a motion (force, moment, torque or bearing): what less
    of one costs in the other, with the designs and the rms of all four at each point.

    The rows are ordered from the least of `of` to the least of `against`; `unbalanced` are the values as given.
    """
    for name, given in (("of", of), ("against", against)):
        if given not in QUANTITIES:
            raise InputError(f"{name} must be one of {', '.join(QUANTITIES)}, got {given!r}")
    if of == against:
        raise InputError(f"a trade-off needs two quantities, got {of!r} twice")
    if points < 2:
        raise InputError(f"points must be at least 2, got {points}")
    base = mechanism.given if isinstance(mechanism, System) else mechanism
    asked = adjustables(base, adjust)
    ready = prepared(base, asked)
    driven = moving(ready, motion_of)
    if driven is None:
        raise InputError("the mechanism is not driven and has several degrees of freedom; give a motion")
    keep_places(driven, asked)
    moved = motion(driven, times, complex(*pole))
    space = Space(ready, asked)
    found = front(space, Square.of(space, moved, of), Square.of(space, moved, against), points)
    return _dataset(space, moved, found, of, against, space.without(base))


def front(space: Space, first: Square, second: Square, points: int) -> list[np.ndarray]:
    """Points of the space along the front between two mean squares, none dominated by another."""
    ends = [_minimise(f, starts(space, None, None, 0)) for f in (first, second)]
    # where the least of one leaves a choice, an end is the best of the other
    [ends[0]] = _along(space, first, second, np.array([first(ends[0]) * (1 + 1e-6) + 1e-12]), ends[:1])
    [ends[1]] = _along(space, second, first, np.array([second(ends[1]) * (1 + 1e-6) + 1e-12]), ends[1:])
    limits = np.linspace(np.sqrt(max(first(ends[0]), 0.0)), np.sqrt(max(first(ends[1]), 0.0)), points) ** 2
    made: list[np.ndarray] = []
    ahead = _along(space, first, second, limits, ends[:1])
    back = _along(space, first, second, limits[::-1], ends[1:])[::-1]
    for limit, one, two in zip(limits, ahead, back, strict=True):
        tries = [s for s in (one, two, *ends) if first(s) <= limit * (1 + 1e-6) + 1e-11]
        made.append(min(tries, key=second) if tries else one)
    kept: list[np.ndarray] = []
    for s in sorted(made, key=first):
        if not kept or second(s) < second(kept[-1]) * (1 - 1e-6):
            kept.append(s)
    return kept


def _along(
    space: Space, first: Square, second: Square, limits: np.ndarray, begins: list[np.ndarray]
) -> list[np.ndarray]:
    """The least of the second under each limit of the first, each begun where the last one ended and anywhere else."""
    from scipy.optimize import minimize

    scale = space.size
    box = list(zip(space.low / scale, space.high / scale, strict=True))
    made: list[np.ndarray] = []
    last = begins[0]
    spread = list(starts(space, None, None, 1))[: STARTS // 2]
    for limit in limits:
        rule = {
            "type": "ineq",
            "fun": lambda x, limit=limit: limit - first(x * scale),
            "jac": lambda x: -slope(first, x * scale) * scale,
        }
        tried: list[tuple[float, np.ndarray]] = []
        for begin in (last, *spread):
            s = begin
            for again in range(AGAIN):
                run = minimize(
                    lambda x: second(x * scale), _freed(first, second, s) / scale, method="SLSQP", bounds=box,
                    jac=lambda x: slope(second, x * scale) * scale, constraints=[rule],
                    options={"maxiter": 300, "ftol": 1e-13},
                )  # fmt: skip
                gained = second(s) - float(run.fun)
                s = np.clip(run.x * scale, space.low, space.high)
                if first(s) > limit * (1 + 1e-6) + 1e-12:
                    break
                tried.append((second(s), s))
                if again and gained <= GAIN * second(s):
                    break
        last = min(tried, key=lambda pair: pair[0])[1] if tried else last
        made.append(last)
    return made


def _freed(first: Square, second: Square, s: np.ndarray) -> np.ndarray:
    """The same point, placed where a first gram lowers the second most without raising the first."""
    space = first.space
    inside = (s > space.low) & (s < space.high)
    limit, fall = (slope(f, s)[inside] * space.size[inside] for f in (first, second))
    share = max(0.0, -float(limit @ fall) / max(float(limit @ limit), 1e-300))
    return placed(space, second.steep(s) + share * first.steep(s), s)


def _dataset(
    space: Space, moved: MotionSignals, found: list[np.ndarray], of: str, against: str, before: np.ndarray
) -> xarray.Dataset:
    from xarray import Dataset

    thetas = [space.parameters(s) for s in found]
    data: dict[str, Any] = {}
    for quantity in QUANTITIES:
        values = np.array([moved.rms(quantity, theta) for theta in thetas])
        text = {"units": moved.unit(quantity), "unbalanced": moved.rms(quantity, before)}
        data[f"{quantity}_rms"] = ("point", values, text)
    designs = [space.design(s) for s in found]
    addresses = list(designs[0])
    table = np.array([[design[a] for a in addresses] for design in designs])
    data["design"] = (("point", "address"), table)
    attrs = {"title": moved.mechanism.name, "of": of, "against": against}
    return Dataset(data, {"point": np.arange(len(found)), "address": addresses}, attrs)
