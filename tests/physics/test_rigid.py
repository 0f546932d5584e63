"""Rigid contact by Moreau-Jean stepping: closed forms, energy of impacts, degenerate cases, records, bad input."""

import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from jointplay.model import Rigid, library, loads
from jointplay.results import audit, audited, errors, load, save
from jointplay.simulation import MoreauJean, simulate

BALL = """
name: ball on a floor
ground: {points: {O: [0, 0]}}
bodies: {ball: {mass: 2, inertia: 0.1}}
joints:
  guide: {kind: slot, between: [ground.O, ball.centre], axis: [0, 1], lower: 0, stop_restitution: %s}
start: {ball.x: 0, ball.y: %s, ball: 0}
"""


def test_a_ball_bounces_at_the_times_of_the_textbook():
    """Impacts at t1, t1 (1 + 2e), t1 (1 + 2e + 2e^2), ..., which accumulate at t1 (1 + e)/(1 - e)."""
    e, height = 0.8, 1.0
    first = math.sqrt(2 * height / 9.81)
    run = simulate(loads(BALL % (e, height)), 5.0, MoreauJean(1e-5))
    hits = run["impact_time"].values
    expected, leap = [first], 2 * e * first
    while len(expected) < 12:
        expected.append(expected[-1] + leap)
        leap *= e
    assert hits[:12] == pytest.approx(expected, abs=1e-3)
    assert run["impact_approach"].values[:6] == pytest.approx(9.81 * first * e ** np.arange(6), rel=5e-3)
    lost = 0.5 * 2 * (9.81 * first) ** 2 * (1 - e**2)  # of the first impact
    assert float(run["impact_lost"][0]) == pytest.approx(lost, rel=5e-3)
    accumulated = first * (1 + e) / (1 - e)
    assert run["impact_time"].values[-1] < accumulated + 0.01  # then it lies still
    rest = run.sel(time=slice(accumulated + 0.1, None))
    assert np.abs(rest["y"].values).max() < 1e-11 and np.abs(rest["y_rate"].values).max() < 2e-3
    assert float(rest["normal_force"][-1, 0]) == pytest.approx(2 * 9.81, rel=1e-6)
    assert audited(run, "penetration") < 1e-11


WALLS = """
name: ball between walls
gravity: [0, 0]
ground: {points: {O: [0, 0]}}
bodies: {ball: {mass: 1, inertia: 0.1}}
joints:
  guide: {kind: slot, between: [ground.O, ball.centre], axis: [1, 0], lower: -1, upper: 1, stop_restitution: 1}
start: {ball.x: 0, ball.y: 0, ball: 0, ball.x.rate: 3}
"""


def test_a_ball_between_two_walls_keeps_its_speed():
    run = simulate(loads(WALLS), 10.0, MoreauJean(1e-4))
    assert np.allclose(np.abs(run["x_rate"].values), 3.0, rtol=1e-10, atol=0)
    assert len(run["impact_time"]) == 15  # at 1/3, 1, 5/3, ... s
    assert run["impact_time"].values == pytest.approx(1 / 3 + np.arange(15) * 2 / 3, abs=5e-3)
    assert set(run["impact_contact"].values) == {"guide.stop.lower", "guide.stop.upper"}


INCLINE = """
name: block on an incline
ground: {points: {O: [0, 0]}}
bodies: {block: {mass: 3, inertia: 0.02}}
joints:
  guide: {kind: prismatic, between: [ground.O, block.centre], axis: [%.17g, %.17g], angle: %.17g, clearance: 1 mm,
          length: 0.3, radius: 0.05, contact: {kind: rigid, friction: %g}}
start: {block: %.17g, block.x: %.17g, block.y: %.17g}
"""


def incline(slope, friction):
    """A block that lies in a guide tilted by the slope (rad), started on the guide's lower wall."""
    c, s = math.cos(slope), math.sin(slope)
    return loads(INCLINE % (c, s, slope, friction, slope, 1e-3 * s, -1e-3 * c))


def test_a_block_on_an_incline_sticks_below_the_angle_of_friction():
    slope = 0.3
    run = simulate(incline(slope, math.tan(slope) + 0.01), 0.5, MoreauJean(1e-4))
    along = run["x"] * math.cos(slope) + run["y"] * math.sin(slope)
    assert np.abs(along.values).max() < 1e-9
    forces = run["normal_force"].isel(time=-1).values, run["friction_force"].isel(time=-1).values
    assert forces[0].sum() == pytest.approx(3 * 9.81 * math.cos(slope), rel=1e-6)
    assert abs(forces[1].sum()) == pytest.approx(3 * 9.81 * math.sin(slope), rel=1e-6)
    assert float(run["share_corners"].sel(corners="two corners on one side")[0]) > 0.99


def test_a_block_slides_down_as_coulomb_says():
    slope, friction = 0.5, 0.2
    run = simulate(incline(slope, friction), 0.5, MoreauJean(1e-4))
    along = -(run["x"] * math.cos(slope) + run["y"] * math.sin(slope)).values[:, 0]
    a = 9.81 * (math.sin(slope) - friction * math.cos(slope))
    t = run["time"].values
    assert along == pytest.approx(0.5 * a * t**2, abs=2e-4 * a)
    lost = friction * 3 * 9.81 * math.cos(slope) * along[-1]
    assert float(run["friction_loss"][-1]) == pytest.approx(lost, rel=1e-3)
    assert abs(float(run["friction_force"][-1].sum())) == pytest.approx(friction * float(run["normal_force"][-1].sum()))


def test_static_friction_holds_more():
    held = loads(
        (INCLINE % (1, 0, 0, 0.2, 0, 0, -1e-3)).replace("friction: 0.2", "friction: 0.2, static_friction: 0.6")
    )
    pushed = held.replace(forces={"push": {"kind": "force", "at": "block.centre", "x": 0.4 * 3 * 9.81}})
    assert np.abs(simulate(pushed, 0.2, MoreauJean(1e-4))["x"].values).max() < 1e-9
    harder = held.replace(forces={"push": {"kind": "force", "at": "block.centre", "x": 0.7 * 3 * 9.81}})
    x = simulate(harder, 0.2, MoreauJean(1e-4))["x"].values[-1, 0]
    assert x == pytest.approx(0.5 * (0.7 - 0.2) * 9.81 * 0.2**2, rel=1e-2)  # slides with the smaller one


def test_a_pendulum_rebounds_from_a_stop():
    """Swing from 0 to the stop at -90 degrees: the rate there is sqrt(3 g/L), then e times as much back."""
    mechanism = library.pendulum(1)
    joint = {**mechanism.joints["J1"].plain(), "lower": -math.pi / 2, "stop_restitution": 0.5}
    run = simulate(mechanism.replace(joints={"J1": joint}), 2.0, MoreauJean(1e-5), start={"bar1": 0.0})
    rate = math.sqrt(3 * 9.81)
    assert float(run["impact_approach"][0]) == pytest.approx(rate, rel=1e-4)
    peak = run["angle"].where(run["time"] > float(run["impact_time"][0]) + 0.01).max()
    # height regained: e^2 of the height fallen
    assert float(np.sin(peak)) == pytest.approx(-1 + 0.25, abs=2e-3)


def test_backlash_moves_the_driven_wheel_late():
    text = """
gravity: [0, 0]
ground: {points: {A: [0, 0], B: [1, 0]}}
bodies: {a: {mass: 1, inertia: 0.5}, b: {mass: 1, inertia: 0.5}}
joints:
  A: {kind: revolute, between: [ground.A, a.centre]}
  B: {kind: revolute, between: [ground.B, b.centre]}
  teeth: {kind: gear, between: [a, b], ratio: -1, play: 0.1}
start: {a: 0, b: 0, a.x: 0, a.y: 0, b.x: 1, b.y: 0, a.rate: 1, b.rate: 0}
"""
    run = simulate(loads(text), 1.0, MoreauJean(1e-4))
    assert float(run["impact_time"][0]) == pytest.approx(0.1, abs=2e-4)  # through the play
    before, after = run.sel(time=0.09, method="nearest"), run.isel(time=-1)
    assert before["angle_rate"].values == pytest.approx([1.0, 0.0])
    assert after["angle_rate"].values == pytest.approx([0.5, -0.5], rel=1e-9)  # plastic impact, then together


def test_a_slider_wedged_on_opposite_corners_does_not_move():
    """A long lever and strong friction: the block tilts in its guide and locks on two opposite corners."""
    text = """
ground: {points: {O: [0, 0]}}
bodies: {block: {mass: 1, inertia: 0.01, points: {arm: [0, 1]}}}
joints:
  guide: {kind: prismatic, between: [ground.O, block.centre], axis: [1, 0], clearance: 0.5 mm, length: 0.1,
          radius: 0.02, contact: {kind: rigid, friction: 0.3}}
forces: {pull: {kind: force, at: block.arm, x: 100}}
start: {block: 0, block.x: 0, block.y: 0}
gravity: [0, 0]
"""
    run = simulate(loads(text), 0.5, MoreauJean(1e-5))
    late = run.isel(time=slice(-100, None))
    assert np.ptp(late["x"].values) < 1e-9
    assert float(run["share_corners"].sel(corners="two opposite corners")[0]) > 0.9
    assert audited(run, "penetration") < 1e-11


# -- four-bars


def siconos_case(h):
    """The case of the reference page: J3 open by 1 mm, bearing on the rocker, 6 N m, the start of the peer."""
    angles = {"crank": 1.570823772407980, "coupler": 0.353284202062446, "rocker": 1.264872058968431}
    mechanism = library.four_bar((1.0, 4.0, 2.5, 3.0), (1, 1, 1), (0.0833, 1.33, 0.521), angles["crank"])
    mechanism = mechanism.replace(forces={"motor": {"kind": "torque", "on": "crank", "torque": 6.0}}, start=angles)
    loose = mechanism.loosen("J3", 1e-3, journal_radius=0.059, bearing="second", contact=Rigid(friction=0.1))
    return simulate(loose, 2.0, MoreauJean(h), every=0.5)


def test_the_peers_case_extrapolates_to_the_peers_value():
    coarse, fine = (siconos_case(h) for h in (1e-5, 5e-6))
    first, second = (float(run["angle"].sel(body="crank")[-1]) for run in (coarse, fine))
    assert 2 * second - first == pytest.approx(10.314671, abs=2e-5)
    assert audited(fine, "penetration") < 1e-11 and audited(fine, "position drift") < 1e-11


def test_ideal_joints_agree_with_runge_kutta_at_first_order():
    mechanism = library.crank_rocker_2016()
    right = simulate(mechanism, 1.0, start={"crank.rate": 10.0})["angle"].values[-1]
    errors = []
    for h in (4e-5, 2e-5):
        run = simulate(mechanism, 1.0, MoreauJean(h, order=1), start={"crank.rate": 10.0})
        errors.append(np.abs(run["angle"].values[-1] - right).max())
        energy = run["kinetic"] + run["potential"]
        errors.append(float(np.abs(energy - energy[0]).max()))
    assert errors[0] / errors[2] == pytest.approx(2.0, rel=0.05) and errors[1] / errors[3] == pytest.approx(
        2.0, rel=0.05
    )


@given(
    clearances=st.tuples(st.floats(1e-4, 5e-3), st.floats(1e-4, 5e-3)),
    lengths=st.tuples(st.floats(0.8, 1.2), st.floats(3.5, 4.5), st.floats(2.3, 2.7)),
    restitution=st.sampled_from([0.0, 0.5, 1.0]),
)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow], phases=[Phase.generate])
def test_impacts_without_friction_create_no_energy(clearances, lengths, restitution):
    mechanism = library.four_bar((*lengths, 3.0), (1, 1, 1), (0.0833, 1.33, 0.521), 1.571)
    for joint, c in zip(("J2", "J3"), clearances, strict=True):
        mechanism = mechanism.loosen(joint, c, contact=Rigid(restitution=restitution))
    mechanism = mechanism.replace(journals="centred")
    run = simulate(mechanism, 0.5, MoreauJean(1e-5), start={"crank.rate": 8.0}, reclose=True)
    assert len(run["impact_time"]) > 0
    energy = float((run["kinetic"] + np.abs(run["potential"])).max())
    assert audited(run, "energy created in impacts") <= 1e-12 * energy
    if restitution == 1.0:  # all but the softest impacts, which count as plastic, keep the energy
        lost = run["impact_lost"].groupby(run["impact_time"]).sum().values
        assert np.median(np.abs(lost)) < 1e-12 * energy and lost.min() > -1e-12 * energy
    else:
        assert float(run["impact_lost"].sum()) > 0


@pytest.mark.parametrize(
    ("left", "right", "order", "creates"),
    [(1, 0, 1, True), (1, 1, 1, False), (0, 0, 1, False), (1, 0, 2, False), (1, 1, 2, False), (0, 0, 2, False)],
)
def test_unequal_restitutions_that_create_energy_are_named(left, right, order, creates):
    """A bar strikes with its left end and is thrown onto its right one, which was just leaving: Newton's rule for both
    at once, with two coefficients, then creates energy; with one, or for one after the other, it does not."""
    text = f"""
gravity: [0, 0]
ground: {{points: {{O: [0, 0]}}}}
bodies: {{bar: {{mass: 1, inertia: 0.02, points: {{l: [-0.5, 0], r: [0.5, 0]}}}}}}
joints:
  L: {{kind: slot, between: [ground.O, bar.l], clearance: 0.1, contact: {{kind: rigid, restitution: {left}}}}}
  R: {{kind: slot, between: [ground.O, bar.r], clearance: 0.1, contact: {{kind: rigid, restitution: {right}}}}}
start: {{bar.x: 0, bar.y: -0.1, bar: 0, bar.y.rate: -0.475, bar.rate: 1.05, bar.x.rate: 0}}
"""
    run = simulate(loads(text), 2e-5, MoreauJean(1e-5, order=order))
    gain = float(run["kinetic"][-1] - run["kinetic"][0])
    assert (gain > 1e-6) is creates
    [created] = [entry for entry in audit(run) if entry["name"] == "energy created in impacts"]
    assert created["value"] == pytest.approx(gain if creates else 0.0, rel=1e-6, abs=1e-15)
    assert (created["judgement"] == "fine") is not creates


def test_the_mechanism_of_wu_runs_with_rigid_contact():
    mechanism = library.wu_2017(clearance=5e-4, contact=Rigid(friction=0.1))
    run = simulate(mechanism, 3.0, MoreauJean(2e-5))
    assert audited(run, "position drift") < 1e-10 and audited(run, "penetration") < 1e-10
    assert float(run["share_corners"].sum()) == pytest.approx(1.0)
    assert 0 < int(run["impacts"].sum()) < 1000  # a corner that stays open or closed does not strike
    free = run["mode"].values == 0
    assert (run["normal_force"].values[free] == 0).all() and (run["friction_force"].values[free] == 0).all()


# -- records


@pytest.fixture(scope="module")
def loose():
    mechanism = library.crank_rocker_2016(clearance2=3e-3, clearance3=3e-3)
    return simulate(mechanism, 0.5, MoreauJean(1e-5), every=1e-4, start={"crank.rate": 10.0}, reclose=True)


def test_the_record_of_contacts_is_consistent(loose):
    radius = np.hypot(loose["place_x"], loose["place_y"])
    assert (radius.values <= 3e-3 + 1e-11).all()
    assert loose["gap"].values == pytest.approx(3e-3 - radius.values, abs=1e-12)
    assert list(loose["contact"].values) == ["J2", "J3"]
    shares = loose["share_free"] + loose["share_sliding"] + loose["share_sticking"]
    assert shares.values == pytest.approx(1.0)
    free = loose["mode"].values == 0
    assert (loose["normal_force"].values[free] == 0).all() and (loose["normal_force"].values >= 0).all()
    sliding = loose["mode"].values == 2
    cone = np.abs(loose["friction_force"].values) - 0.1 * loose["normal_force"].values
    assert cone[sliding] == pytest.approx(0.0, abs=1e-9) and (cone <= 1e-9).all()
    counts = {label: int((loose["impact_contact"] == label).sum()) for label in ("J2", "J3")}
    assert [counts["J2"], counts["J3"]] == list(loose["impacts"].values)
    held = np.hypot(loose["force_x"], loose["force_y"]).sel(joint="J2").values[1:]
    touching = np.hypot(loose["normal_force"], loose["friction_force"]).sel(contact="J2").values[1:]
    assert held == pytest.approx(touching, rel=1e-9, abs=1e-9)
    balance = loose["kinetic"] + loose["potential"] - loose["work"] + loose["impact_loss"] + loose["friction_loss"]
    assert np.abs(balance - balance[0]).max() <= audited(loose, "energy imbalance") + 1e-9
    assert audited(loose, "energy imbalance") < 0.01 * audited(loose, "peak kinetic energy")


def test_rigid_results_survive_a_file(loose, tmp_path):
    save(loose, tmp_path / "loose.nc")
    assert load(tmp_path / "loose.nc").identical(loose)


def test_output_interval_does_not_change_the_numbers(loose):
    mechanism = library.crank_rocker_2016(clearance2=3e-3, clearance3=3e-3)
    coarse = simulate(mechanism, 0.5, MoreauJean(1e-5), every=0.1, start={"crank.rate": 10.0}, reclose=True)
    assert (coarse["angle"].values[-1] == loose["angle"].values[-1]).all()
    assert (coarse["peak_force"].values == loose["peak_force"].values).all()
    assert (coarse["impact_time"].values == loose["impact_time"].values).all()


def test_plain_moreau_penetrates_and_the_projection_does_not():
    mechanism = library.crank_rocker_2016(clearance2=3e-3)
    depth = {}
    for projection in ("combined", "none"):
        stepper = MoreauJean(1e-5, projection=projection, order=1)
        run = simulate(mechanism, 1.0, stepper, start={"crank.rate": 10.0}, reclose=True)
        depth[projection] = audited(run, "penetration")
    assert depth["combined"] < 1e-11 and 1e-8 < depth["none"] < 1e-3


# -- bad input


def test_a_start_in_penetration_is_refused_and_can_be_closed():
    mechanism = library.crank_rocker_2016(clearance2=3e-3)
    start = {"crank": 1.0, "coupler.x": 0.0}
    with pytest.raises(ValueError, match=r"start: penetrates 'J2' by 0\.\d+ m,.*reclose=True"):
        simulate(mechanism, 0.1, start=start)
    run = simulate(mechanism, 0.1, MoreauJean(1e-4), start=start, reclose=True)
    assert float(run["angle"][0, 0]) == 1.0 and float(run["gap"][0, 0]) == pytest.approx(3e-3, abs=1e-12)


def test_a_step_too_long_for_the_play_is_noted():
    mechanism = library.crank_rocker_2016(clearance2=1e-5)
    run = simulate(mechanism, 0.01, MoreauJean(1e-3))
    assert "is long beside the" in json.loads(run.attrs["notes"])[0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MoreauJean(0.0), "MoreauJean: step must be a number > 0, got 0.0"),
        (lambda: MoreauJean(1e-5, theta=0.2), "theta must be between 0.5 and 1, got 0.2"),
        (lambda: MoreauJean(1e-5, projection="some"), "projection must be one of combined, none, got 'some'"),
        (lambda: MoreauJean(1e-5, forces="late"), "forces must be one of explicit, midpoint, got 'late'"),
        (
            lambda: simulate(library.grigore_figure_5(), 1.0, MoreauJean()),
            "O3.contact: MoreauJean computes rigid contact",
        ),
    ],
)
def test_bad_steppers_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_rod_that_jams_on_a_rough_wall_sticks():
    """Painleve's rod: with strong friction the slip equation loses its sign, and sticking is the answer."""
    text = """
ground: {points: {O: [0, 0]}}
bodies: {rod: {mass: 1, inertia: 0.0833, points: {tip: [-0.5, 0]}}}
joints:
  wall: {kind: slot, between: [ground.O, rod.tip], axis: [1, 0], clearance: 1, contact: {kind: rigid, friction: 3}}
start: {rod: 60 deg, rod.x: 0, rod.y: %.17g, rod.x.rate: 4, rod.y.rate: 0, rod.rate: 0}
"""
    mechanism = loads(text % (-1 + 0.5 * math.sin(math.radians(60))))
    run = simulate(mechanism, 0.3, MoreauJean(1e-4))
    assert run.attrs["outcome"] == "done" and float(run["gap"].min()) > -1e-11
    assert (run["normal_force"].values >= 0).all() and float(run["normal_force"].max()) > 1
    energy = (run["kinetic"] + run["potential"]).values
    assert energy.max() <= energy[0] + 1e-9


def test_half_the_step_says_what_moves():
    mechanism = library.crank_rocker_2016(clearance2=3e-3)
    arguments = dict(start={"crank.rate": 10.0}, reclose=True)
    run = simulate(mechanism, 0.2, MoreauJean(2e-5), audit="convergence", **arguments)
    finer = [simulate(mechanism, 0.2, MoreauJean(2e-5 / n), **arguments) for n in (2, 3)]
    stated = {entry["name"]: entry for entry in errors(run)}
    late = run.time.values >= 0.98 * 0.2  # at the very end runs may cross each other
    angle, moved = stated["crank.angle"], max(np.abs(x.angle.values - run.angle.values)[late, 0].max() for x in finer)
    assert angle["value"] == float(run["angle"][-1, 0]) and angle["error"] == pytest.approx(2 * moved, rel=1e-2)
    assert 0 < moved < 1e-3 and angle["determined"]
    assert {"J2.peak_force", "J2.impacts", "J2.peak_impulse", "friction_loss"} <= stated.keys()
    with pytest.raises(ValueError, match="audit must be 'run' or 'convergence', got 'all'"):
        simulate(mechanism, 0.2, audit="all")


def test_impulses_of_impacts_do_not_count_as_forces():
    """The largest force between impacts does not grow when the step is halved; an impulse over a step would double."""
    mechanism = library.crank_rocker_2016(clearance2=3e-3)
    first, second = (
        simulate(mechanism, 0.5, MoreauJean(h), start={"crank.rate": 10.0}, reclose=True) for h in (2e-5, 1e-5)
    )
    assert first["joint_impulse"].values == pytest.approx(second["joint_impulse"].values, rel=0.05)
    assert first["peak_force"].values == pytest.approx(second["peak_force"].values, rel=0.3)


# -- after a review of the physics

JAM = """
gravity: [0, 0]
ground: {points: {O: [0, 0]}}
bodies: {a: {mass: 1, inertia: 0.01}, b: {mass: 1, inertia: 0.01}}
joints:
  A: {kind: prismatic, between: [ground.O, a.centre], axis: [1, 0]}
  B: {kind: prismatic, between: [ground.O, b.centre], axis: [1, 0], upper: 0.5}
  C: {kind: slot, between: [a.centre, b.centre], axis: [0, 1], clearance: 0.1, contact: {kind: rigid}}
drives: {m: {kind: position, of: A, motion: {kind: constant_speed, speed: 1, start: 0}}}
start: {a: 0, b: 0, b.x: 0}
"""


def test_a_drive_that_jams_bodies_against_a_stop_is_an_outcome():
    run = simulate(loads(JAM), 1.5, MoreauJean(1e-4), strict=False)
    assert run.attrs["outcome"] == "solver failed" and run.attrs["outcome_time"] == pytest.approx(0.6, abs=1e-3)
    assert float(run["gap"].min()) > -1e-9


def test_positions_follow_a_driven_rate():
    text = """
ground: {points: {O: [0, 0]}}
bodies: {arm: {bar: 0.1, mass: 1}}
joints: {J: {kind: revolute, between: [ground.O, arm.start]}}
drives: {d: {kind: rate, of: arm, motion: 5}}
forces: {load: {kind: torque, on: arm, torque: -50}}
start: {arm: 0}
"""
    run = simulate(loads(text), 2.0, MoreauJean(1e-3))
    assert float(run["angle"][-1, 0]) == pytest.approx(10.0, abs=1e-9)


def test_strong_friction_sticks_where_slip_has_no_answer():
    """A parallelogram near its change point: the slip equation loses its sign there."""
    mechanism = library.four_bar((1.0, 2.0, 1.0, 2.0), (1, 1, 1), (0.1, 0.1, 0.1), 1.0)
    loose = mechanism.loosen("J3", 1e-3, journal_radius=0.01, contact=Rigid(friction=0.1))
    run = simulate(loose, 1.0, MoreauJean(1e-4), start={"crank.rate": 5.0}, reclose=True)
    assert run.attrs["outcome"] == "done" and float(run["gap"].min()) > -1e-11


@pytest.mark.parametrize(
    ("joints", "load", "moment"),
    [
        ("J: {kind: prismatic, between: [ground.O, b.centre], clearance: 1 mm, length: 0.1}", 5.0, -5.0),
        ("J: {kind: revolute, between: [ground.O, b.centre], upper: 0}", 5.0, -5.0),
    ],
)
def test_contacts_transmit_moments(joints, load, moment):
    text = f"""
gravity: [0, 0]
ground: {{points: {{O: [0, 0]}}}}
bodies: {{b: {{mass: 1, inertia: 0.1}}}}
joints:
  {joints}
forces: {{t: {{kind: torque, on: b, torque: {load}}}}}
start: {{b: 0, b.x: 0, b.y: 0}}
"""
    run = simulate(loads(text), 0.2, MoreauJean(1e-4))
    assert float(run["moment"].isel(time=-1)[0]) == pytest.approx(moment, rel=1e-6, abs=1e-9)


def test_a_sliding_journal_does_not_strike_in_every_step():
    text = """
ground: {points: {O: [0, 0]}}
bodies: {wheel: {mass: 2, inertia: 0.01, points: {hub: [0.02, 0]}}}
joints:
  J: {kind: revolute, between: [ground.O, wheel.hub], clearance: 1 mm, journal_radius: 10 mm,
      contact: {kind: rigid, friction: 0.1, restitution: 0.5}}
start: {wheel: 0, wheel.x: -0.02, wheel.y: 0, wheel.rate: 20, journals: centred}
"""
    counts = [int(simulate(loads(text), 0.5, MoreauJean(h))["impacts"][0]) for h in (1e-4, 1e-5)]
    assert 0 < counts[0] <= counts[1] < 200  # not in proportion to the number of steps


def test_a_journal_that_crosses_its_play_in_one_step_still_rebounds():
    text = """
gravity: [0, 0]
ground: {points: {O: [0, 0]}}
bodies: {ball: {mass: 1, inertia: 0.1}}
joints:
  J: {kind: revolute, between: [ground.O, ball.centre], clearance: 0.1 mm, contact: {kind: rigid, restitution: 1}}
start: {ball: 0, ball.x: 0, ball.y: 0, ball.x.rate: 1}
"""
    run = simulate(loads(text), 0.05, MoreauJean(2.5e-4))
    assert run["kinetic"].values == pytest.approx(0.5, rel=1e-9)
    assert "is crossed" in run.attrs["notes"]


@pytest.mark.parametrize("seed", range(6))
def test_the_solver_finds_what_exists_among_many_contacts(seed):
    """Eight contacts with friction, all closed: the answer satisfies Signorini and Coulomb, judged by numpy."""
    from jointplay.engine import trace
    from jointplay.physics.contact_solver import ContactProblem, solve_contacts
    from jointplay.run import Run

    rng, n = np.random.default_rng(seed), 6
    J = rng.normal(size=(2 * n, 3 * n))
    W, b, mu = J @ J.T, rng.normal(size=2 * n), 0.3

    def step(s, p):
        rows = [[p[f"W{i}.{j}"] for j in range(2 * n)] for i in range(2 * n)]
        right = [p[f"b{i}"] for i in range(2 * n)]
        same = [p.mu] * n
        answer = solve_contacts(ContactProblem(rows, right, same, same, [p.mu > 0] * n, [s.x * 0.0] * n, [False] * n))
        return {"x": s.x, "v": answer.violation} | {f"p{i}": x for i, x in enumerate(answer.impulses)}

    given = {f"W{i}.{j}": W[i, j] for i in range(2 * n) for j in range(2 * n)} | {f"b{i}": x for i, x in enumerate(b)}
    run = Run(trace(step, {"x": 0.0, "v": 0.0} | {f"p{i}": 0.0 for i in range(2 * n)}, given | {"mu": mu}))
    run.advance(1)
    p = np.array([run[f"p{i}"][0] for i in range(2 * n)])
    u = b + W @ p
    assert run["v"][0] < 1e-9
    assert (p[::2] >= 0).all() and u[::2].min() > -1e-9 and np.abs(p[::2] * u[::2]).max() < 1e-9
    assert (np.abs(p[1::2]) <= mu * p[::2] + 1e-9).all() and (p[1::2] * u[1::2]).max() < 1e-9


def test_the_last_sample_is_the_end():
    run = simulate(library.crank_rocker_2016(clearance2=3e-3), 0.0101, MoreauJean(1e-4), every=4e-3)
    assert float(run["time"][-1]) == pytest.approx(0.0101, abs=1e-12)


def test_a_journal_that_rests_in_its_bearing_is_not_struck():
    # It falls on the wall once, sticks, and later rolls and slides; resting contact is no row of impacts.
    motor = {"motor": {"kind": "torque", "on": "crank", "torque": 6.0}}
    run = simulate(library.crank_rocker_2016(3e-3, friction=0.1).replace(forces=motor), 0.6, MoreauJean(1e-5))
    assert float(run.share_sticking[0]) > 0.05
    assert run.impacts.values.tolist() == [1]
    assert float(run.impact_approach[0]) == pytest.approx(0.397, abs=1e-3)
