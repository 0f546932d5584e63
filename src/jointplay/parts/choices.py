"""A contact law with its numbers, as a part of a mechanism: by name in files, also a law of one's own in Python."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import PydanticCustomError, core_schema

from ..laws import INPUTS, Law
from ..laws.roles import registry as registry
from .part import Frozen, KeyPath, Part, Quantity, refuse, refuse_all, suggestion
from .units import (
    ACCELERATION,
    DAMPING,
    FORCE,
    LENGTH,
    NUMBER,
    SPEED,
    STIFFNESS,
    Dimension,
    UnitError,
    parse_quantity,
    parse_unit,
    shorten,
)

MODULUS = Dimension("a modulus", "Pa")
_KNOWN = {d.unit: d for d in (NUMBER, LENGTH, SPEED, ACCELERATION, FORCE, STIFFNESS, DAMPING, MODULUS)}
_PER_POWER = re.compile(r"([-+.0-9eE]+)\s*([^\W\d_]+)\s*/\s*([^\W\d_]+)(?:\s*(?:\^|\*\*)\s*\(?([.0-9]+)\)?)?")


class PowerLaw(Quantity):
    """A stiffness in N/m^exponent; a text may say it in other units of force and length, such as 1e5 N/mm^1.5."""

    def __init__(self, exponent: float, **bounds: Any) -> None:
        super().__init__(STIFFNESS if exponent == 1 else Dimension("a stiffness", ""), **bounds)
        self.exponent = exponent

    def read(self, raw: Any) -> float:
        match = _PER_POWER.fullmatch(raw.strip()) if isinstance(raw, str) else None
        if match is None:
            if isinstance(raw, str):
                try:
                    raw = float(raw)
                except ValueError:
                    self._wrong(raw)
            return super().read(raw)
        number, force, length, power = match.groups()
        try:
            units = parse_unit(force), parse_unit(length)
            fits = units[0].exponents == FORCE.exponents and units[1].exponents == LENGTH.exponents
            size = parse_quantity(number, NUMBER)
        except UnitError as error:
            refuse(str(error))
        if not fits or not math.isclose(float(power or 1), self.exponent, rel_tol=1e-9):
            self._wrong(raw)
        return super().read(size * float(units[0].factor) / float(units[1].factor) ** self.exponent)

    def _wrong(self, raw: str) -> NoReturn:
        power = f"^{self.exponent:g}" if self.exponent != 1 else ""
        refuse(f"must be a stiffness in N/m{power}, a plain number or such as '1e5 N/mm{power}', got {shorten(raw)}")

    def describe(self) -> str:
        return "a stiffness; a plain number is in N/m^exponent"


def quantity(law: Law, parameter: str, exponent: float = 1.0) -> Quantity:
    """What a parameter of a law is: its dimension and bounds."""
    unit = law.units.get(parameter, "")
    bounds: dict[str, Any] = {**law.bounds(parameter)}
    if "^exponent" in unit:
        return PowerLaw(exponent, **bounds)
    return Quantity(_KNOWN.get(unit) or Dimension("a number", unit), **bounds)


class LawChoice(Part):
    """A law and its numbers: `law` (a Law) and `values` by the names of its parameters, in SI units."""

    law: Any
    values: Any

    def plain(self, brief: bool = False) -> Any:
        """All numbers beside the law: its name, or the law itself if files do not know it."""
        return {"law": self.name or self.law, **self.values}

    def numbers(self) -> Iterator[tuple[str, KeyPath, float]]:
        """The parameters by their names."""
        for name, x in self.values.items():
            yield name, (name,), x

    @property
    def name(self) -> str | None:
        """The name by which files know the law, or None."""
        law: Law = self.law
        known = registry(law.role) if law.role else {}
        return law.name if known.get(law.name) in (law, law.origin or law) else None


class Chosen:
    """Annotation of a law with its numbers, from its name, a Law, or a mapping of both with its parameters."""

    def __init__(self, role: str) -> None:
        self.role = role

    def read(self, raw: Any) -> LawChoice:
        """The law and all its numbers, or what is wrong with them."""
        if isinstance(raw, LawChoice):
            raw = raw.plain()
        given = dict(raw) if isinstance(raw, Mapping) else {"law": raw}
        if "law" not in given:
            refuse("is missing; one of " + ", ".join(registry(self.role)), "law")
        at: tuple[str, ...] = ("law",) if isinstance(raw, Mapping) else ()
        law = self._law(given.pop("law"), at)
        own = law.own
        problems: list[tuple[KeyPath, str]] = []
        for key in given:
            if key in law.geometry:
                problems.append(((key,), f"is a field of the joint, where law {law.name!r} finds it; give it there"))
            elif key not in own:
                problems.append(((str(key),), f"law {law.name!r} has no such parameter; {_known(own)}"))
        values: dict[str, float] = {}
        for name in sorted(own, key=lambda n: n != "exponent"):  # the unit of a stiffness depends on it
            raw_value = given.get(name, own[name])
            if raw_value is inspect.Parameter.empty:
                if isinstance(raw, Mapping):
                    problems.append(((name,), f"is missing; law {law.name!r} needs it"))
                else:
                    problems.append(((), f"law {law.name!r} needs {name}: write {{law: {law.name}, {name}: ...}}"))
                continue
            try:
                values[name] = quantity(law, name, values.get("exponent", 1.0)).read(raw_value)
            except PydanticCustomError as error:
                problems.append(((name,), str(error)))
        for pairs, sign, holds in ((law.less, "<", _less), (law.at_most, "<=", _at_most)):
            for small, large in pairs.items():
                if small in values and large in values and not holds(values[small], values[large]):
                    text = f"must be {sign} {large}, which is {values[large]!r}, got {values[small]!r}"
                    problems.append(((small,), text))
        refuse_all(problems)
        return LawChoice.model_construct(law=law, values=Frozen({name: values[name] for name in own}))

    def _law(self, raw: Any, at: tuple[str, ...]) -> Law:
        known, inputs = registry(self.role), INPUTS[self.role]
        if isinstance(raw, str):
            if raw not in known:
                hint = suggestion(raw, known)
                hint += "" if "did you mean" in hint else "; one of your own is loaded by --with FILE"
                refuse(f"unknown {self.role} law {shorten(raw)}{hint}", *at)
            return known[raw].taken_as(self.role)
        if not isinstance(raw, Law):
            name = "controller" if self.role == "control" else self.role
            remedy = f"decorate it with @{name}() of jointplay.laws.roles" if callable(raw) else ""
            remedy = remedy or "give one of " + ", ".join(known)
            refuse(f"must be a {self.role} law, by name or a Law, got {shorten(raw)}; {remedy}", *at)
        if len(raw.inputs) != len(inputs):
            refuse(f"a {self.role} law takes ({', '.join(inputs)}), but {raw.name!r} takes {raw.inputs}", *at)
        try:
            return raw.taken_as(self.role)
        except ValueError as error:
            refuse(str(error), *at)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: Any, handler: GetJsonSchemaHandler) -> Any:
        laws = registry(self.role)
        return {"anyOf": [{"enum": list(laws)}, *(_schema(name, law) for name, law in laws.items())]}


def _schema(name: str, law: Law) -> dict[str, Any]:
    numbers = {n: quantity(law, n).as_schema() for n in law.own}
    required = ["law", *(n for n, d in law.own.items() if d is inspect.Parameter.empty)]
    about = inspect.cleandoc(law.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
    return {
        "type": "object",
        "description": about,
        "properties": {"law": {"const": name}, **numbers},
        "required": required,
        "additionalProperties": False,
    }


def _known(own: Mapping[str, Any]) -> str:
    return "it has " + (", ".join(own) or "none")


_less: Callable[[float, float], bool] = float.__lt__
_at_most: Callable[[float, float], bool] = float.__le__
