"""Table 6 of paper 000 as `jointplay reproduce akhadkar2016 --table 6` computes it, with one friction, on all cores."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from jointplay.papers import akhadkar2016

Results = dict[str, float | None]
BARS: list[tuple[str, Callable[[Any], float], float]] = [
    ("Table 6 of paper 000, s", lambda r: r["akhadkar2016_table6_s"], 25.0),
]


def table_of_controllers() -> Results:
    """Wall time (s) of 24 runs of a million steps, from the cache of machine code."""
    list(akhadkar2016.table_6(frictions=(0.1,)))
    begin = time.perf_counter()
    list(akhadkar2016.table_6(frictions=(0.1,)))
    return {"akhadkar2016_table6_s": time.perf_counter() - begin}
