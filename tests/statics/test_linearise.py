"""linearise: closed forms, finite differences of a reduction in numpy, what it says of a point, bad input."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from jointplay.model import ModelError, control, library, loads
from jointplay.simulation import RungeKutta, simulate
from jointplay.statics import linearise, start
from jointplay.statics.linearisation import Linear, _About
from jointplay.system import System
from tests.physics.reduction import SPRING, Reduction, units

G = 9.81


def test_a_pendulum_hanging_and_standing():
    """Inertia m l^2/3 about the pivot: stiffness m g l/2 down, its opposite up."""
    mechanism = library.pendulum(length=0.6, mass=2.0)
    for angle, sign in ((-math.pi / 2, -1), (math.pi / 2, 1)):
        A, B, C, D = linearise(
            mechanism, at={"bar1": angle}, inputs="bar1", outputs=["bar1", "bar1.end.x", "bar1.rate"]
        )
        assert_allclose(A, np.array([[0, 1], [sign * 1.5 * G / 0.6, 0]]), atol=1e-12)
        assert_allclose(B, np.array([[0], [1 / (2.0 * 0.36 / 3)]]))
        assert_allclose(C, np.array([[1, 0], [-0.6 * math.sin(angle), 0], [0, 1]]), atol=1e-12)
        assert D.shape == (3, 1) and not D.any()


def test_a_held_pendulum_has_the_input_that_holds_it():
    found = linearise(library.pendulum(length=1.0, mass=2.0), at={"bar1": 0.3}, inputs="bar1")
    assert found.input == pytest.approx([2.0 * G * 0.5 * math.cos(0.3)])
    assert found.A[1] == pytest.approx([2.0 * G * 0.5 * math.sin(0.3) / (2.0 / 3), 0])
    assert found.equilibrium and found.text == "an equilibrium"
    free = linearise(library.pendulum(length=1.0, mass=2.0), at={"bar1": 0.3})
    assert not free.equilibrium and free.B.shape == (2, 0)
    assert free.residual == pytest.approx([0, -1.5 * G * math.cos(0.3)])
    assert free.text == f"no equilibrium: d(bar1.rate)/dt = {-1.5 * G * math.cos(0.3):.6g}"


def test_a_double_pendulum_has_the_frequencies_of_the_textbook():
    """Two equal uniform bars: omega^2 = 3 (1 -+ 2/sqrt(7)) g/l."""
    mechanism = library.pendulum(2, length=0.5, mass=1.3, angles=[-math.pi / 2, -math.pi / 2])
    found = linearise(mechanism)
    assert found.states == ("bar1", "bar2", "bar1.rate", "bar2.rate") and found.equilibrium
    squares = np.sort(-np.linalg.eigvals(found.A[2:, :2]).real)
    assert squares == pytest.approx([3 * (1 + s * 2 / math.sqrt(7)) * G / 0.5 for s in (-1, 1)])


def test_a_spring_and_a_damper_on_a_slide():
    mechanism = loads("""
    gravity: [0, 0]
    ground: {points: {O: [0, 0], A: [-1, 0]}}
    bodies: {block: {mass: 2, inertia: 1}}
    joints: {J: {kind: prismatic, between: [ground.O, block.centre], axis: [1, 0]}}
    forces: {s: {kind: spring, between: [ground.A, block.centre], stiffness: 50, free_length: 1, damping: 3}}
    """)
    found = linearise(mechanism, inputs={"kind": "position", "of": "J"}, outputs=["block.x", "block.x.rate"])
    assert found.states == ("J.position", "J.position.rate") and found.inputs == ("J.position",)
    assert_allclose(found.A, [[0, 1], [-25, -1.5]])
    assert_allclose(found.B, [[0], [0.5]])
    assert_allclose(found.C, np.eye(2))
    assert found.outputs == ("block.x", "block.x.rate")


SPRUNG = library.slider_crank().replace(forces=SPRING)
CASES = {
    "slider-crank at rest": (library.slider_crank(), {"crank": 1.0}, ["crank"], ["crank.angle"]),
    "slider-crank moving": (library.slider_crank(), {"crank": 1.0, "crank.rate": 7.0}, ["crank"], ["crank.angle"]),
    "with spring and damper": (SPRUNG, {"crank": 2.0, "crank.rate": -3.0}, ["crank"], ["crank.angle"]),
    "force on the slider": (library.slider_crank(), {"crank": 0.7, "crank.rate": 4.0}, ["slider.x"], ["slider.x"]),
    "five-bar moving": (
        library.five_bar(),
        {"left_inner": 2.2, "right_inner": 0.7, "left_inner.rate": 3.0, "right_inner.rate": -2.0},
        ["left_inner", "right_inner"],
        ["left_inner.angle", "right_inner.angle"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_as_finite_differences_of_a_reduction_in_numpy(case):
    mechanism, at, inputs, coordinates = CASES[case]
    found = linearise(mechanism, at, inputs)
    moved = mechanism.with_({f"start.{key}": x for key, x in at.items()})
    rows = units(mechanism, *coordinates)
    other = Reduction(mechanism, rows, rows, start(System(moved))[0])
    x, u, n = found.state, found.input, len(found.state)

    def slopes(function, at, step=1e-5):
        return np.column_stack(
            [(function(at + step * e) - function(at - step * e)) / (2 * step) for e in np.eye(len(at))]
        )

    scale = max(1.0, np.abs(found.A).max())
    assert np.abs(found.residual - other(x, u)).max() < 1e-9 * max(1.0, np.abs(found.residual).max())
    assert np.abs(found.A - slopes(lambda x: other(x, u), x)).max() < 1e-6 * scale
    assert np.abs(found.B - slopes(lambda u: other(x, u), u)).max() < 1e-6 * np.abs(found.B).max()
    assert found.A.shape == (n, n) and found.equilibrium is ("rate" not in " ".join(at))


def test_play_and_control_are_left_out_and_actuators_are_the_inputs():
    loop = control.pd("crank", 1.0, k1=10, k2=1)
    loose = library.slider_crank().with_({"J3.clearance": 1e-3}).replace(control=loop)
    one, other = (
        linearise(loose, at={"crank": 1.0}),
        linearise(library.slider_crank(), at={"crank": 1.0}, inputs="crank"),
    )
    assert isinstance(one, Linear) and one.inputs == ("crank",)
    assert_allclose(one.A, other.A)
    assert_allclose(one.B, other.B)


def test_a_linear_controller_designed_with_it_holds_the_mechanism():
    """Poles placed by hand on the linear system: the mechanism comes back as its eigenvalues say."""
    arm = library.pendulum(length=0.5, mass=1.0)
    found = linearise(arm, at={"bar1": math.pi / 2}, inputs="bar1")
    a, b = found.A[1, 0], found.B[1, 0]
    k1, k2 = (a + 12.0) / b, 7.0 / b  # poles at -3 and -4
    loop = control.pd("bar1", math.pi / 2, k1=k1, k2=k2)
    run = simulate(arm, 2.0, RungeKutta(1e-10, 1e-12), start={"bar1": math.pi / 2 + 1e-4}, control=loop)
    t = run.time.values
    assert run.tracking_error.values[:, 0] == pytest.approx(1e-4 * (4 * np.exp(-3 * t) - 3 * np.exp(-4 * t)), abs=1e-10)


def test_bad_points():
    mechanism = library.slider_crank()
    with pytest.raises(ModelError, match=r"slider\.x do not determine the mechanism's motion"):
        linearise(mechanism, at={"crank": 0.0}, inputs="slider.x")
    with pytest.raises(ModelError, match="states: there are 2 for 1 degrees of freedom"):
        linearise(mechanism, states=["crank", "rod"])
    with pytest.raises(ModelError, match="no body or revolute joint 'cranc'; did you mean 'crank'"):
        linearise(mechanism, inputs="cranc")
    with pytest.raises(ModelError, match="no moving point or body 'slidr'"):
        linearise(mechanism, outputs="slidr.x.rate")
    with pytest.raises(ModelError, match="no degree of freedom"):
        linearise(library.slider_crank(speed=2.0))
    driven = mechanism.replace(drives={"m": {"kind": "rate", "of": "crank", "motion": 1.0}})
    with pytest.raises(ModelError, match=r"drives\.m: a rate drive has no position to hold"):
        linearise(driven)
    with pytest.raises(ModelError, match="know no friction of pins"):
        joint = {
            "kind": "revolute",
            "between": mechanism.joints["J1"].between,
            "pin_friction": "threlfall",
            "journal_radius": 0.01,
        }
        linearise(mechanism.replace(joints={**mechanism.joints, "J1": joint}))


def test_a_long_chain_swings_as_its_matrices_say_and_its_program_grows_with_it():
    """Hanging bars in absolute angles: M_ij = m l^2 (1/2 or 1/3 + bars below), K_ii = m g l (1/2 + bars below)."""
    n = 16
    point = linearise(library.pendulum(n, angles=[-np.pi / 2] * n), inputs="bar1")
    below = np.array([[n - 1 - max(i, j) for j in range(n)] for i in range(n)])
    M = below + np.where(np.eye(n) > 0, 1 / 3, 1 / 2)
    K = 9.81 * np.diag(np.diag(below) + 0.5)
    assert point.equilibrium
    assert point.A[n:, :n] == pytest.approx(-np.linalg.solve(M, K), rel=1e-9, abs=1e-8)
    assert point.A[n:, n:] == pytest.approx(np.zeros((n, n)), abs=1e-9)
    assert point.B[n:, 0] == pytest.approx(np.linalg.solve(M, np.eye(n)[0]), rel=1e-9, abs=1e-9)

    def operations(bars):
        axes = [f"bar{i + 1}" for i in range(bars)]
        about = _About(library.pendulum(bars, angles=[-1.0] * bars), axes, axes[:1], axes)
        return about.run(np.zeros(3 * bars), np.zeros(3 * bars), ()).program.operations

    assert operations(12) < 2.5 * operations(6)
