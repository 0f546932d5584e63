"""Permanent contact: the clearance as a massless link that can only push, and where it would begin to pull."""

from __future__ import annotations

import functools
from typing import Any

from ..engine.text import branch, emit, loop, memory, whole
from ..engine.values import number, where
from ..model.clearances import Following
from ..model.joints import Revolute
from ..model.mechanism import owner
from ..numerics.functions import atan2
from .motion import Parts


def stops(joint: Revolute) -> bool:
    """Whether a run ends where this joint in permanent contact begins to pull."""
    return isinstance(joint.contact, Following) and joint.contact.on_loss == "stop"


def watch(parts: Parts, now: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The end of a step, or the moment inside it where a joint in permanent contact begins to pull."""
    keys, lost = list(new), memory("contact.lost", 0)
    for place, (name, joint) in enumerate(parts.following.items(), 1):

        def locate(new: dict[str, Any], push: Any, middle: Any, joint: Revolute, place: int) -> list[Any]:
            def halve(low: Any, high: Any) -> tuple[list[Any], Any]:
                between = 0.5 * (low + high)
                pulls = push(between) < 0.0
                return [where(pulls, low, between), where(pulls, between, high)], high - low > 1e-13

            early = middle < 0.0
            [_, u], _ = loop([where(early, 0.0, 0.5), where(early, 0.5, 1.0)], halve, 60)
            t, y = new["t0"] + u * new["h0"], parts.within(new, u)
            found = parts.at(t, y, parts.flags(new, "0"))
            pose = parts.equations.pose(y[: parts.n], t)
            bearing, journal = joint.between if joint.bearing == "first" else joint.between[::-1]
            d = pose.between((bearing, journal))
            angle = atan2(d.y, d.x)
            emit(
                "losses",
                joint=number(whole(place)),
                time=t,
                angle=angle,
                in_bearing=angle - pose.angles[owner(bearing)],
            )
            if stops(joint):
                lost.value = whole(place)
                new = (
                    new
                    | {"t": t, "h0": u * new["h0"]}
                    | {name: parts.between(new, u, name) for name in parts.integrals}
                )
                new = new | parts.state(y, found) | parts.pushes(found)
            return [new[key] for key in keys]

        def push(u: Any, new: dict[str, Any] = new, key: str = f"{name}.normal") -> Any:
            return parts.pushes(parts.at(new["t0"] + u * new["h0"], parts.within(new, u), parts.flags(new, "0")))[key]

        middle = push(0.5)
        pulls = (now[f"{name}.normal"] >= 0.0) & ((middle < 0.0) | (new[f"{name}.normal"] < 0.0))
        side = functools.partial(locate, new, push, middle, joint, place)
        new = dict(zip(keys, branch(pulls, side, functools.partial(list, new.values())), strict=True))
    return new
