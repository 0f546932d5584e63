"""Compliant contact in a model: laws by name or of one's own, units, addresses, files, a message for each slip."""

import copy
import json
import pickle
import re

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from jointplay import model, statics
from jointplay.laws import law
from jointplay.laws.friction import FRICTION
from jointplay.laws.normal import NORMAL
from jointplay.model import Compliant, Following, ModelError, Rigid, library
from jointplay.model.checks import assumed
from jointplay.simulation import simulate

CONTACT = """kind: compliant, normal: {law: lankarani_nikravesh, stiffness: 1e9, restitution: 0.9}, \
friction: {law: ambrosio, friction: 0.1, v0: 1 mm/s, v1: 10 mm/s}"""
TEXT = f"""\
ground: {{points: {{O: [0, 0], P: [1, 0]}}}}
bodies:
  arm: {{bar: 1 m, mass: 1 kg}}
  block: {{mass: 1 kg, inertia: 1 kg*m^2, points: {{p: [0, 0]}}}}
joints:
  J2: {{kind: revolute, between: [ground.O, arm.start], clearance: 1 mm, journal_radius: 10 mm, contact: {{{CONTACT}}}}}
  J3: {{kind: prismatic, between: [ground.P, block.p], clearance: 0.5 mm, length: 60 mm}}
  J4: {{kind: gear, between: [arm, block], ratio: 1, play: 1 deg}}
"""
ADDRESSES = {
    "J2.normal.stiffness": 1e9,
    "J2.normal.exponent": 1.5,
    "J2.normal.restitution": 0.9,
    "J2.friction.friction": 0.1,
    "J2.friction.v0": 1e-3,
    "J2.friction.v1": 1e-2,
}


@law(units={"stiffness": "N/m"})
def own(depth, rate, approach, *, stiffness, shape=2.0):
    """A law of one's own."""
    return stiffness * depth * (1 + depth) ** shape


def with_contact(contact):
    return model.loads(TEXT.replace(CONTACT, contact), "m.yaml")


def message(make):
    with pytest.raises(ModelError) as caught:
        make()
    return str(caught.value)


def test_a_law_by_its_name_has_its_defaults():
    contact = Compliant(normal="hunt_crossley", friction="ambrosio")
    assert contact.normal.law is NORMAL["hunt_crossley"] and contact.friction.law is FRICTION["ambrosio"]
    assert contact.normal.values == {"stiffness": 1e9, "exponent": 1.5, "restitution": 0.9}
    assert contact == Compliant(normal={"law": "hunt_crossley"}, friction=FRICTION["ambrosio"])
    assert contact == Compliant(normal=contact.normal, friction=contact.friction)
    assert contact != Compliant(normal="lankarani_nikravesh", friction="ambrosio")
    assert Compliant().normal.law is NORMAL["exact_restitution"] and Compliant().friction is None
    assert with_contact("kind: compliant").joints["J2"].contact == Compliant()
    assert with_contact("kind: compliant, normal: hertz, friction: null").joints["J2"].contact == Compliant(
        normal="hertz"
    )
    assert list(contact.laws()) == ["normal", "friction"] and list(Compliant().laws()) == ["normal"]


def test_addresses_units_and_changes():
    m = model.loads(TEXT)
    assert {a: m.value(a) for a in ADDRESSES} == ADDRESSES
    other = m.with_({"J2.normal.stiffness": "1e5 N/mm^1.5", "J2.friction.v0": "2 mm/s", "J2.normal.restitution": 0.5})
    assert other.value("J2.normal.stiffness") == pytest.approx(3.162278e9, rel=1e-6)
    assert other.value("J2.friction.v0") == 2e-3 and other.value("J2.friction.v1") == 1e-2
    assert list(m.loose(Compliant)) == ["J2"] and list(m.loose(Rigid)) == ["J3", "J4"] and m.loose(Following) == {}
    assert m.with_({"J2.clearance": 0}).loose(Compliant) == {}


@pytest.mark.parametrize(
    ("text", "exponent", "number"),
    [
        ("1e5 N/mm^1.5", 1.5, 1e5 * 1e3**1.5),
        ("1e5N/mm**1.5", 1.5, 1e5 * 1e3**1.5),
        ("100 kN/mm", 1, 1e8),
        ("100 kN / mm^1", 1, 1e8),
        ("2 MN/m^2", 2, 2e6),
        ("2.5e9", 1.5, 2.5e9),
        (2.5e9, 1.5, 2.5e9),
    ],
)
def test_stiffness_of_a_power_law(text, exponent, number):
    contact = Compliant(normal={"law": "hertz", "stiffness": text, "exponent": exponent})
    assert contact.normal.values["stiffness"] == pytest.approx(number, rel=1e-14)


def test_units_of_other_parameters():
    normal = {"law": "adams_impact", "stiffness": 1, "damping": "58 N*s/mm", "ramp": "0.1 mm"}
    contact = Compliant(normal=normal, friction={"law": "lugre", "stiffness": "10 1/mm", "damping": "1 s/m"})
    assert contact.normal.values["damping"] == 58e3 and contact.normal.values["ramp"] == 1e-4
    assert contact.friction.values["stiffness"] == 1e4
    assert Compliant(normal={"law": "johnson", "modulus": "114 GPa"}).normal.values["modulus"] == 114e9
    assert Compliant(normal={"law": "kelvin_voigt", "stiffness": "1 kN/mm"}).normal.values["stiffness"] == 1e6


# -- files
def test_the_round_trip_is_exact():
    m = model.loads(TEXT)
    assert model.loads(model.dumps(m)) == m
    assert "restitution: 0.9" in model.dumps(m) and "exponent: 1.5" in model.dumps(m)  # defaults too: they may change
    assert pickle.loads(pickle.dumps(m)) == m == copy.deepcopy(m)
    assert hash(m.joints["J2"]) == hash(model.loads(TEXT).joints["J2"])


@pytest.mark.parametrize("name", NORMAL)
def test_every_normal_law_in_a_file(name):
    m = library.four_bar().loosen("J2", 1e-3, journal_radius=0.01, length=0.02, contact=Compliant(normal=name))
    assert model.loads(model.dumps(m)) == m
    numbers = {a.rpartition(".")[2] for a in m.addresses() if a.startswith("J2.normal.")}
    assert numbers == set(NORMAL[name].own)
    changed = m.with_({f"J2.normal.{n}": 0.5 if n == "restitution" else 2.0 for n in NORMAL[name].own})
    assert changed.joints["J2"].contact.normal.law is NORMAL[name] and changed != m


@pytest.mark.parametrize("name", FRICTION)
def test_every_friction_law_in_a_file(name):
    m = library.four_bar().loosen("J2", 1e-3, contact=Compliant(friction=name))
    assert model.loads(model.dumps(m)) == m
    numbers = {a.rpartition(".")[2] for a in m.addresses() if a.startswith("J2.friction.")}
    assert numbers == set(FRICTION[name].parameters)


@given(st.floats(1e-3, 1e15), st.floats(1, 4), st.floats(0, 1))
@settings(max_examples=30, phases=[Phase.generate], deadline=None)
def test_any_numbers_survive_a_file(stiffness, exponent, restitution):
    normal = {"law": "hunt_crossley", "stiffness": stiffness, "exponent": exponent, "restitution": restitution}
    m = model.loads(TEXT).loosen("J3", 1e-3, contact=Compliant(normal=normal))
    assert model.loads(model.dumps(m)) == m
    assert m.value("J3.normal.stiffness") == stiffness and m.value("J3.normal.restitution") == restitution


def test_the_schema_knows_every_law():
    made = model.schema()
    properties = made["$defs"]["Compliant"]["properties"]
    names, *objects = properties["normal"]["anyOf"]
    assert names["enum"] == list(NORMAL)
    assert [o["properties"]["law"]["const"] for o in objects] == list(NORMAL)
    hertz = objects[list(NORMAL).index("hertz")]
    assert hertz["properties"]["stiffness"]["anyOf"][0] == {"type": "number", "exclusiveMinimum": 0.0}
    assert hertz["additionalProperties"] is False and hertz["required"] == ["law"]
    assert {"$ref": "#/$defs/Compliant"} in made["$defs"]["Gear"]["properties"]["contact"]["anyOf"]
    text = json.dumps(made)
    assert "x-part" not in text and set(re.findall(r'"#/\$defs/(\w+)"', text)) <= set(made["$defs"])
    friction = json.dumps(properties["friction"])
    assert all(f'"const": "{name}"' in friction for name in FRICTION)


# -- laws of one's own
def test_a_law_of_ones_own():
    m = model.loads(TEXT).loosen("J3", 1e-3, contact=Compliant(normal={"law": own, "stiffness": "1 kN/mm"}))
    contact = m.joints["J3"].contact
    assert contact.normal.law is own.taken_as("normal") and contact.normal.values == {"stiffness": 1e6, "shape": 2.0}
    assert m.with_({"J3.normal.shape": 3}).value("J3.normal.shape") == 3
    text = "joints.J3.contact.normal: a law of your own (own) cannot be written to a file; use one that files know"
    assert message(lambda: model.dumps(m)) == text
    rough = model.loads(TEXT).loosen("J2", 0, journal_radius=0.01, pin_friction=viscous)
    text = "joints.J2.pin_friction: a law of your own (viscous) cannot be written to a file; use one that files know"
    assert message(lambda: model.dumps(rough)) == text


def test_a_law_of_ones_own_that_is_registered_goes_into_files(monkeypatch):
    monkeypatch.setitem(NORMAL, "own", own)
    m = with_contact("kind: compliant, normal: {law: own, stiffness: 3 N/m}")
    assert m.value("J2.normal.stiffness") == 3 and model.loads(model.dumps(m)) == m


@law()
def viscous(slip, normal, *, friction=0.1):
    return -friction * normal * slip


@law()
def two(depth, rate):
    return depth + rate


@law()
def rubbing(slip, normal, *, friction=0.1, length):
    return -friction * normal * slip / length


# -- which joints
def test_every_joint_with_play():
    m = model.loads(TEXT).loosen("J3", 1e-3, contact=Compliant(normal="hertz", friction="threlfall"))
    m = m.loosen("J4", 0.01, contact=Compliant(normal={"law": "kelvin_voigt", "stiffness": 1e4, "damping": 1.0}))
    assert list(m.loose(Compliant)) == ["J2", "J3", "J4"] and m.value("J4.normal.damping") == 1.0
    slot = model.Slot(between=("a.b", "c.d"), clearance=1e-3, contact=Compliant())
    assert slot.contact == Compliant()
    for kind in (model.Revolute, model.Prismatic, model.Slot):
        assert kind(between=("a.b", "c.d")).contact == Rigid()  # compliant only where it is asked for


def test_sizes_come_from_the_joint():
    fields = {"between": ("a.b", "c.d"), "clearance": 1e-3, "contact": Compliant(normal="johnson")}
    assert model.Revolute(**fields, journal_radius=0.01, length="20 mm").length == 0.02
    make = lambda **more: message(lambda: model.Revolute(**fields, **more))  # noqa: E731
    assert make(length=0.02) == "revolute.journal_radius: is missing; law 'johnson' needs one > 0"
    assert make(journal_radius=0.01) == "revolute.length: is missing; law 'johnson' needs one > 0"
    assert make(journal_radius=0.01, length=0) == "revolute.length: must be > 0, got 0.0 m"
    ideal = model.Revolute(**fields | {"clearance": 0})  # nothing is needed before it is opened
    assert ideal.contact.normal.law is NORMAL["johnson"]
    text = "needs a journal_radius, which a prismatic joint has not; choose another law"
    assert message(lambda: model.Prismatic(**fields, length=1)) == f"prismatic.contact.normal.law: law 'johnson' {text}"
    rough = Compliant(friction=rubbing)
    assert model.Prismatic(**fields | {"contact": rough}, length=1).contact == rough
    assert "law 'rubbing' needs a length, which a slot joint has not" in message(
        lambda: model.Slot(**fields | {"contact": rough})
    )


def test_gears_count_in_angles():
    gear = {"between": ("a", "b"), "ratio": 1, "play": 0.1}
    assert model.Gear(**gear, contact=Compliant()).contact == Compliant()
    for friction in (Compliant(friction="dahl"), {"kind": "compliant", "friction": "dahl"}):
        text = message(lambda friction=friction: model.Gear(**gear, contact=friction))
        assert text == "gear.contact.friction: a gear's play has no friction; leave it out"
    united = {"kind": "compliant", "normal": {"law": "kelvin_voigt", "stiffness": "1 N/m"}}
    text = "gear.contact.normal.stiffness: the depth is an angle in a gear: must be a plain number in N m and rad, got"
    assert message(lambda: model.Gear(**gear, contact=united)) == f"{text} '1 N/m'"
    assert model.Gear(**gear, contact={"kind": "compliant", "normal": {"law": "hertz", "stiffness": "1e3"}})


# -- refusals
LISTED = ", ".join(NORMAL)


@pytest.mark.parametrize(
    ("contact", "message_"),
    [
        (
            "normal: {law: hertz, stifness: 1}",
            "normal.stifness: law 'hertz' has no such parameter; it has stiffness, exponent",
        ),
        ("normal: {law: hunt_crosley}", "normal.law: unknown normal law 'hunt_crosley'; did you mean 'hunt_crossley'?"),
        ("normal: ambrosio", f"normal: unknown normal law 'ambrosio'; known: {', '.join(list(NORMAL)[:12])}, ...; "
         "one of your own is loaded by --with FILE"),
        ("normal: {stiffness: 3}", f"normal.law: is missing; one of {LISTED}"),
        ("normal: [hertz]", f"normal: must be a normal law, by name or a Law, got ['hertz']; give one of {LISTED}"),
        ("normal: {law: hertz, stiffness: 0}", "normal.stiffness: must be > 0, got 0.0"),
        ("normal: {law: hertz, stiffness: -1 N/m^1.5}", "normal.stiffness: must be > 0, got -1.0"),
        ("normal: {law: hertz, stiffness: .inf}", "normal.stiffness: must be a stiffness in N/m^1.5, a plain number or "
         "such as '1e5 N/mm^1.5', got '.inf'"),
        ("normal: {law: hertz, stiffness: inf}", "normal.stiffness: must be finite, got inf"),
        ("normal: {law: hertz, exponent: 0.9}", "normal.exponent: must be >= 1, got 0.9"),
        ("normal: {law: hertz, stiffness: [1]}", "normal.stiffness: must be a number such as 1.5, got ['1']"),
        (
            "normal: {law: hertz, stiffness: 1e5 N/mm}",
            "normal.stiffness: must be a stiffness in N/m^1.5, a plain number or such as '1e5 N/mm^1.5', "
            "got '1e5 N/mm'",
        ),
        (
            "normal: {law: hertz, stiffness: 1e5 N/s^1.5}",
            "normal.stiffness: must be a stiffness in N/m^1.5, a plain number or such as '1e5 N/mm^1.5', "
            "got '1e5 N/s^1.5'",
        ),
        (
            "normal: {law: hertz, stiffness: 1e5 N/furlong^1.5}",
            "normal.stiffness: unknown unit 'furlong'; known are mm, um, cm, m, kg, g, s, ms, rad, deg, rpm, rev, Hz, "
            "N, kN, mN, J, W, Pa, min, h and their products",
        ),
        ("normal: {law: hunt_crossley, restitution: 1.1}", "normal.restitution: must be <= 1, got 1.1"),
        ("normal: {law: hunt_crossley, restitution: -0.1}", "normal.restitution: must be >= 0, got -0.1"),
        ("normal: {law: flores, restitution: 0}", "normal.restitution: must be > 0, got 0"),
        ("normal: {law: exact_restitution, restitution: 0}", "normal.restitution: must be > 0, got 0"),
        (
            "normal: {law: kelvin_voigt, damping: 1 N}",
            "normal.damping: must be a damping in N*s/m, got '1 N' (a force, wrong dimension)",
        ),
        ("normal: {law: kelvin_voigt, damping: -1}", "normal.damping: must be >= 0, got -1 N*s/m"),
        ("normal: {law: adams_impact, ramp: 0}", "normal.ramp: must be > 0, got 0 m"),
        (
            "normal: {law: johnson, clearance: 3}",
            "normal.clearance: is a field of the joint, where law 'johnson' finds it; give it there",
        ),
        ("friction: {law: ambrosio, friction: -1}", "friction.friction: must be >= 0, got -1"),
        ("friction: {law: ambrosio, v0: 1 cm/s, v1: 1 mm/s}", "friction.v0: must be < v1, which is 0.001, got 0.01"),
        ("friction: {law: modified_coulomb, v_s: 1}", "friction.v_s: must be < v_d, which is 0.01, got 1.0"),
        (
            "friction: {law: lugre, friction: 0.3}",
            "friction.friction: must be <= static_friction, which is 0.15, got 0.3",
        ),
        ("friction: {law: dahl, bristle: 1}", "friction.bristle: law 'dahl' has no such parameter; it has friction, "
         "stiffness"),
        ("friction: {law: threlfall, v_r: 0}", "friction.v_r: must be > 0, got 0 m/s"),
        ("nrmal: hertz", "nrmal: unknown key; did you mean 'normal'?"),
    ],
)  # fmt: skip
def test_refusals_in_a_file(contact, message_):
    assert message(lambda: with_contact(f"kind: compliant, {contact}")) == f"m.yaml:6: joints.J2.contact.{message_}"


def test_refusals_in_python():
    remedy = "decorate it with @normal() of jointplay.laws.roles"
    assert message(lambda: Compliant(normal=len)).endswith(f"got <built-in function len>; {remedy}")
    assert (
        message(lambda: Compliant(normal={"law": own})) == "compliant.normal.stiffness: is missing; law 'own' needs it"
    )
    takes = "a normal law takes (depth, rate, approach), but 'two' takes ['depth', 'rate']"
    assert message(lambda: Compliant(normal=two)) == f"compliant.normal: {takes}"
    assert "a friction law takes (slip, normal)" in message(lambda: Compliant(friction=own))
    several = message(lambda: Compliant(normal={"law": "hertz", "stiffness": 0, "exponent": 0, "x": 1}))
    assert several.count("\n") == 2
    m = model.loads(TEXT)
    assert message(lambda: m.with_({"J2.friction.v0": 1.0})).endswith(
        "friction.v0: must be < v1, which is 0.01, got 1.0"
    )
    assert "no such address; did you mean 'J2.friction.v1'" in message(lambda: m.with_({"J2.friction.v2": 1.0}))


# -- from material, from and to ADAMS
def test_from_material():
    contact, numbers = Compliant.from_material(
        "207 GPa", 0.3, journal_radius="10 mm", clearance="0.5 mm", mass="1 kg", speed="10 cm/s", friction="dahl"
    )
    assert contact.normal.law is NORMAL["exact_restitution"] and contact.friction.law is FRICTION["dahl"]
    assert contact.normal.values["stiffness"] == pytest.approx(6.949401e10, rel=1e-7)
    assert numbers["effective restitution"] == pytest.approx(0.9, abs=1e-6)
    assert "recommended step" in str(numbers) and "Hertz" in str(numbers)
    pin = {"journal_radius": 0.01, "clearance": 5e-4, "mass": 1.0, "speed": 0.1}
    line, _ = Compliant.from_material(207e9, 0.3, **pin, length="2 cm", law="johnson", restitution=0.5)
    assert line.normal.values == {"modulus": pytest.approx(1.13736e11, rel=1e-5), "restitution": 0.5}
    soft, _ = Compliant.from_material(207e9, 0.3, **pin, other_young="3 GPa", other_poisson=0.4)
    assert soft.normal.values["stiffness"] < 0.1 * contact.normal.values["stiffness"]


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"young": 0}, "young: must be > 0, got 0.0 Pa"),
        ({"young": "207 GN"}, "young: must be a modulus in Pa, got '207 GN' (a force, wrong dimension)"),
        ({"poisson": 0.6}, "poisson: must be <= 0.5, got 0.6"),
        ({"clearance": 0}, "clearance: must be > 0, got 0.0 m"),
        ({"restitution": 0}, "restitution: must be > 0, got 0.0"),
        ({"law": "johnson"}, "law 'johnson' needs the length of the bearing in m"),
    ],
)
def test_materials_that_cannot_be(changed, text):
    given = {"young": 207e9, "poisson": 0.3, "journal_radius": 0.01, "clearance": 5e-4, "mass": 1.0, "speed": 0.1}
    separator = ": " if "law" in changed else "."
    assert message(lambda: Compliant.from_material(**given | changed)) == f"from_material{separator}{text}"


def test_adams():
    contact = Compliant.from_adams(1e5, 1.5, 58.0, 0.1, friction={"law": "modified_coulomb", "v_s": 0.1, "v_d": 1})
    assert contact.normal.values["stiffness"] == pytest.approx(3.162278e9, rel=1e-6)
    assert contact.normal.values["damping"] == 58e3
    assert contact.adams() == pytest.approx(
        {"stiffness": 1e5, "exponent": 1.5, "damping": 58.0, "dmax": 0.1}, rel=1e-14
    )
    text = "compliant.normal.law: only adams_impact is IMPACT of ADAMS, and this is hertz"
    assert message(lambda: Compliant(normal="hertz").adams()) == text


@pytest.mark.parametrize("normal", ["exact_restitution", {"law": "hunt_crossley", "restitution": 0.5}])
def test_a_stiffness_that_nobody_gave_is_told_beside_that_of_steel(normal):
    contact = Compliant(normal=normal)
    default = library.slider_crank().loosen("J2", "0.5 mm", journal_radius="10 mm", contact=contact)
    [note] = assumed(default)
    assert "joint 'J2'" in note and "1e+09 N/m^1.5" in note and "from_material" in note
    assert note in statics.check(default).notes and note not in statics.check(default).warnings
    assert note in json.loads(simulate(default, 1e-3).attrs["notes"])
    steel, _ = Compliant.from_material(210e9, 0.3, journal_radius=0.01, clearance=5e-4, mass=1.0, speed=0.1)
    assert f"has {steel.normal.values['stiffness']:.2g} N/m^1.5" in note
    given = default.loosen("J2", "0.5 mm", contact=steel)
    assert [*assumed(given)] == [] and not any("default" in note for note in statics.check(given).notes)
