"""What Windows, macOS or aarch64 lack is used in one file alone, and files are still written whole without it."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jointplay import cache, host, writing

SOURCE = Path(__file__).resolve().parent.parent / "src" / "jointplay"
MODULES = {"fcntl", "msvcrt", "resource", "pwd", "grp", "termios", "winreg"}
NAMES = {
    "geteuid", "getuid", "fchmod", "fchown", "chown", "fork", "pwrite", "pread", "sched_getaffinity", "mkfifo",
    "O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "SIGKILL", "SIGHUP", "SIGUSR1", "SIGALRM", "setitimer", "killpg",
}  # fmt: skip


def lacking(text: str) -> set[str]:
    """What a text uses that one of them lacks."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & MODULES
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module} & MODULES
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("os", "signal"):
            found |= {node.attr} & NAMES
    return found


def test_what_some_systems_lack_stands_in_one_file():
    files = {
        file.relative_to(SOURCE).as_posix(): lacking(file.read_text(encoding="utf-8")) for file in SOURCE.rglob("*.py")
    }
    assert {name for name, found in files.items() if found} == {"host.py"}, files
    assert lacking("import fcntl, os\nos.fork()") == {"fcntl", "fork"}


@pytest.fixture
def elsewhere(monkeypatch):
    """A system without locks, owners and affinity, where an open file cannot be renamed."""
    monkeypatch.setattr(host, "fcntl", None)
    monkeypatch.delattr(os, "geteuid")
    monkeypatch.delattr(os, "sched_getaffinity")
    replace = os.replace

    def strict(source, target):
        opened = {os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")}
        assert os.path.realpath(source) not in opened, "Windows renames no open file"
        replace(source, target)

    monkeypatch.setattr(os, "replace", strict)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="asks Linux which files are open")
def test_files_are_written_whole_without_locks(elsewhere, tmp_path, monkeypatch):
    writing.write(tmp_path / "a.txt", b"one")
    writing.write(tmp_path / "a.txt", [b"t", b"wo"])
    (tmp_path / ".a.txt.0123.tmp").write_bytes(b"of somebody who may still write")
    assert writing.sweep(tmp_path) == 0 and (tmp_path / "a.txt").read_bytes() == b"two"
    monkeypatch.setenv("JOINTPLAY_CACHE_DIR", str(tmp_path / "kept"))
    cache.write("key", b"code")
    assert cache.read("key") == b"code" and not cache.refused()
    assert host.cores() == os.cpu_count() and not host.is_root()


def test_a_lock_ends_with_its_process_and_is_seen_by_others(tmp_path):
    file = tmp_path / "lock"
    text = f"import os, sys; from jointplay import host; h = os.open({str(file)!r}, os.O_RDWR | os.O_CREAT)\n"
    text += "print(host.lock(h), flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "True\n"
        handle = os.open(file, os.O_RDWR)
        assert not host.lock(handle)
        other.kill()
        other.wait()
        assert host.lock(handle)
        os.close(handle)
