"""A design must leave the motion as it is: nothing may hang on a mass centre that it moves."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InputError
from ..model.mechanism import Mechanism
from .adjust import Adjustable


def keep_places(mechanism: Mechanism, adjusted: Sequence[Adjustable]) -> None:
    """Refuse what would move a point that an element is at (`BODY.centre`), or a mass centre that a drive
    prescribes."""
    bodies = {one.element: mechanism.split(one.element) for one in adjusted}
    centred = {body for body, part in bodies.values() if part.startswith("centre.")}
    weighed = {body for body in mechanism.bodies if (w := mechanism.bodies[body].counterweight) and w.mass}
    moved = {one.element for one in adjusted if one.kind == "counterweight"} | centred
    moved |= {body for body, part in bodies.values() if part == "mass" and body in weighed}
    for kind in ("joints", "forces", "drives"):
        for name, element in getattr(mechanism, kind).items():
            for _, to, reference in element.references():
                (body, point), what = mechanism.split(reference), f"{kind[:-1]} {name!r}"
                if point == "centre" and body in centred:
                    x, y = mechanism.bodies[body].centre
                    raise InputError(
                        f"adjust {body}.centre: {what} is at the point {reference}, which would move with it; "
                        f"give {body} a point of its own at [{x:g}, {y:g}] and put {name!r} there"
                    )
                if to == "moving" and not point and body in moved:
                    x, y = mechanism.bodies[body].whole()[1]
                    raise InputError(
                        f"adjust {body}: {what} prescribes the mass centre of {body}, which a design moves, and with "
                        f"it the motion; give {body} a point at [{x:g}, {y:g}] and write of: {body}.POINT"
                    )
