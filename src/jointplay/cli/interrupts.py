"""Ctrl-C and SIGTERM: at once where nothing is lost by it, and after what was computed is kept where something is."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_asked = False


@contextlib.contextmanager
def watched(patient: bool) -> Iterator[None]:
    """Both signals raise KeyboardInterrupt inside; where that would lose something (patient), the first one only asks
    for an end, which `obey` gives it."""
    global _asked
    _asked = False
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    deaf = signal.getsignal(signal.SIGINT) == signal.SIG_IGN  # as of a background job of a shell

    def come(number: int, frame: Any) -> None:
        global _asked
        if number == signal.SIGINT and deaf:
            return
        first, _asked = not _asked, True
        if not (patient and first):
            raise KeyboardInterrupt

    def terminated(number: int, frame: Any) -> None:  # whoever holds Ctrl-C back for a moment holds this back too
        handler = signal.getsignal(signal.SIGINT)
        (handler if callable(handler) else come)(number, frame)

    before = [signal.signal(signal.SIGINT, come), signal.signal(signal.SIGTERM, terminated)]
    try:
        yield
    finally:
        for number, handler in zip(SIGNALS, before, strict=True):
            if signal.getsignal(number) != signal.SIG_IGN:  # `deafen` lasts until the process ends
                signal.signal(number, handler)


def asked() -> bool:
    """Whether a signal came."""
    return _asked


def obey() -> None:
    """Where computing may stop: raises KeyboardInterrupt if a signal came."""
    if _asked:
        raise KeyboardInterrupt


def settle() -> None:
    """Let the process end with its own exit code after a KeyboardInterrupt was caught.

    Python remembers one that leaves a text given to exec, of which dataclasses and named tuples are made while modules
    are imported, and `python -m` then ends itself by SIGINT (exit code -2), though it was caught. The next text that
    ends well makes it forget.
    """
    exec("")


def deafen() -> None:
    """Ignore both signals: all is done, and the interpreter only has to end."""
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
