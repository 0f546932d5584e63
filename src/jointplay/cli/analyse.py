"""``jointplay analyse``: what kind of motion a model, a result or a series shows."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jointplay.errors import InputError

from . import DONE, FAILED, complain, computing, inputs, interrupts
from .looking import ideal
from .run import ProgressBar, chosen_stepper
from .sweep import axes, tell
from .tables import columns

if TYPE_CHECKING:
    from jointplay.analysis.evidence import Evidence, Verdict

PAGES = {".html": "matplotlib"}
# options of models only
SIMULATED = ("changes", "until", "every", "settle", "rtol", "atol", "step", "reclose", "over", "contacts")


def analyse(arguments: argparse.Namespace) -> int:
    """Print the verdict on a motion and write the page with all that it rests on."""
    target = Path(arguments.model)
    period = None if arguments.period is None else inputs.duration("--period", arguments.period)
    kind = target.suffix.lower()
    if arguments.over is not None and kind not in (".csv", ".nc"):
        return _over(arguments, period)
    if arguments.follow:
        raise InputError("--follow: belongs to a diagram; give --over ADDRESS=A:B:N too")
    page = None
    if arguments.output is not None or not arguments.json:
        page = inputs.target("-o", arguments.output or f"{target.stem}_analysis.html", PAGES)
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
    if found.interrupted:
        sys.stdout.flush()
        complain(found.settle)
        return FAILED
    return DONE


def _of_series(arguments: argparse.Namespace, period: float | None) -> Verdict:
    from jointplay.analysis import read, verdict

    _only(arguments, "a series", "signal", "twin", *SIMULATED)
    return _titled(verdict(read(arguments.model, arguments.column, period)), arguments.model)


def _of_run(arguments: argparse.Namespace, period: float | None) -> Verdict:
    from jointplay import results
    from jointplay.analysis import verdict

    _only(arguments, "a result", "column", *SIMULATED)
    run = results.load(arguments.model)
    twin = None if arguments.twin is None else ideal(arguments.twin, run)
    found = verdict(run, period=period, signal=arguments.signal, twin=twin)
    return _titled(found, arguments.model)


def _titled(found: Verdict, file: str) -> Verdict:
    """The verdict with the file in its title, beside the signal."""
    return replace(found, title=f"{Path(file).name}, {found.title}")


def _of_model(arguments: argparse.Namespace, period: float | None) -> Verdict:
    from jointplay.analysis import verdict

    mechanism, options = _model(arguments)
    until, settle = (
        None if text is None else inputs.duration(option, text, zero=option == "--settle")
        for option, text in (("--until", arguments.until), ("--settle", arguments.settle))
    )
    shown = sys.stderr.isatty() and not arguments.json
    bar = ProgressBar(1.0, shown, words="{task.description},")
    with interrupts.watched(patient=True), computing(), bar:
        return verdict(
            mechanism, period=period, signal=arguments.signal, until=until, settle=settle, contacts=arguments.contacts,
            progress=lambda stage: bar(stage.share, stage.doing), **options,
        )  # fmt: skip


def _model(arguments: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """The mechanism and how it is to be simulated."""
    _only(arguments, "a model", "column", "twin")
    mechanism = inputs.mechanism(arguments.model, arguments.changes)
    return mechanism, {"stepper": _stepper(arguments, mechanism), "reclose": arguments.reclose}


def _stepper(arguments: argparse.Namespace, mechanism: Any) -> Any:
    """The stepper that is asked for, or the mechanism's own."""
    until = 0.0 if arguments.until is None else inputs.duration("--until", arguments.until)
    step = None if arguments.step is None else inputs.duration("--step", arguments.step)
    tolerances = inputs.tolerances(arguments, step)
    return chosen_stepper(mechanism, until, step, tolerances, arguments.order)


def _over(arguments: argparse.Namespace, period: float | None) -> int:
    """A bifurcation diagram of a model: its points in a store that can be gone on with, and a figure beside it."""
    from jointplay.analysis import diagram

    mechanism, options = _model(arguments)
    address, values = _values(mechanism, arguments.over)
    options["stepper"] = _stepper(arguments, mechanism.with_({address: max(values, key=abs)}))  # joints may open
    signal = arguments.signal or f"{list(mechanism.bodies)[-1]}.angle_rate"
    store = None
    if arguments.output is not None or not arguments.json:
        store = Path(arguments.output or f"{Path(arguments.model).stem}_{address}.zarr")
        if store.suffix != ".zarr":
            raise InputError(f"-o {store}: a diagram is kept in a directory *.zarr, got {store.suffix!r}")
    shown = sys.stderr.isatty() and not arguments.json
    with computing():
        found = diagram(
            mechanism, address, values, signal, period, follow=arguments.follow, store=store,
            progress=tell if shown else None, **options,
        )  # fmt: skip
    ways = [str(way) for way in found.direction.values]
    listed: dict[str, Any] = {
        "address": address, "signal": signal, "values": values, "direction": ways,
        "drive_period": found.drive_period.values.tolist(),
        "period": [[k if k > 0 else None for k in row] for row in found.period.values.tolist()],
        "points": [[[x if x == x else None for x in row] for row in way] for way in found[signal].values.tolist()],
        "outcome": found.outcome.values.astype(str).tolist(),
    }  # fmt: skip
    if arguments.json:
        print(json.dumps(listed, allow_nan=False))
    else:
        rows = [
            (f"{x:.6g}", *(_repeats(listed["period"][w][i]) for w in range(len(ways))), listed["outcome"][0][i])
            for i, x in enumerate(values)
        ]
        head = f"{signal} repeats after"
        heads = (head,) if len(ways) == 1 else tuple(f"{head}, {way}" for way in ways)
        print(columns([(f"{address} (SI)", *heads, "outcome"), *rows]))
    if store is not None:
        from jointplay import plots

        figure = store.with_suffix(".png")
        plots.save(plots.analysis.bifurcation(found), figure)
        print(f"written: {store}, {figure}") if not arguments.json else None
    return DONE


def _repeats(period: int | None) -> str:
    """After how many drive periods a row of a diagram repeats, in words."""
    return "does not repeat" if period is None else f"{period} drive period{'s' * (period > 1)}"


def _values(mechanism: Any, text: str) -> tuple[str, list[float]]:
    """Address and SI values of ADDRESS=VALUES, as the axes of a study are given."""
    from jointplay.studies.axes import read_axes
    from jointplay.studies.subject import Machine

    machine = Machine(mechanism)
    read = read_axes(axes([text]), machine.read, machine.check)
    if read.drawn or len(read.dimensions) != 1:
        raise InputError(f"--over {text}: a diagram needs values, such as 'J2.clearance=0.1:1 mm:200'")
    [(address, values)] = read.dimensions[0].columns.items()
    return str(address), [float(x) for x in values]


def _only(arguments: argparse.Namespace, what: str, *options: str) -> None:
    """Refuse options that mean nothing for what is analysed."""
    for name in options:
        if getattr(arguments, name) not in (None, [], False):
            option = {"changes": "--set", "twin": "--ideal"}.get(name, f"--{name}")
            raise InputError(f"{option}: means nothing for {what}, which is there already; leave it out")


def _typed(arguments: argparse.Namespace) -> str:
    words = ["jointplay analyse", arguments.model]
    for name in ("signal", "column", "period", "until"):
        if getattr(arguments, name, None) is not None:
            words.append(f'--{name} "{getattr(arguments, name)}"')
    return " ".join(words)


def summary(found: Verdict, page: Path | None) -> str:
    """The verdict and its evidence in aligned lines: what decides first, then what is shown beside it."""
    lines: list[tuple[str, ...]] = [("verdict", found.headline())]
    if found.periods_covered is not None:
        lines.append(("periods covered", f"{found.periods_covered:.4g}"))
    settled = found.settle.startswith("settled")
    lines.append(("how sure" if settled else "what would settle it", found.settle))
    parts = [columns(lines)]
    for decides, title in ((True, "what decides"), (False, "shown beside, decides nothing")):
        rows = [_row(one) for one in found.evidence if one.decides is decides]
        parts += [columns([(title, "value", "error", "says"), *rows])] if rows else []
    return "\n\n".join(parts if page is None else [*parts, f"written: {page}"])


def _row(one: Evidence) -> tuple[str, str, str, str]:
    return one.indicator, _number(one.value), _number(one.error, "± "), one.says


def _number(value: Any, before: str = "") -> str:
    return "" if value is None or value != value else f"{before}{value:.4g}"
