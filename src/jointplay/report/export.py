"""The page as PDF, and the mechanism as a film."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import results
from ..model.mechanism import Mechanism
from ..plots.places import Places
from ..plots.style import COLOURS, IDEAL, heading

if TYPE_CHECKING:
    import xarray

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
FILMS = {".gif": "pillow", ".mp4": "ffmpeg"}


def chromium() -> str | None:
    """The Chromium on this machine, if there is one; JOINTPLAY_CHROMIUM names another."""
    named = os.environ.get("JOINTPLAY_CHROMIUM")
    return named or next((found for name in BROWSERS if (found := shutil.which(name))), None)


def pdf(
    page: str | os.PathLike[str],
    target: str | os.PathLike[str],
    at: float | None = None,
    browser: str | None = None,
    timeout: float = 60.0,
) -> Path:
    """Print a page that `write` wrote: it stands at the time `at` (s; by default after 40 % of the run)."""
    found, source, made = browser or chromium(), Path(page).resolve(), Path(target).resolve()
    if found is None:
        raise RuntimeError("no Chromium was found to print with; install one (Debian: apt-get install chromium)")
    if not source.is_file():
        raise ValueError(f"{page}: no such file")
    with tempfile.TemporaryDirectory() as directory:
        printed = Path(directory) / "page.pdf"
        command = [found, "--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]
        command += [f"--user-data-dir={directory}/profile", "--window-size=730,700", "--force-device-scale-factor=2"]
        command += ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # refuses root otherwise
        command += ["--virtual-time-budget=3000", "--no-pdf-header-footer", f"--print-to-pdf={printed}"]
        command += [source.as_uri() + ("#t=40%25" if at is None else f"#t={at:.9g}")]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"{found} did not print the page within {timeout:g} s") from None
        if not printed.is_file():
            raise RuntimeError(f"{found} could not print the page: {done.stderr.strip()[-300:]}")
        temporary = made.with_name(f".{made.name}.{os.getpid()}.tmp")
        shutil.copyfile(printed, temporary)
        os.replace(temporary, made)
    return made


def movie(
    run: xarray.Dataset | str | os.PathLike[str],
    target: str | os.PathLike[str],
    seconds: float = 6.0,
    rate: int = 15,
    twin: xarray.Dataset | None = None,
    mechanism: Mechanism | None = None,
) -> Path:
    """The mechanism as a film of so many seconds and frames per second: .gif, or .mp4 where ffmpeg is installed."""
    from matplotlib import animation
    from matplotlib.figure import Figure

    path = Path(target)
    if path.suffix not in FILMS:
        raise ValueError(f"{path}: the suffix must be .gif or .mp4, got {path.suffix!r}")
    writer = FILMS[path.suffix]
    if not animation.writers.is_available(writer):
        raise RuntimeError(f"{path.suffix} films need {writer}, which is not installed")
    found = run if not isinstance(run, str | os.PathLike) else results.load(run)
    count = max(2, round(seconds * rate))
    index = np.unique(np.linspace(0, found.sizes["time"] - 1, count).astype(int))
    figure = Figure(figsize=(5.2, 4.0), layout="constrained")
    ax = figure.add_subplot()
    drawn = _outlines(found, mechanism)
    behind = _outlines(twin.interp(time=found.time), mechanism) if twin is not None else {}
    made: list[tuple[Any, np.ndarray]] = []
    for outline in behind.values():
        made.append((ax.plot([], [], "--", color=IDEAL, linewidth=1.2)[0], outline))
    for i, (name, outline) in enumerate(drawn.items()):
        line = ax.plot([], [], "o-", color=COLOURS[i % len(COLOURS)], linewidth=3, markersize=5, label=name)[0]
        made.append((line, outline))
    every = np.concatenate([outline.ravel() for outline in drawn.values()])
    low, high = (every.real.min(), every.imag.min()), (every.real.max(), every.imag.max())
    pad = 0.08 * max(high[0] - low[0], high[1] - low[1])
    ax.set(xlim=(low[0] - pad, high[0] + pad), ylim=(low[1] - pad, high[1] + pad), aspect="equal")
    ax.set(xlabel="x (m)", ylabel="y (m)")
    ax.legend(loc="upper right", fontsize=7, frameon=False)
    clock = ax.set_title("t = 0.000 s", loc="right", fontsize=9)
    heading(figure, found)

    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # laid out once, not in every frame

    def frame(i: int) -> list[Any]:
        for line, outline in made:
            line.set_data(outline[:, i].real, outline[:, i].imag)
        clock.set_text(f"t = {float(found.time[i]):.3f} s")
        return [line for line, _ in made]

    film = animation.FuncAnimation(figure, frame, list(index), blit=False)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.tmp{path.suffix}")
    try:
        film.save(str(temporary), writer=writer, fps=rate, dpi=90)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def _outlines(run: xarray.Dataset, mechanism: Mechanism | None) -> dict[str, np.ndarray]:
    """Of each body its points over time: (point, time)."""
    places = Places(run, mechanism)
    found = {}
    for name, body in places.mechanism.bodies.items():
        points = [point for point in body.all_points() if point != "centre"] or ["centre"]
        found[name] = np.array([places.point(f"{name}.{point}") for point in points])
    return found
