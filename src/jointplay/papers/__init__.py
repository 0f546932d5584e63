"""Literature studies: for each item the paper's value, a reference where there is one, ours, a verdict and a note.

A study is a module of this package with a function `rows(**options)` that gives Rows, and a line in STUDIED.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..errors import InputError
from ..parallel import OnProgress
from .rows import Row, chosen, described, shown
from .verdicts import VERDICTS, Record, difference, judge
from .working import compute, rows_of

__all__ = ["STUDIES", "Record", "Row", "Study", "judge", "summary", "table", "text"]


@dataclass(frozen=True)
class Study:
    """A study by its name; its module is loaded when its rows are asked for."""

    name: str
    workers: int | None = 1  # processes that compute its rows; None: one for each core

    def rows(self, **options: Any) -> list[Row]:
        """What is compared; nothing is computed yet."""
        return rows_of(self.name, options)

    def choose(
        self, table: int | None = None, figure: int | None = None, case: Iterable[str] = (), everything: bool = False,
        **options: Any,
    ) -> list[int]:  # fmt: skip
        """Which rows those of a table, figure or case are; everything: those that take long, too."""
        rows = self.rows(**options)
        known = {id(row): i for i, row in enumerate(rows)}
        return [known[id(row)] for row in chosen(rows, table, figure, case, everything)]

    def records(
        self, table: int | None = None, figure: int | None = None, case: Iterable[str] = (), everything: bool = False,
        keep: bool = False, progress: OnProgress | None = None, workers: int | None = 0, **options: Any,
    ) -> Iterator[Record]:  # fmt: skip
        """The study's comparisons, one after the other as they are computed.

        table, figure, case: a choice of them (see `choose`). keep: what is computed is kept in the cache directory and
        not computed again by the same code. workers: processes, None for one on each core.
        """
        wanted = self.choose(table, figure, case, everything, **options)
        yield from compute(self.name, options, wanted, keep, self.workers if workers == 0 else workers, progress)

    def histories(self) -> Iterator[tuple[str, Any]]:
        """Names and Datasets of the study's curves over time, those of the paper's figures."""
        module = import_module(f"{__name__}.{self.name}")
        if not hasattr(module, "histories"):
            raise InputError(f"study {self.name!r} has no histories; leave --histories out")
        yield from module.histories()

    def __call__(self, **options: Any) -> Iterator[dict[str, Any]]:
        """The records as plain data."""
        return (record.as_dict() for record in self.records(**options))


STUDIED = (Study("akhadkar2016", workers=None), Study("grigore"), Study("wu2017"), Study("bai2026"), Study("coelho"))
STUDIES = {study.name: study for study in STUDIED}


def table(records: Iterable[Record]) -> str:
    """The records as text for a terminal, an item after the other."""
    lines: list[str] = []
    item = ""
    for record in records:
        if record.item != item:
            item = record.item
            lines += ["", item] if lines else [item]
        lines.append(text(record))
    return "\n".join(lines)


def text(record: Record) -> str:
    """A record as lines for a terminal."""
    case = described(record.case)
    head = record.quantity + (f" [{record.unit}]" if record.unit else "") + (f", {case}" if case else "")
    sources = {"paper": record.paper, "reference": record.reference, "computed": record.computed}
    off = difference(record.computed, record.reference if record.paper is None else record.paper)
    by = f" by {off:.3g}" if off is not None and record.verdict in ("differs", "contradicts") else ""
    said = f"{'verdict':<10} {record.verdict}{by}" + (f": {record.note}" if record.note else "")
    lines = [f"  {head}"]
    lines += [f"    {name:<10} {shown(x)}" for name, x in sources.items() if x is not None]
    lines += textwrap.wrap(said, 116, initial_indent="    ", subsequent_indent=" " * 15)
    return "\n".join(lines)


def summary(records: Iterable[Record]) -> str:
    """How many records have which verdict, in a sentence."""
    counts = Counter(record.verdict for record in records)
    return ", ".join(f"{counts[verdict]} {said}" for verdict, said in VERDICTS.items() if counts[verdict])
