"""Two driving links and a prismatic pair with clearance (2017): deviations, contacts, speeds, contradictions."""

import pytest

from jointplay.papers import STUDIES


@pytest.fixture(scope="module")
def found():
    return list(STUDIES["wu2017"].records())


def test_records(found, record):
    for one in found:
        record(**one.as_dict())
    compared = [one for one in found if one.computed is not None and one.reference is not None]
    assert len(compared) > 30
    assert [one for one in compared if not one.good and one.item != "contradictions"] == []


def test_drives_can_be_followed(found):
    ways = [one for one in found if one.item == "drives over a period" and one.case["AC/mm"] == 150]
    assert len(ways) == 7 and not any(one.verdict.startswith("differs") for one in ways)


def test_deviations_repeat_with_the_forcing(found):
    late = [one for one in found if one.quantity.startswith("deviation of G at")]
    for c in (0.1, 0.5, 0.75):
        values = [one.computed for one in late if one.case["c/mm"] == c]
        assert len(values) == 3 and max(values) - min(values) < 1e-8
