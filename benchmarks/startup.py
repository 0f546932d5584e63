"""How long a user waits before the first step: `python benchmarks/run.py --only start_up demo_start_up`.

Every time is that of a new process, which may write bytecode and finds the cache of machine code empty (cold)
or filled by the process before it (cached).  The best of several counts.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROUNDS = 3
SPAN = 0.01  # s simulated: progress is told after the first chunk of steps, which these are
COLD, CACHED, DEMO = 1.0, 0.5, 0.42  # s, the bars

# time.perf_counter is the same clock in every process of a Linux machine
TOLD = """
import sys, time

def told(t):
    now = time.perf_counter()
    late = {"xarray", "pandas", "scipy", "matplotlib", "h5netcdf", "h5py", "rich"} & set(sys.modules)
    print(now, *sorted(late))
    raise SystemExit  # the rest of the run is not what is measured
"""
FIRST_STEP = f"""{TOLD}
import jointplay as jp

jp.simulate(jp.library.NAME(), until=SPAN, progress=told)
"""


def start_up() -> dict[str, float | None]:
    """Seconds from start to the first step of the demo, from the cache (wall); to import jointplay (CPU)."""
    demo = (HERE.parent / "examples" / "01_bouncing_journal.py").read_text(encoding="utf-8")
    text, found, _ = demo.partition("run.advance(")
    if not found:
        raise SystemExit("start_up: the engine's example no longer calls run.advance(...)")
    first_step = text + "assert run.advance(1) == 1"
    imported = "import jointplay, time; print(time.process_time())"

    def wall() -> float:
        begin = time.perf_counter()
        output([sys.executable, "-c", first_step])
        return time.perf_counter() - begin

    with empty_cache():
        wall()  # fills the cache and writes the bytecode
        return {
            "process_start_to_first_step_s": min(wall() for _ in range(5)),
            "import_jointplay_cpu_s": min(float(output([sys.executable, "-c", imported])) for _ in range(5)),
        }


def demo_start_up() -> dict[str, float | None]:
    """Seconds from process start to the first steps of `make demo`, from the cache (wall)."""
    demo = (HERE.parent / "examples" / "02_crank_rocker.py").read_text(encoding="utf-8")
    text, found, _ = demo.partition("run, twin =")
    if not found:
        raise SystemExit("demo_start_up: the example no longer says run, twin = ...")
    code = f"{text}\n{TOLD}\njp.simulate(loose, until={SPAN}, stepper=stepper, progress=told)"

    def first_step() -> float:
        begin = time.perf_counter()
        return float(output([sys.executable, "-c", code]).split()[0]) - begin

    with empty_cache():
        first_step()  # fills the cache
        return {"demo_first_step_s": min(first_step() for _ in range(5))}


def library_start_up() -> dict[str, float | None]:
    """Seconds from process start to the first computed steps of the slowest mechanism of the library (wall)."""
    from jointplay.model.library import MECHANISMS

    cold: dict[str, float] = {}
    cached: dict[str, float] = {}
    early: set[str] = set()

    def first_step(name: str) -> float:
        code = FIRST_STEP.replace("NAME", name).replace("SPAN", repr(SPAN))
        begin = time.perf_counter()
        now, *loaded = output([sys.executable, "-c", code]).split()
        early.update(loaded)
        return float(now) - begin

    print(f"{'process start to first step, s':<34}{'cold':>8}{'cached':>8}")
    for name in MECHANISMS:
        seen = []
        for _ in range(ROUNDS):
            with empty_cache():
                seen.append((first_step(name), min(first_step(name) for _ in range(2))))
        cold[name], cached[name] = (min(times) for times in zip(*seen, strict=True))
        missed = " missed" if cold[name] > COLD or cached[name] > CACHED else ""
        print(f"{name:<34}{cold[name]:8.2f}{cached[name]:8.2f}{missed}", flush=True)
    print(f"loaded before the first step, needed only after it: {', '.join(sorted(early)) or 'nothing'}\n")
    return {"startup_cold_s": max(cold.values()), "startup_cached_s": max(cached.values())}


def output(command: list[str]) -> str:
    """What a command prints, run as a user would: free to write bytecode, not forced to be eager."""
    unwanted = ("PYTHONDONTWRITEBYTECODE", "JOINTPLAY_EAGER")
    environment = {key: value for key, value in os.environ.items() if key not in unwanted}
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


@contextlib.contextmanager
def empty_cache() -> Iterator[None]:
    """An empty folder for machine code, for this process and those it starts."""
    before = os.environ.get("JOINTPLAY_CACHE_DIR")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["JOINTPLAY_CACHE_DIR"] = folder
        try:
            yield
        finally:
            del os.environ["JOINTPLAY_CACHE_DIR"]
            if before is not None:
                os.environ["JOINTPLAY_CACHE_DIR"] = before
