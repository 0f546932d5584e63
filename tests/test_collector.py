"""The search for unreachable cycles is paused while programs are written, and goes on after it."""

import gc
import threading

import pytest

from jointplay.collector import paused
from jointplay.engine import trace


def test_it_is_paused_in_a_trace_and_goes_on_after_it():
    seen = []

    def step(s, p):
        seen.append(gc.isenabled())
        return {"x": s.x + 1.0}

    trace(step, {"x": 0.0})
    assert seen == [False] and gc.isenabled()

    def wrong(s, p):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        trace(wrong, {"x": 0.0})
    assert gc.isenabled()


def test_the_last_of_several_threads_lets_it_go_on():
    ready, done = threading.Event(), threading.Event()

    def other():
        with paused():
            ready.set()
            done.wait()

    thread = threading.Thread(target=other)
    with paused():
        thread.start()
        ready.wait()
    assert not gc.isenabled()
    done.set()
    thread.join()
    assert gc.isenabled()


def test_who_does_without_it_keeps_doing_so():
    gc.disable()
    try:
        with paused(), paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
