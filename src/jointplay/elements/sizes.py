"""The ways to say how large a clearance is: itself, two radii, two diameters, or a fit."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from pydantic_core import PydanticCustomError

from ..parts.fits import PATTERN, PLACES, FitError, parse_fit
from ..parts.part import Quantity, refuse
from ..parts.units import LENGTH

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
    data = {key: value for key, value in raw.items() if key not in others or key == "at"}
    if "fit" in raw:
        return data | _fitted(raw, inner)
    if "at" in raw and [*given] == ["clearance"]:
        return raw  # kept for a fit that is given later
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
    if inner in raw:
        refuse("is already given by the fit; keep one", inner)
    try:
        fit = parse_fit(raw["fit"])
    except FitError as error:
        refuse(str(error), "fit")
    try:
        clearance = fit.clearance(raw.get("at", "mean"))
    except FitError as error:
        refuse(str(error), "at")
    return {"clearance": clearance, inner: fit.radius}


def _length(raw: Mapping[str, Any], key: str) -> float:
    try:
        return _LENGTH.read(raw[key])
    except PydanticCustomError as error:
        refuse(str(error), key)


_LENGTH = Quantity(LENGTH, at_least=0)


def sized_schema(others: tuple[str, ...], inner: str) -> Any:
    """For the JSON schema of a joint: the keys that stand for its clearance and its inner radius."""

    def extend(schema: dict[str, Any]) -> None:
        known = dict.fromkeys(others, _LENGTH.as_schema()) | {
            "fit": {"type": "string", "pattern": PATTERN, "description": "ISO 286 fit, such as 20 H7/g6"},
            "at": {"enum": list(PLACES), "default": "mean", "description": "where in the tolerances of the fit"},
        }
        schema["properties"].update(known)
        needs = {"bearing_radius": "journal_radius", "journal_diameter": "bearing_diameter"}
        needs |= {"bearing_diameter": "journal_diameter"}
        schema["dependentRequired"] = {key: [needs[key]] for key in others if key in needs}
        ways = [key for key in ("clearance", *others) if key not in ("at", "bearing_diameter")]
        pairs = [[a, b] for i, a in enumerate(ways) for b in ways[i + 1 :]]
        schema["allOf"] = [{"not": {"required": pair}} for pair in [*pairs, ["fit", inner]]]

    return extend
