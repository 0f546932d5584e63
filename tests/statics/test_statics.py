"""Assembly and degrees of freedom of every library mechanism, and of some that cannot be."""

import doctest
import importlib
import json
import math
import re

import numpy as np
import pytest

from jointplay.model import Following, Mechanism, library, loads
from jointplay.model.parts import ModelError
from jointplay.simulation import simulate
from jointplay.statics import assemble, check, freedom, linearise, matrix_text, reduced, start
from jointplay.statics.complement import Singular
from jointplay.system import System
from tests.helpers import PARALLEL

DEGREES = {
    "four_bar": 1, "slider_crank": 1, "five_bar": 2, "scotch_yoke": 1, "pendulum": 1, "crank_rocker_2016": 1,
    "crank_crank_2016": 1, "coelho_five_bar": 2,
}  # fmt: skip


@pytest.mark.parametrize("module", ["assembly", "check", "cycle", "equilibrium", "inverse", "linearisation"])
def test_the_examples_in_the_texts_are_true(module):
    found = doctest.testmod(importlib.import_module(f"jointplay.statics.{module}"))
    assert found.attempted > 0 and found.failed == 0


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


def test_redundant_rows_are_counted_and_named():
    system = System(loads(PARALLEL))
    found = freedom(system, assemble(system))
    assert (found.counted, found.degrees, found.rank) == (0, 1, 11)
    assert len(found.redundant) == 1 and found.redundant[0].startswith("F.")


def test_what_cannot_close_says_what_stays_open():
    system = System(loads(PARALLEL.replace("C: [2, 0]", "C: [5, 0]")))
    with pytest.raises(ValueError, match=r"'parallel cranks' does not assemble: [A-F]\.x by .* stay open"):
        assemble(system)


@pytest.mark.parametrize("x, hint", [(2000.0, True), (5.0, False)])
def test_what_stays_open_by_hundreds_of_metres_was_hardly_meant_in_them(x, hint):
    with pytest.raises(ValueError, match="does not assemble") as caught:
        assemble(System(loads(PARALLEL.replace("C: [2, 0]", f"C: [{x}, 0]"))))
    assert str(caught.value).endswith(f"({METRES})") is hint


def test_a_singular_position_shows_in_the_conditioning():
    system = System(library.slider_crank())
    good = freedom(system, assemble(system))
    flat = System(loads(PARALLEL.replace("60 deg", "0 deg")))
    bad = freedom(flat, assemble(flat))
    assert good.conditioning > 1e-2 and bad.degrees >= 2


def values(system, q):
    return dict(zip(system.coordinates, q, strict=True))


def test_start_values_are_held_in_the_order_in_which_they_are_written():
    """Angles of crank and coupler contradict each other a little: the first is held, the other chooses the branch."""
    base = library.four_bar()
    crank, coupler = base.start["crank"], base.start["coupler"]
    for given in ({"crank": crank + 0.05, "coupler": coupler}, {"coupler": coupler, "crank": crank + 0.05}):
        system = System(base.replace(start={**given, "rocker": base.start["rocker"]}))
        found = values(system, assemble(system))
        first, second = given
        assert found[f"{first}.angle"] == given[first]
        assert abs(found[f"{second}.angle"] - given[second]) > 1e-3


def test_as_many_start_values_are_held_as_there_are_degrees_of_freedom():
    base = library.five_bar()
    start = {name: x + 0.01 * i for i, (name, x) in enumerate(base.start.items(), 1)}
    system = System(base.replace(start=start))
    found = values(system, assemble(system))
    exact = [name for name, x in start.items() if found[f"{name}.angle"] == pytest.approx(x, abs=1e-13)]
    assert exact == ["left_inner", "left_outer"]


def test_a_position_can_be_held_in_place_of_an_angle():
    base = library.slider_crank()
    system = System(base.replace(start={"slider.x": 0.35, "crank": 1.0, "rod": -0.3}))
    found = values(system, assemble(system))
    assert found["slider.x"] == 0.35
    angle = math.acos((0.1**2 + 0.35**2 - 0.3**2) / (2 * 0.1 * 0.35))
    assert found["crank.angle"] == pytest.approx(angle, abs=1e-12)  # the branch of the crank's start, not -angle


def test_drives_come_before_start_values():
    system = System(library.slider_crank(speed=1.0, angle=0.4).with_({"start.crank": 0.9}))
    assert values(system, assemble(system))["crank.angle"] == pytest.approx(0.4, abs=1e-14)
    assert values(system, assemble(system, t=0.5))["crank.angle"] == pytest.approx(0.9, abs=1e-14)


def test_without_start_values_a_flat_guess_still_closes():
    system = System(library.four_bar((0.1, 0.35, 0.25, 0.3)).replace(start={}))
    q = assemble(system)
    assert np.abs(system.evaluate(q).residual).max() < 1e-13
    assert assemble(system).tolist() == q.tolist()


def test_a_loose_joint_stays_the_clearance_apart():
    system = System(library.four_bar().loosen("J3", 2e-3, contact=Following()))
    q = assemble(system)
    assert system.rows.count("J3.distance") == 1 and freedom(system, q).degrees == 2
    pins = [q[3:5] + 0.175 * np.array([math.cos(q[5]), math.sin(q[5])])]
    pins += [q[6:8] + 0.125 * np.array([math.cos(q[8]), math.sin(q[8])])]
    assert np.linalg.norm(pins[1] - pins[0]) == pytest.approx(2e-3, abs=1e-13)
    assert values(system, q)["crank.angle"] == system.mechanism.start["crank"]


def test_start_values_that_cannot_be_reached_are_named():
    system = System(library.slider_crank().replace(start={"slider.x": 0.45, "crank": 0.1}))
    with pytest.raises(ValueError, match=r"does not assemble with start values slider\.x = 0\.45 m: .* stay open"):
        assemble(system)


def test_start_rates_are_exact_and_the_rest_has_least_energy():
    base = library.five_bar()
    system = System(base.with_({"start.left_inner.rate": 3.0}))
    q, v = start(system)
    here = system.evaluate(q, v)
    assert v[2] == pytest.approx(3.0, abs=1e-13) and pytest.approx(0.0, abs=1e-13) == here.B @ v
    # least energy: no motion that keeps the rate and the constraints has momentum along it
    rows = np.vstack([here.B, np.eye(12)[2]])
    free = np.linalg.svd(rows)[2][len(rows) :]
    assert free.shape == (1, 12) and free @ here.M @ v == pytest.approx(0.0, abs=1e-12)
    assert np.abs(free @ v) < 3.0 and v @ here.M @ v > 0


def test_velocities_of_a_driven_slider_crank():
    system = System(library.slider_crank(speed=12.0, angle=0.7))
    _, v = start(system)
    phi = math.asin(-0.1 * math.sin(0.7) / 0.3)
    rod = -0.1 * 12 * math.cos(0.7) / (0.3 * math.cos(phi))
    assert values(system, v)["slider.x"] == pytest.approx(-1.2 * math.sin(0.7) - 0.3 * rod * math.sin(phi), abs=1e-12)


def test_a_speed_of_the_slider_turns_the_crank():
    system = System(library.slider_crank(angle=0.7).with_({"start.slider.x.rate": -0.5}))
    _, v = start(system)
    assert values(system, v)["slider.x"] == pytest.approx(-0.5, abs=1e-13)
    assert values(system, v)["crank.angle"] > 1.0


def test_rates_that_agree_may_be_given_twice_and_others_are_refused():
    base = library.pendulum(1).replace(drives={"motor": {"kind": "rate", "of": "bar1", "motion": 2.0}})
    _, v = start(System(base.with_({"start.bar1.rate": 2.0})))
    assert v[2] == pytest.approx(2.0)
    with pytest.raises(
        ValueError,
        match=r"start: bar1\.rate = 3 rad/s contradicts motor, the constraints, which give 2 rad/s; it is off by 1",
    ):
        start(System(base.with_({"start.bar1.rate": 3.0})))
    loop = library.four_bar().with_({"start.crank.rate": 1.0, "start.rocker.rate": 5.0})
    with pytest.raises(
        ValueError, match=r"rocker\.rate = 5 rad/s contradicts crank\.rate, the constraints, which give .* leave it out"
    ):
        start(System(loop))


def test_a_rate_drive_starts_where_the_start_says():
    rate = {"motor": {"kind": "rate", "of": "rod", "motion": 2.0}}
    system = System(library.slider_crank().replace(drives=rate, start={"crank": 0.5, "rod": -0.1}))
    assert values(system, assemble(system))["rod.angle"] == pytest.approx(-0.1, abs=1e-14)


@pytest.mark.parametrize("name", sorted(library.MECHANISMS))
def test_every_mechanism_of_the_library_can_be_checked(name):
    found = check(library.MECHANISMS[name]())
    assert found.freedom.rank == found.freedom.rows  # none is redundant, none near singular
    assert not any("singular" in warning for warning in found.warnings)
    text = found.text()
    assert f"degrees of freedom  {found.degrees} (" in text
    assert all(body in text for body in found.mechanism.bodies)
    doubtful = {"wu_2017": "4 times that of a uniform bar", "coelho_five_bar": "more than its mass at",
                "grigore_figure_5": "its journal starts with"}  # fmt: skip
    assert [*found.warnings] == [] if name not in doubtful else doubtful[name] in text


def test_check_names_redundant_rows_and_what_was_not_held():
    found = check(loads(PARALLEL).with_({"start.b": 0.2}))
    assert found.freedom.redundant and any("redundant" in warning for warning in found.warnings)
    assert any(note.startswith("start b = 11.459 deg is taken as a guess") for note in found.notes)
    assert "note: start b" in found.text() and not any("guess" in warning for warning in found.warnings)
    assert "counted without the rank: 0" in found.text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"start.crank": 1e-5, "start.rod": 3.1415}, None),
        ({"crank.inertia": 0.1}, r"crank.inertia = 0.1 kg m\^2 is 120 times that of a uniform bar"),
        ({"crank.inertia": 1e-5}, r"crank.inertia = 1e-05 kg m\^2 is 0.012 times"),
        ({"crank.inertia": 1.0 / 300}, r"is 4 times .*\(m L\^2/3 is about its end\)"),
        ({"slider.inertia": 0.0}, r"slider.inertia is 0: a point mass"),
        ({"J4.axis.y": 0.01}, r"J4.axis = \[1, 0.01\] is 0.57 degrees off a coordinate axis"),
    ],
)
def test_check_warns_of_doubtful_data(change, said):
    warnings = "\n".join(check(library.slider_crank().with_(change)).warnings)
    assert re.search(said, warnings) if said else "inertia" not in warnings


def test_check_warns_of_rates_that_a_drive_prescribes_and_of_guides_that_turn():
    driven = library.slider_crank(speed=2.0).with_({"start.crank.rate": 2.0})
    assert "start crank.rate is given, but drive 'motor' prescribes it; leave it out" in check(driven).warnings
    joints = {**library.slider_crank().joints, "J4": {"kind": "prismatic", "between": ["slider.pin", "ground.slide"]}}
    assert any(
        "J4: the axis turns with its first body 'slider'" in w for w in check(driven.replace(joints=joints)).warnings
    )


def test_check_warns_near_a_singular_position():
    """A slider-crank driven at its slider, stretched: the crank's dead centre."""
    base = library.slider_crank(angle=1e-4)
    driven = base.replace(drives={"press": {"kind": "position", "of": "J4", "motion": base.start["slider.x"]}})
    [warning] = check(driven).warnings
    assert warning.startswith("the start is near a singular position (conditioning") and "press" in warning


def test_the_matrix_is_printed_with_its_labels():
    system = System(library.grigore_figure_5())
    q = assemble(system)
    top, parts, *lines = matrix_text(system, q).splitlines()
    assert top.split() == ["coupler", "|", "rocker"] and parts.split() == ["x", "y", "angle", "|", "x", "y", "angle"]
    assert [line.split()[0] for line in lines] == system.rows
    B = system.evaluate(q).B
    shown = [[0.0 if x == "." else float(x) for x in line.replace("|", "").split()[1:]] for line in lines]
    assert np.array(shown) == pytest.approx(B, rel=1e-3)
    assert max(map(len, matrix_text(System(library.grigore_figure_6()), np.zeros(15)).splitlines())) < 140


SLIDER = """
ground: {points: {O: [0, 0]}}
bodies:
  crank: {bar: 100 mm, mass: 0.5 kg}
  rod: {bar: 300 mm, mass: 0.8 kg}
  slider: {mass: 1 kg, inertia: 1e-3 kg*m^2, points: {pin: [0, 0]}}
joints:
  J1: {kind: revolute, between: [ground.O, crank.start]}
  J2: {kind: revolute, between: [crank.end, rod.start]}
  J3: {kind: revolute, between: [rod.end, slider.pin]}
  J4: {kind: prismatic, between: [ground.O, slider.pin], axis: [1, 0]}
drives: {motor: {kind: angle, of: crank, motion: {kind: constant_speed, speed: 60 rpm, start: 30 deg}}}
"""
PIN = "  J3: {kind: revolute, between: [rod.end, slider.pin]}\n"
METRES = "a number without a unit is in metres"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[rod.end, slider.pin]", "[rod.end, slider.pin], clearance: 0.5",
         f"joint 'J3': clearance 500 mm is more than a third of the length of 'crank' (100 mm); {METRES}"),
        ("300 mm", "300",
         f"body 'rod' is 3e+05 mm long, more than 200 times longer than any other body (100 mm at most); {METRES}"),
        (" mm", "", f"body 'rod' is 300 m long; {METRES}"),
        (PIN, "", "body 'slider' is held by 'J4' alone, and nothing moves it along; is a pin missing?"),
        ("300 mm", "0.3", None),
        (PIN, "", None),
    ],
)  # fmt: skip
def test_forgotten_units_and_pins_are_told_by_check_and_in_runs(old, new, said):
    """Lengths by the mechanism's own scale; a slider that something pushes may stand alone."""
    model = loads(SLIDER.replace(old, new))
    if new == "" and said is None:
        model = model.replace(forces={"push": {"kind": "force", "at": "slider.pin", "x": 1.0}})
    run = simulate(model, 1e-3, error=False)
    told = [] if said is None else [said]
    assert [text for text in check(model).warnings if "metres" in text or "pin missing" in text] == told
    assert [text for text in json.loads(run.attrs["notes"]) if "metres" in text or "pin missing" in text] == told


def test_an_angle_of_many_turns_at_the_start_was_hardly_meant_in_radians():
    said = "start of drive 'motor' is 30 rad, 4.77 turns; an angle without a unit is in rad"
    for angle, told in ((30.0, [said]), (1.0, [])):
        motion = {"kind": "constant_speed", "speed": 10.0, "start": angle}
        turned = loads(SLIDER).replace(drives={"motor": {"kind": "angle", "of": "crank", "motion": motion}})
        assert [text for text in check(turned).warnings if "in rad" in text] == told


STRETCHED = """
ground: {points: {O: [0, 0], Q: [2, 0]}}
bodies: {a: {bar: 1, mass: 1}, b: {bar: 1, mass: 1}, p: {bar: 1, mass: 1}}
joints:
  J: {kind: revolute, between: [ground.O, a.start]}
  K: {kind: revolute, between: [a.end, b.start]}
  L: {kind: revolute, between: [b.end, ground.Q]}
  P: {kind: revolute, between: [ground.Q, p.start]}
"""


def test_what_gives_way_in_one_instant_only_is_a_singular_position_and_no_redundancy():
    """Two bars stretched between their pivots can begin to move, but nowhere to go; beside them a pendulum swings."""
    system = System(stretched := loads(STRETCHED))
    found = freedom(system, assemble(system))
    assert (found.redundant, found.passing) == ((), ("L.x",))
    assert any("singular position: L.x" in text for text in check(stretched).warnings)
    with pytest.raises(ModelError, match=r"no linear system: L\.x depend"):
        linearise(stretched)
    with pytest.raises(Singular, match="ask for other accelerations"):
        reduced(stretched, independent=["a", "p"])


@pytest.mark.parametrize("far", [0.3, -4e3])
def test_a_tiny_body_far_from_the_origin_is_reached(far):
    """Steps of half the size of bodies (2 mm) did not come farther than 60 mm."""
    drives = {key: {"kind": key, "of": "table", "motion": x} for key, x in {"x": far, "y": 0.0, "angle": 0.1}.items()}
    table = Mechanism(bodies={"table": {"mass": 1.0, "inertia": 1.0, "points": {"p": [0.0, -2e-3]}}}, drives=drives)
    assert assemble(System(table)).tolist() == pytest.approx([far, 0.0, 0.1], abs=1e-12)
