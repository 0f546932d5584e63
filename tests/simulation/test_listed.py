"""The list of impacts is bounded; counts, peaks and losses are those of all impacts."""

import json

import pytest

import jointplay as jp

PIN = """
ground: {points: {O: [0, 0]}}
bodies: {pin: {mass: 1 kg, inertia: 1e-4, points: {axis: [0, 0]}}}
joints: {J: {kind: revolute, between: [ground.O, pin.axis], clearance: 1 mm, journal_radius: 5 mm, contact: CONTACT}}
start: {journals: centred}
"""
CONTACTS = {
    "rigid": ("{kind: rigid, restitution: 0.9}", {"stepper": jp.MoreauJean(step=1e-5)}),
    "compliant": ("{kind: compliant, normal: {law: hertz, stiffness: 1e8}}", {}),
}


@pytest.mark.parametrize(("kind", "eager"), [("rigid", False), ("rigid", True), ("compliant", False)])
def test_impacts_beyond_the_list_are_counted(kind, eager, monkeypatch):
    text, options = CONTACTS[kind]
    mechanism = jp.loads(PIN.replace("CONTACT", text))
    if eager:  # thousands of times slower
        monkeypatch.setenv("JOINTPLAY_EAGER", "1")
        options = {"stepper": jp.MoreauJean(step=1e-3, order=1)}
    until = 0.1
    whole = jp.simulate(mechanism, until, every=until / 4, **options)
    few = max(1, int(whole.impacts.sum()) // 3)
    monkeypatch.setattr("jointplay.simulation.course.LISTED", few)
    cut = jp.simulate(mechanism, until, every=until / 4, **options)
    left = int(whole.impacts.sum()) - few
    assert left > 0 and cut.impacts.values == whole.impacts.values and cut.sizes["impact"] == few
    assert (cut.impact_time.values == whole.impact_time.values[:few]).all()
    assert cut.peak_normal.values == whole.peak_normal.values and cut.attrs["audit"] == whole.attrs["audit"]
    notes = json.loads(cut.attrs["notes"])
    assert any(f"only the first {few} impacts are listed; {left} later ones" in note for note in notes)
    assert not any("are listed" in note for note in json.loads(whole.attrs["notes"]))
