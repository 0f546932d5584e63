"""Mechanisms of many bodies, whose rows are factored by their few entries: the same as of few bodies."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh

import jointplay as jp
from jointplay.elements import Revolute
from jointplay.model.bodies import Ground, bar
from jointplay.model.mechanism import Mechanism
from jointplay.statics import factors
from jointplay.statics.assembly import assemble
from jointplay.system import System

RANK = 1e-9


def few(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    """A matrix of rows of four entries, independent as a rule."""
    random = np.random.default_rng(seed)
    found = np.zeros((rows, columns))
    for i in range(rows):
        found[i, i] = random.uniform(1, 2)
        found[i, random.integers(0, columns, 3)] += random.uniform(-0.5, 0.5, 3)
    return found[random.permutation(rows)]


@pytest.mark.parametrize("seed", range(8))
def test_square_factors_are_those_of_the_matrix(seed):
    matrix = few(80, 80, seed)
    found = factors.square(matrix)
    b, values = np.arange(80.0), np.linalg.svd(matrix, compute_uv=False)
    assert_allclose(matrix @ found.solve(b), b, atol=1e-10)
    assert_allclose(matrix.T @ found.solve(b, "T"), b, atol=1e-10)
    assert found.side == np.linalg.slogdet(matrix)[0]
    assert_allclose(found.conditioning, values[-1] / values[0], rtol=0.3)


def test_what_may_be_singular_has_no_factors():
    matrix = few(80, 80)
    assert factors.square(matrix[:50, :50]) is None  # short
    matrix[3] = matrix[5] + 1e-6 * matrix[3]
    assert factors.square(matrix) is None
    matrix[3] = matrix[5]
    assert factors.square(matrix) is None
    matrix[3, 3] = np.nan
    assert factors.square(matrix) is None


@pytest.mark.parametrize("rows", [70, 160])
@pytest.mark.parametrize("dependent", [False, True])
def test_least_changes_and_free_ways_are_those_of_dense_matrices(rows, dependent):
    matrix, wanted = few(rows, rows + 20), np.linspace(-1, 1, rows)
    if dependent:
        matrix[4], wanted[4] = matrix[7] - matrix[9], wanted[7] - wanted[9]
    right = np.linalg.lstsq(matrix, wanted, rcond=RANK)[0]
    assert_allclose(factors.least(matrix, wanted, RANK), right, atol=1e-10)
    ways = factors.by_entries if rows > factors.SPARSE else factors.by_products
    assert (ways(matrix, wanted) is None) == dependent
    load = np.cos(np.arange(rows + 20))
    ways, multipliers = factors.free_ways(matrix, load, RANK)
    assert ways.shape == (rows + 20, 21 if dependent else 20)
    assert_allclose(matrix @ ways, 0, atol=1e-12)
    assert_allclose(ways.T @ ways, np.eye(ways.shape[1]), atol=1e-12)
    assert_allclose(multipliers, np.linalg.lstsq(matrix.T, load, rcond=RANK)[0], atol=1e-10)


def test_a_long_driven_chain_moves_as_its_angles_do():
    n, times = 25, np.array([0.0, 0.2, 0.7])
    chain = jp.library.pendulum(n, angles=[0.1 * i for i in range(n)])
    motions = {f"bar{i + 1}": jp.sine(0.2, 1.0 + 0.1 * i, offset=0.1 * i) for i in range(n)}
    drives = {f"{name}_turned": {"kind": "angle", "of": name, "motion": motion} for name, motion in motions.items()}
    found = jp.inverse_dynamics(chain.replace(drives=drives, start={}), times)
    rates = 1.0 + 0.1 * np.arange(n)
    phase = rates * times[:, None]
    angle, rate = 0.1 * np.arange(n) + 0.2 * np.sin(phase), 0.2 * rates * np.cos(phase)
    turning = -0.2 * rates**2 * np.sin(phase)
    whole = -np.sin(angle) * turning - np.cos(angle) * rate**2  # of the end of a bar of 1 m seen from its beginning
    assert_allclose(found.x_acceleration, np.cumsum(whole, axis=1) - whole / 2, atol=1e-9)
    # the first joint carries what accelerates all masses
    assert_allclose(found.force_x.sel(joint="J1"), found.x_acceleration.sum("body"), atol=1e-8)


def row(n: int) -> Mechanism:
    """So many four-bars, side by side: rockers of 0.5 m joined by couplers of 1 m."""
    bodies = {f"rocker{i}": bar(0.5, 1.0) for i in range(n + 1)} | {f"coupler{i}": bar(1.0, 1.0) for i in range(n)}
    joints = {f"O{i}": Revolute(between=(f"ground.O{i}", f"rocker{i}.start")) for i in range(n + 1)}
    for i in range(n):
        joints[f"A{i}"] = Revolute(between=(f"rocker{i}.end", f"coupler{i}.start"))
        joints[f"B{i}"] = Revolute(between=(f"coupler{i}.end", f"rocker{i + 1}.end"))
    ground = Ground(points={f"O{i}": (float(i), 0.0) for i in range(n + 1)})
    start = {f"rocker{i}": -1.0 for i in range(n + 1)} | {f"coupler{i}": 0.0 for i in range(n)}
    return Mechanism(name="a row of four-bars", ground=ground, bodies=bodies, joints=joints, start=start)


def test_a_row_of_four_bars_hangs_and_is_checked():
    found = jp.check(row(15))
    assert found.freedom.degrees == 1 and not found.freedom.redundant
    best, *_ = jp.equilibria(row(15), starts=4)
    assert best.stability == "stable"
    assert_allclose(best.q[2 : 3 * 16 : 3], -np.pi / 2, atol=1e-6)


def test_a_long_hanging_chain_swings_as_its_matrices_say():
    n = 25
    found = jp.linearise(jp.library.pendulum(n, angles=[-np.pi / 2] * n))
    i = np.arange(n)
    below = n - np.maximum.outer(i, i) - 0.5  # bars beyond the longer of two, and half of it: 1 kg, 1 m
    M = below - np.diag(np.full(n, 1 / 2 - 1 / 3))
    K = np.diag(9.81 * (n - i - 0.5))
    right = np.sqrt(eigh(K, M, eigvals_only=True))
    rates = np.sort(np.linalg.eigvals(found.A).imag)[n:]
    assert found.equilibrium
    assert_allclose(rates, right, rtol=1e-7)


def test_a_long_chain_of_driven_bars_assembles_wherever_its_drives_begin():
    chain = jp.library.pendulum(20)  # hangs down, and is driven upwards
    motion = {"kind": "constant_speed", "speed": 1.0, "start": 2.0}
    drives = {f"M{i}": {"kind": "angle", "of": bar, "motion": motion} for i, bar in enumerate(chain.bodies)}
    q = assemble(System(chain.replace(drives=drives))).reshape(20, 3)
    assert q[:, 2] == pytest.approx(2.0, abs=1e-9)
    assert q[-1, :2] == pytest.approx(19.5 * np.array([np.cos(2.0), np.sin(2.0)]), abs=1e-9)
