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
from ..model.bodies import bar
from ..model.mechanism import Mechanism
from ..model.modules import couple
from ..model.motions import cycloidal, sine
from ..simulation import RungeKutta, simulate
from ..statics import Coordinates, assemble, null_space, reduced
from ..statics.cycle import State, follow
from ..system import System
from . import Record, verdict

LENGTHS, MASSES, INERTIAS, PAYLOAD = (0.1, 0.2), (0.2, 0.4), (67e-5, 134e-5), 1.5
WEIGHTS, GAMMAS = (1.0, 1.0), (3.0, 1.7)
PIVOT, GRAVITY = 0.1, 9.81
ANGLES = ["J1", "J2", "J5", "J4"]  # q1R1, q1R2, q2R1, q2R2 in the library's 5R
TRAJECTORIES = ("T1", "T2")

record = functools.partial(Record, "coelho")


# --- the model, coupled from modules -------------------------------------------------------------------------------


def rr(
    lengths: tuple[float, float] = LENGTHS,
    masses: tuple[float, float] = MASSES,
    inertias: tuple[float, float] = INERTIAS,
    centres: tuple[float, float] = (0.5, 0.5),
    payload: float = PAYLOAD,
    weights: tuple[float, float] = WEIGHTS,
    gammas: tuple[float, float] = GAMMAS,
    angles: tuple[float, float] = (0.6, 1.7),
) -> Mechanism:
    """RR_ of section 4.2: an RR arm, a payload and two balancing masses, coupled; centres and gammas as shares of the
    arms' lengths, angles (rad) those of the arms."""
    arm = library.rr_arm(lengths, masses, inertias, angles)
    bodies = {
        f"arm{i + 1}": bar(
            lengths[i], masses[i], inertias[i], (centres[i] * lengths[i], 0.0), {"back": (-gammas[i] * lengths[i], 0.0)}
        )
        for i in range(2)
    }
    parts = {"rr": arm.replace(bodies=bodies), "payload": library.point_mass(payload, 0.0)}
    welds = {"grip": ("rr.arm2.end", "payload.weight.centre")}
    for i in range(2):
        if weights[i] > 0:
            parts[f"mass{i + 1}"] = library.point_mass(weights[i], 0.0)
            welds[f"clamp{i + 1}"] = (f"rr.arm{i + 1}.back", f"mass{i + 1}.weight.centre")
    joints = {name: {"kind": "weld", "between": ends} for name, ends in welds.items()}
    return couple(parts, joints=joints, name="RR_", gravity=(0.0, -GRAVITY))


def five_r(left: Mechanism, right: Mechanism, base: float = 2 * PIVOT) -> Mechanism:
    """5R_ of section 4.3: two RR_ joined at their ends."""
    ends = ("left.rr.arm2.end", "right.rr.arm2.end")
    points = {"A": (-base / 2, 0.0), "B": (base / 2, 0.0)}
    places = {"left": "ground.A", "right": "ground.B"}
    tip = {"tip": {"kind": "revolute", "between": ends}}
    return couple(
        {"left": left, "right": right},
        at=places,
        ground={"points": points},
        joints=tip,
        name="5R_",
        gravity=(0.0, -GRAVITY),
    )


def parameters(numbers: dict[str, Any]) -> tuple[float, float, float, float, float]:
    """I1, I2, I3, mu1, mu2 of equation (82)."""
    (a1, a2), (m1, m2), (J1, J2) = numbers["lengths"], numbers["masses"], numbers["inertias"]
    (c1, c2), mp, (m3, m4), (g3, g4) = (numbers[k] for k in ("centres", "payload", "weights", "gammas"))
    return (
        a2**2 * (m2 * c2**2 + mp + m4 * g4**2) + J2,
        a1**2 * (m1 * c1**2 + m3 * g3**2 + m2 + mp + m4) + J1,
        a1 * a2 * (m2 * c2 - m4 * g4 + mp),
        GRAVITY * a1 * (m1 * c1 - m3 * g3 + m2 + mp + m4),
        GRAVITY * a2 * (m2 * c2 - m4 * g4 + mp),
    )


def numbers(random: np.random.Generator | None = None, balanced: bool = False) -> dict[str, Any]:
    """The paper's data for one arm, or random ones."""
    if random is None:
        weights = WEIGHTS if balanced else (0.0, 0.0)
        return {
            "lengths": LENGTHS, "masses": MASSES, "inertias": INERTIAS, "centres": (0.5, 0.5), "payload": PAYLOAD,
            "weights": weights, "gammas": GAMMAS,
        }  # fmt: skip
    two = lambda low, high: tuple(float(x) for x in random.uniform(low, high, 2))  # noqa: E731
    found: dict[str, Any] = {"lengths": two(0.1, 0.3), "masses": two(0.1, 1.0), "inertias": two(1e-4, 1e-2)}
    found |= {"centres": two(0.2, 0.8), "payload": float(random.uniform(0.5, 2)), "weights": two(0.5, 2.0)}
    found["gammas"] = two(0.5, 3.0)
    if balanced:
        (m1, m2), (c1, c2), mp, (m3, m4) = (found[k] for k in ("masses", "centres", "payload", "weights"))
        found["gammas"] = ((m1 * c1 + m2 + mp + m4) / m3, (m2 * c2 + mp) / m4)  # (87)
    return found


def arm_terms(given: dict[str, Any], q1: float, q2: float) -> dict[str, np.ndarray]:
    """M, D (symmetric) and z of one arm by equations (84) to (86), in the rates of its two joints."""
    I1, I2, I3, mu1, mu2 = parameters(given)
    c, s = math.cos(q2), math.sin(q2)
    D = np.zeros((2, 2, 2))
    D[0, 1, 1] = D[0, 0, 1] = D[0, 1, 0] = -I3 * s
    D[1, 0, 0] = I3 * s
    z2 = mu2 * math.cos(q1 + q2)
    M = np.array([[I1 + I2 + 2 * c * I3, I1 + c * I3], [I1 + c * I3, I1]])
    return {"M": M, "D": D, "z": np.array([mu1 * math.cos(q1) + z2, z2])}


def complement(a: tuple[float, ...], q12: float, q22: float, q3: float) -> np.ndarray:
    """Equation (97); a are a11, a12, a21, a22."""
    a11, a12, a21, a22 = a
    s3 = math.sin(q3)
    return np.array(
        [
            [1, 0],
            [-math.sin(q12 + q3) * a11 / (s3 * a12) - 1, math.sin(q22) * a21 / (s3 * a12)],
            [0, 1],
            [-math.sin(q12) * a11 / (s3 * a22), math.sin(q22 - q3) * a21 / (s3 * a22) - 1],
        ]
    )


# --- formulas ------------------------------------------------------------------------------------------------------


def formulas(seed: int = 3) -> Iterator[Record]:
    """The printed formulas at a random state beside the model that is coupled from modules."""
    random = np.random.default_rng(seed)
    given = numbers(random)
    arms = float(random.uniform(0.3, 1.0)), float(random.uniform(1.2, 2.2))
    mechanism = rr(angles=arms, **given)
    q1, q2 = arms[0], arms[1] - arms[0]
    C = null_space(mechanism, independent=["rr.J1", "rr.J2"])
    x1, x2 = 0.0, given["lengths"][0] * math.cos(arms[0])
    x3, (_, g2), (_, g4) = x2 + given["lengths"][1] * math.cos(arms[1]), given["centres"], given["gammas"]
    case = {"state": "random"}
    printed, right = [x1 + (g2 - 1) * x2 - g2 * x3, g2 * (x2 - x3)], [-x1 - (g2 - 1) * x2 + g2 * x3, g2 * (x3 - x2)]
    yield compared("(66), row 7", case, "complement of the RR arm", "m", printed, right, C, "rr.arm2.y")
    printed, right = [x1 - (g4 + 1) * x2 + g4 * x3, g4 * (x3 - x2)], [-x1 + (g4 + 1) * x2 - g4 * x3, g4 * (x2 - x3)]
    yield compared("(77), last row", case, "complement of RR_", "m", printed, right, C, "mass2.weight.y")
    found = reduced(mechanism, independent=["rr.J1", "rr.J2"])
    for item, key in (("(84)", "M"), ("(85)", "D"), ("(86)", "z")):
        paper, ours = arm_terms(given, q1, q2)[key].ravel().tolist(), found[key].values.ravel().tolist()
        said = verdict(ours, paper, None, 1e-11 * max(map(abs, paper)))
        yield record(item, case, f"terms {key} of RR_U", "SI", paper, None, ours, said)
    even = numbers(random, balanced=True)
    level = reduced(rr(angles=arms, **even), independent=["rr.J1", "rr.J2"])
    I1, I2 = parameters(even)[:2]
    paper, ours = [I1 + I2, I1, I1, I1], level.M.values.ravel().tolist()
    yield record("(90)", case, "M of RR_G", "kg m^2", paper, None, ours, verdict(ours, paper, None, 1e-11 * (I1 + I2)))
    yield from five_bar_formulas(random)


def compared(item: str, case: Any, what: str, unit: str, paper: Any, right: Any, C: Any, row: str) -> Record:
    """A row of a complement as printed and corrected, beside ours."""
    ours = [float(x) for x in C.sel(coordinate=row).values]
    return record(item, case, what, unit, paper, right, ours, verdict(ours, paper, right, 1e-12, 1e-12))


def five_bar_formulas(random: np.random.Generator) -> Iterator[Record]:
    """Equations (97) to (101) for a 5R of two different arms."""
    for balanced in (True, False):
        system, q, angles, both = random_five_bar(random, balanced)
        least, wide = ["left.rr.J1", "right.rr.J1"], ["left.rr.J1", "left.rr.J2", "right.rr.J1", "right.rr.J2"]
        found = reduced(system, q, least, wide, ["tip"])
        (q11, q12), (q21, q22) = angles
        q3 = math.tau - q11 - q12 + q21 + q22
        lengths = (*both[0]["lengths"], *both[1]["lengths"])
        hat = complement(lengths, q12, q22, q3)
        case = {"state": "random", "balanced": balanced}
        ours, paper = found.C_hat.values.ravel().tolist(), hat.ravel().tolist()
        yield record("(97)", case, "C_hat of the 5R", "", paper, None, ours, _close(ours, paper))
        terms = [arm_terms(given, *pair) for given, pair in zip(both, angles, strict=True)]
        M = np.zeros((4, 4))
        M[:2, :2], M[2:, 2:] = terms[0]["M"], terms[1]["M"]
        matrix, ours = (hat.T @ M), found.M.values
        if balanced:
            said = "differs: the matrix is printed as its transpose; agrees with the reference"
            good = np.abs(ours - matrix).max() < 1e-10 * np.abs(matrix).max()
            paper_is = matrix.T.ravel().tolist()  # the printed entries, read row by row
            said = said if good else "differs; differs from the reference"
            yield record("(98), (99)", case, "M' of 5R_G", "kg m^2", paper_is, matrix.ravel().tolist(),
                         ours.ravel().tolist(), said)  # fmt: skip
            continue
        p, dp = random.normal(size=(2, 4))
        w = np.concatenate([np.einsum("krs,r,s->k", terms[i]["D"], *[p[2 * i : 2 * i + 2]] * 2) for i in (0, 1)])
        z = np.concatenate([terms[0]["z"], terms[1]["z"]])
        right = hat.T @ (M @ dp + w + z)
        torque = found.M.values @ dp + np.einsum("krs,r,s->k", found.D.values, p, p) + found.z.values
        printed = right[1] + _slip_101(both, angles, lengths, q3)
        yield record("(100)", case, "u1 of 5R_U", "N m", float(right[0]), None, float(torque[0]),
                     verdict(float(torque[0]), float(right[0]), None, 1e-10 * np.abs(right).max()))  # fmt: skip
        yield record("(101)", case, "u2 of 5R_U", "N m", float(printed), float(right[1]), float(torque[1]),
                     verdict(float(torque[1]), float(printed), float(right[1]), 1e-10 * np.abs(right).max()))  # fmt: skip


def _slip_101(both: Any, angles: Any, lengths: Any, q3: float) -> float:
    """What (101) as printed adds: a22 in place of mu22, and the term of mu12 outside of its bracket."""
    (q11, q12), (q21, q22) = angles
    a11, a12, a21, a22 = lengths
    mu12, mu22 = parameters(both[0])[4], parameters(both[1])[4]
    csc = 1 / math.sin(q3)
    wrong = a21 * csc / a22 * math.sin(q22 - q3) * (a22 - mu22) * math.cos(q21 + q22)
    inside = a21 * csc / a12 * math.sin(q22) * mu12 * math.cos(q11 + q12)
    return wrong - inside + mu12 * math.cos(q11 + q12) / (a12 * a22)


def _close(ours: list[float], paper: list[float]) -> str:
    return verdict(ours, paper, None, 1e-10 * max(map(abs, paper)))


def random_five_bar(random: np.random.Generator, balanced: bool) -> tuple[System, np.ndarray, Any, Any]:
    """A 5R of two random arms in a random position away from singular ones: system, coordinates, angles, data."""
    while True:
        both = [numbers(random, balanced) for _ in range(2)]
        base = float(random.uniform(0.1, 0.3))
        arms = float(random.uniform(1.6, 2.8)), float(random.uniform(0.2, 1.2))
        tip = -base / 2 + both[0]["lengths"][0] * np.exp(1j * arms[0]) + both[0]["lengths"][1] * np.exp(1j * arms[1])
        way, (l1, l2) = tip - base / 2, both[1]["lengths"]
        if not 1.1 * abs(l1 - l2) < abs(way) < 0.9 * (l1 + l2):
            continue
        turn = math.acos((abs(way) ** 2 + l1**2 - l2**2) / (2 * l1 * abs(way)))
        elbow = base / 2 + l1 * way / abs(way) * np.exp(-1j * turn)
        other = float(np.angle(elbow - base / 2)), float(np.angle(tip - elbow))
        if abs(math.sin(other[1] - arms[1])) < 0.2:
            continue
        pair = [rr(angles=angles, **given) for angles, given in zip((arms, other), both, strict=True)]
        system = System(five_r(*pair, base=base))
        joints = [(arms[0], arms[1] - arms[0]), (other[0], other[1] - other[0])]
        return system, assemble(system), joints, both


# --- balance -------------------------------------------------------------------------------------------------------


def balanced_records() -> Iterator[Record]:
    """Equation (87), the propositions, and the numbers of the data of section 4.4."""
    arm = library.rr_arm(LENGTHS, MASSES, INERTIAS, (0.6, 1.7))
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
    said = verdict(rank, 8, 6, note="the two arms of (87) have four each; two of them follow from the others")
    yield record("section 4.3", {}, "independent conditions of the 5R", "", 8, 6, rank, said)


def _word(judged: Any, test: str) -> str:
    return "yes" if judged[test].passed else "no"


# --- section 4.4 ---------------------------------------------------------------------------------------------------

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
def inverse(path: str, balanced: bool, samples: int = 2000) -> tuple[np.ndarray, np.ndarray, list[State], System]:
    """Times and torques of both inner arms along a trajectory, with the states."""
    mechanism = library.coelho_five_bar(balanced)
    drives = {c: {"kind": c, "of": "left_outer.end", "motion": m} for c, m in tip_motion(path).items()}
    system = System(mechanism.replace(drives=drives))
    times = np.linspace(0.0, 5.0 if path == "T1" else math.tau / 7, samples + 1)
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
    yield record("section 1", {"trajectory": "T2"}, "rate at which the rms of u1 is the same", "rad/s", None, 6.03, same,
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
    roots = np.roots(np.subtract(*forms))
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


# --- sliding mode --------------------------------------------------------------------------------------------------

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
