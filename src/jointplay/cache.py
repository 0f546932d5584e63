"""Machine code kept between processes; a damaged file is never handed to LLVM."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

MAGIC = b"jointplay object 1\n"
SUFFIX = ".jpo"


def directory() -> Path:
    """Where machine code is kept: JOINTPLAY_CACHE_DIR, else the user's cache folder."""
    chosen = os.environ.get("JOINTPLAY_CACHE_DIR")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jointplay"


def limit() -> int:
    """Most bytes kept: JOINTPLAY_CACHE_MB megabytes, 200 unless said otherwise."""
    given = os.environ.get("JOINTPLAY_CACHE_MB", "200")
    try:
        return int(float(given) * 1e6)
    except (ValueError, OverflowError):
        raise ValueError(f"JOINTPLAY_CACHE_MB must be a number of megabytes, got {given!r}") from None


def entries() -> list[Path]:
    """The cached files, oldest use first."""
    with contextlib.suppress(OSError):
        return sorted(directory().glob(f"*{SUFFIX}"), key=lambda p: p.stat().st_mtime)
    return []


def clear() -> tuple[int, int]:
    """Delete every cached file; gives how many and how many bytes."""
    sizes = []
    for path in entries():
        with contextlib.suppress(FileNotFoundError):
            sizes.append(path.stat().st_size)
            path.unlink()
    return len(sizes), sum(sizes)


def read(key: str) -> bytes | None:
    """The payload stored under a key if it is there and every byte is right."""
    path = directory() / f"{key}{SUFFIX}"
    with contextlib.suppress(OSError):
        data = path.read_bytes()
        head, payload = data[: len(MAGIC) + 32], data[len(MAGIC) + 32 :]
        if head == heading(key, payload):
            with contextlib.suppress(OSError):
                os.utime(path)  # the oldest use goes first when space runs out
            return payload
    return None


def heading(key: str, payload: bytes) -> bytes:
    """What stands before a payload: magic and digest."""
    return MAGIC + hashlib.sha256(key.encode() + payload).digest()


def write(key: str, payload: bytes) -> None:
    """Store a payload under a key; a folder that cannot be written to is no error."""
    with contextlib.suppress(OSError):
        directory().mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=directory(), suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(heading(key, payload) + payload)
            os.replace(name, directory() / f"{key}{SUFFIX}")
        except OSError:
            os.unlink(name)
            raise
        sizes = {p: p.stat().st_size for p in entries()}
        while sizes and sum(sizes.values()) > limit():
            oldest = next(iter(sizes))
            oldest.unlink(missing_ok=True)
            del sizes[oldest]
