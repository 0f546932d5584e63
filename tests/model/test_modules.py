"""Mechanisms made of modules: names with dots, places, nesting, files, and what is refused."""

import numpy as np
import pytest

import jointplay as jp
from jointplay.model import ModelError

PAIR = """
ground: {points: {A: [-0.1, 0], B: [0.1, 0]}}
modules:
  left: {library: rr_arm, set: {arm1.mass: 1.2 kg}, at: ground.A}
  right: {file: rr_arm.yaml, at: ground.B}
joints: {tip: {kind: revolute, between: [left.arm2.end, right.arm2.end]}}
start: {left.arm1: 2.7, left.arm2: 0.5, right.arm1: 0.4}
"""


@pytest.fixture
def pair(tmp_path):
    jp.save(jp.library.rr_arm(), tmp_path / "rr_arm.yaml")
    (tmp_path / "pair.yaml").write_text(PAIR)
    return jp.load(tmp_path / "pair.yaml")


def test_a_file_of_modules(pair):
    assert list(pair.bodies) == ["left.arm1", "left.arm2", "right.arm1", "right.arm2"]
    assert (pair.value("left.arm1.mass"), pair.value("right.arm1.mass")) == (1.2, 0.2)
    assert pair.joints["right.J1"].between == ("ground.B", "right.arm1.start")
    assert pair.modules() == {"left": ["left.arm1", "left.arm2"], "right": ["right.arm1", "right.arm2"]}
    assert jp.check(pair).degrees == 2
    assert jp.loads(jp.dumps(pair)) == pair
    assert pair.with_({"right.arm2.length": "250 mm"}).value("right.arm2.length") == 0.25


def test_it_moves_like_the_same_mechanism_written_out(pair):
    """Names with dots change nothing: coordinates, forces and peaks are those of the flat five-bar."""
    flat = {"left.arm1": "a", "left.arm2": "b", "right.arm1": "c", "right.arm2": "d"}
    text = jp.dumps(pair)
    for name, short in flat.items():
        text = text.replace(name, short)
    for name, short in {"left.J1": "J1", "left.J2": "J2", "right.J1": "J3", "right.J2": "J4"}.items():
        text = text.replace(name, short)
    one, two = (jp.simulate(m, until=0.2) for m in (pair, jp.loads(text)))
    assert np.array_equal(one.x.values, two.x.values) and np.array_equal(one.force_x.values, two.force_x.values)
    assert list(one.body.values) == list(pair.bodies) and np.array_equal(one.peak_force.values, two.peak_force.values)


def test_drives_and_play_inside_modules():
    module = jp.library.slider_crank(speed=20.0).loosen("J2", "1 mm", journal_radius="10 mm")
    whole = jp.couple({"press": module}, name="shop")
    run, alone = (jp.simulate(m, until=0.05, stepper=jp.MoreauJean(1e-4)) for m in (whole, module))
    assert list(run.drive.values) == ["press.motor"] and list(run.contact.values) == ["press.J2"]
    assert np.array_equal(run.place_x.values, alone.place_x.values)
    assert np.array_equal(run.peak_effort.values, alone.peak_effort.values)


AXES = {"x": (1, 0), "y": (0, 1)}
MOTIONS = [
    0.05,
    jp.constant_speed(0.1, start=0.02),
    jp.sine(0.01, 6.0, offset=0.05),
    jp.polynomial(0.05, 0.1, -0.3),
    jp.cycloidal(0.08, 0.1, start=0.05),
    jp.table([0, 0.1, 0.2], [0.05, 0.06, 0.05]),
    jp.total(jp.sine(0.01, 6.0), 0.05),
    lambda t: 0.05 + 0.1 * t,
]


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("axis", ["x", "y"])
def test_a_machine_that_is_put_elsewhere_is_the_same_machine(axis, motion):
    """Drives along x and y stayed where they were."""
    slide = jp.Mechanism(
        gravity=(0, 0),
        ground={"points": {"A": (0, 0)}},
        bodies={"b": {"mass": 1, "inertia": 1e-3}},
        joints={"P": {"kind": "prismatic", "between": ["ground.A", "b.centre"], "axis": AXES[axis]}},
        drives={"d": {"kind": axis, "of": "b", "motion": motion}},
        forces={"k": {"kind": "spring", "between": ["ground.A", "b.centre"], "stiffness": 100}},
    )
    away = jp.couple({"g": slide}, at={"g": "ground.O"}, ground={"points": {"O": (1.0, -2.0)}}, gravity=(0, 0))
    alone, there = (jp.simulate(m, until=0.2, every=0.05) for m in (slide, away))
    assert there.effort.values == pytest.approx(alone.effort.values, abs=1e-7)
    assert there.x.values == pytest.approx(alone.x.values + 1, abs=1e-9)
    assert there.y.values == pytest.approx(alone.y.values - 2, abs=1e-9)
    assert {a.removeprefix("g.") for a in away.addresses()} >= {a for a in slide.addresses() if a.startswith("d.")}
    table = {"points": {"P": (0, 0)}, "mass": 1, "inertia": 1}
    with pytest.raises(ModelError, match=f"its drive 'd' prescribes an {axis} of the ground, but it is put on 'table'"):
        jp.couple({"g": slide}, at={"g": "table.P"}, bodies={"table": table})


@pytest.mark.parametrize("kind, motion", [("angle", {"kind": "constant_speed", "speed": 30.0}), ("rate", 30.0)])
def test_an_angle_drive_of_a_module_on_a_body_is_seen_from_that_body(kind, motion):
    """A rotor at 30 rad/s on a frame that a torque turns: it speeds up with the frame, 0.4 N m by both inertias.  Seen
    from the ground its rate stayed, and the frame turned alone."""
    rotor = jp.Mechanism(
        gravity=(0, 0),
        ground={"points": {"O": (0, 0)}},
        bodies={"r": {"mass": 1, "inertia": 0.01}},
        joints={"J": {"kind": "revolute", "between": ["ground.O", "r.centre"]}},
        drives={"d": {"kind": kind, "of": "r", "motion": motion}},
    )
    whole = jp.couple(
        {"m": rotor},
        at={"m": "frame.centre"},
        gravity=(0, 0),
        ground={"points": {"Q": (0, 0)}},
        bodies={"frame": {"mass": 5, "inertia": 0.03}},
        joints={"B": {"kind": "revolute", "between": ["ground.Q", "frame.centre"]}},
        forces={"twist": {"kind": "torque", "on": "frame", "torque": 0.4}},
        start={"frame.rate": 0.0},
    )
    assert whole.drives["m.d"].of == "m.J"
    run = jp.simulate(whole, until=1.0)
    assert float(run.angle_rate.sel(body="frame")[-1]) == pytest.approx(0.4 / 0.04, rel=1e-9)  # both turn with it
    assert float(run.angle_rate.sel(body="m.r")[-1]) == pytest.approx(40.0, rel=1e-9)
    turned = rotor.replace(joints={"J": {"kind": "revolute", "between": ["r.centre", "ground.O"]}})
    with pytest.raises(ModelError, match="its drive 'd' turns 'r' against its ground, but that is put on 'frame'"):
        jp.couple({"m": turned}, at={"m": "frame.centre"}, bodies={"frame": {"mass": 5, "inertia": 0.03}})


def test_modules_nest_and_are_placed():
    hand = jp.couple({"finger": jp.library.pendulum()}, name="hand")
    whole = jp.couple(
        {"one": hand, "two": hand},
        at={"one": "ground.P", "two": "arm.end"},
        ground={"points": {"P": (1.0, 2.0), "O": (0.0, 0.0)}},
        bodies={"arm": jp.bar(0.5, 1.0)},
        joints={"J": {"kind": "revolute", "between": ["ground.O", "arm.start"]}},
        start={"arm": 0.0},
    )
    assert "two.finger.bar1" in whole.bodies and whole.value("two.finger.bar1.mass") == 1.0
    assert whole.joints["one.finger.J1"].between[0].startswith("ground.")
    assert whole.joints["two.finger.J1"].between[0].startswith("arm.")
    q = dict(zip(jp.System(whole).coordinates, jp.check(whole).q, strict=True))
    assert q["one.finger.bar1.y"] == pytest.approx(1.5) and q["two.finger.bar1.x"] == pytest.approx(0.5)


def test_a_ground_of_several_points_is_moved_with_its_module():
    module = jp.library.four_bar()
    whole = jp.couple({"m": module}, at={"m": "ground.P"}, ground={"points": {"P": (0.3, -0.2)}})
    assert whole.ground.points["m_J4"] == pytest.approx((0.6, -0.2))
    moved = jp.check(whole).q - jp.check(module).q
    assert moved[0::3] == pytest.approx(0.3) and moved[1::3] == pytest.approx(-0.2) and moved[2::3] == pytest.approx(0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("modules: {a: {library: rr_arn}}", "modules.a.library: no mechanism 'rr_arn'.*rr_arm"),
        ("modules: {a: {file: nowhere.yaml}}", "modules.a.file: cannot be read"),
        ("modules: {a: {library: rr_arm, file: x.yaml}}", "modules.a: has a library and a file"),
        ("modules: {a: {library: rr_arm, bodies: {}}}", "modules.a.bodies: cannot stand beside library"),
        ("modules: {a: {library: rr_arm, set: {arm9.mass: 1}}}", "modules.a.set.arm9.mass: no such address"),
        ("modules: {a: {library: rr_arm, at: ground.Q}}", "modules.a.at: no point 'ground.Q'"),
        ("modules: {a: {library: rr_arm, at: 3}}", "modules.a.at"),
        ("modules: {ground: {library: rr_arm}}", "cannot have this name"),
        (
            "modules: {a: {library: rr_arm}}\nbodies: {a: {bar: 1, mass: 1}}",
            "'a' is an element, so it cannot be a module",
        ),
        ("modules: {a: {library: rr_arm}}\nbodies: {a.arm1: {bar: 1, mass: 1}}", "collides"),
        ("modules: [1]", "modules: must be a mapping"),
        ("modules: {a: 1}", "modules.a: must be a mapping"),
        ("modules: {a: {bodies: {x: {bar: 1, mass: 1}}}}", "reserved in a module"),
        ("modules: {a: {bodies: {b: {bar: 1}}}}", "modules.a.bodies.b.mass: is missing"),
    ],
)
def test_what_is_refused(text, told):
    with pytest.raises(ModelError, match=told):
        jp.loads(text)


def test_a_file_that_contains_itself(tmp_path):
    (tmp_path / "a.yaml").write_text("modules: {inner: {file: b.yaml}}\n")
    (tmp_path / "b.yaml").write_text("modules: {inner: {file: a.yaml}}\n")
    with pytest.raises(ModelError, match=r"contains itself as a module \(a.yaml -> b.yaml -> a.yaml\)"):
        jp.load(tmp_path / "a.yaml")


def test_modules_that_multiply_are_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("jointplay.model.modules.MOST_BODIES", 50)
    (tmp_path / "m0.yaml").write_text("bodies: {b: {bar: 1, mass: 1}}\n")
    for i in range(1, 7):
        (tmp_path / f"m{i}.yaml").write_text(f"modules: {{p: {{file: m{i - 1}.yaml}}, q: {{file: m{i - 1}.yaml}}}}\n")
    with pytest.raises(ModelError, match="more than 50 bodies"):
        jp.load(tmp_path / "m6.yaml")


def test_what_python_refuses():
    arm = jp.library.rr_arm()
    with pytest.raises(ModelError, match="no such module"):
        jp.couple({"a": arm}, at={"b": "ground.A"})
    with pytest.raises(ModelError, match="control loop"):
        jp.couple({"a": arm.replace(control=jp.control.pd("arm1", 0.0, k1=1.0, k2=1.0))})
    with pytest.raises(ModelError, match="must be a mechanism"):
        jp.couple({"a": 3})


@pytest.mark.parametrize(
    "contact",
    [
        {"kind": "rigid", "restitution": 0.5, "friction": 0.1},
        {"kind": "compliant", "normal": {"law": "hertz", "stiffness": 1e9}},
        {"kind": "following", "on_loss": "continue"},
    ],
    ids=lambda contact: contact["kind"],
)
def test_play_in_a_module_is_play(contact):
    """Signal by signal, a mechanism runs as one module as it does alone."""
    spring = {"kind": "spring", "between": ["ground.O", "arm2.end"], "stiffness": 5.0, "free_length": 0.2}
    weight = {"arm2.counterweight.mass": 0.1, "arm2.counterweight.x": -0.05}
    arm = jp.library.rr_arm().with_(weight).loosen("J2", "1 mm", journal_radius="1 cm", contact=contact)
    sprung = arm.replace(forces={"s": spring})
    alone, module = (jp.simulate(m, 0.05) for m in (sprung, jp.couple({"a": sprung})))
    assert set(alone.data_vars) == set(module.data_vars)
    for name in (n for n in alone.data_vars if alone[n].dtype.kind in "fi"):  # texts are names
        np.testing.assert_array_equal(alone[name].values, module[name].values, err_msg=name)
    assert (
        list(module.joint.values) == ["a.J1", "a.J2"] and jp.plots.places.Places(module).play("a.J2").outer == "a.arm1"
    )


def test_a_gear_in_a_module_keeps_its_carrier():
    arm = jp.library.rr_arm()
    wheel = {"kind": "gear", "between": ["ground", "arm2"], "ratio": 1.0, "carrier": "arm1"}
    gear = jp.couple({"a": arm.replace(joints={**arm.joints, "g": wheel})}).joints["a.g"]
    assert gear.between == ("ground", "a.arm2") and gear.carrier == "a.arm1" and gear.points == ()


def test_counterweights_are_part_of_their_bodies():
    """Written as an element or by hand into mass, centre and inertia: the same motion and forces."""
    bare = jp.library.slider_crank(speed=10.0)
    weight = {"crank.counterweight.mass": "2 kg", "crank.counterweight.x": "-70 mm", "crank.counterweight.y": 0.02}
    one = bare.with_(weight)
    two = bare.replace(bodies={**bare.bodies, "crank": bare.bodies["crank"].loaded(2.0, (-0.07, 0.02))})
    times = np.linspace(0, 0.6, 25)
    a, b = (jp.inverse_dynamics(m, times) for m in (one, two))
    for name in ("effort", "force_x", "force_y", "x", "kinetic", "potential"):
        assert np.allclose(a[name], b[name], rtol=1e-12, atol=1e-12)
    assert jp.loads(jp.dumps(one)) == one and one.value("crank.counterweight.x") == -0.07
    assert bare.value("rod.counterweight.mass") == 0.0 and one.bodies["crank"].mass == 1.0
    with pytest.raises(ModelError, match="must be >= 0"):
        bare.with_({"crank.counterweight.mass": -1.0})
    with pytest.raises(ModelError, match="no such address"):
        bare.with_({"crank.counterweight.colour": 1.0})


def test_a_point_at_the_centre_of_a_body_stays_when_it_gets_a_counterweight():
    yoke = jp.library.scotch_yoke(speed=3.0).with_({"yoke.counterweight.mass": 1.0, "yoke.counterweight.y": 0.3})
    q = dict(zip(jp.System(yoke).coordinates, jp.check(yoke.replace(start={"crank": 0.0})).q, strict=True))
    assert q["yoke.x"] == pytest.approx(0.1) and q["yoke.y"] == pytest.approx(0.15)
    turn = jp.inverse_dynamics(yoke.replace(start={"crank": 0.0}, gravity=(0, 0)), [0.0])
    assert turn.force_x.sel(joint="J2").item() == pytest.approx(2.0 * 0.1 * 9.0)


BLOCK = """
gravity: [0, 0]
ground: {points: {B: [0, 0]}}
bodies: {s: {mass: 0.3 kg, inertia: 1e-4}}
joints: {S: {kind: prismatic, between: [ground.B, s.centre], axis: [0, 1]}}
forces: {k: {kind: spring, between: [ground.B, s.centre], stiffness: 100}}
start: {s.y: 0.1}
"""
BASE = {"mass": 1e6, "inertia": 1e6, "points": {"P": (0.2, 0.0)}}


def on_base(module, base="{}", **fields):
    begun = {key: x for key, x in jp.loads(f"bodies: {{base: {{mass: 1, inertia: 1}}}}\nstart: {base}").start.items()}
    return jp.couple({"m": module}, at={"m": "base.P"}, gravity=(0, 0), bodies={"base": BASE}, start=begun, **fields)


def test_a_module_on_a_body_begins_where_it_says_there():
    """It began at 0: start places were dropped.  A block on a spring swings by 0.1 cos(w t) on a heavy base, too."""
    swing = 0.1 * np.cos(np.sqrt(100 / 0.3) * np.array([0, 0.1]))
    run = jp.simulate(on_base(jp.loads(BLOCK)), until=0.1, every=0.1).sel(body="m.s")
    assert run.y.values == pytest.approx(swing, abs=1e-6) and run.x.values == pytest.approx(0.2, abs=1e-6)
    both = jp.loads(BLOCK.replace("s.y: 0.1", "s.x: 0, s.y: 0.1, s: 30 deg"))
    run = jp.simulate(on_base(both, "{base: 30 deg, base.x: 1, base.y: -2}"), until=0.1, every=0.1).sel(body="m.s")
    wanted = 1 - 2j + np.exp(1j * np.pi / 6) * (0.2 + 1j * swing)
    assert run.x.values + 1j * run.y.values == pytest.approx(wanted, abs=1e-6)


def test_where_a_module_on_a_body_begins_has_to_be_known():
    block = jp.loads(BLOCK)
    with pytest.raises(
        ModelError, match=r"modules.m.at: its start value 'm.s.y' is a place on 'base', which begins turn"
    ):
        on_base(block, "{base: 30 deg}")
    pin = {
        "ground": {"points": {"O": (0, 0)}},
        "joints": {"J": {"kind": "revolute", "between": ["ground.O", "base.P"]}},
    }
    with pytest.raises(
        ModelError, match=r"where that begins is not given; give base.x, base.y and base in the start, or m"
    ):
        on_base(block, **pin)
    assert on_base(block, "{base: 0, base.x: -0.2, base.y: 0}", **pin).start["m.s.y"] == 0.1


def test_a_joint_of_the_whole_holds_a_body_of_a_module():
    """A plate welded at (1, 0.5) counted as free: what is put on it with a start place began as if on the origin."""
    rig = jp.Mechanism(bodies={"plate": BASE})
    weld = {"kind": "weld", "between": ["ground.W", "rig.plate.centre"]}
    whole = {"gravity": (0, 0), "ground": {"points": {"W": (1.0, 0.5)}}, "joints": {"W": weld}}
    with pytest.raises(ModelError, match=r"where that begins is not given; give rig.plate.x, rig.plate.y and rig.pl"):
        jp.couple({"rig": rig, "m": jp.loads(BLOCK)}, at={"m": "rig.plate.P"}, **whole)
    begun = {"rig.plate": 0.0, "rig.plate.x": 1.0, "rig.plate.y": 0.5}
    told = jp.couple({"rig": rig, "m": jp.loads(BLOCK)}, at={"m": "rig.plate.P"}, start=begun, **whole)
    assert told.start["m.s.y"] == 0.6
    free = {**whole, "joints": {}}
    assert jp.couple({"rig": rig, "m": jp.loads(BLOCK)}, at={"m": "rig.plate.P"}, **free).start["m.s.y"] == 0.1


def test_a_module_on_another_one_comes_after_it():
    """It was refused with "no point 'rig.plate.P'; known: ground"."""
    rig = jp.Mechanism(bodies={"plate": BASE})
    modules, put = {"m": jp.loads(BLOCK), "rig": rig}, {"m": "rig.plate.P"}
    with pytest.raises(
        ModelError, match=r"modules.m.at: 'rig' comes after 'm', and 'rig.plate.P' is not there yet; put"
    ):
        jp.couple(modules, at=put)
    assert list(jp.couple(dict(reversed(modules.items())), at=put).bodies) == ["rig.plate", "m.s"]
    with pytest.raises(ModelError, match=r"modules.m.at: no point 'rigg.plate.P'"):
        jp.couple(modules, at={"m": "rigg.plate.P"})
