"""The commands that do not simulate: check, equilibria, library, report, schema, new, cache."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from jointplay import writing
from jointplay.errors import ComputationFailed, InputError

from . import DONE, complain, computing, inputs
from .looking import ideal
from .tables import columns

if TYPE_CHECKING:
    from jointplay.model.mechanism import Mechanism

RESTS = 1e-8  # m or rad: how well a position at rest is known
STARTER = Path(__file__).with_name("starter.yaml")


def check(arguments: argparse.Namespace) -> int:
    """Assemble a mechanism and print what is known of it before it moves."""
    mechanism = inputs.mechanism(arguments.model, arguments.changes)

    from jointplay import statics
    from jointplay.system import System

    with computing():
        found = statics.check(mechanism)
        found = replace(found, warnings=(*found.warnings, *_refused(mechanism, found.warnings)))
        print(found.text())
        if arguments.matrix:
            print()
            print(statics.matrix_text(System(mechanism), found.q))
    return DONE


def _refused(mechanism: Mechanism, told: Sequence[str]) -> Iterator[str]:
    """What `run` would refuse the mechanism for, where the check itself does not say so."""
    from jointplay.simulation import lanes

    try:
        stepper = lanes.default_stepper(mechanism)
        stepper.refuse(mechanism)
        lane = lanes.prepared(stepper, lanes.system_of(mechanism, None, None, None), {}, {}, None, False)
    except (InputError, ComputationFailed) as error:
        lines = [line for line in str(error).splitlines() if not any(text in line for text in told)]
        yield from (f"run will refuse this: {line}" for line in lines)
        return
    if lane.refused is not None and lane.refused.text not in told:
        yield f"run will end at once: {lane.refused.text}"


def equilibria(arguments: argparse.Namespace) -> None:
    """Print the positions in which a mechanism can rest, the valid and stable ones first."""
    mechanism = inputs.mechanism(arguments.model, arguments.changes)
    starts = inputs.count("--starts", arguments.starts, 100_000)
    time = inputs.duration("--at", arguments.at, zero=True)

    from jointplay import statics
    from jointplay.statics.readable import readable, shown

    with computing():
        found = statics.equilibria(mechanism, starts, time)
    if not found:
        print(f"no equilibrium found from {starts} starts; more may find one: --starts {10 * starts}")
        return
    places, unit = readable([e.q for e in found], RESTS)
    heads = (f"{body}.{part}" for body in mechanism.bodies for part in (f"x/{unit}", f"y/{unit}", "angle/deg"))
    rows = [("", *heads, "")]
    for i, (e, row) in enumerate(zip(found, places, strict=True), 1):
        rows.append((str(i), *map(shown, row), e.text))
    print(columns(rows))


def library(arguments: argparse.Namespace) -> None:
    """Print name and first sentence of every mechanism of the library."""
    from jointplay.model.library import MECHANISMS

    print(columns([(name, (made.__doc__ or "").strip().splitlines()[0]) for name, made in MECHANISMS.items()]))


def schema(arguments: argparse.Namespace) -> None:
    """Print the JSON schema of model files."""
    from jointplay.model import files

    print(json.dumps(files.schema(), indent=2))


def new(arguments: argparse.Namespace) -> None:
    """Write a commented model file of a slider-crank."""
    given = arguments.name
    path = Path(given if Path(given).suffix in (".yaml", ".yml") else f"{given}.yaml")
    name = path.stem
    if not os.path.basename(given) or not name.isprintable() or name.startswith("."):
        raise InputError(f"new {given!r}: must be a name such as press, for the file press.yaml")
    inputs.writable("new", path)
    if path.exists() and not arguments.force:
        raise InputError(f"new {given}: {path} is already there; choose another name, or --force to overwrite it")
    plain = re.fullmatch(r"[A-Za-z][\w-]*", name) and name.lower() not in ("null", "true", "false", "yes", "no")
    shown = name if plain else json.dumps(name, ensure_ascii=False)
    text = STARTER.read_text(encoding="utf-8").replace("name: slider-crank", f"name: {shown}", 1)
    writing.write(path, text.replace("starter.yaml", str(path)).encode())
    quoted, picture = shlex.quote(str(path)), shlex.quote(str(path.with_suffix(".png")))
    print(f"wrote {path}; next: jointplay run {quoted} --plot {picture}")


def report(arguments: argparse.Namespace) -> None:
    """Write a run as a page; print it and make a film of it if asked."""
    source = Path(arguments.run)
    if source.is_dir():
        return study_page(arguments, source)
    if arguments.limit:
        raise InputError("--limit: belongs to the page of a study; a run has no shares")
    target = inputs.target("-o", arguments.output or str(source.with_suffix(".html")), {".html": ""})
    paper = inputs.target("--pdf", arguments.pdf, {".pdf": ""}) if arguments.pdf else None
    film = inputs.target("--film", arguments.film, inputs.FILMS) if arguments.film else None

    from jointplay import report, results

    run = results.load(source)
    twin = ideal(arguments.twin, run) if arguments.twin else None
    report.write(run, target, twin, shlex.join(["jointplay", *sys.argv[1:]]))
    tell_page(target, arguments.open)
    try:
        if paper is not None:
            print(f"wrote {report.pdf(target, paper)}")
        if film is not None:
            report.movie(run, film, twin=twin, progress=_tell_frames if sys.stderr.isatty() else None)
            print(f"wrote {film} ({_size(film) / 1000:.0f} kB)")
    except RuntimeError as error:
        raise ComputationFailed(str(error)) from None


def _tell_frames(done: int, count: int) -> None:
    print(f"frame {done} of {count}", end="\n" if done == count else "\r", file=sys.stderr, flush=True)


def tell_page(target: Path, opened: bool) -> None:
    """Say where a page is; open it in the browser if asked."""
    print(f"wrote {target} ({_size(target) / 1000:.0f} kB)" + ("" if opened else "; open it in a browser"))
    if opened:
        sys.stdout.flush()
        import webbrowser

        if not webbrowser.open(target.resolve().as_uri()):
            complain(f"note: --open: no browser was found to open {target} with; open it yourself")


def study_page(arguments: argparse.Namespace, source: Path) -> None:
    """Write a study as a page; print it if asked."""
    for option, given in (("ideal", arguments.twin), ("film", arguments.film)):
        if given:
            raise InputError(
                f"--{option}: belongs to the page of a run; jointplay sweep replay makes one of a study's run"
            )
    name = source.with_name(f"{source.stem}_study.html")  # beside the page of a run of the same model
    target = inputs.target("-o", arguments.output or str(name), {".html": ""})
    paper = inputs.target("--pdf", arguments.pdf, {".pdf": ""}) if arguments.pdf else None
    limits = inputs.limits(arguments.limit)

    from jointplay import report, studies

    report.write_study(source, target, inputs.limits_of(studies.open_study(source), limits) if limits else None)
    tell_page(target, arguments.open)
    if paper is not None:
        try:
            print(f"wrote {report.pdf(target, paper)}")
        except RuntimeError as error:
            raise ComputationFailed(str(error)) from None


def cache(arguments: argparse.Namespace) -> None:
    """Show or clear the cache of compiled code."""
    from jointplay import cache

    if arguments.clear:
        count, size = cache.clear()
        print(f"deleted {count} files, {size} bytes")
        return
    files = cache.entries()
    lines = [
        ("directory", str(cache.directory() or "none")),
        ("files", str(len(files))),
        ("bytes", str(sum(_size(file) for file in files))),
        ("limit", str(cache.limit())),
    ]
    lines += [("not used", cache.refused())] if cache.refused() else []
    print(columns(lines))


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:  # another process removed it meanwhile
        return 0
