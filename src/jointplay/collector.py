"""Python's search for unreachable cycles, paused while programs are written: they are many small objects of which
nothing is unreachable yet, and looking them through again and again takes a tenth of the time."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_pauses: list[bool] = []  # of all threads; all but the first are false


@contextmanager
def paused() -> Iterator[None]:
    """No search within, in any thread."""
    with _lock:
        _pauses.append(gc.isenabled())
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            if _pauses.pop():
                gc.enable()


def _anew() -> None:
    """In a copied process only the thread that copied it goes on; it writes no program."""
    global _lock
    _lock = threading.Lock()
    if _pauses and _pauses[0]:
        gc.enable()
    _pauses.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_anew)
