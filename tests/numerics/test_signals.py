"""Peaks, sums, periods, delays and random numbers."""

import numpy as np
import pytest
from scipy import stats

from jointplay.engine import (
    Spline,
    branch,
    cos,
    delay,
    due,
    emit,
    loop,
    memory,
    number,
    peak,
    random,
    sin,
    stop,
    total,
    trace,
    where,
    whole,
)
from jointplay.numerics.signals import crests
from tests.helpers import differences, lane_run, outcome, run_to_end, same_bits, scalar_outcomes

MODES = [{"eager": True}, {"eager": False, "fma": False}, {"eager": False}]
EVERY_MODE = pytest.mark.parametrize("mode", MODES, ids=["eager", "plain", "fused"])
COUNT = 200_000


# -- accumulators and periods
@EVERY_MODE
def test_peaks_know_their_time_and_totals_add_up(mode):
    def step(s, p):
        t = number(s.step) * 0.25
        peak("highest", sin(t), t)
        peak("level", where(s.step < 3, 1.0, 0.5), t)
        peak("never", where(s.step < 100, float("nan"), 1.0), t)
        total("sum", t)
        return {"x": t}

    run = run_to_end(trace(step, {"x": 0.0}), steps=40, **mode)
    t = np.arange(40) * 0.25
    assert run["highest"] == pytest.approx(np.sin(t).max(), rel=1e-15) and run["highest.time"] == 1.5
    assert (run["level"], run["level.time"]) == (1, 0)
    assert (run["never"], run["never.time"]) == (-np.inf, 0)
    assert run["sum"] == t.sum()


@EVERY_MODE
def test_crests_lie_between_looks_that_bend_evenly(mode):
    """Of a cosine with its top between two looks; of a kink and of a rise the largest look counts."""

    def text(s, p):
        places = [0.3 * i - 0.37 for i in range(4)]
        looks = {"smooth": [cos(x + s.t) for x in places], "kink": [0.0, 1.0, 1.0, 1.0], "rise": [0.0, 1.0, 3.0, 6.0]}
        crests({name: [x + 0 * s.t for x in some] for name, some in looks.items()}, 2.0 + s.t, 0.9)
        return {"t": s.t}

    run = run_to_end(trace(text, {"t": 0.0}), steps=1, **mode)
    assert run["smooth"] == pytest.approx(1.0, abs=2e-4) and run["smooth"] > np.cos(0.07) + 1e-3
    assert run["smooth.time"] == pytest.approx(2.37, abs=2e-3)
    assert (run["kink"], run["rise"]) == (1.0, 6.0)
    assert run["rise.time"] == pytest.approx(2.9)


@EVERY_MODE
def test_due_is_keyed_to_the_absolute_step(mode):
    def step(s, p):
        branch(due(s.step, p.every), lambda: emit("always", step=s.step), lambda: None)
        late = branch(s.step >= 7, lambda: due(s.step, p.every), lambda: False)
        branch(late, lambda: emit("late", step=s.step), lambda: None)
        branch(due(s.step, 1), lambda: total("each", 1.0), lambda: None)

    run = run_to_end(trace(step, {}, {"every": 5}), steps=31, **mode)
    assert run.rows("always")["step"].tolist() == [0, 5, 10, 15, 20, 25, 30]
    assert run.rows("late")["step"].tolist() == [10, 15, 20, 25, 30]
    assert run["each"] == 31


# -- delay
def delaying(s, p):
    x = number(s.step) + 1.0
    emit(
        "out",
        none=delay("none", x, 0, s.step, 4),
        one=delay("one", x, 1, s.step, 1, -1.0),
        three=delay("three", x, 3, s.step, 3, -3.0),
        most=delay("most", x, 8, s.step, 8),
        lag=delay("lag", x, p.lag, s.step, 7, -9.0),
        twice=delay("b", delay("a", x, 2, s.step, 2), 3, s.step, 5),
    )


def late(lag, start=0.0, steps=20):
    return [float(n + 1 - lag) if n >= lag else start for n in range(steps)]


@EVERY_MODE
@pytest.mark.parametrize("lag", [0, 1, 4, 7])
def test_a_delay_gives_what_it_was_given(mode, lag):
    rows = run_to_end(trace(delaying, {}, {"lag": lag}), steps=20, **mode).rows("out")
    wanted = {"none": late(0), "one": late(1, -1.0), "three": late(3, -3.0), "most": late(8)}
    wanted |= {"lag": late(lag, -9.0), "twice": late(5)}
    assert {n: x.tolist() for n, x in rows.items()} == wanted


def test_a_delay_is_the_same_in_lanes_and_starts_anew_in_a_refilled_lane():
    made, sets = trace(delaying, {}, {"lag": 0}), [{"lag": n} for n in (0, 1, 5, 7)]
    alone = scalar_outcomes(made, sets, 20, eager=False)
    run = lane_run(made, sets, 20, eager=False)
    assert [differences(outcome(run, i), alone[i]) for i in range(4)] == [[]] * 4
    run.start(2, {"lag": 7})
    run.advance(20)
    assert differences(outcome(run, 2), alone[3]) == []


@EVERY_MODE
def test_a_delay_in_a_branch_or_loop_keeps_what_it_was_given_there(mode):
    def step(s, p):
        def body(k):
            emit("loop", x=delay("looping", number(s.step * 10 + k), 1, s.step, 1, -1.0))
            return [k + 1], k < 2

        loop([whole(0)], body, 5)
        even = (s.step & 1) == 0
        emit("branch", x=branch(even, lambda: delay("even", number(s.step), 2, s.step, 2, -1.0), lambda: -2.0))

    run = run_to_end(trace(step, {}), steps=6, **mode)
    assert run.rows("branch")["x"].tolist() == [-1, -2, 0, -2, 2, -2]
    given = [-1.0, 2.0, 12.0, 22.0, 32.0, 42.0]  # each round finds what the last round of the step before left
    assert run.rows("loop")["x"].tolist() == [x for x in given for _ in range(3)]


@EVERY_MODE
def test_a_delay_is_at_most_what_was_said(mode):
    def step(s, p):
        emit("out", x=delay("lag", number(s.step) + 1.0, p.lag, s.step, 3, -9.0))

    rows = run_to_end(trace(step, {}, {"lag": 9}), steps=20, **mode).rows("out")
    assert rows["x"].tolist() == late(3, -9.0)
    with pytest.raises(ValueError, match="'long'"):
        trace(lambda s, p: {"x": delay("long", s.x, 9, s.step, 3)}, {"x": 0.0})


def test_one_name_is_one_delay():
    def step(s, p):
        return {"x": delay("same", s.x, 1, s.step, 2) + delay("same", s.x, 1, s.step, 9)}

    with pytest.raises(ValueError, match=r"'same'.*another delay"):
        trace(step, {"x": 0.0})


# -- random numbers
def drawing(s, p):
    emit("out", x=random(p.seed, p.run, s.step), y=random(p.seed, p.run, s.step, 1))
    stop(s.step >= p.last)


@pytest.fixture(scope="module")
def draws():
    made = trace(drawing, {}, {"seed": 1, "run": 0, "last": COUNT - 1})
    sets = [{"seed": 1, "run": 0}, {"seed": 1, "run": 1}, {"seed": 2, "run": 0}, {"seed": 2, "run": 1}]
    run = lane_run(made, sets, eager=False)
    return {(s["seed"], s["run"], d): run.rows("out", i)[n] for i, s in enumerate(sets) for d, n in enumerate("xy")}


def test_random_numbers_are_uniform_in_the_open_interval(draws):
    for x in draws.values():
        assert x.min() > 0 and x.max() < 1
        assert abs(x.mean() - 0.5) < 5 * np.sqrt(1 / 12 / COUNT)
        assert abs(x.var() - 1 / 12) < 5 * np.sqrt(1 / 180 / COUNT)
        counts = np.bincount((x * 256).astype(int), minlength=256)
        low_bits = np.bincount((x * 2.0**52).astype(np.int64) & 255, minlength=256)
        assert stats.chisquare(counts).pvalue > 1e-4
        assert stats.chisquare(low_bits).pvalue > 1e-4


def test_random_numbers_are_independent(draws):
    series = list(draws.values())
    series += [np.roll(series[0], k) for k in (1, 2, 3, 64)]
    correlation = np.corrcoef(series)[np.triu_indices(len(series), 1)]
    assert len(correlation) == 66
    assert abs(correlation).max() < 5 / np.sqrt(COUNT)
    for a, b in [(0, 2), (0, 4), (0, 1), (0, 8)]:  # runs, seeds, draws, steps
        pairs = np.bincount((series[a] * 16).astype(int) * 16 + (series[b] * 16).astype(int), minlength=256)
        assert stats.chisquare(pairs).pvalue > 1e-4


def test_neighbouring_seeds_and_runs_start_differently():
    made = trace(lambda s, p: emit("out", x=random(s.step, p.run, 0), y=random(p.run, s.step, 0)), {}, {"run": 0})
    rows = run_to_end(made, steps=20_000, eager=False).rows("out")
    for x in rows.values():
        assert len(set(x)) == 20_000
        assert stats.kstest(x, "uniform").pvalue > 1e-4
        assert abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 5 / np.sqrt(20_000)


def splitmix(seed, run, step, draw):
    """The documented hash in Python's own integers."""
    word = 2**64 - 1

    def mix(i):
        i = (i ^ (i >> 30)) * 0xBF58476D1CE4E5B9 & word
        i = (i ^ (i >> 27)) * 0x94D049BB133111EB & word
        return i ^ (i >> 31)

    golden = 0x9E3779B97F4A7C15
    key = mix(mix(seed * golden + draw & word) + run * golden & word)
    return ((mix(key + step * golden & word) >> 12) * 2 + 1) * 2.0**-53


def test_random_numbers_are_equal_in_all_modes_and_as_documented():
    made = trace(drawing, {}, {"seed": 0, "run": 0, "last": 19})
    sets = [{"seed": -5, "run": 7}, {"seed": 2**62, "run": 3}]
    lanes = lane_run(made, sets, eager=False)
    for lane, given in enumerate(sets):
        wanted = [splitmix(given["seed"], given["run"], n, 0) for n in range(20)]
        assert lanes.rows("out", lane)["x"].tolist() == wanted
        for mode in MODES:
            assert differences(outcome(run_to_end(made, given, **mode)), outcome(lanes, lane)) == []


@EVERY_MODE
def test_constants_draw_the_same_numbers_as_parameters(mode):
    def step(s, p):
        known = random(p.seed, p.run, s.step, 2)
        emit("out", a=known, b=random(5, p.run, s.step, 2), c=random(p.seed, 7, s.step, 2), d=random(5, 7, s.step, 2))

    rows = run_to_end(trace(step, {}, {"seed": 5, "run": 7}), steps=5, **mode).rows("out")
    assert all(same_bits(rows["a"], rows[n]) for n in "bcd")


@pytest.mark.parametrize(
    "late",
    [
        lambda s: memory("d", 5.0),
        lambda s: total("d", s.x),
        lambda s: peak("d", s.x),
        lambda s: peak("p", s.x, s.x),
        lambda s: emit("e", x=s.x),
    ],
)
def test_no_memory_after_a_delay_of_its_name(late):
    def step(s, p):
        for name in ("d", "p.time", "e.rows"):
            delay(name, s.x, 1, s.step, 3)
        late(s)
        return {}

    with pytest.raises(ValueError, match=r"test_signals.py.*'(d|p\.time|e\.rows)'.*state or delay"):
        trace(step, {"x": 0.0})


@EVERY_MODE
def test_delays_may_have_the_name_of_an_array_and_no_length(mode):
    x = np.linspace(0.0, 10.0, 3)
    curve = Spline(x, np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, 5.0]]), "held")

    def step(s, p):
        late, later = delay("data", s.x, 2, s.step, 3), delay("curve", s.x, 1, s.step, 1)
        none, zero = delay("none", s.x, 0, s.step, 0), delay("zero", s.x, p.lag, s.step, 0)
        emit("rows", a=late, b=p.data[s.step], c=later, d=p.curve(s.x), e=none, f=zero)
        return {"x": s.x + 1.0}

    made = trace(step, {"x": 0.0}, {"data": np.arange(5.0) * 100, "curve": curve, "lag": 3})
    rows = run_to_end(made, steps=5, **mode).rows("rows")
    found = {name: values.tolist() for name, values in rows.items()}
    n = [0.0, 1.0, 2.0, 3.0, 4.0]
    assert (found["a"], found["b"], found["c"]) == ([0, 0, 0, 1, 2], [0, 100, 200, 300, 400], [0, 0, 1, 2, 3])
    assert found["d"] == found["e"] == n
