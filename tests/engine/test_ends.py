"""How runs end: done, stopped by the text, not finite; what a lane that has ended leaves alone."""

import functools
import threading

import numpy as np
import pytest

from jointplay.engine import (
    DONE,
    NON_FINITE,
    RUNNING,
    SINGULAR_PIVOT,
    SOLVER_FAILED,
    STATUS_NAMES,
    STEP_TOO_SMALL,
    branch,
    delay,
    emit,
    loop,
    memory,
    number,
    peak,
    shared_max,
    sqrt,
    stop,
    subroutine,
    total,
    trace,
    where,
)
from jointplay.run import Run
from tests.helpers import EVERY_MODE, differences, lane_run, outcome, run_to_end, scalar_outcomes


def counting(s, p, delayed=True):
    """Counts in every way there is; ends as its parameters say.  What is delayed cannot be taken back."""
    kept = memory("kept", 1.0)
    kept.value = kept.value + 1.0
    total("sum", 1.0)
    peak("top", number(s.step), number(s.step))
    emit("rows", step=s.step, kept=kept.value)
    old = delay("past", s.x, 2, s.step, 3, -1.0) if delayed else s.x
    stop(s.step >= p.fail, p.status, s.step * 10)
    stop(s.step >= p.done)
    bad = where(s.step >= p.explode, 1e300 * s.x, 1.0)
    return {"x": s.x + 1.0, "y": bad * bad, "old": old}


def traced(delayed=True):
    start = {"fail": 100, "done": 100, "explode": 100, "status": SINGULAR_PIVOT}
    return trace(functools.partial(counting, delayed=delayed), {"x": 1.0, "y": 0.0, "old": 0.0}, start)


def numbers(run, lane=0):
    return [float(run[n][lane]) for n in ("step", "x", "old", "kept", "sum", "top", "top.time")]


@EVERY_MODE
def test_done_commits_its_step(mode):
    run = run_to_end(traced(), {"done": 4}, **mode)
    assert run.status == ["done"] and not run.running
    assert numbers(run) == [5, 6, 3, 6, 5, 4, 4]
    assert run.rows("rows")["step"].tolist() == [0, 1, 2, 3, 4]
    assert run.explain() == "done at step 5"
    before = outcome(run)
    assert run.advance(10) == 0 and differences(outcome(run), before) == []


@EVERY_MODE
@pytest.mark.parametrize("status", [SINGULAR_PIVOT, SOLVER_FAILED, STEP_TOO_SMALL])
def test_a_failure_keeps_the_last_good_state(mode, status):
    run = run_to_end(traced(), {"fail": 4, "status": status}, **mode)
    assert run.status == [STATUS_NAMES[status]]
    assert numbers(run) == [4, 5, 2, 5, 4, 3, 3]
    assert run.rows("rows")["step"].tolist() == [0, 1, 2, 3]
    assert run["detail"] == 40
    assert run.explain() == f"{STATUS_NAMES[status]} at step 4 (40)"


@EVERY_MODE
def test_the_first_reason_counts(mode):
    run = run_to_end(traced(), {"fail": 4, "done": 4}, **mode)
    assert run.status == ["singular pivot"]
    run = run_to_end(traced(), {"fail": 4, "explode": 4}, **mode)
    assert run.status == ["singular pivot"] and run["detail"] == 40


@EVERY_MODE
def test_a_state_that_is_not_finite_ends_the_run(mode):
    run = run_to_end(traced(), {"explode": 4}, **mode)
    assert run.status == ["non-finite"]
    assert numbers(run) == [4, 5, 2, 5, 4, 3, 3] and run["y"] == 1
    text = run.explain()
    assert text.startswith("non-finite at step 4: 'y' is not finite")
    assert "mul gives inf" in text and "test_ends.py:" in text and "bad * bad" in text


@EVERY_MODE
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x", lambda s, p: {"x": sqrt(2.5 - number(s.step)), "y": s.x / 2}),
        ("y", lambda s, p: {"x": s.x + 1, "y": 1 / (3.0 - number(s.step))}),
        ("m", lambda s, p: setattr(memory("m", 1.0), "value", 1 / (3.0 - number(s.step))) or {}),
    ],
)
def test_the_first_state_that_is_not_finite_is_named(mode, name, text):
    run = run_to_end(trace(text, {"x": 1.0, "y": 1.0}), steps=10, **mode)
    assert run.status == ["non-finite"] and run["step"] == 3
    assert f"step 3: {name!r} is not finite" in run.explain()


@EVERY_MODE
def test_memory_of_a_side_not_taken_does_not_shift_the_names(mode):
    def step(s, p):
        branch(s.step > 100, lambda: setattr(memory("rare", 0.0), "value", s.x), lambda: None)
        often = memory("often", 1.0)
        often.value = where(s.step > 2, often.value / 0.0, often.value)
        return {}

    run = run_to_end(trace(step, {"x": 0.0}), steps=9, **mode)
    assert "'often' is not finite" in run.explain()
    assert run["detail"] == run_to_end(run.program, steps=9, eager=False)["detail"]


@EVERY_MODE
def test_sums_and_peaks_may_be_infinite(mode):
    def step(s, p):
        total("sum", where(s.step == 2, float("inf"), 1.0))
        peak("top", where(s.step == 2, float("inf"), 1.0))
        return {"x": s.x + 1.0}

    run = run_to_end(trace(step, {"x": 0.0}), steps=5, **mode)
    assert run.status == ["running"] and run["sum"] == run["top"] == np.inf


@EVERY_MODE
def test_large_numbers_are_finite_though_their_sum_is_not(mode):
    run = run_to_end(trace(lambda s, p: {"x": s.x * 10.0, "y": s.y}, {"x": 1e307, "y": 1.7e308}), steps=2, **mode)
    assert run.status == ["non-finite"] and int(run["step"][0]) == 1 and run["x"][0] == 1e308


@pytest.mark.parametrize("delayed", [True, False])
@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_lanes_that_have_ended_keep_their_state_and_disturb_nobody(lanes, delayed):
    made = traced(delayed)
    ends = [{"fail": 3}, {}, {"explode": 5}, {"done": 2}, {"fail": 0}, {"done": 30}, {"explode": 29}, {"fail": 9}]
    sets = ends[:lanes]
    run = lane_run(made, sets, 40, eager=False, rows=16)
    alone = scalar_outcomes(made, sets, 40, eager=False)
    assert [differences(outcome(run, i), alone[i]) for i in range(lanes)] == [[]] * lanes
    wanted = [
        "singular pivot",
        "running",
        "non-finite",
        "done",
        "singular pivot",
        "done",
        "non-finite",
        "singular pivot",
    ]
    assert run.status == wanted[:lanes]


@pytest.mark.parametrize("given", [{"fail": 57}, {"explode": 99}, {"fail": 0}, {"done": 57}, {"fail": 57, "done": 57}])
def test_a_bad_step_late_in_a_call_leaves_what_the_steps_before_it_made(given):
    """One call of machine code, beside a call for each step and beside Python."""
    made = traced(delayed=False)
    once, single, eager = (Run(made, given, eager=eager) for eager in (False, False, True))
    taken = once.advance(200)
    while single.running:
        single.advance(1)
    eager.advance(200)
    for other in (single, eager):
        assert differences(outcome(once, 0), outcome(other, 0)) == []
    failed = once.status != ["done"]
    assert taken - failed == int(once["step"][0]) == len(once.rows("rows")["step"])


def test_a_lane_can_be_given_a_new_run():
    made = traced()
    run = Run(made, {"done": [3, 50]}, lanes=2, eager=False, rows=8)
    run.advance(10)
    assert run.status == ["done", "running"]
    first = run.rows("rows", 0)["step"].tolist()
    run.start(0, {"done": 7}, {"x": 100.0})
    assert run.status == ["running", "running"] and run.rows("rows", 0)["step"].tolist() == []
    run.advance()
    again = run_to_end(made, {"done": 7}, {"x": 100.0}, eager=False)
    other = run_to_end(made, {"done": 50}, eager=False)
    assert first == [0, 1, 2, 3]
    assert differences(outcome(run, 0), outcome(again)) == []
    assert differences(outcome(run, 1), outcome(other)) == []


def test_an_abandoned_lane_stays_where_it_is():
    run = Run(traced(), {"done": [100, 20]}, lanes=2, eager=False)
    run.advance(5)
    run.abandon(0)
    assert run.advance() == 16
    assert run.status == ["stopped", "done"]
    assert numbers(run, 0) == numbers(run_to_end(traced(), steps=5, eager=False))
    run.abandon(1)
    assert run.status == ["stopped", "done"]


def test_names_and_numbers_of_the_ends_agree():
    assert (STATUS_NAMES[RUNNING], STATUS_NAMES[DONE], STATUS_NAMES[NON_FINITE]) == ("running", "done", "non-finite")
    assert len(STATUS_NAMES) == STEP_TOO_SMALL + 1


def test_what_is_not_there_is_named():
    run = Run(traced(), eager=False)
    for ask in (lambda: run["nonsense"], lambda: run.rows("nonsense")):
        with pytest.raises(KeyError, match="nonsense"):
            ask()
    with pytest.raises(ValueError, match="lanes"):
        Run(traced(), lanes=3, eager=False)


@EVERY_MODE
def test_a_parameter_may_have_the_name_of_a_state(mode):
    made = trace(lambda s, p: {"a": s.a + number(p.a), "b": s.b + 1}, {"a": 0.5, "b": 2}, {"a": 3, "b": 0.25})
    run = run_to_end(made, steps=2, **mode)
    assert (run["a"], run["b"]) == (6.5, 4)


def test_lanes_share_the_largest_if_asked():
    def step(s, p):
        h = 1 / shared_max(p.speed * (1 + s.x))
        stop(s.step >= p.last)
        return {"x": s.x + h}

    made = trace(step, {"x": 0.0}, {"speed": 1.0, "last": 100})
    sets = [{"speed": 1.0}, {"speed": 4.0, "last": 2}, {"speed": 2.0}, {"speed": 0.5}]
    assert np.diff(lane_run(made, sets, 1, eager=False)["x"]).all()
    shared = lane_run(made, sets, 6, eager=False, share=True)
    x, largest = np.zeros(4), []
    for k in range(6):
        running = np.array([True, k <= 2, True, True])
        largest = max(s["speed"] * (1 + a) for s, a, r in zip(sets, x, running, strict=True) if r)
        x = np.where(running, x + 1 / largest, x)
    assert shared["x"].tolist() == x.tolist()
    with pytest.raises(ValueError, match="eager"):
        Run(made, lanes=2, share=True, eager=True)
    constant = trace(lambda s, p: {"x": shared_max(p.a)}, {"x": 0.0}, {"a": 1.0})
    assert run_to_end(constant, {"a": [3.0, 5.0]}, steps=1, lanes=2, share=True)["x"].tolist() == [5, 5]


# -- calls of machine code
def test_chunks_become_as_long_as_they_may():
    def step(s, p):
        return {"x": loop([s.x], lambda x: ([0.5 * x + p.a], True), 2_000_000)[0][0]}

    slow = Run(trace(step, {"x": 0.0}, {"a": 1.0}), eager=False)
    slow.chunk = 128
    slow.advance(129)
    quick = Run(traced(), {"fail": 1000, "done": 1000, "explode": 1000}, eager=False)
    quick.advance(500)
    assert 1 <= slow.chunk < 128 and quick.chunk > 64


def test_stop_interrupts_one_call_of_machine_code():
    run = Run(trace(lambda s, p: {"x": 0.5 * s.x + p.a}, {"x": 0.0}, {"a": 1.0}), eager=False)
    run.chunk = 10**13  # hours
    threading.Timer(0.05, run.stop).start()
    assert 0 < run.advance() < 10**13


@pytest.mark.parametrize("inside", [False, True])
def test_shared_steps_forget_lanes_that_have_ended(inside):
    """Also where the argument depends on parameters only, alone or in a subroutine."""

    def step(s, p):
        h = subroutine(shared_max)(p.h) if inside else shared_max(p.h)
        stop(s.step >= p.last)
        return {"x": s.x + h}

    sets = [{"h": 1.0}, {"h": 5.0, "last": 1}]
    run = lane_run(trace(step, {"x": 0.0}, {"h": 1.0, "last": 100}), sets, 6, eager=False, share=True)
    assert run["x"].tolist() == [5 + 5 + 4, 10]


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_a_lane_that_is_not_a_number_leaves_the_others_alone(lanes):
    def step(s, p):
        return {"x": s.x + shared_max(p.h / s.v), "v": s.v - p.dv}

    made = trace(step, {"x": 0.0, "v": 2.0}, {"h": 1.0, "dv": 0.0})
    sets = [{"h": 1.0}, {"h": 0.0, "dv": 1.0}, *({"h": 0.5} for _ in range(lanes - 2))]
    run = lane_run(made, sets, 6, eager=False, share=True)
    assert run.status == ["running", "non-finite", *["running"] * (lanes - 2)]
    assert run["x"].tolist() == [3.0, 1.0, *[3.0] * (lanes - 2)] and run["step"][1] == 2


@pytest.mark.parametrize("record", [("m",), ()])
def test_the_largest_is_that_of_the_lanes_that_run_here(record):
    def step(s, p):
        emit("rows", m=shared_max(s.x))
        return {"y": branch(s.x > p.c, lambda: shared_max(s.x) + 0.5 * s.x, lambda: s.x)}

    made = trace(step, {"x": 0.0, "y": 0.0}, {"c": 0.0}, record={"rows": record})
    state = {"x": [1.0, 5.0]}
    run = run_to_end(made, {"c": [0.0, 10.0]}, state, 1, lanes=2, eager=False, share=True)
    assert run["y"].tolist() == [1.5, 5.0]
