"""``jointplay doctor``: what this installation stands on, and whether it computes rightly here."""

from __future__ import annotations

import argparse
import math
import os
import platform
import time
import warnings
from collections.abc import Iterator
from importlib import metadata

from jointplay import host
from jointplay._version import __version__

from .tables import columns

CORE = ("numpy", "scipy", "xarray", "h5netcdf", "h5py", "pydantic", "pyyaml", "llvmlite", "rich")
# What is missing without it, by the extra that brings it.
EXTRAS = {
    "plot": ("matplotlib", "figures"),
    "parquet": ("pyarrow", "results as .parquet"),
    "sweep": ("zarr", "studies kept in a store"),
    "dask": ("distributed", "studies on a cluster"),
}
FEATURES = ("fma", "avx2", "avx512f", "neon", "sve")
NEAR = 1e-6  # relative; both runs below are a hundred times nearer

# A pin that falls from the middle of its bearing, whose wall is rigid.
FALLING = """
name: falling pin
ground: {points: {O: [0, 0]}}
bodies: {pin: {mass: 1 kg, inertia: 1e-4 kg*m^2, points: {axis: [0, 0]}}}
joints: {J: {kind: revolute, between: [ground.O, pin.axis], clearance: 1 mm, journal_radius: 5 mm, contact: {kind: rigid, restitution: 0.5}}}
start: {journals: centred}
"""  # noqa: E501


def doctor(arguments: argparse.Namespace) -> int:
    """Print versions, processor, cache and self-test; 1 if something is wrong."""
    found = [*_versions(), *_machine(), *_cache()]
    print(columns(found), flush=True)
    tests = [*_self_test()]
    print(columns(tests))
    return int(any(said.startswith(("missing", "WRONG")) for _, said in [*found, *tests]))


def _versions() -> Iterator[tuple[str, str]]:
    yield "jointplay", __version__
    yield "Python", f"{platform.python_version()} ({platform.python_implementation()})"
    for name in CORE:
        yield name, _version(name) or f"missing, though jointplay needs it: pip install {name}"
    for extra, (name, purpose) in EXTRAS.items():
        yield name, _version(name) or f'not installed, so no {purpose}: pip install "jointplay[{extra}]"'


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _machine() -> Iterator[tuple[str, str]]:
    yield "system", f"{platform.system()} {platform.release()} {platform.machine()}{_untested()}"
    yield "cores", str(host.cores())
    try:
        from jointplay.engine.native import place

        rest, name, features = place().rsplit(" ", 2)
    except Exception as error:  # whatever a library that does not fit raises
        yield "processor", f"missing: LLVM cannot be asked ({error})"
        return
    known = [feature for feature in FEATURES if f"+{feature}" in features.split(",")]
    yield "processor", f"{name} with {', '.join(known) or 'none of ' + ', '.join(FEATURES)}"
    yield "LLVM", rest.partition(" ")[2]


def _untested() -> str:
    fine = platform.system() == "Linux" and platform.machine() == "x86_64"
    return "" if fine else " (not tested by us: please report what the self-test says)"


def _cache() -> Iterator[tuple[str, str]]:
    from jointplay import cache

    why, files = cache.refused(), cache.entries()
    used = f"{len(files)} files, limit {cache.limit() / 1e6:.0f} MB"
    yield "cache", f"{cache.directory() or 'none'} ({'not used: ' + why if why else used})"
    eager = os.environ.get("JOINTPLAY_EAGER")
    if eager:
        yield "JOINTPLAY_EAGER", f"{eager}: no machine code"


def _self_test() -> Iterator[tuple[str, str]]:
    """Machine code beside eager numbers, and two runs beside their closed forms."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            from jointplay.run import self_test

            good = self_test()
            reason = "".join(str(one.message) for one in said)
            yield "self-test: machine code", "equals eager numbers, bit by bit" if good else f"WRONG: {reason}"
            yield "self-test: pendulum", _judged(*_pendulum())
            yield "self-test: rigid impact", _judged(*_impact())
        except Exception as error:  # an installation may be broken in any way, and this command says how
            yield "self-test", f"WRONG: {type(error).__name__}: {error}"


def _judged(what: str, unit: str, ours: float, exact: float, seconds: float) -> str:
    off = abs(ours / exact - 1)
    text = f"{what} {ours:.9g} {unit}, closed form {exact:.9g} {unit}, relative error {off:.1e} ({seconds:.2f} s)"
    return text if off < NEAR else f"WRONG: {text}"


def _pendulum() -> tuple[str, str, float, float, float]:
    """A bar of 1 m that is let go horizontally: its rate below, from the energy, is sqrt(3 g / l)."""
    from jointplay.model import library
    from jointplay.simulation import simulate

    begun = time.perf_counter()
    bar = library.MECHANISMS["pendulum"]()
    swung = simulate(bar.replace(start={"bar1": 0.0}), until=1.0, every=1e-3)
    angle, rate = swung.angle.values[:, 0] + math.pi / 2, swung.angle_rate.values[:, 0]
    # the rate at any sample: energy with the height that the bar has lost
    k = int(abs(angle).argmin())
    length, gravity = bar.value("bar1.length"), -bar.value("gravity.y")
    exact = math.sqrt(3 * gravity / length * math.cos(angle[k]))
    return "fastest rate", "rad/s", abs(float(rate[k])), exact, time.perf_counter() - begun


def _impact() -> tuple[str, str, float, float, float]:
    """A pin that falls by its clearance c arrives with sqrt(2 g c)."""
    from jointplay.model import loads
    from jointplay.simulation import simulate

    begun = time.perf_counter()
    fell = simulate(loads(FALLING), until=0.02)
    approach = float(fell.impact_approach.values[0])
    return "approach speed", "m/s", approach, math.sqrt(2 * 9.81 * 1e-3), time.perf_counter() - begun
