"""Bifurcation diagrams over one number, forward and backward, and basins over two start values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from .sections import points, repeat
from .things import Thing, ensure_thing, is_angle

if TYPE_CHECKING:
    from xarray import Dataset


def bifurcation(
    make: Callable[[list[dict[str, float]]], Thing],
    address: str,
    values: Sequence[float],
    signal: str,
    keep: int = 60,
    skip: int = 200,
    lanes: int = 8,
    follow: bool = False,
    tolerance: float = 1e-6,
) -> Dataset:
    """The points of a section over one number: `keep` of them after `skip`, and the period k in which they repeat.

    make: gives a section (a Map or Strobe) with a lane for each {address: value}; signal: the name of the number that
    is kept. Values are computed side by side in lanes. follow: each value goes on from the last state of the one before
    it, forward and then backward, so that coexisting motions are seen; dimension `direction`. tolerance: of the period,
    over the largest number among the points at that value and their start, of an angle a turn at most.
    """
    from xarray import Dataset

    numbers = np.asarray(values, float)
    if numbers.ndim != 1 or not len(numbers):
        raise InputError(f"values of {address!r} must be a list of numbers, got {values!r}")
    if follow:
        found = np.array([_followed(make, address, numbers, signal, keep, skip, back) for back in (False, True)])
    else:
        found = _apart(make, address, numbers, signal, keep, skip, lanes)[None]
    sizes, found = np.abs(found).max(axis=-1), found[..., 1:]
    sizes = np.minimum(sizes, 2 * np.pi) if is_angle(signal) else sizes
    period = np.zeros(found.shape[:2], int)
    for at in np.argwhere(np.isfinite(found).all(axis=-1)):
        one = found[tuple(at)][:, None]
        period[tuple(at)] = repeat(one, [signal], tolerance, sizes[tuple(at)] or 1.0).multiple or 0
    names = ["forward", "backward"][: len(found)]
    return Dataset(
        {signal: (("direction", address, "point"), found), "period": (("direction", address), period)},
        {address: numbers, "direction": names},
        {"signal": signal, "address": address, "skip": skip},
    )


def _apart(make: Any, address: str, values: np.ndarray, signal: str, keep: int, skip: int, lanes: int) -> np.ndarray:
    """The start and the points of each value, several side by side."""
    found = []
    for first in range(0, len(values), lanes):
        part = [float(x) for x in values[first : first + lanes]]
        filled = part + [part[-1]] * (lanes - len(part))
        thing = make([{address: x} for x in filled])
        ensure_thing(thing, lanes)
        place, start = _place(thing, signal), thing.state
        found.append(np.array([start, *points(thing, keep, skip)])[:, : len(part), place].T)
    return np.concatenate(found)


def _followed(make: Any, address: str, values: np.ndarray, signal: str, keep: int, skip: int, back: bool) -> np.ndarray:
    """The start and the points of each value, from the last state of the one before."""
    order = values[::-1] if back else values
    found, start = [], None
    for x in order:
        thing = make([{address: float(x)}])
        if start is not None:
            thing.reset(start=dict(zip(thing.names, start, strict=True)))
        begin = thing.state
        found.append(np.array([begin, *points(thing, keep, skip)])[:, 0, _place(thing, signal)])
        start = thing.state[0]
    return np.array(found[::-1] if back else found)


def _place(thing: Thing, signal: str) -> int:
    if signal not in thing.names:
        raise InputError(f"no signal {signal!r} in the state; there are {', '.join(thing.names)}")
    return list(thing.names).index(signal)


def basins(
    make: Callable[[list[dict[str, float]]], Thing],
    first: tuple[str, Sequence[float]],
    second: tuple[str, Sequence[float]],
    skip: int = 200,
    most: int = 8,
    lanes: int = 8,
    tolerance: float = 1e-4,
) -> Dataset:
    """Which attractor of a section every pair of two start values leads to.

    make: gives a section with a lane for each {name: start value}; first, second: name and values. Motions that visit
    the same points within `tolerance` of the span are one attractor; one that does not repeat within `most` steps is
    told by its mean. Attractors are numbered from 0 in the order found; -1: the motion left the finite numbers.
    """
    from xarray import Dataset

    (one, xs), (two, ys) = first, second
    pairs = [{one: float(x), two: float(y)} for x in xs for y in ys]
    ends, names = [], []
    for begin in range(0, len(pairs), lanes):
        part = pairs[begin : begin + lanes]
        thing = make(part + [part[-1]] * (lanes - len(part)))
        names = list(thing.names)
        ends += list(points(thing, 2 * most, skip).transpose(1, 0, 2)[: len(part)])
    span = np.ptp(np.concatenate(ends), axis=0)
    span[span == 0] = 1.0
    known: list[np.ndarray] = []
    label = np.empty(len(pairs), int)
    for i, end in enumerate(ends):
        k = repeat(end, names, tolerance, span, most).multiple
        sign = end[-k:][np.lexsort(end[-k:].T[::-1])] / span if k else end.mean(axis=0, keepdims=True) / span
        near = 10 * tolerance if k else 0.2
        same = [j for j, other in enumerate(known) if other.shape == sign.shape and np.abs(other - sign).max() < near]
        if not same:
            known.append(sign)
        label[i] = same[0] if same else len(known) - 1
    return Dataset(
        {"attractor": ((one, two), label.reshape(len(xs), len(ys)))},
        {one: np.asarray(xs, float), two: np.asarray(ys, float)},
        {"attractors": len(known), "skip": skip},
    )
