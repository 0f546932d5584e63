"""A control loop as a part of a mechanism: what is controlled, what acts, what is measured, and by which law.

`control.pd("crank", sine(6.0, 2.0), k1=2000, k2=200)` makes one; there is such a function for every controller in
`jointplay.laws.controllers`, and `control.use` takes a law of one's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, PlainValidator, WithJsonSchema, model_validator

from ..elements import Joint
from ..laws import Law
from ..laws.roles import registry
from ..parts.choices import Chosen, LawChoice
from ..parts.motions import Constant, Kinds
from ..parts.part import (
    ByName,
    Frozen,
    InUse,
    KeyPath,
    ModelError,
    OneOf,
    Part,
    Problem,
    Quantity,
    in_units_of,
    joined,
    refuse,
    suggestion,
)
from ..parts.units import ANGLE, FORCE, LENGTH, NUMBER, TIME, TORQUE, Dimension, shorten

if TYPE_CHECKING:
    from ..numerics.splines import Spline

ALONG = ("angle", "position", "x", "y")
Duration = Annotated[float, Quantity(TIME, above=0)]


class Along(Part):
    """Something along a coordinate of the mechanism: the `angle` of a body or revolute joint (the second body seen
    from the first), the `position` of a prismatic or slot joint, the global `x` or `y` of a point or mass centre."""

    kind: Literal["angle", "position", "x", "y"] = "angle"
    of: str
    _turning: ClassVar[Dimension] = ANGLE
    _going: ClassVar[Dimension] = LENGTH

    @property
    def turns(self) -> bool:
        """Whether it is an angle; what acts along it is then a torque."""
        return self.kind == "angle"

    def among(self, known: Mapping[str, tuple[str, set[str]]]) -> tuple[str, set[str]]:
        """What it may be of, out of what is known for each kind of coordinate."""
        return known[self.kind]

    @property
    def globally(self) -> bool:
        """Whether it is the x or y of a point."""
        return self.kind in ("x", "y")

    @model_validator(mode="wrap")
    @classmethod
    def _in_its_unit(cls, raw: Any, read: Callable[[Any], Any]) -> Any:
        turning = not isinstance(raw, Mapping) or raw.get("kind", "angle") == "angle"
        with in_units_of(cls._turning if turning else cls._going):
            return read(raw)


class Coordinate(Along):
    """What is controlled, and what it should be over time."""

    reference: Annotated[Kinds, OneOf("motion")] = Constant(value=0.0)


class Actuator(Along):
    """A torque or force along a coordinate: from the ground on a body or point, between the bodies of a joint.

    limit (N m or N): what it can do at most, to either side. feedforward: what it does beside the law.
    """

    limit: Annotated[float, InUse(above=0)] | None = None
    feedforward: Annotated[Kinds, OneOf("motion")] = Constant(value=0.0)
    _turning: ClassVar[Dimension] = TORQUE
    _going: ClassVar[Dimension] = FORCE


class Sensor(Along):
    """A measurement of a coordinate and its rate.

    side: of a joint, which body or point is measured alone: in a joint with play `first` and `second` differ, as the
    encoders of a motor and of its load do. period (s): time between samples, held in between; delay (s); resolution:
    the size of one count; noise: its standard deviation, drawn anew in every sample from `seed`; rate: `exact`, or the
    `difference` of two samples over their period.
    """

    side: Literal["first", "second"] | None = None
    period: Duration | None = None
    delay: Annotated[float, Quantity(TIME, at_least=0)] = 0.0
    resolution: Annotated[float, InUse(at_least=0)] = 0.0
    noise: Annotated[float, InUse(at_least=0)] = 0.0
    seed: int = 1
    rate: Literal["exact", "difference"] = "exact"

    @model_validator(mode="after")
    def _fits(self) -> Sensor:
        if self.rate == "difference" and self.period is None:
            refuse("a rate from differences needs the time between samples; give a period", "period")
        return self

    @property
    def digital(self) -> bool:
        """Whether it is more than the coordinate itself."""
        return bool(self.period or self.delay or self.resolution or self.noise)


class Sampled:
    """Any Python callable as a digital controller: called with time, values, rates, references and their rates (lists)
    once a period, it gives one number for each actuator, held until the next call."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.name = function, getattr(function, "__name__", type(function).__name__)

    def __repr__(self) -> str:
        return f"<sampled {self.name}>"


def _law(raw: Any) -> Any:
    given = dict(raw) if isinstance(raw, Mapping) else {"law": raw}
    chosen = given.get("law")
    if isinstance(chosen, Sampled):
        if len(given) > 1:
            refuse(f"a sampled Python function has no gains of its own: bind them, got {list(given)[1]!r}")
        return chosen
    if callable(chosen) and not isinstance(chosen, Law):
        chosen = Law(chosen, {}, {}, role="control")
    return Chosen("control").read({**given, "law": chosen} if isinstance(raw, Mapping) else chosen)


def _changes(raw: Any) -> Frozen:
    if not isinstance(raw, Mapping):
        refuse(f"must be a mapping of addresses to numbers, such as coupler.mass: 1.2, got {shorten(raw)}")
    return Frozen({str(key): x for key, x in raw.items()})  # read by the mechanism, which knows their dimensions


def _several(raw: Any) -> Any:
    return (raw,) if isinstance(raw, str) else tuple(raw or ())


class ControlSchema:
    """Annotation: the laws that files know, in the JSON schema."""

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> Any:
        return Chosen("control").__get_pydantic_json_schema__(schema, handler)


_NAMES = ByName(("model", "law"))
_OPEN = {"type": "object", "additionalProperties": True}


class Control(Part):
    """A control loop.

    law: by name with its gains, or a Law. coordinates: what is controlled. actuators: what acts. sensors: what is
    measured, if not the coordinates themselves. gravity: add what holds the model's weight. model: numbers that the
    controller's model has otherwise than the mechanism (address: value). cut: joints at which the model is opened, for
    laws in more coordinates than degrees of freedom. regularisation: softens a model that is moved by sensors of other
    coordinates than the actuators', where these do not determine it: there it goes on as before. period (s): the law is
    computed so often, and held in between. settled (s): when the statistics begin.
    """

    law: Annotated[Any, PlainValidator(_law), ControlSchema()]
    coordinates: Annotated[dict[str, Coordinate], _NAMES] = Frozen()
    actuators: Annotated[dict[str, Actuator], _NAMES]
    sensors: Annotated[dict[str, Sensor], _NAMES] = Frozen()
    gravity: bool = False
    model: Annotated[dict[str, float], PlainValidator(_changes), WithJsonSchema(_OPEN)] = Frozen()
    cut: Annotated[tuple[str, ...], BeforeValidator(_several)] = ()
    regularisation: Annotated[float, Quantity(NUMBER, at_least=0)] = 0.0
    period: Duration | None = None
    settled: Annotated[float, Quantity(TIME, at_least=0)] = 0.0

    @model_validator(mode="after")
    def _fits(self) -> Control:
        if not self.actuators:
            refuse("there is nothing to act with; name at least one actuator", "actuators")
        if self.computed and self.law.name not in (None, "open_loop") and not self.coordinates:
            refuse("is missing: what is to be controlled? such as {crank: {of: crank, reference: 0.5}}", "coordinates")
        if isinstance(self.law, Sampled) and self.period is None:
            refuse("a sampled Python function needs the time between its calls", "period")
        used: dict[str, str] = {}
        for section in ("coordinates", "actuators", "sensors"):
            for name in getattr(self, section):
                if used.setdefault(name, section) != section and section == "sensors":
                    refuse(f"the name is already used in {used[name]}; choose another", section, name)
        return self

    @property
    def computed(self) -> bool:
        """Whether the law is a text that is traced, not a sampled Python function."""
        return isinstance(self.law, LawChoice)

    def motions(self) -> Iterator[tuple[str, KeyPath, Any]]:
        """Every motion with its address within the control and the keys that lead to it."""
        for name, coordinate in self.coordinates.items():
            yield f"{name}.reference", ("coordinates", name, "reference"), coordinate.reference
        for name, actuator in self.actuators.items():
            yield f"{name}.feedforward", ("actuators", name, "feedforward"), actuator.feedforward

    def numbers(self) -> Iterator[tuple[str, KeyPath, float]]:
        """Gains of the law by their names, then what belongs to coordinates, actuators and sensors by theirs."""
        if isinstance(self.law, LawChoice):
            yield from ((f"law.{tail}", ("law", *path), x) for tail, path, x in self.law.numbers())
        for address, path, motion in self.motions():
            yield from ((joined(address, tail), (*path, *way), x) for tail, way, x in motion.numbers())
        for section, fields in (("actuators", ("limit",)), ("sensors", ("delay", "resolution", "noise"))):
            for name, part in getattr(self, section).items():
                held = ((field, getattr(part, field)) for field in fields)
                yield from ((f"{name}.{field}", (section, name, field), x) for field, x in held if x is not None)
        changed = ((address, x) for address, x in self.model.items() if isinstance(x, float))
        yield from ((f"model.{address}", ("model", address), x) for address, x in changed)
        yield "settled", ("settled",), self.settled
        yield "regularisation", ("regularisation",), self.regularisation

    def tables(self) -> dict[str, Spline]:
        """The tables of references and feedforwards."""
        return {
            joined(address, tail): x for address, _, motion in self.motions() for tail, x in motion.tables().items()
        }

    def plain(self, brief: bool = False) -> Any:
        """As dictionaries; a law of one's own stays what it is."""
        made = super().plain(brief)
        return made | ({} if isinstance(self.law, LawChoice) else {"law": self.law})

    def problems(
        self, bodies: Sequence[str], joints: Mapping[str, Joint], points: Sequence[str]
    ) -> Iterator[tuple[KeyPath, str]]:
        """What refers to something that the mechanism does not have."""
        known: dict[str, tuple[str, set[str]]] = {}
        for moves in ("angle", "position"):
            able = " or ".join(kind for kind, joint in Joint.known.items() if joint.driven_along(moves))
            named = {name for name, joint in joints.items() if joint.moves == moves}
            known[moves] = f"{able} joint", named
        known["angle"] = f"body or {known['angle'][0]}", known["angle"][1] | set(bodies)
        known |= dict.fromkeys("xy", ("moving point or body", {*bodies, *points}))
        for section in ("coordinates", "actuators", "sensors"):
            for name, part in getattr(self, section).items():
                what, targets = part.among(known)
                if getattr(part, "side", None):
                    what, targets = "joint", set(joints)
                if part.of not in targets:
                    other = next((k for k, (_, have) in known.items() if part.of in have), None)
                    hint = (
                        f"; its kind is {other}"
                        if other and not getattr(part, "side", None)
                        else suggestion(part.of, sorted(targets))
                    )
                    yield ("control", section, name, "of"), f"no {what} {part.of!r}{hint}"
        for i, joint in enumerate(self.cut):
            if joint not in joints:
                yield ("control", "cut", i), f"no joint {joint!r}{suggestion(joint, sorted(joints))}"


def axis_of(of: Any) -> dict[str, Any]:
    """The kind of a coordinate and of what it is: "crank" is an angle, "slider.x" a place, a mapping what it says."""
    if not isinstance(of, str):
        return dict(of)
    head, dot, last = of.rpartition(".")
    return {"kind": last, "of": head} if dot and last in ("x", "y") else {"of": of}


def _name(axis: Mapping[str, Any], used: Mapping[str, Any]) -> str:
    kind = axis.get("kind", "angle")
    if not isinstance(axis.get("of"), str):
        raise ModelError(Problem(("control",), f"{dict(axis)} lacks 'of': a body, joint or point; several are a list"))
    name = axis["of"].replace(".", "_") + (f"_{kind}" if kind in ("x", "y") else "")
    if name in used:
        raise ModelError(Problem(("control",), f"{name!r} is given twice"))
    return name


def use(
    law: Any,
    of: str | Mapping[str, Any] | Sequence[Any],
    reference: Any = None,
    *,
    limit: Any = None,
    feedforward: Any = None,
    sensors: Any = None,
    actuators: Any = None,
    gravity: bool = False,
    model: Any = None,
    cut: Any = (),
    regularisation: float = 0.0,
    period: Any = None,
    settled: Any = 0.0,
    **gains: Any,
) -> Control:
    """A control loop with a law (its name, a Law, a plain function to be traced, or `sampled`) and its gains.

    Gains are given by name, or with the law: {"law": ..., "k1": 2000}, which is the way for one that is called as a
    field of the loop is, such as `settled`.

    of: the coordinate to be controlled and acted on, "crank" (an angle), "slider.x", {"kind": "position", "of": "J4"},
    or a list of them. reference, limit, feedforward: of each. actuators: where the torques act, if not along the
    coordinates. sensors: what is measured, if not the coordinates. The rest are fields of `Control`.
    """
    axes = [axis_of(one) for one in ([of] if isinstance(of, str | Mapping) else of)]
    coordinates: dict[str, Any] = {}
    for axis, wanted in zip(axes, _spread(reference, len(axes), "reference"), strict=True):
        coordinates[_name(axis, coordinates)] = axis if wanted is None else axis | {"reference": wanted}
    seen = {} if sensors is None else sensors
    if not isinstance(seen, Mapping) or "of" in seen:
        listed = [seen] if isinstance(seen, str | Mapping) else list(seen)
        seen = {f"sensor{i + 1}": axis_of(one) for i, one in enumerate(listed)}
    if isinstance(law, Sampled) and gains:
        text = "is no field of the loop, and a Python function has no gains; resolution and delay belong to sensors"
        raise ModelError(Problem(("control", next(iter(gains))), f"{text}{suggestion(next(iter(gains)), _FIELDS)}"))
    changes = model.addresses() if hasattr(model, "addresses") else model or {}
    return Control(
        law=law if isinstance(law, Sampled) else _with_gains(law, gains),
        coordinates=coordinates,
        actuators=_acting(axes, actuators, limit, feedforward),
        sensors=seen,
        gravity=gravity,
        model=changes,
        cut=cut,
        regularisation=regularisation,
        period=period,
        settled=settled,
    )


def _spread(given: Any, count: int, what: str) -> list[Any]:
    """One for each: a list of as many, or the same for all."""
    listed = list(given) if isinstance(given, list | tuple) else [given] * count
    if len(listed) != count:
        raise ModelError(Problem(("control", what), f"there are {len(listed)} for {count}; give one for each"))
    return listed


def _acting(axes: list[dict[str, Any]], actuators: Any, limit: Any, feedforward: Any) -> dict[str, Any]:
    """The actuators by name, with what limits and feeds each: along the coordinates, unless others are given."""
    acting, called = axes, None
    if isinstance(actuators, Mapping) and "of" not in actuators:  # by names of one's own
        acting, called = [dict(one) for one in actuators.values()], list(actuators)
    elif actuators is not None:
        acting = [axis_of(one) for one in ([actuators] if isinstance(actuators, str | Mapping) else actuators)]
    limits, fed = (_spread(x, len(acting), what) for x, what in ((limit, "limit"), (feedforward, "feedforward")))
    found: dict[str, Any] = {}
    for axis, most, ahead in zip(acting, limits, fed, strict=True):
        given = {"limit": most, "feedforward": ahead}
        name = called[len(found)] if called else _name(axis, found)
        found[name] = axis | {k: x for k, x in given.items() if x is not None}
    return found


def _with_gains(law: Any, gains: Mapping[str, Any]) -> dict[str, Any]:
    """The law with its gains as a mapping; refuses a gain by name that is called as a field of the loop is."""
    given = dict(law) if isinstance(law, Mapping) else {"law": law}
    twice = next((name for name in gains if name in given), None)
    if twice:
        raise ModelError(Problem(("control", twice), "is given twice; keep one"))
    function: Any = given.get("law")
    function = registry("control").get(function) if isinstance(function, str) else function
    if callable(function) and not isinstance(function, Law):
        function = Law(function, {}, {}, role="control")
    for name in function.parameters if isinstance(function, Law) and not isinstance(law, Mapping) else ():
        if name in _FIELDS:
            text = f"is a gain of {function.name!r} and a field of the loop; give gains with the law: "
            raise ModelError(Problem(("control", name), f"{text}{{'law': {function.name}, {name!r}: ...}}"))
    return given | dict(gains)


_FIELDS = frozenset(use.__kwdefaults__ or ())


def sampled(function: Callable[..., Any], of: Any, reference: Any = None, *, period: Any, **fields: Any) -> Control:
    """A control loop of any Python callable, `function(time, values, rates, references, reference_rates)`, called once
    a period (s); fields: as in `use`, such as sensors={"encoder": {"of": "crank", "delay": 1e-3}}."""
    return use(Sampled(function), of, reference, period=period, **fields)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):  # the import system asks; laws are loaded when one is named
        raise AttributeError(name)
    known = registry("control")
    if name not in known:
        raise AttributeError(f"no controller {shorten(name)}{suggestion(name, known)}")

    def make(of: Any, reference: Any = None, **fields: Any) -> Control:
        return use(name, of, reference, **fields)

    make.__name__, make.__doc__ = name, known[name].__doc__
    return make
