"""The structure of a mechanism: all that its equations depend on besides run-time numbers; and what is kept by it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any, TypeVar

from .model.control import Sampled
from .model.mechanism import Mechanism
from .model.parts import KeyPath, Part
from .parts.choices import LawChoice

T = TypeVar("T")
MOST = 256  # programs kept at a time; the one that was not used for longest goes first
ASIDE = ("name", "source", "remarks", "start", "journals")  # of a mechanism: what no equation knows


def structure(mechanism: Mechanism, numbers: Collection[str]) -> Hashable:
    """What two mechanisms must share for one program to serve both, given the addresses of its run-time numbers.

    A number with an address is one of these or 0.  Numbers without one count by their value, functions and laws by
    identity: what is not known to be changeable makes another structure, and never a stale program.
    """
    addressed = {path for _, path, _ in mechanism.numbers()}

    def walk(x: Any, path: KeyPath) -> Hashable:
        if path in addressed:
            return "number"
        if x is None and (*path, 0) in addressed:  # a mass centre that follows from the shape
            return "number", "number"
        if isinstance(x, LawChoice):
            return Same(x.law), tuple(x.values)
        if isinstance(x, Sampled):  # called from outside the program
            return Sampled
        if isinstance(x, Part):
            fields = dict(x.given())
            tables: dict[str, Any] = getattr(x, "tables", dict)()
            shape = tuple((tail, repr(table)) for tail, table in tables.items())
            listed = [k for k, v in fields.items() if isinstance(v, tuple) and v and isinstance(v[0], float)]
            kept = {k: v for k, v in fields.items() if not (shape and k in listed)}  # the knots of a table
            return type(x), shape, walk(kept, path)
        if isinstance(x, Mapping):
            return tuple((key, walk(value, (*path, key))) for key, value in x.items())
        if isinstance(x, tuple | list):
            return tuple(walk(value, (*path, i)) for i, value in enumerate(x))
        return Same(x) if callable(x) else x

    given = {key: value for key, value in mechanism.given() if key not in ASIDE}
    return walk(given, ()), frozenset(numbers)


class Same:
    """A thing by its identity, kept alive so that no other can take its place."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


class Memo:
    """Things made once and kept by a key, in any number of threads."""

    def __init__(self, most: int = MOST) -> None:
        self.most, self.lock = most, threading.Lock()
        self.things: OrderedDict[Hashable, Any] = OrderedDict()
        self.making: dict[Hashable, threading.Lock] = {}
        self.made = 0  # so far

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The thing of this key, made if there is none; two threads that ask for it at once get the same one."""
        with self.lock:
            if key in self.things:
                self.things.move_to_end(key)
                return self.things[key]
            mine = self.making.setdefault(key, threading.Lock())
        with mine:
            with self.lock:
                if key in self.things:
                    return self.things[key]
            made = make()
            with self.lock:
                self.things[key] = made
                self.made += 1
                self.making.pop(key, None)
                while len(self.things) > self.most:
                    self.things.popitem(last=False)
        return made
