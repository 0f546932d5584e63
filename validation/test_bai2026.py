"""The dual manipulator on a spacecraft (2026): set A beside the reference, five cases in four assumed sets, claims."""

import pytest

from jointplay.papers import STUDIES


@pytest.fixture(scope="module")
def found():
    return list(STUDIES["bai2026"].records())


def test_records(found, record):
    for one in found:
        record(**one.as_dict())
    compared = [one for one in found if one.computed is not None and one.reference is not None]
    assert len(compared) > 25
    wrong = [one for one in compared if not one.good and one.item != "contradictions"]
    assert wrong == []


def test_claims_that_are_friction_rather_than_clearance(found):
    claims = {one.quantity: one.verdict for one in found if one.item == "claims"}
    assert len(claims) == 14
    assert sum("friction rather than clearance in A, B, C, D" in said for said in claims.values()) == 2
    depends = [text for text, said in claims.items() if said.startswith("differs")]
    assert len(depends) == 3  # joint 1 before joint 2, more loose joints, larger clearances: not in every set
