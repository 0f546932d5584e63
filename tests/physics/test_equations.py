"""The matrix of constraints and the equations of motion: against differences, closed forms and published values."""

import math

import numpy as np
import pytest

from jointplay.elements import Drive, Joint, Load
from jointplay.model import library, loads
from jointplay.run import Run
from jointplay.statics import start
from jointplay.system import System

EVERY_KIND = """
name: every kind
ground: {points: {O: [0, 0], P: [0.3, -0.2]}}
bodies:
  a: {bar: 300 mm, mass: 1 kg}
  b: {mass: 2 kg, inertia: 0.1 kg*m^2, points: {p: [0.1, 0.2], r: [-0.2, 0.05]}, centre: [0.01, -0.02]}
  c: {bar: 0.5, mass: 1.5}
joints:
  J1: {kind: revolute, between: [ground.O, a.start]}
  J2: {kind: revolute, between: [a.end, b.p], clearance: 2 mm, contact: {kind: following}}
  J3: {kind: prismatic, between: [b.r, c.start], axis: [1, 2], angle: 20 deg}
  J4: {kind: slot, between: [c.end, a.end], axis: [0, 1]}
  J5: {kind: rod, between: [ground.P, b.r], length: 0.4}
  J6: {kind: gear, between: [a, c], ratio: -2.5, offset: 0.3}
  J7: {kind: weld, between: [b.p, c.end], angle: -0.4}
drives:
  D1: {kind: angle, of: a, motion: {kind: sine, amplitude: 0.4, frequency: 3.0, phase: 0.2}}
  D2: {kind: angle, of: J1, motion: {kind: polynomial, coefficients: [0.1, 0.2, 0.3]}}
  D3: {kind: position, of: J3, motion: {kind: cycloidal, end: 0.2, begin: 0.1, duration: 2.0}}
  D4: {kind: x, of: b.r, motion: {kind: table, times: [0, 1, 2, 4], values: [0.1, 0.3, 0.2, 0.1]}}
  D5: {kind: y, of: c, motion: {kind: constant_speed, speed: 0.3}}
  D6: {kind: rate, of: b, motion: {kind: sum, terms: [{kind: sine, amplitude: 0.3, frequency: 2.0}, 0.4]}}
forces:
  f1: {kind: force, at: b.r, x: 3.0, y: {kind: sine, amplitude: 2.0, frequency: 5.0}}
  f2: {kind: torque, on: c, torque: 0.7}
  f3: {kind: motor, between: [a, b], torque: 1.1}
  f4: {kind: spring, between: [ground.P, c.end], stiffness: 100.0, damping: 3.0, free_length: 0.2}
  f5: {kind: torsion, between: [b, c], stiffness: 5.0, damping: 0.5, free_angle: 0.1}
"""


@pytest.fixture(scope="module")
def system():
    return System(loads(EVERY_KIND))


def test_every_kind_of_joint_drive_and_force_is_here(system):
    """A new kind must be added to the mechanism above: then it is held against differences in every mode."""
    mechanism = system.mechanism
    used = {type(x) for section in (mechanism.joints, mechanism.drives, mechanism.forces) for x in section.values()}
    kinds = {kind for family in (Joint, Drive, Load) for kind in family.kinds().values()}
    assert used == {kind for kind in kinds if kind.__module__.startswith("jointplay.")}


def test_all_modes_give_the_same_equations(system):
    """One lane and four have the same bits; Python without machine code has those of the build without fma."""
    rng = np.random.default_rng(5)
    names = [*system.coordinates, *(f"{c}.rate" for c in system.coordinates)]
    states = [dict(zip(names, rng.normal(size=len(names)), strict=True)) for _ in range(4)]

    def row(**mode):
        run = Run(system.traced.program, {"time": 0.7}, states[0], **mode)
        run.advance(1)
        return np.array(list(run.rows("equations").values()))[:, 0]

    together = Run(system.traced.program, lanes=4)
    for lane, state in enumerate(states):
        together.start(lane, {"time": 0.7}, state)
    together.advance(1)
    for lane, state in enumerate(states):
        alone = Run(system.traced.program, {"time": 0.7}, state)
        alone.advance(1)
        assert list(alone.rows("equations").values()) == list(together.rows("equations", lane).values())
    eager = row(eager=True)
    assert (eager == row(fma=False)).all() and eager == pytest.approx(row(), rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_every_kind_against_differences(system, seed):
    rng = np.random.default_rng(seed)
    q, v, t = rng.normal(size=9) * 0.4, rng.normal(size=9), rng.uniform(0.3, 1.9)
    here, step = system.evaluate(q, v, t), 1e-5

    def central(f):
        return (f(step) - f(-step)) / (2 * step)

    placed = [i for i, label in enumerate(system.rows) if not label.endswith(".rate")]  # a rate has no position
    for j, unit in enumerate(np.eye(9)):
        slopes = central(lambda e, u=unit: system.evaluate(q + e * u, v, t).residual)
        assert here.B[placed, j] == pytest.approx(slopes[placed], abs=1e-6)
    explicit = central(lambda e: system.evaluate(q, v, t + e).residual)
    assert here.speed[placed] == pytest.approx(-explicit[placed], abs=1e-6)
    rate = system.rows.index("D6.rate")
    assert here.B[rate] == pytest.approx(np.eye(9)[5]) and here.residual[rate] == 0
    assert here.speed[rate] == pytest.approx(0.4 + 0.3 * math.sin(2.0 * t), rel=1e-14)
    moving = lambda e: system.evaluate(q + e * v, v, t + e)  # noqa: E731
    assert here.Bdot == pytest.approx(central(lambda e: moving(e).B), abs=1e-5)
    assert here.rhs == pytest.approx(-central(lambda e: moving(e).B @ v - moving(e).speed), abs=1e-4)


def test_labels_name_joints_drives_and_coordinates(system):
    assert system.coordinates[:4] == ["a.x", "a.y", "a.angle", "b.x"]
    assert system.rows[:4] == ["J1.x", "J1.y", "J2.distance", "J3.across"]
    assert system.rows[-3:] == ["D4.x", "D5.y", "D6.rate"] and len(system.rows) == 17


def test_internal_forces_do_no_work_on_a_common_motion(system):
    rng = np.random.default_rng(1)
    q = rng.normal(size=9) * 0.3
    quiet = System(loads(EVERY_KIND).with_({"f1.x": 0.0, "f1.y.amplitude": 0.0, "f2.torque": 0.0, "f4.stiffness": 0.0}))
    F = quiet.evaluate(q, np.zeros(9)).F
    weight = np.array([1.0, 2.0, 1.5]) * -9.81
    assert F[1::3] == pytest.approx(weight) and F[0::3] == pytest.approx(0.0)
    assert sum(F[2::3]) == pytest.approx(0.0, abs=1e-12)  # motor and torsional spring: equal and opposite


def test_spring_force_is_the_slope_of_its_energy(system):
    base = loads(EVERY_KIND).with_({"f4.damping": 0.0})
    with_spring, without = System(base), System(base.with_({"f4.stiffness": 0.0}))
    q = np.random.default_rng(2).normal(size=9) * 0.4

    def energy(q):
        x, y, angle = q[6:9]
        end = np.array([x + 0.25 * math.cos(angle), y + 0.25 * math.sin(angle)])
        return 0.5 * 100.0 * (np.linalg.norm(end - [0.3, -0.2]) - 0.2) ** 2

    slope = [(energy(q + e) - energy(q - e)) / 2e-6 for e in np.eye(9) * 1e-6]
    assert pytest.approx(-np.array(slope), abs=1e-6) == with_spring.evaluate(q).F - without.evaluate(q).F


def test_a_pendulum_accelerates_as_the_textbook_says():
    system = System(library.pendulum(1))
    [body] = system.mechanism.bodies.values()
    angle, rate, r = 0.4, 1.3, body.length / 2
    arm = r * np.array([math.cos(angle), math.sin(angle)])
    q, v = [*arm, angle], [-rate * arm[1], rate * arm[0], rate]
    acceleration, reaction = system.evaluate(q, v).accelerations()
    inertia = body.inertia + body.mass * r**2
    assert acceleration[2] == pytest.approx(-body.mass * 9.81 * r * math.cos(angle) / inertia, rel=1e-12)
    held = body.mass * (acceleration[:2] - [0, -9.81])
    assert np.abs(reaction) == pytest.approx(np.abs(held), rel=1e-12)


def test_a_point_mass_on_a_pin_accelerates_as_the_textbook_says():
    """No inertia, so that the matrix of masses alone cannot be inverted: the pin holds the body all the same."""
    system = System(loads("""
        name: point
        ground: {points: {O: [0, 0]}}
        bodies: {b: {mass: 2 kg, inertia: 0, points: {pin: [0, 0.5]}}}
        joints: {J: {kind: revolute, between: [ground.O, b.pin]}}
    """))  # fmt: skip
    angle, rate = 0.3, 1.1
    arm = 0.5 * np.array([math.sin(angle), -math.cos(angle)])
    acceleration, reaction = system.evaluate([*arm, angle], [-rate * arm[1], rate * arm[0], rate]).accelerations()
    assert acceleration[2] == pytest.approx(-9.81 / 0.5 * math.sin(angle), rel=1e-12)
    assert np.linalg.norm(reaction) == pytest.approx(2 * (9.81 * math.cos(angle) + 0.5 * rate**2), rel=1e-12)


def test_grigore_figure_5_rests_at_its_published_equilibrium():
    """s1: crank locked at 60 degrees, N = 3.67698 N at q = (.20716037, ..., -1.83260899)."""
    mechanism = library.grigore_figure_5()
    locked = System(mechanism.with_({"O2x.frequency": 1e-12, "O2y.frequency": 1e-12}))
    q = np.array([0.20716037, 0.16358058, 0.45545892, 0.33235398, 0.12074030, -1.83260899])
    here = locked.evaluate(q)
    assert here.B.shape == (5, 6) and np.linalg.matrix_rank(here.B) == 5
    assert here.residual == pytest.approx(0.0, abs=2e-8)
    _, reactions = here.accelerations()
    N = -reactions[locked.rows.index("O3.distance")]
    assert pytest.approx(3.67698, abs=5e-4) == N
    # an equilibrium to the digits printed: what is left of the forces is far below the weights
    multipliers, *_ = np.linalg.lstsq(here.B.T, -here.F, rcond=None)
    assert here.B.T @ multipliers + here.F == pytest.approx(0.0, abs=1e-4)
    assert -multipliers[locked.rows.index("O3.distance")] == pytest.approx(3.67698, abs=1e-4)


def test_grigore_figure_6_has_twelve_rows_and_three_degrees_of_freedom():
    system = System(library.grigore_figure_6())
    start = system.mechanism.start
    q = [start.get(c.removesuffix(".angle"), 0.1 * i) for i, c in enumerate(system.coordinates)]
    B = system.evaluate(q).B
    free = [i for i, row in enumerate(system.rows) if row.split(".")[0] in system.mechanism.joints]
    assert B.shape[1] == 15 and len(free) == 12
    assert 15 - np.linalg.matrix_rank(B[free]) == 3


def test_wrong_sizes_are_named(system):
    with pytest.raises(ValueError, match=r"expected 9 numbers for a.x, a.y, a.angle"):
        system.evaluate([0.0] * 6)


def test_reactions_balance_every_body(system):
    """Inertia = applied forces + the reactions of all joints and drives, moments taken about the mass centre."""
    mechanism = loads("""
ground: {points: {O: [0, 0], P: [0.9, 0.1], S: [0, -0.2]}}
bodies:
  a: {bar: 0.3, mass: 1}
  b: {bar: 0.8, mass: 2}
  c: {mass: 0.5, inertia: 0.01, points: {p: [0.02, 0.01]}}
joints:
  J1: {kind: revolute, between: [a.start, ground.O]}
  J2: {kind: revolute, between: [a.end, b.start]}
  J3: {kind: weld, between: [b.end, c.p], angle: 0.3}
start: {a: 1.0, b: 0.2, c: 0.5, a.rate: 2.0, b.rate: -1.0}
""")
    tree = System(mechanism)
    q, v = start(tree)
    here = tree.evaluate(q, v)
    a, lam = here.accelerations()
    joints = dict(zip(mechanism.joints, (here.reactions @ lam).reshape(-1, 3), strict=True))
    place = dict(zip(mechanism.bodies, q.reshape(-1, 3), strict=True))

    def arm(body, point):
        x, y = mechanism.bodies[body].arm(point)
        turn = place[body][2]
        return np.array([math.cos(turn) * x - math.sin(turn) * y, math.sin(turn) * x + math.cos(turn) * y])

    for body, ends in {"a": [("J1", "start", -1), ("J2", "end", -1)], "b": [("J2", "start", 1), ("J3", "end", -1)],
                       "c": [("J3", "p", 1)]}.items():  # fmt: skip
        i = 3 * list(mechanism.bodies).index(body)
        total = np.array(here.F[i : i + 3])
        for joint, point, sign in ends:
            x, y, moment = sign * joints[joint]
            rx, ry = arm(body, point)
            total += [x, y, moment + rx * y - ry * x]
        assert total == pytest.approx(np.diag(here.M)[i : i + 3] * a[i : i + 3], abs=1e-10)
