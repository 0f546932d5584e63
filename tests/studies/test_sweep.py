"""sweep: tables of functions and mechanisms, metrics, failures, the same numbers whatever computes them."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import jointplay as jp
from jointplay import studies
from jointplay.errors import InputError
from jointplay.studies import telling
from jointplay.studies.metrics import read_metrics

from .functions import ishigami, moody, once_deadly, slow

UNIT = {"x": jp.uniform(0, 1), "y": jp.uniform(0, 1)}
LOOSE = jp.library.crank_rocker_2016(clearance2=1e-3).replace(
    forces={"motor": {"kind": "torque", "on": "crank", "torque": 6.0}}
)
BRIEF = {"until": 0.02, "stepper": jp.MoreauJean(1e-4)}


def same(a, b):
    """Whether two tables are the same, to the last bit."""
    names = [*a.data_vars, *a.coords]
    texts = [n for n in names if a[n].dtype.kind not in "fiub"]
    return (
        set(a.variables) == set(b.variables)
        and all(a[n].dims == b[n].dims and a[n].values.tolist() == b[n].values.tolist() for n in texts)
        and all(np.array_equal(a[n], b[n], equal_nan=True) for n in names if n not in texts)
    )


# -- functions
def test_a_grid_has_its_addresses_as_dimensions():
    table = jp.sweep(lambda x, y: x * y, {"x": jp.grid(0, 1, 3), "y": [1, 10]})
    assert table["value"].dims == ("x", "y") and table["value"].values.tolist() == [[0, 0], [0.5, 5], [1, 10]]
    assert (table.status == 1).all() and table.status.attrs["flag_meanings"].split()[1] == "done"


def test_samples_have_one_dimension_and_a_grid_beside_them_stays_one():
    table = jp.sweep(lambda x, y: x + y, {"y": [0, 10], "x": jp.uniform(0, 1)}, samples=8)
    assert table["value"].dims == ("y", "run") and table["x"].dims == ("run",)
    assert np.array_equal(table["value"].sel(y=10), table["x"] + 10)


def test_named_values_of_a_function():
    table = jp.sweep(lambda f, x: f(x), {"f": {"sine": math.sin, "root": math.sqrt}, "x": [0.25, 1]})
    assert table["value"].sel(f="root").values.tolist() == [0.5, 1]


def test_failed_runs_carry_their_outcome():
    table = jp.sweep(moody, UNIT, samples=256)
    x, y = table.x.values, table.y.values
    raised = (x > 0.9) & (y > 0.9)
    assert raised.any() and np.array_equal(table.status.values == 3, raised)
    assert all("too much" in str(text) for text in table.outcome.values[raised])
    assert np.isnan(table["sum"].values[raised]).all() and not table.outcome.values[~raised].astype(bool).any()
    assert np.isinf(table["product"].values[(x > 0.9) & ~raised]).all()
    with pytest.raises(studies.StudyFailed, match="too much"):
        jp.sweep(moody, UNIT, samples=256, on_error="raise")


def test_threads_and_processes_give_the_same_table():
    alone = jp.sweep(slow, UNIT, samples=300)
    with ThreadPoolExecutor(3) as pool:
        assert same(jp.sweep(slow, UNIT, samples=300, executor=pool), alone)
    assert same(jp.sweep(slow, UNIT, samples=300, executor=2), alone)


def test_a_lost_worker_is_replaced(tmp_path, monkeypatch):
    alone = jp.sweep(slow, UNIT, samples=300)
    (tmp_path / "deadly").write_text("")
    monkeypatch.setenv("DEADLY", str(tmp_path / "deadly"))
    table = jp.sweep(once_deadly, UNIT, samples=jp.samples(300), metrics=["sum", "product"], executor=2)
    assert not (tmp_path / "deadly").exists() and same(table, alone)


def test_progress_counts_runs():
    told = []
    jp.sweep(slow, UNIT, samples=40, progress=told.append)
    assert told[-1].done == told[-1].total == 40 and "40 of 40 runs" in str(told[-1])
    assert [one.done for one in told] == sorted(one.done for one in told)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"over": {"z": [1]}}, "has no such argument"),
        ({"over": UNIT}, "needs samples"),
        ({"over": {"x": [1], "y": [1]}, "samples": 5}, "nothing to draw"),
        ({"over": UNIT, "samples": 0}, "number >= 1"),
        ({"over": UNIT, "samples": 3, "on_error": "ignore"}, "on_error"),
        ({"over": UNIT, "samples": 3, "executor": 0}, "at least 1"),
        ({"over": UNIT, "samples": 3, "executor": object()}, "a Dask client or its address"),
        ({"over": {"x": [1], "y": ["one"]}}, "y: must be a number"),
    ],
)
def test_bad_input_of_a_function(given, said):
    with pytest.raises(ValueError, match=said):
        jp.sweep(slow, **given)


def test_a_function_that_never_gives_a_number():
    def broken(x):
        raise RuntimeError("no luck")

    with pytest.raises(ValueError, match="no luck"):
        jp.sweep(broken, {"x": [1, 2]})


# -- mechanisms
METRICS = ["peak_force", "final(angle[rocker])", "max(force[J2])", "impacts[J2]", "deviation[rocker]", "energy_lost"]


@pytest.fixture(scope="module")
def grid():
    return jp.sweep(LOOSE, {"J2.clearance": [0, 1e-3, 2e-3], "J2.friction": [0.0, 0.1]}, metrics=METRICS, **BRIEF)


def test_numbers_of_a_study_are_those_of_single_runs(grid):
    assert (grid.status == 1).all() and grid["J2.clearance"].attrs["units"] == "m"
    for c in (0.0, 2e-3):
        mechanism = LOOSE.with_({"J2.clearance": c, "J2.friction": 0.1})
        run, at = jp.simulate(mechanism, **BRIEF), {"J2.clearance": c, "J2.friction": 0.1}
        one = grid.sel(at)
        assert float(one["peak_force[J3]"]) == float(run.peak_force.sel(joint="J3"))
        assert float(one["final(angle[rocker])"]) == float(run.angle.sel(body="rocker")[-1])
        force = np.hypot(run.force_x, run.force_y).sel(joint="J2")
        assert float(one["max(force[J2])"]) == float(force.max())
        twin = jp.simulate(mechanism.closed(), **BRIEF)
        deviation = float(jp.results.deviation(run, twin).sel(body="rocker"))
        assert float(one["deviation[rocker]"]) == deviation and (deviation > 0) is (c > 0)
        assert (
            np.isnan(one["impacts[J2]"])
            if c == 0
            else float(one["impacts[J2]"]) == float(run.impacts.sel(contact="J2"))
        )
    assert grid["peak_force[J2]"].attrs["units"] == "N" and grid["deviation[rocker]"].attrs["units"] == "%"


def test_a_study_of_a_mechanism_does_not_depend_on_workers(grid):
    over = {"J2.clearance": [0, 1e-3, 2e-3], "J2.friction": [0.0, 0.1]}
    for executor in (1, 3):
        assert same(jp.sweep(LOOSE, over, metrics=METRICS, executor=executor, **BRIEF), grid)


def test_deviations_from_the_ideal_twin_with_either_joint_open():
    ideal = jp.library.crank_rocker_2016().replace(forces=LOOSE.forces)
    over = {"J2.clearance": [0, 1e-3], "J3.clearance": [0, 1e-3]}
    found = jp.sweep(ideal, over, metrics=["deviation[rocker]", "shift[coupler]"], **BRIEF)
    for name in ("deviation[rocker]", "shift[coupler]"):
        table = found[name].values
        assert table[0, 0] == 0 and (table.ravel()[1:] > 0).all() and len(set(table.ravel())) == 4
    run = jp.simulate(ideal.with_({"J2.clearance": 1e-3}), **BRIEF)
    twin = jp.simulate(ideal, **BRIEF)
    off = np.hypot(*(jp.results.apart(run, twin, axis).sel(body="coupler") for axis in "xy"))
    assert found["shift[coupler]"].values[1, 0] == off.max() and found["shift[coupler]"].attrs["units"] == "m"


def test_a_fit_opens_its_joint_with_its_radius():
    ideal = jp.library.crank_rocker_2016()
    table = jp.sweep(ideal, {"J2.fit": "20 H7/g6"}, until=0.002, samples=4, metrics="peak_force[J2]")
    assert (
        table["J2.clearance"].dims == ("run",)
        and ((table["J2.clearance"] >= 3.5e-6) & (table["J2.clearance"] <= 2.05e-5)).all()
    )
    assert np.allclose((table["J2.hole"] - table["J2.shaft"]) / 2, table["J2.clearance"], rtol=1e-9)


def test_named_contacts_steppers_and_controllers():
    over = {
        "J2.contact": {"rough": jp.Rigid(friction=0.2), "smooth": jp.Rigid()},
        "stepper": {"coarse": jp.MoreauJean(2e-4), "fine": jp.MoreauJean(1e-4)},
        "control": {"none": None, "pd": jp.control.pd("crank", jp.sine(1.0, 2.0), k1=10, k2=1)},
    }
    table = jp.sweep(LOOSE, over, until=0.01, metrics=["final(angle[crank])"])["final(angle[crank])"]
    assert table.dims == tuple(over) and len(np.unique(table.values)) == 8
    direct = jp.simulate(LOOSE.loosen("J2", "1 mm", contact=jp.Rigid(friction=0.2)), 0.01, jp.MoreauJean(2e-4))
    assert float(table.sel({"J2.contact": "rough", "stepper": "coarse", "control": "none"})) == float(
        direct.angle[-1, 0]
    )


def test_the_step_of_a_stepper_is_an_axis():
    table = jp.sweep(LOOSE, {"stepper.step": ["0.1 ms", 2e-4]}, until=0.01, metrics="final(angle[crank])")
    assert table["stepper.step"].attrs["units"] == "s" and len(set(table["final(angle[crank])"].values)) == 2


def test_signals_are_kept_where_asked():
    table = jp.sweep(LOOSE, {"J2.friction": [0.0, 0.1]}, keep=["angle[rocker]"], every=1e-3, **BRIEF)
    run = jp.simulate(LOOSE.with_({"J2.friction": 0.1}), every=1e-3, **BRIEF)
    assert table["angle[rocker]"].dims == ("J2.friction", "time")
    assert np.array_equal(table["angle[rocker]"].values[1], run.angle.sel(body="rocker"))


TURNING = jp.library.slider_crank(speed=30.0).loosen("J3", 5e-4, contact=jp.Rigid(restitution=0.5))


@pytest.mark.parametrize("every", [None, 1e-3])
@pytest.mark.parametrize(
    "over",
    [
        {"stepper.step": [1e-4, 3e-4]},
        {"stepper.step": [2e-4, 3e-4, 4e-4]},
        {"stepper": {"short": jp.MoreauJean(1e-4), "long": jp.MoreauJean(3e-4), "chosen": jp.MoreauJean()}},
    ],
)
def test_signals_of_runs_with_other_steps_stand_at_their_own_times(over, every):
    table = jp.sweep(TURNING, over, 0.12, stepper=jp.MoreauJean(1e-4), keep=["angle[crank]"], every=every)
    angle = table["angle[crank]"].values  # its drive turns at 30 rad/s whatever the steps
    assert np.allclose(angle - angle[:, :1], 30.0 * table["time"].values, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("steps", "more", "remedy"),
    [
        ([1e-4, 3e-4], {"until": 0.1}, "choose until = 0.0999 s"),
        ([2e-4, 3e-4, 4e-4], {"until": 0.12, "every": 5e-4}, "choose every = 0.0012 s"),
        ([1e-4, 1e-4 * math.sqrt(2)], {"until": 0.12}, "choose steps that divide a longer one"),
    ],
)
def test_signals_without_times_in_common_are_refused(steps, more, remedy):
    with pytest.raises(InputError, match=remedy):
        jp.sweep(TURNING, {"stepper.step": steps}, stepper=jp.MoreauJean(1e-4), keep=["angle[crank]"], **more)


def test_a_function_of_the_result_is_a_metric():
    def turned(run):
        """How far the crank has turned."""
        return float(run.angle[-1, 0] - run.angle[0, 0])

    table = jp.sweep(LOOSE, {"J2.friction": [0.0]}, metrics=[turned], **BRIEF)
    run = jp.simulate(LOOSE.with_({"J2.friction": 0.0}), **BRIEF)
    assert float(table["turned"][0]) == float(run.angle[-1, 0] - run.angle[0, 0])
    assert table["turned"].attrs["long_name"] == "How far the crank has turned."


def test_runs_that_end_early_or_cannot_be_are_recorded():
    following = jp.library.four_bar().loosen("J3", "1 mm", contact=jp.Following())
    over = {"start.crank.rate": [1.0, 6.0], "J3.clearance": [1e-3, 4.0]}
    table = jp.sweep(following, over, until=1.0, metrics="final(angle[crank])")
    assert table.status.values.tolist()[1][0] == 2 and "contact" in str(table.outcome.values[1, 0])
    assert 0 < float(table.reached[1, 0]) < 1 and np.isnan(table["final(angle[crank])"][1, 0])
    assert (table.status[:, 1] == 3).all() and str(table.outcome.values[0, 1])


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("peak_forces", "did you mean 'peak_force'"),
        ("peak_force[J9]", "has joints"),
        ("angle[crank]", "say which number of it, such as 'max"),
        ("max(peak_force[J2])", "no signal over time"),
        ("median(angle[crank])", "no statistic 'median'"),
        ("max(angle[crank]", "must be a name such as"),
        ("", "must be a name such as"),
        (3, "must be a name such as"),
    ],
)
def test_metrics_that_are_not_there(metric, said):
    with pytest.raises(ValueError, match=said):
        jp.sweep(LOOSE, {"J2.friction": [0.0]}, metrics=[metric], **BRIEF)


def test_metrics_read_and_written():
    texts = ["error_max[crank]", "peak_force[J2]", "rms(torque[motor])", "deviation[rocker]", "impacts"]
    assert [m.name for m in read_metrics(texts)] == texts
    with pytest.raises(ValueError, match="twice"):
        read_metrics(["impacts", "impacts"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"until": None}, "until must be"),
        ({"until": -1}, "until must be"),
        ({"settled": 2.0}, "leaves nothing"),
        ({"every": 2.0}, "longer than the run"),
        ({"metrics": None}, "which numbers"),
        ({"stepper": "fast"}, "stepper must be"),
        ({"keep": ["max(angle[crank])"]}, "names of signals"),
        ({"over": {"J2.contct": {"a": jp.Rigid()}}}, "contct"),
    ],
)
def test_bad_input_of_a_mechanism(given, said):
    with pytest.raises(ValueError, match=said):
        jp.sweep(LOOSE, **{"over": {"J2.friction": [0.0]}, "metrics": "impacts", **BRIEF} | given)


# -- what it means
def test_sobol_indices_of_ishigamis_function():
    over = {name: jp.uniform(-math.pi, math.pi) for name in "abc"}
    table = jp.sweep(ishigami, over, samples=jp.samples(2**12, "saltelli"))
    found = studies.indices(table, "value")
    assert np.allclose(found["first"], [0.3139, 0.4424, 0], atol=0.02)
    assert np.allclose(found["total"], [0.5576, 0.4424, 0.2437], atol=0.02)
    assert (found["first_error"] < 0.03).all() and (found["total_error"] > 0).all()
    plain = studies.indices(jp.sweep(ishigami, over, samples=2**12), "value")
    assert np.allclose(plain["first"], [0.31391, 0.44241, 0], atol=0.002)  # chance is small where samples are even
    assert "total" not in plain and "saltelli" in plain.attrs["note"]


@pytest.mark.parametrize("course", [lambda x: x, lambda x: 3 * x**2 - x, lambda x: abs(x - 12e-6)])
def test_one_axis_alone_explains_all_of_the_variance(course):
    for count in (64, 512):
        table = jp.sweep(lambda **x: course(x["J2.clearance"]), {"J2.clearance": jp.fit("20 H7/g6")}, samples=count)
        found = studies.indices(table, "value")
        assert abs(float(found["first"][0]) - 1) < max(2 * float(found["first_error"][0]), 2e-3)


def test_an_axis_that_does_nothing_explains_nothing():
    over = {name: jp.normal(0.0, 1.0) for name in "ab"}
    found = studies.indices(jp.sweep(lambda a, b: a, over, samples=jp.samples(512, "random")), "value")
    assert abs(float(found["first"][0]) - 1) < 1e-6
    assert abs(float(found["first"][1])) < 2 * float(found["first_error"][1]) < 0.2


def test_a_share_has_wilsons_interval():
    table = jp.sweep(lambda x: x, {"x": jp.uniform(0, 1)}, samples=jp.samples(400, "random"))
    found = studies.share(table, "value", 0.9)
    assert found.low < 0.1 < found.high and found.runs == 400 and found.beyond == int((table.value > 0.9).sum())
    none = studies.share(table, "value", 2.0)
    assert none.share == 0 and none.low == 0 and np.isclose(none.high, 1.96**2 / (400 + 1.96**2), rtol=1e-3)
    from scipy.stats import binomtest

    exact = binomtest(found.beyond, 400).proportion_ci(method="wilson")
    assert np.allclose([found.low, found.high], exact)
    assert studies.percentiles(table, "value")[50] == np.percentile(table.value, 50)


def reaching(name, samples):
    """Half of the machines never reach the mark."""
    return jp.sweep(lambda x: {name: x if x < 0.5 else np.nan}, {"x": jp.uniform(0, 1)}, samples=samples)


def test_runs_that_never_reach_a_mark_are_beyond_every_limit_and_told():
    name = "when(x[slider] above 0.4)"
    table = reaching(name, 32)
    found = studies.share(table, name, 0.4)
    late, never = int(((table[name] > 0.4) & (table[name] < 0.5)).sum()), int(np.isnan(table[name]).sum())
    assert never == 16 and (found.beyond, found.runs, found.failed) == (late + 16, 32, 0)
    assert found.low < 0.6 < found.high and str(found).endswith("; 16 of 32 runs never reach it")
    told = dict(telling.lines(table, {name: 0.4}))
    assert told[name].endswith("16 of 32 runs never reach it and count in none of these")
    assert told[f"{name} > 0.4"].endswith("of 32 runs; 16 of 32 runs never reach it")
    assert "16 of 32 runs never reach it" in telling.caution(table, name)
    assert "16 of 32 runs never reach it" in studies.indices(table, name).attrs["note"]
    assert "of runs that have it" in telling.ranking_lines(table, name, 0.4)[0][3]
    nowhere = table.assign({name: table[name] * np.nan})
    assert studies.share(nowhere, name, 0.4).share == 1
    base = reaching(name, jp.samples(16, "saltelli"))
    independent = base[name].values.reshape(16, 3)[:, [0, 2]]
    assert f"; {np.isnan(independent).sum()} of 32 runs never reach it" in str(studies.share(base, name, 0.4))
    assert "runs that failed or never reach it" in studies.indices(base, name).attrs["note"]


def test_runs_without_a_number_count_in_a_share_and_are_told():
    table = reaching("free", 32)
    found = studies.share(table, "free", 0.25)
    assert (found.beyond, found.runs, found.missing) == (8, 32, "16 of 32 runs have none")
    with pytest.raises(ValueError, match="no run of the study has a free"):
        studies.share(table.assign(free=table["free"] * np.nan), "free", 0.25)


def test_halving_the_axis_that_counts_gains_most():
    def error(a, b, c):
        return 3 * a + b**2 + 0.1 * c

    table = jp.sweep(error, {name: jp.uniform(0.5, 1.5) for name in "abc"}, samples=512)
    found = studies.ranking(table, "value", limit=4.5)
    assert found.factor.values.tolist() == ["a", "b", "c"] and found.attrs["explained"] > 0.999
    exact = [1.5, 0.75 * np.mean(table.b**2), 0.05]
    assert np.allclose(found["gain"], exact, rtol=2e-3)
    halved = 1.5 * table.a + table.b**2 + 0.1 * table.c
    assert abs(float(found["beyond"][0]) - float((halved > 4.5).mean())) < 0.01


@pytest.mark.parametrize("function", [studies.indices, studies.ranking])
def test_what_needs_samples_says_so(function):
    table = jp.sweep(lambda x: x, {"x": [1, 2]})
    with pytest.raises(ValueError, match="no samples"):
        function(table, "value")
    with pytest.raises(ValueError, match="no metric 'valeu'"):
        studies.share(table, "valeu", 1.0)


# -- lanes
@pytest.mark.parametrize("stepper", [jp.MoreauJean(2e-4), jp.RungeKutta(1e-6, 1e-8)])
def test_lanes_threads_and_order_do_not_change_a_bit(stepper, monkeypatch):
    contact = (
        jp.Rigid(friction=0.1)
        if isinstance(stepper, jp.MoreauJean)
        else jp.Compliant(normal={"law": "hunt_crossley", "stiffness": 1e6})
    )
    loose = LOOSE.loosen("J2", "1 mm", contact=contact)
    over = {"J2.clearance": [0, 1e-3, 2e-3], "crank.mass": [1.0, 3.0], "start.crank.rate": [0.0, 2.0]}
    asked = {"until": 0.008, "stepper": stepper, "metrics": ["final(angle[rocker])", "peak_force", "shift[coupler]"]}
    found = {}
    ways = [(1, 1), (4, 2), *([(8, 1)] if isinstance(stepper, jp.MoreauJean) else [])]
    for lanes, workers in ways:
        monkeypatch.setattr("jointplay.studies.lanes.LANES", lanes)
        found[lanes] = jp.sweep(loose, over, executor=workers, **asked)
        assert (found[lanes].status == 1).all(), found[lanes].outcome.values
    assert all(same(found[1], other) for other in found.values())
    turned = jp.sweep(loose, {key: over[key][::-1] for key in reversed(over)}, **asked)
    for name in ("final(angle[rocker])", "shift[coupler]"):
        assert np.array_equal(turned[name].sortby(list(over)).transpose(*over), found[1][name])


def test_a_run_that_cannot_begin_leaves_its_lane_to_the_next():
    right = float(jp.check(LOOSE).q[3])
    over = {"start.coupler.x": [right - 0.1, right, right + 0.1], "crank.mass": [0.5, 1.0]}  # the others penetrate
    loose = LOOSE.replace(start={"crank": 1.571, "coupler.x": right, "journals": "centred"})
    table = jp.sweep(loose, over, metrics="final(angle[crank])", **BRIEF)
    assert (table.status.values == [[3, 3], [1, 1], [3, 3]]).all()
    assert "penetrates" in str(table.outcome.values[2, 0])


def test_runs_are_judged_as_single_ones_are():
    """Steps of 4 ms cross the play several times over: the run was just done."""
    slider = jp.library.slider_crank(speed=30.0).loosen("J3", 5e-4, contact=jp.Rigid(restitution=0.5))
    asked = {"until": 0.1, "stepper": jp.MoreauJean(4e-3, order=1)}
    table = jp.sweep(slider, {"motor.speed": [1e-3, 30.0]}, metrics=["peak_force[J3]"], **asked)
    run = jp.simulate(slider.with_({"motor.speed": 30.0}), **asked)
    assert run.attrs["judgement"] == "wrong" and table.status.values.tolist() == [1, 1]
    assert str(table.outcome.values[1]) == run.attrs["judgement_text"]
    assert float(table["peak_force[J3]"][1]) == float(run.peak_force.sel(joint="J3"))
    told = dict(telling.lines(table))
    assert "failed" not in told and "count all the same; run" in told["doubtful or wrong"]


def test_numbers_of_samples_that_do_not_show_the_motion_are_doubtful():
    """Seen once in each turn the slider rests; peaks are of all steps, and the end is the end."""
    slider = jp.library.slider_crank(speed=1000 * math.tau / 60)
    asked = {"over": {"rod.mass": [0.8]}, "until": 0.6, "every": 0.06}
    table = jp.sweep(slider, metrics=["max(x[slider])", "min(x[slider])", "peak_effort"], **asked)
    assert abs(float(table["max(x[slider])"][0] - table["min(x[slider])"][0])) < 1e-9
    assert "doubtful in max(x[slider]), min(x[slider]): samples are 0.06 s apart" in str(table.outcome.values[0])
    assert "turns by 6.28 rad" in dict(telling.lines(table))["doubtful or wrong"]
    assert not str(jp.sweep(slider, metrics=["peak_effort", "final(x[slider])"], **asked).outcome.values[0])
    assert not str(jp.sweep(slider, metrics=["max(x[slider])"], **asked | {"every": 0.002}).outcome.values[0])


@pytest.mark.parametrize("method", ["random", "saltelli"])
def test_samples_that_values_of_a_grid_share_count_once(method):
    """An axis that changes nothing makes no sample better known."""
    found = []
    for values in ([0], list(range(10))):
        asked = {"a": values, "b": jp.uniform(0, 1), "c": jp.uniform(0, 1)}
        table = jp.sweep(lambda a, b, c: b + c / 9, asked, samples=jp.samples(32, method), seed=3)
        found.append(studies.share(table, "value", 0.5))
    one, ten = found
    assert (ten.share, ten.low, ten.high) == (one.share, one.low, one.high) and ten.runs == 10 * one.runs
    assert math.isnan(studies.share(table.isel(run=3), "value", 0.5).low)  # of one sample nothing is known


def test_a_part_of_a_saltelli_table_keeps_its_base_points():
    """Rows were taken in fours from where the part begins."""
    table = jp.sweep(
        lambda a, b: a + b * b,
        {"a": jp.uniform(0, 1), "b": jp.uniform(0, 1)},
        samples=jp.samples(256, "saltelli"),
    )
    whole = studies.indices(table.isel(run=slice(4, 1020)), "value")
    exact = np.array([15 / 31, 16 / 31])  # 1/12 and 4/45 of their sum
    for part in (table.isel(run=slice(2, 1022)), table.isel(run=slice(1, 1023)), table.isel(run=slice(None, None, -1))):
        found = studies.indices(part, "value")
        assert np.abs(found["first"] - exact).max() < 0.05 and np.abs(found["total"] - exact).max() < 0.05
    found = studies.indices(table.isel(run=slice(2, 1022)), "value")
    assert np.array_equal(found["first"], whole["first"]) and "2 left out" in found.attrs["note"]
    late = table.where(table.run >= 2, drop=True)
    independent = table.value.values.reshape(-1, 4)[:, [0, 3]].ravel()[1:]
    assert studies.share(late, "value", 0.8).beyond == int((independent > 0.8).sum())
    with pytest.raises(ValueError, match="1 base points of saltelli samples are whole"):
        studies.indices(table.isel(run=slice(2, 11)), "value")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda t: studies.share(t, "value", "0.2 kN"), "limit of value must be a number in SI units, got '0.2 kN'"),
        (lambda t: studies.share(t, "value", math.nan), "must be a number in SI units, got nan"),
        (lambda t: studies.percentiles(t, "value", [5, 150]), "numbers from 0 to 100, got .5, 150."),
        (lambda t: studies.percentiles(t, "value", 50), "must be a list of numbers from 0 to 100, got 50"),
        (lambda t: studies.share(jp.simulate(jp.library.pendulum(), 0.1), "x", 1.0), "the result of one run"),
    ],
)
def test_what_is_no_limit_or_percentile_is_refused(asked, said):
    with pytest.raises(InputError, match=said):
        asked(jp.sweep(lambda x: x, {"x": jp.uniform(0, 1)}, samples=8))


def test_runs_that_pass_a_singular_position_are_doubtful_in_loads():
    """A parallelogram that lies flat at 0.25 s, a sample: its coupler falls freely there."""
    flat = jp.loads("""
ground: {points: {O: [0, 0], C: [0.3, 0]}}
bodies: {crank: {bar: 0.1, mass: 1}, coupler: {bar: 0.3, mass: 1}, rocker: {bar: 0.1, mass: 1}}
joints:
  A: {kind: revolute, between: [ground.O, crank.start]}
  B: {kind: revolute, between: [crank.end, coupler.start]}
  D: {kind: revolute, between: [coupler.end, rocker.end]}
  C: {kind: revolute, between: [ground.C, rocker.start]}
drives: {m: {kind: angle, of: crank, motion: {kind: constant_speed, speed: 60 rpm, start: 90 deg}}}
start: {coupler: 0, rocker: 90 deg}
""")
    for metric, told in (("peak(effort[m])", True), ("max(x[coupler])", False)):
        table = jp.sweep(flat, {"crank.mass": [1.0]}, until=0.4, metrics=[metric])
        assert ("passed a singular position" in str(table.outcome.values[0])) == told


def test_a_ranking_tells_what_it_has_no_samples_of():
    """Halves of 0 to 1 are among the samples, those of 0.9 to 1.1 are not."""
    over = {"a.clearance": jp.uniform(0, 1), "b.clearance": jp.uniform(0.9, 1.1)}
    table = jp.sweep(lambda **x: sum(x.values()), over, samples=64)
    outside = studies.ranking(table, "value")["outside"]
    assert float(outside.sel(factor="a.clearance")) < 0.05 and float(outside.sel(factor="b.clearance")) == 1.0
    said = telling.caution(table, "value")
    assert "100 % of b.clearance, halved, lie beyond all samples" in said and "a.clearance" not in said
    narrow = jp.sweep(lambda a: a, {"a": jp.uniform(0, 1)}, samples=64)
    assert "beyond" not in telling.caution(narrow, "value")


def test_a_mark_on_a_gap_has_a_unit():
    loose = LOOSE.replace(start={"journals": "centred"})
    asked = {"over": {"J2.clearance": [1e-3]}, "every": 1e-4, **BRIEF, "until": 0.1}
    table = jp.sweep(loose, metrics=["when(gap[J2] below 0.5 mm)", "when(gap[J2] below 0.0005)"], **asked)
    short, plain = (float(table[name][0]) for name in table.data_vars if "gap" in str(name))
    assert short == plain and 0 < short < 0.1
    run = jp.simulate(loose, 0.1, BRIEF["stepper"], every=1e-4, error=False)
    assert jp.results.when(run, "gap", "J2", below="0.5 mm") == short and run.gap.attrs["units"] == "m"
    with pytest.raises(InputError, match="angle"):
        jp.sweep(loose, metrics=["when(gap[J2] below 0.2 deg)"], **asked)
