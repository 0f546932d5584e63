"""Stores: what xarray reads, resuming, extending, shards, replay, and what is refused."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import xarray

import jointplay as jp
from jointplay import studies
from jointplay.studies import store as stores
from jointplay.studies.work import Job

from .functions import moody, slow
from .test_sweep import BRIEF, LOOSE, UNIT, same

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.zarr"


def counted(monkeypatch):
    """How many runs are computed from now on."""
    computed = []
    plain = Job.compute

    def compute(self, table, *more):
        computed.append(len(next(iter(table.values()))))
        return plain(self, table, *more)

    monkeypatch.setattr(Job, "compute", compute)
    return computed


def test_xarray_reads_a_store_as_it_is(path):
    table = jp.sweep(moody, UNIT, samples=64, store=path)
    read = xarray.open_zarr(path).load()
    assert same(read, table) and same(read, jp.sweep(moody, UNIT, samples=64))
    assert read["x"].dims == ("run",) and "x" in read.coords and read["sum"].dtype == float


def test_a_study_that_is_whole_is_not_computed_again(path, monkeypatch):
    first = jp.sweep(moody, UNIT, samples=64, store=path)
    computed = counted(monkeypatch)
    assert same(jp.sweep(moody, UNIT, samples=64, store=path), first) and computed == []


def test_what_was_interrupted_goes_on(path, monkeypatch):
    whole = jp.sweep(slow, UNIT, samples=200)
    monkeypatch.setattr("jointplay.studies.beginning.batch_size", lambda *a: 20)

    def impatient(progress):
        if progress.done >= 80:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=r"80 of 200 runs are in .*study.zarr, and the same call goes on"):
        jp.sweep(slow, UNIT, samples=200, store=path, progress=impatient)
    assert studies.state(path)["missing"] == 120
    computed = counted(monkeypatch)
    assert same(jp.sweep(slow, UNIT, samples=200, store=path), whole) and sum(computed) == 120


def test_more_samples_and_more_grid_values_are_added(path, monkeypatch):
    jp.sweep(slow, {"x": jp.grid(0, 1, 3), "y": jp.uniform(0, 1)}, samples=20, store=path)
    computed = counted(monkeypatch)
    table = jp.sweep(slow, {"x": jp.grid(0, 1, 5), "y": jp.uniform(0, 1)}, samples=30, store=path)
    assert sum(computed) == 5 * 30 - 3 * 20
    assert same(table, jp.sweep(slow, {"x": jp.grid(0, 1, 5), "y": jp.uniform(0, 1)}, samples=30))
    assert [p.name for p in path.parent.iterdir()] == ["study.zarr"]


def test_an_extension_cut_off_between_two_renames_is_taken_back(path):
    table = jp.sweep(slow, UNIT, samples=20, store=path)
    os.rename(path, stores.backup_of(path))
    assert same(jp.sweep(slow, UNIT, samples=20, store=path), table)


def test_latin_samples_cannot_be_extended(path):
    jp.sweep(slow, UNIT, samples=jp.samples(20, "latin"), store=path)
    with pytest.raises(ValueError, match="latin samples are all new"):
        jp.sweep(slow, UNIT, samples=jp.samples(40, "latin"), store=path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"until": 0.03}, r"until \(0.02 there, 0.03 here\)"),
        ({"stepper": jp.MoreauJean(2e-4)}, "stepper"),
        ({"metrics": ["peak_force[J3]"]}, "metrics"),
        ({"over": {"J2.friction": [0.3]}}, "axes"),
        ({"subject": LOOSE.with_({"crank.mass": 2.0})}, "model .*mass: 1.*mass: 2"),
    ],
)
def test_another_study_is_refused_and_told_apart(path, change, said):
    asked = {"subject": LOOSE, "over": {"J2.friction": [0.1]}, "metrics": ["peak_force[J2]"], **BRIEF}
    asked["until"] = 0.02
    jp.sweep(**asked, store=path)
    before = {p: p.read_bytes() for p in path.rglob("*") if p.is_file() and p.name != ".writer"}
    with pytest.raises(ValueError, match=f"holds another study, which differs in .*{said}"):
        jp.sweep(**asked | change, store=path)
    assert before == {p: p.read_bytes() for p in path.rglob("*") if p.is_file() and p.name != ".writer"}


def test_another_versions_store_is_refused(path, monkeypatch):
    jp.sweep(slow, UNIT, samples=4, store=path)
    monkeypatch.setattr("jointplay.studies.asking.__version__", "9.9.9")
    with pytest.raises(ValueError, match=r"version \(.* there, 9.9.9 here\)"):
        jp.sweep(slow, UNIT, samples=4, store=path)


def test_what_is_not_ours_is_refused(path):
    path.mkdir()
    (path / "letter.txt").write_text("dear")
    with pytest.raises(ValueError, match="is not a study of jointplay"):
        jp.sweep(slow, UNIT, samples=4, store=path)
    assert [p.name for p in path.iterdir()] == ["letter.txt"]
    shutil.rmtree(path)
    path.write_text("a file")
    with pytest.raises(ValueError, match="is not a study of jointplay"):
        jp.sweep(slow, UNIT, samples=4, store=path)
    other = path.with_name("other.zarr")
    xarray.Dataset({"a": ("x", [1.0])}).to_zarr(other)
    with pytest.raises(ValueError, match="is not a study of jointplay"):
        studies.open_study(other)
    with pytest.raises(ValueError, match="no such study"):
        studies.state(path.with_name("nothing.zarr"))
    with pytest.raises(ValueError, match="create it first"):
        jp.sweep(slow, UNIT, samples=4, store=path.with_name("no") / "study.zarr")


def test_resume_false_refuses_what_is_there(path):
    jp.sweep(slow, UNIT, samples=4, store=path)
    with pytest.raises(ValueError, match="is already there"):
        jp.sweep(slow, UNIT, samples=4, store=path, resume=False)


def test_two_writers_are_one_too_many(path):
    table = jp.sweep(slow, UNIT, samples=4, store=path)
    code = f"""
import time
from pathlib import Path
from jointplay.studies.store import writer
with writer(Path({str(path)!r})):
    print("held", flush=True)
    time.sleep(60)
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "held\n"
        with pytest.raises(ValueError, match=f"is being written by process {child.pid}"):
            jp.sweep(slow, UNIT, samples=8, store=path)
    finally:
        child.kill()
        child.wait()
    assert same(jp.sweep(slow, UNIT, samples=4, store=path), table)


@pytest.mark.parametrize("at", [1, 4])
def test_a_full_disk_loses_nothing_that_was_written(path, monkeypatch, at):
    whole = jp.sweep(slow, UNIT, samples=100)
    monkeypatch.setattr("jointplay.studies.beginning.batch_size", lambda *a: 10)
    plain, calls = stores.Zarr.put, []

    def full(self, *what):
        calls.append(1)
        if len(calls) == at:
            raise OSError(errno.ENOSPC, "No space left on device")
        plain(self, *what)

    monkeypatch.setattr(stores.Zarr, "put", full)
    with pytest.raises(OSError, match=r"the disk is full; .* of 100 runs are in .*, and the same call goes on"):
        jp.sweep(slow, UNIT, samples=100, store=path)
    assert 0 <= studies.state(path)["done"] < 100
    assert same(jp.sweep(slow, UNIT, samples=100, store=path), whole)


def test_numbers_without_their_status_do_not_count(path, monkeypatch):
    monkeypatch.setattr("jointplay.studies.beginning.batch_size", lambda *a: 10)
    whole = jp.sweep(slow, UNIT, samples=40, store=path)
    (path / "status" / "c" / "2").unlink()
    (path / "sum" / "c" / "2.deadbeef.partial").write_bytes(b"torn")
    computed = counted(monkeypatch)
    assert same(jp.sweep(slow, UNIT, samples=40, store=path), whole)
    assert sum(computed) == 10 and not list(path.rglob("*.partial"))


def test_four_shards_make_the_same_table(path):
    for i in range(1, 5):
        jp.sweep(moody, UNIT, samples=50, store=path, shard=(i, 4))
        assert studies.state(path.with_name(f"study-{i}of4.zarr"))["missing"] in (37, 38)
    assert same(studies.collect(path), jp.sweep(moody, UNIT, samples=50))
    with pytest.raises(ValueError, match="from 1 to 4, got 5"):
        jp.sweep(moody, UNIT, samples=50, store=path, shard=(5, 4))
    with pytest.raises(ValueError, match="no shards such as other-1of4"):
        studies.collect(path.with_name("other.zarr"))


def test_a_missing_shard_can_be_computed_by_the_study_itself(path, monkeypatch):
    for i in (1, 3):
        jp.sweep(slow, UNIT, samples=30, store=path, shard=(i, 3))
    studies.collect(path)
    assert studies.state(path)["missing"] == 10
    computed = counted(monkeypatch)
    assert same(jp.sweep(slow, UNIT, samples=30, store=path), jp.sweep(slow, UNIT, samples=30))
    assert computed[0] == 10


def test_replay_is_the_same_run_bit_for_bit(path):
    over = {"J2.clearance": [0, 1e-3], "J2.contact": {"a": jp.Rigid(), "b": jp.Rigid(friction=0.2)}}
    over["stepper"] = {"fine": jp.MoreauJean(1e-4), "coarse": jp.MoreauJean(2e-4)}
    table = jp.sweep(LOOSE, over, until=0.01, metrics=["peak_force[J3]", "final(angle[crank])"], store=path)
    for run in (0, 7):
        again = studies.replay(path, run)
        assert float(again.peak_force.sel(joint="J3")) == table["peak_force[J3]"].values.ravel()[run]
        assert float(again.angle[-1, 0]) == table["final(angle[crank])"].values.ravel()[run]
    near = studies.replay(path, {"J2.clearance": 0.9e-3, "J2.contact": "b", "stepper": "coarse"}, every=1e-3)
    assert json.loads(near.attrs["settings"])["J2.clearance"] == 1e-3 and near.sizes["time"] == 11
    assert float(near.angle[-1, 0]) == table["final(angle[crank])"].values[1, 1, 1]
    with pytest.raises(ValueError, match="has runs 0 to 7, got 8"):
        studies.replay(path, 8)
    with pytest.raises(ValueError, match="no axis 'J9"):
        studies.replay(path, {"J9.clearance": 1.0})


def test_the_parent_killed_at_any_moment_loses_only_what_is_under_way(path):
    """A few kills; validation/test_studies.py has many."""
    code = f"""
import jointplay as jp
from tests.studies.functions import slow
if __name__ == "__main__":
    import jointplay.studies.beginning as b
    b.batch_size = lambda *a: 5
    jp.sweep(slow, {{"x": jp.uniform(0, 1), "y": jp.uniform(0, 1)}}, samples=150, store={str(path)!r})
"""
    for _ in range(3):
        child = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
        began = time.monotonic()
        while time.monotonic() - began < 30 and not (path / "status" / "c").exists():
            time.sleep(0.02)
        time.sleep(0.1)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    assert same(jp.sweep(slow, UNIT, samples=150, store=path), jp.sweep(slow, UNIT, samples=150))
    assert np.isfinite(studies.open_study(path)["sum"]).all()


def test_ctrl_c_ends_a_study_and_says_how_to_go_on(path):
    code = f"""
import jointplay as jp
import jointplay.studies.beginning as beginning
from jointplay.cli import complain
from tests.studies.functions import slow
beginning.batch_size = lambda *a: 5
over = {{"x": jp.uniform(0, 1), "y": jp.uniform(0, 1)}}
try:
    jp.sweep(slow, over, samples=2000, store={str(path)!r}, progress=lambda p: print(p.done, flush=True))
except KeyboardInterrupt as error:
    complain(str(error))
    raise SystemExit(1)
"""
    child = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while int(child.stdout.readline()) < 20:
        pass
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=30)
    known = studies.state(path)["done"]
    assert child.returncode == 1 and 20 <= known < 2000
    assert said == f"jointplay: interrupted; {known} of 2000 runs are in {path}, and the same call goes on from there\n"
