"""Laws and controllers: plain functions with named parameters that may keep states of their own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any


class Law:
    """A plain function with named parameters, continuous states (`rates`) and discrete ones (`memory`).

    It is called with its inputs by position, and its parameters and states by name.  It returns its result,
    or (result, {rate: its time derivative}, {memory: its next value}) if it declares states.  The stepper
    integrates the rates, and commits the memory only with an accepted step, event or sample.
    """

    def __init__(self, function: Callable[..., Any], rates: Mapping[str, float], memory: Mapping[str, float]) -> None:
        functools.update_wrapper(self, function)
        self.function, self.name = function, function.__name__
        self.rates, self.memory = dict(rates), dict(memory)
        taken = inspect.signature(function).parameters
        named = {n: p.default for n, p in taken.items() if p.kind is p.KEYWORD_ONLY}
        missing = [n for n in (*rates, *memory) if n not in named]
        if missing:
            raise ValueError(
                f"law {self.name!r} declares {missing[0]!r} but does not take it by name: write *, {missing[0]}"
            )
        self.parameters = {n: d for n, d in named.items() if n not in self.rates and n not in self.memory}

    def __call__(self, *inputs: Any, **named: Any) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        """Result, rates and next memory; what the law leaves out of its memory stays as it is."""
        given = self.function(*inputs, **named)
        if not self.rates and not self.memory:
            return given, {}, {}
        if not (isinstance(given, tuple) and len(given) == 3):
            raise ValueError(f"law {self.name!r} declares states: it must return (result, rates, memory)")
        result, rates, kept = given
        wrong = sorted((set(rates) ^ set(self.rates)) | (set(kept) - set(self.memory)))
        if wrong:
            raise ValueError(f"law {self.name!r}: {wrong[0]!r} must be both declared and returned")
        return result, rates, {n: kept.get(n, named[n]) for n in self.memory}


def law(*, rates: Mapping[str, float] | None = None, memory: Mapping[str, float] | None = None) -> Callable[..., Law]:
    """Decorator: declare a law's continuous states and discrete memory with their starting values."""
    return lambda function: Law(function, rates or {}, memory or {})
