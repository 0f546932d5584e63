"""Roles of laws: what each declares and refuses, where gains live, and how a controller is seen to need the model."""

import functools
import pickle
from types import SimpleNamespace

import pytest

import jointplay as jp
from jointplay.laws import Law, law
from jointplay.laws.roles import LAWS, controller, friction, normal, registry
from jointplay.model import ModelError
from jointplay.physics.rehearsal import needs_model


@pytest.fixture(autouse=True)
def as_before(monkeypatch):
    """What a test declares is forgotten after it."""
    for role in LAWS:
        registry(role)
    monkeypatch.setattr("jointplay.laws.roles.LAWS", {role: dict(laws) for role, laws in LAWS.items()})


def plain(loop, *, k1=1.0):
    return [-k1 * e for e in loop.errors]


# -- what a role declares
def test_a_declared_law_is_known_by_its_name_and_role():
    @normal(units={"stiffness": "N/m"}, rates={"creep": 0.0}, memory={"deepest": 0.0})
    def creeping(depth, rate, approach, *, stiffness=1e5, creep, deepest):
        return stiffness * (depth - creep), {"creep": depth - creep}, {"deepest": depth}

    assert registry("normal")["creeping"] is creeping and creeping.role == "normal"
    assert list(creeping.own) == ["stiffness"] and creeping.bounds("stiffness") == {"above": 0.0}
    assert creeping(2.0, 0.0, 1.0, stiffness=3.0, creep=1.0, deepest=0.0) == (3.0, {"creep": 1.0}, {"deepest": 2.0})
    chosen = jp.Compliant(normal="creeping").normal
    assert chosen.law is creeping and chosen.name == "creeping"
    assert jp.Compliant(normal=creeping) == jp.Compliant(normal="creeping")


def test_states_are_declared_in_every_role():
    @friction(rates={"bristle": 0.0}, memory={"turns": 1.0})
    def worn(slip, normal, *, wear=0.1, bristle, turns):
        return -normal * bristle, {"bristle": slip}, {"turns": turns + wear}

    @controller(rates={"integral": 0.0}, memory={"last": 0.0})
    def remembering(loop, *, gain=-1.0, integral, last):
        return [gain * i for i in integral], {"integral": loop.errors}, {"last": loop.errors}

    assert (worn.rates, worn.memory) == ({"bristle": 0.0}, {"turns": 1.0})
    assert (remembering.rates, remembering.memory) == ({"integral": 0.0}, {"last": 0.0})
    forgetful = friction(rates={"bristle": 0.0})(lambda slip, normal, *, bristle: (0.0, {}, {}))
    with pytest.raises(ValueError, match="'bristle' must be both declared and returned"):
        forgetful(1.0, 1.0, bristle=0.0)
    silent = normal(memory={"deepest": 0.0})(lambda depth, rate, approach, *, deepest: depth)
    with pytest.raises(ValueError, match=r"declares states: it must return \(result, rates, memory\)"):
        silent(1.0, 0.0, 1.0, deepest=0.0)
    with pytest.raises(ValueError, match="'x' is declared among its rates and its memory; keep one"):
        friction(rates={"x": 0.0}, memory={"x": 0.0})(lambda slip, normal, *, x: 0.0)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: normal()(lambda depth, rate: 0.0), r"a normal law takes \(depth, rate, approach\), but"),
        (lambda: friction()(lambda slip, normal, k: 0.0), r"a friction law takes \(slip, normal\).*behind a star"),
        (lambda: controller()(lambda: [0.0]), r"a control law takes \(loop\)"),
        (lambda: normal(units={"k": "N/m"})(lambda d, r, a: 0.0), "says something about 'k', which is not one of"),
        (lambda: Law(plain, {}, {}, role="control", geometry=["k1"]), "a controller stands in no joint"),
        (lambda: Law(lambda s, n: 0.0, {}, {}, role="friction", watch=["x"]), "watch is for controllers"),
    ],
)
def test_what_a_role_cannot_have_is_refused(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_a_law_of_another_role_is_refused():
    threlfall = registry("friction")["threlfall"]
    with pytest.raises(ModelError, match="a normal law takes"):
        jp.Compliant(normal=threlfall)
    with pytest.raises(ValueError, match="'threlfall' is a friction law, and a normal law is needed"):
        threlfall.taken_as("normal")


def test_two_files_cannot_mean_different_laws_by_one_name():
    def hertz(depth, rate, approach):
        return depth

    with pytest.raises(ValueError, match=r"the normal law 'hertz' is already that of jointplay.laws.normal; choose"):
        normal()(hertz)
    hertz.__name__ = "stiff"
    first, second = normal()(hertz), normal()(hertz)  # in one file the last one counts, as in a notebook
    assert registry("normal")["stiff"] is second is not first


def test_sizes_of_the_joint_are_parameters_of_contact_laws_only():
    @law()
    def either(depth, rate, approach, *, length, clearance, width=1.0):
        return depth * length

    assert either.taken_as("normal").geometry == ["length", "clearance"]
    assert either.taken_as("normal") is either.taken_as("normal") and either.role is None
    named = normal(geometry=["width"])(lambda depth, rate, approach, *, length=1.0, width: depth)
    assert named.geometry == ["width"] and list(named.own) == ["length"]
    steered = controller()(lambda loop, *, length, clearance=0.0: [length])
    assert steered.geometry == [] and list(steered.own) == ["length", "clearance"]


def test_laws_travel_between_processes():
    chosen = jp.control.use(plain, "crank", 1.0, k1=-3.0).law
    again = pickle.loads(pickle.dumps(chosen.law))
    assert again.function is plain and again.role == "control"
    for role, name in (("normal", "hertz"), ("friction", "lugre"), ("control", "pid")):
        assert pickle.loads(pickle.dumps(registry(role)[name])) is registry(role)[name]


# -- gains
def test_gains_may_be_any_number_and_called_anything():
    @controller()
    def odd(loop, *, settled=-1.0, regularisation=2.0, length=-3.0, limit=0.0):
        return [settled * e + regularisation * v + length + limit for e, v in zip(loop.errors, loop.rates, strict=True)]

    crank = jp.library.slider_crank()
    loop = jp.control.use({"law": odd, "settled": -7.0, "limit": -2.5}, "crank", 1.0, settled=0.25, limit=50.0)
    given = crank.replace(control=loop).addresses()
    assert given["control.law.settled"] == -7.0 and given["control.settled"] == 0.25
    assert given["control.law.limit"] == -2.5 and given["control.crank.limit"] == 50.0
    assert given["control.law.length"] == -3.0 and given["control.law.regularisation"] == 2.0
    with pytest.raises(
        ModelError, match="settled: is a gain of 'odd' and a field of the loop; give gains with the law"
    ):
        jp.control.use(odd, "crank", 1.0, settled=0.25)
    with pytest.raises(ModelError, match="k1: is given twice"):
        jp.control.use({"law": plain, "k1": 1.0}, "crank", 1.0, k1=2.0)
    with pytest.raises(ModelError, match=r"law: this name is reserved"):
        jp.control.use(plain, "crank", 1.0, actuators={"law": {"of": "crank"}})


def test_a_negative_gain_acts():
    swing = jp.library.pendulum(length=1.0, mass=1.0, angles=[0.0]).replace(gravity=(0.0, 0.0))
    run = jp.simulate(swing, until=0.5, control=jp.control.use(plain, "bar1", 1.0, k1=-2.0))
    # I a = k (angle - 1), I = 1/3: away from 1 with exp(sqrt(6) t)
    t = run.time.values
    wanted = 1.0 - 0.5 * (2.718281828459045 ** (6**0.5 * t) + 2.718281828459045 ** (-(6**0.5) * t))
    assert run.angle.values[:, 0] == pytest.approx(wanted, abs=1e-6)


def test_old_addresses_name_the_new_ones():
    loop = jp.control.pd("crank", 1.0, k1=20.0, k2=2.0)
    crank = jp.library.slider_crank().replace(control=loop)
    assert crank.with_({"control.law.k1": -5}).value("control.law.k1") == -5
    for change in (crank.value, lambda address: crank.with_({address: 1.0})):
        with pytest.raises(ModelError, match=r"control.k1: no such address; its address is 'control.law.k1'"):
            change("control.k1")


# -- what a controller needs
class Controller:
    def __init__(self, model):
        self.model = model

    def __call__(self, loop, *, k1=1.0):
        return [-k1 * e for e in loop.errors] if self.model == "none" else loop.model.torques(loop.errors)


def helped(loop):
    return deeper(loop)


def deeper(loop):
    return [u for u in loop.model.torques([0.0 for _ in loop.errors])]


@functools.wraps(plain)
def wrapped(loop, *, k1=1.0):
    return helped(loop)


def by_number(loop, weigh, *, k1=1.0):
    return loop.model.gravity() if weigh else plain(loop, k1=k1)


CFG = SimpleNamespace(model="a name that is no model")


@pytest.mark.parametrize(
    ("function", "needs"),
    [
        (plain, False),
        (helped, True),
        (wrapped, True),
        (Controller("none"), False),
        (Controller("own"), True),
        (functools.partial(by_number, weigh=True), True),
        (functools.partial(by_number, weigh=False), False),
        (lambda loop: [0.0 if CFG.model else 1.0 for _ in loop.errors], False),
        (lambda loop: getattr(loop, "mo" + "del").carried([loop.model.energy(loop.rates)]), True),
        (lambda loop: [1 / 0], False),  # what is wrong is told by the run
    ],
    ids=["plain", "helper", "wrapped", "object", "object with model", "partial", "partial without", "other model",
         "by name", "wrong"],
)  # fmt: skip
def test_a_controller_is_rehearsed(function, needs):
    assert needs_model(Law(function, {}, {}, role="control"), 2, ("a", "b")) is needs


def test_the_packages_controllers_are_seen_through():
    found = {name: needs_model(one, 1, ("a",)) for name, one in registry("control").items()}
    assert {name for name, needs in found.items() if needs} == {
        "feedback_linearisation", "passivity_based", "sliding_mode"
    }  # fmt: skip


def test_a_controller_may_say_what_it_needs():
    assert needs_model(controller(model=True)(plain), 1, ("a",)) is True
    assert needs_model(controller(model=False)(helped), 1, ("a",)) is False


@pytest.mark.parametrize("function", [helped, wrapped, Controller("own")], ids=["helper", "wrapped", "object"])
def test_a_controller_with_helpers_runs(function):
    crank = jp.library.slider_crank(angle=1.0)
    run = jp.simulate(crank, until=0.05, control=jp.control.use(function, "crank", 1.0))
    assert run.outcome_text == "reached 0.05 s"
