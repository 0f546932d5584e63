"""What reviews of the compiler found: each test failed once."""

import math
import os
import signal
import threading
import time

import numpy as np
import pytest

from jointplay.engine import (
    NON_FINITE,
    Pair,
    Spline,
    TraceError,
    asin,
    bits,
    branch,
    delay,
    derivative,
    emit,
    exp,
    floor,
    from_bits,
    linear_solve,
    log,
    loop,
    memory,
    modulo,
    peak,
    pow,
    shared_max,
    sin,
    solve,
    sqrt,
    stop,
    subroutine,
    total,
    trace,
    where,
    whole,
)
from jointplay.run import Run, undisturbed
from tests.helpers import evaluate, lane_run, recorded, run_to_end, same_bits

MODES = [{"eager": True}, {"eager": False, "fma": False}, {"eager": False}]
EVERY_MODE = pytest.mark.parametrize("mode", MODES, ids=["eager", "plain", "fused"])


# -- shared steps
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


# -- derivatives
@EVERY_MODE
def test_inputs_may_be_negations_and_may_come_twice(mode):
    def text(x, y):
        u = -y
        v = x * -y  # recorded as -(x * y)
        f, g = u * u + 3 * u, sin(v) - 2 * v
        [[a]], [[b]] = derivative([f], [u]), derivative([g], [v])
        [[c, d]] = derivative([x * x * y], [x, x])
        [[first, second]] = derivative([u * u], [y, u])
        return [a, b, c, d, first, second, *derivative([u, y], [u])[0]]

    x, y = np.array([0.4, 2.0]), np.array([-0.7, 0.3])
    wanted = [3 - 2 * y, np.cos(x * y) - 2, 2 * x * y, 2 * x * y, 2 * y, -2 * y, 1 + 0 * x]
    found = evaluate(text, x, y, **mode)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


def sided(s, p):
    """Derivatives through branches with a constant side, plain, in code, nested, in memory and twice."""

    def write(cell, x):
        cell.value = x

    cell = memory("cell", 0.0)
    branch(s.x > p.c, lambda: write(cell, s.x * s.x), lambda: write(cell, 0.0))
    plain = branch(s.x > p.c, lambda: s.x, lambda: 0.0)
    code = branch(s.x > p.c, lambda: s.x * s.y, lambda: 0.0)
    nested = branch(s.y > 0, lambda: branch(s.x > p.c, lambda: sin(s.x), lambda: 0.0) * s.y, lambda: s.y)
    apart = subroutine(lambda a: branch(a > p.c, lambda: a * a, lambda: 0.0))(s.x)
    flat = branch(s.x > p.c, lambda: 1.0, lambda: 0.0)
    found = {}
    for name, z in {"plain": plain, "code": code, "nested": nested, "apart": apart, "cell": cell.value}.items():
        found[name], found[name + "_y"] = derivative([sqrt(z)], [s.x, s.y])[0]
        found[name + "_negative"] = derivative([-z * s.y], [s.x])[0][0]
    found["flat"] = derivative([sqrt(flat) * s.x], [s.x])[0][0]
    [[once]] = derivative([code * s.x], [s.x])
    found["twice"] = derivative([sqrt(once)], [s.x])[0][0]
    emit("rows", **found)
    return {}


@pytest.mark.parametrize("c", [-10.0, 10.0])
@pytest.mark.parametrize("y", [0.5, -0.5])
def test_eager_derivatives_know_both_sides_of_a_branch(c, y):
    made = trace(sided, {"x": 0.25, "y": 0.5}, {"c": 0.0})
    one, two = (run_to_end(made, {"c": c}, {"y": y}, 1, eager=eager, fma=False).rows("rows") for eager in (True, False))
    assert [n for n in one if not same_bits(one[n], two[n])] == []
    assert math.isnan(one["plain"][0]) == (c > 0)


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


@EVERY_MODE
def test_solve_may_stand_in_a_residual(mode):
    def text(x, y):
        def outer(z):
            (w,), _ = solve(lambda w: [w + 0.3 * sin(w) * z - x], [x], 8)
            return [z + 0.2 * w * w - y]

        (z,), left = solve(outer, [y], 8)
        return [z, derivative([z], [x])[0][0], left]

    x, y, h = 0.7, 0.4, 1e-6
    z, slope, left = evaluate(text, [x - h, x, x + h], [y] * 3, **mode)
    assert (left < 1e-14).all() and slope[1] == pytest.approx((z[2] - z[0]) / (2 * h), rel=1e-8)


@EVERY_MODE
def test_a_subroutine_made_in_a_side_has_derivatives(mode):
    def text(x, y):
        def side():
            c = x * y
            inner = subroutine(lambda z: z * c + z * z)
            return inner(x) + inner(y)

        return derivative([branch(x > 0, side, lambda: 0.0)], [x])[0][0]

    x, y = np.array([2.0, 0.5]), np.array([3.0, -1.0])
    np.testing.assert_allclose(evaluate(text, x, y, **mode), 2 * x * y + y * y + 2 * x, rtol=1e-14)


# -- names and kinds
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

    with pytest.raises(ValueError, match=r"test_regressions.py.*'(d|p\.time|e\.rows)'.*state or delay"):
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


def test_programs_that_differ_in_the_bits_of_a_constant_or_in_names_have_other_digests():
    nan = [from_bits(bits(math.nan)), from_bits(-(1 << 51)), from_bits(bits(math.nan) + 1)]

    def made(x):
        return trace(lambda s, p: {"k": bits(where(s.k >= 0, x, 1.0))}, {"k": 0})

    programs = [made(x) for x in nan]
    assert len({p.digest for p in programs}) == 3 and made(nan[0]).digest == programs[0].digest
    assert [int(run_to_end(p, steps=1, eager=False)["k"][0]) for p in programs] == [bits(x) for x in nan]
    names = ("a", "a f 1\nb"), ("a f 1\na", "b")
    odd = [trace(lambda s, p: {}, dict.fromkeys(pair, 0.0)) for pair in names]
    assert odd[0].digest != odd[1].digest


# -- numbers
@EVERY_MODE
def test_modulo_never_has_the_wrong_sign(mode):
    rng = np.random.default_rng(0)
    y = rng.choice([0.1, 0.3, 2 * math.pi, 1 / 3, 7.0, 0.7, -0.3, -math.pi], 4000)
    x = rng.integers(-1000, 1000, 4000) * y
    x[::2] = np.nextafter(x[::2], rng.choice([-np.inf, np.inf], 2000))
    x, y = (x[:300], y[:300]) if mode["eager"] else (x, y)
    rest, slope = evaluate(lambda x, y: [modulo(x, y), derivative([x % y], [x])[0][0]], x, y, **mode)
    assert ((rest == 0) | ((rest < 0) == (y < 0))).all() and (abs(rest) <= abs(y) * (1 + 1e-12)).all()
    assert (slope == 1).all()
    if not mode["eager"] and mode.get("fma", True):
        assert rest.tolist() == np.mod(x, y).tolist()


def test_modulo_of_integers_is_exact_to_51_bits():
    made = trace(lambda s, p: {"k": s.k % p.n, "j": p.n % s.j}, {"k": 0, "j": 5}, {"n": 7})
    run = Run(made, eager=False)
    for k in (-1, -7, 13, 2**51 - 1, -(2**51) + 1):
        run.start(0, {"n": 9}, {"k": k})
        run.advance(1)
        assert (run["k"], run["j"]) == (k % 9, 4)
    assert "2**51" in modulo.__doc__
    assert evaluate(lambda x: 7.5 % x, [2.0, -2.0]).tolist() == [1.5, -0.5]


@pytest.mark.parametrize("lanes", [1, 4])
def test_a_product_less_itself_is_nothing(lanes):
    def step(s, p):
        v = Pair(s.x, s.y)
        return {"a": s.x * s.y - s.y * s.x, "b": v.cross(v), "c": p.q * s.x + -(p.q * s.x)}

    made = trace(step, {"x": 0.1, "y": 0.7, "a": 1.0, "b": 1.0, "c": 1.0}, {"q": 0.3})
    run = run_to_end(made, steps=1, lanes=lanes, eager=False)
    assert [run[n].tolist() for n in "abc"] == [[0.0] * lanes] * 3 and recorded(made, "mul") == 2


def test_functions_of_plain_numbers_give_what_a_run_gives():
    words = [lambda: log(0.0), lambda: log(-1.0), lambda: exp(1e4), lambda: asin(2.0), lambda: sin(math.inf)]
    words += [lambda: pow(0.0, -1.0), lambda: pow(-2.0, 0.5), lambda: pow(-10.0, 401.0)]
    found = [word() for word in words]
    nan = math.nan
    np.testing.assert_array_equal(found, [-math.inf, nan, math.inf, nan, nan, math.inf, nan, -math.inf])
    made = trace(lambda s, p: {"x": where(s.x > log(0.0), 1.0, 2.0)}, {"x": 0.0})
    assert run_to_end(made, steps=1, eager=False)["x"] == 1


# -- messages
def divides(s, p):
    return {"x": s.x // 2}


def divided(s, p):
    return {"k": 7 // s.k}


def formats(s, p):
    return {"x": float(f"{s.x:.3f}")}


def listed(s, p):
    return {"x": subroutine(lambda a: s.x)({1.0, 2.0})}


def singular(s, p):
    return {"x": linear_solve([[s.x, 0.0], [1.0, 0.0]], [1.0, 2.0])[0]}


def oblong(s, p):
    return {"x": linear_solve([[s.x, 0.0]], [1.0, 2.0])[0]}


def other_columns(s, p):
    emit("e", x=s.x, t=1.0)
    emit("e", y=s.x)
    return {}


def no_columns(s, p):
    emit("tick")
    return {}


def non_finite(s, p):
    stop(s.x > 1, NON_FINITE)
    return {}


@pytest.mark.parametrize(
    ("text", "error", "line", "words"),
    [
        (divides, TraceError, "s.x // 2", ["floor(x / y)"]),
        (divided, TraceError, "7 // s.k", ["floor(x / y)", "number(i)"]),
        (formats, TraceError, 'f"{s.x:.3f}"', ["a format needs a known number", "emit"]),
        (listed, TraceError, "({1.0, 2.0})", ["numbers, and trees of them"]),
        (singular, ValueError, "linear_solve([[s.x", ["column 1", "no unique solution"]),
        (oblong, ValueError, "linear_solve([[s.x", ["rows and columns", "here 2"]),
        (other_columns, ValueError, 'emit("e", y=s.x)', ["'e' has columns x, t;", "got y"]),
        (no_columns, ValueError, 'emit("tick")', ["'tick'", "at least one"]),
        (non_finite, ValueError, "stop(s.x > 1, NON_FINITE)", ["SOLVER_FAILED", "the engine itself finds NON_FINITE"]),
    ],
)
def test_mistakes_are_named_with_their_line(text, error, line, words):
    with pytest.raises(error) as caught:
        trace(text, {"x": 1.0, "k": 1})
    message = str(caught.value)
    assert "test_regressions.py:" in message and line in message.split("`")[1]
    assert [w for w in words if w not in message] == []


def test_formats_of_known_values_work():
    seen, debugging = [], False

    def step(s, p):
        seen.append(f"{s.x}" if not debugging else f"{s.x:.2f} {s.x}")

    made = trace(lambda s, p: step(s, p) or {}, {"x": 0.125})
    debugging = True
    run_to_end(made, steps=1, eager=True)
    assert seen[0].startswith("<input") and seen[1] == "0.12 np.float64(0.125)"


def test_a_stream_that_is_not_there_cannot_be_recorded():
    def step(s, p):
        emit("samples", x=s.x)
        emit("hits", x=s.x)
        return {}

    with pytest.raises(ValueError, match=r"no stream 'sampels'.*samples, hits"):
        trace(step, {"x": 0.0}, record={"hits": (), "sampels": ("x",)})


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


# -- the driver
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
    pause = 0.0

    def step(s, p):
        time.sleep(pause)
        emit("rows", x=s.x)
        return {"x": s.x + 1}

    made = trace(step, {"x": 0.0})
    pause = 0.02
    run = Run(made, lanes=4, eager=True)
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        run.advance(10**6)
    assert time.perf_counter() - begin < 1.0
    steps = run["step"].tolist()
    assert len(set(steps)) == 1 and run.steps_taken == steps[0] == run["x"][0]
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


def test_shifts_to_the_right_bring_in_zeros():
    made = trace(lambda s, p: {"k": whole(-8) >> 1, "j": floor(s.x)}, {"k": 0, "j": 0.0, "x": 1.5})
    assert [int(run_to_end(made, steps=1, **mode)["k"][0]) for mode in MODES] == [2**63 - 4] * 3
