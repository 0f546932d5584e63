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
from . import Record, verdict
from ._coelho_arms import GAMMAS, INERTIAS, LENGTHS, MASSES, PAYLOAD, PIVOT, formulas, numbers, rr

ANGLES = ["J1", "J2", "J5", "J4"]  # q1R1, q1R2, q2R1, q2R2 in the library's 5R

record = functools.partial(Record, "coelho")


def balanced_records() -> Iterator[Record]:
    """Equation (87), the propositions, and the numbers of the data of section 4.4."""
    arm = rr_arm(LENGTHS, MASSES, INERTIAS, (0.6, 1.7))
    arm = arm.replace(bodies={**arm.bodies, "arm2": arm.bodies["arm2"].loaded(PAYLOAD, (LENGTHS[1], 0.0))})
    found = balance(arm, "gyroscopic", "arm1:mass=1kg,arm2:mass=1kg", independent=["J1", "J2"])
    ours = [-found.design[f"arm{i}.counterweight.x"] / LENGTHS[i - 1] for i in (1, 2)]
    said = verdict(ours, list(GAMMAS), list(GAMMAS), 1e-9)
    yield record("(87)", {"masses": "1 kg"}, "gamma3, gamma4", "", list(GAMMAS), None, ours, said)
    for name, even, reference in (
        ("balanced", True, [0.18094, 0.12017, 0.0]),
        ("unbalanced", False, [0.06534, 0.02017, 0.034]),
    ):
        model = reduced(rr(**numbers(balanced=even), angles=(0.6, 0.6 + math.pi / 3)), independent=["rr.J1", "rr.J2"])
        I1 = float(model.M[1, 1])
        I3 = (float(model.M[0, 1]) - I1) / math.cos(math.pi / 3)
        ours = [I1, float(model.M[0, 0]) - I1 - 2 * I3 * math.cos(math.pi / 3), I3]
        said = verdict(ours, None, reference, 5.1e-6)
        yield record("(82)", {"arm": name}, "I1, I2, I3", "kg m^2", None, reference, ours, said)
    yield from propositions()


def propositions() -> Iterator[Record]:
    """Whether the coupling of balanced arms is balanced."""
    alone = judge(rr(), ["rr.J1", "rr.J2"])
    said = verdict(_word(alone, "fully gyroscopic"), "yes")
    yield record("section 4.2", {}, "RR_G is fully gyroscopic", "", "yes", None, _word(alone, "fully gyroscopic"), said)
    five = library.coelho_five_bar(True)
    wide = judge(five, ["J1", "J5"], ANGLES, ["J3"])
    least = judge(five, ["J1", "J5"])
    said = verdict(_word(wide, "static"), "yes")
    yield record("Proposition 3.2", {}, "5R_G is static", "", "yes", None, _word(wide, "static"), said)
    said = verdict(_word(wide, "gyroscopic"), "yes")
    case = {"rates": "redundant"}
    yield record("Proposition 3.3", case, "5R_G is gyroscopic", "", "yes", None, _word(wide, "gyroscopic"), said)
    ours = _word(least, "gyroscopic")
    said = verdict(ours, "yes", "no", note="holds in redundant rates only: C_hat changes with the position")
    yield record("Proposition 3.3", {"rates": "independent"}, "5R_G is gyroscopic", "", "yes", "no", ours, said)
    rank = balance(library.coelho_five_bar(False), "force", "left_inner,left_outer,right_inner,right_outer",
                   independent=["J1", "J5"]).rank  # fmt: skip
    said = verdict(rank, None, 6, note="(87) of both arms, across too, would be eight: the arms share the load")
    yield record("section 4.3", {}, "independent conditions of the 5R", "", None, 6, rank, said)


def _word(judged: Any, test: str) -> str:
    return "yes" if judged[test].passed else "no"


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


def inverse_records() -> Iterator[Record]:
    """The torques that the trajectories need, and what counterweights do to them."""
    for (path, balanced), reference in INVERSE.items():
        times, u, _, _ = inverse(path, balanced)
        ours = (u[0, 0], u[len(u) // 2, 0], peak(u), rms(times, u[:, 0]))
        names = ("u1 at the start", "u1 in the middle", "largest torque", "rms of u1")
        for what, x, ref, off in zip(names, ours, reference, DIGITS[path, balanced], strict=True):
            case = {"trajectory": path, "balanced": balanced}
            yield record("inverse dynamics", case, what, "N m", None, ref, float(x), verdict(float(x), None, ref, off))
    (t1, even, _, _), (_, odd, _, _) = inverse("T1", True), inverse("T1", False)
    less = rms(t1, even[:, 0]) < rms(t1, odd[:, 0])
    yield record("section 1", {"trajectory": "T1"}, "balancing lowers the torque of slow motion", "", "yes", None,
                 "yes" if less else "no", verdict("yes" if less else "no", "yes"))  # fmt: skip
    t2, even, _, _ = inverse("T2", True)
    _, odd, _, _ = inverse("T2", False)
    rise = [100 * (rms(t2, even[:, 0]) / rms(t2, odd[:, 0]) - 1), 100 * (peak(even) / peak(odd) - 1)]
    said = verdict(
        rise, None, [27.0, 78.0], 0.5, note="as section 1 warns: counterweights raise torques of fast motion"
    )
    yield record("section 1", {"trajectory": "T2"}, "rise of rms and peak", "%", None, [27.0, 78.0], rise, said)
    same = break_even()
    yield record("section 1", {"trajectory": "T2"}, "rate of equal rms of u1", "rad/s", None, 6.03, same,
                 verdict(same, None, 6.03, 5.1e-3))  # fmt: skip


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


def shaking_records() -> Iterator[Record]:
    """The shaking force along trajectory 2."""
    for balanced, peak, mean in ((False, 21.4691, 15.115), (True, 0.0, 0.0)):
        times, _, _, system = inverse("T2", balanced)
        found = shaking(system, times)
        ours = [float(found.force.max()), rms(times, found.force.values)]
        case = {"trajectory": "T2", "balanced": balanced}
        for what, x, ref, off in zip(("largest", "rms of the"), ours, (peak, mean), (5.1e-5, 5.1e-4), strict=True):
            said = verdict(x, None, ref, off)
            yield record("shaking force", case, f"{what} shaking force", "N", None, ref, x, said)


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
    run = simulate(library.coelho_five_bar(balanced), 1.0, stepper, every=1e-3, start=rates, control=loop)
    return run, np.linalg.norm(run.tracking_error.values, axis=1)


def start_records() -> Iterator[Record]:
    """The initial conditions that the paper prints, from the position and speed of the tip."""
    _, _, states, _ = inverse("T1", True)
    q = dict(zip(("left_inner", "left_outer", "right_outer", "right_inner"), states[0].q[2::3], strict=True))
    angles = [q["left_inner"], q["left_outer"] - q["left_inner"], q["right_inner"], q["right_outer"] - q["right_inner"]]
    ours = [float(np.degrees(x) % 360) for x in angles]
    paper = [175.249, 188.11, 4.75078, 171.89]
    yield record("section 4.4", {}, "angles at the start", "deg", paper, None, ours, verdict(ours, paper, None, 5.1e-4))
    mechanism = library.coelho_five_bar()
    speed = {"left_outer.end": {"x": 0.0, "y": 1.0}}
    chosen = Coordinates(mechanism, [f"{p}.{c}" for p, both in speed.items() for c in both])
    v = chosen.complement(chosen.evaluate(states[0].q)) @ np.array([0.0, 1.0])
    w = dict(zip(("left_inner", "left_outer", "right_outer", "right_inner"), v[2::3], strict=True))
    ours = [w["left_inner"], w["left_outer"] - w["left_inner"], w["right_inner"], w["right_outer"] - w["right_inner"]]
    ours = [float(x) for x in ours]
    paper = [-4.153, 7.089, 4.153, -7.089]
    yield record("section 4.4", {"trajectory": "T1"}, "rates at the start", "rad/s", paper, None, ours,
                 verdict(ours, paper, None, 5.1e-4))  # fmt: skip
    ours_is = 2 / math.pi * math.atan(159.1 * 0.2)
    said = verdict(ours_is, 0.98, None, 5e-3)
    yield record("section 4.4", {}, "y_sat(0.2)", "", 0.98, None, ours_is, said)


def sliding_records() -> Iterator[Record]:
    """The runs under sliding mode, and whether the error goes to zero."""
    for (path, balanced), (torques, most, late, when) in SLIDING.items():
        run, error = controlled(path, balanced)
        case = {"trajectory": path, "balanced": balanced}
        found: list[tuple[str, str, float, float, float]] = []
        for i, u in enumerate(torques):
            found.append((f"u{i + 1} at the start", "N m", float(run.control[0, i]), u, 5.1e-6))
        found.append(("largest error", "rad", float(error.max()), most, 5.1e-7))
        found += [("error at 0.5 s", "rad", float(error[500]), late, 5.1e-6)] if late is not None else []
        found += [("time of the largest error", "s", float(run.time[error.argmax()]), when, 5.1e-4)] if when else []
        for what, unit, x, ref, off in found:
            yield record("sliding mode", case, what, unit, None, ref, x, verdict(x, None, ref, off))
        if path == "T2":
            gone = "negligible" if error[-1] < 1e-9 else "not negligible"
            said = verdict(gone, "negligible")
            yield record("sliding mode", case, "error in the steady state", "", "negligible", None, gone, said)


def records(**options: Any) -> Iterator[Record]:
    """All comparisons; the option seed chooses the random state of the formulas."""
    yield from formulas(**options)
    yield from balanced_records()
    yield from start_records()
    yield from inverse_records()
    yield from shaking_records()
    yield from sliding_records()


def histories() -> Iterator[tuple[str, Any]]:
    """The runs of the paper's figures 10 to 21."""
    for path, balanced in SLIDING:
        yield f"coelho_{path}_{'balanced' if balanced else 'unbalanced'}", controlled(path, balanced)[0]
