"""Random model files by the thousand, on all cores; what fails is kept, to become a test.

All of 20,000 files are loaded and checked, and the first of them run, each beside a finer run: as many as six minutes
on two quiet cores allow, so that every machine that is as fast runs the same ones, but never less than 600. To load a
file takes 1 to 5 ms of CPU, to check it about 50 (it is traced, compiled and assembled in every way), to run it beside
a finer run half a second. JOINTPLAY_SEED chooses other files, JOINTPLAY_FILES, JOINTPLAY_RUNS and JOINTPLAY_MINUTES
more of them.
"""

import os
import time
import traceback
from pathlib import Path
from typing import Any

import pytest

from jointplay.parallel import stream
from tests.fuzz import examined, honest, text_of

SEED = int(os.environ.get("JOINTPLAY_SEED", "1000"))
MINUTES = float(os.environ.get("JOINTPLAY_MINUTES", "6"))
FILES = int(os.environ.get("JOINTPLAY_FILES", "20000"))
RUNS = int(os.environ.get("JOINTPLAY_RUNS", "1200"))  # 0.6 s of CPU each, with its check and its finer twin
LEAST = min(RUNS, 600)  # however slow the machine is
BATCH = 10  # files
FAILED = Path(__file__).resolve().parent.parent / "build" / "fuzz"
Stories = list[tuple[int, str]]


def checked(first: int, run: bool = False) -> tuple[int, Stories]:
    """Loads and checks the files of a batch and, if asked, runs those that can be: how many were, and what failed."""
    runs, failed = 0, list[tuple[int, str]]()
    for seed in range(first, first + BATCH):
        try:
            found = examined(text_of(seed), valid=seed % 2 == 0)
            if found is not None and run:
                runs += 1
                honest(found, step=seed % 6 == 0)
        except Exception:
            failed.append((seed, traceback.format_exc()))
    return runs, failed


def tried(first: int) -> tuple[int, Stories]:
    """The same, with runs."""
    return checked(first, run=True)


@pytest.mark.timeout(3600)
def test_random_files_by_the_thousand(record: Any, capsys: Any) -> None:
    """All are loaded and checked, and as many of the first ones run as the minutes allow, each beside a finer run."""
    deadline = time.time() + 60 * MINUTES
    left, runs, failed = list(range(SEED, SEED + FILES, BATCH)), 0, list[tuple[int, str]]()
    for task in (tried, checked):
        batches, done = tuple(left), stream(task, left)
        for i, (more, stories) in done:
            left.remove(batches[i])
            runs, failed = runs + more, failed + stories
            if task is tried and (runs >= RUNS or (runs >= LEAST and time.time() > deadline)):
                break
        done.close()
    assert not left
    FAILED.mkdir(parents=True, exist_ok=True)
    for seed, story in failed:
        (FAILED / f"seed{seed}.yaml").write_text("".join(f"# {line}\n" for line in story.splitlines()) + text_of(seed))
    with capsys.disabled():
        print(f"\n{FILES} random files from seed {SEED} checked, {runs} of them run twice, {len(failed)} failed")
    record(
        item="random files",
        quantity="files that end in a traceback, hang, hide a NaN or are judged fine though a finer run differs",
        unit="",
        reference=0,
        ours=len(failed),
        verdict="differs" if failed else "agrees",
    )
    assert not failed, f"seeds {[seed for seed, _ in failed]}: move their files from {FAILED} to tests/data/fuzz"
    assert runs >= min(LEAST, FILES // 4), "files are refused that were not"
