"""What studies read of runs without making a result of them: the same numbers, and the time of passing a mark."""

import math

import numpy as np
import pytest

import jointplay as jp
from jointplay.errors import InputError
from jointplay.statics.guesses import shapes
from jointplay.studies.metrics import quantity, read_metrics
from jointplay.studies.recorded import Recorded
from jointplay.system import System

BALL = jp.Mechanism(bodies={"ball": {"mass": 1, "inertia": 1}}, gravity=(0, -9.81))
LOOSE = jp.library.crank_rocker_2016(clearance2=1e-3)
DRIVEN = jp.control.pd("crank", jp.sine(1.0, 2.0), k1=10, k2=1)
SOFT = jp.Compliant(normal={"law": "hunt_crossley", "stiffness": 1e6})


@pytest.mark.parametrize(
    ("mechanism", "stepper"),
    [
        (LOOSE.replace(control=DRIVEN), jp.MoreauJean(1e-4)),
        (LOOSE.loosen("J2", "1 mm", contact=SOFT), jp.RungeKutta(1e-6, 1e-8)),
        (jp.library.slider_crank(), jp.RungeKutta(1e-6, 1e-8)),
    ],
)
def test_what_is_read_of_a_lane_is_what_its_result_holds(mechanism, stepper):
    simulation = jp.Simulation(mechanism, stepper, every=1e-3, until=0.01)
    simulation.advance(0.01)
    run = simulation.result()
    names = Recorded.of_result(run).names()
    assert {"angle", "peak_force", "force_x"} <= set(names)
    for name in names:  # each asked first of all, since groups are read when they are asked for
        found = Recorded.of_lane(simulation, 0).get(name)
        assert found is not None and found.dims == run[name].dims, name
        assert np.array_equal(found.values, run[name].values, equal_nan=True), name
        assert found.attrs.get("units") == run[name].attrs.get("units"), name
    lane = Recorded.of_lane(simulation, 0)
    force = quantity(lane, None, "force", "J3", 0.0)
    assert np.array_equal(force.values, np.hypot(run.force_x, run.force_y).sel(joint="J3"))
    assert quantity(lane, None, "force", "J9", 0.0) is None and lane.get("nothing") is None


def test_when_a_ball_passes_a_mark():
    over, asked = {"start.ball.y.rate": [0.0, 6.0]}, {"until": 1.5, "every": 0.1, "stepper": jp.RungeKutta(1e-8, 1e-10)}
    metrics = ["when(y[ball] above 1)", "when(y[ball] < -2.0)", "when(y_rate[ball] below -3)", "when(y[ball] > 5)"]
    table = jp.sweep(BALL, over, metrics=metrics, **asked)
    for i, v in enumerate(over["start.ball.y.rate"]):  # y = v t - g t^2 / 2
        rise = (v - math.sqrt(v * v - 2 * 9.81)) / 9.81 if v else math.nan
        fall = (v + math.sqrt(v * v + 4 * 9.81)) / 9.81
        assert float(table["when(y[ball] above 1)"][i]) == pytest.approx(rise, abs=1e-9, nan_ok=True)
        assert float(table["when(y[ball] below -2)"][i]) == pytest.approx(fall, abs=1e-9)
        assert float(table["when(y_rate[ball] below -3)"][i]) == pytest.approx((v + 3) / 9.81, abs=1e-9)
    assert table["when(y[ball] above 5)"].isnull().all() and table["when(y[ball] above 1)"].attrs["units"] == "s"
    run = jp.simulate(BALL, start={"ball.y.rate": 6.0}, **asked)
    assert jp.results.when(run, "y", "ball", above=1.0) == float(table["when(y[ball] above 1)"][1])
    late = jp.results.when(run, "y", "ball", below=3.0, begin=0.25)
    assert late == pytest.approx(0.3)  # below at the first sample already
    assert {m.name for m in read_metrics(metrics)} <= set(table.data_vars)


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("when(y[ball])", "above or below which mark"),
        ("when(y[ball] above 1 mm)", "must be a name such as|above or below|number in SI"),
        ("when(y[ball] above high)", "number in SI units, got 'high'"),
        ("when(y[ball] above nan)", "number in SI units"),
        ("when(mass[ball] above 1)", "no run has 'mass'"),
        ("when(y[bal] above 1)", "did you mean 'ball'"),
    ],
)
def test_marks_that_cannot_be(metric, said):
    with pytest.raises(InputError, match=said):
        jp.sweep(BALL, {"ball.mass": [1.0]}, until=0.1, metrics=[metric])


def test_when_of_a_result_needs_a_signal_and_one_mark():
    run = jp.simulate(BALL, until=0.1)
    for given, said in (({}, "give the mark"), ({"above": 1, "below": 1}, "one of them")):
        with pytest.raises(InputError, match=said):
            jp.results.when(run, "y", "ball", **given)
    with pytest.raises(InputError, match="no signal 'z'"):
        jp.results.when(run, "z", "ball", above=1)
    with pytest.raises(InputError, match="got 'bat'"):
        jp.results.when(run, "y", "bat", above=1)


def test_masses_do_not_move_a_mechanism_and_lengths_do():
    system = System(jp.library.slider_crank())
    assert not shapes(system, "rod.mass") and not shapes(system, "rod.inertia")
    length = next(a for a in system.mechanism.addresses() if a.startswith("rod.") and shapes(system, a))
    heavy, long = system.with_({"rod.mass": 7.0}), system.with_({length: 1.05 * system.mechanism.value(length)})
    for other in (heavy, long):
        jp.statics.assemble(system)
        there = jp.statics.assemble(other)
        alone = jp.statics.assemble(System(other.given))
        assert np.array_equal(there, alone)
    assert np.array_equal(heavy.evaluate(np.ones(9)).M, System(heavy.given).evaluate(np.ones(9)).M)
    assert heavy.evaluate(np.ones(9)).M[3, 3] == 7.0 != system.evaluate(np.ones(9)).M[3, 3]


def test_each_run_has_its_own_twin_in_any_number_of_threads():
    ideal = jp.library.crank_rocker_2016().replace(forces={"m": {"kind": "torque", "on": "crank", "torque": 6.0}})
    over = {"crank.mass": [1.0, 1.5, 2.0, 2.5, 3.0], "J2.clearance": [1e-3, 2e-3]}
    asked = {"metrics": "deviation[rocker]", "until": 0.01, "stepper": jp.MoreauJean(1e-4)}
    one, three = (jp.sweep(ideal, over, executor=n, **asked)["deviation[rocker]"].values for n in (1, 3))
    assert np.array_equal(one, three) and (one > 0).all() and len(set(one[:, 0])) == 5
    first = ideal.with_({"crank.mass": 2.5, "J2.clearance": 2e-3})
    run, twin = (jp.simulate(m, 0.01, jp.MoreauJean(1e-4)) for m in (first, first.closed()))
    assert one[3, 1] == float(jp.results.deviation(run, twin).sel(body="rocker"))
