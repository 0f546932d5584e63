"""Numbers of lanes that are set on the way, with all that follows from them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from .. import statics
from ..errors import InputError
from ..model.parts import ModelError
from ..physics.record import MOMENTA
from ..system import System, structural
from .steering import Pilot

if TYPE_CHECKING:
    from .simulation import Simulation

JUMP = 1e-9  # m or rad: a joint or drive that a number moves by less is not moved
REMEDY = "start with it, by reset(numbers=...) or lanes"


def give(simulation: Simulation, numbers: Mapping[str, float], lanes: Collection[int]) -> None:
    """Give lanes other numbers, and what follows from them; where one of them cannot have them, none changes."""
    if all(plain(simulation, address) for address in numbers):
        for address, x in numbers.items():
            least, most = simulation.lonely[address] or (x, x)
            for k in lanes if not least <= x <= most else ():
                simulation.system(k).given.with_({address: x})  # which refuses what cannot be
            simulation.lonely[address] = min(least, x), max(most, x)
        for k in lanes:
            write(simulation, k, numbers)
            simulation.each[k].changes |= numbers
        return
    found = {k: simulation.system(k).with_(numbers) for k in lanes}
    missing = {a for system in found.values() for a in system.parameters} - simulation.index.keys()
    if missing:
        simulation.free(sorted(missing))
        found = {k: simulation.system(k).with_(numbers) for k in lanes}
    said = ", ".join(f"{address} = {x:g}" for address, x in numbers.items())
    moved = {k: moves(simulation, k, system, said) for k, system in found.items()}
    for k, system in found.items():
        before, old = stored(simulation, k), simulation.system(k).parameters
        new = {a: system.parameters.get(a, 0.0) for a in old | system.parameters}
        write(simulation, k, {a: x for a, x in new.items() if isinstance(x, float) and x != old.get(a, 0.0)})
        one = simulation.each[k]
        one.present, one.changes = system, {}
        if moved[k] and not simulation.stepper.impulsive:  # whose steps know what to do
            state, time = simulation.state[k], float(simulation.time[k])
            simulation.put(k, statics.nearest(system, state, time, one.freedom))
        now = stored(simulation, k)
        for name, x in now.items():  # what the run began with is by so much more
            simulation.run.parameter_words[simulation.index[name], k : k + 1].view(np.float64)[0] += x - before[name]
        more = now["stepper.energy"] - before["stepper.energy"]
        unwritten = not simulation.stepper.impulsive and not simulation.taken[k]  # the sample of the start
        one.given.append((-1.0 if unwritten else float(simulation.time[k]), more))


def stored(simulation: Simulation, lane: int) -> dict[str, float]:
    """What is kept while nothing acts from outside: the energy of a lane, and its momenta where nothing holds it."""
    system, found = simulation.system(lane), {"stepper.energy": simulation.energy(lane)}
    if system.mechanism.isolated():
        q, v = np.split(simulation.state[lane], 2)
        momenta = system.equations()(system.parameters).momenta(q.tolist(), v.tolist())
        found |= {f"stepper.momentum.{part}": float(x) for part, x in zip(MOMENTA, momenta, strict=True)}
    return found


def moves(simulation: Simulation, lane: int, after: System, said: str) -> bool:
    """Whether numbers give a lane other rates of its drives, or other gaps; refused where its places cannot stay.
    after: the system with these numbers; said: what they are."""
    before, pilot = simulation.system(lane), simulation.each[lane].pilot
    tables = [[repr(x) for x in system.parameters.values() if not isinstance(x, float)] for system in (before, after)]
    if (before.rows, before.contacts, tables[0]) != (after.rows, after.contacts, tables[1]):
        raise InputError(f"set: {said} makes another structure; {REMEDY}")
    if pilot and Pilot(after).spans != pilot.spans:
        raise InputError(f"set: {said} changes the clock of the control loop; {REMEDY}")
    (q, v), t = np.split(simulation.state[lane], 2), float(simulation.time[lane])
    here, there = before.evaluate(q, v, t), after.evaluate(q, v, t)
    shift, nearer = np.abs(there.residual - here.residual), here.gaps - there.gaps
    if shift.max(initial=0.0) > JUMP:
        text = f"would move {after.rows[shift.argmax()]} by {shift.max():.4g} m or rad at once, at t = {t:g} s"
        raise InputError(f"set: {said} {text}; {REMEDY}, or give a drive a motion that changes so in time")
    deep = np.where(nearer > JUMP, -there.gaps, 0.0)
    if simulation.stepper.impulsive and deep.max(initial=0.0) > JUMP:
        text = f"would let {after.contacts[deep.argmax()]!r} penetrate by {deep.max():.4g} m or rad at t = {t:g} s"
        raise InputError(f"set: {said} {text}; {REMEDY}")
    lag = (there.B @ v - there.speed) - (here.B @ v - here.speed)
    return bool(np.abs(lag).max(initial=0.0) > JUMP or nearer.any())


def write(simulation: Simulation, lane: int, numbers: Mapping[str, float]) -> None:
    """Write numbers of a lane."""
    for address, x in numbers.items():
        simulation.run.parameter_words[simulation.index[address], lane : lane + 1].view(np.float64)[0] = x


def plain(simulation: Simulation, address: str) -> bool:
    """Whether nothing follows from a number but forces: no other number, no place or rate, no stored energy; asked at a
    time and place and with rates that are nothing special."""
    if address not in simulation.lonely:
        one, rng = simulation.each[0], np.random.default_rng(1)
        mechanism = one.system.given
        known = mechanism.addresses().get(address)
        if known is None or mechanism.owner(address) in mechanism.drives or structural(mechanism, address):
            simulation.lonely[address] = None
            return False
        try:
            other = one.system.with_({address: 1.1 * known + 0.01})
        except ModelError:
            other = one.system.with_({address: 0.9 * known})
        q, v = one.q + rng.normal(size=len(one.q)), rng.normal(size=len(one.q))
        here, there = (system.evaluate(q, v, 0.618) for system in (one.system, other))
        alone = (here.kinetic, here.potential) == (there.kinetic, there.potential)
        alone &= all(np.array_equal(getattr(here, x), getattr(there, x)) for x in ("residual", "B", "speed", "gaps"))
        mine, theirs = ({a: repr(x) for a, x in s.parameters.items() if a != address} for s in (one.system, other))
        simulation.lonely[address] = (known, known) if alone and mine == theirs else None
    return simulation.lonely[address] is not None
