"""Nonlinear analysis with an honest verdict: periodic, quasi-periodic, chaotic or inconclusive (docs/analysis.md).

things      Map, Scheme, Flow; Strobe, Section: each is a thing that steps, as a Simulation is; textbook (known systems)
exponents   exponent (two trajectories), exponents (tangent vectors, all of them), sweep (over tolerance and separation)
sections    points, repeat (period k), return_map, crossings
orbits      periodic_orbit (shooting, Floquet multipliers); bifurcation, diagram (of a mechanism), basins
series      Series, read (CSV), from_run; spectrum, rosenstein, embedding, zero_one, iaaft, surrogate_test
verdict     verdict, Verdict, Evidence
"""

from importlib import import_module
from typing import Any

_ROOMS = {
    ".things": "Thing Map Scheme Flow",
    ".sections": "Strobe Section Repeat points repeat return_map crossings",
    ".lyapunov": "Exponent Sweep Tangents exponent exponents sweep",
    ".orbits": "Orbit periodic_orbit",
    ".diagrams": "bifurcation basins",
    ".mechanism_diagrams": "diagram",
    ".series": "Series read from_run",
    ".spectra": "spectrum",
    ".neighbours": "Embedding Divergence embedding rosenstein",
    ".surrogates": "iaaft surrogate_test zero_one",
    ".evidence": "Evidence Verdict",
    ".judge": "verdict",
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names.split()}
__all__ = [*sorted(_HOME), "textbook"]


def __getattr__(name: str) -> Any:
    if name == "textbook":
        return import_module(".textbook", __name__)
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
