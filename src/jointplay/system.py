"""A mechanism with its equations traced and compiled; numbers change without a new trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .engine.program import trace
from .engine.text import emit
from .engine.values import Value
from .model.mechanism import Mechanism
from .physics import dynamics
from .run import Run


@dataclass(frozen=True)
class Equations:
    """The equations of motion at one state: M a = F + B^T lam, B v = speed, B a = rhs.

    `residual` is what the constraints leave open, `Bdot` the time derivative of the matrix of constraints `B`; rows
    and columns are labelled by `System.rows` and `System.coordinates`.
    """

    residual: np.ndarray
    B: np.ndarray
    Bdot: np.ndarray
    speed: np.ndarray
    rhs: np.ndarray
    M: np.ndarray
    F: np.ndarray

    def accelerations(self) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations and multipliers (the reactions along the rows); rows must be independent."""
        n, m = len(self.F), len(self.rhs)
        matrix = np.block([[self.M, -self.B.T], [self.B, np.zeros((m, m))]])
        both = np.linalg.solve(matrix, np.concatenate([self.F, self.rhs]))
        return both[:n], both[n:]


class System:
    """The compiled equations of a mechanism in the coordinates x, y, angle of each body."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.coordinates = [f"{body}.{c}" for body in mechanism.bodies for c in ("x", "y", "angle")]
        self.rows: list[str] = []
        self.entries: list[tuple[str, tuple[int, ...]]] = []  # where the columns of the emitted row belong
        self.constants: dict[str, np.ndarray] = {}
        numbers = {a: x for a, x in mechanism.addresses().items() if x != 0 and not a.startswith("start.")}
        state = dict.fromkeys([*self.coordinates, *(f"{c}.rate" for c in self.coordinates)], 0.0)
        self.program = trace(self._text, state, {"time": 0.0, **numbers, **mechanism.tables()})
        self.run = Run(self.program)

    def with_(self, numbers: dict[str, float]) -> System:
        """The same mechanism with other numbers at some addresses."""
        return System(self.mechanism.with_(numbers))

    def _text(self, s: Any, p: Any) -> dict[str, Any]:
        tables = self.mechanism.tables()

        def numbers(address: str) -> Any:  # a number written as 0 in the model is structural
            return p[address] if address in tables or self.mechanism.value(address) != 0 else 0

        q, v = [s[c] for c in self.coordinates], [s[f"{c}.rate"] for c in self.coordinates]
        text = dynamics.Equations(self.mechanism, numbers)
        rows = text.rows(q, v, p.time)
        self.rows = rows.labels
        parts = {"residual": rows.residual, "B": rows.B, "Bdot": rows.Bdot, "speed": rows.speed, "rhs": rows.rhs}
        self._emit(parts | {"mass": text.masses(), "F": text.forces(q, v, p.time)})
        return {}

    def _emit(self, parts: dict[str, Any]) -> None:
        """Write the entries that vary as one row, and keep those that are known for good."""
        self.entries, columns = [], {}
        for name, part in parts.items():
            self.constants[name] = np.zeros((len(part), len(self.coordinates)) if "B" in name else len(part))
            for place in np.ndindex(self.constants[name].shape):
                x = part[place[0]][place[1]] if len(place) == 2 else part[place[0]]
                if isinstance(x, Value):
                    columns[f"c{len(self.entries)}"] = x
                    self.entries.append((name, place))
                else:
                    self.constants[name][place] = x
        emit("equations", **columns)

    def evaluate(self, q: Any, v: Any = None, t: float = 0.0) -> Equations:
        """The equations at coordinates q, rates v (zero unless given) and time t."""
        at, rates = (np.asarray(x, float) for x in (q, np.zeros(len(self.coordinates)) if v is None else v))
        if at.shape != (len(self.coordinates),) or rates.shape != at.shape:
            names = ", ".join(self.coordinates)
            raise ValueError(f"expected {len(self.coordinates)} numbers for {names}; got {at.shape}")
        state = dict(zip(self.coordinates, at, strict=True))
        state |= {f"{c}.rate": x for c, x in zip(self.coordinates, rates, strict=True)}
        self.run.start(0, {"time": float(t)}, state)
        self.run.advance(1)
        found = {name: array.copy() for name, array in self.constants.items()}
        values = self.run.rows("equations")
        for i, (name, place) in enumerate(self.entries):
            found[name][place] = values[f"c{i}"][0]
        return Equations(M=np.diag(found.pop("mass")), **found)
