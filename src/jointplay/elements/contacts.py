"""How a contact behaves: permanent, rigid or compliant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from ..laws import Law
from ..parts.choices import MODULUS, Chosen, LawChoice
from ..parts.part import ModelError, OneOf, Part, Problem, Quantity, refuse
from ..parts.units import LENGTH, MASS, NUMBER, SPEED

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


Contact = Annotated[Following | Rigid | Compliant, OneOf("contact")]


def _sided(raw: Any) -> Any:
    if isinstance(raw, Following) or (isinstance(raw, Mapping) and raw.get("kind") == "following"):
        from .kinds import Joint

        able = [name for name, joint in Joint.known.items() if getattr(joint, "pushing", "")]
        text = f"only a {' or '.join(able)} joint can have permanent contact (following)"
        refuse(f"{text}; use a rigid one, such as {{kind: rigid}}")
    return raw


SidedContact = Annotated[Rigid | Compliant, OneOf("contact"), BeforeValidator(_sided)]
