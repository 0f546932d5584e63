"""Programs of chains with play in every joint grow with their joints, not with the square."""

import re

import pytest

import jointplay as jp
from jointplay.engine.program import Program, listing, trace
from jointplay.physics.march import Text
from jointplay.system import System

RUNGE_KUTTA = jp.FixedRungeKutta(1e-4, order=4)


def program(joints: int, contact: jp.Rigid | jp.Following, stepper: jp.Stepper) -> Program:
    """The program of a step, traced and not compiled."""
    chain = jp.library.pendulum(joints)
    for name in chain.joints:
        chain = chain.loosen(name, "1 mm", journal_radius="10 mm", contact=contact)
    system = System(chain)
    given = jp.Simulation(jp.library.pendulum(1), jp.FixedRungeKutta(1e-4)).program.defaults
    return trace(Text(system.equations(), system.contacts, stepper, {}), {}, given | system.parameters)


@pytest.mark.parametrize(
    ("contact", "stepper"),
    [
        (jp.Rigid(friction=0.1, restitution=0.3), jp.MoreauJean(1e-4)),
        (jp.Following(on_loss="continue"), RUNGE_KUTTA),
    ],
)
def test_each_loose_joint_brings_as_many_operations_as_the_one_before(contact, stepper):
    few, more, most = (program(n, contact, stepper).operations for n in (4, 5, 6))
    assert most - more == pytest.approx(more - few, rel=0.02)


def test_permanent_contacts_are_watched_together():
    """A step evaluates the equations as often for three as for two, but where one of them may pull."""
    watched = (listing(program(n, jp.Following(on_loss="continue"), RUNGE_KUTTA)) for n in (2, 3))
    calls = [len(re.findall(r"^ {6}\S.*= call", text, re.M)) for text in watched]
    assert calls[0] == calls[1] > 0
