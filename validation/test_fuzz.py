"""Random model files by the thousand, on all cores for some minutes; what fails is kept, to become a test.

JOINTPLAY_SEED chooses other files, JOINTPLAY_FILES and JOINTPLAY_MINUTES more of them.
"""

import json
import os
import time
import traceback
from pathlib import Path
from typing import Any

import pytest
import xarray

from jointplay.parallel import each
from tests.fuzz import examined, ran, read, text_of

SEED = int(os.environ.get("JOINTPLAY_SEED", "1000"))
MINUTES = float(os.environ.get("JOINTPLAY_MINUTES", "2"))
BATCH = 40
FILES = int(os.environ.get("JOINTPLAY_FILES", "1200"))  # at most; the same ones everywhere, unless time runs out
EVERY = 7  # file is checked, and run if it can be; the others are only loaded
FAILED = Path(__file__).resolve().parent.parent / "build" / "fuzz"


def batch(case: tuple[int, float]) -> tuple[int, int, int, list[tuple[int, str]]]:
    """Loads the files of a batch while there is time, checks some and runs those of them that can be: how many of each,
    and what failed."""
    first, deadline = case
    loaded, checked, runs, failed = 0, 0, 0, []
    for seed in range(first, first + BATCH):
        if time.time() > deadline:
            break
        try:
            loaded += 1
            text = text_of(seed)
            if seed % EVERY:
                read(text, valid=seed % 2 == 0)
                continue
            checked += 1
            found = examined(text, valid=seed % 2 == 0)
            if found is not None:
                runs += 1
                honest(ran(found, audit="convergence"))
        except Exception:
            failed.append((seed, traceback.format_exc()))
    return loaded, checked, runs, failed


def honest(run: xarray.Dataset | None) -> None:
    """A run whose audit finds nothing must not differ from one with half the step by more than the audit's limits."""
    audit = json.loads(run.attrs["audit"]) if run is not None and run.outcome == "done" else []
    for finding in audit if isinstance(audit, list) else ():
        limit = finding["limit"]
        if "by a finer run" in finding["name"] and limit is not None and finding["judgement"] == "fine":
            assert finding["value"] <= limit, finding


@pytest.mark.skipif(not os.environ.get("JOINTPLAY_LONG"), reason="takes minutes; set JOINTPLAY_LONG=1")
def test_random_files_by_the_thousand(record: Any, capsys: Any) -> None:
    deadline = time.time() + 60 * MINUTES
    cases = [(SEED + BATCH * i, deadline) for i in range(FILES // BATCH)]
    found = each(batch, cases)
    loaded, checked, runs = (sum(one[i] for one in found) for i in range(3))
    failed = [pair for *_, pairs in found for pair in pairs]
    FAILED.mkdir(parents=True, exist_ok=True)
    for seed, story in failed:
        (FAILED / f"seed{seed}.yaml").write_text("".join(f"# {line}\n" for line in story.splitlines()) + text_of(seed))
    with capsys.disabled():
        print(f"\n{loaded} random files from seed {SEED}: {checked} checked, {runs} run twice, {len(failed)} failed")
    verdict = "holds" if not failed else "fails"
    record(
        item="random files",
        quantity="files that end in a traceback, hang, or hide a NaN",
        unit="",
        reference=0,
        ours=len(failed),
        verdict=verdict,
    )
    assert not failed, f"seeds {[seed for seed, _ in failed]}: move their files from {FAILED} to tests/data/fuzz"
    assert runs >= 10, "files are refused that were not, or the machine is very slow"
