"""The driver: what a person gives and asks between steps, mistakes that must be named, Ctrl-C."""

import itertools
import math
import os
import signal
import threading
import time

import numpy as np
import pytest

from jointplay.engine import (
    TraceError,
    branch,
    delay,
    due,
    emit,
    exp,
    loop,
    memory,
    modulo,
    number,
    peak,
    solve,
    stop,
    total,
    trace,
    where,
    whole,
)
from jointplay.host import undisturbed
from jointplay.run import Run
from tests.helpers import MODES, run_to_end, same_bits

STATE = {"x": 1.0, "v": 0.0}
PARAMETERS = {"h": 1e-3, "k": 100.0, "n": 10}


def spring(s, p):
    v = s.v - p.h * p.k * s.x
    emit("rows", step=s.step, x=s.x)
    return {"x": s.x + p.h * v, "v": v}


@pytest.fixture(scope="module")
def program():
    return trace(spring, STATE, PARAMETERS)


@pytest.mark.parametrize("steps", [2.5, 0.3 / 0.1, -5, math.nan, "3", True])
def test_steps_are_whole_numbers(program, steps):
    with pytest.raises(ValueError, match=r"whole number of steps.*round\(time / step\)"):
        Run(program).advance(steps)


@pytest.mark.parametrize("eager", [True, False])
def test_values_can_be_read_and_set_between_calls(program, eager):
    run, other = Run(program, lanes=2, eager=eager), Run(program, {"k": 50.0}, lanes=2, eager=eager)
    run.advance(5)
    run["k"], run["x"], run["v"] = 50.0, [1.0, 0.5], np.array([0.0, 0.25])
    assert run["k"].tolist() == [50.0, 50.0] and run["n"].tolist() == [10, 10]
    other["x"], other["v"] = [1.0, 0.5], [0.0, 0.25]
    run.advance(3)
    other.advance(3)
    assert run["x"].tolist() == other["x"].tolist() and run["step"].tolist() == [8, 8]
    with pytest.raises(KeyError, match=r"'q'.*x, v.*h, k, n"):
        run["q"] = 1.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"parameters": {"k": [1.0, 2.0, 3.0]}}, "'k' has 3 values for 4 lane"),
        ({"parameters": {"k": "3"}}, "'k' must be a number, got '3'"),
        ({"parameters": {"k": math.nan}}, "'k' must be a number, got nan"),
        ({"parameters": {"n": 2.5}}, "'n' is a whole number, got 2.5"),
        ({"parameters": {"x": 1.0}}, "'x' is a state, not a parameter"),
        ({"parameters": {"q": 1.0}}, "no 'q'; there are parameters h, k, n; states x, v"),
        ({"state": {"x": None}}, "'x' must be a number, got None"),
        ({"lanes": 3}, r"lanes must be one of \(1, 2, 4, 8\), got 3"),
        ({"lanes": 2.0}, "lanes must be one of"),
        ({"lanes": -1}, "lanes must be one of"),
    ],
)
def test_what_is_given_is_checked(program, given, words):
    with pytest.raises(ValueError, match=words):
        Run(program, **({"lanes": 4} | given))


def test_numbers_per_lane_may_be_an_array(program):
    run = Run(program, {"k": np.linspace(1, 4, 4)}, lanes=4)
    assert run["k"].tolist() == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(ValueError, match="made by trace"):
        Run(spring)


def test_default_arrays_are_kept_as_they_were():
    data = np.ones(3)
    made = trace(lambda s, p: {"x": p.data[s.step] + p.data.load(1)}, {"x": 0.0}, {"data": data})
    data[:] = 100.0
    run = Run(made)
    run.advance(1)
    assert run["x"] == 2.0


# -- mistakes of a text
def assigns(s, p):
    f = 0.0

    def hit():
        nonlocal f
        f = -p.k

    branch(s.x > 0.5, hit, lambda: None)
    return {"x": s.x + p.h * f}


def assigns_in_loop(s, p):
    f = 0.0

    def body(x):
        nonlocal f
        f = p.k
        return [x * 0.5], False

    loop([s.x], body, 3)
    return {"x": f}


def twice(s, p):
    return {"x": delay("d", s.x, 1, s.step, 2) - delay("d", s.v, 1, s.step, 2)}


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        (lambda s, p: None, ValueError, r"must return a dict of next states \(of x, v\), got None"),
        (lambda s, p: (s.x, s.v), ValueError, "must return a dict"),
        (lambda s, p: setattr(s, "x", s.x + 1), AttributeError, "'x' cannot be set here: return"),
        (assigns, TraceError, r"assigns to 'f' outside.*return the value"),
        (assigns_in_loop, TraceError, r"assigns to 'f' outside.*return the value"),
        (twice, ValueError, "delay 'd': another delay"),
        (lambda s, p: {"x": branch(s.x > 0, s.x, -s.x)}, TraceError, "expected a function.*write lambda"),
        (lambda s, p: {"x": memory("status", 0).value}, ValueError, "'status'.*name of a state"),
        (lambda s, p: {"x": memory("step", 0).value}, ValueError, "'step'.*name of a state"),
        (lambda s, p: stop(s.x > 0, 99) or {}, ValueError, r"stop: status must be.*got 99"),
        (lambda s, p: stop(s.x > 0, 0) or {}, ValueError, "stop: status must be"),
        (lambda s, p: {"x": where(due(s.step, 0), 1.0, 0.0)}, ValueError, "due: the interval.*got 0"),
        (lambda s, p: {"x": p.n * s.x}, TraceError, "declare parameter 'n' with a point"),
        (lambda s, p: {"x": s.x + number(s.x)}, TraceError, "a float where an integer is needed"),
    ],
)
def test_mistakes_are_named(text, error, words):
    with pytest.raises(error, match=words):
        trace(text, STATE, PARAMETERS)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("lanes", [1, 2])
def test_a_constant_that_is_not_finite_is_no_state(bad, lanes):
    for text in (
        lambda s, p: {"x": bad},
        lambda s, p: {"x": s.x * 0 + bad},
        lambda s, p: setattr(memory("m", 0.0), "value", bad) or {},
    ):
        run = Run(trace(text, {"x": 1.0}), lanes=lanes)
        run.advance(3)
        assert run.status == ["non-finite"] * lanes and run["x"].tolist() == [1.0] * lanes


def test_modulo_has_the_sign_of_the_divisor():
    def step(s, p):
        emit("rows", a=s.x % 2.5, b=(s.step - 4) % 3, c=modulo(s.x, -2.5))
        return {"x": s.x + 1.0}

    run = Run(trace(step, {"x": -4.0}))
    run.advance(9)
    rows, x = run.rows("rows"), np.arange(-4.0, 5.0)
    assert rows["a"].tolist() == (x % 2.5).tolist() and rows["c"].tolist() == (x % -2.5).tolist()
    assert rows["b"].tolist() == [(k - 4) % 3 for k in range(9)]


def test_functions_see_the_rounded_product():
    """An fma must not reach through an argument: exp(a * b) is exp of what a * b is when recorded."""

    def step(s, p):
        x = p.a * s.x
        emit("rows", x=x, f=exp(x), g=exp(where(s.step >= 0, x, 0.0)), m=x % 0.3, n=where(s.step >= 0, x, 0.0) % 0.3)
        return {"x": s.x * 1.37}

    run = Run(trace(step, {"x": 0.7}, {"a": 3.3}), eager=False)
    run.advance(12)
    rows = run.rows("rows")
    assert rows["f"].tobytes() == rows["g"].tobytes() and rows["m"].tobytes() == rows["n"].tobytes()


@pytest.mark.parametrize("eager", [True, False])
def test_any_name_and_any_order_will_do(eager):
    def step(s, p):
        branch(s.x > 1, lambda: emit("rows", t=10.0, x=s.x), lambda: emit("rows", x=s.x, t=20.0))
        return {"x": s.x + p.parameters[s.step] + p.state.load(0)}

    run = Run(trace(step, {"x": 0.0}, {"parameters": np.ones(3), "state": np.zeros(2), "stop": 3.0}), eager=eager)
    run.advance(3)
    assert run.rows("rows")["t"].tolist() == [20, 20, 10] and run.rows("rows")["x"].tolist() == [0, 1, 2]
    assert run.steps_taken == 3


def test_shifts_and_arrays_are_checked():
    with pytest.raises(TraceError, match=r"0 to 63 places, got 64"):
        trace(lambda s, p: {"k": s.k << 64}, {"k": 1})
    with pytest.raises(ValueError, match=r"'data'.*1-d array"):
        trace(lambda s, p: {}, {}, {"data": np.zeros(0)})
    made = trace(lambda s, p: {"k": p.data[0] + (s.k << p.n) + (s.k >> p.n)}, {"k": 5}, {"data": np.arange(2), "n": 65})
    with pytest.raises(ValueError, match=r"'data' holds whole numbers"):
        Run(made, {"data": np.array([0.5, 1.0])})
    runs = [Run(made, eager=True), Run(made, eager=False), Run(made, lanes=4, eager=False)]
    for run in runs:
        run.advance(1)
    assert {run["k"][0] for run in runs} == {(5 << 1) + (5 >> 1)}


# -- interruption
@pytest.mark.parametrize("eager", [False, True])
def test_ctrl_c_loses_and_repeats_nothing(program, eager):
    run = Run(program, lanes=4, eager=eager)
    for _ in range(12 if eager else 40):
        timer = threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT))
        try:
            timer.start()  # inside: on a busy machine it may ring before the next line
            end = time.perf_counter() + 5  # Python itself may swallow the signal, in a finaliser for example
            while time.perf_counter() < end:
                run.advance(20_000 if not eager else 20)
        except KeyboardInterrupt:
            timer.join()
        steps = run["step"]
        assert [len(run.rows("rows", lane)["step"]) for lane in range(4)] == steps.tolist()
    assert run.rows("rows", 3)["step"].tolist() == list(range(steps[3]))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_run_in_a_thread_can_be_stopped_and_goes_on(program):
    def endless(s, p):
        total("count", 1.0)
        return {"x": s.x}

    run = Run(trace(endless, {"x": 1.0}), eager=False)
    worker = threading.Thread(target=run.advance)
    worker.start()
    time.sleep(0.05)
    run.stop()
    worker.join(timeout=10)
    assert not worker.is_alive() and run["count"] == run["step"] > 0
    run.resume()
    assert run.advance(5) == 5


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"parameters": {"n": 2**63}}, "'n' is a 64-bit integer"),
        ({"parameters": {"n": -(2**63) - 1}}, "'n' is a 64-bit integer"),
        ({"parameters": {"n": 2.0**63}}, "'n' is a 64-bit integer"),
        ({"parameters": {"n": math.inf}}, "'n' is a 64-bit integer"),
        ({"parameters": {"a": 10**400}}, "'a' is too large"),
        ({"parameters": {"a": 1j}}, "'a' must be a number"),
        ({"parameters": {"a": np.complex128(1)}}, "'a' must be a number"),
        ({"parameters": {"whole": [2**64, 1]}}, "'whole' must be an array of 64-bit numbers"),
        ({"state": {"d": np.ones(3)}}, "'d'"),
        ({"state": {"x": math.nan}}, "'x' must be a number"),
        ({"parameters": {"nonsense": 1.0}}, "nonsense"),
    ],
)
def test_a_lane_is_not_reset_by_a_start_that_is_refused(given, words):
    def step(s, p):
        return {"x": s.x + p.a + delay("d", s.x, 1, s.step, 1), "k": s.k + p.n + p.whole[0]}

    made = trace(step, {"x": 0.0, "k": 0}, {"a": 1.0, "n": 1, "whole": np.array([1, 2])})
    run = run_to_end(made, {"a": 3.0, "n": 5}, steps=4, eager=False)
    before = run.state_words.copy(), run.parameter_words.copy(), run.arrays["whole"].copy()
    both = {"parameters": {"a": 7.0, "whole": np.array([5, 5])}, "state": {"k": 9}}
    with pytest.raises(ValueError, match=words):
        run.start(0, **{key: both[key] | given.get(key, {}) for key in both})
    for old, new in zip(before, (run.state_words, run.parameter_words, run.arrays["whole"]), strict=True):
        assert old.tolist() == new.tolist()
    with pytest.raises(ValueError, match=words):
        Run(made, **given)


def test_a_refused_setting_changes_no_lane():
    run = Run(trace(lambda s, p: {}, {"x": 1.0}), lanes=2, eager=False)
    with pytest.raises(ValueError, match="'x'"):
        run["x"] = [2.0, None]
    assert run["x"].tolist() == [1, 1]


def resumable(s, p):
    late = delay("late", s.x * p.a, 2, s.step, 5, -1.0)
    total("odd", where(s.x > 2, math.nan, 1.0))
    peak("best", s.x, s.x)
    delay("bad", s.x / where(s.step > 2, 0.0, 1.0), 1, s.step, 1)
    on = memory("on", False)
    on.value = ~on.value
    emit("rows", late=late, on=on.value)
    return {"x": s.x + 1.0, "k": s.k + 1}


@pytest.mark.parametrize("lanes", [1, 2, 8])
@pytest.mark.parametrize("eager", [True, False])
def test_all_that_can_be_read_can_be_given_back(lanes, eager):
    made = trace(resumable, {"x": 0.0, "k": 0}, {"a": 1.0})
    given = {"a": np.linspace(1, 2, lanes)}
    run = run_to_end(made, given, steps=7, lanes=lanes, eager=eager)
    kept = {name: run[name] for name in run.places}
    resumed, other = Run(made, given, kept, lanes=lanes, eager=eager), Run(made, given, lanes=lanes, eager=eager)
    for name in run.places:
        other[name] = run[name]
    for one in (run, resumed, other):
        one.advance(6)
    assert math.isnan(run["odd"][0]) and np.isinf(run["bad"]).any()
    for one in (resumed, other):
        assert same_bits(one.state_words, run.state_words)
        for lane in range(lanes):
            assert one.rows("rows", lane)["late"].tolist() == run.rows("rows", lane)["late"][7:].tolist()
    single = Run(made, {"a": given["a"][-1]}, eager=eager)
    single.start(0, {"a": given["a"][-1]}, {n: x[..., -1] for n, x in kept.items()})
    single.advance(6)
    assert same_bits(single.state_words[:, 0], run.state_words[:, -1])
    single["late"] = 4.0
    assert single["late"].tolist() == [[4.0]] * 8


def test_explain_tells_what_the_text_raises():
    fragile = False

    def step(s, p):
        if fragile:
            raise RuntimeError("not again")
        return {"x": s.x / (s.x - 2.0)}

    run = run_to_end(trace(step, {"x": 4.0}), steps=5, eager=False)
    assert run.status == ["non-finite"] and "first div gives inf" in run.explain()
    fragile = True
    assert "'x' is not finite" in run.explain() and "RuntimeError: not again" in run.explain()


def test_explain_goes_through_a_singular_newton_step():
    def step(s, p):
        (z,), _ = solve(lambda z: [branch(s.x > 0, lambda: z * z - s.x, lambda: s.x)], [1.0])
        return {"x": s.x - 0.5, "z": z}

    made = trace(step, {"x": 0.9, "z": 0.0})
    runs = [run_to_end(made, steps=5, **mode) for mode in MODES]
    assert [run.status for run in runs] == [["non-finite"]] * 3
    assert "'z' is not finite; first div gives" in runs[2].explain()


def test_explain_knows_statuses_of_its_own():
    def step(s, p):
        stop(s.x > 1, where(s.x > 1, whole(9), 1), 77)
        return {"x": s.x + 1}

    run = run_to_end(trace(step, {"x": 0.0}), eager=False)
    assert run.explain() == "status 9 at step 2 (77)"


def test_ctrl_c_does_not_wait_for_a_chunk_of_eager_steps():
    pause, calls = 0.0, iter(())

    def step(s, p):
        time.sleep(pause)
        if next(calls, 0) == 10:
            os.kill(os.getpid(), signal.SIGINT)
        emit("rows", x=s.x)
        return {"x": s.x + 1}

    made = trace(step, {"x": 0.0})
    run, pause, calls = Run(made, lanes=4, eager=True), 0.02, itertools.count(1)
    with pytest.raises(KeyboardInterrupt):
        run.advance(10**6)
    steps = run["step"].tolist()
    assert steps[0] <= 10 and len(set(steps)) == 1 and run.steps_taken == steps[0] == run["x"][0]
    assert [len(run.rows("rows", lane)["x"]) for lane in range(4)] == steps
    asked = []
    run.advance(10**6, until=lambda: asked.append(1) or len(asked) == 3)
    assert run["step"][0] - steps[0] <= 6  # asked every 50 ms, not every 64 steps


def test_eager_lanes_stay_together_when_stopped():
    calls = []

    def step(s, p):
        calls.append(1)
        if len(calls) == 7:  # the trace, one step, and in the middle of another one
            run.stop()
        return {"x": s.x + 1}

    made = trace(step, {"x": 0.0})
    run = Run(made, lanes=4, eager=True)
    taken = run.advance(8)
    run.resume()
    assert (taken, run["step"].tolist()) == (2, [2] * 4)
    assert run.advance(8 - taken) == 6 and run["step"].tolist() == [8] * 4


@pytest.mark.parametrize("other", [signal.SIG_DFL, signal.SIG_IGN])
def test_a_handler_that_is_none_of_ours_stays(other):
    before = signal.signal(signal.SIGINT, other)
    try:
        with undisturbed():
            assert signal.getsignal(signal.SIGINT) is other
    finally:
        signal.signal(signal.SIGINT, before)
    with undisturbed():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
