"""Bodies with named points, bars among them, and the ground."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field, model_validator

from ..parts.part import ByName, Frozen, KeyPath, Part, Quantity, Several, refuse
from ..parts.units import INERTIA, LENGTH, MASS

PlaneVector = tuple[float, float]
PlanePoint = Annotated[PlaneVector, Several(Quantity(LENGTH), "xy")]
# "crank.mass" must not be a point, "crank.x" not two things.
RESERVED = ("mass", "inertia", "length", "bar", "centre", "points", "x", "y", "angle", "rate", "counterweight")


class Counterweight(Part):
    """A mass (kg) fixed to a body at a place in its frame (m), with an inertia about its own centre (kg m^2)."""

    mass: Annotated[float, Quantity(MASS, at_least=0)] = 0.0
    x: Annotated[float, Quantity(LENGTH)] = 0.0
    y: Annotated[float, Quantity(LENGTH)] = 0.0
    inertia: Annotated[float, Quantity(INERTIA, at_least=0)] = 0.0


class Body(Part):
    """A rigid body: mass (kg), moment of inertia about its mass centre (kg m^2), named points in its own frame (m).

    A body with a length is a bar: its frame starts at the point `start`, its x axis points to `end`, and unless
    said otherwise it is uniform (mass centre in the middle, inertia m L^2/12, also when mass or length change).
    Without a length the mass centre is the frame's origin unless said otherwise.  A `counterweight` is fixed to it:
    mass, inertia and centre are those without it.
    """

    bar: Annotated[float, Quantity(LENGTH, above=0)] | None = None
    mass: Annotated[float, Quantity(MASS, above=0)]
    given_inertia: Annotated[float, Quantity(INERTIA, at_least=0)] | None = Field(None, alias="inertia")
    given_centre: PlanePoint | None = Field(None, alias="centre")
    points: Annotated[dict[str, PlanePoint], ByName(RESERVED)] = Frozen()
    counterweight: Counterweight | None = None

    @model_validator(mode="before")
    @classmethod
    def _spelling(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and "length" in raw:
            refuse("a bar of this length is written `bar: 100 mm`", "length")
        return raw

    @model_validator(mode="after")
    def _whole(self) -> Body:
        if self.bar is None and self.given_inertia is None:
            refuse("is missing; give kg*m^2 about the mass centre (only a uniform bar has a default)", "inertia")
        if self.bar is not None:
            for name in ("start", "end"):
                if name in self.points:
                    refuse("is already a point of the bar; choose another name", "points", name)
            if self.given_inertia is None and self.centre != (0.5 * self.bar, 0.0):
                refuse("is missing; a bar whose mass centre is not in its middle has no default", "inertia")
        return self

    @property
    def length(self) -> float | None:
        """Of a bar, from start to end (m)."""
        return self.bar

    @property
    def inertia(self) -> float:
        """About the mass centre (kg m^2)."""
        return self.mass * (self.bar or 0.0) ** 2 / 12 if self.given_inertia is None else self.given_inertia

    @property
    def centre(self) -> PlaneVector:
        """The mass centre in the body's frame (m)."""
        return (0.5 * (self.bar or 0.0), 0.0) if self.given_centre is None else self.given_centre

    def all_points(self) -> dict[str, PlaneVector]:
        """Every named point in the body's frame (m): those given, `centre`, and of a bar `start` and `end`."""
        ends = {} if self.bar is None else {"start": (0.0, 0.0), "end": (self.bar, 0.0)}
        return {**ends, **self.points, "centre": self.centre}

    def whole(self) -> tuple[float, PlaneVector, float]:
        """Mass (kg), mass centre (m, in the frame) and inertia about it (kg m^2), the counterweight included."""
        added = self.counterweight
        if added is None or not added.mass:
            return self.mass, self.centre, self.inertia + (added.inertia if added else 0.0)
        loaded = self.loaded(added.mass, (added.x, added.y))
        return loaded.mass, loaded.centre, loaded.inertia + added.inertia

    def arm(self, point: str) -> PlaneVector:
        """A named point as seen from the mass centre, the counterweight included, in the body's axes (m)."""
        (x, y), (cx, cy) = self.all_points()[point], self.whole()[1]
        return x - cx, y - cy

    def loaded(self, mass: float, at: PlaneVector) -> Body:
        """This body with a point mass (kg) fixed to it at a place in its frame (m).

        >>> bar(2.0, mass=1.0).loaded(1.0, (2.0, 0.0)).centre
        (1.5, 0.0)
        """
        (cx, cy), (x, y), total = self.centre, at, self.mass + mass
        centre = ((self.mass * cx + mass * x) / total, (self.mass * cy + mass * y) / total)
        inertia = self.inertia + self.mass * mass / total * ((x - cx) ** 2 + (y - cy) ** 2)
        return Body(bar=self.bar, mass=total, inertia=inertia, centre=centre, points=self.points)

    def numbers(self) -> Iterator[tuple[str, KeyPath, float]]:
        """Mass, inertia, centre and points, with the values in force where none are given."""
        if self.bar is not None:
            yield "length", ("bar",), self.bar
        yield "mass", ("mass",), self.mass
        yield "inertia", ("inertia",), self.inertia
        yield from ((f"centre.{axis}", ("centre", i), self.centre[i]) for i, axis in enumerate("xy"))
        yield from _coordinates(self.points)
        if self.counterweight is not None:
            added = self.counterweight.numbers()
            yield from ((f"counterweight.{key}", ("counterweight", *path), x) for key, path, x in added)


class Ground(Part):
    """What does not move, with named points in global coordinates (m)."""

    points: Annotated[dict[str, PlanePoint], ByName(RESERVED)] = Frozen()

    def all_points(self) -> dict[str, PlaneVector]:
        """Every named point (m)."""
        return dict(self.points)

    def numbers(self) -> Iterator[tuple[str, KeyPath, float]]:
        """The coordinates of the points."""
        yield from _coordinates(self.points)


def _coordinates(points: dict[str, PlaneVector]) -> Iterator[tuple[str, KeyPath, float]]:
    for name, place in points.items():
        yield from ((f"{name}.{axis}", ("points", name, i), place[i]) for i, axis in enumerate("xy"))


def bar(
    length: float,
    mass: float,
    inertia: float | None = None,
    centre: PlaneVector | None = None,
    points: dict[str, PlaneVector] | None = None,
) -> Body:
    """A bar from `start` to `end` (length in m): uniform unless inertia (kg m^2) or centre (m, from start) are given.

    >>> bar(2.0, mass=3.0).inertia
    1.0
    """
    return Body(bar=length, mass=mass, inertia=inertia, centre=centre, points=points or {})
