"""The runs of a study: a rectangle of dimensions, cut into batches; what tells one study from another."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .axes import RUN, StudyDimension

Rectangle = tuple[slice, ...]


@dataclass(frozen=True)
class Plan:
    """All runs of a study, numbered in the order of its dimensions, the last one fastest."""

    dimensions: tuple[StudyDimension, ...]
    attrs: Mapping[str, Any] = field(default_factory=dict)  # how samples were drawn

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(d) for d in self.dimensions)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(d.name for d in self.dimensions)

    def __len__(self) -> int:
        return math.prod(self.shape)

    def table(self, runs: np.ndarray) -> dict[str, np.ndarray]:
        """The values at every address for some runs, by their numbers."""
        places = np.unravel_index(runs, self.shape)
        columns = zip(self.dimensions, places, strict=True)
        return {address: x[at] for d, at in columns for address, x in d.columns.items()}

    def settings(self, run: int) -> dict[str, float | str]:
        """The values at every address for one run."""
        return {a: x[0] if isinstance(x[0], str) else float(x[0]) for a, x in self.table(np.array([run])).items()}

    def numbers(self, rectangle: Rectangle) -> np.ndarray:
        """The numbers of the runs in a rectangle, as an array of its shape."""
        ranges = [np.arange(n)[s] for n, s in zip(self.shape, rectangle, strict=True)]
        return np.ravel_multi_index(np.ix_(*ranges), self.shape)

    def digests(self) -> dict[str, str]:
        """What each dimension holds, to tell it from another."""
        return {d.name: hashlib.sha256(repr([(a, list(x)) for a, x in d.columns.items()]).encode()).hexdigest()[:16]
                for d in self.dimensions}  # fmt: skip


def chunk_shape(shape: Sequence[int], size: int) -> tuple[int, ...]:
    """The shape of batches of at most so many runs: whole rows of the last dimensions where they fit."""
    left, found = max(1, size), []
    for n in reversed(shape):
        here = min(n, left)
        found.append(here)
        left //= here
    return tuple(reversed(found))


def rectangles(shape: Sequence[int], chunk: Sequence[int]) -> Iterator[Rectangle]:
    """All batches, in order."""
    counts = [range(math.ceil(n / c)) for n, c in zip(shape, chunk, strict=True)]
    for place in itertools.product(*counts):
        yield tuple(slice(i * c, min((i + 1) * c, n)) for i, c, n in zip(place, chunk, shape, strict=True))


def contained(old: Plan, new: Plan) -> list[np.ndarray] | None:
    """Where the points of an old plan are in a new one, dimension by dimension; None if some are not."""
    if old.names != new.names:
        return None
    found = []
    for before, after in zip(old.dimensions, new.dimensions, strict=True):
        if list(before.columns) != list(after.columns):
            return None
        rows = {row: i for i, row in enumerate(zip(*after.columns.values(), strict=True))}
        if before.name == RUN:  # samples go on: the same ones in the same places
            same = all(np.array_equal(x, after.columns[a][: len(before)]) for a, x in before.columns.items())
            if not same:
                return None
            found.append(np.arange(len(before)))
            continue
        places = [rows.get(row) for row in zip(*before.columns.values(), strict=True)]
        if any(place is None for place in places):
            return None
        found.append(np.array(places))
    return found


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What tells two studies apart, in words; nothing if they are the same."""
    found = []
    for key in dict.fromkeys([*before, *now]):
        a, b = before.get(key), now.get(key)
        if a == b:
            continue
        if key == "model" and isinstance(a, str) and isinstance(b, str):
            found.append(f"model ({_lines(a, b)})")
        elif isinstance(a, Mapping) and isinstance(b, Mapping):
            inner = [k for k in dict.fromkeys([*a, *b]) if a.get(k) != b.get(k)]
            found.append(f"{key} ({', '.join(inner)})")
        else:
            found.append(f"{key} ({_short(a)} there, {_short(b)} here)")
    return found


def _lines(a: str, b: str) -> str:
    """The first place where two texts differ."""
    for one, two in itertools.zip_longest(a.splitlines(), b.splitlines(), fillvalue=""):
        if one != two:
            same = next((i for i, (x, y) in enumerate(zip(one, two, strict=False)) if x != y), 0)
            begin = max((one.rfind(mark, 0, same) + 1 for mark in "{,"), default=0)
            shown = (line[begin:].strip()[:60] or "nothing" for line in (one, two))
            return f"{one.strip().partition(':')[0]}: {' there, '.join(shown)} here"
    return "another text"


def _short(x: Any) -> str:
    text = x if isinstance(x, str) else json.dumps(x, default=str)
    return text if len(text) <= 90 else f"{text[:87]}..."
