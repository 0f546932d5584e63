"""Balancing against closed forms over many random mechanisms, and fronts against differential evolution."""

import math

import numpy as np
import pytest

import jointplay as jp
from jointplay import balancing
from jointplay.balancing import motion
from jointplay.balancing.adjust import Space, adjustables
from jointplay.balancing.descent import Square, front
from jointplay.papers import _coelho_arms as arms
from jointplay.statics import assemble
from tests.balancing.pictures import made


def changed(system, mechanism):
    """A system with the numbers of another mechanism of the same structure."""
    old = system.given.addresses()
    return system.with_({a: x for a, x in mechanism.addresses().items() if old[a] != x})


def test_coupling_of_100_random_arms(record):
    """(82) to (86) and (90) from modules, relative to the largest term of each kind."""
    random, worst = np.random.default_rng(11), 0.0
    system = jp.System(arms.rr(**arms.numbers(random)))
    for i in range(100):
        given = arms.numbers(random, balanced=i % 2 == 0)
        angles = tuple(float(x) for x in random.uniform(-3, 3, 2))
        here = changed(system, arms.rr(angles=angles, **given))
        found = jp.reduced(here, independent=["rr.J1", "rr.J2"])
        wanted = arms.arm_terms(given, angles[0], angles[1] - angles[0])
        inertia, weight = np.abs(wanted["M"]).max(), 9.81 * sum(given["masses"]) * sum(given["lengths"])
        for key, size in (("M", inertia), ("D", inertia), ("z", weight)):
            worst = max(worst, float(np.abs(found[key].values - wanted[key]).max()) / size)
    good = worst < 1e-10
    record(item="RR_ coupled from modules, 100 random", quantity="largest relative difference from (82)-(86), (90)",
           unit="", ours=worst, reference=0.0, verdict="agrees" if good else "differs")  # fmt: skip
    assert good


def test_coupling_of_100_random_five_bars(record):
    """C_hat (97) and the corrected (98) to (101)."""
    random, worst, system = np.random.default_rng(12), {"C_hat": 0.0, "u": 0.0}, None
    for i in range(100):
        mechanism, angles, both = arms.random_arms(random, balanced=i % 2 == 0)
        system = jp.System(mechanism) if system is None else changed(system, mechanism)
        found, terms, hat = arms.coupled(system, assemble(system), angles, both)
        worst["C_hat"] = max(worst["C_hat"], float(np.abs(found.C_hat.values - hat).max() / np.abs(hat).max()))
        p, dp = random.normal(size=(2, 4))
        parts = terms["M"] @ dp, np.einsum("krs,r,s->k", terms["D"], p, p), terms["z"]
        ours = found.M.values @ dp + np.einsum("krs,r,s->k", found.D.values, p, p) + found.z.values
        size = max(float((np.abs(hat.T) @ np.abs(part)).max()) for part in parts)
        worst["u"] = max(worst["u"], float(np.abs(ours - hat.T @ sum(parts)).max()) / size)
    for what, off in worst.items():
        record(item="5R coupled from modules, 100 random", quantity=f"largest relative difference of {what}", unit="",
               ours=off, reference=0.0, verdict="agrees" if off < 1e-10 else "differs")  # fmt: skip
    assert max(worst.values()) < 1e-10


def crank_rocker(random):
    """A random four-bar whose crank turns."""
    while True:
        lengths = random.uniform((0.08, 0.3, 0.2, 0.3), (0.12, 0.45, 0.35, 0.45))
        short, long = min(lengths), max(lengths)
        if short == lengths[0] and short + long < 0.95 * (sum(lengths) - short - long):
            break
    centres = [(l * random.uniform(0.2, 0.8), random.uniform(-0.05, 0.05)) for l in lengths[:3]]
    masses = random.uniform(0.2, 2.0, 3)
    inertias = [m * l * l / 12 for m, l in zip(masses, lengths, strict=False)]
    made = jp.library.four_bar(lengths.tolist(), masses.tolist(), inertias, 0.3, centres=centres)
    drive = {"kind": "angle", "of": "crank", "motion": {"kind": "constant_speed", "speed": 10.0, "start": 0.3}}
    return made.replace(drives={"motor": drive}, gravity=(0.0, 0.0))


@pytest.mark.parametrize("seed", range(10))
def test_no_point_of_a_front_is_dominated(seed, record):
    """Differential evolution under the same limit of the force finds nothing more than 1 % better."""
    from scipy.optimize import differential_evolution

    random = np.random.default_rng(seed)
    mechanism = crank_rocker(random)
    moved = motion(mechanism, np.linspace(0, math.tau / 10, 60, endpoint=False))
    text = "crank:radius=80mm,mass<=3kg,rocker:radius=80mm,mass<=5kg"
    space = Space(mechanism, adjustables(mechanism, text))
    against = ("moment", "torque", "bearing")[seed % 3]
    first, second = Square.of(space, moved, "force"), Square.of(space, moved, against)
    gain = 0.0
    points = front(space, first, second, 6)
    for point in points[:: max(1, len(points) // 2)]:
        limit, ours = first(point), second(point)

        def cost(s, limit=limit):
            return second(s) + 1e3 * max(0.0, math.sqrt(first(s)) - math.sqrt(limit) - 1e-4)

        box = list(zip(space.low, space.high, strict=True))
        run = differential_evolution(cost, box, seed=seed, maxiter=80, popsize=10, tol=1e-10)
        if first(run.x) <= limit * 1.01 + 1e-6:
            gain = max(gain, 1 - math.sqrt(second(run.x) / ours))
    good = gain < 0.01
    record(item=f"trade-off force/{against}", quantity="gain of differential evolution over the front", unit="",
           ours=gain, reference="< 0.01", verdict="agrees" if good else "differs", )  # fmt: skip
    assert good


def test_a_balanced_mechanism_keeps_its_balance(record):
    """A free run of a balanced four-bar with ideal joints, and with 0.1 mm of play."""
    found = balancing.balance(crank_rocker(np.random.default_rng(4)), "force", "crank:radius=80mm,rocker:radius=80mm")
    free = found.mechanism.replace(drives={})
    run = jp.simulate(free, until=1.0, start={"crank.rate": 10.0})
    before = jp.simulate(found.given.replace(drives={}), until=1.0, start={"crank.rate": 10.0})
    left, was = (float(balancing.shaking(r).force.max()) for r in (run, before))
    record(item="balanced four-bar, free run", quantity="largest shaking force over that unbalanced", unit="",
           ours=left / was, reference=0.0, verdict="agrees" if left < 1e-9 * was else "differs")  # fmt: skip
    assert left < 1e-9 * was
    loose = found.mechanism.loosen("J2", "0.1 mm", journal_radius="5 mm")
    play = balancing.shaking(jp.simulate(loose, until=0.5, stepper=jp.MoreauJean(1e-5), every=1e-3))
    assert 1e-3 * was < float(play.force.max())


def test_what_manufacture_and_play_leave_of_a_balance(record):
    """Variances of the masses add up in the shaking force, which is linear in them; play has no such form."""
    found, study = made(2048)
    heavy = [address for address in found.mechanism.addresses() if address.endswith(".mass")]
    alone = [found.moved.of(found.mechanism.with_({a: 1.01 * found.mechanism.value(a)})) for a in heavy]
    expected = sum(one["shaking_force_rms"] ** 2 for one in alone) ** 0.5
    ours = float((study.shaking_force_rms**2).mean()) ** 0.5
    item = "four-bar, balanced, masses made to 1 %"
    good = abs(ours / expected - 1) < 0.03
    verdict = "agrees" if good else "differs"
    record(item=item, quantity="rms shaking force, 2,048 machines", unit="N", ours=ours, reference=expected,
           verdict=verdict)  # fmt: skip
    for percent in (50, 95):
        left = float(study.shaking_force_peak.quantile(percent / 100))
        quantity = f"largest shaking force, P{percent}, beside that before balancing"
        record(item=item, quantity=quantity, unit="N", ours=left, reference=found.before["shaking_force_peak"],
               verdict="remark")  # fmt: skip
    assert good
    run = jp.simulate(found.mechanism.loosen("J2", "0.1 mm", journal_radius="5 mm"), until=0.7,
                      stepper=jp.MoreauJean(2e-5), every=1e-3)  # fmt: skip
    play = float(balancing.shaking(run).force.max())
    quantity = "largest shaking force, beside that with ideal joints"
    record(item="four-bar, balanced, 0.1 mm of play in J2", quantity=quantity, unit="N", ours=play,
           reference=found.after["shaking_force_peak"], verdict="remark")  # fmt: skip
    assert play > 1.0
