"""The same mechanism with several contacts, side by side."""

import doctest

import numpy as np
import pytest

from jointplay import comparison
from jointplay.comparison import compare, named, text
from jointplay.model import Compliant, Following, Mechanism, ModelError, Rigid, library
from jointplay.results import apart, deviation
from jointplay.simulation import MoreauJean, RungeKutta, simulate
from jointplay.system import System

TORQUE = {"motor": {"kind": "torque", "on": "crank", "torque": 6.0}}
COULOMB = {"law": "modified_coulomb", "static_friction": 0.1, "friction": 0.1, "v_s": 1e-3, "v_d": 1e-2}
HARD = {"law": "kelvin_voigt", "stiffness": 1e7, "damping": 3e3}


def crank_rocker(clearance=5e-3):
    return library.crank_rocker_2016(clearance2=clearance).replace(forces=TORQUE)


@pytest.fixture(scope="module")
def found():
    contacts = {
        "rigid": Rigid(),
        "rough": Rigid(friction=0.1),
        "soft": Compliant(normal={"law": "kelvin_voigt", "stiffness": 1e3, "damping": 30.0}),
        "hard": Compliant(normal=HARD),
        "hard, rough": Compliant(normal=HARD, friction=COULOMB),
        "link": Following(on_loss="continue"),
    }
    steppers = {"rigid": MoreauJean(1e-4), "hard": RungeKutta(1e-9, 1e-11)}
    return compare(crank_rocker(), contacts, until=1.0, steppers=steppers, every=1.0 / 700)


def test_the_examples_in_the_text_are_true():
    result = doctest.testmod(comparison)
    assert result.attempted > 0 and result.failed == 0


def test_the_table_has_a_row_for_each_contact(found):
    assert list(found["contact"].values)[:2] == ["ideal", "rigid"] and found.sizes["contact"] == 7
    assert found["deviation"].dims == ("contact", "body") and found["deviation"].attrs["units"] == "rad"
    assert found["peak_force"].dims == ("contact", "joint")
    assert set(found["outcome"].values) == {"reached 1 s"} and (found["reached"] == 1).all()
    assert (found["cost"] > 0).all() and (found["preparation"] > 0).all()
    assert int(found["steps"].sel(contact="rigid")) == 10000


def test_the_ideal_twin_is_its_own_measure(found):
    ideal = found.sel(contact="ideal")
    assert float(abs(ideal["deviation"]).max()) == 0 and float(ideal["energy_lost"]) == 0
    assert np.isnan(float(ideal["peak_impulse"]))


def test_stiff_contact_comes_near_to_rigid(found):
    """The same ends with samples at other times, since those of fixed steps are rounded to steps."""
    crank = found["deviation"].sel(body="crank")
    rigid, soft, hard = (float(crank.sel(contact=name)) for name in ("rigid", "soft", "hard"))
    assert abs(hard - rigid) < 0.02 * rigid < abs(soft - rigid)
    lost = found["energy_lost"]
    assert float(lost.sel(contact="hard")) == pytest.approx(float(lost.sel(contact="rigid")), rel=0.05)


def test_friction_costs_energy_and_impulses_belong_to_rigid_contact(found):
    lost = found["energy_lost"]
    assert float(lost.sel(contact="rough")) > 2 * float(lost.sel(contact="rigid")) > 0
    assert float(lost.sel(contact="hard, rough")) == pytest.approx(float(lost.sel(contact="rough")), rel=0.05)
    known = ~np.isnan(found["peak_impulse"])
    assert list(found["contact"].values[known.values]) == ["rigid", "rough"]
    assert float(found["peak_force"].sel(contact="hard", joint="J2")) > 10 * float(
        found["peak_force"].sel(contact="rigid", joint="J2")
    )


def test_the_table_as_text(found):
    lines = text(found).splitlines()
    assert (
        len(lines) == 8 and lines[0].startswith("contact") and len({line.index("reached") for line in lines[1:]}) == 1
    )
    assert lines[2].split()[0] == "rigid" and "nan" not in text(found)


def test_what_is_left_beside_friction_is_the_work_of_the_clearance():
    loose = library.spacecraft_2026("A", 3)
    contact = loose.joints["J2"].contact
    ideal, rough = (
        compare(loose, [contact], until=5.0, baseline=baseline)["deviation"].sel(contact="compliant", body="arm1")
        for baseline in ("ideal", "ideal+friction")
    )
    assert np.degrees(float(ideal)) == pytest.approx(0.1142, abs=1e-4)
    assert np.degrees(float(rough)) < 0.5 * np.degrees(float(ideal))


def test_a_run_that_ends_early_says_so():
    found = compare(library.grigore_figure_5(speed=3.0), [Following()], until=2.0)
    last = found.isel(contact=-1)
    assert float(last["reached"]) == pytest.approx(1.57, abs=0.01) and "O3" in str(last["outcome"].values)
    assert "joint 'O3' loses contact" in text(found) and float(last["deviation"].max()) < 0.02


def test_defaults_and_systems():
    found = compare(System(crank_rocker()), until=0.02)
    assert list(found["contact"].values) == ["ideal", "rigid", "compliant", "following"]


def test_names():
    assert list(named([Rigid(), Compliant(), Rigid(friction=0.1)])) == ["rigid 1", "compliant", "rigid 2"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"mechanism": library.crank_rocker_2016()}, "no joint of 'crank-rocker' is loose"),
        ({"contacts": ["rigid"]}, "contacts are Rigid, Compliant or Following values, got 'rigid'"),
        ({"contacts": {"ideal": Rigid()}}, "'ideal' names the twin without play"),
        ({"contacts": [Rigid()], "steppers": {"rigit": MoreauJean()}}, "no contact 'rigit' for its stepper"),
        ({"contacts": [Rigid()], "baseline": "friction"}, "baseline must be 'ideal' or 'ideal\\+friction'"),
        ({"contacts": [Rigid()], "baseline": "ideal+friction"}, "needs a friction law"),
    ],
)
def test_refusals(arguments, said):
    with pytest.raises(ValueError, match=said):
        compare(**({"mechanism": crank_rocker(), "until": 0.1} | arguments))


def test_a_sliding_pair_cannot_be_rough_while_ideal():
    mechanism = library.wu_2017(clearance=5e-4)
    with pytest.raises(ModelError, match="P"):
        compare(mechanism, [library.wu_2017_contact()], until=0.1, baseline="ideal+friction")


def test_deviation_is_a_share_of_the_twins_largest_angle():
    """Once by hand, at samples of both and between them."""
    loose, ideal = crank_rocker(), crank_rocker(0.0)
    run, twin, other = (
        simulate(m, 0.5, MoreauJean(1e-4), every=every) for m, every in ((loose, 1e-2), (ideal, 1e-2), (ideal, 3e-3))
    )
    late = run["time"].values >= 0.2 - 1e-9
    a, b = run["angle"].values[late], twin["angle"].values[late]
    by_hand = 100 * np.abs(a - b).max(axis=0) / np.abs(b).max(axis=0)
    found = deviation(run, twin, begin=0.2)
    assert found.values == pytest.approx(by_hand, rel=1e-15) and list(found["body"]) == list(run["body"])
    assert found.attrs["units"] == "%"
    assert deviation(run, other, begin=0.2).values == pytest.approx(by_hand, rel=1e-3)
    assert not apart(twin, twin).any() and not deviation(twin, twin).any()
    with pytest.raises(ValueError, match=r"no samples in common from t = 0\.6 s on; let both run longer"):
        deviation(run, twin, begin=0.6)


@pytest.mark.parametrize("name", ["angle", "x"])
def test_one_motion_is_nowhere_apart_however_far_apart_its_samples_are(name):
    """A driven slider-crank, with two samples in a turn and with 60: the former say nothing of what is between."""
    mechanism = library.slider_crank(speed=100.0)
    few, many = simulate(mechanism, 2.0, every=0.03), simulate(mechanism, 0.5, every=0.001)
    for one, other in ((few, many), (many, few)):
        off = apart(one, other, name)
        assert off.sizes["time"] == 17 and abs(off).max() < 1e-6
    assert deviation(many, few).max() < 1e-4
    moved = few.assign({name: few[name] + 1.0})
    assert apart(moved, many, name).values == pytest.approx(1.0, abs=1e-6)
    assert apart(many, moved, name).values == pytest.approx(-1.0, abs=1e-6)


def test_an_impact_between_two_samples_is_no_distance():
    """A bar that falls on a stop: one run, written in two ways."""
    mechanism = Mechanism(
        ground={"points": {"O": (0, 0)}},
        bodies={"arm": {"bar": 0.5, "mass": 1.0}},
        joints={
            "J": {
                "kind": "revolute", "between": ["ground.O", "arm.start"], "lower": "-30 deg", "stop_restitution": 0.8
            }
        },
        start={"arm": "40 deg"},
    )  # fmt: skip
    fine, coarse = (simulate(mechanism, 1.0, MoreauJean(1e-3), every=every) for every in (1e-3, 0.1))
    assert abs(apart(fine, coarse)).max() < 1e-9 and abs(apart(coarse, fine)).max() < 1e-9


def test_results_are_compared_where_both_have_samples():
    """A cut result that has more samples was carried on as a cubic to before its first one."""
    crank = library.slider_crank(speed=30.0)
    whole, fine = (simulate(crank, until=0.4, every=every, error=False) for every in (1e-3, 1.3e-4))
    late = fine.sel(time=slice(0.2, None))
    for one, other in ((whole, late), (late, whole)):
        assert float(abs(apart(one, other, "x")).max()) < 1e-9 and float(apart(one, other).time.min()) >= 0.2
    assert float(deviation(whole, late).sel(body="rod")) < 1e-6
    with pytest.raises(ValueError, match="no samples in common"):
        deviation(whole.sel(time=slice(None, 0.1)), late)


def test_what_is_wrong_with_a_run_is_told():
    """Steps that cross the play several times, and a wall that would have to pull, were rows like all others."""
    slider = library.slider_crank(speed=100.0).loosen("J3", "0.5 mm")
    steppers = {"rigid": MoreauJean(4e-3, order=1)}
    contacts = {"rigid": Rigid(restitution=0.5), "following": Following(on_loss="continue")}
    found = compare(slider.replace(gravity=(0, 0)), contacts, until=0.2, steppers=steppers)
    assert str(found["judgement"].sel(contact="ideal").values) == "fine"
    assert "wrong" in str(found["judgement"].sel(contact="rigid").values)
    assert "would have to pull from 0.17" in str(found["judgement"].sel(contact="following").values)
    rows = {line.split()[0]: line for line in text(found).splitlines()}
    assert "wrong" in rows["rigid"] and "pull" in rows["following"] and "fine" not in rows["ideal"]


def test_bodies_are_matched_by_name_not_by_their_order():
    """`deviation` was 23 % of a crank that is 0.12 % off, where the other file lists its bodies the other way round."""
    ideal = library.four_bar()
    turned = ideal.replace(bodies=dict(reversed(ideal.bodies.items())))
    run, same, other = (simulate(one, 0.2) for one in (ideal, ideal, turned))
    assert np.abs(apart(run, other, "x")).max() < 1e-9
    assert np.allclose(deviation(run, other), deviation(run, same), atol=1e-6)
