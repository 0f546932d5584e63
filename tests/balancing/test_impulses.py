"""Impacts of rigid contact shake by impulses, and between them a force is a force."""

import math

import numpy as np
import pytest

import jointplay as jp
from jointplay import balancing, plots


def dropped():
    return jp.Mechanism(
        name="drop",
        ground={"points": {"O": (0, 0)}},
        bodies={"b": {"mass": 2.0, "inertia": 1e-2}},
        joints={
            "S": {
                "kind": "slot", "between": ["ground.O", "b.centre"], "axis": [0, 1], "lower": -1.0,
                "stop_restitution": 0.5,
            }
        },
        start={"b.y": 0.0, "b.x": 0.0},
    )  # fmt: skip


def test_a_body_that_falls_onto_its_stop():
    """The impulses were in nothing: the shaking force was m g all the time, and its integral 81 times that of the
    momentum."""
    run = jp.simulate(dropped(), until=1.2, error=False)
    found = balancing.shaking(run, pole=(3, 0))
    speed = math.sqrt(2 * 9.81 * 1.0)
    down = np.array([2.0 * 1.5 * speed, 2.0 * 1.5 * speed / 2, 2.0 * 1.5 * speed / 4])
    told = found.impulse_y.values[found.impulse_y.values != 0]
    assert told == pytest.approx(-down[: len(told)], rel=1e-6) and len(told) >= 2
    assert found.impulse_moment.values == pytest.approx(-3 * found.impulse_y.values, abs=1e-9)
    assert "impulses of up to 13.3 N s and 39.9 N m s" in found.note
    assert found.force.max() == pytest.approx(2 * 9.81)


@pytest.mark.parametrize("stepper", [None, jp.MoreauJean(2e-5)])
def test_forces_and_impulses_together_are_the_change_of_the_momentum(stepper):
    loose = jp.library.slider_crank(speed=30.0).loosen("J3", 5e-4, contact=jp.Rigid(restitution=0.5))
    loose = loose.replace(journals="centred")
    run = jp.simulate(loose, until=0.04, every=1e-4, stepper=stepper, error=False)
    found, masses = balancing.shaking(run), np.array([b.whole()[0] for b in loose.bodies.values()])
    for axis in "xy":
        momentum = (run[f"{axis}_rate"].values * masses).sum(axis=1)
        force = float(np.trapezoid(found[f"force_{axis}"], found.time))
        whole = force + float(found[f"impulse_{axis}"].sum())
        assert whole == pytest.approx(momentum[0] - momentum[-1], abs=0.02)
        assert abs(force - (momentum[0] - momentum[-1])) > 0.3  # what was told before
    shaken = found.impulse.values > 1e-3 * float(found.impulse.max())
    assert 2 <= shaken.sum() <= run.sizes["impact"]


def test_the_figure_shows_them_and_compliant_contact_has_none():
    run = jp.simulate(dropped(), until=0.6, error=False)
    figure = plots.shaking(run)
    assert [ax.get_ylabel() for ax in figure.axes[2:]] == ["impulses (N s)", "impulses (N m s)"]
    held = jp.library.slider_crank(speed=30.0)
    assert "impulse" not in balancing.shaking(jp.simulate(held, until=0.01, error=False))
