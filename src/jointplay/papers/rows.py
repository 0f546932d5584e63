"""Rows of a study: what is compared, known before anything is computed, and how it is computed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..errors import InputError
from .verdicts import Record, Value, judge, known_digits


class Found(NamedTuple):
    """What a row's computation gives beyond a number: see `verdicts.judge`; spread: of the number, by other steps or
    tolerances, where it has not converged."""

    value: Value
    note: str = ""
    holds: bool | None = None
    ended: bool = True
    spread: float = 0.0
    computable: bool = True
    paper: Value = None  # where the row has none: what a printed formula gives here
    reference: Value = None  # the same of a corrected one


@dataclass(frozen=True)
class Row:
    """One comparison to be made. No `compute`: a remark, or what the paper does not give (missing).

    within, close: how far from paper and reference it may be. missing: what the paper would have to give; a value that
    is computed nevertheless is that of assumed data. fitted: the data were fitted to the paper's value. group: rows of
    one group share runs and are computed together. long: only on request.
    """

    item: str
    case: Mapping[str, Any]
    quantity: str
    unit: str = ""
    compute: Callable[[], Any] | None = None
    paper: Value = None
    reference: Value = None
    within: float = 0.0
    close: float | None = None
    note: str = ""
    missing: str = ""
    fitted: bool = False
    group: str = ""
    long: bool = False
    study: str = field(default="")

    def record(self) -> Record:
        """Compute it and judge."""
        raw = self.compute() if self.compute else None
        found = raw if isinstance(raw, Found) else Found(raw)
        value, notes = found.value, [self.note, found.note]
        converged = found.spread == 0
        if not converged:
            value = _digits(value, found.spread)
        if self.missing:
            notes.insert(0, f"the paper does not give {self.missing}")
        paper = found.paper if self.paper is None else self.paper
        reference = found.reference if self.reference is None else self.reference
        said = judge(
            value, paper, reference, self.within, self.close, holds=found.holds, ended=found.ended,
            converged=converged, computable=found.computable and not self.missing, fitted=self.fitted,
        )  # fmt: skip
        if said == "remark" and self.compute:
            raise ValueError(f"{self.item}, {self.quantity}: nothing was computed")
        if said == "differs" and isinstance(value, float) and math.isnan(value):
            value = None
        if said == "differs" and not any(notes):
            notes = ["we know no cause"]
        note = "; ".join(text for text in notes if text)
        return Record(self.study, self.item, dict(self.case), self.quantity, self.unit, paper, reference, value,
                      said, note)  # fmt: skip

    @property
    def place(self) -> tuple[str, int] | None:
        """The table or figure of the paper that it belongs to: ("figure", 10) for the item "figure 10a"."""
        found = re.match(r"(table|figure) (\d+)", self.item)
        return (found[1], int(found[2])) if found else None


def _digits(value: Any, spread: float) -> Any:
    return [known_digits(x, spread) for x in value] if isinstance(value, list) else known_digits(value, spread)


def chosen(rows: Iterable[Row], table: int | None, figure: int | None, cases: Iterable[str], all_: bool) -> list[Row]:
    """The rows of a table or figure whose case has all the given texts; long ones only if asked for."""
    found = list(rows)
    for kind, number in (("table", table), ("figure", figure)):
        if number is not None:
            known = sorted({row.place[1] for row in found if row.place and row.place[0] == kind})
            if number not in known:
                remedy = f"choose {', '.join(map(str, known))}" if known else f"it has none; leave --{kind} out"
                raise InputError(f"--{kind} {number}: {found[0].study} has no such {kind}; {remedy}")
            found = [row for row in found if row.place == (kind, number)]
    if table is None and figure is None and not all_:
        found = [row for row in found if not row.long]
    for text in cases:
        fits = [row for row in found if fitting(row, text)]
        if not fits:
            examples = "; ".join(sorted({described(row.case) for row in found if row.case})[:3])
            raise InputError(f"--case {text!r}: no row has it; cases are such as {examples or 'none here'}")
        found = fits
    return found


def fitting(row: Row, text: str) -> bool:
    """Whether a row's case, quantity or item has a text; KEY=VALUE asks for a case's value alone."""
    key, sign, value = (part.strip() for part in text.partition("="))
    if sign:
        return key in row.case and shown(row.case[key]) == shown(_number(value))
    return text.lower() in f"{row.item}, {row.quantity}, {described(row.case)}".lower()


def _number(text: str) -> Any:
    inner = text.strip("[]")
    if inner != text:
        return [_number(part.strip()) for part in inner.split(",")]
    try:
        return float(text)
    except ValueError:
        return text


def described(case: Mapping[str, Any]) -> str:
    """A case on one line."""
    return ", ".join(f"{key} {shown(x)}" for key, x in case.items())


def shown(x: Any) -> str:
    """A value of a record on one line; numbers with nine digits."""
    if isinstance(x, list | tuple):
        return "[" + ", ".join(map(shown, x)) + "]"
    if isinstance(x, Mapping):
        return "{" + described(x) + "}"
    return f"{x:.9g}" if isinstance(x, float) else str(x)
