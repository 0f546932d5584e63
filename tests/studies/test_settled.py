"""Metrics count from `settled` on, to the bit as a single run tells them; `whole(...)` counts from the start."""

import numpy as np
import pytest

import jointplay as jp
from jointplay import studies

SOFT = jp.Compliant(normal={"law": "hunt_crossley", "stiffness": 1e6})
LOOSE = jp.library.crank_rocker_2016(clearance2=1e-3).replace(
    forces={"motor": {"kind": "torque", "on": "crank", "torque": 6.0}}
)
METRICS = ["peak_force[J2]", "peak_force_time[J2]", "impacts[J2]", "share_free[J2]", "energy_lost", "max(force[J2])"]
WHOLE = ["whole(peak_force[J2])", "whole(impacts[J2])", "whole(energy_lost)"]
TIMES = {"until": 0.06, "settled": 0.03}


@pytest.mark.parametrize(
    ("contact", "stepper"),
    [
        (jp.Rigid(friction=0.1), jp.MoreauJean(1e-4)),
        (jp.Rigid(friction=0.1), jp.MoreauJean(rtol=1e-3)),
        (SOFT, jp.RungeKutta(1e-6, 1e-8)),
    ],
)
def test_numbers_of_a_study_count_from_settled_on_as_those_of_a_run(contact, stepper, tmp_path):
    loose = LOOSE.loosen("J2", "1 mm", contact=contact)
    over = {"J2.clearance": [1e-3, 0.6e-3, 2e-3], "crank.mass": [1.0, 3.0]}  # lanes that settle one after the other
    asked = {"stepper": stepper, "metrics": METRICS + WHOLE, "store": tmp_path / "s.zarr", **TIMES}
    table = jp.sweep(loose, over, **asked)
    for i, j in ((0, 1), (2, 0), (2, 1)):
        numbers = {"J2.clearance": over["J2.clearance"][i], "crank.mass": over["crank.mass"][j]}
        run = jp.simulate(loose.with_(numbers), stepper=stepper, error=False, **TIMES)
        one, late = table.isel({"J2.clearance": i, "crank.mass": j}), run.time >= 0.03 - 1e-9
        assert float(one["peak_force[J2]"]) == float(run.peak_force_settled.sel(joint="J2"))
        assert float(one["peak_force_time[J2]"]) == float(run.peak_force_settled_time.sel(joint="J2")) >= 0.03 - 1e-9
        assert float(one["impacts[J2]"]) == float(run.impacts_settled[0])
        assert float(one["share_free[J2]"]) == float(run.share_free_settled[0])
        assert float(one["max(force[J2])"]) == float(np.hypot(run.force_x, run.force_y).sel(joint="J2")[late].max())
        assert float(one["whole(peak_force[J2])"]) == float(run.peak_force.sel(joint="J2"))
        assert float(one["whole(impacts[J2])"]) == float(run.impacts[0])
        assert float(one["energy_lost"]) <= float(one["whole(energy_lost)"])
    assert (table["peak_force[J2]"] <= table["whole(peak_force[J2])"]).all()
    assert table["peak_force[J2]"].attrs["long_name"].endswith("from 0.03 s on")
    assert table["whole(peak_force[J2])"].attrs["long_name"].endswith("of the whole run")
    again = studies.replay(tmp_path / "s.zarr", 5)
    assert float(again.peak_force_settled.sel(joint="J2")) == float(table["peak_force[J2]"][2, 1])


def test_the_fall_through_the_play_is_not_in_a_settled_peak():
    fall = LOOSE.replace(start={"journals": "centred"})
    table = jp.sweep(
        fall, {"J2.clearance": [1e-3]}, stepper=jp.MoreauJean(1e-4), metrics=["impacts[J2]", "whole(impacts[J2])"],
        until=0.2, settled=0.19,
    )  # fmt: skip
    assert float(table["impacts[J2]"][0]) < float(table["whole(impacts[J2])"][0])


@pytest.mark.parametrize(
    ("metric", "said"),
    [("whole(force[J2])", "takes a number of the run"), ("whole(peak_forse[J2])", "did you mean 'peak_force'")],
)
def test_whole_takes_numbers_that_have_no_time(metric, said):
    with pytest.raises(ValueError, match=said):
        jp.sweep(LOOSE, {"J2.friction": [0.0]}, stepper=jp.MoreauJean(1e-4), metrics=[metric], **TIMES)


def test_what_contacts_store_at_the_end_is_not_lost():
    """Hertz's contact loses nothing; the run ends, and counts as settled, while its journal presses into the wall."""
    crank = jp.library.slider_crank(speed=30.0)
    loose = crank.loosen("J3", 5e-4, contact=jp.Compliant(normal={"law": "hertz", "stiffness": 1e7}))
    times = {"until": 0.1234, "settled": 0.04}
    table = jp.sweep(loose, {"motor.speed": [20.0, 30.0]}, metrics=["energy_lost", "whole(energy_lost)"], **times)
    assert np.abs(table["energy_lost"]).max() < 1e-6 and np.abs(table["whole(energy_lost)"]).max() < 1e-6
    run = jp.simulate(loose, every=0.0002, error=False, **times)
    held = -float(run.contact_normal_work[-1])
    assert abs(held) > 1e-4 and float(run.contact_stored) == pytest.approx(held, rel=1e-4)
    beside = jp.compare(loose, [loose.joints["J3"].contact, jp.Compliant()], until=0.1234).energy_lost.values
    assert abs(beside[1]) < 1e-6 < 1e-4 < beside[2]  # the default law loses
    for name in ("work", "contact_normal_work"):  # up to the end of the run, not to that of its last step
        since = float(run[name][-1] - run[name].sel(time=0.04, method="nearest"))
        assert float(run[f"{name}_settled"]) == pytest.approx(since, rel=1e-9)


def test_turns_that_take_another_time_in_every_run_are_refused():
    """A study counts from one time on: that of the model as it is written left the start in the slow runs."""
    slider = jp.library.slider_crank(speed=20.0)
    asked = {"until": 1.0, "settled": "1 turn of motor", "metrics": ["peak_force[J3]"]}
    for over in ({"motor.speed": [10.0, 20.0]}, {"crank.mass": [1.0, 2.0], "motor.speed": jp.grid(20.0, 10.0, 2)}):
        with pytest.raises(ValueError, match=r"'1 turn of motor' is 0\.\d+ s in one run .* as motor\.speed is varied"):
            jp.sweep(slider, over, **asked)
    table = jp.sweep(slider, {"crank.mass": [1.0, 2.0]}, **asked)
    assert table["peak_force[J3]"].attrs["long_name"].endswith("from 0.314159 s on")


@pytest.mark.parametrize("every", [7e-3, 0.02, 0.15])
def test_the_end_does_not_depend_on_the_samples(every):
    """Of 0.23 s samples 0.15 s apart show the first 0.15 s only, and that was told as the end."""
    crank = jp.library.slider_crank(speed=30.0).with_({"rod.mass": 0.8})
    asked = {"over": {"rod.mass": [0.8]}, "until": 0.23, "every": every}
    table = jp.sweep(crank, metrics=["final(angle[crank])"], **asked)
    begun = crank.drives["motor"].motion.start
    assert float(table["final(angle[crank])"][0]) == pytest.approx(begun + 30.0 * 0.23, abs=1e-9)
    law = {"law": "kelvin_voigt", "stiffness": 1e6, "damping": 1e3}
    loose = crank.loosen("J3", 5e-4, contact=jp.Compliant(normal=law))
    fine = jp.simulate(loose, 0.23, settled=0.1, error=False)
    lost = -float(fine.contact_normal_work_settled) - float(fine.contact_stored_settled)
    table = jp.sweep(loose, metrics=["energy_lost"], settled=0.1, **asked)
    assert float(table.energy_lost[0]) == pytest.approx(lost, rel=1e-6)
    beside = jp.compare(loose, [loose.joints["J3"].contact], until=0.23, every=every).energy_lost.values
    assert beside[1] == pytest.approx(-float(fine.contact_normal_work[-1]) - float(fine.contact_stored), rel=1e-6)


ARM = """
name: arm
ground: {points: {O: [0, 0]}}
bodies: {bar: {bar: 1 m, mass: 1 kg}}
joints: {J1: {kind: revolute, between: [ground.O, bar.start]}}
start: {bar: 0.3}
control:
  law: {law: pd, k1: 6, k2: 40}
  coordinates: {q: {of: bar, reference: {kind: sine, amplitude: 0.5, frequency: 1 Hz}}}
  actuators: {m: {of: bar}}
"""


def test_named_loops_count_from_settled_on():
    soft = jp.loads(ARM)
    stiff = soft.with_({"control.law.k2": 60.0}).control
    late = stiff.model_copy(update={"settled": 0.5})
    for base in (soft, soft.replace(control=None)):
        over = {"control": {"soft": soft.control, "stiff": stiff, "late": late, "none": None}}
        asked = {"until": 2.0, "settled": 1.2, "metrics": ["error_max[q]", "error_rms[q]"]}
        table = jp.sweep(base, over, **asked)
        for i, loop in enumerate((soft.control, stiff, late)):
            run = jp.simulate(soft.replace(control=loop), 2.0, settled=1.2, error=False)
            off = np.abs(run.tracking_error.values[run.time.values >= (loop.settled or 1.2), 0])
            assert float(table["error_max[q]"][i]) == float(run.error_max[0]) == pytest.approx(off.max(), rel=1e-3)
            assert float(table["error_rms[q]"][i]) == float(run.error_rms[0])


def test_a_loop_has_no_statistics_of_the_whole_run_beside_settled():
    arm = jp.loads(ARM)
    one = {"over": {"bar.mass": [1.0, 1.5]}, "until": 0.5, "metrics": ["whole(error_max[q])"]}
    table = jp.sweep(arm, **one)
    assert float(table["whole(error_max[q])"][0]) == float(jp.simulate(arm, 0.5, error=False).error_max[0])
    for model, more in (
        (arm, {"settled": 0.2}),
        (arm.with_({"control.settled": 0.2}), {}),
        (arm, {"over": {"control.settled": [0.0, 0.2]}}),
    ):
        with pytest.raises(ValueError, match=r"whole\(error_max\[q\]\)'.* counts from 0.2 s on .* leave whole out"):
            jp.sweep(model, **one | more)


def test_a_loop_with_a_time_of_its_own_keeps_it_beside_that_of_the_run(tmp_path, capsys):
    from jointplay.cli import main

    (tmp_path / "arm.yaml").write_text(ARM + "  settled: 0.5 s\n")
    files = [str(tmp_path / "own.nc"), str(tmp_path / "whole.nc")]
    assert main(["run", str(tmp_path / "arm.yaml"), "--until", "2", "--settled", "1.2", "-o", files[0]]) == 0
    said = capsys.readouterr().out
    run = jp.results.load(files[0])
    assert run.attrs["settled"] == 1.2 and run.attrs["control_settled"] == 0.5
    off = np.degrees(np.abs(run.tracking_error.values[run.time.values >= 0.5, 0]).max())
    assert f"from 0.5 s on: largest {off:.3f}" in said and "not determined" not in said
    jp.results.save(jp.simulate(jp.loads(ARM), 2.0, error=False), files[1])
    assert main(["compare", *files]) == 0
    assert "settled at different times (own 0.5 s, whole 0 s)" in capsys.readouterr().out
    assert main(["compare", files[0], files[0]]) == 0
    assert "different times" not in capsys.readouterr().out


@pytest.mark.parametrize(("begun", "turns"), [(0.0, 10), (1.2, 3)])
def test_means_over_whole_turns_count_each_place_once(begun, turns):
    """By energy the mean torque of a crank without losses is 0 over a turn, wherever that begins."""
    turn = 2 * np.pi / 30
    crank = jp.library.slider_crank(speed=30.0).replace(start={"crank": begun})
    fine = jp.simulate(crank, turn, every=turn / 4000, error=False).isel(time=slice(None, -1))
    table = jp.sweep(
        crank, {"rod.mass": [crank.value("rod.mass")]}, turns * turn, settled=(turns - 1) * turn,
        metrics=["mean(torque[motor])", "rms(torque[motor])", "mean(x[slider])"],
    )  # fmt: skip
    effort = float((fine.effort**2).mean() ** 0.5)
    assert float(table["mean(torque[motor])"][0]) == pytest.approx(0.0, abs=1e-6 * effort)
    assert float(table["rms(torque[motor])"][0]) == pytest.approx(effort, rel=1e-6)
    assert float(table["mean(x[slider])"][0]) == pytest.approx(float(fine.x.sel(body="slider").mean()), rel=1e-6)
