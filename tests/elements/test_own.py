"""A user's own kinds and laws, from a file outside the package: in files, check, runs, pages, the command line."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pytest

import jointplay as jp
from jointplay import own, parallel, report
from jointplay.cli import main
from jointplay.elements import Contact, Drive, Joint, Load, Rigid
from jointplay.elements.fields import Angle, AngleMotion, Axis, Points, Restitution, Size, Turning
from jointplay.laws.roles import LAWS, registry
from jointplay.model import ModelError
from jointplay.system import System

FILE = Path(__file__).with_name("own_kinds.py")
FLOOR = """
ground: {points: {O: [0, 0]}}
bodies: {wheel: {mass: 2 kg, inertia: 0.01 kg*m^2}}
joints: {J: {kind: disc, between: [ground.O, wheel.centre], radius: 100 mm, contact: {kind: rigid, friction: 0.3}}}
start: {wheel.y: 0.1}
"""


@pytest.fixture(scope="module", autouse=True)
def loaded():
    """The user's file, and everything as it was afterwards."""
    for role in LAWS:
        registry(role)
    tables = [*(family.known for family in (Joint, Drive, Load)), *LAWS.values(), own.LOADED]
    kept = [dict(table) for table in tables]
    yield own.load(FILE)
    for table, before in zip(tables, kept, strict=True):
        table.clear()
        table.update(before)


@pytest.fixture
def afresh():
    """What a test defines is forgotten after it."""
    tables = [family.known for family in (Joint, Drive, Load)]
    kept = [dict(table) for table in tables]
    yield
    for table, before in zip(tables, kept, strict=True):
        table.clear()
        table.update(before)


# -- a joint with a contact and no clearance
def test_a_disc_is_in_files_schema_and_check():
    disc = jp.loads(FLOOR)
    assert jp.loads(jp.dumps(disc)) == disc and disc.value("J.radius") == 0.1
    assert jp.schema()["$defs"]["Disc"]["properties"]["kind"]["const"] == "disc"
    assert jp.check(disc).degrees == 3 and jp.check(disc).warnings == ()
    assert "penetrates 'J' by 0.01 m" in jp.check(disc.with_({"start.wheel.y": 0.09})).text()
    text = "joints.J: a disc joint cannot be loosened; revolute, prismatic, slot and gear joints can"
    with pytest.raises(ModelError) as error:
        disc.loosen("J", 1e-3)
    assert str(error.value) == text
    assert disc.closed() == disc and list(disc.loose(Rigid)) == ["J"]


def test_the_gap_of_a_disc_is_differentiated():
    tilted = jp.loads(FLOOR).with_({"J.axis.x": 0.8, "J.axis.y": -0.6})
    system = System(tilted)
    q, v = np.array([0.3, 0.4, 1.0]), np.array([0.2, -0.7, 5.0])
    here = system.evaluate(q, v)
    assert here.gaps == pytest.approx([0.6 * 0.3 + 0.8 * 0.4 - 0.1])
    assert here.openings == pytest.approx([0.6 * 0.2 - 0.8 * 0.7])
    assert system.with_({"J.radius": 0.2}).evaluate(q, v).gaps == pytest.approx(here.gaps - 0.1)


@pytest.mark.parametrize(("friction", "share"), [(0.3, 2 / 3), (0.1, None)])
def test_a_disc_rolls_or_slides_down_a_slope(friction, share):
    """It rolls with 2/3 g sin a while friction holds, tan a < 3 mu; else it slides with g (sin a - mu cos a)."""
    angle = math.radians(30)
    x, y = math.cos(angle), -math.sin(angle)
    slope = jp.loads(FLOOR).with_({"J.axis.x": x, "J.axis.y": y, "J.friction": friction})
    slope = slope.with_({"start.wheel.x": -0.1 * y, "start.wheel.y": 0.1 * x})
    run = jp.simulate(slope, until=0.2, stepper=jp.MoreauJean(1e-4))
    way = float(run.x_rate[-1, 0]) * x + float(run.y_rate[-1, 0]) * y
    wanted = share * 9.81 * -y if share else 9.81 * (-y - friction * x)
    assert way == pytest.approx(wanted * 0.2, rel=1e-6)
    spin = way / 0.1 if share else friction * 2 * 9.81 * x * 0.1 / 0.01 * 0.2  # torque mu m g cos a r over the inertia
    assert -float(run.angle_rate[-1, 0]) == pytest.approx(spin, rel=1e-6)
    assert int(run.impacts.sum()) == 0 and abs(float(run.gap[-1, 0])) < 1e-9


def test_a_disc_bounces():
    """It falls 0.1 m and rises again with half the speed."""
    falling = jp.loads(FLOOR).with_({"start.wheel.y": 0.2, "J.restitution": 0.5})
    first = math.sqrt(2 * 0.1 / 9.81)
    run = jp.simulate(falling, until=1.8 * first, stepper=jp.MoreauJean(1e-5))
    assert run.impact_time.values == pytest.approx([first], abs=2e-5)
    assert run.impact_approach.values == pytest.approx([9.81 * first], rel=1e-3)
    t = 0.8 * first
    assert float(run.y[-1, 0]) == pytest.approx(0.1 + 0.5 * 9.81 * first * t - 0.5 * 9.81 * t**2, abs=1e-4)


def test_a_disc_presses_into_a_compliant_floor():
    soft = {"kind": "compliant", "normal": {"law": "kelvin_voigt", "stiffness": 1e5, "damping": 400.0}}
    disc = jp.loads(FLOOR).with_({"start.wheel.y": 0.1001})
    disc = disc.replace(joints={"J": {**disc.joints["J"].plain(), "contact": soft}})
    run = jp.simulate(disc, until=0.5)
    assert float(run.y[-1, 0]) == pytest.approx(0.1 - 2 * 9.81 / 1e5, abs=1e-9)
    falling = disc.with_({"start.wheel.y": 0.5, "J.normal.stiffness": 1e3, "J.normal.damping": 0.0})
    deep = jp.simulate(falling, until=0.5, stepper=jp.FixedRungeKutta(0.02), strict=False)
    assert "of the radius of 0.1" in deep.outcome_text


def test_a_disc_in_lanes():
    lanes = [{"J.radius": 0.1, "start.wheel.y": 0.15}, {"J.radius": 0.12, "start.wheel.y": 0.2}]
    both = jp.Simulation(jp.loads(FLOOR), stepper=jp.MoreauJean(1e-4), lanes=lanes)
    both.advance(0.3)
    for lane, numbers in enumerate(lanes):
        alone = jp.Simulation(jp.loads(FLOOR).with_(numbers), stepper=jp.MoreauJean(1e-4))
        alone.advance(0.3)
        assert (both.state[lane] == alone.state[0]).all()


def test_a_disc_is_drawn():
    run = jp.simulate(jp.loads(FLOOR).with_({"start.wheel.y": 0.2}), until=0.2, every=1e-3)
    play = jp.plots.places.Places(run).play("J")
    assert play.shape == "floor" and play.gaps["J"] == pytest.approx(run.y.values[:, 0] - 0.1)
    jp.plots.journal(run)
    page = report.html(run)
    assert '"wheel":0.1' in page and '"guide":"line"' in page and '"shape":"floor"' in page
    left, bottom, right, top = report.scene.box(jp.plots.places.Places(run))
    assert (left, right, top) == pytest.approx((-0.1, 0.1, 0.3)) and bottom == pytest.approx(run.y.values.min() - 0.1)


def test_a_disc_is_controlled_and_driven_along_its_line():
    """Without friction m x'' = -k1 (x - r) - k2 x'; driven, it goes where the drive says."""
    smooth = jp.loads(FLOOR).with_({"J.friction": 0.0})
    along = {"kind": "position", "of": "J"}
    run = jp.simulate(smooth, until=0.4, stepper=jp.MoreauJean(1e-4),
                      control=jp.control.pd(along, 0.3, k1=200.0, k2=40.0))  # fmt: skip
    t = run.time.values
    assert run.x.values[:, 0] == pytest.approx(0.3 - 0.3 * (1 + 10 * t) * np.exp(-10 * t), abs=2e-4)  # 2 x'' + ...
    assert run["control"].attrs["units"] == "N"
    driven = smooth.replace(drives={"D": jp.model.PositionDrive(of="J", motion=jp.sine(0.1, 3.0))})
    assert float(jp.simulate(driven, until=0.2).x[-1, 0]) == pytest.approx(0.1 * math.sin(0.6), abs=1e-6)
    with pytest.raises(ModelError, match=r"no prismatic or slot or disc joint 'K'; known: J"):
        smooth.replace(drives={"D": jp.model.PositionDrive(of="K", motion=0.0)})


# -- a drive
def test_a_drive_of_ones_own():
    arm = jp.loads("""
ground: {points: {O: [0, 0]}}
bodies: {arm: {bar: 1, mass: 1}}
joints: {J: {kind: revolute, between: [ground.O, arm.start]}}
drives: {D: {kind: ramp, of: J, share: 0.5, motion: {kind: polynomial, coefficients: [0, 2]}}}
""")
    run = jp.simulate(arm, until=1.0)
    assert run.angle.values[:, 0] == pytest.approx(run.time.values**2, abs=1e-9)
    assert jp.loads(jp.dumps(arm)) == arm
    with pytest.raises(ModelError, match="the angle of 'J' is already driven by 'D'"):
        arm.replace(drives={**arm.drives, "E": jp.model.AngleDrive(of="J", motion=0.0)})
    with pytest.raises(ModelError, match=r"drives.D.of: no body or revolute joint 'K'"):
        jp.loads(jp.dumps(arm).replace("of: J", "of: K"))


def test_a_drive_has_one_row(afresh):
    """Two were "conflicting sizes for dimension 'drive'"."""
    fields = {"__annotations__": {"kind": Literal["pair"], "of": Turning, "motion": AngleMotion}, "kind": "pair"}
    fields |= {"prescribes": "angle", "residual": lambda self, here: {"a": here.motion(), "b": here.motion()}}
    type("PairDrive", (Drive,), fields)
    arm = jp.library.pendulum().replace(drives={"D": {"kind": "pair", "of": "bar1", "motion": 0.0}})
    with pytest.raises(ModelError, match=r"drives\.D: prescribes one .* gives 2 \(a, b\): make a drive of each row"):
        jp.simulate(arm, until=1.0)


# -- a force
def test_a_force_of_ones_own():
    """Drag alone: v' = -c v^2/m, so v = v0/(1 + c v0 t/m); a brake alone: w' = -b w/I."""
    body = jp.loads("""
gravity: [0, 0]
bodies: {stone: {mass: 2, inertia: 0.5}}
forces: {F: {kind: drag, at: stone.centre, on: stone, coefficient: 0.8, brake: 0.3}}
start: {stone.x.rate: 3.0, stone.y.rate: 4.0, stone.rate: 2.0}
""")
    run = jp.simulate(body, until=2.0)
    t = run.time.values
    speed = np.hypot(run.x_rate.values[:, 0], run.y_rate.values[:, 0])
    assert speed == pytest.approx(5.0 / (1 + 0.8 * 5.0 * t / 2), rel=1e-7)
    assert run.angle_rate.values[:, 0] == pytest.approx(2.0 * np.exp(-0.3 * t / 0.5), rel=1e-7)
    assert not body.isolated() and jp.loads(jp.dumps(body)) == body
    assert jp.equilibria(body, 4)  # it counts what the force does at rest


# -- a controller
def test_a_controller_of_ones_own_with_helpers_and_negative_gains():
    arm = jp.loads("""
ground: {points: {O: [0, 0]}}
bodies: {arm: {bar: 1, mass: 1}}
joints: {J: {kind: revolute, between: [ground.O, arm.start]}}
start: {arm: 0.5}
control:
  law: {law: holding, length: -9}
  coordinates: {arm: {of: arm, reference: 0.8}}
  actuators: {motor: {of: arm}}
""")
    assert arm.value("control.law.settled") == -40.0 and arm.value("control.law.length") == -9.0
    assert jp.loads(jp.dumps(arm)) == arm
    run = jp.simulate(arm, until=5.0)
    assert float(run.angle[-1, 0]) == pytest.approx(0.8, abs=1e-4)
    swing = (1 / 3) * run.angle_acceleration[:, 0] + 9 * run.angle_rate[:, 0] + 40 * (run.angle[:, 0] - 0.8)
    assert swing.values == pytest.approx(0.0, abs=1e-6)


# -- the command line, and other processes
def test_the_command_line_loads_a_file_and_nothing_else_does(tmp_path):
    model = tmp_path / "disc.yaml"
    model.write_text(FLOOR, encoding="utf-8")

    def run(*arguments):
        command = [sys.executable, "-m", "jointplay", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)

    lost = run("check", "disc.yaml")
    assert lost.returncode == 2 and "unknown kind 'disc'; known: revolute," in lost.stderr
    assert "one of your own is loaded by --with FILE" in lost.stderr and "Traceback" not in lost.stderr
    found = run("check", "disc.yaml", "--with", str(FILE))
    assert found.returncode == 0 and "degrees of freedom  3" in found.stdout
    model.write_text(f"with: {FILE}\n{FLOOR}", encoding="utf-8")
    assert "unknown key" in run("check", "disc.yaml").stderr


def test_the_command_line_runs_and_reports(tmp_path, capsys):
    model, result = tmp_path / "disc.yaml", tmp_path / "disc.nc"
    model.write_text(FLOOR, encoding="utf-8")
    given = ["--with", str(FILE)]
    assert main(["run", str(model), "--until", "0.02", "-o", str(result), "--quiet", *given]) == 0
    assert main(["report", str(result), "-o", str(tmp_path / "disc.html"), *given]) == 0
    assert '"wheel":0.1' in (tmp_path / "disc.html").read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["schema", *given]) == 0
    assert "Disc" in json.loads(capsys.readouterr().out)["$defs"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no such file; give a Python file"),
        ("x = (", ":1: SyntaxError"),
        ("\n\nraise RuntimeError('not today')", ":3: RuntimeError: not today"),
        ("import nothing_of_that_name", ":1: ModuleNotFoundError"),
        (
            "from typing import Literal\nfrom jointplay.elements import Contact, Joint, Rigid\n"
            "from jointplay.elements.fields import Points\n\n\nclass Bare(Joint):\n    kind: Literal['bare'] = 'bare'\n"
            "    between: Points\n    contact: Contact = Rigid()\n",
            "joint Bare has a contact and no gap: define gaps(self, here)",
        ),
    ],
)
def test_a_file_that_cannot_be_loaded_is_told(tmp_path, capsys, text, message):
    file = tmp_path / "kinds_of_mine.py"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    assert main(["check", "four_bar", "--with", str(file)]) == 2
    told = capsys.readouterr().err
    assert message in told and "Traceback" not in told and "bare" not in Joint.known


WRONG = """
from typing import Literal
from jointplay.elements import Joint
from jointplay.elements.fields import Length, Points


class Wrong(Joint):
    kind: Literal["wrong"] = "wrong"
    between: Points
    radius: Length = 0.1

    def residual(self, here):
        return {"x": TEXT}
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("here.apart.x - self.radius", "must not read self.radius, which would fix the number: write here.number"),
        ("here.apart.x if here.apart.x > 0 else 0.0", "TraceError"),
        ("here.nothing", "AttributeError: 'Here' object has no attribute 'nothing'"),
    ],
)
def test_a_mistake_in_a_text_of_ones_own_is_told_with_its_place(tmp_path, text, message):
    (tmp_path / "wrong.py").write_text(WRONG.replace("TEXT", text), encoding="utf-8")
    (tmp_path / "m.yaml").write_text(
        "ground: {points: {O: [0, 0]}}\nbodies: {a: {mass: 1, inertia: 1}}\n"
        "joints: {J: {kind: wrong, between: [ground.O, a.centre]}}\n", encoding="utf-8",
    )  # fmt: skip
    command = [sys.executable, "-m", "jointplay", "check", "m.yaml", "--with", "wrong.py"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert found.returncode == 2 and "Traceback" not in found.stderr
    assert "wrong.py:13: " in found.stderr and message in found.stderr


def weigh(mechanism):
    return type(mechanism.joints["J"]).__name__, jp.loads(FLOOR) == mechanism


def test_workers_know_the_files_that_were_loaded():
    found = parallel.each(weigh, [jp.loads(FLOOR)] * 2, workers=2)
    assert found == [("Disc", True)] * 2


# -- what is refused in a text
@pytest.mark.parametrize(
    ("residual", "text"),
    [
        (lambda self, here: {"x": here.apart.x - self.size}, r"must not read self.size.*write here.number\('size'\)"),
        (lambda self, here: {"x": here.apart.x * self.size}, r"must not read.*write here.number\('size'\)"),
        (lambda self, here: {"x": 2.0 * self.size - here.apart.x}, r"write here.number\('size'\)"),
        (lambda self, here: {"x": here.apart.x - self.axis[1]}, r"must not read"),
        (lambda self, here: {"x": here.apart.x} if self.size > 0.5 else {}, r"must not read self.size"),
        (lambda self, here: {"x": here.apart.x + math.sin(self.size)}, r"must not read self.size"),
    ],
)
def test_a_text_that_would_fix_a_number_is_refused(afresh, residual, text):
    """A run with another number may use the same program: a number read from the model would be silently old."""
    make(kind=KIND, between=ENDS, residual=(None, residual), size=(Size, 0.1), axis=(Axis, (1.0, 2.0)))
    odd = jp.loads(FLOOR.replace("kind: disc", "kind: odd").replace("radius: 100 mm, contact: {kind: rigid, friction: "
                                                                     "0.3}", "size: 0.2"))  # fmt: skip
    with pytest.raises(TypeError, match=text):
        System(odd)


def test_a_text_may_ask_whether_a_number_is_nothing(afresh):
    def residual(self, here):
        return {"x": here.apart.x - here.number("size")} if self.size > 0 and self.size != 0 and self.size else {}

    make(kind=KIND, between=ENDS, residual=(None, residual), size=(Size, 0.0))
    text = FLOOR.replace("kind: disc", "kind: odd").replace(
        "radius: 100 mm, contact: {kind: rigid, friction: 0.3}", "size: S"
    )
    assert [System(jp.loads(text.replace("S", x))).rows for x in ("0", "0.2")] == [[], ["J.x"]]


# -- what is refused at import
def make(**fields):
    """A class of a joint with these fields and methods."""
    notes = {name: note for name, (note, _) in fields.items() if note is not None}
    values = {name: value for name, (_, value) in fields.items() if value is not ...}
    return type("Odd", (Joint,), {"__annotations__": notes, "__module__": __name__, **values})


GAPS = (None, lambda self, here: iter(()))
RESIDUAL = (None, lambda self, here: {})
KIND = (Literal["odd"], "odd")
ENDS = (Points, ...)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (dict(contact=(Contact, Rigid())), "joint Odd has a contact and no gap: define gaps"),
        (dict(contact=(Contact, Rigid()), residual=RESIDUAL), "joint Odd has a contact and no gap"),
        (dict(contact=(Contact, Rigid()), gaps=GAPS), "joint Odd has a contact and no play: say with measure"),
        (dict(gaps=GAPS), "joint Odd has gaps and no contact: give it a field `contact`"),
        (dict(), "joint Odd does nothing: define residual"),
        (dict(residual=RESIDUAL, opened_by=(ClassVar[str], "play")), "joint Odd is opened by 'play'"),
        (dict(residual=RESIDUAL, lower=(Angle, 0.0), stop_restitution=(Restitution, 0.0)), "define coordinate"),
        (
            dict(residual=RESIDUAL, upper=(Angle, 0.0), coordinate=(None, lambda self, here: 0)),
            "joint Odd has stops: give it a field `stop_restitution`",
        ),
    ],
)
def test_a_joint_that_lacks_something_fails_at_import(afresh, fields, message):
    with pytest.raises(TypeError, match=message):
        make(kind=KIND, between=ENDS, **fields)
    assert "odd" not in Joint.known


def test_names_must_say_what_they_are(afresh):
    with pytest.raises(TypeError, match=r"joint Odd: what does it join\? give it `between: Points`"):
        make(kind=KIND, between=(tuple[str, str], ...), residual=RESIDUAL)
    with pytest.raises(TypeError, match=r"drive Idle: what does it drive\? give it `of: Turning`"):
        type("Idle", (Drive,), {"__annotations__": {"kind": Literal["idle"], "of": str}, "kind": "idle"})


def test_a_kind_has_one_meaning(afresh):
    with pytest.raises(TypeError, match=r"the kind 'revolute' is already that of jointplay.elements.revolute.Revolute"):
        make(kind=(Literal["revolute"], "revolute"), between=ENDS, residual=RESIDUAL)
    first = make(kind=KIND, between=ENDS, residual=RESIDUAL)
    second = make(kind=KIND, between=ENDS, residual=RESIDUAL, size=(Size, 0.0))  # again in the same file
    assert Joint.known["odd"] is second is not first


def test_drives_and_forces_that_do_nothing_fail_at_import(afresh):
    with pytest.raises(TypeError, match="drive Idle prescribes nothing"):
        type("Idle", (Drive,), {"__annotations__": {"kind": Literal["idle"], "of": Turning}, "kind": "idle"})
    with pytest.raises(TypeError, match="say what it prescribes"):
        type("Idle", (Drive,), {"__annotations__": {"kind": Literal["idle"], "of": Turning}, "kind": "idle",
                                "residual": lambda self, here: {}})  # fmt: skip
    with pytest.raises(TypeError, match="force Idle does nothing"):
        type("Idle", (Load,), {"__annotations__": {"kind": Literal["idle"]}, "kind": "idle"})


def test_only_kinds_with_a_pushing_row_follow():
    with pytest.raises(
        ModelError, match=r"only a revolute joint can have permanent contact .following.; use a rigid one"
    ):
        jp.loads(FLOOR.replace("{kind: rigid, friction: 0.3}", "{kind: following}"))
    assert math.isclose(jp.loads(FLOOR).joints["J"].looseness, 0.0)


# -- laws with states
def dropped(**contact):
    disc = jp.loads(FLOOR).with_({"start.wheel.y": 0.1})
    return disc.replace(joints={"J": {**disc.joints["J"].plain(), "contact": {"kind": "compliant", **contact}}})


def test_a_normal_law_with_a_state():
    """A spring k beside one that creeps, c' = r (d - c): it rests where 2 k d - k c = m g with c = d, half as deep as
    it first was; on the way k (2 d - c) is the force in every sample."""
    disc = dropped(normal={"law": "two_springs", "stiffness": 1e5, "relaxation": 20.0}).with_(
        {"start.wheel.y.rate": -0.1}
    )
    assert jp.loads(jp.dumps(disc)) == disc
    for stepper in (jp.RungeKutta(1e-9, 1e-12), jp.FixedRungeKutta(2e-5)):
        run = jp.simulate(disc, until=0.02, stepper=stepper, every=1e-4)
        t, depth = run.time.values, np.maximum(0.1 - run.y.values[:, 0], 0.0)
        fine = np.linspace(0, t[-1], 20 * len(t))
        force, held = run.normal_force.values[:, 0], np.interp(fine, t, depth)
        creep = np.zeros(len(fine))
        for k in range(1, len(fine)):  # the state by itself, over the depths of the run
            creep[k] = creep[k - 1] + (fine[k] - fine[k - 1]) * 20.0 * (held[k - 1] - creep[k - 1])
        wanted = 1e5 * (2 * depth - np.interp(t, fine, creep))
        pressing = (force > 0) & (t > 0)
        assert pressing.sum() > 20
        assert force[pressing] == pytest.approx(np.maximum(wanted, 0)[pressing], rel=2e-2, abs=0.02 * force.max())


def test_a_friction_law_with_memory():
    """It falls with the fastest slip there has been: a sliding disc slows down by mu g/(1 + v) of its first speed v."""
    soft = {"law": "kelvin_voigt", "stiffness": 1e5, "damping": 800.0}
    rough = {"law": "polished", "friction": 0.2, "v0": 1e-3}
    disc = dropped(normal=soft, friction=rough).with_({"start.wheel.y": 0.1 - 2 * 9.81 / 1e5})
    disc = disc.replace(start={**disc.start, "wheel.x.rate": 2.0})
    run = jp.simulate(disc, until=0.3, stepper=jp.RungeKutta(1e-9, 1e-12))
    slowing = 0.2 * 9.81 / (1 + 2.0)
    assert run.x_rate.values[-1, 0] == pytest.approx(2.0 - slowing * 0.3, rel=1e-3)
    lanes = [{"J.friction.friction": x} for x in (0.1, 0.2)]
    both = jp.Simulation(disc, stepper=jp.RungeKutta(1e-9, 1e-12), lanes=lanes)
    both.advance(0.3)
    for lane, numbers in enumerate(lanes):
        alone = jp.Simulation(disc.with_(numbers), stepper=jp.RungeKutta(1e-9, 1e-12))
        alone.advance(0.3)
        assert (both.state[lane] == alone.state[0]).all()


# -- each of them everywhere
ARM = """
ground: {points: {O: [0, 0]}}
bodies: {arm: {bar: 1, mass: 1}, fore: {bar: 0.5, mass: 0.5}}
joints:
  J: {kind: revolute, between: [ground.O, arm.start]}
  K: {kind: revolute, between: [arm.end, fore.start]}
start: {fore: 0.5}
"""
RIGID, SOFT = "{kind: rigid, friction: 0.3}", "{kind: compliant, normal: {law: LAW, stiffness: 1e5"
ONE = "coordinates: {c: {OF, reference: 0.2}}, actuators: {m: {OF}}}"
TWO = "coordinates: {a: {of: arm}, f: {of: fore}}, actuators: {a: {of: J}, f: {of: K}}}"
TURN = "control: {law: {law: pd, k1: 0.5, k2: 0.05}, " + ONE.replace("OF", "of: wheel")
CREEPS = SOFT.replace("LAW", "two_springs") + "}}"
RUBS = SOFT.replace("LAW", "kelvin_voigt") + ", damping: 800}, friction: {law: polished}}"
FOLLOW = "control: {law: {law: feedback_linearisation, k1: 400, k2: 40}, "
ADDED = {  # a model with a control loop, and a number of what was added
    "joint": (FLOOR + TURN.replace("of: wheel", "kind: position, of: J"), "J.radius"),
    "normal law": (FLOOR.replace(RIGID, CREEPS) + TURN, "J.normal.relaxation"),
    "friction law": (FLOOR.replace(RIGID, RUBS) + TURN, "J.friction.friction"),
    "controller": (f"{ARM}control: {{law: {{law: holding}}, {TWO}", "control.law.settled"),
    "drive": (
        f"{ARM}drives: {{D: {{kind: ramp, of: J, motion: {{kind: polynomial, coefficients: [0, 2]}}}}}}\n"
        + FOLLOW + ONE.replace("OF", "of: K"), "D.share",
    ),
    "force": (f"{ARM}forces: {{F: {{kind: drag, at: fore.end, on: fore, brake: 0.1}}}}\n{FOLLOW}{TWO}", "F.brake"),
}  # fmt: skip


@pytest.mark.parametrize("what", ADDED)
def test_each_addition_is_in_files_check_run_lanes_control_page_and_plots(what, tmp_path, capsys):
    text, address = ADDED[what]
    model, result, plot, page = (tmp_path / f"m.{end}" for end in ("yaml", "nc", "png", "html"))
    model.write_text(text, encoding="utf-8")
    mechanism = jp.load(model)
    assert jp.loads(jp.dumps(mechanism)) == mechanism and mechanism.control is not None
    given = ["--with", str(FILE)]
    assert main(["check", str(model), *given]) == 0 and "degrees of freedom" in capsys.readouterr().out
    assert main(["run", str(model), "--until", "0.02", "-o", str(result), "--plot", str(plot), "--quiet", *given]) == 0
    run = jp.results.load(result)
    assert run.sizes["time"] > 10 and np.isfinite(run["control"].values).all() and plot.stat().st_size > 10_000
    assert main(["report", str(result), "-o", str(page), *given]) == 0
    assert jp.loads(run.attrs["model"]) == mechanism and page.stat().st_size > 50_000

    lanes = [{address: factor * mechanism.value(address)} for factor in (1.0, 0.8)]
    both = jp.Simulation(mechanism, lanes=lanes, every=2e-5, until=0.02)
    both.advance(0.02, beyond=True)
    alone = jp.Simulation(mechanism, every=2e-5, until=0.02)
    alone.advance(0.02, beyond=True)
    assert (both.state[0] == alone.state[0]).all() and (both.state[1] != alone.state[0]).any()
    assert run.angle.values[-1] == pytest.approx(alone.result().angle.values[-1], abs=1e-12)
