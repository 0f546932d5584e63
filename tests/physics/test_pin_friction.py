"""Friction in ideal joints: a pendulum with a rough pin against scipy, order of the steps, the spacecraft."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from jointplay import statics
from jointplay.laws.friction import modified_coulomb
from jointplay.model import library, loads
from jointplay.results import audited
from jointplay.simulation import FixedRungeKutta, MoreauJean, RungeKutta, simulate
from jointplay.system import System

LAW = {"law": "modified_coulomb", "static_friction": 0.3, "friction": 0.2, "v_s": 0.01, "v_d": 0.1}
ROUGH = """
name: rough pendulum
ground: {points: {O: [0, 0]}}
bodies: {arm: {bar: 1, mass: 2}}
joints:
  J: {kind: revolute, between: [ground.O, arm.start], journal_radius: 50 mm,
      pin_friction: {law: modified_coulomb, static_friction: 0.3, friction: 0.2, v_s: 0.01, v_d: 0.1}}
start: {arm: 20 deg, arm.rate: -2}
"""


def by_hand(times):
    """The same pendulum: J a = -m g l/2 cos + torque, |lam| from the acceleration of the mass centre."""
    m, l, g, R = 2.0, 1.0, 9.81, 0.05
    inertia = m * l * l / 3

    def torque(angle, rate):
        c, s = math.cos(angle), math.sin(angle)
        named = {key: x for key, x in LAW.items() if key != "law"}
        mu = float(modified_coulomb(R * rate, 1.0, **named)[0])
        grip = R * mu / math.sqrt(1 + mu * mu)

        def off(t):
            a = (-m * g * l / 2 * c + t) / inertia
            fx = m * l / 2 * (-a * s - rate**2 * c)
            fy = m * l / 2 * (a * c - rate**2 * s) + m * g
            return t - grip * math.hypot(fx, fy)

        return brentq(off, -50, 50, xtol=1e-15, rtol=1e-14)

    def rates(t, y):
        return [y[1], (-m * g * l / 2 * math.cos(y[0]) + torque(*y)) / inertia]

    start = [math.radians(20), -2.0]
    return solve_ivp(rates, (0, times[-1]), start, "DOP853", rtol=1e-12, atol=1e-12, t_eval=times).y


def test_a_rough_pendulum_follows_an_independent_integration():
    run = simulate(loads(ROUGH), 2.0, RungeKutta(1e-10, 1e-12), every=0.02)
    angle, rate = by_hand(run["time"].values)
    assert run["angle"].values[:, 0] == pytest.approx(angle, abs=2e-8)
    assert run["angle_rate"].values[:, 0] == pytest.approx(rate, abs=1e-6)
    lost = float(run["kinetic"][-1] + run["potential"][-1] - run["kinetic"][0] - run["potential"][0])
    assert lost < -0.5 and float(run["work"][-1]) == pytest.approx(lost, abs=1e-6)
    assert audited(run, "energy imbalance") < 1e-6
    pulls = np.hypot(run["force_x"], run["force_y"]).values[:, 0]
    assert (np.abs(run["moment"].values[:, 0]) <= 0.05 * 0.3 / math.sqrt(1.09) * pulls + 1e-9).all()


def test_steps_keep_their_full_order():
    """While the pin slides one way, the error of fixed steps falls with the fifth power."""
    mechanism = loads(ROUGH)
    times = np.array([0.0, 0.1, 0.2])
    angle, _ = by_hand(times)
    errors = []
    for h in (0.02, 0.01, 0.005):
        run = simulate(mechanism, 0.2, FixedRungeKutta(h), every=0.1)
        errors.append(np.abs(run["angle"].values[:, 0] - angle).max())
    assert np.log2(errors[0] / errors[1]) > 4.3 and errors[-1] < 1e-9


def test_the_spacecraft_with_rough_ideal_joints():
    """Reference page of Bai et al. 2026, set A, joints 2 and 4 rough, no play: errors .1129 and .2690 degrees."""
    ideal = library.spacecraft_2026()
    friction = {"law": "modified_coulomb", "static_friction": 0.15, "friction": 0.1, "v_s": 1e-3, "v_d": 1e-2}
    joints = dict(ideal.joints)
    for name in ("J2", "J4"):
        joints[name] = {**joints[name].plain(), "journal_radius": 0.01, "pin_friction": friction}
    rough = simulate(ideal.replace(joints=joints), 5.0, RungeKutta(1e-9, 1e-11))
    smooth = simulate(ideal, 5.0, RungeKutta(1e-9, 1e-11))
    off = np.degrees(np.abs(rough["angle"] - smooth["angle"]).max("time"))
    assert float(off.sel(body="arm1")) == pytest.approx(0.1129, abs=1e-4)
    assert float(off.sel(body="arm2")) == pytest.approx(0.2690, abs=1e-4)


def test_rough_pins_are_refused_where_they_cannot_be():
    with pytest.raises(ValueError, match=r"J.pin_friction: MoreauJean knows no friction in ideal joints"):
        simulate(loads(ROUGH), 0.1, MoreauJean(1e-4))
    with pytest.raises(ValueError, match="journal_radius: is missing; friction in the pin needs one > 0"):
        loads(ROUGH.replace("journal_radius: 50 mm,", ""))
    with pytest.raises(ValueError, match="has states of its own; choose one without"):
        loads(
            ROUGH.replace(
                "{law: modified_coulomb, static_friction: 0.3, friction: 0.2, v_s: 0.01, v_d: 0.1}", "{law: lugre}"
            )
        )


ECCENTRIC = """
gravity: [0, 0]
ground: {{points: {{O: [0, 0]}}}}
bodies:
  crank: {{mass: 1, inertia: 1e-5, points: {{o: [0, 0], p: [5 mm, 0]}}}}
  rod: {{bar: 0.2, mass: 0.5}}
  ram: {{mass: 5, inertia: 0.01}}
joints:
  J1: {{kind: revolute, between: [ground.O, crank.o]}}
  J2: {{kind: revolute, between: [crank.p, rod.start], journal_radius: 40 mm,
       pin_friction: {{law: threlfall, friction: {mu}, v_r: 1e-3}}}}
  J3: {{kind: revolute, between: [rod.end, ram.centre]}}
  J4: {{kind: prismatic, between: [ground.O, ram.centre], axis: [1, 0]}}
forces: {{f: {{kind: force, at: ram.centre, x: 200}}}}
start: {{crank: 1.57, crank.rate: 3, rod: 0}}
"""


@pytest.mark.parametrize("mu", [0.05, 0.12, 0.15, 0.2, 0.3, 0.6])
def test_of_two_solutions_the_one_that_goes_on_from_little_friction_is_taken(mu):
    """An eccentric may lock: torque^2 = g^2 |l + c torque|^2 has two roots from mu = 0.14 on.  The larger one, 20 times
    the other, was taken."""
    press = loads(ECCENTRIC.format(mu=mu))
    run = simulate(press, 1e-6, error=False)
    system = System(press)
    q, v = statics.start(system)[:2]
    here, turned = system.evaluate(q, v), np.zeros(9)
    turned[[2, 5]] = -1.0, 1.0
    rows = [i for i, row in enumerate(system.rows) if row.startswith("J2.")]
    free, loaded = (here.accelerations(more)[1][rows] for more in (np.zeros(9), turned))
    c, g = loaded - free, 0.04 * mu / math.sqrt(1 + mu * mu)
    roots = np.roots([1 - g * g * c @ c, -2 * g * g * free @ c, -g * g * free @ free])
    assert float(run.moment.sel(joint="J2")[0]) == pytest.approx(min(roots[roots > 0]), rel=1e-8)
    assert ("it may lock" in run.notes) is bool((roots > 0).all()) is (mu > 0.14)


@pytest.mark.parametrize(("length", "mass", "time"), [(1e-5, 1e-12, 1.0), (1e3, 1e6, 30.0)])
def test_friction_of_pins_does_not_depend_on_units(length, mass, time):
    """Forces of 1e-16 N were as good as none beside an absolute number, and of 1e8 N m more than 1e-9 was left open."""

    def last(length, mass, time):
        law = f"{{law: threlfall, friction: 0.2, v_r: {1e-3 * length / time}}}"
        pin = f"journal_radius: {0.01 * length}, pin_friction: {law}"
        model = loads(f"""
gravity: [0, {-9.81 * length / time**2}]
ground: {{points: {{O: [0, 0]}}}}
bodies: {{a: {{bar: {0.1 * length}, mass: {mass}}}, b: {{bar: {0.3 * length}, mass: {mass}}}}}
joints:
  A: {{kind: revolute, between: [ground.O, a.start], {pin}}}
  B: {{kind: revolute, between: [a.end, b.start], {pin}}}
start: {{a: 0.5, b: 0.2}}
""")
        return simulate(model, 0.5 * time, error=False).angle.values[-1]

    assert last(length, mass, time) == pytest.approx(last(1.0, 1.0, 1.0), rel=1e-6)
