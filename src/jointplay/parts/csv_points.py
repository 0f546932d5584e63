"""The points of a table in a CSV file: two columns, time and value."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import PydanticCustomError

from .part import InUse, Quantity, refuse
from .units import TIME, UNITS, shorten

MOST_BYTES = 1_000_000
_NUMBER = re.compile(r"[-+]?\.?\d")
_TIME = re.compile(r"(t|time|zeit)\b", re.IGNORECASE)
_UNIT = re.compile(r"[\[(]([^\])]*)[\])]")
_WORD = re.compile(
    r"(milli|micro|centi|kilo)\w*|(degree|minute|hour|rev|revolution|turn|inch|foot)(s|es)?|feet", re.IGNORECASE
)


def with_points(raw: Any) -> Any:
    """The fields of a table with times and values in place of the CSV file that holds them."""
    if not isinstance(raw, Mapping) or "file" not in raw:
        return raw
    for key in ("times", "values"):
        if key in raw:
            refuse("cannot stand beside file; keep one", key)
    if not isinstance(raw["file"], str | os.PathLike):
        refuse(f"must be the name of a CSV file, got {shorten(raw['file'])}", "file")
    times, values = points(os.fspath(raw["file"]))
    return {**{key: x for key, x in raw.items() if key != "file"}, "times": times, "values": values}


def points(path: str) -> tuple[list[float], list[float]]:
    """Times and values in SI units.  A first line without numbers is a header, with units in brackets if it has any."""
    units: list[str] = ["", ""]
    times: list[float] = []
    values: list[float] = []
    for i, (line, cells) in enumerate(_lines(_text(path))):
        if len(cells) != 2:
            text = f"must have two columns, time and value, between them a comma, semicolon or tab; got {len(cells)}"
            refuse(f"{path}:{line}: {text}", "file")
        if i == 0 and not any(map(_NUMBER.match, cells)):
            units = [_unit(cell, f"{path}:{line}") for cell in cells]
            if _TIME.match(cells[1]) and not _TIME.match(cells[0]):
                refuse(f"{path}:{line}: time is the first of the two columns, got {', '.join(cells)}", "file")
            continue
        for column, number, unit, cell in zip((times, values), (Quantity(TIME), InUse()), units, cells, strict=True):
            try:
                column.append(number.read(_quantity(cell, unit)))
            except PydanticCustomError as error:
                refuse(f"{path}:{line}: {error}", "file")
        if len(times) > 1 and times[-1] <= times[-2]:
            refuse(f"{path}:{line}: times must increase, got {times[-1]!r} s after {times[-2]!r} s", "file")
    if len(times) < 2:
        refuse(f"{path}: needs at least two lines of numbers, got {len(times)}", "file")
    return times, values


def _unit(cell: str, where: str) -> str:
    """The unit in the heading of a column; none if it names none."""
    found = _UNIT.search(cell)
    if found is None and (re.search("[/{]", cell) or _names_unit(cell)):
        name = re.split(r"[/{\s_.-]", cell)[0].strip()
        refuse(f"{where}: a unit stands in brackets, such as '{name} [unit]'; got {cell!r}", "file")
    return found[1] if found else ""


def _names_unit(cell: str) -> bool:
    """Whether a heading ends in a unit that is not of the SI, without brackets."""
    last = re.split(r"[\s_./{-]+", cell.rstrip(" .}"))[-1]
    unit = UNITS.get(last) if len(cell) > 1 else None  # t and h alone are names
    return bool(_WORD.fullmatch(last) or (unit and (unit.factor != 1 or unit.pi)))


def _quantity(cell: str, unit: str) -> str | float:
    """A cell with the unit of its column, unless it has one of its own."""
    if "_" in cell:  # Python would read 1_0 as 10
        return cell
    try:
        return f"{float(cell)!r} {unit}" if unit else float(cell)
    except ValueError:
        return cell


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """The lines that are neither empty nor comments, with their numbers, in cells: by semicolons, tabs or commas.  A
    comment above them that has two cells and units in brackets is their header, as some programs write it, and so is
    the last one above numbers that names units without."""
    above, last = True, None
    for number, line in enumerate(text.splitlines(), 1):
        mark = next((mark for mark in ";\t" if mark in line), ",")
        cells = [cell.strip() for cell in next(csv.reader([line.lstrip().lstrip("#")], delimiter=mark), [])]
        commented = line.lstrip().startswith("#")
        if above and commented and not _UNIT.search(line):
            last = (number, cells) if len(cells) == 2 and any(map(_names_unit, cells)) else None
        elif line.strip() and (not commented or (above and len(cells) == 2)):
            if above and last and not commented and any(map(_NUMBER.match, cells)):
                yield last
            yield number, cells
            above = False


def _text(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            data = stream.read(MOST_BYTES + 1)
        if len(data) <= MOST_BYTES:
            return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        refuse(f"{path}:{line}: is not UTF-8 text", "file")
    except OSError as error:
        refuse(f"{path} cannot be read: {error.strerror or error}", "file")
    except ValueError as error:  # a path with a null byte
        refuse(f"{shorten(path)} cannot be read: {error}", "file")
    refuse(f"{path} is larger than {MOST_BYTES // 1000} kB; leave out points", "file")


def schema(made: dict[str, Any]) -> None:
    """The JSON schema of a table: times and values, or the file that holds them."""
    made["properties"]["file"] = {"type": "string", "description": "a CSV file of time and value, seen from this one"}
    made["required"] = [key for key in made["required"] if key not in ("times", "values")]
    made["oneOf"] = [{"required": ["times", "values"]}, {"required": ["file"]}]
