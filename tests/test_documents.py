"""What README, docs and examples show must run and be true."""

import ast
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from jointplay import cli

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
TUTORIAL, NEXT = ROOT / "docs" / "tutorial.md", ROOT / "docs" / "tutorial_next.md"
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "papers").glob("*.md")),
]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
# `make docs` runs them all; what the demo and the blocks of balancing.md and studies.md do is not run twice here
ALSO_ELSEWHERE = {"crank_rocker_control", "balanced_four_bar", "monte_carlo", "toggle_press", "jansen_leg"}
GALLERY = [path for path in sorted((ROOT / "examples" / "gallery").glob("*.py")) if path.stem not in ALSO_ELSEWHERE]
WRITTEN = {
    "01_bouncing_journal": ["bouncing_journal.png"],
    "02_crank_rocker": ["crank_rocker.nc", "crank_rocker.png", "crank_rocker_ideal.nc", "crank_rocker.html"],
    "03_slider_crank": ["slider_crank_torque.png"],
    "04_contact_loss": [],
    "05_own_stepper": [],
}
SAID = {
    "01_bouncing_journal": "impacts",
    "02_crank_rocker": "largest tracking error (deg)             0.2889     0.002361",
    "03_slider_crank": "stroke 200.0 mm",
    "04_contact_loss": "loses contact at t = 2.18112",
    "05_own_stepper": "step 0.0005 s: angle off by 0.0084",
}


def blocks(path: Path, info: str) -> list[str]:
    """The code blocks of a document with this word (and nothing else) after the fence."""
    return re.findall(rf"^```{info}\n(.*?)^```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


PYTHON = [
    pytest.param(block, id=f"{path.name}-{i}") for path in DOCUMENTS for i, block in enumerate(blocks(path, "python"))
]


def run(*command: str | Path, cwd: Path, source: Path | None = None) -> str:
    """What a command prints; it must succeed."""
    environment = {**os.environ, "MPLBACKEND": "Agg"} | ({"PYTHONPATH": str(source)} if source else {})
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("block", PYTHON)
def test_every_python_block_runs(block, tmp_path):
    script = tmp_path / "block.py"
    script.write_text(block, encoding="utf-8")
    assert run(sys.executable, script, cwd=tmp_path).strip()


def test_a_new_user_gets_from_an_empty_file_to_a_plot(tmp_path):
    [model] = blocks(TUTORIAL, "yaml")
    [loop] = blocks(NEXT, "yaml")
    assert len(model.splitlines()) < 20 and blocks(ROOT / "README.md", "yaml") == [model]
    assert model == (ROOT / "examples" / "slider_crank.yaml").read_text(encoding="utf-8")
    (tmp_path / "slider.yaml").write_text(model, encoding="utf-8")
    (tmp_path / "steered.yaml").write_text(model.partition("drives:")[0] + loop, encoding="utf-8")
    lines = [
        line
        for path in (ROOT / "README.md", TUTORIAL, NEXT)
        for block in blocks(path, "sh")
        for line in block.splitlines()
    ]
    commands = [shlex.split(line) for line in dict.fromkeys(lines)]
    assert commands[0] == ["jointplay", "run", "slider.yaml", "--plot", "slider.png"]
    printed = {}
    for name, *arguments in commands:
        assert name == "jointplay"
        printed[" ".join(arguments)] = run(sys.executable, "-m", "jointplay", *arguments, cwd=tmp_path)
    assert all(text.strip() for text in printed.values())
    [largest] = re.findall(
        r"^tracking error crank +largest (\S+)", printed["run steered.yaml --until 1 s"], re.MULTILINE
    )
    assert 0 <= float(largest) < 1e-4  # degrees; what is rounding is printed as 0
    sizes = {file.name: file.stat().st_size for file in tmp_path.iterdir()}
    assert {
        "slider.nc",
        "slider.png",
        "fast.csv",
        "press.yaml",
        "loose.html",
        "clearance_study.html",
        "slider-balanced.yaml",
    } <= sizes.keys() and min(sizes.values()) > 100
    assert sizes["slider.png"] > 10_000


def test_every_command_that_is_shown_has_the_options_it_shows():
    """Also those that no test runs, for they take long or name files of the reader's."""
    shown = []
    for path in DOCUMENTS:
        for block in re.findall(r"^```[^\n]*\n(.*?)^```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
            shown += re.findall(r"^jointplay .*$", block.replace("\\\n", " "), re.MULTILINE)
    assert len(shown) > 30
    for line in shown:
        _, *arguments = shlex.split(re.split(r" {3,}|  #", line)[0])
        cli._parser().parse_args(arguments)  # exits if it does not know one


def test_readme_names_every_command():
    text = run(sys.executable, "-m", "jointplay", "--help", cwd=ROOT)
    commands = re.findall(r"^    (\w+)(?: {2,}|$)", text.partition("examples:")[0], re.MULTILINE)
    assert {"run", "reproduce"} <= set(commands)
    assert [command for command in commands if f"| `{command}` |" not in README] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_runs(example, tmp_path):
    (tmp_path / "build").mkdir()
    assert len(example.read_text(encoding="utf-8").splitlines()) < 60
    printed = run(sys.executable, example, cwd=tmp_path)
    assert SAID[example.stem] in printed
    if example.stem == "02_crank_rocker":  # the demo ends with its page, and says where that is
        page = (tmp_path / "build" / "crank_rocker.html").resolve().as_uri()
        assert printed.splitlines()[-1] == f"the page that moves: open {page} in a browser"
    for name in WRITTEN[example.stem]:
        assert (tmp_path / "build" / name).stat().st_size > 10_000


def test_a_joint_is_added_as_the_document_says(tmp_path):
    """In a script of one's own, and in a file that the command line loads."""
    document = ROOT / "docs" / "extending.md"
    script = tmp_path / "script.py"
    [text] = blocks(document, "python joint")
    script.write_text(text, encoding="utf-8")
    assert "rolls down with 3.2" in run(sys.executable, script, cwd=tmp_path)
    [disc] = blocks(document, "python disc.py")
    (tmp_path / "disc.py").write_text(disc, encoding="utf-8")
    [wheel] = blocks(document, "yaml wheel.yaml")
    (tmp_path / "wheel.yaml").write_text(wheel, encoding="utf-8")
    [commands] = blocks(document, "sh disc")
    for name, *arguments in map(shlex.split, commands.splitlines()):
        assert name == "jointplay"
        run(sys.executable, "-m", "jointplay", *arguments, cwd=tmp_path)
    assert '"wheel":0.1' in (tmp_path / "wheel.html").read_text(encoding="utf-8")


def test_every_named_file_exists():
    missing = []
    rooms = "src|tests|examples|benchmarks|validation|docs|engine|numerics|parts|elements|model|physics|simulation|cli"
    rooms += "|papers|laws|plots"
    for path in DOCUMENTS:
        names = re.findall(rf"`(?:pytest )?((?:{rooms})/[\w/]*(?:\.(?:py|md|cpp|yaml))?)`", path.read_text("utf-8"))
        roots = (ROOT, ROOT / "src" / "jointplay")
        missing += [(path.name, n) for n in names if not any((root / n).exists() for root in roots)]
        pictures = re.findall(r"\]\(((?!http|#)[^)#]+)", path.read_text("utf-8"))
        missing += [(path.name, n) for n in pictures if not (path.parent / n).exists()]
    assert missing == []


def test_readme_shows_the_page_and_the_path_of_a_journal():
    shown = re.findall(r"^!\[[^]]+\]\(docs/images/([^)]+)\)", README, re.MULTILINE)
    assert {"fig_page.png", "fig_journal.png"} <= set(shown)
    figures = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
    assert "`python -m tests.browser.pictures`" in figures  # which draws both again


@pytest.mark.parametrize("paper", ["akhadkar2016", "grigore", "wu2017", "coelho", "bai2026"])
def test_pages_of_papers_show_each_figure_that_is_drawn_for_them(paper):
    tree = ast.parse((ROOT / "docs/papers/figures" / f"{paper}.py").read_text(encoding="utf-8"))
    drawn = {x.name for x in tree.body if isinstance(x, ast.FunctionDef) and not x.name.startswith("_")}
    page = (ROOT / "docs/papers" / f"{paper}.md").read_text(encoding="utf-8")
    shown = re.findall(rf"images/paper_{paper}_(\w+)\.png", page)
    assert sorted(shown) == sorted(drawn) and len(drawn) >= 4
    files = (ROOT / "docs/images").glob(f"paper_{paper}*.png")
    assert {path.stem for path in files} == {f"paper_{paper}_{name}" for name in drawn}


def test_the_demo_is_what_readme_says():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [recipe] = re.findall(r"^demo:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert "examples/02_crank_rocker.py" in recipe and "`examples/02_crank_rocker.py`" in README


@pytest.mark.parametrize("script", GALLERY, ids=lambda path: path.stem)
def test_every_script_of_the_gallery_runs(script, tmp_path, monkeypatch, capsys):
    """In this process, which spares the imports; `make docs` runs them as they are."""
    monkeypatch.chdir(tmp_path)
    title, _, text = (ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or "").partition("\n\n")
    assert title and text and len(script.read_text(encoding="utf-8").splitlines()) < 70
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.strip()
    assert (tmp_path / "page.html").stat().st_size > 10_000
