"""What operating systems do differently, each in a function that says what happens where it is missing.

Only Linux on x86-64 is tested. What stands here for Windows follows its documentation and never ran there; macOS has
all that Linux has but `sched_getaffinity`. Nothing outside this file may use what one of them lacks.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
try:
    import msvcrt
except ImportError:  # anything but Windows
    msvcrt = None  # type: ignore[assignment]

# Windows has neither of the first two, and changes the ends of lines without the third.
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_FAR = 1 << 30  # the byte that stands for a whole file: Windows does not let others read what is locked


def open_plain(path: str | os.PathLike[str]) -> int:
    """A handle for reading that neither follows a link nor waits for a pipe; Windows follows links."""
    return os.open(path, os.O_RDONLY | _FLAGS)


def open_new(path: str | os.PathLike[str]) -> int:
    """A handle for writing a file that is not there yet, byte for byte."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)


def can_rename_open_files() -> bool:
    """Whether an open file can be renamed and removed, so that a lock on it can last until then; not on Windows."""
    return fcntl is not None


def lock(handle: int, shared: bool = False) -> bool:
    """Lock a file until it is closed or its process ends; False if somebody else holds a lock.

    shared: others may hold such a lock as well, and one waits for it; Windows knows none, and says False. OSError where
    nothing can be locked.
    """
    if fcntl is not None:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_SH if shared else fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    elif msvcrt is not None and not shared:
        here = os.lseek(handle, 0, os.SEEK_CUR)
        os.lseek(handle, _FAR, os.SEEK_SET)
        with contextlib.suppress(PermissionError):
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            os.lseek(handle, here, os.SEEK_SET)
            return True
        os.lseek(handle, here, os.SEEK_SET)
    return False


def set_mode(path: str | os.PathLike[str], mode: int) -> None:
    """Set who may read and write a file; Windows knows read-only alone, and leaves the rest to its folder."""
    os.chmod(path, mode)


def foreign(found: os.stat_result) -> str:
    """Why a file or folder may not be trusted, empty if this user alone owns and writes it.

    Windows has no such owners and modes: there the user's own folders are trusted, as they are closed to others.
    """
    if not hasattr(os, "geteuid"):
        return ""
    if found.st_uid != os.geteuid():
        return "it belongs to another user"
    return "others can write to it" if stat.S_IMODE(found.st_mode) & 0o022 else ""


def is_root() -> bool:
    """Whether the process may do everything; False on Windows, which has no such user."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def cores() -> int:
    """How many processes can run at once: those this one may use, or all where one cannot ask (macOS, Windows)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cache_home() -> Path | None:
    """The folder for caches: XDG_CACHE_HOME, LOCALAPPDATA on Windows, else ~/.cache; None for a user without home."""
    base = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None)
    if base:
        return Path(base)
    try:
        home = Path.home()
    except RuntimeError:  # neither HOME nor an entry in the list of users
        return None
    return home / ".cache" if home.is_dir() else None  # that of a service may be named and not exist


def settle(directory: Path) -> None:
    """Wait until new names in a folder are on the disk; Windows, and some file systems, cannot."""
    with contextlib.suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Hold Ctrl-C back until state and rows agree again: for a chunk of about 50 ms, or while a step is committed."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    caught: list[Any] = []
    signal.signal(signal.SIGINT, lambda *what: caught.append(what))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if caught:
            handler(*caught[0])


def at_work(text: Callable[..., object], *given: Any) -> None:
    """Have something made in a thread.  Where it is at work in machine code, the interpreter must not be taken down: a
    process waits for it at its end, and Ctrl-C then ends the process at once."""
    maker = threading.Thread(target=text, args=given, name="jointplay code", daemon=True)
    maker.start()

    def wait() -> None:
        try:
            maker.join()
        except KeyboardInterrupt:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(130)

    atexit.register(wait)
