"""The parser of the command line, which says what was probably meant, and the options of some commands."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable, Sequence
from typing import Any

IDEAL = "result of the same mechanism with ideal joints, drawn faintly"


class Parser(argparse.ArgumentParser):
    """Says which command or option was probably meant."""

    def parse(self, argv: Sequence[str] | None) -> argparse.Namespace:
        """The arguments; an unknown option is refused by the command that it was given to."""
        arguments, left = self.parse_known_args(argv)
        if left:
            parser = getattr(arguments, "parser", self)
            what = "option" if left[0].startswith("-") else "argument"
            options = [name for name in parser._option_string_actions if name.startswith("--")]
            parser.error(f"unknown {what} {left[0]!r}{_meant(left[0], options)} (see {parser.prog} --help)")
        return arguments

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            what = "command" if isinstance(action.choices, dict) else "choice"
            known = list(map(str, action.choices))
            raise argparse.ArgumentError(
                None if what == "command" else action,
                f"unknown {what} {value!r}{_meant(str(value), known)} (known: {', '.join(known)})",
            )


def _meant(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, 1, 0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


def add_balance(balance: argparse.ArgumentParser) -> None:
    balance.add_argument(
        "--objective", required=True, metavar="GOAL",
        help="static, force, force+moment, gyroscopic, decoupling; or least over the motion: force-rms, force-peak, "
        "moment-rms, torque-rms, bearing-peak, ...",
    )  # fmt: skip
    balance.add_argument(
        "--adjust", required=True, action="append", metavar="WHAT",
        help="bodies that get a counterweight, springs, BODY.geared, or addresses such as coupler.mass, with bounds: "
        "crank:radius=80mm,mass<=2kg,rocker; may be repeated",
    )  # fmt: skip
    balance.add_argument(
        "--motion", metavar="BODY=SPEED", help='what to turn, as in "crank=60 rpm" (default: the drives)'
    )
    balance.add_argument("--until", metavar="TIME", help="length of the motion, where drives do not repeat")
    balance.add_argument(
        "--coordinates", metavar="LIST", help="independent coordinates, such as J1,J5 (default: chosen)"
    )
    balance.add_argument(
        "--front", metavar="QUANTITY", help="draw what less shaking force costs in moment, torque or bearing"
    )
    balance.add_argument("-o", "--output", metavar="FILE", help="the balanced model (default: NAME-balanced.yaml)")
    balance.add_argument("--plot", metavar="FILE", help="figure before and after (default: NAME-balanced.png)")
    balance.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def add_reproduce(reproduce: argparse.ArgumentParser) -> None:
    reproduce.add_argument("study", metavar="STUDY", help="akhadkar2016, bai2026, coelho, grigore or wu2017")
    reproduce.add_argument("--table", metavar="N", help="one table of the paper")
    reproduce.add_argument("--figure", metavar="N", help="one figure of the paper")
    reproduce.add_argument(
        "--case", action="append", default=[], metavar="TEXT",
        help="rows whose case, quantity or item has the text, or KEY=VALUE of a case: controller=tau5; may be repeated",
    )  # fmt: skip
    reproduce.add_argument("--all", action="store_true", help="also the rows that take long (figures)")
    reproduce.add_argument("--full", action="store_true", help="with --figure: on the paper's grid, not a coarse one")
    reproduce.add_argument("--json", action="store_true", help="print a JSON list of records and nothing else")
    reproduce.epilog = "Rows are kept as they come: after Ctrl-C the same command goes on where it was."
    reproduce.add_argument(
        "--histories", metavar="DIR", help="write the curves of the paper's figures there too, as .nc"
    )


def add_looking(add: Callable[..., argparse.ArgumentParser]) -> None:
    signals = add("signals", "list the signals of a result: unit, smallest, largest and last value", "looking")
    signals.add_argument("run", metavar="RUN.nc", help="result of jointplay run")
    signals.add_argument("text", nargs="?", metavar="TEXT", help="only signals whose name has this text in it")

    plot = add("plot", "draw a figure of a result", "looking")
    plot.add_argument("run", metavar="RUN.nc", help="result of jointplay run")
    plot.add_argument(
        "--figure", default="motion", metavar="NAME", help="which one (default: motion); `list` names them all"
    )
    plot.add_argument("--of", action="append", metavar="NAME", help="a body, joint, contact or drive; may be repeated")
    add_ideal(plot)
    plot.add_argument("-o", "--output", metavar="FILE", help=".png, .pdf or .svg (default: RUN_FIGURE.png)")

    compare = add("compare", "compare results: numbers side by side, and how far the motions lie apart", "looking")
    text = "results of one mechanism; the others are compared with the first"
    compare.add_argument("runs", nargs="+", metavar="RUN.nc", help=text)
    text = "what to draw, such as crank.angle or J2.force; may be repeated"
    compare.add_argument("--signal", action="append", default=[], metavar="NAME", help=text)
    compare.add_argument("--plot", metavar="FILE", help="draw the signals: .png, .pdf or .svg")


def add_ideal(parser: argparse.ArgumentParser, text: str = IDEAL) -> None:
    """--ideal, which was called --twin and still may be."""
    parser.add_argument("--ideal", dest="twin", metavar="RUN.nc", help=text)
    parser.add_argument("--twin", dest="twin", metavar="RUN.nc", help=argparse.SUPPRESS)
