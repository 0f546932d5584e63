"""Programs are kept by structure: where only numbers change nothing is traced again, and nothing is stale."""

import math

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import jointplay as jp
from jointplay.engine import sin
from jointplay.laws import law
from jointplay.model.parts import ModelError
from jointplay.simulation import Simulation, default_stepper
from jointplay.statics.starting import TWINS
from jointplay.system import PROGRAMS, System

MECHANISMS = {name: getattr(jp.library, name)() for name in jp.library.MECHANISMS}
PD = jp.control.pd("crank", jp.sine(0.3, 4.0, offset=1.0), k1=40.0, k2=4.0)
MORE = {
    "rigid": jp.library.crank_rocker_2016(3e-3, 2e-3),
    "compliant": jp.library.wu_2017(clearance=5e-4, contact=jp.library.wu_2017_contact()),
    "control": jp.library.slider_crank(angle=1.0).replace(control=PD),
    "model differs": jp.library.slider_crank(angle=1.0).replace(
        control=jp.control.feedback_linearisation("crank", jp.sine(0.3, 4.0, offset=1.0), k1=9.0, k2=6.0,
                                                  model={"slider.mass": 1.3})),
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in (*MECHANISMS, *MORE) if name != "grigore_figure_6"])  # 12 s more
def test_a_trace_depends_on_structure_only(name, tmp_path, monkeypatch):
    """Every number is moved, far and a little: where the structure stays, so must the program, to its digest."""
    mechanism = (MECHANISMS | MORE)[name]
    stepper = default_stepper(mechanism)
    base = System(mechanism)
    digest = Simulation(base, stepper, until=0.01).program.digest
    changed = {}
    for address, x in mechanism.addresses().items():
        if address.startswith("start.") or x == 0:
            continue
        for factor in (1.01, 3.0):
            try:
                other = base.with_({address: factor * x})
            except ModelError:
                continue
            assert other.structure == base.structure, address
            changed[address] = factor * x
    moved = {}
    for address, x in changed.items():  # all together, as far as the mechanism can still be assembled
        try:
            candidate = mechanism.with_(moved | {address: mechanism.value(address) * 1.001})
            Simulation(candidate, stepper, until=0.01)
        except ValueError:
            continue
        moved[address] = x / 3 * 1.001 if math.isclose(x, 3 * mechanism.value(address)) else x
    fresh = Simulation(mechanism.with_(moved), stepper, until=0.01)
    PROGRAMS.things.clear()
    monkeypatch.setenv("JOINTPLAY_CACHE_DIR", str(tmp_path))
    traced = Simulation(mechanism.with_(moved), stepper, until=0.01)
    assert len(moved) > 2 and fresh.program.digest == digest == traced.program.digest


def test_other_numbers_starts_ends_and_steps_trace_nothing():
    TWINS.things.clear()  # other tests forget programs, of which systems of ideal twins are made
    for mechanism, stepper in ((MORE["rigid"], jp.MoreauJean(1e-4)), (MORE["control"], jp.RungeKutta())):
        jp.simulate(mechanism, 0.01, stepper)
        made = PROGRAMS.made
        other = mechanism.with_({"crank.mass": 1.7, "start.crank": 1.1})
        jp.simulate(other, 0.02, stepper.finer(), every=0.01, reclose=True)
        assert PROGRAMS.made == made
        jp.simulate(other.with_({"gravity.x": 1.0}), 0.01, stepper, reclose=True)  # a zero less
        assert PROGRAMS.made > made


def test_a_sampled_loop_with_half_the_step_is_not_traced_again():
    loop = jp.control.pd(
        "crank", 1.0, k1=40.0, k2=4.0, period=4e-3, sensors={"of": "crank", "period": 4e-3, "delay": 8e-3}
    )
    jp.simulate(MECHANISMS["slider_crank"], 0.02, jp.FixedRungeKutta(1e-3), control=loop)
    made = PROGRAMS.made
    jp.simulate(MECHANISMS["slider_crank"], 0.02, jp.FixedRungeKutta(5e-4), control=loop)
    assert PROGRAMS.made == made


def test_an_edited_law_is_never_run_stale():
    def loop(gain):
        @law()
        def mine(loop, *, k=2.0):
            return [-gain * k * e for e in loop.errors]

        return jp.control.use(mine, "crank", 0.5)

    slider = MECHANISMS["slider_crank"].with_({"start.crank": 1.0})
    first, second = (jp.simulate(slider, 0.1, control=loop(gain)) for gain in (1.0, 30.0))
    assert float(second.control[0, 0]) == pytest.approx(30.0 * float(first.control[0, 0]), rel=1e-12)


def test_an_edited_motion_is_never_run_stale():
    def driven(speed):
        motion = {"kind": "angle", "of": "crank", "motion": lambda t: 1.0 + speed * sin(t)}
        return MECHANISMS["slider_crank"].replace(drives={"motor": motion}, start={})

    slow, fast = (jp.simulate(driven(speed), 0.1) for speed in (1.0, 2.0))
    rates = [float(run.angle_rate.sel(body="crank")[0]) for run in (slow, fast)]
    assert rates == pytest.approx([1.0, 2.0], rel=1e-9)


def test_tables_of_the_same_size_share_a_program_and_keep_their_numbers():
    def driven(last):
        motion = jp.table([0.0, 0.1, 0.2, 0.3], [1.0, 1.1, 1.2, last], ends="held")
        drive = {"kind": "angle", "of": "crank", "motion": motion}
        return MECHANISMS["slider_crank"].replace(drives={"motor": drive}, start={})

    runs = [jp.simulate(driven(1.3), 0.26, every=0.05)]
    made = PROGRAMS.made
    runs.append(jp.simulate(driven(1.5), 0.26, every=0.05))
    assert PROGRAMS.made == made
    for last, run in zip((1.3, 1.5), runs, strict=True):
        spline = CubicSpline([0.0, 0.1, 0.2, 0.3], [1.0, 1.1, 1.2, last])
        assert np.allclose(run.angle.sel(body="crank"), spline(run.time), atol=1e-6)
