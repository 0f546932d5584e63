"""The command ``jointplay``.

Exit codes: 0 done, 1 the computation failed, 2 bad input, 3 a bug in jointplay. Which one, the type of the error says
(`jointplay.errors`). A traceback is shown only when --debug asks for it; that of a bug is kept in a file.
Nothing heavy is imported here at module level; each command imports what it uses.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

from jointplay._version import __version__
from jointplay.errors import ComputationFailed, InputError

from . import bugs, interrupts, options

DONE, FAILED, BAD_INPUT, BUG = 0, 1, 2, 3

_EXAMPLES = """\
examples:
  jointplay new press                       write press.yaml, a model file that explains itself
  jointplay check press.yaml                assemble it, count its degrees of freedom
  jointplay run press.yaml --until "2 s" --report --open     simulate it, and see it move
  jointplay run press.yaml --plot press.png --set "motor.speed=120 rpm"
  jointplay plot press.nc --figure joint_force               figures of a result; signals, compare, report
  jointplay balance press.yaml --objective force --adjust crank,rod
  jointplay library                         the mechanisms that need no file
  jointplay run crank_rocker_2016 --until "500 ms" -o swing.csv

exit codes: 0 done, 1 the computation failed, 2 bad input, 3 a bug in jointplay
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with the given arguments (the process's own by default); return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name that the terminal cannot show must not end a run
            stream.reconfigure(errors="backslashreplace")
    parser = _parser()
    if not (sys.argv[1:] if argv is None else argv):
        parser.print_help()
        return DONE
    arguments = parser.parse(argv)  # exits with BAD_INPUT itself
    with interrupts.watched(patient=arguments.keeps):
        try:
            for file in getattr(arguments, "own", ()):
                import_module("jointplay.own").load(file)
            code = arguments.command(arguments) or DONE
            sys.stdout.flush()
        except BaseException as error:
            code = told(error, arguments.debug)
        if argv is None:
            interrupts.deafen()
    return code


def told(error: BaseException, debug: bool) -> int:
    """Say what went wrong; gives the exit code, which the type of the error decides."""
    if isinstance(error, BrokenPipeError):  # `jointplay schema | head`: whoever reads has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    if debug:
        traceback.print_exception(error)
    if interrupts.asked() or isinstance(error, KeyboardInterrupt):  # libraries make other errors of it at times
        complain(str(error) if isinstance(error, KeyboardInterrupt) and str(error) else "interrupted")
        interrupts.settle()
        return FAILED
    if isinstance(error, InputError):
        complain(str(error))
        return BAD_INPUT
    if isinstance(error, ComputationFailed | OSError):
        complain(str(error))
        return FAILED
    if isinstance(error, MemoryError):
        complain("there is not enough memory; ask for fewer samples")
        return FAILED
    if not isinstance(error, Exception):
        raise error
    own = import_module("jointplay.own").told(error)  # a text in a file of the user's own is input, too
    if own is not None:
        complain(own)
        return BAD_INPUT
    complain(bugs.report(error))
    return BUG


def complain(text: str) -> None:
    """Write an error to stderr, each line marked as ours."""
    for line in text.splitlines():
        print(f"jointplay: {line}", file=sys.stderr)


@contextlib.contextmanager
def computing() -> Iterator[None]:
    """Numbers that leave what a computer can hold inside are a failed computation, and so is a run that ended early."""
    from jointplay.simulation import SimulationFailed

    try:
        yield
    except SimulationFailed as error:
        raise ComputationFailed(str(error)) from error
    except ArithmeticError as error:
        text = f"numbers became too large or too small ({error}); look for one that is far off"
        raise ComputationFailed(text) from error


def _command(module: str, function: str) -> Callable[[argparse.Namespace], int | None]:
    """A command that is imported when it is called."""

    def call(arguments: argparse.Namespace) -> int | None:
        code: int | None = getattr(import_module(f".{module}", __name__), function)(arguments)
        return code

    return call


def _top() -> tuple[options.Parser, dict[str, Any]]:
    """The parser without its commands, and what --debug is, which every command takes too."""
    parser = options.Parser(
        prog="jointplay",
        description="Planar mechanisms whose joints have play.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"jointplay {__version__}")
    debugging: dict[str, Any] = {"action": "store_true", "help": "show the traceback of an error"}
    parser.add_argument("--debug", default=False, **debugging)
    parser.set_defaults(parser=parser)
    return parser, debugging


def _parser() -> options.Parser:
    parser, debugging = _top()
    commands = parser.add_subparsers(metavar="command", required=True)

    def add(name: str, text: str, module: str = "commands") -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", allow_abbrev=False)
        made.set_defaults(command=_command(module, name), keeps=name == "run", parser=made)
        made.add_argument("--debug", default=argparse.SUPPRESS, **debugging)
        return made

    _add_run(add("run", "simulate a mechanism and write what happened", "run"))
    _add_sweep(add("sweep", "compute a study: many runs over grids, lists and samples", "sweep"))
    _add_check(add("check", "assemble a mechanism, count its degrees of freedom and warn of doubtful data"))
    _add_equilibria(add("equilibria", "find the positions in which a mechanism can rest"))
    balance = add("balance", "balance a mechanism by counterweights, springs or geared inertias", "balance")
    _add_model(balance)
    options.add_balance(balance)
    add("library", "list the mechanisms of the library, one line each")
    options.add_reproduce(add("reproduce", "compute a published study and compare the numbers", "reproduce"))
    _add_analyse(add("analyse", "say whether a motion is periodic, quasi-periodic or chaotic, and why", "analyse"))
    options.add_looking(add)
    _add_report(add("report", "write a run as an animated HTML page, or a study as an HTML page"))
    _add_own(add("schema", "print the JSON schema of model files, for completion in an editor"))
    _add_new(add("new", "write a commented model file to start from"))
    cache = add("cache", "show or clear the cache of compiled code")
    cache.add_argument("--clear", action="store_true", help="delete the cached files")
    add("doctor", "show versions, processor and cache, and run a self-test", "doctor")
    _add_completion(add("completion", "print a completion script for a shell", "completion"))
    return parser


def _add_completion(completion: argparse.ArgumentParser) -> None:
    completion.add_argument("shell", choices=("bash", "zsh", "fish"), help="for which shell")
    completion.epilog = 'bash: eval "$(jointplay completion bash)" in ~/.bashrc; zsh and fish: see docs/install.md'


def _add_new(new: argparse.ArgumentParser) -> None:
    new.add_argument("name", metavar="NAME", help="the file will be NAME.yaml")
    new.add_argument("--force", action="store_true", help="overwrite the file if it is there")


def _add_run(run: argparse.ArgumentParser) -> None:
    _add_model(run)
    run.add_argument("--until", default="10", metavar="TIME", help="simulated time, s or with a unit (default: 10)")
    run.add_argument(
        "-o", "--output", metavar="FILE", help="result: .nc, .csv or .parquet (default: the model's name with .nc)"
    )
    run.add_argument("--every", metavar="TIME", help="time between two samples of the result")
    run.add_argument("--rtol", metavar="R", help="relative tolerance of adaptive steps")
    run.add_argument("--atol", metavar="A", help="absolute tolerance of adaptive steps; not for rigid contact")
    run.add_argument("--step", metavar="TIME", help="length of fixed steps (--order 1: 1e-5 s unless given)")
    _add_order(run)
    run.add_argument("--reclose", action="store_true", help="take only as many start values as ideal joints need")
    settled = "report peaks, shares, impacts and losses from this time on as well; or '2 turns of motor'"
    run.add_argument("--settled", metavar="TIME", help=settled)
    run.add_argument("--convergence", action="store_true", help="state errors by a run with half the step")
    run.add_argument("--no-error", action="store_true", help="do not estimate the errors of headline numbers")
    run.add_argument("--strict", action="store_true", help="exit with 1 if the audit finds the run doubtful or wrong")
    run.add_argument("--plot", metavar="FILE", help="draw motion and joint forces: .png, .pdf or .svg")
    run.add_argument("--report", nargs="?", const="", metavar="FILE",
                     help="also write the animated page (default: the result's name with .html)")  # fmt: skip
    run.add_argument("--open", action="store_true", help="open the page of --report in a browser")
    run.epilog = "Ctrl-C or SIGTERM ends a run early and keeps what was computed; a second one ends at once."
    run.add_argument("--quiet", action="store_true", help="print nothing but errors")


def _add_check(check: argparse.ArgumentParser) -> None:
    _add_model(check)
    check.add_argument("--matrix", action="store_true", help="print the constraint matrix (Jacobian) too")


def _add_equilibria(equilibria: argparse.ArgumentParser) -> None:
    _add_model(equilibria)
    equilibria.add_argument("--starts", default="64", metavar="N", help="how many starts to search from (default: 64)")
    equilibria.add_argument(
        "--at", default="0", metavar="TIME", help="hold drives and forces at this time (default: 0)"
    )


def _add_sweep(sweep: argparse.ArgumentParser) -> None:
    text = "model file or mechanism of the library; or status, collect or replay, then the study"
    sweep.add_argument("model", metavar="MODEL", help=text)
    sweep.add_argument("rest", nargs="*", metavar="...", help=argparse.SUPPRESS)
    _add_changes(sweep)
    more: dict[str, str] = {
        "--over": "ADDRESS=VALUES: what to vary: 0:5 mm:11 (a grid), 1,2,5 mm (values), '20 H7/g6' (a fit), "
        "uniform(0, 5 mm), normal(1 mm, 0.1 mm); may be repeated",
        "--metric": "NAME: a number of each run, such as 'peak_force[J2]' or 'rms(torque[motor])'; may be repeated",
        "--limit": "METRIC=VALUE: print the share of runs beyond it, as in 'shift[slider]=40 um'; may be repeated",
    }
    for option, said in more.items():
        name, _, help_text = said.partition(": ")
        sweep.add_argument(option, action="append", default=[], metavar=name, help=help_text)
    single: dict[str, tuple[str, str, str | None]] = {
        "--samples": ("N", "how many samples to draw from distributions and fits", None),
        "--seed": ("N", "seed of the samples (default: 0)", "0"),
        "--until": ("TIME", "simulated time of a run, s or with a unit (default: 10)", "10"),
        "--settled": ("TIME", "all numbers count from this time on, without the start; or '2 turns of motor'", None),
        "--every": ("TIME", "time between two samples of a run", None),
        "--rtol": ("R", "relative tolerance of adaptive steps", None),
        "--atol": ("A", "absolute tolerance of adaptive steps; not for rigid contact", None),
        "--step": ("TIME", "length of fixed steps", None),
        "--executor": ("WORKERS", "how many workers, or the address of a Dask scheduler", None),
        "--shard": ("I/N", "compute part I of N into its own store, for collect", None),
    }
    for option, (name, said, default) in single.items():
        sweep.add_argument(option, metavar=name, help=said, default=default)
    _add_order(sweep)
    methods = ("sobol", "latin", "random", "saltelli")
    sweep.add_argument("--method", default="sobol", choices=methods, help="how samples are drawn (default: sobol)")
    sweep.add_argument("-o", "--output", metavar="STORE", help="the store (default: the model's name with .zarr)")
    sweep.add_argument("--reclose", action="store_true", help="take only as many start values as ideal joints need")
    sweep.add_argument("--quiet", action="store_true", help="print nothing but errors")
    sweep.epilog = (
        "A study that was stopped or killed goes on where it was when the same command is given again; more values or "
        "samples extend it. jointplay sweep status STUDY, collect STUDY [SHARD ...], replay STUDY RUN."
    )


def _add_analyse(analyse: argparse.ArgumentParser) -> None:
    _add_model(analyse)
    analyse.epilog = (
        "MODEL may also be a result (.nc) or a series (.csv with a header line and a column `time`); a model takes the "
        "options of run. A verdict from a series is weaker than one from the model. Ctrl-C ends the analysis of a "
        "model early and tells what was found until then."
    )
    for option, metavar, text in (
        ("--signal", "NAME", "of a result or model, which signal is looked at: crank.angle_rate"),
        ("--column", "NAME", "which column of a series (default: the first after time)"),
        ("--period", "TIME", "period of the drive, where it is not known from the model"),
        ("--until", "TIME", "how much of a model's motion is looked at (default: 60 drive periods)"),
        ("--settle", "TIME", "how long a model runs before (default: a quarter of that)"),
        ("--rtol", "R", "relative tolerance of adaptive steps"),
        ("--atol", "A", "absolute tolerance of adaptive steps; not for rigid contact"),
        ("--step", "TIME", "length of fixed steps"),
        ("--over", "ADDRESS=A:B:N", "a bifurcation diagram of a model over N values of a number: 0.1:1 mm:200"),
    ):
        analyse.add_argument(option, metavar=metavar, help=text)
    _add_order(analyse)
    options.add_ideal(analyse, "result of the same mechanism with ideal joints, whose numbers stand beside")
    analyse.add_argument(
        "--follow",
        action="store_true",
        help="with --over: start each value where the one before ended, upwards and downwards",
    )
    analyse.add_argument(
        "--contacts", action="store_true", help="also how the exponent depends on stiffness and damping of the contacts"
    )
    analyse.add_argument("--every", metavar="TIME", help=argparse.SUPPRESS)
    analyse.add_argument("--reclose", action="store_true", help="take only as many start values as ideal joints need")
    analyse.add_argument("-o", "--output", metavar="FILE", help="the page (default: the name with _analysis.html); "
                         "with --over the store, *.zarr, with which the same command goes on")  # fmt: skip
    analyse.add_argument(
        "--json", action="store_true", help="print one JSON object and nothing else; no page without -o"
    )


def _add_order(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--order",
        choices=("1", "2"),
        help="order of the steps for rigid contact (default: 2; 1 is the scheme published in 2016)",
    )


def _add_report(report: argparse.ArgumentParser) -> None:
    report.add_argument("run", metavar="RUN.nc", help="result of jointplay run, or store of jointplay sweep")
    report.add_argument("-o", "--output", metavar="FILE",
                        help="the page (default: the run's name with .html, a study's with _study.html)")  # fmt: skip
    options.add_ideal(report)
    limit = "of a study: the share of runs beyond it, as in 'shift[slider]=40 um'; may be repeated"
    report.add_argument("--limit", action="append", default=[], metavar="METRIC=VALUE", help=limit)
    report.add_argument("--pdf", metavar="FILE", help="print the page too, where a Chromium is found")
    _add_own(report)
    report.add_argument("--film", metavar="FILE", help="make a film too: .gif, or .mp4 where ffmpeg is found")
    report.add_argument("--open", action="store_true", help="open the page in a browser")


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="model file (YAML), or name of a mechanism of the library")
    _add_changes(parser)


def _add_changes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        dest="changes",
        metavar="ADDRESS=VALUE",
        help='change a number, as in --set "crank.mass=200 g"; may be repeated',
    )
    _add_own(parser)


def _add_own(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--with",
        action="append",
        default=[],
        dest="own",
        metavar="FILE",
        help="Python file with your own kinds and laws, run first; may be repeated",
    )
