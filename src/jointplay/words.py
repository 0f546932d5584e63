"""Numbers and arrays as a program keeps them: 64-bit words of each kind, checked against what it was traced for."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from .engine.blocks import Cell
from .engine.values import DTYPES
from .numerics.splines import Spline

_FLOAT, _INTEGER = struct.Struct("d"), struct.Struct("q")


def encode(slot: Cell, x: Any) -> Any:
    """What somebody gave as the 64-bit word of its kind, or as the words of a delay."""
    if type(x) is float and slot.kind == "f" and x == x:  # nearly all are
        return _INTEGER.unpack(_FLOAT.pack(x))[0]
    name, x = slot.name, x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x
    if isinstance(x, list | tuple | np.ndarray) and slot.size > 1 and np.shape(x) == (slot.size,):
        return [encode(slot, one) for one in x]
    number = isinstance(x, int | float | np.integer | np.floating | np.bool_)
    if not number or (x != x and slot.checked and slot.size == 1):  # what is not checked in a step may hold NaN
        raise ValueError(f"{name!r} must be a number, got {x!r}")
    if slot.kind == "i" and not -(2**63) <= x < 2**63:
        raise ValueError(f"{name!r} is a 64-bit integer, from -2**63 to 2**63 - 1, got {x!r}")
    if slot.kind == "i" and x != int(x):
        raise ValueError(f"{name!r} is a whole number, got {x!r}; declare it as a float in trace to give it fractions")
    try:
        return word_of(slot.kind, x)
    except OverflowError:
        raise ValueError(f"{name!r} is too large for a float, got {x!r}") from None


def fresh(slots: Sequence[Cell]) -> np.ndarray:
    """The words with which slots begin, one after the other."""
    words = [encode(slot, slot.start) for slot in slots]
    pairs = zip(slots, words, strict=True)
    return np.array([w for slot, x in pairs for w in (x if isinstance(x, list) else [x] * slot.size)], np.int64)


def word_of(kind: str, x: Any) -> np.int64:
    """A number as the 64-bit word of its kind."""
    number = DTYPES[kind](x)
    return number.view(np.int64) if kind == "f" else np.int64(number)


def aligned(size: int) -> np.ndarray:
    """So many zero words that begin with a cache line, so that the vectors of lanes straddle none."""
    words = np.zeros(size + 8, np.int64)
    first = -words.ctypes.data % 64 // 8
    return words[first : first + size]


def array_size(array: Any) -> int:
    """How many numbers an array or table holds."""
    return array.data.size if isinstance(array, Spline) else array.size


def array_dtype(array: Any) -> Any:
    """The type of an array's numbers."""
    return np.float64 if isinstance(array, Spline) else DTYPES[array.kind]


def contents(name: str, array: Any, given: Any) -> np.ndarray:
    """The numbers of a given array or table, checked against what the program was traced for."""
    if isinstance(array, Spline):
        if not isinstance(given, Spline) or repr(given) != repr(array):
            raise ValueError(f"parameter {name!r} was traced as {array!r}; got {given!r}: trace again")
        return given.data
    data = np.asarray(given)
    if data.dtype.kind not in "biuf":
        raise ValueError(f"parameter {name!r} must be an array of 64-bit numbers, got {given!r}")
    if array.kind == "i" and not np.array_equal(data, data.astype(np.int64)):
        raise ValueError(
            f"parameter {name!r} holds whole numbers; declare it with floats in trace to give it fractions"
        )
    if data.shape != (array.size,):
        raise ValueError(
            f"parameter {name!r} was traced with {array.size} numbers, got shape {data.shape}: trace again"
        )
    return data
