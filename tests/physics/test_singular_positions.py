"""Change points are passed, and told; what a drive cannot reach ends a run with the joints named."""

import json
import math

import numpy as np
import pytest

from jointplay.model import Mechanism, Revolute, bar, library
from jointplay.results import audited, errors
from jointplay.simulation import FixedRungeKutta, MoreauJean, RungeKutta, Simulation, simulate
from jointplay.system import System


def four_bars(n):
    """N four-bars in a row (IFToMM benchmark A02): bars of 1 m and 1 kg, uprights vertical, the first at -1 rad/s."""
    uprights, couplers = [f"U{i}" for i in range(n + 1)], [f"C{i}" for i in range(n)]
    joints = {f"G{i}": Revolute(between=(f"ground.G{i}", f"U{i}.start")) for i in range(n + 1)}
    for i in range(n):
        joints |= {
            f"A{i}": Revolute(between=(f"U{i}.end", f"C{i}.start")),
            f"B{i}": Revolute(between=(f"C{i}.end", f"U{i + 1}.end")),
        }
    return Mechanism(
        name=f"{n} four-bars",
        ground={"points": {f"G{i}": (float(i), 0.0) for i in range(n + 1)}},
        bodies={name: bar(1.0, mass=1.0) for name in (*uprights, *couplers)},
        joints=joints,
        start={name: np.pi / 2 for name in uprights} | dict.fromkeys(couplers, 0.0) | {"U0.rate": -1.0},
    )


ONE = System(four_bars(1))


@pytest.mark.parametrize(
    ("stepper", "least"),
    [
        (RungeKutta(), 1e-6),
        (RungeKutta(1e-6, 1e-8), 1e-3),
        (RungeKutta(1e-10, 1e-12), 1e-8),
        (FixedRungeKutta(1e-2), 1e-6),
        (FixedRungeKutta(1e-4), 1e-6),
        (MoreauJean(1e-5), 0.05),
    ],
    ids=str,
)
def test_a_four_bar_turns_through_its_change_points(stepper, least):
    """Parallel all the way, in spite of ten positions in which all bars are in line."""
    run = simulate(ONE, 10.0, stepper, every=0.01)
    angles = run["angle"].sel(body=["U0", "U1"]).values
    assert np.ptp(angles, axis=1).max() < 1e-9 and audited(run, "energy imbalance") < least
    passed = int((np.diff(np.floor(angles[:, 0] / np.pi)) != 0).sum())
    [note] = json.loads(run.attrs["notes"])
    assert note.startswith(f"passed {passed} singular positions, the last at t = ")


def parallelogram(speed=-1.0):
    motion = {"kind": "constant_speed", "start": 0.5, "speed": speed}
    bars = library.four_bar((1.0, 2.0, 1.0, 2.0), crank=0.5, side=1)
    return bars.replace(drives={"d": {"kind": "angle", "of": "crank", "motion": motion}})


@pytest.mark.parametrize("stepper", [RungeKutta(), MoreauJean(1e-3)], ids=str)
def test_a_driven_parallelogram_stays_one(stepper):
    """All bars are in line after 0.5 s, exactly at the end of a step of one length."""
    run = simulate(parallelogram(), 1.0, stepper)
    assert np.abs(run["angle"].sel(body="rocker") - run["angle"].sel(body="crank")).max() < 1e-5
    assert float(run["angle"].sel(body="crank")[-1]) == pytest.approx(-0.5, abs=1e-9)
    assert "passed a singular position, the last at t = 0.5" in run.attrs["notes"]


def test_a_healthy_run_says_nothing_of_singular_positions():
    assert "singular" not in simulate(library.slider_crank(speed=10.0), 2.0).attrs["notes"]


@pytest.mark.parametrize("stepper", [RungeKutta(), FixedRungeKutta(1e-3), MoreauJean(1e-4)], ids=str)
def test_a_drive_beyond_its_reach_ends_the_run_with_the_joints_named(stepper):
    """Crank and rod are stretched when the slider is at 0.4 m."""
    motion = {"kind": "constant_speed", "start": 0.3, "speed": 0.5}
    slider = library.slider_crank().replace(
        drives={"push": {"kind": "x", "of": "slider.pin", "motion": motion}}, start={}
    )
    run = simulate(slider, 2.0, stepper, strict=False)
    assert run.attrs["outcome"] == "near singular" and run.attrs["outcome_time"] == pytest.approx(0.2, abs=2e-3)
    for part in ("'push' cannot be followed further", "J2", "J3", "let the motion of 'push' end or turn before"):
        assert part in run.attrs["outcome_text"]


SHORT = library.slider_crank(crank=0.1, rod=0.06, speed=math.tau).replace(
    drives={
        "motor": {"kind": "angle", "of": "crank", "motion": {"kind": "constant_speed", "start": 0.3, "speed": 6.0}}
    },
    start={},
)
TABLE = {"kind": "table", "times": [0.0, 0.5, 1.0], "values": [0.3, 0.5, 0.9]}


@pytest.mark.parametrize(
    ("rod", "motion", "stepper"),
    [
        (0.06, None, RungeKutta()),
        (0.0999, None, RungeKutta()),
        (0.06, TABLE, RungeKutta()),
        (0.06, None, MoreauJean()),
        (0.0999, None, MoreauJean(1e-3)),
        (0.06, None, FixedRungeKutta(1e-3)),
    ],
)
def test_a_rod_shorter_than_its_crank_says_how_far_the_crank_may_turn(rod, motion, stepper):
    """The crank reaches asin(rod/crank), where forces are unbounded: such a run is not fine."""
    slider = SHORT.with_({"rod.length": rod})
    if motion:
        slider = slider.replace(drives={"motor": {"kind": "angle", "of": "crank", "motion": motion}})
    run = simulate(slider, 1.0, stepper, strict=False)
    said, limit = run.attrs["outcome_text"], math.degrees(math.asin(rod / 0.1))
    assert run.attrs["outcome"] == "near singular" and "cannot be assembled beyond it" in said
    found = float(said.partition("'motor' cannot be followed further than crank = ")[2].split()[0])
    assert limit - 0.5 < found <= limit + 1e-4 and "RungeKutta" not in said
    assert run.attrs["judgement"] != "fine" and "its peaks mean nothing" in run.attrs["judgement_text"]


def test_a_drive_into_a_stop_names_both():
    arm = Mechanism(
        name="arm",
        ground={"points": {"O": (0, 0)}},
        bodies={"arm": bar(1.0, mass=1.0)},
        joints={"hinge": {"kind": "revolute", "between": ["ground.O", "arm.start"], "upper": 1.0}},
        drives={"motor": {"kind": "angle", "of": "arm", "motion": {"kind": "constant_speed", "speed": 5.0}}},
    )
    run = simulate(arm, 1.0, MoreauJean(1e-4), strict=False)
    assert run.attrs["outcome_time"] == pytest.approx(0.2, abs=2e-4)
    said = run.attrs["outcome_text"]
    assert said.startswith("joint 'hinge' is at its upper stop at t = ")
    assert (
        said.endswith("let the motion of 'motor' end before it, or move hinge.upper")
        and "drive 'motor' goes on" in said
    )


# -- ends of runs in steps of one length
@pytest.mark.parametrize("parts", [3, 10, 49, 98, 103, 187])
def test_a_whole_number_of_steps_is_no_step_too_many(parts):
    """49 times 1/49 is less than 1, by rounding."""
    run = Simulation(library.pendulum(), FixedRungeKutta(1 / parts), every=0.5, until=1.0)
    run.advance(1.0)
    result = run.result()
    assert run.steps.tolist() == [parts] and result.attrs["outcome"] == "done"
    assert result["time"].values.tolist() == [0.0, 0.5, 1.0] and result.attrs["outcome_time"] == 1.0
    run.advance(1.0)
    assert run.steps.tolist() == [parts]


def test_samples_and_end_of_whole_steps_are_told():
    run = simulate(library.pendulum(), 1.0, MoreauJean(3e-3), every=0.1)
    assert run.attrs["outcome_time"] == float(run["time"][-1]) == pytest.approx(0.999)
    assert "samples are 0.099 s apart, a whole number of steps, instead of 0.1 s" in run.attrs["notes"]
    assert np.diff(run["time"].values)[:-1] == pytest.approx(0.099)


@pytest.mark.parametrize("stepper", [RungeKutta(), MoreauJean(1e-4)], ids=["states", "impulses"])
def test_a_start_in_a_dead_centre_names_the_drive_and_no_line_of_the_program(stepper):
    """The crank is twice as long as the rod, which stands upright at 30 degrees; just before it rates are 1e6 rad/s."""
    exact = library.slider_crank(crank=0.1, rod=0.05, speed=6.0, angle=math.asin(0.5))
    with pytest.raises(ValueError, match=r"drive 'motor' asks for a speed that joints do not allow.* dead centre"):
        simulate(exact, 0.1, stepper)
    slider = library.slider_crank(crank=0.1, rod=0.05, speed=6.0, angle=math.asin(0.5) - 1e-13)
    run = simulate(slider, 0.1, stepper, strict=False)
    assert run.attrs["outcome"] == "near singular" and run.attrs["judgement"] == "doubtful"
    assert "'motor' cannot be followed further than crank = 30 deg" in run.attrs["outcome_text"]
    assert ".py" not in run.attrs["outcome_text"]


def test_peaks_beside_a_singular_position_are_not_determined():
    """A parallelogram's coupler must hold the rocker's weight without a lever where all bars are in line; companions
    that take the same steps came as near, and agreed to 1e-8 of it."""
    turning = {"kind": "angle", "of": "crank", "motion": {"kind": "constant_speed", "speed": 10.0, "start": 1.0}}
    line = library.four_bar(lengths=(0.1, 0.4, 0.1, 0.4), crank=1.0).replace(drives={"motor": turning})
    run = simulate(line, 1.0)
    peaks = {entry["name"]: entry for entry in errors(run) if entry["name"].endswith("peak_force")}
    assert "singular position" in run.attrs["notes"] and len(peaks) == 4
    assert not any(entry["determined"] for entry in peaks.values())
    calm = simulate(line, 0.15)  # before the first
    assert all(entry["determined"] for entry in errors(calm))
