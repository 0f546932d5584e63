"""Hess Coelho, Orsino, Coutinho: Adaptative balancing techniques applied to parallel mechanisms.

The 5R and its RR arms are built here as the paper does it, from modules; its formulas are evaluated as printed and
compared with the coupled model.  Of its figures the text keeps no numbers: there our reference stands in their place.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..balancing import balance, judge, shaking
from ..engine import atan2, cos, sin, sqrt
from ..model import control, library
from ..model.motions import cycloidal, sine
from ..model.shapes import rr_arm
from ..simulation import RungeKutta, simulate
from ..statics import Coordinates, reduced
from ..statics.cycle import DrivenState, follow
from ..system import System
from ._coelho_arms import GAMMAS, INERTIAS, LENGTHS, MASSES, PAYLOAD, PIVOT, formulas, numbers, row, rr
from .rows import Found, Row
from .verdicts import FAILS

ANGLES = ["J1", "J2", "J5", "J4"]  # q1R1, q1R2, q2R1, q2R2 in the library's 5R


def gammas() -> list[float]:
    """Where counterweights of 1 kg balance an arm, as shares of its links."""
    arm = rr_arm(LENGTHS, MASSES, INERTIAS, (0.6, 1.7))
    arm = arm.replace(bodies={**arm.bodies, "arm2": arm.bodies["arm2"].loaded(PAYLOAD, (LENGTHS[1], 0.0))})
    found = balance(arm, "gyroscopic", "arm1:mass=1kg,arm2:mass=1kg", independent=["J1", "J2"])
    return [-found.design[f"arm{i}.counterweight.x"] / LENGTHS[i - 1] for i in (1, 2)]


def inertial(even: bool) -> list[float]:
    """I1, I2, I3 of equation (82) from the matrix of masses."""
    model = reduced(rr(**numbers(balanced=even), angles=(0.6, 0.6 + math.pi / 3)), independent=["rr.J1", "rr.J2"])
    I1 = float(model.M[1, 1])
    I3 = (float(model.M[0, 1]) - I1) / math.cos(math.pi / 3)
    return [I1, float(model.M[0, 0]) - I1 - 2 * I3 * math.cos(math.pi / 3), I3]


@functools.cache
def judged(which: str) -> Any:
    """The tests of balance of an arm, or of the 5R in redundant or in independent rates."""
    if which == "arm":
        return judge(rr(), ["rr.J1", "rr.J2"])
    if which == "redundant":
        return judge(library.coelho_five_bar(True), ["J1", "J5"], ANGLES, ["J3"])
    return judge(library.coelho_five_bar(which == "independent"), ["J1", "J5"])


def passed(which: str, test: str) -> Found:
    """The residual of a test of balance, and whether it is passed."""
    found = judged(which)[test]
    return Found(float(found.residual), f"over {judged(which).positions} positions", holds=bool(found.passed))


def conditions() -> int:
    """How many conditions of force balance the 5R has."""
    bars = "left_inner,left_outer,right_inner,right_outer"
    return int(balance(library.coelho_five_bar(False), "force", bars, independent=["J1", "J5"]).rank)


def balanced_rows() -> Iterator[Row]:
    """Equation (87), the propositions, and the numbers of the data of section 4.4."""
    yield row("equation 87", {"masses": [1.0, 1.0]}, "gamma3, gamma4", "", gammas, list(GAMMAS), None, 1e-9)
    for even, reference in ((True, [0.18094, 0.12017, 0.0]), (False, [0.06534, 0.02017, 0.034])):
        compute = functools.partial(inertial, even)
        yield row("equation 82", {"balanced": even}, "I1, I2, I3", "kg m^2", compute, None, reference, 5.1e-6)
    quantity = "residual of the test of balance"
    only = "holds in redundant rates only: C_hat changes with the position"
    for item, which, test, claim, known, note in (
        ("section 4.2", "arm", "fully gyroscopic", "RR_G is fully gyroscopic", None, ""),
        ("proposition 3.2", "redundant", "static", "5R_G is static", None, ""),
        ("proposition 3.3", "redundant", "gyroscopic", "5R_G is gyroscopic", None, ""),
        ("proposition 3.3", "independent", "gyroscopic", "5R_G is gyroscopic", FAILS, only),
        ("definition 3.1", "independent", "static", "a coupling of static modules is static", None, ""),
        ("definition 3.1", "independent", "decoupling", "balancing decouples: M' is diagonal", None,
         "the 5R that is balanced by (87) is not decoupled"),
    ):  # fmt: skip
        tested = functools.partial(passed, which, test)
        yield row(item, {"rates": which, "balanced": True}, f"{quantity}: {test}", "", tested, claim, known,
                  note=note)  # fmt: skip
    note = "(87) of both arms, across too, would be eight: the arms share the load"
    yield row("section 4.3", {}, "independent conditions of the 5R", "", conditions, None, 6, note=note)


# u1(0), u1 in the middle, largest |u|, rms of u1 (N m)
INVERSE = {
    ("T1", True): (0.0, -0.0155078, 0.065156, 0.039307),
    ("T1", False): (-4.30868, -3.79526, 4.32156, 3.57476),
    ("T2", True): (-3.981548, 12.274991, 13.13973, 5.337664),
    ("T2", False): (-6.671921, -0.507777, 7.381066, 4.194464),
}
# one unit of the last digit of each
DIGITS = {
    ("T1", True): (1e-9, 1e-7, 1e-6, 1e-6),
    ("T1", False): (1e-5, 1e-5, 1e-5, 1e-5),
    ("T2", True): (1e-6, 1e-6, 1e-5, 1e-6),
    ("T2", False): (1e-6, 1e-6, 1e-6, 1e-6),
}


def tip_motion(path: str, rate: float = 7.0) -> dict[str, Any]:
    """The trajectory of the tip."""
    if path == "T1":
        return {"x": 0.0, "y": cycloidal(0.24, 5.0, start=0.02)}
    return {"x": sine(0.005, rate), "y": sine(0.12, rate, -math.pi / 2, 0.14)}


@functools.cache
def inverse(path: str, balanced: bool) -> tuple[np.ndarray, np.ndarray, list[DrivenState], System]:
    """Times and torques of both inner arms along a trajectory, with the states."""
    mechanism = library.coelho_five_bar(balanced)
    drives = {c: {"kind": c, "of": "left_outer.end", "motion": m} for c, m in tip_motion(path).items()}
    system = System(mechanism.replace(drives=drives))
    times = np.linspace(0.0, 5.0, 1001) if path == "T1" else np.linspace(0.0, math.tau / 7, 2001)
    _, states = follow(system, times)
    chosen = Coordinates(mechanism, ["J1", "J5"])
    torques = []
    for state in states:
        here = chosen.evaluate(state.q, state.v)
        torques.append(chosen.complement(here).T @ (np.diag(here.M) * state.a - here.F))
    return times, np.array(torques), states, system


def rms(times: np.ndarray, signal: np.ndarray) -> float:
    """The root of the mean square over the times."""
    return math.sqrt(float(np.trapezoid(signal**2, times)) / float(times[-1] - times[0]))


def peak(signal: np.ndarray) -> float:
    """The largest size of the columns of a signal, between its samples by a parabola."""
    size = np.abs(signal)
    row, column = np.unravel_index(int(size.argmax()), size.shape)
    if not 0 < row < len(size) - 1:
        return float(size[row, column])
    before, here, after = size[row - 1 : row + 2, column]
    return float(here + (after - before) ** 2 / (8 * (2 * here - before - after)))


def torque_numbers(path: str, balanced: bool, which: int) -> float:
    """u1 at the start and in the middle, the largest torque, the rms of u1 (N m)."""
    times, u, _, _ = inverse(path, balanced)
    return float((u[0, 0], u[len(u) // 2, 0], peak(u), rms(times, u[:, 0]))[which])


INVERSE_FIGURES = {("T1", True): 9, ("T1", False): 12, ("T2", True): 16, ("T2", False): 19}
SHOWN = {("T1", True): (10, 11), ("T1", False): (13, 14), ("T2", True): (17, 18), ("T2", False): (20, 21)}


def falls(path: str) -> Found:
    """The rms of u1 balanced by that unbalanced."""
    ratio = torque_numbers(path, True, 3) / torque_numbers(path, False, 3)
    return Found(ratio, holds=ratio < 1)


def inverse_rows() -> Iterator[Row]:
    """The torques that the trajectories need, and what counterweights do to them."""
    names = ("u1 at the start", "u1 in the middle", "largest torque", "rms of u1")
    for (path, balanced), reference in INVERSE.items():
        for i, (what, known, off) in enumerate(zip(names, reference, DIGITS[path, balanced], strict=True)):
            compute = functools.partial(torque_numbers, path, balanced, i)
            item, case = f"figure {INVERSE_FIGURES[path, balanced]}", {"trajectory": path, "balanced": balanced}
            yield row(item, case, what, "N m", compute, None, known, off)
    quantity = "rms of u1, balanced by unbalanced"
    claim = "balancing lowers the torques"
    yield row("section 1", {"trajectory": "T1"}, quantity, "", lambda: falls("T1"), claim)
    yield row("section 1", {"trajectory": "T2"}, quantity, "", lambda: falls("T2"), claim, FAILS,
              note="as section 1 warns: counterweights raise the torques of fast motion")  # fmt: skip

    def rise() -> list[float]:
        ratios = [torque_numbers("T2", True, i) / torque_numbers("T2", False, i) for i in (3, 2)]
        return [100 * (x - 1) for x in ratios]

    yield row("section 1", {"trajectory": "T2"}, "rise of rms and peak", "%", rise, None, [27.0, 78.0], 0.5)
    yield row("section 1", {"trajectory": "T2"}, "rate of equal rms of u1", "rad/s", break_even, None, 6.03, 5.1e-3)


def break_even() -> float:
    """The rate (rad/s) of trajectory 2 at which balancing neither raises nor lowers the rms of u1: along one path the
    torque is that at rest and a part that grows with the square of the rate."""
    forms = []
    for balanced in (True, False):
        times, u, states, _ = inverse("T2", balanced)
        chosen = Coordinates(library.coelho_five_bar(balanced), ["J1", "J5"])
        rest = np.array([-(chosen.complement(here).T @ here.F)[0] for here in (chosen.evaluate(s.q) for s in states)])
        grown = (u[:, 0] - rest) / 49
        mean = lambda x, times=times: float(np.trapezoid(x, times) / times[-1])  # noqa: E731
        forms.append([mean(grown**2), 2 * mean(grown * rest), mean(rest**2)])
    roots = np.roots(np.array(forms[0]) - np.array(forms[1]))
    real = [float(x.real) for x in roots if abs(x.imag) < 1e-9 and x.real > 0]
    return math.sqrt(min(real))


@functools.cache
def shaken(balanced: bool) -> list[float]:
    """The largest and the rms shaking force (N) along trajectory 2."""
    times, _, _, system = inverse("T2", balanced)
    found = shaking(system, times)
    return [float(found.force.max()), rms(times, found.force.values)]


def shaking_rows() -> Iterator[Row]:
    """The shaking force along trajectory 2."""
    for balanced, most, mean in ((False, 21.4691, 15.115), (True, 0.0, 0.0)):
        case = {"trajectory": "T2", "balanced": balanced}
        for i, (what, reference, off) in enumerate((("largest", most, 5.1e-5), ("rms of the", mean, 5.1e-4))):
            compute = lambda balanced=balanced, i=i: shaken(balanced)[i]  # noqa: E731
            yield row("shaking force", case, f"{what} shaking force", "N", compute, None, reference, off)


START = {"T1": (-4.153270, 4.153270), "T2": (0.0, 0.0)}  # rad/s: of the inner arms
# torques at the start (N m), largest error, error at 0.5 s (rad), time of the largest (s); None: not given
SLIDING: dict[tuple[str, bool], tuple[tuple[float, float], float, float | None, float | None]] = {
    ("T1", True): ((36.18192, -36.18192), 0.256523, 0.10097, 0.085),
    ("T1", False): ((12.90915, -12.90915), 0.262520, 0.14533, 0.092),
    ("T2", True): ((-21.55450, -13.59141), 0.079234, None, None),
    ("T2", False): ((-7.01570, 6.38439), 0.072917, None, None),
}


def _tip(path: str, t: Any) -> tuple[Any, Any]:
    if path == "T1":
        return 0.0 * t, 0.02 + 0.22 * (t / 5 - sin(2 * math.pi * t / 5) / (2 * math.pi))
    return 0.005 * sin(7 * t), 0.14 - 0.12 * cos(7 * t)


def joint_motions(path: str) -> list[Any]:
    """The angles of the four joints as functions of time, by inverse kinematics of each arm."""
    inner, outer = LENGTHS

    def bars(t: Any, pivot: float, side: int) -> tuple[Any, Any]:
        x, y = _tip(path, t)
        x = x - pivot
        square = x * x + y * y
        along = (square + inner**2 - outer**2) / (2 * square)
        across = side * sqrt(inner**2 / square - along * along)
        elbow = along * x - across * y, along * y + across * x
        return atan2(elbow[1], elbow[0]), atan2(y - elbow[1], x - elbow[0])

    made: list[Any] = []
    for pivot, side in ((-PIVOT, 1), (PIVOT, -1)):
        made.append(lambda t, pivot=pivot, side=side: bars(t, pivot, side)[0])
        made.append(lambda t, pivot=pivot, side=side: bars(t, pivot, side)[1] - bars(t, pivot, side)[0])
    return made


@functools.cache
def controlled(path: str, balanced: bool) -> tuple[Any, np.ndarray]:
    """One second under the sliding mode of section 2.4, and the norm of the error over time."""
    loop = control.sliding_mode(
        ANGLES, joint_motions(path), actuators=["J1", "J5"], cut="J3", slope=40, k=10, steepness=159.1
    )
    rates = dict(zip(("left_inner.rate", "right_inner.rate"), START[path], strict=True))
    stepper = RungeKutta(rtol=1e-10, atol=1e-12)
    run = simulate(library.coelho_five_bar(balanced), 1.0, stepper, every=1e-3, start=rates, control=loop, error=False)
    return run, np.linalg.norm(run.tracking_error.values, axis=1)


def relative_angles(four: Any) -> list[float]:
    """Angles or rates of the four joints from those of the bars."""
    x = dict(zip(("left_inner", "left_outer", "right_outer", "right_inner"), map(float, four), strict=True))
    left, right = x["left_inner"], x["right_inner"]
    return [left, x["left_outer"] - left, right, x["right_outer"] - right]


def first_angles() -> list[float]:
    """The angles of the joints (deg) at the start."""
    return [float(np.degrees(x) % 360) for x in relative_angles(inverse("T1", True)[2][0].q[2::3])]


def first_rates() -> list[float]:
    """The rates of the joints (rad/s) for a tip that moves up by 1 m/s at the start."""
    chosen = Coordinates(library.coelho_five_bar(), ["left_outer.end.x", "left_outer.end.y"])
    v = chosen.complement(chosen.evaluate(inverse("T1", True)[2][0].q)) @ np.array([0.0, 1.0])
    return relative_angles(v[2::3])


def start_rows() -> Iterator[Row]:
    """The initial conditions that the paper prints, from the position and speed of the tip."""
    paper = [175.249, 188.11, 4.75078, 171.89]
    yield row("section 4.4", {}, "angles at the start", "deg", first_angles, paper, None, 5.1e-4)
    paper = [-4.153, 7.089, 4.153, -7.089]
    yield row("section 4.4", {"trajectory": "T1"}, "rates at the start", "rad/s", first_rates, paper, None, 5.1e-4)
    saturated = lambda: 2 / math.pi * math.atan(159.1 * 0.2)  # noqa: E731
    yield row("figure 7", {}, "y_sat(0.2)", "", saturated, 0.98, None, 5e-3)


def sliding_rows() -> Iterator[Row]:
    """The runs under sliding mode, and whether the error goes to zero."""
    for (path, balanced), (torques, most, late, when) in SLIDING.items():
        case = {"trajectory": path, "balanced": balanced}
        inputs, dynamics = (f"figure {n}" for n in SHOWN[path, balanced])

        def run(path: str = path, balanced: bool = balanced) -> tuple[Any, np.ndarray]:
            return controlled(path, balanced)

        for i, u in enumerate(torques):
            first = lambda i=i, run=run: float(run()[0].control[0, i])  # noqa: E731
            yield row(inputs, case, f"u{i + 1} at the start", "N m", first, None, u, 5.1e-6)
        largest = lambda run=run: float(run()[1].max())  # noqa: E731
        yield row(dynamics, case, "largest error", "rad", largest, None, most, 5.1e-7)
        if late is not None:
            then = lambda run=run: float(run()[1][500])  # noqa: E731
            yield row(dynamics, case, "error at 0.5 s", "rad", then, None, late, 5.1e-6)
        if when is not None:
            time = lambda run=run: float(run()[0].time[run()[1].argmax()])  # noqa: E731
            yield row(dynamics, case, "time of the largest error", "s", time, None, when, 5.1e-4)
        if path == "T2":
            last = lambda run=run: Found(float(run()[1][-1]), holds=bool(run()[1][-1] < 1e-9))  # noqa: E731
            yield row(dynamics, case, "error after 1 s", "rad", last, "negligible in the steady state")


def rows(**options: Any) -> Iterator[Row]:
    """All comparisons; the option seed chooses the random state of the formulas."""
    from . import coelho_claims

    yield from formulas(**options)
    yield from balanced_rows()
    yield from start_rows()
    yield from inverse_rows()
    yield from shaking_rows()
    yield from sliding_rows()
    yield from coelho_claims.rows()


def histories() -> Iterator[tuple[str, Any]]:
    """The runs of the paper's figures 10 to 21."""
    for path, balanced in SLIDING:
        yield f"coelho_{path}_{'balanced' if balanced else 'unbalanced'}", controlled(path, balanced)[0]
