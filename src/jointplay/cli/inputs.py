"""What the commands are given: models, changes, times and the files to write; all refused before computing."""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jointplay.errors import InputError

if TYPE_CHECKING:
    from jointplay.model.mechanism import Mechanism

RESULTS = {".nc": "", ".csv": "", ".parquet": "pyarrow"}  # suffix -> module that it needs beyond the core
PLOTS = {".png": "matplotlib", ".pdf": "matplotlib", ".svg": "matplotlib"}
FILMS = {".gif": "matplotlib", ".mp4": "matplotlib"}
_EXTRAS = {"pyarrow": "parquet", "matplotlib": "plot"}


def mechanism(model: str, changes: Sequence[str]) -> Mechanism:
    """The mechanism in a file, or of the library if there is no such file, with the changes made."""
    from jointplay.model.files import load
    from jointplay.model.library import MECHANISMS
    from jointplay.model.parts import suggestion

    if model in MECHANISMS and not os.path.isfile(model):
        found = MECHANISMS[model]()
    elif os.path.exists(model):
        if Path(model).suffix in RESULTS:
            raise InputError(f"{model} is a result, no model; jointplay report, plot, signals and compare read it")
        found = load(model)
    elif os.path.dirname(model) or Path(model).suffix in (".yaml", ".yml"):
        raise InputError(f"no such file {model!r}; `jointplay new NAME` writes one to start from")
    else:
        raise InputError(f"no file and no library mechanism {model!r}{suggestion(model, MECHANISMS)}")
    return _changed(found, changes) if changes else found


def _changed(found: Mechanism, changes: Sequence[str]) -> Mechanism:
    from jointplay.model.parts import ModelError, Problem

    numbers: dict[str, float | str] = {}
    for change in changes:
        address, equals, value = change.partition("=")
        if not equals or not address.strip() or not value.strip():
            raise InputError(f"--set {change}: must be ADDRESS=VALUE, as in --set 'crank.mass=200 g'")
        numbers[address.strip()] = value.strip()
    try:
        return found.with_(numbers)
    except ModelError as error:
        named = ((" ".join(map(str, ("--set", *p.path[:1]))), p) for p in error.problems)
        raise ModelError(*(Problem((where, *p.path[1:]), p.text) for where, p in named)) from None


def duration(option: str, text: str, zero: bool = False) -> float:
    """A time (s) > 0 (or 0, if that is allowed) from a text such as `10` or `500 ms`."""
    from jointplay.model.units import TIME, UnitError, parse_quantity

    try:
        seconds = parse_quantity(text, TIME)
    except UnitError as error:
        raise InputError(f"{option}: {error}") from None
    if not seconds > 0 and not (zero and seconds == 0):
        raise InputError(f"{option}: must be {'>=' if zero else '>'} 0, got {text.strip()}")
    return seconds


def count(option: str, text: str, most: int) -> int:
    """A whole number from 1 to the most that is sensible."""
    if not text.strip().isdecimal() or not 1 <= int(text.strip()[:9]) <= most:
        raise InputError(f"{option}: must be a whole number from 1 to {most}, got {text.strip()}")
    return int(text)


def limits(given: Sequence[str]) -> dict[str, str]:
    """Limits of metrics as they are written, `peak_force[J2]=500` or `shift[slider]=40 um`, refused if unreadable."""
    from jointplay.model.units import UnitError, parse_unit

    found = {}
    for text in given:
        name, _, value = (part.strip() for part in text.rpartition("="))
        if not name or not re.match(r"[-+]?\.?\d", value):
            raise InputError(
                f"--limit {text}: must be METRIC=NUMBER, as in 'shift[slider]=40 um'; without unit it is SI"
            )
        try:
            parse_unit(value.lstrip("+-.0123456789eE").removesuffix("%").removeprefix("/"))
        except UnitError as error:
            raise InputError(f"--limit {text}: {error}") from None
        found[name] = value
    return found


def limits_of(study: Any, given: Mapping[str, str]) -> dict[str, float]:
    """Limits in the units that the metrics of a study have."""
    from jointplay.parts.units import UnitError, measured_in, parse_quantity
    from jointplay.studies.meaning import numbers

    found = {}
    for name, text in given.items():
        numbers(study, name)  # refuses one that is not there
        unit = str(study[name].attrs.get("units", "1"))
        plain = unit in ("1", "%")
        try:
            wanted = measured_in("" if plain else unit)
            found[name] = parse_quantity(text.removesuffix("%") if unit == "%" else text, wanted)
        except UnitError as error:
            raise InputError(f"--limit {name}={text}: {error}") from None
    return found


def tolerance(option: str, text: str) -> float:
    """A number between 0 and 1, both excluded."""
    from jointplay.model.units import NUMBER, UnitError, parse_quantity

    try:
        number = parse_quantity(text, NUMBER)
    except UnitError as error:
        raise InputError(f"{option}: {error}") from None
    if not 0 < number < 1:
        raise InputError(f"{option}: must be > 0 and < 1, got {text.strip()}")
    return number


def tolerances(arguments: argparse.Namespace, step: float | None) -> dict[str, float]:
    """The tolerances of adaptive steps that were given; with a fixed step (s) there are none."""
    found = {}
    for name in ("rtol", "atol"):
        text = getattr(arguments, name)
        if text is not None and step is not None:
            raise InputError(f"--{name}: belongs to adaptive steps and cannot be given with --step")
        if text is not None:
            found[name] = tolerance(f"--{name}", text)
    return found


def target(option: str, text: str, suffixes: dict[str, str]) -> Path:
    """A file that can be written when the time comes: known suffix, its library installed, its directory writable."""
    if not text.strip():
        raise InputError(f"{option}: the name of the file is empty")
    path = Path(text)
    suffix = path.suffix.lower()
    if suffix not in suffixes:
        *rest, last = suffixes
        known = f"{', '.join(rest)} or {last}" if rest else last
        given = f"{path.suffix!r}" if path.suffix else "none"
        raise InputError(f"{option} {text}: the suffix must be {known}, got {given}")
    module = suffixes[suffix]
    if module and importlib.util.find_spec(module) is None:
        remedy = f'pip install "jointplay[{_EXTRAS[module]}]"'
        raise InputError(f"{option} {text}: {path.suffix} files need {module}, which is not installed: {remedy}")
    writable(option, path)
    return path


def writable(option: str, path: Path) -> None:
    """Refuse a path that cannot be written; leaves nothing behind."""
    directory = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
    if os.path.isdir(path):
        raise InputError(f"{option} {path}: is a directory")
    if not os.path.isdir(directory):
        what = "is not a directory" if os.path.exists(directory) else "does not exist; create it first"
        raise InputError(f"{option} {path}: the directory {str(directory)!r} {what}")
    if len(os.fsencode(path.name)) > 200:  # a temporary name beside it is longer still
        raise InputError(f"{option} {path.name[:20]}...: the name is too long")
    try:
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{option} {path}: cannot write to the directory {str(directory)!r}: {reason}") from None
