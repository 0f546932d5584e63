"""Draw the pictures of docs/figures.md again: python -m tests.browser.pictures"""

import io
from pathlib import Path

from tests.test_plots import FIGURES

IMAGES = Path(__file__).resolve().parent.parent.parent / "docs" / "images"
COLOURS = 160  # in a picture, which keeps it small
DPI = 110


def shrink(data: bytes, target: Path, width: int | None = None) -> None:
    """Write a PNG with few colours, no wider than this."""
    from PIL import Image

    image = Image.open(io.BytesIO(data)).convert("RGB")
    if width is not None and image.width > width:
        image = image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)
    image.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(target, optimize=True)


def main() -> None:
    """Draw every figure of the tests."""
    for name, draw in FIGURES.items():
        file = io.BytesIO()
        draw().savefig(file, dpi=DPI, format="png")
        shrink(file.getvalue(), IMAGES / f"fig_{name}.png")


if __name__ == "__main__":
    main()
