"""Small linear algebra against numpy and Python's complex numbers."""

import numpy as np
import pytest

from jointplay.engine import Factor, Pair, Value, dot, linear_solve, trace
from tests.helpers import evaluate, recorded, same_bits

RNG = np.random.default_rng(8)
START = RNG.bit_generator.state


@pytest.fixture(autouse=True)
def same_numbers_in_any_order():
    RNG.bit_generator.state = START


def evaluate_matrix(text, matrices, vectors, pattern=None, **options):
    """text(matrix, vector) for each pair; entries outside the pattern are structural zeros."""
    size = matrices.shape[1]
    pattern = np.ones((size, size), bool) if pattern is None else pattern
    places = [(i, j) for i in range(size) for j in range(size) if pattern[i, j]]

    def texts(*numbers):
        matrix = [[0] * size for _ in range(size)]
        for (i, j), x in zip(places, numbers, strict=False):
            matrix[i][j] = x
        return text(matrix, list(numbers[len(places) :]))

    data = [matrices[:, i, j] for i, j in places] + list(vectors.T)
    return evaluate(texts, *data, **options).T


def positive(size, pattern=None, count=5):
    """Random symmetric positive definite matrices with a pattern."""
    a = RNG.normal(size=(count, size, size))
    a = (a + a.transpose(0, 2, 1)) * (1 if pattern is None else pattern)
    return a + np.eye(size) * (abs(a).sum(axis=2).max(axis=1) * RNG.uniform(1.3, 2.0, count))[:, None, None]


def symmetric_pattern(size, density):
    upper = np.triu(RNG.random((size, size)) < density, 1)
    return upper | upper.T | np.eye(size, dtype=bool)


@pytest.mark.parametrize(("size", "density"), [(1, 1.0), (2, 1.0), (4, 1.0), (6, 0.3), (9, 0.2)])
def test_factor_solves(size, density):
    pattern = symmetric_pattern(size, density)
    matrices, vectors = positive(size, pattern), RNG.normal(size=(5, size))
    found = evaluate_matrix(lambda m, b: [*Factor(m).solve(b), Factor(m).pivot], matrices, vectors, pattern)
    np.testing.assert_allclose(
        found[:, :-1], np.linalg.solve(matrices, vectors[..., None])[..., 0], rtol=1e-12, atol=1e-13
    )
    assert (found[:, -1] > 0.05).all() and (found[:, -1] <= 1).all()


def test_factor_is_the_same_in_all_modes():
    matrices, vectors = positive(4), RNG.normal(size=(5, 4))
    text = lambda m, b: [*Factor(m).solve(b), Factor(m).pivot]  # noqa: E731
    eager = evaluate_matrix(text, matrices, vectors, eager=True)
    assert same_bits(eager, evaluate_matrix(text, matrices, vectors, fma=False))
    np.testing.assert_allclose(eager, evaluate_matrix(text, matrices, vectors), rtol=1e-12)


def kkt(bodies, rows, count=5):
    """Matrices [M G^T; G 0] as mechanisms have them, and their pattern."""
    pattern = np.zeros((bodies + rows,) * 2, bool)
    pattern[:bodies, :bodies] = np.eye(bodies)
    jacobian = RNG.random((rows, bodies)) < 0.6
    jacobian[np.arange(rows), np.arange(rows)] = True
    pattern[bodies:, :bodies], pattern[:bodies, bodies:] = jacobian, jacobian.T
    matrices = np.zeros((count, bodies + rows, bodies + rows))
    matrices[:, range(bodies), range(bodies)] = RNG.uniform(0.5, 5.0, (count, bodies))
    g = RNG.normal(size=(count, rows, bodies)) * jacobian
    matrices[:, bodies:, :bodies], matrices[:, :bodies, bodies:] = g, g.transpose(0, 2, 1)
    return matrices, pattern


@pytest.mark.parametrize(("bodies", "rows"), [(3, 1), (6, 2), (7, 4)])
def test_a_schur_complement_is_kept_and_solved(bodies, rows):
    matrices, pattern = kkt(bodies, rows)
    vectors, keep = RNG.normal(size=(5, bodies + rows)), list(range(bodies, bodies + rows))

    def text(m, b):
        factor = Factor(m, keep)
        forces = Factor(factor.schur).solve(factor.kept(b))
        return [*factor.solve(b, forces), *(x for row in factor.schur for x in row), *factor.kept(b)]

    found = evaluate_matrix(text, matrices, vectors, pattern)
    size = bodies + rows
    right = np.linalg.solve(matrices, vectors[..., None])[..., 0]
    np.testing.assert_allclose(found[:, :size], right, rtol=1e-9, atol=1e-11)
    m, g = matrices[:, :bodies, :bodies], matrices[:, bodies:, :bodies]
    schur = -g @ np.linalg.inv(m) @ g.transpose(0, 2, 1)
    np.testing.assert_allclose(found[:, size : size + rows**2], schur.reshape(5, -1), rtol=1e-11, atol=1e-12)
    kept = vectors[:, bodies:] - (g @ np.linalg.solve(m, vectors[:, :bodies, None]))[..., 0]
    np.testing.assert_allclose(found[:, size + rows**2 :], kept, rtol=1e-11, atol=1e-12)


def test_kept_rows_may_stand_anywhere():
    matrices, vectors = positive(5), RNG.normal(size=(5, 5))
    right = np.linalg.solve(matrices, vectors[..., None])[..., 0]

    def text(m, b):
        factor = Factor(m, [3, 1])
        return factor.solve(b, linear_solve(factor.schur, factor.kept(b)))

    np.testing.assert_allclose(evaluate_matrix(text, matrices, vectors), right, rtol=1e-12)


def pivots_of(matrices, pattern=None):
    return evaluate_matrix(lambda m, b: [Factor(m).pivot], matrices, np.ones((5, 1)), pattern)[:, 0]


def test_the_relative_pivot_tells_singular_from_good():
    good = positive(5)
    rows = np.concatenate([RNG.normal(size=(5, 4, 7)), np.zeros((5, 1, 7))], axis=1)
    rows[:, 4] = rows[:, 0] - rows[:, 2]  # the last row of a Jacobian is redundant
    singular = rows @ rows.transpose(0, 2, 1)
    nearly = singular + 1e-8 * np.eye(5)
    for scale in (1.0, 1e12, 1e-12):  # it has no unit
        pivots = [pivots_of(m * scale) for m in (good, singular, nearly)]
        assert (pivots[0] > 0.1).all()
        assert (pivots[1] < 3e-15).all()
        assert (pivots[2] > 1e-11).all() and (pivots[2] < 1e-6).all()
    close = np.array([[[1.0, 1.0], [1.0, 1 + 1e-9]]] * 5)  # |d| / (|a| + what elimination took)
    np.testing.assert_allclose(pivots_of(close), 1e-9 / (2 + 1e-9), rtol=1e-6)
    assert pivots_of(np.array([np.diag([1e-9, 1.0, 1e9])] * 5), np.eye(3, dtype=bool)).tolist() == [1] * 5


def test_an_arrow_gives_no_fill():
    size = 8

    def step(s, p):
        matrix = [[0] * size for _ in range(size)]
        for i in range(size):
            matrix[i][i], matrix[0][i], matrix[i][0] = s.a + i, s.b * (i + 1.0), s.b * (i + 1.0)
        matrix[0][0] = s.a * 100
        return {"x": Factor(matrix).solve([s.b] * size)[0]}

    made = trace(step, {"a": 3.0, "b": 1.0, "x": 0.0})
    assert recorded(made, "div") <= size + 1  # one for each pivot, and those of the relative pivots are not used
    assert recorded(made, "mul") <= 7 * size  # full elimination of this arrow in the given order takes hundreds


def test_structural_zeros_cost_nothing():
    def counted(text):
        made = trace(lambda s, p: {"x": text(s)}, {"a": 3.0, "b": 1.0, "x": 0.0})
        return made.operations

    separate = counted(lambda s: Factor([[s.a, 0], [0, s.b]]).solve([1.0, s.a])[0])
    assert separate <= counted(lambda s: 1 / s.a)
    assert counted(lambda s: dot([0, s.a, 0, 1], [s.b, s.b, s.a, s.a])) <= counted(lambda s: s.a * s.b + s.a)


def test_a_structural_zero_pivot_is_named():
    with pytest.raises(ValueError, match="row 0"):
        Factor([[0, 1.0], [1.0, 0]])
    with pytest.raises(ValueError, match="2 kept"):
        Factor([[2.0, 1.0, 1.0], [1.0, 0, 0], [1.0, 0, 0]], [1, 2]).solve([1.0, 2.0, 3.0])


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_linear_solve(size):
    matrices, vectors = RNG.normal(size=(40, size, size)), RNG.normal(size=(40, size))
    found = evaluate_matrix(linear_solve, matrices, vectors)
    right = np.linalg.solve(matrices, vectors[..., None])[..., 0]
    scale = np.linalg.cond(matrices)[:, None] * abs(right).max(axis=1, keepdims=True)
    assert (abs(found - right) < 1e-14 * scale).all()


def test_linear_solve_exchanges_rows():
    pattern = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]], bool)
    matrices, vectors = RNG.normal(size=(20, 3, 3)) * pattern, RNG.normal(size=(20, 3))
    right = np.linalg.solve(matrices, vectors[..., None])[..., 0]
    np.testing.assert_allclose(evaluate_matrix(linear_solve, matrices, vectors, pattern), right, rtol=1e-10)
    tiny = np.array([[[1e-20, 1.0], [1.0, 1.0]]])
    np.testing.assert_allclose(evaluate_matrix(linear_solve, tiny, np.array([[1.0, 2.0]])), [[1, 1]], rtol=1e-15)
    assert linear_solve([[0, 2.0], [4.0, 0]], [6.0, 8.0]) == [2.0, 3.0]


def test_pairs_are_complex_numbers():
    def text(a, b, c, d, k):
        u, v = Pair(a, b), Pair(c, d)
        pairs = [u + v, u - v, -u, u * v, u * k, k * u, 2 * u, u.conjugate(), u.turned(), u * Pair(k)]
        return [*(x for p in pairs for x in (p.x, p.y)), abs(u), u.dot(v), u.cross(v)]

    a, b, c, d, k = RNG.normal(size=(5, 20))
    u, v = a + 1j * b, c + 1j * d
    found = evaluate(text, a, b, c, d, k)
    wanted = [u + v, u - v, -u, u * v, u * k, k * u, 2 * u, u.conj(), 1j * u, u * k]
    np.testing.assert_allclose(found[:20:2] + 1j * found[1:20:2], wanted, rtol=1e-14, atol=1e-14)
    product = u.conj() * v
    np.testing.assert_allclose(found[20:], [abs(u), product.real, product.imag], rtol=1e-14, atol=1e-14)


def test_pairs_keep_structural_zeros():
    def step(s, p):
        real, turn = Pair(s.x), Pair(0, 1)
        assert (real * turn).x == 0 and not isinstance((real * turn).x, Value)
        return {"x": (real * turn).y}

    assert recorded(trace(step, {"x": 1.0}), "mul") == 0
