"""Control loops as part of a model: files, addresses, bad input before and during a run, on the command line too."""

import math
import re

import numpy as np
import pytest

from jointplay.cli import main
from jointplay.engine import sqrt
from jointplay.laws import law
from jointplay.model import ModelError, control, dumps, library, loads, sine, table
from jointplay.simulation import FixedRungeKutta, MoreauJean, RungeKutta, SimulationFailed, simulate
from jointplay.statics import check

SLIDER, FIVE = library.slider_crank(angle=1.0), library.five_bar()
GAINS = dict(k1=100, k2=20, c=5)
FILE = """
name: controlled slider-crank
ground: {points: {O: [0, 0]}}
bodies:
  crank: {bar: 100 mm, mass: 1 kg}
  rod: {bar: 300 mm, mass: 2 kg}
  slider: {mass: 1 kg, inertia: 1e-3 kg*m^2}
joints:
  J1: {kind: revolute, between: [ground.O, crank.start]}
  J2: {kind: revolute, between: [crank.end, rod.start]}
  J3: {kind: revolute, between: [rod.end, slider.centre]}
  J4: {kind: prismatic, between: [ground.O, slider.centre], axis: [1, 0]}
start: {crank: 60 deg}
control:
  law: {law: pd_tracking, k1: 200, k2: 10}
  coordinates: {crank: {of: crank, reference: {kind: sine, amplitude: 30 deg, frequency: 1 Hz, offset: 60 deg}}}
  actuators: {motor: {of: J1, limit: 50 N*m}}
  sensors: {encoder: {of: crank, resolution: 0.01 deg, period: 1 ms}}
"""


def test_a_file_with_a_control_loop_reads_units_and_writes_the_same():
    found = loads(FILE)
    assert loads(dumps(found)) == found
    assert found.value("control.law.k1") == 200 and found.value("control.motor.limit") == 50
    assert found.value("control.crank.reference.amplitude") == pytest.approx(math.radians(30))
    assert found.value("control.encoder.resolution") == pytest.approx(math.radians(0.01))
    changed = found.with_({"control.law.k1": 300, "control.motor.limit": "20 N*m"})
    assert changed.value("control.law.k1") == 300 and changed.control.actuators["motor"].limit == 20


def test_two_coordinates_of_one_point_keep_their_names():
    loop = control.pd(["left_outer.end.x", "left_outer.end.y"], [0.0, 0.1], actuators=["J1", "J5"], k1=1, k2=1)
    assert [*loop.coordinates] == ["left_outer_end_x", "left_outer_end_y"]
    with pytest.raises(ModelError, match="'crank' is given twice"):
        control.pd(["crank", "crank"], k1=1, k2=1)
    with pytest.raises(ModelError, match="lacks 'of': a body, joint or point; several are a list"):
        control.pd({"slide": {"kind": "x", "of": "rod.end"}}, k1=1.0, k2=1.0)


BAD = {
    "limit": (dict(limit=-1), r"control.actuators.crank.limit: must be > 0, got -1.0 N\*m"),
    "zero": (dict(limit=0), r"control.actuators.crank.limit: must be > 0"),
    "sensor": (dict(sensors="cranc"), "no body or revolute joint 'cranc'; did you mean 'crank'"),
    "actuator": (dict(actuators="J4"), "control.actuators.J4.of: no body or revolute joint 'J4'; its kind is position"),
    "gain": (dict(k3=1), "law 'pd' has no such parameter; it has k1, k2"),
    "cut": (dict(cut="J9"), "control.cut.0: no joint 'J9'"),
    "model": (dict(model={"crnk.mass": 2}), "no such address; did you mean 'crank.mass'"),
    "references": (dict(reference=[1, 2]), "there are 2 for 1; give one for each"),
    "difference": (dict(sensors={"e": {"of": "crank", "rate": "difference"}}), "give a period"),
    "period": (dict(period=-1), "control.period: must be > 0"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_loop_that_cannot_be(case):
    fields, text = BAD[case]
    with pytest.raises(ModelError, match=text):
        SLIDER.replace(control=control.pd("crank", fields.pop("reference", 1.0), k1=1, k2=1, **fields))


def test_names_that_are_not_known():
    with pytest.raises(AttributeError, match="no controller 'pdd'; did you mean 'pd'"):
        control.pdd("crank")
    with pytest.raises(ModelError, match="no body or revolute joint 'krank'"):
        SLIDER.replace(control=control.pd("krank", k1=1, k2=1))
    with pytest.raises(ModelError, match="needs the time between its calls"):
        control.use(control.Sampled(lambda *_: 0.0), "crank")


STEPPERS = [MoreauJean(1e-3), RungeKutta(), FixedRungeKutta(1e-3)]


@pytest.mark.parametrize("stepper", STEPPERS[:2], ids=["rigid", "smooth"])
def test_numbers_of_actuators(stepper):
    for make in (lambda: control.pd(["crank", "rod"], k1=1, k2=1),
                 lambda: control.feedback_linearisation(["crank", "rod"], **GAINS)):  # fmt: skip
        with pytest.raises(ModelError, match=r"2 actuators \(crank, rod\) for 1 degree of freedom"):
            simulate(SLIDER, 0.1, stepper, control=make())
    with pytest.raises(ModelError, match="actuators: 1 for 2 degrees of freedom; a law with a model needs 2"):
        simulate(FIVE, 0.1, stepper, control=control.feedback_linearisation("J1", **GAINS))
    with pytest.raises(ModelError, match="1 for 2 coordinates; a law with a model needs as many"):
        loop = control.feedback_linearisation(["J1", "J5"], actuators="J1", **GAINS)
        simulate(FIVE, 0.1, stepper, control=loop)
    with pytest.raises(ModelError, match=r"control\.law: controller 'pd' gives 2 numbers for 1 actuators"):
        simulate(FIVE, 0.1, stepper, control=control.pd(["J1", "J5"], actuators="J1", k1=1, k2=1))


def test_a_reference_outside_the_workspace():
    """The slider reaches 0.4 m: asin(0.1 / 0.2) / 30 s into this sine."""
    wanted = sine(0.2, 30.0, offset=0.3)
    text = r"the reference of 'slider_x' leaves the workspace at t = 0\.01\d+ s"
    with pytest.raises(ModelError, match=text):
        simulate(SLIDER, 0.1, RungeKutta(), control=control.feedback_linearisation("slider.x", wanted, **GAINS))
    run = simulate(SLIDER, 0.01, RungeKutta(), control=control.pd("slider.x", wanted, k1=1, k2=1))
    assert "leaves the workspace" not in run.attrs["notes"]  # not within this run
    run = simulate(SLIDER, 0.1, RungeKutta(), control=control.pd("slider.x", wanted, k1=1, k2=1))
    assert "leaves the workspace at t = 0.01" in run.attrs["notes"]


def root(loop):
    return [sqrt(0.05 - loop.time)]


def wild(time, *_):
    return [math.nan if time > 0.05 else 1.0]


def loops():
    yield (
        "traced",
        control.use(root, "crank", limit=5.0),
        r"controller 'root' gives actuator 'crank' something that is no",
    )
    yield "sampled", control.sampled(wild, "crank", period=2e-3), r"controller 'wild' gives \[nan\] at t = 0.052 s"


@pytest.mark.parametrize("stepper", STEPPERS, ids=["rigid", "adaptive", "fixed"])
@pytest.mark.parametrize(("kind", "loop", "text"), [*loops()])
def test_a_controller_that_gives_no_number(stepper, kind, loop, text):
    with pytest.raises(SimulationFailed, match=text) as error:
        simulate(SLIDER, 0.2, stepper, every=1e-3, control=loop)
    assert error.value.outcome.kind == "controller failed" and error.value.outcome.time == pytest.approx(
        0.05, abs=2.1e-3
    )
    result = error.value.result
    assert 0.045 < float(result.time[-1]) < 0.055 and bool(result.angle.notnull().all())


def test_python_functions_that_fail():
    def broken(time, values, rates, references, reference_rates):
        return 1 / (time < 0.01)

    cases = [
        (broken, "controller 'broken' raises ZeroDivisionError at t = 0.01 s: division by zero"),
        (lambda *_: [1, 2], "gives 2 numbers for 1 actuators"),
        (lambda *_: None, "gives None at t = 0 s; it must return a number for each actuator"),
    ]
    for function, text in cases:
        run = simulate(
            SLIDER, 0.1, MoreauJean(1e-3), strict=False, control=control.sampled(function, "crank", period=1e-3)
        )
        assert run.attrs["outcome"] == "controller failed" and text in run.attrs["outcome_text"]


def test_laws_that_watch_what_they_did_not_declare():
    def own(loop):
        loop.watch("effort", 1.0)
        return [0.0]

    @law(watch=["effort"])
    def silent(loop):
        return [0.0]

    for one in (own, silent):
        with pytest.raises(ModelError, match=f"controller '{one.__name__}': 'effort' must be both declared"):
            simulate(SLIDER, 0.01, control=control.use(one, "crank"))


def test_times_that_do_not_fit_the_step():
    cases = {
        "control.period: 0.0015 s is no whole number of steps of 0.001 s": dict(period=1.5e-3),
        "control.sensors.e.delay: 0.0015 s is no": dict(sensors={"e": {"of": "crank", "delay": 1.5e-3}}),
        "control.sensors.e.period: 0.0005 s is no": dict(sensors={"e": {"of": "crank", "period": 5e-4}}),
    }
    for text, fields in cases.items():
        with pytest.raises(ModelError, match=text):
            simulate(SLIDER, 0.1, MoreauJean(1e-3), control=control.pd("crank", k1=1, k2=1, **fields))


def test_a_model_cannot_follow_a_rate_drive():
    driven = FIVE.replace(drives={"m": {"kind": "rate", "of": "J1", "motion": 1.0}})
    with pytest.raises(ModelError, match=r"drives\.m: the controller's model cannot follow a rate drive"):
        simulate(driven, 0.1, control=control.feedback_linearisation("J5", **GAINS))
    run = simulate(driven, 0.02, control=control.pd("J5", 1.0, k1=1, k2=1))
    assert run.attrs["outcome"] == "done"


def test_a_model_beside_a_drive_knows_its_motion():
    """One pivot of the five-bar is driven, the other follows: the model moves with both."""
    swing = {"kind": "sine", "amplitude": 0.3, "frequency": 5.0, "offset": 2.4}
    driven = FIVE.replace(
        drives={"m": {"kind": "angle", "of": "J1", "motion": swing}},
        start={"left_inner": 2.4, "right_inner": 0.8, **{k: x for k, x in FIVE.start.items() if "outer" in k}},
    )
    loop = control.feedback_linearisation("J5", table([0, 0.5], [0.8, 0.9]), **GAINS)
    run = simulate(driven, 0.2, RungeKutta(1e-10, 1e-12), start={"right_inner.rate": 0.0}, control=loop)
    assert abs(run.tracking_error.values).max() < 1e-9


# -- the command line
def told(capsys, *arguments):
    code = main([*map(str, arguments)])
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    return code, said


def test_a_controlled_run_on_the_command_line(tmp_path, capsys):
    file = tmp_path / "m.yaml"
    file.write_text(FILE, encoding="utf-8")
    code, said = told(capsys, "run", file, "--until", "0.2 s", "-o", tmp_path / "r.nc")
    assert code == 0 and "outcome" in said.out
    code, said = told(capsys, "run", file, "--until", "0.2 s", "--step", "0.5 ms", "-o", tmp_path / "r.nc")
    assert code == 0 and "outcome" in said.out and (tmp_path / "r.nc").exists()
    code, said = told(capsys, "run", file, "--until", "0.2 s", "--step", "0.3 ms", "-o", tmp_path / "r.nc")
    assert code == 2 and "control.sensors.encoder.period: 0.001 s is no whole number of steps" in said.err


CHANGES = {
    "law: {law: pd_tracking, k1: 200, k2: 10}": [
        ("law: {law: pd_traking, k1: 200, k2: 10}", "did you mean 'pd_tracking'"),
        ("law: {law: pd_tracking, k1: 200}", "k2: is missing"),
        ("law: {law: pd_tracking, k1: 200, k2: 10}\n  period: -1 ms", "period: must be > 0"),
    ],
    "limit: 50 N*m": [("limit: -50 N*m", "limit: must be > 0"), ("limit: 50 N", "N*m")],
    "{of: J1,": [("{of: J7,", "no body or revolute joint 'J7'"), ("{of: J4,", "its kind is position")],
    "encoder: {of: crank,": [("encoder: {of: krank,", "no body or revolute joint 'krank'")],
}


@pytest.mark.parametrize(("old", "new", "text"), [(old, *pair) for old, pairs in CHANGES.items() for pair in pairs])
def test_bad_files_on_the_command_line(tmp_path, capsys, old, new, text):
    assert old in FILE
    file = tmp_path / "m.yaml"
    file.write_text(FILE.replace(old, new), encoding="utf-8")
    code, said = told(capsys, "run", file, "--until", "0.1 s", "--step", "1 ms", "-o", tmp_path / "r.nc")
    assert code == 2 and text in said.err and "control" in said.err


def test_two_actuators_too_many_on_the_command_line(tmp_path, capsys):
    file = tmp_path / "m.yaml"
    file.write_text(FILE.replace("{motor: {of: J1,", "{other: {of: rod}, motor: {of: J1,"), encoding="utf-8")
    code, said = told(capsys, "run", file, "--until", "0.1 s", "--step", "1 ms", "-o", tmp_path / "r.nc")
    assert code == 2 and "2 actuators (other, motor) for 1 degree of freedom" in said.err


STEERED = """
bodies: {crank: {bar: 100 mm, mass: 1}, rod: {bar: 300 mm, mass: 1}}
control:
  law: %s
  actuators: {motor: {of: crank}}
"""
AIM = "  coordinates: {crank: {of: crank, reference: 0.5}}\n"


def test_what_the_controller_believes_has_units_and_bounds():
    law = STEERED % "{law: pd, k1: 1, k2: 2}"
    mechanism = loads(law + AIM + "  model: {rod.length: 350 mm, rod.mass: 2}\n")
    assert mechanism.control.model == {"rod.length": 0.35, "rod.mass": 2.0}
    assert mechanism.value("control.model.rod.length") == 0.35
    assert loads(dumps(mechanism)) == mechanism
    for wrong, said in (
        ("rod.mass: -2", "control.model.rod.mass: must be > 0, got -2 kg"),
        ("rod.mass: 2 mm", "control.model.rod.mass: must be a mass in kg"),
        ("lod.mass: 2", "control.model.lod.mass: no such address; did you mean 'rod.mass'"),
    ):
        with pytest.raises(ModelError, match=re.escape(said)):
            loads(law + AIM + f"  model: {{{wrong}}}\n")


def test_missing_gains_and_coordinates_are_named():
    with pytest.raises(ModelError, match=r"law 'pd' needs k1: write \{law: pd, k1: \.\.\.\}"):
        loads(STEERED % "pd" + AIM)
    with pytest.raises(ModelError, match=r"control.coordinates: is missing: what is to be controlled\?"):
        loads(STEERED % "{law: pd, k1: 1, k2: 2}")


def test_actuators_by_names_of_ones_own():
    made = control.pd("crank", 1.0, k1=1, k2=1, actuators={"motor": {"of": "rod", "limit": 5}})
    assert {name: (a.of, a.limit) for name, a in made.actuators.items()} == {"motor": ("rod", 5.0)}


def test_check_looks_at_the_loop():
    loop = control.feedback_linearisation("crank", 1.0, **GAINS, sensors=["crank", "rod"])
    assert any("2 sensors (sensor1, sensor2)" in text for text in check(SLIDER.replace(control=loop)).warnings)
    with pytest.raises(
        ModelError, match=r"control.sensors: 2 sensors \(sensor1, sensor2\) to move a model that needs 1"
    ):
        simulate(SLIDER, 0.01, control=loop)
    held = library.slider_crank(speed=1.0).replace(control=control.pd("crank", 1.0, k1=1, k2=1))
    said = "1 actuators (crank) for 0 degrees of freedom of the ideal mechanism and its drives"
    assert any(said in text for text in check(held).warnings)


def test_no_statistics_before_the_loop_counts_as_settled():
    run = simulate(SLIDER, 0.02, control=control.pd("crank", 1.0, k1=1, k2=1, settled=1.0))
    assert np.isnan([run.error_max[0], run.error_rms[0], run.control_max[0], run.control_rms[0]]).all()
    assert "ended before 1 s, when its statistics were to begin" in run.attrs["notes"]


def test_the_error_of_a_python_function_is_kept():
    def broken(*_):
        raise KeyError("gain")

    with pytest.raises(SimulationFailed, match="'broken' raises KeyError at t = 0 s") as failed:
        simulate(SLIDER, 0.02, FixedRungeKutta(1e-3), control=control.sampled(broken, "crank", period=1e-2))
    assert isinstance(failed.value.__cause__, KeyError)


def test_a_law_that_returns_nothing_is_told_what_to_return():
    @law()
    def silent(loop):
        loop.errors[0] * 2.0

    with pytest.raises(ModelError, match="'silent' returns None; it must return a number for each actuator"):
        simulate(SLIDER, 0.02, control=control.use(silent, "crank", 1.0))


def test_a_python_function_has_no_gains_and_fields_are_not_swallowed():
    for wrong in ({"delay": 1e-3}, {"limt": 5.0}):
        with pytest.raises(ModelError, match="is no field of the loop"):
            control.sampled(lambda *seen: 0.0, "crank", period=1e-3, **wrong)
