"""The engine on a whole mechanism: the crank-rocker with play at J2 under PD control, ten seconds."""

import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

from crank_rocker import crank_rocker

from jointplay.run import Run

# Largest tracking error over [1, 10] s in degrees, from an earlier table-driven numba solver of the same scheme.
REFERENCE = {2e-5: 4.02760, 1e-5: 4.02615, 5e-6: 4.02543}


@pytest.fixture(scope="module")
def errors() -> dict[float, float]:
    found = {}
    for h in REFERENCE:
        run = Run(crank_rocker(), {"time_step": h})
        run.advance(round(10.0 / h))
        found[h] = math.degrees(run["tracking_error"][0])
    return found


@pytest.mark.parametrize("h", list(REFERENCE))
def test_tracking_error(errors, record, h):
    good = errors[h] == pytest.approx(REFERENCE[h], abs=1e-3)
    verdict = "agrees" if good else "differs"
    item, quantity = "crank-rocker, J2 open by 3 mm, PD", f"largest tracking error, h = {h:g} s"
    record(item=item, quantity=quantity, unit="deg", ours=errors[h], reference=REFERENCE[h], verdict=verdict)
    assert good


def test_first_order_limit(errors, record):
    fine, coarse = min(REFERENCE), 1e-5
    ours, theirs = (2 * e[fine] - e[coarse] for e in (errors, REFERENCE))
    good = ours == pytest.approx(theirs, abs=2e-4)
    verdict = "agrees" if good else "differs"
    item, quantity = "crank-rocker, J2 open by 3 mm, PD", "largest tracking error, h -> 0 (first order)"
    record(item=item, quantity=quantity, unit="deg", ours=ours, reference=theirs, verdict=verdict)
    assert good
