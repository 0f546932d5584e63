"""gallery/*.md: each script of examples/gallery runs, and its page shows what it printed, drew and moved.

A script begins with a title, an empty line and a few sentences; it writes `page.html` or `figure.png`, or both, into
the directory in which it runs. A script that fails fails the build. One whose pages are younger than it and the
package is not run again.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ORDER = [
    "slider_crank_fit",
    "crank_rocker_control",
    "quick_return",
    "loose_guide",
    "toggle_press",
    "five_bar_backlash",
    "jansen_leg",
    "spacecraft",
    "balanced_four_bar",
    "monte_carlo",
    "bifurcation",
]

# a script, and then a picture of the mechanism whose result it calls `run`
RUN = """
import pathlib, runpy, sys
names = runpy.run_path(sys.argv[1], run_name="__main__")
if "run" in names:
    from jointplay.report.card import picture
    pathlib.Path("picture.svg").write_text(picture(names["run"]), encoding="utf-8")
"""


def write(here: Path) -> Path:
    """Run the scripts and write gallery/; gives the directory whose content the site gets as it is."""
    root, extra = here.parent, here.parent / "build" / "gallery"
    scripts = {path.stem: path for path in (root / "examples" / "gallery").glob("*.py")}
    if set(scripts) != set(ORDER):
        raise SystemExit(f"examples/gallery and ORDER of docs/gallery_pages.py differ: {set(scripts) ^ set(ORDER)}")
    newest = max(path.stat().st_mtime for path in (root / "src").rglob("*.py"))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: _run(scripts[name], extra / "pages" / name, newest), ORDER))
    pages = here / "gallery"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir()
    index = ["# Gallery", "", "Each example is a short script that the build of this site has run; its page moves.", ""]
    index += ['<div class="cards">', ""]
    for name in ORDER:
        title, _, text = (ast.get_docstring(ast.parse(scripts[name].read_text("utf-8"))) or "").partition("\n\n")
        (pages / f"{name}.md").write_text("\n".join(_page(name, title, text, extra / "pages" / name)), encoding="utf-8")
        index += ["<div>", "", _small(name, title, extra / "pages" / name), "", f"**[{title}]({name}.md)**", ""]
        index += [text, "", "</div>", ""]
    index += ["</div>", "", "```{toctree}", ":hidden:", "", *ORDER, "```", ""]
    (pages / "index.md").write_text("\n".join(index), encoding="utf-8")
    return extra


def _run(script: Path, target: Path, newest: float) -> None:
    """The script in an empty directory, unless what it wrote there is younger than script and package."""
    printed = target / "printed.txt"
    if printed.exists() and printed.stat().st_mtime > max(newest, script.stat().st_mtime):
        return
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    command = [sys.executable, "-c", RUN, script]
    done = subprocess.run(command, cwd=target, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{script.name} failed:\n{done.stderr}")
    printed.write_text(done.stdout, encoding="utf-8")


def _small(name: str, title: str, made: Path) -> str:
    """The picture of an example on the first page: its figure, else its mechanism."""
    if (made / "figure.png").exists():
        picture = f'<img src="../pages/{name}/figure.png" alt="{title}">'
    else:
        picture = (made / "picture.svg").read_text(encoding="utf-8")
    return f'<a class="small" href="{name}.html" aria-label="{title}">{picture}</a>'


def _page(name: str, title: str, text: str, made: Path) -> list[str]:
    """One example: what it is about, what moves, what it prints, and the script."""
    page = [f"# {title}", "", text, ""]
    if (made / "figure.png").exists():
        page += [f'<img src="../pages/{name}/figure.png" alt="{title}">', ""]
    if (made / "page.html").exists():
        address = f"../pages/{name}/page.html"
        page += [f'<iframe class="moving" src="{address}" title="{title}" loading="lazy"></iframe>', ""]
        page += [f'<p><a href="{address}">Open the page by itself</a></p>', ""]
    page += ["It prints", "", "```text", (made / "printed.txt").read_text(encoding="utf-8").rstrip(), "```", ""]
    page += [f"The script is `examples/gallery/{name}.py`:", ""]
    return [*page, f"```{{literalinclude}} ../../examples/gallery/{name}.py", ":language: python", "```", ""]
