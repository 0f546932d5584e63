"""Random model files by the thousand, on all cores for six minutes; what fails is kept, to become a test.

To load a file takes 5 ms of CPU, to check it about 70 (it is compiled), to run it beside a finer run half a second: in
six minutes on two cores 20,000 are loaded, 600 or more checked and run twice, and as many of the others checked as the
time allows, some thousands. JOINTPLAY_SEED chooses other files, JOINTPLAY_FILES, JOINTPLAY_RUNS and JOINTPLAY_MINUTES
more of them.
"""

import os
import time
import traceback
from pathlib import Path
from typing import Any

import pytest

from jointplay.parallel import each, stream
from tests.fuzz import examined, honest, read, text_of

SEED = int(os.environ.get("JOINTPLAY_SEED", "1000"))
MINUTES = float(os.environ.get("JOINTPLAY_MINUTES", "6"))
FILES = int(os.environ.get("JOINTPLAY_FILES", "20000"))  # loaded, all of them: 5 ms each
RUNS = int(os.environ.get("JOINTPLAY_RUNS", "600"))  # at least: 0.6 s of CPU each, with its check and its finer twin
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


def checked(first: int) -> tuple[int, int, Stories]:
    """Checks the files of a batch: how many, none of which is run, and what failed."""
    failed = []
    for seed in range(first, first + FEW):
        try:
            examined(text_of(seed), valid=seed % 2 == 0)
        except Exception:
            failed.append((seed, traceback.format_exc()))
    return FEW, 0, failed


def tried(first: int) -> tuple[int, int, Stories]:
    """Checks the files of a batch and runs those that can be: how many of each, and what failed."""
    runs, failed = 0, list[tuple[int, str]]()
    for seed in range(first, first + FEW):
        try:
            found = examined(text_of(seed), valid=seed % 2 == 0)
            if found is not None:
                runs += 1
                honest(found, step=seed % 6 == 0)
        except Exception:
            failed.append((seed, traceback.format_exc()))
    return FEW, runs, failed


@pytest.mark.timeout(3600)
def test_random_files_by_the_thousand(record: Any, capsys: Any) -> None:
    """All are loaded; as many as the minutes allow are checked, and the first ones run, each beside a finer run."""
    deadline = time.time() + 60 * MINUTES
    failed = [pair for pairs in each(loaded, range(SEED, SEED + FILES, MANY)) for pair in pairs]
    seen = runs = 0
    for text, enough in ((tried, RUNS), (checked, FILES)):
        tries = stream(text, range(SEED + seen, SEED + FILES, FEW))
        for _, (more, ran_, pairs) in tries:
            seen, runs, failed = seen + more, runs + ran_, failed + pairs
            if runs >= enough or time.time() > deadline:  # the same runs on every machine that is fast enough
                break
        tries.close()
    FAILED.mkdir(parents=True, exist_ok=True)
    for seed, story in failed:
        (FAILED / f"seed{seed}.yaml").write_text("".join(f"# {line}\n" for line in story.splitlines()) + text_of(seed))
    with capsys.disabled():
        print(f"\n{FILES} random files from seed {SEED}: {seen} checked, {runs} run twice, {len(failed)} failed")
    record(
        item="random files",
        quantity="files that end in a traceback, hang, hide a NaN or are judged fine though a finer run differs",
        unit="",
        reference=0,
        ours=len(failed),
        verdict="differs" if failed else "agrees",
    )
    assert not failed, f"seeds {[seed for seed, _ in failed]}: move their files from {FAILED} to tests/data/fuzz"
    assert runs >= min(RUNS, seen // 4), "files are refused that were not"
