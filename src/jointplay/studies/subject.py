"""What a study runs: a mechanism with the values of its axes put in, or a function of numbers."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from ..errors import InputError
from ..model.changing import SECTIONS
from ..model.clearances import Compliant, Following, Rigid
from ..model.control import Control
from ..model.files import dumps
from ..model.mechanism import Mechanism
from ..model.parts import ModelError, Problem, plain, suggestion
from ..model.units import shorten
from ..simulation import MoreauJean, Stepper, default_stepper
from ..system import structural
from .fingerprint import described
from .lanes import Task

# SI units that an address may have, the usual name of each first
UNITS: tuple[str, ...] = (
    "m",
    "rad",
    "kg",
    "s",
    "rad/s",
    "m/s",
    "kg*m^2",
    "N",
    "N*m",
    "m/s^2",
    "rad/s^2",
    "N/m",
    "N*s/m",
    "Pa",
)
UNITS += ("N*m/rad", "N*m*s/rad")
STEPPER = "stepper."


@dataclass(frozen=True)
class Machine:
    """A mechanism that is run with other numbers at addresses, and other named values."""

    mechanism: Mechanism
    stepper: Stepper | None = None
    named: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    kept: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def kind(self) -> str:
        return "mechanism"

    @property
    def title(self) -> str:
        return self.mechanism.name

    @property
    def base(self) -> Mechanism:
        """The mechanism with the first of all named values, against which addresses are read."""
        return self.variant({address: next(iter(values)) for address, values in self.named.items()})[0]

    def variant(self, settings: Mapping[str, float | str]) -> tuple[Mechanism, Stepper | None]:
        """The mechanism and the stepper with the named values of these settings."""
        mechanism, stepper = self.mechanism, self.stepper
        for address, values in self.named.items():
            value = values[str(settings[address])]
            if address == "stepper":
                stepper = value
            else:
                mechanism = placed(mechanism, address, value)
        return mechanism, stepper

    def task(self, settings: Mapping[str, float | str]) -> Task:
        """The run that these settings ask for: numbers at addresses, labels of named values."""
        labels = repr([settings[address] for address in self.named])
        numbers: dict[str, float] = {}
        steps: dict[str, float] = {}
        for address, x in settings.items():
            if address not in self.named:
                (steps if address.startswith(STEPPER) else numbers)[address.removeprefix(STEPPER)] = float(x)
        closed = tuple(a for a, x in numbers.items() if structural(self.mechanism, a) and x == 0)
        key = labels, closed, tuple(numbers)
        if key not in self.kept:  # all that takes time is the same for many runs
            mechanism, stepper = self.variant(settings)
            plays = {a: x for a, x in numbers.items() if structural(self.mechanism, a)}
            known = mechanism.with_(plays) if plays else mechanism
            loose = bool(known.loose((Following, Rigid, Compliant)))
            self.kept[key] = mechanism, stepper or default_stepper(known), loose, without_play(mechanism)
        mechanism, stepper, loose, (ideal, gone) = self.kept[key]
        if steps:
            stepper = changed(stepper, steps)
        free = frozenset(a for a in numbers if not structural(self.mechanism, a) and not a.startswith("start."))
        left = {a: x for a, x in numbers.items() if a not in gone}
        twin = Task(ideal, stepper, left, free - gone, f"ideal {labels}", False) if loose else None
        return Task(mechanism, stepper, numbers, free, labels, loose, twin)

    def read(self, address: str, raw: Any) -> float:
        """The SI number that is given for an address."""
        if isinstance(raw, str) and not address.startswith(STEPPER):
            return self.base.with_({address: raw}).value(address)
        if isinstance(raw, str):
            from ..model.units import TIME, UnitError, parse_quantity

            try:
                return parse_quantity(raw, TIME)
            except UnitError as error:
                raise InputError(f"{address}: {error}") from None
        return number(address, raw)

    def check(self, address: str, x: float) -> None:
        """Refuse a number that cannot be at an address, or an address that is not there."""
        labels = {a: next(iter(values)) for a, values in self.named.items()}
        task = self.task(labels | {address: x})
        if not address.startswith(STEPPER):
            task.mechanism.with_({address: x})

    def unit(self, address: str) -> str:
        """The SI unit of an address, if it has one."""
        if address in self.named:
            return ""
        if address.startswith(STEPPER):
            return "s" if address.endswith("step") else ""
        base = self.base
        for unit in UNITS:
            try:
                base.with_({address: f"1 {unit}"})
            except ModelError as error:
                if "dimension" in str(error) or "plain" in str(error) or "such address" in str(error):
                    continue
            return unit
        return ""

    def told(self) -> dict[str, Any]:
        """What tells this mechanism from another, as plain data."""
        names = {a: {label: described(x) for label, x in values.items()} for a, values in self.named.items()}
        return {"model": text_of(self.mechanism), "stepper": described(self.stepper), "named": names}


@dataclass(frozen=True)
class PlainFunction:
    """A function of the axes' numbers, by their names."""

    function: Callable[..., Any]
    named: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return "function"

    @property
    def title(self) -> str:
        return str(getattr(self.function, "__name__", "function"))

    def read(self, address: str, raw: Any) -> float:
        return number(address, raw)

    def check(self, address: str, x: float) -> None:
        try:
            inspect.signature(self.function).bind_partial(**{address: x})
        except TypeError:
            known = inspect.signature(self.function).parameters
            raise InputError(f"{address}: {self.title} has no such argument{suggestion(address, known)}") from None
        except ValueError:
            return  # a built-in function that does not tell

    def unit(self, address: str) -> str:
        return ""

    def told(self) -> dict[str, Any]:
        names = {a: {label: described(x) for label, x in values.items()} for a, values in self.named.items()}
        return {"model": described(self.function), "stepper": "", "named": names}


Subject = Machine | PlainFunction


def number(address: str, raw: Any) -> float:
    """A finite number, or an error that names its address."""
    if isinstance(raw, str):
        try:
            raw = float(raw)
        except ValueError:
            raise InputError(f"{address}: must be a number, got {shorten(raw)}") from None
    if not isinstance(raw, int | float | np.number) or isinstance(raw, bool) or not np.isfinite(raw):
        raise InputError(f"{address}: must be a finite number, got {shorten(raw)}")
    return float(raw)


def changed(stepper: Stepper, numbers: Mapping[str, float]) -> Stepper:
    """A stepper with other numbers."""
    known = [f.name for f in fields(stepper)]
    for key in numbers:
        if key not in known:
            raise InputError(f"stepper.{key}: {type(stepper).__name__} has none{suggestion(key, known)}")
    alone = isinstance(stepper, MoreauJean) and ("step" in numbers) != ("rtol" in numbers)  # one replaces the other
    both: dict[str, Any] = {"step": None, "rtol": None} if alone else {}
    return replace(stepper, **both | dict(numbers))


def without_play(mechanism: Mechanism) -> tuple[Mechanism, frozenset[str]]:
    """The ideal twin, the same whatever its contacts were, and the addresses that mean nothing in it."""
    closed, gone = mechanism.closed(), set()
    joints: dict[str, Any] = {}
    for name, joint in closed.joints.items():
        joints[name] = {key: x for key, x in joint.plain().items() if key != "contact"}
        if hasattr(joint, "contact"):
            gone |= {f"{name}.clearance", f"{name}.play", *(f"{name}.{tail}" for tail, *_ in joint.contact.numbers())}
    return closed.replace(joints=joints), frozenset(gone)


def placed(mechanism: Mechanism, address: str, value: Any) -> Mechanism:
    """The mechanism with something that is no number at an address: `J2.contact`, `control`, `J2.normal`."""
    if address == "control":
        if value is not None and not isinstance(value, Control | Mapping):
            raise InputError(f"control: must be a control loop or None, got {shorten(value)}")
        return mechanism.replace(control=value)
    name, _, rest = address.partition(".")
    section = next((s for s in SECTIONS if name in getattr(mechanism, s)), None)
    if name == "control" and mechanism.control is not None:
        held = plain(mechanism.control)
    elif section is not None:
        held = getattr(mechanism, section)[name].plain()
    else:
        known = ["control", "stepper", *(n for s in SECTIONS for n in getattr(mechanism, s))]
        raise ModelError(Problem((address,), f"no such address{suggestion(name, known)}"))
    node, keys = held, rest.split(".")
    for key in (*keys[:-1], ""):
        for through in ("contact", "motion"):  # neither is said in an address
            if (key or keys[-1]) not in node and isinstance(node.get(through), Mapping):
                node = node[through]
        node = node[key] if key else node
    node[keys[-1]] = value
    if section is None:
        return mechanism.replace(control=held)
    return mechanism.replace(**{section: {**getattr(mechanism, section), name: held}})


def text_of(mechanism: Mechanism) -> str:
    """The text of a mechanism; where it holds Python functions, its numbers and their sources."""
    try:
        return dumps(mechanism)
    except ModelError as error:
        return json.dumps({"why": str(error), "holds": described(mechanism.plain())}, sort_keys=True, default=str)
