"""The fixed set of runs: every mechanism, stepper, contact and control law, each for a few hundred to thousand steps.

What is done with them is in fixed_set.py.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import jointplay as jp
from jointplay.laws import law
from jointplay.model import Mechanism

SAMPLES = 50  # of each run, unless the case says otherwise


class Case(NamedTuple):
    """A run: called, it gives its Dataset; `changes` are other numbers by their addresses."""

    mechanism: Mechanism
    until: float
    options: dict[str, Any]

    def __call__(self, changes: dict[str, float] | None = None) -> Any:
        moved = {key.removeprefix("start."): x for key, x in (changes or {}).items() if key.startswith("start.")}
        others = {key: x for key, x in (changes or {}).items() if not key.startswith("start.")}
        options = {"every": self.until / SAMPLES, "strict": False, **self.options}
        options["start"] = {**options.get("start", {}), **moved}
        return jp.simulate(self.mechanism.with_(others), self.until, error=False, **options)

    def nudges(self) -> list[dict[str, float]]:
        """Changes by one unit in the last place, up and down, of each start value that is not 0 (four coordinates and
        three rates at most); with drives, which leave the start little to say, of numbers of theirs and masses as well.
        A single number is joined by a mass."""
        start = {**self.mechanism.start, **self.options.get("start", {})}
        known = self.mechanism.addresses()
        numbers = known | {f"start.{key}": float(x) for key, x in start.items()}
        given = [f"start.{key}" for key, x in start.items() if x]
        rates = [key for key in given if key.endswith(".rate")]
        places = [key for key in given if key not in rates]
        heads = tuple(f"{name}." for name in self.mechanism.drives)
        driven = [key for key, x in known.items() if heads and key.startswith(heads) and x]
        masses = [key for key in known if key.endswith(".mass")]
        chosen = [*places[:4], *rates[:3], *driven[:3], *(masses[:2] if heads else ())]
        chosen += masses[:1] if len(chosen) < 2 else []
        return [{key: math.nextafter(numbers[key], to)} for key in chosen for to in (math.inf, -math.inf)]


# -- the cases
WANTED = jp.sine(0.5, 3.0, offset=1.0)
GEARS = """
gravity: [0, 0]
ground: {points: {A: [0, 0], B: [90 mm, 0]}}
bodies: {pinion: {mass: 1 kg, inertia: 1e-3 kg*m^2}, wheel: {mass: 2 kg, inertia: 4e-3 kg*m^2}}
joints:
  A: {kind: revolute, between: [ground.A, pinion.centre]}
  B: {kind: revolute, between: [ground.B, wheel.centre]}
  G: {kind: gear, between: [pinion, wheel], ratio: -0.5, play: 1 deg, contact: {kind: rigid, restitution: 0.3}}
start: {pinion: 0.01, wheel: -0.006, pinion.rate: 3, wheel.rate: 0.5}
"""
GUIDE = """
ground: {points: {O: [0, 0]}}
bodies: {block: {mass: 1, inertia: 0.01, points: {arm: [0.03, 0.2]}}}
joints:
  guide: {kind: prismatic, between: [ground.O, block.centre], axis: [1, 0], clearance: 0.5 mm, length: 0.1,
          radius: 0.02, upper: 0.03, stop_restitution: 0.4,
          contact: {kind: rigid, friction: 0.2, static_friction: 0.3, restitution: 0.2}}
forces: {pull: {kind: force, at: block.arm, x: {kind: sine, amplitude: 30, frequency: 40, offset: 5}}}
start: {block: 1e-3, block.x: 1e-3, block.y: 1.3e-4, block.x.rate: 0.3}
"""
ALL_JOINTS = """
ground: {points: {O: [0, 0], A: [0.5, 0.6]}}
bodies:
  arm: {bar: 300 mm, mass: 1}
  wheel: {mass: 0.5, inertia: 2e-3, points: {rim: [0.05, 0]}}
  plate: {mass: 0.3, inertia: 1e-3}
  far: {bar: 200 mm, mass: 0.4}
joints:
  J1: {kind: revolute, between: [ground.O, arm.start]}
  J2: {kind: revolute, between: [arm.end, wheel.centre]}
  W: {kind: weld, between: [wheel.rim, plate.centre], angle: 0.3}
  R: {kind: rod, between: [ground.A, far.start], length: 0.4}
  G: {kind: gear, between: [arm, wheel], ratio: -2, offset: 0.2}
  S: {kind: slot, between: [far.start, arm.end], axis: [1, 0]}
forces:
  spring: {kind: spring, between: [ground.A, arm.end], stiffness: 200, damping: 3, free_length: 0.3}
  twist: {kind: torsion, between: [ground, far], stiffness: 5, damping: 0.05, free_angle: 0.4}
  motor: {kind: motor, between: [ground, arm], torque: {kind: polynomial, coefficients: [1, 2, -3]}}
  push: {kind: torque, on: far, torque: {kind: sine, amplitude: 0.2, frequency: 9}}
start: {arm: 0.4, far: -0.5, arm.rate: 1.5}
"""
NORMAL = (  # each with a law of friction beside it
    [("hertz", None), ("exact_restitution", "modified_coulomb"), ("hunt_crossley", "threlfall")]
    + [("herbert_mcwhannell", "ambrosio"), ("lee_wang", "bengisu_akay"), ("lankarani_nikravesh", "dahl")]
    + [("zhiying_qishao", "lugre"), ("gonthier", None), ("flores", "modified_coulomb")]
    + [("gharib_hurmuzlu", "threlfall"), ("hu_guo", "ambrosio"), ("safaeifar_farshidianfar", "bengisu_akay")]
    + [("kelvin_voigt", "dahl"), ("adams_impact", "lugre"), ("johnson", None), ("esdu_78035", "modified_coulomb")]
    + [("radzimovsky", "threlfall"), ("goldsmith", "ambrosio"), ("dubowsky_freudenstein", "bengisu_akay")]
    + [("liu", "dahl")]
)


def spring(time, values, rates, references, reference_rates):
    """A controller in Python: a spring and a damper to the reference."""
    both = zip(values, references, rates, reference_rates, strict=True)
    return [-30 * (x - r) - 2 * (v - w) for x, r, v, w in both]


def failing(time, values, rates, references, reference_rates):
    """A controller in Python that gives up."""
    if time > 0.05:
        raise RuntimeError("enough")
    return -3.0 * values[0]


@law(rates={"slow": 0.5}, memory={"count": 0.0}, watch=["seen"])
def own(loop, *, k, slow, count):
    """A law with a state, a memory and a signal of its own."""
    loop.watch("seen", count[0] + 10 * slow[0])
    torques = [-k * e - s for e, s in zip(loop.errors, slow, strict=True)]
    return torques, {"slow": [-2.0 * slow[0]]}, {"count": [count[0] + 1]}


def stepped(t: float) -> float:
    """A motion in Python that cannot be traced."""
    return 0.3 * math.sin(7.0 * float(t))


def cases() -> dict[str, Case]:
    """Every case by its name."""
    found: dict[str, Case] = {}
    parts = _mechanisms, _steppers, _drives, _rigid, _compliant, _following, _control, _electronics, _endings
    for part in (*parts, _second_order):
        for name, (mechanism, until, options) in part().items():
            assert name not in found, name
            found[name] = Case(mechanism.replace(journals="centred"), until, options)
    return found


Rows = dict[str, tuple[Mechanism, float, dict[str, Any]]]


def _mechanisms() -> Rows:
    free, torque = jp.library, {"motor": {"kind": "torque", "on": "crank", "torque": 6.0}}
    rate = {"crank.rate": 6.0}
    return {
        "four_bar": (free.four_bar(), 0.5, {"start": rate}),
        "four_bar centres": (
            free.four_bar(
                inertias=(1e-3, 0.01, 5e-3), side=-1, crank=1.0, centres=((0.04, 0.01), (0.2, -0.02), (0.1, 0.03))
            ),
            0.5,
            {"start": rate},
        ),
        "slider_crank": (free.slider_crank(offset=0.02), 0.5, {"start": rate}),
        "slider_crank driven": (free.slider_crank(speed=20.0), 0.5, {}),
        "five_bar": (free.five_bar(), 0.3, {"start": {"left_inner.rate": 2.0, "right_inner.rate": 1.0}}),
        "scotch_yoke": (free.scotch_yoke(angle=0.4), 0.5, {"start": rate}),
        "scotch_yoke driven": (free.scotch_yoke(speed=15.0, angle=0.4), 0.5, {}),
        "pendulum": (free.pendulum(3, 0.4, angles=[0.3, -0.2, 0.9]), 0.6, {}),
        "crank_rocker_2016": (free.crank_rocker_2016().replace(forces=torque), 1.0, {}),
        "crank_crank_2016": (free.crank_crank_2016().replace(forces=torque), 1.0, {}),
        "grigore_figure_5": (free.grigore_figure_5(speed=3.0), 1.0, {}),
        "grigore_figure_6": (free.grigore_figure_6(), 0.2, {"start": {"crank.rate": 1.0}}),
        "wu_2017": (free.wu_2017(), 2.0, {}),
        "coelho_five_bar": (free.coelho_five_bar(), 0.3, {"start": {"left_inner.rate": -2.0}}),
        "coelho_five_bar unbalanced": (free.coelho_five_bar(False), 0.2, {"start": {"left_inner.rate": -2.0}}),
        "spacecraft_2026": (free.spacecraft_2026(), 5.0, {}),
        "spacecraft_2026 B": (free.spacecraft_2026("B"), 2.0, {"start": {"base.rate": 0.1, "base.x.rate": 0.02}}),
        "every kind of joint": (jp.loads(ALL_JOINTS), 0.4, {}),
    }


def order_1(step: float, **more: Any) -> jp.MoreauJean:
    """The rigid step of first order."""
    return jp.MoreauJean(step, order=1, **more)


def _steppers() -> Rows:
    four, rate = jp.library.four_bar(), {"crank.rate": 6.0}
    sprung = four.replace(forces={"spring": {"kind": "spring", "between": ("ground.J1", "rocker.end"),
                                             "stiffness": 300.0, "damping": 2.0}})  # fmt: skip
    loose = four.loosen("J3", 1e-3, journal_radius=0.01, contact=jp.Rigid(friction=0.1, restitution=0.2))
    moreau = order_1
    each = {
        "RungeKutta loose tolerance": jp.RungeKutta(1e-5, 1e-7, max_step=0.02),
        "FixedRungeKutta 4": jp.FixedRungeKutta(1e-3, order=4),
        "FixedRungeKutta 5": jp.FixedRungeKutta(1e-3),
        "MoreauJean": moreau(2e-4),
        "MoreauJean theta 0.7": moreau(2e-4, theta=0.7),
        "MoreauJean theta 1": moreau(2e-4, theta=1.0),
        "MoreauJean no projection": moreau(2e-4, projection="none"),
        "MoreauJean midpoint": moreau(2e-4, forces="midpoint"),
    }
    found: Rows = {f"sprung, {name}": (sprung, 0.3, {"start": rate, "stepper": s}) for name, s in each.items()}
    for name in list(each)[3:]:
        found[f"loose, {name}"] = (loose, 0.1, {"start": rate, "stepper": each[name]})
    odd = {"start": rate, "stepper": moreau(2e-4), "every": 0.0033}
    return found | {"loose, samples between steps": (loose, 0.1, odd)}


def _drives() -> Rows:
    crank = jp.library.slider_crank(angle=0.5)
    held = jp.table([0.0, 0.1, 0.2, 0.3, 0.4], [0.5, 0.7, 0.6, 0.9, 1.2], ends="held")
    clamped = jp.table([0.0, 0.2, 0.4], [0.5, 1.5, 2.0])
    turning = jp.table([0.0, 0.1, 0.25, 0.4], [0.5, 0.8, 0.3, 0.5], ends="periodic")
    both = jp.total(jp.polynomial(0.5, 1.0, 3.0), jp.sine(0.1, 20.0))
    place = jp.cycloidal(0.35, 0.4, start=crank.start["slider.x"])

    def on(kind: str, of: str, motion: Any) -> Mechanism:
        return crank.replace(drives={"motor": {"kind": kind, "of": of, "motion": motion}})

    table = {"kind": "torque", "on": "crank", "torque": turning}
    push = {"kind": "force", "at": "slider.pin", "x": {"kind": "function", "function": stepped}, "y": 2.0}
    return {
        "angle of a body, cycloidal": (on("angle", "crank", jp.cycloidal(2.0, 0.3, start=0.5)), 0.4, {}),
        "angle of a joint, sum": (on("angle", "J1", both), 0.4, {}),
        "angle, table held": (on("angle", "crank", held), 0.5, {}),
        "angle, table clamped": (on("angle", "crank", clamped), 0.5, {}),
        "angle, table periodic, MoreauJean": (on("angle", "crank", turning), 0.5, {"stepper": order_1(4.9e-4)}),
        "angle, Python function": (on("angle", "crank", {"kind": "function", "function": stepped}), 0.4, {}),
        "rate of a body, sine": (on("rate", "crank", jp.sine(3.0, 8.0, offset=4.0)), 0.5, {}),
        "rate of a joint, MoreauJean": (on("rate", "J1", 5.0), 0.3, {"stepper": order_1(5e-4)}),
        "rate, FixedRungeKutta": (on("rate", "crank", 5.0), 0.5, {"stepper": jp.FixedRungeKutta(1e-3, order=4)}),
        "position of a joint": (on("position", "J4", place), 0.4, {}),
        "x of a point": (on("x", "slider.pin", place), 0.4, {}),
        "y of a mass centre": (on("y", "crank", jp.sine(0.01, 6.0, offset=crank.start["crank"] * 0.05)), 0.4, {}),
        "forces by table and function": (crank.replace(forces={"twist": table, "push": push}), 0.5, {}),
    }


def _rigid() -> Rows:
    lib, torque = jp.library, {"motor": {"kind": "torque", "on": "crank", "torque": 6.0}}
    one = lib.crank_rocker_2016(3e-3).replace(forces=torque)
    two = lib.crank_rocker_2016(3e-3, 2e-3, friction=0.1, restitution=0.3).replace(forces=torque)
    held = lib.crank_crank_2016(1e-3, 1e-3).loosen(
        "J2", 1e-3, contact=jp.Rigid(friction=0.1, static_friction=0.2, restitution=0.1)
    )
    stop = lib.pendulum(2, 0.5, angles=[0.2, -0.5])
    stop = stop.replace(joints={**stop.joints, "J2": {**stop.joints["J2"].plain(), "lower": -1.0, "upper": 0.4,
                                                      "stop_restitution": 0.5}})  # fmt: skip
    slot = lib.scotch_yoke(speed=15.0, angle=0.4).loosen("J2", 5e-4, pin_radius=5e-3, contact=jp.Rigid(friction=0.1))
    slider = lib.slider_crank(speed=30.0).loosen("J3", 5e-4, bearing="second", contact=jp.Rigid(restitution=0.5))
    quick = {"stepper": order_1(1e-4)}
    return {
        "rigid, one clearance": (one, 0.3, quick),
        "rigid, two clearances": (two, 0.2, quick),
        "rigid, two clearances, reclosed": (two, 0.1, quick | {"start": {"crank": 0.5}, "reclose": True}),
        "rigid, static friction": (held, 0.2, quick | {"start": {"crank.rate": 2.0}}),
        "stops": (stop, 0.5, quick),
        "gear with backlash": (jp.loads(GEARS), 0.1, quick),
        "corners of a guide, stop": (jp.loads(GUIDE), 0.1, {"stepper": order_1(5e-5)}),
        "slot with play, driven": (slot, 0.2, quick | {"start": {"yoke.x": slot.start["yoke.x"] + 1e-4}}),
        "slider-crank with play, driven": (slider, 0.1, {"stepper": order_1(5e-5)}),
        "bore on a bar, rigid": (lib.wu_2017(clearance=5e-4, contact=jp.Rigid(friction=0.1)), 0.2, quick),
    }


def _compliant() -> Rows:
    arm, found = jp.library.pendulum(length=0.5, angles=[-0.4]), {}
    for i, (normal, friction) in enumerate(NORMAL):
        given = {"law": normal} | ({"stiffness": 1e7, "damping": 50.0} if normal == "kelvin_voigt" else {})
        contact = jp.Compliant(normal=given, friction=friction)
        loose = arm.loosen("J1", 1e-4, journal_radius=0.01, length=0.02, contact=contact)
        fixed = {"stepper": jp.FixedRungeKutta(1e-5, order=5 if i % 2 else 4)}
        found[f"compliant, {normal}, {friction}"] = (loose, 0.012, fixed)
        if i % 4 == 2:  # adaptive steps choose others when rounding changes, so what they may move is much more
            found[f"compliant, {normal}, adaptive"] = (loose, 0.012, {"stepper": jp.RungeKutta(1e-7, 1e-9)})
    soft = jp.Compliant(normal={"law": "hunt_crossley", "stiffness": 1e8}, friction="modified_coulomb")
    crank = jp.library.slider_crank(angle=0.5).loosen("J3", 5e-4, journal_radius=0.01, contact=soft)
    aside = {"rod": crank.start["rod"] + 5e-4, "crank.rate": 20.0}  # in the middle of its play a slip has no direction
    fixed = {"start": aside, "stepper": jp.FixedRungeKutta(2e-5, order=4)}
    gears = jp.loads(GEARS).loosen("G", 0.01, contact=jp.Compliant(normal={"law": "hertz", "stiffness": 1e5}))
    bore = jp.library.wu_2017(clearance=5e-4, contact=jp.library.wu_2017_contact())
    craft = jp.library.spacecraft_2026(case=3)
    return found | {
        "compliant, slider-crank, FixedRungeKutta 4": (crank, 0.02, fixed),
        "compliant, slider-crank, FixedRungeKutta 5": (crank, 0.02, fixed | {"stepper": jp.FixedRungeKutta(2e-5)}),
        "compliant, gear": (gears, 0.02, {}),
        "compliant, bore on a bar": (bore, 0.02, {"stepper": jp.RungeKutta(1e-7, 1e-9)}),
        "compliant, spacecraft_2026": (craft, 0.6, {"stepper": jp.RungeKutta(1e-7, 1e-9)}),
    }


def _following() -> Rows:
    four, rate = jp.library.four_bar().replace(journals="centred"), {"crank.rate": 6.0}
    on, stop = jp.Following(on_loss="continue"), jp.Following()
    rough = {"law": "modified_coulomb", "static_friction": 0.3, "friction": 0.2, "v_s": 0.01, "v_d": 0.1}
    joints = {**four.joints, "J2": {**four.joints["J2"].plain(), "journal_radius": 0.02, "pin_friction": rough}}
    pins = four.replace(joints={**joints, "J4": {**joints["J2"], "between": ("ground.J4", "rocker.start")}})
    return {
        "following, stop": (four.loosen("J3", 1e-3, contact=stop), 0.5, {"start": rate}),
        "following, continue": (four.loosen("J3", 1e-3, contact=on), 0.5, {"start": rate}),
        "following, fixed steps": (
            four.loosen("J3", 1e-3, contact=on),
            0.3,
            {"start": rate, "stepper": jp.FixedRungeKutta(5e-4)},
        ),
        "pin friction": (pins, 0.5, {"start": rate}),
        "pin friction, fixed steps": (pins, 0.3, {"start": rate, "stepper": jp.FixedRungeKutta(1e-3, order=4)}),
    }


def _control() -> Rows:
    slider, arms, c = jp.library.slider_crank(angle=0.5), jp.library.coelho_five_bar(), jp.control
    at = {"crank": 1.2, "crank.rate": 1.0}
    loose = jp.library.crank_rocker_2016(3e-3)
    moreau, fixed = {"stepper": order_1(2e-4), "start": at}, {"stepper": jp.FixedRungeKutta(1e-3), "start": at}
    linear = {"k1": 400.0, "k2": 40.0}
    passive = {"k": 5.0, "slope": 20.0}
    sides = ["left_inner", "right_inner"]
    four = ["J1", "J2", "J5", "J4"]
    goals = [jp.cycloidal(arms.start[s] + 0.2, 0.2, start=arms.start[s]) for s in sides]
    slide = c.sliding_mode(
        four, [3.0, -2.95, 0.1, 2.95], actuators=["J1", "J5"], cut="J3", slope=40.0, k=10.0, steepness=159.1
    )
    elsewhere = c.passivity_based("crank", jp.sine(6.0, 2.3), k=200.0, slope=10.0, sensors=["rocker"],
                                  regularisation=1e-3)  # fmt: skip
    wide = {"start": {"crank": 1.571}, "stepper": order_1(1e-4)}
    rows = {
        "open_loop": (slider, 0.3, {"start": at}, c.open_loop("crank", feedforward=jp.sine(2.0, 9.0))),
        "pd": (slider, 0.3, {"start": at}, c.pd("crank", WANTED, k1=20, k2=1)),
        "pd_tracking, limit": (slider, 0.3, {"start": at}, c.pd_tracking("crank", WANTED, k1=20, k2=1, limit=2.5)),
        "pid": (slider, 0.3, {"start": at}, c.pid("crank", WANTED, k1=20, k2=1, k3=30)),
        "pid, MoreauJean": (slider, 0.2, moreau, c.pid("crank", WANTED, k1=20, k2=1, k3=30)),
        "pid, fixed steps": (slider, 0.3, fixed, c.pid("crank", WANTED, k1=20, k2=1, k3=30, settled=0.1)),
        "feedback linearisation": (slider, 0.3, {"start": at}, c.feedback_linearisation("crank", WANTED, **linear)),
        "feedback linearisation, MoreauJean": (slider, 0.1, moreau,
                                               c.feedback_linearisation("crank", WANTED, limit=50, **linear)),
        "feedback linearisation, loose": (loose, 0.1, wide,
                                          c.feedback_linearisation("crank", jp.sine(6.0, 2.3), k1=2000.0, k2=200.0)),
        "feedback linearisation, two arms": (arms, 0.2, {}, c.feedback_linearisation(sides, goals, **linear)),
        "passivity, table": (slider, 0.3, {"start": at},
                             c.passivity_based("crank", jp.table([0.0, 0.1, 0.3], [1.0, 1.2, 0.8]), **passive)),
        "passivity, model differs": (slider, 0.3, {"start": at}, c.passivity_based(
            "crank", WANTED, model={"rod.mass": 2.4, "slider.mass": 0.9}, **passive)),
        "passivity, sensor elsewhere, regularised": (loose, 0.05, wide, elsewhere),
        "sliding mode, cut": (arms, 0.1, {}, slide),
        "gravity, settled": (slider, 0.3, {"start": at}, c.pd("crank", 0.9, k1=20, k2=1, gravity=True, settled=0.1)),
        "actuator at the slider": (slider, 0.3, {"start": at},
                                   c.feedback_linearisation("crank", WANTED, actuators="slider.x", **linear)),
        "position of a joint controlled": (slider, 0.3, {"start": at}, c.pd_tracking(
            {"kind": "position", "of": "J4"}, jp.sine(0.02, 5.0, offset=0.35), k1=500, k2=20, feedforward=1.5)),
        "law of one's own, MoreauJean": (slider, 0.1, moreau, c.use(own, "crank", WANTED, k=5.0)),
        "law of one's own, fixed steps": (slider, 0.1, fixed, c.use(own, "crank", WANTED, k=5.0)),
    }  # fmt: skip
    return {f"control, {name}": (m, until, {**o, "control": loop}) for name, (m, until, o, loop) in rows.items()}


def _electronics() -> Rows:
    arm, wanted, h, c = jp.library.pendulum(length=0.5, angles=[0.3]), jp.sine(0.4, 3.0), 1e-3, jp.control
    gains = {"k1": 30.0, "k2": 2.0}
    sensors = {
        "period and delay": {"period": 3 * h, "delay": 2 * h},
        "resolution": {"resolution": 1e-3},
        "difference": {"period": 5 * h, "rate": "difference", "resolution": 1e-4},
        "noise": {"noise": 1e-3, "seed": 3, "period": 2 * h},
    }
    found: Rows = {}
    for name, fields in sensors.items():
        loop = c.pd_tracking("bar1", wanted, sensors={"encoder": {"of": "bar1", **fields}}, **gains)
        for stepper in (order_1(h), jp.FixedRungeKutta(h)):
            kind = type(stepper).__name__
            found[f"sensor, {name}, {kind}"] = (arm, 0.3, {"stepper": stepper, "control": loop})
    full = dict(sensors={"encoder": {"of": "bar1", **sensors["period and delay"]}}, limit=6.0)
    python = c.sampled(spring, "bar1", wanted, period=2 * h, feedforward=jp.sine(0.5, 9.0), **full)
    traced = c.pd_tracking("bar1", wanted, period=4 * h, gravity=True, **gains)
    load, motor = ({"encoder": {"of": "G", "side": side}} for side in ("second", "first"))
    quick = {"stepper": order_1(1e-4)}
    for stepper in (order_1(h), jp.FixedRungeKutta(h, order=4)):
        kind = type(stepper).__name__
        found[f"sampled Python, {kind}"] = (arm, 0.3, {"stepper": stepper, "control": python})
        found[f"sampled law, {kind}"] = (arm, 0.3, {"stepper": stepper, "control": traced})
    for name, seen in (("load", load), ("motor", motor)):
        loop = c.pd("pinion", jp.sine(0.3, 20.0), k1=2, k2=0.02, sensors=seen)
        found[f"backlash, encoder of the {name}"] = (jp.loads(GEARS), 0.1, quick | {"control": loop})
    return found


def _endings() -> Rows:
    slider, arm = jp.library.slider_crank(angle=0.5), jp.library.pendulum(length=0.5, angles=[0.3])
    loop = jp.control.feedback_linearisation(
        "crank", jp.cycloidal(-0.5, 1.0, start=0.5), k1=500, k2=40, actuators="slider.x"
    )
    python = jp.control.sampled(failing, "bar1", period=1e-2)
    stuck = jp.library.four_bar(lengths=(0.3, 0.2, 0.25, 0.4), crank=0.5)
    stuck = stuck.replace(drives={"motor": {"kind": "angle", "of": "crank", "motion": jp.constant_speed(2.0, 0.5)}})
    return {
        "ends, dead centre of an actuator": (slider, 0.7, {"control": loop, "stepper": order_1(2e-4)}),
        "ends, controller raises": (arm, 0.2, {"control": python, "stepper": order_1(1e-3)}),
        "ends, cannot be assembled": (stuck, 1.0, {}),
        "ends, cannot be assembled, MoreauJean": (stuck, 1.0, {"stepper": order_1(5e-4)}),
    }


def _second_order() -> Rows:
    """Some of the rigid cases with steps of second order."""
    before = {**_steppers(), **_drives(), **_rigid(), **_control(), **_electronics()}
    names = [
        "sprung, MoreauJean", "loose, MoreauJean", "loose, MoreauJean no projection", "rate of a joint, MoreauJean",
        "rigid, two clearances", "rigid, static friction", "stops", "gear with backlash", "corners of a guide, stop",
        "slot with play, driven", "control, pid, MoreauJean", "control, feedback linearisation, loose",
        "sensor, period and delay, MoreauJean", "sampled Python, MoreauJean",
    ]  # fmt: skip
    found: Rows = {}
    for name in names:
        mechanism, until, options = before[name]
        found[f"second order, {name}"] = mechanism, until, options | {"stepper": replace(options["stepper"], order=2)}
    return found
