"""simulate(): outcomes, redundant and singular mechanisms, permanent contact, bad input, interruption, files."""

import json
import math
import signal

import numpy as np
import pytest

from jointplay import results, statics
from jointplay.errors import InputError
from jointplay.model import Following, Rigid, library, loads
from jointplay.simulation import FixedRungeKutta, MoreauJean, RungeKutta, SimulationFailed, simulate
from jointplay.simulation.endings import passing
from jointplay.system import System
from tests.helpers import PARALLEL


def test_redundant_rows_are_left_out_and_named():
    run = simulate(loads(PARALLEL.replace("60 deg", "-60 deg")), 2.0, RungeKutta(rtol=1e-10, atol=1e-12))
    assert len(json.loads(run.attrs["redundant"])) == 1
    angles = run["angle"].values[:, :3]  # three parallel cranks stay parallel
    assert np.ptp(angles, axis=1).max() < 1e-9 and np.ptp(angles) > 0.5
    assert results.audited(run, "energy imbalance") < 1e-7


def test_a_singular_position_ends_the_run_and_names_its_rows():
    """A parallelogram four-bar driven through the position where all bars are in line."""
    mechanism = library.four_bar((1.0, 2.0, 1.0, 2.0), crank=0.5, side=1)
    motion = {"kind": "constant_speed", "start": 0.5, "speed": -1.0}
    driven = mechanism.replace(drives={"d": {"kind": "angle", "of": "crank", "motion": motion}})
    with pytest.raises(SimulationFailed, match=r"near a singular position at t = 0\.\d+ s: rows J") as caught:
        simulate(driven, 1.0, FixedRungeKutta(0.5 / 64))
    assert caught.value.outcome.kind == "near singular"
    assert caught.value.outcome.time == pytest.approx(0.5, abs=0.02)
    assert float(caught.value.result["time"][-1]) <= caught.value.outcome.time
    assert simulate(driven, 1.0, FixedRungeKutta(0.5 / 64), strict=False).attrs["outcome"] == "near singular"


@pytest.mark.parametrize(
    "clearance, stepper, other",
    [
        (0.0, RungeKutta(), ", MoreauJean() in Python"),
        (0.0, FixedRungeKutta(1e-3), ", RungeKutta() in Python"),
        (1e-3, MoreauJean(), ""),
    ],
)
def test_what_passes_a_singular_position_can_be_had(clearance, stepper, other):
    """RungeKutta() was advised to runs with rigid contact, which it does not compute."""
    mechanism = library.slider_crank().with_({"J3.clearance": clearance})
    told = f"use another step or tolerance (--step, --rtol){other}, or change a length by a little"
    assert passing(stepper, mechanism) == told


def grigore(speed, on_loss="stop"):
    mechanism = library.grigore_figure_5(speed=speed)
    data = {**mechanism.joints["O3"].plain(), "contact": {"kind": "following", "on_loss": on_loss}}
    return mechanism.replace(joints={**mechanism.joints, "O3": data})


def test_lost_contact_stops_the_run_or_is_marked():
    stopped = simulate(grigore(3.0), 3.0, RungeKutta(rtol=1e-10, atol=1e-12), strict=False)
    assert stopped.attrs["outcome"] == "contact lost" and "joint 'O3' loses contact" in stopped.attrs["outcome_text"]
    assert stopped.attrs["outcome_time"] == pytest.approx(1.572540, abs=1e-5)  # started at printed digits
    assert float(stopped["time"][-1]) <= stopped.attrs["outcome_time"]
    push = -stopped["multiplier"].sel(row="O3.distance")
    assert (push > 0).all()
    going = simulate(grigore(3.0, "continue"), 3.0, RungeKutta(rtol=1e-10, atol=1e-12))
    assert going.attrs["outcome"] == "done" and float(going["time"][-1]) == 3.0
    assert len(going["loss_time"]) > 1 and set(going["loss_joint"].values) == {"O3"}
    assert float(going["loss_time"][0]) == pytest.approx(stopped.attrs["outcome_time"], abs=1e-9)
    # the contact's direction is that of the journal seen from the bearing
    first = float(going["loss_angle"][0])
    end = going["angle"].interp(time=going["loss_time"][0], method="cubic").sel(body="coupler")
    assert math.remainder(first - float(end) - float(going["loss_angle_in_bearing"][0]), math.tau) == pytest.approx(
        0.0, abs=1e-3
    )


def test_contact_that_pulls_at_the_start_is_refused_at_once():
    mechanism = library.pendulum(1).loosen("J1", clearance=0.01, contact=Following())
    upright = simulate(mechanism, 1.0, start={"bar1": "90 deg", "bar1.x": 0.0, "bar1.y": 0.51}, strict=False)
    assert upright.attrs["outcome"] == "contact lost" and upright.attrs["outcome_time"] == 0.0
    assert "already at the start" in upright.attrs["outcome_text"]


def test_contacts_a_stepper_cannot_compute_are_named():
    mechanism = library.pendulum(1).loosen("J1", clearance=0.01, contact=Rigid(friction=0.1))
    with pytest.raises(
        ValueError, match=r"J1\.contact: RungeKutta computes permanent and compliant contact, got a rigid"
    ):
        simulate(mechanism, 1.0, RungeKutta())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"until": 0.0}, "until must be a number of seconds > 0, got 0.0"),
        ({"until": None}, "until must be a number of seconds > 0, got None"),
        ({"until": math.nan}, "until must be a number of seconds > 0, got nan"),
        ({"until": "soon"}, r"until: must be a number such as 1\.5 or '1\.5 s', got 'soon'"),
        ({"every": -1.0}, "every must be a number of seconds > 0, got -1.0"),
        ({"every": 3.0}, "every = 3 s is longer than the run of 1 s"),
        ({"start": {"bar9": 1.0}}, "start.bar9: no such body"),
        ({"start": {"bar1": "3 m"}}, "must be an angle in rad"),
    ],
)
def test_bad_arguments_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        simulate(library.pendulum(1), **{"until": 1.0, **change})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RungeKutta(rtol=0.0), "rtol must be a number > 0, got 0.0"),
        (lambda: RungeKutta(rtol=1e-16), "below what double precision can hold"),
        (lambda: RungeKutta(atol=math.inf), "atol must be a number > 0, got inf"),
        (lambda: RungeKutta(max_step=-1.0), "max_step must be a number > 0, got -1.0"),
        (lambda: FixedRungeKutta(0.0), "step must be a number > 0, got 0.0"),
    ],
)
def test_bad_steppers_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_output_interval_and_progress_do_not_change_the_numbers():
    mechanism, told = library.pendulum(2), []
    start = {"bar1": 0.3, "bar2": 1.0}
    fine = simulate(mechanism, 2.0, every=0.01, start=start, progress=told.append)
    coarse = simulate(mechanism, 2.0, every=0.5, start=start)
    for name in ("angle", "angle_rate", "force_x", "work"):
        assert (fine[name].sel(time=coarse["time"], method="nearest").values == coarse[name].values).all()
    assert (fine["peak_force"].values == coarse["peak_force"].values).all()
    assert told == sorted(told) and told[-1] == 2.0


def test_many_samples_in_one_step_are_all_written():
    run = simulate(library.pendulum(1), 1.0, every=1e-4)  # at rest: steps of a hundredth hold a hundred samples
    assert run["time"].values == pytest.approx(np.arange(10001) * 1e-4, abs=1e-15)


def test_interruption_keeps_what_was_computed():
    def interrupt(reached):
        if reached > 0.005:
            signal.raise_signal(signal.SIGINT)

    arguments = dict(stepper=FixedRungeKutta(1e-6), every=0.001, start={"crank.rate": 10.0}, progress=interrupt)
    run = simulate(library.crank_rocker_2016(), 1000.0, strict=False, **arguments)
    assert run.attrs["outcome"] == "interrupted" and 0.005 < run.attrs["outcome_time"] < 1000
    assert float(run["time"][-1]) == pytest.approx(run.attrs["outcome_time"], abs=0.00101)
    with pytest.raises(KeyboardInterrupt):
        simulate(library.crank_rocker_2016(), 1000.0, **arguments)


def test_other_numbers_need_no_new_trace():
    system = System(library.pendulum(2))
    heavier = system.with_({"bar1.mass": 2.0})
    assert heavier.traced is system.traced and heavier.mechanism.value("bar1.mass") == 2.0
    one, two = (simulate(x, 1.0, start={"bar1": 0.2}) for x in (heavier, library.pendulum(2).with_({"bar1.mass": 2.0})))
    assert (one["angle"].values == two["angle"].values).all()
    tilted = system.with_({"gravity.x": 1.0})  # a zero that comes to life changes the program
    assert tilted.traced is not system.traced
    assert tilted.evaluate([0.0] * 6).F[0] == 1.0 and system.evaluate([0.0] * 6).F[0] == 0.0


@pytest.fixture(scope="module")
def run():
    return simulate(library.slider_crank(speed=10.0), 0.5, every=0.01)


def test_results_survive_a_file(run, tmp_path):
    results.save(run, tmp_path / "run.nc")
    back = results.load(tmp_path / "run.nc")
    assert back.identical(run)
    assert loads(back.attrs["model"]) == library.slider_crank(speed=10.0)
    assert run["angle"].attrs["units"] == "rad" and run["force_x"].attrs["units"] == "N"


def test_tables_hold_the_signals(run, tmp_path):
    import pyarrow.parquet

    results.save(run, tmp_path / "run.csv")
    names = (tmp_path / "run.csv").read_text().splitlines()[0].split(",")
    table = np.loadtxt(tmp_path / "run.csv", delimiter=",", skiprows=1)
    assert (table[:, names.index("slider.x")] == run["x"].sel(body="slider").values).all()
    results.save(run, tmp_path / "run.parquet")
    read = pyarrow.parquet.read_table(tmp_path / "run.parquet")
    assert (read["motor.effort"].to_numpy() == run["effort"].sel(drive="motor").values).all()
    assert {b"outcome", b"model", b"version"} <= set(read.schema.metadata)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.csv", "run.parquet"]


def test_bad_files_are_named(run, tmp_path):
    with pytest.raises(ValueError, match=r"suffix must be one of \.nc, \.csv, \.parquet, got '\.xlsx'"):
        results.save(run, tmp_path / "run.xlsx")
    with pytest.raises(ValueError, match="no such file"):
        results.load(tmp_path / "none.nc")
    (tmp_path / "bad.nc").write_bytes(b"no netcdf")
    with pytest.raises(ValueError, match="cannot be read as a NetCDF result"):
        results.load(tmp_path / "bad.nc")
    results.save(run.assign_attrs(format_version=99), tmp_path / "new.nc")
    with pytest.raises(ValueError, match=r"result format 99 is not known.*update jointplay"):
        results.load(tmp_path / "new.nc")
    foreign = run.copy()
    foreign.attrs = {}
    results.save(foreign, tmp_path / "foreign.nc")
    with pytest.raises(ValueError, match="is not a jointplay result"):
        results.load(tmp_path / "foreign.nc")


def test_a_failed_save_leaves_the_old_file(run, tmp_path):
    results.save(run, tmp_path / "run.nc")
    before = (tmp_path / "run.nc").read_bytes()
    broken = run.assign_attrs(bad={"a": object()})
    with pytest.raises(TypeError):
        results.save(broken, tmp_path / "run.nc")
    assert (tmp_path / "run.nc").read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]


def test_a_system_sampled_too_short_is_sampled_again():
    driven = library.pendulum().replace(
        drives={"d": {"kind": "angle", "of": "bar1", "motion": lambda t: float(t) * float(t)}}, start={}
    )
    system = System(driven, until=0.5)
    assert float(simulate(system, 2.0)["angle"][-1, 0]) == pytest.approx(4.0, abs=1e-6)
    heavier = system.with_({"bar1.mass": 3.0, "gravity.x": 1.0})  # traced anew
    assert float(simulate(heavier, 2.0)["angle"][-1, 0]) == pytest.approx(4.0, abs=1e-6)


def test_peaks_end_where_contact_is_lost():
    lost = simulate(library.grigore_figure_5(3.0), 2.0, RungeKutta(rtol=1e-6, atol=1e-8), strict=False)
    assert lost.attrs["outcome"] == "contact lost"
    assert float(lost["least_normal"][0]) == pytest.approx(0.0, abs=1e-6)


def test_steppers_and_mechanisms_of_a_wrong_kind_are_named():
    with pytest.raises(ValueError, match=r"stepper must be RungeKutta\(\), .* got 'rk'"):
        simulate(library.pendulum(1), 1.0, stepper="rk")
    with pytest.raises(ValueError, match="expected a mechanism, got 'pendulum'"):
        simulate("pendulum", 1.0)


CHANGE_POINT = """
name: parallelogram in line
ground: {points: {A: [0, 0], B: [0.2, 0]}}
bodies: {a: {bar: 100 mm, mass: 1 kg}, b: {bar: 100 mm, mass: 1 kg}, c: {bar: 200 mm, mass: 1 kg}}
joints:
  J1: {kind: revolute, between: [ground.A, a.start]}
  J2: {kind: revolute, between: [ground.B, b.start]}
  J3: {kind: revolute, between: [a.end, c.start]}
  J4: {kind: revolute, between: [b.end, c.end]}
%s
"""


@pytest.mark.parametrize(
    "end",
    [
        "drives: {m: {kind: angle, of: a, motion: {kind: constant_speed, speed: 60 rpm, start: 0 deg}}}",
        "start: {a: 0, a.rate: 5}",
    ],
)
def test_rows_that_are_redundant_only_at_the_start_are_not_dropped(end):
    """At the change point one row follows from the others; without it the joint would come apart."""
    run = simulate(loads(CHANGE_POINT % end), 1.0, strict=False)
    assert run.attrs["outcome"] == "near singular" and run.attrs["outcome_time"] == 0.0
    assert "J4.x depend on other rows there, but not beside it" in run.attrs["outcome_text"]
    assert json.loads(run.attrs["redundant"]) == []


def test_peaks_end_with_the_run_and_cover_the_samples():
    """A bar turned by 1 N m: its bearing force grows with time, and the last step goes beyond the end."""
    text = """
gravity: [0, 0]
ground: {points: {O: [0, 0]}}
bodies: {arm: {bar: 1, mass: 3}}
joints: {J: {kind: revolute, between: [ground.O, arm.start]}}
forces: {t: {kind: torque, on: arm, torque: 1}}
"""
    run = simulate(loads(text), 1.0)
    held = np.hypot(run["force_x"], run["force_y"]).values
    assert (
        float(run["peak_force"][0]) == pytest.approx(held.max(), rel=1e-12) and float(run["peak_force_time"][0]) <= 1.0
    )
    assert float(run["peak_force"][0]) == pytest.approx(math.hypot(1.5, 1.5), rel=1e-9)


def test_odd_starts_and_idle_friction_are_noted():
    slider = library.slider_crank(speed=60.0)
    loose = slider.loosen("J3", 1e-3, contact=Following(on_loss="continue"))
    wild = simulate(loose.replace(journals="centred"), 0.01)
    assert any("its journal starts with" in note for note in json.loads(wild.attrs["notes"]))
    rough = library.pendulum(1).loosen("J1", 0.0, contact=Rigid(friction=0.3))
    notes = json.loads(simulate(rough, 0.1).attrs["notes"])
    assert any("acts only with play" in note and "pin_friction" in note for note in notes)
    for fields, said in (
        ({"stop_restitution": 0.5}, "acts at stops, and it has none"),
        ({"stop_restitution": 0.5, "upper": 9.0, "clearance": 1e-3, "length": 0.1, "contact": {"kind": "compliant"}},
         "its compliant contact acts at its stops, too"),
        ({"stop_restitution": 0.5, "upper": 9.0}, ""),
    ):  # fmt: skip
        data = slider.joints["J4"].plain() | fields
        notes = json.loads(simulate(slider.replace(joints={**slider.joints, "J4": data}), 0.001).attrs["notes"])
        assert any(said in note for note in notes if "stop_restitution" in note) == bool(said)
    moved = simulate(library.slider_crank(speed=1.0), 0.1, start={"crank": 1.0})
    assert any("start crank = 57.296 deg is taken as a guess" in note for note in json.loads(moved.attrs["notes"]))


def test_rough_start_values_are_told_by_check_and_by_runs_only_if_they_are_far_off():
    driven = library.slider_crank(speed=1.0)
    begun = float(statics.start(System(driven))[0][2])
    for off, checked, noted in ((0.01, False, False), (0.05, True, False), (0.1, True, True)):
        rough = driven.with_({"start.crank": begun + off})
        assert any("start crank" in note for note in statics.check(rough).notes) == checked
        assert any("start crank" in note for note in json.loads(simulate(rough, 0.01).attrs["notes"])) == noted


def test_a_spring_without_a_direction_is_named():
    text = """
ground: {points: {O: [0, 0]}}
bodies: {ball: {mass: 2, inertia: 1}}
forces: {s: {kind: spring, between: [ground.O, ball.centre], stiffness: 8, free_length: 0.5}}
start: {ball.x: 0, ball.y: 0}
"""
    with pytest.raises(ValueError, match="start: the forces are not finite; a spring with a free length"):
        simulate(loads(text), 1.0)


def test_more_samples_than_memory_holds_are_refused_before_anything_is_computed():
    with pytest.raises(InputError, match=r"every: 1e\+09 samples are too many; choose at least 0\.000456 s"):
        simulate(library.pendulum(), 1e3, every=1e-6)
