"""Table 6 of Akhadkar et al. 2016, as `jointplay reproduce akhadkar2016 --table 6` does: one friction, all cores."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from jointplay.papers import STUDIES
from jointplay.papers.working import compute

Results = dict[str, float | None]
BARS: list[tuple[str, Callable[[Any], float], float]] = [
    ("Table 6 of Akhadkar et al. 2016, s", lambda r: r["akhadkar2016_table6_s"], 25.0),
]


def table_of_controllers() -> Results:
    """Wall time (s) of 32 runs of a million steps, from the cache of machine code."""
    study = STUDIES["akhadkar2016"]
    rows = study.rows()
    cases = {i: rows[i].case for i in study.choose(table=6)}
    wanted = [i for i, case in cases.items() if case["friction"] == 0.1 or not any(case["clearances"])]
    list(compute(study.name, {}, wanted, workers=None))
    begin = time.perf_counter()
    list(compute(study.name, {}, wanted, workers=None))
    return {"akhadkar2016_table6_s": time.perf_counter() - begin}
