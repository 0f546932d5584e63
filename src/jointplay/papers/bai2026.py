"""Motion Accuracy and Dynamic Responses of Dual-Manipulator on Spacecraft Considering Clearance Joints, Aerospace,
10 January 2026 (the stored text names its authors by initials only).

Its Tables 1 and 2 are missing, so its numbers cannot be computed: the five cases run with the assumed sets A to D of
`library.SPACECRAFT_2026_DATA`.  What can be judged are its claims: which hold in every set, which depend on the
numbers, and which are the work of friction, because it compares joints with clearance and friction to ideal ones
without.  References are those of the project for set A.  Here are the runs, and set A beside its reference;
`bai2026_cases` has the five cases and the paper's statements.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..model import library
from ..results import audited
from ..simulation import RungeKutta, planned, simulate
from ..system import System
from .rows import Found, Row

if TYPE_CHECKING:
    from xarray import Dataset

ARMS = ["arm1", "arm2", "arm3", "arm4"]
CLEARANCES = {4: 0.25, 3: 0.5, 5: 1.0}  # mm: the cases that differ in nothing else
STEPPER = RungeKutta(1e-9, 1e-11)
FINE = 1e-5  # s: between the samples that peaks are taken from; the shortest contacts last 1.8e-4 s
KEPT = 1000  # samples that histories are made of
SIGNALS = {"angle": "deg", "angle_rate": "deg/s", "angle_acceleration": "deg/s^2"}
NAMES = {"angle": "angle", "angle_rate": "angular velocity", "angle_acceleration": "angular acceleration"}

row = functools.partial(Row, study="bai2026")


class Peaks(NamedTuple):
    """Largest absolute values: of the bodies' errors (SI) over samples FINE apart, as each is a difference of two runs;
    of Fx and Fy (N) of the joints over all steps."""

    errors: dict[str, dict[str, float]]
    forces: dict[str, list[float]]


@functools.cache
def ideal(data: str) -> Dataset:
    """The twin with ideal joints."""
    T = library.SPACECRAFT_2026_DATA[data].duration
    return simulate(
        library.spacecraft_2026(data), T, RungeKutta(1e-12, 1e-14, max_step=1e-3 * T), every=T / 1e5, error=False
    )


@functools.cache
def motion(data: str, case: int, friction: bool = True, rtol: float = STEPPER.rtol) -> Dataset:
    """A run of a case with a thousand samples, for what does not change within a contact."""
    T = library.SPACECRAFT_2026_DATA[data].duration
    stepper = RungeKutta(rtol, 1e-2 * rtol)
    return simulate(library.spacecraft_2026(data, case, friction=friction), T, stepper, every=T / KEPT, error=False)


def errors(data: str, case: int, friction: bool = True, rtol: float = STEPPER.rtol) -> Dataset:
    """The histories of Figs. 5 to 30: angle, angular velocity and angular acceleration (deg, s) less the ideal ones.

    Accelerations are samples: what happens between them, within contacts, is in `peaks`.
    """
    loose, twin = motion(data, case, friction, rtol), ideal(data)
    near = twin.isel(time=slice(None, None, round(1e5 / KEPT)))
    found = {}
    for name, unit in SIGNALS.items():
        off = np.degrees(loose[name].values - near[name].values)
        found[name] = (("time", "body"), off, {"units": unit, "long_name": f"error of the {NAMES[name]}"})
    return loose[["time", "body"]].assign(found)


def largest(data: str, case: int, friction: bool = True, rtol: float = STEPPER.rtol) -> np.ndarray:
    """The largest angle errors of the arms (deg)."""
    return np.asarray(abs(errors(data, case, friction, rtol)["angle"].sel(body=ARMS)).max("time").values)


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
def listed(values: Any) -> list[float]:
    """Numbers as plain data."""
    return [float(x) for x in values]


def case_of(data: str, case: int = 0, **more: Any) -> dict[str, Any]:
    """The parameters of a row: the assumed set, the paper's case, its loose joints and their clearances (m)."""
    loose, play = library.SPACECRAFT_2026_CASES[case]
    return {"data": data, "case": case, "joints": list(loose), "clearances": [play for _ in loose], **more}


def reference_ideal() -> Iterator[Row]:
    """The ideal joints of set A."""
    known = [-0.3776111668297, 0.3210177131713, 0.3776111668297, -0.3210177131713]
    look = "ours is the larger: the reference seems to look every half millisecond"
    last = lambda name: float(ideal("A")["angle"].sel(body=name)[-1])  # noqa: E731
    ways: tuple[tuple[str, str, Any, Callable[[], Any], float, str], ...] = (
        ("angles of the arms after 5 s", "rad", known, lambda: [last(arm) for arm in ARMS], 1e-11, ""),
        ("angle of the base after 5 s", "rad", 0.0, lambda: last("base"), 1e-12, ""),
        ("work of the motors", "J", 0.0320413933610, lambda: float(ideal("A")["work"][-1]), 1e-12, ""),
        ("largest |Fx|, |Fy| of joint 1", "N", [0.229873722, 0.175423374], lambda: reactions("A", "J1"), 2e-8, look),
        ("largest |Fx|, |Fy| of joint 2", "N", [0.180428467, 0.025412212], lambda: reactions("A", "J2"), 2e-8, look),
    )
    for quantity, unit, reference, compute, close, note in ways:
        yield row("ideal joints", case_of("A"), quantity, unit, compute, None, reference, close, note=note)


@functools.cache
def first_contacts() -> Dataset:
    """Case 1 until 0.29 s with steps of 2 us at most: peaks are then those of the law."""
    return simulate(library.spacecraft_2026("A", 1), 0.29, RungeKutta(1e-10, 1e-13, max_step=2e-6), error=False)


def impact(name: str, number: int = 0) -> float:
    """A number of one of the first contacts."""
    return float(first_contacts()[f"impact_{name}"][number])


def reference_contacts() -> Iterator[Row]:
    """The first two contacts of case 1."""
    sampled = "the reference takes its largest values from samples, 0.1 to 0.2 % below those of the law"
    ways: tuple[tuple[int, str, str, float, Callable[[], float], float, str], ...] = (
        (1, "contact begins at", "s", 0.164123554, lambda: impact("time"), 1e-8, ""),
        (1, "approach speed", "m/s", 9.124442263e-3, lambda: impact("approach"), 1e-8, ""),
        (1, "duration", "s", 2.1995e-4, lambda: impact("duration"), 2e-8, ""),
        (1, "largest force", "N", 36.744, lambda: impact("force"), 0.003 * 36.744, sampled),
        (1, "largest depth", "m", 6.508e-7, lambda: impact("depth"), 0.002 * 6.508e-7, sampled),
        (
            1,
            "rebound speed over approach speed",
            "",
            0.912811,
            lambda: impact("rebound") / impact("approach"),
            2e-6,
            "",
        ),
        (2, "contact begins at", "s", 0.285452970, lambda: impact("time", 1), 2e-8, ""),
        (2, "largest force", "N", 40.705, lambda: impact("force", 1), 0.003 * 40.705, sampled),
    )
    for contact, quantity, unit, reference, compute, close, note in ways:
        case = case_of("A", 1, contact=contact)
        yield row("contacts of case 1", case, quantity, unit, compute, None, reference, close, note=note)


def momenta() -> tuple[float, float]:
    """The largest linear (kg m/s) and angular momentum (N m s) of case 1, which are zero."""
    run, bodies = motion("A", 1), library.spacecraft_2026().bodies.values()
    masses, inertias = np.array([b.mass for b in bodies]), np.array([b.inertia for b in bodies])
    linear = max(float(np.abs(run[f"{axis}_rate"].values @ masses).max()) for axis in "xy")
    spin = (run["x"] * run["y_rate"] - run["y"] * run["x_rate"]).values @ masses + run["angle_rate"].values @ inertias
    return linear, float(np.abs(spin).max())


def reference_motion() -> Iterator[Row]:
    """Case 1 to its end: angles, errors, momentum and energy."""
    known = [-21.723960, 18.607672, 21.635008, -18.393124]
    ends = lambda: listed(np.degrees(motion("A", 1)["angle"].sel(body=ARMS)[-1]))  # noqa: E731
    within = "samples lie inside of steps, where bodies are interpolated one by one"
    most = [0.1149, 0.2603, 0.0007, 0.0002]
    ways: tuple[tuple[str, str, Any, Callable[[], Any], float, str], ...] = (
        ("angles of the arms after 5 s", "deg", known, ends, 1e-5, ""),
        ("largest angle errors of the arms", "deg", most, lambda: listed(largest("A", 1)), 6e-5, ""),
        ("largest linear momentum", "kg m/s", 0.0, lambda: momenta()[0], 1e-10, within),
        ("largest angular momentum", "N m s", 0.0, lambda: momenta()[1], 1e-10, within),
        ("largest imbalance of energy", "J", 0.0, lambda: audited(motion("A", 1), "energy imbalance"), 1e-8, ""),
    )
    for quantity, unit, reference, compute, close, note in ways:
        yield row("case 1", case_of("A", 1), quantity, unit, compute, None, reference, close, note=note)


def gridded() -> Found:
    """The largest angular acceleration of arm 1 (deg/s^2) over all steps, and on a grid of 10 ms."""
    run = motion("A", 1)
    step = max(1, round(0.01 / float(run["time"][1] - run["time"][0])))
    grid = errors("A", 1)["angle_acceleration"].sel(body="arm1").values[::step]
    true = float(np.degrees(peaks("A", 1).errors["angle_acceleration"]["arm1"]))
    return Found(true, f"on a grid of 10 ms the same motion reads {np.abs(grid).max():.3g}")


def sampling() -> Iterator[Row]:
    """What of the paper's peaks depends on how often it looks."""
    quantity = "largest error of the angular acceleration, arm 1"
    yield row("case 1", case_of("A", 1), quantity, "deg/s^2", gridded, None, 5850.0, 6.0)


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


def rows(sets: str = "ABCD") -> Iterator[Row]:
    """All comparisons; sets: the assumed sets for which the five cases run."""
    from . import bai2026_cases

    yield from reference_ideal()
    yield from reference_contacts()
    yield from reference_motion()
    yield from sampling()
    yield from bai2026_cases.rows(sets)
