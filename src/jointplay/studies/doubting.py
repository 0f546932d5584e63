"""What there is to say of a run of a study beside its audit: numbers and labels that are not what they seem to be."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from .. import statics
from ..model.mechanism import Mechanism
from ..model.starts import started
from ..simulation.reading import Reading
from ..simulation.remarks import coarse
from .metrics import MEANS, Metric, quantity, unit_of, whole
from .recorded import Recorded

LOADS = "force", "moment", "effort", "acceleration"  # in names of metrics: what may have no bound
STRUCK = {"N", "N*m", "N or N*m", "m/s^2", "rad/s^2"}  # units of what has an impulse, or a jump, in an impact,
OWNERS = {"joint", "drive", "contact", "row", "body"}  # and whose it is; an actuator's torque has none
LITTLE = 1e-6  # of what contacts pass on: impulses that are no more leave nothing out; and of loads: rounding
PEAKS = {  # over all steps, of what has samples
    **{name: (f"peak_{name}",) for name in ("force", "force_x", "force_y", "moment", "effort")},
    **{name: (f"peak_{name}",) for name in ("x_acceleration", "y_acceleration", "angle_acceleration")},
    "torque": ("peak_effort",),
    "acceleration": ("peak_x_acceleration", "peak_y_acceleration"),
    "normal_force": ("peak_normal",),
}
EXTREMES = "max", "min", "peak"
SEEN = 0.95  # of a peak: what the largest sample is at least where samples show what they are taken of
FEW, FINE = 2, 10  # samples of a brief contact that do not tell its impulse, and that do
PULSE = 0.6  # the mean force of a contact, of its largest
COUNTS = 0.01  # of the impulse of all normal forces: what brief contacts may be off together


def doubts(kept: Recorded, metrics: Sequence[Metric], keep: Sequence[Metric], varied: Collection[str]) -> str:
    """All sentences on a run; varied: the start values that its study varies."""
    reading = kept.reading
    if reading is None:
        return ""
    shown = unseen(reading, metrics, keep) or missed(kept, reading, metrics)
    return " ".join(filter(None, (elsewhere(reading, varied), shown, unstruck(kept, reading, metrics))))


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


def missed(kept: Recorded, reading: Reading, metrics: Sequence[Metric]) -> str:
    """What there is to say of statistics of loads whose samples are too far apart to show compliant contacts: those of
    signals far below the peak that all steps know, and means where brief contacts count."""
    if reading.stepper.impulsive or not len(reading.time):
        return ""
    means = [metric for metric in metrics if metric.statistic in MEANS and strikes(kept, metric)]
    asked = means + [metric for metric in metrics if metric.statistic in EXTREMES]
    sizes = rounding(reading) if asked else {}
    pairs = {metric: pair for metric in asked if (pair := heights(kept, reading, metric, sizes))}
    below = {metric: pair for metric, pair in pairs.items() if pair[0] < SEEN * pair[1]}
    moved = [metric for metric in means if metric in pairs and not pairs[metric][0] >= (1 - LITTLE) * pairs[metric][1]]
    apart, lasts = float(np.diff(reading.time).max(initial=0.0)), brief(reading) if moved else np.zeros(0)
    names = [metric.name for metric in metrics if metric in below or (len(lasts) and metric in moved)]
    if not names:
        return ""
    told = []
    if below:
        metric = min(below, key=lambda one: below[one][0] / below[one][1])
        array = whole(kept, None, metric.quantity, metric.label, 0.0)
        unit = "" if array is None else unit_of(array, kept, metric.label).replace("*", " ")
        sample, peak = (f"{x:.3g} {unit}" for x in below[metric])
        told.append(f"the largest sample of {metric.quantity}[{metric.label}] is {sample}, the peak {peak}")
    if len(lasts):
        told.append(f"contacts lasted {np.median(lasts):.2g} s ({len(lasts)} of them)")
    every = (float(np.median(lasts)) if len(lasts) else apart) / FINE
    return (
        f"This run is doubtful in {', '.join(names)}: samples every {apart:.2g} s miss loads that last less: "
        f"{', and '.join(told)}; keep more samples (every={every:.0e})."
    )


def brief(reading: Reading) -> np.ndarray:
    """How long contacts lasted (s) that have too few samples for a mean, if they count beside all that presses: as each
    sample finds another moment of them, their impulses are off by about themselves, and add up as squares do."""
    late = reading if reading.before is None else Reading(reading.simulation, reading.lane, late=True)
    if "contacts" not in reading.run.program.streams:
        return np.zeros(0)
    rows, apart = late.rows("contacts"), float(np.diff(reading.time).max(initial=0.0))
    few = rows["duration"] < FEW * apart
    off = float(np.linalg.norm(PULSE * rows["force"][few] * rows["duration"][few]))
    borne = late.span * sum(float(np.mean(late.columns[f"{label}.normal"])) for label in late.labels)
    found: np.ndarray = rows["duration"][few]
    return found if off > COUNTS * borne else np.zeros(0)


def heights(kept: Recorded, reading: Reading, metric: Metric, sizes: Mapping[str, float]) -> tuple[float, float] | None:
    """The largest sample of a load and its peak over all steps of the same time, NaN if it has none; nothing of what is
    no load, or rounding."""
    begin = reading.simulation.settled[reading.lane] if reading.before is not None else 0.0
    signal = None if metric.function else quantity(kept, None, metric.quantity, metric.label, 0.0)
    counts = reading.time >= begin - 1e-9
    if signal is None or not counts.any():
        return None
    sample, peak = float(np.abs(signal.values[counts]).max()), math.nan
    for name in PEAKS.get(metric.quantity, ()):
        most, when = (quantity(kept, None, one, metric.label, begin) for one in (name, f"{name}_time"))
        if most is not None and (when is None or begin - 1e-9 <= float(when.values) <= float(reading.time[-1])):
            peak = float(np.fmax(peak, most.values))  # the last step may go beyond the end
    size = sizes.get(str(signal.attrs.get("units", "")).split(" or ")[-1], math.inf)
    return (sample, peak) if np.fmax(sample, peak) > LITTLE * size else None


def rounding(reading: Reading) -> dict[str, float]:
    """Sizes of loads by their units, beside which rounding is small: of weights, of what holds bodies on their paths,
    and of the largest force of a joint."""
    mechanism, size = reading.mechanism, float(statics.sizes(reading.system)[0])
    mass = sum(body.mass for body in mechanism.bodies.values())
    joints = [reading.largest(f"{name}.force") ** 0.5 for name in mechanism.joints]
    force = max(mass * float(np.hypot(*mechanism.gravity)), float(reading.columns["kinetic"].max()) / size, *joints)
    return {"N": force, "N*m": force * size, "m/s^2": force / mass, "rad/s^2": force / (mass * size)}
