"""What there is to say of a run of a study beside its audit: numbers and labels that are not what they seem to be."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from .. import statics
from ..model.mechanism import Mechanism
from ..model.starts import started
from ..simulation.reading import Reading
from ..simulation.remarks import coarse
from .metrics import MEANS, Metric, whole
from .recorded import Recorded

LOADS = "force", "moment", "effort", "acceleration"  # in names of metrics: what may have no bound
STRUCK = {"N", "N*m", "N or N*m", "m/s^2", "rad/s^2"}  # units of what has an impulse, or a jump, in an impact,
OWNERS = {"joint", "drive", "contact", "row", "body"}  # and whose it is; an actuator's torque has none
LITTLE = 1e-6  # of what contacts pass on: impulses that are no more leave nothing out


def doubts(kept: Recorded, metrics: Sequence[Metric], keep: Sequence[Metric], varied: Collection[str]) -> str:
    """All sentences on a run; varied: the start values that its study varies."""
    reading = kept.reading
    if reading is None:
        return ""
    found = elsewhere(reading, varied), unseen(reading, metrics, keep), unstruck(kept, reading, metrics)
    return " ".join(filter(None, found))


def elsewhere(reading: Reading, varied: Collection[str]) -> str:
    """What there is to say of a run that does not begin where its start values say."""
    one = reading.one
    found = statics.guessed(one.system, one.q, varied)
    if not found:
        return ""
    ways = dict.fromkeys(filter(None, (drive_start(one.system.mechanism, key) for key in found)))
    told = "; ".join([*found.values(), *(f"vary {way} instead" for way in ways)])
    return f"This run is doubtful in where it begins: {told}."


def drive_start(mechanism: Mechanism, key: str) -> str:
    """The address that says where a drive begins that prescribes a start value; nothing if there is none."""
    body, rest = started(key)
    moves = rest.removeprefix(".") or "angle"
    names = (n for n, drive in mechanism.drives.items() if (drive.of, drive.prescribes) == (body, moves))
    return next((a for name in names if (a := f"{name}.start") in mechanism.addresses()), "")


def unseen(reading: Reading, metrics: Sequence[Metric], keep: Sequence[Metric]) -> str:
    """What there is to say of a run whose samples do not show its motion, if numbers are taken over them, or of one
    that passes a singular position, if these are of loads."""
    names = [metric.name for metric in metrics if metric.sampled] + [metric.name for metric in keep]
    text = coarse(reading) if names else ""
    if text:
        doubtful = f"This run is doubtful in {', '.join(names)}: {text}"
        return f"{doubtful}; choose a shorter time between samples (every)."
    loads = [metric.name for metric in [*metrics, *keep] if any(part in metric.name for part in LOADS)]
    if not (loads and reading.lasting("singular.passes") > 0):
        return ""
    said = "it passed a singular position, and a sample or step beside one has forces and accelerations of no meaning"
    return f"This run is doubtful in {', '.join(loads)}: {said}."


def unstruck(kept: Recorded, reading: Reading, metrics: Sequence[Metric]) -> str:
    """What there is to say of means of forces that leave out the impulses of rigid impacts."""
    names = [metric.name for metric in metrics if metric.statistic in MEANS and strikes(kept, metric)]
    if not names or not reading.stepper.impulsive or not reading.labels:
        return ""
    late = reading if reading.before is None else Reading(reading.simulation, reading.lane, late=True)
    count = sum(int(late.number(f"{label}.impacts")) for label in late.labels)
    struck = float(late.rows("impacts")["normal"].sum())
    borne = late.span * sum(float(np.mean(late.columns[f"{label}.normal"])) for label in late.labels)
    if not count or struck <= LITTLE * (struck + borne):
        return ""
    many = "the impulse of one impact" if count == 1 else f"the impulses of {count} impacts"
    return (
        f"This run is doubtful in {', '.join(names)}: samples of rigid contact hold what acts between impacts, and "
        f"leave out {many}; work over the angle tells the mean torque of a drive, compliant contact the rest."
    )


def strikes(kept: Recorded, metric: Metric) -> bool:
    """Whether a metric is of a signal that an impact of rigid contact makes infinite for a moment."""
    array = None if metric.function else whole(kept, None, metric.quantity, metric.label, 0.0)
    return array is not None and array.attrs.get("units") in STRUCK and bool(OWNERS & set(array.dims))
