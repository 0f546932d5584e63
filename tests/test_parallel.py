"""Many computations in processes of their own: order, progress, failures, the same results as in a loop."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jointplay.parallel import each


def worker(x):
    return x, os.getpid()


def root(x):
    if x < 0:
        raise ValueError(f"no root of {x}")
    return x**0.5


def test_results_keep_the_order_of_the_cases_and_come_from_elsewhere():
    told = []
    found = each(worker, range(7), lambda done, total: told.append((done, total)), workers=2)
    assert [x for x, _ in found] == list(range(7))
    assert os.getpid() not in {pid for _, pid in found}
    assert told == [(n, 7) for n in range(8)]


def test_one_worker_computes_here():
    assert each(worker, [3], workers=2) == [(3, os.getpid())]
    assert each(worker, [1, 2], workers=1) == [(1, os.getpid()), (2, os.getpid())]
    assert each(worker, []) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_a_failure_is_told(workers):
    with pytest.raises(ValueError, match="no root of -1"):
        each(root, [4.0, -1.0, 9.0], workers=workers)


CHILD = """
import os, signal, threading, time
from jointplay.parallel import each

def slow(x):
    time.sleep(x)

if __name__ == "__main__":
    os.setpgrp()
    begun = lambda done, total: done == 1 and os.killpg(0, signal.SIGINT)
    try:
        each(slow, [0.0, 60.0, 60.0], begun, workers=2)
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no process groups")
def test_ctrl_c_ends_all_at_once_and_without_a_word(tmp_path):
    """As from a terminal: every process of the group is interrupted, and the one that began it tells."""
    file = tmp_path / "child.py"
    file.write_text(CHILD)
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=50)
    assert done.stdout == "interrupted\n" and "KeyboardInterrupt" not in done.stderr


ALONE = CHILD.replace("os.killpg(0, signal.SIGINT)", "os.kill(os.getpid(), signal.SIGINT)")


def test_a_signal_to_the_process_alone_waits_for_no_worker(tmp_path):
    """As of `kill`, which a terminal's Ctrl-C is not: the workers hear nothing of it."""
    assert ALONE != CHILD
    (tmp_path / "child.py").write_text(ALONE)
    done = subprocess.run([sys.executable, "child.py"], cwd=tmp_path, capture_output=True, text=True, timeout=50)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


KILLED = """
import os, pathlib, signal, threading, time
from jointplay.parallel import each

def slow(x):
    pathlib.Path(f"{os.getpid()}.pid").touch()
    time.sleep(3600)

def kill():
    while len(list(pathlib.Path().glob("*.pid"))) < 2:
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    threading.Thread(target=kill).start()
    each(slow, [1, 2], workers=2)
"""


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no /proc to look into")
def test_workers_end_with_the_process_that_started_them(tmp_path):
    (tmp_path / "child.py").write_text(KILLED)
    subprocess.run([sys.executable, "child.py"], cwd=tmp_path, capture_output=True, timeout=120)
    workers = [int(file.stem) for file in tmp_path.glob("*.pid")]
    assert len(workers) == 2
    deadline = time.monotonic() + 60
    while any(alive(worker) for worker in workers):
        assert time.monotonic() < deadline, "a worker outlives its parent"
        time.sleep(0.1)


def alive(process: int) -> bool:
    """Whether there is such a process, and it has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
