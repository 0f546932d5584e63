"""Values: what folds away, what is shared and hoisted, what is refused and how, exactness at the limits."""

import inspect
import math
import types

import numpy as np
import pytest

from jointplay import engine
from jointplay.engine import (
    NON_FINITE,
    TraceError,
    bits,
    branch,
    emit,
    exp,
    floor,
    from_bits,
    integer,
    linear_solve,
    loop,
    maximum,
    memory,
    minimum,
    number,
    sign,
    sin,
    sqrt,
    stop,
    subroutine,
    trace,
    where,
)
from jointplay.run import Run
from tests.helpers import recorded, run_to_end

STATE = {"x": 1.0, "y": 2.0, "n": 3}
PARAMETERS = {"a": 0.5, "b": 0.25, "k": 2, "data": np.arange(4.0)}


def program(expression):
    return trace(lambda s, p: {"y": expression(s, p)}, STATE, PARAMETERS)


def test_every_public_name_is_what_it_says():
    found = {name: getattr(engine, name) for name in engine.__all__}
    assert [n for n, x in found.items() if isinstance(x, types.ModuleType)] == []
    assert {"derivative", "solve", "Factor", "Spline", "sin", "random"} <= set(dir(engine))
    with pytest.raises(AttributeError, match="nonsense"):
        engine.nonsense  # noqa: B018


# -- folding, sharing, hoisting, dead code
@pytest.mark.parametrize(
    ("long", "short"),
    [
        (lambda s, p: 0 * s.x + s.y, lambda s, p: s.y),
        (lambda s, p: 1.0 * s.x + 0.0, lambda s, p: s.x),
        (lambda s, p: (s.x - 0) / 1, lambda s, p: s.x),
        (lambda s, p: s.y + -1 * s.x, lambda s, p: s.y - s.x),
        (lambda s, p: s.y - (-s.x), lambda s, p: s.y + s.x),
        (lambda s, p: -1 * (-s.x), lambda s, p: s.x),
        (lambda s, p: 0 / s.x + 0 * sin(s.x), lambda s, p: 0.0),
        (lambda s, p: s.x / 4, lambda s, p: s.x * 0.25),
        (lambda s, p: where(s.x > 0, s.y, s.y), lambda s, p: s.y),
        (lambda s, p: where(s.x > 0, 0.0, 0) * s.x + s.y, lambda s, p: s.y),
        (lambda s, p: where(~~(s.x > 0) & True | False, s.y, 1.0), lambda s, p: where(s.x > 0, s.y, 1.0)),
        (lambda s, p: branch(2 > 1, lambda: s.y, lambda: sin(s.x)), lambda s, p: s.y),
    ],
)
def test_structure_folds_away(long, short):
    assert program(long).operations == program(short).operations


def test_no_product_with_a_structural_zero_is_recorded():
    zeros = [[0, 1], [0, 0]]
    made = program(
        lambda s, p: sum(zeros[i][j] * v * w for i, v in enumerate((s.x, s.y)) for j, w in enumerate((s.x, s.y)))
    )
    assert recorded(made, "mul") == 1


def test_plain_numbers_stay_plain():
    found = [sqrt(4.0), floor(-0.5), minimum(1.0, 2.0), maximum(1, 3), sign(-2.0), where(True, 5.0, 6.0)]
    assert found == [2.0, -1.0, 1.0, 3, -1.0, 5.0]
    assert sin(0.5) == math.sin(0.5) and engine.atan2(1.0, 2.0) == math.atan2(1.0, 2.0)
    assert integer(7.0) == 7 and number(-3) == -3.0 and from_bits(bits(0.1)) == 0.1


def test_equal_work_is_shared():
    assert recorded(program(lambda s, p: s.x * s.y + s.y * s.x), "mul") == 1
    once, twice = program(lambda s, p: sin(s.x)), program(lambda s, p: sin(s.x) - sin(s.x) * s.y)
    assert twice.operations == once.operations + 2
    inside = program(lambda s, p: s.x * s.y + branch(s.x > 0, lambda: s.x * s.y, lambda: -(s.x * s.y)))
    assert recorded(inside, "mul") == 1


def test_different_constants_are_not_shared():
    made = program(lambda s, p: where(s.x > 0, s.y / 0.0, s.y / -0.0))
    assert recorded(made, "div") == 2
    assert recorded(program(lambda s, p: s.y / where(s.x > 0, 0.0, -0.0)), "div") == 1
    run = run_to_end(made, steps=1)
    assert run.status == ["non-finite"]


def hoisted(made) -> list[str]:
    """The operations before the loop over steps: those whose lines are not indented."""
    lines = [line.split(" = ") for line in made.listing.splitlines()[1:] if " = " in line]
    return [work.split()[0] for name, work in lines if not name.startswith(" ")]


def test_parameter_work_is_hoisted():
    made = program(lambda s, p: s.x * (exp(p.a) * p.b / sqrt(p.a)) + p.data.load(p.k))
    before = hoisted(made)
    assert {"mul", "div", "sqrt", "load"} <= set(before)
    assert recorded(made, "mul") - before.count("mul") == 1  # s.x times all that
    assert recorded(made, "add") - before.count("add") == 3  # the sum, and two sums of the states in the check
    inside = program(lambda s, p: branch(s.x > 0, lambda: s.y * sqrt(p.a), lambda: s.x))
    assert "sqrt" in hoisted(inside)


def test_dead_work_is_removed():
    lean = program(lambda s, p: s.x)

    def wasteful(s, p):
        sin(s.x) * s.y + sqrt(s.y)
        branch(s.x > 0, lambda: [s.x * 2, s.y * 3], lambda: [s.x * 4, s.y * 5])
        loop([s.x], lambda x: ([x * s.y], x > 3), 5)
        return {"y": s.x}

    assert trace(wasteful, STATE, PARAMETERS).operations == lean.operations


def test_columns_that_are_not_recorded_cost_nothing():
    def step(s, p):
        emit("samples", x=s.x, wave=sin(s.x))
        return {"x": s.x + p.a}

    both, one = trace(step, STATE, PARAMETERS), trace(step, STATE, PARAMETERS, record={"samples": ("x",)})
    none = trace(step, STATE, PARAMETERS, record={"samples": ()})
    assert none.operations < one.operations < both.operations - 20
    assert list(run_to_end(one, steps=2).rows("samples")) == ["x"]
    with pytest.raises(ValueError, match=r"samples.*nonsense"):
        trace(step, STATE, PARAMETERS, record={"samples": ("nonsense",)})


# -- errors
def python_if(s, p):
    if s.x > 0:
        return {}


def python_not(s, p):
    return {"x": where(not s.x > 0, 1.0, 2.0)}


def unequal_sides(s, p):
    return {"x": branch(s.x > 0, lambda: [s.x, s.y], lambda: [s.x])[0]}


def escapes_branch(s, p):
    kept = []
    branch(s.x > 0, lambda: kept.append(s.x * 2), lambda: None)
    return {"x": kept[0] + 1}


def escapes_branch_into_row(s, p):
    kept = []
    branch(s.x > 0, lambda: kept.append(s.x * 2), lambda: None)
    emit("rows", x=kept[0])


def escapes_loop(s, p):
    kept = []
    loop([s.x], lambda x: ([kept.append(x) or x + 1], x < 5), 3)
    return {"x": kept[0] * 2}


def escapes_subroutine(s, p):
    kept = []
    subroutine(lambda x: kept.append(x) or x + 1)(s.x)
    memory("m").value = kept[0]


def escapes_loop_as_condition(s, p):
    kept = []
    loop([s.x], lambda x: ([kept.append(x < 5) or x + 1], x < 5), 3)
    return {"x": branch(kept[0], lambda: s.x * 2, lambda: s.x)}


def escapes_into_loop(s, p):
    kept = []
    branch(s.x > 0, lambda: kept.append(s.x * 2), lambda: None)
    return {"x": loop([kept[0]], lambda x: ([x * 2], x < 5), 3)[0][0]}


def from_another_trace(s, p):
    kept = []
    trace(lambda s, p: kept.append(s.x) or {}, {"x": 1.0})
    return {"x": subroutine(lambda x: x + 1)(kept[0])}


ERRORS = [
    (python_if, "if s.x > 0:", ["where(", "branch("]),
    (lambda s, p: {"x": s.x > 0 and s.y > 0}, "s.x > 0 and s.y > 0", ["&"]),
    (lambda s, p: {"x": s.x > 0 or s.y}, "s.x > 0 or s.y", ["|"]),
    (python_not, "not s.x > 0", ["~"]),
    (lambda s, p: {"x": where(0 < s.x < 1, 1.0, 2.0)}, "0 < s.x < 1", ["&", "where("]),
    (lambda s, p: {"x": min(s.x, s.y)}, "min(s.x, s.y)", ["minimum"]),
    (lambda s, p: {"x": max(s.x, 1.0)}, "max(s.x, 1.0)", ["maximum"]),
    (lambda s, p: {"x": float(s.x)}, "float(s.x)", ["jointplay.engine"]),
    (lambda s, p: {"x": math.sin(s.x)}, "math.sin(s.x)", ["sin", "jointplay.engine"]),
    (lambda s, p: {"x": np.sin(s.x)}, "np.sin(s.x)", ["sin", "jointplay.engine"]),
    (lambda s, p: {"x": np.array([1.0, 2.0]) * s.x}, "np.array([1.0, 2.0]) * s.x", ["scalars"]),
    (lambda s, p: {"n": int(s.x)}, "int(s.x)", ["floor(x)", "integer(x)"]),
    (lambda s, p: {"n": sum(1 for _ in range(s.n))}, "range(s.n)", ["loop("]),
    (lambda s, p: {"x": [1.0, 2.0][s.n]}, "[1.0, 2.0][s.n]", ["load("]),
    (lambda s, p: {"x": s.x * s.n}, "s.x * s.n", ["number(i)"]),
    (lambda s, p: {"n": s.n + s.x}, "s.n + s.x", ["integer(x)"]),
    (lambda s, p: {"n": s.n + 0.5}, "s.n + 0.5", ["an integer", "0.5"]),
    (lambda s, p: {"n": s.n / 2}, "s.n / 2", ["an integer"]),
    (lambda s, p: {"x": s.x + (s.x > 0)}, "s.x + (s.x > 0)", ["where(mask, 1.0, 0.0)"]),
    (lambda s, p: {"x": branch(s.x, lambda: 1.0, lambda: 2.0)}, "branch(s.x,", ["condition"]),
    (lambda s, p: {"x": loop([s.x], lambda x: ([x], x), 3)[0][0]}, "loop([s.x]", ["mask"]),
    (lambda s, p: {"x": loop([s.x], lambda x: ([x], x > 0), s.n)[0][0]}, "s.n)[0][0]", ["at_most"]),
    (lambda s, p: {"x": round(s.x, 2)}, "round(s.x, 2)", ["round"]),
    (unequal_sides, "branch(s.x > 0, lambda: [s.x, s.y], lambda: [s.x])", ["sides of a branch"]),
    (escapes_branch, "kept[0] + 1", ["return it"]),
    (escapes_branch_into_row, 'emit("rows", x=kept[0])', ["return it"]),
    (escapes_loop, "kept[0] * 2", ["return it"]),
    (escapes_subroutine, 'memory("m").value = kept[0]', ["return it"]),
    (escapes_loop_as_condition, "branch(kept[0],", ["return it"]),
    (escapes_into_loop, "loop([kept[0]]", ["return it"]),
    (from_another_trace, "(kept[0])", ["return it"]),
]


@pytest.mark.parametrize(("text", "line", "remedies"), ERRORS, ids=[line for _, line, _ in ERRORS])
def test_an_error_shows_the_line_and_the_remedy(text, line, remedies):
    with pytest.raises(TraceError) as caught:
        trace(text, STATE, PARAMETERS)
    message = str(caught.value)
    place, source = message.split("`")[:2]
    lines, first = inspect.getsourcelines(text)
    assert "test_values.py:" in place and line in source
    assert first <= int(place.split(":")[-2]) < first + len(lines)
    assert [r for r in remedies if r not in message] == []


def test_values_need_a_running_trace():
    kept = []
    trace(lambda s, p: kept.append(s.x) or {}, STATE)
    with pytest.raises(TraceError, match=r"test_values.py:.*kept\[0\] \+ 1.*trace"):
        kept[0] + 1


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        (lambda s, p: {"z": s.x}, ValueError, "'z'.*x, y, n"),
        (lambda s, p: {"x": s.z}, AttributeError, "'z'.*x, y, n"),
        (lambda s, p: {"x": p["z"]}, (KeyError, AttributeError), "'z'.*a, b, k"),
        (lambda s, p: {"x": s.n}, TraceError, "number"),
        (lambda s, p: {"x": memory("x", 1.0).value}, ValueError, "'x'"),
        (lambda s, p: {"x": memory("m", 1.0).value + memory("m", 2.0).value}, ValueError, "'m'.*twice"),
        (lambda s, p: {"x": "one"}, TraceError, "one"),
    ],
)
def test_other_mistakes_are_named(text, error, words):
    with pytest.raises(error, match=words):
        trace(text, STATE, PARAMETERS)


def test_starting_values_are_checked():
    made = program(lambda s, p: s.x * p.a + number(p.k))
    for bad in ({"nonsense": 1.0}, {"k": 2.5}, {"data": np.arange(3.0)}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            Run(made, bad)
    for name in ("step", "status", "detail"):
        with pytest.raises(ValueError, match=name):
            trace(lambda s, p: {}, {name: 0})


def test_eager_values_can_be_asked():
    seen, debugging = [], False

    def step(s, p):
        if debugging and s.x > 0 and not s.n < 0:
            seen.append((float(s.x), int(s.n), math.sin(s.x), [1.0, 2.0, 3.0, 4.0][s.n], repr(s.x)))
        return {"x": s.x + p.a}

    made = trace(step, STATE, PARAMETERS)
    debugging = True
    run_to_end(made, steps=2, eager=True)
    assert [row[:4] for row in seen] == [(1.0, 3, math.sin(1.0), 4.0), (1.5, 3, math.sin(1.5), 4.0)]
    assert "1.5" in seen[1][4]


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
    assert "test_values.py:" in message and line in message.split("`")[1]
    assert [w for w in words if w not in message] == []


def test_formats_of_known_values_work():
    seen, debugging = [], False

    def step(s, p):
        seen.append(f"{s.x}" if not debugging else f"{s.x:.2f} {s.x}")

    made = trace(lambda s, p: step(s, p) or {}, {"x": 0.125})
    debugging = True
    run_to_end(made, steps=1, eager=True)
    assert seen[0].startswith("<input") and seen[1] == "0.12 np.float64(0.125)"
