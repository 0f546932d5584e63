"""The dual manipulator on a spacecraft (2026): set A beside the reference, five cases in four assumed sets, claims."""

import pytest

from jointplay.papers import STUDIES

pytestmark = pytest.mark.timeout(1200)  # minutes for all records, which the first test waits for


@pytest.fixture(scope="module")
def found():
    return list(STUDIES["bai2026"].records())


def test_records(found, record):
    for one in found:
        record(**one.as_dict())
    compared = [one for one in found if one.reference is not None]
    assert len(compared) > 25 and {one.verdict for one in compared} == {"agrees"}
    fitted = [one for one in found if one.item == "ideal joints" and one.case["data"] == "C"]
    assert {one.verdict for one in fitted} == {"agrees"}


def test_frictionless_sets_have_not_converged(found):
    """What friction does not damp is passed on from impact to impact: the tolerance is seen in the second digit."""
    open_ = [one for one in found if one.verdict == "not-converged"]
    assert open_ and all(one.case["friction"] is False for one in open_)
    assert {one.case["data"] for one in open_} >= {"D"}


def test_claims_that_are_friction_rather_than_clearance(found):
    claims = {one.quantity: one for one in found if one.paper == "yes"}
    assert len(claims) == 25
    assert sum("friction rather than clearance in A, B, C, D" in one.note for one in claims.values()) == 2
    depends = [text for text, one in claims.items() if one.verdict == "differs"]
    assert len(depends) < 8 and all(one.verdict in ("reproduces", "differs") for one in claims.values())
    first = next(one for text, one in claims.items() if text.startswith("larger angle errors in every arm"))
    assert first.computed == 0  # in no set is a loose joint 1 worse for every arm
