"""Where bodies may touch: the gaps of joints with a contact, and of stops."""

from __future__ import annotations

from ..elements.contacts import Rigid
from ..elements.pose import Here, Pose, Spot, in_text
from ..model.mechanism import Mechanism
from ..numerics.linalg import Pair, Scalar


def reaction(pose: Pose, contact: Spot, normal: Scalar, tangential: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """What a contact does to its joint's second body: force (x, y), and moment about the joint's second point."""
    on, sign, arm = pose.lever(contact.joint)
    rub = contact.rubbing or contact.tangential or {}
    x, y, turn = (
        sign * (contact.normal.get(f"{on}.{c}", 0) * normal + rub.get(f"{on}.{c}", 0) * tangential)
        for c in ("x", "y", "angle")
    )
    return x, y, turn - arm.cross(Pair(x, y))


def contacts(pose: Pose, kind: type = Rigid) -> list[Spot]:
    """Every contact of the mechanism's joints whose contact is of this kind, and the stops that are."""
    mechanism = pose.mechanism
    assert isinstance(mechanism, Mechanism)
    found: list[Spot] = []
    for name, joint in mechanism.loose(kind).items():
        found += in_text(joint).gaps(Here(pose, name, joint))
    for name, stopped in mechanism.stopped(kind).items():
        found += in_text(stopped).stops(Here(pose, name, stopped))
    return found
