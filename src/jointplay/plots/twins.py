"""Whether a result is that of a mechanism with ideal joints, to be drawn behind another one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..errors import InputError
from ..model.mechanism import Mechanism
from ..parts.units import everyday
from ..series import same_bodies
from ..studies.subject import Machine, without_play
from .places import model_of, readable

if TYPE_CHECKING:
    import xarray

ALIKE = 1e-9  # of a number: what is closer is one that was written with fewer digits


def unlike(run: xarray.Dataset, twin: xarray.Dataset) -> str:
    """What differs between the models of a run and of that with ideal joints beside play, in a sentence; a twin of
    another mechanism, or with play, is refused."""
    same_bodies({"the run with ideal joints": twin, "this result": run})
    without_loose_joints(run, twin)
    if not (readable(run) and readable(twin)):
        return ""
    mine, theirs = model_of(run), model_of(twin)
    found = differences(mine, theirs)
    if not found:
        return ""
    first, *others = found
    here, there = (_number(model, first) for model in (mine, theirs))
    more = f"; {len(others)} more number{'s differ' if len(others) > 1 else ' differs'}" if others else ""
    return f"the two differ not only by play: {first} is {there} in the run with ideal joints, {here} in this{more}"


def of_one(run: xarray.Dataset, twin: xarray.Dataset | None) -> None:
    """Refuse a twin of another mechanism, or with play; a part of a result has some of the bodies."""
    if twin is None:
        return
    without_loose_joints(run, twin)
    if "body" not in run.coords or "body" not in twin.coords:
        return
    mine, theirs = ({str(name) for name in one["body"].values} for one in (run, twin))
    if not (mine <= theirs or theirs <= mine):
        same_bodies({"the run with ideal joints": twin, "this result": run})


def without_loose_joints(run: xarray.Dataset, twin: xarray.Dataset) -> None:
    """Refuse a run with play where one with ideal joints belongs."""
    if readable(twin) and (names := plays(model_of(twin))):
        text = f"the run with ideal joints has play in {', '.join(names)}"
        swapped = readable(run) and not plays(model_of(run))
        remedy = "this result has none: swap the two" if swapped else "give one without, or compare the two"
        raise InputError(f"{text}; {remedy}")


def plays(mechanism: Mechanism) -> list[str]:
    """The joints with play."""
    return [name for name, joint in mechanism.joints.items() if joint.looseness > 0]


def differences(one: Mechanism, other: Mechanism) -> list[str]:
    """The addresses of numbers that differ, without those of contacts and of joints with play in one; of joints and
    starts those that both have."""
    loose, gone, numbers = set(plays(one)), without_play(one)[1], (one.addresses(), other.addresses())
    found = []
    for address in dict.fromkeys([*numbers[0], *numbers[1]]):
        owner = one.split(address)[0] if address in numbers[0] else other.split(address)[0]
        pair = [some[address] for some in numbers if address in some]
        if owner in loose or address in gone or (len(pair) == 1 and (owner in one.joints or owner == "start")):
            continue
        if len(pair) == 1 or not math.isclose(*pair, rel_tol=ALIKE, abs_tol=1e-15):
            found.append(address)
    return found


def _number(mechanism: Mechanism, address: str) -> str:
    """A number of a model with its unit."""
    if address not in mechanism.addresses():
        return "not given"
    value, unit = mechanism.addresses()[address], Machine(mechanism).unit(address)
    size, shown = everyday(value, unit)
    return f"{value * size:.6g} {shown.replace('*', ' ')}".rstrip()
