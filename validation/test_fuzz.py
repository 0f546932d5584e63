"""Random model files by the thousand, on all cores for six minutes; what fails is kept, to become a test.

To check a file takes fifty times as long as to load it, so that of 20,000 that are loaded about 1,400 are checked and
about 800 run. JOINTPLAY_SEED chooses other files, JOINTPLAY_FILES, JOINTPLAY_RUNS and JOINTPLAY_MINUTES more of them.
"""

import json
import os
import time
import traceback
from pathlib import Path
from typing import Any

import pytest
import xarray

from jointplay.parallel import each, stream
from tests.fuzz import examined, ran, read, text_of

SEED = int(os.environ.get("JOINTPLAY_SEED", "1000"))
MINUTES = float(os.environ.get("JOINTPLAY_MINUTES", "6"))
FILES = int(os.environ.get("JOINTPLAY_FILES", "20000"))  # loaded, all of them: 5 ms each
RUNS = int(os.environ.get("JOINTPLAY_RUNS", "600"))  # at least: 0.9 s of CPU each, with its check and its finer twin
MANY, FEW = 500, 10  # files of a batch
FAILED = Path(__file__).resolve().parent.parent / "build" / "fuzz"
Stories = list[tuple[int, str]]


def loaded(first: int) -> Stories:
    """What fails of the files of a batch when they are read."""
    failed = []
    for seed in range(first, first + MANY):
        try:
            read(text_of(seed), valid=seed % 2 == 0)
        except Exception:
            failed.append((seed, traceback.format_exc()))
    return failed


def tried(first: int) -> tuple[int, int, Stories]:
    """Checks the files of a batch and runs those that can be: how many of each, and what failed."""
    checked, runs, failed = 0, 0, []
    for seed in range(first, first + FEW):
        try:
            checked += 1
            found = examined(text_of(seed), valid=seed % 2 == 0)
            if found is not None:
                runs += 1
                honest(ran(found, audit="convergence"))
        except Exception:
            failed.append((seed, traceback.format_exc()))
    return checked, runs, failed


def honest(run: xarray.Dataset | None) -> None:
    """A run whose audit finds nothing must not differ from one with half the step by more than the audit's limits."""
    audit = json.loads(run.attrs["audit"]) if run is not None and run.outcome == "done" else []
    for finding in audit if isinstance(audit, list) else ():
        limit = finding["limit"]
        if "by a finer run" in finding["name"] and limit is not None and finding["judgement"] == "fine":
            assert finding["value"] <= limit, finding


@pytest.mark.timeout(3600)
def test_random_files_by_the_thousand(record: Any, capsys: Any) -> None:
    """All are loaded; as many as the minutes allow are checked and run, each beside a run with half the step."""
    deadline = time.time() + 60 * MINUTES
    failed = [pair for pairs in each(loaded, range(SEED, SEED + FILES, MANY)) for pair in pairs]
    checked = runs = 0
    tries = stream(tried, range(SEED, SEED + FILES, FEW))
    for _, (more, ran_, pairs) in tries:
        checked, runs, failed = checked + more, runs + ran_, failed + pairs
        if runs >= RUNS or time.time() > deadline:  # the same files on every machine that is fast enough
            break
    tries.close()
    FAILED.mkdir(parents=True, exist_ok=True)
    for seed, story in failed:
        (FAILED / f"seed{seed}.yaml").write_text("".join(f"# {line}\n" for line in story.splitlines()) + text_of(seed))
    with capsys.disabled():
        print(f"\n{FILES} random files from seed {SEED}: {checked} checked, {runs} run twice, {len(failed)} failed")
    record(
        item="random files",
        quantity="files that end in a traceback, hang, hide a NaN or are judged fine though half the step differs",
        unit="",
        reference=0,
        ours=len(failed),
        verdict="differs" if failed else "agrees",
    )
    assert not failed, f"seeds {[seed for seed, _ in failed]}: move their files from {FAILED} to tests/data/fuzz"
    assert runs >= min(RUNS, checked // 4), "files are refused that were not"
