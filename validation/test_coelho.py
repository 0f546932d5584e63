"""The study of Hess Coelho, Orsino and Coutinho: formulas, balance, inverse dynamics, sliding mode."""

import numpy as np
import pytest

from jointplay.model import control, library
from jointplay.papers import STUDIES
from jointplay.papers.coelho import ANGLES, START, controlled, tip_motion
from jointplay.simulation import RungeKutta, simulate
from jointplay.statics import references


def test_records(record):
    found = list(STUDIES["coelho"].records())
    for one in found:
        record(**one.as_dict())
    assert len(found) > 85
    off = [(one.item, one.quantity) for one in found if one.verdict == "differs"]
    decoupled = ("definition 3.1", "residual of the test of balance: decoupling")
    assert off == [decoupled, ("section 1", "coupling of the inputs")]


def test_joint_references_from_the_tip_do_as_well():
    """Splines through the joint angles that move the tip as wanted, in place of inverse kinematics written out."""
    run, error = controlled("T2", True)
    mechanism = library.coelho_five_bar()
    tip = {f"left_outer.end.{axis}": motion for axis, motion in tip_motion("T2").items()}
    wanted = references(mechanism, tip, ANGLES, until=1.1)
    loop = control.sliding_mode(ANGLES, wanted, actuators=["J1", "J5"], cut="J3", slope=40, k=10, steepness=159.1)
    rates = dict(zip(("left_inner.rate", "right_inner.rate"), START["T2"], strict=True))
    tables = simulate(mechanism, 1.0, RungeKutta(rtol=1e-10, atol=1e-12), every=1e-3, start=rates, control=loop)
    other = np.linalg.norm(tables.tracking_error.values, axis=1)
    assert np.abs(tables.reference.values - run.reference.values).max() < 1e-9
    assert other.max() == pytest.approx(error.max(), rel=1e-7)
    assert tables.control.values[0] == pytest.approx(run.control.values[0], rel=1e-4)
