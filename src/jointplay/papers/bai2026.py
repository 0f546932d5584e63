"""Motion Accuracy and Dynamic Responses of Dual-Manipulator on Spacecraft Considering Clearance Joints, Aerospace,
10 January 2026 (the stored text names its authors by initials only).

Its Tables 1 and 2 are missing, so its numbers cannot be computed: the five cases run with the assumed sets A to D of
`library.SPACECRAFT_2026_DATA`.  What can be judged are its claims: which hold in every set, which depend on the
numbers, and which are the work of friction, because it compares joints with clearance and friction to ideal ones
without.  References are those of the project for set A.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..model import library
from ..model.mechanism import Mechanism
from ..results import audited
from ..simulation import RungeKutta, planned, simulate
from ..system import System
from . import Record, verdict

if TYPE_CHECKING:
    from xarray import Dataset

ARMS = ["arm1", "arm2", "arm3", "arm4"]
CLEARANCES = {4: 0.25, 3: 0.5, 5: 1.0}  # mm: the cases that differ in nothing else
STEPPER = RungeKutta(1e-9, 1e-11)
FINE = 1e-5  # s: between the samples that peaks are taken from; the shortest contacts last 1.8e-4 s
KEPT = 1000  # samples that histories are made of
TABLES = "Tables 1 and 2"
SIGNALS = {"angle": "deg", "angle_rate": "deg/s", "angle_acceleration": "deg/s^2"}
NAMES = {"angle": "angle", "angle_rate": "angular velocity", "angle_acceleration": "angular acceleration"}
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

record = functools.partial(Record, "bai2026")


class Peaks(NamedTuple):
    """Largest absolute values: of the bodies' errors (SI) over samples FINE apart, as each is a difference of two runs;
    of Fx and Fy (N) of the joints over all steps."""

    errors: dict[str, dict[str, float]]
    forces: dict[str, list[float]]


@functools.cache
def ideal(data: str) -> Dataset:
    """The twin with ideal joints."""
    T = library.SPACECRAFT_2026_DATA[data].duration
    return simulate(library.spacecraft_2026(data), T, RungeKutta(1e-12, 1e-14, max_step=1e-3 * T), every=T / 1e5)


@functools.cache
def motion(data: str, case: int, friction: bool = True) -> Dataset:
    """A run of a case with a thousand samples, for what does not change within a contact."""
    T = library.SPACECRAFT_2026_DATA[data].duration
    return simulate(library.spacecraft_2026(data, case, friction=friction), T, STEPPER, every=T / KEPT)


def errors(data: str, case: int, friction: bool = True) -> Dataset:
    """The histories of Figs. 5 to 30: angle, angular velocity and angular acceleration (deg, s) less the ideal ones.

    Accelerations are samples: what happens between them, within contacts, is in `peaks`.
    """
    loose, twin = motion(data, case, friction), ideal(data)
    near = twin.isel(time=slice(None, None, round(1e5 / KEPT)))
    found = {}
    for name, unit in SIGNALS.items():
        off = np.degrees(loose[name].values - near[name].values)
        found[name] = (("time", "body"), off, {"units": unit, "long_name": f"error of the {NAMES[name]}"})
    return loose[["time", "body"]].assign(found)


def largest(data: str, case: int, friction: bool = True) -> np.ndarray:
    """The largest angle errors of the arms (deg)."""
    return np.asarray(abs(errors(data, case, friction)["angle"].sel(body=ARMS)).max("time").values)


@functools.cache
def peaks(data: str, case: int) -> Peaks:
    """The largest errors and forces of a case; samples are so close that no contact falls between them.

    They are taken and forgotten while the run goes on: there are a million of them.
    """
    T, twin = library.SPACECRAFT_2026_DATA[data].duration, ideal(data)
    system = System(library.spacecraft_2026(data, case))
    simulation = planned(system, T, STEPPER, FINE)
    ends = {"angle": ".angle", "angle_rate": ".angle.rate", "angle_acceleration": ".angle.acceleration"}
    bodies, joints = list(system.mechanism.bodies), list(system.mechanism.joints)
    errors = {name: dict.fromkeys(bodies, 0.0) for name in SIGNALS}
    times = twin["time"].values
    smooth = {name: dict(zip(bodies, twin[name].values.T, strict=True)) for name in SIGNALS}

    def drain(_: float = 0.0) -> None:
        rows = simulation.run.rows("samples")
        simulation.run.collected["samples"][0].clear()
        if not len(rows["time"]):
            return
        for name, end in ends.items():
            for body in bodies:
                off = rows[body + end] - np.interp(rows["time"], times, smooth[name][body])
                errors[name][body] = max(errors[name][body], float(np.abs(off).max()))

    simulation.advance(T, drain)
    drain()
    outcome = simulation.status[0]
    if not outcome.complete:
        raise InputError(f"spacecraft, set {data}, case {case}: {outcome.text}")
    sides = {joint: [float(simulation.run[f"{joint}.force.{part}"][0]) for part in "xy"] for joint in joints}
    return Peaks(errors, sides)


def reactions(data: str, joint: str) -> list[float]:
    """The largest |Fx| and |Fy| (N) of an ideal joint."""
    return [float(ideal(data)[f"peak_force_{part}"].sel(joint=joint)) for part in "xy"]


# -- set A beside the reference
def reference_ideal() -> Iterator[Record]:
    """The ideal joints of set A."""
    run = ideal("A")
    angles = [float(run["angle"].sel(body=arm)[-1]) for arm in ARMS]
    known = [-0.3776111668297, 0.3210177131713, 0.3776111668297, -0.3210177131713]
    for quantity, unit, reference, computed, off in (
        ("angles of the arms after 5 s", "rad", known, angles, 1e-11),
        ("angle of the base after 5 s", "rad", 0.0, float(run["angle"].sel(body="base")[-1]), 1e-12),
        ("work of the motors", "J", 0.0320413933610, float(run["work"][-1]), 1e-12),
        ("largest |Fx|, |Fy| of joint 1", "N", [0.229873722, 0.175423374], reactions("A", "J1"), 2e-8),
        ("largest |Fx|, |Fy| of joint 2", "N", [0.180428467, 0.025412212], reactions("A", "J2"), 2e-8),
    ):
        note = "ours is the larger: the reference seems to look every half millisecond" if unit == "N" else ""
        said = verdict(computed, None, reference, off, note=note)
        yield record("ideal joints", {"set": "A"}, quantity, unit, None, reference, computed, said)


def reference_contacts() -> Iterator[Record]:
    """The first two contacts of case 1, with steps of 2 us at most: peaks are then those of the law."""
    run = simulate(library.spacecraft_2026("A", 1), 0.29, RungeKutta(1e-10, 1e-13, max_step=2e-6))

    def of(name: str, i: int = 0) -> float:
        return float(run[f"impact_{name}"][i])

    sampled = "the reference takes its largest values from samples, 0.1 to 0.2 % below those of the law"
    for quantity, unit, reference, computed, off, note in (
        ("first contact at", "s", 0.164123554, of("time"), 1e-8, ""),
        ("its approach speed", "m/s", 9.124442263e-3, of("approach"), 1e-8, ""),
        ("its duration", "s", 2.1995e-4, of("duration"), 2e-8, ""),
        ("its largest force", "N", 36.744, of("force"), 0.003 * 36.744, sampled),
        ("its largest depth", "m", 6.508e-7, of("depth"), 0.002 * 6.508e-7, sampled),
        ("its rebound speed over approach speed", "", 0.912811, of("rebound") / of("approach"), 2e-6, ""),
        ("second contact at", "s", 0.285452970, of("time", 1), 2e-8, ""),
        ("its largest force", "N", 40.705, of("force", 1), 0.003 * 40.705, sampled),
    ):
        case = {"set": "A", "case": 1, "contact": 2 if reference in (0.285452970, 40.705) else 1}
        said = verdict(computed, None, reference, off, note=note)
        yield record("contacts of case 1", case, quantity, unit, None, reference, computed, said)


def reference_motion() -> Iterator[Record]:
    """Case 1 to its end: angles, errors, momentum and energy."""
    run, case = motion("A", 1), {"set": "A", "case": 1}
    angles = [float(np.degrees(run["angle"].sel(body=arm)[-1])) for arm in ARMS]
    known = [-21.723960, 18.607672, 21.635008, -18.393124]
    off = [float(x) for x in largest("A", 1)]
    bodies = library.spacecraft_2026().bodies.values()
    masses, inertias = np.array([b.mass for b in bodies]), np.array([b.inertia for b in bodies])
    linear = max(float(np.abs(run[f"{axis}_rate"].values @ masses).max()) for axis in "xy")
    spin = (run["x"] * run["y_rate"] - run["y"] * run["x_rate"]).values @ masses + run["angle_rate"].values @ inertias
    within = "samples lie inside of steps, where bodies are interpolated one by one"
    for quantity, unit, reference, computed, allowed, note in (
        ("angles of the arms after 5 s", "deg", known, angles, 1e-5, ""),
        ("largest angle errors of the arms", "deg", [0.1149, 0.2603, 0.0007, 0.0002], off, 6e-5, ""),
        ("largest linear momentum", "kg m/s", 0.0, linear, 1e-10, within),
        ("largest angular momentum", "N m s", 0.0, float(np.abs(spin).max()), 1e-10, within),
        ("largest imbalance of energy", "J", 0.0, audited(run, "energy imbalance"), 1e-8, ""),
    ):
        said = verdict(computed, None, reference, allowed, note=note)
        yield record("case 1", case, quantity, unit, None, reference, computed, said)


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
    run = simulate(rough(data), T, STEPPER, every=T / KEPT)
    near = ideal(data).isel(time=slice(None, None, round(1e5 / KEPT)))
    off = np.degrees(run["angle"].sel(body=ARMS).values - near["angle"].sel(body=ARMS).values)
    return np.asarray(np.abs(off).max(axis=0))


def decomposition(data: str = "A") -> Iterator[Record]:
    """Largest angle errors with joints 2 and 4 loose: with friction, without, and by friction in ideal joints."""
    known: dict[tuple[int, bool], float] = {(4, True): 0.113, (3, True): 0.114, (5, True): 0.122}
    known |= {(4, False): 0.0134, (3, False): 0.0271, (5, False): 0.0547}
    alone: dict[int, np.ndarray] = {}
    for case, c in CLEARANCES.items():
        for friction, text in ((True, "clearance and friction"), (False, "clearance alone")):
            found = largest(data, case, friction)
            if not friction:
                alone[case] = found
            # the reference has three digits
            reference = known[case, friction] if data == "A" else None
            said = verdict(float(found[0]), None, reference, 6e-4 if friction else 6e-5)
            at = {"set": data, "joints": "2, 4", "c/mm": c}
            yield record("decomposition", at, f"{text}: arm 1", "deg", None, reference, float(found[0]), said)
            said = verdict(float(found[1]))
            yield record("decomposition", at, f"{text}: arm 2", "deg", None, None, float(found[1]), said)
    at = {"set": data, "joints": "2, 4", "c/mm": 0.0}
    both, known_both = [float(x) for x in friction_alone(data)[:2]], [0.1129, 0.2690] if data == "A" else None
    said = verdict(both, None, known_both, 6e-5)
    yield record("decomposition", at, "friction in ideal joints: arms 1, 2", "deg", None, known_both, both, said)
    slope = float(alone[5][0] / alone[4][0])
    said = verdict(slope, None, 4.0 if data == "A" else None, 0.2, note="linear in the clearance")
    quantity = "clearance alone, arm 1: error at 1 mm over that at 0.25 mm"
    reference = 4.0 if data == "A" else None
    yield record("decomposition", {"set": data, "joints": "2, 4"}, quantity, "", None, reference, slope, said)


# -- the five cases
def cases(data: str) -> Iterator[Record]:
    """Per case and arm the largest errors, the forces of the loose joints beside the ideal, the base."""
    why = f"not computable because the paper does not give {TABLES}; ours is for the assumed set {data}"
    for joint, printed in IDEAL.items():
        ours = reactions(data, joint)
        said = verdict(ours, printed, None, 6e-4, note=f"set {data} is assumed, so it neither confirms nor refutes")
        quantity = f"largest |Fx|, |Fy| of joint {joint[1]}"
        yield record("ideal joints", {"set": data}, quantity, "N", printed, None, ours, said)
    for case, (loose, _) in library.SPACECRAFT_2026_CASES.items():
        if not case:
            continue
        found, at = peaks(data, case), {"set": data, "case": case}
        for name, unit in SIGNALS.items():
            for i, arm in enumerate(ARMS):
                paper = PRINTED[case][name][i] if name in PRINTED[case] else None
                computed = float(np.degrees(found.errors[name][arm]))
                said = why if paper is not None else verdict(computed)
                quantity = f"largest error of the {NAMES[name]}, arm {arm[-1]}"
                yield record(f"case {case}", at, quantity, unit, paper, None, computed, said)
        for joint in loose:
            pair, ours = PRINTED[case].get(joint), found.forces[joint]
            said = (why if pair else verdict(ours)) + f" (ideal joint: {_listed(reactions(data, joint))})"
            quantity = f"largest |Fx|, |Fy| of loose joint {joint[1]}"
            yield record(f"case {case}", at, quantity, "N", pair, None, ours, said)
        run = motion(data, case)
        way = float(np.hypot(run["x"].sel(body="base"), run["y"].sel(body="base")).max())
        turn = float(np.degrees(np.abs(run["angle"].sel(body="base")).max()))
        for quantity, unit, computed in (("largest way of the base", "m", way), ("its largest turn", "deg", turn)):
            yield record(f"case {case}", at, quantity, unit, None, None, computed, verdict(computed))


# -- the claims
Test = Callable[[str], tuple[bool, str]]


def _error(data: str, case: int, name: str = "angle") -> list[float]:
    return [float(np.degrees(peaks(data, case).errors[name][arm])) for arm in ARMS]


def _force(data: str, case: int, joint: str) -> float:
    return float(motion(data, case)["peak_force"].sel(joint=joint))


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{x:.4g}" for x in values)


def _growing(name: str, arms: Sequence[int]) -> Test:
    def test(data: str) -> tuple[bool, str]:
        rows = [_error(data, case, name) for case in CLEARANCES]
        good = all(row[i] < after[i] for row, after in itertools.pairwise(rows) for i in arms)
        return good, "; ".join(f"arm {i + 1}: " + _listed([row[i] for row in rows]) for i in arms)

    return test


def _accuracy(data: str) -> tuple[bool, str]:
    both, bare = largest(data, 3), largest(data, 3, False)
    return bool((both > 1e-3).all()), f"{_listed(both[:2])} deg with friction, {_listed(bare[:2])} without"


def _rates(data: str) -> tuple[bool, str]:
    off = errors(data, 1)["angle_rate"].sel(body="arm2").values
    swings = int((np.diff(np.sign(off[np.abs(off) > 0])) != 0).sum())
    return swings >= 10, f"{swings} changes of sign"


def _accelerations(data: str) -> tuple[bool, str]:
    smooth = float(np.degrees(np.abs(ideal(data)["angle_acceleration"].sel(body="arm2")).max()))
    ratio = _error(data, 1, "angle_acceleration")[1] / smooth
    return ratio > 10, f"{ratio:.0f} times the ideal arm 2"


def _tenfold(data: str) -> tuple[bool, str]:
    twin = ideal(data)["peak_force"]
    ratios = []
    for case, (loose, _) in library.SPACECRAFT_2026_CASES.items():
        ratios += [_force(data, case, joint) / float(twin.sel(joint=joint)) for joint in loose[:1]]
    return max(ratios) > 10, "cases 1 to 5: " + _listed(ratios)


def _inner(data: str) -> tuple[bool, str]:
    outer, inner = _error(data, 1), _error(data, 2)
    good = all(b > a for a, b in zip(outer, inner, strict=True))
    return good, f"joint 2: {_listed(outer)}; joint 1: {_listed(inner)} deg"


def _inner_force(data: str) -> tuple[bool, str]:
    pair = _force(data, 1, "J2"), _force(data, 2, "J1")
    return pair[1] > pair[0], f"{pair[1]:.4g} N against {pair[0]:.4g} N"


def _more(arms: Sequence[int]) -> Test:
    def test(data: str) -> tuple[bool, str]:
        one, two = _error(data, 1), _error(data, 3)
        text = f"case 1: {_listed([one[i] for i in arms])}; case 3: {_listed([two[i] for i in arms])} deg"
        return all(two[i] > one[i] for i in arms), text

    return test


def _own(data: str) -> tuple[bool, str]:
    rows = [_error(data, case) for case in (1, 2)]
    return all(min(row[:2]) > max(row[2:]) for row in rows), "; ".join(map(_listed, rows)) + " deg"


def _outer_arm(data: str) -> tuple[bool, str]:
    rows = [_error(data, case) for case in (1, 3, 4, 5)]
    return all(row[1] > row[0] for row in rows), "; ".join(_listed(row[:2]) for row in rows) + " deg"


def _mirrored(data: str) -> tuple[bool, str]:
    rows = [_error(data, case) for case in CLEARANCES]
    off = max(abs(row[i] - row[i + 2]) for row in rows for i in (0, 1))
    # mirror images in exact numbers; contact amplifies the rounding of what is not computed as one
    return off < 0.01 * max(max(row) for row in rows), f"they differ by {off:.1g} deg at most"


def _by_friction(data: str) -> tuple[bool, str]:
    both = largest(data, 3)[:2]
    clearance, friction = largest(data, 3, False)[:2] / both, friction_alone(data)[:2] / both
    texts = (f"{100 * b:.0f} and {100 * a:.0f} %" for a, b in zip(clearance, friction, strict=True))
    return bool((clearance < 0.5).all() and (friction > 0.5).all()), ", ".join(texts)


CLAIMS: tuple[tuple[str, Test, str], ...] = (
    ("clearance reduces the accuracy of the arms' angles", _accuracy, "angle"),
    ("angular velocities swing around the ideal ones", _rates, ""),
    ("peaks of angular acceleration grow significantly", _accelerations, ""),
    ("contact forces can be more than 10 times the ideal reactions", _tenfold, ""),
    ("a loose joint 1 gives larger angle errors in every arm than a loose joint 2", _inner, ""),
    ("a loose joint 1 gives larger contact forces than a loose joint 2", _inner_force, ""),
    ("more loose joints give larger angle errors: arms 1, 2 (their own joints unchanged)", _more((0, 1)), ""),
    ("more loose joints give larger angle errors: arms 3, 4 (joint 4 now loose)", _more((2, 3)), ""),
    ("a loose joint disturbs its own manipulator more than the other", _own, ""),
    ("with joint 2 loose the error of arm 2 exceeds that of arm 1", _outer_arm, ""),
    ("with joints 2 and 4 loose both manipulators have the same errors", _mirrored, ""),
    ("a larger clearance gives larger angle errors (0.25, 0.5, 1 mm)", _growing("angle", (0, 1)), "angle"),
    ("a larger clearance gives larger errors of velocity", _growing("angle_rate", (0, 1)), ""),
    ("a larger clearance gives larger peaks of acceleration", _growing("angle_acceleration", (0, 1)), ""),
)


def claims(sets: Sequence[str]) -> Iterator[Record]:
    """The scoreboard: in which sets a claim holds, with the numbers that decide."""
    friction = [data for data in sets if _by_friction(data)[0]]
    for text, test, kind in CLAIMS:
        found = {data: test(data) for data in sets}
        good = [data for data, (holds, _) in found.items() if holds]
        computed = f"holds in {', '.join(good) or 'none'} of {', '.join(sets)}"
        if len(good) == len(sets):
            said = "reproduces"
        else:
            said = "differs: " + ("it depends on the numbers" if good else "it holds in no set")
        if kind == "angle" and friction:
            shares = "; ".join(f"{data}: {_by_friction(data)[1]}" for data in sets)
            said += f"; it is friction rather than clearance in {', '.join(friction)}"
            said += f" (friction and clearance alone, of both together, 0.5 mm, arms 1, 2: {shares})"
        details = " | ".join(f"{data}: {numbers}" for data, (_, numbers) in found.items())
        yield record("claims", {"sets": ", ".join(sets)}, text, "", "yes", None, computed, f"{said} ({details})")
    printed = [PRINTED[case]["angle"][:2] for case in (1, 3)]
    said = "differs: by its own numbers arms 1 and 2 are nearer to the ideal with two loose joints than with one"
    quantity = "angle errors of arms 1, 2 in cases 1 and 3"
    yield record("contradictions", {}, quantity, "deg", [*printed[0], *printed[1]], None, None, said)
    said = "differs: angle errors of cases 4 and 5 are printed in deg/s"
    yield record("contradictions", {}, "unit of the angle errors of cases 4, 5", "", "deg/s", "deg", "deg", said)


def histories(sets: str = "ABCD") -> Iterator[tuple[str, Dataset]]:
    """Per set and case the curves of Figs. 5 to 30: errors (deg, s), forces (N) of loose and ideal joints, base."""
    for data in sets:
        near = ideal(data).isel(time=slice(None, None, round(1e5 / KEPT)))
        for case, (loose, _) in library.SPACECRAFT_2026_CASES.items():
            if case:
                run, off = motion(data, case), errors(data, case)
                found = {f"error_{name}": off[name] for name in SIGNALS}
                for part in ("force_x", "force_y"):
                    found[part] = run[part].sel(joint=list(loose))
                    found[f"ideal_{part}"] = near[part].sel(joint=list(loose))
                found |= {f"base_{name}": run[name].sel(body="base", drop=True) for name in ("x", "y", "angle")}
                title = f"dual manipulator on a spacecraft, assumed set {data}, case {case}, beside ideal joints"
                yield f"bai2026_{data}_case_{case}", off.assign(found).drop_vars(SIGNALS).assign_attrs(title=title)


def records(sets: str = "ABCD") -> Iterator[Record]:
    """All comparisons; sets: the assumed sets for which the five cases run."""
    yield from reference_ideal()
    yield from reference_contacts()
    yield from reference_motion()
    for data in sets:
        yield from decomposition(data)
    for data in sets:
        yield from cases(data)
    yield from claims(sets)
