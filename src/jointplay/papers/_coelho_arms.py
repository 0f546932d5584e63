"""The RR arm and the 5R of Hess Coelho, Orsino and Coutinho, coupled from modules as in sections 4.1 to 4.3, and the
printed formulas beside them."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..model.bodies import bar
from ..model.mechanism import Mechanism
from ..model.modules import couple
from ..model.shapes import point_mass, rr_arm
from ..statics import assemble, null_space, reduced
from ..system import System
from .rows import Found, Row

LENGTHS, MASSES, INERTIAS, PAYLOAD = (0.1, 0.2), (0.2, 0.4), (67e-5, 134e-5), 1.5
WEIGHTS, GAMMAS = (1.0, 1.0), (3.0, 1.7)
PIVOT, GRAVITY = 0.1, 9.81

row = functools.partial(Row, study="coelho")


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
    arm = rr_arm(lengths, masses, inertias, angles)
    bodies = {
        f"arm{i + 1}": bar(
            lengths[i], masses[i], inertias[i], (centres[i] * lengths[i], 0.0), {"back": (-gammas[i] * lengths[i], 0.0)}
        )
        for i in range(2)
    }
    parts = {"rr": arm.replace(bodies=bodies), "payload": point_mass(payload, 0.0)}
    welds = {"grip": ("rr.arm2.end", "payload.weight.centre")}
    for i in range(2):
        if weights[i] > 0:
            parts[f"mass{i + 1}"] = point_mass(weights[i], 0.0)
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


@functools.cache
def random_arm(seed: int) -> tuple[dict[str, Any], tuple[float, float], Any, Any]:
    """A random RR_: its data, the angles of its arms, its complement and its terms."""
    random = np.random.default_rng(seed)
    given = numbers(random)
    arms = float(random.uniform(0.3, 1.0)), float(random.uniform(1.2, 2.2))
    mechanism = rr(angles=arms, **given)
    joints = ["rr.J1", "rr.J2"]
    return given, arms, null_space(mechanism, independent=joints), reduced(mechanism, independent=joints)


def complement_row(seed: int, item: str) -> Found:
    """A row of a complement as printed and corrected, beside ours."""
    given, arms, C, _ = random_arm(seed)
    x1, x2 = 0.0, given["lengths"][0] * math.cos(arms[0])
    x3, (_, g2), (_, g4) = x2 + given["lengths"][1] * math.cos(arms[1]), given["centres"], given["gammas"]
    printed, right, name = {
        "equation 66": ([x1 + (g2 - 1) * x2 - g2 * x3, g2 * (x2 - x3)],
                        [-x1 - (g2 - 1) * x2 + g2 * x3, g2 * (x3 - x2)], "rr.arm2.y"),
        "equation 77": ([x1 - (g4 + 1) * x2 + g4 * x3, g4 * (x3 - x2)],
                        [-x1 + (g4 + 1) * x2 - g4 * x3, g4 * (x2 - x3)], "mass2.weight.y"),
        "equation 78": ([x3 - x1, x3 + x2], [x3 - x1, x3 - x2], "payload.weight.y"),
    }[item]  # fmt: skip
    ours = [float(x) for x in C.sel(coordinate=name).values]
    return Found(ours, paper=printed, reference=right)


def arm_term(seed: int, key: str) -> Found:
    """A term of RR_U by its formula, beside ours; differences as a share of the largest entry."""
    given, arms, _, found = random_arm(seed)
    paper, ours = arm_terms(given, arms[0], arms[1] - arms[0])[key].ravel().tolist(), found[key].values.ravel().tolist()
    return relative(ours, paper, 1e-11)


def relative(ours: list[float], paper: list[float], share: float, **more: Any) -> Found:
    """Numbers that are judged by their difference as a share of the largest."""
    off = max(abs(a - b) for a, b in zip(ours, paper, strict=True))
    return Found(ours, paper=paper, holds=off <= share * max(map(abs, paper)), **more)


def balanced_arm(seed: int) -> Found:
    """M of a random RR_G by equation (90), beside ours."""
    _, arms, _, _ = random_arm(seed)
    even = numbers(np.random.default_rng(seed + 100), balanced=True)
    level = reduced(rr(angles=arms, **even), independent=["rr.J1", "rr.J2"])
    I1, I2 = parameters(even)[:2]
    return relative(level.M.values.ravel().tolist(), [I1 + I2, I1, I1, I1], 1e-11)


def formulas(seed: int = 3) -> Iterator[Row]:
    """The printed formulas at a random state beside the model that is coupled from modules."""
    case = {"state": "random"}
    for item, place, what in (
        ("equation 66", "row 7", "RR arm"),
        ("equation 77", "last row", "RR_"),
        ("equation 78", "payload", "RR_"),
    ):
        compute = functools.partial(complement_row, seed, item)
        yield row(item, case, f"complement of the {what}, {place}", "m", compute, within=1e-12)
    for item, key in (("equation 84", "M"), ("equation 85", "D"), ("equation 86", "z")):
        yield row(item, case, f"terms {key} of RR_U", "SI", functools.partial(arm_term, seed, key))
    yield row("equation 90", case, "M of RR_G", "kg m^2", functools.partial(balanced_arm, seed))
    for balanced in (True, False):
        at = case | {"balanced": balanced}
        hat = functools.partial(five_bar, seed, balanced, "hat")
        yield row("equation 97", at, "C_hat of the 5R", "", hat)
        if balanced:
            compute = functools.partial(five_bar, seed, balanced, "M")
            yield row("equations 98, 99", at, "M' of 5R_G", "kg m^2", compute, note="printed as its transpose")
        else:
            yield row("equation 100", at, "u1 of 5R_U", "N m", functools.partial(five_bar, seed, balanced, "u1"))
            note = "a22 stands in place of mu22; the bracket of mu12 is misplaced too, which is corrected here"
            compute = functools.partial(five_bar, seed, balanced, "u2")
            yield row("equation 101", at, "u2 of 5R_U", "N m", compute, note=note)


@functools.cache
def random_five_bar(seed: int, balanced: bool) -> tuple[Any, dict[str, np.ndarray], np.ndarray, tuple[Any, Any]]:
    """A random 5R of two different arms: see `coupled_five_bar`."""
    return coupled_five_bar(np.random.default_rng(seed + 10 + balanced), balanced)


def five_bar(seed: int, balanced: bool, which: str) -> Found:
    """Equations (97) to (101) for a 5R of two different arms."""
    found, terms, hat, arms = random_five_bar(seed, balanced)
    if which == "hat":
        return relative(found.C_hat.values.ravel().tolist(), hat.ravel().tolist(), 1e-10)
    if which == "M":
        right, mine = (hat.T @ terms["M"]).ravel().tolist(), found.M.values.ravel().tolist()
        good = max(abs(a - b) for a, b in zip(mine, right, strict=True)) <= 1e-10 * max(map(abs, right))
        paper = (hat.T @ terms["M"]).T.ravel().tolist()  # the printed entries, row by row
        return Found(mine, paper=paper, reference=mine if good else right)
    p, dp = np.random.default_rng(seed).normal(size=(2, 4))
    right = hat.T @ (terms["M"] @ dp + np.einsum("krs,r,s->k", terms["D"], p, p) + terms["z"])
    u = found.M.values @ dp + np.einsum("krs,r,s->k", found.D.values, p, p) + found.z.values
    off = 1e-10 * float(np.abs(right).max())
    if which == "u1":
        return Found(float(u[0]), paper=float(right[0]), holds=bool(abs(u[0] - right[0]) <= off))
    good = bool(abs(u[1] - right[1]) <= off)
    return Found(float(u[1]), paper=float(right[1]) + _slip(*arms), reference=float(u[1]) if good else float(right[1]))


def coupled_five_bar(
    random: np.random.Generator, balanced: bool
) -> tuple[Any, dict[str, np.ndarray], np.ndarray, tuple[Any, Any]]:
    """A random 5R: its terms by coupling, those of its arms side by side, C_hat by (97), its data."""
    mechanism, angles, both = random_arms(random, balanced)
    system = System(mechanism)
    return *coupled(system, assemble(system), angles, both), (both, angles)


def coupled(system: System, q: np.ndarray, angles: Any, both: Any) -> tuple[Any, dict[str, np.ndarray], np.ndarray]:
    """The terms of a 5R by coupling of modules, those of its arms by (84) to (86) side by side, and C_hat by (97)."""
    least, wide = ["left.rr.J1", "right.rr.J1"], ["left.rr.J1", "left.rr.J2", "right.rr.J1", "right.rr.J2"]
    found = reduced(system, q, least, wide, ["tip"])
    (q11, q12), (q21, q22) = angles
    hat = complement((*both[0]["lengths"], *both[1]["lengths"]), q12, q22, math.tau - q11 - q12 + q21 + q22)
    arms = [arm_terms(given, *pair) for given, pair in zip(both, angles, strict=True)]
    terms = {"M": np.zeros((4, 4)), "D": np.zeros((4, 4, 4)), "z": np.zeros(4)}
    for arm, at in zip(arms, (slice(0, 2), slice(2, 4)), strict=True):
        terms["M"][at, at], terms["D"][at, at, at], terms["z"][at] = arm["M"], arm["D"], arm["z"]
    return found, terms, hat


def _slip(both: Any, angles: Any) -> float:
    """What a22 in place of mu22 adds to (101)."""
    (q11, q12), (q21, q22) = angles
    q3 = math.tau - q11 - q12 + q21 + q22
    a21, a22 = both[1]["lengths"]
    mu22 = parameters(both[1])[4]
    return a21 / (a22 * math.sin(q3)) * math.sin(q22 - q3) * (a22 - mu22) * math.cos(q21 + q22)


def random_arms(random: np.random.Generator, balanced: bool) -> tuple[Mechanism, Any, Any]:
    """A 5R of two random arms in a random position away from singular ones, the angles of its joints, and its data."""
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
        joints = [(arms[0], arms[1] - arms[0]), (other[0], other[1] - other[0])]
        return five_r(pair[0], pair[1], base), joints, both
