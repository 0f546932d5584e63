"""What happens inside a step is not stepped over, and no result depends on how long a run is."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import jointplay as jp
from jointplay import engine, results, statics
from jointplay.engine import branch, emit, where
from jointplay.engine.program import trace
from jointplay.model import (
    AngleDrive,
    Body,
    Compliant,
    Force,
    Function,
    Mechanism,
    Prismatic,
    Revolute,
    bar,
    cycloidal,
    library,
    loads,
    sine,
    table,
    total,
)
from jointplay.numerics.switches import switches
from jointplay.parts.motions import following
from jointplay.results import audited
from jointplay.run import Run
from jointplay.simulation import FixedRungeKutta, RungeKutta, Simulation, simulate
from jointplay.system import System
from tests.elements import knocking

CEILING = """
name: ball under a ceiling
ground: {points: {O: [0, 0]}}
bodies: {ball: {mass: 1, inertia: 0.1}}
joints:
  wall: {kind: slot, between: [ground.O, ball.centre], axis: [1, 0], clearance: 1 m,
         contact: {kind: compliant, normal: {law: kelvin_voigt, stiffness: 1e6, damping: 0}}}
start: {ball.x: 0, ball.y: 0, ball: 0, ball.y.rate: %r}
"""
G = 9.81
THERE = 64 * np.polynomial.Polynomial([0, 0, 0, 1]) * np.polynomial.Polynomial([1, -1]) ** 3  # to 1 and back


def thrown(height):
    """A ball that would rise so high (m), between a floor and a ceiling 1 m above it."""
    return loads(CEILING % math.sqrt(2 * G * height))


def cart(force):
    """1 kg on a rail, pushed by a force."""
    return Mechanism(
        name="cart",
        gravity=(0, 0),
        ground={"points": {"O": (0, 0)}},
        bodies={"cart": Body(mass=1.0, inertia=1.0, points={"pin": (0, 0)})},
        joints={"rail": Prismatic(between=("ground.O", "cart.pin"), axis=(1, 0))},
        forces={"push": Force(at="cart.pin", x=force)},
    )


def swing(motion):
    """A bar of 1 m and 1 kg about its end, moved by a drive."""
    return Mechanism(
        name="swing",
        gravity=(0, 0),
        ground={"points": {"O": (0, 0)}},
        bodies={"bar": bar(1.0, mass=1.0)},
        joints={"pin": Revolute(between=("ground.O", "bar.start"))},
        drives={"motor": AngleDrive(of="bar", motion=motion)},
    )


# -- contacts
def test_a_ceiling_is_touched_however_long_the_run():
    """It would rise 1 mm through it: first contact after (v - sqrt(v^2 - 2 g)) / g."""
    v = math.sqrt(2 * G * 1.001)
    ball = System(thrown(1.001))
    ends = []
    for until in (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0):
        run = simulate(ball, until, every=0.5)
        assert float(run["impact_time"][0]) == pytest.approx((v - math.sqrt(v * v - 2 * G)) / G, rel=1e-9)
        ends.append([float(run[name].sel(time=1.0)[0]) for name in ("y", "y_rate")])
    assert all(end == ends[0] for end in ends)


@pytest.mark.parametrize("depth", [1e-9, 1e-6, 1e-4])
def test_a_graze_is_seen_and_a_near_miss_is_none(depth):
    """With steps that are long beside the time for which the path is beyond the ceiling."""
    for height, touched in ((1 + depth, True), (1 - depth, False)):
        run = simulate(thrown(height), 0.8, RungeKutta(1e-6, 1e-9), strict=False)
        first = run["impact_time"].values[:1]
        assert len(first) == touched and all(first < 0.6)


def test_a_free_turn_is_not_passed_over():
    """A disc that spins about its centre has no error in any step; a peg on it meets a wall once a turn."""
    peg = Compliant(normal={"law": "kelvin_voigt", "stiffness": 1e7, "damping": 0.0})
    slot = {"kind": "slot", "between": ["ground.O", "disc.peg"], "axis": (1, 0), "clearance": 0.0999, "contact": peg}
    disc = Mechanism(
        name="disc",
        gravity=(0, 0),
        ground={"points": {"O": (0, 0)}},
        bodies={"disc": Body(mass=1.0, inertia=1.0, points={"c": (0, 0), "peg": (0.1, 0)})},
        joints={"axle": {"kind": "revolute", "between": ["ground.O", "disc.c"]}, "wall": slot},
        start={"disc": 0.0, "disc.rate": 10.0},
    )
    run = simulate(disc, 2.0)
    assert float(run["impact_time"][0]) == pytest.approx(math.asin(0.999) / 10, rel=1e-9)
    assert np.abs(np.abs(run["angle_rate"].values[-1]) - 10.0).max() < 1e-6


# -- pulses
def gentle(t):
    return 1000 * where((t > 50) & (t < 50.01), 0.5 - 0.5 * engine.cos(200 * math.pi * (t - 50)), 0.0)


PULSES = {
    "function": lambda t: where((t > 50) & (t < 50.01), 500.0, 0.0),
    "branch": lambda t: branch((t > 50) & (t < 50.01), lambda: 500.0, lambda: 0.0),
    "smooth function": gentle,
    "untraced": Function(function=lambda t: 1000 * math.sin(100 * math.pi * min(max(t - 50, 0), 0.01)) ** 2),
    "narrow": lambda t: 500 / math.sqrt(math.pi) * engine.exp(-(((t - 50) / 0.01) ** 2)),
    "cycloids": total(cycloidal(1000.0, 5e-3, begin=50.0), cycloidal(-1000.0, 5e-3, begin=50.005)),
    "table": table([0, 49.99, 50, 50.005, 50.01, 50.02, 99], [0, 0, 0, 1000, 0, 0, 0], "held"),
}


@pytest.mark.parametrize("name", PULSES)
def test_a_pulse_of_10_ms_in_a_long_run_moves_the_cart(name):
    """Its impulse is 5 N s, that of the spline its integral."""
    pulse = PULSES[name]
    expected = pulse.integral(0, 60) if name == "table" else 5.0
    ends = [float(simulate(cart(pulse), until, every=30.0)["x_rate"].sel(time=60.0)[0]) for until in (60.0, 90.0)]
    assert ends[0] == pytest.approx(expected, rel=2e-7)
    assert ends[0] == (pytest.approx(ends[1], rel=1e-12) if name == "untraced" else ends[1])  # a spline knows its ends


def test_a_short_swing_of_a_drive_has_its_effort():
    """1 rad in 10 ms: J a = 1/3 2 pi / (10 ms)^2."""
    for until in (51.0, 100.0):
        run = simulate(swing(cycloidal(1.0, 0.01, begin=50.0)), until)
        assert float(run["peak_effort"][0]) == pytest.approx(2 * math.pi / 1e-4 / 3, rel=1e-8)
        assert run.attrs["steps"] < 400


def test_the_extremes_of_a_sine_are_met():
    run = simulate(swing(sine(0.1, -40.0, phase=0.3)), 1.0)
    assert float(run["peak_effort"][0]) == pytest.approx(0.1 * 1600 / 3, rel=1e-12)


@pytest.mark.parametrize("rtol, error", [(1e-8, 5e-8), (1e-6, 3e-6)])
def test_a_peak_between_two_looks_is_found(rtol, error):
    """A bar that swings: m g (1 + 3/2 (1 - cos a)) at the bottom, wherever steps end."""
    for lift in (1.2, 1.3, 1.4):
        bar = library.pendulum(angles=[lift - math.pi / 2])
        run = simulate(bar, 1.0, RungeKutta(rtol, rtol / 100), every=1.0)
        right = 9.81 * (1 + 1.5 * (1 - math.cos(lift))) * bar.value("bar1.mass")
        assert float(run["peak_force"][0]) == pytest.approx(right, rel=error)


def test_what_falls_after_a_jump_is_looked_at_behind_the_jump():
    run = simulate(cart(lambda t: where(t > 0.7003, 10 * engine.exp(-20 * (t - 0.7003)), 1.0)), 2.0, every=2.0)
    assert float(run["peak_x_acceleration"][0]) == pytest.approx(10.0, rel=1e-9)
    assert float(run["peak_x_acceleration_time"][0]) == pytest.approx(0.7003, abs=1e-9)


def test_steps_of_one_length_say_what_they_do_not_see():
    run = simulate(swing(cycloidal(1.0, 0.01, begin=0.5)), 1.0, FixedRungeKutta(0.01))
    assert "motor changes within 0.0025 s, in which a step of 0.01 s sees little of it; use" in run.attrs["notes"]
    assert "changes within" not in simulate(swing(cycloidal(1.0, 0.5)), 1.0, FixedRungeKutta(0.01)).attrs["notes"]


def test_a_jump_spoils_no_sample_and_no_energy():
    """A force that jumps inside a long step: samples before and after lie on both parabolas."""
    run = simulate(cart(lambda t: where(t > 0.7003, 10.0, 1.0)), 2.0, every=0.01)
    t, late = run["time"].values, np.maximum(run["time"].values - 0.7003, 0)
    assert np.abs(run["x"].values[:, 0] - (0.5 * t**2 + 4.5 * late**2)).max() < 1e-9
    assert np.abs(run["x_rate"].values[:, 0] - (t + 9 * late)).max() < 1e-9
    assert audited(run, "energy imbalance") < 1e-7


def test_lanes_that_share_steps_end_them_at_the_knots_of_each():
    lanes = [{"motor.begin": 0.2}, {"motor.begin": 0.3}]
    pair = Simulation(swing(cycloidal(1.0, 0.01, begin=0.1)), lanes=lanes, share=True, every=0.1, until=1.0)
    pair.advance(1.0)
    for lane in range(2):
        assert float(pair.result(lane)["peak_effort"][0]) == pytest.approx(2 * math.pi / 1e-4 / 3, rel=1e-8)
    assert len(set(pair.steps.tolist())) == 1


# -- knots
@pytest.mark.parametrize(
    ("function", "t", "expected"),
    [
        (lambda t: where(t > 2.0, 1.0, 0.0), 0.5, 2.0),
        (lambda t: where((t - 3.0) / 0.1 <= 1.0, 1.0, 0.0), 0.5, 3.1),
        (lambda t: where(t > 2.0, 1.0, 0.0), 2.5, math.inf),
        (lambda t: where(t - 0.5 * engine.floor(t / 0.5) < 0.2, 1.0, 0.0), 0.6, 0.7),
        (lambda t: where(t - 0.5 * engine.floor(t / 0.5) < 0.2, 1.0, 0.0), 0.8, 1.0),
        (lambda t: engine.sin(5 * t), 0.3, math.inf),
    ],
)
def test_comparisons_of_time_are_knots(function, t, expected):
    def step(s, p):
        emit("knots", t=following(s.t, switches(function(s.t), s.t)))
        return {}

    run = Run(trace(step, {"t": t}, {}))
    run.advance(1)
    assert run.rows("knots")["t"][0] == pytest.approx(expected, rel=1e-12)


def test_a_periodic_table_ends_steps_in_every_period():
    motion = table([0.0, 0.1, 0.25, 0.4], [0.0, 0.2, -0.1, 0.0], "periodic")
    run = simulate(swing(motion), 4.0, every=0.01)
    many = max(abs(motion._spline(np.array([0.0, 0.1, 0.25, 0.4]), 2))) / 3
    assert float(run["peak_effort"][0]) == pytest.approx(many, rel=1e-9)


def test_a_kind_of_ones_own_declares_its_knots():
    run = simulate(knocking.struck(), 30.0)
    assert float(run["x_rate"].values[-1, 0]) == pytest.approx(5.0, rel=1e-7)


# -- nothing depends on the end
@pytest.mark.parametrize("make", [library.four_bar, library.pendulum, lambda: library.slider_crank(speed=3.0)])
def test_no_number_depends_on_how_far_a_run_goes(make):
    system = System(make())
    short, long = (simulate(system, until, every=0.25) for until in (1.0, 7.0))
    for name in ("angle", "angle_rate", "angle_acceleration", "force_x"):
        assert np.array_equal(short[name].values, long[name].sel(time=short["time"]).values)


def test_a_run_at_rest_takes_steps_of_a_second_at_most():
    run = simulate(cart(0.0), 50.0)
    assert 50 <= run.attrs["steps"] <= 60


def test_statics_know_nothing_of_knots():
    assert (
        statics.kinematics(System(swing(cycloidal(1.0, 0.01, begin=0.5))), np.array([0.0, 1.0])).angle.values[-1] == 1
    )


def test_peaks_know_the_last_step_up_to_the_end():
    """A force that grows for ever, in steps that are exact however long; what is read on the way changes nothing."""
    ramp = {"kind": "polynomial", "coefficients": [0.0, 0.0, 0.0, 1.0]}
    one = Simulation(swing(ramp), every=0.25)
    for until in (0.9, 1.3, 2.0):
        one.advance(until, beyond=True)
        assert float(one.result()["peak_effort"][0]) == pytest.approx(2 * until, rel=1e-9)  # J 6 t, with J = 1/3
    other = Simulation(swing(ramp), every=0.25)
    other.advance(2.0, beyond=True)
    for name in ("peak_effort", "peak_force", "peak_angle_acceleration", "angle", "work"):
        assert np.array_equal(one.result()[name].values, other.result()[name].values)


@pytest.mark.parametrize("anchor, peak", [(0.3, 20.0), (0.2, 20.0), (0.05, 5.0)])
def test_steps_of_a_rotor_that_is_driven_are_short_enough_for_its_forces(anchor, peak):
    """Nothing in its motion has an error, so a step was seconds long: 19.926 +- 2e-10 N m for 20, that of a damper of
    200 N s/m between a point 0.1 m off the axis, at 10 rad/s, and a point of the ground."""
    rotor = jp.loads(f"""
gravity: [0, 0]
ground: {{points: {{O: [0, 0], A: [{anchor}, 0]}}}}
bodies: {{rotor: {{mass: 5, inertia: 0.1, points: {{P: [0.1, 0]}}}}}}
joints: {{J: {{kind: revolute, between: [ground.O, rotor.centre]}}}}
drives: {{motor: {{kind: angle, of: rotor, motion: {{kind: constant_speed, speed: 10, start: 0.3}}}}}}
forces: {{D: {{kind: spring, between: [ground.A, rotor.P], stiffness: 0, damping: 200}}}}
""")
    told = {one["name"]: one for one in results.errors(jp.simulate(rotor, 1.3))}["motor.peak_effort"]
    assert told["value"] == pytest.approx(peak, rel=2e-4)
    assert abs(told["value"] - peak) < 3 * told["error"]


# -- what has no error in any step
@pytest.mark.parametrize("force, within", [([0.0, 10.0], 1e-13), ([1.0, -3.0], 1e-13), ([0.0, 0.0, 10.0], 1e-6)])
def test_work_is_the_kinetic_energy_at_every_sample(force, within):
    """A cart under a force that is a polynomial of time: 6.067 J were told for 6.25 J."""
    run = simulate(cart({"kind": "polynomial", "coefficients": force}), 1.0, error=False)
    assert np.abs(run.work - run.kinetic).max() < within * run.kinetic.max()


def test_a_stop_is_touched_inside_a_long_step():
    """Under a force that falls linearly a cart goes back, 2 mm into its stop and away, all in half a step."""
    place = np.polynomial.Polynomial([0.178, -8.206, 39.484, -45.896])  # m: where it would be without the stop
    force = (2.0 * place.deriv(2)).coef.tolist()
    stopped = jp.loads(f"""
gravity: [0, 0]
ground: {{points: {{O: [0, 0]}}}}
bodies: {{cart: {{mass: 2, inertia: 0.01}}}}
joints:
  rail: {{kind: prismatic, between: [ground.O, cart.centre], clearance: 10 mm, length: 100 mm, radius: 10 mm,
          upper: 0.3, lower: -5, contact: {{kind: compliant, normal: {{law: hertz, stiffness: 1e6}}}}}}
forces: {{push: {{kind: force, at: cart.centre, x: {{kind: polynomial, coefficients: {force}}}}}}}
start: {{cart.x: {place(0.0)}, cart.x.rate: {place.deriv()(0.0)}}}
""")
    run = simulate(stopped, 0.52, error=False)

    def slope(t, state):
        return state[1], place.deriv(2)(t) - 1e6 * max(state[0] - 0.3, 0.0) ** 1.5 / 2.0

    start = [place(0.0), place.deriv()(0.0)]
    other = solve_ivp(slope, (0.0, 0.52), start, "DOP853", rtol=1e-10, atol=1e-12, max_step=1e-3)
    assert run.impacts.sel(contact="rail.stop.upper") == 1
    assert run.x.values[-1, 0] == pytest.approx(other.y[0, -1], abs=1e-7)


def test_a_reference_that_does_nothing_is_followed_in_the_looks():
    """A constant push beside a reference that rises and falls: the largest error was the largest of few looks."""
    pushed = jp.loads(f"""
gravity: [0, 0]
ground: {{points: {{O: [0, 0]}}}}
bodies: {{cart: {{mass: 2, inertia: 0.01}}}}
joints: {{rail: {{kind: prismatic, between: [ground.O, cart.centre]}}}}
control:
  law: open_loop
  coordinates: {{c: {{kind: position, of: rail, reference: {{kind: polynomial, coefficients: {THERE.coef.tolist()}}}}}}}
  actuators: {{motor: {{kind: position, of: rail, feedforward: 0.3}}}}
""")
    run = simulate(pushed, 1.0, every=1.0, error=False)
    t = np.linspace(0.0, 1.0, 200001)
    assert float(run.error_max[0]) == pytest.approx(np.abs(0.075 * t * t - THERE(t)).max(), rel=5e-5)


def test_a_load_that_moves_nothing_is_followed_in_the_looks():
    """A load at the end of a welded beam rises to 1 N and falls: 2 N m in the weld."""
    welded = jp.loads(f"""
gravity: [0, 0]
ground: {{points: {{O: [0, 0]}}}}
bodies: {{beam: {{bar: 2, mass: 1}}}}
joints: {{W: {{kind: weld, between: [ground.O, beam.start]}}}}
forces: {{load: {{kind: force, at: beam.end, y: {{kind: polynomial, coefficients: {THERE.coef.tolist()}}}}}}}
start: {{beam: 0}}
""")
    assert float(simulate(welded, 0.93, every=0.93, error=False).peak_moment[0]) == pytest.approx(2.0, rel=5e-5)


def test_a_flight_knows_nothing_of_the_contact_that_ends_it():
    """The force of a damped contact jumps where it begins; samples of the flight before had it in their rates."""
    speed = math.sqrt(2 * G * 1.2)
    run = simulate(loads((CEILING % speed).replace("damping: 0", "damping: 800")), 0.4, error=False)
    flight = run.isel(time=(run["mode"].sel(contact="wall.upper") == 0).cumprod("time").values.astype(bool))
    assert 10 < flight.sizes["time"] < run.sizes["time"]
    assert np.abs(flight.y_rate[:, 0] - (speed - G * flight.time)).max() < 1e-9
