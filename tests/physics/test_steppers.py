"""The contract of every stepper, that of docs/extending.md among them: samples, audit, control, order, lanes."""

import runpy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import jointplay as jp
from jointplay.errors import InputError
from jointplay.model.parts import ModelError
from jointplay.results import audited

OWN = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "05_own_stepper.py"), run_name="example")
SymplecticEuler = OWN["SymplecticEuler"]
# a stepper of each kind for a step or tolerance, and its order
STEPPERS = {
    "RungeKutta": (lambda h: jp.RungeKutta(max(1e-13, h**5), max(1e-14, h**5)), 4.0),
    "FixedRungeKutta 4": (lambda h: jp.FixedRungeKutta(h, order=4), 4.0),
    "FixedRungeKutta 5": (jp.FixedRungeKutta, 5.0),
    "MoreauJean": (jp.MoreauJean, 1.0),
    "SymplecticEuler": (SymplecticEuler, 1.0),
}
SLIDER = jp.library.slider_crank(angle=1.0)
EACH = pytest.mark.parametrize("name", STEPPERS)


@EACH
def test_it_converges_with_its_order_and_keeps_the_account_of_energy(name):
    make, order = STEPPERS[name]
    exact = jp.simulate(SLIDER, 0.5, jp.RungeKutta(1e-13, 1e-14), every=0.1)
    off, imbalance = [], []
    for h in (1e-2, 5e-3, 2.5e-3):
        run = jp.simulate(SLIDER, 0.5, make(h), every=0.1)
        assert np.allclose(run.time, exact.time, atol=1e-12) and np.array_equal(run.angle[0], exact.angle[0])
        off.append(float(np.abs(run.angle[-1] - exact.angle[-1]).max()))
        imbalance.append(audited(run, "energy imbalance"))
        assert audited(run, "position drift") < 1e-8
    assert np.log2(off[0] / off[2]) / 2 > order - 0.5 and off[2] < 0.25
    assert imbalance[2] < imbalance[0] or imbalance[0] < 1e-9


@EACH
def test_its_forces_are_those_of_the_motion(name):
    """The reactions of the ground and the weight accelerate the mechanism: momentum of the samples against forces."""
    make, order = STEPPERS[name]
    h = 1e-3 if order > 1 else 1e-4
    run = jp.simulate(SLIDER, 0.2, make(h), every=0.05)
    masses = np.array([SLIDER.value(f"{body}.mass") for body in SLIDER.bodies])
    pushed = (run.x_acceleration.values * masses).sum(axis=1), (run.y_acceleration.values * masses).sum(axis=1)
    held = run.force_x.sel(joint=["J1", "J4"]).sum("joint"), run.force_y.sel(joint=["J1", "J4"]).sum("joint")
    weight = 9.81 * masses.sum()
    assert pushed[0] == pytest.approx(held[0].values, abs=2e-3 * weight)
    assert pushed[1] + weight == pytest.approx(held[1].values, abs=2e-3 * weight)
    # a peak of rigid steps is the mean over a step, a sample the force at its end
    assert (run.peak_force >= 0.99 * np.hypot(run.force_x, run.force_y)[1:].max("time")).all()


@EACH
def test_it_works_under_control(name):
    make, order = STEPPERS[name]
    loop = jp.control.feedback_linearisation("crank", jp.sine(0.3, 4.0, offset=1.0), k1=400.0, k2=40.0, settled=0.2)
    run = jp.simulate(SLIDER, 0.5, make(1e-3 if order > 1 else 1e-4), control=loop, start={"crank.rate": 1.2})
    assert float(run.error_max[0]) < (1e-6 if order > 1 else 5e-3) and float(run.control_rms[0]) > 0
    spent = float(run.kinetic[-1] + run.potential[-1] - run.kinetic[0] - run.potential[0])
    assert float(run.work[-1]) == pytest.approx(spent, abs=5e-3 * float(run.kinetic.max()))


@EACH
def test_lanes_and_pauses_give_the_same_bits(name):
    make, _ = STEPPERS[name]
    pair = jp.Simulation(SLIDER, make(2e-3), [{}, {"crank.mass": 1.3}], every=0.05, until=0.3)
    pair.advance(0.11, beyond=True)
    pair.step(2)
    pair.advance(0.3, beyond=True)
    for lane, mechanism in enumerate((SLIDER, SLIDER.with_({"crank.mass": 1.3}))):
        alone, beside = jp.simulate(mechanism, 0.3, make(2e-3), every=0.05), pair.result(lane)
        assert all(np.array_equal(alone[n], beside[n]) for n in beside.data_vars if beside[n].dtype.kind == "f")


@EACH
def test_dense_samples_need_no_short_steps(name):
    """Many more samples than steps, where a stepper has states between its ends."""
    make, _ = STEPPERS[name]
    if name == "MoreauJean":
        pytest.skip("impulses are known at the ends of steps only")
    run = jp.simulate(SLIDER, 0.2, make(1e-2), every=2e-4)
    assert run.sizes["time"] == 1001 and np.abs(run.angle).max() < 10.0
    assert (
        np.abs(np.gradient(run.angle.sel(body="crank"), run.time) - run.angle_rate.sel(body="crank"))[2:-2].max() < 0.05
    )


@EACH
def test_contact_that_it_does_not_compute_is_refused(name):
    make, _ = STEPPERS[name]
    other, called = (jp.Following(), "permanent") if name == "MoreauJean" else (jp.Rigid(), "rigid")
    with pytest.raises(ModelError, match=f"{name.split()[0]} computes .* contact, got a {called} one; use"):
        jp.simulate(jp.library.four_bar().loosen("J2", 1e-3, contact=other), 0.1, make(1e-3))


def test_a_stepper_of_ones_own_computes_compliant_contact():
    soft = jp.Compliant(normal="hunt_crossley")
    ball = jp.library.slider_crank(angle=1.0).loosen("J2", 1e-4, journal_radius=0.01, contact=soft)
    ball = ball.replace(journals="centred")
    own, reference = (jp.simulate(ball, 0.02, stepper, every=1e-3) for stepper in (SymplecticEuler(1e-6), None))
    assert int(own.impacts.sum()) == int(reference.impacts.sum()) > 0
    assert np.abs(own.angle - reference.angle).max() < 1e-3


def test_a_stepper_without_take_says_so():
    class Nothing(jp.Stepper):
        step = 1e-3

    with pytest.raises(NotImplementedError, match="Nothing does not say how it takes a step: define take"):
        jp.simulate(SLIDER, 0.1, Nothing())


def test_an_adaptive_stepper_must_say_what_is_finer_for_its_errors():
    """Without it there is a note that none are stated, and who asks for them is told before the run."""

    @dataclass(frozen=True)
    class Heun(jp.Stepper):
        rtol: float = 1e-4
        max_step: float = 0.1
        adaptive: ClassVar[bool] = True
        error_order: ClassVar[int] = 2
        numbers: ClassVar[tuple[str, ...]] = ("rtol", "max_step")

        def take(self, motion, now, h):
            euler = now.state.moved(h, [1.0], [now])
            end = now.state.moved(h, [0.5, 0.5], [now, motion.point(euler)[0]])
            return jp.Step(
                end, error=sum(abs(a - b) for a, b in zip(end.v, euler.v, strict=True)) / motion.given("rtol")
            )

    class Known(Heun):
        def finer(self):
            return replace(self, rtol=self.rtol / 4, max_step=self.max_step / 2)

    arm = jp.library.pendulum(angles=[0.0])
    run = jp.simulate(arm, 0.1, Heun())
    assert any("no errors are stated: Heun does not say what is finer" in note for note in jp.results.notes(run))
    assert not jp.results.errors(run) and not jp.results.notes(jp.simulate(arm, 0.1, Heun(), error=False))
    for asked in ({"error": True}, {"audit": "convergence"}):
        with pytest.raises(InputError, match=r"define finer\(self\)"):
            jp.simulate(arm, 0.1, Heun(), **asked)
        assert jp.results.errors(jp.simulate(arm, 0.1, Known(), **asked))
