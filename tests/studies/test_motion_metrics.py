"""`verdict` and `exponent` as metrics of a study: maps of chaos."""

import numpy as np
import pytest

import jointplay as jp
from tests.analysis.test_verdict import oscillator

OVER = {"shaker.x.frequency": [2.6, 2.8]}  # its exact map: period 1, and chaos with an exponent of 0.143 1/s
ASKED = {"until": 130.0, "settled": 40.0, "stepper": jp.MoreauJean(2e-3, order=1)}


@pytest.fixture(scope="module")
def table():
    return jp.sweep(oscillator(), OVER, metrics=["verdict", "exponent"], executor=2, **ASKED)


def test_a_map_of_chaos(table):
    kinds = table.verdict.attrs["flag_meanings"].split()
    assert [kinds[int(x)] for x in table.verdict.values] == ["periodic", "chaotic"]
    assert table.exponent[0] < 0.1 and table.exponent[1] == pytest.approx(0.143, abs=0.15)
    assert table.exponent.attrs["units"] == "1/s"


def test_an_exponent_alone_is_the_same(table):
    alone = jp.sweep(oscillator(), OVER, metrics="exponent", executor=1, **ASKED)
    assert np.array_equal(alone.exponent, table.exponent)


def test_what_does_not_repeat_says_so():
    rising = (
        oscillator()
        .with_({"shaker.y": 1.0})
        .replace(
            forces={**oscillator().forces, "push": {"kind": "force", "at": "mass.pin", "x": jp.cycloidal(0, 1, 1.0)}}
        )
    )
    table = jp.sweep(rising, {"spring.stiffness": [1.0]}, until=0.1, metrics="verdict", stepper=jp.MoreauJean(1e-3))
    assert table.status[0] == 3 and "does not repeat" in str(table.outcome.values[0])
