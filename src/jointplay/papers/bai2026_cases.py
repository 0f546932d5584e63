"""The five cases of the dual manipulator (Aerospace, 2026) in four assumed sets, clearance and friction
told apart; `bai2026_claims` has the paper's statements."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..model import library
from ..model.mechanism import Mechanism
from ..simulation import simulate
from .bai2026 import (
    ARMS,
    KEPT,
    NAMES,
    SIGNALS,
    STEPPER,
    case_of,
    ideal,
    largest,
    listed,
    motion,
    peaks,
    reactions,
    row,
)  # fmt: skip
from .rows import Found, Row

CLEARANCES = {4: 0.25, 3: 0.5, 5: 1.0}  # mm: the cases that differ in nothing else
FIGURES = {
    (1, "angle"): 6, (1, "angle_rate"): 8, (1, "angle_acceleration"): 10, (1, "J2"): 11,
    (2, "angle"): 13, (2, "angle_rate"): 15, (2, "angle_acceleration"): 17, (2, "J1"): 18,
    (3, "angle"): 20, (3, "angle_rate"): 22, (3, "angle_acceleration"): 24, (3, "J2"): 25, (3, "J4"): 26,
    (4, "angle"): 29, (4, "angle_acceleration"): 27, (5, "angle"): 30, (5, "angle_acceleration"): 28,
}  # fmt: skip
TABLES = "its Tables 1 and 2; ours is for the assumed set {}"
FITTED = "set {} was fitted to these numbers: that they agree is no evidence"
SAME = 1e-3  # as a share: what a number may change by with the tolerance before it counts as not converged
# What the paper prints: largest errors of the four arms (deg, deg/s, deg/s^2), largest |Fx| and |Fy| (N) of a joint.
PRINTED: dict[int, dict[str, list[float]]] = {
    1: {
        "angle": [0.3037, 0.5459, 0.0022, 0.0028],
        "angle_rate": [0.9299, 2.1781, 0.0059, 0.0052],
        "angle_acceleration": [868.7952, 2395.9363, 6.9255, 4.5921],
        "J2": [8.7432, 4.8132],
    },
    2: {
        "angle": [0.5325, 0.7947, 0.0111, 0.0105],
        "angle_rate": [1.9013, 0.8826, 0.0144, 0.0121],
        "angle_acceleration": [2016.3226, 343.2609, 12.7258, 7.4723],
        "J1": [10.7556, 5.4648],
    },
    3: {
        "angle": [0.3025, 0.5417, 0.3025, 0.5417],
        "angle_rate": [0.9243, 2.1806, 0.9243, 2.1806],
        "angle_acceleration": [1150.9377, 2411.6975, 1150.9377, 2411.6975],
        "J2": [8.7943, 4.8210],
        "J4": [8.7943, 4.8210],
    },
    4: {"angle": [0.2922, 0.5292, 0.2922, 0.5292]},
    5: {"angle": [0.3198, 0.6286, 0.3198, 0.6286]},
}
IDEAL = {"J1": [0.8417, 0.3092], "J2": [0.7012, 0.2579]}  # N: printed reactions of the ideal joints


# -- clearance or friction?
def rough(data: str) -> Mechanism:
    """The ideal mechanism with the friction of the contacts in its joints 2 and 4."""
    mechanism = library.spacecraft_2026(data)
    law = library.spacecraft_2026_contact(1e-3).friction
    joints: dict[str, Any] = dict(mechanism.joints)
    for name in ("J2", "J4"):
        joints[name] = {**mechanism.joints[name].plain(), "journal_radius": 0.01, "pin_friction": law}
    return mechanism.replace(joints=joints)


@functools.cache
def friction_alone(data: str) -> np.ndarray:
    """The largest angle errors (deg) of the arms with friction in the ideal joints 2 and 4."""
    T = library.SPACECRAFT_2026_DATA[data].duration
    run = simulate(rough(data), T, STEPPER, every=T / KEPT, error=False)
    near = ideal(data).isel(time=slice(None, None, round(1e5 / KEPT)))
    off = np.degrees(run["angle"].sel(body=ARMS).values - near["angle"].sel(body=ARMS).values)
    return np.asarray(np.abs(off).max(axis=0))


def alone(data: str, case: int, arm: int) -> Found:
    """The largest angle error (deg) of an arm with frictionless clearance, and what of it does not depend on the
    tolerance of the integration: without friction every impact passes on what the one before it left over."""
    usual, finer = (float(largest(data, case, False, rtol)[arm]) for rtol in (STEPPER.rtol, 0.1 * STEPPER.rtol))
    apart = abs(usual - finer)
    if apart <= SAME * usual:
        return Found(usual)
    return Found(finer, f"{usual:.4g} and {finer:.4g} with tolerances of 1e-9 and 1e-10", spread=apart)


def decomposition(data: str) -> Iterator[Row]:
    """Largest angle errors with joints 2 and 4 loose: with friction, without, and by friction in ideal joints."""
    known = {(4, True): 0.113, (3, True): 0.114, (5, True): 0.122}
    known |= {(4, False): 0.0134, (3, False): 0.0271, (5, False): 0.0547}
    missing = "" if data == "A" else TABLES.format(data)
    for case, friction, arm in itertools.product(CLEARANCES, (True, False), (0, 1)):
        if data == "A" and arm:  # its reference has arm 1 only
            continue
        text = "clearance and friction" if friction else "clearance alone"
        both = lambda case=case, arm=arm: float(largest(data, case)[arm])  # noqa: E731
        compute = both if friction else functools.partial(alone, data, case, arm)
        reference, close = known[case, friction] if data == "A" else None, 6e-4 if friction else 6e-5  # three digits
        yield row("decomposition", case_of(data, case, friction=friction), f"{text}: arm {arm + 1}", "deg", compute,
                  None, reference, close, missing=missing)  # fmt: skip
    at = {"data": data, "joints": ["J2", "J4"], "clearances": [0.0, 0.0], "friction": True}
    ideal_ = lambda: listed(friction_alone(data)[:2])  # noqa: E731
    pair = [0.1129, 0.2690] if data == "A" else None
    yield row("decomposition", at, "friction in ideal joints: arms 1, 2", "deg", ideal_, None, pair, 6e-5,
              missing=missing)  # fmt: skip
    if data == "A":
        slope = lambda: float(largest(data, 5, False)[0] / largest(data, 4, False)[0])  # noqa: E731
        quantity = "clearance alone, arm 1: error at 1 mm over that at 0.25 mm"
        at = {"data": data, "joints": ["J2", "J4"], "friction": False}
        yield row("decomposition", at, quantity, "", slope, None, 4.0, 0.2, note="linear in the clearance")


# -- the five cases
def cases(data: str) -> Iterator[Row]:
    """Per case and arm the largest errors, the forces of the loose joints beside the ideal, the base."""
    missing = TABLES.format(data)
    for joint, printed in IDEAL.items():
        forces_ = functools.partial(reactions, data, joint)
        quantity = f"largest |Fx|, |Fy| of ideal joint {joint[1]}"
        fitted = data == "C"
        yield row("ideal joints", case_of(data), quantity, "N", forces_, printed, None, 6e-4, fitted=fitted,
                  note=FITTED.format(data) if fitted else "", missing="" if fitted else missing)  # fmt: skip
    for case, (loose, _) in library.SPACECRAFT_2026_CASES.items():
        if not case:
            continue
        at, group = case_of(data, case), f"{data} {case}"
        for name, unit in SIGNALS.items():
            item = place(case, name)
            for i, arm in enumerate(ARMS):
                paper = PRINTED[case][name][i] if name in PRINTED[case] else None
                compute = lambda case=case, name=name, arm=arm: float(  # noqa: E731
                    np.degrees(peaks(data, case).errors[name][arm])
                )
                quantity = f"largest error of the {NAMES[name]}, arm {arm[-1]}"
                yield row(item, at, quantity, unit, compute, paper, missing=missing, group=group)
        for joint in loose:
            forces = lambda case=case, joint=joint: Found(  # noqa: E731
                peaks(data, case).forces[joint], f"ideal joint: {listing(reactions(data, joint))} N"
            )
            quantity = f"largest |Fx|, |Fy| of loose joint {joint[1]}"
            yield row(
                place(case, joint), at, quantity, "N", forces, PRINTED[case].get(joint), missing=missing, group=group
            )
        moved = functools.partial(base_moves, data, case)
        yield row(f"case {case}", at, "largest way and turn of the base", "m, deg", moved, missing=missing, group=group)


def place(case: int, name: str) -> str:
    """The figure that shows errors or forces of a case, else the case."""
    number = FIGURES.get((case, name))
    return f"figure {number}" if number else f"case {case}"


def base_moves(data: str, case: int) -> list[float]:
    """How far the base goes (m) and turns (deg)."""
    run = motion(data, case)
    way = float(np.hypot(run["x"].sel(body="base"), run["y"].sel(body="base")).max())
    return [way, float(np.degrees(np.abs(run["angle"].sel(body="base")).max()))]


def listing(values: Iterable[float]) -> str:
    """Numbers for a note."""
    return ", ".join(f"{x:.4g}" for x in values)


def rows(sets: Sequence[str]) -> Iterator[Row]:
    """Clearance and friction apart, the five cases, the statements."""
    from . import bai2026_claims

    for data in sets:
        yield from decomposition(data)
    for data in sets:
        yield from cases(data)
    yield from bai2026_claims.rows(sets)
