"""Texts of a model: a name, a source, remarks."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, PlainValidator, WithJsonSchema

from ..parts.part import refuse
from ..parts.units import shorten


def _line(text: str) -> str:
    if not text.isprintable():
        refuse(f"must be one line of printable text, got {shorten(text)}")
    return text


def _lines(raw: Any) -> tuple[str, ...]:
    if not isinstance(raw, list | tuple) or not all(isinstance(line, str) for line in raw):
        refuse(f"must be a list of lines of text, got {shorten(raw)}")
    return tuple(map(_line, raw))


Line = Annotated[str, AfterValidator(_line)]
_SCHEMA = {"type": "array", "items": {"type": "string"}}
Remarks = Annotated[tuple[str, ...], PlainValidator(_lines), WithJsonSchema(_SCHEMA)]
