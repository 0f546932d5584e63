"""Trees of values: lists, tuples, dicts, named tuples and dataclasses, nested, with numbers at their ends.

A tree is flattened where the recorder must see each number, and given back in the same form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from .values import Value

LEAF = ("leaf",)
Form = tuple[Any, ...]  # LEAF, or a type with its keys (None for lists and tuples) and the forms below it


def flatten(tree: Any) -> tuple[list[Any], Form]:
    """The ends of a tree from left to right, and its form.

    >>> flatten({"x": 1.0, "places": [2.0, 3.0]})[0]
    [1.0, 2.0, 3.0]
    """
    leaves: list[Any] = []
    return leaves, _form(tree, leaves)


def _form(tree: Any, leaves: list[Any]) -> Form:
    kind = type(tree)
    if kind is Value or kind is float:
        leaves.append(tree)
        return LEAF
    if kind is list or kind is tuple:
        return kind, None, tuple([_form(x, leaves) for x in tree])
    if isinstance(tree, dict):
        return dict, tuple(tree), tuple([_form(x, leaves) for x in tree.values()])
    if isinstance(tree, tuple):  # named
        return kind, kind._fields, tuple([_form(x, leaves) for x in tree])
    if tree is None:
        return kind, None, ()
    if is_dataclass(kind):
        keys = tuple(f.name for f in fields(kind))
        return kind, keys, tuple([_form(getattr(tree, key), leaves) for key in keys])
    leaves.append(tree)
    return LEAF


def build(form: Form, leaves: Iterable[Any]) -> Any:
    """The tree of this form with these ends."""
    return _built(form, iter(leaves))


def _built(form: Form, leaves: Iterator[Any]) -> Any:
    if form is LEAF:
        return next(leaves)
    kind, keys, below = form
    parts = [_built(part, leaves) for part in below]
    if keys is None:
        return None if kind is type(None) else kind(parts)
    return dict(zip(keys, parts, strict=True)) if kind is dict else kind(*parts)


def paths(form: Form, name: str = "") -> list[str]:
    """The name of every end: its keys, and places in lists, joined by points.

    >>> paths(flatten({"x": 1.0, "places": [2.0, 3.0]})[1], "crank")
    ['crank.x', 'crank.places.0', 'crank.places.1']
    """
    if form is LEAF:
        return [name]
    _, keys, below = form
    found = []
    for key, part in zip(keys if keys is not None else range(len(below)), below, strict=True):
        found += paths(part, f"{name}.{key}" if name else str(key))
    return found


def alike(a: Form, b: Form) -> bool:
    """Whether two forms hold the same parts; a list is as good as a tuple."""
    if a is LEAF or b is LEAF:
        return a is b
    same = a[0] is b[0] or {a[0], b[0]} == {list, tuple}
    return same and a[1] == b[1] and len(a[2]) == len(b[2]) and all(map(alike, a[2], b[2]))


def mapped(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """The tree of function(x, ...) for the ends x of trees of one form."""
    leaves, form = flatten(tree)
    columns = [flatten(other)[0] for other in others]
    return build(form, [function(*xs) for xs in zip(leaves, *columns, strict=True)])


def arguments(carry: Any) -> Any:
    """The arguments of a loop's body: the parts of a list or tuple, anything else as one."""
    return carry if type(carry) in (list, tuple) else (carry,)
