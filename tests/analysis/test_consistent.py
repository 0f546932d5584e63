"""No verdict contradicts its evidence, whatever was seen; what is interrupted is told."""

import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jointplay as jp
from jointplay.analysis import Exponent, Series, textbook
from jointplay.analysis.agreement import Agreement
from jointplay.analysis.evidence import CHAOTIC, INCONCLUSIVE, PERIODIC, QUASI, Evidence, Verdict, decided
from jointplay.analysis.pace import Pace
from jointplay.analysis.strobed import PER_PERIOD, Watched
from jointplay.analysis.trajectories import Observation, judged

STEPS = np.arange(14 * PER_PERIOD)
NAMES = ["x", "v"]
RUNS = ["as it is", "separation 1e-08", "separation 1e-06", "finer steps"]


def consistent(found):
    """The verdict, the votes, the words and the numbers of the exponent say the same."""
    deciding = [one for one in found.evidence if one.decides]
    votes, said = {one.votes for one in deciding} - {""}, " | ".join(one.says for one in deciding)
    assert found.verdict == decided(found.evidence)
    assert (found.period is not None) == (found.verdict == PERIODIC) == (found.multiple is not None)
    assert found.settle.startswith("settled") or found.verdict in (INCONCLUSIVE, CHAOTIC)
    if found.verdict == INCONCLUSIVE:
        assert len(votes) != 1 or votes == {INCONCLUSIVE}
        assert not found.settle.startswith("settled")
        return
    assert votes == {found.verdict}
    repeating = ["repeats after" in one.says and "does not" not in one.says for one in deciding]
    assert any(repeating) == (found.verdict == PERIODIC)
    assert ("two phases with periods" in said) == (found.verdict == QUASI)


def consistent_model(found):
    consistent(found)
    first = found.evidence[0]
    assert (found.exponent, found.exponent_error) == (first.value, first.error)
    beyond = first.value > 3 * first.error
    assert first.says.startswith("positive by") <= beyond
    if found.verdict == CHAOTIC:
        assert (
            first.says.startswith("positive by")
            and beyond
            and found.settle.startswith("settled: the exponent is positive")
        )
    if found.verdict == QUASI:
        assert "open" in first.says or "falling" in first.says
    if "sign is open" in first.says:
        assert found.verdict != CHAOTIC


def states(kind, size, seed):
    """Fourteen periods of a motion of a kind."""
    angle, rng = 2 * np.pi * STEPS / PER_PERIOD, np.random.default_rng(seed)
    base = np.column_stack([np.sin(angle), np.cos(angle) + 0.2 * np.sin(3 * angle)])
    if kind == "two":
        base[(STEPS // PER_PERIOD) % 2 == 1] += size
    elif kind == "quasi":
        base += size * np.column_stack([np.sin(0.382 * angle), np.cos(0.382 * angle)])
    elif kind == "wild":
        base += size * np.interp(STEPS, STEPS[::9], rng.normal(size=len(STEPS[::9])))[:, None]
    elif kind == "fading":
        base += (size * np.exp(-3 * STEPS / len(STEPS)) * np.sin(0.382 * angle))[:, None]
    return base


exponents = st.lists(st.tuples(st.floats(-30, 30), st.floats(1e-3, 10)), min_size=1, max_size=4)


@settings(deadline=None, max_examples=40, derandomize=True)
@given(
    exponents,
    st.sampled_from(["one", "two", "quasi", "wild", "fading"]),
    st.sampled_from([1e-7, 1e-3, 0.05, 0.5]),
    st.sampled_from([0.0, 1e-9, 1e-4, 0.1]),
    st.booleans(),
    st.booleans(),
)
def test_no_verdict_contradicts_its_evidence(pairs, kind, size, error, driven, falling):
    growth = np.linspace(2.0, 0.0, 10) if falling else np.ones(10)
    found = {
        name: Exponent(x, e, np.arange(1.0, 11.0), x * growth, "two trajectories", 1e-7)
        for name, (x, e) in zip(RUNS, pairs, strict=False)
    }
    seen = states(kind, size, 0)
    finer = seen + error * np.random.default_rng(1).normal(size=seen.shape)
    plan = Observation.of(0.1 * PER_PERIOD if driven else None, None, 0.1 * len(STEPS), 0.0, "x")
    plan = Observation(plan.period, plan.until, 0.0, 0.1, "x")
    consistent_model(judged(Watched(found, NAMES, [seen, finer], [seen[:1], finer[:1]]), plan, False, Pace()))


@settings(deadline=None, max_examples=5, derandomize=True)
@given(st.sampled_from(["one", "two", "quasi", "wild"]), st.sampled_from([0.02, 0.5]), st.sampled_from([0, 1e-3]))
def test_no_verdict_on_a_series_contradicts_its_evidence(kind, size, noise):
    values = states(kind, size, 2)[:, 0] + noise * np.random.default_rng(3).normal(size=len(STEPS))
    consistent(jp.verdict(Series(0.1 * STEPS, values)))


def test_a_verdict_other_than_that_of_its_evidence_cannot_be_made():
    rows = [Evidence("a", 1.0, None, "", CHAOTIC, True), Evidence("b", 1.0, None, "", PERIODIC, True)]
    assert decided(rows) == INCONCLUSIVE and decided([]) == INCONCLUSIVE
    with pytest.raises(AssertionError, match="not that of its evidence"):
        Verdict(CHAOTIC, None, None, 1.0, 0.1, None, rows, "")


def test_small_chaos_beside_a_period_is_not_called_periodic():
    """One and a half percent of Lorenz beside a vibration: less than what samples of impacts leave open at times."""
    thing = textbook.lorenz(step=0.01)
    thing.advance(60.0)
    rows = [(thing.advance(60.0 + 0.05 * i), thing.state[0, 0])[1] for i in range(1, 2001)]
    time = 0.05 * np.arange(2000)
    steady = np.sin(2 * np.pi * time / 1.7) + 2.0 * (np.mod(time, 1.7) < 0.05)
    found = jp.verdict(Series(time, steady + 0.015 * np.array(rows) / np.std(rows), period=1.7))
    assert found.verdict == INCONCLUSIVE and "not noise" in found.evidence[0].says


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.8])
def test_what_is_interrupted_is_told(share, monkeypatch):
    monkeypatch.setattr("jointplay.analysis.pace.SELDOM", 0.0)
    period = 2 * math.pi / 1.2

    def progress(stage):
        assert 0 <= stage.share <= 1 and "%" in str(stage)
        if stage.share >= share:
            raise KeyboardInterrupt

    found = jp.verdict(
        lambda fine: textbook.duffing(force=0.2, steps=100 * fine, lanes=2),
        period=period,
        periods=20,
        progress=progress,
    )
    consistent(found)
    assert found.headline().startswith("inconclusive: interrupted") and found.settle.startswith("interrupted after")
    assert (found.exponent is not None) == (share > 0)
    json.dumps(found.as_dict(), allow_nan=False)


def test_an_interruption_from_elsewhere_is_not_swallowed():
    def make(fine):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        jp.verdict(make, period=1.0)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_tells_what_was_computed(tmp_path):
    """A signal after a third of the work: the object is printed all the same, and the exit code tells."""
    program = (
        "import os, signal, sys\n"
        "from jointplay.analysis import pace\n"
        "look = pace.Pace.look\n"
        "def strike(self):\n"
        "    if self.share > 0.3 and not self.stopped:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        self.last = 0.0\n"
        "    return look(self)\n"
        "pace.Pace.look = strike\n"
        "from jointplay.cli import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    model = ["slider_crank", "--set", "J3.clearance=0.5 mm", "--until", "0.6 s", "--step", "0.0001 s", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", program, "analyse", *model], capture_output=True, text=True, cwd=tmp_path, timeout=120
    )
    found = json.loads(done.stdout)
    assert (done.returncode, found["verdict"]) == (1, INCONCLUSIVE) and "Traceback" not in done.stderr
    assert "interrupted after" in done.stderr and found["settle"].startswith("interrupted after")


@pytest.mark.parametrize(
    ("coarse", "fine", "sign"), [(50.0, 20.0, 0), (50.0, 45.0, 1), (-50.0, -20.0, 0), (-50.0, -48.0, -1)]
)
def test_a_sign_that_steps_of_no_length_would_not_have_is_open(coarse, fine, sign):
    times = np.arange(1.0, 11.0)
    runs = {
        n: Exponent(x, 8.0, times, x * np.ones(10), "two trajectories", 1e-7)
        for n, x in (("as it is", coarse), ("finer steps", fine))
    }
    together = Agreement(runs)
    assert together.sign == sign and ("shorter ones would tell" in together.says()) == (sign == 0)
