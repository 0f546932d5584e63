"""The command reproduce: rows of a published study as they come, with what is left to do; nothing computed is lost."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from jointplay.errors import InputError

from . import computing

if TYPE_CHECKING:
    from jointplay.papers import Record, Study


def reproduce(arguments: argparse.Namespace) -> None:
    """Print the records of a study: what the paper says, what we compute, and the verdict."""
    from jointplay import papers
    from jointplay.model.parts import suggestion

    if arguments.study not in papers.STUDIES:
        raise InputError(f"no study {arguments.study!r}{suggestion(arguments.study, papers.STUDIES)}")
    study, folder = papers.STUDIES[arguments.study], arguments.histories
    if folder is not None and not Path(folder).is_dir():
        raise InputError(f"--histories: no such directory {folder!r}; create it first")
    with computing():
        found = printed(study, arguments)
        if arguments.json:
            print(json.dumps([record.as_dict() for record in found], indent=2, allow_nan=False))
        elif found:
            print(f"\n{len(found)} row{'s' if len(found) > 1 else ''}: {papers.summary(found)}")
        if folder is not None:
            from jointplay import results

            for name, curves in study.histories():
                results.save(curves, Path(folder) / f"{name}.nc")


def printed(study: Study, arguments: argparse.Namespace) -> list[Record]:
    """The chosen records; as text, each is printed when it comes."""
    from jointplay import papers

    choice = {what: number(what, getattr(arguments, what)) for what in ("table", "figure")}
    options = {"full": True} if arguments.full else {}
    if len([x for x in choice.values() if x]) > 1 or (arguments.full and choice["figure"] is None):
        raise InputError("give --table or --figure, and --full with --figure only")
    if options and study.name != "akhadkar2016":
        raise InputError(f"--full: the figures of {study.name} have no coarser grid; leave it out")
    counter, found, item = Counter(sys.stderr.isatty()), [], ""
    try:
        for record in study.records(
            **choice, case=arguments.case, everything=arguments.all, keep=True, progress=counter, **options
        ):
            found.append(record)
            if not arguments.json:
                counter.clear()
                if record.item != item:
                    print(f"\n{record.item}" if item else record.item)
                    item = record.item
                print(papers.text(record), flush=True)
    except KeyboardInterrupt:
        counter.clear()
        after = f"after {counter.done} of {counter.total} rows; those are kept, and the same command goes on from there"
        raise KeyboardInterrupt(f"interrupted {after if counter.done else 'before any row was computed'}") from None
    counter.clear()
    return found


def number(what: str, given: str | None) -> int | None:
    """The number of a table or figure."""
    if given is None:
        return None
    if not given.strip().isdigit():
        raise InputError(f"--{what} {given}: must be the number of a {what}, as in --{what} 6")
    return int(given)


class Counter:
    """How many rows are there, and about how long the rest takes, on one line of a terminal."""

    def __init__(self, shown: bool) -> None:
        self.shown, self.kept, self.done, self.total = shown, -1, 0, 0
        self.begun = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        if self.kept < 0:  # told first: what an earlier run kept
            self.kept, self.begun = done, time.monotonic()
        if self.shown and done < total:
            print(f"{self.text(time.monotonic() - self.begun):<70}", end="\r", file=sys.stderr, flush=True)

    def text(self, elapsed: float) -> str:
        """What is done, and the time left by the rows so far (s)."""
        computed = self.done - self.kept
        rest = f", about {lasting(elapsed * (self.total - self.done) / computed)} left" if computed else ""
        return f"{self.done} of {self.total} rows{rest}"

    def clear(self) -> None:
        """Take the line away."""
        if self.shown:
            print(" " * 70, end="\r", file=sys.stderr, flush=True)


def lasting(seconds: float) -> str:
    """A time for people."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
