"""A verdict as one HTML page: the evidence, the figures, and why single indicators are not to be trusted."""

from __future__ import annotations

import base64
import contextlib
import html as markup
import io
import os
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ..analysis.evidence import CHAOTIC, Verdict, number
from ..plots import analysis as figures
from ..plots.style import WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DENSITY = 130  # dots per inch
MOST = 20_000  # samples that a figure shows
WHY = """In a periodic motion two passages differ only by noise, by the error of the integration, or by where between
two samples an impact fell. The method looks for the nearest of all passages, so the distance begins exceptionally
small, and returns to the usual one within a part of a period; an impact on the way turns a small difference in time
into one as large as the spike. The mean logarithm rises, and a straight line through the rise has a positive slope,
though nothing diverges: the curve ends on a plateau, far below the distance of any two points of the motion. The slope
tells how finely the motion was sampled and how exactly it repeats: the more exactly, the larger it is. Surrogates
without any law have such a slope too, often a larger one, and so has the same mechanism with ideal joints. The sign of
an exponent has to come from two trajectories of the model."""
STYLE = """
main > section { margin-top: 4px; }
.figures { display: grid; gap: 12px; align-items: start;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 560px), 1fr)); }
.figures figure { margin: 0; padding: 10px; }
.figures img { background: #fff; border-radius: 6px; max-width: 100%; height: auto; display: block; margin: auto; }
.figures figcaption { display: block; }
#verdict { font-size: 20px; font-weight: 600; padding: 12px 16px; margin: 0 0 10px; }
#evidence th, #evidence td { width: auto; }
td.number { white-space: nowrap; }
.wide { overflow-x: auto; }
@media (min-width: 701px) { .figures img { width: var(--share); } }
@media (max-width: 700px) {
  #evidence tr { display: grid; grid-template-columns: minmax(0, 1fr) auto auto; }
  #evidence th { display: none; }
  #evidence td:last-child { grid-column: 1 / -1; padding-top: 0; color: var(--soft); }
  #evidence td:not(:last-child) { border-bottom: 0; }
}
body { padding-bottom: 30px; }
"""


def html(found: Verdict, command: str = "") -> str:
    """The page of a verdict as text: one file, which asks nothing of the network."""
    style = (files(__package__) / "page.css").read_text(encoding="utf-8")
    [dark] = re.findall(r':root\[data-theme="dark"\] (\{[^}]*\})', style)  # which other pages ask for by a script
    style += f"@media (prefers-color-scheme: dark) {{ :root {dark} }}\n{STYLE}"
    shown = [
        f'<figure class="card"><img style="--share: {share(figure)}" alt="{markup.escape(text)}" '
        f'src="data:image/png;base64,{picture(figure)}">'
        f"<figcaption>{markup.escape(text)}</figcaption></figure>"
        for text, figure in pictures(found)
    ]
    title = markup.escape(f"{found.title}: {found.verdict}" if found.title else found.verdict)
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    parts = [
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="generator" content="jointplay">',
        f"<style>{style}</style>\n</head>\n<body>\n<header><div><h1>{markup.escape(found.title or 'Motion')}</h1>",
        f'<p id="summary">{markup.escape(covered(found))}</p></div></header>\n<main>',
        f'<p id="verdict" class="card">{markup.escape(found.headline())}</p>',
        f"<p><strong>{'How sure' if found.settle.startswith('settled') else 'What would settle it'}:</strong> "
        f"{markup.escape(found.settle)}</p>",
        f'<section><h2>Evidence</h2><div class="card wide">{table(found)}</div></section>',
        f'<section><h2>Figures</h2><div class="figures">{"".join(shown)}</div></section>',
        "<section><h2>Why a positive slope of Rosenstein's curve is no chaos</h2>",
        f"<p>{markup.escape(WHY)}</p></section>",
        f"<section><h2>Provenance</h2><p>{markup.escape(command)}<br>page by jointplay {__version__}</p></section>",
        "</main>\n</body>\n</html>\n",
    ]
    return "\n".join(parts)


def covered(found: Verdict) -> str:
    """How much of the motion was seen."""
    return "" if found.periods_covered is None else f"{found.periods_covered:.4g} periods covered"


def table(found: Verdict) -> str:
    """The indicators as rows, those that decide first."""
    rows = ["<tr><th>indicator</th><th>value</th><th>error</th><th>what it says</th></tr>"]
    beside = [one for one in found.evidence if not one.decides]
    for one in [one for one in found.evidence if one.decides] + beside:
        if beside and one is beside[0]:
            rows.append('<tr><th colspan="4">shown beside, decides nothing</th></tr>')
        value, error = ("" if number(x) is None else f"{x:.4g}" for x in (one.value, one.error))
        cells = f'<td class="number">{value}</td><td class="number">{error}</td><td>{markup.escape(one.says)}</td>'
        rows.append(f"<tr><td>{markup.escape(one.indicator)}</td>{cells}</tr>")
    return f'<table id="evidence"><tbody>{"".join(rows)}</tbody></table>'


def pictures(found: Verdict) -> Iterator[tuple[str, Figure]]:
    """What there is to draw, with captions."""
    details: Any = found.details
    series = details.get("series")
    if series is not None:
        skip = max(1, len(series.values) // MOST)
        time, values = series.time[::skip], series.values[::skip]
        yield "the signal over time", figures.signal(time, values, series.name, series.period)
        period = found.period or series.period
        if period is not None and period < 0.7 * series.length:
            yield "all periods upon each other", figures.folded(time, values, period, series.name)
    if "exponents" in details:
        yield "exponents from two trajectories, as they converge", figures.convergence(details["exponents"])
    if "spectrum" in details:
        yield "power spectral density", figures.power_spectrum(details["spectrum"])
    curves = {"series": details.get("divergence"), "ideal joints": details.get("twin")}
    known = {name: one for name, one in curves.items() if one is not None and np.isfinite(one.curve).any()}
    if known:
        yield "divergence of neighbours (Rosenstein); thick: what the slope is fitted to", figures.divergence(known)
    if "plane" in details:
        yield "phase plane", figures.phase_plane(*details["plane"])
    if "section" in details:
        points, names = details["section"]
        yield "once a drive period (Poincaré section)", figures.section(points, names)
        yield "return map of the section", figures.return_map(points[:, 0], names[0])
        if found.verdict == CHAOTIC:
            yield (
                "what is chaotic: how widely each number is spread",
                figures.spreads(details["spreads"]),
            )
    if series is not None and "embedding" in details:
        lag = max(1, details["embedding"].delay)
        near = details["near"]
        yield "the signal over itself, a delay before", figures.delayed(near.time, near.values, lag, series.name)


def share(figure: Figure) -> str:
    """How wide a figure is shown beside the widest, so that the letters of all have one size."""
    return f"{min(100, 100 * figure.get_figwidth() / WIDTH):.0f}%"


def picture(figure: Figure) -> str:
    """A figure as base64 of a PNG."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=DENSITY)
    return base64.b64encode(stream.getvalue()).decode("ascii")


def write(found: Verdict, target: str | os.PathLike[str], command: str = "") -> Path:
    """Write the page of a verdict, whole or not at all."""
    path = Path(target)
    text = html(found, command)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    return path
