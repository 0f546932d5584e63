"""Exponents of systems whose exponents are known, by both ways; what is refused."""

import numpy as np
import pytest

import jointplay as jp
from jointplay.analysis import exponent, exponents, sweep, textbook


def test_logistic_map():
    assert exponent(textbook.logistic(lanes=2), 4000, 1).value == pytest.approx(np.log(2), abs=0.005)
    [tangent] = exponents(textbook.logistic(), 20_000)
    assert tangent.value == pytest.approx(np.log(2), abs=0.005) and tangent.sign == 1


def test_henon():
    first, second = exponents(textbook.henon(), 100_000)
    assert first.value == pytest.approx(0.419, abs=0.004)
    assert first.value + second.value == pytest.approx(np.log(0.3), abs=1e-10)


def test_lorenz_by_both_ways():
    lorenz = textbook.lorenz(step=5e-3)
    lorenz.advance(20.0)
    found = exponents(lorenz, 4000.0)
    assert found[0].value == pytest.approx(0.9056, rel=0.01)
    assert found[1].value == pytest.approx(0.0, abs=0.005)
    assert sum(one.value for one in found) == pytest.approx(-(10 + 1 + 8 / 3), rel=1e-6)
    pair = textbook.lorenz(step=5e-3, lanes=2)
    pair.advance(20.0)
    other = exponent(pair, 600.0, 0.5)
    assert abs(other.value - found[0].value) < 4 * other.error and other.error < 0.03
    assert len(other.curve) == len(other.time) and other.curve[-1] == pytest.approx(other.value)


def test_a_damped_swing_loses_by_its_damping():
    def rates(t, s, p):
        return {"x": s.v, "v": -s.x - 0.2 * s.v}

    swing = jp.analysis.Flow(rates, {"x": 1.0, "v": 0.0}, step=1e-2, lanes=2)
    found = exponent(swing, 200.0, 1.0, separation=1e-3)
    assert found.value == pytest.approx(-0.1, abs=0.01) and found.sign == -1


def test_impacts_are_differentiated():
    whole = exponents(textbook.impact_oscillator(), 1500.0)
    pair = textbook.impact_oscillator(lanes=2)
    other = exponent(pair, 1500.0, 2 * np.pi / 2.8 / 8)
    assert whole[0].sign == other.sign == 1
    assert abs(whole[0].value - other.value) < 4 * np.hypot(whole[0].error, other.error)


def test_the_sweep_tells_an_artefact():
    def make(steps):
        thing = textbook.duffing(force=0.2, steps=round(steps), lanes=2)
        thing.advance(100.0)
        return thing

    found = sweep(make, [100, 200], [1e-9, 1e-7], 200.0, 2 * np.pi / 1.2)
    assert found.values.shape == (2, 2) and (found.values < 0).all()
    assert found.error >= found.best.error and found.values.std() < 0.02


def test_a_simulation_in_two_lanes():
    pendulum = jp.library.pendulum()
    sim = jp.Simulation(pendulum, lanes=2, share=True, until=20.0, start={"bar1": 0.5})
    found = exponent(sim, 20.0, 0.5, separation=1e-6)
    assert abs(found.value) < 0.3  # a conservative swing of one degree of freedom


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: textbook.lorenz(), "needs 2 lanes"),
        (lambda: jp.Simulation(jp.library.pendulum(), lanes=2), "share=True"),
        (lambda: jp.Simulation(jp.library.slider_crank(speed=10.0), lanes=2, share=True), "leave no freedom"),
    ],
)
def test_what_is_refused(make, text):
    with pytest.raises(ValueError, match=text):
        exponent(make(), 1.0)


def test_a_simulation_shows_no_text():
    with pytest.raises(ValueError, match="two trajectories"):
        exponents(jp.Simulation(jp.library.pendulum()), 1.0)


def test_an_exponent_of_rigid_contact_does_not_depend_on_how_often_it_is_set_back():
    """A journal that slides round its bearing without friction: set back off the contact, or with the forces of the
    last step learnt anew, the second trajectory was kicked each time."""
    rocker = jp.library.crank_rocker_2016(3e-3, friction=0.0).replace(
        drives={"motor": {"kind": "angle", "of": "crank", "motion": {"kind": "constant_speed", "speed": 6.0}}}
    )
    simulation = jp.Simulation(rocker, jp.MoreauJean(1e-4), lanes=2, share=True, reclose=True)
    simulation.advance(1.0)
    here, found = simulation.snapshot(), []
    for every in (0.08, 0.01):
        simulation.reset(here)
        found.append(exponent(simulation, 4.0, every, 1e-6))
    assert abs(found[0].value - found[1].value) < 2 * found[0].error, found


def test_a_neighbour_keeps_closed_contacts_and_what_joints_leave_open():
    rocker = jp.library.crank_rocker_2016(3e-3, friction=0.0)
    simulation = jp.Simulation(rocker, jp.MoreauJean(1e-4), lanes=2, share=True, reclose=True)
    while not simulation.observe(["J2.mode"])[0, 0]:
        simulation.step(1)
    simulation.step(20)
    assert simulation.observe(["J2.mode"])[0, 0]
    simulation.beside(1, 0, 1e-6 * np.random.default_rng(3).normal(size=len(simulation.names)))
    gaps = simulation.observe(["J2.gap", "J2.mode"])
    assert abs(gaps[1, 0] - gaps[0, 0]) < 1e-15 and gaps[1, 1] == gaps[0, 1]
    assert 1e-7 < np.linalg.norm(simulation.state[1] - simulation.state[0]) < 1e-4
    forces = simulation.observe(["J2.normal.recent", "step.recent"])
    assert np.array_equal(forces[0], forces[1])
