"""A mechanism with other numbers at some addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from ..parts.part import Frozen, KeyPath, plain
from .starts import read_start

if TYPE_CHECKING:
    from .mechanism import Mechanism

SECTIONS = ("bodies", "joints", "drives", "forces")
Opened = dict[KeyPath, Any]  # elements, and fields that are none, as plain data with the new numbers


def changed(mechanism: Mechanism, changes: Mapping[str, float | str]) -> Mechanism:
    """The copy with these numbers."""
    opened, renewed = opened_at(mechanism, changes)
    if not renewed:
        try:
            return like(mechanism, opened)
        except (ValidationError, PydanticCustomError):
            pass  # the whole mechanism says where it is wrong
    fields: dict[str, Any] = dict(mechanism.given())
    for (section, *name), data in opened.items():
        fields[str(section)] = {**fields[str(section)], name[0]: data} if name else data
    return mechanism.replace(**fields)


def opened_at(mechanism: Mechanism, changes: Mapping[str, float | str]) -> tuple[Opened, bool]:
    """What holds the numbers, as plain data with the new ones, and whether more than numbers of elements and of the
    start may differ then."""
    fields, opened = dict(mechanism.given()), Opened()
    renewed = mechanism.control is not None and bool(mechanism.control.model)
    for address, number in sorted(changes.items(), key=lambda change: not mechanism.fit_at(change[0])):
        new_start = address.startswith("start.") and address not in mechanism.addresses()
        fit = mechanism.fit_at(address)
        path: KeyPath = ("start", address.removeprefix("start.")) if new_start else fit or mechanism.keys_of(address)
        depth = 2 if path[0] in SECTIONS else 1
        renewed = renewed or new_start or "counterweight" in path or (depth == 1 and path[0] != "start")
        if path[:depth] not in opened:
            held = fields[str(path[0])] if depth == 1 else fields[str(path[0])][path[1]]
            opened[path[:depth]] = plain(held)
        node = opened[path[:depth]]
        for key in path[depth:-1]:
            if key == "centre" and key not in node:
                node[key] = list(mechanism.bodies[str(path[1])].centre)
            if key == "counterweight":
                node.setdefault(key, {})
            node = node[key]
        if fit:  # it says both
            joint = mechanism.joints[str(path[1])]
            node.pop(joint.opened_by, None), node.pop(joint.inner, None)
        node[path[-1]] = number
    return opened, renewed


def like(mechanism: Mechanism, opened: Opened) -> Mechanism:
    """The same for numbers of elements and of the start alone: each of these is checked, but not what they refer to,
    which cannot have changed.  Runs of a study are made so, in a fifth of the time."""
    sections: dict[str, Any] = {}
    for (section, *name), data in opened.items():
        if not name:
            sections["start"] = read_start(data)
            continue
        held = sections.setdefault(str(section), dict(getattr(mechanism, str(section))))
        held[name[0]] = type(held[name[0]]).model_validate(data)
    found = mechanism.model_copy(update={key: Frozen(value) for key, value in sections.items()})
    for kept in ("_index", "_values", "uncontrolled"):  # that depend on numbers
        found.__dict__.pop(kept, None)
    return found
