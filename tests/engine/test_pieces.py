"""A program that is cut into short functions gives the bits of the whole one, alone and in lanes."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import jointplay as jp
from jointplay.engine import loop, number, pieces, stop, subroutine, trace
from jointplay.run import Run
from tests.helpers import differences, lane_run, outcome, run_to_end
from tests.programs import parameter_sets, program

COMMON = dict(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
NUMBERS = st.lists(st.integers(0, 999), min_size=60, max_size=200)
STEPS = 20


@contextmanager
def cut(longest: int, few: int = 40, long: int = 0):
    """Programs longer than `long` in functions of so many operations."""
    before = pieces.LONG, pieces.LONGEST, pieces.FEW
    pieces.LONG, pieces.LONGEST, pieces.FEW = long, longest, few
    try:
        yield
    finally:
        pieces.LONG, pieces.LONGEST, pieces.FEW = before


def both(made, make, longest: int, few: int = 40):
    """What `make` gives of the whole program, and of the cut one."""
    with cut(longest, long=10**9):
        whole = make()
        assert "@piece" not in pieces.assembly(made)
    made.natives.clear()
    with cut(longest, few):
        parts = make()
        assert "@piece" in pieces.assembly(made)
    made.natives.clear()
    return whole, parts


@settings(max_examples=25, **COMMON)
@given(NUMBERS, st.integers(0, 99), st.booleans(), st.integers(1, 60), st.sampled_from([0, 4, 40]))
def test_pieces_are_the_whole_program(numbers, seed, fma, longest, few):
    made = program(numbers)
    [chosen] = parameter_sets(1, seed)
    runs = both(made, lambda: run_to_end(made, chosen, steps=STEPS, eager=False, fma=fma), longest, few)
    assert differences(*map(outcome, runs)) == []


@settings(max_examples=20, **COMMON)
@given(NUMBERS, st.sampled_from([2, 4, 8]), st.integers(0, 99), st.booleans(), st.integers(1, 60), st.booleans())
def test_pieces_in_lanes(numbers, lanes, seed, fma, longest, share):
    made = program(numbers)
    sets = parameter_sets(lanes, seed)
    make = lambda: lane_run(made, sets, STEPS, eager=False, fma=fma, share=share)  # noqa: E731
    whole, parts = both(made, make, longest)
    for lane in range(lanes):
        assert differences(outcome(whole, lane), outcome(parts, lane)) == []


@settings(max_examples=8, **COMMON)
@given(NUMBERS, st.integers(0, 99))
def test_quick_code_has_the_same_bits(numbers, seed):
    made = program(numbers)
    [chosen] = parameter_sets(1, seed)
    runs = [run_to_end(made, chosen, steps=STEPS, eager=False, quick=quick) for quick in (False, True)]
    assert differences(*map(outcome, runs)) == []


@settings(max_examples=6, **COMMON)
@given(NUMBERS, st.sampled_from([2, 4, 8]), st.integers(0, 99))
def test_quick_code_has_the_same_bits_in_lanes(numbers, lanes, seed):
    made, sets = program(numbers), parameter_sets(lanes, seed)
    runs = [lane_run(made, sets, STEPS, eager=False, quick=quick) for quick in (False, True)]
    for lane in range(lanes):
        assert differences(*(outcome(run, lane) for run in runs)) == []


def test_better_code_takes_over_on_the_way(monkeypatch, tmp_path):
    """A run begins on quick code and has better code made beside it; the next one, or another process, begins on that;
    the bits are those of either."""
    monkeypatch.setenv("JOINTPLAY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("jointplay.run.QUICK_SECONDS", 0.0)  # at once

    def step(s, p):
        return {"x": s.x + p.h * s.y, "y": s.y - p.h * s.x * s.x}

    def made():
        return trace(step, {"x": 0.3, "y": 0.2}, {"h": 0.01})

    def makers():
        return [one for one in threading.enumerate() if one.name == "jointplay code"]

    first = made()
    run = Run(first, eager=False, quick=None)
    quick = run.native
    run.advance(40)
    for maker in makers():
        maker.join()
    run.advance(2)  # goes over after these
    better = first.natives[1, True, False, False]
    assert run.native is better is not quick and run.better is None
    run.advance(58)
    whole = Run(made(), eager=False)
    whole.advance(100)
    assert run.state_words.tolist() == whole.state_words.tolist()
    again = Run(first, eager=False, quick=None)
    elsewhere = Run(made(), eager=False, quick=None)  # as in another process: from the disk
    assert again.native is better and elsewhere.native.cached and elsewhere.better is None
    assert not makers()


def test_simulate_begins_on_quick_code_and_a_simulation_does_not(monkeypatch, tmp_path):
    monkeypatch.setenv("JOINTPLAY_CACHE_DIR", str(tmp_path))
    chain = jp.library.pendulum(3, angles=[0.1, 0.2, 0.3], length=1.25).replace(name="never seen before")
    seen = []
    monkeypatch.setattr("jointplay.simulation.course.Run", lambda *a, **k: seen.append(k["quick"]) or Run(*a, **k))
    jp.simulate(chain, until=0.1, every=0.05, error=False)
    jp.Simulation(chain)
    assert seen == [None, False]


def test_values_that_change_places():
    """A loop and a step whose ends are what others were: nothing is written before it is read."""

    def step(s, p):
        turn = lambda a, b, c, n: ([b, c, a, n + 1], n < p.rounds)  # noqa: E731
        (x, y, z, _), _ = loop([s.x, s.y, s.z, 0.0], turn, 7)
        stop(s.step >= 5)
        return {"x": s.y, "y": s.x, "z": s.z + x - 2.0 * y + z, "n": number(s.step)}

    made = trace(step, {"x": 0.1, "y": 0.3, "z": 0.7, "n": 0.0}, {"rounds": 3.0})
    for lanes in (1, 4):
        rounds = [1.0, 3.0, 2.0, 5.0][:lanes]
        make = lambda: run_to_end(made, {"rounds": rounds}, lanes=lanes, eager=False)  # noqa: B023, E731
        whole, parts = both(made, make, 2)
        assert [differences(outcome(whole, i), outcome(parts, i)) for i in range(lanes)] == [[]] * lanes
    alone = run_to_end(made, {"rounds": 3.0}, eager=True)
    assert differences(outcome(alone), outcome(run_to_end(made, {"rounds": 3.0}, eager=False, fma=False))) == []


def test_a_subroutine_in_a_subroutine_uses_what_is_around():
    def step(s, p):
        @subroutine
        def outer(a, b):
            scale = a * p.k + b

            @subroutine
            def inner(c):
                return [c * scale + a, c - b * scale, c]

            first = inner(b)
            return [*inner(first[0]), first[1], scale, a]

        x, y, *_, scale, _ = outer(s.x, s.y)
        stop(s.step >= 5)
        return {"x": 0.1 * (x + scale), "y": 0.1 * y + outer(0.1 * y, s.x)[3]}

    made = trace(step, {"x": 0.4, "y": -0.2}, {"k": 0.5})
    for few in (0, 40):
        whole, parts = both(made, lambda: run_to_end(made, eager=False), 2, few)
        assert differences(outcome(whole), outcome(parts)) == []


CRANK = jp.library.crank_rocker_2016(clearance2=1e-3)


@pytest.mark.parametrize("lanes", [1, 4])
def test_mechanisms_in_pieces(lanes):
    """Impacts and friction, with their loops and branches, in steps of a rigid contact."""
    sets = [{"J2.clearance": 1e-3 * (1 + i)} for i in range(lanes)]

    def states():
        one = jp.Simulation(CRANK, jp.MoreauJean(1e-4), lanes=sets)
        one.step(300)
        return one.run

    whole, parts = both(jp.Simulation(CRANK, jp.MoreauJean(1e-4), lanes=sets).program, states, 50)
    assert [differences(outcome(whole, i), outcome(parts, i)) for i in range(lanes)] == [[]] * lanes


def test_long_programs_are_cut_by_themselves_and_the_frame_is_the_run_s():
    chain = jp.Simulation(jp.library.pendulum(8, angles=[0.1 * i for i in range(8)]), jp.FixedRungeKutta(1e-3))
    assert chain.program.operations > pieces.LONG and chain.run.native.frame > 1000
    assert chain.run.frame.size == chain.run.native.frame and chain.run.frame.ctypes.data % 64 == 0
    other = Run(chain.program)
    assert other.native is chain.run.native and other.frame is not chain.run.frame
    assert Run(trace(lambda s, p: {"x": s.x * 0.5}, {"x": 1.0})).frame.size == 0


INTERRUPTED = """
import jointplay as jp
import jointplay.run
jointplay.run.QUICK_SECONDS = 0.0  # better code is made at once, in a thread
bars = [f"b{i}" for i in range(12)]
joints = {"J0": {"kind": "revolute", "between": ["ground.O", "b0.start"]}}
joints |= {f"J{b}": {"kind": "revolute", "between": [f"{a}.end", f"{b}.start"]} for a, b in zip(bars, bars[1:])}
chain = jp.Mechanism(
    name="chain", ground={"points": {"O": (0, 0)}}, bodies={b: {"bar": 0.1, "mass": 0.1} for b in bars}, joints=joints
)
jp.simulate(chain, 0.01, jp.FixedRungeKutta(1e-4))
print("done", flush=True)
"""


@pytest.mark.parametrize("moment", [0.0, 0.1, 0.3])
def test_ctrl_c_while_the_end_waits_for_better_code_ends_the_process(tmp_path, moment):
    """It ended in a segmentation fault now and then: LLVM was at work while the interpreter was taken down."""
    place = {**os.environ, "JOINTPLAY_CACHE_DIR": str(tmp_path)}
    child = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True, env=place)
    assert child.stdout.readline() == "done\n"
    time.sleep(moment)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    assert child.returncode in (0, 130, -signal.SIGINT)  # ended before, here, or after it had waited
