"""The outline of a program: what running its machine code needs, as plain data that can be kept on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .blocks import Cell
from .program import Program

RECORDED = ("hoisted", "body", "inputs", "both", "listing")  # what only a trace knows


def outline(program: Program) -> dict[str, Any]:
    """A program without its instructions: its digest, and the names, kinds and starts of what it keeps."""
    return {
        "digest": program.digest,
        "operations": [program.operations, program.usual],
        "streams": program.streams,
        "slots": [[s.name, s.kind, s.start, s.checked, s.size] for s in program.slots],
    }


class Outline(Program):
    """A program that was traced before, from its outline; traced again only if somebody asks for its instructions."""

    def __init__(self, text: Callable[..., Any], state: Any, parameters: Any, known: Mapping[str, Any]) -> None:
        self.declared(text, state, parameters, {})
        self.digest, (self.operations, self.usual) = str(known["digest"]), map(int, known["operations"])
        self.streams = {name: (tuple(columns), int(rows)) for name, (columns, rows) in known["streams"].items()}
        self.arranged([self.state.get(slot[0]) or Cell(*slot) for slot in known["slots"]])

    def __getattr__(self, name: str) -> Any:
        if name not in RECORDED:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        full = Program(self.text, self.starts, self.defaults, self.record)
        if full.digest != self.digest:
            raise RuntimeError("a program was kept for what now gives another one; run `jointplay cache --clear`")
        self.__dict__.update({key: getattr(full, key) for key in RECORDED})
        return self.__dict__[name]
