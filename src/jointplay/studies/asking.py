"""What is asked of a study, read and checked: its subject, its plan, what every run does."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from .._version import __version__
from ..errors import InputError
from ..model.control import Control
from ..model.mechanism import Mechanism
from ..model.units import shorten
from ..physics.step import is_number
from ..simulation import Stepper, dividing, seconds, settled_time
from ..system import System
from . import metrics as meters
from .axes import Fitted, address_of, read_axes, refuse
from .fingerprint import described
from .plan import Plan
from .sampling import Samples, draw
from .store import FORMAT
from .subject import Machine, PlainFunction, Subject
from .work import Job


def times_of(given: Mechanism | System, until: Any, every: Any, settled: Any) -> tuple[Any, Any, Any]:
    """Times that may be texts, as in `simulate`: "500 ms", "2 turns of motor"."""
    until, every = seconds("until", until), seconds("every", every)
    if isinstance(settled, str) and is_number(until):
        settled = settled_time(given.mechanism if isinstance(given, System) else given, settled, until)
    return until, every, settled


def settle_alike(machine: Subject, plan: Plan, given: Any, until: float) -> None:
    """Refuse turns of a drive that take one time in some runs and another in others; ends of each axis tell."""
    if not isinstance(given, str) or not isinstance(machine, Machine):
        return
    first: float | None = None
    for i, dimension in enumerate(plan.dimensions):
        for address, column in dimension.columns.items():
            labels = column.dtype == object
            for place in range(len(column)) if labels else (int(column.argmin()), int(column.argmax())):
                at = [place if k == i else 0 for k in range(len(plan.shape))]
                task = machine.task(plan.settings(int(np.ravel_multi_index(at, plan.shape))))
                time = settled_time(task.mechanism.with_(task.numbers), given, until)
                first = time if first is None else first
                if not np.isclose(time, first, rtol=1e-5):
                    text = f"is {first:g} s in one run and {time:g} s in another, as {address} is varied"
                    raise InputError(f"settled: {given!r} {text}; give a time, such as the longest of them")


def subject_of(
    given: Any, over: Mapping[Any, Any], stepper: Stepper | None, control: Control | None, start: Any, settled: Any
) -> Subject:
    """What is run, with its named values."""
    named = {key: dict(x) for key, x in over.items() if isinstance(x, Mapping)} if isinstance(over, Mapping) else {}
    if isinstance(given, System):
        given = given.given
    if not isinstance(given, Mechanism):
        if not callable(given):
            raise InputError(f"sweep: expected a mechanism or a function of numbers, got {shorten(given)}")
        return PlainFunction(given, named)
    if stepper is not None and not isinstance(stepper, Stepper):
        raise InputError(f"stepper must be RungeKutta(), FixedRungeKutta(step) or MoreauJean(), got {stepper!r}")
    mechanism = given if control is None else given.replace(control=control)
    mechanism = mechanism.with_({f"start.{key}": x for key, x in start.items()}) if start else mechanism
    if settled:
        mechanism = mechanism.model_copy(update={"control": counted(mechanism.control, settled)})
        named |= {a: {label: counted(x, settled) for label, x in named[a].items()} for a in named if a == "control"}
    return Machine(fitted(mechanism, over), stepper, named)


def counted(loop: Any, settled: Any) -> Any:
    """A control loop, if it is one, whose statistics begin at `settled` (s) unless it has a time of its own."""
    if isinstance(loop, Mapping):
        return {**loop, "settled": loop.get("settled") or settled}
    return loop.model_copy(update={"settled": settled}) if isinstance(loop, Control) and not loop.settled else loop


def refuse_whole(job: Job, plan: Plan) -> None:
    """Refuse the statistics of a control loop over the whole run where they begin later."""
    asked = [m.name for m in job.metrics if m.statistic == meters.WHOLE and m.quantity in meters.LOOP]
    if not asked or not isinstance(job.subject, Machine):
        return
    for run in (0, len(plan) - 1):
        late = 0.0
        with contextlib.suppress(Exception):  # which the run will tell
            task = job.subject.task(plan.settings(run))
            late = getattr(task.mechanism.with_(task.numbers).control, "settled", 0.0)
        if late:
            remedy = "leave whole out, or compute it in a study without settled"
            raise InputError(
                f"metric {asked[0]!r}: the control loop counts from {late:g} s on (settled) only; {remedy}"
            )


def fitted(mechanism: Mechanism, over: Any) -> Mechanism:
    """The mechanism with the radii of the fits that are varied."""
    given = over.items() if isinstance(over, Mapping) else ()
    varied = [(address, x) for key, x in given for address in (key if isinstance(key, tuple) else (key,))]
    for address, x in varied:
        if isinstance(x, str | Fitted) and isinstance(address, str) and address_of(address).endswith(".clearance"):
            joint = address_of(address).removesuffix(".clearance")
            mechanism = mechanism.loosen(joint, fit=x.fit if isinstance(x, Fitted) else x)
            radius = f"{joint}.{mechanism.joints[joint].inner}"
            if radius in dict(varied):
                refuse(radius, "is already given by the fit; keep one")
    return mechanism


def plan_of(subject: Subject, over: Mapping[Any, Any], samples: Samples | int | None, seed: int) -> Plan:
    """The runs that are asked for."""
    axes = read_axes(over, subject.read, subject.check)
    chosen = Samples(int(samples)) if isinstance(samples, int | np.integer) else samples
    if axes.drawn and chosen is None:
        names = ", ".join(",".join(a) for a in axes.drawn)
        raise InputError(f"{names}: a distribution needs samples, so many: samples=jp.samples(1000), or --samples 1000")
    if chosen is None:
        return Plan(axes.dimensions)
    if not isinstance(chosen, Samples) or chosen.count < 1:
        raise InputError(f"samples: must be jp.samples(n, method=...) or a number >= 1, got {samples!r}")
    if not axes.drawn:
        text = "there is nothing to draw; give an axis a distribution, such as jp.uniform(0, 1e-3) or a fit"
        raise InputError(f"samples: {text}")
    told_how: dict[str, Any] = {"method": chosen.method, "factors": [list(a) for a in axes.drawn], "seed": seed}
    told_how["fits"] = {a: law.fit for of, law in axes.drawn.items() if isinstance(law, Fitted) for a in of}
    told_how["correlated"] = chosen.correlation is not None
    return Plan((*axes.dimensions, draw(axes.drawn, chosen, seed)), told_how)


def job_of(subject: Subject, until: Any, every: Any, settled: Any, reclose: bool, metrics: Any, keep: Any) -> Job:
    """What every run does."""
    if isinstance(subject, PlainFunction):
        names = tuple([metrics] if isinstance(metrics, str) else metrics or ())
        if not all(isinstance(name, str) for name in names):
            raise InputError("metrics: of a function they are the names of the numbers it gives")
        return Job(subject, names=names)
    for name, x, least in (("until", until, 0), ("every", every, 0), ("settled", settled, None)):
        wanted = "> 0" if least == 0 else ">= 0"
        if not (x is None and name == "every") and not (is_number(x) and (x > 0 or (least is None and x == 0))):
            raise InputError(f"{name} must be a number of seconds {wanted}, got {x!r}")
    if every is not None and every > until:
        raise InputError(f"every = {every:g} s is longer than the run of {until:g} s; choose every <= until")
    if settled >= until:
        raise InputError(f"settled = {settled:g} s leaves nothing of the run of {until:g} s")
    asked = meters.read_metrics(metrics)
    if not asked and not keep:
        raise InputError("metrics: say which numbers of a run to keep, such as metrics=['peak_force[J2]']")
    kept = meters.read_metrics(keep)
    for one in kept:
        if one.statistic or one.function:
            raise InputError(f"keep: must be names of signals such as 'angle[rocker]', got {one.name!r}")
    every = None if every is None else dividing(every, until)  # so that `final` is the end
    return Job(subject, asked, kept, float(until), every, float(settled), bool(reclose))


def kept_alike(job: Job, plan: Plan) -> Job:
    """The job with a time between samples that all steps divide, so that signals which are kept have the same times in
    all runs; refused where there is none near the one asked for, or runs would not end at the same time."""
    if not job.keep or not isinstance(job.subject, Machine):
        return job
    varied = (any(address.partition(".")[0] == "stepper" for address in d.columns) for d in plan.dimensions)
    steppers = set()
    for run in plan.numbers(tuple(slice(None) if yes else slice(1) for yes in varied)).ravel().tolist():
        with contextlib.suppress(Exception):  # which the run will tell
            steppers.add(job.subject.task(plan.settings(run)).stepper)
    wanted = {"every": job.course.between, "until": job.until}
    apart = [name for name, x in wanted.items() if np.ptp([s.whole(x) for s in steppers] or [x]) > 1e-9 * x]
    if not apart:
        return job
    steps: list[float] = sorted({s.step for s in steppers if s.whole(0.0)})  # type: ignore[attr-defined]  # others go anywhere
    shares = [Fraction(step / steps[0]).limit_denominator(1000) for step in steps]
    common = steps[0] * math.lcm(*(x.numerator for x in shares)) / math.gcd(*(x.denominator for x in shares))
    text = f"keep: runs with steps of {', '.join(f'{step:g}' for step in steps[:4])}{' ...' * (len(steps) > 4)} s"
    if common > job.until or not np.allclose([steps[0] * float(x) for x in shares], steps, 1e-9, 0):
        raise InputError(f"{text} have no samples at the same times; choose steps that divide a longer one, or no keep")
    if "until" in apart:
        end = max(1, round(job.until / common)) * common
        raise InputError(f"{text} do not end at the same time, until = {job.until:g} s; choose until = {end:.9g} s")
    count = round(max(wanted["every"], steps[-1]) / common)
    if not count and job.every is not None:
        raise InputError(f"{text} have no common samples {job.every:g} s apart (every); choose every = {common:.9g} s")
    return replace(job, every=max(1, count) * common)


def attributes(job: Job, plan: Plan, metrics: Any, keep: Any) -> dict[str, Any]:
    """What a store says of its study, and what tells it from another (`told`)."""
    listed = [metrics] if isinstance(metrics, str) or callable(metrics) else list(metrics or ())
    what = {"version": __version__, **job.subject.told(), "until": job.until, "every": job.every}
    what |= {"settled": job.settled, "reclose": job.reclose}
    if job.settled:
        what["peaks_from"] = job.settled  # studies before had those of the whole run
    what |= {"metrics": [described(x) for x in listed], "keep": [str(x) for x in keep or ()]}
    what["axes"] = plan.digests()
    return {
        "format": FORMAT,
        "kind": job.subject.kind,
        "title": job.subject.title,
        "told": what,
        "dimensions": {d.name: [list(d.columns), list(d.extras)] for d in plan.dimensions},
        "units": {a: job.subject.unit(a) for d in plan.dimensions for a in d.columns},
        "samples": dict(plan.attrs),
    }
