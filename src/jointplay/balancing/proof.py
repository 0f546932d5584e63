"""Tests of balance: static, gyroscopic and decoupling, each also fully, over positions that a mechanism can reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.mechanism import Mechanism
from ..statics.complement import Coordinates, reduced
from ..system import System, as_system
from .samples import positions
from .solver import changing

BALANCED = 1e-9  # relative residual below which a test is passed
TESTS = ("static", "gyroscopic", "decoupling")


@dataclass(frozen=True)
class Test:
    """One test: whether it is passed, its residual relative to the size of the terms, and the worst position."""

    name: str
    passed: bool
    residual: float
    worst: dict[str, float]

    def __str__(self) -> str:
        return f"{self.name}: {'yes' if self.passed else 'no'} (residual {self.residual:.2g})"


@dataclass(frozen=True)
class Judgement:
    """All tests by their names ("static", "fully static", ...), over how many positions; singular ones are left out."""

    tests: dict[str, Test]
    positions: int
    singular: int
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Test:
        return self.tests[name]

    def text(self) -> str:
        """A few lines for people."""
        lines = [str(test) for test in self.tests.values()]
        return "\n".join([*lines, f"{self.positions} positions, {self.singular} singular ones left out", *self.notes])


def judge(
    mechanism: Mechanism | System,
    independent: Sequence[Any] | None = None,
    redundant: Sequence[Any] | None = None,
    cut: Sequence[str] = (),
    count: int = 24,
    seed: int = 0,
) -> Judgement:
    """Tests of balance after Definition 3.1 of Hess Coelho et al., u = M p' + D p p + B p + z along the independent
    coordinates: static (z = 0), gyroscopic (also D = 0 and B = 0), decoupling (also M diagonal); fully, if M, D and B
    are the same in all positions.

    redundant, cut: as in `reduced`; the coupling of balanced modules keeps their balance in redundant rates, in general
    not in independent ones.

    >>> from jointplay.model import library
    >>> judge(library.pendulum()).tests["static"].passed
    False
    """
    system = as_system(mechanism)
    least = Coordinates(system, independent)
    places, singular = positions(least, count, seed)
    terms = [reduced(system, at.q, independent, redundant, cut) for at in places]
    weights = _sizes(least)
    tests = {}
    for name, values in _residuals(terms, weights):
        worst = int(np.argmax(values))
        there = dict(zip(system.coordinates, places[worst].q.tolist(), strict=True))
        tests[name] = Test(name, bool(values[worst] < BALANCED), float(values[worst]), there)
    return Judgement(tests, len(places), singular, tuple(changing(system.mechanism)))


def _sizes(least: Coordinates) -> tuple[float, float]:
    """What inertias (kg m^2) and moments of weight (N m) there are, to judge terms by."""
    mechanism, size = least.system.mechanism, float(least.scale[0])
    wholes = [body.whole() for body in mechanism.bodies.values()]
    inertia = sum(mass * size**2 + J for mass, _, J in wholes)
    weight = sum(mass for mass, _, _ in wholes) * abs(complex(*mechanism.gravity)) * size
    return inertia, max(weight, inertia)


def _residuals(terms: Sequence[Any], weights: tuple[float, float]) -> Iterator[tuple[str, np.ndarray]]:
    inertia, weight = weights
    static = np.array([np.abs(t.z.values).max(initial=0.0) for t in terms]) / weight
    spin = np.array([max(np.abs(t.D.values).max(initial=0.0), np.abs(t.B.values).max(initial=0.0)) for t in terms])
    gyroscopic = np.maximum(static, spin / inertia)
    cross = np.array([_off_diagonal(t) for t in terms]) / inertia
    decoupling = np.maximum(gyroscopic, cross)
    change = np.zeros(len(terms))
    for name in ("M", "D", "B"):
        each = np.array([t[name].values for t in terms])
        apart = np.abs(each - each.mean(axis=0)).reshape(len(terms), -1).max(axis=1, initial=0.0)
        change = np.maximum(change, apart / inertia)
    for name, values in zip(TESTS, (static, gyroscopic, decoupling), strict=True):
        yield name, values
        yield f"fully {name}", np.maximum(values, change)


def _off_diagonal(t: Any) -> float:
    same = np.array([[a == b for b in t.rate.values] for a in t.input.values])
    return float(np.abs(np.where(same, 0.0, t.M.values)).max(initial=0.0))
