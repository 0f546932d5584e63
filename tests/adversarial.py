"""Runs that are wrong unless somebody notices, with what is known of the truth; and healthy runs beside them.

Each adversarial case gives a run and the largest relative error of what is known in closed form or from a fine run; it
must be right (below TOLERANCE), or end early, or be judged doubtful or wrong, or be refused.  No healthy case may be.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import jointplay as jp
from jointplay.model.parts import ModelError

TOLERANCE = 0.02  # of what is known: an error that an engineer would not notice
LIB = jp.library
G = 9.81


class Found(NamedTuple):
    """A run, and how far it is from what is known."""

    run: Any
    error: float


def ball(height: float, speed: float, *, restitution: float = 1.0, contact: str = "rigid", roof: float = 1.0) -> Any:
    """A ball between a floor at 0 and a ceiling: a slot with play, the ball's place along the vertical."""
    law = f"kind: rigid, restitution: {restitution}" if contact == "rigid" else "kind: compliant, normal: {law: hertz, stiffness: 1e9}"  # fmt: skip  # noqa: E501
    return jp.loads(f"""
gravity: [0, -{G}]
ground: {{points: {{O: [0, {roof / 2}]}}}}
bodies: {{ball: {{mass: 1, inertia: 0.01}}}}
joints: {{S: {{kind: slot, between: [ground.O, ball.centre], axis: [1, 0], clearance: {roof / 2}, contact: {{{law}}}}}}}
start: {{ball.x: 0, ball.y: {height}, ball: 0, ball.y.rate: {speed}}}
""")


def height(run: Any) -> np.ndarray:
    """The height of the ball over time."""
    found: np.ndarray = run.y.values[:, 0]
    return found


def bounced(run: Any, begin: float, e: float) -> float:
    """How far the highest point after the first bounce is from e^2 of the begin."""
    time, y = run.time.values, height(run)
    first = math.sqrt(2 * begin / G)
    after = y[(time > first) & (time < first * (1 + 2 * e))]
    return abs(after.max(initial=0.0) - e * e * begin) / begin


def apart(run: Any, fine: Any) -> float:
    """The largest difference of two runs' places and angles, relative to how far these move."""
    worst, time = 0.0, run.time.values[run.time.values <= fine.time.values.max(initial=-1.0)]
    for name in ("x", "y", "angle"):
        for i in range(run.sizes["body"]):
            true = fine[name].values[:, i]
            if len(time) and np.ptp(true) > 1e-6:
                off = np.abs(run[name].values[: len(time), i] - np.interp(time, fine.time.values, true)).max()
                worst = max(worst, float(off / np.ptp(true)))
    return worst


def simulated(mechanism: Any, until: float, stepper: Any = None, samples: int = 200, **options: Any) -> Any:
    """A run that may end early."""
    return jp.simulate(mechanism, until, stepper, strict=False, every=until / samples, **options)


def beside(mechanism: Any, until: float, stepper: Any, finer: Any, **options: Any) -> Found:
    """A run beside a finer one."""
    run = simulated(mechanism, until, stepper, **options)
    return Found(run, apart(run, simulated(mechanism, until, finer, samples=4000, **options)))


# -- mechanisms
def slider(**contact: Any) -> Any:
    return LIB.slider_crank(speed=30.0).loosen("J3", 5e-4, journal_radius=0.01, contact=jp.Rigid(**contact))


def sprung(stiffness: float) -> Any:
    spring = {"kind": "torsion", "between": ("ground", "bar1"), "stiffness": stiffness}
    return LIB.pendulum(angles=[0.4]).replace(forces={"spring": spring})


def pulsed(duration: float, at: float = 3.0) -> Any:
    """A mass that a pulse of force pushes: 5 m/s afterwards."""
    half = duration / 2
    times = [0.0, at - half, at, at + half, at + 1.0]
    force = {"kind": "table", "times": times, "values": [0, 0, 5.0 / half, 0, 0], "interpolation": "linear"}
    return jp.loads("{gravity: [0, 0], bodies: {m: {mass: 1, inertia: 1}}}").replace(
        forces={"push": {"kind": "force", "at": "m.centre", "x": force, "y": 0.0}}
    )


def pushed(run: Any) -> Found:
    return Found(run, abs(float(run.x_rate[-1, 0]) - 5.0) / 5.0)


def bouncing(step: float, e: float, begin: float = 0.2) -> Found:
    run = simulated(ball(begin, 0.0, restitution=e), 0.9, jp.MoreauJean(step))
    return Found(run, bounced(run, begin, e))


def box(friction: float, restitution: float = 0.0) -> Any:
    """A block in a loose guide that a force off its middle tilts and pulls: four corners with friction."""
    return jp.loads(f"""
ground: {{points: {{O: [0, 0]}}}}
bodies: {{block: {{mass: 1, inertia: 0.001, points: {{arm: [0.02, 0.1]}}}}}}
joints:
  guide: {{kind: prismatic, between: [ground.O, block.centre], axis: [1, 0], clearance: 0.2 mm, length: 0.05,
          radius: 0.02, contact: {{kind: rigid, friction: {friction}, restitution: {restitution}}}}}
forces: {{pull: {{kind: force, at: block.arm, x: {{kind: sine, amplitude: 30, frequency: 60}}, y: 0}}}}
start: {{block.x.rate: 0.2}}
""")


def uneven() -> Any:
    """A bar struck at one end while the other leaves: two coefficients of restitution create energy."""
    return jp.loads("""
gravity: [0, 0]
ground: {points: {O: [0, 0]}}
bodies: {bar: {mass: 1, inertia: 0.02, points: {l: [-0.5, 0], r: [0.5, 0]}}}
joints:
  L: {kind: slot, between: [ground.O, bar.l], clearance: 0.1, contact: {kind: rigid, restitution: 1}}
  R: {kind: slot, between: [ground.O, bar.r], clearance: 0.1, contact: {kind: rigid, restitution: 0}}
start: {bar.x: 0, bar.y: -0.099999, bar: 0, bar.y.rate: -0.475, bar.rate: 1.05, bar.x.rate: 0}
""")


def light(mass: float) -> Any:
    return LIB.slider_crank(masses=(1.0, mass, 1.0)).with_({"start.crank.rate": 5.0})


def soft(stiffness: float) -> Any:
    return LIB.pendulum(length=0.5, angles=[-0.4]).loosen(
        "J1", 1e-4, journal_radius=0.01, contact=jp.Compliant(normal={"law": "hertz", "stiffness": stiffness})
    )


FINE = jp.MoreauJean(5e-6)
LOOSE2 = LIB.crank_rocker_2016(3e-3, 3e-3).replace(forces={"m": {"kind": "torque", "on": "crank", "torque": 6.0}})
EQUAL = (0.1, 0.3, 0.1, 0.3)  # a parallelogram passes its change points

ADVERSARIAL: dict[str, Callable[[], Found]] = {
    # steps that are too long
    "driven slider-crank, step 4 ms": lambda: beside(slider(), 0.2, jp.MoreauJean(4e-3), FINE),
    "driven slider-crank, step 1 ms": lambda: beside(slider(restitution=0.5), 0.2, jp.MoreauJean(1e-3), FINE),
    "crank-rocker, two plays, step 5 ms": lambda: beside(LOOSE2, 2.0, jp.MoreauJean(5e-3), jp.MoreauJean(1e-5)),
    "stiff spring, classical steps": lambda: beside(sprung(1e4), 1.0, jp.FixedRungeKutta(0.012, order=4), None),
    "stiff spring, fifth order": lambda: beside(sprung(1e4), 1.0, jp.FixedRungeKutta(0.015), None),
    "stiff spring, impulses": lambda: beside(sprung(1e4), 1.0, jp.MoreauJean(1e-3), jp.RungeKutta()),
    "stiff spring, loose tolerance": lambda: beside(sprung(1e3), 20.0, jp.RungeKutta(1e-2, 1e-2), jp.RungeKutta()),
    "fast pendulum, loose tolerance": lambda: beside(
        LIB.pendulum(2, 0.3, angles=[1.0, 1.4]), 3.0, jp.RungeKutta(3e-2, 3e-2), jp.RungeKutta()
    ),
    "ball, one step a bounce": lambda: bouncing(0.05, 0.8),
    "compliant pin, long steps": lambda: beside(soft(1e9), 0.05, jp.FixedRungeKutta(1e-4), jp.RungeKutta()),
    "compliant pin, hard as glass": lambda: beside(soft(1e12), 0.02, jp.FixedRungeKutta(2e-5), jp.RungeKutta()),
    "stop struck in long steps": lambda: beside(
        LIB.pendulum(length=0.5, angles=[0.6]).replace(
            joints={"J1": {"kind": "revolute", "between": ("ground.O", "bar1.start"), "lower": -1.0,
                           "stop_restitution": 1.0}}
        ), 1.5, jp.MoreauJean(2e-2), jp.MoreauJean(1e-5)),
    # pulses and touches shorter than a step
    "pulse of 10 ms in 100 s": lambda: pushed(simulated(pulsed(0.01, 30.0), 100.0)),
    "pulse of 1 ms in 10 s": lambda: pushed(simulated(pulsed(1e-3), 10.0)),
    "pulse of 10 ms, long fixed steps": lambda: pushed(simulated(pulsed(0.01), 10.0, jp.FixedRungeKutta(0.1))),
    "pulse of 10 ms, long rigid steps": lambda: pushed(simulated(pulsed(0.01, 3.003), 10.0, jp.MoreauJean(0.05))),
    "ball that touches the ceiling": lambda: touched(10.0),
    "ball that touches the ceiling, long run": lambda: touched(50.0),
    # grazing
    "ball at the ceiling by a hair": lambda: beside(
        ball(0.5, math.sqrt(2 * G * 0.5) * (1 + 1e-6), restitution=0.5), 0.6, jp.MoreauJean(2e-3), FINE),
    # light bodies
    "rod of 1e-12 kg": lambda: beside(light(1e-12), 0.3, None, jp.RungeKutta(1e-10, 1e-12)),
    "rod of 1e-9 kg": lambda: beside(light(1e-9), 0.3, None, jp.RungeKutta(1e-10, 1e-12)),
    "rod of 1e-10 kg with play": lambda: beside(light(1e-10).loosen("J3", 1e-3), 0.1, jp.MoreauJean(1e-4), FINE),
    # bouncing without loss, much friction, many contacts
    "ball, e = 1, long steps": lambda: bouncing(5e-3, 1.0),
    "slider-crank, e = 1, long steps": lambda: beside(slider(restitution=1.0), 0.2, jp.MoreauJean(1e-3), FINE),
    "guide, friction 2": lambda: beside(box(2.0), 0.05, jp.MoreauJean(1e-3), jp.MoreauJean(1e-5)),
    "guide, friction 2, e = 1": lambda: beside(box(2.0, 1.0), 0.05, jp.MoreauJean(1e-3), jp.MoreauJean(1e-5)),
    "two coefficients that create energy": lambda: created(uneven()),
    # singular positions
    "parallelogram through its change points": lambda: energies(
        simulated(LIB.four_bar(EQUAL, crank=0.3).with_({"start.crank.rate": 20.0}), 1.0)),
    "start in a singular position": lambda: energies(
        simulated(LIB.four_bar(EQUAL, crank=0.0).with_({"start.crank.rate": 5.0}), 0.5)),
    # tables
    "spline that swings beyond its points": lambda: swung(),
}  # fmt: skip


def touched(until: float) -> Found:
    """A ball thrown 1 mm into a hard ceiling 1 m above: how much of this millimetre it goes, beyond 0.1 mm of depth."""
    run = jp.simulate(ball(0.0, math.sqrt(2 * G * 1.001), contact="compliant"), until, strict=False, every=0.005)
    return Found(run, max(0.0, float(height(run).max()) - 1.0001) / 1e-3)


def created(mechanism: Any) -> Found:
    """How much energy a run has made out of nothing."""
    run = simulated(mechanism, 2e-5, jp.MoreauJean(1e-5))
    return Found(run, float(run.kinetic.max() / run.kinetic[0]) - 1.0)


def energies(run: Any) -> Found:
    """How far the energy of a run without losses moves, relative to what it moves to and fro."""
    if run.sizes["time"] < 2:
        return Found(run, 0.0)
    total = (run.kinetic + run.potential).values
    return Found(run, float(np.ptp(total) / max(run.kinetic.max(), 1e-300)))


def swung() -> Found:
    """A torque of at most 10 N m for two milliseconds must not give the bar more than its impulse."""
    table = {"kind": "table", "times": [0, 1, 1.001, 1.002, 2], "values": [0, 0, 10, 0, 0]}
    bar = LIB.pendulum().replace(gravity=(0.0, 0.0), forces={"p": {"kind": "torque", "on": "bar1", "torque": table}})
    run = simulated(bar, 2.0)
    noticed = "cubic spline" in run.attrs["notes"]  # the data are doubtful, not the run
    rate = abs(float(run.angle_rate[-1, 0]) - 0.01 / (1 / 3))
    return Found(run, 0.0 if noticed else rate / 0.03)


def healthy() -> dict[str, Callable[[], Any]]:
    """Thirty runs as an engineer would ask for them, at default settings unless said."""
    kicked = {"crank.rate": 6.0}
    found: dict[str, Callable[[], Any]] = {}
    for name in ("four_bar", "slider_crank", "rr_arm", "point_mass", "scotch_yoke", "pendulum", "wu_2017",
                 "crank_rocker_2016", "crank_crank_2016", "coelho_five_bar", "spacecraft_2026"):  # fmt: skip
        found[f"library, {name}"] = lambda name=name: simulated(LIB.MECHANISMS[name](), 1.0)
    found |= {
        "grigore, figure 5": lambda: simulated(LIB.grigore_figure_5(), 1.0),
        "four-bar, kicked": lambda: simulated(LIB.four_bar(), 1.0, start=kicked),
        "slider-crank, driven": lambda: simulated(LIB.slider_crank(speed=60.0), 1.0),
        "slider-crank, impulses": lambda: simulated(LIB.slider_crank(speed=30.0), 0.3, jp.MoreauJean()),
        "slider-crank, play": lambda: simulated(slider(), 0.5),
        "slider-crank, play, e = 0.9": lambda: simulated(slider(restitution=0.9), 0.5),
        "slider-crank, play, e = 1": lambda: simulated(slider(restitution=1.0), 0.2),
        "slider-crank, play, friction": lambda: simulated(slider(friction=0.2), 0.5),
        "slider-crank, centred": lambda: simulated(slider(), 0.3, start={"journals": "centred"}),
        "crank-rocker, two plays": lambda: simulated(LOOSE2, 2.0),
        "scotch yoke, slot with play": lambda: simulated(
            LIB.scotch_yoke(speed=15.0, angle=0.4).loosen("J2", 5e-4, contact=jp.Rigid(friction=0.1)), 0.5),
        "guide, friction": lambda: simulated(box(0.2), 0.2),
        "bore of Wu, rigid": lambda: simulated(LIB.wu_2017(clearance=5e-4), 0.5),
        "bore of Wu, compliant": lambda: simulated(
            LIB.wu_2017(clearance=5e-4, contact=LIB.wu_2017_contact()), 0.05),
        "spacecraft, case 3": lambda: simulated(LIB.spacecraft_2026(case=3), 1.0),
        "compliant pin": lambda: simulated(soft(1e9), 0.05),
        "ball, e = 0.8": lambda: simulated(ball(0.2, 0.0, restitution=0.8), 2.0),
        "ball that comes to rest": lambda: simulated(ball(0.05, 0.0, restitution=0.3), 2.0),
        "spring, tight": lambda: simulated(sprung(1e4), 2.0),
        "pulse of 10 ms": lambda: simulated(pulsed(0.01), 4.0),
        "loop with feedback": lambda: simulated(
            LIB.crank_rocker_2016(3e-3), 0.5, jp.MoreauJean(),
            control=jp.control.use("pd", "crank", jp.sine(0.5, 3.0, offset=1.571), k1=200.0, k2=20.0)),
    }  # fmt: skip
    return found


HEALTHY = healthy()


def verdict(case: Callable[[], Found]) -> str:
    """What becomes of an adversarial run: refused, ended early, noticed, right, or silently wrong."""
    try:
        found = case()
    except ModelError as error:
        return f"refused: {error}"
    attrs = found.run.attrs
    if attrs["judgement"] != "fine":
        return f"noticed: {attrs['judgement_text']}"
    if attrs["outcome"] != "done":
        return f"ended early: {attrs['outcome_text']}"
    return f"{'right' if found.error <= TOLERANCE else 'silently wrong'}: off by {found.error:.2g}"


def told(item: str, name: str, case: Callable[[], Found], record: Any) -> None:
    """Records whether a case is noticed, and fails where it is not."""
    found = verdict(case)
    kind = found.partition(":")[0]
    agrees = "differs" if kind == "silently wrong" else "agrees"
    record(item=item, quantity=name, unit="", reference="not silently wrong", ours=kind, verdict=agrees)
    assert kind != "silently wrong", found


def healthy(run: Any) -> None:
    """Fails where a run is not fine."""
    assert run.attrs["judgement"] == "fine", run.attrs["judgement_text"]
