"""A fixed set of runs whose numbers a change of the program must not move, and what they are allowed to move.

    python tests/fixed_set.py --write tests/data/fixed_set.json      the numbers of this code, with what is allowed
    python tests/fixed_set.py --compare tests/data/fixed_set.json    the worst deviation of each case, over the allowed

A number may move by 1e-12 of its scale (the largest value of its variable), or by 10 times what one unit in the last
place of the start moves it in the code that wrote the file, whichever is larger.  Where a variable is nothing but
rounding (the turning of a slider, the moment in a smooth pin), its scale is that of the others it comes from.
`--only PART` takes the cases whose name contains PART.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

if not __package__:  # run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.fixed_cases import Case, cases

RELATIVE, TIMES = 1e-12, 10.0
OVER = ("time", "impact", "loss")  # dimensions of which first, middle and last entry and the mean are kept
COUNTED = ("steps", "attempts")  # of the attributes
NOISE = 1e-9  # of what it comes from: a variable that is smaller is rounding
LEAP = 1e-9  # of the run: a time of a peak that moves so far with the start is that of one of several equal peaks


def summary(run: Any) -> tuple[str, dict[str, np.ndarray], dict[str, float]]:
    """The outcome of a run, its numbers by variable, and the scale of each variable.

    Of what depends on time (or is a list of impacts or losses): the first, middle and last entry and the mean.
    """
    numbers, scales = {}, {}
    for name, variable in {"time": run["time"], **run.data_vars}.items():
        values = variable.values
        if values.dtype.kind not in "iufb":
            continue
        values = values.astype(float)
        scales[name] = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
        if variable.dims[:1] and variable.dims[0] in OVER:
            numbers[f"{name}.count"] = np.array([float(len(values))])
            picked = [values[0], values[len(values) // 2], values[-1], values.mean(axis=0)] if len(values) else []
            values = np.array(picked)
        numbers[name] = values.ravel()
    for name in ("outcome_time", *COUNTED):
        numbers[name] = np.array([float(run.attrs[name])])
    scales |= {name: float(np.abs(x).max(initial=0.0)) for name, x in numbers.items() if name not in scales}
    return str(run.attrs["outcome"]), numbers, scales


def natural(name: str, scales: dict[str, float], until: float) -> float:
    """The scale of a variable, or of what it comes from if it is only rounding."""
    kind = name.removeprefix("peak_")
    axis, _, what = kind.rpartition("_")
    of = scales.get
    if what in ("rate", "acceleration"):
        basis = natural(axis if what == "rate" else f"{axis}_rate", scales, until) / until
    elif kind == "moment":
        basis = max(of("x", 0.0), of("y", 0.0)) * max(of("force_x", 0.0), of("force_y", 0.0))
    else:
        others = {"x": "y", "y": "x", "force_x": "force_y", "force_y": "force_x", "slip": "x_rate"}
        basis = of(others.get(kind, ""), 0.0)
    own = of(name, 0.0)
    return basis if own < NOISE * basis else own


def leaps(name: str, numbers: dict[str, np.ndarray], scales: dict[str, float], moved: np.ndarray, until: float) -> Any:
    """Which numbers are times of peaks that are rounding, or one of several equal ones: they may be any time."""
    if not (name.startswith("peak_") and name.endswith("_time")):
        return False
    peak = name.removesuffix("_time")
    return (np.abs(numbers[peak]) < NOISE * natural(peak, scales, until)) | (moved > LEAP * until)


def measured(case: Case) -> dict[str, Any]:
    """The outcome and numbers of a case, and what each number is allowed to move.

    What changes its shape if the start moves by one unit in the last place is `unstable` and kept out.
    """
    outcome, numbers, scales = summary(case())
    moved = {name: np.zeros_like(x) for name, x in numbers.items()}
    unstable: set[str] = set()
    for changes in case.nudges():
        other, there, _ = summary(case(changes))
        if other != outcome:
            unstable.add("outcome")
        for name, x in numbers.items():
            y = there.get(name)
            if y is None or y.shape != x.shape or (np.isfinite(x) != np.isfinite(y)).any():
                unstable.add(name)
            else:
                moved[name] = np.fmax(moved[name], np.abs(y - x))
    kept: dict[str, Any] = {}
    for name, x in numbers.items():
        if name not in unstable:
            scale = np.fmax(np.abs(x), natural(name, scales, case.until))
            allowed = np.where(np.isfinite(x), np.maximum(RELATIVE * scale, TIMES * moved[name]), 0.0)
            allowed = np.where(leaps(name, numbers, scales, moved[name], case.until), case.until, allowed)
            values = [v if math.isfinite(v) else str(v) for v in x.tolist()]
            limits = [float(f"{a:.2e}") for a in allowed.tolist()]
            kept[name] = [values, limits[0] if len(set(limits)) == 1 else limits]
    return {"outcome": outcome, "unstable": sorted(unstable), "numbers": kept}


class Deviation(NamedTuple):
    """A number of the present code beside that of the file."""

    variable: str
    place: int
    was: float
    now: float
    allowed: float

    @property
    def share(self) -> float:
        """The deviation over what is allowed; infinite where nothing is."""
        if self.was == self.now or (math.isnan(self.was) and math.isnan(self.now)):
            return 0.0
        off = abs(self.now - self.was)
        return off / self.allowed if self.allowed and math.isfinite(off) else math.inf

    def __str__(self) -> str:
        text = f"{self.variable}[{self.place}]: {self.was!r} has become {self.now!r}, "
        return text + f"{abs(self.now - self.was):.3g} apart where {self.allowed:.3g} is allowed"


def deviations(case: Case, kept: dict[str, Any]) -> tuple[str, list[Deviation]]:
    """The outcome of a case now, and each of its numbers beside the one kept; a number that is no more is NaN."""
    outcome, numbers, _ = summary(case())
    found = []
    for name, (values, limits) in kept["numbers"].items():
        now = numbers.get(name, np.array([]))
        if len(now) != len(values):
            found.append(Deviation(f"{name} (how many numbers)", 0, float(len(values)), float(len(now)), 0.0))
            continue
        each = limits if isinstance(limits, list) else [limits] * len(values)
        rows = zip(values, now.tolist(), each, strict=True)
        found += [Deviation(name, i, float(was), x, most) for i, (was, x, most) in enumerate(rows)]
    return outcome, found


def load(path: str | Path) -> dict[str, Any]:
    """The cases of a file by name."""
    kept: dict[str, Any] = json.loads(Path(path).read_text())
    return kept


def _write(path: Path, chosen: dict[str, Case]) -> None:
    known = load(path) if path.exists() else {}
    for name, case in chosen.items():
        begin = time.perf_counter()
        known[name] = measured(case)
        outcome, unstable = known[name]["outcome"], ", ".join(known[name]["unstable"])
        said = f"; unstable: {unstable}" if unstable else ""
        print(f"{time.perf_counter() - begin:6.1f} s  {name}: {outcome}{said}", flush=True)
        rows = (f"{json.dumps(n)}: {json.dumps(kept, separators=(',', ':'))}" for n, kept in known.items())
        path.write_text("{\n" + ",\n".join(rows) + "\n}\n")


def _compare(path: Path, chosen: dict[str, Case]) -> bool:
    worst, good = load(path), True
    for name in (n for n in chosen if n in worst):
        begin = time.perf_counter()
        outcome, found = deviations(chosen[name], worst[name])
        most = max(found, key=lambda deviation: deviation.share)
        same = outcome == worst[name]["outcome"] or "outcome" in worst[name]["unstable"]
        good = good and same and most.share <= 1
        text = f"{most.share:9.2g}  {name} ({time.perf_counter() - begin:.2f} s)"
        text += f"\n           {most}" if most.share > 1 else ""
        print(text + ("" if same else f"\n           {worst[name]['outcome']!r} has become {outcome!r}"), flush=True)
    return good


def main() -> int:
    """Write or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", type=Path, metavar="FILE")
    what.add_argument("--compare", type=Path, metavar="FILE")
    parser.add_argument("--only", default="", metavar="PART")
    given = parser.parse_args()
    chosen = {name: case for name, case in cases().items() if given.only in name}
    if given.write:
        _write(given.write, chosen)
        return 0
    return 0 if _compare(given.compare, chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
