"""The study of Grigore et al.: constraint matrices beside what is printed, equilibria, contact loss."""

import pytest

from jointplay.papers import STUDIES


@pytest.fixture(scope="module")
def found():
    return list(STUDIES["grigore"].records())


def test_records(found, record):
    for one in found:
        record(**one.as_dict())
    compared = [one for one in found if one.computed is not None]
    assert len(compared) > 45
    assert [one.quantity for one in compared if not one.good] == ["contact is kept until"] * 2


@pytest.mark.parametrize("rtol", [1e-9, 1e-11])
def test_contact_is_lost_at_the_same_time_whatever_the_tolerance(found, rtol):
    """The located times belong to the model, not to the steps."""
    times = {r.case["speed"]: r.computed for r in found if r.quantity == "contact lost at"}
    again = STUDIES["grigore"].records(case=["contact lost at"], rtol=rtol, atol=rtol / 10)
    assert {r.case["speed"]: r.computed for r in again} == pytest.approx(times, abs=1e-7)
