"""Mechanisms made of mechanisms: each module keeps its names behind its own, as in "left.arm1.mass"."""

from __future__ import annotations

import cmath
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from ..elements import Drive, Element
from ..parts.part import NAME, KeyPath, ModelError, Part, Problem, problems_of, suggestion
from ..parts.units import shorten
from .bodies import Body, Ground, PlaneVector
from .changing import SECTIONS
from .mechanism import Mechanism
from .starts import read_start, started

AXES = ("x", "y")
MOST_BODIES = 2000  # of one mechanism: modules of modules multiply


def couple(modules: Mapping[str, Mechanism], at: Mapping[str, str] | None = None, **fields: Any) -> Mechanism:
    """One mechanism from several, each behind its name; further fields (joints, ground, ...) are those of Mechanism.

    at: for some of the modules the point, of the ground or of a body, at which the origin of their ground is put;
    their ground becomes the ground or that body, whose module comes first.  Gravity is that of the whole.

    >>> from jointplay.model import library
    >>> arms = {"left": library.rr_arm(), "right": library.rr_arm()}
    >>> base = {"points": {"A": (-0.1, 0.0), "B": (0.1, 0.0)}}
    >>> tip = {"kind": "revolute", "between": ["left.arm2.end", "right.arm2.end"]}
    >>> pair = couple(arms, at={"left": "ground.A", "right": "ground.B"}, ground=base, joints={"tip": tip})
    >>> pair.with_({"left.arm1.mass": "1.2 kg"}).value("left.arm1.mass")
    1.2
    """
    for name in at or {}:
        if name not in modules:
            raise ModelError(Problem(("at", name), f"no such module{suggestion(name, modules)}"))
    placed = {name: (module, (at or {}).get(name)) for name, module in modules.items()}
    fields = merged(fields, placed)
    fields.setdefault("name", " + ".join(modules))
    return Mechanism(**fields)


def merged(fields: Mapping[str, Any], modules: Mapping[str, tuple[Mechanism, str | None]]) -> dict[str, Any]:
    """The fields of a mechanism with those of its modules, which have names and, some of them, a place."""
    found: dict[str, Any] = dict(fields)
    for section in SECTIONS:
        if isinstance(found.get(section), Mapping | None):
            found[section] = dict(found.get(section) or {})
    problems: list[Problem] = []
    for name, (module, at) in modules.items():
        if later := _later(list(modules), name, at, found["bodies"]):
            text = f"{later!r} comes after {name!r}, and {at!r} is not there yet; put {later!r} before {name!r}"
            problems.append(Problem(("modules", name, "at"), text))
        elif not isinstance(name, str) or not NAME.fullmatch(name) or name in ("ground", "start", "gravity", "control"):
            problems.append(Problem(("modules", str(name)), "a module cannot have this name; choose another"))
        elif not isinstance(module, Mechanism):
            problems.append(Problem(("modules", name), f"must be a mechanism, got {shorten(module)}"))
        elif module.control is not None:
            problems.append(Problem(("modules", name), "has a control loop; give it to the whole mechanism instead"))
        else:
            try:
                _add(found, name, module, at)
            except ValidationError as error:  # of the ground or the body at which it is put
                raise ModelError(*problems_of(error)) from None
            except ModelError as error:
                problems += error.problems
    if len(found["bodies"]) > MOST_BODIES:
        problems.append(Problem(("modules",), f"have more than {MOST_BODIES} bodies together; take fewer"))
    if problems:
        raise ModelError(*problems)
    return found


def _later(names: Sequence[Any], name: Any, at: Any, bodies: Any) -> str:
    """The module on which another one is put that comes before it."""
    if not isinstance(at, str) or at.rpartition(".")[0] in bodies:
        return ""
    rest = names[names.index(name) + 1 :]
    return next((x for x in rest if isinstance(x, str) and at.startswith(f"{x}.")), "")


def _add(found: dict[str, Any], name: str, module: Mechanism, at: str | None) -> None:
    """Put one module into the fields."""
    points, host, origin = _placed(found, name, module, at)

    def there(reference: str) -> str:
        element, rest = module.split(reference)
        if element != "ground":
            return f"{name}.{reference}"
        return points[rest] if rest else host

    problems = []
    for section, key, element in _elements(module):
        if f"{name}.{key}" in found[section]:
            text = f"its {key!r} collides with {name + '.' + key!r} of the whole; rename one"
            problems.append(Problem(("modules", name), text))
        moved = element.model_copy(update=_renamed(element, there))
        if isinstance(moved, Drive) and moved.prescribes in AXES and at is not None:
            if host != "ground":
                text = f"its drive {key!r} prescribes an {moved.prescribes} of the ground, but it is put on {host!r}"
                problems.append(Problem(("modules", name, "at"), f"{text}; drive a position or an angle instead"))
            elif by := origin[AXES.index(moved.prescribes)]:
                moved = moved.model_copy(update={"motion": moved.motion.raised(by)})
        if isinstance(element, Drive) and element.prescribes == "angle" and host != "ground":
            if element.of in module.bodies and (pivot := _pivot(module, element.of)) is None:
                text = f"its drive {key!r} turns {element.of!r} against its ground, but that is put on {host!r}"
                remedy = f"; drive a joint between [ground..., {element.of}...] instead"
                problems.append(Problem(("modules", name, "at"), text + remedy))
            elif element.of in module.bodies:
                moved = moved.model_copy(update={"of": f"{name}.{pivot}"})
        found[section][f"{name}.{key}"] = moved
    if problems:
        raise ModelError(*problems)
    first = found.get("start") or {}  # what the whole says counts before what its modules do
    start = {f"{name}.{key}": x for key, x in module.start.items() if f"{name}.{key}" not in first}
    if host == "ground":
        moved_by = dict(zip((".x", ".y"), origin, strict=True))
        start = {key: x + moved_by.get(started(key)[1], 0.0) for key, x in start.items()}
    elif any(started(key)[1] in (".x", ".y") for key in start):
        start = _on_body(found, name, start, str(at))
    found["start"] = {**first, **{key: x for key, x in start.items() if key not in first}}


def _pivot(module: Mechanism, body: str) -> str | None:
    """The joint whose angle is that of a body seen from the module's ground."""
    for name, joint in module.joints.items():
        if joint.pinned and joint.driven and [module.split(end)[0] for end in joint.between] == ["ground", body]:
            return name
    return None


def _on_body(found: dict[str, Any], name: str, start: dict[str, float], at: str) -> dict[str, float]:
    """The start values of a module on a body with places seen from the ground, and those of the body."""
    host, _, point = at.rpartition(".")
    begun = _begun(found, host)
    placed = [key for key in start if started(key)[1] in (".x", ".y")]
    text = f"its start value {placed[0]!r} is a place on {host!r}"
    remedy = f"or {placed[0]} of the whole, seen from the ground"
    if begun is None:
        text = f"{text}, and where that begins is not given; give {host}.x, {host}.y and {host} in the start, {remedy}"
        raise ModelError(Problem(("modules", name, "at"), text))
    turned = cmath.exp(1j * begun[host])
    arm = complex(*Body.model_validate(found["bodies"][host]).arm(point))
    there = dict(start)
    for body in dict.fromkeys(started(key)[0] for key in placed):
        x, y = (start.get(f"{body}.{axis}") for axis in AXES)
        if turned.imag and (x is None or y is None):
            text = f"{text}, which begins turned; give both {body}.x and {body}.y, {remedy}"
            raise ModelError(Problem(("modules", name, "at"), text))
        on = complex(begun[f"{host}.x"], begun[f"{host}.y"]) + turned * (arm + complex(x or 0.0, y or 0.0))
        there |= {
            f"{body}.{axis}": z for axis, z in zip(AXES, (on.real, on.imag), strict=True) if f"{body}.{axis}" in start
        }
    return begun | there


def _begun(found: dict[str, Any], host: str) -> dict[str, float] | None:
    """Where a body begins: where the start says, or at the origin if no joint or drive beside it, or of the whole that
    it is in, holds it; None if that is not known."""
    keys, parts = (host, *(f"{host}.{axis}" for axis in AXES)), host.split(".")[:-1]
    levels = {".".join(parts[:n]) for n in range(len(parts) + 1)}
    given = read_start({key: x for key, x in (found.get("start") or {}).items() if key in keys})
    beside = [x for s in ("joints", "drives") for key, x in found[s].items() if key.rpartition(".")[0] in levels]
    fields = [x for one in beside for _, x in (one.items() if isinstance(one, Mapping) else one)]
    names = [x for one in fields for x in (one if isinstance(one, list | tuple) else [one]) if isinstance(x, str)]
    held = any(x == host or x.rpartition(".")[0] == host for x in names)
    return None if held and len(given) < len(keys) else {**dict.fromkeys(keys, 0.0), **given}


def _elements(module: Mechanism) -> Iterator[tuple[str, str, Part]]:
    for section in SECTIONS:
        for key, element in getattr(module, section).items():
            yield section, key, element


def _renamed(element: Part, there: Any) -> dict[str, Any]:
    if not isinstance(element, Element):
        return {}
    given = {str(path[0]): getattr(element, str(path[0])) for path, _, _ in element.references()}
    return {key: tuple(map(there, x)) if isinstance(x, tuple) else there(x) for key, x in given.items()}


def _placed(
    found: dict[str, Any], name: str, module: Mechanism, at: str | None
) -> tuple[dict[str, str], str, PlaneVector]:
    """What the points of the module's ground become, the body (or ground) that carries them, and their origin."""
    if not isinstance(at, str | None):
        raise ModelError(Problem(("modules", name, "at"), f"must be a point such as ground.A, got {shorten(at)}"))
    carriers: dict[str, Any] = {"ground": found.get("ground") or {}, **found["bodies"]}
    host, _, point = (at or "ground.").rpartition(".")
    if host not in carriers:
        text = f"no point {at!r}{suggestion(host, carriers)}"
        raise ModelError(Problem(("modules", name, "at"), text))
    kind: type[Ground] | type[Body] = Ground if host == "ground" else Body
    try:
        carrier = kind.model_validate(carriers[host])
    except ValidationError as error:
        path: KeyPath = ("ground",) if host == "ground" else ("bodies", host)
        raise ModelError(*(p._replace(path=(*path, *p.path)) for p in problems_of(error))) from None
    known = carrier.all_points()
    if at is not None and point not in known:
        text = f"no point {at!r}{suggestion(at, [f'{host}.{p}' for p in known])}"
        raise ModelError(Problem(("modules", name, "at"), text))
    origin = known[point] if at is not None else (0.0, 0.0)
    own = module.ground.all_points()
    if at is not None and not any(x or y for x, y in own.values()):
        return dict.fromkeys(own, at), host, origin
    points = {f"{name}_{p}": (origin[0] + x, origin[1] + y) for p, (x, y) in own.items()}
    for p in points:
        if p in known:
            raise ModelError(Problem(("modules", name), f"its point would be {host}.{p}, which is there; rename one"))
    changed = carrier.model_copy(update={"points": type(carrier.points)({**carrier.points, **points})})
    if host == "ground":
        found["ground"] = changed
    else:
        found["bodies"][host] = changed
    return {p: f"{host}.{name}_{p}" for p in own}, host, origin
