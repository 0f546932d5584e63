"""Nonlinear analysis against known exponents, the exact impact map, signals of known kind, and two of the papers."""

import math

import numpy as np
import pytest

import jointplay as jp
from jointplay.analysis import Strobe, bifurcation, exponent, exponents, periodic_orbit, rosenstein, textbook
from jointplay.model import library
from jointplay.papers.akhadkar2016 import Case
from tests.analysis import blind
from tests.analysis.impact_map import ImpactMap
from tests.analysis.signals import chaotic, regular, sampled

FINE = jp.RungeKutta(rtol=1e-7, max_step=1e-3)
TOLERANCES = 2.4e-6  # mm: by which G differs between two tolerances, of the reference page


def told(record, item, quantity, ours, reference, good, unit="1/s"):
    record(
        item=item,
        quantity=quantity,
        unit=unit,
        ours=ours,
        reference=reference,
        verdict="agrees" if good else "differs",
    )
    assert good, (item, quantity, ours, reference)


def test_lorenz(record):
    pair, alone = (textbook.lorenz(lanes=n) for n in (2, 1))
    for thing in (pair, alone):
        thing.advance(30.0)
    two = exponent(pair, 4000.0, 0.5)
    told(record, "Lorenz", "largest exponent, two trajectories", two.value, 0.9056, abs(two.value - 0.9056) < 0.009056)
    whole = exponents(alone, 20_000.0)
    told(
        record, "Lorenz", "largest exponent, tangent vectors", whole[0].value, 0.9056,
        abs(whole[0].value - 0.9056) < 0.009056,
    )  # fmt: skip
    total, reference = sum(one.value for one in whole), -(10 + 1 + 8 / 3)
    told(record, "Lorenz", "sum of the exponents", total, reference, abs(total / reference - 1) < 1e-6)
    series = sampled(textbook.lorenz(step=0.01), 0.05, 98.7, 0, "Lorenz")
    found = rosenstein(series).slope
    told(record, "Lorenz", "from 4,000 samples", found, 0.9056, abs(found / 0.9056 - 1) < 0.1)


@pytest.mark.parametrize(
    ("name", "thing", "steps", "reference", "off"),
    [
        ("logistic map, r = 4", textbook.logistic, 1e6, math.log(2), 1e-3),
        ("Henon", textbook.henon, 1e6, 0.419, 1.5e-3),
        ("Roessler", textbook.roessler, 50_000.0, 0.0714, 2e-3),
    ],
)
def test_known_exponents(record, name, thing, steps, reference, off):
    made = thing()
    made.advance(200.0)
    ours = exponents(made, steps, 1)[0].value
    told(record, name, "largest exponent", ours, reference, abs(ours - reference) < off)


def test_no_false_alarm(record):
    right, alarms = 0, []
    for name, kind, period, series in regular():
        found = jp.verdict(series)
        right += found.verdict == kind and (period is None or abs(found.period / period - 1) < 1e-3)
        alarms += [name] if found.verdict == "chaotic" else []
    told(record, "40 regular signals with impacts", "called chaotic", len(alarms), 0, not alarms, "")
    told(record, "40 regular signals with impacts", "named rightly", right, 40, right >= 34, "")


@pytest.mark.parametrize(("trial", "signals"), [("first", blind.regular), ("second", blind.second)])
def test_no_false_alarm_of_other_families(record, trial, signals):
    said = [(kind, jp.verdict(series).verdict) for kind, series in signals()]
    alarms, right = sum(found == "chaotic" for _, found in said), sum(kind == found for kind, found in said)
    item = f"40 regular signals of the {trial} blind trial"
    told(record, item, "called chaotic", alarms, 0, not alarms, "")
    told(record, item, "kind named rightly", right, 40, right >= 34, "")


def test_chaos_from_series(record):
    said = {series.name: jp.verdict(series).verdict for series in chaotic()}
    count = list(said.values()).count("chaotic")
    told(record, "4 chaotic systems", "chaotic from 4,000 samples", count, 4, count >= 3, "")
    assert "periodic" not in said.values()


@pytest.mark.parametrize(
    ("name", "make", "options"),
    [
        ("Lorenz", lambda fine: textbook.lorenz(step=5e-3 / fine, lanes=2), {"until": 300.0}),
        ("Roessler", lambda fine: textbook.roessler(step=2e-2 / fine, lanes=2), {"until": 4000.0}),
        (
            "impact oscillator",
            lambda fine: textbook.impact_oscillator(steps=64 * fine, lanes=2),
            {"period": 2 * math.pi / 2.8, "periods": 500},
        ),
        ("double pendulum", lambda fine: textbook.double_pendulum(step=4e-3 / fine, lanes=2), {"until": 400.0}),
    ],
)
def test_chaos_from_the_model(record, name, make, options):
    found = jp.verdict(make, **options)
    good = found.verdict == "chaotic" and found.exponent > 3 * found.exponent_error
    told(record, name, "verdict from the model", found.headline(), "chaotic", good, "")


def test_the_impact_oscillator_and_its_map(record):
    exact = ImpactMap(2.8, 0.8)
    t, v = exact.strike(0.0, -0.5, 0.0)
    direction, total, begin = np.array([1.0, 0.0]), 0.0, None
    for i in range(3000):
        if i == 100:
            begin, total = t, 0.0
        direction = exact.jacobian(t, v, 1e-7) @ direction
        total += math.log(np.linalg.norm(direction))
        direction /= np.linalg.norm(direction)
        t, v = exact.next(t, v)
    reference = total / (t - begin)
    ours = exponents(textbook.impact_oscillator(2.8), 8000.0)[0]
    good = abs(ours.value - reference) < 4 * ours.error
    told(record, "impact oscillator, 2.8 rad/s", "largest exponent, by its exact map", ours.value, reference, good)
    values = np.linspace(2.6, 2.72, 25)

    def make(lanes):
        return Strobe(textbook.impact_oscillator(**lanes[0]), 2 * math.pi / lanes[0]["frequency"])

    found = bifurcation(make, "frequency", values, "v", keep=40, skip=600, lanes=1)
    last = values[np.flatnonzero(found.period.values[0] == 1)[-1]]
    doubling = crossing(values)
    good = abs(last - doubling) < values[1] - values[0]
    told(record, "impact oscillator", "last frequency of period 1", float(last), doubling, good, "rad/s")


def crossing(values):
    """The frequency at which a multiplier passes -1: both have the product 0.64, so their sum is -1.64 there."""
    sums = []
    for frequency in values[:12:4]:
        strobe = Strobe(textbook.impact_oscillator(frequency), 2 * math.pi / frequency)
        strobe.step(200)
        sums.append(periodic_orbit(strobe).multipliers.sum().real)
    return (
        float(np.interp(1.64, -np.array(sums), values[:12:4], right=np.nan))
        if -sums[-1] > 1.64
        else float(np.polyval(np.polyfit(sums, values[:12:4], 2), -1.64))
    )


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("c", "reference"), [(0.10, -10.4), (0.50, -12.5), (0.75, -13.3)])
def test_paper_002_is_periodic(record, c, reference):
    mechanism = library.wu_2017(clearance=1e-3 * c, contact=library.wu_2017_contact())
    found = jp.verdict(mechanism, periods=6, settle=36.0, stepper=FINE)
    item = f"Wu et al. 2017, c = {c} mm"
    good = found.exponent < 0 and abs(found.exponent - reference) < 3
    told(record, item, "largest exponent", found.exponent, reference, good)
    periodic = (found.verdict, round(found.period or 0, 6)) == ("periodic", 36.0)
    told(record, item, "verdict", found.headline(), "periodic, 36 s", periodic, "")
    finer = 450 * found.details["finer"]["link3.angle"]  # G is 450 mm from the pin of its link
    middle = float(np.median(finer))
    name = "change of G by a tighter tolerance"
    told(record, item, f"{name}, middle phase", middle, TOLERANCES, middle < TOLERANCES, "mm")
    most = float(finer.max())
    told(record, item, f"{name}, where it is most", most, "far below 0.1, chaotic", most < 0.01, "mm")


@pytest.mark.timeout(1200)
def test_paper_002_with_a_tenth_of_the_damping_is_chaotic(record):
    speed = math.radians(50)
    mechanism = library.wu_2017((speed, speed), clearance=5e-4, contact=library.wu_2017_contact())
    mechanism = mechanism.with_({"P.normal.damping": 5.8e3})
    found = jp.verdict(mechanism, periods=100, settle=14.4, stepper=FINE, signal="link3.angle")
    item = "Wu et al. 2017, c = 0.5 mm, Cmax x 0.1, 50 deg/s"
    told(record, item, "verdict", found.headline(), "chaotic", found.verdict == "chaotic", "")
    told(record, item, "largest exponent", found.exponent, 13.0, found.exponent > 5)
    told(record, item, "drive periods of 7.2 s covered", found.periods_covered, 100.0, found.periods_covered >= 100, "")
    spread = 450 * found.details["strobed"]["link3.angle"]
    most, middle = float(spread.max()), float(np.median(spread))
    told(record, item, "spread of G once a period, where it is most", most, 0.075, 0.02 < most < 0.5, "mm")
    told(record, item, "spread of G once a period, middle phase", middle, TOLERANCES, middle > 10 * TOLERANCES, "mm")
    [chaotic_part] = [one for one in found.evidence if one.indicator.startswith("what is chaotic")]
    told(record, item, "what is chaotic", chaotic_part.says, "the chatter in the bore",
         "slider.angle.rate" in chaotic_part.says and found.details["spreads"]["link3.angle"] < 1e-3, "")  # fmt: skip


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("law", "kind"), [("tau2", "chaotic"), ("tau5", "periodic")])
def test_paper_000(record, law, kind):
    mechanism = library.crank_rocker_2016(3e-3, 3e-3, friction=0.1)
    found = jp.verdict(
        mechanism, control=Case(law).control(), stepper=jp.MoreauJean(2e-5, order=1), start={"crank": 1.571},
        reclose=True, periods=120 if law == "tau2" else 12,
    )  # fmt: skip
    good = found.verdict == kind and (kind == "chaotic" or found.period == pytest.approx(8 / 3))
    told(record, f"Akhadkar et al. 2016, {law}", "verdict", found.headline(), kind, good, "")
    if kind == "chaotic":
        above = found.exponent / found.exponent_error
        told(record, f"Akhadkar et al. 2016, {law}", "exponent over its error bar", above, 3.0, above > 3, "")
