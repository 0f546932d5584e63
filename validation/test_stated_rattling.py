"""The errors that runs state, beside true ones, where pins rattle: 40 mechanisms drawn at random, none of which was
used to choose the rule (docs/decisions.md).

Slider-cranks, four-bars and Scotch yokes at 50 to 2000 rpm with one to four loose joints of 10 um to 0.5 mm, half to
three turns, at the default tolerance.  Many of these motions are sensitive, and a peak then means little; what counts
is that a run says so.  The true error is the difference to a run at a 64th of the tolerance.  Takes about a minute.
"""

import numpy as np

import jointplay as jp
from jointplay import results
from jointplay.simulation.headlines import last

DRAWN = 40
NOTICED = 1e-3  # of a number: an error that is smaller harms nobody
BODIES = {
    "slider-crank": """
  crank: {{bar: {r:.4g}, mass: {m1:.3g}}}
  rod: {{bar: {l:.4g}, mass: {m2:.3g}}}
  slider: {{mass: {m3:.3g}, inertia: 1e-3, points: {{pin: [0, 0]}}}}""",
    "four-bar": """
  crank: {{bar: 0.1, mass: {m1:.3g}}}
  rod: {{bar: 0.3, mass: {m2:.3g}}}
  rocker: {{bar: {b:.3g}, mass: {m3:.3g}}}""",
    "Scotch yoke": """
  crank: {{bar: 0.1, mass: {m1:.3g}}}
  block: {{mass: {m2:.3g}, inertia: 1e-4, points: {{pin: [0, 0]}}}}
  yoke: {{mass: {m3:.3g}, inertia: 1e-2, points: {{pin: [0, 0]}}}}""",
}
JOINTS = {
    "slider-crank": ("crank.end, rod.start", "rod.end, slider.pin", "prismatic, between: [ground.O, slider.pin]"),
    "four-bar": ("crank.end, rod.start", "rod.end, rocker.end", "revolute, between: [ground.Q, rocker.start]"),
    "Scotch yoke": ("crank.end, block.pin", "", "prismatic, between: [ground.O, yoke.pin]"),
}
STARTS = {
    "slider-crank": "rod: 0, slider: 0",
    "four-bar": "rod: 40 deg, rocker: 80 deg",
    "Scotch yoke": "block: 0, yoke: 0",
}


def drawn(rng):
    """A mechanism and how long it runs (s)."""
    kind = str(rng.choice(list(BODIES)))
    rebound, friction = rng.choice([0.0, 0.3, 0.5, 0.7, 0.9]), rng.choice([0.0, 0.05, 0.1, 0.3])
    contact = f"contact: {{kind: rigid, restitution: {rebound}, friction: {friction}}}"
    loose = [
        f", clearance: {10 ** rng.uniform(-5, -3.3):.4g}, journal_radius: 10 mm, {contact}" if x else ""
        for x in rng.random(4) < 0.4
    ]
    loose[1] = loose[1] or f", clearance: {10 ** rng.uniform(-5, -3.3):.4g}, journal_radius: 10 mm, {contact}"
    second, third, fourth = JOINTS[kind]
    middle = (
        f"revolute, between: [{third}]{loose[2]}"
        if third
        else "prismatic, between: [yoke.pin, block.pin], axis: [0, 1]"
    )
    last_joint = f"{fourth}{loose[3]}" if kind == "four-bar" else f"{fourth}, axis: [1, 0]"
    r = rng.uniform(0.03, 0.15)
    sizes = {"r": r, "l": r * rng.uniform(2.5, 5), "b": rng.uniform(0.2, 0.28)}
    sizes |= {f"m{i}": rng.uniform(0.2, 3) for i in (1, 2, 3)}
    rpm, turned = 10 ** rng.uniform(1.7, 3.3), rng.uniform(0, 360)
    text = f"""
ground: {{points: {{O: [0, 0], Q: [0.3, 0]}}}}
bodies:{BODIES[kind].format(**sizes)}
joints:
  J1: {{kind: revolute, between: [ground.O, crank.start]{loose[0]}}}
  J2: {{kind: revolute, between: [{second}]{loose[1]}}}
  J3: {{kind: {middle}}}
  J4: {{kind: {last_joint}}}
drives:
  motor: {{kind: angle, of: crank, motion: {{kind: constant_speed, speed: {rpm:.4g} rpm, start: {turned:.4g} deg}}}}
start: {{{STARTS[kind]}, journals: {rng.choice(["loaded", "centred"])}}}
"""
    return jp.loads(text), 60 / rpm * rng.uniform(0.5, 3)


def test_stated_errors_are_honest_where_pins_rattle(record):
    rng, found = np.random.default_rng(2026), []
    for _ in range(DRAWN):
        mechanism, until = drawn(rng)
        run = jp.simulate(mechanism, until, strict=False)
        finer = jp.simulate(mechanism, until, jp.MoreauJean(rtol=5e-7 / 64), strict=False, error=False)
        if {run.outcome, finer.outcome} != {"done"}:
            continue
        true = last(finer)
        for entry in results.errors(run):
            label, _, variable = entry["name"].rpartition(".")
            labels = [str(x) for x in finer[variable].coords[finer[variable].dims[-1]].values] if label else [""]
            off = abs(float(true[variable][labels.index(label)]) - entry["value"])
            found.append((entry, off))
    known = [(entry, off) for entry, off in found if entry["determined"]]
    wrong = [(e["name"], off / e["error"]) for e, off in known if off > 3 * e["error"] and off > NOTICED * e["scale"]]
    worst = max((ratio for _, ratio in wrong), default=0.0)
    share, open_ = 1 - len(wrong) / len(known), 1 - len(known) / len(found)
    item = f"stated errors where pins rattle, {len(known)} numbers of {DRAWN} mechanisms"
    for quantity, ours, limit, good in (
        ("share of errors that matter of at most 3 times the stated, at least", share, 0.99, share >= 0.99),
        ("largest error beside the stated, at most", worst, 30.0, worst <= 30),
        ("share of numbers that are not determined, at most", open_, 0.45, open_ <= 0.45),
    ):
        verdict = "agrees" if good else "differs"
        record(item=item, quantity=quantity, unit="", ours=float(ours), reference=limit, verdict=verdict)
        assert good, (quantity, ours, wrong)
