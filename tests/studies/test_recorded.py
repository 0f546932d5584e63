"""What studies read of runs without making a result of them: the same numbers, and the time of passing a mark."""

import math
import time

import numpy as np
import pytest

import jointplay as jp
from jointplay.crossings import passing
from jointplay.errors import InputError
from jointplay.statics.guesses import placed_alike
from jointplay.statics.starting import TWINS
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
        # samples raise the peaks of a result where they lie beyond the tops of cubics: by rounding, so what is nothing
        # but rounding has its peak anywhere
        size = run[name.removesuffix("_time")].values if name.startswith("peak") else None
        some = np.abs(size) > 1e-9 if size is not None else np.full(found.values.shape, True)
        assert np.array_equal(found.values[some], run[name].values[some], equal_nan=found.values.dtype.kind == "f"), (
            name
        )
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
    assert jp.results.when(run, "y", "ball", below=3.0, begin=0.25) == 0.25  # it is so already
    assert {m.name for m in read_metrics(metrics)} <= set(table.data_vars)


def test_a_coordinate_that_passes_a_mark_between_samples_and_comes_back():
    asked = {"until": 1.5, "every": 0.5, "stepper": jp.RungeKutta(1e-8, 1e-10), "metrics": "when(y[ball] above 1.8)"}
    table = jp.sweep(BALL, {"start.ball.y.rate": [6.0, 5.9]}, **asked)  # 1.83 m at 0.61 s, and 1.77 m
    rise = (6 - math.sqrt(36 - 2 * 9.81 * 1.8)) / 9.81
    assert float(table["when(y[ball] above 1.8)"][0]) == pytest.approx(rise, abs=1e-9)
    assert table["when(y[ball] above 1.8)"][1].isnull()


@pytest.mark.parametrize("every", [0.003, 0.05, 0.2])
@pytest.mark.parametrize(("mark", "exact"), [(1.0, 0.4), (-1.5, 1.5 / 9.81), (1.8, 0.4), (2.5, math.nan)])
def test_a_rate_jumps_at_the_impact_whatever_the_samples(every, mark, exact):
    time = np.arange(0.0, 0.8, every)  # a ball falls for 0.4 s and bounces with half its speed
    struck = time >= 0.4
    rate = np.where(struck, 0.5 * 9.81 * 0.4 - 9.81 * (time - 0.4), -9.81 * time)
    path = np.where(struck, -9.81 * 0.08 + 1.962 * (time - 0.4) - 9.81 / 2 * (time - 0.4) ** 2, -9.81 / 2 * time**2)
    slope, sense = np.full(len(time), -9.81), -1 if mark < 0 else 1
    found = passing(time, rate, mark, sense, slope, path)
    seen = (rate[1:] > mark).any() or sense < 0  # one that comes back before the next sample is not seen
    assert found == pytest.approx(exact, abs=1e-9, nan_ok=True) if seen else math.isnan(found)


@pytest.mark.parametrize(("begin", "exact"), [(0.31, 0.47), (0.41, 0.47), (0.51, 0.51), (0.6, 0.6), (1.1, math.nan)])
def test_when_from_a_time_between_two_samples_on(begin, exact):
    """It began at the next sample, and a passage before that was lost."""
    mark, asked = -9.81 / 2 * 0.47**2, {"until": 1.0, "every": 0.1}
    fall = jp.simulate(BALL, **asked)
    time, error = jp.results.when_with_error(fall, "y", "ball", below=mark, begin=begin)
    assert time == pytest.approx(exact, abs=1e-9, nan_ok=True) and not error > 1e-9
    assert jp.results.when(fall, "kinetic", above=5.0, begin=0.345) == pytest.approx(0.345)  # of 1 kg: 4.3 to 7.7 J
    if begin < 1.0:
        table = jp.sweep(BALL, {"ball.mass": [1.0]}, settled=begin, metrics=f"when(y[ball] below {mark})", **asked)
        assert float(table[f"when(y[ball] below {mark})"][0]) == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize(
    ("mark", "begin", "exact"),
    [(-0.05, 0.21, 0.3), (-0.05, 0.31, 0.31), (-0.05, 0.44, 0.44), (0.05, 0.31, 0.31), (0.05, 0.36, math.nan)],
)
def test_when_of_a_rate_from_a_time_beside_its_jump_on(mark, begin, exact):
    """A rate falls by 1 a second and jumps from -0.3 to 0.1 at 0.3 s; samples are 0.2 s apart."""
    time = np.arange(0.0, 0.9, 0.2)
    rate = np.where(time > 0.3, 0.4 - time, -time)
    path = np.where(time > 0.3, -0.045 + 0.1 * (time - 0.3) - (time - 0.3) ** 2 / 2, -(time**2) / 2)
    found = passing(time, rate, mark, 1, np.full(len(time), -1.0), path, begin=begin)
    assert found == pytest.approx(exact, abs=1e-9, nan_ok=True)


def test_when_a_sample_is_beyond_the_mark_by_rounding():
    """The cubic at its own end is off by as much, and had no root."""
    time, values, slopes = np.array([0.2, 0.9]), np.array([-0.7, 0.3]), np.array([0.4, 1.7])
    for ulps in range(1, 6):
        found = passing(time, values, 0.3 - ulps * 5.6e-17, 1, slopes)
        assert found == pytest.approx(0.9, abs=1e-12)


def test_the_time_of_a_mark_says_how_it_was_sampled():
    names = ["when(y_rate[ball] below -1)", "when(y[ball] below -1)"]
    table = jp.sweep(BALL, {"ball.mass": [1.0]}, until=1.0, every=0.1, metrics=names)
    assert all(table[name].attrs["long_name"].endswith("seen in samples 0.1 s apart") for name in names)


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("when(y[ball])", "above or below which mark"),
        (
            "when(y[ball] above 30 deg)",
            "the mark must be a length in m, got '30 deg'.*; give a number such as .* '1.5 m'",
        ),
        ("when(angle[ball] above 1 mm)", "the mark must be an angle in rad, got '1 mm'"),
        ("when(angle_rate[ball] above 3 1/min)", "does not say turns or radians"),
        ("when(y[ball] above 1 mn)", "unknown unit 'mn'; did you mean 'm"),
        ("when(y[ball] above high)", "a number such as 1.5, got 'high'"),
        ("when(y[ball] above nan)", "must be finite"),
        ("when(mass[ball] above 1)", "no run has 'mass'"),
        ("when(y[bal] above 1)", "did you mean 'ball'"),
    ],
)
def test_marks_that_cannot_be(metric, said):
    with pytest.raises(InputError, match=said):
        jp.sweep(BALL, {"ball.mass": [1.0]}, until=0.1, metrics=[metric])


def test_the_effort_of_a_drive_has_the_unit_of_its_motion():
    turned = jp.library.slider_crank(speed=10.0)
    pushed = turned.replace(
        drives={"motor": {"kind": "position", "of": "J4", "motion": jp.sine(0.01, 2.0, offset=0.35)}}
    )
    for mechanism, unit in ((turned, "N*m"), (pushed, "N")):
        table = jp.sweep(mechanism, {"crank.mass": [1.0]}, until=0.01, metrics=["peak_effort[motor]"])
        assert table["peak_effort[motor]"].attrs["units"] == unit


def test_a_mark_may_carry_its_unit():
    ball = jp.Mechanism(bodies={"ball": {"mass": 1, "inertia": 1}}, gravity=(0, -9.81))
    fall = jp.simulate(ball, until=1.0)
    assert jp.results.when(fall, "y", "ball", below="-200 mm") == jp.results.when(fall, "y", "ball", below=-0.2)
    assert math.isnan(jp.results.when(fall, "y", "ball", below=-0.2, begin=2.0))
    for wrong, said in (
        ({"name": "y", "label": "bal", "below": 0}, "no body 'bal' has y; did you mean 'ball'"),
        ({"name": "yy", "label": "ball", "below": 0}, "did you mean 'y'"),
        ({"name": "y", "label": "ball", "below": "3 N"}, "must be a length in m"),
    ):
        with pytest.raises(InputError, match=said):
            jp.results.when(fall, **wrong)


def test_the_mark_of_a_metric_may_carry_its_unit(tmp_path):
    thrown = BALL.replace(start={"ball.y.rate": 3.0, "ball.rate": 2.0})
    pairs = {
        "when(y[ball] below -200 mm)": "when(y[ball] below -0.2)",
        "when(angle[ball] above 30 deg)": f"when(angle[ball] above {math.radians(30)!r})",
        "when(y_rate[ball] < 6 km/h)": f"when(y_rate[ball] below {6 / 3.6!r})",
    }
    asked = {"until": 1.0, "metrics": [*pairs, *pairs.values()], "store": tmp_path / "study.zarr"}
    table = jp.sweep(thrown, {"ball.mass": [1.0]}, **asked)
    for one, other in pairs.items():
        name = one.replace("< 6 km/h", "below 6 km h^-1")  # names in files have no strokes
        assert 0 < float(table[name][0]) == pytest.approx(float(table[other][0]), abs=1e-12)
    assert (
        table["when(angle[ball] above 30 deg)"]
        .attrs["long_name"]
        .endswith("above 30 deg, seen in samples 0.001 s apart")
    )
    more = jp.sweep(thrown, {"ball.mass": [1.0, 2.0]}, **asked)  # a store is taken up by the names in it
    assert float(more["when(y[ball] below -200 mm)"][1]) == float(table["when(y[ball] below -200 mm)"][0])


def test_a_signal_has_one_name_and_other_spellings_are_taken():
    names = [m.name for m in read_metrics(["J2.peak_force", "rms(motor.torque)", "when(ram.x.rate above 0.1)"])]
    assert names == ["peak_force[J2]", "rms(torque[motor])", "when(x_rate[ram] above 0.1)"]
    run = jp.simulate(BALL, until=0.5)
    times = [jp.results.when(run, *name, below=-1.0) for name in (("y", "ball"), ("ball.y",), ("y[ball]",))]
    assert times[0] == times[1] == times[2] > 0
    for name in ("ball.y_rate", "ball.y.rate", "y_rate[ball]"):
        assert jp.analysis.from_run(run, name).name == "ball.y_rate"
        assert jp.plots.comparison({"fall": run}, [name]).axes


def test_when_of_a_result_needs_a_signal_and_one_mark():
    run = jp.simulate(BALL, until=0.1)
    for given, said in (({}, "give the mark"), ({"above": 1, "below": 1}, "one of them")):
        with pytest.raises(InputError, match=said):
            jp.results.when(run, "y", "ball", **given)
    with pytest.raises(InputError, match="no signal 'z'"):
        jp.results.when(run, "z", "ball", above=1)
    with pytest.raises(InputError, match="no body 'bat'"):
        jp.results.when(run, "y", "bat", above=1)


def test_masses_do_not_move_a_mechanism_and_lengths_do():
    system = System(jp.library.slider_crank())
    jp.statics.assemble(system)
    heavy, long = (
        system.with_({"rod.mass": 7.0}),
        system.with_({"rod.length": 1.05 * system.mechanism.bodies["rod"].length}),
    )
    assert placed_alike(heavy) is not None and placed_alike(long) is None
    for other in (heavy, long):
        assert np.array_equal(jp.statics.assemble(other), jp.statics.assemble(System(other.given)))


def test_a_mass_centre_that_moves_from_zero_moves_the_mechanism():
    """A number that is 0 in the first run shapes the others all the same; so does a mass beside a counterweight."""
    mechanism = jp.library.four_bar()
    coupler = mechanism.bodies["coupler"]
    bodies = {**mechanism.bodies, "coupler": coupler.model_copy(update={"given_inertia": coupler.inertia})}
    given = mechanism.replace(bodies=bodies)
    over = {"coupler.centre.y": [0.0, 0.02, 0.05]}
    table = jp.sweep(given, over, until=0.05, metrics=["peak_force[J2]"], stepper=jp.RungeKutta())
    alone = [float(jp.simulate(given.with_({"coupler.centre.y": y}), 0.05, jp.RungeKutta()).peak_force.sel(joint="J2"))
             for y in over["coupler.centre.y"]]  # fmt: skip
    assert table["peak_force[J2]"].values == pytest.approx(alone, rel=1e-9)


def test_ideal_twins_are_told_apart_by_their_tables():
    """Two tables of one shape: the journal begins on the wall that its own torque presses it to."""

    def pushed(torque):
        table = {"kind": "table", "times": [0.0, 1.0, 2.0], "values": [torque] * 3}
        base = jp.library.crank_rocker_2016().replace(
            forces={"motor": {"kind": "torque", "on": "crank", "torque": table}}
        )
        return base.loosen("J2", 1e-3, journal_radius=0.06, contact=jp.Rigid())

    jp.simulate(pushed(5.0), 0.01)
    after = jp.simulate(pushed(-5.0), 0.01)
    TWINS.things.clear()
    assert jp.simulate(pushed(-5.0), 0.01).drop_attrs().equals(after.drop_attrs())


def test_one_worker_gives_batches_as_they_come(tmp_path):
    """Else Ctrl-C would lose the whole study."""
    events = []

    def slow(run):
        """A number."""
        time.sleep(0.01)
        events.append("run")
        return 1.0

    jp.sweep(
        jp.library.pendulum(), {"bar1.mass": jp.grid(1.0, 2.0, 200)}, until=0.01, metrics=[slow], executor=1,
        store=tmp_path / "s.zarr", progress=lambda done: events.append("told"),
    )  # fmt: skip
    early = [i for i, what in enumerate(events) if what == "told" and "run" in events[:i] and "run" in events[i:]]
    assert events.count("run") >= 200 and early


def test_a_list_is_no_metric():
    loose = jp.library.crank_rocker_2016(1e-3)
    with pytest.raises(InputError, match="is a list; give a function"):
        jp.sweep(loose, {"crank.mass": [1.0, 2.0]}, until=0.01, metrics=["impact_time"], stepper=jp.MoreauJean(1e-4))


def test_how_much_later_an_event_is_than_with_ideal_joints():
    ideal = jp.library.slider_crank(speed=30.0)
    stepper = jp.MoreauJean(1e-5)
    names = ["later(x[slider] below 250 mm)", "later(x_rate[slider] > 1)", "later(force[J1] above 300 N)"]
    over = {"J3.clearance": [0.0, 2e-4, 4e-4]}
    table = jp.sweep(ideal, over, until=0.2, settled=0.01, every=1e-3, stepper=stepper, metrics=names)
    asked = {"until": 0.2, "every": 1e-3, "stepper": stepper}
    runs = [jp.simulate(ideal, **asked), jp.simulate(ideal.loosen("J3", 4e-4), **asked)]
    for name, signal, mark in (
        (names[0], "x", {"below": 0.25}),
        ("later(x_rate[slider] above 1)", "x_rate", {"above": 1.0}),
    ):
        first, second = (jp.results.when(run, signal, "slider", begin=0.01, **mark) for run in runs)
        assert float(table[name][2]) == pytest.approx(second - first, rel=1e-6) != 0
    assert (table.isel({"J3.clearance": 0})[[names[0]]].to_array() == 0).all()  # a clearance of 0 is the ideal joint
    assert np.isfinite(table[names[2]]).all()
    said = table[names[0]].attrs
    assert said["units"] == "s" and said["long_name"].startswith("how much later than with ideal joints")


def test_what_is_beyond_its_mark_already_is_not_later():
    loose = jp.library.slider_crank(speed=30.0).loosen("J3", 2e-4)
    metric = "later(x[slider] above 0.1)"
    table = jp.sweep(loose, {"rod.mass": [0.5]}, until=0.02, stepper=jp.MoreauJean(1e-4), metrics=metric)
    assert table[metric].isnull().all()
