"""Wu, Marghitu, Zhao: Nonlinear Dynamics Response of a Planar Mechanism with Two Driving Links and Prismatic Pair
Clearance (2017).

The paper gives no values of its figures, and not all its data: see `library.wu_2017` for what is assumed.  Deviations
are those of the bar's centre G, 450 mm from B, across the ideal bar.  References are those of the project.  Here are
the ideal mechanism, the drives and the paper's data; `wu2017_play` has what play does to it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..model import library
from ..model.mechanism import Mechanism
from ..model.motions import table
from ..parts.tables import Table
from ..statics import assemble, check, freedom, inverse_dynamics, kinematics
from ..system import System
from .rows import Found, Row
from .verdicts import HOLDS

PERIOD = 36.0  # s: 360 deg over the greatest common divisor of 30 and 50 deg/s
WINDOW = 120.0  # s: simulated in the paper
BAR, BORE, CENTRE = 0.9, 0.06, 0.45  # m: lengths of bar and bore, B to G
MOTOR = 50.0  # N m: M10 of equation 7, assumed; the paper prints it in both lines

row = functools.partial(Row, study="wu2017")


# -- the ideal mechanism
class Span(NamedTuple):
    """Between which distances (m) the slider runs on the bar, from B, and what is wrong with that, if anything."""

    least: float
    largest: float
    problem: str


def span(mechanism: Mechanism, until: float) -> Span:
    """Follows the ideal mechanism through its drives before anything is integrated: does it close, does the bore stay
    on the bar?

    >>> round(1e3 * span(library.wu_2017(), 36.0).least)
    80
    """
    try:
        kinematics(mechanism.with_({"P.clearance": 0.0}), np.linspace(0.0, until, max(2, round(until) + 1)))
    except ValueError as error:
        return Span(math.nan, math.nan, str(error))
    times, base = np.linspace(0.0, until, round(100 * until) + 1), mechanism.value("ground.C.x")
    alpha, beta = (np.array([mechanism.drives[n].motion(t) for t in times.tolist()]) for n in ("alpha", "beta"))
    apart = np.abs(base + 0.32 * np.exp(1j * beta) - 0.25 * np.exp(1j * alpha))
    least, largest = float(apart.min()), float(apart.max())
    problem = ""
    if least < BORE / 2:
        problem = f"the slider comes within {1e3 * least:.1f} mm of B, closer than half its bore of {1e3 * BORE:g} mm"
    elif largest > BAR - BORE / 2:
        problem = f"the slider runs off the bar of {1e3 * BAR:g} mm: {1e3 * largest:.1f} mm from B"
    return Span(least, largest, problem)


@functools.cache
def torques(every: float = 0.02) -> tuple[np.ndarray, np.ndarray]:
    """Times (s) and drive torques (N m) of the ideal mechanism over a period at 30 and 50 deg/s."""
    times = np.linspace(0.0, PERIOD, round(PERIOD / every) + 1)
    return times, inverse_dynamics(library.wu_2017(), times)["effort"].sel(drive=["alpha", "beta"]).values


@functools.cache
def rates() -> tuple[Any, Any]:
    """The variable speeds (rad/s) of equation 7 as periodic splines: w_i0 (1 - M_i/M10)."""
    from scipy.interpolate import CubicSpline  # type: ignore[import-untyped]

    times, M = torques()
    M[-1] = M[0]  # a period: the same to round-off
    first, second = (
        CubicSpline(times, w * (1 - m / MOTOR), bc_type="periodic")
        for w, m in zip(library.WU_2017_SPEEDS[0], M.T, strict=True)
    )
    return first, second


def variable(until: float = WINDOW, every: float = 0.02) -> tuple[Table, Table]:
    """The angles (rad) of links 1 and 2 that follow from the variable speeds, from 110 and 60 deg."""
    times = np.linspace(0.0, until + 1.0, round((until + 1.0) / every) + 1)
    alpha, beta = (
        table(times, [first + float(rate.integrate(0.0, t, extrapolate="periodic")) for t in times], ends="held")
        for rate, first in zip(rates(), library.WU_2017_START, strict=True)
    )
    return alpha, beta


# -- rows
@functools.cache
def followed() -> Any:
    """The ideal mechanism at a few times of a period."""
    return inverse_dynamics(library.wu_2017(), [0.0, 1.0, 12.0, PERIOD])


def at(name: str, t: float, body: str = "link3") -> float:
    """A number of the ideal mechanism."""
    return float(followed()[name].sel(body=body, time=t))


def ideal() -> Iterator[Row]:
    """Positions, velocities and torques without play."""
    efforts = lambda: [float(x) for x in followed()["effort"].sel(drive=["alpha", "beta"], time=0.0)]  # noqa: E731
    turned = lambda: math.remainder(at("angle", PERIOD) - at("angle", 0.0), math.tau)  # noqa: E731
    pair = lambda names, t: lambda: [at(name, t) for name in names]  # noqa: E731
    for t, quantity, unit, reference, compute, close in (
        (0.0, "angle of the bar", "rad", 0.106309288, lambda: at("angle", 0.0), 6e-10),
        (0.0, "G", "m", [0.361954484, 0.282672275], pair(("x", "y"), 0.0), 6e-10),
        (0.0, "velocity of G", "m/s", [-0.146530674, 0.175685536], pair(("x_rate", "y_rate"), 0.0), 6e-10),
        (0.0, "torques M1, M2", "N m", [-0.382700, 3.628150], efforts, 6e-7),
        (1.0, "angle of the bar", "rad", 0.542842830, lambda: at("angle", 1.0), 6e-10),
        (1.0, "G", "m", [0.193798517, 0.393154406], pair(("x", "y"), 1.0), 6e-10),
        (12.0, "angle of the bar", "rad", -0.913116800, lambda: math.remainder(at("angle", 12.0), math.tau), 6e-10),
        (PERIOD, "angle of the bar less that at 0 s", "rad", 0.0, turned, 1e-11),
    ):
        yield row("ideal joints", {"time": t}, quantity, unit, compute, None, reference, close)


def spanned(speeds: tuple[float, float] | None, base: float) -> Found:
    """BD from, to (mm), and whether the slider stays on its bar; no speeds: those of equation 7."""
    drives: dict[str, Any] = {"angles": variable()} if speeds is None else {"speeds": speeds}
    found = span(library.wu_2017(**drives, base=base), WINDOW if speeds is None else PERIOD)
    return Found([1e3 * found.least, 1e3 * found.largest], found.problem or "assembles throughout")


def reach(found: Found) -> list[float]:
    """The distances of `spanned`."""
    assert isinstance(found.value, list)
    return found.value


def followable(base: float) -> Found:
    """Whether the drives can be followed with another AC."""
    found = spanned(library.WU_2017_SPEEDS[0], base)
    good = found.note == "assembles throughout"
    return Found("yes" if good else "no", "" if good else found.note)


def drives() -> Iterator[Row]:
    """Whether the drives can be followed over the whole period, with the assumed AC and without."""
    groups = list(library.WU_2017_SPEEDS)

    def inside(speeds: tuple[float, float] | None) -> Found:
        found = spanned(speeds, 0.15)
        least, largest = reach(found)
        good = found.note == "assembles throughout" and least > 35.4 and largest < 720.6
        return Found(found.value, found.note, holds=good)

    quantity = "BD from, to, within 36 to 720 mm"
    for speeds in groups:
        compute = functools.partial(inside, speeds)
        yield row("table 3", {"base": 0.15, "speeds": list(speeds)}, quantity, "mm", compute, None, HOLDS)
    free = functools.partial(inside, None)
    yield row("figure 10", {"base": 0.15, "speeds": "equation 7"}, quantity, "mm", free, None, HOLDS)

    def extremes() -> list[float]:
        found = [reach(spanned(speeds, 0.15)) for speeds in groups]
        return [min(x[0] for x in found), max(x[1] for x in found)]

    yield row("table 3", {"base": 0.15}, "BD from, to, all groups", "mm", extremes, None, [36.0, 720.0], 0.6)
    for base in (0.05, 0.07, 0.10, 0.40):
        compute = functools.partial(followable, base)
        quantity = "the drives can be followed with another AC"
        yield row("figure 1", {"base": base}, quantity, "", compute, None, "no", note="the paper does not give AC")
    for i, known in enumerate(([20.1, 33.5], [39.5, 78.0])):
        fastest = functools.partial(extreme_rates, i)
        yield row("figure 10", {"torque": MOTOR}, f"w{i + 1} from, to", "deg/s", fastest, None, known, 0.06,
                  note="M10 is assumed, the same in both lines as printed")  # fmt: skip
    quantity = "the other reading: a motor characteristic, alpha and beta free"
    yield row("equation 7", {}, quantity, missing="M10 and the inertias of the motors: named, not run")


def extreme_rates(i: int) -> list[float]:
    """The least and largest speed (deg/s) of a link by equation 7."""
    rate, times = rates()[i], np.linspace(0.0, PERIOD, 36001)
    return [float(np.degrees(f(rate(times)))) for f in (np.min, np.max)]


# -- the paper's data
def degrees(clearance: float) -> int:
    """Degrees of freedom without the drives."""
    contact = library.wu_2017_contact() if clearance else None
    mechanism = library.wu_2017(clearance=clearance, contact=contact) if contact else library.wu_2017()
    system = System(mechanism.replace(drives={}))
    return int(freedom(system, assemble(system)).degrees)


def stiffness() -> Found:
    """K of equation 4 (N/m^1.5) for the assumed radius of the bar and a bore that is wider by 0.5 mm."""
    modulus, radius = 207e9 / (2 * (1 - 0.29**2)), library.wu_2017().value("P.radius")
    K = 4 / 3 * modulus * math.sqrt(1 / (1 / radius + 1 / (radius + 5e-4)))
    needed = (3.162278e9 / (4 / 3 * modulus)) ** 2
    note = f"ours is for bar and bore of {1e3 * radius:g} and {1e3 * radius + 0.5:g} mm; an R of {1e3 * needed:.2g} mm "
    return Found(K, note + "would give the printed K; for a bore in which a bar lies 1/R is a difference, not a sum")


def inertia(name: str, length: float) -> Found:
    """m L^2/12 of a body beside the printed moment of inertia."""
    body = library.wu_2017().bodies[name]
    told = [text for text in check(library.wu_2017()).warnings if text.startswith(f"{name}.inertia")]
    return Found(float(body.mass * length**2 / 12), f"check says: {told[0]}" if told else "")


def contradictions() -> Iterator[Row]:
    """Where the paper's data contradict each other, and what is used."""
    mechanism = library.wu_2017()
    end, neither = "m L^2/3, about the end of the bar", "neither m L^2/12 nor m L^2/3; used as printed, about G"
    whys = (end, end, neither, "that about the long axis of the slider")
    for number, (name, why) in enumerate(zip(("link1", "link2", "link3", "slider"), whys, strict=True), 1):
        body = mechanism.bodies[name]
        length = BORE if name == "slider" else float(body.length or 0.0)
        case = {"mass": body.mass, "length": length}
        compute = functools.partial(inertia, name, length)
        printed = float(body.inertia)
        yield row("table 1", case, f"I{number} as m L^2/12", "kg m^2", compute, printed, None, 0.01 * printed, note=why)
    quantity = "degrees of freedom without drives"
    yield row("section 2", {"clearances": [0.0]}, quantity, "", lambda: degrees(0.0), 2, None)
    yield row("section 2", {"clearances": [5e-4]}, quantity, "", lambda: degrees(5e-4), 4, None)
    yield row("table 2", {}, "K by equation 4", "N/m^1.5", stiffness, 3.162278e9, missing="the radii of bar and bore")
    for item, quantity, paper, note in (
        ("table 2", "unit of K", "N/mm", "with the exponent 1.5 it can only be N/mm^1.5: 3.162278e9 N/m^1.5"),
        ("section 2.2", "Cmax", "1 % of K", "that would be 1000 N s/mm; Table 2 has 58, which is used"),
        ("section 2.1", "c", "difference of the diameters 2 r and 2 (r + c)", "that is 2 c; c is used as radial"),
        ("equation 2", "radius", "2 (r + c)", "twice the radius of the bore"),
        ("equation 6", "friction at rest", "sgn(v)", "jumps; STEP(v, -v_s, -mu_s, v_s, mu_s) is used, as in ADAMS"),
        ("table 3", "groups of constant speeds", "four in the text", "five in the table"),
        ("section 3", "simulated time", "10 periods of link 1 in 120 s",
         "the drives repeat after 360 deg/gcd(30, 50 deg/s) = 36 s: 120 s are 3.33 periods, not whole ones"),
        ("section 3", "tolerance of the integrator", "0.001",
         "by our reference BDF with it errs by 0.86 mm at c = 0.5 mm, as much as the deviation itself"),
    ):  # fmt: skip
        yield row(item, {}, quantity, paper=paper, note=note)
    missing = "AC (150 mm assumed), the bar's radius (8 mm), v_s and v_d (0.1, 1 m/s) and M10 (50 N m)"
    for figure, quantity in ((3, "velocity of G"), (4, "deviation of G"), (10, "variable speeds")):
        yield row(f"figure {figure}", {}, f"values: {quantity}", missing=missing)


def rows() -> Iterator[Row]:
    """All comparisons."""
    from . import wu2017_play

    yield from ideal()
    yield from drives()
    yield from wu2017_play.rows()
    yield from contradictions()


def histories() -> Iterator[tuple[str, Any]]:
    """The deviation of G (mm) over time, for the clearances of the reference and at the variable speeds."""
    from . import wu2017_play

    yield from wu2017_play.histories()
