"""Where points and journals are, from a result and the model that it carries.  Points of the plane are complex."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..elements import Following
from ..elements.drawing import Play as Play
from ..elements.drawing import Track
from ..errors import InputError
from ..model.files import loads
from ..model.mechanism import Mechanism
from ..parts.part import ModelError
from ..results import UNCONTROLLED

if TYPE_CHECKING:
    import xarray


class Places:
    """The places of a mechanism's points over the samples of a result."""

    def __init__(self, run: xarray.Dataset, mechanism: Mechanism | None = None) -> None:
        self.run, self.mechanism = run, mechanism or model_of(run)
        names = [str(name) for name in run.body.values]
        _same("bodies", names, self.mechanism.bodies)
        if "joint" in run.coords:
            _same("joints", run.joint.values.tolist(), self.mechanism.joints)
        angles = {name: run.angle.sel(body=name).values for name in names}
        centres = {name: run.x.sel(body=name).values + 1j * run.y.sel(body=name).values for name in names}
        self.track = Track(self.mechanism, centres, angles, run.time.values)
        self.angles, self.turns = self.track.angles, self.track.turns

    def arm(self, reference: str) -> complex:
        """A named point in its body's axes, from the mass centre (m); of the ground from the origin."""
        body, point = self.mechanism.split(reference)
        if body == "ground":
            return complex(*self.mechanism.ground.all_points()[point])
        return complex(*self.mechanism.bodies[body].arm(point or "centre"))

    def point(self, reference: str) -> np.ndarray:
        """The place of a point such as `crank.end` over time (m)."""
        return self.track.point(reference)

    def loose(self) -> dict[str, Play]:
        """Every joint that may touch."""
        return {name: self.play(name) for name, joint in self.mechanism.joints.items() if joint.loose}

    def play(self, name: str) -> Play:
        """What happens in one joint with play."""
        if name not in self.mechanism.joints:
            raise InputError(f"no joint {name!r} in this result; there are {', '.join(self.mechanism.joints)}")
        joint = self.mechanism.joints[name]
        if not joint.loose:
            raise InputError(f"joint {name!r} has no play; loosen it, as in mechanism.loosen({name!r}, '1 mm')")
        made = joint.magnified(self.track, name)
        made.permanent = name in self.mechanism.loose(Following)
        if "force_x" in self.run:
            here = self.run.sel(joint=name)
            sign = 1 if made.inner == self.mechanism.owner(joint.between[1]) else -1
            made.load = sign * (here.force_x.values + 1j * here.force_y.values)
        return made


def _same(what: str, here: list[str], model: Mapping[str, object]) -> None:
    """Refuse a result whose labels are not those of its model."""
    if here != list(model):
        raise InputError(f"this result has the {what} {', '.join(here)}, its model {', '.join(model)}: it was altered")


def readable(run: xarray.Dataset) -> bool:
    """Whether a result carries its model, at least without control; drives by Python functions leave only a comment."""
    return UNCONTROLLED in run.attrs or not str(run.attrs.get("model", "#")).startswith("#")


def model_of(run: xarray.Dataset) -> Mechanism:
    """The mechanism that a result was computed from, without a control loop that no file can hold."""
    text = run.attrs.get(UNCONTROLLED) or run.attrs.get("model", "")
    try:
        return _read(text)
    except ModelError as error:
        first = str(error).splitlines()[0]
        raise InputError(f"the model of this result cannot be read, give the mechanism itself: {first}") from None


_read = functools.lru_cache(4)(loads)  # a page asks for its model many times
