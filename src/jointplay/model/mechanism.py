"""A mechanism: bodies, joints, drives, forces, gravity and a start, as one value."""

from __future__ import annotations

import functools
import html
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import PlainValidator, WithJsonSchema, model_validator

from ..elements import Compliant, Drive, Element, Following, Joint, Load, Rigid
from ..elements.sizes import FIT
from ..parts.part import (
    ByName,
    Frozen,
    KeyPath,
    ModelError,
    OneOf,
    Part,
    Problem,
    Quantity,
    Several,
    joined,
    refuse_all,
)
from ..parts.part import suggestion as close
from ..parts.units import ACCELERATION
from .bodies import Body, Counterweight, Ground
from .changing import SECTIONS, changed
from .control import Control
from .described import described
from .starts import STARTS, TAILS, how_journals_start, read_start, started
from .texts import Line, Remarks

if TYPE_CHECKING:
    from ..numerics.splines import Spline

_NAMED = ByName(("ground", "start", "gravity", "control"), nested=True)


class Mechanism(Part):
    """A planar mechanism in SI units, described once.  It is a value: every change gives a new one.

    `start` holds angles of bodies ("crank"), positions of their mass centres ("slider.x") and the rates of both
    ("crank.rate", "slider.x.rate"); assembly completes them.  `journals`, in files `start: {journals: centred}`, says
    whether joints with play begin on the wall that the ideal mechanism's reactions press them to, or in the middle of
    their play, unless start values say where.  `remarks` says what its source leaves open or
    contradicts; `check` repeats it.
    """

    name: Line = "mechanism"
    source: Line = ""
    remarks: Remarks = ()
    gravity: Annotated[tuple[float, float], Several(Quantity(ACCELERATION), "xy")] = (0.0, -9.81)
    ground: Ground = Ground()
    bodies: Annotated[dict[str, Body], _NAMED]
    joints: Annotated[dict[str, Annotated[Joint, OneOf("joint")]], _NAMED] = Frozen()
    drives: Annotated[dict[str, Annotated[Drive, OneOf("drive")]], _NAMED] = Frozen()
    forces: Annotated[dict[str, Annotated[Load, OneOf("force")]], _NAMED] = Frozen()
    start: Annotated[dict[str, float], PlainValidator(read_start), WithJsonSchema(STARTS)] = Frozen()
    journals: Literal["loaded", "centred"] = "loaded"
    control: Control | None = None

    def __repr__(self) -> str:
        return described(self)

    def __str__(self) -> str:
        return described(self)

    def _repr_html_(self) -> str:
        return f'<pre style="white-space:pre;overflow-x:auto">{html.escape(described(self))}</pre>'

    @classmethod
    def _title(cls) -> KeyPath:
        return ()

    @model_validator(mode="before")
    @classmethod
    def _how_journals_start(cls, raw: Any) -> Any:
        """Take `journals` out of the start values, unless it is a body."""
        return how_journals_start(raw)

    def plain(self, brief: bool = False) -> Any:
        """The mechanism as dictionaries, lists and numbers, as a file has them; brief: without defaults."""
        data = super().plain(brief)
        journals = data.pop("journals", None)
        if journals is not None:
            data["start"] = {**data.get("start", {}), "journals": journals}
        return data

    @model_validator(mode="after")
    def _refers_to_what_is(self) -> Mechanism:
        problems: list[tuple[KeyPath, str]] = []
        if not self.bodies:
            problems.append((("bodies",), "a mechanism needs at least one body"))
        homes: dict[str, str] = {}
        for section in SECTIONS:
            for name in getattr(self, section):
                if name in homes:
                    text = f"the name is already used in {homes[name]}; names are unique in a mechanism"
                    problems.append(((section, name), text))
                homes.setdefault(name, section)
        problems += self._nested()
        problems += self._references()
        for key in self.start:
            body, _ = started(key)
            if body in self.bodies:
                continue
            known = next((b for b in self.bodies if key.startswith(f"{b}.")), None)
            if known:
                tails = ", ".join(known + tail for tail in TAILS)
                problems.append((("start", key), f"unknown start value; of a body there are {tails}"))
            else:
                problems.append((("start", key), f"no such body{close(body, self.bodies)}"))
        refuse_all(problems)
        if self.control is not None and any(not isinstance(x, float) for x in self.control.model.values()):
            believed = self.replace(control=None).with_(self.control.model)  # reads their units
            numbers = Frozen({address: believed.value(address) for address in self.control.model})
            object.__setattr__(self, "control", self.control.model_copy(update={"model": numbers}))
            self.__dict__.pop("_index", None)
            self.__dict__.pop("_values", None)
        return self

    def _nested(self) -> Iterator[tuple[KeyPath, str]]:
        """Names with dots that could mean two things."""
        for section in SECTIONS:
            for name in getattr(self, section):
                outer = name.split(".")[:-1]
                for i in range(len(outer)):
                    if (prefix := ".".join(outer[: i + 1])) in self.names:
                        yield (section, name), f"{prefix!r} is an element, so it cannot be a module too; rename one"
                if outer and name.rpartition(".")[2] in ("x", "y", "angle", "rate"):
                    yield (section, name), f"the name {name.rpartition('.')[2]!r} is reserved in a module"

    def _targets(self) -> dict[str, tuple[str, set[str]]]:
        """What an element may refer to: what it is called, and the names there are."""
        points = {f"ground.{p}" for p in self.ground.all_points()}
        points |= {f"{name}.{p}" for name, body in self.bodies.items() for p in body.all_points()}
        bodies = set(self.bodies)
        found = {
            "point": ("point", points),
            "body": ("body", {"ground", *bodies}),
            "moving body": ("body", bodies),
            "moving": ("moving point or body", {t for t in {*bodies, *points} if self.owner(t) != "ground"}),
        }
        for moves in ("angle", "position"):
            able = [kind for kind, joint in Joint.known.items() if joint.driven_along(moves)]
            named = f"{' or '.join(able)} joint"
            joints = {name for name, joint in self.joints.items() if joint.driven_along(moves)}
            turning = moves == "angle"  # a body has an angle, too
            found[moves] = f"body or {named}" if turning else named, joints | (bodies if turning else set())
        return found

    def _references(self) -> Iterator[tuple[KeyPath, str]]:
        targets = self._targets()
        for section in ("joints", "forces", "drives"):
            elements: Mapping[str, Element] = getattr(self, section)
            for name, element in elements.items():
                pair = getattr(element, "between", None)
                if pair is not None and len({self.owner(reference) for reference in pair}) < 2:
                    text = f"must join two different bodies, got {self.owner(pair[0])!r} twice"
                    yield (section, name, "between"), text
                for path, to, given in element.references():
                    what, known = targets[to]
                    if given not in known:
                        yield (section, name, *path), f"no {what} {given!r}{close(given, sorted(known))}"
        seen: dict[tuple[str, str], str] = {}
        for name, drive in self.drives.items():
            pair = (drive.prescribes, drive.of)
            if pair in seen:
                yield ("drives", name, "of"), f"the {pair[0]} of {drive.of!r} is already driven by {seen[pair]!r}"
            seen.setdefault(pair, name)
        if self.control is not None:
            moving = sorted(p for p in targets["point"][1] if self.owner(p) != "ground")
            yield from self.control.problems(list(self.bodies), self.joints, moving)
            own = {address for address in self._index if not address.startswith(("control.", "start."))}
            for address, x in self.control.model.items():
                if address not in own:
                    yield ("control", "model", address), f"no such address{close(address, sorted(own))}"
                    continue
                try:
                    self.replace(control=None).with_({address: x})
                except ModelError as error:
                    yield ("control", "model", address), error.problems[0].text

    def isolated(self) -> bool:
        """Whether nothing outside acts on the bodies, so that their momentum stays."""
        parts: list[Joint | Load] = [*self.joints.values(), *self.forces.values()]
        if self.control is not None or any(self.gravity) or any(load.outside for load in self.forces.values()):
            return False
        held = any("ground" in part.bodies() for part in parts)
        return not held and all(drive.of in self.joints for drive in self.drives.values())

    def loose(self, kind: type | tuple[type, ...]) -> dict[str, Joint]:
        """The joints that may touch and whose contact is of this kind, or of one of these (Following, Rigid,
        Compliant)."""
        opened = {name: joint for name, joint in self.joints.items() if joint.loose}
        return {name: joint for name, joint in opened.items() if isinstance(joint.contact, kind)}

    def closed(self, *kinds: type) -> Mechanism:
        """A copy without play in the joints whose contact is of these kinds (any, unless given)."""
        loose = self.loose(kinds or (Following, Rigid, Compliant))
        plays = {f"{name}.{joint.opened_by}": 0.0 for name, joint in loose.items() if joint.opened_by}
        return self.with_(plays) if plays else self

    @functools.cached_property
    def uncontrolled(self) -> Mechanism:
        """The mechanism without play and without control, made once."""
        return self.replace(control=None).closed()

    def stopped(self, kind: type | None = None) -> dict[str, Joint]:
        """The joints with a lower or upper stop; kind: those whose stops are rigid (Rigid), or those of guides with
        compliant play, whose contact law acts at their ends too (Compliant)."""
        soft = {name for name, joint in self.loose(Compliant).items() if joint.moves == "position"}
        found = {name: joint for name, joint in self.joints.items() if joint.stopped}
        return {name: joint for name, joint in found.items() if kind is None or (name in soft) is (kind is Compliant)}

    def numbers(self) -> Iterator[tuple[str, KeyPath, float]]:
        """Every number with its address, the keys that lead to it, and its value."""
        yield from ((f"gravity.{axis}", ("gravity", i), self.gravity[i]) for i, axis in enumerate("xy"))
        yield from ((f"ground.{tail}", ("ground", *path), x) for tail, path, x in self.ground.numbers())
        for section in SECTIONS:
            for name, element in getattr(self, section).items():
                yield from ((f"{name}.{tail}", (section, name, *path), x) for tail, path, x in element.numbers())
        yield from ((f"start.{key}", ("start", key), x) for key, x in self.start.items())
        if self.control is not None:
            yield from ((f"control.{tail}", ("control", *path), x) for tail, path, x in self.control.numbers())

    @functools.cached_property
    def _index(self) -> dict[str, tuple[KeyPath, float]]:
        return {address: (path, x) for address, path, x in self.numbers()}

    def addresses(self) -> dict[str, float]:
        """Every numeric parameter by its address, in SI units, in the order of the mechanism."""
        return self._values.copy()

    @functools.cached_property
    def _values(self) -> dict[str, float]:
        return {address: x for address, (_, x) in self._index.items()}

    def tables(self) -> dict[str, Spline]:
        """Every table of a drive or force by its address, for a trace to bind."""
        found: dict[str, Spline] = {}
        for name, element in (*self.drives.items(), *self.forces.items()):
            for key, motion in element.given():
                if hasattr(motion, "tables"):
                    found |= {f"{name}.{joined(key, tail)}": x for tail, x in motion.tables().items()}
        if self.control is not None:
            found |= {f"control.{tail}": x for tail, x in self.control.tables().items()}
        return found

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """The names of all elements, and `ground`."""
        return frozenset(["ground", *(name for section in SECTIONS for name in getattr(self, section))])

    def split(self, reference: str) -> tuple[str, str]:
        """The element that a reference, address or label belongs to, and the rest: (crank, end) of "crank.end".

        Elements of modules have dots in their names: (left.arm1, end) of "left.arm1.end".
        """
        parts = reference.split(".")
        for i in range(len(parts), 0, -1):
            if (name := ".".join(parts[:i])) in self.names:
                return name, ".".join(parts[i:])
        return parts[0], ".".join(parts[1:])

    def owner(self, reference: str) -> str:
        """The element that a reference, address or label belongs to."""
        return self.split(reference)[0]

    def gap_unit(self, contact: str) -> str:
        """The unit of a contact's gap: m; rad of backlash, and of the stops of an angle."""
        joint = self.joints[self.owner(contact)]
        stop = "m" if joint.moves == "position" else "rad"
        return stop if ".stop." in contact else joint.play_unit

    def modules(self) -> dict[str, list[str]]:
        """The bodies of each module, by its name; of a module in a module, those of the outer one."""
        found: dict[str, list[str]] = {}
        for body in self.bodies:
            if "." in body:
                found.setdefault(body.partition(".")[0], []).append(body)
        return found

    def value(self, address: str) -> float:
        """The parameter at an address such as "coupler.mass", in SI units."""
        return self._find(address)[1]

    def keys_of(self, address: str) -> KeyPath:
        """The keys that lead to the parameter at an address in `plain()`."""
        return self._find(address)[0]

    def _find(self, address: str) -> tuple[KeyPath, float]:
        if address not in self._index:
            if (weight := self._weight(address)) is not None:
                return weight, 0.0
            if self._unset(address):
                text = "is not given, so there is no number to change; give it first, with replace or loosen"
                raise ModelError(Problem((address,), text))
            written = {".".join(map(str, path)): known for known, (path, _) in self._index.items()}
            written |= {keys.partition(".")[2]: known for keys, known in written.items()}
            written |= {a.replace(".law.", ".", 1): a for a in self._index if a.startswith("control.law.")}
            own = [known for known in self._index if known.startswith(address.partition(".")[0] + ".")]
            near = close(address, own or self._index)
            hint = f"; its address is {written[address]!r}" if address in written else self._sized(address) or near
            raise ModelError(Problem((address,), f"no such address{hint}"))
        return self._index[address]

    def _sized(self, address: str) -> str:
        name, key = self.split(address)
        joint = self.joints.get(name)
        if joint is None or key not in joint.also:
            return ""
        return f"; it was turned into {name}.{joint.opened_by} and {name}.{joint.inner}: set these"

    def _unset(self, address: str) -> bool:
        name, key = self.split(address)
        element = next((getattr(self, section)[name] for section in SECTIONS if name in getattr(self, section)), None)
        holders = (element, getattr(element, "contact", None))
        return any((key, None) in dict(part.given()).items() for part in holders if isinstance(part, Part))

    def _weight(self, address: str) -> KeyPath | None:
        """The keys of a number of a counterweight that is not there yet."""
        body, rest = self.split(address)
        key = rest.removeprefix("counterweight.")
        if body in self.bodies and rest != key and key in Counterweight.model_fields:
            return ("bodies", body, "counterweight", key)
        return None

    def fit_at(self, address: str) -> KeyPath | None:
        """The keys of a fit or its place, which stand for numbers: "J2.fit", "J2.at"."""
        joint, key = self.split(address)
        return ("joints", joint, key) if joint in self.joints and key in {*FIT} & {*self.joints[joint].also} else None

    def with_(self, changes: Mapping[str, float | str]) -> Mechanism:
        """A copy with other numbers at these addresses; unit strings such as "3 mm" are read.

        A start value, a counterweight and a fit that are not given yet may be set too.

        >>> from jointplay.model.bodies import bar
        >>> swing = Mechanism(bodies={"arm": bar(1.0, mass=1.0)})
        >>> swing.with_({"arm.mass": "500 g", "start.arm": 0.1}).addresses()["arm.mass"]
        0.5
        """
        return changed(self, changes)

    def replace(self, **fields: Any) -> Mechanism:
        """A copy with other fields, such as name, gravity, joints or start."""
        return Mechanism(**{**dict(self.given()), **fields})

    def loosen(
        self,
        joint: str,
        clearance: float | str | None = None,
        bearing: Literal["first", "second"] | None = None,
        contact: Following | Rigid | Compliant | Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> Mechanism:
        """A copy with a clearance (m; of a gear the play in rad) in a joint, and other fields of the joint changed.

        Instead of the clearance there may be what the joint takes in its place, such as fit="20 H7/g6".

        >>> from jointplay.model import library
        >>> library.four_bar().loosen("J2", "1 mm", journal_radius="10 mm").value("J2.clearance")
        0.001
        """
        if joint not in self.joints:
            raise ModelError(Problem(("joints", joint), f"no such joint{close(joint, self.joints)}"))
        held = self.joints[joint]
        if not (size := held.opened_by):
            *able, last = (kind for kind, one in Joint.known.items() if one.opened_by)
            kind = type(held).model_fields["kind"].default
            text = f"a {kind} joint cannot be loosened; {', '.join(able)} and {last} joints can"
            raise ModelError(Problem(("joints", joint), text))
        named = {size: clearance, "bearing": bearing, "contact": contact}
        named = {key: value for key, value in named.items() if value is not None}
        problems = [(key, "is given twice; keep one") for key in fields if key in named]
        problems += [(key, "cannot be changed here; use replace") for key in fields if key in ("kind", "between")]
        data, others = held.plain(), [key for key in fields if key in held.also]
        if others and held.inner:  # another way to say the size replaces what is held
            del data[size]
            if "fit" not in others:
                del data["at"]
            if others != ["bearing_radius"] or data[held.inner] == 0:
                del data[held.inner]
        elif size not in {**named, **fields}:
            problems.append((size, "is missing; how loose is the joint to be?"))
        if problems:
            raise ModelError(*(Problem(("joints", joint, key), text) for key, text in problems))
        return self.replace(joints={**self.joints, joint: {**data, **named, **fields}})
