"""YAML <-> Mechanism: unit strings are read at this edge, SI numbers are written, and the round trip is exact."""

from __future__ import annotations

import contextlib
import contextvars
import io
import json
import math
import os
from collections.abc import Iterable, Iterator
from typing import Any, get_args

import yaml
from pydantic import ValidationError
from pydantic.json_schema import GenerateJsonSchema

from .. import writing
from ..elements import Drive, Element, Joint, Load
from ..elements.contacts import Compliant, Contact
from ..errors import InputError
from ..parts.motions import AnyMotion, Function
from ..parts.part import ModelError, Problem, problems_of, suggestion
from ..parts.units import shorten
from .mechanism import Mechanism
from .modules import merged
from .nodes import MOST_BYTES, compose

FORMAT_VERSION = 1


def load(path: str | os.PathLike[str]) -> Mechanism:
    """The mechanism in a YAML file; ModelError names the file, the line and the remedy."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"load takes the path of a file, got {type(path).__name__}; a text: loads, numbers: Mechanism")
    file = os.fspath(path)
    try:
        with open(file, "rb") as stream:
            data = stream.read(MOST_BYTES + 1)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if len(data) <= MOST_BYTES:
            line = data.count(b"\n", 0, error.start) + 1
            raise ModelError(Problem((), "is not UTF-8 text", file, line)) from None
        text = " " * len(data)
    except OSError as error:
        from .library import MECHANISMS  # which stands above files

        remedy = f"; the mechanism of that name is jointplay.library.{file}()" if file in MECHANISMS else ""
        raise ModelError(Problem((), f"cannot be read: {error.strerror or error}{remedy}", file)) from None
    except ValueError as error:  # a path with a null byte
        raise ModelError(Problem((), f"cannot be read: {error}", shorten(file))) from None
    return loads(text, file)


def loads(text: str, file: str | None = None) -> Mechanism:
    """The mechanism in a YAML text; `file` is the name that errors show, and where files of modules are looked for.

    >>> loads("bodies: {arm: {bar: 30 cm, mass: 200 g}}").value("arm.length")
    0.3
    """
    with _inside(file):
        return _read(text, file)


def _read(text: str, file: str | None) -> Mechanism:
    root, name = compose(text, file), file or "text"
    if not isinstance(root.value, dict):
        message = f"must be a mapping with bodies, joints, ..., got {shorten(root.plain())}"
        raise ModelError(Problem((), message, name, root.line))
    data = root.plain()
    version = data.pop("format_version", str(FORMAT_VERSION))
    if version != str(FORMAT_VERSION):
        newer = isinstance(version, str) and version.isdecimal() and int(version[:9]) > FORMAT_VERSION
        hint = "written by a newer jointplay; update jointplay to read it" if newer else "write format_version: 1"
        message = f"format {shorten(version)} is not known (this version reads {FORMAT_VERSION}): {hint}"
        raise ModelError(Problem(("format_version",), message, name, root.key_lines["format_version"]))

    def placed(problems: Iterable[Problem]) -> ModelError:
        found = []
        for problem in problems:
            line, path = root.find(problem.path)
            found.append(problem if problem.file else Problem(path, problem.text, name, line))
        return ModelError(*sorted(found, key=lambda p: p.line or 0))

    _find_tables(data, os.path.dirname(file or ""))
    try:
        if data.get("modules") is not None:
            data = merged(data, _modules(data.pop("modules")))
        data.pop("modules", None)
        return Mechanism.model_validate(data)
    except ValidationError as error:
        raise placed(problems_of(error)) from None
    except ModelError as error:
        raise placed(error.problems) from None


def _find_tables(data: Any, directory: str) -> None:
    """Files of tables are looked for beside the model file."""
    if isinstance(data, dict) and data.get("kind") == "table" and isinstance(data.get("file"), str):
        data["file"] = os.path.join(directory, data["file"])
    for x in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        _find_tables(x, directory)


_files: contextvars.ContextVar[tuple[str, ...]] = contextvars.ContextVar("files", default=())  # being read


@contextlib.contextmanager
def _inside(file: str | None) -> Iterator[None]:
    """Read a file; one that is being read already contains itself."""
    known = _files.get()
    here = os.path.realpath(file) if file else ""
    if file and here in known:
        shown = " -> ".join(os.path.basename(f) for f in (*known[known.index(here) :], here))
        raise ModelError(Problem((), f"contains itself as a module ({shown}); take it out of its modules"))
    token = _files.set((*known, here))
    try:
        yield
    finally:
        _files.reset(token)


def _modules(raw: Any) -> dict[str, tuple[Mechanism, str | None]]:
    """The mechanisms of `modules`, each with the point at which it is put."""
    if not isinstance(raw, dict):
        raise ModelError(Problem(("modules",), f"must be a mapping (name: module), got {shorten(raw)}"))
    found, problems = {}, list[Problem]()
    for name, given in raw.items():
        try:
            found[name] = _module(given)
        except ModelError as error:
            problems += [p if p.file else p._replace(path=("modules", name, *p.path)) for p in error.problems]
    if problems:
        raise ModelError(*problems)
    return found


def _module(given: Any) -> tuple[Mechanism, str | None]:
    from .library import MECHANISMS

    if not isinstance(given, dict):
        raise ModelError(f"must be a mapping with library, file or bodies, got {shorten(given)}")
    rest = {key: x for key, x in given.items() if key not in ("library", "file", "set", "at")}
    if "library" in given or "file" in given:
        both = {"library", "file"} & given.keys()
        if len(both) > 1:
            raise ModelError("has a library and a file; keep one")
        if rest:
            raise ModelError(*(Problem((key,), f"cannot stand beside {min(both)}; use set, or a file") for key in rest))
    if "library" in given:
        if given["library"] not in MECHANISMS:
            text = f"no mechanism {shorten(given['library'])} in the library"
            raise ModelError(Problem(("library",), text + suggestion(given["library"], MECHANISMS)))
        module = MECHANISMS[given["library"]]()
    elif "file" in given:
        if not isinstance(given["file"], str):
            raise ModelError(Problem(("file",), f"must be the name of a model file, got {shorten(given['file'])}"))
        beside = os.path.dirname(_files.get()[-1]) if _files.get() and _files.get()[-1] else ""
        try:
            module = load(os.path.join(beside, given["file"]))
        except ModelError as error:
            if error.problems[0].file is None or error.problems[0].text.startswith("cannot be read"):
                raise ModelError(Problem(("file",), error.problems[0].text)) from None
            raise
    else:
        try:
            inner = merged(rest, _modules(rest.pop("modules"))) if rest.get("modules") else rest
            module = Mechanism.model_validate(inner)
        except ValidationError as error:
            raise ModelError(*problems_of(error)) from None
    changes = given.get("set") or {}
    if not isinstance(changes, dict):
        raise ModelError(Problem(("set",), f"must be a mapping of addresses to numbers, got {shorten(changes)}"))
    try:
        return module.with_(changes), given.get("at")
    except ModelError as error:
        raise ModelError(*(p._replace(path=("set", *p.path)) for p in error.problems)) from None


class _Writer(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _number(writer: yaml.SafeDumper, x: float) -> yaml.ScalarNode:
    whole = x.is_integer() and abs(x) < 1e15 and math.copysign(1.0, x) * x >= 0 and str(x) != "-0.0"
    return writer.represent_int(int(x)) if whole else writer.represent_float(x)


_Writer.add_representer(float, _number)


def dumps(mechanism: Mechanism) -> str:
    """The mechanism as YAML text in SI units, one line for each element; `loads` gives an equal mechanism."""
    for name, element in (*mechanism.drives.items(), *mechanism.forces.items()):
        if holds_function(element.plain()):
            section = "drives" if name in mechanism.drives else "forces"
            text = "a Python function cannot be written to a file; use a table or another motion"
            raise ModelError(Problem((section, name), text))
    for name, joint in mechanism.joints.items():
        contact, pin = getattr(joint, "contact", None), getattr(joint, "pin_friction", None)
        laws = {f"contact.{role}": x for role, x in contact.laws().items()} if isinstance(contact, Compliant) else {}
        for place, chosen in (laws | ({"pin_friction": pin} if pin else {})).items():
            if chosen.name is None:
                text = f"a law of your own ({chosen.law.name}) cannot be written to a file; use one that files know"
                raise ModelError(Problem(("joints", name, place), text))
    control = mechanism.control
    if control is not None:
        if not control.computed or control.law.name is None:
            text = "a controller of your own cannot be written to a file; use one that files know"
            raise ModelError(Problem(("control", "law"), text))
        for _, path, motion in control.motions():
            if holds_function(motion.plain()):
                text = "a Python function cannot be written to a file; use a table or another motion"
                raise ModelError(Problem(("control", *path), text))
    data = {"format_version": FORMAT_VERSION, "name": mechanism.name}
    data |= {"source": mechanism.source} if mechanism.source else {}
    data |= {"remarks": list(mechanism.remarks)} if mechanism.remarks else {}
    data |= {"gravity": list(mechanism.gravity)} | mechanism.plain(brief=True)
    writer = _Writer(io.StringIO(), sort_keys=False)
    root = writer.represent_data(data)
    _flow(root, 0)
    emitter = getattr(yaml, "CSafeDumper", _Writer)  # the same text, three times as fast
    return str(yaml.serialize(root, Dumper=emitter, width=118, allow_unicode=True))


def _flow(node: yaml.Node, depth: int) -> None:
    if isinstance(node, yaml.MappingNode):
        node.flow_style = depth > 1 or not node.value
        for key, value in node.value:
            section = depth == 0 and key.value in ("bodies", "joints", "drives", "forces", "control")
            _flow(value, 1 if section else 2)
    elif isinstance(node, yaml.SequenceNode):
        node.flow_style = True
        for value in node.value:
            _flow(value, 2)


def holds_function(plain: Any) -> bool:
    if isinstance(plain, dict):
        return any(holds_function(value) for value in plain.values())
    return any(holds_function(value) for value in plain) if isinstance(plain, list) else callable(plain)


def save(mechanism: Mechanism, path: str | os.PathLike[str]) -> None:
    """Write the mechanism to a YAML file, whole or not at all."""
    text = dumps(mechanism)
    try:
        writing.write(path, text.encode())
    except OSError as error:
        raise ModelError(Problem((), f"cannot be written: {error.strerror or error}", os.fspath(path))) from None


_MODULE = {
    "type": "object",
    "description": "a mechanism as a part of this one: from the library, a file, or written here",
    "properties": {
        "library": {"type": "string", "description": "the name of a mechanism of the library"},
        "file": {"type": "string", "description": "a model file, seen from this one"},
        "set": {"type": "object", "description": "other numbers at some of its addresses"},
        "at": {"type": "string", "description": "the point at which the origin of its ground is put"},
    },
}


class _Schema(GenerateJsonSchema):
    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012


def schema() -> dict[str, Any]:
    """The JSON schema of a model file, for completion and checks in an editor."""
    made = Mechanism.model_json_schema(schema_generator=_Schema)
    made["properties"] = {"format_version": {"const": FORMAT_VERSION, "type": "integer"}, **made["properties"]}
    made["properties"]["modules"] = {"type": "object", "additionalProperties": _MODULE}
    made["required"] = [key for key in made.get("required", []) if key != "bodies"]  # modules may have them all
    kinds = [kind for union in (Contact, AnyMotion) for kind in get_args(get_args(union)[0]) if kind is not Function]
    families: tuple[type[Element], ...] = (Joint, Drive, Load)
    for kind in (*kinds, *(kind for family in families for kind in family.kinds().values())):
        part = kind.model_json_schema(schema_generator=_Schema)  # fields refer to these kinds by name
        made["$defs"][kind.__name__] = {**part, "required": ["kind", *part.get("required", [])]}
    made = json.loads(json.dumps(made).replace('{"x-part": "', '{"$ref": "#/$defs/'))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, "title": "jointplay mechanism"}
