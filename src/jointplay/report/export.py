"""The page as PDF, and the mechanism as a film."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .. import host, results, writing
from ..errors import InputError
from ..model.mechanism import Mechanism
from .film import frames_of

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
    found, source, made = browser or chromium(), Path(page).resolve(), Path(target)
    if found is None:
        raise RuntimeError("no Chromium was found to print with; install one (Debian: apt-get install chromium)")
    if not source.is_file():
        raise InputError(f"{page}: no such file")
    with tempfile.TemporaryDirectory() as directory:
        printed = Path(directory) / "page.pdf"
        command = [found, "--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]
        command += [f"--user-data-dir={directory}/profile", "--window-size=730,700", "--force-device-scale-factor=2"]
        command += ["--no-sandbox"] if host.is_root() else []  # refuses root otherwise
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
    figure, frame = frames_of(found, ideal, mechanism)
    film = animation.FuncAnimation(figure, frame, list(index), blit=False)
    with tempfile.TemporaryDirectory() as directory:
        made = Path(directory) / f"film{path.suffix.lower()}"
        told = progress and (lambda i, count: progress(i + 1, count))
        film.save(str(made), writer=writer, fps=rate, dpi=100, progress_callback=told)
        writing.write(path, made.read_bytes())
    return path
