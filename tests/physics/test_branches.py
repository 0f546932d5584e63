"""Start values that cannot be held choose the branch, and check lists the others."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from jointplay import statics
from jointplay.model import Compliant, Mechanism, Rigid, bar, library, loads
from jointplay.statics.assembly import starts
from jointplay.statics.branches import bent
from jointplay.system import System


def four_bar(crank, lengths, ground, start):
    """A crank at an angle, a coupler `a` and a rocker `b` to a point of the ground."""
    names = ("crank", "a", "b")
    return Mechanism(
        name="four-bar",
        ground={"points": {"O": (0, 0), "P": ground}},
        bodies={name: bar(length, mass=1.0) for name, length in zip(names, lengths, strict=True)},
        joints={
            "J1": {"kind": "revolute", "between": ["ground.O", "crank.start"]},
            "J2": {"kind": "revolute", "between": ["crank.end", "a.start"]},
            "J3": {"kind": "revolute", "between": ["a.end", "b.end"]},
            "J4": {"kind": "revolute", "between": ["ground.P", "b.start"]},
        },
        drives={"motor": {"kind": "angle", "of": "crank", "motion": crank}},
        start=start,
    )


def couplers(crank, lengths, ground):
    """Both angles of the coupler, by two circles; none where they hardly meet."""
    first, a, b = lengths
    way = complex(*ground) - first * np.exp(1j * crank)
    share = (a * a + abs(way) ** 2 - b * b) / (2 * a * abs(way)) if abs(way) > 1e-3 else 2.0
    if abs(share) > 0.99:
        return None
    middle = math.atan2(way.imag, way.real)
    return [middle + side * math.acos(share) for side in (1, -1)]


def test_the_hint_of_36_degrees_means_36_degrees():
    """Both ends of the coupler are on one level: its angles are mirror images, -36.04 and -143.96 degrees."""
    down = math.radians(36.04)
    for side in (1, -1):
        lengths, ground = (1.0, 1.0, 1.0), (0.0, 1.0 - 2 * math.sin(down))
        angles = [math.degrees(math.remainder(x, math.tau)) for x in couplers(math.pi / 2, lengths, ground)]
        assert sorted(angles) == pytest.approx([-143.96, -36.04], abs=1e-9)
        hint = -36.0 if side > 0 else -144.0
        system = System(four_bar(math.pi / 2, lengths, ground, {"a": f"{hint} deg"}))
        assert math.degrees(statics.assemble(system)[5]) == pytest.approx(-90 + side * 53.96, abs=1e-9)


@settings(max_examples=6, deadline=None)
@given(
    st.floats(-3, 3), st.tuples(*[st.floats(0.5, 2)] * 3), st.tuples(st.floats(0.5, 2), st.floats(-1, 1)),
    st.floats(-0.1, 0.1), st.sampled_from([0, 1]),
)  # fmt: skip
def test_the_nearest_assembly_wins(crank, lengths, ground, off, side):
    both = couplers(crank, lengths, ground)
    assume(both and abs(math.remainder(both[0] - both[1], math.tau)) > 0.5)
    system = System(four_bar(crank, lengths, ground, {"a": both[side] + off}))
    assert math.remainder(statics.assemble(system)[5] - both[side], math.tau) == pytest.approx(0, abs=1e-7)


def test_check_lists_the_other_assembly():
    lengths, ground = (1.0, 2.0, 2.0), (1.5, 0.0)
    both = couplers(1.0, lengths, ground)
    found = statics.check(four_bar(1.0, lengths, ground, {"a": both[0]}))
    [other] = found.branches
    angle = math.degrees(math.remainder(both[1], math.tau))
    assert f"a {angle:.6g} deg" in other and "other assemblies" in found.text()
    assert len(statics.assemblies(System(found.mechanism))) == 2


def test_check_lists_a_few_of_many_assemblies():
    found = statics.check(four_bar(1.0, (1.0, 2.0, 2.0), (1.5, 0.0), {}))
    many = replace(found, branches=tuple(f"a {i} deg" for i in range(9)))
    assert "a 5 deg\n" in many.text() and "a 6 deg" not in many.text() and "and 3 more\n" in many.text()


def test_what_moves_freely_has_no_list_of_assemblies():
    free = four_bar(1.0, (1.0, 2.0, 2.0), (1.5, 0.0), {}).replace(drives={})
    assert statics.assemblies(System(free)) == [] and statics.check(free).branches == ()


@pytest.mark.parametrize("contact", [Rigid(), Compliant(normal={"law": "hunt_crossley", "stiffness": 1e8})])
@pytest.mark.parametrize("off", [0.3, 0.01])
def test_an_angle_that_play_does_not_allow_chooses_the_branch_as_without_play(contact, off):
    lengths, ground = (1.0, 2.0, 2.0), (1.5, 0.0)
    for coupler in couplers(1.0, lengths, ground):
        tight = four_bar(1.0, lengths, ground, {"a": coupler + off, "journals": "centred"})
        ideal, loose = System(tight), System(tight.loosen("J3", 1e-3, contact=contact))
        assert np.array_equal(statics.start(loose)[0], statics.start(ideal)[0])
        assert math.remainder(statics.start(loose)[0][5] - coupler, math.tau) == pytest.approx(0, abs=1e-9)
        told = [*loose.notes, *statics.doubts(loose, *statics.start(loose))]
        named = f"start a = {math.degrees(coupler + off):.5g} deg is taken as a guess"
        assert [note.startswith(named) for note in told if note.startswith("start")] == [True] * (off > 0.1), told


def test_a_place_that_play_does_not_allow_is_meant_exactly():
    tight = four_bar(1.0, (1.0, 2.0, 2.0), (1.5, 0.0), {"b.x": 1.0})
    loose = System(tight.loosen("J3", 1e-3, contact=Rigid()))
    assert statics.start(loose)[0][6] == 1.0 and loose.evaluate(statics.start(loose)[0]).gaps.min() < -0.01


def test_where_rows_are_linear_one_after_the_other_nothing_is_searched():
    """Angles that are given leave the places of a chain to linear rows; a rod bends what it leaves open."""
    chain = System(library.pendulum(2, angles=[0.4, 1.0]))
    [q] = statics.assemblies(chain)
    assert bent(chain, q, starts(chain, q), 0.0).shape == (6, 0)
    held = System(four_bar(1.0, (1.0, 2.0, 2.0), (1.5, 0.0), {}))
    first, _ = statics.assemblies(held)
    assert bent(held, first, starts(held, first), 0.0).shape[1] > 0


def test_a_block_on_a_rod_is_above_or_below():
    """Given its angle and x, y = +-sqrt(L^2 - x^2)."""
    block = loads("""
name: block on a rod
ground: {points: {O: [0, 0]}}
bodies: {block: {mass: 1, inertia: 0.1}}
joints: {R: {kind: rod, between: [ground.O, block.centre], length: 0.5}}
start: {block: 0.2, block.x: 0.3, block.y: 0.1}
""")
    found = statics.assemblies(System(block))
    assert sorted(q[1] for q in found) == pytest.approx([-0.4, 0.4], abs=1e-12)
