"""Traces kept on disk: nothing is traced twice, nothing is stale, and nothing damaged or foreign is believed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import jointplay as jp
from jointplay import cache, traces
from jointplay.elements.kinds import Drive, Joint, Load
from jointplay.engine import pieces
from jointplay.engine.outline import Outline
from jointplay.engine.program import Program, trace
from jointplay.laws.roles import LAWS, registry
from jointplay.model.parts import ModelError
from jointplay.parts.time_functions import FunctionOfTime
from jointplay.physics.march import Text
from jointplay.simulation import default_stepper
from jointplay.structure import Memo
from jointplay.system import System
from tests.fixed_cases import cases
from tests.helpers import differences, outcome, run_to_end

ROOT = Path(__file__).resolve().parents[2]
PD = jp.control.pd("crank", jp.sine(0.3, 4.0, offset=1.0), k1=40.0, k2=4.0)
RIGID = jp.library.crank_rocker_2016(3e-3, 2e-3)


@pytest.fixture
def forget(tmp_path, monkeypatch):
    """What makes this process as new; with a cache folder of this test's own."""
    monkeypatch.setenv("JOINTPLAY_CACHE_DIR", str(tmp_path / "cache"))

    def clear():
        monkeypatch.setattr("jointplay.system.PROGRAMS", Memo())
        monkeypatch.setattr("jointplay.statics.starting.TWINS", Memo())

    clear()
    return clear


@pytest.fixture
def here(forget, tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def traced(monkeypatch):
    """How often something was traced; rehearsals of a controller are not counted."""
    count, recorded = [0], Program.recorded

    def counted(self):
        recorded(self)
        count[0] += self.operations > 100

    monkeypatch.setattr(Program, "recorded", counted)
    return count


def end(mechanism, stepper=None, **more) -> np.ndarray:
    """The words of the state after some steps."""
    one = jp.Simulation(mechanism, stepper, until=0.05, **more)
    one.step(20)
    return one.run.state_words.copy()


EVERY = {name: getattr(jp.library, name)() for name in jp.library.MECHANISMS}
EVERY |= {"rigid": RIGID, "loop": jp.library.slider_crank(angle=1.0).replace(control=PD)}
EVERY["compliant"] = jp.library.wu_2017(clearance=5e-4, contact=jp.library.wu_2017_contact())
MODEL = jp.control.feedback_linearisation("crank", jp.sine(0.3, 4.0, offset=1.0), k1=9.0, k2=6.0)
EVERY |= {"rigid loop": RIGID.replace(control=MODEL)}
SOME = ("rigid", "loop", "grigore_figure_5")


@pytest.mark.parametrize("name", SOME)
def test_what_was_traced_before_is_not_traced_again(name, forget, traced):
    first = end(EVERY[name])
    assert traced[0] > 0
    forget()
    before = traced[0]
    second = end(EVERY[name])
    assert traced[0] == before and (first == second).all()
    forget()
    lanes = end(EVERY[name], lanes=2)  # machine code for lanes is not there: the instructions are needed after all
    assert traced[0] == before + 1 and (lanes[:, 0] == first[:, 0]).all()


@pytest.mark.parametrize("name", EVERY)
def test_every_mechanism_of_the_library_is_kept(name, here):
    key = System(EVERY[name]).structure, default_stepper(EVERY[name]).structure
    assert len(traces.written(key)) > 100


def test_an_outline_is_plain_data_and_knows_the_program(forget):
    made = jp.Simulation(RIGID, jp.MoreauJean(1e-4)).program
    forget()
    kept = jp.Simulation(RIGID, jp.MoreauJean(1e-4)).program
    assert isinstance(kept, Outline) and not isinstance(made, Outline)
    for part in ("digest", "operations", "streams", "places", "listing"):
        assert getattr(kept, part) == getattr(made, part), part
    assert [vars(s) for s in kept.slots] == [vars(s) for s in made.slots]
    assert pieces.assembly(kept) == pieces.assembly(made)
    runs = [run_to_end(program, steps=3, eager=True) for program in (made, kept)]
    assert differences(*map(outcome, runs)) == []
    with pytest.raises(AttributeError, match="nothing"):
        kept.nothing  # noqa: B018
    payloads = [path.read_bytes()[len(cache.MAGIC) + 32 :] for path in cache.entries()]
    assert sum(x.startswith(b"{") and isinstance(json.loads(x), dict) for x in payloads) == 3  # with the ideal twin's


def test_damaged_and_foreign_entries_are_not_believed(here, forget, traced):
    right = end(RIGID)
    count = traced[0]

    def again(damage) -> int:
        for path in cache.entries():
            damage(path, path.read_bytes())
        forget()
        before = traced[0]
        assert (end(RIGID) == right).all()
        return traced[0] - before

    assert again(lambda path, data: path.write_bytes(data[:-1])) == count
    assert again(lambda path, data: path.write_bytes(data.replace(b'"f"', b'"i"', 1))) > 0
    assert again(lambda path, data: None) == 0
    assert again(lambda path, data: path.chmod(0o666)) == count
    others = sorted(cache.entries())
    swapped = {a: b.read_bytes() for a, b in zip(others, others[1:] + others[:1], strict=True)}
    assert again(lambda path, data: path.write_bytes(swapped[path])) == count  # right in itself, under a wrong name


def test_an_entry_that_is_no_outline_is_written_anew(here, forget, traced):
    right, count = end(RIGID), traced[0]
    for path in cache.entries():
        if path.read_bytes()[len(cache.MAGIC) + 32 :].startswith(b"{"):
            cache.write(path.stem, b'{"program": {}, "found": []}')
    for expected in (count, 0):
        forget()
        before = traced[0]
        assert (end(RIGID) == right).all() and traced[0] - before == expected


def test_a_kept_program_that_the_text_no_longer_gives_is_an_error(forget):
    jp.Simulation(RIGID, jp.MoreauJean(1e-4))
    forget()
    kept = jp.Simulation(RIGID, jp.MoreauJean(1e-4)).program
    kept.text = lambda s, p: {}
    with pytest.raises(RuntimeError, match="cache --clear"):
        kept.body  # noqa: B018


def test_the_source_covers_all_that_tracing_loads():
    code = """
import sys, jointplay as jp
jp.Simulation(jp.library.crank_rocker_2016(1e-3, 1e-3)).step(1)
print(*(m.__file__ for n, m in sys.modules.items() if n.split(".")[0] == "jointplay"), sep="\\n")
"""
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    root = Path(jp.__file__).parent
    aside = {
        "__init__.py",
        "_version.py",
        "errors.py",
        "host.py",
        "collector.py",
        "writing.py",
        "cache.py",
        "own.py",
        "run.py",
        "results.py",
        "words.py",
    }
    aside |= {"simulation", "statics"}  # what they decide is in the key
    known = {str(path) for path in traces.files()}
    missing = [x for x in loaded if x not in known and Path(x).relative_to(root).parts[0] not in aside]
    assert missing == []


SCRIPT = """
import sys
import jointplay as jp
from jointplay.engine import sin
from jointplay.engine.program import Program
from jointplay.physics.steps import MoreauJean
from jointplay.laws.roles import normal

GAIN = 1.0
recorded, count = Program.recorded, [0]
def counted(self):
    recorded(self)
    count[0] += self.operations > 100
Program.recorded = counted

@normal(units={"stiffness": "N/m"})
def mine(depth, rate, approach, *, stiffness=1e5):
    return GAIN * stiffness * depth

class Own(jp.FixedRungeKutta):
    def take(self, motion, now, h):
        return super().take(motion, now, GAIN * h)

contact = jp.Compliant(normal={"law": "mine"})
crank = jp.library.slider_crank()
drive = {"kind": "angle", "of": "crank", "motion": lambda t: 1.0 + GAIN * sin(t)}
for make in (
    lambda: jp.Simulation(crank.loosen("J2", 1e-4, contact=contact, journal_radius=0.01), jp.FixedRungeKutta(1e-4)),
    lambda: jp.Simulation(crank.replace(drives={"motor": drive}, start={})),
    lambda: jp.Simulation(jp.library.pendulum(1, angles=[0.3]), Own(1e-3)),
):
    one = make()
    one.advance(0.05)
    print(count[0], one.state[0].tobytes().hex())
    count[0] = 0
"""


def test_what_a_script_defines_is_never_stale(tmp_path):
    """The script is edited and run again: it traces again what has its own part in it, and computes something else."""
    given = {**os.environ, "JOINTPLAY_CACHE_DIR": str(tmp_path / "cache")}
    script = tmp_path / "script.py"
    seen = []
    for gain in ("1.0", "1.0", "0.5"):
        script.write_text(SCRIPT.replace("GAIN = 1.0", f"GAIN = {gain}"))
        shown = subprocess.run([sys.executable, script], env=given, capture_output=True, text=True, check=True)
        seen.append([line.split() for line in shown.stdout.splitlines()])
    for (_, first), (again, same), (_, other) in zip(*seen, strict=True):
        assert int(again) > 0 and first == same != other


def words(x) -> set[str]:
    """The kinds and laws that a mechanism is made of."""
    if isinstance(x, dict):
        own = {str(getattr(value, "name", value)) for key, value in x.items() if key in ("kind", "law")}
        return own.union(*map(words, x.values()))
    return set().union(*map(words, x)) if isinstance(x, list | tuple) else set()


def whole(case):
    """The mechanism of a case with its controller."""
    return case.mechanism.replace(control=case.options["control"]) if "control" in case.options else case.mechanism


def of(case) -> set[str]:
    """What a case has of all that there is: kinds, laws, motions and the stepper."""
    return words(whole(case).model_dump()) | {type(case.options.get("stepper")).__name__}


def subclasses(base) -> set[type]:
    return {base}.union(*map(subclasses, base.__subclasses__()))


CASES = cases()
WANTED = {
    kind for base in (Joint, Drive, Load) for kind, found in base.kinds().items() if "jointplay" in found.__module__
}
WANTED |= {name for role in LAWS for name in registry(role)} | {"MoreauJean", "FixedRungeKutta", "RungeKutta"}
WANTED |= {str(one.model_fields["kind"].default) for one in subclasses(FunctionOfTime) if "kind" in one.model_fields}


def covering() -> list[str]:
    """Cases that have every kind of joint, force, drive, motion, law and stepper between them."""
    left, chosen, has = set(WANTED), list[str](), {name: of(case) for name, case in CASES.items()}
    while left and (name := max(has, key=lambda name: len(has[name] & left))) not in chosen:
        chosen.append(name)
        left -= has[name]
    return chosen


KINDS = {name: CASES[name] for name in covering()}


def test_every_kind_is_among_the_cases():
    assert WANTED - set().union(*map(of, KINDS.values())) == set()


@pytest.mark.parametrize("name", [*EVERY, *KINDS])
def test_a_trace_sees_no_number(name, here):
    """Every number is moved far, across whatever limits the texts may have, and those of the stepper too: the program
    stays the same."""
    mechanism = whole(KINDS[name]) if name in KINDS else EVERY[name]
    given = KINDS[name].options.get("stepper") if name in KINDS else None
    rng, one = np.random.default_rng(7), jp.Simulation(mechanism, given or default_stepper(mechanism), until=0.05)
    base = one.each[0].system
    numbers = one.program.defaults

    def digests(system: System, stepper: jp.Stepper) -> tuple[str, str]:
        text = Text(system.equations(), base.contacts, stepper, one.text.clock)
        equations = trace(system.traced, system.traced.program.starts, {"time": 0.0, **system.parameters})
        return trace(text, {}, numbers | system.parameters).digest, equations.digest

    moved: dict[str, float] = {}
    for address, x in mechanism.addresses().items():
        if x and not address.startswith("start."):
            for factor in (10 ** rng.uniform(-1, 1), 1.01):
                trial = moved | {address: float(factor * x)}
                try:
                    mechanism.with_(trial)
                except ModelError:
                    continue
                moved = trial
                break
    other = System(mechanism.with_(moved), base.reach)
    assert len(moved) > 2 and other.structure == base.structure
    finer = one.stepper.finer()
    assert finer.structure == one.stepper.structure and finer != one.stepper
    assert digests(other, finer) == digests(base, one.stepper)
