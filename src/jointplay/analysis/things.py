"""A thing that steps: the one shape in which every analysis takes a system, and the two kinds written on the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..engine import number, trace
from ..engine.program import Names
from ..engine.typing import Scalar, Vector
from ..errors import InputError
from ..run import Run

ROUND = 1e-9  # of a step: a rest of time shorter than this is not stepped


@runtime_checkable
class Thing(Protocol):
    """What an analysis asks of a system: lanes of one state each, that step, go back and can be pushed aside.

    `jointplay.Simulation` is such a thing with every stepper; so are `Map`, `Flow`, and the sections of any of them
    (`Strobe`, `Section`). docs/analysis.md tells the rules that an implementation keeps.
    """

    @property
    def names(self) -> Sequence[str]:
        """The names of the numbers in a state."""

    @property
    def time(self) -> np.ndarray:
        """The time of every lane: s, or steps of a map."""

    @property
    def state(self) -> np.ndarray:
        """A copy of the states (lanes, names)."""

    def step(self, n: int = 1) -> Any:
        """Take n steps in every lane."""

    def advance(self, until: float) -> Any:
        """Go on to a time in every lane."""

    def snapshot(self) -> Any:
        """Everything that is needed to go on from here."""

    def reset(self, state: Any = None, lane: int | None = None, numbers: Any = None, start: Any = None) -> Any:
        """Back to the start, with other numbers and start values if given, or to a snapshot."""

    def perturb(self, change: Mapping[str, float] | np.ndarray, lane: int) -> Any:
        """Add to the state of one lane."""


def is_angle(name: str) -> bool:
    """Whether a number of a state is an angle, of which only the remainder of a turn counts."""
    return name == "angle" or name.endswith(".angle")


def difference(names: Sequence[str], a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """State a less state b; angles differ by less than a turn."""
    off = np.asarray(a, float) - np.asarray(b, float)
    turning = np.array([is_angle(name) for name in names])
    return np.where(turning, np.remainder(off + np.pi, 2 * np.pi) - np.pi, off)


def go(thing: Thing, until: float) -> None:
    """Advance a thing; one that ends before is an error with its own words. Steps of one length are counted: a time
    that is a whole number of them is met by so many, whatever round-off says."""
    stepper: Any = getattr(thing, "stepper", None)
    if stepper is None or stepper.adaptive:
        thing.advance(until)
    else:
        thing.step(max(0, round((until - float(thing.time[0])) / stepper.step)))
    for lane, outcome in enumerate(getattr(thing, "status", [])):
        if str(outcome.kind) not in ("done", "running"):
            raise InputError(f"lane {lane} ended early: {outcome.text}")


def beside(thing: Any, change: np.ndarray, share: float = 0.0, lane: int = 1, other: int = 0) -> None:
    """Make a lane a neighbour of another, or of itself, by a change of its state; share: what stays of the difference
    in all else that the lanes remember."""
    if hasattr(thing, "stepper"):
        thing.beside(lane, other, change, share)
    elif hasattr(thing, "thing"):
        beside(thing.thing, change, share, lane, other)
    else:
        state = thing.state
        thing.perturb(state[other] + change - state[lane], lane=lane)


def ensure_thing(thing: Any, lanes: int = 1) -> None:
    """Refuse what does not step, or has too few lanes."""
    if not isinstance(thing, Thing):
        raise InputError(
            f"expected a thing that steps (a Simulation, Map, Flow, Strobe or Section), got {type(thing).__name__}; "
            "docs/analysis.md says what one must have"
        )
    if len(thing.state) < lanes:
        raise InputError(f"this needs {lanes} lanes, the system has {len(thing.state)}; make it with lanes={lanes}")


class Map:
    """A map written on the engine: `function(s, p)` gives the next state by name; its time is the number of steps.

    state: start values by name; parameters: numbers by name; lanes: how many side by side (1, 2, 4, 8), or one
    {name: number} for each, which may name start values too.

    >>> doubling = Map(lambda s, p: {"x": p.a * s.x}, {"x": 1.0}, {"a": 2.0}, lanes=[{}, {"a": 3.0}])
    >>> doubling.step(3)
    >>> doubling.state[:, 0]
    array([ 8., 27.])
    """

    share = True  # steps have one length, so all lanes keep the same times

    def __init__(
        self,
        function: Callable[[Any, Any], Mapping[str, Any]],
        state: Mapping[str, float],
        parameters: Mapping[str, float] | None = None,
        lanes: int | Sequence[Mapping[str, float]] = 1,
    ) -> None:
        self.function, self.starts = function, {name: float(x) for name, x in state.items()}
        self.parameters = {name: float(x) for name, x in (parameters or {}).items()}
        self.given = [{} for _ in range(lanes)] if isinstance(lanes, int) else [dict(one) for one in lanes]
        self.names = list(self.starts)
        self.program = trace(self.text, self.starts, self.parameters | self.clock())
        self.run = Run(self.program, lanes=len(self.given))
        self.reset()

    def clock(self) -> dict[str, float | int]:
        """The parameters by which time is told."""
        return {}

    def text(self, s: Names, p: Names) -> dict[str, Scalar]:
        """One step, as the engine records it."""
        return dict(self.function(s, p))

    @property
    def time(self) -> np.ndarray:
        """The number of steps taken in every lane."""
        return self.run["step"].astype(float)

    @property
    def state(self) -> np.ndarray:
        """A copy of the states (lanes, names)."""
        return np.array([self.run[name] for name in self.names]).T.reshape(len(self.given), len(self.names))

    def step(self, n: int = 1) -> None:
        """Take n steps in every lane; one that leaves the finite numbers is an error."""
        self.run.advance(int(n))
        for lane, status in enumerate(self.run.status):
            if status != "running":
                raise InputError(f"lane {lane}: {self.run.explain(lane)}")

    def advance(self, until: float) -> None:
        """Go on to a number of steps."""
        self.step(max(0, round(until - float(self.time.max()))))

    def snapshot(self) -> tuple[np.ndarray, np.ndarray]:
        """States and parameters of all lanes."""
        return self.run.state_words.copy(), self.run.parameter_words.copy()

    def reset(
        self,
        state: tuple[np.ndarray, np.ndarray] | None = None,
        lane: int | None = None,
        numbers: Mapping[str, float] | None = None,
        start: Mapping[str, float] | None = None,
    ) -> None:
        """Back to the start, with other parameters (`numbers`) and start values if given, or to a snapshot."""
        lanes = range(len(self.given)) if lane is None else [lane]
        if state is not None:
            for k in lanes:
                self.run.state_words[:, k], self.run.parameter_words[:, k] = state[0][:, k], state[1][:, k]
            return
        for k in lanes:
            self.given[k] |= dict(numbers or {}) | dict(start or {})
            mine = [{n: x for n, x in self.given[k].items() if (n in self.starts) is kept} for kept in (False, True)]
            self.run.start(k, *mine)

    def perturb(self, change: Mapping[str, float] | np.ndarray, lane: int = 0) -> None:
        """Add to the state of one lane: numbers by name, or an array over `names`."""
        moves = change if isinstance(change, Mapping) else dict(zip(self.names, np.asarray(change), strict=True))
        for name, move in moves.items():
            if name not in self.starts:
                raise InputError(f"no state {name!r}; there are {', '.join(self.names)}")
            values = self.run[name]
            values[lane] += float(move)
            self.run[name] = values


class Scheme(Map):
    """A step of one's own in time, written on the engine: `function(t, h, s, p)` gives the state at t + h by name.

    Steps have one length (s); `advance` ends on the time asked for with one shorter step. state, parameters, lanes:
    as of a Map.
    """

    def __init__(
        self,
        function: Callable[[Any, Any, Any, Any], Mapping[str, Any]],
        state: Mapping[str, float],
        parameters: Mapping[str, float] | None = None,
        step: float = 1e-3,
        lanes: int | Sequence[Mapping[str, float]] = 1,
    ) -> None:
        if not (np.isfinite(step) and step > 0):
            raise InputError(f"step must be a number of seconds > 0, got {step!r}")
        self.length = float(step)

        def text(s: Names, p: Names) -> Mapping[str, Scalar]:
            h = p["clock.step"]
            return function(p["clock.begin"] + h * number(s.step - p["clock.first"]), h, s, p)

        super().__init__(text, state, parameters, lanes)

    def clock(self) -> dict[str, float | int]:
        """Length of a step, and the time of the step from which they are counted: no error adds up."""
        return {"clock.step": self.length, "clock.begin": 0.0, "clock.first": 0}

    @property
    def time(self) -> np.ndarray:
        """The time of every lane (s)."""
        run = self.run
        return run["clock.begin"] + run["clock.step"] * (run["step"] - run["clock.first"])

    def advance(self, until: float) -> None:
        """Go on to a time (s), which the last step meets."""
        now = self.time
        if np.ptp(now) > ROUND * self.length:
            raise InputError("the lanes stand at different times; reset them together")
        whole = int(np.floor((until - float(now[0])) / self.length + ROUND))
        if whole > 0:
            self.step(whole)
        rest = until - float(self.time[0])
        if rest > ROUND * self.length:
            self.restart(rest)
            self.step()
            self.restart(self.length, until)

    def restart(self, length: float, begin: float | None = None) -> None:
        """Count steps of another length from here on."""
        self.run["clock.begin"] = self.time if begin is None else begin
        self.run["clock.first"] = self.run["step"]
        self.run["clock.step"] = length


class Flow(Scheme):
    """Differential equations written on the engine: `rates(t, s, p)` gives the rates by name.

    Its scheme is the classical one of Runge and Kutta, of order 4. state, parameters, step, lanes: as of a Scheme.

    >>> import math
    >>> swing = Flow(lambda t, s, p: {"x": s.v, "v": -s.x}, {"x": 1.0, "v": 0.0}, step=1e-2)
    >>> swing.advance(math.pi)
    >>> bool(abs(swing.state[0, 0] + 1) < 1e-9)
    True
    """

    def __init__(
        self,
        rates: Callable[[Any, Any, Any], Mapping[str, Any]],
        state: Mapping[str, float],
        parameters: Mapping[str, float] | None = None,
        step: float = 1e-3,
        lanes: int | Sequence[Mapping[str, float]] = 1,
    ) -> None:
        names = list(state)

        def scheme(t: Scalar, h: Scalar, s: Names, p: Names) -> dict[str, Scalar]:
            x = [s[name] for name in names]

            def slope(t: Scalar, x: Sequence[Scalar]) -> Vector:
                found = rates(t, Names(dict(zip(names, x, strict=True))), p)
                return [found[name] for name in names]

            def moved(by: Scalar, k: Sequence[Scalar]) -> Vector:
                return [a + by * b for a, b in zip(x, k, strict=True)]

            k1 = slope(t, x)
            k2 = slope(t + 0.5 * h, moved(0.5 * h, k1))
            k3 = slope(t + 0.5 * h, moved(0.5 * h, k2))
            k4 = slope(t + h, moved(h, k3))
            parts = zip(names, x, k1, k2, k3, k4, strict=True)
            return {n: a + (h / 6.0) * (b + 2.0 * (c + d) + e) for n, a, b, c, d, e in parts}

        super().__init__(scheme, state, parameters, step, lanes)
