"""Equilibria, driven runs, release and loss of contact of the chains of Grigore et al."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model import library
from ..model.mechanism import Mechanism
from ..results import audited
from ..simulation import RungeKutta, simulate
from ..statics import Equilibrium, equilibria, start
from ..system import System
from .grigore import opened, row
from .rows import Found, Row

if TYPE_CHECKING:
    from xarray import Dataset

EQUILIBRIUM = [0.20716037, 0.16358058, 0.45545892, 0.33235398, 0.12074030, -1.83260899]
SPEEDS = [-0.081102, 0.038771, -0.071450, -0.013848, 0.003711, 0.114695]  # at the start, for 1 rad/s
POSITION = [0.20679836, 0.11307265, 0.89423672, 0.30867999, 0.12469827, -1.64029214]  # at 5 rad/s after 1 s
REACHED = "done"
ASSUMED = "lengths and masses are assumed"


# -- equilibria
@functools.cache
def rest(chain: str) -> tuple[System, tuple[Equilibrium, ...]]:
    """The equilibria of a chain; those of Fig. 5 with the crank locked at 60 degrees."""
    made = {
        "open at O4": lambda: opened(library.grigore_figure_5()),
        "rocker on O4": library.grigore_figure_5,
        "figure 6": library.grigore_figure_6,
    }
    system = System(made[chain]())
    return system, equilibria(system, 32)


def upper() -> list[Equilibrium]:
    """Those of Fig. 5 with the coupler above the ground line: in contact and in tension."""
    return [e for e in rest("rocker on O4")[1] if e.q[1] > 0]


def push(system: System, e: Equilibrium) -> float:
    """The normal force (N) at O3; below 0 the contact would have to pull."""
    return -float(e.multipliers[system.rows.index("O3.distance")])


def hanging() -> Found:
    """The multiplier of O3 of the open chain at rest."""
    system, found = rest("open at O4")
    [stable] = [e for e in found if e.stability == "stable"]
    weight = -float(system.mechanism.bodies["rocker"].mass * 9.81)
    return Found(-push(system, stable), f"- m3 g = {weight:.9g}")


def counted() -> Found:
    """How many equilibria have the coupler above."""
    return Found(len(upper()), f"{len(rest('rocker on O4')[1])} on both branches")


def pressed(number: int) -> Found:
    """The normal force at O3 of one of the two."""
    e = upper()[number]
    return Found(push(rest("rocker on O4")[0], e), e.text)


def balanced(chain: str) -> Found:
    """The largest force that is left over at the equilibria of a chain."""
    system, found = rest(chain)
    left = []
    for e in found:
        here = system.evaluate(e.q)
        left.append(float(np.abs(here.F + here.B.T @ e.multipliers).max()))
    valid, stable = sum(e.valid for e in found), sum(e.valid and e.stability == "stable" for e in found)
    note = f"{len(found)} equilibria from 32 starts, {valid} of them push everywhere, {stable} are stable; {ASSUMED}"
    return Found(max(left), note, holds=bool(found) and max(left) < 1e-6)


def statics() -> Iterator[Row]:
    """Equilibria: hanging as an open chain, with the rocker on its pivot, and of Fig. 6."""
    open_, closed = {"chain": "open at O4"}, {"chain": "rocker on O4", "crank": math.radians(60)}
    yield row("equilibrium", open_, "multiplier of O3, hanging", "N", hanging, None, -3.846746, 5e-7)
    yield row("equilibrium", closed, "number with the coupler above", "", counted, None, 2)
    for i, (N, text) in enumerate(((3.67698, "in contact"), (-3.64867, "in tension"))):
        compute = functools.partial(pressed, i)
        yield row("equilibrium", closed, f"normal force at O3, {text}", "N", compute, None, N, 5e-6)
    place = lambda: [float(x) for x in upper()[0].q]  # noqa: E731
    yield row("equilibrium", closed, "position in contact", "m, m, rad", place, None, EQUILIBRIUM, 6e-9)
    claim = "permits the numerical study of the equilibrium positions"
    for chain in ("rocker on O4", "figure 6"):
        compute = functools.partial(balanced, chain)
        quantity = "largest force left over at the equilibria"
        yield row("conclusions", {"chain": chain}, quantity, "N", compute, claim)


# -- motion
@functools.cache
def in_contact() -> Mechanism:
    """Fig. 5 at the equilibrium that pushes, the rocker's pin above the ground line."""
    system, found = rest("rocker on O4")
    [valid] = [e for e in found if e.valid and e.q[1] > 0]
    named = (c.removesuffix(".angle") for c in system.coordinates)
    return system.mechanism.replace(start=dict(zip(named, map(float, valid.q), strict=True)))


def turning(w: float) -> Mechanism:
    """Fig. 5 driven at a speed (rad/s), from that equilibrium."""
    return in_contact().with_({"O2x.frequency": w, "O2y.frequency": w})


@functools.cache
def driven(w: float, rtol: float, atol: float) -> Dataset:
    """Two turns, or until contact is lost."""
    return simulate(turning(w), 4 * math.pi / w, RungeKutta(rtol=rtol, atol=atol), strict=False, error=False)


def held(joint: str, mechanism: Mechanism) -> Mechanism:
    """The same with a contact that may pull, as the paper's constraint does."""
    told = {**mechanism.joints[joint].plain(), "contact": {"kind": "following", "on_loss": "continue"}}
    return mechanism.replace(joints={**mechanism.joints, joint: told})


def last_position(rtol: float, atol: float) -> list[float]:
    """Where coupler and rocker are after 1 s at 5 rad/s, contact held."""
    run = simulate(held("O3", turning(5.0)), 1.0, RungeKutta(rtol=rtol, atol=atol), strict=False, error=False)
    return [float(run[c].sel(body=body)[-1]) for body in in_contact().bodies for c in ("x", "y", "angle")]


def lost(run: Dataset) -> Found:
    """When contact is lost (s)."""
    gone = run.attrs["outcome"] == "contact lost"
    return Found(float(run.attrs["outcome_time"]) if gone else None, str(run.attrs["outcome_text"]), ended=gone)


def kept_contact(made: Callable[[], Mechanism], until: float) -> Found:
    """Whether contact is permanent, as the paper assumes: when it is lost (s), or that it is not."""
    run = simulate(made(), until, RungeKutta(1e-10, 1e-12), strict=False, error=False)
    note = f"{run.attrs['outcome_text']}; {ASSUMED}"
    return Found(float(run.attrs["outcome_time"]), note, holds=run.attrs["outcome"] == REACHED)


def conserved(joints: tuple[str, ...], made: Callable[[], Mechanism], until: float) -> Found:
    """The largest imbalance of energy (J) of the chain with contacts that are held, over the largest kinetic energy."""
    mechanism = made()
    for joint in joints:
        mechanism = held(joint, mechanism)
    run = simulate(mechanism, until, RungeKutta(1e-11, 1e-13), strict=False, error=False)
    reached = run.attrs["outcome"] == REACHED
    share = audited(run, "energy imbalance") / float(run["kinetic"].max())
    return Found(share, f"{run.attrs['outcome_text']}; {ASSUMED}", holds=reached and share < 1e-7, ended=reached)


def motion(rtol: float, atol: float) -> Iterator[Row]:
    """Driven runs from the equilibrium in contact, with the least kinetic energy at the start."""

    def at(w: float, quantity: str, unit: str, compute: Any, reference: Any, close: float) -> Row:
        return row("figure 5, driven", {"speed": w}, quantity, unit, compute, None, reference, close)

    first = lambda: [float(x) for x in start(System(turning(1.0)))[1]]  # noqa: E731
    yield at(1.0, "velocities at the start", "m/s, m/s, rad/s", first, SPEEDS, 6e-7)
    for w, least, most in ((1.0, 1.04, 7.9), (2.0, 0.23, 18.3)):
        for which, name, reference, close in (
            ("least", "least_normal", least, 5e-3),
            ("largest", "peak_normal", most, 0.05),
        ):
            compute = lambda w=w, name=name: float(driven(w, rtol, atol)[name][0])  # noqa: E731
            yield at(w, f"{which} normal force in two turns", "N", compute, reference, close)
    for w, time in ((2.2, 2.181128), (3.0, 1.572540)):
        # the reference is the first microsecond with N < 0, ours the root before it
        gone = lambda w=w: lost(driven(w, rtol, atol))  # noqa: E731
        yield at(w, "contact lost at", "s", gone, time, 1e-6)
    held_ = functools.partial(last_position, rtol, atol)
    yield at(5.0, "position after 1 s, bilateral", "m, m, rad", held_, POSITION, 1e-8)


def released() -> Iterator[Row]:
    """Chains that are let go: how long contact is permanent, and whether energy is kept where it is held."""
    open_ = lambda: opened(library.grigore_figure_5(1.0))  # noqa: E731
    chains: tuple[tuple[str, str, Callable[[], Mechanism], tuple[str, ...]], ...] = (
        ("figure 5, driven", "open at O4, 1 rad/s", open_, ("O3",)),
        ("figure 6", "released from rest", library.grigore_figure_6, ("O5", "O6")),
    )
    for item, chain, made, joints in chains:
        compute = functools.partial(kept_contact, made, 1.0)
        quantity = "contact is kept until"
        yield row(item, {"chain": chain, "until": 1.0}, quantity, "s", compute, "permanent contact")
        compute = functools.partial(conserved, joints, made, 0.2)
        claim, quantity = "permits the numerical study of the general motion", "energy not accounted for, as a share"
        yield row(item, {"chain": chain, "until": 0.2, "contact": "held"}, quantity, "", compute, claim)


def rows(rtol: float = 1e-12, atol: float = 1e-13) -> Iterator[Row]:
    """Equilibria and motion; tolerances of the driven runs."""
    yield from statics()
    yield from motion(rtol, atol)
    yield from released()
