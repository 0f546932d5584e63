"""The three roles of a law, as decorators: `normal`, `friction` and `controller`.  Files know such laws by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from ..errors import InputError
from . import Law

LAWS: dict[str, dict[str, Law]] = {"normal": {}, "friction": {}, "control": {}}  # by role and name
FILES = {"normal": ".normal", "friction": ".friction", "control": ".controllers"}  # where the package's own stand


def registry(role: str) -> dict[str, Law]:
    """The laws that files know by name, for a role: normal, friction or control."""
    import_module(FILES[role], __package__)  # those of the package are loaded when one is asked for
    return LAWS[role]


def normal(
    *,
    rates: Mapping[str, float] | None = None,
    memory: Mapping[str, float] | None = None,
    units: Mapping[str, str] | None = None,
    above: Mapping[str, float] | None = None,
    less: Mapping[str, str] | None = None,
    at_most: Mapping[str, str] | None = None,
    geometry: Sequence[str] | None = None,
) -> Callable[[Callable[..., Any]], Law]:
    """Decorator: a normal law, f(depth, rate, approach, *, parameters and states) in N; see `Law`.

    >>> @normal(units={"stiffness": "N/m"})
    ... def soft(depth, rate, approach, *, stiffness=1e5):
    ...     return stiffness * depth
    >>> soft.bounds("stiffness"), registry("normal")["soft"] is soft
    ({'above': 0.0}, True)
    """
    said = dict(units=units, above=above, less=less, at_most=at_most, geometry=geometry)
    return lambda function: _known(Law(function, rates or {}, memory or {}, role="normal", **said))  # type: ignore[arg-type]


def friction(
    *,
    rates: Mapping[str, float] | None = None,
    memory: Mapping[str, float] | None = None,
    units: Mapping[str, str] | None = None,
    above: Mapping[str, float] | None = None,
    less: Mapping[str, str] | None = None,
    at_most: Mapping[str, str] | None = None,
    geometry: Sequence[str] | None = None,
) -> Callable[[Callable[..., Any]], Law]:
    """Decorator: a friction law, f(slip, normal, *, parameters and states) in N; see `Law`."""
    said = dict(units=units, above=above, less=less, at_most=at_most, geometry=geometry)
    return lambda function: _known(Law(function, rates or {}, memory or {}, role="friction", **said))  # type: ignore[arg-type]


def controller(
    *,
    rates: Mapping[str, float] | None = None,
    memory: Mapping[str, float] | None = None,
    units: Mapping[str, str] | None = None,
    above: Mapping[str, float] | None = None,
    less: Mapping[str, str] | None = None,
    at_most: Mapping[str, str] | None = None,
    conditions: Mapping[str, Callable[..., bool]] | None = None,
    watch: Sequence[str] = (),
    model: bool | None = None,
) -> Callable[[Callable[..., Any]], Law]:
    """Decorator: a controller, f(loop, *, gains and states), which gives a number for each actuator; see `Law`."""
    said: dict[str, Any] = dict(units=units, above=above, less=less, at_most=at_most, conditions=conditions)
    said |= dict(watch=watch, model=model)
    return lambda function: _known(Law(function, rates or {}, memory or {}, role="control", **said))


def _known(law: Law) -> Law:
    """The law, under its name; two files may not mean different laws by one name."""
    laws = LAWS[str(law.role)]
    other = laws.get(law.name)
    if other is not None and other.__module__ != law.__module__:
        raise InputError(f"the {law.role} law {law.name!r} is already that of {other.__module__}; choose another name")
    laws[law.name] = law
    return law
