"""Laws and controllers: plain functions with named parameters that may keep states of their own.

`normal.NORMAL` and `friction.FRICTION` hold the contact laws by name, `control.CONTROL` the controllers; `materials`
finds the numbers of contact laws.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import InputError

GEOMETRY = ("journal_radius", "clearance", "length")  # parameters that come from the joint the law is used in

# What a parameter of this name may be in any law, as the bounds of a number; all others must be >= 0.
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

    units: SI units of parameters, `N/m^exponent` where the power is itself a parameter; without one a parameter is
    a plain number.  above: what a parameter must exceed.  less, at_most: pairs {small: large} of parameters.
    conditions: inequalities as texts, each with a function of the parameters that says whether it holds; a law whose
    conditions do not hold may be used, with a warning.  watch: signals that a controller records.
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
    ) -> None:
        functools.update_wrapper(self, function)
        self.function, self.name = function, function.__name__
        self.rates, self.memory = dict(rates), dict(memory)
        taken = inspect.signature(function).parameters
        self.inputs = [n for n, p in taken.items() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        named = {n: p.default for n, p in taken.items() if p.kind is p.KEYWORD_ONLY}
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
        wrong = [n for n in (*self.units, *self.above, *pairs) if n not in self.parameters]
        if wrong:
            raise InputError(f"law {self.name!r} says something about {wrong[0]!r}, which is not one of its parameters")

    @property
    def geometry(self) -> list[str]:
        """The parameters that come from the joint."""
        return [n for n in self.parameters if n in GEOMETRY]

    @property
    def own(self) -> dict[str, Any]:
        """The parameters that are given with the law, and their defaults (`inspect.Parameter.empty` for none)."""
        return {n: d for n, d in self.parameters.items() if n not in GEOMETRY}

    def violated(self, values: Mapping[str, float]) -> list[str]:
        """The conditions that these parameters do not satisfy."""
        return [text for text, holds in self.conditions.items() if not holds(**values)]

    def bounds(self, parameter: str) -> dict[str, float]:
        """What a parameter may be: above, at_least, at_most."""
        known = _BOUNDS.get(parameter, {"at_least": 0.0})
        if parameter not in self.above:
            return known
        return {n: x for n, x in known.items() if n == "at_most"} | {"above": self.above[parameter]}

    def __reduce__(self) -> str:
        return str(self.__qualname__)  # type: ignore[attr-defined]  # pickled by name, as functions are

    def __repr__(self) -> str:
        return f"<law {self.name}>"

    def __call__(self, *inputs: Any, **named: Any) -> tuple[Any, dict[str, Any], dict[str, Any]]:
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
    units: Mapping[str, str] | None = None,
    above: Mapping[str, float] | None = None,
    less: Mapping[str, str] | None = None,
    at_most: Mapping[str, str] | None = None,
    conditions: Mapping[str, Callable[..., bool]] | None = None,
    watch: Sequence[str] = (),
) -> Callable[..., Law]:
    """Decorator: declare a law's continuous states and discrete memory with their starting values, the units of its
    parameters and what they must satisfy."""
    return lambda function: Law(function, rates or {}, memory or {}, units, above, less, at_most, conditions, watch)
