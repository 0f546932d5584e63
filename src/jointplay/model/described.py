"""A mechanism in a few lines, for whoever looks at it in a console or a notebook."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .starts import start_text

if TYPE_CHECKING:
    from .mechanism import Mechanism

WIDTH = 100  # characters of a line


def described(mechanism: Mechanism) -> str:
    """Name, bodies, joints with their play, drives, forces, start and control.

    >>> from jointplay.model import library
    >>> print(described(library.pendulum()))
    Mechanism 'pendulum'
      bodies  bar1 (bar 1 m, 1 kg)
      joints  J1 (revolute, ground.O to bar1.start)
      start   bar1 = -90 deg
    """
    lines = [f"Mechanism {mechanism.name!r}" + (f", {mechanism.source}" if mechanism.source else "")]
    parts = {
        "bodies": _bodies(mechanism),
        "joints": _joints(mechanism),
        "drives": (f"{name} ({kind(drive)} of {drive.of})" for name, drive in mechanism.drives.items()),
        "forces": (f"{name} ({kind(force)})" for name, force in mechanism.forces.items()),
        "start": (f"{key} = {start_text(key, x)}" for key, x in mechanism.start.items()),
    }
    for title, told in parts.items():
        text = ", ".join(told)
        if text:
            wrapped = textwrap.wrap(text, WIDTH - 10, break_long_words=False, break_on_hyphens=False)
            lines += [f"  {title if i == 0 else '':<8}{line}" for i, line in enumerate(wrapped)]
    if mechanism.control is not None:
        lines.append(f"  {'control':<8}of {', '.join(mechanism.control.coordinates)}")
    return "\n".join(lines)


def kind(element: object) -> str:
    """What an element is called in files."""
    return str(getattr(element, "kind", type(element).__name__))


def _bodies(mechanism: Mechanism) -> Iterator[str]:
    for name, body in mechanism.bodies.items():
        size = f"bar {body.length:g} m, " if body.length else ""
        yield f"{name} ({size}{body.mass:g} kg)"


def _joints(mechanism: Mechanism) -> Iterator[str]:
    for name, joint in mechanism.joints.items():
        loose = ""
        if joint.looseness > 0:
            small = joint.opened_by == "clearance"
            size = f"{1e3 * joint.looseness:.5g} mm" if small else f"{math.degrees(joint.looseness):.5g} deg"
            contact = getattr(joint, "contact", None)
            loose = f", {joint.opened_by} {size}" + (f", {kind(contact)} contact" if contact is not None else "")
        yield f"{name} ({kind(joint)}, {' to '.join(joint.between)}{loose})"
