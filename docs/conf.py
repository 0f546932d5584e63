"""The documentation site: `make docs` builds it into build/site, without a network."""

import argparse
import sys
from pathlib import Path

from jointplay._version import __version__

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

project = "jointplay"
author = "jointplay contributors"
copyright = "2026, jointplay contributors"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "sphinx_copybutton"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
# Links to files of the repository outside docs/ are shown as plain text on the site.
suppress_warnings = ["myst.xref_missing"]
autodoc_default_options = {"members": True, "undoc-members": False, "show-inheritance": False}
autodoc_typehints = "description"
autosummary_generate = True
html_theme = "furo"
html_title = f"jointplay {version}"
nitpicky = False


def commands() -> None:
    """reference/commands.md: what the parser itself says of every command."""
    from jointplay.cli import _parser

    parser = _parser()
    [choices] = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    text = ["# Commands", "", "```text", parser.format_help().rstrip(), "```", ""]
    for name, sub in choices.choices.items():
        text += [f"## jointplay {name}", "", "```text", sub.format_help().rstrip(), "```", ""]
    (HERE / "reference").mkdir(exist_ok=True)
    (HERE / "reference" / "commands.md").write_text("\n".join(text), encoding="utf-8")


GROUPS = {
    "Describe": "Mechanism couple Body bar Rigid Compliant Following",
    "Motions": "constant_speed sine polynomial cycloidal table total",
    "Files": "load loads save dumps schema",
    "Look": "System check kinematics inverse_dynamics equilibria linearise references null_space reduced",
    "Run": "simulate Simulation compare RungeKutta FixedRungeKutta MoreauJean Outcome SimulationFailed",
    "Extend": "Stepper Step",
    "Study": "sweep grid uniform normal fit samples",
    "Analyse": "verdict",
}


def interface() -> None:
    """reference/api.md: every public name by what it is for, with its docstring on a page of its own."""
    text = ["# Python", "", "`import jointplay as jp`; a name is loaded when it is first used.", ""]
    for title, names in GROUPS.items():
        text += [f"## {title}", "", "```{eval-rst}", ".. currentmodule:: jointplay", "", ".. autosummary::"]
        text += ["   :toctree: api", "   :nosignatures:", "", *(f"   {name}" for name in names.split()), "```", ""]
    (HERE / "reference" / "api.md").write_text("\n".join(text), encoding="utf-8")


# before Sphinx looks for documents, so that a first build finds them too
commands()
interface()
