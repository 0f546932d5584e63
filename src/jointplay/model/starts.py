"""Start values of a mechanism: what their keys mean, how they are read, and how journals begin."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pydantic_core import PydanticCustomError

from ..parts.part import Frozen, Quantity, refuse, refuse_all
from ..parts.units import ANGLE, LENGTH, RATE, SPEED, shorten

TURNED = 1e6  # rad: greater start angles have too few digits left to close a mechanism
TAILS = {"": ANGLE, ".rate": RATE, ".x": LENGTH, ".y": LENGTH, ".x.rate": SPEED, ".y.rate": SPEED}
STARTS = {
    "type": "object",
    "properties": {"journals": {"enum": ["loaded", "centred"]}},
    "additionalProperties": {"anyOf": [{"type": "number"}, {"type": "string"}]},
}


def read_start(raw: Any) -> Frozen:
    """Start values by their keys, in SI units."""
    if not isinstance(raw, Mapping | None):
        refuse(f"must be a mapping such as crank: 30 deg, got {shorten(raw)}")
    read, problems = {}, []
    for key, given in (raw or {}).items():
        _, tail = started(str(key))
        try:
            read[key] = Quantity(TAILS[tail]).read(given)
            if not tail and abs(read[key]) > TURNED:
                problems.append(((key,), f"must be within {TURNED:g} rad, got {read[key]:g}: take off whole turns"))
        except PydanticCustomError as error:
            problems.append(((key,), str(error)))
    refuse_all(problems)
    return Frozen(read)


def started(key: str) -> tuple[str, str]:
    """The body that a start value belongs to, and which one it is: "crank.x.rate" is (crank, .x.rate)."""
    tail = next((tail for tail in sorted(TAILS, key=len, reverse=True) if tail and key.endswith(tail)), "")
    return key.removesuffix(tail), tail


def start_text(key: str, value: float) -> str:
    """A start value as people read it.

    >>> start_text("crank", 0.5), start_text("slider.x", 0.25), start_text("crank.rate", 2.0)
    ('28.648 deg', '0.25 m', '2 rad/s')
    """
    _, tail = started(key)
    return f"{math.degrees(value):.5g} deg" if not tail else f"{value:.5g} {TAILS[tail].unit}"


def how_journals_start(raw: Any) -> Any:
    """A mechanism's data with `journals` taken out of its start values, unless it is a body."""
    start = raw.get("start") if isinstance(raw, Mapping) else None
    if not isinstance(start, Mapping) or "journals" not in start or "journals" in raw.get("bodies", ()):
        return raw
    if start["journals"] not in ("loaded", "centred"):
        refuse_all([(("start", "journals"), f"must be loaded or centred, got {shorten(start['journals'])}")])
    rest = {key: x for key, x in start.items() if key != "journals"}
    return {**raw, "start": rest, "journals": start["journals"]}
