"""Random mechanisms: any topology that assembles, every kind of joint, contact, drive, force and motion; and what
becomes of them when somebody edits the file with a heavy hand.

A pose is drawn first, and joints are put where the bodies meet in it, so loops close by construction.
"""

import cmath
import copy
import math
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import xarray
import yaml

import jointplay as jp
from jointplay import results
from jointplay.errors import ComputationFailed, InputError
from jointplay.simulation import FixedRungeKutta, MoreauJean, default_stepper
from jointplay.simulation.companions import UNKNOWN, step_errors
from jointplay.simulation.headlines import last

JOINTS = ("revolute", "revolute", "revolute", "prismatic", "slot", "rod", "gear", "weld")
NORMAL = ("hertz", "hunt_crossley", "lankarani_nikravesh", "lee_wang", "flores", "exact_restitution")
MOST = 100_000  # chosen steps of a run
NEGLIGIBLE = 1e-9  # SI: less is not looked at
SECONDS = 10.0  # of computing that no file may take
MEANT = (InputError, ComputationFailed, ArithmeticError, jp.SimulationFailed)


class Hang(Exception):
    """A file that took too long."""


@contextmanager
def patience(seconds: float = SECONDS) -> Iterator[None]:
    """Ends what takes more than so many seconds of computing."""

    def stop(*_: Any) -> None:
        raise Hang(f"more than {seconds:g} s of computing")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def description(seed: int) -> dict[str, Any]:
    """A mechanism as a file would describe it, the same for the same seed."""
    return _Maker(random.Random(seed)).made()


class _Maker:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        names = [f"b{i}" for i in range(chance.choice((1, 1, 2, 2, 3, 3, 4, 5)))]
        self.centres = {n: complex(chance.uniform(-0.5, 0.5), chance.uniform(-0.5, 0.5)) for n in names}
        self.angles = {n: chance.uniform(-3.0, 3.0) for n in names}
        self.bodies = {n: self.body() for n in names}
        self.ground: dict[str, Any] = {"O": [0.0, 0.0]}
        self.joints: dict[str, Any] = {}

    def maybe(self, share: float) -> bool:
        return self.chance.random() < share

    def size(self, low: float, high: float) -> float:
        """A number whose logarithm is uniform, with few digits."""
        return float(f"{math.exp(self.chance.uniform(math.log(low), math.log(high))):.3g}")

    def body(self) -> dict[str, Any]:
        made: dict[str, Any] = {"mass": self.size(0.05, 5.0), "inertia": self.size(1e-4, 0.1), "points": {}}
        return made

    def point(self, body: str, at: complex) -> str:
        """The reference of a new point of a body, or of the ground, at a place of the plane."""
        points = self.ground if body == "ground" else self.bodies[body]["points"]
        local = at if body == "ground" else (at - self.centres[body]) * cmath.exp(-1j * self.angles[body])
        name = f"p{len(points)}"
        points[name] = [local.real, local.imag]
        return f"{body}.{name}"

    def turn(self, body: str) -> float:
        return 0.0 if body == "ground" else self.angles[body]

    def joint(self, first: str, second: str) -> dict[str, Any]:
        chance, kind = self.chance, self.chance.choice(JOINTS)
        if kind == "gear" and "ground" in (first, second):
            kind = "revolute"
        at = complex(chance.uniform(-0.5, 0.5), chance.uniform(-0.5, 0.5))
        made: dict[str, Any] = {"kind": kind}
        if kind == "gear":
            ratio = chance.choice((-2.0, -1.0, 0.5, 3.0))
            made |= {"between": [first, second], "ratio": ratio}
            made["offset"] = self.angles[second] - ratio * self.angles[first]
            return made | ({"play": self.size(1e-3, 1e-2), "contact": self.contact(kind)} if self.maybe(0.3) else {})
        way = chance.uniform(-0.3, 0.3) if kind in ("prismatic", "slot", "rod") else 0.0
        angle = chance.uniform(-3.0, 3.0)
        way = abs(way) + 0.05 if kind == "rod" else way
        other = at + way * cmath.exp(1j * (angle + self.turn(first)))
        made["between"] = [self.point(first, at), self.point(second, other)]
        if kind == "rod":
            made["length"] = way
        if kind in ("prismatic", "slot"):
            made["axis"] = [math.cos(angle), math.sin(angle)]
        if kind in ("prismatic", "weld"):
            made["angle"] = self.turn(second) - self.turn(first)
        if kind in ("revolute", "prismatic", "slot") and self.maybe(0.35):
            made |= {"clearance": self.size(1e-5, 2e-3), "contact": self.contact(kind)}
            made |= {"revolute": {"journal_radius": 0.01}, "slot": {"pin_radius": 0.005}}.get(
                kind, {"length": 0.08, "radius": 0.01}
            )
        elif kind in ("prismatic", "slot") and self.maybe(0.2):
            made |= {"lower": way - 0.2, "upper": way + 0.2, "stop_restitution": 0.3}
        return made

    def contact(self, kind: str) -> dict[str, Any]:
        chosen = self.chance.choice(("rigid", "rigid", "compliant", "following" if kind == "revolute" else "rigid"))
        if chosen == "rigid":
            return {
                "kind": "rigid",
                "restitution": self.chance.choice((0.0, 0.5)),
                "friction": self.chance.choice((0.0, 0.2)),
            }
        if chosen == "compliant" and kind != "gear":
            law = {"law": self.chance.choice(NORMAL), "stiffness": self.size(1e6, 1e9)}
            return {"kind": "compliant", "normal": law if self.maybe(0.7) else "exact_restitution"}
        return {"kind": "following", "on_loss": "continue"} if chosen == "following" else {"kind": "rigid"}

    def motion(self, begin: float) -> Any:
        """A function of time that starts at a value."""
        size, chance = self.size(0.05, 2.0), self.chance
        return chance.choice(
            (
                begin,
                {"kind": "constant_speed", "start": begin, "speed": size},
                {"kind": "sine", "amplitude": size, "frequency": self.size(0.5, 20.0), "offset": begin},
                {"kind": "polynomial", "coefficients": [begin, 0.0, size]},
                {"kind": "cycloidal", "start": begin, "end": begin + size, "duration": 0.5},
                {"kind": "table", "times": [0.0, 0.1, 0.2, 0.3], "values": [begin, begin + size, begin - size, begin]}
                | ({"ends": "periodic"} if self.maybe(0.5) else {}),
                {"kind": "sum", "terms": [begin, {"kind": "sine", "amplitude": size, "frequency": 3.0}]},
            )
        )

    def drives(self) -> dict[str, Any]:
        body = self.chance.choice(list(self.bodies))
        kind = self.chance.choice(("angle", "angle", "rate", "x", "y"))
        begin = {"angle": self.angles[body], "rate": 0.5, "x": self.centres[body].real, "y": self.centres[body].imag}
        return {"motor": {"kind": kind, "of": body, "motion": self.motion(begin[kind])}}

    def forces(self) -> Iterator[dict[str, Any]]:
        body, other = (self.chance.choice(["ground", *self.bodies]) for _ in "ab")
        body = body if body != "ground" else next(iter(self.bodies))
        at = [self.point(name, complex(self.chance.uniform(-1, 1), 0.7)) for name in (body, other)]
        if self.maybe(0.3):
            yield {"kind": "torque", "on": body, "torque": self.motion(0.3)}
        if self.maybe(0.3):
            yield {"kind": "force", "at": at[0], "x": self.motion(1.0), "y": -2.0}
        if self.maybe(0.3) and other != body:
            yield {
                "kind": "spring",
                "between": at,
                "stiffness": self.size(10.0, 1e4),
                "damping": 1.0,
                "free_length": 0.1,
            }
        if self.maybe(0.2) and other not in (body, "ground"):
            yield {"kind": "motor", "between": [body, other], "torque": self.motion(0.1)}
        if self.maybe(0.2) and other not in (body, "ground"):
            yield {"kind": "torsion", "between": [body, other], "stiffness": 5.0, "damping": 0.1}

    def made(self) -> dict[str, Any]:
        """The whole file."""
        placed = ["ground"]
        for name in self.bodies:  # a tree, then a few loops
            if self.maybe(0.92):
                self.joints[f"J{len(self.joints)}"] = self.joint(self.chance.choice(placed), name)
            placed.append(name)
        for _ in range(self.chance.choice((0, 0, 1, 1, 2))):
            first, second = self.chance.sample(placed, 2)
            if second == "ground":
                first, second = second, first
            self.joints[f"J{len(self.joints)}"] = self.joint(first, second)
        forces = {f"F{i}": force for i, force in enumerate(self.forces())}
        drives = self.drives() if self.maybe(0.3) else {}
        start: dict[str, float] = {}
        for name in self.bodies:
            start |= {
                name: self.angles[name],
                f"{name}.x": self.centres[name].real,
                f"{name}.y": self.centres[name].imag,
            }
        found = {"name": "random", "ground": {"points": self.ground}, "bodies": self.bodies, "joints": self.joints}
        found |= {"drives": drives} if drives else {}
        found |= {"forces": forces} if forces else {}
        if self.maybe(0.1) and not drives:
            body = self.chance.choice(list(self.bodies))
            law = {"law": "pd_tracking", "k1": 20.0, "k2": 2.0}
            axis = {"a": {"kind": "angle", "of": body, "reference": self.angles[body]}}
            acts = {"a": {"kind": "angle", "of": body}}
            found["control"] = {"law": law, "coordinates": axis, "actuators": acts}
        return found | {"start": start}


# -- a heavy hand
ODD: tuple[Any, ...] = (
    0,
    -1,
    1e-300,
    1e300,
    -1e9,
    1e12,
    float("nan"),
    float("inf"),
    "",
    "1 mm",
    "5 parsec",
    "x",
    None,
    [],
    {},
    True,
)


def mutated(plain: dict[str, Any], seed: int) -> dict[str, Any]:
    """The same with one to three parts changed, removed, copied or given an odd value."""
    chance, made = random.Random(seed), copy.deepcopy(plain)
    for _ in range(chance.choice((1, 1, 2, 3))):
        places = list(_places(made))
        holder, key = chance.choice(places)
        how = chance.choice(("odd", "odd", "scale", "remove", "swap", "new"))
        value = holder[key]
        if how == "odd":
            holder[key] = chance.choice(ODD)
        elif how == "scale" and isinstance(value, int | float):
            holder[key] = value * 10.0 ** chance.randint(-9, 9)
        elif how == "remove":
            del holder[key]
        elif how == "swap":
            other, place = chance.choice(places)
            holder[key] = copy.deepcopy(other[place]) if other is not holder else value
        elif isinstance(holder, dict):
            holder[chance.choice(("kind", "extra", "mass", "J9", "angle", "length"))] = copy.deepcopy(value)
    return made


def _places(plain: Any) -> Iterator[tuple[Any, Any]]:
    keys = plain.keys() if isinstance(plain, dict) else range(len(plain)) if isinstance(plain, list) else ()
    for key in list(keys):
        yield plain, key
        yield from _places(plain[key])


def text_of(seed: int) -> str:
    """The file of a seed: even ones as they are made, odd ones changed."""
    plain = description(seed)
    return yaml.safe_dump(mutated(plain, seed) if seed % 2 else plain, sort_keys=False)


# -- what must hold
def read(text: str, valid: bool = False) -> jp.Mechanism | None:
    """Loads a file: what is refused must say so, and may not be if it is valid."""
    try:
        with patience():
            return jp.loads(text)
    except InputError as error:
        assert str(error) and not valid, error
        return None


def examined(text: str, valid: bool = False) -> jp.Mechanism | None:
    """Loads and checks a file: the mechanism if both can be done."""
    mechanism = read(text, valid)
    try:
        with patience():
            return mechanism and jp.check(mechanism).mechanism
    except MEANT as error:
        assert str(error), "an error without a word"
        return None


def ran(mechanism: jp.Mechanism, until: float = 0.02, **options: Any) -> xarray.Dataset | None:
    """Runs a mechanism: its numbers are finite, or the outcome says why not."""
    with patience():
        try:
            run = jp.simulate(mechanism, until, every=until / 10, strict=False, most_steps=MOST, **options)
        except MEANT as error:
            assert str(error)
            return None
    assert run.outcome_text
    for name, variable in run.data_vars.items():
        if variable.dtype.kind == "f" and "time" in variable.dims:
            assert np.isfinite(variable.values).all() or run.outcome != "done", f"{name} is not finite, silently"
    assert run.outcome != "done" or abs(float(run.time[-1]) - until) < 1e-4
    return run


def honest(mechanism: jp.Mechanism, step: bool = False, until: float = 0.02) -> str:
    """Runs a mechanism, and if the run is judged fine again in finer steps, by which it must be within what it states:
    places and angles at all samples as the audit's limits say, numbers that are called determined by their errors or
    to 10 %.  step: in steps of one length, whose errors are unknown until asked for; then to three limits.

    Gives what came of it: "agrees", or why nothing was compared.
    """
    stepper = default_stepper(mechanism)
    if step:
        stepper = (MoreauJean if stepper.impulsive else FixedRungeKutta)(until / 400)
    run = ran(mechanism, until, stepper=stepper)
    if run is None or run.outcome != "done" or run.judgement != "fine":
        return "refused" if run is None else run.outcome if run.outcome != "done" else run.judgement
    finer = ran(mechanism, until, stepper=stepper.finer(), error=False)
    if finer is None or finer.outcome != "done":
        return "no finer run"
    stated = results.errors(run) if "errors" in run.attrs else []
    open_ends = [entry["name"] for entry in stated if not entry["determined"]]
    if not any(name.endswith((".angle", ".x", ".y")) for name in open_ends):
        for entry in step_errors(run, finer):
            assert entry.value is not None and entry.limit is not None
            assert entry.value <= (3 if step else 1) * entry.limit, f"judged fine, but {entry}"
    other = last(finer)
    for entry in stated:
        label, _, variable = entry["name"].rpartition(".")
        which = list(run[run[variable].dims[-1]].values).index(label) if label else 0
        off = abs(entry["value"] - float(other[variable][which]))
        if entry["determined"] and variable != "impacts":
            limit = max(3 * entry["error"], UNKNOWN * entry["scale"], NEGLIGIBLE)
            assert off <= limit, f"{entry} is called determined, but is off by {off}"
    return "agrees"
