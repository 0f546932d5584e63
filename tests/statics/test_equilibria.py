"""Static equilibria: pendulums, springs, loose joints that cannot pull."""

import math

import numpy as np
import pytest

from jointplay.model import Body, Mechanism, bar, library, loads
from jointplay.statics import equilibria
from jointplay.system import System
from tests.helpers import PARALLEL


def test_a_pendulum_hangs_or_stands():
    system = System(library.pendulum(1, angles=[0.3]))
    down, up = equilibria(system)
    assert (down.stability, up.stability) == ("stable", "unstable")
    assert math.sin(down.q[2]) == pytest.approx(-1.0) and math.sin(up.q[2]) == pytest.approx(1.0)
    assert down.multipliers == pytest.approx([0.0, 9.81], abs=1e-9)
    assert down.eigenvalues[0] > 0 > up.eigenvalues[0] and down.valid and up.valid


def test_a_double_pendulum_has_four_equilibria_and_a_triple_eight():
    found = equilibria(System(library.pendulum(2, angles=[0.1, 0.2])))
    assert sorted(tuple(np.round(np.sin(e.q[2::3]))) for e in found) == [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    assert [e.stability for e in found] == ["stable"] + 3 * ["unstable"]
    negative = sorted(int((e.eigenvalues < 0).sum()) for e in found)
    assert negative == [0, 1, 1, 2]
    assert len(equilibria(System(library.pendulum(3)), 40)) == 8


def test_equilibria_are_the_same_every_time():
    first, second = (equilibria(System(library.four_bar()), 12) for _ in range(2))
    assert [e.q.tolist() for e in first] == [e.q.tolist() for e in second]


def test_every_equilibrium_balances_the_forces():
    system = System(library.five_bar())
    found = equilibria(system, 32)
    assert len(found) >= 6
    for e in found:
        here = system.evaluate(e.q)
        assert here.residual == pytest.approx(0.0, abs=1e-11)
        assert here.F + here.B.T @ e.multipliers == pytest.approx(0.0, abs=1e-8)


BALANCE = """
name: balance
ground: {points: {O: [0, 0], A: [0, 1]}}
bodies: {arm: {bar: 1.0, mass: 1}}
joints: {J: {kind: revolute, between: [ground.O, arm.start]}}
forces: {spring: {kind: spring, between: [arm.end, ground.A], stiffness: 9.81, free_length: 0}}
start: {arm: 0.2}
"""


def test_a_spring_of_the_right_stiffness_holds_an_arm_everywhere():
    """Stiffness k with k h = m g/2 at zero free length: the energy is constant, one of a family is reported."""
    [neutral] = equilibria(System(loads(BALANCE.replace("9.81", "4.905"))))
    assert neutral.stability == "neutral" and neutral.eigenvalues == pytest.approx([0.0], abs=1e-6)


def test_a_spring_of_another_stiffness_does_not():
    up, down = equilibria(System(loads(BALANCE)))
    assert (up.stability, down.stability) == ("stable", "unstable")
    assert math.sin(up.q[2]) == pytest.approx(1.0)
    # energy 1/2 m g sin - k sin: curvature (k - m g/2) along the angle; the free motion moves the centre 0.5 m per rad
    assert up.eigenvalues[0] == pytest.approx(9.81 / 2 / (1 + 0.5**2), rel=1e-6)


def test_a_wound_spring_keeps_its_turns():
    """A stiff torsional spring at one and a half turns: the angle is not moved by whole turns."""
    wound = library.pendulum(1).replace(
        forces={"coil": {"kind": "torsion", "between": ["ground", "bar1"], "stiffness": 100.0, "free_angle": 9.0}},
        start={"bar1": 9.0},
    )
    [rest] = equilibria(System(wound), 12)
    assert 100 * (rest.q[2] - 9.0) == pytest.approx(-9.81 / 2 * math.cos(rest.q[2]), abs=1e-9)


def test_grigore_figure_5_in_contact_and_in_tension():
    """s1: the crank locked at 60 degrees; on the upper branch one equilibrium pushes and one would have to pull."""
    system = System(library.grigore_figure_5())
    contact = system.rows.index("O3.distance")
    found = equilibria(system)
    upper = [e for e in found if e.q[1] > 0]
    assert len(found) == 4 and len(upper) == 2  # as many with the elbow below the ground line
    valid, pulled = upper
    published = [0.20716037, 0.16358058, 0.45545892, 0.33235398, 0.12074030, -1.83260899]
    assert valid.valid and valid.stability == "stable" and valid.q == pytest.approx(published, abs=6e-9)
    assert -valid.multipliers[contact] == pytest.approx(3.67698, abs=5e-6)
    assert not pulled.valid and pulled.tension == ("O3",)
    assert -pulled.multipliers[contact] == pytest.approx(-3.64867, abs=5e-6)
    assert pulled.text == "rejected: joint O3 would pull with 3.65 N"


def test_each_loose_joint_doubles_the_equilibria():
    tight = System(library.grigore_figure_6().with_({"O5.clearance": 0.0, "O6.clearance": 0.0}))
    loose = System(library.grigore_figure_6())
    few, many = equilibria(tight, 64), equilibria(loose, 128)
    assert len(many) == 4 * len(few) == 32
    assert sum(e.valid for e in many) == len(few)
    stable = [e for e in many if e.valid and e.stability == "stable"]
    assert len(stable) == sum(e.stability == "stable" for e in few)


def test_redundant_rows_do_not_hide_an_equilibrium():
    parallel = loads(PARALLEL.replace("60 deg", "40 deg"))
    system = System(parallel)
    found = equilibria(system)
    assert {e.stability for e in found} == {"stable", "unstable"} and len(found) == 2
    for e in found:
        weights = e.multipliers[[system.rows.index(f"{j}.y") for j in "ABC"]].sum()
        assert weights == pytest.approx(4 * 9.81)  # the sum is unique though the shares are not


def test_what_is_fully_driven_rests_on_each_of_its_branches():
    found = equilibria(System(library.wu_2017()))
    assert len(found) == 2 and all(e.text.startswith("held by drives") for e in found)
    assert all(e.stability == "stable" and not len(e.eigenvalues) for e in found)


def test_drives_are_held_at_the_given_time():
    mechanism = library.pendulum(2).replace(
        drives={"motor": {"kind": "angle", "of": "bar1", "motion": {"kind": "constant_speed", "speed": 1.0}}}
    )
    for e in equilibria(System(mechanism), t=0.8):
        assert e.q[2] == pytest.approx(0.8, abs=1e-12) and abs(math.sin(e.q[5])) == pytest.approx(1.0)


@pytest.mark.parametrize(("ends", "t", "torque"), [("held", 0.5, 1.5), ("held", 9.0, 1.0), ("periodic", 2.5, 1.5)])
def test_a_torque_given_as_a_table_is_that_of_the_time(ends, t, torque):
    table = {"kind": "table", "times": [0, 1, 2], "values": [1, 2, 1], "ends": ends, "interpolation": "linear"}
    pushed = library.pendulum().replace(forces={"push": {"kind": "torque", "on": "bar1", "torque": table}})
    hanging, _ = equilibria(pushed, starts=8, t=t)
    lever = 9.81 * pushed.value("bar1.mass") * pushed.value("bar1.length") / 2
    assert math.cos(hanging.q[2]) == pytest.approx(torque / lever, rel=1e-9)


def test_a_free_body_under_gravity_has_no_equilibrium():
    assert equilibria(System(loads("name: stone\nbodies: {stone: {mass: 1, inertia: 1}}\n")), 8) == ()


HUNG = """
name: hung
ground: {points: {O: [0, 0]}}
bodies: {b: {mass: 2, inertia: 1, points: {p: [0, 0]}}}
joints: {P: {kind: prismatic, between: [ground.O, b.p], axis: [0, -1]}}
forces: {s: {kind: spring, between: [ground.O, b.p], stiffness: %s, free_length: %s}}
start: {b.y: -0.3}
"""


@pytest.mark.parametrize("stiffness", [0.02, 80.0, 800.0, 8e4])
def test_a_mass_hangs_on_a_spring(stiffness):
    """All loads act along one coordinate and cancel there: what is left must be judged by the single loads."""
    [rest] = equilibria(loads(HUNG % (stiffness, 0)))
    assert rest.q == pytest.approx([0.0, -2 * 9.81 / stiffness, 0.0], rel=1e-9) and rest.text == "stable"


def test_a_spring_with_a_free_length_has_no_direction_where_its_ends_meet():
    """Every start of a guide is at its origin, where this spring has length 0; it rests stretched and upside down."""
    found = equilibria(loads(HUNG % (800, 0.5)))
    assert [e.text for e in found] == ["stable", "stable"]
    assert sorted(e.q[1] for e in found) == pytest.approx([-0.5 - 2 * 9.81 / 800, 0.5 - 2 * 9.81 / 800])


def test_a_guide_is_searched_along_its_length():
    """A spring beside the guide snaps through: two stable rests and an unstable one between them."""
    beside = HUNG.replace("O: [0, 0]", "O: [0, 0], T: [0.2, 1]").replace("[ground.O, b.p], s", "[ground.T, b.p], s")
    found = equilibria(loads(beside % (800, 0.5)))
    assert [e.text for e in found] == ["stable", "stable", "unstable"]


def free_on_springs(body, ends, free):
    springs = {
        f"s{i}": {"kind": "spring", "between": pair, "stiffness": 800, "free_length": free}
        for i, pair in enumerate(ends)
    }
    return Mechanism(
        ground={"points": {"O": (0, 0), "Q": (1, 0)}},
        bodies={"b": body},
        forces={**springs, "t": {"kind": "torsion", "between": ["ground", "b"], "stiffness": 1e-3}},
        start={"b.x": 0.5, "b.y": -0.3},
    )


def test_a_free_bar_and_a_free_mass_rest_on_two_springs():
    bar = free_on_springs({"bar": 0.4, "mass": 2}, [("ground.O", "b.start"), ("ground.Q", "b.end")], 0.2)
    mass = free_on_springs({"mass": 2, "inertia": 1}, [("ground.O", "b.centre"), ("ground.Q", "b.centre")], 0.4)
    for model, reach, free in ((bar, 0.3, 0.2), (mass, 0.5, 0.4)):
        rest = equilibria(model)[0]
        depth = -rest.q[1]
        length = math.hypot(reach, depth)
        assert rest.text == "stable" and rest.q[[0, 2]] == pytest.approx([0.5, 0.0], abs=1e-9)
        assert 2 * 800 * (length - free) * depth / length == pytest.approx(2 * 9.81)


STOPPED = """
name: stopped
ground: {points: {O: [0, 0]}}
bodies: {arm: {bar: 1.0, mass: 1}}
joints: {J: {kind: revolute, between: [ground.O, arm.start], %s}}
start: {arm: %s}
"""


def test_positions_beyond_a_stop_are_rejected_by_its_name():
    [up, down] = equilibria(loads(STOPPED % ("lower: 20 deg, upper: 120 deg", 1.0)))
    assert up.valid and up.text == "unstable" and up.q[2] == pytest.approx(math.pi / 2) and up.beyond == ()
    assert not down.valid and down.beyond == ("J.stop.lower",)
    assert down.text == "rejected: joint J is 1.92 rad beyond its lower stop of 0.349066 rad"


def test_the_turn_that_a_stop_allows_is_chosen():
    """Standing at -3/2 pi lies within the stops, although pi/2 is nearer to the start."""
    found = equilibria(loads(STOPPED % ("lower: -5, upper: -1", -1.2)))
    assert [e.valid for e in found] == [True, True]
    assert [e.q[2] for e in found] == pytest.approx([-math.pi / 2, -1.5 * math.pi])


def test_a_guide_beyond_its_stop():
    text = (HUNG % (800, 0)).replace("axis: [0, -1]", "axis: [0, -1], upper: 1 cm")
    [rest] = equilibria(loads(text))
    assert not rest.valid and "joint P is 0.0145 m beyond its upper stop of 0.01 m" in rest.text


def test_a_long_chain_comes_to_rest_where_it_hangs():
    """From far away Newton's method on the loads gives up; downhill it gets there: n bars hang n^2/2 m g l below."""
    n = 50
    system = System(library.pendulum(n, angles=[-1.5 + 0.03 * i for i in range(n)]))
    stable = [e for e in equilibria(system, starts=2) if e.stability == "stable"]
    assert len(stable) == 1
    assert system.evaluate(stable[0].q).potential == pytest.approx(-(n**2) / 2 * 9.81, rel=1e-12)
    angles = np.remainder(stable[0].q[2::3], 2 * np.pi)
    assert angles == pytest.approx(np.full(n, 1.5 * np.pi), abs=1e-9)


HEAVY = """
ground: {{points: {{O: [0, 0], A: [1, 0]}}}}
bodies:
  needle: {{bar: 20 mm, mass: 1 g}}
  block: {{mass: {mass}, inertia: 1, points: {{P: [0.2, 0]}}}}
joints:
  J: {{kind: revolute, between: [{where}, needle.start]}}
  G: {{{guide}, between: [ground.A, block.centre]}}
forces: {{s: {{kind: spring, between: [ground.A, block.centre], stiffness: {stiffness}}}}}
"""
WELD, SLIDE = "kind: weld", "kind: prismatic, axis: [0, 1]"


@pytest.mark.parametrize(("guide", "where"), [(WELD, "ground.O"), (SLIDE, "ground.O"), (SLIDE, "block.P")])
@pytest.mark.parametrize(("mass", "stiffness"), [(1, 1e3), (1e3, 1e6), (1e5, 1e8), (1, 1e9)])
def test_a_needle_hangs_or_stands_whatever_is_heavy_or_stiff_beside_it(mass, stiffness, guide, where):
    """Loads and stiffness were measured by the largest of the mechanism: the needle rested anywhere, neutral."""
    found = equilibria(loads(HEAVY.format(mass=mass, stiffness=stiffness, guide=guide, where=where)), 24)
    assert [(e.text, round(math.sin(e.q[2]), 9)) for e in found] == [("stable", -1.0), ("unstable", 1.0)]
    assert sorted(abs(e.eigenvalues[0]) for e in found) == pytest.approx(2 * [9.81e-5], rel=1e-2)
    borne = mass + 1e-3 * (where == "block.P")
    assert [e.q[4] for e in found] == pytest.approx(2 * [-9.81 * borne / stiffness * (guide == SLIDE)], abs=1e-9)


@pytest.mark.parametrize("joint", [{"kind": "revolute"}, {"kind": "prismatic", "axis": (1, 0)}])
def test_a_free_wheel_or_cart_hides_no_rest_of_what_is_beside_it(joint):
    """An arm on a torsion spring rests in three positions; with what moves freely beside it each is a family."""
    arm = Mechanism(
        ground={"points": {"O": (0, 0)}},
        bodies={"arm": bar(1.0, mass=1.0)},
        joints={"J": {"kind": "revolute", "between": ("ground.O", "arm.start")}},
        forces={"s": {"kind": "torsion", "between": ("ground", "arm"), "stiffness": 4, "free_angle": "90 deg"}},
        start={"arm": "90 deg"},
    )
    alone = [e.q[2] for e in equilibria(arm)]
    beside = arm.replace(
        bodies={**arm.bodies, "free": Body(mass=1.0, inertia=1.0)},
        joints={**arm.joints, "P": {**joint, "between": ("ground.O", "free.centre")}},
    )
    found = equilibria(beside)
    assert len(alone) == 3 and np.allclose(sorted(e.q[2] for e in found), sorted(alone))
    assert [e.stability for e in found] == ["neutral", "neutral", "unstable"]


@pytest.mark.parametrize(("lengths", "branches"), [((0.1, 0.35, 0.25, 0.4), 2), ((0.3, 0.3, 0.3, 0.45), 1)])
def test_a_linkage_without_gravity_rests_everywhere_on_each_of_its_branches(lengths, branches):
    """By Grashof's rule the first cannot come from one branch to the other, the second can."""
    found = equilibria(library.four_bar(lengths=lengths).replace(drives={}, gravity=(0, 0)))
    assert [e.stability for e in found] == branches * ["neutral"]


def test_that_the_control_loop_is_off_is_told():
    """A pendulum that a PD loop would hold level hangs without it."""
    loop = {
        "law": {"law": "pd", "k1": 200.0, "k2": 20.0},
        "coordinates": {"a": {"of": "bar1", "reference": 0.0}},
        "actuators": {"m": {"of": "bar1"}},
    }
    found = equilibria(library.pendulum().replace(control=loop), starts=8)
    assert [e.text for e in found] == [f"{kind}, with its control loop off" for kind in ("stable", "unstable")]


@pytest.mark.parametrize("start", [-1.0, 4.0])
@pytest.mark.parametrize("stiffness, free", [(1.5, 1.0), (1.5, 2 * math.pi), (3.0, 3.0)])
def test_rests_of_a_torsion_spring_lie_turns_apart(stiffness, free, start):
    """9.81 cos a + k (a - free) = 0 has three or five solutions; those of half a turn about the start were found."""
    arm = loads(f"""
ground: {{points: {{O: [0, 0]}}}}
bodies: {{a: {{bar: 1, mass: 2}}}}
joints: {{J: {{kind: revolute, between: [ground.O, a.start]}}}}
forces: {{k: {{kind: torsion, between: [ground, a], stiffness: {stiffness}, free_angle: {free}}}}}
start: {{a: {start}}}
""")
    angles = np.linspace(-40, 40, 400_001)
    moment = 9.81 * np.cos(angles) + stiffness * (angles - free)
    wanted = angles[:-1][moment[:-1] * moment[1:] < 0]
    assert sorted(float(e.q[2]) for e in equilibria(System(arm))) == pytest.approx(wanted, abs=3e-4)


def test_rests_of_geared_arms_are_all_found():
    """An arm that turns another three times as fast: three stable rests in a turn, of which one was found."""
    arms = loads("""
ground: {points: {O: [0, 0], Q: [2, 0]}}
bodies: {a: {bar: 1, mass: 2}, w: {bar: 0.8, mass: 3}}
joints:
  J: {kind: revolute, between: [ground.O, a.start]}
  K: {kind: revolute, between: [ground.Q, w.start]}
  G: {kind: gear, between: [a, w], ratio: 3, offset: 0.3}
start: {a: -1}
""")
    angles = np.linspace(0, 2 * np.pi, 100_001)
    moment = 9.81 * np.cos(angles) + 3 * 3 * 9.81 * 0.4 * np.cos(3 * angles + 0.3)
    wanted = angles[:-1][moment[:-1] * moment[1:] < 0]
    found = sorted(float(e.q[2]) % (2 * np.pi) for e in equilibria(System(arms)))
    assert found == pytest.approx(wanted, abs=1e-4)


def test_a_spring_at_a_coupler_is_not_wound_up_by_turns_that_it_cannot_make():
    """The coupler of a crank-rocker swings between 0.38 and 0.96 rad, or as far below 0 in the other assembly."""
    bars = loads("""
ground: {points: {O: [0, 0], C: [0.4, 0]}}
bodies: {crank: {bar: 0.1, mass: 3}, coupler: {bar: 0.35, mass: 1}, rocker: {bar: 0.25, mass: 1}}
joints:
  A: {kind: revolute, between: [ground.O, crank.start]}
  B: {kind: revolute, between: [crank.end, coupler.start]}
  D: {kind: revolute, between: [coupler.end, rocker.end]}
  C: {kind: revolute, between: [ground.C, rocker.start]}
forces: {t: {kind: torsion, between: [crank, coupler], stiffness: 0.1, free_angle: 4}}
start: {crank: 0, coupler: 45 deg, rocker: 110 deg}
""")
    found = equilibria(System(bars))
    assert all(0.38 < abs(e.q[5]) < 0.963 for e in found)
    turned = sorted(float(e.q[2]) for e in found if e.stability == "stable" and e.q[5] > 0)
    assert {-13.925, -7.885, -1.805, 4.287, 10.376} <= {round(x, 3) for x in turned}


@pytest.mark.parametrize("start", [0.9, 0.5])
def test_every_rest_that_one_degree_of_freedom_can_reach_is_found(start):
    """A four-bar whose links all swing to and fro, with a spring: ten rests by its energy over both positions of the
    coupler, of which a search from 64 places found eight, depending on the start."""
    (a, b, c, d), masses = (0.2025, 0.1616, 0.4168, 0.4849), (2.76, 1.43, 0.386)
    stiffness, free, (sx, sy), (px, py) = 1000.0, 0.21, (-0.12, 0.231), (0.172, 0.248)
    bars = Mechanism(
        ground={"points": {"O": (0, 0), "C": (d, 0), "S": (sx, sy)}},
        bodies={
            "crank": bar(a, mass=masses[0]),
            "coupler": bar(b, mass=masses[1], points={"P": (px, py)}),
            "rocker": bar(c, mass=masses[2]),
        },
        joints={
            "O": {"kind": "revolute", "between": ["ground.O", "crank.start"]},
            "A": {"kind": "revolute", "between": ["crank.end", "coupler.start"]},
            "B": {"kind": "revolute", "between": ["coupler.end", "rocker.end"]},
            "C": {"kind": "revolute", "between": ["ground.C", "rocker.start"]},
        },
        forces={
            "s": {
                "kind": "spring",
                "between": ["ground.S", "coupler.P"],
                "stiffness": stiffness,
                "free_length": free,
            }
        },
        start={"crank": start},
    )
    angles, wanted = np.linspace(-np.pi, np.pi, 200_001), []
    crank = a * np.exp(1j * angles)
    diagonal = d - crank
    cosine = (b * b + abs(diagonal) ** 2 - c * c) / (2 * b * abs(diagonal))
    for side in (1, -1):
        along = np.exp(1j * (np.angle(diagonal) + side * np.arccos(np.clip(cosine, -1, 1))))
        heights = (crank / 2).imag, (crank + b / 2 * along).imag, (crank + b * along).imag / 2
        length = abs(crank + (px + 1j * py) * along - (sx + 1j * sy))
        energy = 9.81 * sum(m * y for m, y in zip(masses, heights, strict=True))
        rise = np.sign(np.diff(energy + 0.5 * stiffness * (length - free) ** 2))
        at = np.flatnonzero((rise[:-1] * rise[1:] < 0) & (abs(cosine) < 1)[:-2] & (abs(cosine) < 1)[2:])
        wanted += [(angles[i + 1], "stable" if rise[i] < 0 else "unstable") for i in at]
    found = sorted((math.remainder(e.q[2], math.tau), e.stability) for e in equilibria(System(bars), starts=1))
    assert [x for x, _ in found] == pytest.approx([x for x, _ in sorted(wanted)], abs=1e-4)
    assert [text for _, text in found] == [text for _, text in sorted(wanted)]
    assert len(found) == 10
