"""References for some coordinates of a mechanism from the motion wanted of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..elements.pose import Pose
from ..model.control import Coordinate, axis_of
from ..model.mechanism import Mechanism
from ..model.motions import table
from ..parts.tables import Table
from ..physics.reduced import coordinate_value, ideal
from ..system import System
from .cycle import follow


def references(
    mechanism: Mechanism, wanted: Mapping[str, Any], of: str | Sequence[Any], until: float, samples: int = 2000
) -> list[Table]:
    """The motions of coordinates that move an ideal mechanism as wanted, from 0 to `until` (s), as splines.

    wanted: motions of as many coordinates as it has degrees of freedom, such as those of a tip, {"tool.end.x": ...}.
    of: the coordinates to be controlled, as in `control.use`. Near singular positions more samples are needed.

    >>> from jointplay.model import library
    >>> [turn] = references(library.pendulum(length=2.0, angles=[1.0]), {"bar1.end.x": 1.0}, "bar1", until=1.0)
    >>> round(turn(0.5), 9)  # pi/3
    1.047197551
    """
    base = ideal(mechanism)
    drives = {f"wanted{i}": {**axis_of(key), "motion": x} for i, (key, x) in enumerate(wanted.items())}
    system = System(base.replace(drives={**base.drives, **drives}), until)
    times = np.linspace(0.0, until, samples + 1)
    _, states = follow(system, times)
    axes = [Coordinate(**axis_of(one)) for one in ([of] if isinstance(of, str) else of)]
    numbers = base.addresses()

    def seen(q: np.ndarray) -> list[float]:
        pose = Pose(base, lambda a: numbers.get(a, 0.0), dict(zip(system.coordinates, q.tolist(), strict=True)), 0.0)
        return [float(coordinate_value(pose, axis)) for axis in axes]

    values = np.array([seen(state.q) for state in states])
    return [table(tuple(times), tuple(column), ends="held") for column in values.T]
