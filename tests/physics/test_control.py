"""Control loops: closed forms of the error, the controller's model, plants it does not know, energy, all modes."""

import json
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from jointplay.engine import trace
from jointplay.laws import law
from jointplay.model import Compliant, Following, bar, control, library, sine
from jointplay.physics.loop import Loop
from jointplay.physics.reduced import Reduced
from jointplay.results import audited
from jointplay.run import Run
from jointplay.simulation import FixedRungeKutta, MoreauJean, RungeKutta, planned, simulate
from jointplay.statics import start
from jointplay.system import System
from tests.helpers import differences, outcome
from tests.physics.reduction import SPRING, Reduction, units

SLIDER = library.slider_crank(angle=1.0)
SPRUNG = SLIDER.replace(forces=SPRING)
FINE = RungeKutta(rtol=1e-10, atol=1e-12)
GAINS = dict(k1=100.0, k2=20.0, c=5.0)
WANTED = sine(0.5, 3.0, offset=1.0)
AT = {"crank": 1.0, "crank.rate": 1.5}  # on the reference


def decay(t, error, rate=0.0):
    """e'' + 20 e' + 100 e = 0: critically damped."""
    return (error + (rate + 10 * error) * t) * np.exp(-10 * t)


# -- feedback linearisation leaves a linear error, on mechanisms that it was not made for
CASES = {
    "crank of a slider-crank": (SLIDER, "crank", WANTED, AT),
    "with a spring and a damper": (SPRUNG, "crank", WANTED, AT),
    "position of the slide": (SLIDER, {"kind": "position", "of": "J4"}, sine(0.02, 4.0, offset=0.33), {"crank": 1.2}),
    "x of the slider": (SLIDER, "slider.x", sine(0.02, 4.0, offset=0.33), {"crank": 1.2}),
    "both pivots of a five-bar": (library.five_bar(), ["J1", "J5"],
                                  [sine(0.3, 4.0, offset=2.2), sine(0.2, 5.0, offset=0.8)],
                                  {"left_inner": 2.3, "right_inner": 0.9}),
    "torques between bars": (library.pendulum(2, length=0.5), ["J1", "J2"], [sine(0.4, 3.0, offset=-1.0), 0.5],
                             {"bar1": -1.1, "bar2": -0.5}),
    "a tip, by torques elsewhere": (library.five_bar(), ["left_outer.end.x", "left_outer.end.y"],
                                    [sine(0.03, 4.0), sine(0.02, 3.0, offset=0.16)], {}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_feedback_linearisation_leaves_a_linear_error(case):
    mechanism, of, wanted, at = CASES[case]
    actuators = ["J1", "J5"] if case.startswith("a tip") else None
    loop = control.feedback_linearisation(of, wanted, actuators=actuators, **GAINS)
    run = simulate(mechanism, 0.5, FINE, every=1e-3, start=at, control=loop)
    error = run.tracking_error.values
    motions = [c.reference for c in loop.coordinates.values()]
    first = np.array([(m(1e-6) - m(0.0)) / 1e-6 for m in motions])
    rates = {"crank": 1.5} if "crank.rate" in at else {}
    for i, name in enumerate(run.channel.values):
        expected = decay(run.time.values, error[0, i], rates.get(str(name), 0.0) - first[i])
        assert np.abs(error[:, i] - expected).max() < 2e-6 * max(1.0, abs(first[i]))  # the slope's finite difference
    assert "crank.rate" not in at or np.abs(error).max() < 1e-9  # on the reference it stays
    v = (error[:, 0] ** 2).sum()
    assert np.isfinite(v) and float(audited(run, "energy imbalance")) < 1e-7


def test_the_error_of_fixed_steps_is_of_first_order():
    """Torques are held through a step: a half step halves the deviation from the continuous loop."""
    loop = control.feedback_linearisation("crank", WANTED, **GAINS)
    found = [
        simulate(SLIDER, 0.5, MoreauJean(h, order=1), every=0.01, start=AT, control=loop).tracking_error.values[:, 0]
        for h in (4e-4, 2e-4, 1e-4)
    ]
    sizes = [np.abs(x).max() for x in found]
    assert sizes[0] < 5e-3 and 1.85 < sizes[0] / sizes[1] < 2.15 and 1.9 < sizes[1] / sizes[2] < 2.1


def test_watched_lyapunov_function_falls_as_the_linear_error_says():
    loop = control.feedback_linearisation("crank", WANTED, **GAINS)
    run = simulate(SLIDER, 0.5, FINE, every=1e-3, start={"crank": 1.1, "crank.rate": 1.5}, control=loop)
    t = run.time.values
    e, v = decay(t, 0.1), -0.1 * 100 * t * np.exp(-10 * t)
    assert run.lyapunov.values == pytest.approx(0.5 * (v * v + 100 * e * e) + 5.0 * e * v, abs=1e-8)
    assert (np.diff(run.lyapunov.values) < 0).all()


def test_passivity_takes_energy_out_as_predicted():
    """V = s M s/2 falls by k s^2: with M' - 2 C skew nothing else acts."""
    loop = control.passivity_based(["J1", "J5"], [sine(0.3, 4.0, offset=2.2), 0.8], k=0.5, slope=8.0)
    five = library.five_bar()
    run = simulate(five, 0.5, FINE, every=1e-4, start={"left_inner": 2.3, "right_inner": 0.9}, control=loop)
    t, e = run.time.values, run.tracking_error.values
    rate = run.angle_rate.sel(body=["left_inner", "right_inner"]).values - np.column_stack([1.2 * np.cos(4 * t), 0 * t])
    s = rate + 8.0 * e
    spent = np.concatenate([[0], np.cumsum(0.5 * (s[1:] ** 2 + s[:-1] ** 2).sum(axis=1) * np.diff(t))]) * 0.5
    assert run.lyapunov.values + spent == pytest.approx(run.lyapunov.values[0], rel=5e-5)
    assert float(run.lyapunov[-1]) < 1e-3 * float(run.lyapunov[0])


# -- the model
def reduced(mechanism, loop, q, v, accelerations, rates=None):
    """Torques of the model's inverse dynamics at a state."""
    system = System(mechanism.replace(control=loop))
    n = len(q)

    def step(s, p):
        text = Loop(system.equations()(p))
        at, speeds = ([p[f"{part}{i}"] for i in range(n)] for part in "qv")
        model = Reduced(text.model, at, speeds, 0.0)
        found = model.torques(list(accelerations), None if rates is None else list(rates))
        return {f"u{i}": u for i, u in enumerate(found)}

    numbers = (
        system.parameters | {f"q{i}": float(x) for i, x in enumerate(q)} | {f"v{i}": float(x) for i, x in enumerate(v)}
    )
    run = Run(trace(step, {f"u{i}": 0.0 for i in range(len(accelerations))}, numbers), numbers)
    run.advance(1)
    return np.array([float(run[f"u{i}"][0]) for i in range(len(accelerations))])


def test_inverse_dynamics_is_that_of_a_reduction_in_numpy():
    five, at = SPRUNG, {"start.crank": 2.0, "start.crank.rate": -3.0}
    loop = control.feedback_linearisation("crank", 1.0, **GAINS)
    q, v = start(System(five.with_(at)))
    other = Reduction(five, units(five, "crank.angle"), units(five, "crank.angle"), q)
    torque = reduced(five, loop, q, v, [7.0])
    assert other(np.array([2.0, -3.0]), torque)[1] == pytest.approx(7.0, abs=1e-9)


def test_mass_matrix_less_twice_coriolis_is_skew():
    five = library.five_bar()
    loop = control.passivity_based(["J1", "J5"], [0.0, 0.0], k=1, slope=1)
    rates = np.array([3.0, -2.0])
    moving = five.with_({"start.left_inner": 2.2, "start.right_inner": 0.7, "start.left_inner.rate": 3.0,
                         "start.right_inner.rate": -2.0})  # fmt: skip
    q, v = start(System(moving))
    rows = units(five, "left_inner.angle", "right_inner.angle")
    place = Reduction(five, rows, rows, q).place

    def matrices(q):
        rest = reduced(five, loop, q, v, [0, 0], [0, 0])
        mass = np.column_stack([reduced(five, loop, q, v, e, [0, 0]) - rest for e in np.eye(2)])
        return mass, np.column_stack([reduced(five, loop, q, v, [0, 0], e) - rest for e in np.eye(2)])

    mass, coriolis = matrices(q)
    step, y = 1e-5, np.array(rows) @ q
    slope = (matrices(place(y + step * rates))[0] - matrices(place(y - step * rates))[0]) / (2 * step)
    wrong = slope - 2 * coriolis
    assert mass == pytest.approx(mass.T) and np.linalg.eigvalsh(mass).min() > 0
    assert (
        np.abs(wrong + wrong.T).max() < 1e-6 * np.abs(slope).max() and np.abs(wrong).max() > 0.1 * np.abs(slope).max()
    )


def test_gravity_compensation_holds_any_pose():
    five = library.five_bar()
    at = {"left_inner": 2.3, "right_inner": 0.9}
    loop = control.pd(["J1", "J5"], [2.0, 1.0], k1=20, k2=1.0, gravity=True)
    runs = [
        simulate(five, 3.0, RungeKutta(), start=at, control=loop.model_copy(update={"gravity": g}))
        for g in (True, False)
    ]
    error = [np.abs(run.tracking_error.values[-1]).max() for run in runs]
    assert error[0] < 1e-6 and error[1] > 1e-3


def test_gravity_compensation_of_a_sampled_function():
    def spring(time, values, rates, references, reference_rates):
        return [-20 * (values[0] - references[0]) - rates[0]]

    arm = library.pendulum(length=0.5)
    for stepper in (MoreauJean(1e-3), FixedRungeKutta(1e-3)):
        loop = control.sampled(spring, "bar1", 0.5, period=2e-3, gravity=True)
        run = simulate(arm, 4.0, stepper, control=loop)
        assert abs(float(run.tracking_error[-1, 0])) < 1e-5


def test_a_model_with_other_numbers_leaves_the_error_they_make():
    """A pendulum held level: model mass 1 of 2 kg, k1 J e = g(model) - g, with the inertia of a bar of 1 kg."""
    arm = library.pendulum(length=1.0, mass=2.0)
    loop = control.feedback_linearisation("bar1", 0.0, model={"bar1.mass": 1.0}, **GAINS)
    run = simulate(arm, 3.0, FINE, start={"bar1": 0.0}, control=loop)
    e = float(run.tracking_error[-1, 0])
    assert 100 * (1.0 / 3) * e == pytest.approx((1.0 - 2.0) * 9.81 * 0.5 * math.cos(e), rel=1e-6)
    told = control.feedback_linearisation("bar1", 0.0, model={"bar1.mass": 2.0}, **GAINS)
    assert np.abs(simulate(arm, 0.5, FINE, start={"bar1": 0.0}, control=told).tracking_error.values).max() < 1e-9
    system = System(arm.replace(control=loop))
    later = simulate(system.with_({"control.model.bar1.mass": 2.0}), 0.5, FINE, start={"bar1": 0.0})
    assert np.abs(later.tracking_error.values).max() < 1e-9  # a number, not a text


def test_a_payload_that_the_controller_does_not_know():
    """The same as a model with the numbers of the empty arm."""
    bodies = {"bar1": bar(1.0, 2.0).loaded(1.0, (1.0, 0.0))}
    full = library.pendulum(length=1.0, mass=2.0).replace(bodies=bodies)
    empty = {"bar1.mass": 2.0, "bar1.inertia": 2.0 / 12, "bar1.centre.x": 0.5}
    loop = control.feedback_linearisation("bar1", sine(0.5, 2.0), model=empty, **GAINS)
    run = simulate(full, 1.0, FINE, every=0.01, start={"bar1": 0.0, "bar1.rate": 1.0}, control=loop)

    def slopes(t, x):
        e, de = x[0] - 0.5 * math.sin(2 * t), x[1] - math.cos(2 * t)
        torque = 2 / 3 * (-2 * math.sin(2 * t) - 100 * e - 20 * de) + 2 * 9.81 * 0.5 * math.cos(x[0])
        return [x[1], (torque - (2 * 0.5 + 1) * 9.81 * math.cos(x[0])) / (2 / 3 + 1)]

    known = solve_ivp(slopes, (0, 1), [0, 1.0], rtol=1e-10, atol=1e-12, t_eval=run.time.values)
    assert run.angle.values[:, 0] == pytest.approx(known.y[0], abs=1e-8)


def test_pid_as_scipy_integrates_it():
    loop = control.pid("bar1", sine(0.4, 3.0), k1=30, k2=3, k3=50)
    run = simulate(library.pendulum(), 1.0, FINE, every=0.01, start={"bar1": 0.2}, control=loop)

    def slopes(t, x):
        e, de = x[0] - 0.4 * math.sin(3 * t), x[1] - 1.2 * math.cos(3 * t)
        return [x[1], 3 * (-30 * e - 3 * de - 50 * x[2] - 9.81 * 0.5 * math.cos(x[0])), e]

    known = solve_ivp(slopes, (0, 1), [0.2, 0, 0], rtol=1e-11, atol=1e-13, t_eval=run.time.values)
    assert run.angle.values[:, 0] == pytest.approx(known.y[0], abs=1e-8)
    digital = simulate(library.pendulum(), 1.0, MoreauJean(1e-4), every=0.01, start={"bar1": 0.2}, control=loop)
    assert digital.angle.values[:, 0] == pytest.approx(known.y[0], abs=1e-3)


def test_saturation_and_feedforward():
    loop = control.pd("bar1", 2.0, k1=50, k2=2, limit=6.0, feedforward=1.0)
    run = simulate(library.pendulum(), 1.0, FINE, start={"bar1": -1.5}, control=loop)
    u = run.control.values[:, 0]
    assert np.abs(u).max() == 6.0 == float(run.control_max[0]) and u[0] == 6.0
    free = (np.abs(u) < 6.0) & (run.time.values > 0)
    raw = 1.0 - 50 * run.tracking_error.values[:, 0] - 2 * run.angle_rate.values[:, 0]
    assert free.any() and u[free] == pytest.approx(raw[free], abs=1e-9) and (np.abs(raw[~free]) >= 6.0 - 1e-9).all()


# -- plants with play
def test_play_in_following_and_compliant_contact_under_control():
    """The controller knows the ideal mechanism: the crank is disturbed by little, and by less with less play."""
    loop = control.feedback_linearisation("crank", sine(0.5, 3.0, phase=-math.pi / 2, offset=1.5), **GAINS)
    for contact in (Following(on_loss="continue"), Compliant()):
        found = []
        for c in (4e-4, 1e-4):
            loose = SLIDER.loosen("J3", c, journal_radius=0.01, contact=contact)
            run = simulate(loose, 0.1, RungeKutta(1e-7, 1e-9), control=loop)
            found.append(float(run.error_max[0]))
        assert 1e-6 < found[1] < 0.5 * found[0] < 2e-3


# -- energy, records
@pytest.mark.parametrize("stepper", [FINE, FixedRungeKutta(1e-3), MoreauJean(1e-4)], ids=lambda s: type(s).__name__)
def test_the_work_of_actuators_is_in_the_balance(stepper):
    loop = control.pd("crank", WANTED, k1=20, k2=1)
    run = simulate(SPRUNG, 0.5, stepper, every=1e-3, start=AT, control=loop)
    total = (run.kinetic + run.potential).values
    assert np.ptp(total) > 0.1
    assert np.abs(run.work.values - (total - total[0])).max() < (1e-3 if isinstance(stepper, MoreauJean) else 1e-6)
    damper = run.control.values[:, 0] * run.angle_rate.sel(body="crank").values
    spent = np.trapezoid(damper, run.time.values)  # work of the actuator alone; the spring's damper takes the rest
    assert spent > float(run.work[-1])
    assert audited(run, "energy imbalance") < (1e-3 if isinstance(stepper, MoreauJean) else 1e-6)


@pytest.mark.parametrize("stepper", [FINE, FixedRungeKutta(1e-3), MoreauJean(1e-3)], ids=lambda s: type(s).__name__)
def test_the_record_begins_with_what_the_controller_says_first(stepper):
    loop = control.pd_tracking("crank", WANTED, k1=20, k2=1)
    at = {"crank": 1.2, "crank.rate": 1.0}
    run = simulate(SLIDER, 0.1, stepper, every=0.01, start=at, control=loop)
    assert float(run.control[0, 0]) == pytest.approx(-20 * 0.2 + 0.5)
    assert float(run.tracking_error[0, 0]) == pytest.approx(0.2) and float(run.reference[0, 0]) == pytest.approx(1.0)
    assert float(run.error_max[0]) >= 0.2 - 1e-12 and float(run.control_max[0]) >= 3.5 - 1e-9
    assert run.reference.values[:, 0] == pytest.approx(1 + 0.5 * np.sin(3 * run.time.values))


def test_statistics_begin_when_the_loop_counts_as_settled():
    loop = control.feedback_linearisation("crank", WANTED, settled=0.3, **GAINS)
    at = {"crank": 1.2, "crank.rate": 1.5}
    for stepper in (FixedRungeKutta(5e-4), MoreauJean(5e-4)):
        run = simulate(SLIDER, 0.6, stepper, every=5e-4, start=at, control=loop)
        late = run.sel(time=slice(0.3 - 1e-9, None))
        e, u = late.tracking_error.values[:, 0], late.control.values[:, 0]
        assert float(run.error_max[0]) == pytest.approx(np.abs(e).max(), rel=1e-2)
        assert float(run.error_rms[0]) == pytest.approx(math.sqrt((e * e).mean()), rel=1e-2)
        assert float(run.control_rms[0]) == pytest.approx(math.sqrt((u * u).mean()), rel=1e-2)


# -- a law of one's own
@pytest.mark.parametrize("stepper, off", [(MoreauJean(1e-4), (1e-6, 1e-4)), (FixedRungeKutta(1e-4), (1e-6, 4e-3))])
def test_means_over_equal_steps_count_both_ends_of_each(stepper, off):
    """The error's was that of a rectangle rule in steps of impulses (5e-4 off), and the torque of the start was left
    out of Runge-Kutta steps (1.1 % off)."""
    loop = control.use("pd_tracking", "crank", sine(0.3, frequency=4.0, offset=1.2), k1=400.0, k2=40.0)
    crank = library.slider_crank(angle=1.0)
    exact, run = (simulate(crank, 0.2, one, control=loop, error=False) for one in (RungeKutta(1e-11, 1e-12), stepper))
    for name, most in zip(("error_rms", "control_rms"), off, strict=True):
        assert float(run[name][0]) == pytest.approx(float(exact[name][0]), rel=most), name


def test_a_plain_function_and_a_law_with_states_and_memory():
    def stiff(loop):
        return [-20 * e - 1 * v for e, v in zip(loop.errors, loop.rates, strict=True)]

    same = [control.use(stiff, "crank", WANTED), control.pd("crank", WANTED, k1=20, k2=1)]
    one, other = (simulate(SLIDER, 0.2, FINE, start=AT, control=loop) for loop in same)
    assert (one.angle.values == other.angle.values).all()

    @law(rates={"slow": 0.5}, memory={"count": 0.0}, watch=["seen"])
    def own(loop, *, k, slow, count):
        loop.watch("seen", count[0] + 10 * slow[0])
        return (
            [-k * e - s for e, s in zip(loop.errors, slow, strict=True)],
            {"slow": [-2.0 * slow[0]]},
            {"count": [count[0] + 1]},
        )

    run = simulate(
        SLIDER, 0.01, MoreauJean(1e-3), every=1e-3, start=AT, control=control.use(own, "crank", WANTED, k=5.0)
    )
    counts = np.arange(10)
    assert run.seen.values[1:] == pytest.approx(counts + 5 * 0.998**counts)


def test_conditions_of_gains_are_noted():
    loop = control.feedback_linearisation("crank", WANTED, k1=100, k2=20, c=19.0)
    run = simulate(SLIDER, 0.01, FINE, start=AT, control=loop)
    notes = [n for n in json.loads(run.attrs["notes"]) if n.startswith("control")]
    assert len(notes) == 2 and "c < k1 k2 / (k1 + k2^2 / 4) does not hold" in notes[0] and "c^2 < k1" in notes[1]


# -- the same in every mode
LOOPS = {
    "feedback linearisation": control.feedback_linearisation("crank", WANTED, limit=50, **GAINS),
    "pid with digital sensors": control.pid(
        "crank",
        WANTED,
        k1=20,
        k2=1,
        k3=5,
        period=2e-3,
        sensors={
            "encoder": {
                "of": "J1",
                "resolution": 1e-3,
                "noise": 1e-4,
                "delay": 2e-3,
                "period": 1e-3,
                "rate": "difference",
            }
        },
    ),
}


def again(run, parameters=None, **options):
    """Another run of the program from the same state; each set of parameters in a lane."""
    other = Run(run.program, lanes=len(parameters or [0]), **options)
    other.state_words[:], other.parameter_words[:] = run.state_words, run.parameter_words
    for name, array in run.arrays.items():
        other.arrays[name][:] = array
    for name in parameters[0] if parameters else ():
        other[name] = [given[name] for given in parameters]
    other.advance()
    return other


@pytest.mark.parametrize(
    ("stepper", "case"), [(MoreauJean(1e-3), case) for case in LOOPS] + [(FixedRungeKutta(1e-3), [*LOOPS][1])]
)
def test_eager_machine_code_and_lanes_agree(stepper, case):
    system = System(SLIDER.with_({"start.crank": 1.1}).replace(control=LOOPS[case]))
    few = planned(system, 0.002, stepper, 0.001).run
    eager, plain = (outcome(again(few, fma=False, eager=eager)) for eager in (True, False))
    assert differences(eager, plain) == []
    run = planned(system, 0.05, stepper, 0.001).run
    given = [{"control.law.k1": k} for k in (20.0, 50.0)]
    lanes = again(run, given)
    for lane in (0, 1):
        assert differences(outcome(lanes, lane), outcome(again(run, given[lane : lane + 1]))) == []
    assert not np.array_equal(outcome(lanes, 0)["state"], outcome(lanes, 1)["state"])


@pytest.mark.parametrize("name", ["pd", "feedback_linearisation"])
@pytest.mark.parametrize("stepper", [RungeKutta(), MoreauJean(1e-3)], ids=["forces", "impulses"])
def test_nothing_is_said_of_a_model_that_is_where_the_mechanism_is(name, stepper):
    """A loop without a model once told that the mechanism is far from it from the start on."""
    loop = getattr(control, name)("bar1", 0.3, k1=40.0, k2=8.0)
    run = simulate(library.pendulum(angles=[0.0]), until=0.02, stepper=stepper, control=loop)
    assert [note for note in json.loads(run.attrs["notes"]) if "configuration" in note] == []


def test_passivity_based_control_leaves_what_it_says_with_dampers():
    """Of a pendulum of constant inertia M, damped: M s' + k s = 0, so that s M s / 2 falls as exp(-2 k t / M)."""
    damper = {"kind": "torsion", "between": ["ground", "bar1"], "damping": 0.8}
    swing = library.pendulum(angles=[0.4]).replace(forces={"damper": damper})
    loop = control.passivity_based("bar1", sine(0.5, 3.0), k=0.5, slope=4.0)
    run = simulate(swing, 1.0, FINE, control=loop, error=False)
    there, inertia = run.lyapunov.values, 1 / 3
    assert there == pytest.approx(there[0] * np.exp(-2 * 0.5 / inertia * run.time.values), rel=1e-6)
