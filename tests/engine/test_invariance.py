"""The numbers of a run do not depend on lanes, chunks, buffers, pauses, copies, output or the cache."""

import threading
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jointplay.engine import (
    Pair,
    branch,
    delay,
    derivative,
    due,
    emit,
    loop,
    memory,
    minimum,
    number,
    peak,
    random,
    sin,
    stop,
    subroutine,
    total,
    trace,
    where,
    whole,
)
from jointplay.run import Run
from tests.helpers import bits_of, differences, outcome, scalar_outcomes

COMMON = dict(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
LAST = 600


def journal(s, p):
    """A journal bouncing in a circle, shaken by a noisy and late controller; impacts, samples, sums."""
    t = p.h * number(s.step + 1)
    goal, integral = memory("goal", 0.0), memory("integral", 0.0)
    noise = random(p.seed, p.run, s.step) - 0.5
    late = delay("sensor", s.x + 0.01 * noise, p.lag, s.step, 15)

    def control():
        integral.value = integral.value + 0.1 * (sin(3 * t) * 0.3 - late)
        goal.value = 2.0 * (sin(3 * t) * 0.3 - late) + integral.value
        total("decisions", 1.0)

    branch(due(s.step, 4), control, lambda: None)
    v = Pair(s.vx + p.h * goal.value, s.vy - p.h * p.gravity)
    r = Pair(s.x, s.y) + p.h * v
    distance = abs(r)

    def impact():
        n = r * (1 / distance)
        approach, slip = v.dot(n), n.cross(v)
        lost = minimum(p.friction * (1 + p.e) * approach, abs(slip))
        after = v - n * ((1 + p.e) * approach) - n.turned() * where(slip > 0, lost, -lost)
        emit("impacts", step=s.step, t=t, x=r.x, speed=approach)
        total("energy lost", 0.5 * (v.dot(v) - after.dot(after)))
        peak("approach", approach, t)
        return [n.x, n.y, after.x, after.y]

    touching = (distance >= 1.0) & (r.dot(v) > 0)
    x, y, vx, vy = branch(touching, impact, lambda: [r.x, r.y, v.x, v.y])
    sample = due(s.step, p.every)
    branch(sample, lambda: emit("samples", step=s.step, t=t, x=x, y=y, energy=0.5 * (vx * vx + vy * vy)), lambda: None)
    stop(s.step >= p.last)
    return {"x": x, "y": y, "vx": vx, "vy": vy}


def chain(s, p):
    """Two coupled oscillators with a subroutine, a loop of its own length and several rows in a step."""

    @subroutine
    def force(x, y):
        return -p.gravity * sin(x) + p.e * (y - x)

    def half(x, n):
        emit("rounds", step=s.step, n=n, x=x)
        return (0.5 * x, n + 1), abs(x) > 0.3

    (rest, n), unfinished = loop((s.x, whole(0)), half, 4)
    memory("longest", 0).value = where(n > memory("longest", 0).value, n, memory("longest", 0).value)
    total("unfinished", where(unfinished, 1.0, 0.0))
    peak("stretch", abs(s.x - s.y), p.h * number(s.step))
    branch(due(s.step, p.every), lambda: emit("samples", step=s.step, x=s.x, energy=s.vx * s.vx), lambda: None)
    stop(s.step >= p.last)
    vx, vy = s.vx + p.h * force(s.x, s.y) + 0.001 * rest, s.vy + p.h * force(s.y, s.x)
    return {"x": s.x + p.h * vx, "y": s.y + p.h * vy, "vx": vx, "vy": vy}


STATE = {"x": 0.2, "y": 0.1, "vx": 1.5, "vy": 0.3}
PARAMETERS = dict(h=0.01, gravity=2.0, friction=0.1, e=0.8, lag=3, seed=1, run=0, every=5, last=LAST)
SETS = [{"run": i, "e": 0.5 + 0.06 * i, "lag": 2 * i, "last": LAST - 37 * i, "every": 1 + i} for i in range(8)]
PROGRAMS = {text.__name__: trace(text, STATE, PARAMETERS) for text in (journal, chain)}
EACH = pytest.mark.parametrize("name", PROGRAMS)


@pytest.fixture(scope="module")
def right():
    """What each set of parameters gives when run alone, at once."""
    return {n: scalar_outcomes(p, SETS, eager=False) for n, p in PROGRAMS.items()}.__getitem__


def check(run: Run, right: list, lanes: int) -> None:
    assert [differences(outcome(run, lane), right[lane]) for lane in range(lanes)] == [[]] * lanes


def started(name: str, lanes: int, **options) -> Run:
    run = Run(PROGRAMS[name], lanes=lanes, eager=False, **options)
    for lane in range(lanes):
        run.start(lane, SETS[lane])
    return run


def forget(name: str) -> None:
    """Let the machine code of a program come from the cache again."""
    PROGRAMS[name].natives.clear()


@EACH
def test_the_programs_do_something(right, name):
    lengths = {column: len(x) for column, x in right(name)[0].items()}
    rows = "impacts.t" if name == "journal" else "rounds.x"
    assert lengths[rows] > 10 and lengths["samples.x"] == LAST + 1
    assert len({x["state"][0] for x in right(name)}) == 8


@EACH
@settings(max_examples=30, **COMMON)
@given(
    lanes=st.sampled_from([1, 2, 4, 8]),
    pieces=st.lists(st.integers(1, 200), max_size=8),
    chunk=st.sampled_from([1, 3, 64, 100_000]),
    rows=st.sampled_from([1, 2, 13, 4096]),
)
def test_pieces_chunks_and_buffers(right, name, lanes, pieces, chunk, rows):
    run = started(name, lanes, rows=rows)
    run.chunk = chunk
    for n in pieces:
        assert run.advance(n) <= n
    chunk = run.chunk
    assert run.advance(until=lambda: True) <= chunk
    run.advance()
    assert run.steps_taken == LAST + 1
    check(run, right(name), lanes)


@EACH
@settings(max_examples=12, **COMMON)
@given(
    lanes=st.sampled_from([1, 4]),
    places=st.lists(st.integers(0, LAST), min_size=1, max_size=3),
    rows=st.sampled_from([3, 4096]),
)
def test_copies_of_state_and_parameters_go_on(right, name, lanes, places, rows):
    run, kept = started(name, lanes), []
    for n in sorted(places):
        run.advance(n - run.steps_taken - sum(k.steps_taken for k in kept))
        kept.append(run)
        fresh = Run(PROGRAMS[name], lanes=lanes, eager=False, rows=rows)
        fresh.state_words[:], fresh.parameter_words[:] = run.state_words, run.parameter_words
        run = fresh
    run.advance()
    kept.append(run)
    for lane in range(lanes):
        assert np.array_equal(bits_of(run.state_words[:, lane]), right(name)[lane]["state"])
        for stream in run.program.streams:
            for column in run.rows(stream):
                joined = np.concatenate([k.rows(stream, lane)[column] for k in kept])
                assert np.array_equal(bits_of(joined), right(name)[lane][f"{stream}.{column}"])


@EACH
def test_a_lane_may_continue_in_another_place(right, name):
    run = started(name, 1)
    run.advance(123)
    wide = Run(PROGRAMS[name], lanes=4, eager=False)
    wide.state_words[:, 2:3], wide.parameter_words[:, 2:3] = run.state_words, run.parameter_words
    wide.advance()
    assert np.array_equal(bits_of(wide.state_words[:, 2]), right(name)[0]["state"])


@EACH
def test_a_run_stopped_by_another_thread_resumes(name):
    given = {**SETS[0], "last": 300_000, "every": 100}
    [wanted] = scalar_outcomes(PROGRAMS[name], [given], eager=False)
    run = Run(PROGRAMS[name], given, eager=False, rows=512)
    ended, inside = threading.Event(), 0

    def pester():
        while not ended.is_set():
            time.sleep(2e-4)
            run.stop()

    thread = threading.Thread(target=pester)
    thread.start()
    while run.running:
        inside += 0 < run.advance() < 300_001
        run.resume()
    ended.set()
    thread.join()
    assert inside > 2
    assert differences(outcome(run), wanted) == []
    run.stop()
    run.start(0, given)
    assert run.advance(10) == 0  # stays stopped until told otherwise


def test_stop_interrupts_a_long_run_at_once_and_nothing_is_lost():
    made = PROGRAMS["chain"]
    run = Run(made, {"last": 10**12, "every": 1000}, eager=False)
    run.chunk = 10**12  # one call of machine code, but for full buffers
    threading.Timer(0.05, run.stop).start()
    taken = run.advance()
    assert 0 < taken < 10**12 and taken == run.steps_taken == run["step"][0]
    again = Run(made, {"last": 10**12, "every": 1000}, eager=False)
    again.advance(taken)
    assert differences(outcome(run), outcome(again)) == []
    assert run.rows("samples")["step"].tolist() == list(range(0, taken, 1000))


@EACH
@pytest.mark.parametrize("every", [2, 7, 10_000])
def test_the_output_interval_changes_rows_only(right, name, every):
    run = Run(PROGRAMS[name], {**SETS[0], "every": every}, eager=False)
    run.advance()
    words, wanted = bits_of(run.state_words[:, 0]), right(name)[0]
    unlike = np.flatnonzero(words != wanted["state"])
    assert set(unlike) <= {run.places.get("samples.next")}  # when the next row is due
    for column, values in run.rows("samples").items():
        assert np.array_equal(bits_of(values), wanted[f"samples.{column}"][::every])
    for column in [n for n in wanted if n.startswith(("impacts", "rounds"))]:
        stream, _, short = column.partition(".")
        assert np.array_equal(bits_of(run.rows(stream)[short]), wanted[column])


@EACH
@pytest.mark.parametrize("record", [("x",), ("energy", "step"), ()])
@pytest.mark.parametrize("lanes", [1, 2])
def test_recorded_signals_change_no_number(right, name, record, lanes):
    text = {"journal": journal, "chain": chain}[name]
    run = Run(trace(text, STATE, PARAMETERS, record={"samples": record}), lanes=lanes, eager=False)
    for lane in range(lanes):
        run.start(lane, SETS[lane])
    run.advance()
    full = Run(PROGRAMS[name], eager=False)
    for lane in range(lanes):
        for state, at in run.places.items():
            assert bits_of(run.state_words[at, lane : lane + 1]) == right(name)[lane]["state"][full.places[state]]
        for column in record:
            assert np.array_equal(bits_of(run.rows("samples", lane)[column]), right(name)[lane][f"samples.{column}"])
    assert list(run.rows("samples")) == list(record) if record else "samples" not in run.program.streams


@EACH
def test_a_cold_cache_gives_the_numbers_of_a_warm_one(right, name, tmp_path, monkeypatch):
    monkeypatch.setenv("JOINTPLAY_CACHE_DIR", str(tmp_path))
    for cached in (False, True):
        forget(name)
        run = started(name, 2)
        assert run.native.cached is cached
        run.advance()
        check(run, right(name), 2)


@EACH
def test_the_place_of_a_lane_does_not_matter(right, name):
    run = Run(PROGRAMS[name], lanes=8, eager=False)
    order = [5, 2, 7, 0, 1, 6, 3, 4]
    for lane, which in enumerate(order):
        run.start(lane, SETS[which])
    run.advance()
    check(run, [right(name)[which] for which in order], 8)


@EACH
def test_eager_is_the_build_without_fused_products(name):
    given = {**SETS[1], "last": 60}
    outcomes = [
        scalar_outcomes(PROGRAMS[name], [given], **mode)[0]
        for mode in ({"eager": True}, {"eager": False, "fma": False})
    ]
    assert differences(*outcomes) == []


def test_recording_in_a_side_does_not_change_a_derivative():
    def step(s, p):
        u = p.a * (p.b * s.x)

        def side():
            emit("events", x=s.x)
            return u

        slope = derivative([branch(s.x > -9.0, side, lambda: u)], [s.x])[0][0]
        return {"x": slope - p.c}

    found = set()
    for record in (None, {"events": ()}):
        run = Run(trace(step, {"x": 1 / 3}, {"a": 0.1, "b": 0.7, "c": 0.1 * 0.7}, record=record), eager=False)
        run.advance(1)
        found.add(run["x"].tobytes())
    assert len(found) == 1
