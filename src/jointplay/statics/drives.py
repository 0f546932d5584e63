"""Whether the drives of a mechanism can be followed over their whole period, before anything is integrated."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..elements.pose import Here, Pose
from ..errors import ComputationFailed, InputError
from ..model.mechanism import Mechanism
from ..model.motions import Constant
from ..model.parts import ModelError, Problem
from ..model.repeats import common_period, driven
from ..system import System, as_system
from .assembly import assemble
from .cycle import ROUNDS, DrivenPath, DrivenState, Far, Unassembled
from .degrees import freedom
from .starting import closed, contents

LONGEST = 10.0  # s: followed if the drives do not repeat, or not that anybody knows
FARTHEST = 200.0  # rad or sizes of the mechanism per follow: half a second of computing
POINTS = 90  # times at which the way is looked at
STEPS = 700  # tried in all: half a second of computing, also where the drives grow fast


def period(mechanism: Mechanism) -> float | None:
    """The time (s) after which all drives repeat; None if they never do, or not that anybody knows.

    >>> from jointplay.model import library
    >>> round(period(library.wu_2017()), 9)  # 30 and 50 deg/s
    36.0
    """
    try:
        return common_period(list(driven(mechanism)))
    except InputError:
        return None


@dataclass(frozen=True)
class Followed:
    """How far (s) the drives of the ideal mechanism were followed, their period, and what stopped them."""

    until: float
    period: float | None
    states: list[DrivenState]
    problem: ComputationFailed | None
    back: bool = False  # all bodies were where they began

    def text(self) -> str:
        """One line for people."""
        known = "do not repeat" if self.period is None else f"repeat after {self.period:.6g} s"
        if self.problem is not None:
            return f"{known}; they cannot be followed"
        return f"{known}; it assembles throughout{'' if self.back else f' the first {self.until:.6g} s'}"


def followed(model: Mechanism | System, until: float | None = None) -> Followed | None:
    """Follows the drives with all joints closed, over their period, or over as many as gears need to be back, or until
    a time (s) before; None if they leave a degree of freedom, or nothing moves."""
    given = as_system(model)
    mechanism = given.mechanism
    if all(not drive.at_rate and isinstance(drive.motion, Constant) for drive in mechanism.drives.values()):
        return None
    again = period(mechanism)
    reach = min(again or LONGEST, until or math.inf)
    system = closed(given).until(reach)
    try:
        if freedom(system, assemble(system)).degrees:
            return None
        path, left = DrivenPath(system, STEPS), STEPS
        fastest = float(np.abs(path.state.v / path.scale).max())
        reach = min(reach, FARTHEST / fastest) if fastest else reach
        states, count, last = [path.state], 0, math.inf if until is None else until
        while not count or (reach == again and count < ROUNDS and path.state.t < last and not path.back()):
            for t in np.linspace(count * reach, min((count + 1) * reach, last), POINTS + 1)[1:]:
                path.most = left
                states.append(arrived(path, float(t), reach / (3 * POINTS), (count + 1) * reach))
                left -= path.tried
            count += 1
        reach = path.state.t
    except Far:
        return Followed(path.state.t, again, states, None)
    except ComputationFailed as error:
        return Followed(reach, again, [], error)
    return Followed(reach, again, states, None, again is not None and path.back())


def arrived(path: DrivenPath, t: float, little: float, end: float) -> DrivenState:
    """The state at a time, or a little (s) later if it is singular just then, which says nothing of what follows."""
    before = path.state, path.turned
    try:
        return path.go(t)
    except ComputationFailed:
        later = t + little
        if path.state.t != t or later > end:
            raise
    path.state, path.turned = before
    return path.go(later)


MOST_CHECKED = 256
_checked: dict[Any, ValueError | None] = {}  # drives that were followed in this process, by their mechanism's numbers


def refuse_drives(system: System, until: float) -> None:
    """Raises where drives would open joints that must stay closed, within a period or until a time (s)."""
    ideal = closed(system)  # runs of a study differ in their play, and share this
    numbers = tuple(map(repr, ideal.parameters.items()))
    key = ideal.structure, numbers, contents(ideal.mechanism), tuple(ideal.mechanism.start.items()), until
    if key not in _checked:
        while len(_checked) >= MOST_CHECKED:
            _checked.pop(next(iter(_checked)), None)
        found = followed(system, until)
        _checked[key] = found.problem if found is not None and isinstance(found.problem, Unassembled) else None
    problem = _checked[key]
    if problem is not None:
        raise ModelError(Problem(("drives",), f"{problem}. Nothing was integrated"))


def off_the_bar(mechanism: Mechanism, found: Followed) -> Iterator[str]:
    """Bores that do not stay on their bars, one line for each."""
    names = [f"{body}.{c}" for body in mechanism.bodies for c in ("x", "y", "angle")]
    numbers = mechanism.addresses()
    for name, joint in mechanism.joints.items():
        first, point = mechanism.split(joint.between[0])
        if not found.states or first not in mechanism.bodies:
            continue
        bar = mechanism.bodies[first]
        begin = bar.all_points()[point][0] if point else 0.0
        track = joint.track(bar.length, begin)
        if track is None:
            continue
        places = []
        for state in found.states:
            pose = Pose(mechanism, lambda a: numbers.get(a, 0.0), dict(zip(names, state.q.tolist(), strict=True)), 0.0)
            places.append(float(joint.coordinate(Here(pose, name, joint))))
        if min(places) < track[0] or max(places) > track[1]:
            yield (
                f"joint {name!r}: the drives move the middle of the bore along {first!r} from "
                f"{min(places) + begin:.4g} to {max(places) + begin:.4g} m; with a length of {joint.sleeve():g} m it "
                f"leaves the bar of {bar.length:g} m"
            )
