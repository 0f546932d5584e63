"""The orthogonal complement and the reduced equations, against finite differences, closed forms and each other."""

import numpy as np
import pytest

import jointplay as jp
from jointplay.papers import _coelho_arms as arms
from jointplay.statics import Coordinates, Singular, assemble, coupling, kinematics

MECHANISMS = {
    "four-bar": (jp.library.four_bar, ["crank"]),
    "slider-crank": (jp.library.slider_crank, [{"kind": "x", "of": "slider"}]),
    "five-bar": (jp.library.five_bar, ["J1", "J5"]),
    "pendulum": (lambda: jp.library.pendulum(2, angles=[-1.0, -0.4]), ["J1", "J2"]),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_three_ways_to_the_complement(name):
    make, chosen = MECHANISMS[name]
    system = jp.System(make())
    q = assemble(system)
    found = [jp.null_space(system, q, chosen, method) for method in ("partition", "svd", "qr")]
    assert all(np.allclose(found[0], other, atol=1e-11) for other in found) and found[0].apart < 1e-9
    assert np.abs(system.evaluate(q).B @ found[0].values).max() < 1e-11


def test_the_complement_is_the_slope_of_the_motion():
    turning = jp.library.slider_crank(speed=2.0)
    found = kinematics(turning, [0.4])
    q = np.array([found[c].sel(body=b).item() for b in turning.bodies for c in ("x", "y", "angle")])
    v = np.array([found[f"{c}_rate"].sel(body=b).item() for b in turning.bodies for c in ("x", "y", "angle")])
    assert np.allclose(jp.null_space(turning, q, ["crank"]).values[:, 0] * 2.0, v, atol=1e-12)


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_terms_give_the_accelerations_of_the_equations(name):
    """M p' + D p p + B p + z = 0 is the free motion, also with springs and dampers."""
    make, chosen = MECHANISMS[name]
    made = make()
    body = next(iter(made.bodies))
    damper = {"kind": "torsion", "between": ["ground", body], "stiffness": 0.7, "damping": 0.3}
    system = jp.System(made.replace(forces={"damper": damper}))
    q = assemble(system)
    terms = jp.reduced(system, q, chosen)
    assert terms.mismatch < 1e-11
    p = np.random.default_rng(2).normal(size=terms.sizes["rate"])
    v = terms.C.values @ p
    here = system.evaluate(q, v)
    free, _ = here.accelerations()
    left = np.einsum("krs,r,s->k", terms.D.values, p, p) + terms.B.values @ p + terms.z.values
    dp = np.linalg.solve(terms.M.values, -left)
    rows = Coordinates(system, chosen)
    there = rows.evaluate(q, v)
    assert np.allclose(there.B[rows.asked] @ free + there.Bdot[rows.asked] @ v, dp, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_coupling_of_modules_gives_the_closed_forms(seed):
    random = np.random.default_rng(seed)
    given = arms.numbers(random, balanced=seed == 2)
    angles = float(random.uniform(0, 3)), float(random.uniform(0, 3))
    found = jp.reduced(arms.rr(angles=angles, **given), independent=["rr.J1", "rr.J2"])
    for key, value in arms.arm_terms(given, angles[0], angles[1] - angles[0]).items():
        scale = np.abs(found.M.values).max() if key != "z" else 10.0
        assert np.abs(found[key].values - value).max() < 1e-10 * scale
    five, terms, hat, _ = arms.coupled_five_bar(random, balanced=False)
    assert np.abs(five.C_hat.values - hat).max() < 1e-10 * np.abs(hat).max()
    for key, axes in (("M", "ji,jk->ik"), ("D", "ji,jkl->ikl"), ("z", "ji,j->i")):
        wanted = np.einsum(axes, hat, terms[key])
        assert np.abs(five[key].values - wanted).max() < 1e-10 * max(np.abs(wanted).max(), 1.0)


def test_free_models_and_coupling_rows():
    whole = arms.rr()
    parts = coupling(whole)
    assert list(parts.modules) == ["rr", "payload", "mass1", "mass2"] and len(parts.rows) == 9
    assert parts.modules["rr"].C.shape == (6, 2) and parts.C_hat.shape == (11, 2)
    stacked = np.zeros((15, 2))
    at, coordinates = 0, jp.System(whole).coordinates
    for module in parts.modules.values():
        n = module.C.shape[1]
        stacked[[coordinates.index(c) for c in module.coordinates]] = module.C @ parts.C_hat[at : at + n]
        at += n
    assert np.abs(parts.A @ stacked).max() < 1e-12
    basis = jp.null_space(whole, independent=["rr.J1", "rr.J2"]).values
    assert np.linalg.matrix_rank(np.hstack([basis, stacked]), 1e-9) == 2


def test_other_numbers_need_no_new_trace_and_are_not_mixed_up():
    system = jp.System(jp.library.four_bar())
    light, heavy = jp.reduced(system, independent=["crank"]), system.with_({"crank.mass": 5.0})
    assert jp.reduced(heavy, independent=["crank"]).M.item() > 1.5 * light.M.item()
    assert jp.reduced(system, independent=["crank"]).M.item() == light.M.item()


def test_what_is_refused():
    bar = jp.library.four_bar()
    with pytest.raises(Singular, match="there are 2 for 1 degrees of freedom; leave out 1"):
        jp.null_space(bar, independent=["crank", "rocker"])
    with pytest.raises(ValueError, match="given twice"):
        jp.null_space(jp.library.five_bar(), independent=["J1", "J1"])
    with pytest.raises(ValueError, match="method must be"):
        jp.null_space(bar, method="guess")
    with pytest.raises(ValueError, match="no joint 'J9'"):
        jp.reduced(bar, independent=["crank"], redundant=["crank"], cut=["J9"])
    stretched = jp.library.slider_crank(angle=0.0)
    with pytest.raises(Singular, match="singular position, or its coordinates"):
        jp.null_space(stretched, independent=["slider.x"])
