"""What every part of a model shares: numbers with a dimension, frozen values, one kind out of several."""

from __future__ import annotations

import contextlib
import contextvars
import math
import numbers
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, get_args

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError, model_validator
from pydantic_core import PydanticCustomError, core_schema

from .errors import KeyPath as KeyPath
from .errors import ModelError as ModelError
from .errors import Problem as Problem
from .errors import problems_of as problems_of
from .errors import refuse as refuse
from .errors import refuse_all as refuse_all
from .errors import suggestion as suggestion
from .units import (
    INERTIA,
    STIFFNESS,
    TORSIONAL_STIFFNESS,
    Dimension,
    UnitError,
    number_form,
    parse_quantity,
    shorten,
)

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)

LARGEST, SMALLEST = 1e30, 1e-30  # in SI units: beyond, numbers only overflow
NAME = re.compile(r"[^\W\d][\w-]*")


class Frozen(dict[str, Any]):
    """A dictionary that cannot change, so that a mechanism stays the value it is."""

    def _fixed(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("a model is a value; use replace or with_ to get a changed copy")

    __setitem__ = __delitem__ = update = pop = popitem = clear = setdefault = __ior__ = _fixed

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> Any:
        return Frozen, (dict(self),)

    def __deepcopy__(self, memo: Any) -> Frozen:
        return self


class ByName:
    """Annotation of a dictionary by names of elements (if nested, with dots) or points; it comes out frozen."""

    def __init__(self, reserved: Iterable[str] = (), nested: bool = False) -> None:
        self.reserved, self.nested = frozenset(reserved), nested

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        def check(raw: Any, inner: Callable[[Any], Any]) -> Frozen:
            if raw is None:  # `forces:` with nothing below it
                raw = {}
            if not isinstance(raw, Mapping):
                refuse(f"must be a mapping (name: value), got {shorten(raw)}")
            for name in raw:
                parts = name.split(".") if isinstance(name, str) and self.nested else [name]
                if not all(isinstance(part, str) and NAME.fullmatch(part) for part in parts):
                    refuse("a name must be a letter followed by letters, digits, _ or -", str(name))
                if not self.reserved.isdisjoint(parts):
                    refuse("this name is reserved; choose another", name)
            return Frozen(inner(dict(raw)))

        return core_schema.no_info_wrap_validator_function(check, handler(source))


_value_dimension: contextvars.ContextVar[Dimension | None] = contextvars.ContextVar("value_dimension", default=None)


class Quantity:
    """Annotation of a number: its dimension and bounds.  It takes numbers in SI units and unit strings."""

    def __init__(
        self,
        dimension: Dimension,
        *,
        above: float | None = None,
        at_least: float | None = None,
        at_most: float | None = None,
        zero: bool = True,
    ) -> None:
        self.dimension, self.above, self.at_least, self.zero = dimension, above, at_least, zero
        self.at_most = at_most

    def wanted(self) -> Dimension | None:
        """The dimension, where it is known."""
        return self.dimension

    def read(self, raw: Any) -> float:
        """The SI number, or an error that says what is wrong with it."""
        dimension = self.wanted()
        unit = dimension.unit if dimension else ""
        if isinstance(raw, str) and dimension is None:
            refuse(f"must be a plain number in SI units: units are known only in a file or drive, got {shorten(raw)}")
        if isinstance(raw, str):
            assert dimension is not None
            try:
                number, shown = parse_quantity(raw, dimension), raw.strip()
            except UnitError as error:
                refuse(str(error))
            if unit and re.fullmatch(r"[-+.0-9eE]+", shown):
                shown += f" {unit}"
        elif isinstance(raw, numbers.Real) and not isinstance(raw, bool):
            number = float(raw)
            shown = f"{number!r} {unit}".strip()
        else:
            refuse(f"must be {number_form(unit)}, got {shorten(raw)}")
        if not math.isfinite(number):
            refuse(f"must be finite, got {number}")
        if self.above is not None and not number > self.above:
            refuse(f"must be > {self.above:g}, got {shown}")
        if self.at_least is not None and not number >= self.at_least:
            refuse(f"must be >= {self.at_least:g}, got {shown}")
        if self.at_most is not None and not number <= self.at_most:
            refuse(f"must be <= {self.at_most:g}, got {shown}")
        if abs(number) > LARGEST:
            refuse(f"must be at most {LARGEST:g}{' in size' * (number < 0)}, got {shown}; is its unit right?")
        if 0 < abs(number) < SMALLEST and (self.above == 0 or dimension in (INERTIA, STIFFNESS, TORSIONAL_STIFFNESS)):
            refuse(f"must be at least {SMALLEST:g}, got {shown}; is its unit right?")
        if not self.zero and number == 0:
            refuse(f"must not be 0, got {shown}")
        return number

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: Any, handler: GetJsonSchemaHandler) -> Any:
        return self.as_schema()

    def as_schema(self) -> dict[str, Any]:
        """The number in a JSON schema, plain or with its unit."""
        number: dict[str, Any] = {"type": "number"}
        if self.above is not None:
            number["exclusiveMinimum"] = self.above
        if self.at_least is not None:
            number["minimum"] = self.at_least
        if self.at_most is not None:
            number["maximum"] = self.at_most
        text = {"type": "string", "pattern": r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"}
        return {"anyOf": [number, text], "description": self.describe()}

    def describe(self) -> str:
        """For the schema: what this number is."""
        name, unit = self.dimension
        return f"{name}; a plain number is in {unit}" if unit else name


class InUse(Quantity):
    """A number of a motion, whose dimension is that of what moves, `order` times per time."""

    def __init__(self, order: int = 0, **bounds: Any) -> None:
        super().__init__(Dimension("", ""), **bounds)
        self.order = order

    def wanted(self) -> Dimension | None:
        given = _value_dimension.get()
        return given.per_time(self.order) if given else None

    def describe(self) -> str:
        return "in the unit of what it prescribes" + (f", per s^{self.order}" if self.order else "")


class Several:
    """Annotation of a tuple of numbers: a pair (x, y) if `names` is given, else any count."""

    def __init__(self, number: Quantity | Callable[[int], Quantity], names: str = "", least: int = 1) -> None:
        self.number, self.names, self.least = number, names, least

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        def check(raw: Any) -> tuple[float, ...]:
            listed = None if isinstance(raw, str | Mapping) or not isinstance(raw, Iterable) else list(raw)
            if self.names and (listed is None or len(listed) != len(self.names)):
                refuse(f"must be [{', '.join(self.names)}], got {shorten(raw)}")
            if listed is None or len(listed) < self.least:
                refuse(f"must be a list of at least {self.least} numbers, got {shorten(raw)}")
            read, problems = [], []
            for i, entry in enumerate(listed):
                try:
                    read.append(self.of(i).read(entry))
                except PydanticCustomError as error:
                    problems.append(((i,), str(error)))
            refuse_all(problems)
            return tuple(read)

        return core_schema.no_info_plain_validator_function(check)

    def of(self, index: int) -> Quantity:
        """What the number at this index is."""
        return self.number if isinstance(self.number, Quantity) else self.number(index)

    def __get_pydantic_json_schema__(self, schema: Any, handler: GetJsonSchemaHandler) -> Any:
        size = {"minItems": len(self.names) or self.least} | ({"maxItems": len(self.names)} if self.names else {})
        return {"type": "array", "items": self.of(0).as_schema(), **size}


@contextlib.contextmanager
def in_units_of(dimension: Dimension) -> Iterator[None]:
    """Read numbers whose unit depends on what uses them (`InUse`) in this dimension."""
    token = _value_dimension.set(dimension)
    try:
        yield
    finally:
        _value_dimension.reset(token)


class OneOf:
    """Annotation of parts that differ in `kind`: a union of them, or a class whose `kinds()` knows all that there are
    at the time.  Errors stay where they are and know the kinds."""

    classes: Callable[[], Mapping[str, Any]]

    def __init__(self, what: str, dimension: Dimension | None = None) -> None:
        self.what, self.dimension = what, dimension

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        own = hasattr(source, "kinds")  # open to kinds of a user's own
        listed = {} if own else {c.model_fields["kind"].default: c for c in get_args(source) or (source,)}
        self.classes = source.kinds if own else lambda: listed

        def pick(raw: Any) -> Any:
            classes = self.classes()
            if isinstance(raw, source):
                return raw
            if self.what == "motion" and isinstance(raw, str | numbers.Real):
                return classes["constant"].model_validate({"value": raw})
            if self.what == "motion" and callable(raw) and not isinstance(raw, Mapping):
                return classes["function"].model_validate({"function": raw})
            if not isinstance(raw, Mapping):
                if isinstance(raw, str) and raw in classes:
                    refuse(f"write {{kind: {raw}}}, with its other keys in the same braces; got {shorten(raw)}")
                refuse(f"must be a {self.what} such as {{kind: {next(iter(classes))}}}, got {shorten(raw)}")
            if "kind" not in raw:
                refuse("is missing; one of " + ", ".join(classes), "kind")
            kind = raw["kind"]
            if not isinstance(kind, str) or kind not in classes:
                hint = suggestion(kind, classes)
                hint += "; one of your own is loaded by --with FILE" if own and "did you mean" not in hint else ""
                refuse(f"unknown kind {shorten(kind)}{hint}", "kind")
            return classes[kind].model_validate(raw)

        def check(raw: Any) -> Any:
            if self.dimension is None:
                return pick(raw)
            with in_units_of(self.dimension):
                return pick(raw)

        # Each kind validates itself; its schema is not built again into every field (a fifth of the import time).
        return core_schema.no_info_plain_validator_function(check)

    def __get_pydantic_json_schema__(self, schema: Any, handler: GetJsonSchemaHandler) -> Any:
        # pydantic knows no reference to what it did not make itself: files.schema turns x-part into one.
        short = [{"type": "number"}, {"type": "string"}] if self.what == "motion" else []
        names = [c.__name__ for c in self.classes().values() if c.__name__ != "Function"]  # not in files
        return {"anyOf": [*short, *({"x-part": name} for name in names)]}


class _Direct(ModelMetaclass):
    """Makes a part built in Python raise ModelError; parts inside parts are validated without passing here."""

    def __call__(cls: Any, *args: Any, **named: Any) -> Any:
        try:
            return super().__call__(*args, **named)
        except ValidationError as error:
            raise ModelError(*(p._replace(path=(*cls._title(), *p.path)) for p in problems_of(error))) from None


class Part(BaseModel, metaclass=_Direct):
    """A frozen part of a mechanism: equal if its numbers are equal, never changed in place."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    also: ClassVar[tuple[str, ...]] = ()  # keys that a part reads and keeps in other fields

    @classmethod
    def _title(cls) -> KeyPath:
        kind = cls.model_fields.get("kind")
        return (kind.default if kind else cls.__name__.lower(),)

    @model_validator(mode="before")
    @classmethod
    def _keys(cls, raw: Any) -> Any:
        if isinstance(raw, Mapping):
            known = [field.alias or name for name, field in cls.model_fields.items()]
            unknown = [key for key in raw if key not in known]
            known += cls.also
            refuse_all([((str(key),), f"unknown key{suggestion(key, known)}") for key in unknown])
        return raw

    def plain(self, brief: bool = False) -> Any:
        """The part as dictionaries, lists and numbers, from which it can be made again; brief: without defaults."""
        defaults = {f.alias or name: f.default for name, f in type(self).model_fields.items()}
        return {
            key: plain(value, brief)
            for key, value in self.given()
            if value is not None and not (brief and key != "kind" and value == defaults[key])
        }

    def given(self) -> Iterator[tuple[str, Any]]:
        """Keys (as in a file) and values of the part's fields."""
        for name, field in type(self).model_fields.items():
            yield field.alias or name, getattr(self, name)

    def numbers(self) -> Iterator[tuple[str, KeyPath, float]]:
        """Every number: its address within the part, the keys that lead to it in `plain()`, and its value."""
        for key, value in self.given():
            if isinstance(value, float):
                yield key, (key,), value
            elif isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], float):
                yield from ((f"{key}.{axis}", (key, i), value[i]) for i, axis in enumerate("xy"))
            elif isinstance(value, Part):
                yield from ((joined(key, tail), (key, *path), x) for tail, path, x in value.numbers())


def joined(key: str, tail: str) -> str:
    """The address of a number of a motion or contact: neither is said (`drive.speed`, `J2.friction`), and a constant
    is its field itself."""
    return tail or "value" if key in ("motion", "contact") else f"{key}.{tail}" if tail else key


def plain(value: Any, brief: bool = False) -> Any:
    """A value of a part as dictionaries, lists and numbers."""
    if isinstance(value, Part):
        return value.plain(brief)
    if isinstance(value, Mapping):
        return {key: plain(entry, brief) for key, entry in value.items()}
    return [plain(entry, brief) for entry in value] if isinstance(value, tuple | list) else value
