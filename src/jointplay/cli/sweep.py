"""``jointplay sweep``: a study of a mechanism; its status, its shards put together, one of its runs again."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jointplay.errors import ComputationFailed, InputError
from jointplay.parts.errors import suggestion

from . import DONE, FAILED, complain, inputs
from .run import _times, chosen_stepper
from .tables import columns

_CALL = re.compile(r"(uniform|normal|fit)\s*\((.*)\)", re.DOTALL)
_FIT = re.compile(r"\s*[\d.]+\s*(?:mm\s*)?[A-Za-z]+\d+\s*/\s*[A-Za-z]+\d+\s*")
_PLAIN = re.compile(r"\s*[-+.0-9]+(?:[eE][-+]?[0-9]+)?\s*")  # a number without a unit
MOST = 100_000_000  # runs


def sweep(arguments: argparse.Namespace) -> int:
    """Compute a study, or say something of one."""
    others = {"status": status, "collect": collect, "replay": replay}
    if arguments.model in others and not os.path.exists(arguments.model):
        return others[arguments.model](arguments)
    if arguments.rest:
        raise InputError(f"sweep: {arguments.rest[0]!r} is one too many; axes are given by --over")
    return study(arguments)


def study(arguments: argparse.Namespace) -> int:
    """Compute a study into a store and print what it means."""
    mechanism = inputs.mechanism(arguments.model, arguments.changes)
    until, every, step, tolerances = _times(arguments)
    over = axes(arguments.over)
    if not arguments.metric:
        raise InputError("--metric: say which numbers to keep, such as --metric 'peak_force[J2]'; it may be repeated")
    target = Path(arguments.output or f"{Path(arguments.model).stem}.zarr")
    limits = inputs.limits(arguments.limit)
    for name in limits:  # of `peak_force` there is one for each joint
        if name not in arguments.metric and name.partition("[")[0] not in arguments.metric:
            text = f"{name!r} is not among the metrics of the study{suggestion(name, arguments.metric)}"
            raise InputError(f"--limit {name}={limits[name]}: {text}")

    from jointplay import studies
    from jointplay.studies.axes import address_of
    from jointplay.studies.executors import WorkersLost

    samples = None
    if arguments.samples is not None:
        samples = studies.samples(inputs.count("--samples", arguments.samples, MOST), arguments.method)
    settled = arguments.settled or 0.0
    stepper = None
    if step is not None or tolerances or arguments.order:  # it must be able to do what open joints need
        opened = {a: 1e-6 for key in over if (a := address_of(key)).endswith((".clearance", ".play"))}
        stepper = chosen_stepper(
            mechanism.with_(opened) if opened else mechanism, until, step, tolerances, arguments.order
        )
    shown = sys.stderr.isatty() and not arguments.quiet
    try:
        table = studies.sweep(
            mechanism,
            over,
            until=until,
            stepper=stepper,
            metrics=arguments.metric,
            store=target,
            executor=executor(arguments.executor),
            seed=inputs.count("--seed", arguments.seed, 2**31) if arguments.seed != "0" else 0,
            samples=samples,
            every=every,
            settled=settled,
            reclose=arguments.reclose,
            shard=shard(arguments.shard),
            progress=tell if shown else None,
        )
    except WorkersLost as error:
        raise ComputationFailed(str(error)) from None
    if not arguments.quiet:
        print(told(table, limits))
        print(f"\nnext: jointplay report {shlex.quote(str(target))}" if arguments.shard is None else "")
    return judged(table, target)


def judged(table: Any, store: Any) -> int:
    """Say how many runs failed or are not to be trusted, the first of them and why; FAILED only if no run is done: runs
    at the border of what is possible are a part of a study."""
    from jointplay.studies.telling import doubts

    status, outcomes = table["status"].values.ravel(), table["outcome"].values.ravel()
    failed, done = (status > 1).nonzero()[0], int((status == 1).sum())
    if len(failed):
        sys.stdout.flush()
        first = f"run {failed[0]}: {outcomes[failed[0]]}"
        counted = "they count in no number above" if done else "none is done"
        complain(f"{len(failed)} of {status.size} runs failed, {counted}; {first}")
        complain(f"all of them: the variables status and outcome of {store}")
    if text := doubts(table):
        sys.stdout.flush()
        complain(f"doubtful or wrong: {text}")
    return DONE if done or not len(failed) else FAILED


def told(table: Any, given: dict[str, str]) -> str:
    """The summary of a study, and the ranking of its axes where there are samples."""
    from jointplay.studies import telling

    limits = inputs.limits_of(table, given)
    found = [columns(telling.lines(table, limits))]
    if not telling.is_sampled(table) and (runs := telling.run_lines(table)):
        found += ["", columns(runs)]
    for name in (limits or telling.metrics_of(table)[:1]) if telling.is_sampled(table) else ():
        try:
            rows = telling.ranking_lines(table, name, limits.get(name))
            found += [
                "",
                f"{name}: which to halve first",
                columns(rows),
                telling.caution(table, name, limits.get(name)),
            ]
        except ValueError as error:  # too few runs, or all the same
            found += ["", f"{name}: no ranking: {error}"]
    return "\n".join(found)


def status(arguments: argparse.Namespace) -> int:
    """Print how far a study is."""
    [path] = named(arguments, 1, "status STUDY.zarr")
    from jointplay import studies

    found = studies.state(path)
    lines = [("study", found["title"]), ("axes", " x ".join(f"{name} ({n})" for name, n in found["axes"].items()))]
    lines += [(word, str(found[word])) for word in ("runs", "done", "missing", "ended early", "raised")]
    lines += [("metrics", ", ".join(found["metrics"])), ("computed with", f"jointplay {found['version']}")]
    lines += [(f"run {i}", text) for i, text in found.get("failures", {}).items()]
    print(columns(lines))
    return DONE


def collect(arguments: argparse.Namespace) -> int:
    """Put shards together and print the summary."""
    path, *shards = named(arguments, None, "collect STUDY.zarr [SHARD.zarr ...]")
    from jointplay import studies

    table = studies.collect(path, list(shards) or None)
    print(told(table, inputs.limits(arguments.limit)))
    return judged(table, path)


def replay(arguments: argparse.Namespace) -> int:
    """Compute one run of a study again, with its full result and page."""
    path, text = named(arguments, 2, "replay STUDY.zarr RUN")
    from jointplay import report, results, studies

    run: Any = int(text) if text.isdecimal() else dict(pair(part) for part in text.split(","))
    target = inputs.target(
        "-o", arguments.output or f"{Path(path).stem}-run{text if text.isdecimal() else ''}.nc", inputs.RESULTS
    )
    found = studies.replay(path, run)
    results.save(found, target)
    page = target.with_suffix(".html")
    report.write(found, page, None, shlex.join(["jointplay", *sys.argv[1:]]))
    print(
        columns(
            [
                ("settings", found.attrs["settings"]),
                ("outcome", found.attrs["outcome_text"]),
                ("written", str(target)),
                ("page", str(page)),
            ]
        )
    )
    return DONE


def named(arguments: argparse.Namespace, count: int | None, form: str) -> Sequence[str]:
    if not arguments.rest or (count is not None and len(arguments.rest) != count):
        raise InputError(f"sweep {arguments.model}: write jointplay sweep {form}")
    found: list[str] = arguments.rest
    return found


def pair(text: str) -> tuple[str, Any]:
    """An address and its value, of a run to be replayed."""
    address, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"replay {text}: must be the number of a run, or ADDRESS=VALUE,ADDRESS=VALUE")
    try:
        return address.strip(), float(value)
    except ValueError:
        return address.strip(), value.strip()


def axes(given: Sequence[str]) -> dict[str, Any]:
    """The axes of a study: `J2.clearance=0:5 mm:11`, `J2.clearance=1,2,5 mm`, `J3.fit=20 H7/g6`."""
    if not given:
        raise InputError("--over: say what to vary, such as --over 'J2.clearance=0:5 mm:11'; it may be repeated")
    found: dict[str, Any] = {}
    for text in given:
        address, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not address or not value:
            raise InputError(f"--over {text}: must be ADDRESS=VALUES, as in 'J2.clearance=0:5 mm:11'")
        if address in found:
            raise InputError(f"--over {text}: {address} is given twice; keep one")
        found[address] = axis(text, value)
    return found


def axis(text: str, value: str) -> Any:
    """One axis, as `jointplay.sweep` takes it."""
    from jointplay import studies

    call = _CALL.fullmatch(value)
    if call:
        parts = [part.strip() for part in call[2].split(",")]
        made: Any = {"uniform": studies.uniform, "normal": studies.normal, "fit": studies.fit}[call[1]]
        try:
            return made(*(parts if call[1] == "fit" else with_unit(parts, text)))
        except TypeError:
            raise InputError(f"--over {text}: {call[1]} takes other values; see docs/studies.md") from None
    if _FIT.fullmatch(value):
        return studies.fit(value)
    if ":" in value:
        parts = value.split(":")
        if len(parts) != 3 or not parts[2].strip().isdecimal():
            raise InputError(f"--over {text}: a grid is LOW:HIGH:COUNT, as in 0:5 mm:11")
        low, high = with_unit(parts[:2], text)
        return studies.grid(low, high, int(parts[2]))
    return with_unit(value.split(","), text)


def with_unit(parts: Sequence[str], text: str) -> list[str]:
    """Numbers without a unit have that of the last one; text: what was given.

    >>> with_unit(["0", "5 mm"], "J2.clearance=0,5 mm")
    ['0 mm', '5 mm']
    """
    unit = re.sub(r"^\s*[-+.0-9]+(?:[eE][-+]?[0-9]+)?", "", parts[-1]).strip()
    bare = [part.strip() for part in parts if _PLAIN.fullmatch(part)]
    counting = [x for x in bare if re.search("[1-9]", re.split("[eE]", x)[0])]  # 0 is 0 in every unit
    if not unit and counting and len(bare) < len(parts):
        remedy = "give the last number its unit, which holds for all, or each its own"
        raise InputError(f"--over {text}: {counting[0]} has no unit, but others have; {remedy}")
    return [f"{part.strip()} {unit}".strip() if _PLAIN.fullmatch(part) else part.strip() for part in parts]


def executor(text: str | None) -> Any:
    """How many workers, or the address of a Dask scheduler."""
    if text is None or not text.strip().isdecimal():
        return text
    return inputs.count("--executor", text, 10_000)


def shard(text: str | None) -> tuple[int, int] | None:
    """The part `2/4`."""
    if text is None:
        return None
    match = re.fullmatch(r"\s*(\d{1,6})\s*/\s*(\d{1,6})\s*", text)
    if match is None:
        raise InputError(f"--shard {text}: must be PART/PARTS, as in 2/4")
    return int(match[1]), int(match[2])


def tell(progress: Any) -> None:
    """The progress on one line of the terminal."""
    end = "\n" if progress.done >= progress.total else "\r"
    print(f"{progress!s:<78}", end=end, file=sys.stderr, flush=True)
