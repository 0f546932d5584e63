"""The page as PDF, and the mechanism as a film."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import results, writing
from ..errors import InputError
from ..model.mechanism import Mechanism
from ..plots.places import Places, Play
from ..plots.style import COLOURS, IDEAL, heading

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
FILMS = {".gif": "pillow", ".mp4": "ffmpeg"}
JOURNAL = 0.4  # of the bearing's radius: how far the journal of a film may go
TRAIL = 120  # samples that its path shows


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
    found, source, made = browser or chromium(), Path(page).resolve(), Path(target)
    if found is None:
        raise RuntimeError("no Chromium was found to print with; install one (Debian: apt-get install chromium)")
    if not source.is_file():
        raise InputError(f"{page}: no such file")
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
        writing.write(made, printed.read_bytes())
    return made


def movie(
    run: xarray.Dataset | str | os.PathLike[str],
    target: str | os.PathLike[str],
    seconds: float = 6.0,
    rate: int = 15,
    twin: xarray.Dataset | str | os.PathLike[str] | None = None,
    mechanism: Mechanism | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """The mechanism, and beside it up to two loose pins in their bearings, as a film of so many seconds and frames per
    second: .gif, or .mp4 where ffmpeg is installed.  progress: is told how many frames of how many are drawn.
    """
    from matplotlib import animation

    path = Path(target)
    writer = FILMS.get(path.suffix.lower())
    if writer is None:
        raise InputError(f"{path}: the suffix must be .gif or .mp4, got {path.suffix!r}")
    if not animation.writers.is_available(writer):
        remedy = "install it (Debian: apt-get install ffmpeg), or make a .gif" if writer == "ffmpeg" else "install it"
        raise RuntimeError(f"{path}: {path.suffix} films need {writer}, which is not installed; {remedy}")
    found = run if not isinstance(run, str | os.PathLike) else results.load(run)
    ideal = results.load(twin) if isinstance(twin, str | os.PathLike) else twin
    if not found.sizes.get("time"):
        raise InputError("this result holds no samples, so there is nothing to show")
    index = np.unique(np.linspace(0, found.sizes["time"] - 1, max(2, round(seconds * rate))).astype(int))
    figure, frame = _scene(found, ideal, mechanism)
    film = animation.FuncAnimation(figure, frame, list(index), blit=False)
    with tempfile.TemporaryDirectory() as directory:
        made = Path(directory) / f"film{path.suffix.lower()}"
        told = progress and (lambda i, count: progress(i + 1, count))
        film.save(str(made), writer=writer, fps=rate, dpi=90, progress_callback=told)
        writing.write(path, made.read_bytes())
    return path


def _scene(
    run: xarray.Dataset, twin: xarray.Dataset | None, mechanism: Mechanism | None
) -> tuple[Figure, Callable[[int], list[Any]]]:
    """The figure of a film, and the function that moves it to a sample."""
    from matplotlib.figure import Figure

    places = Places(run, mechanism)
    loose = [play for play in places.loose().values() if play.shape == "round"][:2]
    figure = Figure(figsize=(7.2 if loose else 5.2, 4.0), layout="constrained")
    grid = figure.add_gridspec(max(1, len(loose)), 2 if loose else 1, width_ratios=(2.3, 1) if loose else None)
    ax = figure.add_subplot(grid[:, 0])
    drawn = _outlines(places)
    made: list[tuple[Any, np.ndarray]] = []
    for outline in _outlines(Places(twin.interp(time=run.time), mechanism)).values() if twin is not None else ():
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
    pins = [_pin(figure.add_subplot(grid[i, 1]), play, list(drawn)) for i, play in enumerate(loose)]
    heading(figure, run)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # laid out once, not in every frame

    def frame(i: int) -> list[Any]:
        for line, outline in made:
            line.set_data(outline[:, i].real, outline[:, i].imag)
        for (disc, centre, trail), play in zip(pins, loose, strict=True):
            path = JOURNAL * (play.offset * play.turn)[max(0, i - TRAIL) : i + 1] / play.clearance
            disc.center = path[-1].real, path[-1].imag
            centre.set_data(path[-1:].real, path[-1:].imag)
            trail.set_data(path.real, path.imag)
        clock.set_text(f"t = {float(run.time[i]):.3f} s")
        return [line for line, _ in made]

    return figure, frame


def _pin(ax: Axes, play: Play, bodies: list[str]) -> tuple[Any, Any, Any]:
    """A journal in its bearing, of radius 1 and with its play far larger than it is; the parts that move."""
    from matplotlib.patches import Circle

    def colour(body: str) -> str:
        return COLOURS[bodies.index(body) % len(COLOURS)] if body in bodies else IDEAL

    ax.add_patch(Circle((0, 0), 1.12, facecolor=colour(play.outer), alpha=0.35, linewidth=0))
    ax.add_patch(Circle((0, 0), 1, facecolor="white", edgecolor=colour(play.outer), linewidth=1.2))
    disc = Circle((0, 0), 1 - JOURNAL, facecolor=colour(play.inner), edgecolor=colour(play.inner), alpha=0.45)
    ax.add_patch(disc)
    [trail] = ax.plot([], [], color="#555555", linewidth=0.7)
    [centre] = ax.plot([], [], ".", color="black", markersize=5)
    ax.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), aspect="equal")
    ax.set_axis_off()
    ax.set_title(f"{play.name}, play enlarged", fontsize=8)
    return disc, centre, trail


def _outlines(places: Places) -> dict[str, np.ndarray]:
    """Of each body its points over time: (point, time)."""
    found = {}
    for name, body in places.mechanism.bodies.items():
        points = [point for point in body.all_points() if point != "centre"] or ["centre"]
        found[name] = np.array([places.point(f"{name}.{point}") for point in points])
    return found
