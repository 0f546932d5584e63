"""The documentation site: `make docs` builds it into build/site, without a network."""

import argparse
import inspect
import re
import shutil
import sys
from pathlib import Path

from docutils import nodes

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import gallery_pages  # noqa: E402
import law_pages  # noqa: E402

from jointplay._version import __version__  # noqa: E402
from jointplay.laws.roles import registry  # noqa: E402

project = "jointplay"
author = "jointplay contributors"
copyright = "2026, jointplay contributors"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx_copybutton"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
autodoc_default_options = {"members": True, "undoc-members": False, "show-inheritance": False}
autodoc_typehints = "description"
autosummary_generate = True
html_theme = "furo"
html_title = f"jointplay {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
exclude_patterns = ["reference/verdicts.md"]  # a table that papers/index.md holds
html_math_renderer = "mathml"  # what browsers draw by themselves: no script and no font from the network


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
ROOMS = {
    "control": "Control loops: each gives a loop for `simulate(control=...)`.",
    "library": "Mechanisms of the literature and textbook ones.",
    "results": "Results and their files.",
    "plots": "Figures, each a function from a result to a matplotlib Figure.",
    "report": "The animated page.",
    "studies": "What studies tell.",
    "analysis": "Periodic or chaotic.",
    "balancing": "Shaking forces and what balances them.",
}

# what a part has beside its own functions, and what of these is no concern of users
ALSO = {
    "control": " ".join(sorted(registry("control"))),
    "library": "five_bar four_bar pendulum point_mass rr_arm scotch_yoke slider_crank two_arms",
    "results": "apart deviation when when_with_error",
}
INSIDE = {"control": "axis_of", "results": "dataset from_columns in_notebook provenance sampled"}


def interface() -> None:
    """reference/api.md: every public name by what it is for, with its docstring on a page of its own."""
    import jointplay

    shutil.rmtree(HERE / "reference" / "api", ignore_errors=True)  # pages of names that are gone

    missing = {*jointplay._HOME} - {*ROOMS} - {name for names in GROUPS.values() for name in names.split()}
    if missing:
        raise SystemExit(f"docs/conf.py: public names that no group of the reference holds: {sorted(missing)}")
    text = ["# Python", "", "`import jointplay as jp`; a name is loaded when it is first used.", ""]
    for title, names in GROUPS.items():
        text += [f"## {title}", "", *_summary("jointplay", names.split())]
    for name, said in ROOMS.items():
        room = getattr(jointplay, name)
        known = {*(getattr(room, "__all__", None) or (n for n, x in vars(room).items() if _own(n, x, room.__name__)))}
        known = (known | {*ALSO.get(name, "").split()}) - {*INSIDE.get(name, "").split()}
        used = {word for page in HERE.glob("*.md") for word in re.findall(rf"jp\.{name}\.(\w+)\(", page.read_text())}
        if used - known:
            raise SystemExit(f"docs/conf.py: jp.{name} has no page for {sorted(used - known)}, which documents use")
        text += [f"## jp.{name}", "", said, "", *_summary(room.__name__, sorted(known, key=str.lower))]
    (HERE / "reference" / "api.md").write_text("\n".join(text), encoding="utf-8")


def _own(name: str, value: object, module: str) -> bool:
    return inspect.isfunction(value) and value.__module__ == module and not name.startswith("_")


def _summary(module: str, names: list[str]) -> list[str]:
    text = [
        "```{eval-rst}",
        f".. currentmodule:: {module}",
        "",
        ".. autosummary::",
        "   :toctree: api",
        "   :nosignatures:",
    ]
    return [*text, "", *(f"   {name}" for name in names), "```", ""]


def verdicts() -> None:
    """reference/verdicts.md: how often each verdict is in the records that `make validate` wrote to validation.md."""
    kinds = ["reproduces", "contradicts", "agrees", "differs", "not-computable", "not-converged", "remark"]
    text = [f"| study | rows | {' | '.join(kinds)} |", "| --- |" + " --- |" * (len(kinds) + 1)]
    for part in (HERE / "validation.md").read_text(encoding="utf-8").split("\n## Study ")[1:]:
        counts = [len(re.findall(rf"^\|.*\| {kind} \|[^|]*\|$", part, re.MULTILINE)) for kind in kinds]
        study = part.split()[0]
        text.append(f"| [{study}]({study}.md) | {sum(counts)} | {' | '.join(map(str, counts))} |")
    (HERE / "reference" / "verdicts.md").write_text("\n".join(text) + "\n", encoding="utf-8")


# what a link of a document leads to in the sources, and on the site, where the page is written by the build
PAGES = {
    "../src/jointplay/cli": "reference/commands.md",
    "../src/jointplay/__init__.py": "reference/api.md",
    "../src/jointplay/laws": "reference/laws.md",
    "../examples/gallery": "gallery/index.md",
    **{f"../examples/gallery/{name}.py": f"gallery/{name}.md" for name in gallery_pages.ORDER},
}


def pages_for_sources(app, name: str, source: list[str]) -> None:
    """Links to sources that have a page of their own lead there."""
    source[0] = re.sub(r"\]\(([^)\s]+)\)", lambda link: f"]({PAGES.get(link[1], link[1])})", source[0])


def setup(app) -> None:
    """Formulas as MathML, by latex2mathml."""
    app.connect("source-read", pages_for_sources)
    from latex2mathml.converter import convert

    def inline(self, node) -> None:
        self.body.append(convert(node.astext()))
        raise nodes.SkipNode

    def block(self, node) -> None:
        self.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
        raise nodes.SkipNode

    app.add_html_math_renderer("mathml", (inline, None), (block, None))


# before Sphinx looks for documents, so that a first build finds them too
commands()
interface()
verdicts()
law_pages.write(HERE)
html_extra_path = [str(gallery_pages.write(HERE))]
