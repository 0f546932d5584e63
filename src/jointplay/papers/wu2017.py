"""Wu, Marghitu, Zhao: Nonlinear Dynamics Response of a Planar Mechanism with Two Driving Links and Prismatic Pair
Clearance (2017).

The paper gives no values of its figures, and not all its data: see `library.wu_2017` for what is assumed.  Deviations
are those of the bar's centre G, 450 mm from B, across the ideal bar.  References are those of the project.  Whether
the motion is chaotic is not asked here.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..model import library
from ..model.mechanism import Mechanism
from ..model.motions import Table, table
from ..simulation import RungeKutta, simulate
from ..statics import check, inverse_dynamics, kinematics
from . import Record, Value, verdict

if TYPE_CHECKING:
    from xarray import Dataset

PERIOD = 36.0  # s: 360 deg over the greatest common divisor of 30 and 50 deg/s
WINDOW = 120.0  # s: simulated in the paper
BAR, BORE, CENTRE = 0.9, 0.06, 0.45  # m: lengths of bar and bore, B to G
MOTOR = 50.0  # N m: M10 of equation 7, assumed; the paper prints it in both lines
STEPPER = RungeKutta(1e-7, 1e-9, max_step=1e-3)
EVERY = 1e-3  # s
# c/mm: max deviation/mm, rms/mm, depth/um, total normal force/N, largest at one corner/N, signed deviation at 36 s/mm
ROWS: dict[float, tuple[float, float, float, float, float, float | None]] = {
    0.10: (0.5939, 0.1963, 12.54, 285.3, 154.0, -0.11518),
    0.50: (2.8482, 0.9562, 26.74, 892.5, 474.7, -0.56773),
    0.75: (4.2572, 1.4314, 32.50, 1262.0, 669.9, None),
}

record = functools.partial(Record, "wu2017")


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


# -- the mechanism with play
class Play(NamedTuple):
    """What a run with play gives; lengths in m, the deviation of G in mm, forces in N."""

    time: np.ndarray
    deviation: np.ndarray
    fastest: float  # mm/s: largest difference of the velocity of G to the ideal one
    lever: float  # largest deviation over that of a bar that leans in the bore at the middle of the slider, 450 c/BD
    depth: float
    corner: float
    total: float
    free: float
    flush: float
    switches: int
    steps: int
    outcome: str


def play(run: Dataset, mechanism: Mechanism) -> Play:
    """Deviations and contacts of a run, beside the ideal mechanism at the same angles of its drives."""
    clearance, base = mechanism.value("P.clearance"), mechanism.value("ground.C.x")
    alpha, beta = (run["angle"].sel(body=name).values for name in ("link1", "link2"))
    w1, w2 = (run["angle_rate"].sel(body=name).values for name in ("link1", "link2"))
    b, d = 0.25 * np.exp(1j * alpha), base + 0.32 * np.exp(1j * beta)
    apart, moving = d - b, 1j * w2 * (d - base) - 1j * w1 * b
    bar, rate = (run[name].sel(body="link3").values for name in ("angle", "angle_rate"))
    off = np.angle(np.exp(1j * bar) / (apart / np.abs(apart)))
    spin = (moving / apart).imag
    closed = run["mode"].values > 0
    sides = [np.array([label.endswith(side) for label in run["contact"].values]) for side in ("upper", "lower")]
    upper, lower = (closed[:, side] for side in sides)
    flush = (upper.all(axis=1) & ~lower.any(axis=1)) | (lower.all(axis=1) & ~upper.any(axis=1))
    loaded = np.where(upper.any(axis=1), 1, 0) - np.where(lower.any(axis=1), 1, 0)
    loaded = loaded[loaded != 0]
    return Play(
        run["time"].values,
        1e3 * CENTRE * off,
        float(1e3 * CENTRE * np.abs(rate - spin).max()),
        float((np.abs(off) * np.abs(apart)).max() / clearance),
        float(run["peak_depth"].max()),
        float(run["peak_normal"].max()),
        float(run["peak_normal_sum"].sel(joint="P")),
        float((~closed.any(axis=1)).mean()),
        float(flush.mean()),
        int((np.diff(loaded) != 0).sum()),
        int(run.attrs["steps"]),
        str(run.attrs["outcome_text"]),
    )


@functools.cache
def constant(c: float, group: int = 0, until: float = WINDOW) -> Play:
    """A clearance (mm) at the constant speeds of a group of Table 3."""
    contact = library.wu_2017_contact()
    mechanism = library.wu_2017(library.WU_2017_SPEEDS[group], clearance=1e-3 * c, contact=contact)
    return play(simulate(mechanism, until, STEPPER, every=EVERY), mechanism)


@functools.cache
def varied(c: float, until: float = WINDOW) -> Play:
    """A clearance (mm) at the variable speeds of equation 7."""
    mechanism = library.wu_2017(angles=variable(until), clearance=1e-3 * c, contact=library.wu_2017_contact())
    return play(simulate(mechanism, until, STEPPER, every=EVERY), mechanism)


# -- records
def ideal() -> Iterator[Record]:
    """Positions, velocities and torques without play."""
    found = inverse_dynamics(library.wu_2017(), [0.0, 1.0, 12.0, PERIOD])

    def at(name: str, t: float, body: str = "link3") -> float:
        return float(found[name].sel(body=body, time=t))

    efforts = [float(x) for x in found["effort"].sel(drive=["alpha", "beta"], time=0.0)]
    turned = at("angle", PERIOD) - at("angle", 0.0)
    for t, quantity, unit, reference, computed, off in (
        (0.0, "angle of the bar", "rad", 0.106309288, at("angle", 0.0), 6e-10),
        (0.0, "G", "m", [0.361954484, 0.282672275], [at("x", 0.0), at("y", 0.0)], 6e-10),
        (0.0, "velocity of G", "m/s", [-0.146530674, 0.175685536], [at("x_rate", 0.0), at("y_rate", 0.0)], 6e-10),
        (0.0, "torques M1, M2", "N m", [-0.382700, 3.628150], efforts, 6e-7),
        (1.0, "angle of the bar", "rad", 0.542842830, at("angle", 1.0), 6e-10),
        (1.0, "G", "m", [0.193798517, 0.393154406], [at("x", 1.0), at("y", 1.0)], 6e-10),
        (12.0, "angle of the bar", "rad", -0.913116800, math.remainder(at("angle", 12.0), math.tau), 6e-10),
        (PERIOD, "angle of the bar less that at 0 s", "rad", 0.0, math.remainder(turned, math.tau), 1e-11),
    ):
        said = verdict(computed, None, reference, off)
        yield record("ideal joints", {"t/s": t}, quantity, unit, None, reference, computed, said)


def drives() -> Iterator[Record]:
    """Whether the drives can be followed over the whole period, with the assumed AC and without."""
    ways: dict[str, tuple[Mechanism, float]] = {
        f"{math.degrees(w1):.0f}, {math.degrees(w2):.0f} deg/s": (library.wu_2017((w1, w2)), PERIOD)
        for w1, w2 in library.WU_2017_SPEEDS
    }
    ways["equation 7, 120 s"] = (library.wu_2017(angles=variable()), WINDOW)
    extremes = []
    for name, (mechanism, until) in ways.items():
        found = span(mechanism, until)
        computed, at = [1e3 * found.least, 1e3 * found.largest], {"AC/mm": 150, "w1, w2": name}
        if found.problem:
            raise InputError(f"drives {name}: {found.problem}; nothing was integrated")
        said = verdict(computed, note="assembles throughout")
        yield record("drives over a period", at, "BD from, to", "mm", None, None, computed, said)
        extremes += computed if until == PERIOD else []
    computed, at = [min(extremes), max(extremes)], {"AC/mm": 150, "w1, w2": "Table 3"}
    said = verdict(computed, None, [36.0, 720.0], 0.6)
    yield record("drives over a period", at, "BD from, to", "mm", None, [36.0, 720.0], computed, said)
    for base in (0.05, 0.07, 0.10, 0.40):
        found, at = span(library.wu_2017(base=base), PERIOD), {"AC/mm": round(1e3 * base), "w1, w2": "30, 50 deg/s"}
        said = "no value to compare with: the paper does not give AC"
        told: Value = found.problem or [1e3 * found.least, 1e3 * found.largest]
        yield record("drives over a period", at, "another AC: BD from, to, or why not", "mm", None, None, told, said)
    for i, (rate, known) in enumerate(zip(rates(), ([20.1, 33.5], [39.5, 78.0]), strict=True), 1):
        times = np.linspace(0.0, PERIOD, 36001)
        least, most = (float(np.degrees(f(rate(times)))) for f in (np.min, np.max))
        said = verdict([least, most], None, known, 0.06)
        at = {"M10": "50 N m in both lines"}
        yield record("equation 7", at, f"w{i} from, to", "deg/s", None, known, [least, most], said)
    said = "not computable because the paper does not give M10 and inertias of the motors: named, not run"
    quantity = "the other reading: a motor characteristic, alpha and beta free"
    yield record("equation 7", {}, quantity, "", None, None, None, said)


def rows() -> Iterator[Record]:
    """The clearances of the reference over 0 to 120 s."""
    for c, (most, rms, depth, force, corner, late) in ROWS.items():
        found, at = constant(c), {"c/mm": c, "w1, w2": "30, 50 deg/s", "window": "0 to 120 s"}
        d = found.deviation
        for quantity, unit, reference, computed, off in (
            ("largest deviation of G", "mm", most, float(np.abs(d).max()), 6e-5),
            ("its rms", "mm", rms, float(np.sqrt(np.mean(d * d))), 6e-5),
            ("largest depth at a corner", "um", depth, 1e6 * found.depth, 0.02 * depth),
            ("largest sum of the normal forces", "N", force, found.total, 0.02 * force),
            ("largest normal force at a corner", "N", corner, found.corner, 0.02 * corner),
            ("largest difference of the velocity of G", "mm/s", None, found.fastest, 0.0),
            ("largest deviation over 450 mm c/BD", "", None, found.lever, 0.0),
        ):
            said = verdict(computed, None, reference, off)
            yield record("clearance", at, quantity, unit, None, reference, computed, said)
        for t in (PERIOD, 2 * PERIOD, 3 * PERIOD):
            computed = float(d[round(t / EVERY)])
            said = verdict(computed, None, late, 6e-6)
            quantity = f"deviation of G at {t:g} s, signed"
            yield record("clearance", at, quantity, "mm", None, late, computed, said)
        for quantity, unit, known, computed, off in (
            ("share of time in free flight", "%", [7.1], 100 * found.free, 0.2),
            ("share of time flush on one side", "%", [92.0, 95.0], 100 * found.flush, 0.0),
            ("changes of the loaded side", "", [26.0], float(found.switches), 0.0),
        ):
            bounds = known if c == 0.5 else None
            inside = bounds and min(bounds) - off <= computed <= max(bounds) + off
            said = verdict(computed) if bounds is None else "reproduces" if inside else "differs"
            if bounds:
                said += " (by samples a millisecond apart)"
            shown: Value = bounds[0] if bounds and len(bounds) == 1 else bounds
            yield record("clearance", at, quantity, unit, None, shown, computed, said)


def speeds() -> Iterator[Record]:
    """The groups of Table 3 over 36 s, and the variable speeds over 120 s; c = 0.5 mm."""
    names = [f"{math.degrees(w1):.0f}, {math.degrees(w2):.0f} deg/s" for w1, w2 in library.WU_2017_SPEEDS]
    runs = {name: (lambda i=i: constant(0.5, i, PERIOD), "0 to 36 s") for i, name in enumerate(names)}
    largest: list[float] = []
    for name, (run, window) in {**runs, "equation 7": (lambda: varied(0.5), "0 to 120 s")}.items():
        found, at = run(), {"c/mm": 0.5, "w1, w2": name, "window": window}
        d = found.deviation
        for quantity, unit, computed in (
            ("largest deviation of G", "mm", float(np.abs(d).max())),
            ("its rms", "mm", float(np.sqrt(np.mean(d * d)))),
            ("largest difference of the velocity of G", "mm/s", found.fastest),
            ("largest depth at a corner", "um", 1e6 * found.depth),
            ("largest normal force at a corner", "N", found.corner),
            ("largest sum of the normal forces", "N", found.total),
            ("share of time in free flight", "%", 100 * found.free),
        ):
            yield record("speed", at, quantity, unit, None, None, computed, verdict(computed, note=found.outcome))
        largest += [float(np.abs(d).max())] if name in names else []
    rising = all(a < b for a, b in itertools.pairwise(largest))
    said = "reproduces" if rising else "differs: the largest deviation does not follow the speed of link 1"
    said += f" ({', '.join(f'{x:.4g}' for x in largest)} mm)"
    quantity = "the position of G becomes less precise with the speed of link 1"
    yield record("claims", {"c/mm": 0.5}, quantity, "", "yes", None, "yes" if rising else "no", said)
    deviations, velocities = ([f(constant(c)) for c in ROWS] for f in (lambda x: np.abs(x.deviation).max(), _fastest))
    for quantity, values, why in (
        ("the deviation of G grows with the clearance", deviations, "it is kinematic, about 450 mm c/BD"),
        ("the velocity of G differs more with a larger clearance", velocities, "largest difference"),
    ):
        good = all(a < b for a, b in itertools.pairwise(values))
        said = f"{'reproduces' if good else 'differs'} ({why}: {', '.join(f'{x:.4g}' for x in values)})"
        at = {"c/mm": ", ".join(map(str, ROWS))}
        yield record("claims", at, quantity, "", "yes", None, "yes" if good else "no", said)


def _fastest(found: Play) -> float:
    return found.fastest


def contradictions() -> Iterator[Record]:
    """Where the paper's data contradict each other, and what is used."""
    warned = check(library.wu_2017()).warnings
    mechanism = library.wu_2017()
    for name, number in (("link1", 1), ("link2", 2), ("link3", 3)):
        body = mechanism.bodies[name]
        uniform = float(body.mass * (body.length or 0.0) ** 2 / 12)
        told = [text for text in warned if text.startswith(f"{name}.inertia")]
        if number < 3:
            why = "m L^2/3, about the end of the bar; " + (f"check says: {told[0]}" if told else "check says nothing")
        else:
            why = "neither m L^2/12 nor m L^2/3; used as printed, about G"
        said = f"differs by {abs(body.inertia - uniform):.3g} ({why})"
        at = {"m": body.mass, "L/m": body.length}
        yield record("contradictions", at, f"I{number} beside m L^2/12", "kg m^2", body.inertia, uniform, uniform, said)
    slider, radius = mechanism.bodies["slider"], mechanism.value("P.radius")
    across = slider.mass * BORE**2 / 12
    said = f"differs by {abs(slider.inertia - across):.3g} (smaller: it is that about the long axis of the slider)"
    at = {"m": slider.mass, "L/m": BORE}
    yield record("contradictions", at, "I4 beside m L^2/12", "kg m^2", slider.inertia, None, across, said)
    K = float(library.wu_2017_contact().normal.values["stiffness"])
    said = verdict(K, 1e5 * 1e3, 3.162278e9, 1e3, note="with the exponent 1.5 it can only be N/mm^1.5")
    yield record("contradictions", {"printed": "1e5 N/mm"}, "K", "N/m, N/m^1.5", 1e8, 3.162278e9, K, said)
    told_twice = {
        "Cmax": ("1 % of K, which would be 1000 N s/mm", "58 N s/mm of Table 2", "both are printed; 58 is used"),
        "c": ("the difference of the diameters 2 r and 2 (r + c), which is 2 c", "radial", "half of the play across"),
        "radius in equation 2": ("2 (r + c)", "r + c", "twice the radius of the bore"),
        "friction at rest, equation 6": (
            "jumps from -mu_s to mu_s at v = 0",
            "STEP(v, -v_s, -mu_s, v_s, mu_s)",
            "regularised as ADAMS does",
        ),
        "groups of constant speeds": ("four", "five in Table 3", "text and table"),
    }
    for quantity, (paper, ours, why) in told_twice.items():
        yield record("contradictions", {}, quantity, "", paper, None, ours, f"differs ({why})")
    found = constant(0.5)
    steps = WINDOW / found.steps
    said = f"differs: it can only be the interval of the output (ours are {steps:.1e} s in the mean)"
    yield record("contradictions", {}, "step size", "s", 0.1, None, steps, said)
    said = "differs: the forcing repeats after 360 deg/gcd(30, 50 deg/s), ten turns of link 1 are not whole periods"
    quantity = "periods in 120 s"
    yield record("contradictions", {}, quantity, "", 10.0, 120 / 36, WINDOW / PERIOD, said)
    missing = f"AC (150 mm), the bar's radius ({1e3 * radius:g} mm), v_s and v_d (0.1, 1 m/s), M10 ({MOTOR:g} N m)"
    said = f"not computable because the paper does not give {missing}; assumed"
    yield record("contradictions", {}, "values of Figs. 3, 4, 10", "", None, None, None, said)


def histories() -> Iterator[tuple[str, Dataset]]:
    """The deviation of G (mm) over time, for the clearances of the reference and at the variable speeds."""
    from xarray import Dataset

    runs = {f"wu2017_c_{c:.2f}_mm": constant(c) for c in ROWS} | {"wu2017_equation_7_c_0.50_mm": varied(0.5)}
    for name, found in runs.items():
        said = {"units": "mm", "long_name": "deviation of G across the ideal bar"}
        yield (
            name,
            Dataset({"deviation": ("time", found.deviation, said)}, {"time": ("time", found.time, {"units": "s"})}),
        )


def records() -> Iterator[Record]:
    """All comparisons."""
    yield from ideal()
    yield from drives()
    yield from rows()
    yield from speeds()
    yield from contradictions()
