"""A thing that steps: one to eight simulations of a mechanism side by side, each with its own numbers and start."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import statics
from ..engine.values import LANES
from ..errors import InputError
from ..model.control import Control
from ..model.mechanism import Mechanism
from ..model.parts import suggestion
from ..physics.compliance import LANDED, SLOWEST
from ..physics.step import Stepper
from ..system import System, structural
from . import changes, neighbours
from .course import FAR, MOST_STEPS, Course
from .lanes import default_stepper, prepared, split, system_of
from .outcome import Ending, Outcome

if TYPE_CHECKING:
    from xarray import Dataset


class Simulation(Course):
    """One to eight simulations of a mechanism side by side, stepped by one compiled program.

    stepper: MoreauJean() if there are rigid contacts, else RungeKutta(). lanes: how many, or for each a mapping of
    addresses to numbers ("J2.clearance", "start.crank") in place of the mechanism's. share: all lanes take the same
    steps, so that what differs between them is not their steps (not with MoreauJean(rtol)). every (s): time between
    samples; only the start and where `advance` ended unless given. start, control: in place of the mechanism's. until
    (s): how far it is to go, if that is known. settles (s): where a chosen step is to end, so that `count_anew` can
    follow. reclose, most_steps: see `simulate`; steps are counted anew in each `advance`. companions: steppers that
    differ from this one in their numbers only; each gets a lane like the first, after all.

    A lane's numbers are those that it would have alone, bit for bit, unless steps are shared.

    >>> from jointplay.model import library
    >>> pair = Simulation(library.pendulum(), lanes=[{}, {"bar1.mass": 2.0}])
    >>> pair.advance(1.0)
    >>> [str(one.kind) for one in pair.status]
    ['done', 'done']
    """

    def __init__(
        self,
        mechanism: Mechanism | System,
        stepper: Stepper | None = None,
        lanes: int | Sequence[Mapping[str, float | str]] = 1,
        share: bool = False,
        every: float | None = None,
        start: Mapping[str, float | str] | None = None,
        control: Control | None = None,
        *,
        until: float | None = None,
        reclose: bool = False,
        companions: Sequence[Stepper] = (),
        most_steps: int = MOST_STEPS,
        settles: float = 0.0,
        eager: bool | None = None,
        fma: bool = True,
        quick: bool | None = False,
    ) -> None:
        if stepper is not None and not isinstance(stepper, Stepper):
            raise InputError(f"stepper must be RungeKutta(), FixedRungeKutta(step) or MoreauJean(), got {stepper!r}")
        given = [{}] * lanes if isinstance(lanes, int) and not isinstance(lanes, bool) else lanes
        if not isinstance(given, Sequence) or not 1 <= len(given) <= LANES[-1]:
            raise InputError(
                f"lanes must be a number from 1 to {LANES[-1]} or a list of so many mappings, got {lanes!r}"
            )
        if not isinstance(most_steps, int) or isinstance(most_steps, bool) or most_steps < 1:
            raise InputError(f"most_steps must be a whole number of steps >= 1, got {most_steps!r}")
        self.lock = threading.RLock()
        self.lonely: dict[
            str, tuple[float, float] | None
        ] = {}  # numbers on which only forces depend: values that can be
        self.until, self.every, self.reclose, self.share = until, every, reclose, share
        self.most_steps = most_steps
        self.settles = settles  # s: where a step is to end, for `count_anew`
        self.settled: dict[int, float] = {}  # s, by lane: when `count_anew` was called
        self.earlier: dict[int, np.ndarray] = {}  # by lane: its words at that time
        self.asked = FAR if until is None else until  # s: where it was last asked to go
        self.options = {"eager": eager, "fma": fma, "quick": quick}
        base = system_of(mechanism, start, control, until)
        numbers = [split(each) for each in given]
        free = base.free | {a for each, _ in numbers for a in each if not structural(base.mechanism, a)}
        if not free <= base.parameters.keys():
            base = System(base.given, base.reach, free)
        self.base = base
        self.stepper = stepper or default_stepper(base.mechanism)
        self.stepper.refuse(base.mechanism)
        if share and len(given) > 1 and self.stepper.impulsive and self.stepper.adaptive:
            text = "chooses steps that end at the impacts of each lane, so that lanes cannot take the same ones"
            remedy = "give a step, such as MoreauJean(step=1e-5)"
            raise InputError(f"share=True: {type(self.stepper).__name__}(rtol) {text}; {remedy}")
        self.each = [prepared(self.stepper, base, *one, until, reclose) for one in numbers]
        self.each += [replace(self.each[0], stepper=other, changes={}) for other in companions]
        self.lanes = len(self.each)
        self.build()

    # -- what is known
    @property
    def steps(self) -> np.ndarray:
        """How many steps each lane has taken."""
        return self.taken[: self.lanes].copy()

    @property
    def state(self) -> np.ndarray:
        """Coordinates and rates of every lane: [lane, name]."""
        return self.run.state_words[self.places, : self.lanes].view(np.float64).T.copy()

    @property
    def status(self) -> list[Outcome]:
        """How each lane stands."""
        running = [Outcome(Ending.RUNNING, f"at {t:.6g} s", float(t)) for t in self.time]
        for lane, arrived in enumerate(self.reaches(self.ends)[: self.lanes]):
            if arrived:
                running[lane] = Outcome(Ending.DONE, self.reached(float(self.ends[lane])), float(self.ends[lane]))
        return [outcome or now for outcome, now in zip(self.outcomes, running, strict=True)]

    def reached(self, time: float) -> str:
        """Where a run has got to, in words: steps of one length may not meet the time that was asked for."""
        if math.isclose(time, self.asked, rel_tol=1e-9):
            return f"reached {time:g} s"
        return f"reached {time:.9g} s, the whole number of steps that is nearest to {self.asked:g} s"

    def system(self, lane: int = 0) -> System:
        """The system of a lane, with the numbers that were set on the way."""
        one = self.each[lane]
        if one.changes:
            one.present, one.changes = (one.present or one.system).with_(one.changes), {}
        return one.present or one.system

    def observe(self, names: Sequence[str]) -> np.ndarray:
        """Present values by name, [lane, name]: coordinates, rates, time, energies, gaps ("J2.gap"), places of journals
        ("J2.place.x"), whatever the program keeps, and its numbers."""
        found = np.empty((self.lanes, len(names)))
        here: dict[int, dict[str, float]] = {}
        for j, name in enumerate(names):
            if name in self.run.slots and self.run.slots[name].size == 1:
                words, slot = self.run.words(name)
                found[:, j] = (words.view(np.float64) if slot.kind == "f" else words)[0, : self.lanes]
                continue
            for lane in range(self.lanes):
                known = here.setdefault(lane, {}) or here[lane] or self.evaluated(lane)
                here[lane] = known
                if name not in known:
                    raise KeyError(f"nothing is called {name!r}{suggestion(name, [*known, *self.run.slots])}")
                found[lane, j] = known[name]
        return found

    def evaluated(self, lane: int) -> dict[str, float]:
        """What follows from the state of a lane."""
        system, state = self.system(lane), self.state[lane]
        n = len(system.coordinates)
        at = system.evaluate(state[:n], state[n:], float(self.time[lane]))
        found = {"kinetic": float(at.kinetic), "potential": float(at.potential)}
        found |= {f"{label}.gap": float(gap) for label, gap in zip(system.contacts, at.gaps, strict=True)}
        for joint, (x, y) in zip(system.journals, at.places, strict=True):
            found |= {f"{joint}.place.x": float(x), f"{joint}.place.y": float(y)}
        return found

    # -- changes between steps
    def set(self, numbers: Mapping[str, float], lane: int | None = None) -> None:
        """Give numbers of the mechanism (a motor's torque, a gain, a mass) other values from now on, in one lane or in
        all, and with them what follows, such as the inertia of a bar.  Its energy account takes what that changes in
        stored energy as given from outside.  What would move a joint or a drive at once is refused; a drive whose rate
        is another gives an impulse."""
        with self.lock:
            for address, x in numbers.items():
                if not (isinstance(x, int | float | np.number) and math.isfinite(x)):
                    raise InputError(f"{address!r} must be a finite number, got {x!r}")
            missing = [a for a in numbers if a not in self.index]
            if missing:
                self.free(missing)
            chosen = list(range(self.lanes)) if lane is None else [self.checked(lane)]
            changes.give(self, {address: float(x) for address, x in numbers.items()}, chosen)
            self.forget(chosen)  # what acts at the state has changed

    def energy(self, lane: int) -> float:
        """The stored energy of a lane (J)."""
        found = self.evaluated(lane)
        return found["kinetic"] + found["potential"]

    def free(self, addresses: Sequence[str]) -> None:
        """Make numbers that are 0, and so part of the structure, changeable: another program goes on from here."""
        known = self.base.given.addresses()
        for address in addresses:
            if address not in known:
                raise KeyError(f"no such address {address!r}{suggestion(address, known)}")
            if structural(self.base.given, address) or address.startswith("start."):
                text = "is part of the structure or of the start; make another Simulation"
                raise InputError(f"{address!r} {text}")
        self.base = System(self.base.given, self.base.reach, self.base.free | set(addresses))
        before, words, outcomes = self.run, {}, list(self.outcomes)
        for name, slot in before.program.places.items():
            words[name] = before.state_words[slot : slot + before.slots[name].size].copy()
        for lane in self.each:
            lane.system = System(lane.system.given, lane.system.reach, self.base.free)
            if lane.present:
                lane.present = System(lane.present.given, lane.present.reach, self.base.free)
        self.build()
        for name, old in words.items():
            if name in self.run.places:
                at = self.run.places[name]
                self.run.state_words[at : at + len(old)] = old
        for slot_name in (slot.name for slot in before.program.parameters):
            self.run[slot_name] = before[slot_name]
        self.run.collected, self.run.beyond = before.collected, before.beyond
        for k, outcome in enumerate(outcomes):
            self.ended(k, outcome)

    def perturb(self, change: Mapping[str, float] | Sequence[float] | np.ndarray, lane: int) -> None:
        """Move the state of a lane by a little, then onto its joints and drives by the least change."""
        with self.lock:
            self.checked(lane)
            names, state = self.names, self.state[lane]
            if isinstance(change, Mapping):
                unknown = [name for name in change if name not in names]
                if unknown:
                    raise KeyError(f"no coordinate or rate {unknown[0]!r}{suggestion(unknown[0], names)}")
                change = [float(change.get(name, 0.0)) for name in names]
            moved = state + np.asarray(change, float)
            if moved.shape != state.shape or not np.isfinite(moved).all():
                raise InputError(f"expected {len(names)} finite numbers for {', '.join(names)}")
            self.put(lane, statics.nearest(self.system(lane), moved, float(self.time[lane]), self.each[lane].freedom))

    def beside(self, lane: int, other: int, change: np.ndarray, share: float = 0.0) -> None:
        """Make a lane a neighbour of another one: its state by a little aside, of all else that it remembers a share of
        what differs (neighbours.py)."""
        with self.lock:
            neighbours.place(self, self.checked(lane), self.checked(other), change, share)

    def put(self, lane: int, state: np.ndarray) -> None:
        """Give a lane other coordinates and rates, as they are."""
        self.run.state_words[self.places, lane] = np.ascontiguousarray(state, float).view(np.int64)
        self.forget([lane])
        if "steps.known" in self.run.places:
            self.touch(lane)

    def forget(self, lanes: list[int]) -> None:
        """Let what acts be computed anew."""
        for name in ("steps.known", "step.recent"):
            if name in self.run.places:
                self.run.state_words[self.run.places[name], lanes] = 0

    def touch(self, lane: int) -> None:
        """Let the compliant contacts of a lane be open or closed as its gaps are."""
        names, n = self.text.state, len(self.names) // 2
        if names is None or not names.approach:
            return
        state = self.state[lane]
        here = self.system(lane).evaluate(state[:n], state[n:], float(self.times[lane]))
        for gap, rate, mode, approach in zip(here.gaps, here.openings, names.modes, names.approach, strict=True):
            shut = gap <= LANDED
            if shut and not self.run[mode][lane]:
                self.run.put(approach, lane, max(-float(rate), SLOWEST))
            self.run.put(mode, lane, float(shut))

    def checked(self, lane: int) -> int:
        """The number of a lane, or an error."""
        if isinstance(lane, bool) or not isinstance(lane, int | np.integer) or not 0 <= lane < self.lanes:
            raise InputError(f"there are lanes 0 to {self.lanes - 1}, got {lane!r}")
        return int(lane)

    def snapshot(self) -> Any:
        """All that is needed to go on from here."""
        run = self.run
        rows = {name: [list(parts) for parts in lanes] for name, lanes in run.collected.items()}
        arrays, settled = (run.state_words.copy(), run.parameter_words.copy()), (dict(self.settled), dict(self.earlier))
        return (*arrays, rows, list(self.outcomes), [lane.copy() for lane in self.each], settled, self.program)

    def reset(
        self,
        state: Any = None,
        lane: int | None = None,
        numbers: Mapping[str, float | str] | None = None,
        start: Mapping[str, float | str] | None = None,
    ) -> None:
        """Back to the start, or to a snapshot; one lane or all, with other numbers and start values if given."""
        with self.lock:
            chosen = list(range(self.lanes)) if lane is None else [self.checked(lane)]
            if state is not None:
                words, parameters, rows, outcomes, each, (settled, earlier), program = state
                if program is not self.program:
                    raise InputError("the snapshot belongs to another program: a number has become changeable since")
                for k in chosen:
                    self.earlier.pop(k, None)
                    if k in earlier:
                        self.earlier[k], self.settled[k] = earlier[k], settled[k]
                    self.run.state_words[:, k], self.run.parameter_words[:, k] = words[:, k], parameters[:, k]
                    self.each[k] = each[k].copy()
                    self.ended(k, outcomes[k])
                    for name, lanes in rows.items():
                        self.run.collected[name][k] = list(lanes[k])
                return
            for k in chosen:
                self.earlier.pop(k, None)
                if numbers or start or self.each[k].changes or self.each[k].present:
                    self.each[k] = prepared(
                        self.stepper,
                        self.each[k].system,
                        dict(numbers or {}),
                        dict(start or {}),
                        self.until,
                        self.reclose,
                    )
                    if self.each[k].system.structure != self.each[0].system.structure:
                        raise InputError("reset: these numbers make another structure; make another Simulation")
                    self.begin(k)
                    self.began[0][:, k] = self.run.state_words[:, k]
                    self.began[1][:, k] = self.run.parameter_words[:, k]
                else:
                    self.run.state_words[:, k], self.run.parameter_words[:, k] = (words[:, k] for words in self.began)
                    self.ended(k, self.each[k].refused)
                    for parts in self.run.collected.values():
                        parts[k] = []

    def count_anew(self, lane: int | None = None, time: float | None = None) -> None:
        """From here on the run, or a lane, counts as settled: results tell largest values, shares, impacts and losses
        since now beside those of the whole run.  time (s): where it was asked to go, if not by `advance`."""
        with self.lock:
            words, chosen = self.run.state_words, range(self.lanes) if lane is None else [self.checked(lane)]
            # a control loop keeps its own, from the very time on
            slots = [s.name for s in self.program.slots if s.start == -math.inf and not s.name.startswith("control.")]
            for k in chosen:
                here = self.asked if self.ends[k] < FAR else self.times[k]  # `step` is not asked for a time
                self.settled[k] = float(here if time is None else time)
                now = words[:, k].copy()
                for name in slots if k in self.earlier else ():  # the largest of what was counted before
                    at = [self.run.places[n] for n in (name, f"{name}.time") if n in self.run.places]
                    before = self.earlier[k][at]
                    now[at] = max(before, now[at], key=lambda pair: float(pair[:1].view(np.float64)[0]))
                self.earlier[k] = now
            words[np.ix_([self.run.places[name] for name in slots], chosen)] = np.array(-math.inf).view(np.int64)

    def result(self, lane: int = 0) -> Dataset:
        """What a lane has computed so far, as `simulate` gives it."""
        from .reading import dataset

        with self.lock, self.cut(self.checked(lane)):
            return dataset(self, lane)
