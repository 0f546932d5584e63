"""Shaking forces, tests of balance, conditions and designs, against closed forms and the reference page."""

import ast
import math
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import jointplay as jp
from jointplay import balancing
from jointplay.balancing import adjustables, motion
from jointplay.balancing.demands import demands, parameters
from jointplay.balancing.frames import shifted


def four_bar(**changes):
    """The four-bar of the reference page, its crank turning at 10 rad/s from 0, no gravity."""
    made = jp.library.four_bar(
        lengths=(0.1, 0.35, 0.25, 0.4), masses=(0.3, 0.8, 0.5), inertias=(0.001, 0.01, 0.002),
        centres=((0.05, 0.0), (0.12, 0.05), (0.12, 0.01)), crank=0.0,
    )  # fmt: skip
    drive = {"kind": "angle", "of": "crank", "motion": {"kind": "constant_speed", "speed": 10.0}}
    return made.replace(gravity=(0, 0), drives={"motor": drive}).with_(changes)


WEIGHTS = "crank:radius=80mm,rocker:radius=80mm"


@pytest.fixture(scope="module")
def balanced():
    return balancing.balance(four_bar(), "force", WEIGHTS)


class TestShaking:
    def test_closed_form_of_a_scotch_yoke(self):
        t = np.linspace(0, 3, 40)
        found = balancing.shaking(jp.library.scotch_yoke(crank=0.1, masses=(1.0, 3.0), speed=2.0), t)
        assert found.force_x.values == pytest.approx(0.35 * 4 * np.cos(2 * t), abs=1e-12)
        assert found.force_y.values == pytest.approx(0.05 * 4 * np.sin(2 * t), abs=1e-12)
        assert found.apart < 1e-12

    @pytest.mark.parametrize("pole", [(0.0, 0.0), (0.3, -0.7)])
    def test_reactions_say_the_same_with_springs_loads_gears_and_weights(self, pole):
        base = four_bar(**{"crank.counterweight.mass": 0.4, "crank.counterweight.y": 0.06})
        loaded = base.replace(
            gravity=(1.0, -9.81),
            bodies={**base.bodies, "disc": jp.Body(mass=1.0, inertia=0.01)},
            joints={
                **base.joints,
                "J5": {"kind": "revolute", "between": ["disc.centre", "ground.J1"]},
                "teeth": {"kind": "gear", "between": ["crank", "disc"], "ratio": -2.0},
            },
            forces={
                "spring": {
                    "kind": "spring",
                    "between": ["ground.J4", "coupler.end"],
                    "stiffness": 100.0,
                    "damping": 3.0,
                },
                "push": {"kind": "force", "at": "rocker.end", "x": 5.0},
                "twist": {"kind": "torque", "on": "rocker", "torque": 2.0},
            },
        )
        assert balancing.shaking(loaded, np.linspace(0, 0.6, 12), pole).apart < 1e-12

    def test_a_slider_pushes_its_guide(self):
        assert balancing.shaking(jp.library.slider_crank(speed=9.0), np.linspace(0, 0.7, 12), (0.1, 0.2)).apart < 1e-12

    def test_of_a_run(self):
        bar = four_bar()
        run = jp.simulate(bar, until=0.3)
        direct = balancing.shaking(bar, run.time.values[1::100])
        seen = balancing.shaking(run).sel(time=direct.time)
        assert seen.force_x.values == pytest.approx(direct.force_x.values, abs=1e-6)
        assert seen.moment.values == pytest.approx(direct.moment.values, abs=1e-6)

    def test_play_spoils_a_balance_that_ideal_joints_keep(self, balanced):
        ideal = balancing.shaking(jp.simulate(balanced.mechanism, until=0.2))
        assert float(ideal.force.max()) < 1e-9
        loose = balanced.mechanism.loosen("J2", "0.1 mm", journal_radius="5 mm")
        run = jp.simulate(loose, until=0.2, stepper=jp.MoreauJean(2e-5), every=1e-3)
        assert float(balancing.shaking(run).force.max()) > 1e-2

    def test_what_is_refused(self):
        with pytest.raises(ValueError, match="times are missing"):
            balancing.shaking(four_bar())
        with pytest.raises(ValueError, match="pole must be two numbers"):
            balancing.shaking(four_bar(), [0.0], pole=3)
        with pytest.raises(ValueError, match="expected a mechanism"):
            balancing.shaking({}, [0.0])


class TestReference:
    """The page's four-bar, RR arm and slider-crank."""

    def test_berkof_and_lowen(self, balanced):
        assert balanced.rank == 4 and balanced.feasible and balanced.residual < 1e-12
        d = balanced.design
        moments = [
            d[f"{b}.counterweight.mass"] * d[f"{b}.counterweight.{c}"] for b in ("crank", "rocker") for c in "xy"
        ]
        assert moments == pytest.approx([-0.0675714, 0.0114286, -0.1285714, -0.0335714], abs=5.1e-8)
        assert balanced.before["shaking_force_peak"] == pytest.approx(14.888837, abs=5.1e-7)
        assert balanced.before["shaking_moment_peak"] == pytest.approx(1.312334, abs=1e-6)
        assert balanced.after["shaking_force_peak"] < 1e-11
        assert balanced.after["shaking_moment_peak"] == pytest.approx(3.127275, abs=1e-6)
        assert balanced.conditions[0].text == (
            "crank.mass * crank.centre.x + crank.counterweight.mass * crank.counterweight.x"
            " + coupler.mass * crank.length - coupler.mass * coupler.centre.x * crank.length / coupler.length = 0"
        )

    def test_slider_crank(self):
        made = jp.library.slider_crank(crank=0.05, rod=0.2, masses=(0.7, 1.1, 1.3), speed=10.0)
        found = balancing.balance(made, "force", "crank,rod", times=[0.0, 0.1])
        new = parameters(found.mechanism)  # m, mx, my, J of crank, rod, slider
        rod_mass = new[4]
        assert new[1] == pytest.approx(-0.05 * (rod_mass + 1.3)) and new[5] == pytest.approx(-0.2 * 1.3)
        assert found.conditions[0].text.endswith("slider.mass * crank.length = 0")

    @pytest.mark.parametrize("objective", ["static", "gyroscopic"])
    def test_rr_arm(self, objective):
        arm = jp.library.rr_arm(inertias=(67e-5, 134e-5))
        arm = arm.replace(bodies={**arm.bodies, "arm2": arm.bodies["arm2"].loaded(1.5, (0.2, 0.0))})
        found = balancing.balance(arm, objective, "arm1:mass=1kg,arm2:mass=1kg", independent=["J1", "J2"])
        assert found.design["arm1.counterweight.x"] == pytest.approx(-3.0 * 0.1)
        assert found.design["arm2.counterweight.x"] == pytest.approx(-1.7 * 0.2)
        assert found.before["torque_rms"] is None
        judged = balancing.judge(found.mechanism, ["J1", "J2"])
        assert judged["fully gyroscopic"].passed and not judged["decoupling"].passed
        assert balancing.judge(found.mechanism, ["arm1", "arm2"])["fully decoupling"].passed  # in the arms' own angles
        assert not balancing.judge(arm, ["J1", "J2"])["static"].passed

    def test_five_bar_in_both_kinds_of_rates(self):
        five = jp.library.coelho_five_bar(True)
        wide = balancing.judge(five, ["J1", "J5"], ["J1", "J2", "J5", "J4"], ["J3"])
        least = balancing.judge(five, ["J1", "J5"])
        assert wide["gyroscopic"].passed and least["static"].passed and not least["gyroscopic"].passed
        assert set(least["gyroscopic"].worst) == set(jp.System(five).coordinates)
        values = np.linalg.svd(demands(five, "force", ["J1", "J5"]).rows, compute_uv=False)
        assert (values > 1e-9 * values[0]).sum() == 6

    def test_a_spring_balances_a_bar(self):
        bar = jp.library.pendulum(angles=[0.3]).replace(
            ground={"points": {"O": (0, 0), "H": (0, 0.7)}},
            forces={"lift": {"kind": "spring", "between": ["ground.H", "bar1.end"], "stiffness": 20.0}},
        )
        found = balancing.balance(bar, "static", "lift")
        assert found.design["lift.stiffness"] == pytest.approx(9.81 / (2 * 0.7))
        assert "lift.stiffness" in found.conditions[0].text and "gravity.y" in found.conditions[0].text

    def test_places_follow_the_payload(self):
        parts = {"arm": jp.library.rr_arm(), "load": jp.library.point_mass(1.5)}
        weld = {"kind": "weld", "between": ["arm.arm2.end", "load.weight.centre"]}
        whole = jp.couple(parts, joints={"grip": weld}, start={"arm.arm1": 0.5, "arm.arm2": 1.0})
        found = balancing.adaptive(whole, "load.weight.mass", [0.5, 1.5, 3.0], "arm.arm1:mass=1kg,arm.arm2:mass=2kg")
        assert found.feasible.all()
        # m4 g4 a2 = a2 (m2 c2 + mp), m3 g3 a1 = a1 (m1 c1 + m2 + mp + m4)
        assert found.slope.sel(address="arm.arm2.counterweight.x").item() == pytest.approx(-0.1)
        assert found.slope.sel(address="arm.arm1.counterweight.x").item() == pytest.approx(-0.1)
        assert found.offset.sel(address="arm.arm1.counterweight.x").item() == pytest.approx(-0.1 * (0.1 + 0.4 + 2.0))


def test_the_nearest_design_has_the_least_residual_and_is_that_of_the_textbook():
    """A counterweight on the crank cannot balance a slider-crank: what moves along the guide is more than what moves
    across it.  Over whole turns the nearest is the mean of both, on the line of the crank."""
    (r, l), (crank, rod, slider) = (0.1, 0.3), (0.5, 0.8, 1.0)
    drive = {"kind": "angle", "of": "crank", "motion": {"kind": "constant_speed", "speed": 6.0, "start": 0.5}}
    given = jp.library.slider_crank(crank=r, rod=l, masses=(crank, rod, slider)).replace(drives={"motor": drive})
    found = balancing.balance(given, "force", "crank:radius=60mm")
    along, across = crank * r / 2 + rod * r + slider * r, crank * r / 2 + rod * r / 2
    design = {address.rpartition(".")[2]: x for address, x in found.design.items()}
    assert not found.feasible and design["x"] == pytest.approx(-0.06) and design["y"] == pytest.approx(0, abs=1e-6)
    assert design["mass"] * 0.06 == pytest.approx((along + across) / 2, rel=1e-6)
    rows = demands(given.replace(drives={}), "force", path=found.moved.path)
    least = rows.residual(parameters(found.mechanism))
    for factor in (0.9, 0.99, 1.01, 1.1):
        other = {"crank.counterweight.mass": factor * design["mass"]}
        assert rows.residual(parameters(found.mechanism.with_(other))) > least


def test_a_bar_on_a_pivot_and_a_mechanism_that_is_balanced_already():
    found = balancing.balance(jp.library.pendulum(), "static", "bar1:mass<=3kg", times=[0.0, 0.1])
    assert found.feasible and found.design["bar1.counterweight.mass"] * found.design[
        "bar1.counterweight.x"
    ] == pytest.approx(-0.5)
    five = jp.library.coelho_five_bar()
    again = balancing.balance(five, "static", "left_inner,left_outer", independent=["J1", "J5"])
    assert again.feasible and {again.design[f"left_{b}.counterweight.mass"] for b in ("inner", "outer")} == {0.0}


def test_what_cannot_be_met_does_not_spoil_what_can():
    """Links 1 and 2 get the counterweights of their own conditions, though link 3 stays unbalanced."""
    found = balancing.balance(jp.library.wu_2017(), "force", "link1,link2", times=[0.0, 0.1])
    assert not found.feasible and found.rank == 6
    for b in ("link1", "link2"):
        x, y = (found.design[f"{b}.counterweight.{c}"] for c in "xy")
        assert x < 0 and abs(y) < 0.3 * abs(x)


class TestForceAndMoment:
    def test_counterweights_alone_cannot(self):
        found = balancing.balance(four_bar(), "force and moment", "crank,rocker", times=[0.0, 0.1])
        assert found.rank == 8 and not found.feasible and "adjust more elements" in found.reason

    @pytest.mark.parametrize("coupler", [{}, {"coupler.centre.y": 0.0}])
    def test_nor_with_geared_inertias_while_the_coupler_is_as_it_is(self, coupler):
        asked = "crank,rocker,crank.geared,rocker.geared"
        found = balancing.balance(four_bar(**coupler), "force+moment", asked, times=[0.0, 0.1])
        assert not found.feasible

    def test_feasible_with_a_coupler_like_a_physical_pendulum(self):
        """J = m x (l - x) and no offset: with geared inertias alone, or found by the solver itself."""
        good = four_bar(**{"coupler.centre.y": 0.0, "coupler.inertia": 0.8 * 0.12 * (0.35 - 0.12)})
        asked = "crank,rocker,crank.geared,rocker.geared"
        found = balancing.balance(good, "force+moment", asked, times=np.linspace(0, 0.6, 30))
        assert found.feasible and found.after["shaking_moment_peak"] < 1e-9
        own = ",coupler.mass,coupler.centre.x,coupler.centre.y,coupler.inertia"
        free = balancing.balance(four_bar(), "force+moment", asked + own, times=np.linspace(0, 0.6, 30))
        assert free.feasible and free.after["shaking_moment_peak"] < 1e-9 and free.after["shaking_force_peak"] < 1e-9
        d = free.design
        assert d["coupler.inertia"] == pytest.approx(
            d["coupler.mass"] * d["coupler.centre.x"] * (0.35 - d["coupler.centre.x"])
        )

    def test_a_solution_that_cannot_be_built_is_called_so(self):
        """Without gears, the crank's inertia would have to be negative."""
        good = four_bar(**{"coupler.centre.y": 0.0, "coupler.inertia": 0.8 * 0.12 * (0.35 - 0.12)})
        asked = "crank,rocker,crank.inertia,rocker.inertia"
        found = balancing.balance(good, "force+moment", asked, times=[0.0, 0.1])
        assert not found.feasible and "cannot be built" in found.reason and "is negative" in found.reason


def evaluated(text, mechanism):
    """The left side of a condition, its addresses replaced by the mechanism's numbers."""
    left, right = text.split(" = ")
    assert right == "0"
    known = mechanism.addresses()
    numbers = re.sub(r"[^\W\d][\w-]*(\.[^\W\d][\w-]*)+", lambda m: repr(known.get(m[0], 0.0)), left)
    return eval(compile(ast.parse(numbers, mode="eval"), "", "eval"))


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.floats(0.08, 0.12), min_size=4, max_size=4),
    st.lists(st.floats(0.2, 2.0), min_size=3, max_size=3),
    st.lists(st.floats(-0.08, 0.08), min_size=6, max_size=6),
)
def test_conditions_hold_in_the_balanced_model(lengths, masses, centres):
    """Random four-bars: the texts, with the model's numbers put in, vanish after balancing and not before."""
    made = jp.library.four_bar(
        (lengths[0], 3 * lengths[1], 2.5 * lengths[2], 3 * lengths[3]), masses, (0.01, 0.01, 0.01), crank=1.0,
        centres=[(0.05 + centres[2 * i], centres[2 * i + 1]) for i in range(3)],
    )  # fmt: skip
    found = balancing.balance(made, "force", "crank,rocker", times=[0.0, 0.1])
    assert found.feasible and len(found.conditions) == found.rank == 4
    size = sum(masses) * max(lengths)
    for one in found.conditions:
        assert re.search(r"\[|\bm\d|\b\d+\.", one.text) is None  # names only: every coefficient is recognised
        assert abs(evaluated(one.text, found.mechanism)) < 1e-9 * size and abs(one.value(found.mechanism)) < 1e-9 * size
    assert found.residual < 1e-9
    assert max(abs(one.value(made)) for one in found.conditions) > 1e-6 * size


class TestLeast:
    @pytest.mark.parametrize("objective", ["force-rms", "moment-peak", "bearing-rms"])
    def test_no_neighbour_is_better(self, objective):
        times = np.linspace(0, 0.62, 240)
        found = balancing.balance(
            four_bar(), objective, "crank:radius=80mm,mass<=2kg,rocker:radius=80mm,mass<=3kg", times=times
        )
        quantity, how = objective.split("-")
        moved = motion(four_bar(), times)
        worth = getattr(moved, how)
        best, was = worth(quantity, parameters(found.mechanism)), worth(quantity, parameters(four_bar()))
        assert best < 0.999 * was
        random = np.random.default_rng(0)
        for _ in range(60):
            near = {a: x * (1 + 0.02 * random.normal()) for a, x in found.design.items()}
            if any(x < 0 for a, x in near.items() if a.endswith("mass")):
                continue
            inside = all(near[f"{b}.counterweight.mass"] <= m for b, m in (("crank", 2), ("rocker", 3)))
            radius = [
                math.hypot(near[f"{b}.counterweight.x"], near[f"{b}.counterweight.y"]) for b in ("crank", "rocker")
            ]
            near |= {f"{b}.counterweight.{c}": near[f"{b}.counterweight.{c}"] * 0.08 / (r or 1.0)
                     for b, r in zip(("crank", "rocker"), radius, strict=True) for c in "xy"}  # fmt: skip
            if inside:
                assert worth(quantity, parameters(shifted(four_bar(), near))) > best * (1 - 2e-3)

    def test_what_does_not_matter_is_left_away(self):
        """At constant speed and without gravity the crank's counterweight does nothing to the torque."""
        found = balancing.balance(four_bar(), "torque-rms", "crank,rocker", times=np.linspace(0, 0.6, 40))
        assert found.design["crank.counterweight.mass"] == 0.0

    def test_means_do_not_count_an_end_twice(self):
        """The rms over a turn, by its 720 times, by fewer from end to end, and by uneven ones."""
        whole, theta = 2 * math.pi / 10, parameters(four_bar())
        squares = [motion(four_bar(), times).square("force", theta) for times in (
            None, np.linspace(0, whole, 61), np.linspace(0, whole, 60, endpoint=False),
            whole * np.linspace(0, 1, 400) ** 2,
        )]  # fmt: skip
        assert squares[1:3] == pytest.approx([squares[0]] * 2, rel=1e-9)
        assert squares[3] == pytest.approx(squares[0], rel=1e-4)

    def test_signals_are_those_of_inverse_dynamics(self):
        times = np.linspace(0, 0.6, 20)
        heavy = four_bar(**{"rocker.counterweight.mass": 0.7, "rocker.counterweight.x": -0.1}).replace(
            gravity=(0, -9.81)
        )
        moved, turn = motion(four_bar().replace(gravity=(0, -9.81)), times), jp.inverse_dynamics(heavy, times)
        theta = parameters(heavy)
        assert moved.signal("torque", theta)[:, 0] == pytest.approx(turn.effort.values[:, 0], abs=1e-11)
        assert moved.signal("bearing", theta)[:, 0::2] == pytest.approx(turn.force_x.values, abs=1e-10)


def test_front_goes_down_and_ends_at_the_least():
    times = np.linspace(0, 0.62, 30)
    found = balancing.trade_off(four_bar(), WEIGHTS, "moment", times=times, points=4)
    assert (np.diff(found.force_rms) > 0).all() and (np.diff(found.moment_rms) < 0).all()
    assert found.force_rms[0] < 1e-4 and found.force_rms.unbalanced == pytest.approx(10.05, abs=0.2)
    design = dict(zip(found.address.values, found.design[2].values, strict=True))
    moved = motion(four_bar(), times)
    again = moved.rms("moment", parameters(four_bar().with_(design)))
    assert again == pytest.approx(found.moment_rms[2].item(), rel=1e-9)


@pytest.mark.parametrize(
    ("objective", "adjust", "told"),
    [
        ("forse", "crank", "no such objective; did you mean 'force'"),
        ("force", "crnak", "did you mean 'crank'"),
        ("force", "", "no body, spring or number"),
        ("force", "crank,crank", "named twice"),
        ("force", "crank:mass<=1kg,mass>=2kg", "bounds of mass contradict each other"),
        ("force", "crank:radius=80mm,x<=3mm", "radius and x or y contradict"),
        ("force", "crank:weight=3kg", "no 'weight' to bound; there are mass, x, y, radius, inertia"),
        ("force", "crank:mass=3m", "mass"),
        ("force", "crank:mass<=-3kg", "mass must be >= 0"),
        ("force", "mass<=3kg", "belongs to no element"),
        ("force", "crank.geared", "nothing that may be adjusted .* has an influence"),
        ("static", "crank", "there is nothing to balance"),
        ("force", "coupler.geared", "turns on no pivot of the ground"),
    ],
)
def test_what_is_refused(objective, adjust, told):
    with pytest.raises(ValueError, match=told):
        balancing.balance(four_bar(), objective, adjust, times=[0.0, 0.1])


def test_motions_that_are_refused():
    with pytest.raises(ValueError, match="singular position"):
        balancing.balance(jp.library.slider_crank(crank=0.1, rod=0.1, speed=2.0), "force-rms", "crank")
    with pytest.raises(ValueError, match="no body or revolute joint 'crnk'"):
        balancing.balance(four_bar(), "force", "crank", motion_of="crnk=3 rpm")
    with pytest.raises(ValueError, match="several degrees of freedom"):
        balancing.balance(jp.library.five_bar(), "force-rms", "left_inner")
    with pytest.raises(ValueError, match="against must be one of"):
        balancing.trade_off(four_bar(), "crank", "noise")


def test_bounds_and_kinds_are_read():
    found = adjustables(four_bar(), "crank:radius=80 mm,mass<=2kg,rocker.geared:ratio=-2,coupler.mass>=1 kg")
    assert [(one.element, one.kind) for one in found] == [
        ("crank", "counterweight"), ("rocker", "geared"), ("coupler.mass", "number"),
    ]  # fmt: skip
    assert found[0].options["radius"] == (0.08, 0.08) and found[0].options["mass"][1] == 2.0
    assert found[1].options["ratio"] == (-2.0, -2.0) and found[2].options["value"][0] == 1.0


def test_a_balance_does_not_know_how_large_a_mechanism_is():
    """The same four-bar in another size and mass, with geared inertias: what shakes before is that of the mechanism
    without them, and an exact balance is as impossible."""
    found = []
    for length, mass in ((1.0, 1.0), (0.01, 1e-6)):
        inertias = tuple(mass * length**2 * x for x in (1e-3, 1e-2, 2e-3))
        centres = tuple((length * x, length * y) for x, y in ((0.05, 0), (0.12, 0.05), (0.12, 0.01)))
        sizes, masses = ([f * x for x in one] for f, one in ((length, (0.1, 0.35, 0.25, 0.4)), (mass, (0.3, 0.8, 0.5))))
        made = jp.library.four_bar(sizes, masses, inertias, 0.0, centres=centres)
        made = made.replace(gravity=(0, 0), drives=four_bar().drives)
        asked = "crank,rocker,crank.geared,rocker.geared"
        found.append(balancing.balance(made, "force+moment", asked))
        moment = motion(made).peak("moment", parameters(made))
        assert found[-1].before["shaking_moment_peak"] == pytest.approx(moment, rel=1e-12)
        assert moment / (mass * length**2) == pytest.approx(1.312333, rel=1e-5)
    assert not any(one.feasible for one in found)
