"""An adaptive stepper written on the engine: dense output, held segments, shared steps, laws with states."""

import numpy as np
import pytest

from jointplay.engine import (
    branch,
    emit,
    loop,
    maximum,
    memory,
    minimum,
    number,
    pow,
    shared_max,
    stop,
    subroutine,
    total,
    trace,
    where,
    whole,
)
from jointplay.laws import law
from jointplay.run import Run

ROWS = 8  # most samples written in one step; what is left over is written by the following ones


def step(s, p):
    """Bogacki-Shampine 3(2) on a Duffing oscillator, samples from its cubic Hermite segment."""

    @subroutine
    def rhs(x, v):
        return v, -x - p.cubic * x * x * x

    def attempt():
        k1 = rhs(s.x, s.v)
        k2 = rhs(s.x + s.h * 0.5 * k1[0], s.v + s.h * 0.5 * k1[1])
        k3 = rhs(s.x + s.h * 0.75 * k2[0], s.v + s.h * 0.75 * k2[1])
        x, v = (y + s.h * (2 * a + 3 * b + 4 * c) / 9 for y, a, b, c in zip((s.x, s.v), k1, k2, k3, strict=True))
        k4 = rhs(x, v)
        parts = [s.h * (-5 * a / 72 + b / 12 + c / 9 - d / 8) for a, b, c, d in zip(k1, k2, k3, k4, strict=True)]
        error = shared_max(maximum(abs(parts[0]), abs(parts[1])) / p.tolerance)
        good = error <= 1.0
        factor = minimum(maximum(0.9 * pow(maximum(error, 1e-8), -1 / 3), 0.2), 5.0)
        total("accepted", where(good, 1.0, 0.0))
        begin = [s.t, s.h, s.x, s.v, x, v]
        kept = [where(good, new, old) for new, old in zip(begin, segment, strict=True)]
        return [where(good, s.t + s.h, s.t), s.h * factor, where(good, x, s.x), where(good, v, s.v), *kept]

    names = ("t0", "h0", "x0", "v0", "x1", "v1")
    segment = [s[n] for n in names]
    late = memory("late", False)
    t, h, x, v, *segment = branch(late.value, lambda: [s.t, s.h, s.x, s.v, *segment], attempt)
    t0, h0, x0, v0, x1, v1 = segment

    def sample(index):
        time = number(index) * p.interval
        u = (time - t0) / h0
        dense = (1 - u) * x0 + u * x1 + u * (u - 1) * ((1 - 2 * u) * (x1 - x0) + (u - 1) * h0 * v0 + u * h0 * v1)
        due = time <= t
        branch(due, lambda: emit("samples", t=time, x=dense), lambda: None)
        return [index + where(due, whole(1), 0)], due

    following = memory("following", 0)
    [index], unfinished = loop([following.value], sample, at_most=ROWS)
    following.value, late.value = index, unfinished
    stop((t >= p.until) & ~unfinished)
    return dict(zip(("t", "h", "x", "v", *names), (t, h, x, v, *segment), strict=True))


STATE = dict(t=0.0, h=1e-3, x=1.0, v=0.0, t0=0.0, h0=1.0, x0=1.0, v0=0.0, x1=1.0, v1=0.0)
PARAMETERS = dict(cubic=0.0, tolerance=1e-8, interval=0.05, until=10.0)


@pytest.fixture(scope="module")
def program():
    return trace(step, STATE, PARAMETERS)


def test_samples_follow_the_closed_form_and_none_is_missing(program):
    run = Run(program, eager=False)
    run.advance()
    rows = run.rows("samples")
    assert run.status == ["done"]
    assert rows["t"] == pytest.approx(0.05 * np.arange(len(rows["t"])), abs=1e-12)
    assert len(rows["t"]) == int(run["t"][0] / 0.05) + 1
    assert rows["x"] == pytest.approx(np.cos(rows["t"]), abs=2e-6)


@pytest.mark.parametrize("interval", [0.5, 0.05, 2e-4])
def test_sampling_never_changes_the_steps(program, interval):
    reference, run = Run(program, eager=False), Run(program, {"interval": interval}, eager=False, rows=16)
    reference.advance()
    run.advance()
    for name in ("t", "h", "x", "v", "accepted"):
        assert run[name].tobytes() == reference[name].tobytes()
    assert len(run.rows("samples")["t"]) == int(run["t"][0] / interval) + 1


def test_lanes_step_on_their_own_or_together(program):
    cubic = [0.0, 0.5, 1.0, 2.0]
    alone = [Run(program, {"cubic": c}, eager=False) for c in cubic]
    apart, together = (Run(program, {"cubic": cubic}, lanes=4, share=share, eager=False) for share in (False, True))
    for run in [*alone, apart, together]:
        run.advance()
    assert np.array_equal(apart["x"], [r["x"][0] for r in alone])
    assert len(set(apart["t"])) == 4
    assert len(set(together["t"])) == 1 and len(set(together["h"])) == 1
    assert together["accepted"][0] >= max(apart["accepted"])


@law(rates={"bristle": 0.0}, memory={"largest": 0.0})
def creeping(speed, *, stiffness, bristle, largest):
    """A bristle that follows the speed, and the largest deflection it has seen at a step's end."""
    return stiffness * bristle, {"bristle": speed - bristle}, {"largest": maximum(largest, abs(bristle))}


def test_a_law_has_its_rates_integrated_and_its_memory_committed_with_accepted_steps_only():
    def text(s, p):
        rejected = (s.step & 1) == 0  # every second attempt is thrown away

        def rate(z):
            return creeping(p.speed, stiffness=p.stiffness, bristle=z, largest=s["law.largest"])[1]["bristle"]

        half = s["law.bristle"] + 0.5 * p.h * rate(s["law.bristle"])
        new = s["law.bristle"] + p.h * rate(half)
        wild = where(rejected, 1e3, new)  # what a rejected attempt would have remembered
        _, _, memo = creeping(p.speed, stiffness=p.stiffness, bristle=wild, largest=s["law.largest"])
        stop(s.step >= 1999)
        kept = {"law.bristle": where(rejected, s["law.bristle"], new)}
        return kept | {"law.largest": where(rejected, s["law.largest"], memo["largest"])}

    start = {f"law.{n}": x for n, x in (creeping.rates | creeping.memory).items()}
    run = Run(trace(text, start, dict(h=1e-3, speed=2.0, stiffness=10.0)), eager=False)
    run.advance()
    assert run["law.bristle"][0] == pytest.approx(2 * (1 - np.exp(-1.0)), rel=1e-6)
    assert run["law.largest"][0] == run["law.bristle"][0]
    assert creeping.parameters.keys() == {"stiffness"}


def test_laws_that_declare_and_return_different_states_are_refused():
    with pytest.raises(ValueError, match=r"declares 'z' but does not take it by name"):
        law(rates={"z": 0.0})(lambda x: x)
    careless = law(rates={"z": 0.0})(lambda x, *, z: (x, {}, {}))
    with pytest.raises(ValueError, match=r"'z' must be both declared and returned"):
        careless(1.0, z=0.0)
    silent = law(memory={"m": 0.0})(lambda x, *, m: x)
    with pytest.raises(ValueError, match=r"must return \(result, rates, memory\)"):
        silent(1.0, m=0.0)
