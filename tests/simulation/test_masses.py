"""Masses that cannot be computed with are refused by name; ends of loose guides."""

import pytest

import jointplay as jp
from jointplay.cli import main
from jointplay.model.parts import ModelError

LIB = jp.library


def test_a_point_mass_without_inertia_is_refused_by_name(tmp_path, capsys):
    text = "{bodies: {bob: {mass: 1, inertia: 0}}}"
    for stepper in (None, jp.MoreauJean(1e-3)):
        with pytest.raises(ModelError, match=r"bodies.bob.inertia: is 0, so nothing says how the body turns; give kg"):
            jp.simulate(jp.loads(text), 0.1, stepper)
    model = tmp_path / "bob.yaml"
    model.write_text(text)
    assert main(["run", str(model), "--until", "0.1", "-o", str(tmp_path / "o.nc")]) == 2
    assert "bodies.bob.inertia" in capsys.readouterr().err
    light = jp.loads(text).with_({"bob.inertia": 1e-6})
    assert float(jp.simulate(light, 0.1).y[-1, 0]) == pytest.approx(-0.5 * 9.81 * 0.01)


def test_masses_may_differ_by_ten_orders_and_more_is_not_called_singular():
    start = {"crank.rate": 3.0}
    known = jp.simulate(LIB.four_bar(masses=(1.0, 1e-7, 1.0)), 0.5, start=start).angle.values[-1]
    for light in (1e-8, 1e-9):
        run = jp.simulate(LIB.four_bar(masses=(1.0, light, 1.0)), 0.5, start=start)
        assert run.angle.values[-1] == pytest.approx(known, abs=1e-6) and run.attrs["judgement"] == "fine"
    for stepper in (None, jp.MoreauJean(1e-3)):
        with pytest.raises(ModelError, match=r"bodies.coupler.mass: 1e-12 kg is too little beside the 1 kg of 'crank'"):
            jp.simulate(LIB.four_bar(masses=(1.0, 1e-12, 1.0)), 0.5, stepper, start=start)
    # where no row rests on the light body alone, any ratio will do
    tail = LIB.pendulum(2, 0.5, angles=[0.3, 0.2])
    first, second = (jp.simulate(tail.with_({"bar2.mass": m}), 0.5).angle.values[-1, 0] for m in (1e-9, 1e-12))
    assert first == pytest.approx(second, abs=1e-6)


@pytest.mark.parametrize("kind", ["prismatic", "slot"])
@pytest.mark.parametrize("contact", ["rigid", "compliant"])
def test_a_loose_guide_may_have_ends(kind, contact):
    length = "length: 0.1, " if kind == "prismatic" else ""
    law = "kind: rigid" if contact == "rigid" else "kind: compliant, normal: {law: hertz, stiffness: 1e9}"
    guide = jp.loads(f"""
ground: {{points: {{O: [0, 0]}}}}
bodies: {{block: {{mass: 1, inertia: 0.01}}}}
joints: {{G: {{kind: {kind}, between: [ground.O, block.centre], axis: [1, 0], clearance: 0.5 mm, {length}
             lower: -10 mm, upper: 30 mm, stop_restitution: 1, contact: {{{law}}}}}}}
start: {{block.x.rate: 1}}
""")
    run = jp.simulate(guide, 0.1, jp.MoreauJean(1e-5) if contact == "rigid" else None)
    assert run.attrs["judgement"] == "fine"
    stops = [str(name) for name in run.contact.values if ".stop." in str(name)]
    assert stops == ["G.stop.upper", "G.stop.lower"] and run.impacts.sel(contact=stops).values.tolist() == [1, 1]
    assert 0.0299 < float(run.x.max()) < 0.0305 and -0.0105 < float(run.x.min()) < -0.0099
    if contact == "compliant":
        assert float(abs(run.x_rate).min("time")[0]) < 0.2 and float(run.x_rate[-1, 0]) == pytest.approx(1.0, rel=0.02)


def test_a_body_that_rests_is_no_small_share_of_the_energy():
    """A frame welded to the ground has the rounding of its rates as energy (7e-36 of all); a note called its joints
    off by some percent."""
    slider = LIB.slider_crank(speed=20.0).loosen("J1", 2e-4)
    joints = {name: joint.model_dump() for name, joint in slider.joints.items()}
    joints["J1"]["between"], joints["J4"]["between"] = ("plate.O", "crank.start"), ("plate.O", "slider.pin")
    joints["W"] = {"kind": "weld", "between": ["ground.O", "plate.O"]}
    plate = {"mass": 3.0, "inertia": 0.1, "points": {"O": (0.3, -0.2)}}
    framed = slider.replace(bodies={"plate": plate, **slider.bodies}, joints=joints)
    notes = jp.results.notes(jp.simulate(framed, 0.02, error=False))
    assert not [note for note in notes if "of the kinetic energy" in note]
