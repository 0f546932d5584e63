"""Akhadkar, Acary, Brogliato: Analysis of Collocated Feedback Controllers for Four-Bar Planar Mechanisms with Joint
Clearances, Multibody System Dynamics 38 (2016) 101-136.

Tables 4 to 6, the deviation e of equation 16, open loop and the non-collocated controller.  Every run starts 90 degrees
from its reference, so that maxima are over 1 to 10 s; J2 is the open joint where one is; restitution is 0 unless said.
The tables do not tell their friction: 0.1 and 0 are computed.  References are those of the project, from another code
in the angles of the links; ours are in body coordinates.  Ideal joints are computed by Runge-Kutta.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import InputError
from ..model import library
from ..model.control import Control, open_loop, use
from ..model.motions import sine
from ..parallel import OnProgress, each
from ..results import deviation
from ..simulation import MoreauJean, RungeKutta, simulate
from . import Record, verdict

if TYPE_CHECKING:
    from xarray import Dataset

STEP = 1e-5  # s: of the paper and of the references
FINE = RungeKutta(1e-10, 1e-12)
SETTLED = 1.0  # s
IDEAL, ONE, TWO, WIDE = (0.0, 0.0), (3.0, 0.0), (3.0, 3.0), (5.0, 5.0)  # mm: play of J2, J3
LAWS = {
    "tau3": ("pd", ("k1", "k2")),
    "tau4": ("pd_tracking", ("k1", "k2")),
    "tau5": ("feedback_linearisation", ("k1", "k2")),
    "tau6": ("passivity_based", ("k", "slope")),
}
GAINS = {"tau6": (200.0, 10.0)}  # K, Lambda; the others have K1, K2 = 2000, 200

# What is printed, as printed: half a unit of the last digit is what it may be off.
TABLE_4 = {
    (2000.0, 200.0): (("1.34", "818.29", 0.362), (200.0, 10.0), ("1.3", "724.45", 0.672)),
    (500.0, 100.0): (("2.94", "782.59", 0.774), (100.0, 5.0), ("2.87", "604.47", 1.146)),
    (100.0, 50.0): (("9.8", "697.69", 9.455), (50.0, 2.0), ("9.21", "511.39", 8.877)),
}
# frequency/pi: errors of tau5, tau6 with ideal joints and with play, then the torques
TABLE_5 = {
    1.5: (("0.004", "0.004", "3.16", "3.2"), ("2.3e3", "2.3e3", "3.6e3", "2.3e3"), 0.00224, 2308.0),
    4.0: (("0.005", "0.005", "5.86", "6.0"), ("1.6e4", "1.5e4", "1.7e4", "1.5e4"), None, 1.642e4),
    10.0: (("0.014", "0.016", "11.6", "12.4"), ("9.3e4", "9.2e4", "9.8e4", "9.4e4"), None, 1.027e5),
    50.0: (("0.176", "0.221", "126.7", "135.9"), ("1.1e6", "8.4e5", "1.32e6", "9.1e5"), None, 2.57e6),
}
# law: ideal, one and two clearances as printed; references: ideal, then one and two for friction 0.1 and 0
TABLE_6: dict[str, dict[str, tuple[tuple[str, str, str], float | None, dict[float, tuple[float, float]]]]] = {
    "crank_rocker_2016": {
        "tau3": (("82.5", "84.2", "85.2"), 82.544, {0.1: (82.584, 82.587), 0.0: (82.540, 82.533)}),
        "tau4": (("2.98", "5.68", "6.68"), 3.987, {0.1: (4.026, 4.060), 0.0: (3.978, 3.971)}),
        "tau5": (("0.003", "0.7", "1.2"), 0.0024, {0.1: (0.2221, 0.2908), 0.0: (0.1542, 0.1825)}),
        "tau6": (("0.003", "0.66", "1.12"), 0.0041, {0.1: (0.3524, 0.4845), 0.0: (0.2526, 0.3486)}),
    },
    "crank_crank_2016": {
        "tau3": (("103.3", "105.22", "106.92"), 103.341, {}),
        "tau4": (("25.4", "27.32", "29.02"), 25.464, {}),
        "tau5": (("0.004", "0.73", "1.31"), 0.0025, {}),
        "tau6": (("0.004", "0.68", "1.22"), 0.0044, {}),
    },
    "rocker-rocker": {
        "tau3": (("34.57", "36.07", "37.07"), None, {}),
        "tau4": (("1.79", "3.29", "4.29"), None, {}),
        "tau5": (("0.003", "0.67", "1.26"), None, {}),
        "tau6": (("0.003", "0.61", "1.19"), None, {}),
    },
}
# law, play of J2 (mm): e1, e3 (%) for friction 0 and 0.1; then law, play of both: e
DEVIATIONS = {
    ("tau4", 1.0): ((0.0289, 0.0515), (0.0610, 0.1253)),
    ("tau4", 3.0): ((0.0858, 0.1547), (0.1050, 0.2114)),
    ("tau4", 5.0): ((0.1427, 0.2587), (0.1526, 0.2997)),
    ("tau5", 1.0): ((0.0173, 0.0513), (0.0454, 0.1291)),
    ("tau5", 3.0): ((0.0449, 0.1550), (0.0646, 0.2176)),
    ("tau5", 5.0): ((0.0694, 0.2591), (0.0795, 0.3072)),
}
BOTH = {
    ("tau4", 1.0): (0.1026, 0.1750),
    ("tau5", 1.0): (0.1033, 0.1807),
    ("tau4", 3.0): (0.3101, 0.3505),
    ("tau5", 3.0): (0.3081, 0.3573),
    ("tau4", 5.0): (0.5167, 0.5331),
    ("tau5", 5.0): (0.5107, 0.5365),
}
# play of J2 (mm), friction: e1, e3 (%) of tau1 over 1 to 3 s, for steps -> 0
OPEN_LOOP = {
    (1.0, 0.0): [0.0955, 0.312],
    (5.0, 0.0): [0.479, 1.571],
    (1.0, 0.1): [4.905, 21.82],
    (5.0, 0.1): [5.253, 23.57],
}
SOFTNESS = (1e-4, 1e-2, 1.0)  # of the model of tau7 where the rocker does not tell the crank

SAME = "the printed increments of tau3 and tau4 over ideal joints are the same, which no simulation would give"
PLAY = f"does not reproduce: two other contact solvers agree with ours; {SAME}"
PLAYS = "does not reproduce, like the clearance columns of Table 6"
TRANSIENT = "what is left at 1 s of the start, 90 degrees off"
PEAK = "does not reproduce: ours is the largest of all steps, at a re-contact; "
STEPS = (
    "the paper's is a step error, which depends on the coordinates: Moreau-Jean with h = 1e-5 s gives {0:.3g} in body "
    "coordinates, where reactions are directed as at the end of a step and torques are those of its beginning{1}"
)

record = functools.partial(Record, "akhadkar2016")


@dataclass(frozen=True)
class Case:
    """One run; plays in mm, frequency in pi rad/s, step in s (none: Runge-Kutta)."""

    law: str
    plays: tuple[float, float] = IDEAL
    friction: float = 0.1
    mechanism: str = "crank_rocker_2016"
    frequency: float = 0.75
    gains: tuple[float, float] | None = None
    step: float | None = STEP
    restitution: float = 0.0
    until: float = 10.0
    softness: float = 0.0  # tau7

    def control(self) -> Control:
        """Its control loop."""
        if self.law in ("tau1", "tau2"):
            return open_loop("crank", feedforward=6.0 if self.law == "tau1" else sine(9.0, 0.75 * math.pi))
        name, keys = LAWS["tau6" if self.softness else self.law]
        gains = self.gains or GAINS.get(self.law, (200.0, 10.0) if self.softness else (2000.0, 200.0))
        options: dict[str, Any] = dict(zip(keys, gains, strict=True))
        if self.softness:
            options |= {"sensors": ["rocker"], "regularisation": self.softness}
        return use(name, "crank", sine(6.0, self.frequency * math.pi), settled=SETTLED, **options)

    def twin(self) -> Case:
        """The same with ideal joints, whose friction and restitution are nothing."""
        return replace(self, plays=IDEAL, friction=0.0, restitution=0.0)


class Found(NamedTuple):
    """What a run gives: largest error (deg) and torque (N m) over all steps from 1 s on, and how it ended."""

    error: float
    torque: float
    end: str
    last: float  # rad: the crank's angle at the end


def motion(case: Case, every: float = 1e-3) -> Dataset:
    """The run of a case, sampled so often (s)."""
    made = getattr(library, case.mechanism)
    first, second = (1e-3 * x for x in case.plays)
    mechanism = made(first, second, friction=case.friction, restitution=case.restitution)
    stepper = FINE if case.step is None else MoreauJean(case.step)
    return simulate(mechanism, case.until, stepper, every=every, strict=False, control=case.control())


def tracking(case: Case) -> Found:
    """Largest error and torque of a case."""
    run = motion(case, 1e-2 if case.step else 1e-3)  # adaptive steps may leap over a peak, samples do not
    error = math.degrees(float(run["error_max"].max())) if "error_max" in run else math.nan
    last = float(run["angle"].sel(body="crank")[-1])
    return Found(error, float(run["control_max"].max()), str(run.attrs["outcome_text"]), last)


@functools.lru_cache(4)
def alongside(case: Case) -> Dataset:
    """The run of an ideal twin, kept for the cases that are compared with it."""
    return motion(case)


def deviations(case: Case) -> tuple[float, float]:
    """e1 and e3 of equation 16 (%)."""
    e1, e3 = deviation(motion(case), alongside(case.twin()), SETTLED).sel(body=["crank", "rocker"]).values
    return float(e1), float(e3)


def half(printed: str) -> float:
    """Half a unit of the last digit of a printed number.

    >>> half("82.5"), half("2.3e3")
    (0.05, 50.0)
    """
    exponent = Decimal(printed).as_tuple().exponent
    assert isinstance(exponent, int)
    return 0.5 * 10.0**exponent


def cell(
    item: str, case: Mapping[str, Any], quantity: str, unit: str, printed: str | None, reference: float | None,
    computed: float, share: float, why: str = "",
) -> Record:  # fmt: skip
    """A cell of a table; share: of the reference that ours may be off; why: told where the paper is not met."""
    paper = None if printed is None else float(printed)
    off = half(printed) if printed else 0.0
    close = share * abs(reference) if reference is not None else 0.0
    said = verdict(computed, paper, reference, off, close)
    told = said if said.startswith("reproduces") or not why else f"{said} ({why})"
    return record(item, case, quantity, unit, paper, reference, computed, told)


def shown(mechanism: str) -> str:
    """A mechanism's name as in the paper."""
    return mechanism.removesuffix("_2016").replace("_", "-")


# -- Table 6
def six(frictions: Sequence[float]) -> dict[str, Case]:
    """The runs of Table 6 by their names."""
    found = {}
    for mechanism in list(TABLE_6)[:2]:
        for law in LAWS:
            found[f"{mechanism} {law} fine"] = Case(law, mechanism=mechanism, step=None)
            found[f"{mechanism} {law} steps"] = Case(law, mechanism=mechanism)
            for mu in frictions:
                for plays in (ONE, TWO):
                    found[f"{mechanism} {law} {plays} {mu}"] = Case(law, plays, mu, mechanism)
    return found


def table_6(progress: OnProgress | None = None, frictions: Sequence[float] = (0.1, 0.0)) -> Iterator[Record]:
    """Largest tracking errors of tau3 to tau6 in three mechanisms."""
    cases = six(frictions)
    found = dict(zip(cases, each(tracking, cases.values(), progress), strict=True))
    for mechanism, laws in TABLE_6.items():
        for law, (printed, reference, others) in laws.items():
            head = functools.partial(cell, "Table 6", quantity="largest tracking error", unit="deg")
            at: dict[str, Any] = {"mechanism": shown(mechanism), "law": law}
            if mechanism == "rocker-rocker":
                said = verdict(None, missing="the geometry of the rocker-rocker")
                for plays, text in zip((IDEAL, ONE, TWO), printed, strict=True):
                    case = at | {"c2, c3/mm": list(plays)}
                    yield record("Table 6", case, "largest tracking error", "deg", float(text), None, None, said)
                continue
            steps = found[f"{mechanism} {law} steps"].error
            why = {"tau4": "2.98 seems a misprint for 3.98: the text says +-4 degrees"} if "rocker" in mechanism else {}
            told = why.get(law, TRANSIENT if law in ("tau5", "tau6") else "")
            told += ("; " if told else "") + f"Moreau-Jean at h = 1e-5 s: {steps:.4g}"
            share = 0.05 if law in ("tau5", "tau6") else 0.001
            computed = found[f"{mechanism} {law} fine"].error
            case = at | {"c2, c3/mm": list(IDEAL)}
            yield head(case=case, printed=printed[0], reference=reference, computed=computed, share=share, why=told)
            for mu in frictions:
                for k, plays in enumerate((ONE, TWO)):
                    case = at | {"c2, c3/mm": list(plays), "mu": mu}
                    expected = others[mu][k] if mu in others else None
                    computed = found[f"{mechanism} {law} {plays} {mu}"].error
                    why_not = PLAY if expected else f"does not reproduce, as that of the crank-rocker; {SAME}"
                    text = printed[1 + k]
                    yield head(case=case, printed=text, reference=expected, computed=computed, share=0.02, why=why_not)


# -- Table 4
def table_4(progress: OnProgress | None = None) -> Iterator[Record]:
    """Errors and torques of tau5 and tau6 for three pairs of gains, both joints open by 5 mm."""
    rows: list[tuple[Case, tuple[str, str, float]]] = []
    for gains, (five, others, slotine) in TABLE_4.items():
        rows += [(Case("tau5", WIDE, gains=gains), five), (Case("tau6", WIDE, gains=others), slotine)]
    cases = [replace(case, friction=mu) for case, _ in rows for mu in (0.1, 0.0)]
    ideal = [replace(case.twin(), step=None) for case, _ in rows]
    found = each(tracking, [*cases, *ideal], progress)
    for i, (case, (error, torque, reference)) in enumerate(rows):
        for k, mu in enumerate((0.1, 0.0)):
            one, expected = found[2 * i + k], reference if mu else None
            keys = ("K1", "K2") if case.law == "tau5" else ("K", "Lambda")
            at = {"law": case.law, **dict(zip(keys, case.gains or (), strict=True)), "mu": mu}
            yield cell("Table 4", at, "largest tracking error", "deg", error, expected, one.error, 0.02, PLAYS)
            why = f"{PEAK}with ideal joints {found[12 + i].torque:.1f}"
            yield cell("Table 4", at, "largest torque", "N m", torque, None, one.torque, 0.0, why)
    tops = [one.torque for one in found[12:]]
    computed, expected_tops = [min(tops), max(tops)], [575.7, 587.5]
    said = verdict(computed, None, expected_tops, reference_tolerance=0.5)
    quantity = "largest torque, least and most of all gains"
    yield record("Table 4", {"c2, c3/mm": list(IDEAL)}, quantity, "N m", None, expected_tops, computed, said)


# -- Table 5
def table_5(progress: OnProgress | None = None) -> Iterator[Record]:
    """Errors and torques of tau5 and tau6 for faster references, ideal joints and both open by 5 mm."""
    cases: dict[tuple[float, str, str], Case] = {}
    for f in TABLE_5:
        for law in ("tau5", "tau6"):
            ways = {"fine": (IDEAL, None), "h": (IDEAL, STEP), "h/2": (IDEAL, STEP / 2), "play": (WIDE, STEP)}
            ways |= {"play, h/2": (WIDE, STEP / 2)}
            cases |= {(f, law, way): Case(law, x, frequency=f, step=h) for way, (x, h) in ways.items()}
    found = dict(zip(cases, each(tracking, cases.values(), progress), strict=True))
    angles = {4.0: 0.0025, 10.0: 0.0089, 50.0: 0.1757}  # deg: reference for tau5, in the crank angle alone
    for f, (errors, torques, reference, expected_torque) in TABLE_5.items():
        for i, law in enumerate(("tau5", "tau6")):
            at: dict[str, Any] = {"f/pi": f, "law": law}
            ideal, loose = at | {"c2, c3/mm": list(IDEAL)}, at | {"c2, c3/mm": list(WIDE), "mu": 0.1}
            fine, whole, halved = (found[f, law, way] for way in ("fine", "h", "h/2"))
            alone = f", and {angles[f]:g} in the crank angle alone" if law == "tau5" and f in angles else ""
            why = TRANSIENT if f < 4 else STEPS.format(whole.error, alone)
            expected = reference if law == "tau5" else None
            quantity = "largest tracking error"
            yield cell("Table 5", ideal, quantity, "deg", errors[i], expected, fine.error, 0.05, why)
            order = math.log2(whole.error / halved.error)
            note = f"{whole.error:.4g} and {halved.error:.4g} deg, towards {fine.error:.3g}"
            note += "; 9 degrees are not small" if whole.error > 9 and law == "tau6" else ""
            said = verdict(order, None, 1.0, 0.1, note=note)
            quantity = "order of the error of Moreau-Jean, h = 1e-5 s and half of it"
            yield record("Table 5", ideal, quantity, "", None, 1.0, order, said)
            play, finer = found[f, law, "play"], found[f, law, "play, h/2"]
            apart = abs(finer.error - play.error) > 0.1 * play.error
            why = f"{PLAYS}; at half the step {finer.error:.4g}" + (", so not converged" if apart else "")
            yield cell("Table 5", loose, "largest tracking error", "deg", errors[2 + i], None, play.error, 0.0, why)
            why = "does not reproduce: ours grows with the frequency squared, as inertia does; the paper's does not"
            expected = expected_torque if law == "tau5" else None
            yield cell("Table 5", ideal, "largest torque", "N m", torques[i], expected, fine.torque, 0.01, why)
            why = f"{PEAK}at half the step {finer.torque:.4g}"
            yield cell("Table 5", loose, "largest torque", "N m", torques[2 + i], None, play.torque, 0.0, why)


# -- equation 16
def equation_16(progress: OnProgress | None = None) -> Iterator[Record]:
    """Deviations from the ideal twin: contour plots in the paper, without numbers."""
    ways = [(law, (c, 0.0), k, mu) for law, c in DEVIATIONS for k, mu in enumerate((0.0, 0.1))]
    ways += [(law, (c, c), k, mu) for law, c in BOTH for k, mu in enumerate((0.0, 0.1))]
    bouncing = [Case("tau5", plays, restitution=0.9) for plays in (ONE, TWO)]
    plain = [replace(case, restitution=0.0) for case in bouncing]
    found = each(deviations, [*(Case(law, x, mu) for law, x, _, mu in ways), *bouncing, *plain], progress)
    for (law, plays, k, mu), (e1, e3) in zip(ways, found[: len(ways)], strict=True):
        at = {"law": law, "c2, c3/mm": list(plays), "mu": mu}
        if plays[1]:
            yield cell("equation 16", at, "e", "%", None, BOTH[law, plays[0]][k], max(e1, e3), 0.02)
            continue
        for name, expected, e in zip(("e1", "e3"), DEVIATIONS[law, plays[0]][k], (e1, e3), strict=True):
            yield cell("equation 16", at, name, "%", None, expected, e, 0.02)
    for k, (case, off) in enumerate(zip(bouncing, (0.05, 1.0), strict=True)):
        with_, without = max(found[len(ways) + k]), max(found[len(ways) + 2 + k])
        change = 100 * abs(with_ - without) / without
        said = "reproduces" if change <= off else f"differs by {change:.3g}"
        at = {"law": "tau5", "c2, c3/mm": list(case.plays), "mu": 0.1}
        said += f" ({off:g} % at most are expected: the journal hardly rebounds)"
        yield record("equation 16", at, "change of e by restitution 0.9 in place of 0", "%", 0.0, None, change, said)


# -- open loop, and a sensor elsewhere
def statements(progress: OnProgress | None = None) -> Iterator[Record]:
    """What the paper says of tau1, tau2 and tau7."""
    runs = [Case("tau1", (c, 0.0), mu, step=h, until=3.0) for c, mu in OPEN_LOOP for h in (2e-6, 1e-6)]
    found = each(deviations, runs, progress)
    limits = {
        key: [2 * b - a for a, b in zip(found[2 * i], found[2 * i + 1], strict=True)] for i, key in enumerate(OPEN_LOOP)
    }
    for (c, mu), expected in OPEN_LOOP.items():
        at = {"law": "tau1", "c2, c3/mm": [c, 0.0], "mu": mu, "until/s": 3.0}
        said = verdict(limits[c, mu], None, expected, reference_tolerance=0.03 * expected[1])
        yield record("open loop", at, "e1, e3 for h -> 0", "%", None, expected, limits[c, mu], said)
    times = [limits[c, 0.1][1] / limits[c, 0.0][1] for c in (1.0, 5.0)]
    said = "differs: without friction the constant torque moves the rocker almost as if there were no play"
    at = {"law": "tau1", "c2/mm": [1.0, 5.0]}
    quantity, claim = "e3 with friction 0.1 over that without", "friction has hardly any influence"
    yield record("open loop", at, quantity, "", claim, None, times, said)
    steps = (1e-4, 3e-5, 1e-5, 5e-6)
    ends = [one.last for one in each(tracking, [Case("tau2", TWO, step=h) for h in steps], progress)]
    at = {"law": "tau2", "c2, c3/mm": list(TWO), "mu": 0.1, "h/s": list(steps)}
    said = "reproduces: only the sensitivity does, the motion depends on the step"
    yield record("open loop", at, "crank angle after 10 s", "rad", "high sensitivity", None, ends, said)
    pair = [Case("tau6"), Case("tau7", softness=SOFTNESS[0])]
    plays = [Case("tau6", TWO), *(Case("tau7", TWO, softness=x) for x in SOFTNESS)]
    here, there, near, *far = each(tracking, [*pair, *plays], progress)
    at = {"law": "tau7", "c2, c3/mm": list(IDEAL), "regularisation": SOFTNESS[0], "h/s": STEP}
    said = verdict(there.error, None, here.error, 0.02 * here.error, note="with ideal joints tau7 is tau6")
    quantity = "largest tracking error beside that of tau6"
    yield record("non-collocated", at, quantity, "deg", "the same", here.error, there.error, said)
    for softness, one in zip(SOFTNESS, far, strict=True):
        at = {"law": "tau7", "c2, c3/mm": list(TWO), "mu": 0.1, "regularisation": softness}
        error = one.error if one.end.startswith("reached") else None
        worse = error is None or error > 3 * near.error
        said = f"{'reproduces' if worse else 'differs'}: much worse than tau6 with {near.error:.3g} deg"
        said += f" ({one.end}; the crank angle has two values for each rocker angle, and what decides is not printed)"
        yield record("non-collocated", at, "largest tracking error", "deg", 12.0, None, error, said)


TABLES = {4: table_4, 5: table_5, 6: table_6}


def records(
    table: int | None = None, progress: OnProgress | None = None, figure: int | None = None, full: bool = False
) -> Iterator[Record]:
    """All comparisons, or those of one table or figure (full: on the paper's grid); progress: is told how many runs are
    done, and of how many."""
    if figure is not None:
        from . import akhadkar2016_figures

        yield from akhadkar2016_figures.records(figure, full)
        return
    if table is not None and table not in TABLES:
        raise InputError(f"no table {table} of akhadkar2016; there are {', '.join(map(str, TABLES))}")
    parts = (*TABLES.values(), equation_16, statements) if table is None else (TABLES[table],)
    for part in parts:
        yield from part(progress)


def histories() -> Iterator[tuple[str, Dataset]]:
    """The runs of Figures 11, 16 and 19: angles, tracking errors, torques and Lyapunov functions, play of 3 mm."""
    for law in ("tau4", "tau5", "tau6"):
        for joints, plays in (("J2", ONE), ("J2-J3", TWO)):
            yield f"{law}-{joints}", motion(Case(law, plays))
