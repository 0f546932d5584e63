"""Bifurcation diagrams of mechanisms over any of their numbers, as studies: in lanes, on all cores, and resumable."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..host import cores
from ..model.mechanism import Mechanism
from ..model.parts import suggestion
from ..model.repeats import drive_period
from ..results import flat
from ..series import spelled
from ..simulation import Simulation
from ..system import System
from .judge import fitting, known_period
from .sections import repeat
from .series import unit_of
from .things import is_angle

if TYPE_CHECKING:
    from xarray import Dataset

EQUAL = 1e-12
LOOKS = 4  # at the signal in a period: how far it moves, of which a period may leave a share


def diagram(
    mechanism: Mechanism,
    address: str,
    values: Sequence[float],
    signal: str,
    period: float | None = None,
    keep: int = 40,
    skip: int = 60,
    follow: bool = False,
    store: str | os.PathLike[str] | None = None,
    executor: Any = None,
    progress: Callable[[Any], None] | None = None,
    tolerance: float = 1e-5,
    **options: Any,
) -> Dataset:
    """The bifurcation diagram of a mechanism over any of its numbers: a signal of its results once a drive period.

    `keep` points after `skip` of them. period (s): of the drive, if it is not to be found; it may change with the
    number. follow: each value goes on from the last state of the one before it, forward and then backward, so that
    coexisting motions are seen (dimension `direction`); what laws and controllers remember begins anew. store: a
    directory; a diagram that is there goes on where it stopped. executor, progress: as of `sweep`; options: those of a
    Simulation. A value at which the run ends early has NaN, and why in `outcome`. tolerance: of the period, over the
    range of the signal at that value (of an angle a turn at most), as it is seen four times a drive period.
    """
    from xarray import Dataset

    from ..studies import sweep
    from ..studies.subject import Machine

    numbers = [float(x) for x in values]
    if not numbers:
        raise InputError(f"{address}: a diagram needs values")
    control = options.pop("control", None)
    base = mechanism if control is None else mechanism.replace(control=control)
    periods = [known_period(base.with_({address: x}), period) for x in numbers]
    if None in periods:
        raise InputError("nothing drives this mechanism periodically; give the time between two points (--period)")
    one, stepper = float(periods[0] or 0.0), options.pop("stepper", None)
    asked: dict[str, Any] = {"store": store, "progress": progress}
    if follow or any(not math.isclose(one, float(x or 0.0), rel_tol=EQUAL) for x in periods):
        walk = StrobedPoints(base, address, tuple(numbers), signal, keep, skip, period, stepper, options, {})
        found, ranges, outcome = walk.study(follow, executor, asked)
    else:
        every = one / LOOKS
        chosen = fitting(base.with_({address: max(numbers, key=abs)}), stepper, every, 1, one)  # joints may open
        name = study_name(signal)
        asked |= {"stepper": chosen, "until": (skip + keep) * one, "every": every, "keep": [name], "executor": executor}
        table = sweep(base, {address: numbers}, **asked, **options)
        looks, outcome = table[name].values[None, :, 1 + LOOKS * skip :][..., : LOOKS * keep], ended(table)[None]
        found, ranges = looks[..., LOOKS - 1 :: LOOKS], np.ptp(looks, axis=-1)
    repeats = [
        [repeats_after(row, signal, tolerance, span) for row, span in zip(*part, strict=True)]
        for part in zip(found, ranges, strict=True)
    ]
    units = {"units": unit_of(signal)}
    driven = {"units": "s", "long_name": "time between two points"}
    about = {"signal": signal, "address": address, "skip": skip}
    return Dataset(
        {
            signal: (("direction", address, "point"), found, units),
            "period": (("direction", address), repeats),
            "drive_period": (address, periods, driven),
            "outcome": (("direction", address), outcome),
        },
        {
            address: (address, numbers, {"units": Machine(base).unit(address)}),
            "direction": ["forward", "backward"][: len(found)],
        },
        about,
    )


def repeats_after(row: np.ndarray, signal: str, tolerance: float, span: float) -> int:
    """After how many points a row repeats; 0 if it does not, -1 if it ended early. span: the range of the signal."""
    if not np.isfinite(row).all():
        return -1
    span = min(span, 2 * math.pi) if is_angle(signal) else span
    return repeat(row[:, None], [signal], tolerance, span or 1.0).multiple or 0


def study_name(signal: str) -> str:
    """The name that a study has for a column of a result: `crank.angle_rate` is `angle_rate[crank]`."""
    label, _, quantity = spelled(signal).rpartition(".")
    return f"{quantity}[{label}]" if label else quantity


def ended(table: Dataset) -> np.ndarray:
    """How each run of a study ended."""
    return np.where(table["status"].values == 1, "done", table["outcome"].values)


@dataclass(frozen=True)
class StrobedPoints:
    """The points of a diagram one value after the other: where the period changes with the number, or each value goes
    on from the one before. It is what such a study calls; `ends` are the last states, by direction and place."""

    mechanism: Mechanism
    address: str
    values: tuple[float, ...]
    signal: str
    keep: int
    skip: int
    period: float | None
    stepper: Any
    options: dict[str, Any]
    ends: dict[tuple[float, int], dict[str, float]] = field(compare=False, repr=False)
    __name__ = "points once a period"  # the title of the study

    def plain(self) -> dict[str, Any]:
        """What tells it from another, for the store."""
        from ..studies.subject import text_of

        told = {"diagram": text_of(self.mechanism), "signal": self.signal, "keep": self.keep, "skip": self.skip}
        return told | {"period": self.period, "stepper": repr(self.stepper), "options": repr(self.options)}

    def study(self, follow: bool, executor: Any, asked: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The points (direction, value, point), the range of the signal, and how each run ended."""
        from ..studies import sweep

        names = ["range", *(f"point {i + 1}" for i in range(self.keep))]
        if not follow:
            many = cores() if executor is None else executor
            over: dict[str, Any] = {"value": list(self.values)}
            table = sweep(self, over, metrics=names, executor=many, **asked)
            rows = np.stack([table[name].values for name in names], -1)[None]
            return rows[..., 1:], rows[..., 0], ended(table)[None]
        known = System(self.mechanism).coordinates
        ends = [f"end {name}" for name in (*known, *(f"{name}.rate" for name in known))]
        if asked["store"] is not None and Path(asked["store"]).exists():
            self.remember(asked["store"], ends)
        over = {"direction": [1.0, -1.0], "place": list(range(len(self.values)))}
        table = sweep(self, over, metrics=names + ends, executor=1, **asked)  # one after the other
        rows, how = np.stack([table[name].values for name in names], -1), ended(table)
        rows = np.stack([rows[0], rows[1][::-1]])
        return rows[..., 1:], rows[..., 0], np.stack([how[0], how[1][::-1]])

    def remember(self, store: Any, ends: Sequence[str]) -> None:
        """The last states of the values that a store holds."""
        from ..studies import open_study

        table = open_study(store)
        if "place" not in table.dims or any(name not in table for name in ends):
            return  # of another study, which is refused
        for i, way in enumerate(table["direction"].values):
            for place in np.flatnonzero(table["status"].values[i] == 1):
                state = {name.removeprefix("end "): float(table[name].values[i, place]) for name in ends}
                self.ends[float(way), int(place)] = state

    def __call__(self, value: float = math.nan, direction: float = 0.0, place: float = 0.0) -> dict[str, float]:
        """The points of one value: given as such, or by its place on the way forward (1) or backward (-1)."""
        at = int(place)
        x = value if not direction else self.values[at if direction > 0 else -1 - at]
        start = self.ends.get((direction, at - 1)) if direction else None
        mechanism = self.mechanism.with_({self.address: x})
        period = float(self.period or drive_period(mechanism) or 0.0)
        end = (self.skip + self.keep) * period
        chosen = fitting(mechanism, self.stepper, period / LOOKS, 1, period)
        system = System(mechanism, end, frozenset({self.address}))
        sim = Simulation(system, chosen, every=period / LOOKS, until=end, **self.options)
        if start is not None:
            sim.perturb(np.array([start[name] for name in sim.names]) - sim.state[0], lane=0)
        sim.advance(end)
        if str(sim.status[0].kind) != "done":
            raise InputError(sim.status[0].text)
        columns = flat(sim.result(0))
        signal = spelled(self.signal)
        if signal not in columns:
            raise InputError(f"no signal {self.signal!r} in the result{suggestion(signal, columns)}")
        looks = columns[signal][1:][LOOKS * self.skip :][: LOOKS * self.keep]
        last = dict(zip(sim.names, (float(x) for x in sim.state[0]), strict=True)) if direction else {}
        if direction:
            self.ends[direction, at] = last
        points = {f"point {i + 1}": float(x) for i, x in enumerate(looks[LOOKS - 1 :: LOOKS])}
        return {"range": float(np.ptp(looks))} | points | {f"end {name}": x for name, x in last.items()}
