"""Shaking force and moment: what the inertia of a moving mechanism does to its frame."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ..elements.pose import Pose
from ..errors import InputError
from ..model.files import loads
from ..model.mechanism import Mechanism
from ..statics.cycle import DrivenState, driven, follow, multipliers
from ..system import System
from .frames import Frames, inertias

if TYPE_CHECKING:
    import xarray

SAME = 1e-9  # of the time between two samples: the same instant


def shaking(motion: Mechanism | System | xarray.Dataset, times: Any = None, pole: Any = (0.0, 0.0)) -> xarray.Dataset:
    """Shaking force (N) and moment (N m) on the ground over a motion, about a pole (m): minus the rates of the
    mechanism's linear and angular momentum; weight and applied loads are not in it.

    motion: a fully driven mechanism, at increasing times (s), or the result of a run, with play in its joints as it
    may be.  Of a mechanism the attribute `apart` says by how much the same from the reactions of the ground differs,
    relative to the largest reaction.  Impacts of rigid contact shake by impulses, which are in no force: `impulse_x`,
    `impulse_y` (N s) and `impulse_moment` (N m s) at a sample are those since the one before it, and the attribute
    `note` tells the largest.  A run without accelerations gives means between its samples, impacts included.

    >>> import numpy as np
    >>> from jointplay.model import library
    >>> found = shaking(library.scotch_yoke(crank=0.1, masses=(1.0, 3.0), speed=2.0), np.linspace(0, 3, 7))
    >>> round(float(found.force_x[0]), 9)  # (m_yoke r + m_crank r/2) w^2
    1.4
    """
    centre = _pole(pole)
    if isinstance(motion, Mechanism | System):
        if times is None:
            raise InputError("shaking: times are missing; give the times (s) at which the mechanism is looked at")
        return _driven(driven(motion, times), times, centre)
    if not hasattr(motion, "data_vars") or "model" not in motion.attrs:
        raise InputError(f"expected a mechanism, a system or the result of a run, got {type(motion).__name__}")
    if not motion.sizes.get("time"):
        raise InputError("shaking: this result holds no samples; take a part that has some, or see outcome_text")
    return _of_run(motion, centre)


def _pole(pole: Any) -> complex:
    try:
        x, y = (float(c) for c in pole)
    except (TypeError, ValueError):
        raise InputError(f"pole must be two numbers (m), got {pole!r}") from None
    return complex(x, y)


def _driven(system: System, times: Any, pole: complex) -> xarray.Dataset:
    path, states = follow(system, times)
    refuse_passages(system, path.passages)
    q, v, a = (np.array([getattr(state, part) for state in states]) for part in "qva")
    frames, theta = Frames.of(system.mechanism, q, v, a), inertias(system.mechanism)
    force, moment = -frames.force() @ theta, -frames.moment(pole) @ theta
    other, size = reactions(system, states, pole)
    apart = max(np.abs(other[0] - force).max(), np.abs(other[1] - moment).max() / size[1]) if len(states) else 0.0
    found = _dataset(np.array([s.t for s in states]), force, moment, pole, system.mechanism.name)
    found.attrs["apart"] = float(apart / size[0])
    return found


def refuse_passages(system: System, passages: list[float]) -> None:
    """Refuse a motion straight through a singular position, where forces are not determined."""
    if passages:
        raise InputError(
            f"mechanism {system.mechanism.name!r} moves through a singular position at t = {passages[0]:.6g} s, where "
            "forces have no bound; choose another motion or shorter times"
        )


def reactions(system: System, states: list[DrivenState], pole: complex) -> tuple[tuple[Any, Any], tuple[float, float]]:
    """Shaking force and moment from what the ground does to the mechanism in its joints and by its drives, with weight,
    springs and loads; and the sizes of the largest force (N) and of a lever (m)."""
    lam = multipliers(system, states)
    forces, moments, largest = [], [], 1e-300
    for state, one in zip(states, lam, strict=True):
        at = state.q[0::3] + 1j * state.q[1::3] - pole
        force, moment = _held(system, state, one, pole)
        F = state.equations.F
        push = F[0::3] + 1j * F[1::3]
        forces.append(-(force + push.sum()))
        moments.append(-(moment + F[2::3].sum() + (np.conj(at) * push).imag.sum()))
        largest = max(largest, float(np.abs(state.equations.reactions @ one).max(initial=0.0)))
    reach = max(float(np.abs(s.q[0::3] + 1j * s.q[1::3] - pole).max()) for s in states)
    return (np.array(forces), np.array(moments)), (largest, max(reach, 1e-300))


def _held(system: System, state: DrivenState, lam: np.ndarray, pole: complex) -> tuple[complex, float]:
    """Force and moment about the pole of the ground's joints on the mechanism, of drives, and of the bearings that hold
    gears, whose teeth act with different torques on their two bodies."""
    mechanism, e = system.mechanism, state.equations
    at = state.q[0::3] + 1j * state.q[1::3] - pole
    force, moment = 0j, 0.0
    for row, x, line in zip(system.rows, lam, e.B, strict=True):
        name = mechanism.owner(row)
        if name in mechanism.drives or not mechanism.joints[name].points:
            push = x * (line[0::3] + 1j * line[1::3])
            force += push.sum()
            moment += float(x * line[2::3].sum() + (np.conj(at) * push).imag.sum())
    numbers = dict(zip(system.coordinates, state.q.tolist(), strict=True))
    pose = Pose(mechanism, mechanism.value, numbers, state.t)
    found = (e.reactions @ lam).reshape(-1, 3) if len(lam) else np.zeros((len(mechanism.joints), 3))
    for joint, (x, y, turn) in zip(mechanism.joints.values(), found, strict=True):
        ends = [mechanism.owner(end) for end in joint.between]
        if not joint.points or "ground" not in ends:
            continue
        sign, place = (1 if ends[0] == "ground" else -1), pose.point(joint.between[1])
        push = sign * complex(x, y)
        force += push
        moment += float(sign * turn + (np.conj(complex(place.x, place.y) - pole) * push).imag)
    return force, moment


def _of_run(run: xarray.Dataset, pole: complex) -> xarray.Dataset:
    mechanism = loads(run.attrs["model"])
    names = ("x", "y", "angle")
    q, v = (
        np.stack([run[n + end].values for n in names], axis=-1).reshape(run.sizes["time"], -1) for end in ("", "_rate")
    )
    time, theta = run["time"].values, inertias(mechanism)
    if "x_acceleration" in run:
        a = np.stack([run[f"{n}_acceleration"].values for n in names], axis=-1).reshape(len(time), -1)
        frames = Frames.of(mechanism, q, v, a)
        force, moment = -frames.force() @ theta, -frames.moment(pole) @ theta
        found = _dataset(time, force, moment, pole, mechanism.name)
        if "impact_normal" in run and run.sizes["impact"] and len(time) > 1:
            momenta = frames.linear_momentum() @ theta, frames.angular_momentum(pole) @ theta
            struck = np.sort(run["impact_time"].values)
            _add_impulses(found, *(_jumps(time, p, f, struck) for p, f in zip(momenta, (force, moment), strict=True)))
        return found
    frames = Frames.of(mechanism, q, v)
    step = np.diff(time)
    force = -np.diff(frames.linear_momentum() @ theta) / step
    moment = -np.diff(frames.angular_momentum(pole) @ theta) / step
    found = _dataset(0.5 * (time[1:] + time[:-1]), force, moment, pole, mechanism.name)
    found.attrs["means"] = "between samples, from the change of the momentum"
    return found


def _jumps(time: np.ndarray, momentum: np.ndarray, force: np.ndarray, struck: np.ndarray) -> np.ndarray:
    """What impacts at these times take from a momentum, at the sample after each; the rest of its change is a force's,
    which acts until the first of them as at the sample before, and from the last on as at the one after."""
    near = SAME * np.diff(time)
    first = np.searchsorted(struck, time[:-1] - near)  # a sample just at an impact may be before or after it
    last = np.searchsorted(struck, time[1:] + near, side="right") - 1
    hit = np.flatnonzero(first <= last)
    begin, end = (np.clip(struck[k[hit]], time[hit], time[hit + 1]) for k in (first, last))
    middle = (begin + end) / 2
    acted = force[hit] * (middle - time[hit]) + force[hit + 1] * (time[hit + 1] - middle)
    found = np.zeros_like(momentum)
    found[hit + 1] = -(momentum[hit + 1] - momentum[hit]) - acted
    return found


def _add_impulses(found: xarray.Dataset, impulse: np.ndarray, turning: np.ndarray) -> None:
    since = "of impacts since the sample before"
    for name, values, unit, what in (
        ("impulse_x", impulse.real, "N*s", "shaking impulse, x,"),
        ("impulse_y", impulse.imag, "N*s", "shaking impulse, y,"),
        ("impulse", np.abs(impulse), "N*s", "shaking impulse"),
        ("impulse_moment", turning, "N*m*s", "moment of the shaking impulse about the pole"),
    ):
        found[name] = ("time", values, {"units": unit, "long_name": f"{what} {since}"})
    most = f"{np.abs(impulse).max():.3g} N s and {np.abs(turning).max():.3g} N m s"
    found.attrs["note"] = f"impacts shake by impulses of up to {most}, which are in no force"


def _dataset(time: np.ndarray, force: np.ndarray, moment: np.ndarray, pole: complex, title: str) -> xarray.Dataset:
    from xarray import Dataset

    return Dataset(
        {
            "force_x": ("time", force.real, {"units": "N", "long_name": "shaking force, x"}),
            "force_y": ("time", force.imag, {"units": "N", "long_name": "shaking force, y"}),
            "force": ("time", np.abs(force), {"units": "N", "long_name": "shaking force"}),
            "moment": ("time", moment, {"units": "N*m", "long_name": "shaking moment about the pole"}),
        },
        {"time": ("time", time, {"units": "s"})},
        {"title": title, "pole": json.dumps([pole.real, pole.imag])},
    )
