"""Periodic orbits, multipliers, diagrams and basins, against closed forms and the exact impact map."""

import math

import numpy as np
import pytest
from scipy.optimize import fsolve

import jointplay as jp
from jointplay.analysis import Strobe, basins, bifurcation, periodic_orbit, points, textbook
from tests.analysis.impact_map import ImpactMap


def struck(frequency, settle=0, **numbers):
    """The impact oscillator once a period of its force, settled for so many of them."""
    strobe = Strobe(textbook.impact_oscillator(frequency, **numbers), 2 * math.pi / frequency)
    strobe.step(settle)
    return strobe


def test_flight_and_impacts_are_exact():
    exact, thing = ImpactMap(2.8, 0.8), textbook.impact_oscillator(2.8)
    for _ in range(6):
        thing.step(40)
        x, v, impacts = exact.state(0.0, -0.5, 0.0, float(thing.time[0]))
        assert thing.state[0] == pytest.approx([x, v], abs=1e-11)
    assert impacts > 3


@pytest.mark.parametrize("frequency", [2.3, 2.62])
def test_multipliers_of_the_impact_map(frequency):
    exact, period = ImpactMap(frequency, 0.8), 2 * math.pi / frequency
    strobe = struck(frequency, 120)
    orbit = periodic_orbit(strobe)
    assert orbit.converged and orbit.stable
    at, v = exact.strike(0.0, *orbit.state)

    def missing(y):
        later, speed = exact.next(*y)
        return later - y[0] - period, speed - y[1]

    t, v = fsolve(missing, [at, v], xtol=1e-13)
    assert exact.flight(t, 0.0, v, period) == pytest.approx(orbit.state, abs=1e-9)
    multipliers = np.linalg.eigvals(exact.jacobian(t, v))
    assert sorted(np.abs(orbit.multipliers)) == pytest.approx(sorted(np.abs(multipliers)), abs=1e-5)
    assert np.prod(orbit.multipliers).real == pytest.approx(0.8**2, abs=1e-6)  # what impacts leave of an area


def test_an_unstable_orbit_is_found_beyond_the_doubling():
    strobe = struck(2.66, 400)
    assert jp.analysis.repeat(points(strobe, 30)[:, 0], strobe.names, 1e-7).multiple == 2
    before = struck(2.64, 400)
    calm = periodic_orbit(before)
    assert calm.stable and -1.64 < calm.multipliers.sum().real < -1.4  # -1 - 0.8^2 where one is -1
    doubled = struck(2.66, 400)
    doubled.perturb(calm.state - doubled.state[0])
    orbit = periodic_orbit(doubled, iterations=20)
    assert orbit.converged and not orbit.stable and orbit.multipliers.real.min() < -1
    assert orbit.multipliers.sum().real < -1.64


def test_linear_multipliers_before_grazing():
    z, frequency = 0.05, 2.0
    strobe = struck(frequency, 60, damping=z, gap=1.0)
    orbit = periodic_orbit(strobe)
    period = 2 * math.pi / frequency
    expected = np.exp((-z + 1j * math.sqrt(1 - z * z)) * period)
    assert np.sort_complex(orbit.multipliers) == pytest.approx(
        np.sort_complex([expected, expected.conjugate()]), abs=1e-8
    )


def test_the_diagram_of_the_logistic_map():
    values = [2.9, 3.3, 3.5, 3.55, 3.83, 3.9]
    found = bifurcation(textbook_logistic, "r", values, "x", keep=64, skip=3000, tolerance=1e-9)
    assert found.period.values[0].tolist() == [1, 2, 4, 8, 3, 0]
    assert found.x.sel(r=2.9).values == pytest.approx(1 - 1 / 2.9)
    both = bifurcation(textbook_logistic, "r", values[:3], "x", keep=16, skip=500, follow=True)
    assert both.direction.values.tolist() == ["forward", "backward"]
    assert np.array_equal(both.period[0], both.period[1])
    with pytest.raises(ValueError, match="no signal 'y'"):
        bifurcation(textbook_logistic, "r", values, "y")


def textbook_logistic(lanes):
    return textbook.logistic(lanes=lanes)


def test_basins_of_two_wells():
    def make(lanes):
        return Strobe(textbook.duffing(damping=0.5, force=0.05, steps=60, lanes=lanes), 2 * math.pi / 1.2)

    found = basins(make, ("x", [-1.2, -0.8, 0.8, 1.2]), ("v", [0.0, 0.05]), skip=60)
    assert found.attrs["attractors"] == 2
    assert len(set(found.attractor.sel(x=-0.8).values) | set(found.attractor.sel(x=0.8).values)) == 2


def test_the_orbit_of_a_mechanism():
    swing = jp.library.pendulum().replace(
        forces={
            "shaker": {"kind": "torque", "on": "bar1", "torque": jp.sine(0.2, 3.0)},
            "damper": {"kind": "torsion", "between": ["ground", "bar1"], "damping": 0.5},
        }
    )
    period = 2 * math.pi / 3
    sim = jp.Simulation(swing, jp.FixedRungeKutta(period / 400), lanes=2, share=True, until=60.0)
    strobe = Strobe(sim, period)
    strobe.step(3)
    orbit = periodic_orbit(strobe, iterations=8, tolerance=1e-9)
    assert orbit.converged and orbit.stable and len(orbit.multipliers) == 2
    bar = swing.bodies["bar1"]
    inertia = bar.inertia + bar.mass * bar.length**2 / 4
    assert abs(np.prod(orbit.multipliers)) == pytest.approx(math.exp(-0.5 / inertia * period), rel=1e-5)
    with pytest.raises(ValueError, match=r"chosen steps are others, .* give the Simulation steps of one length"):
        Strobe(jp.Simulation(swing), period)


def test_the_orbit_of_a_pendulum_that_hangs_in_its_bearing():
    """Its journal stays on the bearing: four multipliers, whose product is what the damper leaves (Liouville)."""
    swing = jp.library.pendulum().replace(
        forces={
            "shaker": {"kind": "torque", "on": "bar1", "torque": jp.sine(0.02, 3.0)},
            "damper": {"kind": "torsion", "between": ["ground", "bar1"], "damping": 0.5},
        }
    )
    swing, period = swing.with_({"J1.clearance": 5e-3}), 2 * math.pi / 3
    strobe = Strobe(jp.Simulation(swing, jp.MoreauJean(period / 1000), lanes=2, share=True, reclose=True), period)
    strobe.step(6)
    orbit = periodic_orbit(strobe, iterations=6, tolerance=1e-9)
    assert orbit.converged and orbit.stable and len(orbit.multipliers) == 4
    left = math.exp(-0.5 / swing.bodies["bar1"].inertia * period)  # the journal rolls round as the bar turns
    assert abs(np.prod(orbit.multipliers)) == pytest.approx(left, rel=1e-3)
