"""When what depends on time is not smooth, or at its most: motions of drives, forces and a control loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..elements.pose import Here, Pose, in_text, parameters
from ..model.mechanism import Mechanism
from ..model.parts import Part
from ..parts.motions import following


def motions(mechanism: Mechanism) -> Iterator[tuple[str, Any]]:
    """Every motion with its address: those of drives and forces, of references and feedforward."""
    for section in (mechanism.drives, mechanism.forces):
        for name, element in section.items():
            for field, x in element.given():
                if isinstance(x, Part) and hasattr(x, "knot"):
                    yield name if field == "motion" else f"{name}.{field}", x
    if mechanism.control is not None:
        yield from ((f"control.{address}", motion) for address, _, motion in mechanism.control.motions())


def next_knot(pose: Pose) -> Any:
    """The first time after the pose's (s) that an adaptive step must not pass; infinite if there is none."""
    mechanism = pose.mechanism
    assert isinstance(mechanism, Mechanism)
    times = [pose.numbers("control.settled")] if mechanism.control is not None else []
    times += [motion.knot(pose.t, parameters(pose, address, motion)) for address, motion in motions(mechanism)]
    for section in (mechanism.joints, mechanism.drives, mechanism.forces):
        times += [in_text(one).knot(Here(pose, name, one)) for name, one in section.items()]
    return following(pose.t, times)
