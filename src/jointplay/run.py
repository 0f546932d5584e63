"""Runs a traced program: starts lanes, calls the machine code in short chunks, drains rows, can be stopped."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import cache
from .engine.blocks import Cell
from .engine.eager import EagerRecorder
from .engine.lines import control_words
from .engine.program import Program, run_text
from .engine.text import DONE, NON_FINITE, RUNNING, STATUS_NAMES, STOPPED
from .engine.values import DTYPES, LANES
from .host import undisturbed
from .words import aligned, array_dtype, array_size, contents, encode, fresh, word_of

CHUNK_SECONDS = 0.05  # how long one call of machine code should take: Ctrl-C waits for no more
QUICK_SECONDS = 0.1  # how long quick code runs before better code is made beside it


class Run:
    """One to eight simulations of a program side by side, each with its own state and parameters.

    The numbers of a simulation do not depend on how many run beside it, on chunks, buffers, pauses or rows.  quick: for
    few steps, machine code that is made in less time and runs more slowly; None: at first, unless better code is there.
    """

    def __init__(
        self,
        program: Program,
        parameters: Mapping[str, Any] | None = None,
        state: Mapping[str, Any] | None = None,
        *,
        lanes: int = 1,
        eager: bool | None = None,
        fma: bool = True,
        share: bool = False,
        rows: int = 4096,
        quick: bool | None = False,
    ) -> None:
        if not isinstance(program, Program):
            raise ValueError(f"Run needs a program made by trace(step, ...), got {program!r}")
        if type(lanes) is not int or lanes not in LANES:
            raise ValueError(f"lanes must be one of {LANES}, got {lanes!r}")
        self.program, self.lanes = program, lanes
        self.asked = eager is None  # by the environment, if at all
        self.eager = wants_eager() if eager is None else eager
        self.places = program.places
        self.state_words = np.zeros((sum(s.size for s in program.slots), lanes), np.int64)
        self.parameter_words = np.zeros((len(program.parameters), lanes), np.int64)
        self.arrays = {n: np.zeros((array_size(a), lanes), array_dtype(a)) for n, a in program.arrays.items()}
        self.collected: dict[str, list[list[np.ndarray]]] = {s: [[] for _ in range(lanes)] for s in program.streams}
        self.most: dict[str, int] = {}  # rows of a stream that are kept; those beyond are counted by their first column
        self.beyond: dict[str, list[Counter[float]]] = {s: [Counter() for _ in range(lanes)] for s in program.streams}
        self.steps_taken, self.chunk, self.stop_word = 0, 64, np.zeros(1, np.int64)
        self.better: tuple[int, bool, bool, bool] | None = None  # code that takes over once it is made
        self.slots = {s.name: s for s in (*program.parameters, *program.slots)}  # a state before a parameter
        self.fresh = fresh(program.parameters), fresh(program.slots)  # words that nobody gave
        for lane in range(lanes):
            mine = [{n: self.share_of(n, x, lane) for n, x in (given or {}).items()} for given in (parameters, state)]
            self.start(lane, *mine)
        if not self.eager:
            self._compile(fma, share, rows, quick)
        elif share and lanes > 1:
            raise ValueError("eager runs take one lane at a time and cannot share steps")

    def _compile(self, fma: bool, share: bool, rows: int, quick: bool | None) -> None:
        """The machine code, buffers for its rows, and the words by which it is called."""
        from .engine.native import name_of, native

        key = self.lanes, fma, share, False
        if quick is None:
            there = key in self.program.natives or cache.read(name_of(self.program, *key)) is not None
            self.better, quick = (None, False) if there else (key, True)
        self.native = native(self.program, self.lanes, fma, share, quick)
        self.buffers = {}
        self.frame = aligned(self.native.frame * self.lanes)
        words = {"state": self.state_words, "parameters": self.parameter_words, "stop": self.stop_word}
        words["frame"] = self.frame
        words |= {f"array {n}": array for n, array in self.arrays.items()}
        values = {n: a.ctypes.data for n, a in words.items()}
        for name, (columns, most) in self.program.streams.items():
            stride = max(rows, most) + most
            self.buffers[name] = np.zeros((stride, len(columns), self.lanes))
            values |= {f"{name}.rows": self.buffers[name].ctypes.data, f"{name}.limit": stride - 2 * most}
        self.control = np.array([values.get(w, 0) for w in control_words(self.program)], np.int64)
        self.control_address = self.control.ctypes.data
        self.counters = [self.places[f"{name}.rows"] for name in self.program.streams]

    def start(
        self, lane: int, parameters: Mapping[str, Any] | None = None, state: Mapping[str, Any] | None = None
    ) -> None:
        """Put a new simulation into a lane: defaults, then the given parameters and state."""
        parameters, state, program = dict(parameters or {}), dict(state or {}), self.program
        numbers, words = (column.copy() for column in self.fresh)
        for i, slot in enumerate(program.parameters):
            numbers[i] = encode(slot, parameters.pop(slot.name)) if slot.name in parameters else numbers[i]
        arrays = {n: contents(n, a, parameters.pop(n, program.defaults[n])) for n, a in program.arrays.items()}
        for name in [name for name in state if name in self.places]:
            words[self.places[name] :][: self.slots[name].size] = encode(self.slots[name], state.pop(name))
        for name in (*parameters, *state):
            if name in self.program.state:
                raise ValueError(f"{name!r} is a state, not a parameter: give it as state={{{name!r}: ...}}")
            known = [*(p.name for p in self.program.parameters), *self.program.arrays]
            there = f"parameters {', '.join(known) or 'none'}; states {', '.join(self.program.state) or 'none'}"
            raise ValueError(f"there is no {name!r}; there are {there}")
        self.parameter_words[:, lane] = numbers  # all is well: now it may be changed
        for name, data in arrays.items():
            self.arrays[name][:, lane] = data
        self.state_words[:, lane] = words
        for stream, rows in self.collected.items():
            rows[lane] = []
            self.beyond[stream][lane].clear()

    # -- what is known
    def words(self, name: str) -> tuple[np.ndarray, Cell]:
        """Where a state, memory, accumulator or parameter is kept, and how it was declared."""
        if name in self.places:
            slot = self.slots[name]
            return self.state_words[self.places[name] :][: slot.size], slot
        for i, slot in enumerate(self.program.parameters):
            if slot.name == name:
                return self.parameter_words[i : i + 1], slot
        known = [s.name for s in (*self.program.slots, *self.program.parameters)]
        raise KeyError(f"no state, memory or parameter {name!r}; there are {', '.join(known)}")

    def __getitem__(self, name: str) -> np.ndarray:
        """The present value of a state, memory, accumulator or parameter in every lane; of a delay [place, lane]."""
        words, slot = self.words(name)
        values = words.view(np.float64) if slot.kind == "f" else words.astype(DTYPES[slot.kind])
        return values[0].copy() if slot.size == 1 else values.copy()

    def __setitem__(self, name: str, value: Any) -> None:
        """Set what can be read so between two calls of advance: a number for all lanes, or one per lane."""
        words, slot = self.words(name)
        given = [encode(slot, self.share_of(name, value, lane)) for lane in range(self.lanes)]
        for lane, word in enumerate(given):
            words[:, lane] = word

    def put(self, name: str, lane: int, value: Any) -> None:
        """Set a state, memory, accumulator or parameter of one lane; all places of a delay alike."""
        words, slot = self.words(name)
        words[:, lane] = encode(slot, value)

    def share_of(self, name: str, x: Any, lane: int) -> Any:
        """One lane's share of a number given once for all or once per lane, or of a list of arrays."""
        if np.ndim(x) == 2 and name in self.slots and np.shape(x) == (self.slots[name].size, self.lanes):
            return np.asarray(x)[:, lane]
        if name in self.program.arrays:
            return x[lane] if isinstance(x, list | tuple) and not np.isscalar(x[0]) and len(x) == self.lanes else x
        if isinstance(x, list | tuple | np.ndarray) and np.ndim(x):
            if len(x) != self.lanes:
                raise ValueError(
                    f"{name!r} has {len(x)} values for {self.lanes} lane(s); give one number, or one per lane"
                )
            return x[lane]
        return x

    @property
    def status(self) -> list[str]:
        """How each lane stands, in words."""
        return [STATUS_NAMES[i] if 0 <= i < len(STATUS_NAMES) else f"status {i}" for i in self["status"]]

    @property
    def running(self) -> bool:
        """True if some lane has not ended."""
        return bool((self["status"] == RUNNING).any())

    def rows(self, stream: str, lane: int = 0) -> dict[str, np.ndarray]:
        """The rows of a stream written so far, by column."""
        if stream not in self.program.streams:
            raise KeyError(f"no stream {stream!r}; there are {', '.join(self.program.streams) or 'none'}")
        columns = self.program.streams[stream][0]
        parts = self.collected[stream][lane]
        data = np.concatenate(parts) if parts else np.empty((0, len(columns)))
        return {c: data[:, i] for i, c in enumerate(columns)}

    # -- going on
    def advance(
        self, steps: int | None = None, *, until: Callable[[], bool] | None = None, expect: int | None = None
    ) -> int:
        """Take steps until every lane has ended, the number is reached, or stop(); gives how many were taken.

        `until` is asked after each chunk, about every 50 ms, and ends the call when true; `expect` says how
        many steps are likely, for the time that an eager run announces.
        """
        if steps is not None and (isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 0):
            raise ValueError(f"advance takes a whole number of steps, got {steps!r}; write round(time / step)")
        taken = 0
        while (steps is None or taken < steps) and self.running and not self.stop_word[0]:
            left = self.chunk if steps is None else min(self.chunk, steps - taken)
            begin = time.perf_counter()
            done = self.eager_steps(left, expect or steps) if self.eager else self.native_steps(left)
            spent = time.perf_counter() - begin
            taken += done
            self.improve(spent)
            if done == self.chunk and spent < CHUNK_SECONDS / 2:
                self.chunk *= 2
            elif spent > 2 * CHUNK_SECONDS and self.chunk > 1:
                self.chunk //= 2
            if until is not None and until():
                break
        return taken

    def improve(self, spent: float) -> None:
        """Go over to better code where it is made, which has the same bits; quick code that has run for some time has
        it made in a thread, for this run or the next; spent: that of the last steps (s)."""
        from .engine.native import native
        from .host import at_work

        if self.better is None:
            return
        if self.better in self.program.natives:
            self.native, self.better = self.program.natives[self.better], None
            return
        before = self.native.used
        self.native.used += spent
        if before <= QUICK_SECONDS < self.native.used:  # once, whatever run it is
            at_work(native, self.program, *self.better)

    def stop(self) -> None:
        """Ask a run that another thread advances to come back after its present step."""
        self.stop_word[0] = 1

    def resume(self) -> None:
        """Take back stop()."""
        self.stop_word[0] = 0

    def abandon(self, lane: int) -> None:
        """Mark a running lane as stopped: it keeps its state and takes no more steps."""
        if self["status"][lane] == RUNNING:
            self.state_words[self.places["status"], lane] = STOPPED

    def native_steps(self, steps: int) -> int:
        """One call of the machine code."""
        with undisturbed():
            return self.few_steps(steps)

    def few_steps(self, steps: int) -> int:
        """The same for a caller that holds Ctrl-C back (`undisturbed`)."""
        self.control[0] = steps
        self.native.function(self.control_address)
        if any(
            self.state_words[self.counters, 0].tolist() if self.lanes == 1 else self.state_words[self.counters].flat
        ):
            self.drain()
        done = int(self.control[0])
        self.steps_taken += done
        return done

    def once(self, stream: str) -> np.ndarray:
        """The first row of a stream that one step of the first lane writes; no row is kept.  Ctrl-C is not held back,
        for nothing is taken over from the step before."""
        if self.eager:
            rows = self.collected[stream][0]
            rows.clear()
            self.advance(1)
            return rows[0][0].copy() if rows else np.full(len(self.program.streams[stream][0]), np.nan)
        self.state_words[self.counters] = 0
        self.control[0] = 1
        self.native.function(self.control_address)
        row: np.ndarray = self.buffers[stream][0, :, 0].copy()
        if not self.state_words[self.places[f"{stream}.rows"], 0]:  # a step that is not finite writes none
            row[:] = np.nan
        self.state_words[self.counters] = 0
        return row

    def drain(self) -> None:
        """Take the rows out of the buffers."""
        for name, buffer in self.buffers.items():
            counts = self.state_words[self.places[f"{name}.rows"]]
            for lane in np.flatnonzero(counts):
                self.keep(name, int(lane), buffer[: counts[lane], :, lane])
            counts[:] = 0

    def keep(self, stream: str, lane: int, rows: np.ndarray) -> None:
        """Keep a copy of rows, up to the most of their stream."""
        parts = self.collected[stream][lane]
        if stream in self.most:
            room = max(0, self.most[stream] - sum(map(len, parts)))
            self.beyond[stream][lane].update(rows[room:, 0].tolist())
            rows = rows[:room]
        if len(rows):
            parts.append(rows.copy())

    def eager_steps(self, steps: int, expect: int | None) -> int:
        """The same steps, computed at once in Python, all lanes together."""
        taken, begin = 0, time.perf_counter()
        while taken < steps and self.running and not self.stop_word[0]:
            with np.errstate(all="ignore"):
                made = {i: self.eager_step(i) for i, status in enumerate(self["status"]) if status == RUNNING}
            with undisturbed():
                for lane, (rec, words) in made.items():
                    for name, word in words.items():
                        self.state_words[self.places[name], lane] = word
                    for stream, row in rec.rows if words["status"] <= DONE else ():
                        self.keep(stream, lane, np.array([row]))
                taken += 1
                self.steps_taken += 1
            spent = time.perf_counter() - begin
            if self.asked:
                announce(spent / self.lanes, self.lanes, expect)
                self.asked = False
            if spent > CHUNK_SECONDS:
                break
        return taken

    def eager_step(self, lane: int) -> tuple[EagerRecorder, dict[str, np.int64]]:
        """One step of one lane in Python, not yet taken: what happened in it, and the words of the next state."""
        program = self.program
        kinds = {s.name: s.kind for s in program.slots}
        index = {s.name: i for i, s in enumerate(program.parameters)}

        def known(where: str, name: str) -> Any:
            if where == "parameter":
                word, kind = self.parameter_words[index[name], lane], program.parameters[index[name]].kind
            else:
                word, kind = self.state_words[self.places[name], lane], kinds[name]
            return word.view(np.float64) if kind == "f" else word

        arrays = {("parameter", n): a[:, lane] for n, a in self.arrays.items()}
        for s in program.slots:
            if s.size > 1:
                arrays["ring", s.name] = self.state_words[self.places[s.name] :][: s.size, lane].view(np.float64)
        rec = EagerRecorder(known, arrays, program.record)
        rec.streams, rec.both = dict(program.streams), program.both
        rec.cells = {c.name: c for c in program.slots if c.name not in program.state and c.size == 1}
        ends = run_text(rec, program)
        return rec, {n: word_of(kinds[n], x.number if hasattr(x, "number") else x) for n, x in ends.items()}

    def explain(self, lane: int = 0) -> str:
        """Why a lane has ended, in a sentence; a non-finite step is taken once more to find its first cause."""
        status, detail = int(self["status"][lane]), int(self["detail"][lane])
        text = f"{self.status[lane]} at step {self['step'][lane]}"
        if status != NON_FINITE:
            return text if not detail else f"{text} ({detail})"
        text += f": {self.program.slots[detail].name!r} is not finite"
        try:
            again = Run(self.program, eager=True)
            again.state_words[:, 0] = self.state_words[:, lane]
            again.parameter_words[:, 0] = self.parameter_words[:, lane]
            again.arrays = {n: a[:, lane : lane + 1].copy() for n, a in self.arrays.items()}
            again.state_words[self.places["status"], 0] = RUNNING
            with np.errstate(all="ignore"):
                cause = again.eager_step(0)[0].first_bad
        except Exception as error:  # the text is anybody's, and its numbers are bad
            return f"{text}; taken once more in Python the step raises {type(error).__name__}: {error}"
        return text + (f"; first {cause}" if cause else "")


def announce(seconds: float, lanes: int, expect: int | None) -> None:
    """Say how long an eager run will take."""
    total = f"; {expect:,} steps of {lanes} lane(s) take about {seconds * expect * lanes:.0f} s" if expect else ""
    print(f"eager: {1e3 * seconds:.1f} ms per step{total}", file=sys.stderr)


def wants_eager() -> bool:
    """True if JOINTPLAY_EAGER asks for it, or machine code fails its self-test here."""
    if os.environ.get("JOINTPLAY_EAGER", "").lower() not in ("", "0", "false", "no", "off"):
        return True
    return not self_test()


_tested: list[bool] = []


def self_test() -> bool:
    """One tiny program, its machine code compared bit by bit with eager; on failure says so once."""
    if not _tested:
        _tested.append(True)
        try:
            from .engine import program, text
            from .numerics.functions import sin

            def step(s: Any, p: Any) -> Any:
                text.stop(s.step >= 3)
                return {"x": text.branch(s.x > 0.5, lambda: sin(s.x) * p.a, lambda: s.x + p.a / 3.0)}

            tiny = program.trace(step, {"x": 0.1}, {"a": 0.7})
            one, two = Run(tiny, eager=True), Run(tiny, eager=False, fma=False)
            one.advance()
            two.advance()
            _tested[0] = one["x"] == two["x"] and one.status == two.status
            reason = "its numbers differ from eager ones"
        except Exception as error:  # whatever LLVM or the loader does on an unknown machine
            _tested[0], reason = False, str(error)
        if not _tested[0]:
            warnings.warn(
                f"machine code cannot be used on this machine ({reason}); running eagerly, about 10,000 times slower",
                stacklevel=3,
            )
    return _tested[0]
