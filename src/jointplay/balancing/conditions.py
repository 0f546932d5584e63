"""The independent conditions of balance, in the names of the model: rank by singular values, then reduced row echelon
form; coefficients are recognised as products of lengths by changing the geometry a little."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.mechanism import Mechanism
from ..system import System, as_system
from .demands import Demands, labels, parameters

RANK = 1e-9  # singular values below this share of the largest count as zero
NOTHING = 1e-10  # coefficients below this, relative to the largest of their row, are round-off
SAME = 1e-9  # relative: a product of lengths is a coefficient if it is so close to it, in every changed geometry
MOST = 14  # lengths among which products are looked for
CHANGED = ((0.013, 0.4), (0.017, 1.1))  # how much, and which way, the geometry is changed to recognise coefficients

Factors = tuple[tuple[str, ...], tuple[str, ...]]  # addresses above and below the line


@dataclass(frozen=True)
class Term:
    """A coefficient times a parameter; `factors` say the coefficient in the model's names, if that is known."""

    label: tuple[str, str]
    coefficient: float
    factors: Factors | None


@dataclass(frozen=True)
class Condition:
    """A sum of terms and a constant that must be 0; the first term belongs to the parameter it is solved for."""

    terms: tuple[Term, ...]
    constant: float
    text: str

    def value(self, mechanism: Mechanism) -> float:
        """What the sum is for a mechanism, in SI units."""
        given = dict(zip(labels(mechanism), parameters(mechanism), strict=True))
        return sum(term.coefficient * given[term.label] for term in self.terms) + self.constant


def echelon(found: Demands, first: Collection[tuple[str, str]] = ()) -> tuple[int, np.ndarray, list[int]]:
    """Rank, reduced row echelon form of rows and constant (rank, parameters + 1), and the columns of its pivots.

    first: parameters for which the rows are solved before others.
    """
    whole = np.column_stack([found.rows * found.sizes, found.constant])
    _, values, ways = np.linalg.svd(whole, full_matrices=False)
    rank = int((values > RANK * max(values[0], 1e-300)).sum()) if len(values) and values[0] > 0 else 0
    left = ways[:rank].copy()
    order = sorted(range(len(found.labels)), key=lambda i: (found.labels[i] not in first, i))
    pivots: list[int] = []
    for column in [*order, len(found.labels)]:
        row = len(pivots)
        if row == rank:
            break
        best = row + int(np.abs(left[row:, column]).argmax())
        if abs(left[best, column]) < 1e-7:
            left[row:, column] = 0.0
            continue
        left[[row, best]] = left[[best, row]]
        left[row] /= left[row, column]
        for other in range(rank):
            if other != row:
                left[other] -= left[other, column] * left[row]
        pivots.append(column)
    sizes = np.append(found.sizes, 1.0)
    left[np.abs(left) < NOTHING * np.abs(left).max(axis=1, keepdims=True, initial=1e-300)] = 0.0
    left = left / sizes
    for row, column in enumerate(pivots):
        left[row] /= left[row, column]
    return rank, left, pivots


def conditions(
    mechanism: Mechanism | System,
    find: Callable[[System], Demands],
    first: Collection[tuple[str, str]] = (),
    weighted: Collection[str] = (),
) -> tuple[int, list[Condition], Demands]:
    """Rank and readable conditions of what `find` demands of a mechanism; weighted: bodies whose counterweight is to be
    written out although they have none yet."""
    system = as_system(mechanism)
    base = system.given
    found = find(system)
    rank, rows, pivots = echelon(found, first)
    others = _changed(system, find, first, pivots)
    names = _Names(base, [rows, *(r for _, r in others)], [base, *(m for m, _ in others)])
    made = []
    for i, row in enumerate(rows):
        order = sorted(np.flatnonzero(row[:-1]).tolist(), key=lambda j: (j != pivots[i], j))
        terms = tuple(Term(found.labels[j], float(row[j]), names.of(i, j)) for j in order)
        constant = float(row[-1])
        made.append(Condition(terms, constant, _text(base, terms, constant, weighted)))
    return rank, made, found


def _changed(
    system: System, find: Callable[[System], Demands], first: Collection[tuple[str, str]], pivots: list[int]
) -> list[tuple[Mechanism, np.ndarray]]:
    """The same rows with the geometry changed a little; none if it does not close then, or its rows are others."""
    made = []
    for size, phase in CHANGED:
        changes = {
            address: x * (1 + size * np.sin(phase + 1.7 * i))
            for i, (address, x) in enumerate(_geometry(system.given).items())
        }
        try:
            other = system.with_(changes)
            _, rows, same = echelon(find(other), first)
        except ValueError:
            return []
        if same != pivots:
            return []
        made.append((other.given, rows))
    return made


def _geometry(mechanism: Mechanism) -> dict[str, float]:
    """Lengths, points, axes and ratios that are not 0."""
    found = {}
    for address, x in mechanism.addresses().items():
        name, rest = mechanism.split(address)
        point = name in ("ground", "gravity") or (
            name in mechanism.bodies and rest.rpartition(".")[0] in mechanism.bodies[name].points
        )
        if x and (point or (rest in ("length", "ratio") and "control" not in name)):
            found[address] = x
    return found


class _Names:
    """Coefficients as products of lengths over lengths, such that it is true for every geometry that was tried."""

    def __init__(self, base: Mechanism, rows: Sequence[np.ndarray], mechanisms: Sequence[Mechanism]) -> None:
        self.rows = rows
        self.sure = len(rows) > 1
        lengths = list(_geometry(base))[:MOST]
        values = {a: np.array([m.value(a) for m in mechanisms]) for a in lengths}
        self.known: list[tuple[Factors, np.ndarray]] = [(((), ()), np.ones(len(mechanisms)))]
        for above, below in ((1, 0), (1, 1), (0, 1), (2, 0), (2, 1), (1, 2), (2, 2)):
            for up in itertools.combinations_with_replacement(lengths, above):
                for down in itertools.combinations_with_replacement(lengths, below):
                    if not set(up) & set(down):
                        self.known.append(((up, down), _product(up, values) / _product(down, values)))

    def of(self, row: int, column: int) -> Factors | None:
        """The coefficient's factors, its sign left out; None if no product fits."""
        wanted = np.abs([rows[row, column] for rows in self.rows])
        if not self.sure:
            return ((), ()) if abs(wanted[0] - 1) < SAME else None
        for factors, values in self.known:
            if (np.abs(wanted - np.abs(values)) < SAME * wanted).all():
                return factors
        return None


def _product(addresses: Iterable[str], values: dict[str, np.ndarray]) -> Any:
    found: Any = 1.0
    for address in addresses:
        found = found * values[address]
    return found


def monomials(mechanism: Mechanism, label: tuple[str, str], weighted: Collection[str] = ()) -> list[list[str]]:
    """A parameter as a sum of products of addresses."""
    name, part = label
    if part == "k":
        return [[f"{name}.stiffness"]]
    mass, x, y = f"{name}.mass", f"{name}.centre.x", f"{name}.centre.y"
    own = {"m": [[mass]], "mx": [[mass, x]], "my": [[mass, y]]}
    own["J"] = [[f"{name}.inertia"], [mass, f"{x}**2"], [mass, f"{y}**2"]]
    found = own[part]
    if name in weighted or mechanism.bodies[name].counterweight is not None:
        c = f"{name}.counterweight"
        added = {"m": [[f"{c}.mass"]], "mx": [[f"{c}.mass", f"{c}.x"]], "my": [[f"{c}.mass", f"{c}.y"]]}
        added["J"] = [[f"{c}.inertia"], [f"{c}.mass", f"{c}.x**2"], [f"{c}.mass", f"{c}.y**2"]]
        found = found + added[part]
    return found


def _text(mechanism: Mechanism, terms: Sequence[Term], constant: float, weighted: Collection[str]) -> str:
    text = ""
    for term in terms:
        sign = term.coefficient
        number, up, down = "", tuple[str, ...](), tuple[str, ...]()
        if term.factors is None:
            number = f"{abs(term.coefficient):.15g}"
        else:
            up, down = term.factors
            if _value(mechanism, up, down) < 0:  # the names carry a sign of their own
                sign = -sign
        for product in monomials(mechanism, term.label, weighted):
            text += (" + " if sign > 0 else " - ") if text else ("" if sign > 0 else "-")
            text += " * ".join([*([number] if number else []), *product, *up])
            text += "".join(f" / {length}" for length in down)
    if constant:
        text += f" {'+' if constant > 0 else '-'} {abs(constant):.15g}"
    return f"{text} = 0"


def _value(mechanism: Mechanism, up: Iterable[str], down: Iterable[str]) -> float:
    found = 1.0
    for address in up:
        found *= mechanism.value(address)
    for address in down:
        found /= mechanism.value(address)
    return found
