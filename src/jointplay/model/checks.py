"""What a mechanism may say but hardly means: warnings, never refusals."""

from __future__ import annotations

from ..elements.sized import mm
from .mechanism import Mechanism


def implausible(mechanism: Mechanism) -> list[str]:
    """What the joints find doubtful in themselves, and each clearance (m) beyond half of a bar, a line each."""
    found: list[str] = []
    for name, joint in mechanism.joints.items():
        found += joint.doubts(name)
        if not joint.loose or joint.play_unit != "m":
            continue
        for body in map(mechanism.owner, joint.between):
            length = mechanism.bodies[body].length if body in mechanism.bodies else None
            if length is not None and joint.looseness > 0.5 * length:
                text = f"clearance {mm(joint.looseness)} is more than half of the length of {body!r} ({mm(length)})"
                found.append(f"joint {name!r}: {text}")
    return found
