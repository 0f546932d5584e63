"""Branches, loops, subroutines, memory, rows and ends, in all modes."""

import math

import numpy as np
import pytest

from jointplay.engine import (
    TraceError,
    assembly,
    branch,
    delay,
    derivative,
    emit,
    loop,
    memory,
    peak,
    stop,
    subroutine,
    total,
    trace,
    where,
    whole,
)
from jointplay.run import Run
from tests.helpers import (
    EVERY_MODE,
    MODES,
    differences,
    lane_run,
    outcome,
    recorded,
    run_to_end,
    same_bits,
    scalar_outcomes,
)


def nothing():
    return None


# -- branch
@EVERY_MODE
def test_a_branch_runs_the_side_it_needs(mode):
    def step(s, p):
        def side(name, gain):
            total(name, 1.0)
            emit("visits", step=s.step, side=gain)
            return s.x * gain

        even = (s.step & 1) == 0
        return {"x": branch(even, lambda: side("even", 2.0), lambda: side("odd", 0.5))}

    run = run_to_end(trace(step, {"x": 1.0}), steps=7, **mode)
    assert (run["even"], run["odd"], run["x"]) == (4, 3, 2)
    assert run.rows("visits")["side"].tolist() == [2, 0.5, 2, 0.5, 2, 0.5, 2]
    assert run.rows("visits")["step"].tolist() == list(range(7))


@pytest.mark.parametrize("lanes", [1, 4])
def test_a_side_that_no_lane_needs_costs_nothing(lanes):
    def step(s, p):
        def long():
            return loop([s.x], lambda x: ([x * 0.999 + p.a], True), 10**13)[0][0]

        return {"x": branch(s.x < 0, long, lambda: branch(s.x > 1e9, long, lambda: s.x + 1.0))}

    run = Run(trace(step, {"x": 0.0}, {"a": 0.5}), lanes=lanes, eager=False)
    run.advance(100)  # one such loop takes hours
    assert run["x"].tolist() == [100] * lanes


@EVERY_MODE
def test_nested_branches_touch_memory_and_give_several_values(mode):
    def step(s, p):
        count, last = memory("count", 0), memory("last", -1.0)

        def deep():
            last.value = s.x
            return s.x - 3.0, True, s.step

        def shallow():
            count.value = count.value + 1
            return branch(s.x > 2.0, deep, lambda: (s.x + 1.0, s.x > 1.0, count.value))

        x, mask, k = branch(s.x >= 0.5, shallow, lambda: (s.x + 0.5, False, whole(-1)))
        emit("rows", x=x, mask=mask, k=k, last=last.value)
        return {"x": x}

    run = run_to_end(trace(step, {"x": 0.0}), steps=6, **mode)
    rows = run.rows("rows")
    assert rows["x"].tolist() == [0.5, 1.5, 2.5, -0.5, 0.0, 0.5]
    assert rows["mask"].tolist() == [0, 0, 1, 1, 0, 0]
    assert rows["k"].tolist() == [-1, 1, 2, 3, -1, -1]
    assert rows["last"].tolist() == [-1, -1, -1, 2.5, 2.5, 2.5]
    assert run["count"] == 3


# -- loop
def collatz(s, p):
    """Halve or triple until 1; the rounds differ from lane to lane."""

    def body(n, rounds):
        n = where((n & 1) == 0, n >> 1, 3 * n + 1)
        emit("path", n=n)
        total("rounds in all", 1.0)
        return (n, rounds + 1), n > 1

    (n, rounds), unfinished = loop((s.n, whole(0)), body, 20)
    emit("ends", n=n, rounds=rounds, unfinished=unfinished)
    stop(s.step >= 1)
    return {"n": s.n + p.more}


def python_collatz(n, most=20):
    path = []
    while True:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        path.append(n)
        if n <= 1 or len(path) == most:
            return path


@EVERY_MODE
@pytest.mark.parametrize("start", [(1, 1), (6, 3), (26, 1), (27, 2)])
def test_a_loop_ends_by_its_data_or_at_most(mode, start):
    n, more = start
    run = run_to_end(trace(collatz, {"n": n}, {"more": more}), **mode)
    paths = [python_collatz(n), python_collatz(n + more)]
    assert run.rows("path")["n"].tolist() == paths[0] + paths[1]
    ends = run.rows("ends")
    assert ends["n"].tolist() == [p[-1] for p in paths]
    assert ends["rounds"].tolist() == [len(p) for p in paths]
    assert ends["unfinished"].tolist() == [p[-1] > 1 for p in paths]
    assert run["rounds in all"] == len(paths[0]) + len(paths[1])


def test_lanes_leave_a_loop_one_by_one():
    made, more = trace(collatz, {"n": 3}, {"more": 0}), [1, 24, 2, 3, 0, 5, 6, 7]
    sets = [{"more": m} for m in more]
    run = lane_run(made, sets, eager=False)
    alone = scalar_outcomes(made, sets, eager=False)
    assert [differences(outcome(run, i), alone[i]) for i in range(8)] == [[]] * 8
    assert len({len(run.rows("path", i)["n"]) for i in range(8)}) > 4


@EVERY_MODE
@pytest.mark.parametrize("again", [True, False])
def test_a_loop_may_go_on_by_a_plain_truth(mode, again):
    def step(s, p):
        [x], unfinished = loop([s.x], lambda x: ([x + 1.0], again), 5)
        return {"x": x, "u": where(unfinished, 1.0, 0.0)}

    run = run_to_end(trace(step, {"x": 0.0, "u": 0.5}), steps=1, **mode)
    assert (run["x"], run["u"]) == ((5, 1) if again else (1, 0))


@EVERY_MODE
def test_memory_in_nested_loops_and_branches(mode):
    def step(s, p):
        inner, outer, flips = memory("inner", 0), memory("outer", 10), memory("on", False)

        def column(j, i):
            inner.value = inner.value + branch((j & 1) == 0, lambda: j * i, lambda: whole(1))
            branch(j == 2, lambda: setattr(outer, "value", outer.value + i), nothing)
            return (j + 1, i), j < i

        def row(i):
            loop((whole(0), i), column, 9)
            flips.value = ~flips.value
            return [i + 1], i < 3

        loop([whole(1)], row, 9)
        return {"x": s.x + 1.0}

    run = run_to_end(trace(step, {"x": 0.0}), steps=2, **mode)
    inner, outer = 0, 10
    for _ in range(2):
        for i in (1, 2, 3):
            for j in range(i + 1):
                inner += j * i if j % 2 == 0 else 1
                outer += i if j == 2 else 0
    assert (run["inner"], run["outer"], run["on"]) == (inner, outer, False)


@EVERY_MODE
def test_memory_set_to_a_constant_is_a_value_like_any_other(mode):
    def step(s, p):
        gain, on, count = memory("gain", 1.0), memory("on", False), memory("count", 3)

        def side():
            gain.value, on.value, count.value = 0.0, True, 7

        branch(s.x < 0, side, nothing)
        flag = memory("flag", True)
        flag.value = False
        emit("rows", zero=gain.value * s.x, none=gain.value / s.y, off=~on.value, up=~flag.value, more=count.value + 1)
        return {}

    rows = run_to_end(trace(step, {"x": -0.5, "y": 0.0}), steps=1, **mode).rows("rows")
    assert same_bits(rows["zero"], [-0.0]) and np.isnan(rows["none"]).all()
    assert [rows[n].tolist() for n in ("off", "up", "more")] == [[0], [1], [8]]


# -- rows
@EVERY_MODE
def test_rows_of_loops_are_all_kept(mode):
    def step(s, p):
        def body(k):
            emit("rows", step=s.step, k=k)
            branch((k & 1) == 1, lambda: emit("odd", k=k), nothing)
            return [k + 1], k < s.step & 3

        loop([whole(0)], body, 5)

    run = run_to_end(trace(step, {}), steps=200, **({} if mode["eager"] else {"rows": 7}), **mode)
    wanted = [(n, k) for n in range(200) for k in range((n & 3) + 1)]
    assert list(zip(*(x.tolist() for x in run.rows("rows").values()), strict=True)) == wanted
    assert run.rows("odd")["k"].tolist() == [k for _, k in wanted if k & 1]


# -- subroutines
def test_a_subroutine_is_written_once():
    @subroutine
    def spring(x, v):
        return -x * 3.0 - 0.1 * v, x * v

    def step(s, p):
        a = [spring(s.x, s.v)[0], *(spring(s.x + k, s.v * p.a)[1] for k in (0.5, 0.25, 0.125))]
        return {"x": s.x + 0.01 * s.v, "v": s.v + 0.01 * sum(a)}

    made = trace(step, {"x": 1.0, "v": 0.0}, {"a": 2.0})
    for lanes in (1, 2):
        assert assembly(made, lanes).count("define internal") == 1
    runs = [run_to_end(made, steps=50, **mode) for mode in MODES]
    assert differences(outcome(runs[0]), outcome(runs[1])) == []
    np.testing.assert_allclose(runs[0]["x"], runs[2]["x"], rtol=1e-13)
    assert recorded(made, "call") == 4


@EVERY_MODE
def test_subroutines_call_others_use_what_surrounds_them_and_fold_constants(mode):
    def step(s, p):
        scale, positive = s.x * p.a, s.x > 0

        @subroutine
        def inner(x):
            return x * scale + x, positive

        @subroutine
        def outer(x, n):
            y, up = inner(x)
            return branch(up, lambda: y + inner(y)[0] * n, lambda: y), n * 2

        (y, twice), (z, _) = outer(s.x, 3), outer(s.x + 1, 3)
        assert twice == 6
        return {"x": (y - z) * 0.01, "y": branch(s.x > 0, lambda: outer(s.x, 0)[0], lambda: p.a)}

    run = run_to_end(trace(step, {"x": 0.5, "y": 0.0}, {"a": 2.0}), steps=1, **mode)
    inner = lambda x: x * 1.0 + x  # noqa: E731
    outer = lambda x, n: inner(x) + inner(inner(x)) * n  # noqa: E731
    np.testing.assert_allclose([run["x"][0], run["y"][0]], [0.01 * (outer(0.5, 3) - outer(1.5, 3)), 1.0])


@pytest.mark.parametrize(
    "impure",
    [
        lambda s: memory("m", 0.0).value,
        lambda s: setattr(memory("m", 0.0), "value", 1.0),
        lambda s: emit("rows", x=s.x),
        lambda s: total("sum", 1.0),
        lambda s: stop(s.x > 0),
        lambda s: delay("late", s.x, 1, s.step, 2),
        lambda s: loop([s.x], lambda x: ([x + memory("m").value], x < 3), 4),
    ],
)
def test_a_subroutine_is_pure(impure):
    def step(s, p):
        subroutine(lambda x: impure(s) or x)(s.x)

    with pytest.raises(TraceError, match=r"test_text.py:.*pure"):
        trace(step, {"x": 1.0})


def test_a_side_not_taken_leaves_nothing_behind_in_an_eager_run():
    def step(s, p):
        def hit():
            emit("hits", x=s.x)
            total("count", 1.0)
            peak("worst", s.x / 0.0)
            late = delay("late", s.x, 1, s.step, 2)
            (n,), _ = loop([whole(0)], lambda n: ([n + 1], n >= 0), 10**9)  # in a side not taken one round will do
            return late * s.x + where(n > 0, 0.0, 1.0)

        y = branch(s.x > p.c, hit, lambda: s.x)
        return {"x": s.x + 1.0, "y": derivative([y], [s.x])[0][0] / p.d}

    made = trace(step, {"x": 0.0, "y": 0.0}, {"c": 100.0, "d": 1.0})
    run = run_to_end(made, steps=3, eager=True)
    assert len(run.rows("hits")["x"]) == 0 and (run["count"], run["worst"]) == (0, -math.inf)
    assert run["late"].tolist() == [[0.0]] * 4 and run["y"] == 1
    bad = run_to_end(made, {"d": 0.0}, steps=3, eager=False)
    assert "first div gives inf" in bad.explain() and "/ p.d" in bad.explain()


def test_a_plain_number_is_no_integer_in_a_side():
    for sides in ((lambda s: s.k, lambda s: 2), (lambda s: 2, lambda s: s.k)):
        with pytest.raises(TraceError, match=r"sides of a branch.*whole\(2\)"):
            trace(lambda s, p, a=sides: {"k": branch(s.x > 5, lambda: a[0](s), lambda: a[1](s))}, {"x": 0.0, "k": 1})
    made = trace(lambda s, p: {"k": branch(s.x > 5, lambda: s.k, lambda: whole(2))}, {"x": 0.0, "k": 1})
    assert [run_to_end(made, steps=1, **mode)["k"] for mode in MODES] == [2, 2, 2]


@EVERY_MODE
def test_memory_takes_the_kind_of_a_numpy_number(mode):
    def step(s, p):
        n, on = memory("n", np.int64(0)), memory("on", np.bool_(False))
        n.value, on.value = n.value + 1, ~on.value

    run = run_to_end(trace(step, {}), steps=3, **mode)
    assert run["n"].dtype == np.int64 and run["n"] == 3 and run["on"].tolist() == [True]


def test_a_stream_that_is_not_there_cannot_be_recorded():
    def step(s, p):
        emit("samples", x=s.x)
        emit("hits", x=s.x)
        return {}

    with pytest.raises(ValueError, match=r"no stream 'sampels'.*samples, hits"):
        trace(step, {"x": 0.0}, record={"hits": (), "sampels": ("x",)})
