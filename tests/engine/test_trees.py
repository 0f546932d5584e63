"""Trees of values: branches, loops, subroutines, memory and rows carry them and give them back in the same form."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointplay.engine import TraceError, branch, emit, loop, memory, stop, subroutine, trace
from jointplay.engine.trees import alike, build, flatten, mapped, paths
from jointplay.run import Run


@dataclass
class Place:
    x: Any
    y: Any


class Both(NamedTuple):
    place: Place
    rates: list[Any]


TREES = st.recursive(
    st.floats(-1e3, 1e3),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        st.tuples(inner, inner),
        st.builds(Place, inner, inner),
        st.builds(Both, st.builds(Place, inner, inner), st.lists(inner, max_size=2)),
    ),
    max_leaves=12,
)


@given(TREES)
def test_a_tree_is_built_again_from_its_ends(tree):
    leaves, form = flatten(tree)
    assert build(form, leaves) == tree
    assert len(paths(form, "n")) == len(leaves) == len(set(paths(form, "n")))
    assert mapped(lambda x: 2 * x, tree) == build(form, [2 * x for x in leaves])
    assert alike(form, flatten(tree)[1])


def test_none_holds_nothing_and_lists_are_as_good_as_tuples():
    assert flatten({"a": None, "b": [1.0]})[0] == [1.0]
    assert build(flatten(Place(None, 1.0))[1], [2.0]) == Place(None, 2.0)
    assert alike(flatten([1.0])[1], flatten((1.0,))[1]) and not alike(flatten([1.0])[1], flatten({"a": 1.0})[1])


def text(s, p):
    """A ball that falls and bounces, all of its state in one tree."""
    kept = memory("ball", Both(Place(0.0, 1.0), [0.5, 0.0]))
    now = kept.value

    @subroutine
    def moved(ball, h):
        v = ball.rates[1] - 9.81 * h
        return Both(Place(ball.place.x + h * ball.rates[0], ball.place.y + h * v), [ball.rates[0], v])

    after = moved(now, p.h)
    after = branch(
        after.place.y < 0, lambda: Both(Place(after.place.x, 0.0), [now.rates[0], -now.rates[1]]), lambda: after
    )

    def halve(found):
        return {"root": 0.5 * (found["root"] + after.place.x / found["root"]), "rounds": found["rounds"] + 1.0}, True

    found, _ = loop({"root": 1.0, "rounds": 0.0}, halve, 4)
    emit("rows", ball=after, root=found["root"])
    kept.value = after
    stop(s.step >= 199)
    return {}


def test_text_with_trees_gives_the_same_in_every_mode():
    program = trace(text, {}, {"h": 0.01})
    assert {"ball.place.x", "ball.rates.1"} <= program.places.keys()
    one, other = Run(program, eager=True), Run(program, eager=False, fma=False)
    for run in (one, other):
        run.advance()
    assert np.array_equal(one.state_words, other.state_words)
    rows = other.rows("rows")
    assert list(rows) == ["ball.place.x", "ball.place.y", "ball.rates.0", "ball.rates.1", "root"]
    assert rows["ball.place.x"] == pytest.approx(0.005 * np.arange(1, 201)) and rows["ball.place.y"].min() == 0.0
    lanes = Run(program, {"h": [0.01, 0.02, 0.01, 0.005]}, lanes=4)
    lanes.advance()
    plain = Run(program, {"h": 0.02})
    plain.advance()
    assert np.array_equal(lanes.state_words[:, 1], plain.state_words[:, 0])


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (lambda s: branch(s.x > 0, lambda: {"a": s.x}, lambda: {"b": s.x})["a"], "forms of values"),
        (lambda s: branch(s.x > 0, lambda: [s.x, s.x], lambda: [s.x])[0], "different numbers"),
        (lambda s: loop({"a": s.x}, lambda found: ([found["a"]], True), 3)[0]["a"], "must return what it carries"),
    ],
)
def test_forms_that_do_not_fit_are_named(body, words):
    with pytest.raises(TraceError, match=words):
        trace(lambda s, p: {"x": body(s)}, {"x": 1.0})


def test_memory_keeps_its_form():
    def wrong(s, p):
        memory("place", Place(0.0, 1.0)).value = [1.0, 2.0]
        return {}

    with pytest.raises(TraceError, match=r"'place\.x' and its like hold another form"):
        trace(wrong, {})
