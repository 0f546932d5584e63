"""Whether the companions of a run move as it does, so that their differences to it tell its error.

Differences of a sensitive motion grow until they are as large as the play, or the motion, allows.  From then on a
companion knows nothing of the run any more: its peaks and counts are other draws of what the motion may do, and no
share of a difference is an error.  Then three runs are three draws, and what a fourth one, the true motion, may be is
told by Student's distribution.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..elements import Joint
from ..elements.drawing import Track
from ..model.checks import sizes as lengths
from ..model.clearances import Following
from ..model.mechanism import Mechanism
from ..physics import record
from ..physics.motion import ROUND_OFF

if TYPE_CHECKING:
    from xarray import Dataset

    from .reading import Reading

Tracks = dict[str, np.ndarray]  # places and gaps over time: [time, what], and "time" itself
FAR = 0.1  # of the play, or of the largest range of coordinates: differences of more are not small
OFTEN = 0.5  # of the samples in the last half of a run: what is far apart in more has not only struck a little later
SELDOM = 0.1  # of all samples: where one companion is far apart in more, its differences do not shrink as tolerances do
TOUCHED = 3.0  # times the estimated error of places: what passes nearer may as well touch
GRAZED = 0.05  # of the mean speed of a flight to the farthest: what comes back more slowly has hardly come back
NEARLY = 0.1  # of the range of a gap: what passes farther away is no touch, whatever is known of it
SAME = 1e-9  # of a time: samples that are this near are at one
ROUNDING = 1e-12  # of an angle of 1 rad, or of the largest length: a smaller range is that of nothing that moves
STUDENT = {2: 12.706, 3: 4.303}  # 97.5 % of Student's distribution for so many draws
COORDINATES = {name: record.BODIES[name].end for name in ("angle", "x", "y")}
PLAYS = {name: signal.end for name, signal in record.JOURNALS.items()} | {"gap": record.CONTACTS["gap"].end}
SUMS = {name: signal.end for name, signal in record.ENERGIES.items() if name not in ("kinetic", "potential")}
LATELY = 0.02  # of the samples: where two runs cross each other their difference is nothing for a moment


def course(run: Dataset) -> Tracks:
    """Places, gaps, work and losses of a result over time."""
    names = (name for name in ("time", *COORDINATES, *PLAYS, *SUMS) if name in run.variables)
    return {name: run.variables[name].values for name in names}


def course_of(reading: Reading) -> Tracks:
    """The same of a lane."""
    found = {"time": reading.time}
    for name, end in (COORDINATES | PLAYS).items():
        loose = reading.labels if name == "gap" else reading.system.journals
        labels = list(reading.mechanism.bodies) if name in COORDINATES else loose
        if labels and labels[0] + end in reading.columns:
            found[name] = np.column_stack([reading.columns[label + end] for label in labels])
    return found | {name: reading.columns[end] for name, end in SUMS.items() if end in reading.columns}


def forgotten(run: Dataset, others: Sequence[Tracks], mechanism: Mechanism) -> str:
    """What moves in another way in all the other runs, most of the time of the last half; nothing if there is none."""
    shares = far_apart(run, others, mechanism, run.time.values[-1] / 2)
    return next((label for label, some in shares.items() if min(some) > OFTEN), "")


def strayed(run: Dataset, others: Sequence[Tracks], mechanism: Mechanism) -> str:
    """What moves in another way for a while in one of the other runs; nothing if there is none."""
    shares = far_apart(run, others, mechanism)
    return next((label for label, some in shares.items() if max(some) > SELDOM), "")


def far_apart(
    run: Dataset, others: Sequence[Tracks], mechanism: Mechanism, begin: float = 0.0
) -> dict[str, list[float]]:
    """In what share of the samples from a time (s) on journals and bodies are far from where they are in each of the
    other runs; nowhere if drives prescribe all of the motion."""
    own, found = course(run), dict[str, list[float]]()
    if run.attrs["degrees_of_freedom"] == 0:
        return found
    both = [common(own["time"], other["time"], begin) for other in others]
    for name in (name for name in (*PLAYS, *COORDINATES) if name in own):  # of journals rather than of bodies
        values = own[name]
        labels = [str(label) for label in run.variables[run.variables[name].dims[-1]].values]
        sizes = sizes_of(own, name, labels, mechanism)
        off = [
            np.mean(np.abs(values[mine] - other[name][theirs]) > FAR * sizes, axis=0)
            for (mine, theirs), other in zip(both, others, strict=True)
        ]
        for i, label in enumerate(labels):
            here = [float(share[i]) for share in off]
            found[label] = [max(pair) for pair in zip(here, found.get(label, here), strict=True)]
    if pressed := mechanism.loose(Following):
        run_places, *places = (journals(tracks, mechanism, pressed) for tracks in (own, *others))
        for label, joint in pressed.items():
            pairs = zip(both, places, strict=True)
            gone = [np.abs(run_places[label][mine] - one[label][theirs]) for (mine, theirs), one in pairs]
            found[label] = [float(np.mean(d > FAR * joint.looseness)) for d in gone]
    return found


def journals(tracks: Tracks, mechanism: Mechanism, joints: Mapping[str, Joint]) -> dict[str, np.ndarray]:
    """Where journals in permanent contact are in their bearings over time (complex, m), by where bodies are: results
    do not hold it, and beside the range of bodies the play is nothing."""
    places, angles = (tracks["x"] + 1j * tracks["y"]).T, tracks["angle"].T
    centres, turns = (dict(zip(mechanism.bodies, some, strict=True)) for some in (places, angles))
    track = Track(mechanism, centres, turns, tracks["time"])
    return {name: joint.magnified(track, name).offset for name, joint in joints.items()}


def common(time: np.ndarray, other: np.ndarray, begin: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Which samples of two runs are at the same times, from a time (s) on."""
    after = np.searchsorted(time, other * (1 - SAME)).clip(max=len(time) - 1)
    theirs = np.flatnonzero((np.abs(time[after] - other) <= SAME * other) & (other >= begin))
    return after[theirs], theirs


def sizes_of(own: Mapping[str, np.ndarray], name: str, labels: Sequence[str], mechanism: Mechanism) -> np.ndarray:
    """What differences of signals are measured by: the play, or the largest range of angles or of places."""
    if name in PLAYS:
        sizes = np.array([mechanism.joints[mechanism.owner(label)].looseness for label in labels])
        return np.where(sizes > 0, sizes, math.inf)
    alike = ("angle",) if name == "angle" else ("x", "y")
    size = max(float(np.ptp(own[one], axis=0).max(initial=0.0)) for one in alike)
    far = max(float(np.abs(own[one]).max(initial=0.0)) for one in alike)
    rounding = ROUNDING * max(far, 1.0 if name == "angle" else max(lengths(mechanism).values(), default=0.0))
    return np.full(len(labels), size if size > max(rounding, ROUND_OFF) else math.inf)


def wander(run: Dataset, others: Sequence[Tracks], times: float, draws: bool) -> dict[str, np.ndarray]:
    """The estimated errors of the coordinates of a run, [time, body], and of its work and losses, [time, 1], over
    time: so many times the largest difference to the others, or how far another draw may be; the largest of a while."""
    own, found = course(run), {}
    for name in (name for name in (*COORDINATES, *SUMS) if name in own):
        values, seen = own[name].reshape(len(own["time"]), -1), []
        for other in others:
            mine, theirs = common(own["time"], other["time"])
            off = (other[name].reshape(len(other["time"]), -1)[theirs] - values[mine]).T
            seen.append(values + np.column_stack([np.interp(own["time"], own["time"][mine], one) for one in off]))
        apart = drawn(values, seen) if draws else times * np.max([np.abs(values - x) for x in seen], axis=0)
        found[name] = lately(apart)
    return found


def lately(values: np.ndarray) -> np.ndarray:
    """The largest of the values up to each time, of a while, [time, what]."""
    found, seen, count = values.copy(), 1, round(LATELY * len(values))
    while seen < count:  # as many again each time
        more = min(seen, count - seen)
        found[more:] = np.maximum(found[more:], found[:-more])
        seen += more
    return found


def misses(run: Dataset, mechanism: Mechanism) -> dict[str, tuple[float, float]]:
    """Contacts that turn back before they touch, nearer than it is known where bodies are: when (s), and how near."""
    found, time = {}, run.time.values
    listed = {"gap", "impact_time"} <= run.variables.keys()
    for i, label in enumerate(map(str, run.variables["contact"].values) if listed else ()):
        turns = mechanism.joints[mechanism.owner(label)].play_unit != "m"
        known = np.max([run[f"{name}_error"].values for name in (("angle",) if turns else ("x", "y"))], axis=(0, 2))
        gap, free = run["gap"].values[:, i], run["mode"].values[:, i] == 0
        a, b, c = gap[:-2], gap[1:-1], gap[2:]
        struck = run["impact_time"].values[run["impact_contact"].values == label]
        between = np.searchsorted(struck, time[2:], "right") > np.searchsorted(struck, time[:-2])
        back = free[:-2] & free[1:-1] & free[2:] & (b <= a) & (b < c) & ~between
        bend = np.where(back, a - 2 * b + c, 1.0)
        nearest = b - (a - c) ** 2 / (8 * bend)  # of the parabola through three samples
        close = np.flatnonzero(back & (nearest < np.minimum(TOUCHED * known[1:-1], NEARLY * np.ptp(gap))))
        if len(close):
            found[label] = float(time[close[0] + 1]), float(max(nearest[close].min(), 0.0))
    return found


def grazes(run: Dataset) -> dict[str, tuple[float, float]]:
    """Contacts that come back from afar and touch at next to no speed: when (s), and how fast (m/s or rad/s)."""
    found = dict[str, tuple[float, float]]()
    if not {"gap", "impact_approach"} <= run.variables.keys():
        return found
    time, contacts = run.time.values, run.variables["impact_contact"].values
    for i, label in enumerate(map(str, run.variables["contact"].values)):
        struck, speeds = (run.variables[f"impact_{x}"].values[contacts == label] for x in ("time", "approach"))
        inside = np.searchsorted(time, struck)
        for k in range(1, len(struck)):
            gone = run.variables["gap"].values[inside[k - 1] : inside[k], i].max(initial=0.0)
            if speeds[k] * (struck[k] - struck[k - 1]) < GRAZED * gone:
                found.setdefault(label, (float(struck[k]), float(speeds[k])))
    return found


def drawn(value: Any, others: Sequence[Any]) -> Any:
    """How far another draw may be from a value, in 95 of 100 cases, by this one and the others."""
    draws = np.array([value, *others])
    spread = STUDENT[min(len(draws), max(STUDENT))] * draws.std(axis=0, ddof=1) * math.sqrt(1 + 1 / len(draws))
    return spread + np.abs(value - draws.mean(axis=0))
