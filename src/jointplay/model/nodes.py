"""YAML text as nodes that know their lines.  Only texts, lists and mappings are built, so nothing is executed.

All scalars stay texts: `1e-5` is a number and `no` is a name wherever a field says so.  Nodes are built from
events without recursion, and aliases are counted as if written out, so that no text can exhaust the memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import yaml

from ..parts.part import KeyPath, ModelError, Problem

MOST_BYTES = 1_000_000
MOST_NODES = 100_000  # a table of 10,000 points is fine
MOST_LEVELS = 50
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(eq=False, slots=True)
class Node:
    """A scalar (text or None), list or mapping with the line where it starts."""

    value: Any
    line: int
    key_lines: dict[str, int] = field(default_factory=dict)
    count: int = 1
    open: bool = False

    def plain(self) -> Any:
        """The node as plain texts, lists and dictionaries."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        return [node.plain() for node in self.value] if isinstance(self.value, list) else self.value

    def find(self, path: KeyPath) -> tuple[int, KeyPath]:
        """The line of what is at the path, or of the nearest thing around it; and the path as far as it makes sense."""
        node, line = self, self.line
        for depth, key in enumerate(path):
            if isinstance(node.value, dict) and key in node.value:
                line, node = node.key_lines[str(key)], node.value[key]
            elif isinstance(node.value, list) and isinstance(key, int) and key < len(node.value):
                node = node.value[key]
                line = node.line
            else:  # what is missing in a mapping has a name; a scalar has nothing inside
                return line, path if isinstance(node.value, dict) else path[:depth]
        return line, path


def compose(text: str, file: str | None = None) -> Node:
    """The single YAML document in a text."""

    def fail(line: int, message: str, path: KeyPath = ()) -> ModelError:
        return ModelError(Problem(path, message, file or "text", line))

    if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise fail(1, f"is larger than {MOST_BYTES // 1000} kB")
    try:
        return _compose(text, fail)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        words = " ".join(x for x in (error.context, error.problem) if x)
        if mark and "\t" in "".join(text.splitlines()[mark.line : mark.line + 1]):
            words = "there is a tab; indent with spaces"
        raise fail(mark.line + 1 if mark else 1, f"is not valid YAML: {words}") from None
    except (yaml.YAMLError, UnicodeError) as error:
        position = getattr(error, "position", None)
        at = text.count("\n", 0, position) + 1 if isinstance(position, int) else 1
        raise fail(at, f"is not valid YAML: {getattr(error, 'reason', 'unreadable text')}") from None


def _compose(text: str, fail: Any) -> Node:
    made = _Composer(fail)
    for event in yaml.parse(text, Loader=_Loader):
        mark = event.start_mark
        made.take(event, mark.line + 1 if mark else 1)
    if made.root is None or made.root.value is None:
        raise fail(1, "is empty; a mechanism needs at least bodies")
    return made.root


class _Composer:
    """Puts nodes together as the parser finds them; `fail` makes the error of a line."""

    def __init__(self, fail: Any) -> None:
        self.fail, self.count = fail, 0
        self.stack: list[Node] = []
        self.keys: list[str | None] = []  # of each open mapping, the key whose value comes next
        self.places: list[str | int] = []  # where each open collection but the first is in the one around it
        self.anchors: dict[str, Node] = {}
        self.root: Node | None = None

    def take(self, event: yaml.Event, line: int) -> None:
        """One event of the parser."""
        if isinstance(event, yaml.DocumentStartEvent) and self.root is not None:
            raise self.fail(line, "holds more than one document; keep one mechanism in a file")
        if isinstance(event, yaml.CollectionEndEvent):
            self.close()
        elif isinstance(event, yaml.NodeEvent):
            node = self.node(event, line)
            self.count += node.count
            if self.count > MOST_NODES:
                raise self.fail(line, f"has more than {MOST_NODES} entries, aliases written out")
            self.put(node, line)

    def node(self, event: yaml.NodeEvent, line: int) -> Node:
        """The node of an alias, a scalar, or a collection that begins."""
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                raise self.fail(line, f"unknown alias *{event.anchor}")
            node = self.anchors[event.anchor]
            if node.open:
                raise self.fail(line, f"the alias *{event.anchor} contains itself")
            return node
        assert isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent)
        if event.tag is not None:
            raise self.fail(line, f"the tag {event.tag} is not allowed: a model file holds only names and numbers")
        if isinstance(event, yaml.ScalarEvent):
            empty = event.implicit[0] and event.value in ("", "~", "null", "Null", "NULL")
            node = Node(None if empty else event.value, line)
        else:
            node = Node({} if isinstance(event, yaml.MappingStartEvent) else [], line, open=True)
        if event.anchor:
            self.anchors[event.anchor] = node
        return node

    def put(self, node: Node, line: int) -> None:
        """Put a node where it belongs: at the top, into a list, or as a key or value into a mapping."""
        place: str | int | None = None
        if not self.stack:
            self.root = node
        elif isinstance(self.stack[-1].value, list):
            place = len(self.stack[-1].value)
            self.stack[-1].value.append(node)
        elif self.keys[-1] is None:
            self.key(node, line)
            return
        else:
            place = self.keys[-1]
            self.stack[-1].value[place] = node
            self.keys[-1] = None
        if node.open:
            if len(self.stack) >= MOST_LEVELS:
                raise self.fail(line, f"is nested more than {MOST_LEVELS} levels deep")
            if place is not None:
                self.places.append(place)
            self.stack.append(node)
            self.keys.append(None)
        elif self.stack:
            self.stack[-1].count += node.count

    def key(self, node: Node, line: int) -> None:
        """Take a node as the next key of the mapping that is open."""
        known = isinstance(node.value, str)
        if not known or node.value in self.stack[-1].value:
            where = (*self.places, node.value) if known else tuple(self.places)
            raise self.fail(line, "appears twice" if known else "a key must be a name", where)
        self.keys[-1] = node.value
        self.stack[-1].key_lines[node.value] = line

    def close(self) -> None:
        """End the innermost collection."""
        node = self.stack.pop()
        self.keys.pop()
        self.places[len(self.stack) - 1 :] = []
        node.open = False
        if self.stack:
            self.stack[-1].count += node.count
