"""Peaks, shares, impacts and losses since a run counts as settled, beside those of the whole run; forces between
impacts."""

import numpy as np
import pytest

import jointplay as jp
from jointplay.cli import main
from jointplay.errors import InputError
from jointplay.simulation.reading import rest

LOOSE = jp.library.slider_crank(speed=30.0).loosen("J3", 5e-4, contact=jp.Rigid(restitution=0.6))
LOOSE = LOOSE.replace(journals="centred")
SOFT = LOOSE.loosen("J3", 5e-4, contact=jp.Compliant(normal={"law": "hunt_crossley", "stiffness": 1e8}))


@pytest.fixture(scope="module")
def rigid():
    """Every step is a sample, so that peaks of all steps are those of the samples."""
    return jp.simulate(LOOSE, 0.3, jp.MoreauJean(2e-5, order=1), every=2e-5, settled="1 turn of motor")


@pytest.mark.parametrize("mechanism", [LOOSE, SOFT, jp.library.four_bar().with_({"start.crank.rate": 9.0})])
def test_the_whole_run_does_not_know_when_it_settles(mechanism):
    stepper = jp.MoreauJean(2e-5) if mechanism is LOOSE else jp.RungeKutta(1e-6, 1e-8)
    plain, told = (jp.simulate(mechanism, 0.1, stepper, settled=late) for late in (0.0, 0.04321))
    if mechanism is LOOSE:
        assert all(plain[name].identical(told[name]) for name in plain.data_vars)
        assert plain.attrs["audit"] == told.attrs["audit"]
    else:  # but for the one step more that ends there, after which contacts are met in other steps
        assert told.attrs["steps"] <= 1.05 * plain.attrs["steps"] + 3
        for name in ("angle", "x", "peak_force"):
            assert np.allclose(plain[name], told[name], rtol=1e-4, atol=1e-7), name
    assert "settled" not in plain.attrs
    assert [name for name in told.data_vars if "_settled" in str(name)]


def test_a_share_that_is_rounding_is_none():
    """A contact that was never free was free for -6.9e-17 of the time; what is no rounding stays."""
    left = rest(np.array([1.0, 1 + 2e-16, 1 - 1e-16, 0.25, 1.3]))
    assert left[:3].tolist() == [0, 0, 0] and np.allclose(left[3:], [0.75, -0.3])


def test_what_came_later_is_that_of_the_later_samples(rigid):
    late = rigid.sel(time=slice(rigid.attrs["settled"] + 1e-5, None))
    assert rigid.attrs["settled"] == pytest.approx(2 * np.pi / 30, abs=2e-5)
    sizes = np.hypot(late.force_x, late.force_y)
    assert rigid.peak_force_settled.values == pytest.approx(sizes.max("time").values, rel=1e-12)
    assert rigid.peak_effort_settled.values == pytest.approx(abs(late.effort).max("time").values, rel=1e-12)
    assert (rigid.peak_force_settled_time > rigid.attrs["settled"]).all()
    hits = rigid.impact_time.values > rigid.attrs["settled"]
    assert int(rigid.impacts_settled[0]) == hits.sum() < int(rigid.impacts[0])
    assert float(rigid.share_free_settled[0]) == pytest.approx(float((late["mode"] == 0).mean()), abs=1e-9)
    lost = rigid.impact_loss.values
    begin = np.searchsorted(rigid.time.values, rigid.attrs["settled"] + 1e-5) - 1
    assert float(rigid.impact_loss_settled) == pytest.approx(lost[-1] - lost[begin], rel=1e-9)


def test_the_peak_of_a_start_in_mid_bearing_is_not_that_of_the_settled_run():
    run = jp.simulate(SOFT, 0.5, jp.RungeKutta(1e-6, 1e-8), settled="2 turns")
    assert float(run.peak_force_time.sel(joint="J3")) < 0.02
    assert float(run.peak_force_settled.sel(joint="J3")) < 0.7 * float(run.peak_force.sel(joint="J3"))


def test_samples_hold_what_acts_between_impacts(rigid):
    """At every step a sample: no force is above the largest between impacts, where an impulse over its step is."""
    for joint in rigid.joint.values:
        one = rigid.sel(joint=joint)
        assert float(np.hypot(one.force_x, one.force_y).max()) <= float(one.peak_force) * (1 + 1e-12)
        assert float(one.joint_impulse) / 2e-5 > 5 * float(one.peak_force)
    assert float(rigid.normal_force.max()) <= float(rigid.peak_normal[0]) * (1 + 1e-12)
    assert float(abs(rigid.effort).max()) <= float(rigid.peak_effort[0]) * (1 + 1e-12)
    jump = rigid.angle_rate.diff("time") / 2e-5
    assert float(abs(rigid.angle_acceleration).max()) < 0.5 * float(abs(jump).max())
    struck = rigid["mode"].values[:, 0] == 1
    before = np.flatnonzero(struck)[0] - 1
    assert rigid.force_x.values[before + 1] == pytest.approx(rigid.force_x.values[before])


def test_turns_and_times_are_read_and_refused_by_name(tmp_path, capsys):
    seen = jp.simulation.settled_time
    assert seen(LOOSE, "250 ms", 1.0) == 0.25 and seen(LOOSE, "1.5 turns", 1.0) == pytest.approx(np.pi / 10, rel=1e-5)
    swing = jp.library.slider_crank().replace(
        drives={"m": {"kind": "rate", "of": "crank", "motion": {"kind": "polynomial", "coefficients": [0.0, 20.0]}}}
    )
    assert seen(swing, "2 turns of m", 3.0) == pytest.approx(np.sqrt(2 * 4 * np.pi / 20), rel=1e-5)
    with pytest.raises(InputError, match=r"needs a drive that turns .*none.*or give a time"):
        seen(jp.library.four_bar(), "2 turns", 1.0)
    with pytest.raises(InputError, match=r"turns 4.77 times in 1 s, not 9"):
        seen(LOOSE, "9 turns", 1.0)
    with pytest.raises(InputError, match="settled = 2 s leaves nothing of the run of 1 s"):
        jp.simulate(LOOSE, 1.0, settled=2.0)
    with pytest.raises(InputError, match="settled must be a time such as"):
        jp.simulate(LOOSE, 1.0, settled="")
    with pytest.raises(InputError, match="settled must be a time such as"):
        jp.simulate(LOOSE, 1.0, settled="late")
    model = tmp_path / "slider.yaml"
    model.write_text(jp.dumps(LOOSE))
    asked = ["run", str(model), "--until", "0.3", "--step", "2e-5", "-o", str(tmp_path / "o.nc"), "--settled"]
    assert main([*asked, "1 turn"]) == 0
    shown = capsys.readouterr().out
    assert "from 0.20944 s on" in shown and shown.count(" s on ") >= 5
    assert main([*asked, "9 turns"]) == 2


def test_the_statistics_of_a_loop_begin_where_the_run_settles():
    wanted = jp.sine(1.0, frequency=2.0)
    loop = jp.control.use("pd", "crank", wanted, k1=50.0, k2=5.0)
    free = jp.library.crank_rocker_2016()
    run = jp.simulate(free, 0.5, control=loop, settled=0.3)
    late = run.sel(time=slice(0.3, None))
    assert float(run.error_max[0]) == pytest.approx(float(abs(late.tracking_error).max()), rel=1e-3)
    assert "peak_force_settled" in run and run.attrs["settled"] == 0.3


@pytest.mark.parametrize("stepper", [jp.MoreauJean(rtol=1e-4), jp.MoreauJean(1e-4), jp.MoreauJean(1e-4, order=1)])
def test_settled_adds_no_sample(stepper):
    """Between two others: what is told of even samples, such as spectra, refuses it."""
    loose = jp.library.slider_crank(speed=30.0).loosen("J3", 5e-4, contact=jp.Rigid(restitution=0.5))
    run = jp.simulate(loose, 0.1, stepper, every=1e-3, settled=0.0333, error=False)
    assert run.time.values == pytest.approx(1e-3 * np.arange(101), rel=1e-9)


def test_counting_anew_twice_or_going_back_keeps_the_peaks_of_the_whole_run():
    """They were those since the last time: 15.8 N m of the motor, which gave 16.6 before."""
    once, twice, back = (jp.Simulation(jp.library.slider_crank(speed=30.0)) for _ in range(3))
    for sim in (once, twice, back):
        sim.advance(0.1)
        sim.count_anew()
        sim.advance(0.15)
    twice.count_anew()
    here = back.snapshot()
    back.advance(0.2)
    back.reset(here)
    found = []
    for sim in (once, twice, back):
        sim.advance(0.2)
        found.append(sim.result())
    whole = jp.Simulation(jp.library.slider_crank(speed=30.0))
    for t in (0.1, 0.15, 0.2):
        whole.advance(t)
    for run in found:
        for name in ("peak_force", "peak_force_time", "peak_effort", "peak_effort_time"):
            np.testing.assert_array_equal(run[name], whole.result()[name])
    assert [run.attrs["settled"] for run in found] == [0.1, 0.15, 0.1]
    np.testing.assert_array_equal(found[2].peak_force_settled, found[0].peak_force_settled)


def test_each_lane_and_steps_that_ask_for_no_time_count_from_where_they_are():
    sim = jp.Simulation(jp.library.slider_crank(speed=30.0), jp.FixedRungeKutta(1e-3), lanes=2)
    sim.step(50)
    sim.count_anew(0)
    sim.advance(0.1)
    sim.count_anew(1)
    sim.advance(0.2)
    assert [sim.result(lane).attrs["settled"] for lane in (0, 1)] == [pytest.approx(0.05), 0.1]
