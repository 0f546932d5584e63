"""``jointplay analyse``: what kind of motion a model, a result or a series shows."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import DONE, computing, inputs
from .run import _stepper as chosen_stepper
from .tables import columns

if TYPE_CHECKING:
    from jointplay.analysis.evidence import Verdict

PAGES = {".html": "matplotlib"}


def analyse(arguments: argparse.Namespace) -> int:
    """Print the verdict on a motion and write the page with all that it rests on."""
    target = Path(arguments.model)
    page = None
    if arguments.output is not None or not arguments.json:
        page = inputs.target("-o", arguments.output or f"{target.stem}_analysis.html", PAGES)
    period = None if arguments.period is None else inputs.duration("--period", arguments.period)
    kind = target.suffix.lower()
    if kind == ".csv":
        found = _of_series(arguments, period)
    elif kind == ".nc":
        found = _of_run(arguments, period)
    else:
        found = _of_model(arguments, period)
    if page is not None:
        from jointplay.report.analysis import write

        write(found, page, _typed(arguments))
    if arguments.json:
        print(json.dumps(found.as_dict(), indent=2, allow_nan=False))
    else:
        print(summary(found, page))
    return DONE


def _of_series(arguments: argparse.Namespace, period: float | None) -> Verdict:
    from jointplay.analysis import read, verdict

    _only(arguments, "a series", "signal", "twin", "changes", "until", "every", "settle", "rtol", "atol", "step", "reclose", "over")
    return verdict(read(arguments.model, arguments.column, period))


def _of_run(arguments: argparse.Namespace, period: float | None) -> Verdict:
    from jointplay import results
    from jointplay.analysis import verdict

    _only(arguments, "a result", "column", "changes", "until", "every", "settle", "rtol", "atol", "step", "reclose", "over")
    twin = None if arguments.twin is None else results.load(arguments.twin)
    return verdict(results.load(arguments.model), period=period, signal=arguments.signal, twin=twin)


def _of_model(arguments: argparse.Namespace, period: float | None) -> Verdict:
    _only(arguments, "a model", "column", "twin")
    mechanism = inputs.mechanism(arguments.model, arguments.changes)
    until, settle, step = (
        None if text is None else inputs.duration(option, text, zero=option == "--settle")
        for option, text in (
            ("--until", arguments.until),
            ("--settle", arguments.settle),
            ("--step", arguments.step),
        )
    )
    tolerances = {}
    for name in ("rtol", "atol"):
        if getattr(arguments, name) is not None and step is not None:
            raise ValueError(f"--{name}: belongs to adaptive steps and cannot be given with --step")
        if getattr(arguments, name) is not None:
            tolerances[name] = inputs.tolerance(f"--{name}", getattr(arguments, name))

    from jointplay.analysis import verdict

    stepper = chosen_stepper(mechanism, step, tolerances)
    options: dict[str, Any] = {"stepper": stepper, "reclose": arguments.reclose}
    with computing():
        return verdict(mechanism, period=period, signal=arguments.signal, until=until, settle=settle, **options)


def _only(arguments: argparse.Namespace, what: str, *options: str) -> None:
    """Refuse options that mean nothing for what is analysed."""
    for name in options:
        if getattr(arguments, name) not in (None, [], False):
            option = "--set" if name == "changes" else f"--{name}"
            raise ValueError(f"{option}: means nothing for {what}, which is there already; leave it out")


def _typed(arguments: argparse.Namespace) -> str:
    words = ["jointplay analyse", arguments.model]
    for name in ("signal", "column", "period", "until"):
        if getattr(arguments, name, None) is not None:
            words.append(f'--{name} "{getattr(arguments, name)}"')
    return " ".join(words)


def summary(found: Verdict, page: Path | None) -> str:
    """The verdict and its evidence in aligned lines."""
    lines: list[tuple[str, ...]] = [("verdict", found.headline())]
    if found.periods_covered is not None:
        lines.append(("periods covered", f"{found.periods_covered:.4g}"))
    lines.append(("what would settle it", found.settle))
    rows = [(one.indicator, _number(one.value), _number(one.error, "+- "), one.says) for one in found.evidence]
    text = columns(lines) + "\n\n" + columns([("indicator", "value", "error", "says"), *rows])
    return text if page is None else f"{text}\n\nwritten: {page}"


def _number(value: Any, before: str = "") -> str:
    return "" if value is None or value != value else f"{before}{value:.4g}"
