"""Values as plain data that tell them from others, so that a store is not gone on with by another study."""

from __future__ import annotations

import functools
import hashlib
import inspect
import pickle
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..simulation import Stepper

CONSTANT = int | float | complex | str | tuple | np.ndarray | np.generic | functools.partial
BRIEF = 200  # characters: a shorter text of an object leaves nothing out


def described(value: Any, above: tuple[int, ...] = ()) -> Any:
    """A value as plain data that is the same in every process: functions by their text and by what they hold.

    above: what this one is held by, which is not told again.

    >>> described(functools.partial(round, ndigits=2))["keywords"]
    {'ndigits': 2}
    """
    if id(value) in above:
        return "itself"
    inside = functools.partial(described, above=(*above, id(value)))
    if isinstance(value, Mapping):
        return {str(key): inside(x) for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [inside(x) for x in value]
    if hasattr(value, "plain") and callable(value.plain):
        return inside(value.plain())
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, Stepper):
        return {"stepper": type(value).__name__, **asdict(value)}
    if isinstance(value, functools.partial):
        return {"function": inside(value.func), "arguments": inside(value.args), "keywords": inside(value.keywords)}
    if callable(value):
        return _callable(value, inside)
    return _other(value, inside)


def _callable(value: Any, inside: Any) -> dict[str, Any]:
    """A function by its name, its text and what it holds; an object that is called by its class and its attributes."""
    held = getattr(value, "function", value) if type(value).__module__.startswith("jointplay.") else value
    if isinstance(held, MethodType):
        return {"function": inside(held.__func__), "of": inside(held.__self__)}
    held = held if isinstance(held, FunctionType) else getattr(held, "__wrapped__", held)
    named = held if hasattr(held, "__qualname__") else type(held)
    found = {"function": f"{named.__module__}.{named.__qualname__}".replace("__mp_main__", "__main__")}
    try:
        found["text"] = inspect.getsource(named)
    except (OSError, TypeError):  # typed in, or not written in Python
        if isinstance(held, FunctionType):
            found["text"] = _code(held.__code__)
    if isinstance(held, FunctionType):
        holds = dict(_holds(held))
    else:
        holds = {} if isinstance(held, type | BuiltinFunctionType) else getattr(held, "__dict__", {})
    return found | ({"holds": inside(holds)} if holds else {})


def _holds(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function knows besides its arguments: defaults, what it closes over, and the numbers, texts, arrays,
    functions and mechanisms of its module that it names.  Lists and other objects there are not: they may count."""
    for name, parameter in inspect.signature(function, follow_wrapped=False).parameters.items():
        if parameter.default is not inspect.Parameter.empty:
            yield f"{name}=", parameter.default
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not bound yet
            continue
    for name in sorted(_names(function.__code__)):
        x = function.__globals__.get(name)
        own = isinstance(x, FunctionType) and x.__module__ == function.__module__
        if own or isinstance(x, CONSTANT) or (hasattr(x, "plain") and not isinstance(x, type | ModuleType)):
            yield f"global {name}", x


def _names(code: CodeType) -> set[str]:
    """The names outside of it that code, and what is defined in it, may use."""
    return set(code.co_names).union(*(_names(x) for x in code.co_consts if isinstance(x, CodeType)))


def _code(code: CodeType) -> str:
    """A digest of code of which there is no text."""
    parts = [code.co_code.hex(), repr(code.co_names)]
    parts += [_code(x) if isinstance(x, CodeType) else repr(x) for x in code.co_consts]
    return hashlib.sha256("|".join(parts).encode()).hexdigest()


def _other(value: Any, inside: Any) -> Any:
    """An object by its attributes, or by a digest of all it holds; what cannot be written down by its name alone."""
    if isinstance(value, np.generic):
        return inside(value.item())
    if isinstance(value, ModuleType):
        return value.__name__
    name = type(value).__qualname__
    if getattr(value, "__dict__", None):
        return {"object": name, "holds": inside(vars(value))}
    text = repr(value)
    if len(text) < BRIEF and not re.search(r" at 0x|\.\.\.", text):
        return text
    try:
        return f"{name} {hashlib.sha256(pickle.dumps(value, protocol=5)).hexdigest()}"
    except Exception:  # a lock, an open file: any class may refuse in its own way
        return name
