"""Rows spread over coordinates by a tree of joints and row by row: the same as one dense system."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from jointplay.engine.program import trace
from jointplay.engine.text import SINGULAR_PIVOT, stop
from jointplay.physics.spread import FREE, Spread, Tree, mixed, spread, tree
from jointplay.run import Run


@st.composite
def systems(draw):
    """Rows, masses, forces, what is demanded and two lines; some rows give a coordinate by 1 or -1."""
    size = draw(st.integers(3, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = draw(st.integers(1, size))
    B = rng.normal(size=(rows, size)) * (rng.random((rows, size)) < 0.6)
    for row in B[: draw(st.integers(0, rows))]:
        row[rng.integers(size)] = rng.choice([-1.0, 1.0])
    masses = 10.0 ** rng.uniform(-2, 2, size)
    return B, masses, rng.normal(size=size), rng.normal(size=rows), rng.normal(size=(2, size))


def dense(B, masses, forces, rhs):
    """x and multipliers of M x = forces + B^T multipliers, B x = rhs."""
    zero = np.zeros((len(B), len(B)))
    found = np.linalg.solve(np.block([[np.diag(masses), -B.T], [B, zero]]), np.concatenate([forces, rhs]))
    return found[: len(masses)], found[len(masses) :]


@settings(max_examples=200, deadline=None)
@given(systems())
def test_every_way_gives_what_the_dense_system_gives(system):
    B, masses, forces, rhs, lines = system
    S = B / masses @ B.T
    sizes = np.sqrt(np.diag(S))
    assume(sizes.min() > 0)
    assume(np.linalg.cond(S / np.outer(sizes, sizes)) < 1e6)  # rows that do not nearly depend on each other
    rows, chosen = B.tolist(), tree(B.tolist())
    ways = [Spread(rows, masses.tolist())] + ([Tree(rows, masses.tolist(), chosen).factored()] if chosen else [])
    still, none = np.zeros(len(masses)), np.zeros(len(rhs))
    for way in ways:
        pairs = [
            (way(rhs.tolist()), dense(B, masses, still, rhs)),
            (way.accelerations(forces.tolist(), rhs.tolist()), dense(B, masses, forces, rhs)),
            (way.nearest(forces.tolist(), rhs.tolist()), dense(B, masses, masses * forces, rhs)),
            (way.response(lines[0].tolist()), dense(B, masses, lines[0], none)),
        ]
        responses, weights = [way.impulse(line) for line in lines.tolist()], [0.3, -2.0]
        pairs.append((way.after(weights, lines, responses), dense(B, masses, weights @ lines, none)))
        scale = 1e-8 * max(np.abs(part).max(initial=1.0) for _, wanted in pairs for part in wanted)
        for found, wanted in pairs:
            for part, right in zip(found, wanted, strict=True):
                np.testing.assert_allclose(np.array(part, float), right, rtol=1e-6, atol=scale)
        mobility = np.array([[np.dot(a.line, b.change) for b in responses] for a in responses])
        full = np.array([[line @ dense(B, masses, other, none)[0] for other in lines] for line in lines])
        np.testing.assert_allclose(mobility, full, rtol=1e-6, atol=scale)
        placed = way.placed(mixed(weights, [r.change for r in responses]))
        np.testing.assert_allclose(placed, dense(B, masses, weights @ lines, none)[0], rtol=1e-6, atol=scale)


def test_no_row_of_a_tree_contains_what_a_later_one_gives():
    B = [[1.0, 0, 0.3, 0, 0, 0], [-1.0, 0, 0.2, 1.0, 0, 0.7], [0, 0, 1.0, 0, 0, 0], [0, 0, 0, 0.5, 2.0, 0]]
    chosen = tree(B)
    assert {i for i, _ in chosen} == {0, 1, 2}
    for k, (i, j) in enumerate(chosen):
        assert abs(B[i][j]) == 1
        assert all(B[i][later] == 0 for _, later in chosen[k + 1 :])


@pytest.mark.parametrize("angle", [0.5, 1e-6])
def test_dependent_loops_are_weak_and_trees_never(angle):
    """Two guides for one point at an angle: they depend on each other as it vanishes."""
    rows = [[0.6, 0.8, 0.0], [0.6 - angle, 0.8 + angle, 0.0]]
    both = spread([[0.0, 0.0, 1.0], *rows], [1.0, 1.0, 1.0])
    assert isinstance(both, Tree)
    assert both.weak(1e-10) is (angle < 1e-5)
    assert spread([[0.0, 0.0, 1.0]], [1.0, 1.0, 1e-14]).weak(1e-10) is False


def test_what_a_tree_does_not_suit_goes_row_by_row():
    chain = np.eye(3 * FREE)[:FREE].tolist()
    assert type(spread(chain, [1.0] * 3 * FREE)) is Spread  # too many free coordinates
    assert type(spread([[2.0, 0.0]], [1.0, 1.0])) is Spread  # no entry of 1
    assert type(spread([[1.0, 0.0]], [1.0, 1.0], [0.1])) is Spread  # a row that gives way
    assert type(spread([[1.0, 0.0]], [1.0, 1.0], [0.0])) is Tree


@pytest.mark.parametrize("B", [[[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, -1.0], [0.3, 1.0]]])
def test_a_row_that_says_what_others_say_is_found(B):
    def step(s, p):
        stop(spread(B, [p.mass, p.mass]).weak(1e-10), SINGULAR_PIVOT)
        return {}

    run = Run(trace(step, {}, {"mass": 2.0}), eager=True)
    run.advance(1)
    assert run.status == ["singular pivot"]
