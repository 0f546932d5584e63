"""Five hundred random files loaded and checked, sixty of them run; and those that once failed."""

from pathlib import Path

import pytest

from tests.fuzz import description, examined, mutated, ran, text_of

FILES, RUNS, BATCHES = 500, 60, 10
KEPT = sorted((Path(__file__).parent / "data" / "fuzz").glob("*.yaml"))


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_files_are_refused_or_computed(batch):
    loaded, runs = 0, 0
    many = FILES // BATCHES
    for seed in range(batch * many, (batch + 1) * many):
        try:
            found = examined(text_of(seed), valid=seed % 2 == 0)
            loaded += found is not None
            if found is not None and runs < RUNS // BATCHES:
                runs += 1
                ran(found)
        except BaseException as error:
            error.add_note(f"seed {seed}; print(tests.fuzz.text_of({seed}))")
            raise
    assert loaded > many / 4 and runs == RUNS // BATCHES


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.stem)
def test_what_once_failed(file):
    found = examined(file.read_text())
    if found is not None:
        ran(found)


def test_the_same_seed_makes_the_same_file():
    assert text_of(7) == text_of(7) and text_of(8) != text_of(10)
    kinds = {joint["kind"] for seed in range(60) for joint in description(seed)["joints"].values()}
    assert kinds == {"revolute", "prismatic", "slot", "rod", "gear", "weld"}
    assert mutated(description(3), 1) != description(3)
