"""Files written whole or not at all: under a temporary name, onto the disk, then renamed."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

from . import host

LEFT = ".tmp"  # how temporary names end


def write(
    path: str | os.PathLike[str], data: bytes | Iterable[bytes], mode: int | None = None, lasting: bool = True
) -> None:
    """Write a file so that its name never stands for half of it, also after a power cut; a link is followed.

    data: the bytes, or pieces of them. mode: its permissions, unless they are to be those of the file that it replaces.
    lasting: wait for the disk, and remove what killed writers of this file left; of one that has a digest and can be
    made again neither is needed.
    """
    target = Path(os.path.realpath(path))
    if lasting:
        sweep(target.parent, f".{target.name}.")
    with _named(path), _temporary(target) as (name, handle):
        with os.fdopen(os.dup(handle), "wb") as file:
            for piece in [data] if isinstance(data, bytes | bytearray | memoryview) else data:
                file.write(piece)
        with contextlib.suppress(FileNotFoundError):
            host.set_mode(name, os.stat(target).st_mode & 0o777 if mode is None else mode)
        if lasting:
            os.fsync(handle)
        if not host.can_rename_open_files():
            os.close(handle)
        os.replace(name, target)
        if lasting:
            host.settle(target.parent)


def sweep(directory: Path, begins: str = "") -> int:
    """Remove what processes that were killed left of files whose temporary names begin so; gives how many.

    A process holds a lock on its temporary file, which ends with the process.
    """
    found = 0
    with contextlib.suppress(OSError):
        for name in os.listdir(directory):
            if name.startswith(begins) and name.endswith(LEFT) and _abandoned(directory / name):
                found += 1
    return found


def _abandoned(path: Path) -> bool:
    """Whether nobody writes the temporary file any more; it is removed then."""
    try:
        handle = host.open_plain(path)
    except OSError:
        return False
    try:
        free = host.can_rename_open_files() and host.lock(handle)  # else somebody writes it
        if free:
            os.unlink(path)
        return free
    except OSError:  # it is not ours to remove
        return False
    finally:
        os.close(handle)


@contextlib.contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """An error of the disk that names no file names this one."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = os.fspath(path)
        raise


@contextlib.contextmanager
def _temporary(target: Path) -> Iterator[tuple[Path, int]]:
    """A new locked file beside the target; it is gone afterwards, unless it was renamed.

    The lock is one that readers share: the file has its final name before the lock ends, and HDF5 locks what it reads.
    """
    while True:
        name = target.with_name(f".{target.name}.{secrets.token_hex(6)}{LEFT}")
        handle = host.open_new(name)
        try:
            with contextlib.suppress(OSError):  # a file system without locks: nobody sweeps there either
                host.lock(handle, shared=True)
            if os.fstat(handle).st_nlink:  # else swept between its making and its locking
                yield name, handle
                return
        finally:
            with contextlib.suppress(OSError):
                os.unlink(name)
            with contextlib.suppress(OSError):  # closed already where it had to be
                os.close(handle)
