"""``jointplay run``: simulate, show progress, write the result, say how it went."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import DONE, FAILED, complain, computing, inputs
from .tables import columns

if TYPE_CHECKING:
    from jointplay.model.mechanism import Mechanism

MOST_SAMPLES = 10_000_000
MOST_STEPS = 1e10
PATIENCE = 0.5  # s: a run that ends within this shows no progress


def run(arguments: argparse.Namespace) -> int:
    """Simulate a mechanism; write the result and, if asked, a figure."""
    mechanism = inputs.mechanism(arguments.model, arguments.changes)
    until, every, step, tolerances = _times(arguments)
    named = f"{Path(arguments.model).stem}.nc" if arguments.output is None else arguments.output
    output = inputs.target("-o", named, inputs.RESULTS)
    plot = None if arguments.plot is None else inputs.target("--plot", arguments.plot, inputs.PLOTS)

    from jointplay import results
    from jointplay.simulation import simulate

    stepper = _stepper(mechanism, step, tolerances)
    began = time.perf_counter()
    with computing(), Progress(until, shown=sys.stderr.isatty() and not arguments.quiet) as progress:
        found = simulate(
            mechanism,
            until=until,
            stepper=stepper,
            every=every,
            strict=False,
            progress=progress,
            reclose=arguments.reclose,
            audit="convergence" if arguments.convergence else "run",
        )
    wall = time.perf_counter() - began
    files = [output]
    results.save(found, output)
    if plot is not None and found.sizes["time"]:
        from jointplay import plots

        plots.save(plots.motion(found), plot)
        files.append(plot)
    if not arguments.quiet:
        print(summary(mechanism, found, wall, files))
    if found.attrs["outcome"] == "done":
        return DONE
    sys.stdout.flush()
    if plot is not None and plot not in files:
        complain(f"{plot}: not drawn, for there is nothing to show")
    complain(f"{found.attrs['outcome_text']}; what was computed is in {output}")
    return FAILED


def _stepper(mechanism: Mechanism, step: float | None, tolerances: dict[str, float]) -> Any:
    """The stepper that the mechanism's contacts need, with what was asked of it."""
    from jointplay.simulation import FixedRungeKutta, MoreauJean, RungeKutta, default_stepper

    if isinstance(default_stepper(mechanism), MoreauJean):
        if tolerances:
            raise ValueError(f"--{next(iter(tolerances))}: rigid contact takes fixed steps; give --step instead")
        return MoreauJean() if step is None else MoreauJean(step)
    return RungeKutta(**tolerances) if step is None else FixedRungeKutta(step)


def _times(arguments: argparse.Namespace) -> tuple[float, float | None, float | None, dict[str, float]]:
    """The end, the time between samples, the fixed step (s), and the tolerances of adaptive ones."""
    until = inputs.duration("--until", arguments.until)
    every = None if arguments.every is None else inputs.duration("--every", arguments.every)
    step = None if arguments.step is None else inputs.duration("--step", arguments.step)
    for option, seconds in (("--every", every), ("--step", step)):
        if seconds is not None and seconds > until:
            raise ValueError(f"{option}: must be at most --until = {until:g} s, got {seconds:g} s")
    if every is not None and until / every > MOST_SAMPLES:
        raise ValueError(
            f"--every: {until / every:.3g} samples are too many; choose at least {until / MOST_SAMPLES:g} s"
        )
    if step is not None and until / step > MOST_STEPS:
        raise ValueError(
            f"--step: {until / step:.3g} steps to --until = {until:g} s are too many; "
            f"choose at least {until / MOST_STEPS:g} s"
        )
    tolerances = {}
    for name in ("rtol", "atol"):
        text = getattr(arguments, name)
        if text is not None and step is not None:
            raise ValueError(f"--{name}: belongs to adaptive steps and cannot be given with --step")
        if text is not None:
            tolerances[name] = inputs.tolerance(f"--{name}", text)
    return until, every, step, tolerances


class Progress:
    """A bar on stderr with the time left, from half a second on; called with the simulated time reached (s)."""

    def __init__(self, until: float, shown: bool) -> None:
        self.until, self.shown = until, shown
        self.began: float | None = None
        self.bar: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, reached: float) -> None:
        if not self.shown:
            return
        if self.began is None:
            self.began = time.perf_counter()
        if self.bar is None and time.perf_counter() - self.began > PATIENCE:
            self._begin()
        if self.bar is not None:
            self.bar.update(self.task, completed=min(reached, self.until), reached=f"{reached:.4g}")

    def _begin(self) -> None:
        from rich import progress
        from rich.console import Console

        self.bar = progress.Progress(  # kept before it starts, so that Ctrl-C in between finds it
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TextColumn("{task.fields[reached]} of {task.total:g} s,"),
            progress.TimeRemainingColumn(),
            progress.TextColumn("left"),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self.task = self.bar.add_task("", total=self.until, reached="0")
        self.bar.start()


def summary(mechanism: Mechanism, found: Any, wall: float, files: list[Path]) -> str:
    """What happened, in a few aligned lines."""
    attrs = found.attrs
    reached = float(found.time[-1]) if found.sizes.get("time") else 0.0
    lines = [
        ("mechanism", mechanism.name),
        ("degrees of freedom", str(attrs["degrees_of_freedom"])),
        ("stepper", attrs["stepper"]),
        ("simulated", f"{reached:.6g} s in {attrs['steps']} steps"),
        ("wall time", f"{wall:.2f} s"),
        ("outcome", attrs["outcome"]),
    ]
    redundant = json.loads(attrs["redundant"])
    lines += [("redundant rows", ", ".join(redundant))] if redundant else []
    for entry in json.loads(attrs["audit"]):
        unit = "" if entry["unit"] == "1" else f" {entry['unit'].replace('*', ' ')}"
        lines.append((f"audit: {entry['name']}", _number(entry["value"]) + unit))
    for name, moved in json.loads(attrs.get("convergence", "{}")).items():
        lines.append((f"half step: {name}", f"{moved['value']:.6g} moves by {moved['moved']:.2g}"))
    if "impacts" in found:
        counts = zip(found.contact.values, found.impacts.values, found.share_free.values, strict=True)
        lines += [
            (f"contact {name}", f"{hits} impacts, free {100 * free:.1f} % of the time") for name, hits, free in counts
        ]
    if "peak_force" in found:
        peaks = zip(found.joint.values, found.peak_force.values, found.peak_force_time.values, strict=True)
        lines += [(f"peak force {joint}", f"{force:.5g} N at {at:.5g} s") for joint, force, at in peaks]
    if "peak_moment" in found:
        peaks = zip(found.joint.values, found.peak_moment.values, found.peak_moment_time.values, strict=True)
        lines += [(f"peak moment {joint}", f"{m:.5g} N m at {at:.5g} s") for joint, m, at in peaks if m > 0]
    if "peak_effort" in found:
        peaks = zip(found.drive.values, found.peak_effort.values, found.peak_effort_time.values, strict=True)
        units = {name: "N m" if mechanism.drives[name].kind in ("angle", "rate") else "N" for name in mechanism.drives}
        lines += [(f"peak effort {drive}", f"{x:.5g} {units[drive]} at {at:.5g} s") for drive, x, at in peaks]
    for what, dimension, text in (("error", "channel", "tracking error"), ("control", "actuator", "actuator")):
        if f"{what}_max" in found:
            most, mean, units = (found[n].values for n in (f"{what}_max", f"{what}_rms", f"{dimension}_unit"))
            for name, x, y, unit in zip(found[dimension].values, most, mean, units, strict=True):
                spoken = str(unit).replace("*", " ")
                after = f"from {attrs['settled']:g} s on: " if attrs.get("settled") else ""
                lines.append((f"{text} {name}", f"{after}largest {x:.5g} {spoken}, rms {y:.5g} {spoken}"))
    lines += [("note", note) for note in json.loads(attrs["notes"])]
    lines += [("written", f"{os.fspath(file)} ({_size(file)})") for file in files]
    return columns(lines)


def _number(value: Any) -> str:
    return "unknown" if value is None else f"{value:.3g}"


def _size(file: Path) -> str:
    size = file.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.1f} kB"
