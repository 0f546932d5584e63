"""A mechanism is a value: equal by its numbers, changed only into copies, every number at one address."""

import copy
import pickle

import pytest

from jointplay import model
from jointplay.model import Mechanism, ModelError, bar, library

REVOLUTE = {"kind": "revolute", "between": ["ground.O", "arm.start"]}


def arm(**fields) -> Mechanism:
    base = {"ground": {"points": {"O": (0, 0)}}, "bodies": {"arm": bar(1.0, mass=2.0)}, "joints": {"J": REVOLUTE}}
    return Mechanism(**{**base, **fields})


def everything() -> Mechanism:
    """One element of each kind."""
    return Mechanism(
        name="everything",
        ground=model.Ground(points={"O": (0, 0), "P": (1, 0)}),
        bodies={"a": bar(1, 1), "b": bar(2, 1, 0.5, (0.5, 0.1), {"eye": (1, 1)}), "c": model.Body(mass=1, inertia=0)},
        joints={
            "J1": model.Revolute(between=("ground.O", "a.start"), clearance=1e-3, bearing="second"),
            "J2": model.Prismatic(
                **{"between": ("ground.P", "c.centre"), "axis": (1, 2), "angle": 0.3, "clearance": 1e-4, "length": 0.1},
                **{"radius": 0.01, "contact": model.Rigid(friction=0.1), "lower": -1, "upper": 1},
            ),
            "J3": model.Weld(between=("a.end", "b.start"), angle=0.2),
            "J4": model.Slot(between=("a.start", "b.eye"), axis=(0, 1), clearance=1e-4, pin_radius=0.01, upper=1),
            "J5": model.Rod(between=("a.end", "c.centre"), length=3),
            "J6": model.Gear(between=("a", "b"), ratio=-2, offset=0.1, play=0.02),
            "J7": model.Revolute(
                **{
                    "between": ("b.eye", "c.centre"),
                    "clearance": 2e-3,
                    "journal_radius": 0.06,
                    "stop_restitution": 0.5,
                },
                contact=model.Rigid(restitution=0.1, friction=0.2, static_friction=0.9),
            ),
        },
        drives={
            "d1": model.AngleDrive(of="a", motion=model.cycloidal(1.0, 2.0)),
            "d2": model.RateDrive(of="J1", motion=model.constant(3.0)),
            "d3": model.PositionDrive(of="J2", motion=model.sine(1.0, 2.0)),
            "d4": model.XDrive(of="b.eye", motion=model.polynomial(0, 1)),
            "d5": model.YDrive(of="b", motion=model.Sum(terms=[model.sine(1, 2), 3.0])),
        },
        forces={
            "f1": model.Force(at="b.eye", x=5.0, y=model.table([0, 1, 2], [0, 1, 0])),
            "f2": model.Torque(on="a", torque=model.constant_speed(2.0)),
            "f3": model.Motor(between=("ground", "a"), torque=6.0),
            "f4": model.Spring(between=("ground.O", "b.eye"), stiffness=10, damping=1, free_length=0.5),
            "f5": model.Torsion(between=("a", "c"), stiffness=1, damping=2, free_angle=3),
        },
        gravity=(1, -2),
        start={"a": 0.1, "b.x": 0.2, "c.y.rate": 0.3, "a.rate": 0.4},
    )


def test_a_mechanism_is_a_value():
    a, b = everything(), everything()
    assert a == b and hash(a) == hash(b) and a is not b
    assert a != a.with_({"a.mass": 3.0})
    assert copy.deepcopy(a) == a and pickle.loads(pickle.dumps(a)) == a
    with pytest.raises(TypeError, match="use replace or with_"):
        a.bodies["x"] = bar(1, 1)
    with pytest.raises(ValueError, match="frozen"):
        a.bodies["a"].mass = 2.0


def test_addresses_of_every_element():
    found = everything().addresses()
    expected = {"gravity.y": -2, "ground.P.x": 1, "a.length": 1, "a.mass": 1, "a.inertia": 1 / 12, "a.centre.x": 0.5}
    expected |= {"b.centre.y": 0.1, "b.eye.x": 1, "b.inertia": 0.5, "J1.clearance": 1e-3, "J2.axis.y": 2}
    expected |= {"J2.angle": 0.3, "J3.angle": 0.2, "J4.axis.x": 0, "J5.length": 3, "J6.ratio": -2, "J6.offset": 0.1}
    expected |= {"J2.clearance": 1e-4, "J2.length": 0.1, "J2.radius": 0.01, "J2.friction": 0.1, "J2.lower": -1}
    expected |= {"J4.pin_radius": 0.01, "J4.upper": 1, "J6.play": 0.02, "J7.journal_radius": 0.06}
    expected |= {"J7.restitution": 0.1, "J7.friction": 0.2, "J7.static_friction": 0.9, "J7.stop_restitution": 0.5}
    expected |= {"d1.end": 1, "d1.duration": 2, "d2.value": 3, "d3.frequency": 2, "d4.coefficients.1": 1}
    expected |= {"d5.terms.0.amplitude": 1, "d5.terms.1": 3, "f1.x": 5, "f2.torque.speed": 2, "f3.torque": 6}
    expected |= {"f4.free_length": 0.5, "f5.free_angle": 3, "start.a": 0.1, "start.b.x": 0.2, "start.c.y.rate": 0.3}
    assert {address: found[address] for address in expected} == expected
    assert all(type(x) is float for x in found.values())
    assert list(everything().tables()) == ["f1.y.table"]


@pytest.mark.parametrize("address", everything().addresses())
def test_every_address_can_be_set(address):
    before = everything()
    value = before.value(address) + 0.25
    inertias = {"a.inertia": 0.3} if address.startswith("a.centre") else {}
    after = before.with_({**inertias, address: value})
    changed = {a for a, x in after.addresses().items() if x != before.value(a)}
    derived = {"a.mass": {"a.inertia"}, "a.length": {"a.inertia", "a.centre.x"}}
    assert after.value(address) == value
    assert changed == {address, *inertias} | derived.get(address, set())
    assert before == everything()


def test_with_reads_units_and_sets_new_start_values():
    m = everything().with_({"a.mass": "500 g", "d3.frequency": "1 Hz", "f1.x": "1 kN", "start.c": "180 deg"})
    assert [m.value(a) for a in ("a.mass", "f1.x", "start.c")] == [0.5, 1000.0, pytest.approx(3.141592653589793)]


def test_a_python_function_is_a_motion():
    m = arm(drives={"d": model.AngleDrive(of="arm", motion=lambda t: 2 * t)})
    assert m.drives["d"].motion(3.0) == 6.0 and m.with_({"arm.mass": 1.0}).drives == m.drives
    assert "d" not in {address.partition(".")[0] for address in m.addresses()}


def test_replace_and_loosen():
    m = arm()
    assert m.replace(name="other").name == "other" and m.name == "mechanism"
    loose = m.loosen("J", "3 mm", bearing="second")
    assert loose.value("J.clearance") == 0.003 and loose.joints["J"].bearing == "second"
    assert loose.with_({"J.clearance": 0}).joints["J"].bearing == "second"


def test_bars():
    uniform = bar(2.0, mass=3.0, points={"eye": (1.0, 0.5)})
    assert (uniform.inertia, uniform.centre, uniform.length) == (1.0, (1.0, 0.0), 2.0)
    assert uniform.arm("start") == (-1.0, 0.0) and uniform.arm("end") == (1.0, 0.0) and uniform.arm("eye") == (0.0, 0.5)
    assert model.Body(mass=1, inertia=2, centre=(1, 2), points={"p": (3, 3)}).arm("p") == (2.0, 1.0)
    both = uniform.loaded(3.0, (2.0, 0.0))
    assert (both.mass, both.centre, both.inertia) == (6.0, (1.5, 0.0), pytest.approx(1 + 1.5))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bar(1, -1), "body.mass: must be > 0, got -1.0 kg"),
        (lambda: bar(1, 0), "body.mass: must be > 0, got 0.0 kg"),
        (lambda: bar(0, 1), "body.bar: must be > 0, got 0.0 m"),
        (lambda: bar(1, float("inf")), "body.mass: must be finite, got inf"),
        (lambda: bar(1, True), "body.mass: must be a number such as 1.5 or '1.5 kg', got True"),
        (lambda: bar(1, 1, -0.1), "body.inertia: must be >= 0, got -0.1 kg*m^2"),
        (
            lambda: bar(1, 1, centre=(0, 0)),
            "body.inertia: is missing; a bar whose mass centre is not in its middle has no default",
        ),
        (
            lambda: model.Body(mass=1),
            "body.inertia: is missing; give kg*m^2 about the mass centre (only a uniform bar has a default)",
        ),
        (lambda: model.Body(mas=1), "body.mas: unknown key; did you mean 'mass'?"),
        (lambda: model.Body(length=1, mass=1), "body.length: a bar of this length is written `bar: 100 mm`"),
        (
            lambda: bar(1, 1, points={"end": (0, 0)}),
            "body.points.end: is already a point of the bar; choose another name",
        ),
        (lambda: bar(1, 1, points={"x": (0, 0)}), "body.points.x: this name is reserved; choose another"),
        (lambda: bar(1, 1, points={"p": (0,)}), "body.points.p: must be [x, y], got (0,)"),
        (
            lambda: model.Slot(between=("a.b", "c.d"), axis=(0, 0)),
            "slot.axis: must have a direction, got [0, 0]; for example [1, 0]",
        ),
        (lambda: model.Gear(between=("a", "b"), ratio=0), "gear.ratio: must not be 0, got 0.0"),
        (lambda: model.Rod(between=("a.b", "c.d"), length=0), "rod.length: must be > 0, got 0.0 m"),
        (
            lambda: model.Revolute(between="a.b"),
            "revolute.between: must be two names such as [ground.O, crank.start], got 'a.b'",
        ),
        (
            lambda: model.Revolute(between=("a.b", "c.d"), bearing="third"),
            "revolute.bearing: must be 'first' or 'second', got 'third'",
        ),
        (lambda: arm(bodies={}, joints={}), "bodies: a mechanism needs at least one body"),
        (
            lambda: arm(bodies={"1st": bar(1, 1)}),
            "bodies.1st: a name must be a letter followed by letters, digits, _ or -",
        ),
        (lambda: arm(bodies={"ground": bar(1, 1)}), "bodies.ground: this name is reserved; choose another"),
        (lambda: arm(name="a\nb"), "name: must be one line of printable text, got 'a\\nb'"),
        (
            lambda: arm(drives={"arm": {"kind": "angle", "of": "arm", "motion": 1}}),
            "drives.arm: the name is already used in bodies; names are unique in a mechanism",
        ),
        (
            lambda: arm(joints={"J": {"kind": "revolute", "between": ["ground.O", "arm.strat"]}}),
            "joints.J.between.1: no point 'arm.strat'; did you mean 'arm.start' or 'arm.centre'?",
        ),
        (
            lambda: arm(joints={"J": {"kind": "weld", "between": ["arm.end", "arm.start"]}}),
            "joints.J.between: must join two different bodies, got 'arm' twice",
        ),
        (
            lambda: arm(drives={"d": {"kind": "position", "of": "J", "motion": 1}}),
            "drives.d.of: no prismatic or slot joint 'J'",
        ),
        (
            lambda: arm(drives={"d": {"kind": "x", "of": "ground.O", "motion": 1}}),
            "drives.d.of: no moving point or body 'ground.O'; known: arm, arm.centre, arm.end, arm.start",
        ),
        (
            lambda: arm(drives={k: {"kind": k, "of": "arm", "motion": 1} for k in ("angle", "rate")}),
            "drives.rate.of: the angle of 'arm' is already driven by 'angle'",
        ),
        (
            lambda: arm(forces={"f": {"kind": "torque", "on": "ground", "torque": 1}}),
            "forces.f.on: no body 'ground'; known: arm",
        ),
        (lambda: arm(start={"amr": 1}), "start.amr: no such body; did you mean 'arm'?"),
        (lambda: arm(start={"arm": 1e9}), "start.arm: must be within 1e+06 rad, got 1e+09: take off whole turns"),
        (lambda: bar(1e300, 1), "body.bar: must be at most 1e+30, got 1e+300 m; is its unit right?"),
        (lambda: bar(1, "1e-40 kg"), "body.mass: must be at least 1e-30, got 1e-40 kg; is its unit right?"),
        (
            lambda: arm(gravity=(0, -1e31)),
            "gravity.1: must be at most 1e+30 in size, got -1e+31 m/s^2; is its unit right?",
        ),
        (
            lambda: model.Spring(between=("a.b", "c.d"), stiffness=1e-31),
            "spring.stiffness: must be at least 1e-30, got 1e-31 N/m; is its unit right?",
        ),
        (lambda: arm().value("arm.bar"), "arm.bar: no such address; its address is 'arm.length'"),
        (
            lambda: library.scotch_yoke(speed=1.0).value("motor.motion.speed"),
            "motor.motion.speed: no such address; its address is 'motor.speed'",
        ),
        (
            lambda: arm().value("joints.J.clearance"),
            "joints.J.clearance: no such address; its address is 'J.clearance'",
        ),
        (lambda: arm().value("arm.mas"), "arm.mas: no such address; did you mean 'arm.mass'?"),
        (
            lambda: arm().value("J.kind"),
            "J.kind: no such address; known: J.clearance, J.journal_radius, J.restitution, J.friction, "
            "J.stop_restitution",
        ),
        (lambda: arm().with_({"J.clearance": -1e-3}), "joints.J.clearance: must be >= 0, got -0.001 m"),
        (
            lambda: arm().with_({"arm.mass": "1 m"}),
            "bodies.arm.mass: must be a mass in kg, got '1 m' (a length, wrong dimension)",
        ),
        (lambda: arm().loosen("K", 1), "joints.K: no such joint; known: J"),
        (
            lambda: library.slider_crank().loosen("J4", 1e-3),
            "joints.J4.length: is missing; with a clearance, give the length of the bore or block in m",
        ),
    ],
)
def test_refusals(make, message):
    with pytest.raises(ModelError) as caught:
        make()
    assert str(caught.value) == message


def test_problems_are_values_and_all_are_told():
    with pytest.raises(ModelError) as caught:
        arm(bodies={"arm": {"bar": -1, "mass": "x"}})
    assert [p.path for p in caught.value.problems] == [("bodies", "arm", "bar"), ("bodies", "arm", "mass")]
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
