"""The numbers of a contact law: from material and geometry, from an impact, from and to ADAMS; plain floats.

`impact` runs a body of one mass against a law, so what is said about a law is what it does.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ..errors import InputError
from . import Law
from .normal import NORMAL, exact_factor

MOST_CALLS = 30_000  # of a law in one impact; some hundreds do, unless it creeps back for ever
STEPS = 50  # of a fixed-step integration over the shortest contact


class Impact(NamedTuple):
    """What a free impact does: rebound speed over approach speed, duration (s), largest depth (m) and force (N)."""

    restitution: float
    duration: float
    depth: float
    force: float


def impact(law: Law, mass: float, speed: float, **parameters: float) -> Impact:
    """A body of this mass (kg) runs at this speed (m/s) against a law, integrated until it is free again.

    >>> round(impact(NORMAL["hunt_crossley"], 1.0, 0.1, restitution=0.5).restitution, 6)
    0.662962
    """
    from scipy.integrate import solve_ivp  # type: ignore[import-untyped]

    given = {n: d for n, d in law.parameters.items() if d is not inspect.Parameter.empty} | parameters

    def force(depth: float, rate: float) -> float:
        return float(law(depth, rate, speed, **given)[0])

    deep = _stopped(lambda depth: force(depth, 0.0), 0.5 * mass * speed * speed)
    if deep is None:
        raise InputError(f"law {law.name!r} does not stop {mass:g} kg at {speed:g} m/s; is it stiff enough?")
    time, calls = deep / speed, itertools.count()

    def rates(t: float, y: Any) -> list[float]:
        if next(calls) > MOST_CALLS:
            raise InputError(
                f"law {law.name!r}: an impact of {mass:g} kg at {speed:g} m/s does not end; is it overdamped?"
            )
        return [y[1], -force(y[0] * deep, y[1] * speed) * time / (mass * speed)]

    def parted(t: float, y: Any) -> float:
        return float(y[0]) if t > 0 else 1.0

    def turned(t: float, y: Any) -> float:
        return float(y[1])

    parted.terminal, parted.direction = True, -1  # type: ignore[attr-defined]
    run = solve_ivp(
        rates, (0.0, math.inf), [0.0, 1.0], "DOP853", dense_output=True, events=(parted, turned), rtol=1e-11, atol=1e-13
    )
    largest = _largest(lambda t: [force(x * deep, v * speed) for x, v in run.sol(t).T], float(run.t[-1]))
    deepest = float(run.y_events[1][0][0]) * deep
    return Impact(-float(run.y[1, -1]), float(run.t_events[0][0]) * time, deepest, largest)


def _largest(forces: Callable[[Any], list[float]], end: float) -> float:
    """The largest of forces over times from 0 to an end, ever closer around it."""
    import numpy as np

    largest, begin = 0.0, 0.0
    for _ in range(3):
        times = np.linspace(begin, end, 101)
        found = forces(times)
        peak = int(np.argmax(found))
        largest, begin, end = max(largest, found[peak]), times[max(peak - 1, 0)], times[min(peak + 1, 100)]
    return largest


def effective_restitution(factor: float) -> float:
    """The restitution of an impact with this damping factor: the root x of f (1 + x) = ln((1 + f)/(1 - f x)).

    >>> round(effective_restitution(1.5 * (1 - 0.5)), 6)
    0.662962
    """
    if not factor >= 0:
        raise InputError(f"a damping factor must be >= 0, got {factor!r}")
    low, high = 0.0, 1.0
    for _ in range(200):  # exact_factor falls from infinity to 0 as the restitution grows
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if exact_factor(middle) > factor else (low, middle)
    return high


def contact_modulus(
    young: float, poisson: float, other_young: float | None = None, other_poisson: float | None = None
) -> float:
    """E* (Pa) of two materials, 1/E* = sum of (1 - nu^2)/E; the second is like the first unless it is given."""
    second = young if other_young is None else other_young, poisson if other_poisson is None else other_poisson
    return 1 / sum((1 - nu * nu) / E for E, nu in ((young, poisson), second))


def hertz_stiffness(modulus: float, journal_radius: float, clearance: float) -> float:
    """(4/3) E* sqrt(R_J R_B/(R_B - R_J)) in N/m^1.5: a sphere in a hollow one, commonly used for journals."""
    return 4 / 3 * modulus * math.sqrt(journal_radius * (journal_radius + clearance) / clearance)


def damping_ratio(restitution: float) -> float:
    """The damping ratio at which a linear oscillator loses this restitution in half a period.

    >>> round(damping_ratio(0.5), 9)
    0.215453762
    """
    return -math.log(restitution) / math.hypot(math.pi, math.log(restitution))


def kelvin_voigt_damping(stiffness: float, mass: float, restitution: float) -> float:
    """The damping (N s/m) for a restitution, if the contact could pull: 2 zeta sqrt(stiffness mass)."""
    return 2 * damping_ratio(restitution) * math.sqrt(stiffness * mass)


class Entry(NamedTuple):
    """One number of a table: its name, value and SI unit, and where it comes from."""

    name: str
    value: float
    unit: str
    source: str


class Numbers(Mapping[str, float]):
    """Numbers by name that print as a table with their units and where they come from."""

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries
        self._values = {entry.name: entry.value for entry in entries}

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __str__(self) -> str:
        rows = [(e.name, f"{e.value:.6g}", e.unit, e.source) for e in self.entries]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [f"{a:<{widths[0]}}  {b:>{widths[1]}} {c:<{widths[2]}}  {d}".rstrip() for a, b, c, d in rows]
        return "\n".join(lines)


def _stopped(force: Callable[[float], float], energy: float) -> float | None:
    """The depth (m) at which the work of a force, taken as linear, is this energy (J); None if it never is."""
    deep = 1e-12
    while (mean := 0.5 * deep * force(deep)) < energy:
        deep *= 2
        if deep > 1e6:
            return None
    return deep * math.sqrt(energy / mean)


def from_material(
    law: Law,
    young: float,
    poisson: float,
    *,
    journal_radius: float,
    clearance: float,
    mass: float,
    speed: float,
    length: float | None = None,
    other_young: float | None = None,
    other_poisson: float | None = None,
    restitution: float = 0.9,
) -> tuple[dict[str, float], Numbers]:
    """The parameters of a law for a journal in its bearing, and the numbers behind them with their sources.

    young (Pa) and poisson of the first body, other_* of the second; journal_radius, clearance and, for cylindrical
    laws, length (m); mass (kg): m1 m2/(m1 + m2); speed (m/s): of a typical approach.
    """
    modulus = contact_modulus(young, poisson, other_young, other_poisson)
    K = hertz_stiffness(modulus, journal_radius, clearance)
    chosen, entries = _derived(law, modulus, K, mass, speed, restitution)
    sizes = {"journal_radius": journal_radius, "clearance": clearance, "length": length}
    used = {n: sizes[n] for n in law.geometry}
    missing = [n for n, x in used.items() if x is None]
    if missing:
        raise InputError(f"law {law.name!r} needs the {missing[0]} of the bearing in m")
    unknown = [n for n, d in law.own.items() if n not in chosen and d is inspect.Parameter.empty]
    if unknown:
        raise InputError(f"law {law.name!r}: nothing is known to derive {unknown[0]!r} from; choose a law of NORMAL")
    numbers = {n: float(x) for n, x in used.items() if x is not None}
    return chosen, Numbers([*entries, *_tried(law, mass, speed, chosen | numbers)])


def _derived(
    law: Law, modulus: float, K: float, mass: float, speed: float, restitution: float
) -> tuple[dict[str, float], list[Entry]]:
    """The parameters that the law has of its own, and where they come from; K: the stiffness by Hertz."""
    entries = [Entry("modulus", modulus, "Pa", "1/E* = sum of (1 - nu^2)/E")]
    if law is not NORMAL["hertz"]:
        entries.append(Entry("restitution", restitution, "", "given"))
    known = {"restitution": restitution, "modulus": modulus}
    chosen = {name: x for name, x in known.items() if name in law.own}
    if "stiffness" in law.own and law.units.get("stiffness") == "N/m^exponent":
        chosen |= {"stiffness": K, "exponent": 1.5}
        said = "4/3 E* sqrt(R_J R_B/c): Hertz, sphere in hollow sphere; it changes with the clearance"
        entries += [Entry("stiffness", K, "N/m^1.5", said), Entry("exponent", 1.5, "", "Hertz, contact in a point")]
    deepest = (1.25 * mass * speed * speed / K) ** 0.4
    if law is NORMAL["kelvin_voigt"]:
        linear = mass * (speed / deepest) ** 2
        damping = kelvin_voigt_damping(linear, mass, restitution)
        chosen |= {"stiffness": linear, "damping": damping}
        entries += [
            Entry("stiffness", linear, "N/m", "m (v/d)^2: as deep as Hertz at this mass and speed"),
            Entry("damping", damping, "N*s/m", "2 zeta sqrt(K m), zeta = -ln e/sqrt(pi^2 + ln^2 e)"),
        ]
    if law is NORMAL["adams_impact"]:
        chosen["ramp"] = 0.1 * deepest
        chosen["damping"] = _adams_damping(law, mass, speed, restitution, chosen)
        entries += [
            Entry("damping", chosen["damping"], "N*s/m", "the restitution at this mass and speed, by trial impacts"),
            Entry("ramp", chosen["ramp"], "m", "a tenth of the depth by Hertz at this mass and speed"),
        ]
    return chosen, entries


def _tried(law: Law, mass: float, speed: float, numbers: Mapping[str, float]) -> list[Entry]:
    """What an impact with these numbers does, and the step that resolves it."""
    hit = impact(law, mass, speed, **numbers)
    at, near = hit.depth, 1 - 1e-6
    above, below = (float(law(x, 0.0, speed, **numbers)[0]) for x in (at, at * near))
    slope = (above - below) / (at * (1 - near))
    entries = []
    if "restitution" in law.own:
        factor = _factor(law, speed, at, numbers)
        entries.append(Entry("damping factor", factor, "", f"{law.name}: force = elastic (1 + factor rate/approach)"))
    said = f"an impact of {mass:g} kg at {speed:g} m/s with these numbers"
    period = 2 * math.pi * math.sqrt(mass / slope)
    why = f"1/{STEPS} of the shorter of duration and period; contact must be resolved"
    return [
        *entries,
        Entry("effective restitution", hit.restitution, "", said),
        Entry("largest depth", hit.depth, "m", said),
        Entry("largest force", hit.force, "N", said),
        Entry("contact duration", hit.duration, "s", said),
        Entry("natural period", period, "s", "2 pi sqrt(m/k), k the slope of the force at the largest depth"),
        Entry("recommended step", min(hit.duration, period) / STEPS, "s", why),
    ]


def _factor(law: Law, speed: float, depth: float, parameters: Mapping[str, float]) -> float:
    rest, moving = (float(law(depth, v, speed, **parameters)[0]) for v in (0.0, speed))
    return moving / rest - 1


def _adams_damping(law: Law, mass: float, speed: float, restitution: float, chosen: Mapping[str, float]) -> float:
    from scipy.optimize import brentq  # type: ignore[import-untyped]

    if restitution >= 1:
        return 0.0

    def miss(damping: float) -> float:
        return impact(law, mass, speed, **chosen, damping=damping).restitution - restitution

    high = math.sqrt(chosen["stiffness"] * mass)
    while miss(high) > 0:
        high *= 4
    return float(brentq(miss, 0.0, high, xtol=1e-12 * high, rtol=1e-10))


# -- ADAMS counts in mm, N and s


def to_adams(parameters: Mapping[str, float]) -> dict[str, float]:
    """The parameters of `adams_impact` as IMPACT takes them in mm and N: stiffness (N/mm^exponent), exponent,
    damping (N s/mm), dmax (mm).

    >>> to_adams({"stiffness": 10**9.5, "exponent": 1.5, "damping": 58e3, "ramp": 1e-4})["damping"]
    58.0
    """
    p = dict(parameters)
    return {
        "stiffness": p["stiffness"] * 1e3 ** -p["exponent"],
        "exponent": p["exponent"],
        "damping": p["damping"] * 1e-3,
        "dmax": p["ramp"] * 1e3,
    }


def from_adams(stiffness: float, exponent: float, damping: float, dmax: float) -> dict[str, float]:
    """The parameters of `adams_impact` in SI units, from those of IMPACT in mm and N.

    >>> from_adams(1e5, 1.5, 58.0, 0.1)["damping"]
    58000.0
    """
    return {
        "stiffness": stiffness * 1e3**exponent,
        "exponent": float(exponent),
        "damping": damping * 1e3,
        "ramp": dmax * 1e-3,
    }
