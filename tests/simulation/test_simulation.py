"""A thing that steps: lanes, pauses, changes between steps, snapshots, threads."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import jointplay as jp
from jointplay.results import audited
from jointplay.simulation import Ending, SimulationFailed

LOOSE = jp.library.crank_rocker_2016(clearance2=3e-3).replace(
    forces={"motor": {"kind": "torque", "on": "crank", "torque": 6.0}}
)
SLIDER = jp.library.slider_crank(angle=1.0)
ROUGH = jp.Compliant(normal="hunt_crossley", friction="ambrosio")
SOFT = SLIDER.loosen("J2", 1e-4, journal_radius=0.01, contact=ROUGH)
PD = jp.control.pd("crank", jp.sine(0.3, 4.0, offset=1.0), k1=40.0, k2=4.0)
CASES = {
    "rigid": (LOOSE, jp.MoreauJean(1e-4), 0.3),
    "rigid, control": (jp.library.crank_rocker_2016(3e-3, 3e-3).replace(control=PD), jp.MoreauJean(1e-4), 0.2),
    "adaptive": (SLIDER, jp.RungeKutta(), 0.3),
    "compliant": (SOFT, jp.RungeKutta(1e-6, 1e-8), 0.05),
    "compliant, fixed": (SOFT, jp.FixedRungeKutta(2e-6, order=4), 0.01),
    "control": (SLIDER.replace(control=PD), jp.RungeKutta(), 0.3),
}


def same(a, b):
    """The variables in which two results differ by a bit; only `simulate` states errors of the motion."""
    a, b = (one.drop_vars(["x_error", "y_error", "angle_error"], errors="ignore") for one in (a, b))
    assert set(a.data_vars) == set(b.data_vars)
    return [n for n in a.data_vars if a[n].dtype.kind in "fi" and not np.array_equal(a[n], b[n], equal_nan=True)]


@pytest.mark.parametrize("case", CASES)
def test_lanes_are_the_runs_that_they_would_be_alone(case):
    mechanism, stepper, until = CASES[case]
    masses = [mechanism.value("crank.mass") * f for f in (1.0, 1.1, 0.9)]
    together = jp.Simulation(mechanism, stepper, [{"crank.mass": m} for m in masses], every=until / 20, until=until)
    together.advance(until, beyond=True)
    for lane, mass in enumerate(masses):
        alone = jp.simulate(mechanism.with_({"crank.mass": mass}), until, stepper, every=until / 20)
        assert same(together.result(lane), alone) == []
    assert same(together.result(0), together.result(1)) != []


@pytest.mark.parametrize("case", CASES)
def test_pauses_leave_no_trace(case):
    mechanism, stepper, until = CASES[case]
    whole = jp.simulate(mechanism, until, stepper, every=until / 37)
    paused = jp.Simulation(mechanism, stepper, every=until / 37, until=until)
    for share in (0.1, 0.33, 0.34, 0.8):
        paused.advance(share * until, beyond=True)
        paused.step(3)
        paused.step(0)
    paused.advance(until, beyond=True)
    assert same(whole, paused.result()) == [] and paused.status[0].complete
    assert paused.result().attrs["steps"] == whole.attrs["steps"]


def test_step_takes_so_many_steps():
    for mechanism, stepper, _ in CASES.values():
        simulation = jp.Simulation(mechanism, stepper, lanes=2)
        simulation.step(7)
        simulation.step()
        assert simulation.steps.tolist() == [8, 8] and (simulation.time > 0).all()
        assert [one.kind for one in simulation.status] == [Ending.RUNNING] * 2
    with pytest.raises(ValueError, match=r"whole number of steps, got 1\.5"):
        simulation.step(1.5)


@pytest.mark.parametrize("case", ["rigid", "adaptive", "compliant"])
def test_reset_and_snapshots_go_back(case):
    mechanism, stepper, until = CASES[case]
    simulation = jp.Simulation(mechanism, stepper, every=until / 10, until=until)
    simulation.advance(0.4 * until)
    kept = simulation.snapshot()
    simulation.advance(until)
    first = simulation.result()
    simulation.reset(kept)
    simulation.advance(until)
    assert same(first, simulation.result()) == []
    simulation.reset()
    assert simulation.time.tolist() == [0.0]
    simulation.advance(0.4 * until)
    simulation.advance(until)
    assert same(first, simulation.result()) == []


def test_reset_takes_other_numbers_and_starts():
    simulation = jp.Simulation(SLIDER, every=0.01, until=0.1, lanes=2)
    simulation.reset(lane=1, numbers={"crank.mass": 2.0}, start={"crank": 0.5})
    simulation.advance(0.1, beyond=True)
    other = jp.simulate(SLIDER.with_({"crank.mass": 2.0}), 0.1, every=0.01, start={"crank": 0.5})
    assert same(simulation.result(1), other) == []
    assert same(simulation.result(0), jp.simulate(SLIDER, 0.1, every=0.01)) == []


@pytest.mark.parametrize("stepper", [jp.RungeKutta(1e-10, 1e-12), jp.FixedRungeKutta(1e-3), jp.MoreauJean(1e-4)])
def test_a_torque_set_between_steps_acts_and_its_work_is_booked(stepper):
    arm = jp.loads("""
gravity: [0, 0]
ground: {points: {O: [0, 0]}}
bodies: {arm: {bar: 1.0, mass: 3.0}}
joints: {J: {kind: revolute, between: [ground.O, arm.start]}}
forces: {motor: {kind: torque, on: arm, torque: 0.0}}
start: {arm: 0}
""")
    simulation = jp.Simulation(arm, stepper, lanes=2, every=0.1, until=1.0)
    simulation.advance(0.5)
    simulation.set({"motor.torque": 2.0})
    simulation.set({"motor.torque": -1.0}, lane=1)
    simulation.advance(1.0)
    for lane, torque in enumerate((2.0, -1.0)):  # the arm turns about its end with m l^2/3 = 1 kg m^2
        run = simulation.result(lane)
        assert float(run.angle_rate[-1, 0]) == pytest.approx(0.5 * torque, rel=1e-3)
        assert float(run.work[-1]) == pytest.approx(0.5 * (0.5 * torque) ** 2, rel=2e-3)
        assert audited(run, "energy imbalance") < 1e-3
    assert simulation.observe(["motor.torque", "arm.angle.rate"])[:, 0].tolist() == [2.0, -1.0]


def test_what_is_stored_by_a_number_that_is_set_is_no_error():
    spring = jp.library.pendulum(length=1.0, angles=[0.3])
    simulation = jp.Simulation(spring, jp.RungeKutta(), until=1.0, every=0.1)
    simulation.advance(0.5)
    simulation.set({"gravity.y": -5.0})
    simulation.advance(1.0)
    assert audited(simulation.result(), "energy imbalance") < 1e-6


def test_observe_names_what_there_is():
    simulation = jp.Simulation(LOOSE, jp.MoreauJean(1e-4), lanes=2)
    simulation.step(10)
    names = ["time", "crank.angle", "crank.angle.rate", "J2.gap", "J2.place.x", "kinetic", "motor.torque"]
    seen = simulation.observe(names)
    assert seen.shape == (2, 7) and np.isfinite(seen).all() and seen[0, 0] == pytest.approx(1e-3)
    assert seen[0, 1] == simulation.state[0, simulation.names.index("crank.angle")]
    assert 0 <= seen[0, 3] <= 3e-3
    with pytest.raises(KeyError, match=r"nothing is called 'crank\.angel'; did you mean"):
        simulation.observe(["crank.angel"])
    with pytest.raises(KeyError, match=r"no such address 'motor\.tork'; did you mean 'motor\.torque'"):
        simulation.set({"motor.tork": 1.0})
    with pytest.raises(ValueError, match=r"'motor\.torque' must be a finite number"):
        simulation.set({"motor.torque": float("nan")})
    with pytest.raises(ValueError, match="there are lanes 0 to 1, got 2"):
        simulation.result(2)


def test_a_perturbed_state_is_on_the_joints():
    simulation = jp.Simulation(SLIDER, lanes=2, until=1.0)
    simulation.advance(0.2)
    before = simulation.state
    simulation.perturb({"crank.angle": 1e-3, "crank.angle.rate": 1e-2}, lane=1)
    moved = simulation.state[1] - before[1]
    assert np.array_equal(simulation.state[0], before[0]) and 1e-4 < np.abs(moved).max() < 0.1
    system, n = simulation.system(1), len(simulation.names) // 2
    here = system.evaluate(simulation.state[1, :n], simulation.state[1, n:], float(simulation.time[1]))
    assert np.abs(here.residual).max() < 1e-14 and np.abs(here.B @ simulation.state[1, n:]).max() < 1e-13
    simulation.advance(0.3)
    assert all(one.complete for one in simulation.status)
    with pytest.raises(KeyError, match="no coordinate or rate 'crank'"):
        simulation.perturb({"crank": 1.0}, lane=0)


def test_a_perturbed_contact_is_open_or_closed_as_its_gap_is():
    """A closed contact whose gap was moved open would otherwise be landed on for ever."""
    simulation = jp.Simulation(SOFT, jp.RungeKutta(1e-6, 1e-8), lanes=2, until=0.02)
    while not simulation.observe(["J2.mode"])[0, 0]:
        simulation.step(1)
    place = simulation.names.index("rod.x")
    simulation.perturb(np.where(np.arange(len(simulation.names)) == place, 2e-5, 0.0), lane=1)
    simulation.perturb(np.where(np.arange(len(simulation.names)) == place, -6e-5, 0.0), lane=0)
    seen = simulation.observe(["J2.mode", "J2.gap"])
    assert ((seen[:, 0] > 0.5) == (seen[:, 1] <= 1e-13)).all()
    simulation.advance(0.02)
    assert all(str(one.kind) in ("done", "step too long") for one in simulation.status)


def test_lanes_that_share_their_steps_have_the_same_times():
    starts = [{"start.crank": 1.0}, {"start.crank": 1.0 + 1e-6}]
    shared = jp.Simulation(SOFT, jp.RungeKutta(1e-6, 1e-8), starts, share=True, until=0.05)
    apart = jp.Simulation(SOFT, jp.RungeKutta(1e-6, 1e-8), starts, until=0.05)
    times = []
    for simulation in (shared, apart):
        for _ in range(40):
            simulation.step(5)
            times.append(simulation.time)
    assert all(a == b for a, b in times[:40]) and not all(a == b for a, b in times[40:])
    shared.reset()
    shared.advance(2e-3)
    alone = jp.simulate(SOFT, float(shared.time[0]), jp.RungeKutta(1e-10, 1e-12), start={"crank": 1.0})
    assert shared.observe(["crank.angle"])[0, 0] == pytest.approx(float(alone.angle[-1, 0]), abs=1e-4)


def test_chosen_steps_of_rigid_contact_cannot_be_shared():
    """Each lane's steps end at its own impacts; that they differ must not be silent."""
    made = jp.library.crank_rocker_2016(clearance2=3e-3)
    with pytest.raises(ValueError, match=r"share=True: MoreauJean\(rtol\) .* impacts of each lane.*MoreauJean\(step="):
        jp.Simulation(made, lanes=2, share=True, reclose=True)
    assert jp.Simulation(made, lanes=1, share=True, reclose=True).lanes == 1
    assert jp.Simulation(made, jp.MoreauJean(step=1e-4), lanes=2, share=True, reclose=True).lanes == 2


def test_from_eight_threads_at_once_the_numbers_are_the_same():
    mechanism, stepper, until = CASES["rigid"]
    expected = jp.simulate(mechanism, until, stepper, every=until / 10)
    system = jp.System(mechanism)
    places = np.random.default_rng(1).normal(size=(200, len(system.coordinates)))
    matrices = [system.evaluate(q).B for q in places]

    def work(number):
        order = np.random.default_rng(number).permutation(len(places))
        wrong = sum(not np.array_equal(system.evaluate(places[i]).B, matrices[i]) for i in order)
        run = jp.simulate(system if number % 2 else mechanism, until, stepper, every=until / 10)
        return wrong, same(expected, run)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [(0, [])] * 8


def test_a_lane_that_ends_leaves_the_others_alone():
    pulling = jp.library.four_bar().loosen("J3", 1e-3, contact=jp.Following())
    lanes = [{"start.crank.rate": 0.0}, {"start.crank.rate": 9.0}]
    simulation = jp.Simulation(pulling, jp.RungeKutta(), lanes, until=0.5, every=0.05)
    simulation.advance(0.5, beyond=True)
    kinds = [one.kind for one in simulation.status]
    for lane, given in enumerate(lanes):
        alone = jp.simulate(pulling.with_(given), 0.5, every=0.05, strict=False)
        assert alone.attrs["outcome"] == kinds[lane] and same(alone, simulation.result(lane)) == []
    assert Ending.CONTACT_LOST in kinds


def test_sampled_functions_are_called_for_each_lane():
    seen = []

    def controller(time, values, rates, references, reference_rates):
        seen.append((time, values[0]))
        return [-5.0 * values[0]]

    loop = jp.control.sampled(controller, "crank", 0.0, period=1e-2)
    starts = [{"start.crank": 0.5}, {"start.crank": 1.0}]
    simulation = jp.Simulation(SLIDER, jp.FixedRungeKutta(1e-3), starts, control=loop, until=0.05, every=0.01)
    simulation.step(15)
    assert len(seen) == 4 and simulation.steps.tolist() == [15, 15]
    simulation.advance(0.05)
    assert len(seen) == 10
    for lane, given in enumerate(starts):
        alone = jp.simulate(SLIDER.with_(given), 0.05, jp.FixedRungeKutta(1e-3), every=0.01, control=loop)
        assert same(alone, simulation.result(lane)) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"lanes": 9}, "a number from 1 to 8"),
        ({"lanes": []}, "a number from 1 to 8"),
        ({"lanes": [3.0]}, "a lane is a mapping of addresses"),
        ({"lanes": [{"crank.mas": 1.0}]}, "no such address"),
        ({"stepper": 1e-3}, "stepper must be RungeKutta"),
        ({"lanes": [{"gravity.x": 0.0}, {"gravity.x": 1.0}]}, "lanes need one structure"),
    ],
)
def test_what_cannot_be_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        jp.Simulation(SLIDER, **arguments)


def test_until_that_is_no_whole_number_of_steps_tells_the_truth():
    run = jp.simulate(LOOSE, 0.01, jp.MoreauJean(0.004), strict=False)
    assert float(run.time[-1]) == run.attrs["outcome_time"] == pytest.approx(0.008)
    assert run.attrs["outcome_text"] == "reached 0.008 s, the whole number of steps that is nearest to 0.01 s"


def test_a_failed_run_can_be_pickled():
    with pytest.raises(SimulationFailed) as caught:
        jp.simulate(jp.library.four_bar().loosen("J3", 1e-3, contact=jp.Following()), 2.0, start={"crank.rate": 9.0})
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.outcome == caught.value.outcome and again.outcome.kind is Ending.CONTACT_LOST
    assert again.outcome.element == "J3" and "on_loss: continue" in again.outcome.remedy
    assert same(again.result, caught.value.result) == []
