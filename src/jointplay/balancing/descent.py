"""The least rms or peak of a quantity over a motion, and the trade-off between two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..model.mechanism import Mechanism
from ..system import System
from .adjust import Adjustable, Space, adjustables, prepared
from .quantities import QUANTITIES, MotionSignals, motion, moving
from .solver import STARTS, lightened, starts

if TYPE_CHECKING:
    import xarray

POWERS = (8, 32, 128)  # of the norms by which a peak is approached


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

    def slope(self, s: np.ndarray) -> np.ndarray:
        """By the variables."""
        theta = np.append(self.space.parameters(s), 1.0)
        return np.asarray(2 * (self.form @ theta)[:-1] @ self.space.jacobian(s) / self.size)


def descend(space: Space, moved: MotionSignals, quantity: str, how: str, seed: int = 0) -> np.ndarray:
    """The point of the space where the rms or the peak of a quantity is least."""
    square = Square.of(space, moved, quantity)
    best = _minimise(space, square, square.slope, starts(space, None, None, seed))
    if how == "rms":
        return lightened(space, square, best)
    rows = moved.rows[quantity]
    width = 2 if quantity in ("force", "bearing") else rows.shape[1]
    groups = rows.reshape(len(rows), -1, width, rows.shape[-1]).reshape(-1, width, rows.shape[-1])
    for power in POWERS:
        norm = _Norm(space, groups, power)
        best = _minimise(space, norm, norm.slope, [best])
    return lightened(space, norm, best)


@dataclass
class _Norm:
    """The norm of a signal over a motion by a power of its sizes; a high one is near to the peak."""

    space: Space
    groups: np.ndarray  # (samples, components of one vector, parameters + 1)
    power: int

    def __call__(self, s: np.ndarray) -> float:
        return self._both(s)[0]

    def slope(self, s: np.ndarray) -> np.ndarray:
        """By the variables."""
        return np.asarray(self._both(s)[1] @ self.space.jacobian(s))

    def _both(self, s: np.ndarray) -> tuple[float, np.ndarray]:
        signal = self.groups @ np.append(self.space.parameters(s), 1.0)
        size = np.sqrt((signal**2).sum(axis=1)) + 1e-300
        most = size.max()
        mean = ((size / most) ** self.power).mean()
        weight = (size / most) ** (self.power - 1) / (len(size) * mean)
        value = float(most * mean ** (1 / self.power))
        rows = ((weight / size)[:, None] * signal).reshape(-1) @ self.groups.reshape(-1, self.groups.shape[-1])
        return value, value / most * rows[:-1]


def _minimise(
    space: Space,
    f: Callable[[np.ndarray], float],
    slope: Callable[[np.ndarray], np.ndarray],
    begins: Iterable[np.ndarray],
) -> np.ndarray:
    from scipy.optimize import minimize  # type: ignore[import-untyped]

    scale = np.maximum(np.minimum(space.high - space.low, np.abs(space.first) + 0.1), 1e-12)
    found: list[tuple[float, np.ndarray]] = []
    for begin in begins:
        run = minimize(
            lambda x: f(x * scale), begin / scale, jac=lambda x: slope(x * scale) * scale, method="L-BFGS-B",
            bounds=list(zip(space.low / scale, space.high / scale, strict=True)),
            options={"maxiter": 2000, "maxfun": 5000, "ftol": 1e-15, "gtol": 1e-11},
        )  # fmt: skip
        found.append((float(run.fun), np.clip(run.x * scale, space.low, space.high)))
    least = min(value for value, _ in found)
    return next(s for value, s in found if value <= least + 1e-9 * (abs(least) + 1e-9))  # the first of equals


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
    moved = motion(driven, times, complex(*pole))
    space = Space(ready, asked)
    found = front(space, Square.of(space, moved, of), Square.of(space, moved, against), points)
    return _dataset(space, moved, found, of, against, space.without(base))


def front(space: Space, first: Square, second: Square, points: int) -> list[np.ndarray]:
    """Points of the space along the front between two mean squares, none dominated by another."""
    ends = [_minimise(space, f, f.slope, starts(space, None, None, 0)) for f in (first, second)]
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

    scale = np.maximum(np.minimum(space.high - space.low, np.abs(space.first) + 0.1), 1e-12)
    box = list(zip(space.low / scale, space.high / scale, strict=True))
    made: list[np.ndarray] = []
    last = begins[0]
    spread = list(starts(space, None, None, 1))[: STARTS // 2]
    for limit in limits:
        rule = {
            "type": "ineq",
            "fun": lambda x, limit=limit: limit - first(x * scale),
            "jac": lambda x: -first.slope(x * scale) * scale,
        }
        tried: list[tuple[float, np.ndarray]] = []
        for begin in (last, *spread):
            run = minimize(
                lambda x: second(x * scale), np.clip(begin, space.low, space.high) / scale, method="SLSQP", bounds=box,
                jac=lambda x: second.slope(x * scale) * scale, constraints=[rule],
                options={"maxiter": 300, "ftol": 1e-13},
            )  # fmt: skip
            s = np.clip(run.x * scale, space.low, space.high)
            if first(s) <= limit * (1 + 1e-6) + 1e-12:
                tried.append((second(s), s))
        last = min(tried, key=lambda pair: pair[0])[1] if tried else last
        made.append(last)
    return made


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
