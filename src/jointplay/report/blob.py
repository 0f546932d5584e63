"""Numbers as text: 32-bit floats in one base64 string, and samples thinned so that peaks stay."""

from __future__ import annotations

import base64
import itertools
from typing import Any

import numpy as np

Json = dict[str, Any]
Stretch = tuple[int, int]  # where an array begins in the blob, and how many numbers it holds


class Blob:
    """Collects arrays; each is known by its place.  Equal arrays are kept once."""

    def __init__(self) -> None:
        self.parts: list[np.ndarray] = []
        self.size = 0
        self.known: dict[bytes, Stretch] = {}

    def add(self, values: Any) -> Stretch:
        """Keep an array as 32-bit floats; what is too large for them (3.4e38) becomes infinite."""
        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(np.asarray(values, float), "<f4")
        key = array.tobytes()
        if key not in self.known:
            self.known[key] = (self.size, len(array))
            self.parts.append(array)
            self.size += len(array)
        return self.known[key]

    def text(self) -> str:
        """All arrays as base64."""
        return base64.b64encode(b"".join(part.tobytes() for part in self.parts)).decode("ascii")


def frames(count: int, most: int) -> np.ndarray:
    """Which of `count` samples to show: all, or `most` of them evenly, the first and the last among them."""
    if count <= most:
        return np.arange(count)
    return np.unique(np.round(np.linspace(0, count - 1, most)).astype(int))


def thin(time: np.ndarray, values: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """At most about so many points of a curve: of every stretch its smallest and its largest value, in order.

    A stretch in which there is a gap (nan) keeps one.
    """
    count = len(values)
    if count <= most:
        return time, values
    stretches = max(1, most // 3)
    edges = np.linspace(0, count, stretches + 1).astype(int)
    kept = {0, count - 1}
    for first, last in itertools.pairwise(edges.tolist()):
        part = values[first:last]
        gaps = np.flatnonzero(np.isnan(part))
        if len(gaps):
            kept.add(first + int(gaps[0]))
        if len(gaps) < len(part):
            kept |= {first + int(np.nanargmin(part)), first + int(np.nanargmax(part))}
    index = np.array(sorted(kept))
    return time[index], values[index]
