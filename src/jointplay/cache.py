"""Machine code and outlines of programs kept between processes.

Only what this user wrote and nobody else can change is ever handed to LLVM.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from pathlib import Path

from . import host
from .errors import InputError
from .writing import sweep
from .writing import write as write_file

MAGIC = b"jointplay object 1\n"
SUFFIX = ".jpo"
SHARE = 8  # one of so many parts of the limit is written before the files are looked through again

_room: dict[tuple[Path, int], int] = {}  # bytes to write before that, by directory and limit


def directory() -> Path | None:
    """Where they are kept: JOINTPLAY_CACHE_DIR, else the user's cache folder; None for a user without home."""
    chosen = os.environ.get("JOINTPLAY_CACHE_DIR")
    if chosen:
        return Path(chosen)
    home = host.cache_home()
    return home / "jointplay" if home else None


def refused() -> str:
    """Why the directory is not used, in a sentence; empty if it is, or is not there yet."""
    place = directory()
    if place is None:
        return "there is no home directory; JOINTPLAY_CACHE_DIR names another place"
    try:
        found = os.stat(place)
    except OSError:
        return ""
    if not stat.S_ISDIR(found.st_mode):
        return "it is not a directory"
    why = host.foreign(found)
    return f"{why}; chmod go-w {place}" if "write" in why else why


def limit() -> int:
    """Most bytes kept: JOINTPLAY_CACHE_MB megabytes, 200 unless said otherwise."""
    given = os.environ.get("JOINTPLAY_CACHE_MB", "200")
    try:
        return int(float(given) * 1e6)
    except (ValueError, OverflowError):
        raise InputError(f"JOINTPLAY_CACHE_MB must be a number of megabytes, got {given!r}") from None


def entries() -> list[Path]:
    """The cached files, oldest use first."""
    return [*_sizes()]


def _sizes() -> dict[Path, int]:
    """The cached files, oldest use first, and their sizes (bytes)."""
    found, place = [], directory()
    with contextlib.suppress(OSError):  # another process removes files too
        for entry in os.scandir(place) if place else ():
            if entry.name.endswith(SUFFIX):
                with contextlib.suppress(OSError):
                    about = entry.stat(follow_symlinks=False)
                    found.append((about.st_mtime, entry.path, about.st_size))
    return {Path(path): size for _, path, size in sorted(found)}


def clear() -> tuple[int, int]:
    """Delete every cached file, and what killed processes left; gives how many files and how many bytes."""
    place, removed = directory(), []
    for path, size in _sizes().items():
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
            removed.append(size)
    if place is not None:
        sweep(place)
    return len(removed), sum(removed)


def read(key: str) -> bytes | None:
    """The payload stored under a key if it is there, this user's alone, and every byte is right."""
    place = directory()
    if place is None or refused():
        return None
    path = place / f"{key}{SUFFIX}"
    data = _own(path)
    head, payload = data[: len(MAGIC) + 32], data[len(MAGIC) + 32 :]
    if head != heading(key, payload):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # the oldest use goes first when space runs out
    return payload


def _own(path: Path) -> bytes:
    """The bytes of a plain file of this user which nobody else can write to, else none; links are not followed."""
    try:
        handle = host.open_plain(path)
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(handle)
            own = stat.S_ISREG(found.st_mode) and not host.foreign(found)
            return file.read() if own else b""
    except OSError:
        return b""


def heading(key: str, payload: bytes) -> bytes:
    """What stands before a payload: magic and digest."""
    return MAGIC + hashlib.sha256(key.encode() + payload).digest()


def write(key: str, payload: bytes) -> None:
    """Store a payload under a key for this user alone; a folder that cannot be written to is no error."""
    place = directory()
    if place is None:
        return
    with contextlib.suppress(OSError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if refused():
            return
        path = place / f"{key}{SUFFIX}"
        if path.is_symlink():
            path.unlink()
        write_file(path, heading(key, payload) + payload, mode=0o600, lasting=False)
        _make_room(place, len(payload))


def _make_room(place: Path, written: int) -> None:
    """Keep to the limit: now and then, since looking through thousands of files takes longer than writing one."""
    most = limit()
    left = _room.get((place, most), 0) - written
    if left < 0:
        sweep(place)
        sizes = _sizes()
        total = sum(sizes.values())
        if total > most:
            for oldest, size in sizes.items():
                if total <= most - most // SHARE:
                    break
                oldest.unlink(missing_ok=True)
                total -= size
        left = min(most - total, most // SHARE)
    _room[place, most] = left
