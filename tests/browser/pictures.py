"""Draw the pictures of docs/figures.md, the pages of docs/studies.md and the film of README again:
python -m tests.browser.pictures, or only some of them: python -m tests.browser.pictures studies"""

import contextlib
import io
import math
import re
import sys
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


CONTROL = jp.control.feedback_linearisation("crank", jp.sine(6.0, 0.75 * math.pi), k1=2000, k2=200)


def studies() -> None:
    """The pages of the two studies of docs/studies.md: the slider-crank of the tutorial with its fits, and a grid."""
    from playwright.sync_api import sync_playwright

    tutorial = (IMAGES.parent / "tutorial.md").read_text(encoding="utf-8")
    [slider] = re.findall(r"```yaml\n(name: my slider-crank.*?)```", tutorial, re.DOTALL)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as directory, contextlib.chdir(directory):
        jp.sweep(
            jp.loads(slider).with_({"motor.speed": "300 rpm"}), {"J2.fit": "20 H7/g6", "J3.fit": "20 H8/f7"},
            samples=1024, until=0.4, settled=0.2, stepper=jp.MoreauJean(1e-5),
            metrics=["shift[slider]", "peak_force[J3]"], store="slider.zarr",
        )  # fmt: skip
        jp.sweep(
            jp.library.crank_rocker_2016(friction=0.1).replace(control=CONTROL),
            {f"{joint}.clearance": jp.grid(0, "5 mm", 6) for joint in ("J2", "J3")},
            until=4.0, settled=2.0, stepper=jp.MoreauJean(2e-5),
            metrics=["error_max[crank]", "deviation"], store="rocker.zarr",
        )  # fmt: skip
        browser = playwright.chromium.launch(executable_path=report.chromium(), args=["--no-sandbox"])
        limits = {"slider": {"shift[slider]": 40e-6}, "rocker": {}}
        for name, (store, width, height) in {"page": ("slider", 1100, 1180), "grid": ("rocker", 1100, 960)}.items():
            file = report.write_study(f"{store}.zarr", f"{store}.html", limits[store])
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto(file.resolve().as_uri())
            until(page, "window.jointplay && window.jointplay.ready")
            if store == "rocker":
                page.locator("#figure .cell").nth(21).click()
            shrink(page.screenshot(), IMAGES / f"study_{name}.png")
        browser.close()


def film() -> None:
    """The crank-rocker of the demo, as README shows it: two periods of its reference."""
    loose = jp.library.crank_rocker_2016(3e-3, 3e-3, friction=0.1).replace(
        name="crank-rocker under control, 3 mm of play", control=CONTROL
    )
    run = jp.simulate(loose, 16 / 3, jp.MoreauJean(1e-5), every=1e-3)
    report.movie(run, IMAGES / "crank_rocker.gif", seconds=6.0, rate=12)


if __name__ == "__main__":
    drawn = {"film": film, "figures": figures, "stills": stills, "studies": studies}
    for name in sys.argv[1:] or drawn:
        drawn[name]()
