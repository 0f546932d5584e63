"""What holds for every kind of joint, drive and force: rows, gaps, numbers, files, check, pictures, control."""

import math

import numpy as np
import pytest

import jointplay as jp
from jointplay import report
from jointplay.elements import Compliant, Drive, Here, Joint, Load, Pose, Rigid
from jointplay.engine.program import trace
from jointplay.engine.text import emit
from jointplay.physics.contacts import contacts
from jointplay.physics.dynamics import Equations
from jointplay.run import Run
from jointplay.statics.assembly import close
from jointplay.structure import Memo
from jointplay.system import System

BODIES = """
ground: {points: {O: [0, 0], P: [0.3, -0.2]}}
bodies:
  a: {bar: 300 mm, mass: 1 kg}
  b: {mass: 2 kg, inertia: 0.1 kg*m^2, points: {p: [0.1, 0.2], r: [-0.2, 0.05]}, centre: [0.01, -0.02]}
  c: {bar: 0.5, mass: 1.5}
gravity: [0.3, -9.81]
"""
# every joint with a contact, in all its forms, with stops where it has them; between bodies, and with the ground
TOUCHING = {
    "revolute": "{kind: revolute, between: [a.end, b.p], clearance: 2 mm, journal_radius: 20 mm, lower: -1, upper: 2}",
    "revolute second": "{kind: revolute, between: [a.end, ground.P], clearance: 2 mm, journal_radius: 20 mm, "
    "bearing: second}",
    "prismatic": "{kind: prismatic, between: [a.start, c.end], axis: [1, 2], angle: 20 deg, clearance: 1 mm, "
    "length: 60 mm, radius: 10 mm, lower: -0.1, upper: 0.2}",
    "prismatic second": "{kind: prismatic, between: [ground.P, c.end], axis: [1, 2], angle: 20 deg, clearance: 1 mm, "
    "length: 60 mm, radius: 10 mm, bearing: second, upper: 0.2}",
    "slot": "{kind: slot, between: [b.r, a.end], axis: [0, 1], clearance: 1 mm, pin_radius: 5 mm, lower: -0.3}",
    "gear": "{kind: gear, between: [a, c], ratio: -2.5, offset: 0.3, play: 0.02}",
    "gear carried": "{kind: gear, between: [a, c], ratio: -2.5, offset: 0.3, play: 0.02, carrier: b}",
}
IDEAL = {
    "revolute": "{kind: revolute, between: [a.end, b.p]}",
    "prismatic": "{kind: prismatic, between: [b.r, c.start], axis: [1, 2], angle: 20 deg}",
    "weld": "{kind: weld, between: [b.p, c.end], angle: -0.4}",
    "slot": "{kind: slot, between: [c.end, a.end], axis: [0, 1]}",
    "rod": "{kind: rod, between: [a.start, b.r], length: 0.4}",
    "gear": "{kind: gear, between: [a, c], ratio: -2.5, offset: 0.3}",
    "gear carried": "{kind: gear, between: [a, c], ratio: -2.5, offset: 0.3, carrier: b}",
}
EVERY = pytest.mark.parametrize("kind", TOUCHING)


def ours(family):
    return {name for name, kind in family.kinds().items() if kind.__module__.startswith("jointplay.")}


def with_joint(text, **more):
    return jp.loads(f"{BODIES}joints: {{J: {text}}}").replace(**more)


def random_state(seed=0, near=None):
    rng = np.random.default_rng(seed)
    q = rng.normal(size=9) * 0.4 if near is None else near + 1e-2 * rng.normal(size=9)
    return q, rng.normal(size=9), rng


def test_every_kind_is_held_here():
    """A new kind must be added above, and to tests/physics/test_equations.py; one with a contact to both."""
    assert {name.split()[0] for name in IDEAL} == ours(Joint)
    with_contact = {n for n in ours(Joint) if "contact" in Joint.kinds()[n].model_fields}
    assert {name.split()[0] for name in TOUCHING} == with_contact


@EVERY
@pytest.mark.parametrize("contact", ["{kind: rigid, friction: 0.2}", "{kind: compliant}"])
def test_normal_rows_are_the_rates_of_the_gaps(kind, contact):
    text = TOUCHING[kind] if "gear" in kind else TOUCHING[kind].removesuffix("}") + f", contact: {contact}}}"
    system = System(with_joint(text))
    q, v, _ = random_state(3)
    here, step = system.evaluate(q, v), 1e-6
    ahead, back = (system.evaluate(q + e * v, v).gaps for e in (step, -step))
    assert len(here.gaps) == len(system.contacts) > 0
    assert here.openings == pytest.approx((ahead - back) / (2 * step), abs=1e-7)


def rows_at(mechanism, q, kind=Rigid, **mode):
    """Normal, tangential and rubbing rows of every contact at q, as matrices, from a traced program."""
    names = [f"{body}.{c}" for body in mechanism.bodies for c in ("x", "y", "angle")]
    numbers = {a: x for a, x in mechanism.addresses().items() if x != 0}
    count = []

    def text(s, p):
        equations = Equations(mechanism, lambda a: p[a] if a in numbers else 0)
        spots = contacts(equations.pose([s[n] for n in names], 0.0), kind)
        count.append(len(spots))
        columns = {}
        for i, spot in enumerate(spots):
            for part in ("normal", "tangential", "rubbing"):
                row = getattr(spot, part) or {}
                columns |= {f"{i}.{part}.{n}": row.get(n, 0) + 0.0 * s[names[0]] for n in names}
        emit("rows", **columns)
        return {}

    run = Run(trace(text, dict.fromkeys(names, 0.0), numbers), numbers, dict(zip(names, q, strict=True)), **mode)
    run.advance(1)
    found = np.array([column[-1] for column in run.rows("rows").values()])
    return found.reshape(count[0], 3, 9)


@EVERY
def test_contact_rows_do_nothing_to_a_common_motion(kind):
    """What moves as one body, the ground apart, opens no gap and slides nowhere: forces of a contact are in balance."""
    mechanism = with_joint(TOUCHING[kind])
    if "ground" in mechanism.joints["J"].bodies():
        pytest.skip("the ground does not move along")
    q, _, rng = random_state(5)
    x, y, turn = rng.normal(size=3)
    whole = np.concatenate([[x - turn * q[i + 1], y + turn * q[i], turn] for i in range(0, 9, 3)])
    rows = rows_at(mechanism, q)
    assert rows[:, 0] @ whole == pytest.approx(0.0, abs=1e-12)
    # surfaces that are apart move on different circles: rubbing is at one place, and slides by the gap times the turn
    gaps = System(mechanism).evaluate(q).gaps
    slips = rows[:, 1] @ whole
    assert np.all(np.abs(slips) <= np.abs(gaps * turn) + 1e-12)
    assert rows[:, 2] @ whole == pytest.approx(0.0, abs=1e-12)


@EVERY
def test_contact_rows_in_every_mode(kind):
    mechanism = with_joint(TOUCHING[kind])
    q, _, _ = random_state(6)
    native, exact, eager = (rows_at(mechanism, q, **mode) for mode in ({}, {"fma": False}, {"eager": True}))
    assert (exact == eager).all() and native == pytest.approx(eager, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("kind", [*IDEAL, *(f"loose {name}" for name in TOUCHING)])
def test_every_number_is_a_number_of_the_run(kind, monkeypatch, tmp_path):
    """A changed number gives what a mechanism with that number gives: no text looks at the model for it."""
    loose = kind.startswith("loose ")
    mechanism = with_joint(TOUCHING[kind.removeprefix("loose ")] if loose else IDEAL[kind])
    q, v, _ = random_state(7)
    system = System(mechanism)
    own = {a: x for a, x in mechanism.addresses().items() if a.startswith("J.") and x}
    left = ("restitution", "friction", "axis.x", "axis.y", "lower")
    changes = {a: 1.1 * x for a, x in own.items() if not a.endswith(left)}
    changed = system.with_(changes)
    assert changed.traced is system.traced
    monkeypatch.setattr("jointplay.system.PROGRAMS", Memo())  # the other one is traced with the new numbers
    monkeypatch.setenv("JOINTPLAY_CACHE_DIR", str(tmp_path))
    fresh = System(mechanism.with_(changes))
    assert fresh.traced is not system.traced
    for part in ("residual", "B", "gaps", "openings"):
        one, other = (getattr(x.evaluate(q, v), part) for x in (changed, fresh))
        assert one == pytest.approx(other, abs=1e-13), part
        moved = not np.allclose(getattr(system.evaluate(q, v), part), one)
        assert moved or not changes or not one.size or part in ("B", "openings")


@pytest.mark.parametrize("kind", [*IDEAL, *(f"loose {name}" for name in TOUCHING)])
def test_files_and_schema_know_every_kind(kind):
    loose = kind.startswith("loose ")
    mechanism = with_joint(TOUCHING[kind.removeprefix("loose ")] if loose else IDEAL[kind])
    assert jp.loads(jp.dumps(mechanism)) == mechanism
    parts = jp.schema()["$defs"]
    for family in (Joint, Drive, Load):
        assert all(kind.__name__ in parts for kind in family.kinds().values())


@pytest.mark.parametrize("kind", IDEAL)
def test_reactions_on_the_ground_add_up(kind):
    """What a closed joint does to the moving bodies is taken from the ground, as results and docs/notation.md tell it:
    the reaction acts on the second body and its opposite on the first; of a gear -ratio times it on the first wheel and
    ratio - 1 times it on the carrier."""
    text = IDEAL[kind].replace("[b.r,", "[ground.P,").replace("[a.start, b.r]", "[ground.O, b.r]")
    mechanism = with_joint(text.replace("[a, c]", "[ground, c]").replace("[a.end, b.p]", "[b.p, ground.O]"))
    system, joint = System(mechanism), mechanism.joints["J"]
    q, _, rng = random_state(8)
    q, still_open = close(system, q, 0.0)
    assert not still_open
    lam, here = rng.normal(size=len(system.rows)), system.evaluate(q)
    x, y, moment = here.reactions @ lam
    second = np.array([x, y, moment])
    if "gear" in kind:
        shares = [(joint.between[0], -joint.ratio), (joint.between[1], 1.0), (joint.carrier, joint.ratio - 1)]
        ground = second * sum(share for body, share in shares if body == "ground")
    else:
        pose = Pose(mechanism, mechanism.value, dict(zip(system.coordinates, q, strict=True)), 0.0)
        at = pose.point(joint.between[1])
        second[2] += at.x * y - at.y * x  # about the origin
        ground = sum((sign * second for sign, end in zip((-1, 1), joint.between, strict=True)
                      if mechanism.owner(end) == "ground"), start=0 * second)  # fmt: skip

    moving = (here.B.T @ lam).reshape(-1, 3)  # on each body: force, and moment about its mass centre
    turns = [m + x * fy - y * fx for (fx, fy, m), (x, y, _) in zip(moving, q.reshape(-1, 3), strict=True)]
    assert ground == pytest.approx(-np.array([*moving[:, :2].sum(axis=0), sum(turns)]))


def test_a_gears_carrier_takes_the_difference_of_the_torques():
    """A wheel rolls round a sun that stands still: the arm turns, and the sun holds what is left (closed form).

    Between the sun (the ground) and a planet on the arm, angles seen from the arm keep the ratio r = -z1/z2: the planet
    turns with 1 - r times the arm.
    """
    r, torque, mass, arm, inertia = -2.0, 1.5, 0.7, 0.4, 0.3
    mechanism = jp.loads(f"""
gravity: [0, 0]
ground: {{points: {{O: [0, 0]}}}}
bodies:
  arm: {{bar: {arm}, mass: 3.0}}
  planet: {{mass: {mass}, inertia: {inertia}}}
joints:
  J1: {{kind: revolute, between: [ground.O, arm.start]}}
  J2: {{kind: revolute, between: [arm.end, planet.centre]}}
  G: {{kind: gear, between: [ground, planet], ratio: {r}, carrier: arm}}
forces: {{m: {{kind: torque, on: arm, torque: {torque}}}}}
""")
    run = jp.simulate(mechanism, until=0.1)
    rates = run.angle_rate.isel(time=-1)
    assert float(rates.sel(body="planet")) == pytest.approx((1 - r) * float(rates.sel(body="arm")))
    whole = 3.0 * arm**2 / 3 + mass * arm**2 + inertia * (1 - r) ** 2
    acceleration = float(run.angle_acceleration.sel(body="arm")[-1])
    assert acceleration == pytest.approx(torque / whole)
    # on the planet: inertia (1 - r) a; on the sun -r times that; the arm takes the rest
    moment = float(run.moment.sel(joint="G")[-1])
    assert moment == pytest.approx(inertia * (1 - r) * acceleration, rel=1e-6)
    turned = mechanism.replace(joints={**mechanism.joints, "G": {"kind": "gear", "between": ["planet", "ground"],
                                                                 "ratio": 1 / r, "carrier": "arm"}})  # fmt: skip
    other = jp.simulate(turned, until=0.1)
    assert float(other.angle_rate.sel(body="arm")[-1]) == pytest.approx(float(rates.sel(body="arm")))
    assert float(other.moment.sel(joint="G")[-1]) == pytest.approx(-r * moment, rel=1e-6)  # on the sun


def test_a_gear_between_floating_bodies_keeps_their_momentum():
    """Its carrier among them, a gear is an inner force: the angular momentum stays, and the mechanism is isolated."""
    mechanism = jp.loads("""
gravity: [0, 0]
bodies:
  arm: {bar: 0.4, mass: 1}
  one: {mass: 0.5, inertia: 0.01}
  two: {mass: 0.3, inertia: 0.02}
joints:
  J1: {kind: revolute, between: [arm.start, one.centre]}
  J2: {kind: revolute, between: [arm.end, two.centre]}
  G: {kind: gear, between: [one, two], ratio: -1.5, carrier: arm}
forces: {m: {kind: motor, between: [arm, one], torque: 0.2}}
start: {arm: 0.3, arm.rate: 1.0}
""")
    assert mechanism.isolated()
    grounded = {**mechanism.joints["G"].plain(), "carrier": "ground"}
    assert not mechanism.replace(joints={**mechanism.joints, "G": grounded}).isolated()
    run = jp.simulate(mechanism, until=0.5)
    bodies = mechanism.bodies
    total = 0.0
    for name, body in bodies.items():
        b = run.sel(body=name)
        total = total + body.inertia * b.angle_rate + body.mass * (b.x * b.y_rate - b.y * b.x_rate)
    assert total.values == pytest.approx(float(total[0]), abs=1e-9) and abs(float(total[0])) > 0.05
    with pytest.raises(jp.model.ModelError, match="carrier: must be a third body or the ground, got the wheel 'one'"):
        mechanism.replace(joints={**mechanism.joints, "G": {**grounded, "carrier": "one"}})
    with pytest.raises(jp.model.ModelError, match="carrier: no body 'am'; did you mean 'arm'"):
        mechanism.replace(joints={**mechanism.joints, "G": {**grounded, "carrier": "am"}})


SHOWN = {
    "revolute": "ground: {points: {O: [0, 0]}}\nbodies: {a: {bar: 0.3, mass: 1}}\n"
    "joints: {J: {kind: revolute, between: [ground.O, a.start], clearance: 1 mm, journal_radius: 10 mm}}",
    "prismatic": "ground: {points: {O: [0, 0]}}\nbodies: {a: {bar: 0.3, mass: 1}}\n"
    "joints: {J: {kind: prismatic, between: [ground.O, a.start], clearance: 1 mm, length: 50 mm, radius: 10 mm}}",
    "slot": "ground: {points: {O: [0, 0]}}\nbodies: {a: {bar: 0.3, mass: 1}}\n"
    "joints: {J: {kind: slot, between: [ground.O, a.start], clearance: 1 mm, pin_radius: 5 mm}}",
    "gear": "ground: {points: {O: [0, 0], P: [0.2, 0]}}\nbodies: {a: {bar: 0.1, mass: 1}, b: {bar: 0.1, mass: 1}}\n"
    "joints: {A: {kind: revolute, between: [ground.O, a.start]}, B: {kind: revolute, between: [ground.P, b.start]}, "
    "J: {kind: gear, between: [a, b], ratio: -1, play: 0.02}}",
}


@pytest.mark.parametrize("kind", SHOWN)
def test_every_contact_is_checked_drawn_and_shown(kind):
    mechanism = jp.loads(SHOWN[kind])
    jp.check(mechanism).text()
    run = jp.simulate(mechanism, until=0.05, every=1e-3)
    figure = jp.plots.journal(run, "J")
    assert "J" in figure.axes[0].get_xlabel()
    page = report.html(run)
    assert '"shape":"' in page and "NaN" not in page.partition("numbers")[0]
    shown = jp.plots.places.Places(run).play("J")
    for label, gap in shown.gaps.items():  # the picture computes what the run did
        assert gap == pytest.approx(run.gap.sel(contact=label).values, abs=1e-12)
    assert shown.words and shown.unit == mechanism.joints["J"].play_unit


@pytest.mark.parametrize("kind", IDEAL)
def test_every_joint_can_be_cut_from_a_controllers_model(kind):
    mechanism = with_joint(IDEAL[kind])
    rows = System(mechanism).rows
    names = [f"{body}.{c}" for body in mechanism.bodies for c in ("x", "y", "angle")]
    pose = Pose(mechanism, mechanism.addresses().get, dict.fromkeys(names, 0.1), 0.0)
    assert rows and {mechanism.owner(row) for row in rows} == {"J"}
    cut = Equations(mechanism, lambda a: mechanism.addresses().get(a, 0), ["J"])
    assert cut.constraints(pose) == []


def test_stops_bound_the_coordinate_that_sensors_see():
    mechanism = with_joint(TOUCHING["prismatic"].replace("clearance: 1 mm", "clearance: 0"))
    joint = mechanism.joints["J"]
    q, _, _ = random_state(9)
    names = [f"{body}.{c}" for body in mechanism.bodies for c in ("x", "y", "angle")]
    pose = Pose(mechanism, lambda a: mechanism.addresses().get(a, 0.0), dict(zip(names, q.tolist(), strict=True)), 0.0)
    here = Here(pose, "J", joint)
    at = float(joint.coordinate(here))
    assert at == pytest.approx(joint.side(here, "second") - joint.side(here, "first"))
    lower, upper = sorted(float(spot.gap) for spot in joint.stops(here))
    assert sorted([at - joint.lower, joint.upper - at]) == pytest.approx([lower, upper])
    assert all(spot.play is None and spot.tangential is None for spot in joint.stops(here))


def test_sizes_and_units_of_play():
    units = {name: Joint.kinds()[name].model_fields for name in ours(Joint)}
    assert {n: Joint.kinds()[n].opened_by for n in units if Joint.kinds()[n].opened_by} == {
        "revolute": "clearance", "prismatic": "clearance", "slot": "clearance", "gear": "play"
    }  # fmt: skip
    loose = {kind: with_joint(text).joints["J"] for kind, text in TOUCHING.items()}
    assert {kind: joint.play_unit for kind, joint in loose.items() if joint.play_unit != "m"} == {
        "gear": "rad", "gear carried": "rad"
    }  # fmt: skip
    assert all(joint.loose and not math.isclose(joint.looseness, 0) for joint in loose.values())
    soft = with_joint(TOUCHING["slot"]).loosen("J", "2 mm", contact=Compliant())
    assert list(soft.loose(Compliant)) == ["J"] and soft.closed().joints["J"].looseness == 0
