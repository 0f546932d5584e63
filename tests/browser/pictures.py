"""Draw the pictures of docs/figures.md and the film of README again: python -m tests.browser.pictures"""

import io
import math
import tempfile
from pathlib import Path

import jointplay as jp
from jointplay import report
from tests.browser import runs
from tests.browser.conftest import until
from tests.plots.test_plots import FIGURES

IMAGES = Path(__file__).resolve().parent.parent.parent / "docs" / "images"
COLOURS = 160  # in a picture, which keeps it small
DPI = 110


def shrink(data: bytes, target: Path, width: int | None = None) -> None:
    """Write a PNG, no wider than this, or with few colours if no width is given."""
    from PIL import Image

    image = Image.open(io.BytesIO(data)).convert("RGB")
    if width is not None:
        image.thumbnail((width, 4 * width), Image.Resampling.LANCZOS)
    else:
        image = image.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    image.save(target, optimize=True)


STILLS = {  # name -> run, twin, width and height of the window, colours, time
    "page": (runs.rocker, runs.rocker_twin, 1440, 900, "light", 0.75),
    "page_bore": (runs.bore, None, 1000, 760, "dark", 1.5),
    "page_phone": (runs.rocker, runs.rocker_twin, 400, 860, "light", 0.75),
}


def figures() -> None:
    """Every figure of the tests."""
    for name, draw in FIGURES.items():
        file = io.BytesIO()
        draw().savefig(file, dpi=DPI, format="png")
        shrink(file.getvalue(), IMAGES / f"fig_{name}.png")


def stills() -> None:
    """The animated page, standing still."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as directory:
        browser = playwright.chromium.launch(executable_path=report.chromium(), args=["--no-sandbox"])
        for name, (run, twin, width, height, scheme, time) in STILLS.items():
            file = report.write(run(), Path(directory) / f"{name}.html", twin() if twin else None)
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.goto(f"{file.as_uri()}#t={time}")
            until(page, "window.jointplay && window.jointplay.ready")
            shrink(page.screenshot(), IMAGES / f"fig_{name}.png", 1100)
        browser.close()


def film() -> None:
    """The crank-rocker of the demo, as README shows it: two periods of its reference."""
    control = jp.control.feedback_linearisation("crank", jp.sine(6.0, 0.75 * math.pi), k1=2000, k2=200)
    loose = jp.library.crank_rocker_2016(3e-3, 3e-3, friction=0.1).replace(
        name="crank-rocker under control, 3 mm of play", control=control
    )
    run = jp.simulate(loose, 16 / 3, jp.MoreauJean(1e-5), every=1e-3)
    report.movie(run, IMAGES / "crank_rocker.gif", seconds=6.0, rate=12)


if __name__ == "__main__":
    film()
    figures()
    stills()
