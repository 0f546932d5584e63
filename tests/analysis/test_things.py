"""Everything that steps keeps the same promises; sections are things too."""

import numpy as np
import pytest

import jointplay as jp
from jointplay.analysis import Flow, Map, Section, Strobe, crossings, points, repeat, textbook
from jointplay.analysis.things import Thing, difference

THINGS = {
    "map": lambda: textbook.henon(lanes=2),
    "flow": lambda: textbook.duffing(lanes=2),
    "scheme": lambda: textbook.impact_oscillator(lanes=2),
    "strobe": lambda: Strobe(textbook.duffing(lanes=2), 2 * np.pi / 1.2),
    "smooth simulation": lambda: jp.Simulation(jp.library.pendulum(), lanes=2, share=True),
    "rigid simulation": lambda: jp.Simulation(
        jp.library.crank_rocker_2016(clearance2=3e-3), jp.MoreauJean(1e-4), lanes=2, share=True, reclose=True
    ),
}


@pytest.mark.parametrize("make", THINGS.values(), ids=THINGS)
def test_a_thing_keeps_its_promises(make):
    thing = make()
    assert isinstance(thing, Thing)
    names, start, begin = list(thing.names), thing.state, thing.time
    assert start.shape == (2, len(names)) and begin.shape == (2,)
    start[:] = 7.0  # a copy: nothing happens
    start = thing.state
    assert not (start == 7.0).all()
    thing.step(3)
    later, here = thing.state, thing.snapshot()
    assert (thing.time > begin).all() and np.abs(later - start).max() > 0
    thing.step(2)
    end = thing.state
    thing.reset(here)
    assert np.array_equal(thing.state, later)
    thing.step(2)
    assert np.array_equal(thing.state, end)  # what was saved is all that is needed
    thing.reset()
    assert np.array_equal(thing.state, start) and np.array_equal(thing.time, begin)


@pytest.mark.parametrize("make", THINGS.values(), ids=THINGS)
def test_a_push_moves_one_lane_only(make):
    thing = make()
    thing.step(2)
    before = thing.state
    push = np.full(len(thing.names), 1e-6)
    thing.perturb(push, lane=1)
    after = thing.state
    assert np.array_equal(after[0], before[0])
    assert 0 < np.abs(after[1] - before[1]).max() < 1e-4
    thing.step(2)
    assert not np.array_equal(*thing.state)


def test_advance_meets_the_time_and_lanes_have_their_own_numbers():
    swing = Flow(lambda t, s, p: {"x": s.v, "v": -p.k * s.x}, {"x": 1.0, "v": 0.0}, {"k": 1.0}, 1e-2, [{}, {"k": 4.0}])
    for until in (0.1, 0.1234, 1.0, np.pi):
        swing.advance(until)
        assert swing.time == pytest.approx([until] * 2, abs=1e-12)
    assert swing.state[:, 0] == pytest.approx([-1.0, 1.0], abs=1e-6)


def test_flow_has_order_four():
    def error(step):
        swing = Flow(lambda t, s, p: {"x": s.v, "v": -s.x}, {"x": 1.0, "v": 0.0}, step=step)
        swing.advance(2.0)
        return abs(swing.state[0, 0] - np.cos(2.0))

    assert error(0.02) / error(0.01) == pytest.approx(16, rel=0.05)


def test_a_section_locates_its_crossings():
    swing = Flow(lambda t, s, p: {"x": s.v, "v": -s.x}, {"x": 1.0, "v": 0.0}, step=1e-2)
    section = Section(swing, lambda t, state: state[0], every=0.3)
    section.step()
    assert section.time[0] == pytest.approx(1.5 * np.pi, abs=1e-8)
    section.step(2)
    assert section.time[0] == pytest.approx(5.5 * np.pi, abs=1e-8)
    assert isinstance(section, Thing)
    with pytest.raises(ValueError, match="no crossing"):
        Section(swing, lambda t, state: state[0] + 9, every=0.3, longest=5).step()
    with pytest.raises(ValueError, match="one lane"):
        Section(textbook.lorenz(lanes=2), lambda t, state: state[0], every=0.1)


@pytest.mark.parametrize(("r", "k"), [(2.8, 1), (3.2, 2), (3.5, 4), (3.83, 3), (4.0, None)])
def test_period_of_the_logistic_map(r, k):
    found = repeat(points(textbook.logistic(r), 64, 2000)[:, 0], ["x"], 1e-9)
    assert found.multiple == k
    assert (found.residual < 1e-9) is (k is not None)


def test_crossings_and_differences():
    time = np.linspace(0, 10, 2001)
    assert crossings(time, np.sin(time)) == pytest.approx([2 * np.pi], abs=1e-4)
    assert difference(["a.angle", "x"], np.array([6.5, 6.5]), np.array([0.2, 0.2])) == pytest.approx(
        [6.3 - 2 * np.pi, 6.3]
    )


def test_what_is_refused():
    with pytest.raises(ValueError, match="thing that steps"):
        Strobe(object(), 1.0)
    with pytest.raises(ValueError, match="period must be"):
        Strobe(textbook.lorenz(), 0.0)
    with pytest.raises(ValueError, match="step must be"):
        Flow(lambda t, s, p: {"x": s.x}, {"x": 1.0}, step=-1.0)
    with pytest.raises(ValueError, match="no state 'y'"):
        textbook.logistic().perturb({"y": 1.0})
    with pytest.raises(ValueError, match="lane 0"):
        Map(lambda s, p: {"x": 1e200 * s.x}, {"x": 1.0}).step(3)
