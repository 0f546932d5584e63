"""The cache of machine code: whatever happens to its files, runs go on and give the same numbers.

Everything that damages files happens in other processes, which must survive it.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jointplay import cache
from jointplay.engine.native import Native
from jointplay.run import Run
from tests.helpers import run_to_end

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """
import os, pathlib, sys, time
from jointplay import cache
from jointplay.engine import branch, sin, trace
from jointplay.engine.native import Native
from jointplay.run import Run

def program(k=0.7):
    return trace(lambda s, p: {"x": branch(s.x > 1, lambda: s.x * p.a, lambda: sin(s.x) + k)}, {"x": 0.1}, {"a": 0.25})

def numbers(lanes=1, k=0.7):
    run = Run(program(k), {"a": [0.25, 0.5][:lanes]} if lanes > 1 else {}, lanes=lanes, eager=False)
    run.advance(50)
    return [x.hex() for x in run["x"].tolist()], run.native.cached
"""
TEXT: dict = {}
exec(PROGRAM, TEXT)  # the same functions in this process


def process(code: str, directory: Path, **environment: str) -> subprocess.Popen:
    """A new interpreter that runs PROGRAM and then the code with its cache in the directory."""
    given = {**os.environ, "JOINTPLAY_CACHE_DIR": str(directory), **environment}
    given["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", PROGRAM + code]
    return subprocess.Popen(command, env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def result(child: subprocess.Popen) -> list[str]:
    out, err = child.communicate(timeout=120)
    assert child.returncode == 0, err
    return out.splitlines()


def run(code: str, directory: Path, **environment: str) -> list[str]:
    return result(process(code, directory, **environment))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A cache of this process alone."""
    monkeypatch.setenv("JOINTPLAY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("JOINTPLAY_CACHE_MB", raising=False)
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def right():
    """The numbers of a run that knows no cache."""
    return TEXT["numbers"]()[0]


# -- damage
def test_a_damaged_file_is_compiled_anew(here, right):
    """Empty, cut short at many places, longer, something else: never used, always replaced."""
    code = """
assert numbers()[1] is False
[path] = cache.entries()
good = path.read_bytes()
damaged = [b"", good[:1], good[:40], good[:51], good[: len(good) // 2], good[:-1]]
for data in [*damaged, good + b"x", b"x" * len(good), good[::-1]]:
    path.write_bytes(data)
    found, cached = numbers()
    assert cached is False and path.read_bytes() == good, (len(data), cached)
    print(*found)
path.unlink()
path.mkdir()  # not even a file
print(*numbers()[0])
"""
    assert run(code, here) == [" ".join(right)] * 10


@pytest.mark.parametrize("part", range(5))
def test_a_flipped_byte_is_found(here, right, part):
    code = f"""
assert numbers()[1] is False
[path] = cache.entries()
good = path.read_bytes()
for k in range({part} * 10, {part} * 10 + 10):
    place = [0, 19, 20, 50, 51, len(good) - 1][k] if k < 6 else len(good) * k // 50
    path.write_bytes(good[:place] + bytes([good[place] ^ (1 << k % 8)]) + good[place + 1 :])
    found, cached = numbers()
    assert cached is False and path.read_bytes() == good, place
    print(*found)
assert numbers()[1] is True
"""
    assert run(code, here) == [" ".join(right)] * 10


def test_a_file_under_another_key_is_not_used(here, right):
    """As when a cache is copied from another machine, or files are renamed."""
    code = """
numbers()
[mine] = cache.entries()
numbers(k=0.5)
[other] = set(cache.entries()) - {mine}
mine.write_bytes(other.read_bytes())
found, cached = numbers()
assert cached is False
print(*found)
print(*numbers()[0], numbers()[1])
"""
    assert run(code, here) == [" ".join(right), f"{right[0]} True"]


# -- places that cannot be written to
@pytest.mark.parametrize("place", ["file/sub", "/proc/nothing/here", "/dev/null"])
def test_a_folder_that_cannot_be_made_is_no_error(tmp_path, right, place):
    (tmp_path / "file").write_text("not a folder")
    code = "for _ in range(2):\n    print(*numbers())\nprint(cache.entries(), cache.clear())"
    assert run(code, tmp_path / place) == [f"{right} False"] * 2 + ["[] (0, 0)"]


def test_a_folder_without_permission_is_no_error(here, right):
    here.mkdir(mode=0o500)
    code = "print(*numbers()[0])\nos.chmod(cache.directory(), 0o700)"
    assert run(code, here) == right


# -- several processes
def test_two_processes_may_compile_at_once(here, right):
    code = """
me, other = os.environ["ME"], os.environ["OTHER"]
made = [program(0.7), program(0.9)]
pathlib.Path(me).touch()
while not pathlib.Path(other).exists():
    time.sleep(0.001)
for k in (0.7, 0.9):
    print(*numbers(k=k)[0])
"""
    names = [str(here.parent / n) for n in "ab"]
    children = [process(code, here, ME=me, OTHER=other) for me, other in (names, names[::-1])]
    found = [result(child) for child in children]
    assert found[0] == found[1] and found[0][0] == right[0]
    assert TEXT["numbers"]()[1] is True and TEXT["numbers"](k=0.9)[1] is True
    assert [p.suffix for p in here.iterdir()] == [".jpo"] * 2  # nothing unfinished is left lying about


def test_programs_have_the_same_key_in_every_process(here):
    code = "print(program().digest)\nprint(numbers()[1])"
    first = run(code, here, PYTHONHASHSEED="1")
    second = run(code, here, PYTHONHASHSEED="2")
    assert first == [TEXT["program"]().digest, "False"]
    assert second == [first[0], "True"]


def test_machine_code_lives_as_long_as_its_run_and_no_longer(here, right):
    code = """
import gc
kept = [Run(program(n / 10), eager=False) for n in range(6)]
for n in range(20):
    print(*numbers()[0])
    del kept[:1]
    gc.collect()
    [run.advance(5) for run in kept]
"""
    assert run(code, here) == right * 20


def test_threads_may_compile_and_run_at_once(here):
    names = [n / 20 for n in range(12)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda k: TEXT["numbers"](k=k)[0], names))
    assert together == [TEXT["numbers"](k=k)[0] for k in names]
    assert len(set(map(tuple, together))) == 12


# -- machines that cannot
def test_the_environment_may_ask_for_eager_runs(here, right):
    code = """
def found(**options):
    run = Run(program(), **options)
    run.advance(5)
    return run.eager, run["x"][0].hex()
print(*found(), *found(eager=False, fma=False))
"""
    for value, eager in (("1", "True"), ("0", "False"), ("", "False")):
        [line] = run(code, here, JOINTPLAY_EAGER=value)
        asked, x, compiled, y = line.split()
        assert (asked, compiled) == (eager, "False")
        assert x == y or eager == "False"


def test_a_machine_without_machine_code_runs_eagerly_and_says_so(here):
    code = """
import warnings
wanted = Run(program(), eager=True)
wanted.advance(5)
def fail(*args, **options):
    raise RuntimeError("no such instruction")
Native.__init__ = fail
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    runs = [Run(program()), Run(program())]
for run in runs:
    run.advance(5)
    assert run.eager and run["x"] == wanted["x"]
print(len(caught), "no such instruction" in str(caught[0].message))
"""
    assert run(code, here) == ["1 True"]


# -- what is kept
def test_a_warm_cache_is_used(here):
    made = TEXT["program"]()
    cold, warm = Native(made), Native(TEXT["program"]())
    assert (cold.cached, warm.cached) == (False, True)
    assert "assembly" in cold.seconds and "assembly" not in warm.seconds


def test_the_key_depends_on_all_that_matters(here):
    made, other = TEXT["program"](), TEXT["program"](0.8)
    for options in ({}, {"lanes": 2}, {"lanes": 4}, {"fma": False}, {"lanes": 2, "share": True}):
        assert Native(made, **options).cached is False
        assert Native(made, **options).cached is True
    assert Native(other).cached is False
    assert len(cache.entries()) == 6
    parameters = Run(made, {"a": 0.9}, {"x": 5.0}, eager=False)
    assert parameters.native.cached is True


def test_the_oldest_use_goes_first(here, monkeypatch):
    size = None
    for n in range(6):
        run_to_end(TEXT["program"](n / 10), steps=1, eager=False)
        size = size or cache.entries()[0].stat().st_size
        time.sleep(0.02)
    assert len(cache.entries()) == 6
    Native(TEXT["program"](0.0))  # used again, so no longer the oldest
    monkeypatch.setenv("JOINTPLAY_CACHE_MB", str(3.5 * size / 1e6))
    assert cache.limit() == int(3.5 * size)
    assert Native(TEXT["program"](0.9)).cached is False
    assert len(cache.entries()) == 3
    assert Native(TEXT["program"](0.0)).cached is True
    assert Native(TEXT["program"](0.1)).cached is False


def test_many_entries_are_looked_through_now_and_then_and_still_bounded(tmp_path, monkeypatch):
    monkeypatch.setenv("JOINTPLAY_CACHE_DIR", str(tmp_path / "own"))
    monkeypatch.setenv("JOINTPLAY_CACHE_MB", "0.02")
    looks, sizes = [], cache._sizes
    monkeypatch.setattr(cache, "_sizes", lambda: looks.append(1) or sizes())
    for i in range(400):
        cache.write(f"key{i}", bytes(100))
    held = sum(sizes().values())
    assert 0.015e6 < held <= 0.02e6 + 0.02e6 / cache.SHARE and len(looks) < 400 / 10
    assert cache.read("key399") == bytes(100) and cache.read("key0") is None


def test_a_tiny_limit_keeps_nothing_and_works(here, right):
    code = "for _ in range(2):\n    print(*numbers())\nprint(cache.entries())"
    assert run(code, here, JOINTPLAY_CACHE_MB="0.000001") == [f"{right} False"] * 2 + ["[]"]


@pytest.mark.parametrize("limit", ["much", "nan", "inf"])
def test_a_limit_that_is_no_number_is_named(here, monkeypatch, limit):
    monkeypatch.setenv("JOINTPLAY_CACHE_MB", limit)
    with pytest.raises(ValueError, match=f"JOINTPLAY_CACHE_MB.*{limit}"):
        cache.limit()


def test_files_are_counted_and_cleared(here):
    for n in range(3):
        Native(TEXT["program"](n / 10))
    total = sum(p.stat().st_size for p in cache.entries())
    (here / "other.txt").write_text("not ours")
    assert cache.clear() == (3, total)
    assert cache.entries() == [] and cache.clear() == (0, 0)
    assert [p.name for p in here.iterdir()] == ["other.txt"]


def test_the_folder_is_chosen_by_the_environment(monkeypatch):
    monkeypatch.setenv("JOINTPLAY_CACHE_DIR", "/somewhere/else")
    assert cache.directory() == Path("/somewhere/else")
    monkeypatch.delenv("JOINTPLAY_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/users/cache")
    assert cache.directory() == Path("/users/cache/jointplay")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.directory() == Path.home() / ".cache" / "jointplay"


def test_a_home_that_does_not_exist_is_not_made(tmp_path, monkeypatch):
    for name in ("JOINTPLAY_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "nobody"))
    cache.write("key", b"payload")
    assert cache.read("key") is None and "no home directory" in cache.refused()
    assert not any(tmp_path.iterdir())


def test_reading_and_writing(here):
    assert cache.read("key") is None
    cache.write("key", b"payload")
    cache.write("empty", b"")
    assert (cache.read("key"), cache.read("empty"), cache.read("other")) == (b"payload", b"", None)
    cache.write("key", b"new")
    assert cache.read("key") == b"new"
