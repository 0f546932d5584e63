"""The numbers of a fixed set of runs are those of the file, to 1e-12 or ten times their sensitivity to the start."""

from pathlib import Path

import pytest

from .fixed_cases import cases
from .fixed_set import deviations, load, summary

FILE = Path(__file__).parent / "data" / "fixed_set.json"
CASES, KEPT = cases(), load(FILE)


def test_every_case_has_its_numbers():
    """A new case is written by `python tests/fixed_set.py --write tests/data/fixed_set.json --only NAME`."""
    assert list(CASES) == list(KEPT)


@pytest.mark.parametrize("name", CASES)
def test_the_numbers_have_not_moved(name):
    outcome, found = deviations(CASES[name], KEPT[name])
    worst = max(found, key=lambda deviation: deviation.share)
    if "outcome" not in KEPT[name]["unstable"]:
        assert outcome == KEPT[name]["outcome"], f"{name}: {KEPT[name]['outcome']!r} has become {outcome!r}"
    moved = sorted((d for d in found if d.share > 1), key=lambda deviation: -deviation.share)
    assert worst.share <= 1, "\n".join([f"{name}: {len(moved)} of {len(found)} numbers moved", *map(str, moved[:12])])


def test_a_moved_number_is_found():
    """One start rate greater by 1e-9 of it: the comparison must see it, and name the number."""
    case, kept = CASES["slider_crank"], KEPT["slider_crank"]
    other = case._replace(options={"start": {"crank.rate": 6.0 * (1 + 1e-9)}})
    assert summary(other())[0] == kept["outcome"]
    moved = [d for d in deviations(other, kept)[1] if d.share > 1]
    assert {"angle_rate", "kinetic", "peak_force"} <= {d.variable for d in moved}
    assert "has become" in str(moved[0]) and "is allowed" in str(moved[0])
