"""Joints with play and stops: every way to say how loose, addresses, loosen, warnings, a message for each slip."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointplay import model
from jointplay.model import Following, ModelError, Rigid, library
from jointplay.model.checks import unused

BETWEEN = ("ground.O", "arm.start")
TIGHT = "so that there is no play to count on; leave the joint ideal or choose a clearance fit"
KNOWN = "known are 1 to 120 mm, holes H6 to H11, shafts d, e, f, g, h with grades 5 to 11, such as '20 H7/g6'"
TEXT = """\
ground: {points: {O: [0, 0], P: [1, 0]}}
bodies:
  arm: {bar: 1 m, mass: 1 kg}
  block: {mass: 1 kg, inertia: 1 kg*m^2, points: {p: [0, 0]}}
joints:
  J1: {kind: revolute, between: [ground.O, arm.start], clearance: 1 mm}
  J2: {kind: prismatic, between: [ground.P, block.p], clearance: 0.5 mm, length: 60 mm, radius: 8 mm}
  J3: {kind: slot, between: [arm.start, block.p], clearance: 0.2 mm, pin_radius: 5 mm}
  J4: {kind: gear, between: [arm, block], ratio: 1, play: 1 deg}
"""


def revolute(**fields):
    return model.Revolute(between=BETWEEN, **fields)


@pytest.mark.parametrize(
    ("fields", "clearance", "radius"),
    [
        ({"clearance": "1 mm"}, 0.001, 0.0),
        ({"clearance": "1 mm", "journal_radius": "60 mm"}, 0.001, 0.06),
        ({"journal_radius": "60 mm", "bearing_radius": "61 mm"}, 0.001, 0.06),
        ({"journal_radius": 0.06, "bearing_radius": 0.061}, 0.001, 0.06),
        ({"journal_radius": 0, "bearing_radius": "1 cm"}, 0.01, 0.0),
        ({"journal_radius": 0.06, "bearing_radius": 0.06}, 0.0, 0.06),
        ({"journal_diameter": "20 mm", "bearing_diameter": "20.05 mm"}, 25e-6, 0.01),
        ({"fit": "20 H7/g6"}, 12e-6, 0.01),
        ({"fit": "20 H7/g6", "at": "mean"}, 12e-6, 0.01),
        ({"fit": "20 H7/g6", "at": "min"}, 3.5e-6, 0.01),
        ({"fit": "20 H7/g6", "at": "max"}, 20.5e-6, 0.01),
    ],
)
def test_ways_to_say_the_clearance(fields, clearance, radius):
    """Decimal sizes give the decimal clearance, to the last bit; the joint keeps the clearance, the radius and the
    place in the fit, for a later one."""
    joint = revolute(**fields)
    assert (joint.clearance, joint.journal_radius) == (clearance, radius)
    assert joint == revolute(clearance=clearance, journal_radius=radius, at=fields.get("at", "mean"))
    assert set(joint.plain(brief=True)) <= {"kind", "between", "clearance", "journal_radius", "at"}


def test_fits_of_bars_and_pins():
    bar = model.Prismatic(between=BETWEEN, fit="20 H7/g6", length=0.06)
    assert (bar.clearance, bar.radius) == (12e-6, 0.01)
    pin = model.Slot(between=BETWEEN, fit="10 H7/f7", at="max")
    assert (pin.clearance, pin.pin_radius) == (21.5e-6, 0.005)
    for kind, radius in ((model.Revolute, "journal_radius"), (model.Prismatic, "radius"), (model.Slot, "pin_radius")):
        with pytest.raises(model.ModelError, match=f"{radius}: is already given by the fit; keep one"):
            kind(between=BETWEEN, fit="10 H7/f7", **{radius: "4 mm"})


def test_a_fit_is_set_by_its_address():
    m = model.loads(TEXT)
    name = next(name for name, joint in m.joints.items() if joint.loose)
    loose = m.with_({f"{name}.fit": "20 H7/g6", f"{name}.at": "max", "gravity.y": 0.0})
    assert loose == m.loosen(name, fit="20 H7/g6", at="max").with_({"gravity.y": 0.0})
    assert loose.value(f"{name}.clearance") == 20.5e-6 and loose.value(f"{name}.journal_radius") == 0.01
    assert m.with_({f"{name}.journal_radius": "9 mm"}).with_({f"{name}.fit": "20 H7/g6", f"{name}.at": "max"}) == (
        m.with_({f"{name}.fit": "20 H7/g6", f"{name}.at": "max"})
    )
    with pytest.raises(model.ModelError, match="journal_radius: is already given by the fit"):
        m.with_({f"{name}.journal_radius": "9 mm", f"{name}.fit": "20 H7/g6"})
    with pytest.raises(model.ModelError, match="given twice, by clearance and by fit"):
        m.with_({f"{name}.clearance": 1e-3, f"{name}.fit": "20 H7/g6"})
    with pytest.raises(model.ModelError, match="no such address"):
        m.value(f"{name}.fit")


def test_a_later_fit_is_at_the_place_of_the_first():
    """It fell back to the mean, 12 um for 20.5."""
    m = model.loads(TEXT.replace("clearance: 1 mm", "fit: 20 H7/g6, at: max"))
    for same in (m, m.with_({"J1.clearance": "1 mm"}), model.loads(model.dumps(m))):
        assert same.with_({"J1.fit": "20 H7/g6"}).value("J1.clearance") == 20.5e-6
        assert same.loosen("J1", fit="20 H7/g6").value("J1.clearance") == 20.5e-6
        assert same.with_({"J1.fit": "20 H7/g6", "J1.at": "min"}).value("J1.clearance") == 3.5e-6
        assert same.loosen("J1", journal_diameter="20 mm", bearing_diameter="20.05 mm").value("J1.clearance") == 25e-6


def test_a_fit_in_a_file_is_written_as_its_size():
    m = model.loads(TEXT.replace("clearance: 1 mm", "fit: 20 H7/g6, at: max"))
    assert m.value("J1.clearance") == 20.5e-6 and m.value("J1.journal_radius") == 0.01
    assert "fit" not in model.dumps(m) and model.loads(model.dumps(m)) == m


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_two_radii_of_any_size(journal, bearing):
    if journal > bearing:
        with pytest.raises(ModelError, match="is larger than its bearing"):
            revolute(journal_radius=journal, bearing_radius=bearing)
    else:
        joint = revolute(journal_radius=journal, bearing_radius=bearing)
        assert joint.journal_radius == journal and joint.clearance == pytest.approx(bearing - journal, abs=1e-9)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"clearance": -1e-3}, "clearance: must be >= 0, got -0.001 m"),
        ({"journal_radius": "-1 mm"}, "journal_radius: must be >= 0, got -1 mm"),
        (
            {"journal_radius": "60 mm", "bearing_radius": "59 mm"},
            "bearing_radius: the journal (0.06 m) is larger than its bearing (0.059 m)",
        ),
        (
            {"journal_diameter": 0.02, "bearing_diameter": 0.01},
            "bearing_diameter: the journal (0.02 m) is larger than its bearing (0.01 m)",
        ),
        ({"bearing_radius": 1}, "journal_radius: is missing; bearing_radius alone gives no clearance"),
        ({"journal_diameter": 1}, "bearing_diameter: is missing; journal_diameter alone gives no clearance"),
        ({"bearing_diameter": 1}, "journal_diameter: is missing; bearing_diameter alone gives no clearance"),
        (
            {"journal_diameter": 1, "bearing_diameter": 2, "journal_radius": 0.5},
            "journal_radius: is already given by journal_diameter; keep one",
        ),
        (
            {"journal_radius": "1 kg", "bearing_radius": 2},
            "journal_radius: must be a length in m, got '1 kg' (a mass, wrong dimension)",
        ),
        ({"journal_radius": 1, "bearing_radius": -2}, "bearing_radius: must be >= 0, got -2.0 m"),
        (
            {"clearance": 0, "fit": "20 H7/g6"},
            "fit: the clearance is given twice, by clearance and by fit; keep one",
        ),
        (
            {"clearance": 0, "journal_radius": 1, "bearing_radius": 1},
            "bearing_radius: the clearance is given twice, by clearance and by two radii; keep one",
        ),
        (
            {"bearing_radius": 1, "bearing_diameter": 1},
            "bearing_diameter: the clearance is given twice, by two radii and by two diameters; keep one",
        ),
        ({"at": "min"}, "at: is the place in a fit; give a fit, such as fit: 20 H7/g6"),
        ({"fit": "20 H7/g6", "at": "middle"}, "at: must be min, mean or max, got 'middle'"),
        (
            {"fit": "20 H7/p6"},
            f"fit: '20 H7/p6' is an interference fit: the shaft p6 is larger than the hole, {TIGHT}; {KNOWN}",
        ),
        ({"fits": "20 H7/g6"}, "fits: unknown key; did you mean 'fit'?"),
        ({"lower": 1, "upper": 1}, "lower: must be < upper, which is 1.0, got 1.0"),
        ({"lower": "1 mm"}, "lower: must be an angle in rad, got '1 mm' (a length, wrong dimension)"),
        ({"stop_restitution": 1.1}, "stop_restitution: must be <= 1, got 1.1"),
        ({"contact": {"friction": 1}}, "contact.kind: is missing; one of following, rigid, compliant"),
        ({"contact": {"kind": "rigid", "restitution": 1.5}}, "contact.restitution: must be <= 1, got 1.5"),
    ],
)
def test_refusals_of_a_revolute_joint(fields, message):
    with pytest.raises(ModelError) as caught:
        revolute(**fields)
    assert str(caught.value) == f"revolute.{message}"


FOLLOWING = (
    "contact: only a revolute joint can have permanent contact (following); use a rigid one, such as {kind: rigid}"
)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Rigid(restitution=-0.1), "rigid.restitution: must be >= 0, got -0.1"),
        (lambda: Rigid(restitution=1.1), "rigid.restitution: must be <= 1, got 1.1"),
        (lambda: Rigid(friction=-0.1), "rigid.friction: must be >= 0, got -0.1"),
        (
            lambda: Rigid(friction=0.3, static_friction=0.2),
            "rigid.static_friction: must be >= friction, which is 0.3, got 0.2",
        ),
        (
            lambda: model.Prismatic(between=BETWEEN, clearance=1e-3),
            "prismatic.length: is missing; with a clearance, give the length of the bore or block in m",
        ),
        (lambda: model.Prismatic(between=BETWEEN, length=0), "prismatic.length: must be > 0, got 0.0 m"),
        (lambda: model.Prismatic(between=BETWEEN, radius=-1), "prismatic.radius: must be >= 0, got -1.0 m"),
        (
            lambda: model.Prismatic(between=BETWEEN, bearing="both"),
            "prismatic.bearing: must be 'first' or 'second', got 'both'",
        ),
        (lambda: model.Prismatic(between=BETWEEN, contact=Following()), f"prismatic.{FOLLOWING}"),
        (
            lambda: model.Prismatic(between=BETWEEN, contact=3),
            "prismatic.contact: must be a contact such as {kind: rigid}, got 3",
        ),
        (
            lambda: model.Prismatic(between=BETWEEN, lower=2, upper=1),
            "prismatic.lower: must be < upper, which is 1.0, got 2.0",
        ),
        (
            lambda: model.Prismatic(between=BETWEEN, bearing_radius=1),
            "prismatic.bearing_radius: unknown key; did you mean 'bearing' or 'radius'?",
        ),
        (lambda: model.Slot(between=BETWEEN, contact={"kind": "following"}), f"slot.{FOLLOWING}"),
        (lambda: model.Slot(between=BETWEEN, pin_radius=-1), "slot.pin_radius: must be >= 0, got -1.0 m"),
        (lambda: model.Slot(between=BETWEEN, clearance=-1), "slot.clearance: must be >= 0, got -1.0 m"),
        (lambda: model.Slot(between=BETWEEN, lower=2, upper=1), "slot.lower: must be < upper, which is 1.0, got 2.0"),
        (lambda: model.Gear(between=("a", "b"), ratio=1, contact=Following()), f"gear.{FOLLOWING}"),
        (lambda: model.Gear(between=("a", "b"), ratio=1, play="-1 deg"), "gear.play: must be >= 0, got -1 deg"),
        (
            lambda: model.Gear(between=("a", "b"), ratio=1, contact={"kind": "soft"}),
            "gear.contact.kind: unknown kind 'soft'; known: rigid, compliant",
        ),
    ],
)
def test_refusals(make, message):
    with pytest.raises(ModelError) as caught:
        make()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "clearance: 1 mm",
            "journal_radius: 2 mm, bearing_radius: 1 mm",
            "6: joints.J1.bearing_radius: the journal (0.002 m) is larger than its bearing (0.001 m)",
        ),
        (
            "clearance: 1 mm",
            "clearance: 1 mm,\n    fit: 20 H7/g6",
            "7: joints.J1.fit: the clearance is given twice, by clearance and by fit; keep one",
        ),
        (
            "clearance: 1 mm",
            "fit: ",
            f"6: joints.J1.fit: must be a diameter in mm, a hole and a shaft, got None; {KNOWN}",
        ),
        (
            "clearance: 1 mm",
            "contact: {kind: rigid, restitution: 2}",
            "6: joints.J1.contact.restitution: must be <= 1, got 2",
        ),
        (
            "clearance: 1 mm",
            "contact: {kind: rigid, friction: 0.2, static_friction: 0.1}",
            "6: joints.J1.contact.static_friction: must be >= friction, which is 0.2, got 0.1",
        ),
        (
            ", length: 60 mm",
            "",
            "7: joints.J2.length: is missing; with a clearance, give the length of the bore or block in m",
        ),
        ("radius: 8 mm", "contact: {kind: following}", f"7: joints.J2.{FOLLOWING}"),
        (
            "0.2 mm",
            "0.2 deg",
            "8: joints.J3.clearance: must be a length in m, got '0.2 deg' (an angle, wrong dimension)",
        ),
        ("1 deg", "1 mm", "9: joints.J4.play: must be an angle in rad, got '1 mm' (a length, wrong dimension)"),
    ],
)
def test_refusals_in_a_file(old, new, message):
    assert old in TEXT
    with pytest.raises(ModelError) as caught:
        model.loads(TEXT.replace(old, new, 1), "m.yaml")
    assert str(caught.value) == f"m.yaml:{message}"


def test_loose_and_stopped():
    m = model.loads(TEXT)
    assert list(m.loose(Rigid)) == ["J1", "J2", "J3", "J4"]
    assert list(m.loosen("J1", 1e-3, contact=Following()).loose(Following)) == ["J1"]
    tight = m.with_({"J1.clearance": 0, "J2.clearance": 0, "J3.clearance": 0, "J4.play": 0})
    assert tight.loose(Following) == {} and tight.loose(Rigid) == {} and m.stopped() == {}
    ends = m.loosen("J1", 0, upper="90 deg").loosen("J2", 0, lower=0.0).loosen("J3", 0, lower=-1, upper=1)
    assert list(ends.stopped()) == ["J1", "J2", "J3"]
    assert ends.stopped()["J2"].lower == 0.0 and ends.loose(Rigid).keys() == {"J4"}


def test_addresses():
    m = model.loads(TEXT)
    m = m.loosen("J1", "1 mm", contact=Rigid(restitution=0.5, friction=0.1, static_friction=0.2), lower=-1)
    found = m.addresses()
    expected = {"J1.clearance": 0.001, "J1.journal_radius": 0.0, "J1.restitution": 0.5, "J1.friction": 0.1}
    expected |= {"J1.static_friction": 0.2, "J1.lower": -1.0, "J1.stop_restitution": 0.0, "J2.length": 0.06}
    expected |= {"J2.radius": 0.008, "J2.friction": 0.0, "J3.pin_radius": 0.005, "J4.restitution": 0.0}
    assert {address: found[address] for address in expected} == expected
    assert not {"J1.upper", "J2.static_friction", "J3.lower"} & set(found)
    gear = ["ratio", "offset", "play", "restitution", "friction"]
    assert [a.partition(".")[2] for a in found if a.startswith("J4")] == gear


@pytest.mark.parametrize("address", ["J1.upper", "J2.static_friction", "J3.lower"])
def test_a_number_that_is_not_given_cannot_be_changed(address):
    with pytest.raises(ModelError) as caught:
        model.loads(TEXT).with_({address: 1.0})
    text = "is not given, so there is no number to change; give it first, with replace or loosen"
    assert str(caught.value) == f"{address}: {text}"


def test_changes_are_validated():
    m = model.loads(TEXT).loosen("J1", 1e-3, contact=Rigid(friction=0.1, static_friction=0.2), lower=0, upper=1)
    for change, message in {
        "J1.friction": "joints.J1.contact.static_friction: must be >= friction, which is 2.0, got 0.2",
        "J1.restitution": "joints.J1.contact.restitution: must be <= 1, got 2.0",
        "J1.lower": "joints.J1.lower: must be < upper, which is 1.0, got 2.0",
    }.items():
        with pytest.raises(ModelError) as caught:
            m.with_({change: 2.0})
        assert str(caught.value) == message


def test_loosen_every_kind():
    rigid = Rigid(restitution=0.2, friction=0.1)
    four = library.four_bar()
    joint = four.loosen("J2", "3 mm", "second", rigid, journal_radius="60 mm").joints["J2"]
    assert (joint.clearance, joint.bearing, joint.contact, joint.journal_radius) == (0.003, "second", rigid, 0.06)
    assert four.loosen("J2", clearance=1e-3).joints["J2"].contact == Rigid()
    assert four.loosen("J2", 1e-3, contact={"kind": "rigid", "friction": 0.1}).value("J2.friction") == 0.1
    assert four.loosen("J2", fit="20 H7/g6", at="min").joints["J2"].plain(brief=True) == {
        "kind": "revolute",
        "between": ["crank.end", "coupler.start"],
        "clearance": 3.5e-6,
        "journal_radius": 0.01,
        "at": "min",
    }
    m = model.loads(TEXT)
    bore = m.loosen("J2", 1e-3, length="10 cm", radius="5 mm", bearing="second", contact=rigid).joints["J2"]
    assert (bore.length, bore.radius, bore.bearing, bore.contact) == (0.1, 0.005, "second", rigid)
    assert m.loosen("J2", 2e-3).joints["J2"] == m.with_({"J2.clearance": 2e-3}).joints["J2"]
    assert m.loosen("J3", 1e-3, upper="1 cm").joints["J3"].upper == 0.01
    assert m.loosen("J4", "2 deg").joints["J4"] == m.loosen("J4", play="2 deg").joints["J4"]
    assert m.loosen("J4", 0.1, contact=Rigid(restitution=0.2)).value("J4.play") == 0.1


def test_loosen_says_the_size_anew():
    """Another way to say it replaces the size that is held, and keeps the journal only where it is needed."""
    held = library.four_bar().loosen("J2", "3 mm", journal_radius="60 mm")
    assert held.loosen("J2", fit="20 H7/g6").joints["J2"].journal_radius == 0.01
    assert held.loosen("J2", bearing_radius="61 mm").value("J2.clearance") == 0.001
    assert held.loosen("J2", bearing_diameter=0.2, journal_diameter=0.1).value("J2.journal_radius") == 0.05
    m = model.loads(TEXT)
    assert m.loosen("J2", fit="20 H7/g6").value("J2.radius") == 0.01
    assert m.loosen("J3", fit="20 H7/g6").value("J3.pin_radius") == 0.01


@pytest.mark.parametrize(
    ("joint", "fields", "message"),
    [
        ("J1", {}, "clearance: is missing; how loose is the joint to be?"),
        ("J1", {"contact": Rigid()}, "clearance: is missing; how loose is the joint to be?"),
        ("J4", {}, "play: is missing; how loose is the joint to be?"),
        ("J4", {"clearance": 0.1, "play": 0.1}, "play: is given twice; keep one"),
        ("J1", {"clearance": 0.1, "between": BETWEEN}, "between: cannot be changed here; use replace"),
        ("J1", {"clearance": 0.1, "kind": "slot"}, "kind: cannot be changed here; use replace"),
        (
            "J1",
            {"clearance": 0.1, "journal": 1},
            "journal: unknown key; did you mean 'journal_radius' or 'journal_diameter'?",
        ),
        ("J2", {"clearance": 0.1, "lenght": 1}, "lenght: unknown key; did you mean 'length'?"),
        (
            "J4",
            {"clearance": 0.1, "bearing": "first"},
            "bearing: unknown key; known: kind, between, ratio, offset, play, contact, carrier",
        ),
        (
            "J1",
            {"clearance": 0.1, "fit": "20 H7/g6"},
            "fit: the clearance is given twice, by clearance and by fit; keep one",
        ),
        ("J3", {"fit": "20 H7/g6", "pin_radius": 0.02}, "pin_radius: is already given by the fit; keep one"),
        ("J1", {"bearing_radius": 0.1}, "journal_radius: is missing; bearing_radius alone gives no clearance"),
        ("J3", {"clearance": 1, "contact": Following()}, FOLLOWING),
        ("J1", {"clearance": "-1 mm"}, "clearance: must be >= 0, got -1 mm"),
    ],
)
def test_loosen_refuses(joint, fields, message):
    with pytest.raises(ModelError) as caught:
        model.loads(TEXT).loosen(joint, **fields)
    assert str(caught.value) == f"joints.{joint}.{message}"


def test_loosen_refuses_what_has_no_play():
    m = model.loads(
        TEXT.replace("J3: {kind: slot,", "J3: {kind: weld,").replace(", clearance: 0.2 mm, pin_radius: 5 mm", "")
    )
    with pytest.raises(ModelError) as caught:
        m.loosen("J3", 1e-3)
    expected = "joints.J3: a weld joint cannot be loosened; revolute, prismatic, slot and gear joints can"
    assert str(caught.value) == expected


def test_implausible():
    m = model.loads(TEXT)
    assert model.implausible(m.loosen("J2", 20e-6).loosen("J3", 0.1e-3)) == []
    assert model.implausible(m) == [
        "joint 'J2': clearance/radius = 0.5 mm/8 mm = 0.062 is far outside the usual fits; "
        "H11/d11 of ISO 286 (up to 18 mm) leaves at most 0.135 mm"
    ]
    (text,) = model.implausible(library.crank_rocker_2016(3e-3))
    assert (
        "J2" in text
        and "= 3 mm/60 mm = 0.05 " in text
        and "H11/d11 of ISO 286 (up to 120 mm) leaves at most 0.28 mm" in text
    )
    assert model.implausible(library.crank_rocker_2016(0.25e-3)) == []
    (text,) = model.implausible(library.four_bar().loosen("J2", "1 mm", journal_radius="0.1 m"))
    assert "up to 120 mm, where the table ends," in text
    (text,) = model.implausible(m.loosen("J2", 0).loosen("J1", 1e-3, contact=Rigid(friction=0.1)))
    assert text == "joint 'J1': friction 0.1 has no lever, as journal_radius is 0; give the journal's radius"
    assert model.implausible(library.four_bar()) == []


def test_library_mechanisms_with_play():
    for make in (library.crank_rocker_2016, library.crank_crank_2016):
        ideal, one, two = make(), make(1e-3), make(1e-3, 2e-3, friction=0.2, restitution=0.9)
        assert ideal.loose(Rigid) == {} and list(one.loose(Rigid)) == ["J2"] and list(two.loose(Rigid)) == ["J2", "J3"]
        assert one.joints["J2"].contact == Rigid(friction=0.1) and one.start == ideal.start
        assert two.joints["J3"].contact == Rigid(friction=0.2, restitution=0.9)
        assert all(m.joints[j].journal_radius == 0.06 for m in (ideal, one, two) for j in ("J2", "J3"))
        assert all(m.joints[j].bearing == "first" for m in (ideal, one, two) for j in ("J2", "J3"))
        assert model.loads(model.dumps(two)) == two
        with pytest.raises(ModelError, match=r"must be >= 0, got -0\.001 m"):
            make(0.0, -1e-3)
    assert library.wu_2017().loose(Rigid) == {}
    bore = library.wu_2017(clearance=5e-4).loose(Rigid)["P"]
    assert (bore.clearance, bore.radius, bore.length, bore.bearing) == (5e-4, 0.008, 0.06, "second")
    assert library.wu_2017(clearance=5e-4, contact=Rigid(friction=0.1)).value("P.friction") == 0.1


@pytest.mark.parametrize("friction", [{"friction": 0.1}, {"static_friction": 0.1}])
def test_friction_of_a_gear_that_does_nothing_is_told(friction):
    loose = model.loads(TEXT).loosen("J4", play=0.1, contact=Rigid(**friction))
    assert any("'J4': its contact's friction does nothing" in text for text in unused(loose))
    assert not list(unused(model.loads(TEXT).loosen("J4", play=0.1)))


def test_the_radius_of_a_bearing_is_no_address_and_says_what_is():
    """It said: did you mean 'J1.journal_radius'?, which leaves the clearance as it is."""
    m = model.loads(TEXT.replace("clearance: 1 mm", "journal_radius: 10 mm, bearing_radius: 10.1 mm"))
    with pytest.raises(model.ModelError, match=r"it was turned into J1\.clearance and J1\.journal_radius: set these"):
        m.with_({"J1.bearing_radius": "10.2 mm"})
    assert m.with_({"J1.journal_radius": "9 mm"}).value("J1.clearance") == 1e-4
