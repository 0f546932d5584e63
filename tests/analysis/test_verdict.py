"""Verdicts: from series, from trajectories, from the command line; never a false alarm."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest

import jointplay as jp
from jointplay.analysis import Series, textbook
from jointplay.analysis.contact_numbers import contact_evidence, other_contacts
from jointplay.analysis.evidence import VERDICTS
from jointplay.analysis.judge import fitting, planned
from jointplay.analysis.trajectories import far_enough
from jointplay.model import Prismatic
from jointplay.model.repeats import drive_period
from tests.analysis.signals import regular, sampled

SOME = [one for i, one in enumerate(regular()) if i in (1, 6, 10, 13, 22)]
KEYS = ["verdict", "period", "multiple", "exponent", "exponent_error", "periods_covered", "evidence", "settle"]


@pytest.mark.parametrize(("kind", "period", "series"), [one[1:] for one in SOME], ids=[one[0] for one in SOME])
def test_regular_signals_with_impacts(kind, period, series):
    found = jp.verdict(series)
    assert found.verdict == kind and found.exponent is None
    if period is not None:
        assert found.period == pytest.approx(period, rel=1e-3) and found.multiple == 1


def test_lorenz_is_chaotic_and_noise_is_not():
    found = jp.verdict(sampled(textbook.lorenz(step=0.01), 0.05, 50, 0, "Lorenz", 3000))
    assert found.verdict == "chaotic" and found.exponent == pytest.approx(0.9, rel=0.2)
    noise = np.random.default_rng(1).normal(size=2000)
    found = jp.verdict(Series(0.01 * np.arange(2000), noise))
    assert found.verdict == "inconclusive" and "model" in found.settle


def test_a_turning_angle_and_period_two():
    time = np.arange(2400) * 0.01
    values = 3.0 * time + 0.2 * np.sin(2 * np.pi * time) + 0.1 * np.sin(np.pi * time)
    found = jp.verdict(Series(time, values, period=1.0))
    assert (found.verdict, found.multiple, found.period) == ("periodic", 2, pytest.approx(2.0))
    assert found.periods_covered == pytest.approx(24.0)


def test_a_transient_is_told_from_the_motion():
    time = np.arange(4000) * 0.01
    values = np.sin(2 * np.pi * time) + 3 * np.exp(-time) * np.sin(9 * time)
    found = jp.verdict(Series(time, values))
    assert found.verdict == "periodic" and "second half" in found.evidence[0].says


def test_duffing_from_its_trajectories():
    period = 2 * math.pi / 1.2
    calm = jp.verdict(lambda fine: textbook.duffing(force=0.2, steps=200 * fine, lanes=2), period=period, periods=30)
    assert (calm.verdict, calm.multiple, calm.period) == ("periodic", 1, pytest.approx(period))
    assert calm.exponent < 0 and calm.exponent_error < 0.1
    wild = jp.verdict(lambda fine: textbook.duffing(steps=200 * fine, lanes=2), period=period, periods=250)
    assert wild.verdict == "chaotic" and wild.period is None and wild.exponent > 3 * 0.01
    assert any(one.indicator.startswith("integration error") and one.value < 1e-6 for one in wild.evidence)


def test_an_undriven_oscillation_has_its_own_period():
    def rates(t, s, p):  # van der Pol
        return {"x": s.v, "v": (1.0 - s.x * s.x) * s.v - s.x}

    def make(fine):
        return jp.analysis.Flow(rates, {"x": 1.0, "v": 0.0}, step=0.02 / fine, lanes=2)

    found = jp.verdict(make, until=120.0)
    assert found.verdict == "periodic" and found.period == pytest.approx(6.6633, abs=2e-3)


def oscillator(frequency=2.8, restitution=0.8):
    """A mass of 1 kg on a spring of 1 N/m under a force cos(frequency t), with a stop in the middle, as a mechanism."""
    return jp.Mechanism(
        name="impact oscillator",
        gravity=(0, 0),
        ground={"points": {"O": (0, 0), "far": (-4, 0)}},
        bodies={"mass": jp.Body(mass=1.0, inertia=1.0, points={"pin": (0, 0)})},
        joints={
            "slide": Prismatic(
                between=("ground.O", "mass.pin"),
                axis=(1, 0),
                upper=0.0,
                stop_restitution=restitution,
            )
        },
        forces={
            "spring": {"kind": "spring", "between": ["ground.far", "mass.pin"], "stiffness": 1.0, "free_length": 4.0},
            "shaker": {"kind": "force", "at": "mass.pin", "x": jp.sine(1.0, frequency, phase=math.pi / 2)},
        },
        start={"mass.x": -0.5},
    )


def test_drive_periods():
    assert drive_period(jp.library.wu_2017()) == pytest.approx(36.0)
    assert drive_period(jp.library.pendulum()) is None
    loop = jp.control.pd("crank", jp.sine(1.0, 6.0), k1=1.0, k2=1.0)
    assert drive_period(jp.library.crank_rocker_2016().replace(control=loop)) == pytest.approx(2 * math.pi / 6)
    ending = jp.control.pd("crank", jp.cycloidal(0.0, 1.0, 1.0), k1=1.0, k2=1.0)
    with pytest.raises(ValueError, match="'cycloidal' and does not repeat"):
        drive_period(jp.library.crank_rocker_2016().replace(control=ending))
    two = jp.library.wu_2017((1.0, 2**0.5))
    with pytest.raises(ValueError, match=r"have no common period.*--period"):
        jp.verdict(two)


def test_a_periodic_table_repeats_and_an_offset_of_a_rate_turns():
    cut = jp.table([0.5, 0.8, 1.0], [0.0, 1.0, 0.0], ends="periodic")  # half a second
    four = jp.library.four_bar().replace(forces={"cut": {"kind": "torque", "on": "crank", "torque": cut}})
    assert drive_period(four) == pytest.approx(0.5)
    wobbling = jp.sine(1.0, 6.0, offset=4.0)  # 6 rad/s beside a mean of 4 rad/s: 2 and 3 turns in pi
    turned = jp.library.four_bar().replace(drives={"motor": {"kind": "rate", "of": "crank", "motion": wobbling}})
    assert drive_period(turned) == pytest.approx(math.pi)
    both = jp.total(-1.0, wobbling)  # a mean of 3 rad/s
    turned = turned.replace(drives={"motor": {"kind": "rate", "of": "crank", "motion": both}})
    assert drive_period(turned) == pytest.approx(2 * math.pi / 3)
    speeds = {"kind": "sum", "terms": [{"kind": "constant_speed", "speed": x} for x in (7.0, 3.0)]}
    turned = turned.replace(drives={"motor": {"kind": "angle", "of": "crank", "motion": speeds}})
    assert drive_period(turned) == pytest.approx(2 * math.pi / 10)
    speeds["terms"].append({"kind": "constant_speed", "speed": -10.0})  # it stands still
    assert drive_period(turned.replace(drives={"motor": turned.drives["motor"].plain() | {"motion": speeds}})) is None
    held = jp.table([0.0, 1.0], [0.0, 1.0], ends="held")
    with pytest.raises(ValueError, match="'table' and does not repeat"):
        drive_period(four.replace(forces={"cut": {"kind": "torque", "on": "crank", "torque": held}}))


def test_neighbours_find_room_in_the_play_of_a_fit():
    fitted = jp.library.slider_crank(speed=3.0).loosen("J3", fit="10 H7/g6", contact=jp.Rigid())  # 8.5 um
    make, plan = planned(fitted, until=0.5)
    assert max(plan.separations) > 1e-5  # more than the play
    assert 1e-7 < max(far_enough(make(1), plan)) < 0.5 * fitted.value("J3.clearance")


def test_without_freedom_the_drives_decide():
    found = jp.verdict(jp.library.slider_crank(speed=10.0))
    assert (found.verdict, found.multiple, found.exponent) == ("periodic", 1, None)


def test_other_contacts():
    soft = {"law": "hunt_crossley", "stiffness": 1e8, "restitution": 0.9}
    loose = jp.library.crank_rocker_2016().loosen("J2", "3 mm", contact=jp.Compliant(normal=soft))
    assert other_contacts(loose, "stiffness", 3.0) == {"J2.normal.stiffness": 3e8}
    assert other_contacts(loose, "damping", 3.0) == {"J2.normal.restitution": pytest.approx(0.7)}
    wu = jp.library.wu_2017(clearance=5e-4, contact=jp.library.wu_2017_contact())
    assert other_contacts(wu, "damping", 0.1) == {"P.normal.damping": pytest.approx(5.8e3)}
    assert other_contacts(jp.library.crank_rocker_2016(), "damping", 0.1) == {}


def test_rigid_contact_in_steps_of_second_order():
    """The exact map of this oscillator has one impact a period; while its transient fades it is nothing else yet."""
    chosen = fitting(oscillator(2.6), None, 0.1, 1, 1.0)  # the default of simulate chooses its steps
    assert chosen.impulsive and not chosen.adaptive and 0.1 / chosen.step == pytest.approx(round(0.1 / chosen.step))
    asked = {"stepper": jp.MoreauJean(step=4e-3)}
    early = jp.verdict(oscillator(2.6), until=60.0, settle=60.0, **asked)
    assert early.verdict == "inconclusive" and "as by a transient" in "".join(one.says for one in early.evidence)
    late = jp.verdict(oscillator(2.6), until=120.0, settle=150.0, **asked)
    assert (late.verdict, late.multiple) == ("periodic", 1)


def test_the_verdict_depends_on_the_damping_of_contacts():
    asked = {"until": 40.0, "settle": 15.0, "stepper": jp.MoreauJean(2e-3, order=1)}
    *found, word = contact_evidence(oscillator(2.8), asked, here=1)
    assert [one.indicator.split(" x ")[1] for one in found] == ["0.1, 1/s", "0.3, 1/s", "3, 1/s"]
    assert "slide.stop_restitution = 0.4" in found[2].says  # 1 - 3 (1 - 0.8); its exact map has -0.007 1/s
    assert found[2].value == pytest.approx(-0.007, abs=3 * found[2].error)
    assert word.value == 0 and "its sign is the same" in word.says
    with pytest.raises(ValueError, match="no contact of this mechanism"):
        contact_evidence(jp.library.pendulum(), asked, here=1)
    with pytest.raises(ValueError, match="only a mechanism has contacts"):
        jp.verdict(Series(0.01 * np.arange(400), np.sin(np.arange(400))), contacts=True)


def command(*arguments, cwd):
    done = subprocess.run(
        [sys.executable, "-m", "jointplay", "analyse", *arguments], capture_output=True, text=True, cwd=cwd, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


def test_the_command_on_a_series(tmp_path):
    time = np.arange(1500) * 0.02
    values = np.sin(2 * np.pi * time) + 3 * np.exp(-(((time % 1.0) - 0.3) ** 2) / 1e-3)
    rows = "\n".join(f"{t:.4f},{x:.9g}" for t, x in zip(time, values, strict=True))
    (tmp_path / "series.csv").write_text(f"time,force\n{rows}\n", encoding="utf-8")
    code, out, err = command("series.csv", "--period", "1 s", "--json", cwd=tmp_path)
    found = json.loads(out)
    assert (code, err) == (0, "") and list(found) == KEYS and found["verdict"] in VERDICTS
    assert (found["verdict"], found["multiple"]) == ("periodic", 1) and found["period"] == pytest.approx(1.0)
    assert found["periods_covered"] == pytest.approx(30.0) and found["exponent"] is None
    assert all(list(one) == ["indicator", "value", "error", "says"] for one in found["evidence"])
    assert not list(tmp_path.glob("*.html"))
    code, out, err = command("series.csv", "--column", "force", cwd=tmp_path)
    assert code == 0 and out.split()[:4] == ["verdict", "periodic,", "1", "s"]
    page = (tmp_path / "series_analysis.html").read_text(encoding="utf-8")
    assert (
        "<h1>series.csv, force</h1>" in page
        and "periodic, 1 s" in page
        and page.count("data:image/png") >= 4
        and "http" not in page.partition("<main>")[2]
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["none.csv"], "no such file"),
        (["series.csv", "--column", "y"], "no column 'y'"),
        (["series.csv", "--signal", "x"], "--signal: means nothing for a series"),
        (["series.csv", "--period", "-1"], "--period: must be > 0"),
        (["short.csv"], "3 samples are too few"),
        (["wu_2017", "--set", "alpha.speed=1.0", "--set", "beta.speed=1.41421356237", "--json"], "no common period"),
        (["pendulum", "--column", "x"], "--column: means nothing for a model"),
        (["none.nc"], "no such file"),
        (["pendulm"], "pendulum"),
    ],
)
def test_bad_input_is_refused(tmp_path, arguments, text):
    (tmp_path / "short.csv").write_text("time,x\n0,1\n1,2\n2,3\n", encoding="utf-8")
    (tmp_path / "series.csv").write_text("time,x\n0,1\n", encoding="utf-8")
    code, out, err = command(*arguments, cwd=tmp_path)
    assert code in (1, 2) and out == "" and text in err and "Traceback" not in err
