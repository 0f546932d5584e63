"""The commands that look at results: signals, plot, compare."""

from __future__ import annotations

import argparse
import inspect
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from jointplay.errors import InputError
from jointplay.parts.units import everyday

from . import complain, inputs
from .tables import ROUND_OFF, columns, energies, moment, tidy

FIGURES: tuple[str, ...] = (
    "motion",
    "velocity",
    "acceleration",
    "phase_plane",
    "tracking_error",
    "effort",
    "energy",
    "joint_force",
)
FIGURES += ("journal", "gap_and_slip", "contact_modes", "impacts", "shaking")
CHOSEN = ("bodies", "joints", "joint", "contacts", "drives", "signals")  # what --of means, by figure
SAME, SMALL = 1e-9, 1e-8  # m or rad, and of the farthest place: closer than both is rounding
UNSURE = "? not determined: another tolerance gives another number (docs/trust.md, how exact the numbers are)"
MUCH = 1e6  # %
SUMS = {
    "impact_loss": "energy lost in impacts",
    "friction_loss": "energy lost by friction",
    "contact_normal_work": "work of normal forces",
    "contact_friction_work": "work of friction",
}
MOVES = (("angle", "rad"), ("x", "m"), ("y", "m"))


def signals(arguments: argparse.Namespace) -> None:
    """List the signals of a result, one line each."""
    from jointplay import results
    from jointplay.model.parts import suggestion

    run = results.load(arguments.run)
    found = results.flat(run)
    wanted = arguments.text or ""
    shown = [name for name in found if wanted in name]
    if not shown:
        raise InputError(f"{arguments.run}: no signal has {wanted!r} in its name{suggestion(wanted, found)}")
    rows: list[tuple[str, ...]] = [("signal", "unit", "smallest", "largest", "last", "")]
    most = energies(run)
    for name in shown:
        variable = run[name if name in run else name.rpartition(".")[2]]
        values = [x for x in found[name].tolist() if math.isfinite(x)]
        beside, least = (most, 0.0) if variable.attrs.get("units") == "J" else (float(abs(variable).max()), ROUND_OFF)
        ends = [tidy(x, beside, least) for x in (min(values), max(values), values[-1])] if values else []
        size, unit = everyday(max(map(abs, ends), default=0.0), str(variable.attrs.get("units", "")).replace("*", " "))
        numbers = [f"{x * size:.6g}" for x in ends] or ["-"] * 3
        rows.append((name, unit, *numbers, _told(variable)))
    print(columns(rows))


def _told(variable: Any) -> str:
    """What a signal is, and what its numbers mean where they stand for words."""
    words = str(variable.attrs.get("flag_meanings", "")).split()
    codes = ", ".join(f"{code} {word}" for code, word in enumerate(words))
    return str(variable.attrs.get("long_name", "")) + (f": {codes}" if codes else "")


def plot(arguments: argparse.Namespace) -> None:
    """Draw one figure of a result."""
    if arguments.figure == "list":
        return _list_figures()
    from jointplay import results
    from jointplay.model.parts import suggestion

    run = results.load(arguments.run)  # first, for a study has other figures
    if arguments.figure not in FIGURES:
        raise InputError(f"--figure: no figure {arguments.figure!r}{suggestion(arguments.figure, FIGURES)}")
    named = arguments.output or f"{Path(arguments.run).with_suffix('')}_{arguments.figure}.png"
    target = inputs.target("-o", named, inputs.PLOTS)

    from jointplay import plots

    draw: Callable[..., Any] = getattr(plots, arguments.figure)
    options = _options(arguments, draw, run)
    plots.save(draw(run, **options), target)
    print(f"wrote {target}")


def _options(arguments: argparse.Namespace, draw: Callable[..., Any], run: Any) -> dict[str, Any]:
    """What a figure is asked for: some of its bodies or joints, and the run with ideal joints behind."""
    known = inspect.signature(draw).parameters
    options: dict[str, Any] = {}
    if arguments.of:
        name = next((name for name in CHOSEN if name in known), None)
        if name is None:
            raise InputError(f"--of: the figure {arguments.figure} shows the whole mechanism; leave it out")
        if name == "joint" and len(arguments.of) > 1:
            raise InputError(f"--of: the figure {arguments.figure} shows one joint, got {', '.join(arguments.of)}")
        options[name] = arguments.of[0] if name == "joint" else arguments.of
    if arguments.twin:
        if "twin" not in known:
            raise InputError(f"--ideal: the figure {arguments.figure} shows one run only; leave it out")
        options["twin"] = ideal(arguments.twin, run)
    return options


def ideal(file: str, run: Any) -> Any:
    """The result of --ideal, if it is one with ideal joints of the mechanism of a run; what else differs is told."""
    from jointplay import results
    from jointplay.plots.twins import unlike

    twin = results.load(file)
    if text := unlike(run, twin):
        complain(f"note: --ideal: {text}")
    return twin


def _list_figures() -> None:
    from jointplay import plots

    told = {name: inspect.getdoc(getattr(plots, name)) or "" for name in FIGURES}
    print(columns([(name, " ".join(text.split("\n\n")[0].split())) for name, text in told.items()]))


def compare(arguments: argparse.Namespace) -> None:
    """Print the headline numbers of results side by side, and how far their motions lie apart."""
    if len(arguments.runs) < 2:
        raise InputError("compare: give at least two results, as in jointplay compare loose.nc ideal.nc")
    target = None if arguments.plot is None else inputs.target("--plot", arguments.plot, inputs.PLOTS)

    from jointplay import results
    from jointplay.series import same_bodies

    names = _told_apart(arguments.runs)
    runs = {name: results.load(file) for name, file in zip(names, arguments.runs, strict=True)}
    same_bodies(runs)
    pair = len(runs) == 2
    rows = [("", *names, *(["difference"] if pair else []), "")]
    known = [{e["name"]: e for e in results.errors(run)} for run in runs.values()]
    for name, text, unit, numbers in _headlines(list(runs.values())):
        size, shown = everyday(max(map(abs, numbers)), unit)
        stated = [some.get(name, {}) for some in known]
        cells = [_cell(x * size, _digits(e), _open(e)) for x, e in zip(numbers, stated, strict=True)]
        change = "" if text == "steps" else _relative(numbers, min(3, *map(_digits, stated))) if pair else ""
        rows.append((text, *cells, *([change] if pair else []), shown))
    print(columns(rows))
    if any("?" in cell for row in rows for cell in row[1:]):
        print(UNSURE)
    for text in (_lengths(runs), _countings(runs)):
        print(text, end="\n" if text else "")
    print()
    print(columns(_distances(runs)))
    if target is not None:
        _draw(runs, arguments.signal, target)
    elif arguments.signal:
        raise InputError("--signal: says what to draw; give the file too, as in --plot both.png")


def _lengths(runs: dict[str, Any]) -> str:
    """What is said of results that begin or end at different times."""
    ends = {name: float(run.attrs.get("outcome_time", run.time[-1] if run.sizes["time"] else 0.0))
            for name, run in runs.items()}  # fmt: skip
    begins = {name: float(run.time[0]) if run.sizes["time"] else 0.0 for name, run in runs.items()}
    if all(max(at.values()) - min(at.values()) <= 1e-9 * max(ends.values()) for at in (begins, ends)):
        return ""
    told = ", ".join(f"{name} {f'{begins[name]:g} to ' if begins[name] else ''}{end:g} s" for name, end in ends.items())
    return f"of different lengths ({told}): peaks, counts and losses are of each whole run"


def _countings(runs: dict[str, Any]) -> str:
    """What is said of results whose control loops count their errors and torques from different times on."""
    from jointplay.series import loop_settled

    begins = {name: loop_settled(run) for name, run in runs.items()}
    if len(set(begins.values())) == 1 or not all("control_max" in run for run in runs.values()):
        return ""
    told = ", ".join(f"{name} {begin:g} s" for name, begin in begins.items())
    return f"control loops settled at different times ({told}): their errors and efforts count from there on"


def _told_apart(files: list[str]) -> list[str]:
    stems = [Path(file).stem for file in files]
    names = stems if len(set(stems)) == len(stems) else files
    return [name if name not in names[:i] else f"{name} ({i + 1})" for i, name in enumerate(names)]


def _open(stated: dict[str, Any]) -> bool:
    """Whether a number is not determined."""
    return not stated.get("determined", True)


def _digits(stated: dict[str, Any]) -> int:
    """How many digits a number has by its stated error: at most five, two if it is not determined."""
    value, error = abs(stated.get("value", 0.0)), stated.get("error")
    if _open(stated):
        return 2
    if not error or not value:
        return 5
    return min(5, max(1, math.floor(math.log10(value)) - math.floor(math.log10(error)) + 1))


def _cell(value: float, digits: int, doubted: bool) -> str:
    """A number: a count in full, one that is not determined with a question mark."""
    rounded = float(f"{value:.{digits}g}")
    return f"{value:.0f}" if value.is_integer() and not doubted else f"{rounded:g}" + ("?" if doubted else "")


def _relative(numbers: list[float], digits: int) -> str:
    first, second = numbers
    if first == second:
        return "none"
    share = 100 * (second - first) / abs(first) if first else 0.0
    much = abs(share) > MUCH  # beside rounding, a share says nothing
    return "-" if much or not first else f"{float(f'{share:.{digits}g}'):+g} %"


def _headlines(runs: list[Any]) -> Iterator[tuple[str, str, str, list[float]]]:
    """Numbers that all results have: their name among the errors, what they are, the unit, and the value in each."""
    named = [
        ("peak_force", "peak force", "N"),
        ("peak_moment", "peak moment", "N m"),
        ("peak_effort", "peak effort", ""),
    ]
    named += [
        ("impacts", "impacts of", ""),
        ("share_free", "share of time free", "1"),
        ("error_max", "largest error", ""),
    ]
    named += [("error_rms", "rms error", ""), ("control_max", "largest effort", ""), ("control_rms", "rms effort", "")]
    for variable, text, unit in named:
        if not all(variable in run for run in runs):
            continue
        dimension = str(runs[0][variable].dims[0])
        for label in runs[0][dimension].values:
            if all(label in run[dimension].values for run in runs):
                numbers = [tidy(float(run[variable].sel({dimension: label})), _largest(run, variable)) for run in runs]
                if any(numbers):
                    yield f"{label}.{variable}", f"{text} {label}", unit or _unit(runs[0], dimension, label), numbers
    for variable, text in SUMS.items():
        if all(variable in run and run.sizes["time"] for run in runs):
            yield variable, text, "J", [tidy(float(run[variable][-1]), energies(run), 0.0) for run in runs]
    yield "steps", "steps", "", [float(run.attrs.get("steps", 0)) for run in runs]


def _largest(run: Any, variable: str) -> float:
    """The largest of a kind of number in a run, beside which others may be rounding."""
    return float(abs(run[variable]).max())


def _unit(run: Any, dimension: str, label: Any) -> str:
    """Of a drive by what it prescribes; a channel or an actuator says its own."""
    if dimension == "drive":
        from jointplay.plots.work import drive_unit

        return drive_unit(run, str(label))
    name = f"{dimension}_unit"
    return str(run[name].sel({dimension: label}).values).replace("*", " ") if name in run else ""


def _distances(runs: dict[str, Any]) -> list[tuple[str, ...]]:
    """Where each body is farthest from where it is in the first run, and when; of runs that are sampled at different
    times, at how many they were compared."""
    from jointplay.results import apart

    first, *others = runs
    seen = {name: apart(runs[name], runs[first]).sizes["time"] for name in others}
    most = max(run.sizes["time"] for run in runs.values())
    heads = [f"{name} from {first}" + (f", at {n} times" if n < most else "") for name, n in seen.items()]
    far = max(float(abs(runs[first][name]).max()) if runs[first].sizes["time"] else 0.0 for name in ("x", "y"))
    rows: list[tuple[str, ...]] = [("farthest apart", *heads, "")]
    for body in runs[first].body.values:
        for coordinate, unit in MOVES:
            cells = []
            for name in others:
                off = abs(apart(runs[name], runs[first], coordinate).sel(body=body))
                if not off.sizes["time"]:
                    cells.append("no time in common")
                    continue
                at = int(off.argmax("time"))
                if float(off[at]) < (min(SAME, SMALL * far) if unit == "m" else SAME):
                    cells.append("together")
                    continue
                size, shown = everyday(float(off[at]), unit)
                cells.append(f"{float(off[at]) * size:.4g} {shown} {moment(float(off.time[at]), float(off.time[-1]))}")
            rows.append((f"{body}.{coordinate}", *cells, ""))
    return rows


def _draw(runs: dict[str, Any], signals: list[str], target: Path) -> None:
    from jointplay import plots

    first = next(iter(runs.values()))
    wanted = signals or [f"{body}.angle_rate" for body in first.body.values[:3]]
    plots.save(plots.comparison(runs, wanted), target)
    print(f"wrote {target}")
