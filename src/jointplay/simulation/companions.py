"""The estimated error of the headline numbers of a run: how far companions at other tolerances come out from it.

Where a tolerance chooses the steps there are two companions at looser ones, and a share of the larger of the two
differences is the error that is stated; one companion alone now and then agrees by chance.  They run beside the run, in
other lanes of its program, or after it, in its own: what costs less.  Steps of one length have a companion of half the
step, and twice its difference counts.  How this was chosen, and how well it fits: docs/decisions.md.  Where companions
move in another way than the run, all of them are draws of what the motion may do (likeness.py).
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import statics
from ..errors import InputError
from ..model.control import Control
from ..model.mechanism import Mechanism
from ..physics import record
from ..physics.step import Stepper
from ..run import wants_eager
from .headlines import ABSENT, HEADLINES, MOST, NAMES, REACTIONS, Headlines, headlines, largest, last
from .judgement import judged
from .lanes import default_stepper
from .likeness import Tracks, course, course_of, drawn, forgotten, grazes, misses, strayed, wander
from .outcome import Finding
from .second_looks import by_samples, feeble, first_of_all, unbalanced, unmatched

if TYPE_CHECKING:
    from xarray import Dataset

    from .simulation import Simulation

LOOSER, SHARE = (4.0, 8.0), 0.6  # times the tolerances; of the larger difference to them: what is stated
STRUCK, STRUCK_SHARE = (16.0, 32.0), 0.2  # of steps of impulses, whose companions are dearer
TIGHTER_SHARE = 1.5  # where tolerances can only be tighter, a 4th and an 8th
WHOLE = (
    1.0  # of the difference, where a companion was elsewhere for a while: what it says then shrinks with no tolerance
)
HALVED = 2.0  # times the difference to half the step, which is half the error of a scheme of first order
UNKNOWN = 0.1  # of a number: what is not known to this is not determined
SHARED = 0.05  # of the time: by so much shares of it are known at best where a motion is sensitive
NOTHING = 1e-9  # of the largest of its family: what is less is determined, whatever it is, and may as well be none
RESTING = 1e-8  # of what is not balanced by it: an acceleration of what rests, as well as its start is found
ROUNDING = 1e-12  # of the largest of its family: no error is stated below this
OFTEN = 3  # impacts of a joint that may change those of another
SHUT = ("sliding", "sticking")  # what contacts are that are not free
SAME = 1e-9  # m or rad: a motion of less is none
PICKED = 0.999  # of a peak: where a reaction is so large while it is open, the peak is one that was picked
POLES = ("force", "force_x", "force_y", "moment", *(name for name in record.BODIES if name.endswith("_acceleration")))
NOISY = ("forces", "controls", "accelerations", "angular accelerations")  # families in which a steep law is heard
BESIDE = 0.1  # of the usual conditioning: a peak where it is less belongs to a singular position
FORGOTTEN = (
    "{0} moves in another way at another tolerance: the motion is sensitive, and numbers that depend on its course, "
    "such as peaks and counts, may come out anywhere within their errors; shares and means over a longer time tell more"
)
STRAYED = (
    "{0} is elsewhere for a while at another tolerance: numbers of that time, and what follows from it, may be off by "
    "more than their errors; compare two tolerances"
)
SLIPS = (
    "{0} sticks and slips: in steps of one length the instant at which it begins to slip is known to a step, which "
    "half a step and a third may share, so that errors may be larger than stated; steps chosen by a tolerance tell them"
)
MISSED = (
    "{0}: turns back at t = {1:.6g} s before it touches, by {2:.1g} m or rad, less than places of bodies are known to: "
    "whether it touches there is open, and so is what follows; a tighter tolerance tells"
)
GRAZED = (
    "{0}: comes back from afar and touches at t = {1:.6g} s at {2:.1g} m/s or rad/s, next to nothing: what follows "
    "goes by errors of that speed, and numbers may be off by several times their errors; a tighter tolerance tells"
)
SEVERAL = (
    "{0} strike in turn: a small error of one impact may change which of them strikes next, also in companions, and of "
    "100 such runs some 3 have shares of time and impulses that are off by more than 3 times their errors (by 1 to "
    "10 %); compare two tolerances, or two lengths of steps, where they matter"
)


class Other(NamedTuple):
    """What is compared of another run: its headline numbers, and its course."""

    headlines: Headlines
    course: Tracks


class Company(NamedTuple):
    """The companions of a run: steppers, the share of the larger difference to them that is stated, and whether they
    run beside it, in lanes, or after it."""

    steppers: Sequence[Stepper] = ()
    share: float = 1.0
    beside: bool = False


def companions(error: bool | None, given: Stepper | Mechanism, loop: Control | None) -> Company:
    """The companions of a run with a stepper, or the default one of a mechanism: only where a tolerance chooses the
    steps and no Python function is called on the way, which may remember what it was asked; unless asked for, not in
    eager runs, and not beside a stepper of one's own that does not say what is finer."""
    if error is not None and not isinstance(error, bool):
        raise InputError(f"error must be True, False or None, got {error!r}")
    stepper = default_stepper(given) if isinstance(given, Mechanism) else given
    called = loop is not None and not loop.computed
    if error is False or not isinstance(stepper, Stepper) or not stepper.adaptive or called:
        return Company()
    if error is None and (not stepper.refinable or wants_eager()):
        return Company()
    times, share = (STRUCK, STRUCK_SHARE) if stepper.impulsive else (LOOSER, SHARE)
    try:
        return Company([at_tolerance(stepper, ratio) for ratio in times], share, not stepper.impulsive)
    except InputError:  # no looser one is allowed
        return Company([at_tolerance(stepper, 1 / ratio) for ratio in LOOSER], TIGHTER_SHARE, not stepper.impulsive)


def finer_steppers(stepper: Stepper) -> list[Stepper]:
    """Steppers of half the steps and, where these have one length, of a third: an instant that is known to a step, such
    as that of a peak, or the one at which a contact begins to slip, is often the same in two of these."""
    return [stepper.finer()] + ([] if stepper.adaptive else [at_tolerance(stepper, 1 / 3)])


def at_tolerance(stepper: Stepper, times: float) -> Stepper:
    """The stepper at so many times its tolerances; numbers that half a step divides by less, such as the longest step,
    follow by as much less."""
    finer = stepper.finer().given()
    ratios = {name: x / finer[name] for name, x in stepper.given().items()}
    most = math.log(max(*ratios.values(), 1.0 + NOTHING))
    powers = {name: math.log(ratio) / most if ratio > 1 else 1.0 for name, ratio in ratios.items()}
    return replace(stepper, **{name: x * times ** powers[name] for name, x in stepper.given().items()})


def other(run: Dataset) -> Other:
    """What is compared of another run, by its result."""
    return Other(last(run), course(run))


def other_of(simulation: Simulation, lane: int) -> Other:
    """The same of a lane, without making a result of it."""
    from .reading import Reading

    with simulation.cut(lane):
        reading = Reading(simulation, lane)
        every = reading.variables() | reading.stored()
        found = {name: np.atleast_1d(one[1]) for name, one in every.items() if name in NAMES}
        if lane in simulation.earlier:
            late = Reading(simulation, lane, late=True).settled()
            found |= {name: np.atleast_1d(one[1]) for name, one in late.items() if name in NAMES}
    for name, signal in record.BODIES.items():
        if name in NAMES:
            found[name] = np.array([reading.columns[body + signal.end][-1] for body in reading.mechanism.bodies])
    ends = {name: signal.end for name, signal in record.ENERGIES.items() if name in NAMES}
    found |= {name: reading.columns[end][-1:] for name, end in ends.items() if end in reading.columns}
    return Other(found, course_of(reading))


def errors(
    run: Dataset,
    others: Sequence[Headlines],
    mechanism: Mechanism,
    times: float,
    draws: bool = False,
    sensitive: bool = False,
    late: Mapping[str, np.ndarray] | None = None,
) -> list[dict[str, Any]]:
    """The headline numbers of a run, each with its unit, its estimated error and whether it is determined; times: the
    error over the largest difference to the other runs; draws: it is by what they are that another one may be;
    sensitive: no better than a tenth of what is the largest of a motion, and than some of the time of shares; late:
    what errors are at least, by how they were lately."""
    found, entries = headlines(run, mechanism), []
    most, balanced, forces = largest(found, run), unbalanced(run, mechanism), ("peak_force", "joint_impulse")
    torques = {f"{name}.{force}" for name, joint in mechanism.joints.items() if not joint.points for force in forces}
    for variable, some in found.items():
        for i, (name, value, unit, scale, family) in enumerate(some):
            absent = value == 0 and variable.startswith(ABSENT)
            if not math.isfinite(value) or absent or name.removesuffix("_settled") in torques:  # of a torque alone
                continue
            there = [float(other[variable][i]) for other in others]
            apart = float(drawn(value, there)) if draws else max(abs(value - x) for x in there)
            alone = variable.startswith(MOST) and unmatched(value, there)
            error = (1.0 if draws or alone else times) * apart + ROUNDING * most[family] if value or apart else 0.0
            lately = (late or {}).get(variable.removesuffix("_settled"))  # what counts later differs by a constant
            error = max(error, float(lately[i])) if lately is not None and apart else error
            if sensitive:
                error = max(error, UNKNOWN * abs(value) if variable.startswith(MOST) else 0.0)
                error = max(error, SHARED if family == "shares" and apart else 0.0)
            error = max(apart, feeble(run, name)) if family == "counts" else error
            alike = apart <= NOTHING * abs(value) or times == HALVED  # the same steps, or ends of them that are
            error = max(error, by_samples(run, variable, i, value, mechanism, alike))
            nothing = max(NOTHING * most[family], RESTING * balanced.get(name.removesuffix("_settled"), 0.0))
            error = max(error, abs(value)) if 0 < abs(value) <= nothing else error
            known = math.isfinite(error)
            determined = known and error <= max(UNKNOWN * scale, nothing)
            shown = {"name": name, "value": value, "unit": unit, "error": error if known else None}
            entries.append({**shown, "determined": determined, "scale": scale})
    return entries


def beyond(run: Dataset, simulation: Simulation) -> set[str]:
    """Numbers of which companions know nothing: reactions that balance leaves open, all that friction makes of them,
    and peaks beside a singularity."""
    one, every = simulation.each[0], headlines(run, simulation.base.mechanism)
    found, among = unbounded(run, simulation), set(json.loads(run.attrs["open_reactions"]))
    for variable, some in every.items():
        what, begin = variable.removesuffix("_settled"), run.attrs["settled"] if "_settled" in variable else 0.0
        for name, value, *_ in some if what in REACTIONS else ():
            if (label := name.rpartition(".")[0]) in among:
                ways = [way for t, way in one.leeways[label].items() if t >= begin]
                found |= {name} if passed(run, what, value, ways) else set()
    if one.undecided:  # only what is driven is known
        driven = {"angles", "places"} if one.freedom.degrees == 0 else set()
        found |= {one.name for one in itertools.chain(*every.values()) if one.family not in driven}
    return found


def passed(run: Dataset, what: str, value: float, open_ways: Sequence[statics.Leeway]) -> bool:
    """Whether the largest of a reaction is one of those that are open, or may be less than one of them.  Friction that
    sticks bears part of an impact only where the contacts that rub are pressed in it."""
    if HEADLINES[what] == "impulses" and open_ways and all(math.isfinite(way.most) for way in open_ways):
        rough = (run.variables["friction_force"].values != 0).any(axis=0)
        return bool(run.variables["peak_impulse"].values[rough].max(initial=0.0) > NOTHING * value)
    return any(max(PICKED * way.most, way.now) > PICKED * value or what == "peak_moment" for way in open_ways)


def least(run: Dataset, simulation: Simulation) -> dict[str, float]:
    """What errors of some numbers are at least: companions may share what a step does."""
    from .reading import Reading
    from .remarks import noise

    found, share = leaving(simulation), noise(Reading(simulation, 0))
    for variable, some in headlines(run, simulation.base.mechanism).items() if share else ():
        for i, one in enumerate(some):
            heard = one.family in NOISY and not first_of_all(run, variable, i, one.value)
            found |= {one.name: share * abs(one.value)} if heard else {}
    return found


def leaving(simulation: Simulation) -> dict[str, float]:
    """How far shares of time may be off by chosen steps in which contacts let go, which companions may share."""
    from .reading import Reading

    found: dict[str, float] = {}
    for end in ("", "_settled") if 0 in simulation.earlier else ("",):
        reading = Reading(simulation, 0, late=bool(end))
        kept = {label: name for label in reading.labels if (name := f"{label}.leaving") in reading.run.places}
        off = {label: reading.number(name) / reading.span for label, name in kept.items()}
        found |= {f"{label}.share_{what}{end}": x for label, x in off.items() for what in ("free", *SHUT)}
    return found


def with_slips(run: Dataset) -> Dataset:
    """The run, with a note on the first contact that sticks in some samples and slides in others."""
    if "mode" not in run.variables:
        return run
    mode = run.variables["mode"]
    sliding, sticking = (
        (mode.values == flag).any(axis=0)
        for flag, text in zip(mode.attrs["flag_values"], mode.attrs["flag_meanings"].split(), strict=True)
        if text in SHUT
    )
    slips = run.variables["contact"].values[sliding & sticking]
    return noted(run, SLIPS.format(slips[0])) if len(slips) else run


def unbounded(run: Dataset, simulation: Simulation) -> set[str]:
    """The peaks of a run that lie beside a singular position which it passed: they tell how near a step came, and are
    the same in companions that take the same steps."""
    if not ("singular.passes" in simulation.run.places and simulation.run["singular.passes"][0] > 0):
        return set()
    system, time = simulation.system(), run.time.values
    q = np.stack([run[name].values for name in ("x", "y", "angle")], axis=-1).reshape(len(time), -1)

    def firm(t: float) -> float:
        at = [np.interp(t, time, column) for column in q.T]
        return statics.freedom(system, at, t).conditioning

    usual = float(np.median([firm(t) for t in np.linspace(time[0], time[-1], 21)]))
    found = set()
    peaks = (f"peak_{what}{end}" for what in POLES for end in ("", "_settled"))
    for name in (name for name in peaks if name in run.variables):
        labels, times = run.variables[str(run.variables[name].dims[0])].values, run.variables[f"{name}_time"].values
        found |= {f"{label}.{name}" for label, t in zip(labels, times, strict=True) if firm(t) < BESIDE * usual}
    return found


def stated(
    run: Dataset,
    others: Mapping[str, Other | str],
    mechanism: Mechanism,
    times: float,
    lost: Collection[str],
    least: Mapping[str, float],
) -> Dataset:
    """The run with its errors as an attribute, by those of its companions that got to the end; of the others there is a
    text that says why not.  lost: numbers of which companions know nothing; least: errors of some at least."""
    from ..results import NOT_DETERMINED  # loaded after the first step

    whole = [other for other in others.values() if not isinstance(other, str)]
    if whole:
        courses = [one.course for one in whole]
        astray, aside = (look(run, courses, mechanism) for look in (forgotten, strayed))
        times = max(times, WHOLE) if aside else times
        wandered = wander(run, courses, times, bool(astray))
        late = {name: off[-1] for name, off in wandered.items()}
        lines = [one.headlines for one in whole]
        found = errors(run, lines, mechanism, times, bool(astray), bool(astray or aside), late)
        found = [one | {"error": None, "determined": False} if one["name"] in lost else one for one in found]
        for one in found:
            if one["error"] is not None and one["error"] < (error := least.get(one["name"], 0.0)):
                one |= {"error": error, "determined": error <= UNKNOWN * one["scale"]}
        text = run.attrs.pop("judgement_text")
        unknown = ", ".join(one["name"] for one in found if not one["determined"])
        run.attrs |= {"errors": json.dumps(found), **({NOT_DETERMINED: unknown} if unknown else {})}
        run.attrs["judgement_text"] = text
        for name, off in ((name, off) for name, off in wandered.items() if name in record.BODIES):
            said = {"units": record.BODIES[name].unit, "long_name": f"estimated error: {record.BODIES[name].text}"}
            run[f"{name}_error"] = (("time", "body"), off.astype(np.float32), said)
        return noted(run, FORGOTTEN.format(astray)) if astray else doubted(run, aside, mechanism)
    ends = "; ".join(f"{name}: {text}" for name, text in others.items())
    return noted(run, f"no error is stated, for no companion of this run reached its end ({ends})")


def doubted(run: Dataset, aside: str, mechanism: Mechanism) -> Dataset:
    """The run with notes on what is elsewhere for a while in a companion, on joints that strike each other, and on
    contacts that hardly touch."""
    together = [] if aside else in_turn(run, mechanism)
    run = noted(run, STRAYED.format(aside)) if aside else run
    run = noted(run, SEVERAL.format(" and ".join(together))) if together else run
    for label, (time, gap) in misses(run, mechanism).items():
        run = noted(run, MISSED.format(label, time, gap))
    for label, (time, speed) in grazes(run).items():
        run = noted(run, GRAZED.format(label, time, speed))
    return run


def in_turn(run: Dataset, mechanism: Mechanism) -> list[str]:
    """The joints that strike by rigid contact, each more than once or twice, if there are several."""
    if "impact_normal" not in run.variables:
        return []
    struck = dict(zip(run.variables["contact"].values, run.variables["impacts"].values, strict=True))
    often = [
        name
        for name in mechanism.joints
        if sum(n for label, n in struck.items() if label == name or label.startswith(f"{name}.")) >= OFTEN
    ]
    return often if len(often) > 1 else []


def noted(run: Dataset, note: str) -> Dataset:
    """The run with a note more."""
    run.attrs["notes"] = json.dumps([*json.loads(run.attrs["notes"]), note])
    return run


def step_errors(run: Dataset, finer: Dataset) -> list[Finding]:
    """The largest differences of angles and places of two runs with the same samples: the error of the coarser."""
    both = min(run.sizes["time"], finer.sizes["time"])
    pairs = {name: (run[name].values[:both], finer[name].values[:both]) for name in ("angle", "x", "y")}
    off = {name: float(np.abs(one - other).max()) for name, (one, other) in pairs.items()}
    span = {name: float(np.ptp(one, axis=0).max()) for name, (one, _) in pairs.items()}
    found = [
        Finding("error of angles by a finer run", off["angle"], "rad"),
        Finding("error of places by a finer run", max(off["x"], off["y"]), "m"),
    ]
    return judged(found, {"angles": span["angle"] + SAME, "places": max(span["x"], span["y"]) + SAME})
