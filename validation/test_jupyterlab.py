"""Notebooks as users meet them: results, figures and the moving page in a real JupyterLab, driven by a browser.

Takes about 40 s; skipped where JupyterLab, playwright or a Chromium is missing (pip install "jupyterlab" playwright).
"""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator

import pytest

from tests.browser.conftest import browser  # noqa: F401

pytest.importorskip("jupyterlab", reason="needs JupyterLab: pip install jupyterlab")

CELLS = (
    "import jointplay as jp\n"
    "loose = jp.library.crank_rocker_2016(3e-3, restitution=0.5)\n"
    "run = jp.simulate(loose, until='0.2 s', stepper=jp.MoreauJean(1e-4), start={'crank.rate': 10.0}, reclose=True)\n"
    "run",
    "loose",
    "jp.check(loose)",
    "jp.plots.journal(run)",
    "run.jp.show(height=500)",
)
TOKEN = "jointplay-validation"


def notebook() -> dict:
    cells = [
        {"cell_type": "code", "id": f"c{i}", "metadata": {}, "execution_count": None, "outputs": [], "source": source}
        for i, source in enumerate(CELLS)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


def free_port() -> int:
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(scope="module")
def lab(tmp_path_factory) -> Iterator[str]:
    """The address of a JupyterLab with one notebook."""
    directory, port = tmp_path_factory.mktemp("lab"), free_port()
    (directory / "try.ipynb").write_text(json.dumps(notebook()), encoding="utf-8")
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--ip=127.0.0.1"]
    command += [f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={directory}"]
    homes = {f"JUPYTER_{name}_DIR": str(directory / name.lower()) for name in ("CONFIG", "RUNTIME", "DATA")}
    environment = os.environ | homes | {"JUPYTERLAB_WORKSPACES_DIR": str(directory / "workspaces")}
    server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        until(lambda: answers(f"{address}/api?token={TOKEN}"), 60)
        yield f"{address}/lab/tree/try.ipynb?token={TOKEN}"
    finally:
        server.terminate()
        try:
            server.wait(60)
        except subprocess.TimeoutExpired:  # a busy machine
            server.kill()


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def until(true, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "never came true"
        time.sleep(0.3)


def _run_all(page) -> bool:
    """Run the cell that is selected, and say whether the last one has shown the page; JupyterLab asks for a kernel at
    times, and is given the one that it proposes."""
    if page.locator(".jp-Dialog .jp-mod-accept").count():
        page.locator(".jp-Dialog .jp-mod-accept").click()
        page.wait_for_timeout(1500)
    elif not page.locator(".jp-InputPrompt", has_text="*").count():
        page.locator(".jp-NotebookPanel-toolbar [data-command='notebook:run-cell-and-select-next']").first.click()
    return bool(page.locator(".jp-OutputArea-output iframe").count())


def test_a_notebook_shows_results_figures_and_the_page(lab: str, browser):  # noqa: F811
    page = browser.new_page(viewport={"width": 1200, "height": 2600})
    page.set_default_timeout(90_000)
    page.goto(lab)
    page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for()
    page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").first.wait_for()
    until(lambda: _run_all(page), 90)
    if os.environ.get("JOINTPLAY_PICTURE"):
        page.wait_for_timeout(1500)
        page.screenshot(path=os.environ["JOINTPLAY_PICTURE"])
    outputs = page.locator(".jp-Cell .jp-OutputArea-output")
    result, mechanism, check, figure = (outputs.nth(i) for i in range(4))
    assert result.locator("svg polyline").count() == 6 and "judgement" in result.inner_text()
    assert mechanism.inner_text().startswith("Mechanism 'crank-rocker'")
    assert check.inner_text().startswith("mechanism") and "degrees of freedom" in check.inner_text()
    assert figure.locator("img").count() == 1 and "path of the journal of J2" in figure.inner_text()
    moving = page.frame_locator(".jp-OutputArea-output iframe")
    moving.locator("#play[aria-label='Pause (space)']").wait_for()  # it plays
    first = moving.locator("#clock").inner_text()
    page.wait_for_timeout(500)
    assert moving.locator("#clock").inner_text() != first
    page.close()
