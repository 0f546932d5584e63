"""How a joint with play behaves: the contact that closes its clearance, and the ways to say how large it is."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from ..laws import Law
from .choices import MODULUS, Chosen, LawChoice
from .fits import PATTERN, PLACES, FitError, parse_fit
from .parts import ModelError, OneOf, Part, Problem, Quantity, refuse
from .units import LENGTH, MASS, NUMBER, SPEED

if TYPE_CHECKING:
    from ..laws.materials import Numbers


class Following(Part):
    """Permanent contact: the clearance is a massless link (Grigore et al.).

    The link can only push.  Where it would begin to pull, contact is lost: the run stops there, or continues as the
    bilateral model, marked.
    """

    kind: Literal["following"] = "following"
    on_loss: Literal["stop", "continue"] = "stop"


class Rigid(Part):
    """Unilateral contact with Newton's restitution and Coulomb's friction, plain numbers; sticking may hold more
    than sliding by a static friction of its own."""

    kind: Literal["rigid"] = "rigid"
    restitution: Annotated[float, Quantity(NUMBER, at_least=0, at_most=1)] = 0.0
    friction: Annotated[float, Quantity(NUMBER, at_least=0)] = 0.0
    static_friction: Annotated[float, Quantity(NUMBER, at_least=0)] | None = None

    @model_validator(mode="after")
    def _holds_more(self) -> Rigid:
        if self.static_friction is not None and self.static_friction < self.friction:
            refuse(f"must be >= friction, which is {self.friction!r}, got {self.static_friction!r}", "static_friction")
        return self


_MATERIAL = {
    "young": Quantity(MODULUS, above=0),
    "poisson": Quantity(NUMBER, above=-1, at_most=0.5),
    "journal_radius": Quantity(LENGTH, above=0),
    "clearance": Quantity(LENGTH, above=0),
    "length": Quantity(LENGTH, above=0),
    "mass": Quantity(MASS, above=0),
    "speed": Quantity(SPEED, above=0),
    "other_young": Quantity(MODULUS, above=0),
    "other_poisson": Quantity(NUMBER, above=-1, at_most=0.5),
    "restitution": Quantity(NUMBER, above=0, at_most=1),
}


class Compliant(Part):
    """Bodies that press into each other: a normal law of the depth, and a friction law of the slip (or none).

    Each is the name of a law (`laws.normal.NORMAL`, `laws.friction.FRICTION`), a Law of one's own, or a mapping of
    `law` and its parameters; what is not given has the law's default.  In a gear the depth is an angle (rad) and the
    force a torque (N m), so its parameters are plain numbers.

    >>> Compliant(normal={"law": "hunt_crossley", "stiffness": "1e5 N/mm^1.5"}).normal.values["restitution"]
    0.9
    """

    kind: Literal["compliant"] = "compliant"
    normal: Annotated[LawChoice, Chosen("normal")] = Field("exact_restitution", validate_default=True)
    friction: Annotated[LawChoice, Chosen("friction")] | None = None

    if TYPE_CHECKING:  # what the fields take, rather than what they hold

        def __init__(self, *, normal: Any = "exact_restitution", friction: Any = None) -> None: ...

    def laws(self) -> Mapping[str, LawChoice]:
        """The laws by what they are for: normal, and friction if there is one."""
        return {"normal": self.normal} | ({"friction": self.friction} if self.friction else {})

    @classmethod
    def from_material(
        cls,
        young: float | str,
        poisson: float,
        *,
        journal_radius: float | str,
        clearance: float | str,
        mass: float | str,
        speed: float | str,
        length: float | str | None = None,
        other_young: float | str | None = None,
        other_poisson: float | None = None,
        restitution: float = 0.9,
        law: str | Law = "exact_restitution",
        friction: Any = None,
    ) -> tuple[Compliant, Numbers]:
        """The contact of a journal and its bearing by their material, and a table of the numbers and their sources.

        young (Pa) and poisson of the first body, other_young and other_poisson of the second if it differs;
        journal_radius, clearance, and for cylindrical laws the length of the bearing (m); mass (kg): the smaller of
        the two bodies', or m1 m2/(m1 + m2); speed (m/s): of a typical impact.  Unit strings are read.

        >>> contact, numbers = Compliant.from_material(
        ...     "207 GPa", 0.3, journal_radius="10 mm", clearance="0.5 mm", mass=1.0, speed="0.1 m/s")
        >>> print(f"{numbers['stiffness']:.6e}")
        6.949401e+10
        """
        from ..laws import materials

        given: dict[str, Any] = dict(young=young, poisson=poisson, journal_radius=journal_radius, clearance=clearance)
        given |= dict(mass=mass, speed=speed, length=length, other_young=other_young, other_poisson=other_poisson)
        read, problems = {}, []
        for key, raw in {**given, "restitution": restitution}.items():
            try:
                read[key] = None if raw is None else _MATERIAL[key].read(raw)
            except PydanticCustomError as error:
                problems.append(Problem(("from_material", key), str(error)))
        if problems:
            raise ModelError(*problems)
        chosen = cls(normal=law).normal.law
        try:
            values, numbers = materials.from_material(chosen, **read)  # type: ignore[arg-type]
        except ValueError as error:
            raise ModelError(Problem(("from_material",), str(error))) from None
        return cls(normal={"law": law, **values}, friction=friction), numbers

    @classmethod
    def from_adams(
        cls, stiffness: float, exponent: float, damping: float, dmax: float, friction: Any = None
    ) -> Compliant:
        """The contact that ADAMS calls IMPACT, from its numbers in mm and N: stiffness (N/mm^exponent), exponent,
        damping (N s/mm), dmax (mm).

        >>> round(Compliant.from_adams(1e5, 1.5, 58.0, 0.1).normal.values["stiffness"], -4)
        3162280000.0
        """
        from ..laws import materials

        values = materials.from_adams(stiffness, exponent, damping, dmax)
        return cls(normal={"law": "adams_impact", **values}, friction=friction)

    def adams(self) -> dict[str, float]:
        """What to give IMPACT of ADAMS in mm and N: stiffness, exponent, damping, dmax."""
        from ..laws import materials

        if self.normal.name != "adams_impact":
            text = f"only adams_impact is IMPACT of ADAMS, and this is {self.normal.law.name}"
            raise ModelError(Problem(("compliant", "normal", "law"), text))
        return materials.to_adams(self.normal.values)


def _sided(raw: Any) -> Any:
    if isinstance(raw, Following) or (isinstance(raw, Mapping) and raw.get("kind") == "following"):
        refuse("only a revolute joint can have a following contact; use a rigid one, such as {kind: rigid}")
    return raw


def _angular(raw: Any) -> Any:
    if isinstance(raw, Mapping) and raw.get("kind") == "compliant":
        if raw.get("friction") is not None:
            refuse("a gear's play has no friction; leave it out", "friction")
        normal = raw.get("normal")
        for key, given in normal.items() if isinstance(normal, Mapping) else ():
            if key != "law" and isinstance(given, str) and _united(given):
                refuse(f"the depth is an angle in a gear: must be a plain number in N m and rad, got {given!r}",
                       "normal", key)  # fmt: skip
    elif isinstance(raw, Compliant) and raw.friction is not None:
        refuse("a gear's play has no friction; leave it out", "friction")
    return raw


def _united(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return True
    return False


Contact = Annotated[Following | Rigid | Compliant, OneOf("contact")]
SidedContact = Annotated[Rigid | Compliant, OneOf("contact"), BeforeValidator(_sided)]
AngularContact = Annotated[Rigid | Compliant, OneOf("contact"), BeforeValidator(_sided), BeforeValidator(_angular)]

_WAYS = {"clearance": "clearance", "bearing_radius": "two radii", "fit": "fit"}
_WAYS |= {"journal_diameter": "two diameters", "bearing_diameter": "two diameters"}
FIT = ("fit", "at")
SIZES = ("bearing_radius", "journal_diameter", "bearing_diameter", *FIT)


def sized(raw: Any, inner: str, others: tuple[str, ...]) -> Any:
    """The fields of a joint with its clearance and inner radius (m) in place of two radii, two diameters or a fit."""
    if not isinstance(raw, Mapping) or not any(key in raw for key in others):
        return raw
    given = {way: key for key, way in _WAYS.items() if key in raw and key in ("clearance", *others)}
    if len(given) > 1:
        first, second = list(given)[:2]
        refuse(f"the clearance is given twice, by {first} and by {second}; keep one", given[second])
    data = {key: value for key, value in raw.items() if key not in others}
    if "fit" in raw:
        return data | _fitted(raw, inner)
    if "at" in raw:
        refuse("is the place in a fit; give a fit, such as fit: 20 H7/g6", "at")
    unit = "diameter" if "two diameters" in given else "radius"
    journal, bearing = f"journal_{unit}", f"bearing_{unit}"
    for key, other in ((journal, bearing), (bearing, journal)):
        if key not in raw:
            refuse(f"is missing; {other} alone gives no clearance", key)
    if unit == "diameter" and inner in raw:
        refuse("is already given by journal_diameter; keep one", inner)
    small, large = _length(raw, journal), _length(raw, bearing)
    if small > large:
        refuse(f"the journal ({small!r} m) is larger than its bearing ({large!r} m)", bearing)
    # Decimal numbers as they are written: 61 mm - 60 mm is 1 mm to the last bit.
    parts = 2 if unit == "diameter" else 1
    play = (Fraction(repr(large)) - Fraction(repr(small))) / parts
    return data | {"clearance": float(play), inner: float(Fraction(repr(small)) / parts)}


def _fitted(raw: Mapping[str, Any], inner: str) -> dict[str, Any]:
    try:
        fit = parse_fit(raw["fit"])
    except FitError as error:
        refuse(str(error), "fit")
    try:
        clearance = fit.clearance(raw.get("at", "mean"))
    except FitError as error:
        refuse(str(error), "at")
    return {"clearance": clearance, inner: raw.get(inner, fit.radius)}


def _length(raw: Mapping[str, Any], key: str) -> float:
    try:
        return _LENGTH.read(raw[key])
    except PydanticCustomError as error:
        refuse(str(error), key)


_LENGTH = Quantity(LENGTH, at_least=0)


def sized_schema(others: tuple[str, ...]) -> Any:
    """For the JSON schema of a joint: the keys that stand for its clearance."""

    def extend(schema: dict[str, Any]) -> None:
        known = dict.fromkeys(others, _LENGTH.as_schema()) | {
            "fit": {"type": "string", "pattern": PATTERN, "description": "ISO 286 fit, such as 20 H7/g6"},
            "at": {"enum": list(PLACES), "default": "mean", "description": "where in the tolerances of the fit"},
        }
        schema["properties"].update(known)
        needs = {"bearing_radius": "journal_radius", "journal_diameter": "bearing_diameter", "at": "fit"}
        needs |= {"bearing_diameter": "journal_diameter"}
        schema["dependentRequired"] = {key: [needs[key]] for key in others if key in needs}
        ways = [key for key in ("clearance", *others) if key not in ("at", "bearing_diameter")]
        pairs = [[a, b] for i, a in enumerate(ways) for b in ways[i + 1 :]]
        schema["allOf"] = [{"not": {"required": pair}} for pair in pairs]

    return extend
