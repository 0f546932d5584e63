"""Blocks in rough guides with play: what friction at rest leaves open, jams, impacts against stops, first samples."""

import json

import numpy as np
import pytest

import jointplay as jp
from jointplay import results, statics
from jointplay.system import System

G, MASS = 9.81, 2.0
GUIDE = "kind: prismatic, between: [ground.O, b.{at}], clearance: 0.5 mm, length: 0.2{radius}"
MODEL = """
ground: {{points: {{O: [0, 0]}}}}
bodies: {{b: {{mass: 2, inertia: 0.004, points: {{p: [0, {low}], h: [0.2, 0.03]}}}}}}
joints: {{L: {{{guide}, contact: {{kind: rigid, friction: {mu}}}{stop}}}}}
{more}
"""


def block(more="", mu=0.2, stop="", at="centre", low=0.0, radius=", radius: 10 mm"):
    return jp.loads(MODEL.format(guide=GUIDE.format(at=at, radius=radius), mu=mu, stop=stop, more=more, low=low))


def ram(load, mu=0.2):
    """Pressed against its end stop at rest, all along one line."""
    more = f"forces: {{f: {{kind: force, at: b.centre, x: {load}}}}}\nstart: {{b.x: 0.3}}"
    return block(more, mu, ", upper: 0.3", radius="")


def entries(run):
    return {one["name"]: one for one in results.errors(run)}


@pytest.mark.parametrize("load, mu", [(10.0, 0.2), (3.0, 0.2), (10.0, 0.05)])
def test_what_a_stop_bears_beside_friction_at_rest_is_known_to_twice_the_friction(load, mu):
    """Friction bears anything up to mu m g either way, if the stop pushes."""
    system = System(ram(load, mu))
    shut = [system.contacts.index(f"L.{name}") for name in ("front.lower", "rear.lower", "stop.upper")]
    push, rest = 0.5 * MASS * G, [0.0] * len(system.rows)
    for rub in (0.0, mu * push):  # of each corner, against the load
        q = np.array([0.3, -5e-4, 0.0])
        acting = np.array([*rest, push, push, load - min(2 * rub, load), min(rub, load / 2), min(rub, load / 2)])
        found = statics.leeways(system, q, 0.0, shut, shut[:2], acting)
        assert list(found) == ["L.stop.upper"]  # how the corners share friction is open, their normal forces are not
        assert found["L.stop.upper"].most == pytest.approx(load + mu * MASS * G, rel=1e-9)


@pytest.mark.parametrize("stepper", [None, jp.MoreauJean(1e-3), jp.MoreauJean(1e-3, order=1)])
def test_the_force_of_a_stop_in_a_rough_guide_is_not_determined(stepper):
    """6.08 or 13.92 N by the stepper, each to 2e-11; the motion, the guide and its corners are as before."""
    run = jp.simulate(ram(10.0), 0.1, error=True, **({"stepper": stepper} if stepper else {}))
    found = entries(run)
    assert json.loads(run.attrs["open_reactions"]) == ["L.stop.upper"]
    assert not found["L.stop.upper.peak_normal"]["determined"]
    assert all(found[name]["determined"] for name in ("L.front.lower.peak_normal", "L.peak_force", "b.x"))
    assert sum("friction at rest" in note for note in results.notes(run)) == 1
    assert not json.loads(jp.simulate(ram(10.0, 0.0), 0.1).attrs["open_reactions"])


def test_the_impulse_of_a_stop_is_determined_where_no_rough_contact_is_pressed_in_the_impact():
    more = "forces: {f: {kind: force, at: b.centre, x: 10}}\nstart: {b.x: 0.29, b.x.rate: 0.5}"
    found = entries(jp.simulate(block(more, stop=", upper: 0.3"), 0.1, error=True))
    speed = np.sqrt(0.25 + 2 * 0.01 * (10 / MASS - 0.2 * G))
    impulse = found["L.stop.upper.peak_impulse"]
    assert impulse["determined"] and impulse["value"] == pytest.approx(MASS * speed, rel=1e-6)
    assert not found["L.stop.upper.peak_normal"]["determined"]


def test_the_effort_that_holds_a_block_on_a_rough_guide_is_not_determined():
    """It is while the block slides, where it is larger than any that may hold it."""
    more = "drives: {d: {kind: position, of: L, motion: {kind: cycloidal, end: 0.1, duration: 0.1}}}"
    run = jp.simulate(block(more), 0.3, settled=0.15)
    found = entries(run)
    peak = MASS * (0.1 * 2 * np.pi / 0.1**2 + 0.2 * G)
    assert found["d.peak_effort"]["determined"] and found["d.peak_effort"]["value"] == pytest.approx(peak, rel=1e-3)
    assert not found["d.peak_effort_settled"]["determined"]
    assert "d" in json.loads(run.attrs["open_reactions"])


def test_a_jammed_block_sticks_at_both_corners():
    """One of them bears all the friction that it may, but does not slip: it was sliding for 0.79 of the time."""
    pushed = "forces: {f: {kind: force, at: b.h, y: -60, x: {kind: sine, amplitude: 50, frequency: 10 Hz}}}"
    run = jp.simulate(block(pushed, mu=0.6), 0.08, error=True)
    found = entries(run)
    assert np.ptp(run.x.values) < 1e-12
    for corner in ("L.front.lower", "L.rear.upper"):
        here = run.sel(contact=corner)
        assert here.share_sticking == pytest.approx(1) and here.share_sliding == pytest.approx(0)
        assert (here["mode"] == 3).all()
        assert not found[f"{corner}.peak_normal"]["determined"]  # friction shifts load from one to the other
    assert found["L.peak_force"]["determined"]


@pytest.mark.parametrize("bounce, low", [(0.0, -0.03), (0.4, 0.02)])
def test_impacts_lose_what_the_friction_of_contacts_that_were_shut_takes_or_gives(bounce, low):
    """A block on a rough guide strikes a stop beside its mass centre: 0.594 J were listed of 0.566 J."""
    more, stop = "start: {b.x: 0, b.x.rate: 1}", f", upper: 0.1, stop_restitution: {bounce}"
    run = jp.simulate(block(more, stop=stop, at="p", low=low), 0.1129, every=1e-6, error=False)
    energy = (run.kinetic + run.potential).values
    after = int(np.searchsorted(run.time, run.impact_time[0]))
    assert run.impact_lost[0] == pytest.approx(energy[after - 1] - energy[after], rel=1e-4)


def test_stated_errors_cover_samples_of_normal_forces_and_stops_that_let_go_gently():
    """The stop lets go at 0.12131 s by a reference with events, in a step that counts as contact to its end."""
    more = "start: {b.x: 0, b.x.rate: 1}"
    run = jp.simulate(block(more, stop=", upper: 0.1", at="p", low=-0.03), 0.125)
    found, stop = entries(run), "L.stop.upper"
    share, peak = found[f"{stop}.share_free"], found[f"{stop}.peak_normal"]
    assert abs(share["value"] - 0.928667605) <= share["error"]
    assert run.normal_force.sel(contact=stop).max() <= peak["value"] + peak["error"]


@pytest.mark.parametrize("stepper", [None, jp.MoreauJean(1e-4), jp.MoreauJean(1e-4, order=1)])
@pytest.mark.parametrize("speed, mode", [(1.0, 2), (0.0, 3)])
def test_first_samples_know_slip_and_mode(stepper, speed, mode):
    options = {"stepper": stepper} if stepper else {}
    run = jp.simulate(block(f"start: {{b.x: 0, b.x.rate: {speed}}}"), 0.01, error=False, **options)
    first = run.sel(contact="L.front.lower").isel(time=0)
    assert abs(first.slip) == speed and first["mode"] == mode


def test_a_drive_whose_speed_jumps_is_named_where_chosen_steps_end():
    table = "{kind: table, times: [0, 0.05, 0.1], values: [0, 0.01, 0], interpolation: linear}"
    with pytest.raises(jp.SimulationFailed, match=r"speed of drive 'd' jumps at t = 0\.05 s"):
        jp.simulate(block(f"drives: {{d: {{kind: position, of: L, motion: {table}}}}}"), 0.1)
