"""Dynamics and control of planar mechanisms whose joints have play.

describe    Mechanism, couple, Body, bar; Rigid, Compliant, Following; model (joints, drives, forces), library
motions     constant_speed, sine, polynomial, cycloidal, table, total
files       load, loads, save, dumps, schema
look        System (the equations), check, kinematics, inverse_dynamics, equilibria, null_space, reduced
run         simulate, Simulation, compare; RungeKutta, FixedRungeKutta, MoreauJean; Outcome, SimulationFailed
extend      Stepper, Step (a stepper of one's own: docs/extending.md)
study       sweep over grid, uniform, normal, fit with samples; studies (stores, indices, rankings, replay)
control     control (controllers, sensors, actuators), linearise, references (of joints, from a tip's)
balancing   balancing (shaking forces, tests of balance, conditions, designs, trade-offs)
results     results (Datasets and their files), plots (figures), report (a page that moves)
analysis    verdict, analysis (exponents, sections, orbits, spectra, diagrams)
below       engine (from Python text to machine code)

Names are resolved on first use, so that ``import jointplay`` stays cheap and loads no numerical library.
"""

from importlib import import_module
from typing import Any

from jointplay._version import __version__ as __version__

_ROOMS = {
    "jointplay.model": "control library load loads save dumps schema Mechanism couple Body bar Rigid Compliant "
    "Following constant_speed sine polynomial cycloidal table total",
    "jointplay.system": "System",
    "jointplay.statics": "check kinematics inverse_dynamics equilibria linearise references null_space reduced",
    "jointplay.comparison": "compare",
    "jointplay.analysis": "verdict",
    "jointplay.simulation": "simulate Simulation Stepper Step RungeKutta FixedRungeKutta MoreauJean Outcome "
    "SimulationFailed",
    "jointplay.studies": "sweep grid uniform normal fit samples",
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names.split()}
_MODULES = ("analysis", "balancing", "engine", "model", "plots", "report", "results", "studies")
__all__ = ["__version__", *sorted((*_HOME, *_MODULES))]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
