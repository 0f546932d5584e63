"""Whether a control loop can work: actuators, sensors and model for its degrees of freedom, references within reach."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..elements.pose import Pose
from ..model.control import Along, Control
from ..model.parts import ModelError, Problem
from ..physics.loop import tour
from ..physics.reduced import coordinate_value, ideal
from ..physics.rehearsal import uses_model
from ..run import Run
from ..system import System
from .degrees import freedom
from .starting import closed


def loop_doubts(system: System, q: np.ndarray, degrees: int, until: float) -> list[str]:
    """What should be known of the control loop before a run to `until` (s) from the coordinates q, where the mechanism
    has so many degrees of freedom; refuses what cannot work."""
    mechanism, control = system.mechanism, system.mechanism.control
    if control is None:
        return []
    modelled = uses_model(control)
    driven = [name for name, drive in mechanism.drives.items() if drive.at_rate]
    if modelled and driven:
        text = "the controller's model cannot follow a rate drive; drive the angle instead"
        raise ModelError(Problem(("drives", driven[0]), text))
    acting, axes, sensors = (len(x) for x in (control.actuators, control.coordinates, control.sensors))
    if modelled and not control.cut and axes != acting:
        text = f"{acting} for {axes} coordinates; a law with a model needs as many of both, or joints to cut"
        raise ModelError(Problem(("control", "actuators"), text))
    _refuse_still(system, q)
    twin = ideal_system(system)
    free = degrees if twin is system else freedom(twin, q).degrees
    if acting > free:
        named, some = ", ".join(control.actuators), f"{free} degree{'s' * (free != 1)} of freedom"
        text = f"{acting} actuators ({named}) for {some} of the ideal mechanism and its drives; leave some out"
        raise ModelError(Problem(("control", "actuators"), text))
    if modelled and acting < free:
        text = f"{acting} for {free} degrees of freedom; a law with a model needs {free}"
        raise ModelError(Problem(("control", "actuators"), text))
    square = len(twin.coordinates) - len(twin.rows) == free
    if modelled and not control.cut and not square:
        text = (
            "the ideal mechanism has redundant rows, which a controller's model cannot have; see check, remove a joint"
        )
        raise ModelError(Problem(("control", "law"), text))
    needed = axes if control.cut else free
    if modelled and sensors not in (0, needed):
        named = ", ".join(control.sensors)
        text = f"{sensors} sensors ({named}) to move a model that needs {needed}; name {needed}, or none"
        raise ModelError(Problem(("control", "sensors"), text))
    wrong = unreachable(system, q, until) if not driven and axes == free and square else None
    if wrong and modelled:
        raise ModelError(Problem(("control", "coordinates"), wrong))
    return [*_doubtful(control), *([f"control: {wrong}"] if wrong else [])]


def _refuse_still(system: System, q: np.ndarray) -> None:
    """Refuse a coordinate, actuator or sensor that moves with nothing."""
    shaken = q + 1e-3 * np.random.default_rng(1).standard_normal(len(q))
    for section in ("coordinates", "actuators", "sensors"):
        parts = getattr(system.mechanism.control, section)
        pairs = zip(parts, *(measured(system, at, 0 * q, list(parts.values()))[0] for at in (q, shaken)), strict=True)
        for name, here, there in pairs:
            if here == there:
                raise ModelError(Problem(("control", section, name), "moves with nothing; it belongs to the ground"))


def _doubtful(control: Control) -> list[str]:
    """What may be run, with a warning: gains whose conditions do not hold, a model that is not always determined."""
    found = []
    if control.computed:
        given = ", ".join(f"{name} = {x:g}" for name, x in control.law.values.items())
        for condition in control.law.law.violated(control.law.values):
            found.append(f"control: the gain condition {condition} does not hold ({given}): stability is not proved")
    if control.regularisation:
        found.append(
            f"control: the model is moved by sensors that do not always determine it; regularisation "
            f"{control.regularisation:g} decides there, and results depend on it"
        )
    return found


def ideal_system(system: System) -> System:
    """The system of the ideal mechanism, which may be the given one."""
    mechanism = ideal(system.mechanism)
    if mechanism.joints == system.mechanism.joints:
        return system
    twin = closed(system)  # made for the start anyhow
    return twin if twin.mechanism.joints == mechanism.joints else System(mechanism)


def unreachable(system: System, q: np.ndarray, until: float) -> str | None:
    """Where the ideal mechanism cannot follow the references, if there is such a time before `until` (s)."""
    control = system.mechanism.control
    assert control is not None
    begun = measured(system, q, np.zeros(len(q)), list(control.coordinates.values()))[0]
    state = dict(zip(system.coordinates, q.tolist(), strict=True)) | {"t": 0.0}
    given = system.parameters | {"tour.until": float(until)}
    given |= {f"tour.{i}": x for i, x in enumerate(begun)}
    made = system.traced_as("tour", lambda: tour(system.equations()), dict.fromkeys(state, 0.0), given)
    run = Run(made, given, state)
    run.advance()
    if run.status[0] == "done":
        return None
    names = ", ".join(repr(name) for name in control.coordinates)
    what = "a singular position" if run.status[0] == "singular pivot" else "no position of the ideal mechanism"
    where = f"{names} leaves the workspace at t = {float(run['t'][0]):.4g} s"
    return f"the reference of {where}: there is {what}; choose a smaller one"


def measured(system: System, q: np.ndarray, v: np.ndarray, axes: Sequence[Along]) -> tuple[list[float], list[float]]:
    """Coordinates and their rates at a state."""
    numbers = system.mechanism.addresses()

    def at(place: np.ndarray) -> list[float]:
        where = dict(zip(system.coordinates, place.tolist(), strict=True))
        pose = Pose(system.mechanism, lambda address: numbers.get(address, 0.0), where, 0.0)
        return [float(coordinate_value(pose, axis)) for axis in axes]

    little = 1e-6 / max(1.0, float(np.abs(v).max(initial=0.0)))
    rates = (np.array(at(q + little * v)) - np.array(at(q - little * v))) / (2 * little)
    return at(q), rates.tolist()
