"""Files: exact round trips, errors with file, line, path, value and remedy, and no text that breaks the reader."""

import contextlib
import json
import os
import re

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jointplay import model
from jointplay.errors import InputError
from jointplay.model import Mechanism, ModelError, library
from jointplay.model.nodes import compose

from .test_mechanism import everything

TEXT = """\
format_version: 1
name: slider-crank
ground: {points: {O: [0, 0]}}
bodies:
  crank: {bar: 100 mm, mass: 1 kg}
  rod: {bar: 300 mm, mass: 2 kg}
  slider: {mass: 1 kg, inertia: 1e-3 kg*m^2, points: {pin: [0, 0]}}
joints:
  J1: {kind: revolute, between: [ground.O, crank.start]}
  J2: {kind: revolute, between: [crank.end, rod.start]}
  J3: {kind: revolute, between: [rod.end, slider.pin]}
  J4: {kind: prismatic, between: [ground.O, slider.pin], axis: [1, 0]}
drives:
  motor: {kind: angle, of: crank, motion: {kind: constant_speed, speed: 5000 rpm}}
forces:
  push: {kind: force, at: slider.pin, x: -200 N}
start: {crank: 30 deg}
"""


def test_a_file_reads_as_it_looks():
    m = model.loads(TEXT)
    assert m.value("crank.length") == 0.1 and m.value("slider.inertia") == 1e-3 and m.value("push.x") == -200.0
    assert m.value("motor.speed") == pytest.approx(5000 * 2 * 3.141592653589793 / 60)
    assert m.joints["J4"].axis == (1.0, 0.0) and m.gravity == (0.0, -9.81)
    assert list(m.bodies) == ["crank", "rod", "slider"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("mass: 1 kg}", "mass: -1 kg}", "5: bodies.crank.mass: must be > 0, got -1 kg"),
        ("mass: 1 kg}", "mass: -1}", "5: bodies.crank.mass: must be > 0, got -1 kg"),
        ("mass: 1 kg}", "mass: 0}", "5: bodies.crank.mass: must be > 0, got 0 kg"),
        ("mass: 1 kg}", "mass: .nan}", "5: bodies.crank.mass: must be finite, got .nan"),
        ("mass: 1 kg}", "mass: 1e400}", "5: bodies.crank.mass: must be finite, got 1e400"),
        ("mass: 1 kg}", "mass: }", "5: bodies.crank.mass: must be a number such as 1.5 or '1.5 kg', got None"),
        ("mass: 1 kg}", "mass: [1]}", "5: bodies.crank.mass: must be a number such as 1.5 or '1.5 kg', got ['1']"),
        (
            "mass: 1 kg}",
            "mass: 1 mm}",
            "5: bodies.crank.mass: must be a mass in kg, got '1 mm' (a length, wrong dimension)",
        ),
        ("mass: 1 kg}", "mass: 1 kgg}", "5: bodies.crank.mass: unknown unit 'kgg'; did you mean 'kg'?"),
        (", mass: 1 kg}", "}", "5: bodies.crank.mass: is missing"),
        ("mass: 1 kg}", "mass: 1, mass: 2}", "5: bodies.crank.mass: appears twice"),
        ("mass: 1 kg}", "mass: 1, inertia: -1}", "5: bodies.crank.inertia: must be >= 0, got -1 kg*m^2"),
        ("mass: 1 kg}", "mass: 1, masses: 1}", "5: bodies.crank.masses: unknown key; did you mean 'mass'?"),
        ("  rod:", "  crank:", "6: bodies.crank: appears twice"),
        (
            "inertia: 1e-3 kg*m^2, ",
            "",
            "7: bodies.slider.inertia: is missing; give kg*m^2 about the mass centre "
            "(only a uniform bar has a default)",
        ),
        (
            "[ground.O, crank.start]",
            "[ground.O, crank.begin]",
            "9: joints.J1.between.1: no point 'crank.begin'; did you mean 'crank.end' or 'crank.centre'?",
        ),
        (
            "[ground.O, crank.start]",
            "[ground.O]",
            "9: joints.J1.between: must be two names such as [ground.O, crank.start], got ['ground.O']",
        ),
        (
            "J1: {kind: revolute",
            "J1: {kind: revolut",
            "9: joints.J1.kind: unknown kind 'revolut'; did you mean 'revolute'?",
        ),
        (
            "J1: {kind: revolute, ",
            "J1: {",
            "9: joints.J1.kind: is missing; one of revolute, prismatic, weld, slot, rod, gear",
        ),
        ("  J1:", "  rod:", "9: joints.rod: the name is already used in bodies; names are unique in a mechanism"),
        ("axis: [1, 0]", "axis: [0, 0]", "12: joints.J4.axis: must have a direction, got [0, 0]; for example [1, 0]"),
        ("axis: [1, 0]", "axis: [1, a]", "12: joints.J4.axis.1: must be a number such as 1.5, got 'a'"),
        ("of: crank", "of: crnk", "14: drives.motor.of: no body or revolute joint 'crnk'; did you mean 'crank'?"),
        (
            "5000 rpm",
            "5000 mm/s",
            "14: drives.motor.motion.speed: must be an angle per time in rad/s, got '5000 mm/s' "
            "(a speed, wrong dimension)",
        ),
        (
            "constant_speed",
            "constant-speed",
            "14: drives.motor.motion.kind: unknown kind 'constant-speed'; did you mean 'constant_speed' or 'constant'?",
        ),
        ("-200 N", "-200 N*m", "16: forces.push.x: must be a force in N, got '-200 N*m' (a torque, wrong dimension)"),
        ("start: {crank", "start: {cranks", "17: start.cranks: no such body; did you mean 'crank'?"),
        (
            "30 deg",
            "30 deg/s",
            "17: start.crank: must be an angle in rad, got '30 deg/s' (an angular rate, wrong dimension)",
        ),
        (
            "start: {crank",
            "start: {crank.speed",
            "17: start.crank.speed: unknown start value; of a body there are "
            "crank, crank.rate, crank.x, crank.y, crank.x.rate, crank.y.rate",
        ),
        ("ground: {points: {O: [0, 0]}}", "ground: {points: {O: 0}}", "3: ground.points.O: must be [x, y], got '0'"),
        ("drives:\n", "drive:\n", "13: drive: unknown key; did you mean 'drives'?"),
        (
            "format_version: 1",
            "format_version: 2",
            "1: format_version: format '2' is not known (this version "
            "reads 1): written by a newer jointplay; update jointplay to read it",
        ),
        (
            "format_version: 1",
            "format_version: one",
            "1: format_version: format 'one' is not known (this version reads 1): write format_version: 1",
        ),
        (
            "name: slider-crank",
            "name: !!python/name:os.system x",
            "2: the tag tag:yaml.org,2002:python/name:os.system "
            "is not allowed: a model file holds only names and numbers",
        ),
        ("name: slider-crank", "name: [a]", "2: name: must be a text, got ['a']"),
        ("name: slider-crank", "name: &a [*a]", "2: the alias *a contains itself"),
        ("name: slider-crank", "name: *b", "2: unknown alias *b"),
        ("name: slider-crank", "[a]: b", "2: a key must be a name"),
        ("start:", "---\nstart:", "17: holds more than one document; keep one mechanism in a file"),
        (
            "-200 N",
            "{kind: function, function: print}",
            "16: forces.push.x.function: must be a Python function of t, "
            "so a file cannot hold one: use a table; got 'print'",
        ),
        (
            "-200 N",
            "{kind: table, times: [0, 1, 1], values: [0, 0, 0]}",
            "16: forces.push.x.times.2: must increase, got 1.0 after 1.0",
        ),
    ],
)
def test_bad_input(old, new, message):
    assert TEXT.count(old) >= 1
    with pytest.raises(ModelError) as caught:
        model.loads(TEXT.replace(old, new, 1), "m.yaml")
    assert str(caught.value) == f"m.yaml:{message}"


def test_invalid_yaml_tells_the_line():
    """The words are those of the YAML library, compiled or not."""
    for old, new, line in (("drives:\n", "drives: [\n", 15), ("O: [0, 0]", "O: [0, 0", 3), ("J3", "J3\x00", 11)):
        with pytest.raises(ModelError, match=rf"^m.yaml:{line}: is not valid YAML: .+$"):
            model.loads(TEXT.replace(old, new, 1), "m.yaml")


def test_lines_of_multi_line_entries_and_several_problems():
    text = "bodies:\n  a:\n    bar: 1\n    mass: -1\n  b:\n    bar: 1\n    mass: 1 m\n    points: {p: [0,\n  \n x]}\n"
    with pytest.raises(ModelError) as caught:
        model.loads(text, "m.yaml")
    assert [(p.line, ".".join(map(str, p.path))) for p in caught.value.problems] == [
        (4, "bodies.a.mass"),
        (7, "bodies.b.mass"),
        (10, "bodies.b.points.p.1"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "text:1: is empty; a mechanism needs at least bodies"),
        ("# nothing\n", "text:1: is empty; a mechanism needs at least bodies"),
        ("[1, 2]", "text:1: must be a mapping with bodies, joints, ..., got ['1', '2']"),
        ("name: x", "text:1: bodies: is missing"),
        ("bodies: 3", "text:1: bodies: must be a mapping (name: value), got '3'"),
        ("bodies: {a: 3}", "text:1: bodies.a: must be a mapping (name: value), got '3'"),
        ("[" * 1000, "text:1: is nested more than 50 levels deep"),
        ("x" * 1_000_001, "text:1: is larger than 1000 kB"),
        (
            "a: &a0 [x]\n" + "".join(f"b{i}: &a{i + 1} [{', '.join([f'*a{i}'] * 10)}]\n" for i in range(20)),
            "text:6: has more than 100000 entries, aliases written out",
        ),
    ],
    ids=range(9),
)
def test_bad_documents(text, message):
    with pytest.raises(ModelError) as caught:
        model.loads(text)
    assert str(caught.value) == message


def test_files_on_disk(tmp_path):
    path = tmp_path / "m.yaml"
    m = model.loads(TEXT)
    model.save(m, path)
    assert model.load(path) == m and os.listdir(tmp_path) == ["m.yaml"]
    before = path.read_text(encoding="utf-8")
    with pytest.raises(ModelError, match=r"^drives.d: a Python function cannot be written to a file"):
        model.save(m.replace(drives={"d": model.XDrive(of="rod", motion=model.Function(function=abs))}), path)
    assert path.read_text(encoding="utf-8") == before and os.listdir(tmp_path) == ["m.yaml"]
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.encode().replace(b"\n", b"\r\n"))  # as some editors save it
    assert model.load(path) == m
    path.write_bytes(b"name: a\nsource: \xff\n")
    with pytest.raises(ModelError, match=r"m.yaml:2: is not UTF-8 text$"):
        model.load(path)
    path.write_bytes(b"\xff" * 1_000_001)
    with pytest.raises(ModelError, match=r"m.yaml:1: is larger than 1000 kB$"):
        model.load(path)
    with pytest.raises(ModelError, match=r"library\.four_bar\(\)"):
        model.load("four_bar")
    with pytest.raises(InputError, match="takes the path of a file, got dict"):
        model.load({})
    with pytest.raises(ModelError, match=r"none.yaml: cannot be read: No such file or directory$"):
        model.load(tmp_path / "none.yaml")
    with pytest.raises(ModelError, match=r"cannot be read: Is a directory$"):
        model.load(tmp_path)
    with pytest.raises(ModelError, match=r"cannot be written: No such file or directory$"):
        model.save(m, tmp_path / "none" / "m.yaml")


def test_texts_are_texts_and_empty_sections_are_empty():
    m = model.loads("name: no\nsource: 'null'\nforces:\nbodies: {on: {bar: 1e-5, mass: 1}, y: {bar: '2 m', mass: 1}}")
    assert (m.name, m.source, list(m.bodies), m.value("on.length")) == ("no", "null", ["on", "y"], 1e-5)
    assert model.loads(model.dumps(m)) == m


@pytest.mark.parametrize("name", library.MECHANISMS)
def test_round_trip_of_the_library(name):
    m = library.MECHANISMS[name]()
    text = model.dumps(m)
    again = model.loads(text)
    assert again == m and list(again.addresses()) == list(m.addresses()) and model.dumps(again) == text


def test_round_trip_of_every_kind():
    m = everything()
    assert model.loads(model.dumps(m)) == m
    assert yaml.safe_load(model.dumps(m))["format_version"] == 1


numbers = st.floats(-1e30, 1e30)
positive = st.floats(1e-30, 1e30)
names = st.from_regex(re.compile(r"[a-zA-Zéß][a-zA-Z0-9_é-]{0,8}"), fullmatch=True)
vectors = st.tuples(numbers, numbers)
simple = st.one_of(
    st.builds(model.constant, numbers),
    st.builds(model.constant_speed, numbers, numbers),
    st.builds(model.sine, numbers, numbers, numbers, numbers),
    st.lists(numbers, min_size=1, max_size=4).map(lambda c: model.polynomial(*c)),
    st.builds(model.cycloidal, numbers, positive, numbers, numbers),
    st.lists(numbers, min_size=2, max_size=4, unique=True).map(lambda x: model.table(sorted(x), x, "held")),
)
any_motion = simple | st.lists(simple, min_size=1, max_size=3).map(lambda terms: model.Sum(terms=terms))


share = st.floats(0, 1)
size = st.just(0.0) | positive


@st.composite
def stops(draw):
    """None, one or two stops in order, and their restitution."""
    lower, upper = sorted(draw(st.lists(numbers, min_size=2, max_size=2, unique=True)))
    held = draw(st.sampled_from([{}, {"lower": lower}, {"upper": upper}, {"lower": lower, "upper": upper}]))
    return {**held, "stop_restitution": draw(share)}


@st.composite
def rigid_contacts(draw):
    friction = draw(size)
    more = draw(st.none() | st.floats(friction, 1e30))
    return model.Rigid(restitution=draw(share), friction=friction, static_friction=more)


@st.composite
def loose_joints(draw, pin, eye, bodies):
    """A joint that can have play, with anything that may be said about it."""
    kind = draw(st.sampled_from(["revolute", "prismatic", "slot", "gear"]))
    fields = {"kind": kind, "between": (pin, eye), "contact": draw(rigid_contacts())}
    if kind == "gear":
        return {**fields, "between": bodies, "ratio": draw(positive), "offset": draw(numbers), "play": draw(size)}
    fields |= {"clearance": draw(size), **draw(stops())}
    if kind == "slot":
        return fields | {"pin_radius": draw(size), "axis": draw(vectors.filter(any))}
    fields |= {"bearing": draw(st.sampled_from(["first", "second"]))}
    if kind == "prismatic":
        return fields | {"length": draw(positive), "radius": draw(size), "angle": draw(numbers)}
    fields |= draw(st.sampled_from([{}, {"contact": model.Following(on_loss="continue")}]))
    return fields | {"journal_radius": draw(size)}


@st.composite
def mechanisms(draw):
    used = [n for n in draw(st.lists(names, min_size=6, max_size=6, unique=True))]
    used = [f"{n}{i}" for i, n in enumerate(used)]  # not a reserved word
    a, b, joint, loose, drive, force = used
    return Mechanism(
        name=draw(st.text(max_size=20).filter(str.isprintable)),
        source=draw(st.text(max_size=20).filter(str.isprintable)),
        gravity=draw(vectors),
        ground={"points": {"O": draw(vectors)}},
        bodies={
            a: model.bar(draw(positive), draw(positive), draw(positive)),
            b: model.Body(
                mass=draw(positive), inertia=draw(positive), centre=draw(vectors), points={"p": draw(vectors)}
            ),
        },
        joints={
            joint: model.Revolute(between=("ground.O", f"{a}.end"), clearance=draw(positive)),
            loose: draw(loose_joints(f"{a}.start", f"{b}.p", (a, b))),
        },
        drives={drive: model.AngleDrive(of=joint, motion=draw(any_motion))},
        forces={force: model.Force(at=f"{b}.p", x=draw(any_motion), y=draw(any_motion))},
        start={f"{a}.rate": draw(numbers), b: draw(st.floats(-1e6, 1e6))},
    )


@settings(max_examples=60, deadline=None)
@given(mechanisms())
def test_round_trip_of_random_mechanisms(m):
    again = model.loads(model.dumps(m))
    assert again == m and again.addresses() == m.addresses()


def only_our_error(text):
    try:
        assert isinstance(model.loads(text, "m.yaml"), Mechanism)
    except ModelError as error:
        assert all(p.file == "m.yaml" and p.line and p.line >= 1 for p in error.problems)
        assert error.problems and "\n" not in str(error.problems[0])


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60) | st.text("{}[]:,-&*!|>#'\"%@`? \n\tab1.", max_size=40))
@example("\ud800")
@example("&a *a")
@example("? [a]\n: b")
@example("<<: {a: b}")
@example("%YAML 9.9\n---\na")
@example("a: !<tag:x> b")
def test_any_text(text):
    only_our_error(text)


scraps = st.sampled_from(
    TEXT.replace(",", " , ").replace("}", " }").split(" ") + ["&a", "*a", "nan", "1e999", "-", "null"]
)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_damaged_files(data):
    """The example with a piece cut out and others put in."""
    i = data.draw(st.integers(0, len(TEXT)))
    j = data.draw(st.integers(i, min(len(TEXT), i + 30)))
    only_our_error(TEXT[:i] + " ".join(data.draw(st.lists(scraps, max_size=3))) + TEXT[j:])


keys = st.sampled_from(
    [
        "bodies",
        "joints",
        "drives",
        "forces",
        "start",
        "ground",
        "gravity",
        "points",
        "bar",
        "mass",
        "inertia",
        "kind",
        "of",
        "motion",
        "between",
        "clearance",
        "journal_radius",
        "bearing_radius",
        "journal_diameter",
        "bearing_diameter",
        "fit",
        "at",
        "contact",
        "lower",
        "upper",
    ]
)
tree = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["revolute", "prismatic", "rigid", "sine", "1 kg", "1 mm", "20 H7/g6"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys | st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["revolute", "prismatic", "slot", "gear"]), st.dictionaries(keys, tree, max_size=6))
def test_any_joint(kind, fields):
    """A joint with anything in it, inside a mechanism that is otherwise sound."""
    between = {"between": ["crank", "rod"] if kind == "gear" else ["crank.end", "rod.start"]}
    data = {**yaml.safe_load(TEXT), "drives": {}, "joints": {"J": {**between, **fields, "kind": kind}}}
    only_our_error(yaml.safe_dump(data))
    with contextlib.suppress(ModelError):
        Mechanism(**{key: value for key, value in data.items() if key != "format_version"})


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(keys, tree, max_size=5))
def test_any_tree(data):
    only_our_error(yaml.safe_dump(data))
    with contextlib.suppress(ModelError):
        Mechanism(**data)  # and the same as Python values


def test_nodes_know_their_lines():
    root = compose("a: 1\nb:\n  - x\n  - {c: d}\n")
    assert root.find(("b", 1, "c")) == (4, ("b", 1, "c"))
    assert root.find(("b", 1, "missing")) == (4, ("b", 1, "missing"))
    assert root.find(("a", "inside")) == (1, ("a",))


CAM = """\
ground: {points: {O: [0, 0]}}
bodies: {arm: {bar: 1 m, mass: 1 kg}}
joints: {J: {kind: revolute, between: [ground.O, arm.start]}}
drives: {D: {kind: angle, of: J, motion: {kind: sum, terms: [1 deg, {kind: table, file: cam.csv, ends: periodic}]}}}
"""


@pytest.mark.parametrize(
    "text",
    [
        "time [s], angle [deg]\n0, 30\n0.5, 60\n1, 30\n",
        "\ufeff# measured\r\n\r\ntime [ms];angle (deg)\r\n0;30\r\n500;60\r\n1000;30\r\n",
        "0\t30 deg\n500 ms\t60 deg\n1\t30 deg",
        "# measured, by hand\n#time [s], angle [deg]\n0, 30\n0.5, 60\n1, 30\n",
        "[s] time, angle [deg] of the cam\n0, 30\n0.5, 60\n1, 30\n",
    ],
)
def test_a_table_is_read_from_a_csv_file_beside_the_model_and_kept(tmp_path, text):
    (tmp_path / "cam.csv").write_text(text, encoding="utf-8")
    (tmp_path / "cam.yaml").write_text(CAM)
    made = model.load(tmp_path / "cam.yaml")
    told = CAM.replace("file: cam.csv", "times: [0, 0.5, 1], values: [30 deg, 60 deg, 30 deg]")
    assert made == model.loads(told) == model.loads(model.dumps(made))
    (tmp_path / "whole.yaml").write_text("modules: {left: {file: cam.yaml}}\n")
    assert model.load(tmp_path / "whole.yaml").drives["left.D"].motion == made.drives["D"].motion


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cam.csv cannot be read: No such file or directory"),
        ("0,1,2\n", "cam.csv:1: must have two columns, time and value, between them a comma, .*; got 3"),
        ("time,angle\n0,1\n0.5,x\n", "cam.csv:3: must be a number such as 1.5 or '1.5 rad', got 'x'"),
        ("time [s],angle [mm]\n0,1\n", "cam.csv:2: must be an angle in rad, got '1.0 mm' .*"),
        ("time ms,angle\n0,1\n", "cam.csv:1: a unit stands in brackets, such as 'time .unit.'; got 'time ms'"),
        ("time_s,angle_deg\n0,1\n", "cam.csv:1: a unit stands in brackets, such as 'angle .unit.'; got 'angle_deg'"),
        ("ms,h\n0,1\n", "cam.csv:1: a unit stands in brackets, .*; got 'ms'"),
        ("# made by a logger\n# time ms, angle deg\n0,1\n", "cam.csv:2: a unit stands in brackets, .*; got 'time ms'"),
        ("# t/s; phi/deg\n0;1\n", "cam.csv:1: a unit stands in brackets, such as 't .unit.'; got 't/s'"),
        ("time,angle in degrees\n0,1\n", "cam.csv:1: a unit stands in brackets, .*; got 'angle in degrees'"),
        ("time,angle.deg\n0,1\n", "cam.csv:1: a unit stands in brackets, .*; got 'angle.deg'"),
        ("millis,angle-deg\n0,1\n", "cam.csv:1: a unit stands in brackets, .*; got 'millis'"),
        ("0,1\n1,1_0\n", "cam.csv:2: unknown unit '_0'; .*"),
        ("phi, t\n0,1\n", "cam.csv:1: time is the first of the two columns, got phi, t"),
        ("angle [deg],Time [s]\n0,1\n", "cam.csv:1: time is the first of the two columns, .*"),
        ("time/s,angle/deg\n0,1\n", "cam.csv:1: a unit stands in brackets, such as 'time .unit.'; got 'time/s'"),
        ("0;1,5\n1;2\n", "cam.csv:1: must have a decimal point, got '1,5'; write '1.5'"),
        ("0,1\n\n2,1\n2,1\n", "cam.csv:4: times must increase, got 2.0 s after 2.0 s"),
        ("time,angle\n0,1\n", "cam.csv: needs at least two lines of numbers, got 1"),
        (b"0,1\n1,\xff", "cam.csv:2: is not UTF-8 text"),
        (b"0,1\n" * 300_000, "cam.csv is larger than 1000 kB; leave out points"),
    ],
)
def test_a_csv_file_that_is_no_table_names_its_line(tmp_path, text, said):
    if text is not None:
        (tmp_path / "cam.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ModelError) as caught:
        model.loads(CAM, str(tmp_path / "cam.yaml"))
    [problem] = caught.value.problems
    assert problem.line == 4 and problem.path[-1] == "file"
    assert re.fullmatch(said, problem.text.removeprefix(str(tmp_path) + "/"))


def test_schema_is_complete():
    made = model.schema()
    json.dumps(made)
    text = json.dumps(made)
    assert set(re.findall(r'"#/\$defs/(\w+)"', text)) <= set(made["$defs"])
    assert "Function" not in text
    assert set(made["properties"]) == {"format_version", "modules", *Mechanism.model_fields}
    body = made["$defs"]["Body"]
    assert set(body["properties"]) == {"bar", "mass", "inertia", "centre", "points", "counterweight"}
    assert body["properties"]["mass"]["anyOf"][0] == {"type": "number", "exclusiveMinimum": 0}
    assert body["properties"]["mass"]["anyOf"][1]["type"] == "string"
    assert body["additionalProperties"] is False
    joint = made["$defs"]["Revolute"]
    assert joint["required"] == ["kind", "between"]
    assert set(joint["properties"]) == {*model.Revolute.model_fields, *model.Revolute.also}
    assert joint["dependentRequired"]["bearing_radius"] == ["journal_radius"]
    assert {"not": {"required": ["clearance", "fit"]}} in joint["allOf"]
    assert {"not": {"required": ["fit", "journal_radius"]}} in joint["allOf"]
    assert re.search(joint["properties"]["fit"]["pattern"], "20 H7/g6")
    contacts = [{"$ref": f"#/$defs/{kind}"} for kind in ("Rigid", "Compliant")]
    assert made["$defs"]["Prismatic"]["properties"]["contact"]["anyOf"] == contacts
    restitution = made["$defs"]["Rigid"]["properties"]["restitution"]
    assert restitution["anyOf"][0] == {"type": "number", "minimum": 0, "maximum": 1}
    assert {"lower", "upper", "stop_restitution", "fit"} <= set(made["$defs"]["Slot"]["properties"])
    assert {"play", "contact"} <= set(made["$defs"]["Gear"]["properties"])
    table = made["$defs"]["Table"]
    assert table["required"] == ["kind"] and {"required": ["file"]} in table["oneOf"]
