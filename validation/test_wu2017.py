"""Two driving links and a prismatic pair with clearance (2017): deviations, contacts, statements, exponents."""

import pytest

from jointplay.papers import STUDIES

pytestmark = pytest.mark.timeout(1200)  # minutes for all records, which the first test waits for


@pytest.fixture(scope="module")
def found():
    return list(STUDIES["wu2017"].records())


def test_records(found, record):
    for one in found:
        record(**one.as_dict())
    numbers = [one for one in found if one.paper is None and one.computed is not None and one.reference is not None]
    assert len(numbers) > 40 and [one for one in numbers if not one.good] == []


def test_drives_can_be_followed(found):
    ways = [one for one in found if one.quantity.startswith("BD from, to")]
    assert len(ways) == 7 and {one.verdict for one in ways} == {"agrees"}


def test_deviations_repeat_with_the_forcing(found):
    late = [one for one in found if one.quantity.startswith("deviation of G at")]
    for c in (1e-4, 5e-4):
        values = [one.computed for one in late if one.case["clearances"] == [c]]
        assert len(values) == 3 and max(values) - min(values) < 1e-8


def test_nothing_speaks_for_chaos(found):
    """Exponents below zero and motion that repeats with the drives, for every clearance and speed."""
    exponents = [one for one in found if one.quantity == "largest exponent"]
    assert len(exponents) == 15 and all(one.verdict == "contradicts" and one.computed < 0 for one in exponents)
    for figure in ("figure 5", "figure 6", "figure 7"):
        assert {one.verdict for one in found if one.item == figure} == {"contradicts"}
