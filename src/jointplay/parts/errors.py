"""What is wrong with a model: problems with their places, in words."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from ..errors import InputError
from .units import shorten

KeyPath = tuple[str | int, ...]


class Problem(NamedTuple):
    """One thing that is wrong: where (path, and in a file its name and line), and what, with the remedy."""

    path: KeyPath
    text: str
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        place = [f"{self.file}:{self.line}" if self.line else self.file] if self.file else []
        where = ".".join(map(str, self.path))
        return ": ".join([*place, *([where] if where else []), self.text])


class ModelError(InputError):
    """A model that cannot be: one line for each problem (`problems`), with its place, value and remedy."""

    def __init__(self, *problems: Problem | str) -> None:
        self.problems = [p if isinstance(p, Problem) else Problem((), p) for p in problems]
        super().__init__(*problems)

    def __str__(self) -> str:
        shown = [str(p) for p in self.problems[:20]]
        more = len(self.problems) - len(shown)
        return "\n".join([*shown, *([f"and {more} more problems"] if more else [])])


def refuse(text: str, *at: str | int) -> NoReturn:
    """Raise, inside a validator, an error at a place below the value that is being validated."""
    raise PydanticCustomError("model", "{text}", {"text": text, "problems": [(at, text)]})


def refuse_all(problems: Sequence[tuple[KeyPath, str]]) -> None:
    """Raise several errors at once, if there are any."""
    if problems:
        raise PydanticCustomError("model", "{text}", {"text": problems[0][1], "problems": problems})


def suggestion(name: object, known: Iterable[object]) -> str:
    """`; did you mean 'crank'?` or `; known: ...` for a name that is not among the known ones."""
    texts = [str(k) for k in known]
    close = difflib.get_close_matches(str(name), texts, 3, 0.6)
    if close:
        return "; did you mean " + " or ".join(map(repr, close)) + "?"
    return "; known: " + ", ".join(texts[:12]) + (", ..." if len(texts) > 12 else "") if texts else ""


def problems_of(error: ValidationError) -> list[Problem]:
    """pydantic's findings in our words."""
    found = []
    for item in error.errors(include_url=False):
        path, given = tuple(item["loc"]), item.get("input")
        for at, text in item.get("ctx", {}).get("problems", [((), _worded(item["type"], item["msg"], given))]):
            found.append(Problem(path + tuple(at), text))
    return found


def _worded(kind: str, message: str, given: Any) -> str:
    if kind == "missing":
        return "is missing"
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return f"must be a mapping (name: value), got {shorten(given)}"
    if kind in ("list_type", "tuple_type"):
        return f"must be a list, got {shorten(given)}"
    if kind == "string_type":
        return f"must be a text, got {shorten(given)}"
    if kind == "literal_error":
        return f"{message.replace('Input should be', 'must be')}, got {shorten(given)}"
    return f"{message}, got {shorten(given)}"
