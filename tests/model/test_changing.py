"""with_: the quick way of a study's numbers gives what building the mechanism anew gives, and refuses the same."""

import numpy as np
import pytest

import jointplay as jp
from jointplay.errors import InputError
from jointplay.system import System

MECHANISMS = {
    "play": jp.library.crank_rocker_2016(clearance2=1e-3).replace(
        forces={"motor": {"kind": "torque", "on": "crank", "torque": 6.0}}, start={"crank": 0.3, "crank.rate": 1.0}
    ),
    "driven": jp.library.slider_crank(speed=10.0),
    "steered": jp.library.pendulum().replace(control=jp.control.pd("bar1", jp.sine(1.0, 2.0), k1=10.0, k2=1.0)),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_number_changes_as_if_the_mechanism_were_built_anew(name):
    mechanism = MECHANISMS[name]
    before = mechanism.addresses()
    for address, x in before.items():
        try:
            other = mechanism.with_({address: 0.9 * x + 1e-3})
        except InputError as error:  # a mass centre elsewhere needs an inertia, the play of a guide a length
            assert "is missing" in str(error)
            continue
        anew = other.replace()  # validates all of it
        assert other == anew and other.addresses() == anew.addresses() and other.plain() == anew.plain(), address
        assert other.value(address) == 0.9 * x + 1e-3 and hash(other) == hash(anew)
        assert other.closed().addresses() == anew.closed().addresses()
    assert mechanism.addresses() == before


@pytest.mark.parametrize(
    ("address", "x", "said"),
    [
        ("J2.clearance", -1e-3, r"joints.J2.clearance: must be >= 0"),
        ("crank.mass", -1.0, r"bodies.crank.mass"),
        ("start.crank", 1e9, r"start.crank"),
        ("J2.clearance", "3 kg", r"joints.J2.clearance"),
    ],
)
def test_a_number_that_cannot_be_is_refused_where_it_stands(address, x, said):
    with pytest.raises(InputError, match=said):
        MECHANISMS["play"].with_({address: x})


def test_a_system_of_other_numbers_has_the_numbers_of_its_mechanism():
    mechanism = MECHANISMS["play"]
    system = System(mechanism)
    for changes in ({"crank.mass": 2.0}, {"J2.clearance": 2e-3, "crank.mass": 3.0}, {"J2.friction": 0.2},
                    {"motor.torque": 0.0}, {"crank.length": 1.2}, {"start.crank": 0.4}):  # fmt: skip
        quick, anew = system.with_(changes), System(mechanism.with_(changes))
        assert quick.parameters == anew.parameters and quick.structure == anew.structure, changes
        assert np.array_equal(quick.sizes, anew.sizes), changes
        q = np.linspace(0.1, 0.9, len(quick.coordinates))
        assert np.array_equal(quick.evaluate(q).F, anew.evaluate(q).F), changes


def test_a_body_without_inertia_is_refused_also_beside_one_that_has_it():
    fine = jp.library.pendulum()
    simulation = jp.Simulation(fine, jp.FixedRungeKutta(1e-3), until=0.01)
    with pytest.raises(InputError, match="inertia"):
        simulation.reset(numbers={"bar1.inertia": 0.0})
