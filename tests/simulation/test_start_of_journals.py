"""Where joints with play begin: on the wall that carries them, or in the middle."""

import math

import numpy as np
import pytest

import jointplay as jp
from jointplay import statics
from jointplay.model.parts import ModelError
from jointplay.system import System

LIB = jp.library
LOOSE = {
    "slider-crank": LIB.slider_crank(speed=30.0).loosen("J3", 5e-4),
    "bearing on the second body": LIB.slider_crank(speed=30.0).loosen("J3", 5e-4, bearing="second"),
    "two joints, free crank": LIB.slider_crank(angle=0.5).loosen("J2", 1e-3).loosen("J3", 5e-4),
    "guide": LIB.slider_crank(speed=30.0).loosen("J4", 5e-4, length=0.05),
    "slot": LIB.scotch_yoke(speed=15.0, angle=0.4).loosen("J2", 5e-4),
}
SPRUNG = {"law": "hunt_crossley", "stiffness": 1e9, "restitution": 0.5}
PRESSED = {
    "pin": ("J3", LIB.slider_crank(speed=30.0).loosen("J3", 1e-5, contact=jp.Compliant(normal=SPRUNG))),
    "softer than its play": (
        "J3",
        LIB.slider_crank(speed=30.0).loosen("J3", 1e-8, contact=jp.Compliant(normal=SPRUNG)),
    ),
    "guide": ("J4", LIB.slider_crank(speed=30.0).loosen("J4", 5e-5, length=0.05, contact=jp.Compliant(normal=SPRUNG))),
    "slot": ("J2", LIB.scotch_yoke(speed=15.0, angle=0.4).loosen("J2", 5e-5, contact=jp.Compliant(normal=SPRUNG))),
}


def begun(mechanism):
    system = System(mechanism)
    q, v = statics.start(system)
    return system, q, v, system.evaluate(q, v)


@pytest.mark.parametrize("name", LOOSE)
def test_loaded_journals_touch_their_wall_and_keep_start_values_and_rates(name):
    mechanism = LOOSE[name].with_({"start.crank.rate": 30.0}) if "free" in name else LOOSE[name]
    system, q, v, here = begun(mechanism)
    _, ideal, rates, there = begun(mechanism.replace(journals="centred"))
    assert np.abs(here.gaps).min() < 1e-12 and there.gaps.min() > 1e-4
    assert here.gaps.min() > -1e-12 and np.abs(here.openings).max() < 1e-9
    assert np.abs(here.residual).max(initial=0.0) < 1e-12
    assert here.B @ v == pytest.approx(here.speed, abs=1e-9)
    driven = system.coordinates.index("bar1.angle" if "bar1" in mechanism.bodies else "crank.angle")
    assert q[driven] == pytest.approx(ideal[driven], abs=1e-12) and v[driven] == pytest.approx(rates[driven], abs=1e-9)
    assert np.abs(q - ideal).max() < 0.05 and np.abs(v - rates).max() < 0.05 * (1 + np.abs(rates).max())


@pytest.mark.parametrize("name", PRESSED)
def test_a_compliant_wall_bears_the_load_from_the_start_on(name):
    """It is as deep as it must be, so that no swing about that depth makes a peak of its own: 164 N before where the
    ideal slider-crank has 121 N.  Its law is not given a tiny approach speed either, which made it so stiff that the
    run took 263,426 steps in 0.2 s."""
    joint, loose = PRESSED[name]
    run, ideal = (jp.simulate(m, 5e-3, error=False) for m in (loose, statics.twin(loose)))
    first = [float(np.hypot(r.force_x, r.force_y).sel(joint=joint)[0]) for r in (run, ideal)]
    assert first[0] == pytest.approx(first[1], rel=1e-3)
    assert float(run.peak_force.sel(joint=joint)) == pytest.approx(float(ideal.peak_force.sel(joint=joint)), rel=0.02)
    assert run.attrs["judgement"] == "fine" and run.attrs["steps"] < 1000
    assert "penetrates" not in run.attrs["notes"] and "is that of the start" not in run.attrs["notes"]


def test_the_journal_of_a_hanging_bar_lies_below_the_middle_of_its_bearing():
    """The bearing is on the ground and must push up, so the pin is c below its centre; with the bearing on the bar,
    the bar hangs with the top of its hole on the pin: c lower as well."""
    for bearing in ("first", "second"):
        hanging = LIB.pendulum(mass=2.0).loosen("J1", 1e-3, bearing=bearing)
        _, q, _, here = begun(hanging)
        _, ideal, _, _ = begun(hanging.replace(journals="centred"))
        assert q - ideal == pytest.approx([0.0, -1e-3, 0.0], abs=1e-12)
        assert abs(float(here.gaps[0])) < 1e-15
        run = jp.simulate(hanging, 0.05, jp.MoreauJean(1e-4))
        assert float(run.peak_force[0]) == pytest.approx(2 * 9.81, rel=1e-6) and not run.impacts.values.any()
        assert float(run.normal_force[0, 0]) == pytest.approx(2 * 9.81, rel=1e-6)  # from the first sample on
        assert int(run["mode"][0, 0]) == 2 and float(run.force_y[0, 0]) == pytest.approx(2 * 9.81, rel=1e-6)


def test_the_load_of_a_guide_decides_between_one_side_and_two_corners():
    """A block on a bar under its weight rests flush; pulled by a couple it leans on two opposite corners."""
    text = """
ground: {points: {O: [0, 0]}}
bodies: {block: {mass: 1, inertia: 0.01}}
joints: {G: {kind: prismatic, between: [ground.O, block.centre], axis: [1, 0], clearance: 0.5 mm, length: 0.1}}
"""
    flush = jp.loads(text)
    _, q, _, here = begun(flush)
    assert (np.abs(here.gaps) < 1e-12).sum() == 2 and q[1] == pytest.approx(-5e-4, abs=1e-12) and abs(q[2]) < 1e-9
    leaning = flush.replace(forces={"twist": {"kind": "torque", "on": "block", "torque": 50.0}})
    _, q, _, here = begun(leaning)
    assert (np.abs(here.gaps) < 1e-9).sum() == 2 and q[2] == pytest.approx(2 * 5e-4 / 0.1, rel=0.01)


def test_what_nothing_presses_starts_in_the_middle():
    floating = LIB.pendulum(2).replace(gravity=(0.0, 0.0)).loosen("J1", 1e-3).loosen("J2", 1e-3)
    _, _, _, here = begun(floating)
    assert here.gaps == pytest.approx([1e-3, 1e-3])


def test_start_values_that_say_where_a_journal_is_count_before():
    hanging = LIB.pendulum(mass=2.0).loosen("J1", 1e-3)
    place = hanging.start | {"bar1.x": 3e-4, "bar1.y": -0.5}
    _, q, _, _ = begun(hanging.replace(start=place))
    assert q[:2] == pytest.approx([3e-4, -0.5])


def test_a_file_says_how_journals_start_and_the_papers_say_centred():
    slider = LOOSE["slider-crank"]
    assert slider.journals == "loaded" and "journals" not in jp.dumps(slider)
    centred = slider.with_({"start.journals": "centred"})
    assert centred.journals == "centred" and jp.loads(jp.dumps(centred)) == centred
    assert "journals: centred" in jp.dumps(centred)
    assert {LIB.crank_rocker_2016(1e-3).journals, LIB.wu_2017().journals, LIB.spacecraft_2026().journals} == {"centred"}
    with pytest.raises(ModelError, match="journals: must be loaded or centred, got 'left'"):
        slider.with_({"start.journals": "left"})
    run = jp.simulate(slider, 0.002, start={"journals": "centred"})
    assert float(run.gap[0, 0]) == pytest.approx(5e-4)


def test_a_loaded_start_makes_no_peak_of_its_own():
    """The packaging crank-slider of a first try: its largest force was that of a fall through the play at the start."""
    pack = LIB.slider_crank(crank=0.05, rod=0.2, masses=(0.4, 0.5, 2.0), speed=20.0).loosen("J3", 1e-4)
    loaded, centred = (
        jp.simulate(pack, 0.02, jp.MoreauJean(1e-5), start={"journals": how}) for how in ("loaded", "centred")
    )
    ideal = jp.simulate(jp.statics.twin(pack), 0.02)
    impulse = [float(run.joint_impulse.sel(joint="J3")) for run in (loaded, centred)]
    assert impulse[0] < 0.05 * impulse[1]
    assert float(loaded.peak_force.sel(joint="J3")) < 1.1 * float(ideal.peak_force.sel(joint="J3"))


def test_places_in_the_middle_of_the_play_are_noted_where_journals_are_loaded():
    hanging = LIB.pendulum(angles=[-np.pi / 2]).loosen("J1", 1e-3)
    below = {"bar1": -np.pi / 2, "bar1.x": 0.0, "bar1.y": -0.5}
    system, q, _, _ = begun(hanging.replace(start=below))
    assert q[1] == pytest.approx(-0.501) and system.notes == []  # it is the play that is between, so runs are silent
    assert "bar1.y as without play" in statics.check(system).notes[0]
    for other in (hanging.replace(start=below, journals="centred"), hanging.replace(start={"bar1": -np.pi / 2})):
        assert statics.check(other).notes == ()


SOFT = jp.Compliant(normal={"law": "hunt_crossley", "stiffness": 1e8})


@pytest.mark.parametrize("contact", [jp.Rigid(), SOFT])
def test_a_start_outside_the_play_is_closed_anew_on_request(contact):
    """1 mm too far to the right, with half a millimetre of play."""
    slider = LIB.slider_crank(speed=30.0).loosen("J3", 5e-4, contact=contact)
    right = float(jp.check(slider).q[6]) + 1e-3
    if contact is not SOFT:
        with pytest.raises(ModelError, match=r"^start: penetrates 'J3' by 0\.0009\d* m, .* reclose=True"):
            jp.simulate(slider, 0.01, start={"slider.x": right})
    run = jp.simulate(slider, 0.01, start={"slider.x": right}, reclose=True, error=False)
    depth = (100.48 / 1e8) ** (2 / 3) if contact is SOFT else 0.0  # with 100.48 N on the ideal joint
    assert float(run["gap"][0, 0]) == pytest.approx(-depth, abs=1e-9) and float(run.peak_force.sel(joint="J3")) < 1e3
    assert run.attrs["judgement"] == "fine"


@pytest.mark.parametrize(("deep", "judgement"), [(5e-3, "doubtful"), (2e-5, "fine")])
def test_a_compliant_start_deep_in_a_wall_is_doubtful_but_a_pressed_one_is_not(deep, judgement):
    """5 mm: the journal would begin with 40 kN, where some 100 N act."""
    slider = LIB.slider_crank(speed=30.0).loosen("J3", 5e-4, contact=SOFT)
    start = {"slider.x": float(jp.check(slider).q[6]) + deep}
    run = jp.simulate(slider, 1e-3, start=start, error=False)
    assert "the start penetrates 'J3' by " in run.attrs["notes"] and "give other or fewer" in run.attrs["notes"]
    assert run.attrs["judgement"] == judgement
    assert ("its contact force at the start of 3.64e+04 N" in run.attrs["judgement_text"]) is (judgement == "doubtful")
    assert run.attrs["judgement_text"].endswith("or --reclose.") is (judgement == "doubtful")


SHAPER = """
ground: {points: {O: [0, 0], Q: [0, -250 mm], rail: [0, 280 mm]}}
bodies:
  crank: {bar: 100 mm, mass: 1 kg}
  lever: {bar: 500 mm, mass: 3 kg}
  rod: {bar: 200 mm, mass: 1 kg}
  ram: {mass: 5 kg, inertia: 0.05 kg*m^2, points: {pin: [0, 0]}}
joints:
  J1: {kind: revolute, between: [ground.O, crank.start]}
  J2: {kind: revolute, between: [ground.Q, lever.start]}
  J3: {kind: slot, between: [lever.start, crank.end], axis: [1, 0]}
  J4: {kind: revolute, between: [lever.end, rod.start]}
  J5: {kind: revolute, between: [rod.end, ram.pin], clearance: 0.2 mm, contact: {kind: following}}
  J6: {kind: prismatic, between: [ground.rail, ram.pin], axis: [1, 0]}
drives: {motor: {kind: angle, of: crank, motion: {kind: constant_speed, speed: 60 rpm}}}
"""


@pytest.mark.parametrize("start", [{}, {"lever": 1.2, "rod": 0.0}, {"rod": 0.33}])
def test_permanent_contact_starts_loaded_and_at_rest_in_its_bearing(start):
    """With the rates of least kinetic energy the pin went round its bearing at 1770 rad/s, and the motor's torque was
    600 times that of the ideal mechanism; hints that ideal joints take did not assemble."""
    shaper = jp.loads(SHAPER).replace(start=start)
    system, q, v, here = begun(shaper)
    assert np.abs(here.residual).max() < 1e-12 and here.B @ v == pytest.approx(here.speed, abs=1e-9)
    assert statics.whirls(system, q, v)["J5"] < 1e-6
    ideal = jp.simulate(shaper.closed(), 0.02, error=False)
    run = jp.simulate(shaper, 0.02, error=False)
    assert float(run.peak_effort[0]) == pytest.approx(float(ideal.peak_effort[0]), rel=0.05)
    reaction = np.hypot(ideal.force_x.sel(joint="J5")[0], ideal.force_y.sel(joint="J5")[0])
    assert jp.Simulation(shaper).each[0].pushes["J5"] == pytest.approx(float(reaction), rel=0.01)
    assert np.abs(v - begun(shaper.closed())[2]).max() < 0.01


def test_permanent_contact_keeps_a_start_within_its_play_and_given_rates():
    """The pin above the middle, where it is not pressed; and a rate that takes it round its bearing."""
    hanging = LIB.pendulum(mass=2.0).loosen("J1", 1e-3, contact=jp.Following(on_loss="continue"))
    given = {"bar1": 0.0, "bar1.x": 0.5, "bar1.y": 1e-3, "bar1.rate": 1.0}
    _, q, v, here = begun(hanging.replace(start=given))
    assert q == pytest.approx([0.5, 1e-3, 0.0], abs=1e-12)
    assert v[2] == pytest.approx(1.0) and here.B @ v == pytest.approx(here.speed, abs=1e-9)
    whirling = hanging.replace(start={**given, "bar1.x.rate": 0.3})
    assert begun(whirling)[2][0] == pytest.approx(0.3)


TURNED = """
ground: {{points: {{O: [0, 0]}}}}
bodies:
  crank: {{bar: 100 mm, mass: 0.5 kg}}
  rod: {{bar: 300 mm, mass: 0.8 kg}}
  slider: {{mass: 1 kg, inertia: 1e-3 kg*m^2, points: {{pin: [0, 0]}}}}
joints:
  J1: {{kind: revolute, between: [ground.O, crank.start]}}
  J2: {{kind: revolute, between: [crank.end, rod.start]}}
  J3: {{kind: revolute, between: [rod.end, slider.pin]}}
  J4: {{kind: prismatic, between: [ground.O, slider.pin], axis: [1, 0], angle: {angle},
       clearance: 0.1 mm, length: 60 mm, radius: 15 mm, contact: {{kind: rigid, restitution: 0.3, friction: 0.1}}}}
drives: {{motor: {{kind: angle, of: crank, motion: {{kind: constant_speed, speed: 150 rpm, start: 30 deg}}}}}}
start: {{{start}}}
"""


@pytest.mark.parametrize("angle", ["180 deg", "150 deg", "-140 deg"])
def test_a_block_begins_the_right_way_round_in_its_guide(angle):
    """A slider of which only its pin counts, however its frame is turned: it began upside down, beyond its walls,
    where no gap is below 0, and rattled in a play of 60 mm."""
    one, other = (jp.simulate(jp.loads(TURNED.format(angle=a, start="rod: -9 deg")), 0.2) for a in ("0 deg", angle))
    assert other.gap.max() < 2.1e-4 and other.gap[0].values == pytest.approx(one.gap[0].values, abs=1e-9)
    assert float(other.x[-1, 2]) == pytest.approx(float(one.x[-1, 2]), abs=1e-9)


def test_a_block_that_is_turned_over_in_its_guide_is_refused_or_told():
    told = jp.simulate(jp.loads(TURNED.format(angle="0 deg", start="slider: 180 deg")), 0.01)
    assert any("slider = 180 deg is taken as a guess" in note for note in jp.results.notes(told))
    over = "crank: 30 deg, slider: 180 deg, slider.y: 0.05 mm"
    with pytest.raises(ValueError, match="turns the block of 'J4' over in its guide, whose `angle` is 0 deg"):
        jp.simulate(jp.loads(TURNED.format(angle="0 deg", start=over)), 0.01)


@pytest.mark.parametrize("reverse", [False, True])
def test_start_values_within_the_play_are_held_in_any_order_of_joints(reverse):
    """The play of J2 allows a rod at -9.5 deg, half a millimetre beside the middle; one order of two dropped it."""
    joints = {
        "J1": "{kind: revolute, between: [ground.O, crank.start]}",
        "J2": "{kind: revolute, between: [crank.end, rod.start], clearance: 1 mm, contact: {kind: rigid}}",
        "J3": "{kind: revolute, between: [rod.end, slider.centre]}",
        "J4": "{kind: prismatic, between: [ground.O, slider.centre], axis: [1, 0]}",
    }
    written = ", ".join(f"{name}: {joints[name]}" for name in sorted(joints, reverse=reverse))
    model = jp.loads(f"""
ground: {{points: {{O: [0, 0]}}}}
bodies: {{crank: {{bar: 0.1, mass: 0.5}}, rod: {{bar: 0.3, mass: 0.8}}, slider: {{mass: 1, inertia: 1e-3}}}}
joints: {{{written}}}
start: {{crank: 30 deg, rod: -9.5 deg}}
""")
    q, _ = jp.statics.start(jp.System(model))
    assert q[5] == pytest.approx(np.radians(-9.5)) and q[2] == pytest.approx(np.radians(30))


@pytest.mark.parametrize("given, off", [({}, False), ({"slider.y": -1e-4}, True)])
def test_a_place_within_the_play_of_one_joint_tells_what_it_does_to_others(given, off):
    """The slider is where its loaded start puts it anyway, but J2 then begins off its wall, with a speed, unsaid."""
    slider = LIB.slider_crank(speed=10.0, angle=0.5).loosen("J2", 5e-4).loosen("J4", 1e-4, length=0.05, radius=0.01)
    run = jp.simulate(slider.replace(start={"slider": 0.0, **given}), 0.01, error=False)
    told = any(note.startswith("start: slider.y is held within the play, and J2") for note in jp.results.notes(run))
    assert told is off and (float(run.gap.sel(contact="J2")[0]) > 1e-6) is off


@pytest.mark.parametrize(
    "hint",
    [{"crank": 29.0}, {"crank": 60.0}, {"rod": -9.594068}, {"rod": -9.594}, {"rod": -9.6}, {"rod": -10.0}],
    ids=str,
)
def test_hints_do_not_unload_journals(hint):
    """A value that the drive overrules, or one without play as people round it, put J3 in the middle of
    its play beside a slider that stood still: 115 to 509 N for 4.9 N."""
    loose = LIB.slider_crank(speed=2 * math.pi, angle=math.radians(30)).loosen("J3", "0.5 mm")
    plain = jp.simulate(loose, 0.05)
    run = jp.simulate(loose, 0.05, start={name: math.radians(x) for name, x in hint.items()})
    assert run.place_x.values[0] == pytest.approx(plain.place_x.values[0], abs=1e-9)
    assert float(run.peak_force.sel(joint="J3")) == pytest.approx(float(plain.peak_force.sel(joint="J3")), rel=1e-6)


def test_a_start_within_the_play_goes_on_as_without_play():
    """The slider stood still beside a crank at 60 rpm, and was struck with 1036 N."""
    loose = LIB.slider_crank(speed=2 * math.pi, angle=math.radians(30)).loosen("J3", "0.5 mm")
    run = jp.simulate(loose, 0.05, start={"rod": math.radians(-9.5)})
    ideal = jp.simulate(loose.closed(), 0.05)
    assert run.angle.sel(body="rod").values[0] == pytest.approx(math.radians(-9.5), abs=1e-9)
    assert float(run.x_rate.sel(body="slider")[0]) == pytest.approx(float(ideal.x_rate.sel(body="slider")[0]), rel=2e-2)
    assert float(run.peak_force.sel(joint="J3")) < 20


def test_what_rests_without_loads_is_fine():
    """Rounding was beyond a limit of 0 J."""
    assert jp.simulate(LIB.four_bar().replace(gravity=(0, 0)), 0.5).attrs["judgement"] == "fine"
