"""What is set on the way, and where `advance` stands: numbers with all that follows from them, at the time asked."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import jointplay as jp
from jointplay.results import audited

STEPPERS = [jp.RungeKutta(), jp.FixedRungeKutta(1e-3), jp.MoreauJean(), jp.MoreauJean(1e-3)]
LOOSE = jp.library.crank_rocker_2016(clearance2=3e-3).replace(
    forces={"motor": {"kind": "torque", "on": "crank", "torque": 6.0}}
)


def pendulum(torque=1e-9):
    """A bar of 1 m and 1 kg, horizontal at first."""
    return jp.Mechanism(
        ground={"points": {"O": (0, 0)}},
        bodies={"bar": jp.bar(1.0, mass=1.0)},
        joints={"J1": {"kind": "revolute", "between": ("ground.O", "bar.start")}},
        forces={"motor": {"kind": "torque", "on": "bar", "torque": torque}},
        start={"bar": 0.0},
    )


def swing(torque, y, begin, end, mass=1.0):
    """The same by scipy: angle and rate at the end."""

    def rates(t, y):
        return [y[1], (torque - mass * 9.81 * 0.5 * np.cos(y[0])) / (mass / 3)]

    return solve_ivp(rates, (begin, end), y, rtol=1e-11, atol=1e-12).y[:, -1]


def driven(kind, motion):
    return jp.library.slider_crank(angle=1.0).replace(drives={"motor": {"kind": kind, "of": "crank", "motion": motion}})


@pytest.mark.parametrize("stepper", STEPPERS, ids=repr)
def test_the_inertia_of_a_bar_follows_its_mass(stepper):
    run = jp.Simulation(pendulum(2.0), stepper, lanes=2, every=0.1)
    run.advance(0.4)
    run.set({"bar.mass": 3.0}, lane=1)
    run.advance(1.0)
    there = swing(2.0, swing(2.0, [0.0, 0.0], 0.0, 0.4), 0.4, 1.0, mass=3.0)
    assert float(run.result(1).angle[-1, 0]) == pytest.approx(there[0], abs=2e-5)
    assert audited(run.result(1), "energy imbalance") < 1e-3
    assert run.system(1).mechanism.value("bar.inertia") == run.observe(["bar.inertia"])[1, 0] == 0.25
    assert run.observe(["bar.mass", "bar.inertia"])[0].tolist() == [1.0, 1 / 12]
    kept = run.snapshot()
    run.set({"bar.mass": 2.0})
    run.reset(kept)
    assert run.system(1).mechanism.value("bar.mass") == run.observe(["bar.mass"])[1, 0] == 3.0
    run.reset()
    assert run.observe(["bar.mass", "bar.inertia"])[1].tolist() == [1.0, 1 / 12]


@pytest.mark.parametrize("stepper", STEPPERS[:3], ids=repr)
def test_a_control_loop_by_hand_is_that_of_another_solver(stepper):
    run, there = jp.Simulation(pendulum(), stepper, every=0.01), np.zeros(2)
    places = [run.names.index(name) for name in ("bar.angle", "bar.angle.rate")]
    for k in range(50):
        angle, rate = run.state[0, places]
        run.set({"motor.torque": 40 * (0.5 - angle) - 4 * rate})
        run.advance((k + 1) * 0.01)
        there = swing(40 * (0.5 - there[0]) - 4 * there[1], there, k * 0.01, (k + 1) * 0.01)
        assert run.time[0] == pytest.approx((k + 1) * 0.01, rel=1e-13)
    assert run.state[0, places] == pytest.approx(there, abs=2e-5)
    assert float(run.result().angle[-1, 0]) == pytest.approx(there[0], abs=1e-5)


@pytest.mark.parametrize("clock", [{}, {"control": jp.control.pd("bar", 1.0, k1=40.0, k2=4.0, period=1e-2)}])
def test_steps_end_at_times_beside_knots_and_ticks(clock):
    """Those of a force that begins and of a loop with a clock, which differ from the times by rounding, or hardly."""
    push = {"kind": "torque", "on": "bar", "torque": jp.cycloidal(1.0, 0.05, begin=0.1)}
    run = jp.Simulation(pendulum().replace(forces={"push": push}, **clock), every=0.01)
    run.advance(0.2, beyond=True)
    whole, first = run.result().angle.values, np.nextafter(0.1, 0.0)
    for times in (1e-3 * np.arange(1, 201), np.cumsum(np.full(20, 0.01)), [first, 0.2], [0.0999999, 0.1000001, 0.2]):
        run.reset()
        for t in times:
            run.advance(float(t))
            assert run.time[0] == pytest.approx(t, rel=1e-13)
        assert run.steps[0] < 2 * len(times) + 60
        assert np.abs(run.result().angle.values - whole).max() < 1e-7


def test_what_would_jump_is_refused_and_nothing_changes():
    turning = jp.Simulation(driven("angle", {"kind": "constant_speed", "speed": 30.0}), lanes=2, every=0.01)
    turning.advance(0.1)
    with pytest.raises(ValueError, match=r"motor\.speed = 31 would move motor\.angle by 0\.1 .*t = 0\.1 s; start with"):
        turning.set({"motor.speed": 31.0})
    with pytest.raises(ValueError, match=r"crank\.length = .* would move J\d\.[xy] by"):
        turning.set({"crank.length": 0.2}, lane=1)
    assert turning.observe(["motor.speed"])[:, 0].tolist() == [30.0, 30.0]
    loose = jp.Simulation(LOOSE, jp.MoreauJean(1e-4), every=0.01)
    loose.advance(0.1)
    with pytest.raises(ValueError, match=r"J2\.clearance = 1e-05 would let 'J2' penetrate by 0\.00"):
        loose.set({"J2.clearance": 1e-5})
    with pytest.raises(ValueError, match="another structure"):
        loose.set({"J2.clearance": 0.0})
    with pytest.raises(ValueError, match=r"J2\.contact\.friction: must be >= 0, got -0\.3"):
        loose.set({"J2.friction": -0.3})
    with pytest.raises(ValueError, match=r"crank\.mass"):
        loose.set({"crank.mass": -1.0})
    loose.set({"J2.clearance": 4e-3, "J2.friction": 0.1})
    loose.advance(0.2)
    assert loose.observe(["J2.clearance", "J2.friction"])[0].tolist() == [4e-3, 0.1] and loose.status[0].complete


@pytest.mark.parametrize("stepper", STEPPERS, ids=repr)
def test_another_rate_of_a_drive_is_an_impulse(stepper):
    run = jp.Simulation(driven("rate", 30.0), stepper, every=0.01)
    run.advance(0.1)
    run.set({"motor.value": 40.0})
    run.advance(0.2)
    found = run.result()
    rate, angle = found.angle_rate.sel(body="crank").values, found.angle.sel(body="crank").values
    assert rate[[9, 10, 11, -1]] == pytest.approx([30.0, 30.0, 40.0, 40.0], rel=1e-9)
    assert angle[-1] - angle[10] == pytest.approx(4.0, rel=1e-6)
    assert audited(found, "energy imbalance") < 3e-2 and found.attrs["judgement"] == "fine"


@pytest.mark.parametrize("stepper", STEPPERS, ids=repr)
def test_without_samples_on_the_way_there_are_start_and_end(stepper):
    run = jp.Simulation(pendulum(), stepper)
    for until in (0.2, 0.5, 0.5):
        run.advance(until)
        found = run.result()
        assert found.time.values == pytest.approx([0.0, until]) and found.attrs["until"] == until
        assert float(found.angle[-1, 0]) == pytest.approx(swing(0.0, [0, 0], 0, until)[0], abs=1e-5)


def test_samples_are_written_once():
    """Times that are summed up differ from those of the samples by rounding."""
    run, t = jp.Simulation(LOOSE, jp.MoreauJean(), every=1e-3, until=0.2), 0.0
    for _ in range(200):
        t += 1e-3
        run.advance(t)
    times = run.result().time.values
    assert times == pytest.approx(1e-3 * np.arange(201), abs=1e-12)


@pytest.mark.parametrize("time", [0.0, 0.05])
def test_energy_that_numbers_give_on_the_way_is_there_to_move(time):
    """A crank that was made heavier above the origin fell faster than its energy at the start allows: "wrong"."""
    sim = jp.Simulation(jp.library.slider_crank(angle=1.0), every=0.01)
    if time:
        sim.advance(time)
    sim.set({"crank.mass": 1.1})
    sim.advance(0.1)
    run = sim.result()
    entry = next(entry for entry in jp.results.audit(run) if entry["name"] == "peak kinetic energy")
    assert run.attrs["judgement"] == "fine" and entry["value"] < entry["limit"] < 1.1 * entry["value"]


def test_momentum_that_a_number_gives_on_the_way_is_no_drift():
    """Two bodies on a spring in space, of which one takes up another as heavy, which goes along."""
    pair = jp.Mechanism(
        bodies={"a": {"mass": 1, "inertia": 1}, "b": {"mass": 2, "inertia": 1}},
        forces={"S": {"kind": "spring", "between": ["a.centre", "b.centre"], "stiffness": 10.0, "free_length": 0.5}},
        start={"a.x.rate": 1.0, "a.rate": 2.0, "b.x": 1.0, "b.y": 0.2},
        gravity=(0, 0),
    )
    sim = jp.Simulation(pair, every=0.01)
    sim.advance(0.5)
    sim.set({"a.mass": 2.0})
    sim.advance(1.0)
    assert sim.result().attrs["judgement"] == "fine"
    assert audited(sim.result(), "momentum drift") < 1e-12
