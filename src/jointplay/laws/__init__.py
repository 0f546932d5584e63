"""Laws and controllers: plain functions with named parameters that may keep states of their own.

A law has a role, by its decorator in `roles`: `normal`, `friction` or `controller`.  `normal.NORMAL`,
`friction.FRICTION` and `control.CONTROL` hold those that files know by name, also a user's own; `materials` finds the
numbers of contact laws.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..engine.typing import Scalar
from ..errors import InputError

GEOMETRY = ("journal_radius", "clearance", "length")  # parameters that come from the joint the law is used in

# What a law of a role takes by position.
INPUTS = {"normal": ("depth", "rate", "approach"), "friction": ("slip", "normal"), "control": ("loop",)}

# What a parameter of this name may be in a contact law, as the bounds of a number; all others must be >= 0.
_BOUNDS: dict[str, dict[str, float]] = {
    "restitution": {"at_least": 0.0, "at_most": 1.0},
    "stiffness": {"above": 0.0},
    "modulus": {"above": 0.0},
    "exponent": {"at_least": 1.0},
}


class Law:
    """A plain function with named parameters, continuous states (`rates`) and discrete ones (`memory`).

    It is called with its inputs by position, and its parameters and states by name.  It returns its result,
    or (result, {rate: its time derivative}, {memory: its next value}) if it declares states.  The stepper
    integrates the rates, and commits the memory only with an accepted step, event or sample.

    role: normal, friction or control; None if it is to be seen from where the law is used.
    units: SI units of parameters, `N/m^exponent` where the power is itself a parameter; without one a parameter is
    a plain number.  above: what a parameter must exceed; other parameters of contact laws must be >= 0, gains of
    controllers may be any number.  less, at_most: pairs {small: large} of parameters.  geometry: parameters that are
    fields of the joint; in contact laws those called journal_radius, clearance and length, unless given.
    conditions: inequalities as texts, each with a function of the parameters that says whether it holds; a law whose
    conditions do not hold may be used, with a warning.  watch: signals that a controller records.  model: whether a
    controller needs the model of the mechanism; found by rehearsing it, unless given.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        rates: Mapping[str, float],
        memory: Mapping[str, float],
        units: Mapping[str, str] | None = None,
        above: Mapping[str, float] | None = None,
        less: Mapping[str, str] | None = None,
        at_most: Mapping[str, str] | None = None,
        conditions: Mapping[str, Callable[..., bool]] | None = None,
        watch: Sequence[str] = (),
        role: str | None = None,
        geometry: Sequence[str] | None = None,
        model: bool | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        inner = function.func if isinstance(function, functools.partial) else function
        self.function, self.name = function, str(getattr(inner, "__name__", type(inner).__name__))
        self.role, self.model = role, model
        self.origin: Law | None = None  # the law without a role that this one was
        self.in_roles: dict[str, Law] = {}
        self.given_geometry = None if geometry is None else tuple(geometry)
        self.rates, self.memory = dict(rates), dict(memory)
        taken = inspect.signature(function).parameters
        self.inputs = [n for n, p in taken.items() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        bound = function.keywords if isinstance(function, functools.partial) else {}  # numbers no longer
        named = {n: p.default for n, p in taken.items() if p.kind is p.KEYWORD_ONLY and n not in bound}
        missing = [n for n in (*rates, *memory) if n not in named]
        if missing:
            raise InputError(
                f"law {self.name!r} declares {missing[0]!r} but does not take it by name: write *, {missing[0]}"
            )
        self.parameters = {n: d for n, d in named.items() if n not in self.rates and n not in self.memory}
        self.units, self.above = dict(units or {}), dict(above or {})
        self.less, self.at_most, self.conditions = dict(less or {}), dict(at_most or {}), dict(conditions or {})
        self.watch = tuple(watch)
        pairs = [n for pair in (*self.less.items(), *self.at_most.items()) for n in pair]
        said = (*self.units, *self.above, *pairs, *(self.given_geometry or ()))
        wrong = [n for n in said if n not in self.parameters]
        if wrong:
            raise InputError(f"law {self.name!r} says something about {wrong[0]!r}, which is not one of its parameters")
        twice = sorted(set(self.rates) & set(self.memory))
        if twice:
            raise InputError(f"law {self.name!r}: {twice[0]!r} is declared among its rates and its memory; keep one")
        self._fits_role(role)

    def _fits_role(self, role: str | None) -> None:
        """Refuse what a law of a role cannot have."""
        if role is None:
            return
        if len(self.inputs) != len(INPUTS[role]):
            wanted = ", ".join(INPUTS[role])
            raise InputError(
                f"a {role} law takes ({wanted}), but {self.name!r} takes ({', '.join(self.inputs)}); "
                "parameters stand behind a star, as in (..., *, stiffness=1e6)"
            )
        if role == "control" and self.given_geometry:
            raise InputError(f"law {self.name!r}: a controller stands in no joint, so it has no geometry")
        if role != "control" and (self.watch or self.model):
            what = "watch" if self.watch else "model"
            raise InputError(f"law {self.name!r}: {what} is for controllers; a {role} law has none")

    def taken_as(self, role: str) -> Law:
        """The law in a role; one that was declared without a role takes it on."""
        if self.role == role:
            return self
        if self.role is not None:
            raise InputError(f"{self.name!r} is a {self.role} law, and a {role} law is needed")
        known = self.in_roles
        if role not in known:
            said = (self.units, self.above, self.less, self.at_most, self.conditions, self.watch)
            made = Law(self.function, self.rates, self.memory, *said, role, self.given_geometry, self.model)
            made.origin, known[role] = self, made
        return known[role]

    @property
    def geometry(self) -> list[str]:
        """The parameters that come from the joint."""
        if self.role == "control":
            return []
        fields = GEOMETRY if self.given_geometry is None else self.given_geometry
        return [n for n in self.parameters if n in fields]

    @property
    def own(self) -> dict[str, Any]:
        """The parameters that are given with the law, and their defaults (`inspect.Parameter.empty` for none)."""
        fields = self.geometry
        return {n: d for n, d in self.parameters.items() if n not in fields}

    def violated(self, values: Mapping[str, float]) -> list[str]:
        """The conditions that these parameters do not satisfy."""
        return [text for text, holds in self.conditions.items() if not holds(**values)]

    def bounds(self, parameter: str) -> dict[str, float]:
        """What a parameter may be: above, at_least, at_most."""
        known = {} if self.role == "control" else _BOUNDS.get(parameter, {"at_least": 0.0})
        if parameter not in self.above:
            return known
        return {n: x for n, x in known.items() if n == "at_most"} | {"above": self.above[parameter]}

    def __reduce__(self) -> Any:  # pickled by name, as functions are
        if self.origin is not None:
            return Law.taken_as, (self.origin, self.role)
        if self.undecorated:
            return Law, (self.function, self.rates, self.memory, *[None] * 5, self.watch, self.role)
        return str(self.__qualname__)  # type: ignore[attr-defined]

    @property
    def undecorated(self) -> bool:
        """Whether the function is still known by its own name: the law was made of it where it was used."""
        found: Any = sys.modules.get(getattr(self.function, "__module__", ""))
        for name in getattr(self.function, "__qualname__", "").split("."):
            found = getattr(found, name, None)
        return found is self.function

    def __repr__(self) -> str:
        return f"<law {self.name}>"

    def __call__(self, *inputs: Scalar, **named: Scalar) -> tuple[Any, dict[str, Scalar], dict[str, Scalar]]:
        """Result, rates and next memory; what the law leaves out of its memory stays as it is."""
        given = self.function(*inputs, **named)
        if not self.rates and not self.memory:
            return given, {}, {}
        if not (isinstance(given, tuple) and len(given) == 3):
            raise InputError(f"law {self.name!r} declares states: it must return (result, rates, memory)")
        result, rates, kept = given
        wrong = sorted((set(rates) ^ set(self.rates)) | (set(kept) - set(self.memory)))
        if wrong:
            raise InputError(f"law {self.name!r}: {wrong[0]!r} must be both declared and returned")
        return result, rates, {n: kept.get(n, named[n]) for n in self.memory}


def law(
    *,
    rates: Mapping[str, float] | None = None,
    memory: Mapping[str, float] | None = None,
    **declared: Any,
) -> Callable[..., Law]:
    """Decorator: a law without a name in files, whose role is seen from where it is used; see `Law` for what it may
    declare, and `roles` for laws with a role."""
    return lambda function: Law(function, rates or {}, memory or {}, **declared)
