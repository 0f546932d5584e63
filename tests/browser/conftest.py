"""A real Chromium for the tests of the page; they are skipped with a message where there is none."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jointplay import report


def until(page, expression: str, seconds: float = 15.0) -> None:
    """Wait for something to be true; the page's own policy forbids Playwright to evaluate texts in it by itself."""
    end = time.monotonic() + seconds
    while not page.evaluate(f"Boolean({expression})"):
        assert time.monotonic() < end, f"never came true: {expression}"
        time.sleep(0.02)


@pytest.fixture(scope="session")
def browser() -> Iterator:
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    found = report.chromium()
    if found is None:
        pytest.skip("needs a Chromium: apt-get install chromium, or name one in JOINTPLAY_CHROMIUM")
    with sync_api.sync_playwright() as playwright:
        # Playwright now and then never hears of a sandboxed frame that has a process of its own.
        options = ["--no-sandbox", "--disable-gpu", "--disable-features=IsolateSandboxedIframes"]
        started = playwright.chromium.launch(executable_path=found, args=options)
        yield started
        started.close()


@pytest.fixture
def opened(browser) -> Iterator[Callable]:
    """Opens a page file; what goes wrong in it or leaves it is kept, and is empty at the end."""
    contexts, wrong = [], []

    def open_page(file: Path, width: int = 1000, height: int = 800, scheme: str = "light", hash: str = "#t=0"):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        address = Path(file).as_uri()

        def asked(request) -> None:
            if request.url.partition("#")[0] != address:
                wrong.append(f"request: {request.url[:80]}")

        page.on("console", lambda message: wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("request", asked)
        page.goto(address + hash)
        until(page, "window.jointplay && window.jointplay.ready")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []
