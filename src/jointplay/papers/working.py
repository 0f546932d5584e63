"""Rows become records: in their order as they come, on all cores where that pays, and kept between runs by content."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from .. import cache
from .._version import __version__
from ..parallel import OnProgress, stream
from ..simulation.outcome import cut_short
from .rows import Row
from .verdicts import Record

PACKAGE = Path(__file__).parent.parent
UNUSED = ("cli", "plots", "report", "studio")  # rooms that no number comes from


def rows_of(name: str, options: Mapping[str, Any]) -> list[Row]:
    """All rows of a study."""
    return list(import_module(f"{__package__}.{name}").rows(**options))


def compute(
    name: str,
    options: Mapping[str, Any],
    wanted: Sequence[int],
    keep: bool = False,
    workers: int | None = 1,
    progress: OnProgress | None = None,
) -> Iterator[Record]:
    """The records of some rows of a study, in their order, each as soon as it and those before it are there.

    keep: read those that an earlier run kept in the cache directory, and keep what is computed. progress: is told how
    many rows are there, and of how many; first those that were kept.
    """
    rows = rows_of(name, options)
    found = {i: record for i in wanted if keep and (record := recall(rows[i]))}
    tell = progress or (lambda done, all_: None)
    tell(len(found), len(wanted))
    groups: dict[str, list[int]] = {}
    for i in wanted:
        if i not in found:
            groups.setdefault(rows[i].group or str(i), []).append(i)
    tasks = [(name, dict(options), group, keep) for group in groups.values()]
    next_ = 0
    for results in _batches(tasks, rows, workers):
        found |= results
        tell(len(found), len(wanted))
        while next_ < len(wanted) and wanted[next_] in found:
            yield found[wanted[next_]]
            next_ += 1


def _batches(tasks: list[Any], rows: list[Row], workers: int | None) -> Iterator[dict[int, Record]]:
    """What the tasks give, as it comes; nothing first, for what was kept."""
    yield {}
    if workers == 1:
        for _, _, group, keep in tasks:
            for i in group:
                yield {i: made(rows[i], keep)}
        return
    for _, results in stream(work, tasks, workers):
        yield {i: Record(**plain) for i, plain in results.items()}


def work(task: tuple[str, dict[str, Any], list[int], bool]) -> dict[int, dict[str, Any]]:
    """Some rows of a study as plain data, in a process of its own."""
    name, options, group, keep = task
    rows = rows_of(name, options)
    return {i: made(rows[i], keep).as_dict() for i in group}


def made(row: Row, keep: bool) -> Record:
    """A row's record, and kept; none where a signal ended one of its runs early, which then returned what it had."""
    before = len(cut_short)
    record = row.record()
    if len(cut_short) > before:
        raise KeyboardInterrupt
    if keep:
        cache.write(key(row), json.dumps(record.as_dict()).encode())
    return record


def recall(row: Row) -> Record | None:
    """A row's record as an earlier run of the same code kept it."""
    payload = cache.read(key(row))
    return Record(**json.loads(payload)) if payload else None


def key(row: Row) -> str:
    """A name for a row by its content: what is compared with what, and by which code."""
    said = [
        row.study,
        row.item,
        dict(row.case),
        row.quantity,
        row.unit,
        row.paper,
        row.reference,
        row.within,
        row.close,
    ]
    text = json.dumps([*said, row.note, row.missing, row.fitted, sources()], sort_keys=True)
    return "row-" + hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def sources() -> str:
    """A digest of the code that numbers come from, and the versions of what it uses."""
    digest = hashlib.sha256(__version__.encode())
    for file in sorted(PACKAGE.rglob("*.py")):
        if file.relative_to(PACKAGE).parts[0] not in UNUSED:
            digest.update(file.read_bytes())
    digest.update(",".join(metadata.version(name) for name in ("numpy", "scipy", "xarray", "llvmlite")).encode())
    return digest.hexdigest()
