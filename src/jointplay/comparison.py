"""The same mechanism with rigid, compliant, permanent and no play in its loose joints, side by side."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .elements import Joint
from .elements.contacts import Compliant, Contact, Following, Rigid
from .errors import InputError
from .model.mechanism import Mechanism
from .model.parts import ModelError, Problem
from .results import apart
from .simulation import Stepper, planned
from .simulation.judgement import FINE
from .system import System

if TYPE_CHECKING:
    from xarray import Dataset

IDEAL, ROUGH = "ideal", "ideal+friction"
DEFAULTS: tuple[Contact, ...] = (Rigid(), Following(on_loss="continue"))


def compare(
    mechanism: Mechanism | System,
    contacts: Iterable[Contact] | Mapping[str, Contact] | None = None,
    *,
    until: float,
    steppers: Mapping[str, Stepper] | None = None,
    every: float | None = None,
    baseline: Literal["ideal", "ideal+friction"] = "ideal",
) -> Dataset:
    """Runs a mechanism once for each contact, put into all its loose joints, and once with these joints ideal.

    contacts: values, or by names of one's own; rigid, compliant and permanent contact with their default numbers
    unless given.  until, every: as in `simulate`, in s; the last sample is at the end.  steppers: by the names of the
    contacts; without one rigid contact has MoreauJean(), all else RungeKutta().  baseline: what deviations are counted
    from; "ideal+friction" is the twin whose ideal joints have the friction law of the first compliant contact, so that
    what is left is the work of the clearance.  The table, over the dimension `contact` (the baseline first)::

        deviation      largest difference of a body's angle to the baseline (rad), while both ran
        shift          the same for the place of its mass centre (m)
        peak_force     largest force of a joint over all steps (N); of rigid contact between impacts, whose forces have
                       no bound: `peak_impulse` (N s) is their largest impulse
        energy_lost    in contacts by impacts, damping and friction (J)
        steps, cost    steps taken; wall time per simulated second (s/s), without `preparation` (s)
        reached, outcome   the time (s) at which the run ended, and how

    >>> from jointplay.model import library
    >>> found = compare(library.crank_rocker_2016(clearance2=1e-3), [Rigid()], until=0.01)
    >>> [str(name) for name in found["contact"].values]
    ['ideal', 'rigid']
    """
    from xarray import Dataset

    mechanism = mechanism.given if isinstance(mechanism, System) else mechanism
    loose = {n: j for n, j in mechanism.joints.items() if j.looseness > 0}
    if not loose:
        raise InputError(f"compare: no joint of {mechanism.name!r} is loose; give one a clearance, with loosen")
    if baseline not in (IDEAL, ROUGH):
        raise InputError(f"compare: baseline must be {IDEAL!r} or {ROUGH!r}, got {baseline!r}")
    chosen = named((DEFAULTS[0], Compliant(), *DEFAULTS[1:]) if contacts is None else contacts)
    variants = all_variants(mechanism, loose, chosen, baseline)
    given = dict(steppers or {})
    unknown = [name for name in given if name not in variants]
    if unknown:
        raise InputError(f"compare: no contact {unknown[0]!r} for its stepper; there are {', '.join(variants)}")
    rows: list[dict[str, Any]] = []
    runs: dict[str, Dataset] = {}
    for name, variant in variants.items():
        begin = time.perf_counter()
        simulation = planned(variant, until, given.get(name), every, meets=True)
        ready = time.perf_counter()
        simulation.advance(until, beyond=True)
        reached = float(simulation.time[0])
        cost = (time.perf_counter() - ready) / reached if reached else np.nan
        runs[name] = run = simulation.result()
        rows.append(row(run, runs[baseline]) | {"cost": cost, "preparation": ready - begin})
    labels = {"contact": list(variants), "body": list(mechanism.bodies), "joint": list(mechanism.joints)}
    data: dict[str, Any] = {}
    for key, (dimensions, unit, text) in COLUMNS.items():
        said = {"units": unit, "long_name": text} if unit else {"long_name": text}
        data[key] = (("contact", *dimensions), np.array([one[key] for one in rows]), said)
    attrs = {"title": mechanism.name, "until": until, "loose": ", ".join(loose), "baseline": baseline}
    return Dataset(data, labels, attrs)


def all_variants(
    mechanism: Mechanism, loose: Mapping[str, Joint], chosen: Mapping[str, Contact], baseline: str
) -> dict[str, Mechanism]:
    """The mechanism without play, and with each of the contacts in its loose joints; the baseline first."""
    variants = {IDEAL: mechanism.closed()}
    if baseline == ROUGH:
        variants = {ROUGH: rough(variants[IDEAL], loose, chosen.values()), **variants}
    for name, contact in chosen.items():
        variants[name] = mechanism
        for joint, held in loose.items():
            variants[name] = variants[name].loosen(joint, held.looseness, contact=contact)
    return variants


COLUMNS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "deviation": (("body",), "rad", "largest difference of the angle to the baseline"),
    "shift": (("body",), "m", "largest distance of the mass centre to that of the baseline"),
    "peak_force": (("joint",), "N", "largest force over all steps, of rigid contact between impacts"),
    "peak_impulse": ((), "N*s", "largest impulse of an impact"),
    "energy_lost": ((), "J", "energy lost in contacts"),
    "steps": ((), "", "steps taken"),
    "cost": ((), "1", "wall time per simulated time"),
    "preparation": ((), "s", "time to make the equations and their code"),
    "reached": ((), "s", "time that the run reached"),
    "outcome": ((), "", "how the run ended"),
    "judgement": ((), "", "fine, or what is doubtful or wrong of the run"),
}


def named(contacts: Iterable[Contact] | Mapping[str, Contact]) -> dict[str, Contact]:
    """The contacts by name: their kinds, numbered where a kind comes twice."""
    if isinstance(contacts, Mapping):
        result = dict(contacts)
    else:
        listed = list(contacts)
        kinds = [getattr(contact, "kind", "") for contact in listed]
        counts = {kind: itertools.count(1) for kind in kinds}
        names = [kind if kinds.count(kind) == 1 else f"{kind} {next(counts[kind])}" for kind in kinds]
        result = dict(zip(names, listed, strict=True))
    for name, contact in result.items():
        if not isinstance(contact, Following | Rigid | Compliant):
            raise InputError(f"compare: contacts are Rigid, Compliant or Following values, got {contact!r}")
        if name == IDEAL:
            raise InputError(f"compare: {IDEAL!r} names the twin without play; choose another name")
    return result


def rough(ideal: Mechanism, loose: Mapping[str, Joint], contacts: Iterable[Contact]) -> Mechanism:
    """The ideal mechanism with the friction of the first contact that has a law of it in the pins that were loose."""
    laws = [contact.friction for contact in contacts if isinstance(contact, Compliant) and contact.friction]
    if not laws:
        raise InputError(f"compare: {ROUGH!r} needs a friction law; give one to a Compliant contact")
    joints: dict[str, Any] = dict(ideal.joints)
    for name, joint in loose.items():
        if not joint.does("pin_law"):
            text = f"a {dict(joint.given())['kind']} joint has no friction while it is ideal; use baseline={IDEAL!r}"
            raise ModelError(Problem(("joints", name), text))
        joints[name] = {**ideal.joints[name].plain(), "pin_friction": laws[0]}
    return ideal.replace(joints=joints)


def row(run: Dataset, baseline: Dataset) -> dict[str, Any]:
    """What a run adds to the table."""
    found: dict[str, Any] = {"steps": run.attrs["steps"], "reached": run.attrs["outcome_time"]}
    off = {name: apart(run, baseline, name).values for name in ("angle", "x", "y")}
    if len(off["angle"]) and baseline.sizes["time"] > 1:
        found["deviation"] = np.abs(off["angle"]).max(axis=0)
        found["shift"] = np.hypot(off["x"], off["y"]).max(axis=0)
    else:  # one of them ended at once
        found |= dict.fromkeys(("deviation", "shift"), np.full(run.sizes["body"], np.nan))
    found["peak_force"] = run["peak_force"].values if "peak_force" in run else np.full(run.sizes["joint"], np.nan)
    found["peak_impulse"] = float(run["peak_impulse"].max()) if "peak_impulse" in run else np.nan
    ends = {name: run[name].values.ravel()[-1:] for name in LOSSES if name in run}
    lost = sum(LOSSES[name] * x.sum() for name, x in ends.items())
    judgement = run.attrs["judgement_text"] or run.attrs["judgement"]
    if "loss_time" in run and run.sizes["loss"] and judgement == FINE:
        judgement = f"the wall would have to pull from {float(run['loss_time'][0]):.4g} s on"
    return found | {"energy_lost": float(lost), "outcome": run.attrs["outcome_text"], "judgement": judgement}


# what is lost is what contacts took from the bodies and do not hold
LOSSES = {
    "impact_loss": 1,
    "friction_loss": 1,
    "contact_normal_work": -1,
    "contact_friction_work": -1,
    "contact_stored": -1,
}


def text(found: Dataset) -> str:
    """The table for a terminal: largest deviation of a body, largest force of a joint, energy lost, cost."""
    head = ("contact", "deviation/rad", "shift/m", "peak force/N", "impulse/N s", "lost/J", "steps", "s per s", "end")
    lines: list[tuple[str, ...]] = [head]
    for name in found["contact"].values:
        one = found.sel(contact=name)
        numbers = [float(one[key].max()) for key in ("deviation", "shift", "peak_force", "peak_impulse", "energy_lost")]
        cells = ["-" if np.isnan(x) else "0" if x == 0 else f"{x:.4g}" for x in numbers]
        judged = str(one["judgement"].values)
        ended = str(one["outcome"].values) + ("" if judged == FINE else f"; {judged}")
        lines.append((str(name), *cells, str(int(one["steps"])), f"{float(one['cost']):.2g}", ended))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([f"{line[0]:<{widths[0]}}", *(f"{x:>{w}}" for x, w in zip(line[1:-1], widths[1:-1], strict=True))])
        + f"  {line[-1]}"
        for line in lines
    )
