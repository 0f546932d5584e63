"""What play does to the mechanism of Wu, Marghitu, Zhao 2017: deviations, contacts, spectra, sections, exponents.

Runs are over 0 to 120 s, as the paper's and our reference's. Statements are judged over whole periods of the drives,
0 to 108 s (of the motion without its start 36 to 108 s); 36 s are whole periods of every group of Table 3.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..model import library
from ..model.mechanism import Mechanism
from ..simulation import RungeKutta, Simulation, simulate
from .rows import Found, Row
from .verdicts import FAILS, HOLDS
from .wu2017 import CENTRE, PERIOD, WINDOW, row, variable

if TYPE_CHECKING:
    from xarray import Dataset

STEPPER = RungeKutta(1e-7, 1e-9, max_step=1e-3)
EVERY = 1e-3  # s
WHOLE = [0.0, 3 * PERIOD]  # s: the window of statements
CLEARANCES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.75)  # mm: of section 3.1
VARIABLE = (0.1, 0.3, 0.5, 0.75)  # mm: those that are run at the variable speeds
# c/mm: max deviation/mm, rms/mm, depth/um, total normal force/N, largest at one corner/N, signed deviation at 36 s/mm,
# conditional exponent (1/s)
KNOWN: dict[float, tuple[float, float, float, float, float, float | None, float]] = {
    0.10: (0.5939, 0.1963, 12.54, 285.3, 154.0, -0.11518, -10.4),
    0.50: (2.8482, 0.9562, 26.74, 892.5, 474.7, -0.56773, -12.5),
    0.75: (4.2572, 1.4314, 32.50, 1262.0, 669.9, None, -13.3),
}


class Play(NamedTuple):
    """What a run with play gives; lengths in m, the deviation of G in mm, forces in N."""

    time: np.ndarray
    deviation: np.ndarray
    drift: np.ndarray  # mm/s: velocity of G less the ideal one
    lever: float  # largest deviation over that of a bar that leans in the bore at the middle of the slider, 450 c/BD
    depth: float
    corner: float
    total: float
    states: tuple[float, float, float, float]  # shares of time: no contact, one corner, two opposite, two on one side
    switches: int
    steps: int
    outcome: str

    def largest(self, window: list[float] | None = None) -> float:
        """The largest deviation (mm) in a window."""
        return float(np.abs(self.within(self.deviation, window)).max())

    def fastest(self) -> float:
        """The largest difference of the velocity of G (mm/s) over whole periods."""
        return float(np.abs(self.within(self.drift, WHOLE)).max())

    def within(self, signal: np.ndarray, window: list[float] | None) -> np.ndarray:
        """A signal in a window (s)."""
        if window is None:
            return signal
        return signal[(self.time >= window[0] - 1e-9) & (self.time < window[1] - 1e-9)]


def play(run: Dataset, mechanism: Mechanism) -> Play:
    """Deviations and contacts of a run, beside the ideal mechanism at the same angles of its drives."""
    clearance, base = mechanism.value("P.clearance"), mechanism.value("ground.C.x")
    alpha, beta = (run["angle"].sel(body=name).values for name in ("link1", "link2"))
    w1, w2 = (run["angle_rate"].sel(body=name).values for name in ("link1", "link2"))
    b, d = 0.25 * np.exp(1j * alpha), base + 0.32 * np.exp(1j * beta)
    apart, moving = d - b, 1j * w2 * (d - base) - 1j * w1 * b
    bar, rate = (run[name].sel(body="link3").values for name in ("angle", "angle_rate"))
    off = np.angle(np.exp(1j * bar) / (apart / np.abs(apart)))
    closed = run["mode"].values > 0
    sides = [np.array([label.endswith(side) for label in run["contact"].values]) for side in ("upper", "lower")]
    upper, lower = (closed[:, side].sum(axis=1) for side in sides)
    shares = (upper + lower == 0, upper + lower == 1, (upper == 1) & (lower == 1), (upper == 2) | (lower == 2))
    none, one, opposite, flush = (float(x.mean()) for x in shares)
    loaded = np.sign(upper) - np.sign(lower)
    loaded = loaded[loaded != 0]
    return Play(
        run["time"].values,
        1e3 * CENTRE * off,
        1e3 * CENTRE * (rate - (moving / apart).imag),
        float((np.abs(off) * np.abs(apart)).max() / clearance),
        float(run["peak_depth"].max()),
        float(run["peak_normal"].max()),
        float(run["peak_normal_sum"].sel(joint="P")),
        (none, one, opposite, flush),
        int((np.diff(loaded) != 0).sum()),
        int(run.attrs["steps"]),
        str(run.attrs["outcome_text"]),
    )


def loosened(c: float, group: int | None) -> Mechanism:
    """A clearance (mm) at the constant speeds of a group of Table 3, or at those of equation 7 (None)."""
    about: dict[str, Any] = {"clearance": 1e-3 * c, "contact": library.wu_2017_contact()}
    about |= {"angles": variable()} if group is None else {"speeds": library.WU_2017_SPEEDS[group]}
    return library.wu_2017(**about)


@functools.cache
def played(c: float, group: int | None = 0, until: float = WINDOW) -> Play:
    """A run with a clearance (mm)."""
    mechanism = loosened(c, group)
    return play(simulate(mechanism, until, STEPPER, every=EVERY, error=False), mechanism)


def case_of(c: float | tuple[float, ...], group: int | None = 0, window: list[float] | None = None) -> dict[str, Any]:
    """The parameters of a row."""
    speeds: Any = "equation 7" if group is None else list(library.WU_2017_SPEEDS[group])
    listed = [1e-3 * x for x in (c if isinstance(c, tuple) else (c,))]
    return {"clearances": listed, "speeds": speeds, "window": window or [0.0, WINDOW]}


# -- beside the reference
def rms(signal: np.ndarray) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(signal * signal)))


def references() -> Iterator[Row]:
    """The clearances of the reference over 0 to 120 s."""
    for c, (most, mean, depth, force, corner, late, _) in KNOWN.items():
        case = case_of(c)
        for quantity, unit, reference, read, close in (
            ("largest deviation of G", "mm", most, lambda x: x.largest(), 6e-5),
            ("rms of the deviation of G", "mm", mean, lambda x: rms(x.deviation), 6e-5),
            ("largest depth at a corner", "um", depth, lambda x: 1e6 * x.depth, 0.02 * depth),
            ("largest sum of the normal forces", "N", force, lambda x: x.total, 0.02 * force),
            ("largest normal force at a corner", "N", corner, lambda x: x.corner, 0.02 * corner),
        ):
            compute = lambda c=c, read=read: read(played(c))  # noqa: E731
            yield row("clearance", case, quantity, unit, compute, None, reference, close, group=f"c {c}")
        for t in (PERIOD, 2 * PERIOD, 3 * PERIOD) if late is not None else ():
            compute = lambda c=c, t=t: float(played(c).deviation[round(t / EVERY)])  # noqa: E731
            quantity = f"deviation of G at {t:g} s, signed"
            yield row("clearance", case, quantity, "mm", compute, None, late, 6e-6, group=f"c {c}")
    near = "by samples a millisecond apart"
    yield row("figure 2", case_of(0.5), "share of time in free flight", "%", lambda: 100 * played(0.5).states[0], None,
              7.1, 0.2, note=near)  # fmt: skip
    flush = lambda: between(100 * played(0.5).states[3], 92.0, 95.0)  # noqa: E731
    quantity = "share of time flush on one side, within 92 to 95 %"
    yield row("figure 2", case_of(0.5), quantity, "%", flush, None, HOLDS, note=near)
    switches = lambda: float(played(0.5).switches)  # noqa: E731
    yield row("figure 2", case_of(0.5), "changes of the loaded side", "", switches, None, 26.0, 0.0, note=near)


def between(x: float, least: float, most: float) -> Found:
    """A number that a reference gives by its bounds."""
    return Found(x, holds=least <= x <= most)


# -- what the paper says
def growing(values: list[float], note: str = "") -> Found:
    """Numbers that a statement says grow from one to the next."""
    rounded = [float(f"{x:.4g}") for x in values]
    return Found(rounded, note, holds=all(a < b for a, b in itertools.pairwise(values)))


def centroid(c: float) -> float:
    """The mean frequency (Hz) of the velocity fluctuation of G, by its power over whole periods."""
    found = played(c)
    power = np.abs(np.fft.rfft(found.within(found.drift, WHOLE))) ** 2
    frequency = np.fft.rfftfreq(2 * (len(power) - 1), EVERY)
    return float((power * frequency).sum() / power.sum())


def off_comb(c: float, group: int = 0) -> float:
    """The share of the power of the deviation that is not at multiples of 1/36 Hz, over 36 to 108 s."""
    found = played(c, group)
    power = np.abs(np.fft.rfft(found.within(found.deviation, [PERIOD, 3 * PERIOD]))) ** 2
    return float(power[1::2].sum() / power.sum())


def residual(c: float, group: int = 0) -> float:
    """The rms change of the deviation from one period to the next, as a share of its rms: flights between impacts end a
    little earlier or later, which the largest change would show and nothing else does."""
    found = played(c, group)
    one = found.within(found.deviation, [PERIOD, 2 * PERIOD])
    two = found.within(found.deviation, [2 * PERIOD, 3 * PERIOD])
    return rms(two - one) / rms(one)


def section(c: float) -> float:
    """How far apart the points of a section are (36, 72, 108 s; place and velocity of G), as a share of the range."""
    found = played(c)
    at = [round(k * PERIOD / EVERY) for k in (1, 2, 3)]
    return max(float(np.ptp(x[at]) / np.ptp(x)) for x in (found.deviation, found.drift))


@functools.cache
def exponent(c: float, group: int | None = 0) -> tuple[float, float]:
    """The largest exponent (1/s) by two trajectories over a period after the first one, and its standard error.

    The drives are given, so neighbours differ in the play alone: it is conditional on them.
    """
    from ..analysis import exponent as measured

    stepper = RungeKutta(1e-8, 1e-11, max_step=1e-3)
    end = 2 * PERIOD
    thing = Simulation(loosened(c, group), stepper, lanes=2, share=True, until=end + 1.0)
    found = measured(thing, end, every=0.02, settle=0.5)
    return found.value, found.error


def positive(c: float, group: int | None = 0) -> Found:
    """The largest exponent, and whether it is above zero."""
    value, error = exponent(c, group)
    return Found(value, f"+- {error:.2g}, two trajectories over 36 to 72 s, the drives given", holds=value > 3 * error)


def statements() -> Iterator[Row]:
    """Figures 2 to 7 and what the text says of them."""
    all_, case = CLEARANCES, case_of(CLEARANCES, 0, WHOLE)

    def states() -> Found:
        shares = [float(f"{x:.4g}") for x in played(0.5).states]
        note = "none, one corner, two opposite, two on one side; by samples a millisecond apart"
        return Found(shares, note, holds=min(shares) > 0)

    yield row("figure 2", case_of(0.5), "shares of time of the four states", "", states, "four states of contact occur")
    fluctuation = lambda: growing([played(c).fastest() for c in all_])  # noqa: E731
    quantity = "largest difference of the velocity of G"
    yield row("figure 3", case, quantity, "mm/s", fluctuation, "the amplitude of the fluctuation grows with c")
    frequency = lambda: growing([centroid(c) for c in all_], "mean frequency by power")  # noqa: E731
    claim = "the frequency of the fluctuation grows with c"
    yield row("figure 3", case, "frequency of the fluctuation of the velocity of G", "Hz", frequency, claim)
    deviation = lambda: growing([played(c).largest(WHOLE) for c in all_], "kinematic, about 450 mm c/BD")  # noqa: E731
    yield row("figure 4", case, "largest deviation of G", "mm", deviation, "grows with c", HOLDS)
    why = "the motion repeats with the drives, every 36 s"
    for item, claim, quantity, measure, least, cs in (
        ("figure 5", "broad band with c = 0.1 mm: neither periodic nor quasi-periodic",
         "power of the deviation of G off the comb of 1/36 Hz, as a share", off_comb, 1e-3, (0.1,)),
        ("figure 6", "the orbit in the phase plane does not close with clearance",
         "rms change of the deviation of G from a period to the next, as a share", residual, 1e-2, (0.1, 0.5, 0.75)),
        ("figure 7", "one point without, dense points with clearance",
         "spread of the points of a section every 36 s, as a share of the range", section, 1e-2, (0.1, 0.5, 0.75)),
    ):  # fmt: skip
        for c in cs:
            compute = lambda c=c, measure=measure, least=least: far(measure(c), least, why)  # noqa: E731
            yield row(item, case_of(c, 0, WHOLE), quantity, "", compute, claim, FAILS)
    repeats = lambda: far_series([residual(c) for c in all_], why)  # noqa: E731
    claim = "moves from chaotic to periodic with decreasing clearance"
    quantity = "rms change of the deviation of G from a period to the next, as a share"
    yield row("conclusion", case, quantity, "", repeats, claim, FAILS)


def far(x: float, least: float, why: str) -> Found:
    """A measure of irregular motion, and whether it is above what a periodic one may have."""
    return Found(x, why if x < least else "", holds=x >= least)


def far_series(values: list[float], why: str) -> Found:
    """Measures over the clearances: irregular for large and periodic for small ones, or not."""
    rounded = [float(f"{x:.3g}") for x in values]
    return Found(rounded, why, holds=values[-1] > 1e-2 > values[0])


def growing_exponents(keys: tuple[tuple[float, int | None], ...]) -> Found:
    """The largest exponents of some runs, and whether they grow."""
    return growing([exponent(c, group)[0] for c, group in keys], "within their errors they do not depend on it")


def exponents() -> Iterator[Row]:
    """Figures 8, 9 and 11: the largest exponents over clearances and speeds."""
    sets: tuple[tuple[str, tuple[float, ...], tuple[int | None, ...]], ...] = (
        ("figure 8", CLEARANCES, (0,)),
        ("figure 9", (0.5,), (0, 1, 2, 3, 4)),
        ("figure 11", VARIABLE, (None,)),
    )
    claim = "the largest exponent is above zero"
    for item, cs, groups in sets:
        for c, group in itertools.product(cs, groups):
            window = [PERIOD, 2 * PERIOD]
            compute = functools.partial(positive, c, group)
            yield row(item, case_of(c, group, window), "largest exponent", "1/s", compute, claim, FAILS)
    for c, known in KNOWN.items():
        value = lambda c=c: positive(c)._replace(holds=None)  # noqa: E731
        quantity = "largest exponent beside the reference"
        yield row("figure 8", case_of(c, 0, [PERIOD, 2 * PERIOD]), quantity, "1/s", value, None, known[6], 3.0)
    for item, claim, keys in (
        ("figure 8", "the largest exponent grows with c", [(c, 0) for c in CLEARANCES]),
        ("figure 9", "the largest exponent grows with the speed of link 1", [(0.5, k) for k in range(5)]),
        ("figure 11", "the largest exponent grows with c", [(c, None) for c in VARIABLE]),
    ):
        grow = functools.partial(growing_exponents, tuple(keys))
        cs = tuple(dict.fromkeys(c for c, _ in keys))
        case = {"clearances": [1e-3 * c for c in cs], "window": [PERIOD, 2 * PERIOD]}
        yield row(item, case, "largest exponents", "1/s", grow, claim)

    def sensitive() -> Found:
        value, error = exponent(0.5)
        text = f"a small separation changes by a factor of exp({value:.3g} * 36 s) in a period"
        return Found(value, text, holds=value > 3 * error)

    quantity, claim = "rate at which neighbouring motions separate", "extremely sensitive to the start"
    yield row("section 3.1", case_of(0.5, 0, [PERIOD, 2 * PERIOD]), quantity, "1/s", sensitive, claim, FAILS)


def speeds() -> Iterator[Row]:
    """The groups of Table 3 and the variable speeds; c = 0.5 mm."""
    names = range(len(library.WU_2017_SPEEDS))
    reads: tuple[tuple[str, str, Callable[[Play], float], str], ...] = (
        ("largest deviation of G", "mm", lambda x: x.largest(WHOLE), "the precision of the position falls with speed"),
        ("largest difference of the velocity of G", "mm/s", Play.fastest, "that of the velocity falls with speed"),
    )
    for quantity, unit, read, claim in reads:
        compute = lambda read=read: growing([read(played(0.5, k)) for k in names])  # noqa: E731
        case = {"clearances": [5e-4], "speeds": [list(x) for x in library.WU_2017_SPEEDS], "window": WHOLE}
        yield row("section 3.2", case, quantity, unit, compute, claim)
    missing = "AC, M10 and the values of the figure; ours is for the assumed ones"
    for c in VARIABLE:
        compute = lambda c=c: Found(played(c, None).largest(), played(c, None).outcome)  # noqa: E731
        yield row("figure 11", case_of(c, None), "largest deviation of G", "mm", compute, missing=missing)
    steps = lambda: WINDOW / played(0.5).steps  # noqa: E731
    yield row("table 2", {}, "step size, ours in the mean", "s", steps, 0.1, note="it can only be that of the output")


def histories() -> Iterator[tuple[str, Dataset]]:
    """The deviation of G (mm) over time, for the clearances of the reference and at the variable speeds."""
    from xarray import Dataset

    runs = {f"wu2017_c_{c:.2f}_mm": played(c) for c in KNOWN} | {"wu2017_equation_7_c_0.50_mm": played(0.5, None)}
    said = {"units": "mm", "long_name": "deviation of G across the ideal bar"}
    for name, found in runs.items():
        time = ("time", found.time, {"units": "s"})
        yield name, Dataset({"deviation": ("time", found.deviation, said)}, {"time": time})


def rows() -> Iterator[Row]:
    """All comparisons with play."""
    yield from references()
    yield from statements()
    yield from speeds()
    yield from exponents()
