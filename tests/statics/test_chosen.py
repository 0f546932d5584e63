"""Start values beside dead centres and out of reach, rods without a direction, and starts that nobody gave."""

import json
import math

import pytest

from jointplay.model import library, loads
from jointplay.simulation import simulate
from jointplay.statics import assemble, check
from jointplay.system import System

HUNG = """
ground: {points: {O: [0, 0]}}
bodies: {bob: {mass: 1, inertia: 1}}
joints: {R: {kind: rod, length: 0.5, between: [ground.O, bob.centre]}}
"""
ANGLED = """
ground: {points: {O: [0, 0]}}
bodies: {a: {bar: 1, mass: 1}, b: {bar: 0.5, mass: 1}}
joints: {J: {kind: revolute, between: [ground.O, a.start]}, W: {kind: weld, angle: 90 deg, between: [a.end, b.start]}}
"""


def slider(**start):
    return library.slider_crank(crank=0.1, rod=0.3).replace(drives={}, start={"slider.x": start["x"]})


def notes(mechanism):
    return json.loads(simulate(mechanism, until=1e-3, error=False).attrs["notes"])


@pytest.mark.parametrize("x", [0.3999, 0.399999])
def test_a_place_beside_a_dead_centre_is_held(x):
    """The first guess stands in the dead centre, 0.4 m, which counted as near enough: the crank was 2.2 degrees off."""
    system = System(slider(x=x))
    q = dict(zip(system.coordinates, assemble(system), strict=True))
    assert q["slider.x"] == pytest.approx(x, abs=1e-12)
    assert math.cos(q["crank.angle"]) == pytest.approx((0.1**2 + x**2 - 0.3**2) / (2 * 0.1 * x), abs=1e-12)


def test_the_only_start_value_is_told_in_a_run_if_it_is_out_of_reach():
    """Less than 5 degrees, or as much of the size, was told by `check` only."""
    assert notes(slider(x=0.4)) == []
    (note,) = notes(slider(x=0.41))
    assert note.startswith("start slider.x = 0.41 m is taken as a guess") and "at 0.4 m" in note
    assert notes(library.slider_crank().replace(drives={}, start={"crank": 1.0, "rod": -0.3})) == []  # roughly


@pytest.mark.parametrize(
    ("start", "place"),
    [
        ("{}", (0, -0.5)),
        ("{bob.x: 0.1}", (0.1, -math.sqrt(0.24))),
        ("{bob.y: 0.3}", (0.4, 0.3)),
        ("{bob.x: 0}", (0, -0.5)),
    ],
)
def test_a_rod_closes_where_its_ends_would_meet(start, place):
    """It did not assemble; and a place that it leaves free, bob.x = 0.1 m, was put at 0.5 m."""
    x, y, angle = assemble(System(loads(f"{HUNG}start: {start}")))
    assert (abs(x), y) == pytest.approx(place, abs=1e-9) and angle == 0


def test_a_start_that_nobody_gave_is_told():
    """Two bars that are welded began at -30.0062 degrees, without a word."""
    angled = loads(ANGLED)
    (note,) = notes(angled)
    assert note.startswith("start: nothing says where it begins; its parts happened to meet at a = -30.006 deg, b = ")
    assert note in check(angled).warnings
    assert note in notes(angled.loosen("J", "1 mm"))
    for told in (
        angled.replace(start={"a": 0.2}),
        angled.replace(start={"b": 0.2}),
        library.pendulum().replace(start={}),
    ):
        assert notes(told) == []
