"""The same text computed at once on numpy's float64: the reference of the tests, and for breakpoints."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from .blocks import Array, code_of, key_of
from .recorder import Recorder
from .trees import arguments, build, flatten
from .values import DTYPES, OPERATIONS, Value, as_float, compute, here, kind_of


class EagerRecorder(Recorder):
    """A recorder whose values know their numbers: branches choose, loops run, rows are written."""

    def __init__(self, numbers: Callable[[str, str], Any], arrays: dict[Any, np.ndarray], record: Any) -> None:
        super().__init__(record)
        self.numbers, self.arrays = numbers, arrays  # arrays by where they are and their name
        self.rows: list[tuple[str, list[float]]] = []
        self.first_bad = ""
        self.aside = False  # in a side that is not taken: no rows, no stores, and its values have level 2

    def input(self, where: str, name: str, kind: str) -> Value:
        """A named number, known."""
        value = super().input(where, name, kind)
        if value.number is None:
            value.number = DTYPES[kind](self.numbers(where, name))
        return value

    def operation(self, op: str, args: Any, kind: str, rule: Any = None) -> Value:
        """Compute one operation."""
        key = (op, kind, *map(key_of, args), rule and (rule[0], *map(key_of, rule[1])))
        if key in self.step.memo:
            return self.step.memo[key]
        value = self.new(op, args, kind, max([1 + self.aside, *(a.level for a in args if isinstance(a, Value))]))
        value.rule = rule
        if op in OPERATIONS or rule:  # a loop and a subroutine have formals of their own, even of equal numbers
            self.step.memo[key] = value
        given = [a.number if isinstance(a, Value) else a for a in args]
        if op in OPERATIONS:
            value.number = compute(op, given)
            bad = kind == "f" and not np.isfinite(value.number) and np.isfinite(given).all()
            if bad and not self.first_bad and value.level < 2:
                self.first_bad = f"{op} gives {value.number} in {here()}"
        elif op == "load":
            array = given[0]
            data = array.data if array.where == "constant" else self.arrays[array.where, array.name]
            value.number = data[int(given[1])]
        else:  # copy, loop and shared_max pass their argument on
            value.number = given[0]
        value.number = DTYPES[kind](value.number)
        return value

    def branch(self, mask: Any, then: Callable[[], Any], other: Callable[[], Any], source: Any = None) -> Any:
        """The side that the mask chooses; a derivative must know what the other one depends on."""
        if code_of(then) not in self.both:
            values, form = flatten(then() if mask.number else other())
            return build(form, [self.opaque(x, kind_of(x)) for x in values])
        before, found = self.step.cells, []
        for text, taken in ((then, mask.number), (other, not mask.number)):
            self.step.cells = dict(before)
            with nullcontext() if taken else self.beside():
                found.append((*flatten(text()), self.step.cells))
        (a, form, first), (b, _, second) = found
        self.step.cells = before
        for cell in [self.cells[n] for n in {**first, **second}]:
            x, y = (cells[cell.name] if cell.name in cells else self.read(cell) for cells in (first, second))
            before[cell.name] = x if x is y else self.choice(cell.kind, mask, x, y)
        kinds = [kind_of(x) for x in a]
        rows = zip(kinds, self.settle(a, kinds, ""), self.settle(b, kinds, ""), strict=True)
        return build(form, [self.choice(k, mask, x, y) for k, x, y in rows])

    def choice(self, kind: str, mask: Any, a: Any, b: Any) -> Value:
        """What a branch gives, whatever the side not taken holds."""
        value = super().choice(kind, mask, a, b)
        value.level = max(1 + self.aside, mask.level)
        return value

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Run a side that is not taken, leaving nothing behind but its values."""
        memo, aside = self.step.memo, self.aside
        self.step.memo, self.aside = ChainMap({}, memo), True  # type: ignore[assignment]
        yield
        self.step.memo, self.aside = memo, aside

    def loop(self, carry: Any, body: Callable[..., Any], at_most: int) -> tuple[Any, Any]:
        """The rounds of a loop, one after the other."""
        values, form = flatten(carry)
        kinds = [kind_of(x) for x in values]
        again: Any = True
        for _ in range(1 if self.aside else at_most):
            values = [self.opaque(x, k) for x, k in zip(values, kinds, strict=True)]
            results, again = body(*arguments(build(form, values)))
            values, _ = flatten(results)
            if not (again.number if isinstance(again, Value) else again):
                break
        ends = self.settle(values, kinds, "the body of a loop must return what the loop carries")
        outs = [self.operation("loop", [x], k) for x, k in zip(ends, kinds, strict=True)]
        return build(form, outs), self.opaque(again, "m")

    def call(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """A subroutine, called like any function."""
        leaves, form = flatten(args)
        given = build(form, [self.opaque(a, a.kind) if isinstance(a, Value) else a for a in leaves])
        values, form = flatten(function(*given))
        return build(form, [self.opaque(x, x.kind) if isinstance(x, Value) else x for x in values])

    def ring(self, name: str, size: int, start: float) -> Array:
        """A ring buffer of the state; loops come here more than once."""
        return Array("ring", name, "f", size)

    def append(self, stream: str, values: list[Any]) -> None:
        """Keep a row until the step is committed."""
        if not self.aside:
            self.rows.append((stream, [float(as_float(v)) for v in values]))

    def store(self, array: Array, index: Any, value: Any) -> None:
        """Write one element of a ring buffer."""
        if not self.aside:
            self.arrays[array.where, array.name][int(index)] = float(value)
