"""What a mechanism may say but hardly means: warnings, never refusals."""

from __future__ import annotations

from collections.abc import Iterator

from .clearances import Compliant, Rigid
from .fits import LARGEST, loosest
from .joints import Gear, Openable, Revolute, play
from .mechanism import Mechanism

_FAR = 2.0  # times the loosest fit


def implausible(mechanism: Mechanism) -> list[str]:
    """One line for each clearance far beyond any fit or beyond half of a bar, and each friction without a lever."""
    found = []
    for name, joint in mechanism.joints.items():
        if isinstance(joint, Openable) and play(joint) > 0:
            found += [f"joint {name!r}: {text}" for text in _doubts(mechanism, joint)]
    return found


def _doubts(mechanism: Mechanism, joint: Openable) -> Iterator[str]:
    if isinstance(joint, Gear):
        return
    c, radius = joint.clearance, float(getattr(joint, joint.inner))
    most, size = loosest(radius)
    if radius > 0 and c > _FAR * most:
        end = ", where the table ends," if 2e3 * radius > LARGEST * (1 + 1e-12) else ""
        yield (
            f"clearance/{joint.inner} = {_mm(c)}/{_mm(radius)} = {c / radius:.2g} is far outside any fit; "
            f"the loosest of ISO 286 (H11/d11 up to {size} mm{end}) leaves at most {_mm(most)}"
        )
    rough = ""
    if isinstance(joint.contact, Rigid) and joint.contact.friction > 0:
        rough = f"{joint.contact.friction:g}"
    elif isinstance(joint.contact, Compliant) and joint.contact.friction is not None:
        rough = joint.contact.friction.law.name
    if isinstance(joint, Revolute) and radius == 0 and rough:
        yield f"friction {rough} has no lever, as journal_radius is 0; give the journal's radius"
    for body in map(mechanism.owner, joint.between):
        length = mechanism.bodies[body].length if body in mechanism.bodies else None
        if length is not None and c > 0.5 * length:
            yield f"clearance {_mm(c)} is more than half of the length of {body!r} ({_mm(length)})"


def _mm(length: float) -> str:
    return f"{1e3 * length:.4g} mm"
