"""Free motion at fixed steps of second order: the energy swings with h^2, and has a slow trend (docs/second_order.md).

The part of the trend in h^2 changes its sign where the same motion runs backwards, the part in h^3 does not: that tells
them apart.  The first is known from the motion, by quadrature over one turn.
"""

import numpy as np
import pytest

from jointplay.model import library, loads
from jointplay.simulation import MoreauJean, RungeKutta, Simulation, simulate
from jointplay.system import System

RODS = """
gravity: [3, -9.81]
ground: {points: {J1: [0, 0], J4: [3, 0]}}
bodies:
  crank: {mass: 1, inertia: 0.0833, points: {start: [-0.5, 0], end: [0.5, 0]}}
  rocker: {mass: 1, inertia: 0.521, points: {start: [-1.25, 0], end: [1.25, 0]}}
joints:
  J1: {kind: revolute, between: [ground.J1, crank.start]}
  J4: {kind: revolute, between: [ground.J4, rocker.start]}
  R: {kind: rod, between: [crank.end, rocker.end], length: 4}
start: {crank: 1.571, rocker: 0.93}
"""
MECHANISMS = {"revolute joints": library.crank_rocker_2016(), "a rod": loads(RODS)}


def start(rate):
    return {"crank": 1.571, "crank.rate": rate}


def trend(mechanism, h, rate, until=100.0):
    """The slope (W) of the line through the energy, and how far the energy is from it (J)."""
    simulation = Simulation(mechanism, MoreauJean(h), start=start(rate), reclose=True)
    times, found = np.linspace(0.0, until, 751)[1:], []
    for t in times:
        simulation.advance(float(t))
        found.append(simulation.energy(0))
    line = np.polyfit(times, found, 1)
    return float(line[0]), float(np.abs(found - np.polyval(line, times)).max())


def predicted(mechanism):
    """The part of the trend in h^2, over h^2, by the motion: mean over a turn of (3/4 a - b/12) B'^T lam, with the
    accelerations a and their part b that the joints leave free."""
    options = {"stepper": RungeKutta(1e-10, 1e-12), "start": start(10.0), "reclose": True}
    turning = simulate(mechanism, 1.0, every=1e-3, **options)
    turned = turning["angle"].sel(body="crank").values - 1.571
    period = float(np.interp(2 * np.pi, turned, turning["time"]))
    run, system, found = simulate(mechanism, period, every=period / 200, **options), System(mechanism), []
    q, v = (np.stack([run[name + end] for name in ("x", "y", "angle")], axis=-1) for end in ("", "_rate"))
    for place, rates in zip(q[:-1], v[:-1], strict=True):
        here = system.evaluate(place.ravel(), rates.ravel())
        a, lam = here.accelerations()
        answers = np.linalg.solve(here.M, here.B.T)
        free = a - answers @ np.linalg.solve(here.B @ answers, here.B @ a)
        found.append((0.75 * a - free / 12) @ here.Bdot.T @ lam)
    return float(np.mean(found))


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_trend_of_the_energy_is_the_one_that_is_derived(name):
    odd, even, swing = [], [], []
    for h in (4e-4, 2e-4):
        (there, far), (back, _) = (trend(MECHANISMS[name], h, rate) for rate in (10.0, -10.0))
        odd.append((there - back) / 2 / h**2)
        even.append((there + back) / 2)
        swing.append(far)
    assert odd == pytest.approx([predicted(MECHANISMS[name])] * 2, rel=0.03)
    assert even[0] / even[1] == pytest.approx(8.0, rel=0.1)
    assert swing[0] / swing[1] == pytest.approx(4.0, rel=0.1)
