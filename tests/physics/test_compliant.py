"""Compliant contact by Runge-Kutta: restitution, published contacts, momentum, energy, limits of stiff contact."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from jointplay.laws import law
from jointplay.model import Compliant, library, loads
from jointplay.results import audited, load, save
from jointplay.simulation import FixedRungeKutta, MoreauJean, RungeKutta, simulate

BALL = """
name: ball in a slot
gravity: [0, 0]
ground: {points: {O: [0, 0]}}
bodies: {ball: {mass: 1, inertia: 0.1}}
joints:
  wall: {kind: slot, between: [ground.O, ball.centre], axis: [1, 0], clearance: 1 mm,
         contact: {kind: compliant, normal: {law: %s}}}
start: {ball.x: 0, ball.y: 0, ball: 0, ball.y.rate: 0.1}
"""


def rebound(factor):
    """The restitution that the damping factor of the hysteretic family gives: factor (1+x) = ln((1+f)/(1-f x))."""
    if factor == 0:
        return 1.0
    high = min(1.0, 1 / factor) - 1e-12
    return brentq(lambda x: factor * (1 + x) - math.log((1 + factor) / (1 - factor * x)), 1e-12, high)


FACTORS = {
    "hertz": lambda e: 0.0,
    "hunt_crossley": lambda e: 3 * (1 - e) / 2,
    "lankarani_nikravesh": lambda e: 3 * (1 - e * e) / 4,
    "flores": lambda e: 8 * (1 - e) / (5 * e),
}


@pytest.mark.parametrize("name", [*FACTORS, "exact_restitution"])
def test_an_impact_rebounds_as_the_law_says(name):
    mechanism = loads(BALL % name)
    change = {"wall.normal.stiffness": 1e10}
    if name != "hertz":
        change["wall.normal.restitution"] = 0.5
    run = simulate(mechanism.with_(change), 0.02, RungeKutta(1e-10, 1e-14))
    ratio = float(run["impact_rebound"][0] / run["impact_approach"][0])
    assert float(run["impact_approach"][0]) == pytest.approx(0.1, rel=1e-12)
    assert float(run["impact_time"][0]) == pytest.approx(0.01, abs=1e-12)
    expected = 0.5 if name == "exact_restitution" else rebound(FACTORS[name](0.5))
    assert ratio == pytest.approx(expected, abs=1e-6)


def test_the_published_impact_of_lankarani_and_nikravesh():
    """e = 0.9, m = 1, v0 = 0.1, K = 1e10, n = 1.5: 1.671725e-5 m, 5.150718e-4 s.

    The reference page has 688.0369 N for the largest force; an integration by scipy of the law alone gives 688.7607 N.
    """
    mechanism = loads(BALL % "lankarani_nikravesh").with_({"wall.normal.stiffness": 1e10})
    run = simulate(mechanism, 0.012, RungeKutta(1e-12, 1e-15, max_step=1e-5))
    assert float(run["impact_duration"][0]) == pytest.approx(5.150718e-4, abs=1e-10)
    assert float(run["impact_depth"][0]) == pytest.approx(1.671725e-5, rel=2e-4)
    assert float(run["impact_force"][0]) == pytest.approx(688.7607, rel=1e-4)


STIFF = 4 / (6 * (1 - 0.3**2) / 207e9) * math.sqrt(0.0105 * 0.01 / 0.0005)
COULOMB = {"law": "modified_coulomb", "static_friction": 0.15, "friction": 0.1, "v_s": 1e-3, "v_d": 1e-2}


def spacecraft(contact):
    return library.spacecraft_2026().loosen("J2", 5e-4, journal_radius=0.01, contact=contact)


@pytest.fixture(scope="module")
def case1():
    normal = {"law": "lankarani_nikravesh", "stiffness": STIFF, "restitution": 0.9}
    return simulate(spacecraft(Compliant(normal=normal, friction=COULOMB)), 5.0, RungeKutta(1e-9, 1e-11))


def test_case_1_of_the_spacecraft(case1):
    """The reference page of Bai et al. 2026, set A, joint 2 open by 0.5 mm."""
    assert float(case1["impact_time"][0]) == pytest.approx(0.164123554, abs=1e-8)
    assert float(case1["impact_approach"][0]) == pytest.approx(9.124442263e-3, rel=1e-6)
    assert float(case1["impact_duration"][0]) == pytest.approx(2.1995e-4, abs=2e-8)
    assert float(case1["impact_rebound"][0] / case1["impact_approach"][0]) == pytest.approx(0.912811, abs=2e-6)
    assert float(case1["impact_time"][1]) == pytest.approx(0.285452970, abs=2e-8)
    assert float(case1["impact_depth"][0]) == pytest.approx(6.508e-7, rel=2e-3)
    assert float(case1["impact_force"][0]) == pytest.approx(36.744, rel=3e-3)
    angles = np.degrees(case1["angle"].sel(body=["arm1", "arm2", "arm3", "arm4"]).isel(time=-1).values)
    assert angles == pytest.approx([-21.723960, 18.607672, 21.635008, -18.393124], abs=1e-5)


def test_a_floating_system_with_play_keeps_momentum_and_energy(case1):
    bodies = library.spacecraft_2026().bodies.values()
    masses, inertias = np.array([b.mass for b in bodies]), np.array([b.inertia for b in bodies])
    assert np.abs(case1["x_rate"].values @ masses).max() < 1e-10  # samples are interpolated
    spin = (case1["x"] * case1["y_rate"] - case1["y"] * case1["x_rate"]).values @ masses
    assert np.abs(spin + case1["angle_rate"].values @ inertias).max() < 1e-10
    assert audited(case1, "energy imbalance") < 1e-8
    assert float(case1["contact_friction_work"][-1]) < 0


def test_the_ideal_spacecraft(case1):
    ideal = simulate(library.spacecraft_2026(), 5.0, RungeKutta(1e-12, 1e-14, max_step=0.005))
    angles = ideal["angle"].isel(time=-1)
    assert float(angles.sel(body="arm1")) == pytest.approx(-0.3776111668297, abs=1e-11)
    assert float(angles.sel(body="arm2")) == pytest.approx(0.3210177131713, abs=1e-11)
    assert float(ideal["work"][-1]) == pytest.approx(0.0320413933610, abs=1e-12)
    assert float(np.abs(ideal["force_x"].sel(joint="J1")).max()) == pytest.approx(0.229873722, abs=1e-6)


def test_compliant_results_survive_a_file(case1, tmp_path):
    save(case1, tmp_path / "case1.nc")
    assert load(tmp_path / "case1.nc").identical(case1)


def test_fixed_steps_give_the_same_contact():
    mechanism = loads(BALL % "lankarani_nikravesh").with_({"wall.normal.stiffness": 1e10})
    run = simulate(mechanism, 0.012, FixedRungeKutta(1e-6))
    assert float(run["y_rate"][-1, 0]) == pytest.approx(-0.1 * rebound(3 * (1 - 0.81) / 4), rel=1e-3)


def test_output_interval_does_not_change_the_numbers():
    mechanism = spacecraft(Compliant(normal={"law": "hertz", "stiffness": 1e8}))
    fine, coarse = (simulate(mechanism, 1.0, every=dt) for dt in (1e-3, 0.25))
    assert (fine["impact_time"].values == coarse["impact_time"].values).all()
    assert (fine["angle"].values[-1] == coarse["angle"].values[-1]).all() and len(fine["impact_time"]) > 2


def test_a_law_of_ones_own():
    @law()
    def linear(depth, rate, approach, *, stiffness=1e6):
        """A spring."""
        return stiffness * depth

    mechanism = loads(BALL % "hertz").loosen("wall", 1e-3, contact=Compliant(normal=linear))
    run = simulate(mechanism, 0.02, RungeKutta(1e-10, 1e-14))
    # half a period of the mass on the spring
    assert float(run["impact_duration"][0]) == pytest.approx(math.pi / math.sqrt(1e6), rel=1e-8)
    assert float(run["impact_rebound"][0]) == pytest.approx(0.1, rel=1e-8)


def test_a_bristle_is_integrated_with_the_motion():
    """A journal pressed into its bearing by a spring and turned slowly: LuGre friction first creeps, then slides."""
    text = """
gravity: [0, -9.81]
ground: {points: {O: [0, 0]}}
bodies: {disc: {mass: 1, inertia: 1e-3}}
joints:
  J: {kind: revolute, between: [ground.O, disc.centre], clearance: 1 mm, journal_radius: 20 mm,
      contact: {kind: compliant, normal: {law: hunt_crossley, stiffness: 1e7, restitution: 0.5},
                friction: {law: lugre}}}
start: {disc: 0, disc.x: 0, disc.y: -0.001, disc.rate: 5}
"""
    run = simulate(loads(text), 0.3, RungeKutta(1e-8, 1e-10))
    assert run.attrs["outcome"] == "done"
    assert abs(float(run["angle_rate"][-1, 0])) < 5 and float(run["contact_friction_work"][-1]) < 0
    assert audited(run, "energy imbalance") < 1e-6


def test_two_kinds_of_contact_are_refused_with_both_joints():
    mixed = library.crank_rocker_2016(clearance2=1e-3).loosen("J3", 1e-3, contact=Compliant())
    for stepper in (None, RungeKutta(), MoreauJean(1e-4)):
        with pytest.raises(ValueError, match=r"J3\.contact: compliant .* rigid contact in 'J2' cannot be mixed"):
            simulate(mixed, 0.1, stepper)


LOOSE = """
name: loose pendulum
ground: {points: {O: [%(far)s, 0]}}
bodies: {arm: {bar: 150 mm, mass: 30 g}}
joints:
  J: {kind: revolute, between: [ground.O, arm.start], clearance: 0.2 mm, journal_radius: 6 mm,
      contact: {kind: compliant, normal: {law: hunt_crossley, stiffness: 1e8, restitution: 0.5}}}
start: {arm: %(angle)s, journals: centred}
"""


@pytest.mark.parametrize("place", [{"far": 20000, "angle": 0}, {"far": 0, "angle": "100000 rev"}])
def test_contacts_are_met_where_rounding_is_coarse(place):
    """Of places 20 km away the last digit is 4e-12 m: steps that were to land nearer to a wall moved nothing, for ever;
    and so after 100,000 turns."""
    near = simulate(loads(LOOSE % {"far": 0, "angle": 0}), 0.05)
    far = simulate(loads(LOOSE % place), 0.05, most_steps=10 * near.attrs["steps"])
    assert far.attrs["outcome"] == "done" and float(far.impacts[0]) == float(near.impacts[0])
    for name in ("peak_normal", "share_free"):
        assert float(far[name][0]) == pytest.approx(float(near[name][0]), rel=1e-4)


def test_a_trial_step_that_overflows_is_taken_again_shorter():
    """A steep law, met with the step of the flight: the slip makes no number of its bristles."""
    steep = {"law": "hunt_crossley", "stiffness": 1e20, "exponent": 3, "restitution": 0.5}
    bristles = {"law": "lugre", "static_friction": 0.1, "stiffness": 1000, "damping": 3, "viscous": 0.1, "v_s": 0.005}
    loose = loads(LOOSE % {"far": 0, "angle": 0.3})
    loose = loose.loosen("J", "0.2 mm", contact=Compliant(normal=steep, friction=bristles))
    default, fine = (simulate(loose, 0.05, stepper) for stepper in (None, RungeKutta(1e-11, 1e-13)))
    assert default.attrs["outcome"] == fine.attrs["outcome"] == "done"
    assert float(default["peak_normal"][0]) == pytest.approx(float(fine["peak_normal"][0]), rel=1e-3)
