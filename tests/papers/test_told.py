"""tau7 that is told the branch of the crank: its four-bar in closed form is the model."""

import numpy as np
import pytest

from jointplay.model import library
from jointplay.papers.akhadkar2016_told import closed, error, inferred, reduced
from jointplay.statics.assembly import launch
from jointplay.system import System


@pytest.mark.parametrize("crank", [0.3, 1.571, 2.9, 4.4, 6.0])
def test_the_four_bar_in_closed_form_is_the_model(crank):
    """Its loop, its inertia and its weight as seen from the crank."""

    def begun(angle):
        system = System(library.crank_rocker_2016().with_({"start.crank": angle, "start.crank.rate": 1.0}))
        q, v = launch(system)
        return q, v, system.evaluate(q, v)

    (q, v, here), (_, _, above), (_, _, below) = (begun(crank + off) for off in (0.0, 1e-5, -1e-5))
    inertia, weight, ratio = reduced(crank)
    turned = [np.remainder(x, 2 * np.pi) for x in (q[5], q[8])]
    assert [np.remainder(x, 2 * np.pi) for x in closed(crank)] == pytest.approx(turned, abs=1e-9)
    assert [0.5 * inertia, ratio] == pytest.approx([here.kinetic, v[8]], rel=1e-9)
    assert weight == pytest.approx((above.potential - below.potential) / 2e-5, abs=1e-5)


@pytest.mark.parametrize("crank", [0.3, 1.571, 2.9, 4.4, 6.0])
def test_the_rocker_tells_the_crank_once_the_branch_is_told(crank):
    _, rocker = closed(crank)
    assert inferred(rocker, crank + 0.02) == pytest.approx(crank, abs=1e-6)
    assert inferred(rocker, crank - 0.02 + 4 * np.pi) == pytest.approx(crank + 4 * np.pi, abs=1e-6)


@pytest.mark.parametrize("rate", ["crank", "rocker"])
def test_with_ideal_joints_it_tracks(rate):
    found, _, ended = error(rate, (0.0, 0.0), 1.1)
    assert ended and found < 0.03  # deg: what is left of a start 90 degrees off, and torques that are held
