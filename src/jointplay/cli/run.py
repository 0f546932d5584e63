"""``jointplay run``: simulate, show progress, write the result, say how it went."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jointplay.errors import InputError

from . import DONE, FAILED, complain, computing, inputs, interrupts
from .tables import columns, moment, quantity, tidy

if TYPE_CHECKING:
    from jointplay.model.mechanism import Mechanism

LONGEST = 1e9  # s: 32 years
MOST_STEPS = 1e10
CONVERGED = 0.01  # of a headline number: an error of less needs no remedy
PATIENCE = 0.5  # s: a run that ends within this shows no progress


def run(arguments: argparse.Namespace) -> int:
    """Simulate a mechanism; write the result and, if asked, a figure."""
    mechanism = inputs.mechanism(arguments.model, arguments.changes)
    until, every, step, tolerances = _times(arguments)
    from jointplay.simulation import refuse_samples, simulate

    refuse_samples(mechanism, until, every, "--every")
    named = f"{Path(arguments.model).stem}.nc" if arguments.output is None else arguments.output
    output = inputs.target("-o", named, inputs.RESULTS)
    plot = None if arguments.plot is None else inputs.target("--plot", arguments.plot, inputs.PLOTS)

    from jointplay import results

    page = _page(arguments, output)
    stepper = chosen_stepper(mechanism, until, step, tolerances, arguments.order)
    began = time.perf_counter()
    with computing(), ProgressBar(until, shown=sys.stderr.isatty() and not arguments.quiet) as progress:
        found = simulate(
            mechanism,
            until=until,
            stepper=stepper,
            every=every,
            strict=False,
            progress=progress,
            reclose=arguments.reclose,
            settled=arguments.settled or 0.0,
            audit="convergence" if arguments.convergence else "run",
            error=False if arguments.no_error else None,
        )
    ended = time.perf_counter()
    ready = progress.began or ended
    results.save(found, output)
    files = [output]
    if plot is not None and found.sizes["time"] and not interrupts.asked():
        from jointplay import plots

        plots.save(plots.motion(found), plot)
        files.append(plot)
    if not arguments.quiet:
        print(summary(mechanism, found, (ready - began, ended - ready), files))
    sys.stdout.flush()
    if page is not None and found.sizes["time"] and not interrupts.asked():
        _write_page(arguments, found, page)
    missing = plot is not None and plot not in files
    if missing:
        complain(f"{plot}: not drawn, for {'it was interrupted' if interrupts.asked() else 'there is nothing to show'}")
    if found.attrs["outcome"] == "done":
        doubted = arguments.strict and found.attrs["judgement"] != "fine"
        if doubted and arguments.quiet:
            complain(found.attrs["judgement_text"])
        return FAILED if missing or doubted else DONE
    complain(f"{found.attrs['outcome_text']}; what was computed is in {output}")
    return FAILED


def _page(arguments: argparse.Namespace, output: Path) -> Path | None:
    """The page that --report asks for."""
    if arguments.report is None:
        if arguments.open:
            raise InputError("--open: opens the page of --report; give that too")
        return None
    return inputs.target("--report", arguments.report or str(output.with_suffix(".html")), {".html": ""})


def _write_page(arguments: argparse.Namespace, found: Any, page: Path) -> None:
    from jointplay import report

    from .commands import tell_page

    report.write(found, page, command=shlex.join(["jointplay", *sys.argv[1:]]))
    if arguments.open or not arguments.quiet:
        tell_page(page, arguments.open)


def chosen_stepper(
    mechanism: Mechanism, until: float, step: float | None, tolerances: dict[str, float], order: str | None = None
) -> Any:
    """The stepper that the mechanism's contacts need, with what was asked of it."""
    from jointplay.simulation import FixedRungeKutta, MoreauJean, RungeKutta, default_stepper

    if isinstance(default_stepper(mechanism), MoreauJean):
        if "atol" in tolerances:
            raise InputError("--atol: rigid contact knows a relative tolerance only; give --rtol instead")
        chosen = MoreauJean(step, order=1 if order == "1" else 2, rtol=tolerances.get("rtol"))
        if chosen.step is None:
            return chosen
        if until / chosen.step > MOST_STEPS:
            text = f"{until / chosen.step:.3g} steps of {chosen.step:g} s are too many"
            raise InputError(f"--until: {text}; choose at most {MOST_STEPS * chosen.step:g} s, or give a longer --step")
        return chosen
    if order is not None:
        raise InputError("--order: belongs to steps of rigid contact, and here none is; leave it out")
    try:
        return RungeKutta(**tolerances) if step is None else FixedRungeKutta(step)
    except ValueError as error:
        raise InputError(str(error)) from None


def _times(arguments: argparse.Namespace) -> tuple[float, float | None, float | None, dict[str, float]]:
    """The end, the time between samples, the fixed step (s), and the tolerances of adaptive ones."""
    until = inputs.duration("--until", arguments.until)
    every = None if arguments.every is None else inputs.duration("--every", arguments.every)
    step = None if arguments.step is None else inputs.duration("--step", arguments.step)
    for option, seconds in (("--every", every), ("--step", step)):
        if seconds is not None and seconds > until:
            raise InputError(f"{option}: must be at most --until = {until:g} s, got {seconds:g} s")
    if until > LONGEST:
        raise InputError(f"--until: must be at most {LONGEST:g} s, got {until:g} s")
    if step is not None and until / step > MOST_STEPS:
        raise InputError(
            f"--step: {until / step:.3g} steps to --until = {until:g} s are too many; "
            f"choose at least {until / MOST_STEPS:g} s"
        )
    return until, every, step, inputs.tolerances(arguments, step)


class ProgressBar:
    """A bar on stderr with the time left, from half a second on; called with the simulated time reached (s).

    words: what stands beside the bar, in the form of rich.
    """

    def __init__(self, until: float, shown: bool, words: str = "{task.fields[reached]} of {task.total:g} s,") -> None:
        self.until, self.shown, self.words = until, shown, words
        self.began: float | None = None  # when the first step could be taken
        self.bar: Any = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, reached: float, doing: str = "") -> None:
        if self.began is None:  # nothing is computed yet that could be kept
            self.began = time.perf_counter()
            return
        interrupts.obey()
        if not self.shown:
            return
        if self.bar is None and time.perf_counter() - self.began > PATIENCE:
            self._begin()
        if self.bar is not None:
            self.bar.update(self.task, completed=min(reached, self.until), reached=f"{reached:.4g}",
                            description=doing)  # fmt: skip

    def _begin(self) -> None:
        from rich import progress
        from rich.console import Console

        self.bar = progress.Progress(  # kept before it starts, so that Ctrl-C in between finds it
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TextColumn(self.words),
            progress.TimeRemainingColumn(),
            progress.TextColumn("left"),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self.task = self.bar.add_task("", total=self.until, reached="0")
        self.bar.start()


def summary(mechanism: Mechanism, found: Any, wall: tuple[float, float], files: list[Path]) -> str:
    """What happened, in a few aligned lines; wall (s): what preparing and what computing took."""
    from jointplay import results
    from jointplay.series import loop_settled
    from jointplay.statics.readable import plays

    attrs = found.attrs
    reached = float(found.time[-1]) if found.sizes.get("time") else 0.0
    lines = [
        ("mechanism", mechanism.name),
        ("degrees of freedom", str(attrs["degrees_of_freedom"])),
        ("stepper", re.sub(r"(?<=\()\w+=None, |, \w+=None", "", attrs["stepper"])),
        ("simulated", f"{reached:.6g} s in {attrs['steps']} steps"),
        ("wall time", f"{_wall(wall[0])} to prepare (equations, machine code), {_wall(wall[1])} to compute"),
        ("outcome", attrs["outcome"]),
        *plays(mechanism),
    ]
    redundant = json.loads(attrs["redundant"])
    lines += [("redundant constraints", ", ".join(redundant))] if redundant else []
    for entry in json.loads(attrs["audit"]):
        said = f" ({entry['judgement']}: limit {_number(entry['limit'], entry['unit'])})"
        value = _number(entry["value"], entry["unit"])
        lines.append((f"audit: {entry['name']}", value + (said if entry["judgement"] != "fine" else "")))
    numbers = Told(found)
    lines += numbers.verdict() + numbers.ends() + _contacts(found, numbers) + _peaks(mechanism, found, numbers)
    lines += [("rigid contact", text)] if (text := results.without_impacts(found)) else []
    for what, dimension, text in (("error", "channel", "tracking error"), ("control", "actuator", "actuator")):
        if f"{what}_max" in found:
            for name, unit in zip(found[dimension].values, found[f"{dimension}_unit"].values, strict=True):
                after = f"from {late:g} s on: " if (late := loop_settled(found)) else ""
                x, y = (numbers.told(f"{what}_{kind}", {dimension: name}, str(unit)) for kind in ("max", "rms"))
                lines.append((f"{text} {name}", f"{after}largest {x}, rms {y}"))
    lines += [("note", note) for note in json.loads(attrs["notes"])]
    lines += [("written", f"{os.fspath(file)} ({_size(file)})") for file in files]
    lines.append(("judgement", results.conclusion(found)))
    return columns(lines)


class Told:
    """The headline numbers of a run in words, with their errors where these are known."""

    def __init__(self, found: Any) -> None:
        from jointplay import results

        self.found, self.with_error = found, results.spoken
        self.known = {entry["name"]: entry for entry in results.errors(found)}
        self.unknown = [name for name, entry in self.known.items() if not entry["determined"]]

    def told(self, name: str, of: dict[str, Any], unit: str = "1") -> str:
        """A number with its unit."""
        entry, unit = self.known.get(".".join([*map(str, of.values()), name])), unit.replace("*", " ")
        exact = float(self.found[name].sel(of))
        value = tidy(exact, float(abs(self.found[name]).max()))
        if entry and value == exact:
            return self.with_error(entry | {"unit": unit})
        return quantity(value, "" if unit == "1" else unit)

    def share(self, name: str, of: dict[str, Any]) -> str:
        """A share of time in percent."""
        entry = self.known.get(".".join([*map(str, of.values()), name]))
        return self.with_error(entry) if entry else f"{100 * float(self.found[name].sel(of)):.1f} %"

    def verdict(self) -> list[tuple[str, str]]:
        """The largest of the errors beside its number, and what is not determined."""
        from jointplay.results import rounding

        sure = {n: e for n, e in self.known.items() if e["determined"] and e["scale"] > 0}
        real = {n: e for n, e in sure.items() if not rounding(e | {"value": e["scale"]})} or sure
        shares = {n: e["error"] / e["scale"] for n, e in real.items()}
        if not shares:
            return []
        most = max(shares, key=lambda name: shares[name])
        said = "" if shares[most] <= CONVERGED or self.unknown else ": use a smaller --rtol or --step"
        whole = "the time, in " if "share_" in most else ""
        lines = [("largest error", f"{100 * shares[most]:.1g} % of {whole}{most}{said}")]
        return [*lines, ("not determined", ", ".join(self.unknown))] if self.unknown else lines

    def ends(self) -> list[tuple[str, str]]:
        """Where the bodies are at the end, if the errors of that are known."""
        bodies = [str(name) for name in self.found.body.values if f"{name}.angle" in self.known]
        named = {name: [self.known[f"{name}.{axis}"] for axis in ("angle", "x", "y")] for name in bodies}
        texts = {name: ", ".join(map(self.with_error, entries)) for name, entries in named.items()}
        return [(f"at the end {name}", text) for name, text in texts.items()]


def _peaks(mechanism: Mechanism, found: Any, numbers: Told) -> list[tuple[str, str]]:
    """The largest forces of joints and efforts of drives; a gear has a moment and no force."""
    lines = []
    units = {name: drive.effort_unit for name, drive in mechanism.drives.items()}
    turned = (
        {str(n) for n in found.joint.values if float(found.peak_moment.sel(joint=n)) > 0}
        if ("peak_moment" in found)
        else set()
    )
    for what, dimension in (("force", "joint"), ("moment", "joint"), ("effort", "drive")):
        for name in found[dimension].values if f"peak_{what}" in found else ():
            unit = {"force": "N", "moment": "N m"}.get(what) or units[str(name)]
            none = what == "force" and name in turned and not float(found.peak_force.sel(joint=name))
            if not none and (what != "moment" or name in turned):
                lines.append((f"peak {what} {name}", _peak(found, what, {dimension: name}, unit, numbers)))
    return lines


def _contacts(found: Any, numbers: Told) -> list[tuple[str, str]]:
    """What each contact did, and since the run counts as settled."""
    if "impacts" not in found:
        return []
    lines = []
    for name in found.contact.values:
        of = {"contact": name}
        text = f"{numbers.told('impacts', of, 'impacts')}, free {numbers.share('share_free', of)} of the time"
        if "impacts_settled" in found:
            text += f"; from {found.attrs['settled']:g} s on {numbers.told('impacts_settled', of, 'impacts')}, "
            text += f"free {numbers.share('share_free_settled', of)}"
        lines.append((f"contact {name}", text))
    return lines


def _peak(found: Any, what: str, of: dict[str, Any], unit: str, numbers: Told) -> str:
    """A largest force or the like, and since the run counts as settled."""
    one = found.sel(of)
    until = float(found.time[-1]) if found.sizes.get("time") else 0.0
    text = numbers.told(f"peak_{what}", of, unit)
    text += f" {moment(float(one[f'peak_{what}_time']), until)}" if float(one[f"peak_{what}"]) else ""
    if f"peak_{what}_settled" in found:
        at = float(one[f"peak_{what}_settled_time"])
        most = numbers.told(f"peak_{what}_settled", of, unit)
        text += f"; from {found.attrs['settled']:g} s on {most} at {at:.5g} s"
    return text


def _number(value: Any, unit: str = "1") -> str:
    """A number of the audit in the unit that people read."""
    if value is None:
        return "unknown"
    return f"{value:.3g}" if unit == "1" else quantity(value, unit.replace("*", " "), 3)


def _wall(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{1e3 * seconds:.3g} ms"


def _size(file: Path) -> str:
    size = file.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.1f} kB"
