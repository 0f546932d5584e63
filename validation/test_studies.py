"""Studies that are killed, spread over machines, and large; Sobol indices against closed forms."""

import math
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import jointplay as jp
from jointplay import studies
from tests.studies.functions import ishigami, slow
from tests.studies.test_sweep import LOOSE, UNIT, same

pytestmark = pytest.mark.timeout(1200)
ROOT = Path(__file__).resolve().parent.parent
KILLS = 20
RUNS = 3000


@pytest.fixture(scope="module")
def undisturbed():
    """The table of a study that nobody disturbs."""
    return jp.sweep(slow, UNIT, samples=RUNS, executor=2)


def children(pid):
    """The processes that a process has started, and those that they have."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(x) for x in found] + [y for x in found for y in children(x)]


CODE = """
import sys
import jointplay as jp
import jointplay.studies.beginning as beginning
from jointplay.studies.work import Job
from tests.studies.functions import slow

if __name__ == "__main__":
    beginning.batch_size = lambda *a: 25
    over = {"x": jp.uniform(0, 1), "y": jp.uniform(0, 1)}
    jp.sweep(slow, over, samples=int(sys.argv[2]), store=sys.argv[1], executor=2)
"""


def test_a_parent_killed_at_random_moments(tmp_path, undisturbed, record):
    """The study goes on after each kill, computes what is missing and ends with the same bits."""
    path, chance = tmp_path / "study.zarr", random.Random(7)
    script = tmp_path / "study.py"
    script.write_text(CODE)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    kills, known, workers = 0, [], set()
    while kills < KILLS:
        before = len(list(path.glob("status/c/*")))
        child = subprocess.Popen([sys.executable, script, path, str(RUNS)], env=environment)
        begun, patience = time.monotonic(), 15.0 if kills % 4 else chance.uniform(0.5, 3.0)
        while child.poll() is None and time.monotonic() - begun < patience:
            if len(list(path.glob("status/c/*"))) > before:
                break  # it has written something; otherwise it is killed while it imports or begins
            time.sleep(0.005)
        time.sleep(chance.uniform(0.0, 0.2))
        assert child.poll() is None, "the study was whole before all kills; make it longer"
        workers |= set(children(child.pid))
        child.send_signal(signal.SIGKILL)
        child.wait()
        kills += 1
        known += [studies.state(path)["done"]] if path.exists() else []
    table = jp.sweep(slow, UNIT, samples=RUNS, store=path, executor=2)
    orphans = [pid for pid in workers if not zombie(pid)]
    agrees = same(table, undisturbed) and known == sorted(known) and not orphans
    said = f"runs known after {kills} kills -9 of the parent, of {RUNS}; none lost, the table the same to the last bit"
    verdict = "agrees" if agrees else "differs"
    record(item="study killed", quantity=said, unit="runs", ours=float(known[-1]), reference=RUNS, verdict=verdict)
    assert agrees, (known, orphans)


def zombie(pid):
    """Whether a process has ended and waits to be collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_workers_killed_at_random_moments(tmp_path, undisturbed, record, monkeypatch):
    """Workers that die are replaced, and their batches computed again."""
    monkeypatch.setattr("jointplay.studies.beginning.batch_size", lambda *a: 25)
    chance, kills, moved, over = random.Random(3), [], threading.Event(), threading.Event()

    def killer():
        while not over.is_set() and len(kills) < KILLS:
            if not moved.wait(0.1):  # a batch is done, so that workers are at work
                continue
            time.sleep(chance.uniform(0.0, 0.3))
            own = [pid for pid in children(os.getpid()) if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
            if own:
                kills.append(chance.choice(own))
                os.kill(kills[-1], signal.SIGKILL)
                time.sleep(0.2)
            moved.clear()

    thread = threading.Thread(target=killer)
    thread.start()
    options = {"store": tmp_path / "study.zarr", "executor": 2, "progress": lambda progress: moved.set()}
    try:
        count = RUNS
        table = jp.sweep(slow, UNIT, samples=count, **options)
        while len(kills) < KILLS and count < 20 * RUNS:
            count += RUNS
            table = jp.sweep(slow, UNIT, samples=count, **options)
    finally:
        over.set()
        thread.join()
    agrees = same(table.isel(run=slice(RUNS)), undisturbed) and (table.status == 1).all()
    said, verdict = f"runs done in spite of {len(kills)} kills -9 of workers", "agrees" if agrees else "differs"
    ours = float((table.status == 1).sum())
    record(item="study killed", quantity=said, unit="runs", ours=ours, reference=float(count), verdict=verdict)
    assert agrees and len(kills) >= KILLS


def mechanism(**how):
    """A study of a mechanism whose runs have two structures."""
    over = {"J2.clearance": [0, 1e-3, 2e-3], "J2.friction": [0.0, 0.1], "crank.mass": [1.0, 2.0]}
    metrics = ["final(angle[rocker])", "peak_force", "deviation[rocker]", "impacts"]
    return jp.sweep(LOOSE, over, until=0.05, stepper=jp.MoreauJean(5e-5), metrics=metrics, **how)


def test_dask_processes_and_shards_give_the_same_table(tmp_path, undisturbed, record):
    """In processes, on a Dask cluster of two, one of which is killed on the way, and as four shards."""
    from distributed import Client, LocalCluster

    found, mechanisms = {}, {}
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        mechanisms["mechanism on processes"] = mechanism(executor=pool)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        found["Dask"] = jp.sweep(slow, UNIT, samples=RUNS, executor=client)
        mechanisms["mechanism on Dask"] = mechanism(executor=client)
        pids = client.run(os.getpid)
        timer = threading.Timer(1.5, os.kill, (next(iter(pids.values())), signal.SIGKILL))
        timer.start()
        found["Dask, a worker killed"] = jp.sweep(slow, UNIT, samples=RUNS, executor=client)
        timer.join()
    for i in range(1, 5):
        jp.sweep(slow, UNIT, samples=RUNS, store=tmp_path / "study.zarr", shard=(i, 4), executor=2)
        mechanism(store=tmp_path / "mechanism.zarr", shard=(i, 4))
    found["four shards"] = studies.collect(tmp_path / "study.zarr")
    mechanisms["mechanism as four shards"] = studies.collect(tmp_path / "mechanism.zarr")
    tables = {name: (table, undisturbed) for name, table in found.items()}
    tables |= {name: (table, mechanism()) for name, table in mechanisms.items()}
    for name, (table, expected) in tables.items():
        agrees = same(table, expected)
        record(item="executors", quantity=f"numbers that differ: {name}", unit="", ours=0.0 if agrees else 1.0,
               reference=0.0, verdict="agrees" if agrees else "differs")  # fmt: skip
        assert agrees, name


def test_sobol_indices_of_ishigamis_function(record):
    """Closed forms: V1 = (1 + b pi^4/5)^2/2, V2 = a^2/8, V13 = 8 b^2 pi^8/225."""
    a, b = 7.0, 0.1
    own = np.array([0.5 * (1 + b * math.pi**4 / 5) ** 2, a**2 / 8, 0.0])
    with_third = 8 * b**2 * math.pi**8 / 225
    variance = own.sum() + with_third
    first, total = own / variance, (own + [with_third, 0, with_third]) / variance
    over = {name: jp.uniform(-math.pi, math.pi) for name in "abc"}
    table = jp.sweep(ishigami, over, samples=jp.samples(2**14, "saltelli"))
    found = studies.indices(table, "value")
    for kind, exact in (("first", first), ("total", total)):
        for name, ours, reference in zip("abc", found[kind].values, exact, strict=True):
            agrees = abs(ours - reference) < 0.02
            record(item="Ishigami", quantity=f"{kind} index of {name}, n = 2^14", unit="", ours=float(ours),
                   reference=float(reference), verdict="agrees" if agrees else "differs")  # fmt: skip
            assert agrees
        assert (np.abs(found[kind].values - exact) < 4 * found[f"{kind}_error"].values + 1e-3).all()


def test_many_tiny_runs_cost_little(tmp_path, record):
    """Overhead per run, its growth, and memory."""
    spent, sizes = {}, {}
    for count in (1000, 10_000, 100_000):
        began = time.process_time()
        jp.sweep(ishigami, {name: jp.uniform(-3, 3) for name in "abc"}, samples=count, store=tmp_path / f"{count}.zarr")
        spent[count] = (time.process_time() - began) / count
        sizes[count] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    agrees = spent[100_000] < 2e-4 and spent[100_000] < 2 * spent[10_000]
    ours, verdict = 1e3 * spent[100_000], "agrees" if agrees else "differs"
    said = "processor time per run, store and all"
    record(item="100,000 tiny runs", quantity=said, unit="ms", ours=ours, reference="below 0.2", verdict=verdict)
    assert agrees, spent
    assert sizes[100_000] - sizes[10_000] < 120, sizes  # MB: the table itself is 4 MB


def test_monte_carlo_of_a_slider_crank(tmp_path, record):
    """2,000 machines with H7/g6 in two joints: distribution, share beyond a limit, ranking; in the end a check of the
    ranking by runs whose axis is halved."""
    slider = jp.load(ROOT / "examples" / "slider_crank.yaml").with_({"motor.speed": "300 rpm"})
    asked = {
        "until": 0.3,
        "stepper": jp.MoreauJean(2e-5),
        "settled": 0.1,
        "metrics": ["shift[slider]", "peak_force[J3]"],
    }
    over = {"J2.fit": "20 H7/g6", "J3.fit": "20 H7/g6"}
    table = jp.sweep(slider, over, samples=2000, store=tmp_path / "study.zarr", **asked)
    assert (table.status == 1).all()
    total = (table["J2.clearance"] + table["J3.clearance"]).values
    shift = table["shift[slider]"].values
    # with both journals on the wall along the rod the slider is off by their sum over the cosine of the rod's angle,
    # whose sine is at most crank/rod = 1/3
    bound, ratio = 1 / math.sqrt(1 - (0.1 / 0.3) ** 2), float((shift / total).max())
    agrees = abs(ratio - bound) < 1e-3 and float((shift / total).min()) > 0.5
    said = "largest shift of the slider by the sum of both clearances, 2,000 machines"
    verdict = "agrees" if agrees else "differs"
    record(item="Monte Carlo, 20 H7/g6", quantity=said, unit="", ours=ratio, reference=bound, verdict=verdict)
    assert agrees, (ratio, float((shift / total).min()))
    limit = float(np.percentile(shift, 90))
    share = studies.share(table, "shift[slider]", limit)
    assert share.low < 0.1 < share.high and share.runs == 2000
    ranked = studies.ranking(table, "shift[slider]", limit)
    best = str(ranked.factor.values[0])
    first = {a: table[a].values[:200] for a in ("J2.clearance", "J3.clearance")}
    pairs = list(zip(*(x / 2 if a == best else x for a, x in first.items()), strict=True))
    opened = slider.loosen("J2", fit="20 H7/g6").loosen("J3", fit="20 H7/g6")
    halved = jp.sweep(opened, {("J2.clearance", "J3.clearance"): pairs}, **asked)
    gain = float(shift[:200].mean() - halved["shift[slider]"].mean())
    foretold = float(ranked["gain"][0])
    agrees = abs(gain - foretold) < 0.25 * gain
    record(item="Monte Carlo, 20 H7/g6", quantity=f"fall of the mean shift if {best} is halved, as ranked", unit="m",
           ours=foretold, reference=gain, verdict="agrees" if agrees else "differs")  # fmt: skip
    assert agrees, (gain, foretold)
