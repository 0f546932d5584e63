"""What a mechanism may say but hardly means: warnings, never refusals."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..elements import Compliant
from ..elements.sized import mm
from ..laws.materials import contact_modulus, hertz_stiffness
from .mechanism import Mechanism

LOOSEST = 1 / 3  # of the shortest body: a greater clearance is hardly meant
UNLIKE = 200.0  # times longer than any other body: hardly meant
LONGEST = 100.0  # m: a longer body is hardly meant
UNIT = "a number without a unit is in metres"
STEEL = contact_modulus(210e9, 0.3)  # Pa
TURNS = 2 * math.tau  # rad: an angle at the start that is more was hardly meant in rad


def implausible(mechanism: Mechanism) -> list[str]:
    """What the joints find doubtful in themselves, a line each."""
    return [text for name, joint in mechanism.joints.items() for text in joint.doubts(name)]


def assumed(mechanism: Mechanism) -> Iterator[str]:
    """Compliant contacts with the stiffness that their law has if none is given, beside that of steel pins."""
    for name, joint in mechanism.loose(Compliant).items():
        choice = joint.contact.normal
        stiffness, exponent = choice.values.get("stiffness"), choice.values.get("exponent", 1.0)
        if stiffness is None or stiffness != choice.law.own["stiffness"]:
            continue
        unit = f"N/m^{exponent:g}" if joint.play_unit == "m" else f"N m/rad^{exponent:g}"
        radius, steel = getattr(joint, "journal_radius", 0.0), ""
        if radius > 0 and exponent == 1.5:
            like = hertz_stiffness(STEEL, radius, joint.looseness)
            steel = f"; by Hertz steel on steel of this size has {like:.2g} {unit}"
        yield (
            f"joint {name!r}: its contact stiffness, {stiffness:g} {unit}, is the default of the law "
            f"{choice.law.name!r}, a guess that knows nothing of the parts{steel}. Forces and durations of impacts "
            "depend on it: give a stiffness, or compute it from the material (Compliant.from_material)"
        )


def unused(mechanism: Mechanism) -> Iterator[str]:
    """Numbers that do nothing: friction of a joint without play, restitution of no stops or of those that give way."""
    for name, joint in mechanism.joints.items():
        if joint.roughness and not joint.loose:
            ideal = ", or pin_friction for an ideal joint" if joint.does("pin_law") else ""
            yield f"joint {name!r}: its contact's friction acts only with play, and it has none; give it play{ideal}"
        if joint.roughness and joint.loose and joint.play_unit != "m":
            yield f"joint {name!r}: its contact's friction does nothing, for the play is one of angles; leave it out"
        if getattr(joint, "stop_restitution", 0.0) == 0:
            continue
        if not joint.stopped:
            yield f"joint {name!r}: its stop_restitution acts at stops, and it has none; give it lower or upper"
        elif name in mechanism.stopped(Compliant):
            law = "the law of its compliant contact acts at its stops, too"
            yield f"joint {name!r}: its stop_restitution does nothing, {law}; give the law a restitution"


def sizes(mechanism: Mechanism) -> dict[str, float]:
    """The greatest distance (m) of two points of each body that has two, the longest body first."""
    found = {}
    for name, body in mechanism.bodies.items():
        points = list(body.all_points().values())
        found[name] = max(math.dist(a, b) for a in points for b in points)
    return {name: found[name] for name in sorted(found, key=lambda name: -found[name]) if found[name] > 0}


def misread(mechanism: Mechanism) -> Iterator[str]:
    """Lengths and angles that look as if their unit had been forgotten, by the mechanism's own sizes."""
    starts = {f"start {body}": mechanism.start.get(body, 0.0) for body in mechanism.bodies}
    turning = {name: drive.motion for name, drive in mechanism.drives.items() if drive.prescribes == "angle"}
    starts |= {f"start of drive {name!r}": getattr(motion, "start", 0.0) for name, motion in turning.items()}
    for name, angle in starts.items():
        if isinstance(angle, float) and abs(angle) > TURNS:
            yield f"{name} is {angle:g} rad, {abs(angle) / math.tau:.3g} turns; an angle without a unit is in rad"
    known = sizes(mechanism)
    longest, length = next(iter(known.items()), ("", 0.0))
    second = [*known.values()][1] if len(known) > 1 else math.inf
    if length > UNLIKE * second:
        others = f"more than {UNLIKE:g} times longer than any other body ({mm(second)} at most)"
        yield f"body {longest!r} is {mm(length)} long, {others}; {UNIT}"
    elif length > LONGEST:
        yield f"body {longest!r} is {length:g} m long; {UNIT}"
    for name, joint in mechanism.joints.items():
        if known and joint.loose and joint.play_unit == "m":
            shortest, length = [*known.items()][-1]
            if joint.looseness > LOOSEST * length:
                text = (
                    f"clearance {mm(joint.looseness)} is more than a third of the length of {shortest!r} ({mm(length)})"
                )
                yield f"joint {name!r}: {text}; {UNIT}"
