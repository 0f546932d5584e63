"""Five hundred random files loaded and checked, sixty of them run; and those that once failed."""

from pathlib import Path

import pytest

import jointplay as jp
from tests import fuzz
from tests.fuzz import description, examined, honest, mutated, ran, text_of

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
        honest(found, step=int(file.stem.removeprefix("seed")) % 6 == 0)


def test_the_same_seed_makes_the_same_file():
    assert text_of(7) == text_of(7) and text_of(8) != text_of(10)
    kinds = {joint["kind"] for seed in range(60) for joint in description(seed)["joints"].values()}
    assert kinds == {"revolute", "prismatic", "slot", "rod", "gear", "weld"}
    assert mutated(description(3), 1) != description(3)


@pytest.mark.parametrize("change", [{"angle": 1.02}, {"peak_force": 1.5}])
@pytest.mark.parametrize("step", [False, True])
def test_a_run_that_is_judged_fine_though_a_finer_one_differs_is_found(change, step, monkeypatch):
    """Otherwise the fuzzer finds nothing."""
    mechanism = jp.library.pendulum().with_({"start.bar1": 1.0})
    assert honest(mechanism, step) == "agrees"

    def other(*given, error=None, **options):
        found = ran(*given, error=error, **options)
        for name, times in {} if error is None else change.items():
            found[name] = found[name] * (times + 0.1 * step)
        return found

    monkeypatch.setattr(fuzz, "ran", other)
    if step and "peak_force" in change:
        assert honest(mechanism, step) == "agrees"  # nothing was said of it
        return
    with pytest.raises(AssertionError, match=r"judged fine|called determined"):
        honest(mechanism, step)
