"""Literature studies: for each item the paper's value, a reference where there is one, ours, and a verdict.

A study is a module of this package with a function `records(**options)` that yields Records, and a line in STUDIES.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any

from ..errors import InputError

Value = float | str | list[float] | None


@dataclass(frozen=True)
class Record:
    """One comparison; `case` says for which parameters."""

    study: str
    item: str
    case: Mapping[str, Any]
    quantity: str
    unit: str
    paper: Value
    reference: Value
    computed: Value
    verdict: str

    @property
    def good(self) -> bool:
        """Whether what is computed agrees with the paper, or with the reference where the paper is wrong."""
        return self.verdict.startswith("reproduces") or "agrees with the reference" in self.verdict

    def as_dict(self) -> dict[str, Any]:
        """The record as plain data, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Study:
    """A study by its name; its module is loaded when its records are asked for."""

    name: str
    module: str = field(default="")
    tables: tuple[int, ...] = ()  # of the paper, which `records(table=...)` gives one by one
    figures: tuple[int, ...] = ()  # the same, `records(figure=..., full=...)`; they are not among all records

    def records(self, **options: Any) -> Iterator[Record]:
        """The study's comparisons, one after the other as they are computed."""
        yield from import_module(f"{__name__}.{self.module or self.name}").records(**options)

    def histories(self) -> Iterator[tuple[str, Any]]:
        """Names and Datasets of the study's curves over time, those of the paper's figures."""
        module = import_module(f"{__name__}.{self.module or self.name}")
        if not hasattr(module, "histories"):
            raise InputError(f"study {self.name!r} has no histories; leave --histories out")
        yield from module.histories()

    def __call__(self, **options: Any) -> Iterator[dict[str, Any]]:
        """The same as plain data."""
        return (record.as_dict() for record in self.records(**options))


STUDIED = (
    Study("akhadkar2016", tables=(4, 5, 6), figures=tuple(range(4, 24))),
    Study("grigore"),
    Study("wu2017"),
    Study("bai2026"),
    Study("coelho"),
)
STUDIES = {study.name: study for study in STUDIED}


def difference(computed: Any, other: Any) -> float | None:
    """The largest difference of two numbers or lists of numbers; None if they are not comparable."""
    if isinstance(computed, str) or isinstance(other, str):
        return None
    one, two = (x if isinstance(x, list | tuple) else [x] for x in (computed, other))
    if len(one) != len(two):
        return None
    apart = [abs(float(a) - float(b)) for a, b in zip(one, two, strict=True)]
    return math.nan if any(map(math.isnan, apart)) else max(apart)


def verdict(
    computed: Any,
    paper: Any = None,
    reference: Any = None,
    tolerance: float = 0.0,
    reference_tolerance: float | None = None,
    missing: str = "",
    note: str = "",
) -> str:
    """What comes of a comparison with the paper or, where the paper has no value, with the reference.

    tolerance: the difference (in the unit of the quantity) up to which it reproduces; reference_tolerance: the same
    for the reference, if another; missing: what the paper would have to give; note: added in brackets.

    >>> verdict(3.1412, paper=3.14, tolerance=0.005)
    'reproduces'
    >>> verdict(3.2, paper=3.14, tolerance=0.005)
    'differs by 0.06'
    >>> verdict(None, missing="the masses")
    'not computable because the paper does not give the masses'
    """
    if missing:
        return f"not computable because the paper does not give {missing}"

    close = tolerance if reference_tolerance is None else reference_tolerance

    def against(other: Any, tolerance: float) -> str:
        off = difference(computed, other)
        if off is None:
            return "reproduces" if computed == other else "differs"
        return "reproduces" if off <= tolerance else f"differs by {off:.3g}"

    if paper is None and reference is None:
        said = "no value to compare with"
    else:
        said = against(reference, close) if paper is None else against(paper, tolerance)
        if paper is not None and reference is not None and not said.startswith("reproduces"):
            said += "; " + against(reference, close).replace("reproduces", "agrees with the reference")
    return f"{said} ({note})" if note else said


def table(records: Iterable[Record]) -> str:
    """The records as text for a terminal, an item after the other."""
    lines: list[str] = []
    item = ""
    for record in records:
        if record.item != item:
            item = record.item
            lines += ["", item] if lines else [item]
        case = ", ".join(f"{key} {shown(x)}" for key, x in record.case.items())
        head = record.quantity + (f" [{record.unit}]" if record.unit else "") + (f", {case}" if case else "")
        sources = {"paper": record.paper, "reference": record.reference, "computed": record.computed}
        lines.append(f"  {head}")
        lines += [f"    {name:<10} {shown(x)}" for name, x in sources.items() if x is not None]
        lines += textwrap.wrap(
            f"{'verdict':<10} {record.verdict}", 116, initial_indent="    ", subsequent_indent=" " * 15
        )
    return "\n".join(lines)


def shown(x: Any) -> str:
    """A value of a record on one line; numbers with nine digits."""
    if isinstance(x, list | tuple):
        return "[" + ", ".join(map(shown, x)) + "]"
    return f"{x:.9g}" if isinstance(x, float) else str(x)
