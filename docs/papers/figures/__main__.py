"""Draw the figures of docs/papers: `python docs/papers/figures [PAPER | PAPER_FIGURE ...]` writes them to docs/images.

Each public function of a paper's module here is the figure beside one statement of the paper's page.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

IMAGES = Path(__file__).resolve().parents[2] / "images"
PAPERS = ("akhadkar2016", "grigore", "wu2017", "coelho", "bai2026")


def known() -> Iterator[tuple[str, Callable[[], plt.Figure]]]:
    """Names and functions of all figures."""
    for paper in PAPERS:
        module = importlib.import_module(paper)
        for name, made in inspect.getmembers(module, inspect.isfunction):
            if made.__module__ == paper and not name.startswith("_"):
                yield f"{paper}_{name}", made


def main() -> None:
    """Draw those that are named, or all."""
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 10,
                         "legend.frameon": False, "legend.fontsize": 8})  # fmt: skip
    wanted = sys.argv[1:]
    figures = {name: made for name, made in known() if not wanted or any(name.startswith(w) for w in wanted)}
    if not figures:
        raise SystemExit(f"no figure begins with {' or '.join(wanted)}; choose among {', '.join(PAPERS)}")
    for name, made in figures.items():
        figure = made()
        figure.tight_layout()
        target = IMAGES / f"paper_{name}.png"
        figure.savefig(target, dpi=110, pil_kwargs={"optimize": True})
        plt.close(figure)
        print(f"{target.name}: {target.stat().st_size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main()
