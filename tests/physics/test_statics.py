"""Assembly and degrees of freedom of every library mechanism, and of some that cannot be."""

import math

import numpy as np
import pytest

from jointplay.model import library, loads
from jointplay.statics import assemble, freedom
from jointplay.system import System

DEGREES = {
    "four_bar": 1, "slider_crank": 1, "five_bar": 2, "scotch_yoke": 1, "pendulum": 1, "crank_rocker_2016": 1,
    "crank_crank_2016": 1, "coelho_five_bar": 2,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(library.MECHANISMS))
def test_every_mechanism_of_the_library_assembles_at_its_start(name):
    system = System(library.MECHANISMS[name]())
    q = assemble(system)
    assert np.abs(system.evaluate(q).residual).max(initial=0.0) < 1e-11
    start = system.mechanism.start
    for body in system.mechanism.bodies:  # the branch nearest to the start: angles stay close to those given
        if body in start:
            assert q[system.coordinates.index(f"{body}.angle")] == pytest.approx(start[body], abs=0.02)
    if name in DEGREES and not system.mechanism.drives:
        assert freedom(system, q).degrees == DEGREES[name]


def test_slider_crank_closes_as_the_formula_says():
    system = System(library.slider_crank())
    angle = system.mechanism.start["crank"]
    driven = System(system.mechanism.replace(drives={"hold": {"kind": "angle", "of": "crank", "motion": angle}}))
    q = dict(zip(driven.coordinates, assemble(driven), strict=True))
    r, l = 0.1, 0.3
    assert q["slider.x"] == pytest.approx(r * math.cos(angle) + math.sqrt(l**2 - (r * math.sin(angle)) ** 2), abs=1e-12)
    assert q["slider.y"] == pytest.approx(0.0, abs=1e-12)


PARALLEL = """
name: parallel cranks
ground: {points: {A: [0, 0], B: [1, 0], C: [2, 0]}}
bodies:
  a: {bar: 0.5, mass: 1}
  b: {bar: 0.5, mass: 1}
  c: {bar: 0.5, mass: 1}
  beam: {bar: 2.0, mass: 1, points: {middle: [1, 0]}}
joints:
  A: {kind: revolute, between: [ground.A, a.start]}
  B: {kind: revolute, between: [ground.B, b.start]}
  C: {kind: revolute, between: [ground.C, c.start]}
  D: {kind: revolute, between: [a.end, beam.start]}
  E: {kind: revolute, between: [b.end, beam.middle]}
  F: {kind: revolute, between: [c.end, beam.end]}
start: {a: 60 deg, b: 60 deg, c: 60 deg}
"""


def test_redundant_rows_are_counted_and_named():
    system = System(loads(PARALLEL))
    found = freedom(system, assemble(system))
    assert (found.counted, found.degrees, found.rank) == (0, 1, 11)
    assert len(found.redundant) == 1 and found.redundant[0].startswith("F.")


def test_what_cannot_close_says_what_stays_open():
    system = System(loads(PARALLEL.replace("C: [2, 0]", "C: [5, 0]")))
    with pytest.raises(ValueError, match=r"'parallel cranks' does not assemble: [A-F]\.x by .* stay open"):
        assemble(system)


def test_a_singular_position_shows_in_the_conditioning():
    system = System(library.slider_crank())
    good = freedom(system, assemble(system))
    flat = System(loads(PARALLEL.replace("60 deg", "0 deg")))
    bad = freedom(flat, assemble(flat))
    assert good.conditioning > 1e-2 and bad.degrees >= 2
