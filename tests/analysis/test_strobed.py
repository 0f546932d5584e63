"""Period k of a strobed motion beside the integration error at each phase."""

import numpy as np
import pytest

import jointplay as jp
from jointplay.analysis import Exponent, Series, textbook
from jointplay.analysis.agreement import Agreement
from jointplay.analysis.evidence import decided
from jointplay.analysis.phases import phase_rows
from jointplay.analysis.strobed import PER_PERIOD, Strobed, Watched, section_evidence
from jointplay.analysis.surrogates import surrogate_test
from jointplay.analysis.trajectories import Observation, chosen_signal, stays

NAMES = ["x", "v"]
STEPS = np.arange(12 * PER_PERIOD)
WIDE = STEPS % PER_PERIOD < 5  # phases in which errors grow


def motion(change=0.0, noise=0.0, seed=0):
    """Twelve periods of a vibration; change: of every second period; noise: error of the integration in some phases."""
    angle = 2 * np.pi * STEPS / PER_PERIOD
    states = np.column_stack([np.sin(angle), np.cos(angle) + 0.2 * np.sin(3 * angle)])
    states[(STEPS // PER_PERIOD) % 2 == 1] += change
    return states + noise * WIDE[:, None] * np.random.default_rng(seed).uniform(-1, 1, states.shape)


def judged(states, finer, sign=-1):
    early = [states[:1], states[:1] + 1e-9]
    details = {"series": Series(0.1 * STEPS, states[:, 0], "x")}
    return section_evidence(Watched({}, NAMES, [states, finer], early), sign, details)


def test_errors_that_die_away_do_not_hide_a_period():
    found = judged(motion(noise=1e-3), motion(noise=1e-3, seed=1))
    assert found.multiple == 1 and "at 5 phases an error of the integration" in found.evidence[0].says
    assert found.evidence[0].value < 1e-12  # in the middle of the phases


def test_a_change_that_finer_steps_do_not_explain_is_motion():
    assert judged(motion(noise=1e-3), motion()).multiple == 1  # they change as much as what is to be explained
    alike = motion(noise=1e-3)
    assert judged(alike, alike).multiple is None
    assert judged(motion(noise=1e-3), motion(noise=1e-3, seed=1), sign=1).multiple is None


@pytest.mark.parametrize("sign", [-1, 1])
def test_period_two(sign):
    assert judged(motion(change=1e-3), motion(change=1e-3), sign).multiple == 2


def test_a_period_below_the_error_of_the_integration_is_none():
    assert judged(motion(change=1e-3), motion(), sign=0).multiple == 1
    far = judged(motion(change=1e-3), motion() + 0.3, sign=0)  # which is no small error, but another motion
    assert far.evidence[0].says.startswith("repeats after 2") and far.multiple is None


def test_too_few_periods():
    states = motion()[: 3 * PER_PERIOD]
    with pytest.raises(ValueError, match=r"3 drive periods are too few.*look at 6"):
        section_evidence(Watched({}, NAMES, [states], []), -1, {})


def test_the_signal_of_a_pendulum_that_turns_over():
    thing = textbook.double_pendulum(step=1e-2)
    states = [(thing.advance(0.1 * i), thing.state[0])[1] for i in range(1, 401)]
    seen = Watched({}, list(thing.names), [np.array(states)], [])
    assert chosen_signal(seen, Observation.of(None, None, 40.0, None, None)).name == "v"  # both angles wander off


def test_what_wanders_off_does_not_stay():
    angle = 0.1 * np.arange(2000)
    assert stays(np.sin(angle)) and not stays(np.sin(angle) + 0.1 * angle)


def test_surrogates_without_neighbours_have_no_slope():
    time = 0.01 * np.arange(400)
    series = Series(time, np.sin(time) + 0.01 * time)
    chosen = jp.analysis.Embedding(delay=10, dimension=8, theiler=390, false=0.0)
    assert np.isnan(surrogate_test(series, chosen, count=2).slopes).all()


def exponents(*pairs):
    """A sweep of exponents by their values and errors."""
    growth = np.array([1.0, 1.0])
    found = [Exponent(value, error, growth, value * growth, "two trajectories") for value, error in pairs]
    return dict(zip(["as it is", "separation 1", "separation 2", "finer steps"], found, strict=False))


@pytest.mark.parametrize(
    ("pairs", "sign"),
    [
        ([(13.5, 0.4), (15.7, 0.5), (10.9, 0.4), (13.4, 0.6)], 1),  # the value depends on the separation, the sign not
        ([(13.5, 0.4), (60.0, 0.5), (2.0, 0.4)], 0),
        ([(1.0, 0.1), (1.1, 0.1), (-0.1, 0.1)], 0),
        ([(-10.0, 0.1), (-20.0, 0.1)], -1),
    ],
)
def test_the_sign_of_a_sweep(pairs, sign):
    assert Agreement(exponents(*pairs)).sign == sign


@pytest.mark.parametrize(
    ("pairs", "multiple", "kind"),
    [
        ([(0.0, 1.0), (10.0, 1.0)], None, "inconclusive"),  # in one of the runs neighbouring motions part
        ([(0.0, 1.0), (0.1, 1.0)], None, "inconclusive"),
        ([(0.0, 1.0), (0.1, 1.0)], 2, "periodic"),
        ([(9.0, 1.0), (9.1, 1.0)], None, "chaotic"),
    ],
)
def test_a_signal_that_repeats_does_not_make_a_state_periodic_that_parts(pairs, multiple, kind):
    period = 0.1 * PER_PERIOD
    series, together = Series(0.1 * STEPS, motion()[:, 0], "x", period=period), Agreement(exponents(*pairs))
    found = judged(motion(change=1e-3 * (multiple == 2)), motion(), together.sign)
    found = Strobed(multiple, 1.0, found.evidence[:1] if multiple else [], "")
    rows, repeats = phase_rows(together, found, series, period)
    assert decided([*together.evidence(driven=True), *found.evidence, *rows]) == kind
    assert repeats == (multiple and multiple * period)
