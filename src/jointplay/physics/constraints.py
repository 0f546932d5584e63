"""Every constraint of a mechanism by the functions of its joints and drives; rows and reactions follow from them."""

from __future__ import annotations

from collections.abc import Iterator

from ..elements.kinds import AtRate as AtRate
from ..elements.pose import Here, Pose, in_text
from ..elements.pose import motion_at as motion_at
from ..model.mechanism import Mechanism
from ..model.parts import ModelError, Problem
from ..numerics.linalg import Scalar


def constraints(pose: Pose) -> Iterator[tuple[str, Scalar | AtRate]]:
    """Every constraint of the mechanism with its label, joints first."""
    mechanism = pose.mechanism
    assert isinstance(mechanism, Mechanism)
    for section in (mechanism.joints, mechanism.drives):
        for name, element in section.items():
            found = in_text(element).residual(Here(pose, name, element))
            if section is mechanism.drives and len(found) != 1:
                text = f"prescribes one coordinate and has one row and effort; its residual gives {len(found)}"
                named = f" ({', '.join(found)})" if found else ""
                raise ModelError(Problem(("drives", name), f"{text}{named}: make a drive of each row, or a joint"))
            for part, value in found.items():
                yield f"{name}.{part}", value
