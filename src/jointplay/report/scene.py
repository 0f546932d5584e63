"""What the page draws: bodies, joints, ground and springs, and where everything is in each frame."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from ..model.bodies import Body
from ..model.mechanism import Mechanism
from ..plots.contacts import angular, touching
from ..plots.places import Places, Play
from .blob import Blob, Json

if TYPE_CHECKING:
    import xarray

FREE, IMPACT, SLIDING, STICKING, PERMANENT, PULLING, TOUCHING = range(7)
MODES = ("free", "impact", "sliding", "sticking", "permanent contact", "would pull", "touching")


def poses(run: xarray.Dataset, blob: Blob, at: np.ndarray) -> list[Json]:
    """The place and angle of every body in the frames."""
    parts = ("x", "y", "angle")
    return [{part: blob.add(run[part].sel(body=name).values[at]) for part in parts} for name in run.body.values]


def bodies(mechanism: Mechanism | None, names: list[str]) -> list[Json]:
    """Every body with its points, from its mass centre and in its axes."""
    made: list[Json] = []
    for name in names:
        body = None if mechanism is None else mechanism.bodies[name]
        points = {} if body is None else {point: list(body.arm(point)) for point in body.all_points()}
        item: Json = {"name": name, "bar": bool(body and body.bar), "points": points}
        if body is not None and body.counterweight is not None and body.counterweight.mass:
            x, y = weight_arm(body)
            item["weight"] = {"at": [x, y], "mass": body.counterweight.mass}
        made.append(item)
    return made


def weight_arm(body: Body) -> tuple[float, float]:
    """The place of a counterweight from the mass centre of its body, in the body's axes (m)."""
    assert body.counterweight is not None
    x, y = body.whole()[1]
    return body.counterweight.x - x, body.counterweight.y - y


def joints(places: Places, names: list[str]) -> list[Json]:
    """Every joint with its two points and what is drawn there; along an axis, how far the second point goes."""
    made = []
    for name, joint in places.mechanism.joints.items():
        item: Json = {"name": name}
        if joint.points:
            first, second = joint.points
            drawn = joint.drawing()
            item |= {"ends": [_end(places, reference, names) for reference in (first, second)], **asdict(drawn)}
            if drawn.guide or drawn.block:
                along = complex(*joint.axis)  # type: ignore[attr-defined]
                local = along / abs(along)
                turned = places.turns[places.mechanism.owner(first)] * local
                way = (places.point(second) - places.point(first)) * turned.conj()
                item |= {"axis": [local.real, local.imag], "range": [float(way.real.min()), float(way.real.max())]}
        made.append(item)
    return made


def springs(places: Places, names: list[str]) -> list[Json]:
    """Springs between points."""
    found = [coil for coil in (force.coil() for force in places.mechanism.forces.values()) if coil]
    return [{"ends": [_end(places, reference, names) for reference in coil]} for coil in found]


def _end(places: Places, reference: str, names: list[str]) -> Json:
    body, arm = places.mechanism.owner(reference), places.arm(reference)
    return {"body": -1 if body == "ground" else names.index(body), "at": [arm.real, arm.imag]}


def box(places: Places) -> list[float]:
    """The smallest box around all points and wheels at all times: left, bottom, right, top (m)."""
    model = places.mechanism
    references = [f"ground.{point}" for point in model.ground.all_points()]
    references += [f"{name}.{point}" for name, body in model.bodies.items() for point in body.all_points()]
    found = [places.point(reference) for reference in references]
    for joint in model.joints.values():
        if joint.points and (radius := joint.drawing().wheel):
            found += [places.point(joint.points[1]) + radius * way for way in (1, -1, 1j, -1j)]
    for name, body in model.bodies.items():
        if body.counterweight is not None and body.counterweight.mass:
            found.append(places.track.centres[name] + places.turns[name] * complex(*weight_arm(body)))
    return [
        *(float(min(np.nanmin(part(p)) for p in found)) for part in (np.real, np.imag)),
        *(float(max(np.nanmax(part(p)) for p in found)) for part in (np.real, np.imag)),
    ]


def play(run: xarray.Dataset, item: Play, blob: Blob, at: np.ndarray, names: list[str]) -> Json:
    """What one joint with play shows when it is magnified."""
    labels = list(item.gaps)
    found: Json = {
        "name": item.name,
        "shape": item.shape,
        "unit": item.unit,
        "words": item.words,
        "clearance": item.clearance,
        "radius": item.radius,
        "length": item.length,
        "permanent": item.permanent,
        "longInner": item.long_inner,
        "outer": -1 if item.outer == "ground" else names.index(item.outer),
        "inner": -1 if item.inner == "ground" else names.index(item.inner),
        "x": blob.add(item.offset.real[at]),
        "y": blob.add(item.offset.imag[at]),
        "turn": blob.add(np.unwrap(np.angle(item.turn))[at]),
        "tilt": blob.add(item.tilt[at]),
        "contacts": labels,
        "gaps": [blob.add(item.gaps[label][at]) for label in labels],
        "modes": [blob.add(code[at]) for code in codes(run, item).values()],
    }
    if item.unit == "rad" and "moment" in run:
        found["torque"] = blob.add(run.moment.sel(joint=item.name).values[at])
    size = np.zeros(len(at))
    if len(item.load):
        found |= {"loadX": blob.add(item.load.real[at]), "loadY": blob.add(item.load.imag[at])}
        size = np.abs(item.load)
    if len(labels) > 1 and "normal_force" in run and set(labels) <= set(run.contact.values.tolist()):
        forces = {label: run.normal_force.sel(contact=label).values for label in labels}
        found["normal"] = [blob.add(forces[label][at]) for label in labels]
        size = np.max(list(forces.values()), axis=0)
    loaded = size[np.isfinite(size) & (size > 0)]
    found["force"] = float(np.percentile(loaded, 97)) if len(loaded) else 0.0  # the longest arrow
    return found


def mode(run: xarray.Dataset, contact: str) -> np.ndarray:
    """The mode of a contact at every sample; where sliding is not told from sticking, as of gears, only touching."""
    found = run["mode"].sel(contact=contact).values.astype(int)
    return found if "share_sticking" in run and contact not in angular(run) else np.where(found > 0, TOUCHING, FREE)


def codes(run: xarray.Dataset, item: Play) -> dict[str, np.ndarray]:
    """The mode of each contact of a joint with play at every sample."""
    labels = list(item.gaps)
    if "mode" in run and set(labels) <= set(run.contact.values.tolist()):
        return {label: mode(run, label) for label in labels}
    closed = touching(run, item)
    if item.permanent and len(item.load):
        toward = np.real(item.load * np.conj(item.offset * item.turn))  # a push points away from the rim
        return {labels[0]: np.where(toward <= 0, PERMANENT, PULLING)}
    return {label: np.where(closed[:, i], TOUCHING, FREE) for i, label in enumerate(labels)}
